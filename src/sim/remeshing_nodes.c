// sim/remeshing_nodes.c: carries data of nodes that are not part of the mesh through a pass of remeshing.
//
// They become attributes: the former node, whether it is pinched, which handles hold it and how far they are from their
// targets, and for BDF2 the previous state.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_order.h"
#include "sim/remeshing_impl.h"

// ---- before the pass --------------------------------------------------------------------------------------

static tl_status add_attribute(tl_mesh *mesh, const char *name, tl_attr_rule rule, int32_t *index, tl_error *err)
{
    *index = tl_mesh_attr_find(mesh, TL_NODES, name);
    return *index != TL_NONE ? TL_OK : tl_mesh_attr_add(mesh, TL_NODES, name, TL_INT32, 1, rule, index, err);
}

// BDF2 needs the previous step. Carried over are the change of velocity since then, and the difference between the
// displacement and what the velocity implies: a new node gets the mean of its neighbours wherever it was placed, and
// restored momentum counts for both times.
static tl_status load_past(tl_sim *sim, int32_t c, tl_error *err)
{
    tl_mesh *mesh = sim->cloths[c].mesh;
    if (!sim->x_before) return TL_OK;
    int32_t index = tl_mesh_attr_find(mesh, TL_NODES, "past");
    if (index == TL_NONE) TL_TRY(tl_mesh_attr_add(mesh, TL_NODES, "past", TL_DOUBLE, 6, TL_ATTR_MEAN, &index, err));
    const tl_elements *e = sim->elements;
    double *past = tl_mesh_attr_doubles(mesh, TL_NODES, index);
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        const int32_t i = e->node_of[e->cloth_node_start[c] + n];
        if (i == TL_NONE) continue;
        const tl_vec3 dx = tl_madd3(tl_sub3(sim->x[i], sim->x_before[i]), -sim->dt_before, sim->v[i]);
        const tl_vec3 dv = tl_sub3(sim->v[i], sim->v_before[i]);
        memcpy(past + 6 * (size_t)n, &dx, sizeof dx), memcpy(past + 6 * (size_t)n + 3, &dv, sizeof dv);
    }
    return TL_OK;
}

static bool holds_now(const tl_sim *sim, const sim_handle *h) { return h->took_hold && sim->time < h->end; }

// Lag of handles that cloth keeps from their targets: new nodes between held ones get an interpolated lag. If several
// handles hold a node, the last one counts.
static tl_status load_lag(tl_sim *sim, int32_t c, int32_t *index, tl_error *err)
{
    tl_mesh *mesh = sim->cloths[c].mesh;
    *index = tl_mesh_attr_find(mesh, TL_NODES, "lag");
    if (*index == TL_NONE) TL_TRY(tl_mesh_attr_add(mesh, TL_NODES, "lag", TL_DOUBLE, 3, TL_ATTR_MEAN, index, err));
    tl_vec3 *lag = (tl_vec3 *)tl_mesh_attr_doubles(mesh, TL_NODES, *index);
    memset(lag, 0, (size_t)mesh->slots[TL_NODES].count * sizeof *lag);
    for (int32_t h = 0; h < sim->handle_count; h++) {
        const sim_handle *handle = &sim->handles[h];
        for (int32_t k = 0; handle->cloth == c && holds_now(sim, handle) && k < handle->node_count; k++)
            lag[handle->nodes[k]] = sim_handle_lag(sim, handle, k, sim->time);
    }
    return TL_OK;
}

tl_status remeshing_load_nodes(tl_sim *sim, int32_t c, carried *out, tl_error *err)
{
    tl_mesh *mesh = sim->cloths[c].mesh;
    TL_TRY(tl_adapt_attach_groups(mesh, sim->handle_count, &out->groups, err));  // first: it may move others
    TL_TRY(load_past(sim, c, err));
    TL_TRY(load_lag(sim, c, &out->lag, err));
    TL_TRY(add_attribute(mesh, "origin", TL_ATTR_ZERO, &out->origin, err));
    TL_TRY(
        add_attribute(mesh, "free", TL_ATTR_BOTH, &out->free, err));  // a new node is pinched if an end of its edge is
    const int32_t count = mesh->slots[TL_NODES].count, words = mesh->slots[TL_NODES].attrs[out->groups.held].width;
    int32_t *held = tl_mesh_attr_ints(mesh, TL_NODES, out->groups.held),
            *listed = tl_mesh_attr_ints(mesh, TL_NODES, out->groups.listed);
    int32_t *origin = tl_mesh_attr_ints(mesh, TL_NODES, out->origin),
            *is_free = tl_mesh_attr_ints(mesh, TL_NODES, out->free);
    memset(held, 0, (size_t)count * (size_t)words * sizeof *held);
    memset(listed, 0, (size_t)count * (size_t)words * sizeof *listed);
    for (int32_t h = 0; h < sim->handle_count; h++) {
        const sim_handle *handle = &sim->handles[h];
        const bool over = sim->time >= handle->end + handle->fade;  // it will hold nothing any more
        for (int32_t k = 0; handle->cloth == c && !over && k < handle->node_count; k++)
            (handle->by_name ? listed : held)[handle->nodes[k] * words + h / 32] |= (int32_t)(UINT32_C(1) << (h % 32));
    }
    const tl_elements *e = sim->elements;
    const uint8_t *is_pinched = sim->contacts ? tl_contacts_pinched(sim->contacts) : NULL;
    for (int32_t n = 0; n < count; n++) {
        origin[n] = n + 1;
        const int32_t node = e->node_of[e->cloth_node_start[c] + n];
        is_free[n] = !(is_pinched && node != TL_NONE && is_pinched[node]);
    }
    return TL_OK;
}

// ---- handles ----------------------------------------------------------------------------------------------

static tl_vec3 pose_back(const sim_handle *h, double time, tl_vec3 x)
{
    if (h->key_count == 0) return x;
    const tl_pose pose = tl_pose_at(h->keys, h->key_count, time);
    return tl_pose_back(&pose, h->pivot, x);
}

static tl_status renew_handle(tl_sim *sim, int32_t h, const carried *carry, tl_error *err)
{
    sim_handle *handle = &sim->handles[h];
    const tl_mesh *mesh = sim->cloths[handle->cloth].mesh;
    const int32_t count = mesh->slots[TL_NODES].count, words = mesh->slots[TL_NODES].attrs[carry->groups.held].width;
    const int32_t *bits =
        tl_mesh_attr_ints(mesh, TL_NODES, handle->by_name ? carry->groups.listed : carry->groups.held);
    const int32_t *origin = tl_mesh_attr_ints(mesh, TL_NODES, carry->origin);
    const tl_vec3 *lag = (const tl_vec3 *)tl_mesh_attr_doubles(mesh, TL_NODES, carry->lag);
    int32_t old_count = 0, made = 0;
    for (int32_t k = 0; k < handle->node_count; k++)
        old_count = handle->nodes[k] >= old_count ? handle->nodes[k] + 1 : old_count;
    int32_t *old = TL_SCRATCH(&sim->arena, int32_t, old_count);  // place in the handle of a node that was
    if (!old) return tl_fail_memory(err, "a handle");
    for (int32_t k = 0; k < handle->node_count; k++) old[handle->nodes[k]] = k;
    const int32_t word = h / 32;
    const uint32_t bit = UINT32_C(1) << (h % 32);
    for (int32_t n = 0; n < count; n++)
        made += tl_alive(mesh, TL_NODES, n) && ((uint32_t)bits[n * words + word] & bit) != 0;
    int32_t *nodes = TL_ALLOC(&sim->alloc, int32_t, made);
    tl_vec3 *base = TL_ALLOC(&sim->alloc, tl_vec3, made);
    if (!nodes || !base) {
        TL_FREE(&sim->alloc, nodes, made);
        TL_FREE(&sim->alloc, base, made);
        return tl_fail_memory(err, "a handle");
    }
    int32_t k = 0;
    for (int32_t n = 0; n < count; n++) {
        if (!tl_alive(mesh, TL_NODES, n) || !((uint32_t)bits[n * words + word] & bit)) continue;
        nodes[k] = n;
        const tl_vec3 there = holds_now(sim, handle) ? tl_add3(mesh->pos[n], lag[n]) : mesh->pos[n];
        base[k++] = origin[n] > 0 ? handle->base[old[origin[n] - 1]]
                                  : sim_handle_base(sim, handle, n, pose_back(handle, sim->time, there));
    }
    TL_FREE(&sim->alloc, handle->nodes, handle->node_count);
    TL_FREE(&sim->alloc, handle->base, handle->node_count);
    handle->nodes = nodes, handle->base = base, handle->node_count = made;
    return TL_OK;
}

// Without memory: only removed nodes are released.
static void keep_living(const tl_mesh *mesh, sim_handle *h)
{
    for (int32_t k = 0; k < h->node_count; k++) {
        if (tl_alive(mesh, TL_NODES, h->nodes[k])) continue;
        for (int32_t i = 0; i < h->node_count; i++) {  // lists keep their length: another one, held twice, does no harm
            if (!tl_alive(mesh, TL_NODES, h->nodes[i])) continue;
            h->nodes[k] = h->nodes[i], h->base[k] = h->base[i];
            break;
        }
    }
}

static tl_status renumber(tl_sim *sim, int32_t c, tl_error *err)
{
    sim_cloth *cloth = &sim->cloths[c];
    tl_renumbering map;
    TL_TRY(tl_mesh_reorder(cloth->mesh, TL_ORDER_MATERIAL, sim->workers, &map, err));
    for (int32_t h = 0; h < sim->handle_count; h++)
        for (int32_t k = 0; sim->handles[h].cloth == c && k < sim->handles[h].node_count; k++)
            sim->handles[h].nodes[k] = map.to[TL_NODES][sim->handles[h].nodes[k]];
    if (cloth->adapter->renumber) cloth->adapter->renumber(cloth->adapter_self, &map);
    tl_renumbering_free(cloth->mesh, &map);
    cloth->version++, cloth->map_lost = false;
    return TL_OK;
}

tl_status remeshing_settle(tl_sim *sim, int32_t c, const carried *carry, tl_error *err)
{
    tl_mesh *mesh = sim->cloths[c].mesh;
    tl_status status = TL_OK;
    for (int32_t h = 0; h < sim->handle_count; h++) {
        if (sim->handles[h].cloth != c) continue;
        const tl_status renewed = renew_handle(sim, h, carry, err);
        if (renewed != TL_OK) keep_living(mesh, &sim->handles[h]), status = renewed;
    }
    const tl_status renumbered = renumber(sim, c, err);
    sim->dead_slots = sim->dead_slots || renumbered != TL_OK;
    return renumbered != TL_OK ? renumbered : status;
}

static bool has_dead_slots(const tl_mesh *mesh)
{
    for (int d = 0; d < TL_DOMAIN_COUNT; d++)
        if (mesh->slots[d].live != mesh->slots[d].count) return true;
    return false;
}

tl_status sim_renumber_rest(tl_sim *sim, tl_error *err)
{
    for (int32_t c = 0; c < sim->cloth_count; c++)
        if (has_dead_slots(sim->cloths[c].mesh)) TL_TRY(renumber(sim, c, err));
    sim->dead_slots = false;
    return TL_OK;
}

// ---- after it ---------------------------------------------------------------------------------------------

static void restore_past(tl_sim *sim, double dt_before)
{
    if (!sim->x_before || !(dt_before > 0)) return;
    const tl_elements *e = sim->elements;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        const double *past = tl_mesh_attr_doubles(mesh, TL_NODES, tl_mesh_attr_find(mesh, TL_NODES, "past"));
        for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
            const int32_t i = e->node_of[e->cloth_node_start[c] + n];
            if (i == TL_NONE) continue;
            tl_vec3 dx, dv;
            memcpy(&dx, past + 6 * (size_t)n, sizeof dx), memcpy(&dv, past + 6 * (size_t)n + 3, sizeof dv);
            sim->x_before[i] = tl_sub3(tl_madd3(sim->x[i], -dt_before, sim->v[i]), dx),
            sim->v_before[i] = tl_sub3(sim->v[i], dv);
        }
    }
    sim->dt_before = dt_before;
}

// Pinched nodes: from the attributes of meshes that changed, else from the former state.
static void restore_pinched(tl_sim *sim)
{
    if (!sim->contacts) return;
    const tl_elements *e = sim->elements;
    uint8_t *out = tl_contacts_pinched(sim->contacts);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        const int32_t *is_free = tl_mesh_attr_ints(mesh, TL_NODES, tl_mesh_attr_find(mesh, TL_NODES, "free"));
        for (int32_t n = 0; is_free && n < mesh->slots[TL_NODES].count; n++)
            if (tl_alive(mesh, TL_NODES, n)) out[e->node_of[e->cloth_node_start[c] + n]] = !is_free[n];
    }
    tl_contacts_count_pinched(sim->contacts);
}

void remeshing_restore_nodes(tl_sim *sim, double dt_before)
{
    restore_pinched(sim);
    restore_past(sim, dt_before);
}
