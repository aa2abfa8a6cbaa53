// scene/pattern_keys.c: the keys of our own pattern files: name, type, range, default, unit and one sentence each.
// clang-format off: tables with one key a line read best

#include "scene/pattern_keys.h"

#include <stddef.h>

#define PLACE -1000, 1000
#define AT(field) offsetof(tl_segment_file, field)
static const tl_key_def point_item = {
    .type = TL_KEY_VEC2, .min = -1000, .max = 1000, .unit = "m", .doc = "a point [x, y]"};
#define SEGMENT_KEYS(flags_of_to, base)                                                                                \
    {"to", TL_KEY_VEC2, flags_of_to, base + AT(to), PLACE, .unit = "m", .doc = "Where it ends"},                       \
        {"bulge",                                                                                                      \
         TL_KEY_REAL,                                                                                                  \
         TL_KEY_OPTIONAL,                                                                                              \
         base + AT(bulge),                                                                                             \
         -1e6,                                                                                                         \
         1e6,                                                                                                          \
         .doc = "Arc of a circle: tan(angle / 4), > 0 turns left"},                                                    \
        {"radius",                                                                                                     \
         TL_KEY_REAL,                                                                                                  \
         TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN,                                                                            \
         base + AT(radius),                                                                                            \
         0,                                                                                                            \
         1e6,                                                                                                          \
         .unit = "m",                                                                                                  \
         .doc = "Arc of a circle by its radius, in place of bulge"},                                                   \
        {"large", TL_KEY_BOOL, TL_KEY_OPTIONAL, base + AT(large), .doc = "With radius: more than a half circle"},      \
        {"clockwise", TL_KEY_BOOL, TL_KEY_OPTIONAL, base + AT(clockwise), .doc = "With radius: the arc turns right"},  \
    {                                                                                                                  \
        "control", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &point_item, .unit = "m",                           \
                                                 .doc = "Bezier curve: one control point (quadratic) or two (cubic)"   \
    }

static const tl_key_def segment_keys[] = {
    SEGMENT_KEYS(TL_KEY_REQUIRED, 0),
    {0},
};
const tl_key_table tl_segment_table = {"a piece of an edge: a line unless bulge, radius or control is given",
                                       segment_keys};
#undef AT

static const tl_key_def segment_item = {.type = TL_KEY_OBJECT, .table = &tl_segment_table, .doc = "a piece"};
#define AT(field) offsetof(tl_segment_file, field)
static const tl_key_def edge_keys[] = {
    {"label", TL_KEY_TEXT, TL_KEY_OPTIONAL, offsetof(tl_edge_file, label), .doc = "What it is: hem, left_armhole"},
    SEGMENT_KEYS(TL_KEY_OPTIONAL, offsetof(tl_edge_file, segment)),
    {"path", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &segment_item,
     .doc = "Several pieces in a row, in place of to"},
    {0},
};
#undef AT
const tl_key_table tl_edge_table = {"an edge: from where the last one ended to its own end", edge_keys};

static const char *const line_words[] = {"internal", "fold", "hole", "cut", "drill", NULL};  // as tl_line_kind
#define AT(field) offsetof(tl_line_file, field)
static const tl_key_def line_keys[] = {
    {"kind", TL_KEY_WORD, 0, AT(kind), .words = line_words, .text = "internal",
     .doc = "internal: the mesh follows it; fold; hole: closed, cut out; cut: seam allowance; drill: a mark"},
    {"label", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(label), .doc = "What it is"},
    {"angle", TL_KEY_REAL, 0, AT(angle), -180, 180, .unit = "deg",
     .doc = "Of folds: 180 flat on the right side, -180 on the wrong side"},
    {"start", TL_KEY_VEC2, TL_KEY_REQUIRED, AT(start), PLACE, .unit = "m", .doc = "Where it starts"},
    {"path", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &segment_item,
     .doc = "Its pieces in a row; none for a drill"},
    {0},
};
const tl_key_table tl_line_table = {"a line inside a panel", line_keys};
#undef AT

#define AT(field) offsetof(tl_notch_file, field)
static const tl_key_def notch_keys[] = {
    {"edge", TL_KEY_INT, TL_KEY_REQUIRED, AT(edge), 0, 1e9, .doc = "Number of the edge, from 0"},
    {"at", TL_KEY_REAL, TL_KEY_REQUIRED, AT(at), 0, 1, .doc = "Fraction of the edge's length"},
    {"depth", TL_KEY_REAL, 0, AT(depth), 0, 0.99, .unit = "m", .doc = "Depth of the cut; 0: not given"},
    {0},
};
const tl_key_table tl_notch_table = {"a notch", notch_keys};
#undef AT

#define AT(field) offsetof(tl_dart_file, field)
static const tl_key_def dart_keys[] = {
    {"label", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(label), .doc = "What it is"},
    {"edge", TL_KEY_INT, TL_KEY_REQUIRED, AT(edge), 0, 1e9, .doc = "Number of the edge that its mouth lies on"},
    {"from", TL_KEY_REAL, TL_KEY_REQUIRED, AT(from), 0, 1,
     .doc = "Where the mouth starts, fraction of the edge's length"},
    {"to", TL_KEY_REAL, TL_KEY_REQUIRED, AT(to), 0, 1, .doc = "Where the mouth ends"},
    {"apex", TL_KEY_VEC2, TL_KEY_REQUIRED, AT(apex), PLACE, .unit = "m", .doc = "Its point inside the panel"},
    {0},
};
const tl_key_table tl_dart_table = {"a dart drawn on a panel", dart_keys};
#undef AT

#define AT(field) offsetof(tl_placement_file, field)
static const tl_key_def placement_keys[] = {
    {"origin", TL_KEY_VEC3, 0, AT(origin), PLACE, .unit = "m", .doc = "Where the panel's origin starts in space"},
    {"rotation", TL_KEY_VEC3, 0, AT(rotation), -1e6, 1e6, .unit = "deg", .doc = "About x, then y, then z"},
    {"bend",
     TL_KEY_REAL,
     0,
     AT(bend),
     -1000,
     1000,
     {0},
     .unit = "1/m",
     .doc = "Curvature along x: 1 over the radius of the cylinder that it lies on; above 0 the sides go behind"},
    {0},
};
const tl_key_table tl_placement_table = {"where a panel starts in space, y up", placement_keys};
#undef AT

#define AT(field) offsetof(tl_panel_file, field)
static const tl_key_def edge_item = {.type = TL_KEY_OBJECT, .table = &tl_edge_table, .doc = "an edge"};
static const tl_key_def line_item = {.type = TL_KEY_OBJECT, .table = &tl_line_table, .doc = "a line"};
static const tl_key_def notch_item = {.type = TL_KEY_OBJECT, .table = &tl_notch_table, .doc = "a notch"};
static const tl_key_def dart_item = {.type = TL_KEY_OBJECT, .table = &tl_dart_table, .doc = "a dart"};
static const tl_key_def panel_keys[] = {
    {"name", TL_KEY_TEXT, TL_KEY_REQUIRED, AT(name), .doc = "Unique name of the panel"},
    {"label", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(label), .doc = "What kind of part it is: body, arm"},
    {"layer", TL_KEY_INT, TL_KEY_OPTIONAL, AT(layer), -1000, 1000, .doc = "Which layer of the garment, 0 innermost"},
    {"placement", TL_KEY_OBJECT, TL_KEY_OPTIONAL, AT(placement), .table = &tl_placement_table,
     .doc = "Where it starts in space"},
    {"grain", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 2, .item = &point_item, .unit = "m",
     .doc = "The arrow along the warp, [from, to]"},
    {"start", TL_KEY_VEC2, TL_KEY_REQUIRED, AT(start), PLACE, .unit = "m",
     .doc = "Where edge 0 starts and the last one ends"},
    {"edges", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 1, .item = &edge_item,
     .doc = "Around the outline; counter-clockwise shows the right side of the cloth"},
    {"lines", TL_KEY_LIST, TL_KEY_OPTIONAL, .item = &line_item, .doc = "What is drawn inside"},
    {"notches", TL_KEY_LIST, TL_KEY_OPTIONAL, .item = &notch_item, .doc = "Marks at the outline"},
    {"darts", TL_KEY_LIST, TL_KEY_OPTIONAL, .item = &dart_item, .doc = "Wedges that are sewn up"},
    {0},
};
const tl_key_table tl_panel_table = {"a panel", panel_keys};
#undef AT

#define AT(field) offsetof(tl_seam_side_file, field)
static const tl_key_def seam_side_keys[] = {
    {"panel", TL_KEY_TEXT, TL_KEY_REQUIRED, AT(panel), .doc = "Name of the panel"},
    {"edge", TL_KEY_INT, TL_KEY_REQUIRED, AT(edge), 0, 1e9, .doc = "Number of its first edge, from 0"},
    {"count", TL_KEY_INT, 0, AT(count), 1, 1e9, {1}, .doc = "So many edges in a row"},
    {"from", TL_KEY_REAL, 0, AT(from), 0, 1, {0}, .doc = "Where it starts, fraction of their whole length"},
    {"to", TL_KEY_REAL, 0, AT(to), 0, 1, {1}, .doc = "Where it ends; from > to runs against the outline"},
    {0},
};
const tl_key_table tl_seam_side_table = {"one side of a seam", seam_side_keys};
#undef AT

#define AT(field) offsetof(tl_seam_file, field)
static const tl_key_def side_item = {.type = TL_KEY_OBJECT, .table = &tl_seam_side_table, .doc = "a side"};
static const tl_key_def seam_keys[] = {
    {"label", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(label), .doc = "What it is"},
    {"sides", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 2, .item = &side_item,
     .doc = "Two, sewn start to start and end to end"},
    {"turned", TL_KEY_BOOL, TL_KEY_OPTIONAL, AT(turned), .doc = "Right side on wrong side"},
    {0},
};
const tl_key_table tl_seam_table = {"a seam", seam_keys};
#undef AT

static const char *const along_words[] = {"x", "y", NULL};
static const char *const keep_words[] = {"low", "middle", "high", NULL};
#define AT(field) offsetof(tl_grade_file, field)
static const tl_key_def grade_keys[] = {
    {"panels", TL_KEY_TEXT, 0, AT(panels), .text = "", .doc = "Word in the names of panels; default: all"},
    {"along", TL_KEY_WORD, TL_KEY_REQUIRED, AT(along), .words = along_words, .doc = "Axis of the panel"},
    {"from", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(from), -1000, 1000, .unit = "m", .doc = "Where the stretch begins"},
    {"to", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(to), -1000, 1000, .unit = "m", .doc = "Where it ends; default: all of it"},
    {"share", TL_KEY_REAL, 0, AT(share), -100, 100,
     .doc = "Part of the difference that it gets longer by; 0: it is scaled as the measure is"},
    {"keep", TL_KEY_WORD, 0, AT(keep), .words = keep_words, .text = "middle", .doc = "What stays where it is"},
    {0},
};
const tl_key_table tl_grade_table = {"a grade", grade_keys};
static const tl_key_def grade_item = {.type = TL_KEY_OBJECT, .table = &tl_grade_table, .doc = "a grade"};
#undef AT
#define AT(field) offsetof(tl_measure_file, field)
static const tl_key_def measure_keys[] = {
    {"name", TL_KEY_TEXT, TL_KEY_REQUIRED, AT(name), .doc = "What is measured: bust"},
    {"value", TL_KEY_REAL, TL_KEY_REQUIRED, AT(value), .doc = "Its value"},
    {"unit", TL_KEY_TEXT, 0, AT(unit), .text = "m", .doc = "Its unit"},
    {"grade", TL_KEY_LIST, TL_KEY_OPTIONAL, .item = &grade_item, .doc = "What another value does to panels"},
    {0},
};
const tl_key_table tl_measure_table = {"a measure", measure_keys};
#undef AT

#define AT(field) offsetof(tl_pattern_file, field)
static const char *const format_words[] = {TL_PATTERN_FORMAT, NULL};
static const tl_key_def panel_item = {.type = TL_KEY_OBJECT, .table = &tl_panel_table, .doc = "a panel"};
static const tl_key_def seam_item = {.type = TL_KEY_OBJECT, .table = &tl_seam_table, .doc = "a seam"};
static const tl_key_def measure_item = {.type = TL_KEY_OBJECT, .table = &tl_measure_table, .doc = "a measure"};
static const tl_key_def pattern_keys[] = {
    {"format", TL_KEY_WORD, TL_KEY_REQUIRED, AT(format), .words = format_words, .doc = "Says that this is a pattern"},
    {"name", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(name), .doc = "Name of the pattern"},
    {"measures", TL_KEY_LIST, TL_KEY_OPTIONAL, .item = &measure_item, .doc = "Measures that it was drawn for"},
    {"panels", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 1, .item = &panel_item, .doc = "The panels"},
    {"seams", TL_KEY_LIST, TL_KEY_OPTIONAL, .item = &seam_item, .doc = "What is sewn to what"},
    {0},
};
const tl_key_table tl_pattern_table = {"Toile pattern", pattern_keys};
#undef AT

static const tl_key_def seams_keys[] = {
    {"seams", TL_KEY_LIST, TL_KEY_REQUIRED, .item = &seam_item, .doc = "What is sewn to what"},
    {0},
};
const tl_key_table tl_seams_table = {"seams of a pattern", seams_keys};

json_t *tl_pattern_schema(void)
{
    json_t *out = json_object(), *body = tl_table_schema(&tl_pattern_table);
    bool ok = out && body;
    ok = ok && json_object_set_new(out, "$schema", json_string("https://json-schema.org/draft/2020-12/schema")) == 0;
    ok = ok && json_object_update(out, body) == 0;
    json_decref(body);
    if (ok) return out;
    json_decref(out);
    return NULL;
}
