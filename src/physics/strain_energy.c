// physics/strain_energy.c: energy, gradient and Hessian of strain limits, eight faces at a time.
//
// d d_k / d x_a = (grad(basis a) . v_k) u_k (Narain et al. 2012, Eq. 25-27). The Hessian is that of an isotropic energy of
// stretches by its modes: stretching along u1 and u2, shear, and turning of the face in its plane and out of it. Under compression
// turning has negative stiffness; it enters by its absolute value (Chen et al. 2024), which keeps steps within the reach of the
// model where cloth buckles, so the Hessian is positive semidefinite.
//
// Most faces are within their limits: they cost a strain and a square root, nothing is stored for them.

#include <math.h>

#include "base/fail.h"
#include "math/bsr_row.h"
#include "math/vec3.h"
#include "physics/lanes.h"
#include "physics/strain_limit.h"
#include "physics/strain_tensor.h"
#include "physics/touched.h"

enum { FACES_PER_CHUNK = TL_CHUNK_FACES };

#define LOOSE 0.5      // strain whose stress holds the direction of a face within its limits, if such faces are held at all
#define SQUEEZED 0.25  // stretches below this count as this in the Hessian: entries must not outgrow its precision

// ---- eight faces against their bounds ----

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

// ---- one face beyond them ----

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

static const double zero3[3] = {0, 0, 0};

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

// ---- all faces ----

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
