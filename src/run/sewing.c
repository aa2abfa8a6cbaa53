// run/sewing.c: seams are drawn together around a body, sewn, and the body grows to its size: all at once for
// `toile drape` (run/dress.h), or a step at a time (toile/sewing.h).
//
// Sewing flat panels around a body at its full size would press cloth into it where a garment fits closely, and limbs
// are in the way of what is to close around them. So the body is drawn in towards its skeleton first (dress/thin.h),
// the seams are drawn together around that by springs under contact (dress/garment.h), sewn pairs become one node, and
// the body grows back to its size inside the garment. Contact keeps its promise throughout: a body that moves pushes
// cloth before it. Every step but those under gravity starts from rest, so nothing swings.

#include "toile/sewing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/workers.h"
#include "dress/clear.h"
#include "dress/mark.h"
#include "dress/place_words.h"
#include "dress/raise.h"
#include "dress/thin.h"
#include "io/file.h"
#include "io/obj.h"
#include "run/dress_stage.h"
#include "toile/live.h"

#define THIN_LENGTH 0.06  // of the height of the body: of shrinking
#define LOWER 0.025       // of the height: a body is so much lower while what hangs from its shoulders is sewn ..
#define HIGHER 0.015      // .. and higher for what closes between the legs
#define SEW_DT 0.02       // [s]
#define SEW_REACH 0.02    // [m] that threads draw in a step
#define SEW_FIRST 5.0     // [N/m] of a thread, at first and in the end
#define SEW_LAST 300.0
#define SEW_CLOSED 2.5     // gap that counts as closed, in thicknesses
#define SEW_PROGRESS 0.97  // a widest gap that comes to less of the best so far is progress
#define GROW_DT 0.02
#define SHOULDERS 0.75  // of the height of the body: below them, hanging; above, worn
#define RIM_DEPTH 0.08  // [m] of the rim below its top
#define WORN 0.78       // of the height of the body: what reaches higher hangs from the shoulders
enum { TURNS = 2, SEW_STEPS = 150, SEW_IDLE = 8, SEW_HARD = 15, SEW_SOFT = 20, GROW_STEPS = 20, FREE_STEPS = 4 };

/// Threads, and how far they have drawn the seams of the present turn.
typedef struct seams {
    tl_threads threads;
    double stiffness[TURNS], best;
    int turn, step, idle;  // turn TURNS: nothing is left to draw
} seams;

static void next_turn(seams *q, int turn)
{
    q->turn = turn, q->step = q->idle = 0, q->best = (double)INFINITY;
    if (turn < TURNS) q->stiffness[turn] = SEW_FIRST;
}

// A step towards seams that are as near as contact lets them; the next turn if they are, or something is in the way.
static tl_status draw_together(tl_dress_stage *s, seams *q, tl_error *err)
{
    tl_garment *g = s->g;
    const double closed = SEW_CLOSED * s->def->thickness;
    double *k = &q->stiffness[q->turn];
    tl_dress_take_back(s);
    if (q->step == SEW_STEPS) return next_turn(q, q->turn + 1), TL_OK;
    const tl_gap gap = tl_garment_gap(g, q->threads.turn, q->turn);
    q->idle = gap.widest < SEW_PROGRESS * q->best ? 0 : q->idle + 1;
    q->best = fmin(q->best, gap.widest);
    tl_log_write(s->def->watch.log, TL_LOG_DEBUG, "sewing: turn %d, step %d, gap %.4g m, mean %.4g, %.3g N/m", q->turn,
                 q->step, gap.widest, gap.mean, *k);
    if (gap.vert < 0 || gap.widest <= closed ||
        (*k >= SEW_LAST && q->idle > (gap.widest < SEW_REACH ? SEW_IDLE : SEW_HARD)))
        return next_turn(q, q->turn + 1), TL_OK;
    if (gap.mean < SEW_REACH || q->step >= SEW_SOFT) *k = fmin(1.25 * *k, SEW_LAST);
    tl_garment_threads(g, g->pos, q->stiffness, SEW_REACH, &q->threads);
    TL_TRY(tl_cloth_set_springs(s->sim, s->cloth, q->threads.stiffness, q->threads.to, g->node_count, err));
    TL_TRY(tl_dress_step(s, 0.5 * q->turn + 0.5 * (double)q->step / SEW_STEPS, err));
    q->step++;
    return tl_sim_slow(s->sim, 0, err);
}

static double height_of(const tl_dress_body *b, double fraction)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int32_t i = 0; i < b->vert_count; i++) low = fmin(low, b->pos[i].y), high = fmax(high, b->pos[i].y);
    return low + fraction * (high - low);
}

static tl_status make_threads(const tl_dress_stage *s, tl_threads *t, tl_error *err)
{
    const tl_allocator *a = &s->g->alloc;
    const int32_t n = s->g->node_count;
    *t = (tl_threads){TL_ALLOC(a, int32_t, n), TL_ALLOC(a, double, n), TL_ALLOC(a, tl_vec3, n), TL_ALLOC(a, double, n),
                      height_of(&s->def->body, SHOULDERS)};
    return t->stiffness && t->to && t->turn && t->top ? TL_OK : tl_fail_memory(err, "sewing");
}

static void free_threads(const tl_allocator *a, tl_threads *t, int32_t n)
{
    TL_FREE(a, t->stiffness, n);
    TL_FREE(a, t->to, n);
    TL_FREE(a, t->turn, n);
    TL_FREE(a, t->top, n);
    *t = (tl_threads){0};
}

static tl_status thin_body(const tl_dress_stage *s, tl_vec3 **out, tl_error *err)
{
    const tl_dress_body *b = &s->def->body;
    *out = TL_ALLOC(&s->g->alloc, tl_vec3, b->vert_count);
    if (!*out) return tl_fail_memory(err, "a thin body");
    const double length = THIN_LENGTH * (height_of(b, 1) - height_of(b, 0));
    TL_TRY(tl_body_thin(&s->g->alloc, b->pos, b->vert_count, b->face, b->face_count, length, *out, err));
    const double shift = s->report->shift * (height_of(b, 1) - height_of(b, 0));
    for (int32_t i = 0; i < b->vert_count; i++) (*out)[i].y += shift;
    if (s->report->arms_raised) tl_body_raise_arms(s->def->figure, b->pos, b->vert_count, shift, *out);
    return TL_OK;
}

static tl_status clear_panels(tl_dress_stage *s, const tl_vec3 *thin, tl_error *err)
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

static tl_status begin_sewing(tl_dress_stage *s, const tl_vec3 *thin, seams *q, tl_error *err)
{
    TL_TRY(clear_panels(s, thin, err));
    TL_TRY(tl_dress_begin(s, SEW_DT, false, thin, 0, err));
    tl_start_report start;
    TL_TRY(tl_sim_start(s->sim, &start, err));
    s->report->gap_start = tl_garment_gap(s->g, NULL, 0).widest;
    tl_garment_turns(s->g, q->threads.turn);
    next_turn(q, 0);
    return TL_OK;
}

static void find_widest_gap(tl_dress_stage *s)
{
    const tl_gap gap = tl_garment_gap(s->g, NULL, 0);
    s->report->gap = gap.widest;
    for (int i = 0; i < 2 && gap.vert >= 0; i++) {
        const int32_t panel = s->g->vert_panel[i == 0 ? gap.vert : s->g->sewn[gap.vert]];
        snprintf(s->report->gap_panel[i], sizeof s->report->gap_panel[i], "%.63s",
                 tl_pattern_panel(s->def->pattern, panel)->name);
    }
    if (gap.vert >= 0)
        tl_log_write(s->def->watch.log, TL_LOG_INFO,
                     "sewing: widest gap %.3g m between %s and %s, at %.3f %.3f %.3f and %.3f %.3f %.3f", gap.widest,
                     s->report->gap_panel[0], s->report->gap_panel[1], s->g->pos[gap.vert].x, s->g->pos[gap.vert].y,
                     s->g->pos[gap.vert].z, s->g->pos[s->g->sewn[gap.vert]].x, s->g->pos[s->g->sewn[gap.vert]].y,
                     s->g->pos[s->g->sewn[gap.vert]].z);
}

static tl_status begin_growing(tl_dress_stage *s, const tl_vec3 *thin, tl_error *err)
{
    return tl_dress_begin(s, GROW_DT, false, thin, GROW_STEPS * GROW_DT, err);
}

// Can the garment be pulled apart as it is?
static bool can_start(tl_dress_stage *s, const tl_vec3 *thin)
{
    tl_start_report start;
    tl_error why;
    tl_dress_stage trial = {.def = s->def, .g = s->g, .report = s->report};
    bool fine = begin_growing(&trial, thin, &why) == TL_OK;
    fine = fine && tl_sim_start(trial.sim, &start, &why) == TL_OK;
    tl_sim_destroy(trial.sim);
    if (!fine) tl_log_write(s->def->watch.log, TL_LOG_DEBUG, "sewing: %s", why.message);
    return fine;
}

// Sewn pairs become one node. Where what lies between cannot be got out of the way, a seam stays open.
static tl_status weld(tl_dress_stage *s, const tl_vec3 *thin, tl_error *err)
{
    tl_garment *g = s->g, before = {.alloc = g->alloc};
    const double closed = SEW_CLOSED * s->def->thickness;
    s->report->left_open = 0;
    if (s->report->gap <= 2 * closed) return tl_garment_weld(g, NULL, err);
    TL_TRY(tl_garment_copy(g, &before, err));
    const tl_status status = tl_garment_weld(g, NULL, err);
    if (status != TL_OK || can_start(s, thin)) {
        tl_garment_free(&before);
        return status;
    }
    tl_garment_free(g);
    *g = before;
    s->report->left_open = tl_garment_leave_open(g, 2 * closed, err);
    return s->report->left_open < 0 ? TL_NO_MEMORY : tl_garment_weld(g, NULL, err);
}

static tl_status grow(tl_dress_stage *s, int i, tl_error *err)
{
    TL_TRY(tl_dress_step(s, (double)i / (GROW_STEPS + FREE_STEPS), err));
    return tl_sim_slow(s->sim, 0, err);
}

// ---- all at once --------------------------------------------------------------------------------------------

// Straps pass over shoulders and crotches under the body with room to spare.
static double shift_of(const tl_pattern *p)
{
    bool torso = false, legs = false, arms = false;
    for (int32_t i = 0; i < tl_pattern_panel_count(p); i++) {
        const tl_worn r = tl_panel_words_of(tl_pattern_panel(p, i)).region;
        torso = torso || r == TL_WORN_TORSO, legs = legs || r == TL_WORN_LEG, arms = arms || r == TL_WORN_ARM;
    }
    return torso == legs || arms ? 0 : torso ? -LOWER : HIGHER;  // arms have to stay in their sleeves
}

tl_status tl_dress_sew(const tl_dress_def *def, tl_garment *g, tl_drape_garment *report, tl_error *err)
{
    tl_dress_stage s = {.def = def, .g = g, .report = report};
    const int32_t n = g->node_count;
    tl_vec3 *thin = NULL;
    seams q = {.stiffness = {0, 0}};
    tl_status status = make_threads(&s, &q.threads, err);
    report->shift = shift_of(def->pattern);
    report->arms_raised = def->figure && !tl_garment_has_sleeves(g, def->pattern, def->figure);
    if (def->figure && !report->arms_raised) report->shift = fmax(report->shift, 0);
    if (status == TL_OK) status = thin_body(&s, &thin, err);
    if (status == TL_OK) status = begin_sewing(&s, thin, &q, err);
    while (status == TL_OK && q.turn < TURNS) status = draw_together(&s, &q, err);
    if (status == TL_OK) find_widest_gap(&s);
    tl_sim_destroy(s.sim), s.sim = NULL;
    if (status == TL_OK) status = weld(&s, thin, err);
    free_threads(&g->alloc, &q.threads, n);
    TL_FREE(&g->alloc, thin, def->body.vert_count);
    return status;
}

tl_status tl_dress_grow(const tl_dress_def *def, tl_garment *g, tl_drape_garment *report, tl_error *err)
{
    tl_dress_stage s = {.def = def, .g = g, .report = report};
    tl_vec3 *thin = NULL;
    tl_status status = thin_body(&s, &thin, err);
    if (status == TL_OK) status = begin_growing(&s, thin, err);
    for (int i = 0; status == TL_OK && i < GROW_STEPS + FREE_STEPS; i++) status = grow(&s, i, err);
    if (status == TL_OK) tl_dress_take_back(&s);
    tl_sim_destroy(s.sim);
    TL_FREE(&g->alloc, thin, def->body.vert_count);
    return status;
}

// ---- a step at a time ---------------------------------------------------------------------------------------

struct tl_sewing {
    tl_allocator alloc;
    tl_dress_stage s;
    tl_dress_def dress;
    tl_material material;
    tl_log log;
    tl_vec3 *body, *thin;
    int32_t (*body_face)[3];
    tl_garment garment;
    tl_drape_garment found;
    seams seams;
    int32_t thread_nodes;  // of the threads' arrays
    tl_sewing_stage stage;
    int grown;
    int32_t rim_nodes;
    double rim_length;
};

void tl_sewing_def_init(tl_sewing_def *def, size_t size)
{
    const tl_sewing_def defaults = {.edge = 0.03, .thickness = 1e-3, .friction = 0.5, .threads = 1};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

static tl_status check_sewing(const tl_sewing_def *def, tl_error *err)
{
    if (!def->pattern || !def->material || !def->body || !def->body_face)
        return tl_fail(err, TL_BAD_ARG, "pattern, material and body must be given");
    if (!(def->edge > 0) || !isfinite(def->edge) || !(def->thickness > 0) || !(def->friction >= 0))
        return tl_fail(err, TL_BAD_ARG, "edge %g m, thickness %g m, friction %g: must be > 0, > 0, >= 0", def->edge,
                       def->thickness, def->friction);
    if (tl_pattern_panel_count(def->pattern) < 1) return tl_fail(err, TL_BAD_INPUT, "the pattern has no panel");
    for (int32_t i = 0; i < tl_pattern_panel_count(def->pattern); i++)
        if (!tl_pattern_panel(def->pattern, i)->placed)
            return tl_fail(err, TL_BAD_INPUT, "panel '%.60s' has no place around the body (\"placement\")",
                           tl_pattern_panel(def->pattern, i)->name);
    for (int32_t f = 0; f < def->body_faces; f++)
        for (int k = 0; k < 3; k++)
            if (def->body_face[f][k] < 0 || def->body_face[f][k] >= def->body_nodes)
                return tl_fail(err, TL_BAD_ARG, "face %d of the body names node %d of %d", f, def->body_face[f][k],
                               def->body_nodes);
    return TL_OK;
}

static tl_status copy_in(tl_sewing *w, const tl_sewing_def *def, tl_error *err)
{
    w->material = *def->material;
    if (def->log) w->log = *def->log;
    w->body = TL_ALLOC(&w->alloc, tl_vec3, def->body_nodes);
    w->body_face = tl_alloc_bytes(&w->alloc, (size_t)def->body_faces, sizeof *w->body_face);
    w->dress = (tl_dress_def){.body = {w->body, def->body_nodes, (const int32_t(*)[3])w->body_face, def->body_faces},
                              .pattern = def->pattern,
                              .material = &w->material,
                              .thickness = def->thickness,
                              .friction = def->friction,
                              .threads = def->threads,
                              .watch = {.log = def->log ? &w->log : NULL}};
    if (!w->body || !w->body_face) return tl_fail_memory(err, "a body");
    memcpy(w->body, def->body, (size_t)def->body_nodes * sizeof *w->body);
    memcpy(w->body_face, def->body_face, (size_t)def->body_faces * sizeof *w->body_face);
    tl_pattern_mesh_def mesh_def = tl_pattern_mesh_def_default();
    mesh_def.edge = def->edge;
    tl_pattern_mesh mesh;
    TL_TRY(tl_pattern_mesh_make(&w->alloc, def->pattern, &mesh_def, &mesh, err));
    const tl_status status = tl_garment_make(&w->alloc, &mesh, &w->garment, err);
    tl_pattern_mesh_free(&mesh);
    return status;
}

tl_status tl_sewing_create(const tl_sewing_def *given, tl_sewing **out, tl_error *err)
{
    *out = NULL;
    TL_DEF_COMPLETE(tl_sewing_def, def, given, err);
    TL_TRY(check_sewing(&def, err));
    const tl_allocator alloc = tl_allocator_default();
    tl_sewing *w = TL_CALLOC(&alloc, tl_sewing, 1);
    if (!w) return tl_fail_memory(err, "sewing");
    w->alloc = alloc;
    w->s = (tl_dress_stage){.def = &w->dress, .g = &w->garment, .report = &w->found};
    const tl_status status = copy_in(w, &def, err);
    if (status != TL_OK) {
        tl_sewing_destroy(w);
        return status;
    }
    *out = w;
    return TL_OK;
}

void tl_sewing_destroy(tl_sewing *w)
{
    if (!w) return;
    const tl_allocator alloc = w->alloc;
    tl_sim_destroy(w->s.sim);
    free_threads(&alloc, &w->seams.threads, w->thread_nodes);
    if (w->garment.pos) tl_garment_free(&w->garment);
    TL_FREE(&alloc, w->body, w->dress.body.vert_count);
    TL_FREE(&alloc, w->thin, w->dress.body.vert_count);
    TL_FREE(&alloc, w->body_face, w->dress.body.face_count);
    TL_FREE(&alloc, w, 1);
}

// The rim of what does not hang from the shoulders is marked, so that it can be held.
static tl_status finish(tl_sewing *w, tl_error *err)
{
    tl_dress_take_back(&w->s);
    w->stage = TL_SEWING_DONE;
    double top = -(double)INFINITY, rim;
    for (int32_t n = 0; n < w->garment.node_count; n++) top = fmax(top, w->garment.pos[n].y);
    if (top > height_of(&w->dress.body, WORN)) return TL_OK;
    TL_TRY(tl_garment_mark_rim(&w->garment, RIM_DEPTH, TL_SEWING_RIM, &w->rim_nodes, &rim, err));
    int32_t nodes;
    tl_status status = TL_OK;
    w->rim_length = tl_garment_mark_length(&w->garment, TL_SEWING_RIM, &nodes, &status, err);
    return status;
}

static tl_status one_step(tl_sewing *w, tl_error *err)
{
    tl_dress_stage *s = &w->s;
    if (!s->sim) {  // the first
        TL_TRY(make_threads(s, &w->seams.threads, err));
        w->thread_nodes = w->garment.node_count;
        TL_TRY(thin_body(s, &w->thin, err));
        TL_TRY(begin_sewing(s, w->thin, &w->seams, err));
    }
    if (w->stage == TL_SEWING_SEW) {
        if (w->seams.turn < TURNS) return draw_together(s, &w->seams, err);
        find_widest_gap(s);
        tl_sim_destroy(s->sim);
        s->sim = NULL;
        TL_TRY(weld(s, w->thin, err));
        TL_TRY(begin_growing(s, w->thin, err));
        w->stage = TL_SEWING_GROW;
    }
    if (w->stage == TL_SEWING_DONE) return TL_OK;
    if (w->grown == GROW_STEPS + FREE_STEPS) return finish(w, err);
    return grow(s, w->grown++, err);
}

tl_status tl_sewing_step(tl_sewing *w, tl_sewing_report *report, tl_error *err)
{
    const tl_status status = one_step(w, err);
    if (!report) return status;
    const bool sewing = w->stage == TL_SEWING_SEW;
    *report = (tl_sewing_report){
        .stage = w->stage,
        .steps = w->found.steps,
        .part = sewing ? fmin(1, 0.5 * w->seams.turn + 0.5 * w->seams.step / SEW_STEPS)
                       : (double)w->grown / (GROW_STEPS + FREE_STEPS),
        .gap = sewing ? tl_garment_gap(&w->garment, NULL, 0).widest : w->found.gap,
        .crossings = w->found.crossings_start,
        .rim_nodes = w->rim_nodes,
        .rim_length = w->rim_length,
    };
    for (int i = 0; i < 2; i++) memcpy(report->gap_panel[i], w->found.gap_panel[i], sizeof report->gap_panel[i]);
    return status;
}

tl_sim *tl_sewing_sim(const tl_sewing *w) { return w->s.sim; }

tl_status tl_sewing_save(const tl_sewing *w, const char *path, tl_error *err)
{
    if (w->stage != TL_SEWING_DONE) return tl_fail(err, TL_BAD_ARG, "the garment is not sewn yet");
    const tl_garment *g = &w->garment;
    const tl_obj_view view = {.name = "garment",
                              .pos = g->pos,
                              .node_label = g->node_mark,
                              .node_count = g->node_count,
                              .uv = g->uv,
                              .vert_node = g->vert_node,
                              .vert_count = g->vert_count,
                              .face = (const int32_t(*)[3])g->face,
                              .face_count = g->face_count};
    tl_buf buf;
    tl_buf_init(&buf, &w->alloc);
    tl_obj_write(&buf, &view);
    tl_status status = tl_buf_end(&buf, "a garment", err);
    if (status == TL_OK) status = tl_file_write(path, buf.data, buf.size, false, err);
    tl_buf_free(&buf);
    return status;
}
