// scene/gather.h: the start of a cloth that is gathered, pleated or hung on rings along a side.
#pragma once
#include "scene/scene.h"

/// Puts the cloth of `handle` into folds along its one side and chooses which nodes of the side are held. `node` is the
/// key `gather`, for messages.
tl_status tl_scene_gather(tl_scene *scene, const tl_node *node, tl_scene_handle *handle, tl_error *err);

/// A line of `count` points, first at (0, 0), whose pieces have the lengths length[i] of the material and that makes
/// `folds` folds and ends at x = (sum of lengths) / ratio. `jitter` in [0, 1) makes folds uneven, by `seed`.
/// Fails (false) if the pieces are too long for the folds.
bool tl_gather_line(const double *length, int32_t count, int32_t folds, double ratio, double jitter, uint64_t seed,
                    tl_vec2 *out);
