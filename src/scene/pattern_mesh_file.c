// scene/pattern_mesh_file.c: meshes of panels as files.

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "io/file.h"
#include "io/pattern_io.h"
#include "scene/pattern_file.h"

typedef void (*mesh_writer)(tl_buf *, const tl_pattern *, const tl_pattern_mesh *);

static tl_status write_by(const tl_pattern *pattern, const tl_pattern_mesh *mesh, const char *path, mesh_writer write,
                          tl_error *err)
{
    if (!pattern || !mesh || !path) return tl_fail(err, TL_BAD_ARG, "pattern_mesh: pattern, mesh or path is NULL");
    tl_buf text;
    tl_buf_init(&text, &pattern->alloc);
    write(&text, pattern, mesh);
    tl_status status = tl_buf_end(&text, path, err);
    if (status == TL_OK) status = tl_file_write(path, text.data, text.size, false, err);
    tl_buf_free(&text);
    return status;
}

// Seams that somebody has written for a drawing (docs/patterns.md) are not overwritten.
static tl_status check_side(const tl_allocator *alloc, const char *side, tl_error *err)
{
    if (tl_path_look(side) != TL_PATH_FILE) return TL_OK;
    tl_json_doc *doc;
    bool ours = false;
    if (tl_json_load(alloc, &(tl_json_def){.path = side}, &doc, NULL) == TL_OK) {
        ours = tl_mesh_seams_are(tl_json_root(doc).value);
        tl_json_destroy(doc);
    }
    if (ours) return TL_OK;
    return tl_fail(err, TL_BAD_INPUT,
                   "%s: is there already and holds no pairs of a mesh; it would be overwritten (give the mesh another "
                   "name, or remove it)",
                   side);
}

tl_status tl_pattern_mesh_save(const tl_pattern *pattern, const tl_pattern_mesh *mesh, const char *path, tl_error *err)
{
    char side[TL_PATH_MAX];
    const size_t n = path ? strlen(path) : 0;
    if (n < 5 || strcmp(path + n - 4, ".obj") != 0)
        return tl_fail(err, TL_BAD_ARG, "%s: must end in .obj", path ? path : "");
    if (snprintf(side, sizeof side, "%.*s.seams.json", (int)n - 4, path) >= (int)sizeof side)
        return tl_fail(err, TL_BAD_ARG, "%.100s: the name is too long", path);
    if (!pattern || !mesh) return tl_fail(err, TL_BAD_ARG, "pattern_mesh: pattern or mesh is NULL");
    TL_TRY(check_side(&pattern->alloc, side, err));
    TL_TRY(write_by(pattern, mesh, path, tl_pattern_mesh_obj, err));
    return write_by(pattern, mesh, side, tl_pattern_mesh_seams, err);
}

tl_status tl_pattern_mesh_draw(const tl_pattern *pattern, const tl_pattern_mesh *mesh, const char *path, tl_error *err)
{
    return write_by(pattern, mesh, path, tl_svg_mesh_write, err);
}

tl_status tl_pattern_mesh_describe(const tl_pattern *pattern, const tl_pattern_mesh *mesh, const char *path,
                                   tl_error *err)
{
    return write_by(pattern, mesh, path, tl_pattern_mesh_report, err);
}
