// respond/push_out/solid.c: solids in closed form (Simnett 2012, sec. 3.6.5 projects to sphere and cylinder).

#include "respond/push_out/solid.h"

#include <math.h>

#include "math/vec3.h"

static double from_ball(tl_vec3 center, double radius, tl_vec3 p, tl_vec3 *point, tl_vec3 *normal)
{
    const tl_vec3 d = tl_sub3(p, center);
    *normal = tl_unit3_or(d, (tl_vec3){0, 0, 1});
    *point = tl_madd3(center, radius, *normal);
    return tl_norm3(d) - radius;
}

// Distances from a rectangle (half extents a, b) in the plane of two coordinates x, y >= 0: inside the nearer side.
static double from_corner(double x, double y, double a, double b, double *nx, double *ny)
{
    const double dx = x - a, dy = y - b;
    if (dx > 0 && dy > 0) {
        const double d = sqrt(dx * dx + dy * dy);
        *nx = dx / d, *ny = dy / d;
        return d;
    }
    *nx = dx >= dy, *ny = !*nx;
    return fmax(dx, dy);
}

static double from_cylinder(const tl_solid *s, tl_vec3 p, tl_vec3 *point, tl_vec3 *normal)
{
    const double r = sqrt(p.x * p.x + p.y * p.y);
    const tl_vec3 out = r > 0 ? (tl_vec3){p.x / r, p.y / r, 0} : (tl_vec3){1, 0, 0}, up = {0, 0, p.z < 0 ? -1 : 1};
    double across, along;
    const double d = from_corner(r, fabs(p.z), s->radius, s->half.z, &across, &along);
    *normal = tl_madd3(tl_mul3(across, out), along, up);
    *point = tl_madd3(p, -d, *normal);
    return d;
}

static double from_box(tl_vec3 half, tl_vec3 p, tl_vec3 *point, tl_vec3 *normal)
{
    const double x[3] = {p.x, p.y, p.z}, h[3] = {half.x, half.y, half.z};
    double out[3], sum = 0, most = -INFINITY, n[3] = {0, 0, 0};
    int side = 0;
    for (int k = 0; k < 3; k++) {
        const double d = fabs(x[k]) - h[k];
        out[k] = fmax(0, d), sum += out[k] * out[k];
        if (d > most) most = d, side = k;
    }
    if (sum > 0)
        for (int k = 0; k < 3; k++) n[k] = copysign(out[k] / sqrt(sum), x[k]);
    else
        n[side] = x[side] < 0 ? -1 : 1;
    const double d = sum > 0 ? sqrt(sum) : most;
    *normal = (tl_vec3){n[0], n[1], n[2]};
    *point = tl_madd3(p, -d, *normal);
    return d;
}

double tl_solid_nearest(const tl_solid *s, tl_vec3 p, tl_vec3 *point, tl_vec3 *normal)
{
    switch (s->kind) {
    case TL_SOLID_CYLINDER: return from_cylinder(s, p, point, normal);
    case TL_SOLID_BOX: return from_box(s->half, p, point, normal);
    case TL_SOLID_CAPSULE: {
        const double z = fmin(s->half.z, fmax(-s->half.z, p.z));
        return from_ball((tl_vec3){0, 0, z}, s->radius, p, point, normal);
    }
    default: return from_ball((tl_vec3){0, 0, 0}, s->radius, p, point, normal);
    }
}
