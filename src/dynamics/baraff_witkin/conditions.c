// dynamics/baraff_witkin/conditions.c: stretch, shear and bend conditions (Baraff & Witkin 1998, sec. 4).

#include "dynamics/baraff_witkin/conditions.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "physics/forces.h"

#define SHORTEST 1e-9  // |w| below which a direction means nothing

bw_fabric bw_fabric_of(const tl_elements *e, int32_t f)
{
    const double c11 = e->stretch[f][0], c12 = e->stretch[f][1], c22 = e->stretch[f][2], c33 = e->stretch[f][3];
    // Green strain has E12 = w_u . w_v / 2
    return (bw_fabric){.u = c22 > 0 ? fmax(0, c11 - c12 * c12 / c22) : c11,
                       .v = c11 > 0 ? fmax(0, c22 - c12 * c12 / c11) : c22,
                       .shear = 0.25 * c33,
                       .damping = e->materials[e->material[f]].damping_stretch};
}

static void add_outer(double *m, double s, tl_vec3 a, tl_vec3 b)
{
    const double p[3] = {a.x, a.y, a.z}, q[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) m[3 * i + j] += s * p[i] * q[j];
}

static void add_identity(double *m, double s)
{
    for (int i = 0; i < 3; i++) m[4 * i] += s;
}

// C = sqrt(A) (|w| - 1)
static void stretch(double k, double area, tl_vec3 w, bool whole, tl_vec3 *gradient, double *hessian, double *damp,
                    double *energy)
{
    const double length = tl_norm3(w);
    if (!(length > SHORTEST)) return;
    const tl_vec3 along = tl_mul3(1 / length, w);
    const double c = length - 1, side = k * area * c / length;  // side: of the second derivative of C
    *energy += 0.5 * k * area * c * c;
    *gradient = tl_madd3(*gradient, k * area * c, along);
    add_outer(damp, k * area, along, along);
    add_outer(hessian, k * area, along, along);
    if (!whole && side < 0) return;
    add_identity(hessian, side);
    add_outer(hessian, -side, along, along);
}

void bw_face_at(const bw_fabric *fabric, double area, tl_vec3 wu, tl_vec3 wv, bool whole, bw_face *out)
{
    *out = (bw_face){.energy = 0};
    stretch(fabric->u, area, wu, whole, &out->u, out->uu, out->damp_uu, &out->energy);
    stretch(fabric->v, area, wv, whole, &out->v, out->vv, out->damp_vv, &out->energy);
    const double k = fabric->shear * area, c = tl_dot3(wu, wv);
    out->energy += 0.5 * k * c * c;
    out->u = tl_madd3(out->u, k * c, wv), out->v = tl_madd3(out->v, k * c, wu);
    double *hessian[2][3] = {{out->uu, out->uv, out->vv}, {out->damp_uu, out->damp_uv, out->damp_vv}};
    for (int i = 0; i < 2; i++) {
        add_outer(hessian[i][0], k, wv, wv);
        add_outer(hessian[i][1], k, wv, wu);
        add_outer(hessian[i][2], k, wu, wu);
    }
    if (whole) add_identity(out->uv, k * c);
}

// The edge of a face opposite corner k in its material frame: gradients of basis functions are the rows of the inverse
// of the matrix that has edges 01 and 02 for columns.
static tl_vec2 material_edge(const tl_elements *e, int32_t f, int k)
{
    const double *g = e->grad[f], det = g[0] * g[3] - g[1] * g[2];
    const tl_vec2 first = {g[3] / det, -g[2] / det}, second = {-g[1] / det, g[0] / det};
    if (k == 1) return second;
    if (k == 2) return first;
    return (tl_vec2){second.x - first.x, second.y - first.y};
}

double bw_hinge_stiffness(const tl_elements *e, int32_t h)
{
    double area = 0, softest = (double)INFINITY, length2 = 0;
    for (int s = 0; s < 2; s++) area += e->area[e->hinge_face[h][s]];
    for (int s = 0; s < 2; s++) {
        const int32_t f = e->hinge_face[h][s];
        const tl_vec2 t = material_edge(e, f, e->hinge_place[h][s]);
        const double l2 = t.x * t.x + t.y * t.y, l = sqrt(l2);
        const double curvature = fabs(e->angle[h] - e->rest[h]) * l / area;
        softest = fmin(softest, tl_material_rigidity(&e->materials[e->material[f]], t.x / l, t.y / l, curvature));
        length2 += 0.5 * l2;
    }
    return softest * length2 / area;
}

void bw_hinge_gradient(const double j[], tl_vec3 out[4])
{
    const tl_vec3 left = {j[0], j[1], j[2]}, right = {j[3], j[4], j[5]};
    const double y1 = j[6], y2 = j[7];
    out[0] = tl_add3(tl_mul3(y1 - 1, left), tl_mul3(y2 - 1, right));
    out[1] = tl_sub3(tl_mul3(-y1, left), tl_mul3(y2, right));
    out[2] = left, out[3] = right;
}
