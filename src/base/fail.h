// base/fail.h: fill in a tl_error and hand back its status, in one expression.
#pragma once
#include "toile/base.h"

/// Writes the message (cut at the size of tl_error) and returns `status`. `err` may be NULL.
tl_status tl_fail(tl_error *err, tl_status status, const char *format, ...) TL_PRINTF(3, 4);

/// TL_NO_MEMORY with what the memory was for.
tl_status tl_fail_memory(tl_error *err, const char *what);

/// An assertion about our own code; `sentence` says what is wrong, not what is right.
#ifdef TL_NO_ASSERT
#define TL_ASSERT(condition, sentence) ((void)0)
#else
#define TL_ASSERT(condition, sentence) ((condition) ? (void)0 : tl_assert_failed(__FILE__, __LINE__, (sentence)))
#endif
void tl_assert_failed(const char *file, int line, const char *sentence);

/// Leaves the function with the status of `call` unless it is TL_OK.
#define TL_TRY(call)                                                                                                   \
    do {                                                                                                               \
        const tl_status tl_try_status_ = (call);                                                                       \
        if (tl_try_status_ != TL_OK) return tl_try_status_;                                                            \
    } while (0)
