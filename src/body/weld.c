// body/weld.c: one vertex where a file has several for the sake of normals or texture; faces and vertices left over.
//
// Two vertices are one if they are in one place in every pose: same position, same weights of the same joints, same
// morph moves, same track in a cache. Bits are compared, after a sort by their hash. Cloth sees a closed surface then.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"
#include "body/character.h"

typedef struct welding {
    tl_character *c;
    int32_t vert_count;
    int32_t *merged;  ///< vertex -> the first that is the same
    int32_t *number;  ///< vertex -> its number afterwards, -1: left out
    tl_key *keys, *scratch;
} welding;

static const tl_cache_point *track(const tl_character *c, int32_t key, int32_t v)
{
    return &c->cache_point[(size_t)key * (size_t)c->count[TL_RIG_VERTS] + (size_t)v];
}

static uint64_t hash_vert(const tl_character *c, int32_t v)
{
    const tl_rig_vert *a = &c->vert[v];
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, &a->pos, sizeof a->pos);
    tl_hash_add(&hash, c->weight + a->weight, (size_t)a->weight_count * sizeof *c->weight);
    if (a->delta_count > 0) tl_hash_add(&hash, c->delta + a->delta, (size_t)a->delta_count * sizeof *c->delta);
    for (int32_t k = 0; k < c->count[TL_RIG_CACHE_TIMES]; k++)
        tl_hash_add(&hash, track(c, k, v), sizeof(tl_cache_point));
    return tl_hash_value(&hash);
}

static bool same_vert(const tl_character *c, int32_t v, int32_t w)
{
    const tl_rig_vert *a = &c->vert[v], *b = &c->vert[w];
    if (memcmp(&a->pos, &b->pos, sizeof a->pos) != 0) return false;
    if (a->weight_count != b->weight_count || a->delta_count != b->delta_count) return false;
    const size_t weights = (size_t)a->weight_count * sizeof *c->weight,
                 deltas = (size_t)a->delta_count * sizeof *c->delta;
    if (weights > 0 && memcmp(c->weight + a->weight, c->weight + b->weight, weights) != 0) return false;
    if (deltas > 0 && memcmp(c->delta + a->delta, c->delta + b->delta, deltas) != 0) return false;
    for (int32_t k = 0; k < c->count[TL_RIG_CACHE_TIMES]; k++)
        if (memcmp(track(c, k, v), track(c, k, w), sizeof(tl_cache_point)) != 0) return false;
    return true;
}

static void find_same(welding *w)
{
    tl_character *c = w->c;
    for (int32_t v = 0; v < w->vert_count; v++) {
        c->vert[v].pos = tl_add3(c->vert[v].pos, (tl_vec3){0, 0, 0});  // no negative zeros
        w->keys[v] = (tl_key){hash_vert(c, v), v};
    }
    tl_sort_keys(w->keys, w->scratch, w->vert_count);
    for (int32_t i = 0; i < w->vert_count; i++) {
        const int32_t v = w->keys[i].id;
        const bool again = i > 0 && w->keys[i].key == w->keys[i - 1].key;
        const int32_t first = again ? w->merged[w->keys[i - 1].id] : v;
        w->merged[v] = again && same_vert(c, first, v) ? first : v;
        c->facts.welded += w->merged[v] != v;
    }
}

static bool whole(const int32_t v[3]) { return v[0] != v[1] && v[1] != v[2] && v[2] != v[0]; }

static void renumber(welding *w)
{
    tl_character *c = w->c;
    int32_t kept = 0, verts = 0;
    for (int32_t v = 0; v < w->vert_count; v++) w->number[v] = -1;
    for (int32_t f = 0; f < c->count[TL_RIG_FACES]; f++) {
        tl_rig_face face = c->face[f];
        for (int i = 0; i < 3; i++) face.v[i] = w->merged[face.v[i]];
        if (!whole(face.v)) continue;
        for (int i = 0; i < 3; i++) w->number[face.v[i]] = 0;
        c->face[kept++] = face;
    }
    c->facts.dropped_faces += c->count[TL_RIG_FACES] - kept;
    c->count[TL_RIG_FACES] = kept;
    const int32_t keys = c->count[TL_RIG_CACHE_TIMES];
    for (int32_t v = 0; v < w->vert_count; v++)
        if (w->number[v] == 0) w->number[v] = verts++;
    for (int32_t k = 0; k < keys; k++)  // shapes move forwards only
        for (int32_t v = 0; v < w->vert_count; v++)
            if (w->number[v] >= 0)
                c->cache_point[(size_t)k * (size_t)verts + (size_t)w->number[v]] =
                    c->cache_point[(size_t)k * (size_t)w->vert_count + (size_t)v];
    c->count[TL_RIG_CACHE_POINTS] = keys * verts;
    for (int32_t v = 0; v < w->vert_count; v++)
        if (w->number[v] >= 0) c->vert[w->number[v]] = c->vert[v];
    c->count[TL_RIG_VERTS] = verts;
    for (int32_t f = 0; f < kept; f++)
        for (int i = 0; i < 3; i++) c->face[f].v[i] = w->number[c->face[f].v[i]];
    for (int32_t v = 0; v < w->vert_count; v++) c->source[v] = w->number[w->merged[v]];
}

// Edges with one face, with more than two, and with two that run along it the same way.
static void count_edges(welding *w, tl_key *keys, tl_key *scratch)
{
    tl_character *c = w->c;
    const int32_t n = 3 * c->count[TL_RIG_FACES];
    for (int32_t i = 0; i < n; i++) {
        const int32_t a = c->face[i / 3].v[i % 3], b = c->face[i / 3].v[(i + 1) % 3];
        keys[i] = (tl_key){(uint64_t)(a < b ? a : b) << 32 | (uint32_t)(a < b ? b : a), i};
    }
    tl_sort_keys(keys, scratch, n);
    for (int32_t i = 0, next; i < n; i = next) {
        int32_t forwards = 0;
        for (next = i; next < n && keys[next].key == keys[i].key; next++) {
            const int32_t e = keys[next].id;
            forwards += c->face[e / 3].v[e % 3] < c->face[e / 3].v[(e + 1) % 3];
        }
        c->facts.open_edges += next - i == 1;
        c->facts.crowded_edges += next - i > 2;
        c->facts.reversed_edges += next - i == 2 && forwards != 1;
    }
}

tl_status tl_character_weld(tl_character *c, tl_error *err)
{
    const tl_allocator *alloc = &c->alloc;
    welding w = {.c = c, .vert_count = c->count[TL_RIG_VERTS]};
    const int32_t n = w.vert_count, faces = c->count[TL_RIG_FACES];
    if (faces > INT32_MAX / 3) return tl_fail(err, TL_BAD_INPUT, "character: %d faces are too many", faces);
    const int32_t slots = n > 3 * faces ? n : 3 * faces;
    c->facts.file_verts = n, c->facts.file_faces = faces;
    w.merged = TL_ALLOC(alloc, int32_t, n), w.number = TL_ALLOC(alloc, int32_t, n);
    w.keys = TL_ALLOC(alloc, tl_key, slots), w.scratch = TL_ALLOC(alloc, tl_key, slots);
    c->count[TL_RIG_SOURCES] = 0;
    tl_status status = w.merged && w.number && w.keys && w.scratch && tl_character_push(c, TL_RIG_SOURCES, n)
                           ? TL_OK
                           : tl_fail_memory(err, "a character");
    if (status == TL_OK) {
        find_same(&w);
        renumber(&w);
        count_edges(&w, w.keys, w.scratch);
        if (c->count[TL_RIG_FACES] == 0)
            status = tl_fail(err, TL_BAD_INPUT, "has no face with three different corners (%d faces)", faces);
    }
    TL_FREE(alloc, w.merged, n);
    TL_FREE(alloc, w.number, n);
    TL_FREE(alloc, w.keys, slots);
    TL_FREE(alloc, w.scratch, slots);
    return status;
}
