// bench/bench_ccd_make.c: collision queries with a truth known by construction, for those without the
// published data.
//
// Hits are built backwards. All numbers are small multiples of powers of two, so nothing is rounded: features
// that touch at a time T = k / 64 by choice of weights, moved from there with velocities V: x0 = x - T V, x1
// = x + (1 - T) V. The first contact is at T or before, so a later answer is wrong. Misses keep the features
// on two sides of a plane g x = const at both ends of the step, and what is linear in between stays there.

#include "bench_ccd.h"

#include <string.h>

typedef struct random_source {
    uint64_t state;
} random_source;

// Uniform in [low, high]; the 64-bit mixer of Steele, Lea and Flood 2014 (SplitMix), which is in the public
// domain.
static int32_t pick(random_source *r, int32_t low, int32_t high)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return low + (int32_t)(z % (uint64_t)((int64_t)high - low + 1));
}

static tl_vec3 pick3(random_source *r, int32_t limit)
{
    const int32_t x = pick(r, -limit, limit), y = pick(r, -limit, limit), z = pick(r, -limit, limit);
    return (tl_vec3){x, y, z};
}

static tl_vec3 madd(tl_vec3 a, double s, tl_vec3 b) { return (tl_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static tl_vec3 sub(tl_vec3 a, tl_vec3 b) { return madd(a, -1, b); }

typedef enum family { INSIDE, BORDER, FLAT_HIT, AT_ENDS, APART, TIGHT, FLAT_MISS, FAMILIES } family;
static const char *const family_name[FAMILIES] = {"inside",     "on a border", "in one plane", "at begin or end",
                                                  "well apart", "narrow gap",  "gap in plane"};

enum { UNIT = 64, COARSE = 1 << 10 };

// Four points that touch: weights are multiples of 1/64, on the border some of them 0.
static void touch(random_source *r, bool edges, bool border, bool flat, tl_vec3 x[4])
{
    for (int k = 0; k < 4; k++) {
        x[k] = pick3(r, COARSE);
        if (flat) x[k].z = 0;
    }
    int32_t s = border ? pick(r, 0, 1) * UNIT : pick(r, 1, UNIT - 1);
    int32_t t = border ? pick(r, 0, UNIT) : pick(r, 1, UNIT - 1);
    if (edges) {  // move the second edge so that its point at t lies on the first at s; parallel now and then
        if (pick(r, 0, border ? 3 : 63) == 0) x[3] = madd(x[2], pick(r, -2, 2), sub(x[1], x[0]));
        const tl_vec3 on_a = madd(x[0], (double)s / UNIT, sub(x[1], x[0])),
                      on_b = madd(x[2], (double)t / UNIT, sub(x[3], x[2]));
        const tl_vec3 shift = sub(on_a, on_b);
        x[2] = madd(x[2], 1, shift), x[3] = madd(x[3], 1, shift);
    } else {
        if (s + t > UNIT) s = UNIT - s, t = UNIT - t;
        x[0] = madd(madd(x[1], (double)s / UNIT, sub(x[2], x[1])), (double)t / UNIT, sub(x[3], x[1]));
    }
}

static void make_hit(random_source *r, family kind, bool edges, ccd_query *query)
{
    const bool flat = kind == FLAT_HIT;
    tl_vec3 x[4];
    touch(r, edges, kind == BORDER, flat, x);
    const int32_t k = kind == AT_ENDS ? UNIT * pick(r, 0, 1) : pick(r, 1, UNIT - 1);
    for (int c = 0; c < 4; c++) {
        tl_vec3 v = pick3(r, COARSE);
        if (flat) v.z = 0;
        query->x0[c] = madd(x[c], -(double)k / UNIT, v);
        query->x1[c] = madd(x[c], (double)(UNIT - k) / UNIT, v);
    }
    query->hit = true;
    query->toi = (long double)k / UNIT;
}

// One feature has g x >= gap, the other g x <= 0, at both ends.
static void make_miss(random_source *r, family kind, bool edges, ccd_query *query)
{
    const bool flat = kind == FLAT_MISS;
    tl_vec3 g;
    do {
        g = pick3(r, 3);
        if (flat) g.z = 0;
    } while (g.x == 0 && g.y == 0 && g.z == 0);
    const int32_t limit = kind == APART ? COARSE : 1 << 20;  // the gap is at least 1 unit: 1e-6 of the size
    for (int c = 0; c < 8; c++) {
        const bool first = c % 4 < (edges ? 2 : 1);
        const double low = kind == APART ? COARSE / 4 : 1;
        tl_vec3 x;
        double side;
        do {
            x = pick3(r, limit);
            if (flat) x.z = 0;
            if (kind != APART) {  // towards the plane
                const double gg = g.x * g.x + g.y * g.y + g.z * g.z, gx = g.x * x.x + g.y * x.y + g.z * x.z;
                x = madd(x, (first ? 1 : 0) - (double)(int64_t)(gx / gg), g);
            }
            side = g.x * x.x + g.y * x.y + g.z * x.z;
        } while (first ? side < low : side > 0);
        (c < 4 ? query->x0 : query->x1)[c % 4] = x;
    }
}

tl_status bench_ccd_make(int32_t per_family, ccd_sets *out, tl_error *err)
{
    *out = (ccd_sets){0};
    for (int kind = 0; kind < FAMILIES; kind++)
        for (int edges = 0; edges < 2; edges++) {
            random_source r = {(uint64_t)(2 * kind + edges + 1) << 32};
            ccd_set *set = bench_ccd_add(out, family_name[kind], edges, per_family);
            if (!set) {
                bench_ccd_free(out);
                *err = (tl_error){TL_NO_MEMORY, "bench: out of memory"};
                return TL_NO_MEMORY;
            }
            for (int32_t q = 0; q < per_family; q++) {
                if (kind < APART)
                    make_hit(&r, (family)kind, edges, &set->queries[q]);
                else
                    make_miss(&r, (family)kind, edges, &set->queries[q]);
            }
        }
    return TL_OK;
}
