// adapt/anisotropic/energy_guard.c: operations must not add much stretching energy.
//
// New faces lie on other chords of the same surface, so their strains differ from those of the old ones, and energy
// appears from nowhere. Two rules bound it: the strain of the faces concerned grows little, whatever the fabric; and
// all operations of a pass together add at most the energy that the caller allows, each at most a part of what is left.
// Operations that remove energy earn no credit, so that what was refused once is still refused at the end of the pass.

#include "adapt/anisotropic/remesh_impl.h"

#define STRAIN_ROUNDING 1e-9  // strains of two ways to compute one face differ by less

void remesh_add_strain(const remesher *r, int32_t label, const tl_vec2 u[3], const tl_vec3 x[3], strain_sum *sum)
{
    const tl_vec2 d1 = tl_sub2(u[1], u[0]), d2 = tl_sub2(u[2], u[0]);
    const tl_vec3 e1 = tl_sub3(x[1], x[0]), e2 = tl_sub3(x[2], x[0]);
    const double area2 = tl_cross2(d1, d2), area = 0.5 * fabs(area2);
    if (!(area > 0)) return;
    const tl_vec3 f1 = tl_mul3(1 / area2, tl_sub3(tl_mul3(d2.y, e1), tl_mul3(d1.y, e2)));
    const tl_vec3 f2 = tl_mul3(1 / area2, tl_sub3(tl_mul3(d1.x, e2), tl_mul3(d2.x, e1)));
    const double xx = 0.5 * (tl_dot3(f1, f1) - 1), yy = 0.5 * (tl_dot3(f2, f2) - 1), xy = 0.5 * tl_dot3(f1, f2);
    sum->area += area, sum->strain2 += area * (xx * xx + yy * yy + 2 * xy * xy);
    if (!r->def->fabric) return;
    const tl_sizing_fabric *c = &r->def->fabric[label];
    sum->energy += 0.5 * area * (c->c11 * xx * xx + 2 * c->c12 * xx * yy + c->c22 * yy * yy + c->c33 * xy * xy);
    sum->rounding += area * (c->c11 + c->c22 + c->c33) * STRAIN_ROUNDING * STRAIN_ROUNDING;
}

bool remesh_strains_too_much(const remesher *r, const strain_sum *before, const strain_sum *after)
{
    const double free = r->policy->strain_free;
    if (after->strain2 > 2 * before->strain2 + free * free * before->area) return true;
    return r->def->fabric &&
           after->energy - before->energy > r->policy->energy_part * r->energy_left + before->rounding;
}
