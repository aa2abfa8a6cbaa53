// app/bench_scenes.c: `toile bench scenes`: reads what to measure, hands it to bench/.

#include <string.h>
#include <unistd.h>

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

static const app_command scenes_command = {
    .name = "bench scenes",
    .summary = "two builds in turn on the same scene files",
    .synopsis = "FILE... [--against PROGRAM] [options]",
    .about = "Runs this program and PROGRAM (another build of it) in turn on each file, frame by frame, each turn a\n"
             "process that goes on from its checkpoint, and prints the other's times as multiples of this one's: in\n"
             "all (processor time), and per stage (wall clock); faces, Newton iterations a substep and linear ones\n"
             "a Newton iteration of both; and how the frames differ in look: what one outline covers and the other\n"
             "does not, in % of their area, from above and from the front, and the ratio of folds (|dihedral angle|\n"
             "x length over the area). Without --against this program runs twice, for --with.",
    .examples = "  toile bench scenes conf/sphere.json --frames 86 --turn 5 --against ../old/build/release/toile\n"
                "  toile bench scenes scenes/dress/scene.json --with solver.linear=pcg --out rows.csv",
    .codes = "  0  done\n  1  usage: unknown option or value out of range\n"
             "  2  a file cannot be read or written\n  3  a run failed\n"
             "  4  a frame of this build has crossings"};

static int scenes(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_scenes_def def = bench_scenes_default();
    app_list sets = {0}, with = {0};
    const char *texts[2 * BENCH_SETS_MAX];
    sets.item = texts, with.item = texts + BENCH_SETS_MAX;
    const app_option options[] = {
        {"against", 0, APP_TEXT, &def.against, 0, 0, "PROGRAM", "the other build. Default: this one"},
        {"frames", 'n', APP_INT, &def.frames, 0, 1e6, "N", "frames of every scene. Default 10"},
        {"turn", 0, APP_INT, &def.turn, 1, 1e6, "N", "frames a turn. Default 1"},
        {"threads", 'j', APP_INT, &def.threads, 1, 256, "N", "of both. Default 1"},
        {"set", 0, APP_MANY, &sets, 0, 0, "KEY=VALUE", "replaces a value for both; may be repeated"},
        {"with", 0, APP_MANY, &with, 0, 0, "KEY=VALUE", "replaces a value for this build alone; may be repeated"},
        {"keep", 0, APP_TEXT, &def.keep, 0, 0, "DIR", "folder for the runs, to look at. Default: none are kept"},
        {"out", 'o', APP_TEXT, &def.csv, 0, 0, "CSV", "append one row per turn to this file"},
        {"quiet", 'q', APP_FLAG, &def.quiet, 0, 0, NULL, "no warnings of the runs"},
    };
    int code;
    if (argc > 2 * BENCH_SETS_MAX + 64) return app_usage(self, "more than %d words", 2 * BENCH_SETS_MAX + 64);
    int32_t given = 0;
    for (int i = 1; i < argc; i++) given += strncmp(argv[i], "--set", 5) == 0 || strncmp(argv[i], "--with", 6) == 0;
    if (given > BENCH_SETS_MAX) return app_usage(self, "--set and --with %d times, at most %d", given, BENCH_SETS_MAX);
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count < 2) return app_usage(self, "which scene? At least one scene file is needed");
    char here[4096];
    const ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    if (length > 0) here[length] = '\0';
    def.program = length > 0 ? here : app_program;
    def.scenes = words->item + 1, def.scene_count = words->count - 1;
    def.sets = sets.item, def.set_count = sets.count;
    def.with = with.item, def.with_count = with.count;
    if (def.against && access(def.against, X_OK) != 0)
        return app_usage(self, "--against '%s' is no program that can be run", def.against);
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_scenes(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return faults > 0 ? APP_FINDING : APP_OK;
}

int bench_run_scenes(int argc, char **argv) { return app_with_words(&scenes_command, argc, argv, scenes); }
