// math/affine.h: affine maps of space, and the scale, rotation and move that most of them are made of.
#pragma once
#include "math/quat.h"

/// x goes to m[.][0..2] x + m[.][3].
typedef struct tl_affine {
    double m[3][4];
} tl_affine;

/// Scaled first, then turned, then moved.
typedef struct tl_trs {
    tl_vec3 move;
    tl_quat turn;
    tl_vec3 scale;
} tl_trs;

static inline tl_trs tl_trs_identity(void) { return (tl_trs){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}}; }
static inline tl_affine tl_affine_identity(void) { return (tl_affine){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}}; }

/// First b, then a.
static inline tl_affine tl_affine_mul(const tl_affine *a, const tl_affine *b)
{
    tl_affine r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            r.m[i][j] =
                a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j] + (j == 3 ? a->m[i][3] : 0);
    return r;
}

static inline tl_vec3 tl_affine_point(const tl_affine *a, tl_vec3 p)
{
    return (tl_vec3){a->m[0][0] * p.x + a->m[0][1] * p.y + a->m[0][2] * p.z + a->m[0][3],
                     a->m[1][0] * p.x + a->m[1][1] * p.y + a->m[1][2] * p.z + a->m[1][3],
                     a->m[2][0] * p.x + a->m[2][1] * p.y + a->m[2][2] * p.z + a->m[2][3]};
}

static inline tl_affine tl_affine_from_trs(const tl_trs *t)
{
    const tl_quat q = t->turn;
    const double s[3] = {t->scale.x, t->scale.y, t->scale.z};
    const double r[3][3] = {
        {1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y)},
        {2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x)},
        {2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}};
    tl_affine a;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.m[i][j] = r[i][j] * s[j];
    a.m[0][3] = t->move.x, a.m[1][3] = t->move.y, a.m[2][3] = t->move.z;
    return a;
}

static inline double tl_affine_det(const tl_affine *a)
{
    return a->m[0][0] * (a->m[1][1] * a->m[2][2] - a->m[1][2] * a->m[2][1]) -
           a->m[0][1] * (a->m[1][0] * a->m[2][2] - a->m[1][2] * a->m[2][0]) +
           a->m[0][2] * (a->m[1][0] * a->m[2][1] - a->m[1][1] * a->m[2][0]);
}

/// The rotation of a matrix with columns of unit length at right angles (Shepperd 1978).
static inline tl_quat tl_quat_from_columns(double r[3][3])
{
    const double t = r[0][0] + r[1][1] + r[2][2];
    tl_quat q;
    if (t > 0)
        q = (tl_quat){r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1], 1 + t};
    else if (r[0][0] >= r[1][1] && r[0][0] >= r[2][2])
        q = (tl_quat){1 + 2 * r[0][0] - t, r[1][0] + r[0][1], r[0][2] + r[2][0], r[2][1] - r[1][2]};
    else if (r[1][1] >= r[2][2])
        q = (tl_quat){r[1][0] + r[0][1], 1 + 2 * r[1][1] - t, r[2][1] + r[1][2], r[0][2] - r[2][0]};
    else
        q = (tl_quat){r[0][2] + r[2][0], r[2][1] + r[1][2], 1 + 2 * r[2][2] - t, r[1][0] - r[0][1]};
    return tl_quat_unit(q);
}

/// Without shear; a mirror goes into the scale along x. Columns of zero length get scale 0.
static inline tl_trs tl_affine_to_trs(const tl_affine *a)
{
    double s[3], r[3][3];
    for (int j = 0; j < 3; j++)
        s[j] = sqrt(a->m[0][j] * a->m[0][j] + a->m[1][j] * a->m[1][j] + a->m[2][j] * a->m[2][j]);
    if (tl_affine_det(a) < 0) s[0] = -s[0];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r[i][j] = s[j] != 0 ? a->m[i][j] / s[j] : i == j;
    return (tl_trs){{a->m[0][3], a->m[1][3], a->m[2][3]}, tl_quat_from_columns(r), {s[0], s[1], s[2]}};
}

/// The map back; the determinant must not be zero.
static inline tl_affine tl_affine_inverse(const tl_affine *a)
{
    const double d = 1 / tl_affine_det(a);
    tl_affine r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int i1 = (j + 1) % 3, i2 = (j + 2) % 3, j1 = (i + 1) % 3, j2 = (i + 2) % 3;
            r.m[i][j] = d * (a->m[i1][j1] * a->m[i2][j2] - a->m[i1][j2] * a->m[i2][j1]);
        }
    for (int i = 0; i < 3; i++) r.m[i][3] = -(r.m[i][0] * a->m[0][3] + r.m[i][1] * a->m[1][3] + r.m[i][2] * a->m[2][3]);
    return r;
}
