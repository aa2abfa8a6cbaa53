// app/bench_drape.c: `toile bench drape`: reads what to measure, hands it to bench/.

#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

#ifndef TL_DATA_DIR
#define TL_DATA_DIR ""  // set by the build: the folder that holds scenes/
#endif

static const app_command drape_command = {
    .name = "bench drape",
    .summary = "sew garments, let them come to rest and follow whole clips",
    .synopsis = "[walk] [dance] [jump] [options]",
    .about = "A dress on a walk and a pirouette, trousers and T-shirt as layers on a jump: processor time until the\n"
             "garments are at rest, seconds a frame, peak memory, crossings by the exact test in every saved frame,\n"
             "most nodes pinched between parts of the body, and how far the upper tenth of a garment slips on the\n"
             "skin (what 95 % of its nodes keep to at the worst frame). Interrupted, the same command goes on.",
    .examples = "  toile bench drape\n"
                "  toile bench drape dance --quality normal --threads 2 --keep out/dance",
    .codes = "  0  done\n  1  usage: unknown option or value out of range\n"
             "  2  a file cannot be read or written\n  3  a simulation failed\n"
             "  4  a garment crossed something, came off, or is not as it should be"};

enum { THREADS_MAX = 256 };

static int read_words(const app_command *self, const char *quality, const app_list *words, bench_drape_def *def)
{
    static const char *const qualities[] = {"draft", "normal", "final"};
    int q = 0;
    while (quality && q < 3 && strcmp(quality, qualities[q]) != 0) q++;
    if (q == 3) return app_usage(self, "--quality %s, must be draft, normal or final", quality);
    def->quality = q;
    def->names = words->item + 1, def->name_count = words->count - 1;
    for (int32_t i = 0; i < def->name_count; i++) {
        int32_t k = 0;
        while (bench_drape_case(k) && strcmp(bench_drape_case(k), def->names[i]) != 0) k++;
        if (!bench_drape_case(k)) return app_usage(self, "no case '%s', there are walk, dance and jump", def->names[i]);
    }
    return APP_OK;
}

static int drape(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_drape_def def = bench_drape_default();
    const char *quality = NULL;
    const app_option options[] = {
        {"quality", 0, APP_TEXT, &quality, 0, 0, "Q", "of toile drape. Default draft"},
        {"edge", 0, APP_REAL, &def.edge, 2e-3, 0.1, "M", "edge length in metres in place of the quality's"},
        {"frames", 'n', APP_INT, &def.frames, 0, 1e6, "N", "of every clip. Default: all"},
        {"threads", 'j', APP_INT, &def.threads, 1, THREADS_MAX, "N", "Default 1"},
        {"keep", 0, APP_TEXT, &def.keep, 0, 0, "DIR", "folder for the runs. Default out/bench-drape"},
        {"out", 'o', APP_TEXT, &def.csv, 0, 0, "CSV", "append one row per case to this file"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    code = read_words(self, quality, words, &def);
    if (code != APP_OK) return code;
    if (!def.keep) def.keep = "out/bench-drape";
    const char *data = getenv("TOILE_DATA");
    def.data = data && *data ? data : TL_DATA_DIR;
    tl_error err = {0};
    int32_t faults = 0;
    if (bench_drape(&def, &faults, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return faults > 0 ? APP_FINDING : APP_OK;
}

int bench_run_drape(int argc, char **argv) { return app_with_words(&drape_command, argc, argv, drape); }
