// dynamics/springs/springs_solve.c: constraint projection with small steps.
//
// In each substep of length h: x = x + h v + h^2 a; one sweep over all edges, colour by colour; now and then one over
// all hinges; contacts; v = (x - x_before) / h. With one iteration the multipliers of XPBD start from zero, so a
// correction is a plain projection with compliance 1 / (k h^2) beside the inverse masses (Macklin et al. 2016, Eq. 18).

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/springs/springs_impl.h"
#include "math/simd.h"
#include "math/vec3.h"

// Constants: results must not depend on the number of workers. A chunk is worth waking a thread for (10 us).
enum { FEWEST = 8, MOST = 80 };  // substeps of a sixtieth of a second
#define PER_TRI_ACROSS 0.5
// Stiffness of a hinge times the square of a substep over its mass up to which bending is done in every fourth substep,
// and in every second one; one in BEND_FEW hinges may have more.
static const double BEND_SOFT[2] = {0.02, 0.3};
enum { BEND_FEW = 100 };
enum { NODES_PER_CHUNK = 8192, EDGES_PER_CHUNK = 4096, HINGES_PER_CHUNK = 2048 };

typedef struct solve_job {
    tl_springs *s;
    int32_t first;  // of the colour
    double h;
    const double (*accel)[4];
    double drag;
    const tl_springs_leash *leash;
} solve_job;

// ---- settings of a step ---------------------------------------------------------------------------------------

static void edge_shares(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    tl_springs *s = job->s;
    for (int32_t e = begin; e < end; e++) {
        const double a = s->inv_mass[s->edge[e][0]], b = s->inv_mass[s->edge[e][1]],
                     give = 1 / (s->stiffness[e] * job->h * job->h), sum = a + b + give;
        s->share[e][0] = a / sum, s->share[e][1] = b / sum;
        s->slack[e] = s->def.compression > 0 ? sum / (a + b + give / s->def.compression) : 0;
    }
}

static void tether_shares(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    tl_springs *s = job->s;
    for (int32_t e = begin; e < end; e++) {
        const double a = s->inv_mass[s->tether[e][0]], b = s->inv_mass[s->tether[e][1]], sum = a + b;
        s->tether_share[e][0] = sum > 0 ? a / sum : 0, s->tether_share[e][1] = sum > 0 ? b / sum : 0;
        s->tether_slack[e] = 0;
    }
}

// Bending is done in one of `bend_every` substeps, e, with the momentum of all of them, and nodes go on with it through
// the others: implicit over the whole time e h, so that what is stiff is flat at its end and not as far on the other
// side. The same with damping, whose part grows with the change of the form.
static void hinge_gains(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    tl_springs *s = job->s;
    const double every = s->bend_every, h2 = job->h * job->h * every,
                 ahead = every * (1 + s->bend_damping / (job->h * every));
    for (int32_t i = begin; i < end; i++) {
        const double *w = s->weight[i];
        const int32_t *node = s->hinge[i];
        double sum = 0;
        for (int k = 0; k < 4; k++) sum += s->inv_mass[node[k]] * w[k] * w[k];
        sum = ahead * sum + 1 / (s->bend[i] * h2);  // infinite without rigidity: no gain
        for (int k = 0; k < 4; k++) s->gain[i][k] = -s->inv_mass[node[k]] * w[k] / sum;
    }
}

// What is stiff beside its mass is bent in every substep: sweeps of hinges do not see how far their neighbours send a
// node until the next one, and would send it too far together. What is not can wait.
static int32_t bend_every(const tl_springs *s, double h)
{
    int32_t every = s->def.bend_every, above[2] = {0, 0};
    for (int bin = 0; bin < TL_SPRINGS_RATES; bin++)
        for (int k = 0; k < 2; k++)
            if (ldexp(1, bin) * h * h > BEND_SOFT[k]) above[k] += s->bend_rates[bin];
    if (above[1] * (int64_t)BEND_FEW > s->hinge_count) return 1;
    if (above[0] * (int64_t)BEND_FEW > s->hinge_count && every > 2) every = 2;
    return every;
}

static void settle(tl_springs *s, double h, tl_workers *workers)
{
    if (s->settings_valid && s->set_dt == h) return;
    solve_job job = {.s = s, .h = h};
    tl_parallel_for(workers, s->edge_count, EDGES_PER_CHUNK, edge_shares, &job);
    tl_parallel_for(workers, s->hinge_count, HINGES_PER_CHUNK, hinge_gains, &job);
    tl_parallel_for(workers, s->tether_count, EDGES_PER_CHUNK, tether_shares, &job);
    s->settings_valid = true, s->set_dt = h;
}

// ---- kernels --------------------------------------------------------------------------------------------------

static TL_CLONES void predict_range(double (*restrict pos)[4], double (*restrict prev)[4], double (*restrict vel)[4],
                                    const double (*restrict accel)[4], double h, int32_t begin, int32_t end)
{
    for (int32_t i = begin; i < end; i++)
        for (int k = 0; k < 4; k++) {
            prev[i][k] = pos[i][k];
            pos[i][k] = pos[i][k] + h * (vel[i][k] + h * accel[i][k]);
        }
}

static TL_CLONES void velocity_range(const double (*restrict pos)[4], const double (*restrict prev)[4],
                                     double (*restrict vel)[4], double per_h, int32_t begin, int32_t end)
{
    for (int32_t i = begin; i < end; i++)
        for (int k = 0; k < 4; k++) vel[i][k] = per_h * (pos[i][k] - prev[i][k]);
}

typedef int64_t mask4 __attribute__((vector_size(32), may_alias));
#define STORE4(p, v) (*(tl_v4 *)(p) = (v))

// 1 - rest / length without a root, as (length^2 - rest^2) / (length^2 + rest^2) (Jakobsen 2001): the same to first
// order near the rest length, and never beyond 1 however far an edge is drawn out or pushed together.
TL_INLINE double edge_part(double square, double rest, double slack)
{
    const double want = rest * rest, part = (square - want) / (square + want);
    return part < 0 ? slack * part : part;
}

// Four edges at a time: differences, their squares side by side, and back. No two of them share a node.
static TL_CLONES void stretch_range(double (*restrict pos)[4], const int32_t (*restrict edge)[2],
                                    const double *restrict rest, const double *restrict slack,
                                    const double (*restrict share)[2], int32_t begin, int32_t end)
{
    int32_t e = begin;
    for (; e + 4 <= end; e += 4) {
        double *pa[4], *pb[4];
        tl_v4 a[4], b[4], d[4];
        for (int i = 0; i < 4; i++) {
            pa[i] = pos[edge[e + i][0]], pb[i] = pos[edge[e + i][1]];
            a[i] = TL_LOAD4(pa[i]), b[i] = TL_LOAD4(pb[i]);
            d[i] = b[i] - a[i];
        }
        const tl_v4 xz0 = __builtin_shufflevector(d[0], d[1], 0, 4, 2, 6),
                    y0 = __builtin_shufflevector(d[0], d[1], 1, 5, 3, 7),
                    xz1 = __builtin_shufflevector(d[2], d[3], 0, 4, 2, 6),
                    y1 = __builtin_shufflevector(d[2], d[3], 1, 5, 3, 7);
        const tl_v4 x = __builtin_shufflevector(xz0, xz1, 0, 1, 4, 5),
                    z = __builtin_shufflevector(xz0, xz1, 2, 3, 6, 7), y = __builtin_shufflevector(y0, y1, 0, 1, 4, 5);
        const tl_v4 square = (x * x + y * y) + z * z, want = TL_LOAD4(rest + e) * TL_LOAD4(rest + e),
                    whole = (square - want) / (square + want), soft = TL_LOAD4(slack + e) * whole;
        const mask4 pushed = whole < 0;
        const tl_v4 part = (tl_v4)((pushed & (mask4)soft) | (~pushed & (mask4)whole));
        const tl_v4 s01 = TL_LOAD4(share[e]), s23 = TL_LOAD4(share[e + 2]);
        const tl_v4 p01 = __builtin_shufflevector(part, part, 0, 0, 1, 1) * s01,
                    p23 = __builtin_shufflevector(part, part, 2, 2, 3, 3) * s23;
        STORE4(pa[0], a[0] + TL_SPLAT4(p01[0]) * d[0]), STORE4(pb[0], b[0] - TL_SPLAT4(p01[1]) * d[0]);
        STORE4(pa[1], a[1] + TL_SPLAT4(p01[2]) * d[1]), STORE4(pb[1], b[1] - TL_SPLAT4(p01[3]) * d[1]);
        STORE4(pa[2], a[2] + TL_SPLAT4(p23[0]) * d[2]), STORE4(pb[2], b[2] - TL_SPLAT4(p23[1]) * d[2]);
        STORE4(pa[3], a[3] + TL_SPLAT4(p23[2]) * d[3]), STORE4(pb[3], b[3] - TL_SPLAT4(p23[3]) * d[3]);
    }
    for (; e < end; e++) {
        const tl_v4 a = TL_LOAD4(pos[edge[e][0]]), b = TL_LOAD4(pos[edge[e][1]]), d = b - a;
        const double square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2], p = edge_part(square, rest[e], slack[e]);
        STORE4(pos[edge[e][0]], a + (p * share[e][0]) * d);
        STORE4(pos[edge[e][1]], b - (p * share[e][1]) * d);
    }
}

// `drag` > 0: the form of the change since bending was last done is added, so that folding is damped.
static TL_CLONES void bend_range(double (*pos)[4], const double (*before)[4], const int32_t (*hinge)[4],
                                 const double (*weight)[4], const double (*gain)[4], double drag, int32_t begin,
                                 int32_t end)
{
    for (int32_t i = begin; i < end; i++) {
        const int32_t *n = hinge[i];
        const double *w = weight[i], *g = gain[i];
        const tl_v4 x0 = TL_LOAD4(pos[n[0]]), x1 = TL_LOAD4(pos[n[1]]), x2 = TL_LOAD4(pos[n[2]]),
                    x3 = TL_LOAD4(pos[n[3]]);
        tl_v4 form = (w[0] * x0 + w[1] * x1) + (w[2] * x2 + w[3] * x3);
        if (drag > 0) {
            const tl_v4 old = (w[0] * TL_LOAD4(before[n[0]]) + w[1] * TL_LOAD4(before[n[1]])) +
                              (w[2] * TL_LOAD4(before[n[2]]) + w[3] * TL_LOAD4(before[n[3]]));
            form = form + drag * (form - old);
        }
        STORE4(pos[n[0]], x0 + g[0] * form);
        STORE4(pos[n[1]], x1 + g[1] * form);
        STORE4(pos[n[2]], x2 + g[2] * form);
        STORE4(pos[n[3]], x3 + g[3] * form);
    }
}

static void leash_range(double (*pos)[4], const double *inv_mass, const tl_springs_leash *leash, int32_t begin,
                        int32_t end)
{
    for (int32_t i = begin; i < end; i++) {
        const tl_v4 x = TL_LOAD4(pos[i]), to = TL_LOAD4(pos[leash[i].to]), d = x - to;
        const double square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2], length = leash[i].length;
        if (square > length * length && inv_mass[i] > 0) STORE4(pos[i], to + (length / sqrt(square)) * d);
    }
}

// ---- loops ----------------------------------------------------------------------------------------------------

static void predict(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    predict_range(job->s->pos, job->s->prev, job->s->vel, job->accel, job->h, begin, end);
}

static void velocities(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    velocity_range((const double(*)[4])job->s->pos, (const double(*)[4])job->s->prev, job->s->vel, 1 / job->h, begin,
                   end);
}

static void stretch(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    const tl_springs *s = job->s;
    stretch_range(s->pos, (const int32_t(*)[2])s->edge, s->rest, s->slack, (const double(*)[2])s->share,
                  job->first + begin, job->first + end);
}

static void tether(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    const tl_springs *s = job->s;
    stretch_range(s->pos, (const int32_t(*)[2])s->tether, s->tether_rest, s->tether_slack,
                  (const double(*)[2])s->tether_share, job->first + begin, job->first + end);
}

static void bend(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    const tl_springs *s = job->s;
    bend_range(s->pos, (const double(*)[4])s->bend_prev, (const int32_t(*)[4])s->hinge, (const double(*)[4])s->weight,
               (const double(*)[4])s->gain, job->drag, job->first + begin, job->first + end);
}

// Held nodes alone are read besides one's own, and they do not move.
static void hold_back(void *arg, int32_t begin, int32_t end)
{
    const solve_job *job = arg;
    leash_range(job->s->pos, job->s->inv_mass, job->leash, begin, end);
}

static void by_color(solve_job *job, const tl_springs_colors *colors, int32_t chunk, tl_range_fn fn,
                     tl_workers *workers)
{
    for (int c = 0; c < colors->count; c++) {
        job->first = colors->start[c];
        tl_parallel_for(workers, colors->start[c + 1] - colors->start[c], chunk, fn, job);
    }
}

void tl_springs_touch(tl_springs *s, const tl_springs_step *step, double time, double dt)
{
    for (int32_t i = 0; i < step->contact_count; i++) {
        const tl_springs_plane *plane = &s->plane[i];
        double *x = s->pos[plane->node];
        const double gap = (x[0] * plane->normal.x + x[1] * plane->normal.y) + x[2] * plane->normal.z - plane->offset -
                           time * plane->speed;
        if (!(gap < 0) || s->inv_mass[plane->node] == 0) continue;
        const tl_push_contact *c = &step->contact[i];
        const double *before = s->prev[plane->node];
        const tl_vec3 way = {x[0] - before[0] - dt * c->velocity.x, x[1] - before[1] - dt * c->velocity.y,
                             x[2] - before[2] - dt * c->velocity.z};
        // Coulomb: the slide along the surface is taken back by up to friction times the push out of it.
        const tl_vec3 slide = tl_madd3(way, -tl_dot3(way, c->normal), c->normal);
        const double length = tl_norm3(slide), most = -c->friction * gap, back = length > most ? most / length : 1;
        const tl_vec3 move = tl_madd3(tl_mul3(-gap, c->normal), -back, slide);
        x[0] += move.x, x[1] += move.y, x[2] += move.z;
    }
}

// The cloth against itself: nodes as balls, pushed apart and kept from rubbing (Mueller et al. 2007, sec. 4.4).
void tl_springs_part(tl_springs *s, const tl_springs_step *step, double dt)
{
    (void)dt;
    for (int32_t i = 0; i < step->pair_count; i++) {
        const int32_t a = step->pair[i][0], b = step->pair[i][1];
        double *x = s->pos[a], *y = s->pos[b];
        const tl_vec3 d = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        const double length = tl_norm3(d), sum = s->inv_mass[a] + s->inv_mass[b];
        if (!(length < step->distance) || !(length > 0) || !(sum > 0)) continue;
        const double push = (step->distance - length) / (length * sum), p = -push * s->inv_mass[a],
                     q = push * s->inv_mass[b];
        x[0] += p * d.x, x[1] += p * d.y, x[2] += p * d.z;
        y[0] += q * d.x, y[1] += q * d.y, y[2] += q * d.z;
    }
}

static void begin(tl_springs *s, const tl_springs_step *step)
{
    for (int32_t i = 0; i < step->contact_count; i++) {
        const tl_push_contact *c = &step->contact[i];
        s->plane[i] =
            (tl_springs_plane){c->normal, tl_dot3(c->point, c->normal), tl_dot3(c->velocity, c->normal), c->node};
    }
    memcpy(s->start, s->pos, (size_t)s->node_count * sizeof *s->pos);
    memcpy(s->start_vel, s->vel, (size_t)s->node_count * sizeof *s->vel);
    for (int32_t i = 0; i < s->node_count; i++) {
        const bool free = s->inv_mass[i] > 0;
        const tl_vec3 more = step->accel && free ? step->accel[i] : (tl_vec3){0, 0, 0},
                      a = free ? tl_add3(step->gravity, more) : more;
        s->accel[i][0] = a.x, s->accel[i][1] = a.y, s->accel[i][2] = a.z, s->accel[i][3] = 0;
        if (free) continue;
        const tl_vec3 to = step->target ? step->target[i] : (tl_vec3){s->pos[i][0], s->pos[i][1], s->pos[i][2]};
        s->vel[i][0] = (to.x - s->pos[i][0]) / step->dt, s->vel[i][1] = (to.y - s->pos[i][1]) / step->dt;
        s->vel[i][2] = (to.z - s->pos[i][2]) / step->dt;
    }
}

// Held nodes end where they were sent, to the bit.
static tl_status end(tl_springs *s, const tl_springs_step *step, tl_springs_report *report, tl_error *err)
{
    double kinetic = 0;
    bool finite = true;
    for (int32_t i = 0; i < s->node_count; i++) {
        if (s->inv_mass[i] == 0 && step->target) {
            const tl_vec3 to = step->target[i];
            s->pos[i][0] = to.x, s->pos[i][1] = to.y, s->pos[i][2] = to.z;
        }
        const double *x = s->pos[i], *v = s->vel[i];
        finite = finite && isfinite(x[0] + x[1] + x[2]) && isfinite(v[0] + v[1] + v[2]);
        kinetic += 0.5 * s->mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    if (!finite) {
        memcpy(s->pos, s->start, (size_t)s->node_count * sizeof *s->pos);
        memcpy(s->vel, s->start_vel, (size_t)s->node_count * sizeof *s->vel);
        return tl_fail(err, TL_FAILED, "springs: positions are not finite");
    }
    if (report) report->kinetic = kinetic;
    return TL_OK;
}

static void substep(tl_springs *s, const tl_springs_step *step, int32_t k, double h)
{
    solve_job job = {.s = s, .h = h, .accel = (const double(*)[4])s->accel, .leash = step->leash};
    tl_parallel_for(step->workers, s->node_count, NODES_PER_CHUNK, predict, &job);
    by_color(&job, &s->tether_colors, EDGES_PER_CHUNK, tether, step->workers);
    by_color(&job, &s->edge_colors, EDGES_PER_CHUNK, stretch, step->workers);
    if (k % s->bend_every == s->bend_every - 1) {
        job.drag = s->bend_damping / (h * s->bend_every);
        by_color(&job, &s->hinge_colors, HINGES_PER_CHUNK, bend, step->workers);
        if (s->bend_damping > 0) memcpy(s->bend_prev, s->pos, (size_t)s->node_count * sizeof *s->pos);
    }
    if (step->leash) tl_parallel_for(step->workers, s->node_count, NODES_PER_CHUNK, hold_back, &job);
    tl_springs_part(s, step, h);
    tl_springs_touch(s, step, (k + 1) * h, h);
    tl_parallel_for(step->workers, s->node_count, NODES_PER_CHUNK, velocities, &job);
}

tl_status tl_springs_advance(tl_springs *s, const tl_springs_step *step, tl_springs_report *report, tl_error *err)
{
    if (!(step->dt > 0) || step->substeps < 1)
        return tl_fail(err, TL_BAD_ARG, "springs: a step of %g s in %d substeps", step->dt, step->substeps);
    if (report) *report = (tl_springs_report){.substeps = step->substeps};
    if (!TL_GROW(&s->alloc, s->plane, s->plane_cap, step->contact_count)) return tl_fail_memory(err, "contacts");
    begin(s, step);
    if (s->def.method == TL_SPRINGS_VERLET) {
        TL_TRY(tl_springs_verlet(s, step, report, err));
        return end(s, step, report, err);
    }
    // A whole number of bending sweeps.
    const int32_t every = bend_every(s, step->dt / step->substeps), n = (step->substeps + every - 1) / every * every;
    const double h = step->dt / n;
    if (report) report->substeps = n;
    if (s->bend_every != every) s->bend_every = every, s->settings_valid = false;
    settle(s, h, step->workers);
    if (s->bend_damping > 0) memcpy(s->bend_prev, s->pos, (size_t)s->node_count * sizeof *s->pos);
    for (int32_t k = 0; k < n; k++) substep(s, step, k, h);
    return end(s, step, report, err);
}

double (*tl_springs_before(tl_springs *s))[4] { return s->start; }

int32_t tl_springs_substeps(const tl_springs *s, double dt)
{
    const double across = sqrt((double)s->tri_count / 2);  // triangles across a square sheet
    // What one sweep leaves is a strain of about (across h)^2 g / size: small cloth needs shorter ones.
    const double size = fmin(1, sqrt(s->area)), n = fmin(PER_TRI_ACROSS * across / sqrt(size), MOST) * dt * 60;
    return n < FEWEST ? FEWEST : (int32_t)ceil(n);
}

tl_springs_measures tl_springs_measure(const tl_springs *s)
{
    tl_springs_measures m = {.max_stretch = 0, .min_stretch = INFINITY};
    for (int32_t i = 0; i < s->node_count; i++) m.mass += s->mass[i];
    for (int32_t e = 0; e < s->edge_count; e++) {
        const double *a = s->pos[s->edge[e][0]], *b = s->pos[s->edge[e][1]];
        const double length = tl_norm3((tl_vec3){b[0] - a[0], b[1] - a[1], b[2] - a[2]}), part = length / s->rest[e];
        m.max_stretch = fmax(m.max_stretch, part), m.min_stretch = fmin(m.min_stretch, part);
        const double k = s->stiffness[e] * (part < 1 ? s->def.compression : 1);
        m.stretch_energy += 0.5 * k * (length - s->rest[e]) * (length - s->rest[e]);
    }
    for (int32_t i = 0; i < s->hinge_count; i++) {
        double form[3] = {0, 0, 0};
        for (int k = 0; k < 4; k++)
            for (int d = 0; d < 3; d++) form[d] += s->weight[i][k] * s->pos[s->hinge[i][k]][d];
        m.bend_energy += 0.5 * s->bend[i] * (form[0] * form[0] + form[1] * form[1] + form[2] * form[2]);
    }
    return m;
}
