// base/sort.c: bottom-up merge sort of (key, id) pairs: stable, n log n, no recursion.

#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

static bool less(const tl_key *a, const tl_key *b)
{
    return a->key != b->key ? a->key < b->key : a->id < b->id;
}

static void insertion_sort(tl_key *k, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        const tl_key x = k[i];
        int32_t j = i;
        for (; j > 0 && less(&x, &k[j - 1]); j--) k[j] = k[j - 1];
        k[j] = x;
    }
}

void tl_sort_keys(tl_key *keys, tl_key *scratch, int32_t n)
{
    enum { RUN = 16 };
    for (int32_t i = 0; i < n; i += RUN) insertion_sort(keys + i, n - i < RUN ? n - i : RUN);
    tl_key *from = keys, *to = scratch;
    for (int64_t width = RUN; width < n; width *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * width) {
            const int64_t mid = lo + width < n ? lo + width : n;
            const int64_t hi = lo + 2 * width < n ? lo + 2 * width : n;
            int64_t a = lo, b = mid;
            for (int64_t k = lo; k < hi; k++)
                to[k] = a < mid && (b >= hi || !less(&from[b], &from[a])) ? from[a++] : from[b++];
        }
        tl_key *swap = from;
        from = to, to = swap;
    }
    if (from != keys && n > 0) memcpy(keys, from, (size_t)n * sizeof *keys);
}
