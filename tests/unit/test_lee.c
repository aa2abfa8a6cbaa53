// The lee of bodies and cloth: by hand, against all pairs, and in simulations of every dynamics.

#include "unit/remeshed.h"

#include "base/alloc.h"
#include "detect/lee.h"
#include "math/vec3.h"

/// Triangles of their own, each with three nodes.
typedef struct soup {
    tl_vec3 x[600];
    int32_t face[200][3];
    int32_t count;
} soup;

static void fill(soup *s, uint64_t seed, double size, tl_vec3 from)
{
    s->count = 200;
    for (int32_t f = 0; f < s->count; f++) {
        const tl_vec3 at = {tl_random(seed, 0, (uint64_t)f), tl_random(seed, 1, (uint64_t)f),
                            tl_random(seed, 2, (uint64_t)f)};
        for (int32_t k = 0; k < 3; k++) {
            const uint64_t n = (uint64_t)(3 * f + k);
            s->x[n] = tl_add3(tl_add3(at, from),
                              (tl_vec3){size * (tl_random(seed, 3, n) - 0.5), size * (tl_random(seed, 4, n) - 0.5),
                                        size * (tl_random(seed, 5, n) - 0.5)});
            s->face[f][k] = (int32_t)n;
        }
    }
}

static tl_lee_surface surface_of(const soup *s)
{
    return (tl_lee_surface){s->x, 3 * s->count, (const int32_t(*)[3])s->face, s->count};
}

// Where a ray from p against the wind meets a face: Moeller and Trumbore.
static double meets(const soup *s, int32_t f, tl_vec3 p, tl_vec3 wind)
{
    const tl_vec3 a = s->x[s->face[f][0]], e1 = tl_sub3(s->x[s->face[f][1]], a), e2 = tl_sub3(s->x[s->face[f][2]], a);
    const tl_vec3 to = tl_mul3(-1, wind), h = tl_cross3(to, e2), from = tl_sub3(p, a), q = tl_cross3(from, e1);
    const double det = tl_dot3(e1, h), u = tl_dot3(from, h) / det, v = tl_dot3(to, q) / det, t = tl_dot3(e2, q) / det;
    return det != 0 && u >= 0 && v >= 0 && u + v <= 1 && t > 0 ? t : (double)INFINITY;
}

static void parts_are_those_of_all_pairs(void **state)
{
    (void)state;
    static soup s[2];
    static float part[2][200];
    tl_arena arena;
    const tl_allocator alloc = tl_allocator_default();
    tl_workers *workers;
    assert_ok(tl_workers_create(&alloc, 3, &workers, &err));
    tl_arena_init(&arena, alloc);
    int sheltered = 0, open = 0;
    for (uint64_t trial = 0; trial < 12; trial++) {
        fill(&s[0], 2 * trial, 0.3, (tl_vec3){0, 0, 0}), fill(&s[1], 2 * trial + 1, 0.4, (tl_vec3){0.2, 0, 0.1});
        const tl_lee_surface both[2] = {surface_of(&s[0]), surface_of(&s[1])};
        const tl_vec3 wind = {tl_random(99, trial, 0) - 0.5, tl_random(99, trial, 1) - 0.5, trial == 3 ? 0 : 0.3};
        const tl_vec3 way = tl_unit3_or(wind, (tl_vec3){1, 0, 0});
        for (int i = 0; i < 2; i++)
            assert_ok(tl_lee_parts(both, 2, 0, wind, 0.5, &(tl_ctx){&arena, i ? workers : NULL}, part[i], &err));
        assert_memory_equal(part[0], part[1], sizeof part[0]);
        for (int32_t f = 0; f < 200; f++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                const tl_vec3 p = tl_madd3(tl_mul3(2.0 / 3, s[0].x[3 * f + k]), 1.0 / 6,
                                           tl_add3(s[0].x[3 * f + (k + 1) % 3], s[0].x[3 * f + (k + 2) % 3]));
                double near = (double)INFINITY;
                for (int b = 0; b < 2; b++)
                    for (int32_t g = 0; g < 200; g++)
                        if (b == 1 || g != f) near = fmin(near, meets(&s[b], g, p, way));
                sum += fmin(1, near / 0.5);
            }
            assert_near((double)part[0][f], sum / 3, 1e-6);
            sheltered += sum < 2.9, open += sum == 3;
        }
    }
    assert_true(sheltered > 500 && open > 200);
    tl_workers_destroy(workers);
    tl_arena_free(&arena);
}

// A strip behind a square plate: nothing right behind it, all of the wind from the length of the lee on, and beside it.
static void wind_comes_back_along_the_lee(void **state)
{
    (void)state;
    tl_arena arena;
    tl_arena_init(&arena, tl_allocator_default());
    const tl_vec3 plate[4] = {{0, -1, -1}, {0, 1, -1}, {0, 1, 1}, {0, -1, 1}};
    const int32_t plate_face[2][3] = {{0, 1, 2}, {0, 2, 3}};
    for (int k = 0; k <= 10; k++) {
        const double d = 0.2 * k + 1e-3;
        const tl_vec3 cloth[3] = {{d, 0.1, 0}, {d, 0.2, 0}, {d, 0.1, 0.1}};
        const int32_t face[1][3] = {{0, 1, 2}};
        const tl_lee_surface both[2] = {{cloth, 3, face, 1}, {plate, 4, plate_face, 2}};
        float part;
        const tl_ctx ctx = {&arena, NULL};
        assert_ok(tl_lee_parts(both, 2, 0, (tl_vec3){3, 0, 0}, 1.5, &ctx, &part, &err));
        assert_near((double)part, fmin(1, d / 1.5), 1e-6);
        assert_ok(tl_lee_parts(both, 2, 0, (tl_vec3){-3, 0, 0}, 1.5, &ctx, &part, &err));
        assert_near((double)part, 1, 0);
        assert_ok(tl_lee_parts(both, 2, 0, (tl_vec3){1, 8, 0}, 1.5, &ctx, &part, &err));
        assert_near((double)part, d > 0.2 ? 1 : fmin(1, d * sqrt(65) / 1.5), 1e-6);
    }
    tl_arena_free(&arena);
}

// How far a hanging sheet is blown, behind a ball or without one, and in which lee.
static double blown(tl_dynamics_kind kind, bool ball, double lee, int32_t threads, uint64_t *hash)
{
    tl_sim_def def = world(0.01);
    def.dynamics = kind, def.threads = threads;
    if (kind == TL_DYNAMICS_BARAFF_WITKIN) def.collide.response = TL_RESPONSE_IMPULSE;
    def.air.wind = (tl_vec3){0, 0, 4}, def.air.turbulence = 0, def.air.lee = lee;
    tl_cloth_def like = tl_cloth_def_default();
    like.remeshing.kind = TL_REMESHING_NONE;
    tl_sim *sim = hanging(&def, like, 6);
    if (ball) add_ball(sim, (tl_vec3){0.5, 0.5, -1.2}, 0.9);
    for (int k = 0; k < 25; k++) step(sim);
    tl_cloth_view v;
    assert_ok(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &v));
    double sum = 0;
    for (int32_t i = 0; i < v.node_count; i++) sum += v.pos[i].z / v.node_count;
    if (hash) *hash = tl_sim_hash(sim);
    tl_sim_destroy(sim);
    return sum;
}

static void cloth_in_the_lee_hangs_still(void **state)
{
    (void)state;
    for (int kind = TL_DYNAMICS_IMPLICIT; kind <= TL_DYNAMICS_BARAFF_WITKIN; kind++) {
        const tl_dynamics_kind k = (tl_dynamics_kind)kind;
        uint64_t hash[3];
        const double open = blown(k, false, 0, 1, NULL), through = blown(k, true, 0, 1, NULL),
                     behind = blown(k, true, 10, 1, &hash[0]), alone = blown(k, false, 10, 1, NULL);
        print_message("dynamics %d: blown %.4f m, %.4f behind a ball without lee, %.4f with\n", kind, open, through,
                      behind);
        assert_true(open > 0.05);
        assert_near(through, open, 1e-3 * open);  // without a lee bodies let wind through
        assert_true(behind < 0.2 * open);
        assert_near(alone, open, 0.05 * open);  // cloth across the wind has nothing in front of it
        blown(k, true, 10, 3, &hash[1]);
        assert_true(hash[0] == hash[1]);
    }
}

static void a_negative_length_is_refused(void **state)
{
    (void)state;
    tl_sim_def def = world(0.01);
    tl_sim *sim = NULL;
    def.air.lee = -1;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "air.lee"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_those_of_all_pairs),
        cmocka_unit_test(wind_comes_back_along_the_lee),
        cmocka_unit_test(cloth_in_the_lee_hangs_still),
        cmocka_unit_test(a_negative_length_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
