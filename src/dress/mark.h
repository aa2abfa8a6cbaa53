// dress/mark.h: nodes of a garment that are to be held: along edges with a label, or along its upper rim.
#pragma once
#include "dress/garment.h"

/// Nodes on edges of the pattern whose label holds `word` (whatever the case) get `mark`; for unwelded garments. How
/// many do.
int32_t tl_garment_mark_label(tl_garment *g, const tl_pattern *pattern, const tl_pattern_mesh *mesh, const char *word,
                              int32_t mark);

/// The upper rim of a welded garment: the border that lies highest on the whole, as far as it is no lower than `depth`
/// [m] below its top. Nodes without a mark get this one; `*count` is how many, `*top` their greatest height.
tl_status tl_garment_mark_rim(tl_garment *g, double depth, int32_t mark, int32_t *count, double *top, tl_error *err);

/// Length of the edges between nodes of a mark, in space [m]; `*nodes` is how many nodes have it.
double tl_garment_mark_length(const tl_garment *g, int32_t mark, int32_t *nodes, tl_status *status, tl_error *err);
