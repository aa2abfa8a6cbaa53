// respond/push_out/sphere_trees.c: faces that follow several bones, in binary trees of spheres (Simnett 2012, sec.
// 5.3.2): built once top down, cut across the longest extent at the median, one face a leaf; refitted from the leaves.

#include <math.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "respond/push_out/search_impl.h"

enum { DEEPEST = 64 };
#define ROUNDING 1e-12  // part of a radius

static tl_vec3 middle_of(const tl_search_def *def, int32_t f)
{
    const int32_t *v = def->face[f];
    return tl_mul3(1.0 / 3, tl_add3(def->rest[v[0]], tl_add3(def->rest[v[1]], def->rest[v[2]])));
}

static double along(tl_vec3 p, int axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

// A double as a word that sorts as it does.
static uint64_t word_of(double x)
{
    union {
        double d;
        uint64_t u;
    } both = {.d = x + 0.0};
    return both.u >> 63 ? ~both.u : both.u | UINT64_C(1) << 63;
}

static void sort_along(const tl_search_def *def, int32_t *list, int32_t n, tl_key *key)
{
    tl_vec3 lo = middle_of(def, list[0]), hi = lo;
    for (int32_t i = 1; i < n; i++) {
        const tl_vec3 p = middle_of(def, list[i]);
        lo = (tl_vec3){fmin(lo.x, p.x), fmin(lo.y, p.y), fmin(lo.z, p.z)};
        hi = (tl_vec3){fmax(hi.x, p.x), fmax(hi.y, p.y), fmax(hi.z, p.z)};
    }
    const tl_vec3 d = tl_sub3(hi, lo);
    const int axis = d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
    for (int32_t i = 0; i < n; i++) key[i] = (tl_key){word_of(along(middle_of(def, list[i]), axis)), list[i]};
    tl_sort_keys(key, key + n, n);
    for (int32_t i = 0; i < n; i++) list[i] = key[i].id;
}

typedef struct piece {
    int32_t first, count, sphere;
} piece;

tl_status search_tree_make(tl_search *s, int32_t *list, int32_t count, search_tree *out, tl_error *err)
{
    *out = (search_tree){.cap = 2 * count - 1};
    tl_key *key = TL_ALLOC(&s->alloc, tl_key, 2 * (size_t)count);
    out->sphere = TL_CALLOC(&s->alloc, search_sphere, out->cap);
    const bool allocated = key && out->sphere;
    piece stack[DEEPEST] = {{0, count, 0}};
    out->count = allocated;
    for (int top = allocated; top > 0;) {
        const piece p = stack[--top];
        search_sphere *ball = &out->sphere[p.sphere];
        if (p.count == 1) {
            ball->child[0] = -1, ball->child[1] = list[p.first];
            continue;
        }
        sort_along(&s->def, list + p.first, p.count, key);
        const int32_t half = p.count / 2, next = out->count;
        out->count += 2;
        ball->child[0] = next, ball->child[1] = next + 1;
        stack[top++] = (piece){p.first, half, next};
        stack[top++] = (piece){p.first + half, p.count - half, next + 1};
    }
    TL_FREE(&s->alloc, key, 2 * (size_t)count);
    return allocated ? TL_OK : tl_fail_memory(err, "a tree of spheres");
}

static search_sphere around(const search_sphere *a, const search_sphere *b)
{
    const tl_vec3 d = tl_sub3(b->center, a->center);
    const double apart = tl_norm3(d);
    if (apart + b->radius <= a->radius) return (search_sphere){a->center, a->radius, {0, 0}};
    if (apart + a->radius <= b->radius) return (search_sphere){b->center, b->radius, {0, 0}};
    const double radius = 0.5 * (apart + a->radius + b->radius);
    return (search_sphere){tl_madd3(a->center, (radius - a->radius) / apart, d), radius * (1 + ROUNDING), {0, 0}};
}

void search_tree_fit(const tl_search *s, search_tree *t)
{
    for (int32_t i = t->count - 1; i >= 0; i--) {
        search_sphere *ball = &t->sphere[i];
        if (ball->child[0] >= 0) {
            const search_sphere both = around(&t->sphere[ball->child[0]], &t->sphere[ball->child[1]]);
            ball->center = both.center, ball->radius = both.radius;
            continue;
        }
        const int32_t *v = s->def.face[ball->child[1]];
        const tl_vec3 *x = s->now;
        ball->center = tl_mul3(1.0 / 3, tl_add3(x[v[0]], tl_add3(x[v[1]], x[v[2]])));
        double most = 0;
        for (int k = 0; k < 3; k++) most = fmax(most, tl_norm3(tl_sub3(x[v[k]], ball->center)));
        ball->radius = most * (1 + ROUNDING);
    }
}

static double gap_of(const search_sphere *b, tl_vec3 p) { return tl_norm3(tl_sub3(p, b->center)) - b->radius; }

void search_tree_visit(const search_tree *t, const search_ball *ball)
{
    int32_t stack[DEEPEST];
    double gap[DEEPEST];
    stack[0] = 0, gap[0] = gap_of(&t->sphere[0], ball->center);
    for (int top = 1; top > 0;) {
        const search_sphere *b = &t->sphere[stack[--top]];
        if (gap[top] > ball->left(ball->self)) continue;
        if (b->child[0] < 0) {
            ball->take(ball->self, b->child[1]);
            continue;
        }
        // the nearer one is looked at first
        const double g[2] = {gap_of(&t->sphere[b->child[0]], ball->center),
                             gap_of(&t->sphere[b->child[1]], ball->center)};
        const int near = g[1] < g[0];
        stack[top] = b->child[1 - near], gap[top++] = g[1 - near];
        stack[top] = b->child[near], gap[top++] = g[near];
    }
}

tl_status search_tree_check(const tl_search *s, const search_tree *t, tl_error *err)
{
    for (int32_t i = 0; i < t->count; i++) {
        int32_t stack[DEEPEST] = {i};
        for (int top = 1; top > 0;) {
            const search_sphere *b = &t->sphere[stack[--top]];
            for (int k = 0; k < 2 && b->child[0] >= 0; k++) stack[top++] = b->child[k];
            for (int k = 0; k < 3 && b->child[0] < 0; k++) {
                const double d = gap_of(&t->sphere[i], s->now[s->def.face[b->child[1]][k]]);
                if (d > 1e-9)
                    return tl_fail(err, TL_FAILED, "sphere %d: face %d sticks out by %g m", i, b->child[1], d);
            }
        }
    }
    return TL_OK;
}
