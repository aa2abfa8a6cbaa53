// post/finish.h: the cloths of one finished frame, level by level, clear of bodies, of each other and of themselves.
//
// Every level starts as the coarser surface with new nodes in the middle of its edges, and moves from there to where
// the masks put it (Kimmerle 2005, sec. 4.3). The same move serves whatever displaces a surface afterwards.
#pragma once
#include "base/arena.h"
#include "base/workers.h"
#include "detect/bvh/bvh.h"
#include "post/clear.h"
#include "post/subdivide.h"

/// What a frame has besides its cloths, and where scratch comes from.
typedef struct tl_finish {
    tl_allocator alloc;
    tl_arena *arena;
    tl_workers *workers;        ///< may be NULL
    const tl_bvh *const *body;  ///< trees of bodies, fitted to where they are; may be NULL
    int32_t body_count;
    double gap;  ///< [m] > 0
} tl_finish;

typedef struct tl_finish_level {
    tl_clear_report clear;
    int64_t nodes, faces;  ///< of all cloths
    double mask_seconds;
} tl_finish_level;

/// Moves all cloths at once from start[i] (node_count entries each) towards cloth[i].pos, which is changed to where
/// they get. `report` may be NULL.
tl_status tl_finish_move(const tl_finish *f, tl_fine_mesh *cloth, int32_t cloth_count, tl_vec3 *const *start,
                         tl_clear_report *report, tl_error *err);

/// `levels` times finer, each level clear of everything; reports one entry per level (may be NULL). After a
/// failure cloths are whole meshes, but not all of one level.
tl_status tl_finish_subdivide(const tl_finish *f, const tl_subdivide_def *def, int32_t levels, tl_fine_mesh *cloth,
                              int32_t cloth_count, tl_finish_level *reports, tl_error *err);
