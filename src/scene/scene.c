// scene/scene.c: reads a scene file, fills in every default and remembers the resolved text.

#include "scene/scene.h"
#include "toile/kinds.h"
#include "toile/live.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "math/solver_cholmod.h"
#include "scene/arcsim/arcsim.h"

static void free_cloth(const tl_allocator *alloc, tl_scene_cloth *cloth)
{
    if (cloth->mesh.alloc.resize) tl_obj_free(&cloth->mesh);
    TL_FREE(alloc, cloth->materials, cloth->material_count);
}

void tl_scene_destroy(tl_scene *scene)
{
    if (!scene) return;
    const tl_allocator alloc = scene->alloc;
    for (int32_t i = 0; i < scene->cloth_count; i++) free_cloth(&alloc, &scene->cloths[i]);
    for (int32_t i = 0; i < scene->handle_count; i++) {
        TL_FREE(&alloc, scene->handles[i].nodes, scene->handles[i].node_count);
        TL_FREE(&alloc, scene->handles[i].keys, scene->handles[i].key_count);
    }
    TL_FREE(&alloc, scene->cloths, scene->cloth_count);
    TL_FREE(&alloc, scene->handles, scene->handle_count);
    tl_scene_free_obstacles(scene);
    TL_FREE(&alloc, scene->wind_keys, scene->wind_key_count);
    TL_FREE(&alloc, scene->eye, scene->eye_count);
    tl_json_destroy(scene->doc);
    tl_notes_free(&scene->notes);
    if (scene->json.alloc.resize) tl_buf_free(&scene->json);
    TL_FREE(&alloc, scene, 1);
}

// ---- wind -------------------------------------------------------------------------------------------------

static tl_status read_wind_keys(tl_scene *scene, const tl_node *list, tl_error *err)
{
    const size_t count = json_array_size(list->value);
    scene->wind_keys = TL_CALLOC(&scene->alloc, tl_wind_key, count);
    if (!scene->wind_keys || count > INT32_MAX) return tl_fail_memory(err, "wind keys");
    scene->wind_key_count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        const tl_node entry = tl_node_at(list, i);
        tl_wind_key_file key = {0};
        TL_TRY(tl_table_read(&entry, &tl_wind_key_table, &key, err));
        if (i > 0 && !(key.time > scene->wind_keys[i - 1].time)) {
            const tl_node time = tl_node_key(&entry, "time");
            return tl_node_fail(&time, true, err, "must be above the %g before it", scene->wind_keys[i - 1].time);
        }
        scene->wind_keys[i] = (tl_wind_key){key.time, key.velocity};
    }
    return TL_OK;
}

// Makes the short form [x, y, z] (or nothing) the long one, then reads that.
static tl_status read_wind(tl_scene *scene, const tl_node *air, tl_error *err)
{
    tl_node wind = tl_node_key(air, "wind");
    if (!json_is_object(wind.value)) {
        json_t *vector = wind.value ? json_incref(wind.value) : json_pack("[f,f,f]", 0.0, 0.0, 0.0);
        json_t *full = json_object();
        if (json_object_set_new(full, "velocity", vector) != 0 || json_object_set(air->value, "wind", full) != 0) {
            json_decref(full);
            return tl_fail_memory(err, "wind");
        }
        json_decref(full);
        const tl_key_def vector_key = {.type = TL_KEY_VEC3, .min = -1e4, .max = 1e4, .doc = "wind"};
        const tl_node given = {.doc = wind.doc, .up = wind.up, .key = wind.key, .value = vector};
        TL_TRY(tl_key_read(&given, &vector_key, &scene->wind.velocity,
                           err));  // so that the path is as it was written
        wind = tl_node_key(air, "wind");
    }
    TL_TRY(tl_table_read(&wind, &tl_wind_table, &scene->wind, err));
    const tl_node velocity = tl_node_key(&wind, "velocity"), keys = tl_node_key(&wind, "keys");
    if (velocity.value && keys.value) return tl_node_fail(&keys, false, err, "and velocity exclude each other");
    if (!velocity.value && !keys.value) return tl_node_fail(&wind, false, err, "lacks 'velocity' or 'keys'");
    return keys.value ? read_wind_keys(scene, &keys, err) : TL_OK;
}

// ---- text and hash ----------------------------------------------------------------------------------------

static uint64_t hash_cloth(const tl_obj *m)
{
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, m->pos, (size_t)m->node_count * sizeof *m->pos);
    if (m->vel) tl_hash_add(&hash, m->vel, (size_t)m->node_count * sizeof *m->vel);
    if (m->node_label) tl_hash_add(&hash, m->node_label, (size_t)m->node_count * sizeof *m->node_label);
    tl_hash_add(&hash, m->uv, (size_t)m->vert_count * sizeof *m->uv);
    tl_hash_add(&hash, m->vert_node, (size_t)m->vert_count * sizeof *m->vert_node);
    tl_hash_add(&hash, m->face, (size_t)m->face_count * sizeof *m->face);
    if (m->face_label) tl_hash_add(&hash, m->face_label, (size_t)m->face_count * sizeof *m->face_label);
    if (m->edge_count > 0) tl_hash_add(&hash, m->edge, (size_t)m->edge_count * sizeof *m->edge);
    if (m->edge_count > 0) tl_hash_add(&hash, m->edge_label, (size_t)m->edge_count * sizeof *m->edge_label);
    return tl_hash_value(&hash);
}

static uint64_t hash_obstacle(const tl_scene_obstacle *o)
{
    tl_hash hash;
    tl_hash_init(&hash);
    const size_t nodes = (size_t)o->mesh.node_count, shapes = (size_t)o->shape_count;
    tl_hash_add(&hash, &o->shape_count, sizeof o->shape_count);
    tl_hash_add(&hash, o->mesh.pos, nodes * sizeof *o->mesh.pos);
    tl_hash_add(&hash, o->mesh.face, (size_t)o->mesh.face_count * sizeof *o->mesh.face);
    if (o->shapes) tl_hash_add(&hash, o->shapes, nodes * shapes * sizeof *o->shapes);
    if (o->times) tl_hash_add(&hash, o->times, shapes * sizeof *o->times);
    return tl_hash_value(&hash);
}

static bool set_hash(json_t *entry, uint64_t hash)
{
    char text[32];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    return json_object_set_new(entry, "mesh", json_string(text)) == 0;
}

void tl_scene_mesh_name(const char *folder, const char *name, int32_t shape, char out[TL_MESH_NAME_MAX])
{
    if (shape < 0)
        snprintf(out, TL_MESH_NAME_MAX, "%s/%s.obj", folder, name);
    else
        snprintf(out, TL_MESH_NAME_MAX, "%s/%s.%06d.obj", folder, name, shape);
}

static bool set_names(json_t *entry, const char *folder, const char *name, int32_t shapes)
{
    char text[TL_MESH_NAME_MAX];
    tl_scene_mesh_name(folder, name, -1, text);
    if (shapes == 0) return json_object_set_new(entry, "mesh", json_string(text)) == 0;
    json_t *list = json_array();
    bool ok = list;
    for (int32_t k = 0; ok && k < shapes; k++) {
        tl_scene_mesh_name(folder, name, k, text);
        ok = json_array_append_new(list, json_string(text)) == 0;
    }
    return json_object_set_new(json_object_get(entry, "mesh"), "sequence", list) == 0 && ok;
}

// `mesh` of everything that came from a file, replaced by its name in a folder; by a hash of its content if that is
// NULL.
static tl_status replace_meshes(const tl_scene *scene, json_t *root, const char *folder, tl_error *err)
{
    bool ok = true;
    for (int32_t i = 0; i < scene->cloth_count; i++) {
        const tl_scene_cloth *cloth = &scene->cloths[i];
        json_t *entry = json_array_get(json_object_get(root, "cloths"), (size_t)i);
        if (!cloth->from_file) continue;
        if (!folder || cloth->file.rest != TL_REST_UV) json_object_del(entry, "rest");  // it is in the mesh now
        ok = ok && (folder ? set_names(entry, folder, cloth->name, 0) : set_hash(entry, hash_cloth(&cloth->mesh)));
    }
    for (int32_t i = 0; i < scene->obstacle_count; i++) {
        const tl_scene_obstacle *o = &scene->obstacles[i];
        json_t *entry = json_array_get(json_object_get(root, "obstacles"), (size_t)i);
        if (o->kind != TL_BODY_MESH) continue;
        if (o->character) {
            ok = ok && tl_scene_name_character(o, entry, folder);
            continue;
        }
        ok = ok && (folder ? set_names(entry, folder, o->name, o->shape_count) : set_hash(entry, hash_obstacle(o)));
    }
    return ok ? TL_OK : tl_fail_memory(err, "scene text");
}

// Labels that are all zero are as good as none; so the hash does not tell them apart.
static void drop_zero_labels(tl_obj *mesh)
{
    bool any = false;
    for (int32_t i = 0; mesh->node_label && i < mesh->node_count; i++) any = any || mesh->node_label[i];
    if (!any) TL_FREE(&mesh->alloc, mesh->node_label, mesh->node_label_cap);
    any = false;
    for (int32_t i = 0; mesh->face_label && i < mesh->face_count; i++) any = any || mesh->face_label[i];
    if (!any) TL_FREE(&mesh->alloc, mesh->face_label, mesh->face_label_cap);
    any = false;
    for (int32_t i = 0; mesh->vel && i < mesh->node_count; i++)
        any = any || mesh->vel[i].x != 0 || mesh->vel[i].y != 0 || mesh->vel[i].z != 0;
    if (!any) TL_FREE(&mesh->alloc, mesh->vel, mesh->vel_cap);
}

static tl_status compute_hash(tl_scene *scene, tl_error *err)
{
    json_t *copy = json_deep_copy(tl_json_root(scene->doc).value);
    if (!copy) return tl_fail_memory(err, "scene text");
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(copy, next, key, value) if (!tl_scene_key_acts(key)) json_object_del(copy, key);
    tl_buf text;
    tl_buf_init(&text, &scene->alloc);
    tl_status status = replace_meshes(scene, copy, NULL, err);
    if (status == TL_OK) tl_json_write(&text, copy);
    json_decref(copy);
    if (status == TL_OK) status = tl_buf_end(&text, "scene text", err);
    if (status == TL_OK) {
        tl_hash hash;
        tl_hash_init(&hash);
        tl_hash_add(&hash, text.data, text.size);
        scene->hash = tl_hash_value(&hash);
    }
    tl_buf_free(&text);
    return status;
}

tl_status tl_scene_json_for_folder(const tl_scene *scene, int32_t frames, const char *folder, tl_buf *out,
                                   tl_error *err)
{
    json_t *copy = json_deep_copy(tl_json_root(scene->doc).value);
    if (!copy) return tl_fail_memory(err, "scene text");
    tl_status status = replace_meshes(scene, copy, folder, err);
    if (status == TL_OK && frames >= 0 && json_object_set_new(copy, "frames", json_integer(frames)) != 0)
        status = tl_fail_memory(err, "scene text");
    if (status == TL_OK) {
        tl_json_write(out, copy);
        tl_buf_text(out, "\n");
        status = tl_buf_end(out, "scene text", err);
    }
    json_decref(copy);
    return status;
}

// ---- the whole --------------------------------------------------------------------------------------------

static tl_status set_text(json_t *object, const char *key, const char *value, tl_error *err)
{
    json_t *text = json_string(value);
    return json_object_set_new(object, key, text) == 0 ? TL_OK : tl_fail_memory(err, "scene text");
}

// The same scene gives the same text, however it was written.
static bool put_in_order(json_t *root)
{
    size_t i;
    json_t *entry;
    bool ok = tl_table_order(root, &tl_scene_table);
    json_array_foreach(json_object_get(root, "cloths"), i, entry) ok = ok && tl_table_order(entry, &tl_cloth_table);
    json_array_foreach(json_object_get(root, "handles"), i, entry) ok = ok && tl_table_order(entry, &tl_handle_table);
    json_array_foreach(json_object_get(root, "obstacles"), i, entry) ok =
        ok && tl_table_order(entry, &tl_obstacle_table);
    return ok;
}

// The document, in our format whatever it was in. Settings come on top, so they have our keys.
static tl_status load_document(tl_scene *scene, const tl_scene_def *def, tl_error *err)
{
    const tl_json_def json_def = {.path = def->path, .reader = def->reader, .includes = true, .is_loose = tl_arcsim_is};
    TL_TRY(tl_json_load(&scene->alloc, &json_def, &scene->doc, err));
    const tl_node root = tl_json_root(scene->doc);
    TL_TRY(tl_arcsim_detect(&root, &scene->foreign, err));
    if (scene->foreign)
        TL_TRY(tl_arcsim_translate(&scene->alloc, def->reader, def->path, scene->doc, &scene->notes, err));
    return tl_json_set(scene->doc, def->sets, def->set_count, err);
}

/// Where the document has the kind of a stage. A node points at the one above it and at its key, so these are kept
/// here.
typedef struct stage_place {
    char key[64];
    tl_node holder, node;
} stage_place;

static void find_stage(const tl_node *root, tl_stage stage, stage_place *out)
{
    snprintf(out->key, sizeof out->key, "%s", tl_stage_key(stage));
    char *dot = strchr(out->key, '.');
    *dot = 0;
    out->holder = tl_node_key(root, out->key);
    out->node = tl_node_key(&out->holder, tl_stage_key(stage) + (dot - out->key) + 1);
}

// Springs know one response, which they have unless another one is asked for.
static tl_status set_response_of_springs(const tl_node *root, tl_error *err)
{
    stage_place dynamics, response;
    find_stage(root, TL_STAGE_DYNAMICS, &dynamics);
    find_stage(root, TL_STAGE_RESPOND, &response);
    if (!json_is_string(dynamics.node.value) || response.node.value) return TL_OK;
    if (strcmp(json_string_value(dynamics.node.value), "springs") != 0) return TL_OK;
    if (!response.holder.value && json_object_set_new(root->value, response.key, json_object()) != 0)
        return tl_fail_memory(err, "a scene");
    json_t *collisions = json_object_get(root->value, response.key);
    return json_is_object(collisions) ? set_text(collisions, "response", "push-out", err) : TL_OK;
}

// Kinds of the stages that do not go together are told at the key that the message begins with.
static tl_status check_kinds(const tl_scene *scene, const tl_node *root, tl_error *err)
{
    const tl_scene_file *f = &scene->file;
    tl_kinds kinds = {{[TL_STAGE_ADAPT] = f->remeshing.kind,
                       [TL_STAGE_DYNAMICS] = f->dynamics.kind,
                       [TL_STAGE_DETECT] = f->collide.detection,
                       [TL_STAGE_RESPOND] = f->collide.response}};
    for (int32_t c = -1; c < scene->cloth_count; c++) {
        if (c >= 0 && !(scene->cloths[c].own_remeshing && scene->cloths[c].file.remeshing.kind >= 0)) continue;
        if (c >= 0) kinds.kind[TL_STAGE_ADAPT] = scene->cloths[c].file.remeshing.kind;
        tl_error why;
        if (tl_kinds_check(&kinds, &why) == TL_OK) continue;
        for (int s = 0; s < TL_STAGES; s++) {
            stage_place place;
            find_stage(root, (tl_stage)s, &place);
            const size_t size = strlen(tl_stage_key((tl_stage)s));
            if (place.node.value && strncmp(why.message, tl_stage_key((tl_stage)s), size) == 0)
                return tl_node_fail(&place.node, false, err, "%s", why.message + size + 1);
        }
        return tl_fail(err, TL_BAD_INPUT, "%s", why.message);
    }
    return TL_OK;
}

#define LONGEST_STEP 1.0  // [s] cloth has left the room by then: a slip of the pen

static tl_status check_step(const tl_scene *scene, const tl_node *root, tl_error *err)
{
    const double step = 1 / (scene->fps * scene->steps_per_frame);
    if (!(step <= LONGEST_STEP)) {
        const tl_node fps = tl_node_key(root, "fps");
        char text[TL_NUMBER_CHARS];
        tl_format_short(step, text);
        return tl_node_fail(&fps, true, err,
                            "gives time steps of %s s, must be at most %g s (raise fps or steps_per_frame %d)", text,
                            LONGEST_STEP, scene->steps_per_frame);
    }
    const tl_node solver = tl_node_key(root, "solver"), linear = tl_node_key(&solver, "linear");
    if (scene->file.solver.linear == TL_LINEAR_CHOLMOD && !tl_solver_has_cholmod())
        return tl_node_fail(&linear, true, err,
                            "is not part of this build (take \"auto\"; docs/solvers.md tells how to build with it)");
    return TL_OK;
}

static tl_status read_all(tl_scene *scene, const tl_scene_def *def, tl_error *err)
{
    TL_TRY(load_document(scene, def, err));
    const tl_node root = tl_json_root(scene->doc);
    const tl_node include = tl_node_key(&root, "include");
    if (include.value) return tl_node_fail(&include, false, err, "cannot be set on the command line");
    // The stem of the file as a name, unless one is given.
    tl_scene_file *file = &scene->file;
    TL_TRY(tl_scene_apply_quality(&root, err));
    TL_TRY(set_response_of_springs(&root, err));
    TL_TRY(tl_table_read(&root, &tl_scene_table, file, err));
    if (file->name)
        snprintf(scene->name, sizeof scene->name, "%s", file->name);
    else
        tl_path_stem(def->path, scene->name, sizeof scene->name);
    if (!file->name && set_text(root.value, "name", scene->name, NULL) != TL_OK)
        TL_TRY(set_text(root.value, "name", "scene", err));  // the name of the file is not UTF-8
    json_object_del(root.value, "$schema");
    scene->frames = (int32_t)file->frames;
    scene->steps_per_frame = (int32_t)file->steps_per_frame;
    scene->fps = file->fps;
    TL_TRY(check_step(scene, &root, err));
    const tl_node air = tl_node_key(&root, "air");
    TL_TRY(read_wind(scene, &air, err));
    TL_TRY(tl_scene_read_cloths(scene, def, &root, err));
    TL_TRY(check_kinds(scene, &root, err));
    for (int32_t i = 0; i < scene->cloth_count; i++) drop_zero_labels(&scene->cloths[i].mesh);
    json_object_del(root.value, "materials");  // they stand in the cloths now
    TL_TRY(tl_scene_read_handles(scene, &root, err));
    TL_TRY(tl_scene_read_obstacles(scene, def, &root, err));
    TL_TRY(tl_scene_check_ties(scene, &root, err));
    TL_TRY(tl_scene_read_detail(scene, &root, err));
    TL_TRY(tl_scene_read_look(scene, &root, err));
    tl_scene_doubt(scene);
    if (!put_in_order(root.value)) return tl_fail_memory(err, "scene text");
    tl_json_write(&scene->json, root.value);
    tl_buf_text(&scene->json, "\n");
    TL_TRY(tl_buf_end(&scene->json, "scene text", err));
    return compute_hash(scene, err);
}

tl_status tl_scene_read(const tl_allocator *alloc, const tl_scene_def *def, tl_scene **out, tl_error *err)
{
    *out = NULL;
    tl_scene *scene = TL_CALLOC(alloc, tl_scene, 1);
    if (!scene) return tl_fail_memory(err, "a scene");
    scene->alloc = scene->notes.alloc = *alloc;
    tl_buf_init(&scene->json, alloc);
    const tl_status status = read_all(scene, def, err);
    if (status != TL_OK) {
        tl_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return TL_OK;
}

tl_status tl_scene_load(const char *path, const char *const *sets, int32_t set_count, tl_scene **out, tl_error *err)
{
    if (!path || !out || set_count < 0 || (set_count > 0 && !sets))
        return tl_fail(err, TL_BAD_ARG, "scene_load: path, sets or out is NULL");
    const tl_allocator alloc = tl_allocator_default();
    const tl_scene_def def = {.path = path, .sets = sets, .set_count = set_count, .max_faces = TL_SCENE_MAX_FACES};
    const tl_status status = tl_scene_read(&alloc, &def, out, err);
    struct rusage used;
    if (status != TL_NO_MEMORY || !err || getrusage(RUSAGE_SELF, &used) != 0) return status;
    const tl_error inner = *err;
    return tl_fail(err, status,
                   "%.300s: %.500s; the program has used %.0f MB by then (coarser or fewer meshes, or a machine with "
                   "more memory help)",
                   path, inner.message, 1e-3 * (double)used.ru_maxrss);
}

const char *tl_scene_name(const tl_scene *scene) { return scene->name; }
int32_t tl_scene_frames(const tl_scene *scene) { return scene->frames; }
double tl_scene_fps(const tl_scene *scene) { return scene->fps; }
int32_t tl_scene_steps_per_frame(const tl_scene *scene) { return scene->steps_per_frame; }
const char *tl_scene_json(const tl_scene *scene) { return scene->json.data; }

int32_t tl_scene_is_foreign(const tl_scene *scene) { return scene->foreign; }
int32_t tl_scene_note_count(const tl_scene *scene) { return scene->notes.count; }

const char *tl_scene_note(const tl_scene *scene, int32_t index)
{
    return index >= 0 && index < scene->notes.count ? scene->notes.items[index].text : NULL;
}
