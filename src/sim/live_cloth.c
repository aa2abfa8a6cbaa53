// sim/live_cloth.c: what a cloth is made of and how its mesh follows it, changed while the simulation runs.
//
// Shape, speed and mesh stay as they are; what was compiled from them is made anew, and the solver starts afresh. The
// hierarchies of edge trees under the implicit solver and of sqrt3 are built from the mesh as it was given, so such
// kinds can be neither left nor entered on the way.

#include <string.h>

#include "base/fail.h"
#include "sim/internal.h"
#include "sim/spring_cloth.h"
#include "sim/springs.h"
#include "toile/live.h"

static tl_status find_cloth(const tl_sim *sim, tl_cloth_id id, sim_cloth **out, tl_error *err)
{
    const int32_t c = sim_ids_place(&sim->cloth_ids, id.slot, id.gen);
    *out = c == TL_NO_PLACE ? NULL : &sim->cloths[c];
    return *out ? TL_OK
                : tl_fail(err, TL_BAD_ARG, "no such cloth (slot %u, generation %u): it was removed", id.slot, id.gen);
}

tl_status tl_cloth_materials(const tl_sim *sim, tl_cloth_id id, const tl_material **out, int32_t *count, tl_error *err)
{
    sim_cloth *cloth;
    if (!sim || !out || !count) return tl_fail(err, TL_BAD_ARG, "cloth_materials: sim, out or count is NULL");
    TL_TRY(find_cloth(sim, id, &cloth, err));
    *out = cloth->materials, *count = cloth->material_count;
    return TL_OK;
}

static tl_status keep_given(tl_sim *sim, sim_cloth *cloth, tl_error *err)
{
    if (cloth->materials_given) return TL_OK;
    cloth->materials_given = TL_ALLOC(&sim->alloc, tl_material, cloth->material_count);
    if (!cloth->materials_given) return tl_fail_memory(err, "a cloth");
    memcpy(cloth->materials_given, cloth->materials, (size_t)cloth->material_count * sizeof *cloth->materials);
    return TL_OK;
}

tl_status tl_cloth_set_materials(tl_sim *sim, tl_cloth_id id, const tl_material *materials, int32_t count,
                                 tl_error *err)
{
    sim_cloth *cloth;
    if (!sim) return tl_fail(err, TL_BAD_ARG, "cloth_set_materials: sim is NULL");
    TL_TRY(sim_go_back(sim, err));
    TL_TRY(find_cloth(sim, id, &cloth, err));
    if (!materials)
        materials = cloth->materials_given ? cloth->materials_given : cloth->materials, count = cloth->material_count;
    if (count != cloth->material_count)
        return tl_fail(err, TL_BAD_ARG, "cloth '%s' is made of %d materials, %d are given", cloth->name,
                       cloth->material_count, count);
    for (int32_t i = 0; i < count; i++) TL_TRY(tl_material_check(&materials[i], err));
    TL_TRY(keep_given(sim, cloth, err));
    if (cloth->engine) {
        TL_TRY(spring_cloth_set_fabric(cloth->engine, materials, err));
        sim->springs_stale = true;
    } else {
        sim_discard(sim);
    }
    memmove(cloth->materials, materials, (size_t)count * sizeof *materials);
    return TL_OK;
}

tl_status tl_cloth_remeshing(const tl_sim *sim, tl_cloth_id id, tl_remeshing *out, tl_error *err)
{
    sim_cloth *cloth;
    if (!sim || !out) return tl_fail(err, TL_BAD_ARG, "cloth_remeshing: sim or out is NULL");
    TL_TRY(find_cloth(sim, id, &cloth, err));
    *out = cloth->remeshing;
    return TL_OK;
}

// Whether a cloth may go from one kind to another on its way.
static tl_status check_kinds(const tl_sim *sim, const sim_cloth *cloth, int32_t index, const tl_remeshing *to,
                             tl_error *err)
{
    const tl_remeshing_kind from = cloth->remeshing.kind;
    if (to->masses != cloth->remeshing.masses)
        return tl_fail(err, TL_BAD_ARG, "cloth '%s': how masses are shared out stays as it was", cloth->name);
    if (to->kind == from) return TL_OK;
    const tl_kinds kinds = sim_kinds(&sim->def, to->kind);
    TL_TRY(tl_kinds_check(&kinds, err));
    const bool keeps = cloth->adapter->create || tl_adapter_of(to->kind)->create;
    if (!sim_by_springs(sim) && keeps)
        return tl_fail(err, TL_BAD_ARG, "cloth '%s': from remeshing.kind %s to %s only at the start", cloth->name,
                       tl_adapter_of(from)->name, tl_adapter_of(to->kind)->name);
    for (int32_t i = 0; !sim_by_springs(sim) && i < sim->handle_count; i++)
        if (sim->handles[i].cloth == index && sim->handles[i].ties)
            return tl_fail(err, TL_BAD_ARG, "cloth '%s' has ties or bands, which need a mesh that stays as it is",
                           cloth->name);
    if (cloth->spring_count > 0)
        return tl_fail(err, TL_BAD_ARG, "cloth '%s' has springs to places, which need a mesh that stays as it is",
                       cloth->name);
    return TL_OK;
}

tl_status tl_cloth_set_remeshing(tl_sim *sim, tl_cloth_id id, const tl_remeshing *remeshing, tl_error *err)
{
    sim_cloth *cloth;
    if (!sim) return tl_fail(err, TL_BAD_ARG, "cloth_set_remeshing: sim is NULL");
    TL_TRY(sim_go_back(sim, err));
    TL_TRY(find_cloth(sim, id, &cloth, err));
    if (!remeshing) remeshing = &cloth->remeshing_given;
    TL_TRY(sim_check_remeshing(remeshing, err));
    TL_TRY(check_kinds(sim, cloth, (int32_t)(cloth - sim->cloths), remeshing, err));
    const bool other = remeshing->kind != cloth->remeshing.kind;
    cloth->remeshing = *remeshing;
    if (sim_by_springs(sim)) {
        sim_springs_retune(sim, cloth);
        return TL_OK;
    }
    sim_discard(sim);
    if (other) cloth->passed = -1, cloth->adapter = tl_adapter_of(remeshing->kind);  // it is looked at soon
    return TL_OK;
}
