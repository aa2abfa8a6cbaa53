// scene/keys.c: tables of keys: reading by table.

#include "scene/keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static double low_end(const tl_key_def *key) { return key->min == 0 && key->max == 0 ? -TL_KEY_LIMIT : key->min; }

static double high_end(const tl_key_def *key) { return key->min == 0 && key->max == 0 ? TL_KEY_LIMIT : key->max; }

// What a number x out of range must be: "must be > 0", "must be in [0, 16]".
static void range_text(const tl_key_def *key, double x, char *out, size_t size)
{
    char low[TL_NUMBER_CHARS], high[TL_NUMBER_CHARS];
    tl_format_short(low_end(key), low);
    tl_format_short(high_end(key), high);
    const bool open_min = key->flags & TL_KEY_OPEN_MIN, open_max = key->flags & TL_KEY_OPEN_MAX;
    if (fabs(low_end(key)) < TL_KEY_LIMIT && fabs(high_end(key)) < TL_KEY_LIMIT)
        snprintf(out, size, "must be in %c%s, %s%c", open_min ? '(' : '[', low, high, open_max ? ')' : ']');
    else if (x <= low_end(key))
        snprintf(out, size, "must be %s %s", open_min ? ">" : ">=", low);
    else
        snprintf(out, size, "must be %s %s", open_max ? "<" : "<=", high);
}

static bool in_range(const tl_key_def *key, double x)
{
    const double low = low_end(key), high = high_end(key);
    return (key->flags & TL_KEY_OPEN_MIN ? x > low : x >= low) && (key->flags & TL_KEY_OPEN_MAX ? x < high : x <= high);
}

static tl_status read_real(const tl_node *node, const tl_key_def *key, double *out, tl_error *err)
{
    if (!json_is_number(node->value)) return tl_node_fail(node, true, err, "must be a number");
    const double x = json_number_value(node->value);
    if (!isfinite(x) || !in_range(key, x)) {
        char range[96];
        range_text(key, x, range, sizeof range);
        return tl_node_fail(node, true, err, "%s", range);
    }
    *out = x;
    return TL_OK;
}

static tl_status read_int(const tl_node *node, const tl_key_def *key, int64_t *out, tl_error *err)
{
    double x = json_number_value(node->value);
    const bool whole =
        json_is_integer(node->value) || (json_is_real(node->value) && floor(x) == x && fabs(x) <= 0x1p53);
    if (!whole) return tl_node_fail(node, true, err, "must be a whole number");
    TL_TRY(read_real(node, key, &x, err));
    *out = json_is_integer(node->value) ? json_integer_value(node->value) : (int64_t)x;
    return TL_OK;
}

static tl_status read_vector(const tl_node *node, const tl_key_def *key, size_t count, double *out, tl_error *err)
{
    if (!json_is_array(node->value) || json_array_size(node->value) != count)
        return tl_node_fail(node, true, err, "must be a list of %zu numbers", count);
    for (size_t i = 0; i < count; i++) {
        const tl_node entry = tl_node_at(node, i);
        TL_TRY(read_real(&entry, key, &out[i], err));
    }
    return TL_OK;
}

// A word that is read as another is replaced in the document.
static const char *canonical(const tl_node *node, const char *const *words, const char *word)
{
    const size_t size = strlen(word);
    for (int32_t i = 0; words[i]; i++)
        if (strncmp(word, words[i], size) == 0 && words[i][size] == '=' &&
            json_string_set(node->value, words[i] + size + 1) == 0)
            return json_string_value(node->value);
    return word;
}

static tl_status read_word(const tl_node *node, const tl_key_def *key, int32_t *out, tl_error *err)
{
    const char *word = json_string_value(node->value);
    char known[256] = "";
    if (word) word = canonical(node, key->words, word);
    for (int32_t i = 0; key->words[i] && !strchr(key->words[i], '='); i++) {
        if (word && strcmp(word, key->words[i]) == 0) {
            *out = i;
            return TL_OK;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s\"%s\"", i ? ", " : "", key->words[i]);
    }
    const char *near = word ? tl_nearest_word(word, key->words) : NULL;
    if (near) return tl_node_fail(node, true, err, "must be one of %s (did you mean '%s'?)", known, near);
    return tl_node_fail(node, true, err, "must be one of %s", known);
}

static tl_status read_color(const tl_node *node, const char **out, tl_error *err)
{
    const char *text = json_string_value(node->value);
    if (!text || text[0] != '#' || strlen(text) != 7 || strspn(text + 1, "0123456789abcdefABCDEF") != 6)
        return tl_node_fail(node, true, err, "must be a colour \"#rrggbb\" with six hexadecimal digits");
    *out = text;
    return TL_OK;
}

// Does the JSON type alone fit?
static bool type_fits(const json_t *value, const tl_key_def *key)
{
    switch (key->type) {
    case TL_KEY_REAL:
    case TL_KEY_INT: return json_is_number(value);
    case TL_KEY_TEXT:
    case TL_KEY_COLOR:
    case TL_KEY_WORD: return json_is_string(value);
    case TL_KEY_VEC2:
    case TL_KEY_VEC3:
    case TL_KEY_VEC4:
    case TL_KEY_LIST: return json_is_array(value);
    case TL_KEY_BOOL: return json_is_boolean(value);
    case TL_KEY_OBJECT:
    case TL_KEY_MAP: return json_is_object(value);
    case TL_KEY_ONE_OF: break;
    }
    return false;
}

tl_status tl_key_read(const tl_node *node, const tl_key_def *key, void *out, tl_error *err)
{
    switch (key->type) {
    case TL_KEY_REAL: return read_real(node, key, out, err);
    case TL_KEY_INT: return read_int(node, key, out, err);
    case TL_KEY_VEC2: return read_vector(node, key, 2, out, err);
    case TL_KEY_VEC3: return read_vector(node, key, 3, out, err);
    case TL_KEY_VEC4: return read_vector(node, key, 4, out, err);
    case TL_KEY_WORD: return read_word(node, key, out, err);
    case TL_KEY_TEXT:
        if (!json_is_string(node->value)) return tl_node_fail(node, true, err, "must be a text in quotes");
        *(const char **)out = json_string_value(node->value);
        return TL_OK;
    case TL_KEY_COLOR: return read_color(node, out, err);
    case TL_KEY_BOOL:
        if (!json_is_boolean(node->value)) return tl_node_fail(node, true, err, "must be true or false");
        *(int32_t *)out = json_is_true(node->value);
        return TL_OK;
    case TL_KEY_OBJECT:
        if (!json_is_object(node->value)) return tl_node_fail(node, true, err, "must be an object { .. }");
        return tl_table_read(node, key->table, out, err);
    case TL_KEY_MAP:
        if (!json_is_object(node->value)) return tl_node_fail(node, true, err, "must be an object { .. }");
        return TL_OK;
    case TL_KEY_LIST:
        if (!json_is_array(node->value)) return tl_node_fail(node, true, err, "must be a list [ .. ]");
        if ((double)json_array_size(node->value) < key->min)
            return tl_node_fail(node, true, err, "must have at least %g entr%s", key->min, key->min > 1 ? "ies" : "y");
        return TL_OK;
    case TL_KEY_ONE_OF:
        for (const tl_key_def *alt = key->item; alt->doc; alt++)
            if (type_fits(node->value, alt)) return TL_OK;
        return tl_node_fail(node, true, err, "must be %s", key->doc);
    }
    return TL_OK;
}

// Looks for keys that are not in the table.
static tl_status check_names(const tl_node *node, const tl_key_table *table, tl_error *err)
{
    enum { MOST = 64 };
    const char *words[MOST];
    int count = 0;
    for (const tl_key_def *key = table->keys; key->name && count < MOST - 1; key++)
        if (!(key->flags & TL_KEY_LATER)) words[count++] = key->name;
    words[count] = NULL;
    const char *name;
    json_t *value;
    json_object_foreach(node->value, name, value)
    {
        const tl_key_def *key = table->keys;
        while (key->name && strcmp(key->name, name) != 0) key++;
        const tl_node bad = tl_node_key(node, name);
        if (key->name && key->flags & TL_KEY_LATER)
            return tl_node_fail(&bad, false, err, "is not in this version yet (remove it)");
        if (key->name) continue;
        const char *near = tl_nearest_word(name, words);
        const char *longer = tl_key_with_word(name, words);
        char places[200];
        if (longer) return tl_node_fail(&bad, false, err, "is not a known key (did you mean '%s'?)", longer);
        if (tl_key_elsewhere(name, table, places, sizeof places) && !(near && tl_word_distance(name, near) < 2))
            return tl_node_fail(&bad, false, err, "is not a known key here (did you mean %s?)", places);
        if (near) return tl_node_fail(&bad, false, err, "is not a known key (did you mean '%s'?)", near);
        char known[400] = "";
        for (int i = 0; i < count; i++) {
            const size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", words[i]);
        }
        return tl_node_fail(&bad, false, err, "is not a known key (known: %s)", known);
    }
    return TL_OK;
}

// The default as JSON; NULL: no memory.
static json_t *default_of(const tl_key_def *key)
{
    json_t *list;
    switch (key->type) {
    case TL_KEY_REAL: return json_real(key->number[0]);
    case TL_KEY_INT: return json_integer((json_int_t)key->number[0]);
    case TL_KEY_TEXT:
    case TL_KEY_COLOR:
    case TL_KEY_WORD: return json_string(key->text ? key->text : "");
    case TL_KEY_BOOL: return json_boolean(key->number[0] != 0);
    case TL_KEY_VEC2:
    case TL_KEY_VEC3:
    case TL_KEY_VEC4:
        list = json_array();
        for (int i = 0; list && i < 2 + (int)(key->type - TL_KEY_VEC2); i++)
            if (json_array_append_new(list, json_real(key->number[i])) != 0) {
                json_decref(list);
                return NULL;
            }
        return list;
    case TL_KEY_LIST: return json_array();
    case TL_KEY_OBJECT:
    case TL_KEY_MAP: return json_object();
    case TL_KEY_ONE_OF: return NULL;
    }
    return NULL;
}

static void clear_optional(const tl_key_def *key, void *out)
{
    if (key->type == TL_KEY_REAL) *(double *)out = (double)NAN;
    if (key->type == TL_KEY_TEXT || key->type == TL_KEY_COLOR) *(const char **)out = NULL;
    if (key->type == TL_KEY_WORD) *(int32_t *)out = -1;
}

tl_status tl_table_read(const tl_node *node, const tl_key_table *table, void *out, tl_error *err)
{
    if (!json_is_object(node->value)) return tl_node_fail(node, true, err, "must be an object { .. }");
    TL_TRY(check_names(node, table, err));
    for (const tl_key_def *key = table->keys; key->name; key++) {
        if (key->flags & TL_KEY_LATER) continue;
        tl_node child = tl_node_key(node, key->name);
        void *field = (char *)out + key->offset;
        if (!child.value && key->flags & TL_KEY_REQUIRED)
            return tl_node_fail(node, false, err, "lacks '%s' (%s)", key->name, key->doc);
        if (!child.value && key->flags & TL_KEY_OPTIONAL) {
            clear_optional(key, field);
            continue;
        }
        // Put back at the end, one key after another: the resolved document has the table's order.
        json_t *value = child.value ? json_incref(child.value) : default_of(key);
        json_object_del(node->value, key->name);
        if (!value || json_object_set_new(node->value, key->name, value) != 0) return tl_fail_memory(err, "a default");
        child.value = value;
        TL_TRY(tl_key_read(&child, key, field, err));
    }
    return TL_OK;
}

bool tl_table_order(json_t *object, const tl_key_table *table)
{
    for (const tl_key_def *key = table->keys; key->name; key++) {
        json_t *value = json_incref(json_object_get(object, key->name));
        if (!value) continue;
        json_object_del(object, key->name);
        if (json_object_set_new(object, key->name, value) != 0) return false;
    }
    return true;
}
