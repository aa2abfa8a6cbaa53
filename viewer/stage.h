// viewer/stage.h: draws surfaces with OpenGL 3.3: shadow map, shaded meshes, floor.
#pragma once
#include <stdbool.h>

#include "camera.h"
#include "toile/show.h"

typedef struct view_stage view_stage;

/// With a current context. TL_FAILED with the driver's own words if a program does not compile.
tl_status view_stage_create(view_stage **out, tl_error *err);
void view_stage_destroy(view_stage *stage);

/// Copies a surface to the graphics processor as number `index`. `colours` (3 face_count entries) or NULL for the look.
tl_status view_stage_put(view_stage *stage, int32_t index, const tl_show_surface *surface, const float (*colours)[3],
                         tl_error *err);
void view_stage_keep(view_stage *stage, int32_t count);  ///< forgets surfaces from `count` on

typedef struct view_shot {
    int32_t width, height;  ///< of the framebuffer
    tl_vec3 lo, hi;         ///< box of what is worth seeing
    double floor;           ///< height of the floor [m]
    bool show_floor, wire, dark;
} view_shot;

void view_stage_draw(view_stage *stage, const view_camera *camera, const view_shot *shot);
