// scene/pattern_file.h: pattern files of every format, and our own.
#pragma once
#include "io/json.h"
#include "io/text.h"
#include "pattern/pattern.h"

/// What reading our own files needs on the way.
typedef struct tl_pattern_reader {
    tl_pattern *pattern;
    tl_segment *segments;  ///< of the edge or line at hand
    int32_t count, cap;
} tl_pattern_reader;

/// Our own format into an empty pattern; no check of the whole.
tl_status tl_pattern_json_read(const tl_node *root, tl_pattern *out, tl_error *err);

/// {"seams": [..]} on top of a pattern.
tl_status tl_pattern_seams_read(const tl_node *root, tl_pattern *out, tl_error *err);

void tl_pattern_json_write(tl_buf *buf, const tl_pattern *pattern);

/// Reads a pattern of any format and checks it; `reader` NULL: from disk.
tl_status tl_pattern_open(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_pattern **out,
                          tl_error *err);

/// Is this file a pattern, by its name or its keys? Looks at the text only for .json.
bool tl_pattern_file_is(const tl_allocator *alloc, const char *path);

/// Is this what `toile mesh` writes beside an OBJ, rather than seams for a drawing?
bool tl_mesh_seams_are(const json_t *root);
