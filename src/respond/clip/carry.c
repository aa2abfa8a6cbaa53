// respond/clip/carry.c: cloth that stops a body is carried along with it, as if it were part of it.
//
// A rigid body goes from begin to end by an affine map. Cloth that goes by the same map keeps its place relative to the
// body and to all other cloth that does: nothing can meet. So where a body is stopped, all nodes of every pair that its
// path would violate are assigned to the body, then all nodes of every cloth pair that this violates, until no pair is
// violated (rigid impact zones after Bridson, Fedkiw & Anderson 2002, with the body as their frame). The set only
// grows, and in the worst case it is the whole cloth, which can always move with one body. It cannot grow over cloth
// that another body or a handle holds as well: then everything moves by a common part of its path, before anything
// meets. Newton's method starts from there, with the body in its place, and releases what need not have been carried.

#include <math.h>

#include "base/fail.h"
#include "respond/contact_impl.h"
#include "toile/collide.h"

enum { PAIRS_PER_CHUNK = 256 };

typedef struct carry {
    tl_contacts *c;
    tl_vec3 *u;       ///< [node_count] ways
    int32_t *rider;   ///< [node_count] the body that a node goes with; -1: none
    tl_body_map *to;  ///< [body_count] from where a body is now to the end of its way
    double *free;     ///< [pair_count] part of the way before a pair meets, 1: all of it
} carry;

// m^-1 by cofactors; false if m is nearly singular.
static bool invert(const double m[3][3], double out[3][3])
{
    double det = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        for (int r = 0; r < 3; r++) {
            const int s = (r + 1) % 3, t = (r + 2) % 3;
            out[r][i] = m[j][s] * m[k][t] - m[j][t] * m[k][s];
        }
        det += m[i][0] * out[0][i] / 3, det += m[i][1] * out[1][i] / 3, det += m[i][2] * out[2][i] / 3;
    }
    if (!(fabs(det) > 1e-3)) return false;  // a turn by some 176 degrees and more
    for (int i = 0; i < 9; i++) (&out[0][0])[i] /= det;
    return true;
}

static tl_vec3 times(const double m[3][3], tl_vec3 v)
{
    return (tl_vec3){m[0][0] * v.x + m[0][1] * v.y + m[0][2] * v.z, m[1][0] * v.x + m[1][1] * v.y + m[1][2] * v.z,
                     m[2][0] * v.x + m[2][1] * v.y + m[2][2] * v.z};
}

// After part `done` of the path a point p of the body is at (1 - done) p + done (a p + b); this is the map from there
// to a p + b.
static tl_body_map rest_of(const tl_body_map *whole, double done)
{
    double at[3][3], back[3][3];
    tl_body_map out = *whole;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) at[i][j] = (i == j ? 1 - done : 0) + done * whole->a[i][j];
    out.rigid = whole->rigid && invert((const double(*)[3])at, back);
    if (!out.rigid) return out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            out.a[i][j] = 0;
            for (int k = 0; k < 3; k++) out.a[i][j] += whole->a[i][k] * back[k][j];
        }
    out.b = tl_madd3(whole->b, -done, times((const double(*)[3])out.a, whole->b));
    return out;
}

// Displacement of a node that is carried by a body. A deforming body carries it by the point that touches the pair.
static tl_vec3 way_with(const carry *k, int32_t body, int32_t node, const pair *p, const proximity *near)
{
    const tl_contacts *c = k->c;
    const tl_vec3 x = c->motion.pos[node];
    if (k->to[body].rigid) return tl_sub3(tl_add3(times((const double(*)[3])k->to[body].a, x), k->to[body].b), x);
    tl_vec3 sum = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const int32_t j = p->node[i];
        if (p->body == body && p->kind != PAIR_PLANE && j >= c->node_count)
            sum = tl_madd3(sum, fabs(near->weight[i]), contact_disp_left(c, j));
        if (p->body != body && j < c->node_count && k->rider[j] == body) return k->u[j];
    }
    return sum;
}

// Part of its path that a pair may take.
static double free_part(const tl_contacts *c, int32_t index)
{
    const pair *p = &c->cache.pair[index];
    const proximity *near = &c->cache.near[index];
    const double keep =
        smaller(c->policy.clip.keep_thickness * p->thickness, c->policy.clip.keep_distance * near->distance);
    if (p->kind == PAIR_PLANE) {
        double way[2];
        contact_plane_approach(c, p->body, c->motion.pos[p->node[0]], c->motion.disp[p->node[0]], way);
        const double gap = near->distance + way[0] - way[1];
        return gap >= keep ? 1 : fmax(0, (near->distance - keep) / (near->distance - gap));
    }
    double low = INFINITY, high = -INFINITY;
    tl_vec3 x[4], y[4];
    for (int i = 0; i < 4; i++) {
        x[i] = c->motion.pos[p->node[i]], y[i] = tl_add3(x[i], c->motion.disp[p->node[i]]);
        const double v = tl_dot3(near->normal, tl_sub3(y[i], x[0]));
        if (i < first_count(p))
            low = smaller(low, v);
        else
            high = larger(high, v);
    }
    if (low - high >= keep) return 1;
    if (!(near->distance > 0)) return 0;
    double time = 1;
    const uint32_t hit =
        p->kind == PAIR_VF ? tl_ccd_vertex_face(x, y, keep, &time) : tl_ccd_edge_edge(x, y, keep, &time);
    return hit ? time : 1;
}

static void free_chunk(void *arg, int32_t begin, int32_t end)
{
    const carry *k = arg;
    for (int32_t i = begin; i < end; i++) k->free[i] = free_part(k->c, i);
}

static bool moves(const tl_contacts *c, int32_t body) { return body != TL_CLOTH && c->bodies[body].moves; }

// The body that carries a violated pair: its own, or the one that carries its cloth; -1: none; -2: two different ones,
// or one that stands still.
static int32_t body_of(const carry *k, const pair *p)
{
    const tl_contacts *c = k->c;
    int32_t body = moves(c, p->body) ? p->body : p->body == TL_CLOTH ? -1 : -2;
    for (int i = 0; i < pair_nodes(p); i++) {
        const int32_t j = p->node[i];
        if (j >= c->node_count || k->rider[j] < 0 || k->rider[j] == body) continue;
        body = body == -1 ? k->rider[j] : -2;
    }
    return body;
}

// Assigns the nodes of a violated pair to a body. False: all that may be carried already are.
static bool take(carry *k, int32_t index)
{
    const tl_contacts *c = k->c;
    const pair *p = &c->cache.pair[index];
    const int32_t body = body_of(k, p);
    bool taken = false;
    for (int i = 0; i < pair_nodes(p) && body >= 0; i++) {
        const int32_t j = p->node[i];
        if (j >= c->node_count || k->rider[j] >= 0 || c->step.fixed[j]) continue;
        k->u[j] = way_with(k, body, j, p, &c->cache.near[index]);
        k->rider[j] = body, taken = true;
    }
    return taken;
}

// Grows the set until only pairs that cannot be carried are violated. Returns the part of the path that all may take.
static tl_status grow(carry *k, const tl_vec3 *x, const tl_ctx *ctx, double *part, tl_error *err)
{
    tl_contacts *c = k->c;
    for (int pass = 0;; pass++) {
        const tl_arena_mark mark = tl_arena_save(ctx->arena);
        TL_TRY(contact_search(c, x, k->u, 1, ctx, err));
        k->free = TL_SCRATCH(ctx->arena, double, c->cache.count);
        if (!k->free) return tl_fail_memory(err, "the contacts");
        tl_parallel_for(ctx->workers, c->cache.count, PAIRS_PER_CHUNK, free_chunk, k);
        bool grown = false;
        *part = 1;
        for (int32_t i = 0; i < c->cache.count; i++) {
            if (k->free[i] >= 1) continue;
            grown = take(k, i) || grown;
            *part = fmin(*part, c->policy.clip.carry_back_off * k->free[i]);
        }
        tl_arena_release(ctx->arena, mark);
        if (!grown || pass == c->policy.clip.carry_passes) return TL_OK;
    }
}

tl_status tl_contacts_carry(tl_contacts *c, tl_vec3 *x, const tl_ctx *ctx, double *part, tl_error *err)
{
    *part = 0;
    if (c->motion.progress >= 1 || !c->step.body_map) return TL_OK;
    const int32_t n = c->node_count;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    carry k = {c, TL_SCRATCH(ctx->arena, tl_vec3, n), TL_SCRATCH(ctx->arena, int32_t, n),
               TL_SCRATCH(ctx->arena, tl_body_map, c->body_count), NULL};
    if (!k.u || !k.rider || !k.to) return tl_fail_memory(err, "the contacts");
    for (int32_t i = 0; i < n; i++) k.u[i] = (tl_vec3){0, 0, 0}, k.rider[i] = -1;
    for (int32_t b = 0; b < c->body_count; b++) k.to[b] = rest_of(&c->step.body_map[b], c->motion.progress);
    TL_TRY(grow(&k, x, ctx, part, err));
    if (*part < c->policy.clip.carry_min) *part = 0;
    for (int32_t i = 0; i < n; i++) x[i] = tl_madd3(x[i], *part, k.u[i]);
    contact_allow(c, *part);
    tl_contacts_move_bodies(c, 1);
    tl_arena_release(ctx->arena, mark);
    return tl_contacts_settle(c, x, ctx->workers, err);
}
