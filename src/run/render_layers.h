// run/render_layers.h: meshes of cloths as stacks of flat layers, one for each level of refinement.
#pragma once
#include "run/render_source.h"

/// Cloths become stacks beside each other, obstacles empty meshes. TL_BAD_INPUT: one has no material coordinates; the
/// frame is then to be freed as it is.
tl_status tl_show_frame_layers(const tl_allocator *alloc, tl_show_frame *frame, tl_error *err);
