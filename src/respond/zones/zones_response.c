// respond/zones/zones_response.c: the classical response: springs in the solve, then impact zones, then a fail-safe.
//
// Newton's iterates are not restricted. The result is joined to the start by straight paths; pairs that meet along them
// by the continuous test become bonds, solved zone by zone (zones.c), and the paths are tested again until no pair
// meets. Bonds are kept from round to round, so zones only grow. Since the start is free of intersections and nothing
// meets along the paths, the end is free of them too.

#include <math.h>

#include "base/fail.h"
#include "respond/contact_impl.h"
#include "toile/collide.h"

enum { PAIRS_PER_CHUNK = 512 };

// Is the nearest point inside both features? On a border the present normal does not hold beyond it: sliding cloth
// would be stopped by faces ahead of it.
static bool inside(const pair *p, const proximity *near)
{
    for (int k = 0; k < pair_nodes(p); k++)
        if (near->weight[k] == 0) return false;
    return true;
}

static bool may_be_frozen(const tl_contacts *c, int32_t i)
{
    const pair *p = &c->cache.pair[i];
    const proximity *near = &c->cache.near[i];
    return inside(p, near) && near->distance <= c->policy.zones.freeze_reach * p->thickness;
}

void tl_contacts_freeze(tl_contacts *c)
{
    contact_select_pairs(c, may_be_frozen);
    c->report.candidates = c->cache.count;
    contact_set_progress(c, 1);
    c->zones.frozen = true;
}

void contact_zones_begin(tl_contacts *c) { c->zones.frozen = false; }

void contact_zones_free(tl_contacts *c) { TL_FREE(&c->alloc, c->zones.bond, c->zones.cap); }

typedef struct hit_job {
    tl_contacts *c;
    const uint8_t *moved;  // NULL: all
    double *time;          // of every pair; 2: does not meet
} hit_job;

static double separation_of(const tl_contacts *c, const pair *p, double distance)
{
    return fmin(c->policy.zones.separation * p->thickness, c->policy.zones.start_part * distance);
}

static double meet(const tl_contacts *c, const pair *p, const proximity *near)
{
    const double apart = separation_of(c, p, near->distance);
    if (p->kind == PAIR_PLANE) {  // it has no other side to come out of: where the way ends is what counts
        tl_vec3 point, normal;
        contact_plane(c, p->body, 1, &point, &normal);
        return tl_dot3(normal, tl_sub3(tl_add3(c->motion.pos[p->node[0]], c->motion.disp[p->node[0]]), point)) < apart
                   ? 1
                   : 2;
    }
    tl_vec3 from[4], to[4];
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 4; k++) {
        from[k] = c->motion.pos[p->node[k]], to[k] = tl_add3(from[k], c->motion.disp[p->node[k]]);
        const double h = tl_dot3(near->normal, tl_sub3(to[k], from[0]));
        if (k < first_count(p))
            low = fmin(low, h);
        else
            high = fmax(high, h);
    }
    if (low - high >= apart && near->distance > 0) return 2;  // on two sides of a plane all the way (path_clip.c)
    double time = 1;
    const uint32_t hit =
        p->kind == PAIR_VF ? tl_ccd_vertex_face(from, to, apart, &time) : tl_ccd_edge_edge(from, to, apart, &time);
    return hit ? time : 2;
}

static void hit_chunk(void *arg, int32_t begin, int32_t end)
{
    const hit_job *job = arg;
    const tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const pair *p = &c->cache.pair[i];
        bool look = !job->moved;
        for (int k = 0; k < pair_nodes(p) && !look; k++) look = p->node[k] < c->node_count && job->moved[p->node[k]];
        job->time[i] = look ? meet(c, p, &c->cache.near[i]) : 2;
    }
}

// The condition that keeps a pair apart at the end, with normal and weights at the time of contact.
static tl_bond bond_of(const tl_contacts *c, int32_t index, double time)
{
    const pair *p = &c->cache.pair[index];
    tl_bond b = {.node = {-1, -1, -1, -1},
                 .keep = c->policy.zones.keep * c->policy.zones.separation * p->thickness,
                 .friction = contact_friction(c, p),
                 .fresh = true};
    if (p->kind == PAIR_PLANE) {
        const tl_vec3 *begin = c->step.plane_begin + 2 * p->body, *end = c->step.plane_end + 2 * p->body;
        b.node[0] = p->node[0], b.weight[0] = 1, b.normal = end[1];
        b.gap = -tl_dot3(end[1], end[0]);
        b.slide = tl_madd3(tl_mul3(-1, c->step.x_hat[p->node[0]]), -1 / (c->step.gamma * c->step.dt),
                           tl_sub3(end[0], begin[0]));
        return b;
    }
    pair local = *p;
    tl_vec3 at[4];
    for (int k = 0; k < 4; k++) {
        local.node[k] = k;
        at[k] = tl_madd3(c->motion.pos[p->node[k]], time, c->motion.disp[p->node[k]]);
    }
    const proximity near = contact_proximity(c, &local, at, 1);
    b.normal = near.normal;
    const double scale = 1 / (c->step.gamma * c->step.dt);
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        b.weight[k] = near.weight[k];
        if (i < c->node_count) {
            b.node[k] = i;
            b.slide = tl_madd3(b.slide, -b.weight[k], c->step.x_hat[i]);
        } else {
            const tl_vec3 from = c->step.body_begin[i - c->node_count], to = c->step.body_end[i - c->node_count];
            b.gap += b.weight[k] * tl_dot3(b.normal, to);
            b.slide = tl_madd3(b.slide, b.weight[k] * scale, tl_sub3(to, from));
        }
    }
    return b;
}

// Tests the paths from x0 to x and adds a bond for every pair that meets.
static tl_status find_bonds(tl_contacts *c, const tl_vec3 *x0, const tl_vec3 *x, const uint8_t *moved, tl_vec3 *u,
                            const tl_ctx *ctx, int32_t *found, tl_error *err)
{
    for (int32_t i = 0; i < c->node_count; i++) u[i] = tl_sub3(x[i], x0[i]);
    TL_TRY(contact_search(c, x0, u, 1, ctx, err));
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    hit_job job = {c, moved, TL_SCRATCH(ctx->arena, double, c->cache.count)};
    if (c->cache.count > 0 && !job.time) return tl_fail_memory(err, "the impact zones");
    tl_parallel_for(ctx->workers, c->cache.count, PAIRS_PER_CHUNK, hit_chunk, &job);
    *found = 0;
    tl_status status = TL_OK;
    for (int32_t i = 0; i < c->cache.count && status == TL_OK; i++) {
        if (job.time[i] > 1) continue;
        if (!TL_GROW(&c->alloc, c->zones.bond, c->zones.cap, c->zones.count + 1))
            status = tl_fail_memory(err, "the impact zones");
        else
            c->zones.bond[c->zones.count++] = bond_of(c, i, job.time[i]), (*found)++;
    }
    tl_arena_release(ctx->arena, mark);
    return status;
}

static tl_status solve(tl_contacts *c, const tl_vec3 *x0, tl_vec3 *x, const tl_ctx *ctx, bool *clear, tl_error *err)
{
    const int32_t n = c->node_count;
    double *inverse = TL_SCRATCH(ctx->arena, double, n);
    uint8_t *moved = TL_SCRATCH(ctx->arena, uint8_t, n);
    tl_vec3 *u = TL_SCRATCH(ctx->arena, tl_vec3, n);
    if (!inverse || !moved || !u) return tl_fail_memory(err, "the impact zones");
    for (int32_t i = 0; i < n; i++) inverse[i] = c->step.fixed[i] ? 0 : 1 / c->step.mass[i];
    c->zones.count = 0;
    bool lost = false;  // handles that run into bodies
    for (int round = 0;; round++) {
        int32_t found = 0;
        TL_TRY(find_bonds(c, x0, x, round > 0 ? moved : NULL, u, ctx, &found, err));
        *clear = found == 0 && !lost;
        if (found == 0 || round == c->policy.zones.rounds) break;
        memset(moved, 0, (size_t)n);
        tl_zones_report r;
        TL_TRY(tl_zones_solve(&(tl_bonds){c->zones.bond, c->zones.count, n, inverse}, x, moved, ctx->arena, &r, err));
        lost = r.immovable > 0;
        c->report.zones = r.zones;
        if (r.largest > c->report.zone_nodes) c->report.zone_nodes = r.largest;
        c->report.zone_rounds++;
    }
    if (*clear || c->motion.progress < 1) return TL_OK;
    // Fail-safe: from a start without intersections, paths can always be cut short enough.
    int64_t limited;
    TL_TRY(tl_contacts_clip(c, x0, u, true, ctx, &limited, err));
    for (int32_t i = 0; i < n; i++) x[i] = tl_add3(x0[i], u[i]);
    c->report.held++;
    *clear = true;
    return TL_OK;
}

tl_status tl_contacts_zones(tl_contacts *c, const tl_vec3 *x0, tl_vec3 *x, const tl_ctx *ctx, bool *clear,
                            tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    c->zones.frozen = false;
    contact_set_progress(c, c->bodies_move ? 0 : 1);
    tl_status status = solve(c, x0, x, ctx, clear, err);
    tl_arena_release(ctx->arena, mark);
    if (status != TL_OK || !*clear) return status;
    contact_set_progress(c, 1);
    contact_set_positions(c, x, 0);
    contact_measure(c, ctx->workers);
    c->report.nearest = 1, c->report.contacts = 0;
    for (int32_t i = 0; i < c->cache.count; i++) {
        const double near = c->cache.near[i].distance / c->cache.pair[i].thickness;
        c->report.contacts += near < 1;
        c->report.nearest = fmin(c->report.nearest, near);
    }
    return TL_OK;
}
