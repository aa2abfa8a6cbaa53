// adapt/edge_trees/bytes.c: a mesh of edge trees as bytes and back: pools with their free lists, so that ids go on as
// they would have.

#include <string.h>

#include "adapt/edge_trees/trees_impl.h"
#include "base/alloc.h"
#include "base/fail.h"

static size_t put(char *out, size_t at, const void *data, size_t bytes)
{
    if (out) memcpy(out + at, data, bytes);
    return at + bytes;
}

static size_t write_pool(const tl_trees_pool *p, char *out, size_t at)
{
    at = put(out, at, &p->count, sizeof p->count);
    at = put(out, at, &p->free_count, sizeof p->free_count);
    at = put(out, at, p->free, (size_t)p->free_count * sizeof *p->free);
    for (int32_t i = 0; i < p->count; i++) at = put(out, at, tl_trees_pool_at(p, i), p->size);
    return at;
}

size_t tl_trees_write_bytes(const tl_trees *m, char *out)
{
    return write_pool(&m->tri, out, write_pool(&m->edge, out, write_pool(&m->vert, out, 0)));
}

static bool take(const char *data, size_t size, size_t *used, void *to, size_t bytes)
{
    if (size - *used < bytes) return false;
    if (bytes > 0) memcpy(to, data + *used, bytes);
    *used += bytes;
    return true;
}

static tl_status read_pool(tl_trees_pool *p, const tl_allocator *alloc, const char *data, size_t size, size_t *used,
                           tl_error *err)
{
    int32_t count, free_count;
    if (!take(data, size, used, &count, sizeof count) || !take(data, size, used, &free_count, sizeof free_count) ||
        count < 0 || free_count < 0 || free_count > count || count % (1 << p->shift) != 0 ||
        (size - *used) / p->size < (size_t)count)
        return tl_fail(err, TL_BAD_INPUT, "saved state: edge trees are damaged");
    while (p->count < count) {  // grows by a chunk
        int32_t id;
        void *object;
        p->free_count = 0;
        TL_TRY(tl_trees_pool_take(p, alloc, &id, &object, err));
    }
    if (p->count != count) return tl_fail(err, TL_BAD_INPUT, "saved state: edge trees of fewer objects than at first");
    p->free_count = free_count;
    if (!take(data, size, used, p->free, (size_t)free_count * sizeof *p->free))
        return tl_fail(err, TL_BAD_INPUT, "saved state: too short");
    for (int32_t i = 0; i < free_count; i++)
        if (p->free[i] < 0 || p->free[i] >= count)
            return tl_fail(err, TL_BAD_INPUT, "saved state: edge trees: %d is no slot", p->free[i]);
    for (int32_t i = 0; i < count; i++)
        if (!take(data, size, used, tl_trees_pool_at(p, i), p->size))
            return tl_fail(err, TL_BAD_INPUT, "saved state: too short");
    if (count > 0) memset(p->used, 0, (size_t)(count + 63) / 64 * sizeof *p->used);
    for (int32_t i = 0; i < count; i++)
        if (*(const uint8_t *)tl_trees_pool_at(p, i)) p->used[i >> 6] |= UINT64_C(1) << (i & 63);
    return TL_OK;
}

// Free slots are those that are not in use. The first byte of every object says so.
static bool lists_free(const tl_trees_pool *p)
{
    int32_t dead = 0;
    for (int32_t i = 0; i < p->count; i++) dead += *(const uint8_t *)tl_trees_pool_at(p, i) == 0;
    for (int32_t i = 0; i < p->free_count; i++)
        if (*(const uint8_t *)tl_trees_pool_at(p, p->free[i]) != 0) return false;
    return dead == p->free_count;
}

tl_status tl_trees_read_bytes(tl_trees *m, const char *data, size_t size, size_t *used, tl_error *err)
{
    *used = 0;
    if (m->edge.system) return tl_fail(err, TL_BAD_ARG, "edge trees of single objects have no saved state");
    TL_TRY(read_pool(&m->vert, &m->alloc, data, size, used, err));
    TL_TRY(read_pool(&m->edge, &m->alloc, data, size, used, err));
    TL_TRY(read_pool(&m->tri, &m->alloc, data, size, used, err));
    const bool sound = lists_free(&m->vert) && lists_free(&m->edge) && lists_free(&m->tri);
    return sound && tl_trees_check(m, err) == TL_OK ? TL_OK
                                                    : tl_fail(err, TL_BAD_INPUT, "saved state: edge trees are damaged");
}
