// bench/bench.h: benchmarks built into the program; they use the public headers alone.
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "toile/sim.h"

enum { BENCH_SIZES_MAX = 16, BENCH_THREADS_MAX = 8, BENCH_STEPS_MAX = 4096 };

typedef enum bench_scene { BENCH_HANGING = 1, BENCH_FLAG = 2 } bench_scene;

/// What to measure. Start from bench_dynamics_default().
typedef struct bench_dynamics_def {
    int32_t sizes[BENCH_SIZES_MAX];  ///< faces asked for; grids come close. Default 2k, 10k, 65k, 200k.
    int32_t size_count;
    int32_t threads[BENCH_THREADS_MAX];  ///< compared step by step within one run. Default 1, 2.
    int32_t thread_count;
    uint32_t scenes;        ///< bench_scene flags. Default both.
    int32_t steps, warmup;  ///< timed (at most BENCH_STEPS_MAX) and untimed steps. Default 20, 5.
    double dt;              ///< [s]. Default 1/200.
    tl_linear linear;       ///< Default TL_LINEAR_AUTO.
    const char *csv;        ///< rows are appended to this file; NULL: to none
    bool json;              ///< one object at the end instead of the table
    FILE *out;              ///< Default stdout.
} bench_dynamics_def;
bench_dynamics_def bench_dynamics_default(void);

/// TL_OK; TL_IO: the CSV cannot be written; *different counts cases whose state hash depended on the threads.
tl_status bench_dynamics(const bench_dynamics_def *def, int32_t *different, tl_error *err);

/// Which collision queries to answer. Start from bench_ccd_default().
typedef struct bench_ccd_def {
    const char *queries;  ///< file, or folder searched with all below it; NULL: queries made with a known truth
    int32_t per_family;   ///< how many of each kind are made. Default 20000.
    int32_t passes;       ///< the best counts. Default 5.
    bool json;            ///< one object at the end instead of the table
    FILE *out;            ///< Default stdout.
} bench_ccd_def;
bench_ccd_def bench_ccd_default(void);

/// TL_OK; TL_IO, TL_BAD_INPUT: a file is missing or wrong. *faults counts contacts missed and times later than the
/// truth.
tl_status bench_ccd(const bench_ccd_def *def, int64_t *faults, tl_error *err);

/// Where scene `name` is: a path if it has a '/' or ends in .json (a folder stands for its scene.json), else
/// scenes/NAME/scene.json below $TOILE_DATA, then below `data` (may be NULL). TL_BAD_INPUT if it is nowhere.
tl_status bench_find_scene(const char *name, const char *data, char *path, size_t size, tl_error *err);

enum { BENCH_DTS_MAX = 8, BENCH_SETS_MAX = 16 };

/// Which contact scenes to run how often, looking at every step. Start from bench_stress_default().
typedef struct bench_stress_def {
    const char *const *scenes;  ///< names or paths, scene_count of them; none: all contact scenes
    int32_t scene_count;
    const char *data;         ///< folder that holds scenes/; may be NULL
    const char *const *sets;  ///< "key=value" for every scene, set_count of them, at most 16
    int32_t set_count;
    int32_t runs;  ///< per scene and time step. Default 10.
    int32_t seed;  ///< of the first run; the next have seed + 1, .. Seed 0 is the scene as it stands. Default 0.
    double dts[BENCH_DTS_MAX];  ///< time steps [s], whole parts of a frame. Default 1/100, 1/200.
    int32_t dt_count;
    int32_t steps;    ///< per run; 0: by `seconds`. Default 0.
    double seconds;   ///< simulated per run; 0: as the scene says, at least 5 s where rest is judged. Default 0.
    double wall;      ///< a run ends after so many seconds of wall clock; what it did not reach is not judged. 0: never
    int32_t threads;  ///< Default 1.
    bool fast;        ///< pinched nodes and slow frames are faults; no scenes given: those of scenes/fast
    bool brief;       ///< coarser meshes where the scene allows
    const char *remeshing;  ///< kind for every scene ("none", "anisotropic", "isotropic"); NULL: as the scene says.
                            ///< Default NULL.
    const char *json;       ///< file for the figures of every run; NULL: none
    FILE *out;              ///< Default stdout.
} bench_stress_def;
bench_stress_def bench_stress_default(void);

/// TL_OK; TL_IO: the JSON file cannot be written; TL_BAD_INPUT: a scene is missing or wrong. *faults counts runs that
/// broke a bar.
tl_status bench_stress(const bench_stress_def *def, int32_t *faults, tl_error *err);

/// What contact costs. Start from bench_contact_default().
typedef struct bench_contact_def {
    const char *const *scenes;  ///< names or paths; none: all contact scenes
    int32_t scene_count;
    const char *data;                    ///< folder that holds scenes/; may be NULL
    double seconds;                      ///< of every scene; 0: leaves the scenes out. Default 1.
    int32_t sizes[BENCH_SIZES_MAX];      ///< faces of the stack. Default 5k, 10k, 20k, 50k, 100k.
    int32_t size_count;                  ///< 0: leaves the stack out
    int32_t threads[BENCH_THREADS_MAX];  ///< Default 1, 2. Scenes run on the first.
    int32_t thread_count;
    int32_t steps, warmup;  ///< of the stack. Default 12, 3.
    bool zones;             ///< springs and impact zones instead of a potential. Default false.
    const char *json;       ///< file for the figures; NULL: none
    FILE *out;              ///< Default stdout.
} bench_contact_def;
bench_contact_def bench_contact_default(void);

/// Status as bench_stress. *faults counts growth beyond the bar and states that depended on the threads.
tl_status bench_contact(const bench_contact_def *def, int32_t *faults, tl_error *err);

/// Names of the contact scenes that come with the program, in order; NULL past the last.
const char *bench_contact_scene(int32_t index);

/// The examples of Narain, Samii & O'Brien 2012, Table 1. Start from bench_paper_default().
typedef struct bench_paper_def {
    const char *const *scenes;  ///< names of rows (bench_paper_scene), scene_count of them; none: all
    int32_t scene_count;
    const char *data;     ///< folder that holds scenes/; may be NULL
    const char *fabrics;  ///< folder with the measured fabrics of Wang et al. 2011; NULL: our own that stand for them
    const char *const *sets;  ///< "key=value" for every scene, set_count of them, at most BENCH_SETS_MAX
    int32_t set_count;
    bool full;                           ///< sizes and frames of the paper. Default false: coarser and fewer.
    int32_t frames;                      ///< of every scene; 0: as the form says. Default 0.
    int32_t threads[BENCH_THREADS_MAX];  ///< Default 1.
    int32_t thread_count;
    bool check;         ///< looks for crossings after every step, not only after every frame
    bool scaling;       ///< instead of the table: the sphere at several smallest sizes
    const char *csv;    ///< rows are appended to this file; NULL: to none
    const char *plots;  ///< folder for NAME.svg and the figures of every frame, NAME.jsonl; NULL: none
    FILE *out;          ///< Default stdout.
} bench_paper_def;
bench_paper_def bench_paper_default(void);

/// TL_OK; TL_IO: a file cannot be written; TL_BAD_INPUT: a scene is missing or wrong. *faults counts runs that crossed,
/// failed, left their strain limits or depended on the number of threads.
tl_status bench_paper(const bench_paper_def *def, int32_t *faults, tl_error *err);

/// Names of the rows in order; NULL past the last.
const char *bench_paper_scene(int32_t index);

enum { BENCH_FRAMES_MAX = 16 };

/// Adaptive meshes against jittered runs of a fixed fine one, by figures of shape. Start from bench_fidelity_default().
typedef struct bench_fidelity_def {
    const char *data;         ///< folder that holds scenes/; may be NULL
    const char *const *sets;  ///< "key=value" for every run, set_count of them, at most BENCH_SETS_MAX
    int32_t set_count;
    const char *const
        *adapts;  ///< the same for runs of adaptive meshes alone, adapt_count of them, at most BENCH_SETS_MAX
    int32_t adapt_count;
    bool full;     ///< sizes and steps of the paper. Default false: coarser, half the steps.
    double size;   ///< smallest edge of adaptive meshes, fixed ones in proportion [m]; 0: as the form says. Default 0.
    int32_t runs;  ///< of the fixed fine mesh, each from a start of its own, >= 2. Default 3.
    bool meshes;   ///< after the first, runs of the fixed fine mesh have other meshes of as many faces. Default false.
    int32_t others;                    ///< of each of the other meshes, >= 1. Default 1.
    int32_t seed;                      ///< of the first start. Default 1.
    int32_t frames[BENCH_FRAMES_MAX];  ///< looked at, ascending. Default 43, 100, 143, 157, 185, 200.
    int32_t frame_count;
    double scale;   ///< of curvature, twice the deviation of a Gaussian [m]; 0: twice the size. Default 0.
    double smooth;  ///< of the surface that wrinkles are counted from, likewise; 0: five times the size, at least 0.1.
                    ///< Default 0.
    int32_t threads;   ///< Default 1.
    const char *keep;  ///< folder for the shapes and states of every run: what is there is not run again; NULL: none
    const char *pictures;  ///< folder for pictures of the four meshes at every frame; NULL: none
    const char *csv;       ///< rows are appended to this file; NULL: to none
    FILE *out;             ///< Default stdout.
} bench_fidelity_def;
bench_fidelity_def bench_fidelity_default(void);

/// TL_OK; TL_IO: a file cannot be written; TL_BAD_INPUT: a scene is missing or wrong. *faults counts runs that crossed
/// or failed.
tl_status bench_fidelity(const bench_fidelity_def *def, int32_t *faults, tl_error *err);

/// Grids of quads by every method, at several sizes. Start from bench_grids_default().
typedef struct bench_grids_def {
    int32_t sizes[BENCH_SIZES_MAX];  ///< quads along a side. Default 10, 20, .., 100, 200, 500.
    int32_t size_count;
    int32_t runs;     ///< of each case, at most. Default 1000.
    double seconds;   ///< processor time of each case, at most but for one run. Default 0.2.
    const char *svg;  ///< plot of time against size; NULL: none
    const char *csv;  ///< rows are appended to this file; NULL: to none
    FILE *out;        ///< Default stdout.
} bench_grids_def;
bench_grids_def bench_grids_default(void);

/// TL_OK; TL_IO: a file cannot be written. *faults counts times beyond the bars.
tl_status bench_grids(const bench_grids_def *def, int32_t *faults, tl_error *err);

/// Springs on edge trees in the columns of Simnett 2012. Start from bench_realtime_default().
typedef struct bench_realtime_def {
    int32_t steps;          ///< of each sheet; 0: none. Default 360.
    int32_t garment_steps;  ///< of each garment, four times as many for budgets; 0: none. Default 60.
    int32_t garment_level;  ///< the finest, 0 to 3. Default 3.
    const char *data;       ///< folder that holds scenes/; may be NULL
    int32_t threads;        ///< Default 1.
    FILE *out;              ///< Default stdout.
} bench_realtime_def;
bench_realtime_def bench_realtime_default(void);
/// TL_OK; TL_BAD_INPUT: a scene is wrong; TL_FAILED: a step failed. The parts one by one:
tl_status bench_realtime(const bench_realtime_def *def, tl_error *err);
tl_status bench_realtime_garments(const bench_realtime_def *def, tl_error *err);
tl_status bench_realtime_budgets(const bench_realtime_def *def, tl_error *err);

/// Whole clips of a body in garments. Start from bench_drape_default().
typedef struct bench_drape_def {
    const char *const *names;  ///< of cases, name_count of them; none: all
    int32_t name_count;
    int32_t quality;   ///< as tl_drape_quality. Default draft.
    double edge;       ///< [m] in place of the quality's; 0: by quality
    int32_t frames;    ///< of every clip; < 0: all of it. Default -1.
    const char *data;  ///< folder that holds scenes/
    const char *keep;  ///< folder for the runs, one below it for every case. Required.
    const char *csv;   ///< append one row per case to this file; may be NULL
    int32_t threads;   ///< Default 1.
    FILE *out;         ///< Default stdout.
} bench_drape_def;
bench_drape_def bench_drape_default(void);
/// *faults counts cases that crossed, slipped off, or have a fault.
tl_status bench_drape(const bench_drape_def *def, int32_t *faults, tl_error *err);
const char *bench_drape_case(int32_t index);  ///< NULL past the last

/// The sqrt(3) hierarchy and a garment that is refined by it. Start from bench_sqrt3_default().
typedef struct bench_sqrt3_def {
    double errors[BENCH_SIZES_MAX];  ///< of chords [m]. Default 6, 4, 3 mm.
    int32_t error_count;
    int32_t frames;     ///< Default 20.
    const char *scene;  ///< name or path; NULL: layered-dress
    const char *data;   ///< folder that holds scenes/; may be NULL
    int32_t threads;    ///< Default 1.
    FILE *out;          ///< Default stdout.
} bench_sqrt3_def;
bench_sqrt3_def bench_sqrt3_default(void);
/// *faults counts runs that crossed.
tl_status bench_sqrt3(const bench_sqrt3_def *def, int32_t *faults, tl_error *err);

/// Kinds of adaptive meshes at equal error. Start from bench_adaptivity_default().
typedef struct bench_adaptivity_def {
    const char *scene;  ///< drape, flag or dress; NULL: all
    double scale;       ///< all sizes times this. Default 1.
    const char *data;   ///< folder that holds scenes/; may be NULL
    int32_t threads;    ///< Default 1.
    FILE *out;          ///< Default stdout.
} bench_adaptivity_def;
bench_adaptivity_def bench_adaptivity_default(void);
/// *faults counts runs that crossed.
tl_status bench_adaptivity(const bench_adaptivity_def *def, int32_t *faults, tl_error *err);

/// The tables of Kimmerle 2005. Start from bench_kimmerle_default().
typedef struct bench_kimmerle_def {
    const char *walk, *garments;  ///< scenes, names or paths: a dressed walker; coarse garments on one
    const char *still;            ///< scene of two surfaces that stand still, close to each other
    const char *data;             ///< folder that holds scenes/; may be NULL
    int32_t steps;                ///< of detection; 0: none. Default 200.
    const char *plot;             ///< .svg or .png for Figs 2.11 and 2.12, beside it NAME-static.*; NULL: none
    int32_t frames;               ///< of garments; 0: none. Default 5.
    int32_t threads;              ///< Default 1.
    FILE *out;                    ///< Default stdout.
} bench_kimmerle_def;
bench_kimmerle_def bench_kimmerle_default(void);

/// TL_OK; TL_BAD_INPUT: a scene is wrong; TL_FAILED: a simulation failed. *faults counts broken bars.
tl_status bench_kimmerle(const bench_kimmerle_def *def, int32_t *faults, tl_error *err);

/// Name of this kind of machine (processor and cores, no host name), fit for a file name.
void bench_machine_name(char *name, size_t size);

/// Two builds in turn on the same scene files. Start from bench_scenes_default().
typedef struct bench_scenes_def {
    const char *const *scenes;  ///< paths, scene_count of them
    int32_t scene_count;
    const char *program, *against;  ///< this build and the other; against NULL: this one
    const char *const *sets;        ///< "key=value" for both, set_count of them
    int32_t set_count;
    const char *const *with;  ///< the same for this build alone
    int32_t with_count;
    int32_t frames;    ///< of every scene. Default 10.
    int32_t turn;      ///< frames a turn. Default 1.
    int32_t threads;   ///< Default 1.
    const char *keep;  ///< folder for the runs; NULL: a temporary one
    const char *csv;   ///< rows are appended to this file; NULL: to none
    bool quiet;        ///< warnings of the runs are not shown
    FILE *out;         ///< Default stdout.
} bench_scenes_def;
bench_scenes_def bench_scenes_default(void);

/// TL_OK; TL_IO: a file or folder cannot be made; TL_FAILED: a run failed. *faults counts scenes with crossings in
/// frames of this build.
tl_status bench_scenes(const bench_scenes_def *def, int32_t *faults, tl_error *err);
