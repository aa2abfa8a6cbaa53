// base/sort.c: plain numbers in place; (key, id) pairs: digit by digit if ids ascend, else a bottom-up merge sort:
// stable, n log n, no recursion.
//
// Sorts by digits are stable, so equal keys keep the order of their ids. Digits that all keys have in common cost
// nothing.

#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

static bool less(const tl_key *a, const tl_key *b) { return a->key != b->key ? a->key < b->key : a->id < b->id; }

static void insertion_sort(tl_key *k, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        const tl_key x = k[i];
        int32_t j = i;
        for (; j > 0 && less(&x, &k[j - 1]); j--) k[j] = k[j - 1];
        k[j] = x;
    }
}

enum { DIGITS = 8, DIGIT_VALUES = 256, FEW = 256 };  // of fewer keys than that, merging is faster

static bool ids_ascend(const tl_key *keys, int32_t n)
{
    for (int32_t i = 1; i < n; i++)
        if (keys[i].id <= keys[i - 1].id) return false;
    return true;
}

static void sort_digits(tl_key *keys, tl_key *scratch, int32_t n)
{
    int32_t count[DIGITS][DIGIT_VALUES] = {{0}};
    for (int32_t i = 0; i < n; i++)
        for (int d = 0; d < DIGITS; d++) count[d][keys[i].key >> (8 * d) & 255]++;
    tl_key *from = keys, *to = scratch;
    for (int d = 0; d < DIGITS; d++) {
        int32_t *at = count[d];
        if (at[keys[0].key >> (8 * d) & 255] == n) continue;
        for (int32_t k = 0, sum = 0; k < DIGIT_VALUES; k++) {
            const int32_t these = at[k];
            at[k] = sum, sum += these;
        }
        for (int32_t i = 0; i < n; i++) to[at[from[i].key >> (8 * d) & 255]++] = from[i];
        tl_key *swap = from;
        from = to, to = swap;
    }
    if (from != keys) memcpy(keys, from, (size_t)n * sizeof *keys);
}

void tl_sort_keys(tl_key *keys, tl_key *scratch, int32_t n)
{
    if (n > FEW && ids_ascend(keys, n)) {
        sort_digits(keys, scratch, n);
        return;
    }
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

// Shell sort; gaps of Ciura 2001.
static const int32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};

#define SHELL_SORT(type, a, n)                                                                                         \
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)                                                            \
        for (int32_t i = gaps[g]; i < (n); i++) {                                                                      \
            const type v = (a)[i];                                                                                     \
            int32_t k = i;                                                                                             \
            for (; k >= gaps[g] && (a)[k - gaps[g]] > v; k -= gaps[g]) (a)[k] = (a)[k - gaps[g]];                      \
            (a)[k] = v;                                                                                                \
        }

void tl_sort_ints(int32_t *numbers, int32_t n) { SHELL_SORT(int32_t, numbers, n) }
void tl_sort_words(uint64_t *numbers, int32_t n) { SHELL_SORT(uint64_t, numbers, n) }
