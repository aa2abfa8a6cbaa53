// base/workers.c: a pool of pthreads. Threads take chunks from a shared ticket; who takes which chunk is left to
// chance, what a chunk does is not.
//
// A loop ends when its chunks are done, not when every helper has been seen: on a busy machine a helper may get no
// processor for milliseconds, and the caller then simply does the work itself. A ticket names the round and the next
// chunk in one word, so a helper that comes late can take nothing from a later round by mistake: what it has read
// about the loop counts only if its compare-and-swap on the ticket succeeds. While the caller describes a new loop the
// ticket is closed.

#include "base/workers.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { MAX_THREADS = 256, SPIN_ROUNDS = 6000 };  // short loops follow each other closely: spin before sleeping

// Of helpers, whatever the system's default is (128 kB with musl): a chunk of the contact search wants 85 kB, with
// sanitizers some times as much.
enum { STACK_BYTES = 1 << 20 };

static const uint32_t CLOSED = 0xffffffff;  // in place of the next chunk

struct tl_workers {
    tl_allocator alloc;
    pthread_t *threads;
    int thread_count;  // with the caller
    int started;
    tl_cancel cancel;
    double spent, allowed, granted;  // by the cost model; in all, and up to where
    tl_task_host host;               // run NULL: threads of our own
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    _Atomic uint64_t ticket;  // round << 32 | next chunk
    atomic_int sleeping;      // helpers that wait for `wake`
    atomic_bool stop;
    _Atomic(tl_range_fn) fn;
    _Atomic(void *) arg;
    atomic_int count, chunk;
    atomic_int finished;  // chunks of the current round that are done
    atomic_bool waiting;  // the caller sleeps on `done`
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// Takes and runs chunks of the current round until none is left.
static void run_chunks(tl_workers *w)
{
    for (;;) {
        uint64_t ticket = atomic_load_explicit(&w->ticket, memory_order_acquire);
        const tl_range_fn fn = atomic_load_explicit(&w->fn, memory_order_relaxed);
        void *arg = atomic_load_explicit(&w->arg, memory_order_relaxed);
        const int32_t count = atomic_load_explicit(&w->count, memory_order_relaxed);
        const int32_t chunk = atomic_load_explicit(&w->chunk, memory_order_relaxed);
        const uint32_t next = (uint32_t)ticket;
        if (next == CLOSED || chunk <= 0 || next >= (uint32_t)tl_chunk_count(count, chunk)) return;
        const int32_t i = (int32_t)next;
        if (!atomic_compare_exchange_strong_explicit(&w->ticket, &ticket, ticket + 1, memory_order_acq_rel,
                                                     memory_order_relaxed))
            continue;
        const int32_t begin = i * chunk;
        fn(arg, begin, count - begin < chunk ? count : begin + chunk);
        const int32_t done = atomic_fetch_add(&w->finished, 1) + 1;
        if (done == tl_chunk_count(count, chunk) && atomic_load(&w->waiting)) {
            pthread_mutex_lock(&w->mutex);
            pthread_cond_signal(&w->done);
            pthread_mutex_unlock(&w->mutex);
        }
    }
}

static bool round_is(const tl_workers *w, uint32_t seen) { return (uint32_t)(atomic_load(&w->ticket) >> 32) == seen; }

static void *helper_main(void *arg)
{
    tl_workers *w = arg;
    uint32_t seen = 0;
    for (;;) {
        for (int i = 0; i < SPIN_ROUNDS && round_is(w, seen); i++) pause_briefly();
        if (round_is(w, seen)) {
            pthread_mutex_lock(&w->mutex);
            atomic_fetch_add(&w->sleeping, 1);
            while (round_is(w, seen)) pthread_cond_wait(&w->wake, &w->mutex);
            atomic_fetch_sub(&w->sleeping, 1);
            pthread_mutex_unlock(&w->mutex);
        }
        if (atomic_load_explicit(&w->stop, memory_order_acquire)) return NULL;
        seen = (uint32_t)(atomic_load_explicit(&w->ticket, memory_order_acquire) >> 32);
        run_chunks(w);
    }
}

static void start_round(tl_workers *w)
{
    const uint64_t round = (atomic_load_explicit(&w->ticket, memory_order_relaxed) >> 32) + 1;
    atomic_store(&w->ticket, round << 32);  // ordered before the load of `sleeping`
    if (atomic_load(&w->sleeping) == 0) return;
    pthread_mutex_lock(&w->mutex);
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->mutex);
}

tl_status tl_workers_create(const tl_allocator *alloc, int thread_count, tl_workers **out, tl_error *err)
{
    *out = NULL;
    if (thread_count < 1 || thread_count > MAX_THREADS)
        return tl_fail(err, TL_BAD_ARG, "thread count %d, must be from 1 to %d", thread_count, MAX_THREADS);
    tl_workers *w = TL_CALLOC(alloc, tl_workers, 1);
    if (!w) return tl_fail_memory(err, "the thread pool");
    w->alloc = *alloc;
    w->allowed = w->granted = (double)INFINITY;
    w->thread_count = thread_count;
    w->threads = TL_CALLOC(alloc, pthread_t, thread_count);
    if (!w->threads) {
        TL_FREE(alloc, w, 1);
        return tl_fail_memory(err, "the thread pool");
    }
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->wake, NULL);
    pthread_cond_init(&w->done, NULL);
    pthread_attr_t attr;
    const bool sized = pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, STACK_BYTES) == 0;
    for (int i = 0; i < thread_count - 1; i++) {
        if (!sized || pthread_create(&w->threads[i], &attr, helper_main, w) != 0) {
            pthread_attr_destroy(&attr);
            tl_workers_destroy(w);
            return tl_fail(err, TL_NO_MEMORY, "the system refused thread %d of %d", i + 2, thread_count);
        }
        w->started++;
    }
    pthread_attr_destroy(&attr);
    *out = w;
    return TL_OK;
}

void tl_workers_destroy(tl_workers *w)
{
    if (!w) return;
    atomic_store(&w->stop, true);
    atomic_store(&w->count, 0);
    pthread_mutex_lock(&w->mutex);  // with the lock held no helper is between its test and its sleep
    atomic_store(&w->ticket, ((atomic_load(&w->ticket) >> 32) + 1) << 32);
    pthread_cond_broadcast(&w->wake);
    pthread_mutex_unlock(&w->mutex);
    for (int i = 0; i < w->started; i++) pthread_join(w->threads[i], NULL);
    pthread_cond_destroy(&w->done);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->mutex);
    const tl_allocator alloc = w->alloc;
    TL_FREE(&alloc, w->threads, w->host.run ? 1 : w->thread_count);
    TL_FREE(&alloc, w, 1);
}

int tl_workers_count(const tl_workers *workers) { return workers ? workers->thread_count : 1; }

void tl_workers_lend(tl_workers *w, const tl_task_host *host, int thread_count)
{
    w->host = *host;
    w->thread_count = thread_count < 1 ? 1 : thread_count > MAX_THREADS ? MAX_THREADS : thread_count;
}

// A loop on the host's threads: each task takes chunks until none is left.
typedef struct hosted_loop {
    tl_range_fn fn;
    void *arg;
    int32_t count, chunk;
    atomic_int next;
} hosted_loop;

static void hosted_task(void *arg, int32_t index)
{
    (void)index;
    hosted_loop *loop = arg;
    const int32_t chunks = tl_chunk_count(loop->count, loop->chunk);
    for (int32_t i; (i = atomic_fetch_add(&loop->next, 1)) < chunks;) {
        const int32_t begin = i * loop->chunk;
        loop->fn(loop->arg, begin, loop->count - begin < loop->chunk ? loop->count : begin + loop->chunk);
    }
}

void tl_parallel_for(tl_workers *w, int32_t count, int32_t chunk, tl_range_fn fn, void *arg)
{
    if (count <= 0) return;
    if (w && w->host.run && count > chunk) {
        hosted_loop loop = {.fn = fn, .arg = arg, .count = count, .chunk = chunk};
        const int32_t chunks = tl_chunk_count(count, chunk);
        w->host.run(w->host.user, chunks < w->thread_count ? chunks : w->thread_count, hosted_task, &loop);
        return;
    }
    if (!w || w->started == 0 || count <= chunk) {
        for (int32_t begin = 0; begin < count; begin += chunk)
            fn(arg, begin, count - begin < chunk ? count : begin + chunk);
        return;
    }
    atomic_store(&w->ticket, atomic_load(&w->ticket) | CLOSED);
    const int32_t chunks = tl_chunk_count(count, chunk);
    atomic_store_explicit(&w->fn, fn, memory_order_relaxed);
    atomic_store_explicit(&w->arg, arg, memory_order_relaxed);
    atomic_store_explicit(&w->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&w->chunk, chunk, memory_order_relaxed);
    atomic_store_explicit(&w->count, count, memory_order_relaxed);
    start_round(w);
    run_chunks(w);
    for (int i = 0; i < SPIN_ROUNDS; i++) {
        if (atomic_load_explicit(&w->finished, memory_order_acquire) == chunks) return;
        pause_briefly();
    }
    pthread_mutex_lock(&w->mutex);
    atomic_store(&w->waiting, true);
    while (atomic_load(&w->finished) != chunks) pthread_cond_wait(&w->done, &w->mutex);
    atomic_store(&w->waiting, false);
    pthread_mutex_unlock(&w->mutex);
}

double tl_tree_sum(const double *values, int32_t n)
{
    enum { LEAF = 8 };
    if (n <= LEAF) {
        double sum = 0;
        for (int32_t i = 0; i < n; i++) sum += values[i];
        return sum;
    }
    const int32_t half = n / 2;
    return tl_tree_sum(values, half) + tl_tree_sum(values + half, n - half);
}

void tl_workers_watch(tl_workers *w, const tl_cancel *cancel)
{
    w->cancel = cancel ? *cancel : (tl_cancel){NULL, NULL};
}

int tl_workers_cancelled(const tl_workers *w) { return w && w->cancel.asked && w->cancel.asked(w->cancel.user); }

tl_status tl_workers_poll(const tl_workers *w, const char *what, tl_error *err)
{
    return tl_workers_cancelled(w) ? tl_fail(err, TL_CANCELLED, "%s was stopped", what) : TL_OK;
}

void tl_workers_charge(tl_workers *w, double nanoseconds)
{
    if (w) w->spent += nanoseconds;
}

void tl_workers_forget(tl_workers *w)
{
    if (w) w->spent = 0;
}

double tl_workers_spent(const tl_workers *w) { return w ? w->spent : 0; }

void tl_workers_allow(tl_workers *w, double nanoseconds)
{
    if (w) w->allowed = w->spent + nanoseconds;
}

bool tl_workers_exhausted(const tl_workers *w) { return w && w->spent >= w->allowed; }

void tl_workers_grant(tl_workers *w, double nanoseconds)
{
    if (w) w->granted = w->allowed + nanoseconds;
}

bool tl_workers_overdrawn(const tl_workers *w) { return w && w->spent >= w->granted; }
