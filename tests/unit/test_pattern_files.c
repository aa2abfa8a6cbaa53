// tests/unit/test_pattern_files.c: pattern files: figures computed elsewhere, round trips, files of other programs,
// broken ones.

#include <math.h>

#include "io/json.h"
#include "pattern/check.h"
#include "scene/pattern_file.h"
#include "scene/pattern_keys.h"
#include "test_io_help.h"
#include "toile/pattern.h"

#define DATA TL_REPO "/tests/data/patterns/"
static const double PI = 3.14159265358979323846;

static const char *const names[] = {
    "circle_skirt_dress_mean_all_specification",
    "dress_pencil_specification",
    "fitted_circle_dress_mh_female_specification",
    "hoody_mean_specification",
    "pants_mean_all_specification",
    "pants_mh_female_specification",
    "shirt_mean_specification",
    "tshirt_mean_all_specification",
    "tshirt_mh_female_specification",
    "dress_sleeveless",
    "jacket_hood",
    "pants_straight_sides",
    "skirt_2_panels",
    "skirt_4_panels",
    "tee",
};
enum { NAMES = sizeof names / sizeof *names };

static tl_pattern *load(const char *path)
{
    tl_error err;
    tl_pattern *p = NULL;
    assert_ok(tl_pattern_load(path, &p, &err));
    return p;
}

// --- against figures of tests/data/patterns/oracle.py ----------------------------------------------------

static int check_panel_line(const tl_pattern *p, char *line)
{
    char *rest = NULL;
    const char *name = strtok_r(line + 6, " ", &rest);
    const tl_panel *panel = tl_pattern_panel(p, tl_pattern_find_panel(p, name));
    assert_non_null(panel);
    assert_near(panel->area, strtod(strtok_r(NULL, " ", &rest), NULL), 1e-12);
    int edges = 0;
    for (char *word; (word = strtok_r(NULL, " \n", &rest)); edges++) {
        assert_true(edges < panel->edge_count);
        assert_near(panel->edges[edges].length, strtod(word, NULL), 1e-12);
    }
    assert_int_equal(edges, panel->edge_count);
    return edges;
}

static void check_stitch_line(const tl_pattern *p, int32_t index, const char *line)
{
    char panel[2][100], way[16];
    int edge[2];
    assert_int_equal(sscanf(line, "stitch %99s %d %99s %d %15s", panel[0], &edge[0], panel[1], &edge[1], way), 5);
    const tl_seam *s = tl_pattern_seam(p, index);
    assert_non_null(s);
    for (int k = 0; k < 2; k++) {
        assert_string_equal(tl_pattern_panel(p, s->side[k].panel)->name, panel[k]);
        assert_int_equal(s->side[k].edge, edge[k]);
        assert_int_equal(s->side[k].count, 1);
    }
    assert_true((s->side[0].from == s->side[1].from) == (strcmp(way, "same") == 0));
}

static void shared_patterns_have_the_figures_of_the_oracle(void **state)
{
    (void)state;
    char *text = help_read(DATA "expected.txt", NULL), *rest = NULL;
    tl_pattern *p = NULL;
    int patterns = 0, edges = 0, seams = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "pattern ", 8) == 0) {
            if (p) assert_int_equal(seams, tl_pattern_seam_count(p));
            tl_pattern_destroy(p);
            char path[512];
            snprintf(path, sizeof path, DATA "%s", line + 8);
            p = load(path);
            patterns++, seams = 0;
        } else if (strncmp(line, "panel ", 6) == 0) {
            edges += check_panel_line(p, line);
        } else {
            check_stitch_line(p, seams++, line);
        }
    }
    tl_pattern_destroy(p);
    free(text);
    assert_int_equal(patterns, NAMES);
    assert_int_equal(edges, 659);
}

// Darts that outlines follow, counted on the drawings beside the JSON, whichever leg its stitch names first.
static void darts_of_outlines_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int darts;
    } want[] = {{"circle_skirt_dress_mean_all_specification", 8},
                {"dress_pencil_specification", 4},
                {"fitted_circle_dress_mh_female_specification", 8},
                {"pants_mean_all_specification", 4},
                {"pants_mh_female_specification", 6},
                {"tee", 0},
                {"jacket_hood", 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char path[512];
        snprintf(path, sizeof path, DATA "%s.json", want[i].name);
        tl_pattern *p = load(path);
        int darts = 0;
        for (int32_t s = 0; s < tl_pattern_seam_count(p); s++) darts += tl_seam_is_dart(p, tl_pattern_seam(p, s));
        assert_int_equal(darts, want[i].darts);
        tl_pattern_destroy(p);
    }
}

// --- round trips -----------------------------------------------------------------------------------------

static double far_apart(tl_vec2 a, tl_vec2 b) { return hypot(a.x - b.x, a.y - b.y); }

static void check_segments(const tl_segment *a, const tl_segment *b, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(a[i].kind, b[i].kind);
        for (int k = 0; k <= 8; k++)
            assert_true(far_apart(tl_segment_point(&a[i], k / 8.0), tl_segment_point(&b[i], k / 8.0)) < 1e-9);
    }
}

static void check_same_panel(const tl_panel *a, const tl_panel *b, bool all)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->label, b->label);
    assert_int_equal(a->edge_count, b->edge_count);
    assert_int_equal(a->curve_count, b->curve_count);
    check_segments(a->curves, b->curves, a->curve_count);
    for (int32_t e = 0; e < a->edge_count; e++) {
        assert_string_equal(a->edges[e].label, b->edges[e].label);
        assert_int_equal(a->edges[e].curve_count, b->edges[e].curve_count);
    }
    assert_int_equal(a->line_count, b->line_count);
    check_segments(a->line_curves, b->line_curves, a->line_curve_count);
    for (int32_t i = 0; i < a->line_count; i++) {
        assert_int_equal(a->lines[i].kind, b->lines[i].kind);
        assert_near(a->lines[i].angle_deg, b->lines[i].angle_deg, 0);
        if (all) assert_string_equal(a->lines[i].label, b->lines[i].label);
    }
    assert_int_equal(a->notch_count, b->notch_count);
    for (int32_t i = 0; i < a->notch_count; i++) {
        assert_int_equal(a->notches[i].edge, b->notches[i].edge);
        assert_near(a->notches[i].at, b->notches[i].at, 1e-12);
        assert_near(a->notches[i].depth, b->notches[i].depth, 1e-12);
    }
    assert_int_equal(a->dart_count, b->dart_count);
    for (int32_t i = 0; i < a->dart_count; i++) {
        assert_int_equal(a->darts[i].edge, b->darts[i].edge);
        assert_near(a->darts[i].from, b->darts[i].from, 0);
        assert_true(far_apart(a->darts[i].apex, b->darts[i].apex) < 1e-12);
    }
    assert_int_equal(a->has_grain, b->has_grain);
    assert_true(far_apart(a->grain[0], b->grain[0]) < 1e-9 && far_apart(a->grain[1], b->grain[1]) < 1e-9);
    assert_int_equal(a->layer, b->layer);
    assert_int_equal(a->placed, b->placed);
    assert_memory_equal(&a->placement, &b->placement, sizeof a->placement);
}

static void check_same(const tl_pattern *a, const tl_pattern *b, bool all)
{
    assert_int_equal(tl_pattern_panel_count(a), tl_pattern_panel_count(b));
    for (int32_t i = 0; i < tl_pattern_panel_count(a); i++)
        check_same_panel(tl_pattern_panel(a, i), tl_pattern_panel(b, i), all);
    assert_int_equal(tl_pattern_seam_count(a), tl_pattern_seam_count(b));
    for (int32_t i = 0; i < tl_pattern_seam_count(a); i++) {
        const tl_seam *s = tl_pattern_seam(a, i), *t = tl_pattern_seam(b, i);
        assert_string_equal(s->label, t->label);
        assert_int_equal(s->turned, t->turned);
        assert_memory_equal(s->side, t->side, sizeof s->side);
    }
}

static void check_round_trips(const tl_pattern *p)
{
    static const char *const endings[] = {"json", "svg", "dxf"};
    tl_error err;
    for (int k = 0; k < 3; k++) {
        char path[64];
        snprintf(path, sizeof path, "again.%s", endings[k]);
        assert_ok(tl_pattern_save(p, path, &err));
        tl_pattern *q = load(path);
        check_same(p, q, k < 2);
        tl_pattern_destroy(q);
    }
}

static void shared_patterns_survive_every_format(void **state)
{
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        char path[512];
        snprintf(path, sizeof path, DATA "%s.json", names[i]);
        tl_pattern *p = load(path);
        check_round_trips(p);
        tl_pattern_destroy(p);
    }
}

// One of everything, in our own format.
static const char everything[] =
    "// with a comment\n"
    "{\"format\": \"toile-pattern-1\", \"name\": \"all <&> of it\",\n"
    " \"measures\": [{\"name\": \"bust\", \"value\": 0.92}],\n"
    " \"panels\": [\n"
    "  {\"name\": \"front \\\"A\\\" & <b>\", \"label\": \"body\", \"layer\": 2,\n"
    "   \"placement\": {\"origin\": [0.1, 1.2, 0.3], \"rotation\": [10, 20, 30], \"bend\": 2.5},\n"
    "   \"grain\": [[0.2, 0.1], [0.2, 0.4]], \"start\": [0, 0],\n"
    "   \"edges\": [{\"to\": [0.5, 0], \"label\": \"hem\"}, {\"to\": [0.5, 0.5], \"bulge\": 1},\n"
    "     {\"to\": [0.3, 0.55], \"radius\": 0.4, \"clockwise\": true}, {\"to\": [0.2, 0.5], \"control\": [[0.25, "
    "0.4]]},\n"
    "     {\"path\": [{\"to\": [0.1, 0.5], \"control\": [[0.18, 0.52], [0.13, 0.49]]}, {\"to\": [0, 0.45]}]},\n"
    "     {\"to\": [0, 0], \"label\": \"centre\"}],\n"
    "   \"lines\": [{\"kind\": \"fold\", \"angle\": -90, \"label\": \"crease\", \"start\": [0.1, 0.1], \"path\": "
    "[{\"to\": [0.3, 0.1]}]},\n"
    "     {\"start\": [0.1, 0.2], \"path\": [{\"to\": [0.3, 0.2], \"bulge\": 0.2}, {\"to\": [0.3, 0.3]}]},\n"
    "     {\"kind\": \"hole\", \"start\": [0.3, 0.35], \"path\": [{\"to\": [0.4, 0.35], \"bulge\": 1}, {\"to\": [0.3, "
    "0.35], \"bulge\": 1}]},\n"
    "     {\"kind\": \"drill\", \"start\": [0.1, 0.3]}],\n"
    "   \"notches\": [{\"edge\": 0, \"at\": 0.25, \"depth\": 0.006}, {\"edge\": 1, \"at\": 0.5}],\n"
    "   \"darts\": [{\"edge\": 0, \"from\": 0.4, \"to\": 0.5, \"apex\": [0.22, 0.2]}]},\n"
    "  {\"name\": \"back\", \"start\": [0, 0], \"edges\": [{\"to\": [0, 0.4]}, {\"to\": [0.4, 0.4]}, {\"to\": [0.4, "
    "0]}, {\"to\": [0, 0]}]}],\n"
    " \"seams\": [{\"label\": \"side\", \"sides\": [{\"panel\": \"back\", \"edge\": 1, \"count\": 2, \"from\": 0.9, "
    "\"to\": 0.125},\n"
    "   {\"panel\": \"front \\\"A\\\" & <b>\", \"edge\": 1}], \"turned\": true},\n"
    "  {\"sides\": [{\"panel\": \"back\", \"edge\": 0}, {\"panel\": \"front \\\"A\\\" & <b>\", \"edge\": 5, \"from\": "
    "1, \"to\": 0}]}]}\n";

static void one_of_everything_survives_every_format(void **state)
{
    (void)state;
    help_write("all.json", everything);
    tl_pattern *p = load("all.json");
    const tl_panel *front = tl_pattern_panel(p, 0);
    assert_int_equal(front->edge_count, 6);
    assert_int_equal(front->curve_count, 7);
    assert_near(front->edges[1].length, PI * 0.25, 1e-14);  // half a circle of diameter 0.5
    assert_near(tl_pattern_panel(p, 1)->area, -0.16, 1e-15);
    const tl_seam *s = tl_pattern_seam(p, 0);
    assert_near(tl_seam_side_length(p, &s->side[0]), 0.775 * 0.8, 1e-14);
    const tl_vec2 end = tl_seam_side_point(p, &s->side[0], 1);  // 0.1 m into edges 1 and 2
    assert_near(end.x, 0.1, 1e-14);
    assert_near(end.y, 0.4, 1e-14);
    assert_near(tl_pattern_measure(p, 0)->value, 0.92, 0);
    check_round_trips(p);
    tl_pattern_destroy(p);
}

// --- as GarmentCode's JSON -------------------------------------------------------------------------------

static void patterns_of_garmentcode_are_written_as_they_were(void **state)
{
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        char path[512], left_out[64];
        snprintf(path, sizeof path, DATA "%s.json", names[i]);
        tl_pattern *p = load(path);
        tl_error err;
        assert_ok(tl_pattern_save(p, "again_specification.json", &err));
        assert_ok(tl_pattern_left_out(p, "again_specification.json", left_out, sizeof left_out));
        assert_string_equal(left_out, "");
        tl_pattern *q = load("again_specification.json");
        assert_int_equal(tl_pattern_panel_count(p), tl_pattern_panel_count(q));
        for (int32_t k = 0; k < tl_pattern_panel_count(p); k++) {
            const tl_panel *a = tl_pattern_panel(p, k), *b = tl_pattern_panel(q, k);
            assert_string_equal(a->name, b->name);
            assert_int_equal(a->edge_count, b->edge_count);
            check_segments(a->curves, b->curves, a->curve_count);
            for (int32_t e = 0; e < a->edge_count; e++) assert_string_equal(a->edges[e].label, b->edges[e].label);
            const double *u = &a->placement.origin.x, *v = &b->placement.origin.x;
            for (int n = 0; n < 6; n++) assert_near(u[n], v[n], 1e-9);
        }
        assert_int_equal(tl_pattern_seam_count(p), tl_pattern_seam_count(q));
        for (int32_t k = 0; k < tl_pattern_seam_count(p); k++)
            assert_memory_equal(tl_pattern_seam(p, k)->side, tl_pattern_seam(q, k)->side, sizeof(tl_seam_side[2]));
        tl_pattern_destroy(p);
        tl_pattern_destroy(q);
    }
}

// Darts become edges, seams over parts of several edges become pairs of whole ones.
static void one_of_everything_becomes_garmentcode(void **state)
{
    (void)state;
    help_write("all.json", everything);
    tl_pattern *p = load("all.json");
    tl_error err;
    char left_out[256], little[8];
    assert_ok(tl_pattern_save(p, "all_specification.json", &err));
    assert_ok(tl_pattern_left_out(p, "all_specification.json", left_out, sizeof left_out));
    assert_string_equal(left_out, "3 inner lines, 1 hole, 2 notch marks, 1 grain line, 1 layer, 1 bent placement, "
                                  "measures");
    assert_ok(tl_pattern_left_out(p, "all_specification.json", little, sizeof little));
    assert_string_equal(little, "3 inner");
    assert_ok(tl_pattern_left_out(p, "all.svg", little, sizeof little));
    assert_string_equal(little, "");
    tl_pattern *q = load("all_specification.json");
    const double dart = 0.5 * 0.05 * 0.2;
    assert_near(tl_pattern_panel(q, 0)->area, tl_pattern_panel(p, 0)->area - dart, 1e-10);
    assert_near(tl_pattern_panel(q, 1)->area, -0.16, 1e-10);
    // hem in two parts and two legs; the half circle in three, cut where back has its corner and where the seam ends
    assert_int_equal(tl_pattern_seam_count(q), 4);
    const tl_seam *leg = tl_pattern_seam(q, 0);
    assert_near(tl_seam_side_length(q, &leg->side[0]), hypot(0.02, 0.2), 1e-10);
    assert_near(tl_seam_side_length(q, &leg->side[1]), hypot(0.03, 0.2), 1e-10);
    assert_true(far_apart(tl_seam_side_point(q, &leg->side[0], 1), (tl_vec2){0.22, 0.2}) < 1e-10);
    assert_true(far_apart(tl_seam_side_point(q, &leg->side[1], 1), (tl_vec2){0.22, 0.2}) < 1e-10);
    double sum[2] = {0};
    for (int32_t i = 1; i < 4; i++)
        for (int k = 0; k < 2; k++) sum[k] += tl_seam_side_length(q, &tl_pattern_seam(q, i)->side[k]);
    assert_near(sum[0], 0.62 + 0.4, 1e-10);
    assert_near(sum[1], PI * 0.25 + 0.45, 1e-10);
    // what was sewn together is: the ends of the first seam
    const tl_seam *whole = tl_pattern_seam(p, 0), *part = tl_pattern_seam(q, 1);
    for (int k = 0; k < 2; k++)
        assert_true(
            far_apart(tl_seam_side_point(p, &whole->side[k], 0), tl_seam_side_point(q, &part->side[k], 0)) < 1e-9 ||
            far_apart(tl_seam_side_point(p, &whole->side[k], 0), tl_seam_side_point(q, &part->side[k], 1)) < 1e-9);
    tl_pattern_destroy(p);
    tl_pattern_destroy(q);
}

static void cut_lines_survive_dxf(void **state)
{
    (void)state;
    tl_pattern *p = load(DATA "sewline_r12.dxf");
    tl_error err;
    assert_ok(tl_pattern_save(p, "cut.dxf", &err));
    tl_pattern *q = load("cut.dxf");
    assert_int_equal(tl_pattern_panel(q, 0)->line_count, 3);
    assert_int_equal(tl_pattern_panel(q, 0)->lines[0].kind, TL_LINE_CUT);
    assert_near(tl_pattern_panel(q, 0)->area, tl_pattern_panel(p, 0)->area, 1e-12);
    tl_pattern_destroy(p);
    tl_pattern_destroy(q);
}

// --- files of other programs -----------------------------------------------------------------------------

// Drawings that GarmentCode wrote (with svgwrite) beside its JSON have the same panels.
static void drawings_of_garmentcode_have_the_areas_of_its_json(void **state)
{
    (void)state;
    static const char *const drawn[] = {"circle_skirt_dress_mean_all", "pants_mean_all", "tshirt_mean_all"};
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof path, DATA "%s_specification.json", drawn[i]);
        tl_pattern *p = load(path);
        snprintf(path, sizeof path, DATA "%s_pattern.svg", drawn[i]);
        tl_pattern *q = load(path);
        const int32_t n = tl_pattern_panel_count(p);
        assert_int_equal(n, tl_pattern_panel_count(q));
        bool used[32] = {false};
        for (int32_t a = 0; a < n; a++) {
            int32_t found = -1;
            for (int32_t b = 0; b < n && found < 0; b++) {
                const tl_panel *u = tl_pattern_panel(p, a), *v = tl_pattern_panel(q, b);
                if (!used[b] && fabs(fabs(u->area) - v->area) < 1e-9 && fabs(u->perimeter - v->perimeter) < 1e-8 &&
                    u->edge_count == v->edge_count)
                    found = b;
            }
            assert_true(found >= 0);
            used[found] = true;
        }
        tl_pattern_destroy(p);
        tl_pattern_destroy(q);
    }
}

static void drawing_is_read_by_hand_worked_figures(void **state)
{
    (void)state;
    tl_pattern *p = load(DATA "drawing.svg");
    assert_int_equal(tl_pattern_panel_count(p), 4);
    const tl_panel *front = tl_pattern_panel(p, tl_pattern_find_panel(p, "front & centre"));
    const tl_panel *back = tl_pattern_panel(p, tl_pattern_find_panel(p, "back"));
    const tl_panel *yoke = tl_pattern_panel(p, tl_pattern_find_panel(p, "yoke"));
    const tl_panel *frame = tl_pattern_panel(p, tl_pattern_find_panel(p, "frame"));
    const double area = 0.1 * 0.15 - 0.05 * 0.05 * (1 - PI / 4);
    assert_near(front->area, area, 1e-12);
    assert_near(back->area, 2.25 * area, 1e-12);
    assert_near(yoke->area, PI * 0.04 * 0.02, 1e-11);
    assert_near(frame->area, 0.006, 1e-15);
    assert_int_equal(frame->line_count, 1);
    assert_int_equal(frame->lines[0].kind, TL_LINE_HOLE);
    assert_int_equal(front->line_count, 1);
    assert_int_equal(front->has_grain, 1);
    assert_near(front->grain[1].y - front->grain[0].y, 0.05, 1e-12);  // up the sheet: y up
    assert_int_equal(tl_pattern_seam_count(p), 2);
    const tl_seam *s = tl_pattern_seam(p, 1);
    assert_string_equal(s->label, "armhole");
    assert_near(tl_seam_side_length(p, &s->side[0]), PI / 2 * 0.05, 1e-12);
    assert_near(tl_seam_side_length(p, &s->side[1]), PI / 2 * 0.075, 1e-12);
    // The lower corner of the side on both, though back is turned by a quarter: start to start.
    const tl_seam *side = tl_pattern_seam(p, 0);
    const tl_vec2 a = tl_seam_side_point(p, &side->side[0], 0);
    assert_near(a.x, 0.11, 1e-12);
    assert_near(a.y, -0.17, 1e-12);
    tl_pattern_destroy(p);
}

// Saved by Inkscape 1.2.2 (shapes turned into paths): arcs of ellipses and circles, relative commands, a turned layer.
static void drawing_of_inkscape_is_read_by_hand_worked_figures(void **state)
{
    (void)state;
    tl_pattern *p = load(DATA "inkscape.svg");
    assert_int_equal(tl_pattern_panel_count(p), 4);
    static const char *const panels[] = {"pocket", "yoke", "collar", "sleeve"};
    // Corners of the pocket are cubics with handles of 11.08 mm: 200 + 114.545 mm^2 each in place of 400. The sleeve is
    // a trapezoid of 8000 mm^2 and a cap of (3 u x v + 3 u x w + 6 v x w) / 20 = 5040 mm^2.
    const double area[] = {0.12 * 0.15 - 4 * (400 - 200 - 114.54504) * 1e-6, PI * 0.08 * 0.04, PI * 0.06 * 0.06,
                           0.01304};
    for (int i = 0; i < 4; i++) {
        const tl_panel *v = tl_pattern_panel(p, tl_pattern_find_panel(p, panels[i]));
        assert_non_null(v);
        assert_near(v->area, area[i], 4e-11);  // arcs of ellipses: 1e-10 m over the perimeter
    }
    assert_near(tl_pattern_panel(p, tl_pattern_find_panel(p, "collar"))->perimeter, 2 * PI * 0.06, 1e-12);
    tl_pattern_destroy(p);
}

static void seams_drawn_along_outlines_are_found(void **state)
{
    (void)state;
    help_write("s.svg", "<svg width='1000mm' height='500mm' viewBox='0 0 1000 500' xmlns='http://www.w3.org/2000/svg'>"
                        "<rect id='a' x='0' y='0' width='200' height='100'/>"
                        "<polygon id='b' points='300,0 500,0 500,100 300,100'/>"
                        "<path data-seam='x' d='M 50 100 L 0 100 L 0 60'/>"
                        "<polyline data-seam='x' points='450,100 500,100 500,40'/></svg>");
    tl_pattern *p = load("s.svg");
    assert_int_equal(tl_pattern_seam_count(p), 1);
    const tl_seam *s = tl_pattern_seam(p, 0);
    assert_near(tl_seam_side_length(p, &s->side[0]), 0.09, 1e-12);
    assert_near(tl_seam_side_length(p, &s->side[1]), 0.11, 1e-12);
    const tl_vec2 want[2][2] = {{{0.05, -0.1}, {0, -0.06}}, {{0.45, -0.1}, {0.5, -0.04}}};
    for (int k = 0; k < 2; k++)
        for (int end = 0; end < 2; end++)
            assert_true(far_apart(tl_seam_side_point(p, &s->side[k], end), want[k][end]) < 1e-12);
    tl_pattern_destroy(p);
}

// A cutting line around a seam line, as drawing programs export both, looks like two panels; it is told.
static void nested_outlines_are_told(void **state)
{
    (void)state;
    help_write("n.svg", "<svg width='1000mm' viewBox='0 0 1000 500' xmlns='http://www.w3.org/2000/svg'>"
                        "<rect id='seam' x='10' y='10' width='180' height='80'/>"
                        "<rect id='cut' x='0' y='10' width='200' height='90'/>"  // on one side they coincide
                        "<rect id='other' x='150' y='50' width='180' height='80'/></svg>");
    tl_pattern *p = load("n.svg");
    assert_int_equal(tl_pattern_panel_count(p), 3);
    assert_int_equal(tl_pattern_note_count(p), 1);
    assert_non_null(strstr(tl_pattern_note(p, 0), "panel 'seam' lies in panel 'cut'"));
    tl_pattern_destroy(p);
    help_write("n.svg", "<svg width='1000mm' viewBox='0 0 1000 500' xmlns='http://www.w3.org/2000/svg'>"
                        "<rect id='seam' x='10' y='10' width='180' height='80'/>"
                        "<rect id='cut' data-line='cut' x='0' y='10' width='200' height='90'/></svg>");
    p = load("n.svg");
    assert_int_equal(tl_pattern_panel_count(p), 1);
    assert_int_equal(tl_pattern_note_count(p), 0);
    tl_pattern_destroy(p);
}

// Inches where millimetres were meant, and the other way about.
static void sizes_of_no_garment_are_told(void **state)
{
    (void)state;
    static const char *const width[] = {"1000mm", "1000in", "10mm"};
    for (int i = 0; i < 3; i++) {
        char text[256];
        snprintf(text, sizeof text, "<svg width='%s' viewBox='0 0 1000 1000'><rect width='500' height='400'/></svg>",
                 width[i]);
        help_write("w.svg", text);
        tl_pattern *p = load("w.svg");
        assert_int_equal(tl_pattern_note_count(p), i > 0);
        if (i > 0) assert_non_null(strstr(tl_pattern_note(p, 0), "no garment (check the unit)"));
        tl_pattern_destroy(p);
    }
}

static void seams_come_from_a_file_beside(void **state)
{
    (void)state;
    char *text = help_read(DATA "aama_r12.dxf", NULL);
    help_write("s.dxf", text);
    free(text);
    help_write("s.seams.json", "{\"seams\": [{\"sides\": [{\"panel\": \"FRONT\", \"edge\": 4}, {\"panel\": \"SLEEVE\", "
                               "\"edge\": 1, \"from\": 1, \"to\": 0}]}]}");
    tl_pattern *p = load("s.dxf");
    assert_int_equal(tl_pattern_seam_count(p), 1);
    assert_non_null(strstr(tl_pattern_note(p, 0), "s.seams.json"));
    tl_pattern_destroy(p);
    help_write(
        "s.seams.json",
        "{\"seams\": [{\"sides\": [{\"panel\": \"FRONT\", \"edge\": 9}, {\"panel\": \"SLEEVE\", \"edge\": 1}]}]}");
    tl_error err;
    assert_int_equal(tl_pattern_load("s.dxf", &p, &err), TL_BAD_INPUT);
    assert_non_null(strstr(
        err.message, "s.seams.json:1: seams[0].sides[0].edge 9, is no edge of panel 'FRONT', which has edges 0 to 4"));
}

static void dxf_of_ezdxf_is_read_by_hand_worked_figures(void **state)
{
    (void)state;
    const double inch = 0.0254;
    tl_pattern *p = load(DATA "aama_r12.dxf");
    assert_int_equal(tl_pattern_panel_count(p), 2);
    const tl_panel *front = tl_pattern_panel(p, tl_pattern_find_panel(p, "FRONT"));
    // A quarter of a polygon of 64 sides about the corner (10, 16) is cut off: 16 triangles of 8 sin(pi/32).
    const double fan = 16 * 8 * sin(PI / 32);
    assert_near(front->area, (10 * 16 - fan) * inch * inch, 1e-12);
    assert_int_equal(front->edge_count, 5);  // between turn points
    assert_near(front->edges[2].length, 16 * 2 * 4 * sin(PI / 64) * inch, 1e-12);
    assert_int_equal(front->edges[2].curve_count, 16);
    assert_int_equal(front->notch_count, 2);
    assert_int_equal(front->notches[0].edge, 0);
    assert_near(front->notches[0].at, 0.5, 1e-12);
    assert_near(front->notches[0].depth, 0.25 * inch, 1e-12);
    assert_int_equal(front->notches[1].edge, 1);
    assert_near(front->notches[1].at, 0.25, 1e-12);
    assert_near(front->grain[1].y - front->grain[0].y, 10 * inch, 1e-12);
    assert_int_equal(front->line_count, 1);
    assert_near(tl_pattern_panel(p, 1)->area, 63 * inch * inch, 1e-12);
    tl_pattern_destroy(p);

    p = load(DATA "sewline_r12.dxf");
    const tl_panel *pocket = tl_pattern_panel(p, 0);
    assert_string_equal(pocket->name, "pocket");
    assert_near(pocket->area, 0.12 * 0.09 + PI / 2 * 0.06 * 0.06, 1e-12);
    assert_int_equal(pocket->edge_count, 4);
    assert_int_equal(pocket->line_count, 3);
    assert_int_equal(pocket->lines[0].kind, TL_LINE_CUT);
    assert_int_equal(pocket->lines[1].kind, TL_LINE_HOLE);
    assert_int_equal(pocket->lines[2].kind, TL_LINE_DRILL);
    tl_pattern_destroy(p);

    p = load(DATA "plain_r2000.dxf");
    assert_int_equal(tl_pattern_panel_count(p), 2);
    assert_near(tl_pattern_panel(p, 0)->area, 0.02 + PI / 2 * 0.05 * 0.05, 1e-12);
    assert_near(tl_pattern_panel(p, 1)->area, PI * 0.05 * 0.05, 1e-12);
    tl_pattern_destroy(p);
}

// --- GarmentCode's traps ---------------------------------------------------------------------------------

// A square of side 10 units with the edge 0 as given; panels, stitches and properties may be put in.
static void write_square(const char *edge0, const char *stitches, const char *properties)
{
    char text[4096];
    snprintf(text, sizeof text,
             "{\"pattern\": {\"panels\": {\"a\": {\"vertices\": [[0,0],[10,0],[10,10],[0,10]],\n"
             "\"edges\": [{\"endpoints\": [0,1]%s}, {\"endpoints\": [1,2]}, {\"endpoints\": [2,3]},\n"
             "{\"endpoints\": [3,0]}], \"translation\": [0,0,0], \"rotation\": [0,0,0]}},\n"
             "\"stitches\": [%s]}, \"properties\": {%s}}",
             edge0, stitches, properties);
    help_write("square.json", text);
}

static double square_area(const char *edge0, const char *properties)
{
    write_square(edge0, "", properties);
    tl_pattern *p = load("square.json");
    const double area = tl_pattern_panel(p, 0)->area;
    tl_pattern_destroy(p);
    return area;
}

static void every_curve_encoding_is_known(void **state)
{
    (void)state;
    const char *cm = "\"units_in_meter\": 100, \"curvature_coords\": \"relative\"";
    assert_near(square_area("", cm), 0.01, 1e-15);
    assert_near(square_area("", "\"units_in_meter\": 300"), 0.01 / 9, 1e-15);
    // A control point 0.3 edge lengths to the left: into the square by 2/3 of the triangle.
    const double dent = 2.0 / 3 * 0.5 * 0.1 * 0.03;
    assert_near(square_area(", \"curvature\": [0.5, 0.3]", cm), 0.01 - dent, 1e-15);
    assert_near(square_area(", \"curvature\": {\"type\": \"quadratic\", \"params\": [[0.5, 0.3]]}", cm), 0.01 - dent,
                1e-15);
    assert_near(square_area(", \"curvature\": [5, 3]", "\"units_in_meter\": 100, \"curvature_coords\": \"absolute\""),
                0.01 - dent, 1e-15);
    // The same parabola with its degree raised.
    assert_near(square_area(", \"curvature\": {\"type\": \"cubic\", \"params\": [[0.33333333333333331, 0.2], "
                            "[0.66666666666666663, 0.2]]}",
                            cm),
                0.01 - dent, 1e-15);
    // Half circles of radius 5: to the right of the way is out of the square.
    assert_near(square_area(", \"curvature\": {\"type\": \"circle\", \"params\": [5, 0, 1]}", cm),
                0.01 + PI / 2 * 0.0025, 1e-15);
    assert_near(square_area(", \"curvature\": {\"type\": \"circle\", \"params\": [5, false, false]}", cm),
                0.01 - PI / 2 * 0.0025, 1e-15);
    // Three quarters of a circle of radius 5 sqrt(2) to the right: the chord's segment is r^2 (3 pi / 4 + 1 / 2).
    assert_near(square_area(", \"curvature\": {\"type\": \"circle\", \"params\": [7.0710678118654755, 1, 1]}", cm),
                0.01 + 0.005 * (0.75 * PI + 0.5), 1e-15);
}

static void edges_out_of_order_are_followed(void **state)
{
    (void)state;
    help_write("o.json",
               "{\"pattern\": {\"panels\": {\"a\": {\"vertices\": [[0,0],[100,0],[100,100],[0,100]], \"edges\": ["
               "{\"endpoints\": [0,1]}, {\"endpoints\": [2,3]}, {\"endpoints\": [2,1]}, {\"endpoints\": [3,0]}]}},"
               "\"stitches\": [[{\"panel\": \"a\", \"edge\": 1}, {\"panel\": \"a\", \"edge\": 2}]]},"
               "\"properties\": {\"units_in_meter\": 100}}");
    tl_pattern *p = load("o.json");
    assert_near(tl_pattern_panel(p, 0)->area, 1, 1e-12);
    const tl_seam *s = tl_pattern_seam(p, 0);
    assert_int_equal(s->side[0].edge, 2);  // the file's edge 1 comes third
    assert_int_equal(s->side[1].edge, 1);
    // The file's edges 1 and 2 both start at (1, 1); sewn against each other, start meets end.
    assert_near(tl_seam_side_point(p, &s->side[0], 0).x, 1, 1e-12);
    assert_near(tl_seam_side_point(p, &s->side[1], 0).y, 0, 1e-12);
    assert_non_null(strstr(tl_pattern_note(p, 0), "not in the order"));
    tl_pattern_destroy(p);
}

static void right_wrong_sews_the_same_way(void **state)
{
    (void)state;
    write_square("", "[{\"panel\": \"a\", \"edge\": 0}, {\"panel\": \"a\", \"edge\": 2}, \"right_wrong\"]",
                 "\"units_in_meter\": 100");
    tl_pattern *p = load("square.json");
    const tl_seam *s = tl_pattern_seam(p, 0);
    assert_int_equal(s->turned, 1);
    assert_near(s->side[1].from, 0, 0);
    assert_near(s->side[1].to, 1, 0);
    tl_error err;
    assert_ok(tl_pattern_turn_seam(p, 0, &err));
    assert_near(tl_pattern_seam(p, 0)->side[1].from, 1, 0);
    tl_pattern_destroy(p);
}

// Two squares that share an edge in space under one of the readings only.
static void check_rotation(const char *rotation, const char *word, tl_vec3 want_deg)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"pattern\": {\"panels\": {"
             "\"a\": {\"vertices\": [[0,0],[100,0],[100,100],[0,100]], \"edges\": [{\"endpoints\": [0,1]}, "
             "{\"endpoints\": [1,2]},"
             "{\"endpoints\": [2,3]}, {\"endpoints\": [3,0]}], \"translation\": [0,0,0], \"rotation\": %s},"
             "\"b\": {\"vertices\": [[0,0],[100,0],[100,100],[0,100]], \"edges\": [{\"endpoints\": [0,1]}, "
             "{\"endpoints\": [1,2]},"
             "{\"endpoints\": [2,3]}, {\"endpoints\": [3,0]}], \"translation\": [0,0,-100], \"rotation\": [0,0,0]}},"
             "\"stitches\": [[{\"panel\": \"a\", \"edge\": 0}, {\"panel\": \"b\", \"edge\": 3}]]}, \"properties\": "
             "{\"units_in_meter\": 100}}",
             rotation);
    help_write("r.json", text);
    tl_pattern *p = load("r.json");
    assert_non_null(strstr(tl_pattern_note(p, 0), word));
    const tl_vec3 d = tl_pattern_panel(p, 0)->placement.rotation_deg;
    assert_near(d.x, want_deg.x, 1e-9);
    assert_near(d.y, want_deg.y, 1e-9);
    assert_near(d.z, want_deg.z, 1e-9);
    tl_pattern_destroy(p);
}

static void the_rotation_that_closes_seams_is_taken(void **state)
{
    (void)state;
    // Edge 0 of a (along x) must reach b's edge 3, from (0, 1, -1) to (0, 0, -1), as near as it can. (90, 90, 0): Rz Ry
    // Rx sends x to -z; Rx Ry Rz sends x by Ry to -z and by Rx to y.
    check_rotation("[90, 90, 0]", "read as Rz Ry Rx", (tl_vec3){90, 90, 0});
    // The other way about: a third turn about x tells the two apart.
    check_rotation("[-90, 90, 0]", "read as", (tl_vec3){-90, 90, 0});
}

// --- broken ones -----------------------------------------------------------------------------------------

static void check_refused(const char *path, const char *one, const char *two)
{
    tl_error err = {0};
    tl_pattern *p = NULL;
    const tl_status status = tl_pattern_load(path, &p, &err);
    if (status != TL_BAD_INPUT || !strstr(err.message, one) || !strstr(err.message, two)) {
        print_error("%s: status %d: %s\n  wanted '%s' and '%s'\n", path, status, err.message, one, two);
        fail();
    }
    assert_null(p);
}

static void broken_garmentcode_is_refused_by_panel_and_edge(void **state)
{
    (void)state;
    const char *cm = "\"units_in_meter\": 100";
    write_square("", "[{\"panel\": \"a\", \"edge\": 4}, {\"panel\": \"a\", \"edge\": 1}]", cm);
    check_refused("square.json", "square.json:4: pattern.stitches[0][0].edge 4,",
                  "is no edge of panel 'a', which has edges 0 to 3");
    write_square("", "[{\"panel\": \"b\", \"edge\": 0}, {\"panel\": \"a\", \"edge\": 1}]", cm);
    check_refused("square.json", "panel \"b\"", "must name a panel");
    write_square("", "[{\"panel\": \"a\", \"edge\": 1}, {\"panel\": \"a\", \"edge\": 1}]", cm);
    check_refused("square.json", "seam 0: sews panel 'a', edge 1", "to itself");
    write_square(", \"curvature\": {\"type\": \"spline\", \"params\": []}", "", cm);
    check_refused("square.json", "pattern.panels.a.edges[0].curvature.type \"spline\"", "must be \"quadratic\"");
    write_square("", "", "\"units_in_meter\": 0");
    check_refused("square.json", "units_in_meter 0", "must be a number > 0");
    static const struct {
        const char *vertices, *edges, *one, *two;
    } bad[] = {
        {"[0,0],[10,0],[10,10],[0,10]", "[0,1],[1,2],[2,3]", "panel 'front', edge 2", "open"},
        {"[0,0],[10,0],[0,10],[10,10]", "[0,1],[1,2],[2,3],[3,0]", "panel 'front', edge 1", "crosses edge 3"},
        {"[0,0],[10,0],[10,0],[0,10]", "[0,1],[1,2],[2,3],[3,0]", "panel 'front', edge 1", "has length 0"},
        {"[0,0],[10,0],[10,NaN],[0,10]", "[0,1],[1,2],[2,3],[3,0]", "panels.front.vertices[2]", "finite number"},
        {"[0,0],[10,0],[10,-Infinity],[0,10]", "[0,1],[1,2],[2,3],[3,0]", "panels.front.vertices[2]", "finite number"},
        {"[0,0],[10,0],[10,10],[0,10]", "[0,1],[1,2],[2,3],[3,7]", "panels.front.edges[3].endpoints[1] 7", "vertex"},
        {"[0,0],[10,0],[20,0]", "[0,1],[1,2],[2,0]", "panel 'front'", "no area"},
        {"[0,0],[1e9,0],[0,1e9]", "[0,1],[1,2],[2,0]", "panel 'front', edge 0", "check the unit"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[2048], edges[512] = "";
        for (const char *e = bad[i].edges; e; e = strchr(e + 1, '[')) {
            const size_t used = strlen(edges);
            snprintf(edges + used, sizeof edges - used, "%s{\"endpoints\": %.5s}", used ? ", " : "", e);
        }
        snprintf(text, sizeof text,
                 "{\"pattern\": {\"panels\": {\"front\": {\"vertices\": [%s], \"edges\": [%s]}}, \"stitches\": []},"
                 "\"properties\": {\"units_in_meter\": 100}}",
                 bad[i].vertices, edges);
        help_write("bad.json", text);
        check_refused("bad.json", bad[i].one, bad[i].two);
    }
}

// A panel drawn the wrong way round is usable, and told by panel and edge.
static void mirrored_panels_are_told(void **state)
{
    (void)state;
    // Front and back of a skirt, one behind the other; the back runs as the front does, so its sides meet crosswise.
    static const char skirt[] =
        "{\"pattern\": {\"panels\": {"
        "\"front\": {\"vertices\": [[0,0],[50,0],[50,60],[0,60]], \"edges\": [{\"endpoints\": [0,1]}, {\"endpoints\": "
        "[1,2]},"
        "{\"endpoints\": [2,3]}, {\"endpoints\": [3,0]}], \"translation\": [0,0,10], \"rotation\": [0,0,0]},"
        "\"back\": {\"vertices\": [[0,0],[50,0],[50,60],[0,60]], \"edges\": [%s], \"translation\": [0,0,-10], "
        "\"rotation\": [0,0,0]}},"
        "\"stitches\": [[{\"panel\": \"front\", \"edge\": 1}, {\"panel\": \"back\", \"edge\": %d}]]}, \"properties\": "
        "{\"units_in_meter\": 100}}";
    char text[2048];
    snprintf(text, sizeof text, skirt,
             "{\"endpoints\": [0,1]}, {\"endpoints\": [1,2]}, {\"endpoints\": [2,3]}, {\"endpoints\": [3,0]}", 1);
    help_write("m.json", text);
    tl_pattern *p = load("m.json");
    assert_int_equal(tl_pattern_note_count(p), 1);
    assert_non_null(strstr(tl_pattern_note(p, 0), "panel 'front', edge 1 and panel 'back', edge 1"));
    assert_non_null(strstr(tl_pattern_note(p, 0), "mirrored"));
    tl_pattern_destroy(p);
    snprintf(text, sizeof text, skirt,
             "{\"endpoints\": [0,3]}, {\"endpoints\": [3,2]}, {\"endpoints\": [2,1]}, {\"endpoints\": [1,0]}", 2);
    help_write("m.json", text);
    p = load("m.json");
    assert_int_equal(tl_pattern_note_count(p), 0);
    tl_pattern_destroy(p);
    // In our own files the direction of a seam is explicit: both sides along their outlines is right on wrong side.
    help_write("n.json",
               "{\"format\": \"toile-pattern-1\", \"panels\": [{\"name\": \"a\", \"start\": [0, 0], \"edges\": ["
               "{\"to\": [1, 0]}, {\"to\": [1, 1]}, {\"to\": [0, 1]}, {\"to\": [0, 0]}]}],"
               "\"seams\": [{\"sides\": [{\"panel\": \"a\", \"edge\": 0}, {\"panel\": \"a\", \"edge\": 2}]}]}");
    p = load("n.json");
    assert_non_null(strstr(tl_pattern_note(p, 0), "panel 'a', edge 0 and panel 'a', edge 2 run the same way round"));
    tl_pattern_destroy(p);
}

// A slit: the outline goes in along a curve and back along the same curve, to rounding. It touches itself and is sound.
static void slits_are_no_crossings(void **state)
{
    (void)state;
    tl_pattern *p = NULL;
    help_write("s.json",
               "{\"format\": \"toile-pattern-1\", \"panels\": [{\"name\": \"a\", \"start\": [0, 0], \"edges\": ["
               "{\"to\": [0.2, 0]}, {\"to\": [0.21, 0.16], \"control\": [[0.205, 0.05], [0.19, 0.11]]},"
               "{\"to\": [0.2, 1e-17], \"control\": [[0.19, 0.11000000000000001], [0.20500000000000002, 0.05]]},"
               "{\"to\": [0.4, 0]}, {\"to\": [0.4, 0.3]}, {\"to\": [0, 0.3]}, {\"to\": [0, 0]}]}]}");
    p = load("s.json");
    assert_near(tl_pattern_panel(p, 0)->area, 0.12, 1e-9);
    tl_pattern_destroy(p);
}

static void broken_drawings_are_refused(void **state)
{
    (void)state;
#define SVG(body) "<svg width='1000mm' viewBox='0 0 1000 1000'>\n" body "</svg>"
    static const struct {
        const char *text, *one, *two;
    } bad[] = {
        {SVG("<path id='front' d='M 0 0 L 100 0 L 100 100'/>"), "bad.svg:2: 'front'", "is open and lies in no panel"},
        {SVG("<path id='front' d='M 0 0 L 100 0 L 0 100 L 100 100 z'/>"), "panel 'front', edge 1", "crosses edge 3"},
        {SVG("<path id='front' d='M 0 0 L 1e400 0 z'/>"), "path 'front'", "cannot be read"},
        {SVG("<path id='front' d='M 0 0 L nan 0 z'/>"), "path 'front'", "cannot be read"},
        {SVG("<path id='front' d='M 0 0 L 100 0 L 200 0 z'/>"), "panel 'front'", "no area"},
        {SVG("<path id='a' data-seams='x' d='M 0 0 L 100 0 L 100 100 z'/>"), "'x'", "seam with 1 side, must have two"},
        {SVG("<g><path id='a' d='M 0 0 L 100 0 L 100 100 z'/>"), "bad.svg:2", "another name"},
        {SVG("<g transform='turn(3)'/>"), "<g>", "transform that cannot be read"},
        {SVG("<text>hello</text>"), "no closed path", "no panel"},
        {"<html></html>", "<html>", "must be <svg>"},
        {"<svg width='10mm'><path d='M0 0", "bad.svg:1", "closing quote"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        help_write("bad.svg", bad[i].text);
        check_refused("bad.svg", bad[i].one, bad[i].two);
    }
#define DXF(body) "0\nSECTION\n2\nBLOCKS\n0\nBLOCK\n2\nB1\n" body "0\nENDBLK\n0\nENDSEC\n0\nEOF\n"
    static const struct {
        const char *text, *one, *two;
    } dxf[] = {
        {DXF("0\nLINE\n8\n1\n10\n0\n20\n0\n11\n500\n21\n0\n"), "panel 'B1', edge 0", "open"},
        {DXF("0\nSPLINE\n8\n1\n"), "piece 'B1'", "SPLINE"},
        {DXF("0\nLINE\n8\n1\n10\nnan\n20\n0\n"), "bad.dxf:14: 'nan'", "finite number"},
        {DXF("0\nCIRCLE\n8\n1\n10\n0\n20\n0\n40\n1e300\n"), "panel 'B1'", "check the unit"},
        {"hello\nworld\n", "bad.dxf:1: 'hello'", "group code"},
        {"0\nEOF\n", "no piece", "layer 1"},
        {"AutoCAD Binary DXF\r\n", "binary", "text form"},
    };
    for (size_t i = 0; i < sizeof dxf / sizeof *dxf; i++) {
        help_write("bad.dxf", dxf[i].text);
        check_refused("bad.dxf", dxf[i].one, dxf[i].two);
    }
}

static void broken_patterns_of_ours_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *one, *two;
    } bad[] = {
        {"{\"to\": [0, 0], \"label\": \"centre\"}", "{\"to\": [0, 0.01], \"label\": \"centre\"}",
         "open: edge 5 ends at (0, 0.01)", "panel 'front"},
        {"\"bulge\": 1},\n", "\"bulge\": 1, \"radius\": 3},\n", "panels[0].edges[1]", "more than one of"},
        {"\"radius\": 0.4", "\"radius\": 0.01", "panels[0].edges[2]", "cannot span"},
        {"{\"to\": [0.5, 0], \"label\": \"hem\"}", "{\"to\": [0, 0], \"label\": \"hem\"}", "edge 0 ('hem')",
         "has length 0"},
        {"\"at\": 0.25", "\"at\": 1.25", "panels[0].notches[0].at 1.25", "must be in"},
        {"\"edge\": 1, \"count\": 2", "\"edge\": 7, \"count\": 2", "edge 7",
         "is no edge of panel 'back', which has edges 0 to 3"},
        {"\"name\": \"back\"", "\"nam\": \"back\"", "panels[1].nam", "did you mean 'name'"},
        {"\"from\": 0.9, \"to\": 0.125", "\"from\": 0.9, \"to\": 0.9", "seam 0", "must be different"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[8192];
        const char *at = strstr(everything, bad[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - everything), everything, bad[i].to,
                 at + strlen(bad[i].from));
        help_write("bad.json", text);
        check_refused("bad.json", bad[i].one, bad[i].two);
    }
    help_write("other.json", "{\"cloths\": []}");
    check_refused("other.json", "other.json", "is no pattern");
    check_refused("x.obj", "x.obj", "must end in");
}

// A million points are read and checked in a few seconds, and a crossing among them is found.
static void a_million_points(void **state)
{
    (void)state;
    const int n = SANITIZED ? 20000 : 1000000;
    for (int broken = 0; broken < 2; broken++) {
        FILE *f = fopen("many.svg", "wb");
        assert_non_null(f);
        fputs("<svg width='1000mm' viewBox='0 0 1000 1000'><path id='round' d='M", f);
        for (int i = 0; i < n; i++) {
            int k = i;
            if (broken && i == n / 3) k = i + n / 1000;  // two points change places
            if (broken && i == n / 3 + n / 1000) k = n / 3;
            const double r = 400 + 0.01 * sin(40 * PI * k / n), a = 2 * PI * k / n;
            fprintf(f, "%.16g %.16g ", 500 + r * cos(a), 500 + r * sin(a));
        }
        fputs("z'/></svg>", f);
        fclose(f);
        if (broken) {
            check_refused("many.svg", "panel 'round', edge", "crosses");
            continue;
        }
        tl_pattern *p = load("many.svg");
        assert_near(tl_pattern_panel(p, 0)->area, PI * 0.16, 1e-4);
        assert_int_equal(tl_pattern_panel(p, 0)->curve_count, n);
        tl_pattern_destroy(p);
    }
}

// --- memory and schema -----------------------------------------------------------------------------------

static void lack_of_memory_is_survived(void **state)
{
    (void)state;
    help_write("all.json", everything);
    static const char *const paths[] = {"all.json", DATA "drawing.svg", DATA "aama_r12.dxf",
                                        DATA "skirt_2_panels.json"};
    for (int k = 0; k < 4; k++) {
        tl_status status = TL_NO_MEMORY;
        for (int64_t at = 0; status != TL_OK; at++) {
            ledger l;
            const tl_allocator alloc = failing_allocator(&l, at);
            tl_pattern *p = NULL;
            tl_error err = {0};
            status = tl_pattern_open(&alloc, NULL, paths[k], &p, &err);
            assert_true(status == TL_OK || status == TL_NO_MEMORY);
            tl_pattern_destroy(p);
            assert_int_equal(l.live, 0);
        }
    }
}

static void schema_is_in_step(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    json_t *schema = tl_pattern_schema();
    assert_non_null(schema);
    tl_buf text;
    tl_buf_init(&text, &alloc);
    tl_json_write(&text, schema);
    tl_buf_text(&text, "\n");
    assert_ok(tl_buf_end(&text, "text", &err));
    if (getenv("TOILE_WRITE_SCHEMA")) help_write(TL_REPO "/docs/pattern.schema.json", text.data);
    char *committed = help_read(TL_REPO "/docs/pattern.schema.json", NULL);
    assert_string_equal(text.data, committed);  // else: run this test with TOILE_WRITE_SCHEMA=1 and commit
    free(committed);
    tl_buf_free(&text);
    json_decref(schema);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, help_setup, help_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(shared_patterns_have_the_figures_of_the_oracle),
        IN_FOLDER(darts_of_outlines_are_counted),
        IN_FOLDER(shared_patterns_survive_every_format),
        IN_FOLDER(one_of_everything_survives_every_format),
        IN_FOLDER(patterns_of_garmentcode_are_written_as_they_were),
        IN_FOLDER(one_of_everything_becomes_garmentcode),
        IN_FOLDER(cut_lines_survive_dxf),
        IN_FOLDER(drawings_of_garmentcode_have_the_areas_of_its_json),
        IN_FOLDER(drawing_is_read_by_hand_worked_figures),
        IN_FOLDER(drawing_of_inkscape_is_read_by_hand_worked_figures),
        IN_FOLDER(seams_drawn_along_outlines_are_found),
        IN_FOLDER(nested_outlines_are_told),
        IN_FOLDER(sizes_of_no_garment_are_told),
        IN_FOLDER(seams_come_from_a_file_beside),
        IN_FOLDER(dxf_of_ezdxf_is_read_by_hand_worked_figures),
        IN_FOLDER(every_curve_encoding_is_known),
        IN_FOLDER(edges_out_of_order_are_followed),
        IN_FOLDER(right_wrong_sews_the_same_way),
        IN_FOLDER(the_rotation_that_closes_seams_is_taken),
        IN_FOLDER(broken_garmentcode_is_refused_by_panel_and_edge),
        IN_FOLDER(mirrored_panels_are_told),
        IN_FOLDER(slits_are_no_crossings),
        IN_FOLDER(broken_drawings_are_refused),
        IN_FOLDER(broken_patterns_of_ours_are_refused),
        IN_FOLDER(a_million_points),
        IN_FOLDER(lack_of_memory_is_survived),
        IN_FOLDER(schema_is_in_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
