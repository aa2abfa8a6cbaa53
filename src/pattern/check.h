// pattern/check.h: what checks, reports and meshers ask of panels and seams.
#pragma once
#include "pattern/pattern.h"

/// So many chords of equal parameter stay within `error` [m] of the curve (at most 512).
int32_t tl_segment_chords(const tl_segment *segment, double error);

/// |a - b| over the mean of the two lengths of a seam.
double tl_seam_mismatch(const tl_pattern *pattern, const tl_seam *seam);

/// Two neighbouring stretches of one panel, sewn from their common corner on: a dart that the outline follows.
bool tl_seam_is_dart(const tl_pattern *pattern, const tl_seam *seam);

/// Which part of `edge` (of the side's panel) a seam's side covers, from < to in fractions of the edge. False: none.
bool tl_seam_side_covers(const tl_pattern *pattern, const tl_seam_side *side, int32_t edge, double *from, double *to);
