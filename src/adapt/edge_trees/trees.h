// adapt/edge_trees/trees.h: a mesh whose edges are roots of binary trees (Simnett 2012, ch. 3).
//
// An edge is split at its middle into two children, and joined again. A triangle looks at which of its three edges are
// split (3 bits, 8 states) and is cut into up to four children (11 configurations), so that the active mesh, which is
// all leaves, always conforms. Children of a triangle may be refined further only where all three of its edges are
// split (state 7); all other children are locked. Neighbours therefore differ by one level at most.
//
// Splits and joins only tag triangles. One sweep (tl_trees_commit) then retriangulates each tagged triangle once,
// reusing children and inner edges that the old and the new configuration have in common.
//
// Everything is an id into a pool. Material coordinates belong to the corners of triangles, so that panels can be sewn.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

enum { TL_TREES_NONE = -1, TL_TREES_CONFIGS = 11, TL_TREES_LOCKED = -1, TL_TREES_MAX_LEVEL = 14 };

/// Where objects live. Pools grow by chunks and never shrink; `system` asks the allocator for each object, to compare.
typedef enum tl_trees_storage { TL_TREES_POOL, TL_TREES_SYSTEM } tl_trees_storage;

/// How children are exchanged when a triangle changes its configuration.
typedef enum tl_trees_transition {
    TL_TREES_DIRECT,    ///< what both configurations have is kept
    TL_TREES_INDIRECT,  ///< all children are removed, then made anew; to compare
} tl_trees_transition;

/// Which of two diagonals a triangle with two split edges gets, if neither is there already (Simnett 2012, sec. 3.3.5).
typedef enum tl_trees_tie {
    TL_TREES_TIE_FIRST,      ///< always the same
    TL_TREES_TIE_LENGTH,     ///< the shorter one in space
    TL_TREES_TIE_REST,       ///< the shorter one in material space
    TL_TREES_TIE_CURVATURE,  ///< the one that starts on the more curved edge
    TL_TREES_TIE_VERTEX,     ///< the one that ends at a given vertex
} tl_trees_tie;

typedef struct tl_trees_edge {
    uint8_t flags;        ///< TL_TREES_EDGE_*; first in all three objects: 0 is a free slot
    uint8_t level, wait;  ///< level of refinement; updates until the next attempt to join
    int32_t a, b;         ///< vertices; the left side (0) sees it from a to b
    int32_t mid;          ///< vertex in the middle; TL_TREES_NONE: not split
    int32_t child[2];     ///< from a to mid, from mid to b; TL_TREES_NONE: not split
    int32_t tri[2];       ///< triangle whose outer or inner edge this is, left and right; [1] TL_TREES_NONE at a border
} tl_trees_edge;
enum { TL_TREES_EDGE_LIVE = 1, TL_TREES_EDGE_NEW = 2, TL_TREES_EDGE_GOING = 4 };

typedef struct tl_trees_tri {
    uint8_t flags;  ///< TL_TREES_TRI_*
    uint8_t config, level;
    int8_t state;     ///< bit k: edge k is split, as of the last sweep; TL_TREES_LOCKED
    int32_t vert[3];  ///< counter-clockwise
    int32_t edge[3];  ///< 2 * edge + side; edge k runs from vert[k] to vert[k + 1] seen from this side
    int32_t inner_edge[3];
    int32_t inner_tri[4];  ///< TL_TREES_NONE where the configuration has fewer
    tl_vec2 uv[3];         ///< [m] material coordinates of the corners
} tl_trees_tri;
enum { TL_TREES_TRI_LIVE = 1, TL_TREES_TRI_TAGGED = 2 };

/// A vertex and where it came from: the ends of its edge, TL_TREES_NONE for those of the input.
typedef struct tl_trees_vert {
    uint8_t live, level;
    int32_t from[2];
} tl_trees_vert;

typedef struct tl_trees tl_trees;

typedef struct tl_trees_def {
    const int32_t (*tri)[3];  ///< vertices, counter-clockwise; the same vertex on both sides of a seam
    const tl_vec2 (*uv)[3];   ///< [m] material coordinates per corner
    int32_t tri_count, vert_count;
    tl_trees_storage storage;
    tl_trees_transition transition;
    int32_t chunk;  ///< objects per chunk of a pool, rounded up to a power of two; 0: 256
} tl_trees_def;

/// Everything is copied. Refuses edges of three or more triangles and neighbours of opposite orientation.
tl_status tl_trees_create(const tl_allocator *alloc, const tl_trees_def *def, tl_trees **out, tl_error *err);
void tl_trees_destroy(tl_trees *m);  ///< `m` may be NULL

// Borrowed until the next change. Slots that are not in use have no LIVE flag, or are NULL with TL_TREES_SYSTEM.
const tl_trees_edge *tl_trees_edge_at(const tl_trees *m, int32_t e);
const tl_trees_tri *tl_trees_tri_at(const tl_trees *m, int32_t t);
const tl_trees_vert *tl_trees_vert_at(const tl_trees *m, int32_t v);
/// The first edge in use from `e` on; counts.edge_slots if there is none. Slots of edges that have gone are skipped
/// fast.
int32_t tl_trees_next_edge(const tl_trees *m, int32_t e);
typedef struct tl_trees_counts {
    int32_t vert_slots, edge_slots, tri_slots;  ///< ids are below these
    int32_t verts, edges, tris;                 ///< of the whole hierarchy
    int64_t bytes;                              ///< held by pools
} tl_trees_counts;
tl_trees_counts tl_trees_count(const tl_trees *m);

/// Neither side is locked and the level is below `max_level`.
bool tl_trees_may_split(const tl_trees *m, int32_t e, int32_t max_level);
/// Its children are leaves and no triangle beside it has refined children.
bool tl_trees_may_join(const tl_trees *m, int32_t e);

/// Room for one split or join and its sweep, with which neither runs out of memory.
tl_status tl_trees_reserve(tl_trees *m, tl_error *err);

/// Cuts an edge that may be split; the new vertex goes to *vert. Children exist for the next update.
tl_status tl_trees_split(tl_trees *m, int32_t e, int32_t *vert, tl_error *err);
/// Joins an edge that may be joined. Its vertex and children go at the next sweep.
tl_status tl_trees_join(tl_trees *m, int32_t e, tl_error *err);

/// For ties. Arrays go by vertex id; NULL: TL_TREES_TIE_FIRST instead.
typedef struct tl_trees_choice {
    tl_trees_tie tie;
    const tl_vec3 *pos;     ///< [m] for TL_TREES_TIE_LENGTH
    const tl_vec3 *normal;  ///< unit, for TL_TREES_TIE_CURVATURE
    int32_t vert;           ///< for TL_TREES_TIE_VERTEX
} tl_trees_choice;

typedef struct tl_trees_report {
    int32_t splits, joins, retriangulated;
} tl_trees_report;

/// Retriangulates what was tagged since the last sweep, each triangle once, then frees what was joined.
tl_status tl_trees_commit(tl_trees *m, tl_trees_choice choice, tl_trees_report *report, tl_error *err);

/// The active mesh as flat lists, which solvers walk until the next change. Owned by `m`.
typedef struct tl_trees_leaf_edge {
    int32_t edge, a, b;
    int32_t opposite[2];  ///< third vertex of the active triangle on each side; [1] TL_TREES_NONE at a border
    int32_t tri[2];       ///< index into the list of active triangles; [1] TL_TREES_NONE at a border
} tl_trees_leaf_edge;
typedef struct tl_trees_lists {
    const int32_t *tri;   ///< ids of active triangles
    const int32_t *vert;  ///< ids of living vertices
    const tl_trees_leaf_edge *edge;
    int32_t tri_count, vert_count, edge_count;
} tl_trees_lists;
tl_status tl_trees_build_lists(tl_trees *m, tl_trees_lists *out, tl_error *err);

/// Panel of each face of a base, by its lowest vertex: faces that share vertices, not nodes. Two vertices of one node
/// are told apart by it where panels lie on each other in the material.
tl_status tl_trees_charts(const tl_allocator *alloc, const int32_t (*vert)[3], int32_t face_count, int32_t vert_count,
                          int32_t *out, tl_error *err);

/// The hierarchy as bytes, between updates; `out` NULL: counts only. Reading is into trees made of the same base mesh,
/// of pools with the same chunks, which are of no use if it fails. Ids of later splits are those of the original.
size_t tl_trees_write_bytes(const tl_trees *m, char *out);
tl_status tl_trees_read_bytes(tl_trees *m, const char *data, size_t size, size_t *used, tl_error *err);

/// Looks at every link and rule; the first fault is named. For tests.
tl_status tl_trees_check(const tl_trees *m, tl_error *err);
