// mesh/mesh_rest.c: rest angles from the curvature of the rest shape.

#include "mesh/mesh_rest.h"

#include "base/fail.h"
#include "math/vec3.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_query.h"

static const char curvature_name[] = "rest_curvature", crease_name[] = "crease";

tl_rest_attrs tl_mesh_rest_find(const tl_mesh *mesh)
{
    return (tl_rest_attrs){tl_mesh_attr_find(mesh, TL_FACES, curvature_name),
                           tl_mesh_attr_find(mesh, TL_EDGES, crease_name)};
}

tl_status tl_mesh_rest_attach(tl_mesh *mesh, tl_rest_attrs *out, tl_error *err)
{
    *out = tl_mesh_rest_find(mesh);
    if (out->curvature == TL_NONE)
        TL_TRY(tl_mesh_attr_add(mesh, TL_FACES, curvature_name, TL_DOUBLE, 3, TL_ATTR_CONSERVE, &out->curvature, err));
    if (out->crease == TL_NONE)
        TL_TRY(tl_mesh_attr_add(mesh, TL_EDGES, crease_name, TL_DOUBLE, 1, TL_ATTR_COPY, &out->crease, err));
    return TL_OK;
}

// The part of the angle on one side: t along the edge, n across it, (y, h) the place of the far corner.
static double fold(const tl_mesh *mesh, int32_t e, int side, const double s[3])
{
    const tl_vec2 a = mesh->uv[tl_mesh_edge_vert(mesh, e, side, 0)], b = mesh->uv[tl_mesh_edge_vert(mesh, e, side, 1)];
    const tl_vec2 c = mesh->uv[tl_mesh_opposite_vert(mesh, e, side)];
    const double l = tl_norm2(tl_sub2(b, a));
    const tl_vec2 t = tl_mul2(1 / l, tl_sub2(b, a)), n = {-t.y, t.x};
    const double y = tl_dot2(t, tl_sub2(c, a)),
                 h = tl_cross2(t, tl_sub2(c, a));  // h < 0 if the edge runs the other way: so does n
    const double nn = s[0] * n.x * n.x + s[1] * n.y * n.y + 2 * s[2] * n.x * n.y;
    const double tt = s[0] * t.x * t.x + s[1] * t.y * t.y + 2 * s[2] * t.x * t.y;
    const double nt = s[0] * n.x * t.x + s[1] * n.y * t.y + s[2] * (n.x * t.y + n.y * t.x);
    const double sign = h < 0 ? -1 : 1;
    return sign * (0.5 * nn * h + nt * (y - 0.5 * l) + 0.5 * tt * (y * y - l * y) / h);
}

double tl_mesh_rest_angle(const tl_mesh *mesh, const tl_rest_attrs *attrs, int32_t e)
{
    if (mesh->edge_face[e][1] == TL_NONE) return 0;
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const int32_t f = mesh->edge_face[e][side];
        const double *total = tl_mesh_attr_doubles(mesh, TL_FACES, attrs->curvature) + 3 * (size_t)f,
                     area = tl_mesh_face_area_uv(mesh, f);
        const double s[3] = {total[0] / area, total[1] / area, total[2] / area};
        sum += fold(mesh, e, side, s);
    }
    return sum;
}
