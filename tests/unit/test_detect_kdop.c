// tests/unit/test_detect_kdop.c: hierarchies of k-DOPs and the complete detectors against all pairs.
#include "check.h"

#include "close_pairs.h"
#include "detect/kdop/kdop.h"
#include "ledger.h"

static const int32_t DOPS[4] = {6, 14, 18, 26}, CHILDREN[3] = {2, 4, 8};

static tl_kdop *make_tree(const shape *m, int32_t k, int32_t arity, int32_t leaf, int32_t culling)
{
    tl_error err;
    tl_kdop *t;
    tl_detect_def def = tl_detect_def_default();
    def.k = k, def.arity = arity, def.leaf_faces = leaf, def.culling = culling;
    const tl_allocator alloc = tl_allocator_default();
    assert_ok(tl_kdop_create(&alloc, &def, &m->s, m->x0, NULL, &t, &err));
    return t;
}

// Every volume encloses its nodes at x0 (and x1) with the margin, and a parent its children.
static void assert_encloses(const tl_kdop *t, const shape *m, double margin, bool paths)
{
    for (int32_t i = 0; i < t->node_count; i++)
        for (int32_t f = t->nodes[i].begin; f < t->nodes[i].end; f++)
            for (int k = 0; k < 3; k++) {
                double p[KDOP_MAX_AXES], q[KDOP_MAX_AXES];
                const int32_t v = m->face[t->order[f]][k];
                kdop_project(t->axes, m->x0[v], p);
                kdop_project(t->axes, paths ? m->x1[v] : m->x0[v], q);
                for (int a = 0; a < t->axes; a++) {
                    const double room = (margin - 1e-12) * kdop_length(t->axes, a), lo = t->lo[i * t->axes + a],
                                 hi = t->hi[i * t->axes + a];
                    assert_true(lo <= fmin(p[a], q[a]) - room && hi >= fmax(p[a], q[a]) + room);
                }
            }
}

static void volumes_enclose_their_nodes(void **state)
{
    (void)state;
    tl_detect_report r = {0};
    shape m = sheet_shape(9, CRUMPLED, 3);
    for (int k = 0; k < 4; k++)
        for (int a = 0; a < 3; a++) {
            tl_kdop *t = make_tree(&m, DOPS[k], CHILDREN[a], 1 + k, 0);
            for (int step = 0; step < 4; step++) {
                move(&m, 0.03, (uint64_t)(10 + step));
                tl_kdop_fit(t, m.x0, NULL, 0.01, 0.02, &r);
                assert_encloses(t, &m, 0.01, false);
                tl_kdop_fit(t, m.x0, m.x1, 0.01, 0.02, &r);  // paths: start and end
                assert_encloses(t, &m, 0.01, true);
            }
            tl_kdop_destroy(t);
        }
    free_shape(&m);
}

static void cuts_are_by_the_rule(void **state)
{
    (void)state;
    // Six faces in a row along x, one of them, long, across the middle: it goes to the child with fewer.
    shape m = make_shape(18, 6);
    const double at[6][2] = {{0, 1}, {1, 2}, {2, 3}, {3.5, 9.5}, {10, 11}, {11, 12}};
    for (int f = 0; f < 6; f++)
        for (int k = 0; k < 3; k++) {
            m.face[f][k] = 3 * f + k;
            m.x0[3 * f + k] = (tl_vec3){at[f][k == 1], k == 2 ? 0.5 : 0, 0};
        }
    find_edges(&m);
    tl_kdop *t = make_tree(&m, 6, 2, 1, 0);
    assert_int_equal(t->nodes[0].child_count, 2);
    const kdop_node *left = &t->nodes[t->nodes[0].child], *right = left + 1;
    assert_int_equal(left->end - left->begin, 3);
    assert_int_equal(right->end - right->begin, 3);
    bool long_is_right = false;
    for (int32_t i = right->begin; i < right->end; i++) long_is_right |= t->order[i] == 3;
    assert_true(long_is_right);
    tl_kdop_destroy(t);
    // All in one place: comes to an end, every face in a leaf of its own.
    for (int i = 0; i < 18; i++) m.x0[i] = (tl_vec3){1, 2, 3};
    for (int a = 0; a < 3; a++) {
        t = make_tree(&m, 18, CHILDREN[a], 1, 1);
        int32_t leaves = 0;
        for (int32_t i = 0; i < t->node_count; i++) {
            assert_true(t->nodes[i].child_count <= CHILDREN[a]);
            leaves += t->nodes[i].child_count == 0;
        }
        assert_int_equal(leaves, 6);
        tl_kdop_destroy(t);
    }
    free_shape(&m);
}

static void higher_arity_has_fewer_volumes(void **state)
{
    (void)state;
    shape m = sheet_shape(20, FLAT, 1);
    int32_t count[3], leaves[3] = {0};
    for (int a = 0; a < 3; a++) {
        tl_kdop *t = make_tree(&m, 18, CHILDREN[a], 1, 0);
        count[a] = t->node_count;
        for (int32_t i = 0; i < t->node_count; i++) leaves[a] += t->nodes[i].child_count == 0;
        tl_kdop_destroy(t);
    }
    assert_int_equal(leaves[0], 800);
    assert_int_equal(leaves[1], 800);
    assert_int_equal(leaves[2], 800);
    assert_true(count[0] == 2 * 800 - 1 && count[1] < 1200 && count[2] < 1200);
    free_shape(&m);
}

static void check_kind(const tl_detector *kind, const tl_detect_def *def, shape *a, shape *b, double reach, bool paths)
{
    detecting d;
    tl_error err;
    open_detecting(&d);
    tl_close_list want, got;
    tl_close_init(&want, d.alloc), tl_close_init(&got, d.alloc);
    void *one = NULL, *two = NULL;
    assert_ok(kind->create(&d.alloc, def, &a->s, a->x0, NULL, &one, &err));
    if (b) assert_ok(kind->create(&d.alloc, def, &b->s, b->x0, NULL, &two, &err));
    for (int step = 0; step < 3; step++) {
        move(a, 0.01, (uint64_t)(20 + step));
        assert_ok(kind->fit(one, a->x0, paths ? a->x1 : NULL, reach, &d.ctx, &err));
        if (b) assert_ok(kind->fit(two, b->x0, paths ? b->x1 : NULL, reach, &d.ctx, &err));
        const tl_detect_ask ask = {reach, 0, (uint64_t)step};
        assert_ok(kind->find(one, two, &ask, &d.ctx, &got, &err));
        all_close(a, b, reach, paths, &want);
        if (step == 0) assert_true(want.count > 0);
        assert_same_close(&want, &got);
    }
    kind->destroy(one), kind->destroy(two);
    tl_close_free(&want), tl_close_free(&got);
    close_detecting(&d);
}

static void complete_kinds_find_every_close_pair(void **state)
{
    (void)state;
    tl_detect_def def = tl_detect_def_default();
    for (int k = 0; k < 4; k++) {
        shape a = sheet_shape(7, CRUMPLED, 3), b = random_soup(40, 60, 0.5, 5);
        def.k = DOPS[k], def.arity = CHILDREN[k % 3], def.leaf_faces = 1 + 2 * k, def.culling = k % 2;
        check_kind(&tl_detector_kdop, &def, &a, NULL, 0.05, false);
        check_kind(&tl_detector_kdop, &def, &a, &b, 0.05, false);
        check_kind(&tl_detector_kdop, &def, &a, NULL, 0.03, true);
        check_kind(&tl_detector_kdop, &def, &a, &b, 0.03, true);
        if (k == 0) {
            check_kind(&tl_detector_full, &def, &a, NULL, 0.05, false);
            check_kind(&tl_detector_full, &def, &a, &b, 0.05, false);
            check_kind(&tl_detector_full, &def, &a, NULL, 0.03, true);
            check_kind(&tl_detector_full, &def, &a, &b, 0.03, true);
        }
        free_shape(&a), free_shape(&b);
    }
}

static void refit_is_a_fresh_fit(void **state)
{
    (void)state;
    tl_detect_report r = {0};
    shape m = sheet_shape(12, FOLDED, 1);
    tl_kdop *a = make_tree(&m, 18, 4, 2, 0), *b = make_tree(&m, 18, 4, 2, 0);  // the same tree twice
    for (int step = 0; step < 5; step++) {
        move(&m, 0.02, (uint64_t)step);
        tl_kdop_fit(a, m.x0, NULL, 0.005, 0, &r);
    }
    tl_kdop_fit(b, m.x0, NULL, 0.005, 0, &r);
    assert_memory_equal(a->lo, b->lo, (size_t)(a->node_count * a->axes) * sizeof *a->lo);
    assert_memory_equal(a->hi, b->hi, (size_t)(a->node_count * a->axes) * sizeof *a->hi);
    tl_kdop_destroy(a), tl_kdop_destroy(b);
    free_shape(&m);
}

static void lazy_update_loses_nothing_and_saves_most(void **state)
{
    (void)state;
    detecting d;
    tl_error err;
    open_detecting(&d);
    shape m = sheet_shape(16, FOLDED, 1);
    tl_detect_def def = tl_detect_def_default();
    def.skin = 1;
    void *self;
    assert_ok(tl_detector_kdop.create(&d.alloc, &def, &m.s, m.x0, NULL, &self, &err));
    tl_close_list want, got;
    tl_close_init(&want, d.alloc), tl_close_init(&got, d.alloc);
    const double reach = 0.02;
    int32_t most = 0;
    for (int step = 0; step < 20; step++) {  // a part moves, slowly; the rest hardly at all
        for (int32_t v = 0; v < m.s.node_count; v++) {
            const double way = m.x0[v].y < 0.2 ? 0.004 : 0.0003;
            m.x0[v].x += way * noise((uint64_t)step, v, 0), m.x0[v].z += way * noise((uint64_t)step, v, 2);
        }
        assert_ok(tl_detector_kdop.fit(self, m.x0, NULL, reach, &d.ctx, &err));
        const tl_detect_ask ask = {reach, 0, (uint64_t)step};
        assert_ok(tl_detector_kdop.find(self, NULL, &ask, &d.ctx, &got, &err));
        all_close(&m, NULL, reach, false, &want);
        assert_same_close(&want, &got);
        most = want.count > most ? want.count : most;
    }
    assert_true(most > 50);
    assert_true((double)d.report.fitted < 0.5 * (double)d.report.volumes);  // the first fit included
    tl_detector_kdop.destroy(self);
    tl_close_free(&want), tl_close_free(&got);
    free_shape(&m);
    close_detecting(&d);
}

static int32_t self_pairs(const shape *m, int32_t culling, double reach, tl_detect_report *report, tl_close_list *out)
{
    detecting d;
    tl_error err;
    open_detecting(&d);
    tl_detect_def def = tl_detect_def_default();
    def.culling = culling;
    void *self;
    assert_ok(tl_detector_kdop.create(&d.alloc, &def, &m->s, m->x0, NULL, &self, &err));
    assert_ok(tl_detector_kdop.fit(self, m->x0, NULL, reach, &d.ctx, &err));
    const tl_detect_ask ask = {reach, 0, 0};
    assert_ok(tl_detector_kdop.find(self, NULL, &ask, &d.ctx, out, &err));
    *report = d.report;
    tl_detector_kdop.destroy(self);
    close_detecting(&d);
    return out->count;
}

static void a_flat_sheet_has_no_close_pairs(void **state)
{
    (void)state;
    tl_detect_report r;
    tl_close_list out;
    tl_close_init(&out, tl_allocator_default());
    shape m = sheet_shape(20, FLAT, 1);
    for (int culling = 0; culling < 2; culling++) assert_int_equal(self_pairs(&m, culling, 0.005, &r, &out), 0);
    free_shape(&m);
    // Nothing that shares a node is reported, however large the reach.
    m = sheet_shape(4, CRUMPLED, 1);
    assert_true(self_pairs(&m, 1, 1, &r, &out) > 100);
    for (int32_t i = 0; i < out.count; i++) {
        int32_t node[4];
        tl_close_nodes(&m.s, &m.s, out.items[i].kind, out.items[i].a, out.items[i].b, node);
        assert_false(close_shares_node(node, out.items[i].kind));
    }
    tl_close_free(&out);
    free_shape(&m);
}

static void culling_changes_nothing_but_the_work(void **state)
{
    (void)state;
    tl_detect_report plain, culled;
    tl_close_list a, b;
    tl_close_init(&a, tl_allocator_default()), tl_close_init(&b, tl_allocator_default());
    // A smooth drape: no close pairs, far fewer tests.
    shape m = sheet_shape(48, FLAT, 1);
    for (int32_t v = 0; v < m.s.node_count; v++) m.x0[v].z = 0.03 * sin(7 * m.x0[v].x) + 0.02 * cos(9 * m.x0[v].y);
    self_pairs(&m, 0, 0.004, &plain, &a);
    self_pairs(&m, 1, 0.004, &culled, &b);
    assert_same_close(&a, &b);
    assert_int_equal(culled.volume_tests, 0);  // all of it is one smooth part, border included
    assert_true(plain.volume_tests > 50000);
    free_shape(&m);
    // Folded back on itself, crumpled and tangled: the same pairs.
    for (int kind = FOLDED; kind <= CRUMPLED; kind++) {
        m = sheet_shape(24, kind, 3);
        self_pairs(&m, 0, 0.03, &plain, &a);
        self_pairs(&m, 1, 0.03, &culled, &b);
        assert_true(a.count > 0);
        assert_same_close(&a, &b);
        free_shape(&m);
    }
    m = ring_shape(0.3, 0.1, 40, 20, (tl_vec3){0, 0, 0});  // closed, borders nowhere
    self_pairs(&m, 0, 0.01, &plain, &a);
    self_pairs(&m, 1, 0.01, &culled, &b);
    assert_same_close(&a, &b);
    assert_true(culled.volume_tests < plain.volume_tests);
    free_shape(&m);
    tl_close_free(&a), tl_close_free(&b);
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    tl_error err;
    shape m = sheet_shape(2, FLAT, 1);
    const tl_allocator alloc = tl_allocator_default();
    for (int i = 0; i < 3; i++) {
        tl_detect_def def = tl_detect_def_default();
        if (i == 0) def.k = 8;
        if (i == 1) def.arity = 3;
        if (i == 2) def.leaf_faces = 65;
        void *self = &def;
        assert_int_equal(tl_detector_kdop.create(&alloc, &def, &m.s, m.x0, NULL, &self, &err), TL_BAD_INPUT);
        assert_null(self);
        assert_non_null(strstr(err.message, i == 0 ? "k 8" : i == 1 ? "arity 3" : "65 faces"));
    }
    free_shape(&m);
}

static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    tl_error err;
    shape m = sheet_shape(4, CRUMPLED, 1);
    const tl_detector *kinds[4] = {&tl_detector_full, &tl_detector_kdop, &tl_detector_stochastic,
                                   &tl_detector_combined};
    for (int kind = 0; kind < 4; kind++)
        for (int64_t n = 1;; n++) {
            books b = {.fail_at = n};
            const tl_allocator alloc = books_allocator(&b);
            tl_arena arena;
            tl_arena_init(&arena, alloc);
            tl_detect_report r = {0};
            const tl_detect_ctx ctx = {&arena, NULL, &r};
            const tl_detect_def def = tl_detect_def_default();
            void *self = NULL;
            tl_close_list out;
            tl_close_init(&out, alloc);
            tl_status status = kinds[kind]->create(&alloc, &def, &m.s, m.x0, NULL, &self, &err);
            if (status == TL_OK) status = kinds[kind]->fit(self, m.x0, NULL, 0.05, &ctx, &err);
            const tl_detect_ask ask = {0.05, 0, 1};
            if (status == TL_OK) status = kinds[kind]->find(self, NULL, &ask, &ctx, &out, &err);
            assert_true(status == TL_OK || status == TL_NO_MEMORY);
            kinds[kind]->destroy(self);
            tl_close_free(&out);
            tl_arena_free(&arena);
            assert_int_equal(b.bytes, 0);
            if (b.requests < n) break;
            assert_true(n < 500);
        }
    free_shape(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_enclose_their_nodes),
        cmocka_unit_test(cuts_are_by_the_rule),
        cmocka_unit_test(higher_arity_has_fewer_volumes),
        cmocka_unit_test(complete_kinds_find_every_close_pair),
        cmocka_unit_test(refit_is_a_fresh_fit),
        cmocka_unit_test(lazy_update_loses_nothing_and_saves_most),
        cmocka_unit_test(a_flat_sheet_has_no_close_pairs),
        cmocka_unit_test(culling_changes_nothing_but_the_work),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
