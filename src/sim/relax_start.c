// sim/relax_start.c: cloth that is strained at the start is brought to equilibrium before the first step.
//
// Garments are often given as a coarse mesh that was pulled around a body by hand: a few hundred faces, some of them
// stretched many times over. When released, they snap back within a few steps and crumple on whatever they hit. So the
// cloth first moves by its own stress, every step from rest (relax.c), under contact; between rounds the mesh is
// refined, from coarse to fine, since a coarse mesh can neither follow a body nor buckle. Faces that are then still
// beyond their limits are brought within them in several stages (Narain, Samii & O'Brien 2012, end of sec. 6, with
// limits of zero); the paper moves nodes by a projection that knows nothing of contact, here limits are part of the
// potential as in every step.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "mesh/mesh_attr.h"
#include "sim/internal.h"

#define AT_REST 0.02         // largest strain with which there is nothing to do, whatever is asked for
#define EFFORT 1e6           // [ns] a face and round, by the model of tl_workers_charge
#define USUAL_LIMIT 0.15     // strain in the end where neither the caller nor the cloth says
#define LIMIT_STEP 0.75      // of the worst strain: limits of a round
#define LIMIT_DT 0.02        // [s] of the first step of such a round
#define LIMIT_EFFORT 4e5     // [ns] a face and round of limits
#define LIMIT_PROGRESS 0.97  // a round of limits that leaves more of the worst strain is one in vain
#define HELD 1e-3            // excess that counts as none, as in a step
enum { MOST_ROUNDS = 8, LIMIT_ROUNDS = 12, LIMIT_STEPS = 4, LIMIT_VAIN = 2 };
static const char PLACE[] = "start_place";

// Settings of a cloth that are changed during relaxation.
typedef struct kept {
    double size_min;
    tl_strain_def strain;
} kept;

typedef struct relaxer {
    tl_sim *sim;
    kept *kept;  // per cloth
    tl_start_report *report;
} relaxer;

tl_status sim_check_start(const tl_start_def *d, tl_error *err)
{
    if (d->relax != TL_RELAX_AUTO && d->relax != TL_RELAX_ON && d->relax != TL_RELAX_OFF)
        return tl_fail(err, TL_BAD_ARG, "start.relax %d is none of ours", (int)d->relax);
    if (!(d->strain > 0)) return tl_fail(err, TL_BAD_ARG, "start.strain %g, must be > 0", d->strain);
    if (!isnan(d->limit_min) && !(d->limit_min > -1 && d->limit_min <= 0))
        return tl_fail(err, TL_BAD_ARG, "start.limit_min %g, must be in (-1, 0]", d->limit_min);
    if (!isnan(d->limit_max) && !(d->limit_max >= 0))
        return tl_fail(err, TL_BAD_ARG, "start.limit_max %g, must be >= 0", d->limit_max);
    return TL_OK;
}

// ---- where cloth was --------------------------------------------------------------------------------------

// The start position of a material point is interpolated as the mesh changes: new nodes lie on edges, which were
// straight.
static tl_status note_places(tl_sim *sim, tl_error *err)
{
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        tl_mesh *mesh = sim->cloths[c].mesh;
        int32_t index = tl_mesh_attr_find(mesh, TL_NODES, PLACE);
        if (index == TL_NONE) TL_TRY(tl_mesh_attr_add(mesh, TL_NODES, PLACE, TL_DOUBLE, 3, TL_ATTR_MEAN, &index, err));
        memcpy(tl_mesh_attr_doubles(mesh, TL_NODES, index), mesh->pos,
               (size_t)mesh->slots[TL_NODES].count * sizeof *mesh->pos);
    }
    return TL_OK;
}

static tl_status forget_places(tl_sim *sim, tl_error *err)
{
    tl_status status = TL_OK;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        tl_mesh *mesh = sim->cloths[c].mesh;
        const int32_t index = tl_mesh_attr_find(mesh, TL_NODES, PLACE);
        if (index == TL_NONE) continue;
        const tl_status removed = tl_mesh_attr_remove(mesh, TL_NODES, index, status == TL_OK ? err : NULL);
        if (status == TL_OK) status = removed;
    }
    return status;
}

#define MOVED 1e-6  // [m] less is none

static void measure_moves(const tl_sim *sim, tl_start_report *out)
{
    double sum = 0, mass = 0;
    out->relax.moved = 0, out->relax.largest_move = 0;
    const tl_elements *e = sim->elements;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        const tl_vec3 *from =
            (const tl_vec3 *)tl_mesh_attr_doubles(mesh, TL_NODES, tl_mesh_attr_find(mesh, TL_NODES, PLACE));
        for (int32_t i = 0; from && i < mesh->slots[TL_NODES].count; i++) {
            const int32_t n = e->node_of[e->cloth_node_start[c] + i];
            if (n == TL_NONE) continue;
            const double way = tl_norm3(tl_sub3(sim->x[n], from[i]));
            out->relax.moved += way > MOVED;
            out->relax.largest_move = fmax(out->relax.largest_move, way);
            sum += e->mass[n] * way, mass += e->mass[n];
        }
    }
    out->relax.mean_move = mass > 0 ? sum / mass : 0;
}

// ---- rounds -----------------------------------------------------------------------------------------------

// Target lengths, halved from the longest edge down to the shortest one wanted.
static int rounds_of(const tl_sim *sim)
{
    int most = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_remeshing *d = &sim->cloths[c].remeshing;
        if (d->kind == TL_REMESHING_NONE) continue;
        int rounds = 0;
        while (rounds < MOST_ROUNDS && d->size_max / (double)(1 << rounds) > d->size_min) rounds++;
        most = rounds > most ? rounds : most;
    }
    return most;
}

static tl_status refine(relaxer *r, int round, tl_error *err)
{
    tl_sim *sim = r->sim;
    tl_step_report pass = {0};
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        tl_remeshing *d = &sim->cloths[c].remeshing;
        d->size_min = fmax(r->kept[c].size_min, d->size_max / (double)(1 << round));
    }
    sim_publish(sim);
    sim->relaxing = true;
    const tl_status status = sim_remesh(sim, &pass, err);
    sim->relaxing = false;
    return status;
}

static tl_status relax_round(relaxer *r, tl_error *err)
{
    tl_sim *sim = r->sim;
    sim_relax_def def = sim_relax_def_default();
    def.effort = EFFORT, def.strain = AT_REST;
    int32_t steps;
    TL_TRY(sim_relax(sim, &def, &steps, err));
    r->report->relax.steps += steps, r->report->relax.rounds++;
    tl_strain_range strain;
    TL_TRY(tl_sim_strain(sim, &strain));
    tl_log_write(&sim->def.log, TL_LOG_DEBUG, "relaxing, round %d: %d faces, %d steps, strain %+.3g to %+.3g",
                 r->report->relax.rounds, sim->face_count, steps, strain.min, strain.max);
    return TL_OK;
}

// ---- limits -----------------------------------------------------------------------------------------------

static double worst_of(tl_sim *sim)
{
    tl_strain_range s = {0};
    tl_sim_strain(sim, &s);
    return fmax(s.max, -s.min);
}

// Final limits of a cloth: those given, its own, or the defaults.
static tl_strain_def limits_of(const relaxer *r, int32_t c)
{
    const tl_start_def *d = &r->sim->def.start;
    tl_strain_def out = r->kept[c].strain;
    const bool given = !isnan(d->limit_min) || !isnan(d->limit_max);
    if (out.kind != TL_STRAIN_FREE && !given) return out;
    out = (tl_strain_def){.kind = TL_STRAIN_ISOTROPIC, .min = -USUAL_LIMIT, .max = USUAL_LIMIT};
    if (!isnan(d->limit_min)) out.min = d->limit_min;
    if (!isnan(d->limit_max)) out.max = d->limit_max;
    return out;
}

// Limits no narrower than `least` on either side.
static tl_strain_def widen(tl_strain_def d, double least)
{
    const double low = fmax(-least, -0.95);
    d.min = fmin(d.min, low), d.max = fmax(d.max, least);
    if (d.kind == TL_STRAIN_ALIGNED) {
        d.weft_min = fmin(d.weft_min, low), d.weft_max = fmax(d.weft_max, least);
        d.shear = fmax(d.shear, least);
    }
    return d;
}

static tl_status set_limits(relaxer *r, double least, tl_error *err)
{
    tl_sim *sim = r->sim;
    sim_publish_strain(sim);
    for (int32_t c = 0; c < sim->cloth_count; c++) sim->cloths[c].strain = widen(limits_of(r, c), least);
    sim_discard_strain(sim);
    return sim_compile_strain(sim, err);
}

static tl_status excess_of(relaxer *r, double *out, tl_error *err)
{
    tl_sim *sim = r->sim;
    tl_strain_state now;
    TL_TRY(tl_strain_measure(sim->limits, sim->elements, sim->x, HELD, false, &(tl_ctx){&sim->arena, sim->workers},
                             &now, err));
    *out = now.worst;
    return TL_OK;
}

// One round with limits of `least`; cloth that ends up worse, because bodies leave no space, is reset.
static tl_status limit_round(relaxer *r, double least, double *worst, tl_error *err)
{
    tl_sim *sim = r->sim;
    const size_t bytes = (size_t)sim->node_count * sizeof *sim->x;
    tl_vec3 *before = TL_ALLOC(&sim->alloc, tl_vec3, sim->node_count);
    if (!before) return tl_fail_memory(err, "relaxing");
    memcpy(before, sim->x, bytes);
    sim_relax_def def = sim_relax_def_default();
    def.effort = LIMIT_EFFORT, def.strain = least, def.steps = LIMIT_STEPS, def.dt = LIMIT_DT;
    tl_status status = set_limits(r, least, err);
    def.limits = sim->limits;
    int32_t steps = 0;
    if (status == TL_OK) status = sim_relax(sim, &def, &steps, err);
    if (status == TL_OK) {
        r->report->relax.steps += steps, r->report->relax.limit_rounds++;
        const double now = worst_of(sim);
        tl_log_write(&sim->def.log, TL_LOG_DEBUG, "relaxing, limits of %.3g: %d steps, worst strain %.3g -> %.3g",
                     least, steps, *worst, now);
        if (now < *worst)
            *worst = now;
        else
            memcpy(sim->x, before, bytes), sim->begun = false;
    }
    TL_FREE(&sim->alloc, before, sim->node_count);
    return status;
}

// Tightens limits from the worst strain to the final ones, and stops where bodies or handles keep cloth stretched.
static tl_status bring_within(relaxer *r, tl_error *err)
{
    double worst = worst_of(r->sim);
    for (int round = 0, vain = 0; round < LIMIT_ROUNDS; round++) {
        TL_TRY(set_limits(r, 0, err));
        TL_TRY(excess_of(r, &r->report->relax.excess, err));
        if (!(r->report->relax.excess > HELD) || vain == LIMIT_VAIN) return TL_OK;
        const double before = worst;
        TL_TRY(limit_round(r, LIMIT_STEP * worst, &worst, err));
        vain = worst > LIMIT_PROGRESS * before ? vain + 1 : 0;
    }
    return TL_OK;
}

// ---- all of it --------------------------------------------------------------------------------------------

static tl_status relax_all(relaxer *r, tl_error *err)
{
    tl_sim *sim = r->sim;
    sim_publish(sim);
    TL_TRY(note_places(sim, err));
    for (int32_t c = 0; c < sim->cloth_count; c++) sim->cloths[c].strain.kind = TL_STRAIN_FREE;
    sim_discard_strain(sim);
    TL_TRY(relax_round(r, err));
    const int rounds = rounds_of(sim);
    for (int round = 1; round < rounds; round++) {
        TL_TRY(refine(r, round, err));
        TL_TRY(relax_round(r, err));
    }
    TL_TRY(bring_within(r, err));
    if (r->report->relax.excess > HELD && rounds > 0) {  // folds need short edges
        TL_TRY(refine(r, rounds, err));
        TL_TRY(bring_within(r, err));
    }
    measure_moves(sim, r->report);
    return TL_OK;
}

static void give_back(const relaxer *r)
{
    for (int32_t c = 0; c < r->sim->cloth_count; c++)
        r->sim->cloths[c].remeshing.size_min = r->kept[c].size_min, r->sim->cloths[c].strain = r->kept[c].strain;
}

// Undoes a relaxation that was cancelled, meshes included.
static tl_status relax_or_undo(relaxer *r, tl_error *err)
{
    tl_sim *sim = r->sim;
    const void *data;
    size_t size;
    TL_TRY(tl_sim_save(sim, &data, &size, err));
    void *before = tl_alloc_bytes(&sim->alloc, size, 1);
    if (!before) return tl_fail_memory(err, "relaxing");
    memcpy(before, data, size);
    tl_status status = relax_all(r, err);
    give_back(r);
    if (status == TL_OK) status = forget_places(sim, err);
    if (status == TL_OK) {
        sim_publish_strain(sim);
        sim_discard_strain(sim);
        status = sim_compile_strain(sim, err);
    }
    if (status != TL_OK) {
        tl_workers_watch(sim->workers, NULL);
        forget_places(sim, NULL);
        tl_sim_restore(sim, before, size, NULL);
    }
    tl_free_bytes(&sim->alloc, before, size, 1);
    return status;
}

static tl_status relax_start(tl_sim *sim, tl_start_report *report, tl_error *err)
{
    relaxer r = {sim, TL_CALLOC(&sim->alloc, kept, sim->cloth_count), report};
    if (!r.kept) return tl_fail_memory(err, "relaxing");
    for (int32_t c = 0; c < sim->cloth_count; c++)
        r.kept[c] = (kept){sim->cloths[c].remeshing.size_min, sim->cloths[c].strain};
    const tl_status status = relax_or_undo(&r, err);
    TL_FREE(&sim->alloc, r.kept, sim->cloth_count);
    if (status != TL_OK) return status;
    // the past of BDF2 is not the past of these places, and a pass has just been made
    sim->dt_before = 0, sim->begun = false, sim->shape_changed = true, sim->epoch_open = false;
    sim->remeshed = sim->step;
    sim_publish(sim);
    return TL_OK;
}

tl_status sim_relax_start(tl_sim *sim, tl_start_report *report, tl_error *err)
{
    const tl_start_def *d = &sim->def.start;
    if (d->relax == TL_RELAX_OFF || sim->step > 0) return TL_OK;
    tl_strain_range before, after;
    TL_TRY(tl_sim_strain(sim, &before));
    const bool strained =
        d->relax == TL_RELAX_ON ? before.max > AT_REST || before.min < -AT_REST : before.max > d->strain;
    if (!strained) return TL_OK;
    const int32_t faces = sim->face_count;
    TL_TRY(relax_start(sim, report, err));
    TL_TRY(tl_sim_strain(sim, &after));
    tl_relax_report *out = &report->relax;
    out->faces_before = faces, out->faces = sim->face_count;
    out->strain_before[0] = before.min, out->strain_before[1] = before.max;
    out->strain[0] = after.min, out->strain[1] = after.max;
    tl_log_write(&sim->def.log, out->excess > HELD ? TL_LOG_WARNING : TL_LOG_INFO,
                 "the start is strained by %+.3g to %+.3g %%: brought to rest in %d rounds and %d steps; now %+.3g to "
                 "%+.3g %%, %d faces instead of %d, nodes moved by %.3g m on average and %.3g m at most%s",
                 100 * before.min, 100 * before.max, out->rounds, out->steps, 100 * after.min, 100 * after.max,
                 out->faces, out->faces_before, out->mean_move, out->largest_move,
                 out->excess > HELD ? " (bodies or handles keep it strained: the limits are out of reach)" : "");
    return TL_OK;
}
