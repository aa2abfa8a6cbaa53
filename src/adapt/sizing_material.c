// adapt/sizing_material.c: the compression at which a fabric is worth refining.
//
// A strip with stretching stiffness k and bending rigidity B, compressed by e, buckles in half waves of length
// L = pi sqrt(B / (k e)) or more (Euler). Two edges per half wave: l = L / 2. The sizing field takes 1 - F^T F = 2 e (small e)
// over c_max^2 for 1 / l^2, so  c_max^2 = 2 e l^2 = pi^2 / 2 B / k.  docs/remeshing.md has the whole story.

#include "physics/fabric.h"
#include "adapt/sizing.h"

#define PI 3.14159265358979323846
#define LEAST_LIMIT 1e-6  // [m]: fabrics without bending stiffness wrinkle at any size; far below any edge

// B / k [m^2]; without stiffness against stretching nothing buckles, and there is nothing to ask for.
static double ratio(double rigidity, double stiffness) { return stiffness > 0 ? rigidity / stiffness : 0; }

double tl_material_compression(const tl_material *m)
{
    const tl_stretch c = tl_material_stretch(m, 0, 0, 0);
    const double det = c.c11 * c.c22 - c.c12 * c.c12;
    // Stiffness of a strip that is free to widen: along warp, weft, and the bias between. There a tension P makes the stresses
    // (1, 1, 1) P / 2, and the strain P / k is their complementary energy, 1/k = (S11 + 2 S12 + S22) / 4 + 1/c33.
    const double warp = c.c22 > 0 ? det / c.c22 : 0, weft = c.c11 > 0 ? det / c.c11 : 0;
    const double bias = det > 0 && c.c33 > 0 ? 1 / (0.25 * (c.c11 + c.c22 - 2 * c.c12) / det + 1 / c.c33) : 0;
    // Compressed along the warp, it bends about the weft.
    const double s = 0.7071067811865476;
    const double sum = ratio(tl_material_rigidity(m, 0, 1, 0), warp) + ratio(tl_material_rigidity(m, 1, 0, 0), weft) +
                       2 * ratio(tl_material_rigidity(m, s, s, 0), bias);
    return fmax(LEAST_LIMIT, PI * sqrt(0.5 * sum / 4));  // mean over four directions
}
