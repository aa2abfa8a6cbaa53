// scene/scene_write.c: a scene as files that stand on their own: our format, with every default filled in, and the
// meshes beside it.

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "io/file.h"
#include "scene/scene.h"

static tl_status write_mesh(const tl_scene *scene, const char *dir, const char *folder, int32_t shape,
                            const tl_obj_view *view, tl_error *err)
{
    char name[TL_MESH_NAME_MAX], path[TL_PATH_MAX];
    tl_scene_mesh_name(folder, view->name, shape, name);
    TL_TRY(tl_path_join(dir, name, path, err));
    tl_buf text;
    tl_buf_init(&text, &scene->alloc);
    tl_obj_write(&text, view);
    tl_status status = tl_buf_end(&text, "a mesh", err);
    if (status == TL_OK) status = tl_file_write(path, text.data, text.size, true, err);
    tl_buf_free(&text);
    return status;
}

static tl_status write_cloth(const tl_scene *scene, const char *dir, const char *folder, const tl_scene_cloth *cloth,
                             tl_error *err)
{
    const tl_obj *m = &cloth->mesh;
    const tl_obj_view view = {.name = cloth->name,
                              .pos = m->pos,
                              .vel = m->vel,
                              .node_label = m->node_label,
                              .node_count = m->node_count,
                              .uv = m->uv,
                              .vert_node = m->vert_node,
                              .vert_count = m->vert_count,
                              .face = (const int32_t(*)[3])m->face,
                              .face_label = m->face_label,
                              .face_count = m->face_count,
                              .edge = (const int32_t(*)[2])m->edge,
                              .edge_label = m->edge_label,
                              .edge_count = m->edge_count};
    return write_mesh(scene, dir, folder, -1, &view, err);
}

static tl_status write_obstacle(const tl_scene *scene, const char *dir, const char *folder, const tl_scene_obstacle *o,
                                tl_error *err)
{
    tl_obj_view view = {.name = o->name,
                        .pos = o->mesh.pos,
                        .node_count = o->mesh.node_count,
                        .face = (const int32_t(*)[3])o->mesh.face,
                        .face_count = o->mesh.face_count};
    if (o->character) return tl_scene_write_character(o, dir, folder, err);
    if (!o->shapes) return write_mesh(scene, dir, folder, -1, &view, err);
    for (int32_t k = 0; k < o->shape_count; k++) {
        view.pos = o->shapes + (size_t)k * (size_t)o->mesh.node_count;
        TL_TRY(write_mesh(scene, dir, folder, k, &view, err));
    }
    return TL_OK;
}

tl_status tl_scene_write_meshes(const tl_scene *scene, const char *dir, const char *folder, tl_error *err)
{
    char path[TL_PATH_MAX];
    bool any = false;
    for (int32_t i = 0; i < scene->cloth_count; i++) any = any || scene->cloths[i].from_file;
    for (int32_t i = 0; i < scene->obstacle_count; i++) any = any || scene->obstacles[i].kind == TL_BODY_MESH;
    if (!any) return TL_OK;
    TL_TRY(tl_path_join(dir, folder, path, err));
    TL_TRY(tl_make_dirs(path, err));
    for (int32_t i = 0; i < scene->cloth_count; i++)
        if (scene->cloths[i].from_file) TL_TRY(write_cloth(scene, dir, folder, &scene->cloths[i], err));
    for (int32_t i = 0; i < scene->obstacle_count; i++)
        if (scene->obstacles[i].kind == TL_BODY_MESH)
            TL_TRY(write_obstacle(scene, dir, folder, &scene->obstacles[i], err));
    return TL_OK;
}

// Meshes first: a scene that is there can be run.
tl_status tl_scene_save(const tl_scene *scene, const char *path, uint32_t overwrite, tl_error *err)
{
    if (!scene || !path) return tl_fail(err, TL_BAD_ARG, "scene_save: scene or path is NULL");
    char dir[TL_PATH_MAX], stem[256], folder[300], meshes[TL_PATH_MAX];
    TL_TRY(tl_path_dir(path, dir, err));
    tl_path_stem(path, stem, sizeof stem);
    snprintf(folder, sizeof folder, "%s-meshes", stem);
    TL_TRY(tl_path_join(dir, folder, meshes, err));
    const char *const there[] = {path, meshes};
    for (int i = 0; i < 2 && !overwrite; i++)
        if (tl_path_look(there[i]) != TL_PATH_NONE)
            return tl_fail(err, TL_BAD_INPUT, "%s: is there already (choose another name, or overwrite it)", there[i]);
    if (strcmp(dir, ".") != 0) TL_TRY(tl_make_dirs(dir, err));
    TL_TRY(tl_scene_write_meshes(scene, dir, folder, err));
    tl_buf text;
    tl_buf_init(&text, &scene->alloc);
    tl_status status = tl_scene_json_for_folder(scene, -1, folder, &text, err);
    if (status == TL_OK) status = tl_file_write(path, text.data, text.size, true, err);
    tl_buf_free(&text);
    return status;
}
