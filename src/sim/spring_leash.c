// sim/spring_leash.c: how far each node may be from where the cloth is held.
//
// A node is no farther from a held one than the way between them in the material (Kim, Chentanez & Mueller 2012, "Long
// Range Attachments"): one constraint instead of a row of edges that each give a little, so what hangs from a pin does
// not stretch like rubber. Ways are found on the base mesh by planar fronts, nodes of finer levels take theirs from
// the ends of their edges. A fabric that gives under its own weight has that much more room, and where held places are
// pulled farther apart than the material between them is long, all leashes grow by as much. Leashes to a few places
// far from each other, besides the nearest, gained nothing (docs/notes/realtime.md).

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "sim/spring_cloth.h"

#define ROOM 1.005     // of a leash, so that edges, not leashes, carry what they can
#define SHORTER 1e-9   // part by which a way has to be shorter to count
enum { SWEEPS = 64 };  // at most; a sheet takes a handful
enum { NONE = -1 };

typedef spring_front front;

static void offer(front *to, int32_t from, double way, bool *changed)
{
    if (from == NONE || !(way < to->way * (1 - SHORTER))) return;
    *to = (front){from, way}, *changed = true;
}

// What the ends of a side know of one place, unfolded: where it would be on the plane, seen from `c` through the side.
static double through(front a, front b, tl_vec2 pa, tl_vec2 pb, tl_vec2 pc)
{
    const tl_vec2 d = tl_sub2(pb, pa), e = tl_sub2(pc, pa);
    const double length = tl_norm2(d), cx = tl_dot2(d, e) / length, cy = fabs(tl_cross2(d, e)) / length,
                 x = (a.way * a.way - b.way * b.way + length * length) / (2 * length), square = a.way * a.way - x * x;
    if (!(square > 0)) return INFINITY;
    const double y = sqrt(square), at = x + (cx - x) * y / (y + cy);
    return at >= 0 && at <= length ? hypot(cx - x, cy + y) : INFINITY;
}

static void across_tri(const tl_trees_tri *t, front *f, bool *changed)
{
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const front a = f[t->vert[i]], b = f[t->vert[j]];
        front *to = &f[t->vert[k]];
        offer(to, a.from, a.way + tl_norm2(tl_sub2(t->uv[k], t->uv[i])), changed);
        offer(to, b.from, b.way + tl_norm2(tl_sub2(t->uv[k], t->uv[j])), changed);
        if (a.from != NONE && a.from == b.from) offer(to, a.from, through(a, b, t->uv[i], t->uv[j], t->uv[k]), changed);
    }
}

static void find_ways(spring_cloth *c)
{
    front *f = c->front;
    for (int32_t v = 0; v < c->base_verts; v++) f[v] = c->base_held[v] ? (front){v, 0} : (front){NONE, INFINITY};
    bool changed = true;
    for (int sweep = 0; changed && sweep < SWEEPS; sweep++) {
        changed = false;
        for (int32_t k = 0; k < c->base_tris; k++)
            across_tri(tl_trees_tri_at(c->trees, sweep % 2 == 0 ? k : c->base_tris - 1 - k), f, &changed);
    }
}

// The middle of an edge, from its ends.
static front between(front a, front b, double length)
{
    const tl_vec2 pa = {0, 0}, pb = {length, 0};
    if (a.from != NONE && a.from == b.from) {
        const double x = (a.way * a.way - b.way * b.way + length * length) / (2 * length),
                     square = a.way * a.way - x * x, straight = hypot(pb.x / 2 - x - pa.x, sqrt(fmax(0, square)));
        return (front){a.from, straight};
    }
    const front near = a.way <= b.way ? a : b;
    return (front){near.from, near.way + length / 2};
}

// Levels from the base on; lengths of split edges by the vertex in their middle.
static tl_status find_finer(spring_cloth *c, const tl_ctx *ctx, tl_error *err)
{
    const tl_trees_counts n = tl_trees_count(c->trees);
    double *length = TL_SCRATCH(ctx->arena, double, n.vert_slots);
    if (!length) return tl_fail_memory(err, "leashes");
    for (int32_t e = tl_trees_next_edge(c->trees, 0); e < n.edge_slots; e = tl_trees_next_edge(c->trees, e + 1)) {
        const int32_t mid = tl_trees_edge_at(c->trees, e)->mid;
        if (mid != TL_TREES_NONE) length[mid] = tl_trees_rest_length(c->trees, e);
    }
    for (int level = 1, left = 1; left && level <= TL_TREES_MAX_LEVEL; level++) {
        left = 0;
        for (int32_t i = 0; i < c->node_count; i++) {
            const tl_trees_vert *v = tl_trees_vert_at(c->trees, c->id[i]);
            if (v->level != level) continue;
            left = 1;
            c->front[c->id[i]] = between(c->front[v->from[0]], c->front[v->from[1]], length[c->id[i]]);
        }
    }
    return TL_OK;
}

// By how much more than the material between them held places are apart, at least 1.
static double pulled_apart(const spring_cloth *c)
{
    double most = 1;
    for (int32_t k = 0; k < c->base_tris; k++) {
        const tl_trees_tri *t = tl_trees_tri_at(c->trees, k);
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3;
            const front a = c->front[t->vert[i]], b = c->front[t->vert[j]];
            if (a.from == b.from || a.from == NONE || b.from == NONE) continue;
            const tl_vec3 p = c->target[c->dense[a.from]], q = c->target[c->dense[b.from]];
            most = fmax(most, tl_norm3(tl_sub3(p, q)) / (a.way + b.way + tl_norm2(tl_sub2(t->uv[i], t->uv[j]))));
        }
    }
    return most;
}

// [1/m] strain at the top of a strip, over its length, that hangs by its own weight.
static double give(const spring_cloth *c, double gravity)
{
    double most = 0;
    for (int32_t f = 0; f < c->fabric_count; f++) {
        const double soft = fmin(c->fabric[f].stretch[0][0], c->fabric[f].stretch[0][2]);
        most = fmax(most, soft > 0 ? c->fabric[f].density * gravity / soft : INFINITY);
    }
    return most;
}

// True if other nodes of the base are held than before.
static bool note_held(spring_cloth *c, bool *any)
{
    bool changed = false;
    *any = false;
    for (int32_t v = 0; v < c->base_verts; v++) {
        const uint8_t held = c->held[c->dense[v]];
        changed |= held != c->base_held[v], *any |= held != 0;
        c->base_held[v] = held;
    }
    return changed;
}

tl_status spring_cloth_leash(spring_cloth *c, double gravity, const tl_ctx *ctx, tl_springs_step *out, tl_error *err)
{
    out->leash = NULL;
    if (c->def.springs.method != TL_SPRINGS_XPBD) return TL_OK;
    bool any;
    const bool changed = note_held(c, &any);
    if (!any) return TL_OK;
    if (changed) find_ways(c), c->fronts_valid = false;
    tl_springs_leash *leash = TL_SCRATCH(ctx->arena, tl_springs_leash, c->node_count);
    if (!leash) return tl_fail_memory(err, "leashes");
    if (!c->fronts_valid) TL_TRY(find_finer(c, ctx, err));
    c->fronts_valid = true;
    const double apart = pulled_apart(c), soft = give(c, gravity);
    for (int32_t i = 0; i < c->node_count; i++) {
        const front *at = &c->front[c->id[i]];
        const bool free = at->from == NONE || c->near[c->id[i]];
        leash[i] = free ? (tl_springs_leash){i, INFINITY}
                        : (tl_springs_leash){c->dense[at->from], at->way * (ROOM * apart + soft * at->way)};
    }
    out->leash = leash;
    return TL_OK;
}
