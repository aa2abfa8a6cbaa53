// respond/impulse/impulse.c: one pair, and sweeps over many.

#include "respond/impulse/impulse.h"

#include <math.h>

#include "math/vec3.h"

tl_vec3 tl_bump_velocity(const tl_bump *b, const tl_vec3 *v)
{
    tl_vec3 sum = tl_mul3(-1, b->other);
    for (int k = 0; k < 4; k++)
        if (b->node[k] >= 0) sum = tl_madd3(sum, b->weight[k], v[b->node[k]]);
    return sum;
}

double tl_bump_mobility(const tl_bump *b, const double *inverse_mass)
{
    double sum = 0;
    for (int k = 0; k < 4; k++)
        if (b->node[k] >= 0) sum += b->weight[k] * b->weight[k] * inverse_mass[b->node[k]];
    return sum;
}

static void give(const tl_bump *b, const double *inverse_mass, tl_vec3 impulse, tl_vec3 *v)
{
    for (int k = 0; k < 4; k++)
        if (b->node[k] >= 0) v[b->node[k]] = tl_madd3(v[b->node[k]], b->weight[k] * inverse_mass[b->node[k]], impulse);
}

double tl_bump_push(tl_bump *b, const double *inverse_mass, double wanted, tl_vec3 *v)
{
    const double mobility = tl_bump_mobility(b, inverse_mass);
    if (!(mobility > 0)) return 0;
    const double now = tl_dot3(b->normal, tl_bump_velocity(b, v));
    const double push = fmax(b->push + (wanted - now) / mobility, 0), more = push - b->push;
    b->push = push;
    if (more != 0) give(b, inverse_mass, tl_mul3(more, b->normal), v);
    return more * mobility;
}

void tl_bump_rub(tl_bump *b, const double *inverse_mass, tl_vec3 *v)
{
    const double mobility = tl_bump_mobility(b, inverse_mass);
    if (!(mobility > 0) || !(b->friction > 0)) return;
    const tl_vec3 speed = tl_bump_velocity(b, v), slide = tl_madd3(speed, -tl_dot3(b->normal, speed), b->normal);
    tl_vec3 rub = tl_madd3(b->rub, -1 / mobility, slide);  // what would stop it
    const double size = tl_norm3(rub), most = b->friction * b->push;
    if (size > most) rub = tl_mul3(most / size, rub);
    give(b, inverse_mass, tl_sub3(rub, b->rub), v);
    b->rub = rub;
}

void tl_bump_part(const tl_bump *b, const double *inverse_mass, double distance, tl_vec3 *x)
{
    const double mobility = tl_bump_mobility(b, inverse_mass);
    if (mobility > 0) give(b, inverse_mass, tl_mul3(distance / mobility, b->normal), x);
}

// Velocity along the normal that leaves the pair at its distance after dt; what is too near parts slowly, since in one
// step it would bounce.
static double wanted_by(const tl_bump *b, double dt, double restore)
{
    const double lack = b->keep - b->gap;
    return (lack > 0 ? restore : 1) * lack / dt;
}

void tl_bumps_solve(tl_bump *bumps, int32_t count, const double *inverse_mass, const tl_bumps_def *def, tl_vec3 *v,
                    tl_bumps_report *report)
{
    *report = (tl_bumps_report){0};
    for (int32_t sweep = 0; sweep < def->sweeps && count > 0; sweep++) {
        double left = 0;
        for (int32_t i = 0; i < count; i++) {
            tl_bump *b = &bumps[sweep % 2 ? count - 1 - i : i];
            left = fmax(left, fabs(tl_bump_push(b, inverse_mass, wanted_by(b, def->dt, def->restore), v)));
            tl_bump_rub(b, inverse_mass, v);
        }
        report->sweeps = sweep + 1, report->left = left;
        if (left <= def->tolerance) break;
    }
    for (int32_t i = 0; i < count; i++) report->pushing += bumps[i].push > 0;
}
