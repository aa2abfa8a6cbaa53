// io/svg_path.h: the path data and transforms of SVG, as curves in metres.
#pragma once
#include "base/alloc.h"
#include "io/xml.h"
#include "toile/pattern.h"

/// x' = a x + c y + e, y' = b x + d y + f.
typedef struct tl_affine {
    double a, b, c, d, e, f;
} tl_affine;

tl_affine tl_affine_times(tl_affine first_applied_last, tl_affine second);
tl_vec2 tl_affine_point(const tl_affine *m, tl_vec2 p);

/// The list of an attribute `transform`; false: it cannot be read.
bool tl_svg_transform(tl_slice text, tl_affine *out);

/// The next number of a list separated by blanks and commas; false: there is none.
bool tl_svg_number(const char **at, const char *end, double *out);

/// Pieces of one element, subpath by subpath.
typedef struct tl_svg_path {
    tl_allocator alloc;
    tl_segment *items;
    int32_t
        *joined;  ///< piece i and those before it with the same number are one piece of the drawing (an ellipse's arc)
    int32_t count, cap, joined_cap;
    int32_t *start;  ///< first piece of each subpath
    uint8_t *closed;
    int32_t sub_count, start_cap, closed_cap;
    int32_t next_joined;
} tl_svg_path;

void tl_svg_path_free(tl_svg_path *path);

/// Appends path data, moved by `m`. `what` names the element in messages.
tl_status tl_svg_path_read(tl_svg_path *path, tl_slice data, const tl_affine *m, const char *what, tl_error *err);

// Building blocks for the other shapes, in the element's own coordinates.
typedef struct tl_path_pen {
    tl_svg_path *path;
    const tl_affine *m;
    tl_vec2 at, start;  ///< in user units
    bool open;          ///< a subpath has begun
} tl_path_pen;

bool tl_path_pen_move(tl_path_pen *pen, tl_vec2 to);
bool tl_path_pen_line(tl_path_pen *pen, tl_vec2 to);
bool tl_path_pen_arc(tl_path_pen *pen, const double r[3], bool large, bool sweep,
                     tl_vec2 to);  ///< r: rx, ry, turn in degrees
bool tl_path_pen_close(tl_path_pen *pen);
