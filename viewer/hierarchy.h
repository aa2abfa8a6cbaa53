// viewer/hierarchy.h: a cloth's mesh as a stack of flat layers, one for each level of refinement.
//
// Layer k shows the cloth in the material where it has been refined at least k times: its own faces in the colour of
// the level, what is finer still in grey. The coarsest lies at the bottom.
#pragma once
#include <stdbool.h>

#include "toile/show.h"

typedef struct view_hierarchy view_hierarchy;
view_hierarchy *view_hierarchy_create(void);         ///< NULL: no memory
void view_hierarchy_destroy(view_hierarchy *stack);  ///< NULL is fine

/// Makes the stack of a cloth `right` [m] beside the last one; `out` and `colours` are borrowed until the next call.
/// Levels from 0 to *top. False: it has no place in the material, or there is no memory.
bool view_hierarchy_make(view_hierarchy *stack, const tl_show_surface *cloth, double right, tl_show_surface *out,
                         const float (**colours)[3], int32_t *top, double *width);
