// bench/bench_fidelity_pictures.c: the four meshes at one frame, side by side.
//
// A frame gets a folder that the renderer takes for a run whose "frames" are the meshes, so one page shows all of them
// with the scene's camera and colours: anisotropic, isotropic, fixed fine, fixed average.

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "bench_fidelity.h"
#include "toile/render.h"

enum { PATH_SIZE = 1100, TILE = 760, TILE_HEIGHT = 640 };

static int place_on_page(fidelity_mesh mesh)
{
    static const int places[MESH_COUNT] = {[MESH_THIN] = 0, [MESH_EVEN] = 1, [MESH_FINE] = 2, [MESH_AVERAGE] = 3};
    return places[mesh];
}

static tl_status fail(tl_error *err, const char *path)
{
    err->status = TL_IO;
    snprintf(err->message, sizeof err->message, "%.900s: cannot be written: %s", path, strerror(errno));
    return TL_IO;
}

/// What goes into a file; without `uv` faces are of nodes.
typedef struct obj_parts {
    const tl_vec3 *pos;
    int32_t pos_count;
    const tl_vec2 *uv;
    const int32_t *vert_node;
    int32_t vert_count;
    int32_t (*face)[3];
    int32_t face_count;
} obj_parts;

static tl_status write_obj(const char *path, const obj_parts *o, tl_error *err)
{
    FILE *file = fopen(path, "w");
    if (!file) return fail(err, path);
    for (int32_t i = 0; i < o->pos_count; i++)
        fprintf(file, "v %.9g %.9g %.9g\n", o->pos[i].x, o->pos[i].y, o->pos[i].z);
    for (int32_t i = 0; o->uv && i < o->vert_count; i++) fprintf(file, "vt %.9g %.9g\n", o->uv[i].x, o->uv[i].y);
    for (int32_t f = 0; f < o->face_count; f++) {
        const int32_t *c = o->face[f], *vert_node = o->vert_node;
        if (o->uv)
            fprintf(file, "f %d/%d %d/%d %d/%d\n", vert_node[c[0]] + 1, c[0] + 1, vert_node[c[1]] + 1, c[1] + 1,
                    vert_node[c[2]] + 1, c[2] + 1);
        else
            fprintf(file, "f %d %d %d\n", c[0] + 1, c[1] + 1, c[2] + 1);
    }
    const bool lost = ferror(file) != 0;
    return fclose(file) != 0 || lost ? fail(err, path) : TL_OK;
}

static tl_status make_folder(const char *path, tl_error *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? TL_OK : fail(err, path);
}

static tl_status write_scene(const char *path, const char *json, tl_error *err)
{
    FILE *file = fopen(path, "w");
    if (!file) return fail(err, path);
    fputs(json, file);
    const bool lost = ferror(file) != 0;
    return fclose(file) != 0 || lost ? fail(err, path) : TL_OK;
}

tl_status fidelity_picture_add(const char *folder, int32_t frame, fidelity_mesh mesh, const fidelity_cloth *c,
                               const char *scene_json, tl_error *err)
{
    char base[PATH_SIZE], path[PATH_SIZE + 64];
    static const char *const parts[] = {"", "/frames", "/obstacles"};
    snprintf(base, sizeof base, "%.900s/frame-%06d", folder, frame);
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s%s", base, parts[k]);
        const tl_status status = make_folder(path, err);
        if (status != TL_OK) return status;
    }
    snprintf(path, sizeof path, "%s/scene.json", base);
    tl_status status = write_scene(path, scene_json, err);
    snprintf(path, sizeof path, "%s/frames/%06d_sheet.obj", base, place_on_page(mesh));
    if (status == TL_OK)
        status = write_obj(
            path, &(obj_parts){c->pos, c->node_count, c->uv, c->vert_node, c->vert_count, c->face, c->face_count}, err);
    snprintf(path, sizeof path, "%s/obstacles/%06d_ball.obj", base, place_on_page(mesh));
    if (status == TL_OK)
        status = write_obj(
            path, &(obj_parts){c->body_pos, c->body_node_count, NULL, NULL, 0, c->body_face, c->body_face_count}, err);
    return status;
}

tl_status fidelity_picture_draw(const char *folder, int32_t frame, int32_t threads, tl_error *err)
{
    char source[PATH_SIZE], out[PATH_SIZE + 64];
    snprintf(source, sizeof source, "%.900s/frame-%06d", folder, frame);
    for (int k = 0; k < 2; k++) {
        tl_render_def def = tl_render_def_default();
        snprintf(out, sizeof out, "%s%s.png", source, k ? "-mesh" : "");
        def.source = source, def.out = out, def.threads = threads;
        def.mode = k ? TL_RENDER_MESH : TL_RENDER_SHADED, def.wire = k == 1;
        def.sheet = MESH_COUNT, def.width = 2 * TILE, def.height = 2 * TILE_HEIGHT;
        const tl_status status = tl_render_run(&def, NULL, err);
        if (status != TL_OK) return status;
    }
    return TL_OK;
}
