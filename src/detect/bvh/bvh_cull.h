// detect/bvh/bvh_cull.h: smooth parts of a surface that cannot come near themselves, for bvh*.c only.
#pragma once
#include "detect/bvh/bvh_impl.h"

/// Rings and borders of subtrees, from the layout.
tl_status tl_bvh_cull_layout(tl_bvh *bvh, tl_error *err);

/// Per inner node: not 0 if no two primitives below it that share no node come within twice the margin of each other
/// between x0 and x1. The array is scratch. NULL if the tree was made without culling.
tl_status tl_bvh_cull(const tl_bvh *bvh, tl_arena *scratch, tl_workers *workers, const uint8_t **out, tl_error *err);
