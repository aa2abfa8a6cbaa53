// sim/live.c: changes to a simulation that runs: targets of handles, poses of bodies, removal, gravity, wind, time
// step.
//
// A target becomes a path of two keys, from where the handle or body is now to where it is to be at the end of the next
// step, so a step that is cut goes part of the way. The path is part of the saved state. Steps since the last note
// cannot be taken again once something was changed: saving then begins a new epoch (snapshot.c).

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "mesh/mesh_attr.h"
#include "sim/internal.h"
#include "toile/live.h"

// From now on the note of the present epoch does not lead to the present state. A step that may be given up on its way
// needs a note that does.
static void changed(tl_sim *sim)
{
    sim->live_changed = true;
    if (sim->cancel.asked) sim->epoch_open = false;
}

// ---- paths -------------------------------------------------------------------------------------------------

void sim_live_init(sim_live *live, tl_pose_key keys[2])
{
    *live = (sim_live){.since = -1};
    live->from.time = -1;
    const tl_motion_key still[2] = {live->from, live->to};
    tl_motion_compile(still, 2, TL_CURVE_SMOOTH, keys);
}

static tl_status aim(const tl_sim *sim, const char *what, const tl_motion_key *pose, sim_live *live,
                     tl_pose_key keys[2], tl_error *err)
{
    if (!pose) return tl_fail(err, TL_BAD_ARG, "%s: the pose is NULL", what);
    tl_motion_key to = *pose;
    to.time = sim->time + sim->def.dt, to.release = 0, to.has_rates = 0;
    TL_TRY(tl_motion_check(what, &to, 1, err));
    if (live->since != sim->time) live->from = live->to;  // else: another target before the step to the last
    live->since = sim->time, live->from.time = sim->time, live->to = to;
    const tl_motion_key path[2] = {live->from, live->to};
    tl_motion_compile(path, 2, TL_CURVE_SMOOTH, keys);
    return TL_OK;
}

// ---- handles -----------------------------------------------------------------------------------------------

static tl_status find_handle(const tl_sim *sim, tl_handle_id id, int32_t *out, tl_error *err)
{
    *out = sim_ids_place(&sim->handle_ids, id.slot, id.gen);
    return *out != TL_NO_PLACE
               ? TL_OK
               : tl_fail(err, TL_BAD_ARG, "no such handle (slot %u, generation %u): it was removed", id.slot, id.gen);
}

tl_status tl_handle_set_target(tl_sim *sim, tl_handle_id id, const tl_motion_key *pose, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    int32_t i;
    TL_TRY(find_handle(sim, id, &i, err));
    sim_handle *h = &sim->handles[i];
    if (!h->is_live)
        return tl_fail(err, TL_BAD_ARG, "the handle follows keys (define it with live = 1 to set its target)");
    TL_TRY(aim(sim, "handle", pose, &h->live, h->keys, err));
    changed(sim);
    return TL_OK;
}

static void drop_handle(tl_sim *sim, int32_t i)
{
    sim_free_handle(sim, &sim->handles[i]);
    memmove(&sim->handles[i], &sim->handles[i + 1], (size_t)(--sim->handle_count - i) * sizeof *sim->handles);
    sim_ids_drop(&sim->handle_ids, i);
    sim->epoch_open = false;
}

tl_status tl_handle_remove(tl_sim *sim, tl_handle_id id, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    int32_t i;
    TL_TRY(find_handle(sim, id, &i, err));
    drop_handle(sim, i);
    return TL_OK;
}

// ---- bodies and cloths -------------------------------------------------------------------------------------

static tl_status find_live_body(const tl_sim *sim, tl_body_id id, sim_body **out, tl_error *err)
{
    *out = sim_find_body(sim, id);
    if (!*out)
        return tl_fail(err, TL_BAD_ARG, "no such body (slot %u, generation %u): it was removed", id.slot, id.gen);
    if (!(*out)->is_live)
        return tl_fail(err, TL_BAD_ARG, "body '%s' follows its definition (define it with live = 1 to move it)",
                       (*out)->name);
    return TL_OK;
}

tl_status tl_body_set_pose(tl_sim *sim, tl_body_id id, const tl_motion_key *pose, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    sim_body *b;
    TL_TRY(find_live_body(sim, id, &b, err));
    TL_TRY(aim(sim, b->name, pose, &b->live, b->motion, err));
    changed(sim);
    return TL_OK;
}

tl_status tl_body_set_positions(tl_sim *sim, tl_body_id id, const tl_vec3 *pos, int32_t count, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    sim_body *b;
    TL_TRY(find_live_body(sim, id, &b, err));
    if (b->key_count != 2)
        return tl_fail(err, TL_BAD_ARG, "body '%s' is a plane or a character, which have no positions to set", b->name);
    if (!pos || count != b->node_count)
        return tl_fail(err, TL_BAD_ARG, "body '%s': %d positions, it has %d nodes", b->name, pos ? count : 0,
                       b->node_count);
    for (int32_t i = 0; i < count; i++)
        if (!tl_finite3(pos[i])) return tl_fail(err, TL_BAD_ARG, "body '%s': position %d is not finite", b->name, i);
    const size_t n = (size_t)count;
    if (b->key_time[0] != sim->time) memcpy(b->shape, b->shape + n, n * sizeof *pos);
    memcpy(b->shape + n, pos, n * sizeof *pos);
    b->key_time[0] = sim->time, b->key_time[1] = sim->time + sim->def.dt;
    changed(sim);
    return TL_OK;
}

tl_status tl_body_remove(tl_sim *sim, tl_body_id id, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    const int32_t i = sim_ids_place(&sim->body_ids, id.slot, id.gen);
    if (i == TL_NO_PLACE)
        return tl_fail(err, TL_BAD_ARG, "no such body (slot %u, generation %u): it was removed", id.slot, id.gen);
    sim_discard(sim);
    sim_free_body(sim, &sim->bodies[i]);
    memmove(&sim->bodies[i], &sim->bodies[i + 1], (size_t)(--sim->body_count - i) * sizeof *sim->bodies);
    sim_ids_drop(&sim->body_ids, i);
    return TL_OK;
}

tl_status tl_cloth_remove(tl_sim *sim, tl_cloth_id id, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    const int32_t c = sim_ids_place(&sim->cloth_ids, id.slot, id.gen);
    if (c == TL_NO_PLACE)
        return tl_fail(err, TL_BAD_ARG, "no such cloth (slot %u, generation %u): it was removed", id.slot, id.gen);
    sim_discard(sim);
    for (int32_t i = sim->handle_count - 1; i >= 0; i--) {
        if (sim->handles[i].cloth == c)
            drop_handle(sim, i);
        else
            sim->handles[i].cloth -= sim->handles[i].cloth > c;
    }
    sim_free_cloth(sim, &sim->cloths[c]);
    memmove(&sim->cloths[c], &sim->cloths[c + 1], (size_t)(--sim->cloth_count - c) * sizeof *sim->cloths);
    sim_ids_drop(&sim->cloth_ids, c);
    return TL_OK;
}

// ---- springs -----------------------------------------------------------------------------------------------

void sim_free_springs(tl_sim *sim, sim_cloth *cloth)
{
    TL_FREE(&sim->alloc, cloth->spring, cloth->spring_count);
    TL_FREE(&sim->alloc, cloth->spring_to, cloth->spring_count);
    cloth->spring_count = 0;
}

bool sim_has_springs(const tl_sim *sim)
{
    for (int32_t c = 0; c < sim->cloth_count; c++)
        if (sim->cloths[c].spring_count > 0) return true;
    return false;
}

// A node that a fading handle pulls as well goes to the mean of both places.
bool sim_add_springs(const tl_sim *sim, bool any, double *pull, tl_vec3 *pull_to)
{
    const tl_elements *e = sim->elements;
    for (int32_t n = 0; !any && n < e->node_count; n++) pull[n] = 0, pull_to[n] = (tl_vec3){0, 0, 0};
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const sim_cloth *cloth = &sim->cloths[c];
        for (int32_t i = 0; i < cloth->spring_count; i++) {
            const int32_t n = e->node_of[e->cloth_node_start[c] + i];
            const double k = cloth->spring[i];
            if (n == TL_NONE || !(k > 0)) continue;
            const double before = pull[n];
            pull_to[n] = before > 0
                             ? tl_mul3(1 / (before + k), tl_madd3(tl_mul3(before, pull_to[n]), k, cloth->spring_to[i]))
                             : cloth->spring_to[i];
            pull[n] = before + k;
            any = true;
        }
    }
    return any;
}

tl_status tl_cloth_set_springs(tl_sim *sim, tl_cloth_id id, const double *stiffness, const tl_vec3 *to, int32_t count,
                               tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    const int32_t c = sim_ids_place(&sim->cloth_ids, id.slot, id.gen);
    if (c == TL_NO_PLACE)
        return tl_fail(err, TL_BAD_ARG, "no such cloth (slot %u, generation %u): it was removed", id.slot, id.gen);
    sim_cloth *cloth = &sim->cloths[c];
    if (!stiffness && !to) {
        sim_free_springs(sim, cloth);
        changed(sim);
        return TL_OK;
    }
    if (!stiffness || !to || count != cloth->mesh->slots[TL_NODES].count)
        return tl_fail(err, TL_BAD_ARG, "springs of cloth '%s': %d of them, it has %d nodes", cloth->name,
                       stiffness && to ? count : 0, cloth->mesh->slots[TL_NODES].count);
    if (sim->def.dynamics != TL_DYNAMICS_IMPLICIT)
        return tl_fail(err, TL_BAD_ARG, "springs of cloth '%s' to places go with dynamics implicit alone", cloth->name);
    if (cloth->remeshing.kind != TL_REMESHING_NONE)
        return tl_fail(err, TL_BAD_ARG, "springs of cloth '%s': its mesh may change (remeshing.kind none)",
                       cloth->name);
    for (int32_t i = 0; i < count; i++)
        if (!(stiffness[i] >= 0 && isfinite(stiffness[i])) || !tl_finite3(to[i]))
            return tl_fail(err, TL_BAD_ARG,
                           "springs of cloth '%s': node %d has stiffness %g, or a place that is not finite",
                           cloth->name, i, stiffness[i]);
    if (cloth->spring_count != count) {
        double *spring = TL_ALLOC(&sim->alloc, double, count);
        tl_vec3 *place = TL_ALLOC(&sim->alloc, tl_vec3, count);
        if (!spring || !place) {
            TL_FREE(&sim->alloc, spring, count);
            TL_FREE(&sim->alloc, place, count);
            return tl_fail_memory(err, "springs");
        }
        sim_free_springs(sim, cloth);
        cloth->spring = spring, cloth->spring_to = place, cloth->spring_count = count;
    }
    memcpy(cloth->spring, stiffness, (size_t)count * sizeof *stiffness);
    memcpy(cloth->spring_to, to, (size_t)count * sizeof *to);
    changed(sim);
    return TL_OK;
}

tl_status tl_sim_slow(tl_sim *sim, double keep, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    if (!(keep >= 0 && keep <= 1)) return tl_fail(err, TL_BAD_ARG, "slow: %g, must be in [0, 1]", keep);
    TL_TRY(sim_compile(sim, err));
    for (int32_t i = 0; i < sim->node_count; i++) {
        sim->v[i] = tl_mul3(keep, sim->v[i]);
        if (sim->v_before) sim->v_before[i] = tl_mul3(keep, sim->v_before[i]);
    }
    sim_publish(sim);
    changed(sim);
    return TL_OK;
}

// ---- the world ---------------------------------------------------------------------------------------------

tl_status tl_sim_set_gravity(tl_sim *sim, tl_vec3 gravity, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    if (!tl_finite3(gravity)) return tl_fail(err, TL_BAD_ARG, "gravity is not finite");
    sim->def.gravity = gravity;
    changed(sim);
    return TL_OK;
}

tl_status tl_sim_set_wind(tl_sim *sim, tl_vec3 wind, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    if (!tl_finite3(wind)) return tl_fail(err, TL_BAD_ARG, "wind is not finite");
    if (sim->wind_keys) TL_FREE(&sim->alloc, sim->wind_keys, sim->def.air.key_count);
    sim->wind_keys = NULL, sim->def.air.keys = NULL, sim->def.air.key_count = 0;
    sim->def.air.wind = wind;
    changed(sim);
    return TL_OK;
}

tl_status tl_sim_set_dt(tl_sim *sim, double dt, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    if (!(isfinite(dt) && dt > 0 && dt <= SIM_LONGEST_STEP))
        return tl_fail(err, TL_BAD_ARG, "dt %g s, must be > 0 and at most %g", dt, SIM_LONGEST_STEP);
    sim->clock_time = sim->time, sim->clock_step = sim->step;
    sim->def.dt = dt;
    changed(sim);
    return TL_OK;
}

// ---- versions of a mesh --------------------------------------------------------------------------------------

uint64_t tl_cloth_version(const tl_sim *sim, tl_cloth_id id)
{
    const int32_t c = sim_ids_place(&sim->cloth_ids, id.slot, id.gen);
    return c == TL_NO_PLACE ? 0 : sim->cloths[c].version + 1;
}

tl_status tl_cloth_map(const tl_sim *sim, tl_cloth_id id, uint64_t version, int32_t *new_of_old, int32_t count,
                       tl_error *err)
{
    const int32_t c = sim_ids_place(&sim->cloth_ids, id.slot, id.gen);
    if (c == TL_NO_PLACE || !new_of_old || count < 0)
        return tl_fail(err, TL_BAD_ARG, "cloth_map: no such cloth, or nowhere to write");
    const sim_cloth *cloth = &sim->cloths[c];
    const tl_mesh *mesh = cloth->mesh;
    const int32_t *origin = tl_mesh_attr_ints(mesh, TL_NODES, tl_mesh_attr_find(mesh, TL_NODES, "origin"));
    if (version != cloth->version || version == 0 || cloth->map_lost || !origin)
        return tl_fail(err, TL_BAD_ARG,
                       "cloth_map: the mesh is of version %llu, a map is there from the one before alone",
                       (unsigned long long)(cloth->version + 1));
    for (int32_t i = 0; i < count; i++) new_of_old[i] = -1;
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++)
        if (tl_alive(mesh, TL_NODES, n) && origin[n] > 0 && origin[n] <= count) new_of_old[origin[n] - 1] = n;
    return TL_OK;
}
