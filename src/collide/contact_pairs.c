// collide/contact_pairs.c: from the lists of the trees to the pairs that matter.
//
// The trees find all pairs whose boxes come near on the way; most are neighbours within a flat piece of cloth. A pair is worth
// looking at only if its features are nearer at the start than its thickness, twice the skin, and what they can move
// relative to each other.

#include <math.h>

#include "base/fail.h"
#include "collide/contact_impl.h"
#include "collide/distance.h"
#include "math/simd.h"

// A chunk is worth some microseconds, else sharing costs more than it gains.
enum { FOUND_PER_CHUNK = 256, FOUND_PER_PART = 256 * FOUND_PER_CHUNK, DROP_PER_CHUNK = 2048, NODES_PER_CHUNK = 4096, PAIRS_PER_CHUNK = 1024 };

typedef struct list {
    const tl_pair *items;
    int32_t count, body;
    enum { VF, FV, EE, PLANE } how;
    float *far;  // beside the items: contact_far; NULL: nothing is known
} list;

// Two layers keep their thickness; pieces of one panel that are nearer than that when flat keep less, else cloth that is
// meshed finer than it is thick could not lie flat.
static double own_thickness(const tl_contacts *c, const pair *p, double thickness)
{
    const int32_t panel = c->node_panel[p->node[0]], cloth = c->node_cloth[p->node[0]];
    tl_vec3 flat[4];
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        if (c->node_panel[i] != panel || panel < 0 || c->node_cloth[i] != cloth) return thickness;
        flat[k] = (tl_vec3){c->node_uv[i].x, c->node_uv[i].y, 0};
    }
    const double rest = (p->kind == PAIR_VF ? tl_nearest_vertex_face(flat) : tl_nearest_edge_edge(flat)).distance;
    return smaller(thickness, 0.8 * rest);
}

static bool make_pair(const tl_contacts *c, const list *l, int32_t i, pair *p)
{
    const tl_pair found = l->items[i];
    const int32_t n = c->node_count, off = l->body == TL_CLOTH ? 0 : n + c->body_start[l->body];
    const tl_surface *own = &c->cloth, *other = l->body == TL_CLOTH ? &c->cloth : &c->bodies[l->body].surface;
    const double *other_face = l->body == TL_CLOTH ? c->face_area : c->body_face_area[l->body];
    const double *other_edge = l->body == TL_CLOTH ? c->edge_area : c->body_edge_area[l->body];
    int32_t cloth_node;  // one on the cloth, to know which
    p->body = l->body, p->found = found;
    switch (l->how) {
    case VF:
        p->kind = PAIR_VF;
        p->node[0] = found.a;
        for (int k = 0; k < 3; k++) p->node[1 + k] = other->face[found.b][k] + off;
        p->area = smaller(c->node_area[found.a], other_face[found.b]);
        cloth_node = found.a;
        break;
    case FV:
        p->kind = PAIR_VF;
        p->node[0] = found.a + off;
        for (int k = 0; k < 3; k++) p->node[1 + k] = own->face[found.b][k];
        p->area = smaller(c->node_area[found.a + off], c->face_area[found.b]);
        cloth_node = p->node[1];
        break;
    default:
        p->kind = PAIR_EE;
        for (int k = 0; k < 2; k++) p->node[k] = own->edge[found.a][k], p->node[2 + k] = other->edge[found.b][k] + off;
        p->area = smaller(c->edge_area[found.a], other_edge[found.b]);
        cloth_node = p->node[0];
        break;
    }
    const int32_t cloth = c->node_cloth[cloth_node];
    if (l->body == TL_CLOTH) {
        const int32_t second = c->node_cloth[p->node[l->how == EE ? 2 : 1]];
        p->thickness = 0.5 * (c->thickness[cloth] + c->thickness[second]);
    } else {
        p->thickness = 0.5 * c->thickness[cloth] + c->bodies[l->body].thickness;
        for (int k = 0; k < 4 && c->pinched_count > 0; k++)
            if (p->node[k] < n && c->pinched[p->node[k]]) return false;
    }
    return true;
}

/// The two features of a pair that the trees found: nodes of everything, those of the first before those of the second.
typedef struct features { int32_t node[4]; int first; } features;

static inline features features_of(const tl_contacts *c, const list *l, int32_t i)
{
    const tl_pair found = l->items[i];
    const int32_t off = l->body == TL_CLOTH ? 0 : c->node_count + c->body_start[l->body];
    const tl_surface *other = l->body == TL_CLOTH ? &c->cloth : &c->bodies[l->body].surface;
    if (l->how == VF) {
        const int32_t *f = other->face[found.b];
        return (features){{found.a, f[0] + off, f[1] + off, f[2] + off}, 1};
    }
    if (l->how == FV) {
        const int32_t *f = c->cloth.face[found.b];
        return (features){{found.a + off, f[0], f[1], f[2]}, 1};
    }
    const int32_t *e = c->cloth.edge[found.a], *g = other->edge[found.b];
    return (features){{e[0], e[1], g[0] + off, g[1] + off}, 2};
}

// How far the features can move relative to each other: displacements are linear over a feature, so nodes have the largest
// difference; here with the largest on every axis, so not less.
static inline double motion_of(const features *f, const tl_vec3 *way)
{
    tl_vec3 lo[2], hi[2];
    lo[0] = hi[0] = way[f->node[0]];
    lo[1] = hi[1] = way[f->node[f->first]];
    for (int k = 1; k < 4; k++) {
        const int side = k >= f->first;
        const tl_vec3 u = way[f->node[k]];
        lo[side] = lowest(lo[side], u), hi[side] = highest(hi[side], u);
    }
    const double x = larger(hi[0].x - lo[1].x, hi[1].x - lo[0].x), y = larger(hi[0].y - lo[1].y, hi[1].y - lo[0].y);
    const double z = larger(hi[0].z - lo[1].z, hi[1].z - lo[0].z);
    return sqrt(x * x + y * y + z * z);
}

// --- the same in single precision, eight pairs at a time: settles nearly all of them ---

typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t eight_mask __attribute__((vector_size(32), aligned(4), may_alias));
typedef struct coarse { float at[4], way[4]; } coarse;               // of a node, relative to the middle of everything
enum { LOOKS = 5 };

#define PICK(m, a, b) ((eight)(((m) & (eight_mask)(a)) | (~(m) & (eight_mask)(b))))
#define LOWER(a, b) PICK((a) < (b), a, b)
#define HIGHER(a, b) PICK((a) > (b), a, b)
#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])

#define EACH(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

// Node k of eight pairs: one vector an axis.
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

/// How near features have to come, the way they can move aside: further apart than `most` is OUT, nearer than `least` is SURE.
typedef struct coarse_reach { float most, least; } coarse_reach;

enum { OUT, IN, KNOWN, SURE };  // what becomes of what the trees found

// How far the features of pairs are apart along a direction, in its lengths; the corners that are nearest along it, the second less the first.
TL_INLINE void gap_along(const eight line[3], const eight x1[3], const eight x2[3], const eight x3[3], bool edges, eight *gap, eight corner[3])
{
    const eight a = DOT(line, x1), b = DOT(line, x2), c = DOT(line, x3), zero = {0};
    const eight_mask second = b < c;
    *gap = LOWER(b, c);
    for (int k = 0; k < 3; k++) corner[k] = PICK(second, x2[k], x3[k]);
    if (edges) {
        const eight_mask first = a > zero;
        *gap -= PICK(first, a, zero);
        for (int k = 0; k < 3; k++) corner[k] -= PICK(first, x1[k], zero);
    } else {
        const eight_mask first = a < *gap;
        *gap = PICK(first, a, *gap);
        for (int k = 0; k < 3; k++) corner[k] = PICK(first, x1[k], corner[k]);
    }
}

// The normal of both edges, or of the face, on the side that `line` points to.
TL_INLINE void normal_of(const eight x1[3], const eight x2[3], const eight x3[3], bool edges, const eight line[3], eight n[3])
{
    eight e[3], g[3];
    const eight zero = {0};
    for (int k = 0; k < 3; k++) {
        if (edges) e[k] = x1[k], g[k] = x3[k] - x2[k];
        else e[k] = x2[k] - x1[k], g[k] = x3[k] - x1[k];
    }
    for (int k = 0; k < 3; k++) n[k] = e[(k + 1) % 3] * g[(k + 2) % 3] - e[(k + 2) % 3] * g[(k + 1) % 3];
    const eight_mask back = DOT(n, line) < zero;
    for (int k = 0; k < 3; k++) n[k] = PICK(back, -n[k], n[k]);
}

#define LEAST_NORMAL 1e-30f  // squared [m^4]: below it, nothing is left of single precision
#define ALL_OF(m) (((m)[0] & (m)[1] & (m)[2] & (m)[3] & (m)[4] & (m)[5] & (m)[6] & (m)[7]) != 0)

// Are the features of pairs further apart than the reach and what they can move, or surely not? Says so only if it is true; the reach allows for the
// rounding. The gap as seen along any direction is a bound from below. The first direction is the line between the middles; if it does not settle it, the
// way to the corners that are nearest along it shows a better one (Gilbert, Johnson & Keerthi 1988, on one segment at a time). Every such line joins points of
// both features, so its length is a bound from above. `beyond`: by how much, at least, those that are apart are.
TL_CLONES static void find_apart(const coarse *node, const features f[8], bool edges, coarse_reach reach, int32_t out[8], float beyond[8])
{
    eight x0[3], x1[3], x2[3], x3[3], w0[3], w1[3], w2[3], w3[3], line[3], motion = {0}, far, near;
    gather(node, f, 0, x0, w0), gather(node, f, 1, x1, w1), gather(node, f, 2, x2, w2), gather(node, f, 3, x3, w3);
    for (int k = 0; k < 3; k++) {
        x1[k] -= x0[k], x2[k] -= x0[k], x3[k] -= x0[k];
        eight lo0 = w0[k], hi0 = w0[k], lo1 = LOWER(w2[k], w3[k]), hi1 = HIGHER(w2[k], w3[k]);
        if (edges) {
            line[k] = 0.5f * (x2[k] + x3[k] - x1[k]);
            lo0 = LOWER(lo0, w1[k]), hi0 = HIGHER(hi0, w1[k]);
        } else {
            line[k] = (x1[k] + x2[k] + x3[k]) * (1.0f / 3);
            lo1 = LOWER(lo1, w1[k]), hi1 = HIGHER(hi1, w1[k]);
        }
        const eight one = hi0 - lo1, other = hi1 - lo0, most = HIGHER(one, other);
        motion += most * most;
    }
    for (int i = 0; i < 8; i++) motion[i] = sqrtf(motion[i]);
    far = reach.most + motion, near = reach.least + motion;
    const eight zero = {0};
    eight low, corner[3], normal[3], step[3];
    normal_of(x1, x2, x3, edges, line, normal);
    gap_along(normal, x1, x2, x3, edges, &low, corner);
    const eight across = DOT(normal, normal);
    eight best = PICK((low > zero) & (across > zero + LEAST_NORMAL), low * low / across, zero);  // squared distance: bound from below
    eight_mask settled = best > far * far, sure = {0};
    for (int look = 0; look < LOOKS; look++) {
        const eight size = DOT(line, line);
        gap_along(line, x1, x2, x3, edges, &low, corner);
        const eight seen = PICK(low > zero, low * low / size, zero);
        best = HIGHER(best, seen);
        settled = best > far * far;
        sure |= (near > zero) & (size < near * near);
        const eight_mask done = settled | sure;
        if (ALL_OF(done)) break;
        for (int k = 0; k < 3; k++) step[k] = corner[k] - line[k];
        const eight along = size - low, whole = DOT(step, step);  // -line.step
        const eight most = PICK(along < whole, along / whole, zero + 1.0f), part = HIGHER(most, zero);  // rounding: not beyond the line's own end
        for (int k = 0; k < 3; k++) line[k] += part * step[k];
    }
    *(eight_mask *)out = ~settled & ((sure & SURE) | (~sure & IN));
    for (int i = 0; i < 8; i++) best[i] = sqrtf(best[i]);
    *(eight *)beyond = best - far;
}

#define ROUNDING 4e-6  // of the size of everything: sixty times that of single precision

/// Nodes relative to the middle, from `from` on.
typedef struct coarse_job { const tl_vec3 *at, *way; tl_vec3 middle; int32_t from; coarse *out; } coarse_job;

static void coarse_chunk(void *arg, int32_t begin, int32_t end)
{
    const coarse_job *job = arg;
    for (int32_t i = job->from + begin; i < job->from + end; i++) {
        const tl_vec3 x = tl_sub3(job->at[i], job->middle), u = job->way[i];
        job->out[i] = (coarse){{(float)x.x, (float)x.y, (float)x.z, 0}, {(float)u.x, (float)u.y, (float)u.z, 0}};
    }
}

// Positions and ways of cloth and of the bodies near it as `coarse`; NULL without memory. *slop gets what to add to distances for the rounding.
static coarse *make_coarse(const tl_contacts *c, const tl_vec3 *at, const tl_vec3 *way, tl_arena *arena, tl_workers *workers, double *slop)
{
    const int32_t n = c->node_count;
    coarse *out = TL_SCRATCH(arena, coarse, n + c->body_nodes);
    if (!out) return NULL;
    contact_box box = contact_box_of(at, at, n);
    double longest = 0;
    for (int32_t i = 0; i < n; i++) longest = larger(longest, tl_dot3(way[i], way[i]));
    longest = sqrt(longest);
    for (int32_t b = 0; b < c->body_count; b++) {
        if (c->bodies[b].plane || c->body_far[b]) continue;
        box.lo = lowest(box.lo, c->body_box[b].lo), box.hi = highest(box.hi, c->body_box[b].hi);
        longest = larger(longest, tl_norm3(tl_sub3(c->body_box[b].hi, c->body_box[b].lo)));  // not less than its way
    }
    const tl_vec3 middle = n > 0 ? tl_mul3(0.5, tl_add3(box.lo, box.hi)) : (tl_vec3){0, 0, 0};
    tl_parallel_for(workers, n, NODES_PER_CHUNK, coarse_chunk, &(coarse_job){at, way, middle, 0, out});
    for (int32_t b = 0; b < c->body_count; b++)
        if (!c->bodies[b].plane && !c->body_far[b])
            tl_parallel_for(workers, c->bodies[b].surface.node_count, NODES_PER_CHUNK, coarse_chunk,
                            &(coarse_job){at, way, middle, n + c->body_start[b], out});
    *slop = n > 0 ? ROUNDING * (tl_norm3(tl_sub3(box.hi, box.lo)) + longest) : 0;
    return out;
}

/// Lists have numbers that rise in the order in which their pairs stand.
static inline int32_t number_of(int32_t body, int how) { return 4 * body + how; }

static inline int32_t list_of(const tl_contacts *c, const pair *p)
{
    const int how = p->kind == PAIR_PLANE ? PLANE : p->kind == PAIR_EE ? EE : p->node[0] < c->node_count ? VF : FV;
    return number_of(p->body, how);
}

// By a, then by b, in one comparison.
static inline uint64_t key_of(tl_pair p) { return (uint64_t)(uint32_t)p.a << 32 | (uint32_t)p.b; }
static inline bool comes_before(tl_pair p, tl_pair q) { return key_of(p) < key_of(q); }

/// What is known of pairs of before: the first `count` are measured where their nodes are. New ones are put behind them.
typedef struct kept {
    const uint8_t *place;  // [node_count] MEASURED, RESTING or 0; NULL: nothing is known
    uint8_t *stays;        // [count] is in the lists still, and worth it
    int32_t count;
    const float *change[3];  // of the cloth's nodes, edges and faces: how much nearer, at most, each has brought what was too far apart
} kept;

enum { MEASURED = 1, RESTING = 2 };  // the node is where it was measured; and where pairs are complete, and stays there

typedef struct filter_job {
    tl_contacts *c;
    const list *l;
    const tl_vec3 *at, *way;
    const coarse *node;
    coarse_reach reach;    // for `node`
    double slack, slop;    // nodes may be this far from where they are said to be; `reach` allows for so much rounding
    const float *change[2];  // how much nearer each of the first features can bring what was too far apart, and of the second; NULL: not at all
    uint8_t *keep;         // OUT, IN, KNOWN or SURE
    const kept *old;       // NULL: nothing is known
    bool body_rests;       // the body of the list
    int32_t old_begin, old_end;  // which pairs of before are of the list
    tl_pair *items;        // those of the list, to be thinned out ..
    float *far;            // .. and what is beside them; NULL: nothing
    int32_t first;         // where its pairs begin ..
    int32_t *start;        // .. and from there, those of each chunk; which then has so many ..
    int32_t *left;         // .. left: found or filled
} filter_job;

// All that is within its thickness and twice the skin of where nodes rest is known.
static bool all_rest(const filter_job *job, const features *f)
{
    if (!job->old || !job->old->place || !job->body_rests) return false;
    for (int k = 0; k < 4; k++)
        if (f->node[k] < job->c->node_count && !(job->old->place[f->node[k]] & RESTING)) return false;
    return true;
}

#define DOWN 0.999999f  // more than single precision rounds

static void mark_eight(const filter_job *job, features f[8], const int32_t *item, int n)
{
    int32_t mark[8];
    float beyond[8];
    for (int k = n; k < 8; k++) f[k] = f[0];
    find_apart(job->node, f, job->l->how == EE, job->reach, mark, beyond);
    for (int k = 0; k < n; k++) job->keep[item[k]] = (uint8_t)mark[k];
    for (int k = 0; k < n && job->l->far; k++) job->l->far[item[k]] = mark[k] == OUT && beyond[k] > 0 ? DOWN * beyond[k] : 0;
}

static void mark_chunk(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    features f[8];
    int32_t item[8], n = 0;
    for (int32_t i = begin; i < end; i++) {
        if (job->keep[i] != IN) continue;
        f[n] = features_of(job->c, job->l, i);
        if (all_rest(job, &f[n])) job->keep[i] = OUT;
        else item[n++] = i;
        if (n == 8) mark_eight(job, f, item, 8), n = 0;
    }
    if (n > 0) mark_eight(job, f, item, n);
}

// How much further apart than their thickness features may be and still come within it and twice the skin on the way.
static inline double spare_of(const filter_job *job, const features *f)
{
    return 2 * job->c->skin + 2 * job->slack + motion_of(f, job->way);
}

// Is a pair near enough to be in the list?
static bool is_near(const filter_job *job, int32_t i)
{
    const features f = features_of(job->c, job->l, i);
    const tl_vec3 x[4] = {job->at[f.node[0]], job->at[f.node[1]], job->at[f.node[2]], job->at[f.node[3]]};
    const tl_nearest now = job->l->how == EE ? tl_nearest_ee(x[0], x[1], x[2], x[3]) : tl_nearest_vf(x[0], x[1], x[2], x[3]);
    pair p;
    return make_pair(job->c, job->l, i, &p) && now.distance <= p.thickness + spare_of(job, &f);
}

static void thin_chunk(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    const bool pinched = job->c->pinched_count > 0;  // those have no pairs with bodies, however near
    memset(job->keep + begin, IN, (size_t)(end - begin));
    mark_chunk(arg, begin, end);
    int32_t to = begin;
    for (int32_t i = begin; i < end; i++)
        if (job->keep[i] != OUT && ((job->keep[i] == SURE && !pinched) || is_near(job, i))) {
            if (job->far) job->far[to] = job->far[i];
            job->items[to++] = job->items[i];
        }
    job->left[begin / FOUND_PER_CHUNK] = to - begin;
}

static inline bool is_new(uint8_t keep) { return keep == IN || keep == SURE; }

// Measures a pair. Is it worth it?
static bool fill_pair(const filter_job *job, int32_t from, int32_t to)
{
    tl_contacts *c = job->c;
    pair *p = &c->pairs[to];
    if (!make_pair(c, job->l, from, p)) return false;
    const features f = {{p->node[0], p->node[1], p->node[2], p->node[3]}, first_count(p)};
    const double spare = spare_of(job, &f);
    contact_measure_pair(c, to);
    const double distance = c->near[to].distance;
    if (p->body == TL_CLOTH && distance <= p->thickness + spare) p->thickness = own_thickness(c, p, p->thickness);
    const double beyond = distance - p->thickness - spare;
    const bool worth = distance <= p->thickness + spare;
    job->l->far[from] = DOWN * (float)(worth ? smaller(0, beyond + job->slop) : larger(0, beyond - job->slop));
    return worth;
}

static void fill_pairs(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    const int32_t chunk = begin / FOUND_PER_CHUNK, first = job->first + job->start[chunk];
    int32_t to = first;
    for (int32_t i = begin; i < end; i++)
        if (is_new(job->keep[i]) && fill_pair(job, i, to)) to++;
    job->left[chunk] = to - first;
}

static tl_status look(tl_contacts *c, const tl_vec3 *at, const tl_vec3 *way, double slack, tl_arena *arena, tl_workers *workers, contact_sight *out,
                      tl_error *err)
{
    *out = (contact_sight){.at = at, .way = way, .slack = slack};
    out->node = make_coarse(c, at, way, arena, workers, &out->slop);
    return out->node ? TL_OK : tl_fail_memory(err, "the contacts");
}

tl_status contact_look(tl_contacts *c, tl_arena *arena, tl_workers *workers, contact_sight *out, tl_error *err)
{
    return look(c, c->searched_at, c->searched_way, c->slack, arena, workers, out, err);
}

// Of all pairs with a body, or TL_CLOTH, as make_pair has it.
static double least_thickness(const tl_contacts *c, int32_t body)
{
    double least = (double)INFINITY;
    for (int32_t i = 0; i < c->cloth_count; i++) least = smaller(least, c->thickness[i]);
    return body == TL_CLOTH ? least : 0.5 * least + c->bodies[body].thickness;
}

// .keep is NULL without memory.
static filter_job start_list(tl_contacts *c, const list *l, const contact_sight *s, tl_arena *arena)
{
    filter_job job = {.c = c, .l = l, .at = s->at, .way = s->way, .node = s->node, .first = c->pair_count, .slack = s->slack, .slop = s->slop};
    const double spare = 2 * c->skin + 2 * s->slack;
    job.reach.most = (float)(1.000001 * (contact_reach(c, l->body) + spare + s->slop));
    job.reach.least = (float)(0.999999 * (least_thickness(c, l->body) + spare - s->slop));
    job.keep = TL_SCRATCH(arena, uint8_t, l->count);
    job.left = TL_SCRATCH(arena, int32_t, tl_chunk_count(l->count, FOUND_PER_CHUNK));
    if (!job.left) job.keep = NULL;
    return job;
}

// Where pairs that are known have come to p. Both are sorted.
static int32_t first_known(const filter_job *job, tl_pair p)
{
    int32_t low = job->old_begin, high = job->old_end;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (comes_before(job->c->pairs[middle].found, p)) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Is a pair that is known worth it for this way, too? *far says by how much.
static bool stays(const filter_job *job, int32_t index, float *far)
{
    const tl_contacts *c = job->c;
    const pair *p = &c->pairs[index];
    const double distance = c->near[index].distance;
    if (*far < 0) return true;
    const bool near = distance <= p->thickness + 2 * c->skin;  // whatever the way
    const features f = {{p->node[0], p->node[1], p->node[2], p->node[3]}, first_count(p)};
    const double most = p->thickness + (near ? 2 * c->skin : spare_of(job, &f));
    *far = DOWN * (float)smaller(0, distance + job->slop - most);
    return distance <= most;
}

// What is left of what was seen when last looked at, however nodes have moved since and whatever became of their ways?
TL_CLONES static void look_far(const tl_pair *restrict items, const float *restrict first, const float *restrict second,
                               float *restrict far, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const float change = (first ? first[items[i].a] : 0) + (second ? second[items[i].b] : 0);
        const float size = far[i] < 0 ? -far[i] : far[i], left = DOWN * (size - change), some = left > 0 ? left : 0;
        far[i] = far[i] < 0 ? -some : some;
    }
}

// Marks what is known of a list, and of that what stays. What is too far apart was no pair, and is none.
static void recall(const filter_job *job, int32_t begin, int32_t end)
{
    const tl_pair *items = job->l->items;
    const pair *pairs = job->c->pairs;
    float *far = job->l->far;
    int32_t k = first_known(job, items[begin]);
    for (int32_t i = begin; i < end; i++) {
        job->keep[i] = OUT;
        if (far[i] > 0) continue;
        while (k < job->old_end && comes_before(pairs[k].found, items[i])) k++;
        const bool found = k < job->old_end && !comes_before(items[i], pairs[k].found);
        job->keep[i] = found ? KNOWN : IN;
        if (found) job->old->stays[k] = stays(job, k, &far[i]);
    }
}

static void choose_chunk(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    look_far(job->l->items + begin, job->change[0], job->change[1], job->l->far + begin, end - begin);
    recall(job, begin, end);
    mark_chunk(arg, begin, end);
    int32_t count = 0;
    for (int32_t i = begin; i < end; i++) count += is_new(job->keep[i]);
    job->left[begin / FOUND_PER_CHUNK] = count;
}

static bool body_rests(const tl_contacts *c, int32_t body)
{
    return body == TL_CLOTH || !c->bodies[body].moves || (c->done >= 1 && c->measured_done >= 1);
}

int32_t contact_add_up(const int32_t *count, int32_t n, int32_t *start)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < n; i++) start[i] = sum, sum += count[i];
    return sum;
}

void contact_move_pairs(tl_contacts *c, int32_t from, int32_t count, int32_t to)
{
    if (from == to || count == 0) return;
    memmove(c->pairs + to, c->pairs + from, (size_t)count * sizeof *c->pairs);
    memmove(c->near + to, c->near + from, (size_t)count * sizeof *c->near);
    memmove(c->soft + to, c->soft + from, (size_t)count * sizeof *c->soft);
}

// Closes the gaps that chunks leave.
static void close_gaps(const filter_job *job, int32_t chunks)
{
    tl_contacts *c = job->c;
    c->pair_count = job->first;
    for (int32_t i = 0; i < chunks; i++) {
        contact_move_pairs(c, job->first + job->start[i], job->left[i], c->pair_count);
        c->pair_count += job->left[i];
    }
}

// One part of a list after the other, so that there is little room for pairs that turn out not to be worth it. Pairs old_begin to
// old_end are of the list.
static tl_status filter_part(tl_contacts *c, const list *l, const contact_sight *s, const kept *old, int32_t old_begin, int32_t old_end,
                             tl_arena *arena, tl_workers *workers, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(arena);
    const int32_t chunks = tl_chunk_count(l->count, FOUND_PER_CHUNK);
    filter_job job = start_list(c, l, s, arena);
    job.start = TL_SCRATCH(arena, int32_t, chunks);
    if (!job.keep || !job.start) return tl_fail_memory(err, "the contacts");
    job.change[0] = l->how == EE ? old->change[1] : l->how == VF ? old->change[0] : NULL;
    job.change[1] = l->how == FV ? old->change[2] : l->body != TL_CLOTH ? NULL : old->change[l->how == EE ? 1 : 2];
    job.old = old, job.old_begin = old_begin, job.old_end = old_end, job.body_rests = body_rests(c, l->body);
    tl_parallel_for(workers, l->count, FOUND_PER_CHUNK, choose_chunk, &job);
    const int32_t count = contact_add_up(job.left, chunks, job.start);
    TL_TRY(contact_pair_room(c, (int64_t)c->pair_count + count, err));
    tl_parallel_for(workers, l->count, FOUND_PER_CHUNK, fill_pairs, &job);
    close_gaps(&job, chunks);
    tl_arena_release(arena, mark);
    return TL_OK;
}

// Where pairs that are known begin whose list has this number or a higher one.
static int32_t run_begin(const tl_contacts *c, const kept *old, int32_t number)
{
    int32_t low = 0, high = old->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (list_of(c, &c->pairs[middle]) < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Is what stands beside the lists of a body, or TL_CLOTH, of any use? Bodies must not have moved.
static bool far_holds(const tl_contacts *c, int32_t body)
{
    if (!c->judged) return false;
    return body == TL_CLOTH || !c->bodies[body].moves || (c->judged_done == c->done && (c->judged_part == c->aimed[1] || c->done >= 1));
}

static tl_status filter_list(tl_contacts *c, const list *l, const contact_sight *s, const kept *old, tl_arena *arena, tl_workers *workers,
                             tl_error *err)
{
    const int32_t number = number_of(l->body, l->how), first = run_begin(c, old, number), last = run_begin(c, old, number + 1);
    if (l->count > 0 && !far_holds(c, l->body)) memset(l->far, 0, (size_t)l->count * sizeof *l->far);
    for (int32_t begin = 0; begin < l->count; begin += FOUND_PER_PART) {
        const int32_t count = l->count - begin < FOUND_PER_PART ? l->count - begin : FOUND_PER_PART;
        TL_TRY(filter_part(c, &(list){l->items + begin, count, l->body, l->how, l->far + begin}, s, old, first, last, arena, workers, err));
    }
    return TL_OK;
}

// Closes the gaps that chunks leave in a list and beside it; returns how many are left.
static int32_t close_list(tl_pair *items, float *far, int32_t count, int32_t chunk, const int32_t *left)
{
    int32_t to = 0;
    for (int32_t i = 0; i < tl_chunk_count(count, chunk); i++) {
        const int32_t begin = i * chunk, n = left[i];
        if (to < begin) memmove(items + to, items + begin, (size_t)n * sizeof *items);
        if (to < begin && far) memmove(far + to, far + begin, (size_t)n * sizeof *far);
        to += n;
    }
    return to;
}

static tl_status thin_list(tl_contacts *c, tl_pair *items, float *far, int32_t *count, int32_t body, int how, const contact_sight *s,
                           tl_arena *arena, tl_workers *workers, tl_error *err)
{
    if (*count == 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(arena);
    const list l = {items, *count, body, how, NULL};
    filter_job job = start_list(c, &l, s, arena);
    if (!job.keep) return tl_fail_memory(err, "the contacts");
    job.items = items, job.far = far;
    tl_parallel_for(workers, *count, FOUND_PER_CHUNK, thin_chunk, &job);
    *count = close_list(items, far, *count, FOUND_PER_CHUNK, job.left);
    tl_arena_release(arena, mark);
    return TL_OK;
}

tl_status contact_thin_out(tl_contacts *c, tl_pairs *f, contact_far *far, int32_t body, const contact_sight *s, tl_arena *arena,
                           tl_workers *workers, tl_error *err)
{
    TL_TRY(thin_list(c, f->vf, far ? far->vf : NULL, &f->vf_count, body, VF, s, arena, workers, err));
    if (body != TL_CLOTH) TL_TRY(thin_list(c, f->fv, far ? far->fv : NULL, &f->fv_count, body, FV, s, arena, workers, err));
    return thin_list(c, f->ee, far ? far->ee : NULL, &f->ee_count, body, EE, s, arena, workers, err);
}

tl_status contact_forget_far(tl_contacts *c, const tl_pairs *f, contact_far *far, tl_error *err)
{
    if (!CONTACT_GROW(c, far->vf, far->vf_cap, f->vf_count) || !CONTACT_GROW(c, far->fv, far->fv_cap, f->fv_count) ||
        !CONTACT_GROW(c, far->ee, far->ee_cap, f->ee_count))
        return tl_fail_memory(err, "the contacts");
    if (f->vf_count > 0) memset(far->vf, 0, (size_t)f->vf_count * sizeof *far->vf);
    if (f->fv_count > 0) memset(far->fv, 0, (size_t)f->fv_count * sizeof *far->fv);
    if (f->ee_count > 0) memset(far->ee, 0, (size_t)f->ee_count * sizeof *far->ee);
    return TL_OK;
}

/// `first` and `second`: of features, which have nodes that changed; NULL: none has.
typedef struct exchange_job { const uint8_t *first, *second; tl_pair *items; float *far; int32_t *left; } exchange_job;

static void drop_chunk(void *arg, int32_t begin, int32_t end)
{
    const exchange_job *job = arg;
    int32_t to = begin;
    for (int32_t i = begin; i < end; i++) {  // no branches: which ones go is hard to foretell
        const tl_pair p = job->items[i];
        const int changed = (job->first ? job->first[p.a] : 0) | (job->second ? job->second[p.b] : 0);
        job->far[to] = job->far[i], job->items[to] = p;
        to += !changed;
    }
    job->left[begin / DROP_PER_CHUNK] = to - begin;
}

/// One of the lists of a body, to be changed.
typedef struct open_list { tl_pair **items; float **far; int32_t *count, *cap, *far_cap; int32_t body, how; } open_list;

/// Of the cloth: which have a node that changed.
typedef struct changed_features { const uint8_t *node, *edge, *face; } changed_features;

// Both lists are sorted and stay so.
static tl_status exchange_list(tl_contacts *c, const open_list *o, const tl_pair *in, int32_t in_count, const changed_features *changed,
                               tl_arena *arena, tl_workers *workers, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(arena);
    const bool own = o->body == TL_CLOTH;
    const uint8_t *first = o->how == VF ? changed->node : o->how == EE ? changed->edge : NULL;
    const uint8_t *second = o->how == FV || (own && o->how == VF) ? changed->face : own ? changed->edge : NULL;
    const exchange_job job = {first, second, *o->items, *o->far, TL_SCRATCH(arena, int32_t, tl_chunk_count(*o->count, DROP_PER_CHUNK))};
    if (!job.left) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(workers, *o->count, DROP_PER_CHUNK, drop_chunk, (void *)&job);
    const int32_t left = close_list(*o->items, *o->far, *o->count, DROP_PER_CHUNK, job.left);
    tl_arena_release(arena, mark);
    *o->count = left;
    if (!CONTACT_GROW(c, *o->items, *o->cap, (int64_t)left + in_count) || !CONTACT_GROW(c, *o->far, *o->far_cap, (int64_t)left + in_count))
        return tl_fail_memory(err, "the contacts");
    *o->count = left + in_count;
    tl_pair *items = *o->items;
    float *far = *o->far;
    for (int32_t i = left - 1, j = in_count - 1, to = *o->count - 1; j >= 0; to--) {  // from the back: nothing is overwritten that is still needed
        const bool stays_behind = i >= 0 && comes_before(in[j], items[i]);
        far[to] = stays_behind ? far[i] : 0;
        items[to] = stays_behind ? items[i--] : in[j--];
    }
    return TL_OK;
}

static tl_status find_changed(const tl_contacts *c, const uint8_t *node, tl_arena *arena, changed_features *out, tl_error *err)
{
    uint8_t *edge = TL_SCRATCH(arena, uint8_t, c->cloth.edge_count), *face = TL_SCRATCH(arena, uint8_t, c->cloth.face_count);
    if (!edge || !face) return tl_fail_memory(err, "the contacts");
    for (int32_t i = 0; i < c->cloth.edge_count; i++) edge[i] = node[c->cloth.edge[i][0]] | node[c->cloth.edge[i][1]];
    for (int32_t i = 0; i < c->cloth.face_count; i++) {
        const int32_t *f = c->cloth.face[i];
        face[i] = node[f[0]] | node[f[1]] | node[f[2]];
    }
    *out = (changed_features){node, edge, face};
    return TL_OK;
}

tl_status contact_exchange(tl_contacts *c, tl_pairs *f, contact_far *far, int32_t body, const uint8_t *nodes, tl_arena *arena, tl_workers *workers,
                           tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(arena);
    const tl_pairs *in = &c->found_some;
    changed_features changed;
    TL_TRY(find_changed(c, nodes, arena, &changed, err));
    const open_list vf = {&f->vf, &far->vf, &f->vf_count, &f->vf_cap, &far->vf_cap, body, VF};
    const open_list fv = {&f->fv, &far->fv, &f->fv_count, &f->fv_cap, &far->fv_cap, body, FV};
    const open_list ee = {&f->ee, &far->ee, &f->ee_count, &f->ee_cap, &far->ee_cap, body, EE};
    TL_TRY(exchange_list(c, &vf, in->vf, in->vf_count, &changed, arena, workers, err));
    if (body != TL_CLOTH) TL_TRY(exchange_list(c, &fv, in->fv, in->fv_count, &changed, arena, workers, err));
    TL_TRY(exchange_list(c, &ee, in->ee, in->ee_count, &changed, arena, workers, err));
    tl_arena_release(arena, mark);
    return TL_OK;
}

static tl_status filter_plane(tl_contacts *c, int32_t b, const tl_vec3 *at, const tl_vec3 *way, tl_error *err)
{
    tl_vec3 p0, n0;
    contact_plane(c, b, c->done, &p0, &n0);
    for (int32_t i = 0; i < c->node_count; i++) {
        if (c->pinched[i]) continue;
        const int32_t cloth = c->node_cloth[i];
        const double h = 0.5 * c->thickness[cloth] + c->bodies[b].thickness, near = h + 2 * c->skin;
        double ways[2];
        contact_plane_ways(c, b, at[i], way[i], ways);
        if (tl_dot3(n0, tl_sub3(at[i], p0)) + smaller(0, ways[0]) - larger(0, ways[1]) > near) continue;
        TL_TRY(contact_pair_room(c, (int64_t)c->pair_count + 1, err));
        c->pairs[c->pair_count] = (pair){{i, i, i, i}, {i, i}, PAIR_PLANE, b, h, c->node_area[i]};
        contact_measure_pair(c, c->pair_count++);
    }
    return TL_OK;
}

static bool is_known(const tl_contacts *c, int32_t index, const uint8_t *place)
{
    const pair *p = &c->pairs[index];
    if (p->kind == PAIR_PLANE) return false;
    if (p->body != TL_CLOTH && c->bodies[p->body].moves && c->measured_done != c->done) return false;
    for (int k = 0; k < 4; k++)
        if (p->node[k] < c->node_count && !place[p->node[k]]) return false;
    return true;
}

typedef struct keep_job {
    const tl_contacts *c;
    uint8_t *place;     // of every node
    uint8_t *is_known;  // of every pair
} keep_job;

static void place_chunk(void *arg, int32_t begin, int32_t end)
{
    const keep_job *job = arg;
    const tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const tl_vec3 x = c->at[i], s = c->settled[i], m = c->measured[i], u = c->way[i];
        uint8_t place = x.x == m.x && x.y == m.y && x.z == m.z ? MEASURED : 0;
        if (place && u.x == 0 && u.y == 0 && u.z == 0 && x.x == s.x && x.y == s.y && x.z == s.z) place |= RESTING;
        job->place[i] = place;
    }
}

static void known_chunk(void *arg, int32_t begin, int32_t end)
{
    const keep_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->is_known[i] = is_known(job->c, i, job->place);
}

// Leaves, of the first `count` pairs, those that `stay`; returns how many. Runs of them are moved at once.
static int32_t close_pairs(tl_contacts *c, const uint8_t *stay, int32_t count)
{
    int32_t to = 0;
    for (int32_t i = 0; i < count;) {
        int32_t end = i;
        while (end < count && stay[end]) end++;
        contact_move_pairs(c, i, end - i, to);
        to += end - i, i = end + 1;
    }
    return to;
}

// Is everything where it was measured, and there is no plane?
static bool all_known(const tl_contacts *c, const uint8_t *place)
{
    for (int32_t b = 0; b < c->body_count; b++)
        if (c->bodies[b].plane || (c->bodies[b].moves && c->measured_done != c->done)) return false;
    for (int32_t i = 0; i < c->node_count; i++)
        if (!place[i]) return false;
    return true;
}

typedef struct change_job { const tl_contacts *c; float *node, *edge, *face; } change_job;

// Distances change by no more than nodes move; the largest differences of ways on every axis (motion_of), as a vector, by no more than sqrt(3) times
// what ways change by.
static void change_chunk(void *arg, int32_t begin, int32_t end)
{
    const change_job *job = arg;
    const tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const double moved = tl_norm3(tl_sub3(c->at[i], c->judged_at[i])), turned = tl_norm3(tl_sub3(c->way[i], c->judged_way[i]));
        job->node[i] = (float)(1.000001 * (moved + sqrt(3) * turned));
    }
}

static inline float higher(float a, float b) { return a > b ? a : b; }

static void edge_chunk(void *arg, int32_t begin, int32_t end)
{
    const change_job *job = arg;
    const int32_t(*edge)[2] = job->c->cloth.edge;
    for (int32_t i = begin; i < end; i++) job->edge[i] = higher(job->node[edge[i][0]], job->node[edge[i][1]]);
}

static void face_chunk(void *arg, int32_t begin, int32_t end)
{
    const change_job *job = arg;
    const int32_t(*face)[3] = job->c->cloth.face;
    for (int32_t i = begin; i < end; i++) job->face[i] = higher(job->node[face[i][0]], higher(job->node[face[i][1]], job->node[face[i][2]]));
}

static tl_status see_changes(const tl_contacts *c, tl_arena *arena, tl_workers *workers, kept *out, tl_error *err)
{
    change_job job = {.c = c, .node = TL_SCRATCH(arena, float, c->node_count)};
    job.edge = TL_SCRATCH(arena, float, c->cloth.edge_count), job.face = TL_SCRATCH(arena, float, c->cloth.face_count);
    if (!job.node || !job.edge || !job.face) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(workers, c->node_count, NODES_PER_CHUNK, change_chunk, &job);
    tl_parallel_for(workers, c->cloth.edge_count, NODES_PER_CHUNK, edge_chunk, &job);
    tl_parallel_for(workers, c->cloth.face_count, NODES_PER_CHUNK, face_chunk, &job);
    out->change[0] = job.node, out->change[1] = job.edge, out->change[2] = job.face;
    return TL_OK;
}

// Leaves the pairs whose nodes are where they were measured.
static tl_status keep_measured(tl_contacts *c, tl_arena *arena, tl_workers *workers, kept *out, tl_error *err)
{
    *out = (kept){0};
    if (!c->complete) c->pair_count = 0;
    if (!c->complete) return TL_OK;
    keep_job job = {.c = c, .place = TL_SCRATCH(arena, uint8_t, c->node_count), .is_known = TL_SCRATCH(arena, uint8_t, c->pair_count)};
    out->stays = TL_SCRATCH(arena, uint8_t, c->pair_count);
    if (!job.place || !job.is_known || !out->stays) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(workers, c->node_count, NODES_PER_CHUNK, place_chunk, &job);
    out->place = job.place;
    if (!all_known(c, job.place)) {
        tl_parallel_for(workers, c->pair_count, PAIRS_PER_CHUNK, known_chunk, &job);
        c->pair_count = close_pairs(c, job.is_known, c->pair_count);
    }
    out->count = c->pair_count;
    memset(out->stays, 0, (size_t)out->count);
    return TL_OK;
}

static bool stands_before(const tl_contacts *c, const pair *p, const pair *q)
{
    const int32_t a = list_of(c, p), b = list_of(c, q);
    return a != b ? a < b : comes_before(p->found, q->found);
}

// How many of the first `count` pairs, which are sorted, stand before p. Looks from the back.
static int32_t count_before(const tl_contacts *c, const pair *p, int32_t count)
{
    int32_t low = count, high = count, step = 1;
    while (low > 0 && stands_before(c, p, &c->pairs[low - 1])) high = low - 1, low -= low < step ? low : step, step *= 2;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (stands_before(c, p, &c->pairs[middle])) high = middle;
        else low = middle + 1;
    }
    return low;
}

// New pairs go to their places among those that stay: their order is that of the lists, whatever was known.
static tl_status weave(tl_contacts *c, const kept *old, tl_arena *arena, tl_error *err)
{
    const int32_t fresh = c->pair_count - old->count, left = close_pairs(c, old->stays, old->count);
    if (left == 0 || fresh == 0) {
        contact_move_pairs(c, old->count, fresh, left);
        c->pair_count = left + fresh;
        return TL_OK;
    }
    const tl_arena_mark mark = tl_arena_save(arena);
    pair *pairs = TL_SCRATCH(arena, pair, fresh);
    nearness *near = TL_SCRATCH(arena, nearness, fresh);
    float *soft = TL_SCRATCH(arena, float, fresh);
    if (!pairs || !near || !soft) return tl_fail_memory(err, "the contacts");
    memcpy(pairs, c->pairs + old->count, (size_t)fresh * sizeof *pairs);
    memcpy(near, c->near + old->count, (size_t)fresh * sizeof *near);
    memcpy(soft, c->soft + old->count, (size_t)fresh * sizeof *soft);
    c->pair_count = left + fresh;
    int32_t end = left, to = c->pair_count;
    for (int32_t i = fresh - 1; i >= 0; i--) {
        const int32_t before = count_before(c, &pairs[i], end);
        to -= end - before + 1;
        contact_move_pairs(c, before, end - before, to + 1);
        c->pairs[to] = pairs[i], c->near[to] = near[i], c->soft[to] = soft[i];
        end = before;
    }
    tl_arena_release(arena, mark);
    return TL_OK;
}

static tl_status filter_lists(tl_contacts *c, const contact_sight *s, const kept *old, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    if (c->self) {
        TL_TRY(filter_list(c, &(list){c->found.vf, c->found.vf_count, TL_CLOTH, VF, c->far.vf}, s, old, arena, workers, err));
        TL_TRY(filter_list(c, &(list){c->found.ee, c->found.ee_count, TL_CLOTH, EE, c->far.ee}, s, old, arena, workers, err));
    }
    for (int32_t b = 0; b < c->body_count; b++) {
        const tl_pairs *f = &c->found_body[b];
        const contact_far *far = &c->far_body[b];
        if (c->bodies[b].plane) {
            TL_TRY(filter_plane(c, b, c->at, c->way, err));
            continue;
        }
        TL_TRY(filter_list(c, &(list){f->vf, f->vf_count, b, VF, far->vf}, s, old, arena, workers, err));
        TL_TRY(filter_list(c, &(list){f->fv, f->fv_count, b, FV, far->fv}, s, old, arena, workers, err));
        TL_TRY(filter_list(c, &(list){f->ee, f->ee_count, b, EE, far->ee}, s, old, arena, workers, err));
    }
    return TL_OK;
}

// Is this the search of before once more? Then its pairs are those that there are.
static bool is_repeated(const tl_contacts *c)
{
    const size_t size = (size_t)c->node_count * sizeof *c->at;
    if (!c->complete || !c->whole || !far_holds(c, TL_CLOTH)) return false;
    for (int32_t b = 0; b < c->body_count; b++)
        if (!far_holds(c, b)) return false;
    return memcmp(c->at, c->judged_at, size) == 0 && memcmp(c->way, c->judged_way, size) == 0 && memcmp(c->at, c->measured, size) == 0 &&
           memcmp(c->at, c->settled, size) == 0 && c->measured_done == c->done && c->settled_done == c->done;
}

tl_status contact_filter(tl_contacts *c, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    if (is_repeated(c)) {
        c->fresh = false;
        return TL_OK;
    }
    const tl_arena_mark mark = tl_arena_save(arena);
    contact_sight s;
    kept old;
    tl_status status = look(c, c->at, c->way, 0, arena, workers, &s, err);
    if (status == TL_OK) status = keep_measured(c, arena, workers, &old, err);
    if (status == TL_OK) status = see_changes(c, arena, workers, &old, err);
    if (status == TL_OK) status = filter_lists(c, &s, &old, arena, workers, err);
    if (status == TL_OK) status = weave(c, &old, arena, err);
    tl_arena_release(arena, mark);
    if (status != TL_OK) {
        c->pair_count = 0, c->complete = c->judged = false;
        return status;
    }
    memcpy(c->judged_at, c->at, (size_t)c->node_count * sizeof *c->judged_at);
    memcpy(c->judged_way, c->way, (size_t)c->node_count * sizeof *c->judged_way);
    c->judged = c->whole = true, c->judged_done = c->done, c->judged_part = c->aimed[1];
    memcpy(c->settled, c->at, (size_t)c->node_count * sizeof *c->settled);
    memcpy(c->measured, c->at, (size_t)c->node_count * sizeof *c->measured);
    c->settled_done = c->measured_done = c->done;
    c->fresh = false, c->complete = true;
    return TL_OK;
}
