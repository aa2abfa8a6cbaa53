// app/bench_fidelity.c: `toile bench fidelity`: reads what to run, hands it to bench/.

#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

#ifndef TL_DATA_DIR
#define TL_DATA_DIR ""  // set by the build: the folder that holds scenes/
#endif

static const app_command fidelity_command = {
    .name = "bench fidelity",
    .summary = "do adaptive meshes give the cloth that a fixed fine mesh gives?",
    .synopsis = "[options]",
    .about = "Runs scenes/paper-sphere on a fixed fine mesh from several shifted starts, and on the anisotropic, the "
             "isotropic\n"
             "and the fixed average mesh. At some frames the shapes are compared by figures that do not depend on the "
             "mesh:\n"
             "histogram of mean curvature (earth mover's distance), wrinkles (rms out of a smoothed surface), and the "
             "outlines\n"
             "seen from above and from the front. The distance of a mesh to the fine runs stands beside the distance "
             "of these to\n"
             "each other: a ratio near 1 is the same cloth. How to read it: docs/notes/remeshing.md.",
    .examples =
        "  toile bench fidelity\n"
        "  toile bench fidelity --runs 5 --others 3 --pictures pages\n"
        "  toile bench fidelity --size 0.03 --frames 43\n"
        "  toile bench fidelity --keep kept --adapt remeshing.curvature=0.1         # how near do finer meshes come?\n"
        "  toile bench fidelity --full --keep fidelity-full --threads 2 --save      # goes on where it was cut",
    .codes = "  0  done\n  1  usage: unknown option or value out of range\n"
             "  2  a scene is missing or wrong, or a file cannot be read or written\n  3  out of memory\n"
             "  4  a run crossed or failed"};

enum { ARGS_MAX = 256, PATH_SIZE = 256 };

static bool ascending(const int32_t *values, int32_t count)
{
    for (int32_t i = 1; i < count; i++)
        if (values[i] <= values[i - 1]) return false;
    return true;
}

static void default_place(bench_fidelity_def *def, char csv[PATH_SIZE])
{
    char machine[128];
    bench_machine_name(machine, sizeof machine);
    snprintf(csv, PATH_SIZE, "bench/results/%s-fidelity.csv", machine);
    mkdir("bench", 0777);  // where they exist already, or cannot be made, opening the file tells
    mkdir("bench/results", 0777);
    if (!def->csv) def->csv = csv;
}

static int fidelity(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_fidelity_def def = bench_fidelity_default();
    def.data = TL_DATA_DIR;
    const char *frames = NULL, *set_items[ARGS_MAX], *adapt_items[ARGS_MAX];
    app_list sets = {set_items, 0}, adapts = {adapt_items, 0};
    bool brief = false, save = false;
    if (argc > ARGS_MAX) return app_usage(self, "more than %d arguments", ARGS_MAX);
    const app_option options[] = {
        {"short", 0, APP_FLAG, &brief, 0, 0, NULL, "coarser meshes, longer steps: two minutes. Default"},
        {"full", 0, APP_FLAG, &def.full, 0, 0, NULL, "65,536 faces against edges from 10 mm up: hours"},
        {"size", 0, APP_REAL, &def.size, 1e-3, 0.2, "M",
         "smallest edge of the adaptive meshes in metres, fixed ones\n"
         "in proportion. Default 0.064, full 0.01"},
        {"runs", 0, APP_INT, &def.runs, 2, 64, "N", "of the fixed fine mesh. Default 3"},
        {"meshes", 0, APP_FLAG, &def.meshes, 0, 0, NULL,
         "after the first, runs of the fixed fine mesh have scattered\n"
         "points for a mesh, as many faces, each its own: the spread\n"
         "then has in it what the choice of a fine mesh changes"},
        {"others", 0, APP_INT, &def.others, 1, 64, "N", "of each of the other meshes. Default 1"},
        {"seed", 0, APP_INT, &def.seed, 0, 1000000, "N", "of the first start; every run has its own. Default 1"},
        {"frames", 0, APP_TEXT, &frames, 0, 0, "LIST",
         "looked at, ascending. Default 43,100,143,157,185,200: the\n"
         "ball in the sheet; from behind; in again, twice; the drape"},
        {"scale", 0, APP_REAL, &def.scale, 1e-3, 1, "M",
         "of curvature: twice the deviation of the Gaussian that\n"
         "smooths, in metres. Default twice the size"},
        {"smooth", 0, APP_REAL, &def.smooth, 1e-3, 1, "M",
         "of the surface that wrinkles are counted from, likewise.\n"
         "Default five times the size, at least 0.1"},
        {"threads", 'j', APP_INT, &def.threads, 1, 256, "N", "Default 1"},
        {"set", 0, APP_MANY, &sets, 0, 0, "KEY=VALUE", "replaces a value of every scene; may be repeated"},
        {"adapt", 0, APP_MANY, &adapts, 0, 0, "KEY=VALUE",
         "the same for the adaptive meshes alone: what is kept of the\n"
         "fixed ones still serves. E.g. remeshing.curvature=0.1"},
        {"keep", 0, APP_TEXT, &def.keep, 0, 0, "DIR",
         "shapes and states of every run go there, and what is there\n"
         "is not run again: goes on where it was cut, looks again\n"
         "with another --scale"},
        {"pictures", 0, APP_TEXT, &def.pictures, 0, 0, "DIR",
         "frame-NNNNNN.png and frame-NNNNNN-mesh.png: anisotropic,\n"
         "isotropic; below: fixed fine, fixed average"},
        {"out", 'o', APP_TEXT, &def.csv, 0, 0, "CSV", "append the rows of the table to this file"},
        {"save", 0, APP_FLAG, &save, 0, 0, NULL, "append to bench/results/MACHINE-fidelity.csv"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count > 1) return app_usage(self, "'%s' is too much: there is one scene", words->item[1]);
    if (brief && def.full) return app_usage(self, "--short or --full, not both");
    if (sets.count > BENCH_SETS_MAX) return app_usage(self, "--set %d times, at most %d", sets.count, BENCH_SETS_MAX);
    if (adapts.count > BENCH_SETS_MAX)
        return app_usage(self, "--adapt %d times, at most %d", adapts.count, BENCH_SETS_MAX);
    def.sets = sets.item, def.set_count = sets.count;
    def.adapts = adapts.item, def.adapt_count = adapts.count;
    if (frames && (!bench_read_counts(frames, 999999, def.frames, BENCH_FRAMES_MAX, &def.frame_count) ||
                   !ascending(def.frames, def.frame_count)))
        return app_usage(self, "--frames '%s', must be up to %d frames, ascending, e.g. 43,200", frames,
                         BENCH_FRAMES_MAX);
    char csv[PATH_SIZE];
    if (save) default_place(&def, csv);
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_fidelity(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    if (def.csv) printf("rows appended to %s\n", def.csv);
    if (def.pictures) printf("pictures in %s\n", def.pictures);
    return faults > 0 ? APP_FINDING : APP_OK;
}

int bench_run_fidelity(int argc, char **argv) { return app_with_words(&fidelity_command, argc, argv, fidelity); }
