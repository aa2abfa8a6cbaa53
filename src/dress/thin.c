// dress/thin.c: mean curvature flow of a body's surface by one implicit step, solved by conjugate gradients.
//
// Weights of edges are cotangents, cut at zero so that the matrix stays positive definite on any mesh (an obtuse corner
// would give a negative one). Every vertex gathers from its own list of neighbours, in stored order.

#include "dress/thin.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"

#define LEAST_AREA 1e-12  // [m^2] of a vertex: those in no face stay where they are
#define MOST_COTANGENT 50.0
#define TOLERANCE 1e-8  // of the residual, relative
enum { MOST_ITERATIONS = 2000 };

/// Neighbours of vertex v: entries start[v] .. start[v + 1].
typedef struct flow {
    int32_t n;
    int32_t *start, *other;
    double *weight;
    double *area, *diagonal;
    double factor;  // length^2
} flow;

static double cotangent(tl_vec3 at, tl_vec3 a, tl_vec3 b)
{
    const tl_vec3 u = tl_sub3(a, at), v = tl_sub3(b, at);
    const double sine = tl_norm3(tl_cross3(u, v)), cosine = tl_dot3(u, v);
    if (!(cosine > 0)) return 0;
    return sine * MOST_COTANGENT > cosine ? cosine / sine : MOST_COTANGENT;
}

static void fill(flow *f, const tl_vec3 *x, const int32_t (*face)[3], int32_t face_count)
{
    for (int32_t v = 0; v < f->n; v++) f->area[v] = LEAST_AREA;
    for (int32_t t = 0; t < face_count; t++) {
        const int32_t *c = face[t];
        const double area = 0.5 * tl_norm3(tl_cross3(tl_sub3(x[c[1]], x[c[0]]), tl_sub3(x[c[2]], x[c[0]])));
        for (int k = 0; k < 3; k++) {
            const int32_t a = c[(k + 1) % 3], b = c[(k + 2) % 3];
            const double w = 0.5 * cotangent(x[c[k]], x[a], x[b]);
            f->area[c[k]] += area / 3;
            f->other[f->start[a]] = b, f->weight[f->start[a]++] = w;
            f->other[f->start[b]] = a, f->weight[f->start[b]++] = w;
        }
    }
    for (int32_t v = f->n; v > 0; v--) f->start[v] = f->start[v - 1];
    f->start[0] = 0;
    for (int32_t v = 0; v < f->n; v++) {
        f->diagonal[v] = f->area[v];
        for (int32_t k = f->start[v]; k < f->start[v + 1]; k++) f->diagonal[v] += f->factor * f->weight[k];
    }
}

static void multiply(const flow *f, const tl_vec3 *x, tl_vec3 *out)
{
    for (int32_t v = 0; v < f->n; v++) {
        tl_vec3 sum = tl_mul3(f->diagonal[v], x[v]);
        for (int32_t k = f->start[v]; k < f->start[v + 1]; k++)
            sum = tl_madd3(sum, -f->factor * f->weight[k], x[f->other[k]]);
        out[v] = sum;
    }
}

// Preconditioned by the diagonal; `x` holds the first guess, and the areas times it are the right-hand side. The three
// coordinates are one vector: they share a matrix, and so their steps.
static void solve(const flow *f, tl_vec3 *x, tl_vec3 *r, tl_vec3 *p, tl_vec3 *q)
{
    multiply(f, x, q);
    double rho = 0, first = 0;
    for (int32_t v = 0; v < f->n; v++) {
        r[v] = tl_sub3(tl_mul3(f->area[v], x[v]), q[v]);
        p[v] = tl_mul3(1 / f->diagonal[v], r[v]);
        rho += tl_dot3(r[v], p[v]);
    }
    first = rho;
    for (int i = 0; i < MOST_ITERATIONS && rho > TOLERANCE * TOLERANCE * first; i++) {
        multiply(f, p, q);
        double down = 0, next = 0;
        for (int32_t v = 0; v < f->n; v++) down += tl_dot3(p[v], q[v]);
        if (!(down > 0)) return;
        const double step = rho / down;
        for (int32_t v = 0; v < f->n; v++) {
            x[v] = tl_madd3(x[v], step, p[v]);
            r[v] = tl_madd3(r[v], -step, q[v]);
            next += tl_dot3(r[v], r[v]) / f->diagonal[v];
        }
        for (int32_t v = 0; v < f->n; v++) p[v] = tl_madd3(tl_mul3(1 / f->diagonal[v], r[v]), next / rho, p[v]);
        rho = next;
    }
}

tl_status tl_body_thin(const tl_allocator *alloc, const tl_vec3 *x, int32_t n, const int32_t (*face)[3],
                       int32_t face_count, double length, tl_vec3 *out, tl_error *err)
{
    const int64_t entries = 6 * (int64_t)face_count;
    flow f = {.n = n, .factor = length * length};
    f.start = TL_CALLOC(alloc, int32_t, n + 1);
    f.other = TL_ALLOC(alloc, int32_t, entries);
    f.weight = TL_ALLOC(alloc, double, entries);
    f.area = TL_ALLOC(alloc, double, n);
    f.diagonal = TL_ALLOC(alloc, double, n);
    tl_vec3 *work = TL_ALLOC(alloc, tl_vec3, 3 * (int64_t)n);
    const bool room = f.start && f.other && f.weight && f.area && f.diagonal && work;
    if (room) {
        for (int32_t t = 0; t < face_count; t++)
            for (int k = 0; k < 3; k++) f.start[face[t][k] + 1] += 2;
        for (int32_t v = 0; v < n; v++) f.start[v + 1] += f.start[v];
        memmove(out, x, (size_t)n * sizeof *out);
        fill(&f, out, face, face_count);
        solve(&f, out, work, work + n, work + 2 * (size_t)n);
    }
    TL_FREE(alloc, f.start, n + 1);
    TL_FREE(alloc, f.other, entries);
    TL_FREE(alloc, f.weight, entries);
    TL_FREE(alloc, f.area, n);
    TL_FREE(alloc, f.diagonal, n);
    TL_FREE(alloc, work, 3 * (int64_t)n);
    return room ? TL_OK : tl_fail_memory(err, "a thin body");
}
