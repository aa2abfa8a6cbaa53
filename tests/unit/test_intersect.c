// tests/unit/test_intersect.c: edges through faces against elimination in whole numbers, touching cases above all.

#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/timer.h"
#include "detect/intersect.h"

// --- oracle: is a + t (b - a) = p + u (q - p) + v (r - p) solvable with 0 <= t <= 1, u, v, 1 - u - v >= 0 ? --
// Equations are used up by substitution, inequalities by Fourier-Motzkin elimination; whole numbers throughout.

__extension__ typedef __int128 wide;
typedef struct row {
    wide c[4];
} row;  // c0 + c1 t + c2 u + c3 v >= 0

static wide gcd(wide a, wide b)
{
    a = a < 0 ? -a : a, b = b < 0 ? -b : b;
    while (b) {
        const wide r = a % b;
        a = b, b = r;
    }
    return a;
}

static row combine(wide f, const row *a, wide g, const row *b)
{
    row r;
    wide d = 0;
    for (int i = 0; i < 4; i++) r.c[i] = f * a->c[i] + g * b->c[i], d = gcd(d, r.c[i]);
    for (int i = 0; i < 4 && d > 1; i++) r.c[i] /= d;
    return r;
}

static bool oracle(int a[3], int b[3], int p[3], int q[3], int r[3])
{
    row equal[3], at_least[64] = {{{0, 1}}, {{1, -1}}, {{0, 0, 1}}, {{0, 0, 0, 1}}, {{1, 0, -1, -1}}};
    int count = 5;
    for (int k = 0; k < 3; k++) equal[k] = (row){{a[k] - p[k], b[k] - a[k], p[k] - q[k], p[k] - r[k]}};
    for (int k = 0; k < 3; k++) {
        int var = 1;
        while (var < 4 && equal[k].c[var] == 0) var++;
        if (var == 4) {
            if (equal[k].c[0] != 0) return false;
            continue;
        }
        const row use = equal[k];
        const wide pivot = use.c[var], size = pivot < 0 ? -pivot : pivot, sign = pivot < 0 ? -1 : 1;
        for (int i = k + 1; i < 3; i++) equal[i] = combine(size, &equal[i], -sign * equal[i].c[var], &use);
        for (int i = 0; i < count; i++) at_least[i] = combine(size, &at_least[i], -sign * at_least[i].c[var], &use);
    }
    for (int var = 1; var < 4; var++) {
        row next[64];
        int n = 0;
        for (int i = 0; i < count; i++) {
            if (at_least[i].c[var] == 0) next[n++] = at_least[i];
            for (int j = 0; at_least[i].c[var] > 0 && j < count; j++)
                if (at_least[j].c[var] < 0)
                    next[n++] = combine(-at_least[j].c[var], &at_least[i], at_least[i].c[var], &at_least[j]);
        }
        assert_true(n <= 64);
        for (int i = 0; i < n; i++) at_least[i] = next[i];
        count = n;
    }
    for (int i = 0; i < count; i++)
        if (at_least[i].c[0] < 0) return false;
    return true;
}

// --- single pairs ------------------------------------------------------------------------------------------

static uint64_t stream;
static int below(int n) { return (int)(tl_random(3, 5, stream++) * n); }

// Whole coordinates mapped to doubles without rounding, so the answer stays.
typedef struct frame {
    double scale, shift[3];
} frame;

static tl_vec3 place(const int c[3], const frame *f)
{
    return (tl_vec3){f->scale * (c[0] + f->shift[0]), f->scale * (c[1] + f->shift[1]), f->scale * (c[2] + f->shift[2])};
}

static bool ask(int c[5][3], const frame *f)
{
    tl_vec3 x[5];
    for (int i = 0; i < 5; i++) x[i] = place(c[i], f);
    const bool meets = tl_segment_meets_triangle(&x[0], &x[1], &x[2], &x[3], &x[4]);
    assert_int_equal(tl_segment_meets_triangle(&x[1], &x[0], &x[3], &x[4], &x[2]), meets);
    assert_int_equal(tl_segment_meets_triangle(&x[0], &x[1], &x[3], &x[2], &x[4]), meets);
    return meets;
}

static void against_oracle(int size, int rounds)
{
    const frame frames[] = {{1, {0}}, {0x1p-40, {0x1p20, -0x1p30, 3}}, {0x1p400, {0}}, {0x1p-500, {1, 2, 0x1p40}}};
    int meeting = 0;
    for (int n = 0; n < rounds; n++) {
        int c[5][3];
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < 3; k++) c[i][k] = below(size);
        const bool want = oracle(c[0], c[1], c[2], c[3], c[4]);
        meeting += want;
        if (ask(c, &frames[n % 4]) != want)
            for (int i = 0; i < 5; i++) print_error("%d %d %d\n", c[i][0], c[i][1], c[i][2]);
        assert_int_equal(ask(c, &frames[n % 4]), want);
    }
    print_message("grid of %d: %d of %d meet\n", size, meeting, rounds);
}

// Small grids: most pairs touch, lie in one plane or are degenerate.
static void grids(void **state)
{
    (void)state;
    against_oracle(2, 10000);
    against_oracle(3, 20000);
    against_oracle(4, 20000);
    against_oracle(8, 10000);
    against_oracle(1000, 5000);
}

// Every segment and triangle in the plane of a 3 x 3 grid, in all three planes: 9^5 pairs.
static void all_in_one_plane(void **state)
{
    (void)state;
    for (int n = 0; n < 59049; n++) {
        int c[5][3], m = n;
        for (int i = 0; i < 5; i++, m /= 9) {
            const int plane = n % 3;
            c[i][plane] = 1, c[i][(plane + 1) % 3] = m % 9 % 3, c[i][(plane + 2) % 3] = m % 9 / 3;
        }
        assert_int_equal(ask(c, &(frame){1, {0}}), oracle(c[0], c[1], c[2], c[3], c[4]));
    }
}

static void by_hand(void **state)
{
    (void)state;
    const tl_vec3 p = {0, 0, 0}, q = {1, 0, 0}, r = {0, 1, 0};
    const tl_vec3 up = {0.25, 0.25, 1}, down = {0.25, 0.25, -1}, on = {0.25, 0.25, 0}, above = {0.25, 0.25, 0x1p-1074};
    const tl_vec3 corner_up = {1, 0, 1}, corner_down = {1, 0, -1}, beside = {1, 0x1p-52, 0}, bad = {NAN, 0, 0};
    assert_true(tl_segment_meets_triangle(&up, &down, &p, &q, &r));
    assert_true(tl_segment_meets_triangle(&up, &on, &p, &q, &r));
    assert_true(tl_segment_meets_triangle(&on, &on, &p, &q, &r));
    assert_false(tl_segment_meets_triangle(&up, &above, &p, &q, &r));  // the smallest distance there is
    assert_true(tl_segment_meets_triangle(&corner_up, &corner_down, &p, &q, &r));
    assert_false(tl_segment_meets_triangle(&corner_up, &beside, &p, &q, &r));
    assert_true(tl_segment_meets_triangle(&p, &p, &p, &p, &p));
    assert_false(tl_segment_meets_triangle(&q, &q, &p, &p, &p));
    assert_false(tl_segment_meets_triangle(&bad, &down, &p, &q, &r));
    const tl_vec3 at = tl_segment_triangle_place(&up, &down, &p, &q, &r);
    assert_near(at.x, 0.25, 0), assert_near(at.y, 0.25, 0), assert_near(at.z, 0, 0);
}

// --- whole surfaces ----------------------------------------------------------------------------------------

enum { MAX_FACES = 300, MAX_NODES = 3 * MAX_FACES };

typedef struct soup {
    int32_t face[MAX_FACES][3], edge[3 * MAX_FACES][2];
    int at[MAX_NODES][3];
    tl_vec3 x[MAX_NODES];
    tl_surface surface;
} soup;

// Faces on shared and own nodes of a grid.
static soup *make_soup(int faces, int nodes, int size)
{
    soup *s = calloc(1, sizeof *s);
    int32_t edges = 0;
    for (int i = 0; i < nodes; i++) {
        for (int k = 0; k < 3; k++) s->at[i][k] = below(size);
        s->x[i] = place(s->at[i], &(frame){1, {0}});
    }
    for (int f = 0; f < faces; f++) {
        int32_t *c = s->face[f];
        do c[0] = below(nodes), c[1] = below(nodes), c[2] = below(nodes);
        while (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]);
        for (int k = 0; k < 3; k++) {
            const int32_t a = c[k], b = c[(k + 1) % 3], lo = a < b ? a : b, hi = a < b ? b : a;
            int e = 0;
            while (e < edges && (s->edge[e][0] != lo || s->edge[e][1] != hi)) e++;
            if (e == edges) s->edge[edges][0] = lo, s->edge[edges++][1] = hi;
        }
    }
    s->surface = (tl_surface){nodes, faces, edges, (const int32_t(*)[3])s->face, (const int32_t(*)[2])s->edge};
    return s;
}

static bool boxes_meet(const int a[3], const int b[3], const int p[3], const int q[3], const int r[3])
{
    for (int k = 0; k < 3; k++) {
        if (a[k] > p[k] && b[k] > p[k] && a[k] > q[k] && b[k] > q[k] && a[k] > r[k] && b[k] > r[k]) return false;
        if (a[k] < p[k] && b[k] < p[k] && a[k] < q[k] && b[k] < q[k] && a[k] < r[k] && b[k] < r[k]) return false;
    }
    return true;
}

static int32_t brute(soup *a, soup *b, int32_t side, tl_crossing *out)
{
    int32_t n = 0;
    for (int32_t e = 0; e < a->surface.edge_count; e++)
        for (int32_t f = 0; f < b->surface.face_count; f++) {
            const int32_t *i = a->edge[e], *t = b->face[f];
            bool shared = false;
            for (int k = 0; a == b && k < 3; k++) shared = shared || t[k] == i[0] || t[k] == i[1];
            if (!shared && boxes_meet(a->at[i[0]], a->at[i[1]], b->at[t[0]], b->at[t[1]], b->at[t[2]]) &&
                oracle(a->at[i[0]], a->at[i[1]], b->at[t[0]], b->at[t[1]], b->at[t[2]]))
                out[n++] = (tl_crossing){side, e, f};
        }
    return n;
}

static void surfaces_against_all_pairs(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_workers *workers[2] = {NULL, NULL};
    assert_ok(tl_workers_create(&alloc, 3, &workers[1], &err));
    tl_crossing *want = malloc(2 * sizeof *want * 3 * MAX_FACES * MAX_FACES);
    const int sizes[] = {3, 6, 12, 100};
    for (int round = 0; round < 12; round++) {
        soup *a = make_soup(round < 4 ? 60 : 120, round < 4 ? 40 : 200, sizes[round % 4]);
        soup *b = round % 3 ? make_soup(60, 80, sizes[round % 4]) : NULL;
        const tl_bvh_def def = tl_bvh_def_default();
        tl_bvh *ta = NULL, *tb = NULL;
        assert_ok(tl_bvh_create(&alloc, &def, &a->surface, a->x, &ta, &err));
        tl_bvh_refit(ta, a->x, NULL, 0, 0, NULL);
        if (b) assert_ok(tl_bvh_create(&alloc, &def, &b->surface, b->x, &tb, &err));
        if (b) tl_bvh_refit(tb, b->x, NULL, 0, 0, NULL);
        int32_t count = brute(a, b ? b : a, 0, want);
        if (b) count += brute(b, a, 1, want + count);
        for (int w = 0; w < 2; w++) {
            tl_crossings found;
            tl_crossings_init(&found, alloc);
            assert_ok(tl_find_crossings(ta, tb, &arena, workers[w], &found, &err));
            assert_int_equal(found.count, count);
            for (int32_t i = 0; i < count; i++) {
                assert_int_equal(found.items[i].edge_surface, want[i].edge_surface);
                assert_int_equal(found.items[i].edge, want[i].edge);
                assert_int_equal(found.items[i].face, want[i].face);
            }
            tl_crossings_free(&found);
        }
        tl_bvh_destroy(ta), tl_bvh_destroy(tb);
        free(a), free(b);
    }
    free(want);
    tl_workers_destroy(workers[1]);
    tl_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(grids),
        cmocka_unit_test(all_in_one_plane),
        cmocka_unit_test(surfaces_against_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
