// post/clear.h: move a surface to where it should be, as far as nothing is met on the way (Kimmerle 2005, sec. 4.3).
//
// Every node goes straight from `start` to `end`. Where two features would come nearer than the gap, their nodes stop
// before that, and what stops changes the paths of its neighbours, so the search is repeated until nothing is met.
// Parts of ways only shrink, and a surface that does not move meets nothing: the end is always reached. If the start is
// free of intersections, so is the result, and no feature came nearer than the gap, or than half of what it started
// with.
#pragma once
#include "base/arena.h"
#include "base/workers.h"
#include "detect/bvh/bvh.h"

typedef struct tl_clear_def {
    const int32_t (*face)[3];  ///< of nodes
    int32_t node_count, face_count;
    const tl_vec3 *start;       ///< [m] free of intersections
    const tl_bvh *const *body;  ///< trees of what stands still, fitted to where it is; may be NULL
    int32_t body_count;
    double gap;  ///< [m] > 0, to bodies and between layers
} tl_clear_def;

typedef struct tl_clear_report {
    int32_t iterations;   ///< searches
    int32_t corrected;    ///< nodes that do not get all the way
    int32_t stopped;      ///< of these, nodes that stay where they started
    int64_t pairs;        ///< looked at, over all searches
    int64_t close_pairs;  ///< of nodes and faces or of edges whose boxes meet on the way, in the first search
    double longest;       ///< [m] way that was asked for
    double tree_seconds, test_seconds;  ///< in the hierarchy, and in the continuous test
} tl_clear_report;

/// `end` is changed in place. `report` may be NULL.
tl_status tl_clear_move(const tl_clear_def *def, const tl_allocator *alloc, tl_arena *arena, tl_workers *workers,
                        tl_vec3 *end, tl_clear_report *report, tl_error *err);
