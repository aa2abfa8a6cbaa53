// toile/run.h: run a scene into a folder of frames, resume it, check a folder, describe a file.
//
// Layout of a folder (a contract): frames/NNNNNN_CLOTH.obj (frame 0 is the start; v world, vt material per
// corner), obstacles/NNNNNN_NAME.obj (those that stand still: frame 0 only), stats.jsonl (one object per frame),
// scene.json (fully resolved), checkpoint.bin; run.lock while a run goes on; intersections.obj if the start was refused
// because surfaces cross. Files appear whole or not at all.
#pragma once
#include "toile/base.h"
#include "toile/body.h"
#include "toile/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a run has come to; passed to the progress callback after every frame.
typedef struct tl_run_progress {
    int32_t frame, frames;  ///< frame just written, last frame
    double seconds;         ///< wall clock so far
    double seconds_left;    ///< estimate
    double time;            ///< simulated [s]
    int64_t faces, nodes;
    int64_t intersections;  ///< in this frame
    tl_step_report last;    ///< sums over the steps of the frame; contacts, candidates of the last one, most pinched
} tl_run_progress;

typedef struct tl_run_def {
    uint32_t struct_size;      ///< filled in by the default function, do not set
    const char *out_dir;       ///< created if missing. Required.
    int32_t frames;            ///< stop after this frame; < 0: as the scene says
    int32_t threads;           ///< >= 1; never changes a result. Default 1.
    uint32_t fit_threads;      ///< 1: fewer than `threads` for a small scene, one per 2,000 faces. Default 0.
    uint32_t resume;           ///< 1: go on from out_dir/checkpoint.bin
    int32_t checkpoint_every;  ///< frames between checkpoints, >= 1. Default 10. One is always written before the first
                               ///< frame and at the end.
    double checkpoint_seconds;  ///< a checkpoint also where more work than this [s] could be lost by a crash, >= 0;
                                ///< eight steps may be lost where they take longer. Never changes a frame. Default 60.
    /// Called after every frame (and frame 0); may be NULL.
    void (*progress)(void *user, const tl_run_progress *progress);
    /// Asked after every step; nonzero ends the run with a checkpoint and TL_CANCELLED. May be NULL.
    int (*cancelled)(void *user);
    void *user;
    const tl_log *log;  ///< may be NULL
    /// Asked many times within a step, so it has to be quick; nonzero ends the run at once, with a checkpoint of the
    /// last step that was finished, and TL_CANCELLED. May be NULL.
    int (*interrupted)(void *user);
    uint32_t replace;  ///< 1: frames of another scene in out_dir are removed, 0: refused. Default 0.
} tl_run_def;
TL_API void tl_run_def_init(tl_run_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_run_def tl_run_def_default(void)
{
    tl_run_def def;
    tl_run_def_init(&def, sizeof def);
    return def;
}

typedef struct tl_run_report {
    int32_t first_frame, last_frame;  ///< written in this run
    int64_t steps, rejected, newton_iterations, linear_iterations;
    double seconds;
    tl_stage_seconds stages;
    double strain_min, strain_max;        ///< over all frames
    double strain_min_99, strain_max_99;  ///< that all but a hundredth of the area keeps to, the worst frame
    uint64_t state_hash;
    int64_t faces, nodes;
    int64_t contacts;       ///< in the last frame
    int64_t intersections;  ///< over all frames
    int64_t hurried;        ///< substeps ended early, as the budget of work was spent, over all steps
    int64_t held, pinched;  ///< iterations with held nodes over all steps; most nodes pinched in a step
    size_t peak_bytes;
    int32_t threads;        ///< used
    uint32_t resumable;     ///< 1: the run ended early, and there is a checkpoint to go on from
    double seconds_lost;    ///< if so: work that is then done again [s]
    tl_start_report start;  ///< crossings before the first step and what was done; all 0 when resumed
} tl_run_report;

/// Refuses a folder that another run is writing into (run.lock in it is locked while a run goes on), and to overwrite
/// a folder that holds frames of another scene unless resuming; the message says what to do.
TL_API tl_status tl_run(const tl_scene *scene, const tl_run_def *def, tl_run_report *report, tl_error *err);

/// What a check found.
typedef struct tl_check_report {
    int32_t frames, cloths;
    int64_t faces;  ///< faces looked at, over all frames
    int64_t missing_frames, unreadable, not_finite, degenerate, inverted, over_strain;
    int64_t absurd_faces;   ///< crushed to a fifth or drawn to twice their size and more; findings
    int64_t absurd_cloths;  ///< cloths, per frame, of which more than a hundredth by area is beyond -50 % or +50 %;
                            ///< findings
    double strain_min, strain_max;
    double strain_min_99, strain_max_99;  ///< that all but a hundredth of the area keeps to, the worst cloth and frame
    int64_t findings;                     ///< all of the above that count as faults
    char first[512];                      ///< the first finding in words, "" if none
    int32_t obstacles;
    int64_t cloth_cloth;  ///< edges of cloths that meet faces of cloths, touching included, by the exact test; findings
    int64_t cloth_body;   ///< the same between cloths and obstacles; findings
    int64_t missing_obstacles;  ///< files of obstacles that should be there; findings
    int64_t pinched;  ///< cloth and obstacle at a node that the frame marks as pinched (np); findings unless allowed
    int64_t pinched_nodes;  ///< marked so, over all frames; likewise
} tl_check_report;

/// What to look at and where to report. Start from tl_check_def_default().
typedef struct tl_check_def {
    uint32_t struct_size;  ///< filled in by the default function, do not set
    const char *dir;       ///< folder of a run. Required.
    double strain_limit;   ///< > 0: also counts faces whose principal strain exceeds it. Default 0: those beyond limits
                           ///< of the scene.
    int32_t threads;       ///< >= 1; never changes a result. Default 1.
    int32_t list_max;      ///< findings listed per frame in the JSON report, >= 0. Default 16.
    const char *json_path;  ///< where to write the JSON report (docs/formats.md); NULL: nowhere. Default NULL.
    const char
        *overlay_dir;  ///< gets NNNNNN.obj with the faces concerned in colour for frames with findings; NULL: none
    void (*write)(void *user, const char *text);  ///< gets the JSON report; may be NULL
    void *user;
    uint32_t allow_pinched;  ///< 1: cloth that bodies or handles leave no room is told, but no finding. Default 0.
} tl_check_def;
TL_API void tl_check_def_init(tl_check_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_check_def tl_check_def_default(void)
{
    tl_check_def def;
    tl_check_def_init(&def, sizeof def);
    return def;
}

/// Looks at every saved frame: complete, readable, finite, no face degenerate or inverted in material space, no edge of
/// a cloth through a face of a cloth or obstacle. Independent of the simulation: sees the files alone. Obstacles that
/// cross themselves or each other do not count. TL_OK whether or not something is found. Writes nothing but what `def`
/// names.
TL_API tl_status tl_check(const tl_check_def *def, tl_check_report *out, tl_error *err);

/// The same without reports.
TL_API tl_status tl_check_dir(const char *dir, double strain_limit, tl_check_report *out, tl_error *err);

/// Describes a scene, material, OBJ, checkpoint or run folder in a few lines of text (or one JSON object) through
/// `write`.
TL_API tl_status tl_info(const char *path, int json, void (*write)(void *user, const char *text), void *user,
                         tl_error *err);

#ifdef __cplusplus
}
#endif
