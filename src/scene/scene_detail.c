// scene/scene_detail.c: where somebody looks from, and what may be spent on what is seen (tl_detail).

#include "base/alloc.h"
#include "base/fail.h"
#include "scene/scene.h"
#include "toile/live.h"

static tl_status read_eye(tl_scene *scene, const tl_node *list, tl_error *err)
{
    const size_t count = json_array_size(list->value);
    scene->eye = TL_CALLOC(&scene->alloc, tl_detail_key, count);
    if (!scene->eye || count > INT32_MAX) return tl_fail_memory(err, "the eye");
    scene->eye_count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        const tl_node entry = tl_node_at(list, i);
        tl_detail_key_file key = {0};
        TL_TRY(tl_table_read(&entry, &tl_detail_key_table, &key, err));
        if (i > 0 && !(key.time > scene->eye[i - 1].time)) {
            const tl_node time = tl_node_key(&entry, "time");
            return tl_node_fail(&time, true, err, "must be above the %g before it", scene->eye[i - 1].time);
        }
        scene->eye[i] = (tl_detail_key){key.time, key.eye};
    }
    return TL_OK;
}

tl_status tl_scene_read_detail(tl_scene *scene, const tl_node *root, tl_error *err)
{
    const tl_node detail = tl_node_key(root, "detail");
    scene->has_detail = detail.value != NULL;
    if (!scene->has_detail) return TL_OK;
    const tl_detail_file *d = &scene->file.detail;
    const tl_node eye = tl_node_key(&detail, "eye"), far = tl_node_key(&detail, "far");
    if (scene->file.dynamics.kind != TL_DYNAMICS_SPRINGS)
        return tl_node_fail(&detail, false, err, "goes with dynamics.kind springs alone");
    if (!eye.value && (d->cull || d->far_faces > 0))
        return tl_node_fail(&detail, false, err, "lacks 'eye', which cull and far_faces need");
    if (!(d->far > d->near)) return tl_node_fail(&far, true, err, "must be above near, %g", d->near);
    return eye.value ? read_eye(scene, &eye, err) : TL_OK;
}

tl_status tl_scene_set_detail(const tl_scene *scene, tl_sim *sim, tl_error *err)
{
    if (!scene->has_detail) return TL_OK;
    const tl_detail_file *f = &scene->file.detail;
    tl_detail d = tl_detail_default();
    d.keys = scene->eye, d.key_count = scene->eye_count;
    d.cull = f->cull != 0, d.hidden = f->hidden != 0;
    d.far_faces = (int32_t)f->far_faces, d.near = f->near, d.far = f->far, d.step_seconds = f->step_time;
    return tl_sim_set_detail(sim, &d, err);
}
