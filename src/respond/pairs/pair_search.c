// respond/pairs/pair_search.c: when the trees are queried, and how long their lists stay valid.
//
// Successive Newton iterates of a step are close to each other, so lists are made with slack: as long as nodes stay
// within it, later searches only filter the lists again. Where some nodes leave it, the trees are queried for the pairs
// of those nodes alone, so that the cost of a search follows what has moved since the last one.

#include "respond/pairs/pairs.h"

#include <math.h>

#include "base/fail.h"

enum { COMPARED_PER_CHUNK = 1024 };

static bool boxes_apart(const contact_box *a, const contact_box *b, double reach)
{
    const double x = larger(a->lo.x - b->hi.x, b->lo.x - a->hi.x), y = larger(a->lo.y - b->hi.y, b->lo.y - a->hi.y);
    const double z = larger(a->lo.z - b->hi.z, b->lo.z - a->hi.z);
    return larger(x, larger(y, z)) > reach;
}

/// Nodes whose paths differ from those the lists were made for, by two criteria.
typedef struct path_change {
    uint8_t *along;   ///< at some common part of the ways they are further apart than the slack
    uint8_t *at_end;  ///< the node does not stay within the slack of the end of the way that the lists are of
    int32_t along_count, at_end_count;
} path_change;

typedef struct compare_job {
    const tl_contacts *c;
    const tl_vec3 *x, *u;
    path_change *out;
    struct seen {
        int32_t along, at_end;
        double stray;
        bool same_start;
    } * seen;  ///< by each chunk
} compare_job;

static void compare_chunk(void *arg, int32_t begin, int32_t end)
{
    const compare_job *job = arg;
    const tl_contacts *c = job->c;
    const double most = 0.999 * c->cache.slack * c->cache.slack;
    struct seen seen = {.same_start = true};
    for (int32_t i = begin; i < end; i++) {
        const tl_vec3 was_end = c->cache.list_end[i], start = tl_sub3(job->x[i], c->cache.list_pos[i]);
        const tl_vec3 from = tl_sub3(job->x[i], was_end), to = tl_add3(from, job->u[i]);
        const double d0 = tl_dot3(start, start), d1 = tl_dot3(to, to), away = larger(tl_dot3(from, from), d1);
        seen.same_start = seen.same_start && d0 == 0;
        seen.stray = larger(seen.stray, away);
        job->out->along[i] = !(d0 <= most && d1 <= most), job->out->at_end[i] = !(away <= most);
        seen.along += job->out->along[i], seen.at_end += job->out->at_end[i];
    }
    job->seen[begin / COMPARED_PER_CHUNK] = seen;
}

// Lists hold all pairs that come near while nodes move along the paths the lists were made for. So they are valid for
// paths that stay within the slack of those at every common parameter; and, since that includes the ends, for nodes
// that all stay within the slack of the ends. Later Newton iterations are of that kind.
static tl_status compare(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, path_change *out, const tl_ctx *ctx,
                         tl_error *err)
{
    const int32_t chunks = tl_chunk_count(c->node_count, COMPARED_PER_CHUNK);
    compare_job job = {c, x, u, out, TL_SCRATCH(ctx->arena, struct seen, chunks)};
    if (!job.seen) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(ctx->workers, c->node_count, COMPARED_PER_CHUNK, compare_chunk, &job);
    double stray = 0;
    bool same_start = true;
    for (int32_t k = 0; k < chunks; k++) {
        out->along_count += job.seen[k].along, out->at_end_count += job.seen[k].at_end;
        stray = larger(stray, job.seen[k].stray);
        same_start = same_start && job.seen[k].same_start;
    }
    if (c->cache.searched && !same_start && c->motion.progress >= 1)
        c->cache.max_stray = larger(c->cache.max_stray, sqrt(stray));
    return TL_OK;
}

/// A query of the trees.
typedef struct tree_query {
    const uint8_t *changed;  ///< [node_count] pairs with these nodes; NULL: all
    tl_bvh_chosen chosen;    ///< the same as the tree of the cloth sees it
    const uint8_t *moved;    ///< [node_count] these are to be fitted; NULL: all
    bool bodies;             ///< all pairs with bodies that move
    bool thin_all;           ///< ways have become so much shorter that lists are worth another look
} tree_query;

// Reach of the query for pairs with a body, or TL_CLOTH.
static double query_distance(const tl_contacts *c, int32_t body)
{
    return contact_reach(c, body) + 2 * c->skin + 2 * c->cache.slack;
}

static tl_status query_body(tl_contacts *c, int32_t b, const tree_query *ask, bool was_far, const filter_motion *sight,
                            tl_vec3 *end, const tl_ctx *ctx, tl_error *err)
{
    const int32_t first = c->node_count + c->bodies[b].start;
    const bool some = ask->changed && !was_far && !(ask->bodies && c->bodies[b].moves);
    const int what = TL_PAIR_VF | TL_PAIR_EE;
    if (c->bodies[b].moves || !c->bodies[b].fitted) {
        for (int32_t i = first; i < first + c->bodies[b].surface.node_count; i++)
            end[i] = tl_add3(c->motion.pos[i], c->motion.disp[i]);
        tl_bvh_refit(c->bodies[b].tree, c->motion.pos + first, c->bodies[b].moves ? end + first : NULL, 0, 0,
                     ctx->workers);
        c->bodies[b].fitted = !c->bodies[b].moves;
    }
    tl_pairs *f = some ? &c->cache.update : &c->bodies[b].found;
    const tl_near near = {query_distance(c, b), query_distance(c, b), some ? &ask->chosen : NULL};
    TL_TRY(tl_bvh_between_near(c->tree, c->bodies[b].tree, what, near, ctx->arena, ctx->workers, f, err));
    c->report.volume_tests += f->volume_tests;
    TL_TRY(contact_prune_lists(c, f, NULL, b, sight, ctx, err));
    if (!some) return contact_reset_bounds(c, f, &c->bodies[b].bounds, err);
    TL_TRY(contact_replace_items(c, &c->bodies[b].found, &c->bodies[b].bounds, b, ask->changed, ctx, err));
    return ask->thin_all ? contact_prune_lists(c, &c->bodies[b].found, &c->bodies[b].bounds, b, sight, ctx, err)
                         : TL_OK;
}

static tl_status query_cloth(tl_contacts *c, const tree_query *ask, const filter_motion *sight, const tl_ctx *ctx,
                             tl_error *err)
{
    tl_pairs *f = ask->changed ? &c->cache.update : &c->cache.lists;
    const tl_near near = {query_distance(c, TL_CLOTH), query_distance(c, TL_CLOTH), ask->changed ? &ask->chosen : NULL};
    TL_TRY(tl_bvh_self_near(c->tree, TL_PAIR_VF | TL_PAIR_EE, near, ctx->arena, ctx->workers, f, err));
    c->report.volume_tests += f->volume_tests;
    TL_TRY(contact_prune_lists(c, f, NULL, TL_CLOTH, sight, ctx, err));
    if (!ask->changed) return contact_reset_bounds(c, f, &c->cache.bound, err);
    TL_TRY(contact_replace_items(c, &c->cache.lists, &c->cache.bound, TL_CLOTH, ask->changed, ctx, err));
    return ask->thin_all ? contact_prune_lists(c, &c->cache.lists, &c->cache.bound, TL_CLOTH, sight, ctx, err) : TL_OK;
}

// Queries the trees for pairs that may come within their thickness and twice the skin while everything moves along the
// searched paths, at the same parameter, with the slack added.
static tl_status query_trees(tl_contacts *c, tree_query *ask, const tl_ctx *ctx, tl_error *err)
{
    const int32_t n = c->node_count;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    tl_vec3 *end = TL_SCRATCH(ctx->arena, tl_vec3, n + c->body_nodes);  // of bodies
    uint8_t *was_far = TL_SCRATCH(ctx->arena, uint8_t, c->body_count + 1);
    if (!end || !was_far) return tl_fail_memory(err, "the contacts");
    const contact_box cloth = contact_box_of(c->cache.list_pos, c->cache.list_end, n);
    for (int32_t b = 0; b < c->body_count; b++) {
        was_far[b] = c->bodies[b].far;
        c->bodies[b].far = c->bodies[b].plane || boxes_apart(&cloth, &c->bodies[b].box, query_distance(c, b));
    }
    if (ask->moved)
        tl_bvh_refit_some(c->tree, c->cache.list_pos, c->cache.list_end, ask->moved, ctx->workers);
    else
        tl_bvh_refit(c->tree, c->cache.list_pos, c->cache.list_end, 0, 0, ctx->workers);
    c->report.searches++;
    c->cache.unchanged = false;
    filter_motion sight;
    tl_status status =
        contact_prepare_filter(c, c->cache.list_pos, c->cache.list_disp, c->cache.slack, ctx, &sight, err);
    if (status == TL_OK && ask->changed)
        status = tl_bvh_choose(c->tree, ask->changed, ctx->arena, ctx->workers, &ask->chosen, err);
    if (status == TL_OK && c->self) status = query_cloth(c, ask, &sight, ctx, err);
    for (int32_t b = 0; b < c->body_count && status == TL_OK; b++) {
        tl_pairs *f = &c->bodies[b].found;
        if (c->bodies[b].far)
            f->vf_count = f->fv_count = f->ee_count = 0;
        else
            status = query_body(c, b, ask, was_far[b], &sight, end, ctx, err);
    }
    tl_arena_release(ctx->arena, mark);
    return status;
}

// The slack follows the Newton corrections of the last step. More slack means fewer queries but longer lists, since
// neighbours within a flat piece of cloth get into them.

void contact_update_slack(tl_contacts *c)
{
    const double most = larger(c->policy.pairs.slack_min * c->skin, c->policy.pairs.slack_per_edge * c->edge_length);
    c->cache.next_slack =
        larger(c->policy.pairs.slack_spare * c->cache.max_stray, c->policy.pairs.slack_decay * c->cache.next_slack);
    c->cache.next_slack = smaller(most, larger(c->policy.pairs.slack_min * c->skin, c->cache.next_slack));
    c->cache.max_stray = 0;
}

void tl_contacts_forget(tl_contacts *c)
{
    c->cache.next_slack = c->policy.pairs.slack_first * c->skin, c->cache.max_stray = 0;
    contact_invalidate_lists(c);
}

// Makes all lists anew for the paths from x to x + u.
static tl_status search_all(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, double body_part, const tl_ctx *ctx,
                            tl_error *err)
{
    const int32_t n = c->node_count, all = n + c->body_nodes;
    memcpy(c->cache.list_pos, c->motion.pos, (size_t)all * sizeof *x);
    memcpy(c->cache.list_disp, c->motion.disp, (size_t)all * sizeof *u);
    for (int32_t i = 0; i < n; i++) c->cache.list_end[i] = tl_add3(x[i], u[i]);
    c->cache.list_progress = c->motion.progress, c->cache.list_body_part = body_part;
    c->cache.slack = c->cache.next_slack;
    return query_trees(c, &(tree_query){0}, ctx, err);
}

/// Which paths differ from those of the lists.
typedef struct changed_paths {
    const uint8_t *changed;
    bool rest;         ///< all other nodes rest
    bool bodies;       ///< bodies go another way
    double body_part;  ///< of what is left of theirs
} changed_paths;

// Sets the paths of `changed` nodes to those from x to x + u; if all other nodes `rest`, their paths shrink to their
// ends. The lists are then complete but for pairs with changed nodes. (They may still hold pairs of resting nodes that
// were near only on the former path.)
static tl_status search_some(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, const changed_paths *new_ways,
                             const tl_ctx *ctx, tl_error *err)
{
    const uint8_t *changed = new_ways->changed;
    const bool rest = new_ways->rest;
    const int32_t n = c->node_count;
    uint8_t *moved = TL_SCRATCH(ctx->arena, uint8_t, n);
    if (!moved) return tl_fail_memory(err, "the contacts");
    int32_t shorter = 0;
    for (int32_t i = 0; i < n; i++) {
        const tl_vec3 w = c->cache.list_disp[i];
        moved[i] = changed[i] || (rest && (w.x != 0 || w.y != 0 || w.z != 0));
        if (!moved[i]) continue;
        shorter += !changed[i] && tl_dot3(w, w) > c->cache.slack * c->cache.slack;
        if (changed[i])
            c->cache.list_pos[i] = x[i], c->cache.list_disp[i] = u[i], c->cache.list_end[i] = tl_add3(x[i], u[i]);
        else
            c->cache.list_pos[i] = c->cache.list_end[i], c->cache.list_disp[i] = (tl_vec3){0, 0, 0};
    }
    memcpy(c->cache.list_pos + n, c->motion.pos + n, (size_t)c->body_nodes * sizeof *x);
    memcpy(c->cache.list_disp + n, c->motion.disp + n, (size_t)c->body_nodes * sizeof *u);
    c->cache.list_progress = c->motion.progress, c->cache.list_body_part = new_ways->body_part;
    return query_trees(c,
                       &(tree_query){.changed = changed,
                                     .moved = moved,
                                     .bodies = new_ways->bodies,
                                     .thin_all = shorter > c->policy.pairs.prune_part * n},
                       ctx, err);
}

// Makes the lists valid for a move from x to x + u.
static tl_status search_lists(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, double body_part, const tl_ctx *ctx,
                              tl_error *err)
{
    const int32_t n = c->node_count;
    if (c->motion.progress >= 1) body_part = 1;  // of nothing
    if (c->cache.list_progress < 0) return search_all(c, x, u, body_part, ctx, err);
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    path_change d = {.along = TL_SCRATCH(ctx->arena, uint8_t, n), .at_end = TL_SCRATCH(ctx->arena, uint8_t, n)};
    if (!d.along || !d.at_end) return tl_fail_memory(err, "the contacts");
    TL_TRY(compare(c, x, u, &d, ctx, err));
    const bool bodies_along = c->cache.list_progress == c->motion.progress && c->cache.list_body_part == body_part;
    const bool bodies_rest = c->motion.progress >= 1 && c->cache.list_body_part >= 1;
    tl_status status = TL_OK;
    if ((d.along_count > 0 || !bodies_along) && (d.at_end_count > 0 || !bodies_rest)) {
        const bool rest = d.at_end_count < d.along_count;
        const int32_t count = rest ? d.at_end_count : d.along_count;
        if (count > c->policy.pairs.update_part * n)
            status = search_all(c, x, u, body_part, ctx, err);
        else
            status = search_some(
                c, x, u,
                &(changed_paths){rest ? d.at_end : d.along, rest, rest ? !bodies_rest : !bodies_along, body_part}, ctx,
                err);
    }
    tl_arena_release(ctx->arena, mark);
    return status;
}

tl_status contact_search(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, double body_part, const tl_ctx *ctx,
                         tl_error *err)
{
    TL_TRY(tl_workers_poll(ctx->workers, "a search for contacts", err));
    contact_start_at(c, x);
    contact_set_disp(c, u);
    contact_set_body_disp(c, body_part);
    const tl_status status = search_lists(c, x, u, body_part, ctx, err);
    if (status != TL_OK) {
        c->cache.list_progress = -1;  // lists are not to be relied on
        return status;
    }
    c->cache.searched = true;
    TL_TRY(contact_filter(c, ctx, err));
    // Charged by pairs, not by what the trees were asked and found: that depends on the history of the lists.
    tl_workers_charge(ctx->workers, CONTACT_COST_FOUND * c->cache.count + CONTACT_COST_NODE * c->node_count);
    return TL_OK;
}

tl_status tl_contacts_search(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, const tl_ctx *ctx, tl_error *err)
{
    return contact_search(c, x, u, 1, ctx, err);
}

tl_status tl_contacts_settle(tl_contacts *c, const tl_vec3 *x, tl_workers *workers, tl_error *err)
{
    (void)err;  // nothing can fail at present
    c->cache.unchanged = false;
    contact_start_at(c, x);
    contact_measure(c, workers);
    tl_workers_charge(workers, CONTACT_COST_PAIR * c->cache.count);
    int32_t count = 0;
    for (int32_t i = 0; i < c->cache.count;) {  // runs of pairs that stay are moved at once
        int32_t end = i;
        while (end < c->cache.count && c->cache.near[end].distance <= c->cache.pair[end].thickness + 2 * c->skin) end++;
        contact_move_pairs(c, i, end - i, count);
        count += end - i, i = end + 1;
    }
    c->cache.count = count;
    c->report.candidates = count;
    memcpy(c->cache.settled, x, (size_t)c->node_count * sizeof *x);
    c->cache.settled_progress = c->motion.progress;
    c->cache.measured_now = true, c->cache.complete = !c->zones.frozen;
    return TL_OK;
}

bool tl_contacts_covers(const tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u)
{
    if (c->motion.progress < 1) return false;  // bodies still go: their way is not within the skin
    if (c->cache.settled_progress < 1) return false;
    const double limit = c->skin * c->skin * 0.999;
    for (int32_t i = 0; i < c->node_count; i++) {
        const tl_vec3 d = tl_sub3(tl_add3(x[i], u[i]), c->cache.settled[i]);
        if (!(tl_dot3(d, d) <= limit)) return false;
    }
    return true;
}
