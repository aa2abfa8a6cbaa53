// dynamics/parts.c: halving, and the response after a solve.

#include "dynamics/parts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"

typedef struct halver {
    void *self;
    tl_part_attempt attempt;
    tl_step_report *report;
} halver;

// What fails is not begun, so a state is always that of a part that was taken.
static tl_status advance(const halver *h, tl_dynamics_world *w, tl_part part, tl_error *err)
{
    if (part.depth >= w->halvings) {
        const tl_arena_mark mark = tl_arena_save(w->ctx.arena);
        part.last = part.depth >= w->set.max_halvings || tl_workers_exhausted(w->ctx.workers);
        const tl_status status = h->attempt(h->self, w, &part, h->report, err);
        tl_arena_release(w->ctx.arena, mark);
        h->report->substeps += status == TL_OK;
        if (status == TL_OK) *w->dt_before = part.dt;
        if (status != TL_FAILED) return status;
        h->report->rejected++;
        if (part.depth >= w->set.max_halvings) return status;
    }
    part.dt /= 2, part.depth++;
    TL_TRY(advance(h, w, part, err));
    part.begin += part.dt;
    return advance(h, w, part, err);
}

tl_status tl_step_in_parts(void *self, tl_part_attempt attempt, tl_dynamics_world *w, double begin, double dt,
                           tl_step_report *report, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(w->ctx.arena);
    const size_t bytes = (size_t)w->node_count * sizeof(tl_vec3);
    tl_vec3 *x = TL_SCRATCH(w->ctx.arena, tl_vec3, w->node_count),
            *v = TL_SCRATCH(w->ctx.arena, tl_vec3, w->node_count);
    tl_status status = x && v ? TL_OK : tl_fail_memory(err, "a step");
    if (status == TL_OK) {
        memcpy(x, w->x, bytes), memcpy(v, w->v, bytes);
        const double before = *w->dt_before;
        const halver h = {self, attempt, report};
        status = advance(&h, w, (tl_part){.begin = begin, .dt = dt}, err);
        if (status != TL_OK) memcpy(w->x, x, bytes), memcpy(w->v, v, bytes), *w->dt_before = before;
    }
    tl_arena_release(w->ctx.arena, mark);
    return status;
}

static void add_contact_report(const tl_dynamics_world *w, tl_step_report *report)
{
    if (!w->responder->report) return;
    tl_contact_report now = {0}, *sum = &report->contact;
    w->responder->report(w->response, &now);
    now.searches += sum->searches, now.volume_tests += sum->volume_tests, now.held += sum->held;
    now.zones += sum->zones, now.zone_rounds += sum->zone_rounds;
    now.found += sum->found, now.there += sum->there, now.missed += sum->missed;
    now.detection_seconds += sum->detection_seconds;
    now.fit_seconds += sum->fit_seconds, now.overlap_seconds += sum->overlap_seconds;
    if (sum->zone_nodes > now.zone_nodes) now.zone_nodes = sum->zone_nodes;
    *sum = now;
}

tl_status tl_part_respond(tl_dynamics_world *w, const tl_part *part, const tl_part_end *end, tl_step_report *report,
                          tl_error *err)
{
    if (!w->response || !w->responder->after) return TL_OK;
    const double start = tl_now();
    const tl_respond_begin at = {.begin = part->begin,
                                 .dt = part->dt,
                                 .gamma = 1 / part->dt,
                                 .pinch = part->last ? TL_PINCH_ANY : TL_PINCH_ENCLOSED,
                                 .again = part->depth > 0,
                                 .x_hat = w->x,
                                 .target = end->target};
    TL_TRY(w->begin_response(w->host, &at, err));
    const tl_respond_move move = {w->node_count, w->elements->fixed, end->target, w->x,
                                  end->target,   part->dt,           !part->last};
    bool clear = true;
    TL_TRY(w->responder->after(w->response, &move, end->x, end->v, &clear, &w->ctx, err));
    add_contact_report(w, report);
    report->seconds.collision += tl_now() - start;
    return clear ? TL_OK : tl_fail(err, TL_FAILED, "%s between moving bodies were not resolved", w->responder->name);
}
