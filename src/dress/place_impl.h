// dress/place_impl.h: what the files of automatic placement share.
#pragma once
#include <stdbool.h>

#include "dress/place.h"
#include "dress/place_words.h"

enum { TL_PLACE_SAMPLES = 5 };  // points of a seam that are looked at

/// A part of the body as a plane before it, or as the cylinder through that plane's middle line.
typedef struct tl_chart {
    tl_vec3 origin, across, up, out;  ///< right-handed: across x up = out
} tl_chart;

/// A panel on its way to a place.
typedef struct tl_part {
    tl_panel_words words;
    bool fixed;     ///< the pattern says where it is
    bool tube;      ///< two of its own edges are sewn together: it goes around something
    bool free;      ///< may turn in its plane
    bool mirrored;  ///< its outline runs clockwise: the side that one sees of it drawn is the wrong one
    int32_t on;     ///< panel that it lies on (pockets), -1: none
    tl_chart chart;
    double radius;       ///< > 0: bent around up
    double turn;         ///< [rad] in its plane
    tl_vec2 middle;      ///< of its extent, in its own plane
    tl_vec2 low, high;   ///< its extent, once turned, about the middle
    tl_vec2 at, wanted;  ///< place of the middle: across, up; where it would be without seams
    tl_vec2 pull;        ///< how much that counts, of the weight of its seams
} tl_part;

typedef struct tl_placer {
    const tl_allocator *alloc;
    tl_pattern *pattern;
    const tl_figure *figure;
    bool all;  ///< places that panels have are not kept
    tl_part *part;
    int32_t count;
    int32_t seam_count;
    tl_vec2 (*sample)[2][TL_PLACE_SAMPLES];  ///< of every seam, in the planes of its panels
    double *weight;                          ///< length of every seam [m]
} tl_placer;

/// Region, side and face of every panel: by words, then by what it is sewn to (place_parts.c).
tl_status tl_place_find_parts(tl_placer *p, tl_error *err);

/// Charts, turns and first places of panels (place_charts.c).
void tl_place_find_charts(tl_placer *p);

/// Where a point of a panel is in space.
tl_vec3 tl_part_point(const tl_placer *p, int32_t panel, tl_vec2 point);

/// What a panel's turn makes of its extent.
void tl_part_set_turn(const tl_placer *p, int32_t panel, double turn);
