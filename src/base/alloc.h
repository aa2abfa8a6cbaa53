// base/alloc.h: typed, overflow-checked memory through the caller's allocator.
//
// Arrays are freed with the count they were made with, so an allocator can keep exact books.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

/// a * b into *out; false on overflow.
bool tl_mul_size(size_t a, size_t b, size_t *out);

/// `count` elements of `size` bytes, not initialised. NULL when memory runs out or the product overflows;
/// a valid pointer when count is 0, so NULL always means failure.
void *tl_alloc_bytes(const tl_allocator *alloc, size_t count, size_t size);
void *tl_calloc_bytes(const tl_allocator *alloc, size_t count, size_t size);

/// Resizes from `old_count` to `new_count` elements; on failure returns NULL and leaves `ptr` alone.
void *tl_resize_bytes(const tl_allocator *alloc, void *ptr, size_t old_count, size_t new_count, size_t size);

/// `ptr` may be NULL.
void tl_free_bytes(const tl_allocator *alloc, void *ptr, size_t count, size_t size);

#define TL_ALLOC(alloc, type, count) ((type *)tl_alloc_bytes((alloc), (size_t)(count), sizeof(type)))
#define TL_CALLOC(alloc, type, count) ((type *)tl_calloc_bytes((alloc), (size_t)(count), sizeof(type)))
/// Zeroed memory for `ptr`, whatever it points to:  a->items = TL_CALLOC_FOR(alloc, a->items, n);
#define TL_CALLOC_FOR(alloc, ptr, count) tl_calloc_bytes((alloc), (size_t)(count), sizeof *(ptr))
#define TL_FREE(alloc, ptr, count) (tl_free_bytes((alloc), (ptr), (size_t)(count), sizeof *(ptr)), (ptr) = NULL)

/// Makes room for `need` elements in an array with capacity *cap (both updated), doubling. False: no memory,
/// nothing changed.  Use: if (!TL_GROW(alloc, a->items, a->cap, n + 1)) return tl_fail_memory(err, "items");
bool tl_grow_bytes(const tl_allocator *alloc, void **ptr, int32_t *cap, int64_t need, size_t size);
#define TL_GROW(alloc, ptr, cap, need) tl_grow_bytes((alloc), (void **)&(ptr), &(cap), (int64_t)(need), sizeof *(ptr))
