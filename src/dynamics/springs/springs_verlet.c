// dynamics/springs/springs_verlet.c: the springs of Simnett 2012, sec. 3.6, to compare with and for those who want
// them.
//
// Departures, all in docs/errata.md: position Verlet takes a dt^2 (Eq. 3.6.7 prints a half of it); a length constraint
// keeps the centre of mass (List. 3.12 has the weights the other way round); a node's mass is a third of the SUM of its
// triangles' masses; the force of a bending element is k_b times the angle in radians (divided by pi in Eq. 3.6.6).

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "dynamics/springs/springs_impl.h"
#include "math/vec3.h"

static tl_vec3 at(const double (*x)[4], int32_t i) { return (tl_vec3){x[i][0], x[i][1], x[i][2]}; }

static void add(double (*x)[4], int32_t i, double s, tl_vec3 d)
{
    x[i][0] += s * d.x, x[i][1] += s * d.y, x[i][2] += s * d.z;
}

// [N/m]
static double edge_stiffness(const tl_springs *s, int32_t e)
{
    if (s->def.rule == TL_SPRINGS_AREA) return s->stiffness[e];
    return s->def.stiffness / s->rest[e] * pow(2.0 / 3.0, s->level[e]);  // sec. 3.6.5
}

// Explicit steps are stable below 2 / w, w^2 <= the largest sum of k (1/m_i + 1/m_j) over the springs of a node.
static double longest_step(tl_springs *s)
{
    double worst = 0;
    double(*sum)[4] = s->bend_prev;
    memset(sum, 0, (size_t)s->node_count * sizeof *sum);
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t a = s->edge[e][0], b = s->edge[e][1];
        const double k = edge_stiffness(s, e) * (s->inv_mass[a] + s->inv_mass[b]);
        sum[a][0] += k, sum[b][0] += k;
    }
    for (int32_t i = 0; i < s->hinge_count; i++) {
        const int32_t *n = s->hinge[i];
        // an element turns its tips by force over their heights: k_b over half the span of both
        const double k = (s->def.bending == TL_SPRINGS_BEND_SPRINGS ? s->def.bend : 4 * s->def.bend / s->span[i]) *
                         (s->inv_mass[n[2]] + s->inv_mass[n[3]]);
        sum[n[2]][0] += k, sum[n[3]][0] += k;
        if (s->def.bending == TL_SPRINGS_BEND_SPRINGS) continue;
        sum[n[0]][0] += k, sum[n[1]][0] += k;
    }
    for (int32_t i = 0; i < s->node_count; i++) worst = fmax(worst, s->inv_mass[i] > 0 ? sum[i][0] : 0);
    return worst > 0 ? 2 / sqrt(worst) : INFINITY;
}

static void stretch_forces(const tl_springs *s, double (*force)[4])
{
    const double(*x)[4] = (const double(*)[4])s->pos;
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t a = s->edge[e][0], b = s->edge[e][1];
        const tl_vec3 d = tl_sub3(at(x, b), at(x, a));
        const double length = tl_norm3(d);
        if (!(length > 0)) continue;
        const double pull = edge_stiffness(s, e) * (length - s->rest[e]) / length;
        add(force, a, pull, d), add(force, b, -pull, d);
    }
}

static void bend_element(const tl_springs *s, const int32_t n[4], double (*force)[4])
{
    const double(*x)[4] = (const double(*)[4])s->pos;
    const tl_vec3 a = at(x, n[0]), b = at(x, n[1]), l = at(x, n[2]), r = at(x, n[3]), none = {0, 0, 0};
    const tl_vec3 nl = tl_unit3_or(tl_cross3(tl_sub3(b, a), tl_sub3(l, a)), none),
                  nr = tl_unit3_or(tl_cross3(tl_sub3(r, a), tl_sub3(b, a)), none);
    const double cosine = tl_dot3(nl, nr), angle = acos(cosine > 1 ? 1 : cosine < -1 ? -1 : cosine);
    const double way = tl_dot3(nr, tl_sub3(l, r)) > 0 ? 1 : -1, f = way * s->def.bend * angle;
    add(force, n[0], 0.5 * f, tl_add3(nl, nr)), add(force, n[1], 0.5 * f, tl_add3(nl, nr));
    add(force, n[2], -f, nl), add(force, n[3], -f, nr);
}

static void bend_forces(const tl_springs *s, double (*force)[4])
{
    const double(*x)[4] = (const double(*)[4])s->pos;
    for (int32_t i = 0; i < s->hinge_count; i++) {
        const int32_t *n = s->hinge[i];
        if (s->def.bending == TL_SPRINGS_BEND_ELEMENTS) {
            bend_element(s, n, force);
            continue;
        }
        const tl_vec3 d = tl_sub3(at(x, n[3]), at(x, n[2]));
        const double length = tl_norm3(d), pull = length > 0 ? s->def.bend * (length - s->span[i]) / length : 0;
        add(force, n[2], pull, d), add(force, n[3], -pull, d);
    }
}

// Provot 1995, for ends of different mass.
static void limit_lengths(tl_springs *s)
{
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t a = s->edge[e][0], b = s->edge[e][1];
        const double wa = s->inv_mass[a], wb = s->inv_mass[b], most = s->def.max_stretch * s->rest[e];
        const tl_vec3 d = tl_sub3(at((const double(*)[4])s->pos, b), at((const double(*)[4])s->pos, a));
        const double length = tl_norm3(d);
        if (!(length > most) || !(wa + wb > 0)) continue;
        const double part = (1 - most / length) / (wa + wb);
        add(s->pos, a, part * wa, d), add(s->pos, b, -part * wb, d);
    }
}

tl_status tl_springs_verlet(tl_springs *s, const tl_springs_step *step, tl_springs_report *report, tl_error *err)
{
    const double longest = 0.9 * longest_step(s), wanted = ceil(step->dt / longest);
    if (wanted > s->def.max_substeps)
        return tl_fail(err, TL_FAILED,
                       "springs: a step of %g s is stable in %.0f parts only, allowed are %d (a smaller dt, softer "
                       "springs, fewer levels, or dynamics that need no small steps: xpbd)",
                       step->dt, wanted, s->def.max_substeps);
    const int32_t n = (int32_t)fmax(wanted, step->substeps);
    const double h = step->dt / n, keep = pow(1 - s->def.damping, 1.0 / n);
    double(*force)[4] = s->bend_prev;
    for (int32_t k = 0; k < n; k++) {
        memset(force, 0, (size_t)s->node_count * sizeof *force);
        stretch_forces(s, force);
        bend_forces(s, force);
        for (int32_t i = 0; i < s->node_count; i++)
            for (int c = 0; c < 3; c++) {
                s->prev[i][c] = s->pos[i][c];
                const double a = s->accel[i][c] + s->inv_mass[i] * force[i][c];
                s->pos[i][c] += h * ((s->inv_mass[i] > 0 ? keep : 1) * s->vel[i][c] + h * a);  // Eq. 3.6.7, whole
            }
        for (int32_t round = 0; round < s->def.length_rounds; round++) limit_lengths(s);
        tl_springs_part(s, step, h);
        tl_springs_touch(s, step, (k + 1) * h, h);
        for (int32_t i = 0; i < s->node_count; i++)
            for (int c = 0; c < 3; c++) s->vel[i][c] = (s->pos[i][c] - s->prev[i][c]) / h;
    }
    if (report) report->substeps = n;
    return TL_OK;
}
