// detect/intersect.h: which faces pass through which, exactly.
//
// A crossing is an edge and a face without a common node that share a point, touching and coplanar contact included.
// Decided by exact arithmetic on the given doubles: no tolerance, no wrong answer.
#pragma once
#include "base/ctx.h"
#include <stdbool.h>

#include "detect/bvh/bvh.h"

/// Do the closed segment ab and the closed triangle pqr share a point? Either may be degenerate to a point, the
/// triangle to a segment. No when a coordinate is not finite.
bool tl_segment_meets_triangle(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *p, const tl_vec3 *q,
                               const tl_vec3 *r);

/// A point near where they meet, for showing (rounded).
tl_vec3 tl_segment_triangle_place(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *p, const tl_vec3 *q,
                                  const tl_vec3 *r);

/// Edge `edge` of surface `edge_surface` (0: the first) crosses face `face` of the other (or of the same, if there is
/// one).
typedef struct tl_crossing {
    int32_t edge_surface, edge, face;
} tl_crossing;

typedef struct tl_crossings {
    tl_allocator alloc;
    tl_crossing *items;
    int32_t count, cap;
    tl_pairs pairs;  ///< candidates of the last search; kept, so that a warm search allocates nothing
} tl_crossings;
void tl_crossings_init(tl_crossings *crossings, tl_allocator alloc);
void tl_crossings_free(tl_crossings *crossings);

/// All crossings of a surface with itself, or (with `second`) between two; both trees as last refitted, where x0
/// counts. Sorted by (edge, face); between two, edges of the first come before edges of the second. The order is that
/// of the surfaces alone, not of trees and workers.
tl_status tl_find_crossings(const tl_bvh *first, const tl_bvh *second, tl_arena *scratch, tl_workers *workers,
                            tl_crossings *out, tl_error *err);
