// tests/unit/test_remesh.c: the remesher on fields given by formula, checked by brute force.

#include "check.h"

#include <string.h>

#include "adapt/anisotropic/remesh.h"
#include "base/rng.h"
#include "detect/intersect.h"
#include "math/vec3.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_edit.h"
#include "mesh/mesh_query.h"
#include "test_mesh_shapes.h"

static tl_error err;
static shape made;

static shape *fresh(void)
{
    memset(&made, 0, sizeof made);
    return &made;
}

static tl_mesh *build_shape(tl_remesh_attrs *attrs)
{
    const tl_allocator alloc = tl_allocator_default();
    const tl_mesh_def def = shape_def(&made);
    tl_mesh *mesh;
    assert_ok(tl_mesh_create(&alloc, &def, &mesh, &err));
    assert_ok(tl_remesh_attach(mesh, 1, attrs, &err));
    return mesh;
}

static const double densities[2] = {0.2, 0.5};
static const tl_remesh_def plain = {.hysteresis = 0.2, .aspect_min = 0.1, .density = densities};

typedef tl_sym2 (*field)(tl_vec2 u, double t);

static tl_sym2 lengths(double along, double across, double angle)
{
    const tl_sym2 m = {1 / (along * along), 0, 1 / (across * across)};
    return tl_sym2_turn(m, cos(angle), sin(angle));
}
static tl_sym2 even(tl_vec2 u, double t) { return (void)u, lengths(t, t, 0); }
static tl_sym2 long_and_thin(tl_vec2 u, double t) { return (void)u, lengths(0.4, 0.04, t); }
// Fine and stretched along a ridge that moves with t.
static tl_sym2 ridge(tl_vec2 u, double t)
{
    const double d = (u.x + 0.3 * u.y - t) / 0.1, near = exp(-d * d);
    return lengths(0.3, 1 / (1 / 0.3 + near * (1 / 0.02 - 1 / 0.3)), atan2(-1, 0.3));
}

static void set_field(tl_mesh *mesh, const tl_remesh_attrs *attrs, field f, double t)
{
    double *out = tl_mesh_attr_doubles(mesh, TL_VERTS, attrs->size);
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) {
        const tl_sym2 m = f(mesh->uv[v], t);
        out[3 * v] = m.xx, out[3 * v + 1] = m.xy, out[3 * v + 2] = m.yy;
    }
}

// ---- oracles ----------------------------------------------------------------------------------------------

static tl_sym2 tensor(const tl_mesh *mesh, const tl_remesh_attrs *attrs, int32_t v)
{
    const double *m = tl_mesh_attr_doubles(mesh, TL_VERTS, attrs->size) + 3 * v;
    return (tl_sym2){m[0], m[1], m[2]};
}

// Eq. 1 from the arrays alone.
static double pair_size(const tl_mesh *mesh, const tl_remesh_attrs *attrs, int32_t a, int32_t b)
{
    const tl_sym2 m = tl_sym2_scale(0.5, tl_sym2_add(tensor(mesh, attrs, a), tensor(mesh, attrs, b)));
    return sqrt(tl_sym2_form(m, tl_sub2(mesh->uv[a], mesh->uv[b])));
}

static double longest_edge(const tl_mesh *mesh, const tl_remesh_attrs *attrs)
{
    double longest = 0;
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e)) continue;
        double sum = 0;
        int sides = 0;
        for (int s = 0; s < 2 && mesh->edge_face[e][s] != TL_NONE; s++, sides++)
            sum += pair_size(mesh, attrs, tl_mesh_edge_vert(mesh, e, s, 0), tl_mesh_edge_vert(mesh, e, s, 1));
        longest = fmax(longest, sum / sides);
    }
    return longest;
}

static int32_t collapses_left(tl_mesh *mesh, const tl_remesh_attrs *attrs, const tl_remesh_def *def)
{
    int32_t left = 0;
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++)
        for (int k = 0; k < 2 && tl_alive(mesh, TL_EDGES, e); k++)
            left += tl_remesh_collapses(mesh, attrs, def, e, mesh->edge_node[e][k]);
    return left;
}

static double outline_length(const tl_mesh *mesh)
{
    double sum = 0;
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++)
        if (tl_alive(mesh, TL_EDGES, e) && mesh->edge_face[e][1] == TL_NONE) sum += tl_mesh_edge_length_uv(mesh, e, 0);
    return sum;
}

static double mass_of(const tl_mesh *mesh)
{
    double sum = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f)) sum += densities[mesh->face_label[f]] * tl_mesh_face_area_uv(mesh, f);
    return sum;
}

static double fastest(const tl_mesh *mesh)
{
    double most = 0;
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++)
        if (tl_alive(mesh, TL_NODES, n)) most = fmax(most, tl_norm3(mesh->vel[n]));
    return most;
}

static int32_t operations(const tl_remesh_report *r) { return r->splits + r->flips + r->collapses; }

// ---- tests ------------------------------------------------------------------------------------------------

static void a_square_gets_the_size_asked_for(void **state)
{
    (void)state;
    const double size[] = {0.3, 0.1, 0.03, 0.1, 0.6};
    shape_grid(fresh(), 1, 1, 1.0, 0, 0);
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    for (int i = 0; i < 5; i++) {
        tl_remesh_report report;
        set_field(mesh, &attrs, even, size[i]);
        assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
        assert_ok(tl_mesh_check(mesh, &err));
        assert_true(longest_edge(mesh, &attrs) <= 1);
        assert_int_equal(collapses_left(mesh, &attrs, &plain), 0);
        assert_near(tl_mesh_area_uv(mesh), 1, 1e-12);
        assert_near(outline_length(mesh), 4, 1e-12);
        // equilateral faces of edge s have the area 0.433 s^2; edges end up between 0.5 and 1
        const double faces = mesh->slots[TL_FACES].live * size[i] * size[i];
        assert_true(faces > 2.3 && faces < 10);
        assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
        assert_int_equal(operations(&report), 0);
    }
    tl_mesh_destroy(mesh);
}

static void faces_follow_the_directions_asked_for(void **state)
{
    (void)state;
    shape_grid(fresh(), 1, 1, 1.0, 0, 0);
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    for (double angle = 0; angle < 3; angle += 0.7) {
        tl_remesh_report report;
        set_field(mesh, &attrs, long_and_thin, angle);
        assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
        assert_ok(tl_mesh_check(mesh, &err));
        assert_true(longest_edge(mesh, &attrs) <= 1);
        assert_int_equal(collapses_left(mesh, &attrs, &plain), 0);
        const double faces = mesh->slots[TL_FACES].live * 0.4 * 0.04;
        assert_true(faces > 1 / 0.433 * 0.9 && faces < 1 / 0.433 / 0.25);
        assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
        assert_true(operations(&report) <= 2);  // flips that the collapses had made possible
    }
    tl_mesh_destroy(mesh);
}

static void faces_come_and_go_with_a_ridge(void **state)
{
    (void)state;
    shape_grid(fresh(), 2, 2, 0.5, 0, 0);
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    int32_t least = INT32_MAX, most = 0, splits = 0, collapses = 0;
    for (double t = 0.2; t < 1.2; t += 0.05) {
        tl_remesh_report report;
        set_field(mesh, &attrs, ridge, t);
        for (int again = 0; again < 3; again++) {  // the field is known better on the new mesh
            assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
            assert_true(longest_edge(mesh, &attrs) <= 1);
            set_field(mesh, &attrs, ridge, t);
            splits += report.splits, collapses += report.collapses;
        }
        assert_ok(tl_mesh_check(mesh, &err));
        const int32_t faces = mesh->slots[TL_FACES].live;
        if (t > 0.4) least = faces < least ? faces : least, most = faces > most ? faces : most;
    }
    assert_true(most < 2 * least);  // what is left behind is cleared away
    assert_true(splits > 500 && collapses > 400);
    tl_mesh_destroy(mesh);
}

static void random_motion(tl_mesh *mesh, uint64_t seed)
{
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        const tl_vec3 x = mesh->pos[n];
        const double noise = 0.2 * tl_random(seed, 1, (uint64_t)n);
        mesh->vel[n] = (tl_vec3){1 + sin(5 * x.y), 2 * cos(4 * x.x) + noise, 3 * x.x - noise};
    }
}

static void garments_keep_seams_mass_and_momentum(void **state)
{
    (void)state;
    shape_garment(fresh(), 12);
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    random_motion(mesh, 3);
    const double mass = mass_of(mesh), outline = outline_length(mesh), area = tl_mesh_area_uv(mesh);
    for (int i = 0; i < 8; i++) {
        tl_remesh_report report;
        if (i % 2)
            set_field(mesh, &attrs, even, 0.05 + 0.05 * i);
        else
            set_field(mesh, &attrs, ridge, 0.4 + 0.1 * i);
        assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
        assert_ok(tl_mesh_check(mesh, &err));
        assert_true(operations(&report) > 0);
        assert_true(longest_edge(mesh, &attrs) <= 1);
        assert_int_equal(collapses_left(mesh, &attrs, &plain), 0);
        assert_near(mass_of(mesh), mass, 1e-12 * mass);
        assert_near(tl_mesh_area_uv(mesh), area, 1e-12 * area);
        assert_near(outline_length(mesh), outline, 1e-11 * outline);
        assert_true(tl_norm3(report.momentum_drift) <= 1e-12 * tl_norm3(report.momentum));
        assert_true(tl_norm3(report.spin_drift) <= 1e-12 * tl_norm3(report.spin));
    }
    tl_mesh_destroy(mesh);
}

// Fields that have nothing to do with each other, on a cloth that is not flat: sizes and directions wave across it.
static tl_sym2 wild(tl_vec2 u, double t)
{
    const double a = tl_random(9, 1, (uint64_t)t), b = tl_random(9, 2, (uint64_t)t), c = tl_random(9, 3, (uint64_t)t);
    const double coarse = 0.05 + 0.3 * c, fine = coarse * (0.1 + 0.9 * a);
    return lengths(coarse, fine * (1 + 0.5 * sin(7 * b * u.x + 5 * u.y)), 6 * a + 3 * b * u.x * u.y);
}

static void a_storm_of_passes_keeps_the_cloth(void **state)
{
    (void)state;
    const int32_t all = getenv("TL_LONG") ? 1000000 : 100000;
    shape_garment(fresh(), 12);
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    random_motion(mesh, 5);
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++)
        mesh->pos[n].z += 0.05 * sin(8 * mesh->pos[n].x) * cos(6 * mesh->pos[n].y);
    const tl_count_report before = tl_mesh_counts(mesh);
    const double mass = mass_of(mesh), outline = outline_length(mesh), area = tl_mesh_area_uv(mesh);
    const double speed = fastest(mesh);
    double drift = 0, turn = 0, fast = 0;
    int32_t done = 0, most = 0;
    for (int i = 0; done < all; i++) {
        tl_remesh_report report;
        set_field(mesh, &attrs, wild, i);
        assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
        done += operations(&report), most = mesh->slots[TL_FACES].live > most ? mesh->slots[TL_FACES].live : most;
        assert_true(i < all);  // every field finds something to do
        assert_ok(tl_mesh_check(mesh, &err));
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {  // but for needles, that no cut leaves sound
            if (!tl_alive(mesh, TL_EDGES, e) || !(tl_remesh_size(mesh, &attrs, e) > 1)) continue;
            if (tl_mesh_can_split(mesh, e, 0.5) == TL_VERDICT_OK)
                fail_msg("pass %d: an edge of size %.17g", i, tl_remesh_size(mesh, &attrs, e));
        }
        const tl_count_report c = tl_mesh_counts(mesh);
        assert_int_equal(c.node - c.edge + c.face, before.node - before.edge + before.face);
        assert_near(mass_of(mesh), mass, 1e-12 * mass);
        assert_near(tl_mesh_area_uv(mesh), area, 1e-12 * area);
        assert_near(outline_length(mesh), outline, 1e-11 * outline);
        drift = fmax(drift, tl_norm3(report.momentum_drift) / tl_norm3(report.momentum));
        turn = fmax(turn, tl_norm3(report.spin_drift) / tl_norm3(report.spin));
        fast = fmax(fast, fastest(mesh) / speed);
        if (i % 8 == 0) assert_int_equal(collapses_left(mesh, &attrs, &plain), 0);
    }
    print_message("%d operations, up to %d faces; momentum %.1e, angular %.1e a pass; fastest %.2f of the first\n",
                  done, most, drift, turn, fast);
    assert_true(drift <= 1e-12 && turn <= 1e-10);
    assert_true(fast < 3);  // what is given back is not thrown at whatever is light
    tl_mesh_destroy(mesh);
}

static tl_status as_it_is(void *self, tl_error *e) { return (void)self, (void)e, TL_OK; }
static double no_clearance(void *self, int32_t face, tl_clearance_kind what, double enough)
{
    return (void)self, (void)face, (void)what, (void)enough, 0;
}

static double thinnest(const tl_mesh *mesh)
{
    double least = 1;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        const int32_t *v = mesh->face_vert[f];
        double round = 0;
        for (int k = 0; k < 3; k++) round += tl_norm2(tl_sub2(mesh->uv[v[k]], mesh->uv[v[(k + 1) % 3]]));
        least = fmin(least, 12 * sqrt(3) * tl_mesh_face_area_uv(mesh, f) / (round * round));
    }
    return least;
}

// Fine about (0.5, 0.03), coarse far from it.
static tl_sym2 fine_spot(tl_vec2 u, double t)
{
    const double size = t + 2 * tl_norm2(tl_sub2(u, (tl_vec2){0.5, 0.03}));
    return lengths(size, size, 0);
}

// A node close above an edge that a fold lies along: to flip the edge, which would mend the thin face between them,
// there is no room. Splits come ever closer to the edge, but not at the cost of ever thinner faces.
static void splits_alone_make_no_needles(void **state)
{
    (void)state;
    const tl_vec3 node[5] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0.03, 0.01}, {0.5, -0.6, 0.4}, {0.5, 0.8, 0.4}};
    const int32_t face[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 4}, {2, 1, 4}};
    shape *s = fresh();
    s->vert_count = 5, s->face_count = 4;
    memcpy(s->face, face, sizeof face);
    for (int32_t i = 0; i < 5; i++) s->node[i] = i, s->pos[i] = node[i], s->uv[i] = (tl_vec2){node[i].x, node[i].y};
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    tl_remesh_def def = plain;
    def.renew_clearance = as_it_is, def.measure_clearance = no_clearance;
    double least = 1;
    for (int i = 0; i < 6; i++) {
        tl_remesh_report report;
        set_field(mesh, &attrs, fine_spot, 0.1 / (1 << i));
        assert_ok(tl_remesh(mesh, &attrs, &def, &report, &err));
        assert_ok(tl_mesh_check(mesh, &err));
        assert_true(longest_edge(mesh, &attrs) <= 1);
        assert_true(report.splits > 0);
        least = fmin(least, thinnest(mesh));
    }
    print_message("%d faces, thinnest %.4f\n", mesh->slots[TL_FACES].live, least);
    assert_true(least > 0.5 * plain.aspect_min);
    tl_mesh_destroy(mesh);
}

static void a_limit_of_faces_is_kept(void **state)
{
    (void)state;
    shape_grid(fresh(), 1, 1, 1.0, 0, 0);
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    tl_remesh_def def = plain;
    def.max_faces = 500;
    set_field(mesh, &attrs, even, 0.02);
    tl_remesh_report report;
    assert_ok(tl_remesh(mesh, &attrs, &def, &report, &err));
    assert_true(mesh->slots[TL_FACES].live <= 500 && mesh->slots[TL_FACES].live > 450);
    assert_true(report.too_long > 0);
    tl_mesh_destroy(mesh);
}

// A grid of right angles: edges of 0.05 and 0.071 m, a third of them long, 800 faces on 1 m^2.
static void a_mesh_serves_until_edges_are_too_long_or_faces_too_many(void **state)
{
    (void)state;
    shape_grid(fresh(), 20, 20, 0.05, 0, 0);
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    const struct {
        double size;
        bool serves;
    } c[] = {{0.055, false}, {0.06, true}, {0.075, true}, {0.095, true}, {0.105, false}, {0.25, false}};
    for (int i = 0; i < 6; i++) {
        set_field(mesh, &attrs, even, c[i].size);
        assert_near(tl_remesh_area(mesh, (const tl_sym2 *)tl_mesh_attr_doubles(mesh, TL_VERTS, attrs.size)),
                    1 / (c[i].size * c[i].size), 1e-9);
        if (tl_remesh_needs_pass(mesh, &attrs) == c[i].serves)
            fail_msg("size %g m: %s serve", c[i].size, c[i].serves ? "does not" : "does");
    }
    double *size = tl_mesh_attr_doubles(mesh, TL_VERTS, attrs.size);
    set_field(mesh, &attrs, even, 0.075);
    for (int k = 0; k < 3; k += 2) size[k] *= 6;  // a corner: 3 of 1,240 edges are too long
    assert_false(tl_remesh_needs_pass(mesh, &attrs));
    for (int k = 0; k < 3; k += 2) size[3 * 220 + k] *= 6;  // within: 6 more
    assert_true(tl_remesh_needs_pass(mesh, &attrs));
    tl_mesh_destroy(mesh);
}

// Held nodes: a border held by group 0, a corner of its own by name.
static void what_is_held_stays_held(void **state)
{
    (void)state;
    shape_grid(fresh(), 4, 4, 0.25, 0, 0);
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    int32_t *held = tl_mesh_attr_ints(mesh, TL_NODES, attrs.held),
            *listed = tl_mesh_attr_ints(mesh, TL_NODES, attrs.listed);
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) held[n] = mesh->pos[n].x == 0;
    listed[12] = 1;  // in the middle
    const tl_vec2 middle = mesh->uv[12];
    const double size[] = {0.05, 0.8, 0.1};
    for (int i = 0; i < 3; i++) {
        tl_remesh_report report;
        set_field(mesh, &attrs, even, size[i]);
        assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
        held = tl_mesh_attr_ints(mesh, TL_NODES, attrs.held), listed = tl_mesh_attr_ints(mesh, TL_NODES, attrs.listed);
        int32_t names = 0, ends = 0;
        for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
            if (!tl_alive(mesh, TL_NODES, n)) continue;
            assert_int_equal(held[n], mesh->uv[mesh->node_vert[n]].x == 0);
            const tl_vec2 u = mesh->uv[mesh->node_vert[n]];
            if (listed[n]) names++, assert_true(u.x == middle.x && u.y == middle.y);
            ends += held[n] && (u.y == 0 || u.y == 1);
        }
        assert_int_equal(names, 1);
        assert_int_equal(ends, 2);
    }
    tl_mesh_destroy(mesh);
}

// A coarse sheet wrapped on a cylinder: new nodes come to lie on it, not on chords and not beyond.
static void new_nodes_lie_on_a_smooth_surface(void **state)
{
    (void)state;
    const grid g = shape_grid(fresh(), 16, 8, 0.1, 0, 0);
    const double radius = 0.4;
    (void)g;
    for (int32_t v = 0; v < made.vert_count; v++) {
        const double a = made.uv[v].x / radius;
        made.pos[v] = (tl_vec3){radius * sin(a), made.uv[v].y, radius * cos(a)};
    }
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    set_field(mesh, &attrs, even, 0.09);
    tl_remesh_report report;
    assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
    const double sagitta = 0.1 * 0.1 / (8 * radius);
    double worst = 0;
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        const tl_vec2 u = mesh->uv[mesh->node_vert[n]];
        if (u.x < 0.2 || u.x > 1.4 || u.y < 0.1 || u.y > 0.7) continue;  // normals at borders are one-sided
        worst = fmax(worst, fabs(hypot(mesh->pos[n].x, mesh->pos[n].z) - radius));
    }
    assert_true(report.splits > 100);
    assert_true(worst < 0.25 * sagitta);
    tl_mesh_destroy(mesh);
}

// A rest shape of constant curvature, and a feature line with a fold: whatever is done to the mesh, every edge has the
// angle of a quadratic surface of that curvature (by its gradients: the normals of w = 1/2 S(u, u) in the plane that
// touches the surface at three nodes), and the line its fold besides.
static double gradient_jump(const tl_mesh *mesh, int32_t e, const double s[3])
{
    tl_vec2 slope[2];
    for (int side = 0; side < 2; side++) {
        const int32_t *v = mesh->face_vert[mesh->edge_face[e][side]];
        tl_vec2 u[3];
        double w[3];
        for (int k = 0; k < 3; k++) {
            u[k] = mesh->uv[v[k]];
            w[k] = 0.5 * (s[0] * u[k].x * u[k].x + s[1] * u[k].y * u[k].y) + s[2] * u[k].x * u[k].y;
        }
        const tl_vec2 d1 = tl_sub2(u[1], u[0]), d2 = tl_sub2(u[2], u[0]);
        const double det = tl_cross2(d1, d2), a = w[1] - w[0], b = w[2] - w[0];
        slope[side] = (tl_vec2){(a * d2.y - b * d1.y) / det, (b * d1.x - a * d2.x) / det};
    }
    const tl_vec2 jump = tl_sub2(slope[1], slope[0]);
    const tl_vec2 across =
        tl_sub2(mesh->uv[tl_mesh_opposite_vert(mesh, e, 1)], mesh->uv[tl_mesh_opposite_vert(mesh, e, 0)]);
    return tl_dot2(jump, across) > 0 ? tl_norm2(jump) : -tl_norm2(jump);
}

static void a_rest_shape_is_kept(void **state)
{
    (void)state;
    const double s[3] = {3, -1, 0.7}, fold = 0.5;
    const grid g = shape_grid(fresh(), 4, 4, 0.25, 0, 0);
    (void)g;
    tl_remesh_attrs attrs;
    tl_mesh *mesh = build_shape(&attrs);
    assert_ok(tl_mesh_rest_attach(mesh, &attrs.rest, &err));
    assert_ok(tl_remesh_attach(mesh, 1, &attrs, &err));
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        const tl_vec2 a = mesh->uv[tl_mesh_edge_vert(mesh, e, 0, 0)], b = mesh->uv[tl_mesh_edge_vert(mesh, e, 0, 1)];
        if (a.x == 0.5 && b.x == 0.5)
            mesh->edge_label[e] = 1, tl_mesh_attr_doubles(mesh, TL_EDGES, attrs.rest.crease)[e] = fold;
    }
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        for (int k = 0; k < 3; k++)
            tl_mesh_attr_doubles(mesh, TL_FACES, attrs.rest.curvature)[3 * f + k] =
                s[k] * tl_mesh_face_area_uv(mesh, f);
    int32_t done = 0;
    for (int i = 0; i < 12; i++) {
        tl_remesh_report report;
        set_field(mesh, &attrs, wild, i);
        assert_ok(tl_remesh(mesh, &attrs, &plain, &report, &err));
        done += operations(&report);
        double worst = 0;
        int32_t folds = 0;
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
            if (!tl_alive(mesh, TL_EDGES, e) || mesh->edge_face[e][1] == TL_NONE) continue;
            const bool line = mesh->edge_label[e] != 0;
            folds += line;
            const double expected = gradient_jump(mesh, e, s) + (line ? fold : 0);
            worst = fmax(worst, fabs(mesh->edge_rest[e] - expected));
        }
        assert_true(folds >= 1);
        if (i > 0) assert_true(worst < 1e-9);  // the first pass leaves edges that nobody gave an angle
    }
    assert_true(done > 2000);
    tl_mesh_destroy(mesh);
}

static tl_status count_call(void *self, tl_error *e)
{
    (void)e;
    ++*(int *)self;
    return TL_OK;
}

static void clearance_is_measured_only_when_it_is_needed(void **state)
{
    (void)state;
    tl_remesh_attrs attrs;
    shape_grid(fresh(), 1, 1, 1.0, 0, 0);
    tl_mesh *mesh = build_shape(&attrs);
    int calls = 0;
    tl_remesh_def def = plain;
    def.renew_clearance = count_call, def.renew_self = &calls;
    tl_remesh_report r;
    for (int pass = 0; pass < 20; pass++) {
        const int before = calls;
        set_field(mesh, &attrs, even, pass < 10 ? 0.2 : 0.1);
        assert_ok(tl_remesh(mesh, &attrs, &def, &r, &err));
        if (operations(&r) > 0)
            assert_true(calls > before);
        else
            assert_int_equal(calls, before);
        if (pass == 10) assert_true(operations(&r) > 0);
        if (pass == 9 || pass == 19) assert_int_equal(operations(&r), 0);
    }
    tl_mesh_destroy(mesh);
}

// Room by face slot, as it was when it was last renewed, and how much of that is told.
enum { TOLD_ALL, TOLD_ENOUGH, TOLD_SOME, MOST_FACES = 60000 };
typedef struct teller {
    const tl_mesh *mesh;
    int how;
    double room[MOST_FACES][2];
    int64_t asked, bounds;
} teller;

static tl_status renew_told(void *self, tl_error *e)
{
    (void)e;
    teller *t = self;
    const tl_mesh *mesh = t->mesh;
    assert_true(mesh->slots[TL_FACES].count <= MOST_FACES);
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        t->room[f][TL_CLEARANCE_CLOTH] = 0.02 * tl_random(4, 1, (uint64_t)f) * tl_random(4, 2, (uint64_t)f);
        t->room[f][TL_CLEARANCE_BODIES] = 0.1;
        for (int k = 0; k < 3; k++)
            t->room[f][TL_CLEARANCE_BODIES] =
                fmax(0, fmin(t->room[f][TL_CLEARANCE_BODIES], mesh->pos[tl_face_node(mesh, f, k)].z + 0.03));
    }
    return TL_OK;
}

static double told_clearance(void *self, int32_t f, tl_clearance_kind what, double enough)
{
    teller *t = self;
    const double all = t->room[f][what];
    t->asked++, t->bounds += all > enough;
    if (t->how == TOLD_ALL || all <= enough) return all;
    return t->how == TOLD_ENOUGH ? enough : enough + tl_random(5, (uint64_t)f, (uint64_t)t->asked) * (all - enough);
}

// However little of its room is known: operations and the mesh are those of exact numbers.
static void bounds_on_clearance_give_the_verdicts_of_exact_clearance(void **state)
{
    (void)state;
    static teller t;
    uint64_t hash[3];
    int32_t done[3] = {0}, refused[3] = {0};
    for (int how = TOLD_ALL; how <= TOLD_SOME; how++) {
        shape_garment(fresh(), 12);
        tl_remesh_attrs attrs;
        tl_mesh *mesh = build_shape(&attrs);
        for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++)
            mesh->pos[n].z += 0.05 * sin(8 * mesh->pos[n].x) * cos(6 * mesh->pos[n].y);
        t = (teller){.mesh = mesh, .how = how};
        const tl_guard_body plane = {.point = {0, 0, -0.03}, .normal = {0, 0, 1}, .keep = 0.004};
        const tl_guard guard = {&plane, 1, 0.1};
        tl_remesh_def def = plain;
        def.renew_clearance = renew_told, def.measure_clearance = told_clearance, def.renew_self = &t,
        def.guard = &guard;
        for (int i = 0; i < 4; i++) {
            tl_remesh_report report;
            set_field(mesh, &attrs, wild, i);
            assert_ok(tl_remesh(mesh, &attrs, &def, &report, &err));
            done[how] += operations(&report), refused[how] += report.refused + report.straight;
        }
        hash[how] = tl_mesh_hash(mesh);
        if (how != TOLD_ALL) assert_true(t.bounds > 1000 && t.asked - t.bounds > 1000);
        tl_mesh_destroy(mesh);
    }
    assert_true(done[0] > 5000 && refused[0] > 500);
    for (int how = TOLD_ENOUGH; how <= TOLD_SOME; how++) {
        assert_int_equal(done[how], done[0]);
        assert_int_equal(refused[how], refused[0]);
        assert_true(hash[how] == hash[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_square_gets_the_size_asked_for),
        cmocka_unit_test(faces_follow_the_directions_asked_for),
        cmocka_unit_test(faces_come_and_go_with_a_ridge),
        cmocka_unit_test(garments_keep_seams_mass_and_momentum),
        cmocka_unit_test(a_storm_of_passes_keeps_the_cloth),
        cmocka_unit_test(splits_alone_make_no_needles),
        cmocka_unit_test(a_limit_of_faces_is_kept),
        cmocka_unit_test(a_mesh_serves_until_edges_are_too_long_or_faces_too_many),
        cmocka_unit_test(what_is_held_stays_held),
        cmocka_unit_test(new_nodes_lie_on_a_smooth_surface),
        cmocka_unit_test(a_rest_shape_is_kept),
        cmocka_unit_test(clearance_is_measured_only_when_it_is_needed),
        cmocka_unit_test(bounds_on_clearance_give_the_verdicts_of_exact_clearance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
