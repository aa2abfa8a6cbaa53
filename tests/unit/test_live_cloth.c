// tests/unit/test_live_cloth.c: fabric and remeshing of a cloth that are changed while it runs, with both engines.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "toile/core.h"

enum { N = 6, NODES = (N + 1) * (N + 1), FACES = 2 * N * N };
#define SIDE 0.4

typedef struct world {
    tl_sim *sim;
    tl_cloth_id cloth;
} world;

// A sheet above a ball (or, flat, on a plane), held at its first corner on request.
static world make(tl_dynamics_kind dynamics, tl_remeshing_kind kind, const tl_material *fabric, int32_t threads)
{
    tl_vec3 pos[NODES];
    tl_vec2 uv[NODES];
    int32_t face[FACES][3];
    for (int v = 0; v < NODES; v++) {
        uv[v] = (tl_vec2){SIDE * (v % (N + 1)) / N, SIDE * (v / (N + 1)) / N};
        pos[v] = (tl_vec3){uv[v].x - SIDE / 2, 0.12, SIDE / 2 - uv[v].y};
    }
    for (int c = 0; c < N * N; c++) {
        const int32_t a = c / N * (N + 1) + c % N, d = a + N + 1;
        const int32_t corner[6] = {a, a + 1, d + 1, a, d + 1, d};
        for (int k = 0; k < 6; k++) face[2 * c + k / 3][k % 3] = corner[k];
    }
    world w;
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.threads = threads, def.dynamics = dynamics, def.dt = 1.0 / 100;
    if (dynamics == TL_DYNAMICS_SPRINGS) def.collide.response = TL_RESPONSE_PUSH_OUT;
    assert_int_equal(tl_sim_create(&def, &w.sim, &err), TL_OK);
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.node_count = NODES, cloth.pos = pos, cloth.uv = uv, cloth.face_count = FACES;
    cloth.face = (const int32_t(*)[3])face, cloth.materials = fabric, cloth.material_count = 1;
    cloth.remeshing.kind = kind, cloth.remeshing.size_min = 0.02, cloth.remeshing.levels = 2;
    if (tl_sim_add_cloth(w.sim, &cloth, &w.cloth, &err) != TL_OK) fail_msg("%s", err.message);
    tl_body_def ball = tl_body_def_default();
    tl_body_id id;
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.radius = 0.1;
    assert_int_equal(tl_sim_add_body(w.sim, &ball, &id, &err), TL_OK);
    return w;
}

static void steps(const world *w, int count)
{
    tl_error err;
    for (int i = 0; i < count; i++)
        if (tl_sim_step(w->sim, NULL, &err) != TL_OK) fail_msg("%s", err.message);
}

static int32_t faces(const world *w)
{
    tl_cloth_view view;
    assert_int_equal(tl_sim_cloth_view(w->sim, w->cloth, &view), TL_OK);
    return view.face_count;
}

static void nothing_crosses(const world *w)
{
    tl_intersection_report found;
    tl_error err;
    assert_int_equal(tl_sim_intersections(w->sim, &found, &err), TL_OK);
    assert_int_equal(found.cloth_body + found.cloth_cloth, 0);
}

static tl_material heavy(void)
{
    tl_material m = tl_material_default();
    m.density *= 3;
    return m;
}

static void set_fabric(const world *w, const tl_material *m)
{
    tl_error err;
    if (tl_cloth_set_materials(w->sim, w->cloth, m, 1, &err) != TL_OK) fail_msg("%s", err.message);
}

static void another_fabric_keeps_shape_and_speed(void **state)
{
    (void)state;
    const tl_dynamics_kind engines[2] = {TL_DYNAMICS_IMPLICIT, TL_DYNAMICS_SPRINGS};
    const tl_remeshing_kind kinds[2] = {TL_REMESHING_ANISOTROPIC, TL_REMESHING_EDGE_TREES};
    for (int k = 0; k < 2; k++) {
        const tl_material light = tl_material_default(), other = heavy(), *now;
        const world w = make(engines[k], kinds[k], &light, 1);
        tl_error err;
        int32_t count;
        steps(&w, 12);
        tl_energies before, after;
        tl_cloth_view view;
        assert_int_equal(tl_sim_energies(w.sim, &before), TL_OK);
        assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
        const int32_t nodes = view.node_count;
        tl_vec3 *pos = malloc((size_t)nodes * sizeof *pos);
        memcpy(pos, view.pos, (size_t)nodes * sizeof *pos);
        set_fabric(&w, &other);
        assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
        assert_int_equal(view.node_count, nodes);
        assert_memory_equal(view.pos, pos, (size_t)nodes * sizeof *pos);
        assert_int_equal(tl_sim_energies(w.sim, &after), TL_OK);
        assert_true(before.kinetic > 0);
        assert_near(after.kinetic / before.kinetic, 3, 1e-9);  // three times the mass at the same speed
        assert_int_equal(tl_cloth_materials(w.sim, w.cloth, &now, &count, &err), TL_OK);
        assert_int_equal(count, 1);
        assert_near(now->density, other.density, 0);
        assert_int_equal(tl_cloth_set_materials(w.sim, w.cloth, NULL, 0, &err), TL_OK);  // back, and forth again
        assert_int_equal(tl_cloth_materials(w.sim, w.cloth, &now, &count, &err), TL_OK);
        assert_near(now->density, light.density, 0);
        set_fabric(&w, &other);
        steps(&w, 20);
        if (k == 0) nothing_crosses(&w);
        free(pos);
        tl_sim_destroy(w.sim);
    }
}

// The bits do not depend on threads, and a saved state goes with the fabric that the cloth has now, with no other.
static void changed_cloth_is_as_exact_as_any(void **state)
{
    (void)state;
    tl_error err;
    uint64_t hash[3];
    void *saved = NULL;
    size_t size = 0;
    const tl_material light = tl_material_default(), other = heavy();
    for (int k = 0; k < 2; k++) {
        const world w = make(TL_DYNAMICS_IMPLICIT, TL_REMESHING_ANISOTROPIC, &light, k == 0 ? 1 : 3);
        steps(&w, 10);
        set_fabric(&w, &other);
        steps(&w, 5);
        const void *data;
        assert_int_equal(tl_sim_save(w.sim, &data, &size, &err), TL_OK);
        free(saved);
        saved = malloc(size);
        memcpy(saved, data, size);
        steps(&w, 9);
        hash[k] = tl_sim_hash(w.sim);
        tl_sim_destroy(w.sim);
    }
    const world same = make(TL_DYNAMICS_IMPLICIT, TL_REMESHING_ANISOTROPIC, &other, 1);
    if (tl_sim_restore(same.sim, saved, size, &err) != TL_OK) fail_msg("%s", err.message);
    steps(&same, 9);
    hash[2] = tl_sim_hash(same.sim);
    tl_sim_destroy(same.sim);
    const world old = make(TL_DYNAMICS_IMPLICIT, TL_REMESHING_ANISOTROPIC, &light, 1);
    assert_int_equal(tl_sim_restore(old.sim, saved, size, &err), TL_BAD_INPUT);
    tl_sim_destroy(old.sim);
    free(saved);
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
}

static void set_remeshing(const world *w, tl_remeshing_kind kind, double size_min, int32_t max_faces)
{
    tl_error err;
    tl_remeshing r;
    assert_int_equal(tl_cloth_remeshing(w->sim, w->cloth, &r, &err), TL_OK);
    r.kind = kind, r.size_min = size_min, r.max_faces = max_faces;
    if (tl_cloth_set_remeshing(w->sim, w->cloth, &r, &err) != TL_OK) fail_msg("%s", err.message);
}

static void remeshing_is_turned_on_and_off(void **state)
{
    (void)state;
    const tl_material light = tl_material_default();
    const tl_dynamics_kind engines[2] = {TL_DYNAMICS_IMPLICIT, TL_DYNAMICS_SPRINGS};
    const tl_remeshing_kind kinds[2] = {TL_REMESHING_ANISOTROPIC, TL_REMESHING_EDGE_TREES};
    for (int k = 0; k < 2; k++) {
        const world w = make(engines[k], TL_REMESHING_NONE, &light, 1);
        tl_error err;
        const int32_t corner = 0;
        tl_handle_def def = tl_handle_def_default();
        def.cloth = w.cloth, def.nodes = &corner, def.node_count = 1, def.live = 1;
        tl_handle_id handle;
        assert_int_equal(tl_handle_create(w.sim, &def, &handle, &err), TL_OK);
        steps(&w, 10);
        assert_int_equal(faces(&w), FACES);
        set_remeshing(&w, kinds[k], 0.02, 0);
        assert_int_equal(faces(&w), FACES);
        steps(&w, 30);
        const int32_t fine = faces(&w);
        assert_true(fine > 1.5 * FACES);
        set_remeshing(&w, kinds[k], 0.02, FACES);  // a bound
        steps(&w, 30);
        const int32_t bounded = faces(&w);
        assert_true(bounded < 0.8 * fine);
        assert_int_equal(tl_cloth_set_remeshing(w.sim, w.cloth, NULL, &err), TL_OK);  // none, as it was given
        steps(&w, 10);
        assert_int_equal(faces(&w), bounded);
        if (k == 0) nothing_crosses(&w);
        const tl_motion_key up = {.translate = {0, 0.002, 0}};  // the handle holds yet
        assert_int_equal(tl_handle_set_target(w.sim, handle, &up, &err), TL_OK);
        steps(&w, 1);
        tl_cloth_view view;
        assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
        double nearest = 1;
        for (int32_t i = 0; i < view.node_count; i++) {
            const tl_vec3 p = view.pos[i];
            nearest = fmin(nearest, fabs(p.x + SIDE / 2) + fabs(p.y - 0.122) + fabs(p.z - SIDE / 2));
        }
        assert_near(nearest, 0, 1e-9);
        tl_sim_destroy(w.sim);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const tl_material light = tl_material_default();
    tl_material bad = light;
    tl_material two[2] = {light, light};
    bad.density = -1;
    const world w = make(TL_DYNAMICS_IMPLICIT, TL_REMESHING_NONE, &light, 1);
    tl_error err;
    steps(&w, 2);
    const uint64_t hash = tl_sim_hash(w.sim);
    assert_int_equal(tl_cloth_set_materials(w.sim, w.cloth, &bad, 1, &err), TL_BAD_INPUT);
    assert_int_equal(tl_cloth_set_materials(w.sim, w.cloth, two, 2, &err), TL_BAD_ARG);
    assert_int_equal(tl_cloth_set_materials(w.sim, (tl_cloth_id){7, 7}, &light, 1, &err), TL_BAD_ARG);
    tl_remeshing r;
    assert_int_equal(tl_cloth_remeshing(w.sim, w.cloth, &r, &err), TL_OK);
    r.kind = TL_REMESHING_SQRT3;
    assert_int_equal(tl_cloth_set_remeshing(w.sim, w.cloth, &r, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "sqrt3 only at the start"));
    r.kind = TL_REMESHING_ANISOTROPIC, r.size_min = -1;
    assert_int_equal(tl_cloth_set_remeshing(w.sim, w.cloth, &r, &err), TL_BAD_INPUT);
    r.size_min = 0.02, r.masses = TL_MASSES_VORONOI;
    assert_int_equal(tl_cloth_set_remeshing(w.sim, w.cloth, &r, &err), TL_BAD_ARG);
    r.masses = TL_MASSES_AUTO;
    double stiffness[NODES] = {1};
    const tl_vec3 to[NODES] = {{0, 0, 0}};
    assert_int_equal(tl_cloth_set_springs(w.sim, w.cloth, stiffness, to, NODES, &err), TL_OK);
    assert_int_equal(tl_cloth_set_remeshing(w.sim, w.cloth, &r, &err), TL_BAD_ARG);
    assert_true(tl_sim_hash(w.sim) == hash);
    tl_sim_destroy(w.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_fabric_keeps_shape_and_speed),
        cmocka_unit_test(changed_cloth_is_as_exact_as_any),
        cmocka_unit_test(remeshing_is_turned_on_and_off),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
