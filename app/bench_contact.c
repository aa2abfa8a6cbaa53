// app/bench_contact.c: `toile bench stress` and `toile bench contact`: read what to run, hand it to bench/.

#include <string.h>

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

#ifndef TL_DATA_DIR
#define TL_DATA_DIR ""  // set by the build: the folder that holds scenes/
#endif

static const app_command stress_command = {
    .name = "bench stress",
    .summary = "run the contact scenes and look for crossings after every step",
    .synopsis = "[SCENE]... [options]",
    .about = "Runs every scene several times at several time steps, from a start shifted by up to 2 mm and "
             "moving at up\n"
             "to 0.05 m/s by the seed (seed 0: as the scene stands). After every step no edge may pass "
             "through a face, by\n"
             "the exact test, and all numbers must be finite; 'sphere' and 'table' must come to rest within "
             "5 s and stay so.\n"
             "SCENE is a name (found in scenes/ of $TOILE_DATA or of the installation), a folder or a file.",
    .examples = "  toile bench stress --runs 1\n"
                "  toile bench stress --fast --dt 1/200 --seed 1\n"
                "  toile bench stress sphere table --dt 1/100 --runs 100 --seed 1 --json stress.json",
    .codes = "  0  all bars held\n  1  usage: unknown option or value out of range\n"
             "  2  a scene is missing or wrong, or the file cannot be written\n  3  out of memory\n"
             "  4  a run broke a bar: the command that repeats it is printed"};

static const app_command contact_command = {
    .name = "bench contact",
    .summary = "measure what contact costs",
    .synopsis = "[SCENE]... [options]",
    .about = "Its share of a step and the counts behind it on the contact scenes, and the growth of the time "
             "per step with\n"
             "the number of faces on a stack of ten sheets, lying and falling (bar: faces^1.2).",
    .examples = "  toile bench contact --seconds 0.5 --sizes 5k,20k --threads 1\n"
                "  toile bench contact sphere --seconds 3 --json contact.json",
    .codes = "  0  done\n  1  usage: unknown option or value out of range\n"
             "  2  a scene is missing or wrong, or the file cannot be written\n  3  a step failed\n"
             "  4  the cost grows faster than the bar, or two thread counts gave different states"};

enum { ARGS_MAX = 256 };

static bool read_one_dt(const char *item, double *out)
{
    const bool part = strncmp(item, "1/", 2) == 0;
    if (!app_read_real(item + (part ? 2 : 0), 1e-6, 1e6, out)) return false;
    if (part) *out = 1 / *out;
    return *out <= 1;
}

// "1/100,0.005" into seconds.
static bool read_dts(const char *text, double *out, int32_t *count)
{
    char copy[256], *rest = NULL;
    *count = 0;
    if (strlen(text) >= sizeof copy) return false;
    strcpy(copy, text);
    for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
        if (*count >= BENCH_DTS_MAX || !read_one_dt(item, &out[(*count)++])) return false;
    return *count > 0;
}

// The words after the name of the benchmark are scenes; a name that we do not have is most likely a slip.
static int check_scenes(const app_command *self, const app_list *words)
{
    for (int32_t i = 1; i < words->count; i++) {
        char path[1024];
        tl_error err = {0};
        if (bench_find_scene(words->item[i], TL_DATA_DIR, path, sizeof path, &err) == TL_OK) continue;
        const char *names[64] = {NULL};
        int32_t count = 0;
        while (count < 64 && bench_contact_scene(count)) names[count] = bench_contact_scene(count), count++;
        const char *near = app_nearest(words->item[i], names, count);
        if (near) return app_usage(self, "no scene '%s', did you mean '%s'?", words->item[i], near);
        return app_fail(self, false, APP_INPUT, &err);
    }
    return APP_OK;
}

static int stress(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_stress_def def = bench_stress_default();
    def.data = TL_DATA_DIR;
    const char *dts = NULL, *set_items[ARGS_MAX];
    app_list sets = {set_items, 0};
    if (argc > ARGS_MAX) return app_usage(self, "more than %d arguments", ARGS_MAX);
    const app_option options[] = {
        {"runs", 0, APP_INT, &def.runs, 1, 100000, "N", "runs per scene and time step. Default 10"},
        {"dt", 0, APP_TEXT, &dts, 0, 0, "LIST", "time steps in seconds. Default 1/100,1/200"},
        {"seed", 0, APP_INT, &def.seed, 0, 1e9, "N", "of the first run, 0: the scene as it stands. Default 0"},
        {"steps", 0, APP_INT, &def.steps, 1, 1e9, "N", "steps per run. Default: as the scene says"},
        {"seconds", 0, APP_REAL, &def.seconds, 1e-6, 1e6, "S",
         "simulated per run. Default: as the scene says, at least 5\n"
         "where rest is judged"},
        {"wall", 0, APP_REAL, &def.wall, 1e-3, 1e9, "S", "ends a run after so much wall-clock time. Default: never"},
        {"threads", 'j', APP_INT, &def.threads, 1, 256, "N", "Default 1"},
        {"fast", 0, APP_FLAG, &def.fast, 0, 0, NULL,
         "pinched nodes and frames of more than 10 s of processor\ntime are faults, too. Without SCENE: those of "
         "scenes/fast,\nbodies of 5 to 50 m/s"},
        {"short", 0, APP_FLAG, &def.brief, 0, 0, NULL, "coarser meshes, where the scene allows"},
        {"remeshing", 0, APP_TEXT, &def.remeshing, 0, 0, "KIND",
         "anisotropic, isotropic, sqrt3 or none. Default: as the scene says"},
        {"set", 0, APP_MANY, &sets, 0, 0, "KEY=VALUE", "replaces a value of every scene; may be repeated"},
        {"json", 0, APP_TEXT, &def.json, 0, 0, "FILE", "the figures of every run"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (sets.count > BENCH_SETS_MAX) return app_usage(self, "--set %d times, at most %d", sets.count, BENCH_SETS_MAX);
    def.sets = sets.item, def.set_count = sets.count;
    if (def.remeshing && strcmp(def.remeshing, "none") != 0 && strcmp(def.remeshing, "anisotropic") != 0 &&
        strcmp(def.remeshing, "isotropic") != 0 && strcmp(def.remeshing, "sqrt3") != 0)
        return app_usage(self, "--remeshing '%s', must be anisotropic, isotropic, sqrt3 or none", def.remeshing);
    if (dts && !read_dts(dts, def.dts, &def.dt_count))
        return app_usage(self, "--dt '%s', must be up to %d time steps in seconds, e.g. 1/100,0.005", dts,
                         BENCH_DTS_MAX);
    code = check_scenes(self, words);
    if (code != APP_OK) return code;
    def.scenes = words->item + 1, def.scene_count = words->count - 1;
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_stress(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return faults > 0 ? APP_FINDING : APP_OK;
}

static int contact(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_contact_def def = bench_contact_default();
    def.data = TL_DATA_DIR;
    if (app_cores() == 1) def.thread_count = 1;
    const char *sizes = NULL, *threads = NULL;
    const app_option options[] = {
        {"seconds", 0, APP_REAL, &def.seconds, 0, 1e6, "S", "simulated of every scene, 0: no scenes. Default 1"},
        {"sizes", 0, APP_TEXT, &sizes, 0, 0, "LIST",
         "faces of the stack, or 'none'. Default\n"
         "5k,10k,20k,50k,100k"},
        {"steps", 0, APP_INT, &def.steps, 1, BENCH_STEPS_MAX, "N", "timed steps of the stack. Default 12"},
        {"warmup", 0, APP_INT, &def.warmup, 0, 100000, "N", "steps before the clock starts. Default 3"},
        {"threads", 'j', APP_TEXT, &threads, 0, 0, "LIST",
         "thread counts compared on the stack; scenes take the\n"
         "first. Default 1,2, or 1 on one core"},
        {"zones", 0, APP_FLAG, &def.zones, 0, 0, NULL, "answer by springs and impact zones (collisions.response)"},
        {"json", 0, APP_TEXT, &def.json, 0, 0, "FILE", "the figures of every row"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (sizes && strcmp(sizes, "none") == 0)
        def.size_count = 0;
    else if (sizes && !bench_read_counts(sizes, BENCH_FACES_MAX, def.sizes, BENCH_SIZES_MAX, &def.size_count))
        return app_usage(self, "--sizes '%s', must be up to %d face counts from 1 to 4M, e.g. 5k,20k, or none", sizes,
                         BENCH_SIZES_MAX);
    if (threads && !bench_read_counts(threads, 256, def.threads, BENCH_THREADS_MAX, &def.thread_count))
        return app_usage(self, "--threads '%s', must be up to %d counts from 1 to 256, e.g. 1,2", threads,
                         BENCH_THREADS_MAX);
    code = check_scenes(self, words);
    if (code != APP_OK) return code;
    def.scenes = words->item + 1, def.scene_count = words->count - 1;
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_contact(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return faults > 0 ? APP_FINDING : APP_OK;
}

int bench_run_stress(int argc, char **argv) { return app_with_words(&stress_command, argc, argv, stress); }
int bench_run_contact(int argc, char **argv) { return app_with_words(&contact_command, argc, argv, contact); }
