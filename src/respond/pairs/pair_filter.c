// respond/pairs/pair_filter.c: the coarse filter of candidate lists, in single precision, eight pairs at a time.
//
// Most candidates are clearly too far apart, and most of the rest are clearly near: a lower and an upper bound on the
// distance decide nearly all of them. Both bounds hold in spite of rounding, so the filters in double precision
// (pair_lists.c, pairs.c) come to the same pairs with the coarse filter as without it.

#include "respond/pairs/pairs.h"

#include "base/fail.h"
#include "math/simd.h"

typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t eight_mask __attribute__((vector_size(32), aligned(4), may_alias));
typedef struct coarse {
    float at[4], way[4];
} coarse;  // of a node, relative to the middle of everything

/// Eight pairs: positions of their nodes relative to the first node. Nodes 0 1 and 2 3 are edges, or 0 is a vertex and
/// 1 2 3 a face.
typedef struct eight_pairs {
    eight x1[3], x2[3], x3[3];
    bool edges;
} eight_pairs;

enum { LOOKS = 5 };          // further directions
#define LEAST_NORMAL 1e-30f  // squared [m^4]: below it, nothing is left of single precision
#define ROUNDING 4e-6        // of the size of everything: sixty times that of single precision

#define PICK(m, a, b) ((eight)(((m) & (eight_mask)(a)) | (~(m) & (eight_mask)(b))))
#define LOWER(a, b) PICK((a) < (b), a, b)
#define HIGHER(a, b) PICK((a) > (b), a, b)
#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])
#define EACH(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define ALL_OF(m) (((m)[0] & (m)[1] & (m)[2] & (m)[3] & (m)[4] & (m)[5] & (m)[6] & (m)[7]) != 0)

// --- eight pairs ---

// Node k of eight pairs: one vector per axis.
TL_INLINE void gather(const coarse *node, const features f[8], int k, eight at[3], eight way[3])
{
    eight row[2][3];  // of four pairs each: places, then ways
    for (int half = 0; half < 2; half++) {
        eight v[4];
        for (int i = 0; i < 4; i++) v[i] = *(const eight *)&node[f[4 * half + i].node[k]];
        const eight a = EACH(v[0], v[1], 0, 8, 1, 9, 4, 12, 5, 13), b = EACH(v[2], v[3], 0, 8, 1, 9, 4, 12, 5, 13);
        const eight c = EACH(v[0], v[1], 2, 10, 3, 11, 6, 14, 7, 15), d = EACH(v[2], v[3], 2, 10, 3, 11, 6, 14, 7, 15);
        row[half][0] = EACH(a, b, 0, 1, 8, 9, 4, 5, 12, 13), row[half][1] = EACH(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
        row[half][2] = EACH(c, d, 0, 1, 8, 9, 4, 5, 12, 13);
    }
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = EACH(row[0][axis], row[1][axis], 0, 1, 2, 3, 8, 9, 10, 11);
        way[axis] = EACH(row[0][axis], row[1][axis], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

// Positions of pairs, the line between the centres of their features, and the bound on their relative displacement
// (motion_of).
TL_INLINE void place_eight(const coarse *node, const features f[8], eight_pairs *p, eight line[3], eight *motion)
{
    eight x0[3], w0[3], w1[3], w2[3], w3[3], sum = {0};
    gather(node, f, 0, x0, w0), gather(node, f, 1, p->x1, w1);
    gather(node, f, 2, p->x2, w2), gather(node, f, 3, p->x3, w3);
    for (int k = 0; k < 3; k++) {
        p->x1[k] -= x0[k], p->x2[k] -= x0[k], p->x3[k] -= x0[k];
        eight lo0 = w0[k], hi0 = w0[k], lo1 = LOWER(w2[k], w3[k]), hi1 = HIGHER(w2[k], w3[k]);
        if (p->edges) {
            line[k] = 0.5f * (p->x2[k] + p->x3[k] - p->x1[k]);
            lo0 = LOWER(lo0, w1[k]), hi0 = HIGHER(hi0, w1[k]);
        } else {
            line[k] = (p->x1[k] + p->x2[k] + p->x3[k]) * (1.0f / 3);
            lo1 = LOWER(lo1, w1[k]), hi1 = HIGHER(hi1, w1[k]);
        }
        const eight one = hi0 - lo1, other = hi1 - lo0, most = HIGHER(one, other);
        sum += most * most;
    }
    for (int i = 0; i < 8; i++) (*motion)[i] = sqrtf(sum[i]);
}

// Gap of the features along a direction, in units of its length, and the vector between the corners that are nearest
// along it, second minus first.
TL_INLINE void gap_along(const eight line[3], const eight_pairs *p, eight *gap, eight corner[3])
{
    const eight a = DOT(line, p->x1), b = DOT(line, p->x2), c = DOT(line, p->x3), zero = {0};
    const eight_mask second = b < c;
    *gap = LOWER(b, c);
    for (int k = 0; k < 3; k++) corner[k] = PICK(second, p->x2[k], p->x3[k]);
    if (p->edges) {
        const eight_mask first = a > zero;
        *gap -= PICK(first, a, zero);
        for (int k = 0; k < 3; k++) corner[k] -= PICK(first, p->x1[k], zero);
    } else {
        const eight_mask first = a < *gap;
        *gap = PICK(first, a, *gap);
        for (int k = 0; k < 3; k++) corner[k] = PICK(first, p->x1[k], corner[k]);
    }
}

// The common normal of both edges, or that of the face, oriented along `line`.
TL_INLINE void normal_of(const eight_pairs *p, const eight line[3], eight n[3])
{
    eight e[3], g[3];
    const eight zero = {0};
    for (int k = 0; k < 3; k++) {
        if (p->edges)
            e[k] = p->x1[k], g[k] = p->x3[k] - p->x2[k];
        else
            e[k] = p->x2[k] - p->x1[k], g[k] = p->x3[k] - p->x1[k];
    }
    for (int k = 0; k < 3; k++) n[k] = e[(k + 1) % 3] * g[(k + 2) % 3] - e[(k + 2) % 3] * g[(k + 1) % 3];
    const eight_mask back = DOT(n, line) < zero;
    for (int k = 0; k < 3; k++) n[k] = PICK(back, -n[k], n[k]);
}

// Squared gap along the normal: a lower bound on the squared distance.
TL_INLINE void look_along_normal(const eight_pairs *p, const eight line[3], eight *seen)
{
    const eight zero = {0};
    eight normal[3], corner[3], gap;
    normal_of(p, line, normal);
    gap_along(normal, p, &gap, corner);
    const eight size = DOT(normal, normal);
    *seen = PICK((gap > zero) & (size > zero + LEAST_NORMAL), gap * gap / size, zero);
}

// Moves the end points of a line between both features towards the corners, to where the line is shortest.
TL_INLINE void turn_line(const eight corner[3], const eight *size, const eight *gap, eight line[3])
{
    const eight zero = {0};
    eight step[3];
    for (int k = 0; k < 3; k++) step[k] = corner[k] - line[k];
    const eight along = *size - *gap, whole = DOT(step, step);  // along: -line.step
    const eight most = PICK(along < whole, along / whole, zero + 1.0f);
    const eight part = HIGHER(most, zero);  // rounding: not beyond the line's own end
    for (int k = 0; k < 3; k++) line[k] += part * step[k];
}

// Decides for eight pairs whether their features are certainly farther apart than the reach plus their relative motion,
// certainly not, or neither; the reach allows for rounding. The gap along any direction is a lower bound on the
// distance. Directions tried: the normal, the line between the centres, and, if that does not decide, the line improved
// towards the corners that are nearest along it (Gilbert, Johnson & Keerthi 1988, on one segment at a time). Every such
// line joins points of both features, so its length is an upper bound. `beyond`: lower bound on the excess of pairs
// that are too far apart.
TL_CLONES static void find_apart(const coarse *node, const features f[8], bool edges, coarse_limits reach,
                                 int32_t out[8], float beyond[8])
{
    const eight zero = {0};
    eight_pairs p;
    eight line[3], motion, best;  // best: squared distance, bound from below
    p.edges = edges;
    place_eight(node, f, &p, line, &motion);
    look_along_normal(&p, line, &best);
    const eight far = reach.most + motion, near = reach.least + motion;
    eight_mask settled = best > far * far, sure = {0};
    for (int look = 0; look < LOOKS; look++) {
        const eight size = DOT(line, line);
        eight gap, corner[3];
        gap_along(line, &p, &gap, corner);
        const eight seen = PICK(gap > zero, gap * gap / size, zero);
        best = HIGHER(best, seen);
        settled = best > far * far;
        sure |= (near > zero) & (size < near * near);
        const eight_mask done = settled | sure;
        if (ALL_OF(done)) break;
        turn_line(corner, &size, &gap, line);
    }
    *(eight_mask *)out = ~settled & ((sure & ACCEPTED) | (~sure & UNDECIDED));
    for (int i = 0; i < 8; i++) best[i] = sqrtf(best[i]);
    *(eight *)beyond = best - far;
}

// --- everything in single precision ---

/// Positions relative to the centre of the box, from node `from` on.
typedef struct coarse_job {
    const tl_vec3 *at, *way;
    tl_vec3 middle;
    int32_t from;
    coarse *out;
} coarse_job;

static void coarse_chunk(void *arg, int32_t begin, int32_t end)
{
    const coarse_job *job = arg;
    for (int32_t i = job->from + begin; i < job->from + end; i++) {
        const tl_vec3 x = tl_sub3(job->at[i], job->middle), u = job->way[i];
        job->out[i] = (coarse){{(float)x.x, (float)x.y, (float)x.z, 0}, {(float)u.x, (float)u.y, (float)u.z, 0}};
    }
}

// Bounding box of the cloth and of the bodies near it; *longest: bound on all displacements.
static contact_box box_of_all(const tl_contacts *c, const tl_vec3 *at, const tl_vec3 *way, double *longest)
{
    contact_box box = contact_box_of(at, at, c->node_count);
    double most = 0;
    for (int32_t i = 0; i < c->node_count; i++) most = larger(most, tl_dot3(way[i], way[i]));
    *longest = sqrt(most);
    for (int32_t b = 0; b < c->body_count; b++) {
        if (c->bodies[b].plane || c->bodies[b].far) continue;
        box.lo = lowest(box.lo, c->bodies[b].box.lo), box.hi = highest(box.hi, c->bodies[b].box.hi);
        *longest =
            larger(*longest, tl_norm3(tl_sub3(c->bodies[b].box.hi, c->bodies[b].box.lo)));  // not less than its way
    }
    return box;
}

tl_status contact_prepare_filter(const tl_contacts *c, const tl_vec3 *at, const tl_vec3 *way, double slack,
                                 const tl_ctx *ctx, filter_motion *out, tl_error *err)
{
    const int32_t n = c->node_count;
    double longest;
    const contact_box box = box_of_all(c, at, way, &longest);
    const tl_vec3 middle = n > 0 ? tl_mul3(0.5, tl_add3(box.lo, box.hi)) : (tl_vec3){0, 0, 0};
    coarse *node = TL_SCRATCH(ctx->arena, coarse, n + c->body_nodes);
    if (!node) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(ctx->workers, n, NODES_PER_CHUNK, coarse_chunk, &(coarse_job){at, way, middle, 0, node});
    for (int32_t b = 0; b < c->body_count; b++)
        if (!c->bodies[b].plane && !c->bodies[b].far)
            tl_parallel_for(ctx->workers, c->bodies[b].surface.node_count, NODES_PER_CHUNK, coarse_chunk,
                            &(coarse_job){at, way, middle, n + c->bodies[b].start, node});
    const double slop = n > 0 ? ROUNDING * (tl_norm3(tl_sub3(box.hi, box.lo)) + longest) : 0;
    *out = (filter_motion){.pos = at, .disp = way, .node = node, .slack = slack, .rounding = slop};
    return TL_OK;
}

// --- a list ---

// Smallest thickness of all pairs with a body, or TL_CLOTH (thickness_of).
static double least_thickness(const tl_contacts *c, int32_t body)
{
    double least = (double)INFINITY;
    for (int32_t i = 0; i < c->cloth_count; i++) least = smaller(least, c->thickness[i]);
    return body == TL_CLOTH ? least : 0.5 * least + c->bodies[body].thickness;
}

tl_status contact_start_coarse(const tl_contacts *c, const list *l, const filter_motion *s, tl_arena *arena,
                               coarse_filter *out, tl_error *err)
{
    const double spare = 2 * c->skin + 2 * s->slack;
    *out = (coarse_filter){.c = c, .l = l, .motion = s, .state = TL_SCRATCH(arena, uint8_t, l->count)};
    out->limits.most = (float)(1.000001 * (contact_reach(c, l->body) + spare + s->rounding));
    out->limits.least = (float)(0.999999 * (least_thickness(c, l->body) + spare - s->rounding));
    return out->state ? TL_OK : tl_fail_memory(err, "the contacts");
}

// Do all nodes of a pair rest? Pairs of such nodes within their thickness and twice the skin are known already.
static bool all_rest(const coarse_filter *g, const features *f)
{
    if (!g->place) return false;
    for (int k = 0; k < 4; k++)
        if (f->node[k] < g->c->node_count && !(g->place[f->node[k]] & RESTING)) return false;
    return true;
}

static void mark_eight(const coarse_filter *g, features f[8], const int32_t *item, int n)
{
    int32_t mark[8];
    float beyond[8], *far = g->l->bound;
    for (int k = n; k < 8; k++) f[k] = f[0];
    find_apart(g->motion->node, f, g->l->how == EE, g->limits, mark, beyond);
    for (int k = 0; k < n; k++) g->state[item[k]] = (uint8_t)mark[k];
    for (int k = 0; k < n && far; k++) far[item[k]] = mark[k] == REJECTED && beyond[k] > 0 ? DOWN * beyond[k] : 0;
}

void contact_filter_coarse(const coarse_filter *g, int32_t begin, int32_t end)
{
    features f[8];
    int32_t item[8], n = 0;
    for (int32_t i = begin; i < end; i++) {
        if (g->state[i] != UNDECIDED) continue;
        f[n] = features_of(g->c, g->l, i);
        if (all_rest(g, &f[n]))
            g->state[i] = REJECTED;
        else
            item[n++] = i;
        if (n == 8) mark_eight(g, f, item, 8), n = 0;
    }
    if (n > 0) mark_eight(g, f, item, n);
}
