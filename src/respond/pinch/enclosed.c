// respond/pinch/enclosed.c: is cloth that stops a body enclosed, or is it only slow to give way?
//
// Only enclosed cloth is pinched (pinch.c): cloth between surfaces of bodies that face each other with nothing but
// cloth in between, and cloth that handles hold. In a step that cannot be cut any more, cloth whose gap is nearly
// closed counts as well, since inertia cannot be the reason then.

#include "respond/contact_impl.h"

/// A point where cloth touches a body, and the direction in which it is pushed.
typedef struct touch {
    tl_vec3 at, normal;
} touch;

static touch touch_of(const tl_contacts *c, const pair *p, const proximity *near)
{
    if (p->kind == PAIR_PLANE) return (touch){c->motion.pos[p->node[0]], near->normal};
    const bool first = p->node[0] < c->node_count;
    touch t = {{0, 0, 0}, first ? near->normal : tl_mul3(-1, near->normal)};
    for (int k = 0; k < 4; k++)
        if (p->node[k] < c->node_count) t.at = tl_madd3(t.at, fabs(near->weight[k]), c->motion.pos[p->node[k]]);
    return t;
}

// Largest distance between the cloth nodes of a pair.
static double extent_of(const tl_contacts *c, const pair *p)
{
    double most = 0;
    for (int k = 0; k < pair_nodes(p); k++)
        for (int m = 0; m < k; m++)
            if (p->node[k] < c->node_count && p->node[m] < c->node_count)
                most = fmax(most, tl_norm3(tl_sub3(c->motion.pos[p->node[k]], c->motion.pos[p->node[m]])));
    return most;
}

// Nodes that handles hold cannot give way either.
static bool is_held(const tl_contacts *c, const pair *p, const proximity *near)
{
    double held = 0;
    for (int k = 0; k < pair_nodes(p); k++)
        if (p->node[k] < c->node_count && c->step.fixed[p->node[k]]) held += fabs(near->weight[k]);
    return held > c->policy.pinch.fixed;
}

bool contact_is_crushed(const tl_contacts *c, int32_t index)
{
    return c->cache.near[index].distance < c->policy.pinch.crushed * c->cache.pair[index].thickness;
}

bool contact_is_enclosed(const tl_contacts *c, int32_t index)
{
    const pair *p = &c->cache.pair[index];
    const proximity *near = &c->cache.near[index];
    if (is_held(c, p, near)) return true;
    if (!(near->distance < p->thickness)) return false;  // not even touched
    const touch one = touch_of(c, p, near);
    const double far = c->policy.pinch.layers * c->reach, aside = fmax(far, extent_of(c, p));
    for (int32_t i = 0; i < c->cache.count; i++) {
        const pair *q = &c->cache.pair[i];
        if (q->body == TL_CLOTH || !(c->cache.near[i].distance < q->thickness)) continue;
        const touch other = touch_of(c, q, &c->cache.near[i]);
        if (!(tl_dot3(one.normal, other.normal) < c->policy.pinch.facing)) continue;
        const tl_vec3 between = tl_sub3(other.at, one.at);
        const double ahead = tl_dot3(between, one.normal);
        if (ahead > -c->reach && ahead < far && tl_norm3(tl_madd3(between, -ahead, one.normal)) < aside) return true;
    }
    return false;
}
