// scene/pattern_keys.h: the keys of our own pattern files (docs/patterns.md, docs/pattern.schema.json).
#pragma once
#include "scene/keys.h"

typedef struct tl_segment_file {
    tl_vec2 to;
    double bulge, radius;  ///< NAN: not given
    int32_t large, clockwise;
} tl_segment_file;

typedef struct tl_edge_file {
    const char *label;
    tl_segment_file segment;  ///< of edges with `to` in place of a path
} tl_edge_file;

typedef struct tl_line_file {
    const char *label;
    int32_t kind;
    double angle;
    tl_vec2 start;
} tl_line_file;

typedef struct tl_notch_file {
    int64_t edge;
    double at, depth;
} tl_notch_file;

typedef struct tl_dart_file {
    const char *label;
    int64_t edge;
    double from, to;
    tl_vec2 apex;
} tl_dart_file;

typedef struct tl_placement_file {
    tl_vec3 origin, rotation;
    double bend;
} tl_placement_file;

typedef struct tl_panel_file {
    const char *name, *label;
    int64_t layer;
    tl_vec2 start;
    tl_placement_file placement;
} tl_panel_file;

typedef struct tl_seam_side_file {
    const char *panel;
    int64_t edge, count;
    double from, to;
} tl_seam_side_file;

typedef struct tl_seam_file {
    const char *label;
    int32_t turned;
} tl_seam_file;

typedef struct tl_measure_file {
    const char *name, *unit;
    double value;
} tl_measure_file;

typedef struct tl_grade_file {
    const char *panels;
    int32_t along, keep;
    double from, to, share;
} tl_grade_file;

typedef struct tl_pattern_file {
    int32_t format;
    const char *name;
} tl_pattern_file;

extern const tl_key_table tl_pattern_table, tl_panel_table, tl_edge_table, tl_segment_table, tl_line_table,
    tl_notch_table, tl_dart_table, tl_placement_table, tl_seam_table, tl_seam_side_table, tl_measure_table,
    tl_grade_table;

/// A file beside an SVG or DXF that says what is sewn: {"seams": [..]}.
extern const tl_key_table tl_seams_table;

#define TL_PATTERN_FORMAT "toile-pattern-1"

/// docs/pattern.schema.json; a new reference, NULL when memory runs out.
json_t *tl_pattern_schema(void);
