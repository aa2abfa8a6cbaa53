// The simulation through its public interface: handles, air, damping, saving, threads, failure, memory.

#include "check.h"
#include "ledger.h"
#include "sheets.h"

#include "toile/toile.h"

typedef struct setup {
    tl_sim *sim;
    tl_cloth_id cloth;
    tl_cloth_view view;
} setup;

static tl_status try_setup(const sheet *s, const tl_sim_def *def, const tl_material *material, setup *out,
                           tl_error *err)
{
    *out = (setup){0};
    tl_status status = tl_sim_create(def, &out->sim, err);
    if (status != TL_OK) return status;
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = s->node_count, cloth.pos = s->pos, cloth.uv = s->uv;
    cloth.face_count = s->face_count, cloth.face = (const int32_t(*)[3])s->face;
    cloth.materials = material, cloth.material_count = 1;
    status = tl_sim_add_cloth(out->sim, &cloth, &out->cloth, err);
    if (status == TL_OK) status = tl_sim_cloth_view(out->sim, out->cloth, &out->view);
    return status;
}

static setup make(const sheet *s, const tl_sim_def *def, const tl_material *material)
{
    tl_error err;
    setup out;
    assert_ok(try_setup(s, def, material, &out, &err));
    return out;
}

static tl_handle_def hold_nodes(const setup *s, const int32_t *nodes, int32_t count)
{
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = s->cloth, hold.nodes = nodes, hold.node_count = count;
    return hold;
}

static tl_sim_def calm(void)
{
    tl_sim_def def = tl_sim_def_default();
    def.air = (tl_air_def){.gust_period = 1};
    return def;
}

// ---- handles ----

static void a_handle_follows_its_keys_and_lets_go(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(0.2, 0.2, 4, 4, true);
    const tl_material m = tl_material_default();
    tl_sim_def def = calm();
    def.dt = 0.01;
    setup sim = make(&s, &def, &m);
    const int32_t corner = 24;
    const tl_motion_key keys[3] = {
        {.time = 0},
        {.time = 0.1, .translate = {0.1, 0, 0}, .rotate_axis = {0, 0, 2}, .rotate_deg = 90},
        {.time = 0.2, .translate = {0.1, 0.2, 0}, .rotate_axis = {0, 0, 1}, .rotate_deg = 90, .release = 1}};
    tl_handle_def hold = hold_nodes(&sim, &corner, 1);
    hold.keys = keys, hold.key_count = 3, hold.pivot = (tl_vec3){0.1, 0.2, 0};
    assert_ok(tl_sim_add_handle(sim.sim, &hold, &err));
    for (int k = 0; k < 10; k++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
    // corner (0.2, 0.2) about (0.1, 0.2) by 90 degrees is (0.1, 0.3); moved by (0.1, 0)
    assert_near(sim.view.pos[corner].x, 0.2, 1e-12);
    assert_near(sim.view.pos[corner].y, 0.3, 1e-12);
    for (int k = 0; k < 10; k++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
    assert_near(sim.view.pos[corner].y, 0.5, 1e-12);
    for (int k = 0; k < 20; k++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
    assert_true(sim.view.pos[corner].y < 0.45);  // let go at 0.2 s
    tl_sim_destroy(sim.sim);
    sheet_free(&s);
}

static void handles_choose_by_label_region_and_time(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(1, 1, 4, 4, true);
    const tl_material m = tl_material_default();
    tl_sim_def def = calm();
    int32_t label[25] = {0};
    label[12] = 7;
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv, cloth.node_label = label;
    cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face;
    cloth.materials = &m, cloth.material_count = 1;
    setup sm = {.sim = sim};
    assert_ok(tl_sim_add_cloth(sim, &cloth, &sm.cloth, &err));
    assert_ok(tl_sim_cloth_view(sim, sm.cloth, &sm.view));
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = sm.cloth, hold.label = 7;
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    hold = tl_handle_def_default();
    hold.cloth = sm.cloth, hold.use_box = 1, hold.box_min = (tl_vec3){-1, 0.9, -1}, hold.box_max = (tl_vec3){0.3, 2, 1};
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    hold = tl_handle_def_default();
    hold.cloth = sm.cloth, hold.use_sphere = 1, hold.sphere_center = (tl_vec3){1, 1, 0}, hold.sphere_radius = 0.1,
    hold.start = 0.1;
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    for (int k = 0; k < 40; k++) assert_ok(tl_sim_step(sim, NULL, &err));
    assert_near(sm.view.pos[12].y, 0.5, 0);
    assert_near(sm.view.pos[20].y, 1, 0);
    assert_near(sm.view.pos[21].y, 1, 0);
    const double caught = sm.view.pos[24].y;  // sagged for 0.1 s, then held where it was
    assert_true(caught < 1 - 1e-6);
    for (int k = 0; k < 10; k++) assert_ok(tl_sim_step(sim, NULL, &err));
    assert_near(sm.view.pos[24].y, caught, 0);
    hold.label = 99;
    assert_int_equal(tl_sim_add_handle(sim, &hold, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "no node"));
    tl_sim_destroy(sim);
    sheet_free(&s);
}

// ---- air and damping ----

// A flat sheet falling face down ends at the speed where 1/2 rho C_d v^2 + 0 = density g.
static void terminal_velocity(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(0.3, 0.3, 4, 4, true);
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i] = (tl_vec3){s.uv[i].x, 0, -s.uv[i].y};  // normal along +y
    tl_material m = tl_material_default();
    tl_sim_def def = tl_sim_def_default();
    def.air = (tl_air_def){.density = 1.2, .drag = 1.2, .gust_period = 1};
    setup sim = make(&s, &def, &m);
    for (int k = 0; k < 400; k++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
    assert_near(-sim.view.vel[0].y, sqrt(m.density * 9.81 / (0.5 * 1.2 * 1.2)), 1e-3);
    tl_sim_destroy(sim.sim);
    sheet_free(&s);
}

// Internal damping takes energy from a stretching wobble, and none from a rotation.
static void damping_acts_on_deformation_only(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(0.2, 0.2, 4, 4, true);
    double left[2], spin[2];
    for (int damped = 0; damped < 2; damped++) {
        tl_material m = tl_material_default();
        m.damping_stretch = damped ? 0.002 : 0, m.damping_bend = m.damping_stretch;
        tl_sim_def def = calm();
        def.gravity = (tl_vec3){0, 0, 0}, def.integrator = TL_BDF2, def.dt = 2e-4, def.newton_tolerance = 1e-7;
        def.linear_tolerance = 1e-8;
        for (int turning = 0; turning < 2; turning++) {
            tl_vec3 *vel = calloc((size_t)s.node_count, sizeof *vel);
            for (int32_t i = 0; i < s.node_count; i++) {
                const double x = s.uv[i].x - 0.1, y = s.uv[i].y - 0.1;
                vel[i] = turning ? (tl_vec3){-y, x, 0} : (tl_vec3){0.1 * x, 0.05 * y, 0};
            }
            tl_sim *sim;
            assert_ok(tl_sim_create(&def, &sim, &err));
            tl_cloth_def cloth = tl_cloth_def_default();
            cloth.remeshing.kind = TL_REMESHING_NONE;
            cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv, cloth.vel = vel;
            cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face;
            cloth.materials = &m, cloth.material_count = 1;
            tl_cloth_id id;
            assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
            tl_energies before, after;
            assert_ok(tl_sim_energies(sim, &before));
            for (int k = 0; k < 100; k++) assert_ok(tl_sim_step(sim, NULL, &err));
            assert_ok(tl_sim_energies(sim, &after));
            (turning ? spin : left)[damped] = (after.kinetic + after.stretch) / before.kinetic;
            tl_sim_destroy(sim);
            free(vel);
        }
    }
    assert_true(left[1] < 0.5 * left[0]);
    assert_near(spin[0], 1, 2e-3);
    assert_near(spin[1], spin[0], 1e-4);
    sheet_free(&s);
}

// ---- saving, threads ----

static setup swinging(const sheet *s, tl_linear linear, tl_integrator integrator, int threads)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.linear = linear, def.integrator = integrator, def.threads = threads;
    def.air.wind = (tl_vec3){1, 0, 3}, def.air.gust = 0.5;
    tl_material m = tl_material_default();
    m.damping_bend = 0.001;
    for (int r = 1; r < 6; r++) m.stretch[r][0] *= 2, m.stretch[r][2] *= 1.5;  // nonlinear
    setup sim = make(s, &def, &m);
    const int32_t corners[2] = {s->node_count - 1, 0};
    const tl_motion_key keys[2] = {{.time = 0}, {.time = 0.2, .translate = {0, 0.1, 0.05}}};
    tl_handle_def hold = hold_nodes(&sim, corners, 2);
    hold.keys = keys, hold.key_count = 2, hold.end = 0.15;
    assert_ok(tl_sim_add_handle(sim.sim, &hold, &err));
    return sim;
}

static void saving_and_restoring_changes_no_bit(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(0.5, 0.5, 14, 14, true);
    const tl_linear kinds[] = {TL_LINEAR_AUTO, TL_LINEAR_PCG, TL_LINEAR_MULTILEVEL, TL_LINEAR_DIRECT, TL_LINEAR_STALE};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int integrator = TL_IMPLICIT_EULER; integrator <= TL_BDF2; integrator++) {
            setup whole = swinging(&s, kinds[k], (tl_integrator)integrator, 1);
            for (int i = 0; i < 40; i++) assert_ok(tl_sim_step(whole.sim, NULL, &err));
            for (int stop = 3; stop < 40; stop += 12) {
                // each way at two of four, each of the four by some way
                if (SANITIZED && stop / 12 != (int)(2 * k + (size_t)integrator) % 4) continue;
                setup a = swinging(&s, kinds[k], (tl_integrator)integrator, 2),
                      b = swinging(&s, kinds[k], (tl_integrator)integrator, 1);
                const void *bytes;
                size_t size;
                for (int i = 0; i < stop; i++) assert_ok(tl_sim_step(a.sim, NULL, &err));
                assert_ok(tl_sim_save(a.sim, &bytes, &size, &err));
                void *copy = malloc(size);
                memcpy(copy, bytes, size);
                assert_ok(tl_sim_restore(b.sim, copy, size, &err));
                assert_int_equal(tl_sim_steps(b.sim), stop);
                tl_energies ea, eb;
                assert_ok(tl_sim_energies(a.sim, &ea));
                assert_ok(tl_sim_energies(b.sim, &eb));
                // stiffness of the step before or of now
                assert_near(eb.bend + eb.stretch, ea.bend + ea.stretch, 0.2 * (ea.bend + ea.stretch));
                for (int i = stop; i < 40; i++) {
                    assert_ok(tl_sim_step(a.sim, NULL, &err));  // saving must not disturb the one that goes on
                    assert_ok(tl_sim_step(b.sim, NULL, &err));
                }
                assert_true(tl_sim_hash(a.sim) == tl_sim_hash(whole.sim));
                assert_true(tl_sim_hash(b.sim) == tl_sim_hash(whole.sim));
                ((char *)copy)[size / 2] ^= 1;
                assert_int_equal(tl_sim_restore(b.sim, copy, size, &err), TL_BAD_INPUT);
                assert_int_equal(tl_sim_restore(b.sim, copy, size / 2, &err), TL_BAD_INPUT);
                assert_int_equal(tl_sim_steps(b.sim), 40);
                free(copy);
                tl_sim_destroy(a.sim), tl_sim_destroy(b.sim);
            }
            tl_sim_destroy(whole.sim);
        }
    sheet_free(&s);
}

static void a_state_of_another_simulation_is_refused(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(0.3, 0.3, 4, 4, true);
    const tl_sim_def def = calm();
    tl_sim_def other = def;
    other.gravity.y = -1.6;
    tl_material m = tl_material_default(), heavier = m;
    heavier.density = 0.3;
    setup a = make(&s, &def, &m), b = make(&s, &def, &heavier), c = make(&s, &other, &m);
    strcpy(m.name, "another name");
    setup d = make(&s, &def, &m);
    for (int i = 0; i < 3; i++) assert_ok(tl_sim_step(a.sim, NULL, &err));
    const void *bytes;
    size_t size;
    assert_ok(tl_sim_save(a.sim, &bytes, &size, &err));
    assert_int_equal(tl_sim_restore(b.sim, bytes, size, &err), TL_BAD_INPUT);
    assert_int_equal(tl_sim_restore(c.sim, bytes, size, &err), TL_BAD_INPUT);
    assert_ok(tl_sim_restore(d.sim, bytes, size, &err));
    assert_true(tl_sim_hash(d.sim) == tl_sim_hash(a.sim));
    // nor one that is solved in another way: it would go on with other bits
    for (int k = 0; k < 6; k++) {
        tl_sim_def solved = def;
        if (k == 0) solved.newton_iterations++;
        if (k == 1) solved.newton_tolerance *= 0.5;
        if (k == 2) solved.linear = TL_LINEAR_PCG;
        if (k == 3) solved.linear_tolerance *= 0.5;
        if (k == 4) solved.effort *= 0.5;
        if (k == 5) solved.linear_iterations--;
        setup e = make(&s, &solved, &m);
        assert_int_equal(tl_sim_restore(e.sim, bytes, size, &err), TL_BAD_INPUT);
        tl_sim_destroy(e.sim);
    }
    tl_sim_destroy(a.sim), tl_sim_destroy(b.sim), tl_sim_destroy(c.sim), tl_sim_destroy(d.sim);
    sheet_free(&s);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_delaunay(0.6, 0.5, 0.02, 1, 0, 4);
    uint64_t first = 0;
    const int threads[] = {1, 2, 3, 8};
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        setup sim = swinging(&s, TL_LINEAR_AUTO, TL_IMPLICIT_EULER, threads[k]);
        for (int i = 0; i < 12; i++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
        if (k == 0) first = tl_sim_hash(sim.sim);
        assert_true(tl_sim_hash(sim.sim) == first);
        tl_sim_destroy(sim.sim);
    }
    sheet_free(&s);
}

static void every_solver_gives_the_same_answer(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(0.5, 0.5, 12, 12, true);
    tl_vec3 *reference = malloc((size_t)s.node_count * sizeof *reference);
    for (int kind = TL_LINEAR_AUTO; kind <= TL_LINEAR_STALE; kind++) {
        tl_sim_def def = calm();
        def.linear = (tl_linear)kind, def.newton_tolerance = 1e-8, def.linear_tolerance = 1e-8;
        const tl_material m = tl_material_default();
        setup sim = make(&s, &def, &m);
        const int32_t corner = s.node_count - 1;
        tl_handle_def hold = hold_nodes(&sim, &corner, 1);
        assert_ok(tl_sim_add_handle(sim.sim, &hold, &err));
        for (int i = 0; i < 20; i++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
        for (int32_t i = 0; i < s.node_count; i++) {
            if (kind == TL_LINEAR_AUTO) reference[i] = sim.view.pos[i];
            assert_near(sim.view.pos[i].y, reference[i].y, 1e-7);
            assert_near(sim.view.pos[i].z, reference[i].z, 1e-7);
        }
        tl_sim_destroy(sim.sim);
    }
    free(reference);
    sheet_free(&s);
}

// ---- failure ----

// Two Newton iterations are not enough for a sheet that is thrown hard against its pins: steps are cut, the run goes
// on.
static void a_step_that_fails_is_cut_and_reported(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(0.5, 0.5, 8, 8, true);
    tl_sim_def def = calm();
    def.dt = 0.05, def.newton_iterations = 4, def.newton_tolerance = 1e-4;
    def.gravity = (tl_vec3){0, -200, 30};
    const tl_material m = tl_material_default();
    setup sim = make(&s, &def, &m);
    const int32_t corners[2] = {s.node_count - 1, s.node_count - 9};
    tl_handle_def hold = hold_nodes(&sim, corners, 2);
    assert_ok(tl_sim_add_handle(sim.sim, &hold, &err));
    int rejected = 0, substeps = 0;
    for (int k = 0; k < 10; k++) {
        tl_step_report report;
        assert_ok(tl_sim_step(sim.sim, &report, &err));
        rejected += report.rejected, substeps += report.substeps;
        assert_near(report.time, 0.05 * (k + 1), 1e-12);
        for (int32_t i = 0; i < s.node_count; i++) assert_true(isfinite(sim.view.pos[i].y));
    }
    assert_true(rejected > 0 && substeps > 10);
    tl_sim_destroy(sim.sim);
    sheet_free(&s);
}

// A handle that tears nodes to 1e200 m cannot be followed: TL_FAILED, a sentence, and the state of the last good step.
static void a_hopeless_step_leaves_the_last_good_state(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(0.2, 0.2, 3, 3, true);
    tl_sim_def def = calm();
    def.max_halvings = 2;
    const tl_material m = tl_material_default();
    setup sim = make(&s, &def, &m);
    const int32_t corner = 0;
    const tl_motion_key keys[2] = {{.time = 0.05}, {.time = 0.06, .translate = {1e200, 0, 0}}};
    tl_handle_def hold = hold_nodes(&sim, &corner, 1);
    hold.keys = keys, hold.key_count = 2;
    assert_ok(tl_sim_add_handle(sim.sim, &hold, &err));
    for (int k = 0; k < 10; k++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
    const uint64_t good = tl_sim_hash(sim.sim);
    tl_step_report report;
    assert_int_equal(tl_sim_step(sim.sim, &report, &err), TL_FAILED);
    assert_non_null(strstr(err.message, "attempts"));
    assert_true(tl_sim_hash(sim.sim) == good);
    const void *bytes;
    size_t size;
    assert_ok(tl_sim_save(sim.sim, &bytes, &size, &err));  // and it can still be saved
    tl_sim_destroy(sim.sim);
    sheet_free(&s);
}

// Nothing ever converges to 1e-30 m/s in two iterations. The step is cut six times and a 64th taken as it is; then what
// comes after it, from another 64th up to a quarter, and the second half in quarters: 8 parts, where 64 would be no
// better.
static void what_never_converges_is_not_cut_to_bits(void **state)
{
    (void)state;
    tl_error err;
    sheet s = sheet_grid(0.2, 0.2, 3, 3, true);
    tl_sim_def def = calm();
    def.gravity = (tl_vec3){0, -9.81, 0}, def.newton_iterations = 2, def.newton_tolerance = 1e-30;
    assert_int_equal(def.max_halvings, 6);
    const tl_material m = tl_material_default();
    setup sim = make(&s, &def, &m);
    const int32_t corner = 0;
    tl_handle_def hold = hold_nodes(&sim, &corner, 1);
    assert_ok(tl_sim_add_handle(sim.sim, &hold, &err));
    tl_step_report report;
    assert_ok(tl_sim_step(sim.sim, &report, &err));
    assert_int_equal(report.rejected, 6);
    assert_int_equal(report.substeps, 8);
    assert_int_equal(report.unconverged, 8);
    tl_sim_destroy(sim.sim);
    sheet_free(&s);
}

static void bad_definitions_are_named(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim;
    tl_sim_def def = tl_sim_def_default();
    def.dt = -1;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "dt -1"));
    def = tl_sim_def_default(), def.gravity.y = NAN;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    def = (tl_sim_def){0};
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "tl_sim_def_default"));
    def = tl_sim_def_default();
    assert_ok(tl_sim_create(&def, &sim, &err));
    assert_int_equal(tl_sim_step(sim, NULL, &err), TL_BAD_ARG);
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    tl_cloth_id id;
    assert_int_equal(tl_sim_add_cloth(sim, &cloth, &id, &err), TL_BAD_INPUT);
    assert_int_equal(id.gen, 0);
    sheet s = sheet_grid(1, 1, 2, 2, false);
    tl_material m = tl_material_default();
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv, cloth.face_count = s.face_count;
    cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m, cloth.material_count = 1;
    m.density = -0.2;
    assert_int_equal(tl_sim_add_cloth(sim, &cloth, &id, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "density -0.2"));
    m.density = 0.2;
    cloth.name = "a/b";
    assert_int_equal(tl_sim_add_cloth(sim, &cloth, &id, &err), TL_BAD_INPUT);
    cloth.name = "a";
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    tl_cloth_id again;
    assert_int_equal(tl_sim_add_cloth(sim, &cloth, &again, &err), TL_BAD_INPUT);  // the name is taken
    const int32_t node = 99;
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = id, hold.nodes = &node, hold.node_count = 1;
    assert_int_equal(tl_sim_add_handle(sim, &hold, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "node 99"));
    tl_sim_destroy(sim);
    sheet_free(&s);
}

// ---- memory ----

static void a_warm_step_asks_for_no_memory(void **state)
{
    (void)state;
    tl_error err;
    ledger l = {.fail_at = INT64_MAX};
    sheet s = sheet_grid(0.5, 0.5, 20, 20, true);
    tl_sim_def def = calm();
    def.alloc = (tl_allocator){ledger_resize, &l}, def.linear = TL_LINEAR_PCG;
    def.collide.self = 0;  // it folds: lists of contacts grow as contacts come
    const tl_material m = tl_material_default();
    setup sim = make(&s, &def, &m);
    const int32_t corner = 0;
    tl_handle_def hold = hold_nodes(&sim, &corner, 1);
    assert_ok(tl_sim_add_handle(sim.sim, &hold, &err));
    for (int k = 0; k < 60; k++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
    const int64_t before = l.requests;
    for (int k = 0; k < 20; k++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
    assert_int_equal(l.requests - before, 0);
    assert_true(tl_sim_memory(sim.sim).used == (size_t)l.live);
    tl_sim_destroy(sim.sim);
    assert_int_equal(l.live, 0);
    sheet_free(&s);
}

static void a_warm_step_of_cloth_that_lies_asks_for_no_memory(void **state)
{
    (void)state;
    tl_error err;
    ledger l = {.fail_at = INT64_MAX};
    sheet s = sheet_grid(0.5, 0.5, 12, 12, true);
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i] = (tl_vec3){s.uv[i].x, 0.01, -s.uv[i].y};
    tl_sim_def def = tl_sim_def_default();
    def.alloc = (tl_allocator){ledger_resize, &l}, def.linear = TL_LINEAR_PCG;
    const tl_material m = tl_material_default();
    setup sim = make(&s, &def, &m);
    tl_body_def floor_def = tl_body_def_default();
    floor_def.kind = TL_BODY_PLANE, floor_def.axis = (tl_vec3){0, 1, 0};
    tl_body_id body;
    assert_ok(tl_sim_add_body(sim.sim, &floor_def, &body, &err));
    tl_step_report report;
    for (int k = 0; k < 60; k++) assert_ok(tl_sim_step(sim.sim, &report, &err));
    assert_true(report.contact.contacts == s.node_count);
    const int64_t before = l.requests;
    for (int k = 0; k < 20; k++) assert_ok(tl_sim_step(sim.sim, NULL, &err));
    assert_int_equal(l.requests - before, 0);
    tl_sim_destroy(sim.sim);
    assert_int_equal(l.live, 0);
    sheet_free(&s);
}

static tl_status short_life(const sheet *s, ledger *l, tl_linear linear)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.alloc = (tl_allocator){ledger_resize, l}, def.linear = linear, def.integrator = TL_BDF2, def.threads = 2;
    const tl_wind_key wind[2] = {{0, {0, 0, 1}}, {1, {0, 0, 2}}};
    def.air.keys = wind, def.air.key_count = 2;
    tl_material m = tl_material_default();
    m.damping_stretch = 0.001;
    setup sim;
    tl_status status = try_setup(s, &def, &m, &sim, &err);
    if (status == TL_OK) {
        const int32_t corner = 0;
        const tl_motion_key keys[2] = {{.time = 0}, {.time = 1, .translate = {0.01, 0, 0}}};
        tl_handle_def hold = hold_nodes(&sim, &corner, 1);
        hold.keys = keys, hold.key_count = 2;
        status = tl_sim_add_handle(sim.sim, &hold, &err);
    }
    for (int k = 0; status == TL_OK && k < 3; k++) status = tl_sim_step(sim.sim, NULL, &err);
    const void *bytes;
    size_t size;
    if (status == TL_OK) status = tl_sim_save(sim.sim, &bytes, &size, &err);
    if (status == TL_OK) status = tl_sim_restore(sim.sim, bytes, size, &err);
    tl_strain_range strain;
    if (status == TL_OK) status = tl_sim_strain(sim.sim, &strain);
    tl_sim_destroy(sim.sim);
    return status;
}

// Whichever request for memory fails, the call says so, nothing leaks and nothing is touched that is not there.
static void every_failing_request_is_survived(void **state)
{
    (void)state;
    sheet s = sheet_grid(0.3, 0.3, 5, 5, true);
    const tl_linear kinds[] = {TL_LINEAR_PCG, TL_LINEAR_MULTILEVEL, TL_LINEAR_STALE};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        ledger all = {.fail_at = INT64_MAX};
        assert_int_equal(short_life(&s, &all, kinds[k]), TL_OK);
        assert_int_equal(all.live, 0);
        int failures = 0;
        for (int64_t n = 1; n <= all.requests; n++) {
            ledger l = {.fail_at = n};
            const tl_status status = short_life(&s, &l, kinds[k]);
            if (l.live != 0)
                fail_msg("request %lld of %lld failed: %lld bytes leaked", (long long)n, (long long)all.requests,
                         (long long)l.live);
            if (status != TL_OK) {
                assert_int_equal(status, TL_NO_MEMORY);
                failures++;
            }
        }
        assert_true(failures > all.requests * 9 / 10);  // an arena that cannot grow its base block goes on without
    }
    sheet_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handle_follows_its_keys_and_lets_go),
        cmocka_unit_test(handles_choose_by_label_region_and_time),
        cmocka_unit_test(terminal_velocity),
        cmocka_unit_test(damping_acts_on_deformation_only),
        cmocka_unit_test(saving_and_restoring_changes_no_bit),
        cmocka_unit_test(a_state_of_another_simulation_is_refused),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(every_solver_gives_the_same_answer),
        cmocka_unit_test(a_step_that_fails_is_cut_and_reported),
        cmocka_unit_test(a_hopeless_step_leaves_the_last_good_state),
        cmocka_unit_test(what_never_converges_is_not_cut_to_bits),
        cmocka_unit_test(bad_definitions_are_named),
        cmocka_unit_test(a_warm_step_asks_for_no_memory),
        cmocka_unit_test(a_warm_step_of_cloth_that_lies_asks_for_no_memory),
        cmocka_unit_test(every_failing_request_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
