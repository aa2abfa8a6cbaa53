// tests/check.h: what cmocka 1.1 lacks: doubles with a tolerance, and statuses with their message.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "toile/base.h"

#include "math/simd.h"  // for TL_SANITIZED

// Sanitizers make everything five to twenty times slower: with them a test may take fewer of many like cases. The
// release build takes all.
#ifdef TL_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/// |actual - expected| <= tolerance, with all three in the message.
#define assert_near(actual, expected, tolerance)                                                                       \
    check_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
static inline void check_near(double actual, double expected, double tolerance, const char *what, const char *file,
                              int line)
{
    if (fabs(actual - expected) <= tolerance) return;
    print_error("%s:%d: %s is %.17g, expected %.17g +- %.3g\n", file, line, what, actual, expected, tolerance);
    _fail(file, line);
}

/// The call succeeds; otherwise its message is shown. Needs a `tl_error err` in scope.
#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        if ((call) != TL_OK) {                                                                                         \
            print_error("%s:%d: %s\n", __FILE__, __LINE__, err.message);                                               \
            _fail(__FILE__, __LINE__);                                                                                 \
        }                                                                                                              \
    } while (0)
