// tests/unit/test_narain.c: rules of Narain et al. 2012 by oracles that share no code with what they check.
//
// docs/conformance/narain.md names the test of every feature; here are those that would notice one wrong line: the
// hysteresis and the aspect limit of collapses, the energy that a pass may add, weights by area, the clamp at vertices.

#include "adapt/anisotropic/remesh.h"
#include "base/rng.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_edit.h"
#include "mesh/mesh_query.h"
#include "sizing_cloth.h"

static tl_error err;

static double draw(uint64_t seed, uint64_t a, uint64_t b)  // within [-1, 1]
{
    return 2 * tl_random(seed, a, b) - 1;
}

// ---- collapses --------------------------------------------------------------------------------------------

enum { CELLS = 7 };
static const double density[1] = {0.2};

// A flat sheet at rest, its nodes a little off the grid.
static tl_mesh *ragged(uint64_t seed, tl_remesh_attrs *attrs)
{
    memset(&sh, 0, sizeof sh);
    shape_grid(&sh, CELLS, CELLS, 0.1, 0, 0);
    for (int32_t v = 0; v < sh.vert_count; v++) {
        const int32_t i = v % (CELLS + 1), j = v / (CELLS + 1);
        if (i == 0 || j == 0 || i == CELLS || j == CELLS) continue;
        sh.uv[v].x += 0.03 * draw(seed, (uint64_t)v, 0), sh.uv[v].y += 0.03 * draw(seed, (uint64_t)v, 1);
        sh.pos[v] = (tl_vec3){sh.uv[v].x, sh.uv[v].y, 0};
    }
    const tl_allocator alloc = tl_allocator_default();
    const tl_mesh_def def = shape_def(&sh);
    tl_mesh *mesh;
    assert_ok(tl_mesh_create(&alloc, &def, &mesh, &err));
    assert_ok(tl_remesh_attach(mesh, 1, attrs, &err));
    double *m = tl_mesh_attr_doubles(mesh, TL_VERTS, attrs->size);
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) {  // edges of 0.15 to 0.4 m, in any direction
        const double c = cos(7.0 * v), s = sin(7.0 * v), a = 1 / pow(0.27 + 0.12 * draw(seed, (uint64_t)v, 2), 2),
                     b = 1 / pow(0.27 + 0.12 * draw(seed, (uint64_t)v, 3), 2);
        m[3 * v] = c * c * a + s * s * b, m[3 * v + 1] = c * s * (a - b), m[3 * v + 2] = s * s * a + c * c * b;
    }
    return mesh;
}

// Eq. 1, squared.
static double size2(const tl_mesh *mesh, const double *m, int32_t a, int32_t b)
{
    const double x = mesh->uv[a].x - mesh->uv[b].x, y = mesh->uv[a].y - mesh->uv[b].y;
    return 0.5 * ((m[3 * a] + m[3 * b]) * x * x + 2 * (m[3 * a + 1] + m[3 * b + 1]) * x * y +
                  (m[3 * a + 2] + m[3 * b + 2]) * y * y);
}

// The area of a face over that of an equilateral one with its perimeter; negative if it is turned over.
static double roundness(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const double area = 0.5 * ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
    const double perimeter = hypot(b.x - a.x, b.y - a.y) + hypot(c.x - b.x, c.y - b.y) + hypot(a.x - c.x, a.y - c.y);
    return area / (sqrt(3) / 36 * perimeter * perimeter);
}

static bool is_on_outline(const tl_mesh *mesh, int32_t v)
{
    const tl_vec2 u = mesh->uv[v];
    return u.x < 1e-9 || u.y < 1e-9 || u.x > CELLS * 0.1 - 1e-9 || u.y > CELLS * 0.1 - 1e-9;
}

static bool are_joined(const tl_mesh *mesh, int32_t a, int32_t b)
{
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        const int32_t *v = mesh->face_vert[f];
        if ((v[0] == a || v[1] == a || v[2] == a) && (v[0] == b || v[1] == b || v[2] == b)) return true;
    }
    return false;
}

/// What forbids the collapse of `from` into `to`.
typedef struct reasons {
    bool topology, thin, too_long;
} reasons;

static reasons judge(const tl_mesh *mesh, const double *m, int32_t from, int32_t to, double hysteresis, double aspect)
{
    reasons r = {is_on_outline(mesh, from), false, false};
    int32_t shared = 0;
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++)
        shared += v != from && v != to && are_joined(mesh, v, from) && are_joined(mesh, v, to);
    r.topology = r.topology || shared != 2;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        const int32_t *v = mesh->face_vert[f];
        int k = 0;
        while (k < 3 && v[k] != from) k++;
        if (k == 3 || v[(k + 1) % 3] == to || v[(k + 2) % 3] == to) continue;
        const int32_t p = v[(k + 1) % 3], q = v[(k + 2) % 3];
        r.thin = r.thin || roundness(mesh->uv[to], mesh->uv[p], mesh->uv[q]) < aspect;
        r.too_long =
            r.too_long || sqrt(size2(mesh, m, to, p)) > 1 - hysteresis || sqrt(size2(mesh, m, to, q)) > 1 - hysteresis;
    }
    return r;
}

// Sec. 4.1: a collapse is forbidden if it changes the outline, makes a face that is turned over or too thin, or an edge
// close to invalid. Every edge of many sheets, both ways.
static void collapses_are_those_that_the_rules_allow(void **state)
{
    (void)state;
    int32_t allowed = 0, thin_alone = 0, long_alone = 0, by_hysteresis = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        tl_remesh_attrs attrs;
        tl_mesh *mesh = ragged(seed, &attrs);
        const double *m = tl_mesh_attr_doubles(mesh, TL_VERTS, attrs.size);
        const double hysteresis = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 0.2 : 0.4, aspect = seed % 2 ? 0.1 : 0.4;
        const tl_remesh_def def = {.hysteresis = hysteresis, .aspect_min = aspect, .density = density};
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++)
            for (int end = 0; end < 2; end++) {
                const int32_t from = tl_mesh_edge_vert(mesh, e, 0, end), to = tl_mesh_edge_vert(mesh, e, 0, 1 - end);
                if (is_on_outline(mesh, from)) continue;  // other tests look at outlines
                const reasons r = judge(mesh, m, from, to, hysteresis, aspect);
                const bool want = !r.topology && !r.thin && !r.too_long;
                if (tl_remesh_collapses(mesh, &attrs, &def, e, mesh->vert_node[from]) != want)
                    fail_msg("seed %d, edge %d end %d: outline or link %d, thin %d, long %d", (int)seed, e, end,
                             r.topology, r.thin, r.too_long);
                allowed += want, thin_alone += r.thin && !r.topology && !r.too_long;
                long_alone += r.too_long && !r.topology && !r.thin;
                by_hysteresis += r.too_long && !r.thin && !judge(mesh, m, from, to, 0, aspect).too_long;
            }
        tl_mesh_destroy(mesh);
    }
    print_message("allowed %d; too thin alone %d, too long alone %d, by hysteresis %d\n", allowed, thin_alone,
                  long_alone, by_hysteresis);
    assert_true(allowed > 100 && thin_alone > 20 && long_alone > 100 && by_hysteresis > 50);
}

// ---- the energy of a pass ---------------------------------------------------------------------------------

// 1/2 sum A (c11 E11^2 + 2 c12 E11 E22 + c22 E22^2 + c33 E12^2), c33 that of 2 E12 over 2, from the arrays alone.
static double stretching(const tl_mesh *mesh, const tl_sizing_fabric *c)
{
    double sum = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        const int32_t *v = mesh->face_vert[f];
        const double a = mesh->uv[v[1]].x - mesh->uv[v[0]].x, b = mesh->uv[v[1]].y - mesh->uv[v[0]].y;
        const double d = mesh->uv[v[2]].x - mesh->uv[v[0]].x, g = mesh->uv[v[2]].y - mesh->uv[v[0]].y;
        const double det = a * g - b * d;
        const tl_vec3 *x[3];
        for (int k = 0; k < 3; k++) x[k] = &mesh->pos[mesh->vert_node[v[k]]];
        const double p[3] = {x[1]->x - x[0]->x, x[1]->y - x[0]->y, x[1]->z - x[0]->z};
        const double q[3] = {x[2]->x - x[0]->x, x[2]->y - x[0]->y, x[2]->z - x[0]->z};
        double e11 = -0.5, e22 = -0.5, e12 = 0;
        for (int k = 0; k < 3; k++) {
            const double fx = (g * p[k] - b * q[k]) / det, fy = (a * q[k] - d * p[k]) / det;
            e11 += 0.5 * fx * fx, e22 += 0.5 * fy * fy, e12 += 0.5 * fx * fy;
        }
        sum += 0.25 * det * (c->c11 * e11 * e11 + 2 * c->c12 * e11 * e22 + c->c22 * e22 * e22 + c->c33 * e12 * e12);
    }
    return sum;
}

// A sheet wrapped around a cylinder, unstrained but for a little, that is to become coarser, with chords shorter than
// their arcs, and finer again; returns what that adds, and what it says.
#define RADIUS 0.4
static double added(double budget, double *told)
{
    static const tl_sizing_fabric fabric[1] = {{1000, 200, 800, 100, 1}};
    tl_remesh_attrs attrs;
    tl_mesh *mesh = ragged(5, &attrs);
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        const tl_vec2 u = mesh->uv[mesh->node_vert[n]];
        mesh->pos[n] = (tl_vec3){RADIUS * sin(u.x / RADIUS), u.y, RADIUS * cos(u.x / RADIUS)};
        mesh->pos[n].y += 0.0002 * draw(9, (uint64_t)n, 5);
    }
    const tl_remesh_def def = {
        .hysteresis = 0.2, .aspect_min = 0.1, .density = density, .fabric = fabric, .energy = budget};
    double sum = 0;
    *told = 0;
    for (int k = 0; k < 2; k++) {
        double *m = tl_mesh_attr_doubles(mesh, TL_VERTS, attrs.size);
        for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++)
            m[3 * v] = m[3 * v + 2] = k == 0 ? 4 : 1 / (0.07 * 0.07), m[3 * v + 1] = 0;
        tl_remesh_report report;
        const double before = stretching(mesh, fabric);
        assert_ok(tl_remesh(mesh, &attrs, &def, &report, &err));
        sum += fmax(0, stretching(mesh, fabric) - before);
        assert_true(report.energy <= budget);
        *told += report.energy;
    }
    tl_mesh_destroy(mesh);
    return sum;
}

static void a_pass_keeps_to_its_energy(void **state)
{
    (void)state;
    double told;
    const double free = added(1e9, &told);
    assert_true(free > 0 && told >= free * (1 - 1e-9));  // what goes down again earns nothing
    for (double part = 0.5; part > 1e-3; part *= 0.25) {
        const double budget = part * free, rise = added(budget, &told);
        if (!(rise <= 2 * budget * (1 + 1e-6))) fail_msg("budget %g J, two passes added %g J", budget, rise);
        assert_true(told <= 2 * budget && told >= rise * (1 - 1e-6) - 1e-15);
    }
}

// ---- the field at vertices --------------------------------------------------------------------------------

// Two faces on one edge, one three times the other, moving apart at different rates: a vertex of both has the mean by
// area (Sec. 4.2), one of a single face that of the face.
static void vertices_take_the_mean_by_area(void **state)
{
    (void)state;
    memset(&sh, 0, sizeof sh);
    const tl_vec2 place[4] = {{0, -1}, {0, 1}, {-1, 0}, {3, 0}};
    const int32_t face[2][3] = {{0, 1, 2}, {1, 0, 3}};
    for (int k = 0; k < 4; k++) {
        sh.uv[k] = place[k], sh.node[k] = k;
        sh.pos[k] = (tl_vec3){place[k].x, place[k].y, 0};
    }
    memcpy(sh.face, face, sizeof face);
    sh.vert_count = 4, sh.face_count = 2;
    cloth c = make_cloth();
    const double slow = 0.5, fast = 2;  // rates of strain of the small and of the large face [1/s]
    c.mesh->vel[2].x = -slow * 1, c.mesh->vel[3].x = fast * 3;
    tl_sizing_def def = nothing();
    def.velocity = 0.7;
    run(&c, &def, NULL);
    const double low = 1 / (def.size_max * def.size_max);
    const double small = slow * slow / 0.49, large = fast * fast / 0.49, mean = (1 * small + 3 * large) / 4;
    assert_sym2(c.size[2], small, 0, low, 1e-9 * large);
    assert_sym2(c.size[3], large, 0, low, 1e-9 * large);
    assert_sym2(c.size[0], mean, 0, low, 1e-6 * large);
    assert_sym2(c.size[1], mean, 0, low, 1e-6 * large);
    free_cloth(&c);
}

static void crumpled(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)
{
    *x = (tl_vec3){u.x, u.y, 0.4 * sin(60 * u.x) * cos(53 * u.y)};
    *v = (tl_vec3){900 * sin(91 * u.x), 700 * cos(77 * u.y), 800 * sin(99 * (u.x + u.y))};
}

// Eq. 11 to 13 hold at vertices, too. (A mean of tensors that keep the bounds keeps them as well, since the largest
// eigenvalue is convex and the smallest concave: what the clamp there is for is rounding. So where all faces ask for
// the finest mesh, no vertex asks for more by as much as a bit.)
static void the_bounds_hold_at_vertices_to_the_bit(void **state)
{
    (void)state;
    cloth c = sheet(9, 9, 0.1, 0, 0);
    place(c.mesh, crumpled);
    tl_sizing_def def = tl_sizing_def_default();
    def.compression = 1e-3, def.obstacles = false, def.aspect_min = 1, def.size_min = 0.0173;
    run(&c, &def, NULL);
    const double high = 1 / (def.size_min * def.size_min);
    for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++) {
        assert_near(c.size[v].xx, high, 1e-9 * high);
        assert_near(c.size[v].yy, high, 1e-9 * high);
        assert_true(c.size[v].xx <= high && c.size[v].yy <= high);
    }
    free_cloth(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collapses_are_those_that_the_rules_allow),
        cmocka_unit_test(a_pass_keeps_to_its_energy),
        cmocka_unit_test(vertices_take_the_mean_by_area),
        cmocka_unit_test(the_bounds_hold_at_vertices_to_the_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
