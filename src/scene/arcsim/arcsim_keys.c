// scene/arcsim/arcsim_keys.c: the keys of ARCSim's scene files, with their defaults; those that have no effect here say
// why.
// clang-format off: tables with one key a line read best

#include "scene/arcsim/arcsim_keys.h"

#include <stddef.h>

#define ANY .min = -TL_KEY_LIMIT, .max = TL_KEY_LIMIT
#define NOT_NEGATIVE .min = 0, .max = TL_KEY_LIMIT
#define OPTIONAL TL_KEY_OPTIONAL
#define POSITIVE TL_KEY_OPEN_MIN
#define NONE(key, why)                                                                                                 \
    {                                                                                                                  \
        key, TL_KEY_MAP, TL_KEY_LATER, .doc = why                                                                      \
    }

#define AT(field) offsetof(tl_transform_file, field)
static const tl_key_def transform_keys[] = {
    {"translate", TL_KEY_VEC3, 0, AT(translate), ANY, .unit = "m", .doc = "move, last"},
    {"scale", TL_KEY_REAL, POSITIVE, AT(scale), 0, 1e6, {1}, .doc = "factor, first"},
    {"rotate", TL_KEY_VEC4, 0, AT(rotate), ANY, .doc = "degrees and axis, second"},
    {0},
};
const tl_key_table tl_arc_transform_table = {"transform", transform_keys};

// The pose of a key in a motion: what it moves may have no size for a time.
static const tl_key_def pose_keys[] = {
    {"translate", TL_KEY_VEC3, 0, AT(translate), ANY, .unit = "m", .doc = "move, last"},
    {"scale", TL_KEY_REAL, 0, AT(scale), 0, 1e6, {1}, .doc = "factor, first"},
    {"rotate", TL_KEY_VEC4, 0, AT(rotate), ANY, .doc = "degrees and axis, second"},
    {0},
};
const tl_key_table tl_arc_pose_table = {"transform", pose_keys};
#undef AT

#define AT(field) offsetof(tl_velocity_file, field)
static const tl_key_def velocity_keys[] = {
    {"linear", TL_KEY_VEC3, 0, AT(linear), -1e5, 1e5, .doc = "speed"},
    {"angular", TL_KEY_VEC3, 0, AT(angular), -1e5, 1e5, .doc = "rate of turn"},
    {"origin", TL_KEY_VEC3, 0, AT(origin), -1e6, 1e6, .doc = "point that it turns about"},
    {0},
};
const tl_key_table tl_arc_velocity_table = {"velocity", velocity_keys};
#undef AT

#define AT(field) offsetof(tl_arc_wind, field)
static const tl_key_def wind_keys[] = {
    {"density", TL_KEY_REAL, 0, AT(density), 0, 1e5, {1}, .doc = "of the air"},
    {"velocity", TL_KEY_VEC3, 0, AT(velocity), -1e4, 1e4, .doc = "of the air"},
    {"drag", TL_KEY_REAL, 0, AT(drag), 0, 1e4, .doc = "along the cloth"},
    {0},
};
const tl_key_table tl_arc_wind_table = {"wind", wind_keys};
#undef AT

#define AT(field) offsetof(tl_arc_magic, field)
static const tl_key_def magic_keys[] = {
    {"repulsion_thickness",
     TL_KEY_REAL,
     POSITIVE,
     AT(repulsion_thickness),
     0,
     1,
     {1e-3},
     .doc = "distance that layers keep"},
    {"rib_stiffening", TL_KEY_REAL, 0, AT(rib_stiffening), 0, 1e6, {1}, .doc = "of the sizing field"},
    {"combine_tensors", TL_KEY_BOOL, 0, AT(combine_tensors), .number = {1}, .doc = "by maximum, not by sum"},
    {"handle_stiffness", TL_KEY_REAL, POSITIVE, AT(handle_stiffness), 0, 1e12, {1e3}, .doc = "of handles that fade"},
    NONE("collision_stiffness", "contact is a barrier whose strength follows from the fabric and collisions.pressure"),
    NONE("projection_thickness", "nothing has to be projected: no step ends with an intersection"),
    NONE("edge_flip_threshold", "flips follow another rule (docs/remeshing.md)"),
    NONE("preserve_creases", "there is no bending plasticity, so no crease to preserve"),
    NONE("fixed_high_res_mesh", "use --set cloths[0].remeshing.kind=none with a fine mesh"),
    {0},
};
const tl_key_table tl_arc_magic_table = {"magic", magic_keys};
#undef AT

#define AT(field) offsetof(tl_arc_rates, field)
static const tl_key_def rates_keys[] = {
    {"linear", TL_KEY_VEC3, OPTIONAL, AT(linear), -1e6, 1e6, .doc = "speed"},
    {"angular", TL_KEY_VEC3, OPTIONAL, AT(angular), -1e6, 1e6, .doc = "rate of turn"},
    {"origin", TL_KEY_VEC3, OPTIONAL, AT(origin), -1e6, 1e6, .doc = "point that it turns about"},
    {"translate", TL_KEY_VEC3, OPTIONAL, AT(translate), -1e6, 1e6, .doc = "rate of translate"},
    {"rotate", TL_KEY_VEC4, OPTIONAL, AT(rotate), -1e6, 1e6, .doc = "degrees per second and axis"},
    {"scale", TL_KEY_REAL, OPTIONAL, AT(scale), -1e6, 1e6, .doc = "rate of scale"},
    {0},
};
const tl_key_table tl_arc_rates_table = {"velocity of a key", rates_keys};
#undef AT

#define AT(field) offsetof(tl_arc_key, field)
static const tl_key_def key_keys[] = {
    {"time", TL_KEY_REAL, TL_KEY_REQUIRED, AT(time), ANY, .doc = "seconds, increasing"},
    {"transform", TL_KEY_OBJECT, 0, AT(transform), .table = &tl_arc_pose_table, .doc = "pose at this time"},
    {"velocity", TL_KEY_MAP, OPTIONAL, .doc = "its rate"},
    {0},
};
const tl_key_table tl_arc_key_table = {"key of a motion", key_keys};
#undef AT

#define AT(field) offsetof(tl_arc_motfile, field)
static const tl_key_def motfile_keys[] = {
    {"motfile", TL_KEY_TEXT, TL_KEY_REQUIRED, AT(motfile), .doc = "motion file"},
    {"fps", TL_KEY_REAL, TL_KEY_REQUIRED | POSITIVE, AT(fps), 0, 1e6, .doc = "its frames per second"},
    {"transform", TL_KEY_OBJECT, 0, AT(transform), .table = &tl_arc_transform_table, .doc = "applied to all of it"},
    {0},
};
const tl_key_table tl_arc_motfile_table = {"motions from a file", motfile_keys};
#undef AT

#define AT(field) offsetof(tl_arc_material, field)
static const tl_key_def material_keys[] = {
    {"data", TL_KEY_TEXT, TL_KEY_REQUIRED, AT(data), .doc = "fabric file"},
    {"density_mult", TL_KEY_REAL, POSITIVE, AT(density_mult), 0, 1e6, {1}, .doc = "factor"},
    {"stretching_mult", TL_KEY_REAL, POSITIVE, AT(stretching_mult), 0, 1e6, {1}, .doc = "factor"},
    {"bending_mult", TL_KEY_REAL, 0, AT(bending_mult), 0, 1e6, {1}, .doc = "factor"},
    {"thicken", TL_KEY_REAL, POSITIVE, AT(thicken), 0, 1e6, {1}, .doc = "factor on all three"},
    {"damping", TL_KEY_REAL, 0, AT(damping), NOT_NEGATIVE, .unit = "s", .doc = "proportional to stiffness"},
    {"strain_limits", TL_KEY_VEC2, OPTIONAL, AT(strain_limits), ANY, .doc = "least and largest stretch"},
    NONE("yield_curv", "there is no bending plasticity: cloth unfolds"),
    NONE("weakening", "there is no bending plasticity"),
    {0},
};
const tl_key_table tl_arc_material_table = {"material", material_keys};
#undef AT

#define AT(field) offsetof(tl_arc_remeshing, field)
static const tl_key_def remeshing_keys[] = {
    {"refine_angle", TL_KEY_REAL, OPTIONAL | POSITIVE, AT(refine_angle), 0, 1e300,
     .doc = "change of the normal along an edge"},
    {"refine_compression", TL_KEY_REAL, OPTIONAL | POSITIVE, AT(refine_compression), 0, 1e300,
     .doc = "of the compression term"},
    {"refine_velocity", TL_KEY_REAL, OPTIONAL | POSITIVE, AT(refine_velocity), 0, 1e300,
     .doc = "change of velocity along an edge"},
    {"size", TL_KEY_VEC2, OPTIONAL | POSITIVE, AT(size), 0, 1e300, .unit = "m", .doc = "shortest and longest edge"},
    {"aspect_min", TL_KEY_REAL, OPTIONAL, AT(aspect_min), 0, 1, .doc = "of faces"},
    {0},
};
const tl_key_table tl_arc_remeshing_table = {"remeshing", remeshing_keys};
#undef AT

#define AT(field) offsetof(tl_arc_cloth, field)
static const tl_key_def cloth_keys[] = {
    {"mesh", TL_KEY_TEXT, TL_KEY_REQUIRED, AT(mesh), .doc = "OBJ file"},
    {"transform", TL_KEY_OBJECT, 0, AT(transform), .table = &tl_arc_transform_table, .doc = "where the mesh is put"},
    {"velocity", TL_KEY_OBJECT, 0, AT(velocity), .table = &tl_arc_velocity_table, .doc = "at the start"},
    {"materials", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 1, .doc = "by face label"},
    {"remeshing", TL_KEY_MAP, OPTIONAL, .doc = "limits of the sizing field"},
    {0},
};
const tl_key_table tl_arc_cloth_table = {"cloth", cloth_keys};
#undef AT

#define AT(field) offsetof(tl_arc_handle, field)
static const tl_key_def handle_keys[] = {
    {"type", TL_KEY_TEXT, 0, AT(type), .text = "node", .doc = "node, circle or glue"},
    {"cloth", TL_KEY_INT, 0, AT(cloth), 0, 1e6, .doc = "place in cloths"},
    {"nodes", TL_KEY_LIST, OPTIONAL, .doc = "nodes by number, from 0"},
    {"vertices", TL_KEY_LIST, OPTIONAL, .doc = "another name of nodes"},
    {"label", TL_KEY_INT, OPTIONAL, AT(label), -2147483647, 2147483647, .doc = "nodes by label"},
    {"motion", TL_KEY_INT, OPTIONAL, AT(motion), -1, 1e6, .doc = "place in motions"},
    {"start_time", TL_KEY_REAL, 0, AT(start_time), .min = -1e300, .max = 1e300, .doc = "holds from"},
    {"end_time", TL_KEY_REAL, OPTIONAL, AT(end_time), .min = -1e300, .max = 1e300, .doc = "holds until"},
    {"fade_time", TL_KEY_REAL, 0, AT(fade_time), NOT_NEGATIVE, .doc = "lets go during"},
    {"circumference", TL_KEY_REAL, OPTIONAL | POSITIVE, AT(circumference), NOT_NEGATIVE, .doc = "length of the loop"},
    {"u", TL_KEY_VEC2, OPTIONAL, AT(u), ANY, .doc = "direction of the loop in material space"},
    {"center", TL_KEY_VEC3, OPTIONAL, AT(center), ANY, .doc = "of the ellipse"},
    {"axis0", TL_KEY_VEC3, OPTIONAL, AT(axis0), ANY, .doc = "of the ellipse"},
    {"axis1", TL_KEY_VEC3, OPTIONAL, AT(axis1), ANY, .doc = "of the ellipse"},
    {0},
};
const tl_key_table tl_arc_handle_table = {"handle", handle_keys};
#undef AT

#define AT(field) offsetof(tl_arc_obstacle, field)
static const tl_key_def obstacle_keys[] = {
    {"mesh", TL_KEY_TEXT, TL_KEY_REQUIRED, AT(mesh), .doc = "OBJ file"},
    {"transform", TL_KEY_OBJECT, 0, AT(transform), .table = &tl_arc_transform_table, .doc = "where the mesh is put"},
    {"motion", TL_KEY_INT, OPTIONAL, AT(motion), -1, 1e6, .doc = "place in motions"},
    {"start_time", TL_KEY_REAL, OPTIONAL, AT(start_time), .min = -1e300, .max = 1e300, .doc = "there from"},
    {"end_time", TL_KEY_REAL, OPTIONAL, AT(end_time), .min = -1e300, .max = 1e300, .doc = "there until"},
    {0},
};
const tl_key_table tl_arc_obstacle_table = {"obstacle", obstacle_keys};
#undef AT

static const tl_key_def motion_forms[] = {
    {.type = TL_KEY_LIST, .doc = "motions"},
    {.type = TL_KEY_MAP, .doc = "a motion file"},
    {0},
};
static const tl_key_def obstacle_forms[] = {
    {.type = TL_KEY_LIST, .doc = "obstacles"},
    {.type = TL_KEY_TEXT, .doc = "names with a number"},
    {0},
};
#define AT(field) offsetof(tl_arc_scene, field)
static const tl_key_def scene_keys[] = {
    {"frame_time", TL_KEY_REAL, OPTIONAL | POSITIVE, AT(frame_time), 0, 1e6, .unit = "s",
     .doc = "time between saved frames"},
    {"frame_steps", TL_KEY_INT, 0, AT(frame_steps), 1, 1e6, {1}, .doc = "steps per frame"},
    {"end_time", TL_KEY_REAL, OPTIONAL, AT(end_time), .min = 0, .max = 1e300, .doc = "stop"},
    {"end_frame", TL_KEY_INT, OPTIONAL, AT(end_frame), 0, 9007199254740992.0, .doc = "stop"},
    {"timestep", TL_KEY_REAL, OPTIONAL | POSITIVE, AT(timestep), 0, 1e6, .unit = "s",
     .doc = "time step, without frame_time"},
    {"save_frames", TL_KEY_INT, OPTIONAL, AT(save_frames), 1, 1e6, .doc = "steps per saved frame, without frame_time"},
    {"duration", TL_KEY_REAL, OPTIONAL, AT(duration), .min = 0, .max = 1e300, .doc = "stop, without frame_time"},
    {"cloths", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 1, .doc = "list of cloths"},
    {"motions", TL_KEY_ONE_OF, OPTIONAL, .item = motion_forms, .doc = "a list of motions or an object with motfile"},
    {"handles", TL_KEY_LIST, 0, .doc = "nodes that are held"},
    {"obstacles", TL_KEY_ONE_OF, OPTIONAL, .item = obstacle_forms,
     .doc = "a list, or a file name with a number such as %04d"},
    {"gravity", TL_KEY_VEC3, 0, AT(gravity), -1e6, 1e6, .doc = "z up"},
    {"wind", TL_KEY_OBJECT, 0, AT(wind), .table = &tl_arc_wind_table, .doc = "air"},
    {"friction", TL_KEY_REAL, 0, AT(friction), 0, 100, {0.6}, .doc = "cloth against cloth"},
    {"obs_friction", TL_KEY_REAL, 0, AT(obs_friction), 0, 100, {0.3}, .doc = "cloth against obstacles"},
    {"disable", TL_KEY_LIST, 0, .doc = "names of stages"},
    {"magic", TL_KEY_OBJECT, 0, AT(magic), .table = &tl_arc_magic_table, .doc = "constants"},
    NONE("morphs", "cloth is not pulled towards target meshes"),
    {0},
};
const tl_key_table tl_arc_scene_table = {"ARCSim scene", scene_keys};
#undef AT
