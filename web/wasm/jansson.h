// jansson.h: the part of jansson's interface that Toile's readers use, for builds where the library is not there
// (WebAssembly). Same names and meaning; written anew in json.c. Objects keep the order of their keys.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>  // as the original does

typedef enum json_type {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_INTEGER,
    JSON_REAL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
} json_type;

typedef struct json_t {
    json_type type;
    size_t refcount;
} json_t;
typedef long long json_int_t;
#define JSON_INTEGER_FORMAT "lld"

enum { JSON_ERROR_TEXT_LENGTH = 160 };
typedef struct json_error_t {
    int line, column, position, code;
    char source[4];
    char text[JSON_ERROR_TEXT_LENGTH];
} json_error_t;
enum json_error_code {
    json_error_unknown,
    json_error_out_of_memory,
    json_error_end_of_input_expected,
    json_error_duplicate_key,
    json_error_invalid_syntax
};
static inline enum json_error_code json_error_code(const json_error_t *e) { return (enum json_error_code)e->code; }

#define JSON_REJECT_DUPLICATES 0x1
#define JSON_DISABLE_EOF_CHECK 0x2
#define JSON_DECODE_ANY 0x4
#define JSON_COMPACT 0x20
#define JSON_ENCODE_ANY 0x200
#define JSON_REAL_PRECISION(n) (((n)&0x1F) << 11)
#define JSON_INDENT(n) ((n)&0x1F)

#define json_typeof(j) ((j)->type)
#define json_is_object(j) ((j) && json_typeof(j) == JSON_OBJECT)
#define json_is_array(j) ((j) && json_typeof(j) == JSON_ARRAY)
#define json_is_string(j) ((j) && json_typeof(j) == JSON_STRING)
#define json_is_integer(j) ((j) && json_typeof(j) == JSON_INTEGER)
#define json_is_real(j) ((j) && json_typeof(j) == JSON_REAL)
#define json_is_number(j) (json_is_integer(j) || json_is_real(j))
#define json_is_true(j) ((j) && json_typeof(j) == JSON_TRUE)
#define json_is_false(j) ((j) && json_typeof(j) == JSON_FALSE)
#define json_is_boolean(j) (json_is_true(j) || json_is_false(j))
#define json_is_null(j) ((j) && json_typeof(j) == JSON_NULL)
#define json_boolean_value json_is_true

json_t *json_object(void);
json_t *json_array(void);
json_t *json_string(const char *value);
json_t *json_stringn_nocheck(const char *value, size_t length);
json_t *json_stringn(const char *value, size_t length);
int json_string_set(json_t *json, const char *value);
json_t *json_integer(json_int_t value);
json_t *json_real(double value);
json_t *json_true(void);
json_t *json_false(void);
json_t *json_null(void);
#define json_boolean(v) ((v) ? json_true() : json_false())
json_t *json_pack(const char *format, ...);

void json_delete(json_t *json);
static inline json_t *json_incref(json_t *json)
{
    if (json && json->refcount != (size_t)-1) json->refcount++;
    return json;
}
static inline void json_decref(json_t *json)
{
    if (json && json->refcount != (size_t)-1 && --json->refcount == 0) json_delete(json);
}

size_t json_object_size(const json_t *object);
json_t *json_object_get(const json_t *object, const char *key);
int json_object_set_new(json_t *object, const char *key, json_t *value);
int json_object_set(json_t *object, const char *key, json_t *value);
int json_object_del(json_t *object, const char *key);
int json_object_clear(json_t *object);
int json_object_update(json_t *object, json_t *other);
/// The key at a place, NULL at the end; and its value.
const char *json_object_key_at(const json_t *object, size_t place);
json_t *json_object_value_at(const json_t *object, size_t place);
#define json_object_foreach(object, key, value)                                                                        \
    for (size_t at_##key = 0;                                                                                          \
         ((key) = json_object_key_at(object, at_##key)) && ((value) = json_object_value_at(object, at_##key), true);   \
         at_##key++)
/// The entry in hand may be taken out; then the next one has its place. `n` is not used.
#define json_object_foreach_safe(object, n, key, value)                                                                \
    for (size_t at_##key = ((void)((n) = NULL), (size_t)0);                                                            \
         ((key) = json_object_key_at(object, at_##key)) && ((value) = json_object_value_at(object, at_##key), true);   \
         at_##key += json_object_key_at(object, at_##key) == (key))

size_t json_array_size(const json_t *array);
json_t *json_array_get(const json_t *array, size_t index);
int json_array_set_new(json_t *array, size_t index, json_t *value);
int json_array_set(json_t *array, size_t index, json_t *value);
int json_array_append_new(json_t *array, json_t *value);
int json_array_append(json_t *array, json_t *value);
int json_array_remove(json_t *array, size_t index);
#define json_array_foreach(array, index, value)                                                                        \
    for ((index) = 0; (index) < json_array_size(array) && ((value) = json_array_get(array, index)); (index)++)

const char *json_string_value(const json_t *string);
size_t json_string_length(const json_t *string);
json_int_t json_integer_value(const json_t *integer);
double json_real_value(const json_t *real);
double json_number_value(const json_t *number);

int json_equal(const json_t *a, const json_t *b);
json_t *json_copy(json_t *value);
json_t *json_deep_copy(const json_t *value);

json_t *json_loadb(const char *buffer, size_t size, size_t flags, json_error_t *error);
json_t *json_loads(const char *text, size_t flags, json_error_t *error);
char *json_dumps(const json_t *json, size_t flags);
