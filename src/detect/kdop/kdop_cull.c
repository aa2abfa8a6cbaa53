// detect/kdop/kdop_cull.c: smooth parts of a surface that cannot come near themselves.
//
// Kimmerle 2005, sec. 2.2.1.4: a cone of normals per volume (Provot), and a contour that does not cross itself along
// its axis (Volino and Magnenat-Thalmann 1994). That theorem is about intersection; a query by distance needs more: no
// two primitives of a region that share no node come within the reach r of each other. What is tested, for the faces R
// of a subtree and R+, R with all faces that share a node with it:
//
//   1. at every edge around R there is one face, or two that are oriented alike;
//   2. d . n_f h_f > r for every face f of R+: n_f its unit normal, h_f its least altitude, d the axis of the cone;
//   3. the border of R+ is one loop, and its projection along d is a simple polygon;
//   4. where R reaches the border of the surface, corners of the loop are further than r from its other sides.
//
// Proof. Project along d. By 2 every face of R+ keeps its orientation, and its least altitude there, 2 A'/|e'| >= 2 A
// n.d/|e|, is greater than r. For any point the number of faces of R+ over it is the winding number of the border of R+
// (each face's is the winding number of its outline, and inner sides cancel); by 3 that is 0 or 1: faces do not overlap
// in projection. Let v be a node of R away from the border of the surface. Its faces, all in R+ by construction, close
// up around it, so they cover a neighbourhood of v, and the nearest point of their outline is at least the least
// altitude away: the disc of radius r about v meets faces, edges and nodes of v's star only. If v is on the border, its
// star leaves a gap between two sides at v; what else of R+ comes into the disc would come through the gap, across a
// side of the loop that does not meet v, and by 4 all of those are too far away. So a node and a face of R, or a node
// and an edge, that do not share a node are further than r apart in projection. Two edges, or an edge and a face, that
// share no node do not cross in projection (faces on either side would overlap), so their distance is attained at a
// node of one of them: further than r again. Distance in space is no less. QED
//
// Nothing is asked of what lies outside R+: only pairs within R are dropped. Rounding: 2 to 4 are tested with an
// allowance of 2^-40 of the greatest coordinate, far more than their products of three differences can err. The cone
// comes first: where its half angle reaches 90 degrees nothing more is looked at.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/kdop/kdop.h"
#include "math/elementary.h"
#include "math/vec3.h"

enum { MOST_FACES = 8192, MOST_LOOP = 1024, MOST_OPEN_LOOP = 512 };
enum { OPEN = 1, WRONG = 2 };  // a node has sides without a face across; with several, or one that is turned over
#define RIGHT_ANGLE 1.57079632679489662
#define ALLOWANCE 0x1p-40  // of the greatest coordinate: more than products of three differences err

typedef struct contour {
    int32_t first, loop, ring;  // in `list`: corners of the loop, then faces of the ring; loop 0: never smooth
    bool open;                  // R reaches the border of the surface
} contour;

typedef struct cone {
    tl_vec3 axis;
    double half;
} cone;

struct kdop_cull {
    contour *of;  // [node_count]
    int32_t *list, list_count, list_cap;
    cone *cones;        // [node_count]
    tl_vec3 *altitude;  // [face_count] n_f h_f
    uint8_t *smooth;    // [node_count]
};

bool kdop_is_smooth(const tl_kdop *t, int32_t node) { return t->cull && !t->x1 && t->cull->smooth[node]; }

void kdop_cull_destroy(tl_kdop *t)
{
    kdop_cull *c = t->cull;
    if (!c) return;
    TL_FREE(&t->alloc, c->of, t->node_count);
    TL_FREE(&t->alloc, c->list, c->list_cap);
    TL_FREE(&t->alloc, c->cones, t->node_count);
    TL_FREE(&t->alloc, c->altitude, t->surface.face_count);
    TL_FREE(&t->alloc, c->smooth, t->node_count);
    TL_FREE(&t->alloc, t->cull, 1);
}

// --- once: borders and rings ---

typedef struct topology {
    tl_kdop *t;
    int32_t *first, *around;  // faces around each node
    int32_t (*twin)[3];       // the face across side k, or -1
    uint8_t *border;          // per node
    int32_t *face_mark, *node_mark, *next, *faces;
    int32_t face_count;
} topology;

static int32_t corner_of(const topology *o, int32_t f, int k) { return o->t->surface.face[f][k % 3]; }

static void find_twins(topology *o)
{
    for (int32_t f = 0; f < o->t->surface.face_count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = corner_of(o, f, k), b = corner_of(o, f, k + 1);
            int32_t with = 0, against = 0, other = -1;
            for (int32_t i = o->first[a]; i < o->first[a + 1]; i++)
                for (int j = 0; j < 3; j++) {
                    const int32_t g = o->around[i], p = corner_of(o, g, j), q = corner_of(o, g, j + 1);
                    with += p == a && q == b;
                    if (p == b && q == a) against++, other = g;
                }
            o->twin[f][k] = with == 1 && against == 1 && a != b ? other : -1;
            const uint8_t why = with == 1 && against == 0 && a != b ? OPEN : WRONG;
            if (o->twin[f][k] < 0) o->border[a] |= why, o->border[b] |= why;
        }
}

// R and its ring into o->faces, R first; false: R touches what is not a surface.
static bool gather(topology *o, int32_t node, int32_t *own, bool *open)
{
    const kdop_node *v = &o->t->nodes[node];
    o->face_count = 0;
    for (int32_t i = v->begin; i < v->end; i++) {
        const int32_t f = o->t->order[i];
        o->faces[o->face_count++] = f, o->face_mark[f] = node;
    }
    *own = o->face_count;
    for (int32_t i = 0; i < *own; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t p = corner_of(o, o->faces[i], k);
            if (o->border[p] & WRONG) return false;
            *open |= o->border[p] != 0;
            if (o->node_mark[p] == node) continue;
            o->node_mark[p] = node;
            for (int32_t j = o->first[p]; j < o->first[p + 1]; j++)
                if (o->face_mark[o->around[j]] != node)
                    o->face_mark[o->around[j]] = node, o->faces[o->face_count++] = o->around[j];
        }
    return true;
}

// Sides of R+ with nothing of it across, linked by o->next; 0: they touch, or are too few or too many.
static int32_t link_border(topology *o, int32_t node, int32_t own, bool open, int32_t *start)
{
    int32_t sides = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = open ? 0 : own; i < o->face_count; i++)
            for (int k = 0; k < 3; k++) {
                const int32_t f = o->faces[i], twin = o->twin[f][k], a = corner_of(o, f, k);
                if (twin >= 0 && o->face_mark[twin] == node) continue;
                if (pass == 0) {
                    o->next[a] = -1;
                    continue;
                }
                if (o->next[a] >= 0) return 0;
                o->next[a] = corner_of(o, f, k + 1), *start = a, sides++;
            }
    return sides < 3 || sides > (open ? MOST_OPEN_LOOP : MOST_LOOP) ? 0 : sides;
}

// False: no memory.
static bool note(topology *o, int32_t node)
{
    kdop_cull *c = o->t->cull;
    c->of[node] = (contour){c->list_count, 0, 0, false};
    int32_t own, start = -1;
    bool open = false;
    if (o->t->nodes[node].end - o->t->nodes[node].begin > MOST_FACES || !gather(o, node, &own, &open)) return true;
    const int32_t sides = link_border(o, node, own, open, &start), ring = o->face_count - own;
    if (sides == 0) return true;
    if (!TL_GROW(&o->t->alloc, c->list, c->list_cap, (int64_t)c->list_count + sides + ring)) return false;
    int32_t n = 0;
    for (int32_t v = start; n < sides; v = o->next[v]) {
        c->list[c->list_count + n++] = v;
        if (o->next[v] == start) break;
    }
    if (n < sides) return true;  // more than one loop
    if (ring > 0) memcpy(c->list + c->list_count + n, o->faces + own, (size_t)ring * sizeof *o->faces);
    c->of[node].loop = n, c->of[node].ring = ring, c->of[node].open = open;
    c->list_count += n + ring;
    return true;
}

static bool note_all(topology *o)
{
    const tl_surface *s = &o->t->surface;
    memset(o->first, 0, (size_t)(s->node_count + 2) * sizeof *o->first);
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++) o->first[s->face[f][k] + 2]++;
    for (int32_t v = 0; v < s->node_count; v++) o->first[v + 2] += o->first[v + 1];
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++) o->around[o->first[s->face[f][k] + 1]++] = f;
    for (int32_t f = 0; f < s->face_count; f++) o->face_mark[f] = -1;
    for (int32_t v = 0; v < s->node_count; v++) o->node_mark[v] = -1;
    find_twins(o);
    for (int32_t n = 0; n < o->t->node_count; n++)
        if (!note(o, n)) return false;
    return true;
}

tl_status kdop_cull_create(tl_kdop *t, tl_error *err)
{
    const tl_allocator *alloc = &t->alloc;
    const int32_t faces = t->surface.face_count, nodes = t->surface.node_count;
    kdop_cull *c = t->cull = TL_CALLOC(alloc, kdop_cull, 1);
    if (!c) return tl_fail_memory(err, "a k-DOP hierarchy");
    c->of = TL_CALLOC(alloc, contour, t->node_count), c->cones = TL_CALLOC(alloc, cone, t->node_count);
    c->altitude = TL_CALLOC(alloc, tl_vec3, faces), c->smooth = TL_CALLOC(alloc, uint8_t, t->node_count);
    topology o = {.t = t};
    o.first = TL_ALLOC(alloc, int32_t, nodes + 2), o.around = TL_ALLOC(alloc, int32_t, 3 * (int64_t)faces);
    o.twin = tl_alloc_bytes(alloc, (size_t)faces, sizeof *o.twin), o.border = TL_CALLOC(alloc, uint8_t, nodes);
    o.face_mark = TL_ALLOC(alloc, int32_t, faces), o.node_mark = TL_ALLOC(alloc, int32_t, nodes);
    o.next = TL_ALLOC(alloc, int32_t, nodes), o.faces = TL_ALLOC(alloc, int32_t, faces);
    const bool good = c->of && c->cones && c->altitude && c->smooth && o.first && o.around && o.twin && o.border &&
                      o.face_mark && o.node_mark && o.next && o.faces && note_all(&o);
    TL_FREE(alloc, o.first, nodes + 2);
    TL_FREE(alloc, o.around, 3 * (int64_t)faces);
    TL_FREE(alloc, o.twin, faces);
    TL_FREE(alloc, o.border, nodes);
    TL_FREE(alloc, o.face_mark, faces);
    TL_FREE(alloc, o.node_mark, nodes);
    TL_FREE(alloc, o.next, nodes);
    TL_FREE(alloc, o.faces, faces);
    return good ? TL_OK : tl_fail_memory(err, "a k-DOP hierarchy");
}

// --- at a query ---

static double angle_between(tl_vec3 a, tl_vec3 b) { return tl_acos(fmax(-1, fmin(1, tl_dot3(a, b)))); }

// Provot 1997: the axis between both, the angle to enclose both.
static cone merged(cone a, cone b)
{
    if (a.half < 0) return b;
    if (b.half < 0) return a;
    const tl_vec3 sum = tl_add3(a.axis, b.axis);
    const double gamma = angle_between(a.axis, b.axis);
    if (!(tl_norm3(sum) > 1e-6)) return (cone){a.axis, 2 * RIGHT_ANGLE};
    return (cone){tl_unit3_or(sum, a.axis), fmin(2 * RIGHT_ANGLE, 0.5 * gamma + fmax(a.half, b.half))};
}

static void fit_cones(tl_kdop *t, double *greatest)
{
    kdop_cull *c = t->cull;
    *greatest = 0;
    for (int32_t f = 0; f < t->surface.face_count; f++) {
        const int32_t *v = t->surface.face[f];
        const tl_vec3 p = t->x0[v[0]], ab = tl_sub3(t->x0[v[1]], p), ac = tl_sub3(t->x0[v[2]], p), bc = tl_sub3(ac, ab);
        const double longest = sqrt(fmax(tl_dot3(ab, ab), fmax(tl_dot3(ac, ac), tl_dot3(bc, bc))));
        c->altitude[f] = longest > 0 ? tl_mul3(1 / longest, tl_cross3(ab, ac)) : (tl_vec3){0, 0, 0};
        *greatest = fmax(*greatest, fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))));
    }
    for (int32_t i = t->node_count - 1; i >= 0; i--) {
        const kdop_node *v = &t->nodes[i];
        cone sum = {{0, 1, 0}, -1};
        for (int32_t j = v->child; j < v->child + v->child_count; j++) sum = merged(sum, c->cones[j]);
        for (int32_t j = v->begin; j < v->end && v->child_count == 0; j++) {
            const tl_vec3 n = c->altitude[t->order[j]];
            const cone one = {tl_unit3_or(n, (tl_vec3){0, 1, 0}), tl_norm3(n) > 0 ? 0 : 2 * RIGHT_ANGLE};
            sum = merged(sum, one);
        }
        c->cones[i] = sum;
    }
}

// Seen from the mean of its corners, does the polygon go round once, always forward? Then it is simple.
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

// All of one on one side of the other's line for certain.
static bool apart(tl_vec2 a, tl_vec2 b, tl_vec2 c, tl_vec2 d, double allow)
{
    const double ab = allow * tl_norm2(tl_sub2(b, a)), cd = allow * tl_norm2(tl_sub2(d, c));
    const double s = side_of(a, b, c), t = side_of(a, b, d), u = side_of(c, d, a), v = side_of(c, d, b);
    return (s > ab && t > ab) || (s < -ab && t < -ab) || (u > cd && v > cd) || (u < -cd && v < -cd) ||
           fmin(a.x, b.x) > fmax(c.x, d.x) + allow || fmin(c.x, d.x) > fmax(a.x, b.x) + allow ||
           fmin(a.y, b.y) > fmax(c.y, d.y) + allow || fmin(c.y, d.y) > fmax(a.y, b.y) + allow;
}

static bool is_simple(const tl_vec2 *p, int32_t n, double allow)
{
    for (int32_t i = 0; i < n; i++) {
        const tl_vec2 a = p[i], b = p[(i + 1) % n], c = p[(i + 2) % n];
        const double turn = side_of(a, b, c), tiny = allow * (tl_norm2(tl_sub2(b, a)) + tl_norm2(tl_sub2(c, b)));
        if (!(fabs(turn) > tiny || tl_dot2(tl_sub2(b, a), tl_sub2(c, b)) > tiny)) return false;
        for (int32_t j = i + 2; j < n - (i == 0); j++)
            if (!apart(a, b, p[j], p[(j + 1) % n], allow)) return false;
    }
    return true;
}

// Is every corner further than `reach` from all sides that do not meet it?
static bool is_wide(const tl_vec2 *p, int32_t n, double reach)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = (i + 1) % n; (j + 1) % n != i; j = (j + 1) % n) {
            const tl_vec2 a = p[j], e = tl_sub2(p[(j + 1) % n], a), q = tl_sub2(p[i], a);
            const double ee = tl_dot2(e, e), s = ee > 0 ? fmax(0, fmin(1, tl_dot2(q, e) / ee)) : 0;
            if (!(tl_norm2(tl_sub2(q, tl_mul2(s, e))) > reach)) return false;
        }
    return true;
}

static bool cannot_meet(const tl_kdop *t, int32_t node, double reach, double allow, tl_vec2 *p)
{
    const kdop_cull *c = t->cull;
    const contour *o = &c->of[node];
    if (o->loop == 0 || !(c->cones[node].half < RIGHT_ANGLE)) return false;
    const tl_vec3 d = c->cones[node].axis;
    const int32_t *loop = c->list + o->first, *ring = loop + o->loop;
    for (int32_t i = 0; i < o->ring; i++)
        if (!(tl_dot3(c->altitude[ring[i]], d) > reach + allow)) return false;
    for (int32_t i = t->nodes[node].begin; i < t->nodes[node].end; i++)
        if (!(tl_dot3(c->altitude[t->order[i]], d) > reach + allow)) return false;
    const tl_vec3 axis = fabs(d.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 1, 0};
    const tl_vec3 e = tl_unit3_or(tl_cross3(d, axis), axis), g = tl_cross3(d, e);
    for (int32_t i = 0; i < o->loop; i++) {
        const tl_vec3 x = tl_sub3(t->x0[loop[i]], t->x0[loop[0]]);
        p[i] = (tl_vec2){tl_dot3(x, e), tl_dot3(x, g)};
    }
    return (is_star(p, o->loop, allow) || is_simple(p, o->loop, allow)) &&
           (!o->open || is_wide(p, o->loop, reach + allow));
}

void kdop_cull_fit(tl_kdop *t, double reach, tl_arena *arena)
{
    kdop_cull *c = t->cull;
    memset(c->smooth, 0, (size_t)t->node_count);
    const tl_arena_mark mark = tl_arena_save(arena);
    tl_vec2 *p = TL_SCRATCH(arena, tl_vec2, MOST_LOOP);
    if (!p) return;  // nothing is culled, which is as right
    double greatest;
    fit_cones(t, &greatest);
    for (int32_t i = 0; i < t->node_count; i++) {
        if (!c->smooth[i]) c->smooth[i] = cannot_meet(t, i, reach, ALLOWANCE * greatest, p);
        for (int32_t j = t->nodes[i].child; c->smooth[i] && j < t->nodes[i].child + t->nodes[i].child_count; j++)
            c->smooth[j] = 1;
    }
    tl_arena_release(arena, mark);
}
