// post/clear.c: search, shorten, search again.
//
// Kimmerle takes a share of the way off as a margin, which is nothing where the way runs along the surface. Here the
// margin is a distance: a pair is met when it comes within the gap, or within half of the distance that it has at the
// start, if that is less.

#include "post/clear.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"
#include "math/vec3.h"
#include "mesh/edges.h"
#include "toile/collide.h"

#define BACK_OFF 0.9       // of the way to where two features meet: the next search should find them clear
#define KEEP_DISTANCE 0.5  // of the distance at the start, where that is below the gap
enum {
    PAIRS_PER_CHUNK = 256,
    PATIENT_SEARCHES = 6,  // after these, what is still in the way stays where it started
};

typedef struct clear {
    const tl_clear_def *def;
    tl_arena *arena;
    tl_workers *workers;
    int32_t (*edge)[2];
    int32_t edge_count;
    tl_bvh *tree;
    tl_vec3 *now;  ///< where nodes get with their parts of the way
    double *part;  ///< of its way that each node goes
    double *left;  ///< of its part, by the present search
    tl_pairs pairs;
    tl_clear_report report;
} clear;

// ---- one list of pairs ----------------------------------------------------------------------------------------

/// Pairs of one kind between the surface and itself or a body.
typedef struct batch {
    const clear *c;
    const tl_pair *pair;
    int32_t count;
    const tl_surface *other;  ///< NULL: the surface itself
    const tl_vec3 *other_pos;
    enum { NODE_FACE, FACE_NODE, EDGE_EDGE } kind;  ///< FACE_NODE: node of the body, face of the cloth
    float *time;                                    ///< [count] part of the way at which they meet, 2: never
} batch;

// The four nodes of a pair; those of a body are -1 and stand still.
static void nodes_of(const batch *b, tl_pair p, int32_t node[4], tl_vec3 still[4])
{
    const tl_clear_def *def = b->c->def;
    const bool self = !b->other;
    const int32_t *face = NULL, *edge = NULL;
    bool second_is_body = !self;
    if (b->kind == NODE_FACE) {
        face = self ? def->face[p.b] : b->other->face[p.b];
        node[0] = p.a;
    } else if (b->kind == FACE_NODE) {
        face = def->face[p.b];
        node[0] = -1, still[0] = b->other_pos[p.a];
        second_is_body = false;
    } else {
        const int32_t *first = b->c->edge[p.a];
        edge = self ? b->c->edge[p.b] : b->other->edge[p.b];
        node[0] = first[0], node[1] = first[1];
    }
    const int at = edge ? 2 : 1, count = edge ? 2 : 3;
    for (int k = 0; k < count; k++) {
        const int32_t n = edge ? edge[k] : face[k];
        node[at + k] = second_is_body ? -1 : n;
        if (second_is_body) still[at + k] = b->other_pos[n];
    }
}

static void batch_chunk(void *arg, int32_t begin, int32_t end)
{
    const batch *b = arg;
    const clear *c = b->c;
    for (int32_t i = begin; i < end; i++) {
        int32_t node[4];
        tl_vec3 still[4], x0[4], x1[4];
        nodes_of(b, b->pair[i], node, still);
        bool moves = false;
        for (int k = 0; k < 4; k++) {
            x0[k] = node[k] < 0 ? still[k] : c->def->start[node[k]];
            x1[k] = node[k] < 0 ? still[k] : c->now[node[k]];
            moves = moves || (node[k] >= 0 && c->part[node[k]] > 0);
        }
        b->time[i] = 2;
        if (!moves) continue;
        const bool edges = b->kind == EDGE_EDGE;
        const double distance = edges ? tl_nearest_edge_edge(x0).distance : tl_nearest_vertex_face(x0).distance;
        const double keep = fmin(c->def->gap, KEEP_DISTANCE * distance);
        double time;
        const uint32_t met = edges ? tl_ccd_edge_edge(x0, x1, keep, &time) : tl_ccd_vertex_face(x0, x1, keep, &time);
        if (met) b->time[i] = (float)time;
    }
}

// Shortens the ways of the nodes of pairs that meet; true: there was one.
static tl_status run_batch(clear *c, batch *b, bool stop, bool *met, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(c->arena);
    c->report.pairs += b->count;
    b->time = TL_SCRATCH(c->arena, float, b->count);
    if (b->count > 0 && !b->time) return tl_fail_memory(err, "pairs of a finer surface");
    tl_parallel_for(c->workers, b->count, PAIRS_PER_CHUNK, batch_chunk, b);
    for (int32_t i = 0; i < b->count; i++) {
        if (b->time[i] > 1) continue;
        int32_t node[4];
        tl_vec3 still[4];
        nodes_of(b, b->pair[i], node, still);
        *met = true;
        // Parts are of the way that was tested; a node in several pairs takes the least of them.
        for (int k = 0; k < 4; k++)
            if (node[k] >= 0) c->left[node[k]] = fmin(c->left[node[k]], stop ? 0 : BACK_OFF * (double)b->time[i]);
    }
    tl_arena_release(c->arena, mark);
    return TL_OK;
}

static tl_status run_pairs(clear *c, const tl_bvh *body, bool stop, bool *met, tl_error *err)
{
    const tl_surface *other = body ? tl_bvh_surface(body) : NULL;
    const tl_vec3 *other_pos = body ? tl_bvh_positions(body) : NULL;
    batch vf = {c, c->pairs.vf, c->pairs.vf_count, other, other_pos, NODE_FACE, NULL};
    batch ee = {c, c->pairs.ee, c->pairs.ee_count, other, other_pos, EDGE_EDGE, NULL};
    TL_TRY(run_batch(c, &vf, stop, met, err));
    TL_TRY(run_batch(c, &ee, stop, met, err));
    if (!body) return TL_OK;
    batch fv = {c, c->pairs.fv, c->pairs.fv_count, other, other_pos, FACE_NODE, NULL};
    return run_batch(c, &fv, stop, met, err);
}

// ---- searches -------------------------------------------------------------------------------------------------

static void place(clear *c, const tl_vec3 *end)
{
    for (int32_t i = 0; i < c->def->node_count; i++) {
        const tl_vec3 a = c->def->start[i];
        c->now[i] = c->part[i] == 1 ? end[i] : tl_add3(a, tl_mul3(c->part[i], tl_sub3(end[i], a)));
        c->left[i] = 1;  // what this search leaves of the part
    }
}

// Pairs within the surface, or with a body; notes what the hierarchy had to do.
static tl_status find_pairs(clear *c, const tl_bvh *body, tl_error *err)
{
    const int what = TL_PAIR_VF | TL_PAIR_EE;
    const double begin = tl_now();
    // Bodies have no margin of their own: the surface carries all of the gap.
    if (!body || body == c->def->body[0])
        tl_bvh_refit(c->tree, c->def->start, c->now, body ? c->def->gap : 0.5 * c->def->gap, 0, c->workers);
    if (body)
        TL_TRY(tl_bvh_between(c->tree, body, what, c->arena, c->workers, &c->pairs, err));
    else
        TL_TRY(tl_bvh_self(c->tree, what, c->arena, c->workers, &c->pairs, err));
    if (c->report.iterations == 1)
        c->report.close_pairs += (int64_t)c->pairs.vf_count + c->pairs.ee_count + (body ? c->pairs.fv_count : 0);
    c->report.tree_seconds += tl_now() - begin;
    return TL_OK;
}

static tl_status search(clear *c, bool stop, bool *met, tl_error *err)
{
    *met = false;
    c->report.iterations++;
    for (int32_t i = -1; i < c->def->body_count; i++) {
        const tl_bvh *body = i < 0 ? NULL : c->def->body[i];
        TL_TRY(find_pairs(c, body, err));
        const double begin = tl_now();
        TL_TRY(run_pairs(c, body, stop, met, err));
        c->report.test_seconds += tl_now() - begin;
    }
    return TL_OK;
}

static tl_status move(clear *c, tl_vec3 *end, tl_error *err)
{
    for (int32_t i = 0; i < c->def->node_count; i++) {
        c->part[i] = 1;
        c->report.longest = fmax(c->report.longest, tl_norm3(tl_sub3(end[i], c->def->start[i])));
    }
    for (bool met = true; met;) {
        place(c, end);
        TL_TRY(search(c, c->report.iterations >= PATIENT_SEARCHES, &met, err));
        for (int32_t i = 0; i < c->def->node_count; i++) c->part[i] *= c->left[i];
    }
    for (int32_t i = 0; i < c->def->node_count; i++) {
        c->report.corrected += c->part[i] < 1;
        c->report.stopped += c->part[i] == 0;
        end[i] = c->now[i];
    }
    return TL_OK;
}

static tl_status move_in_memory(clear *c, const tl_allocator *alloc, tl_vec3 *end, tl_error *err)
{
    const int32_t n = c->def->node_count;
    TL_TRY(tl_unique_edges(alloc, c->def->face, c->def->face_count, &c->edge, &c->edge_count, NULL, err));
    c->left = TL_SCRATCH(c->arena, double, n);
    c->now = TL_SCRATCH(c->arena, tl_vec3, n);
    c->part = TL_SCRATCH(c->arena, double, n);
    if (n > 0 && (!c->left || !c->now || !c->part)) return tl_fail_memory(err, "ways of a finer surface");
    const tl_surface surface = {n, c->def->face_count, c->edge_count, c->def->face, (const int32_t(*)[2])c->edge};
    tl_bvh_def def = tl_bvh_def_default();
    const double begin = tl_now();
    TL_TRY(tl_bvh_create(alloc, &def, &surface, c->def->start, &c->tree, err));
    c->report.tree_seconds += tl_now() - begin;
    return move(c, end, err);
}

tl_status tl_clear_move(const tl_clear_def *def, const tl_allocator *alloc, tl_arena *arena, tl_workers *workers,
                        tl_vec3 *end, tl_clear_report *report, tl_error *err)
{
    if (!(def->gap > 0)) return tl_fail(err, TL_BAD_ARG, "clear: gap %g m, must be > 0", def->gap);
    if (report) *report = (tl_clear_report){0};
    if (def->face_count == 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(arena);
    clear c = {.def = def, .arena = arena, .workers = workers};
    tl_pairs_init(&c.pairs, *alloc);
    const tl_status status = move_in_memory(&c, alloc, end, err);
    tl_pairs_free(&c.pairs);
    tl_bvh_destroy(c.tree);
    if (c.edge) tl_free_bytes(alloc, c.edge, (size_t)c.edge_count, sizeof *c.edge);
    tl_arena_release(arena, mark);
    if (report) *report = c.report;
    return status;
}
