// app/bench_kinds.c: `toile bench sqrt3` and `toile bench adaptivity`: read what to run, hand it to bench/.

#include <string.h>

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

#ifndef TL_DATA_DIR
#define TL_DATA_DIR ""  // set by the build: the folder that holds scenes/
#endif

#define CODES                                                                                                          \
    "  0  done\n  1  usage: unknown option or value out of range\n  2  a scene is missing or wrong\n"                  \
    "  3  out of memory\n  4  cloth crossed something"

static const app_command sqrt3_command = {
    .name = "bench sqrt3",
    .summary = "the sqrt(3) hierarchy beside the figures of Li & Volkov 2005",
    .synopsis = "[options]",
    .about =
        "Makes, extracts and removes the whole hierarchy of 472 triangles, 38,232 at the finest layer, and runs a\n"
        "garment that walks at several errors: faces, time of a step, what adaptation takes of it, crossings.\n"
        "Bars: 10, 3 and 3 ms on one core.",
    .examples = "  toile bench sqrt3\n  toile bench sqrt3 --frames 100 --scene scenes/layers/scene.json",
    .codes = CODES};

static int sqrt3(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_sqrt3_def def = bench_sqrt3_default();
    def.data = TL_DATA_DIR;
    const app_option options[] = {
        {"frames", 0, APP_INT, &def.frames, 1, 100000, "N", "of the garment. Default 20"},
        {"scene", 0, APP_TEXT, &def.scene, 0, 0, "SCENE", "with remeshing.kind sqrt3. Default layered-dress"},
        {"threads", 'j', APP_INT, &def.threads, 1, 256, "N", "Default 1"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count > 1) return app_usage(self, "nothing may follow the name: '%s'", words->item[1]);
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_sqrt3(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return faults > 0 ? APP_FINDING : APP_OK;
}

static const app_command adaptivity_command = {
    .name = "bench adaptivity",
    .summary = "the kinds of adaptive meshes side by side, at one error",
    .synopsis = "[options]",
    .about =
        "Runs a drape, a flag and a dress on a uniform fine mesh and by every kind of remeshing at three sizes. The\n"
        "error is the distance of the same points of the cloth from the fine run, root mean square, early enough\n"
        "for folds not to have parted. Faces, time, share of adaptation, smallest angles of faces (of 1 in 100, and\n"
        "of all); last, what each kind takes for one error, interpolated.",
    .examples = "  toile bench adaptivity --scene drape\n  toile bench adaptivity --scale 2    # coarser: a minute",
    .codes = CODES};

static int adaptivity(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_adaptivity_def def = bench_adaptivity_default();
    def.data = TL_DATA_DIR;
    const app_option options[] = {
        {"scene", 0, APP_TEXT, &def.scene, 0, 0, "NAME", "drape, flag or dress alone. Default all"},
        {"scale", 0, APP_REAL, &def.scale, 0.1, 8, "X", "all sizes times this. Default 1"},
        {"threads", 'j', APP_INT, &def.threads, 1, 256, "N", "Default 1"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count > 1) return app_usage(self, "nothing may follow the name: '%s'", words->item[1]);
    if (def.scene && strcmp(def.scene, "drape") != 0 && strcmp(def.scene, "flag") != 0 &&
        strcmp(def.scene, "dress") != 0)
        return app_usage(self, "--scene '%s', must be drape, flag or dress", def.scene);
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_adaptivity(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return faults > 0 ? APP_FINDING : APP_OK;
}

int bench_run_sqrt3(int argc, char **argv) { return app_with_words(&sqrt3_command, argc, argv, sqrt3); }
int bench_run_adaptivity(int argc, char **argv) { return app_with_words(&adaptivity_command, argc, argv, adaptivity); }
