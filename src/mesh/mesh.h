// mesh/mesh.h: a triangle mesh in two spaces: world nodes (3D) and material vertices (2D, per panel).
//
// A node has one position, velocity and mass; a vertex is a point of a flat panel and names the node that
// carries it. Along a seam two vertices of two panels (or of one, at a dart) name the same node.
// Faces join vertices; edges join nodes and know the one or two faces beside them, so a seam edge has two
// faces whose vertices differ. Everything lives in slots: an id is a slot, stable while the element lives;
// freed slots are reused last-in first-out; sweeps go in id order and skip the dead.
//
// Invariants (tl_mesh_check walks them all):
//   - two nodes share at most one edge, three nodes at most one face; an edge has one or two faces, which
//     run along it in opposite directions; at a border the face is on side 0;
//   - the faces of a VERTEX form one fan joined by edges. A NODE may carry several fans (a bow-tie, a seam,
//     two panels that touch in a point), each with vertices of its own;
//   - every face is counter-clockwise in material space, with a shape above TL_MIN_SHAPE.
#pragma once
#include <stdbool.h>

#include "base/workers.h"
#include "toile/base.h"

enum { TL_NONE = -1 };

typedef enum tl_domain { TL_NODES, TL_VERTS, TL_EDGES, TL_FACES, TL_DOMAIN_COUNT } tl_domain;

/// What becomes of an attribute when an element is made from, or melts into, others.
typedef enum tl_attr_rule {
    TL_ATTR_MEAN,      ///< split: mean of the parents; collapse: survivor keeps its own
    TL_ATTR_COPY,      ///< split: copy of the first parent; collapse: survivor keeps its own
    TL_ATTR_CONSERVE,  ///< doubles: split by share of material area, collapse adds up: the total stays
    TL_ATTR_ZERO,      ///< new elements start at zero
    TL_ATTR_BOTH,      ///< ints: split: the bits that both parents have; collapse: survivor keeps its own
} tl_attr_rule;

typedef enum tl_attr_type { TL_DOUBLE, TL_INT32 } tl_attr_type;

typedef struct tl_attr {
    char name[32];
    tl_attr_type type;
    int32_t width;  ///< numbers per element
    tl_attr_rule rule;
    void *data;  ///< double or int32_t [capacity * width]; moves when the mesh grows
} tl_attr;

enum { TL_MAX_ATTRS = 16 };  // per domain

/// The slots of one kind of element.
typedef struct tl_slots {
    int32_t count;       ///< slots in use or freed: sweep 0 .. count-1
    int32_t capacity;    ///< slots with memory
    int32_t live;        ///< living elements
    int32_t free_top;    ///< last freed slot or TL_NONE; the free list runs through `next_free`
    int32_t *next_free;  ///< [capacity]; TL_ALIVE for a living slot, else the next free slot or TL_NONE
    tl_attr attrs[TL_MAX_ATTRS];
    int32_t attr_count;
} tl_slots;

enum { TL_ALIVE = -2 };

typedef struct tl_edit_log tl_edit_log;

typedef struct tl_mesh {
    tl_allocator alloc;
    tl_slots slots[TL_DOMAIN_COUNT];
    // nodes
    tl_vec3 *pos;         ///< world position [m]
    tl_vec3 *vel;         ///< velocity [m/s]
    int32_t *node_vert;   ///< one of the vertices on the node, TL_NONE if isolated
    int32_t *node_label;  ///< user label, 0 = none
    // vertices
    tl_vec2 *uv;         ///< material position [m]
    int32_t *vert_node;  ///< the node that carries it
    int32_t *vert_next;  ///< next vertex of the same node, a ring (itself if alone)
    int32_t *vert_face;  ///< one face that uses it, TL_NONE if none
    // edges
    int32_t (*edge_node)[2];
    int32_t (*edge_face)[2];  ///< face on the left of node 0 -> node 1, and on the right; TL_NONE at a border
    int32_t *edge_label;      ///< nonzero: a feature line, never flipped, collapsed only along itself
    double *edge_rest;        ///< rest angle [rad]
    // faces
    int32_t (*face_vert)[3];  ///< counter-clockwise seen from the front
    int32_t (*face_edge)[3];  ///< edge k is opposite to vertex k
    int32_t *face_label;      ///< material index of the face
    int32_t *face_panel;      ///< connected chart in material space
    int32_t panel_count;
    tl_edit_log *log;  ///< NULL unless edits are being recorded
    int32_t *scratch;  ///< rings gathered during an edit; nobody else's business
    int32_t scratch_cap;
} tl_mesh;

static inline bool tl_alive(const tl_mesh *mesh, tl_domain domain, int32_t id)
{
    return mesh->slots[domain].next_free[id] == TL_ALIVE;
}
static inline int32_t tl_face_node(const tl_mesh *mesh, int32_t f, int corner)
{
    return mesh->vert_node[mesh->face_vert[f][corner]];
}

/// Plain arrays to build from. `vert_node` NULL: vertex i lies on node i. All borrowed for the call.
typedef struct tl_mesh_def {
    int32_t node_count, vert_count, face_count;
    const tl_vec3 *pos;
    const tl_vec3 *vel;  ///< NULL: at rest
    const tl_vec2 *uv;
    const int32_t *vert_node;
    const int32_t (*face_vert)[3];
    const int32_t *face_label;  ///< NULL: 0
    const int32_t *node_label;  ///< NULL: 0
} tl_mesh_def;

/// A face must have a material area above this times its longest edge squared [1]. Far below any useful
/// triangle, and far above what rounding makes of a straight one a few metres from the origin.
#define TL_MIN_SHAPE 1e-10

/// Checks and builds. Errors name the element: index out of range, not finite, zero material area,
/// duplicate face, edge with three faces, neighbours of opposite orientation (flipped), isolated node or
/// vertex, clockwise in material space (one face, or a whole panel that is drawn mirrored), a vertex
/// whose faces form two fans (give each fan its own vertex on the same node: bow-tie nodes are fine,
/// bow-tie vertices are not). Ids: nodes, vertices and faces keep their place in the arrays; edges are
/// numbered in the order the faces first use them, and run the way that face does; panels by their lowest
/// face.
tl_status tl_mesh_create(const tl_allocator *alloc, const tl_mesh_def *def, tl_mesh **out, tl_error *err);
void tl_mesh_destroy(tl_mesh *mesh);

/// Full consistency check: links both ways, orientation, rings, free lists, positive material areas, finite
/// values, rest angles. TL_FAILED with the first fault.
tl_status tl_mesh_check(const tl_mesh *mesh, tl_error *err);

double tl_mesh_face_area_uv(const tl_mesh *mesh, int32_t f);  ///< signed, material [m^2]

/// Counter-clockwise and not a needle: see TL_MIN_SHAPE.
bool tl_shape_ok(tl_vec2 a, tl_vec2 b, tl_vec2 c);

/// Every bit of the mesh, dead slots and free lists included: equal hashes, equal meshes, down to the ids
/// that the next edits will hand out. Scratch, capacities and the edit log do not count.
uint64_t tl_mesh_hash(const tl_mesh *mesh);

typedef struct tl_count_report {
    int32_t node, vert, edge, face, border_edge, seam_edge;
} tl_count_report;

/// Living elements; edges that are borders and seams among them.
tl_count_report tl_mesh_counts(const tl_mesh *mesh);
