// base/alloc.c: typed, overflow-checked memory through the caller's allocator.

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *libc_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user, (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

tl_allocator tl_allocator_default(void) { return (tl_allocator){libc_resize, NULL}; }

bool tl_mul_size(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }

// A zero-sized array still gets a byte, so that NULL means failure and nothing else.
static bool byte_count(size_t count, size_t size, size_t *bytes)
{
    if (!tl_mul_size(count, size, bytes)) return false;
    if (*bytes == 0) *bytes = 1;
    return *bytes <= PTRDIFF_MAX;
}

void *tl_alloc_bytes(const tl_allocator *alloc, size_t count, size_t size)
{
    size_t bytes;
    return byte_count(count, size, &bytes) ? alloc->resize(alloc->user, NULL, 0, bytes) : NULL;
}

void *tl_calloc_bytes(const tl_allocator *alloc, size_t count, size_t size)
{
    void *ptr = tl_alloc_bytes(alloc, count, size);
    if (ptr) memset(ptr, 0, count * size);
    return ptr;
}

void *tl_resize_bytes(const tl_allocator *alloc, void *ptr, size_t old_count, size_t new_count, size_t size)
{
    size_t old_bytes, new_bytes;
    if (!byte_count(old_count, size, &old_bytes) || !byte_count(new_count, size, &new_bytes)) return NULL;
    return alloc->resize(alloc->user, ptr, ptr ? old_bytes : 0, new_bytes);
}

void tl_free_bytes(const tl_allocator *alloc, void *ptr, size_t count, size_t size)
{
    size_t bytes;
    if (ptr && byte_count(count, size, &bytes)) alloc->resize(alloc->user, ptr, bytes, 0);
}

bool tl_grow_bytes(const tl_allocator *alloc, void **ptr, int32_t *cap, int64_t need, size_t size)
{
    if (need <= *cap) return true;
    if (need > INT32_MAX) return false;
    int64_t bigger = *cap < 16 ? 16 : 2 * (int64_t)*cap;
    if (bigger > INT32_MAX) bigger = INT32_MAX;
    if (bigger < need) bigger = need;
    void *moved = tl_resize_bytes(alloc, *ptr, (size_t)*cap, (size_t)bigger, size);
    if (!moved) return false;
    *ptr = moved;
    *cap = (int32_t)bigger;
    return true;
}
