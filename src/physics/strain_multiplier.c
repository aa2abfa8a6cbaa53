// physics/strain_multiplier.c: the multipliers of strain limits in the course of a step.
//
// A step begins with those of the state. Each update of positions takes along the multipliers that its linear model
// ends with (strain_predict.c), limits that stay exceeded become stiffer, and what the step ends with is kept. See
// strain_limit.h for the equations.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "physics/columns.h"
#include "physics/strain_face.h"
#include "physics/strain_lanes.h"
#include "physics/touched.h"

enum { FACES_PER_CHUNK = TL_CHUNK_FACES };

#define MOST_SLACK 0.05  // limits let go of a face that has come to lie this much inside them
// bound on the multiplier of a face that stays beyond its limits, over the fabric's stiffness
#define MOST_PULL 10.0
#define MOST_STIFFER 64.0  // of the stiffness a step begins with
#define STIFFEN 4.0

// ---- beginning ----

static double size_of(const double s[3]) { return sqrt(s[0] * s[0] + s[1] * s[1] + 2 * s[2] * s[2]); }

void tl_strain_begin(tl_strain_limits *l, const tl_elements *e, double gamma)
{
    for (int32_t f = 0; f < l->face_count; f++) {
        const double fabric = fmax(e->stretch[f][0], e->stretch[f][2]);
        const double per_area = e->materials[e->material[f]].density * gamma * gamma, inertia = per_area * e->area[f];
        l->base[f] = l->stiffness[f] =
            fmax(TL_STRAIN_STIFFER * fmax(fabric, inertia), size_of(l->multiplier[f]) / MOST_SLACK);
        l->bold[f] = fmax(1, fmin(TL_STRAIN_BOLD, per_area * TL_STRAIN_REACH * TL_STRAIN_REACH / l->base[f]));
        memcpy(l->trial[f], l->multiplier[f], sizeof l->trial[f]);
        l->give[f] = l->widen[f];
    }
}

void tl_strain_give(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, double tolerance)
{
    tl_strain_take_back(l);
    for (int32_t f = 0; f < l->face_count; f++) {
        const double excess = tl_strain_excess(l, e, x, f);
        if (excess > tolerance) l->give[f] += excess;
    }
}

void tl_strain_take_back(tl_strain_limits *l)
{
    for (int32_t f = 0; f < l->face_count; f++) l->give[f] = l->widen[f];
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
    const tl_strain_bounds b = bounds_of_face(l, f);
    double g[3];
    limited_strain(e, x, f, b.aligned, g);
    return excess_of(&b, g);
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

// Has a face on which no limit acts no multiplier, or (with `update`) none any more?
static bool is_over(tl_strain_limits *l, int32_t f, bool update)
{
    double *t = l->trial[f];
    if (t[0] == 0 && t[1] == 0 && t[2] == 0) return true;
    if (update) t[0] = t[1] = t[2] = 0;
    return false;
}

LANE_CLONES static void measure_chunk(void *arg, int32_t begin, int32_t end)
{
    const measure_job *job = arg;
    tl_strain_limits *l = job->l;
    tl_strain_state sum = {0, 0, 0, 0, TL_NONE};
    for (int32_t first = begin; first < end; first += LANES) {
        if (TL_AT_REST(job->e, face, first)) continue;
        strain8 p;
        strain_faces(NULL, first, end - first < LANES ? end - first : LANES, &p);
        strain_project(l, job->e, job->x, (const double(*)[3])l->trial, &p);
        for (int i = 0; i < p.count; i++) {
            const int32_t f = first + i;
            const tl_strain_bounds bounds = bounds_of_face(l, f), *b = &bounds;
            const bool acts = p.h[0][i] != 0 || p.h[1][i] != 0 || p.h[2][i] != 0;
            if (!acts && is_over(l, f, job->update)) continue;  // it is within its limits
            double g[3];
            limited_strain(job->e, job->x, f, b->aligned, g);
            const double excess = excess_of(b, g);
            if (!acts && !(excess > job->tolerance)) continue;
            if (!acts)
                memset(l->trial[f], 0,
                       sizeof l->trial[f]);  // what held it to one limit hides that it is beyond the other
            else if (job->update)
                next_multiplier(b, g, l->trial[f], l->stiffness[f], l->trial[f]);
            sum.active++;
            const bool driven = is_driven(job->e, f);
            sum.violated += excess > job->tolerance, sum.driven += driven && excess > job->tolerance;
            if (!driven && excess > sum.worst) sum.worst = excess, sum.face = f;
        }
    }
    job->part[begin / FACES_PER_CHUNK] = sum;
}

tl_status tl_strain_measure(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, double tolerance, bool update,
                            const tl_ctx *ctx, tl_strain_state *out, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    tl_strain_state *part = TL_SCRATCH(ctx->arena, tl_strain_state, e->chunk_count);
    if (!part) return tl_fail_memory(err, "the strain limits");
    tl_parallel_for(ctx->workers, l->face_count, FACES_PER_CHUNK, measure_chunk,
                    &(measure_job){l, e, x, tolerance, update, part});
    *out = (tl_strain_state){0, 0, 0, 0, TL_NONE};
    for (int32_t c = 0; c < e->chunk_count; c++) {
        out->active += part[c].active, out->violated += part[c].violated, out->driven += part[c].driven;
        if (part[c].worst > out->worst) out->worst = part[c].worst, out->face = part[c].face;
    }
    tl_arena_release(ctx->arena, mark);
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
