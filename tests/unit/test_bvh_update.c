// tests/unit/test_bvh_update.c: trees after changes of the mesh, their memory, and what they refuse.
#include "check.h"

#include "ledger.h"
#include "trees.h"

// --- changes of the mesh ---

// One edit like those of a remesher, or worse: nodes of a face changed, a face gone and its id taken by the last, a new
// face on old nodes, a face cut in three about a new node. Room for more must be there.
static void edit(shape *m, uint64_t seed)
{
    const int32_t n = m->s.face_count;
    const double r = tl_random(seed, 1, 0);
    const int32_t f = n > 0 ? (int32_t)(tl_random(seed, 2, 0) * n) : -1,
                  g = n > 0 ? (int32_t)(tl_random(seed, 3, 0) * n) : -1;
    if (f < 0) return;
    if (r < 0.2) {
        m->face[f][seed % 3] = m->face[g][seed / 3 % 3];
    } else if (r < 0.4) {
        memmove(m->face[f], m->face[n - 1], sizeof *m->face);
        m->s.face_count--;
    } else if (r < 0.5) {
        for (int k = 0; k < 3; k++) m->face[n][k] = k == 0 ? m->face[g][0] : m->face[f][k];
        m->s.face_count++;
    } else {
        const int32_t v = m->s.node_count++, *c = m->face[f];
        const tl_vec3 *x = m->x1;
        m->x1[v] = (tl_vec3){(x[c[0]].x + x[c[1]].x + x[c[2]].x) / 3, (x[c[0]].y + x[c[1]].y + x[c[2]].y) / 3,
                             (x[c[0]].z + x[c[1]].z + x[c[2]].z) / 3};
        m->x0[v] = m->x1[v];
        for (int k = 1; k < 3; k++)
            for (int i = 0; i < 3; i++) m->face[n + k - 1][i] = i == k ? v : m->face[f][i];
        m->face[f][0] = v;
        m->s.face_count += 2;
    }
}

static void changes_keep_the_answers(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    int rebuilt = 0, kept = 0;
    for (int run = 0; run < 4; run++) {
        shape m = run == 3 ? random_soup(40, 30, 1, 3) : sheet_shape(7, run == 1 ? TANGLED : FOLDED, 0);
        m.face = realloc(m.face, 4096 * sizeof *m.face);
        m.x0 = realloc(m.x0, 4096 * sizeof *m.x0), m.x1 = realloc(m.x1, 4096 * sizeof *m.x1);
        find_edges(&m);
        tl_bvh *bvh;
        const tl_bvh_def def = {.k = KS[run], .arity = ARITIES[run % 3], .leaf_faces = LEAVES[run], .culling = run % 2};
        assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
        for (int step = 0; step < 120; step++) {
            for (int i = 0; i < 1 + step % 4; i++) edit(&m, (uint64_t)(1000 * run + 10 * step + i));
            if (run == 2 && step == 60) m.s.face_count = 0;                         // all gone
            if (run == 2 && step == 61) m.s.face_count = 50;                        // and back
            if (run == 0 && step % 40 == 20) m.s.face_count -= m.s.face_count / 3;  // a part is lost
            find_edges(&m);
            move(&m, 0.002, (uint64_t)step);
            tl_bvh_update_report report;
            assert_ok(tl_bvh_update(bvh, &m.s, m.x1, &report, &err));
            assert_true(report.placed <= m.s.face_count);
            rebuilt += report.rebuilt, kept += !report.rebuilt;
            tl_bvh_refit(bvh, m.x0, m.x1, 0.001, step % 2 ? 0.001 : 0, NULL);
            assert_ok(ask(&t, (question){bvh}, ALL, NULL, &t.pairs, &err));
            check_self(&m, true, 0.001, &t.pairs);
        }
        tl_bvh_destroy(bvh);
        free_shape(&m);
    }
    assert_true(rebuilt > 0 && kept > 10 * rebuilt);
    close_fixture(&t);
}

static void updates_without_change_place_nothing(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape m = sheet_shape(20, FOLDED, 0);
    tl_bvh *bvh;
    const tl_bvh_def def = tl_bvh_def_default();
    assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
    tl_bvh_update_report report;
    assert_ok(tl_bvh_update(bvh, &m.s, m.x0, &report, &err));
    assert_int_equal(report.placed, 0);
    assert_int_equal(report.rebuilt, 0);
    const int32_t old = m.face[5][1];
    m.face[5][1] = m.s.node_count;
    assert_int_equal(tl_bvh_update(bvh, &m.s, m.x0, &report, &err), TL_BAD_ARG);
    m.face[5][1] = old;
    assert_ok(ask(&t, (question){bvh}, ALL, NULL, &t.pairs, &err));
    check_self(&m, false, 0, &t.pairs);
    tl_bvh_destroy(bvh);
    free_shape(&m);
    close_fixture(&t);
}

// The n-th allocation fails, for every n: an error, the tree as before, nothing leaks.
static void failed_allocations_leave_no_trace(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    shape m = sheet_shape(8, TANGLED, 0);
    m.face = realloc(m.face, 4096 * sizeof *m.face);
    m.x0 = realloc(m.x0, 4096 * sizeof *m.x0), m.x1 = realloc(m.x1, 4096 * sizeof *m.x1);
    find_edges(&m);
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        ledger l = {.fail_at = n};
        const tl_allocator alloc = {ledger_resize, &l};
        const tl_bvh_def def = {.k = 18, .arity = 4, .leaf_faces = 2, .culling = 1};
        const shape before = m;
        tl_bvh *bvh = NULL;
        tl_arena arena;
        tl_pairs pairs;
        tl_arena_init(&arena, alloc);
        tl_pairs_init(&pairs, alloc);
        tl_status status = tl_bvh_create(&alloc, &def, &m.s, m.x0, &bvh, &err);
        for (int i = 0; i < 20; i++) edit(&m, (uint64_t)(100 + i));
        m.edge = NULL;
        find_edges(&m);
        if (status == TL_OK) status = tl_bvh_update(bvh, &m.s, m.x0, NULL, &err);
        if (status == TL_OK) status = tl_bvh_self(bvh, ALL, &arena, NULL, &pairs, &err);
        done = status == TL_OK;
        assert_true(done || status == TL_NO_MEMORY);
        tl_bvh_destroy(bvh);
        tl_pairs_free(&pairs);
        tl_arena_free(&arena);
        assert_int_equal(l.live, 0);
        free(m.edge);
        shape fresh = sheet_shape(8, TANGLED, 0);
        memcpy(m.face, fresh.face, (size_t)fresh.s.face_count * sizeof *m.face);
        free_shape(&fresh);
        m.s = before.s, m.edge = before.edge;
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
    const tl_bvh_def wrong[5] = {
        {8, 8, 8, 0, 0}, {6, 3, 8, 0, 0}, {6, 8, 0, 0, 0}, {6, 8, TL_BVH_MAX_LEAF + 1, 0, 0}, {14, 8, 8, 0, 1}};
    for (int i = 0; i < 5; i++) {
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
        cmocka_unit_test(changes_keep_the_answers),          cmocka_unit_test(updates_without_change_place_nothing),
        cmocka_unit_test(failed_allocations_leave_no_trace), cmocka_unit_test(warm_queries_allocate_nothing),
        cmocka_unit_test(wrong_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
