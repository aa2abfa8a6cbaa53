// scene/scene_characters.c: obstacles that are characters: their files, clip, units and axes.

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/affine.h"
#include "scene/scene.h"

enum { MAX_BONES = 1024 };

// The path of a file that the scene names, and that path in place of what was written.
static tl_status resolve(const tl_node *node, const char *key, char out[TL_PATH_MAX], tl_error *err)
{
    const tl_node file = tl_node_key(node, key);
    out[0] = 0;
    if (!file.value) return TL_OK;
    char dir[TL_PATH_MAX], real[TL_PATH_MAX];
    TL_TRY(tl_node_dir(&file, dir, err));
    TL_TRY(tl_path_join(dir, json_string_value(file.value), out, err));
    tl_path_absolute(out, real);
    json_t *text = json_string(real);
    if (!text) return TL_OK;  // not UTF-8: it stays as it is
    return json_object_set_new(node->value, key, text) == 0 ? TL_OK : tl_fail_memory(err, "scene text");
}

static tl_status read_unit(const tl_node *node, double *out, tl_error *err)
{
    static const char *const words[] = {"auto", "m", "cm", "mm", "in", "ft", NULL};
    static const double units[] = {0, 1, 0.01, 0.001, 0.0254, 0.3048};
    const tl_node unit = tl_node_key(node, "units");
    *out = 0;
    if (json_is_number(unit.value)) {
        const tl_key_def key = {.type = TL_KEY_REAL, .flags = TL_KEY_OPEN_MIN, .min = 0, .max = 1e5, .doc = "units"};
        return tl_key_read(&unit, &key, out, err);
    }
    const tl_key_def key = {.type = TL_KEY_WORD, .words = words, .doc = "units"};
    int32_t word = 0;
    if (unit.value) TL_TRY(tl_key_read(&unit, &key, &word, err));
    *out = units[word];
    return TL_OK;
}

static tl_status read_bones(const tl_node *node, const char *out[MAX_BONES], int32_t *count, tl_error *err)
{
    const tl_node list = tl_node_key(node, "bones");
    *count = 0;
    if (json_array_size(list.value) > MAX_BONES) return tl_node_fail(&list, false, err, "has more than 1024 entries");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const tl_node entry = tl_node_at(&list, i);
        const tl_key_def key = {.type = TL_KEY_TEXT, .doc = "bones"};
        TL_TRY(tl_key_read(&entry, &key, &out[(*count)++], err));
    }
    return TL_OK;
}

// The clip by name or number. Written back so that the scene in the folder of a run finds it too.
static tl_status read_clip(const tl_node *node, tl_scene_obstacle *o, tl_error *err)
{
    const tl_node clip = tl_node_key(node, "clip");
    const int32_t count = tl_character_clip_count(o->character);
    int32_t *out = &o->play.clip;
    *out = o->file.character.motion || o->file.character.cache ? count - 1 : count > 0 ? 0 : -1;
    const char *name = json_string_value(clip.value);
    if (json_is_integer(clip.value)) {
        const json_int_t i = json_integer_value(clip.value);
        if (i < 0 || i >= count)
            return tl_node_fail(&clip, true, err, "must be 0 to %d, or \"rest\" (the file has %d clips)", count - 1,
                                count);
        *out = (int32_t)i;
    } else if (name) {
        *out = tl_character_find_clip(o->character, name);
        if (*out < 0 && strcmp(name, "rest") != 0) {
            char list[300] = "";
            size_t n = 0;
            for (int32_t i = 0; i < count && n + 80 < sizeof list; i++)
                n += (size_t)snprintf(list + n, sizeof list - n, " '%s'", tl_character_clip_name(o->character, i));
            return tl_node_fail(&clip, true, err, "is no clip of %.200s; it has%s and \"rest\"", o->origin, list);
        }
    }
    json_t *text = *out >= 0 ? json_integer(*out) : json_string("rest");
    return json_object_set_new(node->value, "clip", text) == 0 ? TL_OK : tl_fail_memory(err, "scene text");
}

// The transform of the obstacle becomes part of the character.
static void place(tl_scene_obstacle *o)
{
    const tl_vec3 zero = tl_scene_transformed(&o->file.transform, (tl_vec3){0, 0, 0});
    const tl_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    tl_affine a;
    for (int j = 0; j < 3; j++) {
        const tl_vec3 column = tl_sub3(tl_scene_transformed(&o->file.transform, axes[j]), zero);
        a.m[0][j] = column.x, a.m[1][j] = column.y, a.m[2][j] = column.z;
    }
    a.m[0][3] = zero.x, a.m[1][3] = zero.y, a.m[2][3] = zero.z;
    tl_character_transform(o->character, &a);
}

static void take_notes(tl_scene *scene, const tl_scene_obstacle *o)
{
    const tl_character_facts *facts = tl_character_facts_of(o->character);
    for (int32_t i = 0; i < facts->note_count; i++)
        tl_notes_add(&scene->notes, "", "%.200s: %s", o->origin, facts->note[i]);
}

tl_status tl_scene_read_character(tl_scene *scene, const tl_reader *reader, const tl_node *node, tl_scene_obstacle *o,
                                  tl_error *err)
{
    const tl_character_file *f = &o->file.character;
    char file[TL_PATH_MAX], motion[TL_PATH_MAX], cache[TL_PATH_MAX];
    const char *bones[MAX_BONES];
    tl_character_def def = tl_character_def_default();
    const bool has_motion = f->motion, has_cache = f->cache;
    const tl_node bone_list = tl_node_key(node, "bones"), cache_node = tl_node_key(node, "cache");
    if (bone_list.value && !has_motion) return tl_node_fail(&bone_list, false, err, "is for a motion, there is none");
    if (has_motion && has_cache) return tl_node_fail(&cache_node, false, err, "and motion exclude each other");
    TL_TRY(read_unit(node, &def.unit, err));
    TL_TRY(read_bones(node, bones, &def.bone_count, err));
    TL_TRY(resolve(node, "file", file, err));
    TL_TRY(resolve(node, "motion", motion, err));
    TL_TRY(resolve(node, "cache", cache, err));
    def.file = file, def.motion = has_motion ? motion : NULL, def.cache = has_cache ? cache : NULL;
    def.bones = bones, def.up = (tl_up)f->up, def.cache_up = (tl_up)f->cache_up;
    if (!isnan(f->cache_fps)) def.cache_fps = f->cache_fps;
    snprintf(o->origin, sizeof o->origin, "%.255s", file);
    const tl_status status = tl_character_read(&scene->alloc, reader, &def, &o->character, &o->character_files, err);
    if (status == TL_IO) return tl_node_prefix(node, err);
    TL_TRY(status);
    // texts of the file may have moved; what was in them has been read
    o->file.character.motion = has_motion ? "" : NULL, o->file.character.cache = has_cache ? "" : NULL;
    o->file.character.file = "";
    o->play = (tl_playback){-1, f->start, f->lead_in, f->speed, f->from};
    TL_TRY(read_clip(node, o, err));
    take_notes(scene, o);
    place(o);
    return tl_table_order(node->value, &tl_character_table) ? TL_OK : tl_fail_memory(err, "scene text");
}

tl_status tl_scene_write_character(const tl_scene_obstacle *o, const char *dir, const char *folder, tl_error *err)
{
    const tl_character_files *files = &o->character_files;
    const tl_text *const texts[] = {&files->file, &files->cache, &files->motion};
    const char *const endings[] = {files->file_ending, files->cache_ending, ".bvh"};
    for (int i = 0; i < 3; i++) {
        char name[TL_MESH_NAME_MAX], path[TL_PATH_MAX];
        if (!texts[i]->data) continue;
        snprintf(name, sizeof name, "%s/%s%s", folder, o->name, endings[i]);
        TL_TRY(tl_path_join(dir, name, path, err));
        TL_TRY(tl_file_write(path, texts[i]->data, texts[i]->size, true, err));
    }
    return TL_OK;
}

bool tl_scene_name_character(const tl_scene_obstacle *o, json_t *entry, const char *folder)
{
    static const char *const keys[] = {"file", "cache", "motion"};
    const tl_character_files *files = &o->character_files;
    const tl_text *const texts[] = {&files->file, &files->cache, &files->motion};
    const char *const endings[] = {files->file_ending, files->cache_ending, ".bvh"};
    json_t *character = json_object_get(entry, "character");
    bool ok = true;
    if (!folder) {  // by what it is, not by where it came from
        tl_hash hash;
        char text[32];
        tl_hash_init(&hash);
        tl_character_hash(o->character, &hash);
        snprintf(text, sizeof text, "%016llx", (unsigned long long)tl_hash_value(&hash));
        for (int i = 1; i < 3; i++) json_object_del(character, keys[i]);
        return json_object_set_new(character, "file", json_string(text)) == 0;
    }
    for (int i = 0; i < 3; i++) {
        char name[TL_MESH_NAME_MAX];
        if (!texts[i]->data) continue;
        snprintf(name, sizeof name, "%s/%s%s", folder, o->name, endings[i]);
        ok = json_object_set_new(character, keys[i], json_string(name)) == 0 && ok;
    }
    return ok;
}
