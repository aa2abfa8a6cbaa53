// sim/lee.c: the lee of a step: bodies as they are when it begins, and the cloth itself (detect/lee.h).

#include "base/fail.h"
#include "math/vec3.h"
#include "sim/internal.h"

static tl_status add_body(tl_sim *sim, const sim_body *body, double time, tl_lee_surface *out, tl_error *err)
{
    tl_vec3 *x = TL_SCRATCH(&sim->arena, tl_vec3, body->node_count);
    if (!x) return tl_fail_memory(err, "the lee");
    sim_body_at(body, time, x);
    *out = (tl_lee_surface){x, body->node_count, (const int32_t(*)[3])body->face, body->face_count};
    return TL_OK;
}

tl_status sim_lee(tl_sim *sim, double time, const tl_lee_surface *cloths, int32_t cloth_count, int32_t of, tl_vec3 wind,
                  const float **out, tl_error *err)
{
    *out = NULL;
    if (!(sim->def.air.lee > 0) || !(tl_norm3(wind) > 0)) return TL_OK;
    float *part = TL_SCRATCH(&sim->arena, float, cloths[of].face_count);
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    tl_lee_surface *all = TL_SCRATCH(&sim->arena, tl_lee_surface, cloth_count + sim->body_count);
    if (!part || !all) return tl_fail_memory(err, "the lee");
    int32_t count = 0;
    while (count < cloth_count) all[count] = cloths[count], count++;
    tl_status status = TL_OK;
    for (int32_t i = 0; i < sim->body_count && status == TL_OK; i++)
        if (sim->bodies[i].present && sim->bodies[i].kind != TL_BODY_PLANE)
            status = add_body(sim, &sim->bodies[i], time, &all[count++], err);
    if (status == TL_OK)
        status = tl_lee_parts(all, count, of, wind, sim->def.air.lee, &(tl_ctx){&sim->arena, sim->workers}, part, err);
    tl_arena_release(&sim->arena, mark);
    *out = part;
    return status;
}
