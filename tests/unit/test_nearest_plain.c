// tests/unit/test_nearest_plain.c: detect/nearest.c as it is without SSE2 beside that of the library, and faces one by
// one.
#include "check.h"

#include "trees.h"

#undef __SSE2__
#define tl_bvh_nearest plain_nearest
#define tl_bvh_around plain_around
#define tl_bvh_extent plain_extent
#include "detect/nearest.c"
#undef tl_bvh_nearest
#undef tl_bvh_around
#undef tl_bvh_extent
tl_nearest_spot tl_bvh_nearest(const tl_bvh *bvh, tl_vec3 p, double radius, int32_t hint);
int32_t tl_bvh_around(const tl_bvh *bvh, tl_vec3 lo, tl_vec3 hi, int32_t *faces, int32_t max);

enum { PLACES = 400 };

static double slow_distance(const shape *m, tl_vec3 p)
{
    double best = INFINITY;
    for (int32_t f = 0; f < m->s.face_count; f++) {
        const tl_vec3 a = m->x0[m->face[f][0]], b = m->x0[m->face[f][1]], c = m->x0[m->face[f][2]];
        double w[3];
        tl_nearest_on_face(tl_sub3(p, a), tl_sub3(b, a), tl_sub3(c, a), w);
        const tl_vec3 on = {w[0] * a.x + w[1] * b.x + w[2] * c.x, w[0] * a.y + w[1] * b.y + w[2] * c.y,
                            w[0] * a.z + w[1] * b.z + w[2] * c.z};
        best = fmin(best, hypot(hypot(p.x - on.x, p.y - on.y), p.z - on.z));
    }
    return best;
}

static void check_place(const shape *m, const tl_bvh *bvh, int i)
{
    static int32_t found[2][4096];
    const tl_vec3 p = {1.5 * noise(1, i, 0), 1.5 * noise(1, i, 1), 1.5 * noise(1, i, 2)};
    const double size = i % 7 * 0.1;
    const tl_vec3 q = {p.x + size, p.y + size, p.z + 0.5 * size};
    const double radius = i % 3 ? 10 : 0.3;
    const int32_t hint = i % 2 ? i % m->s.face_count : -1;
    const tl_nearest_spot a = tl_bvh_nearest(bvh, p, radius, hint), b = plain_nearest(bvh, p, radius, hint);
    assert_int_equal(a.face, b.face);
    assert_true(a.distance == b.distance);
    assert_memory_equal(&a.offset, &b.offset, sizeof a.offset);
    const double slow = slow_distance(m, p);
    if (b.face < 0)
        assert_true(slow > radius * (1 - 1e-12));
    else
        assert_true(fabs(slow - b.distance) <= 1e-12);
    const int32_t n = tl_bvh_around(bvh, p, q, found[0], 4096);
    assert_int_equal(plain_around(bvh, p, q, found[1], 4096), n);
    assert_true(n <= 4096);
    assert_memory_equal(found[0], found[1], (size_t)n * sizeof found[0][0]);
}

static void plain_code_finds_the_same(void **state)
{
    (void)state;
    fixture t;
    tl_error err;
    open_fixture(&t);
    for (int i = 0; i < 12; i++) {
        shape m = i % 4 == 3 ? random_soup(200, 300, 0.5, (uint64_t)i) : sheet_shape(12, i % 4, 3);
        const tl_bvh_def def = {.arity = ARITIES[i % 3], .leaf_faces = LEAVES[i % 5]};
        tl_bvh *bvh;
        assert_ok(tl_bvh_create(&t.alloc, &def, &m.s, m.x0, &bvh, &err));
        tl_bvh_refit(bvh, m.x0, NULL, i % 2 * 0.01, 0, NULL);
        for (int j = 0; j < PLACES; j++) check_place(&m, bvh, j);
        tl_bvh_destroy(bvh);
        free_shape(&m);
    }
    close_fixture(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_code_finds_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
