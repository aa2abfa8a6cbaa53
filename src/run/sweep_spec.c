// run/sweep_spec.c: a sweep's specification, and the samples that it stands for.
//
// Samples are scenes x grid x list x random draws, the last of these fastest. A draw is a function of (seed, draw,
// place of its key), so that more samples leave those there are as they were where nothing else changes.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/rng.h"
#include "io/json.h"
#include "math/elementary.h"
#include "run/sweep_impl.h"

typedef struct spec {
    tl_node root;
    tl_node scene, grid, list, random, keys, set;
    int64_t scene_count, grid_count, list_count, draw_count;
    uint64_t seed;
} spec;

static const char *const top_keys[] = {"scene", "grid", "list", "random", "set", "frames", NULL};
static const char *const random_keys[] = {"count", "seed", "keys", NULL};
static const char *const draw_keys[] = {"uniform", "log_uniform", "normal", "integer", "choice", NULL};

static tl_status check_keys(const tl_node *at, const char *const *allowed, tl_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(at->value, key, value)
    {
        bool known = false;
        for (int i = 0; allowed[i]; i++) known |= strcmp(key, allowed[i]) == 0;
        if (known) continue;
        const tl_node node = tl_node_key(at, key);
        const char *near = tl_nearest_word(key, allowed);
        return near ? tl_node_fail(&node, false, err, "unknown key, did you mean '%s'?", near)
                    : tl_node_fail(&node, false, err, "unknown key (docs/sweep.md lists them)");
    }
    return TL_OK;
}

static tl_status want_object(const tl_node *node, tl_error *err)
{
    if (!node->value || json_is_object(node->value)) return TL_OK;
    return tl_node_fail(node, false, err, "must be an object of scene keys, {\"fps\": ..}");
}

static tl_status want_int(const tl_node *node, int64_t min, int64_t max, int64_t *out, tl_error *err)
{
    if (!node->value) return TL_OK;
    if (!json_is_integer(node->value) || json_integer_value(node->value) < min || json_integer_value(node->value) > max)
        return tl_node_fail(node, true, err, "must be a whole number from %lld to %lld", (long long)min,
                            (long long)max);
    *out = json_integer_value(node->value);
    return TL_OK;
}

static tl_status multiply(const tl_node *node, int64_t by, int64_t *count, tl_error *err)
{
    if (by > TL_SWEEP_SAMPLES_MAX || *count * by > TL_SWEEP_SAMPLES_MAX)
        return tl_node_fail(node, false, err, "more than %d samples", TL_SWEEP_SAMPLES_MAX);
    *count *= by;
    return TL_OK;
}

static tl_status check_draw(const tl_node *key, tl_error *err)
{
    if (!json_is_object(key->value) || json_object_size(key->value) != 1)
        return tl_node_fail(key, false, err,
                            "must be one of {\"uniform\": [lo, hi]}, {\"log_uniform\": [lo, hi]}, {\"normal\": [mean, "
                            "deviation]}, {\"integer\": [lo, hi]}, {\"choice\": [..]}");
    TL_TRY(check_keys(key, draw_keys, err));
    const char *kind = json_object_iter_key(json_object_iter(key->value));
    const tl_node given = tl_node_key(key, kind);
    const size_t n = json_array_size(given.value);
    if (strcmp(kind, "choice") == 0)
        return n > 0 ? TL_OK : tl_node_fail(&given, false, err, "must be a list of one value or more");
    double v[2] = {0, 0};
    for (size_t i = 0; i < 2 && n == 2; i++) v[i] = json_number_value(json_array_get(given.value, i));
    bool ok =
        n == 2 && json_is_number(json_array_get(given.value, 0)) && json_is_number(json_array_get(given.value, 1));
    if (strcmp(kind, "normal") == 0)
        ok = ok && v[1] >= 0;
    else
        ok = ok && v[0] <= v[1];
    if (strcmp(kind, "log_uniform") == 0) ok = ok && v[0] > 0;
    if (strcmp(kind, "integer") == 0)
        ok = ok && json_is_integer(json_array_get(given.value, 0)) && json_is_integer(json_array_get(given.value, 1));
    if (ok) return TL_OK;
    return tl_node_fail(&given, true, err, "must be two numbers%s",
                        strcmp(kind, "normal") == 0        ? ", the deviation >= 0"
                        : strcmp(kind, "log_uniform") == 0 ? ", 0 < lo <= hi"
                        : strcmp(kind, "integer") == 0     ? " without a fraction, lo <= hi"
                                                           : ", lo <= hi");
}

static tl_status check_random(spec *s, tl_error *err)
{
    s->draw_count = 1, s->seed = 1;
    s->keys = tl_node_key(&s->random, "keys");
    if (!s->random.value) return TL_OK;
    TL_TRY(want_object(&s->random, err));
    TL_TRY(check_keys(&s->random, random_keys, err));
    const tl_node count = tl_node_key(&s->random, "count"), seed = tl_node_key(&s->random, "seed");
    if (!count.value || !s->keys.value || json_object_size(s->keys.value) == 0)
        return tl_node_fail(&s->random, false, err, "needs \"count\" and \"keys\": {\"KEY\": {\"uniform\": [lo, hi]}}");
    int64_t word = 1;
    TL_TRY(want_int(&count, 1, TL_SWEEP_SAMPLES_MAX, &s->draw_count, err));
    TL_TRY(want_int(&seed, 0, INT64_MAX, &word, err));
    s->seed = (uint64_t)word;
    TL_TRY(want_object(&s->keys, err));
    const char *key;
    json_t *value;
    json_object_foreach(s->keys.value, key, value)
    {
        const tl_node node = tl_node_key(&s->keys, key);
        TL_TRY(check_draw(&node, err));
    }
    return TL_OK;
}

static tl_status check_spec(spec *s, int64_t *frames, tl_error *err)
{
    TL_TRY(check_keys(&s->root, top_keys, err));
    s->scene = tl_node_key(&s->root, "scene"), s->grid = tl_node_key(&s->root, "grid");
    s->list = tl_node_key(&s->root, "list"), s->random = tl_node_key(&s->root, "random");
    s->set = tl_node_key(&s->root, "set");
    const tl_node frames_node = tl_node_key(&s->root, "frames");
    int64_t total = 1;
    s->scene_count = json_is_string(s->scene.value) ? 1 : (int64_t)json_array_size(s->scene.value);
    if (s->scene_count == 0)
        return tl_node_fail(s->scene.value ? &s->scene : &s->root, false, err,
                            "\"scene\" must be the path of a scene file, or a list of them");
    for (size_t i = 0; i < json_array_size(s->scene.value); i++) {
        const tl_node one = tl_node_at(&s->scene, i);
        if (!json_is_string(one.value)) return tl_node_fail(&one, true, err, "must be the path of a scene file");
    }
    TL_TRY(multiply(&s->scene, s->scene_count, &total, err));
    TL_TRY(want_object(&s->set, err));
    TL_TRY(want_object(&s->grid, err));
    const char *key;
    json_t *value;
    s->grid_count = 1;
    json_object_foreach(s->grid.value, key, value)
    {
        const tl_node node = tl_node_key(&s->grid, key);
        if (json_array_size(value) == 0) return tl_node_fail(&node, false, err, "must be a list of values");
        TL_TRY(multiply(&node, (int64_t)json_array_size(value), &total, err));
        s->grid_count *= (int64_t)json_array_size(value);
    }
    s->list_count = s->list.value ? (int64_t)json_array_size(s->list.value) : 1;
    if (s->list_count == 0) return tl_node_fail(&s->list, false, err, "must be a list of objects of scene keys");
    for (size_t i = 0; i < json_array_size(s->list.value); i++) {
        const tl_node one = tl_node_at(&s->list, i);
        TL_TRY(want_object(&one, err));
    }
    TL_TRY(multiply(&s->list, s->list_count, &total, err));
    TL_TRY(check_random(s, err));
    TL_TRY(multiply(&s->random, s->draw_count, &total, err));
    return want_int(&frames_node, 0, 1000000, frames, err);
}

// Uniform in [0, 1) for a key of a draw; `second` is another one, for the normal law.
static double uniform(const spec *s, int64_t draw, uint64_t key, int second)
{
    return tl_random(s->seed, (uint64_t)draw, 2 * key + (uint64_t)second);
}

static json_t *draw_value(const spec *s, int64_t draw, uint64_t key, json_t *law)
{
    const char *kind = json_object_iter_key(json_object_iter(law));
    json_t *given = json_object_get(law, kind);
    const double u = uniform(s, draw, key, 0);
    if (strcmp(kind, "choice") == 0) {
        const size_t n = json_array_size(given);
        const size_t i = (size_t)(u * (double)n);
        return json_incref(json_array_get(given, i < n ? i : n - 1));
    }
    const double a = json_number_value(json_array_get(given, 0)), b = json_number_value(json_array_get(given, 1));
    if (strcmp(kind, "integer") == 0) {
        const double v = floor(a + u * (b - a + 1));
        return json_integer((json_int_t)(v > b ? b : v));
    }
    if (strcmp(kind, "log_uniform") == 0) return json_real(a * tl_exp2(u * tl_log2(b / a)));
    if (strcmp(kind, "normal") == 0)  // Box & Muller 1958
        return json_real(a +
                         b * sqrt(-2 * tl_ln(1 - u)) * tl_cos(2 * 3.14159265358979323846 * uniform(s, draw, key, 1)));
    return json_real(a + u * (b - a));
}

static json_t *make_sample(const spec *s, int64_t index)
{
    int64_t rest = index;
    const int64_t draw = rest % s->draw_count;
    rest /= s->draw_count;
    const int64_t item = rest % s->list_count;
    rest /= s->list_count;
    int64_t cell = rest % s->grid_count;
    const int64_t scene = rest / s->grid_count;
    json_t *set = json_object(), *out = json_object();
    const char *key;
    json_t *value;
    json_object_update(set, s->set.value);
    int64_t stride = s->grid_count;  // the last key of the grid is the fastest
    json_object_foreach(s->grid.value, key, value)
    {
        stride /= (int64_t)json_array_size(value);
        json_object_set(set, key, json_array_get(value, (size_t)(cell / stride)));
        cell %= stride;
    }
    if (s->list.value) json_object_update(set, json_array_get(s->list.value, (size_t)item));
    uint64_t k = 0;
    json_object_foreach(s->keys.value, key, value) json_object_set_new(set, key, draw_value(s, draw, k++, value));
    json_t *path = json_is_string(s->scene.value) ? s->scene.value : json_array_get(s->scene.value, (size_t)scene);
    json_object_set_new(out, "sample", json_integer(index));
    json_object_set(out, "scene", path);
    json_object_set_new(out, "set", set);
    return out;
}

tl_status tl_sweep_expand(tl_sweep *sweep, const char *path, tl_error *err)
{
    tl_json_doc *doc;
    TL_TRY(tl_json_load(&sweep->alloc, &(tl_json_def){.path = path}, &doc, err));
    spec s = {.root = tl_json_root(doc)};
    int64_t frames = -1;
    tl_status status = check_spec(&s, &frames, err);
    if (status == TL_OK) status = tl_path_dir(path, sweep->spec_dir, err);
    sweep->frames = (int32_t)frames;
    const int64_t count = s.scene_count * s.grid_count * s.list_count * s.draw_count;
    if (status == TL_OK && !(sweep->samples = json_array())) status = tl_fail_memory(err, "samples");
    for (int64_t i = 0; status == TL_OK && i < count; i++)
        if (json_array_append_new(sweep->samples, make_sample(&s, i)) != 0) status = tl_fail_memory(err, "samples");
    tl_json_destroy(doc);
    return status;
}
