// tests/unit/test_detect_stochastic.c: active pairs: walks, memory, the ratio of what is found.
#include "check.h"

#include "close_pairs.h"

typedef struct scene {
    detecting d;
    const tl_detector *kind;
    shape a, b;
    void *one, *two;
    tl_close_list all, got;
    double reach;
    uint64_t step;
} scene;

// By the complete method, which test_detect_kdop compares with all pairs.
static void find_all(scene *s)
{
    tl_error err;
    const tl_detect_def def = tl_detect_def_default();
    void *one, *two;
    const tl_detector *full = &tl_detector_full;
    tl_detect_report r = {0};
    const tl_detect_ctx ctx = {&s->d.arena, NULL, &r};
    assert_ok(full->create(&s->d.alloc, &def, &s->a.s, s->a.x0, NULL, &one, &err));
    assert_ok(full->create(&s->d.alloc, &def, &s->b.s, s->b.x0, NULL, &two, &err));
    assert_ok(full->fit(one, s->a.x0, NULL, s->reach, &ctx, &err));
    assert_ok(full->fit(two, s->b.x0, NULL, s->reach, &ctx, &err));
    const tl_detect_ask ask = {s->reach, 0, 0};
    assert_ok(full->find(one, two, &ask, &ctx, &s->all, &err));
    full->destroy(one), full->destroy(two);
}

// Torus against ellipsoid, touching along its inner side (SC4).
static void open_scene(scene *s, const tl_detector *kind, const tl_detect_def *def)
{
    tl_error err;
    *s = (scene){.kind = kind, .reach = 0.01};
    open_detecting(&s->d);
    s->a = ring_shape(0.3, 0.1, 48, 24, (tl_vec3){0, 0, 0});
    s->b = ring_shape(0.205, 0, 40, 20, (tl_vec3){0.005, 0.01, 0});
    assert_ok(kind->create(&s->d.alloc, def, &s->a.s, s->a.x0, NULL, &s->one, &err));
    assert_ok(kind->create(&s->d.alloc, def, &s->b.s, s->b.x0, NULL, &s->two, &err));
    tl_close_init(&s->all, s->d.alloc), tl_close_init(&s->got, s->d.alloc);
    find_all(s);
    assert_true(s->all.count > 200);
}

static void close_scene(scene *s)
{
    s->kind->destroy(s->one), s->kind->destroy(s->two);
    tl_close_free(&s->all), tl_close_free(&s->got);
    free_shape(&s->a), free_shape(&s->b);
    close_detecting(&s->d);
}

static double take_step(scene *s)
{
    tl_error err;
    assert_ok(s->kind->fit(s->one, s->a.x0, NULL, s->reach, &s->d.ctx, &err));
    assert_ok(s->kind->fit(s->two, s->b.x0, NULL, s->reach, &s->d.ctx, &err));
    const tl_detect_ask ask = {s->reach, 0, s->step++};
    assert_ok(s->kind->find(s->one, s->two, &ask, &s->d.ctx, &s->got, &err));
    for (int32_t i = 1; i < s->got.count; i++)  // each once
        assert_true(tl_close_order(&s->got.items[i - 1], &s->got.items[i]) < 0);
    for (int32_t i = 0; i < s->got.count; i++) assert_true(s->got.items[i].near.distance < s->reach);
    return (double)tl_close_common(&s->all, &s->got) / s->all.count;
}

static void ratio_rises_to_all(void **state)
{
    (void)state;
    tl_detect_def def = tl_detect_def_default();
    int64_t samples[2];
    for (int combined = 0; combined < 2; combined++) {
        scene s;
        open_scene(&s, combined ? &tl_detector_combined : &tl_detector_stochastic, &def);
        double ratio = 0, before = 0;
        for (int i = 0; i < 400 && ratio < 0.95; i++) {
            ratio = take_step(&s);
            assert_true(ratio >= before);  // nothing moves: what is known stays known
            before = ratio;
        }
        assert_true(ratio >= 0.95);
        samples[combined] = s.d.report.tests;
        for (int i = 0; i < 400 && ratio < 1; i++) ratio = take_step(&s);
        assert_true(ratio > (combined ? 0.999 : 0.99));  // crossings of edges that stand alone take longest
        close_scene(&s);
    }
    // Walks between bodies like these end at the contact wherever they begin, so as many serve; from afar they take
    // longer. Distances sampled until 95 % are known:
    assert_true((double)samples[0] >= 2.5 * (double)samples[1]);
}

static void walks_end_at_minima(void **state)
{
    (void)state;
    // One random pair: what it ends at has no nearer neighbour, and no pair is measured twice.
    tl_detect_def def = tl_detect_def_default();
    def.new_pairs = 1, def.discard = 1e6;
    int ended_close = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        scene s;
        tl_error err;
        def.seed = seed;
        open_scene(&s, &tl_detector_stochastic, &def);
        take_step(&s);
        ended_close += s.got.count > 0;
        tl_active_list *m = tl_detector_memory(s.kind, s.one, 0, &err);
        assert_true(m->count >= 1);
        const int64_t tests = s.d.report.tests;
        assert_true(tests > 5 && tests < 3000);  // of 2304 x 1600 faces
        // A second step from there, nothing new: the minimum is still one, and close pairs are found again.
        const int32_t found = s.got.count;
        take_step(&s);
        assert_true(s.got.count >= found);
        close_scene(&s);
    }
    assert_true(ended_close >= 5);
}

static void pairs_stay_active_and_far_ones_go(void **state)
{
    (void)state;
    tl_error err;
    tl_detect_def def = tl_detect_def_default();
    def.new_pairs = 400;
    scene s;
    open_scene(&s, &tl_detector_combined, &def);
    double ratio = 0;
    for (int i = 0; i < 30; i++) ratio = take_step(&s);
    assert_true(ratio > 0.8);
    tl_active_list *m = tl_detector_memory(s.kind, s.one, 0, &err);
    assert_true(m->count >= s.got.count);
    m->new_pairs = 0;  // coherence alone keeps what is known
    assert_true(take_step(&s) >= ratio);
    for (int32_t i = 0; i < s.b.s.node_count; i++) s.b.x0[i].y += 5;  // far away: dropped in one step
    m->new_pairs = 0;
    take_step(&s);
    assert_int_equal(s.got.count, 0);
    assert_int_equal(m->count, 0);
    close_scene(&s);
}

static void exact_distance_near_by_alone(void **state)
{
    (void)state;
    // Two large triangles whose middles are far apart, corner against face: larger than the mean, so measured exactly.
    tl_error err;
    detecting d;
    open_detecting(&d);
    shape a = make_shape(3, 1), b = make_shape(3, 1);
    for (int k = 0; k < 3; k++) a.face[0][k] = b.face[0][k] = k;
    a.x0[0] = (tl_vec3){0, 0, 0}, a.x0[1] = (tl_vec3){3, 0, 0}, a.x0[2] = (tl_vec3){0, 0, 3};
    b.x0[0] = (tl_vec3){0.1, 0.001, 0.1}, b.x0[1] = (tl_vec3){-3, 3, 0}, b.x0[2] = (tl_vec3){-3, 3, 1};
    find_edges(&a), find_edges(&b);
    tl_detect_def def = tl_detect_def_default();
    void *one, *two;
    assert_ok(tl_detector_stochastic.create(&d.alloc, &def, &a.s, a.x0, NULL, &one, &err));
    assert_ok(tl_detector_stochastic.create(&d.alloc, &def, &b.s, b.x0, NULL, &two, &err));
    assert_ok(tl_detector_stochastic.fit(one, a.x0, NULL, 0.01, &d.ctx, &err));
    assert_ok(tl_detector_stochastic.fit(two, b.x0, NULL, 0.01, &d.ctx, &err));
    tl_close_list got;
    tl_close_init(&got, d.alloc);
    const tl_detect_ask ask = {0.01, 0, 0};
    assert_ok(tl_detector_stochastic.find(one, two, &ask, &d.ctx, &got, &err));
    assert_true(got.count > 0 && got.items[0].kind == TL_CLOSE_FV);
    assert_near(got.items[0].near.distance, 0.001, 1e-15);
    // Far apart nothing exact is asked: a fit that is 100 m away costs points alone and finds nothing.
    for (int k = 0; k < 3; k++) b.x0[k].x += 100;
    assert_ok(tl_detector_stochastic.find(one, two, &ask, &d.ctx, &got, &err));
    assert_int_equal(got.count, 0);
    tl_detector_stochastic.destroy(one), tl_detector_stochastic.destroy(two);
    tl_close_free(&got);
    free_shape(&a), free_shape(&b);
    close_detecting(&d);
}

static void same_seed_same_pairs(void **state)
{
    (void)state;
    tl_detect_def def = tl_detect_def_default();
    for (int combined = 0; combined < 2; combined++) {
        scene s, t;
        open_scene(&s, combined ? &tl_detector_combined : &tl_detector_stochastic, &def);
        open_scene(&t, s.kind, &def);
        for (int i = 0; i < 8; i++) {
            assert_true(take_step(&s) == take_step(&t));
            assert_same_close(&s.got, &t.got);
        }
        close_scene(&t);
        def.seed = 2;
        open_scene(&t, s.kind, &def);
        bool differs = false;
        for (int i = 0; i < 8; i++) differs |= take_step(&s) != take_step(&t);
        assert_true(differs);
        close_scene(&s), close_scene(&t);
        def.seed = 1;
    }
}

// What is remembered goes on as if it had never stopped.
static void memory_can_be_carried_over(void **state)
{
    (void)state;
    tl_error err;
    tl_detect_def def = tl_detect_def_default();
    scene s, t;
    open_scene(&s, &tl_detector_combined, &def);
    open_scene(&t, &tl_detector_combined, &def);
    for (int i = 0; i < 5; i++) take_step(&s);
    assert_ok(tl_detector_remember(t.kind, t.one, 0, tl_detector_memory(s.kind, s.one, 0, &err), &err));
    t.step = s.step;
    s.kind->forget(s.one), s.kind->forget(s.two);
    for (int i = 0; i < 5; i++) {
        take_step(&s), take_step(&t);
        assert_same_close(&s.got, &t.got);
    }
    close_scene(&s), close_scene(&t);
}

static void controller_steers_towards_the_ratio(void **state)
{
    (void)state;
    tl_error err;
    tl_detect_def def = tl_detect_def_default();
    def.new_pairs = 20, def.ratio = 0.7;
    scene s;
    open_scene(&s, &tl_detector_combined, &def);
    double sum = 0;
    int32_t most = 0;
    for (int i = 0; i < 80; i++) {  // the ellipsoid turns, so that pairs are lost and have to be found again
        for (int32_t v = 0; v < s.b.s.node_count; v++) {
            const tl_vec3 p = s.b.x0[v];
            s.b.x0[v].x = 0.999 * p.x - 0.0447 * p.z, s.b.x0[v].z = 0.0447 * p.x + 0.999 * p.z;
        }
        find_all(&s);
        const double ratio = s.all.count > 0 ? take_step(&s) : 1;
        if (i >= 40) sum += ratio / 40;
        const int32_t now = tl_detector_memory(s.kind, s.one, 0, &err)->new_pairs;
        most = now > most ? now : most;
    }
    assert_true(most > 40);  // twenty are not enough, and it found out
    assert_true(sum > 0.5);
    // With a bound on the work it gives in.
    def.new_pairs = 5000, def.most_tests = 2000;
    scene t;
    open_scene(&t, &tl_detector_combined, &def);
    for (int i = 0; i < 30; i++) take_step(&t);
    assert_true(tl_detector_memory(t.kind, t.one, 0, &err)->new_pairs < 500);
    close_scene(&s), close_scene(&t);
}

static void self_collisions_are_found(void **state)
{
    (void)state;
    tl_error err;
    detecting d;
    open_detecting(&d);
    // A sheet folded over: two layers 5 mm apart.
    shape m = sheet_shape(24, FLAT, 1);
    for (int32_t v = 0; v < m.s.node_count; v++)
        if (m.x0[v].x > 0.5) m.x0[v] = (tl_vec3){1.003 - m.x0[v].x, m.x0[v].y + 0.007, 0.005};
    tl_close_list all, got;
    tl_close_init(&all, d.alloc), tl_close_init(&got, d.alloc);
    all_close(&m, NULL, 0.01, false, &all);
    assert_true(all.count > 500);
    double ratio[2];
    for (int combined = 0; combined < 2; combined++) {
        const tl_detector *kind = combined ? &tl_detector_combined : &tl_detector_stochastic;
        const tl_detect_def def = tl_detect_def_default();
        void *self;
        assert_ok(kind->create(&d.alloc, &def, &m.s, m.x0, NULL, &self, &err));
        for (uint64_t i = 0; i < 20; i++) {
            assert_ok(kind->fit(self, m.x0, NULL, 0.01, &d.ctx, &err));
            const tl_detect_ask ask = {0.01, 0, i};
            assert_ok(kind->find(self, NULL, &ask, &d.ctx, &got, &err));
        }
        ratio[combined] = (double)tl_close_common(&all, &got) / all.count;
        kind->destroy(self);
    }
    assert_true(ratio[0] > 0.6 && ratio[1] > 0.6);
    tl_close_free(&all), tl_close_free(&got);
    free_shape(&m);
    close_detecting(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratio_rises_to_all),
        cmocka_unit_test(walks_end_at_minima),
        cmocka_unit_test(pairs_stay_active_and_far_ones_go),
        cmocka_unit_test(exact_distance_near_by_alone),
        cmocka_unit_test(same_seed_same_pairs),
        cmocka_unit_test(memory_can_be_carried_over),
        cmocka_unit_test(controller_steers_towards_the_ratio),
        cmocka_unit_test(self_collisions_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
