// adapt/edge_trees/follow.h: the mesh of a cloth follows its edge trees, edit by edit, and nothing passes through
// anything: the refinement of Simnett 2012 under the implicit dynamics (docs/realtime.md, "With the guarantee").
//
// To split an edge cuts the mesh in its middle, which moves nothing. Where that completes a triangle (state 7), its
// long diagonal is flipped; where the flip would come too near to something, or strain the cloth too much, the whole
// split is taken back. To join an edge melts its middle into one of its ends. One edge after the other: the trees and
// the mesh agree after each, and what was refused is asked for again at a later look.
#pragma once
#include "adapt/anisotropic/remesh_impl.h"
#include "adapt/edge_trees/criteria.h"

/// What the kind keeps of a cloth from look to look.
typedef struct trees_state {
    tl_allocator alloc;
    tl_trees *trees;  ///< NULL before the first look
    int32_t *node;    ///< node of the mesh for each vertex id; TL_NONE: none now
    int32_t node_cap;
    trees_wish *wish;  ///< of the last look, joins first
    int32_t wish_count, wish_cap;
} trees_state;

/// For the time of an update.
typedef struct trees_follower {
    trees_state *s;
    remesher *r;
    int32_t max_faces;  ///< 0: no limit
} trees_follower;

/// Room in `node` for the ids that there are and `extra` more.
tl_status trees_keep_up(trees_state *s, int32_t extra, tl_error *err);

/// Does what the last look wanted, as far as it may be done. Edits of the mesh are recorded meanwhile.
tl_status trees_follow(trees_follower *f, tl_error *err);
