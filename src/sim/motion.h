// sim/motion.h: smooth paths through keys, rigid poses, and wind that varies with time.
#pragma once
#include "math/vec3.h"
#include "toile/sim.h"

/// Value at `time` of the smooth curve through `count` >= 1 keys, constant outside. `keys` are `stride` bytes apart,
/// each starting with its time; the value is the tl_vec3 `offset` bytes into it. Never overshoots a key: cubic
/// Hermite with the tangents of Fritsch & Butland 1984, component by component, at rest at both ends.
tl_vec3 tl_curve_at(const void *keys, int32_t count, size_t stride, size_t offset, double time);

typedef struct tl_pose_key {
    double time;
    tl_vec3 translate;
    tl_vec3 turn;  ///< rotation vector: axis times angle [rad]
} tl_pose_key;

/// Where the point that was at `p` is at `time`: turned about `pivot`, then moved. The rotation vector is what is
/// interpolated, so several turns about one axis stay several turns.
tl_vec3 tl_pose_apply(const tl_pose_key *keys, int32_t count, double time, tl_vec3 pivot, tl_vec3 p);

/// Wind at `time`: the keys or the constant, plus gusts as a function of (seed, time) alone.
tl_vec3 tl_wind_at(const tl_air_def *air, uint64_t seed, double time);
