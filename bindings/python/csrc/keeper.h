// keeper.h: an allocator for one simulation that keeps memory alive for as long as a numpy view looks at it.
#pragma once
#include "toile/base.h"

typedef struct toile_keeper toile_keeper;  // opaque; counted: one for the simulation, one for every view

/// NULL: no memory.
toile_keeper *toile_keeper_create(void);
/// Memory comes from libc. What is freed or moved while a view looks into it stays where it was until the view is gone.
tl_allocator toile_keeper_allocator(toile_keeper *keeper);
/// A view on memory at `at` begins, ends. Any thread. toile_keeper_hold returns 0 without memory.
int toile_keeper_hold(toile_keeper *keeper, const void *at);
void toile_keeper_drop(toile_keeper *keeper, const void *at);
/// The simulation is gone; the keeper goes with its last view.
void toile_keeper_release(toile_keeper *keeper);
/// Asks Python whether to stop (Ctrl-C), but no more often than every 20 ms: it takes the interpreter's lock. To be the
/// `asked` of a tl_cancel whose `user` is a toile_asker.
typedef struct toile_asker {
    int (*ask)(void *user);
    void *user;
    int64_t last;  ///< [ns], of a clock that only goes forward
} toile_asker;
int toile_ask(void *asker);

/// Blocks that only views keep alive.
int32_t toile_keeper_kept(toile_keeper *keeper);
