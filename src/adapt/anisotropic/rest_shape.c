// adapt/anisotropic/rest_shape.c: operations preserve the rest shape of the cloth (mesh/mesh_rest.h).
//
// Splits and flips distribute curvature by area. A collapse leaves the removed curvature to the rest of its fan, but
// all faces of the fan have grown by different amounts: the sum over the fan is distributed anew. Then the edges of the
// changed faces get their angles.

#include "adapt/anisotropic/remesh_impl.h"

// Distributes the curvature of the changed faces of one panel, that of the first face, by area; faces of other panels
// move to the front.
static void share_panel(remesher *r, ids *faces, int32_t begin, int32_t *next)
{
    const tl_mesh *mesh = r->mesh;
    double *all = tl_mesh_attr_doubles(mesh, TL_FACES, r->attrs.rest.curvature), sum[3] = {0, 0, 0}, area = 0;
    const int32_t panel = mesh->face_panel[faces->item[begin]];
    int32_t end = begin;
    for (int32_t i = begin; i < faces->count; i++) {
        const int32_t f = faces->item[i];
        if (mesh->face_panel[f] != panel) continue;
        faces->item[i] = faces->item[end], faces->item[end++] = f;
        area += tl_mesh_face_area_uv(mesh, f);
        for (int k = 0; k < 3; k++) sum[k] += all[3 * (size_t)f + (size_t)k];
    }
    for (int32_t i = begin; i < end; i++) {
        const int32_t f = faces->item[i];
        const double share = tl_mesh_face_area_uv(mesh, f) / area;
        for (int k = 0; k < 3; k++) all[3 * (size_t)f + (size_t)k] = share * sum[k];
    }
    *next = end;
}

void remesh_rest(remesher *r, bool collapsed)
{
    tl_mesh *mesh = r->mesh;
    const tl_rest_attrs *rest = &r->attrs.rest;
    if (rest->curvature == TL_NONE) return;
    for (int32_t i = 0; collapsed && i < r->changed.count;) share_panel(r, &r->changed, i, &i);
    const double *crease = tl_mesh_attr_doubles(mesh, TL_EDGES, rest->crease);
    for (int32_t i = 0; i < r->changed.count; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t e = mesh->face_edge[r->changed.item[i]][k];
            mesh->edge_rest[e] = tl_mesh_rest_angle(mesh, rest, e) + crease[e];
        }
}
