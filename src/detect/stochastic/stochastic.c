// detect/stochastic/stochastic.c: close pairs by active pairs that walk downhill; the detectors `stochastic` and
// `combined`.
//
// Kimmerle 2005, sec. 2.3. Active are the pairs that were close in the step before and some random ones. Each walks
// from feature to neighbouring feature as long as that brings the two nearer, and what is close on the way, and beside
// it, is found. A table of pairs that have been looked at keeps walks from going where others have been, so that found
// regions grow at their rim. Distances are those of representative points first, and exact below twice the mean size of
// features. `combined` draws the random pairs from leaves of k-DOP hierarchies that overlap (sec. 2.3.2).
//
// Nothing is promised: with few new pairs much is missed. What the random walks meet that is known already estimates
// how much that is (as many as are marked among those caught again), and a controller can go by it: counts, not clocks.

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/timer.h"
#include "detect/close_test.h"
#include "detect/kdop/kdop.h"

#define NEAR_SIZES 2.0  // mean sizes of features: nearer than this the exact distance counts
enum { COMBINED_LEAF = 8, FEWEST_NEW = 10, MOST_NEW = 100000 };

typedef struct around {  // of node i: item[start[i]] .. item[start[i + 1] - 1]
    int32_t *start, *item, cap;
} around;

typedef struct slot_memory {
    int32_t slot;
    tl_active_list active;
} slot_memory;

typedef struct detector {
    tl_allocator alloc;
    tl_detect_def def;
    tl_surface surface;
    const tl_vec3 *x;
    double size;           // mean length of edges, at the last fit
    around nodes;          // neighbours of nodes
    around edges;          // edges at nodes
    int32_t (*across)[3];  // [face_count] faces across the sides; -1: none
    slot_memory *memory;
    int32_t memory_count, memory_cap;
    uint64_t *seen;  // table of pairs, open addressing; 0: free
    int32_t seen_cap, seen_count;
    tl_active *walk;  // pairs at hand
    int32_t walk_cap;
    tl_kdop *tree;  // combined only
    kdop_overlaps overlaps;
} detector;

static void destroy(void *self)
{
    detector *d = self;
    if (!d) return;
    const tl_allocator alloc = d->alloc;
    for (int32_t i = 0; i < d->memory_count; i++) TL_FREE(&alloc, d->memory[i].active.items, d->memory[i].active.cap);
    TL_FREE(&alloc, d->memory, d->memory_cap);
    TL_FREE(&alloc, d->nodes.start, d->surface.node_count + 1);
    TL_FREE(&alloc, d->nodes.item, d->nodes.cap);
    TL_FREE(&alloc, d->edges.start, d->surface.node_count + 1);
    TL_FREE(&alloc, d->edges.item, d->edges.cap);
    TL_FREE(&alloc, d->across, d->surface.face_count);
    TL_FREE(&alloc, d->seen, d->seen_cap);
    TL_FREE(&alloc, d->walk, d->walk_cap);
    TL_FREE(&alloc, d->overlaps.items, d->overlaps.cap);
    tl_kdop_destroy(d->tree);
    tl_free_bytes(&alloc, d, 1, sizeof *d);
}

// What each node has around it of edges: the edge, or the node at its other end.
static tl_status list_edges(const detector *d, bool ends, around *out, tl_error *err)
{
    const tl_surface *s = &d->surface;
    out->cap = 2 * s->edge_count;
    out->start = TL_CALLOC(&d->alloc, int32_t, s->node_count + 1);
    out->item = TL_ALLOC(&d->alloc, int32_t, out->cap);
    if (!out->start || !out->item) return tl_fail_memory(err, "the detector");
    for (int32_t e = 0; e < s->edge_count; e++) out->start[s->edge[e][0]]++, out->start[s->edge[e][1]]++;
    for (int32_t i = 0; i < s->node_count; i++) out->start[i + 1] += out->start[i];
    for (int32_t e = s->edge_count - 1; e >= 0; e--)  // backwards, so that items rise
        for (int k = 0; k < 2; k++) out->item[--out->start[s->edge[e][k]]] = ends ? s->edge[e][1 - k] : e;
    return TL_OK;
}

static tl_status list_faces(detector *d, tl_error *err)
{
    const tl_surface *s = &d->surface;
    int32_t *first = TL_CALLOC(&d->alloc, int32_t, s->node_count + 1),
            *item = TL_ALLOC(&d->alloc, int32_t, 3 * (int64_t)s->face_count);
    d->across = TL_CALLOC_FOR(&d->alloc, d->across, s->face_count);
    const bool enough = first && item && d->across;
    if (enough) {
        for (int32_t f = 0; f < s->face_count; f++)
            for (int k = 0; k < 3; k++) first[s->face[f][k]]++;
        for (int32_t i = 0; i < s->node_count; i++) first[i + 1] += first[i];
        for (int32_t f = s->face_count - 1; f >= 0; f--)
            for (int k = 0; k < 3; k++) item[--first[s->face[f][k]]] = f;
        for (int32_t f = 0; f < s->face_count; f++)
            for (int k = 0; k < 3; k++) {
                const int32_t a = s->face[f][k], b = s->face[f][(k + 1) % 3];
                d->across[f][k] = -1;
                for (int32_t i = first[a]; i < first[a + 1] && d->across[f][k] < 0; i++) {
                    const int32_t *g = s->face[item[i]];
                    if (item[i] != f && (g[0] == b || g[1] == b || g[2] == b)) d->across[f][k] = item[i];
                }
            }
    }
    TL_FREE(&d->alloc, first, s->node_count + 1);
    TL_FREE(&d->alloc, item, 3 * (int64_t)s->face_count);
    return enough ? TL_OK : tl_fail_memory(err, "the detector");
}

static tl_status create(const tl_allocator *alloc, const tl_detect_def *def, const tl_surface *surface,
                        const tl_vec3 *x, const tl_vec3 (*corner)[3], bool with_tree, void **self, tl_error *err)
{
    *self = NULL;
    if (def->new_pairs < 0 || !(def->discard >= 1) || !(def->ratio >= 0 && def->ratio < 1))
        return tl_fail(err, TL_BAD_INPUT, "new_pairs %d, discard %g, ratio %g: must be >= 0, >= 1, in [0, 1)",
                       def->new_pairs, def->discard, def->ratio);
    detector *d = TL_CALLOC(alloc, detector, 1);
    if (!d) return tl_fail_memory(err, "the detector");
    d->alloc = d->overlaps.alloc = *alloc, d->def = *def, d->surface = *surface, d->x = x;
    tl_status status = list_edges(d, true, &d->nodes, err);
    if (status == TL_OK) status = list_edges(d, false, &d->edges, err);
    if (status == TL_OK) status = list_faces(d, err);
    tl_detect_def tree = *def;
    tree.culling = 0, tree.leaf_faces = def->leaf_faces > 0 ? def->leaf_faces : COMBINED_LEAF;
    if (status == TL_OK && with_tree) status = tl_kdop_create(alloc, &tree, surface, x, corner, &d->tree, err);
    if (status != TL_OK) destroy(d), d = NULL;
    *self = d;
    return status;
}

static tl_status create_plain(const tl_allocator *alloc, const tl_detect_def *def, const tl_surface *surface,
                              const tl_vec3 *x, const tl_vec3 (*corner)[3], void **self, tl_error *err)
{
    return create(alloc, def, surface, x, corner, false, self, err);
}

static tl_status create_combined(const tl_allocator *alloc, const tl_detect_def *def, const tl_surface *surface,
                                 const tl_vec3 *x, const tl_vec3 (*corner)[3], void **self, tl_error *err)
{
    return create(alloc, def, surface, x, corner, true, self, err);
}

static tl_status fit(void *self, const tl_vec3 *x0, const tl_vec3 *x1, double reach, const tl_detect_ctx *ctx,
                     tl_error *err)
{
    detector *d = self;
    if (x1) return tl_fail(err, TL_BAD_ARG, "stochastic detection looks at places, not at paths");
    const double start = tl_processor_seconds();
    d->x = x0;
    if (d->tree) tl_kdop_fit(d->tree, x0, NULL, 0.5 * reach, d->def.skin * reach, ctx->report);
    if (d->size == 0) {  // lengths hardly change: once will do
        for (int32_t e = 0; e < d->surface.edge_count; e++)
            d->size += tl_norm3(tl_sub3(x0[d->surface.edge[e][0]], x0[d->surface.edge[e][1]])) / d->surface.edge_count;
    }
    ctx->report->fit_seconds += tl_processor_seconds() - start;
    return TL_OK;
}

static void forget(void *self)
{
    detector *d = self;
    d->size = 0;
    if (d->tree) d->tree->fitted = false;
}

// --- memory ---

static tl_active_list *memory_of(detector *d, int32_t slot, tl_error *err)
{
    for (int32_t i = 0; i < d->memory_count; i++)
        if (d->memory[i].slot == slot) return &d->memory[i].active;
    if (!TL_GROW(&d->alloc, d->memory, d->memory_cap, d->memory_count + 1)) {
        tl_fail_memory(err, "the detector");
        return NULL;
    }
    d->memory[d->memory_count] = (slot_memory){.slot = slot, .active.new_pairs = d->def.new_pairs};
    return &d->memory[d->memory_count++].active;
}

static bool is_ours(const tl_detector *kind)
{
    return kind == &tl_detector_stochastic || kind == &tl_detector_combined;
}

tl_active_list *tl_detector_memory(const tl_detector *kind, void *self, int32_t slot, tl_error *err)
{
    return is_ours(kind) && self ? memory_of(self, slot, err) : NULL;
}

tl_status tl_detector_remember(const tl_detector *kind, void *self, int32_t slot, const tl_active_list *list,
                               tl_error *err)
{
    if (!is_ours(kind) || !self) return TL_OK;
    detector *d = self;
    tl_active_list *m = memory_of(d, slot, err);
    if (!m || !TL_GROW(&d->alloc, m->items, m->cap, list->count)) return tl_fail_memory(err, "the detector");
    if (list->count > 0) memcpy(m->items, list->items, (size_t)list->count * sizeof *list->items);
    m->count = list->count, m->new_pairs = list->new_pairs, m->again = list->again, m->hits = list->hits;
    return TL_OK;
}

// --- the table of pairs that have been looked at ---

static uint64_t key_of(tl_active p)
{
    return ((uint64_t)p.kind + 1) << 62 ^ (uint64_t)(uint32_t)p.a << 31 ^ (uint32_t)p.b;
}

static bool make_room(detector *d, int32_t cap)
{
    uint64_t *old = d->seen;
    const int32_t old_cap = d->seen_cap;
    uint64_t *table = TL_CALLOC(&d->alloc, uint64_t, cap);
    if (!table) return false;
    d->seen = table, d->seen_cap = cap;
    for (int32_t i = 0; i < old_cap; i++) {
        if (old[i] == 0) continue;
        uint64_t at = (old[i] * 0x9e3779b97f4a7c15u >> 20) & (uint64_t)(cap - 1);
        while (table[at] != 0) at = (at + 1) & (uint64_t)(cap - 1);
        table[at] = old[i];
    }
    TL_FREE(&d->alloc, old, old_cap);
    return true;
}

// 1: it is new, and now it is not; 0: known; -1: no memory.
static int visit(detector *d, tl_active p)
{
    if (2 * (d->seen_count + 1) > d->seen_cap && !make_room(d, d->seen_cap > 0 ? 2 * d->seen_cap : 4096)) return -1;
    const uint64_t key = key_of(p), mask = (uint64_t)(d->seen_cap - 1);
    uint64_t at = (key * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (d->seen[at] != 0) {
        if (d->seen[at] == key) return 0;
        at = (at + 1) & mask;
    }
    d->seen[at] = key, d->seen_count++;
    return 1;
}

// --- walks ---

typedef struct walker {
    detector *d, *o;  // o: of the second surface, d itself within one
    bool self;
    double reach, near2;  // near2: square of the distance from which on the exact one counts
    tl_close_list *out;
    tl_active_list *next;  // active in the step to come
    int64_t tests;
    bool out_of_memory;
    bool is_new;  // the walk began at a random pair
    int64_t again, fresh;
} walker;

static tl_vec3 middle_of(const tl_vec3 *x, const int32_t *node, int count)
{
    tl_vec3 sum = x[node[0]];
    for (int k = 1; k < count; k++) sum = tl_add3(sum, x[node[k]]);
    return tl_mul3(1.0 / count, sum);
}

static double lesser(double a, double b) { return a < b ? a : b; }
static double greater(double a, double b) { return a > b ? a : b; }

// Are the first `first` of four points and the others further apart than `bound`, by their boxes?
static bool boxes_apart(const tl_vec3 x[4], int first, double bound)
{
    tl_vec3 lo[2], hi[2];
    for (int i = 0; i < 4; i++) {
        const int k = i >= first;
        if (i == 0 || i == first) {
            lo[k] = hi[k] = x[i];
            continue;
        }
        lo[k].x = lesser(lo[k].x, x[i].x), lo[k].y = lesser(lo[k].y, x[i].y), lo[k].z = lesser(lo[k].z, x[i].z);
        hi[k].x = greater(hi[k].x, x[i].x), hi[k].y = greater(hi[k].y, x[i].y), hi[k].z = greater(hi[k].z, x[i].z);
    }
    return lo[0].x - hi[1].x > bound || lo[1].x - hi[0].x > bound || lo[0].y - hi[1].y > bound ||
           lo[1].y - hi[0].y > bound || lo[0].z - hi[1].z > bound || lo[1].z - hi[0].z > bound;
}

// Infinite if they share a node, or if their boxes tell that they are further apart than `bound`.
static double distance(walker *w, tl_active p, double bound, tl_nearest *near)
{
    int32_t node[4];
    const int second = tl_close_nodes(&w->d->surface, &w->o->surface, p.kind, p.a, p.b, node);
    near->distance = INFINITY;
    if (w->self && close_shares_node(node, p.kind)) return INFINITY;
    tl_vec3 x[4];
    for (int i = 0; i < 4; i++) x[i] = (second >> i & 1 ? w->o->x : w->d->x)[node[i]];
    const int first = p.kind == TL_CLOSE_EE ? 2 : 1;
    static const int32_t places[4] = {0, 1, 2, 3};
    const tl_vec3 m = middle_of(x, places, first), n = middle_of(x, places + first, 4 - first), way = tl_sub3(m, n);
    const double square = tl_dot3(way, way);
    w->tests++;
    if (square > w->near2) {  // a feature far larger than the mean may be near all the same
        double large = 0;
        for (int i = 0; i < 4; i++) {
            const tl_vec3 out = tl_sub3(x[i], i < first ? m : n);
            large = fmax(large, tl_dot3(out, out));
        }
        if (square > 4 * large || !(large > w->near2)) return sqrt(square);
    }
    if (boxes_apart(x, first, bound)) return INFINITY;
    *near = close_measure(p.kind, x);
    return near->distance;
}

static void keep(walker *w, tl_active p)
{
    tl_active_list *n = w->next;
    if (!TL_GROW(&w->d->alloc, n->items, n->cap, n->count + 1))
        w->out_of_memory = true;
    else
        n->items[n->count++] = p;
}

static void found(walker *w, tl_active p, const tl_nearest *near)
{
    tl_close_list *out = w->out;
    if (!TL_GROW(&out->alloc, out->items, out->cap, out->count + 1)) {
        w->out_of_memory = true;
        return;
    }
    out->items[out->count++] = (tl_close){p.kind, p.a, p.b, *near};
    w->fresh += w->is_new;
    keep(w, p);
}

static tl_active in_order(const walker *w, tl_active p)
{
    if (w->self && p.kind == TL_CLOSE_EE && p.a > p.b) return (tl_active){p.kind, p.b, p.a};
    return p;
}

typedef struct step_down {
    tl_active best;
    double distance;
    bool any;
} step_down;

// Looks at a neighbour once.
static void try_neighbour(walker *w, tl_active p, step_down *s)
{
    p = in_order(w, p);
    const int new = visit(w->d, p);
    w->out_of_memory |= new < 0;
    if (new <= 0) return;
    tl_nearest near;
    const double r = distance(w, p, greater(w->reach, s->distance), &near);  // beyond, it would not matter
    if (near.distance < w->reach) found(w, p, &near);
    if (r < s->distance) *s = (step_down){p, r, true};
}

static void try_around_node(walker *w, const detector *of, tl_active p, bool first, step_down *s)
{
    const int32_t v = first ? p.a : p.b;
    for (int32_t i = of->nodes.start[v]; i < of->nodes.start[v + 1]; i++)
        try_neighbour(w, (tl_active){p.kind, first ? of->nodes.item[i] : p.a, first ? p.b : of->nodes.item[i]}, s);
}

static void try_around_edge(walker *w, const detector *of, tl_active p, bool first, step_down *s)
{
    const int32_t e = first ? p.a : p.b;
    for (int k = 0; k < 2; k++) {
        const int32_t v = of->surface.edge[e][k];
        for (int32_t i = of->edges.start[v]; i < of->edges.start[v + 1]; i++) {
            const int32_t g = of->edges.item[i];
            if (g != e) try_neighbour(w, (tl_active){p.kind, first ? g : p.a, first ? p.b : g}, s);
        }
    }
}

static void try_neighbours(walker *w, tl_active p, step_down *s)
{
    if (p.kind == TL_CLOSE_EE) {
        try_around_edge(w, w->d, p, true, s);
        try_around_edge(w, w->o, p, false, s);
        return;
    }
    const detector *node_side = p.kind == TL_CLOSE_VF ? w->d : w->o, *face_side = p.kind == TL_CLOSE_VF ? w->o : w->d;
    try_around_node(w, node_side, p, true, s);
    for (int k = 0; k < 3; k++) {
        const int32_t g = face_side->across[p.b][k];
        if (g >= 0) try_neighbour(w, (tl_active){p.kind, p.a, g}, s);
    }
}

// From a pair downhill to where no neighbour that has not been looked at is nearer.
static void walk_down(walker *w, tl_active p)
{
    p = in_order(w, p);
    const int new = visit(w->d, p);
    w->out_of_memory |= new < 0;
    if (new <= 0) return;  // its minimum has been tracked
    tl_nearest near;
    double here = distance(w, p, INFINITY, &near);
    if (near.distance < w->reach) found(w, p, &near);
    for (;;) {
        step_down s = {p, here, false};
        try_neighbours(w, p, &s);
        if (!s.any || w->out_of_memory) break;
        p = s.best, here = s.distance;
    }
    // Close pairs stay active anyway; a minimum that is not far from close may become one.
    if (here >= w->reach && here <= w->d->def.discard * w->reach) keep(w, p);
}

// --- random pairs ---

static int32_t draw(int64_t count, uint64_t seed, uint64_t stream, uint64_t index)
{
    const int64_t i = (int64_t)(tl_random(seed, stream, index) * (double)count);
    return (int32_t)(i < count ? i : count - 1);
}

static int32_t face_in(const tl_kdop *t, int32_t leaf, uint64_t seed, uint64_t stream, uint64_t index)
{
    const kdop_node *n = &t->nodes[leaf];
    return t->order[n->begin + draw(n->end - n->begin, seed, stream, index)];
}

// Leaves of one surface that share a node overlap whatever the shape: they say little.
static bool are_neighbours(const tl_kdop *t, tl_pair p)
{
    if (p.a == p.b) return true;
    for (int32_t i = t->first_point[p.a]; i < t->first_point[p.a + 1]; i++)
        for (int32_t j = t->first_point[p.b]; j < t->first_point[p.b + 1]; j++)
            if (t->point[i] == t->point[j]) return true;
    return false;
}

enum { DRAWS = 8 };  // until neighbours are taken all the same
static tl_pair draw_leaves(const walker *w, const kdop_overlaps *leaves, uint64_t seed, uint64_t stream, uint64_t i)
{
    tl_pair p = {0, 0};
    for (uint64_t n = 0; n < DRAWS; n++) {
        p = leaves->items[draw(leaves->count, seed, stream ^ n << 48, 5 * i)];
        if (!w->self || !are_neighbours(w->d->tree, p)) break;
    }
    return p;
}

// A feature of a face; kinds take turns.
static tl_active of_faces(const walker *w, int32_t f, int32_t g, uint64_t turn, int32_t edge_f, int32_t edge_g)
{
    const uint64_t kind = turn % 3, corner = turn / 3 % 3;
    if (kind == 0) return (tl_active){TL_CLOSE_VF, w->d->surface.face[f][corner], g};
    if (kind == 1 && !w->self) return (tl_active){TL_CLOSE_FV, w->o->surface.face[g][corner], f};
    if (kind == 1) return (tl_active){TL_CLOSE_VF, w->o->surface.face[g][corner], f};
    return (tl_active){TL_CLOSE_EE, edge_f, edge_g};
}

// An edge at a corner of a face.
static int32_t edge_at(const detector *d, int32_t f, uint64_t turn)
{
    const int32_t v = d->surface.face[f][turn % 3], begin = d->edges.start[v];
    return d->edges.item[begin + (int32_t)(turn / 3 % (uint64_t)(d->edges.start[v + 1] - begin))];
}

static void try_random(walker *w, const kdop_overlaps *leaves, uint64_t seed, uint64_t stream, uint64_t i)
{
    int32_t f, g;
    if (leaves) {
        const tl_pair p = draw_leaves(w, leaves, seed, stream, i);
        f = face_in(w->d->tree, p.a, seed, stream, 5 * i + 1), g = face_in(w->o->tree, p.b, seed, stream, 5 * i + 2);
    } else {
        f = draw(w->d->surface.face_count, seed, stream, 5 * i + 1);
        g = draw(w->o->surface.face_count, seed, stream, 5 * i + 2);
    }
    const uint64_t turn = tl_random_bits(seed, stream, 5 * i + 3) >> 8;
    const tl_active p = of_faces(w, f, g, turn, edge_at(w->d, f, turn >> 8), edge_at(w->o, g, turn >> 20));
    if (w->self && p.kind == TL_CLOSE_EE && p.a == p.b) return;
    // A random pair that is close and known is what the estimate of the ratio goes by.
    tl_nearest near;
    const int64_t before = w->tests;
    if (distance(w, p, w->reach, &near) < w->reach && near.distance < w->reach) {
        const uint64_t key = key_of(in_order(w, p)), mask = (uint64_t)(w->d->seen_cap - 1);
        uint64_t at = w->d->seen_cap > 0 ? (key * 0x9e3779b97f4a7c15u >> 20) & mask : 0;
        while (w->d->seen_cap > 0 && w->d->seen[at] != 0 && w->d->seen[at] != key) at = (at + 1) & mask;
        if (w->d->seen_cap > 0 && w->d->seen[at] == key) w->again++;
    }
    w->tests = before;  // the walk measures it again if it is new, and counts it
    walk_down(w, p);
}

// As many new pairs as bring what is known to the part that is wanted, by what random pairs have met.
#define FORGETTING 0.9
#define WITHIN 0.8  // of the tests that are allowed: no more pairs from here on
static void steer(const detector *d, tl_active_list *m, int64_t again, int64_t fresh, int64_t tests)
{
    m->again = FORGETTING * m->again + (double)again;
    m->hits = FORGETTING * m->hits + (double)(again + fresh);
    const bool bounded = d->def.most_tests > 0;
    if (d->def.ratio <= 0 && !bounded) return;
    const double ratio = m->hits > 0 ? m->again / m->hits : 1;
    double next = m->new_pairs * (d->def.ratio <= 0 || ratio < d->def.ratio ? 1.25 : 0.9);
    if (bounded && next > m->new_pairs && (double)tests > WITHIN * (double)d->def.most_tests) next = m->new_pairs;
    if (bounded && tests > d->def.most_tests) next = 0.7 * m->new_pairs;
    m->new_pairs = (int32_t)fmax(FEWEST_NEW, fmin(MOST_NEW, next));
}

static tl_status run(walker *w, const tl_detect_ask *ask, const kdop_overlaps *leaves, tl_active_list *m,
                     tl_detect_report *report, tl_error *err)
{
    detector *d = w->d;
    const int32_t count = m->count, fresh_pairs = m->new_pairs;
    if (!TL_GROW(&d->alloc, d->walk, d->walk_cap, count)) return tl_fail_memory(err, "the detector");
    if (count > 0) memcpy(d->walk, m->items, (size_t)count * sizeof *d->walk);
    if (d->seen_cap > 0) memset(d->seen, 0, (size_t)d->seen_cap * sizeof *d->seen);
    d->seen_count = 0, m->count = 0;
    for (int32_t i = 0; i < count && !w->out_of_memory; i++) walk_down(w, d->walk[i]);
    const uint64_t stream = ask->step * 1024u + (uint64_t)ask->slot;
    const bool any = leaves ? leaves->count > 0 : d->surface.face_count > 0 && w->o->surface.face_count > 0;
    w->is_new = true;
    for (int32_t i = 0; i < fresh_pairs && any && !w->out_of_memory; i++)
        try_random(w, leaves, d->def.seed, stream, (uint64_t)i);
    if (w->out_of_memory) return tl_fail_memory(err, "the detector");
    report->new_pairs += any ? fresh_pairs : 0, report->again += w->again, report->fresh += w->fresh;
    report->tests += w->tests;
    steer(d, m, w->again, w->fresh, w->tests);
    return TL_OK;
}

static tl_status find(void *self, void *other, const tl_detect_ask *ask, const tl_detect_ctx *ctx, tl_close_list *out,
                      tl_error *err)
{
    detector *d = self, *o = other ? other : self;
    const double start = tl_processor_seconds();
    out->count = 0;
    if (d->tree)
        TL_TRY(
            tl_kdop_overlaps(d->tree, other ? o->tree : NULL, ask->reach, ctx->arena, &d->overlaps, ctx->report, err));
    const double begin = tl_processor_seconds();
    tl_active_list *m = memory_of(d, ask->slot, err);
    if (!m) return TL_NO_MEMORY;
    const double size = NEAR_SIZES * 0.5 * (d->size + o->size);
    walker w = {.d = d, .o = o, .self = !other, .reach = ask->reach, .near2 = size * size, .out = out, .next = m};
    if (ask->reach > size) w.near2 = 4 * ask->reach * ask->reach;
    TL_TRY(run(&w, ask, d->tree ? &d->overlaps : NULL, m, ctx->report, err));
    TL_TRY(tl_close_sort(out, ctx->arena, err));
    ctx->report->found += out->count;
    ctx->report->overlap_seconds += begin - start, ctx->report->test_seconds += tl_processor_seconds() - begin;
    return TL_OK;
}

#define PROMISE                                                                                                        \
    "close pairs near those of the step before and near random ones; the more new pairs, the fewer are missed"

const tl_detector tl_detector_stochastic = {.name = "stochastic",
                                            .promise = PROMISE,
                                            .create = create_plain,
                                            .fit = fit,
                                            .find = find,
                                            .forget = forget,
                                            .destroy = destroy};

const tl_detector tl_detector_combined = {.name = "combined",
                                          .promise = PROMISE,
                                          .create = create_combined,
                                          .fit = fit,
                                          .find = find,
                                          .forget = forget,
                                          .destroy = destroy};
