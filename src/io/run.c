// io/run.c: runs a scene into a folder of frames, from the start or from a checkpoint.
//
// Order of writing: scene.json and meshes/ first; then per frame its OBJ files, then its line of statistics; now
// and then a checkpoint, after the frames before it have reached the disk. So whatever happens, the frames that a
// checkpoint speaks of are there, and a resumed run writes the bytes that an uninterrupted one would have written.

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/timer.h"
#include "io/checkpoint.h"
#include "io/folder.h"
#include "io/run_start.h"
#include "io/scene.h"
#include "io/stats.h"
#include "toile/run.h"

typedef struct runner {
    const tl_scene *scene;
    const tl_run_def *def;
    tl_run_report *report;
    tl_allocator alloc;
    tl_sim *sim;
    int64_t frame;       ///< last frame on disk, -1: none
    int64_t frames;      ///< last frame wanted
    int64_t synced;      ///< frames up to this one have reached the disk
    int64_t first;       ///< frame that this run started after
    double start;        ///< tl_now at the start
    tl_frame_sums sums;  ///< of the frame under way
    bool strained;       ///< it was told that strain limits are not held
    tl_buf text;         ///< reused for every file
} runner;

tl_run_def tl_run_def_default(void)
{
    return (tl_run_def){.frames = -1, .threads = 1, .checkpoint_every = 10};
}

// A thread with little to do may cost more than it brings. The flag at 1,971 faces on two cores, two threads against one:
// 0.7 times the time when the run goes before all else on the machine, 1.5 times when the cores are shared, since every
// stage waits for its last thread.
enum { FACES_PER_THREAD = 2000 };

// Faces of a cloth, or what remeshing will make of it: a fifth of what its smallest faces would come to.
static int64_t faces_expected(const tl_scene *scene, const tl_scene_cloth *cloth)
{
    const tl_remeshing_file *own = &cloth->file.remeshing, *all = &scene->file.remeshing;
    const int32_t kind = cloth->own_remeshing && own->kind >= 0 ? own->kind : all->kind;
    const double size = cloth->own_remeshing && own->size_min > 0 ? own->size_min : all->size_min;
    if (kind == TL_REMESHING_NONE) return cloth->mesh.face_count;
    double area = 0;
    for (int32_t f = 0; f < cloth->mesh.face_count; f++) {
        const int32_t *v = cloth->mesh.face[f];
        const tl_vec2 a = cloth->mesh.uv[v[0]], b = cloth->mesh.uv[v[1]], c = cloth->mesh.uv[v[2]];
        area += 0.5 * fabs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
    }
    const double scale = cloth->file.transform.scale;
    return (int64_t)fmin(1e9, 1.2 * area * scale * scale / (size * size));
}

static int32_t choose_threads(const tl_scene *scene, const tl_run_def *def)
{
    int64_t faces = 0;
    for (int32_t i = 0; i < scene->cloth_count; i++) faces += faces_expected(scene, &scene->cloths[i]);
    const int64_t most = faces / FACES_PER_THREAD > 1 ? faces / FACES_PER_THREAD : 1;
    return def->fit_threads && def->threads > most ? (int32_t)most : def->threads;
}

// ---- one frame ---------------------------------------------------------------------------------------------

static tl_status path_in(const runner *run, const char *name, char out[TL_PATH_MAX], tl_error *err)
{
    return tl_path_join(run->def->out_dir, name, out, err);
}

static tl_status write_cloth(runner *run, int32_t index, int64_t *faces, int64_t *verts, int64_t *nodes,
                             tl_error *err)
{
    const tl_cloth_id id = tl_sim_cloth(run->sim, index);
    const char *name = tl_sim_cloth_name(run->sim, id);
    tl_cloth_view view;
    if (!name || tl_sim_cloth_view(run->sim, id, &view) != TL_OK)
        return tl_fail(err, TL_FAILED, "cloth %d of the simulation cannot be viewed", index);
    const int32_t pinched_count = tl_sim_pinched(run->sim, id, NULL, 0);
    int32_t *pinched = TL_ALLOC(&run->scene->alloc, int32_t, pinched_count > 0 ? pinched_count : 1);
    if (!pinched) return tl_fail_memory(err, "a frame");
    tl_sim_pinched(run->sim, id, pinched, pinched_count);
    const tl_obj_view out = {.name = name, .pos = view.pos, .pinched = pinched, .pinched_count = pinched_count, .node_count = view.node_count, .uv = view.uv,
                             .node_label = view.node_label,
                             .vert_node = view.vert_node, .vert_count = view.vert_count, .face = view.face,
                             .face_label = view.face_label, .face_count = view.face_count};
    char path[TL_PATH_MAX];
    TL_TRY(tl_frame_path(run->def->out_dir, run->frame + 1, name, path, err));
    run->text.size = 0;
    tl_obj_write(&run->text, &out);
    TL_FREE(&run->scene->alloc, pinched, pinched_count > 0 ? pinched_count : 1);
    TL_TRY(tl_buf_end(&run->text, "a frame", err));
    *faces += view.face_count, *verts += view.vert_count, *nodes += view.node_count;
    return tl_file_write(path, run->text.data, run->text.size, false, err);
}

// Bodies that stand still are written once.
static tl_status write_obstacles(runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    for (int32_t i = 0; i < tl_sim_body_count(run->sim); i++) {
        const tl_body_id id = tl_sim_body(run->sim, i);
        const char *name = tl_sim_body_name(run->sim, id);
        tl_body_view view;
        if (!name || tl_sim_body_view(run->sim, id, &view) != TL_OK)
            return tl_fail(err, TL_FAILED, "body %d of the simulation cannot be viewed", i);
        if (run->frame + 1 > 0 && !view.moves) continue;
        run->text.size = 0;
        tl_obj_write(&run->text, &(tl_obj_view){.name = name, .pos = view.pos, .node_count = view.node_count,
                                                .face = view.face, .face_count = view.face_count, .absent = !view.present});
        TL_TRY(tl_buf_end(&run->text, "an obstacle", err));
        TL_TRY(tl_obstacle_path(run->def->out_dir, run->frame + 1, name, path, err));
        TL_TRY(tl_file_write(path, run->text.data, run->text.size, false, err));
    }
    return TL_OK;
}

// By the exact test, once per frame.
static tl_status count_intersections(runner *run, int64_t *out, tl_error *err)
{
    tl_intersection_report found;
    TL_TRY(tl_sim_intersections(run->sim, &found, err));
    *out = found.cloth_cloth + found.cloth_body;
    return TL_OK;
}

static void tell(const runner *run, const tl_frame_stats *stats)
{
    if (!run->def->progress) return;
    const double seconds = tl_now() - run->start;
    const int64_t done = run->frame - run->first, left = run->frames - run->frame;
    const tl_frame_sums *s = &stats->sums;
    const tl_run_progress progress = {
        .frame = (int32_t)run->frame, .frames = (int32_t)run->frames, .seconds = seconds,
        .seconds_left = done > 0 ? seconds / (double)done * (double)left : 0,
        .time = stats->time, .faces = stats->faces, .nodes = stats->nodes, .intersections = stats->intersections,
        .last = {.time = stats->time, .step = tl_sim_steps(run->sim), .substeps = (int32_t)s->substeps,
                 .rejected = (int32_t)s->rejected, .unconverged = (int32_t)s->unconverged,
                 .newton_iterations = (int32_t)s->newton_iterations,
                 .linear_iterations = (int32_t)s->linear_iterations, .factorizations = (int32_t)s->factorizations,
                 .linear_used = (tl_linear)s->linear_used,
                 .contact = {.candidates = s->candidates, .contacts = s->contacts, .searches = (int32_t)s->searches,
                             .limited = s->limited, .held = (int32_t)s->held, .pinched = (int32_t)s->pinched, .zones = (int32_t)s->zones,
                             .zone_nodes = (int32_t)s->zone_nodes, .zone_rounds = (int32_t)s->zone_rounds},
                 .seconds = s->seconds}};
    run->def->progress(run->def->user, &progress);
}

static void add_seconds(tl_stage_seconds *into, const tl_stage_seconds *s)
{
    into->physics += s->physics, into->strain += s->strain, into->collision += s->collision;
    into->remesh += s->remesh, into->other += s->other, into->total += s->total;
}

// Writes frame run->frame + 1 and its statistics; only then it counts.
static tl_status write_frame(runner *run, tl_error *err)
{
    const double before = tl_now();
    tl_frame_stats stats = {.frame = run->frame + 1, .time = tl_sim_time(run->sim)};
    for (int32_t i = 0; i < tl_sim_cloth_count(run->sim); i++)
        TL_TRY(write_cloth(run, i, &stats.faces, &stats.vertices, &stats.nodes, err));
    TL_TRY(write_obstacles(run, err));
    TL_TRY(count_intersections(run, &stats.intersections, err));
    tl_strain_range strain = {0};
    tl_sim_strain(run->sim, &strain);
    tl_sim_energies(run->sim, &stats.energies);
    stats.strain_min = strain.min, stats.strain_max = strain.max;
    stats.memory = tl_sim_memory(run->sim);
    stats.state_hash = tl_sim_hash(run->sim);
    const double writing = tl_now() - before;
    run->sums.seconds.other += writing;
    run->sums.seconds.total += writing;
    stats.sums = run->sums;
    char path[TL_PATH_MAX];
    TL_TRY(path_in(run, "stats.jsonl", path, err));
    TL_TRY(tl_stats_append(path, &stats, err));

    run->frame++;
    tl_run_report *report = run->report;
    if (report->first_frame < 0) report->first_frame = (int32_t)run->frame;
    const bool first = report->first_frame == (int32_t)run->frame;
    report->last_frame = (int32_t)run->frame;
    add_seconds(&report->stages, &run->sums.seconds);
    if (first || strain.min < report->strain_min) report->strain_min = strain.min;
    if (first || strain.max > report->strain_max) report->strain_max = strain.max;
    report->state_hash = stats.state_hash;
    report->faces = stats.faces, report->nodes = stats.nodes;
    report->contacts = stats.sums.contacts, report->intersections += stats.intersections;
    if (stats.sums.pinched > report->pinched) report->pinched = stats.sums.pinched;
    report->peak_bytes = stats.memory.peak;
    run->sums = (tl_frame_sums){0};
    tell(run, &stats);
    return TL_OK;
}

// ---- checkpoints -------------------------------------------------------------------------------------------

static tl_status write_checkpoint(runner *run, tl_error *err)
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
    TL_TRY(path_in(run, "stats.jsonl", path, err));
    TL_TRY(tl_file_sync(path, err));
    tl_checkpoint cp = {.scene_hash = run->scene->hash, .frame = run->frame, .step = tl_sim_steps(run->sim),
                        .sums = run->sums};
    TL_TRY(tl_sim_save(run->sim, &cp.data, &cp.size, err));
    run->text.size = 0;
    TL_TRY(tl_checkpoint_write(&run->text, &cp, err));
    TL_TRY(path_in(run, "checkpoint.bin", path, err));
    return tl_file_write(path, run->text.data, run->text.size, true, err);
}

static tl_status fail_changed(const runner *run, const char *checkpoint, tl_error *err)
{
    char path[TL_PATH_MAX], change[400];
    TL_TRY(path_in(run, "scene.json", path, err));
    tl_scene_change(run->scene, path, change, sizeof change);
    return tl_fail(err, TL_BAD_INPUT,
                   "%s: checkpoint of another scene, or the scene was changed since: %s (undo the change, or run without --resume into "
                   "another --out)",
                   checkpoint, change);
}

static tl_status restore_checkpoint(runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(path_in(run, "checkpoint.bin", path, err));
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
        status =
            tl_fail(err, TL_BAD_INPUT, "%s: damaged checkpoint: step %lld after frame %lld of %lld steps each",
                    path, (long long)cp.step, (long long)cp.frame, (long long)steps);
    if (status == TL_OK) run->frame = run->synced = run->first = cp.frame, run->sums = cp.sums;
    tl_buf_free(&state);
    tl_text_free(&run->alloc, &file);
    return status;
}

// ---- the folder --------------------------------------------------------------------------------------------

static bool stop_at_first(void *user, int64_t frame, const char *cloth)
{
    (void)frame, (void)cloth;
    *(bool *)user = true;
    return false;
}

typedef struct removal { const runner *run; tl_error *err; } removal;

static bool remove_frame(void *user, int64_t frame, const char *cloth)
{
    const removal *rm = user;
    char path[TL_PATH_MAX];
    for (int32_t i = 0; i < rm->run->scene->cloth_count; i++)
        if (strcmp(rm->run->scene->cloths[i].name, cloth) == 0 &&
            tl_frame_path(rm->run->def->out_dir, frame, cloth, path, rm->err) == TL_OK)
            unlink(path);
    return true;
}

static bool remove_obstacle(void *user, int64_t frame, const char *name)
{
    const removal *rm = user;
    char path[TL_PATH_MAX];
    for (int32_t i = 0; i < rm->run->scene->obstacle_count; i++)
        if (strcmp(rm->run->scene->obstacles[i].name, name) == 0 &&
            tl_obstacle_path(rm->run->def->out_dir, frame, name, path, rm->err) == TL_OK)
            unlink(path);
    return true;
}

static bool holds(const runner *run, const char *name)
{
    char path[TL_PATH_MAX];
    return path_in(run, name, path, NULL) == TL_OK && tl_path_look(path) != TL_PATH_NONE;
}

// A fresh start: the folder is empty of runs, or holds this very scene, whose files are then removed.
static tl_status clear_folder(const runner *run, tl_error *err)
{
    const char *dir = run->def->out_dir;
    bool frames = false;
    TL_TRY(tl_frames_visit(dir, stop_at_first, &frames, err));
    const bool scene_there = holds(run, "scene.json"), stats_there = holds(run, "stats.jsonl");
    if (!frames && !scene_there) return TL_OK;
    if (!frames && !stats_there)
        return tl_fail(err, TL_BAD_INPUT,
                       "%s: holds a scene.json that is not from a run, and a run would write over it "
                       "(choose another --out)",
                       dir);
    char path[TL_PATH_MAX];
    TL_TRY(path_in(run, "scene.json", path, err));
    tl_scene *old = NULL;
    const tl_scene_def def = {.path = path, .max_faces = TL_SCENE_MAX_FACES};
    const bool same =
        scene_there && tl_scene_read(&run->alloc, &def, &old, NULL) == TL_OK && old->hash == run->scene->hash;
    char name[128] = "";
    if (old) snprintf(name, sizeof name, " (%.100s)", old->name);
    tl_scene_destroy(old);
    if (!same)
        return tl_fail(err, TL_BAD_INPUT,
                       "%s: holds frames of another scene%s, or of this one before it was changed "
                       "(choose another --out, or remove the folder)",
                       dir, name);
    tl_log_write(run->def->log, TL_LOG_WARNING,
                 "%s: starting over (it held a run of this scene; --resume would have gone "
                 "on with it)",
                 dir);
    removal rm = {run, err};
    TL_TRY(tl_frames_visit(dir, remove_frame, &rm, err));
    TL_TRY(tl_obstacles_visit(dir, remove_obstacle, &rm, err));
    const char *const own[] = {"stats.jsonl", "checkpoint.bin"};
    for (int i = 0; i < 2; i++)
        if (path_in(run, own[i], path, NULL) == TL_OK) unlink(path);
    return TL_OK;
}

static tl_status write_scene(runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    run->text.size = 0;
    TL_TRY(tl_scene_json_for_folder(run->scene, (int32_t)run->frames, TL_RUN_MESHES, &run->text, err));
    TL_TRY(path_in(run, "scene.json", path, err));
    return tl_file_write(path, run->text.data, run->text.size, true, err);
}

// ---- the run -----------------------------------------------------------------------------------------------

static void add_step(runner *run, const tl_step_report *step)
{
    tl_frame_sums *s = &run->sums;
    s->steps++;
    s->substeps += step->substeps, s->rejected += step->rejected, s->unconverged += step->unconverged;
    s->newton_iterations += step->newton_iterations, s->linear_iterations += step->linear_iterations;
    s->factorizations += step->factorizations;
    s->linear_used = (int64_t)step->linear_used;
    const tl_contact_report *c = &step->contact;
    s->contacts = c->contacts, s->candidates = c->candidates, s->pinched = c->pinched;
    s->searches += c->searches, s->limited += c->limited, s->held += c->held;
    s->zones += c->zones, s->zone_rounds += c->zone_rounds;
    if (c->zone_nodes > s->zone_nodes) s->zone_nodes = c->zone_nodes;
    const tl_strain_report *strain = &step->strain;
    s->strain_active = strain->active, s->strain_rounds += strain->rounds, s->strain_mended += strain->mended;
    if (strain->violated > s->strain_violated) s->strain_violated = strain->violated;
    if (strain->worst > s->strain_excess) s->strain_excess = strain->worst;
    const tl_remesh_counts *m = &step->remesh;
    s->remesh_passes += m->passes, s->splits += m->splits, s->flips += m->flips, s->collapses += m->collapses, s->refused += m->refused;
    if (m->passes > 0) s->too_long = m->too_long;
    s->remesh_energy += m->energy;
    if (m->momentum_drift > s->momentum_drift) s->momentum_drift = m->momentum_drift;
    if (m->spin_drift > s->spin_drift) s->spin_drift = m->spin_drift;
    add_seconds(&s->seconds, &step->seconds);
    tl_run_report *r = run->report;
    r->steps++;
    r->rejected += step->rejected;
    r->held += c->held;
    r->newton_iterations += step->newton_iterations, r->linear_iterations += step->linear_iterations;
}

// Once in a run: what the limits cannot hold is mostly what handles ask for.
static void warn_strain(runner *run, const tl_strain_report *strain)
{
    if (strain->violated == 0 || run->strained) return;
    run->strained = true;
    tl_log_write(run->def->log, TL_LOG_WARNING,
                 "frame %lld: %d faces are beyond their strain limits, by up to %.3g (do handles or bodies pull further than the limits allow? "
                 "strain_limits in stats.jsonl counts them)",
                 (long long)run->frame + 1, (int)strain->violated, strain->worst);
}

// A step that failed: the state before it is good, so it is kept.
static tl_status save_failed(runner *run, tl_error *err)
{
    tl_error why = err ? *err : (tl_error){.status = TL_FAILED};
    const tl_status saved = write_checkpoint(run, err);
    if (saved != TL_OK)
        return tl_fail(err, TL_FAILED, "frame %lld: %.600s; and the checkpoint could not be written",
                       (long long)run->frame + 1, why.message);
    return tl_fail(err, TL_FAILED,
                   "frame %lld, step %lld: %.600s; frames up to %lld and a checkpoint are in %.200s",
                   (long long)run->frame + 1, (long long)tl_sim_steps(run->sim), why.message,
                   (long long)run->frame, run->def->out_dir);
}

static tl_status save_cancelled(runner *run, tl_error *err)
{
    TL_TRY(write_checkpoint(run, err));
    return tl_fail(
        err, TL_CANCELLED, "stopped after step %lld, frame %lld of %lld; go on with --resume --out %.300s",
        (long long)tl_sim_steps(run->sim), (long long)run->frame, (long long)run->frames, run->def->out_dir);
}

static tl_status run_frames(runner *run, tl_error *err)
{
    const tl_run_def *def = run->def;
    const int64_t steps = run->scene->steps_per_frame;
    bool cancelled = false;
    while (run->frame < run->frames) {
        while (tl_sim_steps(run->sim) < (run->frame + 1) * steps) {
            tl_step_report step;
            const tl_status status = tl_sim_step(run->sim, &step, err);
            if (status == TL_FAILED) return save_failed(run, err);
            TL_TRY(status);
            add_step(run, &step);
            warn_strain(run, &step.strain);
            cancelled = def->cancelled && def->cancelled(def->user);
            if (cancelled && tl_sim_steps(run->sim) < (run->frame + 1) * steps) return save_cancelled(run, err);
        }
        TL_TRY(write_frame(run, err));
        if (cancelled && run->frame < run->frames) return save_cancelled(run, err);
        if (run->frame % def->checkpoint_every == 0 && run->frame < run->frames) TL_TRY(write_checkpoint(run, err));
    }
    return run->synced < run->frame || run->frame == 0 ? write_checkpoint(run, err) : TL_OK;
}

static tl_status make_obstacles_folder(const runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    if (run->scene->obstacle_count == 0) return TL_OK;
    TL_TRY(path_in(run, "obstacles", path, err));
    return tl_make_dirs(path, err);
}

static tl_status start(runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    if (run->def->resume) {
        TL_TRY(restore_checkpoint(run, err));
        TL_TRY(path_in(run, "stats.jsonl", path, err));
        TL_TRY(tl_stats_truncate(&run->alloc, path, run->frame, err));
        TL_TRY(path_in(run, "frames", path, err));
        TL_TRY(tl_make_dirs(path, err));
        TL_TRY(make_obstacles_folder(run, err));
        return write_scene(run, err);  // the number of frames may be another one
    }
    TL_TRY(tl_run_start(run->scene, run->sim, run->def->out_dir, &run->report->start, err));
    TL_TRY(clear_folder(run, err));
    TL_TRY(path_in(run, "frames", path, err));
    TL_TRY(tl_make_dirs(path, err));
    TL_TRY(make_obstacles_folder(run, err));
    TL_TRY(tl_scene_write_meshes(run->scene, run->def->out_dir, TL_RUN_MESHES, err));
    TL_TRY(write_scene(run, err));
    return write_frame(run, err);
}

static void warn_meshes(const runner *run)
{
    for (int32_t i = 0; i < run->scene->cloth_count; i++) {
        const tl_scene_cloth *cloth = &run->scene->cloths[i];
        if (cloth->mesh.unknown_lines > 0)
            tl_log_write(run->def->log, TL_LOG_WARNING, "%s:%lld: %lld lines of an unknown kind were skipped",
                         cloth->origin, (long long)cloth->mesh.first_unknown_line,
                         (long long)cloth->mesh.unknown_lines);
    }
    for (int32_t i = 0; i < run->scene->obstacle_count; i++) {
        const tl_scene_obstacle *o = &run->scene->obstacles[i];
        if (o->mesh.unknown_lines > 0)
            tl_log_write(run->def->log, TL_LOG_WARNING, "%s:%lld: %lld lines of an unknown kind were skipped", o->origin,
                         (long long)o->mesh.first_unknown_line, (long long)o->mesh.unknown_lines);
    }
}

tl_status tl_run(const tl_scene *scene, const tl_run_def *def, tl_run_report *report, tl_error *err)
{
    tl_run_report own;
    if (!scene || !def || !def->out_dir) return tl_fail(err, TL_BAD_ARG, "run: scene, def or out_dir is NULL");
    if (!def->out_dir[0]) return tl_fail(err, TL_BAD_ARG, "run: out_dir is empty");
    if (def->threads < 1) return tl_fail(err, TL_BAD_ARG, "threads %d, must be >= 1", def->threads);
    if (def->checkpoint_every < 1)
        return tl_fail(err, TL_BAD_ARG, "checkpoint_every %d, must be >= 1", def->checkpoint_every);
    if (def->frames > 999999) return tl_fail(err, TL_BAD_ARG, "frames %d, must be <= 999999", def->frames);
    if (!report) report = &own;
    *report = (tl_run_report){.first_frame = -1, .last_frame = -1, .threads = choose_threads(scene, def)};
    runner run = {.scene = scene,
                  .def = def,
                  .report = report,
                  .alloc = tl_allocator_default(),
                  .frame = -1,
                  .frames = def->frames >= 0 ? def->frames : scene->frames,
                  .synced = -1,
                  .first = 0,
                  .start = tl_now()};
    tl_buf_init(&run.text, &run.alloc);
    warn_meshes(&run);
    tl_status status = tl_scene_simulate(scene, report->threads, NULL, def->log, &run.sim, err);
    if (status == TL_OK) status = start(&run, err);
    if (status == TL_OK) status = run_frames(&run, err);
    if (status == TL_IO && err && run.frame >= 0) {
        const tl_error inner = *err;
        tl_fail(err, TL_IO, "%s; frames up to %lld are complete, go on with --resume", inner.message,
                (long long)run.frame);
    }
    if (run.sim) report->state_hash = tl_sim_hash(run.sim), report->peak_bytes = tl_sim_memory(run.sim).peak;
    report->seconds = tl_now() - run.start;
    tl_sim_destroy(run.sim);
    tl_buf_free(&run.text);
    return status;
}
