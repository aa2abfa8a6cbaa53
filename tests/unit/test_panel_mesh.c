// tests/unit/test_panel_mesh.c: panels as triangles: seams cut alike, darts, holes, lines, grids, files.

#include <math.h>

#include "io/obj.h"
#include "pattern/panel_outline.h"
#include "test_io_help.h"
#include "toile/pattern.h"

#define DATA TL_REPO "/tests/data/patterns/"

static tl_pattern *load(const char *path)
{
    tl_error err;
    tl_pattern *p = NULL;
    assert_ok(tl_pattern_load(path, &p, &err));
    return p;
}

static tl_pattern *from_text(const char *text)
{
    help_write("p.json", text);
    return load("p.json");
}

static tl_pattern_mesh fill(const tl_pattern *p, tl_panel_method method, double edge)
{
    tl_error err;
    tl_pattern_mesh m;
    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    def.method = method, def.edge = edge;
    assert_ok(tl_pattern_mesh_make(NULL, p, &def, &m, &err));
    return m;
}

static double uv_area(const tl_pattern_mesh *m, int32_t f)
{
    const tl_vec2 a = m->uv[m->face[f][0]], b = m->uv[m->face[f][1]], c = m->uv[m->face[f][2]];
    return 0.5 * ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
}

// Every pair of a seam lies at the same fraction of both sides, one to one, from end to end.
static void check_pairs(const tl_pattern *p, const tl_pattern_mesh *m, double edge)
{
    tl_error err;
    tl_outlines o;
    const tl_allocator alloc = tl_allocator_default();
    assert_ok(tl_outlines_make(&alloc, p, edge, &o, &err));
    for (int32_t s = 0; s < tl_pattern_seam_count(p); s++) {
        const tl_seam *seam = tl_pattern_seam(p, s);
        double low = 1, high = 0;
        int32_t count = 0;
        for (int32_t i = 0; i < m->pair_count; i++) {
            if (m->pairs[i].seam != s) continue;
            const int32_t v[2] = {m->pairs[i].a, m->pairs[i].b};
            double f[2];
            for (int k = 0; k < 2; k++) {
                const int32_t panel = seam->side[k].panel;
                const tl_panel_mesh *q = &m->panels[panel];
                assert_true(v[k] >= q->vert && v[k] < q->vert + q->vert_count);
                int32_t e;
                double at;
                const double off = tl_panel_nearest(tl_pattern_panel(p, panel), m->at[v[k]], &e, &at);
                assert_true(off < 0.1 * edge);
                // at a corner the nearest edge may be the neighbour, which is the same place
                assert_true(tl_outline_on_side(&o, &seam->side[k], tl_outline_place(&o, panel, e, at), &f[k]));
            }
            const double length = tl_seam_side_length(p, &seam->side[0]);
            assert_true(fabs(f[0] - f[1]) * length < 0.05 * edge ||
                        fabs(f[0] - f[1]) > 0.999);  // a closed side: 0 is 1
            low = fmin(low, f[0]), high = fmax(high, f[0]);
            count++;
            for (int32_t j = 0; j < i; j++)
                if (m->pairs[j].seam == s) assert_true(m->pairs[j].a != v[0] && m->pairs[j].b != v[1]);
        }
        assert_true(count >= 1);
        if (count > 1) assert_true(low < 1e-6 || high > 1 - 1e-6);
    }
    tl_outlines_free(&o);
}

static void shared_patterns_are_filled(void **state)
{
    (void)state;
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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        snprintf(path, sizeof path, DATA "%s.json", names[i]);
        tl_pattern *p = load(path);
        tl_pattern_mesh m = fill(p, TL_PANEL_DELAUNAY, 0.02);
        assert_int_equal(m.panel_count, tl_pattern_panel_count(p));
        for (int32_t k = 0; k < m.panel_count; k++) {
            const double area = fabs(tl_pattern_panel(p, k)->area);
            assert_near(m.panels[k].area, area, 0.01 * area);
        }
        for (int32_t f = 0; f < m.face_count; f++) assert_true(uv_area(&m, f) > 0);
        check_pairs(p, &m, 0.02);
        tl_pattern_mesh again = fill(p, TL_PANEL_DELAUNAY, 0.02);
        assert_int_equal(again.vert_count, m.vert_count);
        assert_memory_equal(again.at, m.at, (size_t)m.vert_count * sizeof *m.at);
        assert_memory_equal(again.face, m.face, (size_t)m.face_count * sizeof *m.face);
        tl_pattern_mesh_free(&again);
        tl_pattern_mesh_free(&m);
        tl_pattern_destroy(p);
    }
}

// Two rectangles, 0.4 and 0.6 m wide, sewn along their widths.
static const char gathered[] = "{\"format\": \"toile-pattern-1\", \"panels\": ["
                               "{\"name\": \"band\", \"start\": [0, 0], \"edges\": [{\"to\": [0.4, 0]}, {\"to\": [0.4, "
                               "0.1]}, {\"to\": [0, 0.1]}, {\"to\": [0, 0]}]},"
                               "{\"name\": \"skirt\", \"start\": [0, 0], \"edges\": [{\"to\": [0.6, 0]}, {\"to\": "
                               "[0.6, 0.3]}, {\"to\": [0, 0.3]}, {\"to\": [0, 0]}]}],"
                               "\"seams\": [{\"sides\": [{\"panel\": \"band\", \"edge\": 0}, {\"panel\": \"skirt\", "
                               "\"edge\": 2, \"from\": 1, \"to\": 0}]}]}";

static void gathers_are_spread_evenly(void **state)
{
    (void)state;
    tl_pattern *p = from_text(gathered);
    tl_pattern_mesh m = fill(p, TL_PANEL_DELAUNAY, 0.05);
    check_pairs(p, &m, 0.05);
    assert_true(m.pair_count >= 13);  // as the longer side wants: 12 parts
    for (int32_t i = 0; i < m.pair_count; i++) {
        assert_near(m.at[m.pairs[i].a].y, 0, 1e-15);
        assert_near(m.at[m.pairs[i].b].y, 0.3, 1e-15);
        assert_near(1.5 * m.at[m.pairs[i].a].x, m.at[m.pairs[i].b].x, 1e-12);  // left to left
    }
    tl_pattern_mesh_free(&m);
    tl_pattern_destroy(p);
}

// A quarter of a circle skirt, 0.1 to 0.7 m: whatever the edges, every side on the rims lies within half a millimetre
// of its circle (so it stays when remeshing cuts it), and nowhere does it turn by more than 15 degrees.
static void coarse_outlines_lie_on_their_curves(void **state)
{
    (void)state;
    tl_pattern *p =
        from_text("{\"format\": \"toile-pattern-1\", \"panels\": [{\"name\": \"skirt\", \"start\": [0.1, 0], "
                  "\"edges\": [{\"to\": [0.7, 0]}, {\"to\": [0, 0.7], \"bulge\": 0.41421356237309503}, "
                  "{\"to\": [0, 0.1]}, {\"to\": [0.1, 0], \"bulge\": -0.41421356237309503}]}]}");
    const double edges[] = {0.3, 0.05, 0.02};
    for (int e = 0; e < 3; e++) {
        tl_pattern_mesh m = fill(p, TL_PANEL_DELAUNAY, edges[e]);
        int32_t sides[2] = {0, 0};
        for (int32_t f = 0; f < m.face_count; f++)
            for (int k = 0; k < 3; k++) {
                const tl_vec2 a = m.uv[m.face[f][k]], b = m.uv[m.face[f][(k + 1) % 3]];
                for (int rim = 0; rim < 2; rim++) {
                    const double radius = rim ? 0.7 : 0.1;
                    if (fabs(hypot(a.x, a.y) - radius) > 1e-9 || fabs(hypot(b.x, b.y) - radius) > 1e-9) continue;
                    sides[rim]++;
                    assert_true(radius - hypot(0.5 * (a.x + b.x), 0.5 * (a.y + b.y)) <= 5e-4 * (1 + 1e-3));
                    assert_true(hypot(b.x - a.x, b.y - a.y) <= 2 * radius * sin(0.5 * 0.27) * (1 + 1e-3));
                }
            }
        // sqrt(length turn / (8 0.5 mm)): 20.8 and 7.9 parts
        assert_true(sides[1] >= 20 && sides[0] >= 7);
        if (e == 0) assert_true(sides[1] <= 22 && sides[0] <= 9);
        tl_pattern_mesh_free(&m);
    }
    tl_pattern_destroy(p);
}

// A seam of two edges on one panel and one on the other: the corner between the two has a partner.
static void corners_are_carried_over(void **state)
{
    (void)state;
    tl_pattern *p = from_text(
        "{\"format\": \"toile-pattern-1\", \"panels\": ["
        "{\"name\": \"a\", \"start\": [0, 0], \"edges\": [{\"to\": [0.13, 0]}, {\"to\": [0.4, 0]}, {\"to\": [0.4, "
        "0.2]}, {\"to\": [0, 0.2]}, {\"to\": [0, 0]}]},"
        "{\"name\": \"b\", \"start\": [0, 0], \"edges\": [{\"to\": [0.4, 0]}, {\"to\": [0.4, 0.2]}, {\"to\": [0, "
        "0.2]}, {\"to\": [0, 0]}]},"
        "{\"name\": \"c\", \"start\": [0, 0], \"edges\": [{\"to\": [0.2, 0]}, {\"to\": [0.2, 0.2]}, {\"to\": [0, "
        "0.2]}, {\"to\": [0, 0]}]}],"
        "\"seams\": [{\"sides\": [{\"panel\": \"a\", \"edge\": 0, \"count\": 2}, {\"panel\": \"b\", \"edge\": 0}]},"
        "{\"sides\": [{\"panel\": \"b\", \"edge\": 2, \"from\": 0.25, \"to\": 0.75}, {\"panel\": \"c\", \"edge\": "
        "0}]}]}");
    tl_pattern_mesh m = fill(p, TL_PANEL_DELAUNAY, 0.1);
    check_pairs(p, &m, 0.1);
    bool found = false;
    for (int32_t i = 0; i < m.pair_count; i++)
        if (m.pairs[i].seam == 0 && m.at[m.pairs[i].a].x == 0.13) found = fabs(m.at[m.pairs[i].b].x - 0.13) < 1e-12;
    assert_true(found);
    tl_pattern_mesh_free(&m);
    tl_pattern_destroy(p);
}

static void darts_holes_and_lines_are_respected(void **state)
{
    (void)state;
    tl_pattern *p =
        from_text("{\"format\": \"toile-pattern-1\", \"panels\": [{\"name\": \"a\", \"start\": [0, 0],"
                  "\"edges\": [{\"to\": [0.4, 0]}, {\"to\": [0.4, 0.4]}, {\"to\": [0, 0.4]}, {\"to\": [0, 0]}],"
                  "\"darts\": [{\"edge\": 0, \"from\": 0.4, \"to\": 0.5, \"apex\": [0.18, 0.15]}],"
                  "\"lines\": [{\"kind\": \"hole\", \"start\": [0.2, 0.25], \"path\": [{\"to\": [0.3, 0.25]}, {\"to\": "
                  "[0.3, 0.3]}, {\"to\": [0.2, 0.3]}, {\"to\": [0.2, 0.25]}]},"
                  "{\"kind\": \"fold\", \"angle\": 90, \"start\": [0, 0.2], \"path\": [{\"to\": [0.15, 0.2]}]}]}]}");
    tl_pattern_mesh m = fill(p, TL_PANEL_DELAUNAY, 0.03);
    assert_near(m.panels[0].area, 0.16 - 0.5 * 0.04 * 0.15 - 0.1 * 0.05, 1e-12);
    assert_true(m.pair_count >= 5);
    for (int32_t i = 0; i < m.pair_count; i++) {
        assert_int_equal(m.pairs[i].seam, 0);  // the first behind the pattern's own, which are none
        const tl_vec2 a = m.at[m.pairs[i].a], b = m.at[m.pairs[i].b];
        assert_near(a.x + b.x, 0.36, 1e-12);  // the dart is upright, so legs mirror each other
        assert_near(a.y, b.y, 1e-12);
    }
    // The fold is a row of edges: sorted by x, its vertices are joined one to the next.
    double x = 0;
    for (int guard = 0; x < 0.15 - 1e-9 && guard < 100; guard++) {
        double next = -1;
        for (int32_t f = 0; f < m.face_count; f++)
            for (int k = 0; k < 3; k++) {
                const tl_vec2 u = m.at[m.face[f][k]], v = m.at[m.face[f][(k + 1) % 3]];
                if (fabs(u.y - 0.2) < 1e-12 && fabs(v.y - 0.2) < 1e-12 && fabs(u.x - x) < 1e-12 && v.x > x) next = v.x;
                if (fabs(u.y - 0.2) < 1e-12 && fabs(v.y - 0.2) < 1e-12 && fabs(v.x - x) < 1e-12 && u.x > x) next = u.x;
            }
        assert_true(next > x);
        x = next;
    }
    assert_near(x, 0.15, 1e-12);
    tl_pattern_mesh_free(&m);
    tl_error err;
    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    def.method = TL_PANEL_TFI;
    assert_int_equal(tl_pattern_mesh_make(NULL, p, &def, &m, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "panel 'a': has a hole"));
    tl_pattern_destroy(p);
}

static void wrong_sides_are_turned_and_grain_runs_along_v(void **state)
{
    (void)state;
    tl_pattern *p =
        from_text("{\"format\": \"toile-pattern-1\", \"panels\": [{\"name\": \"a\", \"start\": [0, 0], \"grain\": [[0, "
                  "0], [0.1, 0]],"
                  "\"placement\": {\"origin\": [1, 2, 3], \"rotation\": [0, 0, 90]},"
                  "\"edges\": [{\"to\": [0, 0.2]}, {\"to\": [0.4, 0.2]}, {\"to\": [0.4, 0]}, {\"to\": [0, 0]}]}]}");
    assert_true(tl_pattern_panel(p, 0)->area < 0);
    tl_pattern_mesh m = fill(p, TL_PANEL_DELAUNAY, 0.1);
    for (int32_t f = 0; f < m.face_count; f++) {
        assert_true(uv_area(&m, f) > 0);
        const tl_vec3 a = m.pos[m.face[f][0]], b = m.pos[m.face[f][1]], c = m.pos[m.face[f][2]];
        assert_true((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) < 0);  // its right side faces -z
    }
    for (int32_t v = 0; v < m.vert_count; v++) {
        assert_near(fabs(m.uv[v].y), m.at[v].x, 1e-15);
        assert_near(m.pos[v].x, 1 - m.at[v].y, 1e-15);
        assert_near(m.pos[v].y, 2 + m.at[v].x, 1e-15);
    }
    tl_pattern_mesh_free(&m);
    tl_pattern_destroy(p);
}

// A strip bent about a cylinder of radius 0.2 m: lengths along it stay, and it closes nearly half a circle behind
// itself.
static void bent_panels_lie_on_a_cylinder(void **state)
{
    (void)state;
    tl_pattern *p = from_text(
        "{\"format\": \"toile-pattern-1\", \"panels\": [{\"name\": \"a\", \"start\": [-0.3, 0],"
        "\"placement\": {\"origin\": [0, 1, 0.2], \"rotation\": [0, 180, 0], \"bend\": 5},"
        "\"edges\": [{\"to\": [0.3, 0]}, {\"to\": [0.3, 0.1]}, {\"to\": [-0.3, 0.1]}, {\"to\": [-0.3, 0]}]}]}");
    tl_pattern_mesh m = fill(p, TL_PANEL_DELAUNAY, 0.05);
    for (int32_t v = 0; v < m.vert_count; v++) {  // turned to face -z: the axis is at z = 0.2 + 0.2
        const double angle = 5 * m.at[v].x;
        assert_near(m.pos[v].x, -0.2 * sin(angle), 1e-15);
        assert_near(m.pos[v].y, 1 + m.at[v].y, 1e-15);
        assert_near(m.pos[v].z, 0.4 - 0.2 * cos(angle), 1e-15);
    }
    tl_pattern_mesh_free(&m);
    tl_pattern_destroy(p);
}

static void grids_fill_four_sided_panels(void **state)
{
    (void)state;
    tl_pattern *p = from_text(gathered);
    for (int k = TL_PANEL_TFI; k <= TL_PANEL_EQUAL_AREA; k++) {
        tl_pattern_mesh m = fill(p, (tl_panel_method)k, 0.05);
        assert_int_equal(m.panels[0].face_count, 2 * 8 * 2);
        assert_int_equal(m.panels[1].face_count, 2 * 12 * 6);
        assert_near(m.panels[1].area, 0.18, 1e-12);
        assert_near(m.panels[1].area_ratio, 1, 1e-6);
        assert_int_equal(m.pair_count, 13);  // every vertex of the longer side
        tl_pattern_mesh_free(&m);
    }
    tl_error err;
    tl_pattern_mesh m;
    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    def.method = TL_PANEL_LENGTH, def.cells_u = 5, def.cells_v = 7, def.panel = 1;
    assert_ok(tl_pattern_mesh_make(NULL, p, &def, &m, &err));
    assert_int_equal(m.panel_count, 1);
    assert_int_equal(m.face_count, 70);
    assert_int_equal(m.pair_count, 0);
    tl_pattern_mesh_free(&m);
    tl_pattern_destroy(p);
}

static void files_hold_the_mesh(void **state)
{
    (void)state;
    tl_error err;
    tl_pattern *p = load(DATA "skirt_4_panels.json");
    tl_pattern_mesh m = fill(p, TL_PANEL_DELAUNAY, 0.05);
    assert_ok(tl_pattern_mesh_save(p, &m, "s.obj", &err));
    assert_ok(tl_pattern_mesh_draw(p, &m, "s.svg", &err));
    assert_ok(tl_pattern_mesh_describe(p, &m, "r.json", &err));
    size_t size;
    char *text = help_read("s.obj", &size);
    const tl_allocator alloc = tl_allocator_default();
    tl_obj obj;
    assert_ok(tl_obj_parse(&alloc, "s.obj", text, size, TL_OBJ_STRICT, &obj, &err));
    assert_int_equal(obj.face_count, m.face_count);
    assert_int_equal(obj.unknown_lines, 0);
    assert_memory_equal(obj.uv, m.uv, (size_t)m.vert_count * sizeof *m.uv);
    tl_obj_free(&obj);
    int32_t loose = 0, groups = 0;
    for (const char *q = text; (q = strstr(q, "\nl ")); q++) loose++;
    for (const char *q = text; (q = strstr(q, "\ng ")); q++) groups++;
    assert_int_equal(loose, m.pair_count);
    assert_int_equal(groups, 5);
    free(text);
    assert_true(help_exists("s.seams.json") && help_exists("s.svg") && help_exists("r.json"));
    assert_int_equal(tl_pattern_mesh_save(p, &m, "s.ply", &err), TL_BAD_ARG);
    tl_pattern_mesh_free(&m);
    tl_pattern_destroy(p);
}

static void lack_of_memory_is_survived(void **state)
{
    (void)state;
    tl_pattern *p = from_text(gathered);
    for (int k = 0; k < 2; k++) {
        tl_status status = TL_NO_MEMORY;
        for (int64_t at = 0; status != TL_OK; at += at < 60 ? 1 : 7) {
            ledger l;
            const tl_allocator alloc = failing_allocator(&l, at);
            tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
            def.method = k ? TL_PANEL_DIAGONAL : TL_PANEL_DELAUNAY;
            def.edge = 0.1;
            tl_pattern_mesh m;
            tl_error err = {0};
            status = tl_pattern_mesh_make(&alloc, p, &def, &m, &err);
            assert_true(status == TL_OK || status == TL_NO_MEMORY);
            tl_pattern_mesh_free(&m);
            assert_int_equal(l.live, 0);
        }
    }
    tl_pattern_destroy(p);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, help_setup, help_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(shared_patterns_are_filled),
        IN_FOLDER(gathers_are_spread_evenly),
        IN_FOLDER(coarse_outlines_lie_on_their_curves),
        IN_FOLDER(corners_are_carried_over),
        IN_FOLDER(darts_holes_and_lines_are_respected),
        IN_FOLDER(wrong_sides_are_turned_and_grain_runs_along_v),
        IN_FOLDER(bent_panels_lie_on_a_cylinder),
        IN_FOLDER(grids_fill_four_sided_panels),
        IN_FOLDER(files_hold_the_mesh),
        IN_FOLDER(lack_of_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
