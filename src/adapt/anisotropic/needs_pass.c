// adapt/anisotropic/needs_pass.c: does a mesh differ enough from its sizing field for a pass, or can that wait
// (tl_remeshing.patience)?
//
// A pass costs as much as one or two time steps, and in slow cloth most of its work is undone by the next: sizes
// fluctuate around their limits. A late pass leaves edges longer than the field asks for, and faces that are no longer
// needed. Both show from the field alone. O(E + F), serial: a thousandth of a pass.

#include "adapt/anisotropic/remesh_impl.h"

#include <math.h>

static bool has_long_edges(const remesher *r)
{
    const tl_slots *edges = &r->mesh->slots[TL_EDGES];
    int32_t count = 0;
    for (int32_t e = 0; e < edges->count; e++)
        if (tl_alive(r->mesh, TL_EDGES, e)) count += remesh_size(r, e) > r->policy->long_size;
    return count > r->policy->long_part * edges->live;
}

double tl_remesh_area(const tl_mesh *mesh, const tl_sym2 *field)
{
    double area = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        double sum = 0;
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        for (int k = 0; k < 3; k++) sum += sqrt(fmax(0, tl_sym2_det(field[mesh->face_vert[f][k]]))) / 3;
        area += sum * tl_mesh_face_area_uv(mesh, f);
    }
    return area;
}

bool tl_remesh_needs_pass(const tl_mesh *mesh, const tl_remesh_attrs *attrs)
{
    const remesher r = {.mesh = (tl_mesh *)(uintptr_t)mesh, .attrs = *attrs, .policy = &tl_remesh_policy_default};
    const tl_sym2 *field = (const tl_sym2 *)tl_mesh_attr_doubles(mesh, TL_VERTS, attrs->size);
    if (mesh->slots[TL_FACES].live > r.policy->faces_per_area_max * tl_remesh_area(mesh, field)) return true;
    return has_long_edges(&r);
}
