// collide/contact_pinch.c: cloth between bodies that leave it no room.
//
// Bodies move as told, and real ones pass through themselves: an arm that sinks into a side leaves no place for the cloth
// between. There the promise cannot hold. When a body cannot go on for several iterations because of the same pairs
// (contact_limit.c), in a step that has been cut already, and their cloth is seen to have no room (between surfaces that face each
// other, held by handles, or pressed to next to nothing), the nodes of cloth in them are pinched: their contact with bodies is left
// out, they are drawn along with the nearest point of a body and out of it at a limited speed, and count separately. A node is free
// again when it is outside, at a distance, and nothing around it crosses a body. As long as something does, as where an edge of cloth spans an edge
// of a body, its nodes go on outwards.

#include <math.h>

#include "base/fail.h"
#include "collide/contact_impl.h"
#include "collide/distance.h"
#include "collide/intersect.h"

#define HOLD 100.0        // strength of the pull, in masses over dt^2: with 10, cloth that hung over a corner held its nodes back
#define OUT_SPEED 0.3     // towards the outside [m/s]
#define FREE_DISTANCE 0.15 // of the largest thickness, to be free
#define FACING -0.3        // product of normals of surfaces that close on each other
#define LAYERS 8.0         // thicknesses between them that cloth may fill
#define HELD 0.5           // part of a place that handles hold, to be held
#define CRUSHED 0.02       // of the thickness: nothing but a lack of room makes for such pressure, some 10 MPa
#define GOAL_DISTANCE 3.0  // of it, where they are drawn to: edges and faces around a node must clear a curved body too

/// Where cloth touches a body, and which way it is pushed.
typedef struct touch { tl_vec3 at, normal; } touch;

static touch touch_of(const tl_contacts *c, const pair *p, const nearness *near)
{
    if (p->kind == PAIR_PLANE) return (touch){c->at[p->node[0]], near->normal};
    const bool first = p->node[0] < c->node_count;
    touch t = {{0, 0, 0}, first ? near->normal : tl_mul3(-1, near->normal)};
    for (int k = 0; k < 4; k++)
        if (p->node[k] < c->node_count) t.at = tl_madd3(t.at, fabs(near->weight[k]), c->at[p->node[k]]);
    return t;
}

// How far apart nodes of the cloth of a pair are, at most.
static double extent_of(const tl_contacts *c, const pair *p)
{
    double most = 0;
    for (int k = 0; k < pair_nodes(p); k++)
        for (int m = 0; m < k; m++)
            if (p->node[k] < c->node_count && p->node[m] < c->node_count) most = fmax(most, tl_norm3(tl_sub3(c->at[p->node[k]], c->at[p->node[m]])));
    return most;
}

// What handles hold cannot give way either.
static bool is_held(const tl_contacts *c, const pair *p, const nearness *near)
{
    double held = 0;
    for (int k = 0; k < pair_nodes(p); k++)
        if (p->node[k] < c->node_count && c->step.fixed[p->node[k]]) held += fabs(near->weight[k]);
    return held > HELD;
}

bool contact_has_no_room(const tl_contacts *c, int32_t index)
{
    const pair *p = &c->pairs[index];
    const nearness *near = &c->near[index];
    if (near->distance < CRUSHED * p->thickness || is_held(c, p, near)) return true;
    const touch one = touch_of(c, p, near);
    const double far = LAYERS * c->reach, aside = fmax(far, extent_of(c, p));
    for (int32_t i = 0; i < c->pair_count; i++) {
        const pair *q = &c->pairs[i];
        if (q->body == TL_CLOTH || !(c->near[i].distance < q->thickness)) continue;
        const touch other = touch_of(c, q, &c->near[i]);
        if (!(tl_dot3(one.normal, other.normal) < FACING)) continue;
        const tl_vec3 between = tl_sub3(other.at, one.at);
        const double ahead = tl_dot3(between, one.normal);
        if (ahead > -c->reach && ahead < far && tl_norm3(tl_madd3(between, -ahead, one.normal)) < aside) return true;
    }
    return false;
}

void contact_pinch(tl_contacts *c, const pair *p)
{
    for (int k = 0; k < pair_nodes(p); k++) {
        const int32_t i = p->node[k];
        if (i >= c->node_count || c->pinched[i]) continue;
        c->pinched[i] = 1;
        c->pinched_count++;
        c->goal[i] = c->at[i];
    }
    c->searched_done = -1, c->complete = false;  // lists hold its pairs
}

/// The nearest point of a body to a place: on which face, with which weights (planes have neither).
typedef struct spot {
    int32_t body, face;
    double weight[3], distance;
    double outside;  ///< distance along the normal, negative behind [m]
    tl_vec3 normal;
} spot;

static double box_distance2(tl_vec3 p, tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    const double low[3] = {fmin(a.x, fmin(b.x, c.x)), fmin(a.y, fmin(b.y, c.y)), fmin(a.z, fmin(b.z, c.z))};
    const double high[3] = {fmax(a.x, fmax(b.x, c.x)), fmax(a.y, fmax(b.y, c.y)), fmax(a.z, fmax(b.z, c.z))};
    const double q[3] = {p.x, p.y, p.z};
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double d = fmax(0, fmax(low[k] - q[k], q[k] - high[k]));
        sum += d * d;
    }
    return sum;
}

static spot nearest_of_faces(const tl_contacts *c, int32_t b, tl_vec3 p, const tl_vec3 *body_pos)
{
    spot best = {.body = -1, .distance = (double)INFINITY};
    const tl_surface *s = &c->bodies[b].surface;
    const tl_vec3 *x = body_pos + c->body_start[b];
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec3 q[4] = {p, x[s->face[f][0]], x[s->face[f][1]], x[s->face[f][2]]};
        if (box_distance2(p, q[1], q[2], q[3]) >= best.distance * best.distance) continue;
        const tl_nearest near = tl_nearest_vertex_face(q);
        if (!(near.distance < best.distance)) continue;
        best.distance = near.distance, best.body = b, best.face = f;
        tl_vec3 gap = {0, 0, 0};
        for (int k = 0; k < 3; k++) best.weight[k] = -near.weight[1 + k], gap = tl_madd3(gap, best.weight[k], tl_sub3(p, q[1 + k]));
        best.normal = tl_unit3_or(tl_cross3(tl_sub3(q[2], q[1]), tl_sub3(q[3], q[1])), (tl_vec3){0, 1, 0});
        best.outside = tl_dot3(gap, best.normal);
    }
    return best;
}

/// Of a plane or a mesh, as it is at the start of the step; body -1 if there is nothing.
static spot nearest_spot(const tl_contacts *c, int32_t b, tl_vec3 p)
{
    if (!c->bodies[b].plane) return nearest_of_faces(c, b, p, c->step.body_begin);
    spot s = {.body = b, .face = -1};
    tl_vec3 point;
    contact_plane(c, b, 0, &point, &s.normal);
    s.outside = tl_dot3(s.normal, tl_sub3(p, point));
    s.distance = fabs(s.outside);
    return s;
}

/// How often a body surrounds a place: the solid angles of its faces over 4 pi (Van Oosterom & Strackee 1983). About 1 inside,
/// 2 where it overlaps itself, 0 outside.
static double winding(const tl_contacts *c, int32_t b, tl_vec3 p, const tl_vec3 *body_pos)
{
    const tl_surface *s = &c->bodies[b].surface;
    const tl_vec3 *x = body_pos + c->body_start[b];
    double sum = 0;
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec3 u = tl_sub3(x[s->face[f][0]], p), v = tl_sub3(x[s->face[f][1]], p), w = tl_sub3(x[s->face[f][2]], p);
        const double lu = tl_norm3(u), lv = tl_norm3(v), lw = tl_norm3(w);
        const double below = lu * lv * lw + tl_dot3(u, v) * lw + tl_dot3(v, w) * lu + tl_dot3(w, u) * lv;
        sum += 2 * atan2(tl_dot3(u, tl_cross3(v, w)), below);
    }
    return sum / (4 * 3.14159265358979323846);
}

/// How the body moves there in this step. Of a plane that slides along itself nothing counts but its advance.
static tl_vec3 spot_motion(const tl_contacts *c, const spot *s, tl_vec3 p)
{
    tl_vec3 sum = {0, 0, 0};
    if (c->bodies[s->body].plane) {
        tl_vec3 point, normal;
        contact_plane(c, s->body, 1, &point, &normal);
        return tl_mul3(s->outside - tl_dot3(normal, tl_sub3(p, point)), s->normal);
    }
    const int32_t *face = c->bodies[s->body].surface.face[s->face], first = c->body_start[s->body];
    for (int k = 0; k < 3; k++)
        sum = tl_madd3(sum, s->weight[k], tl_sub3(c->step.body_end[first + face[k]], c->step.body_begin[first + face[k]]));
    return sum;
}

/// Sums over the bodies that are too near to a node.
typedef struct squeeze {
    int count;
    double lack, lack_advance;             ///< of distance; of distance, times how far the body advances towards the node
    tl_vec3 out, motion, advance_motion;   ///< normals by lack; motions by lack, and by both
    double least_advance;
} squeeze;

static void add_to_squeeze(squeeze *q, const spot *s, double lack, tl_vec3 motion)
{
    const double advance = tl_dot3(motion, s->normal);
    q->least_advance = q->count > 0 ? fmin(q->least_advance, advance) : advance;
    q->count++;
    q->lack += lack, q->lack_advance += lack * advance;
    q->out = tl_madd3(q->out, lack, s->normal);
    q->motion = tl_madd3(q->motion, lack, motion), q->advance_motion = tl_madd3(q->advance_motion, lack * advance, motion);
}

// The mean of the motions by lack of distance and by how much more a body advances than the one that does so least: of two that
// part, the node does not follow the one that leaves.
static tl_vec3 squeeze_motion(const squeeze *q, double most)
{
    const double level = 0.1 * most - q->least_advance;
    return tl_mul3(1 / (q->lack_advance + level * q->lack), tl_madd3(q->advance_motion, level, q->motion));
}

// Where a pinched node should be at the end of the step: along with the bodies that are too near or that it is in, and out of them.
// Between two that overlap that is the middle, so the node rests; if all are far enough, it goes along with the nearest. Once
// outside, it goes on in the direction `clear`, if any. Returns how far outside of all it is.
static double set_goal(tl_contacts *c, int32_t i, tl_vec3 x, tl_vec3 clear)
{
    squeeze q = {.count = 0};
    tl_vec3 along = {0, 0, 0}, out = {0, 0, 0};
    double depth = (double)INFINITY;
    for (int32_t b = 0; b < c->body_count; b++) {
        const spot s = nearest_spot(c, b, x);
        if (s.body < 0) continue;
        const tl_vec3 motion = spot_motion(c, &s, x);
        if (s.outside < depth) depth = s.outside, along = motion;
        const double lack = GOAL_DISTANCE * c->reach - s.outside;
        if (lack > 0) add_to_squeeze(&q, &s, lack, motion);
    }
    const double most = OUT_SPEED * c->step.dt;
    if (q.count > 0) along = squeeze_motion(&q, most), out = tl_mul3(1.0 / q.count, q.out);
    if (depth > 0) out = tl_madd3(out, most, tl_unit3_or(clear, (tl_vec3){0, 0, 0}));
    const double length = tl_norm3(out);
    c->goal[i] = tl_madd3(tl_add3(x, along), length > most ? most / length : 1, out);
    return depth;
}

/// What is found about pinched nodes at the start of a step.
typedef struct finding {
    tl_contacts *c;
    uint8_t *stay;     ///< [node_count] too near, or something around it crosses a body
    tl_vec3 *clear;    ///< [node_count] direction in which what crosses there comes free
} finding;

static void stay(const finding *f, const int32_t *nodes, int count)
{
    for (int k = 0; k < count; k++) f->stay[nodes[k]] = 1;
}

static tl_vec3 face_normal(const tl_vec3 *x, const int32_t *f)
{
    return tl_unit3_or(tl_cross3(tl_sub3(x[f[1]], x[f[0]]), tl_sub3(x[f[2]], x[f[0]])), (tl_vec3){0, 0, 0});
}

/// Sum of the normals of the faces around an edge of a body: away from both.
static tl_vec3 edge_normal(const tl_surface *s, const tl_vec3 *x, const int32_t *e)
{
    tl_vec3 sum = {0, 0, 0};
    for (int32_t f = 0; f < s->face_count; f++) {
        int shared = 0;
        for (int k = 0; k < 3; k++) shared += s->face[f][k] == e[0] || s->face[f][k] == e[1];
        if (shared == 2) sum = tl_add3(sum, face_normal(x, s->face[f]));
    }
    return sum;
}

// All nodes of what crosses move alike, which stretches nothing.
static void stay_crossing(const finding *f, const int32_t *nodes, int count, tl_vec3 out)
{
    for (int k = 0; k < count; k++) f->clear[nodes[k]] = tl_add3(f->clear[nodes[k]], out);
    stay(f, nodes, count);
}

static bool touches_pinched(const tl_contacts *c, const int32_t *nodes, int count)
{
    for (int k = 0; k < count; k++)
        if (c->pinched[nodes[k]]) return true;
    return false;
}

// An edge is in front of a plane if both of its ends are.
static void look_at_plane(const finding *found, int32_t b)
{
    const tl_contacts *c = found->c;
    tl_vec3 point, normal;
    contact_plane(c, b, 0, &point, &normal);
    for (int32_t i = 0; i < c->node_count; i++)
        if (c->pinched[i] && tl_dot3(normal, tl_sub3(c->at[i], point)) < FREE_DISTANCE * c->reach) stay(found, &i, 1);
}

static void look_at_body(const finding *out, int32_t b)
{
    const tl_contacts *c = out->c;
    const tl_pairs *found = &c->found_body[b];
    const tl_surface *own = &c->cloth, *other = &c->bodies[b].surface;
    const tl_vec3 *x = c->at, *y = c->at + c->node_count + c->body_start[b];
    for (int32_t i = 0; i < found->ef_count; i++) {
        const int32_t *e = own->edge[found->ef[i].a], *f = other->face[found->ef[i].b];
        if (touches_pinched(c, e, 2) && tl_segment_meets_triangle(&x[e[0]], &x[e[1]], &y[f[0]], &y[f[1]], &y[f[2]]))
            stay_crossing(out, e, 2, face_normal(y, f));
    }
    for (int32_t i = 0; i < found->fe_count; i++) {
        const int32_t *e = other->edge[found->fe[i].a], *f = own->face[found->fe[i].b];
        if (touches_pinched(c, f, 3) && tl_segment_meets_triangle(&y[e[0]], &y[e[1]], &x[f[0]], &x[f[1]], &x[f[2]]))
            stay_crossing(out, f, 3, edge_normal(other, y, e));
    }
    const double near = FREE_DISTANCE * c->reach;
    for (int32_t i = 0; i < found->vf_count; i++) {
        const int32_t v = found->vf[i].a, *f = other->face[found->vf[i].b];
        const tl_vec3 q[4] = {x[v], y[f[0]], y[f[1]], y[f[2]]};
        if (c->pinched[v] && tl_nearest_vertex_face(q).distance < near) stay(out, &v, 1);
    }
    for (int32_t i = 0; i < found->fv_count; i++) {
        const int32_t *f = own->face[found->fv[i].b];
        const tl_vec3 q[4] = {y[found->fv[i].a], x[f[0]], x[f[1]], x[f[2]]};
        if (touches_pinched(c, f, 3) && tl_nearest_vertex_face(q).distance < near) stay(out, f, 3);
    }
    for (int32_t i = 0; i < found->ee_count; i++) {
        const int32_t *e = own->edge[found->ee[i].a], *g = other->edge[found->ee[i].b];
        const tl_vec3 q[4] = {x[e[0]], x[e[1]], y[g[0]], y[g[1]]};
        if (touches_pinched(c, e, 2) && tl_nearest_edge_edge(q).distance < near) stay(out, e, 2);
    }
}

static bool is_inside(const tl_contacts *c, tl_vec3 p)
{
    for (int32_t b = 0; b < c->body_count; b++)
        if (!c->bodies[b].plane && winding(c, b, p, c->step.body_begin) > 0.5) return true;
    return false;
}

tl_status contact_begin_pinched(tl_contacts *c, const tl_vec3 *x, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    if (c->pinched_count == 0) return TL_OK;
    const int32_t n = c->node_count;
    const tl_arena_mark mark = tl_arena_save(arena);
    const finding f = {c, TL_SCRATCH(arena, uint8_t, n), TL_SCRATCH(arena, tl_vec3, n)};
    if (!f.clear || !f.stay) return tl_fail_memory(err, "the contacts");
    for (int32_t i = 0; i < n; i++) f.clear[i] = (tl_vec3){0, 0, 0}, f.stay[i] = 0;
    c->allowed = 0;
    const double done = c->done;
    c->done = 0;
    contact_place(c, x, 0);
    c->done = done;
    const double margin = 0.5 * c->reach;
    tl_bvh_refit(c->tree, c->at, NULL, margin, 0, workers);
    for (int32_t b = 0; b < c->body_count; b++) {
        if (c->bodies[b].plane) {
            look_at_plane(&f, b);
            continue;
        }
        tl_bvh_refit(c->body_tree[b], c->at + n + c->body_start[b], NULL, margin, 0, workers);
        c->body_fitted[b] = 0;
        const int what = TL_PAIR_VF | TL_PAIR_EE | TL_PAIR_EF;
        TL_TRY(tl_bvh_between(c->tree, c->body_tree[b], what, arena, workers, &c->found_body[b], err));
        look_at_body(&f, b);
    }
    for (int32_t i = 0; i < n; i++) {
        if (!c->pinched[i]) continue;
        const bool outside = set_goal(c, i, x[i], f.clear[i]) > 0;
        c->pinched[i] = !outside || f.stay[i] || is_inside(c, x[i]);  // the last is the slowest, and has the last word
    }
    tl_contacts_count_pinched(c);
    tl_arena_release(arena, mark);
    return TL_OK;
}

/// Pull towards the goals: energy 1/2 HOLD m gamma^2 |x - goal|^2.
static double pull(const tl_contacts *c, int32_t i) { return HOLD * c->step.mass[i] * c->step.gamma * c->step.gamma; }

double contact_pinched_energy(const tl_contacts *c, const tl_vec3 *x)
{
    double sum = 0;
    for (int32_t i = 0; i < c->node_count && c->pinched_count > 0; i++) {
        if (!c->pinched[i] || c->step.fixed[i]) continue;
        const tl_vec3 d = tl_sub3(x[i], c->goal[i]);
        sum += 0.5 * pull(c, i) * tl_dot3(d, d);
    }
    return sum;
}

void contact_pinched_assemble(const tl_contacts *c, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient)
{
    for (int32_t i = 0; i < c->node_count && c->pinched_count > 0; i++) {
        if (!c->pinched[i] || c->step.fixed[i]) continue;
        gradient[i] = tl_madd3(gradient[i], pull(c, i), tl_sub3(x[i], c->goal[i]));
        if (!matrix) continue;
        double *d = matrix->diagonal ? matrix->diagonal[i] : matrix->value[matrix->row_start[i]];
        for (int k = 0; k < 9; k += 4) d[k] += pull(c, i);
    }
}

uint8_t *tl_contacts_pinched(tl_contacts *c) { return c->pinched; }

void tl_contacts_count_pinched(tl_contacts *c)
{
    c->searched_done = -1, c->complete = false;  // lists lack the pairs of nodes that are free now
    c->pinched_count = 0;
    for (int32_t i = 0; i < c->node_count; i++) c->pinched_count += c->pinched[i] != 0;
}
