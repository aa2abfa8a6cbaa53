// io/pattern_drawing.h: what readers of drawings (SVG, DXF) share: which panel a line belongs to, edges out of many
// short lines, seams by name.
#pragma once
#include "io/pattern_io.h"

/// What is drawn beside outlines; kept until all panels are known.
typedef enum tl_mark_kind { TL_MARK_LINE, TL_MARK_GRAIN, TL_MARK_NOTCH, TL_MARK_DART, TL_MARK_SEAM } tl_mark_kind;

typedef struct tl_mark {
    tl_mark_kind kind;
    tl_line_kind line;
    double angle_deg, depth;
    char label[96];
    char seam[96];                        ///< of seams: two marks with one name are its sides
    tl_vec2 apex;                         ///< of darts
    char panel[TL_PATTERN_NAME_MAX + 1];  ///< "": the panel that it lies on
    int32_t first, count;                 ///< in `pieces`
    bool exact;                           ///< edge, edge_count, from and to are given (of notches: edge and from)
    int32_t edge, edge_count;
    double from, to;
    bool turned;
    int64_t line_number;  ///< in the file
} tl_mark;

typedef struct tl_drawing {
    tl_pattern *pattern;
    const char *path;
    tl_segment *pieces;
    tl_mark *marks;
    int32_t piece_count, piece_cap, mark_count, mark_cap;
} tl_drawing;

void tl_drawing_free(tl_drawing *d);

/// Keeps a mark with its pieces; `mark` is copied, `first` and `count` are filled in.
tl_status tl_drawing_add(tl_drawing *d, const tl_mark *mark, const tl_segment *pieces, int32_t count, tl_error *err);

/// Puts all marks where they belong: lines, grain and notches on panels, and makes seams of pairs with one name.
tl_status tl_drawing_finish(tl_drawing *d, tl_error *err);

/// Many short lines with small turns between them are one edge that a program has flattened. Fills `counts` (room for
/// `count`) with the pieces of each edge and returns the number of edges. `joined` may be NULL: pieces with the same
/// number belong together.
int32_t tl_drawing_edges(const tl_segment *pieces, int32_t count, const int32_t *joined, int32_t *counts);

/// `name`, or with a number behind it so that no panel is called so.
void tl_drawing_panel_name(const tl_pattern *pattern, const char *name, char *out, size_t size);

/// The same line the other way round.
void tl_drawing_reverse(tl_segment *pieces, int32_t count);
double tl_drawing_area(const tl_segment *pieces, int32_t count);  ///< of a closed line [m^2], > 0 counter-clockwise
