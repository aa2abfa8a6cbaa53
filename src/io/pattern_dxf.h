// io/pattern_dxf.h: what the reader of DXF pieces keeps of the piece at hand.
#pragma once
#include <math.h>

#include "io/dxf.h"
#include "io/pattern_drawing.h"

/// One line of an outline as it stands in the file.
typedef struct tl_dxf_chain {
    int32_t first, count, layer;
    bool closed, used;
    char label[96];
    int64_t line;
} tl_dxf_chain;

typedef struct tl_dxf_reader {
    tl_dxf dxf;
    tl_drawing drawing;  ///< marks of the piece at hand
    tl_dxf_entity entity;
    tl_buf comments, block_comments, file_comments;
    double unit;     ///< [m]
    bool own;        ///< curves of the piece at hand come from comments of ours
    bool any_layer;  ///< no layer is known by its number: every line is an outline
    char block[TL_PATTERN_NAME_MAX + 1], piece[TL_PATTERN_NAME_MAX + 1];
    tl_segment *pieces;
    tl_dxf_chain *chains;
    tl_vec2 *turns;  ///< turn points
    int32_t piece_count, piece_cap, chain_count, chain_cap, turn_count, turn_cap;
} tl_dxf_reader;

#define TL_DXF_JOINT                                                                                                   \
    2e-5  // [m]: ends of lines within this are one corner; files are written to a hundredth of a millimetre

static inline tl_allocator *tl_dxf_alloc(tl_dxf_reader *r) { return &r->drawing.pattern->alloc; }
static inline double tl_dxf_gap(tl_vec2 a, tl_vec2 b) { return hypot(a.x - b.x, a.y - b.y); }

/// Open lines of one layer in a row: fills `order` with chains from `start` on until they close. Returns how many; 0:
/// open, and `*loose` is where.
int32_t tl_dxf_chain_up(tl_dxf_reader *r, int32_t start, int32_t *order, tl_vec2 *loose);

/// Drawings of others say nothing by their direction: counter-clockwise, as pieces lie on the table, right side up.
void tl_dxf_face_up(tl_dxf_reader *r, int32_t *order, int32_t count);

/// The edges of a chain: between turn points where there are some; else all of it, or as drawn where it is the outline.
tl_status tl_dxf_add_edges(tl_dxf_reader *r, const tl_dxf_chain *c, bool whole, int32_t panel, tl_error *err);

/// Adds the largest loop of `layer` as the outline of a panel; false in *found: there is none.
tl_status tl_dxf_add_outline(tl_dxf_reader *r, int32_t layer, int32_t panel, bool *found, tl_error *err);

/// Loops of the boundary that are not the outline: the cut line where there is a sew line, or a hole.
tl_status tl_dxf_add_other_loops(tl_dxf_reader *r, int32_t panel, tl_line_kind kind, tl_error *err);
