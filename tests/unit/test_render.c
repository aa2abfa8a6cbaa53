// tests/unit/test_render.c: rays against slow and analytic oracles, pictures against bytes of other thread
// counts.

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "math/vec3.h"
#include "render/bvh.h"
#include "render/draw.h"
#include "render/filter.h"
#include "render/maps.h"
#include "render/stage.h"

static tl_allocator alloc;
static tl_error err;
static const double PI = 3.14159265358979323846;

static int setup(void **state)
{
    (void)state;
    alloc = tl_allocator_default();
    return 0;
}

// --- meshes ------------------------------------------------------------------------------------------------

typedef struct mesh {
    tl_vec3 *pos;
    tl_vec2 *uv;
    int32_t (*face)[3];
    int32_t pos_count, face_count;
} mesh;

static mesh new_mesh(int32_t pos_count, int32_t face_count)
{
    mesh m = {calloc((size_t)pos_count, sizeof(tl_vec3)), calloc((size_t)pos_count, sizeof(tl_vec2)),
              calloc((size_t)face_count, sizeof(int32_t[3])), pos_count, 0};
    return m;
}

static void free_mesh(mesh *m)
{
    free(m->pos);
    free(m->uv);
    free(m->face);
}

static void add_face(mesh *m, int32_t a, int32_t b, int32_t c)
{
    m->face[m->face_count][0] = a, m->face[m->face_count][1] = b, m->face[m->face_count++][2] = c;
}

/// n x n squares over [0, size]^2 in the x-z plane, seen from above; `height` may be NULL.
static mesh sheet(int32_t n, double size, double (*height)(double x, double z))
{
    mesh m = new_mesh((n + 1) * (n + 1), 2 * n * n);
    for (int32_t j = 0; j <= n; j++)
        for (int32_t i = 0; i <= n; i++) {
            const double x = size * i / n, z = size * j / n;
            m.pos[j * (n + 1) + i] = (tl_vec3){x, height ? height(x, z) : 0, z};
            m.uv[j * (n + 1) + i] = (tl_vec2){x, -z};
        }
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
            add_face(&m, a, c, b);
            add_face(&m, b, c, d);
        }
    return m;
}

/// A sphere by rings of latitude about the z axis; `angle` gives the polar angle of each ring, ends included.
static mesh ring_sphere(tl_vec3 centre, double radius, int32_t around, const double *angle, int32_t rings)
{
    mesh m = new_mesh(around * rings, 2 * around * (rings - 1));
    for (int32_t j = 0; j < rings; j++)
        for (int32_t i = 0; i < around; i++) {
            const double a = 2 * PI * i / around;
            m.pos[j * around + i] =
                (tl_vec3){centre.x + radius * sin(angle[j]) * cos(a), centre.y + radius * sin(angle[j]) * sin(a),
                          centre.z + radius * cos(angle[j])};
        }
    for (int32_t j = 0; j + 1 < rings; j++)
        for (int32_t i = 0; i < around; i++) {
            const int32_t a = j * around + i, b = j * around + (i + 1) % around;
            add_face(&m, a, a + around, b);
            add_face(&m, b, a + around, b + around);
        }
    return m;
}

static mesh even_sphere(tl_vec3 centre, double radius, int32_t n)
{
    double *angle = calloc((size_t)n + 1, sizeof *angle);
    for (int32_t j = 0; j <= n; j++) angle[j] = PI * j / n;
    mesh m = ring_sphere(centre, radius, 2 * n, angle, n + 1);
    free(angle);
    return m;
}

static tl_draw_mesh surface_of(const mesh *m, tl_look look, bool with_uv)
{
    tl_draw_mesh s = {.pos = m->pos,
                      .pos_count = m->pos_count,
                      .face = (const int32_t(*)[3])m->face,
                      .face_count = m->face_count,
                      .look = look,
                      .crease_deg = 40};
    if (with_uv) s.uv = m->uv, s.uv_count = m->pos_count, s.face_uv = (const int32_t(*)[3])m->face;
    return s;
}

static tl_draw_def small_def(const tl_draw_mesh *surfaces, int32_t count, int32_t width, int32_t height)
{
    tl_draw_def def = tl_draw_def_default();
    def.surfaces = surfaces, def.surface_count = count, def.width = width, def.height = height, def.alloc = &alloc;
    return def;
}

// --- rays --------------------------------------------------------------------------------------------------

static float uniform(uint64_t stream, uint64_t i) { return (float)tl_random(7, stream, i); }

/// Moeller and Trumbore 1997 in double precision.
static bool slow_hit(const tl_vec3f *p, const int32_t *t, const tl_ray *r, double *out)
{
    tl_vec3 v[3];
    for (int c = 0; c < 3; c++) v[c] = (tl_vec3){(double)p[t[c]].x, (double)p[t[c]].y, (double)p[t[c]].z};
    const tl_vec3 o = {(double)r->org.x, (double)r->org.y, (double)r->org.z};
    const tl_vec3 d = {(double)r->dir.x, (double)r->dir.y, (double)r->dir.z};
    const tl_vec3 e1 = tl_sub3(v[1], v[0]), e2 = tl_sub3(v[2], v[0]), q = tl_cross3(d, e2);
    const double det = tl_dot3(e1, q);
    if (det == 0) return false;
    const tl_vec3 s = tl_sub3(o, v[0]), k = tl_cross3(s, e1);
    const double u = tl_dot3(s, q) / det, w = tl_dot3(d, k) / det;
    *out = tl_dot3(e2, k) / det;
    return u >= 0 && w >= 0 && u + w <= 1 && *out >= 0;
}

static void tree_agrees_with_all_pairs(void **state)
{
    (void)state;
    enum { TRIS = 700, RAYS = 3000 };
    tl_vec3f p[3 * TRIS];
    int32_t tri[TRIS][3];
    for (int32_t t = 0; t < TRIS; t++) {
        const tl_vec3f at = {uniform(0, (uint64_t)t), uniform(1, (uint64_t)t), uniform(2, (uint64_t)t)};
        for (int c = 0; c < 3; c++) {
            const uint64_t i = (uint64_t)(3 * t + c);
            p[3 * t + c] =
                (tl_vec3f){at.x + 0.2f * uniform(3, i), at.y + 0.2f * uniform(4, i), at.z + 0.2f * uniform(5, i)};
            tri[t][c] = 3 * t + c;
        }
    }
    tl_ray_bvh *bvh;
    assert_ok(tl_ray_bvh_create(&alloc, p, (const int32_t(*)[3])tri, TRIS, &bvh, &err));
    int32_t hits = 0, hint = 0;
    for (int32_t i = 0; i < RAYS; i++) {
        const uint64_t k = (uint64_t)i;
        tl_ray ray = {
            {2 * uniform(6, k) - 0.5f, 2 * uniform(7, k) - 0.5f, 2 * uniform(8, k) - 0.5f}, {0, 0, 0}, 0, 1e18f};
        ray.dir = tl_subf((tl_vec3f){uniform(9, k), uniform(10, k), uniform(11, k)}, ray.org);
        if (i % 10 == 0) ray.dir = (tl_vec3f){0, i % 20 ? 1 : -1, 0};  // along an axis: zero components
        double nearest = INFINITY;
        for (int32_t t = 0; t < TRIS; t++) {
            double at;
            if (slow_hit(p, tri[t], &ray, &at) && at < nearest) nearest = at;
        }
        tl_hit hit;
        const bool found = tl_ray_bvh_hit(bvh, &ray, NULL, &hit);
        assert_int_equal(found, isfinite(nearest));
        assert_int_equal(tl_ray_bvh_blocked(bvh, &ray, NULL), found);
        assert_int_equal(tl_ray_bvh_blocked(bvh, &ray, &hint), found);  // whatever blocked the ray before
        tl_hit first;
        assert_int_equal(tl_ray_bvh_first(bvh, &ray, &first), found);
        if (!found) continue;
        assert_true(first.t >= hit.t && first.tri >= 0);
        hits++;
        assert_near((double)hit.t, nearest, 2e-5 * (1 + nearest));
        ray.tmax = 0.9f * hit.t;  // and nothing in front of it
        assert_false(tl_ray_bvh_blocked(bvh, &ray, NULL));
    }
    assert_in_range(hits, RAYS / 4, RAYS);
    tl_ray_bvh_destroy(bvh);
}

static void closed_surface_lets_no_ray_out(void **state)
{
    (void)state;
    mesh m = even_sphere((tl_vec3){0, 0, 0}, 1, 24);
    tl_vec3f *p = calloc((size_t)m.pos_count, sizeof *p);
    for (int32_t i = 0; i < m.pos_count; i++) p[i] = tl_to_f(m.pos[i], (tl_vec3){0, 0, 0});
    tl_ray_bvh *bvh;
    assert_ok(tl_ray_bvh_create(&alloc, p, (const int32_t(*)[3])m.face, m.face_count, &bvh, &err));
    for (int32_t i = 0; i < 20000; i++) {
        // half of them straight at a vertex or the middle of an edge, where leaks would be
        const uint64_t k = (uint64_t)i;
        tl_vec3f target = p[i % m.pos_count];
        if (i % 3 == 1) target = tl_mulf(0.5f, tl_addf(target, p[m.face[i % m.face_count][1]]));
        if (i % 3 == 2) target = (tl_vec3f){uniform(1, k) - 0.5f, uniform(2, k) - 0.5f, uniform(3, k) - 0.5f};
        const tl_vec3f org = {0.2f * uniform(4, k), 0.2f * uniform(5, k), 0.2f * uniform(6, k)};
        const tl_ray ray = {org, tl_subf(tl_mulf(2, target), org), 0, 1e18f};
        if (tl_lenf(ray.dir) < 0.05f) continue;
        assert_true(tl_ray_bvh_blocked(bvh, &ray, NULL));
    }
    tl_ray_bvh_destroy(bvh);
    free(p);
    free_mesh(&m);
}

static void tree_survives_bad_triangles(void **state)
{
    (void)state;
    enum { N = 3000 };
    tl_vec3f *p = calloc(N, sizeof *p);
    int32_t(*tri)[3] = calloc(N, sizeof *tri);
    for (int32_t i = 0; i < N; i++) {
        // not finite, huge, all in one point, and spread over many powers of ten
        const float scale = powf(10, (float)(i % 37) - 24);
        p[i] = i % 7 == 0   ? (tl_vec3f){NAN, 0, INFINITY}
               : i % 5 == 0 ? (tl_vec3f){1, 1, 1}
                            : (tl_vec3f){scale, -scale, 1};
        for (int c = 0; c < 3; c++) tri[i][c] = (i * (c + 1) + c) % N;
    }
    tl_ray_bvh *bvh;
    assert_ok(tl_ray_bvh_create(&alloc, p, (const int32_t(*)[3])tri, N, &bvh, &err));
    const tl_ray ray = {{0, 0, 5}, {0, 0, -1}, 0, 1e18f};
    tl_hit hit;
    tl_ray_bvh_hit(bvh, &ray, NULL, &hit);
    tl_ray_bvh_destroy(bvh);
    assert_ok(tl_ray_bvh_create(&alloc, p, (const int32_t(*)[3])tri, 0, &bvh, &err));
    assert_false(tl_ray_bvh_hit(bvh, &ray, NULL, &hit));
    tl_ray_bvh_destroy(bvh);
    free(p);
    free(tri);
}

// --- pixels against formulas -------------------------------------------------------------------------------

/// The direction through a pixel's centre.
static tl_vec3 pixel_ray(const tl_draw_def *def, int32_t x, int32_t y)
{
    const tl_view v = tl_camera_view(&def->camera);
    const double t = tan(def->camera.fov_deg * PI / 360), aspect = (double)def->width / def->height;
    const double a = (2 * (x + 0.5) / def->width - 1) * t * aspect, b = (1 - 2 * (y + 0.5) / def->height) * t;
    return tl_unit3_or(tl_madd3(tl_madd3(v.forward, a, v.right), b, v.up), (tl_vec3){0, 0, -1});
}

static void sphere_outline_is_exact(void **state)
{
    (void)state;
    // Seen from +z, the outline is the ring where rays touch: polar angle acos(R / distance). With 2048
    // corners on that ring, the polygon is within 1.2e-6 R of the circle: 1e-4 of a pixel here.
    enum { AROUND = 2048, RINGS = 17 };
    const double radius = 0.7, distance = 3;
    double angle[RINGS];
    for (int j = 0; j < RINGS; j++) angle[j] = acos(radius / distance) * j / 8;
    for (int j = 9; j < RINGS; j++) angle[j] = angle[8] + (PI - angle[8]) * (j - 8) / 8;
    const tl_vec3 centre = {0.013, -0.007, 0};
    mesh m = ring_sphere(centre, radius, AROUND, angle, RINGS);
    const tl_draw_mesh s = surface_of(&m, tl_look_plain((tl_rgb){0.5f, 0.5f, 0.5f}), false);
    tl_draw_def def = small_def(&s, 1, 321, 241);
    def.camera =
        (tl_camera){.eye = {centre.x, centre.y, distance}, .target = {0, 0, 0}, .up = {0, 1, 0}, .fov_deg = 35};
    def.camera.target = (tl_vec3){0.1, 0.05, 0};
    def.samples = 1;
    tl_image image;
    assert_ok(tl_image_create(&alloc, def.width, def.height, &image, &err));
    tl_pixel_hit *hits = calloc((size_t)def.width * (size_t)def.height, sizeof *hits);
    assert_ok(tl_draw(&def, &image, hits, NULL, &err));
    int32_t inside = 0, close = 0;
    for (int32_t y = 0; y < def.height; y++)
        for (int32_t x = 0; x < def.width; x++) {
            const tl_vec3 d = pixel_ray(&def, x, y), to = tl_sub3(centre, def.camera.eye);
            const double miss = tl_norm3(tl_sub3(to, tl_mul3(tl_dot3(to, d), d)));
            if (fabs(miss - radius) < 3e-6 * radius) close++;
            assert_int_equal(hits[y * def.width + x].surface, miss < radius ? 0 : -1);
            inside += miss < radius;
        }
    assert_int_equal(close,
                     0);  // no pixel is so close to the edge that the polygon could differ from the circle
    assert_in_range(inside, 15000, 40000);
    free(hits);
    tl_image_free(&alloc, &image);
    free_mesh(&m);
}

/// Pixels of a ball of `n` facets around that are not as those of a true ball.
static int32_t wrong_pixels(int32_t n, bool curved)
{
    const tl_vec3 centre = {0.013, -0.007, 0};
    const double radius = 0.7;
    mesh m = even_sphere(centre, radius, n);
    tl_draw_mesh s = surface_of(&m, tl_look_plain((tl_rgb){0.5f, 0.5f, 0.5f}), false);
    s.curved = curved;
    tl_draw_def def = small_def(&s, 1, 321, 241);
    def.camera = (tl_camera){.eye = {centre.x, centre.y, 3}, .target = {0.1, 0.05, 0}, .up = {0, 1, 0}, .fov_deg = 35};
    def.samples = 1;
    tl_image image;
    assert_ok(tl_image_create(&alloc, def.width, def.height, &image, &err));
    tl_pixel_hit *hits = calloc((size_t)def.width * (size_t)def.height, sizeof *hits);
    assert_ok(tl_draw(&def, &image, hits, NULL, &err));
    int32_t wrong = 0;
    for (int32_t y = 0; y < def.height; y++)
        for (int32_t x = 0; x < def.width; x++) {
            const tl_vec3 d = pixel_ray(&def, x, y), to = tl_sub3(centre, def.camera.eye);
            const double miss = tl_norm3(tl_sub3(to, tl_mul3(tl_dot3(to, d), d)));
            wrong += (hits[y * def.width + x].surface == 0) != (miss < radius);
        }
    free(hits);
    tl_image_free(&alloc, &image);
    free_mesh(&m);
    return wrong;
}

// Curved faces: the outline of a coarse ball is round, and no ray finds a way in between two faces.
static void coarse_balls_have_round_outlines(void **state)
{
    (void)state;
    const int32_t flat = wrong_pixels(10, false), curved = wrong_pixels(10, true);
    assert_true(flat > 200);
    assert_true(curved < flat / 8);
}

static void sphere_and_plane_have_the_right_depth(void **state)
{
    (void)state;
    enum { N = 96 };
    const tl_vec3 centre = {0.1, 0.4, -0.2};
    const double radius = 0.3;
    mesh ball = even_sphere(centre, radius, N), ground = sheet(1, 8, NULL);
    for (int32_t i = 0; i < ground.pos_count; i++) ground.pos[i].x -= 4, ground.pos[i].z -= 4;
    const tl_look look = tl_look_plain((tl_rgb){0.5f, 0.5f, 0.5f});
    const tl_draw_mesh s[2] = {surface_of(&ball, look, false), surface_of(&ground, look, false)};
    tl_draw_def def = small_def(s, 2, 200, 150);
    def.camera = (tl_camera){.eye = {0.5, 1.3, 1.9}, .target = {0, 0.3, 0}, .up = {0, 1, 0}, .fov_deg = 40};
    def.samples = 1;
    tl_image image;
    assert_ok(tl_image_create(&alloc, def.width, def.height, &image, &err));
    tl_pixel_hit *hits = calloc((size_t)def.width * (size_t)def.height, sizeof *hits);
    assert_ok(tl_draw(&def, &image, hits, NULL, &err));
    int32_t on_ball = 0, on_plane = 0;
    for (int32_t y = 0; y < def.height; y++)
        for (int32_t x = 0; x < def.width; x++) {
            const tl_pixel_hit *h = &hits[y * def.width + x];
            const tl_vec3 d = pixel_ray(&def, x, y), to = tl_sub3(centre, def.camera.eye);
            const double along = tl_dot3(to, d), miss2 = tl_dot3(to, to) - along * along;
            const double inside2 = radius * radius - miss2;
            if (inside2 > 0.05 * radius * radius) {  // away from the outline, where a facet may be missed
                // a facet lies at most R (1 - cos(pi/2N)^2) below the sphere, seen at an angle of at least
                // asin(sqrt(0.05))
                const double sag = radius * (1 - pow(cos(PI / (2 * N)), 2)) / sqrt(0.05);
                assert_int_equal(h->surface, 0);
                assert_near((double)h->depth, along - sqrt(inside2), 1.5 * sag);
                on_ball++;
            } else if (inside2 < 0 && d.y < -0.05) {
                const double depth = -def.camera.eye.y / d.y;
                const tl_vec3 at = tl_madd3(def.camera.eye, depth, d);
                if (fabs(at.x) > 3.9 || fabs(at.z) > 3.9) continue;
                assert_int_equal(h->surface, 1);
                assert_near((double)h->depth, depth, 4e-6 * depth);
                on_plane++;
            }
        }
    assert_in_range(on_ball, 1000, 30000);
    assert_in_range(on_plane, 5000, 30000);
    free(hits);
    tl_image_free(&alloc, &image);
    free_mesh(&ball);
    free_mesh(&ground);
}

// --- pictures ----------------------------------------------------------------------------------------------

static double ripples(double x, double z) { return 0.45 + 0.06 * sin(9 * x + 2 * z) * cos(5 * z); }

static void same_bytes_on_any_number_of_threads(void **state)
{
    (void)state;
    mesh cloth = sheet(40, 1, ripples), ball = even_sphere((tl_vec3){0.5, 0.2, 0.5}, 0.2, 16);
    float *value = calloc((size_t)cloth.pos_count, sizeof *value);
    for (int32_t i = 0; i < cloth.pos_count; i++) value[i] = (float)cloth.pos[i].y;
    tl_draw_mesh s[2] = {surface_of(&cloth, tl_look_cloth(tl_palette(0)), true),
                         surface_of(&ball, tl_look_skin(), false)};
    s[0].wire = true;
    for (int variant = 0; variant < 2; variant++) {
        s[0].node_value = variant ? value : NULL;
        tl_image image[3];
        for (int threads = 1; threads <= 3; threads++) {
            tl_draw_def def = small_def(s, 2, 203, 151);
            def.camera = (tl_camera){.eye = {1.2, 1.1, 1.7}, .target = {0.5, 0.3, 0.5}, .up = {0, 1, 0}, .fov_deg = 40};
            def.ground = true, def.ground_centre = (tl_vec3){0.5, 0, 0.5};
            def.scale = (tl_scale){TL_SCALE_SEQUENTIAL, 0.4, 0.5};
            tl_workers *workers;
            assert_ok(tl_workers_create(&alloc, threads, &workers, &err));
            def.workers = workers;
            assert_ok(tl_image_create(&alloc, def.width, def.height, &image[threads - 1], &err));
            assert_ok(tl_draw(&def, &image[threads - 1], NULL, NULL, &err));
            tl_workers_destroy(workers);
        }
        const size_t bytes = (size_t)image[0].width * (size_t)image[0].height * 3;
        assert_memory_equal(image[0].rgb, image[1].rgb, bytes);
        assert_memory_equal(image[0].rgb, image[2].rgb, bytes);
        for (int i = 0; i < 3; i++) tl_image_free(&alloc, &image[i]);
    }
    free(value);
    free_mesh(&cloth);
    free_mesh(&ball);
}

static void faces_that_are_not_finite_are_left_out(void **state)
{
    (void)state;
    mesh m = sheet(6, 1, ripples), less = sheet(6, 1, ripples);
    m.pos[10].y = NAN;
    m.pos[30].x = INFINITY;
    less.face_count = 0;
    for (int32_t f = 0; f < m.face_count; f++) {
        bool good = true;
        for (int c = 0; c < 3; c++) good = good && m.face[f][c] != 10 && m.face[f][c] != 30;
        if (good) add_face(&less, m.face[f][0], m.face[f][1], m.face[f][2]);
    }
    // the corners must not move the float origin: both meshes keep the same box without them
    tl_image image[2];
    for (int i = 0; i < 2; i++) {
        const tl_draw_mesh s = surface_of(i ? &less : &m, tl_look_cloth(tl_palette(1)), true);
        tl_draw_def def = small_def(&s, 1, 96, 72);
        def.camera = (tl_camera){.eye = {1.3, 1.4, 1.9}, .target = {0.5, 0.4, 0.5}, .up = {0, 1, 0}, .fov_deg = 40};
        assert_ok(tl_image_create(&alloc, def.width, def.height, &image[i], &err));
        int64_t skipped;
        assert_ok(tl_draw(&def, &image[i], NULL, &skipped, &err));
        assert_int_equal(skipped, i ? 0 : m.face_count - less.face_count);
    }
    assert_true(m.face_count - less.face_count >= 8);
    int32_t differ = 0;
    for (size_t i = 0; i < 96 * 72 * 3; i++) differ += abs((int)image[0].rgb[i] - (int)image[1].rgb[i]) > 2;
    assert_in_range(differ, 0,
                    96 * 72 * 3 / 200);  // the box's middle moved by a rounding: a few edge pixels may
    for (int i = 0; i < 2; i++) tl_image_free(&alloc, &image[i]);
    free_mesh(&m);
    free_mesh(&less);
}

static void nothing_to_draw_gives_the_background(void **state)
{
    (void)state;
    tl_draw_def def = small_def(NULL, 0, 40, 30);
    def.ground = true, def.flat_background = true, def.background = (tl_rgb){0.2f, 0.4f, 0.8f};
    tl_image image;
    assert_ok(tl_image_create(&alloc, 40, 30, &image, &err));
    assert_ok(tl_draw(&def, &image, NULL, NULL, &err));
    for (int i = 0; i < 40 * 30; i++) {
        assert_int_equal(image.rgb[3 * i], tl_srgb_byte(0.2f));
        assert_int_equal(image.rgb[3 * i + 2], tl_srgb_byte(0.8f));
    }
    def.samples = 0;
    assert_int_equal(tl_draw(&def, &image, NULL, NULL, &err), TL_BAD_ARG);
    def.samples = 16, def.camera.fov_deg = 200;
    assert_int_equal(tl_draw(&def, &image, NULL, NULL, &err), TL_BAD_ARG);
    tl_image_free(&alloc, &image);
}

typedef struct budget {
    int32_t left;
    size_t in_use;
} budget;

static void *resize_within(void *user, void *ptr, size_t old_size, size_t new_size)
{
    budget *b = user;
    if (new_size > 0 && b->left-- <= 0) return NULL;
    b->in_use += new_size - old_size;
    const tl_allocator libc = tl_allocator_default();
    return libc.resize(libc.user, ptr, old_size, new_size);
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    mesh m = sheet(8, 1, ripples);
    tl_draw_mesh s = surface_of(&m, tl_look_cloth(tl_palette(0)), true);
    tl_image image;
    assert_ok(tl_image_create(&alloc, 24, 18, &image, &err));
    float value[81];
    uint8_t mark[128];
    for (int32_t allowed = 0, done = 0; !done; allowed++) {
        budget b = {allowed, 0};
        const tl_allocator tight = {resize_within, &b};
        tl_draw_def def = small_def(&s, 1, 24, 18);
        def.alloc = &tight, def.ground = true;
        tl_status status = tl_draw(&def, &image, NULL, NULL, &err);
        tl_crowd crowd = {0};
        if (status == TL_OK) status = tl_map_curvature(&s, &tight, NULL, value, &err);
        if (status == TL_OK) status = tl_map_speed_between(&s, &s, 1, &tight, value, &err);
        if (status == TL_OK) status = tl_crowd_init(&crowd, &s, 1, &tight, &err);
        if (status == TL_OK) {
            int64_t pairs;
            status = tl_map_nearness(&crowd, 0, 0.01, NULL, value, &err);
            if (status == TL_OK) status = tl_mark_crossings(&crowd, 0, NULL, mark, &pairs, &err);
            tl_crowd_free(&crowd);
        }
        assert_int_equal(b.in_use, 0);
        done = status == TL_OK;
        if (!done) assert_int_equal(status, TL_NO_MEMORY);
        assert_true(allowed < 200);
    }
    tl_image_free(&alloc, &image);
    free_mesh(&m);
}

static void srgb_is_the_standard_curve(void **state)
{
    (void)state;
    assert_int_equal(tl_srgb_byte(0.5f), 188);
    assert_int_equal(tl_srgb_byte(0.2158605f), 128);
    assert_int_equal(tl_srgb_byte(0.001f), 3);
    assert_int_equal(tl_srgb_byte(-1), 0);
    assert_int_equal(tl_srgb_byte(7), 255);
    for (int i = 0; i < 256; i++) assert_int_equal(tl_srgb_byte(tl_srgb_linear((uint8_t)i)), i);
}

static void framing_holds_every_point_and_is_tight(void **state)
{
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        const tl_vec3 up = {0, 1, 0};
        const double aspect = trial % 2 ? 16.0 / 9 : 0.6, margin = 0.05;
        tl_framing f;
        tl_framing_init(&f, tl_angles_direction((tl_angles){37.0 * trial, 5.0 * trial - 40}, up), up, 30, aspect);
        tl_vec3 p[50];
        for (int i = 0; i < 50; i++) {
            const uint64_t k = (uint64_t)(50 * trial + i);
            p[i] = (tl_vec3){3 + (double)uniform(1, k), (double)uniform(2, k) * 2, -5 + (double)uniform(3, k) * 0.3};
            tl_framing_add(&f, p[i]);
        }
        tl_framing_add(&f, (tl_vec3){NAN, 0, 0});
        const tl_camera c = tl_framing_camera(&f, 30, margin);
        const tl_view v = tl_camera_view(&c);
        double farthest = 0;
        for (int i = 0; i < 50; i++) {
            const tl_vec3 d = tl_sub3(p[i], c.eye);
            const double z = tl_dot3(d, v.forward), t = tan(PI / 12);
            assert_true(z > 0);
            farthest =
                fmax(farthest, fmax(fabs(tl_dot3(d, v.right)) / (z * t * aspect), fabs(tl_dot3(d, v.up)) / (z * t)));
        }
        assert_true(farthest <= 1);
        assert_true(farthest > 0.75);
    }
}

static void normals_crease_at_seams_only(void **state)
{
    (void)state;
    // two panels at 60 degrees along a seam: shared positions, own material vertices; a ridge inside one
    // panel is smooth
    const double h = sqrt(3) / 2;
    const tl_vec3 pos[8] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 1}, {1.5, h, 0}, {1.5, h, 1}};
    const int32_t face[4][3] = {{0, 1, 2}, {2, 1, 3}, {2, 3, 4}, {4, 3, 5}};
    const tl_vec2 uv[8] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}};
    const int32_t seam[4][3] = {{0, 1, 2}, {2, 1, 3}, {4, 5, 6}, {6, 5, 7}},
                  whole[4][3] = {{0, 1, 2}, {2, 1, 3}, {2, 3, 6}, {6, 3, 7}};
    tl_vec3f n[12];
    tl_draw_mesh s = {.pos = pos,
                      .pos_count = 6,
                      .face = face,
                      .face_count = 4,
                      .uv = uv,
                      .uv_count = 8,
                      .face_uv = seam,
                      .crease_deg = 40};
    assert_ok(tl_corner_normals(&s, &alloc, NULL, n, &err));
    assert_near((double)n[2].y, 1, 1e-6);    // corner of the flat panel at the seam
    assert_near((double)n[6].y, 0.5, 1e-6);  // the same place on the other panel
    s.face_uv = whole;
    assert_ok(tl_corner_normals(&s, &alloc, NULL, n, &err));
    assert_near((double)tl_dotf(n[2], n[6]), 1, 1e-6);
    s.uv = NULL, s.face_uv = NULL;  // a body: by the angle
    assert_ok(tl_corner_normals(&s, &alloc, NULL, n, &err));
    assert_near((double)n[2].y, 1, 1e-6);
    s.crease_deg = 80;
    assert_ok(tl_corner_normals(&s, &alloc, NULL, n, &err));
    assert_near((double)tl_dotf(n[2], n[6]), 1, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_agrees_with_all_pairs),
        cmocka_unit_test(closed_surface_lets_no_ray_out),
        cmocka_unit_test(tree_survives_bad_triangles),
        cmocka_unit_test(sphere_outline_is_exact),
        cmocka_unit_test(coarse_balls_have_round_outlines),
        cmocka_unit_test(sphere_and_plane_have_the_right_depth),
        cmocka_unit_test(same_bytes_on_any_number_of_threads),
        cmocka_unit_test(faces_that_are_not_finite_are_left_out),
        cmocka_unit_test(nothing_to_draw_gives_the_background),
        cmocka_unit_test(every_failed_allocation_is_told),
        cmocka_unit_test(srgb_is_the_standard_curve),
        cmocka_unit_test(framing_holds_every_point_and_is_tight),
        cmocka_unit_test(normals_crease_at_seams_only),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
