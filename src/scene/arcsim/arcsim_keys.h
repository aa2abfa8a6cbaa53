// scene/arcsim/arcsim_keys.h: the keys of ARCSim's scene files and the structs that they fill.
#pragma once
#include "scene/scene_keys.h"

/// Absent numbers read NAN, absent whole numbers keep what was there before.
typedef struct tl_arc_wind {
    double density, drag;
    tl_vec3 velocity;
} tl_arc_wind;
typedef struct tl_arc_magic {
    double handle_stiffness, repulsion_thickness, rib_stiffening;
    int32_t combine_tensors;
} tl_arc_magic;

typedef struct tl_arc_scene {
    double frame_time, end_time, timestep, duration;
    int64_t frame_steps, end_frame, save_frames;
    tl_vec3 gravity;
    tl_arc_wind wind;
    double friction, obs_friction;
    tl_arc_magic magic;
} tl_arc_scene;

typedef struct tl_arc_cloth {
    const char *mesh;
    tl_transform_file transform;
    tl_velocity_file velocity;
} tl_arc_cloth;

typedef struct tl_arc_material {
    const char *data;
    double density_mult, stretching_mult, bending_mult, thicken, damping;
    tl_vec2 strain_limits;
} tl_arc_material;

typedef struct tl_arc_remeshing {
    double refine_angle, refine_compression, refine_velocity, aspect_min;
    tl_vec2 size;
} tl_arc_remeshing;

typedef struct tl_arc_handle {
    const char *type;
    int64_t cloth, label, motion;
    double start_time, end_time, fade_time, circumference;
    tl_vec2 u;
    tl_vec3 center, axis0, axis1;
} tl_arc_handle;

typedef struct tl_arc_obstacle {
    const char *mesh;
    tl_transform_file transform;
    int64_t motion;
    double start_time, end_time;
} tl_arc_obstacle;

typedef struct tl_arc_key {
    double time;
    tl_transform_file transform;
} tl_arc_key;
typedef struct tl_arc_rates {
    tl_vec3 linear, angular, origin, translate;
    double rotate[4], scale;
} tl_arc_rates;
typedef struct tl_arc_motfile {
    const char *motfile;
    double fps;
    tl_transform_file transform;
} tl_arc_motfile;

/// Keys with TL_KEY_LATER are known and have no effect here; `doc` says why.
extern const tl_key_table tl_arc_scene_table, tl_arc_wind_table, tl_arc_magic_table, tl_arc_cloth_table,
    tl_arc_material_table, tl_arc_remeshing_table, tl_arc_handle_table, tl_arc_obstacle_table, tl_arc_key_table,
    tl_arc_rates_table, tl_arc_motfile_table, tl_arc_transform_table, tl_arc_pose_table, tl_arc_velocity_table;
