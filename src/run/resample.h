// run/resample.h: frames with changing meshes on one mesh for all, point by point of the cloth.
//
// The mesh for all is one of the frames', halved a few times. Its nodes go where the same point of the cloth is at
// each frame: on the frame's own faces, so their distance from the frame is zero, and the error is that of the edges
// between them. It is measured where the frame's nodes and the middles of its edges are.
#pragma once
#include "run/places.h"

/// Every face into four, `levels` times; seams stay closed. `out` is new.
tl_status tl_obj_halve(const tl_allocator *alloc, const tl_obj *mesh, int32_t levels, tl_obj *out, tl_error *err);

/// Distances between points of the cloth in a frame and resampled [m].
typedef struct tl_resample_error {
    int64_t count;
    double sum2, largest;
    double edge_sum;  ///< of the frames' edges in the material
    int64_t edge_count;
    double outside;  ///< a point of the fixed mesh that the frame's outline does not reach: the farthest [m]
} tl_resample_error;
double tl_resample_rms(const tl_resample_error *error);
double tl_resample_mean_edge(const tl_resample_error *error);

typedef struct tl_resampler tl_resampler;

/// Borrows `fixed`.
tl_status tl_resampler_create(const tl_allocator *alloc, const tl_obj *fixed, tl_resampler **out, tl_error *err);
void tl_resampler_destroy(tl_resampler *resampler);

/// Numbers of nodes that go along: `count` arrays of the frame's nodes in, of the fixed mesh's nodes out.
typedef struct tl_carried {
    const float *const *in;
    float *const *out;
    int32_t count;
} tl_carried;

/// Positions of the fixed mesh's nodes at a frame; error is added up. `places` are the frame's; panel i of the fixed
/// mesh is its panel frame_of[i].
tl_status tl_resample(const tl_resampler *resampler, const tl_places *places, const int32_t *frame_of, tl_vec3 *pos,
                      const tl_carried *carried, tl_resample_error *error, tl_error *err);
