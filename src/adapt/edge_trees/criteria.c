// adapt/edge_trees/criteria.c: decide about every edge, then join, split and retriangulate.

#include "adapt/edge_trees/criteria.h"

#include <math.h>
#include <string.h>

#include "adapt/edge_trees/settings.h"
#include "adapt/edge_trees/trees_impl.h"
#include "base/alloc.h"
#include "base/fail.h"

#define SAG_OF_TURN (1.0 / 8)  // of an arc that turns by an angle, over length and angle
#define SAG_OF_SQUEEZE                                                                                                 \
    0.63661977236758134  // 2 / pi: of a half wave, over length and the root of the part it is shorter

enum { EDGES_PER_CHUNK = 1024 };
enum { UNLOCKING = TL_TREES_BY_VISIBILITY | TL_TREES_WHOLE | TL_TREES_UNLOCK };
enum { BLOCKED = -1, STAY, SPLIT, JOIN, KEEP, ALONG };  // KEEP: split, and wanted; ALONG: split with others

tl_trees_rules tl_trees_rules_default(void)
{
    const double degree = 3.14159265358979323846 / 180;
    return (tl_trees_rules){.mask = TL_TREES_BY_LENGTH | TL_TREES_BY_CURVATURE | TL_TREES_BY_COLLISION,
                            .max_level = 3,
                            .collision_level = 3,
                            .split_angle = 7 * degree,
                            .join_angle = 6.7 * degree,
                            .split_length = 0.98,
                            .join_length = 0.99,
                            .level_factor = 0.9,
                            .rejoin_wait = 10};
}

void tl_trees_more_rules(const tl_remeshing *d, tl_trees_rules *r)
{
    static const tl_trees_tie ties[] = {TL_TREES_TIE_FIRST, TL_TREES_TIE_LENGTH, TL_TREES_TIE_REST,
                                        TL_TREES_TIE_CURVATURE};
    if (d->obstacle_levels > 0) r->collision_level = d->obstacle_levels;
    if (d->length_per_level > 0 && d->length_per_level < 1) {
        r->mask = (r->mask & ~(uint32_t)TL_TREES_BY_LENGTH) | TL_TREES_BY_LEVEL_LENGTH;
        r->level_factor = d->length_per_level;
    }
    if (d->always_join) r->mask |= TL_TREES_ALWAYS_JOIN;
    if (d->sag > 0) {  // in place of what it measures in metres
        r->mask &= ~(uint32_t)(TL_TREES_BY_CURVATURE | TL_TREES_BY_LENGTH | TL_TREES_BY_LEVEL_LENGTH);
        r->mask |= TL_TREES_BY_SAG;
        r->split_sag = d->sag, r->join_sag = d->sag * (1 - d->hysteresis);
    }
    r->tie = ties[d->ties];
}

tl_status tl_trees_check_rules(const tl_trees_rules *r, tl_error *err)
{
    if (r->max_level < 0 || r->max_level > TL_TREES_MAX_LEVEL || r->collision_level < 0 ||
        r->collision_level > TL_TREES_MAX_LEVEL)
        return tl_fail(err, TL_BAD_INPUT, "max_level %d, collision_level %d: must be 0 to %d", r->max_level,
                       r->collision_level, TL_TREES_MAX_LEVEL);
    if (!(r->split_angle > 0) || !(r->join_angle >= 0) || !(r->join_angle <= r->split_angle))
        return tl_fail(err, TL_BAD_INPUT, "split_angle %g, join_angle %g rad: must be > 0, and the second no larger",
                       r->split_angle, r->join_angle);
    if (!(r->split_length > 0) || !(r->join_length >= r->split_length) || !isfinite(r->join_length))
        return tl_fail(err, TL_BAD_INPUT, "split_length %g, join_length %g: must be > 0, and the second no smaller",
                       r->split_length, r->join_length);
    if (!(r->level_factor > 0 && r->level_factor <= 1))
        return tl_fail(err, TL_BAD_INPUT, "level_factor %g, must be in (0, 1]", r->level_factor);
    if (r->rejoin_wait < 0 || r->rejoin_wait > 255)
        return tl_fail(err, TL_BAD_INPUT, "rejoin_wait %d, must be 0 to 255", r->rejoin_wait);
    return TL_OK;
}

double tl_trees_rest_length(const tl_trees *m, int32_t e)
{
    const tl_trees_edge *edge = tl_trees_e(m, e);
    double sum = 0;
    int sides = 0;
    for (int s = 0; s < 2; s++) {
        if (edge->tri[s] == TL_TREES_NONE) continue;
        const tl_trees_tri *t = tl_trees_t(m, edge->tri[s]);
        for (int k = 0; k < 3; k++) {
            if (t->edge[k] != 2 * e + s) continue;
            const tl_vec2 a = t->uv[k], b = t->uv[(k + 1) % 3];
            sum += sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)), sides++;
        }
    }
    return sides > 0 ? sum / sides : 0;
}

typedef struct judge {
    tl_trees *m;
    const tl_trees_rules *rules;
    const tl_trees_sight *sight;
    double split_cosine, join_cosine;
    double factor[TL_TREES_MAX_LEVEL + 2];  // level_factor to the power of the level
} judge;

static double distance(tl_vec3 a, tl_vec3 b)
{
    const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

static bool is_visible(const judge *j, const tl_trees_edge *e)
{
    const uint8_t *v = j->sight->visible;
    return !(j->rules->mask & TL_TREES_BY_VISIBILITY) || !v || v[e->a] || v[e->b];
}

// What visible edges beside it need is not joined for being hidden: else the border rule would split it again.
static bool is_forgotten(const judge *j, const tl_trees_edge *e)
{
    if (is_visible(j, e)) return false;
    for (int s = 0; s < 2; s++) {
        if (e->tri[s] == TL_TREES_NONE) continue;
        const int32_t *v = tl_trees_t(j->m, e->tri[s])->vert;
        if (j->sight->visible[v[0]] || j->sight->visible[v[1]] || j->sight->visible[v[2]]) return false;
    }
    return true;
}

static bool reaches_inside(const judge *j, const tl_trees_edge *e)
{
    const tl_trees_sight *s = j->sight;
    if (!(j->rules->mask & TL_TREES_BY_COLLISION) || !s->inside || e->level >= j->rules->collision_level) return false;
    if (s->near && !s->near[e->a] && !s->near[e->b]) return false;
    const tl_vec3 a = s->pos[e->a], b = s->pos[e->b];
    return s->inside(s->self, (tl_vec3){0.5 * (a.x + b.x), 0.5 * (a.y + b.y), 0.5 * (a.z + b.z)});
}

// STAY: between the thresholds.
static int by_length(const judge *j, const tl_trees_edge *e, double ratio)
{
    const tl_trees_rules *r = j->rules;
    int verdict = JOIN;
    if (r->mask & TL_TREES_BY_LENGTH) verdict = ratio < r->split_length ? SPLIT : ratio > r->join_length ? JOIN : STAY;
    if (!(r->mask & TL_TREES_BY_LEVEL_LENGTH) || verdict == SPLIT) return verdict;
    const double f = j->factor[e->level];
    if (ratio < r->split_length * f) return SPLIT;
    return ratio > r->join_length * f ? verdict : STAY;
}

// How far the cloth stands off an edge: by how much it turns between the ends, or as the half wave that it becomes
// where it is pushed together.
static double sag_of(const judge *j, int32_t id, const tl_trees_edge *e)
{
    const tl_vec3 p = j->sight->normal[e->a], q = j->sight->normal[e->b];
    const double rest = tl_trees_rest_length(j->m, id),
                 ratio = distance(j->sight->pos[e->a], j->sight->pos[e->b]) / rest;
    return rest * fmax(SAG_OF_TURN * distance(p, q), SAG_OF_SQUEEZE * sqrt(fmax(0, 1 - ratio)));
}

// What the criteria want of an edge that is whole, or that was: SPLIT, STAY, or JOIN if none of them needs it split.
static int verdict_of(const judge *j, int32_t id, const tl_trees_edge *e)
{
    const tl_trees_rules *r = j->rules;
    int verdict = JOIN;
    if (e->level < r->max_level && r->mask & TL_TREES_BY_CURVATURE) {
        const tl_vec3 p = j->sight->normal[e->a], q = j->sight->normal[e->b];
        const double cosine = p.x * q.x + p.y * q.y + p.z * q.z;
        if (cosine < j->split_cosine) return SPLIT;
        if (!(cosine > j->join_cosine)) verdict = STAY;
    }
    if (e->level < r->max_level && r->mask & (TL_TREES_BY_LENGTH | TL_TREES_BY_LEVEL_LENGTH)) {
        const double ratio = distance(j->sight->pos[e->a], j->sight->pos[e->b]) / tl_trees_rest_length(j->m, id);
        const int length = by_length(j, e, ratio);
        if (length == SPLIT) return SPLIT;
        if (length == STAY) verdict = STAY;
    }
    if (e->level < r->max_level && r->mask & TL_TREES_BY_SAG) {
        const double sag = sag_of(j, id, e);
        if (sag > r->split_sag) return SPLIT;
        if (sag > r->join_sag) verdict = STAY;
    }
    if (reaches_inside(j, e)) return SPLIT;
    return r->mask & TL_TREES_ALWAYS_JOIN ? JOIN : verdict;
}

static void decide_edge(const judge *j, int32_t id, tl_trees_edge *e)
{
    tl_trees *m = j->m;
    const int32_t deepest =
        j->rules->max_level > j->rules->collision_level ? j->rules->max_level : j->rules->collision_level;
    if (!tl_trees_is_split(e)) {
        if (e->level >= deepest || !is_visible(j, e)) return;
        if (!tl_trees_may_split(m, id, deepest)) {
            // an edge that wants to be split is not kept from it by what is hidden (the border rule), or by anything
            if (j->rules->mask & UNLOCKING && verdict_of(j, id, e) == SPLIT) m->action[id] = BLOCKED;
            return;
        }
        if (verdict_of(j, id, e) == SPLIT) m->action[id] = SPLIT;
        return;
    }
    const bool whole = j->rules->mask & TL_TREES_WHOLE;
    if (whole) m->action[id] = KEEP;
    if (!tl_trees_may_join(m, id)) return;
    if (whole && (is_forgotten(j, e) || verdict_of(j, id, e) == JOIN)) m->action[id] = STAY;
    if (is_forgotten(j, e)) {  // at once
        m->action[id] = JOIN;
        return;
    }
    if (e->wait > 0 && e->level < deepest) {
        e->wait--;
        return;
    }
    e->wait = (uint8_t)j->rules->rejoin_wait;
    if (verdict_of(j, id, e) == JOIN) m->action[id] = JOIN;
}

static void decide_chunk(void *arg, int32_t begin, int32_t end)
{
    const judge *j = arg;
    const tl_trees_pool *pool = &j->m->edge;
    memset(j->m->action + begin, STAY, (size_t)(end - begin));
    for (int32_t i = tl_trees_pool_next(pool, begin, end); i < end; i = tl_trees_pool_next(pool, i + 1, end)) {
        tl_trees_edge *e = tl_trees_e(j->m, i);
        if (e->flags & TL_TREES_EDGE_LIVE) decide_edge(j, i, e);
    }
}

// Triangles know their children alone.
static tl_status find_parents(tl_trees *m, tl_error *err)
{
    if (!TL_GROW(&m->alloc, m->parent, m->parent_cap, m->tri.count)) return tl_fail_memory(err, "parents");
    for (int32_t t = 0; t < m->tri.count; t++) m->parent[t] = TL_TREES_NONE;
    const int32_t end = m->tri.count;
    for (int32_t t = tl_trees_pool_next(&m->tri, 0, end); t < end; t = tl_trees_pool_next(&m->tri, t + 1, end)) {
        const tl_trees_tri *tri = tl_trees_t(m, t);
        for (int k = 0; k < tl_trees_configs[tri->config].tris; k++) m->parent[tri->inner_tri[k]] = t;
    }
    return TL_OK;
}

// A side of `e` is locked because its parent is not split all around: the edges that are missing are to be split.
static void unlock(tl_trees *m, int32_t e)
{
    for (int s = 0; s < 2; s++) {
        const int32_t t = tl_trees_e(m, e)->tri[s];
        if (t == TL_TREES_NONE || tl_trees_t(m, t)->state != TL_TREES_LOCKED || m->parent[t] == TL_TREES_NONE) continue;
        const tl_trees_tri *p = tl_trees_t(m, m->parent[t]);
        for (int k = 0; k < 3; k++) {
            const int32_t outer = p->edge[k] / 2;
            if (!tl_trees_is_split(tl_trees_e(m, outer)))
                m->action[outer] = SPLIT;  // if that is locked too, its turn comes in a later update
            else if (m->action[outer] == JOIN)
                m->action[outer] = STAY;
        }
    }
}

// What was split for an edge that is split only now is not joined under it.
static void keep_unlocked(tl_trees *m, int32_t e)
{
    for (int s = 0; s < 2; s++) {
        const int32_t t = tl_trees_e(m, e)->tri[s];
        if (t == TL_TREES_NONE || m->parent[t] == TL_TREES_NONE) continue;
        const int32_t *outer = tl_trees_t(m, m->parent[t])->edge;
        for (int k = 0; k < 3; k++)
            if (m->action[outer[k] / 2] == JOIN) m->action[outer[k] / 2] = STAY;
    }
}

static tl_status unlock_all(tl_trees *m, int32_t count, tl_error *err)
{
    TL_TRY(find_parents(m, err));
    for (int32_t e = 0; e < count; e++)
        if (m->action[e] == BLOCKED)
            m->action[e] = STAY, unlock(m, e);
        else if (m->action[e] == SPLIT)
            keep_unlocked(m, e);
    return TL_OK;
}

// Does an edge have a neighbour in one of its triangles that is wanted?
static bool is_needed(const tl_trees *m, const tl_trees_edge *e)
{
    for (int s = 0; s < 2; s++) {
        if (e->tri[s] == TL_TREES_NONE) continue;
        const int32_t *outer = tl_trees_t(m, e->tri[s])->edge;
        for (int k = 0; k < 3; k++)
            if (m->action[outer[k] / 2] == KEEP || m->action[outer[k] / 2] == SPLIT) return true;
    }
    return false;
}

// TL_TREES_WHOLE: triangles are split all around, and kept so.
static void complete_triangles(tl_trees *m, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (m->action[i] == JOIN && is_needed(m, tl_trees_e(m, i))) m->action[i] = STAY;
    for (int32_t i = 0; i < count; i++) {
        if (m->action[i] != SPLIT) continue;
        const tl_trees_edge *e = tl_trees_e(m, i);
        for (int s = 0; s < 2; s++) {
            if (e->tri[s] == TL_TREES_NONE) continue;
            const int32_t *outer = tl_trees_t(m, e->tri[s])->edge;
            for (int k = 0; k < 3; k++)
                if (m->action[outer[k] / 2] == STAY && !tl_trees_is_split(tl_trees_e(m, outer[k] / 2)))
                    m->action[outer[k] / 2] = ALONG;
        }
    }
    for (int32_t i = 0; i < count; i++)
        m->action[i] = m->action[i] == ALONG ? SPLIT : m->action[i] == KEEP ? STAY : m->action[i];
}

tl_status tl_trees_decide(tl_trees *m, const tl_trees_rules *rules, const tl_trees_sight *sight, tl_workers *workers,
                          int32_t *splits, tl_error *err)
{
    const int32_t count = m->edge.count;
    if (!TL_GROW(&m->alloc, m->action, m->action_cap, count)) return tl_fail_memory(err, "decisions about edges");
    judge j = {.m = m, .rules = rules, .sight = sight};
    j.split_cosine = cos(rules->split_angle), j.join_cosine = cos(rules->join_angle);
    j.factor[0] = 1;
    for (int i = 1; i < TL_TREES_MAX_LEVEL + 2; i++) j.factor[i] = j.factor[i - 1] * rules->level_factor;
    tl_parallel_for(workers, count, EDGES_PER_CHUNK, decide_chunk, &j);
    if (rules->mask & UNLOCKING) TL_TRY(unlock_all(m, count, err));
    if (rules->mask & TL_TREES_WHOLE) complete_triangles(m, count);
    m->decided = count;
    *splits = 0;
    for (int32_t e = 0; e < count; e++) *splits += m->action[e] == SPLIT;
    return TL_OK;
}

int32_t tl_trees_wishes(const tl_trees *m, trees_wish *out)
{
    int32_t count = 0;
    for (int what = JOIN; what >= SPLIT; what--)
        for (int32_t e = 0; e < m->decided; e++)
            if (m->action[e] == what) {
                const tl_trees_edge *edge = tl_trees_e(m, e);
                out[count++] = (trees_wish){e, edge->a, edge->b, what == SPLIT};
            }
    return count;
}

tl_status tl_trees_apply(tl_trees *m, const tl_trees_rules *rules, const tl_trees_sight *sight, tl_trees_report *report,
                         tl_error *err)
{
    const int32_t count = m->decided;
    m->decided = 0;
    for (int32_t e = 0; e < count; e++)
        if (m->action[e] == JOIN && tl_trees_may_join(m, e)) TL_TRY(tl_trees_join(m, e, err));
    int32_t left = rules->most_splits > 0 ? rules->most_splits : INT32_MAX;
    for (int32_t e = 0; e < count && left > 0; e++) {
        if (m->action[e] != SPLIT || !tl_trees_may_split(m, e, TL_TREES_MAX_LEVEL)) continue;
        int32_t vert;
        left--;
        TL_TRY(tl_trees_split(m, e, &vert, err));
        tl_trees_edge *edge = tl_trees_e(m, e);
        edge->wait = (uint8_t)rules->rejoin_wait;
        if (sight->made) sight->made(sight->self, vert, edge->a, edge->b);
    }
    return tl_trees_commit(m, (tl_trees_choice){rules->tie, sight->pos, sight->normal}, report, err);
}

tl_status tl_trees_adapt(tl_trees *m, const tl_trees_rules *rules, const tl_trees_sight *sight, tl_workers *workers,
                         tl_trees_report *report, tl_error *err)
{
    int32_t splits;
    TL_TRY(tl_trees_decide(m, rules, sight, workers, &splits, err));
    return tl_trees_apply(m, rules, sight, report, err);
}
