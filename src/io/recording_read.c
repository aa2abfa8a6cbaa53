// io/recording_read.c: any frame of a recording.

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "io/bytes.h"
#include "io/file.h"
#include "io/recording.h"

// What is kept of a surface: its mesh as long as that stays, and its points.
typedef struct kept {
    char name[64];
    uint32_t body, attributes;
    uint64_t shape_at;  ///< place of the mesh below, 0: none yet
    int32_t nodes, verts, faces;
    tl_vec2 *uv;
    int32_t *vert_node, *face_label, (*face)[3];
    int32_t uv_cap, vert_cap, label_cap, face_cap;
    bool has_label;
    tl_vec3 *pos, *vel;
    int32_t pos_cap, vel_cap;
    float *attribute[TL_ATTRIBUTE_COUNT];
    int32_t attribute_cap[TL_ATTRIBUTE_COUNT];
} kept;

struct tl_recording {
    tl_allocator alloc;
    char path[512];
    int fd;  ///< -1: `data`
    const uint8_t *data;
    uint64_t size;
    tl_recording_facts facts;
    kept *surface;
    uint8_t *entries;
    size_t entry_bytes;
    uint8_t *raw, *packed;
    int32_t raw_cap, packed_cap;
};

const char *tl_attribute_name(tl_attribute attribute)
{
    static const char *const names[] = {"strain", "tension", "contact", "level"};
    return (unsigned)attribute < TL_ATTRIBUTE_COUNT ? names[attribute] : NULL;
}

static tl_status damaged(const tl_recording *r, tl_error *err, const char *what)
{
    return tl_fail(err, TL_BAD_INPUT, "%.400s: damaged recording: %s (export it again)", r->path, what);
}

static tl_status read_at(const tl_recording *r, uint64_t at, void *out, size_t size, tl_error *err)
{
    if (at > r->size || size > r->size - at) return damaged(r, err, "it ends too early");
    if (r->fd < 0) {
        memcpy(out, r->data + at, size);
        return TL_OK;
    }
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(r->fd, (char *)out + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return tl_fail(err, TL_IO, "%.400s: cannot read: %s", r->path, n < 0 ? strerror(errno) : "cut");
        done += (size_t)n;
    }
    return TL_OK;
}

static uint64_t hash_of(const void *data, size_t size)
{
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, data, size);
    return tl_hash_value(&hash);
}

static tl_status read_index(tl_recording *r, uint64_t at, uint64_t bytes, uint64_t hash, tl_error *err)
{
    const uint64_t n = (uint64_t)r->facts.surfaces, own = n * TL_RECORDING_SURFACE;
    const uint64_t entries = (uint64_t)r->facts.frames * n * TL_RECORDING_ENTRY;  // < 2^31 * 2^16 * 16
    if (bytes != own + entries || at > r->size || bytes > r->size - at) return damaged(r, err, "its index is cut");
    uint8_t *index = tl_alloc_bytes(&r->alloc, bytes, 1);
    r->surface = TL_CALLOC(&r->alloc, kept, n);
    r->entry_bytes = entries;
    r->entries = tl_alloc_bytes(&r->alloc, entries, 1);
    tl_status status = index && r->surface && r->entries ? read_at(r, at, index, bytes, err)
                                                         : tl_fail_memory(err, "the index of a recording");
    if (status == TL_OK && hash_of(index, bytes) != hash) status = damaged(r, err, "its index does not have its hash");
    for (uint64_t i = 0; status == TL_OK && i < n; i++) {
        const uint8_t *p = index + i * TL_RECORDING_SURFACE;
        memcpy(r->surface[i].name, p, 63);
        r->surface[i].body = tl_get_u32(p + 64), r->surface[i].attributes = tl_get_u32(p + 68);
        if (r->surface[i].attributes >> TL_ATTRIBUTE_COUNT) status = damaged(r, err, "unknown attributes");
    }
    if (status == TL_OK) memcpy(r->entries, index + own, entries);
    tl_free_bytes(&r->alloc, index, bytes, 1);
    return status;
}

static tl_status read_header(tl_recording *r, tl_error *err)
{
    uint8_t h[TL_RECORDING_HEADER];
    if (r->size < sizeof h) return tl_fail(err, TL_BAD_INPUT, "%.400s: too short for a recording", r->path);
    TL_TRY(read_at(r, 0, h, sizeof h, err));
    if (memcmp(h, "toilerec", 8) != 0) return tl_fail(err, TL_BAD_INPUT, "%.400s: no recording of Toile's", r->path);
    if (tl_get_u32(h + 8) != TL_RECORDING_VERSION || tl_get_u32(h + 12) != TL_RECORDING_HEADER)
        return tl_fail(err, TL_BAD_INPUT, "%.400s: recording of version %u, this program reads version %d", r->path,
                       tl_get_u32(h + 8), TL_RECORDING_VERSION);
    if (hash_of(h, 72) != tl_get_u64(h + 72)) return damaged(r, err, "its header does not have its hash");
    r->facts = (tl_recording_facts){.frames = (int32_t)tl_get_u32(h + 32),
                                    .first_frame = (int32_t)tl_get_u32(h + 36),
                                    .surfaces = (int32_t)tl_get_u32(h + 40),
                                    .fps = tl_get_f64(h + 16),
                                    .scale = tl_get_f64(h + 24),
                                    .z_up = tl_get_u32(h + 44) & 1};
    if (r->facts.frames < 0 || r->facts.first_frame < 0 || r->facts.surfaces < 0 || r->facts.surfaces > 65535 ||
        !(r->facts.fps > 0) || !(r->facts.scale > 0) || !isfinite(r->facts.fps + r->facts.scale))
        return damaged(r, err, "its header makes no sense");
    return read_index(r, tl_get_u64(h + 48), tl_get_u64(h + 56), tl_get_u64(h + 64), err);
}

static tl_status open_(tl_recording *r, tl_recording **out, tl_error *err)
{
    const tl_status status = read_header(r, err);
    if (status == TL_OK)
        *out = r;
    else
        tl_recording_close(r);
    return status;
}

static tl_recording *make(const char *name)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_recording *r = TL_CALLOC(&alloc, tl_recording, 1);
    if (!r) return NULL;
    r->alloc = alloc, r->fd = -1;
    snprintf(r->path, sizeof r->path, "%s", name);
    return r;
}

tl_status tl_recording_open(const char *path, tl_recording **out, tl_error *err)
{
    if (!out || !path) return tl_fail(err, TL_BAD_ARG, "recording: path or out is NULL");
    *out = NULL;
    tl_recording *r = make(path);
    if (!r) return tl_fail_memory(err, "a recording");
    struct stat st;
    r->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0 || fstat(r->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        const int code = errno;
        tl_fail(err, TL_IO, "%.400s: cannot open: %s", path, r->fd < 0 ? strerror(code) : "it is no file");
        tl_recording_close(r);
        return TL_IO;
    }
    r->size = (uint64_t)st.st_size;
    return open_(r, out, err);
}

tl_status tl_recording_open_memory(const char *name, const void *data, size_t size, tl_recording **out, tl_error *err)
{
    if (!out || (!data && size)) return tl_fail(err, TL_BAD_ARG, "recording: data or out is NULL");
    *out = NULL;
    tl_recording *r = make(name ? name : "recording");
    if (!r) return tl_fail_memory(err, "a recording");
    r->data = data, r->size = size;
    return open_(r, out, err);
}

void tl_recording_close(tl_recording *r)
{
    if (!r) return;
    const tl_allocator alloc = r->alloc;
    for (int32_t i = 0; r->surface && i < r->facts.surfaces; i++) {
        kept *s = &r->surface[i];
        TL_FREE(&alloc, s->uv, s->uv_cap), TL_FREE(&alloc, s->vert_node, s->vert_cap);
        TL_FREE(&alloc, s->face_label, s->label_cap), TL_FREE(&alloc, s->face, s->face_cap);
        TL_FREE(&alloc, s->pos, s->pos_cap), TL_FREE(&alloc, s->vel, s->vel_cap);
        for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) TL_FREE(&alloc, s->attribute[a], s->attribute_cap[a]);
    }
    TL_FREE(&alloc, r->surface, r->facts.surfaces);
    tl_free_bytes(&alloc, r->entries, r->entry_bytes, 1);
    TL_FREE(&alloc, r->raw, r->raw_cap), TL_FREE(&alloc, r->packed, r->packed_cap);
    if (r->fd >= 0) close(r->fd);
    TL_FREE(&alloc, r, 1);
}

tl_recording_facts tl_recording_facts_of(const tl_recording *r) { return r ? r->facts : (tl_recording_facts){0}; }

const char *tl_recording_surface_name(const tl_recording *r, int32_t surface)
{
    return r && surface >= 0 && surface < r->facts.surfaces ? r->surface[surface].name : NULL;
}

uint32_t tl_recording_surface_is_body(const tl_recording *r, int32_t surface)
{
    return r && surface >= 0 && surface < r->facts.surfaces ? r->surface[surface].body : 0;
}

// ---- chunks ----

typedef struct cursor {
    const uint8_t *at, *end;
    bool ok;
} cursor;

static const uint8_t *take(cursor *c, uint64_t bytes)
{
    if (!c->ok || bytes > (uint64_t)(c->end - c->at)) {
        c->ok = false;
        return NULL;
    }
    const uint8_t *p = c->at;
    c->at += bytes;
    return p;
}

static uint32_t plane_word(const uint8_t *p, size_t count, size_t i)
{
    uint32_t w = 0;
    for (size_t k = 0; k < 4; k++) w |= (uint32_t)p[k * count + i] << (8 * k);
    return w;
}

static bool take_ints(cursor *c, int32_t *out, size_t count, int32_t low, int32_t high)
{
    const uint8_t *p = take(c, 4 * (uint64_t)count);
    uint32_t value = 0;
    for (size_t i = 0; p && i < count; i++) {
        const uint32_t w = plane_word(p, count, i);
        value += w >> 1 ^ (uint32_t)(-(int32_t)(w & 1));
        out[i] = (int32_t)value;
        if (out[i] < low || out[i] > high) c->ok = false;
    }
    return c->ok;
}

static void take_floats(cursor *c, float *out, size_t count)
{
    const uint8_t *p = take(c, 4 * (uint64_t)count);
    for (size_t i = 0; p && i < count; i++) {
        const uint32_t w = plane_word(p, count, i);
        memcpy(&out[i], &w, sizeof w);
    }
}

static void take_reals(cursor *c, double *out, size_t count, size_t step)
{
    const uint8_t *p = take(c, 4 * (uint64_t)count);
    for (size_t i = 0; p && i < count; i++) {
        const uint32_t w = plane_word(p, count, i);
        float f;
        memcpy(&f, &w, sizeof w);
        out[i * step] = (double)f;
    }
}

// The bytes of a chunk into r->raw.
static tl_status unpack(tl_recording *r, uint64_t at, uint32_t kind, cursor *out, tl_error *err)
{
    uint8_t h[TL_RECORDING_CHUNK];
    TL_TRY(read_at(r, at, h, sizeof h, err));
    const uint32_t codec = tl_get_u32(h + 4);
    const uint64_t packed = tl_get_u64(h + 8), raw = tl_get_u64(h + 16);
    if (tl_get_u32(h) != kind || codec > TL_CODEC_ZSTD || raw > TL_RECORDING_MAX_RAW ||
        packed > r->size - at - sizeof h || (codec == TL_CODEC_STORED && raw != packed) ||
        packed > ZSTD_compressBound(TL_RECORDING_MAX_RAW))
        return damaged(r, err, "a frame is cut");
    if (!TL_GROW(&r->alloc, r->packed, r->packed_cap, packed + 1)) return tl_fail_memory(err, "a frame");
    TL_TRY(read_at(r, at + sizeof h, r->packed, packed, err));
    if (codec == TL_CODEC_ZSTD && ZSTD_getFrameContentSize(r->packed, packed) != raw)
        return damaged(r, err, "a frame has another size than it says");
    if (!TL_GROW(&r->alloc, r->raw, r->raw_cap, raw + 1)) return tl_fail_memory(err, "a frame");
    if (codec == TL_CODEC_STORED)
        memcpy(r->raw, r->packed, raw);
    else if (ZSTD_decompress(r->raw, raw, r->packed, packed) != raw)
        return damaged(r, err, "a frame cannot be unpacked");
    if (hash_of(r->raw, raw) != tl_get_u64(h + 24)) return damaged(r, err, "a frame does not have its hash");
    *out = (cursor){r->raw, r->raw + raw, true};
    return TL_OK;
}

static tl_status read_shape(tl_recording *r, kept *s, uint64_t at, tl_error *err)
{
    cursor c;
    TL_TRY(unpack(r, at, TL_CHUNK_SHAPE, &c, err));
    s->shape_at = 0;
    const uint8_t *h = take(&c, 16);
    if (!h) return damaged(r, err, "a mesh is cut");
    const uint64_t n[3] = {tl_get_u32(h), tl_get_u32(h + 4), tl_get_u32(h + 8)};
    const uint32_t flags = tl_get_u32(h + 12);
    const uint64_t left = (uint64_t)(c.end - c.at);  // every face and vertex takes bytes: no room for more than these
    if (n[0] > (uint64_t)INT32_MAX || n[2] > left / 12 || (flags & 1 ? n[1] > left / 8 : n[1] > n[0]) || flags > 7)
        return damaged(r, err, "a mesh is cut");
    if (!(flags & 2) && n[1] > n[0]) return damaged(r, err, "a mesh has vertices without nodes");
    s->nodes = (int32_t)n[0], s->verts = (int32_t)n[1], s->faces = (int32_t)n[2];
    if (!TL_GROW(&r->alloc, s->face, s->face_cap, n[2] + 1) || !TL_GROW(&r->alloc, s->uv, s->uv_cap, n[1] + 1) ||
        !TL_GROW(&r->alloc, s->vert_node, s->vert_cap, n[1] + 1) ||
        !TL_GROW(&r->alloc, s->face_label, s->label_cap, n[2] + 1))
        return tl_fail_memory(err, "a mesh");
    take_ints(&c, s->face[0], 3 * n[2], 0, s->verts - 1);
    if (flags & 1) take_reals(&c, &s->uv[0].x, n[1], 2), take_reals(&c, &s->uv[0].y, n[1], 2);
    for (int32_t v = 0; v < s->verts; v++) s->vert_node[v] = v;
    if (flags & 2) take_ints(&c, s->vert_node, n[1], 0, s->nodes - 1);
    s->has_label = (flags & 4) != 0;
    if (s->has_label) take_ints(&c, s->face_label, n[2], INT32_MIN, INT32_MAX);
    if (!c.ok || c.at != c.end || (!(flags & 1)) != (s->body != 0)) return damaged(r, err, "a mesh makes no sense");
    s->shape_at = at;
    return TL_OK;
}

static tl_status read_points(tl_recording *r, kept *s, uint64_t at, bool *has_vel, tl_error *err)
{
    cursor c;
    TL_TRY(unpack(r, at, TL_CHUNK_POINTS, &c, err));
    const uint8_t *h = take(&c, 40);
    if (!h || (int64_t)tl_get_u32(h) != s->nodes || tl_get_u32(h + 4) >> 8 != s->attributes)
        return damaged(r, err, "points do not belong to their mesh");
    const size_t n = (size_t)s->nodes;
    if (n > (size_t)(c.end - c.at) / 12) return damaged(r, err, "points are cut");
    *has_vel = tl_get_u32(h + 4) & 1;
    const double quantum = tl_get_f64(h + 8);
    if (!TL_GROW(&r->alloc, s->pos, s->pos_cap, n + 1) || !TL_GROW(&r->alloc, s->vel, s->vel_cap, n + 1))
        return tl_fail_memory(err, "points");
    for (size_t k = 0; k < 3; k++) {
        const double origin = tl_get_f64(h + 16 + 8 * k);
        const uint8_t *p = take(&c, 4 * (uint64_t)n);
        uint32_t value = 0;
        double *to = &s->pos[0].x + k;
        for (size_t i = 0; p && i < n; i++) {
            const uint32_t w = plane_word(p, n, i);
            value += w >> 1 ^ (uint32_t)(-(int32_t)(w & 1));
            to[3 * i] = origin + quantum * (double)(int32_t)value;
        }
    }
    for (size_t k = 0; *has_vel && k < 3; k++) take_reals(&c, &s->vel[0].x + k, n, 3);
    for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) {
        if (!(s->attributes >> a & 1)) continue;
        if (!TL_GROW(&r->alloc, s->attribute[a], s->attribute_cap[a], n + 1)) return tl_fail_memory(err, "points");
        take_floats(&c, s->attribute[a], n);
    }
    return c.ok && c.at == c.end && isfinite(quantum) ? TL_OK : damaged(r, err, "points make no sense");
}

tl_status tl_recording_frame(tl_recording *r, int32_t index, int32_t surface, tl_recording_view *out, tl_error *err)
{
    if (!r || !out) return tl_fail(err, TL_BAD_ARG, "recording or out is NULL");
    *out = (tl_recording_view){0};
    if (index < 0 || index >= r->facts.frames)
        return tl_fail(err, TL_BAD_ARG, "%.400s: no frame %d, there are %d from 0", r->path, index, r->facts.frames);
    if (surface < 0 || surface >= r->facts.surfaces)
        return tl_fail(err, TL_BAD_ARG, "%.400s: no surface %d, there are %d", r->path, surface, r->facts.surfaces);
    const uint8_t *e = r->entries + ((size_t)index * (size_t)r->facts.surfaces + (size_t)surface) * TL_RECORDING_ENTRY;
    const uint64_t shape = tl_get_u64(e), points = tl_get_u64(e + 8);
    if (shape == 0) return TL_OK;
    kept *s = &r->surface[surface];
    bool has_vel = false;
    if (s->shape_at != shape) TL_TRY(read_shape(r, s, shape, err));
    TL_TRY(read_points(r, s, points, &has_vel, err));
    *out = (tl_recording_view){.present = 1,
                               .pos = s->pos,
                               .vel = has_vel ? s->vel : NULL,
                               .node_count = s->nodes,
                               .uv = s->body ? NULL : s->uv,
                               .vert_node = s->vert_node,
                               .vert_count = s->verts,
                               .face = (const int32_t(*)[3])s->face,
                               .face_label = s->has_label ? s->face_label : NULL,
                               .face_count = s->faces,
                               .shape = shape};
    for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) out->attribute[a] = s->attributes >> a & 1 ? s->attribute[a] : NULL;
    return TL_OK;
}
