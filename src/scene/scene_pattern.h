// scene/scene_pattern.h: a sewing pattern as the mesh of a cloth.
#pragma once
#include "scene/scene.h"
#include "scene/scene_keys.h"

/// Fills the panels of the pattern that `node` names. Vertices that a seam pairs share a node where they lie together,
/// or with `weld`; other seams stay open, which a note says.
tl_status tl_scene_pattern_mesh(const tl_allocator *alloc, const tl_reader *reader, const tl_node *node,
                                const tl_mesh_file *file, tl_notes *notes, tl_scene_cloth *cloth, tl_error *err);
