// scene/keys_schema.c: tables of keys as JSON Schema (draft 2020-12). Every helper hands out a new reference or NULL.

#include <stdio.h>
#include <string.h>

#include "scene/keys.h"

// Takes over `value` even when `into` is missing, so that callers can chain without checking.
static bool put(json_t *into, const char *name, json_t *value)
{
    if (into && value) return json_object_set_new(into, name, value) == 0;
    json_decref(value);
    return false;
}

static json_t *number(double x) { return x == (double)(json_int_t)x ? json_integer((json_int_t)x) : json_real(x); }

static bool put_range(json_t *schema, const tl_key_def *key)
{
    const bool free_range = key->min == 0 && key->max == 0;
    const double low = free_range ? -TL_KEY_LIMIT : key->min, high = free_range ? TL_KEY_LIMIT : key->max;
    return put(schema, key->flags & TL_KEY_OPEN_MIN ? "exclusiveMinimum" : "minimum", number(low)) &&
           put(schema, key->flags & TL_KEY_OPEN_MAX ? "exclusiveMaximum" : "maximum", number(high));
}

static json_t *typed(const char *type)
{
    json_t *schema = json_object();
    if (put(schema, "type", json_string(type))) return schema;
    json_decref(schema);
    return NULL;
}

static json_t *vector_schema(const tl_key_def *key, int count)
{
    json_t *schema = typed("array"), *entry = typed("number");
    bool ok = entry && put_range(entry, key);
    ok = put(schema, "items", entry) && ok;
    ok = ok && put(schema, "minItems", json_integer(count)) && put(schema, "maxItems", json_integer(count));
    if (ok) return schema;
    json_decref(schema);
    return NULL;
}

static json_t *number_schema(const tl_key_def *key)
{
    json_t *schema = typed(key->type == TL_KEY_INT ? "integer" : "number");
    if (schema && put_range(schema, key)) return schema;
    json_decref(schema);
    return NULL;
}

static json_t *color_schema(void)
{
    json_t *schema = typed("string");
    if (put(schema, "pattern", json_string("^#[0-9a-fA-F]{6}$"))) return schema;
    json_decref(schema);
    return NULL;
}

static json_t *word_schema(const tl_key_def *key)
{
    json_t *schema = json_object(), *words = json_array();
    bool ok = words != NULL;
    for (int i = 0; ok && key->words[i]; i++) {
        const size_t size = strcspn(key->words[i], "=");
        ok = json_array_append_new(words, json_stringn(key->words[i], size)) == 0;
    }
    if ((put(schema, "enum", words) && ok)) return schema;
    json_decref(schema);
    return NULL;
}

static json_t *key_schema(const tl_key_def *key);

static json_t *list_schema(const tl_key_def *key)
{
    json_t *schema = typed("array");
    bool ok = put(schema, "items", key_schema(key->item));
    if (key->min > 0) ok = ok && put(schema, "minItems", json_integer((json_int_t)key->min));
    if (ok) return schema;
    json_decref(schema);
    return NULL;
}

static json_t *map_schema(const tl_key_def *key)
{
    json_t *schema = key->item ? typed("object") : json_object();
    if (key->item ? put(schema, "additionalProperties", key_schema(key->item))
                  : put(schema, "$ref", json_string(key->text)))
        return schema;
    json_decref(schema);
    return NULL;
}

static json_t *one_of_schema(const tl_key_def *key)
{
    json_t *schema = json_object(), *list = json_array();
    bool ok = list != NULL;
    for (const tl_key_def *alt = key->item; ok && alt->doc; alt++)
        ok = json_array_append_new(list, key_schema(alt)) == 0;
    if (put(schema, "anyOf", list) && ok) return schema;
    json_decref(schema);
    return NULL;
}

static json_t *bare_schema(const tl_key_def *key)
{
    switch (key->type) {
    case TL_KEY_REAL:
    case TL_KEY_INT: return number_schema(key);
    case TL_KEY_TEXT: return typed("string");
    case TL_KEY_COLOR: return color_schema();
    case TL_KEY_WORD: return word_schema(key);
    case TL_KEY_VEC2: return vector_schema(key, 2);
    case TL_KEY_VEC3: return vector_schema(key, 3);
    case TL_KEY_VEC4: return vector_schema(key, 4);
    case TL_KEY_BOOL: return typed("boolean");
    case TL_KEY_OBJECT: return tl_table_schema(key->table);
    case TL_KEY_LIST: return list_schema(key);
    case TL_KEY_MAP: return map_schema(key);
    case TL_KEY_ONE_OF: return one_of_schema(key);
    }
    return NULL;
}

static bool put_default(json_t *schema, const tl_key_def *key)
{
    if (key->flags & (TL_KEY_REQUIRED | TL_KEY_OPTIONAL)) return true;
    if (key->type == TL_KEY_REAL || key->type == TL_KEY_INT) return put(schema, "default", number(key->number[0]));
    if (key->type == TL_KEY_TEXT || key->type == TL_KEY_COLOR || key->type == TL_KEY_WORD)
        return put(schema, "default", json_string(key->text ? key->text : ""));
    if (key->type == TL_KEY_BOOL) return put(schema, "default", json_boolean(key->number[0] != 0));
    if (key->type < TL_KEY_VEC2 || key->type > TL_KEY_VEC4) return true;
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int i = 0; ok && i < 2 + (int)(key->type - TL_KEY_VEC2); i++)
        ok = json_array_append_new(list, number(key->number[i])) == 0;
    return put(schema, "default", list) && ok;
}

static json_t *key_schema(const tl_key_def *key)
{
    char text[512];
    if (key->unit)
        snprintf(text, sizeof text, "%s [%s]", key->doc, key->unit);
    else
        snprintf(text, sizeof text, "%s", key->doc);
    json_t *schema = bare_schema(key);
    if (schema && key->name && !(put(schema, "description", json_string(text)) && put_default(schema, key))) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}

json_t *tl_table_schema(const tl_key_table *table)
{
    json_t *schema = typed("object"), *keys = json_object(), *required = json_array();
    bool ok = schema && keys && required;
    for (const tl_key_def *key = table->keys; ok && key->name; key++) {
        if (key->flags & TL_KEY_LATER) continue;
        ok = put(keys, key->name, key_schema(key));
        if (key->flags & TL_KEY_REQUIRED) ok = ok && json_array_append_new(required, json_string(key->name)) == 0;
    }
    ok = ok && put(schema, "title", json_string(table->title)) && put(schema, "additionalProperties", json_false());
    ok = put(schema, "properties", keys) && ok;
    ok = put(schema, "required", required) && ok;
    if (ok) return schema;
    json_decref(schema);
    return NULL;
}
