// render/draw.h: surfaces, looks, camera and light in; an 8-bit sRGB picture out.
//
// Knows nothing of files. All arrays are borrowed for the call. The picture is a function of the arguments
// alone: every ray is a function of its pixel, so the number of workers changes no byte.
#pragma once
#include <stdbool.h>

#include "base/workers.h"
#include "render/camera.h"
#include "render/colour.h"
#include "render/image.h"
#include "render/vecf.h"

typedef enum tl_weave_kind {
    TL_WEAVE_PLAIN,  ///< over and under, as a chequerboard
    TL_WEAVE_TWILL,  ///< over two and under two, one further in every row: diagonal ribs
    TL_WEAVE_SATIN,  ///< over four and under one: nearly all warp
    TL_WEAVE_KNIT,   ///< columns of stitches
    TL_WEAVE_NONE,   ///< felt, leather, paper
} tl_weave_kind;

/// How a surface takes the light.
typedef struct tl_look {
    tl_rgb front, back;  ///< diffuse reflectance of the two sides, linear
    float gloss;         ///< strength of the highlight, 0 .. 1
    float roughness;     ///< width of the highlight, 0.05 .. 1
    float sheen;         ///< soft light at grazing angles, as of fibres standing up
    float transmit;      ///< part of the light that shines through; 0 for solid bodies
    float weave;         ///< strength of the woven pattern; needs material coordinates
    float yarn;          ///< spacing of the yarns [m]
    tl_weave_kind weave_kind;
    bool skin;  ///< light softens red at the edge of shade
} tl_look;

tl_look tl_look_cloth(tl_rgb colour);
tl_look tl_look_plain(tl_rgb colour);
tl_look tl_look_skin(void);

/// One mesh to draw.
typedef struct tl_draw_mesh {
    const tl_vec3 *pos;
    int32_t pos_count;
    const int32_t (*face)[3];  ///< into pos
    int32_t face_count;
    const tl_vec2 *uv;  ///< material coordinates [m], NULL: none
    int32_t uv_count;
    const int32_t (*face_uv)[3];  ///< into uv, NULL: none
    tl_look look;
    double crease_deg;          ///< normals are not averaged over a sharper angle (unless the corner has the same
                                ///< material vertex, where cloth is one piece). Default 40.
    const float *node_value;    ///< map: one number per position, coloured by the scale; NULL: none
    const float *face_value;    ///< map: one number per face; NULL: none
    const tl_rgb *face_colour;  ///< one colour per face, instead of a map; NULL: none
    const uint8_t *face_mark;   ///< nonzero: painted in the colour of intersections; NULL: none
    const uint8_t *face_seam;   ///< bit k: the edge across from corner k is sewn to other fabric; NULL: no seams shown
    bool wire;                  ///< draw the edges
    bool curved;                ///< draw faces as pieces of the smooth surface that their normals suggest
} tl_draw_mesh;

typedef struct tl_draw_def {
    const tl_draw_mesh *surfaces;
    int32_t surface_count;
    int32_t width, height;
    tl_camera camera;
    tl_vec3 light_from;  ///< the studio is arranged for a camera that looks along this direction. Zero: the
                         ///< camera's.
    tl_vec3 up;          ///< Default y.
    bool ground;         ///< a floor at `ground_height` along `up`
    double ground_height;
    tl_vec3 ground_centre;  ///< the pool of light on the floor lies around this point
    double ground_radius;   ///< and is about this wide
    tl_rgb background;      ///< display-linear
    bool flat_background;   ///< no falloff, for figures on a white page
    tl_scale scale;         ///< colours of node_value and face_value
    int32_t samples;        ///< rays per pixel at outlines; lighting rays in proportion. Default 16.
    float exposure;         ///< Default 1.
    const tl_allocator *alloc;
    tl_workers *workers;  ///< may be NULL
} tl_draw_def;
tl_draw_def tl_draw_def_default(void);

/// What the ray through each pixel's centre meets; for tests and for overlays.
typedef struct tl_pixel_hit {
    float depth;      ///< distance from the eye [m], infinite where nothing is met
    int32_t surface;  ///< -1: nothing, -2: the floor
    int32_t face;
} tl_pixel_hit;

/// Draws into `out` (of the size of `def`). `hits` may be NULL, else width * height entries.
/// Faces with a corner that is not finite are left out; `skipped` (may be NULL) counts them.
tl_status tl_draw(const tl_draw_def *def, tl_image *out, tl_pixel_hit *hits, int64_t *skipped, tl_error *err);
