// respond/pinch/pinch.c: cloth that is caught between bodies.
//
// Bodies follow a prescribed motion, and animated ones pass through themselves: an arm that sinks into the side of the
// body leaves no space for the cloth in between. There the guarantee cannot hold. When a body cannot go on for several
// iterations because of the same pairs (path_clip.c), in a step that has been cut already, and their cloth is enclosed
// (between surfaces that face each other, held by handles, or, when steps cannot get shorter, pressed to a tiny part of
// its thickness), the cloth nodes of these pairs are pinched: their contact with bodies is left out, they follow the
// nearest point of a body and are pulled out of it at a limited speed, and they are counted separately. A node is
// released when it is outside, at a distance, and nothing around it crosses a body. As long as something does, for
// instance an edge of cloth across an edge of a body, its nodes keep moving outwards.

#include <math.h>

#include "base/fail.h"
#include "respond/contact_impl.h"
#include "detect/distance.h"
#include "detect/intersect.h"
#include "detect/nearest.h"
#include "math/elementary.h"

enum { NODES_PER_CHUNK = 64 };  // a constant: results must not depend on the worker count

void contact_pinch(tl_contacts *c, const pair *p)
{
    for (int k = 0; k < pair_nodes(p); k++) {
        const int32_t i = p->node[k];
        if (i >= c->node_count || c->pinch.is_pinched[i]) continue;
        c->pinch.is_pinched[i] = 1;
        c->pinch.count++;
        c->pinch.goal[i] = c->motion.pos[i];
    }
    contact_invalidate_lists(c);  // lists hold its pairs
}

/// The point of a body nearest to a position: its face and barycentric weights (planes have neither).
typedef struct body_point {
    int32_t body, face;
    double weight[3], distance;
    double outside;  ///< distance along the normal, negative behind [m]
    tl_vec3 normal;
} body_point;

static body_point point_on_face(const tl_contacts *c, int32_t b, int32_t f, tl_vec3 p)
{
    const int32_t *face = c->bodies[b].surface.face[f];
    const tl_vec3 *x = c->step.body_begin + c->bodies[b].start;
    const tl_vec3 q[4] = {p, x[face[0]], x[face[1]], x[face[2]]};
    const tl_nearest near = tl_nearest_vertex_face(q);
    body_point s = {.body = b, .face = f, .distance = near.distance};
    tl_vec3 gap = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        s.weight[k] = -near.weight[1 + k], gap = tl_madd3(gap, s.weight[k], tl_sub3(p, q[1 + k]));
    s.normal = tl_unit3_or(tl_cross3(tl_sub3(q[2], q[1]), tl_sub3(q[3], q[1])), (tl_vec3){0, 1, 0});
    s.outside = tl_dot3(gap, s.normal);
    return s;
}

/// Nearest point of a plane or mesh at the start of the step; body -1 if there is none.
static body_point nearest_point_of(const tl_contacts *c, int32_t b, tl_vec3 p)
{
    if (!c->bodies[b].plane) {
        const tl_nearest_spot near = tl_bvh_nearest(c->bodies[b].tree, p, (double)INFINITY, -1);
        return near.face < 0 ? (body_point){.body = -1} : point_on_face(c, b, near.face, p);
    }
    body_point s = {.body = b, .face = -1};
    tl_vec3 point;
    contact_plane(c, b, 0, &point, &s.normal);
    s.outside = tl_dot3(s.normal, tl_sub3(p, point));
    s.distance = fabs(s.outside);
    return s;
}

/// Winding number of a body around a position: the solid angles of its faces over 4 pi (Van Oosterom & Strackee 1983).
/// 1 inside, 2 where the body overlaps itself, 0 outside.
static double winding_number(const tl_contacts *c, int32_t b, tl_vec3 p, const tl_vec3 *body_pos)
{
    const tl_surface *s = &c->bodies[b].surface;
    const tl_vec3 *x = body_pos + c->bodies[b].start;
    double sum = 0;
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec3 u = tl_sub3(x[s->face[f][0]], p), v = tl_sub3(x[s->face[f][1]], p),
                      w = tl_sub3(x[s->face[f][2]], p);
        const double lu = tl_norm3(u), lv = tl_norm3(v), lw = tl_norm3(w);
        const double below = lu * lv * lw + tl_dot3(u, v) * lw + tl_dot3(v, w) * lu + tl_dot3(w, u) * lv;
        sum += 2 * tl_atan2(tl_dot3(u, tl_cross3(v, w)), below);
    }
    return sum / (4 * 3.14159265358979323846);
}

// The winding number is 0 outside the bounding box.
static bool is_in_box(const contact_box *box, tl_vec3 p)
{
    return p.x >= box->lo.x && p.y >= box->lo.y && p.z >= box->lo.z && p.x <= box->hi.x && p.y <= box->hi.y &&
           p.z <= box->hi.z;
}

static bool is_inside(const tl_contacts *c, tl_vec3 p)
{
    for (int32_t b = 0; b < c->body_count; b++)
        if (!c->bodies[b].plane && is_in_box(&c->bodies[b].box, p) && winding_number(c, b, p, c->step.body_begin) > 0.5)
            return true;
    return false;
}

// The opposite surface of a body that overlaps itself, such as arm and chest of one mesh: its nearest point within the
// distance that pinched nodes keep (twice that from the middle) whose normal is opposed to the first and that belongs
// to another part. Winding numbers tell parts apart: between the two sides of one thin part it is 1 although the
// position is behind both, in front of an edge it is 0 although it is behind one. Body -1 if there is none.
static body_point facing_point(const tl_contacts *c, const body_point *first, tl_vec3 p)
{
    enum { MOST = 512 };
    int32_t faces[MOST];
    const tl_surface *s = &c->bodies[first->body].surface;
    const double limit = 2 * c->policy.pinch.goal_distance * c->reach;
    const tl_vec3 half = {limit, limit, limit};
    const int32_t count = tl_bvh_around(c->bodies[first->body].tree, tl_sub3(p, half), tl_add3(p, half), faces, MOST);
    const bool all = count > MOST;
    body_point best = {.body = -1, .face = -1, .distance = limit};
    for (int32_t i = 0; i < (all ? s->face_count : count); i++) {
        const body_point t = point_on_face(c, first->body, all ? i : faces[i], p);
        if (tl_dot3(t.normal, first->normal) >= 0) continue;
        if (t.distance < best.distance || (t.distance == best.distance && t.face < best.face))
            best = t;  // whatever their order
    }
    const int behind = (first->outside < 0) + (best.outside < 0);
    if (best.body >= 0 && behind > 0 && fabs(winding_number(c, best.body, p, c->step.body_begin) - behind) > 0.5)
        best.body = -1;
    return best;
}

/// Motion of the body at that point in this step. For a plane only the motion along its normal counts.
static tl_vec3 point_motion(const tl_contacts *c, const body_point *s, tl_vec3 p)
{
    tl_vec3 sum = {0, 0, 0};
    if (c->bodies[s->body].plane) {
        tl_vec3 point, normal;
        contact_plane(c, s->body, 1, &point, &normal);
        return tl_mul3(s->outside - tl_dot3(normal, tl_sub3(p, point)), s->normal);
    }
    const int32_t *face = c->bodies[s->body].surface.face[s->face], first = c->bodies[s->body].start;
    for (int k = 0; k < 3; k++)
        sum = tl_madd3(sum, s->weight[k],
                       tl_sub3(c->step.body_end[first + face[k]], c->step.body_begin[first + face[k]]));
    return sum;
}

/// Sums over the bodies that are too near to a node.
typedef struct squeeze {
    int count;
    double lack, lack_advance;  ///< of distance; of distance, times how far the body advances towards the node
    tl_vec3 out, motion, advance_motion;  ///< normals by lack; motions by lack, and by both
    double least_advance;
} squeeze;

static void add_to_squeeze(squeeze *q, const body_point *s, double lack, tl_vec3 motion)
{
    const double advance = tl_dot3(motion, s->normal);
    q->least_advance = q->count > 0 ? fmin(q->least_advance, advance) : advance;
    q->count++;
    q->lack += lack, q->lack_advance += lack * advance;
    q->out = tl_madd3(q->out, lack, s->normal);
    q->motion = tl_madd3(q->motion, lack, motion),
    q->advance_motion = tl_madd3(q->advance_motion, lack * advance, motion);
}

// Mean of the motions, weighted by the missing distance and by how much more a body advances than the slowest: between
// two bodies that separate, the node does not follow the one that leaves.
static tl_vec3 squeeze_motion(const squeeze *q, double most)
{
    const double level = 0.1 * most - q->least_advance;
    return tl_mul3(1 / (q->lack_advance + level * q->lack), tl_madd3(q->advance_motion, level, q->motion));
}

// Goal of a pinched node at the end of the step: it follows the bodies that are too near or that contain it, and moves
// out of them. Between two that overlap this is the middle, so the node rests; if all are far enough, it follows the
// nearest. Once outside, it keeps moving in the direction `clear`, if any. Returns its distance outside of all bodies.
static double set_goal(tl_contacts *c, int32_t i, tl_vec3 x, tl_vec3 clear)
{
    squeeze q = {.count = 0};
    tl_vec3 along = {0, 0, 0}, out = {0, 0, 0};
    double depth = (double)INFINITY;
    const double wanted = c->policy.pinch.goal_distance * c->reach;
    for (int32_t b = 0; b < c->body_count; b++) {
        const body_point s = nearest_point_of(c, b, x);
        if (s.body < 0) continue;
        const tl_vec3 motion = point_motion(c, &s, x);
        if (s.outside < depth) depth = s.outside, along = motion;
        if (s.outside >= wanted) continue;
        const body_point t = c->bodies[b].plane ? (body_point){.body = -1} : facing_point(c, &s, x);
        const bool between = t.body >= 0 && t.outside < wanted, in_front = between && s.outside >= 0 && t.outside >= 0;
        // in front of both, as between two toes, cloth must come out instead of being held: not farther than the middle
        const double lack = (in_front ? 0.5 * (s.outside + t.outside) : wanted) - s.outside;
        add_to_squeeze(&q, &s, fmax(lack, 0.01 * wanted), motion);  // in the very middle, too, it goes along
        if (!between || in_front) continue;
        depth = fmin(depth, t.outside);
        add_to_squeeze(&q, &t, wanted - t.outside, point_motion(c, &t, x));
    }
    const double most = c->policy.pinch.out_speed * c->step.dt;
    if (q.count > 0) along = squeeze_motion(&q, most), out = tl_mul3(1.0 / q.count, q.out);
    if (depth > 0 && tl_dot3(clear, clear) > 0 && is_inside(c, x))
        depth = 0;  // before a part of a body, and in another
    if (depth > 0) out = tl_madd3(out, most * fmin(1, depth / c->reach), clear);
    const double length = tl_norm3(out);
    c->pinch.goal[i] = tl_madd3(tl_add3(x, along), length > most ? most / length : 1, out);
    return depth;
}

/// Results about pinched nodes at the start of a step.
typedef struct release_check {
    tl_contacts *c;
    uint8_t *stay;  ///< [node_count] too near, or something around it crosses a body
    tl_vec3
        *clear;  ///< [node_count] mean of the directions in which what crosses there comes free: short if they disagree
    int32_t *crossings;  ///< [node_count]
} release_check;

static void stay(const release_check *f, const int32_t *nodes, int count)
{
    for (int k = 0; k < count; k++) f->stay[nodes[k]] = 1;
}

static tl_vec3 face_normal(const tl_vec3 *x, const int32_t *f)
{
    return tl_unit3_or(tl_cross3(tl_sub3(x[f[1]], x[f[0]]), tl_sub3(x[f[2]], x[f[0]])), (tl_vec3){0, 0, 0});
}

/// Sum of the normals of the faces at an edge of a body; the tree finds the faces near its midpoint.
static tl_vec3 edge_normal(const tl_contacts *c, int32_t body, const tl_vec3 *x, const int32_t *e)
{
    enum { MOST = 64 };
    int32_t near[MOST];
    const tl_surface *s = &c->bodies[body].surface;
    const tl_vec3 middle = tl_mul3(0.5, tl_add3(x[e[0]], x[e[1]]));
    const int32_t count = tl_bvh_around(c->bodies[body].tree, middle, middle, near, MOST);
    tl_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < (count > MOST ? s->face_count : count); i++) {
        const int32_t f = count > MOST ? i : near[i];
        int shared = 0;
        for (int k = 0; k < 3; k++) shared += s->face[f][k] == e[0] || s->face[f][k] == e[1];
        if (shared == 2) sum = tl_add3(sum, face_normal(x, s->face[f]));
    }
    return sum;
}

// All nodes of a crossing pair move alike, which stretches nothing.
static void hold_crossing(const release_check *f, const int32_t *nodes, int count, tl_vec3 out)
{
    const tl_vec3 way = tl_unit3_or(out, (tl_vec3){0, 0, 0});
    for (int k = 0; k < count; k++) {
        const int32_t i = nodes[k], n = ++f->crossings[i];
        f->clear[i] = tl_madd3(f->clear[i], 1.0 / n, tl_sub3(way, f->clear[i]));
    }
    stay(f, nodes, count);
}

static bool touches_pinched(const tl_contacts *c, const int32_t *nodes, int count)
{
    for (int k = 0; k < count; k++)
        if (c->pinch.is_pinched[nodes[k]]) return true;
    return false;
}

// An edge is in front of a plane if both of its ends are.
static void check_plane(const release_check *found, int32_t b)
{
    const tl_contacts *c = found->c;
    tl_vec3 point, normal;
    contact_plane(c, b, 0, &point, &normal);
    for (int32_t i = 0; i < c->node_count; i++)
        if (c->pinch.is_pinched[i] &&
            tl_dot3(normal, tl_sub3(c->motion.pos[i], point)) < c->policy.pinch.free_distance * c->reach)
            stay(found, &i, 1);
}

static void check_body(const release_check *out, int32_t b)
{
    const tl_contacts *c = out->c;
    const tl_pairs *found = &c->bodies[b].found;
    const tl_surface *own = &c->cloth, *other = &c->bodies[b].surface;
    const tl_vec3 *x = c->motion.pos, *y = c->motion.pos + c->node_count + c->bodies[b].start;
    for (int32_t i = 0; i < found->ef_count; i++) {
        const int32_t *e = own->edge[found->ef[i].a], *f = other->face[found->ef[i].b];
        if (touches_pinched(c, e, 2) && tl_segment_meets_triangle(&x[e[0]], &x[e[1]], &y[f[0]], &y[f[1]], &y[f[2]]))
            hold_crossing(out, e, 2, face_normal(y, f));
    }
    for (int32_t i = 0; i < found->fe_count; i++) {
        const int32_t *e = other->edge[found->fe[i].a], *f = own->face[found->fe[i].b];
        if (touches_pinched(c, f, 3) && tl_segment_meets_triangle(&y[e[0]], &y[e[1]], &x[f[0]], &x[f[1]], &x[f[2]]))
            hold_crossing(out, f, 3, edge_normal(c, b, y, e));
    }
    const double near = c->policy.pinch.free_distance * c->reach;
    for (int32_t i = 0; i < found->vf_count; i++) {
        const int32_t v = found->vf[i].a, *f = other->face[found->vf[i].b];
        const tl_vec3 q[4] = {x[v], y[f[0]], y[f[1]], y[f[2]]};
        if (c->pinch.is_pinched[v] && tl_nearest_vertex_face(q).distance < near) stay(out, &v, 1);
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

static void judge_nodes(void *arg, int32_t begin, int32_t end)
{
    const release_check *f = arg;
    tl_contacts *c = f->c;
    for (int32_t i = begin; i < end; i++) {
        if (!c->pinch.is_pinched[i]) continue;
        const bool outside = set_goal(c, i, c->motion.pos[i], f->clear[i]) > 0;
        c->pinch.is_pinched[i] =
            !outside || f->stay[i] || is_inside(c, c->motion.pos[i]);  // the last is the slowest, and has the last word
    }
}

tl_status contact_begin_pinched(tl_contacts *c, const tl_vec3 *x, const tl_ctx *ctx, tl_error *err)
{
    if (c->pinch.count == 0) return TL_OK;
    const int32_t n = c->node_count;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const release_check f = {c, TL_SCRATCH(ctx->arena, uint8_t, n), TL_SCRATCH(ctx->arena, tl_vec3, n),
                             TL_SCRATCH(ctx->arena, int32_t, n)};
    if (!f.clear || !f.stay || !f.crossings) return tl_fail_memory(err, "the contacts");
    for (int32_t i = 0; i < n; i++) f.clear[i] = (tl_vec3){0, 0, 0}, f.stay[i] = 0, f.crossings[i] = 0;
    const double progress = c->motion.progress;
    contact_set_progress(c, 0);
    contact_start_at(c, x);
    contact_set_progress(c, progress);
    const double margin = 0.5 * c->reach;
    tl_bvh_refit(c->tree, c->motion.pos, NULL, margin, 0, ctx->workers);
    for (int32_t b = 0; b < c->body_count; b++) {
        if (c->bodies[b].plane) {
            check_plane(&f, b);
            continue;
        }
        tl_bvh_refit(c->bodies[b].tree, c->motion.pos + n + c->bodies[b].start, NULL, margin, 0, ctx->workers);
        c->bodies[b].fitted = 0;
        const int what = TL_PAIR_VF | TL_PAIR_EE | TL_PAIR_EF;
        TL_TRY(tl_bvh_between(c->tree, c->bodies[b].tree, what, ctx->arena, ctx->workers, &c->bodies[b].found, err));
        check_body(&f, b);
    }
    tl_parallel_for(ctx->workers, n, NODES_PER_CHUNK, judge_nodes, (void *)&f);
    tl_contacts_count_pinched(c);
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}

/// Pull towards the goals: energy 1/2 c->policy.pinch.pull m gamma^2 |x - goal|^2.
static double pull(const tl_contacts *c, int32_t i)
{
    return c->policy.pinch.pull * c->step.mass[i] * c->step.gamma * c->step.gamma;
}

double contact_pinched_energy(const tl_contacts *c, const tl_vec3 *x)
{
    double sum = 0;
    for (int32_t i = 0; i < c->node_count && c->pinch.count > 0; i++) {
        if (!c->pinch.is_pinched[i] || c->step.fixed[i]) continue;
        const tl_vec3 d = tl_sub3(x[i], c->pinch.goal[i]);
        sum += 0.5 * pull(c, i) * tl_dot3(d, d);
    }
    return sum;
}

void contact_pinched_assemble(const tl_contacts *c, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient)
{
    for (int32_t i = 0; i < c->node_count && c->pinch.count > 0; i++) {
        if (!c->pinch.is_pinched[i] || c->step.fixed[i]) continue;
        gradient[i] = tl_madd3(gradient[i], pull(c, i), tl_sub3(x[i], c->pinch.goal[i]));
        if (!matrix) continue;
        double *d = matrix->diagonal ? matrix->diagonal[i] : matrix->value[matrix->row_start[i]];
        for (int k = 0; k < 9; k += 4) d[k] += pull(c, i);
    }
}

tl_status contact_pinch_create(tl_contacts *c, tl_error *err)
{
    c->pinch.is_pinched = TL_CALLOC(&c->alloc, uint8_t, c->node_count);
    c->pinch.goal = TL_CALLOC(&c->alloc, tl_vec3, c->node_count);
    return c->pinch.is_pinched && c->pinch.goal ? TL_OK : tl_fail_memory(err, "the contacts");
}

void contact_pinch_free(tl_contacts *c)
{
    TL_FREE(&c->alloc, c->pinch.is_pinched, c->node_count);
    TL_FREE(&c->alloc, c->pinch.goal, c->node_count);
}

uint8_t *tl_contacts_pinched(tl_contacts *c) { return c->pinch.is_pinched; }

void tl_contacts_count_pinched(tl_contacts *c)
{
    contact_invalidate_lists(c);  // lists lack the pairs of nodes that are free now
    c->pinch.count = 0;
    for (int32_t i = 0; i < c->node_count; i++) c->pinch.count += c->pinch.is_pinched[i] != 0;
}
