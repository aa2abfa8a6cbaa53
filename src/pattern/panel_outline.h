// pattern/panel_outline.h: outlines cut into stretches that seams pair, and points along them.
//
// A station is a place on an outline where a point must stand: a corner, the end of a seam, of a dart's mouth or of an
// inner line. What lies on one side of a seam is carried over to the other, until nothing new comes up. Between
// stations lie stretches; those that seams pair get the same number of points.
#pragma once
#include "pattern/pattern.h"

typedef struct tl_stretch {
    int32_t panel;
    double from, length;  ///< [m] along the outline
    int32_t parent;       ///< of the union of stretches that share their count
    int32_t parts;        ///< chords; of the root of a union
    int32_t edge;         ///< first of its chords in the region's edges; filled in by the mesher
    bool removed;         ///< the mouth of a dart
} tl_stretch;

/// Stretches a and b are sewn together.
typedef struct tl_stretch_link {
    int32_t a, b, seam;
    bool reversed;  ///< b's start meets a's end
    bool back;      ///< the seam runs against a's outline
} tl_stretch_link;

typedef struct tl_panel_outline {
    double *station;  ///< ascending, [0, perimeter)
    int32_t count, cap;
    double *reach;    ///< length up to curve k; curve_count + 1 entries
    int32_t stretch;  ///< the first of its `count` stretches
} tl_panel_outline;

typedef struct tl_outlines {
    tl_allocator alloc;
    const tl_pattern *pattern;
    tl_panel_outline *panels;
    int32_t panel_count;
    tl_stretch *stretches;
    tl_stretch_link *links;
    int32_t stretch_count, stretch_cap, link_count, link_cap;
} tl_outlines;

/// Stations, stretches, links and counts for chords of about `edge` metres. Call tl_outlines_free either way.
tl_status tl_outlines_make(const tl_allocator *alloc, const tl_pattern *pattern, double edge, tl_outlines *out,
                           tl_error *err);
void tl_outlines_free(tl_outlines *o);

int32_t tl_stretch_root(const tl_outlines *o, int32_t stretch);
static inline int32_t tl_stretch_parts(const tl_outlines *o, int32_t stretch)
{
    return o->stretches[tl_stretch_root(o, stretch)].parts;
}

/// The point `s` metres along the outline, s in [0, perimeter].
tl_vec2 tl_outline_point(const tl_outlines *o, int32_t panel, double s);

/// The station nearest to a place, or -1 if it is farther than a micrometre.
int32_t tl_outline_station(const tl_outlines *o, int32_t panel, double s);

/// Length along the outline of a fraction of an edge.
double tl_outline_place(const tl_outlines *o, int32_t panel, int32_t edge, double fraction);

/// How far a place lies along a seam's side, 0 to 1; false: it is not on it.
bool tl_outline_on_side(const tl_outlines *o, const tl_seam_side *side, double s, double *fraction);

#define TL_ON_OUTLINE 1e-4  // [m]: an inner line that ends so near to the outline ends on it
