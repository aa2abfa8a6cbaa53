// tests/unit/test_io_shapes.c: generated meshes cover their area with good triangles, and the Delaunay ones are
// Delaunay.

#include "test_io_help.h"

#include "scene/shapes.h"

static double twice_area(const tl_obj *m, int32_t f)
{
    const tl_vec2 a = m->uv[m->face[f][0]], b = m->uv[m->face[f][1]], c = m->uv[m->face[f][2]];
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static double smallest_angle(const tl_obj *m)
{
    double smallest = 180;
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++) {
            const tl_vec2 a = m->uv[m->face[f][k]], b = m->uv[m->face[f][(k + 1) % 3]],
                          c = m->uv[m->face[f][(k + 2) % 3]];
            const double dot = (b.x - a.x) * (c.x - a.x) + (b.y - a.y) * (c.y - a.y);
            smallest = fmin(smallest, atan2(twice_area(m, f), dot) * 180 / 3.14159265358979);
        }
    return smallest;
}

static void check_cover(const tl_obj *m, double area, double tolerance)
{
    double sum = 0;
    for (int32_t f = 0; f < m->face_count; f++) {
        assert_true(twice_area(m, f) > 0);
        sum += twice_area(m, f) / 2;
    }
    assert_near(sum, area, tolerance);
    for (int32_t i = 0; i < m->node_count; i++) {
        assert_true(m->pos[i].x == m->uv[i].x && m->pos[i].y == m->uv[i].y && m->pos[i].z == 0);
        assert_int_equal(m->vert_node[i], i);
    }
}

static void rectangles_cover_their_area(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    const double sizes[][3] = {{1, 1, 0.1}, {2, 0.3, 0.04}, {0.3, 2, 0.07}, {1, 1, 5}, {1, 0.01, 0.02}};
    for (int s = 0; s < 5; s++)
        for (int grid = 0; grid < 4; grid++) {
            const tl_rectangle_def def = {sizes[s][0], sizes[s][1], sizes[s][2], (tl_grid)grid, 1, 100000};
            tl_obj m;
            assert_ok(tl_shape_rectangle(&alloc, &def, &m, &err));
            check_cover(&m, sizes[s][0] * sizes[s][1], 1e-12);
            // disc topology: V - E + F = 1, and 3 F = 2 E - border edges
            int corners = 0;
            for (int32_t i = 0; i < m.node_count; i++)
                corners += (m.uv[i].x == 0 || m.uv[i].x == def.width) && (m.uv[i].y == 0 || m.uv[i].y == def.height);
            assert_int_equal(corners, 4);
            tl_obj_free(&m);
        }
}

static void delaunay_means_delaunay(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    const tl_rectangle_def def = {.width = 1, .height = 0.6, .edge = 0.08, .seed = 5, .max_faces = 100000};
    tl_obj m, again, other;
    assert_ok(tl_shape_rectangle(&alloc, &def, &m, &err));
    // slow oracle: no node inside the circle of any face
    for (int32_t f = 0; f < m.face_count; f++) {
        const tl_vec2 a = m.uv[m.face[f][0]], b = m.uv[m.face[f][1]], c = m.uv[m.face[f][2]];
        for (int32_t i = 0; i < m.node_count; i++) {
            const double ax = a.x - m.uv[i].x, ay = a.y - m.uv[i].y, bx = b.x - m.uv[i].x, by = b.y - m.uv[i].y;
            const double cx = c.x - m.uv[i].x, cy = c.y - m.uv[i].y;
            const double inside = (ax * ax + ay * ay) * (bx * cy - by * cx) -
                                  (bx * bx + by * by) * (ax * cy - ay * cx) + (cx * cx + cy * cy) * (ax * by - ay * bx);
            assert_true(inside <= 1e-12);
        }
    }
    assert_true(smallest_angle(&m) > 20);
    assert_ok(tl_shape_rectangle(&alloc, &def, &again, &err));
    assert_memory_equal(m.face, again.face, (size_t)m.face_count * sizeof *m.face);
    tl_rectangle_def moved = def;
    moved.seed = 6;
    assert_ok(tl_shape_rectangle(&alloc, &moved, &other, &err));
    assert_memory_not_equal(m.pos, other.pos, (size_t)m.node_count * sizeof *m.pos);
    tl_obj_free(&m);
    tl_obj_free(&again);
    tl_obj_free(&other);
}

static void discs(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_obj m;
    assert_ok(tl_shape_disc(&alloc, 0.15, 0.01, 100000, &m, &err));
    check_cover(&m, 3.14159265358979 * 0.0225, 1e-4);
    assert_true(smallest_angle(&m) > 40);
    tl_obj_free(&m);
    for (double edge = 0.013; edge < 5; edge *= 1.7) {  // however coarse, the outline is round
        assert_ok(tl_shape_disc(&alloc, 0.15, edge, 100000, &m, &err));
        check_cover(&m, 3.14159265358979 * 0.0225, 1e-4);
        assert_true(smallest_angle(&m) > 20);
        double longest = 0;
        for (int32_t f = 0; f < m.face_count; f++)
            for (int k = 0; k < 3; k++) {
                const tl_vec2 a = m.uv[m.face[f][k]], b = m.uv[m.face[f][(k + 1) % 3]];
                longest = fmax(longest, hypot(a.x - b.x, a.y - b.y));
            }
        assert_true(longest < 1.6 * edge);
        tl_obj_free(&m);
    }
    for (double edge = 0.04; edge < 5; edge *= 2) {  // a table cloth: every chord within 0.25 mm of the circle
        assert_ok(tl_shape_disc(&alloc, 1.2, edge, 100000, &m, &err));
        check_cover(&m, 3.14159265358979 * 1.44, 2e-3);
        double longest = 0;
        for (int32_t f = 0; f < m.face_count; f++)
            for (int k = 0; k < 3; k++) {
                const tl_vec2 a = m.uv[m.face[f][k]], b = m.uv[m.face[f][(k + 1) % 3]];
                const bool rim = hypot(a.x, a.y) > 1.2 - 1e-9 && hypot(b.x, b.y) > 1.2 - 1e-9;
                if (rim) longest = fmax(longest, hypot(a.x - b.x, a.y - b.y));
            }
        assert_true(longest > 0 && longest * longest / (8 * 1.2) < 2.6e-4);
        tl_obj_free(&m);
    }
    assert_int_equal(tl_shape_disc(&alloc, 1, 1e-9, 100000, &m, &err), TL_BAD_INPUT);
    assert_message_has("faces, must be <= 100000 (choose a larger edge)");
    const tl_rectangle_def huge = {.width = 1e6, .height = 1e6, .edge = 1e-9, .max_faces = 100000};
    assert_int_equal(tl_shape_rectangle(&alloc, &huge, &m, &err), TL_BAD_INPUT);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tl_error err;
    for (int grid = 0; grid < 2; grid++) {
        bool done = false;
        for (int64_t at = 0; !done; at++) {
            ledger f;
            const tl_allocator alloc = failing_allocator(&f, at);
            const tl_rectangle_def def = {1, 1, 0.1, (tl_grid)grid, 1, 100000};
            tl_obj m;
            const tl_status status = tl_shape_rectangle(&alloc, &def, &m, &err);
            assert_true(status == TL_OK || status == TL_NO_MEMORY);
            done = status == TL_OK;
            if (done) tl_obj_free(&m);
            assert_true(f.live == 0 && at < 100);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectangles_cover_their_area),
        cmocka_unit_test(delaunay_means_delaunay),
        cmocka_unit_test(discs),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
