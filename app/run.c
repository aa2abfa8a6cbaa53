// app/run.c: `toile run` and `toile resume`: a scene file in, a folder of frames out.

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "progress.h"
#include "toile/refine.h"
#include "toile/run.h"

typedef struct run_options {
    const char *scene;  // path
    const char *out;    // NULL: out/NAME
    int32_t frames;     // -1: as the scene says
    int32_t threads;    // 0: chosen
    int32_t checkpoint_every;
    double checkpoint_seconds;
    app_list sets;
    bool resume, quiet, json, verbose;
    const char *quality;  // NULL: as the scene says
    const char *refine;   // LEVELS[:SCHEME] of finer frames in OUT/refined; NULL: none
    char quality_set[64];
    const char *relax;  // likewise
    char relax_set[64];
    bool headless;      // flag of other programs for what we always do
    bool whole_folder;  // `toile resume DIR`: the scene is the folder's own
} run_options;

typedef struct run_host {
    progress progress;
    bool verbose;
} run_host;

static void on_frame(void *user, const tl_run_progress *now)
{
    run_host *host = user;
    progress_frame(&host->progress, now);
}

static int asked_to_stop(void *user)
{
    run_host *host = user;
    progress_step(&host->progress);
    return app_stopping();
}

static int asked_to_stop_now(void *user)
{
    (void)user;
    return app_stopping();
}

static void on_log(void *user, tl_log_level level, const char *message)
{
    run_host *host = user;
    if (level < TL_LOG_WARNING && !host->verbose) return;
    progress_clear(&host->progress);
    app_say("%s%s", level == TL_LOG_WARNING ? "warning: " : "", message);
}

// The command that goes on from here, word for word.
static void print_resume_command(FILE *to, const run_options *o, const char *out)
{
    app_print_word(to, app_program);
    fputs(o->whole_folder ? " resume " : " run ", to);
    app_print_word(to, o->whole_folder ? out : o->scene);
    if (!o->whole_folder) fputs(" --out ", to), app_print_word(to, out);
    for (int32_t i = 0; i < o->sets.count; i++) fputs(" --set ", to), app_print_word(to, o->sets.item[i]);
    if (!o->whole_folder) fputs(" --resume", to);
    if (o->frames >= 0) fprintf(to, " --frames %d", o->frames);
    if (o->threads > 0) fprintf(to, " --threads %d", o->threads);
    if (o->refine) fputs(" --refine ", to), app_print_word(to, o->refine);
}

// The same as text, for JSON. Returns NULL when memory is short; the caller frees.
static char *resume_command(const run_options *o, const char *out)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return NULL;
    print_resume_command(memory, o, out);
    fclose(memory);
    return text;
}

static void print_relax_json(const tl_relax_report *r)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"mean_move", r->mean_move},
                   {"largest_move", r->largest_move},
                   {"strain_min_before", r->strain_before[0]},
                   {"strain_max_before", r->strain_before[1]},
                   {"strain_min", r->strain[0]},
                   {"strain_max", r->strain[1]},
                   {"excess", r->excess}};
    printf(", \"relax\": {\"rounds\": %d, \"limit_rounds\": %d, \"steps\": %d, \"faces_before\": %d, \"faces\": %d, "
           "\"nodes_moved\": %d",
           r->rounds, r->limit_rounds, r->steps, r->faces_before, r->faces, r->moved);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        printf(", \"%s\": ", numbers[i].name);
        app_json_real(stdout, numbers[i].value);
    }
    printf("}");
}

static void print_summary_json(const app_command *self, const run_options *o, const tl_scene *scene, const char *out,
                               const tl_run_report *r, app_exit code, const tl_error *err)
{
    printf("{\"command\": \"%s\", \"status\": ", self->name);
    app_json_text(stdout, tl_status_name(err->status));
    printf(", \"exit_code\": %d", (int)code);
    if (err->status != TL_OK) printf(", \"error\": "), app_json_text(stdout, err->message);
    printf(", \"scene\": "), app_json_text(stdout, o->scene);
    printf(", \"name\": "), app_json_text(stdout, tl_scene_name(scene));
    printf(", \"out\": "), app_json_text(stdout, out);
    printf(", \"threads\": %d, \"first_frame\": %d, \"last_frame\": %d", r->threads, r->first_frame, r->last_frame);
    printf(", \"faces\": %lld, \"nodes\": %lld", (long long)r->faces, (long long)r->nodes);
    printf(", \"steps\": %lld, \"rejected\": %lld, \"hurried\": %lld, \"newton_iterations\": %lld, "
           "\"linear_iterations\": %lld",
           (long long)r->steps, (long long)r->rejected, (long long)r->hurried, (long long)r->newton_iterations,
           (long long)r->linear_iterations);
    printf(", \"contacts\": %lld, \"intersections\": %lld, \"held\": %lld, \"pinched\": %lld", (long long)r->contacts,
           (long long)r->intersections, (long long)r->held, (long long)r->pinched);
    printf(
        ", \"start\": {\"crossings_before\": %lld, \"crossings_after\": %lld, \"nodes_moved\": %d, \"largest_move\": ",
        (long long)r->start.crossings_before, (long long)r->start.crossings_after, r->start.nodes_moved);
    app_json_real(stdout, r->start.largest_move);
    print_relax_json(&r->start.relax);
    printf("}, \"seconds\": "), app_json_real(stdout, r->seconds);
    const struct {
        const char *name;
        double value;
    } stages[] = {{"physics", r->stages.physics}, {"strain", r->stages.strain}, {"collision", r->stages.collision},
                  {"remesh", r->stages.remesh},   {"other", r->stages.other},   {"total", r->stages.total}};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        printf("%s\"%s\": ", i ? ", " : ", \"stages\": {", stages[i].name);
        app_json_real(stdout, stages[i].value);
    }
    printf("}, \"strain_min\": "), app_json_real(stdout, r->strain_min);
    printf(", \"strain_max\": "), app_json_real(stdout, r->strain_max);
    printf(", \"strain_min_99\": "), app_json_real(stdout, r->strain_min_99);
    printf(", \"strain_max_99\": "), app_json_real(stdout, r->strain_max_99);
    printf(", \"state_hash\": \"%016llx\", \"peak_bytes\": %zu", (unsigned long long)r->state_hash, r->peak_bytes);
    if (r->resumable) {
        printf(", \"seconds_lost\": "), app_json_real(stdout, r->seconds_lost);
        char *command = resume_command(o, out);
        if (command) printf(", \"resume\": "), app_json_text(stdout, command);
        free(command);
    }
    printf("}\n");
}

static void print_summary(const char *out, const tl_run_report *r)
{
    char faces[32];
    const double per_step = r->steps > 0 ? 1.0 / (double)r->steps : 0;
    const int32_t written = r->last_frame - r->first_frame + 1;
    if (r->last_frame < 0)
        printf("nothing left to do: the frames asked for are there\n");
    else
        printf("%d frames of %s faces in %.1f s: %.1f ms and %.1f Newton iterations per step, "
               "strain %+.1f %% to %+.1f %% (99 %% of the area: %+.1f %% to %+.1f %%)\n",
               written, app_count(r->faces, faces), r->seconds, 1e3 * r->stages.total * per_step,
               (double)r->newton_iterations * per_step, 100 * r->strain_min, 100 * r->strain_max,
               100 * r->strain_min_99, 100 * r->strain_max_99);
    if (r->rejected > 0)
        printf("%lld attempts at a step were thrown away and retried with smaller substeps\n", (long long)r->rejected);
    if (r->hurried > 0)
        printf("%lld substeps took all the work they may and were ended coarsely (hurried_steps in stats.jsonl)\n",
               (long long)r->hurried);
    if (r->start.nodes_moved > 0)
        printf("the start was pulled apart: %lld crossings, %d nodes moved, at most %.3g mm\n",
               (long long)r->start.crossings_before, r->start.nodes_moved, 1e3 * r->start.largest_move);
    const tl_relax_report *relax = &r->start.relax;
    if (relax->rounds > 0)
        printf("the start was relaxed: strain %+.1f %% to %+.1f %% became %+.1f %% to %+.1f %%; cloth moved %.3g mm on "
               "average, %.3g mm at most\n",
               100 * relax->strain_before[0], 100 * relax->strain_before[1], 100 * relax->strain[0],
               100 * relax->strain[1], 1e3 * relax->mean_move, 1e3 * relax->largest_move);
    if (r->pinched > 0)
        printf(
            "up to %lld nodes had no room between bodies or handles and were let through: 'toile check' says where\n",
            (long long)r->pinched);
    if (r->intersections > 0)
        printf("%lld intersections over all frames: toile render --mode intersections shows where\n",
               (long long)r->intersections);
    printf("frames:     ");
    app_print_word(stdout, out);
    printf("/frames\nstatistics: ");
    app_print_word(stdout, out);
    printf("/stats.jsonl\nnext:       ");
    app_print_word(stdout, app_program);
    printf(" check ");
    app_print_word(stdout, out);
    printf("\n");
}

static char *default_out(const char *name)
{
    const size_t size = strlen(name) + sizeof "out/";
    char *out = malloc(size);
    if (out) snprintf(out, size, "out/%s", name);
    return out;
}

static int out_of_memory(const app_command *self, bool json)
{
    return app_fail(self, json, APP_FAILED, &(tl_error){TL_NO_MEMORY, "out of memory"});
}

// The scene and, if no folder for the results was given, the name of one (which the caller frees).
static tl_status load(const run_options *o, tl_scene **scene, char **made, tl_error *err)
{
    struct stat info;
    if (stat(o->scene, &info) == 0 && S_ISDIR(info.st_mode)) {
        snprintf(err->message, sizeof err->message, "%s: is a folder, a scene file is needed (is it %s%sscene.json?)",
                 o->scene, o->scene, o->scene[strlen(o->scene) - 1] == '/' ? "" : "/");
        return err->status = TL_BAD_INPUT;
    }
    const tl_status status = tl_scene_load(o->scene, o->sets.item, o->sets.count, scene, err);
    if (status != TL_OK || o->out) return status;
    const char *name = tl_scene_name(*scene);
    if (!*name || name[0] == '.' || strchr(name, '/')) {  // it must not lead out of out/
        err->status = TL_BAD_INPUT;
        snprintf(err->message, sizeof err->message, "%s: name \"%s\" cannot be the name of a folder (give --out DIR)",
                 o->scene, name);
    } else if (!(*made = default_out(name))) {
        *err = (tl_error){TL_NO_MEMORY, "out of memory"};
    }
    if (*made) return TL_OK;
    tl_scene_destroy(*scene);
    *scene = NULL;
    return err->status;
}

// How it went, for people: a summary, or what went wrong and how to go on.
static void tell(const run_options *o, const tl_scene *scene, const char *out, const tl_run_report *report,
                 tl_error *err)
{
    bool show_resume = false;
    if (err->status == TL_CANCELLED && !report->resumable) {
        snprintf(err->message, sizeof err->message, "stopped before frame 0 was written: there is nothing to resume");
        app_say("%s", err->message);
    } else if (err->status == TL_CANCELLED) {
        snprintf(err->message, sizeof err->message, "stopped; the checkpoint in %.800s goes on from here", out);
        show_resume = !o->quiet || !o->json;
        if (show_resume) app_say("%s. To resume:", err->message);
    } else if (err->status != TL_OK) {
        app_say("%s", err->message[0] ? err->message : tl_status_name(err->status));
        show_resume = (err->status == TL_IO || err->status == TL_NO_MEMORY) && report->resumable;
        if (show_resume)
            app_say("what was written is kept. To resume, once there is %s:",
                    err->status == TL_IO ? "room" : "more memory");
        if (err->status == TL_FAILED)
            app_say("a smaller time step may help, in another folder: --set steps_per_frame=%d",
                    2 * tl_scene_steps_per_frame(scene));
    } else if (!o->quiet && !o->json) {
        print_summary(out, report);
    }
    if (!show_resume) return;
    fputs("  ", stderr);
    print_resume_command(stderr, o, out);
    fputc('\n', stderr);
}

// Finer frames of what was saved, in OUT/refined; the run itself never sees them.
static tl_status refine_frames(const run_options *o, const char *out, tl_error *err)
{
    tl_refine_def def = tl_refine_def_default();
    tl_refine_report report;
    if (tl_refine_parse(o->refine, &def, err) != TL_OK) return err->status;
    const size_t size = strlen(out) + sizeof "/refined";
    char *to = malloc(size);
    if (!to) return *err = (tl_error){TL_NO_MEMORY, "out of memory"}, TL_NO_MEMORY;
    snprintf(to, size, "%s/refined", out);
    def.source = out, def.out = to, def.threads = o->threads > 0 ? o->threads : app_cores();
    const tl_status status = tl_refine(&def, &report, err);
    if (status == TL_OK && !o->quiet && !o->json)
        printf("finer:      %s/frames (%lld faces to %lld, %.1f s)\n", to, (long long)report.faces_in,
               (long long)report.faces_out, report.seconds);
    free(to);
    return status;
}

static int run(const app_command *self, const run_options *o)
{
    tl_error err = {0};
    tl_scene *scene = NULL;
    char *made = NULL;
    if (o->refine) {  // before hours of work
        tl_refine_def checked = tl_refine_def_default();
        if (tl_refine_parse(o->refine, &checked, &err) != TL_OK) return app_usage(self, "--refine %s", err.message);
    }
    if (load(o, &scene, &made, &err) != TL_OK) return app_fail(self, o->json, app_exit_of(err.status, APP_INPUT), &err);

    const char *out = o->out ? o->out : made;
    run_host host = {.verbose = o->verbose};
    progress_init(&host.progress, tl_scene_name(scene), tl_scene_steps_per_frame(scene), o->quiet);
    app_stop_on_signals(o->quiet);

    const tl_log log = {on_log, &host};
    tl_run_def def = tl_run_def_default();
    def.out_dir = out;
    def.frames = o->frames;
    def.threads = o->threads > 0 ? o->threads : app_cores();
    def.fit_threads = o->threads == 0;
    def.resume = o->resume;
    def.checkpoint_every = o->checkpoint_every;
    def.checkpoint_seconds = o->checkpoint_seconds;
    def.progress = on_frame;
    def.cancelled = asked_to_stop;
    def.interrupted = asked_to_stop_now;
    def.user = &host;
    def.log = &log;
    tl_run_report report = {0};
    err = (tl_error){0};
    err.status = tl_run(scene, &def, &report, &err);
    progress_clear(&host.progress);

    // a folder that cannot be used is invalid input; a disk that fills up on the way is a failed run
    const bool began = host.progress.any || host.progress.steps_into > 0 || report.resumable;
    app_exit code = app_exit_of(err.status, began ? APP_FAILED : APP_INPUT);
    tell(o, scene, out, &report, &err);
    if (o->refine && err.status == TL_OK && refine_frames(o, out, &err) != TL_OK) {
        app_say("%s", err.message);
        code = app_exit_of(err.status, APP_FAILED);
    }
    if (o->json) print_summary_json(self, o, scene, out, &report, code, &err);
    tl_scene_destroy(scene);
    free(made);
    return code;
}

// Options that run and resume share; `o->sets.item` and `words->item` have argc entries.
static bool parse_run(const app_command *self, int argc, char **argv, run_options *o, app_list *words, int *code)
{
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &o->out, 0, 0, "DIR",
         "folder for the results, made if missing. Default out/NAME,\n"
         "NAME as in the scene"},
        {"output-path", 0, APP_TEXT, &o->out, 0, 0, "DIR", NULL},
        {"resume", 0, APP_FLAG, &o->resume, 0, 0, NULL, "go on from the checkpoint in the folder"},
        {"quality", 0, APP_TEXT, &o->quality, 0, 0, "Q",
         "draft, normal or final: sizes, tolerances and steps where\nthe scene gives none (docs/scene.md). Default: "
         "the scene's"},
        {"relax", 0, APP_TEXT, &o->relax, 0, 0, "HOW",
         "on, off or auto: bring strained cloth to equilibrium before\nframe 0 (docs/start.md). Default: the scene's"},
        {"frames", 'n', APP_INT, &o->frames, 0, 1e6, "N", "stop after frame N. Default: as the scene says"},
        {"threads", 'j', APP_INT, &o->threads, 1, 256, "N",
         "threads to use; the result never depends on it.\n"
         "Default: the cores there are, one per 2,000 faces at most"},
        {"set", 0, APP_MANY, &o->sets, 0, 0, "KEY=VALUE",
         "replace a value of the scene, e.g. fps=50;\n"
         "may be given again. A bare KEY=VALUE does the same"},
        {"checkpoint-every", 0, APP_INT, &o->checkpoint_every, 1, 1e6, "N", "frames between checkpoints. Default 10"},
        {"checkpoint-seconds", 0, APP_REAL, &o->checkpoint_seconds, 0, 1e9, "S",
         "a checkpoint also where a crash could cost more work\nthan this. Default 60: at most a minute is lost"},
        {"refine", 0, APP_TEXT, &o->refine, 0, 0, "N[:SCHEME]",
         "also finer, smooth frames in DIR/refined, N levels, or\nN[:SCHEME]+wrinkles (see 'toile refine'); the run "
         "never sees them"},
        {"quiet", 'q', APP_FLAG, &o->quiet, 0, 0, NULL, "no progress, no summary; warnings and errors only"},
        {"verbose", 'v', APP_FLAG, &o->verbose, 0, 0, NULL, "also what the solver has to say"},
        {"json", 0, APP_FLAG, &o->json, 0, 0, NULL, "one JSON object on stdout at the end"},
        {"num-frames", 0, APP_INT, &o->frames, 0, 1e6, "N", NULL},
        {"headless", 0, APP_FLAG, &o->headless, 0, 0, NULL, NULL},
    };
    const int32_t skip = o->whole_folder ? 5 : 0;  // `toile resume` has begun already: no --out, --quality, --relax
    return app_parse(self, options + skip, (int32_t)(sizeof options / sizeof *options) - skip, argc, argv, words, code);
}

static run_options run_defaults(void)
{
    const tl_run_def def = tl_run_def_default();
    return (run_options){
        .frames = -1, .checkpoint_every = def.checkpoint_every, .checkpoint_seconds = def.checkpoint_seconds};
}

int app_run(const app_command *self, int argc, char **argv)
{
    run_options o = run_defaults();
    app_list words = {0};
    int code;
    const char **texts = calloc(2 * (size_t)argc, sizeof *texts);
    if (!texts) return out_of_memory(self, false);
    words.item = texts;
    o.sets.item = texts + argc;
    if (!parse_run(self, argc, argv, &o, &words, &code)) goto end;
    if (words.count == 0) {
        code = app_usage(self, "which scene? A scene file is needed");
        goto end;
    }
    o.scene = words.item[0];
    for (int32_t i = 1; i < words.count; i++) {
        const char *word = words.item[i];
        if (strchr(word, '=')) {  // KEY=VALUE without --set, as older cloth programs take it
            o.sets.item[o.sets.count++] = word;
        } else if (strcmp(argv[0], "simulateoffline") == 0 && !o.out) {  // SCENE OUT, likewise
            o.out = word;
        } else {
            code = app_usage(self, "one scene at a time: '%s' is too much (results go to --out DIR)", word);
            goto end;
        }
    }
    if (o.quality) {  // a key like others
        snprintf(o.quality_set, sizeof o.quality_set, "quality=%s", o.quality);
        o.sets.item[o.sets.count++] = o.quality_set;
    }
    if (o.relax) {
        snprintf(o.relax_set, sizeof o.relax_set, "start.relax=%s", o.relax);
        o.sets.item[o.sets.count++] = o.relax_set;
    }
    code = run(self, &o);
end:
    free(texts);
    return code;
}

int app_resume(const app_command *self, int argc, char **argv)
{
    run_options o = run_defaults();
    o.whole_folder = true;
    app_list words = {0};
    int code;
    char *scene = NULL;
    const char **texts = calloc(2 * (size_t)argc, sizeof *texts);
    if (!texts) return out_of_memory(self, false);
    words.item = texts;
    o.sets.item = texts + argc;
    if (!parse_run(self, argc, argv, &o, &words, &code)) goto end;
    int32_t used = words.count > 0;
    while (used < words.count && strchr(words.item[used], '=')) o.sets.item[o.sets.count++] = words.item[used++];
    if (used == 0 || used < words.count) {
        code = app_usage(self, "give one folder, the --out of the run to go on with");
        goto end;
    }
    o.out = words.item[0];
    const size_t size = strlen(o.out) + sizeof "/scene.json";
    scene = malloc(size);
    if (!scene) {
        code = out_of_memory(self, o.json);
        goto end;
    }
    snprintf(scene, size, "%s/scene.json", o.out);
    o.scene = scene;
    o.resume = true;
    code = run(self, &o);
end:
    free(scene);
    free(texts);
    return code;
}
