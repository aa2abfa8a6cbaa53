// math/cholesky_impl.h: the factor's data, shared by the three files that analyse, factor and solve.
//
// Rows are numbered by place in the elimination order. A front is a dense symmetric matrix over its pivot
// nodes (consecutive places) and its update nodes (later places that the pivots reach). Dense storage is in
// panels of 8 scalar rows, column by column inside a panel, so that both operands of every product are read
// in order and a vector register is a piece of a column at any width:
//   factor part: pivot rows padded to 8, then update rows padded to 8; panel r at 8 p r, entry (i, j) at
//                8 p (i / 8) + 8 j + i % 8, p = pivot columns
//   update part: lower triangle of 8x8 tiles; panel r at 32 r (r + 1), entry (i, j) at that + 8 j + i % 8
#pragma once
#include "math/cholesky.h"

enum {
    PANEL = 8,
    TL_CHOL_LANES = 8,  // subtrees at work at a time; a constant, so that memory does not depend on the workers
};

typedef struct tl_front {
    int32_t first;            // place of the first pivot
    int32_t pivots, updates;  // nodes
    int32_t parent;           // front, or -1
    int32_t child, sibling;   // first child, next child of the same parent, or -1
    int32_t rows_at;          // its update nodes in tl_cholesky.rows and .rel
    int32_t entry_begin;      // its matrix blocks in tl_cholesky.entries; the next front's begin is the end
    int64_t factor_at;        // in tl_cholesky.factor, in numbers
    int64_t update_at;        // in tl_cholesky.work
    int64_t vector_at;        // in tl_cholesky.vectors: pivot rows, then update rows, padded as above
} tl_front;

// Where a block of the matrix goes: block index (~index: transposed) and node position in its front.
typedef struct tl_chol_entry {
    int32_t block, row, col;
} tl_chol_entry;

// A piece of the tree that one worker does alone: fronts [begin, end), the last one its root.
typedef struct tl_chol_task {
    int32_t begin, end;
    int32_t lane;
    int64_t panel_at;  // in work: room for the factor part of one front while the store is float
    int64_t map_at;    // in maps: index maps for the largest assembly
    double flops;
} tl_chol_task;

struct tl_cholesky {
    tl_allocator alloc;
    bool single;
    int32_t n, block_count;
    int32_t front_count, row_total, task_count;
    int32_t *order;          // row at each place
    tl_front *fronts;        // front_count + 1, children before parents; the last only ends lists
    int32_t *rows, *rel;     // update nodes by place, and the same as positions in the parent
    tl_chol_entry *entries;  // block_count
    tl_chol_task *tasks;     // task_count subtrees, largest first, then one more for the top fronts' room
    int32_t *top;            // fronts of the top, in order
    int32_t top_count;
    void *factor;  // float or double, factor_count
    int64_t factor_count;
    double *work;
    int64_t work_count;
    int32_t *maps;
    int64_t map_count;
    double *vectors;  // solve: one vector per front
    int64_t vector_count;
    tl_vec3 *solution;  // by place
    uint8_t *failed;    // per task and one for the top
    double flops;
};

static inline int32_t tl_pad8(int32_t n) { return (n + PANEL - 1) / PANEL * PANEL; }
static inline int64_t tl_front_factor_size(const tl_front *f)
{
    return (int64_t)(tl_pad8(3 * f->pivots) + tl_pad8(3 * f->updates)) * (3 * f->pivots);
}
static inline int64_t tl_front_update_size(const tl_front *f)
{
    const int64_t panels = tl_pad8(3 * f->updates) / PANEL;
    return 32 * panels * (panels + 1);
}
