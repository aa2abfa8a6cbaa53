// physics/strain_multiplier.c: the multipliers of strain limits in the course of a step.
//
// A step begins with those of the state. Each update of positions takes along the multipliers that its linear model ends with
// (foresee; back, if only a part of it was made), each round ends with mu h(U - I + S/mu) (measure), limits that stay exceeded
// become stiffer, and what the step ends with is kept. See strain_limit.h for the equations.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "physics/columns.h"
#include "physics/strain_limit.h"
#include "physics/strain_tensor.h"
#include "physics/touched.h"

enum { FACES_PER_CHUNK = TL_CHUNK_FACES };

#define MOST_SLACK 0.05    // limits let go of a face that has come to lie this much inside them
#define MOST_PULL 10.0     // bound on the multiplier of a face that stays beyond its limits, over the fabric's stiffness
#define MOST_STIFFER 64.0  // of the stiffness a step begins with
#define STIFFEN 4.0

// ---- beginning ----

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

// ---- one face ----

static double outside(double y, double low, double high) { return y > high ? y - high : y < low ? y - low : 0; }

// What the bounds are on: U - I, or for aligned limits the strains of warp and weft and the cosine between them.
static void limited_strain(const tl_elements *e, const tl_vec3 *x, int32_t f, bool aligned, double out[3])
{
    const tl_columns c = tl_face_columns(e, x, f);
    const double c11 = tl_dot3(c.f1, c.f1), c22 = tl_dot3(c.f2, c.f2), c12 = tl_dot3(c.f1, c.f2);
    if (aligned) {
        out[0] = sqrt(c11) - 1, out[1] = sqrt(c22) - 1, out[2] = c12 / (sqrt(c11) * sqrt(c22) + TINY);
        return;
    }
    const double det = tl_norm3(tl_cross3(c.f1, c.f2)), per = 1 / (sqrt(c11 + c22 + 2 * det) + TINY);
    out[0] = (c11 + det) * per - 1, out[1] = (c22 + det) * per - 1, out[2] = c12 * per;
}

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

// ---- foreseeing ----

/// A face and how it moves: F and its change, by columns.
typedef struct moving { tl_vec3 f1, f2, d1, d2; } moving;

static moving moving_face(const tl_elements *e, const tl_vec3 *x, const tl_vec3 *move, int32_t f)
{
    const tl_columns at = tl_face_columns(e, x, f), by = tl_face_columns(e, move, f);
    return (moving){at.f1, at.f2, by.f1, by.f2};
}

static bool stands_still(const moving *m) { return tl_dot3(m->d1, m->d1) == 0 && tl_dot3(m->d2, m->d2) == 0; }

// Keeps a pull from becoming a push.
static double same_side(double t, double h) { return h > 0 ? fmax(t, 0) : h < 0 ? fmin(t, 0) : 0; }

// The multiplier that the linear model of pull_isotropic (strain_energy.c) ends with after all of the move, unless it is `given`
// (not NULL); `slope` gets, over the area, what the potential with it changes by, less what the model's gradient says.
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
        limited_strain(job->e, job->x, f, b->aligned, g);
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

// ---- measuring ----

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
    limited_strain(e, x, f, b->aligned, g);
    return excess_of(b, g);
}

double tl_strain_change(const tl_elements *e, const tl_vec3 *move)
{
    double most = 0;
    for (int32_t f = 0; f < e->face_count; f++) {
        const tl_columns c = tl_face_columns(e, move, f);
        most = fmax(most, fmax(tl_dot3(c.f1, c.f1), tl_dot3(c.f2, c.f2)));
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
        limited_strain(job->e, job->x, f, b->aligned, g);
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

// ---- between the rounds of a step, and after it ----

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
