// math/order.h: an order of elimination with little fill, for sparse Cholesky.
#pragma once
#include "math/solver.h"

/// Fills `order` so that order[k] is the row eliminated as k-th. METIS where it is built in and willing, else
/// our own nested dissection. A function of the pattern alone. TL_NO_MEMORY when the allocator says no.
tl_status tl_order_nested(const tl_allocator *alloc, const tl_bsr *matrix, int32_t *order, tl_error *err);

/// The same without METIS: nested dissection by breadth-first levels.
tl_status tl_order_levels(const tl_allocator *alloc, const tl_bsr *matrix, int32_t *order, tl_error *err);
