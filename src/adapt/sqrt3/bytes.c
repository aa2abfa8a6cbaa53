// adapt/sqrt3/bytes.c: the hierarchy and where it is in the mesh, as bytes of a saved state.

#include <string.h>

#include "adapt/sqrt3/follow.h"
#include "adapt/sqrt3/hierarchy_impl.h"
#include "base/alloc.h"
#include "base/fail.h"

// Writes or counts.
static void put(char *out, size_t *at, const void *data, size_t size)
{
    if (out && size > 0) memcpy(out + *at, data, size);
    *at += size;
}

static void put_int(char *out, size_t *at, int32_t value) { put(out, at, &value, sizeof value); }

size_t sqrt3_save(const void *self, const tl_mesh *mesh, char *out)
{
    (void)mesh;
    const sqrt3_state *s = self;
    const tl_sqrt3 *h = s->h;
    size_t at = 0;
    const int32_t head[6] = {h->layers, h->vert_count, h->vert_free, h->node_count, h->node_free, 0};
    put(out, &at, head, sizeof head);
    for (int32_t l = 0; l < h->layers; l++) {
        const tl_sqrt3_layer_data *layer = &h->layer[l];
        const int32_t counts[3] = {layer->count, layer->live, layer->free};
        put(out, &at, counts, sizeof counts);
        put(out, &at, layer->tri, (size_t)layer->count * sizeof *layer->tri);
    }
    for (int32_t v = 0; v < h->vert_count; v++) {
        put(out, &at, &h->vert[v].uv, sizeof h->vert[v].uv);
        put_int(out, &at, h->vert[v].node);
        put_int(out, &at, v < s->vert_cap ? s->vert[v] : TL_NONE);
    }
    put(out, &at, h->node_link, (size_t)h->node_count * sizeof *h->node_link);
    return at;
}

/// What is left to read.
typedef struct source {
    const char *data;
    size_t size, at;
} source;

static bool take(source *in, void *out, size_t size)
{
    if (in->size - in->at < size) return false;
    if (size > 0) memcpy(out, in->data + in->at, size);
    in->at += size;
    return true;
}

static tl_status damaged(tl_error *err) { return tl_fail(err, TL_BAD_INPUT, "saved state: the hierarchy is damaged"); }

// Is there this much left for `count` items? Before memory is asked for.
static bool holds(const source *in, int32_t count, size_t size)
{
    return count >= 0 && (size_t)count <= (in->size - in->at) / size;
}

static bool vert_is_sound(const tl_sqrt3 *h, int32_t v)
{
    return v >= 0 && v < h->vert_count && h->vert[v].node >= 0 && h->vert[v].node < h->node_count;
}

static bool tri_is_sound(const tl_sqrt3 *h, int32_t layer, const tl_sqrt3_tri *t)
{
    const int32_t here = 3 * h->layer[layer].count;
    for (int k = 0; k < 3; k++) {
        if (!vert_is_sound(h, t->vert[k])) return false;
        if (t->across[k] < TL_SQRT3_NONE || t->across[k] >= here) return false;
        for (int i = 0; i < 2; i++) {
            const int32_t below = layer + 1 < h->layers ? h->layer[layer + 1].count : 0;
            if (t->child[k][i] < TL_SQRT3_NONE || t->child[k][i] >= below) return false;
        }
    }
    for (int i = 0; i < 2; i++)
        if (t->parent[i] < TL_SQRT3_NONE || (layer > 0 && t->parent[i] >= h->layer[layer - 1].count)) return false;
    return t->centre == TL_SQRT3_NONE || vert_is_sound(h, t->centre);
}

static tl_status read_layers(source *in, tl_sqrt3 *h, tl_error *err)
{
    for (int32_t l = 0; l < h->layers; l++) {
        tl_sqrt3_layer_data *layer = &h->layer[l];
        int32_t counts[3];
        if (!take(in, counts, sizeof counts) || !holds(in, counts[0], sizeof *layer->tri)) return damaged(err);
        if (!TL_GROW(&h->alloc, layer->tri, layer->cap, counts[0])) return tl_fail_memory(err, "the hierarchy");
        layer->count = counts[0], layer->live = counts[1], layer->free = counts[2];
        take(in, layer->tri, (size_t)counts[0] * sizeof *layer->tri);
    }
    return TL_OK;
}

static tl_status read_verts(source *in, sqrt3_state *s, const tl_mesh *mesh, tl_error *err)
{
    tl_sqrt3 *h = s->h;
    if (!holds(in, h->vert_count, sizeof(tl_vec2) + 2 * sizeof(int32_t))) return damaged(err);
    if (!TL_GROW(&h->alloc, h->vert, h->vert_cap, h->vert_count)) return tl_fail_memory(err, "the hierarchy");
    TL_TRY(sqrt3_keep_up(s, 0, err));
    for (int32_t v = 0; v < h->vert_count; v++) {
        take(in, &h->vert[v].uv, sizeof h->vert[v].uv);
        take(in, &h->vert[v].node, sizeof(int32_t));
        take(in, &s->vert[v], sizeof(int32_t));
        const int32_t m = s->vert[v];
        if (m < TL_NONE || m >= mesh->slots[TL_VERTS].count || (m != TL_NONE && !tl_alive(mesh, TL_VERTS, m)))
            return damaged(err);
    }
    if (!holds(in, h->node_count, sizeof(int32_t))) return damaged(err);
    if (!TL_GROW(&h->alloc, h->node_link, h->node_cap, h->node_count)) return tl_fail_memory(err, "the hierarchy");
    take(in, h->node_link, (size_t)h->node_count * sizeof(int32_t));
    return TL_OK;
}

// Ids in range first, then every link and rule; lists of free slots end after as many as there are.
static tl_status check(const sqrt3_state *s, tl_error *err)
{
    const tl_sqrt3 *h = s->h;
    for (int32_t l = 0; l < h->layers; l++) {
        int32_t dead = 0;
        for (int32_t t = 0; t < h->layer[l].count; t++) {
            const tl_sqrt3_tri *tri = &h->layer[l].tri[t];
            dead += !(tri->flags & TL_SQRT3_LIVE);
            if (tri->flags & TL_SQRT3_LIVE && !tri_is_sound(h, l, tri)) return damaged(err);
        }
        if (h->layer[l].live != h->layer[l].count - dead) return damaged(err);
        for (int32_t t = h->layer[l].free; t != TL_SQRT3_NONE; t = h->layer[l].tri[t].vert[0])
            if (t < 0 || t >= h->layer[l].count || h->layer[l].tri[t].flags & TL_SQRT3_LIVE || dead-- <= 0)
                return damaged(err);
    }
    int32_t left = h->vert_count;
    for (int32_t v = h->vert_free; v != TL_SQRT3_NONE; v = h->vert[v].node)
        if (v < 0 || v >= h->vert_count || left-- <= 0) return damaged(err);
    left = h->node_count;
    for (int32_t n = h->node_free; n != TL_SQRT3_NONE; n = h->node_link[n])
        if (n < 0 || n >= h->node_count || left-- <= 0) return damaged(err);
    return tl_sqrt3_check(h, NULL) == TL_OK ? TL_OK : damaged(err);
}

tl_status sqrt3_load(const tl_allocator *alloc, tl_mesh *mesh, int32_t layers, const char *data, size_t size,
                     size_t *used, void **self, tl_error *err)
{
    source in = {data, size, 0};
    int32_t head[6];
    *self = NULL;
    if (!take(&in, head, sizeof head) || head[0] != layers || head[1] < 0 || head[3] < 0) return damaged(err);
    sqrt3_state *s = TL_CALLOC(alloc, sqrt3_state, 1);
    if (!s) return tl_fail_memory(err, "the hierarchy");
    *self = s;
    s->alloc = *alloc;
    s->h = TL_CALLOC(alloc, tl_sqrt3, 1);
    if (!s->h) return tl_fail_memory(err, "the hierarchy");
    s->h->alloc = *alloc;
    s->h->layers = layers;
    if (!holds(&in, head[1], sizeof(tl_vec2)) || !holds(&in, head[3], sizeof(int32_t))) return damaged(err);
    s->h->vert_free = head[2], s->h->node_free = head[4];
    TL_TRY(read_layers(&in, s->h, err));
    s->h->vert_count = head[1], s->h->node_count = head[3];
    TL_TRY(read_verts(&in, s, mesh, err));
    *used = in.at;
    return check(s, err);
}
