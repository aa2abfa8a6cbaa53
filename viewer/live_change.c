// viewer/live_change.c: fabric and remeshing of a simulation that runs.

#include <stdio.h>
#include <stdlib.h>

#include "live_impl.h"

// Cloth looks as a fabric does: the scene is read again with it, for its looks alone.
static tl_status show_fabric(view_live *live, const char *name, tl_error *err)
{
    enum { MOST = 64 };
    char texts[MOST][96];
    const char *sets[MAX_SETS + MOST];
    int32_t count = 0;
    for (; count < live->set_count; count++) sets[count] = live->sets[count];
    for (int32_t i = 0; name[0] && i < MOST && i < tl_sim_cloth_count(live->sim); i++) {
        snprintf(texts[i], sizeof texts[0], "cloths[%d].material=%s", i, name);
        sets[count++] = texts[i];
    }
    tl_scene *scene = NULL;
    tl_show *show[2] = {NULL, NULL};
    tl_status status = tl_scene_load(live->path, sets, count, &scene, err);
    for (int k = 0; k < 2 && status == TL_OK; k++) status = tl_show_create_scene(scene, &show[k], err);
    tl_scene_destroy(scene);
    if (status != TL_OK) {
        tl_show_close(show[0]), tl_show_close(show[1]);
        return status;
    }
    tl_show_close(live->back);
    live->back = show[0];
    pthread_mutex_lock(&live->mutex);
    tl_show_close(live->front);
    live->front = show[1], live->surfaces = NULL, live->surface_count = 0;
    pthread_mutex_unlock(&live->mutex);
    return TL_OK;
}

static tl_status set_fabric(tl_sim *sim, const char *path, tl_error *err)
{
    tl_material fabric;
    tl_status status = path[0] ? tl_material_load(path, &fabric, err) : TL_OK;
    for (int32_t i = 0; status == TL_OK && i < tl_sim_cloth_count(sim); i++) {
        const tl_cloth_id cloth = tl_sim_cloth(sim, i);
        const tl_material *own;
        int32_t count = 0;
        status = tl_cloth_materials(sim, cloth, &own, &count, err);
        tl_material *all = path[0] && status == TL_OK ? malloc((size_t)count * sizeof *all) : NULL;
        for (int32_t k = 0; all && k < count; k++) all[k] = fabric;
        if (path[0] && !all && status == TL_OK) status = TL_NO_MEMORY;
        if (status == TL_OK) status = tl_cloth_set_materials(sim, cloth, all, count, err);
        free(all);
    }
    return status;
}

static tl_status set_remeshing(tl_sim *sim, int32_t kind, tl_error *err)
{
    tl_status status = TL_OK;
    for (int32_t i = 0; status == TL_OK && i < tl_sim_cloth_count(sim); i++) {
        const tl_cloth_id cloth = tl_sim_cloth(sim, i);
        tl_remeshing r;
        status = tl_cloth_remeshing(sim, cloth, &r, err);
        r.kind = (tl_remeshing_kind)kind;
        if (status == TL_OK) status = tl_cloth_set_remeshing(sim, cloth, kind < 0 ? NULL : &r, err);
    }
    return status;
}

// What the cloth cannot become on its way is refused.
void view_live_change(view_live *live)
{
    char fabric[sizeof live->fabric], name[sizeof live->fabric_name];
    pthread_mutex_lock(&live->mutex);
    const bool other_fabric = live->other_fabric, other_remeshing = live->other_remeshing;
    const int32_t kind = live->remeshing;
    snprintf(fabric, sizeof fabric, "%s", live->fabric);
    snprintf(name, sizeof name, "%s", live->fabric_name);
    live->other_fabric = live->other_remeshing = false;
    pthread_mutex_unlock(&live->mutex);
    if (!other_fabric && !other_remeshing) return;
    tl_error err = {0};
    tl_status status = other_fabric ? set_fabric(live->sim, fabric, &err) : TL_OK;
    if (status == TL_OK && other_remeshing) status = set_remeshing(live->sim, kind, &err);
    if (status == TL_OK && other_fabric) show_fabric(live, name, &err);  // else it keeps its looks
    if (status == TL_OK) {
        view_live_publish(live, live->sim);
        return;
    }
    pthread_mutex_lock(&live->mutex);
    snprintf(live->refused, sizeof live->refused, "%s", err.message[0] ? err.message : "out of memory");
    pthread_mutex_unlock(&live->mutex);
}
