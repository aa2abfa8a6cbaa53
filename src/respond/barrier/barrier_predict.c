// respond/barrier/barrier_predict.c: prediction of contacts that do not press yet but will after the update.
//
// They enter the linear system with the law extended linearly beyond the thickness, a spring that only pushes: an
// active set that changes the search direction, not the energy. Finding the set by repeated solves takes many of them,
// so the first solve starts from likely pairs: those of the previous solve, and at the start of a step those that
// pressed at its beginning.

#include "base/fail.h"
#include "respond/barrier/barrier_law.h"
#include "respond/pairs/pairs.h"

enum { PAIRS_PER_CHUNK = 512 };

/// Gap along the normal after a move by u (bodies: by the rest of their path).
static double gap_after(const tl_contacts *c, const pair *p, const proximity *near, const tl_vec3 *u)
{
    double gap = near->distance;
    if (p->kind == PAIR_PLANE) return gap + tl_dot3(near->normal, u[p->node[0]]);
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        const tl_vec3 w = i < c->node_count ? u[i] : tl_sub3(c->step.body_end[i - c->node_count], c->motion.pos[i]);
        gap += near->weight[k] * tl_dot3(near->normal, w);
    }
    return gap;
}

/// Gap along the normal after a body has moved by the rest of its path while the cloth stays.
static double gap_left(const tl_contacts *c, const pair *p, const proximity *near)
{
    double gap = near->distance;
    for (int k = 0; k < 4; k++)
        if (p->node[k] >= c->node_count)
            gap += near->weight[k] * tl_dot3(near->normal, contact_disp_left(c, p->node[k]));
    return gap;
}

// Is a pair inactive and near enough to be predicted? A fast body may hit cloth that is many thicknesses away.
static bool may_approach(const tl_contacts *c, int32_t i)
{
    const pair *p = &c->cache.pair[i];
    const double d = c->cache.near[i].distance, reach = c->policy.barrier.predict_reach * p->thickness;
    if (!(d >= p->thickness && c->cache.fade[i] > 0)) return false;
    return d < reach || (c->motion.progress < 1 && p->body != TL_CLOTH && p->kind != PAIR_PLANE &&
                         gap_left(c, p, &c->cache.near[i]) < reach);
}

typedef struct predict_job {
    tl_contacts *c;
    const tl_vec3 *u;
    uint8_t *wanted;  ///< [pair_count] comes near
    int32_t *index;   ///< of those that do
    uint8_t *stops;   ///< [pressing] has become stiffer
    double *more;     ///< stiffness of those that come, beside the law's where contact begins [N/m]; NULL: none
} predict_job;

// Marks contacts whose sliding would reverse under the present friction. The parabola through f at y with curvature
// f'(y)/y lies above f everywhere, so with it a solve does not overshoot the point where sliding stops.
static void reversal_chunk(void *arg, int32_t begin, int32_t end)
{
    const predict_job *job = arg;
    tl_contacts *c = job->c;
    const double e = c->slip_speed / c->step.gamma;
    for (int32_t i = begin; i < end; i++) {
        contact *ct = &c->set.contact[i];
        const double y = tl_norm3(ct->sliding);
        if (ct->reverses || !(ct->friction_excess > 0) || !(y > 0)) continue;
        tl_vec3 more = {0, 0, 0};
        for (int k = 0; k < pair_nodes(&ct->pair); k++)
            if (contact_is_free(c, ct->pair.node[k])) more = tl_madd3(more, ct->weight[k], job->u[ct->pair.node[k]]);
        ct->reverses = y + tl_dot3(more, ct->sliding) / y < (y > e ? e : -0.5 * e);
    }
}

static void reversal_contact(const contact *from, contact *out)
{
    *out = *from;
    out->friction_excess = 0, out->force = (tl_vec3){0, 0, 0};
    for (int k = 0; k < 6; k++) out->stiff[k] = 0;
    contact_add_square(out->stiff, from->friction_excess / tl_dot3(from->sliding, from->sliding), from->sliding);
}

// Fast bodies compress a contact from nearly open to a fraction of its gap within one step. The law is much steeper
// there than at the linearisation point, so the update passes through the surface, is cut to a small part for each node
// separately, and the next one is no better. Since the motion of the cloth is nearly prescribed, the force hardly
// depends on the stiffness: the force of the linear model tells at which gap the law has it, and the secant to that
// point is the stiffness to solve with.
#define NO_NEARER 0.99  // of the gap at the start: rounding

static double extra_stiffness_for(const tl_contacts *c, const contact *ct, double from, double gap)
{
    if (!(gap < c->policy.barrier.secant_below * from)) return 0;
    const double force = (ct->normal_stiffness + ct->extra_stiffness) * (from - gap),
                 goal = tl_contact_gap((ct->load + force) / ct->scale) * ct->pair.thickness;
    return force / (from - smaller(goal, NO_NEARER * from)) - ct->normal_stiffness;
}

static void stiffen_chunk(void *arg, int32_t begin, int32_t end)
{
    const predict_job *job = arg;
    tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        contact *ct = &c->set.contact[i];
        proximity near = {.distance = ct->distance, .normal = ct->normal};
        memcpy(near.weight, ct->weight, sizeof near.weight);
        const double more = extra_stiffness_for(c, ct, ct->distance, gap_after(c, &ct->pair, &near, job->u));
        job->stops[i] = more > c->policy.barrier.secant_growth * ct->extra_stiffness;
        if (job->stops[i]) ct->extra_stiffness = more;
    }
}

static void stiffening_contact(const tl_contacts *c, const contact *from, contact *out)
{
    *out = *from;
    out->friction_excess = 0;
    for (int k = 0; k < 6; k++) out->stiff[k] = 0;
    contact_add_square(out->stiff, from->extra_stiffness, from->normal);
    double coming = 0;
    for (int k = 0; k < 4 && from->pair.kind != PAIR_PLANE; k++)
        if (!contact_is_free(c, from->pair.node[k]))
            coming += from->weight[k] * tl_dot3(from->normal, contact_disp_left(c, from->pair.node[k]));
    out->force = tl_mul3(from->extra_stiffness * coming, from->normal);
    out->needs_double = contact_needs_double(c, &from->pair, out->weight, out->stiff);
}

static void predict_chunk(void *arg, int32_t begin, int32_t end)
{
    const predict_job *job = arg;
    const tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const pair *p = &c->cache.pair[i];
        const proximity *near = &c->cache.near[i];
        job->wanted[i] = may_approach(c, i) && gap_after(c, p, near, job->u) < p->thickness;
    }
}

static void extend_chunk(void *arg, int32_t begin, int32_t end)
{
    const predict_job *job = arg;
    tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const int32_t index = job->index[i];
        const pair *p = &c->cache.pair[index];
        const proximity near = c->cache.near[index];
        contact *out = &c->set.contact[c->set.active_count + i];
        double stiff =
            (double)c->cache.fade[index] * c->pressure * p->area * tl_contact_stiffness(1 - 1e-9) / p->thickness;
        *out = (contact){.pair = *p,
                         .normal = near.normal,
                         .distance = near.distance,
                         .scale = (double)c->cache.fade[index] * c->pressure * p->area,
                         .normal_stiffness = stiff};
        for (int k = 0; k < 4; k++) out->weight[k] = near.weight[k];
        out->extra_stiffness = job->more ? job->more[i] : 0;
        stiff += out->extra_stiffness;
        contact_add_square(out->stiff, stiff, near.normal);
        // nodes of bodies and of handles have a prescribed motion; the others are solved for
        double gap = near.distance - p->thickness;
        for (int k = 0; k < 4 && p->kind != PAIR_PLANE; k++)
            if (!contact_is_free(c, p->node[k]))
                gap += near.weight[k] * tl_dot3(near.normal, contact_disp_left(c, p->node[k]));
        out->force = tl_mul3(stiff * gap, near.normal);
        out->needs_double = contact_needs_double(c, p, out->weight, out->stiff);
    }
}

/// Counts of predicted contacts by reason.
typedef struct prediction {
    int32_t coming, turning, stopping;
} prediction;

// Makes the predicted contacts: the pairs of `index`, and the extra friction of contacts that reverse.
static tl_status replace_predicted(tl_contacts *c, const predict_job *job, prediction count, tl_bsr *matrix,
                                   tl_vec3 *push, tl_workers *workers, tl_error *err)
{
    const int32_t coming = count.coming, turning = count.turning, stopping = count.stopping;
    if (!CONTACT_GROW(c, c->set.contact, c->set.cap, c->set.active_count + coming + turning + stopping))
        return tl_fail_memory(err, "the contacts");
    if (c->set.count > c->set.active_count)
        contact_gather(c, PREDICTED, -1, matrix, push, workers);  // out with those foreseen before
    tl_parallel_for(workers, coming, PAIRS_PER_CHUNK, extend_chunk, (void *)job);
    int32_t at = c->set.active_count + coming;
    for (int32_t i = 0; i < c->set.active_count && turning > 0; i++)
        if (c->set.contact[i].reverses) reversal_contact(&c->set.contact[i], &c->set.contact[at++]);
    for (int32_t i = 0; i < c->set.active_count && stopping > 0; i++)
        if (c->set.contact[i].extra_stiffness > 0) stiffening_contact(c, &c->set.contact[i], &c->set.contact[at++]);
    c->set.count = at, c->set.approaching_count = coming;
    TL_TRY(contact_index_by_node(c, PREDICTED, err));
    c->set.blocks_valid = false;
    memset(push, 0, (size_t)c->node_count * sizeof *push);
    contact_gather(c, PREDICTED, 1, matrix, push, workers);
    return TL_OK;
}

// Extra stiffness of an approaching contact, given that of the previous solve (NULL: new). True if it became stiffer.
static bool stiffen_approaching(const tl_contacts *c, int32_t index, const contact *before, const tl_vec3 *u,
                                double *more)
{
    *more = before ? before->extra_stiffness : 0;
    if (!before) return false;
    const double wanted = extra_stiffness_for(c, before, before->pair.thickness,
                                              gap_after(c, &c->cache.pair[index], &c->cache.near[index], u));
    if (!(wanted > c->policy.barrier.secant_growth * *more)) return false;
    *more = wanted;
    return true;
}

tl_status tl_contacts_predict(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, tl_bsr *matrix, tl_vec3 *push,
                              const tl_ctx *ctx, bool *changed, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    predict_job job = {c, u, TL_SCRATCH(ctx->arena, uint8_t, c->cache.count), NULL};
    *changed = false;
    if (!job.wanted) return tl_fail_memory(err, "the contacts");
    tl_workers_charge(ctx->workers, CONTACT_COST_PAIR * c->cache.count);
    contact_start_at(c, x);
    tl_parallel_for(ctx->workers, c->cache.count, PAIRS_PER_CHUNK, predict_chunk, &job);
    tl_parallel_for(ctx->workers, c->set.active_count, PAIRS_PER_CHUNK, reversal_chunk, &job);
    const bool firm = contact_uses_secant(c);
    int32_t coming = 0, turning = 0, stopping = 0, at = 0;
    bool steeper = false;
    for (int32_t i = 0; i < c->cache.count; i++) coming += job.wanted[i];
    for (int32_t i = 0; i < c->set.active_count; i++) turning += c->set.contact[i].reverses;
    job.index = TL_SCRATCH(ctx->arena, int32_t, coming);
    if (!job.index) return tl_fail_memory(err, "the contacts");
    if (firm) {
        job.stops = TL_SCRATCH(ctx->arena, uint8_t, c->set.active_count),
        job.more = TL_SCRATCH(ctx->arena, double, coming);
        if (!job.stops || !job.more) return tl_fail_memory(err, "the contacts");
        tl_parallel_for(ctx->workers, c->set.active_count, PAIRS_PER_CHUNK, stiffen_chunk, &job);
        for (int32_t i = 0; i < c->set.active_count; i++)
            stopping += c->set.contact[i].extra_stiffness > 0, steeper = steeper || job.stops[i];
    }
    // contacts that reverse stay marked
    int32_t was = c->set.active_count, kept = 0;
    const int32_t was_end = c->set.active_count + c->set.approaching_count;
    for (int32_t i = 0; i < c->cache.count; i++) {
        if (!job.wanted[i]) continue;
        while (was < was_end && contact_pair_before(c, &c->set.contact[was].pair, &c->cache.pair[i])) was++;
        const bool before = was < was_end && !contact_pair_before(c, &c->cache.pair[i], &c->set.contact[was].pair);
        kept += before;
        if (firm && stiffen_approaching(c, i, before ? &c->set.contact[was] : NULL, u, &job.more[at])) steeper = true;
        job.index[at++] = i;
    }
    const int32_t others = c->set.count - was_end, more = turning + stopping;
    const int32_t difference =
        (coming - kept) + (c->set.approaching_count - kept) + (more > others ? more - others : others - more);
    const bool same = !steeper && difference <= c->policy.barrier.predict_part * (double)(c->set.active_count + coming);
    *changed = !same;
    const tl_status status =
        same ? TL_OK
             : replace_predicted(c, &job, (prediction){coming, turning, stopping}, matrix, push, ctx->workers, err);
    tl_arena_release(ctx->arena, mark);
    return status;
}

// --- pairs expected before the first solve ---

tl_status contact_note_active(tl_contacts *c, tl_error *err)
{
    const int32_t coming_end = c->set.active_count + c->set.approaching_count;
    if (c->set.expected_at_start) {  // nothing has been solved since
        c->set.expected_at_start = false;
        return TL_OK;
    }
    if (!CONTACT_GROW(c, c->set.expected, c->set.expected_cap, coming_end)) return tl_fail_memory(err, "the contacts");
    c->set.expected_count = 0;
    for (int32_t i = 0, j = c->set.active_count; i < c->set.active_count || j < coming_end;) {
        const bool first =
            j >= coming_end ||
            (i < c->set.active_count && contact_pair_before(c, &c->set.contact[i].pair, &c->set.contact[j].pair));
        c->set.expected[c->set.expected_count++] = c->set.contact[first ? i++ : j++].pair;
    }
    c->set.approaching_count = 0;
    return TL_OK;
}

tl_status tl_contacts_note_start(tl_contacts *c, tl_error *err)
{
    if (!CONTACT_GROW(c, c->set.expected, c->set.expected_cap, c->cache.count))
        return tl_fail_memory(err, "the contacts");
    c->set.expected_count = 0;
    for (int32_t i = 0; i < c->cache.count; i++)
        if (c->cache.near[i].distance < c->cache.pair[i].thickness && c->cache.fade[i] > 0)
            c->set.expected[c->set.expected_count++] = c->cache.pair[i];
    c->set.expected_at_start = true;
    return TL_OK;
}

tl_status tl_contacts_predict_expected(tl_contacts *c, tl_bsr *matrix, tl_vec3 *push, const tl_ctx *ctx, bool *any,
                                       tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    predict_job job = {.c = c, .index = TL_SCRATCH(ctx->arena, int32_t, c->set.expected_count)};
    int32_t coming = 0;
    if (!job.index) return tl_fail_memory(err, "the contacts");
    for (int32_t i = 0, k = 0; i < c->cache.count; i++) {  // both are in the order of the lists
        while (k < c->set.expected_count && contact_pair_before(c, &c->set.expected[k], &c->cache.pair[i])) k++;
        if (k == c->set.expected_count) break;
        if (!contact_pair_before(c, &c->cache.pair[i], &c->set.expected[k]) && may_approach(c, i))
            job.index[coming++] = i;
    }
    *any = coming > 0;
    const tl_status status =
        *any ? replace_predicted(c, &job, (prediction){coming, 0, 0}, matrix, push, ctx->workers, err) : TL_OK;
    tl_arena_release(ctx->arena, mark);
    return status;
}
