// tests/unit/test_sizing.c: the sizing field against closed forms; nearest points against all faces.
#include "sizing_cloth.h"

#include "adapt/anisotropic/obstacles.h"
#include "base/rng.h"
#include "detect/nearest.h"
#include "mesh/mesh_edit.h"
#include "mesh/mesh_query.h"
#include "toile/collide.h"

static bool inside(const tl_mesh *mesh, int32_t v, double low, double high)
{
    const tl_vec2 u = mesh->uv[v];
    return u.x > low && u.x < high && u.y > low && u.y < high;
}

// ---- tensors ----------------------------------------------------------------------------------------------

static tl_sym2 random_sym2(uint64_t i, bool positive)
{
    const double a = 2 * tl_random(1, i, 0) - 1, b = 2 * tl_random(1, i, 1) - 1, c = 2 * tl_random(1, i, 2) - 1,
                 d = 2 * tl_random(1, i, 3) - 1;
    return positive ? (tl_sym2){a * a + b * b, a * c + b * d, c * c + d * d} : (tl_sym2){a, b, c};
}

static double least_eigenvalue(tl_sym2 a)
{
    double l[2];
    tl_sym2_eigen(a, l);
    return l[1];
}

static void functions_of_tensors(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        const tl_sym2 a = random_sym2(2 * i, true), b = random_sym2(2 * i + 1, true);
        if (tl_sym2_det(a) < 1e-3) continue;
        const tl_sym2 m = tl_sym2_max(a, b);
        // at least both, and no more than it takes: both differences are singular (or one of them zero)
        const tl_sym2 above_a = tl_sym2_madd(m, -1, a), above_b = tl_sym2_madd(m, -1, b);
        assert_true(least_eigenvalue(above_a) > -1e-9);
        assert_true(least_eigenvalue(above_b) > -1e-9);
        assert_near(tl_sym2_det(above_a) * tl_sym2_det(above_b), 0, 1e-9);
        const tl_sym2 n = tl_sym2_max(a, tl_sym2_scale(1e-9, b)), w = tl_sym2_max(a, tl_sym2_scale(1e9, a));
        assert_sym2(tl_sym2_madd(n, -1, a), 0, 0, 0, 1e-7);
        assert_sym2(tl_sym2_madd(w, -1e9, a), 0, 0, 0, 1e-5);
        // the positive part and the negative part add up, and their product vanishes
        const tl_sym2 s = random_sym2(2 * i, false), p = tl_sym2_positive(s),
                      q = tl_sym2_positive(tl_sym2_scale(-1, s));
        assert_sym2(tl_sym2_madd(p, -1, q), s.xx, s.xy, s.yy, 1e-12);
        assert_near(p.xx * q.xx + p.xy * q.xy, 0, 1e-12);
        assert_near(p.xx * q.xy + p.xy * q.yy, 0, 1e-12);
        // turning
        const double angle = 6 * tl_random(1, i, 4);
        const tl_vec2 u = {0.3, -0.8}, t = {cos(angle) * u.x - sin(angle) * u.y, sin(angle) * u.x + cos(angle) * u.y};
        assert_near(tl_sym2_form(tl_sym2_turn(s, cos(angle), sin(angle)), t), tl_sym2_form(s, u), 1e-12);
    }
}

static void clamps(void **state)
{
    (void)state;
    tl_sizing_def d = tl_sizing_def_default();
    d.size_min = 0.01, d.size_max = 0.1, d.aspect_min = 0.2;
    assert_sym2(tl_sizing_clamp(&d, (tl_sym2){0}), 100, 0, 100, 1e-9);
    assert_sym2(tl_sizing_clamp(&d, (tl_sym2){1e9, 0, 3e9}), 1e4, 0, 1e4, 1e-6);
    assert_sym2(tl_sizing_clamp(&d, (tl_sym2){9000, 0, 0}), 9000, 0, 0.04 * 9000, 1e-9);
    const double c = cos(0.7), s = sin(0.7);
    const tl_sym2 turned = tl_sizing_clamp(&d, tl_sym2_turn((tl_sym2){9000, 0, 0}, c, s));
    const tl_sym2 expected = tl_sym2_turn((tl_sym2){9000, 0, 360}, c, s);
    assert_sym2(turned, expected.xx, expected.xy, expected.yy, 1e-8);
    assert_sym2(tl_sizing_clamp(&d, (tl_sym2){(double)NAN, 0, 0}), 1e4, 0, 1e4, 1e-9);
    assert_sym2(tl_sizing_clamp(&d, (tl_sym2){(double)INFINITY, 0, 0}), 1e4, 0, 1e4, 1e-9);
    d.aspect_min = 1;
    assert_sym2(tl_sizing_clamp(&d, (tl_sym2){9000, 0, 200}), 9000, 0, 9000, 1e-9);
}

// ---- closed forms -----------------------------------------------------------------------------------------

static const double radius = 0.5;
static void on_cylinder(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)
{
    *x = (tl_vec3){radius * sin(u.x / radius), u.y, radius * cos(u.x / radius)};
    *v = (tl_vec3){0};
}
static void on_sphere(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)  // lengths along meridians are kept
{
    const double r = tl_norm2(u), s = r > 0 ? radius * sin(r / radius) / r : 1;
    *x = (tl_vec3){s * u.x, s * u.y, radius * cos(r / radius)};
    *v = (tl_vec3){0};
}

static void curvature_of_cylinder_and_sphere(void **state)
{
    (void)state;
    tl_sizing_def d = nothing();
    d.curvature = 0.15;
    const double k2 = 1 / (radius * 0.15 * radius * 0.15), low = 1e-4;
    for (int b = 0; b < 2; b++) {
        d.blend = (tl_sizing_blend)b;
        cloth c = sheet(20, 20, 0.01, -0.1, -0.1);
        place(c.mesh, on_cylinder);
        run(&c, &d, NULL);
        for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++)
            if (inside(c.mesh, v, -0.075, 0.075)) assert_sym2(c.size[v], k2, 0, low, 2e-3 * k2);
        place(c.mesh, on_sphere);
        run(&c, &d, NULL);
        for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++)
            if (inside(c.mesh, v, -0.025, 0.025)) assert_sym2(c.size[v], k2, 0, k2, 5e-3 * k2);
        free_cloth(&c);
    }
}

// Folded to and fro along every other line, symmetrically: the normals of the nodes are all the same, the angles are
// not.
static void edges_see_folds_to_and_fro(void **state)
{
    (void)state;
    tl_sizing_def d = nothing();
    d.curvature = 0.15;
    const double h = 0.02, slope = 0.3;
    cloth c = sheet(8, 8, h, 0, 0);
    for (int32_t n = 0; n < c.mesh->slots[TL_NODES].count; n++) {
        const int32_t column = n % 9;
        c.mesh->pos[n] = (tl_vec3){column * h * cos(slope), c.mesh->uv[n].y, column % 2 ? h * sin(slope) : 0};
    }
    for (int b = 0; b < 2; b++) {
        d.blend = (tl_sizing_blend)b;
        d.edge_angles = false;
        run(&c, &d, NULL);
        assert_true(c.size[4 * 9 + 4].xx < 1);
        d.edge_angles = true;  // a turn of 2 slope at one edge of each face: 2 sin(slope) / h
        run(&c, &d, NULL);
        const double k = 2 * sin(slope) / h / 0.15;
        assert_sym2(c.size[4 * 9 + 4], k * k, 0, 1e-4, 1e-3 + 1e-9 * k * k);
    }
    free_cloth(&c);
}

// Narain et al. 2013: curvature across the compression takes from what it asks for, half of it at most.
static void ribs_stiffen(void **state)
{
    (void)state;
    tl_sizing_def d = nothing();
    d.compression = 0.05, d.curvature = 1e3, d.rib_stiffening = 1;  // curvature itself asks for nothing
    cloth c = sheet(20, 20, 0.01, -0.1, -0.1);
    const double e = 1 - 0.81, cc = 0.05 * 0.05;
    for (int k = 0; k < 3; k++) {
        const double r = k == 0 ? 1e6 : k == 1 ? 2 : 0.2;
        for (int32_t n = 0; n < c.mesh->slots[TL_NODES].count; n++) {
            const tl_vec2 u = c.mesh->uv[n];
            c.mesh->pos[n] = (tl_vec3){r * sin(u.x / r), 0.9 * u.y, r * cos(u.x / r)};
        }
        run(&c, &d, NULL);
        const double p = 1 / (r * r), under = e * e - 4 * cc * p, expected = (e + sqrt(fmax(0, under))) / (2 * cc);
        assert_near(c.size[10 * 21 + 10].yy, expected, 1e-2 * expected);
        if (k == 0) assert_near(expected, e / cc, 1e-3);
        if (k == 2) assert_near(expected, e / (2 * cc), 1e-9);
    }
    free_cloth(&c);
}

// A knit that is pulled gets narrower. By strain that is compression, by stress it is none; what is really pushed
// together counts alike.
static void narrowing_is_no_compression(void **state)
{
    (void)state;
    tl_material m = tl_material_default();
    for (int r = 0; r < 6; r++)
        m.stretch[r][0] = 200, m.stretch[r][1] = 120, m.stretch[r][2] = 150, m.stretch[r][3] = 80;
    const tl_sizing_fabric fabric = tl_sizing_fabric_of(&m);
    tl_sizing_def d = nothing();
    d.compression = 0.05;
    tl_error err = {0};
    cloth c = sheet(8, 8, 0.02, 0, 0);
    const double e11 = 0.5 * (1.2 * 1.2 - 1), narrow = sqrt(1 - 2 * 120.0 / 150 * e11), pushed = 0.9,
                 wide = sqrt(1 + 120.0 / 150 * (1 - pushed * pushed));
    for (int k = 0; k < 2; k++) {
        for (int32_t n = 0; n < c.mesh->slots[TL_NODES].count; n++) {
            const tl_vec2 u = c.mesh->uv[n];
            c.mesh->pos[n] = k == 0 ? (tl_vec3){1.2 * u.x, narrow * u.y, 0} : (tl_vec3){pushed * u.x, wide * u.y, 0};
        }
        tl_sym2 size[2];
        for (int by = 0; by < 2; by++) {
            d.narrowing = by == 0;
            assert_ok(tl_sizing_field(c.mesh, &d, &fabric, 1, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err));
            size[by] = c.size[4 * 9 + 4];
        }
        if (k == 0) {
            assert_near(size[0].yy, (1 - narrow * narrow) / (0.05 * 0.05), 1e-6);
            assert_true(size[1].yy < 1e-2 && size[1].xx < 1e-2);
        } else {
            assert_near(size[0].xx, (1 - pushed * pushed) / (0.05 * 0.05), 1e-6);
            assert_near(size[1].xx, size[0].xx, 1e-6);
        }
    }
    assert_int_equal(tl_sizing_field(c.mesh, &d, NULL, 0, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err), TL_BAD_ARG);
    free_cloth(&c);
}

static void pulled(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)
{
    *x = (tl_vec3){u.x, u.y, 0};
    *v = (tl_vec3){3 * u.x + 5, 0, 0};
}
static void sheared(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)  // half of it is a turn
{
    *x = (tl_vec3){u.x, u.y, 0};
    *v = (tl_vec3){4 * u.y, 0, 0};
}
static void waving(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)
{
    *x = (tl_vec3){u.x, u.y, 0};
    *v = (tl_vec3){0, 0, 10 * u.x * u.x};
}

static void linear_velocities(void **state)
{
    (void)state;
    tl_sizing_def d = nothing();
    d.velocity = 0.7, d.blend = TL_SIZING_SUM;
    cloth c = sheet(10, 10, 0.05, -0.25, -0.25);
    place(c.mesh, pulled);
    run(&c, &d, NULL);
    for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++) assert_sym2(c.size[v], 9 / 0.49, 0, 0, 2e-4);
    place(c.mesh, sheared);  // what is left of grad v = (0 4; 0 0) without its spin is (0 2; 2 0)
    run(&c, &d, NULL);
    for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++) assert_sym2(c.size[v], 4 / 0.49, 0, 4 / 0.49, 1e-9);
    place(c.mesh,
          waving);  // bending waves count in full, however fine the mesh: (20 x)^2, the mean over the faces around
    run(&c, &d, NULL);
    for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++) {
        const double x = c.mesh->uv[v].x;
        if (inside(c.mesh, v, -0.24, 0.24))
            assert_near(c.size[v].xx, (400 * x * x + 100 * 0.05 * 0.05) / 0.49, 1e-3 + 400 * 1e-9);
    }
    free_cloth(&c);
}

static void turning_tube(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)
{
    const double r = 0.1;
    const tl_vec3 at = {r * sin(u.x / r), u.y + 40, r * cos(u.x / r) - 7};
    *x = at;
    *v = tl_add3((tl_vec3){3, -20, 5}, tl_cross3((tl_vec3){30, -50, 20}, at));
}
static void turning_sheet(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)
{
    const tl_vec3 at = {u.x, 0.6 * u.y, 0.8 * u.y};
    *x = at;
    *v = tl_cross3((tl_vec3){-10, 50, 20}, at);
}

static void rigid_motion_asks_for_nothing(void **state)
{
    (void)state;
    tl_sizing_def d = nothing();
    d.velocity = 1e-3;
    const motion_fn motions[2] = {turning_tube, turning_sheet};
    for (int k = 0; k < 2; k++) {
        cloth c = sheet(10, 10, 0.05, -0.25, -0.25);
        place(c.mesh, motions[k]);
        run(&c, &d, NULL);
        // turn rate 60 1/s would give (60 / 1e-3)^2 = 4e9; rounding leaves 1e-10 of the rate
        for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++) assert_sym2(c.size[v], 1e-4, 0, 1e-4, 1e-6);
        free_cloth(&c);
    }
    // two pieces, each with a turn of its own
    memset(&sh, 0, sizeof sh);
    shape_grid(&sh, 4, 4, 0.1, 0, 0);
    shape_grid(&sh, 4, 4, 0.1, 5, 0);
    cloth c = make_cloth();
    for (int32_t n = 0; n < c.mesh->slots[TL_NODES].count; n++)
        c.mesh->vel[n] = tl_cross3(c.mesh->pos[n].x > 3 ? (tl_vec3){7, 0, 9} : (tl_vec3){0, 20, 0}, c.mesh->pos[n]);
    run(&c, &d, NULL);
    for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++) assert_sym2(c.size[v], 1e-4, 0, 1e-4, 1e-6);
    free_cloth(&c);
    // one face, drawn into a line: nothing to divide by
    memset(&sh, 0, sizeof sh);
    sh.vert_count = 3, sh.face_count = 1;
    const tl_vec2 uv[3] = {{0, 0}, {1, 0}, {0, 1}};
    for (int i = 0; i < 3; i++) sh.uv[i] = uv[i], sh.pos[i] = (tl_vec3){i, 0, 0}, sh.node[i] = i, sh.face[0][i] = i;
    c = make_cloth();
    run(&c, &d, NULL);
    assert_sym2(c.size[0], 1e-4, 0, 1e-4, 1e-9);
    free_cloth(&c);
}

static void squeezed(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)
{
    const tl_vec2 p = {0.9 * u.x, 1.2 * u.y};
    *x = (tl_vec3){0.6 * p.x, p.y, 0.8 * p.x};
    *v = (tl_vec3){0};
}

static void uniform_compression(void **state)
{
    (void)state;
    tl_sizing_def d = nothing();
    d.compression = 0.07;
    cloth c = sheet(6, 6, 0.05, 0, 0);
    place(c.mesh, squeezed);
    for (int b = 0; b < 2; b++) {
        d.blend = (tl_sizing_blend)b;
        run(&c, &d, NULL);
        for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++) assert_sym2(c.size[v], 0.19 / 0.0049, 0, 0, 2e-4);
    }
    free_cloth(&c);
}

// Compression by stress: a contraction that comes from stretching across is none; what is squeezed asks by its force.
static void compression_by_stress(void **state)
{
    (void)state;
    tl_error err = {0};
    tl_material m;
    const double h = 1e-3, nu = 0.3, young = 1e6;
    assert_ok(tl_material_isotropic(young, nu, h, 0.2, &m, &err));
    const tl_sizing_fabric fabrics[2] = {{0}, tl_sizing_fabric_of(&m)};
    tl_sizing_def d = nothing();
    d.compression = (double)NAN, d.size_min = 1e-6;
    cloth c = sheet(6, 6, 0.05, 0, 0);
    for (int32_t f = 0; f < c.mesh->slots[TL_FACES].count; f++) c.mesh->face_label[f] = 1;
    for (int k = 0; k < 3; k++) {
        const double e = k == 0 ? 0.02 : k == 1 ? -0.02 : -0.02;  // Green strain along y
        const double across = k == 2 ? 0 : -nu * e;               // free to contract across, or held
        for (int32_t n = 0; n < c.mesh->slots[TL_NODES].count; n++) {
            const tl_vec2 u = c.mesh->uv[n];
            c.mesh->pos[n] = (tl_vec3){u.x * sqrt(1 + 2 * across), u.y * sqrt(1 + 2 * e), 0};
        }
        assert_ok(tl_sizing_field(c.mesh, &d, fabrics, 2, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err));
        const double stiff = young * h / (1 - nu * nu), wrinkle = 4 / (PI * PI * stiff * h * h / 12),
                     slack = 0.15 * 0.15 / 16;
        const double x = stiff * (-across - slack + nu * (-e - slack)),
                     y = stiff * (-e - slack + nu * (-across - slack));
        assert_true(k == 0 ? x < 0 && y < 0 : k == 1 ? x < 0 && y > 0 : x > 0 && y > 0);
        const double low = 1e-4;
        assert_sym2(c.size[24], fmax(low, wrinkle * x), 0, fmax(low, wrinkle * y), 1e-6 * (1 + wrinkle * fabs(y)));
    }
    for (int32_t n = 0; n < c.mesh->slots[TL_NODES].count;
         n++)  // wrinkles that this makes turn the normal by less than 0.15
        c.mesh->pos[n] = (tl_vec3){c.mesh->uv[n].x * (1 - 0.0013), c.mesh->uv[n].y * (1 - 0.0013), 0};
    assert_ok(tl_sizing_field(c.mesh, &d, fabrics, 2, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err));
    assert_sym2(c.size[24], 1e-4, 0, 1e-4, 1e-9);
    for (int32_t f = 0; f < c.mesh->slots[TL_FACES].count; f++) c.mesh->face_label[f] = 0;  // a fabric without the term
    assert_ok(tl_sizing_field(c.mesh, &d, fabrics, 2, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err));
    assert_sym2(c.size[24], 1e-4, 0, 1e-4, 1e-9);
    for (int32_t f = 0; f < c.mesh->slots[TL_FACES].count; f++) c.mesh->face_label[f] = 1;
    assert_int_equal(tl_sizing_field(c.mesh, &d, fabrics, 1, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err),
                     TL_BAD_ARG);
    assert_int_equal(tl_sizing_field(c.mesh, &d, NULL, 2, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err), TL_BAD_ARG);
    const tl_sizing_fabric bad[2] = {{0}, {.wrinkle = -1}};
    assert_int_equal(tl_sizing_field(c.mesh, &d, bad, 2, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err), TL_BAD_ARG);
    free_cloth(&c);
}

static void terms_add_up_or_the_largest_counts(void **state)
{
    (void)state;
    tl_sizing_def d = nothing();
    d.compression = 0.07, d.velocity = 0.7;
    cloth c = sheet(6, 6, 0.05, -0.15, -0.15);
    place(c.mesh, squeezed);
    for (int32_t n = 0; n < c.mesh->slots[TL_NODES].count; n++) {  // pulled along y, and squeezed along x by the shape
        c.mesh->vel[n] = (tl_vec3){0, 5 * c.mesh->pos[n].y, 0};
    }
    const double squeeze = 0.19 / 0.0049, rate = 6 * 6 / 0.49;
    for (int b = 0; b < 2; b++) {
        d.blend = (tl_sizing_blend)b;
        run(&c, &d, NULL);
        assert_sym2(c.size[24], squeeze, 0, rate, 3e-4);
    }
    for (int32_t n = 0; n < c.mesh->slots[TL_NODES].count; n++)  // now both along x
        c.mesh->vel[n] = tl_mul3(5 * c.mesh->uv[c.mesh->node_vert[n]].x, (tl_vec3){0.6, 0, 0.8});
    d.blend = TL_SIZING_SUM;
    run(&c, &d, NULL);
    assert_sym2(c.size[24], squeeze + 25 / 0.49, 0, 0, 3e-4);
    d.blend = TL_SIZING_MAX;
    run(&c, &d, NULL);
    assert_sym2(c.size[24], fmax(squeeze, 25 / 0.49), 0, 0, 3e-4);
    free_cloth(&c);
}

// ---- obstacles --------------------------------------------------------------------------------------------

static void tilted_face_above_a_plane(void **state)
{
    (void)state;
    tl_error err = {0};
    memset(&sh, 0, sizeof sh);
    const double c30 = cos(0.5), s30 = sin(0.5);
    const tl_vec2 uv[3] = {{0, 0}, {0.1, 0.02}, {0.01, 0.1}};
    sh.vert_count = 3, sh.face_count = 1;
    for (int i = 0; i < 3; i++) {
        sh.uv[i] = uv[i], sh.node[i] = i, sh.face[0][i] = i;
        sh.pos[i] = (tl_vec3){c30 * uv[i].x, uv[i].y, 0.08 + s30 * uv[i].x};
    }
    cloth c = make_cloth();
    tl_sizing_def d = nothing();
    d.obstacles = true, d.curvature = (double)INFINITY;
    const tl_obstacle floor = {NULL, {5, 5, 0}, {0, 0, 1}};
    tl_obstacle_plane planes[3];
    assert_ok(tl_obstacle_planes(c.mesh, &floor, 1, tl_obstacle_reach(&d), 1e-3, NULL, planes, &err));
    double expected = 0;
    for (int i = 0; i < 3; i++) {
        const double phi = 0.08 + s30 * uv[i].x;
        assert_near(planes[i].distance, phi, 1e-15);
        expected += s30 * s30 / (phi * phi) / 3;
    }
    for (int b = 0; b < 2; b++) {
        d.blend = (tl_sizing_blend)b;
        run(&c, &d, planes);
        for (int v = 0; v < 3; v++) assert_sym2(c.size[v], expected, 0, 0, 2e-4);
    }
    // beyond the reach there is nothing, and the flag switches the term off
    assert_ok(tl_obstacle_planes(c.mesh, &floor, 1, 0.05, 1e-3, NULL, planes, &err));
    assert_true(isinf(planes[0].distance));
    run(&c, &d, planes);
    assert_sym2(c.size[0], 1e-4, 0, 1e-4, 1e-9);
    assert_int_equal(tl_obstacle_planes(c.mesh, &floor, 1, 0.05, 0, NULL, planes, &err), TL_BAD_ARG);
    assert_int_equal(tl_obstacle_planes(c.mesh, &floor, 1, 0, 1e-3, NULL, planes, &err), TL_BAD_ARG);
    free_cloth(&c);
}

// Cloth that lies on a ball: with edges as long as curvature allows, the obstacle asks for no more, however small the
// gap.
static void cloth_at_rest_on_a_body_is_left_alone(void **state)
{
    (void)state;
    tl_sizing_def d = nothing();
    d.curvature = 0.15, d.obstacles = true;
    const double h = 0.6 * 0.15 * radius;  // the longest edge is 0.85 of what curvature allows
    cloth c = sheet(4, 4, h, -2 * h, -2 * h);
    place(c.mesh, on_sphere);
    tl_obstacle_plane planes[25];
    for (int n = 0; n < 25; n++) planes[n] = (tl_obstacle_plane){tl_mul3(1 / radius, c.mesh->pos[n]), 1e-5};
    d.blend = TL_SIZING_MAX, d.curvature = 0.15;
    run(&c, &d, planes);
    const int32_t middle = 12;
    double size = 0;
    for (tl_fan fan = tl_fan_begin(c.mesh, middle); fan.face != TL_NONE; tl_fan_next(c.mesh, &fan)) {
        const int32_t w = c.mesh->face_vert[fan.face][(fan.corner + 1) % 3];
        size = fmax(size, tl_size2(c.size[middle], c.size[middle], tl_sub2(c.mesh->uv[w], c.mesh->uv[middle])));
    }
    assert_true(size > 0.5 && size <= 1.0);
    // the same sheet flat, coming down on the ball: the faces beside the pole must be split
    for (int n = 0; n < 25; n++) {
        c.mesh->pos[n] = (tl_vec3){c.mesh->uv[n].x, c.mesh->uv[n].y, radius + 1e-3};
        planes[n] = (tl_obstacle_plane){tl_unit3_or(c.mesh->pos[n], (tl_vec3){0}), tl_norm3(c.mesh->pos[n]) - radius};
    }
    run(&c, &d, planes);
    for (int32_t v = 0; v < 25; v++) assert_true(least_eigenvalue(c.size[v]) >= 1e-4 * (1 - 1e-9));
    const tl_vec2 u = tl_sub2(c.mesh->uv[6], c.mesh->uv[12]);
    assert_true(tl_size2(c.size[12], c.size[6], u) > 0.5);
    free_cloth(&c);
}

static tl_nearest_spot nearest_of_all(const tl_surface *s, const tl_vec3 *x, tl_vec3 p, double reach)
{
    tl_nearest_spot best = {-1, (double)INFINITY, {0}};
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec3 q[4] = {p, x[s->face[f][0]], x[s->face[f][1]], x[s->face[f][2]]};
        const tl_nearest n = tl_nearest_vertex_face(q);
        if (n.distance <= reach && n.distance < best.distance) best.distance = n.distance, best.face = f;
    }
    return best;
}

static void nearest_point_is_that_of_all_faces(void **state)
{
    (void)state;
    enum { FACES = 300 };
    static tl_vec3 x[3 * FACES], moved[3 * FACES];
    static int32_t face[FACES][3];
    for (int32_t i = 0; i < 3 * FACES; i++) {
        const uint64_t f = (uint64_t)i / 3, k = (uint64_t)i;
        x[i] = (tl_vec3){tl_random(7, f, 0) + 0.2 * tl_random(7, k, 3), tl_random(7, f, 1) + 0.2 * tl_random(7, k, 4),
                         tl_random(7, f, 2) + 0.2 * tl_random(7, k, 5)};
        moved[i] = tl_add3(x[i], (tl_vec3){0.1, 0, -0.3});
        face[i / 3][i % 3] = i;
    }
    books b = {0};
    const tl_allocator alloc = books_allocator(&b);
    tl_error err = {0};
    const int32_t kinds[6][2] = {{2, 0}, {4, 0}, {8, 0}, {8, 1}, {4, 1}, {2, 1}};
    for (int kind = 0; kind < 6; kind++)
        for (int32_t faces = 1; faces <= FACES; faces += 299) {
            tl_bvh_def def = tl_bvh_def_default();
            def.arity = kinds[kind][0], def.relative = kinds[kind][1];
            const tl_surface s = {3 * faces, faces, 0, (const int32_t(*)[3])face, NULL};
            tl_bvh *tree;
            assert_ok(tl_bvh_create(&alloc, &def, &s, x, &tree, &err));
            tl_bvh_refit(tree, x, kind % 2 ? moved : NULL, 0.01, 0, NULL);
            for (uint64_t i = 0; i < 400; i++) {
                const tl_vec3 p = {3 * tl_random(8, i, 0) - 1, 3 * tl_random(8, i, 1) - 1, 3 * tl_random(8, i, 2) - 1};
                const double reach = i % 3 ? 0.5 : 10;
                const tl_nearest_spot got = tl_bvh_nearest(tree, p, reach, (int32_t)(i % 7) - 3);
                const tl_nearest_spot want = nearest_of_all(&s, x, p, reach);
                assert_int_equal(got.face, want.face);
                if (want.face >= 0) assert_near(got.distance, want.distance, 1e-14);
                if (want.face >= 0) assert_near(tl_norm3(got.offset), want.distance, 1e-14);
            }
            tl_bvh_destroy(tree);
        }
    assert_int_equal(b.blocks, 0);
}

// The nearest of several obstacles counts: a plane below, a triangle above.
static void planes_of_several_obstacles(void **state)
{
    (void)state;
    tl_error err = {0};
    cloth c = sheet(2, 1, 0.1, 0, 0);
    for (int32_t n = 0; n < 6; n++) c.mesh->pos[n].z = n < 3 ? 0.02 : 0.07;
    const tl_vec3 x[3] = {{-5, -5, 0.1}, {5, -5, 0.1}, {0, 9, 0.1}};
    const int32_t face[1][3] = {{0, 1, 2}};
    const tl_surface s = {3, 1, 0, face, NULL};
    const tl_bvh_def def = tl_bvh_def_default();
    tl_bvh *tree;
    assert_ok(tl_bvh_create(&c.alloc, &def, &s, x, &tree, &err));
    const tl_obstacle both[2] = {{tree, {0}, {0}}, {NULL, {0}, {0, 0, 1}}};
    tl_obstacle_plane planes[6];
    assert_ok(tl_obstacle_planes(c.mesh, both, 2, 0.2, 0.025, NULL, planes, &err));
    for (int n = 0; n < 6; n++) {
        assert_near(planes[n].distance, n < 3 ? 0.025 : 0.03, 1e-15);  // 0.02 is less than the gap
        assert_near(planes[n].normal.z, n < 3 ? 1 : -1, 1e-15);
    }
    tl_bvh_destroy(tree);
    free_cloth(&c);
}

// ---- everything at once -----------------------------------------------------------------------------------

static void shuffle(cloth *c, uint64_t seed, double amount)
{
    for (int32_t n = 0; n < c->mesh->slots[TL_NODES].count; n++) {
        const uint64_t i = (uint64_t)n;
        const tl_vec3 r = {tl_random(seed, i, 0) - 0.5, tl_random(seed, i, 1) - 0.5, tl_random(seed, i, 2) - 0.5};
        c->mesh->pos[n] = tl_madd3(c->mesh->pos[n], amount, r);
        c->mesh->vel[n] = (tl_vec3){4 * tl_random(seed, i, 3), tl_random(seed, i, 4), 0};
    }
}

static void random_garments_stay_within_bounds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        memset(&sh, 0, sizeof sh);
        shape_garment(&sh, 10);
        cloth c = make_cloth();
        shuffle(&c, seed, seed < 4 ? 1e-4 : seed < 12 ? 0.05 : 1e3);
        for (int32_t f = 0; f < c.mesh->slots[TL_FACES].count; f++) c.mesh->face_label[f] = 0;
        for (int32_t e = 0; e < c.mesh->slots[TL_EDGES].count; e++)
            c.mesh->edge_rest[e] = 3 * tl_random(seed, 99, (uint64_t)e);
        tl_sizing_def d = usual();
        d.blend = (tl_sizing_blend)(seed % 2);
        d.aspect_min = seed % 3 == 0 ? 1 : 0.1;
        tl_obstacle_plane *planes = calloc((size_t)c.mesh->slots[TL_NODES].count, sizeof *planes);
        tl_error err = {0};
        const tl_obstacle floor = {NULL, {0, 0, -0.01}, {0, 0, 1}};
        assert_ok(tl_obstacle_planes(c.mesh, &floor, 1, 0.2, 1e-3, NULL, planes, &err));
        run(&c, &d, planes);
        for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++) {
            double l[2];
            tl_sym2_eigen(c.size[v], l);
            assert_true(l[0] <= 1 / (0.015 * 0.015) * (1 + 1e-9));
            assert_true(l[1] >= 1 / (0.2 * 0.2) * (1 - 1e-9));
            assert_true(l[1] >= d.aspect_min * d.aspect_min * l[0] * (1 - 1e-9));
        }
        free(planes);
        free_cloth(&c);
    }
}

static void same_bits_on_any_number_of_threads(void **state)
{
    (void)state;
    tl_error err = {0};
    memset(&sh, 0, sizeof sh);
    shape_garment(&sh, 30);
    cloth c = make_cloth();
    shuffle(&c, 3, 0.05);
    const tl_sizing_def d = usual();
    const int32_t nodes = c.mesh->slots[TL_NODES].count, verts = c.mesh->slots[TL_VERTS].count;
    tl_obstacle_plane *planes = calloc((size_t)nodes, sizeof *planes), *again = calloc((size_t)nodes, sizeof *again);
    tl_sym2 *out = calloc((size_t)verts, sizeof *out);
    const tl_obstacle floor = {NULL, {0, 0, -0.01}, {0, 0, 1}};
    assert_ok(tl_obstacle_planes(c.mesh, &floor, 1, 0.2, 1e-3, NULL, planes, &err));
    run(&c, &d, planes);
    for (int threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
        tl_workers *workers;
        assert_ok(tl_workers_create(&c.alloc, threads, &workers, &err));
        assert_ok(tl_obstacle_planes(c.mesh, &floor, 1, 0.2, 1e-3, workers, again, &err));
        assert_memory_equal(again, planes, (size_t)nodes * sizeof *planes);
        assert_ok(tl_sizing_field(c.mesh, &d, NULL, 0, again, &(tl_ctx){&c.arena, workers}, out, &err));
        assert_memory_equal(out, c.size, (size_t)verts * sizeof *out);
        tl_workers_destroy(workers);
    }
    free(planes), free(again), free(out);
    free_cloth(&c);
}

static void bad_arguments_and_no_memory(void **state)
{
    (void)state;
    tl_error err = {0};
    cloth c = sheet(3, 3, 0.1, 0, 0);
    const tl_sizing_def good = usual();
    for (int k = 0; k < 10; k++) {
        tl_sizing_def d = good;
        if (k == 0) d.curvature = 0;
        if (k == 1) d.velocity = -1;
        if (k == 2) d.compression = 0;
        if (k == 3) d.size_min = 0;
        if (k == 4) d.size_max = 0.001;
        if (k == 5) d.aspect_min = 0;
        if (k == 6) d.aspect_min = 1.1;
        if (k == 7) d.blend = (tl_sizing_blend)5;
        if (k == 8) d.size_max = (double)INFINITY;
        if (k == 9) d.rib_stiffening = -1;
        assert_int_equal(tl_sizing_field(c.mesh, &d, NULL, 0, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err),
                         TL_BAD_ARG);
    }
    assert_int_equal(tl_sizing_field(c.mesh, &good, NULL, 0, NULL, &(tl_ctx){&c.arena, NULL}, NULL, &err), TL_BAD_ARG);
    tl_arena_free(&c.arena);
    books *b = c.alloc.user;
    int failures = 0;
    for (int n = 1; n < 20; n++) {
        tl_arena_init(&c.arena, c.alloc);
        b->requests = 0, b->fail_at = n;
        const tl_status status = tl_sizing_field(c.mesh, &good, NULL, 0, NULL, &(tl_ctx){&c.arena, NULL}, c.size, &err);
        b->fail_at = 0;
        tl_arena_free(&c.arena);
        if (status == TL_OK) break;
        assert_int_equal(status, TL_NO_MEMORY);
        failures++;
    }
    assert_true(failures >= 1);
    free_cloth(&c);
}

static void dead_slots_get_zero(void **state)
{
    (void)state;
    tl_error err = {0};
    cloth c = sheet(3, 3, 0.1, 0, 0);
    const tl_sizing_def d = usual();
    // vertex 5 is inside: take it out the way an edit would
    c.size[5] = (tl_sym2){7, 7, 7};
    const int32_t gone = 5;
    int32_t e = TL_NONE;
    for (tl_spokes s = tl_spokes_begin(c.mesh, gone); s.edge != TL_NONE; tl_spokes_next(c.mesh, &s)) e = s.edge;
    tl_collapse report;
    assert_ok(tl_mesh_collapse_edge(c.mesh, e, gone, &report, &err));
    run(&c, &d, NULL);
    assert_sym2(c.size[5], 0, 0, 0, 0);
    assert_sym2(c.size[6], 25, 0, 25, 1e-9);
    free_cloth(&c);
}

// ---- fabrics ----------------------------------------------------------------------------------------------

static void limit_of_fabrics(void **state)
{
    (void)state;
    tl_error err = {0};
    // an isotropic sheet: B / k = h^2 / (12 (1 - nu^2)), the same in all directions
    tl_material m;
    const double h = 1e-3, nu = 0.3;
    assert_ok(tl_material_isotropic(1e6, nu, h, 0.2, &m, &err));
    const double c = tl_material_compression(&m);
    assert_near(c, PI * sqrt(0.5 * h * h / (12 * (1 - nu * nu))), 1e-9);
    // the strip of half a wave, two edges long, that carries its Euler strain asks for the edges that it has
    const double length = 0.04, euler = PI * PI * h * h / (12 * (1 - nu * nu)) / (length * length);
    assert_near(c / sqrt(2 * euler), length / 2, 1e-9);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 5; k++) m.bend[r][k] = 0;
    assert_near(tl_material_compression(&m), 0, 0);
    assert_true(tl_sizing_fabric_of(&m).wrinkle > 1e6 && isfinite(tl_sizing_fabric_of(&m).wrinkle));
    m = tl_material_default();
    const double before = tl_material_compression(&m);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 5; k++) m.bend[r][k] *= 4;
    assert_near(tl_material_compression(&m), 2 * before, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_tensors),
        cmocka_unit_test(clamps),
        cmocka_unit_test(curvature_of_cylinder_and_sphere),
        cmocka_unit_test(edges_see_folds_to_and_fro),
        cmocka_unit_test(ribs_stiffen),
        cmocka_unit_test(narrowing_is_no_compression),
        cmocka_unit_test(linear_velocities),
        cmocka_unit_test(rigid_motion_asks_for_nothing),
        cmocka_unit_test(uniform_compression),
        cmocka_unit_test(compression_by_stress),
        cmocka_unit_test(terms_add_up_or_the_largest_counts),
        cmocka_unit_test(tilted_face_above_a_plane),
        cmocka_unit_test(cloth_at_rest_on_a_body_is_left_alone),
        cmocka_unit_test(nearest_point_is_that_of_all_faces),
        cmocka_unit_test(planes_of_several_obstacles),
        cmocka_unit_test(random_garments_stay_within_bounds),
        cmocka_unit_test(same_bits_on_any_number_of_threads),
        cmocka_unit_test(bad_arguments_and_no_memory),
        cmocka_unit_test(dead_slots_get_zero),
        cmocka_unit_test(limit_of_fabrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
