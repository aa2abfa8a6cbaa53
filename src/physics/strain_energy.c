// physics/strain_energy.c: energy, gradient and Hessian of strain limits, eight faces at a time.
//
// d d_k / d x_a = (grad(basis a) . v_k) u_k (Narain et al. 2012, Eq. 25-27). The Hessian is that of an isotropic energy
// of stretches by its modes: stretching along u1 and u2, shear, and turning of the face in its plane and out of it.
// Under compression turning has negative stiffness; it enters by its absolute value (Chen et al. 2024), which keeps
// steps within the reach of the model where cloth buckles, so the Hessian is positive semidefinite.
//
// Most faces are within their limits: they cost a strain and a square root, nothing is stored for them. Those that are
// not are gathered, and again computed eight at a time.

#include <math.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "physics/scatter.h"
#include "physics/strain_lanes.h"
#include "physics/touched.h"

enum { FACES_PER_CHUNK = TL_CHUNK_FACES };

// strain whose stress holds the direction of a face within its limits, if such faces are held at all
#define LOOSE 0.5
#define SQUEEZED 0.25  // stretches below this count as this in the Hessian: entries must not outgrow its precision

typedef struct strain_job {
    const tl_strain_limits *l;
    const tl_elements *e;
    const tl_vec3 *x;
    tl_bsr *matrix;  // NULL: no Hessian
    tl_vec3 *gradient;
    const int32_t *chunks;
    double *energy;             // per chunk
    const int32_t (*slots)[3];  // of corners 01, 02, 12; NULL: those of the elements
} strain_job;

static int32_t slot_of(const strain_job *job, int32_t f, int a, int b)
{
    return job->slots ? job->slots[f][a + b - 1] : job->e->slot[f][tl_patch_pair(a, b)];
}

// ---- bounds on every direction, eight faces beyond them ----

/// Gradient and Hessian of eight faces: corners 0, 1, 2; blocks 00, 11, 22, 01, 02, 12.
typedef struct pulled8 {
    vd g[3][3], k[6][9];
} pulled8;

/// A mode of the Hessian: corner 1 + k moves by q1[k] u1 + q2[k] u2.
typedef struct mode8 {
    vd weight, q1[2], q2[2];
} mode8;

/// Modes within the plane, and turning out of it along its normal n with weight out1 along u1, out2 along u2.
typedef struct modes8 {
    const mode8 *mode;
    int count;
    vd out1, out2;
    const vd *n;
} modes8;

// Blocks of corners a, b of 1 and 2.
TL_INLINE void pair_block(const axes8 *x, const modes8 *all, int a, int b, vd k[9])
{
    const mode8 *mode = all->mode;
    const vd *n = all->n;
    vd along1 = vd_of(0), along12 = vd_of(0), along21 = vd_of(0), along2 = vd_of(0);
    for (int m = 0; m < all->count; m++) {
        const vd p = mode[m].weight * mode[m].q1[a], q = mode[m].weight * mode[m].q2[a];
        along1 += p * mode[m].q1[b], along12 += p * mode[m].q2[b];
        along21 += q * mode[m].q1[b], along2 += q * mode[m].q2[b];
    }
    const vd across = all->out1 * x->s1[a] * x->s1[b] + all->out2 * x->s2[a] * x->s2[b];
    for (int r = 0; r < 3; r++) {
        const vd p = along1 * x->u1[r] + along21 * x->u2[r], q = along12 * x->u1[r] + along2 * x->u2[r],
                 o = across * n[r];
        for (int c = 0; c < 3; c++) k[3 * r + c] = p * x->u1[c] + q * x->u2[c] + o * n[c];
    }
}

// d U_kk / d x_a = s_ka u_k and d U_12 / d x_a = (s_2a d1 u1 + s_1a d2 u2) / (d1 + d2). t: S of the next multiplier.
// Corner 0 moves against the other two.
TL_INLINE void pull_isotropic(const strain8 *p, vd still, vd bold, bool hessian, pulled8 *out)
{
    const vd zero = vd_of(0), a = p->area, mu = p->mu, loose = LOOSE * still * mu, h1 = p->h[0], h2 = p->h[1];
    axes8 x;
    model8 model;
    strain_axes(p, &x);
    strain_model(p, &x, bold, &model);
    vd along_w[3], sought[3];
    for (int k = 0; k < 3; k++) along_w[k] = mu * model.b[k];
    strain_turned_back(x.w, along_w, sought);
    strain_force(p, &x, sought, out->g + 1);
    for (int k = 0; k < 3; k++) out->g[0][k] = -(out->g[1][k] + out->g[2][k]);
    if (!hessian) return;
    // Derivative of the projection in the eigenbasis of Y. Shear without turning stands for U12: with S along the axes
    // of U this and what follows is the exact Hessian.
    const vd c = x.w[0] * x.v[0] + x.w[1] * x.v[1], s = x.w[1] * x.v[0] - x.w[0] * x.v[1];  // w1 = c v1 + s v2
    const vd cc = c * c, ss = s * s, cs = c * s;
    const vd t11 = mu * (cc * h1 + ss * h2), t22 = mu * (ss * h1 + cc * h2);
    mode8 mode[4];
    mode[0].weight = a * mu * vd_choose(vd_other(h1, zero), bold, still);
    mode[1].weight = a * mu * vd_choose(vd_other(h2, zero), bold, still);
    mode[2].weight = 2 * a * mu * vd_max(model.stiff[2], still);
    // Turning in the plane and out of it. Compression drives it; its size then says how far a step may go.
    mode[3].weight = 0.5 * a * vd_max(vd_abs(t11 + t22), loose) / vd_max(x.d1 + x.d2, vd_of(SQUEEZED));
    for (int k = 0; k < 2; k++) {
        const vd s1 = x.s1[k], s2 = x.s2[k];
        mode[0].q1[k] = cc * s1 + cs * s2, mode[0].q2[k] = ss * s2 + cs * s1;
        mode[1].q1[k] = ss * s1 - cs * s2, mode[1].q2[k] = cc * s2 - cs * s1;
        mode[2].q1[k] = 0.5 * (cc - ss) * s2 - cs * s1, mode[2].q2[k] = 0.5 * (cc - ss) * s1 + cs * s2;
        mode[3].q1[k] = -s2, mode[3].q2[k] = s1;
    }
    vd n[3];
    vd_cross(x.u1, x.u2, n);
    const vd out1 = a * vd_max(vd_abs(t11), loose) / vd_max(x.d1, vd_of(SQUEEZED));
    const vd out2 = a * vd_max(vd_abs(t22), loose) / vd_max(x.d2, vd_of(SQUEEZED));
    const modes8 all = {mode, 4, out1, out2, n};
    pair_block(&x, &all, 0, 0, out->k[1]);
    pair_block(&x, &all, 1, 1, out->k[2]);
    pair_block(&x, &all, 0, 1, out->k[5]);
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++) {
            const int i = 3 * r + q, turned = 3 * q + r;
            out->k[3][i] = -(out->k[1][i] + out->k[5][turned]);
            out->k[4][i] = -(out->k[5][i] + out->k[2][i]);
        }
    for (int i = 0; i < 9; i++) out->k[0][i] = -(out->k[3][i] + out->k[4][i]);
}

TL_INLINE void add_isotropic(const strain_job *job, const strain8 *p, pulled8 *pull)
{
    const tl_elements *e = job->e;
    if (job->matrix)
        for (int k = 0; k < 6; k++) split_lanes(pull->k[k]);
    for (int i = 0; i < p->count; i++) {
        const int32_t f = p->face[i], *node = e->face[f];
        for (int a = 0; a < 3; a++) {
            if (e->fixed[node[a]]) continue;
            tl_vec3 *g = &job->gradient[node[a]];
            g->x += pull->g[a][0][i], g->y += pull->g[a][1][i], g->z += pull->g[a][2][i];
            if (!job->matrix) continue;
            const double *at = (const double *)pull->k[a] + 8 * i;
            add_double(tl_bsr_diagonal(job->matrix, node[a]), TL_LOAD4(at), TL_LOAD4(at + 4), pull->k[a][8][i]);
            for (int b = a + 1; b < 3; b++)
                if (!e->fixed[node[b]])
                    add_pair(job->matrix, node[a], node[b], slot_of(job, f, a, b), pull->k[2 + a + b], i);
        }
    }
}

// ---- bounds along warp and weft, one face beyond them ----

/// Its Hessian is sum of weight v v^T over the modes, v[a] for corner a.
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

static tl_vec3 any_normal(tl_vec3 u)
{
    const tl_vec3 axis = fabs(u.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 1, 0};
    const tl_vec3 n = tl_cross3(u, axis);
    return tl_mul3(1 / fmax(tl_norm3(n), TINY), n);
}

// Bounds on the lengths of f1 and f2 and on the cosine between them.
static void pull_aligned(const strain8 *p, int i, double gx[3], double gy[3], double still, double bold, pulled *out)
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

static void add_aligned(const strain_job *job, const strain8 *p, int i)
{
    const tl_elements *e = job->e;
    const int32_t f = p->face[i], *node = e->face[f];
    const double *g = e->grad[f];
    double gx[3] = {-(g[0] + g[2]), g[0], g[2]}, gy[3] = {-(g[1] + g[3]), g[1], g[3]};
    pulled pull = {.modes = 0};
    pull_aligned(p, i, gx, gy, job->l->still, job->l->bold[f], &pull);
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
                scatter_block(job->matrix, node[a], node[b], slot_of(job, f, a, b), k);
            }
        }
    }
}

// ---- all faces ----

TL_INLINE void add_gathered(const strain_job *job, const int32_t *faces, int count)
{
    strain8 p;
    pulled8 pull;
    double bold[LANES];
    strain_faces(faces, 0, count, &p);
    strain_project(job->l, job->e, job->x, (const double(*)[3])job->l->trial, &p);
    for (int i = 0; i < LANES; i++) bold[i] = job->l->bold[p.face[i]];
    pull_isotropic(&p, vd_of(job->l->still), TL_LOAD8(bold), job->matrix != NULL, &pull);
    add_isotropic(job, &p, &pull);
}

LANE_CLONES static void strain_chunk(void *arg, int32_t first, int32_t last)
{
    const strain_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t c = first; c < last; c++) {
        const int32_t chunk = job->chunks ? job->chunks[c] : c, begin = chunk * FACES_PER_CHUNK;
        const int32_t end = e->face_count - begin < FACES_PER_CHUNK ? e->face_count : begin + FACES_PER_CHUNK;
        double sum = 0;
        int32_t gathered[FACES_PER_CHUNK], count = 0;
        for (int32_t f = begin; f < end; f += LANES) {
            if (TL_AT_REST(e, face, f)) continue;
            strain8 p;
            strain_faces(NULL, f, end - f < LANES ? end - f : LANES, &p);
            strain_project(job->l, e, job->x, (const double(*)[3])job->l->trial, &p);
            const vd energy = 0.5 * p.area * p.mu * (p.h[0] * p.h[0] + p.h[1] * p.h[1] + 2 * p.h[2] * p.h[2]);
            for (int i = 0; i < p.count; i++) {
                sum += energy[i];
                if (!job->gradient || !(energy[i] > 0 || job->l->still > 0)) continue;
                if (p.aligned[i] != 0)
                    add_aligned(job, &p, i);
                else
                    gathered[count++] = p.face[i];
            }
        }
        for (int32_t k = 0; k < count; k += LANES)
            add_gathered(job, gathered + k, count - k < LANES ? count - k : LANES);
        if (job->energy) job->energy[chunk] = sum;
    }
}

tl_status tl_strain_energy(const tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, const tl_ctx *ctx,
                           double *out, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    double *energy = TL_SCRATCH(ctx->arena, double, e->chunk_count);
    if (!energy) return tl_fail_memory(err, "the strain limits");
    tl_parallel_for(ctx->workers, e->chunk_count, 1, strain_chunk,
                    &(strain_job){l, e, x, NULL, NULL, NULL, energy, NULL});
    *out = tl_tree_sum(energy, e->chunk_count);
    tl_arena_release(ctx->arena, mark);
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

void tl_strain_assemble(const tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, tl_bsr *matrix,
                        tl_vec3 *gradient, tl_workers *workers)
{
    tl_strain_assemble_into(l, e, x, matrix, NULL, gradient, workers);
}
