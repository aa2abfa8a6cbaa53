// Edge trees: published counts, all transitions, every rule after random changes, and the way back.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "adapt/edge_trees/trees.h"
#include "adapt/edge_trees/trees_impl.h"

typedef struct sheet {
    int32_t (*tri)[3];
    tl_vec2 (*uv)[3];
    tl_trees_def def;
} sheet;

static sheet make_sheet(int32_t n)
{
    sheet s = {malloc(2 * (size_t)(n * n) * sizeof *s.tri), malloc(2 * (size_t)(n * n) * sizeof *s.uv), {0}};
    int32_t count = 0;
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
            const int32_t two[2][3] = {{a, b, d}, {a, d, c}};
            for (int k = 0; k < 2; k++, count++)
                for (int v = 0; v < 3; v++) {
                    s.tri[count][v] = two[k][v];
                    s.uv[count][v] = (tl_vec2){two[k][v] % (n + 1), two[k][v] / (n + 1)};
                }
        }
    s.def = (tl_trees_def){.tri = (const int32_t(*)[3])s.tri,
                           .uv = (const tl_vec2(*)[3])s.uv,
                           .tri_count = count,
                           .vert_count = (n + 1) * (n + 1)};
    return s;
}

static void free_sheet(sheet *s) { free(s->tri), free(s->uv); }

static void ok(tl_status status, const tl_error *err)
{
    if (status != TL_OK) fail_msg("%s", err->message);
}

static tl_trees *create(const tl_trees_def *def)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_trees *m;
    tl_error err;
    ok(tl_trees_create(&alloc, def, &m, &err), &err);
    return m;
}

static bool live(const tl_trees *m, int32_t e)
{
    const tl_trees_edge *edge = tl_trees_edge_at(m, e);
    return edge && edge->flags & TL_TREES_EDGE_LIVE;
}

static void commit(tl_trees *m)
{
    tl_error err;
    tl_trees_report report;
    ok(tl_trees_commit(m, (tl_trees_choice){0}, &report, &err), &err);
}

static void split_all(tl_trees *m, int32_t max_level)
{
    tl_error err;
    int32_t vert;
    const int32_t slots = tl_trees_count(m).edge_slots;
    for (int32_t e = 0; e < slots; e++)
        if (live(m, e) && tl_trees_may_split(m, e, max_level)) ok(tl_trees_split(m, e, &vert, &err), &err);
    commit(m);
}

static void join_all(tl_trees *m)
{
    tl_error err;
    for (int32_t e = 0; e < tl_trees_count(m).edge_slots; e++)
        if (live(m, e) && tl_trees_may_join(m, e)) ok(tl_trees_join(m, e, &err), &err);
    commit(m);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// The active mesh conforms: every directed edge once, inner ones both ways; areas add up; the lists say the same.
static void assert_conforming(tl_trees *m, double area)
{
    tl_trees_lists l;
    tl_error err;
    ok(tl_trees_build_lists(m, &l, &err), &err);
    uint64_t *half = malloc(3 * (size_t)l.tri_count * sizeof *half);
    double sum = 0;
    for (int32_t i = 0; i < l.tri_count; i++) {
        const tl_trees_tri *t = tl_trees_tri_at(m, l.tri[i]);
        const double twice = (t->uv[1].x - t->uv[0].x) * (t->uv[2].y - t->uv[0].y) -
                             (t->uv[1].y - t->uv[0].y) * (t->uv[2].x - t->uv[0].x);
        assert_true(twice > 0);
        sum += twice / 2;
        for (int k = 0; k < 3; k++) half[3 * i + k] = (uint64_t)t->vert[k] << 32 | (uint32_t)t->vert[(k + 1) % 3];
    }
    assert_true(fabs(sum - area) < 1e-9 * area);
    qsort(half, 3 * (size_t)l.tri_count, sizeof *half, by_value);
    for (int32_t i = 1; i < 3 * l.tri_count; i++) assert_true(half[i] != half[i - 1]);
    int32_t sides = 0;
    for (int32_t i = 0; i < l.edge_count; i++) {
        const tl_trees_leaf_edge *e = &l.edge[i];
        const uint64_t along = (uint64_t)e->a << 32 | (uint32_t)e->b, back = (uint64_t)e->b << 32 | (uint32_t)e->a;
        assert_true(e->tri[0] >= 0 && e->opposite[0] >= 0);
        assert_non_null(bsearch(&along, half, 3 * (size_t)l.tri_count, sizeof *half, by_value));
        assert_true((bsearch(&back, half, 3 * (size_t)l.tri_count, sizeof *half, by_value) != NULL) ==
                    (e->tri[1] >= 0));
        sides += 1 + (e->tri[1] >= 0);
    }
    assert_int_equal(sides, 3 * l.tri_count);
    assert_int_equal(l.vert_count - l.edge_count + l.tri_count, 1);
    free(half);
}

// Active neighbours differ by one level at most.
static void assert_graded(tl_trees *m)
{
    tl_trees_lists l;
    tl_error err;
    ok(tl_trees_build_lists(m, &l, &err), &err);
    for (int32_t i = 0; i < l.edge_count; i++) {
        if (l.edge[i].tri[1] < 0) continue;
        const int p = tl_trees_tri_at(m, l.tri[l.edge[i].tri[0]])->level;
        const int q = tl_trees_tri_at(m, l.tri[l.edge[i].tri[1]])->level;
        assert_true(abs(p - q) <= 1);
    }
}

static void uniform_counts_are_the_published_ones(void **state)
{
    (void)state;
    // Simnett 2012, Table 3.11: vertices, edges and triangles of the whole hierarchy over a 4 x 4 grid.
    const int32_t table[7][4] = {{32, 25, 56, 32},
                                 {128, 81, 264, 160},
                                 {512, 289, 1064, 672},
                                 {2048, 1089, 4200, 2720},
                                 {8192, 4225, 16616, 10912},
                                 {32768, 16641, 66024, 43680},
                                 {131072, 66049, 263144, 174752}};
    for (int storage = 0; storage < 2; storage++) {
        sheet s = make_sheet(4);
        s.def.storage = storage ? TL_TREES_SYSTEM : TL_TREES_POOL;
        tl_trees *m = create(&s.def);
        tl_error err;
        for (int32_t level = 0; level < 7; level++) {
            const tl_trees_counts n = tl_trees_count(m);
            tl_trees_lists l;
            ok(tl_trees_build_lists(m, &l, &err), &err);
            assert_int_equal(l.tri_count, table[level][0]);
            assert_int_equal(n.verts, table[level][1]);
            assert_int_equal(n.edges, table[level][2]);
            assert_int_equal(n.tris, table[level][3]);
            if (level < 6) split_all(m, 6);
        }
        ok(tl_trees_check(m, &err), &err);
        for (int32_t level = 5; level >= 0; level--) {
            join_all(m);
            assert_int_equal(tl_trees_count(m).tris, table[level][3]);
            assert_int_equal(tl_trees_count(m).edges, table[level][2]);
        }
        ok(tl_trees_check(m, &err), &err);
        for (int32_t i = 0; i < s.def.tri_count; i++)
            assert_memory_equal(tl_trees_tri_at(m, i)->vert, s.tri[i], sizeof s.tri[i]);
        tl_trees_destroy(m);
        free_sheet(&s);
    }
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13, *s ^= *s >> 7, *s ^= *s << 17;
    return *s;
}

// Splits and joins in one batch, in any order, as many as chance has it; how many there were.
static int random_update(tl_trees *m, uint64_t *random, int ops, int32_t max_level)
{
    tl_error err;
    int32_t vert;
    int done = 0;
    for (int i = 0; i < ops; i++) {
        const int32_t e = (int32_t)(next_random(random) % (uint64_t)tl_trees_count(m).edge_slots);
        if (!live(m, e)) continue;
        if (tl_trees_may_split(m, e, max_level)) {
            if (next_random(random) % 16 < 9) ok(tl_trees_split(m, e, &vert, &err), &err), done++;
        } else if (tl_trees_may_join(m, e)) {
            ok(tl_trees_join(m, e, &err), &err), done++;
        }
    }
    commit(m);
    return done;
}

static void random_changes_keep_every_rule(void **state)
{
    (void)state;
    const int operations = 1000000;
    sheet s = make_sheet(3);
    tl_trees *m = create(&s.def);
    tl_error err;
    uint64_t random = 88172645463325252u;
    for (int i = 0, done = 0; done < operations; i++) {
        done += random_update(m, &random, 1 + (int)(next_random(&random) % 80), 5);
        if (i % 50 == 0) ok(tl_trees_check(m, &err), &err);
        if (i % 250 == 0) assert_conforming(m, 9), assert_graded(m);
    }
    for (int i = 0; i < 6; i++) join_all(m);
    ok(tl_trees_check(m, &err), &err);
    const tl_trees_counts n = tl_trees_count(m);
    assert_int_equal(n.tris, s.def.tri_count);
    assert_int_equal(n.verts, s.def.vert_count);
    tl_trees_destroy(m);
    free_sheet(&s);
}

static int by_triple(const void *a, const void *b) { return memcmp(a, b, 6 * sizeof(double)); }

// Corners of active triangles in material space, smallest first: the active geometry, whatever the ids are.
static double (*geometry(tl_trees *m, int32_t *count))[6]
{
    tl_trees_lists l;
    tl_error err;
    ok(tl_trees_build_lists(m, &l, &err), &err);
    double(*out)[6] = calloc((size_t)l.tri_count, sizeof *out);
    for (int32_t i = 0; i < l.tri_count; i++) {
        const tl_vec2 *uv = tl_trees_tri_at(m, l.tri[i])->uv;
        int first = 0;
        for (int k = 1; k < 3; k++)
            if (uv[k].x < uv[first].x || (uv[k].x == uv[first].x && uv[k].y < uv[first].y)) first = k;
        for (int k = 0; k < 3; k++)
            out[i][2 * k] = 1 + uv[(first + k) % 3].x, out[i][2 * k + 1] = 1 + uv[(first + k) % 3].y;
    }
    qsort(out, (size_t)l.tri_count, sizeof *out, by_triple);
    *count = l.tri_count;
    return out;
}

// One triangle in every configuration, changed to every other, directly and by way of none.
static void every_transition_by_both_ways(void **state)
{
    (void)state;
    const int32_t tri[1][3] = {{0, 1, 2}};
    const tl_vec2 uv[1][3] = {{{0, 0}, {1, 0}, {0.3, 0.9}}};
    int done = 0;
    for (int from = 0; from < TL_TREES_CONFIGS; from++)
        for (int to = 0; to < TL_TREES_CONFIGS; to++) {
            const int a = tl_trees_configs[from].state, b = tl_trees_configs[to].state;
            if (a == b) continue;
            double(*seen[2])[6];
            int32_t count[2];
            int family[2];
            for (int way = 0; way < 2; way++) {
                const tl_trees_def def = {.tri = tri,
                                          .uv = uv,
                                          .tri_count = 1,
                                          .vert_count = 3,
                                          .transition = way ? TL_TREES_INDIRECT : TL_TREES_DIRECT};
                tl_trees *m = create(&def);
                tl_error err;
                int32_t vert;
                // Reach `from` over the one-edge state of its diagonal, which fixes the choice.
                const int lead = tl_trees_configs[from].family;
                for (int k = 0; k < 3; k++)
                    if (k == lead || (lead < 0 && a >> k & 1))
                        ok(tl_trees_split(m, tl_trees_tri_at(m, 0)->edge[k] / 2, &vert, &err), &err);
                commit(m);
                for (int k = 0; k < 3; k++)
                    if (lead >= 0 && k != lead && a >> k & 1)
                        ok(tl_trees_split(m, tl_trees_tri_at(m, 0)->edge[k] / 2, &vert, &err), &err);
                commit(m);
                assert_int_equal(tl_trees_tri_at(m, 0)->config, from);
                for (int k = 0; k < 3; k++) {
                    const int32_t e = tl_trees_tri_at(m, 0)->edge[k] / 2;
                    if (!(a >> k & 1) && b >> k & 1) ok(tl_trees_split(m, e, &vert, &err), &err);
                    if (a >> k & 1 && !(b >> k & 1)) ok(tl_trees_join(m, e, &err), &err);
                }
                commit(m);
                ok(tl_trees_check(m, &err), &err);
                assert_int_equal(tl_trees_tri_at(m, 0)->state, b);
                family[way] = tl_trees_configs[tl_trees_tri_at(m, 0)->config].family;
                seen[way] = geometry(m, &count[way]);
                assert_conforming(m, 0.45);
                tl_trees_destroy(m);
            }
            const int now = tl_trees_configs[from].family;
            const bool kept = now >= 0 && b >> now & 1 && b != 7;
            if (kept) assert_int_equal(family[0], now);  // the diagonal stays
            assert_int_equal(family[0], family[1]);
            assert_int_equal(count[0], count[1]);
            assert_memory_equal(seen[0], seen[1], (size_t)count[0] * sizeof *seen[0]);
            free(seen[0]), free(seen[1]);
            done++;
        }
    assert_int_equal(done, 104);  // of 110 ordered pairs, six would change no state
}

static void kept_inner_edges_keep_their_direction(void **state)
{
    (void)state;
    tl_trees_tables *tables = malloc(sizeof *tables);
    tl_trees_make_tables(tables);
    for (int c = 0; c < TL_TREES_CONFIGS; c++)
        for (int d = 0; d < TL_TREES_CONFIGS; d++)
            for (int k = 0; k < tl_trees_configs[d].edges; k++)
                if (tables->plan[c][d].edge_same[k])
                    assert_memory_equal(tl_trees_configs[c].edge[tables->plan[c][d].edge_from[k]],
                                        tl_trees_configs[d].edge[k], 2);
    free(tables);
}

static void ties_follow_the_policy(void **state)
{
    (void)state;
    const int32_t tri[1][3] = {{0, 1, 2}};
    const tl_vec2 uv[1][3] = {{{0, 0}, {1, 0}, {0.9, 2}}};
    // E0 and E1 are split: the diagonal goes from M0 to V2 (4) or from M1 to V0 (5), the shorter one at rest.
    const tl_vec3 pos[3] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0.1, 0}};     // in space M0-V2 is shorter
    const tl_vec3 normal[3] = {{0, 0, 1}, {0, 0, 1}, {0, 0.8, 0.6}};  // E1 is curved, E0 is not
    const struct {
        tl_trees_tie tie;
        int config;
    } cases[] = {
        {TL_TREES_TIE_FIRST, 4}, {TL_TREES_TIE_REST, 5}, {TL_TREES_TIE_LENGTH, 4}, {TL_TREES_TIE_CURVATURE, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tl_trees_def def = {.tri = tri, .uv = uv, .tri_count = 1, .vert_count = 3};
        tl_trees *m = create(&def);
        tl_error err;
        int32_t vert;
        for (int k = 0; k < 2; k++) ok(tl_trees_split(m, tl_trees_tri_at(m, 0)->edge[k] / 2, &vert, &err), &err);
        tl_trees_report report;
        ok(tl_trees_commit(m, (tl_trees_choice){cases[i].tie, pos, normal}, &report, &err), &err);
        assert_int_equal(tl_trees_tri_at(m, 0)->config, cases[i].config);
        assert_int_equal(report.splits, 2);
        assert_int_equal(report.retriangulated, 1);  // once, not once per edge
        tl_trees_destroy(m);
    }
}

static void locked_children_are_not_refined(void **state)
{
    (void)state;
    sheet s = make_sheet(1);
    tl_trees *m = create(&s.def);
    tl_error err;
    int32_t vert;
    const int32_t diagonal = tl_trees_tri_at(m, 0)->edge[2] / 2;
    ok(tl_trees_split(m, diagonal, &vert, &err), &err);
    const int32_t half = tl_trees_edge_at(m, diagonal)->child[0];
    assert_false(tl_trees_may_split(m, half, 9));  // new, one level an update
    commit(m);
    assert_false(tl_trees_may_split(m, half, 9));  // locked
    assert_true(tl_trees_may_join(m, diagonal));
    split_all(m, 9);
    assert_true(tl_trees_may_split(m, half, 9));
    assert_false(tl_trees_may_split(m, half, 1));
    ok(tl_trees_split(m, half, &vert, &err), &err);
    assert_false(tl_trees_may_join(m, diagonal));
    const int32_t border = tl_trees_tri_at(m, 0)->edge[0] / 2;
    assert_false(tl_trees_may_join(m, border));  // a tagged child counts as refined
    commit(m);
    assert_false(tl_trees_may_join(m, border));
    tl_trees_destroy(m);
    free_sheet(&s);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    const int32_t fan[3][3] = {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}}, turned[2][3] = {{0, 1, 2}, {0, 1, 3}};
    const tl_vec2 uv[3][3] = {{{0, 0}, {1, 0}, {0, 1}}, {{1, 0}, {0, 0}, {0, -1}}, {{0, 0}, {1, 0}, {1, 1}}};
    const tl_allocator alloc = tl_allocator_default();
    tl_trees *m;
    tl_error err;
    tl_trees_def def = {.tri = fan, .uv = uv, .tri_count = 3, .vert_count = 5};
    assert_int_equal(tl_trees_create(&alloc, &def, &m, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "3 faces meet"));
    def.tri = turned, def.tri_count = 2;
    assert_int_equal(tl_trees_create(&alloc, &def, &m, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "opposite orientation"));
    def.vert_count = 3;
    assert_int_equal(tl_trees_create(&alloc, &def, &m, &err), TL_BAD_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_counts_are_the_published_ones),
        cmocka_unit_test(random_changes_keep_every_rule),
        cmocka_unit_test(every_transition_by_both_ways),
        cmocka_unit_test(kept_inner_edges_keep_their_direction),
        cmocka_unit_test(ties_follow_the_policy),
        cmocka_unit_test(locked_children_are_not_refined),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
