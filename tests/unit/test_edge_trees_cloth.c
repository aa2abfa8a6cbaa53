// tests/unit/test_edge_trees_cloth.c: edge trees under the implicit dynamics: the mesh is that of the trees, nothing
// passes through anything in five stress scenes, momentum, area and mass stay, the same bits on threads and after
// restoring, memory.

#include "unit/remeshed.h"

#include "adapt/edge_trees/follow.h"
#include "ledger.h"
#include "math/vec3.h"
#include "test_mesh_shapes.h"

static tl_cloth_def layered(int32_t levels, double curvature, double interval)
{
    tl_cloth_def def = tl_cloth_def_default();
    def.remeshing.kind = TL_REMESHING_EDGE_TREES, def.remeshing.levels = levels;
    def.remeshing.curvature = curvature, def.remeshing.interval = interval, def.remeshing.rejoin_wait = 2;
    return def;
}

static const trees_state *state_of(const tl_sim *sim, int32_t cloth) { return sim->cloths[cloth].adapter_self; }

static int by_corners(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(int32_t)); }

static void put_sorted(int32_t out[3], const int32_t v[3])
{
    const int low = v[0] < v[1] ? (v[0] < v[2] ? 0 : 2) : (v[1] < v[2] ? 1 : 2);
    for (int k = 0; k < 3; k++) out[k] = v[(low + k) % 3];
}

// The mesh has the leaves of the trees as its faces, and no others.
static void assert_mesh_is_leaves(const tl_sim *sim, int32_t cloth)
{
    const trees_state *s = state_of(sim, cloth);
    const tl_mesh *mesh = sim->cloths[cloth].mesh;
    assert_ok(tl_mesh_check(mesh, &err));
    assert_ok(tl_trees_check(s->trees, &err));
    tl_trees_lists l;
    assert_ok(tl_trees_build_lists(s->trees, &l, &err));
    const int32_t count = l.tri_count;
    assert_int_equal(count, mesh->slots[TL_FACES].live);
    assert_int_equal(l.vert_count, mesh->slots[TL_NODES].live);
    int32_t(*a)[3] = malloc((size_t)count * sizeof *a), (*b)[3] = malloc((size_t)count * sizeof *b), made = 0;
    for (int32_t i = 0; i < count; i++) {
        const tl_trees_tri *t = tl_trees_tri_at(s->trees, l.tri[i]);
        put_sorted(a[i], (int32_t[3]){s->node[t->vert[0]], s->node[t->vert[1]], s->node[t->vert[2]]});
    }
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f))
            put_sorted(b[made++],
                       (int32_t[3]){tl_face_node(mesh, f, 0), tl_face_node(mesh, f, 1), tl_face_node(mesh, f, 2)});
    qsort(a, (size_t)count, sizeof *a, by_corners), qsort(b, (size_t)count, sizeof *b, by_corners);
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
    free(a), free(b);
}

// ---- what an update must not change -----------------------------------------------------------------------

static void cloth_follows_and_goes_back(void **state)
{
    (void)state;
    tl_sim_def def = world(0.01);
    tl_sim *sim = draped(&def, layered(3, 0.15, 0.02), 5);
    const double area = tl_mesh_area_uv(sim->cloths[0].mesh);
    double momentum = 0, spin = 0, energy = 0;
    int32_t made = 0, went = 0, most = 0;
    for (int k = 0; k < 60; k++) {
        const tl_remesh_counts r = step(sim);
        assert_apart(sim);
        if (k % 10 == 0) assert_mesh_is_leaves(sim, 0);
        momentum = fmax(momentum, r.momentum_drift), spin = fmax(spin, r.spin_drift);
        energy = fmax(energy, r.energy);
        made += r.splits, went += r.collapses;
        if (sim->face_count > most) most = sim->face_count;
        assert_near(tl_mesh_area_uv(sim->cloths[0].mesh), area, 1e-12 * area);
    }
    print_message("%d cuts, %d joins, up to %d faces; drift of momentum %.2g, of angular momentum %.2g, at most %.2g J "
                  "added\n",
                  made, went, most, momentum, spin, energy);
    assert_true(made > 300 && went > 20 && most > 800);
    assert_true(momentum < 1e-12 && spin < 1e-11);
    assert_true(energy <= 0.1);  // what an update may add: 0.05 J/m^2, and what motion allows
    tl_sim_destroy(sim);
}

// Held by nothing and far from everything, cloth that was bent and is flat again has the mesh of the input.
static void a_flat_cloth_is_the_input_again(void **state)
{
    (void)state;
    tl_sim_def def = world(0.01);
    tl_sim *sim = create(&def);
    sheet s = sheet_grid(1, 1, 5, 5, true);
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i].z = 0.1 * sin(6 * s.uv[i].x + 2 * s.uv[i].y);
    add_cloth(sim, &s, layered(3, 0.1, 0.01), "cloth");
    tl_step_report report = {0};
    assert_ok(sim_compile(sim, &err));
    for (int k = 0; k < 4; k++) {
        sim->remeshed = -1;
        assert_ok(sim_remesh(sim, &report, &err));
        assert_mesh_is_leaves(sim, 0);
    }
    assert_true(sim->face_count > 3 * s.face_count);
    for (int k = 0; k < 24; k++) {
        tl_mesh *mesh = sim->cloths[0].mesh;
        for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++)
            if (tl_alive(mesh, TL_VERTS, v)) mesh->pos[mesh->vert_node[v]] = (tl_vec3){mesh->uv[v].x, mesh->uv[v].y, 0};
        assert_ok(sim_recompile(sim, &err));
        sim->remeshed = -1;
        assert_ok(sim_remesh(sim, &report, &err));
        assert_mesh_is_leaves(sim, 0);
    }
    assert_int_equal(sim->face_count, s.face_count);
    const trees_state *st = state_of(sim, 0);
    for (int32_t v = 0; v < s.node_count; v++)  // material places to the bit
        assert_memory_equal(&sim->cloths[0].mesh->uv[st->node[v]], &s.uv[v], sizeof(tl_vec2));
    sheet_free(&s);
    tl_sim_destroy(sim);
}

static void a_limit_of_faces_is_kept(void **state)
{
    (void)state;
    tl_sim_def def = world(0.01);
    tl_cloth_def like = layered(5, 0.05, 0.01);
    like.remeshing.max_faces = 600;
    tl_sim *sim = draped(&def, like, 5);
    int32_t most = 0, too_long = 0;
    for (int k = 0; k < 40; k++) {
        const tl_remesh_counts r = step(sim);
        if (sim->face_count > most) most = sim->face_count;
        too_long += r.too_long;
    }
    assert_true(most <= 600 && most > 500 && too_long > 0);
    assert_mesh_is_leaves(sim, 0);
    tl_sim_destroy(sim);
}

// ---- the same bits ----------------------------------------------------------------------------------------

// Two panels of two fabrics, sewn and held at a moving side, over a ball, with a sheet above.
static tl_sim *crowd(int32_t threads)
{
    tl_sim_def def = world(0.01);
    def.threads = threads;
    tl_sim *sim = create(&def);
    static shape made;
    memset(&made, 0, sizeof made);
    const grid a = shape_grid(&made, 3, 4, 0.1, 0, 0), b = shape_grid(&made, 3, 4, 0.1, 1, 0);
    for (int32_t j = 0; j <= 4; j++) {
        shape_sew(&made, grid_vert(a, 3, j), grid_vert(b, 0, j));
        for (int32_t i = 0; i <= 3; i++) {
            made.pos[grid_vert(a, i, j)] = (tl_vec3){0.1 * i - 0.3, 0.12, 0.2 - 0.1 * j};
            made.pos[grid_vert(b, i, j)] = (tl_vec3){0.1 * i, 0.12, 0.2 - 0.1 * j};
        }
    }
    for (int32_t f = 0; f < made.face_count; f++) made.label[f] = made.uv[made.face[f][0]].x >= 1;
    const tl_mesh_def mesh = shape_def(&made);
    tl_material fabric[2] = {tl_material_default(), tl_material_default()};
    fabric[1].density *= 2;
    tl_cloth_def like = layered(3, 0.15, 0.03);
    like.name = "jacket", like.node_count = mesh.node_count, like.pos = mesh.pos, like.uv = mesh.uv;
    like.vert_count = mesh.vert_count, like.vert_node = mesh.vert_node;
    like.face_count = mesh.face_count, like.face = mesh.face_vert, like.face_label = mesh.face_label;
    like.materials = fabric, like.material_count = 2;
    tl_cloth_id id;
    assert_ok(tl_sim_add_cloth(sim, &like, &id, &err));
    sheet s = sheet_grid(0.5, 0.5, 3, 3, true);
    lay_level(&s, 0.5, 0.5, 0.2);
    add_cloth(sim, &s, layered(3, 0.15, 0.02), "upper");
    sheet_free(&s);
    const tl_motion_key lift[2] = {
        {.time = 0}, {.time = 0.5, .translate = {0.02, 0.1, 0}, .rotate_axis = {0, 0, 1}, .rotate_deg = 40}};
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = id, hold.use_uv_box = 1, hold.uv_min = (tl_vec2){0, 0}, hold.uv_max = (tl_vec2){0, 1};
    hold.keys = lift, hold.key_count = 2, hold.pivot = (tl_vec3){-0.3, 0.12, 0};
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    add_ball(sim, (tl_vec3){0.05, -0.01, 0.02}, 0.1);
    add_floor(sim, -0.1);
    return sim;
}

enum { CROWD_STEPS = 24 };

// ---- five stress scenes -------------------------------------------------------------------------------------

static tl_sim *onto_edge(void)  // a sheet falls across the edge of a box that is turned, beside a ball, with a floor
{
    const tl_sim_def def = world(0.01);
    tl_sim *sim = create(&def);
    sheet s = sheet_grid(0.6, 0.6, 3, 3, true);
    lay_level(&s, 0.6, 0.6, 0.16);
    add_cloth(sim, &s, layered(3, 0.15, 0.02), "cloth");
    sheet_free(&s);
    tl_body_def block = tl_body_def_default();
    tl_body_id id;
    block.name = "box", block.kind = TL_BODY_BOX, block.size = (tl_vec3){0.2, 0.2, 0.5};
    const tl_motion_key turned = {.rotate_axis = {0, 0, 1}, .rotate_deg = 45};
    block.motion = &turned, block.motion_count = 1;
    assert_ok(tl_sim_add_body(sim, &block, &id, &err));
    add_ball(sim, (tl_vec3){0.22, 0.02, 0.1}, 0.06);
    add_floor(sim, -0.15);
    return sim;
}

static tl_sim *fast_ball(void)  // a hanging sheet is hit at 12 m/s
{
    const tl_sim_def def = world(0.01);
    tl_sim *sim = hanging(&def, layered(3, 0.2, 0.02), 3);
    tl_body_def ball = tl_body_def_default();
    tl_body_id id;
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.radius = 0.1, ball.center = (tl_vec3){0.5, 0.5, -0.6};
    const tl_motion_key fly[2] = {{.time = 0}, {.time = 0.2, .translate = {0, 0, 2.4}}};
    ball.motion = fly, ball.motion_count = 2;
    assert_ok(tl_sim_add_body(sim, &ball, &id, &err));
    return sim;
}

static tl_sim *twisted(void)  // a ribbon held at both ends, one of which turns
{
    const tl_sim_def def = world(0.01);
    tl_sim *sim = create(&def);
    sheet s = sheet_grid(0.5, 0.15, 8, 2, true);
    const tl_cloth_id id = add_cloth(sim, &s, layered(2, 0.2, 0.02), "ribbon");
    sheet_free(&s);
    const tl_motion_key turn[2] = {
        {.time = 0}, {.time = 0.4, .rotate_axis = {1, 0, 0}, .rotate_deg = 400, .translate = {-0.1, 0, 0}}};
    for (int end = 0; end < 2; end++) {
        tl_handle_def hold = tl_handle_def_default();
        hold.cloth = id, hold.use_uv_box = 1, hold.uv_min = (tl_vec2){0.5 * end, 0},
        hold.uv_max = (tl_vec2){0.5 * end, 0.15};
        if (end) hold.keys = turn, hold.key_count = 2, hold.pivot = (tl_vec3){0.5, 0.075, 0};
        assert_ok(tl_sim_add_handle(sim, &hold, &err));
    }
    return sim;
}

static tl_sim *pressed(void)  // three sheets on a ball, under another ball that comes down on them
{
    const tl_sim_def def = world(0.01);
    tl_sim *sim = create(&def);
    for (int k = 0; k < 3; k++) {
        sheet s = sheet_grid(0.4, 0.4, 2, 2, true);
        lay_level(&s, 0.4, 0.4, 0.11 + 0.01 * k);
        add_cloth(sim, &s, layered(3, 0.15, 0.02), k == 0 ? "low" : k == 1 ? "middle" : "high");
        sheet_free(&s);
    }
    add_ball(sim, (tl_vec3){0, 0, 0}, 0.1);
    tl_body_def ball = tl_body_def_default();
    tl_body_id id;
    ball.name = "press", ball.kind = TL_BODY_SPHERE, ball.radius = 0.1, ball.center = (tl_vec3){0.02, 0.3, 0.01};
    const tl_motion_key come[2] = {{.time = 0}, {.time = 0.3, .translate = {0, -0.06, 0}}};
    ball.motion = come, ball.motion_count = 2;
    assert_ok(tl_sim_add_body(sim, &ball, &id, &err));
    return sim;
}

static tl_sim *sewn_crowd(void) { return crowd(2); }

static void nothing_meets_in_five_stress_scenes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        tl_sim *(*make)(void);
        int steps;
    } scenes[5] = {{"edge", onto_edge, 45},
                   {"fast ball", fast_ball, 22},
                   {"twist", twisted, 40},
                   {"press", pressed, 35},
                   {"crowd", sewn_crowd, 30}};
    for (int i = 0; i < 5; i++) {
        tl_sim *sim = scenes[i].make();
        int32_t splits = 0, joins = 0, refused = 0;
        for (int k = 0; k < scenes[i].steps; k++) {
            const tl_remesh_counts r = step(sim);
            splits += r.splits, joins += r.collapses, refused += r.refused;
            assert_apart(sim);
        }
        for (int32_t c = 0; c < sim->cloth_count; c++) assert_mesh_is_leaves(sim, c);
        print_message("%s: %d splits, %d joins, %d refused, %d faces at the end\n", scenes[i].name, splits, joins,
                      refused, sim->face_count);
        assert_true(splits > 30);
        tl_sim_destroy(sim);
    }
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    uint64_t hash[CROWD_STEPS];
    const int32_t threads[3] = {1, 2, 3};
    for (int t = 0; t < 3; t++) {
        tl_sim *sim = crowd(threads[t]);
        int32_t made = 0;
        for (int k = 0; k < CROWD_STEPS; k++) {
            const tl_remesh_counts r = step(sim);
            made += operations(&r);
            if (t == 0) hash[k] = tl_sim_hash(sim), assert_apart(sim);
            assert_true(tl_sim_hash(sim) == hash[k]);
        }
        assert_true(made > 200);
        assert_mesh_is_leaves(sim, 0);
        assert_mesh_is_leaves(sim, 1);
        tl_sim_destroy(sim);
    }
}

static void saving_and_restoring_changes_no_bit(void **state)
{
    (void)state;
    uint64_t hash[CROWD_STEPS];
    tl_sim *sim = crowd(1);
    void *saved = NULL;
    size_t size = 0;
    const int at = 13;
    for (int k = 0; k < CROWD_STEPS; k++) {
        const void *data;
        if (k == at) {
            assert_ok(tl_sim_save(sim, &data, &size, &err));
            saved = malloc(size);
            memcpy(saved, data, size);
        }
        step(sim);
        hash[k] = tl_sim_hash(sim);
    }
    for (int back = 0; back < 2; back++) {  // into a fresh one, and back into one that is ahead
        tl_sim *other = back ? sim : crowd(2);
        assert_ok(tl_sim_restore(other, saved, size, &err));
        assert_true(tl_sim_hash(other) == hash[at - 1]);
        for (int k = at; k < CROWD_STEPS; k++) {
            step(other);
            if (tl_sim_hash(other) != hash[k]) fail_msg("restored before step %d: other bits after step %d", at, k);
        }
        assert_mesh_is_leaves(other, 0);
        if (!back) tl_sim_destroy(other);
    }
    free(saved);
    tl_sim_destroy(sim);
}

// Whatever a byte of a saved hierarchy is changed to, it is refused or sound.
static void damaged_bytes_are_refused(void **state)
{
    (void)state;
    tl_sim *sim = crowd(1);
    for (int k = 0; k < 8; k++) step(sim);
    tl_mesh *mesh = sim->cloths[0].mesh;
    const size_t size = tl_adapter_edge_trees.save(state_of(sim, 0), mesh, NULL);
    char *bytes = malloc(size), *copy = malloc(size);
    assert_int_equal(tl_adapter_edge_trees.save(state_of(sim, 0), mesh, bytes), size);
    const tl_remeshing like = tl_remeshing_default();
    int refused = 0, tried = 0;
    for (size_t i = 0; i < size; i += i < 64 ? 1 : 97) {
        memcpy(copy, bytes, size);
        copy[i] = (char)(copy[i] ^ (i % 2 ? 0x80 : 0x11));
        const size_t given = i % 5 == 0 ? i : size;  // cut short, too
        size_t used = 0;
        void *self = NULL;
        const tl_status status = tl_adapter_edge_trees.load(mesh, &like, 0, copy, given, &used, &self, &err);
        assert_true(status == TL_OK || status == TL_BAD_INPUT);
        if (status == TL_OK) assert_true(used <= given);
        if (status == TL_OK) assert_ok(tl_trees_check(((const trees_state *)self)->trees, &err));
        refused += status != TL_OK, tried++;
        tl_adapter_edge_trees.destroy(self);
    }
    assert_true(refused > tried / 20);  // most bytes are of slots that are free
    size_t used = 0;
    void *self = NULL;
    assert_ok(tl_adapter_edge_trees.load(mesh, &like, 0, bytes, size, &used, &self, &err));
    assert_int_equal(used, size);
    assert_int_equal(tl_adapter_edge_trees.save(self, mesh, copy), size);
    assert_memory_equal(bytes, copy, size);
    tl_adapter_edge_trees.destroy(self);
    free(bytes), free(copy);
    tl_sim_destroy(sim);
}

// ---- memory, and wishes that cannot be met ----------------------------------------------------------------

static tl_status short_life(ledger *l)
{
    tl_sim_def def = world(0.01);
    def.alloc = (tl_allocator){ledger_resize, l};
    tl_sim *sim = NULL;
    tl_status first = tl_sim_create(&def, &sim, &err);
    if (first != TL_OK) return first;
    sheet s = sheet_grid(0.4, 0.4, 2, 2, true);
    lay_level(&s, 0.4, 0.4, 0.105);
    tl_material m = tl_material_default();
    tl_cloth_def like = layered(2, 0.15, def.dt);
    like.node_count = s.node_count, like.pos = s.pos, like.uv = s.uv;
    like.face_count = s.face_count, like.face = (const int32_t(*)[3])s.face, like.materials = &m,
    like.material_count = 1;
    tl_cloth_id id;
    first = tl_sim_add_cloth(sim, &like, &id, &err);
    tl_body_def ball = tl_body_def_default();
    ball.kind = TL_BODY_SPHERE, ball.radius = 0.1;
    tl_body_id body;
    if (first == TL_OK) first = tl_sim_add_body(sim, &ball, &body, &err);
    bool made = first == TL_OK;
    for (int k = 0; k < 6 && made; k++) {
        const tl_status status = tl_sim_step(sim, NULL, &err);
        if (status == TL_OK) continue;
        if (first == TL_OK) first = status;
        l->fail_at = INT64_MAX;
        assert_ok(tl_sim_step(sim, NULL, &err));
    }
    const int64_t asked = l->requests;  // lists for the check are not part of it
    l->fail_at = INT64_MAX;
    for (int32_t c = 0; c < sim->cloth_count && made; c++) assert_mesh_is_leaves(sim, c);
    l->requests = asked;
    sheet_free(&s);
    tl_sim_destroy(sim);
    return first;
}

static void every_failing_request_is_survived(void **state)
{
    (void)state;
    ledger all = {.fail_at = INT64_MAX};
    assert_int_equal(short_life(&all), TL_OK);
    assert_int_equal(all.live, 0);
    const int64_t stride = getenv("TL_LONG") ? 1 : 23;
    int failures = 0, tried = 0;
    for (int64_t n = 1; n <= all.requests; n += stride, tried++) {
        ledger l = {.fail_at = n};
        const tl_status status = short_life(&l);
        if (l.live != 0) fail_msg("request %lld failed: %lld bytes leaked", (long long)n, (long long)l.live);
        if (status != TL_OK) assert_int_equal(status, TL_NO_MEMORY);
        failures += status != TL_OK;
    }
    assert_true(failures > tried / 2);
}

static void bad_wishes_are_refused(void **state)
{
    (void)state;
    tl_remeshing d = tl_remeshing_default();
    d.kind = TL_REMESHING_EDGE_TREES;
    assert_ok(sim_check_remeshing(&d, &err));
    d.levels = 9;
    assert_int_equal(sim_check_remeshing(&d, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "remeshing.levels 9, must be 0 to 8"));
    d.levels = 3, d.join_length = 0.5;
    assert_int_equal(sim_check_remeshing(&d, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "join_length 0.5"));
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_meets_in_five_stress_scenes),
        cmocka_unit_test(cloth_follows_and_goes_back),
        cmocka_unit_test(a_flat_cloth_is_the_input_again),
        cmocka_unit_test(a_limit_of_faces_is_kept),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(saving_and_restoring_changes_no_bit),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(every_failing_request_is_survived),
        cmocka_unit_test(bad_wishes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
