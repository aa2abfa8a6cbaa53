// sim/motion.h: smooth paths through keys, rigid poses, and wind that varies with time.
#pragma once
#include <stdbool.h>

#include "physics/eddies.h"
#include "math/vec3.h"
#include "toile/sim.h"

/// Value at `time` of the smooth curve through `count` >= 1 keys, constant outside. `keys` are `stride` bytes apart,
/// each starting with its time; the value is the tl_vec3 `offset` bytes into it. Never overshoots a key: cubic
/// Hermite with the tangents of Fritsch & Butland 1984, component by component, at rest at both ends.
tl_vec3 tl_curve_at(const void *keys, int32_t count, size_t stride, size_t offset, double time);

/// A key made ready for its curve. A smooth one turns by a rotation vector (axis times angle [rad]) and `w` is 0, a
/// cubic one by the quaternion w, turn. No gaps: its bytes are hashed.
typedef struct tl_pose_value {
    tl_vec3 translate, turn;
    double w, scale;
} tl_pose_value;
typedef struct tl_pose_key {
    double time;
    tl_pose_value value;
    tl_pose_value slope;  ///< of a cubic curve: its derivative here
    uint64_t curve;       ///< tl_curve, the same in all keys
} tl_pose_key;

/// Are `count` keys finite, in order of time and without a turn about a zero axis? `what` begins the message
/// ("handle").
tl_status tl_motion_check(const char *what, const tl_motion_key *keys, int32_t count, tl_error *err);

/// Keys that have passed tl_motion_check as pose keys.
void tl_motion_compile(const tl_motion_key *keys, int32_t count, tl_curve curve, tl_pose_key *out);

/// Is the pose the same at all times?
bool tl_motion_is_still(const tl_pose_key *keys, int32_t count);

/// A scale, a rotation and a move, ready for many points.
typedef struct tl_pose {
    tl_vec3 axis;
    double angle, cos, sin;
    tl_vec3 move;
    double scale;
} tl_pose;

/// The pose at `time`. A smooth curve goes through rotation vectors, so several turns about one axis stay several
/// turns.
tl_pose tl_pose_at(const tl_pose_key *keys, int32_t count, double time);

/// Where a direction, and the point that was at `p`, go: scaled and turned (about `pivot`), then moved.
tl_vec3 tl_pose_turn(const tl_pose *pose, tl_vec3 direction);
tl_vec3 tl_pose_move(const tl_pose *pose, tl_vec3 pivot, tl_vec3 p);

/// Where the point that a pose brought to `p` came from.
tl_vec3 tl_pose_back(const tl_pose *pose, tl_vec3 pivot, tl_vec3 p);

/// The same for one point at one time.
tl_vec3 tl_pose_apply(const tl_pose_key *keys, int32_t count, double time, tl_vec3 pivot, tl_vec3 p);

/// Wind at `time`: the keys or the constant, plus gusts as a function of (seed, time) alone.
tl_vec3 tl_wind_at(const tl_air_def *air, uint64_t seed, double time);

/// Turbulence at `time`, a function of (seed, time) alone. False: none.
bool tl_wind_eddies(const tl_air_def *air, uint64_t seed, double time, tl_eddies *out);
