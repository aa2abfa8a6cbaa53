// respond/path_clip.c: cut paths short so that nothing meets on the way. This is where the promise is kept.
//
// Take a pair whose features are a distance d > 0 apart, n the unit vector between the nearest points, from the second
// to the first. Both features are convex, so the planes across n separate them: with
//     gap = min over nodes i of the first of n.x_i  -  max over nodes j of the second of n.x_j
// the gap is d now. When every node moves straight, gap(t) is a minimum of linear functions: concave, so never below
// the line from gap(0) = d to gap(1). If gap(1) >= keep > 0 the features do not meet at any time, and if it is less, a
// part (d - keep) / (d - gap(1)) of the way is safe. That is cheap and settles most pairs; it is too careful with large
// features that slide or turn past each other, so those are left to the continuous test. No tolerance is needed, and
// any common part of the paths is safe as well. Each node has a part t_i of its own: a pair that is violated scales
// those of its nodes; others are then looked at again, until none is violated. Layers that move along with each other
// by many times their distance would soon get nowhere if one node of them went a little less far than the others; so
// the nodes of a violated pair first try the least part among them in common. Parts only shrink, and what does not move
// cannot meet, so the loop ends.
//
// Bodies move whatever the cloth does. If the cloth of a pair cannot give way, the bodies get only a part of their way
// for now; the contact forces push the cloth on and the next iteration takes them further.

#include <math.h>

#include "base/fail.h"
#include "respond/contact_impl.h"
#include "toile/collide.h"

#define KEEP_THICKNESS 0.7  // a path may end at this part of the thickness ..
#define KEEP_DISTANCE 0.5   // .. or, from within, use up this part of the distance ..
// .. and little of it where it is small already: stiffness grows with its third power, and no solver is glad of that
#define KEEP_TIGHT 0.9
#define TIGHT 0.4  // part of the thickness
// of the thickness: pairs nearer than that, or than this part of their distance, are not pressed closer by handles, ..
#define DRIVEN 0.25
#define KEEP_DRIVEN 0.999  // .. whose strength has no bound
#define SAFETY (1 - 1e-6)  // rounding of the parts
#define BACK_OFF 0.95      // of the way to contact that is taken
enum { PAIRS_PER_CHUNK = 512, MAX_PASSES = 60, HOLD_AFTER = 30, HOLD_ROUNDS = 20, PINCH_AFTER = 4, GIVE_UP_AFTER = 60 };
#define WAITS 0.5  // of its way, at least, that a body gets which waits for cloth
#define STALL 0.1  // bodies that may go less than this part of their way do not get on

/// A pair whose features could meet for some choice of parts.
typedef struct live {
    int32_t pair;
    double place[4], way[4];  ///< along the normal, relative to the first node
    double distance, keep;
    double
        part;  ///< what its nodes must scale their parts by, 1: fine; or, if `common`, the part that all of them may go
    bool common, body_too;  ///< the body scales its part by the same ..
    bool body_alone;        ///< .. and the cloth does not: it gives way, if not as fast
} live;

typedef struct limit_job {
    tl_contacts *c;
    const tl_vec3 *at, *way;
    const double *part;
    double body_part;
    const uint8_t *cut;  ///< [node_count] nodes whose part the last pass changed, others are as judged; NULL: judge all
    live *all;
    const float *length;  ///< [node_count] of ways, rounded up
    uint8_t *is_live;
    int32_t *count, *start;  ///< of those that are live, per chunk of pairs
    tl_workers *workers;
} limit_job;

static double keep_of(double distance, double thickness)
{
    return smaller(KEEP_THICKNESS * thickness,
                   larger(KEEP_DISTANCE * distance, smaller(TIGHT * thickness, KEEP_TIGHT * distance)));
}

static bool has_stalled(const tl_contacts *c) { return c->stalled >= PINCH_AFTER || c->pass; }

static double keep_for(const tl_contacts *c, const pair *p, double distance)
{
    // Where bodies are stuck, pressure has to grow until the cloth gives way or has shown that it cannot.
    if (has_stalled(c) && p->body != TL_CLOTH) return smaller(KEEP_THICKNESS * p->thickness, KEEP_DISTANCE * distance);
    const double keep = keep_of(distance, p->thickness),
                 driven = smaller(DRIVEN * p->thickness, KEEP_DRIVEN * distance);
    if (keep >= driven) return keep;
    for (int k = 0; k < pair_nodes(p); k++)
        if (p->node[k] < c->node_count && tl_norm3(contact_way_left(c, p->node[k])) > 0) return driven;
    return keep;
}

// Projects the nodes; true if some choice of parts in [0, 1] brings the features closer than they may come.
static bool project(const tl_contacts *c, int32_t index, const tl_vec3 *at, const tl_vec3 *way, live *out)
{
    const pair *p = &c->pairs[index];
    const nearness near = c->near[index];
    out->distance = near.distance;
    out->keep = keep_for(c, p, near.distance);
    out->part = 1, out->common = out->body_too = out->body_alone = false;
    if (p->kind == PAIR_PLANE) {
        out->place[0] = near.distance, out->place[1] = out->place[2] = out->place[3] = 0;
        contact_plane_ways(c, p->body, at[p->node[0]], way[p->node[0]], out->way);
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

/// Nodes of cloth go `cloth` times their part (NULL: times 1), those of bodies `body`.
static double gap_of(const tl_contacts *c, const pair *p, const live *l, const double *part, double cloth, double body)
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

/// How much of its way a pair may go before its features come within `keep` of each other.
static double follow(const tl_contacts *c, const pair *p, const live *l, const double *part, double cloth, double body,
                     const tl_vec3 *at, const tl_vec3 *way)
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

// The part that all nodes of a pair may go in common, at most the least of theirs.
static void go_together(const tl_contacts *c, const pair *p, live *l, const double *part, double body_part,
                        const tl_vec3 *at, const tl_vec3 *way)
{
    double least = 1;
    for (int k = 0; k < 4; k++)
        if (p->node[k] < c->node_count) least = fmin(least, part[p->node[k]]);
    l->common = true, l->part = least;
    const double gap = gap_of(c, p, l, NULL, least, body_part);
    if (gap >= l->keep) return;
    const double safe = follow(c, p, l, NULL, least, body_part, at, way);
    if (safe < 1) l->part = least * fmax(BACK_OFF * safe, SAFETY * (l->distance - l->keep) / (l->distance - gap));
}

// Do all nodes of a pair stay where they are? Then so does what is between them, whatever rounding makes of it: at
// distances that are hardly more than the rounding of coordinates the normal is turned by so much that features overlap
// along it even now.
static bool stands_still(const tl_contacts *c, const pair *p, const double *part, double body_part, const tl_vec3 *way)
{
    if (p->body != TL_CLOTH && c->bodies[p->body].moves && body_part > 0) return false;
    for (int k = 0; k < pair_nodes(p); k++) {
        const int32_t i = p->node[k];
        if (i < c->node_count && part[i] > 0 && (way[i].x != 0 || way[i].y != 0 || way[i].z != 0)) return false;
    }
    return true;
}

// What the parts must be scaled by.
static void judge(const tl_contacts *c, const pair *p, live *l, const double *part, double body_part, const tl_vec3 *at,
                  const tl_vec3 *way)
{
    l->part = 1, l->common = l->body_too = l->body_alone = false;
    const double gap = gap_of(c, p, l, part, 1, body_part);
    if (gap >= l->keep || stands_still(c, p, part, body_part, way)) return;
    if (!(l->distance > 0)) {
        l->part = 0, l->body_too = p->body != TL_CLOTH;
        return;
    }
    const double safe = p->kind == PAIR_PLANE ? 0 : follow(c, p, l, part, 1, body_part, at, way);
    if (safe >= 1) return;
    const bool moving =
        p->body != TL_CLOTH && c->bodies[p->body].moves && body_part > 0 && !(c->done >= 1 && contact_is_firm(c));
    if (moving) {
        const double still = gap_of(c, p, l, part, 0, body_part);
        if (still > l->keep)
            l->part = SAFETY * (still - l->keep) / (still - gap);  // enough if the cloth alone gives way
        else
            l->part = 0;
        if (still > l->keep && (!c->blocked || l->part > WAITS)) return;
        for (double less = 0.5; p->kind != PAIR_PLANE && less > larger(0.01, l->part); less *= 0.5)
            if (follow(c, p, l, part, less, body_part, at, way) >= 1) {
                l->part = less;
                return;
            }
        if (still > l->keep) {
            // Hardly any way is left for the cloth: rather let the body wait a little.
            const double ahead = gap_of(c, p, l, part, 1, 0), alone = SAFETY * (ahead - l->keep) / (ahead - gap);
            if (ahead > l->keep && alone > WAITS) l->part = alone, l->body_too = l->body_alone = true;
            return;
        }
        l->body_too = true;
    }
    if (!moving && p->kind != PAIR_PLANE)
        go_together(c, p, l, part, body_part, at, way);
    else
        l->part = fmax(BACK_OFF * safe, SAFETY * (l->distance - l->keep) / (l->distance - gap));
    if (!l->body_too) return;
    // Cloth that is pushed along by all but a little of the way gets to its end; the body, behind it, by so much less
    // far.
    const double ahead = gap_of(c, p, l, part, 1, 0), alone = SAFETY * (ahead - l->keep) / (ahead - gap);
    if (ahead > l->keep && alone > l->part) l->part = alone, l->body_alone = true;
}

#define UP 1.000001  // more than single precision rounds

// Can the nodes of a pair within the cloth not come near, whatever their direction? A gap shrinks by no more than they
// go.
static bool is_out_of_reach(const limit_job *job, int32_t index)
{
    const pair *p = &job->c->pairs[index];
    if (p->body != TL_CLOTH) return false;
    const float *l = job->length;
    const double distance = job->c->near[index].distance;
    const int m = first_count(p);
    float side[2] = {l[p->node[0]], l[p->node[3]]};
    for (int k = 1; k < 3; k++) side[k >= m] = l[p->node[k]] > side[k >= m] ? l[p->node[k]] : side[k >= m];
    return distance - UP * (double)(side[0] + side[1]) > UP * keep_for(job->c, p, distance);
}

static void project_chunk(void *arg, int32_t begin, int32_t end)
{
    limit_job *job = arg;
    int32_t count = 0;
    for (int32_t i = begin; i < end; i++) {
        live l;
        count += job->is_live[i] = !is_out_of_reach(job, i) && project(job->c, i, job->at, job->way, &l);
    }
    job->count[begin / PAIRS_PER_CHUNK] = count;
}

// Again, for few: most pairs cannot meet however far their nodes go.
static void live_chunk(void *arg, int32_t begin, int32_t end)
{
    limit_job *job = arg;
    live *to = job->all + job->start[begin / PAIRS_PER_CHUNK];
    for (int32_t i = begin; i < end; i++) {
        if (!job->is_live[i]) continue;
        project(job->c, i, job->at, job->way, to);
        to++->pair = i;
    }
}

static bool has_cut(const limit_job *job, const pair *p)
{
    for (int k = 0; k < pair_nodes(p); k++)
        if (p->node[k] < job->c->node_count && job->cut[p->node[k]]) return true;
    return false;
}

static void judge_chunk(void *arg, int32_t begin, int32_t end)
{
    limit_job *job = arg;
    for (int32_t i = begin; i < end; i++) {
        const pair *p = &job->c->pairs[job->all[i].pair];
        if (!job->cut || has_cut(job, p)) judge(job->c, p, &job->all[i], job->part, job->body_part, job->at, job->way);
    }
}

static bool may_be_pinched(const tl_contacts *c, int32_t index)
{
    if (contact_has_no_room(c, index)) return true;
    return c->step.pinch == TL_PINCH_ANY && (c->pass || c->stalled >= GIVE_UP_AFTER || contact_is_crushed(c, index));
}

// Shrinks parts until no pair of the list is violated. Returns whether anything was cut. From pass HOLD_AFTER on, which
// may be the first, what is violated is held.
static bool settle_parts(limit_job *job, int32_t live_count, int first_pass, double *part, double *body_part,
                         double *next, uint8_t *changed, int64_t *held)
{
    tl_contacts *c = job->c;
    bool cut = false;
    job->cut = NULL;
    for (int pass = first_pass;; pass++) {
        job->part = part, job->body_part = *body_part;
        tl_parallel_for(job->workers, live_count, PAIRS_PER_CHUNK, judge_chunk, job);
        bool violated = false;
        double body_next = *body_part;
        for (int32_t i = 0; i < live_count; i++) {
            const live *l = &job->all[i];
            if (l->part >= 1 && !l->common) continue;
            const pair *p = &c->pairs[l->pair];
            if (!violated) memcpy(next, part, (size_t)c->node_count * sizeof *next);
            violated = true;
            const double scale = pass >= HOLD_AFTER ? 0 : l->part;
            double least = scale;
            for (int k = 0; k < 4 && l->common; k++)  // what others have found in this pass, too
                if (p->node[k] < c->node_count) least = fmin(least, next[p->node[k]]);
            for (int k = 0; k < pair_nodes(p) && !(l->body_alone && scale > 0); k++) {
                const int32_t node = p->node[k];
                if (node < c->node_count) next[node] = fmin(next[node], l->common ? least : scale * part[node]);
            }
            if (!l->body_too) continue;
            body_next = fmin(body_next, (pass >= MAX_PASSES ? 0 : l->part) * *body_part);
            if (!has_stalled(c) || c->step.pinch == TL_PINCH_NONE) continue;
            if (may_be_pinched(c, l->pair))
                contact_pinch(c, p);
            else
                c->stuck = c->step.pinch != TL_PINCH_ANY;
        }
        if (!violated) return cut;
        cut = true;
        *held += pass >= HOLD_AFTER;
        for (int32_t i = 0; i < c->node_count; i++) changed[i] = part[i] != next[i], part[i] = next[i];
        job->cut = *body_part == body_next ? changed : NULL;
        *body_part = body_next;
    }
}

bool tl_contacts_stopped(const tl_contacts *c) { return c->done < 1 && c->stalled > 0; }

bool tl_contacts_stuck(const tl_contacts *c) { return c->stuck || (has_stalled(c) && c->step.pinch == TL_PINCH_NONE); }

tl_status tl_contacts_limit(tl_contacts *c, const tl_vec3 *x, tl_vec3 *u, bool searched, const tl_ctx *ctx,
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
    c->allowed = 0;
    contact_place(c, x, 0);
    tl_status status = TL_OK;
    for (int round = 0;; round++) {
        const tl_arena_mark here = tl_arena_save(ctx->arena);
        limit_job job = {.c = c, .at = c->at, .way = c->way, .length = length, .workers = ctx->workers};
        if (searched && round > 0) {
            // After a cut, features that went along side by side may not: look again with the ways as they are now.
            for (int32_t i = 0; i < n; i++) shorter[i] = tl_mul3(part[i], u[i]);
            status = contact_search(c, x, shorter, body_part, ctx, err);
        }
        if (status != TL_OK) break;
        for (int32_t i = 0; i < n; i++) c->way[i] = u[i];
        contact_aim_bodies(c, 1);
        const int32_t chunks = tl_chunk_count(c->pair_count, PAIRS_PER_CHUNK);
        job.is_live = TL_SCRATCH(ctx->arena, uint8_t, c->pair_count);
        job.count = TL_SCRATCH(ctx->arena, int32_t, chunks), job.start = TL_SCRATCH(ctx->arena, int32_t, chunks);
        if (!job.is_live || !job.count || !job.start) {
            status = tl_fail_memory(err, "the contacts");
            break;
        }
        tl_workers_charge(ctx->workers, 2 * CONTACT_MEASURE * c->pair_count);
        tl_parallel_for(ctx->workers, c->pair_count, PAIRS_PER_CHUNK, project_chunk, &job);
        const int32_t live_count = contact_add_up(job.count, chunks, job.start);
        job.all = TL_SCRATCH(ctx->arena, live, live_count);
        if (!job.all) {
            status = tl_fail_memory(err, "the contacts");
            break;
        }
        tl_parallel_for(ctx->workers, c->pair_count, PAIRS_PER_CHUNK, live_chunk, &job);
        const bool cut = settle_parts(&job, live_count, round < HOLD_ROUNDS ? 0 : HOLD_AFTER, part, &body_part, next,
                                      changed, &held);
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
        c->allowed = body_part;
        c->blocked = c->blocked || (c->done < 1 && body_part < 1);
        c->stalled = c->done < 1 && body_part < STALL ? c->stalled + 1 : 0;
        c->report.limited += *limited;
        c->report.held += held > 0;
    }
    tl_arena_release(ctx->arena, mark);
    return status;
}

// --- a guess at what bodies on the move push along ---

enum { CARRY_PASSES = 4 };

typedef struct lack_job {
    const tl_contacts *c;
    double *lack;
} lack_job;

// By how much pairs would end up nearer than they are, or than where contact begins.
static void lack_chunk(void *arg, int32_t begin, int32_t end)
{
    const lack_job *job = arg;
    const tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const pair *p = &c->pairs[i];
        live l;
        job->lack[i] = 0;
        if (!project(c, i, c->at, c->way, &l)) continue;
        double gap = l.distance + (p->kind == PAIR_PLANE ? l.way[0] - l.way[1]
                                                         : 0);  // of the points that are nearest now, at the end
        for (int k = 0; k < 4 && p->kind != PAIR_PLANE; k++) gap += c->near[i].weight[k] * l.way[k];
        job->lack[i] = fmin(l.distance, p->thickness) - gap;
    }
}

// Every node takes the longest push of its pairs.
static bool push_on(const tl_contacts *c, const double *lack, tl_vec3 *push)
{
    bool any = false;
    for (int32_t i = 0; i < c->pair_count; i++) {
        if (!(lack[i] > 0)) continue;
        const pair *p = &c->pairs[i];
        const double share = p->body == TL_CLOTH ? 0.5 : 1;
        for (int k = 0; k < pair_nodes(p); k++) {
            const int32_t j = p->node[k];
            if (!contact_is_free(c, j)) continue;
            const double length = (k < first_count(p) ? 1 : -1) * share * lack[i];
            if (lack[i] * share > tl_norm3(push[j])) push[j] = tl_mul3(length, c->near[i].normal), any = true;
        }
    }
    return any;
}

tl_status tl_contacts_carry(tl_contacts *c, const tl_vec3 *x, tl_vec3 *u, const tl_ctx *ctx, tl_error *err)
{
    if (c->done >= 1) return TL_OK;
    const int32_t n = c->node_count;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    tl_vec3 *push = TL_SCRATCH(ctx->arena, tl_vec3, n);
    lack_job job = {c, TL_SCRATCH(ctx->arena, double, c->pair_count)};
    if (!push || !job.lack) return tl_fail_memory(err, "the contacts");
    c->allowed = 0;
    contact_place(c, x, 0);
    contact_aim_bodies(c, 1);
    for (int pass = 0; pass < CARRY_PASSES; pass++) {
        memcpy(c->way, u, (size_t)n * sizeof *u);
        memset(push, 0, (size_t)n * sizeof *push);
        tl_parallel_for(ctx->workers, c->pair_count, PAIRS_PER_CHUNK, lack_chunk, &job);
        if (!push_on(c, job.lack, push)) break;
        for (int32_t i = 0; i < n; i++) u[i] = tl_add3(u[i], push[i]);
    }
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}
