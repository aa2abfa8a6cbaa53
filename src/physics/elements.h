// physics/elements.h: the meshes of all cloths compiled into flat arrays that the force loops run over.
//
// Nodes get one global number over all cloths, in the order in which spatially sorted faces first touch them;
// faces are cut into chunks of constant size, and chunks are coloured so that two of one colour share no node:
// they may run at once, and the order of every sum is fixed whatever the number of workers.
//
// Bending: a hinge is an interior edge; folds of faces are linear in the angles of hinges (bend.h). The matrix couples
// the six nodes of a patch: a face and the far corners of the three faces beside it.
#pragma once
#include "base/arena.h"
#include "math/solver.h"
#include "mesh/mesh.h"
#include "mesh/mesh_mass.h"
#include "physics/fabric.h"
#include "toile/dynamics.h"

enum { TL_CHUNK_FACES = 128, TL_PATCH_NODES = 6, TL_PATCH_BLOCKS = 21, TL_PATCH_PAIRS = 15 };

/// A border edge: its fold is extrapolated from hinges nearby.
enum { TL_BORDER_HINGES = 8 };
typedef struct tl_border {
    int32_t face, place;  ///< edge opposite corner `place` of `face`
    int32_t count;
    int32_t hinge[TL_BORDER_HINGES];
    double beta[TL_BORDER_HINGES];
} tl_border;

/// An edge of a face in material space: its direction and length, and where the corner opposite lies over it, along and
/// above.
typedef struct tl_side {
    tl_vec2 t;
    double l, y, h;
} tl_side;

/// Stiffness and shares are kept in single precision: energy and gradient use the same numbers, so nothing is lost.
typedef struct tl_elements {
    tl_allocator alloc;
    // where things came from
    int32_t cloth_count;
    const tl_mesh **mesh;       ///< [cloth_count], borrowed
    int32_t *cloth_node_start;  ///< [cloth_count + 1] into node_of: slots of all meshes one after another
    int32_t *cloth_face_start;  ///< [cloth_count + 1] into face_of
    int32_t *node_of;           ///< global number of a node slot, TL_NONE if dead
    int32_t *face_of;           ///< global number of a face slot, TL_NONE if dead
    int32_t *slot_of_node;      ///< inverse of node_of
    int32_t *slot_of_face;      ///< inverse of face_of
    // nodes
    int32_t node_count;
    double *mass;    ///< [kg]
    uint8_t *fixed;  ///< driven by a handle
    // faces
    int32_t face_count;
    int32_t (*face)[TL_PATCH_NODES];  ///< corners 0..2, then the far node across the edge opposite corner 0..2 (own
                                      ///< corner if none)
    int32_t (*face_hinge)[3];         ///< hinge opposite corner k; at a border ~i of border i (negative)
    double (*grad)[4];                ///< gradients of the basis functions of corners 1 and 2: (g1x, g1y, g2x, g2y)
    double *area;                     ///< material area [m^2]
    int32_t *material;
    tl_side (*side)[3];      ///< edges opposite corners 0..2; NULL but while bending shapes are made
    double (*fit)[3][3];     ///< curvature (S11, S22, S12) per angle of the face's own hinges, for bend_own; NULL with
                             ///< plain hinges
    double (*stretch)[4];    ///< c11, c12, c22, c33 held over the step
    float (*bend)[6];        ///< energy = 1/2 fold^T H fold, H as (00, 11, 22, 12, 02, 01)
    float (*bend_own)[6];    ///< the same over the angles of the face's own hinges, for the Hessian
    double (*fold)[3];       ///< current folds, work array
    double (*fold_rate)[3];  ///< folds of angle - angle_hat, only with internal damping
    int32_t (*slot)[TL_PATCH_PAIRS];  ///< matrix block of each pair of different patch nodes (see below)
    float (*wind)[3];                 ///< area times normal at the start of the step
    float (*eddy)[3];                 ///< turbulence at the centre then [m/s]
    double (*strain_hat)[3];          ///< strain extrapolated from the past, only with internal damping
    // hinges
    int32_t hinge_count;
    int32_t (*hinge)[4];        ///< edge nodes a, b; far node of the face left of a -> b; far node right of it
    int32_t (*hinge_face)[2];   ///< left, right
    uint8_t (*hinge_place)[2];  ///< which edge of those faces
    int32_t (*near_hinge)[4];   ///< the other hinges of those two faces, TL_NONE at borders
    float (*beta)[5];           ///< fold of the left face per angle of the hinge itself and of near_hinge
    uint8_t (*back)[4];         ///< place of this hinge among the near hinges of near_hinge[j], 4: not there
    double *rest;               ///< rest angle [rad]
    double *angle;              ///< current angle, work array
    double *moment;             ///< current moment, work array
    double *angle_hat;          ///< angle extrapolated from the past, only with internal damping
    // borders
    int32_t border_count;
    tl_border *border;
    // chunks and colours
    int32_t chunk_count;
    int32_t color_count;
    int32_t *color_start;  ///< [color_count + 1] into color_chunk
    int32_t *color_chunk;  ///< chunk numbers, colour by colour
    // fabrics
    int32_t material_count;
    tl_material *materials;
    bool nonlinear;  ///< some fabric's stiffness must be looked up every step
    bool damped;     ///< some fabric has internal damping
    tl_bending bending;
    const struct tl_touched *touched;  ///< NULL: everything may move (touched.h)
} tl_elements;

/// One cloth to compile: its mesh and its fabrics by face label, borrowed as long as the elements live (mesh) or
/// for the call (materials).
typedef struct tl_element_source {
    const tl_mesh *mesh;
    const tl_material *materials;
    int32_t material_count;
    tl_lumping lumping;  ///< of masses
} tl_element_source;

tl_status tl_elements_create(const tl_allocator *alloc, const tl_element_source *sources, int32_t source_count,
                             tl_bending bending, tl_workers *workers, tl_elements **out, tl_error *err);
void tl_elements_destroy(tl_elements *elements);

/// The matrix pattern, and the slots of every patch in it. `single`: storage of the matrix (math/solver.h).
tl_status tl_elements_matrix(tl_elements *elements, bool single, tl_arena *scratch, tl_workers *workers, tl_bsr **out,
                             tl_error *err);

/// Nodes that handles drive in the next step: every one of them is marked, then the marks become `fixed`. True if the
/// set is another than before.
void tl_elements_mark_fixed(tl_elements *elements, int32_t node);
bool tl_elements_take_marks(tl_elements *elements);

/// From now on only the nodes in `touched` move (touched.h), borrowed; NULL: all of them may.
void tl_elements_touch(tl_elements *elements, const struct tl_touched *touched);

/// A slot is 4 * block + how: as is, transposed, or, for a node that appears twice in a patch, a diagonal block that
/// gets the block and its transpose. -1: the pair does not exist.
enum { TL_SLOT_PLAIN, TL_SLOT_TRANSPOSED, TL_SLOT_BOTH };

/// Place of pair (a, b), a < b, in the list of pairs of the six patch nodes.
static inline int tl_patch_pair(int a, int b) { return a * (2 * TL_PATCH_NODES - 1 - a) / 2 + (b - a - 1); }
