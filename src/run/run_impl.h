// run/run_impl.h: what the files of a run share: its state, the folder and its lock, checkpoints, advice on failure.
#pragma once
#include <stdbool.h>

#include "io/file.h"
#include "io/text.h"
#include "run/checkpoint.h"
#include "scene/scene.h"
#include "toile/run.h"

/// An allocator that passes every call on and remembers the last request that failed.
typedef struct tl_memory_watch {
    tl_allocator alloc;  ///< to be used
    tl_allocator under;
    size_t refused;  ///< bytes of the last request that failed, 0: none
} tl_memory_watch;

typedef struct tl_runner {
    const tl_scene *scene;
    const tl_run_def *def;
    tl_run_report *report;
    tl_allocator alloc;
    tl_memory_watch watch;  ///< memory of the simulation
    tl_sim *sim;
    int64_t frame;       ///< last frame on disk, -1: none
    int64_t frames;      ///< last frame wanted
    int64_t synced;      ///< frames up to this one have reached the disk
    int64_t first;       ///< frame that this run started after
    double start;        ///< tl_now at the start
    tl_frame_sums sums;  ///< of the frame under way
    bool strained;       ///< it was told that strain limits are not held
    bool pinched;        ///< it was told that cloth is pinched
    tl_buf text;         ///< reused for every file
    tl_buf steps;        ///< lines of steps.csv that are not in the file yet
    // the folder
    int lock;          ///< descriptor of the lock file, or -1
    bool made_folder;  ///< it was not there before
    bool writing;      ///< files of this run are being written
    // checkpoints
    bool saved;           ///< checkpoint.bin is of this run
    int64_t saved_frame;  ///< its last frame
    double saved_at;      ///< tl_now of the state that it goes on from
    double epoch_at;      ///< tl_now at the start of the present epoch
    int64_t again;        ///< steps that restoring would have taken again after the last step
} tl_runner;

void tl_memory_watch_init(tl_memory_watch *watch, const tl_allocator *under);

// ---- run_folder.c -----------------------------------------------------------------------------------------

tl_status tl_run_path(const tl_runner *run, const char *name, char out[TL_PATH_MAX], tl_error *err);
/// Makes the folder and locks it. TL_BAD_INPUT: another run writes into it.
tl_status tl_run_lock(tl_runner *run, tl_error *err);
/// Also removes the folder if this run made it and nothing is in it.
void tl_run_unlock(tl_runner *run);
/// For a fresh start: the folder is empty of runs, or holds this very scene, whose files are then removed.
tl_status tl_run_clear(const tl_runner *run, tl_error *err);
tl_status tl_run_write_scene(tl_runner *run, tl_error *err);

// ---- run_save.c -------------------------------------------------------------------------------------------

tl_status tl_run_save(tl_runner *run, tl_error *err);
tl_status tl_run_restore(tl_runner *run, tl_error *err);
/// Is a checkpoint due by the clock? To be asked after every step, with the time at which it began.
bool tl_run_save_due(tl_runner *run, double step_began);
/// After a step that failed: the state before it is good, so it is kept.
tl_status tl_run_save_failed(tl_runner *run, tl_error *err);
tl_status tl_run_save_cancelled(tl_runner *run, tl_error *err);
/// Completes the message of a run that ends with `status`: what is there, and how to go on from it.
void tl_run_advise(tl_runner *run, tl_status status, tl_error *err);
