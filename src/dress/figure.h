// dress/figure.h: where the parts of a body are: trunk and limbs as lines, heights, cross-sections.
//
// Found from horizontal and vertical sections of the surface, so any mesh of a standing person will do; a skeleton
// whose joints have names that tell says better where arms and legs are. The body faces +z and stands upright (y); its
// left is at +x.
#pragma once
#include <stdbool.h>

#include "body/character.h"
#include "toile/base.h"

typedef enum tl_limb {
    TL_LIMB_HEAD,
    TL_LIMB_LEFT_ARM,
    TL_LIMB_RIGHT_ARM,
    TL_LIMB_LEFT_LEG,
    TL_LIMB_RIGHT_LEG,
    TL_LIMBS,
} tl_limb;
const char *tl_limb_name(tl_limb limb);  ///< "head", "left arm", ..

enum { TL_FIGURE_POINTS = 24, TL_FIGURE_LEVELS = 64 };

/// From the joint at the trunk outwards to the tip. Count 0: the body has none.
typedef struct tl_limb_line {
    int32_t count;
    tl_vec3 at[TL_FIGURE_POINTS];
    double radius;  ///< about half-way along [m]
} tl_limb_line;

typedef struct tl_figure {
    tl_limb_line limb[TL_LIMBS];
    tl_vec3 trunk;                               ///< within it, at the waist
    tl_vec3 low, high;                           ///< of all of it
    double crotch, waist, hip, shoulders, neck;  ///< heights [m]; hip: where the trunk is widest below the waist
    double side[2][TL_FIGURE_LEVELS];            ///< x of the trunk (legs below it) by height: its right, its left
    double depth[2][TL_FIGURE_LEVELS];           ///< z: back, front
    bool has_arms, has_legs;
} tl_figure;

/// `TL_BAD_INPUT` if it is not the surface of somebody: no section around the middle.
tl_status tl_figure_find(const tl_allocator *alloc, const tl_vec3 *x, int32_t vert_count, const int32_t (*face)[3],
                         int32_t face_count, tl_figure *out, tl_error *err);

/// Arms and legs from the joints of a skeleton, as far as their names tell; nothing changes otherwise.
tl_status tl_figure_use_rig(const tl_allocator *alloc, const tl_character *character, tl_figure *figure, tl_error *err);

/// Length of the section of a surface at a height that reaches to both sides of the trunk's middle [m]; 0: there is
/// none.
double tl_figure_girth(const tl_allocator *alloc, const tl_figure *figure, const tl_vec3 *x, const int32_t (*face)[3],
                       int32_t face_count, double y);

/// The extent of the trunk at a height: between levels the nearer one's.
int32_t tl_figure_level(const tl_figure *figure, double y);
