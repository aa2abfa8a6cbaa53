// sim/spring_advance.c: one update of the hierarchy and one step of the springs of a cloth.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/timer.h"
#include "dynamics/springs/springs_air.h"
#include "math/vec3.h"
#include "sim/spring_cloth.h"

#define WIDEST_ANGLE 3.0   // [rad] that the budget may ask for
#define BUDGET_GAIN 1.5    // of the logarithm of triangles over budget, per update
#define BUDGET_SLACK 0.02  // part of the budget within which nothing changes
#define LINK_TOUCH 1e-4    // [m] from the offset: such a node touches

enum { WIND_PER_CHUNK = 256 };

// ---- adapting -------------------------------------------------------------------------------------------------

static void find_normals(spring_cloth *c)
{
    tl_vec3 *n = c->normal;
    for (int32_t i = 0; i < c->node_count; i++) n[c->id[i]] = (tl_vec3){0, 0, 0};
    for (int32_t t = 0; t < c->tri_count; t++) {
        const int32_t *v = c->tri[t];
        const tl_vec3 cross =
            tl_cross3(tl_sub3(c->node_pos[v[1]], c->node_pos[v[0]]), tl_sub3(c->node_pos[v[2]], c->node_pos[v[0]]));
        for (int k = 0; k < 3; k++) n[c->id[v[k]]] = tl_add3(n[c->id[v[k]]], cross);
    }
    for (int32_t i = 0; i < c->node_count; i++) n[c->id[i]] = tl_unit3_or(n[c->id[i]], (tl_vec3){0, 1, 0});
}

void spring_cloth_normals(const spring_cloth *c, tl_vec3 *out)
{
    for (int32_t i = 0; i < c->node_count; i++) out[i] = (tl_vec3){0, 0, 0};
    for (int32_t t = 0; t < c->tri_count; t++) {
        const int32_t *v = c->tri[t];
        const tl_vec3 a = c->node_pos[v[0]],
                      cross = tl_cross3(tl_sub3(c->node_pos[v[1]], a), tl_sub3(c->node_pos[v[2]], a));
        for (int k = 0; k < 3; k++) out[v[k]] = tl_add3(out[v[k]], cross);
    }
    for (int32_t i = 0; i < c->node_count; i++) out[i] = tl_unit3_or(out[i], (tl_vec3){0, 1, 0});
}

typedef struct adapting {
    spring_cloth *c;
    const tl_push_body *bodies;
    int32_t body_count;
} adapting;

static bool is_inside(void *self, tl_vec3 x)
{
    const adapting *a = self;
    return tl_push_inside(a->bodies, a->body_count, a->c->def.depth, x);
}

static tl_vec3 middle(tl_vec3 a, tl_vec3 b) { return tl_mul3(0.5, tl_add3(a, b)); }

// Position and velocity are the means of the ends'. One that starts within a body is moved out and keeps its velocity.
static void vertex_made(void *self, int32_t v, int32_t a, int32_t b)
{
    const adapting *ad = self;
    spring_cloth *c = ad->c;
    c->pos[v] = middle(c->pos[a], c->pos[b]), c->vel[v] = middle(c->vel[a], c->vel[b]);
    c->base[v] = middle(c->base[a], c->base[b]);
    c->normal[v] = tl_unit3_or(tl_add3(c->normal[a], c->normal[b]), c->normal[a]);
    c->near[v] = c->near[a] | c->near[b], c->visible[v] = c->visible[a] | c->visible[b];
    c->label[v] = c->label[a] == c->label[b] ? c->label[a] : 0;
    c->link[v].body = -1;
    if (!c->near[v]) return;
    tl_push_place(ad->bodies, ad->body_count, tl_norm3(tl_sub3(c->pos[a], c->pos[b])), &c->pos[v]);
}

// The angles follow the budget: an integrator of the logarithm, which is steady where the thesis's weights swing
// (docs/notes/realtime.md). Never below what the rules ask for.
static void keep_to_budget(spring_cloth *c, int32_t budget, tl_trees_rules *rules)
{
    if (budget <= 0) {
        c->split_angle = rules->split_angle, c->join_angle = rules->join_angle;
        return;
    }
    rules->rejoin_wait = 0;
    const double gap = rules->join_angle > 0 ? rules->split_angle / rules->join_angle : 1.05,
                 over = (double)c->tri_count / budget;
    if (fabs(over - 1) > BUDGET_SLACK) c->split_angle *= pow(over, BUDGET_GAIN);
    c->split_angle = fmin(WIDEST_ANGLE, fmax(rules->split_angle, c->split_angle));
    c->join_angle = c->split_angle / gap;
    // what the cloth may be pushed together by goes along, and bodies are no reason any more
    const double wider = c->split_angle / rules->split_angle;
    rules->split_length = fmax(0.01, 1 - wider * (1 - rules->split_length));
    rules->join_length = fmax(rules->split_length, 1 - wider * (1 - rules->join_length));
    rules->split_sag *= wider, rules->join_sag *= wider;
    if (over > 1 + BUDGET_SLACK) rules->mask &= ~(uint32_t)TL_TREES_BY_COLLISION;
    rules->split_angle = c->split_angle, rules->join_angle = c->join_angle;
    const int32_t left = budget - c->tri_count;  // a split makes two to four triangles
    rules->most_splits = left > 3 ? left / 3 : 1;
}

// What is seen: nothing, what faces the eye, or all.
static void look(spring_cloth *c, const spring_sight *sight, tl_trees_rules *rules)
{
    if (sight->hidden) rules->max_level = rules->collision_level = 0;
    if (sight->cull) rules->mask |= TL_TREES_BY_VISIBILITY;
    for (int32_t i = 0; i < c->node_count; i++) {
        const int32_t v = c->id[i];
        c->visible[v] = !sight->cull || tl_dot3(c->normal[v], tl_sub3(sight->eye, c->node_pos[i])) > 0;
    }
}

tl_status spring_cloth_adapt(spring_cloth *c, const spring_sight *seen, const tl_push_body *bodies, int32_t body_count,
                             const tl_ctx *ctx, tl_trees_report *report, tl_error *err)
{
    *report = (tl_trees_report){0};
    if (!c->def.adaptive) return TL_OK;
    spring_cloth_gather(c);
    find_normals(c);
    adapting self = {c, bodies, body_count};
    tl_trees_rules rules = c->def.rules;
    keep_to_budget(c, seen->budget, &rules);
    look(c, seen, &rules);
    tl_trees_sight sight = {.pos = c->pos,
                            .normal = c->normal,
                            .near = c->near,
                            .visible = c->visible,
                            .inside = body_count > 0 ? is_inside : NULL,
                            .made = vertex_made,
                            .self = &self};
    int32_t splits;
    TL_TRY(tl_trees_decide(c->trees, &rules, &sight, ctx->workers, &splits, err));
    TL_TRY(spring_cloth_reserve_ids(c, splits, err));
    sight.pos = c->pos, sight.normal = c->normal, sight.near = c->near, sight.visible = c->visible;
    TL_TRY(tl_trees_apply(c->trees, &rules, &sight, report, err));
    if (report->splits + report->joins == 0) return TL_OK;
    return spring_cloth_rebuild(c, err);
}

// ---- a step ---------------------------------------------------------------------------------------------------

typedef struct wind_job {
    spring_cloth *c;
    const spring_air *air;
} wind_job;

// The wind at every node, for now in place of its acceleration.
static void wind_chunk(void *arg, int32_t begin, int32_t end)
{
    const wind_job *job = arg;
    for (int32_t i = begin; i < end; i++)
        job->c->accel[i] = tl_add3(job->air->wind, tl_eddies_at(job->air->eddies, job->c->node_pos[i]));
}

static void add_drag(spring_cloth *c, const spring_air *air, const tl_vec3 *wind, double dt, int32_t t)
{
    const int32_t *v = c->tri[t];
    const tl_vec3 x[3] = {c->node_pos[v[0]], c->node_pos[v[1]], c->node_pos[v[2]]};
    const tl_vec3 speed = tl_add3(c->node_vel[v[0]], tl_add3(c->node_vel[v[1]], c->node_vel[v[2]]));
    tl_vec3 blow = tl_mul3(3, air->wind);
    if (wind) blow = tl_add3(wind[v[0]], tl_add3(wind[v[1]], wind[v[2]]));
    if (air->shelter) blow = tl_mul3((double)air->shelter[t], blow);
    const double density = c->fabric[c->face_label[t]].density, area = tl_springs_tri_area(c->springs)[t];
    const tl_springs_air here = {air->pressure, air->skin, density};
    const tl_vec3 acc = tl_springs_drag(&here, x, tl_mul3(1.0 / 3, tl_sub3(blow, speed)), dt);
    for (int k = 0; k < 3; k++)
        c->accel[v[k]] = tl_madd3(c->accel[v[k]], density * area / (3 * tl_springs_mass(c->springs)[v[k]]), acc);
}

tl_status spring_cloth_drag(spring_cloth *c, const spring_air *air, double dt, const tl_ctx *ctx, tl_error *err)
{
    const bool any = air->pressure > 0 || air->skin > 0, varies = any && air->eddies;
    tl_vec3 *wind = TL_SCRATCH(ctx->arena, tl_vec3, varies ? c->node_count : 0);
    if (!wind) return tl_fail_memory(err, "the air");
    if (varies) {
        tl_parallel_for(ctx->workers, c->node_count, WIND_PER_CHUNK, wind_chunk, &(wind_job){c, air});
        memcpy(wind, c->accel, (size_t)c->node_count * sizeof *wind);
    }
    for (int32_t i = 0; i < c->node_count; i++) c->accel[i] = (tl_vec3){0, 0, 0};
    for (int32_t t = 0; any && t < c->tri_count; t++) add_drag(c, air, varies ? wind : NULL, dt, t);
    return TL_OK;
}

static tl_status find_contacts(spring_cloth *c, const spring_cloth_step *step, tl_springs_step *out, tl_error *err)
{
    const double(*x)[4] = (const double(*)[4])tl_springs_pos(c->springs),
          (*v)[4] = (const double(*)[4])tl_springs_vel(c->springs);
    if (c->hint_bodies != step->body_count && step->body_count > 0) {
        TL_TRY(spring_cloth_reserve_hints(c, step->body_count, err));
        for (int64_t i = 0; i < (int64_t)c->node_count * step->body_count; i++) c->hint[i] = -1;
        c->hint_bodies = step->body_count;
    }
    const tl_push_nodes nodes = {x, v, c->node_count, step->body_count > 0 ? c->hint : NULL, c->def.depth};
    tl_push_contact *contact;
    TL_TRY(
        tl_push_find(step->bodies, step->body_count, &nodes, step->dt, &step->ctx, &contact, &out->contact_count, err));
    out->contact = contact;
    for (int32_t i = 0; i < c->node_count; i++) c->near[c->id[i]] = 0;
    for (int32_t i = 0; i < out->contact_count; i++) c->near[c->id[contact[i].node]] = 1;
    c->contacts = out->contact_count;
    int32_t(*pair)[2];
    const double apart = 2 * c->def.self_distance;
    const tl_push_self self = {x, v, c->node_uv, c->node_count, c->def.self_distance, apart, step->dt};
    TL_TRY(tl_push_self_pairs(&self, &step->ctx, &pair, &out->pair_count, err));
    out->pair = (const int32_t(*)[2])pair, out->distance = c->def.self_distance;
    c->pairs = out->pair_count;
    return TL_OK;
}

// Nodes that touch are pulled to where they touched.
static void add_links(spring_cloth *c, const spring_cloth_step *step, const tl_springs_step *s)
{
    const tl_push_links_def *def = &c->def.links;
    const tl_push_nodes nodes = {.pos = (const double(*)[4])tl_springs_pos(c->springs), .count = c->node_count};
    const tl_push_links_step links = {step->bodies, step->body_count, s->contact, s->contact_count, &nodes,
                                      c->id,        LINK_TOUCH};
    tl_push_links_update(c->link, def, &links);
    for (int32_t n = 0; n < c->node_count; n++)
        c->accel[n] = tl_add3(
            c->accel[n], tl_push_link_pull(&c->link[c->id[n]], def, step->bodies, step->body_count, c->node_pos[n]));
}

static void publish(spring_cloth *c)
{
    const double(*x)[4] = (const double(*)[4])tl_springs_pos(c->springs),
          (*v)[4] = (const double(*)[4])tl_springs_vel(c->springs);
    for (int32_t n = 0; n < c->node_count; n++)
        memcpy(&c->node_pos[n], x[n], sizeof(tl_vec3)), memcpy(&c->node_vel[n], v[n], sizeof(tl_vec3));
}

tl_status spring_cloth_advance(spring_cloth *c, const spring_cloth_step *step, double *collision_seconds, tl_error *err)
{
    const double start = tl_now();
    tl_springs_step s = {.dt = step->dt, .gravity = step->gravity, .target = c->target, .workers = step->ctx.workers};
    TL_TRY(find_contacts(c, step, &s, err));
    *collision_seconds += tl_now() - start;
    TL_TRY(spring_cloth_drag(c, &step->air, step->dt, &step->ctx, err));
    if (c->def.linked) add_links(c, step, &s);
    s.accel = c->accel;
    s.substeps = step->substeps > 0 ? step->substeps : tl_springs_substeps(c->springs, step->dt);
    tl_springs_hold(c->springs, c->held);
    TL_TRY(spring_cloth_leash(c, tl_norm3(step->gravity), &step->ctx, &s, err));
    TL_TRY(tl_springs_advance(c->springs, &s, &c->last, err));
    const double after = tl_now();
    double(*before)[4] = tl_springs_before(c->springs);
    const tl_push_move move = {(const double(*)[4])before, tl_springs_pos(c->springs), tl_springs_vel(c->springs),
                               c->node_count, step->dt};
    TL_TRY(tl_push_catch(step->bodies, step->body_count, &move, &step->ctx, &c->caught, err));
    publish(c);
    *collision_seconds += tl_now() - after;
    return TL_OK;
}
