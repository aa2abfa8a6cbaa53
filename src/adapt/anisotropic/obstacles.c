// adapt/anisotropic/obstacles.c: the nearest obstacle point of every node, and the plane through it across the way to
// the node.
//
// The normal is the direction from the nearest point to the node: on a smooth surface that is the surface normal, at
// edges and corners of the mesh it is one of the normals of the rounded shape, and it never points the wrong way for
// surfaces that are turned inside out. A node in the surface itself, or behind a plane, gets the gap for its distance.

#include "adapt/anisotropic/obstacles.h"

#include "base/fail.h"
#include "detect/nearest.h"
#include "math/vec3.h"

enum {
    NODES_PER_CHUNK = 256,  // a constant: results must not depend on the worker count
    GROUP = 64,             // obstacles that are looked at in one go
};

#define ROUNDING 1e-15  // part of a distance by which its square may seem larger

typedef struct planes_job {
    const tl_mesh *mesh;
    const tl_obstacle *obstacles;
    int32_t count;
    double reach, gap;
    tl_obstacle_plane *out;
} planes_job;

/// An obstacle as a chunk of nodes sees it.
typedef struct candidate {
    const tl_obstacle *obstacle;
    tl_vec3 lo, hi;  // a box around it, if it has a tree
    int32_t hint;    // the face found for the node before
} candidate;

typedef struct nearest {
    tl_obstacle_plane plane;
    int32_t index;
} nearest;

static double outside(double x, double lo, double hi) { return x < lo ? lo - x : x > hi ? x - hi : 0; }

static double outside_box2(tl_vec3 p, tl_vec3 lo, tl_vec3 hi)
{
    const double x = outside(p.x, lo.x, hi.x), y = outside(p.y, lo.y, hi.y), z = outside(p.z, lo.z, hi.z);
    return x * x + y * y + z * z;
}

// Of equally near obstacles the first counts, in whatever order they are tried.
static void take(nearest *best, int32_t index, tl_vec3 normal, double distance)
{
    if (distance > best->plane.distance || (distance == best->plane.distance && index >= best->index)) return;
    *best = (nearest){{normal, distance}, index};
}

// Looks a little farther than `best` goes, so that rounding hides nothing that is as near.
static void try_obstacle(candidate *c, int32_t index, tl_vec3 p, double reach, nearest *best)
{
    const tl_obstacle *o = c->obstacle;
    const double near = best->plane.distance * (1 + ROUNDING), limit = near < reach ? near : reach;
    if (!o->tree) {
        const double d = tl_dot3(tl_sub3(p, o->point), o->normal), positive = d > 0 ? d : 0;
        if (positive <= limit) take(best, index, o->normal, positive);
        return;
    }
    if (outside_box2(p, c->lo, c->hi) > limit * limit) return;
    const tl_nearest_spot spot = tl_bvh_nearest(o->tree, p, limit, c->hint);
    if (spot.face < 0) return;
    c->hint = spot.face;
    take(best, index, tl_unit3_or(spot.offset, (tl_vec3){0}), spot.distance);
}

// Tries the obstacles of one group, the one that was nearest to the node before at first: then the others are often too
// far.
static void try_group(candidate *group, int32_t count, int32_t first, tl_vec3 p, double reach, int32_t *last,
                      nearest *best)
{
    const int32_t at = *last - first;
    if (at >= 0 && at < count) try_obstacle(&group[at], *last, p, reach, best);
    for (int32_t k = 0; k < count; k++)
        if (k != at) try_obstacle(&group[k], first + k, p, reach, best);
}

static void planes_chunk(void *arg, int32_t begin, int32_t end)
{
    const planes_job *job = arg;
    for (int32_t n = begin; n < end; n++) job->out[n] = (tl_obstacle_plane){{0}, (double)INFINITY};
    for (int32_t first = 0; first < job->count; first += GROUP) {
        candidate group[GROUP];
        const int32_t count = job->count - first < GROUP ? job->count - first : GROUP;
        for (int32_t k = 0; k < count; k++) {
            group[k] = (candidate){.obstacle = &job->obstacles[first + k], .hint = -1};
            if (group[k].obstacle->tree) tl_bvh_extent(group[k].obstacle->tree, &group[k].lo, &group[k].hi);
        }
        int32_t last = -1;
        for (int32_t n = begin; n < end; n++) {
            if (!tl_alive(job->mesh, TL_NODES, n)) continue;
            nearest best = {job->out[n], -1};  // what an earlier group has found wins where it is as near
            try_group(group, count, first, job->mesh->pos[n], job->reach, &last, &best);
            if (best.index >= 0) last = best.index;
            job->out[n] = best.plane;
        }
    }
    for (int32_t n = begin; n < end; n++)
        if (job->out[n].distance < job->gap) job->out[n].distance = job->gap;
}

tl_status tl_obstacle_planes(const tl_mesh *mesh, const tl_obstacle *obstacles, int32_t count, double reach, double gap,
                             tl_workers *workers, tl_obstacle_plane *out, tl_error *err)
{
    if (!(reach > 0)) return tl_fail(err, TL_BAD_ARG, "obstacle planes: reach %g m, must be > 0", reach);
    if (!(gap > 0)) return tl_fail(err, TL_BAD_ARG, "obstacle planes: gap %g m, must be > 0", gap);
    if (!out || (count > 0 && !obstacles)) return tl_fail(err, TL_BAD_ARG, "obstacle planes: obstacles or out is NULL");
    planes_job job = {mesh, obstacles, count, reach, gap, out};
    tl_parallel_for(workers, mesh->slots[TL_NODES].count, NODES_PER_CHUNK, planes_chunk, &job);
    return TL_OK;
}
