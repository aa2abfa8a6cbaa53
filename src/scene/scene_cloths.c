// scene/scene_cloths.c: the cloths of a scene: meshes from files or words, fabrics from everywhere.

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "scene/material_io.h"
#include "scene/scene.h"
#include "scene/scene_pattern.h"
#include "scene/shapes.h"

// ---- fabrics ----------------------------------------------------------------------------------------------

typedef struct fabrics {
    const tl_allocator *alloc;
    const tl_reader *reader;
    tl_node map;  ///< the scene's `materials`; its value may be NULL
    tl_notes *notes;
    bool foreign;  ///< scenes of ARCSim: meshes may be loose
} fabrics;

static tl_status find_fabric(const fabrics *fb, const tl_node *node, tl_material *out, json_t **resolved, tl_error *err)
{
    char dir[TL_PATH_MAX];
    TL_TRY(tl_node_dir(node, dir, err));
    const tl_status status =
        tl_material_find(fb->alloc, fb->reader, json_string_value(node->value), dir, out, resolved, err);
    if (status == TL_OK || status == TL_NO_MEMORY) return status;
    if (!err) return status;
    tl_error inner = *err;
    tl_node_fail(node, true, err, "%s", inner.message);
    err->status = status;
    return status;
}

// A fabric of the map: an object, or a text that names a file or a fabric of the library.
static tl_status read_map_entry(const fabrics *fb, const tl_node *node, tl_material *out, json_t **resolved,
                                tl_error *err)
{
    if (json_is_object(node->value)) return tl_material_read(node, false, node->key, out, resolved, err);
    if (json_is_string(node->value)) return find_fabric(fb, node, out, resolved, err);
    return tl_node_fail(node, true, err, "must be a name, a path or a fabric { .. }");
}

static tl_status read_fabric(const fabrics *fb, const tl_node *node, tl_material *out, json_t **resolved, tl_error *err)
{
    if (json_is_object(node->value)) return tl_material_read(node, false, "fabric", out, resolved, err);
    if (!json_is_string(node->value)) return tl_node_fail(node, true, err, "must be a name, a path or a fabric { .. }");
    const tl_node entry = tl_node_key(&fb->map, json_string_value(node->value));
    if (fb->map.value && entry.value) return read_map_entry(fb, &entry, out, resolved, err);
    return find_fabric(fb, node, out, resolved, err);
}

// All entries of `materials`, used or not: a slip of the pen there should not wait.
static tl_status check_map(const fabrics *fb, tl_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(fb->map.value, key, value)
    {
        // A copy of the value: reading fills in defaults, and one that is used is read again.
        tl_node entry = tl_node_key(&fb->map, key);
        tl_material ignored;
        json_t *copy = json_deep_copy(value);
        if (!copy) return tl_fail_memory(err, "a fabric");
        entry.value = copy;
        const tl_status status = read_map_entry(fb, &entry, &ignored, NULL, err);
        json_decref(copy);
        TL_TRY(status);
    }
    return TL_OK;
}

// `material` of a cloth: absent, one or a list. It becomes a list of full fabrics.
static tl_status read_materials(const fabrics *fb, const tl_node *cloth_node, tl_scene_cloth *cloth, tl_error *err)
{
    const tl_node node = tl_node_key(cloth_node, "material");
    const bool list = json_is_array(node.value);
    const size_t count = list ? json_array_size(node.value) : 1;
    if (count > 10000) return tl_node_fail(&node, true, err, "must have at most 10000 entries");
    cloth->materials = TL_CALLOC(fb->alloc, tl_material, count);
    if (!cloth->materials) return tl_fail_memory(err, "fabrics");
    cloth->material_count = (int32_t)count;
    json_t *all = json_array();
    tl_status status = all ? TL_OK : tl_fail_memory(err, "fabrics");
    for (size_t i = 0; status == TL_OK && i < count; i++) {
        json_t *resolved = NULL;
        if (!node.value) {
            cloth->materials[i] = tl_material_default();
            resolved = tl_material_json(&cloth->materials[i], "built in: engineering estimate of a plain woven cotton");
        } else {
            const tl_node entry = list ? tl_node_at(&node, i) : node;
            status = read_fabric(fb, &entry, &cloth->materials[i], &resolved, err);
        }
        if (status == TL_OK && json_array_append_new(all, resolved) != 0) status = tl_fail_memory(err, "fabrics");
    }
    if (status == TL_OK && json_object_set(cloth_node->value, "material", all) != 0)
        status = tl_fail_memory(err, "fabrics");
    json_decref(all);
    return status;
}

// ---- meshes -----------------------------------------------------------------------------------------------

static tl_status mend_mesh(const fabrics *fb, const char *path, tl_obj *mesh, tl_error *err)
{
    int32_t panels;
    TL_TRY(tl_obj_unmirror(mesh, &panels, err));
    if (mesh->place)
        tl_notes_add(fb->notes, "", "%.200s: %d nodes in no face are left out", path,
                     mesh->place_count - mesh->node_count);
    if (panels > 0)
        tl_notes_add(fb->notes, "", "%.200s: %d panels are mirrored in material space, and turned over there", path,
                     panels);
    return TL_OK;
}

static tl_status read_mesh_file(const fabrics *fb, const tl_node *node, tl_scene_cloth *cloth, tl_error *err)
{
    char dir[TL_PATH_MAX], path[TL_PATH_MAX], real[TL_PATH_MAX];
    TL_TRY(tl_node_dir(node, dir, err));
    TL_TRY(tl_path_join(dir, json_string_value(node->value), path, err));
    tl_text text;
    const tl_reader reader = fb->reader ? *fb->reader : tl_reader_disk();
    tl_status status = reader.read(reader.user, fb->alloc, path, TL_OBJ_MAX_BYTES, &text, err);
    if (status == TL_NO_MEMORY) return status;
    if (status != TL_OK) return tl_node_prefix(node, err);
    status = tl_obj_parse(fb->alloc, path, text.data, text.size, fb->foreign ? TL_OBJ_LOOSE : TL_OBJ_STRICT,
                          &cloth->mesh, err);
    tl_text_free(fb->alloc, &text);
    if (status != TL_OK && status != TL_NO_MEMORY) return tl_node_prefix(node, err);
    TL_TRY(status);
    if (fb->foreign) TL_TRY(mend_mesh(fb, path, &cloth->mesh, err));
    cloth->from_file = true;
    snprintf(cloth->origin, sizeof cloth->origin, "%.255s", path);
    status = tl_scene_take_rest(cloth, cloth->file.rest, fb->notes, err);
    if (status != TL_OK) return status == TL_NO_MEMORY ? status : tl_node_prefix(node, err);
    if (cloth->mesh.plastic_lines > 0)
        tl_notes_add(fb->notes, path,
                     "%.200s:%lld: %lld lines about plasticity or damage (ny, ea, ed, ts, fs, td, fd) have no effect",
                     path, (long long)cloth->mesh.first_plastic_line, (long long)cloth->mesh.plastic_lines);
    tl_path_absolute(path, real);
    json_t *absolute = json_string(real);
    if (!absolute) return TL_OK;  // not UTF-8: the path as it was written
    if (json_object_set_new(node->up->value, "mesh", absolute) != 0) return tl_fail_memory(err, "scene text");
    return TL_OK;
}

static tl_status make_mesh(const fabrics *fb, const tl_node *node, int64_t max_faces, tl_scene_cloth *cloth,
                           tl_error *err)
{
    tl_mesh_file file = {0};
    TL_TRY(tl_table_read(node, &tl_mesh_table, &file, err));
    const tl_node rectangle = tl_node_key(node, "rectangle"), disc = tl_node_key(node, "disc"),
                  pattern = tl_node_key(node, "pattern");
    if (!!rectangle.value + !!disc.value + !!pattern.value != 1)
        return tl_node_fail(node, false, err, "must have exactly one of 'rectangle', 'disc', 'pattern'");
    if (pattern.value) return tl_scene_pattern_mesh(fb->alloc, fb->reader, &pattern, &file, fb->notes, cloth, err);
    const tl_allocator *alloc = fb->alloc;
    tl_status status;
    if (rectangle.value) {
        const tl_rectangle_def def = {.width = file.rectangle.size.x,
                                      .height = file.rectangle.size.y,
                                      .edge = file.rectangle.edge,
                                      .grid = (tl_grid)file.rectangle.pattern,
                                      .seed = (uint64_t)file.rectangle.seed,
                                      .max_faces = max_faces};
        cloth->rectangle_size = file.rectangle.size;
        status = tl_shape_rectangle(alloc, &def, &cloth->mesh, err);
    } else {
        status = tl_shape_disc(alloc, file.disc.radius, file.disc.edge, max_faces, &cloth->mesh, err);
    }
    snprintf(cloth->origin, sizeof cloth->origin, "%s", rectangle.value ? "rectangle" : "disc");
    if (status == TL_OK || status == TL_NO_MEMORY) return status;
    return tl_node_prefix(rectangle.value ? &rectangle : &disc, err);
}

// ---- cloths -----------------------------------------------------------------------------------------------

static bool good_name(const char *name)
{
    const size_t n = strlen(name);
    bool ok = n > 0 && n < 64;
    for (size_t i = 0; ok && i < n; i++)
        ok = name[i] == '-' || name[i] == '_' || (name[i] >= '0' && name[i] <= '9') ||
             (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z');
    return ok;
}

tl_status tl_scene_read_name(const tl_scene *scene, const tl_node *node, const char *word, int32_t index, int32_t count,
                             const char *given, char out[64], tl_error *err)
{
    tl_node name = tl_node_key(node, "name");
    if (!given) {
        if (count == 1)
            snprintf(out, 64, "%s", word);
        else
            snprintf(out, 64, "%s%d", word, index);
        name.value = json_string(out);
        if (json_object_set_new(node->value, "name", name.value) != 0) return tl_fail_memory(err, "scene text");
    } else {
        if (!good_name(given))
            return tl_node_fail(&name, true, err,
                                "must be 1 to 63 letters, digits, '-' or '_' (it becomes a file name)");
        memcpy(out, given, strlen(given) + 1);
    }
    for (int32_t i = 0; i < scene->cloth_count && scene->cloths[i].name != out; i++)
        if (strcmp(scene->cloths[i].name, out) == 0)
            return tl_node_fail(&name, true, err, "is the name of cloths[%d] already (names must differ)", i);
    for (int32_t i = 0; i < scene->obstacle_count && scene->obstacles[i].name != out; i++)
        if (strcmp(scene->obstacles[i].name, out) == 0)
            return tl_node_fail(&name, true, err, "is the name of obstacles[%d] already (names must differ)", i);
    return TL_OK;
}

tl_status tl_scene_check_rotation(const tl_node *node, const double rotate[4], tl_error *err)
{
    const bool turns = rotate[0] != 0 && rotate[1] == 0 && rotate[2] == 0 && rotate[3] == 0;
    return turns ? tl_node_fail(node, false, err, "by %g degrees about the axis (0, 0, 0), must have a direction",
                                rotate[0])
                 : TL_OK;
}

static tl_status read_cloth(tl_scene *scene, const fabrics *fb, int64_t max_faces, const tl_node *node, int32_t index,
                            tl_error *err)
{
    tl_scene_cloth *cloth = &scene->cloths[index];
    TL_TRY(tl_table_read(node, &tl_cloth_table, &cloth->file, err));
    TL_TRY(tl_scene_read_name(scene, node, "cloth", index, scene->cloth_count, cloth->file.name, cloth->name, err));
    const tl_node transform = tl_node_key(node, "transform"), rotate = tl_node_key(&transform, "rotate");
    TL_TRY(tl_scene_check_rotation(&rotate, cloth->file.transform.rotate, err));
    const tl_node remeshing = tl_node_key(node, "remeshing");
    cloth->own_remeshing = remeshing.value != NULL;
    if (!tl_node_key(&remeshing, "obstacles").value) cloth->file.remeshing.obstacles = -1;
    if (!tl_node_key(&remeshing, "edge_angles").value) cloth->file.remeshing.edge_angles = -1;
    if (!tl_node_key(&remeshing, "narrowing").value) cloth->file.remeshing.narrowing = -1;
    if (!tl_node_key(&remeshing, "max_faces").value) cloth->file.remeshing.max_faces = -1;
    if (!tl_node_key(&remeshing, "patience").value) cloth->file.remeshing.patience = -1;
    if (!tl_node_key(&remeshing, "layers").value) cloth->file.remeshing.layers = -1;
    TL_TRY(read_materials(fb, node, cloth, err));
    cloth->limited = tl_node_key(node, "strain_limits").value != NULL;
    const tl_node mesh = tl_node_key(node, "mesh");
    if (json_is_string(mesh.value))
        TL_TRY(read_mesh_file(fb, &mesh, cloth, err));
    else
        TL_TRY(make_mesh(fb, &mesh, max_faces, cloth, err));
    for (int32_t f = 0; cloth->mesh.face_label && f < cloth->mesh.face_count; f++) {
        if (cloth->mesh.face_label[f] < cloth->material_count) continue;
        const tl_node material = tl_node_key(node, "material");
        return tl_node_fail(&material, false, err,
                            "has %d entr%s, but face %d of %.200s has label %d (labels count from 0)",
                            cloth->material_count, cloth->material_count == 1 ? "y" : "ies", f, cloth->origin,
                            cloth->mesh.face_label[f]);
    }
    return TL_OK;
}

tl_status tl_scene_read_cloths(tl_scene *scene, const tl_scene_def *def, const tl_node *root, tl_error *err)
{
    const fabrics fb = {&scene->alloc, def->reader, tl_node_key(root, "materials"), &scene->notes, scene->foreign};
    if (fb.map.value) TL_TRY(check_map(&fb, err));
    const tl_node list = tl_node_key(root, "cloths");
    const size_t count = json_array_size(list.value);
    if (count > 100000) return tl_node_fail(&list, true, err, "must have at most 100000 entries");
    scene->cloths = TL_CALLOC(&scene->alloc, tl_scene_cloth, count);
    if (!scene->cloths) return tl_fail_memory(err, "cloths");
    scene->cloth_count = (int32_t)count;
    for (int32_t i = 0; i < scene->cloth_count; i++) {
        const tl_node node = tl_node_at(&list, (size_t)i);
        TL_TRY(read_cloth(scene, &fb, def->max_faces, &node, i, err));
    }
    return TL_OK;
}
