// adapt/anisotropic/sizing_material.c: the compression at which a fabric is worth refining.
//
// A strip of bending rigidity B under a compressive force P per width buckles in half waves of length L = pi sqrt(B /
// P) or more (Euler). Two edges per half wave: 1 / l^2 = 4 / L^2 = 4 P / (pi^2 B). Where P = k e comes from a strain e
// alone this is Eq. 8 of Narain 2012, 1 - F^T F = 2 e over c_max^2, with  c_max^2 = 2 e l^2 = pi^2 B / (2 k).
// docs/remeshing.md has the whole story.

#include "physics/fabric.h"
#include "adapt/anisotropic/sizing.h"

#define PI 3.14159265358979323846
#define ROOT_HALF 0.7071067811865476
// [N m]: a thousandth of the softest silk; limp fabrics wrinkle below any edge length all the same
#define LEAST_RIGIDITY 1e-9

tl_sizing_fabric tl_sizing_fabric_of(const tl_material *m)
{
    const tl_stretch c = tl_material_stretch(m, 0, 0, 0);
    const double mean = 0.25 * (tl_material_rigidity(m, 0, 1, 0) + tl_material_rigidity(m, 1, 0, 0) +
                                2 * tl_material_rigidity(m, ROOT_HALF, ROOT_HALF, 0));
    return (tl_sizing_fabric){c.c11, c.c12, c.c22, c.c33, 4 / (PI * PI * fmax(mean, LEAST_RIGIDITY)), m};
}

// B / k [m^2]; without stiffness against stretching nothing buckles, and there is nothing to ask for.
static double ratio(double rigidity, double stiffness) { return stiffness > 0 ? rigidity / stiffness : 0; }

double tl_material_compression(const tl_material *m)
{
    const tl_stretch c = tl_material_stretch(m, 0, 0, 0);
    const double det = c.c11 * c.c22 - c.c12 * c.c12;
    // Stiffness of a strip that is free to widen: along warp, weft, and the bias between. There a tension P makes the
    // stresses (1, 1, 1) P / 2, and the strain P / k is their complementary energy, 1/k = (S11 + 2 S12 + S22) / 4 +
    // 1/c33.
    const double warp = c.c22 > 0 ? det / c.c22 : 0, weft = c.c11 > 0 ? det / c.c11 : 0;
    const double bias = det > 0 && c.c33 > 0 ? 1 / (0.25 * (c.c11 + c.c22 - 2 * c.c12) / det + 1 / c.c33) : 0;
    // Compressed along the warp, it bends about the weft.
    const double sum = ratio(tl_material_rigidity(m, 0, 1, 0), warp) + ratio(tl_material_rigidity(m, 1, 0, 0), weft) +
                       2 * ratio(tl_material_rigidity(m, ROOT_HALF, ROOT_HALF, 0), bias);
    return PI * sqrt(0.5 * sum / 4);  // mean over four directions
}

// Contraction that comes of a pull across it is no compression: knits get narrower by as much as they get longer. The
// strain that the compressive stress of the face would make by itself, in a strip free to widen, twice, like e in
// Eq. 8.
tl_sym2 tl_sizing_pressed(const tl_material *m, tl_sym2 c)
{
    const double e11 = 0.5 * (c.xx - 1), e22 = 0.5 * (c.yy - 1), e12 = 0.5 * c.xy;
    const tl_stretch k = tl_material_stretch(m, e11, e22, e12);
    const tl_sym2 stress = {k.c11 * e11 + k.c12 * e22, k.c33 * e12, k.c12 * e11 + k.c22 * e22};
    const double det = k.c11 * k.c22 - k.c12 * k.c12, low = 1e-3 * k.c11 * k.c22, free = det > low ? det : low;
    const double warp = free / k.c22, weft = free / k.c11;  // Young's moduli
    if (!(warp > 0 && weft > 0)) return (tl_sym2){0};
    return tl_sym2_positive(
        (tl_sym2){-2 * stress.xx / warp, -2 * stress.xy / sqrt(warp * weft), -2 * stress.yy / weft});
}
