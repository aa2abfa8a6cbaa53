// run/render_start.c: the start of a scene as something to draw, before anything has been simulated.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "run/render_source.h"
#include "math/vec3.h"
#include "toile/body.h"
#include "toile/query.h"
#include "toile/scene.h"

static tl_status copy_cloth(const tl_allocator *alloc, const tl_sim *sim, tl_cloth_id id, tl_show_mesh *out,
                            tl_error *err)
{
    tl_cloth_view v;
    if (tl_sim_cloth_view(sim, id, &v) != TL_OK) return tl_fail(err, TL_FAILED, "a cloth of the scene has no mesh");
    TL_TRY(tl_show_mesh_init(alloc, v.node_count, v.vert_count, v.face_count, out, err));
    const char *name = tl_sim_cloth_name(sim, id);
    strncpy(out->name, name ? name : "cloth", sizeof out->name - 1);
    out->woven = true;
    memcpy(out->obj.pos, v.pos, (size_t)v.node_count * sizeof *v.pos);
    memcpy(out->obj.uv, v.uv, (size_t)v.vert_count * sizeof *v.uv);
    memcpy(out->obj.vert_node, v.vert_node, (size_t)v.vert_count * sizeof *v.vert_node);
    memcpy(out->obj.face, v.face, (size_t)v.face_count * sizeof *v.face);
    out->obj.vel = TL_ALLOC(alloc, tl_vec3, v.node_count);
    if (v.node_count > 0 && !out->obj.vel) return tl_fail_memory(err, "a frame");
    out->obj.vel_cap = v.node_count;
    memcpy(out->obj.vel, v.vel, (size_t)v.node_count * sizeof *v.vel);
    for (int32_t f = 0; f < v.face_count; f++)
        for (int c = 0; c < 3; c++) out->face_node[f][c] = v.vert_node[v.face[f][c]];
    return TL_OK;
}

static tl_status copy_body(const tl_allocator *alloc, const tl_sim *sim, tl_body_id id, tl_show_mesh *out,
                           tl_error *err)
{
    tl_body_view v;
    if (tl_sim_body_view(sim, id, &v) != TL_OK) return tl_fail(err, TL_FAILED, "an obstacle of the scene has no mesh");
    TL_TRY(tl_show_mesh_init(alloc, v.node_count, 0, v.face_count, out, err));
    const char *name = tl_sim_body_name(sim, id);
    strncpy(out->name, name ? name : "obstacle", sizeof out->name - 1);
    out->obstacle = true;
    memcpy(out->obj.pos, v.pos, (size_t)v.node_count * sizeof *v.pos);
    memcpy(out->obj.face, v.face, (size_t)v.face_count * sizeof *v.face);
    memcpy(out->face_node, v.face, (size_t)v.face_count * sizeof *v.face);
    return TL_OK;
}

// What contact does to each node, summed over the points that it is nearest to.
static tl_status note_forces(const tl_allocator *alloc, const tl_sim *sim, tl_show_frame *frame, tl_error *err)
{
    const int32_t cloths = frame->cloth_count, count = tl_sim_contact_points(sim, NULL, 0);
    tl_contact_point *points = TL_ALLOC(alloc, tl_contact_point, count);
    bool room = points || count == 0;
    for (int32_t i = 0; room && i < cloths; i++) {
        tl_show_mesh *m = &frame->meshes[i];
        m->force = TL_CALLOC(alloc, float, m->obj.node_count);
        room = m->force || m->obj.node_count == 0;
    }
    const int32_t found = room ? tl_sim_contact_points(sim, points, count) : 0;
    for (int32_t p = 0; p < found && p < count; p++)
        for (int32_t i = 0; i < cloths; i++) {
            tl_show_mesh *m = &frame->meshes[i];
            const bool mine = tl_sim_cloth(sim, i).slot == points[p].cloth.slot;
            if (mine && points[p].node < m->obj.node_count)
                m->force[points[p].node] += (float)tl_norm3(points[p].force);
        }
    TL_FREE(alloc, points, count);
    return room ? TL_OK : tl_fail_memory(err, "contact forces to show");
}

tl_status tl_show_frame_of_sim(const tl_allocator *alloc, const tl_sim *sim, tl_show_frame *out, tl_error *err)
{
    const int32_t cloths = tl_sim_cloth_count(sim), count = cloths + tl_sim_body_count(sim);
    *out = (tl_show_frame){0};
    out->meshes = TL_CALLOC(alloc, tl_show_mesh, count);
    if (count > 0 && !out->meshes) return tl_fail_memory(err, "a frame");
    out->mesh_count = count;
    tl_status status = TL_OK;
    for (int32_t i = 0; i < count && status == TL_OK; i++) {
        status = i < cloths ? copy_cloth(alloc, sim, tl_sim_cloth(sim, i), &out->meshes[i], err)
                            : copy_body(alloc, sim, tl_sim_body(sim, i - cloths), &out->meshes[i], err);
        if (i < cloths) out->cloth_count = i + 1, out->cloth_faces += out->meshes[i].obj.face_count;
    }
    if (status == TL_OK) status = note_forces(alloc, sim, out, err);
    if (status != TL_OK) tl_show_frame_free(alloc, out);
    return status;
}

tl_status tl_source_load_start(const tl_source *s, tl_show_frame *out, tl_error *err)
{
    tl_scene *scene;
    tl_sim *sim = NULL;
    TL_TRY(tl_scene_load(s->scene_path, NULL, 0, &scene, err));
    tl_status status = tl_scene_simulate(scene, 1, &s->alloc, s->log, &sim, err);
    if (status == TL_OK) status = tl_show_frame_of_sim(&s->alloc, sim, out, err);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return status;
}
