// mesh/mesh_mass.c: lumped node masses.
//
// m_n = sum over faces f around n, over all panels, of area_f density_f / 3      Narain 2012, sec. 3
// Each node gathers over its fans in stored order: same bits on any number of workers.

#include "mesh/mesh_mass.h"

#include <math.h>

#include "base/fail.h"
#include "mesh/mesh_query.h"

enum { NODES_PER_CHUNK = 512 };

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

typedef struct mass_job {
    const tl_mesh *mesh;
    const double *density;
    double *out;
} mass_job;

static void mass_chunk(void *arg, int32_t begin, int32_t end)
{
    const mass_job *job = arg;
    const tl_mesh *mesh = job->mesh;
    for (int32_t n = begin; n < end; n++) {
        double sum = 0;
        if (tl_alive(mesh, TL_NODES, n)) {
            int32_t v = mesh->node_vert[n];
            do {
                for (tl_fan fan = tl_fan_begin(mesh, v); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
                    const double area = tl_mesh_face_area_uv(mesh, fan.face);
                    sum += job->density ? area * job->density[fan.face] : area;
                }
                v = mesh->vert_next[v];
            } while (v != mesh->node_vert[n]);
        }
        job->out[n] = sum / 3;
    }
}

tl_status tl_mesh_node_masses(const tl_mesh *mesh, const double *face_density, tl_workers *workers, double *out,
                              tl_error *err)
{
    if (!face_density || !out) return tl_fail(err, TL_BAD_ARG, "node_masses: %s is NULL", out ? "face_density" : "out");
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f) && !(face_density[f] > 0 && isfinite(face_density[f])))
            return tl_fail(err, TL_BAD_ARG, "face %d: density %g kg/m^2, must be finite and > 0", f, face_density[f]);
    tl_parallel_for(workers, mesh->slots[TL_NODES].count, NODES_PER_CHUNK, mass_chunk,
                    &(mass_job){mesh, face_density, out});
    return TL_OK;
}

tl_status tl_mesh_node_areas(const tl_mesh *mesh, tl_workers *workers, double *out, tl_error *err)
{
    if (!out) return tl_fail(err, TL_BAD_ARG, "node_areas: out is NULL (%d nodes)", mesh->slots[TL_NODES].count);
    tl_parallel_for(workers, mesh->slots[TL_NODES].count, NODES_PER_CHUNK, mass_chunk, &(mass_job){mesh, NULL, out});
    return TL_OK;
}
