// adapt/edge_trees/criteria.h: which edges are to be split and joined (Simnett 2012, sec. 3.4, 5.5.1, 6.2.5).
//
// Every criterion has two thresholds, for splitting and for joining; an edge between them stays as it is. An edge is
// split if one criterion that is switched on says so, and joined if all of them agree and no one would split it again.
// Cheap ones are asked first, collision last. A region gains or loses one level per call.
#pragma once
#include "adapt/edge_trees/trees.h"
#include "base/workers.h"

enum {
    TL_TREES_BY_LENGTH = 1,        ///< pushed together: length over rest length
    TL_TREES_BY_CURVATURE = 2,     ///< angle between the normals of the ends
    TL_TREES_BY_COLLISION = 4,     ///< the middle lies inside a body
    TL_TREES_BY_LEVEL_LENGTH = 8,  ///< as by length, with thresholds that shrink with the level
    TL_TREES_BY_VISIBILITY = 16,   ///< what cannot be seen is joined and asked nothing else
    TL_TREES_ALWAYS_JOIN = 32,     ///< join whatever need not be split: no threshold for joining counts
    TL_TREES_WHOLE = 64,    ///< an edge is split with all others of its triangles, and if it is locked with what locks
                            ///< it: then hardly a triangle with one or two split edges is folded along its diagonal
    TL_TREES_UNLOCK = 128,  ///< an edge that is locked is no reason to leave it: what locks it is split. Else a sheet
                            ///< that bends one way only is refined no further than once, since edges along the bend
                            ///< have no reason of their own
    TL_TREES_BY_SAG = 256,  ///< how far the cloth may stand off the edge: the same at every level, where an angle or a
                            ///< part of the length allows coarse edges more
};

typedef struct tl_trees_rules {
    uint32_t mask;
    int32_t max_level;                 ///< edges of this level are not split
    int32_t collision_level;           ///< the same for collision alone
    double split_angle, join_angle;    ///< [rad]
    double split_length, join_length;  ///< length over rest length
    double split_sag, join_sag;        ///< [m]
    double level_factor;               ///< by which those shrink per level, in (0, 1]
    int32_t rejoin_wait;               ///< updates between two attempts to join an edge
    int32_t most_splits;               ///< in one update, the lowest ids first; 0: no limit
    tl_trees_tie tie;
} tl_trees_rules;

/// Thesis's thresholds: 7 and 6.7 degrees, 98 and 99 %, wait 10; length, curvature and collision up to level 3.
tl_trees_rules tl_trees_rules_default(void);
tl_status tl_trees_check_rules(const tl_trees_rules *rules, tl_error *err);

/// What is known of vertices, by id. Borrowed for the call.
typedef struct tl_trees_sight {
    const tl_vec3 *pos;      ///< [m]
    const tl_vec3 *normal;   ///< unit
    const uint8_t *near;     ///< 1: a body is near enough that an edge from here may reach into it; NULL: all
    const uint8_t *visible;  ///< for TL_TREES_BY_VISIBILITY; NULL: all
    bool (*inside)(void *self, tl_vec3 x);  ///< is a place inside a body? NULL: none. Called from several threads
    void (*made)(void *self, int32_t vert, int32_t a, int32_t b);  ///< a vertex in the middle of a and b; NULL: nobody
    void *self;
} tl_trees_sight;

/// One update: decides about every edge, then joins, splits and retriangulates.
tl_status tl_trees_adapt(tl_trees *m, const tl_trees_rules *rules, const tl_trees_sight *sight, tl_workers *workers,
                         tl_trees_report *report, tl_error *err);

/// The same in two parts, for callers that make room for new vertices in between. `splits` is how many to expect.
tl_status tl_trees_decide(tl_trees *m, const tl_trees_rules *rules, const tl_trees_sight *sight, tl_workers *workers,
                          int32_t *splits, tl_error *err);
tl_status tl_trees_apply(tl_trees *m, const tl_trees_rules *rules, const tl_trees_sight *sight, tl_trees_report *report,
                         tl_error *err);

/// What was decided about an edge. Its ends tell it from another one that got the same id since.
typedef struct trees_wish {
    int32_t edge, a, b;
    bool split;
} trees_wish;

/// What tl_trees_decide has come to, joins first, each by ascending ids. Room for as many as there are slots.
int32_t tl_trees_wishes(const tl_trees *m, trees_wish *out);

double tl_trees_rest_length(const tl_trees *m, int32_t e);  ///< [m]; at a seam the mean of both sides
