// run/render_style.h: what a scene says about its pictures: camera and appearance.
//
//   "camera": {"eye": [0, 1, 4], "target": [0, 1, 0], "fov": 30}  or  {"azimuth": 30, "elevation": 10}
//   "appearance": {"NAME": {"look": "cloth" | "plain" | "skin", "color": "#4a78b5", "back": "#9fb4d0"}}
#pragma once
#include "run/render_source.h"
#include "toile/render.h"

typedef struct tl_named_look {
    char name[64];
    tl_mesh_look kind;
    bool has_kind, has_colour, has_back;
    tl_rgb colour, back;
} tl_named_look;

/// What a cloth is made of, as far as it shows.
typedef struct tl_fabric_look {
    char cloth[64];
    bool has_colour, has_back, has_weave;
    tl_rgb colour, back;
    tl_weave_kind weave;
    bool has_stretch;
    double stretch[4];                               ///< stiffness at rest [N/m], as tl_map_stress takes it
    double yarn, gloss, roughness, sheen, transmit;  ///< NaN: not given
} tl_fabric_look;

enum { TL_MAX_LOOKS = 64 };

typedef struct tl_style {
    bool has_camera;
    tl_camera_def camera;
    tl_named_look looks[TL_MAX_LOOKS];
    int32_t look_count;
    tl_fabric_look fabrics[TL_MAX_LOOKS];
    int32_t fabric_count;
} tl_style;

/// Reads the scene of `source`, if there is one. What is wrong in it is told in the log and left out.
void tl_style_read(const tl_source *source, tl_style *out);

/// The same from a scene's text with every default filled in, which knows fabrics of the library as well.
void tl_style_read_text(const tl_source *source, const char *json, tl_style *out);

/// Stiffness of a cloth's fabric; NULL: the scene does not tell.
const double *tl_style_stretch(const tl_style *style, const char *cloth);

/// The look of a mesh: as the style says, else by kind and place; obstacles with a human name get skin.
tl_look tl_style_look(const tl_style *style, const tl_show_mesh *mesh, int32_t cloth_index);
