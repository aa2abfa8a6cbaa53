// run/refiner_curves.h: the scheme `curved` of `toile refine`: hierarchies that are kept from frame to frame.
#pragma once
#include "post/curved.h"
#include "post/finish.h"
#include "toile/refine.h"

typedef struct tl_refiner_curves {
    tl_allocator alloc;
    const tl_refine_def *def;
    tl_curved **cloth;  ///< NULL entries: no frame of it yet
    int32_t count;
} tl_refiner_curves;

tl_status tl_refiner_curves_check(const tl_refine_def *def, tl_error *err);
tl_status tl_refiner_curves_init(tl_refiner_curves *c, const tl_allocator *alloc, const tl_refine_def *def,
                                 int32_t count, tl_error *err);
void tl_refiner_curves_free(tl_refiner_curves *c);

/// Puts curved surfaces in the place of the cloths of a frame, clear of bodies and each other.
tl_status tl_refiner_curves_move(tl_refiner_curves *c, const tl_finish *f, tl_fine_mesh *cloth, tl_finish_level *report,
                                 tl_error *err);
