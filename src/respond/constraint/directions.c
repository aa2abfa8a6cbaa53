// respond/constraint/directions.c: Gram and Schmidt, one node at a time.

#include "respond/constraint/directions.h"

#include <math.h>

#include "math/vec3.h"

// Part of a unit vector that has to be left when what others bar is taken out. On a curved body the normals of
// neighbours differ by a few degrees; taken as directions of their own they would ask for large speeds across the
// first.
#define SAME 0.25
#define CLOSE 0.9  // cosine: the same direction but for curvature

bool tl_directions_add(tl_directions *d, tl_vec3 normal, double speed)
{
    tl_vec3 rest = normal;
    double along = 0, closest = -1;
    int32_t same = -1;
    for (int32_t i = 0; i < d->count; i++) {
        const double part = tl_dot3(d->c[i], normal);
        rest = tl_madd3(rest, -part, d->c[i]);
        along += part * d->speed[i];
        if (part > closest) closest = part, same = i;
    }
    const double size = tl_norm3(rest);
    if (size <= SAME || d->count == 3) {
        if (same >= 0 && closest > CLOSE) d->speed[same] = fmax(d->speed[same], speed);
        return false;
    }
    d->c[d->count] = tl_mul3(1 / size, rest);
    d->speed[d->count++] = (speed - along) / size;  // so that the speed along `normal` comes out as asked
    return true;
}

tl_vec3 tl_directions_project(const tl_directions *d, tl_vec3 v)
{
    for (int32_t i = 0; i < d->count; i++) v = tl_madd3(v, -tl_dot3(d->c[i], v), d->c[i]);
    return v;
}

tl_vec3 tl_directions_filter(const tl_directions *d, tl_vec3 v)
{
    v = tl_directions_project(d, v);
    for (int32_t i = 0; i < d->count; i++) v = tl_madd3(v, d->speed[i], d->c[i]);
    return v;
}
