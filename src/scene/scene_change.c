// scene/scene_change.c: what is another in a scene than when a run of it began: the first key that differs, with both
// values.
//
// A run writes its scene with every default filled in, so a key that was not there is either one that the user has
// added or one that the program of then did not know.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"

enum { PATH_SIZE = 200, VALUE_SIZE = 64 };

bool tl_scene_key_acts(const char *key)
{
    static const char *const without_effect[] = {"name", "frames", "quality", "camera", "appearance"};
    for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect; i++)
        if (strcmp(key, without_effect[i]) == 0) return false;
    return true;
}

static void value_text(const json_t *value, char out[VALUE_SIZE])
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    snprintf(out, VALUE_SIZE, "%s", text ? text : "?");
    if (text && strlen(text) >= VALUE_SIZE) memcpy(out + VALUE_SIZE - 4, "...", 4);
    free(text);
}

static bool say(const char *path, const json_t *was, const json_t *is, char *out, size_t size)
{
    char before[VALUE_SIZE], now[VALUE_SIZE];
    value_text(was, before);
    value_text(is, now);
    if (!was)
        snprintf(out, size, "%s, which was not there (in another version of the program?), is %s", path, now);
    else if (!is)
        snprintf(out, size, "%s, which was %s, is not there", path, before);
    else
        snprintf(out, size, "%s was %s, is %s", path, before, now);
    return true;
}

static bool find(const char *path, json_t *was, json_t *is, int depth, char *out, size_t size);

static bool find_key(const char *path, const char *key, json_t *was, json_t *is, int depth, char *out, size_t size)
{
    char longer[PATH_SIZE];
    if (*path == 0 && !tl_scene_key_acts(key)) return false;
    snprintf(longer, sizeof longer, "%s%s%s", path, *path ? "." : "", key);
    return find(longer, was, is, depth + 1, out, size);
}

static bool find_in_object(const char *path, json_t *was, json_t *is, int depth, char *out, size_t size)
{
    const char *key;
    json_t *value;
    json_object_foreach(is, key,
                        value) if (find_key(path, key, json_object_get(was, key), value, depth, out, size)) return true;
    json_object_foreach(was, key, value) if (!json_object_get(is, key) &&
                                             find_key(path, key, value, NULL, depth, out, size)) return true;
    return false;
}

// The first difference, if there is one.
static bool find(const char *path, json_t *was, json_t *is, int depth, char *out, size_t size)
{
    if (was && is && json_equal(was, is)) return false;
    if (depth < TL_JSON_MAX_DEPTH && json_is_object(was) && json_is_object(is))
        return find_in_object(path, was, is, depth, out, size);
    const bool lists = depth < TL_JSON_MAX_DEPTH && json_is_array(was) && json_is_array(is) &&
                       json_array_size(was) == json_array_size(is);
    for (size_t i = 0; lists && i < json_array_size(is); i++) {
        char longer[PATH_SIZE];
        snprintf(longer, sizeof longer, "%.150s[%zu]", path, i);
        if (find(longer, json_array_get(was, i), json_array_get(is, i), depth + 1, out, size)) return true;
    }
    return lists ? false : say(path, was, is, out, size);
}

void tl_scene_change(const tl_scene *scene, const char *path, char *out, size_t size)
{
    tl_buf text;
    tl_json_doc *was = NULL;
    json_t *is = NULL;
    tl_buf_init(&text, &scene->alloc);
    snprintf(out, size, "no telling what, its scene.json is missing or damaged");
    if (tl_scene_json_for_folder(scene, -1, TL_RUN_MESHES, &text, NULL) == TL_OK)
        is = json_loadb(text.data, text.size, 0, NULL);
    if (is && tl_json_load(&scene->alloc, &(tl_json_def){.path = path}, &was, NULL) == TL_OK &&
        !find("", tl_json_root(was).value, is, 0, out, size))
        snprintf(out, size, "a mesh that it names is another one");
    tl_json_destroy(was);
    json_decref(is);
    tl_buf_free(&text);
}
