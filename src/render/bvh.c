// render/bvh.c: a four-wide tree of boxes, built by the surface area heuristic in bins.
//
// Cost model: Wald 2007, "On fast construction of SAH-based bounding volume hierarchies". A node holds the
// boxes of its four children side by side, a leaf up to four triangles side by side, so one ray meets four at
// a time. The triangle test is watertight (Woop, Benthin, Wald 2013): an edge gets the same rounded number
// from both of its triangles, so no ray slips between them. Built by one thread; nothing depends on the
// number of workers.

#include "render/bvh.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "render/simd4.h"

enum {
    BINS = 16,
    WIDTH = 4,
    SAH_LEVELS = 40,  // deeper than this the input is degenerate: cut in the middle, at most 16 levels more
    STACK = 192,      // > 3 (40 + 16) + 4 entries, whatever the triangles
};
static const float COORDINATE_LIMIT = 1e15f;  // beyond it areas overflow: such a corner counts as not finite
static const float EMPTY_BOX = 1e30f;

typedef struct node {
    float lo[3][WIDTH], hi[3][WIDTH];
    int32_t child[WIDTH];  // >= 0: node; < 0: ~leaf
} node;

typedef struct leaf {
    float p[3][3][WIDTH];  // corner, axis, lane
    int32_t tri[WIDTH];    // -1: unused lane
} leaf;

struct tl_ray_bvh {
    tl_allocator alloc;
    node *nodes;
    leaf *leaves;
    int32_t node_count, node_cap, leaf_count, leaf_cap;
    tl_vec3f ball;  // a ball around everything: most rays from the floor miss it and cost nothing more
    float ball_radius2;
};

typedef struct box {
    float lo[3], hi[3];
} box;
typedef struct item {
    box bounds;
    int32_t tri;
} item;
typedef struct range {
    int32_t begin, end;
    box bounds;
} range;

static box empty_box(void) { return (box){{EMPTY_BOX, EMPTY_BOX, EMPTY_BOX}, {-EMPTY_BOX, -EMPTY_BOX, -EMPTY_BOX}}; }

static void grow_box(box *a, const box *b)
{
    for (int k = 0; k < 3; k++) {
        a->lo[k] = tl_minf(a->lo[k], b->lo[k]);
        a->hi[k] = tl_maxf(a->hi[k], b->hi[k]);
    }
}

static float half_area(const box *b)
{
    const float x = b->hi[0] - b->lo[0], y = b->hi[1] - b->lo[1], z = b->hi[2] - b->lo[2];
    return x < 0 ? 0 : x * y + y * z + z * x;
}

static float centre(const item *it, int axis) { return it->bounds.lo[axis] + it->bounds.hi[axis]; }  // twice it

static box bounds_of(const item *items, int32_t begin, int32_t end)
{
    box b = empty_box();
    for (int32_t i = begin; i < end; i++) grow_box(&b, &items[i].bounds);
    return b;
}

// --- building ----------------------------------------------------------------------------------------------

typedef struct split {
    int axis, bin;
    float lo, scale, cost;
} split;

static int bin_of(const item *it, const split *s)
{
    const int b = (int)((centre(it, s->axis) - s->lo) * s->scale);
    return b < 0 ? 0 : b >= BINS ? BINS - 1 : b;
}

static void try_axis(const item *items, const range *r, int axis, split *best)
{
    split s = {axis, 0, EMPTY_BOX, 0, EMPTY_BOX};
    float hi = -EMPTY_BOX;
    for (int32_t i = r->begin; i < r->end; i++) {
        s.lo = tl_minf(s.lo, centre(&items[i], axis));
        hi = tl_maxf(hi, centre(&items[i], axis));
    }
    if (!(hi > s.lo)) return;
    s.scale = (float)BINS / (hi - s.lo);
    if (!isfinite(s.scale)) return;
    box bins[BINS];
    int32_t counts[BINS] = {0};
    for (int b = 0; b < BINS; b++) bins[b] = empty_box();
    for (int32_t i = r->begin; i < r->end; i++) {
        const int b = bin_of(&items[i], &s);
        counts[b]++;
        grow_box(&bins[b], &items[i].bounds);
    }
    float right_cost[BINS];
    box right = empty_box();
    int32_t right_count = 0;
    for (int b = BINS - 1; b > 0; b--) {
        grow_box(&right, &bins[b]);
        right_count += counts[b];
        right_cost[b] = half_area(&right) * (float)right_count;
    }
    box left = empty_box();
    int32_t left_count = 0;
    for (int b = 0; b + 1 < BINS; b++) {
        grow_box(&left, &bins[b]);
        left_count += counts[b];
        if (left_count == 0 || left_count == r->end - r->begin) continue;
        const float cost = half_area(&left) * (float)left_count + right_cost[b + 1];
        if (cost < best->cost) *best = s, best->bin = b, best->cost = cost;
    }
}

/// Cuts `r` in two where that is cheapest, or in the middle when all centres coincide or `level` is too deep.
static void cut(item *items, const range *r, int32_t level, range *a, range *b)
{
    split best = {-1, 0, 0, 0, EMPTY_BOX};
    for (int axis = 0; axis < 3 && level < SAH_LEVELS; axis++) try_axis(items, r, axis, &best);
    int32_t i = r->begin, j = r->end;
    if (best.axis < 0) {
        i = r->begin + (r->end - r->begin) / 2;
    } else {
        while (i < j) {
            if (bin_of(&items[i], &best) <= best.bin) {
                i++;
            } else {
                const item swap = items[--j];
                items[j] = items[i];
                items[i] = swap;
            }
        }
    }
    *a = (range){r->begin, i, bounds_of(items, r->begin, i)};
    *b = (range){i, r->end, bounds_of(items, i, r->end)};
}

static tl_status add_leaf(tl_ray_bvh *bvh, const item *items, const range *r, const tl_vec3f *pos,
                          const int32_t (*tri)[3], int32_t *out, tl_error *err)
{
    if (!TL_GROW(&bvh->alloc, bvh->leaves, bvh->leaf_cap, bvh->leaf_count + 1))
        return tl_fail_memory(err, "the ray tree");
    leaf *l = &bvh->leaves[bvh->leaf_count];
    for (int lane = 0; lane < WIDTH; lane++) {
        const int32_t i = r->begin + lane;
        l->tri[lane] = i < r->end ? items[i].tri : -1;
        for (int c = 0; c < 3; c++) {
            // an unused lane repeats the first triangle, whose hit is the same and whose index is not taken
            const tl_vec3f p = pos[tri[items[i < r->end ? i : r->begin].tri][c]];
            l->p[c][0][lane] = p.x, l->p[c][1][lane] = p.y, l->p[c][2][lane] = p.z;
        }
    }
    *out = ~bvh->leaf_count++;
    return TL_OK;
}

typedef struct task {
    range r;
    int32_t node, lane, level;
} task;  // build `r` and store it there

static tl_status build(tl_ray_bvh *bvh, item *items, int32_t count, const tl_vec3f *pos, const int32_t (*tri)[3],
                       tl_error *err)
{
    task stack[STACK];
    int32_t depth = 0;
    stack[depth++] = (task){{0, count, bounds_of(items, 0, count)}, -1, 0, 0};
    while (depth > 0) {
        const task t = stack[--depth];
        // children: keep cutting the largest until there are four or only leaves
        range kids[WIDTH];
        int kid_count = 1;
        kids[0] = t.r;
        while (kid_count < WIDTH) {
            int pick = -1;
            float area = -1;
            for (int k = 0; k < kid_count; k++) {
                if (kids[k].end - kids[k].begin <= WIDTH) continue;
                if (half_area(&kids[k].bounds) > area) area = half_area(&kids[k].bounds), pick = k;
            }
            if (pick < 0) break;
            const range whole = kids[pick];
            cut(items, &whole, t.level, &kids[pick], &kids[kid_count++]);
        }
        if (!TL_GROW(&bvh->alloc, bvh->nodes, bvh->node_cap, bvh->node_count + 1))
            return tl_fail_memory(err, "the ray tree");
        const int32_t id = bvh->node_count++;
        if (t.node >= 0) bvh->nodes[t.node].child[t.lane] = id;
        node *n = &bvh->nodes[id];
        for (int lane = 0; lane < WIDTH; lane++) {
            const box b = lane < kid_count ? kids[lane].bounds : empty_box();
            for (int k = 0; k < 3; k++) n->lo[k][lane] = b.lo[k], n->hi[k][lane] = b.hi[k];
            n->child[lane] = 0;
        }
        for (int lane = 0; lane < kid_count; lane++) {
            if (kids[lane].end - kids[lane].begin <= WIDTH) {
                int32_t leaf_id = 0;
                TL_TRY(add_leaf(bvh, items, &kids[lane], pos, tri, &leaf_id, err));
                n->child[lane] = leaf_id;
            } else {
                TL_ASSERT(depth < STACK, "the ray tree is deeper than its stack");
                stack[depth++] = (task){kids[lane], id, lane, t.level + 1};
            }
        }
    }
    return TL_OK;
}

static bool usable(tl_vec3f p)
{
    return fabsf(p.x) < COORDINATE_LIMIT && fabsf(p.y) < COORDINATE_LIMIT && fabsf(p.z) < COORDINATE_LIMIT;
}

tl_status tl_ray_bvh_create(const tl_allocator *alloc, const tl_vec3f *pos, const int32_t (*tri)[3], int32_t tri_count,
                            tl_ray_bvh **out, tl_error *err)
{
    *out = NULL;
    tl_ray_bvh *bvh = TL_CALLOC(alloc, tl_ray_bvh, 1);
    item *items = TL_ALLOC(alloc, item, tri_count);
    if (!bvh || !items) {
        TL_FREE(alloc, items, tri_count);
        TL_FREE(alloc, bvh, 1);
        return tl_fail_memory(err, "the ray tree");
    }
    bvh->alloc = *alloc;
    int32_t count = 0;
    for (int32_t t = 0; t < tri_count; t++) {
        const tl_vec3f a = pos[tri[t][0]], b = pos[tri[t][1]], c = pos[tri[t][2]];
        if (!usable(a) || !usable(b) || !usable(c)) continue;
        items[count++] = (item){
            {{tl_minf(a.x, tl_minf(b.x, c.x)), tl_minf(a.y, tl_minf(b.y, c.y)), tl_minf(a.z, tl_minf(b.z, c.z))},
             {tl_maxf(a.x, tl_maxf(b.x, c.x)), tl_maxf(a.y, tl_maxf(b.y, c.y)), tl_maxf(a.z, tl_maxf(b.z, c.z))}},
            t};
    }
    const box all = bounds_of(items, 0, count);
    bvh->ball = (tl_vec3f){(all.lo[0] + all.hi[0]) / 2, (all.lo[1] + all.hi[1]) / 2, (all.lo[2] + all.hi[2]) / 2};
    for (int32_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            const tl_vec3f d = tl_subf(pos[tri[items[i].tri][c]], bvh->ball);
            bvh->ball_radius2 = tl_maxf(bvh->ball_radius2, 1.0001f * tl_dotf(d, d));
        }
    const tl_status status = count > 0 ? build(bvh, items, count, pos, tri, err) : TL_OK;
    TL_FREE(alloc, items, tri_count);
    if (status != TL_OK) {
        tl_ray_bvh_destroy(bvh);
        return status;
    }
    *out = bvh;
    return TL_OK;
}

void tl_ray_bvh_destroy(tl_ray_bvh *bvh)
{
    if (!bvh) return;
    const tl_allocator alloc = bvh->alloc;
    TL_FREE(&alloc, bvh->nodes, bvh->node_cap);
    TL_FREE(&alloc, bvh->leaves, bvh->leaf_cap);
    TL_FREE(&alloc, bvh, 1);
}

// --- rays --------------------------------------------------------------------------------------------------

/// A ray made ready: reciprocal direction for boxes, shear for triangles.
typedef struct traveller {
    tl_f4 org[3], inv[3];     // boxes
    tl_f4 corg[3], shear[3];  // triangles, axes permuted so that kz is the longest of the direction
    int kx, ky, kz;
    bool neg[3];
} traveller;

static inline void ready(const tl_ray *ray, traveller *w)
{
    const float org[3] = {ray->org.x, ray->org.y, ray->org.z}, dir[3] = {ray->dir.x, ray->dir.y, ray->dir.z};
    float inv[3];
    for (int k = 0; k < 3; k++) {
        const float tiny = 1e-18f;  // a zero component: far outside any slab, but finite, so 0 * inf never appears
        const float d = fabsf(dir[k]) > tiny ? dir[k] : copysignf(tiny, dir[k]);
        inv[k] = 1 / d;
        w->inv[k] = tl_f4_set(inv[k]);
        w->org[k] = tl_f4_set(org[k]);
        w->neg[k] = d < 0;
    }
    w->kz = fabsf(dir[0]) > fabsf(dir[1]) ? (fabsf(dir[0]) > fabsf(dir[2]) ? 0 : 2)
                                          : (fabsf(dir[1]) > fabsf(dir[2]) ? 1 : 2);
    w->kx = w->kz == 2 ? 0 : w->kz + 1, w->ky = w->kx == 2 ? 0 : w->kx + 1;
    w->corg[0] = w->org[w->kx], w->corg[1] = w->org[w->ky], w->corg[2] = w->org[w->kz];
    w->shear[0] = tl_f4_set(dir[w->kx] * inv[w->kz]);
    w->shear[1] = tl_f4_set(dir[w->ky] * inv[w->kz]);
    w->shear[2] = w->inv[w->kz];
}

/// Lanes whose box the ray meets within [tmin, tmax]; `near` gets the entry distances.
static int meet_boxes(const node *n, const traveller *w, float tmin, float tmax, float near[WIDTH])
{
    tl_f4 t0 = tl_f4_set(tmin), t1 = tl_f4_set(tmax);
    for (int k = 0; k < 3; k++) {
        const float *a = w->neg[k] ? n->hi[k] : n->lo[k], *b = w->neg[k] ? n->lo[k] : n->hi[k];
        t0 = tl_f4_max(tl_f4_mul(tl_f4_sub(tl_f4_load(a), w->org[k]), w->inv[k]), t0);
        t1 = tl_f4_min(tl_f4_mul(tl_f4_sub(tl_f4_load(b), w->org[k]), w->inv[k]), t1);
    }
    // widened by a few roundings, so that a box never loses the triangle on its face (Ize 2013)
    const tl_f4 slack = tl_f4_set(1 + 4e-7f);
    tl_f4_store(near, t0);
    return tl_f4_le(t0, tl_f4_mul(t1, slack));
}

/// Tests the triangles of a leaf and updates `hit`; with `any`, stops at the first.
static bool meet_triangles(const leaf *l, const traveller *w, float tmin, bool any, tl_hit *hit)
{
    tl_f4 x[3], y[3], z[3];
    for (int c = 0; c < 3; c++) {
        const tl_f4 dz = tl_f4_sub(tl_f4_load(l->p[c][w->kz]), w->corg[2]);
        x[c] = tl_f4_sub(tl_f4_sub(tl_f4_load(l->p[c][w->kx]), w->corg[0]), tl_f4_mul(w->shear[0], dz));
        y[c] = tl_f4_sub(tl_f4_sub(tl_f4_load(l->p[c][w->ky]), w->corg[1]), tl_f4_mul(w->shear[1], dz));
        z[c] = tl_f4_mul(w->shear[2], dz);
    }
    const tl_f4 e0 = tl_f4_sub(tl_f4_mul(x[2], y[1]), tl_f4_mul(y[2], x[1]));
    const tl_f4 e1 = tl_f4_sub(tl_f4_mul(x[0], y[2]), tl_f4_mul(y[0], x[2]));
    const tl_f4 e2 = tl_f4_sub(tl_f4_mul(x[1], y[0]), tl_f4_mul(y[1], x[0]));
    const tl_f4 zero = tl_f4_set(0);
    int inside = (tl_f4_ge(e0, zero) & tl_f4_ge(e1, zero) & tl_f4_ge(e2, zero)) |
                 (tl_f4_le(e0, zero) & tl_f4_le(e1, zero) & tl_f4_le(e2, zero));
    if (!inside) return false;
    const tl_f4 det = tl_f4_add(e0, tl_f4_add(e1, e2));
    const tl_f4 dist = tl_f4_add(tl_f4_mul(e0, z[0]), tl_f4_add(tl_f4_mul(e1, z[1]), tl_f4_mul(e2, z[2])));
    float d[WIDTH], t[WIDTH], a[WIDTH], b[WIDTH];
    tl_f4_store(d, det);
    tl_f4_store(t, tl_f4_div(dist, det));
    tl_f4_store(a, tl_f4_div(e1, det));
    tl_f4_store(b, tl_f4_div(e2, det));
    bool found = false;
    for (int lane = 0; lane < WIDTH; lane++) {
        // a zero determinant (edge on, or degenerate) gives t infinite or NaN: both comparisons refuse it
        if (!(inside >> lane & 1) || d[lane] == 0 || l->tri[lane] < 0) continue;
        if (!(t[lane] >= tmin && t[lane] <= hit->t)) continue;
        if (t[lane] == hit->t && hit->tri >= 0 && hit->tri < l->tri[lane]) continue;
        *hit = (tl_hit){t[lane], a[lane], b[lane], l->tri[lane]};
        found = true;
        if (any) return true;
    }
    return found;
}

static bool misses_ball(const tl_ray_bvh *bvh, const tl_ray *ray)
{
    const tl_vec3f c = tl_subf(bvh->ball, ray->org);
    const float along = tl_dotf(c, ray->dir), c2 = tl_dotf(c, c), d2 = tl_dotf(ray->dir, ray->dir);
    if (c2 <= bvh->ball_radius2) return false;
    return along < 0 || c2 * d2 - along * along > 1.0001f * bvh->ball_radius2 * d2 + 1e-5f * c2 * d2;
}

/// How soon a ray may end: at any triangle, at the first that is found when near boxes are looked into first (almost
/// always the nearest), or only when no nearer one can be.
typedef enum patience { ANY, FIRST, NEAREST } patience;

static inline __attribute__((always_inline)) bool trace(const tl_ray_bvh *bvh, const tl_ray *ray, patience until,
                                                        int32_t *hint, tl_hit *hit)
{
    *hit = (tl_hit){ray->tmax, 0, 0, -1};
    if (bvh->node_count == 0 || misses_ball(bvh, ray)) return false;
    traveller w;
    ready(ray, &w);
    const bool any = until == ANY;
    if (hint && *hint > 0 && *hint <= bvh->leaf_count) {
        if (meet_triangles(&bvh->leaves[*hint - 1], &w, ray->tmin, any, hit) && any) return true;
        if (any) *hint = 0;
    }
    struct {
        int32_t child;
        float near;
    } stack[STACK];
    int32_t depth = 0;
    int32_t at = 0;
    for (;;) {
        if (at < 0) {
            if (meet_triangles(&bvh->leaves[~at], &w, ray->tmin, any, hit)) {
                if (hint) *hint = ~at + 1;
                if (until != NEAREST) return true;
            }
        } else {
            const node *n = &bvh->nodes[at];
            float near[WIDTH];
            int mask = meet_boxes(n, &w, ray->tmin, hit->t, near);
            if (mask) {
                // the nearest child is next; the others wait on the stack, farthest lowest
                int32_t next = n->child[__builtin_ctz((unsigned)mask)];
                float next_near = near[__builtin_ctz((unsigned)mask)];
                mask &= mask - 1;
                const int32_t base = depth;
                for (; any && mask; mask &= mask - 1) {  // any order will do
                    const int lane = __builtin_ctz((unsigned)mask);
                    stack[depth].child = n->child[lane], stack[depth++].near = near[lane];
                }
                while (mask) {
                    const int lane = __builtin_ctz((unsigned)mask);
                    mask &= mask - 1;
                    int32_t child = n->child[lane];
                    float far_ = near[lane];
                    if (far_ < next_near) {
                        const int32_t c = next;
                        const float d = next_near;
                        next = child, next_near = far_, child = c, far_ = d;
                    }
                    int32_t i = depth++;
                    for (; i > base && stack[i - 1].near < far_; i--) stack[i] = stack[i - 1];
                    stack[i].child = child, stack[i].near = far_;
                }
                at = next;
                continue;
            }
        }
        do {
            if (depth == 0) return hit->tri >= 0;
            depth--;
        } while (stack[depth].near > hit->t);
        at = stack[depth].child;
    }
}

bool tl_ray_bvh_hit(const tl_ray_bvh *bvh, const tl_ray *ray, int32_t *hint, tl_hit *out)
{
    return trace(bvh, ray, NEAREST, hint, out);
}

bool tl_ray_bvh_first(const tl_ray_bvh *bvh, const tl_ray *ray, tl_hit *out)
{
    return trace(bvh, ray, FIRST, NULL, out);
}

bool tl_ray_bvh_blocked(const tl_ray_bvh *bvh, const tl_ray *ray, int32_t *hint)
{
    tl_hit hit;
    return trace(bvh, ray, ANY, hint, &hit);
}

void tl_ray_bvh_overlap(const tl_ray_bvh *bvh, tl_vec3f lo, tl_vec3f hi, void (*visit)(void *arg, int32_t tri),
                        void *arg)
{
    if (bvh->node_count == 0) return;
    const float a[3] = {lo.x, lo.y, lo.z}, b[3] = {hi.x, hi.y, hi.z};
    int32_t stack[STACK], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const int32_t at = stack[--depth];
        if (at < 0) {
            const leaf *l = &bvh->leaves[~at];
            for (int lane = 0; lane < WIDTH; lane++)
                if (l->tri[lane] >= 0) visit(arg, l->tri[lane]);
            continue;
        }
        const node *n = &bvh->nodes[at];
        int mask = 15;
        for (int k = 0; k < 3; k++)
            mask &= tl_f4_le(tl_f4_load(n->lo[k]), tl_f4_set(b[k])) & tl_f4_ge(tl_f4_load(n->hi[k]), tl_f4_set(a[k]));
        for (int lane = WIDTH - 1; lane >= 0; lane--)
            if (mask >> lane & 1) stack[depth++] = n->child[lane];
    }
}
