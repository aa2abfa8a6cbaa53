// toile/report.h: what a step came to: its parts, iterations, contact, remeshing, strain limits and time.
#pragma once
#include "toile/contact.h"
#include "toile/dynamics.h"
#include "toile/remeshing.h"
#include "toile/strain.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Seconds of wall clock per stage.
typedef struct tl_stage_seconds {
    double physics, strain, collision, remesh, other, total;
} tl_stage_seconds;

/// Filled in by tl_sim_step.
typedef struct tl_step_report {
    double time;                ///< at the end of the step [s]
    int64_t step;               ///< steps done since the start
    int32_t substeps;           ///< 1 unless the step had to be cut
    int32_t rejected;           ///< attempts thrown away
    int32_t unconverged;        ///< substeps accepted before Newton's method had converged, those hurried included
    int32_t hurried;            ///< substeps ended early, as the step's budget of work was spent (tl_sim_def.effort)
    double effort;              ///< work by the cost model, about seconds of one core; a function of counts alone
    int32_t newton_iterations;  ///< over all substeps
    int32_t linear_iterations;
    int32_t factorizations;
    tl_linear linear_used;
    double newton_change;  ///< of speeds by the last Newton update, root mean square [m/s]
    tl_contact_report contact;
    tl_remesh_counts remesh;
    tl_strain_report strain;
    tl_stage_seconds seconds;
} tl_step_report;

#ifdef __cplusplus
}
#endif
