// adapt/anisotropic/sizing_spin.c: the rigid motion of each piece of cloth, so that turning as a whole asks for no
// refinement.
//
// Rate of turn w of the rigid motion nearest to the velocities in the sense of least squares, over nodes weighted with
// the material area around them:  I w = sum m r x v,  I = sum m (|r|^2 1 - r r^T),  r from the mean position. Serial,
// in the order of ids: the same bits on any number of workers.

#include "base/fail.h"
#include "adapt/anisotropic/sizing_impl.h"

#define FLAT_INERTIA 1e-12  // of the trace, added to the diagonal: cloth drawn into a line has no inertia about it

typedef struct piece {
    double mass;
    tl_vec3 centre, momentum;       // sums of m x, m v, from the first node
    tl_vec3 turn;                   // sum of m r x v
    double xx, yy, zz, xy, xz, yz;  // sums of m r r^T
    tl_vec3 origin;                 // a node of the piece: sums far from the world's origin lose nothing
} piece;

static int32_t root_of(int32_t *parent, int32_t p)
{
    while (parent[p] != p) p = parent[p] = parent[parent[p]];
    return p;
}

// Panels with a common node are one piece.
static void join_panels(const tl_mesh *mesh, int32_t *parent)
{
    for (int32_t p = 0; p < mesh->panel_count; p++) parent[p] = p;
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) {
        if (!tl_alive(mesh, TL_VERTS, v) || mesh->vert_next[v] == v) continue;
        const int32_t a = root_of(parent, mesh->face_panel[mesh->vert_face[v]]);
        const int32_t b = root_of(parent, mesh->face_panel[mesh->vert_face[mesh->vert_next[v]]]);
        if (a < b)
            parent[b] = a;
        else
            parent[a] = b;
    }
    for (int32_t p = 0; p < mesh->panel_count; p++) parent[p] = root_of(parent, p);
}

static void add_node(piece *s, double m, tl_vec3 x, tl_vec3 v)
{
    const tl_vec3 r = tl_sub3(x, s->origin);
    s->centre = tl_madd3(s->centre, m, r);
    s->momentum = tl_madd3(s->momentum, m, v);
    s->turn = tl_madd3(s->turn, m, tl_cross3(r, v));
    s->xx += m * r.x * r.x, s->yy += m * r.y * r.y, s->zz += m * r.z * r.z;
    s->xy += m * r.x * r.y, s->xz += m * r.x * r.z, s->yz += m * r.y * r.z;
}

// Symmetric positive definite 3x3, by cofactors.
static tl_vec3 solve3(double a, double b, double c, double d, double e, double f, tl_vec3 r)
{
    const double A = d * f - e * e, B = c * e - b * f, C = b * e - c * d;  // rows (a b c), (b d e), (c e f)
    const double D = a * f - c * c, E = b * c - a * e, F = a * d - b * b;
    const double det = a * A + b * B + c * C;
    if (!(det > 0)) return (tl_vec3){0};
    return (tl_vec3){(A * r.x + B * r.y + C * r.z) / det, (B * r.x + D * r.y + E * r.z) / det,
                     (C * r.x + E * r.y + F * r.z) / det};
}

static tl_vec3 spin_of(const piece *s)
{
    if (!(s->mass > 0)) return (tl_vec3){0};
    const tl_vec3 c = tl_mul3(1 / s->mass, s->centre);
    const tl_vec3 turn = tl_sub3(s->turn, tl_cross3(c, s->momentum));
    const double xx = s->xx - s->mass * c.x * c.x, yy = s->yy - s->mass * c.y * c.y, zz = s->zz - s->mass * c.z * c.z;
    const double xy = s->xy - s->mass * c.x * c.y, xz = s->xz - s->mass * c.x * c.z, yz = s->yz - s->mass * c.y * c.z;
    const double more = FLAT_INERTIA * (xx + yy + zz);
    return solve3(yy + zz + more, -xy, -xz, xx + zz + more, -yz, xx + yy + more, turn);
}

tl_status tl_sizing_spins(const tl_mesh *mesh, const node_shape *nodes, tl_arena *arena, tl_vec3 *out, tl_error *err)
{
    int32_t *root = TL_SCRATCH(arena, int32_t, mesh->panel_count);
    piece *pieces = TL_SCRATCH(arena, piece, mesh->panel_count);
    if (!root || !pieces) return tl_fail_memory(err, "the sizing field");
    join_panels(mesh, root);
    for (int32_t p = 0; p < mesh->panel_count; p++) pieces[p] = (piece){0};
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        if (!tl_alive(mesh, TL_NODES, n)) continue;
        piece *s = &pieces[root[mesh->face_panel[mesh->vert_face[mesh->node_vert[n]]]]];
        if (s->mass == 0) s->origin = mesh->pos[n];
        s->mass += nodes[n].area;
        add_node(s, nodes[n].area, mesh->pos[n], mesh->vel[n]);
    }
    for (int32_t p = 0; p < mesh->panel_count; p++)
        if (root[p] == p)
            out[p] = spin_of(&pieces[p]);
        else
            out[p] = out[root[p]];  // roots are the lowest of their piece
    return TL_OK;
}
