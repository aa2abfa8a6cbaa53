// tests/validation/strips.h: clamped strips and static equilibria through the public interface.
#pragma once
#include "check.h"
#include "sheets.h"

#include "toile/toile.h"

/// Adds one row of faces behind the border x = 0 (towards negative x), to be clamped: `depth` wide.
static inline void strip_add_clamp(sheet *s, double depth)
{
    int32_t *border = malloc((size_t)s->node_count * sizeof *border), count = 0;
    for (int32_t i = 0; i < s->node_count; i++)
        if (fabs(s->uv[i].x) < 1e-12) border[count++] = i;
    for (int32_t i = 1; i < count; i++)  // by y
        for (int32_t j = i; j > 0 && s->uv[border[j]].y < s->uv[border[j - 1]].y; j--) {
            const int32_t swap = border[j];
            border[j] = border[j - 1], border[j - 1] = swap;
        }
    s->pos = realloc(s->pos, (size_t)(s->node_count + count) * sizeof *s->pos);
    s->uv = realloc(s->uv, (size_t)(s->node_count + count) * sizeof *s->uv);
    s->face = realloc(s->face, (size_t)(s->face_count + 2 * count) * sizeof *s->face);
    for (int32_t i = 0; i < count; i++) {
        const tl_vec2 u = {-depth, s->uv[border[i]].y};
        s->uv[s->node_count + i] = u;
        s->pos[s->node_count + i] = (tl_vec3){u.x, u.y, 0};
        if (i == 0) continue;
        const int32_t a = s->node_count + i - 1, b = border[i - 1], c = border[i], d = s->node_count + i;
        const int32_t tri[2][3] = {{a, b, c}, {a, c, d}};
        for (int t = 0; t < 2; t++, s->face_count++)
            for (int k = 0; k < 3; k++) s->face[s->face_count][k] = tri[t][k];
    }
    s->node_count += count;
    free(border);
}

typedef struct strip_sim {
    tl_sim *sim;
    tl_cloth_id cloth;
    tl_cloth_view view;
} strip_sim;

static inline strip_sim strip_create(const sheet *s, const tl_material *material, const tl_sim_def *def)
{
    tl_error err;
    strip_sim out;
    assert_ok(tl_sim_create(def, &out.sim, &err));
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = s->node_count, cloth.pos = s->pos, cloth.uv = s->uv;
    cloth.face_count = s->face_count, cloth.face = (const int32_t(*)[3])s->face;
    cloth.materials = material, cloth.material_count = 1;
    assert_ok(tl_sim_add_cloth(out.sim, &cloth, &out.cloth, &err));
    assert_ok(tl_sim_cloth_view(out.sim, out.cloth, &out.view));
    return out;
}

/// Holds every node with material x <= `x`.
static inline void strip_hold_behind(strip_sim *s, double x)
{
    tl_error err;
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = s->cloth, hold.use_uv_box = 1;
    hold.uv_min = (tl_vec2){-1e9, -1e9}, hold.uv_max = (tl_vec2){x, 1e9};
    assert_ok(tl_sim_add_handle(s->sim, &hold, &err));
}

/// Settings under which a step is a static solve: inertia counts for nothing.
static inline tl_sim_def static_def(void)
{
    tl_sim_def def = tl_sim_def_default();
    def.dt = 100;
    def.newton_iterations = 2000, def.newton_tolerance = 1e-11;  // 1e-9 m
    def.max_halvings = 0, def.effort = 1e9;                      // one step that takes all the work it needs
    def.linear = TL_LINEAR_DIRECT, def.linear_tolerance = 1e-8;
    def.air = (tl_air_def){.gust_period = 1};
    def.collide.self = 0;  // references know no thickness; the ends of a heart loop lie on each other
    return def;
}

static inline tl_material strip_fabric(double stretch, double bend, double density)
{
    tl_error err;
    tl_material m;
    const tl_orthotropic def = {.stretch_warp = stretch,
                                .stretch_weft = stretch,
                                .shear = stretch / 2,
                                .bend_warp = bend,
                                .bend_weft = bend,
                                .bend_bias = bend,
                                .density = density};
    assert_ok(tl_material_orthotropic(&def, &m, &err));
    return m;
}

/// Mean position of the nodes with material x within 1e-9 of `x`.
static inline tl_vec3 strip_mean_at(const strip_sim *s, double x)
{
    tl_vec3 sum = {0, 0, 0};
    int count = 0;
    for (int32_t i = 0; i < s->view.node_count; i++)
        if (fabs(s->view.uv[i].x - x) < 1e-9)
            sum.x += s->view.pos[i].x, sum.y += s->view.pos[i].y, sum.z += s->view.pos[i].z, count++;
    assert_true(count > 0);
    return (tl_vec3){sum.x / count, sum.y / count, sum.z / count};
}
