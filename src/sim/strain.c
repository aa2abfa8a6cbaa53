// sim/strain.c: strain limits of a simulation: made with the elements, their multipliers kept with the faces of the
// meshes.
//
// Between compilations the multipliers live in the attribute "limit_stress" of the faces (three numbers, in material
// coordinates, per width): what splits, flips and collapses do to it is the business of the mesh.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "math/vec3.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_query.h"
#include "sim/internal.h"

#define ATTRIBUTE "limit_stress"

bool sim_has_limits(const tl_sim *sim)
{
    for (int32_t c = 0; c < sim->cloth_count; c++)
        if (sim->cloths[c].strain.kind != TL_STRAIN_FREE) return true;
    return false;
}

static double *stress_of(const tl_mesh *mesh)
{
    const int32_t index = tl_mesh_attr_find(mesh, TL_FACES, ATTRIBUTE);
    return index == TL_NONE ? NULL : tl_mesh_attr_doubles(mesh, TL_FACES, index);
}

/// A seam whose sides differ so much in length that no strain within the limits fits both.
typedef struct unlike_seam {
    int32_t edges;       ///< how many there are
    double widen, a, b;  ///< of the worst: limits wider by this much, lengths of its sides
    tl_vec3 place;
} unlike_seam;

static double side_length(const tl_mesh *mesh, int32_t e, int side)
{
    return tl_norm2(
        tl_sub2(mesh->uv[tl_mesh_edge_vert(mesh, e, side, 0)], mesh->uv[tl_mesh_edge_vert(mesh, e, side, 1)]));
}

// An edge has one length in space: where a pattern gathers cloth at a seam by more than the limits allow, the limits
// are widened there, by as little as possible.
static unlike_seam make_room_at_seams(tl_sim *sim, int32_t cloth)
{
    const tl_mesh *mesh = sim->cloths[cloth].mesh;
    const int32_t *face_of = sim->elements->face_of + sim->elements->cloth_face_start[cloth];
    unlike_seam worst = {0};
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e) || tl_mesh_edge_kind(mesh, e) != TL_EDGE_SEAM) continue;
        const int32_t *f = mesh->edge_face[e];
        if (f[0] == TL_NONE || f[1] == TL_NONE || face_of[f[0]] == TL_NONE || face_of[f[1]] == TL_NONE) continue;
        const double a = side_length(mesh, e, 0), b = side_length(mesh, e, 1);
        const double widen = tl_strain_widen_seam(sim->limits, face_of[f[0]], face_of[f[1]], fmax(a, b) / fmin(a, b));
        if (!(widen > 0)) continue;
        worst.edges++;
        if (widen > worst.widen)
            worst.widen = widen, worst.a = a, worst.b = b, worst.place = mesh->pos[mesh->edge_node[e][0]];
    }
    return worst;
}

void sim_warn_of_seams(tl_sim *sim)
{
    for (int32_t c = 0; sim->limits && c < sim->cloth_count; c++) {
        const tl_strain_def *d = &sim->cloths[c].strain;
        if (d->kind != TL_STRAIN_ISOTROPIC) continue;
        const unlike_seam s = make_room_at_seams(sim, c);
        if (s.edges == 0) continue;
        tl_log_write(
            &sim->def.log, TL_LOG_WARNING,
            "cloth %d: sides of a seam at (%.3g, %.3g, %.3g) m are %.4g and %.4g mm long: no strain from %g to "
            "%g %% fits both, so limits are wider by up to %.2g %% in faces at %d such edges (wider "
            "strain_limits or a seam with less gathering mends it)",
            c, s.place.x, s.place.y, s.place.z, 1e3 * s.a, 1e3 * s.b, 100 * d->min, 100 * d->max, 100 * s.widen,
            s.edges);
    }
}

tl_status sim_compile_strain(tl_sim *sim, tl_error *err)
{
    if (!sim_has_limits(sim)) return TL_OK;
    const tl_elements *e = sim->elements;
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    tl_strain_def *defs = TL_SCRATCH(&sim->arena, tl_strain_def, sim->cloth_count);
    if (!defs) return tl_fail_memory(err, "the strain limits");
    for (int32_t c = 0; c < sim->cloth_count; c++) defs[c] = sim->cloths[c].strain;
    const tl_status status = tl_strain_limits_create(&sim->alloc, e, defs, &sim->limits, err);
    tl_arena_release(&sim->arena, mark);
    if (status != TL_OK) return status;
    tl_strain_tighten(sim->limits, TL_STRAIN_MARGIN);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        tl_mesh *mesh = sim->cloths[c].mesh;
        if (sim->cloths[c].strain.kind == TL_STRAIN_FREE) continue;
        if (!stress_of(mesh))
            TL_TRY(tl_mesh_attr_add(mesh, TL_FACES, ATTRIBUTE, TL_DOUBLE, 3, TL_ATTR_MEAN, &(int32_t){0}, err));
        const double *stress = stress_of(mesh);
        for (int32_t slot = 0; slot < mesh->slots[TL_FACES].count; slot++)
            if (tl_alive(mesh, TL_FACES, slot)) sim_set_limit_stress(sim, c, slot, stress + 3 * slot);
        make_room_at_seams(sim, c);
    }
    return TL_OK;
}

void sim_discard_strain(tl_sim *sim)
{
    tl_strain_limits_destroy(sim->limits);
    sim->limits = NULL;
}

void sim_publish_strain(tl_sim *sim)
{
    for (int32_t c = 0; sim->limits && c < sim->cloth_count; c++) {
        tl_mesh *mesh = sim->cloths[c].mesh;
        double *stress = stress_of(mesh);
        for (int32_t slot = 0; stress && slot < mesh->slots[TL_FACES].count; slot++)
            if (tl_alive(mesh, TL_FACES, slot)) sim_limit_stress(sim, c, slot, stress + 3 * slot);
    }
}

void sim_limit_stress(const tl_sim *sim, int32_t cloth, int32_t slot, double out[3])
{
    const int32_t f = sim->elements->face_of[sim->elements->cloth_face_start[cloth] + slot];
    for (int k = 0; k < 3; k++) out[k] = sim->limits && f != TL_NONE ? sim->limits->multiplier[f][k] : 0;
}

void sim_set_limit_stress(tl_sim *sim, int32_t cloth, int32_t slot, const double in[3])
{
    const int32_t f = sim->elements->face_of[sim->elements->cloth_face_start[cloth] + slot];
    if (sim->limits && f != TL_NONE) memcpy(sim->limits->multiplier[f], in, sizeof sim->limits->multiplier[f]);
}

tl_status tl_sim_limit_strain(tl_sim *sim, double *excess, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    if (excess) *excess = 0;
    TL_TRY(sim_compile(sim, err));
    if (!sim->limits) return TL_OK;
    tl_elements *e = sim->elements;
    sim_find_held(sim, e->fixed);
    const tl_project_def def = tl_project_def_default();
    tl_project_report report;
    tl_vec3 *x = TL_ALLOC(&sim->alloc, tl_vec3, sim->node_count);
    if (!x) return tl_fail_memory(err, "the strain limits");
    memcpy(x, sim->x, (size_t)sim->node_count * sizeof *x);
    const tl_status status =
        tl_strain_project(sim->limits, e, &def, x, &(tl_ctx){&sim->arena, sim->workers}, &report, err);
    if (status == TL_OK) {
        memcpy(sim->x, x, (size_t)sim->node_count * sizeof *x);
        if (excess) *excess = report.state.worst;
        sim->shape_changed = true, sim->begun = false, sim->epoch_open = false, sim->started = false,
        sim->dt_before = 0;
        sim_publish(sim);
    }
    TL_FREE(&sim->alloc, x, sim->node_count);
    return status;
}
