// scene/scene_handles.c: the handles of a scene: which nodes, when, and along which path.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "scene/gather.h"
#include "scene/scene.h"

static tl_status read_cloth_ref(const tl_scene *scene, const tl_node *handle, int32_t *out, tl_error *err)
{
    tl_node node = tl_node_key(handle, "cloth");
    *out = 0;
    if (json_is_string(node.value)) {
        const char *name = json_string_value(node.value), *near = NULL;
        int near_distance = 4;
        for (int32_t i = 0; i < scene->cloth_count; i++) {
            const int distance = tl_word_distance(name, scene->cloths[i].name);
            if (strcmp(name, scene->cloths[i].name) == 0) {
                *out = i;
                return TL_OK;
            }
            if (distance < near_distance) near = scene->cloths[i].name, near_distance = distance;
        }
        if (near) return tl_node_fail(&node, true, err, "is not the name of a cloth (did you mean '%s'?)", near);
        return tl_node_fail(&node, true, err, "is not the name of a cloth");
    }
    if (node.value) {
        const tl_key_def key = {.type = TL_KEY_INT, .min = 0, .max = 1e6, .doc = "place in cloths"};
        int64_t index;
        TL_TRY(tl_key_read(&node, &key, &index, err));
        if (index >= scene->cloth_count)
            return tl_node_fail(&node, true, err, "must be in [0, %d], a place in cloths", scene->cloth_count - 1);
        *out = (int32_t)index;
    }
    // From now on by name, so that the resolved scene does not depend on the order.
    json_t *name = json_string(scene->cloths[*out].name);
    return json_object_set_new(handle->value, "cloth", name) == 0 ? TL_OK : tl_fail_memory(err, "scene text");
}

static tl_status read_nodes(const tl_scene *scene, const tl_node *list, tl_scene_handle *handle, tl_error *err)
{
    const tl_scene_cloth *cloth = &scene->cloths[handle->cloth];
    const size_t count = json_array_size(list->value);
    if (count > INT32_MAX) return tl_node_fail(list, true, err, "must have fewer entries");
    handle->nodes = TL_ALLOC(&scene->alloc, int32_t, count);
    if (!handle->nodes) return tl_fail_memory(err, "nodes of a handle");
    handle->node_count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        const tl_node entry = tl_node_at(list, i);
        int64_t n;
        TL_TRY(tl_key_read(&entry, &tl_node_index_key, &n, err));
        const tl_obj *mesh = &cloth->mesh;
        const int32_t nodes = mesh->place ? mesh->place_count : mesh->node_count;
        if (n >= nodes)
            return tl_node_fail(&entry, true, err, "must be in [0, %d], cloth '%s' has %d nodes", nodes - 1,
                                cloth->name, nodes);
        if (mesh->place && mesh->place[n] < 0) return tl_node_fail(&entry, true, err, "is in no face");
        handle->nodes[i] = mesh->place ? mesh->place[n] : (int32_t)n;
        // by the numbers of the mesh as it is now, for the resolved scene
        if (mesh->place && json_array_set_new(list->value, i, json_integer(handle->nodes[i])) != 0)
            return tl_fail_memory(err, "scene text");
    }
    return TL_OK;
}

// Words (one or a list) as bits: bit w for words[w]; "all" is all bits.
static tl_status read_words(const tl_node *node, const tl_key_def *key, unsigned *bits, tl_error *err)
{
    const bool list = json_is_array(node->value);
    const size_t count = list ? json_array_size(node->value) : 1;
    if (count == 0) return tl_node_fail(node, true, err, "must have at least 1 entry");
    *bits = 0;
    for (size_t i = 0; i < count; i++) {
        const tl_node entry = list ? tl_node_at(node, i) : *node;
        int32_t word;
        TL_TRY(tl_key_read(&entry, key, &word, err));
        *bits |= word == 0 ? ~0u : 1u << word;
    }
    return TL_OK;
}

static tl_status pick_border(const tl_scene *scene, const tl_node *node, bool corners, tl_scene_handle *handle,
                             tl_error *err)
{
    const tl_scene_cloth *cloth = &scene->cloths[handle->cloth];
    const tl_vec2 size = cloth->rectangle_size;
    if (size.x == 0)
        return tl_node_fail(node, false, err,
                            "needs a generated rectangle, cloth '%s' is %s (use nodes, label or a box)", cloth->name,
                            cloth->origin);
    unsigned bits = 0;
    TL_TRY(read_words(node, corners ? &tl_corner_key : &tl_side_key, &bits, err));
    if (!corners) handle->sides = bits & 0x1e;
    const tl_obj *mesh = &cloth->mesh;
    int32_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            handle->nodes = TL_ALLOC(&scene->alloc, int32_t, count);
            if (!handle->nodes) return tl_fail_memory(err, "nodes of a handle");
            handle->node_count = count;
            count = 0;
        }
        for (int32_t i = 0; i < mesh->vert_count; i++) {
            const bool left = mesh->uv[i].x == 0, right = mesh->uv[i].x == size.x;
            const bool bottom = mesh->uv[i].y == 0, top = mesh->uv[i].y == size.y;
            const unsigned at = corners ? (unsigned)((bottom && left) << 1 | (bottom && right) << 2 |
                                                     (top && left) << 3 | (top && right) << 4)
                                        : (unsigned)(left << 1 | right << 2 | bottom << 3 | top << 4);
            if (!(at & bits)) continue;
            if (pass == 1) handle->nodes[count] = mesh->vert_node[i];
            count++;
        }
    }
    return TL_OK;
}

tl_status tl_scene_read_motion(const tl_allocator *alloc, const tl_node *list, const tl_key_table *table,
                               tl_motion_key **keys, int32_t *key_count, tl_error *err)
{
    const size_t count = json_array_size(list->value);
    if (count > 10000000) return tl_node_fail(list, true, err, "must have fewer entries");
    *keys = TL_CALLOC(alloc, tl_motion_key, count);
    if (!*keys) return tl_fail_memory(err, "a motion");
    *key_count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        const tl_node entry = tl_node_at(list, i), rotate = tl_node_key(&entry, "rotate");
        tl_motion_file key = {0};
        TL_TRY(tl_table_read(&entry, table, &key, err));
        if (i > 0 && !(key.time > (*keys)[i - 1].time)) {
            const tl_node time = tl_node_key(&entry, "time");
            return tl_node_fail(&time, true, err, "must be above the %g before it", (*keys)[i - 1].time);
        }
        TL_TRY(tl_scene_check_rotation(&rotate, key.rotate, err));
        if (key.release && i + 1 < count) {
            const tl_node release = tl_node_key(&entry, "release");
            return tl_node_fail(&release, true, err, "only the last entry of motion can let go");
        }
        const tl_vec3 axis = {key.rotate[1], key.rotate[2], key.rotate[3]};
        const bool rates =
            !isnan(key.growth) || tl_node_key(&entry, "velocity").value || tl_node_key(&entry, "spin").value;
        (*keys)[i] = (tl_motion_key){.time = key.time,
                                     .translate = key.translate,
                                     .rotate_axis = axis,
                                     .rotate_deg = key.rotate[0],
                                     .release = key.release ? 1 : 0,
                                     .has_rates = rates,
                                     .scale = isnan(key.scale) ? 1 : key.scale,
                                     .velocity = key.velocity,
                                     .spin = key.spin,
                                     .growth = isnan(key.growth) ? 0 : key.growth};
    }
    return TL_OK;
}

static tl_status check_order(const tl_node *node, const double *low, const double *high, int count, tl_error *err)
{
    for (int i = 0; i < count; i++)
        if (!(low[i] <= high[i]))
            return tl_node_fail(node, false, err, "min %g > max %g in component %d", low[i], high[i], i);
    return TL_OK;
}

// Material places of panels that were turned over are -u where the file has u, and so is what `turns` is a rate of.
static tl_status turn_ellipse(tl_scene *scene, const tl_node *node, tl_scene_handle *handle, tl_error *err)
{
    const tl_obj *mesh = &scene->cloths[handle->cloth].mesh;
    if (!mesh->turned) return TL_OK;
    uint8_t *held = TL_CALLOC(&scene->alloc, uint8_t, mesh->node_count);
    if (!held) return tl_fail_memory(err, "nodes of a handle");
    for (int32_t i = 0; i < handle->node_count; i++) held[handle->nodes[i]] = 1;
    for (int32_t n = 0; n < mesh->node_count && !handle->nodes; n++)
        held[n] = mesh->node_label && mesh->node_label[n] == (int32_t)handle->file.label;
    int32_t turned = 0, straight = 0;
    for (int32_t v = 0; v < mesh->vert_count; v++) {
        const bool counts = held[mesh->vert_node[v]];
        turned += counts && mesh->turned[v], straight += counts && !mesh->turned[v];
    }
    TL_FREE(&scene->alloc, held, mesh->node_count);
    if (turned > 0 && straight > 0)
        tl_notes_add(&scene->notes, "",
                     "handles[%d]: holds mirrored panels and others on one circle, where they run opposite ways (give "
                     "each a handle of its own)",
                     node->index);
    if (turned <= straight) return TL_OK;
    const tl_node ellipse = tl_node_key(node, "ellipse");
    handle->file.ellipse.turns.x = -handle->file.ellipse.turns.x;
    json_t *turns = json_pack("[f,f]", handle->file.ellipse.turns.x, handle->file.ellipse.turns.y);
    return json_object_set_new(ellipse.value, "turns", turns) == 0 ? TL_OK : tl_fail_memory(err, "scene text");
}

static tl_status read_handle(tl_scene *scene, const tl_node *node, tl_scene_handle *handle, tl_error *err)
{
    tl_handle_file *file = &handle->file;
    TL_TRY(tl_table_read(node, &tl_handle_table, file, err));
    TL_TRY(read_cloth_ref(scene, node, &handle->cloth, err));
    const tl_node nodes = tl_node_key(node, "nodes"), corners = tl_node_key(node, "corners");
    const tl_node sides = tl_node_key(node, "sides"), label = tl_node_key(node, "label");
    const tl_node box = tl_node_key(node, "box"), sphere = tl_node_key(node, "sphere");
    const tl_node uv_box = tl_node_key(node, "uv_box"), motion = tl_node_key(node, "motion");
    const int by_number = !!nodes.value + !!corners.value + !!sides.value;
    if (by_number > 1) return tl_node_fail(node, false, err, "may have one of 'nodes', 'corners', 'sides'");
    if (by_number == 0 && !label.value && !box.value && !sphere.value && !uv_box.value)
        return tl_node_fail(node, false, err,
                            "selects nothing (give nodes, corners, sides, label, box, sphere or uv_box)");
    if (nodes.value) TL_TRY(read_nodes(scene, &nodes, handle, err));
    if (corners.value) TL_TRY(pick_border(scene, &corners, true, handle, err));
    if (sides.value) TL_TRY(pick_border(scene, &sides, false, handle, err));
    handle->use_box = box.value, handle->use_sphere = sphere.value, handle->use_uv_box = uv_box.value;
    handle->use_ellipse = tl_node_key(node, "ellipse").value;
    if (box.value) TL_TRY(check_order(&box, &file->box.min.x, &file->box.max.x, 3, err));
    if (uv_box.value) TL_TRY(check_order(&uv_box, &file->uv_box.min.x, &file->uv_box.max.x, 2, err));
    if (label.value) {
        const tl_obj *mesh = &scene->cloths[handle->cloth].mesh;
        bool found = false;
        for (int32_t i = 0; mesh->node_label && i < mesh->node_count; i++)
            found = found || mesh->node_label[i] == (int32_t)file->label;
        if (!found)
            return tl_node_fail(&label, true, err, "no node of %.200s has this label",
                                scene->cloths[handle->cloth].origin);
    }
    if (handle->use_ellipse) TL_TRY(turn_ellipse(scene, node, handle, err));
    const tl_node gather = tl_node_key(node, "gather");
    if (gather.value) TL_TRY(tl_scene_gather(scene, &gather, handle, err));
    if (file->body) snprintf(handle->body, sizeof handle->body, "%s", file->body);
    const tl_node end = tl_node_key(node, "end");
    if (end.value && !(file->end > file->start))
        return tl_node_fail(&end, true, err, "must be above start %g", file->start);
    return motion.value
               ? tl_scene_read_motion(&scene->alloc, &motion, &tl_motion_table, &handle->keys, &handle->key_count, err)
               : TL_OK;
}

tl_status tl_scene_read_handles(tl_scene *scene, const tl_node *root, tl_error *err)
{
    const tl_node list = tl_node_key(root, "handles");
    const size_t count = json_array_size(list.value);
    if (count > 1000000) return tl_node_fail(&list, true, err, "must have at most 1000000 entries");
    scene->handles = TL_CALLOC(&scene->alloc, tl_scene_handle, count);
    if (!scene->handles) return tl_fail_memory(err, "handles");
    scene->handle_count = (int32_t)count;
    for (int32_t i = 0; i < scene->handle_count; i++) {
        const tl_node node = tl_node_at(&list, (size_t)i);
        TL_TRY(read_handle(scene, &node, &scene->handles[i], err));
    }
    return TL_OK;
}

tl_status tl_scene_check_ties(const tl_scene *scene, const tl_node *root, tl_error *err)
{
    const tl_node list = tl_node_key(root, "handles");
    for (int32_t i = 0; i < scene->handle_count; i++) {
        bool found = !*scene->handles[i].body;
        for (int32_t k = 0; k < scene->obstacle_count; k++)
            found = found || strcmp(scene->handles[i].body, scene->obstacles[k].name) == 0;
        const tl_node entry = tl_node_at(&list, (size_t)i), body = tl_node_key(&entry, "body");
        if (!found) return tl_node_fail(&body, true, err, "is not the name of an obstacle");
    }
    return TL_OK;
}
