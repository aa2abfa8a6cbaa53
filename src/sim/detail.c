// sim/detail.c: the eye at a time, and budgets by distance and by time.

#include "sim/detail.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "sim/motion.h"
#include "sim/springs.h"

enum { FEWEST_FACES = 8 };  // that a budget of time comes down to

void tl_detail_init(tl_detail *detail, size_t size)
{
    const tl_detail defaults = {.near = 1, .far = 10};
    tl_def_init(detail, size, &defaults, sizeof defaults);
}

static tl_status check(const tl_sim *sim, const tl_detail *d, tl_error *err)
{
    if (!sim_by_springs(sim))
        return tl_fail(err, TL_BAD_INPUT, "detail goes with dynamics.kind springs and response push-out alone");
    if (d->key_count < 0 || (d->key_count > 0 && !d->keys))
        return tl_fail(err, TL_BAD_ARG, "detail: %d keys", d->key_count);
    for (int32_t i = 0; i < d->key_count; i++)
        if (!tl_finite3(d->keys[i].eye) || !isfinite(d->keys[i].time) ||
            (i > 0 && !(d->keys[i].time > d->keys[i - 1].time)))
            return tl_fail(err, TL_BAD_INPUT, "detail: key %d at %g s: times must grow, and all be finite", i,
                           d->keys[i].time);
    if (!d->key_count && (d->cull || d->far_faces > 0))
        return tl_fail(err, TL_BAD_INPUT, "detail: cull and far_faces need an eye (keys)");
    if (!(d->near >= 0) || !(d->far > d->near) || !isfinite(d->far))
        return tl_fail(err, TL_BAD_INPUT, "detail: near %g m, far %g m, must be >= 0 and in order", d->near, d->far);
    if (d->far_faces < 0) return tl_fail(err, TL_BAD_INPUT, "detail: far_faces %d, must be >= 0", d->far_faces);
    if (!(d->step_seconds >= 0 && d->step_seconds < 10))
        return tl_fail(err, TL_BAD_INPUT, "detail: step_seconds %g s, must be from 0 (none) to 10", d->step_seconds);
    return TL_OK;
}

void sim_free_detail(tl_sim *sim)
{
    tl_detail_key *keys = (tl_detail_key *)(uintptr_t)sim->detail.keys;
    TL_FREE(&sim->alloc, keys, sim->detail.key_count);
    sim->detail = (tl_detail){0};
}

tl_status tl_sim_set_detail(tl_sim *sim, const tl_detail *given, tl_error *err)
{
    TL_DEF_COMPLETE(tl_detail, detail, given, err);
    TL_TRY(check(sim, &detail, err));
    tl_detail_key *keys = TL_ALLOC(&sim->alloc, tl_detail_key, detail.key_count);
    if (!keys) return tl_fail_memory(err, "detail");
    if (detail.key_count) memcpy(keys, detail.keys, (size_t)detail.key_count * sizeof *keys);
    detail.keys = keys;
    sim_free_detail(sim);
    sim->detail = detail;
    return TL_OK;
}

// ---- for a step -----------------------------------------------------------------------------------------------

static double distance_of(const spring_cloth *c, tl_vec3 eye)
{
    tl_vec3 sum = {0, 0, 0};
    for (int32_t n = 0; n < c->node_count; n++) sum = tl_add3(sum, c->node_pos[n]);
    return c->node_count > 0 ? tl_norm3(tl_sub3(tl_mul3(1.0 / c->node_count, sum), eye)) : 0;
}

static int32_t smaller(int32_t a, int32_t b) { return a > 0 && (b <= 0 || a < b) ? a : b; }

// Faces of this cloth for which the time that is left to it was enough: cloths share it by what they cost.
static int32_t faces_for_time(const tl_sim *sim, const spring_cloth *c)
{
    double all = 0;
    for (int32_t i = 0; i < sim->cloth_count; i++)
        if (sim->cloths[i].engine) all += sim->cloths[i].engine->cost * sim->cloths[i].engine->tri_count;
    if (!(c->cost > 0) || !(all > 0)) return 0;
    const double faces = c->tri_count * sim->detail.step_seconds / all;
    return faces < FEWEST_FACES ? FEWEST_FACES : faces > 1e8 ? 100000000 : (int32_t)faces;
}

spring_sight sim_sight_of(const tl_sim *sim, const sim_cloth *cloth, double time)
{
    const tl_detail *d = &sim->detail;
    spring_sight s = {.hidden = d->hidden != 0, .budget = cloth->remeshing.max_faces};
    if (d->key_count > 0) {
        s.cull = d->cull != 0;
        s.eye = tl_curve_at(d->keys, d->key_count, sizeof *d->keys, offsetof(tl_detail_key, eye), time);
    }
    if (d->key_count > 0 && d->far_faces > 0) {
        const double part = (distance_of(cloth->engine, s.eye) - d->near) / (d->far - d->near);
        const double near_faces = s.budget > 0 ? s.budget : d->far_faces;
        s.budget = (int32_t)(near_faces + fmin(1, fmax(0, part)) * (d->far_faces - near_faces));
    }
    if (d->step_seconds > 0) s.budget = smaller(faces_for_time(sim, cloth->engine), s.budget);
    return s;
}
