// tests/unit/test_untangle.c: tangled sheets, tubes and bodies come apart, and what cannot says so.

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/timer.h"
#include "detect/distance.h"
#include "mesh/edges.h"
#include "respond/untangle/untangle.h"
#include "detect/intersect.h"
#include "math/vec3.h"

static tl_error err;
static const tl_allocator *heap(void)
{
    static tl_allocator alloc;
    alloc = tl_allocator_default();
    return &alloc;
}

typedef struct shape {
    tl_vec3 *x;
    int32_t (*face)[3], (*edge)[2];
    tl_surface surface;
} shape;

static void add_grid(shape *s, int nu, int nv, bool round, tl_vec3 (*at)(double u, double v))
{
    const int32_t n0 = s->surface.node_count, f0 = s->surface.face_count, columns = round ? nu : nu + 1;
    s->surface.node_count += columns * (nv + 1), s->surface.face_count += 2 * nu * nv;
    s->x = realloc(s->x, (size_t)s->surface.node_count * sizeof *s->x);
    s->face = realloc(s->face, (size_t)s->surface.face_count * sizeof *s->face);
    int32_t(*f)[3] = s->face + f0;
    for (int j = 0; j <= nv; j++)
        for (int i = 0; i < columns; i++) s->x[n0 + j * columns + i] = at((double)i / nu, (double)j / nv);
    for (int j = 0; j < nv; j++)
        for (int i = 0; i < nu; i++) {
            const int32_t a = n0 + j * columns + i, b = n0 + j * columns + (i + 1) % columns, c = b + columns,
                          d = a + columns;
            const int32_t t[2][3] = {{a, b, (i + j) % 2 ? d : c}, {(i + j) % 2 ? b : a, c, d}};
            memcpy(*f, t, sizeof t);
            f += 2;
        }
}

static void close_shape(shape *s)
{
    assert_ok(tl_unique_edges(heap(), (const int32_t(*)[3])s->face, s->surface.face_count, &s->edge,
                              &s->surface.edge_count, NULL, &err));
    s->surface.face = (const int32_t(*)[3])s->face, s->surface.edge = (const int32_t(*)[2])s->edge;
}

static void free_shape(shape *s)
{
    TL_FREE(heap(), s->edge, s->surface.edge_count);
    free(s->x), free(s->face);
    *s = (shape){0};
}

// A sphere from an octahedron, faces outward.
static shape ball(tl_vec3 centre, double radius, int cuts)
{
    shape s = {0};
    const int n = cuts;
    for (int octant = 0; octant < 8; octant++) {
        const double sx = octant & 1 ? -1 : 1, sy = octant & 2 ? -1 : 1, sz = octant & 4 ? -1 : 1;
        const bool turn = sx * sy * sz < 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n - i; j++)
                for (int up = 0; up < (j < n - i - 1 ? 2 : 1); up++) {
                    const int c[3][2] = {{i + up, j + up}, {i + !up, j + up}, {i + up, j + !up}};
                    s.face = realloc(s.face, ((size_t)s.surface.face_count + 1) * sizeof *s.face);
                    int32_t *f = s.face[s.surface.face_count++];
                    for (int k = 0; k < 3; k++) {
                        const tl_vec3 d = {sx * c[k][0], sy * c[k][1], sz * (n - c[k][0] - c[k][1])};
                        const tl_vec3 p = tl_madd3(centre, radius / tl_norm3(d), d);
                        int32_t v = 0;
                        while (v < s.surface.node_count && tl_norm3(tl_sub3(s.x[v], p)) > 1e-9 * radius) v++;
                        if (v == s.surface.node_count) {
                            s.x = realloc(s.x, (size_t)(v + 1) * sizeof *s.x);
                            s.x[v] = p, s.surface.node_count++;
                        }
                        f[turn ? 2 - k : k] = v;
                    }
                }
    }
    close_shape(&s);
    for (int32_t f = 0; f < s.surface.face_count; f++) {  // the maker itself: all faces look outward
        const tl_vec3 *p = &s.x[s.face[f][0]], *q = &s.x[s.face[f][1]], *r = &s.x[s.face[f][2]];
        assert_true(tl_dot3(tl_cross3(tl_sub3(*q, *p), tl_sub3(*r, *p)), tl_sub3(*p, centre)) > 0);
    }
    return s;
}

static int64_t crossings(const shape *s, const shape *body)
{
    tl_arena arena;
    tl_arena_init(&arena, *heap());
    tl_bvh *a = NULL, *b = NULL;
    tl_crossings found;
    const tl_bvh_def def = tl_bvh_def_default();
    tl_crossings_init(&found, *heap());
    assert_ok(tl_bvh_create(heap(), &def, &s->surface, s->x, &a, &err));
    tl_bvh_refit(a, s->x, NULL, 0, 0, NULL);
    if (body) assert_ok(tl_bvh_create(heap(), &def, &body->surface, body->x, &b, &err));
    if (body) tl_bvh_refit(b, body->x, NULL, 0, 0, NULL);
    assert_ok(tl_find_crossings(a, b, &arena, NULL, &found, &err));
    const int64_t count = found.count;
    tl_crossings_free(&found);
    tl_bvh_destroy(a), tl_bvh_destroy(b);
    tl_arena_free(&arena);
    return count;
}

static tl_heal_report heal(const char *what, shape *s, const shape *body, double distance, tl_workers *workers)
{
    tl_arena arena;
    tl_arena_init(&arena, *heap());
    tl_heal_report r;
    tl_heal_def def = tl_heal_def_default();
    const tl_heal_body one = {body ? body->surface : (tl_surface){0}, body ? body->x : NULL, distance};
    def.cloth = s->surface, def.distance = distance;
    def.bodies = &one, def.body_count = body ? 1 : 0;
    const int64_t before = crossings(s, NULL) + (body ? crossings(s, body) : 0);
    const double start = tl_now();
    assert_ok(tl_heal(&def, s->x, &(tl_ctx){&arena, workers}, &r, &err));
    print_message("%s: %lld crossings -> %lld, %lld near, %d iterations, %d nodes moved, at most %.4f m, %.3f s\n",
                  what, (long long)r.crossings_before, (long long)r.crossings_after, (long long)r.near_after,
                  r.iterations, r.nodes_moved, r.largest_move, tl_now() - start);
    assert_int_equal(before, r.crossings_before);
    assert_int_equal(r.crossings_after, crossings(s, NULL) + (body ? crossings(s, body) : 0));
    tl_arena_free(&arena);
    return r;
}

// --- cases -------------------------------------------------------------------------------------------------

static tl_vec3 flat(double u, double v) { return (tl_vec3){u, 0, v}; }
static tl_vec3 dented(double u, double v)
{
    const double d = 30 * ((u - 0.47) * (u - 0.47) + (v - 0.53) * (v - 0.53));
    return (tl_vec3){u + 0.013, 0.03 - 0.06 * exp(-d), v + 0.007};
}
static tl_vec3 tilted(double u, double v) { return (tl_vec3){u + 0.011, 0.15 * (u - 0.2), v + 0.017}; }

// Displaced, so that the cut ends before the border; no corner on the other sheet.
static tl_vec3 askew(double u, double v) { return (tl_vec3){u + 0.019, 0.2 * (0.8 * u + 0.6 * v - 0.313), v + 0.013}; }

static void two_sheets(tl_vec3 (*second)(double, double), const char *what, double most)
{
    shape s = {0};
    add_grid(&s, 20, 20, false, flat);
    add_grid(&s, 20, 20, false, second);
    close_shape(&s);
    const tl_heal_report r = heal(what, &s, NULL, 0.002, NULL);
    assert_true(r.crossings_before > 0);
    assert_int_equal(r.crossings_after, 0);
    assert_int_equal(r.near_after, 0);
    assert_true(r.largest_move < most);
    free_shape(&s);
}

static void sheets_that_cross_slightly(void **state)
{
    (void)state;
    two_sheets(dented, "a dent through a sheet", 0.06);
    two_sheets(tilted, "a tilted sheet", 0.1);
    two_sheets(askew, "a sheet askew", 0.1);
}

// A sheet folded over a round edge; the corner that comes back dips through the lower half.
static tl_vec3 folded(double u, double v)
{
    const double r = 0.05, half = 0.5 - r * 1.5707963267948966, arc = 3.14159265358979 * r;
    tl_vec3 p = u < half         ? (tl_vec3){u, 0, v}
                : u < half + arc ? (tl_vec3){half + r * sin((u - half) / r), r - r * cos((u - half) / r), v}
                                 : (tl_vec3){half - (u - half - arc), 2 * r, v};
    const double corner = fmax(0, u + v - 1.6);
    p.y -= 0.45 * corner;
    return p;
}

static void a_corner_through_its_own_sheet(void **state)
{
    (void)state;
    shape s = {0};
    add_grid(&s, 30, 30, false, folded);
    close_shape(&s);
    const tl_heal_report r = heal("a corner through its own sheet", &s, NULL, 0.002, NULL);
    assert_true(r.crossings_before > 0);
    assert_int_equal(r.crossings_after, 0);
    assert_true(r.largest_move < 0.2);
    free_shape(&s);
}

static tl_vec3 over_ball(double u, double v) { return (tl_vec3){u, 0.02 + 0.1 * (u + v), v}; }

static void a_corner_through_a_ball(void **state)
{
    (void)state;
    shape s = {0}, b = ball((tl_vec3){0.05, -0.13, 0.02}, 0.2, 8);
    add_grid(&s, 24, 24, false, over_ball);
    close_shape(&s);
    const tl_heal_report r = heal("a corner through a ball", &s, &b, 0.003, NULL);
    assert_true(r.crossings_before > 0);
    assert_int_equal(r.crossings_after, 0);
    assert_int_equal(r.near_after, 0);
    assert_true(r.largest_move < 0.2);
    free_shape(&s), free_shape(&b);
}

static tl_vec3 sleeve(double u, double v)
{
    const double a = 6.283185307179586 * u;
    return (tl_vec3){0.06 * cos(a), 0.1 + 0.3 * v, 0.06 * sin(a)};
}
static tl_vec3 limb(double u, double v)
{
    const double a = -6.283185307179586 * u,
                 r = 0.045 + 0.018 * sin(3 * v + 0.3);  // the other way round: faces outward
    return (tl_vec3){0.012 + r * cos(a), 0.5 * v, 0.005 + r * sin(a)};
}

static void a_sleeve_around_a_limb(void **state)
{
    (void)state;
    shape s = {0}, b = {0};
    add_grid(&s, 40, 40, true, sleeve);
    add_grid(&b, 32, 50, true, limb);
    for (int32_t f = 0; f < b.surface.face_count; f++) {
        const int32_t *c = b.face[f];
        const tl_vec3 n = tl_cross3(tl_sub3(b.x[c[1]], b.x[c[0]]), tl_sub3(b.x[c[2]], b.x[c[0]]));
        if (n.x * (b.x[c[0]].x - 0.012) + n.z * (b.x[c[0]].z - 0.005) > 0) continue;
        const int32_t t = b.face[f][1];
        b.face[f][1] = b.face[f][2], b.face[f][2] = t;
    }
    close_shape(&s), close_shape(&b);
    const tl_heal_report r = heal("a sleeve around a limb", &s, &b, 0.001, NULL);
    assert_true(r.crossings_before > 0);
    assert_int_equal(r.crossings_after, 0);
    assert_true(r.largest_move < 0.05);
    free_shape(&s), free_shape(&b);
}

static tl_vec3 spiked(double u, double v) { return (tl_vec3){0.3 + 1e-3 * u, 0.05 + 0.2 * u, 0.3 + 0.4 * v}; }

static void what_is_held_stays(void **state)
{
    (void)state;
    shape s = {0};
    add_grid(&s, 4, 4, false, flat);
    add_grid(&s, 2, 2, false, tilted);
    close_shape(&s);
    uint8_t fixed[64];
    memset(fixed, 1, sizeof fixed);
    tl_vec3 before[64];
    memcpy(before, s.x, (size_t)s.surface.node_count * sizeof *s.x);
    tl_arena arena;
    tl_arena_init(&arena, *heap());
    tl_heal_report r;
    tl_heal_def def = tl_heal_def_default();
    def.cloth = s.surface, def.fixed = fixed, def.max_iterations = 5;
    assert_ok(tl_heal(&def, s.x, &(tl_ctx){&arena, NULL}, &r, &err));
    assert_true(r.crossings_before > 0 && r.crossings_after == r.crossings_before);  // it says so
    assert_int_equal(r.nodes_moved, 0);
    assert_memory_equal(before, s.x, (size_t)s.surface.node_count * sizeof *s.x);
    def.max_iterations = 0;
    assert_int_equal(tl_heal(&def, s.x, &(tl_ctx){&arena, NULL}, &r, &err), TL_BAD_ARG);
    tl_arena_free(&arena);
    free_shape(&s);
    // nothing crosses, nothing near: nothing moves
    add_grid(&s, 8, 8, false, flat);
    add_grid(&s, 2, 2, false, spiked);
    close_shape(&s);
    r = heal("nothing to do", &s, NULL, 0.002, NULL);
    assert_true(r.crossings_before == 0 && r.nodes_moved == 0 && r.iterations == 0);
    free_shape(&s);
}

static void same_bits_on_any_number_of_workers(void **state)
{
    (void)state;
    tl_vec3 *want = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        tl_workers *workers = NULL;
        assert_ok(tl_workers_create(heap(), threads, &workers, &err));
        shape s = {0};
        add_grid(&s, 20, 20, false, flat);
        add_grid(&s, 20, 20, false, dented);
        close_shape(&s);
        heal("again", &s, NULL, 0.002, workers);
        const size_t bytes = (size_t)s.surface.node_count * sizeof *s.x;
        if (!want) want = memcpy(malloc(bytes), s.x, bytes);
        assert_memory_equal(want, s.x, bytes);
        free_shape(&s);
        tl_workers_destroy(workers);
    }
    free(want);
}

// Random tangles of six kinds; most have to come apart. The figures in docs/contact.md are from TL_LONG=1.
static double dice[6];
static tl_vec3 any_dent(double u, double v)
{
    const double du = u - dice[1], dv = v - dice[2];
    return (tl_vec3){u + 0.02 * dice[3],
                     0.03 - (0.04 + 0.15 * dice[4]) * exp(-(10 + 60 * dice[0]) * (du * du + dv * dv)),
                     v + 0.02 * dice[5]};
}
static tl_vec3 any_tilt(double u, double v)
{
    const double a = 6.28 * dice[0], from_middle = (u - 0.5) * cos(a) + (v - 0.5) * sin(a);
    return (tl_vec3){u + 0.02 * dice[3], (0.05 + 0.3 * dice[4]) * (from_middle + 0.15 + 0.25 * dice[1]),
                     v + 0.02 * dice[5]};
}
static tl_vec3 any_fold(double u, double v)
{
    tl_vec3 p = folded(u, v);
    p.y += 0.5 * dice[4] * sin(7 * v + 6 * dice[0]) * fmax(0, u - 0.5);
    return p;
}
static tl_vec3 any_wave(double u, double v)
{
    const double size = 0.02 + 0.05 * dice[4];
    return (tl_vec3){u + 0.02 * dice[3], size * (0.6 + sin(dice[0] + 9 * u) * sin(10 * dice[1] + 8 * v)),
                     v + 0.02 * dice[5]};
}
static tl_vec3 any_sheet(double u, double v) { return (tl_vec3){u, 0.2 * dice[4] - 0.1 + 0.3 * dice[1] * (u + v), v}; }

static void random_tangles(void **state)
{
    (void)state;
    enum { KINDS = 6 };
    tl_vec3 (*const kinds[KINDS])(double, double) = {any_dent, any_tilt, any_fold, any_wave, any_sheet, sleeve};
    const int rounds = getenv("TL_LONG") ? 30 : 6;
    int tangled = 0, healed = 0;
    for (int n = 0; n < KINDS * rounds; n++) {
        const int kind = n % KINDS;
        for (int i = 0; i < 6; i++) dice[i] = tl_random(9, (uint64_t)n, (uint64_t)i);
        shape s = {0}, b = {0};
        if (kind < 2 || kind == 3) add_grid(&s, 20, 20, false, flat);
        add_grid(&s, 25, 25, kind == 5, kinds[kind]);
        close_shape(&s);
        if (kind == 4) b = ball((tl_vec3){0.1 * dice[0], -0.1 * dice[2], 0.1 * dice[3]}, 0.2, 6 + n % 5);
        if (kind == 5)
            b = ball((tl_vec3){0.03 * dice[0], 0.2 + 0.1 * dice[1], 0.03 * dice[2]}, 0.05 + 0.03 * dice[4], 10);
        const shape *body = kind >= 4 ? &b : NULL;
        if (crossings(&s, NULL) + (body ? crossings(&s, body) : 0) > 0) {
            const tl_heal_report r = heal("random", &s, body, 0.002, NULL);
            tangled++, healed += r.crossings_after == 0;
        }
        free_shape(&s);
        if (body) free_shape(&b);
    }
    print_message("%d of %d random tangles came apart\n", healed, tangled);
    assert_true(tangled > 3 * rounds && healed >= 0.9 * tangled);
}

typedef struct budget {
    int32_t left, in_use;
} budget;

static void *resize_within(void *user, void *ptr, size_t old_size, size_t new_size)
{
    budget *b = user;
    if (new_size > 0 && b->left-- <= 0) return NULL;
    b->in_use += (new_size > 0) - (old_size > 0 && ptr);
    const tl_allocator libc = tl_allocator_default();
    return libc.resize(libc.user, ptr, old_size, new_size);
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    shape s = {0}, b = ball((tl_vec3){0.05, -0.13, 0.02}, 0.2, 3);
    add_grid(&s, 6, 6, false, over_ball);
    add_grid(&s, 5, 5, false, tilted);
    close_shape(&s);
    const size_t bytes = (size_t)s.surface.node_count * sizeof *s.x;
    tl_vec3 *before = memcpy(malloc(bytes), s.x, bytes);
    for (int32_t allowed = 0, done = 0; !done; allowed++) {
        budget left = {allowed, 0};
        tl_arena arena;
        tl_arena_init(&arena, (tl_allocator){resize_within, &left});
        tl_heal_report r;
        tl_heal_def def = tl_heal_def_default();
        const tl_heal_body one = {b.surface, b.x, 0.001};
        def.cloth = s.surface, def.distance = 0.001, def.bodies = &one, def.body_count = 1;
        const tl_status status = tl_heal(&def, s.x, &(tl_ctx){&arena, NULL}, &r, &err);
        done = status == TL_OK;
        if (!done) {
            assert_int_equal(status, TL_NO_MEMORY);
            assert_memory_equal(s.x, before, bytes);
        }
        tl_arena_free(&arena);
        assert_int_equal(left.in_use, 0);
        assert_true(allowed < 20000);
    }
    free(before);
    free_shape(&s), free_shape(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheets_that_cross_slightly),
        cmocka_unit_test(a_corner_through_its_own_sheet),
        cmocka_unit_test(a_corner_through_a_ball),
        cmocka_unit_test(a_sleeve_around_a_limb),
        cmocka_unit_test(what_is_held_stays),
        cmocka_unit_test(same_bits_on_any_number_of_workers),
        cmocka_unit_test(random_tangles),
        cmocka_unit_test(every_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
