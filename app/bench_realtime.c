// app/bench_realtime.c: `toile bench realtime`: reads what to measure, hands it to bench/.

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"
#include "bench_read.h"
#include "../bench/bench.h"

#ifndef TL_DATA_DIR
#define TL_DATA_DIR ""  // set by the build: the folder that holds scenes/
#endif

enum { PATH_SIZE = 4096, NAME_SIZE = 32 };

static const app_command realtime_command = {
    .name = "bench realtime",
    .summary = "measure springs on edge trees",
    .synopsis = "[options]",
    .about =
        "A sheet on a cylinder and a sphere at every level and by every set of criteria (A collision, B curvature,\n"
        "C length); a T-shirt, a dress at every level, adaptive, and coarse behind; budgets: in the columns of\n"
        "Simnett 2012, published figures beside ours. In a build what is measured from inside follows (the programs\n"
        "bench_realtime and bench_curved beside this one): transitions, refining with and without pools, lists, curved "
        "surfaces.",
    .examples = "  toile bench realtime\n"
                "  toile bench realtime --steps 120 --garment-steps 0 --no-inside --threads 2",
    .codes = "  0  done\n  1  usage: unknown option or value out of range\n  3  a step failed"};

// A program beside this one that looks inside; an installed one has none.
static bool run_beside(const char *name)
{
    char path[PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - NAME_SIZE);
    if (length <= 0) return true;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, NAME_SIZE, "%s", name);
    if (access(path, X_OK) != 0) return true;
    printf("\n");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    int state = 1;
    return child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

static int run_inside(const app_command *self)
{
    if (run_beside("bench_realtime") && run_beside("bench_curved")) return APP_OK;
    return app_fail(self, false, APP_FAILED, &(tl_error){.message = "a program beside this one failed"});
}

static int realtime(const app_command *self, int argc, char **argv, app_list *words)
{
    bench_realtime_def def = bench_realtime_default();
    bool no_inside = false;
    def.data = TL_DATA_DIR;
    const app_option options[] = {
        {"steps", 0, APP_INT, &def.steps, 0, 1e6, "N", "of each sheet; 0: none. Default 360"},
        {"garment-steps", 0, APP_INT, &def.garment_steps, 0, 1e6, "N",
         "of each garment and budget; 0: none. Default 60"},
        {"garment-level", 0, APP_INT, &def.garment_level, 0, 3, "N", "the finest. Default 3"},
        {"no-inside", 0, APP_FLAG, &no_inside, 0, 0, NULL, "without what is measured from inside"},
        {"threads", 'j', APP_INT, &def.threads, 1, 1024, "N", "changes no hash. Default 1"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count > 1) return app_usage(self, "nothing may follow the name: '%s'", words->item[1]);
    tl_error err = {0};
    if (bench_realtime(&def, &err) != TL_OK) return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return no_inside ? APP_OK : run_inside(self);
}

int bench_run_realtime(int argc, char **argv) { return app_with_words(&realtime_command, argc, argv, realtime); }
