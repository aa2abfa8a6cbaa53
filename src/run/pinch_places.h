// run/pinch_places.h: at which parts of which bodies cloth is pinched.
#pragma once
#include "scene/scene.h"

enum { TL_PINCH_PLACES = 8 };

typedef struct tl_pinch_place {
    char cloth[64], body[64];
    char joint[64];  ///< that moves the nearest vertex of a character most; "" for other bodies
    int32_t nodes;
    tl_vec3 at;  ///< of the first node [m]
} tl_pinch_place;

/// The places of all pinched nodes at present, by the nearest vertex of a body; those beyond TL_PINCH_PLACES are left
/// out. Returns how many.
int32_t tl_pinch_places_find(const tl_scene *scene, const tl_sim *sim, tl_pinch_place out[TL_PINCH_PLACES]);
