// adapt/edge_trees/settings.h: what of a cloth's settings all that use trees have in common.
#pragma once
#include "adapt/edge_trees/criteria.h"
#include "toile/remeshing.h"

/// Levels at bodies, lengths by level, joining, ties.
void tl_trees_more_rules(const tl_remeshing *d, tl_trees_rules *out);
