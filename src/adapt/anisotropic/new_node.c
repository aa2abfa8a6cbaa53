// adapt/anisotropic/new_node.c: where in the world a new node goes (Narain et al. 2012, Eq. 2).
//
// Minimises the squared distances to the tangent planes at neighbours, over their material distances, plus the squared
// strain of the faces around, linearised about the middle of the edge: a 3x3 system. Three changes:
// - The planes are those at the two ends of the edge. A point of a smooth surface lies off the tangent plane of a
// neighbour by half of
//   what the middle of the chord does: where the paper goes all the way to the planes, new nodes of a sphere stand out
//   by as much as the edge was sunk in. We go half the way, which is exact for quadratic surfaces, so a split does not
//   make a bump.
// - Where that strains the faces by much, it goes a part of the way or none: on the straight edge there is no strain
// that was not there.
// - The new node strays no further than a part of the length of its edge: normals at a crumpled place may be anything.

#include "adapt/anisotropic/remesh_impl.h"

/// Normal equations of a least-squares problem in three unknowns.
typedef struct quadric {
    double a[6], b[3];
} quadric;

// Adds (row . d - value)^2.
static void add_row(quadric *q, tl_vec3 row, double value)
{
    q->a[0] += row.x * row.x, q->a[1] += row.x * row.y, q->a[2] += row.x * row.z;
    q->a[3] += row.y * row.y, q->a[4] += row.y * row.z, q->a[5] += row.z * row.z;
    q->b[0] += row.x * value, q->b[1] += row.y * value, q->b[2] += row.z * value;
}

// Cramer's rule; zero where the system has no answer.
static tl_vec3 solve(const quadric *q)
{
    const tl_vec3 c0 = {q->a[0], q->a[1], q->a[2]}, c1 = {q->a[1], q->a[3], q->a[4]}, c2 = {q->a[2], q->a[4], q->a[5]};
    const tl_vec3 b = {q->b[0], q->b[1], q->b[2]};
    const double det = tl_dot3(c0, tl_cross3(c1, c2)), size = q->a[0] + q->a[3] + q->a[5];
    if (!(det > 1e-9 * size * size * size)) return (tl_vec3){0, 0, 0};
    return tl_mul3(1 / det, (tl_vec3){tl_dot3(b, tl_cross3(c1, c2)), tl_dot3(c0, tl_cross3(b, c2)),
                                      tl_dot3(c0, tl_cross3(c1, b))});
}

// Strain of the half face (new node m, p, q): eps = 1/2 (F^T F - 1), d eps = sym(g (F^T d)), g the gradient of m's
// basis function.
static void add_strain(quadric *out, tl_vec2 um, tl_vec2 up, tl_vec2 uq, tl_vec3 xm, tl_vec3 xp, tl_vec3 xq)
{
    const tl_vec2 d1 = tl_sub2(up, um), d2 = tl_sub2(uq, um);
    const double area2 = tl_cross2(d1, d2);
    if (!(fabs(area2) > 0)) return;
    const tl_vec2 gp = {d2.y / area2, -d2.x / area2}, gq = {-d1.y / area2, d1.x / area2};
    const tl_vec2 g = {-gp.x - gq.x, -gp.y - gq.y};
    const tl_vec3 e1 = tl_sub3(xp, xm), e2 = tl_sub3(xq, xm);
    const tl_vec3 f1 = tl_add3(tl_mul3(gp.x, e1), tl_mul3(gq.x, e2)),
                  f2 = tl_add3(tl_mul3(gp.y, e1), tl_mul3(gq.y, e2));
    add_row(out, tl_mul3(g.x, f1), -0.5 * (tl_dot3(f1, f1) - 1));
    add_row(out, tl_mul3(g.y, f2), -0.5 * (tl_dot3(f2, f2) - 1));
    add_row(out, tl_mul3(sqrt(0.5), tl_add3(tl_mul3(g.x, f2), tl_mul3(g.y, f1))), -sqrt(0.5) * tl_dot3(f1, f2));
}

// Does a node at x in the middle of the edge strain the faces around too much?
static bool strains(const remesher *r, int32_t e, tl_vec3 x, double *rise)
{
    const tl_mesh *mesh = r->mesh;
    strain_sum before = {0}, after = {0};
    for (int side = 0; side < 2 && mesh->edge_face[e][side] != TL_NONE; side++) {
        const int32_t v[3] = {tl_mesh_edge_vert(mesh, e, side, 0), tl_mesh_edge_vert(mesh, e, side, 1),
                              tl_mesh_opposite_vert(mesh, e, side)};
        const int32_t label = mesh->face_label[mesh->edge_face[e][side]];
        tl_vec2 u[3];
        tl_vec3 y[3];
        for (int k = 0; k < 3; k++) u[k] = mesh->uv[v[k]], y[k] = mesh->pos[mesh->vert_node[v[k]]];
        const tl_vec2 middle = tl_mul2(0.5, tl_add2(u[0], u[1]));
        remesh_add_strain(r, label, u, y, &before);
        for (int k = 0; k < 2; k++)
            remesh_add_strain(r, label, (tl_vec2[3]){u[k], middle, u[2]}, (tl_vec3[3]){y[k], x, y[2]}, &after);
    }
    *rise = after.energy - before.energy;
    return remesh_strains_too_much(r, &before, &after);
}

tl_vec3 remesh_place(const remesher *r, int32_t e, double *rise)
{
    const tl_mesh *mesh = r->mesh;
    const int32_t *n = mesh->edge_node[e];
    const tl_vec3 middle = tl_mul3(0.5, tl_add3(mesh->pos[n[0]], mesh->pos[n[1]]));
    const double length = tl_norm3(tl_sub3(mesh->pos[n[0]], mesh->pos[n[1]]));
    quadric q = {{0}, {0}};
    const double half = 0.5 * tl_mesh_edge_length_uv(mesh, e, 0);
    for (int end = 0; end < 2; end++) {
        const tl_vec3 normal = tl_mesh_node_normal(mesh, n[end]);
        const double off = tl_dot3(tl_sub3(middle, mesh->pos[n[end]]), normal);
        add_row(&q, tl_mul3(1 / half, normal), -0.5 * off / half);
    }
    for (int side = 0; side < 2 && mesh->edge_face[e][side] != TL_NONE; side++) {
        const int32_t a = tl_mesh_edge_vert(mesh, e, side, 0), b = tl_mesh_edge_vert(mesh, e, side, 1);
        const int32_t apex = tl_mesh_opposite_vert(mesh, e, side);
        const tl_vec2 um = tl_mul2(0.5, tl_add2(mesh->uv[a], mesh->uv[b]));
        const tl_vec3 x = mesh->pos[mesh->vert_node[apex]];
        add_strain(&q, um, mesh->uv[a], mesh->uv[apex], middle, mesh->pos[n[0]], x);
        add_strain(&q, um, mesh->uv[b], mesh->uv[apex], middle, mesh->pos[n[1]], x);
    }
    const tl_vec3 d = solve(&q);
    const double far = tl_norm3(d), most = r->policy->place_max * length;
    *rise = 0;
    if (!isfinite(far)) return middle;
    double part = far > most ? most / far : 1;
    enum { TRIES = 3 };
    for (int k = 0; k < TRIES; k++, part *= 0.5)
        if (!strains(r, e, tl_madd3(middle, part, d), rise)) return tl_madd3(middle, part, d);
    *rise = 0;
    return middle;
}
