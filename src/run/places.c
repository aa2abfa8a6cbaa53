// run/places.c: a grid over material space, and panels as connected pieces.

#include "run/places.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"

typedef struct piece {
    tl_vec2 lo, hi;
    tl_vec3 middle;  ///< in the world, weighted by material area
    double area;
} piece;

struct tl_places {
    tl_allocator alloc;
    const tl_obj *mesh;
    int32_t *panel_of;  ///< of every vertex
    piece *panel;
    int32_t panel_count;
    tl_vec2 lo;
    double step;  ///< side of a cell
    int32_t nx, ny;
    int32_t *first, *face;  ///< faces whose box meets a cell
    int32_t entry_count;
};

static int32_t root_of(int32_t *up, int32_t v)
{
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
}

static double twice_area(const tl_obj *m, int32_t f)
{
    const tl_vec2 a = m->uv[m->face[f][0]];
    return tl_cross2(tl_sub2(m->uv[m->face[f][1]], a), tl_sub2(m->uv[m->face[f][2]], a));
}

static void find_middles(tl_places *p)
{
    const tl_obj *m = p->mesh;
    for (int32_t i = 0; i < p->panel_count; i++) p->panel[i].area = 0, p->panel[i].middle = (tl_vec3){0};
    for (int32_t f = 0; f < m->face_count; f++) {
        piece *q = &p->panel[p->panel_of[m->face[f][0]]];
        const double area = fabs(twice_area(m, f));
        q->area += area;
        for (int k = 0; k < 3; k++) q->middle = tl_madd3(q->middle, area / 3, m->pos[m->vert_node[m->face[f][k]]]);
    }
    for (int32_t i = 0; i < p->panel_count; i++)
        if (p->panel[i].area > 0) p->panel[i].middle = tl_mul3(1 / p->panel[i].area, p->panel[i].middle);
}

static tl_status find_panels(tl_places *p, tl_error *err)
{
    const tl_obj *m = p->mesh;
    int32_t *up = p->panel_of;
    for (int32_t v = 0; v < m->vert_count; v++) up[v] = v;
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 1; k < 3; k++) {  // the smaller one leads, so panels come in the order of their first vertices
            const int32_t a = root_of(up, m->face[f][0]), b = root_of(up, m->face[f][k]);
            if (a < b)
                up[b] = a;
            else
                up[a] = b;
        }
    for (int32_t v = 0; v < m->vert_count; v++) p->panel_count += root_of(up, v) == v;
    p->panel = TL_CALLOC(&p->alloc, piece, p->panel_count);
    int32_t *number = TL_ALLOC(&p->alloc, int32_t, m->vert_count);
    if (!p->panel || !number) {
        TL_FREE(&p->alloc, number, m->vert_count);
        return tl_fail_memory(err, "panels");
    }
    int32_t count = 0;
    for (int32_t v = 0; v < m->vert_count; v++) number[v] = root_of(up, v) == v ? count++ : number[root_of(up, v)];
    for (int32_t v = 0; v < m->vert_count; v++) up[v] = number[v];
    TL_FREE(&p->alloc, number, m->vert_count);
    for (int32_t i = 0; i < count; i++)
        p->panel[i].lo = (tl_vec2){INFINITY, INFINITY}, p->panel[i].hi = (tl_vec2){-INFINITY, -INFINITY};
    for (int32_t v = 0; v < m->vert_count; v++) {
        piece *q = &p->panel[up[v]];
        q->lo = (tl_vec2){fmin(q->lo.x, m->uv[v].x), fmin(q->lo.y, m->uv[v].y)};
        q->hi = (tl_vec2){fmax(q->hi.x, m->uv[v].x), fmax(q->hi.y, m->uv[v].y)};
    }
    find_middles(p);
    return TL_OK;
}

static int32_t clamp_cell(double t, int32_t n) { return !(t > 0) ? 0 : t >= n ? n - 1 : (int32_t)t; }

static void cells_of(const tl_places *p, int32_t f, int32_t out[4])
{
    const tl_obj *m = p->mesh;
    tl_vec2 lo = m->uv[m->face[f][0]], hi = lo;
    for (int k = 1; k < 3; k++) {
        const tl_vec2 q = m->uv[m->face[f][k]];
        lo = (tl_vec2){fmin(lo.x, q.x), fmin(lo.y, q.y)}, hi = (tl_vec2){fmax(hi.x, q.x), fmax(hi.y, q.y)};
    }
    out[0] = clamp_cell((lo.x - p->lo.x) / p->step, p->nx), out[1] = clamp_cell((hi.x - p->lo.x) / p->step, p->nx);
    out[2] = clamp_cell((lo.y - p->lo.y) / p->step, p->ny), out[3] = clamp_cell((hi.y - p->lo.y) / p->step, p->ny);
}

static tl_status fill_grid(tl_places *p, tl_error *err)
{
    const tl_obj *m = p->mesh;
    tl_vec2 lo = {INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY};
    for (int32_t i = 0; i < p->panel_count; i++) {
        lo = (tl_vec2){fmin(lo.x, p->panel[i].lo.x), fmin(lo.y, p->panel[i].lo.y)};
        hi = (tl_vec2){fmax(hi.x, p->panel[i].hi.x), fmax(hi.y, p->panel[i].hi.y)};
    }
    // about one cell a face, not more than a thousand along a side
    const double w = hi.x - lo.x, h = hi.y - lo.y;
    p->lo = lo;
    p->step = fmax(sqrt(w * h / fmax(1, m->face_count)), fmax(w, h) / 1000);
    if (!(p->step > 0) || !isfinite(p->step)) return tl_fail(err, TL_BAD_INPUT, "a mesh has no extent in the material");
    p->nx = (int32_t)(w / p->step) + 1, p->ny = (int32_t)(h / p->step) + 1;
    const int32_t cells = p->nx * p->ny;
    p->first = TL_CALLOC(&p->alloc, int32_t, cells + 1);
    if (!p->first) return tl_fail_memory(err, "a grid over the material");
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t f = m->face_count - 1; f >= 0; f--) {
            int32_t c[4];
            cells_of(p, f, c);
            for (int32_t j = c[2]; j <= c[3]; j++)
                for (int32_t i = c[0]; i <= c[1]; i++) {
                    if (pass)
                        p->face[--p->first[j * p->nx + i]] = f;
                    else
                        p->first[j * p->nx + i]++;
                }
        }
        if (pass) break;
        int64_t sum = 0;
        for (int32_t i = 0; i < cells; i++) sum += p->first[i], p->first[i] = (int32_t)sum;
        if (sum > INT32_MAX) return tl_fail(err, TL_BAD_INPUT, "material coordinates overlap too much");
        p->first[cells] = p->entry_count = (int32_t)sum;
        p->face = TL_ALLOC(&p->alloc, int32_t, sum);
        if (!p->face) return tl_fail_memory(err, "a grid over the material");
    }
    return TL_OK;
}

tl_status tl_places_create(const tl_allocator *alloc, const tl_obj *mesh, tl_places **out, tl_error *err)
{
    *out = NULL;
    tl_places *p = TL_CALLOC(alloc, tl_places, 1);
    if (!p) return tl_fail_memory(err, "places");
    p->alloc = *alloc, p->mesh = mesh;
    p->panel_of = TL_ALLOC(alloc, int32_t, mesh->vert_count);
    tl_status status = p->panel_of ? find_panels(p, err) : tl_fail_memory(err, "places");
    if (status == TL_OK) status = fill_grid(p, err);
    if (status == TL_OK)
        *out = p;
    else
        tl_places_destroy(p);
    return status;
}

void tl_places_destroy(tl_places *p)
{
    if (!p) return;
    const tl_allocator alloc = p->alloc;
    TL_FREE(&alloc, p->panel_of, p->mesh->vert_count);
    TL_FREE(&alloc, p->panel, p->panel_count);
    TL_FREE(&alloc, p->first, p->nx * p->ny + 1);
    TL_FREE(&alloc, p->face, p->entry_count);
    TL_FREE(&alloc, p, 1);
}

const tl_obj *tl_places_mesh(const tl_places *p) { return p->mesh; }
int32_t tl_places_panel_count(const tl_places *p) { return p->panel_count; }
int32_t tl_places_panel(const tl_places *p, int32_t vert) { return p->panel_of[vert]; }

// Outlines first: where two panels lie on the same coordinates, the world decides.
static double unlikeness(const piece *a, const piece *b)
{
    const double size = tl_norm2(tl_sub2(a->hi, a->lo)) + 1e-12;
    const double outline = tl_norm2(tl_sub2(a->lo, b->lo)) + tl_norm2(tl_sub2(a->hi, b->hi));
    return outline / size + 1e-3 * tl_norm3(tl_sub3(a->middle, b->middle)) / size;
}

tl_status tl_places_match(const tl_places *from, const tl_places *to, int32_t *panel_of, tl_error *err)
{
    const int32_t n = from->panel_count;
    if (n != to->panel_count)
        return tl_fail(err, TL_BAD_INPUT, "one mesh of the cloth has %d panels, another %d", n, to->panel_count);
    uint8_t *taken = TL_CALLOC(&from->alloc, uint8_t, n);
    if (!taken) return tl_fail_memory(err, "panels");
    for (int32_t i = 0; i < n; i++) panel_of[i] = -1;
    for (int32_t round = 0; round < n; round++) {  // the most alike pair that is left
        int32_t a = -1, b = -1;
        double best = INFINITY;
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; panel_of[i] < 0 && k < n; k++) {
                const double d = taken[k] ? INFINITY : unlikeness(&from->panel[i], &to->panel[k]);
                if (a < 0 ? !taken[k] : d < best) best = d, a = i, b = k;
            }
        panel_of[a] = b, taken[b] = 1;
    }
    TL_FREE(&from->alloc, taken, n);
    return TL_OK;
}

// The point of the face nearest to q, its weights, and how far away it is.
static double nearest_in_face(const tl_obj *m, int32_t f, tl_vec2 q, double w[3])
{
    const tl_vec2 x[3] = {m->uv[m->face[f][0]], m->uv[m->face[f][1]], m->uv[m->face[f][2]]};
    const double area = tl_cross2(tl_sub2(x[1], x[0]), tl_sub2(x[2], x[0]));
    if (area != 0) {
        for (int k = 0; k < 3; k++) w[k] = tl_cross2(tl_sub2(x[(k + 1) % 3], q), tl_sub2(x[(k + 2) % 3], q)) / area;
        if (w[0] >= 0 && w[1] >= 0 && w[2] >= 0) return 0;
    }
    double best = INFINITY;
    for (int k = 0; k < 3; k++) {
        const tl_vec2 e = tl_sub2(x[(k + 1) % 3], x[k]);
        const double l2 = tl_dot2(e, e), t = l2 > 0 ? fmin(1, fmax(0, tl_dot2(tl_sub2(q, x[k]), e) / l2)) : 0;
        const double d = tl_norm2(tl_sub2(q, tl_add2(x[k], tl_mul2(t, e))));
        if (d < best) best = d, w[k] = 1 - t, w[(k + 1) % 3] = t, w[(k + 2) % 3] = 0;
    }
    return best;
}

static void look_in(const tl_places *p, int32_t cell, int32_t panel, tl_vec2 q, tl_place *best)
{
    for (int32_t k = p->first[cell]; k < p->first[cell + 1]; k++) {
        const int32_t f = p->face[k];
        double w[3] = {1, 0, 0};
        if (p->panel_of[p->mesh->face[f][0]] != panel) continue;
        const double d = nearest_in_face(p->mesh, f, q, w);
        if (best->face < 0 || d < best->outside) *best = (tl_place){f, {w[0], w[1], w[2]}, d};
        if (d == 0) return;
    }
}

tl_place tl_places_find(const tl_places *p, int32_t panel, tl_vec2 q)
{
    tl_place best = {.face = -1, .outside = INFINITY};
    const int32_t ci = clamp_cell((q.x - p->lo.x) / p->step, p->nx), cj = clamp_cell((q.y - p->lo.y) / p->step, p->ny);
    const int32_t most = p->nx > p->ny ? p->nx : p->ny;
    for (int32_t ring = 0; ring <= most; ring++) {  // cells at distance `ring` are at least (ring - 1) steps away
        if (best.face >= 0 && best.outside <= (ring - 1) * p->step) break;
        for (int32_t j = cj - ring; j <= cj + ring; j++) {
            const bool edge = j == cj - ring || j == cj + ring;
            for (int32_t i = ci - ring; i <= ci + ring; i += edge || ring == 0 ? 1 : 2 * ring)
                if (i >= 0 && i < p->nx && j >= 0 && j < p->ny) {
                    look_in(p, j * p->nx + i, panel, q, &best);
                    if (best.outside == 0) return best;
                }
        }
    }
    return best;
}

tl_vec3 tl_place_point(const tl_obj *m, const tl_place *place, const tl_vec3 *pos)
{
    tl_vec3 x = {0};
    for (int k = 0; k < 3; k++) x = tl_madd3(x, place->weight[k], pos[m->vert_node[m->face[place->face][k]]]);
    return x;
}
