// detect/bvh/bvh_cull.c: smooth parts of a surface that cannot come near themselves.
//
// Volino and Magnenat-Thalmann 1994 (Kimmerle 2005, sec. 2.2.1.4): a region whose normals all have a positive product
// with some direction d, and whose contour seen along d does not cross itself, does not intersect itself. What queries
// need is more: no two primitives of the region that share no node come within r of each other while nodes move from x0
// to x1. What we test, for the faces R of a subtree and R+, R with all faces that share a node with it:
//
//   1. no node of R lies on a border: every side at it has a face on the other side, oriented alike;
//   2. d . n_f h_f > r' = r + 2 delta for every face f of R+, n_f its unit normal and h_f its least altitude, at x0;
//   3. the border of R+ is one loop, and its projection along d is a simple polygon, at x0;
//   delta: half the diagonal of the box of the displacements x1 - x0 of the nodes of R.
//
// Proof. Project along d. By 2 every face of R+ keeps its orientation, and its least altitude there, 2 A'/|e'| >= 2 A
// n.d/|e|, is greater than r'. For any point the number of faces of R+ over it is the winding number of the border of
// R+ (each face's is the winding number of its outline, and inner sides cancel); by 3 that is 0 or 1: faces do not
// overlap in projection. Let v be a node of R. Its faces, all in R+ by construction, close up around it by 1, so they
// cover a neighbourhood of v, and the nearest point of their outline is at least the least altitude away: the disc of
// radius r' about v meets faces, edges and nodes of v's star only. So a node and a face of R, or a node and an edge,
// that do not share a node are further than r' apart in projection. Two edges, or an edge and a face, that share no
// node do not cross in projection (faces on either side would overlap), so their distance is taken on at a node of one
// of them: further than r' again. Distance in space is no less. Points of R move by weighted means of displacements of
// nodes, which all lie within delta of the centre of their box: distances shrink by no more than 2 delta, so they stay
// above r.                                                     QED
//
// Nothing is asked of the topology of R, nor of what lies outside R+: only pairs within R are dropped. With x1 = x0 and
// r = 0 this is the theorem cited, with the contour taken one ring of faces further out. Rounding: 2 and 3 are asked
// with an allowance of some 2^-40 of the greatest coordinate, far more than their products of three differences can
// err.

#include "detect/bvh/bvh_cull.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"

enum { MOST_FACES = 8192, MOST_LOOP = 1024, FACES_PER_CHUNK = 2048, NODES_PER_CHUNK = 4 };

// --- once per layout: borders and rings ---

typedef struct topology {
    tl_bvh *bvh;
    int32_t *first, *around;  // faces around each node, all in leaf order
    int32_t (*twin)[3];       // the face across side k (from corner k to k + 1), or -1
    uint8_t *border;          // per node
    int32_t *face_mark, *node_mark, *next;
    int32_t *faces;  // of R, then of the ring
    int32_t face_count, list_count;
} topology;

static int32_t corner_of(const topology *t, int32_t f, int k) { return t->bvh->corner[k % 3][f]; }

static void find_twins(topology *t)
{
    const int32_t n = t->bvh->count[PRIM_FACE];
    for (int32_t f = 0; f < n; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = corner_of(t, f, k), b = corner_of(t, f, k + 1);
            int32_t with = 0, against = 0, other = -1;
            for (int32_t i = t->first[a]; i < t->first[a + 1]; i++)
                for (int j = 0; j < 3; j++) {
                    const int32_t g = t->around[i], p = corner_of(t, g, j), q = corner_of(t, g, j + 1);
                    with += p == a && q == b;
                    if (p == b && q == a) against++, other = g;
                }
            t->twin[f][k] = with == 1 && against == 1 && a != b ? other : -1;
            if (t->twin[f][k] < 0) t->border[a] = t->border[b] = 1;
        }
}

// The faces of a subtree; false when they are too many.
static bool gather_faces(topology *t, int32_t node)
{
    const int32_t arity = t->bvh->def.arity;
    for (int c = 0; c < arity; c++) {
        const int32_t child = t->bvh->child[node * arity + c];
        if (child == NO_CHILD) continue;
        if (child >= 0) {
            if (!gather_faces(t, child)) return false;
            continue;
        }
        const int32_t begin = t->bvh->leaf[~child].first[PRIM_FACE], end = t->bvh->leaf[~child + 1].first[PRIM_FACE];
        if (t->face_count + end - begin > MOST_FACES) return false;
        for (int32_t f = begin; f < end; f++) t->faces[t->face_count++] = f;
    }
    return true;
}

// Ring and loop of the subtree at `node` into the list; false: no memory. Without a loop the subtree is never culled.
static bool note_subtree(topology *t, int32_t node)
{
    tl_bvh *bvh = t->bvh;
    tl_cull *out = &bvh->cull[node];
    *out = (tl_cull){t->list_count, 0, 0};
    t->face_count = 0;
    if (!gather_faces(t, node)) return true;
    const int32_t own = t->face_count;
    for (int32_t i = 0; i < own; i++) t->face_mark[t->faces[i]] = node;
    for (int32_t i = 0; i < own; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t v = corner_of(t, t->faces[i], k);
            if (t->border[v]) return true;
            if (t->node_mark[v] == node) continue;
            t->node_mark[v] = node;
            for (int32_t j = t->first[v]; j < t->first[v + 1]; j++)
                if (t->face_mark[t->around[j]] != node)
                    t->face_mark[t->around[j]] = node, t->faces[t->face_count++] = t->around[j];
        }
    const int32_t ring = t->face_count - own;
    // Sides of the ring with nothing of R+ across. Faces of R have all their neighbours.
    int32_t sides = 0, start = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = own; i < t->face_count; i++)
            for (int k = 0; k < 3; k++) {
                const int32_t f = t->faces[i], twin = t->twin[f][k], a = corner_of(t, f, k);
                if (twin >= 0 && t->face_mark[twin] == node) continue;
                if (pass == 0) {
                    t->next[a] = -1;
                    continue;
                }
                if (t->next[a] >= 0) return true;  // the border touches itself
                t->next[a] = corner_of(t, f, k + 1), start = a, sides++;
            }
    if (sides < 3 || sides > MOST_LOOP) return true;
    if (!TL_GROW(&bvh->alloc, bvh->cull_list, bvh->cull_list_cap, (int64_t)t->list_count + sides + ring)) return false;
    int32_t n = 0;
    for (int32_t v = start; n < sides; v = t->next[v]) {
        bvh->cull_list[t->list_count + n++] = v;
        if (t->next[v] == start) break;
    }
    if (n < sides) return true;  // more than one loop
    memcpy(bvh->cull_list + t->list_count + n, t->faces + own, (size_t)ring * sizeof *t->faces);
    out->loop = n, out->ring = ring;
    t->list_count += n + ring;
    return true;
}

tl_status tl_bvh_cull_layout(tl_bvh *bvh, tl_error *err)
{
    const tl_allocator *alloc = &bvh->alloc;
    const int32_t faces = bvh->count[PRIM_FACE], nodes = bvh->count[PRIM_NODE];
    topology t = {.bvh = bvh};
    t.first = TL_CALLOC(alloc, int32_t, nodes + 2), t.around = TL_ALLOC(alloc, int32_t, 3 * (int64_t)faces);
    t.twin = tl_alloc_bytes(alloc, (size_t)faces, sizeof *t.twin), t.border = TL_CALLOC(alloc, uint8_t, nodes);
    t.face_mark = TL_ALLOC(alloc, int32_t, faces), t.node_mark = TL_ALLOC(alloc, int32_t, nodes);
    t.next = TL_ALLOC(alloc, int32_t, nodes), t.faces = TL_ALLOC(alloc, int32_t, faces);
    bool good = t.first && t.around && t.twin && t.border && t.face_mark && t.node_mark && t.next && t.faces &&
                TL_GROW(alloc, bvh->cull, bvh->cull_cap, bvh->inner_count);
    if (good) {
        for (int32_t f = 0; f < faces; f++)
            for (int k = 0; k < 3; k++) t.first[bvh->corner[k][f] + 2]++;
        for (int32_t v = 0; v < nodes; v++) t.first[v + 2] += t.first[v + 1];
        for (int32_t f = 0; f < faces; f++)
            for (int k = 0; k < 3; k++) t.around[t.first[bvh->corner[k][f] + 1]++] = f;
        for (int32_t f = 0; f < faces; f++) t.face_mark[f] = -1;
        for (int32_t v = 0; v < nodes; v++) t.node_mark[v] = -1;
        find_twins(&t);
    }
    for (int32_t n = 0; good && n < bvh->inner_count; n++) good = note_subtree(&t, n);
    TL_FREE(alloc, t.first, nodes + 2);
    TL_FREE(alloc, t.around, 3 * (int64_t)faces);
    TL_FREE(alloc, t.twin, faces);
    TL_FREE(alloc, t.border, nodes);
    TL_FREE(alloc, t.face_mark, faces);
    TL_FREE(alloc, t.node_mark, nodes);
    TL_FREE(alloc, t.next, nodes);
    TL_FREE(alloc, t.faces, faces);
    return good ? TL_OK : tl_fail_memory(err, "bvh");
}

// --- at a query ---

typedef struct region {
    tl_vec3 normal;
    tl_extent motion;
} region;

typedef struct cull_job {
    const tl_bvh *bvh;
    tl_vec3 *altitude;  // per face in leaf order: n_f h_f
    region *region;     // per inner node: sum of n_f h_f, box of displacements
    uint8_t *culled;    // per inner node
    double reach, allow;
    int32_t begin;  // of the level
} cull_job;

static tl_vec3 place(const tl_bvh *bvh, int32_t slot) { return bvh->x0[bvh->id[PRIM_NODE][slot]]; }

static void fit_altitudes(void *arg, int32_t begin, int32_t end)
{
    const cull_job *job = arg;
    for (int32_t f = begin; f < end; f++) {
        const tl_vec3 a = place(job->bvh, job->bvh->corner[0][f]), b = place(job->bvh, job->bvh->corner[1][f]);
        const tl_vec3 c = place(job->bvh, job->bvh->corner[2][f]);
        const tl_vec3 ab = tl_sub3(b, a), ac = tl_sub3(c, a), bc = tl_sub3(c, b);
        const double longest = sqrt(greater(tl_dot3(ab, ab), greater(tl_dot3(ac, ac), tl_dot3(bc, bc))));
        job->altitude[f] = longest > 0 ? tl_mul3(1 / longest, tl_cross3(ab, ac)) : (tl_vec3){0};
    }
}

static void fit_regions(void *arg, int32_t begin, int32_t end)
{
    const cull_job *job = arg;
    const tl_bvh *bvh = job->bvh;
    for (int32_t n = job->begin + begin; n < job->begin + end; n++) {
        region r = {{0}, empty_extent()};
        for (int c = 0; c < bvh->def.arity; c++) {
            const int32_t child = bvh->child[n * bvh->def.arity + c];
            if (child == NO_CHILD) continue;
            if (child >= 0) {
                r.normal = tl_add3(r.normal, job->region[child].normal);
                add_point(&r.motion, job->region[child].motion.lo), add_point(&r.motion, job->region[child].motion.hi);
                continue;
            }
            for (int32_t f = bvh->leaf[~child].first[PRIM_FACE]; f < bvh->leaf[~child + 1].first[PRIM_FACE]; f++) {
                r.normal = tl_add3(r.normal, job->altitude[f]);
                for (int k = 0; k < 3; k++) {
                    const int32_t v = bvh->id[PRIM_NODE][bvh->corner[k][f]];
                    add_point(&r.motion, bvh->x1 ? tl_sub3(bvh->x1[v], bvh->x0[v]) : (tl_vec3){0});
                }
            }
        }
        job->region[n] = r;
    }
}

static bool faces_agree(const cull_job *job, int32_t node, tl_vec3 d, double need)
{
    const tl_bvh *bvh = job->bvh;
    for (int c = 0; c < bvh->def.arity; c++) {
        const int32_t child = bvh->child[node * bvh->def.arity + c];
        if (child == NO_CHILD) continue;
        if (child >= 0) {
            if (!faces_agree(job, child, d, need)) return false;
            continue;
        }
        for (int32_t f = bvh->leaf[~child].first[PRIM_FACE]; f < bvh->leaf[~child + 1].first[PRIM_FACE]; f++)
            if (!(tl_dot3(job->altitude[f], d) > need)) return false;
    }
    return true;
}

// Seen from the mean of its corners, does the polygon go round once, always forward? Then it is simple; else unknown.
static bool is_star(const tl_vec2 *p, int32_t n, double allow)
{
    tl_vec2 c = {0, 0};
    for (int32_t i = 0; i < n; i++) c.x += p[i].x / n, c.y += p[i].y / n;
    int rounds = 0;
    for (int32_t i = 0; i < n; i++) {
        const tl_vec2 a = tl_sub2(p[i], c), b = tl_sub2(p[(i + 1) % n], c);
        if (!(tl_cross2(a, b) > allow * (tl_norm2(a) + tl_norm2(b)))) return false;
        rounds += a.y < 0 && b.y >= 0;
    }
    return rounds == 1;
}

static double side_of(tl_vec2 a, tl_vec2 b, tl_vec2 p) { return tl_cross2(tl_sub2(b, a), tl_sub2(p, a)); }

// Do a b and c d stay apart for certain: all of one on one side of the other's line, by more than the allowance?
static bool apart(tl_vec2 a, tl_vec2 b, tl_vec2 c, tl_vec2 d, double allow)
{
    const double ab = allow * tl_norm2(tl_sub2(b, a)), cd = allow * tl_norm2(tl_sub2(d, c));
    const double s = side_of(a, b, c), t = side_of(a, b, d), u = side_of(c, d, a), v = side_of(c, d, b);
    return (s > ab && t > ab) || (s < -ab && t < -ab) || (u > cd && v > cd) || (u < -cd && v < -cd) ||
           lesser(a.x, b.x) > greater(c.x, d.x) + allow || lesser(c.x, d.x) > greater(a.x, b.x) + allow ||
           lesser(a.y, b.y) > greater(c.y, d.y) + allow || lesser(c.y, d.y) > greater(a.y, b.y) + allow;
}

static bool is_simple(const tl_vec2 *p, int32_t n, double allow)
{
    for (int32_t i = 0; i < n; i++) {
        const tl_vec2 a = p[i], b = p[(i + 1) % n], c = p[(i + 2) % n];
        // Neighbours meet in b alone unless c lies back on the line of a b.
        const double turn = side_of(a, b, c), tiny = allow * (tl_norm2(tl_sub2(b, a)) + tl_norm2(tl_sub2(c, b)));
        if (!(fabs(turn) > tiny || tl_dot2(tl_sub2(b, a), tl_sub2(c, b)) > tiny)) return false;
        for (int32_t j = i + 2; j < n - (i == 0); j++)
            if (!apart(a, b, p[j], p[(j + 1) % n], allow)) return false;
    }
    return true;
}

static bool cannot_meet(const cull_job *job, int32_t node)
{
    const tl_bvh *bvh = job->bvh;
    const tl_cull *cull = &bvh->cull[node];
    const region *r = &job->region[node];
    if (cull->loop == 0) return false;
    const double length = tl_norm3(r->normal), spread = tl_norm3(tl_sub3(r->motion.hi, r->motion.lo));
    const double need = job->reach + spread + job->allow;  // twice delta is the diagonal
    if (!(length > 0) || !isfinite(length) || !isfinite(spread)) return false;
    const tl_vec3 d = tl_mul3(1 / length, r->normal);
    const int32_t *loop = bvh->cull_list + cull->first, *ring = loop + cull->loop;
    for (int32_t i = 0; i < cull->ring; i++)
        if (!(tl_dot3(job->altitude[ring[i]], d) > need)) return false;
    if (!faces_agree(job, node, d, need)) return false;
    const tl_vec3 axis = fabs(d.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 1, 0};
    const tl_vec3 e = tl_unit3_or(tl_cross3(d, axis), axis), g = tl_cross3(d, e), origin = place(bvh, loop[0]);
    tl_vec2 p[MOST_LOOP];
    for (int32_t i = 0; i < cull->loop; i++) {
        const tl_vec3 x = tl_sub3(place(bvh, loop[i]), origin);
        p[i] = (tl_vec2){tl_dot3(x, e), tl_dot3(x, g)};
    }
    return is_star(p, cull->loop, job->allow) || is_simple(p, cull->loop, job->allow);
}

// culled: 1 proved here, 2 part of a greater region for which it has been.
static void test_regions(void *arg, int32_t begin, int32_t end)
{
    const cull_job *job = arg;
    const tl_bvh *bvh = job->bvh;
    for (int32_t n = job->begin + begin; n < job->begin + end; n++) {
        if (!job->culled[n]) job->culled[n] = cannot_meet(job, n);
        for (int c = 0; job->culled[n] && c < bvh->def.arity; c++)
            if (bvh->child[n * bvh->def.arity + c] >= 0) job->culled[bvh->child[n * bvh->def.arity + c]] = 2;
    }
}

tl_status tl_bvh_cull(const tl_bvh *bvh, tl_arena *scratch, tl_workers *workers, const uint8_t **out, tl_error *err)
{
    cull_job job = {.bvh = bvh, .reach = 2 * bvh->margin};
    *out = NULL;
    if (!bvh->cull || !isfinite(bvh->slack)) return TL_OK;
    uint8_t *culled = TL_SCRATCH(scratch, uint8_t, bvh->inner_count);
    const tl_arena_mark mark = tl_arena_save(scratch);
    job.culled = culled;
    job.altitude = TL_SCRATCH(scratch, tl_vec3, bvh->count[PRIM_FACE]);
    job.region = TL_SCRATCH(scratch, region, bvh->inner_count);
    if (!culled || !job.altitude || !job.region) return tl_fail_memory(err, "culling");
    memset(culled, 0, (size_t)bvh->inner_count);
    double greatest = 0;
    for (int32_t i = 0; i < bvh->def.arity && bvh->child[i] != NO_CHILD; i++)
        for (int d = 0; d < 3; d++) {
            const float *v = bvh->volume + i;
            greatest = greater(greatest, (double)fabsf(v[d * bvh->def.arity]));
            greatest = greater(greatest, (double)fabsf(v[(d + bvh->def.k / 2) * bvh->def.arity]));
        }
    job.allow = 0x1p-40 * greatest;
    tl_parallel_for(workers, bvh->count[PRIM_FACE], FACES_PER_CHUNK, fit_altitudes, &job);
    for (int32_t level = bvh->level_count - 1; level >= 0; level--) {
        job.begin = bvh->level_begin[level];
        tl_parallel_for(workers, bvh->level_begin[level + 1] - job.begin, NODES_PER_CHUNK, fit_regions, &job);
    }
    for (int32_t level = 0; level < bvh->level_count; level++) {
        job.begin = bvh->level_begin[level];
        tl_parallel_for(workers, bvh->level_begin[level + 1] - job.begin, NODES_PER_CHUNK, test_regions, &job);
    }
    tl_arena_release(scratch, mark);
    *out = culled;
    return TL_OK;
}
