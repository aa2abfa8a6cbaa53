// run/node_values.h: numbers of the nodes of a cloth that exports carry: strain, tension, contact, level.
#pragma once
#include "io/obj.h"
#include "render/maps.h"
#include "toile/recording.h"

/// Cloths first, then bodies, as tl_crowd wants them; `face` and `face_uv` point into arrays of the caller's.
typedef struct tl_node_values_def {
    const tl_draw_mesh *surfaces;
    int32_t surface_count;
    uint32_t attributes;    ///< bits of tl_attribute
    double largest;         ///< area of the largest face of the animation, for the level [m^2]
    const tl_crowd *crowd;  ///< for contact; NULL: not asked for
} tl_node_values_def;

enum { TL_CONTACT_REACH_MM = 100 };

/// Of the nodes of surface `index`, into out[attribute] for every attribute asked for. What cannot be told is 0.
tl_status tl_node_values(const tl_allocator *alloc, const tl_node_values_def *def, int32_t index,
                         float *const out[TL_ATTRIBUTE_COUNT], tl_error *err);
