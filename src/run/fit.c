// run/fit.c: figures of fit from the state at rest.
//
// Tension is the larger principal membrane stress of a face [N/m], S = dW/dE of the fabric's energy at small strain
// (include/toile/material.h). Pressure is what contact with bodies carries across each node, over the node's share of
// the cloth [kPa]; Kimmerle 2005, sec. 6.3, shows tensions in such colours. Room is the distance of the nodes from the
// nearest body.

#include "run/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/nearest.h"
#include "math/vec3.h"
#include "mesh/edges.h"
#include "toile/query.h"

#define REACH 0.5      // [m] room is looked for
#define TOUCHING 10.0  // [Pa] more is pressure

/// A value and the area it holds for.
typedef struct weighted {
    double value, area;
} weighted;

static int by_value(const void *a, const void *b)
{
    const weighted *p = a, *q = b;
    return p->value != q->value ? (p->value < q->value ? -1 : 1) : (p->area > q->area) - (p->area < q->area);
}

// Mean, what 95 % of the area keep below, largest. Sorts the list.
static void summarise(weighted *list, int32_t n, double out[3])
{
    double sum = 0, area = 0, below = 0;
    out[0] = out[1] = out[2] = 0;
    if (n == 0) return;
    qsort(list, (size_t)n, sizeof *list, by_value);
    for (int32_t i = 0; i < n; i++) sum += list[i].value * list[i].area, area += list[i].area;
    out[0] = area > 0 ? sum / area : 0, out[1] = out[2] = list[n - 1].value;
    for (int32_t i = 0; i < n; i++) {
        below += list[i].area;
        if (below < 0.95 * area) continue;
        out[1] = list[i].value;
        return;
    }
}

// The larger principal stress of a face, 0 if it is pushed together either way; its area in the material.
static weighted tension_of(const tl_cloth_view *v, const tl_material *m, int32_t f)
{
    const int32_t *c = v->face[f];
    const tl_vec2 a = tl_sub2(v->uv[c[1]], v->uv[c[0]]), b = tl_sub2(v->uv[c[2]], v->uv[c[0]]);
    const tl_vec3 x0 = v->pos[v->vert_node[c[0]]], p = tl_sub3(v->pos[v->vert_node[c[1]]], x0),
                  q = tl_sub3(v->pos[v->vert_node[c[2]]], x0);
    const double det = tl_cross2(a, b);
    if (!(fabs(det) > 0)) return (weighted){0, 0};
    const tl_vec3 fu = tl_mul3(1 / det, tl_madd3(tl_mul3(b.y, p), -a.y, q)),
                  fv = tl_mul3(1 / det, tl_madd3(tl_mul3(a.x, q), -b.x, p));
    const double e11 = 0.5 * (tl_dot3(fu, fu) - 1), e22 = 0.5 * (tl_dot3(fv, fv) - 1), e12 = 0.5 * tl_dot3(fu, fv);
    const double *k = m->stretch[0];  // c11, c12, c22, c33
    const double s11 = k[0] * e11 + k[1] * e22, s22 = k[1] * e11 + k[2] * e22, s12 = 0.5 * k[3] * e12;
    const double most = 0.5 * (s11 + s22) + sqrt(0.25 * (s11 - s22) * (s11 - s22) + s12 * s12);
    return (weighted){fmax(most, 0), 0.5 * fabs(det)};
}

static void add_pressures(tl_cloth_id id, const tl_contact_point *points, int32_t count, int32_t nodes, double *force)
{
    for (int32_t i = 0; i < count; i++) {
        const tl_contact_point *p = &points[i];
        if (p->cloth.slot != id.slot || p->cloth.gen != id.gen || p->body.gen == 0 || p->node >= nodes) continue;
        force[p->node] += fmax(0, tl_dot3(p->force, p->normal));
    }
}

// Distance of every node from the first body, which is all there is while a garment is dressed.
static tl_status find_room(const tl_sim *sim, const tl_cloth_view *v, const double *area, weighted *list, tl_error *err)
{
    tl_body_view b;
    const tl_allocator alloc = tl_allocator_default();
    for (int32_t i = 0; i < v->node_count; i++) list[i] = (weighted){REACH, area[i]};
    if (tl_sim_body_count(sim) == 0 || tl_sim_body_view(sim, tl_sim_body(sim, 0), &b) != TL_OK) return TL_OK;
    int32_t(*edge)[2] = NULL, nodes = 0, edges = 0;
    for (int32_t f = 0; f < b.face_count; f++)
        for (int k = 0; k < 3; k++) nodes = b.face[f][k] >= nodes ? b.face[f][k] + 1 : nodes;
    TL_TRY(tl_unique_edges(&alloc, b.face, b.face_count, &edge, &edges, NULL, err));
    const tl_bvh_def def = tl_bvh_def_default();
    const tl_surface surface = {nodes, b.face_count, edges, b.face, (const int32_t(*)[2])edge};
    tl_bvh *tree = NULL;
    const tl_status status = tl_bvh_create(&alloc, &def, &surface, b.pos, &tree, err);
    if (status == TL_OK) tl_bvh_refit(tree, b.pos, NULL, 0, 0, NULL);
    for (int32_t i = 0, hint = -1; status == TL_OK && i < v->node_count; i++) {
        const tl_nearest_spot near = tl_bvh_nearest(tree, v->pos[i], REACH, hint);
        if (near.face >= 0) hint = near.face, list[i].value = near.distance;
    }
    tl_bvh_destroy(tree);
    TL_FREE(&alloc, edge, edges);
    return status;
}

/// Room for what is measured.
typedef struct work {
    weighted *list;        // by face or by node
    double *force, *area;  // of nodes, zero
} work;

static tl_status measure(const tl_sim *sim, tl_cloth_id id, const tl_material *m, const tl_cloth_view *v, const work *w,
                         tl_drape_fit *out, tl_error *err)
{
    weighted *list = w->list;
    double *area = w->area;
    double three[3], total = 0, touching = 0;
    for (int32_t f = 0; f < v->face_count; f++) {
        list[f] = tension_of(v, m, f);
        for (int k = 0; k < 3; k++) area[v->vert_node[v->face[f][k]]] += list[f].area / 3;
        total += list[f].area;
    }
    summarise(list, v->face_count, three);
    out->tension_mean = three[0], out->tension_95 = three[1], out->tension_max = three[2];
    const int32_t count = tl_sim_contact_points(sim, NULL, 0);
    const tl_allocator alloc = tl_allocator_default();
    tl_contact_point *points = TL_ALLOC(&alloc, tl_contact_point, count);
    if (!points) return tl_fail_memory(err, "the fit");
    tl_sim_contact_points(sim, points, count);
    add_pressures(id, points, count, v->node_count, w->force);
    TL_FREE(&alloc, points, count);
    int32_t n = 0;
    for (int32_t i = 0; i < v->node_count; i++) {
        const double pressure = area[i] > 0 ? w->force[i] / area[i] : 0;
        if (!(pressure > TOUCHING)) continue;
        list[n++] = (weighted){1e-3 * pressure, area[i]};
        touching += area[i];
    }
    summarise(list, n, three);
    out->pressure_mean = three[0], out->pressure_95 = three[1], out->pressure_max = three[2];
    out->touching = total > 0 ? touching / total : 0;
    TL_TRY(find_room(sim, v, area, list, err));
    summarise(list, v->node_count, three);
    out->room_mean = three[0], out->room_95 = three[1];
    return TL_OK;
}

tl_status tl_fit_measure(const tl_sim *sim, tl_cloth_id id, const tl_material *material, const tl_garment *g,
                         tl_drape_fit *out, tl_error *err)
{
    tl_cloth_view v;
    *out = (tl_drape_fit){0};
    if (tl_sim_cloth_view(sim, id, &v) != TL_OK || v.face_count != g->face_count)
        return tl_fail(err, TL_BAD_ARG, "the fit of a cloth that is not there");
    const int32_t most = v.face_count > v.node_count ? v.face_count : v.node_count;
    work w = {TL_ALLOC(&g->alloc, weighted, most), TL_CALLOC(&g->alloc, double, v.node_count),
              TL_CALLOC(&g->alloc, double, v.node_count)};
    const tl_status status =
        w.list && w.force && w.area ? measure(sim, id, material, &v, &w, out, err) : tl_fail_memory(err, "the fit");
    TL_FREE(&g->alloc, w.list, most);
    TL_FREE(&g->alloc, w.force, v.node_count);
    TL_FREE(&g->alloc, w.area, v.node_count);
    return status;
}
