// dress/place.h: panels without a place in space get one around the body: flat in front of, behind or beside the part
// that they belong to, or bent around it.
#pragma once
#include <stdbool.h>

#include "dress/figure.h"
#include "toile/pattern.h"

typedef struct tl_place_report {
    int32_t placed;        ///< panels that got a place
    int32_t wrapped;       ///< of these, bent around a limb or the trunk
    double seam_distance;  ///< mean distance between the sides of seams then [m]
} tl_place_report;

/// Names and labels of panels say the part and the side; seams, what is next to what; sizes, how far it reaches around.
/// Panels that have a place keep it unless `all` is set. TL_BAD_INPUT names a panel that nothing says anything about.
tl_status tl_pattern_place(const tl_allocator *alloc, tl_pattern *pattern, const tl_figure *figure, bool all,
                           tl_place_report *report, tl_error *err);
