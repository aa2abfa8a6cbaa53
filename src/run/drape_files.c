// run/drape_files.c: files of a drape: stages to go on from, the garment, the scene, what it came to.
//
// A stage is an OBJ whose face labels say the panel (from 1), beside what the report knows by then. Its name holds a
// hash of all inputs: a stage of other inputs is not found. Numbers are written exactly, so what is taken up has the
// bits of what was put down, and what follows from it the same bytes.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "io/json.h"
#include "io/obj.h"
#include "run/drape_impl.h"

static tl_status stage_path(const tl_draper *d, tl_drape_stage stage, const char *ending, char out[TL_PATH_MAX],
                            tl_error *err)
{
    char name[160];
    snprintf(name, sizeof name, "dress/%.63s-%s-%016llx.%s", d->report->garment[d->index].name,
             tl_drape_stage_name(stage), (unsigned long long)d->inputs[d->index], ending);
    return tl_path_join(d->def->out_dir, name, out, err);
}

static tl_obj_view view_of(const tl_garment *g, const char *name)
{
    return (tl_obj_view){.name = name,
                         .pos = g->pos,
                         .node_label = g->node_mark,
                         .node_count = g->node_count,
                         .uv = g->uv,
                         .vert_node = g->vert_node,
                         .vert_count = g->vert_count,
                         .face = (const int32_t(*)[3])g->face,
                         .face_count = g->face_count};
}

// ---- stages -------------------------------------------------------------------------------------------------

/// Fields of the report that stages set; seconds are not among them, so files do not depend on the clock.
typedef struct field {
    const char *name;
    size_t at;
    char kind;  // 'd' double, 'i' int32, 'l' int64, 's' text of 64
} field;

#define FIELD(kind, name)                                                                                              \
    {                                                                                                                  \
#name, offsetof(tl_drape_garment, name), kind                                                                  \
    }
static const field fields[] = {
    FIELD('d', fit.tension_mean),
    FIELD('d', fit.tension_95),
    FIELD('d', fit.tension_max),
    FIELD('d', fit.pressure_mean),
    FIELD('d', fit.pressure_95),
    FIELD('d', fit.pressure_max),
    FIELD('d', fit.touching),
    FIELD('d', fit.room_mean),
    FIELD('d', fit.room_95),
    FIELD('d', fit.chest_ease),
    FIELD('d', fit.waist_ease),
    FIELD('d', fit.hip_ease),
    FIELD('s', name),
    FIELD('i', panels),
    FIELD('i', seams),
    FIELD('i', placed),
    FIELD('i', faces),
    FIELD('i', nodes),
    FIELD('l', crossings_start),
    FIELD('l', crossings),
    FIELD('i', openings),
    FIELD('i', arms_raised),
    FIELD('i', left_open),
    FIELD('d', shift),
    FIELD('d', gap_start),
    FIELD('d', gap),
    FIELD('d', strain_min),
    FIELD('d', strain_max),
    FIELD('d', strain_min_99),
    FIELD('d', strain_max_99),
    FIELD('d', speed),
    FIELD('i', rested),
    FIELD('i', steps),
    FIELD('i', pinched),
    FIELD('i', pinched_end),
    FIELD('i', held),
    FIELD('d', hold_force),
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static json_t *garment_json(const tl_drape_garment *g)
{
    json_t *out = json_object();
    bool ok = out;
    for (size_t i = 0; ok && i < FIELD_COUNT; i++) {
        const char *at = (const char *)g + fields[i].at;
        double real;
        int32_t small;
        int64_t large;
        memcpy(&real, at, sizeof real), memcpy(&small, at, sizeof small), memcpy(&large, at, sizeof large);
        json_t *v = fields[i].kind == 's'   ? json_string(at)
                    : fields[i].kind == 'd' ? json_real(isfinite(real) ? real : 0)
                    : fields[i].kind == 'i' ? json_integer(small)
                                            : json_integer(large);
        ok = json_object_set_new(out, fields[i].name, v) == 0;
    }
    json_t *pair = json_pack("[ss]", g->gap_panel[0], g->gap_panel[1]);
    ok = ok && json_object_set_new(out, "gap_panels", pair) == 0;
    ok = ok && json_object_set_new(out, "sewn_wrong", json_string(g->sewn_wrong)) == 0;
    ok = ok && json_object_set_new(out, "fault", json_string(g->fault)) == 0;
    if (ok) return out;
    json_decref(out);
    return NULL;
}

static void read_garment(const json_t *from, tl_drape_garment *g)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const json_t *v = json_object_get(from, fields[i].name);
        char *at = (char *)g + fields[i].at;
        const double real = json_number_value(v);
        const int64_t large = json_integer_value(v);
        const int32_t small = (int32_t)large;
        if (fields[i].kind == 'd') memcpy(at, &real, sizeof real);
        if (fields[i].kind == 'i') memcpy(at, &small, sizeof small);
        if (fields[i].kind == 'l') memcpy(at, &large, sizeof large);
    }
    const json_t *pair = json_object_get(from, "gap_panels");
    for (size_t k = 0; k < 2; k++) {
        const char *name = json_string_value(json_array_get(pair, k));
        snprintf(g->gap_panel[k], sizeof g->gap_panel[k], "%s", name ? name : "");
    }
}

static tl_status write_json(const char *path, json_t *value, const tl_allocator *alloc, tl_error *err)
{
    tl_buf buf;
    tl_buf_init(&buf, alloc);
    if (value) tl_json_write(&buf, value), tl_buf_text(&buf, "\n");
    tl_status status = value ? tl_buf_end(&buf, "a report", err) : tl_fail_memory(err, "a report");
    if (status == TL_OK) status = tl_file_write(path, buf.data, buf.size, false, err);
    tl_buf_free(&buf);
    json_decref(value);
    return status;
}

tl_status tl_drape_put_down(tl_draper *d, tl_drape_stage stage, tl_error *err)
{
    char path[TL_PATH_MAX];
    const tl_garment *g = &d->garment[d->index];
    tl_obj_view view = view_of(g, d->report->garment[d->index].name);
    int32_t *label = TL_ALLOC(&d->alloc, int32_t, g->face_count);
    if (!label) return tl_fail_memory(err, "a stage");
    for (int32_t f = 0; f < g->face_count; f++) label[f] = g->face_panel[f] + 1;
    view.face_label = label;
    tl_buf buf;
    tl_buf_init(&buf, &d->alloc);
    tl_obj_write(&buf, &view);
    tl_status status = tl_buf_end(&buf, "a stage", err);
    TL_FREE(&d->alloc, label, g->face_count);
    if (status == TL_OK) status = stage_path(d, stage, "json", path, err);
    if (status == TL_OK) status = write_json(path, garment_json(&d->report->garment[d->index]), &d->alloc, err);
    if (status == TL_OK) status = stage_path(d, stage, "obj", path, err);
    if (status == TL_OK)
        status = tl_file_write(path, buf.data, buf.size, true, err);  // last: it says that all is there
    tl_buf_free(&buf);
    return status;
}

static tl_status to_garment(const tl_draper *d, const tl_obj *obj, tl_garment *g, tl_error *err)
{
    tl_garment_free(g);
    if (!obj->face_label) return tl_fail(err, TL_BAD_INPUT, "a stage without panels");
    TL_TRY(tl_garment_alloc(&d->alloc, obj->node_count, obj->vert_count, obj->face_count, g, err));
    memcpy(g->pos, obj->pos, (size_t)obj->node_count * sizeof *g->pos);
    if (obj->node_label) memcpy(g->node_mark, obj->node_label, (size_t)obj->node_count * sizeof *g->node_mark);
    memcpy(g->uv, obj->uv, (size_t)obj->vert_count * sizeof *g->uv);
    memcpy(g->vert_node, obj->vert_node, (size_t)obj->vert_count * sizeof *g->vert_node);
    memcpy(g->face, obj->face, (size_t)obj->face_count * sizeof *g->face);
    for (int32_t f = 0; f < g->face_count; f++) {
        g->face_panel[f] = obj->face_label[f] - 1;
        for (int k = 0; k < 3; k++) g->vert_panel[g->face[f][k]] = g->face_panel[f];
    }
    return tl_garment_find_sewn(g, err);
}

tl_status tl_drape_take_up(tl_draper *d, tl_drape_stage stage, bool *found, tl_error *err)
{
    char path[TL_PATH_MAX], json[TL_PATH_MAX];
    tl_text text;
    tl_obj obj;
    TL_TRY(stage_path(d, stage, "obj", path, err));
    TL_TRY(stage_path(d, stage, "json", json, err));
    *found = tl_path_look(path) == TL_PATH_FILE && tl_path_look(json) == TL_PATH_FILE;
    if (!*found) return TL_OK;
    TL_TRY(tl_file_read(&d->alloc, path, TL_OBJ_MAX_BYTES, &text, err));
    tl_status status = tl_obj_parse(&d->alloc, path, text.data, text.size, TL_OBJ_STRICT, &obj, err);
    tl_text_free(&d->alloc, &text);
    TL_TRY(status);
    status = to_garment(d, &obj, &d->garment[d->index], err);
    tl_obj_free(&obj);
    tl_json_doc *doc = NULL;
    const tl_json_def def = {.path = json};
    if (status == TL_OK) status = tl_json_load(&d->alloc, &def, &doc, err);
    if (status == TL_OK) read_garment(tl_json_root(doc).value, &d->report->garment[d->index]);
    tl_json_destroy(doc);
    return status;
}

// ---- what users look for ------------------------------------------------------------------------------------

tl_status tl_drape_write_garment(tl_draper *d, tl_error *err)
{
    char name[80], path[TL_PATH_MAX];
    const tl_drape_garment *r = &d->report->garment[d->index];
    snprintf(name, sizeof name, "%.63s.obj", r->name);
    TL_TRY(tl_path_join(d->def->out_dir, name, path, err));
    const tl_obj_view view = view_of(&d->garment[d->index], r->name);
    tl_buf buf;
    tl_buf_init(&buf, &d->alloc);
    tl_obj_write(&buf, &view);
    tl_status status = tl_buf_end(&buf, "a garment", err);
    if (status == TL_OK) status = tl_file_write(path, buf.data, buf.size, false, err);
    tl_buf_free(&buf);
    return status;
}

// A name with a number is no file: its folder is.
static bool set_cache(json_t *c, const tl_drape_def *f)
{
    char dir[TL_PATH_MAX], real[TL_PATH_MAX], path[TL_PATH_MAX];
    const char *name = strrchr(f->cache, '/');
    if (tl_path_dir(f->cache, dir, NULL) != TL_OK) return false;
    tl_path_absolute(dir, real);
    if (tl_path_join(real, name ? name + 1 : f->cache, path, NULL) != TL_OK) return false;
    return json_object_set_new(c, "cache", json_string(path)) == 0 &&
           (f->cache_fps == 0 || json_object_set_new(c, "cache_fps", json_real(f->cache_fps)) == 0);
}

static bool set_bones(json_t *c, const tl_drape_def *f)
{
    json_t *list = f->bone_count > 0 ? json_array() : NULL;
    for (int32_t i = 0; i < f->bone_count; i++)
        if (json_array_append_new(list, json_string(f->bones[i])) != 0) return json_decref(list), false;
    return !list || json_object_set_new(c, "bones", list) == 0;
}

static json_t *character_json(const tl_draper *d)
{
    char real[TL_PATH_MAX];
    const tl_drape_def *f = d->def;
    tl_path_absolute(f->body, real);
    json_t *c = json_pack("{ss}", "file", real);
    if (!c) return NULL;
    bool ok = true;
    ok = json_object_set_new(c, "mittens", json_true()) == 0 && json_object_set_new(c, "flesh", json_true()) == 0;
    if (ok && f->body_units) ok = json_object_set_new(c, "units", json_string(f->body_units)) == 0;
    if (ok && f->body_up) ok = json_object_set_new(c, "up", json_string(f->body_up)) == 0;
    if (ok && f->cache) ok = set_cache(c, f);
    if (ok && f->motion) {
        tl_path_absolute(f->motion, real);
        ok = json_object_set_new(c, "motion", json_string(real)) == 0 && set_bones(c, f);
    }
    if (ok)
        ok = json_object_set_new(c, "clip", d->play.clip >= 0 ? json_integer(d->play.clip) : json_string("rest")) == 0;
    if (ok && d->play.clip >= 0) {
        ok = json_object_set_new(c, "start", json_real(d->play.start)) == 0 &&
             json_object_set_new(c, "lead_in", json_real(d->play.lead_in)) == 0;
    }
    if (ok) return c;
    json_decref(c);
    return NULL;
}

static json_t *cloths_json(const tl_draper *d)
{
    json_t *list = json_array();
    for (int32_t i = 0; list && i < d->def->pattern_count; i++) {
        char mesh[80];
        snprintf(mesh, sizeof mesh, "../%.63s.obj", d->report->garment[i].name);
        json_t *cloth = json_pack("{ss ss ss ss sf sf sf}", "name", d->report->garment[i].name, "mesh", mesh,
                                  "material", d->def->material, "rest", "uv", "thickness", TL_DRAPE_THICKNESS,
                                  "friction", TL_DRAPE_FRICTION, "friction_self", TL_DRAPE_FRICTION_SELF);
        if (json_array_append_new(list, cloth) != 0) return json_decref(list), NULL;
    }
    return list;
}

// Ties and bands as handles of the scene: nodes by their label in the garment's file.
static tl_status handles_json(const tl_draper *d, json_t *list, tl_error *err)
{
    bool ok = true;
    for (int32_t i = 0; i < d->def->pattern_count; i++)
        for (int32_t k = 0; k < d->hold_count && ok; k++) {
            const tl_dress_hold *h = &d->hold[k];
            int32_t nodes;
            tl_status status;
            const double stiffness = tl_dress_tie(&d->garment[i], h, &nodes, &status, err);
            if (status != TL_OK) return status;
            if (nodes >= 2 && stiffness > 0)
                ok = json_array_append_new(list, json_pack("{ss si ss sf sf}", "cloth", d->report->garment[i].name,
                                                           "label", h->mark, "body", "body", "stiffness", stiffness,
                                                           "slack", TL_DRESS_SLACK)) == 0;
            if (ok && nodes >= 2 && h->elastic > 0)
                ok = json_array_append_new(list, json_pack("{ss si sf}", "cloth", d->report->garment[i].name, "label",
                                                           h->mark, "elastic", h->elastic)) == 0;
        }
    return ok ? TL_OK : tl_fail_memory(err, "a scene");
}

tl_status tl_drape_write_scene(tl_draper *d, const char *path, tl_error *err)
{
    const double seconds =
        d->play.clip < 0 ? 0 : d->play.start + d->play.lead_in + tl_character_clip_seconds(d->character, d->play.clip);
    const int32_t frames = d->def->frames >= 0 ? d->def->frames : (int32_t)ceil(TL_DRAPE_FPS * seconds - 1e-6);
    json_t *handles = json_array();
    const tl_status status = handles ? handles_json(d, handles, err) : tl_fail_memory(err, "a scene");
    if (status != TL_OK) {
        json_decref(handles);
        return status;
    }
    json_t *scene =
        json_pack("{ss si sf si s{ss} s{ss} s{ss} so so s[{ss so sf}]}", "name", "drape", "frames", frames, "fps",
                  TL_DRAPE_FPS, "steps_per_frame", TL_DRAPE_STEPS, "remeshing", "kind", "none", "start", "relax", "off",
                  "collisions", "on_intersection", "pinch", "cloths", cloths_json(d), "handles", handles, "obstacles",
                  "name", "body", "character", character_json(d), "friction", TL_DRAPE_FRICTION);
    return write_json(path, scene, &d->alloc, err);
}

// What the frames of a run depend on: its checkpoint is gone on from if the folder holds the same number.
static uint64_t run_inputs(const tl_draper *d, const tl_text *scene)
{
    tl_hash h;
    tl_hash_init(&h);
    tl_hash_add(&h, scene->data, scene->size);
    tl_hash_add(&h, d->inputs, (size_t)d->def->pattern_count * sizeof *d->inputs);
    tl_character_hash(d->character, &h);
    return tl_hash_value(&h);
}

tl_status tl_drape_find_run(const tl_draper *d, const char *scene, bool *resume, tl_error *err)
{
    char path[TL_PATH_MAX], checkpoint[TL_PATH_MAX], now[32];
    tl_text text;
    TL_TRY(tl_path_join(d->def->out_dir, "dress/run.txt", path, err));
    TL_TRY(tl_path_join(d->def->out_dir, "checkpoint.bin", checkpoint, err));
    TL_TRY(tl_file_read(&d->alloc, scene, TL_OBJ_MAX_BYTES, &text, err));
    snprintf(now, sizeof now, "%016llx\n", (unsigned long long)run_inputs(d, &text));
    tl_text_free(&d->alloc, &text);
    *resume = false;
    if (tl_path_look(path) == TL_PATH_FILE && tl_path_look(checkpoint) == TL_PATH_FILE) {
        TL_TRY(tl_file_read(&d->alloc, path, 1024, &text, err));
        *resume = strcmp(text.data, now) == 0;
        tl_text_free(&d->alloc, &text);
    }
    return *resume ? TL_OK : tl_file_write(path, now, strlen(now), false, err);
}

tl_status tl_drape_write_report(tl_draper *d, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_path_join(d->def->out_dir, "drape.json", path, err));
    json_t *list = json_array();
    for (int32_t i = 0; list && i < d->def->pattern_count; i++) {
        json_t *g = garment_json(&d->report->garment[i]);
        char pattern[TL_PATH_MAX];
        tl_path_absolute(d->def->patterns[i], pattern);
        if (!g || json_object_set_new(g, "pattern", json_string(pattern)) != 0 || json_array_append_new(list, g) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    json_t *all =
        list ? json_pack("{ss sf so}", "material", d->def->material, "edge", d->edge, "garments", list) : NULL;
    return write_json(path, all, &d->alloc, err);
}
