// body/measure.h: how large a character is, in which unit and with which axis up, and what is odd about its surface.
#pragma once
#include "body/character.h"

/// What the file leaves open or the user says.
typedef struct tl_placing {
    double unit;      ///< [m], 0: to be found out
    tl_up up;         ///< TL_UP_AUTO: to be found out
    bool up_by_spec;  ///< the format says y: a guess only warns
} tl_placing;

/// Sets `place`, fills in size, unit, axis and volume of the facts, and warns of what is odd: a height that no person
/// has, faces that look inwards, a surface with holes. Call it once, after welding.
tl_status tl_character_measure(tl_character *c, const tl_placing *placing, tl_error *err);

/// From the axis that points up to y.
tl_affine tl_up_to_y(tl_up up, double unit);
