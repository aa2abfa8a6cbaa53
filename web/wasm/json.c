// web/wasm/json.c: JSON values, counted by reference, and their text; the interface is jansson's (jansson.h).
//
// An object is a list in the order of insertion and, from INDEX_FROM entries on, an open-addressed table of places in
// it. Reading is by recursive descent to a bounded depth; texts must be UTF-8. Numbers are read by strtod and written
// with up to 17 digits, so they survive a round trip.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jansson.h"

enum { INDEX_FROM = 16 };

typedef struct entry {
    char *key;
    json_t *value;
    uint32_t hash;
} entry;
typedef struct object {
    json_t base;
    entry *list;
    size_t count, capacity;
    int32_t *index;  // places in `list`, -1: free; a power of two of them
    size_t index_size;
} object;
typedef struct array {
    json_t base;
    json_t **list;
    size_t count, capacity;
} array;
typedef struct string {
    json_t base;
    size_t length;
    char *text;  // owned
} string;
typedef struct number {
    json_t base;
    json_int_t integer;
    double real;
} number;

static json_t the_true = {JSON_TRUE, (size_t)-1}, the_false = {JSON_FALSE, (size_t)-1},
              the_null = {JSON_NULL, (size_t)-1};
json_t *json_true(void) { return &the_true; }
json_t *json_false(void) { return &the_false; }
json_t *json_null(void) { return &the_null; }

static void *make(size_t size, json_type type)
{
    json_t *json = calloc(1, size);
    if (json) json->type = type, json->refcount = 1;
    return json;
}
json_t *json_object(void) { return make(sizeof(object), JSON_OBJECT); }
json_t *json_array(void) { return make(sizeof(array), JSON_ARRAY); }
json_t *json_integer(json_int_t value)
{
    number *n = make(sizeof *n, JSON_INTEGER);
    if (n) n->integer = value;
    return (json_t *)n;
}
json_t *json_real(double value)
{
    if (!isfinite(value)) return NULL;
    number *n = make(sizeof *n, JSON_REAL);
    if (n) n->real = value;
    return (json_t *)n;
}
json_t *json_stringn_nocheck(const char *value, size_t length)
{
    string *s = value ? make(sizeof *s, JSON_STRING) : NULL;
    if (!s) return NULL;
    s->text = malloc(length + 1);
    if (!s->text) {
        free(s);
        return NULL;
    }
    memcpy(s->text, value, length), s->text[length] = 0, s->length = length;
    return (json_t *)s;
}
json_t *json_stringn(const char *value, size_t length) { return json_stringn_nocheck(value, length); }
int json_string_set(json_t *json, const char *value)
{
    if (!json_is_string(json) || !value) return -1;
    string *s = (string *)json;
    const size_t length = strlen(value);
    char *text = malloc(length + 1);
    if (!text) return -1;
    memcpy(text, value, length + 1);
    free(s->text);
    s->text = text, s->length = length;
    return 0;
}
json_t *json_string(const char *value) { return value ? json_stringn_nocheck(value, strlen(value)) : NULL; }

void json_delete(json_t *json)
{
    if (json->type == JSON_OBJECT) {
        json_object_clear(json);
        free(((object *)json)->list), free(((object *)json)->index);
    } else if (json->type == JSON_ARRAY) {
        array *a = (array *)json;
        for (size_t i = 0; i < a->count; i++) json_decref(a->list[i]);
        free(a->list);
    } else if (json->type == JSON_STRING) {
        free(((string *)json)->text);
    }
    free(json);
}

// --- objects ---------------------------------------------------------------------------------------------

static uint32_t hash_of(const char *key)
{
    uint32_t h = 2166136261u;  // FNV-1a
    for (; *key; key++) h = (h ^ (unsigned char)*key) * 16777619u;
    return h;
}

static void index_put(object *o, size_t place)
{
    size_t at = o->list[place].hash & (o->index_size - 1);
    while (o->index[at] >= 0) at = (at + 1) & (o->index_size - 1);
    o->index[at] = (int32_t)place;
}

// Makes the table anew with room for twice the entries; without memory for it the list serves alone.
static void index_make(object *o)
{
    free(o->index);
    o->index = NULL, o->index_size = 0;
    if (o->count < INDEX_FROM) return;
    size_t size = 64;
    while (size < 4 * o->count) size *= 2;
    o->index = malloc(size * sizeof *o->index);
    if (!o->index) return;
    o->index_size = size;
    memset(o->index, 0xff, size * sizeof *o->index);
    for (size_t i = 0; i < o->count; i++) index_put(o, i);
}

static size_t find(const object *o, const char *key)
{
    const uint32_t hash = hash_of(key);
    if (o->index) {
        for (size_t at = hash & (o->index_size - 1); o->index[at] >= 0; at = (at + 1) & (o->index_size - 1)) {
            const entry *e = &o->list[o->index[at]];
            if (e->hash == hash && strcmp(e->key, key) == 0) return (size_t)o->index[at];
        }
        return o->count;
    }
    size_t i = 0;
    while (i < o->count && (o->list[i].hash != hash || strcmp(o->list[i].key, key) != 0)) i++;
    return i;
}

size_t json_object_size(const json_t *json) { return json_is_object(json) ? ((const object *)json)->count : 0; }
json_t *json_object_get(const json_t *json, const char *key)
{
    if (!json_is_object(json) || !key) return NULL;
    const object *o = (const object *)json;
    const size_t i = find(o, key);
    return i < o->count ? o->list[i].value : NULL;
}
const char *json_object_key_at(const json_t *json, size_t place)
{
    return place < json_object_size(json) ? ((const object *)json)->list[place].key : NULL;
}
json_t *json_object_value_at(const json_t *json, size_t place)
{
    return place < json_object_size(json) ? ((const object *)json)->list[place].value : NULL;
}

int json_object_set_new(json_t *json, const char *key, json_t *value)
{
    if (!json_is_object(json) || !key || !value || value == json) return json_decref(value), -1;
    object *o = (object *)json;
    const size_t i = find(o, key);
    if (i < o->count) {
        json_decref(o->list[i].value);
        o->list[i].value = value;
        return 0;
    }
    if (o->count == o->capacity) {
        const size_t capacity = o->capacity ? 2 * o->capacity : 8;
        entry *list = realloc(o->list, capacity * sizeof *list);
        if (!list) return json_decref(value), -1;
        o->list = list, o->capacity = capacity;
    }
    const size_t length = strlen(key) + 1;
    char *copy = malloc(length);
    if (!copy) return json_decref(value), -1;
    memcpy(copy, key, length);
    o->list[o->count++] = (entry){copy, value, hash_of(key)};
    if (o->index && 2 * o->count <= o->index_size)
        index_put(o, o->count - 1);
    else if (o->count >= INDEX_FROM)
        index_make(o);
    return 0;
}
int json_object_set(json_t *json, const char *key, json_t *value)
{
    return json_object_set_new(json, key, json_incref(value));
}
int json_object_del(json_t *json, const char *key)
{
    if (!json_is_object(json) || !key) return -1;
    object *o = (object *)json;
    const size_t i = find(o, key);
    if (i >= o->count) return -1;
    free(o->list[i].key), json_decref(o->list[i].value);
    memmove(o->list + i, o->list + i + 1, (--o->count - i) * sizeof *o->list);
    index_make(o);
    return 0;
}
int json_object_clear(json_t *json)
{
    if (!json_is_object(json)) return -1;
    object *o = (object *)json;
    for (size_t i = 0; i < o->count; i++) free(o->list[i].key), json_decref(o->list[i].value);
    o->count = 0;
    index_make(o);
    return 0;
}
int json_object_update(json_t *json, json_t *other)
{
    if (!json_is_object(json) || !json_is_object(other)) return -1;
    for (size_t i = 0; i < json_object_size(other); i++)
        if (json_object_set(json, json_object_key_at(other, i), json_object_value_at(other, i))) return -1;
    return 0;
}

// --- lists -----------------------------------------------------------------------------------------------

size_t json_array_size(const json_t *json) { return json_is_array(json) ? ((const array *)json)->count : 0; }
json_t *json_array_get(const json_t *json, size_t index)
{
    return index < json_array_size(json) ? ((const array *)json)->list[index] : NULL;
}
int json_array_set_new(json_t *json, size_t index, json_t *value)
{
    if (!value || value == json || index >= json_array_size(json)) return json_decref(value), -1;
    json_t **slot = &((array *)json)->list[index];
    json_decref(*slot);
    *slot = value;
    return 0;
}
int json_array_set(json_t *json, size_t index, json_t *value)
{
    return json_array_set_new(json, index, json_incref(value));
}
int json_array_append_new(json_t *json, json_t *value)
{
    if (!json_is_array(json) || !value || value == json) return json_decref(value), -1;
    array *a = (array *)json;
    if (a->count == a->capacity) {
        const size_t capacity = a->capacity ? 2 * a->capacity : 8;
        json_t **list = realloc(a->list, capacity * sizeof *list);
        if (!list) return json_decref(value), -1;
        a->list = list, a->capacity = capacity;
    }
    a->list[a->count++] = value;
    return 0;
}
int json_array_append(json_t *json, json_t *value) { return json_array_append_new(json, json_incref(value)); }
int json_array_remove(json_t *json, size_t index)
{
    if (index >= json_array_size(json)) return -1;
    array *a = (array *)json;
    json_decref(a->list[index]);
    memmove(a->list + index, a->list + index + 1, (--a->count - index) * sizeof *a->list);
    return 0;
}

// --- single values ---------------------------------------------------------------------------------------

const char *json_string_value(const json_t *json) { return json_is_string(json) ? ((const string *)json)->text : NULL; }
size_t json_string_length(const json_t *json) { return json_is_string(json) ? ((const string *)json)->length : 0; }
json_int_t json_integer_value(const json_t *json)
{
    return json_is_integer(json) ? ((const number *)json)->integer : 0;
}
double json_real_value(const json_t *json) { return json_is_real(json) ? ((const number *)json)->real : 0; }
double json_number_value(const json_t *json)
{
    return json_is_integer(json) ? (double)((const number *)json)->integer : json_real_value(json);
}

int json_equal(const json_t *a, const json_t *b)
{
    if (!a || !b || a->type != b->type) return 0;
    switch (a->type) {
    case JSON_OBJECT:
        if (json_object_size(a) != json_object_size(b)) return 0;
        for (size_t i = 0; i < json_object_size(a); i++)
            if (!json_equal(json_object_value_at(a, i), json_object_get(b, json_object_key_at(a, i)))) return 0;
        return 1;
    case JSON_ARRAY:
        if (json_array_size(a) != json_array_size(b)) return 0;
        for (size_t i = 0; i < json_array_size(a); i++)
            if (!json_equal(json_array_get(a, i), json_array_get(b, i))) return 0;
        return 1;
    case JSON_STRING:
        return json_string_length(a) == json_string_length(b) &&
               memcmp(json_string_value(a), json_string_value(b), json_string_length(a)) == 0;
    case JSON_INTEGER: return json_integer_value(a) == json_integer_value(b);
    case JSON_REAL: return json_real_value(a) == json_real_value(b);
    default: return 1;
    }
}

static json_t *copy_of(const json_t *json, bool deep)
{
    if (!json) return NULL;
    if (json->type == JSON_OBJECT) {
        json_t *out = json_object();
        for (size_t i = 0; out && i < json_object_size(json); i++) {
            json_t *value = json_object_value_at(json, i);
            value = deep ? copy_of(value, true) : json_incref(value);
            if (json_object_set_new(out, json_object_key_at(json, i), value)) json_decref(out), out = NULL;
        }
        return out;
    }
    if (json->type == JSON_ARRAY) {
        json_t *out = json_array();
        for (size_t i = 0; out && i < json_array_size(json); i++) {
            json_t *value = json_array_get(json, i);
            value = deep ? copy_of(value, true) : json_incref(value);
            if (json_array_append_new(out, value)) json_decref(out), out = NULL;
        }
        return out;
    }
    switch (json->type) {
    case JSON_STRING: return json_stringn_nocheck(json_string_value(json), json_string_length(json));
    case JSON_INTEGER: return json_integer(json_integer_value(json));
    case JSON_REAL: return json_real(json_real_value(json));
    case JSON_TRUE: return json_true();
    case JSON_FALSE: return json_false();
    default: return json_null();
    }
}
json_t *json_copy(json_t *value) { return copy_of(value, false); }
json_t *json_deep_copy(const json_t *value) { return copy_of(value, true); }

// --- packing ---------------------------------------------------------------------------------------------

typedef struct packing {
    const char *format;
    va_list args;
} packing;

static char next_of(packing *p)
{
    while (*p->format == ' ' || *p->format == ':' || *p->format == ',') p->format++;
    return *p->format ? *p->format++ : 0;
}

static json_t *pack_value(packing *p, char kind)
{
    switch (kind) {
    case '{': {
        json_t *out = json_object();
        bool fine = out != NULL;
        for (char c = next_of(p); c && c != '}'; c = next_of(p)) {
            const char *key = va_arg(p->args, const char *);
            json_t *value = pack_value(p, next_of(p));
            if (!value || json_object_set_new(out, key, value)) fine = false;
        }
        return fine ? out : (json_decref(out), NULL);
    }
    case '[': {
        json_t *out = json_array();
        bool fine = out != NULL;
        for (char c = next_of(p); c && c != ']'; c = next_of(p)) {
            json_t *value = pack_value(p, c);
            if (!value || json_array_append_new(out, value)) fine = false;
        }
        return fine ? out : (json_decref(out), NULL);
    }
    case 's': return json_string(va_arg(p->args, const char *));
    case 'i': return json_integer(va_arg(p->args, int));
    case 'I': return json_integer(va_arg(p->args, json_int_t));
    case 'f': return json_real(va_arg(p->args, double));
    case 'b': return json_boolean(va_arg(p->args, int));
    case 'n': return json_null();
    case 'o': return va_arg(p->args, json_t *);
    case 'O': return json_incref(va_arg(p->args, json_t *));
    default: return NULL;
    }
}
json_t *json_pack(const char *format, ...)
{
    packing p = {.format = format};
    va_start(p.args, format);
    json_t *out = pack_value(&p, next_of(&p));
    va_end(p.args);
    return out;
}
