// tests/unit/test_bvh_memory.c: memory of trees, and what they refuse.
#include "check.h"

#include "ledger.h"
#include "trees.h"

// The n-th allocation fails, for every n: an error, nothing leaks.
static void failed_allocations_leave_no_trace(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape m = sheet_shape(8, TANGLED, 0);
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        ledger l = {.fail_at = n};
        const tl_allocator alloc = {ledger_resize, &l};
        const tl_bvh_def def = {.arity = 4, .leaf_faces = 2, .relative = 1};
        tl_bvh *bvh = NULL;
        tl_arena arena;
        tl_pairs pairs;
        tl_arena_init(&arena, alloc);
        tl_pairs_init(&pairs, alloc);
        tl_status status = tl_bvh_create(&alloc, &def, &m.s, m.x0, &bvh, &err);
        if (status == TL_OK) status = tl_bvh_self(bvh, ALL, &arena, NULL, &pairs, &err);
        done = status == TL_OK;
        assert_true(done || status == TL_NO_MEMORY);
        tl_bvh_destroy(bvh);
        tl_pairs_free(&pairs);
        tl_arena_free(&arena);
        assert_int_equal(l.live, 0);
    }
    free_shape(&m);
    close_fixture(&t);
}

static void warm_queries_allocate_nothing(void **state)
{
    (void)state;
    ledger l = {.fail_at = INT64_MAX};
    fixture t;
    tl_error err;
    open_fixture(&t);
    t.alloc = (tl_allocator){ledger_resize, &l};
    tl_arena_free(&t.arena);
    tl_arena_init(&t.arena, t.alloc);
    tl_pairs_init(&t.pairs, t.alloc);
    shape m = sheet_shape(40, TANGLED, 0);
    tl_bvh *bvh;
    const tl_bvh_def def = tl_bvh_def_default();
    assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
    for (int round = 0; round < 3; round++) {
        tl_arena_reset(&t.arena);
        if (round == 2) l.requests = 0;
        tl_bvh_refit(bvh, m.x0, m.x1, 0.001, 0.001, NULL);
        assert_ok(tl_bvh_self(bvh, ALL, &t.arena, NULL, &t.pairs, &err));
    }
    assert_int_equal(l.requests, 0);
    tl_bvh_destroy(bvh);
    free_shape(&m);
    close_fixture(&t);
}

static void wrong_arguments_are_named(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape m = sheet_shape(3, FLAT, 0);
    tl_bvh *bvh;
    const tl_bvh_def wrong[3] = {{3, 8, 0}, {8, 0, 0}, {8, TL_BVH_MAX_LEAF + 1, 1}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tl_bvh_create(&t.alloc, &wrong[i], &m.s, m.x0, &bvh, &err), TL_BAD_ARG);
        assert_null(bvh);
    }
    const tl_bvh_def def = tl_bvh_def_default();
    m.edge[0][0] = 0, m.edge[0][1] = m.s.node_count - 1;  // joins two corners of the sheet
    assert_int_equal(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "no side of a face"));
    m.face[0][0] = m.s.node_count;
    assert_int_equal(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err), TL_BAD_ARG);
    free_shape(&m);
    close_fixture(&t);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_allocations_leave_no_trace),
        cmocka_unit_test(warm_queries_allocate_nothing),
        cmocka_unit_test(wrong_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
