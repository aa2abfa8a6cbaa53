// math/percentile.c: sort by value, add up the weights.

#include "math/percentile.h"

#include <string.h>

#include "base/fail.h"
#include "base/sort.h"

// An integer that is in the order of the numbers: negative ones have all bits turned, others the sign.
static uint64_t key_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

tl_status tl_percentiles(const double *value, const double *weight, int32_t count, const double *part,
                         int32_t part_count, double *out, tl_arena *arena, tl_error *err)
{
    for (int32_t k = 0; k < part_count; k++) out[k] = 0;
    if (count <= 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(arena);
    tl_key *keys = TL_SCRATCH(arena, tl_key, count), *scratch = TL_SCRATCH(arena, tl_key, count);
    if (!keys || !scratch) return tl_fail_memory(err, "percentiles");
    double whole = 0;
    for (int32_t i = 0; i < count; i++) keys[i] = (tl_key){key_of(value[i]), i};
    tl_sort_keys(keys, scratch, count);
    for (int32_t i = 0; i < count; i++) whole += weight[keys[i].id];
    for (int32_t k = 0; k < part_count; k++) {
        double sum = 0;
        out[k] = value[keys[count - 1].id];
        for (int32_t i = 0; i < count; i++) {
            sum += weight[keys[i].id];
            if (sum < part[k] * whole) continue;
            out[k] = value[keys[i].id];
            break;
        }
    }
    tl_arena_release(arena, mark);
    return TL_OK;
}
