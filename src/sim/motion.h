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

/// Are `count` keys finite, in order of time and without a turn about a zero axis? `what` begins the message ("handle").
tl_status tl_motion_check(const char *what, const tl_motion_key *keys, int32_t count, tl_error *err);

/// Keys that have passed tl_motion_check as pose keys.
void tl_motion_compile(const tl_motion_key *keys, int32_t count, tl_pose_key *out);

/// A rotation and a move, ready for many points.
typedef struct tl_pose { tl_vec3 axis; double angle, cos, sin; tl_vec3 move; } tl_pose;

/// The pose at `time`. The rotation vector is what is interpolated, so several turns about one axis stay several turns.
tl_pose tl_pose_at(const tl_pose_key *keys, int32_t count, double time);

/// Where a direction, and the point that was at `p`, go: turned (about `pivot`), then moved.
tl_vec3 tl_pose_turn(const tl_pose *pose, tl_vec3 direction);
tl_vec3 tl_pose_move(const tl_pose *pose, tl_vec3 pivot, tl_vec3 p);

/// The same for one point at one time.
tl_vec3 tl_pose_apply(const tl_pose_key *keys, int32_t count, double time, tl_vec3 pivot, tl_vec3 p);

/// Wind at `time`: the keys or the constant, plus gusts as a function of (seed, time) alone.
tl_vec3 tl_wind_at(const tl_air_def *air, uint64_t seed, double time);
