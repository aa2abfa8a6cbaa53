// tests/ledger.h: an allocator that counts, and refuses when told to.
#pragma once
#include <stdint.h>
#include <stdlib.h>

#include "toile/base.h"

/// Counts requests and live bytes; refuses request number `fail_at` and all after it.
typedef struct ledger { int64_t requests, fail_at, live; } ledger;

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
