// post/curved.h: an adaptive, curved surface over a coarse cloth that somebody else simulates (Simnett 2012, ch. 6).
//
// The faces of the coarse cloth are the base of edge trees (adapt/edge_trees). Every edge without a parent becomes a
// cubic curve: that of a PN triangle, bulged by how much the edge is pushed together; the vertices of its descendants
// lie on it. An edge is evaluated once for both sides, so there are no cracks, and base vertices stay where the coarse
// cloth has them. What decides about refining is of the coarse cloth alone (interpolated normals, lengths on the coarse
// faces), never of the curved surface: so nothing flickers, and the mesh is the same whatever the bulge.
//
// Reads a finished frame and never feeds back.
#pragma once
#include "base/workers.h"
#include "post/subdivide.h"

typedef struct tl_curved_def {
    int32_t levels;         ///< at most, 0 to 6: each makes four faces of one. Default 3.
    double bulge[4];        ///< K0 to K3 (Eq. 6.2.18): M = K0 + K1 C + K2 C^2 + K3 C^3. Default 0, 0.55, 0.55, 0.2.
    double compress;        ///< C = compress * rest length / length (Eq. 6.2.17). Default 1.
    double cap;             ///< M grows slower beyond this and stays below cap + 1, > 0. Default 2.
    int32_t uniform;        ///< 1: all edges are split to the last level. Default 0.
    double split_angle;     ///< [rad] between the normals of the ends of an edge that is split. Default 8 degrees.
    double join_angle;      ///< [rad] below which it is joined. Default 6 degrees.
    double split_length;    ///< length over rest length below which an edge is split. Default 0.96.
    double join_length;     ///< above which it is joined. Default 0.98.
    double level_factor;    ///< by which these two shrink per level (Eqs 6.2.20-21), (0, 1]. Default 0.98.
    int32_t rejoin_wait;    ///< updates between two attempts to join an edge, 0 to 255. Default 2.
    int32_t cull;           ///< 1: what faces away from `eye` is coarse. Default 0.
    tl_vec3 eye;            ///< [m]
    int32_t plain_normals;  ///< 1: normals to draw with are those interpolated along edges. Default 0.
} tl_curved_def;
tl_curved_def tl_curved_def_default(void);
tl_status tl_curved_check(const tl_curved_def *def, tl_error *err);

typedef struct tl_curved tl_curved;

/// Takes the faces and material coordinates of a coarse cloth; its positions come with each update. Refuses cloth
/// without material coordinates, and edges of three faces.
tl_status tl_curved_create(const tl_allocator *alloc, const tl_curved_def *def, const tl_fine_mesh *coarse,
                           tl_curved **out, tl_error *err);
void tl_curved_destroy(tl_curved *c);  ///< NULL is fine

/// Has a cloth the faces that this one was made of?
bool tl_curved_is_of(const tl_curved *c, const tl_fine_mesh *coarse);

/// Where the nodes of the coarse cloth are now; borrowed until the next call of this.
void tl_curved_follow(tl_curved *c, const tl_vec3 *pos);
/// One update of the hierarchy: a region gains or loses one level.
tl_status tl_curved_adapt(tl_curved *c, tl_workers *workers, tl_error *err);
/// The curved surface.
tl_status tl_curved_build(tl_curved *c, tl_error *err);
/// Normals to draw with, area-weighted on the finished surface unless `plain_normals` says otherwise.
tl_status tl_curved_shade(tl_curved *c, tl_error *err);

/// The surface. Borrowed until the next call with this cloth. Nodes of the coarse cloth come first, in their order.
typedef struct tl_curved_view {
    const tl_vec3 *pos, *flat;  ///< [m] on the curved surface, and the same point on the coarse face
    const tl_vec3 *normal;      ///< unit, to draw with (tl_curved_shade)
    const tl_vec3 *smooth;      ///< unit, interpolated: what curves are made of and criteria go by
    const int32_t (*face)[3];   ///< nodes
    const int32_t *source;      ///< face of the coarse cloth
    const uint8_t *level;       ///< of each face
    int32_t node_count, face_count;
} tl_curved_view;
tl_curved_view tl_curved_look(const tl_curved *c);

/// The same as a mesh of its own, with material coordinates. `start` (node_count entries, freed by the caller) gets the
/// flat surface, from which to move clear of everything (post/finish.h).
tl_status tl_curved_mesh(const tl_curved *c, tl_fine_mesh *out, tl_vec3 **start, tl_error *err);

// ---- parts, for tests -----------------------------------------------------------------------------------------

/// Four weights of the cubic Lagrange curve at t (Eq. 6.2.11, Table 6.1).
void tl_curved_weights(double t, double out[4]);
/// Bulge of an edge of this length (Eqs 6.2.17 to 6.2.19).
double tl_curved_bulge(const tl_curved_def *def, double rest, double length);
/// Control points L0 to L3 of an edge from a to b with unit normals (Eqs 6.2.12 to 6.2.16; docs/errata.md).
void tl_curved_controls(tl_vec3 a, tl_vec3 b, tl_vec3 normal_a, tl_vec3 normal_b, double bulge, tl_vec3 out[4]);
