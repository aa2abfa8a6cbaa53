// base/workers.h: a pool of threads that runs loops in chunks.
//
// The chunk size is the caller's constant, so what a chunk computes never depends on the number of
// threads. A chunk may write its own slots or its own entry of a per-chunk array (index begin / chunk).
#pragma once
#include "toile/base.h"

typedef struct tl_workers tl_workers;
typedef void (*tl_range_fn)(void *arg, int32_t begin, int32_t end);

/// `thread_count` >= 1 counts the calling thread. With 1, no thread is started.
tl_status tl_workers_create(const tl_allocator *alloc, int thread_count, tl_workers **out, tl_error *err);
void tl_workers_destroy(tl_workers *workers);  ///< NULL is fine
int tl_workers_count(const tl_workers *workers);

/// Calls `fn` on [0, count) cut into chunks of `chunk` (the last may be short), each exactly once, and waits.
/// `workers` NULL runs the chunks in order on the caller. Not to be nested.
void tl_parallel_for(tl_workers *workers, int32_t count, int32_t chunk, tl_range_fn fn, void *arg);

static inline int32_t tl_chunk_count(int32_t count, int32_t chunk) { return count / chunk + (count % chunk != 0); }

/// Sum of n numbers in a fixed binary tree; the order does not depend on anything but n.
double tl_tree_sum(const double *values, int32_t n);
