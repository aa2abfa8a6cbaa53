// io/gltf_animations.c: the animations of a glTF file as clips.

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/gltf_impl.h"

typedef struct channel_place {
    char what[64];  ///< "animations[0].channels[3]"
    const json_t *samplers;
    int32_t animation;
} channel_place;

static tl_status read_times(gltf *g, const json_t *ref, const char *what, tl_clip_channel *out, tl_error *err)
{
    gltf_values times;
    TL_TRY(gltf_read_accessor(g, ref, GLTF_SCALAR, what, &times, err));
    tl_status status = TL_OK;
    for (int32_t k = 1; status == TL_OK && k < times.count; k++)
        if (!(times.v[k] > times.v[k - 1]))
            status = gltf_fail(g, err, "accessors[%d] (%s): time %d is %g s, must be after the one before it (%g s)",
                               times.accessor, what, k, times.v[k], times.v[k - 1]);
    out->time = g->c->count[TL_RIG_TIMES], out->key_count = times.count;
    double *to = status == TL_OK ? tl_character_push(g->c, TL_RIG_TIMES, times.count) : NULL;
    if (status == TL_OK && !to) status = tl_fail_memory(err, "key times");
    if (status == TL_OK) memcpy(to, times.v, (size_t)times.count * sizeof *to);
    gltf_free_values(g, &times);
    return status;
}

static tl_status read_values(gltf *g, const json_t *ref, const char *what, tl_clip_channel *ch, tl_error *err)
{
    gltf_values values;
    const int32_t width = ch->path == TL_PATH_MORPH ? GLTF_SCALAR : ch->width;
    TL_TRY(gltf_read_accessor(g, ref, width, what, &values, err));
    const int64_t per_key = (int64_t)ch->width / width * (ch->curve == TL_CLIP_CUBIC ? 3 : 1);
    tl_status status = TL_OK;
    if (values.count != per_key * ch->key_count)
        status = gltf_fail(g, err, "accessors[%d] (%s): has %d values, %d times need %lld", values.accessor, what,
                           values.count, ch->key_count, (long long)(per_key * ch->key_count));
    const int64_t n = (int64_t)values.count * width;
    ch->value = g->c->count[TL_RIG_VALUES];
    double *to = status == TL_OK ? tl_character_push(g->c, TL_RIG_VALUES, n) : NULL;
    if (status == TL_OK && !to) status = tl_fail_memory(err, "key values");
    if (status == TL_OK) memcpy(to, values.v, (size_t)n * sizeof *to);
    for (int32_t k = 0; status == TL_OK && ch->path == TL_PATH_TURN && k < ch->key_count; k++) {
        const double *q = to + (ch->curve == TL_CLIP_CUBIC ? 12 * (size_t)k + 4 : 4 * (size_t)k);
        if (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < 1e-12)
            status = gltf_fail(g, err, "accessors[%d] (%s): rotation %d is zero", values.accessor, what, k);
    }
    gltf_free_values(g, &values);
    return status;
}

static tl_status read_curve(const gltf *g, const json_t *sampler, const char *what, int32_t *out, tl_error *err)
{
    const char *word = json_string_value(json_object_get(sampler, "interpolation"));
    if (!word || strcmp(word, "LINEAR") == 0)
        *out = TL_CLIP_LINEAR;
    else if (strcmp(word, "STEP") == 0)
        *out = TL_CLIP_STEP;
    else if (strcmp(word, "CUBICSPLINE") == 0)
        *out = TL_CLIP_CUBIC;
    else
        return gltf_fail(g, err, "%s: interpolation %.40s, must be LINEAR, STEP or CUBICSPLINE", what, word);
    return TL_OK;
}

// Which property of which node; `*skip`: of none that we know, or of a node without morph targets.
static tl_status read_target(gltf *g, const json_t *channel, const char *what, tl_clip_channel *ch, bool *skip,
                             tl_error *err)
{
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};  // as tl_clip_path
    const json_t *target = json_object_get(channel, "target"), *ref = json_object_get(target, "node");
    const char *word = json_string_value(json_object_get(target, "path"));
    *skip = !ref;
    if (!ref) return TL_OK;  // an extension's own target
    char name[96];
    int32_t node = 0;
    snprintf(name, sizeof name, "%s.target.node", what);
    TL_TRY(gltf_ref(g, ref, "nodes", name, &node, err));
    ch->path = -1;
    for (int k = 0; word && k < 4; k++)
        if (strcmp(word, paths[k]) == 0) ch->path = k;
    if (ch->path < 0)
        return gltf_fail(g, err, "%s: path %.40s, must be translation, rotation, scale or weights", what,
                         word ? word : "(none)");
    ch->width = ch->path == TL_PATH_TURN ? 4 : ch->path == TL_PATH_MORPH ? g->morph_count[node] : 3;
    ch->target = ch->path == TL_PATH_MORPH ? g->morph_first[node] : g->node_place[node];
    *skip = ch->width == 0;
    tl_rig_node *moved = &g->c->node[g->node_place[node]];
    if (ch->path != TL_PATH_MORPH && moved->by_matrix) {
        moved->by_matrix = 0;
        tl_character_note(g->c, "nodes[%d] has a matrix and is animated: its matrix is taken apart", node);
    }
    return TL_OK;
}

static tl_status read_channel(gltf *g, const json_t *channel, const channel_place *place, tl_clip *clip, tl_error *err)
{
    tl_clip_channel ch = {0};
    bool skip = false;
    TL_TRY(read_target(g, channel, place->what, &ch, &skip, err));
    if (skip) return TL_OK;
    int64_t s = 0;
    char what[96];
    TL_TRY(gltf_index(g, channel, "sampler", -1, place->what, &s, err));
    const json_t *sampler = json_array_get(place->samplers, (size_t)s);
    if (!sampler)
        return gltf_fail(g, err, "%s: sampler %lld, animations[%d] has %zu", place->what, (long long)s,
                         place->animation, json_array_size(place->samplers));
    snprintf(what, sizeof what, "animations[%d].samplers[%lld]", place->animation, (long long)s);
    TL_TRY(read_curve(g, sampler, what, &ch.curve, err));
    TL_TRY(read_times(g, json_object_get(sampler, "input"), what, &ch, err));
    TL_TRY(read_values(g, json_object_get(sampler, "output"), what, &ch, err));
    const double first = g->c->time[ch.time], last = g->c->time[ch.time + ch.key_count - 1];
    if (clip->channel_count == 0 || first < clip->begin) clip->begin = first;
    if (clip->channel_count == 0 || last > clip->end) clip->end = last;
    tl_clip_channel *to = tl_character_push(g->c, TL_RIG_CHANNELS, 1);
    if (!to) return tl_fail_memory(err, "channels");
    *to = ch;
    clip->channel_count++;
    return TL_OK;
}

tl_status gltf_read_animations(gltf *g, tl_error *err)
{
    const json_t *list = gltf_list(g, "animations");
    const int32_t n = gltf_count(g, "animations");
    for (int32_t a = 0; a < n; a++) {
        const json_t *entry = json_array_get(list, (size_t)a), *channels = json_object_get(entry, "channels");
        tl_clip clip = {.channel = g->c->count[TL_RIG_CHANNELS]};
        gltf_name(entry, clip.name);
        channel_place place = {.samplers = json_object_get(entry, "samplers"), .animation = a};
        for (size_t k = 0; k < json_array_size(channels); k++) {
            snprintf(place.what, sizeof place.what, "animations[%d].channels[%zu]", a, k);
            TL_TRY(read_channel(g, json_array_get(channels, k), &place, &clip, err));
        }
        if (clip.channel_count == 0)
            tl_character_note(g->c, "animations[%d] '%s' moves nothing", a, clip.name);
        else if (!(clip.end > clip.begin))
            tl_character_note(g->c, "animations[%d] '%s' has no length: it is one pose", a, clip.name);
        tl_clip *to = tl_character_push(g->c, TL_RIG_CLIPS, 1);
        if (!to) return tl_fail_memory(err, "clips");
        *to = clip;
    }
    return TL_OK;
}
