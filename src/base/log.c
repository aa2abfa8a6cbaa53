// base/log.c: formatted messages to the host's log hook.

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void tl_log_write(const tl_log *log, tl_log_level level, const char *format, ...)
{
    if (!log || !log->write) return;
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    log->write(log->user, level, line);
}
