// mesh/mesh_bytes.h: a mesh as bytes and back, with the same ids, so that the same edits give the same mesh again.
//
// For meshes without dead slots (tl_mesh_reorder). Attributes are left out.
#pragma once
#include "mesh/mesh.h"

/// Writes the mesh to `out` and returns how many bytes it takes; `out` NULL: counts only.
size_t tl_mesh_write_bytes(const tl_mesh *mesh, void *out);

/// Makes a mesh from the bytes at `data`, of which *used are taken. TL_BAD_INPUT if they are too few or no sound mesh.
tl_status tl_mesh_read_bytes(const tl_allocator *alloc, const void *data, size_t size, tl_mesh **out, size_t *used,
                             tl_error *err);
