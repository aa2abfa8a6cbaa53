// adapt/edge_trees/change.c: split and join edges, and the sweep that retriangulates.
//
// Three traps of batching splits and joins before one sweep (Simnett 2012, sec. 3.4 leaves them open): a triangle that
// leaves state 7 locks its children at the moment of the join, else one of their inner edges could be split just before
// it goes; a tagged child counts as refined, since its state is not yet up to date; and what is joined is freed only
// after the sweep, when no triangle refers to it any more.

#include <math.h>

#include "adapt/edge_trees/trees_impl.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"

enum { FULL = 7 };

// ---- may it be? -----------------------------------------------------------------------------------------------

static bool is_locked(const tl_trees *m, int32_t t)
{
    return t != TL_TREES_NONE && tl_trees_t(m, t)->state == TL_TREES_LOCKED;
}

bool tl_trees_may_split(const tl_trees *m, int32_t e, int32_t max_level)
{
    const tl_trees_edge *edge = tl_trees_e(m, e);
    return !tl_trees_is_split(edge) && edge->level < max_level && edge->level < TL_TREES_MAX_LEVEL &&
           !(edge->flags & (TL_TREES_EDGE_NEW | TL_TREES_EDGE_GOING)) && !is_locked(m, edge->tri[0]) &&
           !is_locked(m, edge->tri[1]);
}

// A triangle holds its edges split while one of its children is refined.
static bool holds(const tl_trees *m, int32_t t)
{
    if (t == TL_TREES_NONE) return false;
    const tl_trees_tri *tri = tl_trees_t(m, t);
    if (tri->config != TL_TREES_CONFIGS - 1) return false;
    for (int k = 0; k < 4; k++) {
        const tl_trees_tri *child = tl_trees_t(m, tri->inner_tri[k]);
        if (child->state > 0 || child->flags & TL_TREES_TRI_TAGGED) return true;
    }
    return false;
}

bool tl_trees_may_join(const tl_trees *m, int32_t e)
{
    const tl_trees_edge *edge = tl_trees_e(m, e);
    if (!tl_trees_is_split(edge) || edge->flags & (TL_TREES_EDGE_NEW | TL_TREES_EDGE_GOING)) return false;
    for (int k = 0; k < 2; k++) {
        const tl_trees_edge *child = tl_trees_e(m, edge->child[k]);
        if (tl_trees_is_split(child) || child->flags & TL_TREES_EDGE_NEW) return false;
    }
    return !holds(m, edge->tri[0]) && !holds(m, edge->tri[1]);
}

// ---- split and join -------------------------------------------------------------------------------------------

static void tag(tl_trees *m, int32_t t)
{
    if (t == TL_TREES_NONE) return;
    tl_trees_tri *tri = tl_trees_t(m, t);
    if (tri->flags & TL_TREES_TRI_TAGGED) return;
    tri->flags |= TL_TREES_TRI_TAGGED;
    m->tagged[m->tagged_count++] = t;
}

static tl_status reserve(tl_trees *m, tl_error *err)
{
    if (!TL_GROW(&m->alloc, m->tagged, m->tagged_cap, (int64_t)m->tagged_count + 2) ||
        !TL_GROW(&m->alloc, m->going, m->going_cap, (int64_t)m->going_count + 1) ||
        !TL_GROW(&m->alloc, m->fresh, m->fresh_cap, (int64_t)m->fresh_count + 3))
        return tl_fail_memory(err, "changes of edge trees");
    return TL_OK;
}

tl_status tl_trees_reserve(tl_trees *m, tl_error *err)
{
    TL_TRY(reserve(m, err));
    TL_TRY(tl_trees_pool_reserve(&m->vert, &m->alloc, 1, err));
    TL_TRY(tl_trees_pool_reserve(&m->edge, &m->alloc, 2 + 2 * 3, err));  // halves, and inner edges on either side
    return tl_trees_pool_reserve(&m->tri, &m->alloc, 2 * 4, err);
}

static tl_status new_edge(tl_trees *m, int32_t a, int32_t b, int32_t level, int32_t *id, tl_error *err)
{
    void *object;
    TL_TRY(tl_trees_pool_take(&m->edge, &m->alloc, id, &object, err));
    const int32_t none = TL_TREES_NONE;
    *(tl_trees_edge *)object = (tl_trees_edge){
        TL_TREES_EDGE_LIVE | TL_TREES_EDGE_NEW, (uint8_t)level, 0, a, b, none, {none, none}, {none, none}};
    return TL_OK;
}

tl_status tl_trees_split(tl_trees *m, int32_t e, int32_t *vert, tl_error *err)
{
    TL_TRY(reserve(m, err));
    tl_trees_edge *edge = tl_trees_e(m, e);
    int32_t v, first, second;
    void *object;
    TL_TRY(tl_trees_pool_take(&m->vert, &m->alloc, &v, &object, err));
    const int level = edge->level + 1;
    tl_status status = new_edge(m, edge->a, v, level, &first, err);
    if (status == TL_OK) {
        status = new_edge(m, v, edge->b, level, &second, err);
        if (status != TL_OK) tl_trees_pool_give(&m->edge, &m->alloc, first);
    }
    if (status != TL_OK) {
        tl_trees_pool_give(&m->vert, &m->alloc, v);
        return status;
    }
    *(tl_trees_vert *)object = (tl_trees_vert){1, (uint8_t)level, {edge->a, edge->b}};
    edge->mid = v, edge->child[0] = first, edge->child[1] = second;
    edge->flags |= TL_TREES_EDGE_NEW;
    m->fresh[m->fresh_count++] = e, m->fresh[m->fresh_count++] = first, m->fresh[m->fresh_count++] = second;
    tag(m, edge->tri[0]), tag(m, edge->tri[1]);
    m->report.splits++;
    *vert = v;
    return TL_OK;
}

static void lock_children(tl_trees *m, int32_t t)
{
    if (t == TL_TREES_NONE) return;
    const tl_trees_tri *tri = tl_trees_t(m, t);
    for (int k = 0; k < 4; k++)
        if (tri->inner_tri[k] != TL_TREES_NONE) tl_trees_t(m, tri->inner_tri[k])->state = TL_TREES_LOCKED;
}

tl_status tl_trees_join(tl_trees *m, int32_t e, tl_error *err)
{
    TL_TRY(reserve(m, err));
    tl_trees_edge *edge = tl_trees_e(m, e);
    edge->flags |= TL_TREES_EDGE_GOING;
    m->going[m->going_count++] = e;
    for (int k = 0; k < 2; k++) tag(m, edge->tri[k]), lock_children(m, edge->tri[k]);
    m->report.joins++;
    return TL_OK;
}

// ---- which configuration --------------------------------------------------------------------------------------

static bool counts_as_split(const tl_trees_edge *e)
{
    return tl_trees_is_split(e) && !(e->flags & TL_TREES_EDGE_GOING);
}

static int state_of(const tl_trees *m, const tl_trees_tri *t)
{
    int state = 0;
    for (int k = 0; k < 3; k++) state |= counts_as_split(tl_trees_e(m, t->edge[k] / 2)) << k;
    return state;
}

static double length2(tl_vec2 a, tl_vec2 b) { return tl_hypot(a.x - b.x, a.y - b.y); }
static tl_vec2 middle2(tl_vec2 a, tl_vec2 b) { return (tl_vec2){0.5 * (a.x + b.x), 0.5 * (a.y + b.y)}; }

// What the diagonal from the middle of edge `k` costs: the smaller of two is taken.
static double diagonal_cost(const tl_trees *m, const tl_trees_tri *t, int k, const tl_trees_choice *choice)
{
    const tl_trees_edge *e = tl_trees_e(m, t->edge[k] / 2);
    const int third = (k + 2) % 3;
    if (choice->tie == TL_TREES_TIE_REST) return length2(middle2(t->uv[k], t->uv[(k + 1) % 3]), t->uv[third]);
    if (choice->tie == TL_TREES_TIE_LENGTH && choice->pos) {
        const tl_vec3 a = choice->pos[e->a], b = choice->pos[e->b], c = choice->pos[t->vert[third]];
        const double x = 0.5 * (a.x + b.x) - c.x, y = 0.5 * (a.y + b.y) - c.y, z = 0.5 * (a.z + b.z) - c.z;
        return x * x + y * y + z * z;
    }
    if (choice->tie == TL_TREES_TIE_CURVATURE && choice->normal) {
        const tl_vec3 p = choice->normal[e->a], q = choice->normal[e->b];
        return p.x * q.x + p.y * q.y + p.z * q.z;  // the cosine of the turn: small where the edge is curved
    }
    if (choice->tie == TL_TREES_TIE_VERTEX) return t->vert[third] == choice->vert ? 0 : 1;
    return 0;
}

static int config_of(const tl_trees *m, const tl_trees_tri *t, int state, const tl_trees_choice *choice)
{
    static const int8_t only[8] = {0, 1, 2, -1, 3, -1, -1, 10};
    static const int8_t pairs[8][2] = {[3] = {4, 5}, [6] = {6, 7}, [5] = {8, 9}};  // the default is the first
    if (only[state] >= 0) return only[state];
    const int one = pairs[state][0], other = pairs[state][1], now = tl_trees_configs[t->config].family;
    // A diagonal that is there stays: less is rebuilt, and nothing pops.
    if (now >= 0 && tl_trees_configs[one].family == now) return one;
    if (now >= 0 && tl_trees_configs[other].family == now) return other;
    const double cost = diagonal_cost(m, t, tl_trees_configs[one].family, choice);
    return diagonal_cost(m, t, tl_trees_configs[other].family, choice) < cost ? other : one;
}

// ---- retriangulation ------------------------------------------------------------------------------------------

// A side of a child as 2 * edge + side.
static int32_t side_ref(const tl_trees *m, const tl_trees_tri *t, int code, const int32_t inner[3])
{
    if (code >= TL_TREES_INNER_BACK) return 2 * inner[code - TL_TREES_INNER_BACK] + 1;
    if (code >= TL_TREES_INNER) return 2 * inner[code - TL_TREES_INNER];
    const int32_t outer = t->edge[code % 3], side = outer & 1;
    if (code < TL_TREES_FIRST) return outer;
    const tl_trees_edge *e = tl_trees_e(m, outer / 2);
    // Seen from the right side the edge runs from b to a, so its first half is its second child.
    const int half = (code >= TL_TREES_SECOND) ^ side;
    return 2 * e->child[half] + side;
}

static void write_child(tl_trees *m, const tl_trees_tri *t, int config, int k, int32_t id, const int32_t inner[3])
{
    tl_trees_tri *child = tl_trees_t(m, id);
    const int32_t none = TL_TREES_NONE;
    tl_trees_tri value = {.inner_edge = {none, none, none},
                          .inner_tri = {none, none, none, none},
                          .level = (uint8_t)(t->level + 1),
                          .flags = TL_TREES_TRI_LIVE};
    for (int c = 0; c < 3; c++) {
        const int corner = tl_trees_configs[config].tri[k][c], code = m->tables.side[config][k][c];
        if (corner < 3) {
            value.vert[c] = t->vert[corner], value.uv[c] = t->uv[corner];
        } else {
            value.vert[c] = tl_trees_e(m, t->edge[corner - 3] / 2)->mid;
            value.uv[c] = middle2(t->uv[corner - 3], t->uv[(corner - 2) % 3]);
        }
        value.edge[c] = side_ref(m, t, code, inner);
        // Outer edges that are not split stay the parent's: it is the parent that they would refine.
        if (code >= TL_TREES_FIRST) tl_trees_e(m, value.edge[c] / 2)->tri[value.edge[c] & 1] = id;
    }
    *child = value;
}

static int32_t corner_vert(const tl_trees *m, const tl_trees_tri *t, int corner)
{
    return corner < 3 ? t->vert[corner] : tl_trees_e(m, t->edge[corner - 3] / 2)->mid;
}

// Reserves every slot before anything changes, so that running out of memory leaves the old configuration.
static tl_status take_slots(tl_trees *m, const tl_trees_plan *plan, const tl_trees_config *new_config,
                            const tl_trees_tri *t, int32_t edge[3], int32_t tri[4], tl_error *err)
{
    int edges = 0, tris = 0;
    tl_status status = TL_OK;
    void *object;
    for (; edges < new_config->edges && status == TL_OK; edges++) {
        const int from = plan->edge_from[edges];
        if (from >= 0)
            edge[edges] = t->inner_edge[from];
        else
            status = tl_trees_pool_take(&m->edge, &m->alloc, &edge[edges], &object, err);
    }
    for (; tris < new_config->tris && status == TL_OK; tris++) {
        const int from = plan->tri_from[tris];
        if (from >= 0)
            tri[tris] = t->inner_tri[from];
        else
            status = tl_trees_pool_take(&m->tri, &m->alloc, &tri[tris], &object, err);
    }
    if (status == TL_OK) return TL_OK;
    // The last one of the list that was being walked is the one that failed.
    for (int k = 0; k < edges - (tris == 0 ? 1 : 0); k++)
        if (plan->edge_from[k] < 0) tl_trees_pool_give(&m->edge, &m->alloc, edge[k]);
    for (int k = 0; k < tris - 1; k++)
        if (plan->tri_from[k] < 0) tl_trees_pool_give(&m->tri, &m->alloc, tri[k]);
    return status;
}

static tl_status change_config(tl_trees *m, int32_t id, int config, tl_error *err)
{
    tl_trees_tri *t = tl_trees_t(m, id);
    const tl_trees_plan *plan = &m->tables.plan[t->config][config];
    const tl_trees_config *old_config = &tl_trees_configs[t->config], *new_config = &tl_trees_configs[config];
    const int32_t none = TL_TREES_NONE;
    int32_t edge[3] = {none, none, none}, tri[4] = {none, none, none, none};
    TL_TRY(take_slots(m, plan, new_config, t, edge, tri, err));
    for (int k = 0; k < old_config->tris && plan->tri_gone[k] >= 0; k++)
        tl_trees_pool_give(&m->tri, &m->alloc, t->inner_tri[plan->tri_gone[k]]);
    for (int k = 0; k < old_config->edges && plan->edge_gone[k] >= 0; k++)
        tl_trees_pool_give(&m->edge, &m->alloc, t->inner_edge[plan->edge_gone[k]]);
    for (int k = 0; k < new_config->edges; k++)
        if (!plan->edge_same[k])
            *tl_trees_e(m, edge[k]) = (tl_trees_edge){.a = corner_vert(m, t, new_config->edge[k][0]),
                                                      .b = corner_vert(m, t, new_config->edge[k][1]),
                                                      .mid = none,
                                                      .child = {none, none},
                                                      .tri = {none, none},
                                                      .level = (uint8_t)(t->level + 1),
                                                      .flags = TL_TREES_EDGE_LIVE};
    for (int k = 0; k < new_config->tris; k++)
        if (!plan->tri_same[k]) write_child(m, t, config, k, tri[k], edge);
    for (int k = 0; k < 3; k++) t->inner_edge[k] = edge[k];
    for (int k = 0; k < 4; k++) t->inner_tri[k] = tri[k];
    t->config = (uint8_t)config;
    return TL_OK;
}

static tl_status retriangulate(tl_trees *m, int32_t id, const tl_trees_choice *choice, tl_error *err)
{
    tl_trees_tri *t = tl_trees_t(m, id);
    t->flags &= (uint8_t)~TL_TREES_TRI_TAGGED;
    const int state = state_of(m, t);
    if (state != t->state) {
        const int config = config_of(m, t, state, choice);
        if (m->transition == TL_TREES_INDIRECT && t->config != 0) TL_TRY(change_config(m, id, 0, err));
        TL_TRY(change_config(m, id, config, err));
        t->state = (int8_t)state;
        m->report.retriangulated++;
    }
    for (int k = 0; k < tl_trees_configs[t->config].tris; k++) {
        tl_trees_tri *child = tl_trees_t(m, t->inner_tri[k]);
        if (state != FULL)
            child->state = TL_TREES_LOCKED;
        else if (child->state == TL_TREES_LOCKED)
            child->state = 0;
    }
    return TL_OK;
}

static void free_joined(tl_trees *m)
{
    for (int32_t i = 0; i < m->going_count; i++) {
        tl_trees_edge *e = tl_trees_e(m, m->going[i]);
        tl_trees_pool_give(&m->edge, &m->alloc, e->child[1]);
        tl_trees_pool_give(&m->edge, &m->alloc, e->child[0]);
        tl_trees_pool_give(&m->vert, &m->alloc, e->mid);
        e->mid = e->child[0] = e->child[1] = TL_TREES_NONE;
        e->flags &= (uint8_t)~TL_TREES_EDGE_GOING;
    }
    m->going_count = 0;
}

tl_status tl_trees_commit(tl_trees *m, tl_trees_choice choice, tl_trees_report *report, tl_error *err)
{
    // If memory runs out the rest stays tagged, and the next call goes on with it.
    int32_t done = 0;
    tl_status status = TL_OK;
    for (; done < m->tagged_count && status == TL_OK; done++) status = retriangulate(m, m->tagged[done], &choice, err);
    if (status != TL_OK) {
        done--;
        tl_trees_t(m, m->tagged[done])->flags |= TL_TREES_TRI_TAGGED;
        for (int32_t i = done; i < m->tagged_count; i++) m->tagged[i - done] = m->tagged[i];
        m->tagged_count -= done;
        return status;
    }
    m->tagged_count = 0;
    free_joined(m);
    for (int32_t i = 0; i < m->fresh_count; i++) tl_trees_e(m, m->fresh[i])->flags &= (uint8_t)~TL_TREES_EDGE_NEW;
    m->fresh_count = 0;
    if (report) *report = m->report;
    m->report = (tl_trees_report){0};
    return TL_OK;
}
