// physics/eddies.c: random waves across which the air swings.
//
// Wave lengths run from twice `length` down to an eighth of that, evenly in their logarithm, with energies as k^(-2/3)
// per octave (Kolmogorov's k^(-5/3) times k). Directions are uniform on the sphere, swings uniform across them.

#include "physics/eddies.h"

#include <math.h>

#include "base/rng.h"
#include "math/elementary.h"
#include "math/vec3.h"

static const double PI = 3.14159265358979323846;
static const double OCTAVES = 3;  // from the largest eddies to the smallest
enum { STREAM = 0x45444459 };     // "EDDY"

static tl_vec3 direction(uint64_t seed, uint64_t stream, uint64_t k)
{
    const double z = 2 * tl_random(seed, stream, 2 * k) - 1, a = 2 * PI * tl_random(seed, stream, 2 * k + 1);
    const double r = sqrt(fmax(0, 1 - z * z));
    return (tl_vec3){r * tl_cos(a), r * tl_sin(a), z};
}

void tl_eddies_init(tl_eddies *e, const tl_eddies_def *def)
{
    double total = 0;
    for (uint64_t k = 0; k < TL_EDDIES; k++) {
        const double octave = OCTAVES * ((double)k + tl_random(def->seed, STREAM, k)) / TL_EDDIES;
        const double number = PI / def->length * tl_exp2(octave);  // wave number
        const tl_vec3 along = direction(def->seed, STREAM + 1, k);
        const tl_vec3 across = tl_unit3_or(tl_cross3(along, direction(def->seed, STREAM + 2, k)), (tl_vec3){0, 0, 0});
        const double energy = tl_exp2(-2.0 / 3 * octave);
        e->wave[k] = tl_mul3(number, along);
        e->swing[k] = tl_mul3(sqrt(energy), across);
        e->phase[k] = 2 * PI * tl_random(def->seed, STREAM + 3, k) - tl_dot3(e->wave[k], def->drift) +
                      (2 * tl_random(def->seed, STREAM + 4, k) - 1) * number * def->turned;
        total += 0.5 * tl_dot3(e->swing[k], e->swing[k]);  // mean square of a cosine is 1/2
    }
    const double scale = def->speed * sqrt(3 / total);  // three components
    for (int k = 0; k < TL_EDDIES; k++) e->swing[k] = tl_mul3(scale, e->swing[k]);
}

tl_vec3 tl_eddies_at(const tl_eddies *e, tl_vec3 x)
{
    tl_vec3 sum = {0, 0, 0};
    for (int k = 0; k < TL_EDDIES; k++) sum = tl_madd3(sum, tl_cos(tl_dot3(e->wave[k], x) + e->phase[k]), e->swing[k]);
    return sum;
}
