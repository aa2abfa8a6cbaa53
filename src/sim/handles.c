// sim/handles.c: selecting nodes, holding them, moving them along a path, releasing them.

#include <math.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "math/elementary.h"
#include "sim/internal.h"
#include "toile/live.h"

void tl_handle_def_init(tl_handle_def *def, size_t size)
{
    const tl_handle_def defaults = {.end = (double)INFINITY, .stiffness = 1e3, .tension = 20};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

static bool inside3(tl_vec3 p, tl_vec3 low, tl_vec3 high)
{
    return p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y && p.z >= low.z && p.z <= high.z;
}

// A node on a seam counts as inside a material box if any of its vertices is.
static bool inside_uv(const tl_mesh *mesh, int32_t node, tl_vec2 low, tl_vec2 high)
{
    const int32_t first = mesh->node_vert[node];
    int32_t v = first;
    do {
        const tl_vec2 p = mesh->uv[v];
        if (p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y) return true;
        v = mesh->vert_next[v];
    } while (v != first);
    return false;
}

static bool chosen(const tl_handle_def *def, const tl_mesh *mesh, const uint8_t *listed, int32_t n)
{
    if (def->nodes && !listed[n]) return false;
    if (def->label != 0 && mesh->node_label[n] != def->label) return false;
    if (def->use_box && !inside3(mesh->pos[n], def->box_min, def->box_max)) return false;
    if (def->use_sphere && !(tl_norm3(tl_sub3(mesh->pos[n], def->sphere_center)) <= def->sphere_radius)) return false;
    if (def->use_uv_box && !inside_uv(mesh, n, def->uv_min, def->uv_max)) return false;
    return true;
}

static tl_status check_handle(const tl_sim *sim, const tl_handle_def *def, tl_error *err)
{
    const sim_cloth *cloth = sim_find_cloth(sim, def->cloth);
    if (!cloth) return tl_fail(err, TL_BAD_ARG, "handle: no such cloth");
    if (def->live && (def->key_count > 0 || def->fade > 0))
        return tl_fail(err, TL_BAD_INPUT, "handle: a live one has neither keys nor a fade");
    if (!def->nodes && def->label == 0 && !def->use_box && !def->use_sphere && !def->use_uv_box)
        return tl_fail(err, TL_BAD_INPUT, "handle: give nodes, a label or a region");
    if (isnan(def->start) || isnan(def->end) || !(def->end > def->start))
        return tl_fail(err, TL_BAD_INPUT, "handle: end %g s, must be after start %g s", def->end, def->start);
    if (!(def->fade >= 0 && isfinite(def->fade)))
        return tl_fail(err, TL_BAD_INPUT, "handle: fade %g s, must be >= 0", def->fade);
    if (!(def->stiffness > 0 && isfinite(def->stiffness)))
        return tl_fail(err, TL_BAD_INPUT, "handle: stiffness %g N/m, must be > 0", def->stiffness);
    if (def->use_ellipse &&
        !(tl_finite3(def->ellipse_center) && tl_finite3(def->ellipse_axis[0]) && tl_finite3(def->ellipse_axis[1]) &&
          isfinite(def->ellipse_turns.x) && isfinite(def->ellipse_turns.y)))
        return tl_fail(err, TL_BAD_INPUT, "handle: the ellipse is not finite");
    if (def->use_sphere && !(def->sphere_radius > 0))
        return tl_fail(err, TL_BAD_INPUT, "handle: sphere_radius %g m, must be > 0", def->sphere_radius);
    TL_TRY(tl_motion_check("handle", def->keys, def->key_count, err));
    if (def->curve != TL_CURVE_SMOOTH && def->curve != TL_CURVE_CUBIC)
        return tl_fail(err, TL_BAD_INPUT, "handle: curve %d is none of ours", (int)def->curve);
    const tl_mesh *mesh = cloth->mesh;
    for (int32_t i = 0; def->nodes && i < def->node_count; i++)
        if (def->nodes[i] < 0 || def->nodes[i] >= mesh->slots[TL_NODES].count ||
            !tl_alive(mesh, TL_NODES, def->nodes[i]))
            return tl_fail(err, TL_BAD_INPUT, "handle: node %d, the cloth has nodes 0 to %d", def->nodes[i],
                           mesh->slots[TL_NODES].count - 1);
    return TL_OK;
}

void sim_free_handle(tl_sim *sim, sim_handle *h)
{
    TL_FREE(&sim->alloc, h->nodes, h->node_count);
    TL_FREE(&sim->alloc, h->base, h->node_count);
    TL_FREE(&sim->alloc, h->keys, h->key_count);
    sim_free_ties(sim, h);
}

tl_status tl_sim_add_handle(tl_sim *sim, const tl_handle_def *def, tl_error *err)
{
    tl_handle_id unused;
    return tl_handle_create(sim, def, &unused, err);
}

tl_status tl_handle_create(tl_sim *sim, const tl_handle_def *given, tl_handle_id *out, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    *out = (tl_handle_id){0, 0};
    TL_DEF_COMPLETE(tl_handle_def, complete, given, err);
    const tl_handle_def *def = &complete;
    TL_TRY(check_handle(sim, def, err));
    const int32_t cloth = sim_ids_place(&sim->cloth_ids, def->cloth.slot, def->cloth.gen);
    const tl_mesh *mesh = sim->cloths[cloth].mesh;
    const int32_t slots = mesh->slots[TL_NODES].count;
    if (sim->elements) sim_publish(sim);
    if (!TL_GROW(&sim->alloc, sim->handles, sim->handle_cap, sim->handle_count + 1) ||
        !sim_ids_reserve(&sim->alloc, &sim->handle_ids))
        return tl_fail_memory(err, "a handle");
    sim_handle h = {.cloth = cloth,
                    .start = def->start,
                    .end = def->end,
                    .fade = def->fade,
                    .stiffness = def->stiffness,
                    .pivot = def->pivot,
                    .use_ellipse = def->use_ellipse != 0,
                    .turns = def->ellipse_turns,
                    .ellipse = {def->ellipse_center, def->ellipse_axis[0], def->ellipse_axis[1]},
                    .key_count = def->live ? 2 : def->key_count,
                    .is_live = def->live != 0,
                    .by_name = def->nodes && !def->along_outline,
                    .on_line = def->nodes && def->along_outline};
    uint8_t *listed = TL_CALLOC(&sim->alloc, uint8_t, slots);
    tl_status status = listed ? TL_OK : tl_fail_memory(err, "a handle");
    if (status == TL_OK) {
        for (int32_t i = 0; def->nodes && i < def->node_count; i++) listed[def->nodes[i]] = 1;
        for (int32_t n = 0; n < slots; n++) h.node_count += tl_alive(mesh, TL_NODES, n) && chosen(def, mesh, listed, n);
        if (h.node_count == 0)
            status = tl_fail(err, TL_BAD_INPUT, "handle: no node of cloth '%s' is selected", sim->cloths[h.cloth].name);
    }
    if (status == TL_OK) {
        h.nodes = TL_ALLOC(&sim->alloc, int32_t, h.node_count);
        h.base = TL_CALLOC(&sim->alloc, tl_vec3, h.node_count);
        h.keys = TL_CALLOC(&sim->alloc, tl_pose_key, h.key_count);
        if (!h.nodes || !h.base || !h.keys) status = tl_fail_memory(err, "a handle");
    }
    if (status != TL_OK) {
        TL_FREE(&sim->alloc, listed, slots);
        sim_free_handle(sim, &h);
        return status;
    }
    int32_t count = 0;
    for (int32_t n = 0; n < slots; n++)
        if (tl_alive(mesh, TL_NODES, n) && chosen(def, mesh, listed, n)) h.nodes[count++] = n;
    if (h.is_live)
        sim_live_init(&h.live, h.keys);
    else
        tl_motion_compile(def->keys, def->key_count, def->curve, h.keys);
    for (int32_t i = 0; i < def->key_count; i++)
        if (def->keys[i].release) h.end = fmin(h.end, def->keys[i].time);
    TL_FREE(&sim->alloc, listed, slots);
    status = sim_make_ties(sim, def, &h, err);
    if (status != TL_OK) {
        sim_free_handle(sim, &h);
        return status;
    }
    sim->handles[sim->handle_count++] = h;
    sim->epoch_open = false;
    const sim_id id = sim_ids_take(&sim->handle_ids, sim->handle_count - 1);
    *out = (tl_handle_id){id.slot, id.gen};
    return TL_OK;
}

tl_vec3 sim_handle_base(const tl_sim *sim, const sim_handle *h, int32_t slot, tl_vec3 now)
{
    if (!h->use_ellipse) return now;
    const tl_mesh *mesh = sim->cloths[h->cloth].mesh;
    const double angle = 2 * 3.14159265358979323846 * tl_dot2(h->turns, mesh->uv[mesh->node_vert[slot]]);
    return tl_madd3(tl_madd3(h->ellipse[0], tl_cos(angle), h->ellipse[1]), tl_sin(angle), h->ellipse[2]);
}

bool sim_fade_handles(const tl_sim *sim, double begin, double end, double *pull, tl_vec3 *pull_to)
{
    const tl_elements *e = sim->elements;
    const double slack = 1e-9 * (end - begin);
    bool any = false;
    for (int32_t i = 0; i < sim->handle_count; i++) {
        const sim_handle *h = &sim->handles[i];
        const double left = h->end + h->fade - end;
        if (h->ties || !h->took_hold || !(h->end <= begin + slack) || !(left > 0)) continue;
        for (int32_t n = 0; !any && n < e->node_count; n++) pull[n] = 0, pull_to[n] = (tl_vec3){0, 0, 0};
        any = true;
        const int32_t *node_of = e->node_of + e->cloth_node_start[h->cloth];
        for (int32_t k = 0; k < h->node_count; k++) {
            const int32_t node = node_of[h->nodes[k]];
            pull[node] = h->stiffness * left / h->fade;
            pull_to[node] = tl_pose_apply(h->keys, h->key_count, end, h->pivot, h->base[k]);
        }
    }
    return any;
}

// Cloth in the way of a handle keeps it from its target. When the cloth gives way, the handle catches up at this speed
// in addition to its own, not at once: a centimetre in a 64th of 1/100 s would be 64 m/s.
#define CATCH_UP 1.0  // [m/s]

static tl_vec3 on_the_way(const tl_sim *sim, const sim_handle *h, tl_vec3 base, tl_vec3 from, double begin, double end,
                          tl_vec3 to)
{
    const double more = CATCH_UP * (end - begin), way = tl_norm3(tl_sub3(to, from));
    if (!sim->contacts || !(way > more) || !(h->since < begin)) return to;  // the first step may be a jump
    const double own = tl_norm3(tl_sub3(to, tl_pose_apply(h->keys, h->key_count, begin, h->pivot, base)));
    return way > own + more ? tl_madd3(from, (own + more) / way, tl_sub3(to, from)) : to;
}

tl_vec3 sim_handle_lag(const tl_sim *sim, const sim_handle *h, int32_t k, double time)
{
    const int32_t node = sim->elements->node_of[sim->elements->cloth_node_start[h->cloth] + h->nodes[k]];
    const tl_vec3 lag = tl_sub3(tl_pose_apply(h->keys, h->key_count, time, h->pivot, h->base[k]), sim->x[node]);
    return tl_norm3(lag) > TL_LAG ? lag : (tl_vec3){0, 0, 0};
}

// A fading handle pulls towards where it was stopped, not where it should have been: over a lag of 10 cm each spring
// would pull with 100 N.
static void let_go(const tl_sim *sim, sim_handle *h, double time)
{
    const tl_pose pose = tl_pose_at(h->keys, h->key_count, time);
    const int32_t *node_of = sim->elements->node_of + sim->elements->cloth_node_start[h->cloth];
    for (int32_t k = 0; k < h->node_count; k++)
        if (tl_norm3(sim_handle_lag(sim, h, k, time)) > 0)
            h->base[k] = tl_pose_back(&pose, h->pivot, sim->x[node_of[h->nodes[k]]]);
    h->let_go = true;
}

void sim_drive_handles(tl_sim *sim, double begin, double end, tl_vec3 *target)
{
    tl_elements *e = sim->elements;
    const double slack = 1e-9 * (end - begin);  // a key on a step's edge counts for the step after it
    for (int32_t i = 0; i < sim->handle_count; i++) {
        sim_handle *h = &sim->handles[i];
        if (h->ties) continue;
        if (h->took_hold && !h->let_go && h->fade > 0 && h->end <= begin + slack) let_go(sim, h, begin);
        if (!(h->start <= begin + slack && begin + slack < h->end)) continue;
        const int32_t *node_of = e->node_of + e->cloth_node_start[h->cloth];
        if (!h->took_hold) {
            for (int32_t k = 0; k < h->node_count; k++)
                h->base[k] = sim_handle_base(sim, h, h->nodes[k], sim->x[node_of[h->nodes[k]]]);
            h->took_hold = true, h->since = begin;
        }
        for (int32_t k = 0; k < h->node_count; k++) {
            const int32_t node = node_of[h->nodes[k]];
            tl_elements_mark_fixed(e, node);
            const tl_vec3 to = tl_pose_apply(h->keys, h->key_count, end, h->pivot, h->base[k]);
            target[node] = on_the_way(sim, h, h->base[k], sim->x[node], begin, end, to);
        }
    }
    if (tl_elements_take_marks(e)) sim->shape_changed = true;
}
