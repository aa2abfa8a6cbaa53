// base/sort.h: sorting whose result is a function of the input alone.
#pragma once
#include <stdint.h>

typedef struct tl_key {
    uint64_t key;
    int32_t id;
} tl_key;

/// Sorts by (key, id) ascending; a total order when ids differ. `scratch` holds n entries as well.
void tl_sort_keys(tl_key *keys, tl_key *scratch, int32_t n);

/// Plain numbers ascending, in place: for the short lists of rows and columns, of any length.
void tl_sort_ints(int32_t *numbers, int32_t n);
void tl_sort_words(uint64_t *numbers, int32_t n);
