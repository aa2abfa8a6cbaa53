// examples/host_threads.c: the program's own threads run the loops of the simulation; results are the same bits.
#include <pthread.h>

#include "sheet.h"

typedef struct job {
    void (*task)(void *arg, int32_t index);
    void *arg;
    int32_t index;
} job;

static void *run_job(void *arg)
{
    const job *j = (const job *)arg;
    j->task(j->arg, j->index);
    return NULL;
}

// A real host hands these to its pool; here each task gets a thread of its own, and the caller runs the first.
static void run(void *user, int32_t count, void (*task)(void *arg, int32_t index), void *arg)
{
    enum { MOST = 64 };
    pthread_t thread[MOST];
    job jobs[MOST];
    for (int32_t i = 0; i < count && i < MOST; i++) jobs[i].task = task, jobs[i].arg = arg, jobs[i].index = i;
    for (int32_t i = 1; i < count; i++) pthread_create(&thread[i], NULL, run_job, &jobs[i]);
    task(arg, 0);
    for (int32_t i = 1; i < count; i++) pthread_join(thread[i], NULL);
    ++*(long *)user;
}

static unsigned long long simulate(const tl_sim_def *def)
{
    tl_error err;
    tl_sim *sim = NULL;
    must(tl_sim_create(def, &sim, &err), &err);
    const tl_cloth_def square = sheet(0.5, 0);
    const int32_t corner = 0;
    tl_handle_def held = tl_handle_def_default();
    must(tl_sim_add_cloth(sim, &square, &held.cloth, &err), &err);
    held.nodes = &corner, held.node_count = 1;
    must(tl_sim_add_handle(sim, &held, &err), &err);
    for (int i = 0; i < 20; i++) must(tl_sim_step(sim, NULL, &err), &err);
    const unsigned long long hash = tl_sim_hash(sim);
    tl_sim_destroy(sim);
    return hash;
}

int main(void)
{
    long loops = 0;
    tl_sim_def def = tl_sim_def_default();
    const unsigned long long ours = simulate(&def);
    def.threads = 2, def.tasks.run = run, def.tasks.user = &loops;
    const unsigned long long hosts = simulate(&def);
    printf("%016llx on one thread of ours\n%016llx on the host's, %ld loops\n", ours, hosts, loops);
    return ours == hosts && loops > 0 ? 0 : 1;
}
