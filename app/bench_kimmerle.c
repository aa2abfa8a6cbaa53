// app/bench_kimmerle.c: `toile bench kimmerle`: reads what to measure, hands it to bench/.

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

#ifndef TL_DATA_DIR
#define TL_DATA_DIR ""  // set by the build: the folder that holds scenes/
#endif

enum { THREADS_MAX = 256 };

static const app_command kimmerle_command = {
    .name = "bench kimmerle",
    .summary = "the tables of Kimmerle 2005 in their own columns, beside ours",
    .synopsis = "[options]",
    .about =
        "Detection kinds on a dressed walker (Tables 2.2 to 2.4), subdivision and wrinkles of two garments (Tables "
        "4.2,\n4.3, 5.1), coarse with post-processing against fine (Table 5.2). Times are processor time within one "
        "run;\npublished times are of 2005, so ratios are what compares. The bars are those of "
        "docs/conformance/kimmerle.md.",
    .examples =
        "  toile bench kimmerle\n"
        "  toile bench kimmerle --steps 1600 --frames 0 --plot catwalk.svg    # the whole catwalk, detection alone",
    .codes = "  0  done\n  1  usage: unknown option or value out of range\n"
             "  2  a scene cannot be read, or a file not written\n  3  a simulation failed\n  4  a bar was broken"};

static int kimmerle(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_kimmerle_def def = bench_kimmerle_default();
    const app_option options[] = {
        {"steps", 0, APP_INT, &def.steps, 0, 1e6, "N", "of detection; 0: leave it out. Default 200"},
        {"frames", 0, APP_INT, &def.frames, 0, 1e6, "N", "of garments; 0: leave them out. Default 5"},
        {"walk", 0, APP_TEXT, &def.walk, 0, 0, "SCENE", "for detection. Default catwalk"},
        {"garments", 0, APP_TEXT, &def.garments, 0, 0, "SCENE", "for the rest. Default shirt-trousers"},
        {"static", 0, APP_TEXT, &def.still, 0, 0, "SCENE", "two surfaces that stand still. Default kimmerle/static"},
        {"plot", 0, APP_TEXT, &def.plot, 0, 0, "FILE",
         ".svg or .png: the part that is found, step by step, and\nbeside it NAME-static (Figs 2.11 and 2.12)"},
        {"threads", 'j', APP_INT, &def.threads, 1, THREADS_MAX, "N", "Default 1"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count > 1) return app_usage(self, "nothing may follow the name: '%s'", words->item[1]);
    def.data = TL_DATA_DIR;
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_kimmerle(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return faults > 0 ? APP_FINDING : APP_OK;
}

int bench_run_kimmerle(int argc, char **argv) { return app_with_words(&kimmerle_command, argc, argv, kimmerle); }
