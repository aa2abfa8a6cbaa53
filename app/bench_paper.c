// app/bench_paper.c: `toile bench paper`: reads what to run, hands it to bench/.

#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

#ifndef TL_DATA_DIR
#define TL_DATA_DIR ""  // set by the build: the folder that holds scenes/
#endif

static const app_command paper_command = {
    .name = "bench paper",
    .summary = "run the examples of Narain et al. 2012 beside their Table 1",
    .synopsis = "[SCENE]... [options]",
    .about =
        "Faces, seconds per frame and stage, memory, crossings, strain beyond its limits and the state hash, beside "
        "what\n"
        "the paper printed and, where we have it, what ARCSim took on its own scene. SCENE is one of sphere,\n"
        "sphere-isotropic, sphere-fine, sphere-average, flag, sleeve, dress, yellow-dress, kick. The short form has\n"
        "coarser meshes and fewer frames. What to look for: docs/paper.md.",
    .examples = "  toile bench paper\n"
                "  toile bench paper --full sphere sphere-fine --threads 1,2 --save\n"
                "  toile bench paper --full --scaling",
    .codes = "  0  done\n  1  usage: unknown option or value out of range\n"
             "  2  a scene is missing or wrong, or a file cannot be written\n  3  out of memory\n"
             "  4  a run crossed, failed, left its strain limits or depended on the number of threads"};

enum { ARGS_MAX = 256, PATH_SIZE = 256 };

static int check_names(const app_command *self, const app_list *words)
{
    const char *names[32] = {NULL};
    int32_t count = 0;
    while (count < 32 && bench_paper_scene(count)) names[count] = bench_paper_scene(count), count++;
    for (int32_t i = 1; i < words->count; i++) {
        bool known = false;
        for (int32_t k = 0; k < count; k++) known = known || strcmp(words->item[i], names[k]) == 0;
        if (known) continue;
        const char *near = app_nearest(words->item[i], names, count);
        if (near) return app_usage(self, "no scene '%s', did you mean '%s'?", words->item[i], near);
        return app_usage(self, "no scene '%s', see 'toile bench paper --help'", words->item[i]);
    }
    return APP_OK;
}

static void default_places(bench_paper_def *def, char csv[PATH_SIZE])
{
    char machine[128];
    bench_machine_name(machine, sizeof machine);
    snprintf(csv, PATH_SIZE, "bench/results/%s-paper.csv", machine);
    mkdir("bench", 0777);  // where they exist already, or cannot be made, opening the file tells
    mkdir("bench/results", 0777);
    if (!def->csv) def->csv = csv;
    if (!def->plots) def->plots = "bench/results/paper";
}

static int paper(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_paper_def def = bench_paper_default();
    def.data = TL_DATA_DIR;
    const char *threads = NULL, *set_items[ARGS_MAX];
    app_list sets = {set_items, 0};
    bool brief = false, save = false;
    if (argc > ARGS_MAX) return app_usage(self, "more than %d arguments", ARGS_MAX);
    const app_option options[] = {
        {"short", 0, APP_FLAG, &brief, 0, 0, NULL, "coarser meshes, fewer frames. Default"},
        {"full", 0, APP_FLAG, &def.full, 0, 0, NULL, "sizes of the paper, all frames: hours"},
        {"frames", 0, APP_INT, &def.frames, 1, 999999, "N", "of every scene. Default: as the form says"},
        {"threads", 'j', APP_TEXT, &threads, 0, 0, "LIST", "thread counts compared in turn, e.g. 1,2. Default 1"},
        {"fabrics", 0, APP_TEXT, &def.fabrics, 0, 0, "DIR",
         "folder with the measured fabrics of Wang et al. 2011, which\n"
         "the paper used. Default: our own that stand for them"},
        {"check", 0, APP_FLAG, &def.check, 0, 0, NULL, "looks for crossings after every step, not every frame"},
        {"scaling", 0, APP_FLAG, &def.scaling, 0, 0, NULL,
         "instead: the sphere at several smallest sizes, with more\n"
         "steps a frame where they are smaller: 8 at 10 mm\n"
         "(--set steps_per_frame=8: as many for all)"},
        {"set", 0, APP_MANY, &sets, 0, 0, "KEY=VALUE", "replaces a value of every scene; may be repeated"},
        {"out", 'o', APP_TEXT, &def.csv, 0, 0, "CSV", "append one row per run to this file"},
        {"plots", 0, APP_TEXT, &def.plots, 0, 0, "DIR", "faces and time of every frame as NAME.svg and NAME.jsonl"},
        {"save", 0, APP_FLAG, &save, 0, 0, NULL,
         "append to bench/results/MACHINE-paper.csv, plots in\n"
         "bench/results/paper"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (brief && def.full) return app_usage(self, "--short or --full, not both");
    if (sets.count > BENCH_SETS_MAX) return app_usage(self, "--set %d times, at most %d", sets.count, BENCH_SETS_MAX);
    def.sets = sets.item, def.set_count = sets.count;
    if (threads && !bench_read_counts(threads, 256, def.threads, BENCH_THREADS_MAX, &def.thread_count))
        return app_usage(self, "--threads '%s', must be up to %d counts from 1 to 256, e.g. 1,2", threads,
                         BENCH_THREADS_MAX);
    code = check_names(self, words);
    if (code != APP_OK) return code;
    def.scenes = words->item + 1, def.scene_count = words->count - 1;
    char csv[PATH_SIZE];
    if (save) default_places(&def, csv);
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_paper(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    if (def.csv) printf("rows appended to %s\n", def.csv);
    return faults > 0 ? APP_FINDING : APP_OK;
}

int bench_run_paper(int argc, char **argv) { return app_with_words(&paper_command, argc, argv, paper); }
