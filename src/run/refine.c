// run/refine.c: finer surfaces of the frames of a run, level by level, clear of everything.

#include "toile/refine.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"
#include "post/clear.h"
#include "post/subdivide.h"
#include "run/check.h"
#include "run/folder.h"

enum { MOST_LEVELS = 5, NAME_SIZE = 64 };

typedef char mesh_name[NAME_SIZE];

typedef struct refine {
    const tl_refine_def *def;
    tl_allocator alloc;
    tl_workers *workers;
    tl_arena arena;
    mesh_name *cloth, *obstacle;  ///< names, sorted
    int32_t cloth_count, cloth_cap, obstacle_count, obstacle_cap;
    int32_t *frame, frame_count, frame_cap;
    tl_check_surface *body;  ///< one per obstacle; the last that was read, for those that stand still
    bool *moves;
    tl_refine_report report;
} refine;

tl_refine_def tl_refine_def_default(void)
{
    return (tl_refine_def){.levels = 2, .gap = 2e-4, .last = -1, .threads = 1};
}

// ---- what there is --------------------------------------------------------------------------------------------

static bool add_name(refine *r, mesh_name **list, int32_t *count, int32_t *cap, const char *name)
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
    refine *r;
    bool full;
} visit;

static bool visit_frame(void *user, int64_t frame, const char *name)
{
    visit *v = user;
    refine *r = v->r;
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
    v->full = !add_name(r, &r->cloth, &r->cloth_count, &r->cloth_cap, name);
    return !v->full;
}

static bool visit_obstacle(void *user, int64_t frame, const char *name)
{
    (void)frame;
    visit *v = user;
    v->full = !add_name(v->r, &v->r->obstacle, &v->r->obstacle_count, &v->r->obstacle_cap, name);
    return !v->full;
}

static tl_status look_around(refine *r, tl_error *err)
{
    visit v = {r, false};
    TL_TRY(tl_frames_visit(r->def->source, visit_frame, &v, err));
    if (!v.full) TL_TRY(tl_obstacles_visit(r->def->source, visit_obstacle, &v, err));
    if (v.full) return tl_fail_memory(err, "names of frames");
    if (r->frame_count == 0)
        return tl_fail(err, TL_BAD_INPUT, "%.400s: no frames to refine; give the --out of a run, or an OBJ file",
                       r->def->source);
    r->body = TL_CALLOC(&r->alloc, tl_check_surface, r->obstacle_count);
    r->moves = TL_CALLOC(&r->alloc, bool, r->obstacle_count);
    if (!r->body || !r->moves) return tl_fail_memory(err, "obstacles");
    for (int32_t i = 0; i < r->obstacle_count; i++) tl_check_surface_init(&r->body[i], &r->alloc);
    return TL_OK;
}

// ---- files ----------------------------------------------------------------------------------------------------

static tl_status read_mesh(const refine *r, const char *path, tl_obj_mode mode, tl_text *text, tl_obj *out,
                           tl_error *err)
{
    TL_TRY(tl_file_read(&r->alloc, path, TL_OBJ_MAX_BYTES, text, err));
    const tl_status status = tl_obj_parse(&r->alloc, path, text->data, text->size, mode, out, err);
    if (status != TL_OK) tl_text_free(&r->alloc, text);
    return status;
}

// Obstacles of a frame, copied to the new folder as they are. One that stands still is read once.
static tl_status read_obstacle(refine *r, int32_t i, int32_t frame, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_obstacle_path(r->def->source, frame, r->obstacle[i], path, err));
    if (tl_path_look(path) != TL_PATH_FILE) {
        if (r->body[i].mesh_count > 0 && !r->moves[i]) return TL_OK;
        TL_TRY(tl_obstacle_path(r->def->source, 0, r->obstacle[i], path, err));
        frame = 0;
    }
    tl_text text;
    tl_obj mesh;
    TL_TRY(read_mesh(r, path, TL_OBJ_BODY, &text, &mesh, err));
    tl_status status = tl_obstacle_path(r->def->out, frame, r->obstacle[i], path, err);
    if (status == TL_OK) status = tl_file_write(path, text.data, text.size, false, err);
    tl_text_free(&r->alloc, &text);
    r->moves[i] = mesh.moves;
    tl_check_surface_free(&r->body[i]);
    tl_check_surface_init(&r->body[i], &r->alloc);
    if (status == TL_OK) status = tl_check_surface_add(&r->body[i], &mesh, r->obstacle[i], err);
    if (status == TL_OK) status = tl_check_surface_build(&r->body[i], r->workers, err);
    return status;
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

static tl_status write_fine(const refine *r, const tl_fine_mesh *m, const char *name, const char *path, tl_error *err)
{
    int32_t *vert_node = TL_CALLOC(&r->alloc, int32_t, m->vert_count);
    if (!vert_node) return tl_fail_memory(err, "a finer mesh");
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++) vert_node[m->vert[f][k]] = m->node[f][k];
    const tl_obj_view view = {.name = name,
                              .pos = m->pos,
                              .node_count = m->node_count,
                              .uv = m->uv,
                              .vert_node = vert_node,
                              .vert_count = m->vert_count,
                              .face = (const int32_t(*)[3])m->vert,
                              .face_count = m->face_count};
    tl_buf buf;
    tl_buf_init(&buf, &r->alloc);
    tl_obj_write(&buf, &view);
    const tl_status status =
        buf.failed ? tl_fail_memory(err, path) : tl_file_write(path, buf.data, buf.size, false, err);
    tl_buf_free(&buf);
    TL_FREE(&r->alloc, vert_node, m->vert_count);
    return status;
}

// ---- one frame ------------------------------------------------------------------------------------------------

/// All cloths of a frame as one surface, for the search.
typedef struct joined {
    int32_t (*face)[3];
    tl_vec3 *start, *end;
    int32_t node_count, face_count;
} joined;

static void joined_free(joined *j, const tl_allocator *alloc)
{
    tl_free_bytes(alloc, j->face, (size_t)j->face_count, sizeof *j->face);
    TL_FREE(alloc, j->start, j->node_count);
    TL_FREE(alloc, j->end, j->node_count);
}

static tl_status join_cloths(const refine *r, const tl_fine_mesh *cloth, tl_vec3 *const *start, joined *j,
                             tl_error *err)
{
    int64_t nodes = 0, faces = 0;
    for (int32_t i = 0; i < r->cloth_count; i++) nodes += cloth[i].node_count, faces += cloth[i].face_count;
    if (nodes > INT32_MAX || faces > INT32_MAX / 3)
        return tl_fail(err, TL_BAD_INPUT, "%lld faces, too many; use fewer --levels", (long long)faces);
    *j = (joined){tl_alloc_bytes(&r->alloc, (size_t)faces, sizeof *j->face), TL_ALLOC(&r->alloc, tl_vec3, nodes),
                  TL_ALLOC(&r->alloc, tl_vec3, nodes), (int32_t)nodes, (int32_t)faces};
    if (!j->face || !j->start || !j->end) {
        joined_free(j, &r->alloc);
        return tl_fail_memory(err, "finer cloths");
    }
    int32_t node = 0, face = 0;
    for (int32_t i = 0; i < r->cloth_count; i++) {
        for (int32_t f = 0; f < cloth[i].face_count; f++, face++)
            for (int k = 0; k < 3; k++) j->face[face][k] = node + cloth[i].node[f][k];
        for (int32_t n = 0; n < cloth[i].node_count; n++, node++)
            j->start[node] = start[i][n], j->end[node] = cloth[i].pos[n];
    }
    return TL_OK;
}

static tl_status move_clear(refine *r, tl_fine_mesh *cloth, tl_vec3 *const *start, tl_error *err)
{
    joined j = {0};
    TL_TRY(join_cloths(r, cloth, start, &j, err));
    const tl_bvh **tree = TL_ALLOC(&r->alloc, const tl_bvh *, r->obstacle_count);
    int32_t trees = 0;
    for (int32_t i = 0; tree && i < r->obstacle_count; i++)
        if (r->body[i].bvh) tree[trees++] = r->body[i].bvh;
    const tl_clear_def def = {
        (const int32_t(*)[3])j.face, j.node_count, j.face_count, j.start, tree, trees, r->def->gap};
    tl_clear_report done;
    const tl_status status = tree ? tl_clear_move(&def, &r->alloc, &r->arena, r->workers, j.end, &done, err)
                                  : tl_fail_memory(err, "obstacles");
    if (status == TL_OK) {
        for (int32_t i = 0, node = 0; i < r->cloth_count; i++)
            for (int32_t n = 0; n < cloth[i].node_count; n++) cloth[i].pos[n] = j.end[node++];
        r->report.corrected += done.corrected, r->report.stopped += done.stopped;
        if (done.iterations > r->report.most_searches) r->report.most_searches = done.iterations;
        if (done.longest > r->report.longest) r->report.longest = done.longest;
    }
    TL_FREE(&r->alloc, tree, r->obstacle_count);
    joined_free(&j, &r->alloc);
    return status;
}

static tl_status one_level(refine *r, tl_fine_mesh *cloth, tl_error *err)
{
    static const tl_subdivision scheme[] = {[TL_REFINE_MODIFIED_LOOP] = TL_SUBDIVIDE_MODIFIED_LOOP,
                                            [TL_REFINE_LOOP] = TL_SUBDIVIDE_LOOP,
                                            [TL_REFINE_BUTTERFLY] = TL_SUBDIVIDE_BUTTERFLY};
    const tl_subdivide_def def = {.scheme = scheme[r->def->scheme], .crease_seams = r->def->crease_seams};
    tl_vec3 **start = TL_CALLOC(&r->alloc, tl_vec3 *, r->cloth_count);
    if (!start) return tl_fail_memory(err, "finer cloths");
    tl_status status = TL_OK;
    for (int32_t i = 0; i < r->cloth_count && status == TL_OK; i++) {
        tl_fine_mesh finer;
        status = tl_subdivide(&cloth[i], &def, r->workers, &finer, &start[i], err);
        if (status != TL_OK) break;
        tl_fine_mesh_free(&cloth[i]);
        cloth[i] = finer;
    }
    if (status == TL_OK) status = move_clear(r, cloth, start, err);
    for (int32_t i = 0; i < r->cloth_count; i++)
        if (start[i]) tl_free_bytes(&r->alloc, start[i], (size_t)cloth[i].node_count, sizeof *start[i]);
    TL_FREE(&r->alloc, start, r->cloth_count);
    return status;
}

static tl_status read_cloths(refine *r, int32_t frame, tl_fine_mesh *cloth, tl_error *err)
{
    for (int32_t i = 0; i < r->cloth_count; i++) {
        char path[TL_PATH_MAX];
        tl_text text;
        tl_obj mesh;
        TL_TRY(tl_frame_path(r->def->source, frame, r->cloth[i], path, err));
        TL_TRY(read_mesh(r, path, TL_OBJ_LOOSE, &text, &mesh, err));
        tl_text_free(&r->alloc, &text);
        r->report.faces_in += mesh.face_count;
        const tl_status status = to_fine(&mesh, r->alloc, &cloth[i], err);
        tl_obj_free(&mesh);
        TL_TRY(status);
    }
    return TL_OK;
}

static tl_status refine_frame(refine *r, int32_t frame, tl_fine_mesh *cloth, tl_error *err)
{
    for (int32_t i = 0; i < r->obstacle_count; i++) TL_TRY(read_obstacle(r, i, frame, err));
    TL_TRY(read_cloths(r, frame, cloth, err));
    for (int32_t level = 0; level < r->def->levels; level++) TL_TRY(one_level(r, cloth, err));
    for (int32_t i = 0; i < r->cloth_count; i++) {
        char path[TL_PATH_MAX];
        TL_TRY(tl_frame_path(r->def->out, frame, r->cloth[i], path, err));
        TL_TRY(write_fine(r, &cloth[i], r->cloth[i], path, err));
        r->report.faces_out += cloth[i].face_count;
    }
    r->report.frames++;
    return TL_OK;
}

static tl_status refine_run(refine *r, tl_error *err)
{
    TL_TRY(look_around(r, err));
    char path[TL_PATH_MAX];
    TL_TRY(tl_path_join(r->def->out, "frames", path, err));
    TL_TRY(tl_make_dirs(path, err));
    TL_TRY(tl_path_join(r->def->out, "obstacles", path, err));
    if (r->obstacle_count > 0) TL_TRY(tl_make_dirs(path, err));
    for (int32_t k = 0; k < r->frame_count; k++) {
        tl_fine_mesh *cloth = TL_CALLOC(&r->alloc, tl_fine_mesh, r->cloth_count);
        if (!cloth) return tl_fail_memory(err, "cloths");
        for (int32_t i = 0; i < r->cloth_count; i++) cloth[i].alloc = r->alloc;
        const tl_status status = refine_frame(r, r->frame[k], cloth, err);
        for (int32_t i = 0; i < r->cloth_count; i++) tl_fine_mesh_free(&cloth[i]);
        TL_FREE(&r->alloc, cloth, r->cloth_count);
        tl_arena_reset(&r->arena);
        TL_TRY(status);
        if (r->def->progress) r->def->progress(r->def->user, k + 1, r->frame_count);
    }
    return TL_OK;
}

// One OBJ file is a run of one cloth without obstacles.
static tl_status refine_file(refine *r, tl_error *err)
{
    tl_text text;
    tl_obj mesh;
    TL_TRY(read_mesh(r, r->def->source, TL_OBJ_LOOSE, &text, &mesh, err));
    tl_text_free(&r->alloc, &text);
    tl_fine_mesh cloth = {.alloc = r->alloc};
    tl_status status = to_fine(&mesh, r->alloc, &cloth, err);
    r->report.faces_in = mesh.face_count, r->cloth_count = 1, r->report.frames = 1;
    tl_obj_free(&mesh);
    for (int32_t level = 0; level < r->def->levels && status == TL_OK; level++) status = one_level(r, &cloth, err);
    char name[NAME_SIZE];
    tl_path_stem(r->def->source, name, sizeof name);
    if (status == TL_OK) status = write_fine(r, &cloth, name, r->def->out, err);
    r->report.faces_out = cloth.face_count;
    tl_fine_mesh_free(&cloth);
    return status;
}

static tl_status check_def(const tl_refine_def *def, tl_error *err)
{
    if (!def->source || !def->out) return tl_fail(err, TL_BAD_ARG, "refine: source and out are required");
    if (def->levels < 1 || def->levels > MOST_LEVELS)
        return tl_fail(err, TL_BAD_ARG, "refine: %d levels, must be 1 to %d", def->levels, MOST_LEVELS);
    if (!(def->gap > 0 && def->gap < 1))
        return tl_fail(err, TL_BAD_ARG, "refine: gap %g m, must be in (0, 1)", def->gap);
    if ((int)def->scheme < 0 || def->scheme > TL_REFINE_BUTTERFLY)
        return tl_fail(err, TL_BAD_ARG, "refine: scheme %d is not known", (int)def->scheme);
    char from[TL_PATH_MAX], to[TL_PATH_MAX];
    tl_path_absolute(def->source, from), tl_path_absolute(def->out, to);
    if (strcmp(from, to) == 0)
        return tl_fail(err, TL_BAD_INPUT, "%.400s: would be overwritten by its own refinement; give another -o",
                       def->out);
    return TL_OK;
}

tl_status tl_refine(const tl_refine_def *def, tl_refine_report *report, tl_error *err)
{
    if (report) *report = (tl_refine_report){0};
    TL_TRY(check_def(def, err));
    const double begin = tl_now();
    refine r = {.def = def, .alloc = tl_allocator_default()};
    TL_TRY(tl_workers_create(&r.alloc, def->threads < 1 ? 1 : def->threads, &r.workers, err));
    tl_arena_init(&r.arena, r.alloc);
    const tl_status status = tl_path_look(def->source) == TL_PATH_FILE ? refine_file(&r, err) : refine_run(&r, err);
    for (int32_t i = 0; r.body && i < r.obstacle_count; i++) tl_check_surface_free(&r.body[i]);
    TL_FREE(&r.alloc, r.body, r.obstacle_count);
    TL_FREE(&r.alloc, r.moves, r.obstacle_count);
    tl_free_bytes(&r.alloc, r.cloth, (size_t)r.cloth_cap, sizeof *r.cloth);
    tl_free_bytes(&r.alloc, r.obstacle, (size_t)r.obstacle_cap, sizeof *r.obstacle);
    TL_FREE(&r.alloc, r.frame, r.frame_cap);
    tl_arena_free(&r.arena);
    tl_workers_destroy(r.workers);
    r.report.seconds = tl_now() - begin;
    if (report) *report = r.report;
    return status;
}
