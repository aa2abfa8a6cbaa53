// scene/scene_look.c: camera and appearance of a scene: checked here, used by the renderer (run/render_style.c).

#include <string.h>

#include "base/fail.h"
#include "scene/scene.h"
#include "math/vec3.h"

static tl_status check_camera(const tl_scene *scene, const tl_node *camera, tl_error *err)
{
    const tl_camera_file *c = &scene->file.camera;
    const tl_node eye = tl_node_key(camera, "eye"), target = tl_node_key(camera, "target");
    const tl_node azimuth = tl_node_key(camera, "azimuth"), elevation = tl_node_key(camera, "elevation");
    if (!eye.value != !target.value)
        return tl_node_fail(camera, false, err, "lacks '%s' (eye and target belong together)",
                            eye.value ? "target" : "eye");
    if (eye.value && (azimuth.value || elevation.value))
        return tl_node_fail(azimuth.value ? &azimuth : &elevation, false, err,
                            "and eye exclude each other (give eye and target, or azimuth and elevation)");
    if (!eye.value && !azimuth.value) return tl_node_fail(camera, false, err, "lacks 'eye' and 'target', or 'azimuth'");
    if (eye.value && tl_norm3(tl_sub3(c->eye, c->target)) == 0)
        return tl_node_fail(&target, false, err, "is where eye is, must be elsewhere");
    return TL_OK;
}

// Name of the i-th of all cloths, then obstacles; NULL: there are no more.
static const char *name_at(const tl_scene *scene, int32_t i)
{
    if (i < scene->cloth_count) return scene->cloths[i].name;
    return i - scene->cloth_count < scene->obstacle_count ? scene->obstacles[i - scene->cloth_count].name : NULL;
}

static tl_status check_name(const tl_scene *scene, const tl_node *entry, tl_error *err)
{
    const char *known, *near = NULL;
    for (int32_t i = 0; (known = name_at(scene, i)); i++) {
        if (strcmp(known, entry->key) == 0) return TL_OK;
        const char *const one[] = {known, NULL};
        if (!near) near = tl_nearest_word(entry->key, one);
    }
    if (near)
        return tl_node_fail(entry, false, err, "is not the name of a cloth or an obstacle (did you mean '%s'?)", near);
    return tl_node_fail(entry, false, err, "is not the name of a cloth or an obstacle");
}

static tl_status check_appearance(const tl_scene *scene, const tl_node *appearance, tl_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach(appearance->value, name, value)
    {
        const tl_node entry = tl_node_key(appearance, name);
        TL_TRY(check_name(scene, &entry, err));
    }
    // In the order of cloths and obstacles, so that the same scene gives the same text however it was written.
    for (int32_t i = 0; (name = name_at(scene, i)); i++) {
        const tl_node entry = tl_node_key(appearance, name);
        if (!entry.value) continue;
        tl_appearance_file unused = {0};
        TL_TRY(tl_table_read(&entry, &tl_appearance_table, &unused, err));
        json_t *kept = json_incref(entry.value);
        json_object_del(appearance->value, name);
        if (json_object_set_new(appearance->value, name, kept) != 0) return tl_fail_memory(err, "scene text");
    }
    return TL_OK;
}

tl_status tl_scene_read_look(const tl_scene *scene, const tl_node *root, tl_error *err)
{
    const tl_node camera = tl_node_key(root, "camera"), appearance = tl_node_key(root, "appearance");
    if (camera.value) TL_TRY(check_camera(scene, &camera, err));
    return appearance.value ? check_appearance(scene, &appearance, err) : TL_OK;
}
