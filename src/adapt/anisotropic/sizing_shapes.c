// adapt/anisotropic/sizing_shapes.c: normals and areas of the nodes, in one walk.
//
// The normals are those of mesh_normals.c (Max 1999) to rounding. A sweep over faces computes one cross product, the
// three corner weights and the area; then every node gathers from its own faces: half the time of starting from
// positions at each corner.

#include "adapt/anisotropic/sizing_impl.h"

enum { SLOTS_PER_CHUNK = 512 };  // a constant: results must not depend on the worker count

typedef struct shapes_job {
    const tl_mesh *mesh;
    face_shape *face;
    node_shape *out;
} shapes_job;

static double inverse_or_zero(double x) { return x > 0 ? 1 / x : 0; }  // zero: two nodes in one place

static face_shape shape_of_face(const tl_mesh *mesh, int32_t f)
{
    const int32_t *v = mesh->face_vert[f];
    const tl_vec3 x = mesh->pos[mesh->vert_node[v[0]]], y = mesh->pos[mesh->vert_node[v[1]]],
                  z = mesh->pos[mesh->vert_node[v[2]]];
    const tl_vec3 a = tl_sub3(z, y), b = tl_sub3(x, z), c = tl_sub3(y, x);  // opposite to corners 0, 1, 2
    const double aa = tl_dot3(a, a), bb = tl_dot3(b, b), cc = tl_dot3(c, c);
    const tl_vec3 cross = tl_cross3(c, tl_sub3(z, x));
    const double size = tl_norm3(cross);
    return (face_shape){
        tl_mul3(inverse_or_zero(size), cross),
        {size * inverse_or_zero(bb * cc), size * inverse_or_zero(cc * aa), size * inverse_or_zero(aa * bb)},
        0.5 * tl_cross2(tl_sub2(mesh->uv[v[1]], mesh->uv[v[0]]), tl_sub2(mesh->uv[v[2]], mesh->uv[v[0]]))};
}

static void face_chunk(void *arg, int32_t begin, int32_t end)
{
    const shapes_job *job = arg;
    for (int32_t f = begin; f < end; f++)
        if (tl_alive(job->mesh, TL_FACES, f)) job->face[f] = shape_of_face(job->mesh, f);
}

static node_shape shape_of_node(const shapes_job *job, int32_t n)
{
    const tl_mesh *mesh = job->mesh;
    node_shape s = {{0}, 0};
    int32_t v = mesh->node_vert[n];
    do {
        for (ring r = ring_begin(mesh, v); r.face != TL_NONE; ring_next(mesh, &r)) {
            const face_shape *f = &job->face[r.face];
            s.normal = tl_madd3(s.normal, f->weight[r.corner], f->normal);
            s.area += f->area;
        }
        v = mesh->vert_next[v];
    } while (v != mesh->node_vert[n]);
    s.normal = tl_unit3_or(s.normal, (tl_vec3){0, 1, 0});  // folded flat: any unit vector serves
    return s;
}

static void node_chunk(void *arg, int32_t begin, int32_t end)
{
    const shapes_job *job = arg;
    for (int32_t n = begin; n < end; n++)
        job->out[n] = tl_alive(job->mesh, TL_NODES, n) ? shape_of_node(job, n) : (node_shape){{0}, 0};
}

void tl_sizing_shapes(const tl_mesh *mesh, tl_workers *workers, face_shape *faces, node_shape *nodes)
{
    shapes_job job = {mesh, faces, nodes};
    tl_parallel_for(workers, mesh->slots[TL_FACES].count, SLOTS_PER_CHUNK, face_chunk, &job);
    tl_parallel_for(workers, mesh->slots[TL_NODES].count, SLOTS_PER_CHUNK, node_chunk, &job);
}
