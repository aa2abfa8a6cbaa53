// web/wasm/json_text.c: JSON text to values and back (jansson.h).

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jansson.h"

enum { MAX_DEPTH = 2048 };

// --- reading ---------------------------------------------------------------------------------------------

typedef struct reading {
    const char *begin, *at, *end;
    size_t flags;
    json_error_t *error;
    char *scratch;  // a string without its escapes
    size_t scratch_size;
    int depth;
} reading;

static json_t *fail(reading *r, enum json_error_code code, const char *what)
{
    json_error_t *e = r->error;
    if (!e || e->code) return NULL;
    e->line = 1, e->column = 0, e->position = (int)(r->at - r->begin), e->code = (int)code;
    for (const char *p = r->begin; p < r->at; p++) {
        if (*p == '\n')
            e->line++, e->column = 0;
        else
            e->column++;
    }
    int length = 0;
    while (length < 20 && r->at + length < r->end && (unsigned char)r->at[length] > ' ' &&
           (unsigned char)r->at[length] < 127)
        length++;
    if (length > 0)
        snprintf(e->text, sizeof e->text, "%s near '%.*s'", what, length, r->at);
    else
        snprintf(e->text, sizeof e->text, "%s near end of %s", what, r->at >= r->end ? "file" : "line");
    return NULL;
}

static void skip_space(reading *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

// Length of the UTF-8 character at `p`, 0: not valid.
static int utf8_length(const unsigned char *p, const unsigned char *end)
{
    const int n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    if (n == 0 || end - p < n) return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if (n == 3 && ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0))) return 0;
    if (n == 4 && ((*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90))) return 0;
    return n;
}

static int hex4(const reading *r, const char *p)
{
    if (r->end - p < 4) return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        const char c = p[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return -1;
        value = 16 * value + digit;
    }
    return value;
}

static size_t put_utf8(char *out, int32_t code)
{
    if (code < 0x80) return out[0] = (char)code, 1;
    if (code < 0x800) return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12), out[1] = (char)(0x80 | (code >> 6 & 63)),
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18), out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63)), out[3] = (char)(0x80 | (code & 63));
    return 4;
}

// An escape at r->at (after the backslash) into `out`, at most 4 bytes; 0: not valid.
static size_t read_escape(reading *r, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->at >= r->end) return 0;
    const char c = *r->at++;
    const char *plain = c ? strchr(from, c) : NULL;
    if (plain) return out[0] = to[plain - from], 1;
    if (c != 'u') return 0;
    int32_t code = hex4(r, r->at);
    if (code < 0) return 0;
    r->at += 4;
    if (code >= 0xd800 && code < 0xdc00) {  // the first half of a pair
        const int low = r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u' ? hex4(r, r->at + 2) : -1;
        if (low < 0xdc00 || low > 0xdfff) return 0;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        r->at += 6;
    } else if (code >= 0xdc00 && code < 0xe000) {
        return 0;
    }
    return code == 0 ? 0 : put_utf8(out, code);  // as jansson: no NUL in texts
}

// The string at r->at into the scratch space; false: an error was told.
static bool read_string(reading *r, size_t *length)
{
    const char *start = r->at++;
    size_t n = 0;
    for (;;) {
        if (r->at >= r->end) return fail(r, json_error_invalid_syntax, "premature end of input"), false;
        if (n + 8 > r->scratch_size) {
            const size_t size = r->scratch_size ? 2 * r->scratch_size : 256;
            char *scratch = realloc(r->scratch, size);
            if (!scratch) return fail(r, json_error_out_of_memory, "out of memory"), false;
            r->scratch = scratch, r->scratch_size = size;
        }
        const unsigned char c = (unsigned char)*r->at;
        if (c == '"') break;
        if (c < 0x20) return r->at = start, fail(r, json_error_invalid_syntax, "control character in a string"), false;
        if (c == '\\') {
            r->at++;
            const size_t more = read_escape(r, r->scratch + n);
            if (more == 0) return r->at = start, fail(r, json_error_invalid_syntax, "invalid escape"), false;
            n += more;
            continue;
        }
        const int bytes = utf8_length((const unsigned char *)r->at, (const unsigned char *)r->end);
        if (bytes == 0) return fail(r, json_error_invalid_syntax, "unable to decode a byte: not UTF-8"), false;
        memcpy(r->scratch + n, r->at, (size_t)bytes);
        n += (size_t)bytes, r->at += bytes;
    }
    r->at++;
    r->scratch[n] = 0;
    *length = n;
    return true;
}

static bool is_digit(const reading *r, const char *p) { return p < r->end && *p >= '0' && *p <= '9'; }

static json_t *read_number(reading *r)
{
    const char *p = r->at;
    bool real = false;
    if (p < r->end && *p == '-') p++;
    if (!is_digit(r, p) || (*p == '0' && is_digit(r, p + 1)))
        return fail(r, json_error_invalid_syntax, "invalid token");
    while (is_digit(r, p)) p++;
    if (p < r->end && *p == '.') {
        real = true, p++;
        if (!is_digit(r, p)) return fail(r, json_error_invalid_syntax, "invalid token");
        while (is_digit(r, p)) p++;
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        real = true, p++;
        if (p < r->end && (*p == '+' || *p == '-')) p++;
        if (!is_digit(r, p)) return fail(r, json_error_invalid_syntax, "invalid token");
        while (is_digit(r, p)) p++;
    }
    char buffer[64], *text = buffer;
    const size_t length = (size_t)(p - r->at);
    if (length >= sizeof buffer && !(text = malloc(length + 1)))
        return fail(r, json_error_out_of_memory, "out of memory");
    memcpy(text, r->at, length), text[length] = 0;
    errno = 0;
    const json_int_t integer = real ? 0 : strtoll(text, NULL, 10);
    const bool big = !real && errno == ERANGE;
    const double value = real ? strtod(text, NULL) : 0;
    if (text != buffer) free(text);
    if (big) return fail(r, json_error_invalid_syntax, "too big integer");
    if (real && !isfinite(value)) return fail(r, json_error_invalid_syntax, "real number overflow");
    r->at = p;
    return real ? json_real(value) : json_integer(integer);
}

static json_t *read_value(reading *r);

static json_t *read_members(reading *r)
{
    json_t *out = json_object();
    r->at++, skip_space(r);
    if (r->at < r->end && *r->at == '}') return r->at++, out;
    while (out) {
        const char *start = r->at;
        size_t length = 0;
        if (r->at >= r->end || *r->at != '"') {
            fail(r, json_error_invalid_syntax, "string or '}' expected");
            break;
        }
        if (!read_string(r, &length)) break;
        if ((r->flags & JSON_REJECT_DUPLICATES) && json_object_get(out, r->scratch)) {
            r->at = start;
            fail(r, json_error_duplicate_key, "duplicate object key");
            break;
        }
        char *key = malloc(length + 1);
        if (!key) {
            fail(r, json_error_out_of_memory, "out of memory");
            break;
        }
        memcpy(key, r->scratch, length + 1);
        skip_space(r);
        json_t *value = NULL;
        if (r->at < r->end && *r->at == ':')
            r->at++, value = read_value(r);
        else
            fail(r, json_error_invalid_syntax, "':' expected");
        const bool kept = value && json_object_set_new(out, key, value) == 0;
        free(key);
        if (!kept) break;
        skip_space(r);
        if (r->at < r->end && *r->at == '}') return r->at++, out;
        if (r->at >= r->end || *r->at != ',') {
            fail(r, json_error_invalid_syntax, "'}' expected");
            break;
        }
        r->at++, skip_space(r);
    }
    json_decref(out);
    return NULL;
}

static json_t *read_entries(reading *r)
{
    json_t *out = json_array();
    r->at++, skip_space(r);
    if (r->at < r->end && *r->at == ']') return r->at++, out;
    while (out) {
        json_t *value = read_value(r);
        if (!value || json_array_append_new(out, value)) break;
        skip_space(r);
        if (r->at < r->end && *r->at == ']') return r->at++, out;
        if (r->at >= r->end || *r->at != ',') {
            fail(r, json_error_invalid_syntax, "']' expected");
            break;
        }
        r->at++, skip_space(r);
    }
    json_decref(out);
    return NULL;
}

static json_t *read_word(reading *r)
{
    static const struct {
        const char *word;
        json_t *(*make)(void);
    } words[] = {{"true", json_true}, {"false", json_false}, {"null", json_null}};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i].word, n) == 0) return r->at += n, words[i].make();
    }
    return fail(r, json_error_invalid_syntax, "invalid token");
}

static json_t *read_value(reading *r)
{
    skip_space(r);
    if (r->at >= r->end) return fail(r, json_error_invalid_syntax, "premature end of input");
    if (++r->depth > MAX_DEPTH) return fail(r, json_error_invalid_syntax, "maximum parsing depth reached");
    json_t *out = NULL;
    size_t length = 0;
    switch (*r->at) {
    case '{': out = read_members(r); break;
    case '[': out = read_entries(r); break;
    case '"': out = read_string(r, &length) ? json_stringn_nocheck(r->scratch, length) : NULL; break;
    case 't':
    case 'f':
    case 'n': out = read_word(r); break;
    default: out = read_number(r); break;
    }
    r->depth--;
    if (!out) fail(r, json_error_out_of_memory, "out of memory");  // unless something else was told before
    return out;
}

json_t *json_loadb(const char *buffer, size_t size, size_t flags, json_error_t *error)
{
    json_error_t unasked;
    if (!error) error = &unasked;
    memset(error, 0, sizeof *error);
    reading r = {.begin = buffer, .at = buffer, .end = buffer + size, .flags = flags, .error = error};
    skip_space(&r);
    json_t *out = NULL;
    if (!(flags & JSON_DECODE_ANY) && (r.at >= r.end || (*r.at != '{' && *r.at != '[')))
        fail(&r, json_error_invalid_syntax, "'[' or '{' expected");
    else
        out = read_value(&r);
    if (out && !(flags & JSON_DISABLE_EOF_CHECK)) {
        skip_space(&r);
        if (r.at < r.end)
            fail(&r, json_error_end_of_input_expected, "end of file expected"), json_decref(out), out = NULL;
    }
    free(r.scratch);
    return out;
}
json_t *json_loads(const char *text, size_t flags, json_error_t *error)
{
    return json_loadb(text, strlen(text), flags, error);
}

// --- writing ---------------------------------------------------------------------------------------------

typedef struct writing {
    char *text;
    size_t size, capacity;
    size_t flags;
    bool failed;
} writing;

static void put(writing *w, const char *text, size_t length)
{
    if (w->failed) return;
    if (w->size + length + 1 > w->capacity) {
        size_t capacity = w->capacity ? w->capacity : 256;
        while (capacity < w->size + length + 1) capacity *= 2;
        char *grown = realloc(w->text, capacity);
        if (!grown) {
            w->failed = true;
            return;
        }
        w->text = grown, w->capacity = capacity;
    }
    memcpy(w->text + w->size, text, length);
    w->size += length;
    w->text[w->size] = 0;
}
static void puts_of(writing *w, const char *text) { put(w, text, strlen(text)); }

static void write_string(writing *w, const char *text, size_t length)
{
    puts_of(w, "\"");
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        char escape[8];
        if (c == '"' || c == '\\')
            snprintf(escape, sizeof escape, "\\%c", c), puts_of(w, escape);
        else if (c == '\n')
            puts_of(w, "\\n");
        else if (c == '\t')
            puts_of(w, "\\t");
        else if (c == '\r')
            puts_of(w, "\\r");
        else if (c < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", c), puts_of(w, escape);
        else
            put(w, text + i, 1);
    }
    puts_of(w, "\"");
}

static void write_line(writing *w, int depth)
{
    const size_t indent = w->flags & 0x1f;
    if (indent == 0) {
        if (!(w->flags & JSON_COMPACT) && depth >= 0) puts_of(w, " ");
        return;
    }
    puts_of(w, "\n");
    for (size_t i = 0; i < indent * (size_t)(depth < 0 ? -depth - 1 : depth); i++) puts_of(w, " ");
}

static void write_value(writing *w, const json_t *json, int depth)
{
    char text[64];
    const int precision = (int)(w->flags >> 11 & 0x1f);
    const bool indented = (w->flags & 0x1f) != 0;
    switch (json->type) {
    case JSON_OBJECT:
        puts_of(w, "{");
        for (size_t i = 0; i < json_object_size(json); i++) {
            if (i > 0) puts_of(w, ",");
            if (i > 0 || indented) write_line(w, depth + 1);
            write_string(w, json_object_key_at(json, i), strlen(json_object_key_at(json, i)));
            puts_of(w, w->flags & JSON_COMPACT ? ":" : ": ");
            write_value(w, json_object_value_at(json, i), depth + 1);
        }
        if (json_object_size(json) > 0 && indented) write_line(w, -depth - 1);
        puts_of(w, "}");
        break;
    case JSON_ARRAY:
        puts_of(w, "[");
        for (size_t i = 0; i < json_array_size(json); i++) {
            if (i > 0) puts_of(w, ",");
            if (i > 0 || indented) write_line(w, depth + 1);
            write_value(w, json_array_get(json, i), depth + 1);
        }
        if (json_array_size(json) > 0 && indented) write_line(w, -depth - 1);
        puts_of(w, "]");
        break;
    case JSON_STRING: write_string(w, json_string_value(json), json_string_length(json)); break;
    case JSON_INTEGER: snprintf(text, sizeof text, "%lld", json_integer_value(json)), puts_of(w, text); break;
    case JSON_REAL:
        snprintf(text, sizeof text, "%.*g", precision ? precision : 17, json_real_value(json));
        if (!strpbrk(text, ".e")) strcat(text, ".0");  // still a real number when read again
        puts_of(w, text);
        break;
    case JSON_TRUE: puts_of(w, "true"); break;
    case JSON_FALSE: puts_of(w, "false"); break;
    default: puts_of(w, "null"); break;
    }
}

char *json_dumps(const json_t *json, size_t flags)
{
    if (!json || (!(flags & JSON_ENCODE_ANY) && !json_is_object(json) && !json_is_array(json))) return NULL;
    writing w = {.flags = flags};
    write_value(&w, json, 0);
    if (!w.failed) return w.text;
    free(w.text);
    return NULL;
}
