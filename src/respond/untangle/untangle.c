// respond/untangle/untangle.c: untangle intersecting input: search, move, verify exactly, keep the best.

#include "respond/untangle/untangle.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "respond/untangle/untangle_impl.h"
#include "math/vec3.h"

enum {
    PATIENCE = 15,  // iterations without fewer crossings before moves get bolder
    RESTARTS_MAX = 6,
    RINGS = 2,          // from the border, within which a cut is taken to reach it
    RUNAWAY = 2,        // times the crossings of the input: this way leads nowhere
    NEAR_ROUNDS = 60,   // at most, for distances once nothing crosses
    NEAR_HALVINGS = 6,  // of a move that would make new crossings
};
static const double BOLDER = 1.6;
static const double STEP_MAX = 1;  // in mean edge lengths, per iteration

tl_heal_def tl_heal_def_default(void) { return (tl_heal_def){.max_iterations = 200, .leave = 1}; }

// --- what is next to what ----------------------------------------------------------------------------------

// Edges around every node, in id order.
static bool list_edges(tl_arena *arena, const tl_surface *s, int32_t **first, int32_t **list)
{
    *first = TL_SCRATCH(arena, int32_t, s->node_count + 1);
    *list = TL_SCRATCH(arena, int32_t, 2 * (int64_t)s->edge_count);
    if (!*first || !*list) return false;
    memset(*first, 0, ((size_t)s->node_count + 1) * sizeof **first);
    for (int32_t e = 0; e < s->edge_count; e++)
        for (int k = 0; k < 2; k++) (*first)[s->edge[e][k] + 1]++;
    for (int32_t n = 0; n < s->node_count; n++) (*first)[n + 1] += (*first)[n];
    for (int32_t e = s->edge_count - 1; e >= 0; e--)  // filled from behind, by counting the starts up and down again
        for (int k = 0; k < 2; k++) (*list)[--(*first)[s->edge[e][k] + 1]] = e;
    for (int32_t n = 0; n < s->node_count; n++) (*first)[n] = (*first)[n + 1];
    (*first)[s->node_count] = 2 * s->edge_count;
    return true;
}

static int32_t edge_between(const tl_surface *s, const int32_t *first, const int32_t *list, int32_t a, int32_t b)
{
    for (int32_t k = first[a]; k < first[a + 1]; k++) {
        const int32_t *e = s->edge[list[k]];
        if (e[0] == b || e[1] == b) return list[k];
    }
    return -1;
}

static tl_vec3 double_area(const int32_t *f, const tl_vec3 *x)
{
    return tl_cross3(tl_sub3(x[f[1]], x[f[0]]), tl_sub3(x[f[2]], x[f[0]]));
}

// Outward normals of a body's edges: the mean of the unit normals of the faces beside.
static bool edge_normals(tl_arena *arena, const tl_heal_body *body, tl_vec3 **out)
{
    const tl_surface *s = &body->surface;
    int32_t *first, *list;
    *out = TL_SCRATCH(arena, tl_vec3, s->edge_count);
    if (!*out || !list_edges(arena, s, &first, &list)) return false;
    memset(*out, 0, (size_t)s->edge_count * sizeof **out);
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec3 n = tl_unit3_or(double_area(s->face[f], body->x), (tl_vec3){0, 0, 0});
        for (int k = 0; k < 3; k++) {
            const int32_t e = edge_between(s, first, list, s->face[f][k], s->face[f][(k + 1) % 3]);
            if (e >= 0) (*out)[e] = tl_add3((*out)[e], n);
        }
    }
    for (int32_t e = 0; e < s->edge_count; e++) (*out)[e] = tl_unit3_or((*out)[e], (tl_vec3){0, 1, 0});
    return true;
}

static tl_status prepare(tl_healer *h, tl_error *err)
{
    const tl_surface *s = &h->def->cloth;
    tl_arena *arena = h->scratch;
    const int32_t nodes = s->node_count, bodies = h->def->body_count;
    h->u = TL_SCRATCH(arena, tl_vec3, nodes);
    h->node_area = TL_SCRATCH(arena, double, nodes);
    h->edge_face = tl_arena_bytes(arena, (size_t)s->edge_count, sizeof *h->edge_face);
    h->face_edge = tl_arena_bytes(arena, (size_t)s->face_count, sizeof *h->face_edge);
    h->side = TL_SCRATCH(arena, int8_t, s->face_count);
    h->cut = TL_SCRATCH(arena, uint8_t, s->edge_count);
    h->part = TL_SCRATCH(arena, int32_t, nodes);
    h->part_area = TL_SCRATCH(arena, double, nodes + 1);
    h->part_wrong = TL_SCRATCH(arena, uint8_t, nodes + 1);
    h->pushed = TL_SCRATCH(arena, uint8_t, nodes);
    h->body_edge_normal = TL_SCRATCH(arena, tl_vec3 *, bodies);
    bool ok = h->u && h->node_area && h->edge_face && h->face_edge && h->side && h->cut && h->part && h->part_area &&
              h->part_wrong && h->pushed && h->body_edge_normal && list_edges(arena, s, &h->first_edge, &h->node_edge);
    for (int32_t b = 0; ok && b < bodies; b++) ok = edge_normals(arena, &h->def->bodies[b], &h->body_edge_normal[b]);
    if (!ok) return tl_fail_memory(err, "untangling");

    double length = 0;
    for (int32_t e = 0; e < s->edge_count; e++) {
        length += tl_norm3(tl_sub3(h->x[s->edge[e][0]], h->x[s->edge[e][1]]));
        h->edge_face[e][0] = h->edge_face[e][1] = -1;
    }
    h->edge_mean = s->edge_count > 0 ? length / s->edge_count : 0;
    memset(h->side, 0, (size_t)s->face_count);
    memset(h->node_area, 0, (size_t)nodes * sizeof *h->node_area);
    for (int32_t f = 0; f < s->face_count; f++) {
        const double area = tl_norm3(double_area(s->face[f], h->x)) / 2;
        for (int k = 0; k < 3; k++) {
            h->node_area[s->face[f][k]] += area / 3;
            const int32_t e = edge_between(s, h->first_edge, h->node_edge, s->face[f][k], s->face[f][(k + 1) % 3]);
            h->face_edge[f][k] = e;
            if (e >= 0) h->edge_face[e][h->edge_face[e][0] < 0 ? 0 : 1] = f;
        }
    }
    const tl_bvh_def def = tl_bvh_def_default();
    TL_TRY(tl_bvh_create(&arena->alloc, &def, s, h->x, &h->cloth, err));
    for (int32_t b = 0; b < bodies; b++)
        TL_TRY(tl_bvh_create(&arena->alloc, &def, &h->def->bodies[b].surface, h->def->bodies[b].x, &h->body[b], err));
    return TL_OK;
}

// --- search ------------------------------------------------------------------------------------------------

static tl_status count_crossings(tl_healer *h, int64_t *count, tl_error *err)
{
    TL_TRY(tl_workers_poll(h->workers, "untangling", err));
    tl_bvh_refit(h->cloth, h->x, NULL, 0, 0, h->workers);
    if (!h->def->bodies_only) TL_TRY(tl_find_crossings(h->cloth, NULL, h->scratch, h->workers, &h->self, err));
    *count = h->self.count;
    for (int32_t b = 0; b < h->def->body_count; b++) {
        tl_bvh_refit(h->body[b], h->def->bodies[b].x, NULL, 0, 0, h->workers);
        TL_TRY(tl_find_crossings(h->cloth, h->body[b], h->scratch, h->workers, &h->with[b], err));
        *count += h->with[b].count;
    }
    return TL_OK;
}

static void move(const tl_healer *h, double part)
{
    const double most = STEP_MAX * h->edge_mean;
    for (int32_t n = 0; n < h->def->cloth.node_count; n++) {
        if (h->def->fixed && h->def->fixed[n]) continue;
        const double size = part * tl_norm3(h->u[n]);
        if (size > 0 && isfinite(size)) h->x[n] = tl_madd3(h->x[n], size > most ? part * most / size : part, h->u[n]);
    }
}

static void copy_nodes(tl_vec3 *to, const tl_vec3 *from, int32_t count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

// Until nothing crosses; ends with the best there was in h->x.
static tl_status undo_crossings(tl_healer *h, tl_vec3 *best, tl_heal_report *report, tl_error *err)
{
    const int32_t nodes = h->def->cloth.node_count;
    int64_t crossings = report->crossings_before, fewest = crossings;
    int32_t since = 0, restarts = 0;
    copy_nodes(best, h->x, nodes);
    while (crossings > 0 && report->iterations < h->def->max_iterations) {
        TL_TRY(tl_heal_push_crossings(h, err));
        move(h, 1);
        report->iterations++;
        TL_TRY(count_crossings(h, &crossings, err));
        since++;
        if (crossings < fewest) fewest = crossings, since = 0, copy_nodes(best, h->x, nodes);
        if (since <= PATIENCE && crossings <= RUNAWAY * report->crossings_before) continue;
        if (++restarts > RESTARTS_MAX) break;
        // Back to the best so far, with bolder moves and a new guess about the sides.
        since = 0, h->reach *= BOLDER, h->rings = (h->rings + 1) % (RINGS + 1);
        copy_nodes(h->x, best, nodes);
        memset(h->side, 0, (size_t)h->def->cloth.face_count);
        TL_TRY(count_crossings(h, &crossings, err));
    }
    copy_nodes(h->x, best, nodes);
    report->crossings_after = fewest;
    return TL_OK;
}

// Nothing crosses, and nothing shall: moves that would make a crossing are halved, or not made.
static tl_status keep_apart(tl_healer *h, tl_vec3 *best, tl_heal_report *report, tl_error *err)
{
    const int32_t nodes = h->def->cloth.node_count;
    int64_t fewest = -1;
    tl_vec3 *good =
        TL_SCRATCH(h->scratch, tl_vec3, nodes);  // the last place without crossings, best: with the fewest near
    if (!good) return tl_fail_memory(err, "untangling");
    for (int round = 0; round <= NEAR_ROUNDS; round++) {
        int64_t near;
        TL_TRY(tl_heal_push_near(h, &near, err));
        if (round == 0 && report->crossings_before == 0 && h->nearest >= h->def->leave)
            near = 0;  // near enough to be left
        if (fewest < 0 || near < fewest) fewest = near, copy_nodes(best, h->x, nodes);
        if (near == 0 || round == NEAR_ROUNDS) break;
        copy_nodes(good, h->x, nodes);
        int64_t crossings = 1;
        double part = 1;
        for (int half = 0; half < NEAR_HALVINGS && crossings > 0; half++, part /= 2) {
            copy_nodes(h->x, good, nodes);
            move(h, part);
            TL_TRY(count_crossings(h, &crossings, err));
        }
        report->iterations++;
        if (crossings > 0) break;
    }
    copy_nodes(h->x, best, nodes);
    report->near_after = fewest;
    return TL_OK;
}

static tl_status untangle(tl_healer *h, const tl_vec3 *before, tl_heal_report *report, tl_error *err)
{
    const int32_t nodes = h->def->cloth.node_count;
    tl_vec3 *best = TL_SCRATCH(h->scratch, tl_vec3, nodes);
    if (!best) return tl_fail_memory(err, "untangling");
    TL_TRY(prepare(h, err));
    TL_TRY(count_crossings(h, &report->crossings_before, err));
    TL_TRY(undo_crossings(h, best, report, err));
    if (report->crossings_after == 0) TL_TRY(keep_apart(h, best, report, err));
    TL_TRY(count_crossings(h, &report->crossings_after,
                           err));  // of what is handed back, not of what was counted on the way
    for (int32_t n = 0; n < nodes; n++) {
        const double way = tl_norm3(tl_sub3(h->x[n], before[n]));
        report->nodes_moved += way > 0;
        report->largest_move = fmax(report->largest_move, way);
    }
    return TL_OK;
}

tl_status tl_heal(const tl_heal_def *def, tl_vec3 *x, const tl_ctx *ctx, tl_heal_report *report, tl_error *err)
{
    const int32_t nodes = def->cloth.node_count, bodies = def->body_count;
    *report = (tl_heal_report){0};
    if (def->max_iterations < 1)
        return tl_fail(err, TL_BAD_ARG, "heal: max_iterations %d, must be >= 1", def->max_iterations);
    if (!(def->distance >= 0)) return tl_fail(err, TL_BAD_ARG, "heal: distance %g, must be >= 0", def->distance);
    for (int32_t n = 0; n < nodes; n++)
        if (!tl_finite3(x[n])) return tl_fail(err, TL_BAD_ARG, "heal: node %d is not finite", n);

    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    tl_healer h = {.def = def, .scratch = ctx->arena, .workers = ctx->workers, .reach = 1, .rings = RINGS};
    h.x = TL_SCRATCH(ctx->arena, tl_vec3, nodes);
    h.body = TL_SCRATCH(ctx->arena, tl_bvh *, bodies);
    h.with = TL_SCRATCH(ctx->arena, tl_crossings, bodies);
    tl_status status = h.x && h.body && h.with ? TL_OK : tl_fail_memory(err, "untangling");
    tl_crossings_init(&h.self, ctx->arena->alloc);
    tl_pairs_init(&h.pairs, ctx->arena->alloc);
    if (status == TL_OK) {
        for (int32_t b = 0; b < bodies; b++) tl_crossings_init(&h.with[b], ctx->arena->alloc), h.body[b] = NULL;
        copy_nodes(h.x, x, nodes);
        status = untangle(&h, x, report, err);
        if (status == TL_OK) copy_nodes(x, h.x, nodes);
        for (int32_t b = 0; b < bodies; b++) tl_crossings_free(&h.with[b]), tl_bvh_destroy(h.body[b]);
    }
    tl_crossings_free(&h.self);
    tl_pairs_free(&h.pairs);
    tl_bvh_destroy(h.cloth);
    tl_arena_release(ctx->arena, mark);
    return status;
}
