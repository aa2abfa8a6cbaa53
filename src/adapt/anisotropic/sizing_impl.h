// adapt/anisotropic/sizing_impl.h: what the files of the sizing field share.
#pragma once
#include "adapt/anisotropic/sizing.h"

/// Sizing tensor and material area of a face slot.
typedef struct face_size {
    tl_sym2 m;
    double area;
} face_size;

/// Bounds on eigenvalues (Eq. 11 to 13).
typedef struct size_bounds {
    double low, high, aspect2;
} size_bounds;

static inline size_bounds sizing_bounds(const tl_sizing_def *def)
{
    return (size_bounds){1 / (def->size_max * def->size_max), 1 / (def->size_min * def->size_min),
                         def->aspect_min * def->aspect_min};
}

static inline tl_sym2 sizing_clamp(const size_bounds *b, tl_sym2 m)
{
    double from[2];
    tl_sym2_eigen(m, from);
    if (!(from[0] - from[1] < HUGE_VAL)) return (tl_sym2){b->high, 0, b->high};  // NaN and overflow as well
    double to[2];
    for (int k = 0; k < 2; k++) to[k] = from[k] < b->low ? b->low : from[k] > b->high ? b->high : from[k];
    if (to[1] < b->aspect2 * to[0]) to[1] = b->aspect2 * to[0];
    return tl_sym2_with(m, from, to);
}

/// The face after (turn 1) or before (turn 2) `f` around its corner k, across seams too; its corner goes to *corner.
/// TL_NONE at a border.
static inline int32_t sizing_turn(const tl_mesh *mesh, int32_t f, int32_t k, int turn, int32_t *corner)
{
    static const int8_t next[5] = {0, 1, 2, 0, 1};
    const int32_t e = mesh->face_edge[f][next[k + turn]];
    const int32_t g = mesh->edge_face[e][mesh->edge_face[e][0] == f];
    if (g == TL_NONE) return TL_NONE;
    const int32_t *edges = mesh->face_edge[g];
    const int32_t m = edges[0] == e ? 0 : edges[1] == e ? 1 : 2;
    *corner = next[m + turn];  // the two faces run along e in opposite directions
    return g;
}

/// A walk over the faces of one vertex, ahead from any of them, and if the fan is open back from there: faster than a
/// tl_fan, which looks for the first face before it starts.
typedef struct ring {
    int32_t vert, start, face, corner;  // `corner` is that of the vertex in `face`; `face` TL_NONE past the end
    int turn;
    bool seam;  // once at the end: the vertex lies on a seam
} ring;

static inline int32_t sizing_corner(const tl_mesh *mesh, int32_t f, int32_t v)
{
    const int32_t *w = mesh->face_vert[f];
    return w[0] == v ? 0 : w[1] == v ? 1 : 2;
}

static inline ring ring_begin(const tl_mesh *mesh, int32_t v)
{
    const int32_t f = mesh->vert_face[v];
    return (ring){v, f, f, sizing_corner(mesh, f, v), 1, false};
}

static inline void ring_next(const tl_mesh *mesh, ring *r)
{
    static const int8_t next[5] = {0, 1, 2, 0, 1};
    for (;;) {
        int32_t corner = 0;
        const int32_t far = mesh->face_vert[r->face][next[r->corner + 3 - r->turn]];
        const int32_t f = sizing_turn(mesh, r->face, r->corner, r->turn, &corner);
        if (f != TL_NONE) {
            const int32_t *w = mesh->face_vert[f];
            if (w[corner] == r->vert && w[next[corner + r->turn]] == far) {  // else the two only share nodes: a seam
                r->face = f == r->start ? TL_NONE : f, r->corner = corner;
                return;
            }
            r->seam = true;
        }
        if (r->turn == 2) break;
        r->turn = 2, r->face = r->start, r->corner = sizing_corner(mesh, r->start, r->vert);
    }
    r->face = TL_NONE;
}

/// Tensor of a vertex that lies on a seam or ends one: the mean over all faces of the sewn surface around its node.
tl_sym2 tl_sizing_at_seam(const tl_mesh *mesh, const face_size *face, int32_t v);

/// Unit normal of a face slot in world space (zero if folded flat), its weights in the normals of its nodes, material
/// area.
typedef struct face_shape {
    tl_vec3 normal;
    double weight[3], area;
} face_shape;
/// Unit normal of a node slot, and the material area of the faces around it; dead slots get zero.
typedef struct node_shape {
    tl_vec3 normal;
    double area;
} node_shape;
void tl_sizing_shapes(const tl_mesh *mesh, tl_workers *workers, face_shape *faces, node_shape *nodes);

/// Rates of turn [1/s] of the rigid motion nearest to that of each connected piece of cloth, one per panel;
/// out[panel_count].
tl_status tl_sizing_spins(const tl_mesh *mesh, const node_shape *nodes, tl_arena *arena, tl_vec3 *out, tl_error *err);
