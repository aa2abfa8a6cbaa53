// scene/scene_quality.c: one word for sizes, tolerances and steps. It fills in what the scene leaves out; keys that are
// given, in the file or by --set, win.

#include <string.h>

#include "base/fail.h"
#include "scene/scene.h"

/// Values by quality; normal has the defaults of the tables.
typedef struct choice {
    const char *object;  ///< NULL: a key of the scene itself
    const char *key;
    double draft, final;
} choice;

static const choice choices[] = {
    {NULL, "steps_per_frame", 4, 12},           {"solver", "newton_tolerance", 0.06, 0.015},
    {"solver", "linear_tolerance", 0.05, 0.01}, {"remeshing", "size_min", 0.03, 0.0075},
    {"remeshing", "curvature", 0.25, 0.1},      {"remeshing", "velocity", 1.2, 0.5},
};

// A size_max in the scene stays the larger one.
static double within(const json_t *object, const choice *c, double value)
{
    const json_t *most = strcmp(c->key, "size_min") == 0 ? json_object_get(object, "size_max") : NULL;
    return json_is_number(most) && json_number_value(most) < value ? json_number_value(most) : value;
}

tl_status tl_scene_apply_quality(const tl_node *root, tl_error *err)
{
    const tl_node node = tl_node_key(root, "quality");
    if (!node.value) return TL_OK;
    int32_t quality = TL_QUALITY_NORMAL;
    TL_TRY(tl_key_read(&node, &tl_quality_key, &quality, err));
    for (size_t i = 0; quality != TL_QUALITY_NORMAL && i < sizeof choices / sizeof *choices; i++) {
        const choice *c = &choices[i];
        json_t *object = c->object ? json_object_get(root->value, c->object) : root->value;
        if (c->object && !object) {
            object = json_object();
            if (json_object_set_new(root->value, c->object, object) != 0) return tl_fail_memory(err, "scene text");
        }
        if (!json_is_object(object) || json_object_get(object, c->key)) continue;
        const double value = within(object, c, quality == TL_QUALITY_DRAFT ? c->draft : c->final);
        if (json_object_set_new(object, c->key, json_real(value)) != 0) return tl_fail_memory(err, "scene text");
    }
    return TL_OK;
}
