// base/fail.c: errors as values, and assertions about our own code.

#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *tl_version(void)
{
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
    return TEXT(TL_VERSION_MAJOR) "." TEXT(TL_VERSION_MINOR) "." TEXT(TL_VERSION_PATCH);
}

const char *tl_status_name(tl_status status)
{
    switch (status) {
    case TL_OK: return "ok";
    case TL_BAD_ARG: return "bad argument";
    case TL_BAD_INPUT: return "invalid input";
    case TL_NO_MEMORY: return "out of memory";
    case TL_IO: return "input/output error";
    case TL_FAILED: return "simulation failed";
    case TL_CANCELLED: return "cancelled";
    }
    return "unknown status";
}

tl_status tl_fail(tl_error *err, tl_status status, const char *format, ...)
{
    if (err) {
        err->status = status;
        va_list args;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

tl_status tl_fail_memory(tl_error *err, const char *what)
{
    return tl_fail(err, TL_NO_MEMORY, "out of memory while making %s", what);
}

static void default_assert_handler(const char *file, int line, const char *sentence)
{
#ifdef TL_NO_ASSERT
    (void)file, (void)line, (void)sentence;
#else
    fprintf(stderr, "%s:%d: %s\n", file, line, sentence);
    abort();
#endif
}

static tl_assert_handler assert_handler = default_assert_handler;  // the library's one mutable global

void tl_set_assert_handler(tl_assert_handler handler) { assert_handler = handler ? handler : default_assert_handler; }

void tl_assert_failed(const char *file, int line, const char *sentence) { assert_handler(file, line, sentence); }
