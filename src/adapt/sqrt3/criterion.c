// adapt/sqrt3/criterion.c: which triangles are too large: the error of a chord from discrete mean curvature.
//
// Mean curvature normal at a node (Meyer et al. 2003, Eq. 8), A its mixed Voronoi cell:
//     2 H n = 1 / (2 A) sum over edges of (cot alpha + cot beta) (x - x_j)
// At a border the sum lacks the way around outside, which lies in the tangent plane: there the part along the normal is
// taken, which is the curvature along the border. That across is seen by the nodes inside. Cloth bends about one axis
// at a time, so its curvature is 2 H, and a chord of length l is off by 2 |H| l^2 / 8.

#include <math.h>

#include "adapt/sqrt3/follow.h"
#include "adapt/sqrt3/hierarchy_impl.h"
#include "base/fail.h"

/// Sums over the faces around a node.
typedef struct cell {
    tl_vec3 bend, normal;
    double area;
} cell;

static double cotangent(tl_vec3 u, tl_vec3 v)
{
    const double sine = tl_norm3(tl_cross3(u, v)), cosine = tl_dot3(u, v);
    const double most = 1e3;  // an angle of 0.06 degrees
    return fabs(cosine) < most * sine ? cosine / sine : cosine > 0 ? most : -most;
}

// Adds a face to the cells of its corners. Mixed areas: Meyer et al. 2003, Fig. 4.
static void add_face(const tl_mesh *mesh, int32_t f, cell *cells)
{
    tl_vec3 x[3];
    int32_t n[3];
    double cot[3];
    for (int k = 0; k < 3; k++) n[k] = tl_face_node(mesh, f, k), x[k] = mesh->pos[n[k]];
    for (int k = 0; k < 3; k++) cot[k] = cotangent(tl_sub3(x[(k + 1) % 3], x[k]), tl_sub3(x[(k + 2) % 3], x[k]));
    const tl_vec3 twice = tl_cross3(tl_sub3(x[1], x[0]), tl_sub3(x[2], x[0]));
    const double area = 0.5 * tl_norm3(twice);
    const int obtuse = cot[0] < 0 ? 0 : cot[1] < 0 ? 1 : cot[2] < 0 ? 2 : -1;
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        const tl_vec3 to_p = tl_sub3(x[k], x[p]), to_q = tl_sub3(x[k], x[q]);
        cell *c = &cells[n[k]];
        c->bend = tl_add3(c->bend, tl_add3(tl_mul3(cot[q], to_p), tl_mul3(cot[p], to_q)));
        c->normal = tl_add3(c->normal, twice);
        if (obtuse < 0)
            c->area += (cot[q] * tl_dot3(to_p, to_p) + cot[p] * tl_dot3(to_q, to_q)) / 8;
        else
            c->area += obtuse == k ? area / 2 : area / 4;
    }
}

tl_status sqrt3_measure_bend(sqrt3_state *s, const tl_mesh *mesh, tl_arena *arena, tl_error *err)
{
    TL_TRY(sqrt3_keep_up(s, 0, err));
    const int32_t nodes = mesh->slots[TL_NODES].count;
    cell *cells = TL_SCRATCH(arena, cell, nodes);
    uint8_t *border = TL_SCRATCH(arena, uint8_t, nodes);
    if (!cells || !border) return tl_fail_memory(err, "curvature");
    for (int32_t n = 0; n < nodes; n++) cells[n] = (cell){{0, 0, 0}, {0, 0, 0}, 0}, border[n] = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f)) add_face(mesh, f, cells);
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++)
        if (tl_alive(mesh, TL_EDGES, e) && mesh->edge_face[e][1] == TL_NONE)
            border[mesh->edge_node[e][0]] = border[mesh->edge_node[e][1]] = 1;
    const int32_t slots = tl_sqrt3_vert_slots(s->h);
    for (int32_t v = 0; v < slots; v++) {
        s->bend[v] = 0;
        if (s->vert[v] == TL_NONE) continue;
        const int32_t n = mesh->vert_node[s->vert[v]];
        const cell *c = &cells[n];
        if (!(c->area > 0)) continue;
        const tl_vec3 normal = tl_unit3_or(c->normal, (tl_vec3){0, 0, 0});
        s->bend[v] = (border[n] ? fabs(tl_dot3(c->bend, normal)) : tl_norm3(c->bend)) / (2 * c->area);
    }
    return TL_OK;
}

double sqrt3_longest(const sqrt3_state *s, int32_t layer, int32_t tri)
{
    const tl_sqrt3_tri *t = tl_sqrt3_at(s->h, layer, tri);
    const tl_sqrt3_vert *v = tl_sqrt3_verts(s->h);
    double most2 = 0;
    for (int k = 0; k < 3; k++) {
        const tl_vec2 d = tl_sub2(v[t->vert[(k + 1) % 3]].uv, v[t->vert[k]].uv);
        most2 = high(most2, tl_dot2(d, d));
    }
    return sqrt(most2);
}

// Longest edge by a tensor of other criteria; corners that are not in the mesh have no say.
static double size_by_field(const sqrt3_state *s, const tl_mesh *mesh, const tl_sqrt3_tri *t, int32_t attr)
{
    const tl_sym2 *field = (const tl_sym2 *)tl_mesh_attr_doubles(mesh, TL_VERTS, attr);
    const tl_sqrt3_vert *v = tl_sqrt3_verts(s->h);
    double most2 = 0;
    for (int k = 0; k < 3; k++) {
        const int32_t a = t->vert[k], b = t->vert[(k + 1) % 3];
        const tl_vec2 d = tl_sub2(v[b].uv, v[a].uv);
        double sum = 0;
        int count = 0;
        for (int end = 0; end < 2; end++) {
            const int32_t m = s->vert[end ? b : a];
            if (m != TL_NONE) sum += tl_sym2_form(field[m], d), count++;
        }
        if (count > 0) most2 = high(most2, sum / count);
    }
    return sqrt(most2);
}

double sqrt3_size(const sqrt3_state *s, const tl_mesh *mesh, const sqrt3_criterion *c, int32_t layer, int32_t tri)
{
    const tl_sqrt3_tri *t = tl_sqrt3_at(s->h, layer, tri);
    const double length = sqrt3_longest(s, layer, tri);
    double bend = 0;
    for (int k = 0; k < 3; k++) bend = high(bend, s->bend[t->vert[k]]);
    if (t->centre != TL_SQRT3_NONE) bend = high(bend, s->bend[t->centre]);  // a crease in the middle
    double size = length * sqrt(bend / (8 * c->error));
    size = high(size, length / c->size_max);
    if (c->field != TL_NONE) size = high(size, size_by_field(s, mesh, t, c->field));
    // the edges of children are shorter by sqrt(3)
    return low(size, length / (1.7320508075688772 * c->size_min));
}
