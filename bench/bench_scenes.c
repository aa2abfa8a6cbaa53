// bench/bench_scenes.c: two builds in turn on the same scene files, frame by frame: ratios of time per stage, faces,
// iterations, and how the frames differ in look.
//
// Each turn is a process of its own that goes on from its checkpoint, so both builds meet the same moments of a busy
// machine, and processor time is the system's figure for that process. Stages are wall clock from stats.jsonl.

#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_scenes.h"

enum { ARGS_MAX = 64, PATH_SIZE = 4096, LINE_SIZE = 16384, SIDES = 2 };
static const char *const side_name[SIDES] = {"this", "other"};
static const char *const stage_name[STAGE_COUNT] = {"physics", "strain", "collision", "remesh"};

bench_scenes_def bench_scenes_default(void)
{
    return (bench_scenes_def){.frames = 10, .turn = 1, .threads = 1, .out = stdout};
}

static tl_status fail(tl_error *err, tl_status status, const char *what, const char *path)
{
    if (err) {
        err->status = status;
        snprintf(err->message, sizeof err->message, "%.180s: %.300s", path, what);
    }
    return status;
}

// ---- a turn -----------------------------------------------------------------------------------------------

// Runs a program to its end. False: it could not be run or failed.
static bool call(const char *const *args, bool quiet, double *cpu)
{
    fflush(NULL);  // else both have what is not written yet
    const pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        if (quiet && !freopen("/dev/null", "w", stdout)) _exit(127);
        if (quiet && !freopen("/dev/null", "w", stderr)) _exit(127);
        execvp(args[0], (char *const *)args);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (wait4(child, &status, 0, &used) != child) return false;
    *cpu += (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec + (double)used.ru_stime.tv_sec +
            1e-6 * (double)used.ru_stime.tv_usec;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// One build on one scene.
typedef struct contender {
    const char *program;
    const char *const *sets;
    int32_t set_count;
    char folder[PATH_SIZE];
} contender;

static bool turn(const bench_scenes_def *def, const char *scene, const contender *c, int32_t last, double *cpu)
{
    const char *args[ARGS_MAX] = {c->program, "run", scene, "--out", c->folder, "--quiet"};
    char frames[16], threads[16];
    int n = 6;
    snprintf(frames, sizeof frames, "%d", last), snprintf(threads, sizeof threads, "%d", def->threads);
    args[n++] = "--frames", args[n++] = frames, args[n++] = "--threads", args[n++] = threads;
    if (last > 0) args[n++] = "--resume";
    for (int32_t i = 0; i < def->set_count; i++) args[n++] = "--set", args[n++] = def->sets[i];
    for (int32_t i = 0; i < c->set_count; i++) args[n++] = "--set", args[n++] = c->sets[i];
    args[n] = NULL;
    return call(args, last > 0 || def->quiet, cpu);
}

// ---- statistics -------------------------------------------------------------------------------------------

// The number after "key": in a line of stats.jsonl, from `from` on; 0 if there is none.
static double number(const char *from, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = from ? strstr(from, quoted) : NULL;
    return at ? strtod(at + strlen(quoted), NULL) : 0;
}

static bool add_frame(const char *folder, int32_t frame, scenes_sums *sums)
{
    char path[PATH_SIZE + 16], line[LINE_SIZE];
    snprintf(path, sizeof path, "%s/stats.jsonl", folder);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        if ((int32_t)number(line, "frame") != frame) continue;
        found = true;
        const char *seconds = strstr(line, "\"seconds\": ");
        for (int k = 0; k < STAGE_COUNT; k++) sums->stage[k] += number(seconds, stage_name[k]);
        sums->faces += number(line, "faces"), sums->newton += number(line, "newton_iterations");
        sums->linear += number(line, "linear_iterations"), sums->searches += number(line, "searches");
        sums->substeps += number(line, "substeps"), sums->crossings += number(line, "intersections");
        sums->frames++;
    }
    fclose(file);
    return found;
}

// ---- printing ---------------------------------------------------------------------------------------------

static double over(double a, double b) { return b > 0 ? a / b : (double)NAN; }

static double each(double sum, double count) { return count > 0 ? sum / count : 0; }

static void print_ratio(FILE *out, double other, double here)
{
    const double r = over(other, here);
    if (isfinite(r))
        fprintf(out, " %8.2f", r);
    else
        fprintf(out, " %8s", "-");
}

static void print_head(FILE *out)
{
    fprintf(out, "%-12s %8s %8s %8s %8s %8s %8s %15s %11s %13s %8s %8s %7s\n", "frame", "cpu s", "ratio", "physics",
            "strain", "collide", "remesh", "faces", "newton", "linear/newton", "above %", "front %", "folds");
}

static void print_row(FILE *out, const char *label, const scenes_sums s[SIDES], const scenes_look *look)
{
    const double n = s[0].frames > 0 ? s[0].frames : 1;
    fprintf(out, "%-12s %8.3f", label, s[0].cpu / n);
    print_ratio(out, s[1].cpu, s[0].cpu);
    for (int k = 0; k < STAGE_COUNT; k++) print_ratio(out, s[1].stage[k], s[0].stage[k]);
    fprintf(out, " %7.0f/%-7.0f %5.1f/%-5.1f %6.1f/%-6.1f", s[0].faces / n, s[1].faces / n,
            each(s[0].newton, s[0].substeps), each(s[1].newton, s[1].substeps), each(s[0].linear, s[0].newton),
            each(s[1].linear, s[1].newton));
    fprintf(out, " %8.1f %8.1f %7.2f\n", 100 * look->outline[0], 100 * look->outline[1],
            over(look->fold[0], look->fold[1]));
    fflush(out);
}

static void append_row(FILE *csv, const char *scene, int32_t frame, const scenes_sums s[SIDES], const scenes_look *look)
{
    if (!csv) return;
    char date[16];
    bench_today(date, sizeof date);
    fprintf(csv, "%s,%s,%d", date, scene, frame);
    for (int k = 0; k < SIDES; k++) {
        fprintf(csv, ",%.4f", s[k].cpu);
        for (int i = 0; i < STAGE_COUNT; i++) fprintf(csv, ",%.4f", s[k].stage[i]);
        fprintf(csv, ",%.0f,%.0f,%.0f,%.0f,%.0f,%.0f", s[k].faces, s[k].newton, s[k].linear, s[k].searches,
                s[k].substeps, s[k].crossings);
    }
    fprintf(csv, ",%.5f,%.5f,%.4f,%.4f,%.5f\n", look->outline[0], look->outline[1], look->fold[0], look->fold[1],
            look->move);
    fflush(csv);
}

static const char CSV_HEAD[] =
    "date,scene,frame,cpu,physics,strain,collision,remesh,faces,newton,linear,searches,substeps,crossings,other_cpu,"
    "other_physics,other_strain,other_collision,other_remesh,other_faces,other_newton,other_linear,other_searches,"
    "other_substeps,other_crossings,outline_above,outline_front,fold,other_fold,middle_moved\n";

// ---- a scene ----------------------------------------------------------------------------------------------

static void add_sums(scenes_sums *into, const scenes_sums *s)
{
    into->cpu += s->cpu, into->faces += s->faces, into->newton += s->newton, into->linear += s->linear;
    into->searches += s->searches, into->substeps += s->substeps, into->crossings += s->crossings;
    into->frames += s->frames;
    for (int k = 0; k < STAGE_COUNT; k++) into->stage[k] += s->stage[k];
}

// The frames after `from` up to `to`, both builds; which one goes first alternates.
static tl_status both_turns(const bench_scenes_def *def, const char *scene, const contender c[SIDES], int32_t from,
                            int32_t to, scenes_sums s[SIDES], tl_error *err)
{
    for (int k = 0; k < SIDES; k++) {
        const int who = (to / def->turn + k) % SIDES;
        if (!turn(def, scene, &c[who], to, &s[who].cpu))
            return fail(err, TL_FAILED, "its run failed (run it by itself to see why)", c[who].program);
        for (int32_t f = from + 1; f <= to; f++)
            if (!add_frame(c[who].folder, f, &s[who]))
                return fail(err, TL_FAILED, "no statistics of a frame", c[who].folder);
    }
    return TL_OK;
}

static tl_status one_scene(const bench_scenes_def *def, const char *scene, contender c[SIDES], FILE *csv,
                           int32_t *faults, tl_error *err)
{
    scenes_sums all[SIDES] = {{0}, {0}};
    scenes_look look, worst = {0};
    double fold[SIDES] = {0, 0};
    fprintf(def->out, "%s, %d threads: seconds a frame of this build, and the other's times as a multiple of them\n",
            scene, def->threads);
    print_head(def->out);
    for (int32_t from = -1; from < def->frames;) {
        const int32_t to = from < 0 ? 0 : from + def->turn < def->frames ? from + def->turn : def->frames;
        scenes_sums s[SIDES] = {{0}, {0}};
        const tl_status status = both_turns(def, scene, c, from, to, s, err);
        if (status != TL_OK) return status;
        if (!scenes_compare(c[0].folder, c[1].folder, to, &look))
            return fail(err, TL_FAILED, "a frame cannot be read", c[0].folder);
        char label[24];
        snprintf(label, sizeof label, to - from > 1 ? "%d-%d" : "%d", to - from > 1 ? from + 1 : to, to);
        if (to == 0) snprintf(label, sizeof label, "start");
        print_row(def->out, label, s, &look);
        append_row(csv, scene, to, s, &look);
        for (int k = 0; k < SIDES; k++) {
            if (to == 0) s[k].faces = 0, s[k].frames = 0;  // counts as time, not as a frame
            add_sums(&all[k], &s[k]);
            worst.outline[k] = fmax(worst.outline[k], look.outline[k]), fold[k] += look.fold[k];
        }
        from = to;
    }
    worst.fold[0] = fold[0], worst.fold[1] = fold[1];
    print_row(def->out, "all", all, &worst);
    fprintf(def->out, "%-12s outlines are the worst of the frames; crossings %.0f/%.0f\n\n", "", all[0].crossings,
            all[1].crossings);
    *faults += all[0].crossings > 0;
    return TL_OK;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info, (void)kind, (void)at;
    return remove(path);
}

static bool make_folder(const bench_scenes_def *def, char *out, size_t size)
{
    if (def->keep) {
        snprintf(out, size, "%s", def->keep);
        mkdir(out, 0777);  // may be there
        return access(out, W_OK) == 0;
    }
    const char *tmp = getenv("TMPDIR");
    snprintf(out, size, "%s/toile-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    return mkdtemp(out) != NULL;
}

static tl_status all_scenes(const bench_scenes_def *def, const char *folder, FILE *csv, int32_t *faults, tl_error *err)
{
    for (int32_t i = 0; i < def->scene_count; i++) {
        contender c[SIDES] = {{.program = def->program, .sets = def->with, .set_count = def->with_count},
                              {.program = def->against ? def->against : def->program}};
        for (int k = 0; k < SIDES; k++)
            snprintf(c[k].folder, sizeof c[k].folder, "%.3800s/%d-%s", folder, i, side_name[k]);
        const tl_status status = one_scene(def, def->scenes[i], c, csv, faults, err);
        if (status != TL_OK) return status;
    }
    return TL_OK;
}

tl_status bench_scenes(const bench_scenes_def *def, int32_t *faults, tl_error *err)
{
    char folder[PATH_SIZE];
    *faults = 0;
    if (!make_folder(def, folder, sizeof folder)) return fail(err, TL_IO, "no folder can be made there", folder);
    FILE *csv = def->csv ? bench_csv_open(def->csv, CSV_HEAD) : NULL;
    tl_status status = def->csv && !csv ? bench_csv_close(NULL, def->csv, err) : TL_OK;
    if (status == TL_OK) status = all_scenes(def, folder, csv, faults, err);
    if (csv) {
        const tl_status closed = bench_csv_close(csv, def->csv, status == TL_OK ? err : NULL);
        if (status == TL_OK) status = closed;
    }
    if (!def->keep) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}
