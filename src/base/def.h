// base/def.h: definitions that can grow. Each starts with `uint32_t struct_size`, the size that the program was
// compiled with.
#pragma once
#include <stddef.h>

#include "toile/base.h"

/// What a _def_init() does: the first `size` bytes of the defaults, with struct_size set to `size`.
void tl_def_init(void *def, size_t size, const void *defaults, size_t full_size);

/// Completes a definition of a program that may be older than the library: `full` holds the defaults and gets the
/// fields that the program knows. TL_BAD_ARG if `given` is NULL, did not start from `start_from`(), or is of a newer
/// library.
tl_status tl_def_complete(const void *given, void *full, size_t full_size, const char *start_from, tl_error *err);

/// Declares `full`, a complete copy of `given`, or returns the error.
#define TL_DEF_COMPLETE(type, full, given, err)                                                                        \
    type full = type##_default();                                                                                      \
    TL_TRY(tl_def_complete(given, &full, sizeof full, #type "_default", err))
