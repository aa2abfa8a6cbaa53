// base/arena.c: scratch memory with mark and release.

#include "base/arena.h"

#include "base/alloc.h"

enum { ALIGNMENT = 64, FIRST_BLOCK = 1 << 16 };

struct tl_arena_block {
    tl_arena_block *below;
    size_t size, used;  // bytes after the header
    char *memory;       // aligned start
    size_t total;       // bytes asked of the allocator
};

void tl_arena_init(tl_arena *arena, tl_allocator alloc) { *arena = (tl_arena){.alloc = alloc}; }

static void pop_block(tl_arena *arena)
{
    tl_arena_block *block = arena->top;
    arena->top = block->below;
    tl_free_bytes(&arena->alloc, block, block->total, 1);
}

void tl_arena_free(tl_arena *arena)
{
    while (arena->top) pop_block(arena);
    arena->used = 0;
}

static tl_arena_block *push_block(tl_arena *arena, size_t size)
{
    const size_t total = sizeof(tl_arena_block) + ALIGNMENT + size;
    if (total < size) return NULL;
    tl_arena_block *block = tl_alloc_bytes(&arena->alloc, total, 1);
    if (!block) return NULL;
    const uintptr_t start = ((uintptr_t)(block + 1) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    *block = (tl_arena_block){arena->top, size, 0, (char *)start, total};
    arena->top = block;
    return block;
}

void *tl_arena_bytes(tl_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!tl_mul_size(count, size, &bytes) || bytes > PTRDIFF_MAX / 2) return NULL;
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes == 0) bytes = ALIGNMENT;
    tl_arena_block *block = arena->top;
    if (!block || block->size - block->used < bytes) {
        // A quarter of what there is, not twice: a step may hold tens of megabytes, and the next reset makes one block
        // of them.
        size_t wanted = arena->used / 4;
        if (wanted < FIRST_BLOCK) wanted = FIRST_BLOCK;
        if (wanted < bytes) wanted = bytes;
        block = push_block(arena, wanted);
        if (!block) return NULL;
    }
    void *ptr = block->memory + block->used;
    block->used += bytes;
    arena->used += bytes;
    if (arena->used > arena->high_water) arena->high_water = arena->used;
    return ptr;
}

tl_arena_mark tl_arena_save(const tl_arena *arena)
{
    return (tl_arena_mark){arena->top, arena->top ? arena->top->used : 0, arena->used};
}

void tl_arena_release(tl_arena *arena, tl_arena_mark mark)
{
    // Blocks above the mark go back at once; the high-water mark makes the next reset grow the base block.
    while (arena->top != mark.block) pop_block(arena);
    if (arena->top) arena->top->used = mark.block_used;
    arena->used = mark.used;
}

void tl_arena_reset(tl_arena *arena)
{
    const size_t wanted = arena->high_water;
    const tl_arena_block *top = arena->top;
    if (top && !top->below && top->size >= wanted) {
        arena->top->used = 0;
    } else {
        tl_arena_free(arena);
        if (wanted) push_block(arena, wanted);  // failing here is harmless: the next request tries again
    }
    arena->used = 0;
}
