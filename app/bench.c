// app/bench.c: `toile bench`: reads what to measure, hands it to bench/.

#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

enum { TEXT_MAX = 256 };

bool bench_read_counts(const char *text, int32_t max_value, int32_t *out, int32_t max_count, int32_t *count)
{
    *count = 0;
    char copy[TEXT_MAX];
    if (strlen(text) >= sizeof copy) return false;
    strcpy(copy, text);
    char *rest = NULL;
    for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
        const size_t length = strlen(item);
        const char unit = item[length - 1];
        const double scale = unit == 'k' || unit == 'K' ? 1e3 : unit == 'm' || unit == 'M' ? 1e6 : 1;
        if (scale > 1) item[length - 1] = '\0';
        double value;
        if (*count >= max_count || !app_read_real(item, 0, max_value, &value)) return false;
        value *= scale;
        if (value < 1 || value > max_value) return false;
        out[(*count)++] = (int32_t)value;
    }
    return *count > 0;
}

static bool read_scenes(const char *text, uint32_t *scenes)
{
    char copy[TEXT_MAX];
    if (strlen(text) >= sizeof copy) return false;
    strcpy(copy, text);
    *scenes = 0;
    char *rest = NULL;
    for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
        if (strcmp(item, "hanging") == 0)
            *scenes |= BENCH_HANGING;
        else if (strcmp(item, "flag") == 0)
            *scenes |= BENCH_FLAG;
        else
            return false;
    }
    return *scenes != 0;
}

static bool read_linear(const char *text, tl_linear *out)
{
    for (int kind = TL_LINEAR_AUTO; kind <= TL_LINEAR_CHOLMOD; kind++)
        if (strcmp(text, tl_linear_name((tl_linear)kind)) == 0) return *out = (tl_linear)kind, true;
    return false;
}

static int list_benches(void)
{
    printf(
        "benchmarks:\n"
        "  dynamics  cost of a time step on a fixed mesh: a hanging sheet and a flag at several sizes\n"
        "  ccd       answers and cost of continuous collision detection, against queries of known truth\n"
        "  stress    the contact scenes from many starts, looked at after every step: crossings, failures, rest\n"
        "  contact   share of contact in a step, its counts, and its growth with size on a stack of sheets\n"
        "  paper     the examples of Narain et al. 2012, as in their Table 1: faces, time per frame and stage, memory\n"
        "  fidelity  adaptive meshes against jittered runs of a fixed fine one: curvature, wrinkles, outlines\n"
        "  grids     time of 1,000 planar grids against their size, for every method\n"
        "  kimmerle  detection kinds, subdivision and wrinkles: the tables of Kimmerle 2005 in their own columns\n"
        "  scenes    two builds in turn on the same scene files: ratios per stage, faces, iterations, look\n"
        "  sqrt3     the sqrt(3) hierarchy beside the figures of Li & Volkov 2005, and a garment that walks\n"
        "  adaptivity  the kinds of adaptive meshes side by side: faces and time at one error\n"
        "  drape     whole clips of a body in garments, from the patterns on\n"
        "  realtime  springs on edge trees, at every level and set of criteria\n"
        "\n'toile bench NAME' runs one with the defaults, 'toile bench NAME --help' shows the options.\n");
    return APP_OK;
}

static int dynamics(const app_command *self, bench_dynamics_def *def, bool save)
{
    char path[TEXT_MAX];
    tl_error err = {0};
    if (save && !def->csv) {
        char machine[128];
        bench_machine_name(machine, sizeof machine);
        snprintf(path, sizeof path, "bench/results/%s.csv", machine);
        def->csv = path;
        mkdir("bench", 0777);  // where they exist already, or cannot be made, opening the file tells
        mkdir("bench/results", 0777);
    }
    int32_t different = 0;
    if (bench_dynamics(def, &different, &err) != TL_OK)
        return app_fail(self, def->json, app_exit_of(err.status, APP_INPUT), &err);
    if (def->csv && !def->json) printf("rows appended to %s\n", def->csv);
    return different > 0 ? APP_FINDING : APP_OK;
}

static int ccd(const app_command *self, const bench_ccd_def *def)
{
    tl_error err = {0};
    int64_t faults = 0;
    if (bench_ccd(def, &faults, &err) != TL_OK)
        return app_fail(self, def->json, app_exit_of(err.status, APP_INPUT), &err);
    return faults > 0 ? APP_FINDING : APP_OK;
}

static int unknown_bench(const app_command *self, const char *name)
{
    const char *names[] = {"dynamics", "ccd",   "stress",     "contact",  "paper", "fidelity", "grids",
                           "scenes",   "sqrt3", "adaptivity", "realtime", "drape", "kimmerle"};
    const char *near = app_nearest(name, names, sizeof names / sizeof *names);
    if (near && strcmp(near, name) == 0) return app_usage(self, "the name comes first: toile bench %s [options]", name);
    if (near) return app_usage(self, "unknown benchmark '%s', did you mean '%s'?", name, near);
    return app_usage(self,
                     "unknown benchmark '%s', there are: dynamics, ccd, stress, contact, paper, fidelity, grids, "
                     "scenes, sqrt3, adaptivity, realtime, drape, kimmerle",
                     name);
}

/// Options whose values have a form of their own; NULL: not given.
typedef struct dynamics_texts {
    const char *sizes, *threads, *scenes, *linear;
} dynamics_texts;

static int read_texts(const app_command *self, const dynamics_texts *given, bench_dynamics_def *def)
{
    if (given->sizes &&
        !bench_read_counts(given->sizes, BENCH_FACES_MAX, def->sizes, BENCH_SIZES_MAX, &def->size_count))
        return app_usage(self, "--sizes '%s', must be up to %d face counts from 1 to 4M, e.g. 2k,10k", given->sizes,
                         BENCH_SIZES_MAX);
    if (given->threads && !bench_read_counts(given->threads, 256, def->threads, BENCH_THREADS_MAX, &def->thread_count))
        return app_usage(self, "--threads '%s', must be up to %d counts from 1 to 256, e.g. 1,2", given->threads,
                         BENCH_THREADS_MAX);
    if (given->scenes && !read_scenes(given->scenes, &def->scenes))
        return app_usage(self, "--scenes '%s', must be hanging, flag or hanging,flag", given->scenes);
    if (given->linear && !read_linear(given->linear, &def->linear)) {
        char known[TEXT_MAX] = "";
        for (int kind = TL_LINEAR_AUTO; kind <= TL_LINEAR_CHOLMOD; kind++) {
            const size_t n = strlen(known);
            snprintf(known + n, sizeof known - n, "%s%s", kind ? ", " : "", tl_linear_name((tl_linear)kind));
        }
        return app_usage(self, "--linear '%s', must be one of %s", given->linear, known);
    }
    return APP_OK;
}

static int bench(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_dynamics_def def = bench_dynamics_default();
    bench_ccd_def ccd_def = bench_ccd_default();
    dynamics_texts given = {0};
    bool save = false;
    const app_option options[] = {
        {"sizes", 0, APP_TEXT, &given.sizes, 0, 0, "LIST", "faces, e.g. 2k,10k. Default 2k,10k,65k,200k"},
        {"scenes", 0, APP_TEXT, &given.scenes, 0, 0, "LIST", "hanging, flag or both. Default hanging,flag"},
        {"steps", 0, APP_INT, &def.steps, 1, BENCH_STEPS_MAX, "N", "timed steps. Default 20"},
        {"warmup", 0, APP_INT, &def.warmup, 0, 100000, "N", "steps before the clock starts. Default 5"},
        {"threads", 'j', APP_TEXT, &given.threads, 0, 0, "LIST",
         "thread counts compared in turn. Default 1,2, or 1 on one\n"
         "core"},
        {"linear", 0, APP_TEXT, &given.linear, 0, 0, "KIND", "linear solver. Default auto"},
        {"dt", 0, APP_REAL, &def.dt, 1e-6, 1, "S", "time step in seconds. Default 0.005"},
        {"out", 'o', APP_TEXT, &def.csv, 0, 0, "CSV", "append one row per result to this file"},
        {"save", 0, APP_FLAG, &save, 0, 0, NULL, "append to bench/results/MACHINE.csv"},
        {"queries", 0, APP_TEXT, &ccd_def.queries, 0, 0, "PATH",
         "ccd: a file of queries, or a folder searched with all\n"
         "below it. Default: queries made with a known truth"},
        {"passes", 0, APP_INT, &ccd_def.passes, 1, 1000, "N",
         "ccd: times each file is run, the best counts. Default 5"},
        {"json", 0, APP_FLAG, &def.json, 0, 0, NULL, "one JSON object on stdout at the end"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count == 0) return list_benches();
    if (words->count > 1) return app_usage(self, "one benchmark at a time: '%s' is too much", words->item[1]);
    const char *name = words->item[0];
    if (strcmp(name, "ccd") == 0) {
        ccd_def.json = def.json;
        return ccd(self, &ccd_def);
    }
    if (strcmp(name, "dynamics") != 0) return unknown_bench(self, name);
    if (app_cores() == 1) def.thread_count = 1;
    code = read_texts(self, &given, &def);
    return code == APP_OK ? dynamics(self, &def, save) : code;
}

int app_bench(const app_command *self, int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "stress") == 0) return bench_run_stress(argc, argv);
    if (argc > 1 && strcmp(argv[1], "contact") == 0) return bench_run_contact(argc, argv);
    if (argc > 1 && strcmp(argv[1], "paper") == 0) return bench_run_paper(argc, argv);
    if (argc > 1 && strcmp(argv[1], "fidelity") == 0) return bench_run_fidelity(argc, argv);
    if (argc > 1 && strcmp(argv[1], "grids") == 0) return bench_run_grids(argc, argv);
    if (argc > 1 && strcmp(argv[1], "kimmerle") == 0) return bench_run_kimmerle(argc, argv);
    if (argc > 1 && strcmp(argv[1], "scenes") == 0) return bench_run_scenes(argc, argv);
    if (argc > 1 && strcmp(argv[1], "sqrt3") == 0) return bench_run_sqrt3(argc, argv);
    if (argc > 1 && strcmp(argv[1], "adaptivity") == 0) return bench_run_adaptivity(argc, argv);
    if (argc > 1 && strcmp(argv[1], "drape") == 0) return bench_run_drape(argc, argv);
    if (argc > 1 && strcmp(argv[1], "realtime") == 0) return bench_run_realtime(argc, argv);
    return app_with_words(self, argc, argv, bench);
}
