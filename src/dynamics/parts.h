// dynamics/parts.h: for kinds that solve first and answer contact afterwards: a step in one part or in halves, and the
// response on where a solve ended.
#pragma once
#include "dynamics/dynamics.h"

/// A part of a step that is attempted as a whole.
typedef struct tl_part {
    double begin, dt;
    int depth;  ///< how often the step was halved to get here
    bool last;  ///< there are no smaller ones: whatever comes out is taken, as long as it is finite
} tl_part;

/// Takes the state in `w` over one part. TL_FAILED: it has no answer; then the state is as it was.
typedef tl_status (*tl_part_attempt)(void *self, tl_dynamics_world *w, const tl_part *part, tl_step_report *report,
                                     tl_error *err);

/// A step as a whole, or, where an attempt fails, as two halves, down to max_halvings. The arena is released after each
/// attempt. On failure the state is as it was.
tl_status tl_step_in_parts(void *self, tl_part_attempt attempt, tl_dynamics_world *w, double begin, double dt,
                           tl_step_report *report, tl_error *err);

/// Where handles take nodes at the end of a part, and where the others would go without forces.
typedef struct tl_part_end {
    const tl_vec3 *target;
    tl_vec3 *x, *v;  ///< where the solve ended; corrected by the response
} tl_part_end;
tl_status tl_part_respond(tl_dynamics_world *w, const tl_part *part, const tl_part_end *end, tl_step_report *report,
                          tl_error *err);
