// render/maps.c: strain, size, curvature and speed of a mesh.

#include "render/maps.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "render/stage.h"

typedef struct mat2 {
    double a, b, c, d;
} mat2;  // rows (a b), (c d)

/// Singular values of the linear map with metric m = J^T J (symmetric), larger first.
static void stretches(double m11, double m12, double m22, double out[2])
{
    const double half = (m11 + m22) / 2, r = hypot((m11 - m22) / 2, m12);
    out[0] = sqrt(fmax(half + r, 0)), out[1] = sqrt(fmax(half - r, 0));
}

static bool good_face(const tl_draw_mesh *s, int32_t f)
{
    for (int c = 0; c < 3; c++) {
        const int32_t p = s->face[f][c];
        if (p < 0 || p >= s->pos_count || !tl_finite3(s->pos[p])) return false;
        if (s->face_uv && (s->face_uv[f][c] < 0 || s->face_uv[f][c] >= s->uv_count)) return false;
    }
    return true;
}

/// The face's two edges in material space, or in its own plane when there is none.
static bool flat_edges(const tl_draw_mesh *s, int32_t f, mat2 *out)
{
    if (!good_face(s, f)) return false;
    if (s->face_uv) {
        const tl_vec2 a = s->uv[s->face_uv[f][0]], e1 = tl_sub2(s->uv[s->face_uv[f][1]], a),
                      e2 = tl_sub2(s->uv[s->face_uv[f][2]], a);
        *out = (mat2){e1.x, e2.x, e1.y, e2.y};
    } else {
        const tl_vec3 a = s->pos[s->face[f][0]], e1 = tl_sub3(s->pos[s->face[f][1]], a),
                      e2 = tl_sub3(s->pos[s->face[f][2]], a);
        const double l = tl_norm3(e1);
        if (!(l > 0)) return false;
        const double along = tl_dot3(e1, e2) / l;
        *out = (mat2){l, along, 0, sqrt(fmax(tl_dot3(e2, e2) - along * along, 0))};
    }
    return isfinite(out->a + out->b + out->c + out->d);
}

static double det(const mat2 *m) { return m->a * m->d - m->b * m->c; }

/// Metric F^T F of the map from the material; false without material area.
static bool face_metric(const tl_draw_mesh *s, int32_t f, double out[3])
{
    mat2 m;
    if (!s->face_uv || !flat_edges(s, f, &m)) return false;
    const double d = det(&m);
    if (!(fabs(d) > 0)) return false;
    const tl_vec3 a = s->pos[s->face[f][0]];
    const tl_vec3 e1 = tl_sub3(s->pos[s->face[f][1]], a), e2 = tl_sub3(s->pos[s->face[f][2]], a);
    // F = [e1 e2] M^-1, M^-1 = [d -b; -c a] / det
    const tl_vec3 fu = tl_mul3(1 / d, tl_sub3(tl_mul3(m.d, e1), tl_mul3(m.c, e2)));
    const tl_vec3 fv = tl_mul3(1 / d, tl_sub3(tl_mul3(m.a, e2), tl_mul3(m.b, e1)));
    out[0] = tl_dot3(fu, fu), out[1] = tl_dot3(fu, fv), out[2] = tl_dot3(fv, fv);
    return isfinite(out[0] + out[1] + out[2]);
}

/// Principal stretches of a face, larger first.
static bool face_stretches(const tl_draw_mesh *s, int32_t f, double out[2])
{
    double m[3];
    if (!face_metric(s, f, m)) return false;
    stretches(m[0], m[1], m[2], out);
    return isfinite(out[0] + out[1]);
}

void tl_map_stress(const tl_draw_mesh *s, const double k[4], float *out)
{
    for (int32_t f = 0; f < s->face_count; f++) {
        double m[3];
        out[f] = NAN;
        if (!face_metric(s, f, m)) continue;
        const double e11 = (m[0] - 1) / 2, e12 = m[1] / 2, e22 = (m[2] - 1) / 2;
        const double s11 = k[0] * e11 + k[1] * e22, s22 = k[1] * e11 + k[2] * e22, s12 = k[3] * e12 / 2;
        out[f] = (float)fmax((s11 + s22) / 2 + hypot((s11 - s22) / 2, s12), 0);
    }
}

void tl_map_strain(const tl_draw_mesh *s, float *out)
{
    for (int32_t f = 0; f < s->face_count; f++) {
        double st[2];
        out[f] = NAN;
        if (!face_stretches(s, f, st)) continue;
        out[f] = (float)(st[0] - 1 >= 1 - st[1] ? st[0] - 1 : st[1] - 1);
    }
}

void tl_map_tension(const tl_draw_mesh *s, float *out)
{
    for (int32_t f = 0; f < s->face_count; f++) {
        double st[2];
        out[f] = face_stretches(s, f, st) ? (float)fmax(st[0] - 1, 0) : NAN;
    }
}

tl_extent tl_face_extent(const tl_draw_mesh *s, int32_t f)
{
    mat2 m;
    if (!flat_edges(s, f, &m)) return (tl_extent){0, 0};
    // J = M E^-1 with E the unit equilateral triangle, edges (1, 0) and (1/2, sqrt(3)/2)
    const double r3 = 1.7320508075688772;
    const mat2 j = {m.a, (2 * m.b - m.a) / r3, m.c, (2 * m.d - m.c) / r3};
    double st[2];
    stretches(j.a * j.a + j.c * j.c, j.a * j.b + j.c * j.d, j.b * j.b + j.d * j.d, st);
    return (tl_extent){st[0], st[1]};
}

double tl_face_area(const tl_draw_mesh *s, int32_t f)
{
    mat2 m;
    return flat_edges(s, f, &m) ? fabs(det(&m)) / 2 : 0;
}

void tl_map_level(const tl_draw_mesh *s, double largest, float *out)
{
    for (int32_t f = 0; f < s->face_count; f++) {
        const double area = tl_face_area(s, f);
        out[f] = area > 0 ? (float)fmax(0, round(log2(largest / area))) : NAN;
    }
}

// --- curvature ---------------------------------------------------------------------------------------------

/// Largest principal curvature of a face from the change of the normals along its edges.
static double face_curvature(const tl_vec3 p[3], const tl_vec3f n[3])
{
    const tl_vec3 e1 = tl_sub3(p[1], p[0]), e2 = tl_sub3(p[2], p[0]);
    const double l = tl_norm3(e1);
    if (!(l > 0)) return NAN;
    const tl_vec3 x = tl_mul3(1 / l, e1), z = tl_unit3_or(tl_cross3(e1, e2), (tl_vec3){0, 0, 0});
    const tl_vec3 y = tl_cross3(z, x);
    const double bx = tl_dot3(e2, x), by = tl_dot3(e2, y);
    if (!(by > 1e-9 * l)) return NAN;
    tl_vec3 d[2];
    for (int k = 0; k < 2; k++) {
        const tl_vec3f t = tl_subf(n[k + 1], n[0]);
        d[k] = (tl_vec3){(double)t.x, (double)t.y, (double)t.z};
    }
    // gradient of n in the face's plane: columns along x and y
    const tl_vec3 gx = tl_mul3(1 / l, d[0]), gy = tl_mul3(1 / by, tl_sub3(d[1], tl_mul3(bx / l, d[0])));
    const double s11 = tl_dot3(gx, x), s22 = tl_dot3(gy, y), s12 = (tl_dot3(gx, y) + tl_dot3(gy, x)) / 2;
    return fabs((s11 + s22) / 2) + hypot((s11 - s22) / 2, s12);
}

tl_status tl_map_curvature(const tl_draw_mesh *s, const tl_allocator *alloc, tl_workers *workers, float *out,
                           tl_error *err)
{
    const size_t corners = (size_t)s->face_count * 3;
    tl_vec3f *n = TL_ALLOC(alloc, tl_vec3f, corners);
    double *weight = TL_CALLOC(alloc, double, s->pos_count), *sum = TL_CALLOC(alloc, double, s->pos_count);
    tl_status status = !n || !weight || !sum ? tl_fail_memory(err, "a map of curvature")
                                             : tl_corner_normals(s, alloc, workers, n, err);
    for (int32_t f = 0; status == TL_OK && f < s->face_count; f++) {
        if (!good_face(s, f)) continue;
        const tl_vec3 p[3] = {s->pos[s->face[f][0]], s->pos[s->face[f][1]], s->pos[s->face[f][2]]};
        const double k = face_curvature(p, n + 3 * (size_t)f);
        const double area = tl_norm3(tl_cross3(tl_sub3(p[1], p[0]), tl_sub3(p[2], p[0])));
        if (!isfinite(k)) continue;
        for (int c = 0; c < 3; c++) sum[s->face[f][c]] += area * k, weight[s->face[f][c]] += area;
    }
    for (int32_t i = 0; status == TL_OK && i < s->pos_count; i++)
        out[i] = weight[i] > 0 ? (float)(sum[i] / weight[i]) : NAN;
    TL_FREE(alloc, n, corners);
    TL_FREE(alloc, weight, s->pos_count);
    TL_FREE(alloc, sum, s->pos_count);
    return status;
}

// --- speed -------------------------------------------------------------------------------------------------

void tl_map_speed(const tl_vec3 *vel, int32_t count, float *out)
{
    for (int32_t i = 0; i < count; i++) out[i] = tl_finite3(vel[i]) ? (float)tl_norm3(vel[i]) : NAN;
}

enum { GRID = 128 };

/// Faces of the earlier mesh sorted into a grid over material space.
typedef struct uv_grid {
    tl_vec2 lo;
    double step_x, step_y;
    int32_t first[GRID * GRID + 1];
    int32_t *face;
} uv_grid;

static void cells_of(const uv_grid *g, const tl_draw_mesh *s, int32_t f, int32_t out[4])
{
    double lo_x = INFINITY, lo_y = INFINITY, hi_x = -INFINITY, hi_y = -INFINITY;
    for (int c = 0; c < 3; c++) {
        const tl_vec2 q = s->uv[s->face_uv[f][c]];
        lo_x = fmin(lo_x, q.x), hi_x = fmax(hi_x, q.x), lo_y = fmin(lo_y, q.y), hi_y = fmax(hi_y, q.y);
    }
    const double t[4] = {(lo_x - g->lo.x) / g->step_x, (hi_x - g->lo.x) / g->step_x, (lo_y - g->lo.y) / g->step_y,
                         (hi_y - g->lo.y) / g->step_y};
    for (int k = 0; k < 4; k++) out[k] = !(t[k] > 0) ? 0 : t[k] >= GRID ? GRID - 1 : (int32_t)t[k];
}

static tl_status grid_init(uv_grid *g, const tl_draw_mesh *s, const tl_allocator *alloc, int32_t *entries,
                           tl_error *err)
{
    tl_vec2 hi = {-INFINITY, -INFINITY};
    g->lo = (tl_vec2){INFINITY, INFINITY};
    for (int32_t i = 0; i < s->uv_count; i++) {
        if (!isfinite(s->uv[i].x + s->uv[i].y)) continue;
        g->lo.x = fmin(g->lo.x, s->uv[i].x), g->lo.y = fmin(g->lo.y, s->uv[i].y);
        hi.x = fmax(hi.x, s->uv[i].x), hi.y = fmax(hi.y, s->uv[i].y);
    }
    g->step_x = fmax((hi.x - g->lo.x) / GRID, 1e-12), g->step_y = fmax((hi.y - g->lo.y) / GRID, 1e-12);
    int64_t total = 0;
    for (int pass = 0; pass < 2; pass++) {  // count, then place
        for (int32_t f = 0; f < s->face_count; f++) {
            if (!good_face(s, f)) continue;
            int32_t c[4];
            cells_of(g, s, f, c);
            for (int32_t j = c[2]; j <= c[3]; j++)
                for (int32_t i = c[0]; i <= c[1]; i++) {
                    if (pass)
                        g->face[g->first[j * GRID + i]++] = f;
                    else
                        g->first[j * GRID + i + 1]++, total++;
                }
        }
        if (pass == 0) {
            if (total > INT32_MAX)
                return tl_fail(err, TL_BAD_INPUT, "material coordinates overlap too much to follow points");
            for (int32_t i = 0; i < GRID * GRID; i++) g->first[i + 1] += g->first[i];
            *entries = (int32_t)total;
            g->face = TL_ALLOC(alloc, int32_t, total);
            if (!g->face) return tl_fail_memory(err, "a map of speed");
        }
    }
    // placing moved every start to its end: shift back
    for (int32_t i = GRID * GRID; i > 0; i--) g->first[i] = g->first[i - 1];
    g->first[0] = 0;
    return TL_OK;
}

/// Where material point `q` was; of several panels on the same spot the one nearest to `near`.
static tl_vec3 locate(const uv_grid *g, const tl_draw_mesh *s, tl_vec2 q, tl_vec3 near)
{
    const double tx = (q.x - g->lo.x) / g->step_x, ty = (q.y - g->lo.y) / g->step_y;
    const int32_t i = !(tx > 0) ? 0 : tx >= GRID ? GRID - 1 : (int32_t)tx;
    const int32_t j = !(ty > 0) ? 0 : ty >= GRID ? GRID - 1 : (int32_t)ty;
    tl_vec3 best = {NAN, NAN, NAN};
    double best_far = INFINITY;
    for (int32_t k = g->first[j * GRID + i]; k < g->first[j * GRID + i + 1]; k++) {
        const int32_t f = g->face[k];
        const tl_vec2 a = s->uv[s->face_uv[f][0]], b = tl_sub2(s->uv[s->face_uv[f][1]], a),
                      c = tl_sub2(s->uv[s->face_uv[f][2]], a), d = tl_sub2(q, a);
        const double area = tl_cross2(b, c), u = tl_cross2(d, c) / area, v = tl_cross2(b, d) / area;
        const double slack = 1e-6;  // barycentric: points on an edge belong to both sides
        if (!(u >= -slack && v >= -slack && u + v <= 1 + slack)) continue;
        const tl_vec3 x = tl_madd3(tl_madd3(tl_mul3(1 - u - v, s->pos[s->face[f][0]]), u, s->pos[s->face[f][1]]), v,
                                   s->pos[s->face[f][2]]);
        const double far_ = tl_norm3(tl_sub3(x, near));
        if (far_ < best_far) best = x, best_far = far_;
    }
    return best;
}

tl_status tl_map_speed_between(const tl_draw_mesh *before, const tl_draw_mesh *now, double dt,
                               const tl_allocator *alloc, float *out, tl_error *err)
{
    for (int32_t i = 0; i < now->pos_count; i++) out[i] = NAN;
    if (!now->face_uv || !before->face_uv) {
        if (before->pos_count != now->pos_count) return TL_OK;
        for (int32_t i = 0; i < now->pos_count; i++)
            out[i] = (float)(tl_norm3(tl_sub3(now->pos[i], before->pos[i])) / dt);
        return TL_OK;
    }
    uv_grid *g = TL_CALLOC(alloc, uv_grid, 1);
    if (!g) return tl_fail_memory(err, "a map of speed");
    int32_t entries = 0;
    const tl_status status = grid_init(g, before, alloc, &entries, err);
    for (int32_t f = 0; status == TL_OK && f < now->face_count; f++) {
        if (!good_face(now, f)) continue;
        for (int c = 0; c < 3; c++) {
            const int32_t p = now->face[f][c];
            if (!isnan(out[p])) continue;
            const tl_vec3 was = locate(g, before, now->uv[now->face_uv[f][c]], now->pos[p]);
            out[p] = (float)(tl_norm3(tl_sub3(now->pos[p], was)) / dt);
        }
    }
    TL_FREE(alloc, g->face, entries);
    TL_FREE(alloc, g, 1);
    return status;
}
