// sim/views.c: read a simulation: views, normals, energies, strain, hash, memory.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "math/percentile.h"
#include "mesh/mesh_query.h"
#include "physics/forces.h"
#include "sim/internal.h"
#include "sim/springs.h"

const sim_cloth *sim_find_cloth(const tl_sim *sim, tl_cloth_id id)
{
    const int32_t place = sim_ids_place(&sim->cloth_ids, id.slot, id.gen);
    return place != TL_NO_PLACE ? &sim->cloths[place] : NULL;
}

double tl_sim_time(const tl_sim *sim) { return sim->time; }
int64_t tl_sim_steps(const tl_sim *sim) { return sim->step; }
int32_t tl_sim_cloth_count(const tl_sim *sim) { return sim->cloth_count; }

tl_cloth_id tl_sim_cloth(const tl_sim *sim, int32_t index)
{
    const sim_id id = sim_ids_at(&sim->cloth_ids, index);
    return (tl_cloth_id){id.slot, id.gen};
}

const char *tl_sim_cloth_name(const tl_sim *sim, tl_cloth_id id)
{
    const sim_cloth *cloth = sim_find_cloth(sim, id);
    return cloth ? cloth->name : NULL;
}

tl_status tl_sim_cloth_view(const tl_sim *sim, tl_cloth_id id, tl_cloth_view *out)
{
    const sim_cloth *cloth = sim_find_cloth(sim, id);
    *out = (tl_cloth_view){0};
    if (!cloth) return TL_BAD_ARG;
    if (cloth->engine) {
        sim_springs_view(cloth->engine, out);
        return TL_OK;
    }
    const tl_mesh *mesh = cloth->mesh;
    *out = (tl_cloth_view){mesh->pos,
                           mesh->vel,
                           mesh->node_label,
                           mesh->slots[TL_NODES].count,
                           mesh->uv,
                           mesh->vert_node,
                           mesh->slots[TL_VERTS].count,
                           (const int32_t(*)[3])mesh->face_vert,
                           mesh->face_label,
                           mesh->slots[TL_FACES].count};
    return TL_OK;
}

tl_status tl_sim_cloth_normals(const tl_sim *sim, tl_cloth_id id, tl_vec3 *out)
{
    const sim_cloth *cloth = sim_find_cloth(sim, id);
    if (!cloth || !out) return TL_BAD_ARG;
    if (cloth->engine) {  // at the rate of frames: no mesh is made for it
        spring_cloth_normals(cloth->engine, out);
        return TL_OK;
    }
    return tl_mesh_node_normals(cloth->mesh, sim->workers, out, NULL);
}

// Reading may be the first thing that happens after cloths were added.
static tl_status make_ready(tl_sim *sim)
{
    TL_TRY(sim_compile(sim, NULL));
    if (sim->begun) return TL_OK;
    const tl_step_def still = {.now = 1};
    tl_forces_begin(sim->elements, &still, sim->x, NULL, true, sim->workers);
    sim->begun = true;
    return TL_OK;
}

tl_status tl_sim_energies(tl_sim *sim, tl_energies *out)
{
    *out = (tl_energies){0};
    TL_TRY(make_ready(sim));
    tl_potential p;
    const tl_step_def still = {.gravity = sim->def.gravity};
    TL_TRY(tl_forces_energy(sim->elements, &still, sim->x, &(tl_ctx){&sim->arena, sim->workers}, &p, NULL));
    double kinetic = 0;
    for (int32_t i = 0; i < sim->node_count; i++)
        kinetic += 0.5 * sim->elements->mass[i] * tl_dot3(sim->v[i], sim->v[i]);
    *out = (tl_energies){kinetic, p.stretch, p.bend, p.gravity};
    return TL_OK;
}

// Strains that most of the area keeps to, by material area.
static tl_status strain_percentiles(tl_sim *sim, tl_strain_range *out)
{
    const tl_elements *e = sim->elements;
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    double *low = TL_SCRATCH(&sim->arena, double, e->face_count),
           *high = TL_SCRATCH(&sim->arena, double, e->face_count);
    if (!low || !high) return TL_NO_MEMORY;
    for (int32_t f = 0; f < e->face_count; f++) {
        double w[2];
        tl_forces_stretch(e, sim->x, f, w);
        high[f] = w[0] - 1, low[f] = w[1] - 1;
    }
    double least[2], most[2];
    TL_TRY(tl_percentiles(low, e->area, e->face_count, (const double[]){0.01, 0.5}, 2, least, &sim->arena, NULL));
    TL_TRY(tl_percentiles(high, e->area, e->face_count, (const double[]){0.99, 0.5}, 2, most, &sim->arena, NULL));
    out->min_99 = least[0], out->min_50 = least[1], out->max_99 = most[0], out->max_50 = most[1];
    tl_arena_release(&sim->arena, mark);
    return TL_OK;
}

tl_status tl_sim_strain(tl_sim *sim, tl_strain_range *out)
{
    *out = (tl_strain_range){0};
    TL_TRY(make_ready(sim));
    const tl_elements *e = sim->elements;
    *out = (tl_strain_range){.min = (double)INFINITY, .max = -(double)INFINITY};
    for (int32_t c = 0; c < e->cloth_count; c++)
        for (int32_t slot = e->cloth_face_start[c]; slot < e->cloth_face_start[c + 1]; slot++) {
            if (e->face_of[slot] == TL_NONE) continue;
            double w[2];
            tl_forces_stretch(e, sim->x, e->face_of[slot], w);
            const int32_t face = slot - e->cloth_face_start[c];
            if (w[0] - 1 > out->max) out->max = w[0] - 1, out->max_face = face, out->max_cloth = tl_sim_cloth(sim, c);
            if (w[1] - 1 < out->min) out->min = w[1] - 1, out->min_face = face, out->min_cloth = tl_sim_cloth(sim, c);
        }
    return strain_percentiles(sim, out);
}

uint64_t tl_sim_hash(const tl_sim *sim)
{
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, &sim->step, sizeof sim->step);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        if (sim->cloths[c].engine) {
            const spring_cloth *s = sim->cloths[c].engine;
            tl_hash_add(&hash, s->node_pos, (size_t)s->node_count * sizeof *s->node_pos);
            tl_hash_add(&hash, s->node_vel, (size_t)s->node_count * sizeof *s->node_vel);
            tl_hash_add(&hash, s->face, (size_t)s->tri_count * sizeof *s->face);
            continue;
        }
        const tl_mesh *mesh = sim->cloths[c].mesh;
        const size_t nodes = (size_t)mesh->slots[TL_NODES].count;
        tl_hash_add(&hash, mesh->pos, nodes * sizeof *mesh->pos);
        tl_hash_add(&hash, mesh->vel, nodes * sizeof *mesh->vel);
        tl_hash_add(&hash, mesh->face_vert, (size_t)mesh->slots[TL_FACES].count * sizeof *mesh->face_vert);
    }
    return tl_hash_value(&hash);
}

tl_memory_report tl_sim_memory(const tl_sim *sim) { return (tl_memory_report){sim->memory.used, sim->memory.peak}; }
