// The thread pool: every chunk once, on any number of threads, however short the loops and however busy the machine.

#include "check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"

typedef struct tally {
    atomic_int *hits;
    int chunk;
    atomic_int bad;
    int32_t count;
} tally;

static void count_hits(void *arg, int32_t begin, int32_t end)
{
    tally *t = arg;
    if (begin % t->chunk != 0 || (end - begin != t->chunk && end != t->count)) atomic_fetch_add(&t->bad, 1);
    for (int32_t i = begin; i < end; i++) atomic_fetch_add(&t->hits[i], 1);
}

static void every_index_is_visited_once(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    atomic_int *hits = calloc(5000, sizeof *hits);
    for (int threads = 1; threads <= 9; threads += 2) {
        tl_workers *w;
        assert_ok(tl_workers_create(&alloc, threads, &w, &err));
        assert_int_equal(tl_workers_count(w), threads);
        for (int round = 0; round < 3000; round++) {
            const int32_t count = 1 + (round * 7919) % 5000, chunk = 1 + round % 97;
            tally t = {hits, chunk, 0, count};
            tl_parallel_for(w, count, chunk, count_hits, &t);
            assert_int_equal(t.bad, 0);
            for (int32_t i = 0; i < count; i++) {
                if (hits[i] != 1)
                    fail_msg("threads %d, round %d: index %d visited %d times", threads, round, i, hits[i]);
                hits[i] = 0;
            }
        }
        tl_workers_destroy(w);
    }
    free(hits);
}

static void a_sum_does_not_depend_on_how_it_is_cut(void **state)
{
    (void)state;
    double values[1000];
    for (int i = 0; i < 1000; i++) values[i] = 1.0 / (i + 1);
    double twice[2] = {tl_tree_sum(values, 1000), tl_tree_sum(values, 1000)};
    assert_true(twice[0] == twice[1]);
    assert_near(twice[0], 7.485470860550345, 1e-14);  // harmonic number
    assert_true(tl_tree_sum(values, 0) == 0);
}

static void bad_counts_are_refused(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_workers *w;
    assert_int_equal(tl_workers_create(&alloc, 0, &w, &err), TL_BAD_ARG);
    assert_null(w);
    assert_int_equal(tl_workers_create(&alloc, 100000, &w, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "100000"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(a_sum_does_not_depend_on_how_it_is_cut),
        cmocka_unit_test(bad_counts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
