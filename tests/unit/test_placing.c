// tests/unit/test_placing.c: parts of a body found from its shape, panels placed around them, and what the openings of
// a sewn garment go around.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dress/openings.h"
#include "dress/place.h"
#include "dress/place_words.h"
#include "dress/raise.h"
#include "math/vec3.h"
#include "toile/core.h"

// ---- a doll of tubes: 1.7 m, arms at 45 degrees ----------------------------------------------------------------

enum { AROUND = 16, ALONG = 24, DOLL_VERTS = 6 * AROUND * ALONG, DOLL_FACES = 6 * 2 * AROUND * (ALONG - 1) };

typedef struct doll {
    tl_vec3 x[DOLL_VERTS];
    int32_t face[DOLL_FACES][3];
    int32_t verts, faces;
} doll;

static void add_tube(doll *d, tl_vec3 from, tl_vec3 to, double radius)
{
    const tl_vec3 a = tl_unit3_or(tl_sub3(to, from), (tl_vec3){0, 1, 0});
    const tl_vec3 u = {0, 0, 1}, v = tl_cross3(a, u);
    const int32_t first = d->verts;
    for (int i = 0; i < ALONG; i++)
        for (int k = 0; k < AROUND; k++) {
            const double t = 2 * M_PI * k / AROUND, r = i == 0 || i == ALONG - 1 ? 0.5 * radius : radius;
            const tl_vec3 c = tl_madd3(from, (double)i / (ALONG - 1), tl_sub3(to, from));
            d->x[d->verts++] = tl_madd3(tl_madd3(c, r * cos(t), u), r * sin(t), v);
        }
    for (int i = 0; i + 1 < ALONG; i++)
        for (int k = 0; k < AROUND; k++) {
            const int32_t p = first + i * AROUND + k, q = first + i * AROUND + (k + 1) % AROUND;
            memcpy(d->face[d->faces++], (int32_t[3]){p, q, p + AROUND}, sizeof *d->face);
            memcpy(d->face[d->faces++], (int32_t[3]){q, q + AROUND, p + AROUND}, sizeof *d->face);
        }
}

static void make_doll(doll *d)
{
    *d = (doll){.verts = 0};
    add_tube(d, (tl_vec3){0, 0.78, 0}, (tl_vec3){0, 1.42, 0}, 0.14);
    add_tube(d, (tl_vec3){0, 1.40, 0}, (tl_vec3){0, 1.70, 0}, 0.06);
    for (int s = -1; s <= 1; s += 2) {
        add_tube(d, (tl_vec3){s * 0.09, 0, 0}, (tl_vec3){s * 0.09, 0.8, 0}, 0.06);
        add_tube(d, (tl_vec3){s * 0.10, 1.38, 0}, (tl_vec3){s * 0.55, 0.93, 0}, 0.045);
    }
}

static tl_figure figure_of(const doll *d)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_figure f;
    tl_error err;
    assert_ok(tl_figure_find(&alloc, d->x, d->verts, (const int32_t(*)[3])d->face, d->faces, &f, &err));
    return f;
}

static doll body;

static void parts_are_found(void **state)
{
    (void)state;
    make_doll(&body);
    const tl_figure f = figure_of(&body);
    assert_true(f.has_arms && f.has_legs);
    assert_near(f.crotch, 0.79, 0.03);
    assert_true(f.waist > f.crotch + 0.1 && f.waist < 1.3);
    for (int side = 0; side < 2; side++) {
        const tl_limb_line *arm = &f.limb[side ? TL_LIMB_RIGHT_ARM : TL_LIMB_LEFT_ARM],
                           *leg = &f.limb[side ? TL_LIMB_RIGHT_LEG : TL_LIMB_LEFT_LEG];
        const double s = side ? -1 : 1;
        assert_true(arm->count > 2 && leg->count > 2);
        assert_near(arm->at[arm->count - 1].x, s * 0.57, 0.04);
        assert_near(arm->at[0].x, s * 0.16, 0.05);
        assert_near(arm->at[0].y, 1.32, 0.06);
        assert_near(leg->at[leg->count / 2].x, s * 0.09, 0.01);
        assert_near(leg->at[leg->count - 1].y, 0, 1e-9);
    }
    // a sheet has no height, legs and a head no trunk
    for (int32_t v = 0; v < body.verts; v++) body.x[v].y = 0;
    const tl_allocator alloc = tl_allocator_default();
    tl_figure other;
    tl_error err;
    assert_int_equal(
        tl_figure_find(&alloc, body.x, body.verts, (const int32_t(*)[3])body.face, body.faces, &other, &err),
        TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "no height"));
    make_doll(&body);
    for (int32_t v = 0; v < body.verts; v++) body.x[v].x += 3 * (body.x[v].y > 0.75 && body.x[v].y < 1.3);
    assert_int_equal(
        tl_figure_find(&alloc, body.x, body.verts, (const int32_t(*)[3])body.face, body.faces, &other, &err),
        TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "upright"));
}

// Raised arms lie level; the trunk stays.
static void arms_are_raised(void **state)
{
    (void)state;
    static tl_vec3 x[DOLL_VERTS];
    make_doll(&body);
    const tl_figure f = figure_of(&body);
    memcpy(x, body.x, sizeof x);
    tl_body_raise_arms(&f, body.x, body.verts, 0, x);
    double lowest = 10, moved = 0;
    for (int32_t v = 0; v < body.verts; v++) {
        if (fabs(body.x[v].x) > 0.3) lowest = fmin(lowest, x[v].y);
        if (fabs(body.x[v].x) < 0.13) moved = fmax(moved, tl_norm3(tl_sub3(x[v], body.x[v])));
    }
    assert_true(lowest > 1.2);
    assert_near(moved, 0, 1e-12);
}

// ---- openings -------------------------------------------------------------------------------------------------

static tl_pattern *two_panels(const char *a, const char *b)
{
    tl_pattern *p;
    tl_error err;
    const tl_vec2 corner[4] = {{0, 0}, {0.5, 0}, {0.5, 0.6}, {0, 0.6}};
    assert_ok(tl_pattern_create(NULL, &p, &err));
    for (int i = 0; i < 2; i++) {
        int32_t panel;
        assert_ok(tl_pattern_add_panel(p, i ? b : a, NULL, &panel, &err));
        for (int k = 0; k < 4; k++) {
            const tl_segment line = {.kind = TL_SEGMENT_LINE, .from = corner[k], .to = corner[(k + 1) % 4]};
            assert_ok(tl_pattern_add_edge(p, panel, &line, 1, NULL, NULL, &err));
        }
    }
    const tl_seam seam = {"", {{0, 1, 1, 0, 1}, {1, 3, 1, 1, 0}}, 0},
                  other = {"", {{0, 3, 1, 0, 1}, {1, 1, 1, 1, 0}}, 0};
    assert_ok(tl_pattern_add_seam(p, &seam, NULL, &err));
    assert_ok(tl_pattern_add_seam(p, &other, NULL, &err));
    assert_ok(tl_pattern_check(p, &err));
    return p;
}

// A tube of two rings around an axis, half of it of either panel.
static tl_garment tube(tl_vec3 from, tl_vec3 to, double radius)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_garment g;
    tl_error err;
    const tl_vec3 a = tl_unit3_or(tl_sub3(to, from), (tl_vec3){0, 1, 0}), u = {0, 0, 1}, v = tl_cross3(a, u);
    assert_ok(tl_garment_alloc(&alloc, 2 * AROUND, 2 * AROUND, 2 * AROUND, &g, &err));
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < AROUND; k++) {
            const double t = 2 * M_PI * k / AROUND;
            g.pos[i * AROUND + k] = tl_madd3(tl_madd3(i ? to : from, radius * cos(t), u), radius * sin(t), v);
        }
    for (int k = 0; k < AROUND; k++) {
        const int32_t p = k, q = (k + 1) % AROUND;
        memcpy(g.face[2 * k], (int32_t[3]){p, q, p + AROUND}, sizeof *g.face);
        memcpy(g.face[2 * k + 1], (int32_t[3]){q, q + AROUND, p + AROUND}, sizeof *g.face);
        g.face_panel[2 * k] = g.face_panel[2 * k + 1] = k < AROUND / 2;
    }
    for (int i = 0; i < 2 * AROUND; i++) g.vert_node[i] = i, g.vert_panel[i] = 0, g.sewn[i] = i;
    return g;
}

static bool fault_of(const tl_garment *g, const tl_figure *f, char text[280])
{
    tl_opening list[TL_OPENINGS];
    int32_t count;
    tl_error err;
    tl_pattern *p = two_panels("front", "back");
    assert_ok(tl_garment_openings(g, f, list, TL_OPENINGS, &count, &err));
    assert_int_equal(count, 2);
    const bool fault = tl_openings_fault(list, count, f, p, text, 280);
    tl_pattern_destroy(p);
    return fault;
}

static void openings_know_what_they_go_around(void **state)
{
    (void)state;
    make_doll(&body);
    const tl_figure f = figure_of(&body);
    char text[280];
    const struct {
        tl_vec3 from, to;
        double radius;
        const char *says;  // NULL: nothing is wrong
    } cases[] = {
        {{0, 0.9, 0}, {0, 1.2, 0}, 0.2, NULL},                                // a skirt around the trunk
        {{0, 0.4, 0}, {0, 1.1, 0}, 0.25, NULL},                               // its hem around both legs
        {{0.09, 0.3, 0}, {0.09, 0.6, 0}, 0.08, "around the left leg"},        // all of it on one leg
        {{-0.3, 1.18, 0}, {-0.4, 1.08, 0}, 0.08, "around the right arm"},     // .. on an arm
        {{0.3, 1.18, 0.12}, {0.4, 1.08, 0.12}, 0.08, "beside the left arm"},  // before it
        {{0.3, 1.40, 0}, {0.4, 1.30, 0}, 0.08, "beside the left arm"},        // above it
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_garment g = tube(cases[i].from, cases[i].to, cases[i].radius);
        const bool fault = fault_of(&g, &f, text);
        if (fault != (cases[i].says != NULL) || (fault && !strstr(text, cases[i].says)))
            fail_msg("case %d says '%s'", (int)i, text);
        tl_garment_free(&g);
    }
}

static tl_opening around(int head, int la, int ra, int ll, int rl)
{
    return (tl_opening){
        .length = 0.6, .middle = {0, 0.9, 0}, .panel = {0, 1}, .turns = {head, la, ra, ll, rl}, .most = 1};
}

// Trousers: waist, two hems. With both legs in one hem the other is empty.
static void trousers_are_judged(void **state)
{
    (void)state;
    make_doll(&body);
    const tl_figure f = figure_of(&body);
    tl_pattern *p = two_panels("front", "back");
    char text[280];
    const tl_opening right[3] = {around(1, 1, 1, 0, 0), around(0, 0, 0, 1, 0), around(1, 1, 1, 1, 0)};
    assert_false(tl_openings_fault(right, 3, &f, p, text, sizeof text));
    tl_opening wrong[3] = {around(0, 0, 0, 1, 1), around(1, 1, 1, 0, 0), around(0, 0, 0, 0, 0)};
    wrong[2].most = 0, wrong[2].middle = (tl_vec3){0.2, 0.5, 0};
    assert_true(tl_openings_fault(wrong, 3, &f, p, text, sizeof text));
    assert_non_null(strstr(text, "beside the left leg"));
    const tl_opening crossed[2] = {around(0, 1, 0, 1, 0), around(1, 0, 1, 0, 1)};
    assert_true(tl_openings_fault(crossed, 2, &f, p, text, sizeof text));
    assert_non_null(strstr(text, "left arm and left leg"));
    tl_opening twice = around(0, 0, 0, 2, 0);
    twice.most = 2;
    assert_true(tl_openings_fault(&twice, 1, &f, p, text, sizeof text));
    assert_non_null(strstr(text, "wound 2 times around left leg"));
    const tl_opening shoulder[3] = {around(1, 1, 0, 0, 0), around(0, 0, 1, 0, 0), around(0, 0, 0, 1, 1)};
    assert_false(tl_openings_fault(shoulder, 3, &f, p, text, sizeof text));  // a dress on one shoulder
    tl_pattern_destroy(p);
}

// ---- words and places -----------------------------------------------------------------------------------------

static void names_are_read(void **state)
{
    (void)state;
    const struct {
        const char *name;
        tl_worn region;
        int side, face;
    } cases[] = {
        {"left_sleeve_b", TL_WORN_ARM, 1, -1},   {"rfsleeve", TL_WORN_ARM, -1, 1},
        {"pant_f_r", TL_WORN_LEG, -1, 1},        {"wb_back", TL_WORN_WAIST, 0, -1},
        {"right_btorso", TL_WORN_TORSO, -1, -1}, {"Lhood", TL_WORN_HEAD, 1, 0},
        {"SkirtFront", TL_WORN_HIPS, 0, 1},      {"piece 7", TL_WORN_UNKNOWN, 0, 0},
        {"front_left", TL_WORN_UNKNOWN, 1, 1},   {"bagel", TL_WORN_UNKNOWN, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tl_panel_words w = tl_words_of(cases[i].name);
        if (w.region != cases[i].region || w.side != cases[i].side || w.face != cases[i].face)
            fail_msg("%s: region %d, side %d, face %d", cases[i].name, (int)w.region, w.side, w.face);
    }
}

static tl_vec3 middle_of(const tl_panel *p)
{
    tl_vec3 sum = {0, 0, 0};
    for (int32_t e = 0; e < p->edge_count; e++)
        sum = tl_add3(sum, tl_placement_point(&p->placement, tl_edge_point(p, e, 0)));
    return tl_mul3(1.0 / p->edge_count, sum);
}

// The shared patterns without their places: every panel comes to the side and the face where its author put it.
static void patterns_are_placed_as_their_authors_did(void **state)
{
    (void)state;
    static const char *const names[] = {"tshirt_mean_all_specification",
                                        "shirt_mean_specification",
                                        "pants_mean_all_specification",
                                        "circle_skirt_dress_mean_all_specification",
                                        "hoody_mean_specification",
                                        "dress_pencil_specification",
                                        "skirt_4_panels",
                                        "tee",
                                        "jacket_hood",
                                        "pants_straight_sides"};
    const tl_allocator alloc = tl_allocator_default();
    make_doll(&body);
    const tl_figure f = figure_of(&body);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[600];
        tl_pattern *own, *p;
        tl_error err;
        tl_place_report r;
        snprintf(path, sizeof path, TL_TEST_DATA "/patterns/%s.json", names[i]);
        assert_ok(tl_pattern_load(path, &own, &err));
        assert_ok(tl_pattern_load(path, &p, &err));
        assert_ok(tl_pattern_place(&alloc, p, &f, true, &r, &err));
        assert_int_equal(r.placed, tl_pattern_panel_count(p));
        if (r.seam_distance > 0.6) fail_msg("%s: seams %g m apart", names[i], r.seam_distance);
        for (int32_t k = 0; k < r.placed; k++) {
            const tl_vec3 a = middle_of(tl_pattern_panel(own, k)), b = middle_of(tl_pattern_panel(p, k));
            const bool side = fabs(a.x) > 0.05 && a.x * b.x<0, face = fabs(a.z)> 0.05 && a.z * b.z < 0;
            if (side || face)
                fail_msg("%s, %s: at %g %g, by its author %g %g", names[i], tl_pattern_panel(p, k)->name, b.x, b.z, a.x,
                         a.z);
        }
        assert_ok(tl_pattern_place(&alloc, own, &f, false, &r, &err));
        assert_int_equal(r.placed, 0);
        tl_pattern_destroy(own), tl_pattern_destroy(p);
    }
}

// A sleeve of one piece is bent around the arm; a pocket lies on what it is sewn to; a name that says nothing is
// refused.
static void pieces_go_around_and_upon(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    make_doll(&body);
    const tl_figure f = figure_of(&body);
    tl_place_report r;
    tl_error err;
    tl_pattern *p = two_panels("front", "back");
    assert_int_equal(tl_pattern_place(&alloc, p, &f, false, &r, &err), TL_BAD_INPUT);  // of what?
    assert_ok(tl_pattern_set_name(p, "shirt", &err));
    int32_t sleeve, pocket;
    const tl_vec2 corner[4] = {{0, 0}, {0.36, 0}, {0.36, 0.5}, {0, 0.5}},
                  small[4] = {{0, 0}, {0.1, 0}, {0.1, 0.1}, {0, 0.1}};
    assert_ok(tl_pattern_add_panel(p, "sleeve", NULL, &sleeve, &err));
    assert_ok(tl_pattern_add_panel(p, "pocket", NULL, &pocket, &err));
    for (int k = 0; k < 4; k++) {
        const tl_segment a = {.kind = TL_SEGMENT_LINE, .from = corner[k], .to = corner[(k + 1) % 4]},
                         b = {.kind = TL_SEGMENT_LINE, .from = small[k], .to = small[(k + 1) % 4]};
        assert_ok(tl_pattern_add_edge(p, sleeve, &a, 1, NULL, NULL, &err));
        assert_ok(tl_pattern_add_edge(p, pocket, &b, 1, NULL, NULL, &err));
    }
    const tl_seam close = {"", {{sleeve, 1, 1, 0, 1}, {sleeve, 3, 1, 1, 0}}, 0},
                  cap = {"", {{sleeve, 2, 1, 0, 0.5}, {0, 2, 1, 0, 0.3}}, 0},
                  cap2 = {"", {{sleeve, 2, 1, 0.5, 1}, {1, 2, 1, 0.7, 1}}, 0},
                  hang = {"", {{pocket, 2, 1, 0, 1}, {0, 0, 1, 0.6, 0.4}}, 0};
    assert_ok(tl_pattern_add_seam(p, &close, NULL, &err));
    assert_ok(tl_pattern_add_seam(p, &cap, NULL, &err));
    assert_ok(tl_pattern_add_seam(p, &cap2, NULL, &err));
    assert_ok(tl_pattern_add_seam(p, &hang, NULL, &err));
    assert_ok(tl_pattern_place(&alloc, p, &f, false, &r, &err));
    assert_int_equal(r.wrapped, 1);
    const tl_panel *around_arm = tl_pattern_panel(p, sleeve);
    assert_true(fabs(around_arm->placement.bend) > 8);
    // both sides of its seam lie below the arm's line, the middle above
    const tl_limb_line *arm = &f.limb[TL_LIMB_LEFT_ARM];
    const tl_vec3 a = tl_unit3_or(tl_sub3(arm->at[arm->count - 1], arm->at[0]), (tl_vec3){1, 0, 0}),
                  up = {a.y * -1, a.x, 0};
    const tl_vec3 seam = tl_placement_point(&around_arm->placement, (tl_vec2){0, 0.25}),
                  top = tl_placement_point(&around_arm->placement, (tl_vec2){0.18, 0.25});
    const double side = tl_dot3(up, (tl_vec3){0, 1, 0}) > 0 ? 1 : -1;
    assert_true(side * tl_dot3(up, tl_sub3(top, arm->at[0])) > 0);
    assert_true(side * tl_dot3(up, tl_sub3(seam, arm->at[0])) < 0);
    assert_true(middle_of(tl_pattern_panel(p, pocket)).z > middle_of(tl_pattern_panel(p, 0)).z);
    tl_pattern_destroy(p);
    p = two_panels("x1", "x2");
    assert_int_equal(tl_pattern_place(&alloc, p, &f, false, &r, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "panel 'x1' cannot be placed"));
    tl_pattern_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_found),
        cmocka_unit_test(arms_are_raised),
        cmocka_unit_test(openings_know_what_they_go_around),
        cmocka_unit_test(trousers_are_judged),
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(patterns_are_placed_as_their_authors_did),
        cmocka_unit_test(pieces_go_around_and_upon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
