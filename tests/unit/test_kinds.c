// Kinds of stages: the table of what goes with what, the words of scenes, and refusals that say what to take instead.

#include <string.h>

#include "adapt/adapt.h"
#include "dynamics/dynamics.h"
#include "respond/respond.h"
#include "scene/scene.h"
#include "check.h"
#include "toile/kinds.h"
#include "toile/scene.h"

static bool next(tl_kinds *k)
{
    for (int s = TL_STAGES - 1; s >= 0; s--) {
        if (++k->kind[s] < tl_kind_count((tl_stage)s)) return true;
        k->kind[s] = 0;
    }
    return false;
}

static bool is(const tl_kinds *k, tl_stage stage, const char *name)
{
    return strcmp(tl_kind_name(stage, k->kind[stage]), name) == 0;
}

// What is promised must be kept: these are the rules of docs/architecture.md, said once more in words.
static bool goes(const tl_kinds *k)
{
    const bool safe = is(k, TL_STAGE_RESPOND, "barrier") || is(k, TL_STAGE_RESPOND, "zones");
    if (safe && !is(k, TL_STAGE_DETECT, "full")) return false;
    const bool springs = is(k, TL_STAGE_DYNAMICS, "springs"), trees = is(k, TL_STAGE_ADAPT, "edge-trees");
    if (safe && !is(k, TL_STAGE_DYNAMICS, "implicit")) return false;  // no potential to press in
    // springs that push out themselves keep the hierarchy of edge trees themselves, too
    const bool own = is(k, TL_STAGE_RESPOND, "push-out");
    if (own && (!springs || !is(k, TL_STAGE_DETECT, "full"))) return false;
    return !springs || (own && trees) || is(k, TL_STAGE_ADAPT, "none");
}

static void the_table_holds(void **state)
{
    (void)state;
    tl_kinds k = {{0}};
    int together = 0, apart = 0;
    do {
        tl_error err = {TL_OK, ""};
        const tl_status status = tl_kinds_check(&k, &err);
        assert_int_equal(status == TL_OK, goes(&k));
        status == TL_OK ? together++ : apart++;
        if (status == TL_OK) continue;
        // the message names a choice that is accepted
        const char *take = strstr(err.message, "; take ");
        assert_non_null(take);
        assert_true(strchr(take, '\'') || strstr(take, "both otherwise"));
    } while (next(&k));
    assert_true(together > 0 && apart > 0);
    const tl_kinds ours = {{TL_REMESHING_ANISOTROPIC, TL_DYNAMICS_IMPLICIT, TL_DETECTION_FULL, TL_RESPONSE_BARRIER}};
    tl_error err;
    assert_ok(tl_kinds_check(&ours, &err));
}

static void a_refusal_says_what_to_take(void **state)
{
    (void)state;
    tl_error err;
    const tl_kinds k = {{TL_REMESHING_NONE, TL_DYNAMICS_IMPLICIT, TL_DETECTION_STOCHASTIC, TL_RESPONSE_BARRIER}};
    assert_int_equal(tl_kinds_check(&k, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "collisions.response 'barrier' does not go with collisions.detection "
                                        "'stochastic': it lets nothing pass"));
    assert_non_null(strstr(err.message, "take collisions.detection 'full'"));
    for (int s = 0; s < TL_STAGES; s++) {
        tl_kinds none = {{0}};
        none.kind[s] = 99;
        assert_int_equal(tl_kinds_check(&none, &err), TL_BAD_ARG);
        assert_non_null(strstr(err.message, tl_stage_key((tl_stage)s)));
        assert_null(tl_kind_name((tl_stage)s, -1));
    }
    tl_sim_def def = tl_sim_def_default();
    def.collide.detection = TL_DETECTION_COMBINED;
    tl_sim *sim = NULL;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "'combined'"));
    assert_null(sim);
}

// Every kind is complete: what it says it does it has functions for.
static void kinds_have_what_they_need(void **state)
{
    (void)state;
    for (int s = 0; s < TL_STAGES; s++) {
        assert_true(tl_kind_count((tl_stage)s) > 0);
        for (int32_t k = 0; k < tl_kind_count((tl_stage)s); k++) {
            assert_true(strlen(tl_kind_promise((tl_stage)s, k)) > 10);
            for (int32_t other = 0; other < k; other++)
                assert_true(strcmp(tl_kind_name((tl_stage)s, k), tl_kind_name((tl_stage)s, other)) != 0);
        }
    }
    for (int32_t k = 0; k < tl_kind_count(TL_STAGE_ADAPT); k++) {
        const tl_adapter *a = tl_adapter_of((tl_remeshing_kind)k);
        if (!a->look) continue;
        assert_true(a->change && a->save && a->load && a->hash);
        assert_true(!a->create == !a->destroy);
    }
    for (int32_t k = 0; k < tl_kind_count(TL_STAGE_DYNAMICS); k++) {
        const tl_dynamics *d = tl_dynamics_of((tl_dynamics_kind)k);
        assert_true(d->create && d->destroy && d->compile && d->step && d->restart && d->hash);
        assert_true(!d->save == !d->load);
    }
    for (int32_t k = 0; k < tl_kind_count(TL_STAGE_RESPOND); k++) {
        const tl_responder *r = tl_responder_of((tl_response)k);
        assert_true(r->create && r->destroy && r->begin);
        assert_true(r->term || r->after || r->in_dynamics);
        assert_true(r->in_potential == (r->term != NULL));
        assert_true(!r->save == !r->load);
    }
}

// --- scenes ---

static const char scene_text[] =
    "{\"frames\": 1, \"cloths\": [{\"mesh\": {\"rectangle\": {\"size\": [0.2, 0.2], \"edge\": 0.1}}, \"material\": "
    "\"cotton\"}]}";

static tl_status load_with(const char *const *sets, int32_t count, tl_scene **out, tl_error *err)
{
    char path[] = "/tmp/test_kinds_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fputs(scene_text, file), fclose(file);
    const tl_status status = tl_scene_load(path, sets, count, out, err);
    remove(path);
    return status;
}

static tl_status load(const char *set, tl_scene **out, tl_error *err) { return load_with(&set, 1, out, err); }

// Every kind has its word in scenes, and the word means that kind.
static void scenes_know_every_kind(void **state)
{
    (void)state;
    for (int s = 0; s < TL_STAGES; s++)
        for (int32_t k = 0; k < tl_kind_count((tl_stage)s); k++) {
            char set[128];
            snprintf(set, sizeof set, "%s=%s", tl_stage_key((tl_stage)s), tl_kind_name((tl_stage)s, k));
            tl_scene *scene = NULL;
            tl_error err = {TL_OK, ""};
            if (load(set, &scene, &err) != TL_OK) {
                if (!strstr(err.message, "does not go with")) fail_msg("%s: %s", set, err.message);
                continue;
            }
            const tl_scene_file *f = &scene->file;
            const int32_t got[TL_STAGES] = {f->remeshing.kind, f->dynamics.kind, f->collide.detection,
                                            f->collide.response};
            assert_int_equal(got[s], k);
            tl_scene_destroy(scene);
        }
}

static void a_former_word_is_read_and_replaced(void **state)
{
    (void)state;
    tl_scene *scene = NULL;
    tl_error err;
    assert_ok(load("collisions.response=potential", &scene, &err));
    assert_int_equal(scene->file.collide.response, TL_RESPONSE_BARRIER);
    assert_non_null(strstr(tl_scene_json(scene), "\"response\": \"barrier\""));
    tl_scene_destroy(scene);
    assert_int_equal(load("collisions.response=barier", &scene, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "did you mean 'barrier'?"));
    assert_null(strstr(err.message, "potential"));
}

static void a_scene_is_refused_at_its_key(void **state)
{
    (void)state;
    tl_scene *scene = NULL;
    tl_error err;
    assert_int_equal(load("collisions.detection=stochastic", &scene, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "collisions.response 'barrier' does not go with"));
    assert_non_null(strstr(err.message, "take collisions.detection 'full'"));
    assert_null(scene);
}

// Springs push out themselves unless another response is asked for; those that act within a potential are refused.
static void springs_have_their_own_response(void **state)
{
    (void)state;
    tl_scene *scene = NULL;
    tl_error err;
    const char *sets[3] = {"remeshing.kind=none", "dynamics.kind=springs", "collisions.friction_combine=max"};
    assert_ok(load_with(sets, 3, &scene, &err));
    assert_int_equal(scene->file.collide.response, TL_RESPONSE_PUSH_OUT);
    assert_non_null(strstr(tl_scene_json(scene), "\"response\": \"push-out\""));
    tl_scene_destroy(scene);
    static const char *const others[] = {"barrier", "zones", "impulse", "constraint"};
    for (int k = 0; k < 4; k++) {
        char set[64];
        snprintf(set, sizeof set, "collisions.response=%s", others[k]);
        sets[2] = set;
        if (k >= 2) {
            assert_ok(load_with(sets, 3, &scene, &err));
            tl_scene_destroy(scene);
            continue;
        }
        assert_int_equal(load_with(sets, 3, &scene, &err), TL_BAD_INPUT);
        assert_non_null(strstr(err.message, "'springs'"));
        assert_non_null(strstr(err.message, "collisions.response 'impulse' or 'constraint' or 'push-out'"));
    }
    assert_int_equal(load("collisions.response=push-out", &scene, &err), TL_BAD_INPUT);
    assert_non_null(
        strstr(err.message, "'implicit': it is part of how springs move; take collisions.response 'barrier'"));
    tl_sim *sim = NULL;
    tl_sim_def def = tl_sim_def_default();
    def.dynamics = TL_DYNAMICS_SPRINGS;  // the default response is then that of springs
    assert_ok(tl_sim_create(&def, &sim, &err));
    tl_sim_destroy(sim);
    def.collide.response = TL_RESPONSE_ZONES;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_holds),
        cmocka_unit_test(a_refusal_says_what_to_take),
        cmocka_unit_test(kinds_have_what_they_need),
        cmocka_unit_test(scenes_know_every_kind),
        cmocka_unit_test(a_former_word_is_read_and_replaced),
        cmocka_unit_test(a_scene_is_refused_at_its_key),
        cmocka_unit_test(springs_have_their_own_response),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
