// tests/unit/test_mesh_edit.c: split, flip, collapse, attribute rules, undo to the bit, running out of
// memory.

#include "check.h"

#include "base/rng.h"
#include "math/vec3.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_edit.h"
#include "mesh/mesh_mass.h"
#include "mesh/mesh_order.h"
#include "mesh/mesh_query.h"
#include "mesh_loops.h"
#include "test_mesh_shapes.h"

// A third of the material area of each face around a node.
static void node_areas(const tl_mesh *mesh, double *out)
{
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) out[n] = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        for (int k = 0; k < 3 && tl_alive(mesh, TL_FACES, f); k++)
            out[tl_face_node(mesh, f, k)] += tl_mesh_face_area_uv(mesh, f) / 3;
}

static tl_error err;
static shape made;  // large: kept off the stack

static shape *fresh(void)
{
    memset(&made, 0, sizeof made);
    return &made;
}

static tl_mesh *build_shape(void)
{
    const tl_allocator alloc = tl_allocator_default();
    const tl_mesh_def def = shape_def(&made);
    tl_mesh *mesh;
    assert_ok(tl_mesh_create(&alloc, &def, &mesh, &err));
    return mesh;
}

static int32_t edge_of_verts(const tl_mesh *mesh, int32_t a, int32_t b)
{
    const int32_t e = tl_mesh_find_edge(mesh, mesh->vert_node[a], mesh->vert_node[b]);
    assert_int_not_equal(e, TL_NONE);
    return e;
}

static double attr_total(const tl_mesh *mesh, tl_domain d, int32_t index)
{
    double sum = 0;
    for (int32_t i = 0; i < mesh->slots[d].count; i++)
        if (tl_alive(mesh, d, i)) sum += tl_mesh_attr_doubles(mesh, d, index)[i];
    return sum;
}

// ---- one edit at a time -----------------------------------------------------------------------------------

static void split_cuts_faces_and_keeps_labels(void **state)
{
    (void)state;
    const grid g = shape_grid(fresh(), 1, 1, 1, 0, 0);
    tl_mesh *mesh = build_shape();
    for (int32_t n = 0; n < 4; n++) mesh->vel[n] = (tl_vec3){n, 0, 1}, mesh->node_label[n] = n == 0 || n == 3 ? 4 : 0;
    const int32_t e = edge_of_verts(mesh, grid_vert(g, 0, 0), grid_vert(g, 1, 1));
    mesh->edge_label[e] = 9;
    mesh->edge_rest[e] = 0.25;
    const int32_t n0 = mesh->edge_node[e][0], n1 = mesh->edge_node[e][1];
    tl_split s;
    assert_ok(tl_mesh_split_edge(mesh, e, 0.25, &s, &err));
    assert_ok(tl_mesh_check(mesh, &err));
    const tl_count_report c = tl_mesh_counts(mesh);
    assert_int_equal(c.node, 5);
    assert_int_equal(c.face, 4);
    assert_int_equal(c.edge, 8);
    assert_int_equal(s.vert[0], s.vert[1]);
    assert_int_equal(mesh->edge_node[e][0], n0);
    assert_int_equal(mesh->edge_node[e][1], s.node);
    assert_int_equal(mesh->edge_node[s.edge][1], n1);
    assert_near(mesh->uv[s.vert[0]].x, n0 == 0 ? 0.25 : 0.75, 0);
    assert_near(mesh->vel[s.node].x, n0 == 0 ? 0.75 : 2.25, 0);
    assert_int_equal(mesh->node_label[s.node], 4);  // both ends agree
    assert_int_equal(mesh->edge_label[s.edge], 9);
    assert_near(mesh->edge_rest[s.edge], 0.25, 0);
    assert_int_equal(mesh->edge_label[s.inner[0]], 0);
    assert_near(mesh->edge_rest[s.inner[1]], 0, 0);
    assert_near(tl_mesh_area_uv(mesh), 1, 1e-15);
    assert_int_equal(tl_mesh_can_split(mesh, e, 1), TL_VERDICT_RANGE);
    assert_int_equal(tl_mesh_can_split(mesh, e, (double)NAN), TL_VERDICT_RANGE);
    assert_int_equal(tl_mesh_can_split(mesh, 99, 0.5), TL_VERDICT_NO_EDGE);
    assert_int_equal(tl_mesh_can_split(mesh, e, 1e-13), TL_VERDICT_INVERTS);
    assert_int_equal(tl_mesh_split_edge(mesh, e, 2, NULL, &err), TL_BAD_ARG);
    // and back: along the feature line, the mesh is a square of two faces again
    assert_int_equal(tl_mesh_can_collapse(mesh, s.inner[0], s.node), TL_VERDICT_LEAVES_LINE);
    assert_ok(tl_mesh_collapse_edge(mesh, s.edge, s.node, NULL, &err));
    assert_ok(tl_mesh_check(mesh, &err));
    assert_int_equal(tl_mesh_counts(mesh).face, 2);
    assert_int_equal(mesh->edge_label[tl_mesh_find_edge(mesh, n0, n1)], 9);
    tl_mesh_destroy(mesh);
}

// A face in three, on a mesh with amounts; the new node collapsed into any corner is the mesh of before.
static void face_is_cut_in_three(void **state)
{
    (void)state;
    for (int corner = 0; corner < 3; corner++) {
        shape_grid(fresh(), 2, 2, 1, 0, 0);
        tl_mesh *mesh = build_shape();
        int32_t keep, mean, area;
        assert_ok(tl_mesh_attr_add(mesh, TL_NODES, "keep", TL_DOUBLE, 1, TL_ATTR_CONSERVE, &keep, &err));
        assert_ok(tl_mesh_attr_add(mesh, TL_NODES, "mean", TL_DOUBLE, 1, TL_ATTR_MEAN, &mean, &err));
        assert_ok(tl_mesh_attr_add(mesh, TL_FACES, "area", TL_DOUBLE, 1, TL_ATTR_CONSERVE, &area, &err));
        double lumped[10], after[10];
        node_areas(mesh, lumped);
        for (int32_t n = 0; n < 9; n++) {
            mesh->pos[n].z = 0.1 * n * n, mesh->vel[n] = (tl_vec3){n, 1, -n};
            tl_mesh_attr_doubles(mesh, TL_NODES, keep)[n] = lumped[n];
            tl_mesh_attr_doubles(mesh, TL_NODES, mean)[n] = n * n;
        }
        for (int32_t f = 0; f < 8; f++) tl_mesh_attr_doubles(mesh, TL_FACES, area)[f] = 0.5;
        assert_ok(tl_mesh_record(mesh, &err));
        const uint64_t before = tl_mesh_hash(mesh);
        const int32_t f = 3, n[3] = {tl_face_node(mesh, f, 0), tl_face_node(mesh, f, 1), tl_face_node(mesh, f, 2)};
        tl_face_split s;
        assert_ok(tl_mesh_split_face(mesh, f, &s, &err));
        assert_ok(tl_mesh_check(mesh, &err));
        assert_int_equal(tl_mesh_counts(mesh).face, 10);
        assert_int_equal(tl_mesh_counts(mesh).node, 10);
        assert_near(mesh->pos[s.node].z, 0.1 / 3 * (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), 1e-15);
        assert_near(mesh->vel[s.node].x, (n[0] + n[1] + n[2]) / 3.0, 1e-15);
        const double *mean_of = tl_mesh_attr_doubles(mesh, TL_NODES, mean);
        assert_near(mean_of[s.node], (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 3.0, 1e-14);
        node_areas(mesh, after);
        for (int32_t i = 0; i < 10; i++) assert_near(tl_mesh_attr_doubles(mesh, TL_NODES, keep)[i], after[i], 1e-15);
        for (int32_t i = 0; i < 10; i++)
            assert_near(tl_mesh_attr_doubles(mesh, TL_FACES, area)[i], tl_mesh_face_area_uv(mesh, i), 1e-15);
        for (int k = 0; k < 3; k++) assert_int_equal(mesh->edge_node[s.edge[k]][1], n[k]);
        if (corner == 0) {  // undone to the bit
            tl_mesh_undo_to(mesh, 0);
            assert_true(tl_mesh_hash(mesh) == before);
            assert_ok(tl_mesh_split_face(mesh, f, &s, &err));
        }
        assert_ok(tl_mesh_collapse_edge(mesh, s.edge[corner], s.node, NULL, &err));
        assert_ok(tl_mesh_check(mesh, &err));
        assert_int_equal(tl_mesh_counts(mesh).face, 8);
        for (int a = 0; a < 3; a++) assert_int_not_equal(tl_mesh_find_edge(mesh, n[a], n[(a + 1) % 3]), TL_NONE);
        assert_near(attr_total(mesh, TL_NODES, keep), 4, 1e-14);
        assert_int_equal(tl_mesh_can_split_face(mesh, 99), TL_VERDICT_NO_EDGE);
        assert_int_equal(tl_mesh_split_face(mesh, -1, NULL, &err), TL_BAD_ARG);
        tl_mesh_destroy(mesh);
    }
}

static void seam_is_split_and_collapsed_on_both_sides(void **state)
{
    (void)state;
    shape *s = fresh();
    const grid a = shape_grid(s, 1, 1, 1, 0, 0), b = shape_grid(s, 1, 1, 1, 5, 0);
    shape_sew(s, grid_vert(a, 1, 0), grid_vert(b, 0, 0));
    shape_sew(s, grid_vert(a, 1, 1), grid_vert(b, 0, 1));
    tl_mesh *mesh = build_shape();
    const int32_t e = edge_of_verts(mesh, grid_vert(a, 1, 0), grid_vert(a, 1, 1));
    assert_int_equal(tl_mesh_can_flip(mesh, e), TL_VERDICT_SEAM);
    assert_int_equal(tl_mesh_can_collapse(mesh, e, mesh->edge_node[e][0]),
                     TL_VERDICT_FIXED_NODE);  // seam end
    tl_split cut;
    assert_ok(tl_mesh_split_edge(mesh, e, 0.5, &cut, &err));
    assert_ok(tl_mesh_check(mesh, &err));
    assert_int_not_equal(cut.vert[0], cut.vert[1]);
    assert_int_equal(mesh->vert_next[cut.vert[0]], cut.vert[1]);
    assert_int_equal(tl_mesh_counts(mesh).seam_edge, 2);
    assert_int_equal(tl_mesh_counts(mesh).vert, 10);
    assert_near(fabs(mesh->uv[cut.vert[0]].x - mesh->uv[cut.vert[1]].x), 4, 0);
    assert_int_equal(tl_mesh_can_collapse(mesh, cut.inner[0], cut.node), TL_VERDICT_LEAVES_LINE);
    assert_ok(tl_mesh_collapse_edge(mesh, cut.edge, cut.node, NULL, &err));
    assert_ok(tl_mesh_check(mesh, &err));
    assert_int_equal(tl_mesh_counts(mesh).seam_edge, 1);
    assert_int_equal(tl_mesh_counts(mesh).vert, 8);
    tl_mesh_destroy(mesh);
}

static void flip_turns_the_diagonal(void **state)
{
    (void)state;
    const grid g = shape_grid(fresh(), 1, 1, 1, 0, 0);
    tl_mesh *mesh = build_shape();
    const int32_t e = edge_of_verts(mesh, grid_vert(g, 0, 0), grid_vert(g, 1, 1));
    mesh->edge_rest[e] = 0.5;
    assert_ok(tl_mesh_flip_edge(mesh, e, &err));
    assert_ok(tl_mesh_check(mesh, &err));
    assert_int_equal(edge_of_verts(mesh, grid_vert(g, 1, 0), grid_vert(g, 0, 1)), e);
    assert_near(mesh->edge_rest[e], 0, 0);
    assert_int_equal(tl_mesh_can_flip(mesh, edge_of_verts(mesh, 0, 1)), TL_VERDICT_BORDER);
    mesh->edge_label[e] = 1;
    assert_int_equal(tl_mesh_can_flip(mesh, e), TL_VERDICT_FEATURE);
    mesh->edge_label[e] = 0;
    mesh->face_label[0] = 1;  // between two fabrics
    assert_int_equal(tl_mesh_can_flip(mesh, e), TL_VERDICT_FEATURE);
    mesh->face_label[0] = 0;
    mesh->uv[1] = (tl_vec2){0.3, 0.5};  // the quad is not convex any more
    assert_int_equal(tl_mesh_can_flip(mesh, e), TL_VERDICT_INVERTS);
    tl_mesh_destroy(mesh);
}

static void collapse_keeps_outlines(void **state)
{
    (void)state;
    shape *s = fresh();
    const grid g = shape_grid(s, 4, 4, 1, 0, 0);
    shape_dart(s, g, 2, 2, 0.1, true);
    tl_mesh *mesh = build_shape();
#define VERDICT(i0, j0, i1, j1)                                                                                        \
    tl_mesh_can_collapse(mesh, edge_of_verts(mesh, grid_vert(g, i0, j0), grid_vert(g, i1, j1)),                        \
                         mesh->vert_node[grid_vert(g, i0, j0)])
    assert_int_equal(VERDICT(0, 0, 1, 0), TL_VERDICT_BENT);         // a corner of the panel
    assert_int_equal(VERDICT(1, 0, 1, 1), TL_VERDICT_LEAVES_LINE);  // from the border inwards
    assert_int_equal(VERDICT(2, 2, 2, 3), TL_VERDICT_FIXED_NODE);   // the tip of the dart
    assert_int_equal(VERDICT(2, 1, 1, 1), TL_VERDICT_LEAVES_LINE);  // off the seam
    assert_int_equal(VERDICT(2, 0, 2, 1), TL_VERDICT_FIXED_NODE);   // the end of the seam
    assert_int_equal(VERDICT(1, 1, 0, 0), TL_VERDICT_INVERTS);      // the faces along v = 0 would flatten
    assert_int_equal(VERDICT(0, 2, 0, 3), TL_VERDICT_OK);           // along the border
    assert_int_equal(VERDICT(1, 1, 1, 0), TL_VERDICT_OK);           // inner node onto the border
    assert_int_equal(VERDICT(2, 1, 2, 2), TL_VERDICT_OK);           // along the dart, into its tip
    assert_ok(tl_mesh_collapse_edge(mesh, edge_of_verts(mesh, grid_vert(g, 2, 1), grid_vert(g, 2, 2)),
                                    mesh->vert_node[grid_vert(g, 2, 1)], NULL, &err));
    assert_ok(tl_mesh_check(mesh, &err));
    assert_int_equal(tl_mesh_counts(mesh).seam_edge, 1);
    assert_int_equal(tl_mesh_counts(mesh).vert, 25);
    tl_mesh_destroy(mesh);
}

static void collapse_keeps_the_topology(void **state)
{
    (void)state;
    // a strip folded to a ring of three nodes around: inner edges whose ends share a third neighbour all
    // around
    shape *s = fresh();
    const grid g = shape_grid(s, 3, 3, 1, 0, 0);
    for (int32_t j = 0; j <= 3; j++) shape_sew(s, grid_vert(g, 0, j), grid_vert(g, 3, j));
    tl_mesh *mesh = build_shape();
    assert_int_equal(mesh->panel_count, 1);
    assert_int_equal(tl_mesh_can_collapse(mesh, edge_of_verts(mesh, grid_vert(g, 1, 1), grid_vert(g, 2, 1)),
                                          mesh->vert_node[grid_vert(g, 1, 1)]),
                     TL_VERDICT_TOPOLOGY);
    // wear the mesh down as far as it goes: it stays a tube
    for (int pass = 0; pass < 10; pass++)
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++)
            for (int end = 0; end < 2; end++)
                if (tl_alive(mesh, TL_EDGES, e) &&
                    tl_mesh_can_collapse(mesh, e, mesh->edge_node[e][end]) == TL_VERDICT_OK)
                    assert_ok(tl_mesh_collapse_edge(mesh, e, mesh->edge_node[e][end], NULL, &err));
    assert_ok(tl_mesh_check(mesh, &err));
    const tl_count_report c = tl_mesh_counts(mesh);
    assert_int_equal(c.node - c.edge + c.face, 0);
    assert_int_equal(c.border_edge, 6);
    assert_near(tl_mesh_area_uv(mesh), 9, 1e-13);
    tl_mesh_destroy(mesh);
}

static void joints_of_lines_stay(void **state)
{
    (void)state;
    shape *s = fresh();
    const grid a = shape_grid(s, 6, 6, 1, 0, 0), b = shape_grid(s, 6, 6, 1, 20, 0);
    shape_dart(s, a, 3, 3, 0.05, true);
    shape_dart(s, b, 3, 3, 0.05, true);
    shape_sew(s, grid_vert(a, 3, 3), grid_vert(b, 3, 3));  // two dart tips: two seams, two vertices
    shape_sew(s, grid_vert(a, 1, 1), grid_vert(b, 1, 1));  // two cones that touch: no line, two vertices
    shape_sew(s, grid_vert(a, 0, 3), grid_vert(b, 5, 1));  // a border and a cone
    tl_mesh *mesh = build_shape();
    const int32_t pairs[3][2] = {{grid_vert(a, 3, 3), grid_vert(a, 3, 2)},
                                 {grid_vert(a, 1, 1), grid_vert(a, 1, 0)},
                                 {grid_vert(a, 0, 3), grid_vert(a, 0, 4)}};
    for (int i = 0; i < 3; i++) {
        const int32_t n = mesh->vert_node[pairs[i][0]];
        assert_true(tl_mesh_node_is_corner(mesh, n));
        assert_int_equal(tl_mesh_can_collapse(mesh, edge_of_verts(mesh, pairs[i][0], pairs[i][1]), n),
                         TL_VERDICT_FIXED_NODE);
    }
    // a feature line changes its label on the way; another one starts at the tip of a dart
    const int32_t line[3] = {grid_vert(a, 1, 4), grid_vert(a, 2, 4), grid_vert(a, 3, 4)};
    const int32_t first = edge_of_verts(mesh, line[0], line[1]), second = edge_of_verts(mesh, line[1], line[2]);
    mesh->edge_label[first] = 1, mesh->edge_label[second] = 1;
    assert_int_equal(tl_mesh_can_collapse(mesh, first, mesh->vert_node[line[1]]), TL_VERDICT_OK);
    mesh->edge_label[second] = 2;
    assert_int_equal(tl_mesh_can_collapse(mesh, first, mesh->vert_node[line[1]]), TL_VERDICT_FIXED_NODE);
    tl_mesh_destroy(mesh);

    s = fresh();
    const grid g = shape_grid(s, 4, 4, 1, 0, 0);
    shape_dart(s, g, 2, 2, 0.05, true);
    mesh = build_shape();
    const int32_t tip = grid_vert(g, 2, 2), up = edge_of_verts(mesh, tip, grid_vert(g, 2, 3));
    mesh->edge_label[up] = 1;
    assert_int_equal(tl_mesh_can_collapse(mesh, up, mesh->vert_node[tip]), TL_VERDICT_FIXED_NODE);
    mesh->edge_label[up] = 0;  // the same without a label: two fabrics meet along dart and line
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        for (int k = 0; k < 3; k++)
            if (mesh->uv[mesh->face_vert[f][k]].x < 2) mesh->face_label[f] = 1;
    assert_int_equal(tl_mesh_edge_kind(mesh, up), TL_EDGE_FEATURE);
    assert_int_equal(tl_mesh_can_collapse(mesh, up, mesh->vert_node[tip]), TL_VERDICT_FIXED_NODE);
    tl_mesh_destroy(mesh);

    s = fresh();  // a slit without width: its border comes back the way it went
    const grid slit = shape_grid(s, 4, 4, 1, 0, 0);
    shape_dart(s, slit, 2, 2, 0, false);
    mesh = build_shape();
    const int32_t end = grid_vert(slit, 2, 2);
    assert_int_equal(tl_mesh_can_collapse(mesh, edge_of_verts(mesh, end, grid_vert(slit, 2, 1)), mesh->vert_node[end]),
                     TL_VERDICT_BENT);
    tl_mesh_destroy(mesh);
}

static void faces_do_not_fall_together(void **state)
{
    (void)state;
    // a triangle cut in three, sewn to a whole one: without the middle node two faces would join the same
    // nodes
    const tl_vec3 pos[4] = {{0, 0, 0}, {3, 0, 0}, {0, 3, 0}, {1, 1, 1}};
    const tl_vec2 uv[7] = {{0, 0}, {3, 0}, {0, 3}, {1, 1}, {10, 0}, {7, 0}, {10, 3}};
    const int32_t node[7] = {0, 1, 2, 3, 0, 1, 2}, face[4][3] = {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {5, 4, 6}};
    const tl_allocator alloc = tl_allocator_default();
    tl_mesh_def def = {
        .node_count = 4, .vert_count = 7, .face_count = 4, .pos = pos, .uv = uv, .vert_node = node, .face_vert = face};
    tl_mesh *mesh;
    assert_ok(tl_mesh_create(&alloc, &def, &mesh, &err));
    assert_ok(tl_mesh_check(mesh, &err));
    assert_int_equal(tl_mesh_can_collapse(mesh, tl_mesh_find_edge(mesh, 3, 0), 3), TL_VERDICT_TOPOLOGY);
    tl_mesh_destroy(mesh);

    const int32_t two[2][3] = {{0, 1, 2}, {4, 3, 5}}, two_node[6] = {0, 1, 2, 0, 1, 2};
    const tl_vec2 two_uv[6] = {{0, 0}, {3, 0}, {0, 3}, {10, 0}, {7, 0}, {10, 3}};
    def = (tl_mesh_def){.node_count = 3,
                        .vert_count = 6,
                        .face_count = 2,
                        .pos = pos,
                        .uv = two_uv,
                        .vert_node = two_node,
                        .face_vert = two};
    assert_int_equal(tl_mesh_create(&alloc, &def, &mesh, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "faces 0 and 1 join the same three nodes 0, 1, 2"));
}

// ---- attributes -------------------------------------------------------------------------------------------

static void attributes_follow_their_rules(void **state)
{
    (void)state;
    const grid g = shape_grid(fresh(), 2, 2, 1, 0, 0);
    tl_mesh *mesh = build_shape();
    int32_t mean, copy, keep, zero, amount, length, area;
    assert_ok(tl_mesh_attr_add(mesh, TL_NODES, "mean", TL_DOUBLE, 2, TL_ATTR_MEAN, &mean, &err));
    assert_ok(tl_mesh_attr_add(mesh, TL_NODES, "copy", TL_INT32, 1, TL_ATTR_COPY, &copy, &err));
    assert_ok(tl_mesh_attr_add(mesh, TL_NODES, "keep", TL_DOUBLE, 1, TL_ATTR_CONSERVE, &keep, &err));
    assert_ok(tl_mesh_attr_add(mesh, TL_NODES, "zero", TL_INT32, 1, TL_ATTR_ZERO, &zero, &err));
    assert_ok(tl_mesh_attr_add(mesh, TL_VERTS, "amount", TL_DOUBLE, 1, TL_ATTR_CONSERVE, &amount, &err));
    assert_ok(tl_mesh_attr_add(mesh, TL_EDGES, "length", TL_DOUBLE, 1, TL_ATTR_CONSERVE, &length, &err));
    assert_ok(tl_mesh_attr_add(mesh, TL_FACES, "area", TL_DOUBLE, 1, TL_ATTR_CONSERVE, &area, &err));
    double areas[9];
    node_areas(mesh, areas);
    for (int32_t n = 0; n < 9; n++) {
        tl_mesh_attr_doubles(mesh, TL_NODES, mean)[2 * n] = n;
        tl_mesh_attr_doubles(mesh, TL_NODES, mean)[2 * n + 1] = -2 * n;
        tl_mesh_attr_ints(mesh, TL_NODES, copy)[n] = 100 + n;
        tl_mesh_attr_ints(mesh, TL_NODES, zero)[n] = 5;
        tl_mesh_attr_doubles(mesh, TL_NODES, keep)[n] = areas[n];  // an amount that IS the lumped area ...
        tl_mesh_attr_doubles(mesh, TL_VERTS, amount)[n] = areas[n];
    }
    for (int32_t f = 0; f < 8; f++) tl_mesh_attr_doubles(mesh, TL_FACES, area)[f] = 0.5;
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) tl_mesh_attr_doubles(mesh, TL_EDGES, length)[e] = 1;

    tl_split s;
    const int32_t e = edge_of_verts(mesh, grid_vert(g, 1, 0), grid_vert(g, 1, 1));
    const int32_t n0 = mesh->edge_node[e][0], n1 = mesh->edge_node[e][1];
    assert_ok(tl_mesh_split_edge(mesh, e, 0.25, &s, &err));
    assert_near(tl_mesh_attr_doubles(mesh, TL_NODES, mean)[2 * s.node], 0.75 * n0 + 0.25 * n1, 1e-15);
    assert_near(tl_mesh_attr_doubles(mesh, TL_NODES, mean)[2 * s.node + 1], -2 * (0.75 * n0 + 0.25 * n1), 1e-15);
    assert_int_equal(tl_mesh_attr_ints(mesh, TL_NODES, copy)[s.node], 100 + n0);
    assert_int_equal(tl_mesh_attr_ints(mesh, TL_NODES, zero)[s.node], 0);
    assert_int_equal(tl_mesh_attr_ints(mesh, TL_NODES, zero)[n0], 5);
    double after[10];
    node_areas(mesh, after);
    for (int32_t n = 0; n < 10; n++) {  // ... is the lumped area still
        assert_near(tl_mesh_attr_doubles(mesh, TL_NODES, keep)[n], after[n], 1e-15);
        assert_near(tl_mesh_attr_doubles(mesh, TL_VERTS, amount)[n], after[n], 1e-15);
    }
    for (int32_t f = 0; f < 10; f++)
        assert_near(tl_mesh_attr_doubles(mesh, TL_FACES, area)[f], tl_mesh_face_area_uv(mesh, f), 1e-15);
    assert_near(tl_mesh_attr_doubles(mesh, TL_EDGES, length)[e], 0.25, 1e-15);
    assert_near(tl_mesh_attr_doubles(mesh, TL_EDGES, length)[s.edge], 0.75, 1e-15);
    assert_near(tl_mesh_attr_doubles(mesh, TL_EDGES, length)[s.inner[0]], 0, 0);

    assert_ok(tl_mesh_flip_edge(mesh, edge_of_verts(mesh, grid_vert(g, 0, 0), grid_vert(g, 1, 1)), &err));
    for (int32_t f = 0; f < 10; f++)
        assert_near(tl_mesh_attr_doubles(mesh, TL_FACES, area)[f], tl_mesh_face_area_uv(mesh, f), 1e-15);
    const int32_t back = tl_mesh_find_edge(mesh, s.node, n0);
    assert_ok(tl_mesh_collapse_edge(mesh, back, s.node, NULL, &err));
    double total = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f)) total += tl_mesh_attr_doubles(mesh, TL_FACES, area)[f];
    assert_near(total, 4, 1e-14);
    assert_int_equal(tl_mesh_attr_ints(mesh, TL_NODES, copy)[n0], 100 + n0);
    tl_mesh_destroy(mesh);
}

// ---- storms -----------------------------------------------------------------------------------------------

// Numbers that no edit may change.
typedef struct invariants {
    int32_t euler, panels, world_loops, material_loops;
    double area, border, seam, feature, amount[TL_DOMAIN_COUNT], fabric;
    uint64_t corners;  // material places where outlines and lines end or turn, to the bit
} invariants;

static uint64_t corner_places(const tl_mesh *mesh)
{
    uint64_t sum = 0;
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) {
        if (!tl_alive(mesh, TL_VERTS, v) || !tl_mesh_node_is_corner(mesh, mesh->vert_node[v])) continue;
        uint64_t word[2];
        memcpy(word, &mesh->uv[v], sizeof word);
        sum += tl_mix64(tl_mix64(word[0]) + word[1]);  // in any order
    }
    return sum;
}

static invariants measure(const tl_mesh *mesh)
{
    const tl_count_report c = tl_mesh_counts(mesh);
    invariants r = {.euler = c.node - c.edge + c.face, .panels = mesh->panel_count, .area = tl_mesh_area_uv(mesh)};
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e)) continue;
        const tl_edge_kind kind = tl_mesh_edge_kind(mesh, e);
        const double length = tl_mesh_edge_length_uv(mesh, e, 0);
        if (kind == TL_EDGE_BORDER) r.border += length;
        if (kind == TL_EDGE_SEAM) r.seam += length + tl_mesh_edge_length_uv(mesh, e, 1);
        if (mesh->edge_label[e]) r.feature += length * mesh->edge_label[e];
    }
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f) && mesh->face_label[f]) r.fabric += tl_mesh_face_area_uv(mesh, f);
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) r.amount[d] = attr_total(mesh, (tl_domain)d, 0);
    r.corners = corner_places(mesh);
    tl_loops loops;
    assert_ok(tl_mesh_loops(mesh, TL_LOOP_WORLD, &loops, &err));
    r.world_loops = loops.loop_count;
    tl_mesh_loops_free(mesh, &loops);
    assert_ok(tl_mesh_loops(mesh, TL_LOOP_MATERIAL, &loops, &err));
    r.material_loops = loops.loop_count;
    tl_mesh_loops_free(mesh, &loops);
    return r;
}

static void assert_same(invariants a, invariants b)
{
    assert_int_equal(a.euler, b.euler);
    assert_true(a.corners == b.corners);
    assert_int_equal(a.panels, b.panels);
    assert_int_equal(a.world_loops, b.world_loops);
    assert_int_equal(a.material_loops, b.material_loops);
    assert_near(a.area, b.area, 1e-12 * b.area);
    assert_near(a.border, b.border, 1e-12 * b.border);
    assert_near(a.seam, b.seam, 1e-12 * b.seam);
    assert_near(a.feature, b.feature, 1e-12 * b.feature);
    assert_near(a.fabric, b.fabric, 1e-12 * b.area);
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) assert_near(a.amount[d], b.amount[d], 1e-10 * fabs(b.amount[d]));
}

static void add_attributes(tl_mesh *mesh, uint64_t seed)
{
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) {
        int32_t a, b, c;
        assert_ok(tl_mesh_attr_add(mesh, (tl_domain)d, "amount", TL_DOUBLE, 1, TL_ATTR_CONSERVE, &a, &err));
        assert_ok(tl_mesh_attr_add(mesh, (tl_domain)d, "mean", TL_DOUBLE, 3, TL_ATTR_MEAN, &b, &err));
        assert_ok(tl_mesh_attr_add(mesh, (tl_domain)d, "tag", TL_INT32, 1, TL_ATTR_COPY, &c, &err));
        for (int32_t i = 0; i < mesh->slots[d].count; i++) {
            tl_mesh_attr_doubles(mesh, (tl_domain)d, a)[i] = tl_random(seed, (uint64_t)d, (uint64_t)i);
            for (int k = 0; k < 3; k++) tl_mesh_attr_doubles(mesh, (tl_domain)d, b)[3 * i + k] = i - k;
            tl_mesh_attr_ints(mesh, (tl_domain)d, c)[i] = i;
        }
    }
}

static void label_a_line(tl_mesh *mesh)
{
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count;
         e++) {  // v = 0.3 in the first panel: straight, and ends at borders
        const tl_vec2 a = mesh->uv[tl_mesh_edge_vert(mesh, e, 0, 0)], b = mesh->uv[tl_mesh_edge_vert(mesh, e, 0, 1)];
        if (mesh->face_panel[mesh->edge_face[e][0]] == 0 && fabs(a.y - 0.3) < 1e-9 && fabs(b.y - 0.3) < 1e-9)
            mesh->edge_label[e] = 3;
    }
}

// One random edit; true if it was allowed. Keeps the size within bounds by what it prefers.
static bool random_edit(tl_mesh *mesh, uint64_t seed, uint64_t step, int32_t target, int32_t *counts)
{
    const int32_t e = (int32_t)(tl_random(seed, 1, step) * mesh->slots[TL_EDGES].count);
    if (!tl_alive(mesh, TL_EDGES, e)) return false;
    const double what = tl_random(seed, 2, step), t = tl_random(seed, 3, step);
    const bool small = mesh->slots[TL_FACES].live < target;
    if (what < (small ? 0.1 : 0.04)) {
        const int32_t f = mesh->edge_face[e][0];
        if (tl_mesh_can_split_face(mesh, f) != TL_VERDICT_OK) return false;
        tl_face_split s;
        assert_ok(tl_mesh_split_face(mesh, f, &s, &err));
        mesh->pos[s.node].z -= t;
        counts[0]++;
    } else if (what < (small ? 0.5 : 0.2)) {
        const double at = t < 0.5 ? 0.5 : t;
        if (tl_mesh_can_split(mesh, e, at) != TL_VERDICT_OK) return false;
        tl_split s;
        assert_ok(tl_mesh_split_edge(mesh, e, at, &s, &err));
        mesh->pos[s.node].z += t;  // the caller's right
        counts[0]++;
    } else if (what < 0.65) {
        if (tl_mesh_can_flip(mesh, e) != TL_VERDICT_OK) return false;
        assert_ok(tl_mesh_flip_edge(mesh, e, &err));
        counts[1]++;
    } else {
        const int32_t gone = mesh->edge_node[e][t < 0.5];
        if (tl_mesh_can_collapse(mesh, e, gone) != TL_VERDICT_OK) return false;
        assert_ok(tl_mesh_collapse_edge(mesh, e, gone, NULL, &err));
        counts[2]++;
    }
    return true;
}

static void storm(uint64_t seed, int32_t target, int32_t edits)
{
    enum { MARKS = 512 };
    const int32_t apart = edits / 63 + 1 < 1000 ? edits / 63 + 1 : 1000;  // edits between two marks
    tl_mesh *mesh = build_shape();
    label_a_line(mesh);
    add_attributes(mesh, seed);
    const invariants before = measure(mesh);
    assert_ok(tl_mesh_record(mesh, &err));
    uint64_t hashes[MARKS];
    int32_t marks[MARKS], mark_count = 0, done = 0, counts[3] = {0};
    for (uint64_t step = 0; done < edits && step < 40 * (uint64_t)edits; step++) {
        if (done >= mark_count * apart) {
            assert_true(mark_count < MARKS);
            assert_ok(tl_mesh_check(mesh, &err));
            assert_same(measure(mesh), before);
            hashes[mark_count] = tl_mesh_hash(mesh);
            marks[mark_count++] = tl_mesh_mark(mesh);
        }
        if (!random_edit(mesh, seed, step, target, counts)) continue;
        done++;
        assert_int_equal(tl_mesh_mark(mesh), done);
    }
    assert_int_equal(done, edits);
    for (int k = 0; k < 3; k++) assert_true(counts[k] > edits / 10);
    assert_ok(tl_mesh_check(mesh, &err));
    assert_same(measure(mesh), before);
    while (mark_count > 0) {
        tl_mesh_undo_to(mesh, marks[--mark_count]);
        assert_ok(tl_mesh_check(mesh, &err));
        assert_true(tl_mesh_hash(mesh) == hashes[mark_count]);
    }
    tl_mesh_destroy(mesh);
}

static void storm_over_a_garment(void **state)
{
    (void)state;
    const int32_t edits = getenv("TL_LONG") ? 340000 : 34000;  // of each of three: a million
    for (uint64_t seed = 1; seed <= 3; seed++) {
        shape_garment(fresh(), 10);
        storm(seed, 900, edits);
    }
}

static void storm_over_small_shapes(void **state)
{
    (void)state;
    // small meshes run into the limits of topology all the time
    shape_grid(fresh(), 1, 1, 1, 0, 0);
    storm(4, 20, 2000);
    shape_pillow(fresh(), 2, 3);
    storm(5, 30, 4000);
    shape *s = fresh();  // an annulus
    shape_grid(s, 3, 3, 1, 0, 0);
    shape_hole(s, 1, 1, 2, 2);
    storm(6, 40, 4000);
    s = fresh();  // a tube with a dart
    const grid g = shape_grid(s, 4, 4, 0.1, 0, 0);
    for (int32_t j = 0; j <= 4; j++) shape_sew(s, grid_vert(g, 0, j), grid_vert(g, 4, j));
    shape_dart(s, g, 2, 2, 0.004, true);
    storm(7, 50, 4000);
    s = fresh();  // one triangle
    shape_grid(s, 1, 1, 1, 0, 0);
    s->face_count = 1;
    storm(8, 12, 1000);
}

static void edits_do_not_depend_on_recording(void **state)
{
    (void)state;
    uint64_t hash[2];
    for (int recorded = 0; recorded < 2; recorded++) {
        shape_garment(fresh(), 8);
        tl_mesh *mesh = build_shape();
        add_attributes(mesh, 1);
        if (recorded) assert_ok(tl_mesh_record(mesh, &err));
        int32_t counts[3] = {0};
        for (uint64_t step = 0; step < 5000; step++) random_edit(mesh, 11, step, 500, counts);
        if (recorded) {
            const tl_edit edit = tl_mesh_edit_at(mesh, tl_mesh_mark(mesh) - 1);
            assert_true(edit.kind != TL_EDIT_TOUCH);
            tl_mesh_record_clear(mesh);
            assert_int_equal(tl_mesh_mark(mesh), 0);
        }
        hash[recorded] = tl_mesh_hash(mesh);
        tl_mesh_destroy(mesh);
    }
    assert_true(hash[0] == hash[1]);
}

static void touched_values_come_back(void **state)
{
    (void)state;
    shape_grid(fresh(), 2, 2, 1, 0, 0);
    tl_mesh *mesh = build_shape();
    assert_ok(tl_mesh_record(mesh, &err));
    const uint64_t before = tl_mesh_hash(mesh);
    assert_ok(tl_mesh_touch(mesh, TL_NODES, 4, &err));
    mesh->pos[4].z = 7;
    assert_ok(tl_mesh_split_edge(mesh, 0, 0.5, NULL, &err));
    assert_ok(tl_mesh_touch(mesh, TL_NODES, 4, &err));
    mesh->pos[4].z = 9;
    assert_int_equal(tl_mesh_touch(mesh, TL_NODES, 400, &err), TL_BAD_ARG);
    tl_mesh_undo_to(mesh, 1);
    assert_near(mesh->pos[4].z, 7, 0);
    tl_mesh_undo_to(mesh, 0);
    assert_true(tl_mesh_hash(mesh) == before);
    assert_int_equal(tl_mesh_reorder(mesh, TL_ORDER_COMPACT, NULL, NULL, &err),
                     TL_OK);  // nothing recorded any more
    tl_mesh_destroy(mesh);
}

// ---- out of memory ----------------------------------------------------------------------------------------

// Does `call` until it works; a failure must be for memory and must not have changed the mesh.
#define UNTIL_OK(call)                                                                                                 \
    do {                                                                                                               \
        const uint64_t hash_before = tl_mesh_hash(mesh);                                                               \
        const int32_t mark_before = tl_mesh_mark(mesh);                                                                \
        const tl_status got = (call);                                                                                  \
        if (got == TL_OK) break;                                                                                       \
        assert_int_equal(got, TL_NO_MEMORY);                                                                           \
        assert_true(tl_mesh_hash(mesh) == hash_before);                                                                \
        assert_int_equal(tl_mesh_mark(mesh), mark_before);                                                             \
        assert_ok(tl_mesh_check(mesh, &err));                                                                          \
        failures++;                                                                                                    \
    } while (1)

static int32_t run_with_failure(const tl_mesh_def *def, books *b)
{
    int32_t failures = 0;
    const tl_allocator alloc = books_allocator(b);
    tl_mesh *mesh;
    while (tl_mesh_create(&alloc, def, &mesh, &err) != TL_OK) {
        assert_int_equal(err.status, TL_NO_MEMORY);
        assert_null(mesh);
        assert_int_equal(b->bytes, 0);
        failures++;
    }
    int32_t index;
    UNTIL_OK(tl_mesh_attr_add(mesh, TL_FACES, "amount", TL_DOUBLE, 2, TL_ATTR_CONSERVE, &index, &err));
    UNTIL_OK(tl_mesh_attr_add(mesh, TL_NODES, "mean", TL_DOUBLE, 1, TL_ATTR_MEAN, &index, &err));
    UNTIL_OK(tl_mesh_record(mesh, &err));
    const uint64_t start = tl_mesh_hash(mesh);
    for (uint64_t step = 0; step < 120; step++) {
        const int32_t e = (int32_t)(tl_random(5, 1, step) * mesh->slots[TL_EDGES].count);
        const int32_t gone = tl_alive(mesh, TL_EDGES, e) ? mesh->edge_node[e][step % 2] : 0;
        if (tl_mesh_can_collapse(mesh, e, gone) == TL_VERDICT_OK && step % 3 == 0)
            UNTIL_OK(tl_mesh_collapse_edge(mesh, e, gone, NULL, &err));
        else if (tl_mesh_can_split(mesh, e, 0.5) == TL_VERDICT_OK && step % 3 != 1)
            UNTIL_OK(tl_mesh_split_edge(mesh, e, 0.5, NULL, &err));
        else if (tl_mesh_can_flip(mesh, e) == TL_VERDICT_OK)
            UNTIL_OK(tl_mesh_flip_edge(mesh, e, &err));
    }
    UNTIL_OK(tl_mesh_touch(mesh, TL_NODES, 0, &err));
    const long long requests = b->requests;
    tl_mesh_undo_to(mesh, 0);
    assert_int_equal(b->requests, requests);  // undo asks for nothing, so it cannot fail
    assert_true(tl_mesh_hash(mesh) == start);
    for (uint64_t step = 0; step < 40; step++) {
        const int32_t e = (int32_t)(tl_random(6, 1, step) * mesh->slots[TL_EDGES].count);
        if (tl_mesh_can_split(mesh, e, 0.5) == TL_VERDICT_OK) UNTIL_OK(tl_mesh_split_edge(mesh, e, 0.5, NULL, &err));
    }
    tl_mesh_record_clear(mesh);
    tl_loops loops;
    UNTIL_OK(tl_mesh_loops(mesh, TL_LOOP_MATERIAL, &loops, &err));
    tl_mesh_loops_free(mesh, &loops);
    tl_renumbering map;
    UNTIL_OK(tl_mesh_reorder(mesh, TL_ORDER_MATERIAL, NULL, &map, &err));
    tl_renumbering_free(mesh, &map);
    assert_ok(tl_mesh_check(mesh, &err));
    tl_mesh_destroy(mesh);
    return failures;
}

static void every_failing_request_is_survived(void **state)
{
    (void)state;
    shape *s = fresh();
    const grid a = shape_grid(s, 3, 3, 1, 0, 0), b = shape_grid(s, 2, 3, 1, 5, 0);
    for (int32_t j = 0; j <= 3; j++) shape_sew(s, grid_vert(a, 3, j), grid_vert(b, 0, j));
    const tl_mesh_def def = shape_def(s);
    books count = {0};
    assert_int_equal(run_with_failure(&def, &count), 0);
    assert_int_equal(count.bytes, 0);
    assert_int_equal(count.blocks, 0);
    assert_true(count.requests > 60);
    for (long long n = 1; n <= count.requests; n++) {
        books failing = {.fail_at = n};
        assert_int_equal(run_with_failure(&def, &failing), 1);
        assert_int_equal(failing.bytes, 0);
        assert_int_equal(failing.blocks, 0);
    }
}

static void warm_edits_allocate_nothing(void **state)
{
    (void)state;
    shape_garment(fresh(), 8);
    const tl_mesh_def def = shape_def(&made);
    books b = {0};
    const tl_allocator alloc = books_allocator(&b);
    tl_mesh *mesh;
    assert_ok(tl_mesh_create(&alloc, &def, &mesh, &err));
    assert_ok(tl_mesh_record(mesh, &err));
    long long requests = 0;
    for (int round = 0; round < 2; round++) {
        requests = b.requests;
        int32_t counts[3] = {0};
        for (uint64_t step = 0; step < 2000; step++) random_edit(mesh, 3, step, 400, counts);
        tl_mesh_undo_to(mesh, 0);
    }
    assert_int_equal(b.requests, requests);
    tl_mesh_destroy(mesh);
    assert_int_equal(b.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_cuts_faces_and_keeps_labels),
        cmocka_unit_test(face_is_cut_in_three),
        cmocka_unit_test(seam_is_split_and_collapsed_on_both_sides),
        cmocka_unit_test(flip_turns_the_diagonal),
        cmocka_unit_test(collapse_keeps_outlines),
        cmocka_unit_test(collapse_keeps_the_topology),
        cmocka_unit_test(joints_of_lines_stay),
        cmocka_unit_test(faces_do_not_fall_together),
        cmocka_unit_test(attributes_follow_their_rules),
        cmocka_unit_test(storm_over_a_garment),
        cmocka_unit_test(storm_over_small_shapes),
        cmocka_unit_test(edits_do_not_depend_on_recording),
        cmocka_unit_test(touched_values_come_back),
        cmocka_unit_test(every_failing_request_is_survived),
        cmocka_unit_test(warm_edits_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
