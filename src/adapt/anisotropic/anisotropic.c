// adapt/anisotropic/anisotropic.c: the kinds `anisotropic` and `isotropic`: a sizing field, and a pass of remeshing to
// it. They differ in the field alone: tensors of even shape have an aspect of 1.

#include <math.h>
#include <string.h>

#include "adapt/adapt.h"
#include "adapt/anisotropic/remesh.h"
#include "adapt/anisotropic/sizing.h"
#include "base/fail.h"
#include "mesh/mesh_attr.h"

static const tl_remesh_policy *const policy = &tl_remesh_policy_default;

// ---- the field --------------------------------------------------------------------------------------------

// Makes the field coarser as a whole if it asks for more faces than are allowed.
static void keep_to_budget(const tl_mesh *mesh, const tl_sizing_def *def, int32_t max_faces, tl_sym2 *field)
{
    if (max_faces <= 0) return;
    const double scale = 0.9 * max_faces / (policy->faces_per_area * tl_remesh_area(mesh, field));
    if (!(scale < 1)) return;
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++)
        field[v] = tl_sizing_clamp(def, tl_sym2_scale(scale, field[v]));
}

// Cloth at rest on a body keeps a distance from it that says nothing about the size of its faces.
static double gap_of(const tl_adapt_job *job) { return fmax(job->def->obstacle_gap, 0.5 * job->thickness); }

// A body goes some way until the next look, and meets faces as the field wants them now: it is to be looked for where
// it will be, too. What it passes on the way, and planes that move, are not looked for.
static tl_status add_planes_to_come(const tl_adapt_job *job, const tl_sizing_def *def, tl_obstacle_plane *planes,
                                    tl_error *err)
{
    const int32_t count = job->mesh->slots[TL_NODES].count;
    if (!job->obstacles_move) return TL_OK;
    tl_obstacle_plane *then = TL_SCRATCH(job->ctx.arena, tl_obstacle_plane, count);
    if (!then) return tl_fail_memory(err, "the sizing field");
    TL_TRY(job->place_obstacles(job->host, job->interval, err));
    const tl_status status = tl_obstacle_planes(job->mesh, job->obstacles, job->obstacle_count, tl_obstacle_reach(def),
                                                gap_of(job), job->ctx.workers, then, err);
    TL_TRY(job->place_obstacles(job->host, 0, status == TL_OK ? err : NULL));  // for all else they are where they are
    for (int32_t n = 0; n < count && status == TL_OK; n++)
        if (then[n].distance < planes[n].distance) planes[n] = then[n];
    return status;
}

static tl_sizing_def sizing_def(const tl_adapt_job *job, bool isotropic)
{
    const tl_remeshing *d = job->def;
    tl_sizing_def def = tl_sizing_def_default();
    def.curvature = d->curvature, def.velocity = d->velocity, def.compression = d->compression;
    def.size_min = d->size_min, def.size_max = d->size_max;
    def.aspect_min = isotropic ? 1 : d->aspect_min;
    def.edge_angles = d->edge_angles != 0, def.rib_stiffening = d->rib_stiffening;
    def.narrowing = d->narrowing != 0;
    def.obstacles = d->obstacles != 0 && job->obstacle_count > 0;
    def.blend = d->blend == TL_BLEND_SUM ? TL_SIZING_SUM : TL_SIZING_MAX;
    return def;
}

static tl_sizing_fabric *list_fabrics(const tl_adapt_job *job)
{
    tl_sizing_fabric *fabric = TL_SCRATCH(job->ctx.arena, tl_sizing_fabric, job->material_count);
    for (int32_t m = 0; fabric && m < job->material_count; m++) fabric[m] = tl_sizing_fabric_of(&job->materials[m]);
    return fabric;
}

static tl_status look(const tl_adapt_job *job, bool isotropic, bool *wanted, tl_error *err)
{
    tl_mesh *mesh = job->mesh;
    tl_remesh_attrs attrs;
    TL_TRY(tl_remesh_attach(mesh, job->group_count, &attrs, err));
    const tl_sizing_def def = sizing_def(job, isotropic);
    tl_obstacle_plane *planes =
        TL_SCRATCH(job->ctx.arena, tl_obstacle_plane, def.obstacles ? mesh->slots[TL_NODES].count : 0);
    const tl_sizing_fabric *fabric = list_fabrics(job);
    if (!planes || !fabric) return tl_fail_memory(err, "the sizing field");
    if (def.obstacles) {
        TL_TRY(tl_obstacle_planes(mesh, job->obstacles, job->obstacle_count, tl_obstacle_reach(&def), gap_of(job),
                                  job->ctx.workers, planes, err));
        TL_TRY(add_planes_to_come(job, &def, planes, err));
    }
    tl_sym2 *field = (tl_sym2 *)tl_mesh_attr_doubles(mesh, TL_VERTS, attrs.size);
    TL_TRY(
        tl_sizing_field(mesh, &def, fabric, job->material_count, def.obstacles ? planes : NULL, &job->ctx, field, err));
    keep_to_budget(mesh, &def, job->def->max_faces, field);
    *wanted = job->overdue || tl_remesh_needs_pass(mesh, &attrs);
    return TL_OK;
}

static tl_status look_anisotropic(void *self, const tl_adapt_job *job, bool *wanted, tl_error *err)
{
    (void)self;
    return look(job, false, wanted, err);
}

static tl_status look_isotropic(void *self, const tl_adapt_job *job, bool *wanted, tl_error *err)
{
    (void)self;
    return look(job, true, wanted, err);
}

// ---- the pass ---------------------------------------------------------------------------------------------

static tl_status change(void *self, const tl_adapt_job *job, tl_remesh_report *report, tl_error *err)
{
    (void)self;
    tl_remesh_attrs attrs;
    TL_TRY(tl_remesh_attach(job->mesh, job->group_count, &attrs, err));
    double *density = TL_SCRATCH(job->ctx.arena, double, job->material_count);
    const tl_sizing_fabric *fabric = list_fabrics(job);
    if (!density || !fabric) return tl_fail_memory(err, "remeshing");
    for (int32_t m = 0; m < job->material_count; m++) density[m] = job->materials[m].density;
    const tl_remesh_def def = {.hysteresis = job->def->hysteresis,
                               .aspect_min = fmin(policy->aspect_cap, job->def->aspect_min),
                               .max_faces = job->def->max_faces,
                               .density = density,
                               .lumping = tl_lumping_of(job->def),
                               .guard = job->guard,
                               .fabric = fabric,
                               .energy = job->energy,
                               .workers = job->ctx.workers,
                               .line_groups = job->line_groups,
                               .renew_clearance = job->renew_clearance,
                               .measure_clearance = job->measure_clearance,
                               .renew_self = job->host};
    return tl_remesh(job->mesh, &attrs, &def, report, err);
}

// ---- what later passes go by ------------------------------------------------------------------------------

// How often edges were flipped, a byte for each, and which nodes have come and gone: it decides about the next flip and
// the next collapse.
static size_t save(const void *self, const tl_mesh *mesh, char *out)
{
    (void)self;
    const int32_t *turned = tl_mesh_attr_ints(mesh, TL_EDGES, tl_mesh_attr_find(mesh, TL_EDGES, "turned"));
    const double *churn = tl_mesh_attr_doubles(mesh, TL_NODES, tl_mesh_attr_find(mesh, TL_NODES, "churn"));
    const int32_t count = mesh->slots[TL_EDGES].count;
    const size_t bytes = TL_CHURN_WIDTH * sizeof(double) * (size_t)mesh->slots[TL_NODES].count;
    for (int32_t e = 0; out && e < count; e++) out[e] = turned ? (char)turned[e] : 0;
    if (out && churn) memcpy(out + count, churn, bytes);
    if (out && !churn) memset(out + count, 0, bytes);
    return (size_t)count + bytes;
}

static tl_status load(tl_mesh *mesh, const tl_remeshing *def, int32_t group_count, const char *data, size_t size,
                      size_t *used, void **self, tl_error *err)
{
    (void)def;
    tl_remesh_attrs attrs;
    const int32_t count = mesh->slots[TL_EDGES].count;
    const size_t bytes = save(NULL, mesh, NULL);
    if (size < bytes) return tl_fail(err, TL_BAD_INPUT, "saved state: too short");
    TL_TRY(tl_remesh_attach(mesh, group_count, &attrs, err));
    for (int32_t e = 0; e < count; e++) tl_mesh_attr_ints(mesh, TL_EDGES, attrs.turned)[e] = data[e];
    memcpy(tl_mesh_attr_doubles(mesh, TL_NODES, attrs.churn), data + count, bytes - (size_t)count);
    *used = bytes, *self = NULL;
    return TL_OK;
}

static void hash(const tl_remeshing *d, tl_hash *hash)
{
    const double numbers[13] = {(int)d->kind,
                                d->size_min,
                                d->size_max,
                                d->aspect_min,
                                d->curvature,
                                d->velocity,
                                isnan(d->compression) ? -1 : d->compression,
                                d->obstacles,
                                (int)d->blend,
                                d->hysteresis,
                                d->interval,
                                d->max_faces,
                                d->patience};
    tl_hash_add(hash, numbers, sizeof numbers);
    const double more[2] = {d->edge_angles, d->rib_stiffening};
    if (more[0] != 0 || more[1] != 0) tl_hash_add(hash, more, sizeof more);
    if (!d->narrowing) tl_hash_add(hash, &d->narrowing, sizeof d->narrowing);
    if (d->obstacle_gap != 0) tl_hash_add(hash, &d->obstacle_gap, sizeof d->obstacle_gap);
}

const tl_adapter tl_adapter_anisotropic = {
    .name = "anisotropic",
    .promise = "faces as long and as thin as wrinkles allow, by splits, flips and collapses",
    .keeps_clear = true,
    .look = look_anisotropic,
    .change = change,
    .save = save,
    .load = load,
    .hash = hash,
};

const tl_adapter tl_adapter_isotropic = {
    .name = "isotropic",
    .promise = "faces of even shape, small where the cloth needs it, by the same operations",
    .keeps_clear = true,
    .look = look_isotropic,
    .change = change,
    .save = save,
    .load = load,
    .hash = hash,
};
