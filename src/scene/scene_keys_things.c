// scene/scene_keys_things.c: the keys of cloths, handles and obstacles, as scene_keys.c has those of the scene.
// clang-format off: tables with one key a line read best

#include "scene/scene_keys.h"

#include <stddef.h>

#define NOT_NEGATIVE .min = 0, .max = TL_KEY_LIMIT
#define POSITIVE_FLAG TL_KEY_OPEN_MIN

// ---- cloths -----------------------------------------------------------------------------------------------

static const char *const pattern_words[] = {"delaunay", "diagonal", "cross", "alternate", NULL};  // as tl_grid
static const char *const rest_length_words[] = {"world", "uv", "uv-scaled", NULL};                // as tl_rest_lengths
static const char *const rest_words[] = {"flat", "mesh", NULL};

#define AT(field) offsetof(tl_rectangle_file, field)
static const tl_key_def rectangle_keys[] = {
    {"size", TL_KEY_VEC2, TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, AT(size), 0, 1e6, .unit = "m", .doc = "Width and height"},
    {"edge", TL_KEY_REAL, TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, AT(edge), 0, 1e6, .unit = "m", .doc = "Length of an edge"},
    {"pattern", TL_KEY_WORD, 0, AT(pattern), .words = pattern_words, .text = "delaunay", .doc = "How it is cut"},
    {"seed", TL_KEY_INT, 0, AT(seed), 0, 9007199254740992.0, {1}, .doc = "Of the random points of delaunay"},
    {0},
};
static const tl_key_table rectangle_table = {"rectangle from (0, 0) to size in the x-y plane", rectangle_keys};
#undef AT

#define AT(field) offsetof(tl_disc_file, field)
static const tl_key_def disc_keys[] = {
    {"radius", TL_KEY_REAL, TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, AT(radius), 0, 1e6, .unit = "m", .doc = "Radius"},
    {"edge", TL_KEY_REAL, TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, AT(edge), 0, 1e6, .unit = "m", .doc = "Length of an edge"},
    {0},
};
static const tl_key_table disc_table = {"disc around the origin in the x-y plane", disc_keys};
#undef AT

static const char *const panel_words[] = {"delaunay", "tfi",        "length", "diagonal",
                                          "strips",   "equal-area", NULL};  // as tl_panel_method
#define AT(field) offsetof(tl_mesh_file, field)
static const tl_key_def mesh_keys[] = {
    {"rectangle", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(rectangle), .table = &rectangle_table, .doc = "A rectangle"},
    {"disc", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(disc), .table = &disc_table, .doc = "A disc"},
    {"pattern", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(pattern), .doc = "A sewing pattern: a file .json, .svg or .dxf"},
    {"edge", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(edge), 1e-5, 10, .unit = "m",
     .doc = "Of a pattern: length of an edge; default 0.02"},
    {"method", TL_KEY_WORD, TL_KEY_OPTIONAL, AT(method), .words = panel_words,
     .doc = "Of a pattern: how panels are filled; default delaunay"},
    {"weld", TL_KEY_BOOL, TL_KEY_OPTIONAL, AT(weld),
     .doc = "Of a pattern: sew seams whose sides lie apart, too, halfway between them"},
    {0},
};
const tl_key_table tl_mesh_table = {"generated mesh: exactly one of rectangle, disc and pattern", mesh_keys};
#undef AT

#define AT(field) offsetof(tl_transform_file, field)
static const tl_key_def transform_keys[] = {
    {"scale",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(scale),
     0,
     1e6,
     {1},
     .doc = "Factor on world and material positions, first"},
    {"rotate",
     TL_KEY_VEC4,
     0,
     AT(rotate),
     -1e6,
     1e6,
     {0, 0, 1, 0},
     .unit = "degrees, axis",
     .doc = "Turn by an angle about an axis through the origin, second"},
    {"translate", TL_KEY_VEC3, 0, AT(translate), -1e6, 1e6, .unit = "m", .doc = "Move, last"},
    {0},
};
static const tl_key_table transform_table = {"where the mesh is put", transform_keys};
#undef AT

#define AT(field) offsetof(tl_velocity_file, field)
static const tl_key_def velocity_keys[] = {
    {"linear", TL_KEY_VEC3, 0, AT(linear), -1e5, 1e5, .unit = "m/s", .doc = "Speed at the start"},
    {"angular", TL_KEY_VEC3, 0, AT(angular), -1e5, 1e5, .unit = "rad/s", .doc = "Rate of turn at the start"},
    {"origin", TL_KEY_VEC3, 0, AT(origin), -1e6, 1e6, .unit = "m", .doc = "Point that it turns about"},
    {0},
};
static const tl_key_table velocity_table = {"velocity at the start, added to nv lines of the mesh", velocity_keys};
#undef AT

static const tl_key_def fabric_forms[] = {
    {.type = TL_KEY_TEXT, .doc = "name in materials or in the library, or a path"},
    {.type = TL_KEY_MAP, .text = "material.schema.json", .doc = "a fabric, see material.schema.json"},
    {0},
};
const tl_key_def tl_fabric_key = {.type = TL_KEY_ONE_OF, .item = fabric_forms, .doc = "a name, a path or a fabric"};
static const tl_key_def material_forms[] = {
    {.type = TL_KEY_TEXT, .doc = "name in materials or in the library, or a path"},
    {.type = TL_KEY_MAP, .text = "material.schema.json", .doc = "a fabric"},
    {.type = TL_KEY_LIST, .min = 1, .item = &tl_fabric_key, .doc = "one per face label"},
    {0},
};
static const tl_key_def mesh_forms[] = {
    {.type = TL_KEY_TEXT, .doc = "an OBJ file"},
    {.type = TL_KEY_OBJECT, .table = &tl_mesh_table, .doc = "a generated mesh"},
    {0},
};

static const char *const strain_words[] = {"isotropic", "aligned", NULL};

#define AT(field) offsetof(tl_strain_file, field)
static const tl_key_def strain_keys[] = {
    {"kind", TL_KEY_WORD, 0, AT(kind), .words = strain_words, .text = "isotropic",
     .doc = "The same in every direction, or along warp and weft"},
    {"min", TL_KEY_REAL, TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN, AT(min), -1, 0,
     .doc = "Least strain (stretch - 1), of the warp if aligned; default: no limit"},
    {"max", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(max), NOT_NEGATIVE,
     .doc = "Largest strain, of the warp if aligned; default: no limit"},
    {"weft_min", TL_KEY_REAL, TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN, AT(weft_min), -1, 0,
     .doc = "Aligned: least strain of the weft; default: as the warp"},
    {"weft_max", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(weft_max), NOT_NEGATIVE,
     .doc = "Aligned: largest strain of the weft; default: as the warp"},
    {"shear", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(shear), 0, 1,
     .doc = "Aligned: largest sine of the shear angle; default: no limit"},
    {0},
};
static const tl_key_table strain_table = {"limits on strain, held at the end of every step", strain_keys};
#undef AT

#define AT(field) offsetof(tl_cloth_file, field)
static const tl_key_def cloth_keys[] = {
    {"name", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(name),
     .doc = "Letters, digits, - and _, at most 63; default: cloth, or cloth0, cloth1, .."},
    {"mesh", TL_KEY_ONE_OF, TL_KEY_REQUIRED, .item = mesh_forms,
     .doc = "the name of an OBJ file, or an object with rectangle or disc"},
    {"material", TL_KEY_ONE_OF, TL_KEY_OPTIONAL, .item = material_forms,
     .doc = "a name, a path, a fabric, or a list of these by face label; default: a plain cotton"},
    {"density_scale", TL_KEY_REAL, POSITIVE_FLAG, AT(density_scale), 0, 1e6, {1}, .doc = "Factor on the density"},
    {"stretch_scale",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(stretch_scale),
     0,
     1e6,
     {1},
     .doc = "Factor on the stiffness in plane"},
    {"bend_scale", TL_KEY_REAL, 0, AT(bend_scale), 0, 1e6, {1}, .doc = "Factor on the bending rigidity"},
    {"damping_stretch", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(damping_stretch), NOT_NEGATIVE, .unit = "s",
     .doc = "Internal damping in plane; default: the fabric's own"},
    {"damping_bend", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(damping_bend), NOT_NEGATIVE, .unit = "s",
     .doc = "Internal damping of bending; default: the fabric's own"},
    {"friction_bend", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(friction_bend), NOT_NEGATIVE, .unit = "N",
     .doc = "Friction between yarns, moment per width; default: the fabric's own"},
    {"transform", TL_KEY_OBJECT, 0, AT(transform), .table = &transform_table, .doc = "Where the mesh is put"},
    {"velocity", TL_KEY_OBJECT, 0, AT(velocity), .table = &velocity_table, .doc = "Velocity at the start"},
    {"rest", TL_KEY_WORD, TL_KEY_OPTIONAL, AT(rest), .words = rest_length_words,
     .doc =
         "Where unstretched lengths come from: the mesh as it stands in space (world), vt in metres (uv), or vt scaled "
         "to the mesh (uv-scaled); default: uv, without vt world"},
    {"rest_shape", TL_KEY_WORD, 0, AT(rest_shape), .words = rest_words, .text = "flat",
     .doc = "Unstressed in bending: flat, or as the mesh stands"},
    {"thickness",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(thickness),
     0,
     1,
     {1e-3},
     .unit = "m",
     .doc = "Distance that two layers keep; to an obstacle: half of it"},
    {"friction", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(friction), 0, 100,
     .doc = "Coefficient against obstacles; default: the obstacle's own"},
    {"friction_self", TL_KEY_REAL, 0, AT(friction_self), 0, 100, {0.3}, .doc = "Coefficient against cloth"},
    {"unevenness",
     TL_KEY_REAL,
     0,
     AT(unevenness),
     0,
     1,
     {1e-5},
     .unit = "m/s",
     .doc = "Random speeds at the start across the plane of a cloth that is flat, at most; 0: none, and it may never "
            "leave the plane"},
    {"strain_limits", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(strain_limits), .table = &strain_table,
     .doc = "Limits on strain; default: none"},
    {"remeshing", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(remeshing), .table = &tl_cloth_remeshing_table,
     .doc = "Adaptive mesh of this cloth"},
    {"seams", TL_KEY_LIST, TL_KEY_LATER, .doc = "seams"},
    {0},
};
const tl_key_table tl_cloth_table = {"cloth", cloth_keys};
#undef AT

// ---- handles ----------------------------------------------------------------------------------------------

#define AT(field) offsetof(tl_box_file, field)
static const tl_key_def box_keys[] = {
    {"min", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(min), .unit = "m", .doc = "Lower corner"},
    {"max", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(max), .unit = "m", .doc = "Upper corner"},
    {0},
};
static const tl_key_table box_table = {"box in the world at the start", box_keys};
#undef AT
#define AT(field) offsetof(tl_sphere_file, field)
static const tl_key_def sphere_keys[] = {
    {"center", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(center), .unit = "m", .doc = "Centre"},
    {"radius", TL_KEY_REAL, TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, AT(radius), NOT_NEGATIVE, .unit = "m", .doc = "Radius"},
    {0},
};
static const tl_key_table sphere_table = {"sphere in the world at the start", sphere_keys};
#undef AT
#define AT(field) offsetof(tl_uv_box_file, field)
static const tl_key_def uv_box_keys[] = {
    {"min", TL_KEY_VEC2, TL_KEY_REQUIRED, AT(min), .unit = "m", .doc = "Lower corner"},
    {"max", TL_KEY_VEC2, TL_KEY_REQUIRED, AT(max), .unit = "m", .doc = "Upper corner"},
    {0},
};
static const tl_key_table uv_box_table = {"box in material space", uv_box_keys};
#undef AT

static const char *const curve_words[] = {"smooth", "cubic", NULL};  // as tl_curve
#define CURVE_DOC                                                                                                      \
    "Between the poses: smooth never goes beyond one, cubic goes through them with rates, turning by quaternions"

// Poses of handles and of obstacles, which differ in what they are relative to, and in `release`.
#define AT(field) offsetof(tl_motion_file, field)
#define MOTION_KEYS(from)                                                                                              \
    {                                                                                                                  \
        "time",   TL_KEY_REAL, TL_KEY_REQUIRED,                                                                        \
        AT(time), .unit = "s", .doc = "Time, strictly increasing; may be before 0"},                                   \
        {"translate", TL_KEY_VEC3, 0, AT(translate), -1e6, 1e6, .unit = "m", .doc = "Moved from where the " from},     \
        {"rotate",                                                                                                     \
         TL_KEY_VEC4,                                                                                                  \
         0,                                                                                                            \
         AT(rotate),                                                                                                   \
         -1e6,                                                                                                         \
         1e6,                                                                                                          \
         {0, 0, 1, 0},                                                                                                 \
         .unit = "degrees, axis",                                                                                      \
         .doc = "Turned about pivot; turns beyond 360 count"},                                                         \
        {"scale", TL_KEY_REAL, TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN,     AT(scale),                                       \
         0,       1e6,         .doc = "Factor about pivot; default 1"},                                                \
        {"velocity",                                                                                                   \
         TL_KEY_VEC3,                                                                                                  \
         TL_KEY_OPTIONAL,                                                                                              \
         AT(velocity),                                                                                                 \
         -1e6,                                                                                                         \
         1e6,                                                                                                          \
         .unit = "m/s",                                                                                                \
         .doc = "Rate of translate here, for the curve cubic; default, if none of the three rates is given: from the " \
                "neighbours"},                                                                                         \
        {"spin", TL_KEY_VEC3, TL_KEY_OPTIONAL, AT(spin),                                                               \
         -1e6,   1e6,         .unit = "rad/s", .doc = "Rate of the rotation here"},                                    \
    {                                                                                                                  \
        "growth", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(growth), -1e6, 1e6, .unit = "1/s", .doc = "Rate of scale here"      \
    }
static const tl_key_def motion_keys[] = {
    MOTION_KEYS("handle took hold"),
    {"release", TL_KEY_BOOL, 0, AT(release), .doc = "Let go at this key; the last one only"},
    {0},
};
static const tl_key_def obstacle_motion_keys[] = {
    MOTION_KEYS("obstacle is put"),
    {0},
};
#undef AT
const tl_key_table tl_motion_table = {"pose at one time", motion_keys};
const tl_key_table tl_obstacle_motion_table = {"pose at one time", obstacle_motion_keys};
static const tl_key_def motion_item = {.type = TL_KEY_OBJECT, .table = &tl_motion_table, .doc = "pose at one time"};
static const tl_key_def obstacle_motion_item = {
    .type = TL_KEY_OBJECT, .table = &tl_obstacle_motion_table, .doc = "pose at one time"};

const char *const tl_corner_words[] = {"all", "bottom-left", "bottom-right", "top-left", "top-right", NULL};
const char *const tl_side_words[] = {"all", "left", "right", "bottom", "top", NULL};
const tl_key_def tl_corner_key = {.type = TL_KEY_WORD, .words = tl_corner_words, .doc = "corner"};
const tl_key_def tl_side_key = {.type = TL_KEY_WORD, .words = tl_side_words, .doc = "side"};
const tl_key_def tl_node_index_key = {.type = TL_KEY_INT, .min = 0, .max = 2147483647, .doc = "node, from 0"};
static const tl_key_def corner_forms[] = {
    {.type = TL_KEY_WORD, .words = tl_corner_words, .doc = "corner"},
    {.type = TL_KEY_LIST, .min = 1, .item = &tl_corner_key, .doc = "corners"},
    {0},
};
static const tl_key_def side_forms[] = {
    {.type = TL_KEY_WORD, .words = tl_side_words, .doc = "side"},
    {.type = TL_KEY_LIST, .min = 1, .item = &tl_side_key, .doc = "sides"},
    {0},
};
static const tl_key_def cloth_forms[] = {
    {.type = TL_KEY_TEXT, .doc = "name of a cloth"},
    {.type = TL_KEY_INT, .min = 0, .max = 1e6, .doc = "place in the list of cloths, from 0"},
    {0},
};

#define AT(field) offsetof(tl_ellipse_file, field)
static const tl_key_def ellipse_keys[] = {
    {"center", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(center), .unit = "m", .doc = "Centre"},
    {"axis0", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(axis0), .unit = "m", .doc = "From the centre to the place of angle 0"},
    {"axis1", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(axis1), .unit = "m",
     .doc = "From the centre to the place a quarter turn on"},
    {"turns", TL_KEY_VEC2, TL_KEY_REQUIRED, AT(turns), .unit = "1/m",
     .doc = "Turns along it per metre of material x and y"},
    {0},
};
static const tl_key_table ellipse_table = {"ellipse that nodes are held on, by their material place", ellipse_keys};
#undef AT

static const char *const gather_words[] = {"gathers", "pleats", "rings", NULL};  // as tl_gather_kind
#define AT(field) offsetof(tl_gather_file, field)
static const tl_key_def gather_keys[] = {
    {"ratio",
     TL_KEY_REAL,
     0,
     AT(ratio),
     1,
     3.5,
     {2},
     .doc = "Width of the cloth over the width that it is gathered to"},
    {"kind", TL_KEY_WORD, 0, AT(kind), .words = gather_words, .text = "gathers",
     .doc = "gathers: uneven folds, all of the side is held; pleats: even ones; rings: held at the rings only, with a "
            "fold between"},
    {"count", TL_KEY_INT, 0, AT(count), 1, 10000, {12}, .doc = "How many folds, or rings"},
    {0},
};
static const tl_key_table gather_table = {"how a side is gathered", gather_keys};
#undef AT

#define AT(field) offsetof(tl_handle_file, field)
static const tl_key_def handle_keys[] = {
    {"cloth", TL_KEY_ONE_OF, TL_KEY_OPTIONAL, .item = cloth_forms,
     .doc = "the name of a cloth or its place in the list from 0; default: the first"},
    {"nodes", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &tl_node_index_key, .doc = "Nodes by number, from 0"},
    {"corners", TL_KEY_ONE_OF, TL_KEY_OPTIONAL, .item = corner_forms,
     .doc = "\"all\", a corner of a rectangle (bottom-left, bottom-right, top-left, top-right) or a list of them"},
    {"sides", TL_KEY_ONE_OF, TL_KEY_OPTIONAL, .item = side_forms,
     .doc = "\"all\", a side of a rectangle (left, right, bottom, top) or a list of them"},
    {"label", TL_KEY_INT, TL_KEY_OPTIONAL, AT(label), 1, 2147483647, .doc = "Nodes with this label (nl lines)"},
    {"box", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(box), .table = &box_table, .doc = "Nodes in a box of the world"},
    {"sphere", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(sphere), .table = &sphere_table, .doc = "Nodes in a sphere"},
    {"uv_box", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(uv_box), .table = &uv_box_table,
     .doc = "Nodes in a box of material space"},
    {"start", TL_KEY_REAL, 0, AT(start), NOT_NEGATIVE, .unit = "s", .doc = "Takes hold at this time"},
    {"end", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(end), NOT_NEGATIVE, .unit = "s", .doc = "Lets go; default: never"},
    {"fade", TL_KEY_REAL, 0, AT(fade), NOT_NEGATIVE, .unit = "s",
     .doc = "After end, springs that weaken to nothing in this time"},
    {"stiffness",
     TL_KEY_REAL,
     POSITIVE_FLAG,
     AT(stiffness),
     0,
     1e12,
     {1e3},
     .unit = "N/m",
     .doc = "Of those springs at first, per node; of the springs of a tie"},
    {"body", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(body),
     .doc = "Name of an obstacle: nodes are tied by springs to where they are on its skin"},
    {"slack", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(slack), NOT_NEGATIVE, .unit = "m",
     .doc = "How far nodes of a tie go from there before the springs pull; default: 0"},
    {"elastic", TL_KEY_REAL, TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN, AT(elastic), 0, 10,
     .doc = "A band: edges between the nodes want to be this fraction of their length in the material"},
    {"tension", TL_KEY_REAL, TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN, AT(tension), 0, 1e9, .unit = "N",
     .doc = "Of a band, per strain; default: 20"},
    {"ellipse", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(ellipse), .table = &ellipse_table,
     .doc = "Nodes are held on an ellipse, by their material place; default: where they were"},
    {"gather", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(gather), .table = &gather_table,
     .doc = "The cloth starts in folds, gathered along the side that is held; default: flat"},
    {"pivot", TL_KEY_VEC3, 0, AT(pivot), -1e6, 1e6, .unit = "m", .doc = "Centre of the rotations of motion"},
    {"curve", TL_KEY_WORD, 0, AT(curve), .words = curve_words, .text = "smooth", .doc = CURVE_DOC},
    {"motion", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &motion_item,
     .doc = "Path of the handle, smooth between the poses; default: held still"},
    {0},
};
const tl_key_table tl_handle_table = {"nodes held or moved; all selectors given must hold", handle_keys};
#undef AT

// ---- obstacles --------------------------------------------------------------------------------------------

const tl_key_def tl_file_key = {.type = TL_KEY_TEXT, .doc = "a mesh file: .obj, .ply, .stl, .glb or .gltf"};
const tl_key_def tl_time_key = {.type = TL_KEY_REAL, NOT_NEGATIVE, .unit = "s", .doc = "time of a shape"};
static const tl_key_def sequence_forms[] = {
    {.type = TL_KEY_TEXT, .doc = "names with a number, as in folder/%04d.obj"},
    {.type = TL_KEY_LIST, .min = 1, .item = &tl_file_key, .doc = "mesh files"},
    {0},
};
#define AT(field) offsetof(tl_sequence_file, field)
static const tl_key_def sequence_keys[] = {
    {"sequence", TL_KEY_ONE_OF, TL_KEY_REQUIRED, .item = sequence_forms,
     .doc = "a file name with a number such as folder/%04d.obj, or a list of files"},
    {"first", TL_KEY_INT, TL_KEY_OPTIONAL, AT(first), 0, 999999999,
     .doc = "First number of a name with a number; default 0"},
    {"last", TL_KEY_INT, TL_KEY_OPTIONAL, AT(last), 0, 999999999,
     .doc = "Last number; default: until a file is missing"},
    {"fps", TL_KEY_REAL, TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN, AT(fps), 0, 1e6, .unit = "1/s",
     .doc = "Shapes per second; default: the scene's fps"},
    {"start", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(start), NOT_NEGATIVE, .unit = "s",
     .doc = "Time of the first shape; default 0"},
    {"times", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &tl_time_key,
     .doc = "Time of every shape, strictly increasing; instead of fps and start"},
    {0},
};
const tl_key_table tl_sequence_table = {"mesh that deforms, straight paths between the shapes", sequence_keys};
#undef AT
static const tl_key_def obstacle_mesh_forms[] = {
    {.type = TL_KEY_TEXT, .doc = "a mesh file: .obj, .ply, .stl, .glb or .gltf"},
    {.type = TL_KEY_OBJECT, .table = &tl_sequence_table, .doc = "a mesh that deforms"},
    {0},
};

#define AT(field) offsetof(tl_plane_file, field)
static const tl_key_def plane_keys[] = {
    {"point", TL_KEY_VEC3, 0, AT(point), -1e6, 1e6, .unit = "m", .doc = "A point on it"},
    {"normal", TL_KEY_VEC3, 0, AT(normal), -1e6, 1e6, {0, 1, 0}, .doc = "Outwards, of any length"},
    {0},
};
static const tl_key_table plane_table = {"everything behind a plane", plane_keys};
#undef AT
#define AT(field) offsetof(tl_sphere_file, field)
static const tl_key_def ball_keys[] = {
    {"center", TL_KEY_VEC3, 0, AT(center), -1e6, 1e6, .unit = "m", .doc = "Centre"},
    {"radius", TL_KEY_REAL, TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, AT(radius), 0, 1e6, .unit = "m", .doc = "Radius"},
    {0},
};
static const tl_key_table ball_table = {"sphere", ball_keys};
#undef AT
#define AT(field) offsetof(tl_rod_file, field)
static const tl_key_def rod_keys[] = {
    {"from", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(from), -1e6, 1e6, .unit = "m", .doc = "One end of the axis"},
    {"to", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(to), -1e6, 1e6, .unit = "m", .doc = "The other end"},
    {"radius", TL_KEY_REAL, TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, AT(radius), 0, 1e6, .unit = "m", .doc = "Radius"},
    {0},
};
static const tl_key_table rod_table = {"round rod; the ends of a capsule are half balls beyond from and to", rod_keys};
#undef AT
#define AT(field) offsetof(tl_box_file, field)
static const tl_key_def block_keys[] = {
    {"min", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(min), -1e6, 1e6, .unit = "m", .doc = "Lower corner"},
    {"max", TL_KEY_VEC3, TL_KEY_REQUIRED, AT(max), -1e6, 1e6, .unit = "m", .doc = "Upper corner"},
    {0},
};
static const tl_key_table block_table = {"box", block_keys};
#undef AT

#define AT(field) offsetof(tl_obstacle_file, field)
static const tl_key_def obstacle_keys[] = {
    {"name", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(name),
     .doc = "1 to 63 letters, digits, '-', '_'; default: obstacle, or obstacle0, obstacle1, .."},
    {"mesh", TL_KEY_ONE_OF, TL_KEY_OPTIONAL, .item = obstacle_mesh_forms,
     .doc = "the name of a mesh file, or an object with a sequence of them"},
    {"character", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(character), .table = &tl_character_table,
     .doc = "A surface that a skeleton, morph targets or a cache move"},
    {"plane", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(plane), .table = &plane_table, .doc = "Everything behind a plane"},
    {"sphere", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(sphere), .table = &ball_table, .doc = "A sphere"},
    {"capsule", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(capsule), .table = &rod_table, .doc = "A rod with round ends"},
    {"cylinder", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(cylinder), .table = &rod_table, .doc = "A rod with flat ends"},
    {"box", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(box), .table = &block_table, .doc = "A box"},
    {"transform", TL_KEY_OBJECT, 0, AT(transform), .table = &transform_table, .doc = "Where it is put"},
    {"pivot", TL_KEY_VEC3, 0, AT(pivot), -1e6, 1e6, .unit = "m", .doc = "Centre of the rotations of motion"},
    {"curve", TL_KEY_WORD, 0, AT(curve), .words = curve_words, .text = "smooth", .doc = CURVE_DOC},
    {"motion", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &obstacle_motion_item,
     .doc = "Rigid motion on top, smooth between the poses; default: it stands still"},
    {"start", TL_KEY_REAL, 0, AT(start), NOT_NEGATIVE, .unit = "s", .doc = "Is there from this time on"},
    {"end", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(end), NOT_NEGATIVE, .unit = "s",
     .doc = "Is gone from this time on; default: never"},
    {"friction", TL_KEY_REAL, 0, AT(friction), 0, 100, {0.3}, .doc = "Coefficient"},
    {"thickness", TL_KEY_REAL, 0, AT(thickness), 0, 1, .unit = "m", .doc = "Extra distance kept from the surface"},
    {0},
};
const tl_key_table tl_obstacle_table = {
    "obstacle: exactly one of mesh, character, plane, sphere, capsule, cylinder, box", obstacle_keys};
#undef AT
