// respond/push_out/grid.c: faces of a rigid body in cells of its own frame (Simnett 2012, sec. 4.4). A cell lists the
// faces that meet it by the exact test of a triangle and a box; a node's path is followed from cell to cell.

#include <math.h>

#include "base/alloc.h"
#include "respond/push_out/search_impl.h"

#define ROUNDING 1e-9  // part of a cell

typedef struct filling {
    const tl_search *s;
    search_grid *g;
} filling;

static void index_of(const search_grid *g, tl_vec3 p, int32_t out[3])
{
    const double x[3] = {(p.x - g->lo.x) / g->cell.x, (p.y - g->lo.y) / g->cell.y, (p.z - g->lo.z) / g->cell.z};
    for (int k = 0; k < 3; k++) {
        const double i = floor(x[k]);
        out[k] = i < 0 ? 0 : i >= g->n ? g->n - 1 : (int32_t)i;
    }
}

// Do the shadows of a triangle (about the middle of the box) and the box on an axis meet?
static bool meet_along(tl_vec3 axis, const tl_vec3 v[3], tl_vec3 half)
{
    const double a = tl_dot3(axis, v[0]), b = tl_dot3(axis, v[1]), c = tl_dot3(axis, v[2]),
                 r = fabs(axis.x) * half.x + fabs(axis.y) * half.y + fabs(axis.z) * half.z;
    return fmin(a, fmin(b, c)) <= r && fmax(a, fmax(b, c)) >= -r;
}

static bool meets(const tl_vec3 x[3], tl_vec3 center, tl_vec3 half)
{
    tl_vec3 v[3];
    for (int k = 0; k < 3; k++) v[k] = tl_sub3(x[k], center);
    const tl_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < 3; k++)
        if (!meet_along(unit[k], v, half)) return false;
    if (!meet_along(tl_cross3(tl_sub3(v[1], v[0]), tl_sub3(v[2], v[0])), v, half)) return false;
    for (int e = 0; e < 3; e++)
        for (int k = 0; k < 3; k++)
            if (!meet_along(tl_cross3(tl_sub3(v[(e + 1) % 3], v[e]), unit[k]), v, half)) return false;
    return true;
}

static int32_t cell_at(const search_grid *g, int32_t i, int32_t j, int32_t k) { return (k * g->n + j) * g->n + i; }

static void fill_face(void *self, int32_t face, search_lists *lists)
{
    const filling *f = self;
    const search_grid *g = f->g;
    tl_vec3 x[3], lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        x[k] = tl_frame_into(&g->part.at, f->s->def.rest[f->s->def.face[face][k]]);
        lo = (tl_vec3){fmin(lo.x, x[k].x), fmin(lo.y, x[k].y), fmin(lo.z, x[k].z)};
        hi = (tl_vec3){fmax(hi.x, x[k].x), fmax(hi.y, x[k].y), fmax(hi.z, x[k].z)};
    }
    int32_t a[3], b[3];
    index_of(g, tl_madd3(lo, -ROUNDING, g->cell), a), index_of(g, tl_madd3(hi, ROUNDING, g->cell), b);
    const tl_vec3 half = tl_mul3(0.5 + ROUNDING, g->cell);
    for (int32_t k = a[2]; k <= b[2]; k++)
        for (int32_t j = a[1]; j <= b[1]; j++)
            for (int32_t i = a[0]; i <= b[0]; i++) {
                const tl_vec3 center = {g->lo.x + (i + 0.5) * g->cell.x, g->lo.y + (j + 0.5) * g->cell.y,
                                        g->lo.z + (k + 0.5) * g->cell.z};
                if (meets(x, center, half)) search_lists_put(lists, cell_at(g, i, j, k), face);
            }
}

tl_status search_grid_make(tl_search *s, search_grid *g, bool *fits, tl_error *err)
{
    const tl_search_def *def = &s->def;
    TL_TRY(search_part_make(&s->alloc, def, NULL, def->face_count, &g->part, fits, err));
    if (!*fits) return TL_OK;
    tl_vec3 lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < g->part.node_count; i++) {
        const tl_vec3 p = g->part.local[i];
        lo = (tl_vec3){fmin(lo.x, p.x), fmin(lo.y, p.y), fmin(lo.z, p.z)};
        hi = (tl_vec3){fmax(hi.x, p.x), fmax(hi.y, p.y), fmax(hi.z, p.z)};
    }
    // flat ones have a thickness, too
    const double least = 1e-6 * tl_norm3(tl_sub3(hi, lo));
    g->n = def->cells, g->lo = tl_sub3(lo, (tl_vec3){least, least, least});
    g->cell = tl_mul3(1.0 / g->n, tl_add3(tl_sub3(hi, lo), (tl_vec3){2 * least, 2 * least, 2 * least}));
    filling f = {s, g};
    return search_lists_make(&s->alloc, g->n * g->n * g->n, NULL, def->face_count, fill_face, &f, &g->lists, err);
}

void search_grid_free(const tl_allocator *alloc, search_grid *g)
{
    search_lists_free(alloc, &g->lists);
    search_part_free(alloc, &g->part);
}

static double outside(double x, double lo, double size) { return fmax(0, fmax(lo - x, x - lo - size)); }

static void visit_cell(const search_grid *g, const int32_t at[3], tl_vec3 p, const search_ball *ball)
{
    const int32_t c = cell_at(g, at[0], at[1], at[2]);
    if (g->lists.start[c] == g->lists.start[c + 1]) return;
    const double x = outside(p.x, g->lo.x + at[0] * g->cell.x, g->cell.x),
                 y = outside(p.y, g->lo.y + at[1] * g->cell.y, g->cell.y),
                 z = outside(p.z, g->lo.z + at[2] * g->cell.z, g->cell.z),
                 most = (ball->left(ball->self) + g->part.slack) * (1 + ROUNDING) + ROUNDING * g->cell.x;
    if (x * x + y * y + z * z > most * most) return;
    for (int32_t i = g->lists.start[c]; i < g->lists.start[c + 1]; i++) ball->take(ball->self, g->lists.face[i]);
}

void search_grid_visit(const search_grid *g, const search_ball *ball)
{
    const tl_vec3 p = tl_frame_into(&g->part.at, ball->center);
    const double r = (ball->radius + g->part.slack) * (1 + ROUNDING);
    const tl_vec3 around = {r, r, r}, top = tl_madd3(g->lo, g->n, g->cell);
    if (p.x + r < g->lo.x || p.y + r < g->lo.y || p.z + r < g->lo.z || p.x - r > top.x || p.y - r > top.y ||
        p.z - r > top.z)
        return;
    int32_t home[3], a[3], b[3];
    index_of(g, p, home), index_of(g, tl_sub3(p, around), a), index_of(g, tl_add3(p, around), b);
    visit_cell(g, home, p, ball);  // what is found there makes the ball smaller
    int32_t at[3];
    for (at[2] = a[2]; at[2] <= b[2]; at[2]++)
        for (at[1] = a[1]; at[1] <= b[1]; at[1]++)
            for (at[0] = a[0]; at[0] <= b[0]; at[0]++)
                if (at[0] != home[0] || at[1] != home[1] || at[2] != home[2]) visit_cell(g, at, p, ball);
}

// From cell to cell, always across the side that the path reaches first.
int32_t search_grid_path(const search_grid *g, tl_vec3 from, tl_vec3 to, int32_t *faces, int32_t max)
{
    const tl_vec3 p = tl_frame_into(&g->part.at, from), q = tl_frame_into(&g->part.at, to);
    const double x[3] = {p.x, p.y, p.z}, d[3] = {q.x - p.x, q.y - p.y, q.z - p.z}, lo[3] = {g->lo.x, g->lo.y, g->lo.z},
                 size[3] = {g->cell.x, g->cell.y, g->cell.z};
    // the part of the path within the grid
    double begin = 0, end = 1;
    for (int k = 0; k < 3; k++) {
        const double a = (lo[k] - x[k]) / d[k], b = (lo[k] + g->n * size[k] - x[k]) / d[k];
        if (d[k] == 0) {
            if (x[k] < lo[k] || x[k] > lo[k] + g->n * size[k]) return 0;
            continue;
        }
        begin = fmax(begin, fmin(a, b)), end = fmin(end, fmax(a, b));
    }
    if (!(begin <= end)) return 0;
    int32_t at[3], count = 0;
    double next[3];
    index_of(g, tl_madd3(p, begin, tl_sub3(q, p)), at);
    for (int k = 0; k < 3; k++) next[k] = d[k] == 0 ? INFINITY : (lo[k] + (at[k] + (d[k] > 0)) * size[k] - x[k]) / d[k];
    for (;;) {
        const int32_t c = cell_at(g, at[0], at[1], at[2]);
        for (int32_t i = g->lists.start[c]; i < g->lists.start[c + 1]; i++, count++)
            if (count < max) faces[count] = g->lists.face[i];
        const int k = next[0] <= next[1] && next[0] <= next[2] ? 0 : next[1] <= next[2] ? 1 : 2;
        if (!(next[k] <= end)) return count;
        at[k] += d[k] > 0 ? 1 : -1;
        if (at[k] < 0 || at[k] >= g->n) return count;
        next[k] += size[k] / fabs(d[k]);
    }
}
