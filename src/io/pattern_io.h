// io/pattern_io.h: sewing patterns of other programs: GarmentCode JSON, SVG, DXF (docs/patterns.md).
//
// Readers fill an empty pattern and leave the check of the whole (tl_pattern_check) to the caller. Writers append the
// file to a buffer. What is only odd becomes a note of the pattern.
#pragma once
#include "io/json.h"
#include "io/text.h"
#include "pattern/pattern.h"

enum { TL_PATTERN_MAX_BYTES = 256 << 20 };

/// NaN and Infinity, which Python's writers leave in JSON files, as texts: then the message says where they stand.
/// `user` is the tl_reader behind it.
tl_status tl_pattern_json_text(void *user, const tl_allocator *alloc, const char *path, size_t max_size, tl_text *out,
                               tl_error *err);

bool tl_garmentcode_is(const json_t *root);
tl_status tl_garmentcode_read(const tl_node *root, tl_pattern *out, tl_error *err);

/// Outlines are cut where seams begin and end and at darts; what has no place in the format is left out. Fails where
/// seams cannot be paired, as for a mesh.
tl_status tl_garmentcode_write(tl_buf *buf, const tl_pattern *pattern, tl_error *err);
/// What that leaves out, "2 inner lines, 1 hole"; nothing if nothing.
void tl_garmentcode_left_out(tl_buf *buf, const tl_pattern *pattern);

tl_status tl_svg_pattern_read(const char *path, const char *text, size_t size, tl_pattern *out, tl_error *err);

/// The pattern as a cutter wants to see it: outlines, seam numbers in matching colours, notches, grain, names. Read
/// back, it is the same pattern.
void tl_svg_pattern_write(tl_buf *buf, const tl_pattern *pattern);

/// Where panels stand on a sheet: x' = 1000 x + move.x, y' = move.y - 1000 y [mm]; and the colour of a seam.
bool tl_svg_layout(const tl_pattern *pattern, tl_vec2 *move, double *width, double *height, double *font);
void tl_svg_seam_colour(int32_t seam, char out[8]);

/// The triangles of all panels with the vertices that seams pair.
void tl_svg_mesh_write(tl_buf *buf, const tl_pattern *pattern, const tl_pattern_mesh *mesh);

void tl_pattern_mesh_obj(tl_buf *buf, const tl_pattern *pattern, const tl_pattern_mesh *mesh);
void tl_pattern_mesh_seams(tl_buf *buf, const tl_pattern *pattern, const tl_pattern_mesh *mesh);
void tl_pattern_mesh_report(tl_buf *buf, const tl_pattern *pattern, const tl_pattern_mesh *mesh);

tl_status tl_dxf_pattern_read(const char *path, const char *text, size_t size, tl_pattern *out, tl_error *err);
void tl_dxf_pattern_write(tl_buf *buf, const tl_pattern *pattern);
