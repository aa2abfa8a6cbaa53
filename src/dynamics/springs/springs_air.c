// dynamics/springs/springs_air.c: drag across a triangle grows with the square of the speed, along it with the speed.

#include "dynamics/springs/springs_air.h"

#include <math.h>

tl_vec3 tl_springs_drag(const tl_springs_air *air, const tl_vec3 x[3], tl_vec3 through, double dt)
{
    const tl_vec3 n = tl_unit3_or(tl_cross3(tl_sub3(x[1], x[0]), tl_sub3(x[2], x[0])), (tl_vec3){0, 0, 0});
    const double across = tl_dot3(through, n), rate = air->pressure * fabs(across) / air->density,
                 skin = air->skin / air->density;
    const tl_vec3 along = tl_madd3(through, -across, n);
    return tl_add3(tl_mul3(rate / (1 + rate * dt) * across, n), tl_mul3(skin / (1 + skin * dt), along));
}
