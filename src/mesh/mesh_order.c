// mesh/mesh_order.c: permutations along space-filling curves, applied to all columns and links.
//
// Faces and vertices are sorted by their place on the curve, ties by id. In material order a node goes where
// its first vertex goes; in world order a vertex goes where its node goes. Edges follow the faces that use
// them first. All memory is taken before the mesh changes.

#include "mesh/mesh_order.h"

#include "base/alloc.h"
#include "base/sort.h"
#include "math/vec3.h"
#include "mesh/mesh_internal.h"

enum { MAX_COLUMNS = 8 + TL_MAX_ATTRS, ITEMS_PER_CHUNK = 1024 };

// ---- curves -----------------------------------------------------------------------------------------------

enum { HILBERT_BITS = 16, MORTON_BITS = 20 };

// Distance along the Hilbert curve of order HILBERT_BITS, from the top bit down: each quadrant's curve is the whole one
// mirrored, turned or both. What is to be undone is the same for x and y: whether all bits are complemented, and
// whether the two change places.
static uint64_t hilbert(uint32_t x, uint32_t y)
{
    uint64_t d = 0;
    uint32_t flipped = 0, swapped = 0;
    for (int bit = HILBERT_BITS - 1; bit >= 0; bit--) {
        const uint32_t bx = x >> bit & 1, by = y >> bit & 1, change = (bx ^ by) & swapped;
        const uint32_t rx = bx ^ change ^ flipped, ry = by ^ change ^ flipped;
        d = d << 2 | ((3 * rx) ^ ry);
        flipped ^= rx & (ry ^ 1), swapped ^= ry ^ 1;
    }
    return d;
}

static uint64_t morton(uint32_t x, uint32_t y, uint32_t z)
{
    uint64_t d = 0;
    for (int b = MORTON_BITS - 1; b >= 0; b--) d = d << 3 | ((x >> b & 1) << 2 | (y >> b & 1) << 1 | (z >> b & 1));
    return d;
}

static uint32_t cell(double x, double low, double high, int bits)
{
    const double top = (double)(1u << bits);
    const double c = high > low ? (x - low) / (high - low) * top : 0;
    return c >= top ? (1u << bits) - 1 : (uint32_t)c;
}

// ---- the order of each domain -----------------------------------------------------------------------------

typedef struct orderer {
    const tl_mesh *mesh;
    tl_order order;
    tl_vec3 low, high;  // box of all material (z 0) or world positions
    int32_t **to;       // the maps being made, [domain][old slot]
    tl_key *keys, *scratch;
    tl_domain domain;  // the one whose keys are being made
    tl_workers *workers;
} orderer;

static void grow_box(orderer *o, tl_vec3 p)
{
    o->low = (tl_vec3){fmin(o->low.x, p.x), fmin(o->low.y, p.y), fmin(o->low.z, p.z)};
    o->high = (tl_vec3){fmax(o->high.x, p.x), fmax(o->high.y, p.y), fmax(o->high.z, p.z)};
}

static tl_vec3 vert_place(const orderer *o, int32_t v)
{
    if (o->order == TL_ORDER_WORLD) return o->mesh->pos[o->mesh->vert_node[v]];
    return (tl_vec3){o->mesh->uv[v].x, o->mesh->uv[v].y, 0};
}

static uint64_t key_of(const orderer *o, tl_vec3 p, int32_t panel)
{
    if (o->order == TL_ORDER_WORLD)
        return morton(cell(p.x, o->low.x, o->high.x, MORTON_BITS), cell(p.y, o->low.y, o->high.y, MORTON_BITS),
                      cell(p.z, o->low.z, o->high.z, MORTON_BITS));
    return (uint64_t)panel << (2 * HILBERT_BITS) |
           hilbert(cell(p.x, o->low.x, o->high.x, HILBERT_BITS), cell(p.y, o->low.y, o->high.y, HILBERT_BITS));
}

static uint64_t curve_key(const orderer *o, tl_domain d, int32_t id)
{
    const tl_mesh *mesh = o->mesh;
    if (o->order == TL_ORDER_COMPACT) return (uint64_t)id;
    if (d == TL_VERTS) {
        if (o->order == TL_ORDER_WORLD) return (uint64_t)o->to[TL_NODES][mesh->vert_node[id]];
        return key_of(o, vert_place(o, id), mesh->face_panel[mesh->vert_face[id]]);
    }
    if (d == TL_NODES) {
        if (o->order == TL_ORDER_WORLD) return key_of(o, mesh->pos[id], 0);
        int32_t first = INT32_MAX, v = mesh->node_vert[id];
        do {
            if (o->to[TL_VERTS][v] < first) first = o->to[TL_VERTS][v];
            v = mesh->vert_next[v];
        } while (v != mesh->node_vert[id]);
        return (uint64_t)first;
    }
    if (d == TL_FACES) {
        tl_vec3 sum = {0};
        for (int k = 0; k < 3; k++) sum = tl_add3(sum, vert_place(o, mesh->face_vert[id][k]));
        return key_of(o, tl_mul3(1.0 / 3, sum), mesh->face_panel[id]);
    }
    const int32_t f = o->to[TL_FACES][mesh->edge_face[id][0]];
    const int32_t g = mesh->edge_face[id][1] == TL_NONE ? f : o->to[TL_FACES][mesh->edge_face[id][1]];
    return (uint64_t)(f < g ? f : g);
}

static void keys_chunk(void *arg, int32_t begin, int32_t end)
{
    const orderer *o = arg;
    for (int32_t i = begin; i < end; i++)
        if (tl_alive(o->mesh, o->domain, i)) o->keys[i] = (tl_key){curve_key(o, o->domain, i), i};
}

static void order_domain(orderer *o, tl_domain d)
{
    const tl_slots *s = &o->mesh->slots[d];
    int32_t live = 0;
    o->domain = d;
    tl_parallel_for(o->workers, s->count, ITEMS_PER_CHUNK, keys_chunk, o);
    for (int32_t i = 0; i < s->count; i++) {
        o->to[d][i] = TL_NONE;
        if (tl_alive(o->mesh, d, i)) o->keys[live++] = o->keys[i];
    }
    tl_sort_keys(o->keys, o->scratch, live);
    for (int32_t i = 0; i < live; i++) o->to[d][o->keys[i].id] = i;
}

static tl_status find_order(const tl_mesh *mesh, tl_order order, tl_workers *workers, tl_renumbering *map,
                            tl_error *err)
{
    int32_t most = 0;
    for (int d = 0; d < TL_DOMAIN_COUNT; d++)
        if (mesh->slots[d].count > most) most = mesh->slots[d].count;
    tl_key *keys = TL_ALLOC(&mesh->alloc, tl_key, 2 * (size_t)most);
    if (!keys) return tl_fail_memory(err, "the order of the mesh");
    orderer o = {mesh, order, .to = map->to, .keys = keys, .scratch = keys + most, .workers = workers};
    bool any = false;
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) {
        if (!tl_alive(mesh, TL_VERTS, v)) continue;
        if (!any) o.low = o.high = vert_place(&o, v);
        any = true;
        grow_box(&o, vert_place(&o, v));
    }
    const bool world = order == TL_ORDER_WORLD;
    const tl_domain turn[TL_DOMAIN_COUNT] = {world ? TL_NODES : TL_VERTS, world ? TL_VERTS : TL_NODES, TL_FACES,
                                             TL_EDGES};
    for (int i = 0; i < TL_DOMAIN_COUNT; i++) order_domain(&o, turn[i]);
    TL_FREE(&mesh->alloc, keys, 2 * (size_t)most);
    return TL_OK;
}

// ---- applying it ------------------------------------------------------------------------------------------

typedef struct new_columns {
    void *data[TL_DOMAIN_COUNT][MAX_COLUMNS];
} new_columns;

static void free_columns(tl_mesh *mesh, new_columns *made)
{
    for (int d = 0; d < TL_DOMAIN_COUNT; d++)
        for (int32_t c = 0; c < tl_column_count(mesh, (tl_domain)d); c++)
            tl_free_bytes(&mesh->alloc, made->data[d][c], (size_t)mesh->slots[d].live,
                          tl_column_at(mesh, (tl_domain)d, c).size);
}

static tl_status make_columns(tl_mesh *mesh, new_columns *made, tl_error *err)
{
    *made = (new_columns){0};
    for (int d = 0; d < TL_DOMAIN_COUNT; d++)
        for (int32_t c = 0; c < tl_column_count(mesh, (tl_domain)d); c++) {
            made->data[d][c] =
                tl_alloc_bytes(&mesh->alloc, (size_t)mesh->slots[d].live, tl_column_at(mesh, (tl_domain)d, c).size);
            if (made->data[d][c]) continue;
            free_columns(mesh, made);
            return tl_fail_memory(err, "the reordered mesh");
        }
    return TL_OK;
}

// Copies the rows of a column to their new places. Sizes are spelled out: a copy of known size is one or two
// instructions.
static void move_column(const char *old, char *fresh, size_t size, const int32_t *to, int32_t count)
{
#define MOVE(bytes)                                                                                                    \
    case bytes:                                                                                                        \
        for (int32_t i = 0; i < count; i++)                                                                            \
            if (to[i] != TL_NONE) memcpy(fresh + (size_t)to[i] * (bytes), old + (size_t)i * (bytes), bytes);           \
        return
    switch (size) {
        MOVE(4);
        MOVE(8);
        MOVE(12);
        MOVE(16);
        MOVE(24);
        MOVE(48);
    }
#undef MOVE
    for (int32_t i = 0; i < count; i++)
        if (to[i] != TL_NONE) memcpy(fresh + (size_t)to[i] * size, old + (size_t)i * size, size);
}

typedef struct move_job {
    tl_mesh *mesh;
    const tl_renumbering *map;
    new_columns *made;
} move_job;

// One column of any domain at a time.
static void move_chunk(void *arg, int32_t begin, int32_t end)
{
    const move_job *job = arg;
    for (int32_t i = begin; i < end; i++) {
        const int d = i / MAX_COLUMNS, c = i % MAX_COLUMNS;
        if (c >= tl_column_count(job->mesh, (tl_domain)d)) continue;
        const tl_column column = tl_column_at(job->mesh, (tl_domain)d, c);
        move_column(tl_column_data(job->mesh, column), job->made->data[d][c], column.size, job->map->to[d],
                    job->mesh->slots[d].count);
    }
}

static void move_rows(tl_mesh *mesh, const tl_renumbering *map, new_columns *made, tl_workers *workers)
{
    tl_parallel_for(workers, TL_DOMAIN_COUNT * MAX_COLUMNS, 1, move_chunk, &(move_job){mesh, map, made});
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) {
        tl_slots *s = &mesh->slots[d];
        for (int32_t c = 0; c < tl_column_count(mesh, (tl_domain)d); c++) {
            const tl_column column = tl_column_at(mesh, (tl_domain)d, c);
            tl_free_bytes(&mesh->alloc, tl_column_data(mesh, column), (size_t)s->capacity, column.size);
            tl_column_set(mesh, column, made->data[d][c]);
        }
        s->count = s->capacity = s->live;
        s->free_top = TL_NONE;
    }
}

/// Columns of ids, and the maps of what they name.
typedef struct link_column {
    int32_t *links;
    int64_t count;
    const int32_t *to;
} link_column;

static void relink_chunk(void *arg, int32_t begin, int32_t end)
{
    const link_column *columns = arg;
    for (int32_t c = begin; c < end; c++)
        for (int64_t i = 0; i < columns[c].count; i++)
            if (columns[c].links[i] != TL_NONE) columns[c].links[i] = columns[c].to[columns[c].links[i]];
}

static void relink(tl_mesh *mesh, const tl_renumbering *map, tl_workers *workers)
{
    const int64_t nodes = mesh->slots[TL_NODES].count, verts = mesh->slots[TL_VERTS].count;
    const int64_t edges = mesh->slots[TL_EDGES].count, faces = mesh->slots[TL_FACES].count;
    link_column columns[] = {{&mesh->face_vert[0][0], 3 * faces, map->to[TL_VERTS]},
                             {&mesh->face_edge[0][0], 3 * faces, map->to[TL_EDGES]},
                             {&mesh->edge_node[0][0], 2 * edges, map->to[TL_NODES]},
                             {&mesh->edge_face[0][0], 2 * edges, map->to[TL_FACES]},
                             {mesh->node_vert, nodes, map->to[TL_VERTS]},
                             {mesh->vert_node, verts, map->to[TL_NODES]},
                             {mesh->vert_next, verts, map->to[TL_VERTS]},
                             {mesh->vert_face, verts, map->to[TL_FACES]}};
    tl_parallel_for(workers, (int32_t)(sizeof columns / sizeof columns[0]), 1, relink_chunk, columns);
}

tl_status tl_mesh_reorder(tl_mesh *mesh, tl_order order, tl_workers *workers, tl_renumbering *out, tl_error *err)
{
    if (out) *out = (tl_renumbering){0};
    if (!tl_record_empty(mesh))
        return tl_fail(err, TL_BAD_ARG, "reorder: %d edits are recorded, clear them first", tl_mesh_mark(mesh));
    tl_renumbering map = {0};
    tl_status status = TL_OK;
    for (int d = 0; d < TL_DOMAIN_COUNT && status == TL_OK; d++) {
        map.count[d] = mesh->slots[d].count;
        map.to[d] = TL_ALLOC(&mesh->alloc, int32_t, map.count[d]);
        if (!map.to[d]) status = tl_fail_memory(err, "the order of the mesh");
    }
    new_columns made;
    if (status == TL_OK) status = find_order(mesh, order, workers, &map, err);
    if (status == TL_OK) status = make_columns(mesh, &made, err);
    if (status != TL_OK) {
        tl_renumbering_free(mesh, &map);
        return status;
    }
    move_rows(mesh, &map, &made, workers);
    relink(mesh, &map, workers);
    if (out)
        *out = map;
    else
        tl_renumbering_free(mesh, &map);
    return TL_OK;
}

void tl_renumbering_free(const tl_mesh *mesh, tl_renumbering *r)
{
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) TL_FREE(&mesh->alloc, r->to[d], r->count[d]);
    *r = (tl_renumbering){0};
}
