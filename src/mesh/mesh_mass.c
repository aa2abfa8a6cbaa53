// mesh/mesh_mass.c: the parts of a face's mass that its corners get.

#include "mesh/mesh_mass.h"

// A corner's cell: of each side that ends there a triangle with the circumcentre, l^2 cot / 8 with the angle opposite
// to that side; its cotangent is a dot product over twice the area.
void tl_mesh_lump(const tl_mesh *mesh, int32_t face, double amount, tl_lumping how, double out[3])
{
    out[0] = out[1] = out[2] = amount / 3;
    if (how == TL_LUMP_THIRDS) return;
    const int32_t *v = mesh->face_vert[face];
    double dot[3], l2[3];
    for (int k = 0; k < 3; k++) {
        const tl_vec2 a = mesh->uv[v[k]], b = mesh->uv[v[(k + 1) % 3]], c = mesh->uv[v[(k + 2) % 3]];
        const tl_vec2 p = {b.x - a.x, b.y - a.y}, q = {c.x - a.x, c.y - a.y};
        dot[k] = p.x * q.x + p.y * q.y;
        l2[k] = (c.x - b.x) * (c.x - b.x) + (c.y - b.y) * (c.y - b.y);  // of the side opposite
    }
    for (int k = 0; k < 3; k++)
        if (dot[k] <= 0) {
            out[k] = 0.5 * amount, out[(k + 1) % 3] = out[(k + 2) % 3] = 0.25 * amount;
            return;
        }
    const double area = tl_mesh_face_area_uv(mesh, face);
    for (int k = 0; k < 2; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = amount * (l2[i] * dot[i] + l2[j] * dot[j]) / (16 * area * area);
    }
    out[2] = amount - out[0] - out[1];
}
