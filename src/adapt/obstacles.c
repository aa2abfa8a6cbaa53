// adapt/obstacles.c: the nearest obstacle point of every node, and the plane through it across the way to the node.
//
// The normal is the direction from the nearest point to the node: on a smooth surface that is the surface normal, at edges and
// corners of the mesh it is one of the normals of the rounded shape, and it never points the wrong way for surfaces that are
// turned inside out. A node in the surface itself, or behind a plane, gets the gap for its distance.

#include "adapt/obstacles.h"

#include "base/fail.h"
#include "collide/nearest.h"
#include "math/vec3.h"

enum {
    NODES_PER_CHUNK = 256,  // a constant: results must not depend on the worker count
    HINTS = 32,             // obstacles that keep a hint of their own
};

typedef struct planes_job {
    const tl_mesh *mesh;
    const tl_obstacle *obstacles;
    int32_t count;
    double reach, gap;
    tl_obstacle_plane *out;
} planes_job;

// Looks no farther than `best` goes; the first of equally near obstacles counts. *hint: the face found for the node before.
static void try_obstacle(const tl_obstacle *o, tl_vec3 p, double reach, int32_t *hint, tl_obstacle_plane *best)
{
    const double limit = best->distance < reach ? best->distance : reach;
    if (!o->tree) {
        const double d = tl_dot3(tl_sub3(p, o->point), o->normal), positive = d > 0 ? d : 0;
        if (positive <= limit && positive < best->distance) *best = (tl_obstacle_plane){o->normal, positive};
        return;
    }
    const tl_nearest_spot spot = tl_bvh_nearest(o->tree, p, limit, *hint);
    if (spot.face >= 0) *hint = spot.face;
    if (spot.face >= 0 && spot.distance < best->distance)
        *best = (tl_obstacle_plane){tl_unit3_or(spot.offset, (tl_vec3){0}), spot.distance};
}

static void planes_chunk(void *arg, int32_t begin, int32_t end)
{
    const planes_job *job = arg;
    int32_t hint[HINTS];
    for (int k = 0; k < HINTS; k++) hint[k] = -1;
    for (int32_t n = begin; n < end; n++) {
        tl_obstacle_plane best = {{0}, (double)INFINITY};
        if (tl_alive(job->mesh, TL_NODES, n))
            for (int32_t k = 0; k < job->count; k++)
                try_obstacle(&job->obstacles[k], job->mesh->pos[n], job->reach, &hint[k % HINTS], &best);
        if (best.distance < job->gap) best.distance = job->gap;
        job->out[n] = best;
    }
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
