// run/dress_stage.h: what the stages of dressing share: a short simulation of a garment and a body.
#pragma once
#include <stdbool.h>

#include "run/dress.h"
#include "toile/body.h"

typedef struct tl_dress_stage {
    const tl_dress_def *def;
    tl_garment *g;
    tl_drape_garment *report;
    tl_sim *sim;
    tl_cloth_id cloth;
    tl_body_id body;
} tl_dress_stage;

/// Makes the simulation. `thin`: the body as it is at the start, NULL: at its size; it takes `seconds` to grow.
tl_status tl_dress_begin(tl_dress_stage *s, double dt, bool gravity, const tl_vec3 *thin, double seconds,
                         tl_error *err);
/// The garment gets the places of the cloth's nodes.
void tl_dress_take_back(tl_dress_stage *s);
/// A step; `part` of the stage is done.
tl_status tl_dress_step(tl_dress_stage *s, double part, tl_error *err);
