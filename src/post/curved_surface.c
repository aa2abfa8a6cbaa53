// post/curved_surface.c: the curves of edges and what is made of them: points, normals.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "post/curved_impl.h"

// ---- one curve ------------------------------------------------------------------------------------------------

void tl_curved_weights(double t, double w[4])
{
    const double t2 = t * t, t3 = t2 * t;
    w[0] = 0.5 * (-9 * t3 + 18 * t2 - 11 * t + 2);
    w[1] = 0.5 * (27 * t3 - 45 * t2 + 18 * t);
    w[2] = 0.5 * (-27 * t3 + 36 * t2 - 9 * t);
    w[3] = 0.5 * (9 * t3 - 9 * t2 + 2 * t);
}

double tl_curved_bulge(const tl_curved_def *def, double rest, double length)
{
    if (!(length > 0)) return def->bulge[0];
    const double c = def->compress * rest / length, *k = def->bulge;
    const double m = k[0] + c * (k[1] + c * (k[2] + c * k[3]));
    return m > def->cap ? def->cap + (m - def->cap) / m : m;
}

void tl_curved_controls(tl_vec3 a, tl_vec3 b, tl_vec3 na, tl_vec3 nb, double bulge, tl_vec3 out[4])
{
    const tl_vec3 c1 = tl_mul3(1.0 / 3, tl_add3(tl_add3(a, a), b)), c2 = tl_mul3(1.0 / 3, tl_add3(tl_add3(b, b), a));
    // controls of the PN triangle's edge (Vlachos et al. 2001), then its Bezier curve at 1/3 and 2/3
    const tl_vec3 p1 = tl_madd3(c1, -tl_dot3(tl_sub3(c1, a), na), na),
                  p2 = tl_madd3(c2, -tl_dot3(tl_sub3(c2, b), nb), nb);
    const tl_vec3 l1 = tl_mul3(1.0 / 27, tl_add3(tl_add3(tl_mul3(8, a), tl_mul3(12, p1)), tl_madd3(b, 6, p2))),
                  l2 = tl_mul3(1.0 / 27, tl_add3(tl_madd3(a, 6, p1), tl_add3(tl_mul3(12, p2), tl_mul3(8, b))));
    // Eq. 6.2.16 prints L + (C - L) M, which turns the bulge over: with M = 0 the edge has to be straight
    out[0] = a, out[1] = tl_madd3(c1, bulge, tl_sub3(l1, c1));
    out[2] = tl_madd3(c2, bulge, tl_sub3(l2, c2)), out[3] = b;
}

// ---- all of them ----------------------------------------------------------------------------------------------

static tl_vec3 middle(tl_vec3 a, tl_vec3 b) { return tl_mul3(0.5, tl_add3(a, b)); }

// Ends of a curve are final before it is evaluated: plans go level by level.
static void build_curve(tl_curved *c, const tl_curve *curve)
{
    const int32_t a = curve->a, b = curve->b;
    const double length = tl_norm3(tl_sub3(c->flat[b], c->flat[a])), rest = tl_trees_rest_length(c->trees, curve->edge);
    tl_vec3 l[4];
    tl_curved_controls(c->pos[a], c->pos[b], c->smooth[a], c->smooth[b], tl_curved_bulge(&c->def, rest, length), l);
    for (int32_t i = 0; i < curve->count; i++) {
        const tl_curve_point *p = &c->point[curve->first + i];
        const double *w = c->table[p->index];
        c->pos[p->vert] =
            tl_add3(tl_add3(tl_mul3(w[0], l[0]), tl_mul3(w[1], l[1])), tl_madd3(tl_mul3(w[2], l[2]), w[3], l[3]));
    }
}

tl_status tl_curved_build(tl_curved *c, tl_error *err)
{
    if (c->stale) TL_TRY(tl_curved_plan(c, err));
    for (int32_t i = 0; i < c->curve_count; i++) build_curve(c, &c->curve[i]);
    for (int32_t n = 0; n < c->node_count; n++) {
        const int32_t v = c->order[n];
        c->out_pos[n] = c->pos[v], c->out_flat[n] = c->flat[v], c->out_smooth[n] = c->smooth[v];
    }
    return TL_OK;
}

static void area_normals(const int32_t (*face)[3], int32_t face_count, const tl_vec3 *x, int32_t count, tl_vec3 *out)
{
    memset(out, 0, (size_t)count * sizeof *out);
    for (int32_t f = 0; f < face_count; f++) {
        const int32_t *n = face[f];
        const tl_vec3 twice = tl_cross3(tl_sub3(x[n[1]], x[n[0]]), tl_sub3(x[n[2]], x[n[0]]));
        for (int k = 0; k < 3; k++) out[n[k]] = tl_add3(out[n[k]], twice);
    }
    for (int32_t i = 0; i < count; i++) out[i] = tl_unit3_or(out[i], (tl_vec3){0, 1, 0});
}

tl_status tl_curved_shade(tl_curved *c, tl_error *err)
{
    if (c->stale) return tl_fail(err, TL_BAD_ARG, "curved: build the surface first");
    if (c->def.plain_normals)
        memcpy(c->out_normal, c->out_smooth, (size_t)c->node_count * sizeof *c->out_normal);
    else
        area_normals((const int32_t(*)[3])c->face, c->face_count, c->out_pos, c->node_count, c->out_normal);
    return TL_OK;
}

// ---- what it stands on ----------------------------------------------------------------------------------------

void tl_curved_follow(tl_curved *c, const tl_vec3 *pos)
{
    c->coarse = pos;
    for (int32_t v = 0; v < c->base_nodes; v++) c->flat[v] = c->pos[v] = pos[v];
    area_normals((const int32_t(*)[3])c->base_node, c->base_faces, pos, c->base_nodes, c->smooth);
    for (int32_t i = c->base_nodes; i < c->order_count; i++) {
        const int32_t v = c->order[i], *from = tl_trees_vert_at(c->trees, v)->from;
        c->flat[v] = c->pos[v] = middle(c->flat[from[0]], c->flat[from[1]]);
        c->smooth[v] = tl_unit3_or(tl_add3(c->smooth[from[0]], c->smooth[from[1]]), c->smooth[from[0]]);
    }
}
