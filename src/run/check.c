// run/check.c: looks at every saved frame of a run's folder, several at a time, and reports in the order of the frames.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "run/check.h"
#include "io/file.h"
#include "run/folder.h"
#include "io/json.h"
#include "run/stats.h"

enum { FRAMES_AT_ONCE = 64, LAST_FRAME = 999999 };  // six digits in the names of frames

static const char *const KIND_NAMES[TL_CHECK_KINDS] = {
    [TL_CHECK_MISSING] = "missing_frames",      [TL_CHECK_MISSING_BODY] = "missing_obstacles",
    [TL_CHECK_UNREADABLE] = "unreadable",       [TL_CHECK_NOT_FINITE] = "not_finite",
    [TL_CHECK_DEGENERATE] = "degenerate",       [TL_CHECK_INVERTED] = "inverted",
    [TL_CHECK_STRAIN] = "over_strain",          [TL_CHECK_CLOTH_CLOTH] = "cloth_cloth",
    [TL_CHECK_ABSURD_FACE] = "absurd_faces",    [TL_CHECK_ABSURD_CLOTH] = "absurd_cloths",
    [TL_CHECK_CLOTH_BODY] = "cloth_body",       [TL_CHECK_PINCHED] = "pinched",
    [TL_CHECK_PINCHED_NODES] = "pinched_nodes",
};

void tl_check_def_init(tl_check_def *def, size_t size)
{
    const tl_check_def defaults = {.threads = 1, .list_max = 16};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

// --- what there is -----------------------------------------------------------------------------------------

typedef struct listing {
    tl_check_context *cx;
    bool failed;
} listing;

static bool collect_cloth(void *user, int64_t frame, const char *name)
{
    listing *list = user;
    tl_check_context *cx = list->cx;
    if (frame > cx->last) cx->last = frame;
    int32_t at = 0;
    while (at < cx->name_count && strcmp(cx->names[at], name) < 0) at++;
    if (at < cx->name_count && strcmp(cx->names[at], name) == 0) return true;
    list->failed = !TL_GROW(&cx->alloc, cx->names, cx->name_cap, cx->name_count + 1);
    if (list->failed) return false;
    memmove(&cx->names[at + 1], &cx->names[at], (size_t)(cx->name_count - at) * sizeof *cx->names);
    snprintf(cx->names[at], sizeof cx->names[at], "%s", name);
    cx->name_count++;
    return true;
}

// The obstacle of that name, added if there is none; NULL: no memory.
static tl_check_obstacle *obstacle_named(tl_check_context *cx, const char *name)
{
    int32_t at = 0;
    while (at < cx->obstacle_count && strcmp(cx->obstacles[at].name, name) < 0) at++;
    if (at < cx->obstacle_count && strcmp(cx->obstacles[at].name, name) == 0) return &cx->obstacles[at];
    if (!TL_GROW(&cx->alloc, cx->obstacles, cx->obstacle_cap, cx->obstacle_count + 1)) return NULL;
    memmove(&cx->obstacles[at + 1], &cx->obstacles[at], (size_t)(cx->obstacle_count - at) * sizeof *cx->obstacles);
    memset(&cx->obstacles[at], 0, sizeof cx->obstacles[at]);
    snprintf(cx->obstacles[at].name, sizeof cx->obstacles[at].name, "%s", name);
    tl_check_surface_init(&cx->obstacles[at].surface, &cx->alloc);
    cx->obstacle_count++;
    return &cx->obstacles[at];
}

static bool collect_obstacle(void *user, int64_t frame, const char *name)
{
    listing *list = user;
    tl_check_context *cx = list->cx;
    tl_check_obstacle *o = obstacle_named(cx, name);
    list->failed = !o;
    if (list->failed) return false;
    list->failed = !TL_GROW(&cx->alloc, o->frames, o->cap, o->count + 1);
    if (list->failed) return false;
    int32_t i = o->count++;
    for (; i > 0 && o->frames[i - 1] > frame; i--) o->frames[i] = o->frames[i - 1];
    o->frames[i] = (int32_t)frame;
    return true;
}

// Obstacles that stand still are written once and serve all frames. One that moves has several files, or says so in
// the first.
static tl_status load_still(tl_check_context *cx, tl_workers *workers, tl_error *err)
{
    for (int32_t i = 0; i < cx->obstacle_count; i++) {
        tl_check_obstacle *o = &cx->obstacles[i];
        char path[TL_PATH_MAX];
        tl_obj mesh;
        o->moves = o->count > 1 || (o->count == 1 && o->frames[0] != 0);
        if (o->moves || o->count == 0) continue;
        TL_TRY(tl_obstacle_path(cx->def->dir, 0, o->name, path, err));
        const tl_status status = tl_check_load(cx, path, &mesh, &o->why);
        if (status == TL_NO_MEMORY) return tl_fail_memory(err, path);
        o->broken = status != TL_OK;
        if (o->broken) continue;
        o->moves = mesh.moves;
        if (o->moves) {
            tl_obj_free(&mesh);
            continue;
        }
        TL_TRY(tl_check_surface_add(&o->surface, &mesh, o->name, err));
        TL_TRY(tl_check_surface_build(&o->surface, workers, err));
        o->loaded = true;
    }
    return TL_OK;
}

// The statistics say how far the run came; frames up to there must exist.
static tl_status frames_by_stats(const tl_check_context *cx, char *path, int64_t *last, int64_t *damaged, tl_error *err)
{
    *last = -1, *damaged = 0;
    TL_TRY(tl_path_join(cx->def->dir, "stats.jsonl", path, err));
    if (tl_path_look(path) != TL_PATH_FILE) return TL_OK;
    tl_text text;
    TL_TRY(tl_file_read(&cx->alloc, path, (size_t)4 << 30, &text, err));
    *last = tl_stats_last_frame(text.data, text.size, damaged);
    if (*last > LAST_FRAME) *last = LAST_FRAME;
    tl_text_free(&cx->alloc, &text);
    return TL_OK;
}

// --- report ------------------------------------------------------------------------------------------------

static bool put(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

static json_t *real_or_null(double x) { return isfinite(x) ? json_real(x) : json_null(); }

// Paths and names may hold any bytes, JSON may not.
static json_t *text_json(const char *text)
{
    char plain[TL_PATH_MAX];
    json_t *value = json_string(text);
    if (value) return value;
    snprintf(plain, sizeof plain, "%s", text);
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    return json_string(plain);
}

static json_t *item_json(const tl_check_item *item)
{
    json_t *o = json_object();
    bool ok = put(o, "kind", json_string(KIND_NAMES[item->kind])) && put(o, "first", text_json(item->first));
    if (item->first_face >= 0) ok = ok && put(o, "first_face", json_integer(item->first_face));
    if (item->first_edge[0] >= 0) {
        ok = ok && put(o, "first_edge", json_pack("[i,i]", item->first_edge[0], item->first_edge[1]));
        ok = ok && put(o, "second", text_json(item->second)) && put(o, "second_face", json_integer(item->second_face));
    }
    if (item->node >= 0) ok = ok && put(o, "node", json_integer(item->node));
    const tl_vec3 x = item->position;
    if (isfinite(x.x) && isfinite(x.y) && isfinite(x.z))
        ok = ok && put(o, "position", json_pack("[f,f,f]", x.x, x.y, x.z));
    if (ok) return o;
    json_decref(o);
    return NULL;
}

static int64_t faults(const tl_check_def *def, const tl_frame_check *f)
{
    int64_t n = 0;
    for (int kind = 0; kind < TL_CHECK_KINDS; kind++)
        n += tl_check_is_fault(def, (tl_check_kind)kind) ? f->count[kind] : 0;
    return n;
}

static json_t *frame_json(const tl_check_def *def, const tl_frame_check *f)
{
    json_t *o = json_object(), *list = json_array();
    const bool strained = f->strain_min <= f->strain_max;
    bool ok = put(o, "frame", json_integer(f->frame)) && put(o, "faces", json_integer(f->faces)) &&
              put(o, "nodes", json_integer(f->nodes)) && put(o, "findings", json_integer(faults(def, f)));
    for (int kind = 0; kind < TL_CHECK_KINDS; kind++) ok = ok && put(o, KIND_NAMES[kind], json_integer(f->count[kind]));
    ok = ok && put(o, "strain_min", strained ? real_or_null(f->strain_min) : json_null()) &&
         put(o, "strain_max", strained ? real_or_null(f->strain_max) : json_null()) &&
         put(o, "strain_min_99", real_or_null(f->strain_min_99)) &&
         put(o, "strain_max_99", real_or_null(f->strain_max_99));
    for (int32_t i = 0; i < f->item_count; i++) ok = ok && json_array_append_new(list, item_json(&f->items[i])) == 0;
    ok = put(o, "list", list) && ok;
    if (ok) return o;
    json_decref(o);
    return NULL;
}

static tl_status add_frame(const tl_check_def *def, const tl_frame_check *f, tl_check_report *out, json_t *per_frame,
                           tl_error *err)
{
    if (f->status != TL_OK) return tl_fail(err, f->status, "%s", f->err.message);
    int64_t *const counter[TL_CHECK_KINDS] = {
        [TL_CHECK_MISSING] = &out->missing_frames,      [TL_CHECK_MISSING_BODY] = &out->missing_obstacles,
        [TL_CHECK_UNREADABLE] = &out->unreadable,       [TL_CHECK_NOT_FINITE] = &out->not_finite,
        [TL_CHECK_DEGENERATE] = &out->degenerate,       [TL_CHECK_INVERTED] = &out->inverted,
        [TL_CHECK_STRAIN] = &out->over_strain,          [TL_CHECK_CLOTH_CLOTH] = &out->cloth_cloth,
        [TL_CHECK_ABSURD_FACE] = &out->absurd_faces,    [TL_CHECK_ABSURD_CLOTH] = &out->absurd_cloths,
        [TL_CHECK_CLOTH_BODY] = &out->cloth_body,       [TL_CHECK_PINCHED] = &out->pinched,
        [TL_CHECK_PINCHED_NODES] = &out->pinched_nodes,
    };
    for (int kind = 0; kind < TL_CHECK_KINDS; kind++) *counter[kind] += f->count[kind];
    out->findings += faults(def, f);
    out->faces += f->faces;
    if (f->strain_min < out->strain_min) out->strain_min = f->strain_min;
    if (f->strain_max > out->strain_max) out->strain_max = f->strain_max;
    if (f->strain_min_99 < out->strain_min_99) out->strain_min_99 = f->strain_min_99;
    if (f->strain_max_99 > out->strain_max_99) out->strain_max_99 = f->strain_max_99;
    if (!out->first[0]) memcpy(out->first, f->first, sizeof out->first);
    if (per_frame && json_array_append_new(per_frame, frame_json(def, f)) != 0)
        return tl_fail_memory(err, "the report");
    return TL_OK;
}

// Takes over `per_frame`.
static tl_status write_report(const tl_check_context *cx, const tl_check_report *r, json_t *per_frame, tl_error *err)
{
    const tl_check_def *def = cx->def;
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {
        {"frames", r->frames},
        {"cloths", r->cloths},
        {"obstacles", r->obstacles},
        {"faces", r->faces},
        {"missing_frames", r->missing_frames},
        {"missing_obstacles", r->missing_obstacles},
        {"unreadable", r->unreadable},
        {"not_finite", r->not_finite},
        {"degenerate", r->degenerate},
        {"inverted", r->inverted},
        {"over_strain", r->over_strain},
        {"absurd_faces", r->absurd_faces},
        {"absurd_cloths", r->absurd_cloths},
        {"cloth_cloth", r->cloth_cloth},
        {"cloth_body", r->cloth_body},
        {"pinched", r->pinched},
        {"pinched_nodes", r->pinched_nodes},
    };
    json_t *o = json_object();
    bool ok = put(o, "command", json_string("check")) && put(o, "exit_code", json_integer(r->findings > 0 ? 4 : 0)) &&
              put(o, "dir", text_json(def->dir));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ok = ok && put(o, counts[i].name, json_integer(counts[i].value));
    ok = ok && put(o, "strain_min", real_or_null(r->strain_min)) && put(o, "strain_max", real_or_null(r->strain_max)) &&
         put(o, "strain_min_99", real_or_null(r->strain_min_99)) &&
         put(o, "strain_max_99", real_or_null(r->strain_max_99)) &&
         put(o, "strain_limit", def->strain_limit > 0 ? json_real(def->strain_limit) : json_null()) &&
         put(o, "findings", json_integer(r->findings)) && put(o, "first", text_json(r->first));
    ok = put(o, "per_frame", per_frame) && ok;
    tl_buf buf;
    tl_buf_init(&buf, &cx->alloc);
    if (ok) tl_json_write(&buf, o);
    tl_buf_text(&buf, "\n");
    json_decref(o);
    tl_status status = ok ? tl_buf_end(&buf, "the report", err) : tl_fail_memory(err, "the report");
    if (status == TL_OK && def->json_path) status = tl_file_write(def->json_path, buf.data, buf.size, false, err);
    if (status == TL_OK && def->write) def->write(def->user, buf.data);
    tl_buf_free(&buf);
    return status;
}

// --- the scene of the run ----------------------------------------------------------------------------------

static double number_or(const json_t *object, const char *key, double other)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : other;
}

// Isotropic strain limits.
static tl_status read_limits(tl_check_context *cx, const json_t *scene, tl_error *err)
{
    const json_t *cloths = json_object_get(scene, "cloths");
    cx->limits = TL_CALLOC_FOR(&cx->alloc, cx->limits, cx->name_count);
    for (int32_t i = 0; cx->limits && i < cx->name_count; i++) {
        cx->limits[i][0] = -(double)INFINITY, cx->limits[i][1] = (double)INFINITY;
        for (size_t c = 0; c < json_array_size(cloths); c++) {
            const json_t *cloth = json_array_get(cloths, c), *strain = json_object_get(cloth, "strain_limits");
            const char *name = json_string_value(json_object_get(cloth, "name"));
            const char *kind = json_string_value(json_object_get(strain, "kind"));
            if (!name || strcmp(name, cx->names[i]) != 0 || !kind || strcmp(kind, "isotropic") != 0) continue;
            cx->limits[i][0] = number_or(strain, "min", -(double)INFINITY);
            cx->limits[i][1] = number_or(strain, "max", (double)INFINITY);
        }
    }
    return cx->limits ? TL_OK : tl_fail_memory(err, "strain limits");
}

// Every cloth and obstacle of the scene must have its files, even if all of them are gone.
static tl_status read_names(tl_check_context *cx, const json_t *scene, tl_error *err)
{
    listing list = {cx, false};
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(scene, "cloths"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (name && strlen(name) < 64 && !collect_cloth(&list, -1, name)) return tl_fail_memory(err, "names of cloths");
    }
    json_array_foreach(json_object_get(scene, "obstacles"), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (name && strlen(name) < 64 && !obstacle_named(cx, name)) return tl_fail_memory(err, "names of obstacles");
    }
    return TL_OK;
}

// What the scene that the run left in its folder says of cloths, obstacles and limits. A folder without one is fine.
static tl_status read_scene(tl_check_context *cx, tl_check_report *out, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_path_join(cx->def->dir, TL_REFINED_FILE, path, err));
    cx->refined = tl_path_look(path) == TL_PATH_FILE;
    TL_TRY(tl_path_join(cx->def->dir, "scene.json", path, err));
    if (tl_path_look(path) != TL_PATH_FILE) return TL_OK;
    tl_json_doc *doc;
    tl_error why = {0};
    tl_status status = tl_json_load(&cx->alloc, &(tl_json_def){.path = path}, &doc, &why);
    if (status == TL_NO_MEMORY) return tl_fail_memory(err, path);
    if (status != TL_OK) {
        out->unreadable++, out->findings++;
        if (!out->first[0]) snprintf(out->first, sizeof out->first, "%.500s", why.message);
        return TL_OK;
    }
    const json_t *scene = tl_json_root(doc).value;
    status = read_names(cx, scene, err);
    if (status == TL_OK && !(cx->def->strain_limit > 0) && !cx->refined) status = read_limits(cx, scene, err);
    tl_json_destroy(doc);
    return status;
}

// --- all frames --------------------------------------------------------------------------------------------

typedef struct batch_job {
    const tl_check_context *cx;
    tl_workers *inside;  ///< for the work within a frame
    int64_t first;
    tl_frame_check *out;
} batch_job;

static void batch_chunk(void *arg, int32_t begin, int32_t end)
{
    const batch_job *job = arg;
    for (int32_t i = begin; i < end; i++) tl_check_frame(job->cx, job->first + i, job->inside, &job->out[i]);
}

static tl_status check_frames(const tl_check_context *cx, tl_workers *workers, tl_check_report *out, json_t *per_frame,
                              tl_error *err)
{
    // Threads share out frames, or the work inside a frame when there are few; loops do not nest.
    const bool many = cx->last + 1 >= 2 * (int64_t)cx->def->threads;
    tl_frame_check *found = TL_CALLOC(&cx->alloc, tl_frame_check, FRAMES_AT_ONCE);
    tl_status status = found ? TL_OK : tl_fail_memory(err, "a report per frame");
    for (int64_t first = 0; status == TL_OK && first <= cx->last; first += FRAMES_AT_ONCE) {
        const int32_t count = (int32_t)(cx->last - first < FRAMES_AT_ONCE ? cx->last - first + 1 : FRAMES_AT_ONCE);
        batch_job job = {cx, many ? NULL : workers, first, found};
        tl_parallel_for(many ? workers : NULL, count, 1, batch_chunk, &job);
        for (int32_t i = 0; i < count; i++) {
            if (status == TL_OK) status = add_frame(cx->def, &found[i], out, per_frame, err);
            TL_FREE(&cx->alloc, found[i].items, found[i].item_cap);
        }
    }
    TL_FREE(&cx->alloc, found, FRAMES_AT_ONCE);
    return status;
}

static tl_status check_all(tl_check_context *cx, tl_workers *workers, tl_check_report *out, tl_error *err)
{
    const tl_check_def *def = cx->def;
    listing list = {cx, false};
    int64_t by_stats, damaged;
    char stats_path[TL_PATH_MAX];
    TL_TRY(tl_frames_visit(def->dir, collect_cloth, &list, err));
    if (!list.failed) TL_TRY(tl_obstacles_visit(def->dir, collect_obstacle, &list, err));
    if (list.failed) return tl_fail_memory(err, "names of cloths");
    if (cx->name_count == 0)
        return tl_fail(err, TL_BAD_INPUT, "%s: holds no frames (frames/NNNNNN_CLOTH.obj)", def->dir);
    TL_TRY(frames_by_stats(cx, stats_path, &by_stats, &damaged, err));
    if (by_stats > cx->last) cx->last = by_stats;
    if (damaged > 0) {
        out->unreadable++, out->findings++;
        snprintf(out->first, sizeof out->first, "%.400s: %lld damaged lines", stats_path, (long long)damaged);
    }
    TL_TRY(read_scene(cx, out, err));
    TL_TRY(load_still(cx, workers, err));
    if (def->overlay_dir) TL_TRY(tl_make_dirs(def->overlay_dir, err));
    out->cloths = cx->name_count, out->obstacles = cx->obstacle_count;
    out->frames = (int32_t)(cx->last + 1);
    json_t *per_frame = def->json_path || def->write ? json_array() : NULL;
    const tl_status status = check_frames(cx, workers, out, per_frame, err);
    if (!(out->strain_min <= out->strain_max)) out->strain_min = out->strain_max = 0;
    if (status == TL_OK && per_frame) return write_report(cx, out, per_frame, err);
    json_decref(per_frame);
    return status;
}

tl_status tl_check(const tl_check_def *given, tl_check_report *out, tl_error *err)
{
    TL_DEF_COMPLETE(tl_check_def, complete, given, err);
    const tl_check_def *def = &complete;
    if (!def || !def->dir || !out) return tl_fail(err, TL_BAD_ARG, "check: def, dir or out is NULL");
    if (def->threads < 1) return tl_fail(err, TL_BAD_ARG, "check: threads %d, must be >= 1", def->threads);
    if (def->list_max < 0) return tl_fail(err, TL_BAD_ARG, "check: list_max %d, must be >= 0", def->list_max);
    *out = (tl_check_report){.strain_min = (double)INFINITY, .strain_max = -(double)INFINITY};
    if (tl_path_look(def->dir) != TL_PATH_DIR) return tl_fail(err, TL_IO, "%s: is not a folder", def->dir);
    tl_check_context cx = {.alloc = tl_allocator_default(), .def = def, .last = -1};
    tl_workers *workers = NULL;
    tl_status status = tl_workers_create(&cx.alloc, def->threads, &workers, err);
    if (status == TL_OK) status = check_all(&cx, workers, out, err);
    tl_workers_destroy(workers);
    for (int32_t i = 0; i < cx.obstacle_count; i++) {
        TL_FREE(&cx.alloc, cx.obstacles[i].frames, cx.obstacles[i].cap);
        tl_check_surface_free(&cx.obstacles[i].surface);
    }
    TL_FREE(&cx.alloc, cx.obstacles, cx.obstacle_cap);
    TL_FREE(&cx.alloc, cx.limits, cx.name_count);
    TL_FREE(&cx.alloc, cx.names, cx.name_cap);
    return status;
}

tl_status tl_check_dir(const char *dir, double strain_limit, tl_check_report *out, tl_error *err)
{
    tl_check_def def = tl_check_def_default();
    def.dir = dir, def.strain_limit = strain_limit;
    return tl_check(&def, out, err);
}
