// io/mesh_file.h: a surface to collide with, from any format: .obj, .ply, .stl, .glb, .gltf (its rest pose).
#pragma once
#include "io/file.h"
#include "io/obj.h"

typedef enum tl_mesh_format { TL_MESH_OBJ, TL_MESH_PLY, TL_MESH_STL, TL_MESH_GLTF } tl_mesh_format;

/// By the first bytes, else by the ending; OBJ if neither says.
tl_mesh_format tl_mesh_format_of(const char *path, const char *data, size_t size);

/// Does the path end so, capitals aside? `ending` with its dot.
bool tl_path_ends(const char *path, const char *ending);

/// As an obstacle: finite, faces may be degenerate. `reader` NULL: from disk, for buffers of a .gltf.
tl_status tl_mesh_file_parse(const tl_allocator *alloc, const tl_reader *reader, const char *path, const tl_text *text,
                             tl_obj *out, tl_error *err);
