// viewer/garment.h: a pattern worn by a body: the scene that sews it, where its panels start, where its seams lie.
//
// The scene goes into a folder of its own under the system's folder for such things, and is written anew for every
// sewing with the placements of the moment.
#pragma once
#include <stdbool.h>

#include "camera.h"
#include "live.h"
#include "panel.h"
#include "toile/pattern.h"
#include "toile/show.h"

typedef struct view_garment view_garment;

/// `pattern` is borrowed. TL_BAD_INPUT if panels have no place around a body.
tl_status view_garment_create(tl_pattern *pattern, const char *body, view_garment **out, tl_error *err);
void view_garment_destroy(view_garment *garment);  ///< with its folder; NULL is fine

/// Writes pattern and scenes; `path` and `sew` (borrowed) are for view_live_start.
tl_status view_garment_write(view_garment *garment, const char **path, const struct view_live_sew **sew, tl_error *err);

/// Notes where the sewn lines are on the newest frame of the cloth.
void view_garment_follow(view_garment *garment, const tl_show_surface *cloth, int32_t seam);

/// Draws the sewn line that was followed last, and the outline of panel `chosen` (-1: none) where it starts.
void view_garment_draw(const view_garment *garment, view_panel *panel, const view_camera *camera, double width,
                       double height, int32_t chosen);

/// Moves [m] and turns [degrees, about y] a panel; the next view_garment_write sews it there.
void view_garment_move(view_garment *garment, int32_t panel, tl_vec3 by, double turn);
