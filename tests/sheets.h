// tests/sheets.h: flat rectangles triangulated in the ways that mesh-independence tests need.
//
// grid: right-angled, alternating or equal diagonals. delaunay: scattered points, optionally with triangles
// stretched `aspect`:1 along a direction. All lie in z = 0 with material coordinates (x, y), corner at the origin.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "toile/base.h"

typedef struct sheet {
    int32_t node_count, face_count;
    tl_vec3 *pos;
    tl_vec2 *uv;
    int32_t (*face)[3];
} sheet;

static inline void sheet_free(sheet *s)
{
    free(s->pos), free(s->uv), free(s->face);
    *s = (sheet){0};
}

static inline sheet sheet_alloc(int32_t nodes, int32_t faces)
{
    sheet s = {nodes, faces, calloc((size_t)nodes, sizeof *s.pos), calloc((size_t)nodes, sizeof *s.uv),
               calloc((size_t)faces, sizeof *s.face)};
    return s;
}

/// Cells nx by ny; alternate: diagonals change direction like a union jack, else all run alike.
static inline sheet sheet_grid(double width, double height, int nx, int ny, bool alternate)
{
    sheet s = sheet_alloc((nx + 1) * (ny + 1), 2 * nx * ny);
    for (int j = 0; j <= ny; j++)
        for (int i = 0; i <= nx; i++) {
            const int n = j * (nx + 1) + i;
            s.uv[n] = (tl_vec2){width * i / nx, height * j / ny};
            s.pos[n] = (tl_vec3){s.uv[n].x, s.uv[n].y, 0};
        }
    int f = 0;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            const int a = j * (nx + 1) + i, b = a + 1, c = a + nx + 2, d = a + nx + 1;
            const bool other = alternate && (i + j) % 2;
            const int tri[2][3] = {{a, b, other ? d : c}, {other ? b : a, c, d}};
            for (int t = 0; t < 2; t++, f++)
                for (int k = 0; k < 3; k++) s.face[f][k] = tri[t][k];
        }
    return s;
}

// Incremental Delaunay triangulation (Bowyer 1981, Watson 1981) of n points; quadratic, for tests only.
// The hull must be strictly convex, so callers bulge straight borders a little.
static inline bool sheet_in_circle(const tl_vec2 *q, const int v[3], int i)
{
    long double m[3][3];
    for (int k = 0; k < 3; k++) {
        m[k][0] = (long double)q[v[k]].x - (long double)q[i].x, m[k][1] = (long double)q[v[k]].y - (long double)q[i].y;
        m[k][2] = m[k][0] * m[k][0] + m[k][1] * m[k][1];
    }
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
               m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]) >
           0;
}

static inline int sheet_delaunay_of(const tl_vec2 *p, int n, int32_t (*out)[3])
{
    tl_vec2 *q = malloc(((size_t)n + 3) * sizeof *q);
    double low = 1e300, high = -1e300;
    for (int i = 0; i < n; i++) {
        q[i] = p[i];
        low = fmin(low, fmin(p[i].x, p[i].y)), high = fmax(high, fmax(p[i].x, p[i].y));
    }
    const double far = 2e3 * (high - low), mid = 0.5 * (low + high);
    q[n] = (tl_vec2){mid - 2 * far, mid - far}, q[n + 1] = (tl_vec2){mid + 2 * far, mid - far};
    q[n + 2] = (tl_vec2){mid, mid + 2 * far};
    int(*t)[3] = malloc((size_t)(4 * n + 16) * sizeof *t), (*hole)[2] = malloc((size_t)(12 * n + 48) * sizeof *hole);
    int count = 1;
    for (int k = 0; k < 3; k++) t[0][k] = n + k;
    for (int i = 0; i < n; i++) {
        int edges = 0;
        for (int k = 0; k < count;) {
            if (!sheet_in_circle(q, t[k], i)) {
                k++;
                continue;
            }
            for (int e = 0; e < 3; e++) hole[edges][0] = t[k][e], hole[edges++][1] = t[k][(e + 1) % 3];
            memcpy(t[k], t[--count], sizeof *t);
        }
        for (int e = 0; e < edges; e++) {
            bool inner = false;
            for (int g = 0; g < edges && !inner; g++) inner = hole[e][0] == hole[g][1] && hole[e][1] == hole[g][0];
            if (inner) continue;
            t[count][0] = hole[e][0], t[count][1] = hole[e][1], t[count][2] = i;
            count++;
        }
    }
    int kept = 0;
    for (int k = 0; k < count; k++) {
        if (t[k][0] >= n || t[k][1] >= n || t[k][2] >= n) continue;
        for (int i = 0; i < 3; i++) out[kept][i] = t[k][i];
        kept++;
    }
    free(q), free(t), free(hole);
    return kept;
}

/// Scattered points about `edge` apart (in a metric in which lengths along `degrees` count `aspect` times less).
static inline sheet sheet_delaunay(double width, double height, double edge, double aspect, double degrees,
                                   uint64_t seed)
{
    const double a = degrees * 3.14159265358979323846 / 180, c = cos(a), s = sin(a), k = sqrt(aspect);
    // metric: m = diag(1/k, k) R(-a)
    const double m[2][2] = {{c / k, s / k}, {-s * k, c * k}};
    const int most = (int)(4 * width * height / (edge * edge)) + 4 * (int)((width + height) * k / edge) + 64;
    tl_vec2 *u = malloc((size_t)most * sizeof *u), *w = malloc((size_t)most * sizeof *w);
    int n = 0;
    // Triangulated in the metric; borders bulge outwards by a thousandth there, not in the result.
#define PUT(px, py)                                                                                                    \
    do {                                                                                                               \
        u[n] = (tl_vec2){(px), (py)};                                                                                  \
        const double bx = u[n].x + 4e-3 * width * (u[n].x / width - 0.5) * (u[n].y / height) * (1 - u[n].y / height);  \
        const double by = u[n].y + 4e-3 * height * (u[n].y / height - 0.5) * (u[n].x / width) * (1 - u[n].x / width);  \
        w[n] = (tl_vec2){m[0][0] * bx + m[0][1] * by, m[1][0] * bx + m[1][1] * by};                                    \
        n++;                                                                                                           \
    } while (0)
    const int nx = (int)ceil(width * hypot(m[0][0], m[1][0]) / edge),
              ny = (int)ceil(height * hypot(m[0][1], m[1][1]) / edge);
    for (int i = 0; i < nx; i++) PUT(width * i / nx, 0);
    for (int j = 0; j < ny; j++) PUT(width, height * j / ny);
    for (int i = 0; i < nx; i++) PUT(width - width * i / nx, height);
    for (int j = 0; j < ny; j++) PUT(0, height - height * j / ny);
    const double gap = 0.75 * edge;
    for (int tries = 0, failed = 0; failed < 3000 && n < most; tries++) {
        const double x = width * tl_random(seed, 1, 2 * (uint64_t)tries),
                     y = height * tl_random(seed, 1, 2 * (uint64_t)tries + 1);
        const tl_vec2 q = {m[0][0] * x + m[0][1] * y, m[1][0] * x + m[1][1] * y};
        bool free_place = true;
        for (int i = 0; i < n && free_place; i++) free_place = hypot(w[i].x - q.x, w[i].y - q.y) >= gap;
        failed = free_place ? 0 : failed + 1;
        if (free_place) PUT(x, y);
    }
#undef PUT
    sheet out = sheet_alloc(n, 3 * n);
    out.face_count = sheet_delaunay_of(w, n, out.face);
    for (int i = 0; i < n; i++) out.uv[i] = u[i], out.pos[i] = (tl_vec3){u[i].x, u[i].y, 0};
    free(u), free(w);
    return out;
}
