// respond/pairs/pair_measure.c: distance, normal and weights of pairs, and how far parallel edges fade out.

#include "base/fail.h"
#include "respond/pairs/pairs.h"

enum { PAIRS_PER_CHUNK = 512 };

static double fade_of(const tl_contacts *c, const pair *p)
{
    if (p->kind != PAIR_EE) return 1;
    const tl_vec3 a = tl_sub3(c->motion.pos[p->node[1]], c->motion.pos[p->node[0]]),
                  b = tl_sub3(c->motion.pos[p->node[3]], c->motion.pos[p->node[2]]);
    const tl_vec3 n = tl_cross3(a, b);
    const double s = tl_dot3(n, n) / fmax(tl_dot3(a, a) * tl_dot3(b, b), 1e-300) / c->policy.barrier.parallel;
    return s < 1 ? s * (2 - s) : 1;
}

double contact_distance(const tl_contacts *c, int32_t index, double done)
{
    const pair *p = &c->cache.pair[index];
    if (!c->zones.frozen || p->kind == PAIR_PLANE) return contact_proximity(c, p, c->motion.pos, done).distance;
    const proximity *near = &c->cache.near[index];
    tl_vec3 gap = {0, 0, 0};
    for (int k = 0; k < 4; k++)
        gap = tl_madd3(gap, near->weight[k], tl_sub3(c->motion.pos[p->node[k]], c->motion.pos[p->node[0]]));
    return tl_dot3(near->normal, gap);
}

void contact_measure_pair(tl_contacts *c, int32_t i)
{
    c->cache.near[i] = contact_proximity(c, &c->cache.pair[i], c->motion.pos, c->motion.progress);
    c->cache.fade[i] = (float)fade_of(c, &c->cache.pair[i]);
}

tl_status contact_reserve_pairs(tl_contacts *c, int64_t count, tl_error *err)
{
    if (CONTACT_GROW(c, c->cache.pair, c->cache.pair_cap, count) &&
        CONTACT_GROW(c, c->cache.fade, c->cache.fade_cap, count) &&
        CONTACT_GROW(c, c->cache.near, c->cache.near_cap, count))
        return TL_OK;
    return tl_fail_memory(err, "the contacts");
}

static void measure_chunk(void *arg, int32_t begin, int32_t end)
{
    tl_contacts *c = arg;
    for (int32_t i = begin; i < end; i++) {
        if (c->zones.frozen && c->cache.pair[i].kind != PAIR_PLANE)
            c->cache.near[i].distance = contact_distance(c, i, c->motion.progress);
        else if (!c->cache.complete || !contact_is_measured(c, &c->cache.pair[i], NULL))
            contact_measure_pair(c, i);
    }
}

void contact_measure(tl_contacts *c, tl_workers *workers)
{
    tl_parallel_for(workers, c->cache.count, PAIRS_PER_CHUNK, measure_chunk, c);
    memcpy(c->cache.measured, c->motion.pos, (size_t)c->node_count * sizeof *c->cache.measured);
    c->cache.measured_progress = c->motion.progress;
}

void contact_measure_once(tl_contacts *c, tl_workers *workers)
{
    if (!c->cache.measured_now) contact_measure(c, workers);
    c->cache.measured_now = false;
}
