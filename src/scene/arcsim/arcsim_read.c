// scene/arcsim/arcsim_read.c: how the ARCSim reader reads objects, finds files and tells what it leaves out.

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scene/arcsim/arcsim_impl.h"

void arc_note(arcsim *a, const char *about, const tl_node *node, const char *format, ...)
{
    char place[320], sentence[320];
    tl_node_place(node, place, sizeof place);
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    tl_notes_add(a->notes, about, "%s %s", place, sentence);
}

// What says nothing when it is left out.
static bool is_empty(const json_t *value)
{
    return json_is_false(value) || json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

static const tl_key_def *find_key(const tl_key_table *table, const char *name)
{
    const tl_key_def *key = table->keys;
    while (key->name && strcmp(key->name, name) != 0) key++;
    return key->name ? key : NULL;
}

static void note_unknown(arcsim *a, const tl_node *node, const tl_key_table *table, const char *about)
{
    enum { MOST = 48 };
    const char *words[MOST];
    int count = 0;
    for (const tl_key_def *key = table->keys; key->name && count < MOST - 1; key++) words[count++] = key->name;
    words[count] = NULL;
    const char *near = tl_nearest_word(node->key, words);
    if (near)
        arc_note(a, about, node, "is not a key of ARCSim's that is known here, and left out (did you mean '%s'?)",
                 near);
    else
        arc_note(a, about, node, "is not a key of ARCSim's that is known here, and left out");
}

void arc_strip(arcsim *a, const tl_node *node, const tl_key_table *table)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(node->value, next, name, value)
    {
        const tl_node member = tl_node_key(node, name);
        const tl_key_def *key = find_key(table, name);
        char about[64];
        snprintf(about, sizeof about, "%s.%s", table->title, name);
        if (key && key->type == TL_KEY_OBJECT && json_is_object(value)) arc_strip(a, &member, key->table);
        if (key && !(key->flags & TL_KEY_LATER)) continue;
        if (!key)
            note_unknown(a, &member, table, about);
        else if (!is_empty(value))
            arc_note(a, about, &member, "has no effect: %s", key->doc);
        json_object_del(node->value, name);
    }
}

tl_status arc_read(arcsim *a, const tl_node *node, const tl_key_table *table, void *out)
{
    arc_strip(a, node, table);
    return tl_table_read(node, table, out, a->err);
}

// ---- files ------------------------------------------------------------------------------------------------

static bool is_there(const arcsim *a, const char *path)
{
    if (!a->reader) return tl_path_look(path) == TL_PATH_FILE;
    tl_text text;
    if (a->reader->read(a->reader->user, a->alloc, path, TL_JSON_MAX_BYTES, &text, NULL) != TL_OK) return false;
    tl_text_free(a->alloc, &text);
    return true;
}

// One folder up; false at the top.
static bool go_up(char dir[TL_PATH_MAX])
{
    char *slash = strrchr(dir, '/');
    if (!slash || !dir[1]) return false;
    slash[slash == dir] = 0;  // the first one stays
    return true;
}

bool arc_find_name(const arcsim *a, const char *name, char out[TL_PATH_MAX])
{
    char dir[TL_PATH_MAX], near[TL_PATH_MAX];
    if (name[0] != '/' && tl_path_dir(a->path, near, NULL) == TL_OK) {
        if (a->reader)
            memcpy(dir, near, sizeof dir);
        else
            tl_path_absolute(near, dir);
        do {
            if (tl_path_join(dir, name, out, NULL) == TL_OK && is_there(a, out)) return true;
        } while (go_up(dir));
    }
    return tl_path_join("", name, out, NULL) == TL_OK && is_there(a, out);
}

tl_status arc_check_path(arcsim *a, const tl_node *node, const char *path)
{
    json_t *text = json_string(path);
    json_decref(text);
    return text ? TL_OK : tl_node_fail(node, true, a->err, "lies in a folder whose name is not UTF-8 (move it)");
}

tl_status arc_find(arcsim *a, const tl_node *node, char out[TL_PATH_MAX])
{
    const char *name = json_string_value(node->value);
    if (!name || !name[0]) return tl_node_fail(node, true, a->err, "must be the name of a file");
    if (arc_find_name(a, name, out)) return arc_check_path(a, node, out);
    return tl_node_fail(
        node, true, a->err,
        "no such file (looked for in the folder of the scene, in those above it and in the current folder)");
}

// ---- writing ----------------------------------------------------------------------------------------------

void arc_put(arcsim *a, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) a->no_memory = true;
}

void arc_append(arcsim *a, json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) != 0) a->no_memory = true;
}

json_t *arc_vec3(tl_vec3 v) { return json_pack("[f,f,f]", v.x, v.y, v.z); }
json_t *arc_rotation(const double r[4]) { return json_pack("[f,f,f,f]", r[0], r[1], r[2], r[3]); }
