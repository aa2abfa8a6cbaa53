// physics/strain_predict.c: multipliers of strain limits that go with an update of positions.
//
// Each update takes along the multipliers that its linear model (strain_energy.c, strain_ahead.c) ends with (foresee;
// back, if only a part of it was made).

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "physics/strain_face.h"
#include "physics/strain_seen.h"
#include "physics/touched.h"

enum { FACES_PER_CHUNK = TL_CHUNK_FACES };

typedef struct foresee_job {
    tl_strain_limits *l;
    const tl_elements *e;
    const tl_vec3 *x, *move;
    bool given;     // multipliers have been foreseen already
    double *slope;  // per chunk
} foresee_job;

// ---- bounds along warp and weft, one face ----

/// A face and how it moves: F and its change, by columns.
typedef struct moving {
    tl_vec3 f1, f2, d1, d2;
} moving;

static moving moving_face(const tl_elements *e, const tl_vec3 *x, const tl_vec3 *move, int32_t f)
{
    const tl_columns at = tl_face_columns(e, x, f), by = tl_face_columns(e, move, f);
    return (moving){at.f1, at.f2, by.f1, by.f2};
}

// Keeps a pull from becoming a push.
static double same_side(double t, double h) { return h > 0 ? fmax(t, 0) : h < 0 ? fmin(t, 0) : 0; }

/// Strain, multiplier and stiffness of a face.
typedef struct limited_face {
    double strain[3];
    const double *stress;
    double stiffness, bold;
} limited_face;

// `given`: the next multiplier, should it be known; else it goes to `next`.
static void foresee_aligned(const tl_strain_bounds *b, const moving *m, const limited_face *face, const double *given,
                            double next[3], double *slope)
{
    const double *e = face->strain, *s = face->stress, mu = face->stiffness, bold = face->bold;
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

static double foresee_one(const foresee_job *job, const double *from, const double *given, int32_t f)
{
    tl_strain_limits *l = job->l;
    const moving m = moving_face(job->e, job->x, job->move, f);
    limited_face face = {.stress = from, .stiffness = l->stiffness[f], .bold = l->bold[f]};
    double next[3], slope;
    limited_strain(job->e, job->x, f, true, face.strain);
    const tl_strain_bounds bounds = bounds_of_face(l, f);
    foresee_aligned(&bounds, &m, &face, given, next, &slope);
    if (!given) memcpy(l->next[f], next, sizeof next);
    return job->e->area[f] * slope;
}

// ---- bounds on every direction, eight faces ----

// mu h(strain + S/mu) over mu, S over mu given.
TL_INLINE void next_multipliers(const strain8 *p, const vd strain[3], const vd s[3], vd out[3])
{
    const vd y[3] = {strain[0] + s[0], strain[1] + s[1], strain[2] + s[2]};
    const vd mean = 0.5 * (y[0] + y[1]), half = 0.5 * (y[0] - y[1]), radius = vd_sqrt(half * half + y[2] * y[2]);
    const vd h1 = strain_beyond(mean + radius, p->low[0], p->high[0]),
             h2 = strain_beyond(mean - radius, p->low[1], p->high[1]);
    const vm some = vd_more(radius, vd_of(TINY));
    const vd even = 0.5 * (h1 + h2),
             odd = vd_choose(some, 0.5 * (h1 - h2) / vd_choose(some, radius, vd_of(1)), vd_of(0));
    out[0] = even + odd * half, out[1] = even - odd * half, out[2] = odd * y[2];
}

// The multipliers that the linear model of pull_isotropic (strain_energy.c) ends with after all of the move, unless
// they are given; returns, summed up, what the potential with them changes by, less what the model's gradient says.
TL_INLINE double foresee_gathered(const foresee_job *job, const double (*from)[3], const int32_t *faces, int count)
{
    tl_strain_limits *l = job->l;
    strain8 p;
    axes8 a;
    model8 model;
    seen8 seen;
    vd m1[3], m2[3], change[3], g[3], t[3], next[3], then[3], strain[3];
    strain_faces(faces, 0, count, &p);
    strain_project(l, job->e, job->x, from, &p);
    strain_columns(job->e, job->move, &p, m1, m2);
    strain_axes(&p, &a);
    strain_recall(l, &p, &a, &seen);
    strain_model(&p, &a, seen.bold, &model);
    strain_change(&a, m1, m2, change);
    strain_turned(a.w, change, g);
    for (int k = 0; k < 3; k++) strain[k] = p.y[k] - p.s[k];
    strain_sought(&p, &a, &model, &seen, strain, g, t);
    strain_turned_back(a.w, t, next);
    if (job->given) {
        double s[3][LANES];
        for (int i = 0; i < LANES; i++)
            for (int k = 0; k < 3; k++) s[k][i] = l->trial[p.face[i]][k] / l->stiffness[p.face[i]];
        for (int k = 0; k < 3; k++) t[k] = TL_LOAD8(s[k]);
        next_multipliers(&p, strain, t, then);
    } else {
        for (int i = 0; i < p.count; i++)
            for (int k = 0; k < 3; k++) l->next[p.face[i]][k] = p.mu[i] * next[k][i];
        next_multipliers(&p, strain, next, then);
    }
    const vd slope = p.area * p.mu *
                     (then[0] * change[0] + then[1] * change[1] + 2 * then[2] * change[2] -
                      (model.b[0] * g[0] + model.b[1] * g[1] + 2 * model.b[2] * g[2]));
    double sum = 0;
    for (int i = 0; i < p.count; i++) sum += slope[i];
    return sum;
}

// ---- all faces ----

LANE_CLONES static void foresee_chunk(void *arg, int32_t begin, int32_t end)
{
    const foresee_job *job = arg;
    tl_strain_limits *l = job->l;
    const double(*from)[3] = job->given ? (const double(*)[3])l->next : (const double(*)[3])l->trial;
    double sum = 0;
    int32_t gathered[FACES_PER_CHUNK], count = 0;
    for (int32_t f = begin; f < end; f += LANES) {
        const int lanes = end - f < LANES ? end - f : LANES;
        if (TL_AT_REST(job->e, face, f)) {
            if (!job->given) memcpy(l->next[f], from[f], (size_t)lanes * sizeof *from);
            continue;
        }
        strain8 p;
        vd m1[3], m2[3];
        strain_faces(NULL, f, lanes, &p);
        strain_project(l, job->e, job->x, from, &p);
        strain_columns(job->e, job->move, &p, m1, m2);
        const vd moves = vd_dot(m1, m1) + vd_dot(m2, m2);
        for (int i = 0; i < lanes; i++) {
            const bool acts =
                p.h[0][i] != 0 || p.h[1][i] != 0 || (l->looked && (l->seen[f + i].side[0] || l->seen[f + i].side[1]));
            if (moves[i] ==
                0) {  // and keeps its multiplier: one that grows while nothing can answer would be too large
                if (!job->given) memcpy(l->next[f + i], from[f + i], sizeof *from);
            } else if (p.aligned[i] != 0) {
                sum += foresee_one(job, from[f + i], job->given ? l->trial[f + i] : NULL, f + i);
            } else if (acts) {
                gathered[count++] = f + i;
            } else if (!job->given) {
                memset(l->next[f + i], 0, sizeof *from);
            }
        }
    }
    for (int32_t k = 0; k < count; k += LANES)
        sum += foresee_gathered(job, from, gathered + k, count - k < LANES ? count - k : LANES);
    job->slope[begin / FACES_PER_CHUNK] = sum;
}

static tl_status sum_slopes(foresee_job *job, const tl_ctx *ctx, double *slope, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const int32_t chunks = job->e->chunk_count;
    job->slope = TL_SCRATCH(ctx->arena, double, chunks);
    if (!job->slope) return tl_fail_memory(err, "the strain limits");
    tl_parallel_for(ctx->workers, job->l->face_count, FACES_PER_CHUNK, foresee_chunk, job);
    *slope = tl_tree_sum(job->slope, chunks);
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}

tl_status tl_strain_predict(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, const tl_vec3 *move,
                            const tl_ctx *ctx, double *slope, tl_error *err)
{
    TL_TRY(sum_slopes(&(foresee_job){l, e, x, move, false, NULL}, ctx, slope, err));
    double(*old)[3] = l->trial;
    l->trial = l->next, l->next = old;
    return TL_OK;
}

tl_status tl_strain_slope(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, const tl_vec3 *move,
                          const tl_ctx *ctx, double *slope, tl_error *err)
{
    return sum_slopes(&(foresee_job){l, e, x, move, true, NULL}, ctx, slope, err);
}

void tl_strain_back(tl_strain_limits *l, double part)
{
    for (int32_t f = 0; f < l->face_count; f++)
        for (int k = 0; k < 3; k++) l->trial[f][k] = part * l->trial[f][k] + (1 - part) * l->next[f][k];
}
