// mesh/unfold.c: a surface laid into the plane, face by face.

#include "mesh/unfold.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"
#include "math/vec3.h"
#include "mesh/edges.h"
#include "mesh/mesh.h"

bool tl_triangle_strain(const tl_vec2 uv[3], const tl_vec3 x[3], double *low, double *high)
{
    const tl_vec2 a = tl_sub2(uv[1], uv[0]), b = tl_sub2(uv[2], uv[0]);
    const tl_vec3 p = tl_sub3(x[1], x[0]), q = tl_sub3(x[2], x[0]);
    const double det = tl_cross2(a, b);
    if (!(det > 0)) return false;
    const tl_vec3 fu = tl_mul3(1 / det, tl_sub3(tl_mul3(b.y, p), tl_mul3(a.y, q)));
    const tl_vec3 fv = tl_mul3(1 / det, tl_sub3(tl_mul3(a.x, q), tl_mul3(b.x, p)));
    const double uu = tl_dot3(fu, fu), vv = tl_dot3(fv, fv), uw = tl_dot3(fu, fv);
    const double mean = 0.5 * (uu + vv), spread = tl_hypot(0.5 * (uu - vv), uw);
    *low = sqrt(fmax(0, mean - spread)) - 1;
    *high = sqrt(mean + spread) - 1;
    return true;
}

typedef struct work {
    tl_unfolding *u;
    int32_t edge_count;
    int32_t (*face_edge)[3];  ///< edges from corner k to k + 1
    int32_t (*edge_face)[2];  ///< -1: none
    int32_t *corner_vert;     ///< per corner (3 f + k): its vertex
    int32_t *first, *next;    ///< vertices of a node: the first, and the one after a vertex; -1: none
    int32_t *queue;           ///< faces, as they are reached
    uint8_t *reached;         ///< per face
    int32_t *root;            ///< per corner: union of those that share a vertex within a fan
    tl_vec2 *sum, *last;      ///< per vertex, for relaxing
    double *weight;
    double tolerance;  ///< strain that a corner may cost to fall onto a vertex that is there
} work;

static int32_t add_vertex(work *w, int32_t node, tl_vec2 at)
{
    const int32_t v = w->u->vert_count++;
    w->u->uv[v] = at, w->u->vert_node[v] = node;
    w->next[v] = w->first[node], w->first[node] = v;
    return v;
}

static tl_status face_area_check(const tl_unfolding *u, int32_t f, tl_error *err)
{
    const int32_t *n = u->face[f];
    const tl_vec3 a = tl_sub3(u->pos[n[1]], u->pos[n[0]]), b = tl_sub3(u->pos[n[2]], u->pos[n[0]]), c = tl_sub3(b, a);
    const double longest = fmax(tl_dot3(a, a), fmax(tl_dot3(b, b), tl_dot3(c, c)));
    if (0.5 * tl_norm3(tl_cross3(a, b)) > TL_MIN_SHAPE * longest) return TL_OK;
    return tl_fail(err, TL_BAD_INPUT,
                   "face %d has no area in space: its nodes %d, %d, %d lie in one line or point (move them apart, or "
                   "leave the face out)",
                   f, n[0], n[1], n[2]);
}

// The first face of a piece, as it lies: u along the axis x seen from the front.
static void lay_first(work *w, int32_t f)
{
    tl_unfolding *u = w->u;
    const int32_t *n = u->face[f];
    const tl_vec3 x0 = u->pos[n[0]];
    const tl_vec3 normal =
        tl_unit3_or(tl_cross3(tl_sub3(u->pos[n[1]], x0), tl_sub3(u->pos[n[2]], x0)), (tl_vec3){0, 0, 1});
    const tl_vec3 along = fabs(normal.x) < 0.99 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 0, 1};
    const tl_vec3 warp = tl_unit3_or(tl_madd3(along, -tl_dot3(along, normal), normal), along);
    const tl_vec3 weft = tl_cross3(normal, warp);
    for (int k = 0; k < 3; k++) {
        const tl_vec3 x = u->pos[n[k]];
        w->corner_vert[3 * f + k] = add_vertex(w, n[k], (tl_vec2){tl_dot3(x, warp), tl_dot3(x, weft)});
    }
}

// The strain that face f would have with vertex `v` (of uv `at`) at corner k; the other corners have theirs. Infinite:
// it would be turned over.
static double strain_with(const work *w, int32_t f, int k, tl_vec2 at)
{
    const tl_unfolding *u = w->u;
    tl_vec2 uv[3];
    tl_vec3 x[3];
    double low, high;
    for (int i = 0; i < 3; i++) {
        uv[i] = i == k ? at : u->uv[w->corner_vert[3 * f + i]];
        x[i] = u->pos[u->face[f][i]];
    }
    if (!tl_triangle_strain(uv, x, &low, &high)) return (double)INFINITY;
    return fmax(fabs(low), fabs(high));
}

// Face f beside edge (i, i + 1), whose vertices are laid: its third corner.
static void lay_beside(work *w, int32_t f, int i)
{
    tl_unfolding *u = w->u;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const int32_t node = u->face[f][k];
    int32_t best = -1;
    double least = w->tolerance;
    for (int32_t v = w->first[node]; v >= 0; v = w->next[v]) {
        const double strain = strain_with(w, f, k, u->uv[v]);
        if (strain <= least) best = v, least = strain;
    }
    if (best < 0) {
        const tl_vec3 a = u->pos[u->face[f][i]], ab = tl_sub3(u->pos[u->face[f][j]], a), ac = tl_sub3(u->pos[node], a);
        const double length = tl_norm3(ab), t = tl_dot3(ac, ab) / (length * length),
                     height = tl_norm3(tl_cross3(ab, ac)) / length;
        const tl_vec2 from = u->uv[w->corner_vert[3 * f + i]], d = tl_sub2(u->uv[w->corner_vert[3 * f + j]], from);
        const tl_vec2 up = tl_mul2(height / tl_norm2(d), (tl_vec2){-d.y, d.x});
        best = add_vertex(w, node, tl_add2(tl_add2(from, tl_mul2(t, d)), up));
    }
    w->corner_vert[3 * f + k] = best;
}

// The faces beside f, where they run along the edge the other way.
static int32_t reach_neighbours(work *w, int32_t f, int32_t end)
{
    const tl_unfolding *u = w->u;
    for (int k = 0; k < 3; k++) {
        const int32_t *sides = w->edge_face[w->face_edge[f][k]], g = sides[0] == f ? sides[1] : sides[0];
        if (g < 0 || w->reached[g]) continue;
        int i = 0;
        while (w->face_edge[g][i] != w->face_edge[f][k]) i++;
        if (u->face[g][i] != u->face[f][(k + 1) % 3]) continue;  // one of the two is flipped: told of later
        w->corner_vert[3 * g + i] = w->corner_vert[3 * f + (k + 1) % 3];
        w->corner_vert[3 * g + (i + 1) % 3] = w->corner_vert[3 * f + k];
        lay_beside(w, g, i);
        w->reached[g] = 1;
        w->queue[end++] = g;
    }
    return end;
}

static int32_t root_of(int32_t *root, int32_t c)
{
    while (root[c] != c) c = root[c] = root[root[c]];
    return c;
}

// A vertex of its own for every fan of faces around a node that share one. Numbered by the first corner.
static void split_fans(work *w)
{
    tl_unfolding *u = w->u;
    const int32_t corners = 3 * u->face_count;
    for (int32_t c = 0; c < corners; c++) w->root[c] = c;
    for (int32_t e = 0; e < w->edge_count; e++) {
        const int32_t f = w->edge_face[e][0], g = w->edge_face[e][1];
        if (f < 0 || g < 0) continue;
        bool whole = true;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const bool on_edge = w->face_edge[f][i] == e || w->face_edge[f][(i + 2) % 3] == e;
                if (!on_edge || u->face[f][i] != u->face[g][j]) continue;
                const int32_t a = 3 * f + i, b = 3 * g + j;
                whole = whole && w->corner_vert[a] == w->corner_vert[b];
                if (w->corner_vert[a] == w->corner_vert[b]) w->root[root_of(w->root, a)] = root_of(w->root, b);
            }
        u->cuts += !whole;
    }
}

static double worst_strain(const work *w)
{
    const tl_unfolding *u = w->u;
    double worst = 0;
    for (int32_t f = 0; f < u->face_count; f++) worst = fmax(worst, strain_with(w, f, 0, u->uv[w->corner_vert[3 * f]]));
    return worst;
}

// The corners of face f in its own plane, about their mean.
static void own_plane(const tl_unfolding *u, int32_t f, tl_vec2 out[3])
{
    const int32_t *n = u->face[f];
    const tl_vec3 ab = tl_sub3(u->pos[n[1]], u->pos[n[0]]), ac = tl_sub3(u->pos[n[2]], u->pos[n[0]]);
    const double length = tl_norm3(ab);
    const tl_vec2 b = {length, 0}, c = {tl_dot3(ac, ab) / length, tl_norm3(tl_cross3(ab, ac)) / length};
    const tl_vec2 mean = tl_mul2(1.0 / 3, tl_add2(b, c));
    out[0] = tl_mul2(-1, mean), out[1] = tl_sub2(b, mean), out[2] = tl_sub2(c, mean);
}

// Evens the strain out: every face, kept rigid, is fitted to where its vertices are, and every vertex goes to the mean
// of where its faces want it (Sorkine & Alexa 2007, the local step; here per face, with a mean in place of the solve).
static void relax(work *w)
{
    enum { ROUNDS = 300 };
    tl_unfolding *u = w->u;
    for (int32_t v = 0; v < u->vert_count; v++) w->last[v] = u->uv[v];
    for (int round = 0; round < ROUNDS; round++) {
        for (int32_t v = 0; v < u->vert_count; v++) w->sum[v] = (tl_vec2){0, 0}, w->weight[v] = 0;
        for (int32_t f = 0; f < u->face_count; f++) {
            tl_vec2 p[3];
            own_plane(u, f, p);
            const int32_t *v = &w->corner_vert[3 * f];
            const tl_vec2 mean = tl_mul2(1.0 / 3, tl_add2(tl_add2(u->uv[v[0]], u->uv[v[1]]), u->uv[v[2]]));
            double c = 0, s = 0;
            for (int k = 0; k < 3; k++) {
                const tl_vec2 q = tl_sub2(u->uv[v[k]], mean);
                c += tl_dot2(p[k], q), s += tl_cross2(p[k], q);
            }
            const double r = tl_hypot(c, s), area = tl_cross2(tl_sub2(p[1], p[0]), tl_sub2(p[2], p[0]));
            if (!(r > 0)) continue;
            c /= r, s /= r;
            for (int k = 0; k < 3; k++) {
                const tl_vec2 at = {mean.x + c * p[k].x - s * p[k].y, mean.y + s * p[k].x + c * p[k].y};
                w->sum[v[k]] = tl_add2(w->sum[v[k]], tl_mul2(area, at));
                w->weight[v[k]] += area;
            }
        }
        // The mean alone spreads slowly, as heat does: each round goes on in the direction of the last (Nesterov 1983).
        const double on = round / (round + 3.0);
        for (int32_t v = 0; v < u->vert_count; v++) {
            if (!(w->weight[v] > 0)) continue;
            const tl_vec2 at = tl_mul2(1 / w->weight[v], w->sum[v]);
            u->uv[v] = round + 1 < ROUNDS ? tl_add2(at, tl_mul2(on, tl_sub2(at, w->last[v]))) : at;
            w->last[v] = at;
        }
    }
}

static void lay_all(work *w)
{
    tl_unfolding *u = w->u;
    u->vert_count = 0;
    for (int32_t n = 0; n < u->node_count; n++) w->first[n] = -1;
    for (int32_t f = 0; f < u->face_count; f++) w->reached[f] = 0;
    for (int32_t seed = 0; seed < u->face_count; seed++) {
        if (w->reached[seed]) continue;
        lay_first(w, seed);
        w->reached[seed] = 1;
        w->queue[0] = seed;
        for (int32_t at = 0, end = 1; at < end; at++) end = reach_neighbours(w, w->queue[at], end);
    }
}

// Few cuts if the strain that is left can be evened out, else more of them. Lengths that are exact stay so.
static void lay_evenly(work *w)
{
    static const double tolerances[] = {0.3, 0.1, 0.03, TL_UNFOLD_STRAIN};
    for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++) {
        w->tolerance = tolerances[i];
        lay_all(w);
        w->u->strain = worst_strain(w);
        if (w->u->strain <= TL_UNFOLD_STRAIN) return;
        relax(w);
        w->u->strain = worst_strain(w);
        if (w->u->strain <= TL_UNFOLD_STRAIN) return;
    }
    lay_all(w);  // each face within the last tolerance, as it was laid
    w->u->strain = worst_strain(w);
}

static tl_status unfold(work *w, const tl_allocator *alloc, tl_error *err)
{
    tl_unfolding *u = w->u;
    for (int32_t f = 0; f < u->face_count; f++) TL_TRY(face_area_check(u, f, err));
    for (int32_t e = 0; e < w->edge_count; e++) w->edge_face[e][0] = w->edge_face[e][1] = -1;
    for (int32_t f = 0; f < u->face_count; f++)
        for (int k = 0; k < 3; k++) {
            int32_t *sides = w->edge_face[w->face_edge[f][k]];
            if (sides[0] < 0)
                sides[0] = f;
            else if (sides[1] < 0)
                sides[1] = f;
        }
    lay_evenly(w);
    split_fans(w);
    const int32_t laid = u->vert_count, corners = 3 * u->face_count;
    tl_vec2 *uv = TL_ALLOC(alloc, tl_vec2, laid);
    if (!uv) return tl_fail_memory(err, "material coordinates");
    for (int32_t v = 0; v < laid; v++) uv[v] = u->uv[v];
    int32_t *number = w->next, count = 0;  // per root of a fan; the lists are done with
    for (int32_t c = 0; c < corners; c++) number[c] = -1;
    for (int32_t c = 0; c < corners; c++) {
        const int32_t r = root_of(w->root, c);
        if (number[r] < 0) number[r] = count++;
        u->uv[number[r]] = uv[w->corner_vert[c]];
        u->vert_node[number[r]] = u->face[c / 3][c % 3];
    }
    for (int32_t c = 0; c < corners; c++) u->vert[c / 3][c % 3] = number[root_of(w->root, c)];
    u->vert_count = count;
    TL_FREE(alloc, uv, laid);
    return TL_OK;
}

tl_status tl_unfold(const tl_allocator *alloc, tl_unfolding *u, tl_error *err)
{
    const int32_t faces = u->face_count, corners = 3 * faces;
    int32_t(*edge)[2] = NULL;
    work w = {.u = u};
    u->vert_count = u->cuts = 0, u->strain = 0;
    w.face_edge = tl_alloc_bytes(alloc, (size_t)faces, sizeof *w.face_edge);
    tl_status status = w.face_edge ? tl_unique_edges(alloc, u->face, faces, &edge, &w.edge_count, w.face_edge, err)
                                   : tl_fail_memory(err, "material coordinates");
    if (status == TL_OK) {
        w.edge_face = tl_alloc_bytes(alloc, (size_t)w.edge_count, sizeof *w.edge_face);
        w.corner_vert = TL_ALLOC(alloc, int32_t, corners);
        w.first = TL_ALLOC(alloc, int32_t, u->node_count);
        w.next = TL_ALLOC(alloc, int32_t, corners);
        w.queue = TL_ALLOC(alloc, int32_t, faces);
        w.reached = TL_CALLOC(alloc, uint8_t, faces);
        w.root = TL_ALLOC(alloc, int32_t, corners);
        w.sum = TL_ALLOC(alloc, tl_vec2, corners);
        w.last = TL_ALLOC(alloc, tl_vec2, corners);
        w.weight = TL_ALLOC(alloc, double, corners);
        const bool ok = w.sum && w.last && w.weight && w.edge_face && w.corner_vert && w.first && w.next && w.queue &&
                        w.reached && w.root;
        status = ok ? unfold(&w, alloc, err) : tl_fail_memory(err, "material coordinates");
    }
    TL_FREE(alloc, edge, w.edge_count);
    TL_FREE(alloc, w.face_edge, faces);
    TL_FREE(alloc, w.edge_face, w.edge_count);
    TL_FREE(alloc, w.corner_vert, corners);
    TL_FREE(alloc, w.first, u->node_count);
    TL_FREE(alloc, w.next, corners);
    TL_FREE(alloc, w.queue, faces);
    TL_FREE(alloc, w.reached, faces);
    TL_FREE(alloc, w.root, corners);
    TL_FREE(alloc, w.sum, corners);
    TL_FREE(alloc, w.last, corners);
    TL_FREE(alloc, w.weight, corners);
    return status;
}
