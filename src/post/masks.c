// post/masks.c: weights of the subdivision schemes around nodes of any valence.

#include <math.h>

#include "post/subdivide.h"

static const double TURN = 6.28318530717958647693;

static double lambda_of(int32_t k) { return 0.375 + 0.25 * cos(TURN / k); }

// M_k(u) of Loop 2002, with u the cosine of the angle from the edge (Kimmerle 2005, Table 4.1; its last column holds
// the sum of the weights, not one less the sum).
static double modified_loop(int32_t k, double u)
{
    if (k == 3) return (1.25 + u) / 6;
    if (k == 4) return 0.5 * (0.5 + 0.375 * u) * (0.5 + 0.375 * u);
    if (k == 5) {
        const double root = sqrt(5.0), b = (5 - root) / 5 + u;
        return (3 + root) / 32 * b * b;
    }
    const double lambda = lambda_of(k), a = 2 * lambda * lambda * lambda / (k * (1 - lambda)), b = 1 / lambda - 1.5;
    return a * (1 + u) * (b + u) * (b + u);
}

// Kimmerle 2005, Eq. 4.1 to 4.3: the node itself has 3/4.
static double butterfly(int32_t k, int32_t i)
{
    if (k == 3) return i == 0 ? 5.0 / 12 : -1.0 / 12;
    if (k == 4) return i == 0 ? 0.375 : i == 2 ? -0.125 : 0;
    return (0.25 + cos(TURN * i / k) + 0.5 * cos(2 * TURN * i / k)) / k;
}

void tl_edge_mask(tl_subdivision scheme, int32_t k, double *ring)
{
    for (int32_t i = 0; i < k; i++) {
        if (scheme == TL_SUBDIVIDE_BUTTERFLY)
            ring[i] = butterfly(k, i);
        else if (scheme == TL_SUBDIVIDE_MODIFIED_LOOP)
            ring[i] = modified_loop(k, cos(TURN * i / k));
        else
            ring[i] = i == 0 ? 0.375 : i == 1 || i == k - 1 ? 0.125 : 0;
    }
}

double tl_vertex_mask(const tl_subdivide_def *def, int32_t k)
{
    const double lambda = lambda_of(k);
    if (def->scheme == TL_SUBDIVIDE_BUTTERFLY) return 0;
    if (def->scheme == TL_SUBDIVIDE_LOOP || def->loop_vertex_mask) return (0.625 - lambda * lambda) / k;
    // Bounded curvature needs the eigenvalue of frequency 0 to be lambda^2 as well; the thesis gives no vertex mask.
    double sum = 0;
    for (int32_t i = 0; i < k; i++) sum += modified_loop(k, cos(TURN * i / k));
    return (sum - lambda * lambda) / k;
}
