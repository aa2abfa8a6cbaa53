// run/run_save.c: checkpoints of a run: when they are due, writing, restoring, and what is said when a run ends early.
//
// A state is saved as the note of its epoch and the steps to take again from there (sim/snapshot.c). So what a crash
// costs is the work since the epoch of the last checkpoint, and checkpoints by the clock are taken where an epoch
// begins (remeshing may begin one within a step): one is written if the work since the last would exceed
// checkpoint_seconds by the end of the next epoch. At most that much is lost, or the eight steps of one epoch where
// these alone take longer. No bit of a frame depends on it.

#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"
#include "run/folder.h"
#include "run/run_impl.h"
#include "run/steps.h"

tl_status tl_run_save(tl_runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    for (; run->synced < run->frame; run->synced++) {
        for (int32_t i = 0; i < run->scene->cloth_count; i++) {
            TL_TRY(tl_frame_path(run->def->out_dir, run->synced + 1, run->scene->cloths[i].name, path, err));
            TL_TRY(tl_file_sync(path, err));
        }
        for (int32_t i = 0; i < run->scene->obstacle_count; i++) {  // a file that is not there is fine
            TL_TRY(tl_obstacle_path(run->def->out_dir, run->synced + 1, run->scene->obstacles[i].name, path, err));
            TL_TRY(tl_file_sync(path, err));
        }
    }
    TL_TRY(tl_run_path(run, "stats.jsonl", path, err));
    TL_TRY(tl_file_sync(path, err));
    TL_TRY(tl_steps_flush(run, err));
    tl_checkpoint cp = {
        .scene_hash = run->scene->hash, .frame = run->frame, .step = tl_sim_steps(run->sim), .sums = run->sums};
    const int64_t again = tl_sim_replay_steps(run->sim);
    TL_TRY(tl_sim_save(run->sim, &cp.data, &cp.size, err));
    run->text.size = 0;
    TL_TRY(tl_checkpoint_write(&run->text, &cp, err));
    TL_TRY(tl_run_path(run, "checkpoint.bin", path, err));
    TL_TRY(tl_file_write(path, run->text.data, run->text.size, true, err));
    run->saved = true, run->saved_frame = run->frame;
    run->saved_at = again > 0 ? run->epoch_at : tl_now();
    return TL_OK;
}

static tl_status fail_changed(const tl_runner *run, const char *checkpoint, tl_error *err)
{
    char path[TL_PATH_MAX], change[400];
    TL_TRY(tl_run_path(run, "scene.json", path, err));
    tl_scene_change(run->scene, path, change, sizeof change);
    return tl_fail(err, TL_BAD_INPUT,
                   "%s: checkpoint of another scene, or the scene was changed since: %s (undo the change, or run "
                   "without --resume into "
                   "another --out)",
                   checkpoint, change);
}

tl_status tl_run_restore(tl_runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_run_path(run, "checkpoint.bin", path, err));
    if (tl_path_look(path) == TL_PATH_NONE)
        return tl_fail(err, TL_BAD_INPUT, "%s: no checkpoint to resume from (run without --resume)", path);
    tl_text file;
    TL_TRY(tl_file_read(&run->alloc, path, TL_CHECKPOINT_MAX_BYTES, &file, err));
    tl_checkpoint cp;
    tl_buf state;
    tl_buf_init(&state, &run->alloc);
    tl_status status = tl_checkpoint_read(path, file.data, file.size, &state, &cp, err);
    if (status == TL_OK && cp.scene_hash != run->scene->hash) status = fail_changed(run, path, err);
    if (status == TL_OK) {
        status = tl_sim_restore(run->sim, cp.data, cp.size, err);
        if (status != TL_OK && err) {
            const tl_error inner = *err;
            tl_fail(err, status, "%s: %s", path, inner.message);
        }
    }
    const int64_t steps = run->scene->steps_per_frame;
    if (status == TL_OK &&
        (tl_sim_steps(run->sim) != cp.step || cp.step < cp.frame * steps || cp.step > (cp.frame + 1) * steps))
        status = tl_fail(err, TL_BAD_INPUT, "%s: damaged checkpoint: step %lld after frame %lld of %lld steps each",
                         path, (long long)cp.step, (long long)cp.frame, (long long)steps);
    if (status == TL_OK) {
        run->frame = run->synced = run->first = run->saved_frame = cp.frame, run->sums = cp.sums;
        run->saved = run->writing = true;
    }
    tl_buf_free(&state);
    tl_text_free(&run->alloc, &file);
    return status;
}

bool tl_run_save_due(tl_runner *run, double step_began)
{
    const int64_t again = tl_sim_replay_steps(run->sim), before = run->again;
    run->again = again;
    if (again > 1 || (again == 1 && before == 0)) return false;  // would go on from the same note
    const double now = tl_now(), began = again == 0 ? now : step_began, epoch = began - run->epoch_at;
    run->epoch_at = began;
    return now - run->saved_at + epoch > run->def->checkpoint_seconds;
}

tl_status tl_run_save_failed(tl_runner *run, tl_error *err)
{
    const tl_error why = err ? *err : (tl_error){.status = TL_FAILED};
    tl_error saving = {0};
    if (tl_run_save(run, &saving) == TL_OK)
        return tl_fail(err, TL_FAILED,
                       "frame %lld, step %lld: %.600s; frames up to %lld and a checkpoint are in %.200s",
                       (long long)run->frame + 1, (long long)tl_sim_steps(run->sim), why.message, (long long)run->frame,
                       run->def->out_dir);
    return tl_fail(err, TL_FAILED,
                   "frame %lld, step %lld: %.500s; the state before it could not be saved (%.200s), frames up to %lld "
                   "are in %.150s",
                   (long long)run->frame + 1, (long long)tl_sim_steps(run->sim), why.message, saving.message,
                   (long long)run->frame, run->def->out_dir);
}

tl_status tl_run_save_cancelled(tl_runner *run, tl_error *err)
{
    TL_TRY(tl_run_save(run, err));
    return tl_fail(err, TL_CANCELLED, "stopped after step %lld, frame %lld of %lld; go on with --resume --out %.300s",
                   (long long)tl_sim_steps(run->sim), (long long)run->frame, (long long)run->frames, run->def->out_dir);
}

// ---- advice -----------------------------------------------------------------------------------------------

static void *watched_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    tl_memory_watch *watch = user;
    void *out = watch->under.resize(watch->under.user, ptr, old_size, new_size);
    if (!out && new_size > 0) watch->refused = new_size;
    return out;
}

void tl_memory_watch_init(tl_memory_watch *watch, const tl_allocator *under)
{
    *watch = (tl_memory_watch){{watched_resize, watch}, *under, 0};
}

// "frames up to 12 are complete", and whether the checkpoint leads on from there.
static void say_kept(const tl_runner *run, char *out, size_t size)
{
    const long long frame = (long long)run->frame;
    char from[64] = "the start";
    if (run->saved_frame >= 0)
        snprintf(from, sizeof from, "a checkpoint after frame %lld", (long long)run->saved_frame);
    if (!run->report->resumable)
        snprintf(out, size, "there is no checkpoint to go on from yet, so run again from the start");
    else if (frame < 0)
        snprintf(out, size, "the start is saved, go on with --resume");
    else if (run->report->seconds_lost >= 0.5)
        snprintf(out, size,
                 "frames up to %lld are complete, go on with --resume (from %s: %.3g s of work are done again)", frame,
                 from, run->report->seconds_lost);
    else
        snprintf(out, size, "frames up to %lld are complete, go on with --resume", frame);
}

static void say_memory(const tl_runner *run, char *out, size_t size)
{
    const tl_memory_report used = run->sim ? tl_sim_memory(run->sim) : (tl_memory_report){0};
    int64_t faces = 0;
    tl_cloth_view view;
    for (int32_t c = 0; run->sim && c < tl_sim_cloth_count(run->sim); c++)
        if (tl_sim_cloth_view(run->sim, tl_sim_cloth(run->sim, c), &view) == TL_OK) faces += view.face_count;
    snprintf(out, size,
             "%.3g MB more were asked for, %.3g MB are in use for %lld faces (a larger remeshing.size_min, a limit "
             "remeshing.max_faces or a machine with more memory helps)",
             1e-6 * (double)run->watch.refused, 1e-6 * (double)used.used, (long long)faces);
}

void tl_run_advise(tl_runner *run, tl_status status, tl_error *err)
{
    char path[TL_PATH_MAX], kept[256], memory[256];
    tl_run_report *report = run->report;
    report->resumable =
        run->saved && tl_run_path(run, "checkpoint.bin", path, NULL) == TL_OK && tl_path_look(path) == TL_PATH_FILE;
    report->seconds_lost = report->resumable ? tl_now() - run->saved_at : 0;
    if (!err || (status != TL_IO && status != TL_NO_MEMORY)) return;
    const tl_error inner = *err;
    say_kept(run, kept, sizeof kept);
    if (status == TL_IO && run->writing) tl_fail(err, status, "%.700s; %s", inner.message, kept);
    if (status == TL_IO) return;
    say_memory(run, memory, sizeof memory);
    if (run->writing)
        tl_fail(err, status, "frame %lld: %.300s: %s; %s", (long long)run->frame + 1, inner.message, memory, kept);
    else
        tl_fail(err, status, "%.300s: %s", inner.message, memory);
}
