// detect/ccd.h: what the two files of continuous collision share; callers use toile/collide.h.
#pragma once
#include <stdbool.h>

#include "toile/collide.h"

#define TL_CCD_SMALLEST 1e-60  // sizes between which no product of three differences leaves the range of a double
#define TL_CCD_LARGEST 1e60

/// The features stay more than `separation` apart on [t, result), by directions of twice the precision; t if
/// none proves it. `size` [m]: sum of the largest components of the differences, within the range above.
double tl_ccd_fine(bool edges, const tl_vec3 x0[4], const tl_vec3 x1[4], double separation, double size, double t);
