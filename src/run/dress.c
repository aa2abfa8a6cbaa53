// run/dress.c: settling: a sewn garment under gravity until it rests. Sewing itself is run/sewing.c.

#include "run/dress.h"

#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "dress/mark.h"
#include "math/vec3.h"
#include "run/dress_stage.h"
#include "run/fit.h"
#include "toile/live.h"

#define SETTLE_DT 0.01
#define SETTLE_KEEP 0.9   // of the speed, per step
#define SETTLE_LEAST 0.5  // [s]: what has just been let go is slow at first
enum { REST_STEPS = 10 };

static double mean_speed(const tl_dress_stage *s)
{
    tl_cloth_view v;
    double sum = 0;
    if (tl_sim_cloth_view(s->sim, s->cloth, &v) != TL_OK) return 0;
    for (int32_t i = 0; i < v.node_count; i++) sum += tl_norm3(v.vel[i]);
    return sum / (v.node_count > 0 ? v.node_count : 1);
}

// ---- settling -----------------------------------------------------------------------------------------------

double tl_dress_tie(const tl_garment *g, const tl_dress_hold *hold, int32_t *nodes, tl_status *status, tl_error *err)
{
    const double length = tl_garment_mark_length(g, hold->mark, nodes, status, err);
    return *nodes > 0 ? hold->stiffness * length / *nodes : 0;
}

static tl_status add_holds(tl_dress_stage *s, tl_error *err)
{
    s->report->held = 0;
    for (int32_t i = 0; i < s->def->hold_count; i++) {
        const tl_dress_hold *hold = &s->def->holds[i];
        int32_t nodes;
        tl_status status;
        tl_handle_def def = tl_handle_def_default();
        def.cloth = s->cloth, def.label = hold->mark;
        const double stiffness = tl_dress_tie(s->g, hold, &nodes, &status, err);
        if (status != TL_OK) return status;
        if (nodes < 2) continue;
        if (stiffness > 0) {
            def.body = s->body, def.stiffness = stiffness, def.slack = TL_DRESS_SLACK;
            TL_TRY(tl_sim_add_handle(s->sim, &def, err));
            s->report->held += nodes;
        }
        if (!(hold->elastic > 0)) continue;
        def.body = (tl_body_id){0, 0}, def.slack = 0, def.elastic = hold->elastic;
        TL_TRY(tl_sim_add_handle(s->sim, &def, err));
    }
    return TL_OK;
}

// What the ties carry: the body stands still, so a node's place on it is where the node began.
static tl_status measure_holds(tl_dress_stage *s, tl_error *err)
{
    tl_cloth_view v;
    s->report->hold_force = 0;
    if (tl_sim_cloth_view(s->sim, s->cloth, &v) != TL_OK) return TL_OK;
    for (int32_t i = 0; i < s->def->hold_count; i++) {
        int32_t nodes;
        tl_status status;
        const double stiffness = tl_dress_tie(s->g, &s->def->holds[i], &nodes, &status, err);
        if (status != TL_OK) return status;
        for (int32_t n = 0; n < s->g->node_count && stiffness > 0; n++)
            if (s->g->node_mark[n] == s->def->holds[i].mark)
                s->report->hold_force +=
                    stiffness * fmax(0, tl_norm3(tl_sub3(v.pos[n], s->g->pos[n])) - TL_DRESS_SLACK);
    }
    return TL_OK;
}

static tl_status settle(tl_dress_stage *s, double seconds, double rest_speed, tl_error *err)
{
    TL_TRY(tl_dress_begin(s, SETTLE_DT, true, NULL, 0, err));
    TL_TRY(add_holds(s, err));
    const int steps = (int)(seconds / SETTLE_DT + 0.5);
    const int least = (int)(SETTLE_LEAST / SETTLE_DT + 0.5);
    for (int i = 0, rested = 0; i < steps && rested < REST_STEPS; i++) {
        TL_TRY(tl_dress_step(s, (double)i / steps, err));
        s->report->speed = mean_speed(s);
        rested = i >= least && s->report->speed < rest_speed ? rested + 1 : 0;
        if (rested == 0) TL_TRY(tl_sim_slow(s->sim, SETTLE_KEEP, err));  // at rest it has to stay so by itself
    }
    tl_strain_range strain;
    TL_TRY(tl_sim_strain(s->sim, &strain));
    s->report->strain_min = strain.min, s->report->strain_max = strain.max;
    s->report->strain_min_99 = strain.min_99, s->report->strain_max_99 = strain.max_99;
    tl_intersection_report found;
    TL_TRY(tl_sim_intersections(s->sim, &found, err));
    s->report->crossings = found.cloth_cloth + found.cloth_body;
    TL_TRY(measure_holds(s, err));
    tl_dress_take_back(s);
    return tl_fit_measure(s->sim, s->cloth, s->def->material, s->g, &s->report->fit, err);
}

tl_status tl_dress_settle(const tl_dress_def *def, tl_garment *g, double seconds, double rest_speed,
                          tl_drape_garment *report, tl_error *err)
{
    tl_dress_stage s = {.def = def, .g = g, .report = report};
    const tl_status status = settle(&s, seconds, rest_speed, err);
    tl_sim_destroy(s.sim);
    return status;
}
