// run/resample.c: fixed topology for adaptive runs.

#include "run/resample.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "math/vec3.h"
#include "run/export_source.h"

// ---- halving ----

// Pairs of numbers to a number, by open addressing; looked up, never walked.
typedef struct pairs {
    int64_t *key;
    int32_t *value;
    uint64_t mask;
} pairs;

static bool pairs_init(pairs *p, const tl_allocator *alloc, int64_t most)
{
    uint64_t cap = 64;
    while (cap < 2 * (uint64_t)most) cap *= 2;
    *p = (pairs){TL_ALLOC(alloc, int64_t, cap), TL_ALLOC(alloc, int32_t, cap), cap - 1};
    if (!p->key || !p->value) return false;
    memset(p->key, 0xff, cap * sizeof *p->key);
    return true;
}

static void pairs_free(pairs *p, const tl_allocator *alloc)
{
    TL_FREE(alloc, p->key, p->mask + 1);
    TL_FREE(alloc, p->value, p->mask + 1);
}

// The number of the pair; `next` (and *is_new) if it was not there.
static int32_t pairs_find(pairs *p, int32_t a, int32_t b, int32_t next, bool *is_new)
{
    const int64_t key = a < b ? (int64_t)a << 32 | b : (int64_t)b << 32 | a;
    uint64_t at = tl_mix64((uint64_t)key) & p->mask;
    while (p->key[at] >= 0 && p->key[at] != key) at = (at + 1) & p->mask;
    *is_new = p->key[at] < 0;
    if (*is_new) p->key[at] = key, p->value[at] = next;
    return p->value[at];
}

typedef struct halving {
    const tl_obj *in;
    tl_obj *out;
    pairs nodes, verts;
} halving;

// The vertex in the middle of an edge of the material, on the node in the middle of an edge of the world.
static int32_t middle(halving *h, int32_t a, int32_t b)
{
    const tl_obj *in = h->in;
    tl_obj *out = h->out;
    const int32_t na = in->vert_node[a], nb = in->vert_node[b];
    bool is_new;
    const int32_t vert = pairs_find(&h->verts, a, b, out->vert_count, &is_new);
    if (!is_new) return vert;
    const int32_t node = pairs_find(&h->nodes, na, nb, out->node_count, &is_new);
    if (is_new) out->pos[out->node_count++] = tl_mul3(0.5, tl_add3(in->pos[na], in->pos[nb]));
    out->uv[vert] = tl_mul2(0.5, tl_add2(in->uv[a], in->uv[b]));
    out->vert_node[vert] = node;
    out->vert_count++;
    return vert;
}

static tl_status halve_once(const tl_allocator *alloc, const tl_obj *in, tl_obj *out, tl_error *err)
{
    const int64_t faces = in->face_count, edges = 3 * faces;
    if (4 * edges > INT32_MAX - in->vert_count - in->node_count)
        return tl_fail(err, TL_BAD_INPUT, "%lld faces are too many for one mesh", (long long)(4 * faces));
    TL_TRY(tl_obj_room(alloc, in->node_count + (int32_t)edges, in->vert_count + (int32_t)edges, 4 * in->face_count,
                       in->face_label != NULL, out, err));
    halving h = {.in = in, .out = out};
    if (!pairs_init(&h.nodes, alloc, edges) || !pairs_init(&h.verts, alloc, edges)) {
        pairs_free(&h.nodes, alloc), pairs_free(&h.verts, alloc);
        tl_obj_free(out);
        return tl_fail_memory(err, "a mesh");
    }
    memcpy(out->pos, in->pos, (size_t)in->node_count * sizeof *in->pos);
    memcpy(out->uv, in->uv, (size_t)in->vert_count * sizeof *in->uv);
    memcpy(out->vert_node, in->vert_node, (size_t)in->vert_count * sizeof *in->vert_node);
    out->node_count = in->node_count, out->vert_count = in->vert_count;
    for (int32_t f = 0; f < in->face_count; f++) {
        const int32_t *v = in->face[f];
        const int32_t m[3] = {middle(&h, v[0], v[1]), middle(&h, v[1], v[2]), middle(&h, v[2], v[0])};
        const int32_t four[4][3] = {{v[0], m[0], m[2]}, {m[0], v[1], m[1]}, {m[2], m[1], v[2]}, {m[0], m[1], m[2]}};
        memcpy(out->face[4 * f], four, sizeof four);
        for (int k = 0; in->face_label && k < 4; k++) out->face_label[4 * f + k] = in->face_label[f];
    }
    out->face_count = 4 * in->face_count;
    pairs_free(&h.nodes, alloc), pairs_free(&h.verts, alloc);
    return TL_OK;
}

static tl_status copy(const tl_allocator *alloc, const tl_obj *in, tl_obj *out, tl_error *err)
{
    TL_TRY(tl_obj_room(alloc, in->node_count, in->vert_count, in->face_count, in->face_label != NULL, out, err));
    memcpy(out->pos, in->pos, (size_t)in->node_count * sizeof *in->pos);
    memcpy(out->uv, in->uv, (size_t)in->vert_count * sizeof *in->uv);
    memcpy(out->vert_node, in->vert_node, (size_t)in->vert_count * sizeof *in->vert_node);
    memcpy(out->face, in->face, (size_t)in->face_count * sizeof *in->face);
    if (in->face_label) memcpy(out->face_label, in->face_label, (size_t)in->face_count * sizeof *in->face_label);
    out->node_count = in->node_count, out->vert_count = in->vert_count, out->face_count = in->face_count;
    return TL_OK;
}

tl_status tl_obj_halve(const tl_allocator *alloc, const tl_obj *mesh, int32_t levels, tl_obj *out, tl_error *err)
{
    TL_TRY(copy(alloc, mesh, out, err));
    for (int32_t i = 0; i < levels; i++) {
        tl_obj next;
        const tl_status status = halve_once(alloc, out, &next, err);
        tl_obj_free(out);
        *out = next;
        if (status != TL_OK) return status;
    }
    return TL_OK;
}

// ---- resampling ----

struct tl_resampler {
    tl_allocator alloc;
    const tl_obj *fixed;
    tl_places *places;  ///< of the fixed mesh
    int32_t *count;     ///< vertices on every node
};

tl_status tl_resampler_create(const tl_allocator *alloc, const tl_obj *fixed, tl_resampler **out, tl_error *err)
{
    tl_resampler *r = *out = TL_CALLOC(alloc, tl_resampler, 1);
    if (!r) return tl_fail_memory(err, "resampling");
    r->alloc = *alloc, r->fixed = fixed;
    r->count = TL_CALLOC(alloc, int32_t, fixed->node_count);
    const tl_status status =
        r->count ? tl_places_create(alloc, fixed, &r->places, err) : tl_fail_memory(err, "resampling");
    for (int32_t v = 0; status == TL_OK && v < fixed->vert_count; v++) r->count[fixed->vert_node[v]]++;
    if (status == TL_OK) return TL_OK;
    tl_resampler_destroy(r);
    *out = NULL;
    return status;
}

void tl_resampler_destroy(tl_resampler *r)
{
    if (!r) return;
    const tl_allocator alloc = r->alloc;
    tl_places_destroy(r->places);
    TL_FREE(&alloc, r->count, r->fixed->node_count);
    TL_FREE(&alloc, r, 1);
}

double tl_resample_rms(const tl_resample_error *e) { return e->count ? sqrt(e->sum2 / (double)e->count) : 0; }
double tl_resample_mean_edge(const tl_resample_error *e)
{
    return e->edge_count ? e->edge_sum / (double)e->edge_count : 0;
}

static void compare(const tl_resampler *r, int32_t panel, tl_vec2 uv, tl_vec3 there, const tl_vec3 *pos,
                    tl_resample_error *e)
{
    const tl_place place = tl_places_find(r->places, panel, uv);
    if (place.face < 0) return;
    const double d = tl_norm3(tl_sub3(tl_place_point(r->fixed, &place, pos), there));
    e->count++, e->sum2 += d * d, e->largest = fmax(e->largest, d);
}

static void measure(const tl_resampler *r, const tl_places *places, const int32_t *fixed_of, const tl_vec3 *pos,
                    tl_resample_error *e)
{
    const tl_obj *frame = tl_places_mesh(places);
    for (int32_t v = 0; v < frame->vert_count; v++)
        compare(r, fixed_of[tl_places_panel(places, v)], frame->uv[v], frame->pos[frame->vert_node[v]], pos, e);
    for (int32_t f = 0; f < frame->face_count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = frame->face[f][k], b = frame->face[f][(k + 1) % 3];
            const tl_vec3 x = tl_mul3(0.5, tl_add3(frame->pos[frame->vert_node[a]], frame->pos[frame->vert_node[b]]));
            const tl_vec2 uv = tl_mul2(0.5, tl_add2(frame->uv[a], frame->uv[b]));
            compare(r, fixed_of[tl_places_panel(places, a)], uv, x, pos, e);
            e->edge_sum += tl_norm2(tl_sub2(frame->uv[a], frame->uv[b])), e->edge_count++;
        }
}

static void carry(const tl_resampler *r, const tl_places *places, const int32_t *frame_of, tl_vec3 *pos,
                  const tl_carried *with, tl_resample_error *e)
{
    const tl_obj *fixed = r->fixed, *frame = tl_places_mesh(places);
    for (int32_t i = 0; i < fixed->node_count; i++) pos[i] = (tl_vec3){0};
    for (int32_t k = 0; k < with->count; k++) memset(with->out[k], 0, (size_t)fixed->node_count * sizeof(float));
    for (int32_t v = 0; v < fixed->vert_count; v++) {  // both sides of a seam have their say
        const int32_t node = fixed->vert_node[v];
        const tl_place place = tl_places_find(places, frame_of[tl_places_panel(r->places, v)], fixed->uv[v]);
        if (place.face < 0) continue;  // a panel without faces: there is none
        const double share = 1.0 / r->count[node];
        pos[node] = tl_madd3(pos[node], share, tl_place_point(frame, &place, frame->pos));
        e->outside = fmax(e->outside, place.outside);
        for (int32_t k = 0; k < with->count; k++) {
            double sum = 0;
            for (int c = 0; c < 3; c++)
                sum += place.weight[c] * (double)with->in[k][frame->vert_node[frame->face[place.face][c]]];
            with->out[k][node] += (float)(share * sum);
        }
    }
}

tl_status tl_resample(const tl_resampler *r, const tl_places *places, const int32_t *frame_of, tl_vec3 *pos,
                      const tl_carried *carried, tl_resample_error *error, tl_error *err)
{
    const int32_t n = tl_places_panel_count(r->places);
    int32_t *fixed_of = TL_ALLOC(&r->alloc, int32_t, n);
    if (!fixed_of) return tl_fail_memory(err, "panels");
    for (int32_t i = 0; i < n; i++) fixed_of[frame_of[i]] = i;
    carry(r, places, frame_of, pos, carried, error);
    measure(r, places, fixed_of, pos, error);
    TL_FREE(&r->alloc, fixed_of, n);
    return TL_OK;
}
