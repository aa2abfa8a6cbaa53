// respond/untangle/untangle_push.c: displacements that untangle cloth.
//
// Every constraint is a half space: a weighted sum of displacements along a direction is at least some amount.
// Constraints are satisfied one after the other in a fixed order, each by the smallest displacement.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "detect/distance.h"
#include "respond/untangle/untangle_impl.h"
#include "math/vec3.h"

static const double HEAVY = 0.2;  // how readily nodes on the right side give way, against 1 for those on the wrong one
static const double SHORTEN = 0.25;       // step of a crossing that is made shorter, in edge lengths
static const double STEEP = 0.1;          // sine of an angle below which a division by it means nothing
static const double DISTANCE_MIN = 1e-3;  // in edge lengths: what was undone shall not touch
static const double DISTANCE_MAX = 0.5;   // in edge lengths: farther apart, cloth could not even fold
enum { SPREAD_SWEEPS = 12 };

typedef struct wish {
    int32_t node[5];
    double weight[5];  ///< of each displacement
    int count;
} wish;

static void wish_add(wish *w, int32_t node, double weight) { w->node[w->count] = node, w->weight[w->count++] = weight; }

static double ease(const tl_healer *h, int32_t n)
{
    if (h->def->fixed && h->def->fixed[n]) return 0;
    return h->part_wrong[h->part[n]] ? 1 : HEAVY;
}

static void grant(tl_healer *h, const wish *w, tl_vec3 direction, double amount)
{
    double have = 0, share = 0;
    for (int i = 0; i < w->count; i++) {
        have += w->weight[i] * tl_dot3(h->u[w->node[i]], direction);
        share += w->weight[i] * w->weight[i] * ease(h, w->node[i]);
    }
    if (!(share > 0)) return;
    const double step = fmax(0, amount - have) / share;
    for (int i = 0; i < w->count; i++) {
        const double own = step * w->weight[i] * ease(h, w->node[i]);
        h->u[w->node[i]] = tl_madd3(h->u[w->node[i]], own, direction);
        if (w->weight[i] != 0) h->pushed[w->node[i]] = 1;
    }
}

static double wanted(const tl_healer *h, double distance)
{
    return fmin(fmax(distance, DISTANCE_MIN * h->edge_mean), DISTANCE_MAX * h->edge_mean);
}

// --- parts -------------------------------------------------------------------------------------------------

static int32_t other_end(const tl_healer *h, int32_t e, int32_t n)
{
    const int32_t *ends = h->def->cloth.edge[e];
    return ends[0] == n ? ends[1] : ends[0];
}

// A cut that ends just before the border still divides the cloth: border nodes within h->rings rings of a cut belong to
// a part, but do not connect it to another.
static void find_stops(tl_healer *h, uint8_t *stop)
{
    const tl_surface *s = &h->def->cloth;
    enum { BORDER = 1, NEAR = 2 };
    memset(stop, 0, (size_t)s->node_count);
    for (int32_t e = 0; e < s->edge_count; e++)
        for (int k = 0; k < 2; k++) {
            if (h->edge_face[e][1] < 0) stop[s->edge[e][k]] |= BORDER;
            if (h->cut[e]) stop[s->edge[e][k]] |= NEAR;
        }
    for (int ring = 1; ring <= h->rings; ring++)
        for (int32_t e = 0; e < s->edge_count; e++) {
            const int32_t a = s->edge[e][0], b = s->edge[e][1];
            const uint8_t now = (uint8_t)(NEAR << ring);
            if (stop[a] & now >> 1) stop[b] |= now;
            if (stop[b] & now >> 1) stop[a] |= now;
        }
    for (int32_t n = 0; n < s->node_count; n++) stop[n] = h->rings > 0 && (stop[n] & BORDER) && stop[n] > BORDER;
}

static void fill_part(tl_healer *h, int32_t from, const uint8_t *stop, int32_t *stack)
{
    const int32_t id = h->part_count++;
    int32_t top = 0;
    h->part_area[id] = 0, h->part_wrong[id] = 0;
    h->part[from] = id, stack[top++] = from;
    while (top > 0) {
        const int32_t at = stack[--top];
        h->part_area[id] += h->node_area[at];
        for (int32_t k = h->first_edge[at]; !stop[at] && k < h->first_edge[at + 1]; k++) {
            const int32_t e = h->node_edge[k], to = other_end(h, e, at);
            if (!h->cut[e] && h->part[to] < 0) h->part[to] = id, stack[top++] = to;
        }
    }
}

// Numbers the components that are connected without cut edges.
static tl_status find_parts(tl_healer *h, tl_error *err)
{
    const tl_surface *s = &h->def->cloth;
    memset(h->cut, 0, (size_t)s->edge_count);
    for (int32_t i = 0; i < h->self.count; i++) h->cut[h->self.items[i].edge] = 1;
    for (int32_t b = 0; b < h->def->body_count; b++)
        for (int32_t i = 0; i < h->with[b].count; i++)
            if (h->with[b].items[i].edge_surface == 0) h->cut[h->with[b].items[i].edge] = 1;

    const tl_arena_mark mark = tl_arena_save(h->scratch);
    int32_t *stack = TL_SCRATCH(h->scratch, int32_t, s->node_count);
    uint8_t *stop = TL_SCRATCH(h->scratch, uint8_t, s->node_count);
    if (!stack || !stop) return tl_fail_memory(err, "parts of cloth");
    find_stops(h, stop);
    h->part_count = 0;
    for (int32_t n = 0; n < s->node_count; n++) h->part[n] = -1;
    for (int pass = 0; pass < 2; pass++)  // stops that no part reached come last, each for itself
        for (int32_t n = 0; n < s->node_count; n++)
            if (h->part[n] < 0 && (pass == 1 || !stop[n])) fill_part(h, n, stop, stack);
    tl_arena_release(h->scratch, mark);
    return TL_OK;
}

// End of an edge between two parts that is on the wrong side: the one in the smaller part.
static int wrong_end(const tl_healer *h, const int32_t e[2])
{
    const int32_t p = h->part[e[0]], q = h->part[e[1]];
    if (h->part_area[p] != h->part_area[q]) return h->part_area[p] < h->part_area[q] ? 0 : 1;
    return p > q ? 0 : 1;
}

// --- crossings ---------------------------------------------------------------------------------------------

/// An edge through a face: the point, and the heights of its ends over the face.
typedef struct meeting {
    tl_vec3 at, normal;  ///< normal of the face
    double front[2];     ///< of the ends of the edge [m]
    double along;        ///< place on the edge, 0 .. 1
    double corner[3];    ///< weights of the place in the face
} meeting;

static meeting meet(const tl_vec3 *ex, const int32_t e[2], const tl_vec3 *fx, const int32_t f[3])
{
    meeting m;
    const tl_vec3 p = fx[f[0]], e1 = tl_sub3(fx[f[1]], p), e2 = tl_sub3(fx[f[2]], p);
    m.normal = tl_unit3_or(tl_cross3(e1, e2), (tl_vec3){0, 1, 0});
    m.at = tl_segment_triangle_place(&ex[e[0]], &ex[e[1]], &fx[f[0]], &fx[f[1]], &fx[f[2]]);
    for (int k = 0; k < 2; k++) m.front[k] = tl_dot3(m.normal, tl_sub3(ex[e[k]], p));
    m.along = tl_nearest_on_segment(tl_sub3(m.at, ex[e[0]]), tl_sub3(ex[e[1]], ex[e[0]]));
    tl_nearest_on_face(tl_sub3(m.at, p), e1, e2, m.corner);
    return m;
}

static bool any_wrong(const tl_healer *h, const int32_t *node, int count)
{
    for (int k = 0; k < count; k++)
        if (h->part_wrong[h->part[node[k]]]) return true;
    return false;
}

// Cloth through cloth: the end of the edge on the wrong side of the face is moved back through it.
static void push_across(tl_healer *h, const tl_crossing *c)
{
    const int32_t *e = h->def->cloth.edge[c->edge], *f = h->def->cloth.face[c->face];
    const meeting m = meet(h->x, e, h->x, f);
    const double side = h->side[c->face];
    const int w = side * m.front[0] < side * m.front[1] ? 0 : 1;
    wish go = {.count = 0};
    wish_add(&go, e[w], 1);
    for (int k = 0; k < 3; k++) wish_add(&go, f[k], -m.corner[k]);
    grant(h, &go, tl_mul3(side, m.normal), fmax(0, -side * m.front[w]) + h->reach * wanted(h, h->def->distance));
}

// Nothing is cut off: slide the edge so that the line of intersection gets shorter. The line leaves the place on the
// edge along `run` inside each face at the edge; moving the edge by d moves the place by d - (d.n / a.n) a (a: along
// the edge, n: normal of the face), so the length falls fastest along run - (a.run / a.n) n, summed over the faces. The
// idea is that of Volino and Magnenat-Thalmann 2006; the formula is derived here, for an edge that moves with its
// faces.
static void push_shorter(tl_healer *h, const tl_crossing *c)
{
    const tl_surface *s = &h->def->cloth;
    const int32_t *e = s->edge[c->edge], *f = s->face[c->face];
    const meeting m = meet(h->x, e, h->x, f);
    const tl_vec3 a = tl_unit3_or(tl_sub3(h->x[e[1]], h->x[e[0]]), (tl_vec3){1, 0, 0});
    double an = tl_dot3(a, m.normal);
    if (fabs(an) < STEEP) an = copysign(STEEP, an);
    tl_vec3 g = {0};
    for (int k = 0; k < 2; k++) {
        if (h->edge_face[c->edge][k] < 0) continue;
        const int32_t *t = s->face[h->edge_face[c->edge][k]];
        int32_t apex = t[0];
        for (int i = 1; i < 3; i++)
            if (t[i] != e[0] && t[i] != e[1]) apex = t[i];
        const tl_vec3 into = tl_sub3(h->x[apex], h->x[e[0]]);
        const tl_vec3 other = tl_unit3_or(tl_cross3(a, into), m.normal);
        tl_vec3 run = tl_unit3_or(tl_cross3(m.normal, other), (tl_vec3){0, 0, 0});
        if (tl_dot3(run, tl_madd3(into, -tl_dot3(into, a), a)) < 0) run = tl_mul3(-1, run);
        g = tl_add3(g, tl_madd3(run, -tl_dot3(a, run) / an, m.normal));
    }
    if (!(tl_norm3(g) > STEEP)) return;  // a straight line: its ends decide
    wish go = {.count = 0};
    wish_add(&go, e[0], 1 - m.along);
    wish_add(&go, e[1], m.along);
    for (int k = 0; k < 3; k++) wish_add(&go, f[k], -m.corner[k]);
    grant(h, &go, tl_unit3_or(g, m.normal), SHORTEN * h->edge_mean);
}

// Whether the edge of crossing i passes through this body an even number of times, so that no end is inside.
static bool passes_through(const tl_crossings *list, int32_t i)
{
    int32_t lo = i, hi = i + 1;
    const tl_crossing *c = list->items;
    while (lo > 0 && c[lo - 1].edge_surface == 0 && c[lo - 1].edge == c[i].edge) lo--;
    while (hi < list->count && c[hi].edge_surface == 0 && c[hi].edge == c[i].edge) hi++;
    return (hi - lo) % 2 == 0;
}

static void push_out(tl_healer *h, int32_t b, int32_t i)
{
    const tl_heal_body *body = &h->def->bodies[b];
    const tl_crossing *c = &h->with[b].items[i];
    const double reach = h->reach * wanted(h, body->distance);
    wish go = {.count = 0};
    if (c->edge_surface == 0) {
        const int32_t *e = h->def->cloth.edge[c->edge];
        const meeting m = meet(h->x, e, body->x, body->surface.face[c->face]);
        if (passes_through(&h->with[b], i)) {
            wish_add(&go, e[0], 1 - m.along);
            wish_add(&go, e[1], m.along);
            grant(h, &go, m.normal, SHORTEN * h->edge_mean + reach);
        } else {
            const int w = m.front[0] < m.front[1] ? 0 : 1;
            wish_add(&go, e[w], 1);
            grant(h, &go, m.normal, fmax(0, -m.front[w]) + reach);
        }
        return;
    }
    // An edge of the body through a face of the cloth; if an edge of the cloth is cut here, that decides.
    const int32_t *f = h->def->cloth.face[c->face];
    for (int k = 0; k < 3; k++)
        for (int32_t j = h->first_edge[f[k]]; j < h->first_edge[f[k] + 1]; j++)
            if (h->cut[h->node_edge[j]]) return;
    const meeting m = meet(body->x, body->surface.edge[c->edge], h->x, f);
    const tl_vec3 out = h->body_edge_normal[b][c->edge];
    const double s = tl_dot3(out, m.normal);
    double amount = SHORTEN * h->edge_mean;
    if (fabs(s) > STEEP) amount = fmin(fmax(m.front[0] / s, m.front[1] / s), h->edge_mean);  // past the farther end
    for (int k = 0; k < 3; k++) wish_add(&go, f[k], m.corner[k]);
    grant(h, &go, out, fmax(0, amount) + reach);
}

// Nodes of wrong parts that were not pushed follow those that were.
static tl_status spread(tl_healer *h, tl_error *err)
{
    const tl_surface *s = &h->def->cloth;
    const tl_arena_mark mark = tl_arena_save(h->scratch);
    tl_vec3 *mean = TL_SCRATCH(h->scratch, tl_vec3, h->part_count),
            *next = TL_SCRATCH(h->scratch, tl_vec3, s->node_count);
    int32_t *count = TL_SCRATCH(h->scratch, int32_t, h->part_count);
    if (!mean || !next || !count) return tl_fail_memory(err, "untangling");
    memset(mean, 0, (size_t)h->part_count * sizeof *mean);
    memset(count, 0, (size_t)h->part_count * sizeof *count);
    for (int32_t n = 0; n < s->node_count; n++)
        if (h->pushed[n]) mean[h->part[n]] = tl_add3(mean[h->part[n]], h->u[n]), count[h->part[n]]++;
    for (int32_t n = 0; n < s->node_count; n++) {
        const int32_t p = h->part[n];
        if (h->part_wrong[p] && !h->pushed[n] && count[p] > 0 && ease(h, n) > 0)
            h->u[n] = tl_mul3(1.0 / count[p], mean[p]);
    }
    for (int sweep = 0; sweep < SPREAD_SWEEPS; sweep++) {
        for (int32_t n = 0; n < s->node_count; n++) {
            next[n] = h->u[n];
            if (!h->part_wrong[h->part[n]] || h->pushed[n] || ease(h, n) == 0) continue;
            tl_vec3 sum = {0};
            int32_t around = 0;
            for (int32_t k = h->first_edge[n]; k < h->first_edge[n + 1]; k++)
                if (!h->cut[h->node_edge[k]]) sum = tl_add3(sum, h->u[other_end(h, h->node_edge[k], n)]), around++;
            if (around > 0) next[n] = tl_mul3(1.0 / around, sum);
        }
        memcpy(h->u, next, (size_t)s->node_count * sizeof *next);
    }
    tl_arena_release(h->scratch, mark);
    return TL_OK;
}

// Determines for faces on which side other cloth belongs: where an edge clearly passes from one part to another, the
// larger part is on the right side; other faces of the component take the side of the nearest face that has one. Sides
// are kept, since parts come and go while nodes move.
static tl_status learn_sides(tl_healer *h, tl_error *err)
{
    const tl_surface *s = &h->def->cloth;
    const tl_arena_mark mark = tl_arena_save(h->scratch);
    int32_t *vote = TL_SCRATCH(h->scratch, int32_t, s->face_count),
            *queue = TL_SCRATCH(h->scratch, int32_t, s->face_count);
    if (!vote || !queue) return tl_fail_memory(err, "untangling");
    memset(vote, 0, (size_t)s->face_count * sizeof *vote);
    for (int32_t i = 0; i < h->self.count; i++) {
        const tl_crossing *c = &h->self.items[i];
        const int32_t *e = s->edge[c->edge];
        if (h->part[e[0]] == h->part[e[1]]) continue;
        const meeting m = meet(h->x, e, h->x, s->face[c->face]);
        if (!(m.front[0] * m.front[1] < 0)) continue;  // touching tells nothing
        vote[c->face] += m.front[!wrong_end(h, e)] > 0 ? 1 : -1;
    }
    int32_t count = 0;
    for (int32_t f = 0; f < s->face_count; f++) {
        if (h->side[f] == 0) h->side[f] = (int8_t)((vote[f] > 0) - (vote[f] < 0));
        if (h->side[f] != 0) queue[count++] = f;
    }
    for (int32_t at = 0; at < count; at++)
        for (int k = 0; k < 3; k++) {
            const int32_t e = h->face_edge[queue[at]][k];
            for (int i = 0; e >= 0 && i < 2; i++) {
                const int32_t next = h->edge_face[e][i];
                if (next >= 0 && h->side[next] == 0) h->side[next] = h->side[queue[at]], queue[count++] = next;
            }
        }
    tl_arena_release(h->scratch, mark);
    return TL_OK;
}

// Parts with an end on the wrong side of a face give way as a whole.
static void mark_wrong(tl_healer *h)
{
    const tl_surface *s = &h->def->cloth;
    for (int32_t b = -1; b < h->def->body_count; b++) {
        const tl_crossings *list = b < 0 ? &h->self : &h->with[b];
        for (int32_t i = 0; i < list->count; i++) {
            const tl_crossing *c = &list->items[i];
            if (c->edge_surface != 0 || (b >= 0 && passes_through(list, i))) continue;
            const int32_t *e = s->edge[c->edge];
            const double side = b < 0 ? h->side[c->face] : 1;
            if (h->part[e[0]] == h->part[e[1]] || side == 0) continue;
            const meeting m = b < 0 ? meet(h->x, e, h->x, s->face[c->face])
                                    : meet(h->x, e, h->def->bodies[b].x, h->def->bodies[b].surface.face[c->face]);
            const int w = side * m.front[0] < side * m.front[1] ? 0 : 1;
            const int32_t part = h->part[e[w]];
            // of two parts of cloth, the larger one does not follow a few nodes of its own
            if (b >= 0 || h->part_area[part] <= h->part_area[h->part[e[!w]]]) h->part_wrong[part] = 1;
        }
    }
}

tl_status tl_heal_push_crossings(tl_healer *h, tl_error *err)
{
    const tl_surface *s = &h->def->cloth;
    memset(h->u, 0, (size_t)s->node_count * sizeof *h->u);
    memset(h->pushed, 0, (size_t)s->node_count);
    TL_TRY(find_parts(h, err));
    TL_TRY(learn_sides(h, err));
    mark_wrong(h);
    for (int32_t i = 0; i < h->self.count; i++) {
        const tl_crossing *c = &h->self.items[i];
        const int32_t *e = s->edge[c->edge];
        const bool between = h->part[e[0]] != h->part[e[1]];
        if (!between && (any_wrong(h, e, 2) || any_wrong(h, s->face[c->face], 3))) continue;  // these go anyway
        if (h->side[c->face] != 0)
            push_across(h, c);
        else
            push_shorter(h, c);
    }
    for (int32_t b = 0; b < h->def->body_count; b++)
        for (int32_t i = 0; i < h->with[b].count; i++) push_out(h, b, i);
    return spread(h, err);
}

// --- distance ----------------------------------------------------------------------------------------------

static bool neighbours(const tl_healer *h, const int32_t *a, int a_count, const int32_t *b, int b_count)
{
    for (int i = 0; i < a_count; i++)
        for (int32_t k = h->first_edge[a[i]]; k < h->first_edge[a[i] + 1]; k++) {
            const int32_t to = other_end(h, h->node_edge[k], a[i]);
            for (int j = 0; j < b_count; j++)
                if (b[j] == to) return true;
        }
    return false;
}

/// A vertex, edge or face: its nodes and their positions. Cloth gives way, a body (not `ours`) does not.
typedef struct feature {
    const tl_vec3 *x;
    const int32_t *node;
    bool ours;
} feature;

// `a` has a_count of the four nodes.
static bool push_apart(tl_healer *h, tl_nearest (*nearest)(const tl_vec3 x[4]), feature a, int a_count, feature b,
                       double want)
{
    tl_vec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = k < a_count ? a.x[a.node[k]] : b.x[b.node[k - a_count]];
    const tl_nearest near = nearest(x);
    if (!(near.distance < want)) return false;
    h->nearest = fmin(h->nearest, near.distance / want);
    tl_vec3 apart = {0};
    for (int k = 0; k < 4; k++) apart = tl_madd3(apart, near.weight[k], x[k]);
    wish go = {.count = 0};
    for (int k = 0; k < 4; k++)
        if (k < a_count ? a.ours : b.ours) wish_add(&go, k < a_count ? a.node[k] : b.node[k - a_count], near.weight[k]);
    grant(h, &go, tl_unit3_or(apart, (tl_vec3){0, 1, 0}), 1.01 * want - near.distance);  // 1 %: beyond rounding
    return true;
}

tl_status tl_heal_push_near(tl_healer *h, int64_t *near, tl_error *err)
{
    const tl_surface *s = &h->def->cloth;
    memset(h->u, 0, (size_t)s->node_count * sizeof *h->u);
    memset(h->part, 0, (size_t)s->node_count * sizeof *h->part);  // one part, on its right side
    h->part_wrong[0] = 0;
    h->nearest = 1;
    *near = 0;
    for (int32_t b = -1; b < h->def->body_count; b++) {
        const double distance = b < 0 ? h->def->distance : h->def->bodies[b].distance, want = wanted(h, distance);
        if (!(distance > 0) || (b < 0 && h->def->bodies_only)) continue;
        tl_bvh_refit(h->cloth, h->x, NULL, want / 2, 0, h->workers);
        if (b >= 0) tl_bvh_refit(h->body[b], h->def->bodies[b].x, NULL, want / 2, 0, h->workers);
        const int what = TL_PAIR_VF | TL_PAIR_EE;
        TL_TRY(b < 0 ? tl_bvh_self(h->cloth, what, h->scratch, h->workers, &h->pairs, err)
                     : tl_bvh_between(h->cloth, h->body[b], what, h->scratch, h->workers, &h->pairs, err));
        const tl_surface *t = b < 0 ? s : &h->def->bodies[b].surface;
        const tl_vec3 *y = b < 0 ? h->x : h->def->bodies[b].x;
        for (int32_t i = 0; i < h->pairs.vf_count; i++) {
            const int32_t *v = &h->pairs.vf[i].a, *f = t->face[h->pairs.vf[i].b];
            if (b < 0 && neighbours(h, v, 1, f, 3)) continue;
            *near += push_apart(h, tl_nearest_vertex_face, (feature){h->x, v, true}, 1, (feature){y, f, b < 0}, want);
        }
        for (int32_t i = 0; b >= 0 && i < h->pairs.fv_count; i++)
            *near += push_apart(h, tl_nearest_vertex_face, (feature){y, &h->pairs.fv[i].a, false}, 1,
                                (feature){h->x, s->face[h->pairs.fv[i].b], true}, want);
        for (int32_t i = 0; i < h->pairs.ee_count; i++) {
            const int32_t *e = s->edge[h->pairs.ee[i].a], *o = t->edge[h->pairs.ee[i].b];
            if (b < 0 && neighbours(h, e, 2, o, 2)) continue;
            *near += push_apart(h, tl_nearest_edge_edge, (feature){h->x, e, true}, 2, (feature){y, o, b < 0}, want);
        }
    }
    return TL_OK;
}
