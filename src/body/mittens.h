// body/mittens.h: hands and toes closed for contact.
#pragma once
#include "body/character.h"

/// Faces of the convex hulls of each hand and of the toes of each foot, over the vertices that joints of such names
/// move most, as they are at rest (`rest`). Cloth does not get between fingers then. `*face` is made with `alloc`, NULL
/// where there are none. TL_OK also then.
tl_status tl_character_mittens(const tl_allocator *alloc, const tl_character *character, const tl_vec3 *rest,
                               int32_t (**face)[3], int32_t *count, tl_error *err);
