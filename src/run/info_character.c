// run/info_character.c: what a character, a motion or a cache holds: nodes, skins, clips, height, units, warnings, and
// where a body goes through itself.

#include "run/info_character.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/character_load.h"
#include "io/mesh_file.h"
#include "io/mocap.h"
#include "run/self_crossings.h"

static bool add(json_t *facts, const char *name, json_t *value) { return json_object_set_new(facts, name, value) == 0; }

bool tl_info_is_character(const char *path, const tl_text *text)
{
    static const char *const endings[] = {".bvh", ".pc2", ".mdd"};
    for (int i = 0; i < 3; i++)
        if (tl_path_ends(path, endings[i])) return true;
    return tl_mesh_format_of(path, text->data, text->size) != TL_MESH_OBJ;
}

static json_t *vector(tl_vec3 a) { return json_pack("[f,f,f]", a.x, a.y, a.z); }

static bool add_clips(json_t *facts, const tl_character *c)
{
    json_t *clips = json_array();
    bool ok = add(facts, "clips", clips);
    for (int32_t i = 0; ok && i < tl_character_clip_count(c); i++)
        ok = json_array_append_new(clips, json_pack("{si,ss,sf,si}", "number", i, "name", tl_character_clip_name(c, i),
                                                    "seconds", tl_character_clip_seconds(c, i), "channels",
                                                    c->clip[i].channel_count)) == 0;
    return ok;
}

static bool add_nodes(json_t *facts, const tl_character *c)
{
    json_t *names = json_array();
    bool ok = add(facts, "node_names", names);
    for (int32_t i = 0; ok && i < c->count[TL_RIG_NODES]; i++) {
        json_t *name = json_string(c->node[i].name);
        ok = json_array_append_new(names, name ? name : json_string("?")) == 0;
    }
    return ok;
}

static tl_status add_crossings(const tl_allocator *alloc, const tl_character *c, json_t *facts, tl_error *err)
{
    tl_self_crossings found;
    const tl_playback rest = tl_playback_default();
    TL_TRY(tl_self_crossings_find(alloc, c, &rest, 0, &found, err));
    json_t *places = json_array();
    bool ok = add(facts, "self_intersections_at_rest", json_integer(found.pairs)) && places;
    for (int32_t i = 0; ok && i < found.place_count; i++)
        ok = json_array_append_new(places, json_pack("{ss,si,so}", "near", found.place[i].name, "crossings",
                                                     (int)found.place[i].pairs, "place", vector(found.place[i].at))) ==
             0;
    if (found.place_count > 0) ok = json_object_set(facts, "self_intersections", places) == 0 && ok;
    json_decref(places);
    return ok ? TL_OK : tl_fail_memory(err, "facts");
}

static tl_status describe_character(const tl_allocator *alloc, const char *path, json_t *facts, tl_error *err)
{
    static const char *const ups[] = {"auto", "y", "z", "x"};
    tl_character_def def = tl_character_def_default();
    tl_character *c;
    def.file = path;
    TL_TRY(tl_character_read(alloc, NULL, &def, &c, NULL, err));
    const tl_character_facts *f = tl_character_facts_of(c);
    bool ok = add(facts, "kind", json_string("character")) && add(facts, "nodes", json_integer(f->nodes)) &&
              add(facts, "meshes", json_integer(f->meshes)) && add(facts, "skins", json_integer(f->skins)) &&
              add(facts, "joints", json_integer(f->joints)) && add(facts, "morph_targets", json_integer(f->morphs)) &&
              add(facts, "vertices", json_integer(tl_character_vert_count(c))) &&
              add(facts, "vertices_in_file", json_integer(f->file_verts)) &&
              add(facts, "faces", json_integer(tl_character_face_count(c))) &&
              add(facts, "height", json_real(f->height)) && add(facts, "unit", json_real(f->unit)) &&
              add(facts, "up", json_string(ups[f->up])) &&
              add(facts, "bounds", json_pack("[o,o]", vector(f->low), vector(f->high))) &&
              add(facts, "volume", json_real(f->volume)) && add_clips(facts, c) && add_nodes(facts, c);
    tl_status status = ok ? add_crossings(alloc, c, facts, err) : tl_fail_memory(err, "facts");
    json_t *warnings = f->note_count > 0 ? json_array() : NULL;
    if (warnings) ok = add(facts, "warnings", warnings) && ok;
    for (int32_t i = 0; ok && i < f->note_count; i++)
        ok = json_array_append_new(warnings, json_string(f->note[i])) == 0;
    tl_character_destroy(c);
    return status != TL_OK ? status : ok ? TL_OK : tl_fail_memory(err, "facts");
}

// Length of a straight leg and arm are off by pose; the zero pose of a BVH shows how tall it is.
static tl_status describe_motion(const tl_allocator *alloc, const char *path, const tl_text *text, json_t *facts,
                                 tl_error *err)
{
    tl_mocap m;
    tl_status status = tl_mocap_parse(alloc, path, text->data, text->size, &m, err);
    tl_quat *turn = TL_ALLOC(alloc, tl_quat, m.joint_count);
    tl_vec3 *place = TL_ALLOC(alloc, tl_vec3, m.joint_count);
    if (status == TL_OK && (!turn || !place)) status = tl_fail_memory(err, "facts");
    if (status == TL_OK) {
        double low = (double)INFINITY, high = -low;
        json_t *names = json_array();
        int32_t joints = 0;
        bool ok = names;
        tl_mocap_pose(&m, -1, turn, place);
        for (int32_t j = 0; j < m.joint_count; j++) {
            low = fmin(low, place[j].y), high = fmax(high, place[j].y);
            if (m.joint[j].channel_count == 0) continue;
            json_t *name = json_string(m.joint[j].name);
            ok = json_array_append_new(names, name ? name : json_string("?")) == 0 && ok;
            joints++;
        }
        ok = ok && add(facts, "kind", json_string("motion")) && add(facts, "joints", json_integer(joints)) &&
             add(facts, "channels", json_integer(m.channel_count)) &&
             add(facts, "frames", json_integer(m.frame_count)) && add(facts, "fps", json_real(1 / m.frame_seconds)) &&
             add(facts, "seconds", json_real((m.frame_count - 1) * m.frame_seconds)) &&
             add(facts, "height_in_file_units", json_real(high - low)) &&
             json_object_set(facts, "joint_names", names) == 0;
        json_decref(names);
        if (!ok) status = tl_fail_memory(err, "facts");
    }
    TL_FREE(alloc, turn, m.joint_count);
    TL_FREE(alloc, place, m.joint_count);
    tl_mocap_free(&m);
    return status;
}

// A cache has no faces: it is read for as many vertices as it says it has.
static tl_status describe_cache(const tl_allocator *alloc, const char *path, const tl_text *text, json_t *facts,
                                tl_error *err)
{
    tl_character *c = tl_character_create(alloc);
    if (!c) return tl_fail_memory(err, "facts");
    const int64_t points = tl_point_cache_points(text->data, text->size);
    tl_status status = TL_OK;
    if (points > 0 && points <= (int64_t)(text->size / 12) && !tl_character_push(c, TL_RIG_VERTS, points))
        status = tl_fail_memory(err, "facts");
    if (status == TL_OK) status = tl_point_cache_parse(path, text->data, text->size, 25, c, err);
    if (status == TL_OK) {
        const int32_t samples = c->count[TL_RIG_CACHE_TIMES];
        tl_vec3 low = {0}, high = {0};
        for (int64_t i = 0; i < points; i++) {
            const tl_vec3 x = {(double)c->cache_point[i].x, (double)c->cache_point[i].y, (double)c->cache_point[i].z};
            low = i == 0 ? x : (tl_vec3){fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z)};
            high = i == 0 ? x : (tl_vec3){fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z)};
        }
        const bool pc2 = text->size > 11 && memcmp(text->data, "POINTCACHE2", 11) == 0;
        const bool ok = add(facts, "kind", json_string("cache")) &&
                        add(facts, "format", json_string(pc2 ? "PC2" : "MDD")) &&
                        add(facts, "points", json_integer(points)) && add(facts, "samples", json_integer(samples)) &&
                        add(facts, pc2 ? "seconds_at_25_fps" : "seconds",
                            json_real(c->cache_time[samples - 1] - c->cache_time[0])) &&
                        add(facts, "first_bounds", json_pack("[o,o]", vector(low), vector(high)));
        if (!ok) status = tl_fail_memory(err, "facts");
    }
    tl_character_destroy(c);
    return status;
}

tl_status tl_info_character(const tl_allocator *alloc, const char *path, const tl_text *text, json_t *facts,
                            tl_error *err)
{
    if (tl_path_ends(path, ".bvh")) return describe_motion(alloc, path, text, facts, err);
    if (tl_path_ends(path, ".pc2") || tl_path_ends(path, ".mdd")) return describe_cache(alloc, path, text, facts, err);
    return describe_character(alloc, path, facts, err);
}
