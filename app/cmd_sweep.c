// app/cmd_sweep.c: `toile sweep`: many runs from one specification, here or on a cluster.
//
// Every sample is a process of its own: one that crashes or runs out of memory costs its sample and nothing else, and
// what it did is on disk.

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"
#include "toile/sweep.h"

enum { JOBS_MAX = 256, ARRAY_MAX = 1000 };  // Slurm takes 1001 tasks in an array unless told otherwise

typedef struct sweep_options {
    const char *spec, *out, *only, *slurm_options;
    int32_t jobs, threads, from, to;  // samples from .. to - 1
    bool retry, list, slurm, slurm_script, quiet, json;
} sweep_options;

// Why a sample's process ended, as a child's exit code.
enum { CHILD_DONE = 0, CHILD_FAILED = 3, CHILD_STOPPED = 4 };

static int asked(void *user)
{
    (void)user;
    return app_stopping();
}

static int run_sample(tl_sweep *sweep, int32_t sample, int32_t threads)
{
    tl_error err = {0};
    const tl_cancel cancel = {asked, NULL};
    const tl_status status = tl_sweep_run(sweep, sample, threads, &cancel, &err);
    if (status == TL_CANCELLED) return CHILD_STOPPED;
    if (status == TL_OK) return CHILD_DONE;
    app_say("sample %d: %s", sample, err.message);
    return CHILD_FAILED;
}

// Starts a sample in a process of its own, which ends if we do.
static pid_t start_sample(tl_sweep *sweep, int32_t sample, int32_t threads)
{
    fflush(NULL);
    const pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(CHILD_STOPPED);
    const int code = run_sample(sweep, sample, threads);
    fflush(NULL);
    _exit(code);
}

typedef struct pool {
    struct {
        pid_t process;
        int32_t sample;
    } work[JOBS_MAX];
    int32_t busy, ended, total;
    bool stopped;
} pool;

// Waits for one process and sees what became of it.
static void reap(pool *p, tl_sweep *sweep, bool quiet)
{
    int state;
    const pid_t process = waitpid(-1, &state, 0);
    if (process < 0) return;  // a signal: the processes heard it too
    for (int32_t i = 0; i < p->busy; i++) {
        if (p->work[i].process != process) continue;
        const int32_t sample = p->work[i].sample;
        p->work[i] = p->work[--p->busy];
        if (WIFSIGNALED(state)) {
            char text[128];
            snprintf(text, sizeof text, "its process was ended by signal %d (%s)", WTERMSIG(state),
                     strsignal(WTERMSIG(state)));
            app_say("sample %d: %s", sample, text);
            if (!app_stopping()) tl_sweep_note_failure(sweep, sample, text, NULL);
        } else if (WEXITSTATUS(state) == CHILD_STOPPED) {
            p->stopped = true;
            return;
        }
        p->ended++;
        const int32_t tenth = p->total / 10 > 0 ? p->total / 10 : 1;
        if (!quiet && (p->ended % tenth == 0 || p->ended == p->total))
            fprintf(stderr, "%d of %d samples\n", p->ended, p->total);
        return;
    }
}

static app_exit run_all(tl_sweep *sweep, const sweep_options *o)
{
    pool p = {0};
    for (int32_t i = o->from; i < o->to; i++) {
        const tl_sweep_state state = tl_sweep_state_of(sweep, i);
        p.total += state == TL_SWEEP_PENDING || (state == TL_SWEEP_FAILED && o->retry);
    }
    app_stop_on_signals(o->quiet);
    for (int32_t i = o->from; i < o->to && !app_stopping(); i++) {
        const tl_sweep_state state = tl_sweep_state_of(sweep, i);
        if (state == TL_SWEEP_DONE || (state == TL_SWEEP_FAILED && !o->retry)) continue;
        if (state == TL_SWEEP_FAILED) tl_sweep_forget_failure(sweep, i, NULL);
        while (p.busy >= o->jobs) reap(&p, sweep, o->quiet);
        if (app_stopping()) break;
        const pid_t process = start_sample(sweep, i, o->threads);
        if (process < 0) {
            app_say("no process for sample %d: %s", i, strerror(errno));
            return APP_FAILED;
        }
        p.work[p.busy].process = process, p.work[p.busy++].sample = i;
    }
    while (p.busy > 0) reap(&p, sweep, o->quiet);
    return app_stopping() || p.stopped ? APP_FAILED : APP_OK;
}

// "17" or "10:20" (both ends included).
static bool read_range(const char *text, int32_t count, int32_t *from, int32_t *to)
{
    char first[32];
    const size_t n = strcspn(text, ":");
    if (n >= sizeof first) return false;
    memcpy(first, text, n);
    first[n] = 0;
    if (!app_read_int(first, 0, count - 1, from)) return false;
    *to = *from;
    if (text[n] && !app_read_int(text + n + 1, *from, INT32_MAX - 1, to)) return false;
    *to = (*to < count ? *to : count - 1) + 1;
    return true;
}

static void print_task(FILE *to, const sweep_options *o, const char *only)
{
    char program[4096], spec[4096], out[4096];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    app_print_word(to, n > 0 ? program : app_program);
    fputs(" sweep ", to);
    app_print_word(to, realpath(o->spec, spec) ? spec : o->spec);
    fputs(" --out ", to);
    app_print_word(to, realpath(o->out, out) ? out : o->out);
    fprintf(to, " --jobs 1 --threads %d --quiet%s --only %s", o->threads, o->retry ? " --retry" : "", only);
}

static app_exit list_tasks(const tl_sweep *sweep, const sweep_options *o)
{
    for (int32_t i = o->from; i < o->to; i++) {
        const tl_sweep_state state = tl_sweep_state_of(sweep, i);
        if (state == TL_SWEEP_DONE || (state == TL_SWEEP_FAILED && !o->retry)) continue;
        char only[32];
        snprintf(only, sizeof only, "%d", i);
        print_task(stdout, o, only);
        putchar('\n');
    }
    return APP_OK;
}

// DIR/sweep.sbatch: an array of tasks, some samples each.
static app_exit write_script(const tl_sweep *sweep, const sweep_options *o, char *path, size_t size)
{
    const int32_t count = tl_sweep_count(sweep), per_task = (count + ARRAY_MAX - 1) / ARRAY_MAX;
    snprintf(path, size, "%s/sweep.sbatch", tl_sweep_dir(sweep));
    FILE *to = fopen(path, "w");
    if (!to) {
        app_say("%s: %s", path, strerror(errno));
        return APP_INPUT;
    }
    char folder[4096];
    fprintf(to, "#!/bin/sh\n#SBATCH --job-name=toile-sweep\n#SBATCH --array=0-%d\n#SBATCH --cpus-per-task=%d\n",
            (count - 1) / per_task, o->threads);
    fprintf(to, "#SBATCH --output=%s/slurm-%%a.log\n",
            realpath(tl_sweep_dir(sweep), folder) ? folder : tl_sweep_dir(sweep));
    if (per_task == 1)
        fprintf(to, "exec ");
    else
        fprintf(to, "first=$((SLURM_ARRAY_TASK_ID * %d))\nexec ", per_task);
    char only[64];
    snprintf(only, sizeof only, per_task == 1 ? "\"$SLURM_ARRAY_TASK_ID\"" : "\"$first:$((first + %d))\"",
             per_task - 1);
    print_task(to, o, only);
    fputc('\n', to);
    if (fclose(to) != 0) {
        app_say("%s: %s", path, strerror(errno));
        return APP_FAILED;
    }
    chmod(path, 0755);
    return APP_OK;
}

static app_exit submit(const tl_sweep *sweep, const sweep_options *o)
{
    char path[4200], *command = NULL;
    size_t size;
    const app_exit written = write_script(sweep, o, path, sizeof path);
    if (written != APP_OK) return written;
    if (o->slurm_script) {
        printf("written:  %s\n", path);
        return APP_OK;
    }
    FILE *text = open_memstream(&command, &size);
    if (!text) return APP_FAILED;
    fprintf(text, "sbatch %s ", o->slurm_options ? o->slurm_options : "");
    app_print_word(text, path);
    fclose(text);
    fflush(NULL);
    const int state = system(command);
    free(command);
    if (state == 0) {
        if (!o->quiet)
            printf("submitted; when it has run, 'toile sweep' once more gathers dataset.jsonl and failures.tsv\n");
        return APP_OK;
    }
    app_say("sbatch did not take %s (is Slurm here? the script can be submitted where it is)", path);
    return APP_FAILED;
}

static int tell(const app_command *self, const sweep_options *o, tl_sweep *sweep, app_exit code)
{
    tl_error err = {0};
    tl_sweep_report r;
    if (tl_sweep_collect(sweep, &r, &err) != TL_OK)
        return app_fail(self, o->json, app_exit_of(err.status, APP_FAILED), &err);
    if (code == APP_OK && (r.failed > 0 || (r.pending > 0 && !o->only))) code = APP_FAILED;
    if (o->json) {
        printf("{\"command\": \"sweep\", \"exit_code\": %d, \"out\": ", (int)code);
        app_json_text(stdout, o->out);
        printf(", \"samples\": %d, \"done\": %d, \"failed\": %d, \"pending\": %d}\n", r.count, r.done, r.failed,
               r.pending);
    } else if (!o->quiet) {
        printf("%d of %d samples done, %d failed, %d to do\n", r.done, r.count, r.failed, r.pending);
        printf("data set:  %s/dataset.jsonl\n", o->out);
        if (r.failed) printf("failures:  %s/failures.tsv (--retry runs them again)\n", o->out);
        if (r.pending && !o->only) printf("the same command goes on\n");
    }
    return code;
}

static int sweep_run(const app_command *self, int argc, char **argv, app_list *words)
{
    sweep_options o = {.threads = 1};
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &o.out, 0, 0, "DIR", "folder of the sweep, made if missing. Required"},
        {"jobs", 'j', APP_INT, &o.jobs, 1, JOBS_MAX, "N", "samples at a time. Default: the cores there are"},
        {"threads", 0, APP_INT, &o.threads, 1, 256, "N", "threads of each sample; never changes a result. Default 1"},
        {"only", 0, APP_TEXT, &o.only, 0, 0, "A[:B]", "samples A to B alone"},
        {"retry", 0, APP_FLAG, &o.retry, 0, 0, NULL, "samples that failed once more"},
        {"list", 0, APP_FLAG, &o.list, 0, 0, NULL, "print a command per sample that is to do, run none"},
        {"slurm", 0, APP_FLAG, &o.slurm, 0, 0, NULL, "write DIR/sweep.sbatch, a job array, and submit it"},
        {"slurm-script", 0, APP_FLAG, &o.slurm_script, 0, 0, NULL, "write it and submit nothing"},
        {"slurm-options", 0, APP_TEXT, &o.slurm_options, 0, 0, "TEXT", "more options for sbatch: '--partition=short'"},
        {"quiet", 'q', APP_FLAG, &o.quiet, 0, 0, NULL, "failures only"},
        {"json", 0, APP_FLAG, &o.json, 0, 0, NULL, "the counts as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one specification");
    if (!o.out) return app_usage(self, "say where to: --out DIR");
    o.spec = words->item[0];
    if (o.jobs == 0) o.jobs = app_cores() / o.threads > 0 ? app_cores() / o.threads : 1;
    if (o.json) o.quiet = true;
    tl_error err = {0};
    tl_sweep *sweep;
    if (tl_sweep_open(o.spec, o.out, &sweep, &err) != TL_OK)
        return app_fail(self, o.json, app_exit_of(err.status, APP_INPUT), &err);
    o.to = tl_sweep_count(sweep);
    if (o.only && !read_range(o.only, tl_sweep_count(sweep), &o.from, &o.to))
        code = app_usage(self, "--only '%s', must be A or A:B with samples from 0 to %d", o.only,
                         tl_sweep_count(sweep) - 1);
    else if (o.list)
        code = list_tasks(sweep, &o);
    else if (o.slurm || o.slurm_script)
        code = submit(sweep, &o);
    else
        code = tell(self, &o, sweep, run_all(sweep, &o));
    tl_sweep_close(sweep);
    return code;
}

int app_sweep(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, sweep_run); }
