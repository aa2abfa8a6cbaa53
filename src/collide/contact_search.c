// collide/contact_search.c: when the trees are asked, and for how long their lists serve.
//
// Newton's iterations of a step end near each other, so the lists of the first search are made with slack: as long as nodes stay within it,
// later searches only filter them again.

#include "collide/contact_impl.h"

#include <math.h>

#include "base/fail.h"

static bool boxes_apart(const contact_box *a, const contact_box *b, double reach)
{
    const double x = larger(a->lo.x - b->hi.x, b->lo.x - a->hi.x), y = larger(a->lo.y - b->hi.y, b->lo.y - a->hi.y);
    const double z = larger(a->lo.z - b->hi.z, b->lo.z - a->hi.z);
    return larger(x, larger(y, z)) > reach;
}

// Does the last search serve for a move from x by u? It does for ways from the same start that hardly differ, and for all that stays near
// the end of the way that it was asked for, once bodies have arrived. Newton's later iterations are of that kind.
static bool covered(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u)
{
    bool same_start = c->searched_done == c->done;
    const bool near_end = c->searched_done >= 0 && c->done >= 1;
    if (!same_start && !near_end) return false;
    double stray = 0, differ = 0;
    for (int32_t i = 0; i < c->node_count; i++) {
        const tl_vec3 a = c->searched_at[i], w = c->searched_way[i], d = tl_sub3(u[i], w);
        same_start = same_start && a.x == x[i].x && a.y == x[i].y && a.z == x[i].z;
        differ = larger(differ, tl_dot3(d, d));
        const tl_vec3 from = tl_sub3(tl_sub3(x[i], a), w), to = tl_add3(from, u[i]);
        stray = larger(stray, larger(tl_dot3(from, from), tl_dot3(to, to)));
    }
    const double most = 0.999 * c->slack * c->slack;
    if (same_start) return differ <= most;
    c->strayed = larger(c->strayed, sqrt(stray));
    return near_end && stray <= most;
}

// Asks the trees for all pairs that may come within their thickness and twice the skin when everything goes from c->at by
// c->way, all by the same part at a time, give or take the slack.
static tl_status ask_trees(tl_contacts *c, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    const int32_t n = c->node_count, all = n + c->body_nodes;
    const tl_arena_mark mark = tl_arena_save(arena);
    tl_vec3 *end = TL_SCRATCH(arena, tl_vec3, all);
    if (!end) return tl_fail_memory(err, "the contacts");
    for (int32_t i = 0; i < n; i++) end[i] = tl_add3(c->at[i], c->way[i]);
    const double reach = c->reach + 2 * c->skin + 2 * c->slack;
    const contact_box cloth = contact_box_of(c->at, end, n);
    for (int32_t b = 0; b < c->body_count; b++)
        c->body_far[b] = c->bodies[b].plane || boxes_apart(&cloth, &c->body_box[b], reach);
    const tl_near near = {reach, reach};
    const int what = TL_PAIR_VF | TL_PAIR_EE;
    tl_status status = TL_OK;
    tl_bvh_refit(c->tree, c->at, end, 0, 0, workers);
    c->report.searches++;
    if (c->self) {
        tl_pairs *f = &c->found;
        status = tl_bvh_self_near(c->tree, what, near, arena, workers, f, err);
        c->report.volume_tests += f->volume_tests;
    }
    for (int32_t b = 0; b < c->body_count && status == TL_OK; b++) {
        if (c->bodies[b].plane) continue;
        tl_pairs *f = &c->found_body[b];
        f->vf_count = f->fv_count = f->ee_count = 0;
        if (c->body_far[b]) continue;
        const int32_t first = n + c->body_start[b];
        for (int32_t i = first; i < first + c->bodies[b].surface.node_count; i++) end[i] = tl_add3(c->at[i], c->way[i]);
        if (c->bodies[b].moves || !c->body_fitted[b])
            tl_bvh_refit(c->body_tree[b], c->at + first, c->bodies[b].moves ? end + first : NULL, 0, 0, workers);
        c->body_fitted[b] = !c->bodies[b].moves;
        status = tl_bvh_between_near(c->tree, c->body_tree[b], what, near, arena, workers, f, err);
        c->report.volume_tests += f->volume_tests;
    }
    if (status == TL_OK) status = contact_thin_out(c, arena, workers, err);
    tl_arena_release(arena, mark);
    return status;
}

// The slack follows what Newton's corrections of the last step needed. Neighbours within a flat piece are the price: with much of it, they
// all have to be looked at.
#define SLACK_SPARE 1.5
#define SLACK_FADES 0.5
#define LEAST_SLACK 0.5    // of the skin
#define FIRST_SLACK 3.0    // likewise, when nothing is known
#define SLACK_PER_EDGE 0.05

void contact_choose_slack(tl_contacts *c)
{
    const double most = larger(LEAST_SLACK * c->skin, SLACK_PER_EDGE * c->edge_length);
    c->slack = larger(SLACK_SPARE * c->strayed, SLACK_FADES * c->slack);
    c->slack = smaller(most, larger(LEAST_SLACK * c->skin, c->slack));
    c->strayed = 0;
}

void tl_contacts_forget(tl_contacts *c)
{
    c->slack = FIRST_SLACK * c->skin, c->strayed = 0;
    c->searched_done = -1;
}

tl_status contact_search(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, double body_part, tl_arena *arena,
                         tl_workers *workers, tl_error *err)
{
    const int32_t n = c->node_count;
    c->allowed = 0;
    contact_place(c, x, 0);
    memcpy(c->way, u, (size_t)n * sizeof *u);
    contact_aim_bodies(c, body_part);
    if (body_part < 1 || !covered(c, x, u)) {
        memcpy(c->searched_at, x, (size_t)n * sizeof *x);
        memcpy(c->searched_way, u, (size_t)n * sizeof *u);
        c->searched_done = body_part < 1 ? -1 : c->done;
        TL_TRY(ask_trees(c, arena, workers, err));
    }
    TL_TRY(contact_filter(c, arena, workers, err));
    return contact_measure(c, workers, err);
}

tl_status tl_contacts_search(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, tl_arena *arena, tl_workers *workers,
                             tl_error *err)
{
    return contact_search(c, x, u, 1, arena, workers, err);
}

tl_status tl_contacts_settle(tl_contacts *c, const tl_vec3 *x, tl_workers *workers, tl_error *err)
{
    c->allowed = 0;
    contact_place(c, x, 0);
    TL_TRY(contact_measure(c, workers, err));
    int32_t count = 0;
    for (int32_t i = 0; i < c->pair_count; i++) {
        if (!(c->near[i].distance <= c->pairs[i].thickness + 2 * c->skin)) continue;
        c->pairs[count] = c->pairs[i], c->near[count] = c->near[i], c->soft[count] = c->soft[i];
        count++;
    }
    c->pair_count = count;
    c->report.candidates = count;
    memcpy(c->settled, x, (size_t)c->node_count * sizeof *x);
    c->settled_done = c->done;
    c->fresh = true;
    return TL_OK;
}

bool tl_contacts_reach(const tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u)
{
    if (c->done < 1) return false;  // bodies still go: their way is not within the skin
    if (c->settled_done < 1) return false;
    const double limit = c->skin * c->skin * 0.999;
    for (int32_t i = 0; i < c->node_count; i++) {
        const tl_vec3 d = tl_sub3(tl_add3(x[i], u[i]), c->settled[i]);
        if (!(tl_dot3(d, d) <= limit)) return false;
    }
    return true;
}
