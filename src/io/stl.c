// io/stl.c: STL meshes: three corners a face, joined where they are the same.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/sort.h"
#include "io/ply.h"

enum { HEAD = 84, FACE = 50, MAX_FACES = 200000000 };

tl_status tl_obj_make(const tl_allocator *alloc, int64_t nodes, int64_t faces, tl_obj *out, tl_error *err)
{
    *out = (tl_obj){.alloc = *alloc};
    if (nodes > INT32_MAX || faces > INT32_MAX || !TL_GROW(alloc, out->pos, out->pos_cap, nodes > 0 ? nodes : 1) ||
        !TL_GROW(alloc, out->face, out->face_cap, faces > 0 ? faces : 1)) {
        tl_obj_free(out);
        return tl_fail_memory(err, "a mesh");
    }
    out->node_count = (int32_t)nodes, out->face_count = (int32_t)faces;
    return TL_OK;
}

static float float_at(const unsigned char *p)
{
    const uint32_t u = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

// Corners with the same coordinates become the first of them.
static tl_status join_corners(const tl_allocator *alloc, tl_obj *m, tl_error *err)
{
    const int32_t n = m->node_count;
    tl_key *keys = TL_ALLOC(alloc, tl_key, n), *scratch = TL_ALLOC(alloc, tl_key, n);
    int32_t *first = TL_ALLOC(alloc, int32_t, n);
    const bool ok = keys && scratch && first;
    if (ok) {
        for (int32_t i = 0; i < n; i++) {
            m->pos[i] = (tl_vec3){m->pos[i].x + 0.0, m->pos[i].y + 0.0, m->pos[i].z + 0.0};  // no negative zeros
            tl_hash hash;
            tl_hash_init(&hash);
            tl_hash_add(&hash, &m->pos[i], sizeof m->pos[i]);
            keys[i] = (tl_key){tl_hash_value(&hash), i};
        }
        tl_sort_keys(keys, scratch, n);
        for (int32_t i = 0; i < n; i++) {
            const int32_t v = keys[i].id, at = i > 0 && keys[i].key == keys[i - 1].key ? first[keys[i - 1].id] : v;
            first[v] = memcmp(&m->pos[at], &m->pos[v], sizeof *m->pos) == 0 ? at : v;
        }
        int32_t kept = 0;
        for (int32_t i = 0; i < n; i++) {  // the first of several comes first
            if (first[i] == i)
                m->pos[kept] = m->pos[i], first[i] = kept++;
            else
                first[i] = first[first[i]];
            m->face[i / 3][i % 3] = first[i];
        }
        m->node_count = kept;
    }
    TL_FREE(alloc, keys, n);
    TL_FREE(alloc, scratch, n);
    TL_FREE(alloc, first, n);
    return ok ? TL_OK : tl_fail_memory(err, "a mesh");
}

static tl_status parse_binary(const tl_allocator *alloc, const char *path, const unsigned char *data, int64_t faces,
                              tl_obj *out, tl_error *err)
{
    TL_TRY(tl_obj_make(alloc, 3 * faces, faces, out, err));
    for (int64_t i = 0; i < 3 * faces; i++) {
        const unsigned char *p = data + HEAD + i / 3 * FACE + 12 + 12 * (i % 3);
        out->pos[i] = (tl_vec3){(double)float_at(p), (double)float_at(p + 4), (double)float_at(p + 8)};
        if (isfinite(out->pos[i].x) && isfinite(out->pos[i].y) && isfinite(out->pos[i].z)) continue;
        return tl_fail(err, TL_BAD_INPUT, "%.300s: byte %lld: a corner of face %lld is not finite", path,
                       (long long)(p - data), (long long)(i / 3));
    }
    return TL_OK;
}

static const char *skip_space(const char *p, const char *end, int64_t *line)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) *line += *p++ == '\n';
    return p;
}

static bool is_word(const char *p, const char *end, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(end - p) > n && strncasecmp(p, word, n) == 0 && strchr(" \t\r\n", p[n]) != NULL;
}

// Only the lines "vertex X Y Z" count; three of them are a face.
static tl_status parse_text(const tl_allocator *alloc, const char *path, const char *data, size_t size, tl_obj *out,
                            tl_error *err)
{
    const char *end = data + size, *p = data;
    int64_t line = 1;
    int32_t n = 0;
    while ((p = skip_space(p, end, &line)) < end) {
        if (is_word(p, end, "vertex")) {
            double x[3];
            p += 6;
            for (int i = 0; i < 3; i++) {
                while (p < end && (*p == ' ' || *p == '\t')) p++;
                const char *next = tl_parse_double(p, end, &x[i]);
                if (!next || !isfinite(x[i]))
                    return tl_fail(err, TL_BAD_INPUT, "%.300s:%lld: vertex needs three numbers", path, (long long)line);
                p = next;
            }
            if (n == INT32_MAX || !TL_GROW(alloc, out->pos, out->pos_cap, n + 1)) return tl_fail_memory(err, "a mesh");
            out->pos[n++] = (tl_vec3){x[0], x[1], x[2]};
            out->node_count = n;
        }
        while (p < end && *p != '\n') p++;
    }
    if (n == 0 || n % 3 != 0)
        return tl_fail(err, TL_BAD_INPUT, "%.300s:%lld: has %d corners, must be three for each face", path,
                       (long long)line, n);
    if (!TL_GROW(alloc, out->face, out->face_cap, n / 3)) return tl_fail_memory(err, "a mesh");
    out->face_count = n / 3;
    return TL_OK;
}

tl_status tl_stl_parse(const tl_allocator *alloc, const char *path, const char *data, size_t size, tl_obj *out,
                       tl_error *err)
{
    const unsigned char *bytes = (const unsigned char *)data;
    const uint64_t faces = size >= HEAD ? (uint64_t)bytes[80] | (uint64_t)bytes[81] << 8 | (uint64_t)bytes[82] << 16 |
                                              (uint64_t)bytes[83] << 24
                                        : 0;
    const bool fits = size >= HEAD && faces <= (size - HEAD) / FACE;
    const bool text = size >= 5 && memcmp(data, "solid", 5) == 0 && !(fits && faces * FACE + HEAD == size);
    *out = (tl_obj){.alloc = *alloc};
    tl_status status;
    if (text)
        status = parse_text(alloc, path, data, size, out, err);
    else if (!fits || faces == 0 || faces > MAX_FACES)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: byte 80: says %llu faces, %zu bytes have room for %zu (cut short?)",
                       path, (unsigned long long)faces, size, size >= HEAD ? (size - HEAD) / FACE : 0);
    else
        status = parse_binary(alloc, path, bytes, (int64_t)faces, out, err);
    if (status == TL_OK) status = join_corners(alloc, out, err);
    if (status != TL_OK) tl_obj_free(out);
    return status;
}
