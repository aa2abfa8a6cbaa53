// tests/unit/test_sqrt3_cloth.c: cloth whose mesh follows a sqrt(3) hierarchy: the mesh is that of the hierarchy,
// nothing passes through anything, momentum and area stay, the same bits on threads and after restoring, memory.

#include "unit/remeshed.h"

#include "adapt/sqrt3/follow.h"
#include "ledger.h"
#include "math/vec3.h"
#include "test_mesh_shapes.h"

static tl_cloth_def layered(double error, double size_min, double interval)
{
    tl_cloth_def def = adaptive(size_min, 1, interval);
    def.remeshing.kind = TL_REMESHING_SQRT3, def.remeshing.error = error;
    return def;
}

static const sqrt3_state *state_of(const tl_sim *sim, int32_t cloth) { return sim->cloths[cloth].adapter_self; }

static int by_corners(const void *a, const void *b) { return memcmp(a, b, 3 * sizeof(int32_t)); }

static void put_sorted(int32_t out[3], const int32_t v[3])
{
    const int low = v[0] < v[1] ? (v[0] < v[2] ? 0 : 2) : (v[1] < v[2] ? 1 : 2);
    for (int k = 0; k < 3; k++) out[k] = v[(low + k) % 3];
}

// The mesh has the faces that extraction takes out of the hierarchy, no other ones, where the hierarchy says.
static void assert_mesh_is_extracted(const tl_sim *sim, int32_t cloth)
{
    const sqrt3_state *s = state_of(sim, cloth);
    const tl_mesh *mesh = sim->cloths[cloth].mesh;
    assert_ok(tl_mesh_check(mesh, &err));
    assert_ok(tl_sqrt3_check(s->h, &err));
    const int32_t count = tl_sqrt3_extract(s->h, NULL, 0);
    assert_int_equal(count, mesh->slots[TL_FACES].live);
    tl_sqrt3_face *face = malloc((size_t)count * sizeof *face);
    int32_t(*a)[3] = malloc((size_t)count * sizeof *a), (*b)[3] = malloc((size_t)count * sizeof *b), made = 0;
    tl_sqrt3_extract(s->h, face, count);
    const tl_sqrt3_vert *v = tl_sqrt3_verts(s->h);
    for (int32_t i = 0; i < count; i++) {
        int32_t in_mesh[3];
        for (int k = 0; k < 3; k++) {
            in_mesh[k] = s->vert[face[i].vert[k]];
            assert_int_not_equal(in_mesh[k], TL_NONE);
            assert_memory_equal(&mesh->uv[in_mesh[k]], &v[face[i].vert[k]].uv, sizeof(tl_vec2));
        }
        put_sorted(a[i], in_mesh);
    }
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        if (tl_alive(mesh, TL_FACES, f)) put_sorted(b[made++], mesh->face_vert[f]);
    qsort(a, (size_t)count, sizeof *a, by_corners), qsort(b, (size_t)count, sizeof *b, by_corners);
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
    free(face), free(a), free(b);
}

// ---- the criterion ----------------------------------------------------------------------------------------

typedef enum surface { FLAT, CYLINDER, SPHERE, SURFACES } surface;

static tl_vec3 bent(surface kind, double radius, tl_vec2 u)
{
    const double a = u.x / radius, b = u.y / radius;
    if (kind == CYLINDER) return (tl_vec3){radius * sin(a), u.y, radius * cos(a)};
    if (kind == SPHERE) return (tl_vec3){radius * sin(a) * cos(b), radius * sin(b), radius * cos(a) * cos(b)};
    return (tl_vec3){u.x, u.y, 0};
}

// 2 |H| on surfaces of known curvature. At borders that along the border is seen: that across needs a node beyond.
static void curvature_of_known_surfaces(void **state)
{
    (void)state;
    const double radius = 0.4, want[SURFACES] = {0, 1 / radius, 2 / radius};
    const double want_at_border[SURFACES] = {0, 1 / radius, 1 / radius};  // that along it
    for (surface kind = FLAT; kind < SURFACES; kind++) {
        const tl_sim_def def = world(0.01);
        tl_sim *sim = create(&def);
        sheet s = sheet_grid(0.4, 0.4, 16, 16, true);
        for (int32_t i = 0; i < s.node_count; i++)
            s.pos[i] = bent(kind, radius, (tl_vec2){s.uv[i].x - 0.2, s.uv[i].y - 0.2});
        add_cloth(sim, &s, layered(0.001, 0.01, 0.01), "cloth");
        sqrt3_state *st = sim->cloths[0].adapter_self;
        const tl_mesh *mesh = sim->cloths[0].mesh;
        assert_ok(sqrt3_measure_bend(st, mesh, &sim->arena, &err));
        double inner = 0, border = 0;
        for (int32_t v = 0; v < s.node_count; v++) {
            const double x = s.uv[v].x, y = s.uv[v].y, b = st->bend[v], off = fabs(b - want[kind]);
            const bool corner = (x < 0.01 || x > 0.39) && (y < 0.01 || y > 0.39);
            const bool along = x < 0.01 || x > 0.39;  // the axis of the cylinder: faces there lie in one plane
            const bool at_border = along || y < 0.01 || y > 0.39;
            if (!at_border) inner = fmax(inner, off);
            if (at_border && !corner && !(along && kind == CYLINDER))
                border = fmax(border, fabs(b - want_at_border[kind]));
        }
        print_message("surface %d: off by %.3g 1/m inside, by %.3g at borders, of %.3g\n", kind, inner, border,
                      want[kind]);
        assert_true(inner < 0.02 * want[kind] + 1e-9);
        assert_true(border < 0.02 * want[kind] + 1e-9);
        sheet_free(&s);
        tl_sim_destroy(sim);
    }
}

// A sheet that lies bent over a ball: chords are finer than the error asked for wherever layers are left, and coarse
// where it is flat.
static void chords_keep_to_the_error(void **state)
{
    (void)state;
    const tl_sim_def def = world(0.01);
    int32_t faces[2];
    for (int fine = 0; fine < 2; fine++) {
        tl_cloth_def like = layered(fine ? 0.001 : 0.004, 0.004, 0.01);
        like.remeshing.criteria = TL_SQRT3_CURVATURE;
        tl_sim *sim = create(&def);
        sheet s = sheet_grid(0.8, 0.4, 8, 4, true);
        for (int32_t i = 0; i < s.node_count; i++)  // one half flat, the other a part of a cylinder
            s.pos[i] = s.uv[i].x < 0.4 ? (tl_vec3){s.uv[i].x - 0.4, s.uv[i].y, 0}
                                       : (tl_vec3){0.3 * sin((s.uv[i].x - 0.4) / 0.3), s.uv[i].y,
                                                   0.3 * (cos((s.uv[i].x - 0.4) / 0.3) - 1)};
        add_cloth(sim, &s, like, "cloth");
        sheet_free(&s);
        tl_step_report report = {0};
        assert_ok(sim_compile(sim, &err));
        assert_ok(sim_remesh(sim, &report, &err));
        assert_mesh_is_extracted(sim, 0);
        const tl_mesh *mesh = sim->cloths[0].mesh;
        faces[fine] = mesh->slots[TL_FACES].live;
        int32_t left = 0;
        double longest = 0;
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
            const tl_vec3 a = mesh->pos[mesh->edge_node[e][0]], b = mesh->pos[mesh->edge_node[e][1]];
            if (a.x < -0.15 && b.x < -0.15) left++;
            if (a.x > 0.08 && b.x > 0.08 && mesh->edge_face[e][1] != TL_NONE)
                longest = fmax(longest, tl_mesh_edge_length_uv(mesh, e, 0));
        }
        // l^2 / (8 R) <= error; the longest side of a triangle of an interface is that of the coarser layer
        assert_true(longest * longest / (8 * 0.3) < 1.05 * like.remeshing.error);
        assert_true(left < 60);
        tl_sim_destroy(sim);
    }
    assert_true(faces[1] > 2.5 * faces[0]);  // errors go with the square of lengths
}

// ---- what an update must not change -----------------------------------------------------------------------

static double total_mass(const tl_sim *sim)
{
    double sum = 0;
    for (int32_t i = 0; i < sim->node_count; i++) sum += sim->elements->mass[i];
    return sum;
}

// Masses are those of mixed cells in the material, unless thirds are asked for; of other kinds the other way round.
static void masses_are_of_voronoi_cells(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const tl_sim_def def = world(0.01);
        tl_cloth_def like = i < 2 ? layered(0.002, 0.03, 0.02) : adaptive(0.05, 1, 0.02);
        if (i % 2) like.remeshing.masses = i < 2 ? TL_MASSES_THIRDS : TL_MASSES_VORONOI;
        tl_sim *sim = create(&def);
        sheet s = sheet_grid(1, 1, 1, 1, true);
        add_cloth(sim, &s, like, "cloth");
        assert_ok(sim_compile(sim, &err));
        const bool cells = i == 0 || i == 3;  // two right-angled faces of half a square metre and 0.2 kg/m^2
        double least = 1;
        for (int32_t n = 0; n < 4; n++) least = fmin(least, sim->elements->mass[n]);
        assert_near(total_mass(sim), 0.2, 1e-15);
        assert_near(least, cells ? 0.05 : 0.1 / 3, 1e-15);
        sheet_free(&s);
        tl_sim_destroy(sim);
    }
}

static void cloth_follows_and_goes_back(void **state)
{
    (void)state;
    tl_sim_def def = world(0.01);
    tl_sim *sim = draped(&def, layered(0.002, 0.03, 0.02), 5);
    const double area = tl_mesh_area_uv(sim->cloths[0].mesh);
    double momentum = 0, spin = 0, energy = 0;
    int32_t made = 0, went = 0, most = 0;
    for (int k = 0; k < 60; k++) {
        const tl_remesh_counts r = step(sim);
        assert_apart(sim);
        if (k % 10 == 0) assert_mesh_is_extracted(sim, 0);
        momentum = fmax(momentum, r.momentum_drift), spin = fmax(spin, r.spin_drift);
        energy = fmax(energy, r.energy);
        made += r.splits, went += r.collapses;
        if (sim->face_count > most) most = sim->face_count;
        assert_near(tl_mesh_area_uv(sim->cloths[0].mesh), area, 1e-12 * area);
        assert_near(total_mass(sim), 0.2 * area, 1e-12 * 0.2 * area);  // of Voronoi cells
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
    tl_cloth_def like = layered(0.001, 0.02, 0.01);
    like.remeshing.criteria = TL_SQRT3_CURVATURE;
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i].z = 0.1 * sin(6 * s.uv[i].x);
    add_cloth(sim, &s, like, "cloth");
    tl_step_report report = {0};
    assert_ok(sim_compile(sim, &err));
    assert_ok(sim_remesh(sim, &report, &err));
    assert_true(sim->face_count > 200);
    tl_mesh *mesh = sim->cloths[0].mesh;
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++)
        mesh->pos[mesh->vert_node[v]] = (tl_vec3){mesh->uv[v].x, mesh->uv[v].y, 0};
    assert_ok(sim_recompile(sim, &err));
    sim->remeshed = -1;
    assert_ok(sim_remesh(sim, &report, &err));
    assert_mesh_is_extracted(sim, 0);
    assert_int_equal(sim->face_count, s.face_count);
    const sqrt3_state *st = state_of(sim, 0);
    for (int32_t l = 1; l < tl_sqrt3_layers(st->h); l++) assert_int_equal(tl_sqrt3_layer(st->h, l).live_count, 0);
    for (int32_t v = 0; v < s.node_count; v++)  // material places to the bit
        assert_memory_equal(&sim->cloths[0].mesh->uv[st->vert[v]], &s.uv[v], sizeof(tl_vec2));
    sheet_free(&s);
    tl_sim_destroy(sim);
}

static void a_limit_of_faces_is_kept(void **state)
{
    (void)state;
    tl_sim_def def = world(0.01);
    tl_cloth_def like = layered(0.0005, 0.01, 0.01);
    like.remeshing.max_faces = 600;
    tl_sim *sim = draped(&def, like, 5);
    int32_t most = 0, too_long = 0;
    for (int k = 0; k < 40; k++) {
        const tl_remesh_counts r = step(sim);
        if (sim->face_count > most) most = sim->face_count;
        too_long += r.too_long;
    }
    assert_true(most <= 600 && most > 500 && too_long > 0);
    assert_mesh_is_extracted(sim, 0);
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
    tl_cloth_def like = layered(0.001, 0.02, 0.03);
    like.name = "jacket", like.node_count = mesh.node_count, like.pos = mesh.pos, like.uv = mesh.uv;
    like.vert_count = mesh.vert_count, like.vert_node = mesh.vert_node;
    like.face_count = mesh.face_count, like.face = mesh.face_vert, like.face_label = mesh.face_label;
    like.materials = fabric, like.material_count = 2;
    tl_cloth_id id;
    assert_ok(tl_sim_add_cloth(sim, &like, &id, &err));
    sheet s = sheet_grid(0.5, 0.5, 3, 3, true);
    lay_level(&s, 0.5, 0.5, 0.2);
    add_cloth(sim, &s, layered(0.001, 0.03, 0.02), "upper");
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
        assert_mesh_is_extracted(sim, 0);
        assert_mesh_is_extracted(sim, 1);
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
        assert_mesh_is_extracted(other, 0);
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
    const size_t size = sqrt3_save(state_of(sim, 0), mesh, NULL);
    char *bytes = malloc(size), *copy = malloc(size);
    assert_int_equal(sqrt3_save(state_of(sim, 0), mesh, bytes), size);
    const tl_allocator alloc = tl_allocator_default();
    int refused = 0, tried = 0;
    for (size_t i = 0; i < size; i += i < 64 ? 1 : 97) {
        memcpy(copy, bytes, size);
        copy[i] = (char)(copy[i] ^ (i % 2 ? 0x80 : 0x11));
        const size_t given = i % 5 == 0 ? i : size;  // cut short, too
        size_t used = 0;
        void *self = NULL;
        const tl_status status = sqrt3_load(&alloc, mesh, 5, copy, given, &used, &self, &err);
        assert_true(status == TL_OK || status == TL_BAD_INPUT);
        if (status == TL_OK) assert_true(used <= given);
        refused += status != TL_OK, tried++;
        tl_adapter_sqrt3.destroy(self);
    }
    assert_true(refused > tried / 2);
    size_t used = 0;
    void *self = NULL;
    assert_ok(sqrt3_load(&alloc, mesh, 5, bytes, size, &used, &self, &err));
    assert_int_equal(used, size);
    assert_int_equal(sqrt3_save(self, mesh, copy), size);
    assert_memory_equal(bytes, copy, size);
    tl_adapter_sqrt3.destroy(self);
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
    tl_cloth_def like = layered(0.002, 0.03, def.dt);
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
    for (int32_t c = 0; c < sim->cloth_count && made; c++) assert_mesh_is_extracted(sim, c);
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
    d.kind = TL_REMESHING_SQRT3;
    assert_ok(sim_check_remeshing(&d, &err));
    d.layers = 13;
    assert_int_equal(sim_check_remeshing(&d, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "remeshing.layers 13, must be 1 to 12"));
    d.layers = 3, d.error = 0;
    assert_int_equal(sim_check_remeshing(&d, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "remeshing.error 0 m, must be > 0"));
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curvature_of_known_surfaces),     cmocka_unit_test(chords_keep_to_the_error),
        cmocka_unit_test(masses_are_of_voronoi_cells),     cmocka_unit_test(cloth_follows_and_goes_back),
        cmocka_unit_test(a_flat_cloth_is_the_input_again), cmocka_unit_test(a_limit_of_faces_is_kept),
        cmocka_unit_test(threads_change_no_bit),           cmocka_unit_test(saving_and_restoring_changes_no_bit),
        cmocka_unit_test(damaged_bytes_are_refused),       cmocka_unit_test(every_failing_request_is_survived),
        cmocka_unit_test(bad_wishes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
