// run/fit.h: how a garment at rest fits: tension in the cloth, pressure on the body, room between them.
#pragma once
#include "dress/garment.h"
#include "toile/drape.h"
#include "toile/material.h"
#include "toile/sim.h"

/// Measures cloth `id` of `sim`, whose mesh is that of `g` and which has just taken a step.
tl_status tl_fit_measure(const tl_sim *sim, tl_cloth_id id, const tl_material *material, const tl_garment *g,
                         tl_drape_fit *out, tl_error *err);

/// Pictures of frame 0 of the run in `dir`, from three sides and with strain in colours, into dir/fit/, and
/// dir/fit.html that shows them beside the figures; dir/fit.json has the figures alone.
typedef struct tl_fit_page_def {
    const char *dir;
    const char *body[2];               ///< files of the bodies; the second NULL: there is one
    const tl_drape_report *report[2];  ///< the second's run is in dir/beside, with pictures of its own
    int32_t threads;
    const tl_allocator *alloc;
    int (*cancelled)(void *user);
    void *user;
} tl_fit_page_def;
tl_status tl_fit_page(const tl_fit_page_def *def, tl_error *err);
