// tests/unit/test_grade.c: made to measure: panels scaled and lengthened by a measure, with their curves, darts and
// seams.

#include <math.h>
#include <string.h>

#include "check.h"
#include "toile/pattern.h"

// A panel of 0.5 x 0.4 m whose upper side is an arc, and a strip sewn to its lower side.
static tl_pattern *make(void)
{
    tl_error err;
    tl_pattern *p;
    assert_int_equal(tl_pattern_create(NULL, &p, &err), TL_OK);
    const tl_vec2 c[2][4] = {{{0, 0}, {0.5, 0}, {0.5, 0.4}, {0, 0.4}}, {{0, 0}, {0.5, 0}, {0.5, 0.05}, {0, 0.05}}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tl_pattern_add_panel(p, i ? "band" : "front", NULL, NULL, &err), TL_OK);
        for (int k = 0; k < 4; k++) {
            tl_segment s = {.kind = TL_SEGMENT_LINE, .from = c[i][k], .to = c[i][(k + 1) % 4]};
            if (i == 0 && k == 2) s = tl_segment_arc(s.from, s.to, 0.3, 0, 1);
            assert_int_equal(tl_pattern_add_edge(p, i, &s, 1, k == 0 ? "hem" : NULL, NULL, &err), TL_OK);
        }
    }
    const tl_seam seam = {"waist", {{0, 0, 1, 0, 1}, {1, 2, 1, 1, 0}}, 0};
    assert_int_equal(tl_pattern_add_seam(p, &seam, NULL, &err), TL_OK);
    assert_int_equal(tl_pattern_add_measure(p, "hip", 1.0, "m", &err), TL_OK);
    assert_int_equal(tl_pattern_add_measure(p, "length", 0.6, "m", &err), TL_OK);
    const tl_grade wider = {.panel = ""}, longer = {"FRONT", 1, 0.1, 0.3, 0.5, 1};
    assert_int_equal(tl_pattern_add_grade(p, 0, &wider, &err), TL_OK);
    assert_int_equal(tl_pattern_add_grade(p, 1, &longer, &err), TL_OK);
    assert_int_equal(tl_pattern_check(p, &err), TL_OK);
    return p;
}

static void a_measure_scales_its_panels(void **state)
{
    (void)state;
    tl_error err;
    tl_pattern *p = make(), *q;
    assert_int_equal(tl_pattern_grade(p, "hip", 1.2, &q, &err), TL_OK);
    for (int i = 0; i < 2; i++) {
        const double was = tl_pattern_panel(p, i)->area;
        assert_near(tl_pattern_panel(q, i)->area, 1.2 * was, 2e-6 * was);
    }
    assert_near(tl_pattern_panel(q, 1)->edges[0].length, 0.6, 1e-12);
    assert_near(tl_pattern_panel(q, 0)->curves[0].from.x, -0.05, 1e-12);  // the middle stays
    assert_int_equal(tl_pattern_seam_count(q), 1);
    assert_string_equal(tl_pattern_seam(q, 0)->label, "waist");
    assert_string_equal(tl_pattern_panel(q, 0)->edges[0].label, "hem");
    assert_near(tl_pattern_measure(q, 0)->value, 1.2, 0);
    assert_int_equal(tl_pattern_measure(q, 1)->grade_count, 1);
    tl_pattern_destroy(q);
    // the same value: the same shape, but for the arc, which is cubic curves now
    assert_int_equal(tl_pattern_grade(p, "hip", 1.0, &q, &err), TL_OK);
    assert_near(tl_pattern_panel(q, 0)->perimeter, tl_pattern_panel(p, 0)->perimeter, 1e-6);
    tl_pattern_destroy(q), tl_pattern_destroy(p);
}

// Half of 8 cm more between 0.1 and 0.3 m; what is above stays, what is below goes down.
static void a_measure_lengthens_a_stretch(void **state)
{
    (void)state;
    tl_error err;
    tl_pattern *p = make(), *q;
    assert_int_equal(tl_pattern_grade(p, "length", 0.68, &q, &err), TL_OK);
    const tl_panel *f = tl_pattern_panel(q, 0);
    assert_near(f->curves[0].from.y, -0.04, 1e-12);
    assert_near(f->edges[1].length, 0.44, 1e-12);
    assert_near(f->area, tl_pattern_panel(p, 0)->area + 0.5 * 0.04, 1e-6);
    assert_near(tl_pattern_panel(q, 1)->area, tl_pattern_panel(p, 1)->area, 1e-15);
    tl_pattern_destroy(q), tl_pattern_destroy(p);
}

static void every_panel_has_a_width_and_a_length(void **state)
{
    (void)state;
    tl_error err;
    tl_pattern *p = make(), *q;
    assert_int_equal(tl_pattern_grade(p, "band.length", 0.1, &q, &err), TL_OK);
    assert_near(tl_pattern_panel(q, 1)->area, 0.05, 1e-12);
    assert_near(tl_pattern_panel(q, 0)->area, tl_pattern_panel(p, 0)->area, 1e-15);
    tl_pattern_destroy(q);
    assert_int_equal(tl_pattern_grade(p, "bust", 1, &q, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "'hip', 'length', and PANEL.width"));
    assert_null(q);
    assert_int_equal(tl_pattern_grade(p, "hip", 50, &q, &err), TL_BAD_INPUT);
    assert_int_equal(tl_pattern_grade(p, "hip", (double)NAN, &q, &err), TL_BAD_INPUT);
    assert_int_equal(tl_pattern_grade(p, "length", 0.1, &q, &err), TL_BAD_INPUT);  // a stretch of less than nothing
    tl_pattern_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measure_scales_its_panels),
        cmocka_unit_test(a_measure_lengthens_a_stretch),
        cmocka_unit_test(every_panel_has_a_width_and_a_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
