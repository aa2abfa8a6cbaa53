// tests/unit/test_render_plain.c: render/bvh.c as it is without SSE2: the bits of the library's hits, which
// test_render.c checks.
#include "base/rng.h"
#include "check.h"

#undef __SSE2__
#define tl_ray_bvh_create plain_create
#define tl_ray_bvh_destroy plain_destroy
#define tl_ray_bvh_hit plain_hit
#define tl_ray_bvh_first plain_first
#define tl_ray_bvh_blocked plain_blocked
#define tl_ray_bvh_overlap plain_overlap
#include "render/bvh.c"
#undef tl_ray_bvh_create
#undef tl_ray_bvh_destroy
#undef tl_ray_bvh_hit
#undef tl_ray_bvh_first
#undef tl_ray_bvh_blocked
#undef tl_ray_bvh_overlap
tl_status tl_ray_bvh_create(const tl_allocator *alloc, const tl_vec3f *pos, const int32_t (*tri)[3], int32_t tri_count,
                            tl_ray_bvh **out, tl_error *err);
void tl_ray_bvh_destroy(tl_ray_bvh *bvh);
bool tl_ray_bvh_hit(const tl_ray_bvh *bvh, const tl_ray *ray, int32_t *hint, tl_hit *out);
bool tl_ray_bvh_blocked(const tl_ray_bvh *bvh, const tl_ray *ray, int32_t *hint);
void tl_ray_bvh_overlap(const tl_ray_bvh *bvh, tl_vec3f lo, tl_vec3f hi, void (*visit)(void *arg, int32_t tri),
                        void *arg);

enum { TRIS = 700, RAYS = 20000 };

static float uniform(uint64_t seed, uint64_t i) { return (float)tl_random(seed, 0, i); }
static tl_vec3f place(uint64_t seed, uint64_t i)
{
    return (tl_vec3f){uniform(seed, i), uniform(seed + 1, i), uniform(seed + 2, i)};
}

static void add_visit(void *arg, int32_t tri)
{
    uint64_t *sum = arg;
    *sum = *sum * 31 + (uint64_t)tri + 1;  // in which order, too
}

static void plain_code_hits_the_same(void **state)
{
    (void)state;
    static tl_vec3f p[3 * TRIS];
    static int32_t tri[TRIS][3];
    for (int32_t i = 0; i < TRIS; i++)
        for (int32_t k = 0; k < 3; k++) {
            const tl_vec3f at = place(1, (uint64_t)i), d = place(4, (uint64_t)(3 * i + k));
            p[3 * i + k] = (tl_vec3f){at.x + 0.2f * d.x, at.y + 0.2f * d.y, i % 9 ? at.z + 0.2f * d.z : 0.5f};
            tri[i][k] = 3 * i + k;
        }
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_ray_bvh *usual, *plain;
    assert_ok(tl_ray_bvh_create(&alloc, p, (const int32_t(*)[3])tri, TRIS, &usual, &err));
    assert_ok(plain_create(&alloc, p, (const int32_t(*)[3])tri, TRIS, &plain, &err));
    int hits = 0;
    int32_t hint = 0;  // tried first, and without effect
    for (uint64_t i = 0; i < RAYS; i++) {
        tl_ray ray = {place(7, i), place(10, i), 0, i % 3 ? 1e18f : 0.3f};
        ray.dir = (tl_vec3f){ray.dir.x - 0.5f, ray.dir.y - 0.5f, ray.dir.z - 0.5f};
        if (i % 10 == 0) ray.dir = (tl_vec3f){0, i % 20 ? 1 : -1, 0};  // along an axis: zero components
        if (i % 10 == 1) ray.org.z = 0.5f, ray.dir.z = 0;              // within the plane of some
        tl_hit a = {0}, b = {0};
        const bool hit = tl_ray_bvh_hit(usual, &ray, NULL, &a);
        assert_int_equal(plain_hit(plain, &ray, &hint, &b), hit);
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(plain_blocked(plain, &ray, NULL), tl_ray_bvh_blocked(usual, &ray, NULL));
        hits += hit;
        uint64_t sums[2] = {0, 0};
        const tl_vec3f lo = ray.org, hi = {lo.x + 0.1f, lo.y + 0.1f, lo.z + 0.1f};
        tl_ray_bvh_overlap(usual, lo, hi, add_visit, &sums[0]), plain_overlap(plain, lo, hi, add_visit, &sums[1]);
        assert_true(sums[0] == sums[1]);
    }
    assert_true(hits > RAYS / 4 && hits < RAYS);
    tl_ray_bvh_destroy(usual), plain_destroy(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_code_hits_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
