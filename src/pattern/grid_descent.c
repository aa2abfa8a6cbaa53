// pattern/grid_descent.c: unfold a grid, and make its areas equal, by descent on an energy that folds cannot pass.
//
// Every corner of a quad has edges e (along u) and f (along v) that span the area D. Its shape costs
//     (a |e|^2 + |f|^2 / a) / (2 chi(D)),   chi(D) = (D + sqrt(eps^2 + D^2)) / 2,
// at least 1, infinite at D = 0 when eps = 0. While corners are turned over, eps > 0 lets them pay a finite price and
// is lowered step by step (Garanzha et al. 2021, "Foldover-free maps in 50 lines of code"); afterwards eps = 0 is a
// barrier that no step crosses. To it come half the squared relative errors of the areas of quads or strips. The method
// is L-BFGS; its first guess of the inverse Hessian is the solver of the length functional, so the number of steps
// hardly grows with the grid.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "pattern/grid_impl.h"

enum { HISTORY = 10, BACKTRACKS = 40 };

typedef struct descent {
    const tl_descent_def *def;
    tl_lattice *g;
    size_t inner;   ///< inner nodes
    double aspect;  ///< a: wanted ratio of v edges to u edges
    double area;    ///< mean of the quads
    double eps;     ///< in units of area
    double shape;   ///< weight of shapes
    tl_grid_factor *h0;
    tl_vec2 *memory;  ///< all vectors below
    tl_vec2 *x, *gradient, *next_gradient, *direction, *trial;
    tl_vec2 *s[HISTORY], *y[HISTORY];
    double rho[HISTORY];
    int32_t kept, newest;
    tl_vec2 *full;  ///< gradient on all nodes
} descent;

enum { VECTORS = 5 + 2 * HISTORY };

// --- energy --------------------------------------------------------------------------------------------------

typedef struct corner {  // node, its neighbour along u and along v, and on which side they lie
    int32_t node, along_u, along_v;
    double sign;
} corner;

static void quad_corners(const tl_lattice *g, int32_t u, int32_t v, corner c[4])
{
    const int32_t a = tl_lattice_index(g, u, v), b = a + 1, d = a + g->nu + 1, e = d + 1;
    c[0] = (corner){a, b, d, 1};
    c[1] = (corner){b, a, e, -1};
    c[2] = (corner){e, d, b, 1};
    c[3] = (corner){d, e, a, -1};
}

static bool corner_is_free(const tl_lattice *g, int32_t u, int32_t v, int k)
{
    // a corner's three nodes are all on the boundary only at a corner of the grid, or in a grid one quad thin
    const int32_t cu = u + (k == 1 || k == 2), cv = v + (k >= 2);
    const int32_t ou = u + !(k == 1 || k == 2), ov = v + !(k >= 2);
    return tl_lattice_inner(g, cu, cv) || tl_lattice_inner(g, ou, cv) || tl_lattice_inner(g, cu, ov);
}

static double corner_area(const tl_lattice *g, const corner *c)
{
    const tl_vec2 p = g->point[c->node];
    return c->sign * tl_cross2(tl_sub2(g->point[c->along_u], p), tl_sub2(g->point[c->along_v], p));
}

static void add_at(tl_vec2 *sum, double w, tl_vec2 d) { sum->x += w * d.x, sum->y += w * d.y; }

// Adds the shape of one corner; false: infinite.
static bool add_shape(const descent *d, const corner *c, double weight, double *energy)
{
    const tl_vec2 p = d->g->point[c->node];
    const tl_vec2 e = tl_sub2(d->g->point[c->along_u], p), f = tl_sub2(d->g->point[c->along_v], p);
    const double area = c->sign * tl_cross2(e, f), eps = d->eps * d->area;
    if (eps == 0 && !(area > 0)) return false;
    const double root = eps == 0 ? area : sqrt(eps * eps + area * area);
    // for D < 0 the sum cancels: (root^2 - D^2) / (root - D) is the same without loss
    const double chi = area > 0 ? 0.5 * (area + root) : 0.5 * eps * eps / (root - area);
    const double slope = 0.5 * (1 + area / root);
    const double top = 0.5 * (d->aspect * tl_dot2(e, e) + tl_dot2(f, f) / d->aspect);
    *energy += weight * top / chi;
    if (!isfinite(*energy)) return false;
    const double w = weight / chi, t = -weight * top * slope * c->sign / (chi * chi);
    tl_vec2 de = tl_scale2(e, w * d->aspect), df = tl_scale2(f, w / d->aspect);
    add_at(&de, t, (tl_vec2){f.y, -f.x});
    add_at(&df, t, (tl_vec2){-e.y, e.x});
    add_at(&d->full[c->along_u], 1, de);
    add_at(&d->full[c->along_v], 1, df);
    add_at(&d->full[c->node], -1, tl_add2(de, df));
    return true;
}

// slope times the gradient of the area of quad (u, v)
static void add_area_slope(const descent *d, int32_t u, int32_t v, double slope)
{
    corner c[4];
    quad_corners(d->g, u, v, c);
    const tl_vec2 *p = d->g->point;
    const tl_vec2 d1 = tl_sub2(p[c[2].node], p[c[0].node]), d2 = tl_sub2(p[c[3].node], p[c[1].node]);
    const tl_vec2 g1 = {0.5 * slope * d2.y, -0.5 * slope * d2.x}, g2 = {-0.5 * slope * d1.y, 0.5 * slope * d1.x};
    add_at(&d->full[c[2].node], 1, g1);
    add_at(&d->full[c[0].node], -1, g1);
    add_at(&d->full[c[3].node], 1, g2);
    add_at(&d->full[c[1].node], -1, g2);
}

// The energy at the present nodes; its gradient over the inner nodes into `gradient`. Infinite: folded.
static double energy_of(descent *d, tl_vec2 *gradient)
{
    const tl_lattice *g = d->g;
    memset(d->full, 0, (size_t)tl_lattice_count(g) * sizeof *d->full);
    double energy = 0;
    for (int32_t v = 0; v < g->nv; v++) {
        double strip = 0;
        for (int32_t u = 0; u < g->nu; u++) {
            corner c[4];
            quad_corners(g, u, v, c);
            for (int k = 0; k < 4; k++)
                if (corner_is_free(g, u, v, k) && !add_shape(d, &c[k], 0.25 * d->shape, &energy)) return INFINITY;
            const double area = tl_lattice_area(g, u, v), error = area / d->area - 1;
            strip += area;
            if (d->def->quads > 0) {
                energy += 0.5 * d->def->quads * error * error;
                add_area_slope(d, u, v, d->def->quads * error / d->area);
            }
        }
        if (d->def->strips > 0) {
            const double error = strip / (d->area * g->nu) - 1, w = d->def->strips * g->nu;
            energy += 0.5 * w * error * error;
            for (int32_t u = 0; u < g->nu; u++) add_area_slope(d, u, v, w * error / (d->area * g->nu));
        }
    }
    for (int32_t v = 1; v < g->nv; v++)
        memcpy(gradient + (size_t)(v - 1) * (size_t)(g->nu - 1), &d->full[tl_lattice_index(g, 1, v)],
               (size_t)(g->nu - 1) * sizeof *gradient);
    return energy;
}

static void nodes_from(descent *d, const tl_vec2 *x)
{
    for (int32_t v = 1; v < d->g->nv; v++)
        memcpy(&d->g->point[tl_lattice_index(d->g, 1, v)], x + (size_t)(v - 1) * (size_t)(d->g->nu - 1),
               (size_t)(d->g->nu - 1) * sizeof *x);
}

static void nodes_to(const descent *d, tl_vec2 *x)
{
    for (int32_t v = 1; v < d->g->nv; v++)
        memcpy(x + (size_t)(v - 1) * (size_t)(d->g->nu - 1), &d->g->point[tl_lattice_index(d->g, 1, v)],
               (size_t)(d->g->nu - 1) * sizeof *x);
}

// --- L-BFGS --------------------------------------------------------------------------------------------------

static double inner_product(const tl_vec2 *a, const tl_vec2 *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i].x * b[i].x + a[i].y * b[i].y;
    return sum;
}

static void add_scaled(tl_vec2 *a, double w, const tl_vec2 *b, size_t n)
{
    for (size_t i = 0; i < n; i++) a[i].x += w * b[i].x, a[i].y += w * b[i].y;
}

// direction = -H gradient (Nocedal & Wright 2006, Algorithm 7.4), H0 a multiple of the inverse of the length functional
static void find_direction(descent *d)
{
    double alpha[HISTORY];
    tl_vec2 *q = d->direction;
    memcpy(q, d->gradient, d->inner * sizeof *q);
    for (int32_t k = 0; k < d->kept; k++) {
        const int32_t i = (d->newest - k + HISTORY) % HISTORY;
        alpha[k] = d->rho[i] * inner_product(d->s[i], q, d->inner);
        add_scaled(q, -alpha[k], d->y[i], d->inner);
    }
    double scale = d->area;
    if (d->kept > 0) {
        const int32_t i = d->newest;
        memcpy(d->trial, d->y[i], d->inner * sizeof *q);
        tl_grid_factor_solve(d->h0, d->trial);
        scale = 1 / (d->rho[i] * inner_product(d->y[i], d->trial, d->inner));
    }
    tl_grid_factor_solve(d->h0, q);
    for (size_t i = 0; i < d->inner; i++) q[i].x *= scale, q[i].y *= scale;
    for (int32_t k = d->kept - 1; k >= 0; k--) {
        const int32_t i = (d->newest - k + HISTORY) % HISTORY;
        const double beta = d->rho[i] * inner_product(d->y[i], q, d->inner);
        add_scaled(q, alpha[k] - beta, d->s[i], d->inner);
    }
    for (size_t i = 0; i < d->inner; i++) q[i].x = -q[i].x, q[i].y = -q[i].y;
}

static void remember(descent *d)
{
    const int32_t i = (d->newest + 1) % HISTORY;
    for (size_t k = 0; k < d->inner; k++) {
        d->s[i][k] = tl_sub2(d->trial[k], d->x[k]);
        d->y[i][k] = tl_sub2(d->next_gradient[k], d->gradient[k]);
    }
    const double sy = inner_product(d->s[i], d->y[i], d->inner);
    const double yy = inner_product(d->y[i], d->y[i], d->inner);
    if (!(sy > 1e-14 * yy * d->area)) return;  // no positive curvature along the step
    d->rho[i] = 1 / sy;
    d->newest = i;
    if (d->kept < HISTORY) d->kept++;
}

// One step; false: none lowers the energy by enough. *energy is updated.
static bool descend_once(descent *d, double *energy)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        find_direction(d);
        const double slope = inner_product(d->gradient, d->direction, d->inner);
        double step = 1;
        for (int32_t k = 0; k < BACKTRACKS && slope < 0; k++, step *= 0.5) {
            for (size_t i = 0; i < d->inner; i++) {
                d->trial[i].x = d->x[i].x + step * d->direction[i].x;
                d->trial[i].y = d->x[i].y + step * d->direction[i].y;
            }
            nodes_from(d, d->trial);
            const double next = energy_of(d, d->next_gradient);
            if (!(next <= *energy + 1e-4 * step * slope)) continue;
            remember(d);
            memcpy(d->x, d->trial, d->inner * sizeof *d->x);
            tl_vec2 *swap = d->gradient;
            d->gradient = d->next_gradient, d->next_gradient = swap;
            *energy = next;
            return true;
        }
        nodes_from(d, d->x);
        if (d->kept == 0) return false;
        d->kept = 0;  // what was remembered may mislead: once more without
    }
    return false;
}

// --- phases --------------------------------------------------------------------------------------------------

static double least_corner(const tl_lattice *g)
{
    double least = INFINITY;
    for (int32_t v = 0; v < g->nv; v++)
        for (int32_t u = 0; u < g->nu; u++) {
            corner c[4];
            quad_corners(g, u, v, c);
            for (int k = 0; k < 4; k++)
                if (corner_is_free(g, u, v, k)) least = fmin(least, corner_area(g, &c[k]));
        }
    return least;
}

int32_t tl_lattice_bad_corners(const tl_lattice *g)
{
    int32_t bad = 0;
    for (int32_t v = 0; v < g->nv; v++)
        for (int32_t u = 0; u < g->nu; u++) {
            corner c[4];
            quad_corners(g, u, v, c);
            for (int k = 0; k < 4; k++) bad += corner_is_free(g, u, v, k) && !(corner_area(g, &c[k]) > 0);
        }
    return bad;
}

// Lowers eps until all corners turn the right way (Garanzha et al. 2021, Eq. 8 and 9).
static bool unfold(descent *d, int32_t *steps)
{
    enum { ROUNDS = 200, STEPS_PER_ROUND = 200 };
    double least = least_corner(d->g) / d->area;
    if (least > 0) return true;
    d->eps = fmax(1e-3, 2 * fabs(least));
    d->shape = 1;
    for (int32_t round = 0; round < ROUNDS && *steps < d->def->steps; round++) {
        d->kept = 0;
        nodes_to(d, d->x);
        double energy = energy_of(d, d->gradient);
        const double first = energy;
        for (int32_t k = 0; k < STEPS_PER_ROUND; k++) {
            const double before = energy;
            ++*steps;
            if (!descend_once(d, &energy) || before - energy < 1e-5 * before) break;
        }
        least = least_corner(d->g) / d->area;
        if (least > 0) return true;
        const double sigma = fmax(0.1, 1 - energy / first);
        const double chi = 0.5 * (least + sqrt(d->eps * d->eps + least * least)), mu = (1 - sigma) * chi;
        d->eps = least < mu ? 2 * sqrt(mu * (mu - least)) : 1e-10;
    }
    return false;
}

static bool areas_reached(const descent *d)
{
    if (d->def->strips > 0) {
        double worst = 0;
        for (int32_t v = 0; v < d->g->nv; v++)
            worst = fmax(worst, fabs(tl_lattice_strip_area(d->g, v) / (d->area * d->g->nu) - 1));
        return worst < 1e-3;
    }
    const tl_grid_quality q = tl_grid_measure(d->g->point, d->g->nu, d->g->nv);
    return q.area_ratio <= d->def->ratio;
}

// Shapes weigh less and less against areas until these are as equal as asked. The barrier stays.
static void equalise(descent *d, int32_t *steps)
{
    enum { STEPS_PER_WEIGHT = 60 };
    const double weight = fmax(d->def->quads, d->def->strips);
    d->eps = 0;
    for (d->shape = 0.1 * weight; d->shape > 1e-7 * weight && *steps < d->def->steps; d->shape *= 0.25) {
        d->kept = 0;
        nodes_to(d, d->x);
        double energy = energy_of(d, d->gradient);
        for (int32_t k = 0; k < STEPS_PER_WEIGHT && *steps < d->def->steps; k++) {
            const double before = energy;
            ++*steps;
            if (!descend_once(d, &energy) || before - energy < 1e-5 * before) break;
            if (areas_reached(d)) return;
        }
        if (areas_reached(d)) return;
    }
}

static tl_status descent_init(descent *d, const tl_allocator *alloc, tl_grid_cache *cache, tl_error *err)
{
    const tl_lattice *g = d->g;
    bool cached;
    double along_u = 0, along_v = 0, sum = 0;
    for (int32_t u = 0; u <= g->nu; u++)
        along_v += tl_distance2(g->point[u], g->point[tl_lattice_index(g, u, g->nv)]) / ((g->nu + 1.0) * g->nv);
    for (int32_t v = 0; v <= g->nv; v++)
        along_u += tl_distance2(g->point[tl_lattice_index(g, 0, v)], g->point[tl_lattice_index(g, g->nu, v)]) /
                   ((g->nv + 1.0) * g->nu);
    for (int32_t v = 0; v < g->nv; v++) sum += tl_lattice_strip_area(g, v);
    d->area = sum / ((double)g->nu * g->nv);
    d->aspect = along_u > 0 && along_v > 0 ? along_v / along_u : 1;
    d->inner = (size_t)(g->nu - 1) * (size_t)(g->nv - 1);
    const tl_grid_key key = {g->nu, g->nv, tl_stencil_of(1 / sqrt(d->aspect), sqrt(d->aspect), false), TL_QUADS_SINES};
    TL_TRY(tl_grid_factor_get(alloc, cache, &key, &d->h0, &cached, err));
    d->memory = TL_ALLOC(alloc, tl_vec2, VECTORS * d->inner);
    d->full = TL_ALLOC(alloc, tl_vec2, tl_lattice_count(g));
    if (!d->memory || !d->full) return tl_fail_memory(err, "descent on a grid");
    tl_vec2 *at = d->memory;
    tl_vec2 **vectors[5] = {&d->x, &d->gradient, &d->next_gradient, &d->direction, &d->trial};
    for (int k = 0; k < 5; k++, at += d->inner) *vectors[k] = at;
    for (int k = 0; k < HISTORY; k++, at += 2 * d->inner) d->s[k] = at, d->y[k] = at + d->inner;
    return TL_OK;
}

tl_status tl_lattice_descend(const tl_allocator *alloc, tl_grid_cache *cache, const tl_descent_def *def, tl_lattice *g,
                             int32_t *steps, tl_error *err)
{
    *steps = 0;
    if (g->nu < 2 || g->nv < 2) return TL_OK;  // nothing can move
    descent d = {.def = def, .g = g};
    tl_status status = descent_init(&d, alloc, cache, err);
    if (status == TL_OK) {
        if (!unfold(&d, steps))
            status = tl_fail(err, TL_FAILED, "%d corners of quads still fold after %d steps of repair",
                             tl_lattice_bad_corners(g), *steps);
        else if (def->quads > 0 || def->strips > 0)
            equalise(&d, steps);
    }
    TL_FREE(alloc, d.memory, VECTORS * d.inner);
    TL_FREE(alloc, d.full, tl_lattice_count(g));
    if (d.h0) tl_grid_factor_release(cache, d.h0);
    return status;
}
