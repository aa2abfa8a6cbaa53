// sim/ties.c: handles that tie cloth to the skin of a body, and elastic bands: springs in place of a hold.
//
// Both pull nodes towards targets that are known before the step, as the host's springs do, so the potential of a step
// stays exact. The target of a tie is fixed to a face of the body: weights of its corners and an offset in the frame of
// the face. The target of a band's node follows from where its neighbours will be if the band continues as a rigid
// body; the rest of its motion is taken from the previous step and damped, as in Jacobi's method. (Using the velocities
// of the nodes instead is unstable where the band is stiff and light.)

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/nearest.h"
#include "math/vec3.h"
#include "mesh/edges.h"
#include "sim/springs.h"

/// A point fixed to a body.
typedef struct spot {
    int32_t corner[3];
    double weight[3], offset[3];
} spot;

/// An edge of a band: indices into the handle's nodes, and its rest length [m].
typedef struct link {
    int32_t a, b;
    double rest;
} link;

struct sim_ties {
    tl_body_id body;
    double slack, elastic, tension;
    spot *spot;  ///< NULL: no tie
    link *link;  ///< NULL: no band
    int32_t spot_count, link_count, link_cap;
};

// ---- places on a body ---------------------------------------------------------------------------------------

// Axes: along an edge of the face, across it, and its normal.
static void frame_of(const tl_vec3 x[3], tl_vec3 axis[3])
{
    const tl_vec3 a = tl_sub3(x[1], x[0]), n = tl_cross3(a, tl_sub3(x[2], x[0]));
    axis[0] = tl_unit3_or(a, (tl_vec3){1, 0, 0});
    axis[2] = tl_unit3_or(n, (tl_vec3){0, 0, 1});
    axis[1] = tl_cross3(axis[2], axis[0]);
}

static tl_vec3 place_of(const spot *s, const tl_vec3 *body)
{
    tl_vec3 x[3], axis[3], out = {0, 0, 0};
    for (int k = 0; k < 3; k++) x[k] = body[s->corner[k]], out = tl_madd3(out, s->weight[k], x[k]);
    frame_of(x, axis);
    for (int k = 0; k < 3; k++) out = tl_madd3(out, s->offset[k], axis[k]);
    return out;
}

static spot spot_at(const sim_body *body, const tl_vec3 *pos, int32_t face, tl_vec3 offset, tl_vec3 p)
{
    spot s = {.corner = {body->face[face][0], body->face[face][1], body->face[face][2]}};
    tl_vec3 x[4] = {p}, axis[3];
    for (int k = 0; k < 3; k++) x[k + 1] = pos[s.corner[k]];
    const tl_nearest near = tl_nearest_vertex_face(x);
    for (int k = 0; k < 3; k++) s.weight[k] = fabs(near.weight[k + 1]);
    frame_of(x + 1, axis);
    for (int k = 0; k < 3; k++) s.offset[k] = tl_dot3(offset, axis[k]);
    return s;
}

static tl_status find_spots(tl_sim *sim, const sim_body *body, sim_handle *h, tl_error *err)
{
    const tl_allocator *alloc = &sim->alloc;
    tl_vec3 *pos = TL_ALLOC(alloc, tl_vec3, body->node_count);
    h->ties->spot = TL_ALLOC(alloc, spot, h->node_count);
    h->ties->spot_count = h->node_count;
    if (!pos || !h->ties->spot) {
        TL_FREE(alloc, pos, body->node_count);
        return tl_fail_memory(err, "ties");
    }
    sim_body_at(body, sim->time, pos);
    const tl_bvh_def def = tl_bvh_def_default();
    const tl_surface surface = {body->node_count, body->face_count, body->edge_count, (const int32_t(*)[3])body->face,
                                (const int32_t(*)[2])body->edge};
    tl_bvh *tree = NULL;
    const tl_status status = tl_bvh_create(alloc, &def, &surface, pos, &tree, err);
    if (status == TL_OK) tl_bvh_refit(tree, pos, NULL, 0, 0, sim->workers);
    for (int32_t k = 0, hint = -1; status == TL_OK && k < h->node_count; k++) {
        const tl_vec3 p = sim->cloths[h->cloth].mesh->pos[h->nodes[k]];
        const tl_nearest_spot near = tl_bvh_nearest(tree, p, (double)INFINITY, hint);
        hint = near.face;
        h->ties->spot[k] = spot_at(body, pos, near.face, near.offset, p);
    }
    tl_bvh_destroy(tree);
    TL_FREE(alloc, pos, body->node_count);
    return status;
}

// ---- bands --------------------------------------------------------------------------------------------------

// Edges between chosen nodes; where panels meet, the shorter side counts.
static tl_status find_links(tl_sim *sim, sim_handle *h, tl_error *err)
{
    struct sim_ties *t = h->ties;
    const tl_mesh *mesh = sim->cloths[h->cloth].mesh;
    const int32_t edges = mesh->slots[TL_EDGES].count, nodes = mesh->slots[TL_NODES].count;
    double *rest = TL_ALLOC(&sim->alloc, double, edges);
    int32_t *place = TL_ALLOC(&sim->alloc, int32_t, nodes);
    const bool allocated = rest && place;
    for (int32_t e = 0; allocated && e < edges; e++) rest[e] = (double)INFINITY;
    for (int32_t n = 0; allocated && n < nodes; n++) place[n] = TL_NONE;
    for (int32_t k = 0; allocated && k < h->node_count; k++) place[h->nodes[k]] = k;
    for (int32_t f = 0; allocated && f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        for (int k = 0; k < 3; k++) {
            const int32_t e = mesh->face_edge[f][k], *v = mesh->face_vert[f];
            rest[e] = fmin(rest[e], tl_norm2(tl_sub2(mesh->uv[v[(k + 1) % 3]], mesh->uv[v[(k + 2) % 3]])));
        }
    }
    for (int pass = 0; allocated && pass < 2; pass++) {
        if (pass == 1) {
            t->link_cap = t->link_count, t->link_count = 0;
            t->link = TL_ALLOC(&sim->alloc, link, t->link_cap);
            if (!t->link) break;
        }
        for (int32_t e = 0; e < edges; e++) {
            if (!tl_alive(mesh, TL_EDGES, e)) continue;
            const int32_t a = place[mesh->edge_node[e][0]], b = place[mesh->edge_node[e][1]];
            if (a == TL_NONE || b == TL_NONE || !(rest[e] < (double)INFINITY)) continue;
            if (pass == 1) t->link[t->link_count] = (link){a, b, t->elastic * rest[e]};
            t->link_count++;
        }
    }
    TL_FREE(&sim->alloc, rest, edges);
    TL_FREE(&sim->alloc, place, nodes);
    if (!allocated || !t->link) return tl_fail_memory(err, "bands");
    if (t->link_count == 0)
        return tl_fail(err, TL_BAD_INPUT, "handle: a band needs edges, no two of the nodes chosen share one");
    return TL_OK;
}

// ---- handles ------------------------------------------------------------------------------------------------

static tl_status check(const tl_sim *sim, const tl_handle_def *def, const sim_body *body, bool tied, tl_error *err)
{
    const sim_cloth *cloth = sim_find_cloth(sim, def->cloth);
    if (tied && !body) return tl_fail(err, TL_BAD_ARG, "handle: no such body to tie cloth to");
    if (tied && body->kind == TL_BODY_PLANE)
        return tl_fail(err, TL_BAD_INPUT, "handle: body '%s' is a plane; cloth is tied to bodies with a surface",
                       body->name);
    if (tied && def->elastic > 0)
        return tl_fail(err, TL_BAD_INPUT, "handle: either a body to tie to, or elastic; give two handles");
    if (!(def->slack >= 0 && isfinite(def->slack)))
        return tl_fail(err, TL_BAD_INPUT, "handle: slack %g m, must be >= 0", def->slack);
    if (!(def->elastic > 0) && !tied)
        return tl_fail(err, TL_BAD_INPUT, "handle: elastic %g, must be > 0", def->elastic);
    if (!(def->tension > 0 && isfinite(def->tension)) || !isfinite(def->elastic))
        return tl_fail(err, TL_BAD_INPUT, "handle: tension %g N, elastic %g, must be > 0", def->tension, def->elastic);
    if (def->keys || def->live || def->use_ellipse || def->fade > 0)
        return tl_fail(err, TL_BAD_INPUT, "handle: a tie or a band has no motion, ellipse or fade");
    if (sim_by_springs(sim)) {
        if (!tied) return tl_fail(err, TL_BAD_INPUT, "handle: bands go with dynamics implicit alone");
        if (def->slack > 0)
            return tl_fail(err, TL_BAD_INPUT, "handle: slack %g m: springs hold cloth on the skin exactly (give 0)",
                           def->slack);
        return TL_OK;
    }
    if (sim->def.dynamics != TL_DYNAMICS_IMPLICIT)
        return tl_fail(err, TL_BAD_INPUT, "handle: ties and bands go with dynamics implicit alone");
    if (cloth->remeshing.kind != TL_REMESHING_NONE)
        return tl_fail(err, TL_BAD_INPUT,
                       "handle: cloth '%s' with ties or bands needs a mesh that stays as it is "
                       "(remeshing.kind none)",
                       cloth->name);
    return TL_OK;
}

tl_status sim_make_ties(tl_sim *sim, const tl_handle_def *def, sim_handle *h, tl_error *err)
{
    const bool tied = def->body.gen != 0;
    h->ties = NULL;
    if (!tied && def->elastic == 0) return TL_OK;
    const sim_body *body = tied ? sim_find_body(sim, def->body) : NULL;
    TL_TRY(check(sim, def, body, tied, err));
    h->ties = TL_CALLOC(&sim->alloc, struct sim_ties, 1);
    if (!h->ties) return tl_fail_memory(err, "ties");
    h->ties->body = def->body, h->ties->slack = def->slack;
    h->ties->elastic = def->elastic, h->ties->tension = def->tension;
    return tied ? find_spots(sim, body, h, err) : find_links(sim, h, err);
}

void sim_free_ties(tl_sim *sim, sim_handle *h)
{
    if (!h->ties) return;
    TL_FREE(&sim->alloc, h->ties->spot, h->ties->spot_count);
    TL_FREE(&sim->alloc, h->ties->link, h->ties->link_cap);
    TL_FREE(&sim->alloc, h->ties, 1);
    h->ties = NULL;
}

void sim_hash_ties(const sim_handle *h, tl_hash *hash)
{
    const double numbers[4] = {h->ties->slack, h->ties->elastic, h->ties->tension, h->stiffness};
    tl_hash_add(hash, numbers, sizeof numbers);
    tl_hash_add(hash, &h->ties->body, sizeof h->ties->body);
}

bool sim_has_ties(const tl_sim *sim)
{
    for (int32_t i = 0; i < sim->handle_count; i++)
        if (sim->handles[i].ties) return true;
    return false;
}

tl_status sim_tie_places(tl_sim *sim, const sim_handle *h, double end, tl_vec3 *place, tl_vec3 *normal, bool *there,
                         tl_error *err)
{
    const sim_body *body = sim_find_body(sim, h->ties->body);
    *there = body && body->present;
    if (!*there) return TL_OK;
    tl_vec3 *pos = TL_SCRATCH(&sim->arena, tl_vec3, body->node_count);
    if (!pos) return tl_fail_memory(err, "ties");
    sim_body_at(body, end, pos);
    for (int32_t k = 0; k < h->node_count; k++) {
        const spot *s = &h->ties->spot[k];
        tl_vec3 x[3], axis[3];
        for (int i = 0; i < 3; i++) x[i] = pos[s->corner[i]];
        frame_of(x, axis);
        place[k] = place_of(s, pos), normal[k] = axis[2];
    }
    return TL_OK;
}

// ---- springs of a step --------------------------------------------------------------------------------------

/// Sum of springs: the mean target, weighted by stiffness.
typedef struct pulls {
    double *k;
    tl_vec3 *to;
} pulls;

static void pull(const pulls *p, int32_t n, double k, tl_vec3 to)
{
    const double before = p->k[n];
    p->to[n] = before > 0 ? tl_mul3(1 / (before + k), tl_madd3(tl_mul3(before, p->to[n]), k, to)) : to;
    p->k[n] = before + k;
}

static tl_status add_spots(tl_sim *sim, const sim_handle *h, double end, const pulls *p, tl_error *err)
{
    const sim_body *body = sim_find_body(sim, h->ties->body);
    if (!body) return TL_OK;  // it was taken away
    const int32_t *node_of = sim->elements->node_of + sim->elements->cloth_node_start[h->cloth];
    tl_vec3 *pos = TL_SCRATCH(&sim->arena, tl_vec3, body->node_count);
    if (!pos) return tl_fail_memory(err, "ties");
    sim_body_at(body, end, pos);
    for (int32_t k = 0; k < h->node_count; k++) {
        const int32_t n = node_of[h->nodes[k]];
        if (n == TL_NONE) continue;
        const tl_vec3 to = place_of(&h->ties->spot[k], pos), off = tl_sub3(sim->x[n], to);
        const double far = tl_norm3(off);
        if (far > h->ties->slack) pull(p, n, h->stiffness, tl_madd3(to, h->ties->slack / far, off));
    }
    return TL_OK;
}

/// Rigid motion of a band.
typedef struct rigid {
    tl_vec3 center, speed, spin;
} rigid;

// w from I w = sum r x v over the nodes, each counting alike; no turn where they lie on a line.
static rigid motion_of(const tl_sim *sim, const sim_handle *h, const int32_t *node_of)
{
    rigid m = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    double a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;  // I: a d e, d b f, e f c
    tl_vec3 l = {0, 0, 0};
    const double share = 1.0 / h->node_count;
    for (int32_t k = 0; k < h->node_count; k++) {
        const int32_t n = node_of[h->nodes[k]];
        if (n == TL_NONE) continue;
        m.center = tl_madd3(m.center, share, sim->x[n]), m.speed = tl_madd3(m.speed, share, sim->v[n]);
    }
    for (int32_t k = 0; k < h->node_count; k++) {
        const int32_t n = node_of[h->nodes[k]];
        if (n == TL_NONE) continue;
        const tl_vec3 r = tl_sub3(sim->x[n], m.center);
        a += r.y * r.y + r.z * r.z, b += r.x * r.x + r.z * r.z, c += r.x * r.x + r.y * r.y;
        d -= r.x * r.y, e -= r.x * r.z, f -= r.y * r.z;
        l = tl_add3(l, tl_cross3(r, tl_sub3(sim->v[n], m.speed)));
    }
    const double det = a * (b * c - f * f) - d * (d * c - e * f) + e * (d * f - b * e), size = (a + b + c) / 3;
    if (!(det > 1e-6 * size * size * size)) return m;
    const tl_vec3 row[3] = {{b * c - f * f, e * f - d * c, d * f - b * e},
                            {e * f - d * c, a * c - e * e, d * e - a * f},
                            {d * f - b * e, d * e - a * f, a * b - d * d}};  // the adjugate
    m.spin = tl_mul3(1 / det, (tl_vec3){tl_dot3(row[0], l), tl_dot3(row[1], l), tl_dot3(row[2], l)});
    return m;
}

static void add_links(const tl_sim *sim, const sim_handle *h, double dt, const pulls *p)
{
    const int32_t *node_of = sim->elements->node_of + sim->elements->cloth_node_start[h->cloth];
    const rigid m = motion_of(sim, h, node_of);
    for (int32_t i = 0; i < h->ties->link_count; i++) {
        const link *l = &h->ties->link[i];
        const int32_t n[2] = {node_of[h->nodes[l->a]], node_of[h->nodes[l->b]]};
        if (n[0] == TL_NONE || n[1] == TL_NONE) continue;
        tl_vec3 x[2];
        for (int k = 0; k < 2; k++) {
            const tl_vec3 turn = tl_cross3(m.spin, tl_sub3(sim->x[n[k]], m.center));
            x[k] = tl_madd3(sim->x[n[k]], dt, tl_add3(m.speed, turn));
        }
        const tl_vec3 d = tl_sub3(x[1], x[0]);
        const double length = tl_norm3(d), k = h->ties->tension / l->rest;
        if (!(length > l->rest)) continue;  // a ribbon does not push
        pull(p, n[0], k, tl_madd3(x[1], -l->rest / length, d));
        pull(p, n[1], k, tl_madd3(x[0], l->rest / length, d));
    }
}

tl_status sim_add_ties(tl_sim *sim, double begin, double end, bool any, double *k, tl_vec3 *to, tl_error *err)
{
    const double slack = 1e-9 * (end - begin);  // as in handles.c
    const pulls p = {k, to};
    for (int32_t n = 0; !any && n < sim->node_count; n++) k[n] = 0, to[n] = (tl_vec3){0, 0, 0};
    for (int32_t i = 0; i < sim->handle_count; i++) {
        const sim_handle *h = &sim->handles[i];
        if (!h->ties || !(h->start <= begin + slack && begin + slack < h->end)) continue;
        if (h->ties->spot) TL_TRY(add_spots(sim, h, end, &p, err));
        if (h->ties->link) add_links(sim, h, end - begin, &p);
    }
    return TL_OK;
}
