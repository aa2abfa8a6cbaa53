// run/refiner.c: what a folder holds, its frames level by level, and what they came to.

#include "run/refiner.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "run/check.h"
#include "run/folder.h"
#include "run/refiner_curves.h"
#include "run/refiner_wrinkles.h"

enum { NAME_SIZE = 64 };

typedef char mesh_name[NAME_SIZE];

typedef struct body {
    tl_check_surface surface;  ///< the last that was read, for those that stand still
    bool moves;
    char file[TL_PATH_MAX];  ///< "": not read for this frame
    int32_t file_frame;
} body;

struct tl_refiner {
    const tl_refine_def *def;
    tl_allocator alloc;
    tl_workers *workers;
    tl_arena arena;
    bool one_file;                          ///< an OBJ file: a run of one cloth without obstacles
    mesh_name *cloth_name, *obstacle_name;  ///< sorted
    int32_t cloth_count, cloth_cap, obstacle_count, obstacle_cap;
    int32_t *frame, frame_count, frame_cap;
    body *body;  ///< one per obstacle
    const tl_bvh **tree;
    tl_fine_mesh *cloth;
    const char **name;  ///< [cloth_count] into cloth_name
    tl_refiner_wrinkles wrinkles;
    tl_refiner_curves curves;
    tl_refine_report report;
};

// ---- what there is --------------------------------------------------------------------------------------------

static bool add_name(tl_refiner *r, mesh_name **list, int32_t *count, int32_t *cap, const char *name)
{
    int32_t at = 0;
    while (at < *count && strcmp((*list)[at], name) < 0) at++;
    if (at < *count && strcmp((*list)[at], name) == 0) return true;
    if (!TL_GROW(&r->alloc, *list, *cap, (int64_t)*count + 1)) return false;
    memmove(*list + at + 1, *list + at, (size_t)(*count - at) * sizeof **list);
    snprintf((*list)[at], NAME_SIZE, "%s", name);
    (*count)++;
    return true;
}

typedef struct visit {
    tl_refiner *r;
    bool full;
} visit;

static bool visit_frame(void *user, int64_t frame, const char *name)
{
    visit *v = user;
    tl_refiner *r = v->r;
    if (frame < r->def->first || frame > INT32_MAX || (r->def->last >= 0 && frame > r->def->last)) return true;
    int32_t at = r->frame_count;
    while (at > 0 && r->frame[at - 1] > frame) at--;
    const bool known = at > 0 && r->frame[at - 1] == frame;
    if (!known) {
        if (!TL_GROW(&r->alloc, r->frame, r->frame_cap, (int64_t)r->frame_count + 1)) return !(v->full = true);
        memmove(r->frame + at + 1, r->frame + at, (size_t)(r->frame_count - at) * sizeof *r->frame);
        r->frame[at] = (int32_t)frame;
        r->frame_count++;
    }
    v->full = !add_name(r, &r->cloth_name, &r->cloth_count, &r->cloth_cap, name);
    return !v->full;
}

static bool visit_obstacle(void *user, int64_t frame, const char *name)
{
    (void)frame;
    visit *v = user;
    v->full = !add_name(v->r, &v->r->obstacle_name, &v->r->obstacle_count, &v->r->obstacle_cap, name);
    return !v->full;
}

static tl_status look_around(tl_refiner *r, tl_error *err)
{
    visit v = {r, false};
    TL_TRY(tl_frames_visit(r->def->source, visit_frame, &v, err));
    if (!v.full) TL_TRY(tl_obstacles_visit(r->def->source, visit_obstacle, &v, err));
    if (v.full) return tl_fail_memory(err, "names of frames");
    if (r->frame_count == 0)
        return tl_fail(err, TL_BAD_INPUT, "%.400s: no frames to refine; give the --out of a run, or an OBJ file",
                       r->def->source);
    return TL_OK;
}

// ---- reading --------------------------------------------------------------------------------------------------

static tl_status read_mesh(const tl_refiner *r, const char *path, tl_obj_mode mode, tl_obj *out, tl_error *err)
{
    tl_text text;
    TL_TRY(tl_file_read(&r->alloc, path, TL_OBJ_MAX_BYTES, &text, err));
    const tl_status status = tl_obj_parse(&r->alloc, path, text.data, text.size, mode, out, err);
    tl_text_free(&r->alloc, &text);
    return status;
}

// An obstacle of a frame; one that stands still is read once.
static tl_status read_obstacle(tl_refiner *r, int32_t i, int32_t frame, tl_error *err)
{
    body *b = &r->body[i];
    b->file[0] = 0;
    char path[TL_PATH_MAX];
    TL_TRY(tl_obstacle_path(r->def->source, frame, r->obstacle_name[i], path, err));
    if (tl_path_look(path) != TL_PATH_FILE) {
        if (b->surface.mesh_count > 0 && !b->moves) return TL_OK;
        TL_TRY(tl_obstacle_path(r->def->source, 0, r->obstacle_name[i], path, err));
        frame = 0;
    }
    tl_obj mesh;
    TL_TRY(read_mesh(r, path, TL_OBJ_BODY, &mesh, err));
    memcpy(b->file, path, sizeof path), b->file_frame = frame;
    b->moves = mesh.moves;
    tl_check_surface_free(&b->surface);
    tl_check_surface_init(&b->surface, &r->alloc);
    TL_TRY(tl_check_surface_add(&b->surface, &mesh, r->obstacle_name[i], err));
    return tl_check_surface_build(&b->surface, r->workers, err);
}

static tl_status to_fine(const tl_obj *mesh, tl_allocator alloc, tl_fine_mesh *out, tl_error *err)
{
    int32_t(*node)[3] = tl_alloc_bytes(&alloc, (size_t)mesh->face_count, sizeof *node);
    if (!node) return tl_fail_memory(err, "a mesh");
    for (int32_t f = 0; f < mesh->face_count; f++)
        for (int k = 0; k < 3; k++) node[f][k] = mesh->vert_node[mesh->face[f][k]];
    const tl_fine_input in = {.pos = mesh->pos,
                              .node = (const int32_t(*)[3])node,
                              .vert = (const int32_t(*)[3])mesh->face,
                              .uv = mesh->uv,
                              .node_count = mesh->node_count,
                              .vert_count = mesh->vert_count,
                              .face_count = mesh->face_count};
    const tl_status status = tl_fine_mesh_create(alloc, &in, out, err);
    tl_free_bytes(&alloc, node, (size_t)mesh->face_count, sizeof *node);
    return status;
}

static tl_status read_cloths(tl_refiner *r, int32_t frame, tl_error *err)
{
    for (int32_t i = 0; i < r->cloth_count; i++) {
        char path[TL_PATH_MAX];
        tl_obj mesh;
        if (r->one_file)
            snprintf(path, sizeof path, "%s", r->def->source);
        else
            TL_TRY(tl_frame_path(r->def->source, frame, r->cloth_name[i], path, err));
        TL_TRY(read_mesh(r, path, TL_OBJ_LOOSE, &mesh, err));
        r->report.faces_in += mesh.face_count;
        const tl_status status = to_fine(&mesh, r->alloc, &r->cloth[i], err);
        tl_obj_free(&mesh);
        TL_TRY(status);
    }
    return TL_OK;
}

// ---- one frame ------------------------------------------------------------------------------------------------

static void add_level(tl_refine_report *report, int32_t level, const tl_finish_level *done)
{
    tl_refine_level *sum = &report->level[level];
    const tl_clear_report *c = &done->clear;
    sum->nodes += done->nodes, sum->faces += done->faces;
    sum->close_pairs += c->close_pairs, sum->corrected += c->corrected, sum->stopped += c->stopped;
    sum->mask_seconds += done->mask_seconds;
    sum->tree_seconds += c->tree_seconds, sum->test_seconds += c->test_seconds;
    if (c->iterations > sum->most_searches) sum->most_searches = c->iterations;
    if (c->longest > sum->longest) sum->longest = c->longest;
    report->corrected += c->corrected, report->stopped += c->stopped;
    if (c->iterations > report->most_searches) report->most_searches = c->iterations;
    if (c->longest > report->longest) report->longest = c->longest;
}

static tl_status subdivide(tl_refiner *r, const tl_finish *f, tl_error *err)
{
    // curved surfaces are made without levels, so theirs is never used
    static const tl_subdivision scheme[TL_REFINE_SCHEMES] = {[TL_REFINE_MODIFIED_LOOP] = TL_SUBDIVIDE_MODIFIED_LOOP,
                                                             [TL_REFINE_LOOP] = TL_SUBDIVIDE_LOOP,
                                                             [TL_REFINE_BUTTERFLY] = TL_SUBDIVIDE_BUTTERFLY};
    const tl_subdivide_def def = {.scheme = scheme[r->def->scheme],
                                  .crease_seams = r->def->crease_seams,
                                  .loop_vertex_mask = r->def->loop_vertex_mask};
    tl_finish_level done[TL_REFINE_LEVELS_MAX] = {0};
    if (r->def->scheme == TL_REFINE_CURVED) {
        TL_TRY(tl_refiner_curves_move(&r->curves, f, r->cloth, done, err));
        add_level(&r->report, 0, done);
        return TL_OK;
    }
    TL_TRY(tl_finish_subdivide(f, &def, r->def->levels, r->cloth, r->cloth_count, done, err));
    for (int32_t level = 0; level < r->def->levels; level++) add_level(&r->report, level, &done[level]);
    return TL_OK;
}

static void forget_cloths(tl_refiner *r)
{
    for (int32_t i = 0; r->cloth && i < r->cloth_count; i++) tl_fine_mesh_free(&r->cloth[i]);
}

tl_status tl_refiner_frame(tl_refiner *r, int32_t index, tl_error *err)
{
    forget_cloths(r);
    tl_arena_reset(&r->arena);
    for (int32_t i = 0; i < r->obstacle_count; i++) TL_TRY(read_obstacle(r, i, r->frame[index], err));
    TL_TRY(read_cloths(r, r->frame[index], err));
    tl_finish f = {r->alloc, &r->arena, r->workers, r->tree, 0, r->def->gap};
    for (int32_t i = 0; i < r->obstacle_count; i++)
        if (r->body[i].surface.bvh) r->tree[f.body_count++] = r->body[i].surface.bvh;
    const bool folds = r->def->wrinkle.folds != TL_REFINE_NO_FOLDS;
    if (folds) TL_TRY(tl_refiner_wrinkles_look(&r->wrinkles, r->cloth, r->name, r->workers, &r->report, err));
    TL_TRY(subdivide(r, &f, err));
    if (folds) TL_TRY(tl_refiner_wrinkles_fold(&r->wrinkles, &f, r->cloth, &r->report, err));
    for (int32_t i = 0; i < r->cloth_count; i++) r->report.faces_out += r->cloth[i].face_count;
    r->report.frames++;
    return TL_OK;
}

// ---- the refiner itself ---------------------------------------------------------------------------------------

static tl_status look_at_source(tl_refiner *r, tl_error *err)
{
    if (tl_path_look(r->def->source) != TL_PATH_FILE) return look_around(r, err);
    char name[NAME_SIZE];
    tl_path_stem(r->def->source, name, sizeof name);
    r->one_file = true;
    if (!TL_GROW(&r->alloc, r->frame, r->frame_cap, 1) ||
        !add_name(r, &r->cloth_name, &r->cloth_count, &r->cloth_cap, name))
        return tl_fail_memory(err, "names of frames");
    r->frame[0] = 0, r->frame_count = 1;
    return TL_OK;
}

static tl_status make_room(tl_refiner *r, tl_error *err)
{
    TL_TRY(look_at_source(r, err));
    r->body = TL_CALLOC(&r->alloc, body, r->obstacle_count);
    r->tree = TL_CALLOC(&r->alloc, const tl_bvh *, r->obstacle_count);
    r->cloth = TL_CALLOC(&r->alloc, tl_fine_mesh, r->cloth_count);
    for (int32_t i = 0; r->body && i < r->obstacle_count; i++) tl_check_surface_init(&r->body[i].surface, &r->alloc);
    for (int32_t i = 0; r->cloth && i < r->cloth_count; i++) r->cloth[i].alloc = r->alloc;
    r->name = TL_CALLOC(&r->alloc, const char *, r->cloth_count);
    if (!r->body || !r->tree || !r->cloth || !r->name) return tl_fail_memory(err, "cloths and obstacles");
    for (int32_t i = 0; i < r->cloth_count; i++) r->name[i] = r->cloth_name[i];
    TL_TRY(tl_refiner_curves_init(&r->curves, &r->alloc, r->def, r->cloth_count, err));
    TL_TRY(tl_refiner_wrinkles_init(&r->wrinkles, &r->alloc, r->def, r->cloth_count, err));
    return TL_OK;
}

tl_status tl_refiner_create(const tl_refine_def *def, tl_refiner **out, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_refiner *r = TL_CALLOC(&alloc, tl_refiner, 1);
    *out = NULL;
    if (!r) return tl_fail_memory(err, "refining");
    r->def = def, r->alloc = alloc, r->report.levels = def->scheme == TL_REFINE_CURVED ? 1 : def->levels;
    tl_arena_init(&r->arena, alloc);
    tl_status status = tl_workers_create(&r->alloc, def->threads < 1 ? 1 : def->threads, &r->workers, err);
    if (status == TL_OK) status = make_room(r, err);
    if (status == TL_OK)
        *out = r;
    else
        tl_refiner_destroy(r);
    return status;
}

void tl_refiner_destroy(tl_refiner *r)
{
    if (!r) return;
    const tl_allocator alloc = r->alloc;
    for (int32_t i = 0; r->body && i < r->obstacle_count; i++) tl_check_surface_free(&r->body[i].surface);
    forget_cloths(r);
    TL_FREE(&alloc, r->body, r->obstacle_count);
    TL_FREE(&alloc, r->tree, r->obstacle_count);
    TL_FREE(&alloc, r->cloth, r->cloth_count);
    TL_FREE(&alloc, r->name, r->cloth_count);
    tl_refiner_wrinkles_free(&r->wrinkles);
    tl_refiner_curves_free(&r->curves);
    tl_free_bytes(&alloc, r->cloth_name, (size_t)r->cloth_cap, sizeof *r->cloth_name);
    tl_free_bytes(&alloc, r->obstacle_name, (size_t)r->obstacle_cap, sizeof *r->obstacle_name);
    TL_FREE(&alloc, r->frame, r->frame_cap);
    tl_arena_free(&r->arena);
    tl_workers_destroy(r->workers);
    tl_free_bytes(&alloc, r, 1, sizeof *r);
}

int32_t tl_refiner_frame_count(const tl_refiner *r) { return r->frame_count; }
int32_t tl_refiner_frame_id(const tl_refiner *r, int32_t index) { return r->frame[index]; }
int32_t tl_refiner_cloth_count(const tl_refiner *r) { return r->cloth_count; }
const char *tl_refiner_cloth_name(const tl_refiner *r, int32_t cloth) { return r->cloth_name[cloth]; }
const tl_fine_mesh *tl_refiner_cloth(const tl_refiner *r, int32_t cloth) { return &r->cloth[cloth]; }
tl_status tl_refiner_maps(tl_refiner *r, int32_t cloth, const char *path, tl_error *err)
{
    return tl_refiner_wrinkles_maps(&r->wrinkles, cloth, path, &r->report, err);
}

const tl_refine_report *tl_refiner_report(const tl_refiner *r) { return &r->report; }
int32_t tl_refiner_obstacle_count(const tl_refiner *r) { return r->obstacle_count; }
const char *tl_refiner_obstacle_name(const tl_refiner *r, int32_t obstacle) { return r->obstacle_name[obstacle]; }

tl_status tl_refiner_obj(const tl_refiner *r, int32_t cloth, tl_obj *out, tl_error *err)
{
    const tl_fine_mesh *m = &r->cloth[cloth];
    *out = (tl_obj){.alloc = r->alloc, .has_uv = true};
    out->pos = TL_ALLOC(&r->alloc, tl_vec3, m->node_count), out->pos_cap = m->node_count;
    out->uv = TL_ALLOC(&r->alloc, tl_vec2, m->vert_count), out->uv_cap = m->vert_count;
    out->vert_node = TL_CALLOC(&r->alloc, int32_t, m->vert_count), out->vert_cap = m->vert_count;
    out->face = tl_alloc_bytes(&r->alloc, (size_t)m->face_count, sizeof *out->face), out->face_cap = m->face_count;
    if (!out->pos || !out->uv || !out->vert_node || !out->face) {
        tl_obj_free(out);
        return tl_fail_memory(err, "a finer mesh");
    }
    out->node_count = m->node_count, out->vert_count = m->vert_count, out->face_count = m->face_count;
    memcpy(out->pos, m->pos, (size_t)m->node_count * sizeof *out->pos);
    memcpy(out->uv, m->uv, (size_t)m->vert_count * sizeof *out->uv);
    memcpy(out->face, m->vert, (size_t)m->face_count * sizeof *out->face);
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++) out->vert_node[m->vert[f][k]] = m->node[f][k];
    return TL_OK;
}

const char *tl_refiner_obstacle_file(const tl_refiner *r, int32_t obstacle, int32_t *frame)
{
    const body *b = &r->body[obstacle];
    *frame = b->file_frame;
    return b->file[0] ? b->file : NULL;
}
