// scene/scene_keys.h: the keys of scene files and the structs that they fill.
#pragma once
#include "scene/keys.h"
#include "toile/sim.h"

typedef struct tl_gust_file {
    double strength, period;
} tl_gust_file;
typedef struct tl_turbulence_file {
    double strength, length;
} tl_turbulence_file;
typedef struct tl_wind_file {
    tl_vec3 velocity;
    tl_gust_file gust;
    tl_turbulence_file turbulence;
} tl_wind_file;
typedef struct tl_wind_key_file {
    double time;
    tl_vec3 velocity;
} tl_wind_key_file;
typedef struct tl_air_file {
    double density, drag, skin, lee;
} tl_air_file;

typedef struct tl_solver_file {
    int32_t integrator, bending, linear;
    int64_t newton_iterations, linear_iterations, max_halvings;
    double effort;
    double newton_tolerance, linear_tolerance;
} tl_solver_file;

typedef struct tl_collide_file {
    int32_t bodies, self, combine, on_intersection, detection, response, net, measure;
    int64_t dop, arity, leaf_faces, new_pairs;
    double pressure, slip_speed, distance, find_ratio, most_tests, response_ratio;
} tl_collide_file;

typedef struct tl_dynamics_file {
    int32_t kind, method;
    int32_t search, friction, bending, level_rule;
    int64_t substeps, length_rounds, link_steps;
    double offset, self_distance, compression, stiffness, bend, damping, max_stretch, link_slide, link_lift,
        link_distance;
} tl_dynamics_file;

typedef struct tl_detail_file {
    int32_t cull, hidden;
    int64_t far_faces;
    double near, far, step_time;
} tl_detail_file;
typedef struct tl_detail_key_file {
    double time;
    tl_vec3 eye;
} tl_detail_key_file;

typedef struct tl_start_file {
    int32_t relax;
    double strain, limit_min, limit_max;  // limits NAN: not given
} tl_start_file;

/// NAN, or a negative word or number where a cloth leaves it to the scene.
typedef struct tl_remeshing_file {
    int32_t kind, obstacles, blend;
    int32_t edge_angles, narrowing;
    int32_t criteria, masses;
    double size_min, size_max, aspect_min, curvature, velocity, compression, rib_stiffening, hysteresis, interval,
        obstacle_gap, error;
    double split_length, join_length;
    double length_per_level, sag;
    int32_t ties, always_join, locked;
    int64_t max_faces, patience, layers, levels, rejoin_wait, obstacle_levels;
} tl_remeshing_file;

/// What the renderer reads; nothing of it shapes the simulation.
typedef struct tl_camera_file {
    tl_vec3 eye, target;
    double azimuth, elevation, fov;
} tl_camera_file;
typedef struct tl_appearance_file {
    int32_t look;
    const char *color, *back;
} tl_appearance_file;

typedef struct tl_scene_file {
    int32_t quality;  // tl_quality, -1: none given
    const char *schema, *name;
    int64_t frames, steps_per_frame, seed;
    double fps;
    tl_vec3 gravity;
    tl_air_file air;
    tl_solver_file solver;
    tl_dynamics_file dynamics;
    tl_detail_file detail;
    tl_collide_file collide;
    tl_start_file start;
    tl_remeshing_file remeshing;
    tl_camera_file camera;
} tl_scene_file;

typedef struct tl_rectangle_file {
    tl_vec2 size;
    double edge;
    int32_t pattern;
    int64_t seed;
} tl_rectangle_file;
typedef struct tl_disc_file {
    double radius, edge;
} tl_disc_file;
typedef struct tl_mesh_file {
    tl_rectangle_file rectangle;
    tl_disc_file disc;
    const char *pattern;
    double edge;  ///< NAN: not given
    int32_t method, weld;
} tl_mesh_file;
typedef struct tl_transform_file {
    tl_vec3 translate;
    double rotate[4];
    double scale;
} tl_transform_file;
typedef struct tl_velocity_file {
    tl_vec3 linear, angular, origin;
} tl_velocity_file;

/// Limits that are absent read NAN.
typedef struct tl_strain_file {
    int32_t kind;
    double min, max, weft_min, weft_max, shear;
} tl_strain_file;

typedef enum tl_rest_lengths { TL_REST_WORLD, TL_REST_UV, TL_REST_UV_SCALED } tl_rest_lengths;

typedef struct tl_cloth_file {
    const char *name;
    double density_scale, stretch_scale, bend_scale;
    double damping_stretch, damping_bend, friction_bend;  // NAN: the fabric's own
    tl_transform_file transform;
    tl_velocity_file velocity;
    int32_t rest;  // tl_rest_lengths, -1: as the mesh is
    int32_t rest_shape;
    double thickness, friction, friction_self;  // friction NAN: as the obstacle says
    double unevenness;
    tl_remeshing_file remeshing;
    tl_strain_file strain_limits;
} tl_cloth_file;

typedef struct tl_box_file {
    tl_vec3 min, max;
} tl_box_file;
typedef struct tl_sphere_file {
    tl_vec3 center;
    double radius;
} tl_sphere_file;
typedef struct tl_uv_box_file {
    tl_vec2 min, max;
} tl_uv_box_file;
typedef struct tl_motion_file {
    double time;
    tl_vec3 translate;
    double rotate[4];
    double scale;            // NAN: 1
    tl_vec3 velocity, spin;  // zero if absent
    double growth;           // NAN: absent
    int32_t release;
} tl_motion_file;

typedef struct tl_ellipse_file {
    tl_vec3 center, axis0, axis1;
    tl_vec2 turns;
} tl_ellipse_file;

typedef enum tl_gather_kind { TL_GATHER_GATHERS, TL_GATHER_PLEATS, TL_GATHER_RINGS } tl_gather_kind;
typedef struct tl_gather_file {
    int32_t kind;
    double ratio;
    int64_t count;
} tl_gather_file;
typedef struct tl_handle_file {
    int64_t label;
    tl_box_file box;
    tl_sphere_file sphere;
    tl_uv_box_file uv_box;
    double start, end, fade, stiffness;
    const char *body;
    double slack, elastic, tension;
    tl_ellipse_file ellipse;
    tl_vec3 pivot;
    int32_t curve;
    tl_gather_file gather;
} tl_handle_file;

typedef struct tl_plane_file {
    tl_vec3 point, normal;
} tl_plane_file;
typedef struct tl_rod_file {
    tl_vec3 from, to;
    double radius;
} tl_rod_file;
typedef struct tl_sequence_file {
    double fps, start;
    int64_t first, last;
} tl_sequence_file;  // last < 0: until one is missing

/// `clip`, `units` and `bones` are left to the reader.
typedef struct tl_character_file {
    const char *file, *motion, *cache;
    double cache_fps;  // NAN: absent
    double start, lead_in, speed, from;
    int32_t up, cache_up;
    int32_t mittens, flesh;
} tl_character_file;

typedef struct tl_obstacle_file {
    const char *name;
    tl_character_file character;
    tl_plane_file plane;
    tl_sphere_file sphere;
    tl_rod_file capsule, cylinder;
    tl_box_file box;
    tl_transform_file transform;
    tl_vec3 pivot;
    int32_t curve;
    double start, end;  // end NAN: never
    double friction, thickness;
} tl_obstacle_file;

typedef enum tl_quality { TL_QUALITY_DRAFT, TL_QUALITY_NORMAL, TL_QUALITY_FINAL } tl_quality;
extern const tl_key_def tl_quality_key, tl_fabric_key;
extern const tl_key_table tl_remeshing_table, tl_cloth_remeshing_table;
extern const tl_key_table tl_scene_table, tl_cloth_table, tl_mesh_table, tl_handle_table, tl_wind_table,
    tl_wind_key_table, tl_detail_key_table, tl_motion_table, tl_appearance_table, tl_obstacle_table, tl_sequence_table,
    tl_obstacle_motion_table, tl_character_table;
extern const tl_key_def tl_corner_key, tl_side_key, tl_node_index_key, tl_file_key, tl_time_key;
extern const char *const tl_corner_words[];  ///< "all" first
extern const char *const tl_side_words[];

/// docs/scene.schema.json; a new reference, NULL when memory runs out.
json_t *tl_scene_schema(void);
