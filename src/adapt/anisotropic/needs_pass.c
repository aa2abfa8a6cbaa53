// adapt/anisotropic/needs_pass.c: does a mesh still serve its sizing field, so that a pass can wait
// (tl_remeshing.patience)?
//
// A pass costs as much as a time step or two, and most of what it does in cloth that moves slowly is undone by the
// next: sizes go up and down around their limits. What a late pass does to the cloth is to leave edges longer than the
// field asks for; what it costs is faces that are not needed any more. Both can be seen at the price of the field
// alone. O(E + F), serial: a thousandth of a pass.

#include "adapt/anisotropic/remesh_impl.h"

#include <math.h>

#define LONG 1.2         // size of an edge that misses what the field asks for by more than hysteresis is wide
#define LONG_PART 0.005  // of all edges that may be so
#define FACES_TO_AREA 8  // per unit of area in the metric: after a pass there are 6 to 7

static bool has_long_edges(const remesher *r)
{
    const tl_slots *edges = &r->mesh->slots[TL_EDGES];
    int32_t count = 0;
    for (int32_t e = 0; e < edges->count; e++)
        if (tl_alive(r->mesh, TL_EDGES, e)) count += remesh_size(r, e) > LONG;
    return count > LONG_PART * edges->live;
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

bool tl_remesh_serves(const tl_mesh *mesh, const tl_remesh_attrs *attrs)
{
    const remesher r = {.mesh = (tl_mesh *)(uintptr_t)mesh, .attrs = *attrs};
    const tl_sym2 *field = (const tl_sym2 *)tl_mesh_attr_doubles(mesh, TL_VERTS, attrs->size);
    if (mesh->slots[TL_FACES].live > FACES_TO_AREA * tl_remesh_area(mesh, field)) return false;
    return !has_long_edges(&r);
}
