// adapt/edge_trees/check.c: every link and rule of a mesh of edge trees, looked at one by one.

#include "adapt/edge_trees/trees_impl.h"
#include "base/fail.h"

#define FAULT(...) return tl_fail(err, TL_FAILED, __VA_ARGS__)

static bool live_edge(const tl_trees *m, int32_t e)
{
    const tl_trees_edge *edge = e >= 0 && e < m->edge.count ? tl_trees_edge_at(m, e) : NULL;
    return edge && edge->flags & TL_TREES_EDGE_LIVE;
}
static bool live_tri(const tl_trees *m, int32_t t)
{
    const tl_trees_tri *tri = t >= 0 && t < m->tri.count ? tl_trees_tri_at(m, t) : NULL;
    return tri && tri->flags & TL_TREES_TRI_LIVE;
}
static bool live_vert(const tl_trees *m, int32_t v)
{
    const tl_trees_vert *vert = v >= 0 && v < m->vert.count ? tl_trees_vert_at(m, v) : NULL;
    return vert && vert->live;
}

static tl_status check_edge(const tl_trees *m, int32_t i, tl_error *err)
{
    const tl_trees_edge *e = tl_trees_e(m, i);
    if (!live_vert(m, e->a) || !live_vert(m, e->b)) FAULT("edge %d has a dead end", i);
    if (e->level > TL_TREES_MAX_LEVEL) FAULT("edge %d: level %d", i, e->level);
    if (e->flags & (TL_TREES_EDGE_NEW | TL_TREES_EDGE_GOING)) FAULT("edge %d was not committed", i);
    if (e->tri[0] == TL_TREES_NONE) FAULT("edge %d has no triangle on its left", i);
    for (int s = 0; s < 2; s++) {
        if (e->tri[s] == TL_TREES_NONE) continue;
        if (!live_tri(m, e->tri[s])) FAULT("edge %d has a dead triangle", i);
        const tl_trees_tri *t = tl_trees_t(m, e->tri[s]);
        bool found = false;
        for (int k = 0; k < 3; k++) found = found || t->edge[k] == 2 * i + s;
        if (!found) FAULT("edge %d: triangle %d does not know it", i, e->tri[s]);
    }
    if (!tl_trees_is_split(e)) {
        if (e->child[0] != TL_TREES_NONE || e->child[1] != TL_TREES_NONE) FAULT("edge %d has children, unsplit", i);
        return TL_OK;
    }
    if (!live_edge(m, e->child[0]) || !live_edge(m, e->child[1]) || !live_vert(m, e->mid))
        FAULT("edge %d: dead child", i);
    const tl_trees_edge *p = tl_trees_e(m, e->child[0]), *q = tl_trees_e(m, e->child[1]);
    if (p->a != e->a || p->b != e->mid || q->a != e->mid || q->b != e->b) FAULT("edge %d: children do not fit", i);
    if (p->level != e->level + 1 || q->level != e->level + 1) FAULT("edge %d: wrong level of children", i);
    return TL_OK;
}

static tl_status check_children(const tl_trees *m, int32_t i, tl_error *err)
{
    const tl_trees_tri *t = tl_trees_t(m, i);
    const tl_trees_config *config = &tl_trees_configs[t->config];
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        if ((k < config->tris) != (t->inner_tri[k] != TL_TREES_NONE)) FAULT("triangle %d: wrong number of children", i);
        if (k >= config->tris) continue;
        if (!live_tri(m, t->inner_tri[k])) FAULT("triangle %d has a dead child", i);
        const tl_trees_tri *c = tl_trees_t(m, t->inner_tri[k]);
        if (c->level != t->level + 1) FAULT("triangle %d: wrong level of a child", i);
        if ((c->state == TL_TREES_LOCKED) != (t->state != 7)) FAULT("triangle %d: wrong lock of a child", i);
        if (c->state == TL_TREES_LOCKED && c->config != 0) FAULT("triangle %d: a locked child is refined", i);
        sum += (c->uv[1].x - c->uv[0].x) * (c->uv[2].y - c->uv[0].y) -
               (c->uv[1].y - c->uv[0].y) * (c->uv[2].x - c->uv[0].x);
    }
    for (int k = 0; k < 3; k++) {
        if ((k < config->edges) != (t->inner_edge[k] != TL_TREES_NONE)) FAULT("triangle %d: wrong inner edges", i);
        if (k < config->edges && !live_edge(m, t->inner_edge[k])) FAULT("triangle %d has a dead inner edge", i);
    }
    const double area =
        (t->uv[1].x - t->uv[0].x) * (t->uv[2].y - t->uv[0].y) - (t->uv[1].y - t->uv[0].y) * (t->uv[2].x - t->uv[0].x);
    if (config->tris && !(sum > area * (1 - 1e-12) && sum < area * (1 + 1e-12))) FAULT("triangle %d: areas differ", i);
    return TL_OK;
}

static tl_status check_tri(const tl_trees *m, int32_t i, tl_error *err)
{
    const tl_trees_tri *t = tl_trees_t(m, i);
    if (t->flags & TL_TREES_TRI_TAGGED) FAULT("triangle %d was not committed", i);
    if (t->level > TL_TREES_MAX_LEVEL) FAULT("triangle %d: level %d", i, t->level);
    if (t->config >= TL_TREES_CONFIGS) FAULT("triangle %d: configuration %d", i, t->config);
    int bits = 0;
    for (int k = 0; k < 3; k++) {
        if (!live_edge(m, t->edge[k] / 2)) FAULT("triangle %d has a dead edge", i);
        const tl_trees_edge *e = tl_trees_e(m, t->edge[k] / 2);
        const bool right = t->edge[k] & 1;
        if (t->vert[k] != (right ? e->b : e->a) || t->vert[(k + 1) % 3] != (right ? e->a : e->b))
            FAULT("triangle %d: edge %d does not fit", i, k);
        bits |= tl_trees_is_split(e) << k;
    }
    if (t->state != TL_TREES_LOCKED && t->state != bits)
        FAULT("triangle %d: state %d, edges say %d", i, t->state, bits);
    if (tl_trees_configs[t->config].state != (t->state == TL_TREES_LOCKED ? 0 : t->state))
        FAULT("triangle %d: configuration %d in state %d", i, t->config, t->state);
    return check_children(m, i, err);
}

tl_status tl_trees_check(const tl_trees *m, tl_error *err)
{
    for (int32_t i = 0; i < m->edge.count; i++)
        if (live_edge(m, i)) TL_TRY(check_edge(m, i, err));
    for (int32_t i = 0; i < m->tri.count; i++)
        if (live_tri(m, i)) TL_TRY(check_tri(m, i, err));
    return TL_OK;
}
