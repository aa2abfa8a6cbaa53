// app/bench_grids.c: `toile bench grids`: reads what to measure, hands it to bench/.

#include <string.h>

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

static const app_command grids_command = {
    .name = "bench grids",
    .summary = "measure the methods that fill a panel with a grid",
    .synopsis = "[options]",
    .about =
        "Time of 1,000 runs against the size of the grid, for every method of 'toile mesh', and the cost per cell; on "
        "the\n"
        "bodice of docs/conformance/planar-grids.md. Bars: 50 x 50 by length or diagonal within 10 ms, 500 x 500 "
        "within\n"
        "1 s, and within 0.2 s when the factor is kept.",
    .examples = "  toile bench grids --svg grids.svg\n"
                "  toile bench grids --sizes 10,100,1000 --seconds 1 --out grids.csv",
    .codes = "  0  done\n  1  usage: unknown option or value out of range\n"
             "  2  a file cannot be written\n  3  a grid could not be made\n  4  a bar was broken"};

static int grids(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_grids_def def = bench_grids_default();
    const char *sizes = NULL;
    const app_option options[] = {
        {"sizes", 0, APP_TEXT, &sizes, 0, 0, "LIST", "quads along a side. Default 10,20,..,100,200,500"},
        {"runs", 0, APP_INT, &def.runs, 1, 1e6, "N", "most runs per case. Default 1000"},
        {"seconds", 0, APP_REAL, &def.seconds, 1e-3, 1e6, "S", "most time per case. Default 0.2"},
        {"svg", 0, APP_TEXT, &def.svg, 0, 0, "FILE", "draws time against size"},
        {"out", 'o', APP_TEXT, &def.csv, 0, 0, "CSV", "append one row per result to this file"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count > 1) return app_usage(self, "nothing may follow the name: '%s'", words->item[1]);
    if (sizes && !bench_read_counts(sizes, 5000, def.sizes, BENCH_SIZES_MAX, &def.size_count))
        return app_usage(self, "--sizes '%s', must be up to %d sizes from 1 to 5000, e.g. 10,50,100", sizes,
                         BENCH_SIZES_MAX);
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_grids(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return faults > 0 ? APP_FINDING : APP_OK;
}

int bench_run_grids(int argc, char **argv) { return app_with_words(&grids_command, argc, argv, grids); }
