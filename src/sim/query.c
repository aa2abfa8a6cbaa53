// sim/query.c: rays, nearest points and contacts, for hosts. Every face is tested: a pick takes 0.1 ms for 10,000
// faces, and no data structure has to be kept up to date for it.

#include "toile/query.h"

#include <math.h>

#include "sim/internal.h"
#include "toile/collide.h"

/// A surface as the views show it.
typedef struct surface {
    const tl_vec3 *pos;
    const int32_t (*face)[3];
    const int32_t *vert_node;  // faces are of vertices; NULL: of nodes
    int32_t face_count;
    tl_cloth_id cloth;
    tl_body_id body;
} surface;

static void corners(const surface *s, int32_t f, int32_t node[3], tl_vec3 x[3])
{
    for (int k = 0; k < 3; k++) {
        node[k] = s->vert_node ? s->vert_node[s->face[f][k]] : s->face[f][k];
        x[k] = s->pos[node[k]];
    }
}

static void fill(const surface *s, int32_t f, const double weight[3], double distance, tl_hit *out)
{
    int32_t node[3];
    tl_vec3 x[3];
    corners(s, f, node, x);
    *out = (tl_hit){.cloth = s->cloth, .body = s->body, .face = f, .distance = distance};
    int nearest = 0;
    for (int k = 0; k < 3; k++) {
        out->barycentric[k] = weight[k];
        out->point = tl_madd3(out->point, weight[k], x[k]);
        if (weight[k] > weight[nearest]) nearest = k;
    }
    out->node = node[nearest];
    out->normal = tl_unit3_or(tl_cross3(tl_sub3(x[1], x[0]), tl_sub3(x[2], x[0])), (tl_vec3){0, 1, 0});
}

// Moeller and Trumbore 1997. True if the ray meets the triangle before `reach`, which becomes where.
static bool meets(tl_vec3 origin, tl_vec3 d, const tl_vec3 x[3], double *reach, double weight[3])
{
    const tl_vec3 a = tl_sub3(x[1], x[0]), b = tl_sub3(x[2], x[0]), p = tl_cross3(d, b);
    const double det = tl_dot3(a, p);
    if (det == 0) return false;
    const tl_vec3 s = tl_sub3(origin, x[0]), q = tl_cross3(s, a);
    const double u = tl_dot3(s, p) / det, v = tl_dot3(d, q) / det, t = tl_dot3(b, q) / det;
    if (!(u >= 0 && v >= 0 && u + v <= 1 && t >= 0 && t < *reach)) return false;
    weight[0] = 1 - u - v, weight[1] = u, weight[2] = v, *reach = t;
    return true;
}

// Surface i of cloths and bodies that the mask asks for; false: left out.
static bool surface_at(const tl_sim *sim, int32_t i, uint32_t mask, surface *out)
{
    if (i < sim->cloth_count) {
        tl_cloth_view view;
        const tl_cloth_id id = tl_sim_cloth(sim, i);
        if (!(mask & TL_QUERY_CLOTHS) || tl_sim_cloth_view(sim, id, &view) != TL_OK) return false;
        *out = (surface){view.pos, view.face, view.vert_node, view.face_count, id, {0, 0}};
        return true;
    }
    tl_body_view view;
    const tl_body_id id = tl_sim_body(sim, i - sim->cloth_count);
    if (!(mask & TL_QUERY_BODIES) || tl_sim_body_view(sim, id, &view) != TL_OK || !view.present) return false;
    *out = (surface){view.pos, view.face, NULL, view.face_count, {0, 0}, id};
    return true;
}

int32_t tl_sim_ray(const tl_sim *sim, tl_vec3 origin, tl_vec3 direction, double reach, uint32_t mask, tl_hit *out)
{
    *out = (tl_hit){.distance = reach};
    const double length = tl_norm3(direction);
    if (!(length > 0) || !isfinite(length) || !tl_finite3(origin)) return 0;
    const tl_vec3 d = tl_mul3(1 / length, direction);
    int32_t found = 0;
    for (int32_t i = 0; i < sim->cloth_count + sim->body_count; i++) {
        surface s;
        if (!surface_at(sim, i, mask, &s)) continue;
        for (int32_t f = 0; f < s.face_count; f++) {
            int32_t node[3];
            tl_vec3 x[3];
            double weight[3];
            corners(&s, f, node, x);
            if (!meets(origin, d, x, &reach, weight)) continue;
            fill(&s, f, weight, reach, out);
            found = 1;
        }
    }
    return found;
}

int32_t tl_sim_nearest(const tl_sim *sim, tl_vec3 point, double reach, uint32_t mask, tl_hit *out)
{
    *out = (tl_hit){.distance = reach};
    int32_t found = 0;
    for (int32_t i = 0; i < sim->cloth_count + sim->body_count; i++) {
        surface s;
        if (i >= sim->cloth_count && sim->bodies[i - sim->cloth_count].kind == TL_BODY_PLANE) continue;
        if (!surface_at(sim, i, mask, &s)) continue;
        for (int32_t f = 0; f < s.face_count; f++) {
            int32_t node[3];
            tl_vec3 x[4] = {point};
            corners(&s, f, node, x + 1);
            const tl_nearest near = tl_nearest_vertex_face(x);
            if (!(near.distance < out->distance)) continue;
            const double weight[3] = {fabs(near.weight[1]), fabs(near.weight[2]), fabs(near.weight[3])};
            fill(&s, f, weight, near.distance, out);
            found = 1;
        }
    }
    return found;
}

// The cloth of a node of the elements, and its number there.
static tl_cloth_id cloth_of(const tl_sim *sim, int32_t node, int32_t *number)
{
    const tl_elements *e = sim->elements;
    const int32_t slot = e->slot_of_node[node];
    int32_t c = 0;
    while (c + 1 < e->cloth_count && slot >= e->cloth_node_start[c + 1]) c++;
    *number = slot - e->cloth_node_start[c];
    return tl_sim_cloth(sim, c);
}

// Bodies of contacts are numbered among those that are present.
static tl_body_id body_of(const tl_sim *sim, int32_t present)
{
    for (int32_t i = 0; i < sim->body_count; i++)
        if (sim->bodies[i].present && present-- == 0) return tl_sim_body(sim, i);
    return (tl_body_id){0, 0};
}

int32_t tl_sim_contact_points(const tl_sim *sim, tl_contact_point *out, int32_t capacity)
{
    if (!sim->contacts || !sim->elements) return 0;
    const int32_t count = tl_contacts_active_count(sim->contacts);
    for (int32_t i = 0; i < count && i < capacity; i++) {
        const tl_contact_item item = tl_contacts_item(sim->contacts, i, sim->x);
        int32_t unused;
        out[i] = (tl_contact_point){.point = item.point,
                                    .normal = item.normal,
                                    .gap = item.gap,
                                    .thickness = item.thickness,
                                    .force = item.force};
        out[i].cloth = cloth_of(sim, item.node, &out[i].node);
        if (item.other_node >= 0)
            out[i].other_cloth = cloth_of(sim, item.other_node, &unused);
        else
            out[i].body = body_of(sim, item.body);
    }
    return count;
}
