// respond/constraint/constraint_kind.c: the response `constraint` (Kimmerle 2005, sec. 3.2.2).
//
// Where cloth would come nearer to a body than its distance within the step, the nodes of the pair lose the component
// of their velocity along the direction of the contact; what is too near is moved out over several steps. A node that
// is pulled away, or at least not pressed on, has no such direction in that step: that is its release. Cloth on cloth
// answers by impulses, since directions of things that both move cannot be told beforehand. The thesis projects after
// every product of the solver; here the solve is free and its result is projected.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "respond/constraint/directions.h"
#include "respond/near/near_kind.h"

#define LEAST_WEIGHT 0.05  // of a node in a pair: with less it has nothing to do with the contact

// The velocity along the normal that the contact allows at least.
static double allowed(const tl_bump *b, const tl_vec3 *v, int32_t cloth_nodes, double dt)
{
    double body = tl_dot3(b->normal, b->other), sign = 1;
    for (int k = 0; k < 4; k++) {
        if (b->node[k] >= cloth_nodes) body -= b->weight[k] * tl_dot3(b->normal, v[b->node[k]]);
        if (b->node[k] >= 0 && b->node[k] < cloth_nodes && b->weight[k] < 0) sign = -1;  // the cloth comes second
    }
    const double lack = b->keep - b->gap;
    return sign * body + (lack > 0 ? NEAR_RESTORE : 1) * lack / dt;
}

// Directions of one contact; returns whether it bars anything.
static bool bar(const tl_bump *b, const near_speeds *s, int32_t cloth_nodes, double dt, tl_directions *of)
{
    if (!(tl_dot3(b->normal, tl_bump_velocity(b, s->v)) < (b->keep - b->gap) / dt)) return false;
    const double least = allowed(b, s->v, cloth_nodes, dt);
    bool any = false;
    for (int k = 0; k < 4; k++) {
        const int32_t i = b->node[k];
        if (i < 0 || i >= cloth_nodes || fabs(b->weight[k]) < LEAST_WEIGHT || !(s->inverse_mass[i] > 0)) continue;
        const tl_vec3 out = b->weight[k] > 0 ? b->normal : tl_mul3(-1, b->normal);
        if (tl_dot3(out, tl_directions_filter(&of[i], s->v[i])) >= least) continue;  // pulled away: released
        tl_directions_add(&of[i], out, least);
        any = true;
    }
    return any;
}

// What is left across the directions is slowed down by friction: Coulomb, by the velocity that was taken out.
static void rub(const tl_bump *b, const tl_vec3 *free, const near_speeds *s, int32_t cloth_nodes)
{
    tl_vec3 body = b->other;
    double sign = 1;
    for (int k = 0; k < 4; k++) {
        if (b->node[k] >= cloth_nodes) body = tl_madd3(body, -b->weight[k], s->v[b->node[k]]);
        if (b->node[k] >= 0 && b->node[k] < cloth_nodes && b->weight[k] < 0) sign = -1;
    }
    body = tl_mul3(sign, body);
    for (int k = 0; k < 4; k++) {
        const int32_t i = b->node[k];
        if (i < 0 || i >= cloth_nodes || fabs(b->weight[k]) < LEAST_WEIGHT) continue;
        const tl_vec3 taken = tl_sub3(s->v[i], free[i]), relative = tl_sub3(s->v[i], body);
        const double push = fmax(0, tl_dot3(b->normal, taken) * (b->weight[k] > 0 ? 1 : -1));
        const tl_vec3 slide = tl_madd3(relative, -tl_dot3(b->normal, relative), b->normal);
        const double speed = tl_norm3(slide);
        if (speed > 0) s->v[i] = tl_madd3(s->v[i], -fmin(1, b->friction * push / speed), slide);
    }
}

static tl_status project(near_kind *k, const tl_respond_move *move, const near_speeds *s, const tl_ctx *ctx,
                         tl_error *err)
{
    const int32_t n = move->node_count;
    tl_near_list *list = tl_near_set_list(k->near);
    tl_directions *of = TL_SCRATCH(ctx->arena, tl_directions, n);
    tl_vec3 *free = TL_SCRATCH(ctx->arena, tl_vec3, n);
    uint8_t *barred = TL_SCRATCH(ctx->arena, uint8_t, list->count), *rubbed = TL_SCRATCH(ctx->arena, uint8_t, n);
    if (!of || !free || !rubbed || (list->count > 0 && !barred)) return tl_fail_memory(err, "the response");
    memset(of, 0, (size_t)n * sizeof *of);
    memset(rubbed, 0, (size_t)n);
    memcpy(free, s->v, (size_t)n * sizeof *free);
    for (int32_t i = 0; i < list->count; i++) {
        barred[i] = list->body[i] >= 0 && bar(&list->items[i], s, n, move->dt, of);
        k->report.contacts += barred[i];
    }
    for (int32_t i = 0; i < n; i++)
        if (of[i].count > 0) s->v[i] = tl_directions_filter(&of[i], s->v[i]);
    for (int32_t i = 0; i < list->count; i++) {
        if (!barred[i]) continue;
        bool first = true;  // one contact of a node rubs, or friction would count as often as there are contacts
        for (int j = 0; j < 4; j++) {
            const int32_t node = list->items[i].node[j];
            if (node >= 0 && node < n) first = first && !rubbed[node];
        }
        if (!first) continue;
        for (int j = 0; j < 4; j++)
            if (list->items[i].node[j] >= 0 && list->items[i].node[j] < n) rubbed[list->items[i].node[j]] = 1;
        rub(&list->items[i], free, s, n);
    }
    return TL_OK;
}

static tl_status after(void *self, const tl_respond_move *move, tl_vec3 *x, tl_vec3 *v, bool *clear, const tl_ctx *ctx,
                       tl_error *err)
{
    near_kind *k = self;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    near_speeds s;
    tl_status status = near_kind_look(k, move, x, &s, ctx, err);
    if (status == TL_OK) status = project(k, move, &s, ctx, err);
    if (status == TL_OK) {
        tl_near_list *list = tl_near_set_list(k->near);
        int32_t own = 0;  // pairs within the cloth come first
        while (own < list->count && list->body[own] < 0) own++;
        near_kind_push(k, list->items, own, &s, move);
        status = near_kind_finish(k, move, &s, x, v, clear, ctx, err);
    }
    tl_arena_release(ctx->arena, mark);
    return status;
}

const tl_responder tl_responder_constraint = {
    .name = "constraint",
    .promise =
        "velocities lose the directions that bodies bar; for bodies that rest; with the net nothing passes through",
    .detects = true,
    .create = near_kind_create,
    .destroy = near_kind_destroy,
    .forget = near_kind_forget,
    .contacts = near_kind_contacts,
    .begin = near_kind_begin,
    .after = after,
    .report = near_kind_report,
    .save = near_kind_save,
    .load = near_kind_load,
    .check = tl_near_check,
    .hash = near_kind_hash,
};
