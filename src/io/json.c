// io/json.c: JSON with comments, includes and command-line settings, where every value knows its file and line.

#include "io/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct source {
    char *path;
    size_t path_size;
    tl_text text;  ///< comments blanked
} source;

struct tl_json_doc {
    tl_allocator alloc;
    source *sources;  ///< in the order of merging: a later one wins
    int32_t source_count, source_cap;
    char (*sets)[256];  ///< canonical paths; a later one wins
    int32_t set_count, set_cap;
    json_t *root;
    bool replaced;  ///< by what is no part of the files
    char looseness[256];
};

typedef struct loading {
    tl_json_doc *doc;
    tl_reader reader;
    bool includes;
    bool (*is_loose)(const json_t *root);
    const char *chain[TL_JSON_MAX_INCLUDES];  ///< files being read, outermost first
    int depth;
} loading;

// ---- comments ---------------------------------------------------------------------------------------------

tl_status tl_json_blank_comments(char *text, size_t size, const char *path, tl_error *err)
{
    int64_t line = 1, opened = 0;
    int depth = 0;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) memset(text, ' ', 3);  // byte order mark
    for (size_t i = 0; i < size; i++) {
        const char c = text[i], next = i + 1 < size ? text[i + 1] : 0;
        if (c == '\n') line++;
        if (c == '{' || c == '[') {
            if (++depth > TL_JSON_MAX_DEPTH)
                return tl_fail(err, TL_BAD_INPUT, "%s:%lld: nested %d deep, must be <= %d", path, (long long)line,
                               depth, TL_JSON_MAX_DEPTH);
        } else if (c == '}' || c == ']') {
            depth--;
        } else if (c == '"') {
            for (i++; i < size && text[i] != '"' && text[i] != '\n'; i++)
                if (text[i] == '\\' && i + 1 < size && text[i + 1] != '\n') i++;
            if (i < size && text[i] == '\n') line++;  // an open string: the parser will say so
        } else if (c == '/' && next == '/') {
            for (; i < size && text[i] != '\n'; i++) text[i] = ' ';
            if (i < size) line++;
        } else if (c == '/' && next == '*') {
            opened = line;
            text[i] = text[i + 1] = ' ';
            for (i += 2; i + 1 < size && !(text[i] == '*' && text[i + 1] == '/'); i++) {
                if (text[i] == '\n')
                    line++;
                else
                    text[i] = ' ';
            }
            if (i + 1 >= size)
                return tl_fail(err, TL_BAD_INPUT, "%s:%lld: comment without end (close it with */)", path,
                               (long long)opened);
            text[i] = text[i + 1] = ' ';
            i++;
        }
    }
    return TL_OK;
}

// ---- finding places again ---------------------------------------------------------------------------------

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++;
    return p;
}

// Behind the string that starts at p.
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\') p++;
    return p < end ? p + 1 : end;
}

// Behind the value that starts at p; the text has been parsed before, so it is well formed.
static const char *skip_value(const char *p, const char *end)
{
    int depth = 0;
    while (p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
            if (depth == 0) return p;
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if (*p == '}' || *p == ']') {
            if (depth == 0) return p;  // end of the object around a number
            if (--depth == 0) return p + 1;
        } else if (depth == 0 && (*p == ',' || *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) {
            return p;
        }
        p++;
    }
    return end;
}

// Where the value of `node` starts in a text; for an object's member, where its key starts when `at_key`.
static const char *locate(const source *src, const tl_node *node, bool at_key)
{
    const char *end = src->text.data + src->text.size;
    if (!node->up) return skip_space(src->text.data, end);
    const char *p = locate(src, node->up, false);
    if (!p || p >= end || *p != (node->key ? '{' : '[')) return NULL;
    const size_t key_size = node->key ? strlen(node->key) : 0;
    p++;
    for (int32_t i = 0;; i++) {
        p = skip_space(p, end);
        if (p >= end || *p == '}' || *p == ']') return NULL;
        const char *start = p;
        bool found = !node->key && i == node->index;
        if (node->key) {
            const char *behind = skip_string(p, end);
            found = (size_t)(behind - p) == key_size + 2 && memcmp(p + 1, node->key, key_size) == 0;
            p = skip_space(behind, end);
            if (p < end && *p == ':') p = skip_space(p + 1, end);
        }
        if (found) return at_key ? start : p;
        p = skip_space(skip_value(p, end), end);
        if (p < end && *p == ',') p++;
    }
}

// The text that has the value, or the nearest value above it that has one.
static const source *place_of(const tl_node *node, int64_t *line)
{
    const tl_json_doc *doc = node->doc;
    for (; node; node = node->up) {
        for (int32_t s = doc->source_count - 1; s >= 0; s--) {
            const source *src = &doc->sources[s];
            const char *at = locate(src, node, true);
            if (!at) continue;
            *line = 1;
            for (const char *p = src->text.data; p < at; p++) *line += *p == '\n';
            return src;
        }
    }
    return NULL;
}

// "cloths[0].density"; "" for the document.
static void path_of(const tl_node *node, char *out, size_t size)
{
    out[0] = 0;
    if (!node->up) return;
    path_of(node->up, out, size);
    const size_t used = strlen(out);
    if (node->key)
        snprintf(out + used, size - used, "%s%s", used ? "." : "", node->key);
    else
        snprintf(out + used, size - used, "[%d]", node->index);
}

// The setting on the command line that the value came from, or NULL.
static const char *set_of(const tl_node *node)
{
    char path[256];
    path_of(node, path, sizeof path);
    for (int32_t i = node->doc->set_count - 1; i >= 0; i--) {
        const char *set = node->doc->sets[i];
        const size_t n = strlen(set);
        if (strncmp(path, set, n) == 0 && (path[n] == 0 || path[n] == '.' || path[n] == '[')) return set;
    }
    return NULL;
}

tl_status tl_node_dir(const tl_node *node, char out[TL_PATH_MAX], tl_error *err)
{
    int64_t line;
    out[0] = 0;
    if (set_of(node) || node->doc->replaced) return TL_OK;
    const source *src = place_of(node, &line);
    return src ? tl_path_dir(src->path, out, err) : TL_OK;
}

// "scene.json:14: cloths[0].density" or "--set cloths[0].density: cloths[0].density".
static void write_place(const tl_node *node, char *out, size_t size)
{
    char path[256];
    path_of(node, path, sizeof path);
    const char *set = set_of(node);
    int64_t line = 0;
    const source *src = set ? NULL : place_of(node, &line);
    const char *space = path[0] ? " " : "";
    if (set)
        snprintf(out, size, "--set %s:%s%s", set, space, path);
    else if (src)
        snprintf(out, size, "%s:%lld:%s%s", src->path, (long long)line, space, path);
    else
        snprintf(out, size, "%s", path);
}

void tl_node_place(const tl_node *node, char *out, size_t size) { write_place(node, out, size); }

static void write_value(const json_t *value, char *out, size_t size)
{
    char number[TL_NUMBER_CHARS];
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT: snprintf(out, size, "{..}"); return;
    case JSON_ARRAY: snprintf(out, size, "[..] of %zu", json_array_size(value)); return;
    case JSON_STRING: snprintf(out, size, "\"%.60s\"", json_string_value(value)); return;
    case JSON_INTEGER: snprintf(out, size, "%lld", (long long)json_integer_value(value)); return;
    case JSON_REAL:
        tl_format_double(json_real_value(value), number);
        snprintf(out, size, "%s", number);
        return;
    case JSON_TRUE: snprintf(out, size, "true"); return;
    case JSON_FALSE: snprintf(out, size, "false"); return;
    case JSON_NULL: snprintf(out, size, "null"); return;
    }
}

tl_status tl_node_fail(const tl_node *node, bool show_value, tl_error *err, const char *format, ...)
{
    if (!err) return TL_BAD_INPUT;
    char place[640], value[96] = "", sentence[512];
    write_place(node, place, sizeof place);
    if (show_value) write_value(node->value, value, sizeof value);
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return tl_fail(err, TL_BAD_INPUT, "%s %s%s%s", place, value, show_value ? ", " : "", sentence);
}

tl_status tl_node_prefix(const tl_node *node, tl_error *err)
{
    if (!err) return TL_BAD_INPUT;
    char place[640];
    write_place(node, place, sizeof place);
    tl_error inner = *err;
    const size_t n = strlen(place);
    return tl_fail(err, inner.status, "%s%s %s", place, n > 0 && place[n - 1] == ':' ? "" : ":", inner.message);
}

// ---- reading ----------------------------------------------------------------------------------------------

tl_node tl_json_root(const tl_json_doc *doc) { return (tl_node){.doc = doc, .value = doc->root}; }

tl_node tl_node_key(const tl_node *up, const char *key)
{
    return (tl_node){.doc = up->doc, .up = up, .key = key, .value = json_object_get(up->value, key)};
}

tl_node tl_node_at(const tl_node *up, size_t index)
{
    return (tl_node){.doc = up->doc, .up = up, .index = (int32_t)index, .value = json_array_get(up->value, index)};
}

void tl_json_destroy(tl_json_doc *doc)
{
    if (!doc) return;
    const tl_allocator alloc = doc->alloc;
    for (int32_t i = 0; i < doc->source_count; i++) {
        tl_text_free(&alloc, &doc->sources[i].text);
        TL_FREE(&alloc, doc->sources[i].path, doc->sources[i].path_size);
    }
    TL_FREE(&alloc, doc->sources, doc->source_cap);
    TL_FREE(&alloc, doc->sets, doc->set_cap);
    json_decref(doc->root);
    TL_FREE(&alloc, doc, 1);
}

// jansson does not always say so when memory runs out; a text that is wrong always has a sentence.
static bool is_no_memory(const json_error_t *bad)
{
    return json_error_code(bad) == json_error_out_of_memory || bad->text[0] == 0;
}

// A key that stands twice is found first; what follows the end is left out all the same, and told too.
static void note_looseness(char *out, size_t out_size, const char *text, size_t size, const char *path,
                           const json_error_t *first)
{
    const int n = snprintf(out, out_size, "%.100s:%d: %.100s", path, first->line, first->text);
    if (json_error_code(first) != json_error_duplicate_key || n < 0 || (size_t)n >= out_size) return;
    json_error_t bad;
    json_t *all = json_loadb(text, size, 0, &bad);
    if (!all && json_error_code(&bad) == json_error_end_of_input_expected)
        snprintf(out + n, out_size - (size_t)n, "; line %d: %.60s", bad.line, bad.text);
    json_decref(all);
}

static tl_status parse_text(const char *text, size_t size, const char *path, loading *load, json_t **out, tl_error *err)
{
    json_error_t bad;
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, &bad);
    if (!*out && is_no_memory(&bad)) return tl_fail_memory(err, path);
    if (!*out && load->is_loose) {
        json_error_t worse;
        *out = json_loadb(text, size, JSON_DISABLE_EOF_CHECK, &worse);
        if (*out && !load->is_loose(*out)) {
            json_decref(*out);
            *out = NULL;
        }
        if (*out) note_looseness(load->doc->looseness, sizeof load->doc->looseness, text, size, path, &bad);
    }
    return *out ? TL_OK : tl_fail(err, TL_BAD_INPUT, "%s:%d: not valid JSON: %s", path, bad.line, bad.text);
}

static tl_status parse(loading *load, tl_text *text, const char *path, json_t **out, tl_error *err)
{
    TL_TRY(tl_json_blank_comments(text->data, text->size, path, err));
    if (skip_space(text->data, text->data + text->size) == text->data + text->size)
        return tl_fail(err, TL_BAD_INPUT, "%s:1: file is empty, a JSON object { .. } is needed", path);
    tl_buf plain;
    tl_buf_init(&plain, &load->doc->alloc);
    const bool odd = tl_json_plain_numbers(text->data, text->size, &plain);
    tl_status status = odd ? tl_buf_end(&plain, path, err) : TL_OK;
    if (status == TL_OK)
        status = parse_text(odd ? plain.data : text->data, odd ? plain.size : text->size, path, load, out, err);
    tl_buf_free(&plain);
    TL_TRY(status);
    if (json_is_object(*out)) return TL_OK;
    json_decref(*out);
    *out = NULL;
    return tl_fail(err, TL_BAD_INPUT, "%s:1: is a list, a JSON object { .. } is needed", path);
}

// Members of `from` into `into`; objects join, anything else replaces. False: no memory.
static bool merge(json_t *into, json_t *from)
{
    const char *key;
    json_t *value;
    json_object_foreach(from, key, value)
    {
        json_t *old = json_object_get(into, key);
        if (json_is_object(old) && json_is_object(value)) {
            if (!merge(old, value)) return false;
        } else if (json_object_set(into, key, value) != 0) {
            return false;
        }
    }
    return true;
}

static tl_status load_file(loading *load, const char *path, json_t **out, tl_error *err);

static tl_status load_include(loading *load, const tl_node *node, const char *from, json_t *into, tl_error *err)
{
    if (!json_is_string(node->value)) return tl_node_fail(node, true, err, "must be the name of a file");
    char dir[TL_PATH_MAX], path[TL_PATH_MAX], real[TL_PATH_MAX], other[TL_PATH_MAX];
    TL_TRY(tl_path_dir(from, dir, err));
    TL_TRY(tl_path_join(dir, json_string_value(node->value), path, err));
    tl_path_absolute(path, real);
    char chain[300] = "";
    bool cyclic = false;
    for (int i = 0; i < load->depth; i++) {
        tl_path_absolute(load->chain[i], other);
        cyclic = cyclic || strcmp(real, other) == 0;
        const size_t used = strlen(chain);
        snprintf(chain + used, sizeof chain - used, "%.60s -> ", load->chain[i]);
    }
    if (cyclic) return tl_node_fail(node, true, err, "includes itself: %s%.60s", chain, path);
    if (load->depth == TL_JSON_MAX_INCLUDES)
        return tl_node_fail(node, true, err, "includes nested more than %d deep: %s%.60s", TL_JSON_MAX_INCLUDES, chain,
                            path);
    json_t *part = NULL;
    tl_status status = load_file(load, path, &part, err);
    if (status == TL_IO) return tl_node_prefix(node, err);
    if (status == TL_OK && !merge(into, part)) status = tl_fail_memory(err, path);
    json_decref(part);
    return status;
}

static tl_status load_includes(loading *load, json_t *own, const source *src, json_t *merged, tl_error *err)
{
    // A document of this one file, so that messages about the include name this file's lines.
    tl_json_doc view = {.sources = (source *)src, .source_count = 1, .root = own};
    const tl_node top = tl_json_root(&view);
    const tl_node include = tl_node_key(&top, "include");
    tl_status status = TL_OK;
    if (json_is_array(include.value)) {
        for (size_t i = 0; status == TL_OK && i < json_array_size(include.value); i++) {
            const tl_node entry = tl_node_at(&include, i);
            status = load_include(load, &entry, src->path, merged, err);
        }
    } else {
        status = load_include(load, &include, src->path, merged, err);
    }
    return status;
}

// Reads one file into the list of sources and hands out its object with includes merged in.
static tl_status load_file(loading *load, const char *path, json_t **out, tl_error *err)
{
    tl_json_doc *doc = load->doc;
    const tl_allocator *alloc = &doc->alloc;
    source src = {.path_size = strlen(path) + 1};
    src.path = TL_ALLOC(alloc, char, src.path_size);
    if (!src.path) return tl_fail_memory(err, path);
    memcpy(src.path, path, src.path_size);
    json_t *own = NULL, *merged = NULL;
    tl_status status = load->reader.read(load->reader.user, alloc, path, TL_JSON_MAX_BYTES, &src.text, err);
    if (status == TL_OK) status = parse(load, &src.text, path, &own, err);
    if (status == TL_OK && load->includes && json_object_get(own, "include")) {
        load->chain[load->depth++] = src.path;
        merged = json_object();
        status = merged ? load_includes(load, own, &src, merged, err) : tl_fail_memory(err, path);
        load->depth--;
        json_object_del(own, "include");
        if (status == TL_OK && !merge(merged, own)) status = tl_fail_memory(err, path);
    }
    if (status == TL_OK && !TL_GROW(alloc, doc->sources, doc->source_cap, doc->source_count + 1))
        status = tl_fail_memory(err, path);
    if (status == TL_OK) {
        doc->sources[doc->source_count++] = src;
        *out = json_incref(merged ? merged : own);
    } else {
        tl_text_free(alloc, &src.text);
        TL_FREE(alloc, src.path, src.path_size);
    }
    json_decref(own);
    json_decref(merged);
    return status;
}

// ---- settings on the command line -------------------------------------------------------------------------

// One step of a path: a name or a number, [3] or .3; hands back what follows, NULL when it is malformed.
static const char *path_step(const char *p, char *name, size_t size, int64_t *index)
{
    *index = -1;
    if (*p == '[') {
        const char *end = tl_parse_int(p + 1, p + strlen(p), index);
        return end && *end == ']' && *index >= 0 ? end + 1 : NULL;
    }
    if (*p == '.') p++;
    const size_t n = strcspn(p, ".[");
    if (n == 0 || n >= size) return NULL;
    memcpy(name, p, n);
    name[n] = 0;
    int64_t number;
    const char *end = tl_parse_int(name, name + n, &number);
    if (end == name + n && number >= 0) *index = number;
    return p + n;
}

static tl_status apply_set(tl_json_doc *doc, const char *set, tl_error *err)
{
    const char *equals = strchr(set, '=');
    if (!equals || equals == set || equals - set >= 200)
        return tl_fail(err, TL_BAD_INPUT, "--set %.200s: must read path.to.key=value", set);
    char path[200], name[200], canon[256] = "";
    memcpy(path, set, (size_t)(equals - set));
    path[equals - set] = 0;
    json_error_t bad = {.line = -1};
    json_t *value = json_loads(equals + 1, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &bad);
    if (!value && is_no_memory(&bad)) return tl_fail_memory(err, "a setting");
    if (!value) value = json_string(equals + 1);  // a bare word
    if (!value) return tl_fail(err, TL_BAD_INPUT, "--set %s: value is not UTF-8 text", path);
    json_t *at = doc->root;
    tl_status status = TL_OK;
    for (const char *p = path; status == TL_OK && *p;) {
        int64_t index;
        const char *rest = path_step(p, name, sizeof name, &index);
        if (!rest) {
            status = tl_fail(err, TL_BAD_INPUT, "--set %s: must read path.to.key=value", path);
            break;
        }
        const size_t used = strlen(canon);
        if (json_is_array(at)) {
            snprintf(canon + used, sizeof canon - used, "[%lld]", (long long)index);
            const size_t count = json_array_size(at);
            if (index < 0 || (uint64_t)index >= count)
                status = tl_fail(err, TL_BAD_INPUT, "--set %s: %s is not in a list of %zu (entries count from 0)", path,
                                 canon, count);
            else if (*rest)
                at = json_array_get(at, (size_t)index);
            else if (json_array_set(at, (size_t)index, value) != 0)
                status = tl_fail_memory(err, "a setting");
        } else if (json_is_object(at) && *p != '[') {
            snprintf(canon + used, sizeof canon - used, "%s%s", used ? "." : "", name);
            json_t *next = json_object_get(at, name);
            if (*rest && !next) {
                next = json_object();
                if (json_object_set_new(at, name, next) != 0) status = tl_fail_memory(err, "a setting");
            } else if (!*rest && json_object_set(at, name, value) != 0) {
                status = tl_fail_memory(err, "a setting");
            }
            at = next;
        } else {
            status = tl_fail(err, TL_BAD_INPUT, "--set %s: %s is no object or list", path, used ? canon : "the scene");
        }
        p = rest;
    }
    json_decref(value);
    TL_TRY(status);
    if (!TL_GROW(&doc->alloc, doc->sets, doc->set_cap, doc->set_count + 1)) return tl_fail_memory(err, "a setting");
    memcpy(doc->sets[doc->set_count++], canon, sizeof canon);
    return TL_OK;
}

// Deep, because an include may be named twice and settings change values in place.
static tl_status own_copy(tl_json_doc *doc, tl_error *err)
{
    json_t *copy = json_deep_copy(doc->root);
    if (!copy) return tl_fail_memory(err, "a document");
    json_decref(doc->root);
    doc->root = copy;
    return TL_OK;
}

const char *tl_json_looseness(const tl_json_doc *doc) { return doc->looseness; }

void tl_json_replace(tl_json_doc *doc, json_t *root)
{
    json_decref(doc->root);
    doc->root = root, doc->replaced = true;
}

tl_status tl_json_set(tl_json_doc *doc, const char *const *sets, int32_t set_count, tl_error *err)
{
    for (int32_t i = 0; i < set_count; i++) TL_TRY(apply_set(doc, sets[i], err));
    return TL_OK;
}

tl_status tl_json_load(const tl_allocator *alloc, const tl_json_def *def, tl_json_doc **out, tl_error *err)
{
    *out = NULL;
    tl_json_doc *doc = TL_CALLOC(alloc, tl_json_doc, 1);
    if (!doc) return tl_fail_memory(err, "a document");
    doc->alloc = *alloc;
    loading load = {.doc = doc,
                    .reader = def->reader ? *def->reader : tl_reader_disk(),
                    .includes = def->includes,
                    .is_loose = def->is_loose};
    tl_status status = load_file(&load, def->path, &doc->root, err);
    if (status == TL_OK) status = own_copy(doc, err);
    if (status == TL_OK) status = tl_json_set(doc, def->sets, def->set_count, err);
    if (status != TL_OK) {
        tl_json_destroy(doc);
        return status;
    }
    *out = doc;
    return TL_OK;
}
