// io/ply.h: triangle meshes as PLY (ascii, binary of both byte orders) and STL (ascii, binary), as obstacles.
//
// PLY: x, y, z of `vertex` and the list vertex_indices (or vertex_index) of `face`; polygons become fans, all else is
// skipped. STL: corners in one place become one node.
#pragma once
#include "io/obj.h"

/// TL_BAD_INPUT names path and line, or byte of a binary file.
tl_status tl_ply_parse(const tl_allocator *alloc, const char *path, const char *data, size_t size, tl_obj *out,
                       tl_error *err);
tl_status tl_stl_parse(const tl_allocator *alloc, const char *path, const char *data, size_t size, tl_obj *out,
                       tl_error *err);

/// For readers of obstacles: room for nodes and faces (at least one each), which are not filled.
tl_status tl_obj_make(const tl_allocator *alloc, int64_t nodes, int64_t faces, tl_obj *out, tl_error *err);
