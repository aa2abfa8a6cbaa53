// base/timer.c: seconds from a monotonic clock, and of the processor.

#include "base/timer.h"

#include <time.h>

double tl_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double tl_processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }
