// respond/push_out/cylinders.c: a part of a body that follows one bone, in a cylinder of stacks and slices (Simnett
// 2012, sec. 5.3.3).
//
// Made once in the bind pose, with z along the longest extent of the part, the axes held by three of its nodes. Stacks
// are centred on the smallest circle around what is in them (Welzl 1991: the thesis's circle through pairs fails on
// acute triples). A cell lists the faces that reach within `reach` of it, so a query with that radius looks at one
// cell; with a larger one at those that the ball meets. A fit is a frame, and how far the part is from being rigid, by
// which queries are widened: what skinning, flesh or morphs do to the part is allowed for.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "respond/push_out/search_impl.h"

enum { MOST_STACKS = 1024, POWER_ROUNDS = 60 };
#define TURN (2 * 3.14159265358979323846)
#define ROUNDING 1e-9  // [rad], and part of a radius: what atan2 and square roots may be off by

// ---- making ---------------------------------------------------------------------------------------------------

// Of the covariance of the nodes, by powers.
static tl_vec3 longest_axis(const search_part *p, const tl_vec3 *rest, tl_vec3 middle)
{
    double c[3][3] = {{0}};
    for (int32_t i = 0; i < p->node_count; i++) {
        const tl_vec3 d = tl_sub3(rest[p->node[i]], middle);
        const double v[3] = {d.x, d.y, d.z};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) c[a][b] += v[a] * v[b];
    }
    tl_vec3 axis = tl_unit3_or((tl_vec3){c[0][0] + 1e-12, c[1][1], c[2][2]}, (tl_vec3){0, 1, 0});
    for (int k = 0; k < POWER_ROUNDS; k++)
        axis = tl_unit3_or((tl_vec3){c[0][0] * axis.x + c[0][1] * axis.y + c[0][2] * axis.z,
                                     c[1][0] * axis.x + c[1][1] * axis.y + c[1][2] * axis.z,
                                     c[2][0] * axis.x + c[2][1] * axis.y + c[2][2] * axis.z},
                           axis);
    return axis;
}

typedef struct circle {
    tl_vec2 center;
    double radius2;
} circle;

static bool holds(circle c, tl_vec2 p)
{
    const tl_vec2 d = tl_sub2(p, c.center);
    return tl_dot2(d, d) <= c.radius2 * (1 + ROUNDING) + 1e-18;
}

static circle of_two(tl_vec2 a, tl_vec2 b)
{
    const tl_vec2 half = tl_mul2(0.5, tl_sub2(b, a));
    return (circle){tl_add2(a, half), tl_dot2(half, half)};
}

static circle of_three(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const tl_vec2 u = tl_sub2(b, a), v = tl_sub2(c, a);
    const double det = 2 * tl_cross2(u, v), uu = tl_dot2(u, u), vv = tl_dot2(v, v);
    if (det == 0) return uu > vv ? of_two(a, b) : of_two(a, c);
    const tl_vec2 d = {(v.y * uu - u.y * vv) / det, (u.x * vv - v.x * uu) / det};
    return (circle){tl_add2(a, d), tl_dot2(d, d)};
}

// Incremental: points come in the order of their nodes, which is as good as any.
static tl_vec2 smallest_circle(const tl_vec2 *p, int32_t n)
{
    circle c = {n > 0 ? p[0] : (tl_vec2){0, 0}, 0};
    for (int32_t i = 1; i < n; i++) {
        if (holds(c, p[i])) continue;
        c = (circle){p[i], 0};
        for (int32_t j = 0; j < i; j++) {
            if (holds(c, p[j])) continue;
            c = of_two(p[i], p[j]);
            for (int32_t k = 0; k < j; k++)
                if (!holds(c, p[k])) c = of_three(p[i], p[j], p[k]);
        }
    }
    return c.center;
}

static int32_t stack_of(const search_cylinder *c, double z)
{
    const double k = floor((z - c->lo) / c->height);
    return k < 0 ? 0 : k >= c->stacks ? c->stacks - 1 : (int32_t)k;
}

static tl_status center_stacks(const tl_allocator *alloc, search_cylinder *c, tl_error *err)
{
    const search_part *p = &c->part;
    tl_vec2 *found = TL_ALLOC(alloc, tl_vec2, p->node_count);
    if (!found) return tl_fail_memory(err, "a cylinder");
    for (int32_t s = 0; s < c->stacks; s++) {
        int32_t n = 0;
        for (int32_t i = 0; i < p->node_count; i++)
            if (stack_of(c, p->local[i].z - c->height) <= s && s <= stack_of(c, p->local[i].z + c->height))
                found[n++] = (tl_vec2){p->local[i].x, p->local[i].y};
        c->center[s] = smallest_circle(found, n);
    }
    TL_FREE(alloc, found, p->node_count);
    return TL_OK;
}

typedef struct filling {
    const tl_search *s;
    search_cylinder *c;
} filling;

// From the origin to a triangle; 0: it is inside.
static double distance_from_axis(const tl_vec2 v[3])
{
    double least = INFINITY;
    int left = 0, right = 0;
    for (int k = 0; k < 3; k++) {
        const tl_vec2 a = v[k], d = tl_sub2(v[(k + 1) % 3], a);
        const double dd = tl_dot2(d, d), t = dd > 0 ? fmin(1, fmax(0, -tl_dot2(a, d) / dd)) : 0;
        least = fmin(least, tl_norm2(tl_add2(a, tl_mul2(t, d))));
        left += tl_cross2(d, a) <= 0, right += tl_cross2(d, a) >= 0;
    }
    return left == 3 || right == 3 ? 0 : least;
}

// Slices [*first, *first + count) that an interval of angles meets.
static int32_t slices_of(const search_cylinder *c, double lo, double hi, int32_t *first)
{
    const double each = TURN / c->slices, from = floor(lo / each), to = floor(hi / each);
    if (!(to - from < c->slices - 1)) {
        *first = 0;
        return c->slices;
    }
    *first = (int32_t)((int64_t)from % c->slices + c->slices) % c->slices;
    return (int32_t)(to - from) + 1;
}

static void fill_face(void *self, int32_t face, search_lists *lists)
{
    const filling *f = self;
    search_cylinder *c = f->c;
    const double m = f->s->def.reach;
    tl_vec3 local[3];
    for (int k = 0; k < 3; k++) local[k] = tl_frame_into(&c->part.at, f->s->def.rest[f->s->def.face[face][k]]);
    const int32_t last = stack_of(c, fmax(local[0].z, fmax(local[1].z, local[2].z)) + m);
    for (int32_t s = stack_of(c, fmin(local[0].z, fmin(local[1].z, local[2].z)) - m); s <= last; s++) {
        tl_vec2 v[3];
        double far = 0;
        for (int k = 0; k < 3; k++) {
            v[k] = tl_sub2((tl_vec2){local[k].x, local[k].y}, c->center[s]);
            far = fmax(far, tl_norm2(v[k]));
        }
        const double near = distance_from_axis(v), base = atan2(v[0].y, v[0].x);
        double lo = 0, hi = near > m ? 0 : TURN;
        for (int k = 1; near > m && k < 3; k++) {
            const double turn = atan2(tl_cross2(v[0], v[k]), tl_dot2(v[0], v[k]));
            lo = fmin(lo, turn), hi = fmax(hi, turn);
        }
        const double wider = near > m ? asin(m / near) + ROUNDING : 0;
        int32_t first;
        const int32_t count = slices_of(c, base + lo - wider, base + hi + wider, &first);
        for (int32_t k = 0; k < count; k++) {
            const int32_t slice = s * c->slices + (first + k) % c->slices;
            search_lists_put(lists, slice, face);
            c->slice_radius[slice] = fmax(c->slice_radius[slice], far);
        }
        c->stack_radius[s] = fmax(c->stack_radius[s], far);
    }
}

static tl_status make_cells(tl_search *s, search_cylinder *c, tl_error *err)
{
    const tl_search_def *def = &s->def;
    tl_vec3 middle = {0, 0, 0};
    for (int32_t i = 0; i < c->part.node_count; i++)
        middle = tl_madd3(middle, 1.0 / c->part.node_count, def->rest[c->part.node[i]]);
    search_part_turn(&c->part, def->rest, middle, longest_axis(&c->part, def->rest, middle));
    c->lo = INFINITY, c->hi = -INFINITY;
    for (int32_t i = 0; i < c->part.node_count; i++)
        c->lo = fmin(c->lo, c->part.local[i].z), c->hi = fmax(c->hi, c->part.local[i].z);
    const double stacks = ceil((c->hi - c->lo) / def->stack);
    c->stacks = stacks < 1 ? 1 : stacks > MOST_STACKS ? MOST_STACKS : (int32_t)stacks;
    c->height = c->hi > c->lo ? (c->hi - c->lo) / c->stacks : 1, c->slices = def->slices;
    c->center = TL_CALLOC(&s->alloc, tl_vec2, c->stacks);
    c->stack_radius = TL_CALLOC(&s->alloc, double, c->stacks);
    c->slice_radius = TL_CALLOC(&s->alloc, double, (size_t)c->stacks *(size_t)c->slices);
    if (!c->center || !c->stack_radius || !c->slice_radius) return tl_fail_memory(err, "a cylinder");
    TL_TRY(center_stacks(&s->alloc, c, err));
    filling f = {s, c};
    return search_lists_make(&s->alloc, c->stacks * c->slices, c->face, c->face_count, fill_face, &f, &c->lists, err);
}

tl_status search_cylinder_make(tl_search *s, const int32_t *list, int32_t count, search_cylinder *out, bool *fits,
                               tl_error *err)
{
    *out = (search_cylinder){0};
    TL_TRY(search_part_make(&s->alloc, &s->def, list, count, &out->part, fits, err));
    if (!*fits) return TL_OK;
    out->face = TL_ALLOC(&s->alloc, int32_t, count);
    if (!out->face) return tl_fail_memory(err, "a cylinder");
    out->face_count = count;
    memcpy(out->face, list, (size_t)count * sizeof *list);
    return make_cells(s, out, err);
}

void search_cylinder_free(const tl_allocator *alloc, search_cylinder *c)
{
    TL_FREE(alloc, c->face, c->face_count);
    TL_FREE(alloc, c->center, c->stacks);
    TL_FREE(alloc, c->stack_radius, c->stacks);
    TL_FREE(alloc, c->slice_radius, (size_t)c->stacks * (size_t)c->slices);
    search_lists_free(alloc, &c->lists);
    search_part_free(alloc, &c->part);
}

// ---- asking ---------------------------------------------------------------------------------------------------

static void visit_stack(const search_cylinder *c, int32_t s, tl_vec3 p, double more, const search_ball *ball)
{
    const tl_vec2 v = tl_sub2((tl_vec2){p.x, p.y}, c->center[s]);
    const double far = tl_norm2(v) * (1 - ROUNDING), slack = c->part.slack;
    if (far > c->stack_radius[s] + ball->left(ball->self) + slack) return;
    const double angle = atan2(v.y, v.x), wider = far > more ? asin(more / far) + ROUNDING : TURN;
    int32_t first;
    const int32_t count = slices_of(c, angle - wider, angle + wider, &first);
    for (int32_t k = 0; k < count; k++) {
        const int32_t slice = s * c->slices + (first + k) % c->slices;
        if (far > c->slice_radius[slice] + ball->left(ball->self) + slack) continue;
        for (int32_t i = c->lists.start[slice]; i < c->lists.start[slice + 1]; i++)
            ball->take(ball->self, c->lists.face[i]);
    }
}

void search_cylinder_visit(const tl_search *s, const search_cylinder *c, const search_ball *ball)
{
    const tl_vec3 p = tl_frame_into(&c->part.at, ball->center);
    const double radius = ball->radius + c->part.slack;
    if (p.z < c->lo - radius || p.z > c->hi + radius) return;
    // What is within the radius is within `reach` of a place that is at most this far from p.
    const double more = fmax(0, radius - s->def.reach) + ROUNDING;
    const int32_t last = stack_of(c, p.z + more);
    for (int32_t k = stack_of(c, p.z - more); k <= last; k++) visit_stack(c, k, p, more, ball);
}
