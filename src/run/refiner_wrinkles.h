// run/refiner_wrinkles.h: wrinkles of the cloths of a run, frame by frame.
#pragma once
#include "post/wrinkles/wrinkles.h"
#include "toile/refine.h"

typedef struct tl_refiner_wrinkles {
    tl_allocator alloc;
    const tl_refine_def *def;
    tl_wrinkles **of;  ///< [cloth_count] NULL before the first frame
    int32_t cloth_count;
} tl_refiner_wrinkles;

/// Checks options; TL_BAD_ARG names the field.
tl_status tl_refine_wrinkles_check(const tl_refine_wrinkles *o, tl_error *err);
tl_status tl_refiner_wrinkles_init(tl_refiner_wrinkles *w, const tl_allocator *alloc, const tl_refine_def *def,
                                   int32_t cloth_count, tl_error *err);
void tl_refiner_wrinkles_free(tl_refiner_wrinkles *w);

/// Takes in the cloths of a frame as they were simulated.
tl_status tl_refiner_wrinkles_look(tl_refiner_wrinkles *w, const tl_fine_mesh *cloth, const char *const *name,
                                   tl_workers *workers, tl_refine_report *report, tl_error *err);
/// Folds over the same cloths made finer.
tl_status tl_refiner_wrinkles_fold(tl_refiner_wrinkles *w, const tl_finish *f, tl_fine_mesh *cloth,
                                   tl_refine_report *report, tl_error *err);
/// Height and normal map of a cloth of the last frame, as PATH.height.png and PATH.normal.png, and what their texels
/// mean as PATH.json.
tl_status tl_refiner_wrinkles_maps(const tl_refiner_wrinkles *w, int32_t cloth, const char *path,
                                   tl_refine_report *report, tl_error *err);
