// mesh/mesh_query.h: who is next to whom; outlines; normals.
//
// Walks allocate nothing. "Around" means counter-clockwise seen from the front, from the first face of an
// open fan. Material walks stop at borders and seams; world walks stop at borders alone.
#pragma once
#include "mesh/mesh.h"

// ---- inside one face --------------------------------------------------------------------------------------

/// Corner 0..2 of the vertex / node / edge (the edge is opposite to it) in the face, TL_NONE if it is not
/// there.
static inline int32_t tl_face_corner_of_vert(const tl_mesh *mesh, int32_t f, int32_t v)
{
    const int32_t *w = mesh->face_vert[f];
    return w[0] == v ? 0 : w[1] == v ? 1 : w[2] == v ? 2 : TL_NONE;
}
int32_t tl_face_corner_of_node(const tl_mesh *mesh, int32_t f, int32_t n);
static inline int32_t tl_face_corner_of_edge(const tl_mesh *mesh, int32_t f, int32_t e)
{
    const int32_t *w = mesh->face_edge[f];
    return w[0] == e ? 0 : w[1] == e ? 1 : w[2] == e ? 2 : TL_NONE;
}
/// The corner after this one, and the one before.
static inline int32_t tl_corner_next(int32_t k) { return k == 2 ? 0 : k + 1; }
static inline int32_t tl_corner_last(int32_t k) { return k == 0 ? 2 : k - 1; }

// ---- edges ------------------------------------------------------------------------------------------------

/// What an edge is to remeshing; a seam may carry a label as well, and is a seam then.
typedef enum tl_edge_kind {
    TL_EDGE_PLAIN,
    TL_EDGE_FEATURE,  ///< labelled, or between faces of different labels
    TL_EDGE_SEAM,     ///< two faces that use different vertices on at least one end
    TL_EDGE_BORDER,   ///< one face
} tl_edge_kind;
static inline tl_edge_kind tl_mesh_edge_kind(const tl_mesh *mesh, int32_t e)
{
    const int32_t f = mesh->edge_face[e][0], g = mesh->edge_face[e][1];
    if (g == TL_NONE) return TL_EDGE_BORDER;
    const int32_t k = tl_face_corner_of_edge(mesh, f, e), m = tl_face_corner_of_edge(mesh, g, e);
    const int32_t *a = mesh->face_vert[f], *b = mesh->face_vert[g];
    if (a[tl_corner_next(k)] != b[tl_corner_last(m)] || a[tl_corner_last(k)] != b[tl_corner_next(m)])
        return TL_EDGE_SEAM;
    return mesh->edge_label[e] != 0 || mesh->face_label[f] != mesh->face_label[g] ? TL_EDGE_FEATURE : TL_EDGE_PLAIN;
}

/// The nodes that share a face with node `n`, in no order, and some of them twice: writes up to `max` and returns how
/// many there are.
int32_t tl_mesh_nodes_beside(const tl_mesh *mesh, int32_t n, int32_t *out, int32_t max);

/// The edge between two nodes, TL_NONE if there is none.
int32_t tl_mesh_find_edge(const tl_mesh *mesh, int32_t a, int32_t b);
static inline int32_t tl_edge_other(const tl_mesh *mesh, int32_t e, int32_t n)
{
    return mesh->edge_node[e][mesh->edge_node[e][0] == n];
}
/// The face across `e` from `f`, TL_NONE at a border.
static inline int32_t tl_edge_across(const tl_mesh *mesh, int32_t e, int32_t f)
{
    return mesh->edge_face[e][mesh->edge_face[e][0] == f];
}
/// The vertex of end `end` (0, 1) of the edge as the face on `side` sees it; TL_NONE without a face.
static inline int32_t tl_mesh_edge_vert(const tl_mesh *mesh, int32_t e, int side, int end)
{
    const int32_t f = mesh->edge_face[e][side];
    if (f == TL_NONE) return TL_NONE;
    // the face on side 0 runs node 0 -> node 1, the other one back
    const int32_t k = tl_face_corner_of_edge(mesh, f, e);
    return mesh->face_vert[f][side ^ end ? tl_corner_last(k) : tl_corner_next(k)];
}
/// The vertex opposite to the edge in the face on `side`; TL_NONE without a face.
static inline int32_t tl_mesh_opposite_vert(const tl_mesh *mesh, int32_t e, int side)
{
    const int32_t f = mesh->edge_face[e][side];
    return f == TL_NONE ? TL_NONE : mesh->face_vert[f][tl_face_corner_of_edge(mesh, f, e)];
}

// ---- around vertices and nodes ----------------------------------------------------------------------------

/// A walk over the faces of one vertex:
///   for (tl_fan fan = tl_fan_begin(mesh, v); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) ...
typedef struct tl_fan {
    int32_t face;    ///< where we are; TL_NONE past the end
    int32_t corner;  ///< of the vertex in `face`: the next node around is corner + 1, the edge to it corner + 2
    int32_t first;   ///< where we began
    bool closed;     ///< the fan goes all the way around
} tl_fan;
tl_fan tl_fan_begin(const tl_mesh *mesh, int32_t v);
void tl_fan_next(const tl_mesh *mesh, tl_fan *fan);
static inline int32_t tl_fan_edge_first(const tl_mesh *mesh, const tl_fan *fan)
{
    return mesh->face_edge[fan->face][tl_corner_last(fan->corner)];
}
static inline int32_t tl_fan_edge_last(const tl_mesh *mesh, const tl_fan *fan)
{
    return mesh->face_edge[fan->face][tl_corner_next(fan->corner)];
}

/// A walk over the edges of one node, each once, panel side by panel side.
typedef struct tl_spokes {
    int32_t edge, vert, start;
    tl_fan fan;
    bool tail;
} tl_spokes;
tl_spokes tl_spokes_begin(const tl_mesh *mesh, int32_t n);
void tl_spokes_next(const tl_mesh *mesh, tl_spokes *spokes);

/// Fill `out` with up to `max` ids in order around the node, across seams, fan after fan at a bow-tie.
/// Return how many there are, which may be more than `max`; `out` may be NULL when `max` is 0.
int32_t tl_mesh_node_faces(const tl_mesh *mesh, int32_t n, int32_t *out, int32_t max);
int32_t tl_mesh_node_edges(const tl_mesh *mesh, int32_t n, int32_t *out, int32_t max);
int32_t tl_mesh_node_nodes(const tl_mesh *mesh, int32_t n, int32_t *out, int32_t max);
int32_t tl_mesh_vert_faces(const tl_mesh *mesh, int32_t v, int32_t *out, int32_t max);

bool tl_mesh_node_on_border(const tl_mesh *mesh, int32_t n);
bool tl_mesh_node_on_seam(const tl_mesh *mesh, int32_t n);
/// The node has to stay for the sake of outlines and feature lines: they end, meet or turn here in
/// material space, or the node is a bow-tie.
bool tl_mesh_node_is_corner(const tl_mesh *mesh, int32_t n);

/// How the lines (borders, seams, features) at a node run: what corner test and collapse go by.
typedef enum tl_line_state { TL_LINE_NONE, TL_LINE_THROUGH, TL_LINE_BENT, TL_LINE_ENDS } tl_line_state;
/// NONE: no line, one fan. THROUGH, BENT: one line of one kind and label passes, its edges in `edge`;
/// straight or not in material space on every side. ENDS: anything else.
tl_line_state tl_mesh_node_line(const tl_mesh *mesh, int32_t n, int32_t edge[2]);

// ---- geometry ---------------------------------------------------------------------------------------------

double tl_mesh_area_uv(const tl_mesh *mesh);                              ///< all panels together [m^2]
tl_vec3 tl_mesh_node_normal(const tl_mesh *mesh, int32_t n);              ///< unit; as tl_mesh_node_normals gives it
double tl_mesh_edge_length_uv(const tl_mesh *mesh, int32_t e, int side);  ///< material [m]; 0 without a face

/// Unit normals in world space, from all faces around a node. `out` has one entry per slot; dead slots get zero.
/// `workers` may be NULL.
tl_status tl_mesh_node_normals(const tl_mesh *mesh, tl_workers *workers, tl_vec3 *out, tl_error *err);
