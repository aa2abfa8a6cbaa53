// adapt/edge_trees/trees_impl.h: what a mesh of edge trees holds, for the files of adapt/edge_trees alone.
#pragma once
#include "adapt/edge_trees/trees.h"

/// Objects of one size in chunks that never move. Free ids are a stack, last in, first out.
typedef struct tl_trees_pool {
    char **chunk;  ///< with TL_TREES_SYSTEM one object each, NULL while its id is free
    int32_t *free;
    uint64_t *used;  ///< a bit per id: sweeps skip what deeper levels have left behind
    size_t size;
    int32_t shift;  ///< a chunk holds 1 << shift objects
    int32_t used_cap, chunk_cap, chunk_count, count, free_count, free_cap;
    bool system;
} tl_trees_pool;

static inline void *tl_trees_pool_at(const tl_trees_pool *p, int32_t i)
{
    return p->chunk[i >> p->shift] + (size_t)(i & ((1 << p->shift) - 1)) * p->size;
}

/// The first id in use from `i` on, below `end`; `end` if there is none.
static inline int32_t tl_trees_pool_next(const tl_trees_pool *p, int32_t i, int32_t end)
{
    while (i < end) {
        const uint64_t rest = p->used[i >> 6] >> (i & 63);
        if (rest) {
            const int32_t next = i + __builtin_ctzll(rest);
            return next < end ? next : end;
        }
        i = (i | 63) + 1;
    }
    return end;
}

tl_status tl_trees_pool_reserve(tl_trees_pool *p, const tl_allocator *alloc, int32_t count, tl_error *err);
tl_status tl_trees_pool_take(tl_trees_pool *p, const tl_allocator *alloc, int32_t *id, void **object, tl_error *err);
void tl_trees_pool_give(tl_trees_pool *p, const tl_allocator *alloc, int32_t id);

// ---- configurations (configs.c) -------------------------------------------------------------------------------

// Corners 0 to 2 are the vertices, 3 to 5 the middles of the edges.
typedef struct tl_trees_config {
    int8_t state;   ///< bits of split edges
    int8_t family;  ///< which middle the long diagonal starts from; -1: none
    int8_t edges, tris;
    int8_t edge[3][2];  ///< corners of inner edges
    int8_t tri[4][3];   ///< corners of children, counter-clockwise
} tl_trees_config;
extern const tl_trees_config tl_trees_configs[TL_TREES_CONFIGS];

/// What a side of a child is: an outer edge (0 to 2), its first or second half (3 to 5, 6 to 8 in the direction of the
/// outer edge), or an inner edge k as listed (9 + k) or against its direction (12 + k).
enum { TL_TREES_OUTER = 0, TL_TREES_FIRST = 3, TL_TREES_SECOND = 6, TL_TREES_INNER = 9, TL_TREES_INNER_BACK = 12 };

/// How one configuration becomes another. `from` is the old child or inner edge whose slot is used, -1 a new one.
typedef struct tl_trees_plan {
    int8_t tri_from[4], edge_from[3];
    bool tri_same[4], edge_same[3];
    int8_t tri_gone[4], edge_gone[3];  ///< old ones whose slots are given back, -1 ends the list
} tl_trees_plan;

typedef struct tl_trees_tables {
    int8_t side[TL_TREES_CONFIGS][4][3];
    int8_t holder[TL_TREES_CONFIGS][3];  ///< which child holds outer edge k while that is not split; -1: none
    tl_trees_plan plan[TL_TREES_CONFIGS][TL_TREES_CONFIGS];
} tl_trees_tables;
void tl_trees_make_tables(tl_trees_tables *out);

struct tl_trees {
    tl_allocator alloc;
    tl_trees_transition transition;
    tl_trees_pool vert, edge, tri;
    tl_trees_tables tables;
    int32_t *tagged, tagged_count, tagged_cap;  ///< triangles to retriangulate, in the order of the edits
    int32_t *going, going_count, going_cap;     ///< joined edges, whose children are freed after the sweep
    int32_t *fresh, fresh_count, fresh_cap;     ///< edges that came with splits since the last sweep
    tl_trees_report report;
    // decisions about edges (criteria.c)
    int8_t *action;
    int32_t action_cap, decided;
    int32_t *parent, parent_cap;
    // flat lists
    int32_t *leaf_tri, leaf_tri_cap, *leaf_vert, leaf_vert_cap, *leaf_index, leaf_index_cap;
    tl_trees_leaf_edge *leaf_edge;
    int32_t leaf_edge_cap;
};

static inline tl_trees_vert *tl_trees_v(const tl_trees *m, int32_t v) { return tl_trees_pool_at(&m->vert, v); }
static inline tl_trees_edge *tl_trees_e(const tl_trees *m, int32_t e) { return tl_trees_pool_at(&m->edge, e); }
static inline tl_trees_tri *tl_trees_t(const tl_trees *m, int32_t t) { return tl_trees_pool_at(&m->tri, t); }
static inline bool tl_trees_is_split(const tl_trees_edge *e) { return e->mid != TL_TREES_NONE; }
