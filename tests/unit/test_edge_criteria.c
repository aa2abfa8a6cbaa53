// Criteria of edge trees: thresholds with their gap, waits, masks, collision with a level of its own, what is hidden.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "adapt/edge_trees/criteria.h"

enum { SIDE = 4, ROOM = 20000 };

typedef struct world {
    tl_trees *m;
    tl_trees_rules rules;
    tl_trees_sight sight;
    tl_vec3 pos[ROOM], normal[ROOM];
    uint8_t visible[ROOM];
    double bend;     // [1/m] curvature of the cylinder that the sheet is rolled to
    double squeeze;  // factor on its width and height
    tl_vec3 ball;
    double radius;
} world;

static void ok(tl_status status, const tl_error *err)
{
    if (status != TL_OK) fail_msg("%s", err->message);
}

static bool inside(void *self, tl_vec3 x)
{
    const world *w = self;
    return hypot(hypot(x.x - w->ball.x, x.y - w->ball.y), x.z - w->ball.z) < w->radius;
}

static void made(void *self, int32_t v, int32_t a, int32_t b)
{
    world *w = self;
    assert_true(v < ROOM);
    w->visible[v] = w->visible[a] && w->visible[b];
    w->pos[v] = (tl_vec3){0.5 * (w->pos[a].x + w->pos[b].x), 0, 0.5 * (w->pos[a].z + w->pos[b].z)};
}

static world *make_world(uint32_t mask)
{
    world *w = calloc(1, sizeof *w);
    int32_t tri[2 * SIDE * SIDE][3], count = 0;
    tl_vec2 uv[2 * SIDE * SIDE][3];
    for (int32_t j = 0; j < SIDE; j++)
        for (int32_t i = 0; i < SIDE; i++) {
            const int32_t a = j * (SIDE + 1) + i,
                          two[2][3] = {{a, a + 1, a + SIDE + 2}, {a, a + SIDE + 2, a + SIDE + 1}};
            for (int k = 0; k < 2; k++, count++)
                for (int v = 0; v < 3; v++) {
                    tri[count][v] = two[k][v];
                    uv[count][v] = (tl_vec2){0.1 * (two[k][v] % (SIDE + 1)), 0.1 * (two[k][v] / (SIDE + 1))};
                }
        }
    const tl_trees_def def = {.tri = (const int32_t(*)[3])tri,
                              .uv = (const tl_vec2(*)[3])uv,
                              .tri_count = count,
                              .vert_count = (SIDE + 1) * (SIDE + 1)};
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    ok(tl_trees_create(&alloc, &def, &w->m, &err), &err);
    w->rules = tl_trees_rules_default(), w->rules.mask = mask, w->rules.rejoin_wait = 0;
    w->squeeze = 1;
    w->sight = (tl_trees_sight){
        .pos = w->pos, .normal = w->normal, .visible = w->visible, .inside = inside, .made = made, .self = w};
    return w;
}

static void free_world(world *w) { tl_trees_destroy(w->m), free(w); }

// Places every vertex by its material coordinates: rolled about z, or squeezed both ways.
static void place(world *w)
{
    for (int32_t t = 0; t < tl_trees_count(w->m).tri_slots; t++) {
        const tl_trees_tri *tri = tl_trees_tri_at(w->m, t);
        if (!tri || !(tri->flags & TL_TREES_TRI_LIVE)) continue;
        for (int k = 0; k < 3; k++) {
            const double angle = w->bend * tri->uv[k].x;
            const int32_t v = tri->vert[k];
            w->normal[v] = (tl_vec3){sin(angle), cos(angle), 0};
            w->pos[v] = w->bend > 0 ? (tl_vec3){sin(angle) / w->bend, cos(angle) / w->bend, -tri->uv[k].y}
                                    : (tl_vec3){w->squeeze * tri->uv[k].x, 0, -w->squeeze * tri->uv[k].y};
        }
    }
}

static tl_trees_report update(world *w)
{
    tl_trees_report report;
    tl_error err;
    place(w);
    ok(tl_trees_adapt(w->m, &w->rules, &w->sight, NULL, &report, &err), &err);
    ok(tl_trees_check(w->m, &err), &err);
    return report;
}

static int32_t tris(world *w)
{
    tl_trees_lists l;
    tl_error err;
    ok(tl_trees_build_lists(w->m, &l, &err), &err);
    return l.tri_count;
}

static int deepest(world *w)
{
    int level = 0;
    for (int32_t e = 0; e < tl_trees_count(w->m).edge_slots; e++) {
        const tl_trees_edge *edge = tl_trees_edge_at(w->m, e);
        if (edge && edge->flags & TL_TREES_EDGE_LIVE && edge->level > level) level = edge->level;
    }
    return level;
}

static void curvature_splits_beyond_one_angle_and_joins_below_the_other(void **state)
{
    (void)state;
    world *w = make_world(TL_TREES_BY_CURVATURE);
    const double degree = 3.14159265358979323846 / 180;
    w->rules.split_angle = 8 * degree, w->rules.join_angle = 4 * degree;
    w->bend = 7.9 * degree / 0.1;  // along an edge of the base
    assert_int_equal(update(w).splits, 0);
    w->bend = 8.1 * degree / 0.1;
    const int32_t before = tris(w);
    assert_true(update(w).splits > 0);
    assert_int_equal(deepest(w), 1);  // one level in one update
    for (int k = 0; k < 4; k++) update(w);
    const int32_t fine = tris(w);
    assert_true(fine > before);
    w->bend = 4.1 * degree / 0.1;  // between: nothing changes
    for (int k = 0; k < 20; k++) {
        const tl_trees_report r = update(w);
        assert_int_equal(r.splits + r.joins, 0);
    }
    assert_int_equal(tris(w), fine);
    w->bend = 3.9 * degree / 0.1;
    for (int k = 0; k < 6; k++) update(w);
    assert_int_equal(tris(w), before);
    free_world(w);
}

static void a_pose_at_rest_does_not_flicker(void **state)
{
    (void)state;
    world *w = make_world(TL_TREES_BY_CURVATURE | TL_TREES_BY_LENGTH | TL_TREES_BY_COLLISION | TL_TREES_ALWAYS_JOIN);
    w->rules.rejoin_wait = 3, w->bend = 2.5;
    w->ball = (tl_vec3){0.2, 0.35, -0.2}, w->radius = 0.12;
    for (int k = 0; k < 10; k++) update(w);
    for (int k = 0; k < 100; k++) {
        const tl_trees_report r = update(w);
        assert_int_equal(r.splits + r.joins, 0);
    }
    free_world(w);
}

// Of edges that may still be split: the largest turn of the normal along one [rad].
static double largest_turn(world *w)
{
    tl_trees_lists l;
    tl_error err;
    double turn = 0;
    ok(tl_trees_build_lists(w->m, &l, &err), &err);
    place(w);
    for (int32_t i = 0; i < l.edge_count; i++) {
        const tl_vec3 a = w->normal[l.edge[i].a], b = w->normal[l.edge[i].b];
        if (tl_trees_edge_at(w->m, l.edge[i].edge)->level < w->rules.max_level)
            turn = fmax(turn, acos(fmin(1, a.x * b.x + a.y * b.y + a.z * b.z)));
    }
    return turn;
}

static void a_sheet_that_bends_one_way_is_refined_to_the_end(void **state)
{
    (void)state;
    for (uint32_t more = 0; more <= TL_TREES_ALWAYS_JOIN; more += TL_TREES_ALWAYS_JOIN) {
        world *w = make_world(TL_TREES_BY_CURVATURE | TL_TREES_UNLOCK | more), *locked = make_world(w->rules.mask);
        locked->rules.mask &= ~(uint32_t)TL_TREES_UNLOCK;
        w->bend = locked->bend = 5;  // half a radian along an edge of the base; edges along the roll are straight
        for (int k = 0; k < 12; k++) update(w), update(locked);
        assert_true(largest_turn(w) <= w->rules.split_angle);
        assert_int_equal(deepest(locked), 1);  // as published: children of triangles that are not split all around wait
        for (int k = 0; k < 100; k++) {
            const tl_trees_report r = update(w);
            assert_int_equal(r.splits + r.joins, 0);
        }
        w->bend = 0;
        for (int k = 0; k < 12; k++) update(w);
        assert_int_equal(tris(w), 2 * SIDE * SIDE);
        free_world(w), free_world(locked);
    }
}

static void length_refines_what_is_pushed_together_alone(void **state)
{
    (void)state;
    world *w = make_world(TL_TREES_BY_LENGTH);
    w->squeeze = 1.2;  // stretched: no reason (light particles and large forces)
    assert_int_equal(update(w).splits, 0);
    w->squeeze = 0.985;  // between the thresholds
    assert_int_equal(update(w).splits, 0);
    w->squeeze = 0.97;
    for (int k = 0; k < 3; k++) assert_true(update(w).splits > 0);
    assert_int_equal(deepest(w), 3);
    w->rules.max_level = 1;  // changed on the way: edges beyond it have no reason left
    w->squeeze = 1;
    for (int k = 0; k < 4; k++) update(w);
    assert_int_equal(tris(w), 2 * SIDE * SIDE);
    w->rules.mask = TL_TREES_BY_LEVEL_LENGTH, w->rules.max_level = 3;
    w->rules.split_length = 0.8, w->rules.join_length = 0.82, w->rules.level_factor = 0.9;
    w->squeeze = 0.75;  // below 0.8, above 0.72: one level
    for (int k = 0; k < 4; k++) update(w);
    assert_int_equal(deepest(w), 1);
    free_world(w);
}

static void collision_refines_to_a_level_of_its_own(void **state)
{
    (void)state;
    world *w = make_world(TL_TREES_BY_COLLISION);
    w->rules.max_level = 0, w->rules.collision_level = 2;
    w->ball = (tl_vec3){0.2, -0.05, -0.2}, w->radius = 0.15;
    for (int k = 0; k < 5; k++) update(w);
    assert_int_equal(deepest(w), 2);
    w->rules.mask = 0;  // switched off: no criterion says anything, and all agree to join
    for (int k = 0; k < 5; k++) update(w);
    assert_int_equal(tris(w), 2 * SIDE * SIDE);
    free_world(w);
}

// An arc of 0.1 m stands off by bend * 0.1^2 / 8, halved edges by a quarter of that; a sheet that is pushed together as
// far as the half wave that it would be.
static void sag_is_the_same_at_every_level(void **state)
{
    (void)state;
    world *w = make_world(TL_TREES_BY_SAG | TL_TREES_UNLOCK);
    const double base = 0.1, bend = 2, first = sqrt(2) * bend * base * base / 8;  // of a diagonal
    for (int level = 0; level < 3; level++) {  // on either side of what edges of that level are off
        const double off = first / (1 << 2 * level);
        w->bend = bend;
        w->rules.split_sag = 1.05 * off, w->rules.join_sag = 0.9 * off;
        for (int k = 0; k < 6; k++) update(w);
        assert_int_equal(deepest(w), level);
        w->rules.split_sag = 0.95 * off;
        for (int k = 0; k < 6; k++) update(w);
        assert_int_equal(deepest(w), level + 1);
    }
    w->bend = 0, w->squeeze = 1;
    for (int k = 0; k < 10; k++) update(w);
    assert_int_equal(deepest(w), 0);
    const double wave = 2 / 3.14159265358979323846 * sqrt(0.01) * base;  // one part in a hundred along the sides
    w->squeeze = 0.99;
    w->rules.split_sag = 1.5 * wave, w->rules.join_sag = wave;  // diagonals are longer by a root of two
    assert_int_equal(update(w).splits, 0);
    w->rules.split_sag = 0.99 * wave, w->rules.join_sag = 0.9 * wave;
    for (int k = 0; k < 6; k++) update(w);
    assert_int_equal(deepest(w), 1);
    free_world(w);
}

static void joins_wait_their_time(void **state)
{
    (void)state;
    world *w = make_world(TL_TREES_BY_LENGTH);
    w->rules.rejoin_wait = 10, w->squeeze = 0.9;
    update(w);
    w->squeeze = 1;
    for (int k = 0; k < 10; k++) assert_int_equal(update(w).joins, 0);
    assert_true(update(w).joins > 0);
    free_world(w);
}

static void what_is_hidden_is_coarse_up_to_the_border(void **state)
{
    (void)state;
    world *w = make_world(TL_TREES_BY_LENGTH | TL_TREES_BY_VISIBILITY);
    w->squeeze = 0.9;
    for (int k = 0; k < 8; k++) {
        place(w);
        for (int32_t v = 0; v < ROOM; v++) w->visible[v] = w->pos[v].z > -0.201;  // the nearer half
        update(w);
    }
    // every edge in sight has full depth; far from it nothing is refined
    int32_t seen = 0;
    for (int32_t e = 0; e < tl_trees_count(w->m).edge_slots; e++) {
        const tl_trees_edge *edge = tl_trees_edge_at(w->m, e);
        if (!edge || !(edge->flags & TL_TREES_EDGE_LIVE) || edge->mid != TL_TREES_NONE) continue;
        const double a = w->pos[edge->a].z, b = w->pos[edge->b].z, dx = fabs(w->pos[edge->a].x - w->pos[edge->b].x);
        if (a > -0.201 && b > -0.201 && dx > -1) seen++, assert_int_equal(edge->level, 3);
        if (a < -0.301 && b < -0.301) assert_int_equal(edge->level, 0);
    }
    assert_true(seen > 100);
    memset(w->visible, 0, sizeof w->visible);
    for (int k = 0; k < 6; k++) {
        tl_trees_report report;
        tl_error err;
        ok(tl_trees_adapt(w->m, &w->rules, &w->sight, NULL, &report, &err), &err);
    }
    assert_int_equal(tris(w), 2 * SIDE * SIDE);
    free_world(w);
}

static void rules_are_checked(void **state)
{
    (void)state;
    tl_error err;
    tl_trees_rules r = tl_trees_rules_default();
    ok(tl_trees_check_rules(&r, &err), &err);
    r.join_angle = 1;
    assert_int_equal(tl_trees_check_rules(&r, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "join_angle"));
    r = tl_trees_rules_default(), r.max_level = 15;
    assert_int_equal(tl_trees_check_rules(&r, &err), TL_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curvature_splits_beyond_one_angle_and_joins_below_the_other),
        cmocka_unit_test(a_pose_at_rest_does_not_flicker),
        cmocka_unit_test(a_sheet_that_bends_one_way_is_refined_to_the_end),
        cmocka_unit_test(length_refines_what_is_pushed_together_alone),
        cmocka_unit_test(collision_refines_to_a_level_of_its_own),
        cmocka_unit_test(sag_is_the_same_at_every_level),
        cmocka_unit_test(joins_wait_their_time),
        cmocka_unit_test(what_is_hidden_is_coarse_up_to_the_border),
        cmocka_unit_test(rules_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
