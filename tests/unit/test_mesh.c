// tests/unit/test_mesh.c: building, validation, queries, normals, masses, loops, reordering, the checker.

#include "check.h"

#include "math/vec3.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_edit.h"
#include "mesh/mesh_mass.h"
#include "mesh/mesh_order.h"
#include "mesh/mesh_query.h"
#include "mesh_loops.h"
#include "test_mesh_shapes.h"

static tl_error err;
static shape made;  // large: kept off the stack

static shape *fresh(void)
{
    memset(&made, 0, sizeof made);
    return &made;
}

static tl_mesh *build(tl_mesh_def def)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_mesh *mesh;
    assert_ok(tl_mesh_create(&alloc, &def, &mesh, &err));
    assert_ok(tl_mesh_check(mesh, &err));
    return mesh;
}

static tl_mesh *build_shape(void) { return build(shape_def(&made)); }

static int32_t euler(const tl_mesh *mesh)
{
    const tl_count_report c = tl_mesh_counts(mesh);
    return c.node - c.edge + c.face;
}

// ---- building ---------------------------------------------------------------------------------------------

static void single_triangle(void **state)
{
    (void)state;
    const tl_vec3 pos[3] = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}};
    const tl_vec2 uv[3] = {{0, 0}, {2, 0}, {0, 2}};
    const int32_t face[1][3] = {{0, 1, 2}};
    tl_mesh *mesh = build(
        (tl_mesh_def){.node_count = 3, .vert_count = 3, .face_count = 1, .pos = pos, .uv = uv, .face_vert = face});
    const tl_count_report c = tl_mesh_counts(mesh);
    assert_int_equal(c.edge, 3);
    assert_int_equal(c.border_edge, 3);
    assert_int_equal(euler(mesh), 1);
    assert_int_equal(mesh->panel_count, 1);
    assert_near(tl_mesh_face_area_uv(mesh, 0), 2, 0);
    // edge k lies opposite to vertex k, runs as the face does, and has the face on side 0
    for (int k = 0; k < 3; k++) {
        assert_int_equal(mesh->face_edge[0][k], k);
        assert_int_equal(mesh->edge_node[k][0], (k + 1) % 3);
        assert_int_equal(mesh->edge_node[k][1], (k + 2) % 3);
        assert_int_equal(mesh->edge_face[k][0], 0);
        assert_int_equal(mesh->edge_face[k][1], TL_NONE);
        assert_int_equal(tl_mesh_opposite_vert(mesh, k, 0), k);
    }
    int32_t ids[4];
    assert_int_equal(tl_mesh_node_nodes(mesh, 0, ids, 4), 2);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 2);
    assert_true(tl_mesh_node_is_corner(mesh, 0));
    tl_mesh_destroy(mesh);
}

static void two_panels_with_a_seam(void **state)
{
    (void)state;
    shape *s = fresh();
    const grid a = shape_grid(s, 2, 2, 1, 0, 0), b = shape_grid(s, 2, 2, 1, 10, 0);
    for (int32_t j = 0; j <= 2; j++) shape_sew(s, grid_vert(a, 2, j), grid_vert(b, 0, j));
    tl_mesh *mesh = build_shape();
    const tl_count_report c = tl_mesh_counts(mesh);
    assert_int_equal(c.vert, 18);
    assert_int_equal(c.node, 15);
    assert_int_equal(c.seam_edge, 2);
    assert_int_equal(c.border_edge, 12);
    assert_int_equal(mesh->panel_count, 2);
    assert_int_equal(mesh->face_panel[0], 0);
    assert_int_equal(mesh->face_panel[8], 1);
    assert_int_equal(euler(mesh), 1);
    const int32_t middle = mesh->vert_node[grid_vert(a, 2, 1)];
    const int32_t e = tl_mesh_find_edge(mesh, mesh->vert_node[grid_vert(a, 2, 0)], middle);
    assert_int_equal(tl_mesh_edge_kind(mesh, e), TL_EDGE_SEAM);
    const int32_t one = mesh->node_vert[middle], other = mesh->vert_next[one];  // a vertex on either panel
    assert_int_equal(one + other, grid_vert(a, 2, 1) + grid_vert(b, 0, 1));
    assert_int_equal(mesh->vert_next[other], one);
    assert_true(tl_mesh_node_on_seam(mesh, middle) && !tl_mesh_node_on_border(mesh, middle));
    assert_false(tl_mesh_node_is_corner(mesh, middle));                              // the seam runs straight through
    assert_true(tl_mesh_node_is_corner(mesh, mesh->vert_node[grid_vert(a, 2, 0)]));  // it ends here
    assert_false(tl_mesh_node_is_corner(mesh, mesh->vert_node[grid_vert(a, 1, 0)]));
    assert_int_equal(tl_mesh_find_edge(mesh, 0, middle), TL_NONE);
    tl_mesh_destroy(mesh);
}

static void dart_has_one_panel_and_an_open_tip(void **state)
{
    (void)state;
    shape *s = fresh();
    const grid g = shape_grid(s, 4, 4, 1, 0, 0);
    shape_dart(s, g, 2, 2, 0.05, true);
    tl_mesh *mesh = build_shape();
    const tl_count_report c = tl_mesh_counts(mesh);
    assert_int_equal(c.vert, 27);
    assert_int_equal(c.node, 25);
    assert_int_equal(c.seam_edge, 2);
    assert_int_equal(mesh->panel_count, 1);
    assert_int_equal(euler(mesh), 1);
    const int32_t tip = grid_vert(g, 2, 2);
    assert_int_equal(mesh->vert_next[tip], tip);   // one vertex on the node
    assert_false(tl_fan_begin(mesh, tip).closed);  // in material space the dart cuts the fan open
    assert_true(tl_mesh_node_is_corner(mesh, mesh->vert_node[tip]));
    assert_false(tl_mesh_node_on_border(mesh, mesh->vert_node[tip]));
    assert_int_equal(tl_mesh_node_faces(mesh, mesh->vert_node[tip], NULL, 0), tl_mesh_vert_faces(mesh, tip, NULL, 0));
    tl_mesh_destroy(mesh);
}

static void annulus_pillow_and_bow_tie(void **state)
{
    (void)state;
    shape *s = fresh();
    shape_grid(s, 3, 3, 1, 0, 0);
    shape_hole(s, 1, 1, 2, 2);
    tl_mesh *mesh = build_shape();
    assert_int_equal(euler(mesh), 0);
    assert_int_equal(tl_mesh_counts(mesh).border_edge, 16);
    assert_near(tl_mesh_area_uv(mesh), 8, 1e-14);
    tl_mesh_destroy(mesh);

    shape_pillow(fresh(), 3, 0);
    mesh = build_shape();
    assert_int_equal(euler(mesh), 2);
    assert_int_equal(tl_mesh_counts(mesh).border_edge, 0);
    assert_int_equal(tl_mesh_counts(mesh).seam_edge, 12);
    tl_mesh_destroy(mesh);

    s = fresh();  // two panels that share one node and no edge
    const grid a = shape_grid(s, 1, 1, 1, 0, 0), b = shape_grid(s, 1, 1, 1, 5, 0);
    shape_sew(s, grid_vert(a, 1, 1), grid_vert(b, 0, 0));
    mesh = build_shape();
    const int32_t n = mesh->vert_node[grid_vert(a, 1, 1)];
    assert_int_equal(tl_mesh_node_faces(mesh, n, NULL, 0), 4);
    assert_int_equal(tl_mesh_node_edges(mesh, n, NULL, 0), 6);
    assert_true(tl_mesh_node_is_corner(mesh, n));
    tl_mesh_destroy(mesh);
}

static void rings_run_in_order(void **state)
{
    (void)state;
    shape_garment(fresh(), 8);
    tl_mesh *mesh = build_shape();
    int32_t faces[32], edges[32], nodes[32];
    int64_t corners = 0, ends = 0;
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        const int32_t fc = tl_mesh_node_faces(mesh, n, faces, 32), ec = tl_mesh_node_edges(mesh, n, edges, 32);
        assert_int_equal(tl_mesh_node_nodes(mesh, n, nodes, 32), ec);
        corners += fc, ends += ec;
        int32_t fans = 1;  // a closed fan has as many edges as faces, an open one one more
        for (int32_t i = 0; i + 1 < fc; i++) {
            // around the node: the last edge of a face is the first of the next
            const int32_t k = tl_face_corner_of_node(mesh, faces[i], n),
                          m = tl_face_corner_of_node(mesh, faces[i + 1], n);
            if (mesh->face_edge[faces[i]][(k + 1) % 3] != mesh->face_edge[faces[i + 1]][(m + 2) % 3]) fans++;
        }
        assert_int_equal(ec - fc, tl_mesh_node_on_border(mesh, n) ? fans : 0);
        int32_t spokes = 0;
        for (tl_spokes s = tl_spokes_begin(mesh, n); s.edge != TL_NONE; tl_spokes_next(mesh, &s)) spokes++;
        assert_int_equal(spokes, ec);
    }
    assert_int_equal(corners, 3 * mesh->slots[TL_FACES].live);
    assert_int_equal(ends, 2 * mesh->slots[TL_EDGES].live);
    tl_mesh_destroy(mesh);
}

// ---- validation -------------------------------------------------------------------------------------------

static void expect_bad(tl_mesh_def def, const char *part)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_mesh *mesh = NULL;
    err.message[0] = 0;
    assert_int_not_equal(tl_mesh_create(&alloc, &def, &mesh, &err), TL_OK);
    assert_null(mesh);
    if (!strstr(err.message, part)) fail_msg("message \"%s\" lacks \"%s\"", err.message, part);
}

static void faults_of_the_input_are_named(void **state)
{
    (void)state;
    // a strip of four points: 2 - 3
    //                         | / |
    //                         0 - 1
    tl_vec3 pos[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {5, 5, 5}, {6, 6, 6}};
    tl_vec2 uv[6] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 2}};
    int32_t face[4][3] = {{0, 1, 3}, {0, 3, 2}, {0, 0, 0}, {0, 0, 0}};
    tl_mesh_def def = {.node_count = 4,
                       .vert_count = 4,
                       .face_count = 2,
                       .pos = pos,
                       .uv = uv,
                       .face_vert = (const int32_t(*)[3])face};
    tl_mesh_destroy(build(def));

#define BREAK(what, undo, part)                                                                                        \
    do {                                                                                                               \
        what;                                                                                                          \
        expect_bad(def, part);                                                                                         \
        undo;                                                                                                          \
    } while (0)
    BREAK(def.face_count = 0, def.face_count = 2, "face_count 0");
    BREAK(def.uv = NULL, def.uv = uv, "uv is NULL");
    BREAK(def.vert_count = 5, def.vert_count = 4, "vert_count 5 must be node_count 4");
    BREAK(face[1][2] = 900, face[1][2] = 2, "face 1 uses vertex 900 of 4");
    BREAK(face[1][2] = -1, face[1][2] = 2, "face 1 uses vertex -1 of 4");
    BREAK(face[1][2] = 3, face[1][2] = 2, "face 1 uses vertex 3 twice");
    BREAK(pos[3].y = (double)NAN, pos[3].y = 1, "node 3 position (1, nan, 0) is not finite");
    BREAK(uv[2].x = (double)INFINITY, uv[2].x = 0, "vertex 2 material position (inf, 1) is not finite");
    BREAK(uv[2] = ((tl_vec2){2, 2}), uv[2] = ((tl_vec2){0, 1}), "face 1 has zero material area 0");
    BREAK(uv[2] = ((tl_vec2){1, 0.5}), uv[2] = ((tl_vec2){0, 1}), "face 1 is flipped in material space: area -0.25");
    BREAK((def.node_count = 5, def.vert_count = 5), (def.node_count = 4, def.vert_count = 4),
          "node 4 belongs to no face: isolated");
    BREAK((face[1][1] = 2, face[1][2] = 3), (face[1][1] = 3, face[1][2] = 2),
          "faces 0 and 1 run along edge 3-0 in the same direction");
    for (int v = 0; v < 4; v++) uv[v].x = -uv[v].x;
    expect_bad(def, "panel 0 is drawn mirrored");
    expect_bad(def, "\"rest\": \"world\"");
    for (int v = 0; v < 4; v++) uv[v].x = -uv[v].x;

    def.face_count = 3;
    memcpy(face[2], (int32_t[3]){3, 0, 1}, sizeof face[2]);
    expect_bad(def, "face 2 repeats face 0");
    memcpy(face[2], (int32_t[3]){1, 0, 3}, sizeof face[2]);
    expect_bad(def, "face 2 repeats face 0");
    def.node_count = def.vert_count = 5;
    memcpy(face[2], (int32_t[3]){0, 3, 4}, sizeof face[2]);
    expect_bad(def, "edge 3-0 has three faces 0, 1, 2: not manifold");
    def.node_count = def.vert_count = 6;
    memcpy(face[2], (int32_t[3]){3, 4, 5}, sizeof face[2]);  // joined in vertex 3 alone
    expect_bad(def, "vertex 3 joins two fans");

    int32_t vert_node[6] = {0, 1, 2, 3, 9, 5};
    def.vert_node = vert_node;
    expect_bad(def, "vertex 4 lies on node 9 of 6");
    vert_node[4] = 5;
    expect_bad(def, "face 2 uses node 5 twice, by its vertices 4 and 5");
    vert_node[4] = 4;
    memcpy(face[2], (int32_t[3]){0, 0, 0}, sizeof face[2]);
    def.face_count = 2, def.vert_count = 5, def.node_count = 4;
    vert_node[4] = 1;
    expect_bad(def, "vertex 4 on node 1 belongs to no face: isolated");
    def.vert_count = 4;
    tl_vec3 vel[4] = {{0}, {0}, {0, 0, -(double)INFINITY}, {0}};
    def.vel = vel;
    expect_bad(def, "node 2 velocity (0, 0, -inf) is not finite");
}

static void checker_finds_damage(void **state)
{
    (void)state;
    shape_garment(fresh(), 8);
    tl_mesh *mesh = build_shape();
#define DAMAGE(place, value)                                                                                           \
    do {                                                                                                               \
        const __typeof__(place) old_value = (place);                                                                   \
        (place) = (value);                                                                                             \
        assert_int_equal(tl_mesh_check(mesh, &err), TL_FAILED);                                                        \
        (place) = old_value;                                                                                           \
    } while (0)
    DAMAGE(mesh->pos[7].x, (double)NAN);
    DAMAGE(mesh->edge_rest[3], (double)INFINITY);
    DAMAGE(mesh->node_vert[4], 0);
    DAMAGE(mesh->vert_node[4], 5);
    DAMAGE(mesh->vert_next[0], 1);
    DAMAGE(mesh->vert_face[0], 90);
    DAMAGE(mesh->edge_face[5][0], 77);
    DAMAGE(mesh->edge_node[5][0], 77);
    DAMAGE(mesh->face_edge[5][0], mesh->face_edge[5][1]);
    DAMAGE(mesh->face_vert[5][0], mesh->face_vert[9][0]);
    DAMAGE(mesh->face_panel[3], 1);
    DAMAGE(mesh->slots[TL_FACES].live, 3);
    DAMAGE(mesh->slots[TL_EDGES].free_top, 3);
    DAMAGE(mesh->slots[TL_VERTS].next_free[2], TL_NONE);
    DAMAGE(mesh->uv[20].x, mesh->uv[20].x - 5);
    assert_ok(tl_mesh_check(mesh, &err));
    tl_mesh_destroy(mesh);
}

// ---- normals, loops ---------------------------------------------------------------------------------------

static void normals_are_exact_on_a_sphere(void **state)
{
    (void)state;
    // Max's weights give the true normal of a sphere at every vertex with a closed fan
    shape_grid(fresh(), 6, 6, 0.1, -0.3, -0.3);
    tl_mesh *mesh = build_shape();
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        const double x = mesh->pos[n].x + 0.02 * sin(3.0 * n), y = mesh->pos[n].y + 0.02 * cos(5.0 * n);
        mesh->pos[n] = (tl_vec3){x, y, sqrt(1 - x * x - y * y)};
    }
    tl_vec3 node[49];
    assert_ok(tl_mesh_node_normals(mesh, NULL, node, &err));
    for (int32_t n = 0; n < 49; n++) {
        assert_near(tl_norm3(node[n]), 1, 1e-15);
        if (!tl_mesh_node_on_border(mesh, n)) assert_near(tl_norm3(tl_sub3(node[n], mesh->pos[n])), 0, 1e-14);
    }
    assert_int_equal(tl_mesh_node_normals(mesh, NULL, NULL, &err), TL_BAD_ARG);
    tl_mesh_destroy(mesh);
}

static void workers_do_not_change_the_bits(void **state)
{
    (void)state;
    shape_grid(fresh(), 40, 40, 0.1, 0, 0);
    tl_mesh *mesh = build_shape();
    enum { NODES = 41 * 41 };
    for (int32_t n = 0; n < NODES; n++) mesh->pos[n].z = sin(7.0 * n);
    static tl_vec3 normal[2][NODES];
    uint64_t ordered[2];
    for (int i = 0; i < 2; i++) {
        const tl_allocator alloc = tl_allocator_default();
        tl_workers *workers;
        assert_ok(tl_workers_create(&alloc, i == 0 ? 1 : 3, &workers, &err));
        tl_mesh *other = build_shape();
        for (int32_t n = 0; n < NODES; n++) other->pos[n].z = sin(7.0 * n);
        assert_ok(tl_mesh_reorder(other, TL_ORDER_MATERIAL, workers, NULL, &err));
        ordered[i] = tl_mesh_hash(other);
        tl_mesh_destroy(other);
        assert_ok(tl_mesh_node_normals(mesh, workers, normal[i], &err));
        tl_workers_destroy(workers);
    }
    assert_memory_equal(normal[0], normal[1], sizeof normal[0]);
    assert_true(ordered[0] == ordered[1] && ordered[0] != tl_mesh_hash(mesh));
    tl_mesh_destroy(mesh);
}

// The corner that a point of a face is nearest to, by looking at many points.
static void nearest_parts(const tl_vec2 p[3], double out[3])
{
    enum { SIDE = 400 };
    out[0] = out[1] = out[2] = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE - i; j++) {
            const double b = (i + 1.0 / 3) / SIDE, c = (j + 1.0 / 3) / SIDE, a = 1 - b - c;
            const double x = a * p[0].x + b * p[1].x + c * p[2].x, y = a * p[0].y + b * p[1].y + c * p[2].y;
            int best = 0;
            for (int k = 1; k < 3; k++)
                if (hypot(x - p[k].x, y - p[k].y) < hypot(x - p[best].x, y - p[best].y)) best = k;
            out[best] += 2.0 / (SIDE * (SIDE + 1.0));
        }
}

static void mixed_cells_are_what_is_nearest(void **state)
{
    (void)state;
    const tl_vec2 face[4][3] = {{{0, 0}, {1, 0}, {0.4, 0.9}},  // acute
                                {{0, 0}, {0.2, 0}, {0, 0.1}},  // right angle at 0
                                {{0, 0}, {1, 0}, {0.3, 0.1}},  // obtuse at 2
                                {{2, 1}, {2.5, 1.1}, {2.2, 1.5}}};
    const double mixed[4][3] = {{-1}, {0.5, 0.25, 0.25}, {0.25, 0.25, 0.5}, {-1}};
    for (int i = 0; i < 4; i++) {
        shape *s = fresh();
        shape_grid(s, 1, 1, 1, 0, 0);
        tl_mesh *mesh = build_shape();
        for (int k = 0; k < 3; k++) mesh->uv[mesh->face_vert[0][k]] = face[i][k];
        double part[3], want[3];
        nearest_parts(face[i], want);
        for (int k = 0; k < 3 && mixed[i][0] > 0; k++) want[k] = mixed[i][k];
        tl_mesh_lump(mesh, 0, 7, TL_LUMP_VORONOI, part);
        assert_near(part[0] + part[1] + part[2], 7, 1e-14);
        for (int k = 0; k < 3; k++) assert_near(part[k], 7 * want[k], 7 * 4e-3);
        tl_mesh_lump(mesh, 0, 7, TL_LUMP_THIRDS, part);
        for (int k = 0; k < 3; k++) assert_near(part[k], 7.0 / 3, 1e-14);
        tl_mesh_destroy(mesh);
    }
}

static double loop_area(const tl_mesh *mesh, const tl_loops *loops, int32_t l)
{
    double twice = 0;
    for (int32_t i = loops->start[l]; i < loops->start[l + 1]; i++) {
        const int32_t next = i + 1 < loops->start[l + 1] ? i + 1 : loops->start[l];
        twice += tl_cross2(mesh->uv[loops->vert[i]], mesh->uv[loops->vert[next]]);
    }
    return 0.5 * twice;
}

static void loops_go_round_borders_and_outlines(void **state)
{
    (void)state;
    shape *s = fresh();
    const grid a = shape_grid(s, 4, 4, 1, 0, 0), b = shape_grid(s, 2, 4, 1, 10, 0);
    for (int32_t j = 0; j <= 4; j++) shape_sew(s, grid_vert(a, 4, j), grid_vert(b, 0, j));
    shape_dart(s, b, 1, 2, 0.1, true);
    shape_hole(s, 1, 1, 2, 2);
    tl_mesh *mesh = build_shape();
    tl_loops loops;
    assert_ok(tl_mesh_loops(mesh, TL_LOOP_WORLD, &loops, &err));
    assert_int_equal(loops.loop_count, 2);
    assert_int_equal(loops.step_count, 20 + 4);
    tl_mesh_loops_free(mesh, &loops);
    assert_ok(tl_mesh_loops(mesh, TL_LOOP_MATERIAL, &loops, &err));
    assert_int_equal(loops.loop_count,
                     3);  // outline of a, its hole, outline of b with both sides of the dart
    assert_int_equal(loops.step_count, 16 + 4 + 12 + 4);
    double sum = 0;
    for (int32_t l = 0; l < loops.loop_count; l++) sum += loop_area(mesh, &loops, l);
    assert_near(sum, tl_mesh_area_uv(mesh), 1e-13);  // holes count negative
    tl_mesh_loops_free(mesh, &loops);
    tl_mesh_destroy(mesh);
}

// ---- attributes and order ---------------------------------------------------------------------------------

static void attributes_are_found_by_name(void **state)
{
    (void)state;
    shape_grid(fresh(), 2, 2, 1, 0, 0);
    tl_mesh *mesh = build_shape();
    int32_t a, b;
    assert_ok(tl_mesh_attr_add(mesh, TL_NODES, "heat", TL_DOUBLE, 2, TL_ATTR_MEAN, &a, &err));
    assert_ok(tl_mesh_attr_add(mesh, TL_NODES, "tag", TL_INT32, 1, TL_ATTR_COPY, &b, &err));
    assert_int_equal(tl_mesh_attr_find(mesh, TL_NODES, "tag"), b);
    assert_int_equal(tl_mesh_attr_find(mesh, TL_FACES, "tag"), TL_NONE);
    assert_null(tl_mesh_attr_doubles(mesh, TL_NODES, b));
    for (int i = 0; i < 18; i++) assert_near(tl_mesh_attr_doubles(mesh, TL_NODES, a)[i], 0, 0);
    int32_t none;
    assert_int_equal(tl_mesh_attr_add(mesh, TL_NODES, "tag", TL_INT32, 1, TL_ATTR_COPY, &none, &err), TL_BAD_ARG);
    assert_int_equal(tl_mesh_attr_add(mesh, TL_NODES, "", TL_INT32, 1, TL_ATTR_COPY, &none, &err), TL_BAD_ARG);
    assert_int_equal(tl_mesh_attr_add(mesh, TL_NODES, "sum", TL_INT32, 1, TL_ATTR_CONSERVE, &none, &err), TL_BAD_ARG);
    assert_int_equal(tl_mesh_attr_add(mesh, TL_NODES, "wide", TL_INT32, 0, TL_ATTR_COPY, &none, &err), TL_BAD_ARG);
    assert_ok(tl_mesh_attr_remove(mesh, TL_NODES, a, &err));
    assert_int_equal(tl_mesh_attr_find(mesh, TL_NODES, "tag"), 0);
    assert_ok(tl_mesh_record(mesh, &err));
    assert_ok(tl_mesh_touch(mesh, TL_NODES, 0, &err));
    assert_int_equal(tl_mesh_attr_remove(mesh, TL_NODES, 0, &err), TL_BAD_ARG);
    assert_int_equal(tl_mesh_attr_add(mesh, TL_NODES, "late", TL_INT32, 1, TL_ATTR_COPY, &none, &err), TL_BAD_ARG);
    tl_mesh_destroy(mesh);
}

// What a mesh is, whatever its ids: positions and materials of faces, summed in a way that forgets the order.
static uint64_t fingerprint(const tl_mesh *mesh)
{
    uint64_t sum = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        for (int k = 0; k < 3; k++) {
            uint64_t word[8] = {(uint64_t)mesh->face_label[f], (uint64_t)mesh->face_panel[f], (uint64_t)k};
            const int32_t v = mesh->face_vert[f][k], n = mesh->vert_node[v];
            memcpy(word + 3, &mesh->uv[v], sizeof mesh->uv[v]);
            memcpy(word + 5, &mesh->pos[n], sizeof mesh->pos[n]);
            uint64_t mixed =
                (uint64_t)mesh->edge_label[mesh->face_edge[f][k]] + (uint64_t)tl_mesh_attr_ints(mesh, TL_FACES, 0)[f];
            for (int i = 0; i < 8; i++) mixed = (mixed ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15), mixed ^= mixed >> 29;
            sum += mixed;
        }
    }
    return sum;
}

static void reordering_keeps_the_mesh(void **state)
{
    (void)state;
    const tl_order orders[3] = {TL_ORDER_COMPACT, TL_ORDER_MATERIAL, TL_ORDER_WORLD};
    for (int i = 0; i < 3; i++) {
        shape_garment(fresh(), 10);
        tl_mesh *mesh = build_shape();
        int32_t tag;
        assert_ok(tl_mesh_attr_add(mesh, TL_FACES, "tag", TL_INT32, 1, TL_ATTR_COPY, &tag, &err));
        for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) tl_mesh_attr_ints(mesh, TL_FACES, tag)[f] = 7 * f;
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e += 5) mesh->edge_label[e] = e;
        for (int32_t e = 0; e < 40; e++) assert_ok(tl_mesh_split_edge(mesh, 3 * e, 0.5, NULL, &err));
        int32_t gone = 0;  // leave holes in the slots
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++)
            if (tl_mesh_can_collapse(mesh, e, mesh->edge_node[e][0]) == TL_VERDICT_OK) {
                assert_ok(tl_mesh_collapse_edge(mesh, e, mesh->edge_node[e][0], NULL, &err));
                gone++;
            }
        assert_true(gone > 20);
        const uint64_t before = fingerprint(mesh);
        const tl_vec3 somewhere = mesh->pos[mesh->vert_node[mesh->face_vert[0][0]]];
        const int32_t old_node = mesh->vert_node[mesh->face_vert[0][0]];
        tl_renumbering map;
        assert_ok(tl_mesh_reorder(mesh, orders[i], NULL, &map, &err));
        assert_ok(tl_mesh_check(mesh, &err));
        for (int d = 0; d < TL_DOMAIN_COUNT; d++) assert_int_equal(mesh->slots[d].count, mesh->slots[d].live);
        assert_true(fingerprint(mesh) == before);
        assert_near(mesh->pos[map.to[TL_NODES][old_node]].x, somewhere.x, 0);
        tl_renumbering_free(mesh, &map);
        const uint64_t hash = tl_mesh_hash(mesh);
        assert_ok(tl_mesh_reorder(mesh, TL_ORDER_COMPACT, NULL, NULL, &err));  // already compact: same bits
        assert_true(tl_mesh_hash(mesh) == hash);
        tl_mesh_destroy(mesh);
    }
}

static void curve_order_brings_neighbours_together(void **state)
{
    (void)state;
    shape *s = fresh();
    shape_grid(s, 32, 32, 0.1, 0, 0);
    tl_mesh *mesh = build_shape();
    const tl_order orders[2] = {TL_ORDER_MATERIAL, TL_ORDER_WORLD};
    for (int i = 0; i < 2; i++) {
        assert_ok(tl_mesh_reorder(mesh, orders[i], NULL, NULL, &err));
        int32_t near = 0;
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++)
            near += abs(mesh->edge_node[e][0] - mesh->edge_node[e][1]) <= 16;
        assert_true(near > mesh->slots[TL_EDGES].count / 2);  // rows of 33: less than a third at first
    }
    tl_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_triangle),
        cmocka_unit_test(two_panels_with_a_seam),
        cmocka_unit_test(dart_has_one_panel_and_an_open_tip),
        cmocka_unit_test(annulus_pillow_and_bow_tie),
        cmocka_unit_test(rings_run_in_order),
        cmocka_unit_test(faults_of_the_input_are_named),
        cmocka_unit_test(checker_finds_damage),
        cmocka_unit_test(normals_are_exact_on_a_sphere),
        cmocka_unit_test(workers_do_not_change_the_bits),
        cmocka_unit_test(mixed_cells_are_what_is_nearest),
        cmocka_unit_test(loops_go_round_borders_and_outlines),
        cmocka_unit_test(attributes_are_found_by_name),
        cmocka_unit_test(reordering_keeps_the_mesh),
        cmocka_unit_test(curve_order_brings_neighbours_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
