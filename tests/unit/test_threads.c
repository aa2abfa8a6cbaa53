// tests/unit/test_threads.c: every kind of every stage on one thread and on three: the same bits. Small enough for the
// thread sanitizer (make test-tsan-short), large enough that every loop has several chunks.

#include <math.h>

#include "check.h"
#include "sheets.h"
#include "toile/core.h"

enum { STEPS = 3, CELLS = SANITIZED ? 20 : 24 };

typedef struct choice {
    const char *name;
    tl_dynamics_kind dynamics;
    tl_remeshing_kind remeshing;
    tl_response response;
    tl_detection detection;
    tl_linear linear;
    double self_distance;  // of springs
} choice;

static void add_sheet(tl_sim *sim, const choice *c, const char *name, double y, double turn)
{
    tl_error err;
    sheet s = sheet_grid(0.4, 0.4, CELLS, CELLS, true);
    for (int32_t i = 0; i < s.node_count; i++) {
        const double u = s.uv[i].x - 0.2, v = 0.2 - s.uv[i].y;
        s.pos[i] = (tl_vec3){cos(turn) * u - sin(turn) * v, y + 0.002 * sin(40 * u), sin(turn) * u + cos(turn) * v};
    }
    const tl_material m = tl_material_default();
    tl_cloth_def def = tl_cloth_def_default();
    tl_cloth_id id;
    def.name = name, def.node_count = s.node_count, def.pos = s.pos, def.uv = s.uv;
    def.face_count = s.face_count, def.face = (const int32_t(*)[3])s.face;
    def.materials = &m, def.material_count = 1;
    def.remeshing.kind = c->remeshing, def.remeshing.size_min = 0.012, def.remeshing.interval = 0.01;
    def.remeshing.levels = 1, def.remeshing.layers = 2;
    if (c->dynamics == TL_DYNAMICS_IMPLICIT && c->response == TL_RESPONSE_BARRIER)
        def.strain.kind = TL_STRAIN_ISOTROPIC, def.strain.min = -0.1, def.strain.max = 0.1;
    assert_ok(tl_sim_add_cloth(sim, &def, &id, &err));
    sheet_free(&s);
}

static uint64_t hash_on(const choice *c, int32_t threads)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.threads = threads, def.dt = 0.01, def.dynamics = c->dynamics, def.linear = c->linear;
    def.collide.response = c->response, def.collide.detection = c->detection;
    def.springs.self_distance = c->self_distance;
    def.air.wind = (tl_vec3){2, 0, 1}, def.air.lee = 0.5;
    tl_sim *sim;
    if (tl_sim_create(&def, &sim, &err) != TL_OK) fail_msg("%s: %s", c->name, err.message);
    add_sheet(sim, c, "low", 0.205, 0), add_sheet(sim, c, "high", 0.212, 0.3);
    tl_body_def ball = tl_body_def_default();
    tl_body_id id;
    ball.kind = TL_BODY_SPHERE, ball.radius = 0.2;
    assert_ok(tl_sim_add_body(sim, &ball, &id, &err));
    for (int i = 0; i < STEPS; i++)
        if (tl_sim_step(sim, NULL, &err) != TL_OK) fail_msg("%s: %s", c->name, err.message);
    const uint64_t hash = tl_sim_hash(sim);
    tl_sim_destroy(sim);
    return hash;
}

static void every_kind_gives_the_same_bits(void **state)
{
    (void)state;
    const choice choices[] = {
        {.name = "barrier, anisotropic", .remeshing = TL_REMESHING_ANISOTROPIC},
        {.name = "barrier, isotropic, levels", .remeshing = TL_REMESHING_ISOTROPIC, .linear = TL_LINEAR_MULTILEVEL},
        {.name = "zones", .response = TL_RESPONSE_ZONES, .linear = TL_LINEAR_DIRECT},
        {.name = "impulse, edge trees",
         .remeshing = TL_REMESHING_EDGE_TREES,
         .response = TL_RESPONSE_IMPULSE,
         .detection = TL_DETECTION_KDOP},
        {.name = "constraint, sqrt3",
         .remeshing = TL_REMESHING_SQRT3,
         .response = TL_RESPONSE_CONSTRAINT,
         .detection = TL_DETECTION_COMBINED},
        {.name = "springs, edge trees",
         .dynamics = TL_DYNAMICS_SPRINGS,
         .remeshing = TL_REMESHING_EDGE_TREES,
         .response = TL_RESPONSE_PUSH_OUT,
         .self_distance = 0.003},
        {.name = "Baraff and Witkin", .dynamics = TL_DYNAMICS_BARAFF_WITKIN, .response = TL_RESPONSE_IMPULSE},
    };
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++)
        if (hash_on(&choices[k], 1) != hash_on(&choices[k], 3))
            fail_msg("%s: other bits on three threads", choices[k].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_gives_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
