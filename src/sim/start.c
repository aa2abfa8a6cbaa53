// sim/start.c: the start of a simulation: free of intersections, untangled, or refused with the places.
//
// Contact keeps free of intersections what is free of them (respond/contact.h); this file ensures that the start is.
// The exact test decides, once; steps do not repeat it. Cloth is untangled by respond/untangle/untangle.h. A plane has
// no surface to search crossings with, so nodes are moved in front of planes first, and a square represents the plane
// while the rest is untangled.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "respond/untangle/untangle.h"
#include "sim/internal.h"
#include "sim/springs.h"

enum { ROUNDS = 4, FIRST_ONES = 3 };  // of lifting and untangling; of places in a message

// Below this part of the thickness, contact is so stiff that everything else drowns in the tolerance of the linear
// solve, and cloth does not move for some steps until the gap has opened. So such pairs are moved apart first.
#define TOO_NEAR 0.01

static int64_t crossings_of(const tl_intersection_report *found) { return found->cloth_cloth + found->cloth_body; }

// --- what to say ---

typedef struct text {
    char at[600];
    size_t size;
} text;  // leaves room in a tl_error for what else there is to say

static void say(text *t, const char *format, ...) TL_PRINTF(2, 3);
static void say(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(t->at + t->size, sizeof t->at - t->size, format, args);
    va_end(args);
    if (n > 0) t->size += (size_t)n < sizeof t->at - t->size ? (size_t)n : sizeof t->at - t->size - 1;
}

static bool is_plane(const tl_sim *sim, const char *name)
{
    for (int32_t b = 0; b < sim->body_count; b++)
        if (strcmp(sim->bodies[b].name, name) == 0) return sim->bodies[b].kind == TL_BODY_PLANE;
    return false;
}

static const char *kind_of(const tl_sim *sim, const char *name)
{
    for (int32_t b = 0; b < sim->body_count; b++)
        if (strcmp(sim->bodies[b].name, name) == 0) return "body";
    return "cloth";
}

static void say_crossings(const tl_sim *sim, const tl_intersection_report *found, text *t)
{
    say(t, "surfaces pass through each other at %.6g s: %lld crossings of cloth with cloth, %lld of cloth with bodies",
        sim->time, (long long)found->cloth_cloth, (long long)found->cloth_body);
    for (int32_t i = 0; i < found->listed && i < FIRST_ONES; i++) {
        const tl_intersection *x = &found->list[i];
        say(t, "%s edge %d-%d of %s '%s' ", i ? ";" : "; the first:", x->edge_nodes[0], x->edge_nodes[1],
            kind_of(sim, x->first), x->first);
        if (is_plane(sim, x->second))
            say(t, "is on or behind plane '%s'", x->second);
        else
            say(t, "meets face %d of %s '%s'", x->face, kind_of(sim, x->second), x->second);
        say(t, " at (%.4g, %.4g, %.4g)", x->place.x, x->place.y, x->place.z);
    }
}

// --- planes ---

/// The distance that cloth c and body b are to keep.
static double keep_of(const tl_sim *sim, int32_t c, int32_t b)
{
    return 0.5 * sim->cloths[c].thickness + sim->bodies[b].thickness;
}

static double keep_of_all(const tl_sim *sim, int32_t b)
{
    double keep = (double)INFINITY;
    for (int32_t c = 0; c < sim->cloth_count; c++) keep = fmin(keep, keep_of(sim, c, b));
    return keep;
}

// Connected components of the cloth: `piece` of a node is the smallest node of its component.
static void find_pieces(const tl_sim *sim, int32_t *piece)
{
    for (int32_t i = 0; i < sim->node_count; i++) piece[i] = i;
    for (bool more = true; more;) {
        more = false;
        for (int32_t e = 0; e < sim->edge_count; e++) {
            const int32_t a = sim->cloth_edge[e][0], b = sim->cloth_edge[e][1],
                          low = piece[a] < piece[b] ? piece[a] : piece[b];
            // to the smaller number, and on to where that one points
            if (piece[a] != low || piece[b] != low) piece[a] = piece[b] = piece[low], more = true;
        }
    }
}

/// Per piece: heights of its lowest and highest node over a plane.
typedef struct span {
    double low, high;
} span;

// Components that lie behind the plane entirely or for the most part are translated out, all by the same displacement.
// If others reach behind it by at most D, heights are compressed: -D .. keep + 9 D is mapped linearly to keep .. keep +
// 9 D, so that layers keep their order, what is higher does not move, and nothing is compressed by more than about a
// tenth.
enum { PRESS = 9, GOOD_PART = 4 };  // a quarter

static bool is_carried(span s) { return s.low <= 0 && s.high - s.low <= GOOD_PART * -s.low; }

static void lift(tl_sim *sim, int32_t b, const int32_t *piece, const uint8_t *fixed, span *spans)
{
    tl_vec3 point, normal;
    sim_plane_at(&sim->bodies[b], sim->time, &point, &normal);
    const double keep = keep_of_all(sim, b);
    for (int32_t i = 0; i < sim->node_count; i++) spans[i] = (span){(double)INFINITY, -(double)INFINITY};
    for (int32_t i = 0; i < sim->node_count; i++) {
        const double h = tl_dot3(normal, tl_sub3(sim->x[i], point));
        span *s = &spans[piece[i]];
        s->low = fmin(s->low, h), s->high = fmax(s->high, h);
    }
    double carry = 0, depth = 0;
    for (int32_t i = 0; i < sim->node_count; i++) {
        if (spans[i].low > 0) continue;
        if (is_carried(spans[i]))
            carry = fmax(carry, keep - spans[i].low);
        else
            depth = fmax(depth, fmax(-spans[i].low, keep));
    }
    const double top = keep + PRESS * depth;
    for (int32_t i = 0; i < sim->node_count; i++) {
        const double h = tl_dot3(normal, tl_sub3(sim->x[i], point));
        if (fixed[i]) continue;
        if (is_carried(spans[piece[i]]))
            sim->x[i] = tl_madd3(sim->x[i], carry, normal);
        else if (depth > 0 && h < top)
            sim->x[i] = tl_madd3(sim->x[i], keep + (h + depth) / (top + depth) * PRESS * depth - h, normal);
    }
}

static tl_status lift_all(tl_sim *sim, const uint8_t *fixed, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    int32_t *piece = TL_SCRATCH(&sim->arena, int32_t, sim->node_count);
    span *spans = TL_SCRATCH(&sim->arena, span, sim->node_count);
    const bool allocated = piece && spans;
    if (allocated) {
        find_pieces(sim, piece);
        for (int32_t b = 0; b < sim->body_count; b++)
            if (sim->bodies[b].kind == TL_BODY_PLANE && sim->bodies[b].present) lift(sim, b, piece, fixed, spans);
    }
    tl_arena_release(&sim->arena, mark);
    return allocated ? TL_OK : tl_fail_memory(err, "untangling");
}

static const int32_t square_face[2][3] = {{0, 1, 2}, {0, 2, 3}};
static const int32_t square_edge[5][2] = {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {0, 3}};

// A square in the plane, well larger than all cloth.
static void cover_plane(const tl_sim *sim, const sim_body *body, tl_vec3 out[4])
{
    tl_vec3 point, normal, centre = sim->x[0];
    sim_plane_at(body, sim->time, &point, &normal);
    double reach = 0;
    for (int32_t i = 0; i < sim->node_count; i++) reach = fmax(reach, tl_norm3(tl_sub3(sim->x[i], centre)));
    centre = tl_madd3(centre, -tl_dot3(normal, tl_sub3(centre, point)), normal);
    const tl_vec3 other = fabs(normal.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 0, 1};
    const tl_vec3 u = tl_unit3_or(tl_cross3(other, normal), other), v = tl_cross3(normal, u);
    const double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int k = 0; k < 4; k++)
        out[k] = tl_madd3(tl_madd3(centre, 4 * reach * corner[k][0], u), 4 * reach * corner[k][1], v);
}

// --- untangling ---

// Nodes that handles hold now.
void sim_find_held(const tl_sim *sim, uint8_t *fixed)
{
    const tl_elements *e = sim->elements;
    memset(fixed, 0, (size_t)sim->node_count);
    for (int32_t i = 0; i < sim->handle_count; i++) {
        const sim_handle *h = &sim->handles[i];
        const double now = sim->time + 1e-9 * sim->def.dt;  // as in handles.c
        if (h->ties || !(h->start <= now && now < h->end)) continue;
        for (int32_t k = 0; k < h->node_count; k++) {
            const int32_t node = e->node_of[e->cloth_node_start[h->cloth] + h->nodes[k]];
            if (node != TL_NONE) fixed[node] = 1;
        }
    }
}

static tl_status place_bodies(tl_sim *sim, tl_heal_body *bodies, tl_error *err)
{
    for (int32_t i = 0, b = -1; i < sim->body_count; i++) {
        const sim_body *s = &sim->bodies[i];
        if (!s->present) continue;
        b++;
        const bool plane = s->kind == TL_BODY_PLANE;
        tl_vec3 *x = TL_SCRATCH(&sim->arena, tl_vec3, plane ? 4 : s->node_count);
        if (!x) return tl_fail_memory(err, "untangling");
        bodies[b].distance = keep_of_all(sim, i);
        bodies[b].x = x;
        if (plane) {
            cover_plane(sim, s, x);
            bodies[b].surface = (tl_surface){4, 2, 5, square_face, square_edge};
        } else {
            sim_body_at(s, sim->time, x);
            bodies[b].surface = (tl_surface){s->node_count, s->face_count, s->edge_count, (const int32_t(*)[3])s->face,
                                             (const int32_t(*)[2])s->edge};
        }
    }
    return TL_OK;
}

static void measure_moves(const tl_sim *sim, const tl_vec3 *before, tl_start_report *out)
{
    out->nodes_moved = 0, out->largest_move = 0;
    for (int32_t i = 0; i < sim->node_count; i++) {
        const double way = tl_norm3(tl_sub3(sim->x[i], before[i]));
        out->nodes_moved += way > 0;
        out->largest_move = fmax(out->largest_move, way);
    }
}

// Changes sim->x; the caller releases the arena. `held`: number of nodes that may not move.
static tl_status untangle(tl_sim *sim, double leave, tl_start_report *out, int32_t *held, tl_error *err)
{
    const int32_t n = sim->node_count, nb = sim_present_count(sim);
    uint8_t *fixed = TL_SCRATCH(&sim->arena, uint8_t, n);
    tl_vec3 *before = TL_SCRATCH(&sim->arena, tl_vec3, n);
    tl_heal_body *bodies = TL_SCRATCH(&sim->arena, tl_heal_body, nb + 1);
    if (!fixed || !before || !bodies) return tl_fail_memory(err, "untangling");
    memcpy(before, sim->x, (size_t)n * sizeof *before);
    sim_find_held(sim, fixed);
    *held = 0;
    for (int32_t i = 0; i < n; i++) *held += fixed[i];
    tl_heal_def def = tl_heal_def_default();
    def.cloth = (tl_surface){n, sim->face_count, sim->edge_count, (const int32_t(*)[3])sim->cloth_face,
                             (const int32_t(*)[2])sim->cloth_edge};
    def.fixed = fixed;
    def.bodies = bodies, def.body_count = nb;
    def.bodies_only = !sim->def.collide.self, def.leave = leave;
    def.distance = sim->cloths[0].thickness;
    for (int32_t c = 1; c < sim->cloth_count; c++) def.distance = fmin(def.distance, sim->cloths[c].thickness);
    for (int round = 0; round < ROUNDS; round++) {
        if (nb > 0) {
            TL_TRY(lift_all(sim, fixed, err));
            TL_TRY(place_bodies(sim, bodies, err));
        }
        tl_heal_report r;
        TL_TRY(tl_heal(&def, sim->x, &(tl_ctx){&sim->arena, sim->workers}, &r, err));
        out->iterations += r.iterations;
        tl_intersection_report left;
        TL_TRY(tl_sim_intersections(sim, &left, err));
        out->crossings_after = crossings_of(&left);
        if (out->crossings_after == 0 || r.crossings_after > 0) break;  // else something is behind a plane: again
    }
    measure_moves(sim, before, out);
    return TL_OK;
}

// --- is what came of it cloth? ---

/// Measures of a start.
typedef struct judgement {
    double strain;  ///< that all but a hundredth of the area keep to, either way
    double worst;   ///< of any face
    double energy;  ///< of stretching [J]
    double mass;    ///< [kg]
    double size;    ///< diagonal of the box around all cloth [m]
} judgement;

static void judge(tl_sim *sim, judgement *out)
{
    tl_strain_range s = {0};
    tl_energies e = {0};
    *out = (judgement){0};
    sim->begun = false;
    tl_sim_strain(sim, &s), tl_sim_energies(sim, &e);
    out->strain = fmax(s.max_99, -s.min_99), out->worst = fmax(s.max, -s.min), out->energy = e.stretch;
    tl_vec3 lo = sim->x[0], hi = sim->x[0];
    for (int32_t i = 0; i < sim->node_count; i++) {
        const tl_vec3 x = sim->x[i];
        lo = (tl_vec3){fmin(lo.x, x.x), fmin(lo.y, x.y), fmin(lo.z, x.z)};
        hi = (tl_vec3){fmax(hi.x, x.x), fmax(hi.y, x.y), fmax(hi.z, x.z)};
        out->mass += sim->elements->mass[i];
    }
    out->size = tl_norm3(tl_sub3(hi, lo));
}

// Bounds beyond which a start is certainly not what was meant.
#define STRAIN_ADDED 0.3    // over all but a hundredth of the area, beside what there was
#define WORST_STRAIN 1.0    // of any face, unless it was so before
#define ENERGY_ADDED 100.0  // [J/kg]: as if it were lifted by ten metres
#define LONGEST_MOVE 1.0    // of the size of all cloth

static tl_status refuse_absurd(const tl_sim *sim, const tl_intersection_report *found, const judgement *was,
                               const judgement *is, const tl_start_report *r, tl_error *err)
{
    const char *what = NULL;
    if (is->strain > was->strain + STRAIN_ADDED) what = "a strain of a hundredth of the area and more";
    if (is->worst > fmax(WORST_STRAIN, was->worst)) what = "a strain of a face";
    if (is->energy - was->energy > ENERGY_ADDED * is->mass) what = "an energy";
    if (r->largest_move > LONGEST_MOVE * was->size) what = "a way of a node";
    if (!what) return TL_OK;
    text t = {.size = 0};
    say_crossings(sim, found, &t);
    return tl_fail(
        err, TL_BAD_INPUT,
        "%.520s. Pulling them apart (\"on_intersection\": \"heal\") took %d iterations, relaxing %d steps, and came "
        "to %s beyond reason: all but 1 %% of the area within %.3g %%, the worst face %.3g %%, %.3g J, nodes "
        "moved by up to %.3g m. Move cloth or body apart, or let the body grow or come in (motion, scale)",
        t.at, r->iterations, r->relaxed, what, 100 * is->strain, 100 * is->worst, is->energy, r->largest_move);
}

// Untangles; with `whole` a part of it does not count. `leave` as in tl_heal_def, `found` is what there was.
static tl_status heal(tl_sim *sim, bool whole, double leave, const tl_intersection_report *found, tl_start_report *out,
                      int32_t *held, tl_error *err)
{
    *out = (tl_start_report){.crossings_before = crossings_of(found), .crossings_after = crossings_of(found)};
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    tl_vec3 *before = TL_SCRATCH(&sim->arena, tl_vec3, sim->node_count);
    tl_status status = before ? TL_OK : tl_fail_memory(err, "untangling");
    if (before) {
        memcpy(before, sim->x, (size_t)sim->node_count * sizeof *before);
        judgement was, is;
        judge(sim, &was);
        status = untangle(sim, leave, out, held, err);
        if (status == TL_OK && out->crossings_before > 0 && out->crossings_after == 0) {
            const sim_relax_def def = sim_relax_def_default();
            status = sim_relax(sim, &def, &out->relaxed, err);
            measure_moves(sim, before, out);
            judge(sim, &is);
            out->strain = is.strain, out->energy = is.energy - was.energy;
            if (status == TL_OK && whole) status = refuse_absurd(sim, found, &was, &is, out, err);
        }
        if (status != TL_OK || (whole && out->crossings_after > 0)) {
            memcpy(sim->x, before, (size_t)sim->node_count * sizeof *before);
            out->nodes_moved = 0, out->largest_move = 0;
            sim->begun = false;
        }
    }
    tl_arena_release(&sim->arena, mark);
    if (status != TL_OK || out->nodes_moved == 0) return status;
    // The previous state of BDF2 does not belong to these positions: it starts again.
    sim->dt_before = 0, sim->begun = false, sim->shape_changed = true, sim->epoch_open = false;
    sim_publish(sim);
    return TL_OK;
}

tl_status tl_sim_heal(tl_sim *sim, tl_start_report *out, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    tl_start_report report = {0};
    if (out) *out = report;
    if (sim_by_springs(sim))
        return tl_fail(err, TL_BAD_ARG,
                       "healing does not go with dynamics springs: nodes inside bodies are pushed out in steps");
    tl_intersection_report found;
    TL_TRY(tl_sim_intersections(sim, &found, err));
    int32_t held;
    TL_TRY(heal(sim, false, 1, &found, &report, &held, err));
    if (out) *out = report;
    return TL_OK;
}

static tl_status pull_apart(tl_sim *sim, double leave, const tl_intersection_report *found, tl_start_report *report,
                            tl_error *err)
{
    int32_t held = 0;
    TL_TRY(heal(sim, true, leave, found, report, &held, err));
    if (report->crossings_after == 0) {
        if (report->nodes_moved > 0)
            tl_log_write(&sim->def.log, TL_LOG_INFO,
                         "%lld crossings at %.6g s, pulled apart to their thickness: %d nodes moved, at most %.3g m, "
                         "in %d iterations and %d steps of relaxing",
                         (long long)report->crossings_before, sim->time, report->nodes_moved, report->largest_move,
                         report->iterations, report->relaxed);
        return TL_OK;
    }
    if (sim->def.collide.on_intersection == TL_INTERSECTION_PINCH) {
        tl_intersection_report left;
        TL_TRY(sim_pinch_crossings(sim, &left, err));
        if (crossings_of(&left) == 0) {
            tl_log_write(&sim->def.log, TL_LOG_WARNING,
                         "%lld crossings of cloth with bodies at %.6g s could not be pulled apart, the first at (%.3g, "
                         "%.3g, %.3g): that cloth is pinched until it has room",
                         (long long)left.pinched, sim->time, found->list[0].place.x, found->list[0].place.y,
                         found->list[0].place.z);
            return TL_OK;
        }
    }
    text t = {.size = 0};
    say_crossings(sim, found, &t);
    return tl_fail(
        err, TL_BAD_INPUT,
        "%s. Pulling them apart (\"on_intersection\": \"heal\") left %lld after %d iterations%s: move them apart", t.at,
        (long long)report->crossings_after, report->iterations,
        held > 0 ? " (nodes that handles hold stay where they are)" : "");
}

tl_status tl_sim_start(tl_sim *sim, tl_start_report *out, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    tl_workers_watch(sim->workers, &sim->cancel);  // what is given up half-way is undone
    const tl_status status = sim_start(sim, out, err);
    tl_workers_watch(sim->workers, NULL);
    return status;
}

// --- a start that fails leaves everything where it was ---

static int32_t slot_count(const tl_sim *sim)
{
    int32_t count = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) count += sim->cloths[c].mesh->slots[TL_NODES].count;
    return count;
}

// Positions of all nodes, mesh after mesh.
static tl_vec3 *keep_places(const tl_sim *sim)
{
    tl_vec3 *kept = TL_ALLOC(&sim->alloc, tl_vec3, slot_count(sim));
    for (int32_t c = 0, at = 0; kept && c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        memcpy(kept + at, mesh->pos, (size_t)mesh->slots[TL_NODES].count * sizeof *kept);
        at += mesh->slots[TL_NODES].count;
    }
    return kept;
}

static void give_places_back(tl_sim *sim, const tl_vec3 *kept)
{
    for (int32_t c = 0, at = 0; c < sim->cloth_count; c++) {
        tl_mesh *mesh = sim->cloths[c].mesh;
        for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++, at++) {
            mesh->pos[n] = kept[at];
            const int32_t i = sim->elements ? sim->elements->node_of[at] : TL_NONE;
            if (i != TL_NONE) sim->x[i] = kept[at];
        }
    }
    sim->begun = false, sim->shape_changed = true;
}

// Pulls apart what passes through something.
static tl_status look_at_start(tl_sim *sim, tl_start_report *report, tl_error *err)
{
    tl_intersection_report found;
    TL_TRY(tl_sim_intersections(sim, &found, err));
    report->crossings_before = report->crossings_after = crossings_of(&found);
    const bool may_heal = sim->def.collide.on_intersection != TL_INTERSECTION_ERROR;
    if (may_heal || crossings_of(&found) == 0) return pull_apart(sim, may_heal ? 1 : TOO_NEAR, &found, report, err);
    text t = {.size = 0};
    say_crossings(sim, &found, &t);
    return tl_fail(err, TL_BAD_INPUT,
                   "%s. Move them apart, or have it done: \"collisions\": {\"on_intersection\": \"heal\"}", t.at);
}

tl_status sim_start(tl_sim *sim, tl_start_report *out, tl_error *err)
{
    tl_start_report report = {0};
    if (out) *out = report;
    if (sim_by_springs(sim)) return sim_springs_prepare(sim, err);  // nodes inside bodies are pushed out in steps
    TL_TRY(sim_compile(sim, err));
    if (sim->started) return TL_OK;
    const int32_t slots = slot_count(sim);
    tl_vec3 *kept = keep_places(sim);
    if (!kept) return tl_fail_memory(err, "the start");
    tl_status status = sim->contacts ? look_at_start(sim, &report, err) : TL_OK;
    if (out) *out = report;
    if (status == TL_OK) {
        status = sim_relax_start(sim, &report, err);
        if (out) *out = report;
        if (status != TL_OK && slot_count(sim) == slots) give_places_back(sim, kept);
    }
    TL_FREE(&sim->alloc, kept, slots);
    sim->started = status == TL_OK;
    if (status == TL_OK && sim->step == 0) sim_warn_of_seams(sim);
    return status;
}
