// sim/spring_bodies.c: bodies as springs meet them: where they are at both ends of a step, and what finds their faces.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "body/partition.h"
#include "sim/springs.h"

// Characters by their bones, what else deforms in one tree of spheres, the rest in a grid.
static tl_status make_search(tl_sim *sim, sim_body *b, tl_error *err)
{
    const bool deforms = b->character || b->key_count > 1 || b->is_live;
    tl_search_def def = tl_search_def_default();
    def.kind = deforms ? TL_SEARCH_BONES : TL_SEARCH_GRID;
    def.node_count = b->node_count, def.face_count = b->face_count;
    def.face = (const int32_t(*)[3])b->face, def.rest = b->shape;
    if (!b->character) return tl_search_create(&sim->alloc, &def, &b->search, err);
    const size_t n = (size_t)b->node_count;
    tl_vert_bones *bones = TL_SCRATCH(&sim->arena, tl_vert_bones, n);
    int32_t(*bone)[2] = tl_arena_bytes(&sim->arena, n, sizeof *bone);
    double *weight = TL_SCRATCH(&sim->arena, double, n);
    tl_vec3 *rest = TL_SCRATCH(&sim->arena, tl_vec3, n);
    if (!bones || !bone || !weight || !rest) return tl_fail_memory(err, "bodies");
    const tl_playback bind = tl_playback_default();
    tl_poser_at(b->poser, b->character, &bind, 0, rest);
    tl_character_bones(b->character, bones);
    for (size_t i = 0; i < n; i++) memcpy(bone[i], bones[i].bone, sizeof *bone), weight[i] = bones[i].weight;
    def.rest = rest, def.bone = (const int32_t(*)[2])bone, def.weight = weight;
    return tl_search_create(&sim->alloc, &def, &b->search, err);
}

static tl_frame pose_frame(const sim_body *b, double time)
{
    const tl_frame f = tl_frame_along(b->solid_center, b->solid_axis);
    if (b->motion_count == 0) return f;
    const tl_pose pose = tl_pose_at(b->motion, b->motion_count, time);
    return (tl_frame){tl_pose_move(&pose, b->pivot, f.origin),
                      {tl_pose_turn(&pose, f.axis[0]), tl_pose_turn(&pose, f.axis[1]), tl_pose_turn(&pose, f.axis[2])}};
}

// Shapes whose motion only turns and moves have closed forms.
static tl_status place_solid(tl_sim *sim, const sim_body *b, double end, tl_push_body *p, tl_error *err)
{
    if (!b->is_solid || b->is_live) return TL_OK;
    tl_push_solid *s = TL_SCRATCH(&sim->arena, tl_push_solid, 1);
    if (!s) return tl_fail_memory(err, "bodies");
    *s = (tl_push_solid){b->solid, pose_frame(b, sim->time), pose_frame(b, end)};
    for (int k = 0; k < 3; k++)
        if (fabs(tl_norm3(s->now.axis[k]) - 1) > 1e-9 || fabs(tl_norm3(s->then.axis[k]) - 1) > 1e-9) return TL_OK;
    p->solid = s;
    return TL_OK;
}

static tl_status place_body(tl_sim *sim, sim_body *b, double end, tl_error *err)
{
    const size_t n = (size_t)b->node_count;
    if (!b->then) b->then = TL_ALLOC(&sim->alloc, tl_vec3, n), b->then_time = (double)NAN;
    if (!b->normal) b->normal = TL_ALLOC(&sim->alloc, tl_vec3, n);
    if (!b->then || !b->normal) return tl_fail_memory(err, "bodies");
    const bool known = b->placed && !b->moves && !isnan(b->then_time);
    if (b->placed && b->moves && !b->is_live && b->then_time == sim->time)
        sim_fit_body_ahead(sim, b);
    else
        TL_TRY(sim_fit_body(sim, b, sim->time, err));
    if (known) return TL_OK;
    if (b->moves)
        sim_body_at(b, end, b->then);
    else
        memcpy(b->then, b->at, n * sizeof *b->then);
    b->then_time = end;
    tl_push_normals((const int32_t(*)[3])b->face, b->face_count, b->at, b->node_count, b->normal);
    return TL_OK;
}

// Bodies that are there, without what differs from cloth to cloth.
tl_status sim_springs_bodies(tl_sim *sim, double end, tl_push_body **out, int32_t *count, tl_error *err)
{
    *count = sim_present_count(sim);
    *out = TL_SCRATCH(&sim->arena, tl_push_body, *count);
    if (!*out) return tl_fail_memory(err, "bodies");
    for (int32_t i = 0, k = 0; k < *count; i++) {
        sim_body *body = &sim->bodies[i];
        if (!body->present) continue;
        tl_push_body *p = &(*out)[k++];
        *p = (tl_push_body){.axis = {0, 1, 0}, .key = i};
        if (body->kind == TL_BODY_PLANE) {
            tl_vec3 unused;
            sim_plane_at(body, sim->time, &p->point, &p->axis);
            sim_plane_at(body, end, &p->to, &unused);
            continue;
        }
        TL_TRY(place_body(sim, body, end, err));
        p->tree = body->tree, p->now = body->at, p->then = body->then, p->normal = body->normal;
        TL_TRY(place_solid(sim, body, end, p, err));
        if (p->solid || sim->def.springs.search != TL_SPRINGS_SEARCH_PUBLISHED) continue;
        if (!body->search) TL_TRY(make_search(sim, body, err));
        tl_search_fit(body->search, body->at);
        p->search = body->search;
    }
    return TL_OK;
}

static double combined(tl_combine rule, double a, double b)
{
    if (isnan(a)) return b;
    return rule == TL_COMBINE_MIN ? fmin(a, b) : rule == TL_COMBINE_MAX ? fmax(a, b) : 0.5 * (a + b);
}

void sim_springs_contact(const tl_sim *sim, const sim_cloth *cloth, tl_push_body *bodies, int32_t count)
{
    for (int32_t i = 0, k = 0; k < count; i++) {
        const sim_body *body = &sim->bodies[i];
        if (!body->present) continue;
        bodies[k].friction = sim->def.springs.friction == TL_SPRINGS_LINKS
                                 ? 0
                                 : combined(sim->def.collide.combine, cloth->friction, body->friction);
        bodies[k++].offset = fmax(sim->def.springs.offset, 0.5 * cloth->thickness) + body->thickness;
    }
}
