// viewer/live_hand.c: what the pointer does to a running simulation: pulls cloth, carries bodies, sets and moves pins.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live_impl.h"
#include "toile/query.h"

#define REACH 1e3        // [m] of a ray
#define CARRY_SPEED 1.5  // [m/s] of a body that the pointer has
#define PIN_REACH 0.03   // [m]: a pull that begins so near to a pin takes hold of the pin

static bool carried_before(const view_live *live, tl_body_id body)
{
    for (int32_t i = 0; i < live->mine_count && i < MAX_PINS; i++)
        if (live->mine[i].slot == body.slot && live->mine[i].gen == body.gen) return true;
    return false;
}

// A body that stands still becomes one that can be carried about, with the usual friction.
static void take_body(view_live *live, const tl_hit *hit)
{
    tl_body_view view;
    tl_body_id body = hit->body;
    if (tl_sim_body_view(live->sim, body, &view) != TL_OK || (view.moves && !carried_before(live, body))) return;
    const bool plane = view.node_count == 4 && view.face_count == 2;
    char name[64];
    snprintf(name, sizeof name, "%s", tl_sim_body_name(live->sim, body));
    tl_vec3 *pos = malloc((size_t)view.node_count * sizeof *pos);
    int32_t(*face)[3] = malloc((size_t)view.face_count * sizeof *face);
    if (pos && face && !plane) {
        memcpy(pos, view.pos, (size_t)view.node_count * sizeof *pos);
        memcpy(face, view.face, (size_t)view.face_count * sizeof *face);
        tl_body_def def = tl_body_def_default();
        def.name = name, def.kind = TL_BODY_MESH, def.live = 1;
        def.node_count = view.node_count, def.pos = pos;
        def.face_count = view.face_count, def.face = (const int32_t(*)[3])face;
        if (tl_body_remove(live->sim, body, NULL) == TL_OK && tl_sim_add_body(live->sim, &def, &body, NULL) == TL_OK) {
            live->mine[live->mine_count++ % MAX_PINS] = body;
            live->carried = body, live->at = (tl_vec3){0};
            live->grabbed = live->target = hit->point;
            live->grab = HELD;
        }
    }
    free(pos), free(face);
}

// A step of the carried body's way towards the pointer.
static void carry(view_live *live)
{
    const double step = CARRY_SPEED / (tl_scene_fps(live->scene) * tl_scene_steps_per_frame(live->scene));
    const tl_vec3 way = {live->target.x - live->grabbed.x - live->at.x, live->target.y - live->grabbed.y - live->at.y,
                         live->target.z - live->grabbed.z - live->at.z};
    const double far = sqrt(way.x * way.x + way.y * way.y + way.z * way.z), part = far > step ? step / far : 1;
    live->at.x += part * way.x, live->at.y += part * way.y, live->at.z += part * way.z;
    const tl_motion_key pose = {.translate = live->at, .scale = 1};
    tl_body_set_pose(live->sim, live->carried, &pose, NULL);
}

static double far_apart(tl_vec3 a, tl_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static bool take_pin(view_live *live, tl_vec3 point)
{
    live->taken = -1;
    double nearest = PIN_REACH;
    for (int32_t i = 0; i < live->state.pins; i++)
        if (far_apart(live->pins[i].at, point) < nearest) nearest = far_apart(live->pins[i].at, point), live->taken = i;
    if (live->taken < 0) return false;
    const view_pin *p = &live->pins[live->taken];
    live->held = p->handle, live->grabbed = p->base, live->target = p->at;
    live->grab = HELD;
    return true;
}

// A pin near by, a handle on the corners of the face that was hit, or the body.
static void take_hold(view_live *live)
{
    tl_hit hit;
    live->grab = FREE;
    if (!tl_sim_ray(live->sim, live->origin, live->direction, REACH, TL_QUERY_ALL, &hit)) return;
    if (hit.cloth.gen == 0) {
        take_body(live, &hit);
        return;
    }
    if (take_pin(live, hit.point)) return;
    tl_cloth_view view;
    if (tl_sim_cloth_view(live->sim, hit.cloth, &view) != TL_OK) return;
    int32_t nodes[3];
    for (int k = 0; k < 3; k++) nodes[k] = view.vert_node[view.face[hit.face][k]];
    tl_handle_def def = tl_handle_def_default();
    def.cloth = hit.cloth, def.nodes = nodes, def.node_count = 3, def.live = 1;
    def.start = tl_sim_time(live->sim);
    if (tl_handle_create(live->sim, &def, &live->held, NULL) != TL_OK) return;
    live->grabbed = live->target = hit.point;
    live->grab = HELD;
}

static void remove_pin(view_live *live, int32_t i)
{
    tl_handle_remove(live->sim, live->pins[i].handle, NULL);
    live->pins[i] = live->pins[--live->state.pins];
}

// Cloth that was pulled: it is let go, or stays as it is held; a pin stays, or is taken away.
static void drop_cloth(view_live *live)
{
    const bool was_pin = live->taken >= 0;
    if (was_pin && live->pinned)
        remove_pin(live, live->taken);
    else if (was_pin)
        live->pins[live->taken].at = live->target;
    else if (live->pinned && live->state.pins < MAX_PINS)
        live->pins[live->state.pins++] = (view_pin){live->held, live->grabbed, live->target};
    else
        tl_handle_remove(live->sim, live->held, NULL);
    live->taken = -1;
}

void view_live_grant(view_live *live)
{
    if (live->wind_changed) tl_sim_set_wind(live->sim, live->wind, NULL);
    live->wind_changed = false;
    if (live->grab == ASKED) take_hold(live);
    if (live->grab == HELD && live->carried.gen) {
        carry(live);
        if (live->dropped) live->carried = (tl_body_id){0};
    } else if (live->grab == HELD) {
        const tl_motion_key pose = {.translate = {live->target.x - live->grabbed.x, live->target.y - live->grabbed.y,
                                                  live->target.z - live->grabbed.z},
                                    .scale = 1};
        tl_handle_set_target(live->sim, live->held, &pose, NULL);
        if (live->dropped) drop_cloth(live);
    }
    if (live->dropped) live->grab = FREE;
    live->dropped = live->pinned = false;
    if (live->unpin && live->taken >= 0) live->grab = FREE, live->taken = -1;  // with the pin that is pulled
    while (live->unpin && live->state.pins > 0) remove_pin(live, 0);
    live->unpin = false;
}
