// physics/touched.h: which elements a move of some nodes touches.
//
// Iterations in which few nodes move (dynamics/implicit/newton_part.c) need the potential, its gradient and its Hessian
// around these alone. While elements->touched is set, the loops of forces*.c, bend.c and strain_*.c pass over groups of
// eight elements that nothing of that depends on: energies lack the same constant all the time, rows of nodes at rest
// hold what they like.
#pragma once
#include "physics/elements.h"

enum { TL_TOUCHED_GROUP = 8 };  ///< as many as the loops take at once

typedef struct tl_touched {
    uint8_t *face;         ///< groups of faces whose energy changes, or whose patch has a node that moves
    uint8_t *angle;        ///< groups of hinges that turn
    uint8_t *fold;         ///< groups of hinges that make the folds of those faces
    const int32_t *place;  ///< [node_count] negative for nodes at rest
} tl_touched;

/// `place` is borrowed, the rest is of the arena. Angles of hinges must be those of the present positions when the
/// elements get it: the ones that do not turn are not measured again.
tl_status tl_touch(const tl_elements *elements, const int32_t *place, tl_arena *arena, tl_touched *out, tl_error *err);

/// May the loops pass over the group that begins with item i? `groups` of elements->touched.
#define TL_AT_REST(elements, groups, i) ((elements)->touched && !(elements)->touched->groups[(i) / TL_TOUCHED_GROUP])
