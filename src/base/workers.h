// base/workers.h: a pool of threads that runs loops in chunks.
//
// The chunk size is the caller's constant, so what a chunk computes never depends on the number of
// threads. A chunk may write its own slots or its own entry of a per-chunk array (index begin / chunk).
#pragma once
#include <stdbool.h>

#include "toile/base.h"

typedef struct tl_workers tl_workers;
typedef void (*tl_range_fn)(void *arg, int32_t begin, int32_t end);

/// `thread_count` >= 1 counts the calling thread. With 1, no thread is started.
tl_status tl_workers_create(const tl_allocator *alloc, int thread_count, tl_workers **out, tl_error *err);
void tl_workers_destroy(tl_workers *workers);  ///< NULL is fine
/// From now on loops run on the host's threads, `thread_count` at a time. The pool has been created with 1.
void tl_workers_lend(tl_workers *workers, const tl_task_host *host, int thread_count);
int tl_workers_count(const tl_workers *workers);

/// Calls `fn` on [0, count) cut into chunks of `chunk` (the last may be short), each exactly once, and waits.
/// `workers` NULL runs the chunks in order on the caller. Not to be nested.
void tl_parallel_for(tl_workers *workers, int32_t count, int32_t chunk, tl_range_fn fn, void *arg);

/// Whom to ask whether work is still wanted; NULL: nobody. The pool is what every long loop has at hand.
void tl_workers_watch(tl_workers *workers, const tl_cancel *cancel);
/// Is the work to be given up? Asked by the calling thread, between loops; false for NULL.
int tl_workers_cancelled(const tl_workers *workers);
/// TL_CANCELLED with a sentence if it is, else TL_OK. `what` was under way ("a step").
tl_status tl_workers_poll(const tl_workers *workers, const char *what, tl_error *err);

/// Work is counted here too, in nanoseconds of a cost model made of counts (elements, iterations, pairs), never of a
/// clock and never by the number of threads: what is left of a budget then decides alike in every run. Charged by the
/// calling thread, between loops. NULL: nothing is counted, and there is no end to what is allowed.
void tl_workers_charge(tl_workers *workers, double nanoseconds);
void tl_workers_forget(tl_workers *workers);  ///< what was charged: sums that start anew have the same bits again
double tl_workers_spent(const tl_workers *workers);
/// From now on, and until told otherwise, work is spent when so much more has been charged; INFINITY: never.
void tl_workers_allow(tl_workers *workers, double nanoseconds);
bool tl_workers_exhausted(const tl_workers *workers);
/// So much more may be charged for what cannot be left half-way; then it has to end at any price.
void tl_workers_grant(tl_workers *workers, double nanoseconds);
bool tl_workers_overdrawn(const tl_workers *workers);

static inline int32_t tl_chunk_count(int32_t count, int32_t chunk) { return count / chunk + (count % chunk != 0); }

/// Sum of n numbers in a fixed binary tree; the order does not depend on anything but n.
double tl_tree_sum(const double *values, int32_t n);
