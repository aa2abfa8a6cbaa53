// io/check.c: looks at every saved frame of a run's folder: there, readable, finite, not degenerate, not inverted.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/folder.h"
#include "io/obj.h"
#include "io/stats.h"
#include "math/vec3.h"
#include "toile/run.h"

// A face whose world area is below this part of its material area has lost its shape; rounding is far smaller.
#define DEGENERATE_AREA 1e-9

typedef struct frame_set {
    tl_allocator alloc;
    char (*names)[64];  ///< cloths, sorted
    int32_t name_count, name_cap;
    int64_t last;  ///< largest frame number, -1: none
    bool failed;
} frame_set;

typedef struct checker {
    const char *dir;
    double strain_limit;
    tl_check_report *out;
} checker;

static void note(checker *ck, int64_t *counter, const char *format, ...) TL_PRINTF(3, 4);
static void note(checker *ck, int64_t *counter, const char *format, ...)
{
    (*counter)++;
    ck->out->findings++;
    if (ck->out->first[0]) return;
    va_list args;
    va_start(args, format);
    vsnprintf(ck->out->first, sizeof ck->out->first, format, args);
    va_end(args);
}

static bool collect(void *user, int64_t frame, const char *cloth)
{
    frame_set *set = user;
    if (frame > set->last) set->last = frame;
    int32_t at = 0;
    while (at < set->name_count && strcmp(set->names[at], cloth) < 0) at++;
    if (at < set->name_count && strcmp(set->names[at], cloth) == 0) return true;
    if (!TL_GROW(&set->alloc, set->names, set->name_cap, set->name_count + 1)) {
        set->failed = true;
        return false;
    }
    memmove(&set->names[at + 1], &set->names[at], (size_t)(set->name_count - at) * sizeof *set->names);
    snprintf(set->names[at], sizeof set->names[at], "%s", cloth);
    set->name_count++;
    return true;
}

// Principal strains of the map from material to world: roots of the eigenvalues of F^T F, less one.
static bool face_strain(const tl_obj *mesh, const int32_t *v, double *low, double *high, double *area_ratio)
{
    const tl_vec2 a = tl_sub2(mesh->uv[v[1]], mesh->uv[v[0]]), b = tl_sub2(mesh->uv[v[2]], mesh->uv[v[0]]);
    const tl_vec3 x0 = mesh->pos[mesh->vert_node[v[0]]];
    const tl_vec3 p = tl_sub3(mesh->pos[mesh->vert_node[v[1]]], x0),
                  q = tl_sub3(mesh->pos[mesh->vert_node[v[2]]], x0);
    const double det = tl_cross2(a, b);
    if (!(fabs(det) > 0)) return false;
    const tl_vec3 fu = tl_mul3(1 / det, tl_sub3(tl_mul3(b.y, p), tl_mul3(a.y, q)));
    const tl_vec3 fv = tl_mul3(1 / det, tl_sub3(tl_mul3(a.x, q), tl_mul3(b.x, p)));
    const double uu = tl_dot3(fu, fu), vv = tl_dot3(fv, fv), uv = tl_dot3(fu, fv);
    const double mean = 0.5 * (uu + vv), spread = hypot(0.5 * (uu - vv), uv);
    *low = sqrt(fmax(0, mean - spread)) - 1;
    *high = sqrt(mean + spread) - 1;
    *area_ratio = tl_norm3(tl_cross3(p, q)) / fabs(det);
    return true;
}

static void check_mesh(checker *ck, const char *path, const tl_obj *mesh)
{
    tl_check_report *out = ck->out;
    for (int32_t i = 0; i < mesh->node_count; i++)
        if (!tl_finite3(mesh->pos[i]))
            note(ck, &out->not_finite, "%.400s: node %d is not finite", path, i);
    for (int32_t i = 0; i < mesh->vert_count; i++)
        if (!isfinite(mesh->uv[i].x) || !isfinite(mesh->uv[i].y))
            note(ck, &out->not_finite, "%.400s: material vertex %d is not finite", path, i);
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const int32_t *v = mesh->face[f];
        double low, high, ratio;
        out->faces++;
        const tl_vec2 a = tl_sub2(mesh->uv[v[1]], mesh->uv[v[0]]), b = tl_sub2(mesh->uv[v[2]], mesh->uv[v[0]]);
        if (tl_cross2(a, b) < 0)
            note(ck, &out->inverted, "%.400s: face %d is turned over in material space", path, f);
        if (!face_strain(mesh, v, &low, &high, &ratio) || ratio < DEGENERATE_AREA) {
            note(ck, &out->degenerate, "%.400s: face %d has no area", path, f);
            continue;
        }
        if (!isfinite(low) || !isfinite(high)) continue;  // counted above
        if (low < out->strain_min) out->strain_min = low;
        if (high > out->strain_max) out->strain_max = high;
        if (ck->strain_limit > 0 && (high > ck->strain_limit || low < -ck->strain_limit))
            note(ck, &out->over_strain, "%.400s: face %d has strain %.3g to %.3g, limit %.3g", path, f, low, high,
                 ck->strain_limit);
    }
}

static tl_status check_file(checker *ck, const tl_allocator *alloc, int64_t frame, const char *cloth, tl_error *err)
{
    char path[TL_PATH_MAX];
    tl_error why;
    TL_TRY(tl_frame_path(ck->dir, frame, cloth, path, err));
    if (tl_path_look(path) == TL_PATH_NONE) {
        note(ck, &ck->out->missing_frames, "%.400s: missing", path);
        return TL_OK;
    }
    tl_text text;
    tl_status status = tl_file_read(alloc, path, TL_OBJ_MAX_BYTES, &text, &why);
    tl_obj mesh;
    if (status == TL_OK) {
        status = tl_obj_parse(alloc, path, text.data, text.size, TL_OBJ_LENIENT, &mesh, &why);
        tl_text_free(alloc, &text);
    }
    if (status == TL_NO_MEMORY) return tl_fail_memory(err, path);
    if (status != TL_OK) {
        note(ck, &ck->out->unreadable, "%.500s", why.message);
        return TL_OK;
    }
    check_mesh(ck, path, &mesh);
    tl_obj_free(&mesh);
    return TL_OK;
}

// The statistics say how far the run came; frames up to there must exist.
static tl_status frames_by_stats(checker *ck, const tl_allocator *alloc, int64_t *last, tl_error *err)
{
    char path[TL_PATH_MAX];
    int64_t damaged = 0;
    TL_TRY(tl_path_join(ck->dir, "stats.jsonl", path, err));
    *last = -1;
    if (tl_path_look(path) != TL_PATH_FILE) return TL_OK;
    tl_text text;
    TL_TRY(tl_file_read(alloc, path, (size_t)4 << 30, &text, err));
    *last = tl_stats_last_frame(text.data, text.size, &damaged);
    tl_text_free(alloc, &text);
    if (damaged > 0) note(ck, &ck->out->unreadable, "%.400s: %lld damaged lines", path, (long long)damaged);
    return TL_OK;
}

tl_status tl_check_dir(const char *dir, double strain_limit, tl_check_report *out, tl_error *err)
{
    if (!dir || !out) return tl_fail(err, TL_BAD_ARG, "check_dir: dir or out is NULL");
    *out = (tl_check_report){.strain_min = (double)INFINITY, .strain_max = -(double)INFINITY};
    if (tl_path_look(dir) != TL_PATH_DIR) return tl_fail(err, TL_IO, "%s: is not a folder", dir);
    const tl_allocator alloc = tl_allocator_default();
    checker ck = {dir, strain_limit, out};
    frame_set set = {.alloc = alloc, .last = -1};
    int64_t by_stats = -1;
    tl_status status = tl_frames_visit(dir, collect, &set, err);
    if (status == TL_OK && set.failed) status = tl_fail_memory(err, "names of cloths");
    if (status == TL_OK && set.name_count == 0)
        status = tl_fail(err, TL_BAD_INPUT, "%s: holds no frames (frames/NNNNNN_CLOTH.obj)", dir);
    if (status == TL_OK) status = frames_by_stats(&ck, &alloc, &by_stats, err);
    if (by_stats > set.last) set.last = by_stats;
    out->cloths = set.name_count;
    out->frames = (int32_t)(set.last + 1);
    for (int64_t frame = 0; status == TL_OK && frame <= set.last; frame++)
        for (int32_t i = 0; status == TL_OK && i < set.name_count; i++)
            status = check_file(&ck, &alloc, frame, set.names[i], err);
    if (!(out->strain_min <= out->strain_max)) out->strain_min = out->strain_max = 0;
    TL_FREE(&alloc, set.names, set.name_cap);
    return status;
}
