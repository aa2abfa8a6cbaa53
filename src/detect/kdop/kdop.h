// detect/kdop/kdop.h: hierarchies of k-DOPs as Kimmerle 2005 describes them, sec. 2.2.1, 2.3.2 and 2.4.
//
// A k-DOP is the product of k/2 intervals along fixed directions. The tree is made once, top down, by the thesis's
// rule, and fitted bottom up. Lazy update: a node has a place of reference that follows it only when it has gone
// further than the skin s from there; volumes enclose the references of their nodes with a margin of reach / 2 + s, so
// they enclose every node with reach / 2 whatever was left alone. (The thesis lets nodes move by the whole inflation,
// which loses pairs: docs/errata.md.)
#pragma once
#include "detect/detect.h"

enum { KDOP_MAX_AXES = 13, KDOP_MAX_ARITY = 8, KDOP_MAX_LEAF = 64 };

typedef struct kdop_node {
    int32_t child, child_count;  ///< children are consecutive and come after their parent; 0: a leaf
    int32_t begin, end;          ///< faces of the subtree in `order`
} kdop_node;

typedef struct kdop_cull kdop_cull;

typedef struct tl_kdop {
    tl_allocator alloc;
    tl_surface surface;
    int32_t axes, arity, leaf_faces;  ///< axes: k / 2
    kdop_node *nodes;
    int32_t node_count, node_cap;
    int32_t *order;          ///< [face_count] faces by leaves
    int32_t *point;          ///< [3 * face_count] nodes of leaves, each once: those of volume i are
    int32_t *first_point;    ///< point[first_point[i]] .. point[first_point[i + 1] - 1]; [node_count + 1]
    double *lo, *hi;         ///< [node_count * axes]
    uint8_t (*owns)[2];      ///< [face_count] bits: corners, sides that are tested with this face alone
    int32_t (*side)[3];      ///< [face_count] edge from corner k to k + 1
    tl_vec3 *ref;            ///< [surface.node_count] places of reference
    uint8_t *moved, *dirty;  ///< of nodes of the surface; of volumes
    bool fitted;             ///< false: the next fit is of everything
    double margin;           ///< of the last fit
    bool swept;
    const tl_vec3 *x0, *x1;  ///< borrowed
    kdop_cull *cull;         ///< NULL: none
} tl_kdop;

/// `corner`: where the corners of faces are for the tree; NULL: at x. `k`, `arity`, `leaf_faces` in their ranges.
tl_status tl_kdop_create(const tl_allocator *alloc, const tl_detect_def *def, const tl_surface *surface,
                         const tl_vec3 *x, const tl_vec3 (*corner)[3], tl_kdop **out, tl_error *err);
void tl_kdop_destroy(tl_kdop *tree);  ///< NULL is fine

/// Fits volumes around nodes at x0 (and at x1, if not NULL) with `margin`, references left alone within `skin`.
void tl_kdop_fit(tl_kdop *tree, const tl_vec3 *x0, const tl_vec3 *x1, double margin, double skin,
                 tl_detect_report *report);

/// Leaves whose volumes overlap, as numbers of volumes: within one tree (second NULL; a <= b, a leaf with itself too)
/// or between two.
typedef struct kdop_overlaps {
    tl_allocator alloc;
    tl_pair *items;
    int32_t count, cap;
} kdop_overlaps;
tl_status tl_kdop_overlaps(const tl_kdop *first, const tl_kdop *second, double reach, tl_arena *arena,
                           kdop_overlaps *out, tl_detect_report *report, tl_error *err);

/// Distances of all features of overlapping leaves, each pair once.
tl_status tl_kdop_test(const tl_kdop *first, const tl_kdop *second, const kdop_overlaps *overlaps, double reach,
                       tl_close_list *out, tl_detect_report *report, tl_error *err);

/// p . d for the directions of a k-DOP, not of unit length: |d|^2 is 1, 2 or 3.
void kdop_project(int32_t axes, tl_vec3 p, double out[KDOP_MAX_AXES]);
double kdop_length(int32_t axes, int axis);  ///< |d|

// kdop_build.c
tl_status kdop_build(tl_kdop *tree, const tl_vec3 *x, const tl_vec3 (*corner)[3], tl_error *err);

// kdop_cull.c
tl_status kdop_cull_create(tl_kdop *tree, tl_error *err);
void kdop_cull_destroy(tl_kdop *tree);
/// Looks which subtrees cannot come within `reach` of themselves, nodes being at x0 and staying there.
void kdop_cull_fit(tl_kdop *tree, double reach, tl_arena *arena);
bool kdop_is_smooth(const tl_kdop *tree, int32_t node);  ///< as of the last kdop_cull_fit
