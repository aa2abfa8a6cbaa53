// pattern/refine_smooth.c: inner points move to the middle of their surroundings, where that makes triangles no worse.

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/predicates.h"
#include "pattern/polyline.h"
#include "pattern/refine.h"

enum { RING_MAX = 64 };

// The vertices around v in order; -1: on the border, or more than RING_MAX.
static int32_t ring_of(const tl_cdt *c, int32_t v, int32_t ring[RING_MAX])
{
    int32_t count = 0, t = c->vert_tri[v];
    const int32_t first = t;
    do {
        const tl_cdt_tri *tri = &c->tri[t];
        int32_t i = 0;
        while (tri->v[i] != v) i++;
        if (count == RING_MAX) return -1;
        ring[count++] = tri->v[tl_next3(i)];
        t = tri->n[tl_next3(i)];
    } while (t >= 0 && t != first);
    return t < 0 ? -1 : count;
}

// Sine of the smallest angle of a triangle; -1: turned over.
static double least_sine(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    if (tl_orient2d(a, b, c) <= 0) return -1;
    const tl_vec2 ab = tl_sub2(b, a), bc = tl_sub2(c, b), ca = tl_sub2(a, c);
    double e[3] = {tl_dot2(ab, ab), tl_dot2(bc, bc), tl_dot2(ca, ca)};
    for (int k = 0; k < 2; k++)
        if (e[k] > e[2]) {
            const double t = e[2];
            e[2] = e[k], e[k] = t;
        }
    const double longer = fmax(e[0], e[1]);  // the two longest edges span the smallest angle
    return tl_cross2(ab, tl_sub2(c, a)) / sqrt(e[2] * longer);
}

static double ring_sine(const tl_cdt *c, const int32_t *ring, int32_t count, tl_vec2 x)
{
    double least = 1;
    for (int32_t k = 0; k < count; k++)
        least = fmin(least, least_sine(x, c->point[ring[k]], c->point[ring[(k + 1) % count]]));
    return least;
}

// Middle of the ring: the mean of the centroids of its triangles, each weighted by its area over that wanted there.
static tl_vec2 middle_of(const tl_refiner *f, const tl_cdt *c, const int32_t *ring, int32_t count, tl_vec2 x)
{
    tl_vec2 sum = {0, 0};
    double weights = 0;
    for (int32_t k = 0; k < count; k++) {
        const tl_vec2 a = c->point[ring[k]], b = c->point[ring[(k + 1) % count]];
        const tl_vec2 centre = tl_scale2(tl_add2(tl_add2(a, b), x), 1.0 / 3);
        double w = fabs(tl_cross2(tl_sub2(a, x), tl_sub2(b, x)));
        if (f->def->size) {
            const double size = tl_refine_size(f->def, centre);
            w /= size * size * size;
        }
        sum = tl_add2(sum, tl_scale2(centre, w));
        weights += w;
    }
    return weights > 0 ? tl_scale2(sum, 1 / weights) : x;
}

tl_status tl_refine_smooth(tl_refiner *f, int32_t r, tl_error *err)
{
    tl_cdt *c = &f->region[r].cdt;
    uint8_t *held = TL_CALLOC(&c->alloc, uint8_t, c->vert_count);
    if (!held) return tl_fail_memory(err, "smoothing");
    for (int32_t s = 0; s < c->seg_count; s++)
        if (c->seg[s].a >= 0) held[c->seg[s].a] = held[c->seg[s].b] = 1;
    for (int32_t i = 0; i < f->region[r].input->point_count; i++)
        if (f->region[r].at[i] >= 0) held[f->region[r].at[i]] = 1;
    // Angles are let down to a little above the wanted one if that evens out the rest.
    const double enough = fmin(1.15 * f->sine, 0.55);
    bool memory = true;
    for (int32_t sweep = 0; sweep < f->def->smoothing && memory; sweep++) {
        for (int32_t v = 0; v < c->vert_count; v++) {
            int32_t ring[RING_MAX];
            if (held[v] || c->vert_tri[v] < 0) continue;
            const int32_t count = ring_of(c, v, ring);
            if (count < 3) continue;
            const tl_vec2 x = middle_of(f, c, ring, count, c->point[v]);
            const double before = ring_sine(c, ring, count, c->point[v]), after = ring_sine(c, ring, count, x);
            if (after >= fmin(before, enough) && after > 0) c->point[v] = x;
        }
        memory = tl_cdt_legalise_all(c);
    }
    TL_FREE(&c->alloc, held, c->vert_count);
    return memory ? TL_OK : tl_fail_memory(err, "smoothing");
}
