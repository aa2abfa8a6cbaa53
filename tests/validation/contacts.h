// tests/validation/contacts.h: cloths and bodies in contact through the public interface; distances by brute force.
#pragma once
#include "strips.h"

#include "math/vec3.h"

#define PI 3.14159265358979323846

/// Lays a sheet given in z = 0 out in the plane through `origin` spanned by the unit vectors `u` and `v`.
static inline void sheet_lay(sheet *s, tl_vec3 origin, tl_vec3 u, tl_vec3 v)
{
    for (int32_t i = 0; i < s->node_count; i++) s->pos[i] = tl_madd3(tl_madd3(origin, s->uv[i].x, u), s->uv[i].y, v);
}

/// The same velocity at every node; to be freed.
static inline tl_vec3 *all_alike(const sheet *s, tl_vec3 v)
{
    tl_vec3 *out = malloc((size_t)(uint32_t)s->node_count * sizeof *out);
    for (int32_t i = 0; i < s->node_count; i++) out[i] = v;
    return out;
}

// A mesh that stays as it is given.
static inline tl_cloth_def fixed_mesh(void)
{
    tl_cloth_def def = tl_cloth_def_default();
    def.remeshing.kind = TL_REMESHING_NONE;
    return def;
}

/// A cloth of a sheet with everything else as in `like` (thickness, friction, name).
static inline tl_cloth_id add_sheet(tl_sim *sim, const sheet *s, const tl_material *material, tl_cloth_def like,
                                    const tl_vec3 *vel)
{
    tl_error err;
    tl_cloth_id id;
    like.node_count = s->node_count, like.pos = s->pos, like.uv = s->uv, like.vel = vel;
    like.face_count = s->face_count, like.face = (const int32_t(*)[3])s->face;
    like.materials = material, like.material_count = 1;
    assert_ok(tl_sim_add_cloth(sim, &like, &id, &err));
    return id;
}

static inline tl_cloth_view view_of(const tl_sim *sim, tl_cloth_id cloth)
{
    tl_cloth_view view;
    tl_error err = {TL_OK, ""};
    assert_ok(tl_sim_cloth_view(sim, cloth, &view));
    return view;
}

static inline tl_vec3 mean_of(const tl_vec3 *x, int32_t n)
{
    tl_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < n; i++) sum = tl_add3(sum, x[i]);
    return tl_mul3(1.0 / n, sum);
}

static inline void no_air(tl_sim_def *def) { def->air = (tl_air_def){.gust_period = 1}; }

static inline void run_for(tl_sim *sim, int steps)
{
    tl_error err;
    for (int k = 0; k < steps; k++) assert_ok(tl_sim_step(sim, NULL, &err));
}

/// Nearest distance from a point to a triangle: by regions of its plane (Ericson 2005, sec. 5.1.5).
static inline double point_triangle(tl_vec3 p, tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    const tl_vec3 ab = tl_sub3(b, a), ac = tl_sub3(c, a), ap = tl_sub3(p, a);
    const double d1 = tl_dot3(ab, ap), d2 = tl_dot3(ac, ap);
    if (d1 <= 0 && d2 <= 0) return tl_norm3(ap);
    const tl_vec3 bp = tl_sub3(p, b);
    const double d3 = tl_dot3(ab, bp), d4 = tl_dot3(ac, bp);
    if (d3 >= 0 && d4 <= d3) return tl_norm3(bp);
    if (d1 * d4 - d3 * d2 <= 0 && d1 >= 0 && d3 <= 0) return tl_norm3(tl_sub3(ap, tl_mul3(d1 / (d1 - d3), ab)));
    const tl_vec3 cp = tl_sub3(p, c);
    const double d5 = tl_dot3(ab, cp), d6 = tl_dot3(ac, cp);
    if (d6 >= 0 && d5 <= d6) return tl_norm3(cp);
    if (d5 * d2 - d1 * d6 <= 0 && d2 >= 0 && d6 <= 0) return tl_norm3(tl_sub3(ap, tl_mul3(d2 / (d2 - d6), ac)));
    if (d3 * d6 - d5 * d4 <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        return tl_norm3(tl_sub3(bp, tl_mul3((d4 - d3) / ((d4 - d3) + (d5 - d6)), tl_sub3(c, b))));
    const tl_vec3 n = tl_cross3(ab, ac);
    return fabs(tl_dot3(n, ap)) / tl_norm3(n);
}

/// A surface in space: nodes and triangles.
typedef struct surface {
    const tl_vec3 *pos;
    int32_t node_count;
    const int32_t (*face)[3];
    int32_t face_count;
} surface;

static inline surface surface_of_cloth(const tl_cloth_view *v)
{
    return (surface){v->pos, v->node_count, v->face, v->face_count};  // tests use one vertex per node
}

static inline surface surface_of_body(const tl_sim *sim, tl_body_id body)
{
    tl_body_view v;
    tl_error err = {TL_OK, ""};
    assert_ok(tl_sim_body_view(sim, body, &v));
    return (surface){v.pos, v.node_count, v.face, v.face_count};
}

static inline double distance_to(const surface *s, tl_vec3 p)
{
    double best = INFINITY;
    for (int32_t f = 0; f < s->face_count; f++)
        best = fmin(best, point_triangle(p, s->pos[s->face[f][0]], s->pos[s->face[f][1]], s->pos[s->face[f][2]]));
    return best;
}

/// Masses as the simulation lumps them: a third of each face to its corners.
static inline double *lumped(const sheet *s, double density)
{
    double *m = calloc((size_t)(uint32_t)s->node_count, sizeof *m);
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec2 a = s->uv[s->face[f][0]], b = s->uv[s->face[f][1]], c = s->uv[s->face[f][2]];
        const double area = 0.5 * fabs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
        for (int k = 0; k < 3; k++) m[s->face[f][k]] += density * area / 3;
    }
    return m;
}
