// scene/scene_uneven.c: cloth that lies exactly in a plane is given a breath of motion across it.
//
// Nothing in a plane tells one side of it from the other: a flag in a wind along it never flaps, a sheet that is pushed
// together shrinks to nothing instead of folding. No real cloth is so flat. The speeds are a sum of waves of random
// directions, from the size of the cloth to an eighth of it, as a function of the place: the same on any mesh.

#include <math.h>

#include "base/rng.h"
#include "scene/scene.h"
#include "math/vec3.h"

#define FLAT 1e-6                         // of the size of the cloth: what a place may be off the plane
enum { WAVES = 8, UNEVEN = 0x756e6576 };  // the stream of random numbers, one per cloth from here on

// Like a sine of 2 pi t, of parabolas: the same bits with every libm.
static double wave(double t)
{
    const double u = t - floor(t + 0.5);
    return 8 * u * (1 - 2 * fabs(u));
}

// The normal of the largest face; zero if all are points or lines.
static tl_vec3 normal_of(const tl_obj *mesh, const tl_vec3 *pos)
{
    tl_vec3 best = {0, 0, 0};
    for (int32_t f = 0; f < mesh->face_count; f++) {
        tl_vec3 x[3];
        for (int k = 0; k < 3; k++) x[k] = pos[mesh->vert_node[mesh->face[f][k]]];
        const tl_vec3 n = tl_cross3(tl_sub3(x[1], x[0]), tl_sub3(x[2], x[0]));
        if (tl_dot3(n, n) > tl_dot3(best, best)) best = n;
    }
    return tl_unit3_or(best, (tl_vec3){0, 0, 0});
}

static double size_of(const tl_vec3 *pos, int32_t n)
{
    double far2 = 0;
    for (int32_t i = 1; i < n; i++) far2 = fmax(far2, tl_dot3(tl_sub3(pos[i], pos[0]), tl_sub3(pos[i], pos[0])));
    return sqrt(far2);
}

void tl_scene_unsettle(const tl_obj *mesh, double speed, uint64_t seed, int32_t cloth, const tl_vec3 *pos, tl_vec3 *vel)
{
    const int32_t n = mesh->node_count;
    const tl_vec3 normal = normal_of(mesh, pos);
    if (!(speed > 0) || n < 3 || tl_dot3(normal, normal) == 0) return;
    const double size = size_of(pos, n);
    for (int32_t i = 0; i < n; i++)
        if (!(fabs(tl_dot3(normal, tl_sub3(pos[i], pos[0]))) <= FLAT * size)) return;
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint64_t k = 0; k < WAVES; k++) {
            const uint64_t stream = UNEVEN + (uint64_t)cloth;
            const double scale = 2 * (double)(k + 1) / size;
            const tl_vec3 along = {scale * (tl_random(seed, stream, 4 * k) - 0.5),
                                   scale * (tl_random(seed, stream, 4 * k + 1) - 0.5),
                                   scale * (tl_random(seed, stream, 4 * k + 2) - 0.5)};
            sum += wave(tl_dot3(along, pos[i]) + tl_random(seed, stream, 4 * k + 3));
        }
        vel[i] = tl_madd3(vel[i], speed * sum / WAVES, normal);
    }
}
