// A step that is given up on the way: at whatever point that happens, the state is that of the last good step. Saved,
// read back and gone on with, or gone on with as it is, it leads to the bits of a run that nobody stopped.

#include "check.h"
#include "ledger.h"
#include "sheets.h"

#include "base/workers.h"
#include "toile/toile.h"

enum { CELLS = 8, CANCELLED_STEP = 11, LAST_STEP = 18 };

typedef struct asker {
    int64_t asked, stop_at;  ///< so many times; says yes from that one on, -1: never
} asker;

static int ask(void *user)
{
    asker *a = user;
    return a->asked++ >= a->stop_at && a->stop_at >= 0;
}

// A sheet that falls on a ball, and is remeshed every third step.
static tl_sim *make_sim_with(const tl_allocator *alloc)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    tl_sim *sim;
    def.dt = 0.01, def.alloc = *alloc;
    assert_ok(tl_sim_create(&def, &sim, &err));
    sheet s = sheet_grid(0.5, 0.5, CELLS, CELLS, true);
    for (int32_t i = 0; i < s.node_count; i++)
        s.pos[i] = (tl_vec3){s.uv[i].x - 0.25, 0.21 + 0.003 * s.uv[i].x, 0.25 - s.uv[i].y};
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    tl_cloth_id id;
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv;
    cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face;
    cloth.materials = &m, cloth.material_count = 1;
    cloth.remeshing.kind = TL_REMESHING_ANISOTROPIC, cloth.remeshing.size_min = 0.03;
    cloth.remeshing.interval = 0.03;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    sheet_free(&s);
    tl_body_def body = tl_body_def_default();
    tl_body_id ball;
    body.kind = TL_BODY_SPHERE, body.radius = 0.2, body.live = 1;
    assert_ok(tl_sim_add_body(sim, &body, &ball, &err));
    return sim;
}

static tl_sim *make_sim(void)
{
    const tl_allocator alloc = tl_allocator_default();
    return make_sim_with(&alloc);
}

static uint64_t go_on_to(tl_sim *sim, int64_t last)
{
    tl_error err;
    while (tl_sim_steps(sim) < last) assert_ok(tl_sim_step(sim, NULL, &err));
    return tl_sim_hash(sim);
}

static void any_moment_will_do(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *straight = make_sim();
    const uint64_t expected = go_on_to(straight, LAST_STEP);
    tl_sim_destroy(straight);

    // how often is it asked in the steps to be stopped?
    tl_sim *sim = make_sim();
    int64_t times[LAST_STEP] = {0};
    for (int64_t step = 0; step < LAST_STEP; step++) {
        asker a = {.stop_at = -1};
        tl_sim_set_cancel(sim, &(tl_cancel){ask, &a});
        assert_ok(tl_sim_step(sim, NULL, &err));
        times[step] = a.asked;
        assert_true(a.asked > 2);
    }
    tl_sim_destroy(sim);

    for (int64_t step = 0; step < LAST_STEP; step += SANITIZED ? 8 : 3)
        for (int k = 0; k < 3; k++) {  // the first moment, one on the way, the last
            asker a = {.stop_at = k == 0 ? 0 : k == 1 ? times[step] / 2 : times[step] - 1};
            sim = make_sim();
            go_on_to(sim, step);
            tl_sim_set_cancel(sim, &(tl_cancel){ask, &a});
            assert_int_equal(tl_sim_step(sim, NULL, &err), TL_CANCELLED);
            assert_int_equal(tl_sim_steps(sim), step);
            tl_cloth_view view;
            assert_ok(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &view));
            const void *data;
            size_t size;
            assert_ok(tl_sim_save(sim, &data, &size, &err));
            tl_sim *other = make_sim();
            assert_ok(tl_sim_restore(other, data, size, &err));
            assert_int_equal(tl_sim_steps(other), step);
            assert_true(go_on_to(other, LAST_STEP) == expected);
            tl_sim_destroy(other);
            tl_sim_set_cancel(sim, NULL);
            assert_true(go_on_to(sim, LAST_STEP) == expected);
            tl_sim_destroy(sim);
        }
}

// Who asks all the time gets nowhere, but nothing breaks.
static void stopping_again_and_again(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *straight = make_sim(), *sim = make_sim();
    const uint64_t expected = go_on_to(straight, CANCELLED_STEP + 1);
    go_on_to(sim, CANCELLED_STEP);
    for (int k = 0; k < 6; k++) {
        asker a = {.stop_at = k};
        tl_sim_set_cancel(sim, &(tl_cancel){ask, &a});
        assert_int_equal(tl_sim_step(sim, NULL, &err), TL_CANCELLED);
        assert_int_equal(tl_sim_steps(sim), CANCELLED_STEP);
    }
    tl_sim_set_cancel(sim, NULL);
    assert_true(go_on_to(sim, CANCELLED_STEP + 1) == expected);
    tl_sim_destroy(sim), tl_sim_destroy(straight);
}

enum { GRAVITY, WIND, TIME_STEP, POSE, TAKE_HOLD, SECOND_CLOTH, NO_BODY, CHANGES };

static void change(tl_sim *sim, int what)
{
    tl_error err;
    const tl_motion_key up = {.translate = {0, 0.004, 0}};
    const int32_t corner = 0;
    tl_handle_def handle = tl_handle_def_default();
    handle.cloth = tl_sim_cloth(sim, 0), handle.nodes = &corner, handle.node_count = 1, handle.live = 1;
    tl_handle_id hand;
    switch (what) {
    case GRAVITY: assert_ok(tl_sim_set_gravity(sim, (tl_vec3){0, 1, 0}, &err)); break;
    case WIND: assert_ok(tl_sim_set_wind(sim, (tl_vec3){3, 0, 0}, &err)); break;
    case TIME_STEP: assert_ok(tl_sim_set_dt(sim, 0.005, &err)); break;
    case POSE: assert_ok(tl_body_set_pose(sim, tl_sim_body(sim, 0), &up, &err)); break;
    case TAKE_HOLD:
        assert_ok(tl_handle_create(sim, &handle, &hand, &err));
        assert_ok(tl_handle_set_target(sim, hand, &up, &err));
        break;
    case SECOND_CLOTH: {
        sheet s = sheet_grid(0.2, 0.2, 4, 4, true);
        for (int32_t i = 0; i < s.node_count; i++) s.pos[i].y += 1;
        const tl_material m = tl_material_default();
        tl_cloth_def cloth = tl_cloth_def_default();
        tl_cloth_id id;
        cloth.name = "second", cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv;
        cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face;
        cloth.materials = &m, cloth.material_count = 1;
        assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
        sheet_free(&s);
        break;
    }
    default: assert_ok(tl_body_remove(sim, tl_sim_body(sim, 0), &err));
    }
}

// What a host sets after it has stopped a step holds, as if the step had never been begun.
static void changes_after_a_stopped_step_hold(void **state)
{
    (void)state;
    tl_error err;
    for (int what = 0; what < CHANGES; what++) {
        tl_sim *straight = make_sim(), *sim = make_sim();
        go_on_to(straight, CANCELLED_STEP), go_on_to(sim, CANCELLED_STEP);
        asker a = {.stop_at = 2};
        tl_sim_set_cancel(sim, &(tl_cancel){ask, &a});
        assert_int_equal(tl_sim_step(sim, NULL, &err), TL_CANCELLED);
        tl_sim_set_cancel(sim, NULL);
        change(straight, what), change(sim, what);
        assert_true(go_on_to(sim, CANCELLED_STEP + 3) == go_on_to(straight, CANCELLED_STEP + 3));
        tl_sim_destroy(sim), tl_sim_destroy(straight);
    }
}

// Memory that runs out within a step, a pass of remeshing among them: the step can be taken again.
static void steps_are_taken_again_when_there_is_memory(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *straight = make_sim();
    const uint64_t expected = go_on_to(straight, CANCELLED_STEP + 3);
    tl_sim_destroy(straight);
    int32_t failures = 0;
    for (int64_t n = 1;; n += SANITIZED ? 97 : 31) {
        ledger l = {.fail_at = INT64_MAX};
        const tl_allocator alloc = {ledger_resize, &l};
        tl_sim *sim = make_sim_with(&alloc);
        go_on_to(sim, CANCELLED_STEP - 3);
        bool failed = false;
        for (l.fail_at = l.requests + n; tl_sim_steps(sim) < CANCELLED_STEP + 3;) {
            const tl_status status = tl_sim_step(sim, NULL, &err);
            if (status == TL_OK) continue;
            assert_int_equal(status, TL_NO_MEMORY);
            l.fail_at = INT64_MAX, failed = true, failures++;
        }
        assert_true(tl_sim_hash(sim) == expected);
        tl_sim_destroy(sim);
        if (!failed) break;
    }
    assert_true(failures > 5);
}

static void the_pool_asks(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_workers *workers;
    assert_ok(tl_workers_create(&alloc, 1, &workers, &err));
    asker a = {.stop_at = 1};
    assert_false(tl_workers_cancelled(NULL));
    assert_false(tl_workers_cancelled(workers));
    tl_workers_watch(workers, &(tl_cancel){ask, &a});
    assert_ok(tl_workers_poll(workers, "work", &err));
    assert_int_equal(tl_workers_poll(workers, "work", &err), TL_CANCELLED);
    assert_string_equal(err.message, "work was stopped");
    tl_workers_watch(workers, NULL);
    assert_ok(tl_workers_poll(workers, "work", &err));
    tl_workers_destroy(workers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_moment_will_do),
        cmocka_unit_test(stopping_again_and_again),
        cmocka_unit_test(changes_after_a_stopped_step_hold),
        cmocka_unit_test(steps_are_taken_again_when_there_is_memory),
        cmocka_unit_test(the_pool_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
