// base/arena.h: scratch memory for one step: bump a pointer, give everything back at a mark.
//
// Spills to extra blocks when full; tl_arena_reset then merges them into one block of the high-water
// size, so a warm step allocates nothing. Memory is 64-byte aligned and not initialised.
#pragma once
#include "toile/base.h"

typedef struct tl_arena_block tl_arena_block;

typedef struct tl_arena {
    tl_allocator alloc;
    tl_arena_block *top;  ///< newest block; older ones are linked behind it
    size_t used;          ///< bytes handed out, over all blocks
    size_t high_water;    ///< the most `used` has been
} tl_arena;

typedef struct tl_arena_mark {
    tl_arena_block *block;
    size_t block_used, used;
} tl_arena_mark;

void tl_arena_init(tl_arena *arena, tl_allocator alloc);
void tl_arena_free(tl_arena *arena);

/// NULL when memory runs out.
void *tl_arena_bytes(tl_arena *arena, size_t count, size_t size);
#define TL_SCRATCH(arena, type, count) ((type *)tl_arena_bytes((arena), (size_t)(count), sizeof(type)))

tl_arena_mark tl_arena_save(const tl_arena *arena);

/// Gives back everything taken since the mark, newest first.
void tl_arena_release(tl_arena *arena, tl_arena_mark mark);

/// Gives back everything and, if the last round spilled, makes one block that would have held it.
void tl_arena_reset(tl_arena *arena);
