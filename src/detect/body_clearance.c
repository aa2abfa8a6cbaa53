// detect/body_clearance.c: distances of a few triangles to bodies.

#include "detect/body_clearance.h"

#include <math.h>

#include "detect/distance.h"
#include "detect/intersect.h"
#include "detect/nearest.h"
#include "math/predicates.h"

enum { MOST_FACES = 512, MOST_OWN = 16 };

// Distances of features do not show an edge that passes through the inside of a face, so that is tested first.
static double triangle_distance(const tl_vec3 a[3], const tl_vec3 b[3])
{
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (tl_segment_meets_triangle(&a[i], &a[j], &b[0], &b[1], &b[2]) ||
            tl_segment_meets_triangle(&b[i], &b[j], &a[0], &a[1], &a[2]))
            return 0;
    }
    for (int i = 0; i < 3; i++) {
        least = fmin(least, tl_nearest_vf(a[i], b[0], b[1], b[2]).distance);
        least = fmin(least, tl_nearest_vf(b[i], a[0], a[1], a[2]).distance);
        for (int j = 0; j < 3; j++)
            least = fmin(least, tl_nearest_ee(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]).distance);
    }
    return least;
}

// Are two triangles farther apart than `reach` along some axis?
static bool far_apart(const tl_vec3 a[3], const tl_vec3 b[3], double reach)
{
    for (int d = 0; d < 3; d++) {
        double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 3; k++) {
            const double p = (&a[k].x)[d], q = (&b[k].x)[d];
            lo[0] = p < lo[0] ? p : lo[0], hi[0] = p > hi[0] ? p : hi[0];
            lo[1] = q < lo[1] ? q : lo[1], hi[1] = q > hi[1] ? q : hi[1];
        }
        if (lo[0] - hi[1] > reach || lo[1] - hi[0] > reach) return true;
    }
    return false;
}

#define ROUNDING 1e-12  // of coordinates: well above what a product of vectors is off

enum { AXES = 5 };

/// Candidate separating axes of a triangle: in-plane normals of its sides, its own normal and the opposite; and its
/// extent along them, rounding included.
typedef struct axes {
    tl_vec3 axis[AXES];
    double front[AXES];
} axes;

static void set_axes(axes *o, const tl_vec3 x[3])
{
    const tl_vec3 none = {0, 0, 0};
    const tl_vec3 u = tl_sub3(x[1], x[0]), v = tl_sub3(x[2], x[1]), w = tl_sub3(x[0], x[2]),
                  n = tl_unit3_or(tl_cross3(u, v), none);
    const tl_vec3 axis[AXES] = {tl_unit3_or(tl_cross3(u, n), none), tl_unit3_or(tl_cross3(v, n), none),
                                tl_unit3_or(tl_cross3(w, n), none), n, tl_mul3(-1, n)};
    for (int k = 0; k < AXES; k++) {
        o->axis[k] = axis[k], o->front[k] = -INFINITY;
        for (int i = 0; i < 3; i++) {
            const double reach = tl_dot3(axis[k], x[i]) + ROUNDING * (fabs(x[i].x) + fabs(x[i].y) + fabs(x[i].z));
            o->front[k] = reach > o->front[k] ? reach : o->front[k];
        }
    }
}

// Is a triangle further than `reach` beyond one of the axes?
static bool lies_beyond(const axes *o, const tl_vec3 b[3], double reach)
{
    for (int k = 0; k < AXES; k++) {
        const double far = o->front[k] + reach;
        if (tl_dot3(o->axis[k], b[0]) > far && tl_dot3(o->axis[k], b[1]) > far && tl_dot3(o->axis[k], b[2]) > far)
            return true;
    }
    return false;
}

// Is p in the closed tetrahedron? A flat one contains nothing.
static bool inside(const tl_vec3 t[4], const tl_vec3 *p)
{
    for (int d = 0; d < 3; d++) {
        const double a = (&t[0].x)[d], b = (&t[1].x)[d], c = (&t[2].x)[d], e = (&t[3].x)[d], x = (&p->x)[d];
        if ((x < a && x < b && x < c && x < e) || (x > a && x > b && x > c && x > e)) return false;
    }
    const int whole = tl_orient3d(&t[0], &t[1], &t[2], &t[3]);
    if (whole == 0) return false;
    return tl_orient3d(p, &t[1], &t[2], &t[3]) != -whole && tl_orient3d(&t[0], p, &t[2], &t[3]) != -whole &&
           tl_orient3d(&t[0], &t[1], p, &t[3]) != -whole && tl_orient3d(&t[0], &t[1], &t[2], p) != -whole;
}

static double from_plane(const tl_guard_body *body, const tl_vec3 (*triangle)[3], int32_t count)
{
    double least = INFINITY;
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) least = fmin(least, tl_dot3(body->normal, tl_sub3(triangle[i][k], body->point)));
    return fmax(least, 0);
}

static bool overlaps(const tl_vec3 b[3], tl_vec3 lo, tl_vec3 hi)
{
    tl_vec3 low = b[0], high = b[0];
    for (int k = 1; k < 3; k++) {
        low = (tl_vec3){b[k].x < low.x ? b[k].x : low.x, b[k].y < low.y ? b[k].y : low.y,
                        b[k].z < low.z ? b[k].z : low.z};
        high = (tl_vec3){b[k].x > high.x ? b[k].x : high.x, b[k].y > high.y ? b[k].y : high.y,
                         b[k].z > high.z ? b[k].z : high.z};
    }
    return low.x <= hi.x && low.y <= hi.y && low.z <= hi.z && high.x >= lo.x && high.y >= lo.y && high.z >= lo.z;
}

static void widen(tl_vec3 *lo, tl_vec3 *hi, tl_vec3 p)
{
    *lo = (tl_vec3){p.x < lo->x ? p.x : lo->x, p.y < lo->y ? p.y : lo->y,
                    p.z < lo->z ? p.z : lo->z};  // fmin and fmax are calls
    *hi = (tl_vec3){p.x > hi->x ? p.x : hi->x, p.y > hi->y ? p.y : hi->y, p.z > hi->z ? p.z : hi->z};
}

// Distance to a surface, at most `reach`; negative if it is intersected or partly swept over.
static double from_surface(const tl_bvh *tree, const tl_vec3 (*triangle)[3], int32_t count, const tl_vec3 (*swept)[4],
                           int32_t swept_count, double reach)
{
    tl_vec3 lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) widen(&lo, &hi, triangle[i][k]);
    for (int32_t i = 0; i < swept_count; i++)
        for (int k = 0; k < 4; k++) widen(&lo, &hi, swept[i][k]);
    const tl_vec3 margin = {reach, reach, reach};
    int32_t face[MOST_FACES];
    lo = tl_sub3(lo, margin), hi = tl_add3(hi, margin);
    const int32_t found = tl_bvh_around(tree, lo, hi, face, MOST_FACES);
    if (found > MOST_FACES) return -1;
    const tl_surface *surface = tl_bvh_surface(tree);
    const tl_vec3 *x = tl_bvh_positions(tree);
    axes around[MOST_OWN];
    for (int32_t j = 0; j < count && j < MOST_OWN && found > 0; j++) set_axes(&around[j], triangle[j]);
    double least = reach;
    for (int32_t i = 0; i < found; i++) {
        tl_vec3 b[3];
        for (int k = 0; k < 3; k++) b[k] = x[surface->face[face[i]][k]];
        if (!overlaps(b, lo, hi)) continue;
        for (int32_t j = 0; j < count; j++)
            if (!far_apart(triangle[j], b, least) && !(j < MOST_OWN && lies_beyond(&around[j], b, least)))
                least = fmin(least, triangle_distance(triangle[j], b));
        for (int32_t j = 0; j < swept_count; j++)
            for (int k = 0; k < 3; k++)
                if (inside(swept[j], &b[k])) return -1;
    }
    return least;
}

double tl_guard_clear(const tl_guard *guard, const tl_vec3 (*triangle)[3], int32_t count, const tl_vec3 (*swept)[4],
                      int32_t swept_count, double before)
{
    double least = guard->reach;
    for (int32_t b = 0; b < guard->count; b++) {
        const tl_guard_body *body = &guard->bodies[b];
        const double reach = fmin(guard->reach, body->keep);
        const double d = body->tree ? from_surface(body->tree, triangle, count, swept, swept_count, reach)
                                    : from_plane(body, triangle, count);
        if (!(d > 0) || d < fmin(before, reach)) return -1;
        least = fmin(least, d);
    }
    return least;
}
