// pattern/pattern.h: the inside of a tl_pattern.
#pragma once
#include <stdbool.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "toile/pattern.h"

/// A panel and the room that its arrays have. The pointers in `view` are these arrays.
typedef struct tl_panel_data {
    tl_panel view;
    tl_edge *edges;
    tl_segment *curves, *line_curves;
    tl_line *lines;
    tl_notch *notches;
    tl_dart *darts;
    int32_t edge_cap, curve_cap, line_cap, line_curve_cap, notch_cap, dart_cap;
} tl_panel_data;

struct tl_pattern {
    tl_allocator alloc;
    tl_arena texts;  ///< every text; given back as a whole
    const char *name;
    tl_panel_data *panels;
    tl_seam *seams;
    tl_measure *measures;
    const char **notes;
    int32_t panel_count, panel_cap, seam_count, seam_cap, measure_count, measure_cap, note_count, note_cap;
    bool closed;  ///< tl_pattern_check has found it sound and nothing was added since
};

enum { TL_PATTERN_NAME_MAX = 200, TL_PATTERN_CURVES_MAX = 4000000 };

#define TL_PATTERN_SIZE_MAX 1000.0  // [m]: a panel that reaches further is in the wrong unit

/// A copy of the text in the pattern's keeping; NULL when memory runs out. NULL gives "".
const char *tl_pattern_text(tl_pattern *pattern, const char *text);

/// Adds a note; failures of memory are silent, a note is not worth an error.
void tl_pattern_add_note(tl_pattern *pattern, const char *format, ...) TL_PRINTF(2, 3);

/// "panel 'front', edge 3 ('hem')" into `out`.
const char *tl_pattern_edge_name(const tl_panel *panel, int32_t edge, char *out, size_t size);

double tl_segment_length_to(const tl_segment *segment, double t);  ///< from its start [m]

/// The nearest point of the outline: which edge, which fraction of its length. Returns the distance [m].
double tl_panel_nearest(const tl_panel *panel, tl_vec2 p, int32_t *edge, double *fraction);

/// Is the point inside of the outline? Either way, if it lies on it.
bool tl_panel_contains(const tl_panel *panel, tl_vec2 p);
