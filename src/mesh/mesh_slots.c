// mesh/mesh_slots.c: per-element arrays as columns; growing them, taking and giving back slots, hashing.

#include <stddef.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "mesh/mesh_internal.h"

enum { MAX_COLUMNS = 8 + TL_MAX_ATTRS };

#define COLUMN(field, finite)                                                                                          \
    {                                                                                                                  \
        offsetof(tl_mesh, field), sizeof *((tl_mesh *)0)->field, finite                                                \
    }

static const tl_column node_columns[] = {COLUMN(pos, true), COLUMN(vel, true), COLUMN(node_vert, false),
                                         COLUMN(node_label, false)};
static const tl_column vert_columns[] = {COLUMN(uv, true), COLUMN(vert_node, false), COLUMN(vert_next, false),
                                         COLUMN(vert_face, false)};
static const tl_column edge_columns[] = {COLUMN(edge_node, false), COLUMN(edge_face, false), COLUMN(edge_label, false),
                                         COLUMN(edge_rest, true)};
static const tl_column face_columns[] = {COLUMN(face_vert, false), COLUMN(face_edge, false), COLUMN(face_label, false),
                                         COLUMN(face_panel, false)};

enum { BUILT_IN = 4 };  // in every domain
static const tl_column *const built_in[TL_DOMAIN_COUNT] = {node_columns, vert_columns, edge_columns, face_columns};

const char *tl_domain_name(tl_domain d)
{
    static const char *const names[TL_DOMAIN_COUNT] = {"node", "vertex", "edge", "face"};
    return names[d];
}

int32_t tl_column_count(const tl_mesh *mesh, tl_domain d) { return 1 + BUILT_IN + mesh->slots[d].attr_count; }

tl_column tl_column_at(const tl_mesh *mesh, tl_domain d, int32_t index)
{
    const size_t slots = offsetof(tl_mesh, slots) + (size_t)d * sizeof(tl_slots);
    if (index == 0) return (tl_column){slots + offsetof(tl_slots, next_free), sizeof(int32_t), false};
    if (index <= BUILT_IN) return built_in[d][index - 1];
    const int32_t a = index - 1 - BUILT_IN;
    const tl_attr *attr = &mesh->slots[d].attrs[a];
    const size_t number = attr->type == TL_DOUBLE ? sizeof(double) : sizeof(int32_t);
    return (tl_column){slots + offsetof(tl_slots, attrs) + (size_t)a * sizeof(tl_attr) + offsetof(tl_attr, data),
                       number * (size_t)attr->width, attr->type == TL_DOUBLE};
}

// All new arrays are made before any old one is let go, so a failure half way leaves nothing to repair.
tl_status tl_slots_resize(tl_mesh *mesh, tl_domain d, int32_t capacity, tl_error *err)
{
    tl_slots *s = &mesh->slots[d];
    const int32_t columns = tl_column_count(mesh, d);
    void *made[MAX_COLUMNS];
    for (int32_t c = 0; c < columns; c++) {
        made[c] = tl_alloc_bytes(&mesh->alloc, (size_t)capacity, tl_column_at(mesh, d, c).size);
        if (made[c]) continue;
        while (c-- > 0) tl_free_bytes(&mesh->alloc, made[c], (size_t)capacity, tl_column_at(mesh, d, c).size);
        return tl_fail(err, TL_NO_MEMORY, "out of memory while making room for %d %s slots", capacity,
                       tl_domain_name(d));
    }
    for (int32_t c = 0; c < columns; c++) {
        const tl_column column = tl_column_at(mesh, d, c);
        void *old = tl_column_data(mesh, column);
        if (s->count > 0) memcpy(made[c], old, (size_t)s->count * column.size);
        tl_free_bytes(&mesh->alloc, old, (size_t)s->capacity, column.size);
        tl_column_set(mesh, column, made[c]);
    }
    s->capacity = capacity;
    return TL_OK;
}

tl_status tl_slots_reserve(tl_mesh *mesh, tl_domain d, int32_t extra, tl_error *err)
{
    const tl_slots *s = &mesh->slots[d];
    const int64_t need = (int64_t)s->live + extra > s->count ? (int64_t)s->live + extra : s->count;
    if (need <= s->capacity) return TL_OK;
    if (need > INT32_MAX) return tl_fail(err, TL_NO_MEMORY, "more than %d %s slots", INT32_MAX, tl_domain_name(d));
    int64_t bigger = 2 * (int64_t)s->capacity < 16 ? 16 : 2 * (int64_t)s->capacity;
    if (bigger < need) bigger = need;
    if (bigger > INT32_MAX) bigger = INT32_MAX;
    return tl_slots_resize(mesh, d, (int32_t)bigger, err);
}

static void free_slots(tl_mesh *mesh, tl_domain d)
{
    for (int32_t c = 0; c < tl_column_count(mesh, d); c++) {
        const tl_column column = tl_column_at(mesh, d, c);
        tl_free_bytes(&mesh->alloc, tl_column_data(mesh, column), (size_t)mesh->slots[d].capacity, column.size);
        tl_column_set(mesh, column, NULL);
    }
    mesh->slots[d] = (tl_slots){.free_top = TL_NONE};
}

int32_t tl_slot_peek(const tl_mesh *mesh, tl_domain d, int32_t ahead)
{
    const tl_slots *s = &mesh->slots[d];
    int32_t id = s->free_top;
    for (; ahead > 0 && id != TL_NONE; ahead--) id = s->next_free[id];
    return id != TL_NONE ? id : s->count + ahead;
}

int32_t tl_slot_take(tl_mesh *mesh, tl_domain d)
{
    tl_slots *s = &mesh->slots[d];
    int32_t id = s->free_top;
    if (id != TL_NONE) {
        s->free_top = s->next_free[id];
    } else {
        TL_ASSERT(s->count < s->capacity, "a slot was taken that nobody had reserved");
        id = s->count++;
    }
    for (int32_t c = 0; c < tl_column_count(mesh, d); c++) {
        const tl_column column = tl_column_at(mesh, d, c);
        memset((char *)tl_column_data(mesh, column) + (size_t)id * column.size, 0, column.size);
    }
    s->next_free[id] = TL_ALIVE;
    s->live++;
    return id;
}

void tl_slot_give(tl_mesh *mesh, tl_domain d, int32_t id)
{
    tl_slots *s = &mesh->slots[d];
    TL_ASSERT(s->next_free[id] == TL_ALIVE, "a dead slot was given back");
    s->next_free[id] = s->free_top;
    s->free_top = id;
    s->live--;
}

uint64_t tl_mesh_hash(const tl_mesh *mesh)
{
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, &mesh->panel_count, sizeof mesh->panel_count);
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) {
        const tl_slots *s = &mesh->slots[d];
        const int32_t head[4] = {s->count, s->live, s->free_top, s->attr_count};
        tl_hash_add(&hash, head, sizeof head);
        for (int32_t c = 0; c < tl_column_count(mesh, (tl_domain)d); c++) {
            const tl_column column = tl_column_at(mesh, (tl_domain)d, c);
            tl_hash_add(&hash, tl_column_data(mesh, column), (size_t)s->count * column.size);
        }
    }
    return tl_hash_value(&hash);
}

void tl_mesh_destroy(tl_mesh *mesh)
{
    if (!mesh) return;
    tl_mesh_record_stop(mesh);
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) free_slots(mesh, (tl_domain)d);
    const tl_allocator alloc = mesh->alloc;
    TL_FREE(&alloc, mesh->scratch, mesh->scratch_cap);
    TL_FREE(&alloc, mesh, 1);
}
