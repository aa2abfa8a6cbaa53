// io/npz.h: NumPy's .npz: arrays by name in a stored (not packed) zip archive. Same arrays, same bytes: no dates.
#pragma once
#include "io/text.h"
#include "toile/base.h"

typedef enum tl_npy_type { TL_NPY_F8, TL_NPY_F4, TL_NPY_I4, TL_NPY_I8 } tl_npy_type;

typedef struct tl_npz tl_npz;

tl_status tl_npz_create(const tl_allocator *alloc, tl_npz **out, tl_error *err);
void tl_npz_destroy(tl_npz *npz);  ///< NULL is fine

/// Rows of `columns` numbers; columns 0: a list. `name` has no blanks or slashes. Copied.
tl_status tl_npz_add(tl_npz *npz, const char *name, tl_npy_type type, const void *data, int64_t rows, int32_t columns,
                     tl_error *err);

/// The file, borrowed until the next call. TL_BAD_INPUT beyond 4 GB, which the format without extensions ends at.
tl_status tl_npz_finish(tl_npz *npz, const tl_buf **out, tl_error *err);
