// sim/springs.c: one step of a simulation by springs: bodies, handles, the hierarchy, the solver.

#include "sim/springs.h"

#include <math.h>
#include <string.h>

#include "adapt/edge_trees/settings.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"
#include "dynamics/springs/springs_kind.h"
#include "math/elementary.h"
#include "sim/detail.h"

#define COST_MEMORY 0.1          // part of the cost of a triangle that a step brings in
#define LONGEST_PART (1.0 / 30)  // [s] longer steps are taken in parts: contact is found anew in each
#define INSIDE_DEPTH 0.03  // [m] how far inside a body a node is still found: a coarse edge over a limb is no deeper

bool sim_by_springs(const tl_sim *sim)
{
    return sim->def.dynamics == TL_DYNAMICS_SPRINGS && sim->def.collide.response == TL_RESPONSE_PUSH_OUT;
}

// ---- settings -------------------------------------------------------------------------------------------------

tl_status sim_springs_check_options(const tl_springs_options *o, tl_error *err)
{
    if (o->method > TL_SPRINGS_VERLET_METHOD)
        return tl_fail(err, TL_BAD_ARG, "springs.method %u is none of ours", (unsigned)o->method);
    if (o->substeps < 0 || o->substeps > 1000)
        return tl_fail(err, TL_BAD_INPUT, "springs.substeps %d, must be 1 to 1000, or 0 to choose by the mesh",
                       o->substeps);
    if (!(o->offset >= 0 && o->offset <= 1))
        return tl_fail(err, TL_BAD_INPUT, "springs.offset %g m, must be from 0 to 1", o->offset);
    if (!(o->self_distance >= 0 && o->self_distance <= 1))
        return tl_fail(err, TL_BAD_INPUT, "springs.self_distance %g m, must be from 0 (off) to 1", o->self_distance);
    if (!(o->compression >= 0 && o->compression <= 1))
        return tl_fail(err, TL_BAD_INPUT, "springs.compression %g, must be from 0 to 1", o->compression);
    if (!(o->stiffness > 0) || !(o->bend >= 0) || !(o->damping >= 0 && o->damping < 1) || !(o->max_stretch > 1) ||
        !isfinite(o->stiffness + o->bend + o->max_stretch))
        return tl_fail(err, TL_BAD_INPUT,
                       "springs: stiffness %g (> 0), bend %g (>= 0), damping %g (in [0, 1)), max_stretch %g (> 1)",
                       o->stiffness, o->bend, o->damping, o->max_stretch);
    if (o->search > TL_SPRINGS_SEARCH_PUBLISHED || o->friction > TL_SPRINGS_LINKS ||
        o->bending > TL_SPRINGS_BY_SPRINGS || o->level_rule > TL_SPRINGS_BY_AREA)
        return tl_fail(err, TL_BAD_ARG,
                       "springs: search %u, friction %u, bending %u, level_rule %u: one is none of ours",
                       (unsigned)o->search, (unsigned)o->friction, (unsigned)o->bending, (unsigned)o->level_rule);
    if (o->link_steps < 1 || !(o->link_slide >= 0) || !(o->link_lift >= 0) || !(o->link_distance > 0) ||
        !isfinite(o->link_slide + o->link_lift + o->link_distance))
        return tl_fail(err, TL_BAD_INPUT,
                       "springs: link_steps %d (>= 1), link_slide %g, link_lift %g (>= 0), link_distance %g (> 0)",
                       o->link_steps, o->link_slide, o->link_lift, o->link_distance);
    return TL_OK;
}

tl_status sim_springs_check(const tl_sim *sim, const tl_cloth_def *def, tl_error *err)
{
    if (sim->def.dynamics != TL_DYNAMICS_SPRINGS) return TL_OK;
    if (def->strain.kind != TL_STRAIN_FREE)
        return tl_fail(err, TL_BAD_INPUT, "strain limits do not go with dynamics.kind springs (take implicit)");
    if (def->rest_from_shape)
        return tl_fail(err, TL_BAD_INPUT,
                       "a rest shape from the given one does not go with dynamics.kind springs: cloth is flat at rest");
    if (def->remeshing.levels < 0 || def->remeshing.levels > 8)
        return tl_fail(err, TL_BAD_INPUT, "remeshing.levels %d, must be 0 to 8", def->remeshing.levels);
    return TL_OK;
}

static double self_distance_of(const tl_sim *sim) { return sim->def.collide.self ? sim->def.springs.self_distance : 0; }

static spring_cloth_def def_of(const tl_sim *sim, const sim_cloth *cloth)
{
    const tl_springs_options *o = &sim->def.springs;
    const tl_remeshing *r = &cloth->remeshing;
    spring_cloth_def def = {.springs = tl_springs_def_of(o), .rules = tl_trees_rules_default()};
    def.adaptive = r->kind == TL_REMESHING_EDGE_TREES;
    def.rules.max_level = def.rules.collision_level = r->levels;
    def.rules.split_angle = r->curvature, def.rules.join_angle = r->curvature * (1 - r->hysteresis);
    def.rules.split_length = r->split_length, def.rules.join_length = r->join_length;
    def.rules.mask = TL_TREES_BY_LENGTH | TL_TREES_BY_CURVATURE | (r->obstacles ? TL_TREES_BY_COLLISION : 0);
    if (!r->locked) def.rules.mask |= TL_TREES_UNLOCK;
    def.rules.rejoin_wait = r->rejoin_wait;
    tl_trees_more_rules(r, &def.rules);
    def.self_distance = self_distance_of(sim);
    def.depth = INSIDE_DEPTH;
    def.linked = o->friction == TL_SPRINGS_LINKS;
    def.links = (tl_push_links_def){o->link_slide, o->link_lift, o->link_distance, o->link_steps};
    return def;
}

void sim_springs_hash(const tl_sim *sim, tl_hash *hash)
{
    const tl_springs_options *o = &sim->def.springs;
    const double numbers[17] = {o->method,    o->substeps,     o->offset,     o->self_distance, o->compression,
                                o->stiffness, o->bend,         o->damping,    o->max_stretch,   o->length_rounds,
                                o->friction,  o->bending,      o->level_rule, o->link_steps,    o->link_slide,
                                o->link_lift, o->link_distance};
    tl_hash_add(hash, numbers, sizeof numbers);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_remeshing *r = &sim->cloths[c].remeshing;
        const double rules[14] = {r->levels,           r->curvature,   r->hysteresis,      r->split_length,
                                  r->join_length,      r->rejoin_wait, r->obstacles,       r->max_faces,
                                  r->interval,         (int)r->ties,   r->obstacle_levels, r->always_join,
                                  r->length_per_level, r->locked};
        if (r->kind != TL_REMESHING_EDGE_TREES) continue;
        tl_hash_add(hash, rules, sizeof rules);
        if (r->sag > 0) tl_hash_add(hash, &r->sag, sizeof r->sag);
    }
}

void sim_springs_retune(const tl_sim *sim, sim_cloth *cloth)
{
    const spring_cloth_def def = def_of(sim, cloth);
    if (cloth->engine) spring_cloth_retune(cloth->engine, &def);
}

tl_status sim_springs_prepare(tl_sim *sim, tl_error *err)
{
    if (sim->cloth_count == 0) return tl_fail(err, TL_BAD_ARG, "the simulation has no cloth");
    for (int32_t i = 0; i < sim->handle_count; i++)
        if (sim->handles[i].fade > 0)
            return tl_fail(err, TL_BAD_INPUT,
                           "handle %d: a fade does not go with dynamics.kind springs (leave it out, or take implicit)",
                           i);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        sim_cloth *cloth = &sim->cloths[c];
        if (cloth->engine) continue;
        const spring_cloth_def def = def_of(sim, cloth);
        TL_TRY(spring_cloth_create(&sim->alloc, cloth->mesh, cloth->materials, cloth->material_count, &def,
                                   &cloth->engine, err));
    }
    return TL_OK;
}

// ---- handles --------------------------------------------------------------------------------------------------

static tl_vec3 base_of(const sim_handle *h, const spring_cloth *c, int32_t n)
{
    if (!h->use_ellipse) return c->node_pos[n];
    const double angle = 2 * 3.14159265358979323846 * tl_dot2(h->turns, c->node_uv[n]);
    return tl_madd3(tl_madd3(h->ellipse[0], tl_cos(angle), h->ellipse[1]), tl_sin(angle), h->ellipse[2]);
}

// Marks what a handle holds: its nodes, and those between two that it holds unless it names them one by one.
static void mark_held(const sim_handle *h, const spring_cloth *c, uint8_t *mark)
{
    memset(mark, 0, (size_t)c->node_count);
    for (int32_t k = 0; k < h->node_count; k++) mark[h->nodes[k]] = 1;  // ids of the base are numbers of nodes
    for (int level = 1, left = !h->by_name; left && level <= TL_TREES_MAX_LEVEL; level++) {
        left = 0;
        for (int32_t n = 0; n < c->node_count; n++) {
            const tl_trees_vert *v = tl_trees_vert_at(c->trees, c->id[n]);
            if (v->level != level) continue;
            left = 1;
            mark[n] = mark[c->dense[v->from[0]]] & mark[c->dense[v->from[1]]];
        }
    }
}

// Between two nodes on the skin: the middle of the edge of a PN triangle (Simnett 2012, sec. 5.4.1).
static tl_vec3 middle_on_skin(const tl_vec3 x[2], const tl_vec3 normal[2])
{
    tl_vec3 sum = tl_mul3(0.5, tl_add3(x[0], x[1]));
    for (int k = 0; k < 2; k++)  // controls at a third of the chord, put into the tangent planes; they weigh 3/8 each
        sum = tl_madd3(sum, -3.0 / 8 * tl_dot3(tl_mul3(1.0 / 3, tl_sub3(x[1 - k], x[k])), normal[k]), normal[k]);
    return sum;
}

// Nodes that are fixed to the skin follow it exactly.
static tl_status follow_skin(tl_sim *sim, const sim_handle *h, spring_cloth *c, const uint8_t *mark, double end,
                             tl_error *err)
{
    tl_vec3 *place = TL_SCRATCH(&sim->arena, tl_vec3, h->node_count),
            *out = TL_SCRATCH(&sim->arena, tl_vec3, h->node_count),
            *normal = TL_SCRATCH(&sim->arena, tl_vec3, c->node_count);
    if (!place || !out || !normal) return tl_fail_memory(err, "ties");
    bool there;
    TL_TRY(sim_tie_places(sim, h, end, place, out, &there, err));
    for (int32_t k = 0; there && k < h->node_count; k++) {
        const int32_t n = h->nodes[k];
        c->held[n] = 1, c->target[n] = place[k], normal[n] = out[k];
    }
    for (int level = 1, left = there && !h->by_name; left && level <= TL_TREES_MAX_LEVEL; level++) {
        left = 0;
        for (int32_t n = 0; n < c->node_count; n++) {
            const tl_trees_vert *v = tl_trees_vert_at(c->trees, c->id[n]);
            if (v->level != level || !mark[n]) continue;
            left = 1;
            const int32_t a = c->dense[v->from[0]], b = c->dense[v->from[1]];
            c->held[n] = 1;
            c->target[n] = middle_on_skin((tl_vec3[2]){c->target[a], c->target[b]}, (tl_vec3[2]){normal[a], normal[b]});
            normal[n] = tl_unit3_or(tl_add3(normal[a], normal[b]), normal[a]);
        }
    }
    return TL_OK;
}

static tl_status drive_handles(tl_sim *sim, int32_t cloth, double end, tl_error *err)
{
    spring_cloth *c = sim->cloths[cloth].engine;
    const double slack = 1e-9 * (end - sim->time);  // as in handles.c
    uint8_t *mark = TL_SCRATCH(&sim->arena, uint8_t, c->node_count);
    if (!mark) return tl_fail_memory(err, "handles");
    memset(c->held, 0, (size_t)c->node_count);
    for (int32_t i = 0; i < sim->handle_count; i++) {
        sim_handle *h = &sim->handles[i];
        if (h->cloth != cloth || !(h->start <= sim->time + slack && sim->time + slack < h->end)) continue;
        mark_held(h, c, mark);
        if (h->ties) {
            TL_TRY(follow_skin(sim, h, c, mark, end, err));
            continue;
        }
        for (int32_t n = 0; n < c->node_count; n++) {
            if (!mark[n]) continue;
            if (!h->took_hold) c->base[c->id[n]] = base_of(h, c, n);
            c->held[n] = 1;
            c->target[n] = tl_pose_apply(h->keys, h->key_count, end, h->pivot, c->base[c->id[n]]);
        }
        if (!h->took_hold) h->took_hold = true, h->since = sim->time;
    }
    return TL_OK;
}

// ---- a step ---------------------------------------------------------------------------------------------------

static tl_status adapt_cloth(tl_sim *sim, sim_cloth *cloth, const tl_push_body *bodies, int32_t count,
                             tl_step_report *report, tl_error *err)
{
    const int64_t every = (int64_t)fmax(1, round(cloth->remeshing.interval / sim->def.dt));
    if (cloth->remeshing.kind != TL_REMESHING_EDGE_TREES || sim->step % every != 0) return TL_OK;
    const double start = tl_now();
    const tl_ctx ctx = {&sim->arena, sim->workers};
    tl_trees_report r;
    const spring_sight sight = sim_sight_of(sim, cloth, sim->time);
    TL_TRY(spring_cloth_adapt(cloth->engine, &sight, bodies, count, &ctx, &r, err));
    report->remesh.passes++, report->remesh.splits += r.splits, report->remesh.collapses += r.joins;
    if (r.splits + r.joins > 0) cloth->version++, cloth->map_lost = true;
    report->seconds.remesh += tl_now() - start;
    return TL_OK;
}

static tl_status find_lee(tl_sim *sim, int32_t of, spring_air *air, tl_error *err)
{
    tl_lee_surface *cloth = TL_SCRATCH(&sim->arena, tl_lee_surface, sim->cloth_count);
    if (!cloth) return tl_fail_memory(err, "the lee");
    for (int32_t i = 0; i < sim->cloth_count; i++) {
        const spring_cloth *c = sim->cloths[i].engine;
        cloth[i] = (tl_lee_surface){c->node_pos, c->node_count, (const int32_t(*)[3])c->tri, c->tri_count};
    }
    return sim_lee(sim, sim->time, cloth, sim->cloth_count, of, air->wind, &air->shelter, err);
}

/// A step, or a part of it.
typedef struct part {
    double dt, end;
    bool first;
    int32_t of;  // how many there are
} part;

static tl_status step_cloth(tl_sim *sim, int32_t i, const part *p, tl_push_body *bodies, int32_t count,
                            const spring_air *air, tl_step_report *report, tl_error *err)
{
    sim_cloth *cloth = &sim->cloths[i];
    const double begin = tl_now();
    sim_springs_contact(sim, cloth, bodies, count);
    if (p->first) TL_TRY(adapt_cloth(sim, cloth, bodies, count, report, err));
    TL_TRY(drive_handles(sim, i, p->end, err));
    spring_air here = *air;
    TL_TRY(find_lee(sim, i, &here, err));
    const spring_cloth_step step = {.dt = p->dt,
                                    .substeps = (sim->def.springs.substeps + p->of - 1) / p->of,
                                    .gravity = sim->def.gravity,
                                    .air = here,
                                    .bodies = bodies,
                                    .body_count = count,
                                    .ctx = {&sim->arena, sim->workers}};
    TL_TRY(spring_cloth_advance(cloth->engine, &step, &report->seconds.collision, err));
    spring_cloth *c = cloth->engine;
    const double each = p->of * (tl_now() - begin) / (c->tri_count + 1);
    c->cost = c->cost > 0 ? c->cost + COST_MEMORY * (each - c->cost) : each;
    const int32_t substeps = p->of * c->last.substeps;
    report->substeps = substeps > report->substeps ? substeps : report->substeps;
    report->contact.contacts += c->contacts, report->contact.candidates += c->contacts + c->pairs;
    report->contact.limited += c->caught;
    return TL_OK;
}

static tl_status take_part(tl_sim *sim, const part *p, tl_step_report *report, tl_error *err)
{
    const double start = tl_now();
    tl_arena_reset(&sim->arena);
    bool came;
    sim_find_present(sim, &came);
    tl_push_body *bodies;
    int32_t count;
    TL_TRY(sim_springs_bodies(sim, p->end, &bodies, &count, err));
    report->seconds.collision += tl_now() - start;
    tl_eddies *eddies = TL_SCRATCH(&sim->arena, tl_eddies, 1);
    if (!eddies) return tl_fail_memory(err, "a step");
    const spring_air air = {.pressure = 0.5 * sim->def.air.density * sim->def.air.drag,
                            .skin = sim->def.air.skin,
                            .wind = tl_wind_at(&sim->def.air, sim->def.seed, p->end),
                            .eddies = tl_wind_eddies(&sim->def.air, sim->def.seed, p->end, eddies) ? eddies : NULL};
    for (int32_t i = 0; i < sim->cloth_count; i++) TL_TRY(step_cloth(sim, i, p, bodies, count, &air, report, err));
    sim->time = p->end;
    return TL_OK;
}

tl_status sim_springs_step(tl_sim *sim, tl_step_report *out, tl_error *err)
{
    const double start = tl_now(), begin = sim->time;
    tl_step_report report = {0};
    TL_TRY(sim_springs_prepare(sim, err));
    if (sim->cancel.asked && sim->cancel.asked(sim->cancel.user))
        return tl_fail(err, TL_CANCELLED, "step %lld at %.6f s was not begun", (long long)sim->step, sim->time);
    const double end =
        sim->clock_time + (double)(sim->step + 1 - sim->clock_step) * sim->def.dt;  // a product, not a sum: no drift
    const int32_t parts = (int32_t)fmin(1000, fmax(1, ceil(sim->def.dt / LONGEST_PART - 1e-9)));
    tl_status status = TL_OK;
    for (int32_t k = 0; k < parts && status == TL_OK; k++) {
        const part p = {sim->def.dt / parts, k == parts - 1 ? end : begin + (k + 1) * (end - begin) / parts, k == 0,
                        parts};
        status = take_part(sim, &p, &report, err);
    }
    if (status != TL_OK) sim->time = begin;
    TL_TRY(status);
    sim->step++, sim->started = true, sim->springs_stale = true;
    report.time = sim->time, report.step = sim->step;
    report.seconds.total = tl_now() - start;
    report.seconds.physics = report.seconds.total - report.seconds.collision - report.seconds.remesh;
    if (out) *out = report;
    return TL_OK;
}
