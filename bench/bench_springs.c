// bench/bench_springs.c: `toile bench realtime`: a sheet on a cylinder and on a sphere by springs on edge trees, at
// every level and by every set of criteria, in the columns of Simnett 2012, Tables 3.12 to 3.14.
//
// 120 steps a second, a look at the mesh every fourth, as there. Times are processor time, means per step; the hash
// shows a gain that changes the answer.

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "toile/body.h"

bench_realtime_def bench_realtime_default(void)
{
    return (bench_realtime_def){.steps = 360, .garment_steps = 60, .garment_level = 3, .threads = 1, .out = stdout};
}

/// What is measured: a mesh that stays at a level, or criteria (A collision, B curvature, C length) over four.
typedef struct drape_case {
    const char *name;
    int32_t level;           ///< -1: adaptive
    uint32_t a, b, c;        ///< criteria that are on
    double published[2][4];  ///< on the cylinder, on the sphere: triangles; adapt, simulate, collide [ms]
} drape_case;

static const drape_case cases[] = {
    {"level 0", 0, 0, 0, 0, {{32, 0, .0148, .0028}, {32, 0, .0180, .0018}}},
    {"level 1", 1, 0, 0, 0, {{128, 0, .0516, .0067}, {128, 0, .0597, .0031}}},
    {"level 2", 2, 0, 0, 0, {{512, 0, .1990, .0207}, {512, 0, .2205, .0061}}},
    {"level 3", 3, 0, 0, 0, {{2048, 0, .7773, .0746}, {2048, 0, .8040, .0186}}},
    {"level 4", 4, 0, 0, 0, {{8192, 0, 3.0893, .2832}, {8192, 0, 3.1552, .0673}}},
    {"A", -1, 1, 0, 0, {{1844.3, .0810, .9541, .0901}, {1307.1, .0500, .6626, .0260}}},
    {"B", -1, 0, 1, 0, {{2456.9, .1039, 1.1997, .0932}, {5529.4, .2191, 2.7015, .0644}}},
    {"C", -1, 0, 0, 1, {{32, .0017, .0159, .0029}, {1627.5, .0803, .8089, .0175}}},
    {"AB", -1, 1, 1, 0, {{3840.9, .1819, 1.9710, .1616}, {5800.1, .2398, 2.9184, .0732}}},
    {"AC", -1, 1, 0, 1, {{3483.0, .1307, 1.5719, .1487}, {3313.6, .1553, 1.6504, .0547}}},
    {"BC", -1, 0, 1, 1, {{3909.6, .1740, 1.8972, .1519}, {6012.8, .2547, 2.9422, .0807}}},
    {"ABC", -1, 1, 1, 1, {{5535.7, .2480, 2.8129, .2236}, {6378.2, .2217, 2.9484, .0701}}},
};

static tl_status add_sheet(tl_sim *sim, const drape_case *c, tl_error *err)
{
    const double degree = 3.14159265358979323846 / 180, never = 1e9;
    bench_grid g;
    if (!bench_grid_make(1, 1, c->level < 0 ? 32 : 32 << 2 * c->level, &g)) {
        if (err) *err = (tl_error){TL_NO_MEMORY, "out of memory for a sheet"};
        return TL_NO_MEMORY;
    }
    for (int32_t i = 0; i < g.node_count; i++) g.pos[i] = (tl_vec3){g.uv[i].x - 0.5, 0.26, 0.5 - g.uv[i].y};
    const tl_material cotton = tl_material_default();
    tl_cloth_def def = tl_cloth_def_default();
    def.node_count = g.node_count, def.pos = g.pos, def.uv = g.uv;
    def.face_count = g.face_count, def.face = (const int32_t(*)[3])g.face;
    def.materials = &cotton, def.material_count = 1;
    tl_remeshing *r = &def.remeshing;
    r->kind = c->level < 0 ? TL_REMESHING_EDGE_TREES : TL_REMESHING_NONE;
    r->levels = 4, r->interval = 4.0 / 120;
    r->curvature = c->b ? 7 * degree : never, r->hysteresis = 0.3 / 7;  // 7 and 6.7 degrees
    r->split_length = c->c ? 0.98 : 1 / never, r->join_length = c->c ? 0.99 : 1 / never;
    r->obstacles = c->a;
    tl_cloth_id id;
    const tl_status status = tl_sim_add_cloth(sim, &def, &id, err);
    bench_grid_free(&g);
    return status;
}

static tl_status make(const bench_realtime_def *def, const drape_case *c, bool sphere, tl_sim **sim, tl_error *err)
{
    tl_sim_def d = tl_sim_def_default();
    d.dt = 1.0 / 120, d.dynamics = TL_DYNAMICS_SPRINGS, d.threads = def->threads;
    d.air.turbulence = 0;
    tl_status status = tl_sim_create(&d, sim, err);
    if (status != TL_OK) return status;
    tl_body_def ball = tl_body_def_default();
    ball.kind = sphere ? TL_BODY_SPHERE : TL_BODY_CYLINDER, ball.radius = 0.25;
    ball.axis = (tl_vec3){0, 0, 1.4};
    tl_body_id id;
    status = tl_sim_add_body(*sim, &ball, &id, err);
    return status == TL_OK ? add_sheet(*sim, c, err) : status;
}

typedef struct drape_row {
    double faces, adapt, simulate, collide, total;  // means per step; [ms]
    uint64_t hash;
} drape_row;

static tl_status run(const bench_realtime_def *def, const drape_case *c, bool sphere, drape_row *row, tl_error *err)
{
    tl_sim *sim = NULL;
    tl_status status = make(def, c, sphere, &sim, err);
    *row = (drape_row){0};
    for (int32_t k = 0; status == TL_OK && k < def->steps; k++) {
        tl_step_report r = {.seconds.total = 1};
        const double start = bench_cpu();
        status = tl_sim_step(sim, &r, err);
        // processor time, shared out by the clocks of the stages: other work on the machine stretches those alike
        const double cpu = 1e3 * (bench_cpu() - start) / def->steps, per = cpu / r.seconds.total;
        row->faces += (double)bench_count_faces(sim) / def->steps, row->total += cpu;
        row->adapt += per * r.seconds.remesh, row->simulate += per * r.seconds.physics;
        row->collide += per * r.seconds.collision;
    }
    if (status == TL_OK) row->hash = tl_sim_hash(sim);
    tl_sim_destroy(sim);
    return status;
}

static tl_status drape(const bench_realtime_def *def, bool sphere, tl_error *err)
{
    FILE *out = def->out;
    fprintf(out,
            "a sheet of 1 m on a %s of 0.25 m, %d steps of 1/120 s; ms a step, published figures (Simnett 2012, Tables "
            "3.12 to 3.14) in brackets\n"
            "case      triangles          adapt            simulate          collide         adapt %%   hash\n",
            sphere ? "sphere" : "cylinder", def->steps);
    double full = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const drape_case *c = &cases[i];
        const double *p = c->published[sphere];
        drape_row row;
        const tl_status status = run(def, c, sphere, &row, err);
        if (status != TL_OK) return status;
        fprintf(out, "%-8s %7.0f (%5.0f)  %7.4f (%6.4f)  %7.4f (%6.4f)  %7.4f (%6.4f)  %5.1f (%3.1f)  %016" PRIx64,
                c->name, row.faces, p[0], row.adapt, p[1], row.simulate, p[2], row.collide, p[3],
                100 * row.adapt / row.total, 100 * p[1] / (p[1] + p[2] + p[3]), row.hash);
        if (c->level == 4) full = row.total;
        if (c->level < 0) fprintf(out, "  %.2f times faster than level 4", full / row.total);
        fprintf(out, "\n");
        fflush(out);
    }
    return TL_OK;
}

tl_status bench_realtime(const bench_realtime_def *def, tl_error *err)
{
    tl_status status = TL_OK;
    for (int sphere = 0; sphere < 2 && status == TL_OK && def->steps > 0; sphere++)
        status = drape(def, sphere == 1, err);
    if (status == TL_OK && def->garment_steps > 0) status = bench_realtime_garments(def, err);
    if (status == TL_OK && def->garment_steps > 0) status = bench_realtime_budgets(def, err);
    return status;
}
