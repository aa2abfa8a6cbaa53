// mesh/edges.c: the unique edges of a list of triangles, found by sorting.

#include "mesh/edges.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"

tl_status tl_unique_edges(const tl_allocator *alloc, const int32_t (*face)[3], int32_t face_count, int32_t (**edge)[2],
                          int32_t *edge_count, int32_t (*face_edge)[3], tl_error *err)
{
    *edge = NULL, *edge_count = 0;
    if (face_count > INT32_MAX / 3) return tl_fail(err, TL_BAD_INPUT, "%d faces, too many", face_count);
    const int32_t n = 3 * face_count;
    tl_key *keys = TL_ALLOC(alloc, tl_key, n), *scratch = TL_ALLOC(alloc, tl_key, n);
    tl_status status = keys && scratch ? TL_OK : tl_fail_memory(err, "the edges of a surface");
    int32_t count = 0;
    if (status == TL_OK) {
        for (int32_t i = 0; i < n; i++) {
            const uint32_t a = (uint32_t)face[i / 3][i % 3], b = (uint32_t)face[i / 3][(i + 1) % 3];
            keys[i] = (tl_key){(uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), i};
        }
        tl_sort_keys(keys, scratch, n);
        for (int32_t i = 0; i < n; i++) count += i == 0 || keys[i].key != keys[i - 1].key;
        *edge = tl_alloc_bytes(alloc, (size_t)count, sizeof **edge);
        if (!*edge) status = tl_fail_memory(err, "the edges of a surface");
    }
    if (status == TL_OK) {
        *edge_count = count;
        for (int32_t i = 0, e = -1; i < n; i++) {
            if (i == 0 || keys[i].key != keys[i - 1].key) {
                e++;
                (*edge)[e][0] = (int32_t)(keys[i].key >> 32), (*edge)[e][1] = (int32_t)(keys[i].key & 0xffffffff);
            }
            if (face_edge) face_edge[keys[i].id / 3][keys[i].id % 3] = e;
        }
    }
    TL_FREE(alloc, keys, n);
    TL_FREE(alloc, scratch, n);
    return status;
}
