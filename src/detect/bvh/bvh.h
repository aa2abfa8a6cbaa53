// detect/bvh/bvh.h: which parts of surfaces may come near each other: trees of boxes over triangles.
//
// A tree is built once, top down, and refitted bottom up as the nodes move (Kimmerle 2005, sec. 2.2.1, 2.3.2). Volumes
// enclose the path of every face from x0 to x1 and a margin; with a skin, leaves that stay inside what they were last
// fitted to are left alone. Answers are the pairs of primitives whose own swept boxes (axes-parallel, margin included)
// overlap and that share no node: the same set and order whatever the tree, the skin and the number of workers.
//
// Relative motion. Swept boxes of neighbours that move along together overlap as soon as they move by more than their
// size. A tree with def.relative keeps the box B0 of each primitive at x0 and its box B1 at x1 apart. When all nodes
// have gone the same part t of their way, a primitive lies within (1 - t) B0 + t B1, so the gap between two of them on
// one side of one axis, lo of the one less hi of the other, is at least the mean of the gaps at x0 and at x1: where
// both are positive they never meet. The answer of such a tree is the pairs that share no node and that
//     on each of the three axes, and in each of both orders of the two, have lo <= hi at x0 or lo <= hi at x1
// with lo = min - margin of the one and hi = max + margin of the other: no pair that comes within twice the margin at
// some common t is missing. It is NOT sound for nodes that stop at different parts of their way; ask again with the
// ways cut short.
#pragma once
#include "base/arena.h"
#include "base/workers.h"
#include "toile/base.h"

typedef struct tl_bvh tl_bvh;

typedef struct tl_bvh_def {
    int32_t arity;       ///< children per node: 2, 4 or 8
    int32_t leaf_faces;  ///< at most; 1 to TL_BVH_MAX_LEAF
    int32_t relative;    ///< 1: what goes along together is left out, see above. Default 0: swept boxes.
} tl_bvh_def;
enum { TL_BVH_MAX_LEAF = 64 };
tl_bvh_def tl_bvh_def_default(void);

/// `face` and `edge` are borrowed as long as the tree lives; both index nodes. Edges are the unique edges of the faces.
typedef struct tl_surface {
    int32_t node_count, face_count, edge_count;
    const int32_t (*face)[3];
    const int32_t (*edge)[2];
} tl_surface;

tl_status tl_bvh_create(const tl_allocator *alloc, const tl_bvh_def *def, const tl_surface *surface, const tl_vec3 *x,
                        tl_bvh **out, tl_error *err);
void tl_bvh_destroy(tl_bvh *bvh);  ///< NULL is fine

/// Every volume encloses what it holds at x0, at x1 (NULL: x0 alone) and in between, `margin` [m] around it. `x0`, `x1`
/// are borrowed until the next refit: queries read them. `skin` >= 0 [m]: the box of a node is changed only when the
/// node would leave it (or it has become very loose), and then grows by the skin beyond the need.
void tl_bvh_refit(tl_bvh *bvh, const tl_vec3 *x0, const tl_vec3 *x1, double margin, double skin, tl_workers *workers);

/// Like tl_bvh_refit without a skin, when only some nodes differ from the last refit: those with changed[node] != 0.
/// The others are where they were, in `x0` and in `x1` (which was or was not NULL then, too), and the margin stays.
/// Takes hardly longer than they need.
void tl_bvh_refit_some(tl_bvh *bvh, const tl_vec3 *x0, const tl_vec3 *x1, const uint8_t *changed, tl_workers *workers);

typedef struct tl_pair {
    int32_t a, b;
} tl_pair;

/// Lists that a query fills; arrays grow and are kept for the next query. Pairs are sorted by (a, b).
typedef struct tl_pairs {
    tl_allocator alloc;
    tl_pair *vf;  ///< node, face
    tl_pair *ee;  ///< edge, edge (a < b within one surface)
    tl_pair *fv;  ///< between two surfaces: node of the second, face of the first
    tl_pair
        *ef;  ///< edge, face (asked for by TL_PAIR_EF; within one surface, or edge of the first, face of the second)
    tl_pair *fe;  ///< between two surfaces: edge of the second, face of the first
    int32_t vf_count, ee_count, fv_count, ef_count, fe_count;
    int32_t vf_cap, ee_cap, fv_cap, ef_cap, fe_cap;
    int64_t volume_tests, face_pairs;  ///< work of the last query
} tl_pairs;
void tl_pairs_init(tl_pairs *pairs, tl_allocator alloc);
void tl_pairs_free(tl_pairs *pairs);

enum { TL_PAIR_VF = 1, TL_PAIR_EE = 2, TL_PAIR_EF = 4 };  ///< what to look for, or'ed; VF includes fv, EF includes fe
enum {
    TL_PAIR_PLAIN = 8
};  ///< or'ed to that: by the code for processors without AVX2, on any. The answer is the same; for tests and
    ///< measurements.

/// Pairs within one surface.
tl_status tl_bvh_self(const tl_bvh *bvh, int what, tl_arena *scratch, tl_workers *workers, tl_pairs *out,
                      tl_error *err);

/// Pairs between two surfaces, each with a numbering of its own. Both trees relative or neither.
tl_status tl_bvh_between(const tl_bvh *first, const tl_bvh *second, int what, tl_arena *scratch, tl_workers *workers,
                         tl_pairs *out, tl_error *err);

/// What a set of nodes means for a tree: which primitives have one of them, and which subtrees hold such.
typedef struct tl_bvh_chosen {
    const uint8_t *primitive[3];  ///< by kind, in the order of the tree
    const uint8_t *subtree;
} tl_bvh_chosen;

/// Nodes with some[node] != 0; in memory of the arena. Serves for as many questions as you like until the tree is made
/// anew or edited.
tl_status tl_bvh_choose(const tl_bvh *bvh, const uint8_t *some, tl_arena *arena, tl_workers *workers,
                        tl_bvh_chosen *out, tl_error *err);

/// How near primitives must come to be worth a look; both >= 0 [m].
typedef struct tl_near {
    double path;  ///< at some common part t of their way from x0 to x1, on every axis
    double end;   ///< at x1
    const tl_bvh_chosen
        *some;  ///< of the first tree. NULL: all pairs. Else those that have a node of it that was chosen
} tl_near;

/// Like tl_bvh_self and tl_bvh_between, for trees with def.relative, with a filter for primitives that are near on the
/// way or at the end. A pair is reported iff it shares no node and, with boxes as for relative motion above, computed
/// in double,
///     on each axis and in each order of the two, lo - hi <= near.path at x0 or lo - hi <= near.path at x1, or
///     the squared distance of the boxes at x1, the sum over axes of max(0, lo - hi, lo' - hi')^2, is <= near.end *
///     near.end.
/// So nothing that comes within near.path at some common t, or ends up within near.end, is missing. Margins widen boxes
/// as ever: refit with margin 0 if the reach is all you want. With path = end = 0 it is tl_bvh_self. With near.some the
/// work follows the number of primitives that have such nodes.
tl_status tl_bvh_self_near(const tl_bvh *bvh, int what, tl_near near, tl_arena *scratch, tl_workers *workers,
                           tl_pairs *out, tl_error *err);
tl_status tl_bvh_between_near(const tl_bvh *first, const tl_bvh *second, int what, tl_near near, tl_arena *scratch,
                              tl_workers *workers, tl_pairs *out, tl_error *err);

/// Faces whose swept box (from x0 to x1 of the last refit, margin included, in double) overlaps or touches the box from
/// `lo` to `hi`: writes their ids, ascending, and returns how many. If there are more than `max`, `faces` holds nothing
/// of use. Makes no difference to the tree, so any number of threads may ask.
int32_t tl_bvh_box(const tl_bvh *bvh, tl_vec3 lo, tl_vec3 hi, int32_t *faces, int32_t max);

/// What the tree was made of, and x0 of the last refit; borrowed.
const tl_surface *tl_bvh_surface(const tl_bvh *bvh);
const tl_vec3 *tl_bvh_positions(const tl_bvh *bvh);
