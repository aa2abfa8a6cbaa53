// A start that is strained: brought to equilibrium before the first step, under contact, with a report; or left alone.

#include <string.h>

#include "check.h"

#include "toile/toile.h"

enum { AROUND = 12, ALONG = 4, NODES = AROUND * (ALONG + 1), VERTS = (AROUND + 1) * (ALONG + 1) };
#define PI 3.14159265358979323846

/// A tube that was pulled over a post by hand: it is `girth` around at rest and `height` long, and was drawn with the
/// radii and heights of a careless sketch. A seam runs along it.
typedef struct tube_def {
    double girth, height;  ///< at rest [m]
    double radius;         ///< as drawn
    double post;           ///< radius of the post, 0: none
    double pull;           ///< how far one node is pulled out [m]
    tl_relax relax;
    double limit;  ///< strain to end within, NAN: not given
    int32_t threads;
    tl_remeshing_kind kind;
    double strain_limit;  ///< of the cloth, 0: none
    double gather;        ///< one side of the seam is this many times as long as the other
    tl_log log;
} tube_def;

static tube_def usual(void)
{
    return (tube_def){.girth = 0.75,
                      .height = 0.3,
                      .radius = 0.25,
                      .post = 0.1,
                      .pull = 0.6,
                      .relax = TL_RELAX_AUTO,
                      .limit = (double)NAN,
                      .threads = 1,
                      .kind = TL_REMESHING_ANISOTROPIC,
                      .gather = 1};
}

static tl_sim *make_tube(const tube_def *d)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.start.relax = d->relax, def.threads = d->threads, def.log = d->log;
    if (!isnan(d->limit)) def.start.limit_min = -d->limit, def.start.limit_max = d->limit;
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    tl_vec3 pos[NODES];
    tl_vec2 uv[VERTS];
    int32_t node[VERTS], face[2 * AROUND * ALONG][3];
    for (int j = 0; j <= ALONG; j++)
        for (int i = 0; i <= AROUND; i++) {
            const int v = j * (AROUND + 1) + i;
            const double a = 2 * PI * i / AROUND;
            node[v] = j * AROUND + i % AROUND;
            uv[v] = (tl_vec2){d->girth * i / AROUND, d->height * j / ALONG * (1 + (d->gather - 1) * i / AROUND)};
            pos[node[v]] = (tl_vec3){d->radius * cos(a), 0.5 * j / ALONG, -d->radius * sin(a)};
        }
    pos[2 * AROUND + 3].z -= d->pull;
    int f = 0;
    for (int j = 0; j < ALONG; j++)
        for (int i = 0; i < AROUND; i++) {
            const int v = j * (AROUND + 1) + i, up = v + AROUND + 1;
            const int32_t pair[2][3] = {{v, v + 1, up + 1}, {v, up + 1, up}};
            for (int k = 0; k < 6; k++) face[f + k / 3][k % 3] = pair[k / 3][k % 3];
            f += 2;
        }
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    tl_cloth_id id;
    cloth.node_count = NODES, cloth.pos = pos, cloth.vert_count = VERTS, cloth.uv = uv, cloth.vert_node = node;
    cloth.face_count = f, cloth.face = (const int32_t(*)[3])face, cloth.materials = &m, cloth.material_count = 1;
    cloth.remeshing.kind = d->kind, cloth.remeshing.size_min = 0.03;
    if (d->strain_limit > 0)
        cloth.strain = (tl_strain_def){.kind = TL_STRAIN_ISOTROPIC, .min = -d->strain_limit, .max = d->strain_limit};
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    if (d->post > 0) {
        tl_body_def body = tl_body_def_default();
        tl_body_id post;
        body.kind = TL_BODY_CYLINDER, body.center = (tl_vec3){0, 0.25, 0}, body.axis = (tl_vec3){0, 1, 0};
        body.radius = d->post;
        assert_ok(tl_sim_add_body(sim, &body, &post, &err));
    }
    return sim;
}

static int64_t crossings(tl_sim *sim)
{
    tl_error err;
    tl_intersection_report found;
    assert_ok(tl_sim_intersections(sim, &found, &err));
    return found.cloth_cloth + found.cloth_body;
}

static tl_strain_range strain_of(tl_sim *sim)
{
    tl_strain_range s;
    assert_int_equal(tl_sim_strain(sim, &s), TL_OK);
    return s;
}

static void strained_start_is_brought_to_rest(void **state)
{
    (void)state;
    tl_error err;
    const tube_def d = usual();
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        tube_def t = d;
        t.threads = k + 1;
        tl_sim *sim = make_tube(&t);
        tl_start_report r;
        assert_ok(tl_sim_start(sim, &r, &err));
        assert_true(r.relax.strain_before[1] > 3);  // the tip is four times as long as its cloth
        const tl_strain_range s = strain_of(sim);
        assert_true(s.max < 0.151 && s.min > -0.151);
        assert_near(s.max, r.relax.strain[1], 0);
        assert_true(r.relax.excess < 1e-3);
        assert_int_equal(crossings(sim), 0);
        assert_int_equal(r.relax.faces_before, 2 * AROUND * ALONG);
        assert_true(r.relax.faces > r.relax.faces_before && r.relax.steps > 0);
        // what was pulled out by 0.6 m is back near the rest, which lies within 0.25 m of the axis
        assert_true(r.relax.largest_move > 0.4 && r.relax.largest_move < 1);
        assert_true(r.relax.mean_move > 0.02 && r.relax.mean_move < r.relax.largest_move);
        tl_cloth_view view;
        assert_ok(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &view));
        for (int32_t i = 0; i < view.node_count; i++) {
            assert_true(hypot(view.pos[i].x, view.pos[i].z) < 0.25);
            assert_near(view.vel[i].x, 0, 0);
        }
        hash[k] = tl_sim_hash(sim);
        // and it stays calm: nothing is thrown about in the first steps
        for (int step = 0; step < 4; step++) assert_ok(tl_sim_step(sim, NULL, &err));
        assert_true(strain_of(sim).max < 0.3);
        tl_energies e;
        assert_ok(tl_sim_energies(sim, &e));
        assert_true(e.kinetic < 0.2 * 0.25 * 0.5);  // 0.2 kg/m^2, its area, at 1 m/s
        assert_int_equal(crossings(sim), 0);
        tl_sim_destroy(sim);
    }
    assert_true(hash[0] == hash[1]);
}

static void off_and_mild_starts_are_left_alone(void **state)
{
    (void)state;
    tl_error err;
    tube_def off = usual(), mild = usual();
    off.relax = TL_RELAX_OFF;
    mild.pull = 0, mild.height = 0.5;  // 2 pi 0.25 of 0.75 m: twice as long, but not more than that and a bit
    mild.girth = 0.9;
    const tube_def *all[2] = {&off, &mild};
    for (int k = 0; k < 2; k++) {
        tl_sim *sim = make_tube(all[k]);
        tl_start_report r;
        const tl_strain_range before = strain_of(sim);
        assert_ok(tl_sim_start(sim, &r, &err));
        assert_int_equal(r.relax.rounds, 0);
        assert_near(strain_of(sim).max, before.max, 0);
        tl_sim_destroy(sim);
    }
    mild.relax = TL_RELAX_ON;
    tl_sim *sim = make_tube(&mild);
    tl_start_report r;
    assert_ok(tl_sim_start(sim, &r, &err));
    assert_true(r.relax.rounds > 0 && strain_of(sim).max < 0.151);
    tl_sim_destroy(sim);
}

static void limits_go_down_to_what_is_asked_for(void **state)
{
    (void)state;
    tl_error err;
    tube_def d = usual();
    d.limit = 0.01;
    tl_sim *sim = make_tube(&d);
    tl_start_report r;
    assert_ok(tl_sim_start(sim, &r, &err));
    const tl_strain_range s = strain_of(sim);
    assert_true(s.max < 0.0111 && s.min > -0.0111);
    assert_int_equal(crossings(sim), 0);
    tl_sim_destroy(sim);
    d = usual();
    d.strain_limit = 0.05;  // the cloth's own are kept to as well, and in the steps after it
    sim = make_tube(&d);
    assert_ok(tl_sim_start(sim, &r, &err));
    assert_true(strain_of(sim).max < 0.0511 && strain_of(sim).min > -0.0511);
    for (int step = 0; step < 4; step++) {
        tl_step_report report;
        assert_ok(tl_sim_step(sim, &report, &err));
        assert_int_equal(report.strain.violated, 0);
    }
    tl_sim_destroy(sim);
}

static void note_warning(void *user, tl_log_level level, const char *message)
{
    if (level == TL_LOG_WARNING && strstr(message, "sides of a seam")) ++*(int *)user;
}

// One edge, rest lengths of 1.3 to 1: limits of 10 % allow 0.9 of the one and 1.1 of the other, which are not the same.
// (1.1 + r) / (0.9 - r) = 1.3 gives r = 0.0304. All others keep to what was asked for, and it is told.
static void a_seam_that_gathers_more_than_limits_allow_is_told(void **state)
{
    (void)state;
    tl_error err;
    tube_def d = usual();
    int warnings = 0;
    d.strain_limit = 0.1, d.gather = 1.3, d.log = (tl_log){.write = note_warning, .user = &warnings};
    tl_sim *sim = make_tube(&d);
    tl_start_report r;
    assert_ok(tl_sim_start(sim, &r, &err));
    assert_int_equal(warnings, 1);
    for (int step = 0; step < 4; step++) {
        tl_step_report report;
        assert_ok(tl_sim_step(sim, &report, &err));
        assert_int_equal(report.strain.violated, 0);
        const tl_strain_range s = strain_of(sim);
        assert_true(s.max < 0.134 && s.min > -0.134);
        assert_true(fmax(s.max, -s.min) > 0.13);  // no less can be
    }
    tl_sim_destroy(sim);
    d.gather = 1.2;  // 1.1 / 0.9 is more: nothing to tell, and nothing beyond
    warnings = 0;
    sim = make_tube(&d);
    assert_ok(tl_sim_start(sim, &r, &err));
    assert_int_equal(warnings, 0);
    assert_true(strain_of(sim).max < 0.1011 && strain_of(sim).min > -0.1011);
    tl_sim_destroy(sim);
}

// The post is thicker than the tube can be: as near as can be, said so, and nothing passes.
static void what_is_too_tight_is_told(void **state)
{
    (void)state;
    tl_error err;
    tube_def d = usual();
    d.girth = 0.45, d.post = 0.1, d.radius = 0.2;  // the post is 0.63 m around: 40 % more
    tl_sim *sim = make_tube(&d);
    tl_start_report r;
    assert_ok(tl_sim_start(sim, &r, &err));
    assert_true(r.relax.excess > 0.15);
    assert_true(strain_of(sim).max < 0.8);
    assert_int_equal(crossings(sim), 0);
    tl_sim_destroy(sim);
}

static void meshes_that_may_not_change_are_relaxed_too(void **state)
{
    (void)state;
    tl_error err;
    tube_def d = usual();
    d.kind = TL_REMESHING_NONE, d.post = 0;
    tl_sim *sim = make_tube(&d);
    tl_start_report r;
    assert_ok(tl_sim_start(sim, &r, &err));
    assert_int_equal(r.relax.faces, r.relax.faces_before);
    assert_true(strain_of(sim).max < 0.151);
    tl_sim_destroy(sim);
}

static int64_t asked, stop_at;
static int ask(void *user)
{
    (void)user;
    return asked++ >= stop_at;
}

// Given up half-way it is undone; done again it is what it would have been.
static void cancelled_start_is_undone(void **state)
{
    (void)state;
    tl_error err;
    const tube_def d = usual();
    tl_sim *sim = make_tube(&d);
    tl_start_report r;
    asked = 0, stop_at = INT64_MAX;
    tl_sim_set_cancel(sim, &(tl_cancel){ask, NULL});
    assert_ok(tl_sim_start(sim, &r, &err));
    tl_sim_destroy(sim);
    const int64_t all = asked;
    assert_true(all > 10);
    sim = make_tube(&d);
    const double before = strain_of(sim).max;
    for (stop_at = all / 10; stop_at < all; stop_at += 1 + all / 4) {
        asked = 0;
        tl_sim_set_cancel(sim, &(tl_cancel){ask, NULL});
        assert_int_equal(tl_sim_start(sim, &r, &err), TL_CANCELLED);
        assert_near(strain_of(sim).max, before, 0);
        tl_cloth_view view;
        assert_ok(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &view));
        assert_int_equal(view.face_count, 2 * AROUND * ALONG);
    }
    tl_sim_set_cancel(sim, NULL);
    assert_ok(tl_sim_start(sim, &r, &err));
    tl_sim *straight = make_tube(&d);
    assert_ok(tl_sim_start(straight, &r, &err));
    assert_true(tl_sim_hash(sim) == tl_sim_hash(straight));
    // a saved start is not relaxed again
    const void *data;
    size_t size;
    assert_ok(tl_sim_save(sim, &data, &size, &err));
    tl_sim *other = make_tube(&d);
    assert_ok(tl_sim_restore(other, data, size, &err));
    assert_ok(tl_sim_step(other, NULL, &err));
    assert_ok(tl_sim_step(straight, NULL, &err));
    assert_true(tl_sim_hash(other) == tl_sim_hash(straight));
    tl_sim_destroy(other);
    tl_sim_destroy(straight);
    tl_sim_destroy(sim);
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    tl_error err;
    const tl_start_def bad[] = {{.relax = (tl_relax)7, .strain = 1, .limit_min = -0.1, .limit_max = 0.1},
                                {.strain = 0, .limit_min = -0.1, .limit_max = 0.1},
                                {.strain = 1, .limit_min = -1, .limit_max = 0.1},
                                {.strain = 1, .limit_min = -0.1, .limit_max = -0.1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tl_sim_def def = tl_sim_def_default();
        def.start = bad[i];
        tl_sim *sim;
        assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
        assert_non_null(strstr(err.message, "start."));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strained_start_is_brought_to_rest),
        cmocka_unit_test(off_and_mild_starts_are_left_alone),
        cmocka_unit_test(limits_go_down_to_what_is_asked_for),
        cmocka_unit_test(a_seam_that_gathers_more_than_limits_allow_is_told),
        cmocka_unit_test(what_is_too_tight_is_told),
        cmocka_unit_test(meshes_that_may_not_change_are_relaxed_too),
        cmocka_unit_test(cancelled_start_is_undone),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
