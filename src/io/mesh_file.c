// io/mesh_file.c: a surface to collide with, from any format.

#include "io/mesh_file.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/character_load.h"
#include "io/gltf.h"
#include "io/ply.h"

bool tl_path_ends(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcasecmp(path + n - m, ending) == 0;
}

tl_mesh_format tl_mesh_format_of(const char *path, const char *data, size_t size)
{
    if (tl_gltf_is_binary(data, size) || tl_path_ends(path, ".glb") || tl_path_ends(path, ".gltf")) return TL_MESH_GLTF;
    if (tl_path_ends(path, ".stl")) return TL_MESH_STL;
    if (tl_path_ends(path, ".ply") || (size >= 4 && memcmp(data, "ply", 3) == 0 && strchr("\r\n", data[3])))
        return TL_MESH_PLY;
    return TL_MESH_OBJ;
}

// The rest pose; faces and vertices welded.
static tl_status parse_gltf(const tl_allocator *alloc, const tl_reader *reader, const char *path, const tl_text *text,
                            tl_obj *out, tl_error *err)
{
    tl_character *c = tl_character_create(alloc);
    if (!c) return tl_fail_memory(err, "a mesh");
    const tl_gltf_source source = {path, text->data, text->size, reader};
    tl_status status = tl_gltf_parse(&source, c, err);
    if (status == TL_OK) status = tl_character_weld(c, err);
    if (status == TL_OK) status = tl_obj_make(alloc, c->count[TL_RIG_VERTS], c->count[TL_RIG_FACES], out, err);
    if (status == TL_OK) {
        memcpy(out->face, c->face, (size_t)out->face_count * sizeof *out->face);
        const tl_playback rest = tl_playback_default();
        status = tl_character_pose(c, &rest, 0, out->pos, err);
        for (int32_t i = 0; status == TL_OK && i < out->node_count; i++)
            if (!tl_finite3(out->pos[i]))
                status = tl_fail(err, TL_BAD_INPUT, "%.300s: vertex %d is not finite at rest (a transform overflows)",
                                 path, i);
        if (status != TL_OK) tl_obj_free(out);
    }
    tl_character_destroy(c);
    return status;
}

tl_status tl_mesh_file_parse(const tl_allocator *alloc, const tl_reader *reader, const char *path, const tl_text *text,
                             tl_obj *out, tl_error *err)
{
    switch (tl_mesh_format_of(path, text->data, text->size)) {
    case TL_MESH_GLTF: return parse_gltf(alloc, reader, path, text, out, err);
    case TL_MESH_PLY: return tl_ply_parse(alloc, path, text->data, text->size, out, err);
    case TL_MESH_STL: return tl_stl_parse(alloc, path, text->data, text->size, out, err);
    case TL_MESH_OBJ: break;
    }
    return tl_obj_parse(alloc, path, text->data, text->size, TL_OBJ_BODY, out, err);
}
