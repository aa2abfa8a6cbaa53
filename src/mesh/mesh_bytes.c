// mesh/mesh_bytes.c: counts of the four domains and of panels, then the built-in columns as they lie in memory.

#include "mesh/mesh_bytes.h"

#include "base/alloc.h"
#include "mesh/mesh_internal.h"

enum { COUNTS = TL_DOMAIN_COUNT + 1 };

// Columns that are part of the mesh itself; column 0 is the free list.
static int32_t column_end(const tl_mesh *mesh, tl_domain d)
{
    return tl_column_count(mesh, d) - mesh->slots[d].attr_count;
}

size_t tl_mesh_write_bytes(const tl_mesh *mesh, void *out)
{
    int32_t count[COUNTS];
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) {
        TL_ASSERT(mesh->slots[d].live == mesh->slots[d].count, "a mesh with dead slots cannot be written");
        count[d] = mesh->slots[d].count;
    }
    count[TL_DOMAIN_COUNT] = mesh->panel_count;
    size_t at = sizeof count;
    if (out) memcpy(out, count, sizeof count);
    for (int d = 0; d < TL_DOMAIN_COUNT; d++)
        for (int32_t c = 1; c < column_end(mesh, (tl_domain)d); c++) {
            const tl_column column = tl_column_at(mesh, (tl_domain)d, c);
            const size_t bytes = (size_t)count[d] * column.size;
            if (out && bytes > 0) memcpy((char *)out + at, tl_column_data(mesh, column), bytes);
            at += bytes;
        }
    return at;
}

static tl_status fill(tl_mesh *mesh, const int32_t count[COUNTS], const char *data, size_t size, size_t *used,
                      tl_error *err)
{
    size_t at = sizeof(int32_t) * COUNTS;
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) {
        tl_slots *s = &mesh->slots[d];
        s->free_top = TL_NONE;
        size_t row = 0;
        for (int32_t c = 1; c < column_end(mesh, (tl_domain)d); c++) row += tl_column_at(mesh, (tl_domain)d, c).size;
        if (count[d] < 0 || (size - at) / row < (size_t)count[d])
            return tl_fail(err, TL_BAD_INPUT, "saved mesh: %d %s slots do not fit into %zu bytes", count[d],
                           tl_domain_name((tl_domain)d), size);
        TL_TRY(tl_slots_resize(mesh, (tl_domain)d, count[d], err));
        s->count = s->live = count[d];
        for (int32_t i = 0; i < count[d]; i++) s->next_free[i] = TL_ALIVE;
        for (int32_t c = 1; c < column_end(mesh, (tl_domain)d); c++) {
            const tl_column column = tl_column_at(mesh, (tl_domain)d, c);
            const size_t bytes = (size_t)count[d] * column.size;
            if (bytes > 0) memcpy(tl_column_data(mesh, column), data + at, bytes);
            at += bytes;
        }
    }
    *used = at;
    tl_error why = {TL_OK, ""};
    if (tl_mesh_check(mesh, &why) != TL_OK) return tl_fail(err, TL_BAD_INPUT, "saved mesh: %s", why.message);
    return TL_OK;
}

tl_status tl_mesh_read_bytes(const tl_allocator *alloc, const void *data, size_t size, tl_mesh **out, size_t *used,
                             tl_error *err)
{
    *out = NULL, *used = 0;
    int32_t count[COUNTS];
    if (size < sizeof count) return tl_fail(err, TL_BAD_INPUT, "saved mesh: %zu bytes, too short", size);
    memcpy(count, data, sizeof count);
    tl_mesh *mesh = TL_CALLOC(alloc, tl_mesh, 1);
    if (!mesh) return tl_fail_memory(err, "the mesh");
    mesh->alloc = *alloc;
    mesh->panel_count = count[TL_DOMAIN_COUNT];
    const tl_status status = fill(mesh, count, data, size, used, err);
    if (status == TL_OK)
        *out = mesh;
    else
        tl_mesh_destroy(mesh);
    return status;
}
