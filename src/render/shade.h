// render/shade.h: what a surface looks like where a ray meets it.
#pragma once
#include "render/light.h"

/// A ray's meeting with a triangle, everything on the side of the viewer.
typedef struct tl_meeting {
    tl_spot spot;
    tl_vec3f normal;  ///< for shading: spot.ns with the weave on it
    tl_vec3f view;    ///< towards the eye, unit
    float depth;      ///< along the ray
    float footprint;  ///< width of a pixel there [m]
    int32_t tri, surface;
    float u, v;            ///< within the triangle
    float face_u, face_v;  ///< within the face it is a part of
    bool front;
} tl_meeting;

/// Place and normals of a hit of `ray` (unit direction). `pixel` is the width of a pixel at distance 1, or with
/// `parallel` its width anywhere.
void tl_meet(const tl_stage *stage, const tl_ray *ray, const tl_hit *hit, float pixel, bool parallel, tl_meeting *out);

/// Where shadow rays start, on either side: spot.smooth_offset and spot.smooth_back.
void tl_meet_lift(const tl_stage *stage, tl_meeting *m);

/// Colour of the surface, and the weave: spot.albedo and normal.
void tl_meet_colour(const tl_stage *stage, const tl_draw_def *def, tl_meeting *m);

/// Linear light towards the eye.
tl_rgb tl_shade(const tl_stage *stage, const tl_studio *studio, const tl_meeting *m, const tl_lit *lit);

/// Albedo and normal of woven cloth at material position `uv`, changed in place. `footprint` is the width of
/// a pixel on the cloth [m], `du` and `dv` are the world directions of warp and weft, unit.
void tl_weave(const tl_look *look, tl_vec2f uv, float footprint, tl_vec3f du, tl_vec3f dv, tl_rgb *albedo,
              tl_vec3f *ns);
