// scene/keys_elsewhere.c: where a key belongs that stands at the wrong level.

#include <stdio.h>
#include <string.h>

#include "scene/scene_keys.h"

enum { MOST_DEPTH = 6, MOST_PLACES = 3 };

typedef struct search {
    const char *name;
    const tl_key_table *here;
    bool within;  ///< `here` is a part of a scene
    int count;
    char *out;
    size_t size;
} search;

static void walk(search *s, const tl_key_table *table, const char *path, int depth);

static void walk_key(search *s, const tl_key_def *key, const char *path, int depth)
{
    char below[160];
    const tl_key_def *item = key->item;
    switch (key->type) {
    case TL_KEY_OBJECT:
        snprintf(below, sizeof below, "%.150s.", path);
        walk(s, key->table, below, depth + 1);
        break;
    case TL_KEY_LIST:
        snprintf(below, sizeof below, "%.150s[]", path);
        if (item) walk_key(s, item, below, depth);
        break;
    case TL_KEY_MAP:
        snprintf(below, sizeof below, "%.150s.NAME", path);
        if (item) walk_key(s, item, below, depth);
        break;
    case TL_KEY_ONE_OF:
        for (; item && item->doc; item++) walk_key(s, item, path, depth);
        break;
    default: break;
    }
}

static void walk(search *s, const tl_key_table *table, const char *path, int depth)
{
    if (depth > MOST_DEPTH) return;
    s->within = s->within || table == s->here;
    for (const tl_key_def *key = table->keys; key->name; key++) {
        char full[160];
        snprintf(full, sizeof full, "%.100s%.50s", path, key->name);
        if (table != s->here && strcmp(key->name, s->name) == 0 && !(key->flags & TL_KEY_LATER) &&
            s->count < MOST_PLACES) {
            const size_t used = strlen(s->out);
            snprintf(s->out + used, s->size - used, "%s'%s'", s->count ? " or " : "", full);
            s->count++;
        }
        walk_key(s, key, full, depth);
    }
}

// Further down from here is nearer than anywhere else in a scene.
bool tl_key_elsewhere(const char *name, const tl_key_table *here, char *out, size_t size)
{
    search s = {.name = name, .here = here, .out = out, .size = size};
    out[0] = 0;
    walk(&s, here, "", 0);
    if (s.count > 0) return true;
    s.within = false;
    walk(&s, &tl_scene_table, "", 0);
    return s.within && s.count > 0;
}

const char *tl_key_with_word(const char *name, const char *const *words)
{
    const size_t n = strlen(name);
    for (; *words; words++) {
        const size_t m = strlen(*words);
        if (m > n && strncmp(*words, name, n) == 0 && (*words)[n] == '_') return *words;
        if (m > n && strcmp(*words + m - n, name) == 0 && (*words)[m - n - 1] == '_') return *words;
    }
    return NULL;
}
