// math/percentile.h: percentiles by weight, the same for any order of the samples.
#pragma once
#include "base/arena.h"
#include "toile/base.h"

/// The smallest of the values such that values up to it have at least `part` (0..1) of the weight; one for each of
/// `part_count` parts. Values are finite or infinite, not NaN; weights >= 0. All 0 if there is nothing.
tl_status tl_percentiles(const double *value, const double *weight, int32_t count, const double *part,
                         int32_t part_count, double *out, tl_arena *arena, tl_error *err);
