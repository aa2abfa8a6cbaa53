// respond/clip/path_clip.c: cut paths short so that nothing meets along them. This is where the guarantee is enforced.
//
// Let the features of a pair be a distance d > 0 apart, and n the unit vector between the nearest points, from the
// second to the first. Both features are convex, so the planes across n separate them: with gap = min over nodes i of
// the first of n.x_i  -  max over nodes j of the second of n.x_j the gap is d now. When every node moves in a straight
// line, gap(t) is a minimum of linear functions, hence concave and never below the line from gap(0) = d to gap(1). If
// gap(1) >= keep > 0 the features do not meet at any time; if it is less, a part (d - keep) / (d - gap(1)) of the path
// is safe. This test is cheap and decides most pairs. It is too conservative for large features that slide or turn past
// each other; those are left to the continuous test. No tolerance is needed, and any common part of the paths is safe
// as well. Each node has its own part t_i: a violated pair scales those of its nodes, and its neighbours are tested
// again, until no pair is violated. Layers that move together by many times their distance would soon be stopped if one
// of their nodes moved slightly less than the others, so the nodes of a violated pair first try the smallest part among
// them in common. Parts only shrink, and what does not move cannot meet, so the loop terminates.
//
// Bodies follow their prescribed motion. If the cloth of a pair cannot give way, bodies take only a part of their path
// for now; contact forces push the cloth ahead, and the next iteration moves them further.

#include <math.h>

#include "base/fail.h"
#include "respond/contact_impl.h"
#include "toile/collide.h"

#define SAFETY (1 - 1e-6)  // rounding of the parts
enum { PAIRS_PER_CHUNK = 512 };

/// A pair whose features may meet for some choice of parts.
typedef struct clip_pair {
    int32_t pair;
    double place[4], way[4];  ///< along the normal, relative to the first node
    double distance, keep;
    double
        part;  ///< what its nodes must scale their parts by, 1: fine; or, if `common`, the part that all of them may go
    bool common, body_too;  ///< the body scales its part by the same ..
    bool body_alone;        ///< .. and the cloth does not: it gives way, if not as fast
} clip_pair;

typedef struct clip_job {
    tl_contacts *c;
    const tl_vec3 *at, *way;
    const double *part;
    double body_part;
    const uint8_t *cut;  ///< [node_count] nodes whose part the last pass changed, others are as judged; NULL: judge all
    clip_pair *all;
    const float *length;  ///< [node_count] of ways, rounded up
    uint8_t *is_candidate;
    int32_t *count, *start;  ///< of those that are live, per chunk of pairs
    tl_workers *workers;
} clip_job;

static double kept_distance(const tl_clip_policy *k, double distance, double thickness)
{
    const double tight = smaller(k->keep_tight_from * thickness, k->keep_tight * distance);
    return smaller(k->keep_thickness * thickness, larger(k->keep_distance * distance, tight));
}

static bool has_stalled(const tl_contacts *c)
{
    return c->clip.stalled >= c->policy.clip.pinch_after || c->clip.force_bodies;
}

static double kept_distance_of(const tl_contacts *c, const pair *p, double distance)
{
    // Where bodies are stuck, pressure has to grow until the cloth gives way or turns out to be unable to.
    if (has_stalled(c) && p->body != TL_CLOTH)
        return smaller(c->policy.clip.keep_thickness * p->thickness, c->policy.clip.keep_distance * distance);
    const double keep = kept_distance(&c->policy.clip, distance, p->thickness),
                 driven =
                     smaller(c->policy.clip.driven_thickness * p->thickness, c->policy.clip.driven_distance * distance);
    if (keep >= driven) return keep;
    for (int k = 0; k < pair_nodes(p); k++)
        if (p->node[k] < c->node_count && tl_norm3(contact_disp_left(c, p->node[k])) > 0) return driven;
    return keep;
}

// Projects the nodes; true if some choice of parts in [0, 1] brings the features closer than they may come.
static bool project(const tl_contacts *c, int32_t index, const tl_vec3 *at, const tl_vec3 *way, clip_pair *out)
{
    const pair *p = &c->cache.pair[index];
    const proximity near = c->cache.near[index];
    out->distance = near.distance;
    out->keep = kept_distance_of(c, p, near.distance);
    out->part = 1, out->common = out->body_too = out->body_alone = false;
    if (p->kind == PAIR_PLANE) {
        out->place[0] = near.distance, out->place[1] = out->place[2] = out->place[3] = 0;
        contact_plane_approach(c, p->body, at[p->node[0]], way[p->node[0]], out->way);
        out->way[2] = out->way[3] = out->way[1];
        return out->distance + smaller(0, out->way[0]) - larger(0, out->way[1]) < out->keep;
    }
    const int m = first_count(p);
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 4; k++) {
        out->place[k] = tl_dot3(near.normal, tl_sub3(at[p->node[k]], at[p->node[0]]));
        out->way[k] = tl_dot3(near.normal, way[p->node[k]]);
        if (k < m)
            low = smaller(low, out->place[k] + smaller(0, out->way[k]));
        else
            high = larger(high, out->place[k] + larger(0, out->way[k]));
    }
    return !(low - high >= out->keep);
}

/// Nodes of cloth move by `cloth` times their part (NULL: times 1), those of bodies by `body`.
static double gap_at(const tl_contacts *c, const pair *p, const clip_pair *l, const double *part, double cloth,
                     double body)
{
    const int m = first_count(p);
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        const bool of_cloth = p->kind == PAIR_PLANE ? k == 0 : i < c->node_count;
        const double t = !of_cloth ? body : part ? cloth * part[i] : cloth;
        const double v = l->place[k] + t * l->way[k];
        if (k < m)
            low = smaller(low, v);
        else
            high = larger(high, v);
    }
    return low - high;
}

/// Part of the path that a pair may take before its features come within `keep` of each other.
static double time_of_contact(const tl_contacts *c, const pair *p, const clip_pair *l, const double *part, double cloth,
                              double body, const tl_vec3 *at, const tl_vec3 *way)
{
    tl_vec3 x[4], y[4];
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        x[k] = at[i];
        y[k] = tl_madd3(x[k], i >= c->node_count ? body : part ? cloth * part[i] : cloth, way[i]);
    }
    double time = 1;
    const uint32_t hit =
        p->kind == PAIR_VF ? tl_ccd_vertex_face(x, y, l->keep, &time) : tl_ccd_edge_edge(x, y, l->keep, &time);
    return hit ? time : 1;
}

// The part that all nodes of a pair may take in common, at most the smallest of theirs.
static void clip_together(const tl_contacts *c, const pair *p, clip_pair *l, const double *part, double body_part,
                          const tl_vec3 *at, const tl_vec3 *way)
{
    double least = 1;
    for (int k = 0; k < 4; k++)
        if (p->node[k] < c->node_count) least = fmin(least, part[p->node[k]]);
    l->common = true, l->part = least;
    const double gap = gap_at(c, p, l, NULL, least, body_part);
    if (gap >= l->keep) return;
    const double safe = time_of_contact(c, p, l, NULL, least, body_part, at, way);
    if (safe < 1)
        l->part = least * fmax(c->policy.clip.back_off * safe, SAFETY * (l->distance - l->keep) / (l->distance - gap));
}

// Do all nodes of a pair stay where they are? Then the pair is not violated, even if rounding says so: at distances
// close to the rounding of coordinates, the computed normal may be so inaccurate that the features overlap along it
// from the start.
static bool stands_still(const tl_contacts *c, const pair *p, const double *part, double body_part, const tl_vec3 *way)
{
    if (p->body != TL_CLOTH && c->bodies[p->body].moves && body_part > 0) return false;
    for (int k = 0; k < pair_nodes(p); k++) {
        const int32_t i = p->node[k];
        if (i < c->node_count && part[i] > 0 && (way[i].x != 0 || way[i].y != 0 || way[i].z != 0)) return false;
    }
    return true;
}

// Factor by which the parts must be scaled.
static void judge_pair(const tl_contacts *c, const pair *p, clip_pair *l, const double *part, double body_part,
                       const tl_vec3 *at, const tl_vec3 *way)
{
    l->part = 1, l->common = l->body_too = l->body_alone = false;
    const double gap = gap_at(c, p, l, part, 1, body_part);
    if (gap >= l->keep || stands_still(c, p, part, body_part, way)) return;
    if (!(l->distance > 0)) {
        l->part = 0, l->body_too = p->body != TL_CLOTH;
        return;
    }
    const double safe = p->kind == PAIR_PLANE ? 0 : time_of_contact(c, p, l, part, 1, body_part, at, way);
    if (safe >= 1) return;
    const bool moving = p->body != TL_CLOTH && c->bodies[p->body].moves && body_part > 0 &&
                        !(c->motion.progress >= 1 && contact_uses_secant(c));
    if (moving) {
        const double still = gap_at(c, p, l, part, 0, body_part);
        if (still > l->keep)
            l->part = SAFETY * (still - l->keep) / (still - gap);  // enough if the cloth alone gives way
        else
            l->part = 0;
        if (still > l->keep && (!c->clip.blocked || l->part > c->policy.clip.wait_min)) return;
        for (double less = 0.5; p->kind != PAIR_PLANE && less > larger(0.01, l->part); less *= 0.5)
            if (time_of_contact(c, p, l, part, less, body_part, at, way) >= 1) {
                l->part = less;
                return;
            }
        if (still > l->keep) {
            // The cloth could hardly move at all: let the body wait instead.
            const double ahead = gap_at(c, p, l, part, 1, 0), alone = SAFETY * (ahead - l->keep) / (ahead - gap);
            if (ahead > l->keep && alone > c->policy.clip.wait_min) l->part = alone, l->body_too = l->body_alone = true;
            return;
        }
        l->body_too = true;
    }
    if (!moving && p->kind != PAIR_PLANE)
        clip_together(c, p, l, part, body_part, at, way);
    else
        l->part = fmax(c->policy.clip.back_off * safe, SAFETY * (l->distance - l->keep) / (l->distance - gap));
    if (!l->body_too) return;
    // Cloth that may take nearly all of its path takes all of it, and the body behind it a little less of its own.
    const double ahead = gap_at(c, p, l, part, 1, 0), alone = SAFETY * (ahead - l->keep) / (ahead - gap);
    if (ahead > l->keep && alone > l->part) l->part = alone, l->body_alone = true;
}

#define UP 1.000001  // more than single precision rounds

// Are the nodes of a cloth pair too far apart to meet, whatever their direction? A gap shrinks by no more than they
// move.
static bool is_out_of_reach(const clip_job *job, int32_t index)
{
    const pair *p = &job->c->cache.pair[index];
    if (p->body != TL_CLOTH) return false;
    const float *l = job->length;
    const double distance = job->c->cache.near[index].distance;
    const int m = first_count(p);
    float side[2] = {l[p->node[0]], l[p->node[3]]};
    for (int k = 1; k < 3; k++) side[k >= m] = l[p->node[k]] > side[k >= m] ? l[p->node[k]] : side[k >= m];
    return distance - UP * (double)(side[0] + side[1]) > UP * kept_distance_of(job->c, p, distance);
}

static void project_chunk(void *arg, int32_t begin, int32_t end)
{
    clip_job *job = arg;
    int32_t count = 0;
    for (int32_t i = begin; i < end; i++) {
        clip_pair l;
        count += job->is_candidate[i] = !is_out_of_reach(job, i) && project(job->c, i, job->at, job->way, &l);
    }
    job->count[begin / PAIRS_PER_CHUNK] = count;
}

// A second, tighter test for the few pairs that are left.
static void collect_chunk_pairs(void *arg, int32_t begin, int32_t end)
{
    clip_job *job = arg;
    clip_pair *to = job->all + job->start[begin / PAIRS_PER_CHUNK];
    for (int32_t i = begin; i < end; i++) {
        if (!job->is_candidate[i]) continue;
        project(job->c, i, job->at, job->way, to);
        to++->pair = i;
    }
}

static bool has_cut(const clip_job *job, const pair *p)
{
    for (int k = 0; k < pair_nodes(p); k++)
        if (p->node[k] < job->c->node_count && job->cut[p->node[k]]) return true;
    return false;
}

static void judge_chunk(void *arg, int32_t begin, int32_t end)
{
    clip_job *job = arg;
    for (int32_t i = begin; i < end; i++) {
        const pair *p = &job->c->cache.pair[job->all[i].pair];
        if (!job->cut || has_cut(job, p))
            judge_pair(job->c, p, &job->all[i], job->part, job->body_part, job->at, job->way);
    }
}

static bool may_be_pinched(const tl_contacts *c, int32_t index)
{
    if (contact_is_enclosed(c, index)) return true;
    return c->step.pinch == TL_PINCH_ANY &&
           (c->clip.force_bodies || c->clip.stalled >= c->policy.clip.give_up_after || contact_is_crushed(c, index));
}

// Shrinks parts until no pair of the list is violated. Returns whether anything was cut. From pass
// c->policy.clip.hold_after on, which may be the first, what is violated is held.
static bool shrink_parts(clip_job *job, int32_t candidate_count, int first_pass, double *part, double *body_part,
                         double *next, uint8_t *changed, int64_t *held)
{
    tl_contacts *c = job->c;
    bool cut = false;
    job->cut = NULL;
    for (int pass = first_pass;; pass++) {
        job->part = part, job->body_part = *body_part;
        tl_parallel_for(job->workers, candidate_count, PAIRS_PER_CHUNK, judge_chunk, job);
        bool violated = false;
        double body_next = *body_part;
        for (int32_t i = 0; i < candidate_count; i++) {
            const clip_pair *l = &job->all[i];
            if (l->part >= 1 && !l->common) continue;
            const pair *p = &c->cache.pair[l->pair];
            if (!violated) memcpy(next, part, (size_t)c->node_count * sizeof *next);
            violated = true;
            const double scale = pass >= c->policy.clip.hold_after ? 0 : l->part;
            double least = scale;
            for (int k = 0; k < 4 && l->common; k++)  // what others have found in this pass, too
                if (p->node[k] < c->node_count) least = fmin(least, next[p->node[k]]);
            for (int k = 0; k < pair_nodes(p) && !(l->body_alone && scale > 0); k++) {
                const int32_t node = p->node[k];
                if (node < c->node_count) next[node] = fmin(next[node], l->common ? least : scale * part[node]);
            }
            if (!l->body_too) continue;
            body_next = fmin(body_next, (pass >= c->policy.clip.pass_max ? 0 : l->part) * *body_part);
            if (!has_stalled(c) || c->step.pinch == TL_PINCH_NONE) continue;
            if (may_be_pinched(c, l->pair))
                contact_pinch(c, p);
            else
                c->clip.stuck = c->step.pinch != TL_PINCH_ANY;
        }
        if (!violated) return cut;
        cut = true;
        *held += pass >= c->policy.clip.hold_after;
        for (int32_t i = 0; i < c->node_count; i++) changed[i] = part[i] != next[i], part[i] = next[i];
        job->cut = *body_part == body_next ? changed : NULL;
        *body_part = body_next;
    }
}

void contact_clip_begin(tl_contacts *c) { c->clip = (clip_state){0}; }

void tl_contacts_force_bodies(tl_contacts *c) { c->clip.force_bodies = true, c->step.pinch = TL_PINCH_ANY; }

void tl_contacts_let_handles_wait(tl_contacts *c) { c->clip.handles_wait = true; }

bool tl_contacts_bodies_stopped(const tl_contacts *c) { return c->motion.progress < 1 && c->clip.stalled > 0; }

bool tl_contacts_stuck(const tl_contacts *c)
{
    return c->clip.stuck || (has_stalled(c) && c->step.pinch == TL_PINCH_NONE);
}

tl_status tl_contacts_clip(tl_contacts *c, const tl_vec3 *x, tl_vec3 *u, bool searched, const tl_ctx *ctx,
                           int64_t *limited, tl_error *err)
{
    const int32_t n = c->node_count;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    double *part = TL_SCRATCH(ctx->arena, double, n), *next = TL_SCRATCH(ctx->arena, double, n);
    tl_vec3 *shorter = TL_SCRATCH(ctx->arena, tl_vec3, n);
    uint8_t *changed = TL_SCRATCH(ctx->arena, uint8_t, n);
    float *length = TL_SCRATCH(ctx->arena, float, n);
    if (!part || !next || !shorter || !changed || !length) return tl_fail_memory(err, "the contacts");
    for (int32_t i = 0; i < n; i++) part[i] = 1, length[i] = (float)(UP * tl_norm3(u[i]));
    double body_part = 1;
    int64_t held = 0;
    contact_start_at(c, x);
    tl_status status = TL_OK;
    for (int round = 0;; round++) {
        const tl_arena_mark here = tl_arena_save(ctx->arena);
        clip_job job = {.c = c, .at = c->motion.pos, .way = c->motion.disp, .length = length, .workers = ctx->workers};
        if (searched && round > 0) {
            // After a cut, features that moved side by side may no longer do so: test again with the present paths.
            for (int32_t i = 0; i < n; i++) shorter[i] = tl_mul3(part[i], u[i]);
            status = contact_search(c, x, shorter, body_part, ctx, err);
        }
        if (status != TL_OK) break;
        contact_set_disp(c, u);
        contact_set_body_disp(c, 1);
        const int32_t chunks = tl_chunk_count(c->cache.count, PAIRS_PER_CHUNK);
        job.is_candidate = TL_SCRATCH(ctx->arena, uint8_t, c->cache.count);
        job.count = TL_SCRATCH(ctx->arena, int32_t, chunks), job.start = TL_SCRATCH(ctx->arena, int32_t, chunks);
        if (!job.is_candidate || !job.count || !job.start) {
            status = tl_fail_memory(err, "the contacts");
            break;
        }
        tl_workers_charge(ctx->workers, 2 * CONTACT_COST_PAIR * c->cache.count);
        tl_parallel_for(ctx->workers, c->cache.count, PAIRS_PER_CHUNK, project_chunk, &job);
        const int32_t candidate_count = contact_prefix_sum(job.count, chunks, job.start);
        job.all = TL_SCRATCH(ctx->arena, clip_pair, candidate_count);
        if (!job.all) {
            status = tl_fail_memory(err, "the contacts");
            break;
        }
        tl_parallel_for(ctx->workers, c->cache.count, PAIRS_PER_CHUNK, collect_chunk_pairs, &job);
        const bool cut =
            shrink_parts(&job, candidate_count, round < c->policy.clip.hold_rounds ? 0 : c->policy.clip.hold_after,
                         part, &body_part, next, changed, &held);
        tl_arena_release(ctx->arena, here);
        if (!cut || !searched) break;
    }
    *limited = 0;
    if (status == TL_OK) {
        for (int32_t i = 0; i < n; i++) {
            if (part[i] >= 1) continue;
            u[i] = tl_mul3(part[i], u[i]);
            (*limited)++;
        }
        contact_allow(c, body_part);
        c->clip.blocked = c->clip.blocked || (c->motion.progress < 1 && body_part < 1);
        c->clip.stalled = c->motion.progress < 1 && body_part < c->policy.clip.stall ? c->clip.stalled + 1 : 0;
        c->report.limited += *limited;
        c->report.held += held > 0;
    }
    tl_arena_release(ctx->arena, mark);
    return status;
}

// --- first guess: cloth pushed ahead by moving bodies ---

typedef struct overlap_job {
    const tl_contacts *c;
    double *lack;
} overlap_job;

// By how much a pair would end up nearer than it is now, or than where contact begins.
static void overlap_chunk(void *arg, int32_t begin, int32_t end)
{
    const overlap_job *job = arg;
    const tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const pair *p = &c->cache.pair[i];
        clip_pair l;
        job->lack[i] = 0;
        if (!project(c, i, c->motion.pos, c->motion.disp, &l)) continue;
        double gap = l.distance + (p->kind == PAIR_PLANE ? l.way[0] - l.way[1]
                                                         : 0);  // of the points that are nearest now, at the end
        for (int k = 0; k < 4 && p->kind != PAIR_PLANE; k++) gap += c->cache.near[i].weight[k] * l.way[k];
        job->lack[i] = fmin(l.distance, p->thickness) - gap;
    }
}

// Every node takes the longest push of its pairs.
static bool push_nodes(const tl_contacts *c, const double *lack, tl_vec3 *push)
{
    bool any = false;
    for (int32_t i = 0; i < c->cache.count; i++) {
        if (!(lack[i] > 0)) continue;
        const pair *p = &c->cache.pair[i];
        const double share = p->body == TL_CLOTH ? 0.5 : 1;
        for (int k = 0; k < pair_nodes(p); k++) {
            const int32_t j = p->node[k];
            if (!contact_is_free(c, j)) continue;
            const double length = (k < first_count(p) ? 1 : -1) * share * lack[i];
            if (lack[i] * share > tl_norm3(push[j])) push[j] = tl_mul3(length, c->cache.near[i].normal), any = true;
        }
    }
    return any;
}

tl_status tl_contacts_push_ahead(tl_contacts *c, const tl_vec3 *x, tl_vec3 *u, const tl_ctx *ctx, tl_error *err)
{
    if (c->motion.progress >= 1) return TL_OK;
    const int32_t n = c->node_count;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    tl_vec3 *push = TL_SCRATCH(ctx->arena, tl_vec3, n);
    overlap_job job = {c, TL_SCRATCH(ctx->arena, double, c->cache.count)};
    if (!push || !job.lack) return tl_fail_memory(err, "the contacts");
    contact_start_at(c, x);
    contact_set_body_disp(c, 1);
    for (int pass = 0; pass < c->policy.clip.push_passes; pass++) {
        contact_set_disp(c, u);
        memset(push, 0, (size_t)n * sizeof *push);
        tl_parallel_for(ctx->workers, c->cache.count, PAIRS_PER_CHUNK, overlap_chunk, &job);
        if (!push_nodes(c, job.lack, push)) break;
        for (int32_t i = 0; i < n; i++) u[i] = tl_add3(u[i], push[i]);
    }
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}
