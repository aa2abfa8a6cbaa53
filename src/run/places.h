// run/places.h: where points of the cloth lie in a mesh of it, found by their material coordinates.
//
// Panels are the pieces of a mesh in material space. Different panels may lie on the same material coordinates; a point
// is looked for in its own panel alone. Remeshing keeps panels, so those of two frames can be matched.
#pragma once
#include "io/obj.h"

typedef struct tl_places tl_places;

/// Borrows `mesh`, which must stay as it is.
tl_status tl_places_create(const tl_allocator *alloc, const tl_obj *mesh, tl_places **out, tl_error *err);
void tl_places_destroy(tl_places *places);  ///< NULL is fine

const tl_obj *tl_places_mesh(const tl_places *places);
int32_t tl_places_panel_count(const tl_places *places);
int32_t tl_places_panel(const tl_places *places, int32_t vert);  ///< of a vertex

/// panel_of[i] is the panel of `to` that is panel i of `from`: the nearest outline in material space, then the nearest
/// place in the world. TL_BAD_INPUT if they have different numbers of panels.
tl_status tl_places_match(const tl_places *from, const tl_places *to, int32_t *panel_of, tl_error *err);

/// A point of a face. Outside of all faces it is the nearest one of the panel.
typedef struct tl_place {
    int32_t face;
    double weight[3];
    double outside;  ///< distance to the panel in material space [m], 0: inside
} tl_place;
tl_place tl_places_find(const tl_places *places, int32_t panel, tl_vec2 uv);
tl_vec3 tl_place_point(const tl_obj *mesh, const tl_place *place, const tl_vec3 *pos);
