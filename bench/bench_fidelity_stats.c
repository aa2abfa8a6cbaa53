// bench/bench_fidelity_stats.c: figures of a cloth's shape that do not depend on its mesh: curvature, wrinkles,
// outline.

#include "bench_fidelity_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAIL 4.0      // of the Gaussian, in standard deviations: 6e-5 of it are beyond
#define ON_EDGE 1e-9  // barycentric: samples on an edge belong to both faces

// --- vectors ----------------------------------------------------------------------------------------------

static tl_vec3 add(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static tl_vec3 sub(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static tl_vec3 scale(tl_vec3 a, double s) { return (tl_vec3){a.x * s, a.y * s, a.z * s}; }
static double dot(tl_vec3 a, tl_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static tl_vec3 cross(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static tl_vec3 unit(tl_vec3 a)
{
    const double length = sqrt(dot(a, a));
    return length > 0 ? scale(a, 1 / length) : a;
}

// --- samples ----------------------------------------------------------------------------------------------

bool shape_grid_make(int32_t nu, int32_t nv, double step, shape_grid *g)
{
    *g = (shape_grid){nu, nv, step, calloc((size_t)nu * (size_t)nv, sizeof *g->pos)};
    return g->pos != NULL;
}

void shape_grid_free(shape_grid *g)
{
    free(g->pos);
    *g = (shape_grid){0};
}

static void material_bounds(const tl_cloth_view *cloth, tl_vec2 *low, tl_vec2 *high)
{
    *low = (tl_vec2){INFINITY, INFINITY}, *high = (tl_vec2){-INFINITY, -INFINITY};
    for (int32_t i = 0; i < cloth->vert_count; i++) {
        const tl_vec2 p = cloth->uv[i];
        *low = (tl_vec2){fmin(low->x, p.x), fmin(low->y, p.y)};
        *high = (tl_vec2){fmax(high->x, p.x), fmax(high->y, p.y)};
    }
}

static int32_t clamp(double value, int32_t low, int32_t high)
{
    return !(value > low) ? low : value > high ? high : (int32_t)value;  // not a number: low
}

// Places of the cells whose middles are in face `f`.
static void sample_face(const tl_cloth_view *cloth, int32_t f, tl_vec2 low, shape_grid *g)
{
    const int32_t *c = cloth->face[f];
    tl_vec2 p[3];
    for (int k = 0; k < 3; k++)  // in cells
        p[k] = (tl_vec2){(cloth->uv[c[k]].x - low.x) / g->step - 0.5, (cloth->uv[c[k]].y - low.y) / g->step - 0.5};
    const double area = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[1].y - p[0].y) * (p[2].x - p[0].x);
    if (area == 0) return;
    const int32_t i0 = clamp(floor(fmin(p[0].x, fmin(p[1].x, p[2].x))), 0, g->nu - 1);
    const int32_t i1 = clamp(ceil(fmax(p[0].x, fmax(p[1].x, p[2].x))), 0, g->nu - 1);
    const int32_t j0 = clamp(floor(fmin(p[0].y, fmin(p[1].y, p[2].y))), 0, g->nv - 1);
    const int32_t j1 = clamp(ceil(fmax(p[0].y, fmax(p[1].y, p[2].y))), 0, g->nv - 1);
    for (int32_t j = j0; j <= j1; j++)
        for (int32_t i = i0; i <= i1; i++) {
            double b[3];
            for (int k = 0; k < 3; k++) {
                const tl_vec2 q = p[(k + 1) % 3], r = p[(k + 2) % 3];
                b[k] = ((q.x - i) * (r.y - j) - (q.y - j) * (r.x - i)) / area;
            }
            if (b[0] < -ON_EDGE || b[1] < -ON_EDGE || b[2] < -ON_EDGE) continue;
            tl_vec3 x = {0, 0, 0};
            for (int k = 0; k < 3; k++) x = add(x, scale(cloth->pos[cloth->vert_node[c[k]]], b[k]));
            g->pos[j * g->nu + i] = x;
        }
}

bool shape_sample(const tl_cloth_view *cloth, double step, shape_grid *g, int32_t *missed)
{
    tl_vec2 low, high;
    material_bounds(cloth, &low, &high);
    const double cells_u = round((high.x - low.x) / step), cells_v = round((high.y - low.y) / step);
    if (!shape_grid_make(clamp(cells_u, 1, 1 << 14), clamp(cells_v, 1, 1 << 14), step, g)) return false;
    const int32_t count = g->nu * g->nv;
    for (int32_t i = 0; i < count; i++) g->pos[i].x = (double)NAN;
    for (int32_t f = 0; f < cloth->face_count; f++) sample_face(cloth, f, low, g);
    *missed = 0;
    for (int32_t i = 0; i < count; i++) *missed += isnan(g->pos[i].x);
    return true;
}

// --- a smoother surface -----------------------------------------------------------------------------------

// Beyond its ends a line goes on turned by 180 degrees about its last sample: straight lines stay straight.
static tl_vec3 beyond(const tl_vec3 *line, int32_t stride, int32_t count, int32_t i)
{
    const int32_t last = count - 1;
    if (i < 0) return sub(scale(line[0], 2), line[(ptrdiff_t)-i * stride]);
    if (i > last) return sub(scale(line[(ptrdiff_t)last * stride], 2), line[(ptrdiff_t)(2 * last - i) * stride]);
    return line[(ptrdiff_t)i * stride];
}

static void smooth_line(const tl_vec3 *from, tl_vec3 *to, int32_t stride, int32_t count, const double *weight,
                        int32_t radius)
{
    const int32_t reach = radius < count - 1 ? radius : count - 1;
    double sum = weight[0];
    for (int32_t k = 1; k <= reach; k++) sum += 2 * weight[k];
    for (int32_t i = 0; i < count; i++) {
        tl_vec3 x = scale(from[(ptrdiff_t)i * stride], weight[0]);
        for (int32_t k = 1; k <= reach; k++)
            x = add(x, scale(add(beyond(from, stride, count, i - k), beyond(from, stride, count, i + k)), weight[k]));
        to[(ptrdiff_t)i * stride] = scale(x, 1 / sum);
    }
}

bool shape_smooth(const shape_grid *g, double sigma, shape_grid *out)
{
    const int32_t radius = (int32_t)ceil(TAIL * sigma / g->step), count = g->nu * g->nv;
    double *weight = malloc(((size_t)radius + 1) * sizeof *weight);
    tl_vec3 *rows = malloc((size_t)count * sizeof *rows);
    *out = (shape_grid){0};
    const bool ok = weight && rows && shape_grid_make(g->nu, g->nv, g->step, out);
    if (ok) {
        for (int32_t k = 0; k <= radius; k++) {
            const double x = sigma > 0 ? k * g->step / sigma : k;
            weight[k] = exp(-x * x / 2);
        }
        for (int32_t j = 0; j < g->nv; j++) smooth_line(g->pos + j * g->nu, rows + j * g->nu, 1, g->nu, weight, radius);
        for (int32_t i = 0; i < g->nu; i++) smooth_line(rows + i, out->pos + i, g->nu, g->nv, weight, radius);
    }
    free(weight);
    free(rows);
    return ok;
}

// --- curvature and wrinkles -------------------------------------------------------------------------------

// do Carmo 1976, sec. 3-3: H = (e G - 2 f F + g E) / (2 (E G - F^2)); derivatives by central differences.
static double mean_curvature_at(const shape_grid *g, int32_t i, int32_t j)
{
    const tl_vec3 *x = g->pos + j * g->nu + i;
    const int32_t up = g->nu;
    const double h = g->step;
    const tl_vec3 du = scale(sub(x[1], x[-1]), 0.5 / h), dv = scale(sub(x[up], x[-up]), 0.5 / h);
    const tl_vec3 duu = scale(add(sub(x[1], scale(x[0], 2)), x[-1]), 1 / (h * h));
    const tl_vec3 dvv = scale(add(sub(x[up], scale(x[0], 2)), x[-up]), 1 / (h * h));
    const tl_vec3 duv = scale(sub(add(x[up + 1], x[-up - 1]), add(x[up - 1], x[-up + 1])), 0.25 / (h * h));
    const tl_vec3 n = unit(cross(du, dv));
    const double E = dot(du, du), F = dot(du, dv), G = dot(dv, dv), det = E * G - F * F;
    return det > 0 ? (dot(duu, n) * G - 2 * dot(duv, n) * F + dot(dvv, n) * E) / (2 * det) : 0;
}

int32_t shape_mean_curvature(const shape_grid *g, int32_t margin, double *out)
{
    const int32_t m = margin < 1 ? 1 : margin;
    int32_t count = 0;
    for (int32_t j = m; j < g->nv - m; j++)
        for (int32_t i = m; i < g->nu - m; i++) out[count++] = mean_curvature_at(g, i, j);
    return count;
}

static tl_vec3 normal_at(const shape_grid *g, int32_t i, int32_t j)
{
    const int32_t i0 = i > 0 ? i - 1 : i, i1 = i + 1 < g->nu ? i + 1 : i, j0 = j > 0 ? j - 1 : j,
                  j1 = j + 1 < g->nv ? j + 1 : j;
    const tl_vec3 du = sub(g->pos[j * g->nu + i1], g->pos[j * g->nu + i0]);
    const tl_vec3 dv = sub(g->pos[j1 * g->nu + i], g->pos[j0 * g->nu + i]);
    return unit(cross(du, dv));
}

double shape_out_of_plane(const shape_grid *g, const shape_grid *smooth)
{
    double sum = 0;
    for (int32_t j = 0; j < g->nv; j++)
        for (int32_t i = 0; i < g->nu; i++) {
            const double d = dot(sub(g->pos[j * g->nu + i], smooth->pos[j * g->nu + i]), normal_at(smooth, i, j));
            sum += d * d;
        }
    return sqrt(sum / ((double)g->nu * g->nv));
}

// --- histograms -------------------------------------------------------------------------------------------

void shape_histogram_fill(const double *values, int32_t count, double limit, shape_histogram *h)
{
    memset(h, 0, sizeof *h);
    h->lo = -limit, h->width = 2 * limit / SHAPE_BINS;
    for (int32_t i = 0; i < count; i++)
        h->share[clamp(floor((values[i] - h->lo) / h->width), 0, SHAPE_BINS - 1)] += 1.0 / count;
}

// In one dimension: the area between the sums (Vallender 1974).
double shape_histogram_distance(const shape_histogram *a, const shape_histogram *b)
{
    double ahead = 0, distance = 0;
    for (int k = 0; k < SHAPE_BINS; k++) {
        ahead += a->share[k] - b->share[k];
        distance += fabs(ahead) * a->width;
    }
    return distance;
}

double shape_histogram_mean_size(const shape_histogram *h)
{
    double sum = 0;
    for (int k = 0; k < SHAPE_BINS; k++) sum += h->share[k] * fabs(h->lo + (k + 0.5) * h->width);
    return sum;
}

// --- outlines ---------------------------------------------------------------------------------------------

static size_t row_words(const shape_mask *m) { return ((size_t)m->size + 63) / 64; }

bool shape_mask_make(int32_t size, double pixel, const double middle[2], shape_mask *m)
{
    *m = (shape_mask){.size = size, .pixel = pixel, .middle = {middle[0], middle[1]}};
    m->bits = calloc(row_words(m) * (size_t)size, sizeof *m->bits);
    return m->bits != NULL;
}

void shape_mask_free(shape_mask *m)
{
    free(m->bits);
    *m = (shape_mask){0};
}

// A place in pixels: middles are at whole numbers.
static tl_vec2 project(const shape_mask *m, tl_vec3 x, shape_view view)
{
    const double first = x.x, second = view == SHAPE_ABOVE ? x.z : x.y;
    return (tl_vec2){(first - m->middle[0]) / m->pixel + 0.5 * (m->size - 1),
                     (second - m->middle[1]) / m->pixel + 0.5 * (m->size - 1)};
}

static void fill_row(shape_mask *m, int32_t row, double from, double to)
{
    uint64_t *bits = m->bits + row_words(m) * (size_t)row;
    const int32_t first = clamp(ceil(from), 0, m->size), last = to < 0 ? -1 : clamp(floor(to), 0, m->size - 1);
    for (int32_t i = first; i <= last; i++) bits[i / 64] |= (uint64_t)1 << i % 64;
}

static void fill_triangle(shape_mask *m, const tl_vec2 p[3])
{
    const double low = fmin(p[0].y, fmin(p[1].y, p[2].y)), high = fmax(p[0].y, fmax(p[1].y, p[2].y));
    if (high < 0 || low > m->size - 1) return;
    const int32_t first = clamp(ceil(low), 0, m->size - 1), last = clamp(floor(high), 0, m->size - 1);
    for (int32_t row = first; row <= last; row++) {
        double from = INFINITY, to = -INFINITY;
        for (int k = 0; k < 3; k++) {  // where the sides cross the row
            const tl_vec2 a = p[k], b = p[(k + 1) % 3];
            if ((a.y < row) == (b.y < row) && a.y != row && b.y != row) continue;
            const double x = a.y == b.y ? a.x : a.x + (b.x - a.x) * (row - a.y) / (b.y - a.y);
            if (x < fmin(a.x, b.x) || x > fmax(a.x, b.x)) continue;  // one end on the row, the other side of it not
            from = fmin(from, x), to = fmax(to, x);
        }
        if (from <= to) fill_row(m, row, from, to);
    }
}

int32_t shape_mask_draw(shape_mask *m, const tl_cloth_view *cloth, shape_view view)
{
    int32_t outside = 0;
    for (int32_t i = 0; i < cloth->node_count; i++) {
        const tl_vec2 p = project(m, cloth->pos[i], view);
        outside += !(p.x >= 0 && p.x <= m->size - 1 && p.y >= 0 && p.y <= m->size - 1);
    }
    for (int32_t f = 0; f < cloth->face_count; f++) {
        tl_vec2 p[3];
        for (int k = 0; k < 3; k++) p[k] = project(m, cloth->pos[cloth->vert_node[cloth->face[f][k]]], view);
        fill_triangle(m, p);
    }
    return outside;
}

static int64_t count_bits(uint64_t word)
{
    int64_t count = 0;
    for (; word; word &= word - 1) count++;
    return count;
}

double shape_mask_area(const shape_mask *m)
{
    int64_t count = 0;
    for (size_t i = 0; i < row_words(m) * (size_t)m->size; i++) count += count_bits(m->bits[i]);
    return (double)count * m->pixel * m->pixel;
}

double shape_mask_difference(const shape_mask *a, const shape_mask *b)
{
    int64_t count = 0;
    for (size_t i = 0; i < row_words(a) * (size_t)a->size; i++) count += count_bits(a->bits[i] ^ b->bits[i]);
    return (double)count * a->pixel * a->pixel;
}
