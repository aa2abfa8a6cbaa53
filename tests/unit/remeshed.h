// tests/unit/remeshed.h: simulations whose meshes change, for the tests that look at them as a whole.
#pragma once
#include "check.h"
#include "sheets.h"

#include "adapt/anisotropic/remesh.h"
#include "mesh/mesh_attr.h"
#include "sim/internal.h"
#include "toile/toile.h"

static tl_error err;

static inline tl_sim_def world(double dt)
{
    tl_sim_def def = tl_sim_def_default();
    def.dt = dt;
    return def;
}

/// Every look is a pass.
static inline tl_cloth_def adaptive(double size_min, double size_max, double interval)
{
    tl_cloth_def def = tl_cloth_def_default();
    def.remeshing.kind = TL_REMESHING_ANISOTROPIC;
    def.remeshing.size_min = size_min, def.remeshing.size_max = size_max, def.remeshing.interval = interval,
    def.remeshing.patience = 1;
    return def;
}

// A sheet laid level at a height, its middle above the origin, turned a little so that nothing is symmetric.
static inline void lay_level(sheet *s, double width, double depth, double height)
{
    for (int32_t i = 0; i < s->node_count; i++) {
        const double x = s->uv[i].x - 0.5 * width, z = s->uv[i].y - 0.5 * depth;
        s->pos[i] = (tl_vec3){0.96 * x + 0.28 * z, height, 0.28 * x - 0.96 * z};
    }
}

static inline tl_cloth_id add_cloth(tl_sim *sim, const sheet *s, tl_cloth_def like, const char *name)
{
    static tl_material fabric;
    fabric = tl_material_default();
    tl_cloth_id id;
    like.name = name;
    like.node_count = s->node_count, like.pos = s->pos, like.uv = s->uv;
    like.face_count = s->face_count, like.face = (const int32_t(*)[3])s->face;
    like.materials = &fabric, like.material_count = 1;
    assert_ok(tl_sim_add_cloth(sim, &like, &id, &err));
    return id;
}

static inline void add_ball(tl_sim *sim, tl_vec3 center, double radius)
{
    tl_body_def def = tl_body_def_default();
    tl_body_id id;
    def.name = "ball", def.kind = TL_BODY_SPHERE, def.center = center, def.radius = radius;
    assert_ok(tl_sim_add_body(sim, &def, &id, &err));
}

static inline void add_floor(tl_sim *sim, double height)
{
    tl_body_def def = tl_body_def_default();
    tl_body_id id;
    def.name = "floor", def.kind = TL_BODY_PLANE, def.center = (tl_vec3){0, height, 0}, def.axis = (tl_vec3){0, 1, 0};
    assert_ok(tl_sim_add_body(sim, &def, &id, &err));
}

static inline tl_sim *create(const tl_sim_def *def)
{
    tl_sim *sim;
    assert_ok(tl_sim_create(def, &sim, &err));
    return sim;
}

/// A sheet of 1 m above a ball and a floor.
static inline tl_sim *draped(const tl_sim_def *def, tl_cloth_def like, int cells)
{
    tl_sim *sim = create(def);
    sheet s = sheet_grid(1, 1, cells, cells, true);
    lay_level(&s, 1, 1, 0.26);
    add_cloth(sim, &s, like, "cloth");
    sheet_free(&s);
    add_ball(sim, (tl_vec3){0.02, 0, 0.01}, 0.25);
    add_floor(sim, -0.35);
    return sim;
}

static inline tl_sim *hanging(const tl_sim_def *def, tl_cloth_def like, int cells)
{
    tl_sim *sim = create(def);
    sheet s = sheet_grid(1, 1, cells, cells, true);
    const tl_cloth_id id = add_cloth(sim, &s, like, "cloth");
    const int32_t corners[2] = {cells * (cells + 1), cells * (cells + 1) + cells};
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = id, hold.nodes = corners, hold.node_count = 2;
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    sheet_free(&s);
    return sim;
}

static inline tl_remesh_counts step(tl_sim *sim)
{
    tl_step_report report;
    assert_ok(tl_sim_step(sim, &report, &err));
    return report.remesh;
}

static inline int32_t operations(const tl_remesh_counts *r) { return r->splits + r->flips + r->collapses; }

static inline void assert_apart(tl_sim *sim)
{
    tl_intersection_report x;
    assert_ok(tl_sim_intersections(sim, &x, &err));
    if (x.cloth_cloth + x.cloth_body > 0)
        fail_msg("step %lld: %lld and %lld crossings, the first %s %d-%d and %s %d", (long long)sim->step,
                 (long long)x.cloth_cloth, (long long)x.cloth_body, x.list[0].first, x.list[0].edge_nodes[0],
                 x.list[0].edge_nodes[1], x.list[0].second, x.list[0].face);
}

// A pass now, whatever was done at this step. It writes down the room that it leaves to faces.
static inline tl_remesh_counts pass_again(tl_sim *sim)
{
    for (int32_t c = 0, index; c < sim->cloth_count; c++) {
        tl_mesh *mesh = sim->cloths[c].mesh;
        if (tl_mesh_attr_find(mesh, TL_FACES, "clearance") != TL_NONE) continue;
        assert_ok(tl_mesh_attr_add(mesh, TL_FACES, "clearance", TL_DOUBLE, 2, TL_ATTR_COPY, &index, &err));
        for (int32_t i = 0; i < 2 * mesh->slots[TL_FACES].count; i++)
            tl_mesh_attr_doubles(mesh, TL_FACES, index)[i] = 1e30;
    }
    tl_step_report report = {0};
    sim->remeshed = -1;
    for (int32_t c = 0; c < sim->cloth_count; c++) sim->cloths[c].passed = -1;
    assert_ok(sim_remesh(sim, &report, &err));
    assert_true(report.remesh.passes > 0);
    return report.remesh;
}
