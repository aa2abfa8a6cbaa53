// sim/remeshing.c: lets the meshes follow the motion. Each cloth's adapter (adapt/adapt.h) looks at its mesh and
// changes it; then everything that was compiled from the meshes is made anew.
//
// Runs between steps, on the state that the meshes hold (sim_publish). What belongs to nodes and is no part of a mesh
// goes along (remeshing_nodes.c); how far an operation may move the surface is measured in remeshing_clearance.c.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/timer.h"
#include "physics/forces.h"
#include "detect/nearest.h"
#include "sim/remeshing_impl.h"

#define ENERGY_RISE 4e-4      // of the energy stored in the cloth: what a pass may add to it
#define ENERGY_OF_MOTION 0.1  // the same of the kinetic energy, but for that of the cloth as a whole

tl_remeshing tl_remeshing_default(void)
{
    return (tl_remeshing){.kind = TL_REMESHING_ANISOTROPIC,
                          .size_min = 0.015,
                          .size_max = 0.2,
                          .aspect_min = 0.1,
                          .curvature = 0.15,
                          .velocity = 0.7,
                          .compression = (double)NAN,
                          .narrowing = 1,
                          .obstacles = 1,
                          .blend = TL_BLEND_MAX,
                          .hysteresis = 0.2,
                          .interval = 0.04,
                          .patience = 1,
                          .layers = 5,
                          .criteria = TL_SQRT3_ALL,
                          .error = 0.002,
                          .levels = 3,
                          .rejoin_wait = 10,
                          .split_length = 0.98,
                          .join_length = 0.99,
                          .length_per_level = 1};
}

static tl_status check_edge_trees(const tl_remeshing *d, tl_error *err)
{
    if (d->levels < 0 || d->levels > 8)
        return tl_fail(err, TL_BAD_INPUT, "remeshing.levels %d, must be 0 to 8", d->levels);
    if (!(d->split_length > 0) || !(d->join_length >= d->split_length) || !isfinite(d->join_length))
        return tl_fail(err, TL_BAD_INPUT, "remeshing: split_length %g, join_length %g: must be > 0 and in order",
                       d->split_length, d->join_length);
    if (d->rejoin_wait < 0 || d->rejoin_wait > 255)
        return tl_fail(err, TL_BAD_INPUT, "remeshing.rejoin_wait %d looks, must be 0 to 255", d->rejoin_wait);
    if (d->obstacle_levels < 0 || d->obstacle_levels > 8)
        return tl_fail(err, TL_BAD_INPUT, "remeshing.obstacle_levels %d, must be 0 to 8", d->obstacle_levels);
    if (!(d->length_per_level >= 0 && d->length_per_level <= 1))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.length_per_level %g, must be from 0 to 1", d->length_per_level);
    if (!(d->sag >= 0 && d->sag <= 1))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.sag %g m, must be from 0 (off) to 1", d->sag);
    if (d->ties > TL_TIES_CURVATURE) return tl_fail(err, TL_BAD_ARG, "remeshing.ties %d is none of ours", (int)d->ties);
    return TL_OK;
}

tl_status sim_check_remeshing(const tl_remeshing *d, tl_error *err)
{
    if (!tl_adapter_of(d->kind)) return tl_fail(err, TL_BAD_ARG, "remeshing.kind %d is none of ours", (int)d->kind);
    if (d->blend != TL_BLEND_SUM && d->blend != TL_BLEND_MAX)
        return tl_fail(err, TL_BAD_ARG, "remeshing.blend %d is none of ours", (int)d->blend);
    if (!(d->size_min > 0) || !isfinite(d->size_max) || !(d->size_max >= d->size_min))
        return tl_fail(err, TL_BAD_INPUT, "remeshing: sizes from %g to %g m, must be > 0 and in order", d->size_min,
                       d->size_max);
    if (!(d->aspect_min > 0 && d->aspect_min <= 1))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.aspect_min %g, must be in (0, 1]", d->aspect_min);
    if (!(d->curvature > 0)) return tl_fail(err, TL_BAD_INPUT, "remeshing.curvature %g rad, must be > 0", d->curvature);
    if (!(d->velocity > 0)) return tl_fail(err, TL_BAD_INPUT, "remeshing.velocity %g m/s, must be > 0", d->velocity);
    if (!isnan(d->compression) && !(d->compression > 0))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.compression %g m, must be > 0, or NAN for that of the fabric",
                       d->compression);
    if (!(d->rib_stiffening >= 0 && isfinite(d->rib_stiffening)))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.rib_stiffening %g, must be >= 0", d->rib_stiffening);
    if (!(d->obstacle_gap >= 0 && isfinite(d->obstacle_gap)))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.obstacle_gap %g m, must be >= 0", d->obstacle_gap);
    if (!(d->hysteresis >= 0 && d->hysteresis < 1))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.hysteresis %g, must be in [0, 1)", d->hysteresis);
    if (!(d->interval > 0)) return tl_fail(err, TL_BAD_INPUT, "remeshing.interval %g s, must be > 0", d->interval);
    if (d->patience < 1)
        return tl_fail(err, TL_BAD_INPUT, "remeshing.patience %d intervals, must be at least 1", d->patience);
    if (d->masses != TL_MASSES_AUTO && d->masses != TL_MASSES_THIRDS && d->masses != TL_MASSES_VORONOI)
        return tl_fail(err, TL_BAD_ARG, "remeshing.masses %d is none of ours", (int)d->masses);
    if (d->max_faces < 0) return tl_fail(err, TL_BAD_INPUT, "remeshing.max_faces %d, must be >= 0", d->max_faces);
    if (d->kind == TL_REMESHING_EDGE_TREES) return check_edge_trees(d, err);
    if (d->kind != TL_REMESHING_SQRT3) return TL_OK;
    const int32_t most_layers = 12;
    if (d->layers < 1 || d->layers > most_layers)
        return tl_fail(err, TL_BAD_INPUT, "remeshing.layers %d, must be 1 to %d", d->layers, most_layers);
    if (!(d->error > 0 && isfinite(d->error)))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.error %g m, must be > 0", d->error);
    if (d->criteria != TL_SQRT3_CURVATURE && d->criteria != TL_SQRT3_ALL)
        return tl_fail(err, TL_BAD_ARG, "remeshing.criteria %d is none of ours", (int)d->criteria);
    return TL_OK;
}

bool sim_remeshes(const tl_sim *sim)
{
    for (int32_t c = 0; c < sim->cloth_count; c++)
        if (sim->cloths[c].adapter->look) return true;
    return false;
}

static int64_t interval_of(const tl_sim *sim, const sim_cloth *cloth)
{
    return (int64_t)fmin(1e9, fmax(1, round(cloth->remeshing.interval / sim->def.dt)));
}

static bool is_due(const tl_sim *sim, const sim_cloth *cloth)
{
    return cloth->adapter->look && (sim->relaxing || sim->step % interval_of(sim, cloth) == 0);
}

// The last pass was so long ago that another is made in any case.
static bool is_overdue(const tl_sim *sim, const sim_cloth *cloth)
{
    return sim->relaxing || cloth->passed < 0 ||
           (sim->step - cloth->passed) / interval_of(sim, cloth) >= cloth->remeshing.patience;
}

// ---- what is around ---------------------------------------------------------------------------------------

static tl_status place_bodies(tl_sim *sim, surroundings *s, tl_error *err)
{
    const int32_t nb = s->body_count;
    s->guard = TL_SCRATCH(&sim->arena, tl_guard_body, nb);
    s->obstacle = TL_SCRATCH(&sim->arena, tl_obstacle, nb);
    s->clearance = TL_SCRATCH(&sim->arena, tl_clearance_body, nb);
    s->thickness = TL_SCRATCH(&sim->arena, double, nb);
    if (!s->thickness || !s->guard || !s->obstacle || !s->clearance) return tl_fail_memory(err, "remeshing");
    for (int32_t i = 0, b = -1; b + 1 < nb; i++) {
        sim_body *body = &sim->bodies[i];
        if (!body->present) continue;
        s->thickness[++b] = body->thickness;
        tl_vec3 point = {0, 0, 0}, normal = {0, 1, 0};
        if (body->kind == TL_BODY_PLANE) {
            sim_plane_at(body, sim->time, &point, &normal);
        } else {
            TL_TRY(sim_fit_body(sim, body, sim->time, err));
        }
        s->guard[b] = (tl_guard_body){.tree = body->tree, .point = point, .normal = normal};
        s->obstacle[b] = (tl_obstacle){.tree = body->tree, .point = point, .normal = normal};
        s->clearance[b] = (tl_clearance_body){.tree = body->tree, .point = point, .normal = normal};
        if (body->tree) tl_bvh_extent(body->tree, &s->clearance[b].lo, &s->clearance[b].hi);
    }
    return TL_OK;
}

static tl_status look_around(tl_sim *sim, surroundings *s, tl_error *err)
{
    *s = (surroundings){.body_count = sim_present_count(sim)};
    s->carry = TL_SCRATCH(&sim->arena, carried, sim->cloth_count);
    if (!s->carry) return tl_fail_memory(err, "remeshing");
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        s->thickest = fmax(s->thickest, sim->cloths[c].thickness);
        TL_TRY(remeshing_load_nodes(sim, c, &s->carry[c], err));
    }
    TL_TRY(place_bodies(sim, s, err));
    s->all = (tl_guard){s->guard, s->body_count, 0};
    return TL_OK;
}

// ---- a job for the adapter ---------------------------------------------------------------------------------

// Fits the trees of bodies that move to a time.
static tl_status fit_bodies(tl_sim *sim, double time, tl_error *err)
{
    for (int32_t i = 0; i < sim->body_count; i++) {
        sim_body *body = &sim->bodies[i];
        if (body->present && body->moves && body->tree) TL_TRY(sim_fit_body(sim, body, time, err));
    }
    return TL_OK;
}

static tl_status place_obstacles(void *host, double later, tl_error *err)
{
    const renewal *r = host;
    return fit_bodies(r->sim, r->sim->time + later, err);
}

static double relative(tl_vec3 drift, tl_vec3 of) { return tl_norm3(of) > 0 ? tl_norm3(drift) / tl_norm3(of) : 0; }

static void add_report(tl_remesh_counts *sum, const tl_remesh_report *r)
{
    sum->passes++;
    sum->splits += r->splits, sum->flips += r->flips, sum->collapses += r->collapses;
    sum->refused += r->refused, sum->too_long += r->too_long, sum->energy += r->energy;
    sum->momentum_drift = fmax(sum->momentum_drift, relative(r->momentum_drift, r->momentum));
    sum->spin_drift = fmax(sum->spin_drift, relative(r->spin_drift, r->spin));
}

// ---- energy -----------------------------------------------------------------------------------------------

// What a pass may add to the energy of the cloth: next to nothing of what a cloth at rest has; one that moves does not
// notice a little.
static tl_status grant_energy(tl_sim *sim, double *out, tl_error *err)
{
    // Stiffness is looked up anew: that of the last step is not what a state that was read back has.
    double stored, mass = 0, kinetic = 0;
    TL_TRY(tl_forces_stored(sim->elements, sim->x, sim->shape_changed, &(tl_ctx){&sim->arena, sim->workers}, &stored,
                            err));
    tl_vec3 momentum = {0, 0, 0};
    for (int32_t i = 0; i < sim->node_count; i++) {
        const double m = sim->elements->mass[i];
        mass += m, kinetic += 0.5 * m * tl_dot3(sim->v[i], sim->v[i]), momentum = tl_madd3(momentum, m, sim->v[i]);
    }
    kinetic -= 0.5 * tl_dot3(momentum, momentum) / mass;
    *out = ENERGY_RISE * stored + ENERGY_OF_MOTION * fmax(0, kinetic);
    return TL_OK;
}

// ---- a pass over all --------------------------------------------------------------------------------------

// Handles whose nodes hold along lines alone, as bits.
static int32_t *list_line_groups(tl_sim *sim)
{
    int32_t *lines = TL_SCRATCH(&sim->arena, int32_t, sim->handle_count / 32 + 1);
    if (!lines) return NULL;
    memset(lines, 0, (size_t)(sim->handle_count / 32 + 1) * sizeof *lines);
    for (int32_t h = 0; h < sim->handle_count; h++)
        if (sim->handles[h].on_line) lines[h / 32] |= (int32_t)(UINT32_C(1) << (h % 32));
    return lines;
}

// What the adapter is to know of a cloth; `host` lives as long as the job.
static tl_status fill_job(renewal *host, tl_adapt_job *out, tl_error *err)
{
    tl_sim *sim = host->sim;
    const surroundings *s = host->s;
    const sim_cloth *cloth = &sim->cloths[host->cloth];
    for (int32_t b = 0; b < s->body_count; b++) s->guard[b].keep = KEPT * (0.5 * cloth->thickness + s->thickness[b]);
    bool moves = false;
    for (int32_t i = 0; i < sim->body_count; i++)
        moves = moves || (sim->bodies[i].present && sim->bodies[i].moves && sim->bodies[i].tree);
    *out = (tl_adapt_job){.def = &cloth->remeshing,
                          .mesh = cloth->mesh,
                          .materials = cloth->materials,
                          .material_count = cloth->material_count,
                          .thickness = cloth->thickness,
                          .interval = (double)interval_of(sim, cloth) * sim->def.dt,
                          .overdue = is_overdue(sim, cloth),
                          .energy = s->energy,
                          .group_count = sim->handle_count,
                          .line_groups = list_line_groups(sim),
                          .obstacles = s->obstacle,
                          .obstacle_count = s->body_count,
                          .obstacles_move = moves,
                          .guard = &s->all,
                          .place_obstacles = place_obstacles,
                          .renew_clearance = remeshing_renew_clearance,
                          .measure_clearance = remeshing_measure_clearance,
                          .host = host,
                          .ctx = {&sim->arena, sim->workers}};
    return out->line_groups ? TL_OK : tl_fail_memory(err, "remeshing");
}

static tl_status remesh_cloth(tl_sim *sim, int32_t c, surroundings *s, tl_remesh_report *r, tl_error *err)
{
    const sim_cloth *cloth = &sim->cloths[c];
    renewal host = {sim, s, c, false};
    tl_adapt_job job;
    TL_TRY(fill_job(&host, &job, err));
    const tl_status status = cloth->adapter->change(cloth->adapter_self, &job, r, err);
    s->energy = fmax(0, s->energy - r->energy);
    if (status == TL_OK && r->splits + r->flips + r->collapses == 0) return status;
    const tl_status settled = remeshing_settle(sim, c, &s->carry[c], status == TL_OK ? err : NULL);
    return status == TL_OK ? settled : status;
}

static tl_status remesh_each(tl_sim *sim, surroundings *s, bool *changed, tl_remesh_counts *counts, tl_error *err)
{
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        if (!s->carry[c].wanted) continue;
        tl_remesh_report r = {0};
        sim->cloths[c].passed = sim->step;
        const tl_status status = remesh_cloth(sim, c, s, &r, err);
        // an operation that failed half-way is not counted, but may have left slots that what was compiled does not
        // know
        *changed = *changed || status != TL_OK || r.splits + r.flips + r.collapses > 0;
        add_report(counts, &r);
        counts->energy_left = s->energy;
        TL_TRY(status);
    }
    return TL_OK;
}

// Finds out which of the cloths that are due want a pass.
static tl_status judge_meshes(tl_sim *sim, surroundings *s, bool *any, tl_error *err)
{
    *any = false;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        carried *carry = &s->carry[c];
        carry->wanted = false;
        const sim_cloth *cloth = &sim->cloths[c];
        if (!is_due(sim, cloth)) continue;
        renewal host = {sim, s, c, false};
        tl_adapt_job job;
        TL_TRY(fill_job(&host, &job, err));
        TL_TRY(cloth->adapter->look(cloth->adapter_self, &job, &carry->wanted, err));
        *any = *any || carry->wanted;
    }
    return TL_OK;
}

static tl_status remesh_cloths(tl_sim *sim, bool *changed, tl_remesh_counts *counts, tl_error *err)
{
    surroundings s;
    bool wanted;
    TL_TRY(look_around(sim, &s, err));
    TL_TRY(judge_meshes(sim, &s, &wanted, err));
    if (!wanted) return TL_OK;
    TL_TRY(grant_energy(sim, &s.energy, err));
    const tl_status status = remesh_each(sim, &s, changed, counts, err);
    if (s.measured) remeshing_free_clearance(&s);
    return status;
}

tl_status sim_remesh(tl_sim *sim, tl_step_report *report, tl_error *err)
{
    bool due = false, changed = false;
    for (int32_t c = 0; c < sim->cloth_count; c++) due = due || is_due(sim, &sim->cloths[c]);
    if (!due || (sim->remeshed == sim->step && !sim->relaxing)) return TL_OK;
    const double start = tl_now();
    tl_arena_reset(&sim->arena);
    tl_status status = remesh_cloths(sim, &changed, &report->remesh, err);
    sim->remeshed = sim->step;
    if (changed) {
        const double dt_before = sim->dt_before;
        const tl_status compiled =
            sim_recompile(sim, status == TL_OK ? err : NULL);  // in any case: nothing fits the meshes any more
        if (compiled == TL_OK) remeshing_restore_nodes(sim, dt_before);
        if (status == TL_OK) status = compiled;
        sim->epoch_open = false;
        tl_log_write(&sim->def.log, TL_LOG_DEBUG, "step %lld: %d splits, %d flips, %d collapses, %d refused: %d faces",
                     (long long)sim->step, report->remesh.splits, report->remesh.flips, report->remesh.collapses,
                     report->remesh.refused, sim->face_count);
    }
    report->seconds.remesh += tl_now() - start;
    return status;
}
