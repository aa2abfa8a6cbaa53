// run/info.c: describes a scene, fabric, pattern, mesh, checkpoint or run folder in a few lines, or as one JSON object.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "run/checkpoint.h"
#include "run/info_character.h"
#include "run/folder.h"
#include "io/json.h"
#include "scene/material_io.h"
#include "io/obj.h"
#include "scene/scene.h"
#include "run/info_pattern.h"
#include "run/stats.h"
#include "scene/pattern_file.h"
#include "toile/recording.h"
#include "toile/run.h"

// Facts in order, kept as JSON: printed as that, or as "name: value" lines.
static bool add(json_t *facts, const char *name, json_t *value) { return json_object_set_new(facts, name, value) == 0; }

static json_t *bounds(const tl_obj *mesh)
{
    tl_vec3 low = mesh->pos[0], high = mesh->pos[0];
    for (int32_t i = 1; i < mesh->node_count; i++) {
        const tl_vec3 x = mesh->pos[i];
        low = (tl_vec3){fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z)};
        high = (tl_vec3){fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z)};
    }
    return json_pack("[[f,f,f],[f,f,f]]", low.x, low.y, low.z, high.x, high.y, high.z);
}

static double material_area(const tl_obj *mesh)
{
    double area2 = 0;
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const tl_vec2 a = mesh->uv[mesh->face[f][0]], b = mesh->uv[mesh->face[f][1]], c = mesh->uv[mesh->face[f][2]];
        area2 += (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    }
    return area2 / 2;
}

static bool mesh_facts(json_t *facts, const tl_obj *mesh)
{
    return add(facts, "nodes", json_integer(mesh->node_count)) &&
           add(facts, "vertices", json_integer(mesh->vert_count)) &&
           add(facts, "faces", json_integer(mesh->face_count)) && add(facts, "bounds", bounds(mesh)) &&
           add(facts, "material_area", json_real(material_area(mesh)));
}

static tl_status obj_info(const tl_allocator *alloc, const char *path, const tl_text *text, json_t *facts,
                          tl_error *err)
{
    tl_obj mesh;
    TL_TRY(tl_obj_parse(alloc, path, text->data, text->size, TL_OBJ_STRICT, &mesh, err));
    bool ok = add(facts, "kind", json_string("mesh")) && mesh_facts(facts, &mesh);
    ok = ok && add(facts, "node_labels", json_boolean(mesh.node_label)) &&
         add(facts, "face_labels", json_boolean(mesh.face_label)) && add(facts, "velocities", json_boolean(mesh.vel)) &&
         add(facts, "unknown_lines", json_integer(mesh.unknown_lines));
    tl_obj_free(&mesh);
    return ok ? TL_OK : tl_fail_memory(err, "facts");
}

static tl_status checkpoint_info(const tl_allocator *alloc, const char *path, const tl_text *text, json_t *facts,
                                 tl_error *err)
{
    tl_checkpoint cp;
    tl_buf state;
    tl_buf_init(&state, alloc);
    const tl_status status = tl_checkpoint_read(path, text->data, text->size, &state, &cp, err);
    tl_buf_free(&state);
    TL_TRY(status);
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)cp.scene_hash);
    const bool ok = add(facts, "kind", json_string("checkpoint")) && add(facts, "frame", json_integer(cp.frame)) &&
                    add(facts, "step", json_integer(cp.step)) && add(facts, "scene_hash", json_string(hash)) &&
                    add(facts, "state_bytes", json_integer((json_int_t)cp.size)) &&
                    add(facts, "file_bytes", json_integer((json_int_t)text->size));
    return ok ? TL_OK : tl_fail_memory(err, "facts");
}

static tl_status material_info(const tl_allocator *alloc, const char *path, json_t *facts, tl_error *err)
{
    tl_material m;
    json_t *resolved = NULL;
    TL_TRY(tl_material_open(alloc, NULL, path, &m, &resolved, err));
    const bool ok = add(facts, "kind", json_string("fabric")) && json_object_del(resolved, "kind") == 0 &&
                    json_object_update(facts, resolved) == 0;
    json_decref(resolved);
    return ok ? TL_OK : tl_fail_memory(err, "facts");
}

static tl_status scene_info(const char *path, json_t *facts, tl_error *err)
{
    tl_scene *scene;
    TL_TRY(tl_scene_load(path, NULL, 0, &scene, err));
    bool ok = add(facts, "kind", json_string("scene")) && add(facts, "name", json_string(scene->name)) &&
              add(facts, "frames", json_integer(scene->frames)) && add(facts, "fps", json_real(scene->fps)) &&
              add(facts, "steps_per_frame", json_integer(scene->steps_per_frame)) &&
              add(facts, "handles", json_integer(scene->handle_count));
    json_t *cloths = json_array();
    ok = add(facts, "cloths", cloths) && ok;
    for (int32_t i = 0; ok && i < scene->cloth_count; i++) {
        const tl_scene_cloth *cloth = &scene->cloths[i];
        json_t *entry = json_object();
        ok = json_array_append_new(cloths, entry) == 0 && add(entry, "name", json_string(cloth->name)) &&
             add(entry, "mesh", json_string(cloth->origin)) && mesh_facts(entry, &cloth->mesh) &&
             add(entry, "material", json_string(cloth->materials[0].name));
    }
    json_t *obstacles = json_array();
    ok = add(facts, "obstacles", obstacles) && ok;
    for (int32_t i = 0; ok && i < scene->obstacle_count; i++) {
        const tl_scene_obstacle *o = &scene->obstacles[i];
        json_t *entry = json_object();
        ok = json_array_append_new(obstacles, entry) == 0 && add(entry, "name", json_string(o->name)) &&
             add(entry, "shape", json_string(o->origin));
        if (ok && o->character)
            ok = add(entry, "faces", json_integer(tl_character_face_count(o->character))) &&
                 add(entry, "nodes", json_integer(tl_character_vert_count(o->character))) &&
                 add(entry, "clip",
                     json_string(o->play.clip < 0 ? "rest" : tl_character_clip_name(o->character, o->play.clip)));
        else if (ok && o->kind == TL_BODY_MESH)
            ok = add(entry, "faces", json_integer(o->mesh.face_count)) &&
                 add(entry, "nodes", json_integer(o->mesh.node_count)) &&
                 add(entry, "shapes", json_integer(o->shapes ? o->shape_count : 1));
    }
    if (ok && scene->foreign) ok = add(facts, "format", json_string("ARCSim"));
    json_t *warnings = scene->notes.count > 0 ? json_array() : NULL;
    if (warnings) ok = add(facts, "warnings", warnings) && ok;
    for (int32_t i = 0; ok && i < scene->notes.count; i++)
        ok = json_array_append_new(warnings, json_string(scene->notes.items[i].text)) == 0;
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)scene->hash);
    ok = ok && add(facts, "scene_hash", json_string(hash));
    tl_scene_destroy(scene);
    return ok ? TL_OK : tl_fail_memory(err, "facts");
}

static bool count_frame(void *user, int64_t frame, const char *cloth)
{
    (void)frame, (void)cloth;
    ++*(int64_t *)user;
    return true;
}

static tl_status folder_info(const tl_allocator *alloc, const char *path, json_t *facts, tl_error *err)
{
    char file[TL_PATH_MAX];
    int64_t files = 0, last = -1, damaged = 0;
    TL_TRY(tl_frames_visit(path, count_frame, &files, err));
    TL_TRY(tl_path_join(path, "stats.jsonl", file, err));
    if (tl_path_look(file) == TL_PATH_FILE) {
        tl_text text;
        TL_TRY(tl_file_read(alloc, file, (size_t)4 << 30, &text, err));
        last = tl_stats_last_frame(text.data, text.size, &damaged);
        tl_text_free(alloc, &text);
    }
    TL_TRY(tl_path_join(path, "scene.json", file, err));
    const bool has_scene = tl_path_look(file) == TL_PATH_FILE;
    if (files == 0 && last < 0 && !has_scene)
        return tl_fail(err, TL_BAD_INPUT, "%s: is not the folder of a run (no scene.json, frames or stats.jsonl)",
                       path);
    json_t *scene = json_object();
    tl_status status = TL_OK;
    if (has_scene) status = scene_info(file, scene, err);
    bool ok = add(facts, "kind", json_string("run")) && add(facts, "frame_files", json_integer(files)) &&
              add(facts, "last_frame", json_integer(last));
    ok = ok && json_object_set(facts, "scene", scene) == 0;
    json_decref(scene);
    TL_TRY(status);
    TL_TRY(tl_path_join(path, "checkpoint.bin", file, err));
    if (ok && tl_path_look(file) == TL_PATH_FILE) {
        tl_text text;
        TL_TRY(tl_file_read(alloc, file, TL_CHECKPOINT_MAX_BYTES, &text, err));
        json_t *cp = json_object();
        status = checkpoint_info(alloc, file, &text, cp, err);
        tl_text_free(alloc, &text);
        ok = json_object_set_new(facts, "checkpoint", cp) == 0;
    }
    return status != TL_OK ? status : ok ? TL_OK : tl_fail_memory(err, "facts");
}

// A fabric says what kind it is or has the tables of the published ones; anything else is taken for a scene.
static bool looks_like_fabric(const tl_allocator *alloc, const char *path)
{
    tl_json_doc *doc;
    if (tl_json_load(alloc, &(tl_json_def){.path = path}, &doc, NULL) != TL_OK) return false;
    const json_t *root = tl_json_root(doc).value;
    const bool fabric = !json_object_get(root, "cloths") && !json_object_get(root, "include") &&
                        (json_object_get(root, "kind") || json_object_get(root, "stretching"));
    tl_json_destroy(doc);
    return fabric;
}

static tl_status recording_info(const tl_text *text, const char *path, json_t *facts, tl_error *err)
{
    tl_recording *r;
    TL_TRY(tl_recording_open_memory(path, text->data, text->size, &r, err));
    const tl_recording_facts f = tl_recording_facts_of(r);
    json_t *cloths = json_array(), *bodies = json_array();
    bool ok = cloths && bodies;
    for (int32_t i = 0; i < f.surfaces && ok; i++)
        ok = json_array_append_new(tl_recording_surface_is_body(r, i) ? bodies : cloths,
                                   json_string(tl_recording_surface_name(r, i))) == 0;
    ok = add(facts, "kind", json_string("recording")) && ok;
    ok = add(facts, "frames", json_integer(f.frames)) && ok;
    ok = add(facts, "first_frame", json_integer(f.first_frame)) && ok;
    ok = add(facts, "fps", json_real(f.fps)) && ok;
    ok = add(facts, "units_per_metre", json_real(f.scale)) && ok;
    ok = add(facts, "up", json_string(f.z_up ? "z" : "y")) && ok;
    ok = add(facts, "cloths", cloths) && ok;
    ok = add(facts, "bodies", bodies) && ok;
    tl_recording_close(r);
    return ok ? TL_OK : tl_fail_memory(err, "facts");
}

static tl_status gather(const tl_allocator *alloc, const char *path, json_t *facts, tl_error *err)
{
    if (tl_path_look(path) == TL_PATH_DIR) return folder_info(alloc, path, facts, err);
    tl_text text;
    TL_TRY(tl_file_read(alloc, path, TL_OBJ_MAX_BYTES, &text, err));
    const size_t n = strlen(path);
    tl_status status;
    if (tl_checkpoint_is(text.data, text.size))
        status = checkpoint_info(alloc, path, &text, facts, err);
    else if (text.size >= 8 && memcmp(text.data, "toilerec", 8) == 0)
        status = recording_info(&text, path, facts, err);
    else if (n > 4 && strcmp(path + n - 4, ".obj") == 0)
        status = obj_info(alloc, path, &text, facts, err);
    else if (tl_info_is_character(path, &text))
        status = tl_info_character(alloc, path, &text, facts, err);
    else if (looks_like_fabric(alloc, path))
        status = material_info(alloc, path, facts, err);
    else
        status = scene_info(path, facts, err);
    tl_text_free(alloc, &text);
    return status;
}

// A pattern has lines of its own where no JSON is asked for.
static tl_status pattern_info(const tl_allocator *alloc, const char *path, bool json, json_t *facts, tl_buf *lines,
                              tl_error *err)
{
    tl_pattern *pattern = NULL;
    TL_TRY(tl_pattern_open(alloc, NULL, path, &pattern, err));
    bool ok = true;
    if (json)
        ok = tl_pattern_facts(pattern, facts);
    else
        tl_pattern_lines(pattern, lines);
    tl_pattern_destroy(pattern);
    return ok ? TL_OK : tl_fail_memory(err, "facts");
}

// Numbers for people, vectors on one line, tables row by row.
static void write_value(tl_buf *buf, const json_t *value, int depth)
{
    char number[TL_NUMBER_CHARS];
    size_t i;
    json_t *entry;
    if (json_is_string(value)) {
        tl_buf_text(buf, json_string_value(value));
    } else if (json_is_real(value)) {
        tl_format_short(json_real_value(value), number);
        tl_buf_text(buf, number);
    } else if (json_is_array(value) && json_array_size(value) == 0) {
        tl_buf_text(buf, "none");
    } else if (json_is_array(value) && !json_is_number(json_array_get(value, 0))) {
        json_array_foreach(value, i, entry)
        {
            tl_buf_printf(buf, "\n%*s", 2 * depth + 2, "");
            write_value(buf, entry, depth);
        }
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, entry)
        {
            if (i > 0) tl_buf_text(buf, ", ");
            write_value(buf, entry, depth);
        }
    } else {
        tl_json_write(buf, value);
    }
}

// "name: value" lines; objects indented, lists of objects one after another.
static void write_lines(tl_buf *buf, const json_t *object, int depth)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        tl_buf_printf(buf, "%*s%s: ", 2 * depth, "", key);
        size_t i;
        json_t *entry;
        if (json_is_object(value)) {
            tl_buf_text(buf, "\n");
            write_lines(buf, value, depth + 1);
        } else if (json_is_array(value) && json_is_object(json_array_get(value, 0))) {
            tl_buf_text(buf, "\n");
            json_array_foreach(value, i, entry)
            {
                if (i > 0) tl_buf_text(buf, "\n");
                write_lines(buf, entry, depth + 1);
            }
        } else {
            write_value(buf, value, depth);
            tl_buf_text(buf, "\n");
        }
    }
}

tl_status tl_info(const char *path, int json, void (*write)(void *user, const char *text), void *user, tl_error *err)
{
    if (!path || !write) return tl_fail(err, TL_BAD_ARG, "info: path or write is NULL");
    const tl_allocator alloc = tl_allocator_default();
    json_t *facts = json_object();
    if (!facts) return tl_fail_memory(err, "facts");
    tl_buf text;
    tl_buf_init(&text, &alloc);
    tl_status status;
    if (tl_path_look(path) == TL_PATH_FILE && tl_pattern_file_is(&alloc, path))
        status = pattern_info(&alloc, path, json, facts, &text, err);
    else
        status = gather(&alloc, path, facts, err);
    if (status == TL_OK) {
        if (json) {
            tl_json_write(&text, facts);
            tl_buf_text(&text, "\n");
        } else if (text.size == 0) {
            write_lines(&text, facts, 0);
        }
        status = tl_buf_end(&text, "facts", err);
    }
    if (status == TL_OK) write(user, text.data);
    tl_buf_free(&text);
    json_decref(facts);
    return status;
}
