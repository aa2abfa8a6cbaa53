// respond/barrier/barrier_predict.c: contacts that do not press yet but will after the update, so that a solve knows of
// them.
//
// They go into the system as if the law went on as a straight line beyond the thickness, a spring that only pushes: an
// active set that changes the direction, not the energy. Found by solving again and again it takes many solves to
// settle, so the first one begins with pairs that are likely: those of the solve before, and at the start of a step
// those that pressed where it began.

#include "base/fail.h"
#include "respond/barrier/barrier_law.h"
#include "respond/pairs/pairs.h"

// pairs further apart than this many thicknesses, when bodies have gone their way, are not foreseen: the straight line
// would mislead
#define FORESEE_REACH 8.0
enum { PAIRS_PER_CHUNK = 512 };

/// The gap along the normal after a move by u (and of the bodies by the rest of their way).
static double gap_after(const tl_contacts *c, const pair *p, const nearness *near, const tl_vec3 *u)
{
    double gap = near->distance;
    if (p->kind == PAIR_PLANE) return gap + tl_dot3(near->normal, u[p->node[0]]);
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        const tl_vec3 w = i < c->node_count ? u[i] : tl_sub3(c->step.body_end[i - c->node_count], c->at[i]);
        gap += near->weight[k] * tl_dot3(near->normal, w);
    }
    return gap;
}

/// The gap along the normal once a body has gone the rest of its way and the cloth has stood still.
static double gap_left(const tl_contacts *c, const pair *p, const nearness *near)
{
    double gap = near->distance;
    for (int k = 0; k < 4; k++)
        if (p->node[k] >= c->node_count)
            gap += near->weight[k] * tl_dot3(near->normal, contact_way_left(c, p->node[k]));
    return gap;
}

// Does a pair not press yet, and could it? What a fast body runs into is far away, in thicknesses.
static bool may_come(const tl_contacts *c, int32_t i)
{
    const pair *p = &c->pairs[i];
    const double d = c->near[i].distance, reach = FORESEE_REACH * p->thickness;
    if (!(d >= p->thickness && c->soft[i] > 0)) return false;
    return d < reach ||
           (c->done < 1 && p->body != TL_CLOTH && p->kind != PAIR_PLANE && gap_left(c, p, &c->near[i]) < reach);
}

typedef struct foresee_job {
    tl_contacts *c;
    const tl_vec3 *u;
    uint8_t *wanted;  ///< [pair_count] comes near
    int32_t *index;   ///< of those that do
    uint8_t *stops;   ///< [pressing] has become stiffer
    double *more;     ///< stiffness of those that come, beside the law's where contact begins [N/m]; NULL: none
} foresee_job;

// Marks contacts whose friction, taken as it is, lets them slide through zero and back. The parabola through f at y
// with the curvature f'(y)/y lies above f everywhere, so with that a solve does not overshoot the point where sliding
// stops.
static void turn_chunk(void *arg, int32_t begin, int32_t end)
{
    const foresee_job *job = arg;
    tl_contacts *c = job->c;
    const double e = c->slip_speed / c->step.gamma;
    for (int32_t i = begin; i < end; i++) {
        contact *ct = &c->contacts[i];
        const double y = tl_norm3(ct->slide);
        if (ct->turning || !(ct->rub > 0) || !(y > 0)) continue;
        tl_vec3 more = {0, 0, 0};
        for (int k = 0; k < pair_nodes(&ct->pair); k++)
            if (contact_is_free(c, ct->pair.node[k])) more = tl_madd3(more, ct->weight[k], job->u[ct->pair.node[k]]);
        ct->turning = y + tl_dot3(more, ct->slide) / y < (y > e ? e : -0.5 * e);
    }
}

static void rub_contact(const contact *from, contact *out)
{
    *out = *from;
    out->rub = 0, out->force = (tl_vec3){0, 0, 0};
    for (int k = 0; k < 6; k++) out->stiff[k] = 0;
    contact_add_square(out->stiff, from->rub / tl_dot3(from->slide, from->slide), from->slide);
}

// Bodies that are fast make for contacts that are pressed from hardly at all to a fraction of their gap in one step.
// The law is steeper there than where it was looked at: the update goes through, is cut to a small part for each node
// by itself, and the next one is no better. But force hardly depends on stiffness where cloth has to move as told, so
// that of the linear model tells at which gap the law has it; the straight line to that point is the stiffness to solve
// with.
#define PRESSED 0.5     // of the gap, and less, is pressed
#define NO_NEARER 0.99  // rounding
#define STEEPER 1.3     // a smaller change of the stiffness is not worth another solve

static double more_for(const contact *ct, double from, double gap)
{
    if (!(gap < PRESSED * from)) return 0;
    const double force = (ct->along + ct->more) * (from - gap),
                 goal = tl_contact_gap((ct->load + force) / ct->scale) * ct->pair.thickness;
    return force / (from - smaller(goal, NO_NEARER * from)) - ct->along;
}

static void stop_chunk(void *arg, int32_t begin, int32_t end)
{
    const foresee_job *job = arg;
    tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        contact *ct = &c->contacts[i];
        nearness near = {.distance = ct->distance, .normal = ct->normal};
        memcpy(near.weight, ct->weight, sizeof near.weight);
        const double more = more_for(ct, ct->distance, gap_after(c, &ct->pair, &near, job->u));
        job->stops[i] = more > STEEPER * ct->more;
        if (job->stops[i]) ct->more = more;
    }
}

static void stop_contact(const tl_contacts *c, const contact *from, contact *out)
{
    *out = *from;
    out->rub = 0;
    for (int k = 0; k < 6; k++) out->stiff[k] = 0;
    contact_add_square(out->stiff, from->more, from->normal);
    double coming = 0;
    for (int k = 0; k < 4 && from->pair.kind != PAIR_PLANE; k++)
        if (!contact_is_free(c, from->pair.node[k]))
            coming += from->weight[k] * tl_dot3(from->normal, contact_way_left(c, from->pair.node[k]));
    out->force = tl_mul3(from->more * coming, from->normal);
    out->hard = contact_is_hard(c, &from->pair, out->weight, out->stiff);
}

static void foresee_chunk(void *arg, int32_t begin, int32_t end)
{
    const foresee_job *job = arg;
    const tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const pair *p = &c->pairs[i];
        const nearness *near = &c->near[i];
        job->wanted[i] = may_come(c, i) && gap_after(c, p, near, job->u) < p->thickness;
    }
}

static void extend_chunk(void *arg, int32_t begin, int32_t end)
{
    const foresee_job *job = arg;
    tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const int32_t index = job->index[i];
        const pair *p = &c->pairs[index];
        const nearness near = c->near[index];
        contact *out = &c->contacts[c->pressing + i];
        double stiff = (double)c->soft[index] * c->pressure * p->area * tl_contact_stiffness(1 - 1e-9) / p->thickness;
        *out = (contact){.pair = *p,
                         .normal = near.normal,
                         .distance = near.distance,
                         .scale = (double)c->soft[index] * c->pressure * p->area,
                         .along = stiff};
        for (int k = 0; k < 4; k++) out->weight[k] = near.weight[k];
        out->more = job->more ? job->more[i] : 0;
        stiff += out->more;
        contact_add_square(out->stiff, stiff, near.normal);
        // nodes of bodies and those that handles drive bring their own way; the others are what is solved for
        double gap = near.distance - p->thickness;
        for (int k = 0; k < 4 && p->kind != PAIR_PLANE; k++)
            if (!contact_is_free(c, p->node[k]))
                gap += near.weight[k] * tl_dot3(near.normal, contact_way_left(c, p->node[k]));
        out->force = tl_mul3(stiff * gap, near.normal);
        out->hard = contact_is_hard(c, p, out->weight, out->stiff);
    }
}

/// How many contacts are foreseen for which reason.
typedef struct foreseen {
    int32_t coming, turning, stopping;
} foreseen;

// The contacts foreseen become the pairs of `index`, and what contacts that turn have more in friction.
static tl_status take_up(tl_contacts *c, const foresee_job *job, foreseen count, tl_bsr *matrix, tl_vec3 *push,
                         tl_workers *workers, tl_error *err)
{
    const int32_t coming = count.coming, turning = count.turning, stopping = count.stopping;
    if (!CONTACT_GROW(c, c->contacts, c->contact_cap, c->pressing + coming + turning + stopping))
        return tl_fail_memory(err, "the contacts");
    if (c->contact_count > c->pressing)
        contact_gather(c, FORESEEN, -1, matrix, push, workers);  // out with those foreseen before
    tl_parallel_for(workers, coming, PAIRS_PER_CHUNK, extend_chunk, (void *)job);
    int32_t at = c->pressing + coming;
    for (int32_t i = 0; i < c->pressing && turning > 0; i++)
        if (c->contacts[i].turning) rub_contact(&c->contacts[i], &c->contacts[at++]);
    for (int32_t i = 0; i < c->pressing && stopping > 0; i++)
        if (c->contacts[i].more > 0) stop_contact(c, &c->contacts[i], &c->contacts[at++]);
    c->contact_count = at, c->coming = coming;
    TL_TRY(contact_list(c, FORESEEN, err));
    c->blocks_made = false;
    memset(push, 0, (size_t)c->node_count * sizeof *push);
    contact_gather(c, FORESEEN, 1, matrix, push, workers);
    return TL_OK;
}

// How much more stiffness a contact that comes has, given what it was in the solve before (NULL: it is new). Returns
// whether it became stiffer.
static bool steepen_coming(const tl_contacts *c, int32_t index, const contact *before, const tl_vec3 *u, double *more)
{
    *more = before ? before->more : 0;
    if (!before) return false;
    const double wanted = more_for(before, before->pair.thickness, gap_after(c, &c->pairs[index], &c->near[index], u));
    if (!(wanted > STEEPER * *more)) return false;
    *more = wanted;
    return true;
}

static bool same_pair(const pair *a, const pair *b)
{
    return a->kind == b->kind && a->body == b->body && memcmp(a->node, b->node, sizeof a->node) == 0;
}

tl_status tl_contacts_foresee(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, tl_bsr *matrix, tl_vec3 *push,
                              const tl_ctx *ctx, bool *changed, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    foresee_job job = {c, u, TL_SCRATCH(ctx->arena, uint8_t, c->pair_count), NULL};
    *changed = false;
    if (!job.wanted) return tl_fail_memory(err, "the contacts");
    tl_workers_charge(ctx->workers, CONTACT_MEASURE * c->pair_count);
    c->allowed = 0;
    contact_place(c, x, 0);
    tl_parallel_for(ctx->workers, c->pair_count, PAIRS_PER_CHUNK, foresee_chunk, &job);
    tl_parallel_for(ctx->workers, c->pressing, PAIRS_PER_CHUNK, turn_chunk, &job);
    const bool firm = contact_is_firm(c);
    int32_t coming = 0, turning = 0, stopping = 0, at = 0;
    bool steeper = false;
    for (int32_t i = 0; i < c->pair_count; i++) coming += job.wanted[i];
    for (int32_t i = 0; i < c->pressing; i++) turning += c->contacts[i].turning;
    job.index = TL_SCRATCH(ctx->arena, int32_t, coming);
    if (!job.index) return tl_fail_memory(err, "the contacts");
    if (firm) {
        job.stops = TL_SCRATCH(ctx->arena, uint8_t, c->pressing), job.more = TL_SCRATCH(ctx->arena, double, coming);
        if (!job.stops || !job.more) return tl_fail_memory(err, "the contacts");
        tl_parallel_for(ctx->workers, c->pressing, PAIRS_PER_CHUNK, stop_chunk, &job);
        for (int32_t i = 0; i < c->pressing; i++)
            stopping += c->contacts[i].more > 0, steeper = steeper || job.stops[i];
    }
    // contacts that turn stay so
    bool same = c->coming == coming && c->contact_count == c->pressing + coming + turning + stopping && !steeper;
    int32_t was = c->pressing;
    const int32_t was_end = c->pressing + c->coming;
    for (int32_t i = 0; i < c->pair_count; i++) {
        if (!job.wanted[i]) continue;
        same = same && same_pair(&c->contacts[c->pressing + at].pair, &c->pairs[i]);
        if (firm) {
            while (was < was_end && contact_stands_before(c, &c->contacts[was].pair, &c->pairs[i])) was++;
            const bool before = was < was_end && !contact_stands_before(c, &c->pairs[i], &c->contacts[was].pair);
            same = !steepen_coming(c, i, before ? &c->contacts[was] : NULL, u, &job.more[at]) && same;
        }
        job.index[at++] = i;
    }
    *changed = !same;
    const tl_status status =
        same ? TL_OK : take_up(c, &job, (foreseen){coming, turning, stopping}, matrix, push, ctx->workers, err);
    tl_arena_release(ctx->arena, mark);
    return status;
}

// --- what is likely from the start ---

tl_status contact_note_pressing(tl_contacts *c, tl_error *err)
{
    const int32_t coming_end = c->pressing + c->coming;
    if (c->noted_at_start) {  // nothing has been solved since
        c->noted_at_start = false;
        return TL_OK;
    }
    if (!CONTACT_GROW(c, c->noted, c->noted_cap, coming_end)) return tl_fail_memory(err, "the contacts");
    c->noted_count = 0;
    for (int32_t i = 0, j = c->pressing; i < c->pressing || j < coming_end;) {
        const bool first = j >= coming_end ||
                           (i < c->pressing && contact_stands_before(c, &c->contacts[i].pair, &c->contacts[j].pair));
        c->noted[c->noted_count++] = c->contacts[first ? i++ : j++].pair;
    }
    c->coming = 0;
    return TL_OK;
}

tl_status tl_contacts_note_start(tl_contacts *c, tl_error *err)
{
    if (!CONTACT_GROW(c, c->noted, c->noted_cap, c->pair_count)) return tl_fail_memory(err, "the contacts");
    c->noted_count = 0;
    for (int32_t i = 0; i < c->pair_count; i++)
        if (c->near[i].distance < c->pairs[i].thickness && c->soft[i] > 0) c->noted[c->noted_count++] = c->pairs[i];
    c->noted_at_start = true;
    return TL_OK;
}

tl_status tl_contacts_expect(tl_contacts *c, tl_bsr *matrix, tl_vec3 *push, const tl_ctx *ctx, bool *any, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    foresee_job job = {.c = c, .index = TL_SCRATCH(ctx->arena, int32_t, c->noted_count)};
    int32_t coming = 0;
    if (!job.index) return tl_fail_memory(err, "the contacts");
    for (int32_t i = 0, k = 0; i < c->pair_count; i++) {  // both are in the order of the lists
        while (k < c->noted_count && contact_stands_before(c, &c->noted[k], &c->pairs[i])) k++;
        if (k == c->noted_count) break;
        if (!contact_stands_before(c, &c->pairs[i], &c->noted[k]) && may_come(c, i)) job.index[coming++] = i;
    }
    *any = coming > 0;
    const tl_status status = *any ? take_up(c, &job, (foreseen){coming, 0, 0}, matrix, push, ctx->workers, err) : TL_OK;
    tl_arena_release(ctx->arena, mark);
    return status;
}
