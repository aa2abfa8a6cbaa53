// physics/strain_limit.c: energy, gradient and Hessian of strain limits, eight faces at a time; their multipliers.
//
// d d_k / d x_a = (grad(basis a) . v_k) u_k (Narain et al. 2012, Eq. 25-27). The Hessian is that of an isotropic energy of
// stretches by its modes: stretching along u1 and u2, shear, and turning of the face in its plane and out of it. Under compression
// turning has negative stiffness; it enters by its absolute value (Chen et al. 2024), which keeps steps within the reach of the
// model where cloth buckles, so the Hessian is positive semidefinite.
//
// Most faces are within their limits: they cost a strain and a square root, nothing is stored for them.

#include "physics/strain_limit.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/vec3.h"
#include "physics/lanes.h"
#include "physics/touched.h"

enum { FACES_PER_CHUNK = TL_CHUNK_FACES };

#define TINY 1e-300        // keeps divisions finite
#define FLAT 1e-6          // stretches below this count as this: what is squeezed to nothing has no direction
#define LOOSE 0.5          // strain whose stress holds the direction of a face within its limits, if such faces are held at all
#define MOST_SLACK 0.05    // limits let go of a face that has come to lie this much inside them
#define SQUEEZED 0.25      // stretches below this count as this in the Hessian: entries must not outgrow its precision
#define MOST_PULL 10.0     // bound on the multiplier of a face that stays beyond its limits, over the fabric's stiffness
#define MOST_STIFFER 64.0  // of the stiffness a step begins with
#define STIFFEN 4.0

// ---- making ----

static bool is_limit(double x) { return !isnan(x); }

tl_status tl_strain_check(const tl_strain_def *d, const char *what, tl_error *err)
{
    if ((int)d->kind < TL_STRAIN_FREE || d->kind > TL_STRAIN_ALIGNED)
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.kind %d is none of ours", what, (int)d->kind);
    const bool aligned = d->kind == TL_STRAIN_ALIGNED;
    if (d->kind == TL_STRAIN_FREE) return TL_OK;
    if (!is_limit(d->min) || !(d->min <= 0) || (isfinite(d->min) && d->min <= -1))
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.min %g, must be in (-1, 0], or -infinity for none", what, d->min);
    if (!is_limit(d->max) || !(d->max >= 0)) return tl_fail(err, TL_BAD_INPUT, "%s: strain.max %g, must be >= 0", what, d->max);
    if (aligned && (!is_limit(d->weft_min) || !(d->weft_min <= 0) || (isfinite(d->weft_min) && d->weft_min <= -1)))
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.weft_min %g, must be in (-1, 0], or -infinity for none", what, d->weft_min);
    if (aligned && (!is_limit(d->weft_max) || !(d->weft_max >= 0)))
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.weft_max %g, must be >= 0", what, d->weft_max);
    if (aligned && (!is_limit(d->shear) || !(d->shear >= 0)))
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.shear %g, must be >= 0", what, d->shear);
    return TL_OK;
}

static tl_strain_bounds bounds_of(const tl_strain_def *d)
{
    const double none = (double)INFINITY;
    tl_strain_bounds b = {false, {-none, -none, -none}, {none, none, none}, {0, 0, 0}};
    if (d->kind == TL_STRAIN_FREE) return b;
    b.aligned = d->kind == TL_STRAIN_ALIGNED;
    b.low[0] = d->min, b.high[0] = d->max;
    b.low[1] = b.aligned ? d->weft_min : d->min, b.high[1] = b.aligned ? d->weft_max : d->max;
    if (b.aligned) b.low[2] = -d->shear, b.high[2] = d->shear;
    return b;
}

void tl_strain_limits_destroy(tl_strain_limits *l)
{
    if (!l) return;
    const tl_allocator alloc = l->alloc, *al = &alloc;
    TL_FREE(al, l->bounds, l->bounds_count);
    TL_FREE(al, l->cloth, l->face_count);
    TL_FREE(al, l->multiplier, l->face_count);
    TL_FREE(al, l->trial, l->face_count);
    TL_FREE(al, l->stiffness, l->face_count);
    TL_FREE(al, l->base, l->face_count);
    TL_FREE(al, l->next, l->face_count);
    TL_FREE(al, l->bold, l->face_count);
    TL_FREE(al, l, 1);
}

tl_status tl_strain_limits_create(const tl_allocator *al, const tl_elements *e, const tl_strain_def *defs, tl_strain_limits **out,
                                  tl_error *err)
{
    *out = NULL;
    tl_strain_limits *l = TL_CALLOC(al, tl_strain_limits, 1);
    if (!l) return tl_fail_memory(err, "the strain limits");
    const int32_t m = e->face_count;
    l->alloc = *al, l->face_count = m, l->bounds_count = e->cloth_count;
    l->bounds = TL_CALLOC(al, tl_strain_bounds, e->cloth_count);
    l->cloth = TL_CALLOC(al, int32_t, m);
    l->multiplier = TL_CALLOC_FOR(al, l->multiplier, m);
    l->trial = TL_CALLOC_FOR(al, l->trial, m);
    l->stiffness = TL_CALLOC(al, double, m);
    l->base = TL_CALLOC(al, double, m);
    l->next = TL_CALLOC_FOR(al, l->next, m);
    l->bold = TL_CALLOC(al, double, m);
    if (!l->bounds || !l->cloth || !l->multiplier || !l->trial || !l->stiffness || !l->base || !l->next || !l->bold) {
        tl_strain_limits_destroy(l);
        return tl_fail_memory(err, "the strain limits");
    }
    for (int32_t c = 0; c < e->cloth_count; c++) {
        l->bounds[c] = bounds_of(&defs[c]);
        for (int32_t slot = e->cloth_face_start[c]; slot < e->cloth_face_start[c + 1]; slot++)
            if (e->face_of[slot] != TL_NONE) l->cloth[e->face_of[slot]] = c;
    }
    for (int32_t f = 0; f < m; f++) l->stiffness[f] = l->base[f] = l->bold[f] = 1;
    *out = l;
    return TL_OK;
}

void tl_strain_tighten(tl_strain_limits *l, double margin)
{
    for (int32_t c = 0; c < l->bounds_count; c++) {
        tl_strain_bounds *b = &l->bounds[c];
        for (int k = 0; k < 3; k++) {
            const double m = fmin(margin, 0.25 * (b->high[k] - b->low[k]));
            b->margin[k] = m, b->low[k] += m, b->high[k] -= m;
        }
    }
}

static double size_of(const double s[3]) { return sqrt(s[0] * s[0] + s[1] * s[1] + 2 * s[2] * s[2]); }

void tl_strain_begin(tl_strain_limits *l, const tl_elements *e, double gamma)
{
    for (int32_t f = 0; f < l->face_count; f++) {
        const double fabric = fmax(e->stretch[f][0], e->stretch[f][2]);
        const double per_area = e->materials[e->material[f]].density * gamma * gamma, inertia = per_area * e->area[f];
        l->base[f] = l->stiffness[f] = fmax(TL_STRAIN_STIFFER * fmax(fabric, inertia), size_of(l->multiplier[f]) / MOST_SLACK);
        l->bold[f] = fmax(1, fmin(TL_STRAIN_BOLD, per_area * TL_STRAIN_REACH * TL_STRAIN_REACH / l->base[f]));
        memcpy(l->trial[f], l->multiplier[f], sizeof l->trial[f]);
    }
}

// ---- eight faces ----

typedef struct strain_job {
    const tl_strain_limits *l;
    const tl_elements *e;
    const tl_vec3 *x;
    tl_bsr *matrix;     // NULL: no Hessian
    tl_vec3 *gradient;
    const int32_t *chunks;
    double *energy;     // per chunk
    const int32_t (*slots)[3];  // of corners 01, 02, 12; NULL: those of the elements
} strain_job;

typedef struct lanes8 {
    int count;
    int32_t face[LANES];
    vd area, mu, f1[3], f2[3];
    vd s[3];      // S/mu
    vd y[3];      // strain + S/mu: Y11, Y22, Y12
    vd value[3];  // what the bounds are on: eigenvalues of Y, or Y itself
    vd h[3];      // that, beyond the bounds
    vd low[3], high[3], aligned;
} lanes8;

TL_INLINE void load(const strain_job *job, int32_t begin, int32_t end, lanes8 *p, vd s[3])
{
    const tl_strain_limits *l = job->l;
    const tl_elements *e = job->e;
    vd d1[3], d2[3], grad[4];
    p->count = end - begin < LANES ? end - begin : LANES;
    for (int i = 0; i < LANES; i++) {
        const int32_t f = begin + (i < p->count ? i : p->count - 1);  // idle lanes repeat the last face
        const tl_strain_bounds *b = &l->bounds[l->cloth[f]];
        const tl_vec3 *o = &job->x[e->face[f][0]], *a = &job->x[e->face[f][1]], *c = &job->x[e->face[f][2]];
        p->face[i] = f;
        d1[0][i] = a->x - o->x, d1[1][i] = a->y - o->y, d1[2][i] = a->z - o->z;
        d2[0][i] = c->x - o->x, d2[1][i] = c->y - o->y, d2[2][i] = c->z - o->z;
        for (int k = 0; k < 4; k++) grad[k][i] = e->grad[f][k];
        for (int k = 0; k < 3; k++) s[k][i] = l->trial[f][k], p->low[k][i] = b->low[k], p->high[k][i] = b->high[k];
        p->area[i] = e->area[f], p->mu[i] = l->stiffness[f], p->aligned[i] = b->aligned;
    }
    for (int k = 0; k < 3; k++) {
        p->f1[k] = d1[k] * grad[0] + d2[k] * grad[2];
        p->f2[k] = d1[k] * grad[1] + d2[k] * grad[3];
    }
}

TL_INLINE vd choose(vd which, vd a, vd b)
{
    vd r;
    for (int i = 0; i < LANES; i++) r[i] = which[i] != 0 ? a[i] : b[i];
    return r;
}

TL_INLINE vd beyond(vd y, vd low, vd high)
{
    vd r;
    for (int i = 0; i < LANES; i++) r[i] = y[i] > high[i] ? y[i] - high[i] : y[i] < low[i] ? y[i] - low[i] : 0;
    return r;
}

// Square root of the 2x2 matrix C = F^T F: (C + d1 d2 I) / (d1 + d2), since C = tr(U) U - det(U) I.
TL_INLINE void project_lanes(const strain_job *job, int32_t begin, int32_t end, lanes8 *p)
{
    vd s[3], normal[3];
    load(job, begin, end, p, s);
    vd_cross(p->f1, p->f2, normal);
    const vd c11 = vd_dot(p->f1, p->f1), c22 = vd_dot(p->f2, p->f2), c12 = vd_dot(p->f1, p->f2);
    const vd det = vd_sqrt(vd_dot(normal, normal)), trace = vd_sqrt(c11 + c22 + 2 * det), per = 1 / (trace + TINY);
    const vd along1 = vd_sqrt(c11), along2 = vd_sqrt(c22), per_mu = 1 / p->mu;
    for (int k = 0; k < 3; k++) p->s[k] = s[k] * per_mu;
    p->y[0] = choose(p->aligned, along1, (c11 + det) * per) - 1 + p->s[0];
    p->y[1] = choose(p->aligned, along2, (c22 + det) * per) - 1 + p->s[1];
    p->y[2] = choose(p->aligned, c12 / (along1 * along2 + TINY), c12 * per) + p->s[2];
    const vd mean = 0.5 * (p->y[0] + p->y[1]), half = 0.5 * (p->y[0] - p->y[1]), radius = vd_sqrt(half * half + p->y[2] * p->y[2]);
    p->value[0] = choose(p->aligned, p->y[0], mean + radius);
    p->value[1] = choose(p->aligned, p->y[1], mean - radius);
    p->value[2] = choose(p->aligned, p->y[2], vd_of(0));
    for (int k = 0; k < 3; k++) p->h[k] = beyond(p->value[k], p->low[k], p->high[k]);
}

static void add_block(const tl_bsr *m, int32_t i, int32_t j, int32_t slot, const double k[9])
{
    const bool turn = (slot & 3) == TL_SLOT_TRANSPOSED;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const double v = turn ? k[3 * c + r] : k[3 * r + c];
            if (m->single) {
                float *at = &m->single[(slot >> 2) - (i < j ? i : j) - 1][3 * r + c];
                *at = (float)((double)*at + v);
            } else {
                m->value[slot >> 2][3 * r + c] += v;
            }
        }
}

/// One face beyond its limits. Its Hessian is sum of weight v v^T over the modes, v[a] for corner a.
enum { MODES = 8 };
typedef struct pulled {
    tl_vec3 force[3];  // gradient
    int modes;
    double weight[MODES];
    tl_vec3 v[MODES][3];
} pulled;

static void add_mode(pulled *out, double weight, const double s[3], tl_vec3 p, const double t[3], tl_vec3 q)
{
    if (!(weight > 0)) return;
    out->weight[out->modes] = weight;
    for (int a = 0; a < 3; a++) out->v[out->modes][a] = tl_madd3(tl_mul3(s[a], p), t[a], q);
    out->modes++;
}

/// Angle of the larger eigenvalue of a symmetric matrix: (cos, sin), half its difference and radius known.
static void eigenbasis(double half, double off, double n[2])
{
    const double radius = sqrt(half * half + off * off);
    n[0] = 1, n[1] = 0;
    if (!(radius > TINY)) return;
    const double turn = fmin(1, fmax(-1, half / radius));
    n[0] = sqrt(0.5 * (1 + turn));
    n[1] = off < 0 ? -sqrt(0.5 * (1 - turn)) : sqrt(0.5 * (1 - turn));
}

static const double zero3[3] = {0, 0, 0};

// A symmetric matrix (11, 22, 12) in the direction (x, y), and between the direction w and the one a quarter turn on.
static double along(double x, double y, double s11, double s22, double s12) { return x * x * s11 + y * y * s22 + 2 * x * y * s12; }
static double between(const double w[2], double s11, double s22, double s12)
{
    return w[0] * w[1] * (s22 - s11) + (w[0] * w[0] - w[1] * w[1]) * s12;
}

// With h = strain - bound + S/mu, what limits `bold` times as stiff pull with, over mu: bold (strain - bound) + S/mu.
static double stress_sought(double h, double s, double bold) { return h != 0 ? bold * h - (bold - 1) * s : 0; }

// Bounds on every direction. v_k: eigenvectors of U, d_k its eigenvalues, u_k = F v_k / d_k, s_ka = grad(basis a) . v_k; then
// d U_kk / d x_a = s_ka u_k and d U_12 / d x_a = (s_2a d1 u1 + s_1a d2 u2) / (d1 + d2). t: S of the next multiplier.
static void pull_isotropic(const lanes8 *p, int i, double gx[3], double gy[3], double still, double bold, pulled *out)
{
    const double loose = LOOSE * still * p->mu[i];
    const tl_vec3 f1 = {p->f1[0][i], p->f1[1][i], p->f1[2][i]}, f2 = {p->f2[0][i], p->f2[1][i], p->f2[2][i]};
    const double h1 = p->h[0][i], h2 = p->h[1][i], a = p->area[i], mu = p->mu[i];
    double v[2], w[2];  // eigenvectors of U and of Y
    eigenbasis(0.5 * (tl_dot3(f1, f1) - tl_dot3(f2, f2)), tl_dot3(f1, f2), v);
    eigenbasis(0.5 * (p->y[0][i] - p->y[1][i]), p->y[2][i], w);
    const double c = w[0] * v[0] + w[1] * v[1], s = w[1] * v[0] - w[0] * v[1];  // w1 = c v1 + s v2
    const double t11 = mu * (c * c * h1 + s * s * h2), t22 = mu * (s * s * h1 + c * c * h2);
    const double b1 = stress_sought(h1, along(w[0], w[1], p->s[0][i], p->s[1][i], p->s[2][i]), bold);
    const double b2 = stress_sought(h2, along(-w[1], w[0], p->s[0][i], p->s[1][i], p->s[2][i]), bold);
    const bool both = h1 * h2 > 0;
    const double b12 = both ? (1 - bold) * between(w, p->s[0][i], p->s[1][i], p->s[2][i]) : 0;
    const double r11 = mu * (c * c * b1 + s * s * b2 - 2 * c * s * b12), r22 = mu * (s * s * b1 + c * c * b2 + 2 * c * s * b12);
    const double r12 = mu * (c * s * (b1 - b2) + (c * c - s * s) * b12);
    const tl_vec3 p1 = tl_madd3(tl_mul3(v[0], f1), v[1], f2), p2 = tl_madd3(tl_mul3(v[0], f2), -v[1], f1);
    const double d1 = fmax(tl_norm3(p1), FLAT), d2 = fmax(tl_norm3(p2), FLAT);
    const tl_vec3 u1 = tl_mul3(1 / d1, p1), u2 = tl_mul3(1 / d2, p2);
    double s1[3], s2[3];
    for (int k = 0; k < 3; k++) s1[k] = v[0] * gx[k] + v[1] * gy[k], s2[k] = v[0] * gy[k] - v[1] * gx[k];
    for (int k = 0; k < 3; k++) {
        const double g1 = r11 * s1[k] + 2 * r12 * s2[k] * d1 / (d1 + d2), g2 = r22 * s2[k] + 2 * r12 * s1[k] * d2 / (d1 + d2);
        out->force[k] = tl_madd3(tl_mul3(a * g1, u1), a * g2, u2);
    }
    // Derivative of the projection in the eigenbasis of Y. Shear without turning stands for U12: with S along the axes of U this
    // and what follows is the exact Hessian.
    double q1[3], q2[3];
    for (int k = 0; k < 3; k++) q1[k] = c * c * s1[k] + c * s * s2[k], q2[k] = s * s * s2[k] + c * s * s1[k];
    add_mode(out, a * mu * (h1 != 0 ? bold : still), q1, u1, q2, u2);
    for (int k = 0; k < 3; k++) q1[k] = s * s * s1[k] - c * s * s2[k], q2[k] = c * c * s2[k] - c * s * s1[k];
    add_mode(out, a * mu * (h2 != 0 ? bold : still), q1, u1, q2, u2);
    const double gap = p->value[0][i] - p->value[1][i];
    const double slope = gap > TINY ? fmin(1, fmax(0, (h1 - h2) / gap)) : h1 != 0;
    for (int k = 0; k < 3; k++)
        q1[k] = 0.5 * (c * c - s * s) * s2[k] - c * s * s1[k], q2[k] = 0.5 * (c * c - s * s) * s1[k] + c * s * s2[k];
    add_mode(out, 2 * a * mu * fmax(both ? bold * slope : slope, still), q1, u1, q2, u2);
    // Turning in the plane and out of it. Compression drives it; its size then says how far a step may go.
    for (int k = 0; k < 3; k++) q1[k] = -s2[k];
    add_mode(out, 0.5 * a * fmax(fabs(t11 + t22), loose) / fmax(d1 + d2, SQUEEZED), q1, u1, s1, u2);
    const tl_vec3 n = tl_cross3(u1, u2);
    add_mode(out, a * fmax(fabs(t11), loose) / fmax(d1, SQUEEZED), s1, n, zero3, n);
    add_mode(out, a * fmax(fabs(t22), loose) / fmax(d2, SQUEEZED), s2, n, zero3, n);
}

static tl_vec3 any_normal(tl_vec3 u)
{
    const tl_vec3 axis = fabs(u.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 1, 0};
    const tl_vec3 n = tl_cross3(u, axis);
    return tl_mul3(1 / fmax(tl_norm3(n), TINY), n);
}

// Bounds on the lengths of f1 and f2 and on the cosine between them.
static void pull_aligned(const lanes8 *p, int i, double gx[3], double gy[3], double still, double bold, pulled *out)
{
    const tl_vec3 f1 = {p->f1[0][i], p->f1[1][i], p->f1[2][i]}, f2 = {p->f2[0][i], p->f2[1][i], p->f2[2][i]};
    const double a = p->area[i], mu = p->mu[i], t1 = mu * p->h[0][i], t2 = mu * p->h[1][i], t3 = 2 * mu * p->h[2][i];
    const double d1 = fmax(tl_norm3(f1), FLAT), d2 = fmax(tl_norm3(f2), FLAT);
    const tl_vec3 u1 = tl_mul3(1 / d1, f1), u2 = tl_mul3(1 / d2, f2);
    const double c = tl_dot3(u1, u2);
    const tl_vec3 r1 = tl_mul3(1 / d1, tl_madd3(u2, -c, u1)), r2 = tl_mul3(1 / d2, tl_madd3(u1, -c, u2));
    double b[3];
    for (int k = 0; k < 3; k++) b[k] = (k == 2 ? 2 : 1) * mu * stress_sought(p->h[k][i], p->s[k][i], bold);
    for (int k = 0; k < 3; k++)
        out->force[k] = tl_mul3(a, tl_add3(tl_madd3(tl_mul3(b[0] * gx[k], u1), b[1] * gy[k], u2),
                                           tl_madd3(tl_mul3(b[2] * gx[k], r1), b[2] * gy[k], r2)));
    add_mode(out, a * mu * (t1 != 0 ? bold : still), gx, u1, zero3, u1);
    add_mode(out, a * mu * (t2 != 0 ? bold : still), gy, u2, zero3, u2);
    const double e1 = fmax(d1, SQUEEZED), e2 = fmax(d2, SQUEEZED);
    add_mode(out, 2 * a * mu * (t3 != 0 ? bold : still), gx, tl_mul3(d1 / e1, r1), gy, tl_mul3(d2 / e2, r2));
    const double loose = LOOSE * still * mu;
    const tl_vec3 m1 = any_normal(u1), m2 = any_normal(u2);
    add_mode(out, a * fmax(fabs(t1), loose) / e1, gx, m1, zero3, m1);
    add_mode(out, a * fmax(fabs(t1), loose) / e1, gx, tl_cross3(u1, m1), zero3, m1);
    add_mode(out, a * fmax(fabs(t2), loose) / e2, gy, m2, zero3, m2);
    add_mode(out, a * fmax(fabs(t2), loose) / e2, gy, tl_cross3(u2, m2), zero3, m2);
}

static void add_outer(double k[9], double w, tl_vec3 p, tl_vec3 q)
{
    const double a[3] = {w * p.x, w * p.y, w * p.z}, b[3] = {q.x, q.y, q.z};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) k[3 * r + c] += a[r] * b[c];
}

static void add_face(const strain_job *job, const lanes8 *p, int i)
{
    const tl_elements *e = job->e;
    const int32_t f = p->face[i], *node = e->face[f];
    const double *g = e->grad[f];
    double gx[3] = {-(g[0] + g[2]), g[0], g[2]}, gy[3] = {-(g[1] + g[3]), g[1], g[3]};
    pulled pull = {.modes = 0};
    if (p->aligned[i] != 0) pull_aligned(p, i, gx, gy, job->l->still, job->l->bold[f], &pull);
    else pull_isotropic(p, i, gx, gy, job->l->still, job->l->bold[f], &pull);
    for (int a = 0; a < 3; a++) {
        if (e->fixed[node[a]]) continue;
        job->gradient[node[a]] = tl_add3(job->gradient[node[a]], pull.force[a]);
        for (int b = a; job->matrix && b < 3; b++) {
            if (e->fixed[node[b]]) continue;
            double k[9] = {0};
            for (int m = 0; m < pull.modes; m++) add_outer(k, pull.weight[m], pull.v[m][a], pull.v[m][b]);
            if (a == b) {
                double *d = tl_bsr_diagonal(job->matrix, node[a]);
                for (int r = 0; r < 9; r++) d[r] += k[r];
            } else {
                const int32_t slot = job->slots ? job->slots[f][a + b - 1] : e->slot[f][tl_patch_pair(a, b)];
                add_block(job->matrix, node[a], node[b], slot, k);
            }
        }
    }
}

LANE_CLONES static void strain_chunk(void *arg, int32_t first, int32_t last)
{
    const strain_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t c = first; c < last; c++) {
        const int32_t chunk = job->chunks ? job->chunks[c] : c, begin = chunk * FACES_PER_CHUNK;
        const int32_t end = e->face_count - begin < FACES_PER_CHUNK ? e->face_count : begin + FACES_PER_CHUNK;
        double sum = 0;
        for (int32_t f = begin; f < end; f += LANES) {
            if (TL_AT_REST(e, face, f)) continue;
            lanes8 p;
            project_lanes(job, f, end, &p);
            const vd energy = 0.5 * p.area * p.mu * (p.h[0] * p.h[0] + p.h[1] * p.h[1] + 2 * p.h[2] * p.h[2]);
            for (int i = 0; i < p.count; i++) {
                sum += energy[i];
                if (job->gradient && (energy[i] > 0 || job->l->still > 0)) add_face(job, &p, i);
            }
        }
        if (job->energy) job->energy[chunk] = sum;
    }
}

tl_status tl_strain_energy(const tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, tl_arena *scratch,
                           tl_workers *workers, double *out, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(scratch);
    double *energy = TL_SCRATCH(scratch, double, e->chunk_count);
    if (!energy) return tl_fail_memory(err, "the strain limits");
    tl_parallel_for(workers, e->chunk_count, 1, strain_chunk, &(strain_job){l, e, x, NULL, NULL, NULL, energy, NULL});
    *out = tl_tree_sum(energy, e->chunk_count);
    tl_arena_release(scratch, mark);
    return TL_OK;
}

void tl_strain_assemble_into(const tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, tl_bsr *matrix,
                             const int32_t (*slots)[3], tl_vec3 *gradient, tl_workers *workers)
{
    for (int32_t c = 0; c < e->color_count; c++) {
        strain_job job = {l, e, x, matrix, gradient, e->color_chunk + e->color_start[c], NULL, slots};
        tl_parallel_for(workers, e->color_start[c + 1] - e->color_start[c], 1, strain_chunk, &job);
    }
}

void tl_strain_assemble(const tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient,
                        tl_workers *workers)
{
    tl_strain_assemble_into(l, e, x, matrix, NULL, gradient, workers);
}

// ---- multipliers ----

// What the bounds are on: U - I, or for aligned limits the strains of warp and weft and the cosine between them.
static void face_strain(const tl_elements *e, const tl_vec3 *x, int32_t f, bool aligned, double out[3])
{
    const double *g = e->grad[f];
    const tl_vec3 d1 = tl_sub3(x[e->face[f][1]], x[e->face[f][0]]), d2 = tl_sub3(x[e->face[f][2]], x[e->face[f][0]]);
    const tl_vec3 f1 = tl_madd3(tl_mul3(g[0], d1), g[2], d2), f2 = tl_madd3(tl_mul3(g[1], d1), g[3], d2);
    const double c11 = tl_dot3(f1, f1), c22 = tl_dot3(f2, f2), c12 = tl_dot3(f1, f2);
    if (aligned) {
        out[0] = sqrt(c11) - 1, out[1] = sqrt(c22) - 1, out[2] = c12 / (sqrt(c11) * sqrt(c22) + TINY);
        return;
    }
    const double det = tl_norm3(tl_cross3(f1, f2)), per = 1 / (sqrt(c11 + c22 + 2 * det) + TINY);
    out[0] = (c11 + det) * per - 1, out[1] = (c22 + det) * per - 1, out[2] = c12 * per;
}

static double outside(double y, double low, double high) { return y > high ? y - high : y < low ? y - low : 0; }

/// mu h(strain + S/mu): the next multiplier.
static void next_multiplier(const tl_strain_bounds *b, const double e[3], const double s[3], double mu, double out[3])
{
    const double y[3] = {e[0] + s[0] / mu, e[1] + s[1] / mu, e[2] + s[2] / mu};
    if (b->aligned) {
        for (int k = 0; k < 3; k++) out[k] = mu * outside(y[k], b->low[k], b->high[k]);
        return;
    }
    const double mean = 0.5 * (y[0] + y[1]), half = 0.5 * (y[0] - y[1]), radius = sqrt(half * half + y[2] * y[2]);
    const double h1 = outside(mean + radius, b->low[0], b->high[0]), h2 = outside(mean - radius, b->low[1], b->high[1]);
    const double even = 0.5 * (h1 + h2), odd = radius > TINY ? 0.5 * (h1 - h2) / radius : 0;
    out[0] = mu * (even + odd * half), out[1] = mu * (even - odd * half), out[2] = mu * odd * y[2];
}

/// A face and how it moves: F and its change, by columns.
typedef struct moving { tl_vec3 f1, f2, d1, d2; } moving;

static moving moving_face(const tl_elements *e, const tl_vec3 *x, const tl_vec3 *move, int32_t f)
{
    const double *g = e->grad[f];
    const int32_t *n = e->face[f];
    const tl_vec3 a = tl_sub3(x[n[1]], x[n[0]]), b = tl_sub3(x[n[2]], x[n[0]]);
    const tl_vec3 c = tl_sub3(move[n[1]], move[n[0]]), d = tl_sub3(move[n[2]], move[n[0]]);
    return (moving){tl_madd3(tl_mul3(g[0], a), g[2], b), tl_madd3(tl_mul3(g[1], a), g[3], b), tl_madd3(tl_mul3(g[0], c), g[2], d),
                    tl_madd3(tl_mul3(g[1], c), g[3], d)};
}

static bool stands_still(const moving *m) { return tl_dot3(m->d1, m->d1) == 0 && tl_dot3(m->d2, m->d2) == 0; }

// Keeps a pull from becoming a push.
static double same_side(double t, double h) { return h > 0 ? fmax(t, 0) : h < 0 ? fmin(t, 0) : 0; }

// The multiplier that the linear model of pull_isotropic ends with after all of the move, unless it is `given` (not NULL); `slope`
// gets, over the area, what the potential with it changes by, less what the model's gradient says.
static void foresee_isotropic(const tl_strain_bounds *b, const moving *m, const double e[3], const double s[3], double mu,
                              double bold, const double *given, double next[3], double *slope)
{
    const double y[3] = {e[0] + s[0] / mu, e[1] + s[1] / mu, e[2] + s[2] / mu};
    const double mean = 0.5 * (y[0] + y[1]), half = 0.5 * (y[0] - y[1]), radius = sqrt(half * half + y[2] * y[2]);
    const double h1 = outside(mean + radius, b->low[0], b->high[0]), h2 = outside(mean - radius, b->low[1], b->high[1]);
    next[0] = next[1] = next[2] = *slope = 0;
    if (h1 == 0 && h2 == 0) return;  // nor is there a given one
    double v[2], w[2];
    eigenbasis(0.5 * (tl_dot3(m->f1, m->f1) - tl_dot3(m->f2, m->f2)), tl_dot3(m->f1, m->f2), v);
    eigenbasis(half, y[2], w);
    const tl_vec3 p1 = tl_madd3(tl_mul3(v[0], m->f1), v[1], m->f2), p2 = tl_madd3(tl_mul3(v[0], m->f2), -v[1], m->f1);
    const tl_vec3 q1 = tl_madd3(tl_mul3(v[0], m->d1), v[1], m->d2), q2 = tl_madd3(tl_mul3(v[0], m->d2), -v[1], m->d1);
    const double d1 = fmax(tl_norm3(p1), FLAT), d2 = fmax(tl_norm3(p2), FLAT);
    const double a1 = tl_dot3(p1, q1) / d1, a2 = tl_dot3(p2, q2) / d2, a12 = (tl_dot3(p1, q2) + tl_dot3(p2, q1)) / (d1 + d2);
    const double u[2] = {v[0], -v[1]};  // back to material coordinates
    const double du[3] = {along(u[0], u[1], a1, a2, a12), along(-u[1], u[0], a1, a2, a12), between(u, a1, a2, a12)};
    const double g1 = along(w[0], w[1], du[0], du[1], du[2]), g2 = along(-w[1], w[0], du[0], du[1], du[2]);
    const double g12 = between(w, du[0], du[1], du[2]);
    const bool both = h1 * h2 > 0;
    const double b1 = stress_sought(h1, along(w[0], w[1], s[0], s[1], s[2]) / mu, bold);
    const double b2 = stress_sought(h2, along(-w[1], w[0], s[0], s[1], s[2]) / mu, bold);
    const double b12 = both ? (1 - bold) * between(w, s[0], s[1], s[2]) / mu : 0;
    const double turn = radius > TINY ? fmin(1, fmax(0, 0.5 * (h1 - h2) / radius)) : h1 != 0;
    const double t1 = same_side(mu * (b1 + bold * g1), h1), t2 = same_side(mu * (b2 + bold * g2), h2);
    const double t12 = mu * (b12 + (both ? bold : 1) * turn * g12), back[2] = {w[0], -w[1]};
    next[0] = along(back[0], back[1], t1, t2, t12), next[1] = along(-back[1], back[0], t1, t2, t12);
    next[2] = between(back, t1, t2, t12);
    double t[3];
    next_multiplier(b, e, given ? given : next, mu, t);
    *slope = t[0] * du[0] + t[1] * du[1] + 2 * t[2] * du[2] - mu * (b1 * g1 + b2 * g2 + 2 * b12 * g12);
}

static void foresee_aligned(const tl_strain_bounds *b, const moving *m, const double e[3], const double s[3], double mu,
                            double bold, const double *given, double next[3], double *slope)
{
    const double d1 = fmax(tl_norm3(m->f1), FLAT), d2 = fmax(tl_norm3(m->f2), FLAT);
    const tl_vec3 u1 = tl_mul3(1 / d1, m->f1), u2 = tl_mul3(1 / d2, m->f2);
    const double c = tl_dot3(u1, u2);
    const double move[3] = {tl_dot3(u1, m->d1), tl_dot3(u2, m->d2),
                            tl_dot3(tl_madd3(u2, -c, u1), m->d1) / d1 + tl_dot3(tl_madd3(u1, -c, u2), m->d2) / d2};
    double sought[3], t[3];
    for (int k = 0; k < 3; k++) {
        const double h = outside(e[k] + s[k] / mu, b->low[k], b->high[k]);
        sought[k] = stress_sought(h, s[k] / mu, bold);
        next[k] = same_side(mu * (sought[k] + bold * move[k]), h);
    }
    next_multiplier(b, e, given ? given : next, mu, t);
    *slope = 0;
    for (int k = 0; k < 3; k++) *slope += (k == 2 ? 2 : 1) * (t[k] - mu * sought[k]) * move[k];
}

typedef struct foresee_job {
    tl_strain_limits *l;
    const tl_elements *e;
    const tl_vec3 *x, *move;
    bool given;     // multipliers have been foreseen already
    double *slope;  // per chunk
} foresee_job;

static void foresee_chunk(void *arg, int32_t begin, int32_t end)
{
    const foresee_job *job = arg;
    tl_strain_limits *l = job->l;
    double sum = 0;
    for (int32_t f = begin; f < end; f++) {
        const tl_strain_bounds *b = &l->bounds[l->cloth[f]];
        const double *from = job->given ? l->next[f] : l->trial[f], *given = job->given ? l->trial[f] : NULL, mu = l->stiffness[f];
        double g[3], next[3], slope;
        const moving m = TL_AT_REST(job->e, face, f) ? (moving){0} : moving_face(job->e, job->x, job->move, f);
        if (stands_still(&m)) {  // and keeps its multiplier: one that grows while nothing can answer would be too large
            if (!given) memcpy(l->next[f], from, sizeof next);
            continue;
        }
        face_strain(job->e, job->x, f, b->aligned, g);
        if (b->aligned) foresee_aligned(b, &m, g, from, mu, l->bold[f], given, next, &slope);
        else foresee_isotropic(b, &m, g, from, mu, l->bold[f], given, next, &slope);
        if (!given) memcpy(l->next[f], next, sizeof next);
        sum += job->e->area[f] * slope;
    }
    job->slope[begin / FACES_PER_CHUNK] = sum;
}

static tl_status sum_slopes(foresee_job *job, tl_arena *scratch, tl_workers *workers, double *slope, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(scratch);
    const int32_t chunks = job->e->chunk_count;
    job->slope = TL_SCRATCH(scratch, double, chunks);
    if (!job->slope) return tl_fail_memory(err, "the strain limits");
    tl_parallel_for(workers, job->l->face_count, FACES_PER_CHUNK, foresee_chunk, job);
    *slope = tl_tree_sum(job->slope, chunks);
    tl_arena_release(scratch, mark);
    return TL_OK;
}

tl_status tl_strain_foresee(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, const tl_vec3 *move, tl_arena *scratch,
                            tl_workers *workers, double *slope, tl_error *err)
{
    TL_TRY(sum_slopes(&(foresee_job){l, e, x, move, false, NULL}, scratch, workers, slope, err));
    double(*old)[3] = l->trial;
    l->trial = l->next, l->next = old;
    return TL_OK;
}

tl_status tl_strain_slope(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, const tl_vec3 *move, tl_arena *scratch,
                          tl_workers *workers, double *slope, tl_error *err)
{
    return sum_slopes(&(foresee_job){l, e, x, move, true, NULL}, scratch, workers, slope, err);
}

void tl_strain_back(tl_strain_limits *l, double part)
{
    for (int32_t f = 0; f < l->face_count; f++)
        for (int k = 0; k < 3; k++) l->trial[f][k] = part * l->trial[f][k] + (1 - part) * l->next[f][k];
}

// Largest excess over the limits, negative inside.
static double excess_of(const tl_strain_bounds *b, const double e[3])
{
    double v[3] = {e[0], e[1], e[2]};
    if (!b->aligned) {
        const double mean = 0.5 * (e[0] + e[1]), half = 0.5 * (e[0] - e[1]), radius = sqrt(half * half + e[2] * e[2]);
        v[0] = mean + radius, v[1] = mean - radius, v[2] = 0;
    }
    double worst = -(double)INFINITY;
    for (int k = 0; k < 3; k++) worst = fmax(worst, fmax(v[k] - b->high[k], b->low[k] - v[k]) - b->margin[k]);
    return worst;
}

double tl_strain_excess(const tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, int32_t f)
{
    const tl_strain_bounds *b = &l->bounds[l->cloth[f]];
    double g[3];
    face_strain(e, x, f, b->aligned, g);
    return excess_of(b, g);
}

double tl_strain_change(const tl_elements *e, const tl_vec3 *move)
{
    double most = 0;
    for (int32_t f = 0; f < e->face_count; f++) {
        const double *g = e->grad[f];
        const tl_vec3 d1 = tl_sub3(move[e->face[f][1]], move[e->face[f][0]]), d2 = tl_sub3(move[e->face[f][2]], move[e->face[f][0]]);
        const tl_vec3 f1 = tl_madd3(tl_mul3(g[0], d1), g[2], d2), f2 = tl_madd3(tl_mul3(g[1], d1), g[3], d2);
        most = fmax(most, fmax(tl_dot3(f1, f1), tl_dot3(f2, f2)));
    }
    return sqrt(most);
}

static bool is_driven(const tl_elements *e, int32_t f)
{
    const int32_t *node = e->face[f];
    return e->fixed[node[0]] && e->fixed[node[1]] && e->fixed[node[2]];
}

typedef struct measure_job {
    tl_strain_limits *l;
    const tl_elements *e;
    const tl_vec3 *x;
    double tolerance;
    bool update;
    tl_strain_state *part;  // per chunk
} measure_job;

static void measure_chunk(void *arg, int32_t begin, int32_t end)
{
    const measure_job *job = arg;
    tl_strain_limits *l = job->l;
    tl_strain_state sum = {0, 0, 0, 0, TL_NONE};
    for (int32_t f = begin; f < end; f++) {
        const tl_strain_bounds *b = &l->bounds[l->cloth[f]];
        double g[3], next[3];
        if (TL_AT_REST(job->e, face, f)) continue;
        face_strain(job->e, job->x, f, b->aligned, g);
        next_multiplier(b, g, l->trial[f], l->stiffness[f], next);
        if (job->update) memcpy(l->trial[f], next, sizeof next);
        if (next[0] == 0 && next[1] == 0 && next[2] == 0) continue;  // then it is within its limits
        sum.active++;
        const double excess = excess_of(b, g);
        const bool driven = is_driven(job->e, f);
        sum.violated += excess > job->tolerance, sum.driven += driven && excess > job->tolerance;
        if (!driven && excess > sum.worst) sum.worst = excess, sum.face = f;
    }
    job->part[begin / FACES_PER_CHUNK] = sum;
}

tl_status tl_strain_measure(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, double tolerance, bool update,
                            tl_arena *scratch, tl_workers *workers, tl_strain_state *out, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(scratch);
    tl_strain_state *part = TL_SCRATCH(scratch, tl_strain_state, e->chunk_count);
    if (!part) return tl_fail_memory(err, "the strain limits");
    tl_parallel_for(workers, l->face_count, FACES_PER_CHUNK, measure_chunk, &(measure_job){l, e, x, tolerance, update, part});
    *out = (tl_strain_state){0, 0, 0, 0, TL_NONE};
    for (int32_t c = 0; c < e->chunk_count; c++) {
        out->active += part[c].active, out->violated += part[c].violated, out->driven += part[c].driven;
        if (part[c].worst > out->worst) out->worst = part[c].worst, out->face = part[c].face;
    }
    tl_arena_release(scratch, mark);
    return TL_OK;
}

bool tl_strain_stiffen(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, double tolerance)
{
    bool any = false;
    for (int32_t f = 0; f < l->face_count; f++) {
        if (!(l->stiffness[f] < MOST_STIFFER * l->base[f]) || !(tl_strain_excess(l, e, x, f) > tolerance)) continue;
        l->stiffness[f] *= STIFFEN;
        any = true;
    }
    return any;
}

void tl_strain_keep(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, double tolerance)
{
    for (int32_t f = 0; f < l->face_count; f++) {
        memcpy(l->multiplier[f], l->trial[f], sizeof l->trial[f]);
        const double size = size_of(l->trial[f]), most = MOST_PULL * fmax(e->stretch[f][0], e->stretch[f][2]);
        if (!(size > most) || !(tl_strain_excess(l, e, x, f) > tolerance)) continue;
        for (int k = 0; k < 3; k++) l->multiplier[f][k] *= most / size;
    }
}
