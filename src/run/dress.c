// run/dress.c: the stages of dressing, each a short simulation of its own.
//
// Sewing flat panels around a body at its full size would press cloth into it where a garment fits closely, and limbs
// are in the way of what is to close around them. So the body is drawn in towards its skeleton first (dress/thin.h),
// the seams are drawn together around that by springs under contact (dress/garment.h), sewn pairs become one node, and
// the body grows back to its size inside the garment. Contact keeps its promise throughout: a body that moves pushes
// cloth before it. Every step but those under gravity starts from rest, so nothing swings.

#include "run/dress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/workers.h"
#include "dress/clear.h"
#include "dress/mark.h"
#include "dress/thin.h"
#include "math/vec3.h"
#include "run/fit.h"
#include "toile/body.h"
#include "toile/live.h"

#define THIN_LENGTH 0.1  // [m] of shrinking
#define SEW_DT 0.02      // [s]
#define SEW_REACH 0.02   // [m] that threads draw in a step
#define SEW_FIRST 5.0    // [N/m] of a thread, at first and in the end
#define SEW_LAST 300.0
#define SEW_CLOSED 2.5  // gap that counts as closed, in thicknesses
#define GROW_DT 0.02
#define SETTLE_DT 0.01
#define SETTLE_KEEP 0.9    // of the speed, per step
#define SEW_PROGRESS 0.97  // a widest gap that comes to less of the best so far is progress
#define SETTLE_LEAST 0.5   // [s]: what has just been let go is slow at first
enum { SEW_STEPS = 150, SEW_IDLE = 8, SEW_HARD = 30, GROW_STEPS = 40, FREE_STEPS = 10 };

typedef struct stage {
    const tl_dress_def *def;
    tl_garment *g;
    tl_drape_garment *report;
    tl_sim *sim;
    tl_cloth_id cloth;
    tl_body_id body;
} stage;

static tl_status add_body(stage *s, const char *name, const tl_dress_body *b, const tl_vec3 *from, double seconds,
                          tl_error *err)
{
    tl_body_def body = tl_body_def_default();
    const double times[2] = {0, seconds};
    body.name = name, body.friction = s->def->friction;
    body.node_count = b->vert_count, body.face_count = b->face_count, body.face = b->face, body.pos = b->pos;
    tl_vec3 *keys = NULL;
    const size_t n = (size_t)b->vert_count;
    if (from && seconds > 0) {
        keys = TL_ALLOC(&s->g->alloc, tl_vec3, 2 * n);
        if (!keys) return tl_fail_memory(err, "a body");
        memcpy(keys, from, n * sizeof *keys), memcpy(keys + n, b->pos, n * sizeof *keys);
        body.key_count = 2, body.key_time = times, body.key_pos = keys;
    } else if (from) {
        body.pos = from;
    }
    const tl_status status = tl_sim_add_body(s->sim, &body, &s->body, err);
    TL_FREE(&s->g->alloc, keys, 2 * n);
    return status;
}

static int asked(void *user)
{
    const tl_dress_watch *w = user;
    return w->cancelled ? w->cancelled(w->user) : 0;
}

/// `thin`: the body as it is at the start, NULL: at its size; it takes `seconds` to grow.
static tl_status begin(stage *s, double dt, bool gravity, const tl_vec3 *thin, double seconds, tl_error *err)
{
    const tl_dress_def *d = s->def;
    tl_sim_def def = tl_sim_def_default();
    def.dt = dt, def.threads = d->threads;
    def.alloc = s->g->alloc;
    def.collide.on_intersection = TL_INTERSECTION_PINCH;
    def.start.relax = TL_RELAX_OFF;
    if (d->watch.log) def.log = *d->watch.log;
    if (!gravity) {
        def.gravity = (tl_vec3){0, 0, 0};
        def.air.density = 0, def.air.skin = 0;
    }
    TL_TRY(tl_sim_create(&def, &s->sim, err));
    tl_cancel cancel = {asked, (void *)&d->watch};
    tl_sim_set_cancel(s->sim, &cancel);
    tl_cloth_def cloth = tl_cloth_def_default();
    const tl_garment *g = s->g;
    cloth.name = "garment";
    cloth.node_count = g->node_count, cloth.pos = g->pos;
    cloth.node_label = g->node_mark;
    cloth.vert_count = g->vert_count, cloth.uv = g->uv, cloth.vert_node = g->vert_node;
    cloth.face_count = g->face_count, cloth.face = (const int32_t(*)[3])g->face;
    cloth.materials = d->material, cloth.material_count = 1;
    cloth.thickness = d->thickness;
    cloth.remeshing.kind = TL_REMESHING_NONE;
    TL_TRY(tl_sim_add_cloth(s->sim, &cloth, &s->cloth, err));
    return add_body(s, "body", &d->body, thin, seconds, err);
}

static void take_back(stage *s)
{
    tl_cloth_view v;
    if (tl_sim_cloth_view(s->sim, s->cloth, &v) == TL_OK)
        memcpy(s->g->pos, v.pos, (size_t)v.node_count * sizeof *v.pos);
}

static tl_status step(stage *s, double part, tl_error *err)
{
    const tl_dress_watch *w = &s->def->watch;
    tl_step_report r;
    TL_TRY(tl_sim_step(s->sim, &r, err));
    s->report->steps++;
    if (r.contact.pinched > s->report->pinched) s->report->pinched = r.contact.pinched;
    if (w->progress) w->progress(w->user, part);
    return asked((void *)w) ? tl_fail(err, TL_CANCELLED, "dressing was stopped") : TL_OK;
}

static double mean_speed(const stage *s)
{
    tl_cloth_view v;
    double sum = 0;
    if (tl_sim_cloth_view(s->sim, s->cloth, &v) != TL_OK) return 0;
    for (int32_t i = 0; i < v.node_count; i++) sum += tl_norm3(v.vel[i]);
    return sum / (v.node_count > 0 ? v.node_count : 1);
}

// ---- sewing -------------------------------------------------------------------------------------------------

// Until the seams whose turn it is are as near as contact lets them, or something is in the way.
static tl_status draw_together(stage *s, const tl_threads *t, int32_t turn, double k[2], tl_error *err)
{
    tl_garment *g = s->g;
    const double closed = SEW_CLOSED * s->def->thickness;
    double best = (double)INFINITY;
    k[turn] = SEW_FIRST;
    for (int i = 0, idle = 0; i < SEW_STEPS; i++) {
        take_back(s);
        const tl_gap gap = tl_garment_gap(g, t->turn, turn);
        idle = gap.widest < SEW_PROGRESS * best ? 0 : idle + 1;
        best = fmin(best, gap.widest);
        tl_log_write(s->def->watch.log, TL_LOG_DEBUG, "sewing: turn %d, step %d, gap %.4g m, mean %.4g, %.3g N/m", turn,
                     i, gap.widest, gap.mean, k[turn]);
        if (gap.vert < 0 || gap.widest <= closed) break;
        if (k[turn] >= SEW_LAST && idle > (gap.widest < SEW_REACH ? SEW_IDLE : SEW_HARD)) break;
        if (gap.mean < SEW_REACH) k[turn] = fmin(1.25 * k[turn], SEW_LAST);
        tl_garment_threads(g, g->pos, k, SEW_REACH, t);
        TL_TRY(tl_cloth_set_springs(s->sim, s->cloth, t->stiffness, t->to, g->node_count, err));
        TL_TRY(step(s, 0.5 * turn + 0.5 * (double)i / SEW_STEPS, err));
        TL_TRY(tl_sim_slow(s->sim, 0, err));
    }
    take_back(s);
    return TL_OK;
}

static tl_status thin_body(const stage *s, tl_vec3 **out, tl_error *err)
{
    const tl_dress_body *b = &s->def->body;
    *out = TL_ALLOC(&s->g->alloc, tl_vec3, b->vert_count);
    if (!*out) return tl_fail_memory(err, "a thin body");
    return tl_body_thin(&s->g->alloc, b->pos, b->vert_count, b->face, b->face_count, THIN_LENGTH, *out, err);
}

static tl_status clear(stage *s, const tl_vec3 *thin, tl_error *err)
{
    const tl_dress_body *b = &s->def->body;
    tl_workers *workers = NULL;
    tl_clear_report r;
    TL_TRY(tl_workers_create(&s->g->alloc, s->def->threads, &workers, err));
    const tl_clear_def def = {thin, b->vert_count, b->face, b->face_count, workers};
    const tl_status status = tl_panels_clear(&def, s->g, &r, err);
    tl_workers_destroy(workers);
    if (status != TL_OK) return status;
    s->report->crossings_start = r.crossings_before;
    tl_log_write(s->def->watch.log, TL_LOG_INFO,
                 "panels: %lld crossings before, %lld after %d rounds, moved by up to %.3g m",
                 (long long)r.crossings_before, (long long)r.crossings_after, r.rounds, r.largest_move);
    return TL_OK;
}

static tl_status sew(stage *s, const tl_vec3 *thin, const tl_threads *t, tl_error *err)
{
    double k[2] = {0, 0};
    TL_TRY(clear(s, thin, err));
    TL_TRY(begin(s, SEW_DT, false, thin, 0, err));
    tl_start_report start;
    TL_TRY(tl_sim_start(s->sim, &start, err));
    s->report->gap_start = tl_garment_gap(s->g, NULL, 0).widest;
    tl_garment_turns(s->g, t->turn);
    TL_TRY(draw_together(s, t, 0, k, err));
    TL_TRY(draw_together(s, t, 1, k, err));
    const tl_gap gap = tl_garment_gap(s->g, NULL, 0);
    s->report->gap = gap.widest;
    for (int i = 0; i < 2 && gap.vert >= 0; i++) {
        const int32_t panel = s->g->vert_panel[i == 0 ? gap.vert : s->g->sewn[gap.vert]];
        snprintf(s->report->gap_panel[i], sizeof s->report->gap_panel[i], "%.63s",
                 tl_pattern_panel(s->def->pattern, panel)->name);
    }
    if (gap.vert >= 0)
        tl_log_write(s->def->watch.log, TL_LOG_INFO, "sewing: widest gap %.3g m between %s and %s", gap.widest,
                     s->report->gap_panel[0], s->report->gap_panel[1]);
    return tl_garment_weld(s->g, NULL, err);
}

#define SHOULDERS 0.75  // of the height of the body: below them, hanging; above, worn

static double shoulders_of(const tl_dress_body *b)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int32_t i = 0; i < b->vert_count; i++) low = fmin(low, b->pos[i].y), high = fmax(high, b->pos[i].y);
    return low + SHOULDERS * (high - low);
}

tl_status tl_dress_sew(const tl_dress_def *def, tl_garment *g, tl_drape_garment *report, tl_error *err)
{
    stage s = {.def = def, .g = g, .report = report};
    const int32_t n = g->node_count;
    tl_vec3 *thin = NULL;
    tl_threads t = {TL_ALLOC(&g->alloc, int32_t, n), TL_ALLOC(&g->alloc, double, n), TL_ALLOC(&g->alloc, tl_vec3, n),
                    TL_ALLOC(&g->alloc, double, n), shoulders_of(&def->body)};
    const bool room = t.stiffness && t.to && t.turn && t.top;
    tl_status status = room ? thin_body(&s, &thin, err) : tl_fail_memory(err, "sewing");
    if (status == TL_OK) status = sew(&s, thin, &t, err);
    tl_sim_destroy(s.sim);
    TL_FREE(&g->alloc, t.stiffness, n);
    TL_FREE(&g->alloc, t.to, n);
    TL_FREE(&g->alloc, t.turn, n);
    TL_FREE(&g->alloc, t.top, n);
    TL_FREE(&g->alloc, thin, def->body.vert_count);
    return status;
}

// ---- growing ------------------------------------------------------------------------------------------------

static tl_status grow(stage *s, const tl_vec3 *thin, tl_error *err)
{
    TL_TRY(begin(s, GROW_DT, false, thin, GROW_STEPS * GROW_DT, err));
    for (int i = 0; i < GROW_STEPS + FREE_STEPS; i++) {
        TL_TRY(step(s, (double)i / (GROW_STEPS + FREE_STEPS), err));
        TL_TRY(tl_sim_slow(s->sim, 0, err));
    }
    take_back(s);
    return TL_OK;
}

tl_status tl_dress_grow(const tl_dress_def *def, tl_garment *g, tl_drape_garment *report, tl_error *err)
{
    stage s = {.def = def, .g = g, .report = report};
    tl_vec3 *thin = NULL;
    tl_status status = thin_body(&s, &thin, err);
    if (status == TL_OK) status = grow(&s, thin, err);
    tl_sim_destroy(s.sim);
    TL_FREE(&g->alloc, thin, def->body.vert_count);
    return status;
}

// ---- settling -----------------------------------------------------------------------------------------------

double tl_dress_tie(const tl_garment *g, const tl_dress_hold *hold, int32_t *nodes, tl_status *status, tl_error *err)
{
    const double length = tl_garment_mark_length(g, hold->mark, nodes, status, err);
    return *nodes > 0 ? hold->stiffness * length / *nodes : 0;
}

static tl_status add_holds(stage *s, tl_error *err)
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
static tl_status measure_holds(stage *s, tl_error *err)
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

static tl_status settle(stage *s, double seconds, double rest_speed, tl_error *err)
{
    TL_TRY(begin(s, SETTLE_DT, true, NULL, 0, err));
    TL_TRY(add_holds(s, err));
    const int steps = (int)(seconds / SETTLE_DT + 0.5);
    const int least = (int)(SETTLE_LEAST / SETTLE_DT + 0.5);
    for (int i = 0, rested = 0; i < steps && rested < FREE_STEPS; i++) {
        TL_TRY(step(s, (double)i / steps, err));
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
    take_back(s);
    return tl_fit_measure(s->sim, s->cloth, s->def->material, s->g, &s->report->fit, err);
}

tl_status tl_dress_settle(const tl_dress_def *def, tl_garment *g, double seconds, double rest_speed,
                          tl_drape_garment *report, tl_error *err)
{
    stage s = {.def = def, .g = g, .report = report};
    const tl_status status = settle(&s, seconds, rest_speed, err);
    tl_sim_destroy(s.sim);
    return status;
}
