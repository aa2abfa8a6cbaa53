// run/run.c: runs a scene into a folder of frames, from the start or from a checkpoint.
//
// Order of writing: an empty stats.jsonl, meshes/, scene.json and a first checkpoint; then per frame its OBJ files,
// bodies before cloths, then its line of statistics; now and then a checkpoint, after the frames before it have reached
// the disk. So whatever happens, the frames that a
// checkpoint speaks of are there, and a resumed run writes the bytes that an uninterrupted one would have written.

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/timer.h"
#include "run/folder.h"
#include "run/run_impl.h"
#include "run/run_start.h"
#include "run/stats.h"
#include "run/steps.h"

void tl_run_def_init(tl_run_def *def, size_t size)
{
    const tl_run_def defaults = {.frames = -1, .threads = 1, .checkpoint_every = 10, .checkpoint_seconds = 60};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

// A thread with little to do may cost more than it brings. The flag at 1,971 faces on two cores, two threads against
// one: 0.7 times the time when the run goes before all else on the machine, 1.5 times when the cores are shared, since
// every stage waits for its last thread.
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

// ---- one frame --------------------------------------------------------------------------------------------

static tl_status write_cloth(tl_runner *run, int32_t index, int64_t *faces, int64_t *verts, int64_t *nodes,
                             tl_error *err)
{
    const tl_cloth_id id = tl_sim_cloth(run->sim, index);
    const char *name = tl_sim_cloth_name(run->sim, id);
    tl_cloth_view view;
    if (!name || tl_sim_cloth_view(run->sim, id, &view) != TL_OK)
        return tl_fail(err, TL_FAILED, "cloth %d of the simulation cannot be viewed", index);
    char path[TL_PATH_MAX];
    TL_TRY(tl_frame_path(run->def->out_dir, run->frame + 1, name, path, err));
    const int32_t pinched_count = tl_sim_pinched(run->sim, id, NULL, 0);
    int32_t *pinched = TL_ALLOC(&run->scene->alloc, int32_t, pinched_count > 0 ? pinched_count : 1);
    if (!pinched) return tl_fail_memory(err, "a frame");
    tl_sim_pinched(run->sim, id, pinched, pinched_count);
    const tl_obj_view out = {.name = name,
                             .pos = view.pos,
                             .pinched = pinched,
                             .pinched_count = pinched_count,
                             .node_count = view.node_count,
                             .uv = view.uv,
                             .node_label = view.node_label,
                             .vert_node = view.vert_node,
                             .vert_count = view.vert_count,
                             .face = view.face,
                             .face_label = view.face_label,
                             .face_count = view.face_count};
    run->text.size = 0;
    tl_obj_write(&run->text, &out);
    TL_FREE(&run->scene->alloc, pinched, pinched_count > 0 ? pinched_count : 1);
    TL_TRY(tl_buf_end(&run->text, "a frame", err));
    *faces += view.face_count, *verts += view.vert_count, *nodes += view.node_count;
    return tl_file_write(path, run->text.data, run->text.size, false, err);
}

// Bodies that stand still are written once.
static tl_status write_obstacles(tl_runner *run, tl_error *err)
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
        tl_obj_write(&run->text, &(tl_obj_view){.name = name,
                                                .pos = view.pos,
                                                .node_count = view.node_count,
                                                .face = view.face,
                                                .face_count = view.face_count,
                                                .absent = !view.present,
                                                .moves = view.moves});
        TL_TRY(tl_buf_end(&run->text, "an obstacle", err));
        TL_TRY(tl_obstacle_path(run->def->out_dir, run->frame + 1, name, path, err));
        TL_TRY(tl_file_write(path, run->text.data, run->text.size, false, err));
    }
    return TL_OK;
}

// By the exact test, once per frame.
static tl_status count_intersections(tl_runner *run, int64_t *out, tl_error *err)
{
    tl_intersection_report found;
    TL_TRY(tl_sim_intersections(run->sim, &found, err));
    *out = found.cloth_cloth + found.cloth_body;
    return TL_OK;
}

static void tell(const tl_runner *run, const tl_frame_stats *stats)
{
    if (!run->def->progress) return;
    const double seconds = tl_now() - run->start;
    const int64_t done = run->frame - run->first, left = run->frames - run->frame;
    const tl_frame_sums *s = &stats->sums;
    const tl_run_progress progress = {.frame = (int32_t)run->frame,
                                      .frames = (int32_t)run->frames,
                                      .seconds = seconds,
                                      .seconds_left = done > 0 ? seconds / (double)done * (double)left : 0,
                                      .time = stats->time,
                                      .faces = stats->faces,
                                      .nodes = stats->nodes,
                                      .intersections = stats->intersections,
                                      .last = {.time = stats->time,
                                               .step = tl_sim_steps(run->sim),
                                               .substeps = (int32_t)s->substeps,
                                               .rejected = (int32_t)s->rejected,
                                               .unconverged = (int32_t)s->unconverged,
                                               .hurried = (int32_t)s->hurried,
                                               .effort = s->effort,
                                               .newton_iterations = (int32_t)s->newton_iterations,
                                               .linear_iterations = (int32_t)s->linear_iterations,
                                               .factorizations = (int32_t)s->factorizations,
                                               .linear_used = (tl_linear)s->linear_used,
                                               .contact = {.candidates = s->candidates,
                                                           .contacts = s->contacts,
                                                           .searches = (int32_t)s->searches,
                                                           .limited = s->limited,
                                                           .held = (int32_t)s->held,
                                                           .pinched = (int32_t)s->pinched,
                                                           .zones = (int32_t)s->zones,
                                                           .zone_nodes = (int32_t)s->zone_nodes,
                                                           .zone_rounds = (int32_t)s->zone_rounds,
                                                           .found = s->found,
                                                           .there = s->there,
                                                           .missed = s->missed,
                                                           .detection_seconds = s->detection_seconds},
                                               .seconds = s->seconds}};
    run->def->progress(run->def->user, &progress);
}

static void add_seconds(tl_stage_seconds *into, const tl_stage_seconds *s)
{
    into->physics += s->physics, into->strain += s->strain, into->collision += s->collision;
    into->remesh += s->remesh, into->other += s->other, into->total += s->total;
}

// Writes frame run->frame + 1 and its statistics; only then it counts.
static tl_status write_frame(tl_runner *run, tl_error *err)
{
    const double before = tl_now();
    tl_frame_stats stats = {.frame = run->frame + 1, .time = tl_sim_time(run->sim)};
    TL_TRY(write_obstacles(run, err));  // first: a cloth on disk has the bodies that it rests on beside it
    for (int32_t i = 0; i < tl_sim_cloth_count(run->sim); i++)
        TL_TRY(write_cloth(run, i, &stats.faces, &stats.vertices, &stats.nodes, err));
    TL_TRY(count_intersections(run, &stats.intersections, err));
    stats.pinched_places = tl_pinch_places_find(run->scene, run->sim, stats.pinched_at);
    tl_strain_range strain = {0};
    tl_sim_strain(run->sim, &strain);
    tl_sim_energies(run->sim, &stats.energies);
    stats.strain_min = strain.min, stats.strain_max = strain.max;
    stats.strain_min_99 = strain.min_99, stats.strain_max_99 = strain.max_99;
    stats.memory = tl_sim_memory(run->sim);
    stats.state_hash = tl_sim_hash(run->sim);
    const double writing = tl_now() - before;
    run->sums.seconds.other += writing;
    run->sums.seconds.total += writing;
    stats.sums = run->sums;
    char path[TL_PATH_MAX];
    TL_TRY(tl_run_path(run, "stats.jsonl", path, err));
    TL_TRY(tl_stats_append(path, &stats, err));
    TL_TRY(tl_steps_flush(run, err));

    run->frame++;
    tl_run_report *report = run->report;
    if (report->first_frame < 0) report->first_frame = (int32_t)run->frame;
    const bool first = report->first_frame == (int32_t)run->frame;
    report->last_frame = (int32_t)run->frame;
    add_seconds(&report->stages, &run->sums.seconds);
    if (first || strain.min < report->strain_min) report->strain_min = strain.min;
    if (first || strain.max > report->strain_max) report->strain_max = strain.max;
    if (first || strain.min_99 < report->strain_min_99) report->strain_min_99 = strain.min_99;
    if (first || strain.max_99 > report->strain_max_99) report->strain_max_99 = strain.max_99;
    report->state_hash = stats.state_hash;
    report->faces = stats.faces, report->nodes = stats.nodes;
    report->contacts = stats.sums.contacts, report->intersections += stats.intersections;
    if (stats.sums.pinched > report->pinched) report->pinched = stats.sums.pinched;
    report->peak_bytes = stats.memory.peak;
    run->sums = (tl_frame_sums){0};
    tell(run, &stats);
    return TL_OK;
}

// ---- the run ----------------------------------------------------------------------------------------------

static void add_step(tl_runner *run, const tl_step_report *step)
{
    tl_frame_sums *s = &run->sums;
    s->steps++;
    s->substeps += step->substeps, s->rejected += step->rejected, s->unconverged += step->unconverged;
    s->hurried += step->hurried, s->effort += step->effort;
    s->newton_iterations += step->newton_iterations, s->linear_iterations += step->linear_iterations;
    s->factorizations += step->factorizations;
    s->linear_used = (int64_t)step->linear_used;
    const tl_contact_report *c = &step->contact;
    s->contacts = c->contacts, s->candidates = c->candidates;
    if (c->pinched > s->pinched) s->pinched = c->pinched;
    s->searches += c->searches, s->limited += c->limited, s->held += c->held;
    s->zones += c->zones, s->zone_rounds += c->zone_rounds;
    if (c->zone_nodes > s->zone_nodes) s->zone_nodes = c->zone_nodes;
    s->found += c->found, s->there += c->there, s->missed += c->missed;
    s->detection_seconds += c->detection_seconds;
    const tl_strain_report *strain = &step->strain;
    s->strain_active = strain->active, s->strain_rounds += strain->rounds, s->strain_mended += strain->mended;
    if (strain->violated > s->strain_violated) s->strain_violated = strain->violated;
    if (strain->worst > s->strain_excess) s->strain_excess = strain->worst;
    const tl_remesh_counts *m = &step->remesh;
    s->remesh_passes += m->passes, s->splits += m->splits, s->flips += m->flips, s->collapses += m->collapses,
        s->refused += m->refused;
    if (m->passes > 0) s->too_long = m->too_long;
    s->remesh_energy += m->energy;
    if (m->momentum_drift > s->momentum_drift) s->momentum_drift = m->momentum_drift;
    if (m->spin_drift > s->spin_drift) s->spin_drift = m->spin_drift;
    add_seconds(&s->seconds, &step->seconds);
    tl_run_report *r = run->report;
    r->steps++;
    r->rejected += step->rejected;
    r->hurried += step->hurried;
    r->held += c->held;
    r->newton_iterations += step->newton_iterations, r->linear_iterations += step->linear_iterations;
}

// Once in a run: what the limits cannot hold is mostly what handles ask for.
static void warn_strain(tl_runner *run, const tl_strain_report *strain)
{
    if (strain->violated == 0 || run->strained) return;
    run->strained = true;
    tl_log_write(run->def->log, TL_LOG_WARNING,
                 "frame %lld: %d faces are beyond their strain limits, by up to %.3g (do handles or bodies pull "
                 "further than the limits allow? "
                 "strain_limits in stats.jsonl counts them)",
                 (long long)run->frame + 1, (int)strain->violated, strain->worst);
}

// Once in a run: where bodies or handles leave cloth no room, the promise does not hold.
static void warn_pinched(tl_runner *run, const tl_contact_report *contact)
{
    if (contact->pinched == 0 || run->pinched) return;
    run->pinched = true;
    tl_pinch_place place[TL_PINCH_PLACES];
    if (tl_pinch_places_find(run->scene, run->sim, place) == 0) return;
    const bool joint = place[0].joint[0];
    tl_log_write(
        run->def->log, TL_LOG_WARNING,
        "frame %lld, %.4f s: bodies or handles leave %d nodes of cloth '%s' no room, the first at (%.4g, "
        "%.4g, %.4g)%s%s%s%s: there cloth may pass through them until it is free again (pinched in stats.jsonl "
        "counts nodes, pinched_at says where; toile check finds them)",
        (long long)run->frame + 1, tl_sim_time(run->sim), (int)contact->pinched, place[0].cloth, place[0].at.x,
        place[0].at.y, place[0].at.z, place[0].body[0] ? ", next to " : "", joint ? place[0].joint : "",
        joint ? " of " : "", place[0].body);
}

// Once in a run: steps that cannot be solved in reasonable time are ended coarsely, and go on from there.
static void warn_hurried(const tl_runner *run, const tl_step_report *step)
{
    if (step->hurried == 0 || run->report->hurried > step->hurried) return;
    tl_log_write(run->def->log, TL_LOG_WARNING,
                 "frame %lld: a step at %.4g s took all the work it may and was ended coarsely; so may others be "
                 "(hurried_steps in stats.jsonl counts them; smaller steps help, steps_per_frame, or more work, "
                 "solver.effort)",
                 (long long)run->frame + 1, step->time);
}

static tl_status run_frames(tl_runner *run, tl_error *err)
{
    const tl_run_def *def = run->def;
    const int64_t steps = run->scene->steps_per_frame;
    bool cancelled = false;
    while (run->frame < run->frames) {
        while (tl_sim_steps(run->sim) < (run->frame + 1) * steps) {
            tl_step_report step;
            const double began = tl_now();
            const tl_status status = tl_sim_step(run->sim, &step, err);
            if (status == TL_FAILED) return tl_run_save_failed(run, err);
            if (status == TL_CANCELLED) return tl_run_save_cancelled(run, err);
            TL_TRY(status);
            add_step(run, &step);
            TL_TRY(tl_steps_add(run, &step, tl_sim_steps(run->sim) == (run->frame + 1) * steps, err));
            warn_strain(run, &step.strain);
            warn_pinched(run, &step.contact);
            warn_hurried(run, &step);
            cancelled = def->cancelled && def->cancelled(def->user);
            if (cancelled && tl_sim_steps(run->sim) < (run->frame + 1) * steps) return tl_run_save_cancelled(run, err);
            if (tl_run_save_due(run, began)) TL_TRY(tl_run_save(run, err));
        }
        TL_TRY(write_frame(run, err));
        if (cancelled && run->frame < run->frames) return tl_run_save_cancelled(run, err);
        if (run->frame % def->checkpoint_every == 0 && run->frame < run->frames) TL_TRY(tl_run_save(run, err));
    }
    return run->synced < run->frame || run->frame == 0 ? tl_run_save(run, err) : TL_OK;
}

static tl_status make_folders(const tl_runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_run_path(run, "frames", path, err));
    TL_TRY(tl_make_dirs(path, err));
    if (run->scene->obstacle_count == 0) return TL_OK;
    TL_TRY(tl_run_path(run, "obstacles", path, err));
    return tl_make_dirs(path, err);
}

static tl_status start(tl_runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_run_path(run, "stats.jsonl", path, err));
    if (run->def->resume) {
        TL_TRY(tl_run_restore(run, err));
        TL_TRY(tl_stats_truncate(&run->alloc, path, run->frame, err));
        TL_TRY(tl_steps_truncate(run, err));
        TL_TRY(make_folders(run, err));
        return tl_run_write_scene(run, err);  // the number of frames may be another one
    }
    TL_TRY(tl_run_start(run->scene, run->sim, run->def->out_dir, &run->report->start, err));
    TL_TRY(tl_run_clear(run, err));
    run->writing = true;
    TL_TRY(tl_file_write(path, "", 0, false, err));  // before scene.json: beside it, it says that the folder is a run's
    TL_TRY(make_folders(run, err));
    TL_TRY(tl_scene_write_meshes(run->scene, run->def->out_dir, TL_RUN_MESHES, err));
    TL_TRY(tl_run_write_scene(run, err));
    TL_TRY(tl_run_save(run, err));  // from here on there is something to go on from, whatever happens
    return write_frame(run, err);
}

static void warn_meshes(const tl_runner *run)
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
            tl_log_write(run->def->log, TL_LOG_WARNING, "%s:%lld: %lld lines of an unknown kind were skipped",
                         o->origin, (long long)o->mesh.first_unknown_line, (long long)o->mesh.unknown_lines);
    }
}

tl_status tl_run(const tl_scene *scene, const tl_run_def *given, tl_run_report *report, tl_error *err)
{
    TL_DEF_COMPLETE(tl_run_def, complete, given, err);
    const tl_run_def *def = &complete;
    tl_run_report own;
    if (!scene || !def || !def->out_dir) return tl_fail(err, TL_BAD_ARG, "run: scene, def or out_dir is NULL");
    if (!def->out_dir[0]) return tl_fail(err, TL_BAD_ARG, "run: out_dir is empty");
    if (def->threads < 1) return tl_fail(err, TL_BAD_ARG, "threads %d, must be >= 1", def->threads);
    if (def->checkpoint_every < 1)
        return tl_fail(err, TL_BAD_ARG, "checkpoint_every %d, must be >= 1", def->checkpoint_every);
    if (!(def->checkpoint_seconds >= 0))
        return tl_fail(err, TL_BAD_ARG, "checkpoint_seconds %g, must be >= 0", def->checkpoint_seconds);
    if (def->frames > 999999) return tl_fail(err, TL_BAD_ARG, "frames %d, must be <= 999999", def->frames);
    if (!report) report = &own;
    *report = (tl_run_report){.first_frame = -1, .last_frame = -1, .threads = choose_threads(scene, def)};
    tl_runner run = {.scene = scene,
                     .def = def,
                     .report = report,
                     .alloc = tl_allocator_default(),
                     .frame = -1,
                     .frames = def->frames >= 0 ? def->frames : scene->frames,
                     .synced = -1,
                     .first = 0,
                     .start = tl_now(),
                     .saved_at = tl_now(),
                     .epoch_at = tl_now()};
    tl_memory_watch_init(&run.watch, &run.alloc);
    tl_buf_init(&run.text, &run.alloc), tl_buf_init(&run.steps, &run.alloc);
    warn_meshes(&run);
    tl_status status = tl_run_lock(&run, err);
    if (status == TL_OK) status = tl_scene_simulate(scene, report->threads, &run.watch.alloc, def->log, &run.sim, err);
    if (status == TL_OK) tl_sim_set_cancel(run.sim, &(tl_cancel){def->interrupted, def->user});
    if (status == TL_OK) status = start(&run, err);
    if (status == TL_OK) status = run_frames(&run, err);
    if (status != TL_OK) tl_run_advise(&run, status, err);
    if (run.sim) report->state_hash = tl_sim_hash(run.sim), report->peak_bytes = tl_sim_memory(run.sim).peak;
    report->seconds = tl_now() - run.start;
    tl_sim_destroy(run.sim);
    tl_buf_free(&run.text), tl_buf_free(&run.steps);
    tl_run_unlock(&run);
    return status;
}
