// physics/fabric.c: tables of a fabric to stiffness at a strain and a curvature.
//
// In plane: row 0 up to w = 1, rows 1 to 5 at w = 1 + stretch_sample, linear between and constant beyond, w the
// larger principal stretch; linear in the angle of that stretch to the warp.
// Where both principal stretches agree their direction is undefined; there the rows are replaced by their mean
// over all directions, blended over a stretch difference of DIRECTION_BLEND, so C is continuous in E.

#include "physics/fabric.h"

#include "math/elementary.h"

#include <math.h>
#include <string.h>

// Stretch difference over which the direction of the larger one becomes significant. Small against the table's
// sampling distance (1/6), large against the strain change of one step.
#define DIRECTION_BLEND 0.02

bool tl_material_is_nonlinear(const tl_material *m)
{
    for (int r = 1; r < 6; r++)
        if (memcmp(m->stretch[r], m->stretch[0], sizeof m->stretch[0]) != 0) return true;
    for (int r = 0; r < 3; r++)
        for (int k = 1; k < 5; k++)
            if (m->bend[r][k] != m->bend[r][0]) return true;
    return false;
}

static double smoothstep(double t)
{
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

tl_stretch tl_material_stretch(const tl_material *m, double e11, double e22, double e12)
{
    // Principal stretches w1 >= w2 of C = I + 2 E and the angle of w1, folded to [0, 90] degrees.
    const double mean = 0.5 * (e11 + e22), half = 0.5 * (e11 - e22);
    const double radius = sqrt(half * half + e12 * e12);
    const double w1 = sqrt(fmax(0, 1 + 2 * (mean + radius))), w2 = sqrt(fmax(0, 1 + 2 * (mean - radius)));
    const double angle = 0.5 * tl_atan2(fabs(e12), half);  // in [0, pi/2]
    const double amount = fmin(fmax((w1 - 1) / m->stretch_sample, 0), 1);
    const double place = angle * (4 / 1.57079632679489661923);  // rows are 22.5 degrees apart
    const int row = place >= 4 ? 3 : (int)place;
    const double part = fmin(place - row, 1);
    const double directed = smoothstep((w1 - w2) / DIRECTION_BLEND);
    double c[4];
    for (int k = 0; k < 4; k++) {
        double all = 0;  // mean over directions: trapezoid over the five rows
        for (int r = 1; r <= 5; r++) all += m->stretch[r][k] * (r == 1 || r == 5 ? 0.125 : 0.25);
        const double along = (1 - part) * m->stretch[1 + row][k] + part * m->stretch[2 + row][k];
        const double far = directed * along + (1 - directed) * all;
        c[k] = (1 - amount) * m->stretch[0][k] + amount * far;
        if (k != 1) c[k] = fmax(0, c[k]);
    }
    // The energy must not be lowered by any strain: c12^2 <= c11 c22.
    const double most = sqrt(c[0] * c[2]);
    c[1] = fmin(fmax(c[1], -most), most);
    return (tl_stretch){c[0], c[1], c[2], c[3]};
}

static double table_at(const double row[5], double step, double curvature)
{
    const double place = fabs(curvature) / step;
    if (!(place < 4)) return fmax(0, row[4]);
    const int k = (int)place;
    return fmax(0, row[k] + (place - k) * (row[k + 1] - row[k]));
}

tl_plate tl_material_plate(const tl_material *m, double curvature)
{
    // Bending the warp yarns (S11) turns about an axis across them: row 2. And the other way round.
    const double b11 = table_at(m->bend[2], m->bend_step, curvature);
    const double b22 = table_at(m->bend[0], m->bend_step, curvature);
    const double b45 = table_at(m->bend[1], m->bend_step, curvature);
    const double b12 = m->bend_poisson * sqrt(b11 * b22);
    // A cylinder bent along 45 degrees has S11 = S22 = |S12| = k/2, energy k^2 (b11 + b22 + 2 b12 + 4 b66) / 8;
    // that is b45 k^2 / 2 for the b66 below. A floor keeps twisting from being free where the table is uneven.
    const double b66 = 0.25 * (4 * b45 - b11 - b22 - 2 * b12);
    const double floor66 = 0.1 * 0.5 * (1 - m->bend_poisson) * sqrt(b11 * b22);
    return (tl_plate){b11, b22, b12, fmax(b66, floor66)};
}

double tl_material_rigidity(const tl_material *m, double axis_x, double axis_y, double curvature)
{
    const double place = tl_atan2(fabs(axis_y), fabs(axis_x)) * (2 / 1.57079632679489661923);  // 45 degrees apart
    const int row = place >= 2 ? 1 : (int)place;
    const double part = fmin(place - row, 1);
    return (1 - part) * table_at(m->bend[row], m->bend_step, curvature) +
           part * table_at(m->bend[row + 1], m->bend_step, curvature);
}
