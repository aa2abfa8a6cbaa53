// io/gltf.c: the container of a glTF file: chunks of a GLB, JSON, buffers in, beside and inside the text.

#include "io/gltf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/gltf_impl.h"

enum { HEADER_BYTES = 12, CHUNK_BYTES = 8, CHUNK_JSON = 0x4e4f534a, CHUNK_BIN = 0x004e4942, MAX_BUFFERS = 4096 };

tl_status gltf_fail(const gltf *g, tl_error *err, const char *format, ...)
{
    char text[700];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tl_fail(err, TL_BAD_INPUT, "%.300s: %s", g->source->path, text);
}

static uint32_t word_at(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

bool tl_gltf_is_binary(const char *data, size_t size) { return size >= 4 && memcmp(data, "glTF", 4) == 0; }

// ---- JSON helpers ----

const json_t *gltf_list(const gltf *g, const char *name)
{
    const json_t *list = json_object_get(g->root, name);
    return json_is_array(list) ? list : NULL;
}

int32_t gltf_count(const gltf *g, const char *name) { return (int32_t)json_array_size(gltf_list(g, name)); }

tl_status gltf_index(const gltf *g, const json_t *object, const char *key, int64_t otherwise, const char *what,
                     int64_t *out, tl_error *err)
{
    const json_t *value = json_object_get(object, key);
    *out = otherwise;
    if (!value && otherwise >= 0) return TL_OK;
    if (!value) return gltf_fail(g, err, "%s: has no %s", what, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return gltf_fail(g, err, "%s: %s must be a whole number >= 0", what, key);
    *out = json_integer_value(value);
    return TL_OK;
}

tl_status gltf_ref(const gltf *g, const json_t *value, const char *list, const char *what, int32_t *out, tl_error *err)
{
    const int32_t count = gltf_count(g, list);
    if (!json_is_integer(value)) return gltf_fail(g, err, "%s: must be the number of one of the %s", what, list);
    const json_int_t i = json_integer_value(value);
    if (i < 0 || i >= count)
        return gltf_fail(g, err, "%s: is %lld, there are %s 0 to %d", what, (long long)i, list, count - 1);
    *out = (int32_t)i;
    return TL_OK;
}

tl_status gltf_numbers(const gltf *g, const json_t *object, const char *key, int32_t n, const char *what, double *out,
                       tl_error *err)
{
    const json_t *list = json_object_get(object, key);
    if (!list) return TL_OK;
    if (!json_is_array(list) || (int32_t)json_array_size(list) != n)
        return gltf_fail(g, err, "%s: %s must have %d numbers", what, key, n);
    for (int32_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        if (!json_is_number(value) || !isfinite(json_number_value(value)))
            return gltf_fail(g, err, "%s: %s[%d] is not a number", what, key, i);
        out[i] = json_number_value(value);
    }
    return TL_OK;
}

void gltf_name(const json_t *object, char out[TL_RIG_NAME])
{
    const char *name = json_string_value(json_object_get(object, "name"));
    size_t n = name ? strlen(name) : 0;
    if (n >= TL_RIG_NAME) n = TL_RIG_NAME - 1;
    while (n > 0 && name && name[n] && ((unsigned char)name[n] & 0xc0) == 0x80) n--;  // no half of a character
    memset(out, 0, TL_RIG_NAME);
    if (n > 0) memcpy(out, name, n);
}

// ---- chunks ----

static tl_status find_chunks(const gltf *g, const char **json, size_t *json_size, gltf_buffer *bin, tl_error *err)
{
    const char *data = g->source->data;
    const size_t size = g->source->size;
    *json = data, *json_size = size;
    if (!tl_gltf_is_binary(data, size)) return TL_OK;
    if (size < HEADER_BYTES + CHUNK_BYTES)
        return gltf_fail(g, err, "ends at byte %zu, inside the header of a GLB", size);
    if (word_at(data + 4) != 2)
        return gltf_fail(g, err, "byte 4: is a GLB of version %u, only version 2 is read", word_at(data + 4));
    if (word_at(data + 8) > size)
        return gltf_fail(g, err, "byte 8: says %u bytes, the file has %zu (cut short?)", word_at(data + 8), size);
    const size_t end = word_at(data + 8);
    size_t at = HEADER_BYTES;
    for (int k = 0; at + CHUNK_BYTES <= end; k++) {
        const size_t bytes = word_at(data + at);
        const uint32_t type = word_at(data + at + 4);
        if (bytes > end - at - CHUNK_BYTES)
            return gltf_fail(g, err, "byte %zu: a chunk of %zu bytes reaches beyond the end", at, bytes);
        if (k == 0 && type != CHUNK_JSON) return gltf_fail(g, err, "byte %zu: the first chunk is not JSON", at + 4);
        if (k == 0) *json = data + at + CHUNK_BYTES, *json_size = bytes;
        if (k == 1 && type == CHUNK_BIN) *bin = (gltf_buffer){.data = data + at + CHUNK_BYTES, .size = bytes};
        at += CHUNK_BYTES + (bytes + 3) / 4 * 4;
    }
    return *json == data ? gltf_fail(g, err, "byte 12: there is no chunk") : TL_OK;
}

static tl_status parse_json(gltf *g, const char *json, size_t size, tl_error *err)
{
    json_error_t why;
    while (size > 0 && (json[size - 1] == ' ' || json[size - 1] == 0)) size--;
    g->root = json_loadb(json, size, 0, &why);
    if (!g->root && json == g->source->data)
        return tl_fail(err, TL_BAD_INPUT, "%.300s:%d: %s", g->source->path, why.line, why.text);
    if (!g->root)
        return gltf_fail(g, err, "byte %zu: %s", (size_t)(json - g->source->data) + (size_t)why.position, why.text);
    if (!json_is_object(g->root)) return gltf_fail(g, err, "its JSON is not an object");
    const char *version = json_string_value(json_object_get(json_object_get(g->root, "asset"), "version"));
    if (!version) return gltf_fail(g, err, "is no glTF: there is no asset.version");
    if (strncmp(version, "2.", 2) != 0) return gltf_fail(g, err, "asset.version is %.20s, only 2.x is read", version);
    return TL_OK;
}

// ---- buffers ----

static int base64_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static tl_status decode_base64(const gltf *g, const char *text, const char *what, gltf_buffer *out, tl_error *err)
{
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '=') n--;
    const size_t size = n / 4 * 3 + (n % 4 > 0 ? n % 4 - 1 : 0);
    out->own.data = TL_ALLOC(g->alloc, char, size + 1);
    if (!out->own.data) return tl_fail_memory(err, "a buffer");
    out->own.size = size;
    uint32_t bits = 0;
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        const int v = base64_value((unsigned char)text[i]);
        if (v < 0) return gltf_fail(g, err, "%s: character %zu of its data URI is not base64", what, i);
        bits = bits << 6 | (uint32_t)v;
        if (i % 4 > 0 && to < size) out->own.data[to++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xff);
    }
    out->own.data[size] = 0;
    out->data = out->own.data, out->size = size;
    return TL_OK;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// "a%20b.bin" to "a b.bin".
static tl_status unescape(const gltf *g, const char *uri, const char *what, char out[TL_PATH_MAX], tl_error *err)
{
    size_t n = 0;
    for (const char *p = uri; *p; p++) {
        if (n + 1 >= TL_PATH_MAX) return gltf_fail(g, err, "%s: its uri is too long", what);
        const int high = p[0] == '%' ? hex_value(p[1]) : -1, low = high >= 0 ? hex_value(p[2]) : -1;
        out[n++] = low >= 0 ? (char)(16 * high + low) : *p;
        if (low >= 0) p += 2;
        if (out[n - 1] == 0) return gltf_fail(g, err, "%s: its uri has a zero byte", what);
    }
    out[n] = 0;
    return TL_OK;
}

static tl_status read_beside(const gltf *g, const char *uri, const char *what, gltf_buffer *out, tl_error *err)
{
    if (strstr(uri, "://")) return gltf_fail(g, err, "%s: is at %.200s, only files are read (download it)", what, uri);
    char name[TL_PATH_MAX], dir[TL_PATH_MAX], path[TL_PATH_MAX];
    TL_TRY(unescape(g, uri, what, name, err));
    TL_TRY(tl_path_dir(g->source->path, dir, err));
    TL_TRY(tl_path_join(strcmp(dir, ".") == 0 ? "" : dir, name, path, err));
    const tl_reader reader = g->source->reader ? *g->source->reader : tl_reader_disk();
    tl_error why;
    const tl_status status = reader.read(reader.user, g->alloc, path, TL_GLTF_MAX_BYTES, &out->own, &why);
    if (status == TL_NO_MEMORY) return tl_fail_memory(err, path);
    if (status != TL_OK) {
        gltf_fail(g, err, "%s: %.400s", what, why.message);
        if (err) err->status = status;
        return status;
    }
    out->data = out->own.data, out->size = out->own.size;
    return TL_OK;
}

static tl_status read_buffer(gltf *g, int32_t i, const gltf_buffer *bin, tl_error *err)
{
    char what[32];
    snprintf(what, sizeof what, "buffers[%d]", i);
    const json_t *entry = json_array_get(gltf_list(g, "buffers"), (size_t)i);
    const char *uri = json_string_value(json_object_get(entry, "uri"));
    gltf_buffer *b = &g->buffers[i];
    int64_t length = 0;
    TL_TRY(gltf_index(g, entry, "byteLength", -1, what, &length, err));
    if (!uri && (i != 0 || !bin->data)) return gltf_fail(g, err, "%s: has no uri and there is no binary chunk", what);
    const char *comma = uri && strncmp(uri, "data:", 5) == 0 ? strchr(uri, ',') : NULL;
    if (!uri)
        *b = *bin;
    else if (strncmp(uri, "data:", 5) != 0)
        TL_TRY(read_beside(g, uri, what, b, err));
    else if (!comma || comma - uri < 7 || strncmp(comma - 7, ";base64", 7) != 0)
        return gltf_fail(g, err, "%s: its data URI is not base64", what);
    else
        TL_TRY(decode_base64(g, comma + 1, what, b, err));
    if ((uint64_t)length > b->size)
        return gltf_fail(g, err, "%s: byteLength %lld, there are %zu bytes (cut short?)", what, (long long)length,
                         b->size);
    b->size = (size_t)length;
    return TL_OK;
}

tl_status gltf_open(gltf *g, tl_error *err)
{
    const char *json = NULL;
    size_t size = 0;
    gltf_buffer bin = {0};
    TL_TRY(find_chunks(g, &json, &size, &bin, err));
    TL_TRY(parse_json(g, json, size, err));
    const int32_t count = gltf_count(g, "buffers");
    if (count > MAX_BUFFERS) return gltf_fail(g, err, "has %d buffers, at most %d are read", count, MAX_BUFFERS);
    g->buffers = TL_CALLOC(g->alloc, gltf_buffer, count);
    if (!g->buffers) return tl_fail_memory(err, "buffers");
    g->buffer_count = count;
    for (int32_t i = 0; i < count; i++) TL_TRY(read_buffer(g, i, &bin, err));
    return TL_OK;
}

void gltf_close(gltf *g)
{
    for (int32_t i = 0; i < g->buffer_count; i++) tl_text_free(g->alloc, &g->buffers[i].own);
    TL_FREE(g->alloc, g->buffers, g->buffer_count);
    TL_FREE(g->alloc, g->node_place, g->node_count);
    TL_FREE(g->alloc, g->in_scene, g->node_count);
    TL_FREE(g->alloc, g->morph_first, g->node_count);
    TL_FREE(g->alloc, g->morph_count, g->node_count);
    TL_FREE(g->alloc, g->joint_first, g->skin_count);
    json_decref(g->root);
}

// Extensions that change where points are; others are about looks or may be left out.
static tl_status check_extensions(const gltf *g, tl_error *err)
{
    static const char *const harmless[] = {"KHR_texture_",          "KHR_materials_", "KHR_lights",
                                           "KHR_mesh_quantization", "KHR_xmp",        "EXT_texture_",
                                           "KHR_node_visibility"};
    const json_t *required = gltf_list(g, "extensionsRequired");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        bool fine = false;
        for (size_t k = 0; name && k < sizeof harmless / sizeof harmless[0]; k++)
            fine = fine || strncmp(name, harmless[k], strlen(harmless[k])) == 0;
        if (!fine)
            return gltf_fail(g, err, "needs the extension %.100s, which is not read (save it without)",
                             name ? name : "(no name)");
    }
    return TL_OK;
}

tl_status tl_gltf_parse(const tl_gltf_source *source, tl_character *out, tl_error *err)
{
    gltf g = {.alloc = &out->alloc, .source = source, .c = out};
    tl_status status = gltf_open(&g, err);
    if (status == TL_OK) status = check_extensions(&g, err);
    if (status == TL_OK) status = gltf_read_nodes(&g, err);
    if (status == TL_OK) status = gltf_read_skins(&g, err);
    if (status == TL_OK) status = gltf_read_meshes(&g, err);
    if (status == TL_OK) status = gltf_read_animations(&g, err);
    gltf_close(&g);
    return status;
}

// ---- one file of several ----

static void put_word(tl_buf *buf, uint32_t w)
{
    const unsigned char b[4] = {(unsigned char)w, (unsigned char)(w >> 8), (unsigned char)(w >> 16),
                                (unsigned char)(w >> 24)};
    tl_buf_add(buf, b, 4);
}

static bool join_buffers(const gltf *g, json_t *root, tl_buf *bin)
{
    size_t i;
    json_t *view;
    int64_t *first = TL_ALLOC(g->alloc, int64_t, g->buffer_count);
    if (!first) return false;
    for (int32_t b = 0; b < g->buffer_count; b++) {
        while (bin->size % 4 != 0 && !bin->failed) tl_buf_add(bin, "", 1);
        first[b] = (int64_t)bin->size;
        tl_buf_add(bin, g->buffers[b].data, g->buffers[b].size);
    }
    bool ok = true;
    json_array_foreach(json_object_get(root, "bufferViews"), i, view)
    {
        const json_int_t b = json_integer_value(json_object_get(view, "buffer"));
        if (!json_is_object(view) || b < 0 || b >= g->buffer_count) continue;
        const json_int_t offset = json_integer_value(json_object_get(view, "byteOffset"));
        ok = json_object_set_new(view, "buffer", json_integer(0)) == 0 && ok;
        ok = json_object_set_new(view, "byteOffset", json_integer(first[b] + offset)) == 0 && ok;
    }
    TL_FREE(g->alloc, first, g->buffer_count);
    if (g->buffer_count > 0)
        ok = json_object_set_new(root, "buffers", json_pack("[{sI}]", "byteLength", (json_int_t)bin->size)) == 0 && ok;
    while (bin->size % 4 != 0 && !bin->failed) tl_buf_add(bin, "", 1);
    return ok;
}

tl_status tl_gltf_pack(const tl_allocator *alloc, const tl_gltf_source *source, tl_buf *out, tl_error *err)
{
    gltf g = {.alloc = alloc, .source = source};
    tl_buf bin;
    tl_buf_init(&bin, alloc);
    tl_status status = gltf_open(&g, err);
    char *text = NULL;
    if (status == TL_OK && join_buffers(&g, g.root, &bin))
        text = json_dumps(g.root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (status == TL_OK && (!text || bin.failed)) status = tl_fail_memory(err, "a GLB");
    if (status == TL_OK) {
        const size_t n = strlen(text), padded = (n + 3) / 4 * 4;
        const size_t total = HEADER_BYTES + CHUNK_BYTES + padded + (bin.size > 0 ? CHUNK_BYTES + bin.size : 0);
        if (total > UINT32_MAX) status = gltf_fail(&g, err, "is too large for one GLB (4 GiB)");
        tl_buf_text(out, "glTF");
        put_word(out, 2), put_word(out, (uint32_t)total);
        put_word(out, (uint32_t)padded), put_word(out, CHUNK_JSON);
        tl_buf_add(out, text, n);
        tl_buf_add(out, "   ", padded - n);
        if (bin.size > 0)
            put_word(out, (uint32_t)bin.size), put_word(out, CHUNK_BIN), tl_buf_add(out, bin.data, bin.size);
        if (status == TL_OK && out->failed) status = tl_fail_memory(err, "a GLB");
    }
    free(text);
    tl_buf_free(&bin);
    gltf_close(&g);
    return status;
}
