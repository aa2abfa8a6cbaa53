// scene/scene_rest.c: where the unstretched lengths of a cloth come from, and notes on scenes that are likely a slip.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "mesh/unfold.h"
#include "scene/scene.h"

// ---- rest -------------------------------------------------------------------------------------------------

// Flat in a plane of constant z and seen from the front: x, y are the lengths, and the numbers stay as they are.
static bool lies_flat(const tl_obj *m)
{
    for (int32_t i = 1; i < m->node_count; i++)
        if (m->pos[i].z != m->pos[0].z) return false;
    for (int32_t f = 0; f < m->face_count; f++) {
        const int32_t *v = m->face[f];
        if (!(tl_cross2(tl_sub2(m->uv[v[1]], m->uv[v[0]]), tl_sub2(m->uv[v[2]], m->uv[v[0]])) > 0)) return false;
    }
    return true;
}

static tl_status rest_from_world(tl_scene_cloth *cloth, tl_notes *notes, tl_error *err)
{
    tl_obj *m = &cloth->mesh;
    const tl_allocator *alloc = &m->alloc;
    const int32_t corners = 3 * m->face_count;
    int32_t(*face)[3] = tl_alloc_bytes(alloc, (size_t)m->face_count, sizeof *face);
    tl_vec2 *uv = TL_ALLOC(alloc, tl_vec2, corners);
    int32_t *vert_node = TL_ALLOC(alloc, int32_t, corners);
    tl_status status = face && uv && vert_node ? TL_OK : tl_fail_memory(err, "material coordinates");
    tl_unfolding u = {.pos = m->pos,
                      .node_count = m->node_count,
                      .face_count = m->face_count,
                      .face = (const int32_t(*)[3])face,
                      .uv = uv,
                      .vert_node = vert_node,
                      .vert = face};
    for (int32_t c = 0; status == TL_OK && c < corners; c++) face[c / 3][c % 3] = m->vert_node[m->face[c / 3][c % 3]];
    if (status == TL_OK) status = tl_unfold(alloc, &u, err);
    if (status != TL_OK) {
        TL_FREE(alloc, face, m->face_count);
        TL_FREE(alloc, uv, corners);
        TL_FREE(alloc, vert_node, corners);
        return status;
    }
    memcpy(m->face, face, (size_t)m->face_count * sizeof *face);
    TL_FREE(alloc, face, m->face_count);
    TL_FREE(alloc, m->uv, m->uv_cap);
    TL_FREE(alloc, m->vert_node, m->vert_cap);
    m->uv = uv, m->vert_node = vert_node, m->uv_cap = m->vert_cap = corners, m->vert_count = u.vert_count;
    if (u.cuts > 0)
        tl_notes_add(notes, "",
                     "%.200s: cannot be laid flat in one piece, %d edges become seams and lengths are kept to %.2g %%",
                     cloth->origin, u.cuts, 100 * u.strain);
    return TL_OK;
}

// One factor along u and one along v: those with which the map to space has unit length on the mean over the area.
static tl_status scale_uv(tl_scene_cloth *cloth, tl_error *err)
{
    tl_obj *m = &cloth->mesh;
    double uu = 0, vv = 0, area = 0;
    for (int32_t f = 0; f < m->face_count; f++) {
        const int32_t *c = m->face[f];
        const tl_vec3 x0 = m->pos[m->vert_node[c[0]]], p = tl_sub3(m->pos[m->vert_node[c[1]]], x0),
                      q = tl_sub3(m->pos[m->vert_node[c[2]]], x0);
        const tl_vec2 a = tl_sub2(m->uv[c[1]], m->uv[c[0]]), b = tl_sub2(m->uv[c[2]], m->uv[c[0]]);
        const double det = tl_cross2(a, b), weight = fabs(det);
        const tl_vec3 fu = tl_mul3(1 / det, tl_sub3(tl_mul3(b.y, p), tl_mul3(a.y, q)));
        const tl_vec3 fv = tl_mul3(1 / det, tl_sub3(tl_mul3(a.x, q), tl_mul3(b.x, p)));
        uu += weight * tl_dot3(fu, fu), vv += weight * tl_dot3(fv, fv), area += weight;
    }
    const double su = sqrt(uu / area), sv = sqrt(vv / area);
    if (!isfinite(su) || !isfinite(sv) || !(su > 0) || !(sv > 0))
        return tl_fail(err, TL_BAD_INPUT, "%.200s: vt cannot be scaled to the mesh (it has no area in space)",
                       cloth->origin);
    for (int32_t i = 0; i < m->vert_count; i++) m->uv[i].x *= su, m->uv[i].y *= sv;
    return TL_OK;
}

tl_status tl_scene_take_rest(tl_scene_cloth *cloth, int32_t rest, tl_notes *notes, tl_error *err)
{
    const bool has_uv = cloth->mesh.has_uv;
    if (rest >= 0 && rest != TL_REST_WORLD && !has_uv)
        return tl_fail(err, TL_BAD_INPUT, "%.200s: has no vt (take \"rest\": \"world\", or leave it out)",
                       cloth->origin);
    if (rest < 0) rest = has_uv ? TL_REST_UV : TL_REST_WORLD;
    if (rest == TL_REST_UV_SCALED) return scale_uv(cloth, err);
    if (rest == TL_REST_UV || (!has_uv && lies_flat(&cloth->mesh))) return TL_OK;
    return rest_from_world(cloth, notes, err);
}

// ---- doubts -----------------------------------------------------------------------------------------------

#define LARGE 10.0          // [m]
#define SMALL 0.01          // [m]
#define STRAINED 0.1        // a start with more strain than this
#define STRAINED_AREA 0.01  // in more than this part of the area is worth a word: single odd faces are not

static double longest_side(const tl_vec3 *pos, size_t count, double scale)
{
    tl_vec3 low = pos[0], high = pos[0];
    for (size_t i = 1; i < count; i++) {
        low = (tl_vec3){fmin(low.x, pos[i].x), fmin(low.y, pos[i].y), fmin(low.z, pos[i].z)};
        high = (tl_vec3){fmax(high.x, pos[i].x), fmax(high.y, pos[i].y), fmax(high.z, pos[i].z)};
    }
    const tl_vec3 size = tl_sub3(high, low);
    return scale * fmax(size.x, fmax(size.y, size.z));
}

static void doubt_size(tl_scene *scene, const char *what, const char *name, double size, double scale)
{
    if (size > LARGE)
        tl_notes_add(&scene->notes, "",
                     "%s %s is %.*f m large, and lengths are in metres: for a model in centimetres set its "
                     "transform.scale to %g, in millimetres to %g",
                     what, name, size < 100, size, 0.01 * scale, 0.001 * scale);
    else if (size < SMALL)
        tl_notes_add(
            &scene->notes, "",
            "%s %s is only %.3g mm large, and lengths are in metres: set its transform.scale to %g if that is not "
            "meant",
            what, name, 1e3 * size, 1000 * scale);
}

static void doubt_strain(tl_scene *scene, const tl_scene_cloth *cloth)
{
    const tl_obj *m = &cloth->mesh;
    double area = 0, strained = 0, least = 0, most = 0;
    for (int32_t f = 0; f < m->face_count; f++) {
        const int32_t *v = m->face[f];
        const tl_vec2 uv[3] = {m->uv[v[0]], m->uv[v[1]], m->uv[v[2]]};
        const tl_vec3 x[3] = {m->pos[m->vert_node[v[0]]], m->pos[m->vert_node[v[1]]], m->pos[m->vert_node[v[2]]]};
        double low, high;
        if (!tl_triangle_strain(uv, x, &low, &high)) continue;  // refused later, with its own message
        const double size = tl_cross2(tl_sub2(uv[1], uv[0]), tl_sub2(uv[2], uv[0]));
        area += size;
        if (fmax(-low, high) > STRAINED) strained += size;
        least = fmin(least, low), most = fmax(most, high);
    }
    if (!(strained > STRAINED_AREA * area)) return;
    tl_notes_add(
        &scene->notes, "",
        "cloth %s starts strained by %+.0f %% to %+.0f %%, more than 10 %% in %.0f %% of its area: its vt are not "
        "the flat cloth in metres (\"rest\": \"uv-scaled\" scales them to the mesh, \"rest\": \"world\" takes "
        "lengths from it, \"rest\": \"uv\" says that it is meant so)",
        cloth->name, 100 * least, 100 * most, 100 * strained / area);
}

// Of a box the shortest side counts, since floors are often made of one; -1: any size will do.
static double body_size(const tl_scene_obstacle *o)
{
    const tl_obstacle_file *f = &o->file;
    switch (o->kind) {
    case TL_BODY_MESH: return o->mesh.node_count > 0 ? longest_side(o->mesh.pos, (size_t)o->mesh.node_count, 1) : -1;
    case TL_BODY_SPHERE: return 2 * f->sphere.radius;
    case TL_BODY_CAPSULE: return 2 * f->capsule.radius + tl_norm3(tl_sub3(f->capsule.to, f->capsule.from));
    case TL_BODY_CYLINDER: return fmax(2 * f->cylinder.radius, tl_norm3(tl_sub3(f->cylinder.to, f->cylinder.from)));
    case TL_BODY_BOX: {
        const tl_vec3 d = tl_sub3(f->box.max, f->box.min);
        const double least = fmin(d.x, fmin(d.y, d.z)), most = fmax(d.x, fmax(d.y, d.z));
        return most < SMALL ? most : fmax(least, SMALL);
    }
    case TL_BODY_PLANE: break;
    }
    return -1;
}

void tl_scene_doubt(tl_scene *scene)
{
    for (int32_t i = 0; i < scene->cloth_count; i++) {
        const tl_scene_cloth *c = &scene->cloths[i];
        const double scale = c->file.transform.scale;
        doubt_size(scene, "cloth", c->name, longest_side(c->mesh.pos, (size_t)c->mesh.node_count, scale), scale);
        if (c->from_file && c->file.rest != TL_REST_UV && !scene->foreign)
            doubt_strain(scene, c);  // ARCSim has patterns
    }
    for (int32_t i = 0; i < scene->obstacle_count; i++) {
        const tl_scene_obstacle *o = &scene->obstacles[i];
        const double scale = o->file.transform.scale;
        const double size = body_size(o);
        if (size >= 0) doubt_size(scene, "obstacle", o->name, scale * size, scale);
    }
}
