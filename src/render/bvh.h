// render/bvh.h: a tree of boxes over triangles: nearest hit, any hit, and every triangle near a box.
//
// Our own rather than Embree's: it needs no package, and its hits are the same bits on every machine and for
// any number of threads, which Embree's per-processor kernels do not promise. docs/rendering.md has timings.
#pragma once
#include <stdbool.h>

#include "render/vecf.h"

typedef struct tl_ray_bvh tl_ray_bvh;

typedef struct tl_ray {
    tl_vec3f org, dir;  ///< `dir` need not be unit; t counts in its length
    float tmin, tmax;
} tl_ray;

typedef struct tl_hit {
    float t, u, v;  ///< point = (1-u-v) p0 + u p1 + v p2
    int32_t tri;    ///< -1: nothing hit
} tl_hit;

/// Builds over `tri_count` triangles (copied). Triangles with a corner that is not finite are left out.
tl_status tl_ray_bvh_create(const tl_allocator *alloc, const tl_vec3f *pos, const int32_t (*tri)[3], int32_t tri_count,
                            tl_ray_bvh **out, tl_error *err);
void tl_ray_bvh_destroy(tl_ray_bvh *bvh);  ///< NULL is fine

/// The nearest hit in [tmin, tmax]; both sides of a triangle count; of equally near ones the lowest index. `hint` (may
/// be NULL; 0 to begin with) remembers what was hit and is tried first: it saves time for rays alike and changes no
/// answer.
bool tl_ray_bvh_hit(const tl_ray_bvh *bvh, const tl_ray *ray, int32_t *hint, tl_hit *out);

/// A hit in [tmin, tmax], if there is one: a near one, mostly the nearest. Cheaper; for light that bounces.
bool tl_ray_bvh_first(const tl_ray_bvh *bvh, const tl_ray *ray, tl_hit *out);

/// Whether anything lies in [tmin, tmax]. `hint` (may be NULL; 0 to begin with) remembers where the last ray was
/// blocked and is tried first: it saves time for rays alike and changes no answer.
bool tl_ray_bvh_blocked(const tl_ray_bvh *bvh, const tl_ray *ray, int32_t *hint);

/// Calls `visit` with every triangle whose box meets [lo, hi] (and some near ones), in a fixed order.
void tl_ray_bvh_overlap(const tl_ray_bvh *bvh, tl_vec3f lo, tl_vec3f hi, void (*visit)(void *arg, int32_t tri),
                        void *arg);
