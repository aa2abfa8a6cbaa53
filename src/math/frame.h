// math/frame.h: places in axes of their own.
#pragma once
#include "math/vec3.h"

/// Axes of unit length at right angles, right-handed.
typedef struct tl_frame {
    tl_vec3 origin, axis[3];
} tl_frame;

static inline tl_vec3 tl_frame_into(const tl_frame *f, tl_vec3 p)
{
    const tl_vec3 d = tl_sub3(p, f->origin);
    return (tl_vec3){tl_dot3(d, f->axis[0]), tl_dot3(d, f->axis[1]), tl_dot3(d, f->axis[2])};
}

static inline tl_vec3 tl_frame_turn_out(const tl_frame *f, tl_vec3 d)
{
    return tl_madd3(tl_madd3(tl_mul3(d.x, f->axis[0]), d.y, f->axis[1]), d.z, f->axis[2]);
}

static inline tl_vec3 tl_frame_out_of(const tl_frame *f, tl_vec3 p)
{
    return tl_madd3(tl_madd3(tl_madd3(f->origin, p.x, f->axis[0]), p.y, f->axis[1]), p.z, f->axis[2]);
}

/// The third axis is along `along`, of unit length; the others as they come.
static inline tl_frame tl_frame_along(tl_vec3 origin, tl_vec3 along)
{
    const tl_vec3 other = fabs(along.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 1, 0},
                  x = tl_unit3_or(tl_cross3(other, along), other);
    return (tl_frame){origin, {x, tl_cross3(along, x), along}};
}
