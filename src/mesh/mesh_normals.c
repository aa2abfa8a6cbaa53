// mesh/mesh_normals.c: areas, and unit normals of nodes.
//
// n = unit(sum over corners of (a x b) / (|a|^2 |b|^2)), a and b the face's edges at the corner.   Max 1999
// Exact for points on a sphere. Every slot gathers from its own fan in stored order, so the bits agree on
// any number of workers. O(V + F), allocates nothing.

#include "base/fail.h"
#include "math/vec3.h"
#include "mesh/mesh_query.h"

enum { SLOTS_PER_CHUNK = 512 };  // a constant: results must not depend on the worker count

double tl_mesh_face_area_uv(const tl_mesh *mesh, int32_t f)
{
    const int32_t *v = mesh->face_vert[f];
    const tl_vec2 a = mesh->uv[v[0]];
    return 0.5 * tl_cross2(tl_sub2(mesh->uv[v[1]], a), tl_sub2(mesh->uv[v[2]], a));
}

bool tl_shape_ok(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const tl_vec2 ab = tl_sub2(b, a), bc = tl_sub2(c, b), ca = tl_sub2(a, c);
    const double longest = fmax(tl_dot2(ab, ab), fmax(tl_dot2(bc, bc), tl_dot2(ca, ca)));
    return 0.5 * tl_cross2(tl_sub2(b, a), tl_sub2(c, a)) > TL_MIN_SHAPE * longest;
}

double tl_mesh_area_uv(const tl_mesh *mesh)
{
    double sum = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f)) sum += tl_mesh_face_area_uv(mesh, f);
    return sum;
}

double tl_mesh_edge_length_uv(const tl_mesh *mesh, int32_t e, int side)
{
    const int32_t a = tl_mesh_edge_vert(mesh, e, side, 0);
    return a == TL_NONE ? 0 : tl_norm2(tl_sub2(mesh->uv[tl_mesh_edge_vert(mesh, e, side, 1)], mesh->uv[a]));
}

static tl_vec3 fan_normal(const tl_mesh *mesh, int32_t v, tl_vec3 sum)
{
    for (tl_fan fan = tl_fan_begin(mesh, v); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
        const tl_vec3 x = mesh->pos[mesh->vert_node[v]];
        const tl_vec3 a = tl_sub3(mesh->pos[tl_face_node(mesh, fan.face, (fan.corner + 1) % 3)], x);
        const tl_vec3 b = tl_sub3(mesh->pos[tl_face_node(mesh, fan.face, (fan.corner + 2) % 3)], x);
        const double weight = tl_dot3(a, a) * tl_dot3(b, b);
        if (weight > 0) sum = tl_madd3(sum, 1 / weight, tl_cross3(a, b));  // zero: two nodes in one place
    }
    return sum;
}

static const tl_vec3 any_unit = {0, 1, 0};  // folded flat: any unit vector serves

tl_vec3 tl_mesh_node_normal(const tl_mesh *mesh, int32_t n)
{
    tl_vec3 sum = {0};
    int32_t v = mesh->node_vert[n];
    do {
        sum = fan_normal(mesh, v, sum);
        v = mesh->vert_next[v];
    } while (v != mesh->node_vert[n]);
    return tl_unit3_or(sum, any_unit);
}

typedef struct normals_job {
    const tl_mesh *mesh;
    tl_vec3 *out;
} normals_job;

static void node_chunk(void *arg, int32_t begin, int32_t end)
{
    const normals_job *job = arg;
    const tl_mesh *mesh = job->mesh;
    for (int32_t n = begin; n < end; n++) {
        job->out[n] = (tl_vec3){0};
        if (!tl_alive(mesh, TL_NODES, n)) continue;
        job->out[n] = tl_mesh_node_normal(mesh, n);
    }
}

tl_status tl_mesh_node_normals(const tl_mesh *mesh, tl_workers *workers, tl_vec3 *out, tl_error *err)
{
    const int32_t count = mesh->slots[TL_NODES].count;
    if (!out) return tl_fail(err, TL_BAD_ARG, "node_normals: out is NULL (%d nodes)", count);
    tl_parallel_for(workers, count, SLOTS_PER_CHUNK, node_chunk, &(normals_job){mesh, out});
    return TL_OK;
}
