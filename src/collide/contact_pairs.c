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
#define MOST_KNOWN 16.0  // pairs a node whose distances are all kept from one search to the next

typedef struct list { const tl_pair *items; int32_t count; int32_t body; enum { VF, FV, EE, PLANE } how; } list;

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
typedef struct lanes { float at[4][3][8], way[4][3][8]; } lanes;     // of the nodes of eight pairs
enum { LOOKS = 3 };

#define PICK(m, a, b) ((eight)(((m) & (eight_mask)(a)) | (~(m) & (eight_mask)(b))))
#define LOWER(a, b) PICK((a) < (b), a, b)
#define HIGHER(a, b) PICK((a) > (b), a, b)
#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])

// Are the features of pairs further apart than `reach` and what they can move? Says yes only if they are; `reach` allows for the rounding. The
// gap as seen along any direction is a bound from below. The first direction is the line between the middles; if it does not settle it, the way
// to the corners that are nearest along it shows a better one (Gilbert, Johnson & Keerthi 1988, on one segment at a time).
TL_CLONES static void find_apart(const lanes *l, bool edges, float reach, int32_t apart[8])
{
    eight x1[3], x2[3], x3[3], line[3], motion = {0}, far;
    for (int k = 0; k < 3; k++) {
        const eight x0 = *(const eight *)l->at[0][k];
        x1[k] = *(const eight *)l->at[1][k] - x0, x2[k] = *(const eight *)l->at[2][k] - x0, x3[k] = *(const eight *)l->at[3][k] - x0;
        const eight w0 = *(const eight *)l->way[0][k], w1 = *(const eight *)l->way[1][k];
        const eight w2 = *(const eight *)l->way[2][k], w3 = *(const eight *)l->way[3][k];
        eight lo0 = w0, hi0 = w0, lo1 = LOWER(w2, w3), hi1 = HIGHER(w2, w3);
        if (edges) {
            line[k] = 0.5f * (x2[k] + x3[k] - x1[k]);
            lo0 = LOWER(lo0, w1), hi0 = HIGHER(hi0, w1);
        } else {
            line[k] = (x1[k] + x2[k] + x3[k]) * (1.0f / 3);
            lo1 = LOWER(lo1, w1), hi1 = HIGHER(hi1, w1);
        }
        const eight one = hi0 - lo1, other = hi1 - lo0, most = HIGHER(one, other);
        motion += most * most;
    }
    for (int i = 0; i < 8; i++) far[i] = reach + sqrtf(motion[i]);
    eight_mask settled = {0};
    for (int look = 0; look < LOOKS; look++) {
        const eight a = DOT(line, x1), b = DOT(line, x2), c = DOT(line, x3), size = DOT(line, line), zero = {0};
        const eight_mask second = b < c;
        eight low = LOWER(b, c), corner[3];
        for (int k = 0; k < 3; k++) corner[k] = PICK(second, x2[k], x3[k]);
        if (edges) {
            const eight_mask first = a > zero;
            low -= PICK(first, a, zero);
            for (int k = 0; k < 3; k++) corner[k] -= PICK(first, x1[k], zero);
        } else {
            const eight_mask first = a < low;
            low = PICK(first, a, low);
            for (int k = 0; k < 3; k++) corner[k] = PICK(first, x1[k], corner[k]);
        }
        settled |= (low > zero) & (low * low > far * far * size);
        eight step[3];
        for (int k = 0; k < 3; k++) step[k] = corner[k] - line[k];
        const eight along = size - low, whole = DOT(step, step);  // -line.step
        const eight part = PICK(along < whole, along / whole, zero + 1.0f);
        for (int k = 0; k < 3; k++) line[k] += part * step[k];
    }
    *(eight_mask *)apart = settled;
}

static inline void fill_lane(const features *f, const coarse *node, int lane, lanes *l)
{
    for (int k = 0; k < 4; k++) {
        const coarse *n = &node[f->node[k]];
        for (int axis = 0; axis < 3; axis++) l->at[k][axis][lane] = n->at[axis], l->way[k][axis][lane] = n->way[axis];
    }
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

/// What is known of pairs of before whose nodes are where they were measured.
typedef struct known { tl_pair found; double thickness; nearness near; float soft; int32_t list; } known;

/// Pairs are in the order of the lists they came from, and these numbers rise in that order.
static inline int32_t number_of(int32_t body, int how) { return 4 * body + how; }

/// Those of one list.
typedef struct run { int32_t list, begin, end; } run;

typedef struct kept {
    const uint8_t *place;  // [node_count] MEASURED, RESTING or 0; NULL: none are kept
    const known *pairs;
    const run *runs;       // in the order of the lists
    int32_t run_count, next;  // runs before `next` belong to lists that have been seen to
} kept;

enum { MEASURED = 1, RESTING = 2 };  // the node is where it was measured; and where pairs are complete, and stays there
enum { OUT, IN, KNOWN };             // what becomes of what the trees found

typedef struct filter_job {
    tl_contacts *c;
    const list *l;
    const tl_vec3 *at, *way;
    const coarse *node;
    float reach;           // for `node`
    double slack;          // nodes may be this far from where they are said to be
    uint8_t *keep;         // OUT, IN or KNOWN
    const kept *old;       // NULL: nothing is known
    bool body_rests;       // the body of the list
    int32_t old_begin, old_end;  // what is known of the list
    int32_t *which;        // of those that are KNOWN: number in `old`
    tl_pair *items;        // those of the list, to be thinned out
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

static void mark_eight(const filter_job *job, const features f[8], const int32_t *item, int n)
{
    lanes l;
    int32_t apart[8];
    for (int k = 0; k < 8; k++) fill_lane(&f[k < n ? k : 0], job->node, k, &l);
    find_apart(&l, job->l->how == EE, job->reach, apart);
    for (int k = 0; k < n; k++) job->keep[item[k]] = apart[k] ? OUT : IN;
}

static void mark_chunk(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    features f[8];
    int32_t item[8], n = 0;
    for (int32_t i = begin; i < end; i++) {
        if (job->keep[i] == KNOWN) continue;
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

static void thin_chunk(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    memset(job->keep + begin, OUT, (size_t)(end - begin));
    mark_chunk(arg, begin, end);
    int32_t to = begin;
    for (int32_t i = begin; i < end; i++) {
        if (!job->keep[i]) continue;
        const features f = features_of(job->c, job->l, i);
        const tl_vec3 x[4] = {job->at[f.node[0]], job->at[f.node[1]], job->at[f.node[2]], job->at[f.node[3]]};
        const tl_nearest now = job->l->how == EE ? tl_nearest_ee(x[0], x[1], x[2], x[3]) : tl_nearest_vf(x[0], x[1], x[2], x[3]);
        pair p;
        if (make_pair(job->c, job->l, i, &p) && now.distance <= p.thickness + spare_of(job, &f)) job->items[to++] = job->items[i];
    }
    job->left[begin / FOUND_PER_CHUNK] = to - begin;
}

// Is a pair worth it? Measures it unless it is known.
static bool fill_pair(const filter_job *job, int32_t from, int32_t to)
{
    tl_contacts *c = job->c;
    pair *p = &c->pairs[to];
    if (!make_pair(c, job->l, from, p)) return false;
    const features f = {{p->node[0], p->node[1], p->node[2], p->node[3]}, first_count(p)};
    const double spare = spare_of(job, &f);
    if (job->keep[from] == KNOWN) {
        const known *k = &job->old->pairs[job->which[from]];
        p->thickness = k->thickness, c->near[to] = k->near, c->soft[to] = k->soft;
        return k->near.distance <= k->thickness + spare;
    }
    contact_measure_pair(c, to);
    if (!(c->near[to].distance <= p->thickness + spare)) return false;
    if (p->body == TL_CLOTH) p->thickness = own_thickness(c, p, p->thickness);
    return c->near[to].distance <= p->thickness + spare;
}

static void fill_pairs(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    const int32_t chunk = begin / FOUND_PER_CHUNK, first = job->first + job->start[chunk];
    int32_t to = first;
    for (int32_t i = begin; i < end; i++)
        if (job->keep[i] != OUT && fill_pair(job, i, to)) to++;
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

// .keep is NULL without memory.
static filter_job start_list(tl_contacts *c, const list *l, const contact_sight *s, tl_arena *arena)
{
    filter_job job = {.c = c, .l = l, .at = s->at, .way = s->way, .node = s->node, .first = c->pair_count, .slack = s->slack};
    job.reach = (float)(1.000001 * (contact_reach(c, l->body) + 2 * c->skin + 2 * s->slack + s->slop));
    job.keep = TL_SCRATCH(arena, uint8_t, l->count);
    job.left = TL_SCRATCH(arena, int32_t, tl_chunk_count(l->count, FOUND_PER_CHUNK));
    if (!job.left) job.keep = NULL;
    return job;
}

static bool comes_before(tl_pair p, tl_pair q) { return p.a < q.a || (p.a == q.a && p.b < q.b); }

// Where what is known of a list has come to p. Both are sorted.
static int32_t first_known(const filter_job *job, tl_pair p)
{
    int32_t low = job->old_begin, high = job->old_end;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (comes_before(job->old->pairs[middle].found, p)) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Marks what is known of a list.
static void recall(const filter_job *job, int32_t begin, int32_t end)
{
    const tl_pair *items = job->l->items;
    const known *old = job->old->pairs;
    int32_t k = first_known(job, items[begin]);
    for (int32_t i = begin; i < end; i++) {
        while (k < job->old_end && comes_before(old[k].found, items[i])) k++;
        const bool found = k < job->old_end && !comes_before(items[i], old[k].found);
        job->keep[i] = found ? KNOWN : OUT, job->which[i] = k;
    }
}

static void choose_chunk(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    recall(job, begin, end);
    mark_chunk(arg, begin, end);
    int32_t count = 0;
    for (int32_t i = begin; i < end; i++) count += job->keep[i] != OUT;
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

// One part of a list after the other, so that there is little room for pairs that turn out not to be worth it. `r` is what is known of the list.
static tl_status filter_part(tl_contacts *c, const list *l, const contact_sight *s, const kept *old, const run *r, tl_arena *arena,
                             tl_workers *workers, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(arena);
    const int32_t chunks = tl_chunk_count(l->count, FOUND_PER_CHUNK);
    filter_job job = start_list(c, l, s, arena);
    job.start = TL_SCRATCH(arena, int32_t, chunks);
    job.which = TL_SCRATCH(arena, int32_t, l->count);
    if (!job.keep || !job.start || !job.which) return tl_fail_memory(err, "the contacts");
    job.old = old, job.old_begin = r->begin, job.old_end = r->end, job.body_rests = body_rests(c, l->body);
    tl_parallel_for(workers, l->count, FOUND_PER_CHUNK, choose_chunk, &job);
    const int32_t count = contact_add_up(job.left, chunks, job.start);
    TL_TRY(contact_pair_room(c, (int64_t)c->pair_count + count, err));
    tl_parallel_for(workers, l->count, FOUND_PER_CHUNK, fill_pairs, &job);
    close_gaps(&job, chunks);
    tl_arena_release(arena, mark);
    return TL_OK;
}

static tl_status filter_list(tl_contacts *c, const list *l, const contact_sight *s, kept *old, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    run r = {0, 0, 0};
    if (old->next < old->run_count && old->runs[old->next].list == number_of(l->body, l->how)) r = old->runs[old->next++];
    for (int32_t begin = 0; begin < l->count; begin += FOUND_PER_PART) {
        const int32_t count = l->count - begin < FOUND_PER_PART ? l->count - begin : FOUND_PER_PART;
        TL_TRY(filter_part(c, &(list){l->items + begin, count, l->body, l->how}, s, old, &r, arena, workers, err));
    }
    return TL_OK;
}

// Closes the gaps that chunks leave in a list; returns how many are left.
static int32_t close_list(tl_pair *items, int32_t count, int32_t chunk, const int32_t *left)
{
    int32_t to = 0;
    for (int32_t i = 0; i < tl_chunk_count(count, chunk); i++) {
        const int32_t begin = i * chunk, n = left[i];
        if (to < begin) memmove(items + to, items + begin, (size_t)n * sizeof *items);
        to += n;
    }
    return to;
}

static tl_status thin_list(tl_contacts *c, tl_pair *items, int32_t *count, int32_t body, int how, const contact_sight *s, tl_arena *arena,
                           tl_workers *workers, tl_error *err)
{
    if (*count == 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(arena);
    const list l = {items, *count, body, how};
    filter_job job = start_list(c, &l, s, arena);
    if (!job.keep) return tl_fail_memory(err, "the contacts");
    job.items = items;
    tl_parallel_for(workers, *count, FOUND_PER_CHUNK, thin_chunk, &job);
    *count = close_list(items, *count, FOUND_PER_CHUNK, job.left);
    tl_arena_release(arena, mark);
    return TL_OK;
}

tl_status contact_thin_out(tl_contacts *c, tl_pairs *f, int32_t body, const contact_sight *s, tl_arena *arena, tl_workers *workers,
                           tl_error *err)
{
    TL_TRY(thin_list(c, f->vf, &f->vf_count, body, VF, s, arena, workers, err));
    if (body != TL_CLOTH) TL_TRY(thin_list(c, f->fv, &f->fv_count, body, FV, s, arena, workers, err));
    return thin_list(c, f->ee, &f->ee_count, body, EE, s, arena, workers, err);
}

typedef struct exchange_job { const tl_contacts *c; const list *l; const uint8_t *changed; tl_pair *items; int32_t *left; } exchange_job;

static bool has_changed(const tl_contacts *c, const list *l, int32_t i, const uint8_t *changed)
{
    const features f = features_of(c, l, i);
    for (int k = 0; k < 4; k++)
        if (f.node[k] < c->node_count && changed[f.node[k]]) return true;
    return false;
}

static void drop_chunk(void *arg, int32_t begin, int32_t end)
{
    const exchange_job *job = arg;
    int32_t to = begin;
    for (int32_t i = begin; i < end; i++)
        if (!has_changed(job->c, job->l, i, job->changed)) job->items[to++] = job->items[i];
    job->left[begin / DROP_PER_CHUNK] = to - begin;
}

// Both lists are sorted and stay so.
static tl_status exchange_list(tl_contacts *c, tl_pair **items, int32_t *count, int32_t *cap, const tl_pair *in, int32_t in_count, int32_t body,
                               int how, const uint8_t *changed, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(arena);
    const list l = {*items, *count, body, how};
    const exchange_job job = {c, &l, changed, *items, TL_SCRATCH(arena, int32_t, tl_chunk_count(*count, DROP_PER_CHUNK))};
    if (!job.left) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(workers, *count, DROP_PER_CHUNK, drop_chunk, (void *)&job);
    const int32_t left = close_list(*items, *count, DROP_PER_CHUNK, job.left);
    tl_arena_release(arena, mark);
    *count = left;
    if (!CONTACT_GROW(c, *items, *cap, (int64_t)left + in_count)) return tl_fail_memory(err, "the contacts");
    *count = left + in_count;
    for (int32_t i = left - 1, j = in_count - 1, to = *count - 1; j >= 0; to--)  // from the back: nothing is overwritten that is still needed
        (*items)[to] = i >= 0 && comes_before(in[j], (*items)[i]) ? (*items)[i--] : in[j--];
    return TL_OK;
}

tl_status contact_exchange(tl_contacts *c, tl_pairs *f, int32_t body, const uint8_t *changed, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    const tl_pairs *in = &c->found_some;
    TL_TRY(exchange_list(c, &f->vf, &f->vf_count, &f->vf_cap, in->vf, in->vf_count, body, VF, changed, arena, workers, err));
    if (body != TL_CLOTH)
        TL_TRY(exchange_list(c, &f->fv, &f->fv_count, &f->fv_cap, in->fv, in->fv_count, body, FV, changed, arena, workers, err));
    return exchange_list(c, &f->ee, &f->ee_count, &f->ee_cap, in->ee, in->ee_count, body, EE, changed, arena, workers, err);
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

// With many pairs only the near ones are worth their memory.
static bool is_known(const tl_contacts *c, int32_t index, const uint8_t *place)
{
    const pair *p = &c->pairs[index];
    if (p->kind == PAIR_PLANE) return false;
    if (c->pair_count > MOST_KNOWN * c->node_count && !(c->near[index].distance <= p->thickness + 2 * c->skin)) return false;
    if (p->body != TL_CLOTH && c->bodies[p->body].moves && c->measured_done != c->done) return false;
    for (int k = 0; k < 4; k++)
        if (p->node[k] < c->node_count && !place[p->node[k]]) return false;
    return true;
}

typedef struct keep_job {
    const tl_contacts *c;
    uint8_t *place;         // of every node
    uint8_t *is_known;      // of every pair
    int32_t *count, *start;  // of every chunk of pairs
    known *pairs;
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
    int32_t count = 0;
    for (int32_t i = begin; i < end; i++) count += job->is_known[i] = is_known(job->c, i, job->place);
    job->count[begin / PAIRS_PER_CHUNK] = count;
}

static void keep_chunk(void *arg, int32_t begin, int32_t end)
{
    const keep_job *job = arg;
    const tl_contacts *c = job->c;
    known *to = job->pairs + job->start[begin / PAIRS_PER_CHUNK];
    for (int32_t i = begin; i < end; i++) {
        if (!job->is_known[i]) continue;
        const pair *p = &c->pairs[i];
        const int how = p->kind == PAIR_EE ? EE : p->node[0] < c->node_count ? VF : FV;
        *to++ = (known){p->found, p->thickness, c->near[i], c->soft[i], number_of(p->body, how)};
    }
}

// Where the run that begins at `begin` ends.
static int32_t run_end(const known *pairs, int32_t begin, int32_t count)
{
    int32_t low = begin + 1, high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (pairs[middle].list == pairs[begin].list) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Copies what is measured already.
static tl_status keep_measured(const tl_contacts *c, tl_arena *arena, tl_workers *workers, kept *out, tl_error *err)
{
    *out = (kept){0};
    if (!c->complete) return TL_OK;
    const int32_t chunks = tl_chunk_count(c->pair_count, PAIRS_PER_CHUNK);
    keep_job job = {.c = c, .place = TL_SCRATCH(arena, uint8_t, c->node_count), .is_known = TL_SCRATCH(arena, uint8_t, c->pair_count)};
    job.count = TL_SCRATCH(arena, int32_t, chunks), job.start = TL_SCRATCH(arena, int32_t, chunks);
    run *runs = TL_SCRATCH(arena, run, 2 + 3 * c->body_count);
    if (!job.place || !job.is_known || !job.count || !job.start || !runs) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(workers, c->node_count, NODES_PER_CHUNK, place_chunk, &job);
    tl_parallel_for(workers, c->pair_count, PAIRS_PER_CHUNK, known_chunk, &job);
    const int32_t count = contact_add_up(job.count, chunks, job.start);
    job.pairs = TL_SCRATCH(arena, known, count);
    if (!job.pairs) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(workers, c->pair_count, PAIRS_PER_CHUNK, keep_chunk, &job);
    for (int32_t begin = 0; begin < count;) {
        const int32_t end = run_end(job.pairs, begin, count);
        TL_ASSERT(out->run_count < 2 + 3 * c->body_count, "pairs are not in the order of the lists");
        runs[out->run_count++] = (run){job.pairs[begin].list, begin, end};
        begin = end;
    }
    out->place = job.place, out->pairs = job.pairs, out->runs = runs;
    return TL_OK;
}

static tl_status filter_lists(tl_contacts *c, const contact_sight *s, kept *old, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    c->pair_count = 0;
    if (c->self) {
        TL_TRY(filter_list(c, &(list){c->found.vf, c->found.vf_count, TL_CLOTH, VF}, s, old, arena, workers, err));
        TL_TRY(filter_list(c, &(list){c->found.ee, c->found.ee_count, TL_CLOTH, EE}, s, old, arena, workers, err));
    }
    for (int32_t b = 0; b < c->body_count; b++) {
        const tl_pairs *f = &c->found_body[b];
        if (c->bodies[b].plane) {
            TL_TRY(filter_plane(c, b, c->at, c->way, err));
            continue;
        }
        TL_TRY(filter_list(c, &(list){f->vf, f->vf_count, b, VF}, s, old, arena, workers, err));
        TL_TRY(filter_list(c, &(list){f->fv, f->fv_count, b, FV}, s, old, arena, workers, err));
        TL_TRY(filter_list(c, &(list){f->ee, f->ee_count, b, EE}, s, old, arena, workers, err));
    }
    return TL_OK;
}

tl_status contact_filter(tl_contacts *c, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(arena);
    contact_sight s;
    kept old;
    tl_status status = look(c, c->at, c->way, 0, arena, workers, &s, err);
    if (status == TL_OK) status = keep_measured(c, arena, workers, &old, err);
    if (status == TL_OK) status = filter_lists(c, &s, &old, arena, workers, err);
    if (status == TL_OK && old.next < old.run_count)  // never, while lists and pairs are in the same order
        status = filter_lists(c, &s, &(kept){0}, arena, workers, err);
    tl_arena_release(arena, mark);
    if (status != TL_OK) return status;
    memcpy(c->settled, c->at, (size_t)c->node_count * sizeof *c->settled);
    memcpy(c->measured, c->at, (size_t)c->node_count * sizeof *c->measured);
    c->settled_done = c->measured_done = c->done;
    c->fresh = false, c->complete = true;
    return TL_OK;
}
