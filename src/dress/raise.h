// dress/raise.h: arms out of the way while a garment without sleeves is sewn.
//
// Side seams end below the arms. On a body whose arms hang at an angle they cross the arms on their way together, and
// close above them or not at all. Raised to the level, arms lie above the seams and inside the armholes.
#pragma once
#include "dress/figure.h"
#include "dress/garment.h"

/// Panels of arms by their names, or cloth that covers one: above its line.
bool tl_garment_has_sleeves(const tl_garment *placed, const tl_pattern *pattern, const tl_figure *figure);

/// Turns arms about the shoulders until they lie level. `rest` is the body of the figure, `x` the same drawn in and
/// moved up by `shift`.
void tl_body_raise_arms(const tl_figure *figure, const tl_vec3 *rest, int32_t vert_count, double shift, tl_vec3 *x);
