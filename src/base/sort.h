// base/sort.h: sorting whose result is a function of the input alone.
#pragma once
#include <stdint.h>

typedef struct tl_key { uint64_t key; int32_t id; } tl_key;

/// Sorts by (key, id) ascending; a total order when ids differ. `scratch` holds n entries as well.
void tl_sort_keys(tl_key *keys, tl_key *scratch, int32_t n);
