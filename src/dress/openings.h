// dress/openings.h: is a garment sewn around the body as it should be? What its openings (neck, cuffs, hems) go around.
//
// Seams may all close and the garment be wrong all the same: a strap sewn under the arm, a sleeve beside the arm, both
// legs in one trouser leg. Cloth that passes through nothing cannot get out of that any more, and the winding of the
// openings around the lines of the limbs tells it: every opening of a garment that is worn goes around a part of the
// body, and a leg is not taken together with an arm.
#pragma once
#include "dress/figure.h"
#include "dress/garment.h"

/// A closed border of a welded garment.
typedef struct tl_opening {
    double length;  ///< [m]
    tl_vec3 middle;
    int32_t panel[2];         ///< with the longest parts of it; -1: none
    int32_t turns[TL_LIMBS];  ///< around each limb, beyond those around the limb that it goes around least
    int32_t most;             ///< of `turns`; 0: it goes around nothing
} tl_opening;

enum { TL_OPENINGS = 64 };

/// The longest first; at most `cap`.
tl_status tl_garment_openings(const tl_garment *g, const tl_figure *figure, tl_opening *out, int32_t cap,
                              int32_t *count, tl_error *err);

/// What is wrong with them, in words with panels and remedy; false: nothing.
bool tl_openings_fault(const tl_opening *list, int32_t count, const tl_figure *figure, const tl_pattern *pattern,
                       char *out, size_t size);
