// adapt/edge_trees/trees.c: pools of objects, and the base mesh.

#include "adapt/edge_trees/trees_impl.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"

enum { DEFAULT_CHUNK = 256, MOST_OBJECTS = 1 << 30 };

// ---- pools ----------------------------------------------------------------------------------------------------

static void pool_init(tl_trees_pool *p, size_t size, const tl_trees_def *def)
{
    const int32_t wanted = def->chunk > 0 ? def->chunk : DEFAULT_CHUNK;
    p->size = size;
    p->system = def->storage == TL_TREES_SYSTEM;
    while (!p->system && p->shift < 20 && 1 << p->shift < wanted) p->shift++;
}

static void pool_destroy(tl_trees_pool *p, const tl_allocator *alloc)
{
    for (int32_t i = 0; i < p->chunk_count; i++) tl_free_bytes(alloc, p->chunk[i], (size_t)1 << p->shift, p->size);
    TL_FREE(alloc, p->chunk, p->chunk_cap);
    TL_FREE(alloc, p->free, p->free_cap);
    TL_FREE(alloc, p->used, p->used_cap);
}

static tl_status pool_grow(tl_trees_pool *p, const tl_allocator *alloc, tl_error *err)
{
    const int32_t per_chunk = 1 << p->shift;
    if (p->count > MOST_OBJECTS - per_chunk) return tl_fail(err, TL_FAILED, "edge trees: too many objects");
    if (!TL_GROW(alloc, p->chunk, p->chunk_cap, (int64_t)p->chunk_count + 1) ||
        !TL_GROW(alloc, p->free, p->free_cap, (int64_t)p->count + per_chunk))
        return tl_fail_memory(err, "a pool of edge trees");
    const int32_t words = p->count / 64 + (p->count % 64 > 0), more = (p->count + per_chunk + 63) / 64;
    if (!TL_GROW(alloc, p->used, p->used_cap, more)) return tl_fail_memory(err, "a pool of edge trees");
    for (int32_t w = words; w < more; w++) p->used[w] = 0;
    char *chunk = tl_calloc_bytes(alloc, (size_t)per_chunk, p->size);
    if (!chunk) return tl_fail_memory(err, "a pool of edge trees");
    p->chunk[p->chunk_count++] = chunk;
    for (int32_t i = per_chunk - 1; i >= 0; i--) p->free[p->free_count++] = p->count + i;
    p->count += per_chunk;
    return TL_OK;
}

tl_status tl_trees_pool_reserve(tl_trees_pool *p, const tl_allocator *alloc, int32_t count, tl_error *err)
{
    while (p->free_count < count) TL_TRY(pool_grow(p, alloc, err));
    return TL_OK;
}

tl_status tl_trees_pool_take(tl_trees_pool *p, const tl_allocator *alloc, int32_t *id, void **object, tl_error *err)
{
    if (p->free_count == 0) TL_TRY(pool_grow(p, alloc, err));
    const int32_t i = p->free[p->free_count - 1];
    if (p->system && !p->chunk[i]) {
        p->chunk[i] = tl_calloc_bytes(alloc, 1, p->size);
        if (!p->chunk[i]) return tl_fail_memory(err, "an object of edge trees");
    }
    p->free_count--;
    p->used[i >> 6] |= UINT64_C(1) << (i & 63);
    *id = i;
    *object = tl_trees_pool_at(p, i);
    return TL_OK;
}

void tl_trees_pool_give(tl_trees_pool *p, const tl_allocator *alloc, int32_t id)
{
    if (p->system) {
        tl_free_bytes(alloc, p->chunk[id], 1, p->size);
        p->chunk[id] = NULL;
    } else {
        *(uint8_t *)tl_trees_pool_at(p, id) = 0;  // its flags
    }
    p->free[p->free_count++] = id;
    p->used[id >> 6] &= ~(UINT64_C(1) << (id & 63));
}

// ---- the base mesh --------------------------------------------------------------------------------------------

static tl_status add_verts(tl_trees *m, int32_t count, tl_error *err)
{
    for (int32_t i = 0, id; i < count; i++) {
        void *object;
        TL_TRY(tl_trees_pool_take(&m->vert, &m->alloc, &id, &object, err));
        *(tl_trees_vert *)object = (tl_trees_vert){1, 0, {TL_TREES_NONE, TL_TREES_NONE}};
    }
    return TL_OK;
}

static tl_status add_tris(tl_trees *m, const tl_trees_def *def, tl_error *err)
{
    const int32_t none = TL_TREES_NONE;
    for (int32_t i = 0, id; i < def->tri_count; i++) {
        const int32_t *v = def->tri[i];
        for (int k = 0; k < 3; k++)
            if (v[k] < 0 || v[k] >= def->vert_count || v[k] == v[(k + 1) % 3])
                return tl_fail(err, TL_BAD_ARG, "edge trees: face %d has vertices %d %d %d of %d", i, v[0], v[1], v[2],
                               def->vert_count);
        void *object;
        TL_TRY(tl_trees_pool_take(&m->tri, &m->alloc, &id, &object, err));
        *(tl_trees_tri *)object = (tl_trees_tri){.vert = {v[0], v[1], v[2]},
                                                 .inner_edge = {none, none, none},
                                                 .inner_tri = {none, none, none, none},
                                                 .uv = {def->uv[i][0], def->uv[i][1], def->uv[i][2]},
                                                 .flags = TL_TREES_TRI_LIVE};
    }
    return TL_OK;
}

static tl_status add_edge(tl_trees *m, int32_t half, int32_t other, tl_error *err)
{
    int32_t id;
    void *object;
    TL_TRY(tl_trees_pool_take(&m->edge, &m->alloc, &id, &object, err));
    const int32_t none = TL_TREES_NONE;
    tl_trees_tri *t = tl_trees_t(m, half / 3);
    *(tl_trees_edge *)object = (tl_trees_edge){.a = t->vert[half % 3],
                                               .b = t->vert[(half % 3 + 1) % 3],
                                               .mid = none,
                                               .child = {none, none},
                                               .tri = {half / 3, other < 0 ? none : other / 3},
                                               .flags = TL_TREES_EDGE_LIVE};
    t->edge[half % 3] = 2 * id;
    if (other >= 0) tl_trees_t(m, other / 3)->edge[other % 3] = 2 * id + 1;
    return TL_OK;
}

static int32_t vert_of(const tl_trees *m, int32_t half, int32_t end)
{
    return tl_trees_t(m, half / 3)->vert[(half % 3 + end) % 3];
}

// Half-edges sorted by the pair of their vertices: edges come in an order that depends on the input alone.
static tl_status add_edges(tl_trees *m, int32_t tri_count, tl_key *keys, tl_key *scratch, tl_error *err)
{
    const int32_t n = 3 * tri_count;
    for (int32_t i = 0; i < n; i++) {
        const uint32_t a = (uint32_t)vert_of(m, i, 0), b = (uint32_t)vert_of(m, i, 1);
        keys[i] = (tl_key){(uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), i};
    }
    tl_sort_keys(keys, scratch, n);
    for (int32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && keys[end].key == keys[i].key;) end++;
        const int32_t one = keys[i].id, other = end - i == 1 ? -1 : keys[i + 1].id;
        if (end - i > 2)
            return tl_fail(err, TL_BAD_INPUT, "edge trees: %d faces meet at one edge, of face %d", end - i, one / 3);
        if (other >= 0 && vert_of(m, one, 0) == vert_of(m, other, 0))
            return tl_fail(err, TL_BAD_INPUT, "edge trees: faces %d and %d are neighbours of opposite orientation",
                           one / 3, other / 3);
        TL_TRY(add_edge(m, one, other, err));
    }
    return TL_OK;
}

static tl_status fill_in(tl_trees *m, const tl_trees_def *def, tl_error *err)
{
    if (def->tri_count < 0 || def->tri_count > INT32_MAX / 3 || def->vert_count < 0)
        return tl_fail(err, TL_BAD_ARG, "edge trees: %d faces on %d vertices", def->tri_count, def->vert_count);
    TL_TRY(add_verts(m, def->vert_count, err));
    TL_TRY(add_tris(m, def, err));
    const int32_t n = 3 * def->tri_count;
    tl_key *keys = TL_ALLOC(&m->alloc, tl_key, n), *scratch = TL_ALLOC(&m->alloc, tl_key, n);
    const tl_status status =
        keys && scratch ? add_edges(m, def->tri_count, keys, scratch, err) : tl_fail_memory(err, "edges");
    TL_FREE(&m->alloc, keys, n);
    TL_FREE(&m->alloc, scratch, n);
    return status;
}

tl_status tl_trees_create(const tl_allocator *alloc, const tl_trees_def *def, tl_trees **out, tl_error *err)
{
    *out = NULL;
    tl_trees *m = TL_CALLOC(alloc, tl_trees, 1);
    if (!m) return tl_fail_memory(err, "a mesh of edge trees");
    m->alloc = *alloc;
    m->transition = def->transition;
    pool_init(&m->vert, sizeof(tl_trees_vert), def);
    pool_init(&m->edge, sizeof(tl_trees_edge), def);
    pool_init(&m->tri, sizeof(tl_trees_tri), def);
    tl_trees_make_tables(&m->tables);
    const tl_status status = fill_in(m, def, err);
    if (status == TL_OK)
        *out = m;
    else
        tl_trees_destroy(m);
    return status;
}

void tl_trees_destroy(tl_trees *m)
{
    if (!m) return;
    const tl_allocator alloc = m->alloc;
    pool_destroy(&m->vert, &alloc);
    pool_destroy(&m->edge, &alloc);
    pool_destroy(&m->tri, &alloc);
    TL_FREE(&alloc, m->tagged, m->tagged_cap);
    TL_FREE(&alloc, m->going, m->going_cap);
    TL_FREE(&alloc, m->fresh, m->fresh_cap);
    TL_FREE(&alloc, m->action, m->action_cap);
    TL_FREE(&alloc, m->parent, m->parent_cap);
    TL_FREE(&alloc, m->leaf_tri, m->leaf_tri_cap);
    TL_FREE(&alloc, m->leaf_vert, m->leaf_vert_cap);
    TL_FREE(&alloc, m->leaf_index, m->leaf_index_cap);
    TL_FREE(&alloc, m->leaf_edge, m->leaf_edge_cap);
    TL_FREE(&alloc, m, 1);
}

// ---- views ----------------------------------------------------------------------------------------------------

static const void *slot(const tl_trees_pool *p, int32_t i)
{
    return p->chunk[i >> p->shift] ? tl_trees_pool_at(p, i) : NULL;
}

const tl_trees_edge *tl_trees_edge_at(const tl_trees *m, int32_t e) { return slot(&m->edge, e); }
const tl_trees_tri *tl_trees_tri_at(const tl_trees *m, int32_t t) { return slot(&m->tri, t); }
const tl_trees_vert *tl_trees_vert_at(const tl_trees *m, int32_t v) { return slot(&m->vert, v); }

int32_t tl_trees_next_edge(const tl_trees *m, int32_t e) { return tl_trees_pool_next(&m->edge, e, m->edge.count); }

static int64_t pool_bytes(const tl_trees_pool *p)
{
    const int64_t objects = p->system ? p->count - p->free_count : p->count;
    return objects * (int64_t)p->size + (int64_t)p->chunk_cap * (int64_t)sizeof(char *) + (int64_t)p->free_cap * 4;
}

tl_trees_counts tl_trees_count(const tl_trees *m)
{
    return (tl_trees_counts){.vert_slots = m->vert.count,
                             .edge_slots = m->edge.count,
                             .tri_slots = m->tri.count,
                             .verts = m->vert.count - m->vert.free_count,
                             .edges = m->edge.count - m->edge.free_count,
                             .tris = m->tri.count - m->tri.free_count,
                             .bytes = pool_bytes(&m->vert) + pool_bytes(&m->edge) + pool_bytes(&m->tri)};
}
