// run/render_seams.h: where the panels of a cloth are sewn to each other, for pictures.
#pragma once
#include "render/draw.h"

/// Edges of `surface` between faces that have different material vertices there: bit k of a face for the edge across
/// from its corner k. `*out` has face_count entries, or is NULL where nothing is sewn.
tl_status tl_find_seams(const tl_allocator *alloc, const tl_draw_mesh *surface, uint8_t **out, tl_error *err);
