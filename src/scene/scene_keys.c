// scene/scene_keys.c: the keys of scene files: name, type, range, default, unit and one sentence each.
// clang-format off: tables with one key a line read best

#include "scene/scene_keys.h"

#include <stddef.h>

#define NOT_NEGATIVE .min = 0, .max = TL_KEY_LIMIT
#define POSITIVE_FLAG TL_KEY_OPEN_MIN

// ---- air --------------------------------------------------------------------------------------------------

#define AT(field) offsetof(tl_gust_file, field)
static const tl_key_def gust_keys[] = {
    {"strength", TL_KEY_REAL, 0, AT(strength), 0, 100, .doc = "Relative strength of the variation; 0: none"},
    {"period", TL_KEY_REAL, POSITIVE_FLAG, AT(period), 0, 1e6, {1.5}, .unit = "s", .doc = "Typical time between gusts"},
    {0},
};
static const tl_key_table gust_table = {"gusts", gust_keys};
#undef AT

#define AT(field) offsetof(tl_turbulence_file, field)
static const tl_key_def turbulence_keys[] = {
    {"strength",
     TL_KEY_REAL,
     0,
     AT(strength),
     0,
     100,
     {0.2},
     .doc = "Root mean square of each component relative to the wind's speed; 0: the wind is the same everywhere"},
    {"length",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(length),
     0,
     1e6,
     {0.5},
     .unit = "m",
     .doc = "Size of the largest eddies; the smallest are an eighth of it"},
    {0},
};
static const tl_key_table turbulence_table = {"turbulence", turbulence_keys};
#undef AT

#define AT(field) offsetof(tl_wind_key_file, field)
static const tl_key_def wind_key_keys[] = {
    {"time", TL_KEY_REAL, TL_KEY_REQUIRED, AT(time), NOT_NEGATIVE, .unit = "s", .doc = "Time, strictly increasing"},
    {"velocity", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(velocity), -1e4, 1e4, .unit = "m/s", .doc = "Wind at this time"},
    {0},
};
const tl_key_table tl_wind_key_table = {"wind at one time", wind_key_keys};
#undef AT

static const tl_key_def wind_key_item = {.type = TL_KEY_OBJECT, .table = &tl_wind_key_table, .doc = "wind at one time"};
#define AT(field) offsetof(tl_wind_file, field)
static const tl_key_def wind_keys[] = {
    {"velocity", TL_KEY_VEC3, TL_KEY_OPTIONAL, AT(velocity), -1e4, 1e4, .unit = "m/s", .doc = "Constant wind"},
    {"keys", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &wind_key_item,
     .doc = "Wind over time, smooth in between; instead of velocity"},
    {"gust", TL_KEY_OBJECT, 0, AT(gust), .table = &gust_table, .doc = "Gusts on top of it"},
    {"turbulence", TL_KEY_OBJECT, 0, AT(turbulence), .table = &turbulence_table,
     .doc = "Eddies that vary in space and drift with the wind"},
    {0},
};
const tl_key_table tl_wind_table = {"wind", wind_keys};
#undef AT

static const tl_key_def wind_forms[] = {
    {.type = TL_KEY_VEC3, .min = -1e4, .max = 1e4, .doc = "constant wind"},
    {.type = TL_KEY_OBJECT, .table = &tl_wind_table, .doc = "wind over time, gusts"},
    {0},
};
#define AT(field) offsetof(tl_air_file, field)
static const tl_key_def air_keys[] = {
    {"density", TL_KEY_REAL, 0, AT(density), 0, 1e5, {1.2}, .unit = "kg/m^3", .doc = "Density of the air"},
    {"drag", TL_KEY_REAL, 0, AT(drag), 0, 1e4, {1.2}, .doc = "Coefficient C_d of the pressure drag"},
    {"skin", TL_KEY_REAL, 0, AT(skin), 0, 1e4, {0.02}, .unit = "kg/(m^2 s)", .doc = "Tangential drag"},
    {"lee",
     TL_KEY_REAL,
     0,
     AT(lee),
     0,
     1e3,
     {0},
     .unit = "m",
     .doc =
         "Length of the lee behind obstacles and cloth, in which the wind comes back; 0: it goes through everything"},
    {"wind", TL_KEY_ONE_OF, TL_KEY_OPTIONAL, .item = wind_forms, .unit = "m/s",
     .doc = "a vector [x, y, z] or an object with velocity or keys, gust and turbulence"},
    {0},
};
static const tl_key_table air_table = {"air", air_keys};
#undef AT

// ---- solver -----------------------------------------------------------------------------------------------

static const char *const integrator_words[] = {"implicit-euler", "bdf2", NULL};
static const char *const bending_words[] = {"shape", "hinge", NULL};
static const char *const linear_words[] = {"auto", "pcg", "multilevel", "direct", "stale", "cholmod", NULL};

#define AT(field) offsetof(tl_solver_file, field)
static const tl_key_def solver_keys[] = {
    {"integrator", TL_KEY_WORD, 0, AT(integrator), .words = integrator_words, .text = "implicit-euler",
     .doc = "Time stepping: implicit-euler is robust and damps, bdf2 is of second order and damps little"},
    {"newton_iterations",
     TL_KEY_INT,
     0,
     AT(newton_iterations),
     1,
     10000,
     {30},
     .doc = "At most so many Newton iterations per step; 1 is the linearised step"},
    {"newton_tolerance",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(newton_tolerance),
     0,
     1e6,
     {0.03},
     .unit = "m/s",
     .doc = "Stop when an iteration changes speeds by less, root mean square"},
    {"linear", TL_KEY_WORD, 0, AT(linear), .words = linear_words, .text = "auto", .doc = "Linear solver"},
    {"linear_tolerance",
     TL_KEY_REAL,
     TL_KEY_OPEN_MIN | TL_KEY_OPEN_MAX,
     AT(linear_tolerance),
     0,
     1,
     {0.02},
     .doc = "Relative residual of the conjugate gradients"},
    {"linear_iterations",
     TL_KEY_INT,
     0,
     AT(linear_iterations),
     1,
     1000000,
     {2000},
     .doc = "At most so many iterations of the conjugate gradients"},
    {"max_halvings",
     TL_KEY_INT,
     0,
     AT(max_halvings),
     0,
     16,
     {6},
     .doc = "How often a failed step is retried with half the time step"},
    {"effort",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(effort),
     0,
     1e6,
     {60},
     .unit = "us",
     .doc = "Work that steps may take on average, a face, by a model of counts; what takes more is ended coarsely"},
    {"bending", TL_KEY_WORD, 0, AT(bending), .words = bending_words, .text = "shape",
     .doc = "Bending element: shape does not depend on the mesh, hinge is the plain spring per edge"},
    {0},
};
static const tl_key_table solver_table = {"solver", solver_keys};
#undef AT

// ---- contact ----------------------------------------------------------------------------------------------

static const char *const combine_words[] = {"min", "max", "mean", NULL};           // as tl_combine
static const char *const intersection_words[] = {"error", "heal", "pinch", NULL};  // as tl_on_intersection
static const char *const detection_words[] = {"full", "k-dop", "stochastic", "combined", NULL};  // as tl_detection
static const char *const response_words[] = {"barrier",           "zones", "impulse", "constraint", "push-out",
                                             "potential=barrier", NULL};  // as tl_response

#define AT(field) offsetof(tl_collide_file, field)
static const tl_key_def collide_keys[] = {
    {"bodies", TL_KEY_BOOL, 0, AT(bodies), .number = {1}, .doc = "Cloth against obstacles"},
    {"self", TL_KEY_BOOL, 0, AT(self), .number = {1}, .doc = "Cloth against itself and other cloths"},
    {"friction_combine", TL_KEY_WORD, 0, AT(combine), .words = combine_words, .text = "min",
     .doc = "What a pair's friction is made of where both sides have one"},
    {"pressure",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(pressure),
     0,
     1e6,
     {5e3},
     .unit = "Pa",
     .doc = "At which contact gives way to 62 % of the thickness"},
    {"slip_speed",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(slip_speed),
     0,
     1e3,
     {1e-4},
     .unit = "m/s",
     .doc = "Below this speed friction sticks"},
    {"on_intersection", TL_KEY_WORD, 0, AT(on_intersection), .words = intersection_words, .text = "error",
     .doc = "If surfaces pass through each other at the start: error, or heal (pull them apart)"},
    {"detection", TL_KEY_WORD, 0, AT(detection), .words = detection_words, .text = "full",
     .doc = "How pairs near each other are found; toile info --kinds says what goes with what"},
    {"response", TL_KEY_WORD, 0, AT(response), .words = response_words, .text = "barrier",
     .doc = "How contact answers: a barrier within the solve, or after it by impact zones, impulses or constraints; "
            "push-out belongs to dynamics.kind springs, which have no other and take it by default"},
    {"net", TL_KEY_BOOL, 0, AT(net), .number = {1},
     .doc = "impulse, constraint: what detection missed is stopped on its way by the continuous test"},
    {"distance",
     TL_KEY_REAL,
     0,
     AT(distance),
     0,
     1,
     {0},
     .unit = "m",
     .doc = "impulse, constraint: below which pairs are close; 0: three thicknesses"},
    {"dop", TL_KEY_INT, 0, AT(dop), 6, 26, {18}, .doc = "k-dop, combined: planes of a volume, 6, 14, 18 or 26"},
    {"arity", TL_KEY_INT, 0, AT(arity), 2, 8, {4}, .doc = "k-dop, combined: children of a volume, 2, 4 or 8"},
    {"leaf_faces",
     TL_KEY_INT,
     0,
     AT(leaf_faces),
     0,
     64,
     {0},
     .doc = "k-dop, combined: most faces in a leaf; 0: 1 (k-dop), 8 (combined)"},
    {"new_pairs",
     TL_KEY_INT,
     0,
     AT(new_pairs),
     0,
     1e6,
     {100},
     .doc = "stochastic, combined: random pairs that are tried every step, shared by all pairs of surfaces"},
    {"find_ratio",
     TL_KEY_REAL,
     TL_KEY_OPEN_MAX,
     AT(find_ratio),
     0,
     1,
     {0},
     .doc = "stochastic, combined: part of all pairs that new_pairs is steered towards; 0: it stays"},
    {"most_tests",
     TL_KEY_REAL,
     0,
     AT(most_tests),
     0,
     1e12,
     {0},
     .doc = "stochastic, combined: distances a step that new_pairs is steered to stay below; 0: any number"},
    {"response_ratio",
     TL_KEY_REAL,
     0,
     AT(response_ratio),
     0,
     1,
     {1},
     .doc = "impulse, constraint: part of the pairs, by chance, that is answered; for experiments"},
    {"measure", TL_KEY_BOOL, 0, AT(measure), .number = {0},
     .doc = "impulse, constraint: look for everything, too, and log the part that was found"},
    {0},
};
static const tl_key_table collide_table = {"contact", collide_keys};
#undef AT

// ---- dynamics ---------------------------------------------------------------------------------------------

static const char *const dynamics_words[] = {"implicit", "springs", "baraff-witkin", NULL};  // as tl_dynamics_kind
static const char *const search_words[] = {"boxes", "published", NULL};                      // tl_springs_search
static const char *const friction_words[] = {"coulomb", "links", NULL};                      // tl_springs_friction
static const char *const spring_bend_words[] = {"elements", "springs", NULL};                // tl_springs_bend_kind
static const char *const level_rule_words[] = {"level", "area", NULL};                       // tl_springs_level_rule
static const char *const springs_words[] = {"xpbd", "verlet", NULL};                         // as tl_springs_kind

#define AT(field) offsetof(tl_dynamics_file, field)
static const tl_key_def dynamics_keys[] = {
    {"kind", TL_KEY_WORD, 0, AT(kind), .words = dynamics_words, .text = "implicit",
     .doc =
         "How a time step is solved: implicitly, with contact that lets nothing through; by springs at interactive "
         "rates, to which the keys below belong; or by one linear solve as published (with collisions.response impulse "
         "or constraint)"},
    {"method", TL_KEY_WORD, 0, AT(method), .words = springs_words, .text = "xpbd",
     .doc = "Springs: projection with small steps, or Verlet's method as published (Simnett 2012)"},
    {"substeps", TL_KEY_INT, 0, AT(substeps), 0, 1000, {0}, .doc = "Of a step; 0: chosen by the mesh"},
    {"offset",
     TL_KEY_REAL,
     0,
     AT(offset),
     0,
     1,
     {0.004},
     .unit = "m",
     .doc = "Distance that nodes keep from obstacles, if half the thickness is less"},
    {"self_distance",
     TL_KEY_REAL,
     0,
     AT(self_distance),
     0,
     1,
     {0},
     .unit = "m",
     .doc = "Distance that nodes of a cloth keep from each other; 0: off"},
    {"compression",
     TL_KEY_REAL,
     0,
     AT(compression),
     0,
     1,
     {0.05},
     .doc = "Part of the stiffness that holds against being pushed together: cloth buckles within a face"},
    {"stiffness",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(stiffness),
     0,
     1e9,
     {80},
     .unit = "N/m",
     .doc = "Verlet: of a spring of 1 m"},
    {"bend", TL_KEY_REAL, 0, AT(bend), 0, 1e9, {0.002}, .unit = "N/rad", .doc = "Verlet: of bending elements"},
    {"damping",
     TL_KEY_REAL,
     TL_KEY_OPEN_MAX,
     AT(damping),
     0,
     1,
     {0.01},
     .doc = "Verlet: part of the velocity lost in a step"},
    {"max_stretch",
     TL_KEY_REAL,
     TL_KEY_OPEN_MIN,
     AT(max_stretch),
     1,
     1e6,
     {1.05},
     .doc = "Verlet: edges are brought back to this times their length at rest"},
    {"length_rounds", TL_KEY_INT, 0, AT(length_rounds), 0, 10000, {5}, .doc = "Verlet: sweeps of that in a step"},
    {"bending", TL_KEY_WORD, 0, AT(bending), .words = spring_bend_words, .text = "elements",
     .doc = "Verlet: forces by the angle between faces, or springs across edges"},
    {"level_rule", TL_KEY_WORD, 0, AT(level_rule), .words = level_rule_words, .text = "level",
     .doc = "Verlet: stiffness by two thirds a level as published, or by the area beside an edge, which is the same at "
            "every level and comes from the fabric"},
    {"search", TL_KEY_WORD, 0, AT(search), .words = search_words, .text = "boxes",
     .doc = "Springs: how faces near nodes are found: by a refitted tree of boxes, or as published, rigid obstacles by "
            "a grid and characters by bone cylinders and sphere trees; the results are the same"},
    {"friction", TL_KEY_WORD, 0, AT(friction), .words = friction_words, .text = "coulomb",
     .doc = "Springs: Coulomb's, or links of nodes to where they touch that decay, as published"},
    {"link_steps", TL_KEY_INT, 0, AT(link_steps), 1, 1e6, {30}, .doc = "Links: steps after which one breaks"},
    {"link_slide",
     TL_KEY_REAL,
     0,
     AT(link_slide),
     0,
     1e6,
     {300},
     .unit = "1/s^2",
     .doc = "Links: pull of a new one along the surface, per mass and way"},
    {"link_lift", TL_KEY_REAL, 0, AT(link_lift), 0, 1e6, {100}, .unit = "1/s^2", .doc = "Links: the same across it"},
    {"link_distance",
     TL_KEY_REAL,
     TL_KEY_OPEN_MIN,
     AT(link_distance),
     0,
     1e3,
     {0.03},
     .unit = "m",
     .doc = "Links: way at which one breaks"},
    {0},
};
static const tl_key_table dynamics_table = {"dynamics", dynamics_keys};
#undef AT

// ---- detail -----------------------------------------------------------------------------------------------

#define AT(field) offsetof(tl_detail_key_file, field)
static const tl_key_def detail_key_keys[] = {
    {"time", TL_KEY_REAL, TL_KEY_REQUIRED, AT(time), NOT_NEGATIVE, .unit = "s", .doc = "Time, strictly increasing"},
    {"eye", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(eye), -1e6, 1e6, .unit = "m", .doc = "Where somebody looks from"},
    {0},
};
const tl_key_table tl_detail_key_table = {"the eye at one time", detail_key_keys};
#undef AT

static const tl_key_def detail_key_item = {
    .type = TL_KEY_OBJECT, .table = &tl_detail_key_table, .doc = "the eye at one time"};
#define AT(field) offsetof(tl_detail_file, field)
static const tl_key_def detail_keys[] = {
    {"eye", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &detail_key_item,
     .doc = "Where somebody looks from over time, smooth in between"},
    {"cull", TL_KEY_BOOL, 0, AT(cull), .doc = "What faces away from the eye is coarse"},
    {"hidden", TL_KEY_BOOL, 0, AT(hidden), .doc = "Off the screen: no edge is halved"},
    {"far_faces", TL_KEY_INT, 0, AT(far_faces), 0, 1e8,
     .doc = "Budget of a cloth that is `far` from the eye; `near` it is remeshing.max_faces; 0: no"},
    {"near", TL_KEY_REAL, 0, AT(near), 0, 1e6, {1}, .unit = "m", .doc = "Distance of the full budget"},
    {"far", TL_KEY_REAL, 0, AT(far), 0, 1e6, {10}, .unit = "m", .doc = "Distance of far_faces"},
    {"step_time", TL_KEY_REAL, 0, AT(step_time), 0, 9.9, .unit = "s",
     .doc = "Budget of time of a step, by the clock: results then depend on the machine; 0: none"},
    {0},
};
static const tl_key_table detail_table = {"detail", detail_keys};
#undef AT

// ---- start ------------------------------------------------------------------------------------------------

static const char *const relax_words[] = {"auto", "on", "off", NULL};  // as tl_relax

#define AT(field) offsetof(tl_start_file, field)
static const tl_key_def start_keys[] = {
    {"relax", TL_KEY_WORD, 0, AT(relax), .words = relax_words, .text = "auto",
     .doc = "Bring strained cloth to equilibrium before frame 0: auto (if strained beyond `strain`), on, off"},
    {"strain",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(strain),
     0,
     1e6,
     {1},
     .doc = "Largest strain of a face beyond which `auto` relaxes"},
    {"limit_min", TL_KEY_REAL, TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN, AT(limit_min), -1, 0,
     .doc = "Smallest strain to end with; default: that of the cloth's strain_limits, or -0.15"},
    {"limit_max", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(limit_max), 0, 1e6,
     .doc = "Largest strain to end with; default: that of the cloth's strain_limits, or 0.15"},
    {0},
};
static const tl_key_table start_table = {"start", start_keys};
#undef AT

// ---- pictures ---------------------------------------------------------------------------------------------

#define AT(field) offsetof(tl_camera_file, field)
static const tl_key_def camera_keys[] = {
    {"eye", TL_KEY_VEC3, TL_KEY_OPTIONAL, AT(eye), -1e6, 1e6, .unit = "m", .doc = "Where the camera stands"},
    {"target", TL_KEY_VEC3, TL_KEY_OPTIONAL, AT(target), -1e6, 1e6, .unit = "m", .doc = "What it looks at"},
    {"azimuth", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(azimuth), -360, 360, .unit = "degrees",
     .doc = "Instead of eye and target: direction to look from, 0 is +z, 90 is +x; all frames are then in view"},
    {"elevation", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(elevation), -90, 90, .unit = "degrees",
     .doc = "Above the horizon, with azimuth; default 0"},
    {"fov",
     TL_KEY_REAL,
     TL_KEY_OPEN_MIN | TL_KEY_OPEN_MAX,
     AT(fov),
     0,
     170,
     {30},
     .unit = "degrees",
     .doc = "Vertical angle of view"},
    {0},
};
static const tl_key_table camera_table = {"camera: eye and target, or azimuth", camera_keys};
#undef AT

static const char *const look_words[] = {"cloth", "plain", "skin", NULL};  // as tl_mesh_look
#define AT(field) offsetof(tl_appearance_file, field)
static const tl_key_def appearance_keys[] = {
    {"look", TL_KEY_WORD, TL_KEY_OPTIONAL, AT(look), .words = look_words, .doc = "Kind of surface"},
    {"color", TL_KEY_COLOR, TL_KEY_OPTIONAL, AT(color), .unit = "#rrggbb", .doc = "Colour of the front"},
    {"back", TL_KEY_COLOR, TL_KEY_OPTIONAL, AT(back), .unit = "#rrggbb", .doc = "Colour of the back"},
    {0},
};
const tl_key_table tl_appearance_table = {"appearance of a cloth or an obstacle", appearance_keys};
#undef AT
static const tl_key_def appearance_item = {
    .type = TL_KEY_OBJECT, .table = &tl_appearance_table, .doc = "appearance of a cloth or an obstacle"};

// ---- the whole --------------------------------------------------------------------------------------------

static const tl_key_def include_text = {.type = TL_KEY_TEXT, .doc = "a file"};
static const tl_key_def include_forms[] = {
    {.type = TL_KEY_TEXT, .doc = "a file"},
    {.type = TL_KEY_LIST, .min = 0, .item = &include_text, .doc = "files"},
    {0},
};
static const tl_key_def cloth_item = {.type = TL_KEY_OBJECT, .table = &tl_cloth_table, .doc = "a cloth"};
static const tl_key_def obstacle_item = {.type = TL_KEY_OBJECT, .table = &tl_obstacle_table, .doc = "an obstacle"};
static const tl_key_def handle_item = {.type = TL_KEY_OBJECT, .table = &tl_handle_table, .doc = "a handle"};

#define AT(field) offsetof(tl_scene_file, field)
static const char *const quality_words[] = {"draft", "normal", "final", NULL};  // as tl_quality
const tl_key_def tl_quality_key = {.type = TL_KEY_WORD, .words = quality_words, .doc = "quality"};
static const tl_key_def scene_keys[] = {
    {"$schema", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(schema), .doc = "For editors; not read"},
    {"name", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(name), .doc = "Default: the name of the file"},
    {"include", TL_KEY_ONE_OF, TL_KEY_OPTIONAL, .item = include_forms,
     .doc = "a file or a list of files to start from: objects are merged, lists replaced, this file wins"},
    {"quality", TL_KEY_WORD, TL_KEY_OPTIONAL, AT(quality), .words = quality_words,
     .doc = "Sizes, tolerances and steps where the scene gives none: draft, normal or final"},
    {"frames", TL_KEY_INT, 0, AT(frames), 0, 999999, {100}, .doc = "Frames after frame 0"},
    {"fps", TL_KEY_REAL, POSITIVE_FLAG, AT(fps), 0, 1e6, {25}, .unit = "1/s", .doc = "Frames per second"},
    {"steps_per_frame", TL_KEY_INT, 0, AT(steps_per_frame), 1, 1000000, {8}, .doc = "Time steps per frame"},
    {"gravity", TL_KEY_VEC3, 0, AT(gravity), -1e6, 1e6, {0, -9.81, 0}, .unit = "m/s^2", .doc = "Gravity"},
    {"seed", TL_KEY_INT, 0, AT(seed), 0, 9007199254740992.0, {1}, .doc = "The only source of randomness"},
    {"air", TL_KEY_OBJECT, 0, AT(air), .table = &air_table, .doc = "Air drag and wind"},
    {"solver", TL_KEY_OBJECT, 0, AT(solver), .table = &solver_table, .doc = "Numerical method"},
    {"materials", TL_KEY_MAP, TL_KEY_OPTIONAL, .item = &tl_fabric_key, .doc = "Fabrics by name, for use in cloths"},
    {"cloths", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 1, .item = &cloth_item, .doc = "list of cloths"},
    {"handles", TL_KEY_LIST, 0, .item = &handle_item, .doc = "Nodes held or moved"},
    {"obstacles", TL_KEY_LIST, 0, .item = &obstacle_item, .doc = "What cloth collides with"},
    {"dynamics", TL_KEY_OBJECT, 0, AT(dynamics), .table = &dynamics_table, .doc = "How time steps are solved"},
    {"detail", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(detail), .table = &detail_table,
     .doc = "Of springs: where somebody looks from, and what may be spent on what is seen"},
    {"collisions", TL_KEY_OBJECT, 0, AT(collide), .table = &collide_table, .doc = "Contact of cloth"},
    {"start", TL_KEY_OBJECT, 0, AT(start), .table = &start_table, .doc = "Strained cloth before the first step"},
    {"camera", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(camera), .table = &camera_table,
     .doc = "For toile render; default: everything in view"},
    {"appearance", TL_KEY_MAP, TL_KEY_OPTIONAL, .item = &appearance_item,
     .doc = "For toile render: colours by the name of the cloth or obstacle"},
    {"remeshing", TL_KEY_OBJECT, 0, AT(remeshing), .table = &tl_remeshing_table, .doc = "Adaptive meshes"},
    {"seams", TL_KEY_LIST, TL_KEY_LATER, .doc = "seams"},
    {0},
};
const tl_key_table tl_scene_table = {"Toile scene", scene_keys};

json_t *tl_scene_schema(void)
{
    json_t *out = json_object(), *body = tl_table_schema(&tl_scene_table);
    bool ok = out && body;
    ok = ok && json_object_set_new(out, "$schema", json_string("https://json-schema.org/draft/2020-12/schema")) == 0;
    ok = ok && json_object_update(out, body) == 0;
    json_decref(body);
    if (ok) return out;
    json_decref(out);
    return NULL;
}
