// toile/pattern.h: sewing patterns: flat panels with curved edges, and the seams between them. Metres, y up in the
// plane of a panel, its right side towards the reader.
//
// A pattern is filled by a reader (tl_pattern_load) or in code: add a panel, add its edges one after another around the
// outline, close it, then seams. Panels, edges and seams are known by their index, in the order in which they were
// added; an index never changes. Texts and arrays handed in are copied. Pointers handed out belong to the pattern and
// are valid until the next call that takes a non-const tl_pattern.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_pattern tl_pattern;  // opaque: owns everything below

// --- curves ----------------------------------------------------------------------------------------------

typedef enum tl_segment_kind {
    TL_SEGMENT_LINE,
    TL_SEGMENT_ARC,        ///< of a circle, by its bulge
    TL_SEGMENT_QUADRATIC,  ///< Bezier, control[0]
    TL_SEGMENT_CUBIC,      ///< Bezier, control[0] and control[1]
} tl_segment_kind;

/// One smooth piece of an edge.
typedef struct tl_segment {
    tl_segment_kind kind;
    tl_vec2 from, to;    ///< [m]
    tl_vec2 control[2];  ///< [m], of Bezier curves; zero otherwise
    double bulge;  ///< of arcs: tan(angle / 4), > 0 turns left (bulges to the right of from -> to), |bulge| 1 is a
                   ///< half circle, > 1 more than that
} tl_segment;

/// An arc as drawing programs give it. `large`: more than a half circle; `left`: it turns left on its way. A radius too
/// small for the chord gives a half circle.
TL_API tl_segment tl_segment_arc(tl_vec2 from, tl_vec2 to, double radius, int32_t large, int32_t left);

TL_API tl_vec2 tl_segment_point(const tl_segment *curve, double t);  ///< t in [0, 1]; an arc's angle goes evenly with t
TL_API tl_vec2 tl_segment_tangent(const tl_segment *curve, double t);  ///< derivative by t [m]
TL_API double tl_segment_length(const tl_segment *curve);              ///< [m], to 1e-12 of itself
TL_API double
tl_segment_area(const tl_segment *curve);  ///< integral of (x dy - y dx) / 2 along it [m^2]; exact but for rounding
TL_API double tl_segment_at(const tl_segment *curve,
                            double length);  ///< the t that lies `length` metres from the start

// --- what a panel is made of -----------------------------------------------------------------------------

/// A side of a panel between two corners: one or more curves in a row.
typedef struct tl_edge {
    const char *label;           ///< "" if none
    int32_t curve, curve_count;  ///< in the panel's `curves`
    double length;               ///< [m]
} tl_edge;

typedef enum tl_line_kind {
    TL_LINE_INTERNAL,  ///< drawn on the panel: the mesh follows it, nothing else happens there
    TL_LINE_FOLD,      ///< the cloth is folded here by `angle`
    TL_LINE_HOLE,      ///< closed: cut out
    TL_LINE_CUT,       ///< where the panel is cut beyond its seams (seam allowance); not meshed
    TL_LINE_DRILL,     ///< a single mark; `from` and `to` of its curve are the same
} tl_line_kind;

/// A line inside a panel (or around it, TL_LINE_CUT).
typedef struct tl_line {
    tl_line_kind kind;
    const char *label;
    int32_t curve, curve_count;  ///< in the panel's `line_curves`
    double angle_deg;            ///< of folds: 180 flat on the right side, -180 on the wrong side, 0 none
} tl_line;

/// A mark at the outline that says what meets what.
typedef struct tl_notch {
    int32_t edge;
    double at;     ///< fraction of the edge's length, 0 at its start
    double depth;  ///< [m], 0: not given
} tl_notch;

/// A wedge that is sewn up, drawn on a panel whose outline goes straight across its mouth. (A dart whose legs are edges
/// of the outline is a seam between them.)
typedef struct tl_dart {
    const char *label;
    int32_t edge;     ///< that the mouth lies on
    double from, to;  ///< fractions of that edge's length, from < to
    tl_vec2 apex;     ///< [m]
} tl_dart;

/// Where the panel starts in space: X = R (s, y, t) + origin with R = Rz Ry Rx of the angles. y up. Flat panels have
/// s = x, t = 0; bent ones lie on a cylinder, k s = sin(k x), k t = cos(k x) - 1 with k the bend.
typedef struct tl_placement {
    tl_vec3 origin;        ///< [m]
    tl_vec3 rotation_deg;  ///< about x, y and z, applied in this order
    double bend;           ///< curvature along x [1/m]; > 0: the sides go behind, -z; 0 flat
} tl_placement;

typedef struct tl_panel {
    const char *name, *label;  ///< names are unique; label: what kind of part it is ("body", "arm"), "" if none
    const tl_edge *edges;      ///< around the outline, either way; see `area`
    const tl_segment *curves;
    const tl_line *lines;
    const tl_segment *line_curves;
    const tl_notch *notches;
    const tl_dart *darts;
    int32_t edge_count, curve_count, line_count, line_curve_count, notch_count, dart_count;
    int32_t layer;              ///< 0 innermost
    int32_t has_grain, placed;  ///< 1: `grain`, `placement` are given
    tl_vec2 grain[2];           ///< the arrow along the warp [m]
    tl_placement placement;
    double area;       ///< [m^2], > 0 if the outline runs counter-clockwise, < 0 clockwise; holes are not taken off
    double perimeter;  ///< [m]
} tl_panel;

/// A stretch of a panel's outline: `count` edges from `edge` on, in the outline's order. `from` and `to` are fractions
/// of their whole length; from > to runs against the outline.
typedef struct tl_seam_side {
    int32_t panel, edge, count;
    double from, to;  ///< 0, 1 for all of it
} tl_seam_side;

/// Two stretches that are sewn together, start to start and end to end. Their lengths may differ (ease, gathers).
typedef struct tl_seam {
    const char *label;
    tl_seam_side side[2];
    int32_t turned;  ///< 1: right side on wrong side
} tl_seam;

/// What a measure does to panels when it gets another value. Of all that lies between `from` and `to` along x or y,
/// the extent changes; what is beyond moves along.
typedef struct tl_grade {
    const char *panel;  ///< word in the names of panels; "": all
    int32_t along_y;    ///< 0: along x, 1: along y
    double from, to;    ///< [m] in the plane of the panel; equal: all of it
    double share;       ///< of the difference that the stretch gets longer by; 0: it is scaled by new over old value
    int32_t keep;       ///< what stays where it is: -1 the lower end, 0 the middle, 1 the upper end
} tl_grade;

typedef struct tl_measure {
    const char *name, *unit;
    double value;
    const tl_grade *grades;
    int32_t grade_count;
} tl_measure;

// --- making one ------------------------------------------------------------------------------------------

/// `alloc` may be NULL for the default.
TL_API tl_status tl_pattern_create(const tl_allocator *alloc, tl_pattern **out, tl_error *err);
TL_API void tl_pattern_destroy(tl_pattern *pattern);  ///< NULL is fine

TL_API tl_status tl_pattern_set_name(tl_pattern *pattern, const char *name, tl_error *err);

/// A panel without an outline. TL_BAD_INPUT if the name is empty or taken. `out` may be NULL, here and below.
TL_API tl_status tl_pattern_add_panel(tl_pattern *pattern, const char *name, const char *label, int32_t *out,
                                      tl_error *err);

/// The next edge around the outline: `count` curves, the first of which starts where the last edge ended. `label` may
/// be NULL. TL_BAD_INPUT, with the panel and the edge named, for numbers that are not finite, edges without length and
/// gaps.
TL_API tl_status tl_pattern_add_edge(tl_pattern *pattern, int32_t panel, const tl_segment *curves, int32_t count,
                                     const char *label, int32_t *out, tl_error *err);

/// An inner line; `count` curves in a row.
TL_API tl_status tl_pattern_add_line(tl_pattern *pattern, int32_t panel, tl_line_kind kind, double angle_deg,
                                     const tl_segment *curves, int32_t count, const char *label, tl_error *err);
TL_API tl_status tl_pattern_add_notch(tl_pattern *pattern, int32_t panel, const tl_notch *notch, tl_error *err);
TL_API tl_status tl_pattern_add_dart(tl_pattern *pattern, int32_t panel, const tl_dart *dart, tl_error *err);
TL_API tl_status tl_pattern_set_grain(tl_pattern *pattern, int32_t panel, tl_vec2 from, tl_vec2 to, tl_error *err);
TL_API tl_status tl_pattern_set_layer(tl_pattern *pattern, int32_t panel, int32_t layer, tl_error *err);
TL_API tl_status tl_pattern_set_placement(tl_pattern *pattern, int32_t panel, const tl_placement *placement,
                                          tl_error *err);
TL_API tl_status tl_pattern_add_seam(tl_pattern *pattern, const tl_seam *seam, int32_t *out, tl_error *err);
TL_API tl_status tl_pattern_add_measure(tl_pattern *pattern, const char *name, double value, const char *unit,
                                        tl_error *err);

/// `measure`: of those added so far.
TL_API tl_status tl_pattern_add_grade(tl_pattern *pattern, int32_t measure, const tl_grade *grade, tl_error *err);

/// Made to measure: the pattern with another value of a measure, and its panels changed by the measure's grades.
/// PANEL.width and PANEL.length are measures of every pattern: the widest of the panels whose names hold the word PANEL
/// becomes so wide, the others in proportion. TL_BAD_INPUT lists the measures there are. `*out` is checked.
TL_API tl_status tl_pattern_grade(const tl_pattern *pattern, const char *measure, double value, tl_pattern **out,
                                  tl_error *err);

/// Looks at the whole: outlines closed and free of crossings, seams on edges that are there, no stretch sewn twice.
/// Readers call it; whoever builds in code should. TL_BAD_INPUT names panel and edge. What is odd but usable becomes a
/// note.
TL_API tl_status tl_pattern_check(tl_pattern *pattern, tl_error *err);

// --- files -----------------------------------------------------------------------------------------------

/// Reads a pattern by the ending of its name: .json (ours, GarmentCode or Garment-Pattern-Generator), .svg, .dxf, and
/// checks it (docs/patterns.md). Seams of .svg and .dxf may come from NAME.seams.json beside it. TL_BAD_INPUT messages
/// name the file, the line where there is one, panel and edge.
TL_API tl_status tl_pattern_load(const char *path, tl_pattern **out, tl_error *err);

/// 1: the file looks like a pattern, by the ending of its name or, if that is .json, by its keys.
TL_API int32_t tl_pattern_is(const char *path);

/// Writes it by the ending of `path`: _specification.json (GarmentCode), .json (ours), .svg or .dxf. Reading it back
/// gives the same geometry.
TL_API tl_status tl_pattern_save(const tl_pattern *pattern, const char *path, tl_error *err);

/// What has no place in the format of `path` and would not be saved, "2 inner lines, 1 hole"; "" if nothing. A text
/// that is longer than `size` is cut.
TL_API tl_status tl_pattern_left_out(const tl_pattern *pattern, const char *path, char *out, size_t size);

/// Draws it for people: outlines, seam numbers in matching colours, notches, grain and names, as SVG.
TL_API tl_status tl_pattern_draw(const tl_pattern *pattern, const char *path, tl_error *err);

/// The other direction for a seam whose file does not say: start to end and end to start.
TL_API tl_status tl_pattern_turn_seam(tl_pattern *pattern, int32_t seam, tl_error *err);

// --- looking at one --------------------------------------------------------------------------------------

TL_API const char *tl_pattern_name(const tl_pattern *pattern);
TL_API int32_t tl_pattern_panel_count(const tl_pattern *pattern);
TL_API const tl_panel *tl_pattern_panel(const tl_pattern *pattern, int32_t panel);  ///< NULL if out of range
TL_API int32_t tl_pattern_find_panel(const tl_pattern *pattern, const char *name);  ///< -1: none
TL_API int32_t tl_pattern_seam_count(const tl_pattern *pattern);
TL_API const tl_seam *tl_pattern_seam(const tl_pattern *pattern, int32_t seam);
TL_API int32_t tl_pattern_measure_count(const tl_pattern *pattern);
TL_API const tl_measure *tl_pattern_measure(const tl_pattern *pattern, int32_t measure);

/// What the reader or the check has to say about a pattern that is usable all the same.
TL_API int32_t tl_pattern_note_count(const tl_pattern *pattern);
TL_API const char *tl_pattern_note(const tl_pattern *pattern, int32_t note);

/// Length of a seam's side [m].
TL_API double tl_seam_side_length(const tl_pattern *pattern, const tl_seam_side *side);

/// The point at `fraction` of a seam side's way.
TL_API tl_vec2 tl_seam_side_point(const tl_pattern *pattern, const tl_seam_side *side, double fraction);

/// The point at a fraction of an edge's length; that of the panel's own corner at 0 and 1, to the bit.
TL_API tl_vec2 tl_edge_point(const tl_panel *panel, int32_t edge, double fraction);

/// Cuts an edge into `count` parts of equal length: points 0 .. count into `out`, ends to the bit.
TL_API void tl_edge_points(const tl_panel *panel, int32_t edge, int32_t count, tl_vec2 *out);

/// Where a point of the panel's plane starts in space.
TL_API tl_vec3 tl_placement_point(const tl_placement *placement, tl_vec2 point);

// --- panels as triangles ---------------------------------------------------------------------------------

typedef enum tl_panel_method {
    TL_PANEL_DELAUNAY,  ///< constrained Delaunay refinement: any panel, inner lines, holes and darts respected
    // Grids of quads cut into triangles (toile/grid.h): panels that are roughly four-sided, without holes.
    TL_PANEL_TFI,
    TL_PANEL_LENGTH,
    TL_PANEL_DIAGONAL,
    TL_PANEL_STRIPS,
    TL_PANEL_EQUAL_AREA,
} tl_panel_method;

/// "delaunay", "tfi", ..; NULL if out of range.
TL_API const char *tl_panel_method_name(tl_panel_method method);

/// Start from tl_pattern_mesh_def_default().
typedef struct tl_pattern_mesh_def {
    uint32_t struct_size;      ///< filled in by the default function, do not set
    tl_panel_method method;    ///< Default TL_PANEL_DELAUNAY.
    double edge;               ///< wanted edge length [m], 1e-5 to 10. Default 0.02.
    int32_t cells_u, cells_v;  ///< of grids: so many quads along each side; 0: by `edge`. Default 0, 0.
    int32_t panel;             ///< that panel alone; -1: all. Default -1.
} tl_pattern_mesh_def;
TL_API void tl_pattern_mesh_def_init(tl_pattern_mesh_def *def,
                                     size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_pattern_mesh_def tl_pattern_mesh_def_default(void)
{
    tl_pattern_mesh_def def;
    tl_pattern_mesh_def_init(&def, sizeof def);
    return def;
}

/// Two vertices that a seam brings together. Seams behind the pattern's own are its drawn darts, panel by panel.
typedef struct tl_seam_pair {
    int32_t seam, a, b;
} tl_seam_pair;

/// What became of one panel.
typedef struct tl_panel_mesh {
    int32_t panel, vert, vert_count, face, face_count;  ///< its part of the arrays
    double area, angle_min_deg;                         ///< of its triangles
    double area_ratio, area_cv;                         ///< of grids: quads, largest / smallest area; else 0
    int32_t repaired;                                   ///< of grids: the method's own grid was folded
} tl_panel_mesh;

/// Panels side by side, not yet sewn. Owns its arrays; tl_pattern_mesh_free gives them back.
typedef struct tl_pattern_mesh {
    tl_allocator alloc;
    tl_vec2 *at;         ///< in the plane of its panel [m]
    tl_vec2 *uv;         ///< on the cloth [m], right side up, the grain along v
    tl_vec3 *pos;        ///< where it starts in space: by placement, or flat side by side
    int32_t (*face)[3];  ///< counter-clockwise on the right side of the cloth
    tl_seam_pair *pairs;
    tl_panel_mesh *panels;
    int32_t vert_count, face_count, pair_count, panel_count;
    int32_t vert_cap, face_cap, pair_cap, panel_cap;  ///< of the arrays, for freeing
} tl_pattern_mesh;

/// Fills the panels of a checked pattern. Both sides of a seam get as many points, at the same fractions of their
/// lengths, so ease and gathers spread evenly (grids: each vertex goes to the nearest across). TL_BAD_INPUT, TL_FAILED:
/// `err` names the panel; `*out` is zero then. `alloc` may be NULL.
TL_API tl_status tl_pattern_mesh_make(const tl_allocator *alloc, const tl_pattern *pattern,
                                      const tl_pattern_mesh_def *def, tl_pattern_mesh *out, tl_error *err);
TL_API void tl_pattern_mesh_free(tl_pattern_mesh *mesh);  ///< zeroes *mesh; fine on a zero one

/// Writes the mesh as OBJ: v in space, vt on the cloth [m], a group per panel, a loose edge `l` per pair of a seam; and
/// the pairs to PATH with .seams.json in place of .obj.
TL_API tl_status tl_pattern_mesh_save(const tl_pattern *pattern, const tl_pattern_mesh *mesh, const char *path,
                                      tl_error *err);

/// The triangles on the sheet of tl_pattern_draw, as SVG; and what the mesh is like, panel by panel and seam by seam,
/// as JSON.
TL_API tl_status tl_pattern_mesh_draw(const tl_pattern *pattern, const tl_pattern_mesh *mesh, const char *path,
                                      tl_error *err);
TL_API tl_status tl_pattern_mesh_describe(const tl_pattern *pattern, const tl_pattern_mesh *mesh, const char *path,
                                          tl_error *err);

#ifdef __cplusplus
}
#endif
