// tests/ledger.h: allocators that count, and refuse when told to.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "toile/base.h"

/// Counts requests and live bytes; refuses request number `fail_at` and all after it.
typedef struct ledger {
    int64_t requests, fail_at, live;
} ledger;

static inline void *ledger_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    ledger *l = user;
    if (new_size > 0 && ++l->requests >= l->fail_at) return NULL;
    l->live += (int64_t)new_size - (int64_t)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

/// The same in more detail; refuses request number `fail_at` alone, and fills what it gives.
typedef struct books {
    int64_t bytes;     ///< in use, by the sizes we are told
    int64_t blocks;    ///< in use
    int64_t requests;  ///< so far
    int64_t fail_at;   ///< 0: none
} books;

static inline void *books_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    books *b = user;
    if (new_size > 0 && ++b->requests == b->fail_at) return NULL;
    void *moved = NULL;
    if (new_size == 0) {
        free(ptr);
    } else {
        moved = realloc(ptr, new_size);
        if (!moved) return NULL;
        if (new_size > old_size) memset((char *)moved + old_size, 0xA5, new_size - old_size);  // no lucky zeros
    }
    b->bytes += (int64_t)new_size - (int64_t)old_size;
    b->blocks += (new_size > 0) - (ptr != NULL);
    return moved;
}

static inline tl_allocator books_allocator(books *b) { return (tl_allocator){books_resize, b}; }
