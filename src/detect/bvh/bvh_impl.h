// detect/bvh/bvh_impl.h: the tree from inside, for bvh*.c only.
//
// A volume is an axes-parallel box, stored as six supports s_d = min over its contents of d.x, for the six axis
// directions d in opposite pairs (opp(d) = d + 3 mod 6): lo.x lo.y lo.z -hi.x -hi.y -hi.z. So a union is a plain
// minimum, and A and B overlap iff B_d <= -A_opp(d) for every d. Supports are floats rounded down, that is outwards.
//
// Children of a node are lanes of its arrays (row d of node n: volume + (n rows + d) arity), so one volume meets all
// children at once. Nodes are stored level by level. Every node and edge of the surface belongs to one leaf, that of a
// face that has it; a leaf keeps the boxes of its faces, edges and nodes by eights, as six rows each, padded with boxes
// that meet nothing (all +inf).
//
// For relative motion everything has two boxes, at x0 and at x1: twelve rows, six of each. A and B may meet iff for
// every d of the six B_d <= -A_opp(d) at x0 or at x1 (bvh.h says why). Again nothing but minima and comparisons of
// rounded coordinates, so rounding is as harmless as it is for one box.
#pragma once
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "detect/bvh/bvh.h"
#include "math/simd.h"

enum {
    LANES = 8,  // primitives tested at once
    MAX_ARITY = 8,
    MAX_LEVELS = 64,  // of inner nodes; the median tree of 2^31 faces has 31
    NO_CHILD = INT32_MIN,
};

typedef float tl_f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t tl_i8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float tl_f4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t tl_i4 __attribute__((vector_size(16), aligned(4), may_alias));

enum { PRIM_FACE, PRIM_EDGE, PRIM_NODE, PRIM_KINDS };

/// Offsets of a leaf's faces, edges and nodes in the lists in leaf order (the next leaf's are the ends) and of its
/// boxes.
typedef struct tl_leaf {
    int32_t first[PRIM_KINDS];
    int32_t parent;  // node * arity + lane
    int64_t box;     // into prim_box: faces, edges, nodes, each padded to whole vectors
} tl_leaf;

struct tl_bvh {
    tl_allocator alloc;
    tl_bvh_def def;
    tl_surface surface;
    const tl_vec3 *x0, *x1;
    double margin;
    int32_t rows;  // supports of a primitive or volume: 6, or 12 for relative motion

    // Shape; the rest follows from it.
    int32_t inner_count, inner_cap, leaf_count;
    int32_t *child;         // inner_count * arity: >= 0 a node, ~leaf, or NO_CHILD
    int32_t *leaf_of_face;  // face_cap
    int32_t face_cap;
    int32_t level_count, level_begin[MAX_LEVELS + 1];

    // Layout.
    tl_leaf *leaf;            // leaf_cap, one more than leaves
    int32_t *id[PRIM_KINDS];  // in leaf order: face, edge, node of the surface
    int32_t id_cap[PRIM_KINDS];
    int32_t count[PRIM_KINDS];
    int32_t *corner[3];  // of faces in leaf order, as positions in id[PRIM_NODE]; LANES entries more than faces
    int32_t *end[2];     // of edges, likewise
    int32_t corner_cap[3], end_cap[2], leaf_cap;

    // Volumes.
    float (*node_box)[8];  // per node in leaf order: lo.x lo.y lo.z - -hi.x -hi.y -hi.z -; relative: at x0, then at x1
    uint8_t *moved;        // per node: its box has changed in this refit
    float (*leaf_box)[8];  // per leaf, likewise, of all its faces
    float *prim_box;       // in leaf order, of each eight primitives of a kind: `rows` rows of eight
    float *volume;         // inner_count * rows * arity
    uint8_t *dirty;        // per inner node
    int32_t node_box_cap, leaf_box_cap, moved_cap, volume_cap, dirty_cap, prim_box_cap;
    float slack;  // no support is lower by more than this than that of the box in double
    bool fitted;  // all volumes have been computed since the layout was made
};

static inline int32_t pad_lanes(int32_t n) { return (n + LANES - 1) / LANES * LANES; }

static inline int32_t leaf_size(const tl_bvh *bvh, int32_t leaf, int kind)
{
    return bvh->leaf[leaf + 1].first[kind] - bvh->leaf[leaf].first[kind];
}

/// The greatest float that is not above d, or a little less. Past the range of floats all is put at its end: a monotone
/// map of the axis, under which what overlaps still does. So stored supports are finite, and +inf means that nothing is
/// there.
static inline float round_down(double d)
{
    if (!(d > -(double)FLT_MAX)) return -FLT_MAX;
    const float f = (float)(d < (double)FLT_MAX ? d : (double)FLT_MAX);
    const float low = (double)f > d ? f - fabsf(f) * FLT_EPSILON - FLT_MIN : f;
    return low > -FLT_MAX ? low : -FLT_MAX;
}

typedef struct tl_extent {
    tl_vec3 lo, hi;
} tl_extent;

static inline tl_extent empty_extent(void)
{
    return (tl_extent){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static inline double lesser(double a, double b) { return a < b ? a : b; }  // fmin and fmax are calls
static inline double greater(double a, double b) { return a > b ? a : b; }

static inline void add_point(tl_extent *b, tl_vec3 p)
{
    b->lo = (tl_vec3){lesser(b->lo.x, p.x), lesser(b->lo.y, p.y), lesser(b->lo.z, p.z)};
    b->hi = (tl_vec3){greater(b->hi.x, p.x), greater(b->hi.y, p.y), greater(b->hi.z, p.z)};
}

/// Makes `child` and `leaf_of_face` anew, top down.
tl_status tl_bvh_split(tl_bvh *bvh, const tl_vec3 *x, tl_error *err);

void tl_bvh_free_arrays(tl_bvh *bvh);
tl_status tl_surface_check(const tl_surface *surface, tl_error *err);  ///< are all nodes in range?

/// Everything that follows from the shape: levels, leaf order, owners. Fails on edges that are no side of a face.
tl_status tl_bvh_layout(tl_bvh *bvh, tl_error *err);
