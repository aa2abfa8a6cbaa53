// collide/clearance.c: pairs within reach from trees, their distances, and the least of them per feature and per face.
//
// Distances are computed in batches by all threads and entered one by one: a node, edge or face keeps the least it has seen.
// A face then takes the least of its own, its nodes' and its edges'. A minimum does not depend on any order.
//
// Two edges count only where their nearest points lie inside both. Else one of these is an end, and the pair of that node with a face
// beside the other edge, which is no further away and concerns the same faces, is on the list of nodes and faces. That leaves few.

#include "collide/clearance.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "collide/distance.h"
#include "math/vec3.h"

enum { BATCH = 1 << 14, PAIRS_PER_CHUNK = 1024, FACES_PER_CHUNK = 4096 };

/// A surface where its nodes are, and the least distance per feature; NULL: nobody asks.
typedef struct side {
    const tl_surface *s;
    const tl_vec3 *x;
    double *node, *edge, *face;
} side;

typedef struct clearance {
    const tl_clearance_def *def;
    tl_arena *scratch;
    tl_workers *workers;
    side cloth;
    int32_t (*face_edge)[3];  // -1: not among the edges of the surface
    int32_t *node_first, *node_face;  // faces around nodes
    int32_t (*edge_face)[2];  // faces beside edges, -1: none
    double *distance;         // of a batch
    tl_pairs found;
} clearance;

// --- a list of pairs ---

// Do the nearest points of the lines through two edges lie inside both? r = b0 - a0 + t e2 - s e1 is least where s det = c d - b e
// and t det = b d - a e. Edges parallel to within rounding may be taken for the one or the other: along them the distance hardly changes.
static bool cross_inside(tl_vec3 a0, tl_vec3 a1, tl_vec3 b0, tl_vec3 b1)
{
    const tl_vec3 r = tl_sub3(b0, a0), e1 = tl_sub3(a1, a0), e2 = tl_sub3(b1, b0);
    const double a = tl_dot3(e1, e1), b = tl_dot3(e1, e2), c = tl_dot3(e2, e2), d = tl_dot3(e1, r), e = tl_dot3(e2, r);
    const double det = a * c - b * b, s = c * d - b * e, t = b * d - a * e;
    return (s > 0) & (s < det) & (t > 0) & (t < det);
}

typedef struct batch {
    const side *a, *b;
    const tl_pair *pair;
    double *distance;
    const tl_clearance_def *def;  // within the cloth: what is to be kept
    bool vf;
} batch;

static void measure_vf(void *arg, int32_t begin, int32_t end)
{
    const batch *job = arg;
    for (int32_t i = begin; i < end; i++) {
        const int32_t *f = job->b->s->face[job->pair[i].b];
        const tl_vec3 *x = job->b->x;
        job->distance[i] = tl_nearest_vf(job->a->x[job->pair[i].a], x[f[0]], x[f[1]], x[f[2]]).distance;
    }
}

static void measure_ee(void *arg, int32_t begin, int32_t end)
{
    const batch *job = arg;
    const tl_vec3 *x = job->a->x, *y = job->b->x;
    for (int32_t i = begin; i < end; i++) {
        const int32_t *e = job->a->s->edge[job->pair[i].a], *g = job->b->s->edge[job->pair[i].b];
        const bool inside = cross_inside(x[e[0]], x[e[1]], y[g[0]], y[g[1]]);
        job->distance[i] = inside ? tl_nearest_ee(x[e[0]], x[e[1]], y[g[0]], y[g[1]]).distance : INFINITY;
    }
}

static void lower(double *least, int32_t i, double d)
{
    if (least && d < least[i]) least[i] = d;
}

static void measure_list(clearance *c, tl_range_fn measure, const side *a, const side *b, double *least_a, double *least_b,
                         const tl_pair *pair, int32_t count)
{
    for (int32_t begin = 0; begin < count; begin += BATCH) {
        const int32_t n = count - begin < BATCH ? count - begin : BATCH;
        batch job = {a, b, pair + begin, c->distance, NULL, false};
        tl_parallel_for(c->workers, n, PAIRS_PER_CHUNK, measure, &job);
        for (int32_t i = 0; i < n; i++) lower(least_a, job.pair[i].a, job.distance[i]), lower(least_b, job.pair[i].b, job.distance[i]);
    }
}

// --- a face and its features ---

// Finds the edges of every face: those that start at the lower end of its sides.
static tl_status find_face_edges(clearance *c, tl_error *err)
{
    const tl_surface *s = c->cloth.s;
    c->face_edge = tl_arena_bytes(c->scratch, (size_t)s->face_count, sizeof *c->face_edge);
    const tl_arena_mark mark = tl_arena_save(c->scratch);
    int32_t *first = TL_SCRATCH(c->scratch, int32_t, (int64_t)s->node_count + 2), *edges = TL_SCRATCH(c->scratch, int32_t, s->edge_count);
    if (!c->face_edge || !first || !edges) return tl_fail_memory(err, "clearance");
    for (int32_t v = 0; v < s->node_count + 2; v++) first[v] = 0;
#define LOW(e) (s->edge[e][0] < s->edge[e][1] ? s->edge[e][0] : s->edge[e][1])
    for (int32_t e = 0; e < s->edge_count; e++) first[LOW(e) + 2]++;
    for (int32_t v = 0; v < s->node_count; v++) first[v + 2] += first[v + 1];
    for (int32_t e = 0; e < s->edge_count; e++) edges[first[LOW(e) + 1]++] = e;
#undef LOW
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = s->face[f][k], b = s->face[f][(k + 1) % 3], low = a < b ? a : b, high = a < b ? b : a;
            c->face_edge[f][k] = -1;
            for (int32_t i = first[low]; i < first[low + 1]; i++)
                if (s->edge[edges[i]][0] == high || s->edge[edges[i]][1] == high) c->face_edge[f][k] = edges[i];
        }
    tl_arena_release(c->scratch, mark);
    return TL_OK;
}

static void gather_faces(void *arg, int32_t begin, int32_t end)
{
    const clearance *c = arg;
    for (int32_t f = begin; f < end; f++)
        for (int k = 0; k < 3; k++) {
            lower(c->cloth.face, f, c->cloth.node[c->cloth.s->face[f][k]]);
            if (c->face_edge[f][k] >= 0) lower(c->cloth.face, f, c->cloth.edge[c->face_edge[f][k]]);
        }
}

static void begin_faces(clearance *c, double *face)
{
    const tl_surface *s = c->cloth.s;
    c->cloth.face = face;
    for (int32_t v = 0; v < s->node_count; v++) c->cloth.node[v] = c->def->reach;
    for (int32_t e = 0; e < s->edge_count; e++) c->cloth.edge[e] = c->def->reach;
    for (int32_t f = 0; f < s->face_count; f++) face[f] = c->def->reach;
}

// Faces around nodes and beside edges.
static tl_status find_neighbours(clearance *c, tl_error *err)
{
    const tl_surface *s = c->cloth.s;
    c->node_first = TL_SCRATCH(c->scratch, int32_t, (int64_t)s->node_count + 2);
    c->node_face = TL_SCRATCH(c->scratch, int32_t, 3 * (int64_t)s->face_count);
    c->edge_face = tl_arena_bytes(c->scratch, (size_t)s->edge_count, sizeof *c->edge_face);
    if (!c->node_first || !c->node_face || !c->edge_face) return tl_fail_memory(err, "clearance");
    for (int32_t v = 0; v < s->node_count + 2; v++) c->node_first[v] = 0;
    for (int32_t e = 0; e < s->edge_count; e++) c->edge_face[e][0] = c->edge_face[e][1] = -1;
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++) {
            c->node_first[s->face[f][k] + 2]++;
            const int32_t e = c->face_edge[f][k];
            if (e >= 0) c->edge_face[e][c->edge_face[e][0] >= 0] = f;
        }
    for (int32_t v = 0; v < s->node_count; v++) c->node_first[v + 2] += c->node_first[v + 1];
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++) c->node_face[c->node_first[s->face[f][k] + 1]++] = f;
    return TL_OK;
}

// --- within the cloth ---

static void enter(clearance *c, int32_t f, int32_t g, double d)
{
    if (f < 0 || g < 0 || (d >= c->cloth.face[f] && d >= c->cloth.face[g])) return;
    const int32_t *a = c->cloth.s->face[f], *b = c->cloth.s->face[g];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a[i] == b[j]) return;
    lower(c->cloth.face, f, d), lower(c->cloth.face, g, d);
}

// What is left of a distance between two features of four nodes in all.
static double less_kept(const tl_clearance_def *def, const int32_t n[4], bool vf, double d)
{
    double keep = def->keep;
    bool flat = def->uv != NULL && def->keep > 0;
    for (int k = 0; k < 4 && flat; k++) flat = def->chart[n[k]] >= 0 && def->chart[n[k]] == def->chart[n[0]];
    if (flat) {
        tl_vec3 u[4];
        for (int k = 0; k < 4; k++) u[k] = (tl_vec3){def->uv[n[k]].x, def->uv[n[k]].y, 0};
        const double rest = vf ? tl_nearest_vf(u[0], u[1], u[2], u[3]).distance : tl_nearest_ee(u[0], u[1], u[2], u[3]).distance;
        keep = fmin(keep, def->keep_flat * rest);
    }
    return fmax(0, d - keep);
}

static void measure_own(void *arg, int32_t begin, int32_t end)
{
    const batch *job = arg;
    const tl_surface *s = job->a->s;
    const tl_vec3 *x = job->a->x;
    for (int32_t i = begin; i < end; i++) {
        const tl_pair p = job->pair[i];
        const int32_t *f = s->face[job->vf ? p.b : 0], *e = s->edge[job->vf ? 0 : p.a], *g = s->edge[job->vf ? 0 : p.b];
        const int32_t n[4] = {job->vf ? p.a : e[0], job->vf ? f[0] : e[1], job->vf ? f[1] : g[0], job->vf ? f[2] : g[1]};
        job->distance[i] = INFINITY;
        if (!job->vf && !cross_inside(x[n[0]], x[n[1]], x[n[2]], x[n[3]])) continue;
        const double d = job->vf ? tl_nearest_vf(x[n[0]], x[n[1]], x[n[2]], x[n[3]]).distance
                                 : tl_nearest_ee(x[n[0]], x[n[1]], x[n[2]], x[n[3]]).distance;
        if (d - job->def->keep < job->def->reach) job->distance[i] = less_kept(job->def, n, job->vf, d);
    }
}

static void measure_self(clearance *c, bool vf, const tl_pair *pair, int32_t count)
{
    for (int32_t begin = 0; begin < count; begin += BATCH) {
        const int32_t n = count - begin < BATCH ? count - begin : BATCH;
        batch job = {&c->cloth, &c->cloth, pair + begin, c->distance, c->def, vf};
        tl_parallel_for(c->workers, n, PAIRS_PER_CHUNK, measure_own, &job);
        for (int32_t i = 0; i < n; i++) {
            const tl_pair p = job.pair[i];
            const double d = job.distance[i];
            if (!(d < c->def->reach)) continue;
            if (vf)
                for (int32_t k = c->node_first[p.a]; k < c->node_first[p.a + 1]; k++) enter(c, c->node_face[k], p.b, d);
            for (int k = 0; k < 4 && !vf; k++) enter(c, c->edge_face[p.a][k / 2], c->edge_face[p.b][k % 2], d);
        }
    }
}

// --- the two questions ---

static tl_status clear_of_itself(clearance *c, double *face, tl_error *err)
{
    begin_faces(c, face);
    TL_TRY(find_neighbours(c, err));
    const tl_near near = {0, c->def->reach + c->def->keep};
    TL_TRY(tl_bvh_self_near(c->def->tree, TL_PAIR_VF | TL_PAIR_EE, near, c->scratch, c->workers, &c->found, err));
    measure_self(c, true, c->found.vf, c->found.vf_count);
    measure_self(c, false, c->found.ee, c->found.ee_count);
    return TL_OK;
}

static void clear_of_plane(clearance *c, const tl_clearance_body *plane)
{
    for (int32_t v = 0; v < c->cloth.s->node_count; v++) {
        const double d = tl_dot3(plane->normal, tl_sub3(c->cloth.x[v], plane->point));
        lower(c->cloth.node, v, d > 0 ? d : 0);
    }
}

static tl_status clear_of_surface(clearance *c, const tl_clearance_body *body, tl_error *err)
{
    if (body->x) tl_bvh_refit(body->tree, body->x, NULL, 0, 0, c->workers);
    const side *s = &c->cloth, other = {.s = tl_bvh_surface(body->tree), .x = tl_bvh_positions(body->tree)};
    TL_TRY(tl_bvh_between_near(c->def->tree, body->tree, TL_PAIR_VF | TL_PAIR_EE, (tl_near){0, c->def->reach}, c->scratch, c->workers,
                               &c->found, err));
    measure_list(c, measure_vf, s, &other, s->node, NULL, c->found.vf, c->found.vf_count);
    measure_list(c, measure_vf, &other, s, NULL, s->face, c->found.fv, c->found.fv_count);
    measure_list(c, measure_ee, s, &other, s->edge, NULL, c->found.ee, c->found.ee_count);
    return TL_OK;
}

static tl_status clear_of_bodies(clearance *c, double *face, tl_error *err)
{
    begin_faces(c, face);
    for (int32_t b = 0; b < c->def->body_count; b++) {
        const tl_clearance_body *body = &c->def->bodies[b];
        if (body->tree) TL_TRY(clear_of_surface(c, body, err));
        else clear_of_plane(c, body);
    }
    tl_parallel_for(c->workers, c->cloth.s->face_count, FACES_PER_CHUNK, gather_faces, c);
    return TL_OK;
}

tl_status tl_clearance(const tl_clearance_def *def, tl_arena *scratch, tl_workers *workers, double *face_self, double *face_body,
                       tl_error *err)
{
    if (!(def->reach > 0)) return tl_fail(err, TL_BAD_ARG, "clearance: reach %g, must be > 0", def->reach);
    if (def->x) tl_bvh_refit(def->tree, def->x, NULL, 0, 0, workers);
    clearance c = {.def = def, .scratch = scratch, .workers = workers};
    c.cloth = (side){.s = tl_bvh_surface(def->tree), .x = tl_bvh_positions(def->tree)};
    const tl_arena_mark mark = tl_arena_save(scratch);
    c.cloth.node = TL_SCRATCH(scratch, double, c.cloth.s->node_count);
    c.cloth.edge = TL_SCRATCH(scratch, double, c.cloth.s->edge_count);
    c.distance = TL_SCRATCH(scratch, double, BATCH);
    tl_pairs_init(&c.found, scratch->alloc);
    tl_status status = c.cloth.node && c.cloth.edge && c.distance ? TL_OK : tl_fail_memory(err, "clearance");
    if (status == TL_OK) status = find_face_edges(&c, err);
    if (status == TL_OK && face_self) status = clear_of_itself(&c, face_self, err);
    if (status == TL_OK && face_body) status = clear_of_bodies(&c, face_body, err);
    tl_pairs_free(&c.found);
    tl_arena_release(scratch, mark);
    return status;
}
