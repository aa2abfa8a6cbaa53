// scene/arcsim/arcsim_turn.c: rotations, and the turn from z up to y up.
//
// The turn is by -90 degrees about x: (x, y, z) becomes (x, z, -y). Meshes stay as their files have them and get the
// turn as the last part of their transform. What acts on the turned world, a motion, is turned itself: axes and ways as
// vectors, angles and scales as they are.

#include <math.h>

#include "math/elementary.h"
#include "scene/arcsim/arcsim_impl.h"

static const double DEGREE = 3.14159265358979323846 / 180;

arc_quaternion arc_quaternion_of(const double rotate[4])
{
    const tl_vec3 axis = tl_unit3_or((tl_vec3){rotate[1], rotate[2], rotate[3]}, (tl_vec3){0, 0, 0});
    const double half = rotate[0] * DEGREE / 2;
    return (arc_quaternion){tl_cos(half), tl_mul3(tl_sin(half), axis)};
}

arc_quaternion arc_quaternion_product(arc_quaternion a, arc_quaternion b)
{
    const tl_vec3 v = tl_add3(tl_add3(tl_mul3(a.w, b.v), tl_mul3(b.w, a.v)), tl_cross3(a.v, b.v));
    return (arc_quaternion){a.w * b.w - tl_dot3(a.v, b.v), v};
}

tl_vec3 arc_quaternion_turn(arc_quaternion q, tl_vec3 p)
{
    const tl_vec3 t = tl_mul3(2, tl_cross3(q.v, p));
    return tl_add3(tl_madd3(p, q.w, t), tl_cross3(q.v, t));
}

void arc_rotation_of(arc_quaternion q, double rotate[4])
{
    const double part = tl_norm3(q.v);
    const tl_vec3 axis = part > 0 ? tl_mul3(1 / part, q.v) : (tl_vec3){1, 0, 0};
    rotate[0] = 2 * tl_atan2(part, q.w) / DEGREE;
    rotate[1] = axis.x, rotate[2] = axis.y, rotate[3] = axis.z;
}

json_t *arc_transform(const tl_transform_file *t)
{
    double rotate[4] = {-90, 1, 0, 0};  // in numbers that are exact where the file's are
    const double *r = t->rotate;
    if (r[0] != 0 && r[2] == 0 && r[3] == 0)
        rotate[0] = (r[1] > 0 ? r[0] : -r[0]) - 90;
    else if (r[0] != 0)
        arc_rotation_of(arc_quaternion_product(arc_quaternion_of(rotate), arc_quaternion_of(r)), rotate);
    return json_pack("{s:f,s:o,s:o}", "scale", t->scale, "rotate", arc_rotation(rotate), "translate",
                     arc_vec3(arc_up(t->translate)));
}

tl_status arc_check_rotation(const tl_node *object, const tl_transform_file *t, tl_error *err)
{
    const double *r = t->rotate;
    if (r[0] == 0 || r[1] != 0 || r[2] != 0 || r[3] != 0) return TL_OK;
    const tl_node transform = tl_node_key(object, "transform"), rotate = tl_node_key(&transform, "rotate");
    return tl_node_fail(&rotate, false, err, "by %g degrees about the axis (0, 0, 0), must have a direction", r[0]);
}
