// io/recording_write.c: frames into a recording.

#include <math.h>
#include <stdio.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "io/bytes.h"
#include "io/recording.h"

enum { LEVEL = 6, NAME = 64 };  // of zstd: higher ones gain little on planes

typedef struct recorded {
    char name[NAME];
    uint32_t body, attributes;
    uint64_t shape_hash, shape_at;  ///< of the mesh written last
    uint64_t entry[2];              ///< of the frame under way
} recorded;

struct tl_recorder {
    tl_allocator alloc;
    tl_recorder_def def;
    recorded *surface;
    int32_t surface_count, surface_cap;
    tl_buf file, index, raw;
    int32_t frames;
};

tl_status tl_recorder_create(const tl_allocator *alloc, const tl_recorder_def *def, tl_recorder **out, tl_error *err)
{
    tl_recorder *r = *out = TL_CALLOC(alloc, tl_recorder, 1);
    if (!r) return tl_fail_memory(err, "a recording");
    r->alloc = *alloc, r->def = *def;
    tl_buf_init(&r->file, alloc), tl_buf_init(&r->index, alloc), tl_buf_init(&r->raw, alloc);
    static const uint8_t header[TL_RECORDING_HEADER];
    tl_buf_add(&r->file, header, sizeof header);
    return TL_OK;
}

void tl_recorder_destroy(tl_recorder *r)
{
    if (!r) return;
    const tl_allocator alloc = r->alloc;
    tl_buf_free(&r->file), tl_buf_free(&r->index), tl_buf_free(&r->raw);
    TL_FREE(&alloc, r->surface, r->surface_cap);
    TL_FREE(&alloc, r, 1);
}

int32_t tl_recorder_surface(tl_recorder *r, const char *name, bool body, uint32_t attributes)
{
    if (!TL_GROW(&r->alloc, r->surface, r->surface_cap, r->surface_count + 1)) return -1;
    recorded *s = &r->surface[r->surface_count];
    *s = (recorded){.body = body, .attributes = attributes};
    snprintf(s->name, sizeof s->name, "%s", name);
    return r->surface_count++;
}

static void put_u32(tl_buf *buf, uint32_t x)
{
    uint8_t b[4];
    tl_put_u32(b, x);
    tl_buf_add(buf, b, 4);
}

static void put_f64(tl_buf *buf, double x)
{
    uint8_t b[8];
    tl_put_f64(b, x);
    tl_buf_add(buf, b, 8);
}

// Room for four planes of `count` bytes at the end of `buf`; NULL without memory.
static uint8_t *planes(tl_buf *buf, size_t count)
{
    static const uint8_t zero[4096];
    const size_t at = buf->size;
    for (size_t left = 4 * count; left > 0;) {
        const size_t n = left < sizeof zero ? left : sizeof zero;
        tl_buf_add(buf, zero, n);
        left -= n;
    }
    return buf->failed ? NULL : (uint8_t *)buf->data + at;
}

static void plane_word(uint8_t *at, size_t count, size_t i, uint32_t word)
{
    for (size_t k = 0; k < 4; k++) at[k * count + i] = (uint8_t)(word >> (8 * k));
}

// Differences from one entry to the next, sign in the lowest bit.
static void put_ints(tl_buf *buf, const int32_t *values, size_t count)
{
    uint8_t *at = planes(buf, count);
    uint32_t before = 0;
    for (size_t i = 0; at && i < count; i++) {
        const uint32_t d = (uint32_t)values[i] - before;
        plane_word(at, count, i, d << 1 ^ (uint32_t)(-(int32_t)(d >> 31)));
        before = (uint32_t)values[i];
    }
}

static void put_floats(tl_buf *buf, const float *values, size_t count, size_t stride)
{
    uint8_t *at = planes(buf, count);
    for (size_t i = 0; at && i < count; i++) {
        uint32_t w;
        memcpy(&w, &values[i * stride], sizeof w);
        plane_word(at, count, i, w);
    }
}

// A double of every entry, `step` doubles apart, as floats.
static void put_reals(tl_buf *buf, const double *values, size_t count, size_t step)
{
    uint8_t *at = planes(buf, count);
    for (size_t i = 0; at && i < count; i++) {
        const float f = (float)values[i * step];
        uint32_t w;
        memcpy(&w, &f, sizeof w);
        plane_word(at, count, i, w);
    }
}

static uint64_t hash_of(const void *data, size_t size)
{
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, data, size);
    return tl_hash_value(&hash);
}

// Packs r->raw behind the file; *at is where.
static tl_status add_chunk(tl_recorder *r, uint32_t kind, uint64_t *at, tl_error *err)
{
    if (r->raw.failed) return tl_fail_memory(err, "a frame of a recording");
    if (r->raw.size > TL_RECORDING_MAX_RAW)
        return tl_fail(err, TL_BAD_INPUT, "a mesh of %zu bytes is too large for a recording (1 GiB)", r->raw.size);
    const size_t bound = ZSTD_compressBound(r->raw.size);
    char *packed = r->def.stored ? NULL : tl_alloc_bytes(&r->alloc, bound, 1);
    if (!r->def.stored && !packed) return tl_fail_memory(err, "a frame of a recording");
    const size_t size = packed ? ZSTD_compress(packed, bound, r->raw.data, r->raw.size, LEVEL) : r->raw.size;
    tl_status status = TL_OK;
    if (packed && ZSTD_isError(size)) status = tl_fail(err, TL_NO_MEMORY, "recording: %s", ZSTD_getErrorName(size));
    uint8_t head[TL_RECORDING_CHUNK];
    tl_put_u32(head, kind), tl_put_u32(head + 4, packed ? TL_CODEC_ZSTD : TL_CODEC_STORED);
    tl_put_u64(head + 8, size), tl_put_u64(head + 16, r->raw.size);
    tl_put_u64(head + 24, hash_of(r->raw.data, r->raw.size));
    *at = r->file.size;
    if (status == TL_OK) {
        tl_buf_add(&r->file, head, sizeof head);
        tl_buf_add(&r->file, packed ? packed : r->raw.data, size);
    }
    tl_free_bytes(&r->alloc, packed, bound, 1);
    return status;
}

static void put_shape(tl_recorder *r, const tl_obj *m, bool body)
{
    const int32_t verts = body ? m->node_count : m->vert_count;
    const uint32_t uv = !body, labels = !body && m->face_label;
    bool moved = verts != m->node_count;
    for (int32_t v = 0; !moved && !body && v < verts; v++) moved = m->vert_node[v] != v;
    put_u32(&r->raw, (uint32_t)m->node_count), put_u32(&r->raw, (uint32_t)verts);
    put_u32(&r->raw, (uint32_t)m->face_count), put_u32(&r->raw, uv | (uint32_t)moved << 1 | labels << 2);
    put_ints(&r->raw, m->face[0], 3 * (size_t)m->face_count);
    if (uv) put_reals(&r->raw, &m->uv[0].x, (size_t)m->vert_count, 2);
    if (uv) put_reals(&r->raw, &m->uv[0].y, (size_t)m->vert_count, 2);
    if (moved) put_ints(&r->raw, m->vert_node, (size_t)m->vert_count);
    if (labels) put_ints(&r->raw, m->face_label, (size_t)m->face_count);
}

// Multiples of a quantum that is coarser only where a frame is too large for 31 bits: 2 km at a micrometre.
static tl_status put_places(tl_recorder *r, const tl_vec3 *pos, int32_t count, tl_error *err)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, extent = 0;
    for (int32_t i = 0; i < count; i++) {
        const double x[3] = {pos[i].x, pos[i].y, pos[i].z};
        for (int k = 0; k < 3; k++) {
            if (!isfinite(x[k])) return tl_fail(err, TL_BAD_INPUT, "node %d is not finite", i);
            lo[k] = fmin(lo[k], x[k]), hi[k] = fmax(hi[k], x[k]);
        }
    }
    for (int k = 0; k < 3 && count > 0; k++) extent = fmax(extent, hi[k] - lo[k]);
    double quantum = r->def.quantum;
    while (extent / quantum > 1e9) quantum *= 2;
    put_f64(&r->raw, quantum);
    for (int k = 0; k < 3; k++) put_f64(&r->raw, count > 0 ? lo[k] : 0);
    int32_t *q = TL_ALLOC(&r->alloc, int32_t, count);
    if (!q) return tl_fail_memory(err, "a frame of a recording");
    for (int k = 0; k < 3; k++) {
        for (int32_t i = 0; i < count; i++) {
            const double x = k == 0 ? pos[i].x : k == 1 ? pos[i].y : pos[i].z;
            q[i] = (int32_t)lround((x - lo[k]) / quantum);
        }
        put_ints(&r->raw, q, (size_t)count);
    }
    TL_FREE(&r->alloc, q, count);
    return TL_OK;
}

tl_status tl_recorder_add(tl_recorder *r, int32_t surface, const tl_frame_points *p, tl_error *err)
{
    recorded *s = &r->surface[surface];
    r->raw.size = 0;
    put_shape(r, p->mesh, s->body);
    if (r->raw.failed) return tl_fail_memory(err, "a frame of a recording");
    const uint64_t hash = hash_of(r->raw.data, r->raw.size);
    if (s->shape_at == 0 || s->shape_hash != hash) TL_TRY(add_chunk(r, TL_CHUNK_SHAPE, &s->shape_at, err));
    s->shape_hash = hash, s->entry[0] = s->shape_at;
    r->raw.size = 0;
    put_u32(&r->raw, (uint32_t)p->mesh->node_count), put_u32(&r->raw, (p->vel ? 1u : 0u) | s->attributes << 8);
    TL_TRY(put_places(r, p->pos, p->mesh->node_count, err));
    for (size_t k = 0; p->vel && k < 3; k++) put_reals(&r->raw, &p->vel[0].x + k, (size_t)p->mesh->node_count, 3);
    for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++)
        if (s->attributes >> a & 1) put_floats(&r->raw, p->attribute[a], (size_t)p->mesh->node_count, 1);
    return add_chunk(r, TL_CHUNK_POINTS, &s->entry[1], err);
}

tl_status tl_recorder_next(tl_recorder *r, tl_error *err)
{
    for (int32_t i = 0; i < r->surface_count; i++) {
        uint8_t entry[TL_RECORDING_ENTRY];
        tl_put_u64(entry, r->surface[i].entry[0]), tl_put_u64(entry + 8, r->surface[i].entry[1]);
        tl_buf_add(&r->index, entry, sizeof entry);
        r->surface[i].entry[0] = r->surface[i].entry[1] = 0;
    }
    r->frames++;
    return r->index.failed || r->file.failed ? tl_fail_memory(err, "a recording") : TL_OK;
}

tl_status tl_recorder_finish(tl_recorder *r, tl_buf *out, tl_error *err)
{
    const uint64_t index_at = r->file.size;
    for (int32_t i = 0; i < r->surface_count; i++) {
        uint8_t entry[TL_RECORDING_SURFACE] = {0};
        memcpy(entry, r->surface[i].name, NAME);
        tl_put_u32(entry + NAME, r->surface[i].body), tl_put_u32(entry + NAME + 4, r->surface[i].attributes);
        tl_buf_add(&r->file, entry, sizeof entry);
    }
    tl_buf_add(&r->file, r->index.data, r->index.size);
    if (r->file.failed) return tl_fail_memory(err, "a recording");
    uint8_t *h = (uint8_t *)r->file.data;
    memcpy(h, "toilerec", 8);
    tl_put_u32(h + 8, TL_RECORDING_VERSION), tl_put_u32(h + 12, TL_RECORDING_HEADER);
    tl_put_f64(h + 16, r->def.fps), tl_put_f64(h + 24, r->def.scale);
    tl_put_u32(h + 32, (uint32_t)r->frames), tl_put_u32(h + 36, (uint32_t)r->def.first_frame);
    tl_put_u32(h + 40, (uint32_t)r->surface_count), tl_put_u32(h + 44, r->def.z_up ? 1 : 0);
    tl_put_u64(h + 48, index_at), tl_put_u64(h + 56, r->file.size - index_at);
    tl_recording_mend(h, r->file.size);
    *out = r->file;
    tl_buf_init(&r->file, &r->alloc);
    return TL_OK;
}

void tl_recording_mend(uint8_t *data, size_t size)
{
    if (size < TL_RECORDING_HEADER) return;
    const uint64_t at = tl_get_u64(data + 48), bytes = tl_get_u64(data + 56);
    if (at <= size && bytes <= size - at) tl_put_u64(data + 64, hash_of(data + at, bytes));
    tl_put_u64(data + 72, hash_of(data, 72));
}
