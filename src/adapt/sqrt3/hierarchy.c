// adapt/sqrt3/hierarchy.c: storage of the layers, and layer 0 from a mesh.

#include "adapt/sqrt3/hierarchy_impl.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"

// ---- slots ----------------------------------------------------------------------------------------------------

tl_status tl_sqrt3_new_tri(tl_sqrt3 *h, int32_t layer, tl_sqrt3_tri value, int32_t *out, tl_error *err)
{
    tl_sqrt3_layer_data *l = &h->layer[layer];
    int32_t t = l->free;
    if (t != TL_SQRT3_NONE) {
        l->free = l->tri[t].vert[0];
    } else {
        if (l->count >= INT32_MAX / 3) return tl_fail(err, TL_FAILED, "layer %d has too many triangles", layer);
        if (!TL_GROW(&h->alloc, l->tri, l->cap, l->count + 1)) return tl_fail_memory(err, "a layer of triangles");
        t = l->count++;
    }
    l->tri[t] = value;
    l->tri[t].flags |= TL_SQRT3_LIVE;
    l->live++;
    *out = t;
    return TL_OK;
}

void tl_sqrt3_free_tri(tl_sqrt3 *h, int32_t layer, int32_t t)
{
    tl_sqrt3_layer_data *l = &h->layer[layer];
    l->tri[t] = (tl_sqrt3_tri){.vert = {l->free, 0, 0}};
    l->free = t;
    l->live--;
}

static tl_status new_node(tl_sqrt3 *h, int32_t *out, tl_error *err)
{
    if (h->node_free != TL_SQRT3_NONE) {
        *out = h->node_free;
        h->node_free = h->node_link[*out];
        h->node_link[*out] = TL_SQRT3_NONE;
        return TL_OK;
    }
    if (!TL_GROW(&h->alloc, h->node_link, h->node_cap, (int64_t)h->node_count + 1))
        return tl_fail_memory(err, "nodes of the hierarchy");
    h->node_link[h->node_count] = TL_SQRT3_NONE;
    *out = h->node_count++;
    return TL_OK;
}

tl_status tl_sqrt3_new_vert(tl_sqrt3 *h, tl_vec2 uv, int32_t node, int32_t *out, tl_error *err)
{
    // Room first, so that a failure leaves no node behind.
    if (h->vert_free == TL_SQRT3_NONE && !TL_GROW(&h->alloc, h->vert, h->vert_cap, (int64_t)h->vert_count + 1))
        return tl_fail_memory(err, "vertices of the hierarchy");
    if (node == TL_SQRT3_NONE) TL_TRY(new_node(h, &node, err));
    int32_t v = h->vert_free;
    if (v != TL_SQRT3_NONE)
        h->vert_free = h->vert[v].node;
    else
        v = h->vert_count++;
    h->vert[v] = (tl_sqrt3_vert){uv, node};
    *out = v;
    return TL_OK;
}

void tl_sqrt3_free_vert(tl_sqrt3 *h, int32_t v, bool with_node)
{
    const int32_t node = h->vert[v].node;
    if (with_node) h->node_link[node] = h->node_free, h->node_free = node;
    h->vert[v] = (tl_sqrt3_vert){{0, 0}, h->vert_free};
    h->vert_free = v;
}

// ---- layer 0 --------------------------------------------------------------------------------------------------

static tl_status check_input(const tl_sqrt3_input *in, tl_error *err)
{
    if (in->layers < 1 || in->layers > TL_SQRT3_MAX_LAYERS)
        return tl_fail(err, TL_BAD_ARG, "sqrt3: %d layers, must be 1 to %d", in->layers, TL_SQRT3_MAX_LAYERS);
    if (in->tri_count < 0 || in->tri_count > INT32_MAX / 3 || in->vert_count < 0)
        return tl_fail(err, TL_BAD_ARG, "sqrt3: %d faces on %d vertices", in->tri_count, in->vert_count);
    for (int32_t t = 0; t < in->tri_count; t++) {
        const int32_t *v = in->tri[t];
        for (int k = 0; k < 3; k++)
            if (v[k] < 0 || v[k] >= in->vert_count)
                return tl_fail(err, TL_BAD_ARG, "sqrt3: face %d has vertex %d, there are %d", t, v[k], in->vert_count);
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            return tl_fail(err, TL_BAD_ARG, "sqrt3: face %d has a vertex twice", t);
    }
    const int32_t nodes = in->node ? in->node_count : in->vert_count;
    for (int32_t v = 0; in->node && v < in->vert_count; v++)
        if (in->node[v] < 0 || in->node[v] >= nodes)
            return tl_fail(err, TL_BAD_ARG, "sqrt3: vertex %d lies on node %d, there are %d", v, in->node[v], nodes);
    return TL_OK;
}

static int32_t node_at(const tl_sqrt3 *h, int32_t half_edge, int32_t end)
{
    const tl_sqrt3_tri *t = &h->layer[0].tri[half_edge / 3];
    return h->vert[t->vert[(half_edge % 3 + end) % 3]].node;
}

static void join(tl_sqrt3 *h, int32_t one, int32_t other)
{
    tl_sqrt3_tri *a = &h->layer[0].tri[one / 3], *b = &h->layer[0].tri[other / 3];
    const int32_t e = one % 3, f = other % 3;
    a->across[e] = other, b->across[f] = one;
    const bool seam = a->vert[e] != b->vert[tl_sqrt3_next(f)] || a->vert[tl_sqrt3_next(e)] != b->vert[f];
    if (!seam) return;
    a->flags |= (TL_SQRT3_BORDER | TL_SQRT3_SEAM) << e;
    b->flags |= (TL_SQRT3_BORDER | TL_SQRT3_SEAM) << f;
}

// Half-edges sorted by the pair of their nodes: the same pair twice is an inner edge or a seam, once an outline.
static tl_status join_neighbours(tl_sqrt3 *h, tl_key *keys, tl_key *scratch, tl_error *err)
{
    const int32_t n = 3 * h->layer[0].count;
    for (int32_t i = 0; i < n; i++) {
        const uint32_t a = (uint32_t)node_at(h, i, 0), b = (uint32_t)node_at(h, i, 1);
        keys[i] = (tl_key){(uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), i};
    }
    tl_sort_keys(keys, scratch, n);
    for (int32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && keys[end].key == keys[i].key;) end++;
        const int32_t one = keys[i].id;
        if (end - i > 2)
            return tl_fail(err, TL_BAD_INPUT,
                           "sqrt3: %d faces meet at one edge, of face %d; two at most can be refined", end - i,
                           one / 3);
        if (end - i == 1) {
            h->layer[0].tri[one / 3].flags |= TL_SQRT3_BORDER << one % 3;
        } else if (node_at(h, one, 0) == node_at(h, keys[i + 1].id, 0)) {
            return tl_fail(err, TL_BAD_INPUT, "sqrt3: faces %d and %d are neighbours of opposite orientation", one / 3,
                           keys[i + 1].id / 3);
        } else {
            join(h, one, keys[i + 1].id);
        }
    }
    return TL_OK;
}

static tl_status fill_in(tl_sqrt3 *h, const tl_sqrt3_input *in, tl_error *err)
{
    const int32_t nodes = in->node ? in->node_count : in->vert_count;
    if (!TL_GROW(&h->alloc, h->vert, h->vert_cap, in->vert_count) ||
        !TL_GROW(&h->alloc, h->node_link, h->node_cap, nodes))
        return tl_fail_memory(err, "vertices of the hierarchy");
    for (int32_t v = 0; v < in->vert_count; v++) h->vert[v] = (tl_sqrt3_vert){in->uv[v], in->node ? in->node[v] : v};
    for (int32_t i = 0; i < nodes; i++) h->node_link[i] = TL_SQRT3_NONE;
    h->vert_count = in->vert_count, h->node_count = nodes;
    const int32_t none = TL_SQRT3_NONE;
    for (int32_t t = 0, id; t < in->tri_count; t++) {
        const int32_t *v = in->tri[t];
        const tl_sqrt3_tri tri = {
            {v[0], v[1], v[2]}, {none, none, none}, {{none, none}, {none, none}, {none, none}}, {none, none}, none, 0};
        TL_TRY(tl_sqrt3_new_tri(h, 0, tri, &id, err));
    }
    const int32_t n = 3 * in->tri_count;
    tl_key *keys = TL_ALLOC(&h->alloc, tl_key, n), *scratch = TL_ALLOC(&h->alloc, tl_key, n);
    const tl_status status =
        keys && scratch ? join_neighbours(h, keys, scratch, err) : tl_fail_memory(err, "neighbours of triangles");
    TL_FREE(&h->alloc, keys, n);
    TL_FREE(&h->alloc, scratch, n);
    return status;
}

tl_status tl_sqrt3_create(const tl_allocator *alloc, const tl_sqrt3_input *input, tl_sqrt3 **out, tl_error *err)
{
    *out = NULL;
    TL_TRY(check_input(input, err));
    tl_sqrt3 *h = TL_CALLOC(alloc, tl_sqrt3, 1);
    if (!h) return tl_fail_memory(err, "a hierarchy of triangles");
    h->alloc = *alloc;
    h->layers = input->layers;
    h->vert_free = h->node_free = TL_SQRT3_NONE;
    for (int32_t i = 0; i < TL_SQRT3_MAX_LAYERS; i++) h->layer[i].free = TL_SQRT3_NONE;
    const tl_status status = fill_in(h, input, err);
    if (status == TL_OK)
        *out = h;
    else
        tl_sqrt3_destroy(h);
    return status;
}

void tl_sqrt3_destroy(tl_sqrt3 *h)
{
    if (!h) return;
    const tl_allocator alloc = h->alloc;
    for (int32_t i = 0; i < TL_SQRT3_MAX_LAYERS; i++) TL_FREE(&alloc, h->layer[i].tri, h->layer[i].cap);
    TL_FREE(&alloc, h->vert, h->vert_cap);
    TL_FREE(&alloc, h->node_link, h->node_cap);
    TL_FREE(&alloc, h, 1);
}

void tl_sqrt3_set_editor(tl_sqrt3 *h, tl_sqrt3_editor editor) { h->editor = editor; }

// ---- views ----------------------------------------------------------------------------------------------------

int32_t tl_sqrt3_layers(const tl_sqrt3 *h) { return h->layers; }
tl_sqrt3_layer_view tl_sqrt3_layer(const tl_sqrt3 *h, int32_t layer)
{
    const tl_sqrt3_layer_data *l = &h->layer[layer];
    return (tl_sqrt3_layer_view){l->tri, l->count, l->live};
}
const tl_sqrt3_vert *tl_sqrt3_verts(const tl_sqrt3 *h) { return h->vert; }
int32_t tl_sqrt3_vert_slots(const tl_sqrt3 *h) { return h->vert_count; }
int32_t tl_sqrt3_node_slots(const tl_sqrt3 *h) { return h->node_count; }

int32_t tl_sqrt3_extract(const tl_sqrt3 *h, tl_sqrt3_face *out, int32_t capacity)
{
    int32_t count = 0;
    for (int32_t l = 0; l < h->layers; l++) {
        for (int32_t i = 0; i < h->layer[l].count; i++) {
            const tl_sqrt3_tri *t = &h->layer[l].tri[i];
            if (!(t->flags & TL_SQRT3_LIVE)) continue;
            if (t->centre == TL_SQRT3_NONE) {
                if (count < capacity) out[count] = (tl_sqrt3_face){{t->vert[0], t->vert[1], t->vert[2]}, l, i};
                count++;
                continue;
            }
            for (int32_t e = 0; e < 3; e++) {
                if (tl_sqrt3_is_open(t, e) || (tl_sqrt3_is_half(t) && tl_sqrt3_is_border(t, e))) continue;
                if (count < capacity)
                    out[count] = (tl_sqrt3_face){{t->vert[e], t->vert[tl_sqrt3_next(e)], t->centre}, l, i};
                count++;
            }
        }
    }
    return count;
}
