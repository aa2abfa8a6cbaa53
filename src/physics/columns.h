// physics/columns.h: the deformation gradient F of a face, which every measure of its strain begins with.
#pragma once
#include "math/vec3.h"
#include "physics/elements.h"

/// Columns of F: where the unit vectors along warp and weft go.
typedef struct tl_columns {
    tl_vec3 f1, f2;
} tl_columns;

/// At positions x. F is linear in them: of displacements in their place it gives the change of F.
static inline tl_columns tl_face_columns(const tl_elements *e, const tl_vec3 *x, int32_t f)
{
    const double *g = e->grad[f];
    const tl_vec3 d1 = tl_sub3(x[e->face[f][1]], x[e->face[f][0]]), d2 = tl_sub3(x[e->face[f][2]], x[e->face[f][0]]);
    return (tl_columns){tl_madd3(tl_mul3(g[0], d1), g[2], d2), tl_madd3(tl_mul3(g[1], d1), g[3], d2)};
}
