// pattern/sine.h: discrete sine transforms of pairs of real rows, for solvers on rectangular lattices.
#pragma once
#include "toile/base.h"

typedef struct tl_sine tl_sine;

/// For rows of cells - 1 inner values, cells >= 2, any factors.
tl_status tl_sine_create(const tl_allocator *alloc, int32_t cells, tl_sine **out, tl_error *err);
void tl_sine_destroy(tl_sine *plan);  ///< NULL is fine
size_t tl_sine_memory(const tl_sine *plan);

/// row[k-1] = sum over j = 1 .. cells-1 of row[j-1] sin(pi j k / cells), k = 1 .. cells-1, for x and y at once. Twice
/// applied it is cells / 2 times the identity. Uses scratch of the plan: one caller at a time.
void tl_sine_apply(tl_sine *plan, tl_vec2 *row);
