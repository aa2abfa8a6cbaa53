// app/bench_realtime.c: `toile bench realtime`: reads what to measure, hands it to bench/.

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

static const app_command realtime_command = {
    .name = "bench realtime",
    .summary = "measure springs on edge trees",
    .synopsis = "[options]",
    .about =
        "A sheet on a sphere at every level and by every set of criteria (A collision, B curvature, C length), in\n"
        "the columns of Simnett 2012, Tables 3.13 and 3.14, published figures beside ours. What is measured from\n"
        "inside (transitions, pools, the solver) is in build/release/bench_realtime.",
    .examples = "  toile bench realtime\n"
                "  toile bench realtime --steps 120 --threads 2",
    .codes = "  0  done\n  1  usage: unknown option or value out of range\n  3  a step failed"};

static int realtime(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_realtime_def def = bench_realtime_default();
    const app_option options[] = {
        {"steps", 0, APP_INT, &def.steps, 1, 1e6, "N", "of each case. Default 360"},
        {"threads", 'j', APP_INT, &def.threads, 1, 1024, "N", "changes no hash. Default 1"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count > 1) return app_usage(self, "nothing may follow the name: '%s'", words->item[1]);
    tl_error err = {0};
    if (bench_realtime(&def, &err) != TL_OK) return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return APP_OK;
}

int bench_run_realtime(int argc, char **argv) { return app_with_words(&realtime_command, argc, argv, realtime); }
