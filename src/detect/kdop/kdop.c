// detect/kdop/kdop.c: make, fit, traverse and test a hierarchy of k-DOPs; the detector `k-dop`.
//
// Features are shared out among faces: every node and every edge is tested with one of its faces alone, so the 6 + 9
// tests of two faces (Kimmerle 2005, sec. 2.2.1) never come twice.

#include "detect/kdop/kdop.h"

#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "detect/close_test.h"
#include "math/vec3.h"

void tl_kdop_destroy(tl_kdop *t)
{
    if (!t) return;
    const tl_allocator alloc = t->alloc;
    const int32_t faces = t->surface.face_count, volumes = t->node_count * t->axes;
    kdop_cull_destroy(t);
    TL_FREE(&alloc, t->lo, volumes);
    TL_FREE(&alloc, t->hi, volumes);
    TL_FREE(&alloc, t->dirty, t->node_count);
    TL_FREE(&alloc, t->nodes, t->node_cap);
    TL_FREE(&alloc, t->order, faces);
    TL_FREE(&alloc, t->point, 3 * (int64_t)faces);
    TL_FREE(&alloc, t->first_point, t->node_count + 1);
    TL_FREE(&alloc, t->owns, faces);
    TL_FREE(&alloc, t->side, faces);
    TL_FREE(&alloc, t->ref, t->surface.node_count);
    TL_FREE(&alloc, t->moved, t->surface.node_count);
    tl_free_bytes(&alloc, t, 1, sizeof *t);
}

// Edges around their lower node: first[i] .. first[i + 1] in `edges`.
static void sort_edges(const tl_surface *s, int32_t *first, int32_t *edges)
{
    memset(first, 0, (size_t)(s->node_count + 2) * sizeof *first);
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t low = s->edge[e][0] < s->edge[e][1] ? s->edge[e][0] : s->edge[e][1];
        first[low + 2]++;
    }
    for (int32_t i = 0; i < s->node_count; i++) first[i + 2] += first[i + 1];
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t low = s->edge[e][0] < s->edge[e][1] ? s->edge[e][0] : s->edge[e][1];
        edges[first[low + 1]++] = e;
    }
}

// Every node and edge belongs to the first face that has it.
static tl_status share_features(tl_kdop *t, tl_error *err)
{
    const tl_surface *s = &t->surface;
    int32_t *first = TL_ALLOC(&t->alloc, int32_t, s->node_count + 2),
            *edges = TL_ALLOC(&t->alloc, int32_t, s->edge_count);
    uint8_t *node_taken = TL_CALLOC(&t->alloc, uint8_t, s->node_count),
            *edge_taken = TL_CALLOC(&t->alloc, uint8_t, s->edge_count);
    const bool enough = first && edges && node_taken && edge_taken;
    if (enough) {
        sort_edges(s, first, edges);
        for (int32_t f = 0; f < s->face_count; f++)
            for (int k = 0; k < 3; k++) {
                const int32_t a = s->face[f][k], b = s->face[f][(k + 1) % 3], low = a < b ? a : b, high = a < b ? b : a;
                t->side[f][k] = -1;
                for (int32_t i = first[low]; i < first[low + 1]; i++)
                    if (s->edge[edges[i]][0] == high || s->edge[edges[i]][1] == high) t->side[f][k] = edges[i];
                if (!node_taken[a]) node_taken[a] = 1, t->owns[f][0] |= (uint8_t)(1 << k);
                const int32_t e = t->side[f][k];
                if (e >= 0 && !edge_taken[e]) edge_taken[e] = 1, t->owns[f][1] |= (uint8_t)(1 << k);
            }
    }
    TL_FREE(&t->alloc, first, s->node_count + 2);
    TL_FREE(&t->alloc, edges, s->edge_count);
    TL_FREE(&t->alloc, node_taken, s->node_count);
    TL_FREE(&t->alloc, edge_taken, s->edge_count);
    return enough ? TL_OK : tl_fail_memory(err, "a k-DOP hierarchy");
}

static tl_status make(tl_kdop *t, const tl_detect_def *def, const tl_vec3 *x, const tl_vec3 (*corner)[3], tl_error *err)
{
    const int32_t faces = t->surface.face_count, nodes = t->surface.node_count;
    t->order = TL_ALLOC(&t->alloc, int32_t, faces);
    t->point = TL_ALLOC(&t->alloc, int32_t, 3 * (int64_t)faces);
    t->owns = TL_CALLOC_FOR(&t->alloc, t->owns, faces);
    t->side = TL_CALLOC_FOR(&t->alloc, t->side, faces);
    t->ref = TL_CALLOC(&t->alloc, tl_vec3, nodes);
    t->moved = TL_CALLOC(&t->alloc, uint8_t, nodes);
    if (!t->order || !t->point || !t->owns || !t->side || !t->ref || !t->moved)
        return tl_fail_memory(err, "a k-DOP hierarchy");
    const tl_status built = kdop_build(t, x, corner, err);
    t->lo = TL_CALLOC(&t->alloc, double, (size_t)t->node_count *(size_t)t->axes);
    t->hi = TL_CALLOC(&t->alloc, double, (size_t)t->node_count *(size_t)t->axes);
    t->dirty = TL_CALLOC(&t->alloc, uint8_t, t->node_count);
    if (built != TL_OK) return built;
    if (!t->lo || !t->hi || !t->dirty) return tl_fail_memory(err, "a k-DOP hierarchy");
    TL_TRY(share_features(t, err));
    return def->culling ? kdop_cull_create(t, err) : TL_OK;
}

tl_status tl_kdop_create(const tl_allocator *alloc, const tl_detect_def *def, const tl_surface *surface,
                         const tl_vec3 *x, const tl_vec3 (*corner)[3], tl_kdop **out, tl_error *err)
{
    *out = NULL;
    const int32_t k = def->k, arity = def->arity, leaf = def->leaf_faces;
    if (k != 6 && k != 14 && k != 18 && k != 26) return tl_fail(err, TL_BAD_INPUT, "k %d, must be 6, 14, 18 or 26", k);
    if (arity != 2 && arity != 4 && arity != 8) return tl_fail(err, TL_BAD_INPUT, "arity %d, must be 2, 4 or 8", arity);
    if (leaf < 0 || leaf > KDOP_MAX_LEAF)
        return tl_fail(err, TL_BAD_INPUT, "%d faces in a leaf, must be 1 to %d", leaf, (int)KDOP_MAX_LEAF);
    tl_kdop *t = TL_CALLOC(alloc, tl_kdop, 1);
    if (!t) return tl_fail_memory(err, "a k-DOP hierarchy");
    t->alloc = *alloc, t->surface = *surface;
    t->axes = k / 2, t->arity = arity, t->leaf_faces = leaf > 0 ? leaf : 1;
    const tl_status status = make(t, def, x, corner, err);
    if (status != TL_OK) tl_kdop_destroy(t), t = NULL;
    *out = t;
    return status;
}

// --- fit ---

static void widen(const tl_kdop *t, int32_t node, tl_vec3 p)
{
    double q[KDOP_MAX_AXES], *lo = t->lo + (size_t)node * (size_t)t->axes, *hi = t->hi + (size_t)node * (size_t)t->axes;
    kdop_project(t->axes, p, q);
    for (int a = 0; a < t->axes; a++) lo[a] = q[a] < lo[a] ? q[a] : lo[a], hi[a] = q[a] > hi[a] ? q[a] : hi[a];
}

static void fit_leaf(const tl_kdop *t, int32_t node, double margin)
{
    double *lo = t->lo + (size_t)node * (size_t)t->axes, *hi = t->hi + (size_t)node * (size_t)t->axes;
    for (int a = 0; a < t->axes; a++) lo[a] = INFINITY, hi[a] = -INFINITY;
    for (int32_t i = t->first_point[node]; i < t->first_point[node + 1]; i++) {
        widen(t, node, t->ref[t->point[i]]);
        if (t->x1) widen(t, node, t->x1[t->point[i]]);
    }
    for (int a = 0; a < t->axes; a++) {  // by the length of the direction, as that is what products have
        const double m = margin * kdop_length(t->axes, a);
        lo[a] -= m, hi[a] += m;
    }
}

static void fit_inner(const tl_kdop *t, int32_t node)
{
    const size_t n = (size_t)t->axes;
    double *lo = t->lo + (size_t)node * n, *hi = t->hi + (size_t)node * n;
    for (int a = 0; a < t->axes; a++) lo[a] = INFINITY, hi[a] = -INFINITY;
    for (int32_t c = t->nodes[node].child; c < t->nodes[node].child + t->nodes[node].child_count; c++)
        for (int a = 0; a < t->axes; a++) {
            const double l = t->lo[(size_t)c * n + (size_t)a], h = t->hi[(size_t)c * n + (size_t)a];
            lo[a] = l < lo[a] ? l : lo[a], hi[a] = h > hi[a] ? h : hi[a];  // fmin and fmax are calls
        }
}

// Has a volume to follow? Children are looked at before their parents.
static bool has_to_follow(const tl_kdop *t, int32_t node)
{
    const kdop_node *v = &t->nodes[node];
    for (int32_t c = v->child; c < v->child + v->child_count; c++)
        if (t->dirty[c]) return true;
    if (v->child_count > 0) return false;
    for (int32_t i = t->first_point[node]; i < t->first_point[node + 1]; i++)
        if (t->moved[t->point[i]]) return true;
    return false;
}

void tl_kdop_fit(tl_kdop *t, const tl_vec3 *x0, const tl_vec3 *x1, double margin, double skin, tl_detect_report *report)
{
    const double total = margin + (x1 ? 0 : skin);
    const bool whole = !t->fitted || x1 || t->swept || t->margin != total;
    t->x0 = x0, t->x1 = x1, t->margin = total, t->swept = x1 != NULL, t->fitted = true;
    for (int32_t i = 0; i < t->surface.node_count; i++) {
        const tl_vec3 way = tl_sub3(x0[i], t->ref[i]);
        t->moved[i] = whole || !(tl_dot3(way, way) <= skin * skin);
        if (t->moved[i]) t->ref[i] = x0[i];
    }
    for (int32_t i = t->node_count - 1; i >= 0; i--) {
        t->dirty[i] = whole || has_to_follow(t, i);
        if (!t->dirty[i]) continue;
        report->fitted++;
        if (t->nodes[i].child_count > 0)
            fit_inner(t, i);
        else
            fit_leaf(t, i, total);
    }
    report->volumes += t->node_count;
}

// --- traverse ---

static bool overlap(const tl_kdop *a, int32_t i, const tl_kdop *b, int32_t j)
{
    const size_t n = (size_t)a->axes;
    const double *lo = a->lo + (size_t)i * n, *hi = a->hi + (size_t)i * n, *lo2 = b->lo + (size_t)j * n,
                 *hi2 = b->hi + (size_t)j * n;
    for (size_t k = 0; k < n; k++)
        if (!(lo[k] <= hi2[k] && lo2[k] <= hi[k])) return false;
    return true;
}

static double size_of(const tl_kdop *t, int32_t i)
{
    const double *lo = t->lo + (size_t)i * (size_t)t->axes, *hi = t->hi + (size_t)i * (size_t)t->axes;
    return (hi[0] - lo[0]) + (hi[1] - lo[1]) + (hi[2] - lo[2]);
}

typedef struct traversal {
    const tl_kdop *first, *second;
    tl_allocator alloc;
    tl_pair *stack;
    int32_t depth, cap;
} traversal;

static bool push(traversal *v, int32_t a, int32_t b)
{
    if (!TL_GROW(&v->alloc, v->stack, v->cap, v->depth + 1)) return false;
    v->stack[v->depth++] = (tl_pair){a, b};
    return true;
}

// What a pair of volumes comes to: its children, the larger one first (Kimmerle 2005, sec. 2.2.1.1, after van den
// Bergen); a volume with itself: all pairs of its children.
static bool descend(traversal *v, tl_pair p)
{
    const tl_kdop *a = v->first, *b = v->second;
    const kdop_node *m = &a->nodes[p.a], *n = &b->nodes[p.b];
    bool done = true;
    if (a == b && p.a == p.b) {
        for (int32_t c = m->child; c < m->child + m->child_count; c++)
            for (int32_t d = c; d < m->child + m->child_count; d++) done = done && push(v, c, d);
        return done;
    }
    if (n->child_count == 0 || (m->child_count > 0 && size_of(a, p.a) >= size_of(b, p.b))) {
        for (int32_t c = m->child; c < m->child + m->child_count; c++) done = done && push(v, c, p.b);
    } else {
        for (int32_t c = n->child; c < n->child + n->child_count; c++) done = done && push(v, p.a, c);
    }
    return done;
}

static tl_status walk(traversal *v, kdop_overlaps *out, tl_detect_report *report, tl_error *err)
{
    const bool self = v->first == v->second;
    if (v->first->surface.face_count == 0 || v->second->surface.face_count == 0) return TL_OK;
    bool enough = push(v, 0, 0);
    while (enough && v->depth > 0) {
        const tl_pair p = v->stack[--v->depth];
        const bool same = self && p.a == p.b;
        if (same && kdop_is_smooth(v->first, p.a)) continue;
        if (!same) {
            report->volume_tests++;
            if (!overlap(v->first, p.a, v->second, p.b)) continue;
        }
        if (v->first->nodes[p.a].child_count > 0 || v->second->nodes[p.b].child_count > 0) {
            enough = descend(v, p);
        } else {
            enough = TL_GROW(&out->alloc, out->items, out->cap, out->count + 1);
            const bool swap = self && p.a > p.b;
            if (enough) out->items[out->count++] = swap ? (tl_pair){p.b, p.a} : p;
        }
    }
    return enough ? TL_OK : tl_fail_memory(err, "a k-DOP hierarchy");
}

tl_status tl_kdop_overlaps(const tl_kdop *first, const tl_kdop *second, double reach, tl_arena *arena,
                           kdop_overlaps *out, tl_detect_report *report, tl_error *err)
{
    out->count = 0;
    if (!second && first->cull && !first->x1) kdop_cull_fit((tl_kdop *)first, reach, arena);
    traversal v = {.first = first, .second = second ? second : first, .alloc = out->alloc};
    const tl_status status = walk(&v, out, report, err);
    TL_FREE(&v.alloc, v.stack, v.cap);
    return status;
}

// --- test ---

typedef struct tester {
    close_test t;
    const tl_kdop *first, *second;
    bool self;
    tl_close_list *out;
    int64_t tests;
} tester;

typedef struct box {
    tl_vec3 lo, hi;
} box;

static double lesser(double a, double b) { return a < b ? a : b; }
static double greater(double a, double b) { return a > b ? a : b; }

static void put(box *b, tl_vec3 p)
{
    b->lo = (tl_vec3){lesser(b->lo.x, p.x), lesser(b->lo.y, p.y), lesser(b->lo.z, p.z)};
    b->hi = (tl_vec3){greater(b->hi.x, p.x), greater(b->hi.y, p.y), greater(b->hi.z, p.z)};
}

static box box_of(const int32_t *node, int count, const tl_vec3 *x0, const tl_vec3 *x1)
{
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int k = 0; k < count; k++) {
        put(&b, x0[node[k]]);
        if (x1) put(&b, x1[node[k]]);
    }
    return b;
}

static bool apart(const box *a, const box *b, double reach)
{
    return a->lo.x - b->hi.x > reach || b->lo.x - a->hi.x > reach || a->lo.y - b->hi.y > reach ||
           b->lo.y - a->hi.y > reach || a->lo.z - b->hi.z > reach || b->lo.z - a->hi.z > reach;
}

static tl_status test_nodes(tester *s, int32_t f, int32_t g, int32_t kind, tl_error *err)
{
    const bool back = kind == TL_CLOSE_FV;
    const tl_kdop *of = back ? s->second : s->first, *against = back ? s->first : s->second;
    const tl_vec3 *x0 = back ? s->t.y0 : s->t.x0, *x1 = back ? s->t.y1 : s->t.x1, *y0 = back ? s->t.x0 : s->t.y0,
                  *y1 = back ? s->t.x1 : s->t.y1;
    const int32_t *face = against->surface.face[g];
    const box b = box_of(face, 3, y0, y1);
    for (int k = 0; k < 3; k++) {
        if (!(of->owns[f][0] >> k & 1)) continue;
        const int32_t v = of->surface.face[f][k];
        if (s->self && (v == face[0] || v == face[1] || v == face[2])) continue;
        const box a = box_of(&v, 1, x0, x1);
        if (apart(&a, &b, s->t.reach)) continue;
        s->tests++;
        TL_TRY(close_try(&s->t, kind, v, g, s->out, err));
    }
    return TL_OK;
}

static tl_status test_sides(tester *s, int32_t f, int32_t g, tl_error *err)
{
    for (int k = 0; k < 3; k++) {
        if (!(s->first->owns[f][1] >> k & 1)) continue;
        const int32_t e = s->first->side[f][k], *a = s->first->surface.edge[e];
        const box one = box_of(a, 2, s->t.x0, s->t.x1);
        for (int l = 0; l < 3; l++) {
            if (!(s->second->owns[g][1] >> l & 1)) continue;
            const int32_t h = s->second->side[g][l], *b = s->second->surface.edge[h];
            if (s->self && (e == h || a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1])) continue;
            const box two = box_of(b, 2, s->t.y0, s->t.y1);
            if (apart(&one, &two, s->t.reach)) continue;
            s->tests++;
            const bool swap = s->self && e > h;
            TL_TRY(close_try(&s->t, TL_CLOSE_EE, swap ? h : e, swap ? e : h, s->out, err));
        }
    }
    return TL_OK;
}

static tl_status test_faces(tester *s, int32_t f, int32_t g, tl_error *err)
{
    const box a = box_of(s->first->surface.face[f], 3, s->t.x0, s->t.x1),
              b = box_of(s->second->surface.face[g], 3, s->t.y0, s->t.y1);
    if (apart(&a, &b, s->t.reach)) return TL_OK;
    TL_TRY(test_nodes(s, f, g, TL_CLOSE_VF, err));
    TL_TRY(s->self ? (f != g ? test_nodes(s, g, f, TL_CLOSE_VF, err) : TL_OK) : test_nodes(s, g, f, TL_CLOSE_FV, err));
    return s->self && f == g ? TL_OK : test_sides(s, f, g, err);
}

tl_status tl_kdop_test(const tl_kdop *first, const tl_kdop *second, const kdop_overlaps *overlaps, double reach,
                       tl_close_list *out, tl_detect_report *report, tl_error *err)
{
    const tl_kdop *other = second ? second : first;
    tester s = {.t = {&first->surface, &other->surface, first->x0, first->x1, other->x0, other->x1, reach},
                .first = first,
                .second = other,
                .self = !second,
                .out = out};
    for (int32_t i = 0; i < overlaps->count; i++) {
        const kdop_node *a = &first->nodes[overlaps->items[i].a], *b = &other->nodes[overlaps->items[i].b];
        for (int32_t f = a->begin; f < a->end; f++)
            for (int32_t g = s.self && a == b ? f + 1 : b->begin; g < b->end; g++)
                TL_TRY(test_faces(&s, first->order[f], other->order[g], err));
    }
    report->tests += s.tests;
    return TL_OK;
}

// --- the detector ---

typedef struct detector {
    tl_allocator alloc;
    tl_kdop *tree;
    kdop_overlaps overlaps;
    double skin;
} detector;

static void kdop_destroy(void *self)
{
    detector *d = self;
    if (!d) return;
    const tl_allocator alloc = d->alloc;
    tl_kdop_destroy(d->tree);
    TL_FREE(&alloc, d->overlaps.items, d->overlaps.cap);
    tl_free_bytes(&alloc, d, 1, sizeof *d);
}

static tl_status kdop_create(const tl_allocator *alloc, const tl_detect_def *def, const tl_surface *surface,
                             const tl_vec3 *x, const tl_vec3 (*corner)[3], void **self, tl_error *err)
{
    *self = NULL;
    detector *d = TL_CALLOC(alloc, detector, 1);
    if (!d) return tl_fail_memory(err, "the detector");
    d->alloc = d->overlaps.alloc = *alloc, d->skin = def->skin;
    const tl_status status = tl_kdop_create(alloc, def, surface, x, corner, &d->tree, err);
    if (status != TL_OK) kdop_destroy(d), d = NULL;
    *self = d;
    return status;
}

static tl_status kdop_fit(void *self, const tl_vec3 *x0, const tl_vec3 *x1, double reach, const tl_detect_ctx *ctx,
                          tl_error *err)
{
    (void)err;
    detector *d = self;
    const double start = tl_processor_seconds();
    tl_kdop_fit(d->tree, x0, x1, 0.5 * reach, d->skin * reach, ctx->report);
    ctx->report->fit_seconds += tl_processor_seconds() - start;
    return TL_OK;
}

static tl_status kdop_find(void *self, void *other, const tl_detect_ask *ask, const tl_detect_ctx *ctx,
                           tl_close_list *out, tl_error *err)
{
    detector *d = self, *o = other;
    const double start = tl_processor_seconds();
    out->count = 0;
    TL_TRY(tl_kdop_overlaps(d->tree, o ? o->tree : NULL, ask->reach, ctx->arena, &d->overlaps, ctx->report, err));
    const double found = tl_processor_seconds();
    TL_TRY(tl_kdop_test(d->tree, o ? o->tree : NULL, &d->overlaps, ask->reach, out, ctx->report, err));
    TL_TRY(tl_close_sort(out, ctx->arena, err));
    ctx->report->found += out->count;
    ctx->report->overlap_seconds += found - start, ctx->report->test_seconds += tl_processor_seconds() - found;
    return TL_OK;
}

static void kdop_forget(void *self) { ((detector *)self)->tree->fitted = false; }

const tl_detector tl_detector_kdop = {.name = "k-dop",
                                      .promise = "every pair within reach",
                                      .complete = true,
                                      .continuous = true,
                                      .create = kdop_create,
                                      .fit = kdop_fit,
                                      .find = kdop_find,
                                      .forget = kdop_forget,
                                      .destroy = kdop_destroy};
