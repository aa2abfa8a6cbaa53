// pattern/panel_mesh.c: panels as triangles: where vertices lie on the cloth and in space.

#include "pattern/panel_mesh.h"

#include <math.h>
#include <string.h>

#include "base/def.h"
#include "base/fail.h"
#include "math/elementary.h"
#include "math/vec3.h"

const char *tl_panel_method_name(tl_panel_method method)
{
    static const char *const names[] = {"delaunay", "tfi", "length", "diagonal", "strips", "equal-area"};
    return (int)method >= 0 && method <= TL_PANEL_EQUAL_AREA ? names[method] : NULL;
}

void tl_pattern_mesh_def_init(tl_pattern_mesh_def *def, size_t size)
{
    const tl_pattern_mesh_def defaults = {.edge = 0.02, .panel = -1};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

void tl_pattern_mesh_free(tl_pattern_mesh *m)
{
    if (!m->alloc.resize) return;
    TL_FREE(&m->alloc, m->at, m->vert_cap);
    TL_FREE(&m->alloc, m->uv, m->vert_cap);
    TL_FREE(&m->alloc, m->pos, m->vert_cap);
    TL_FREE(&m->alloc, m->face, m->face_cap);
    TL_FREE(&m->alloc, m->pairs, m->pair_cap);
    TL_FREE(&m->alloc, m->panels, m->panel_cap);
    *m = (tl_pattern_mesh){0};
}

// Room for more vertices in three arrays that grow together.
static tl_status grow_verts(tl_pattern_mesh *m, int32_t more, tl_error *err)
{
    int32_t cap_at = m->vert_cap, cap_uv = m->vert_cap, cap_pos = m->vert_cap;
    const int64_t need = (int64_t)m->vert_count + more;
    if (need > INT32_MAX)
        return tl_fail(err, TL_BAD_INPUT, "the mesh would have more than 2 billion vertices (longer edges?)");
    const bool ok_at = TL_GROW(&m->alloc, m->at, cap_at, need), ok_uv = TL_GROW(&m->alloc, m->uv, cap_uv, need),
               ok_pos = TL_GROW(&m->alloc, m->pos, cap_pos, need);
    if (ok_at && ok_uv && ok_pos) {
        m->vert_cap = cap_at;  // all three grew alike
        return TL_OK;
    }
    // Back to one size, so that one count frees all.
    TL_FREE(&m->alloc, m->at, cap_at);
    TL_FREE(&m->alloc, m->uv, cap_uv);
    TL_FREE(&m->alloc, m->pos, cap_pos);
    m->vert_cap = m->vert_count = 0;
    return tl_fail_memory(err, "vertices");
}

// On the cloth: right side up, so outlines that run clockwise are mirrored; the grain along v.
static tl_vec2 material_point(const tl_panel *p, tl_vec2 at)
{
    const double side = p->area > 0 ? 1 : -1, x = side * at.x;
    if (!p->has_grain) return (tl_vec2){x, at.y};
    const tl_vec2 d = tl_sub2(p->grain[1], p->grain[0]);
    const double n = tl_norm2(d), dx = side * d.x / n, dy = d.y / n;
    return (tl_vec2){x * dy - at.y * dx, x * dx + at.y * dy};
}

static double angle_at(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const tl_vec2 u = tl_sub2(b, a), v = tl_sub2(c, a);
    return fabs(tl_atan2(tl_cross2(u, v), tl_dot2(u, v)));
}

static void add_face(tl_pattern_mesh *m, const int32_t t[3], bool mirrored, tl_panel_mesh *info)
{
    const int32_t b = info->vert;
    const tl_vec2 p = m->at[b + t[0]], q = m->at[b + t[1]], r = m->at[b + t[2]];
    info->area += 0.5 * tl_cross2(tl_sub2(q, p), tl_sub2(r, p));
    info->angle_min_deg =
        fmin(info->angle_min_deg, fmin(angle_at(p, q, r), fmin(angle_at(q, r, p), angle_at(r, p, q))));
    int32_t *f = m->face[m->face_count++];
    f[0] = b + t[0], f[1] = b + t[mirrored ? 2 : 1], f[2] = b + t[mirrored ? 1 : 2];
}

tl_status tl_panel_mesh_add(tl_panel_mesher *m, tl_panel_mesh info, const tl_vec2 *at, int32_t count, int32_t (*tri)[3],
                            int32_t tri_count, tl_error *err)
{
    tl_pattern_mesh *out = m->out;
    const tl_panel *p = tl_pattern_panel(m->pattern, info.panel);
    TL_TRY(grow_verts(out, count, err));
    if (!TL_GROW(&out->alloc, out->face, out->face_cap, (int64_t)out->face_count + tri_count) ||
        !TL_GROW(&out->alloc, out->panels, out->panel_cap, out->panel_count + 1))
        return tl_fail_memory(err, "faces");
    info.vert = out->vert_count, info.vert_count = count, info.face = out->face_count, info.face_count = tri_count;
    info.area = 0, info.angle_min_deg = INFINITY;
    double left = INFINITY, right = -INFINITY;
    for (int32_t i = 0; i < count; i++) left = fmin(left, at[i].x), right = fmax(right, at[i].x);
    for (int32_t i = 0; i < count; i++) {
        const int32_t v = out->vert_count++;
        out->at[v] = at[i];
        out->uv[v] = material_point(p, at[i]);
        out->pos[v] =
            p->placed ? tl_placement_point(&p->placement, at[i]) : (tl_vec3){at[i].x - left + m->flat_x, at[i].y, 0};
    }
    if (!p->placed) m->flat_x += right - left + 0.05;
    for (int32_t t = 0; t < tri_count; t++) add_face(out, tri[t], p->area < 0, &info);
    info.angle_min_deg *= 180 / 3.14159265358979323846;
    out->panels[out->panel_count++] = info;
    return TL_OK;
}

tl_status tl_panel_mesh_pair(tl_panel_mesher *m, int32_t seam, int32_t a, int32_t b, tl_error *err)
{
    tl_pattern_mesh *out = m->out;
    if (a == b) return TL_OK;                                                       // the point of a dart
    for (int32_t i = out->pair_count - 1; i >= 0 && i >= out->pair_count - 4; i--)  // where two stretches meet
        if (out->pairs[i].seam == seam && out->pairs[i].a == a && out->pairs[i].b == b) return TL_OK;
    if (!TL_GROW(&out->alloc, out->pairs, out->pair_cap, out->pair_count + 1))
        return tl_fail_memory(err, "pairs of seams");
    out->pairs[out->pair_count++] = (tl_seam_pair){seam, a, b};
    return TL_OK;
}

tl_status tl_pattern_mesh_make(const tl_allocator *alloc, const tl_pattern *pattern, const tl_pattern_mesh_def *given,
                               tl_pattern_mesh *out, tl_error *err)
{
    if (!pattern || !out) return tl_fail(err, TL_BAD_ARG, "pattern_mesh: pattern or out is NULL");
    const tl_allocator a = alloc ? *alloc : tl_allocator_default();
    *out = (tl_pattern_mesh){.alloc = a};
    TL_DEF_COMPLETE(tl_pattern_mesh_def, full, given, err);
    const tl_pattern_mesh_def *def = &full;
    if (!pattern->closed)
        return tl_fail(err, TL_BAD_ARG, "pattern_mesh: the pattern has not been checked (call tl_pattern_check)");
    if (!tl_panel_method_name(def->method))
        return tl_fail(err, TL_BAD_ARG, "pattern_mesh: method %d is not known", (int)def->method);
    if (!(def->edge >= 1e-5 && def->edge <= 10))
        return tl_fail(err, TL_BAD_ARG, "pattern_mesh: edge %g m, must be in [1e-05, 10]", def->edge);
    if (def->cells_u < 0 || def->cells_v < 0 || def->cells_u > 10000 || def->cells_v > 10000 ||
        !def->cells_u != !def->cells_v)
        return tl_fail(err, TL_BAD_ARG, "pattern_mesh: %d x %d cells, must be 1 to 10000 each, or 0 x 0", def->cells_u,
                       def->cells_v);
    if (def->panel < -1 || def->panel >= pattern->panel_count)
        return tl_fail(err, TL_BAD_ARG, "pattern_mesh: panel %d, must be -1 or in [0, %d)", def->panel,
                       pattern->panel_count);
    double area = 0;
    for (int32_t i = 0; i < pattern->panel_count; i++)
        if (def->panel < 0 || def->panel == i) area += fabs(pattern->panels[i].view.area);
    const double faces = area / (0.433 * def->edge * def->edge),
                 most = 2e8;  // a triangle of equal sides has 0.433 of their square
    if (def->cells_u == 0 && faces > most)
        return tl_fail(err, TL_BAD_INPUT,
                       "pattern_mesh: edges of %g m give about %.2g faces, more than %g (longer edges?)", def->edge,
                       faces, most);
    tl_panel_mesher m = {.alloc = a, .pattern = pattern, .def = def, .out = out};
    tl_status status = tl_outlines_make(&a, pattern, def->edge, &m.outlines, err);
    if (status == TL_OK)
        status = def->method == TL_PANEL_DELAUNAY ? tl_panel_delaunay(&m, err) : tl_panel_grids(&m, err);
    tl_outlines_free(&m.outlines);
    if (status != TL_OK) tl_pattern_mesh_free(out);
    return status;
}
