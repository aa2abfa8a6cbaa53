// math/multilevel_impl.h: the levels, shared by the files that build, fill and apply them.
#pragma once
#include "math/cholesky.h"
#include "math/multilevel.h"

enum {
    SMOOTH_CHUNK = 1024,  // rows swept in sequence by one worker; across chunks the sweep uses old values
    MAX_LEVELS = 12,
    MODES = 6,  // rigid motions of a patch: translation, rotation
};

// A level has nodes of one (finest) or two (translation, rotation) block rows. Its prolongation sends the six
// numbers of each patch to the nodes around; entry e of node i, sub-row s has a 3x6 block of floats at
// p_value[node_rows p_start[i] + s (entries of i) + e].
typedef struct tl_level {
    const tl_bsr *a;  // finest: the caller's; else own
    tl_bsr *own;
    int32_t nodes, node_rows;
    int32_t patches;  // nodes of the next level
    int32_t *patch;   // [nodes], or -1: the smoother alone takes care of it
    tl_vec3 *center;  // [patches]
    double radius;    // scale of the rotations of the next level, so that they are lengths too
    int32_t entries;
    int32_t *p_start;           // [nodes + 1]
    int32_t *p_patch;           // [entries]
    float (*p_value)[18];       // [node_rows entries + 1], the last for reading past the end
    int32_t *t_start;           // [patches + 1]: the same by patch
    int32_t *t_node, *t_entry;  // [entries]
    double (*inverse)[6];       // [rows] of the smoother's diagonal
    uint8_t *inside;            // [rows]: all the row's links stay in its chunk of SMOOTH_CHUNK rows
    tl_vec3 *b, *x;             // [rows], not on the finest
    tl_vec3 *res;               // [rows]
    tl_vec3 *rest, *more;       // [rows], not on the finest: what a first cycle leaves, and the answer to it
} tl_level;

struct tl_multilevel {
    tl_allocator alloc;
    tl_level level[MAX_LEVELS];
    int32_t level_count;    // the last has no prolongation
    tl_cholesky *coarsest;  // NULL: the coarsest is smoothed only (a single level)
    const uint8_t *fixed;   // during an update
    tl_aggregates aggregates;
};

/// Chooses patches and the patterns of prolongation and next matrix of level l. *more false: not worth it.
tl_status tl_level_build(tl_multilevel *ml, int32_t l, const uint8_t *fixed, bool *more, tl_error *err);
void tl_level_free(const tl_allocator *alloc, tl_level *level);

/// Values of the prolongation of level l and of the matrix below it.
void tl_level_coarsen(tl_multilevel *ml, int32_t l, const tl_vec3 *pos, tl_workers *workers);

/// Diagonal of the smoother. False: a diagonal block is not positive definite.
bool tl_level_smoother(tl_multilevel *ml, int32_t l, tl_workers *workers);
