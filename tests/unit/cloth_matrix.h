// tests/unit/cloth_matrix.h: matrices like those of a cloth step, for the solver's tests and bench.
//
// A wavy sheet of jittered triangles: M / dt^2 + membrane (St. Venant-Kirchhoff, orthotropic, Gauss-Newton
// part plus positive geometric part) + bending (per triangle, from the three hinge angles, so that a triangle
// couples its nodes with the opposite nodes of its neighbours: six). The two upper corners are fixed.
#pragma once
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "math/solver.h"
#include "math/vec3.h"

typedef struct cloth_def {
    int32_t nx, ny;                     // nodes along the sides; the spacing is 1 / (nx - 1) m
    double dt, density;                 // s, kg/m^2
    double warp, weft, shear, poisson;  // N/m
    double bend;                        // N m
    double wave;                        // amplitude of the waves, m
    double stretch;                     // in-plane, for the geometric part
    bool pinned;
    bool shuffled;  // rows in random order
} cloth_def;

static inline cloth_def cloth_def_default(int32_t nx, int32_t ny)
{
    return (cloth_def){.nx = nx,
                       .ny = ny,
                       .dt = 1.0 / 60,
                       .density = 0.2,
                       .warp = 2000,
                       .weft = 1000,
                       .shear = 200,
                       .poisson = 300,
                       .bend = 1e-5,
                       .wave = 0.05,
                       .stretch = 1.01,
                       .pinned = true};
}

typedef struct cloth_case {
    tl_allocator alloc;
    int32_t n, tri_count, item_count;
    tl_bsr *m;
    tl_vec3 *pos, *b;
    tl_vec2 *rest;
    uint8_t *fixed;
    int32_t (*tri)[3];
    int32_t (*flap)[3];  // opposite node across the edge facing corner k, or -1
    int32_t *start, *items;
} cloth_case;

static inline void cloth_case_free(cloth_case *c)
{
    const tl_allocator a = c->alloc;
    tl_bsr_destroy(&a, c->m);
    TL_FREE(&a, c->pos, c->n);
    TL_FREE(&a, c->b, c->n);
    TL_FREE(&a, c->rest, c->n);
    TL_FREE(&a, c->fixed, c->n);
    TL_FREE(&a, c->tri, c->tri_count);
    TL_FREE(&a, c->flap, c->tri_count);
    TL_FREE(&a, c->start, c->tri_count + 1);
    TL_FREE(&a, c->items, 6 * c->tri_count);
    c->m = NULL;
}

static inline void cloth_add(tl_bsr *m, int32_t i, int32_t j, double k[3][3])
{
    if (i > j) return;
    double *a = m->value[tl_bsr_find(m, i, j)];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) a[3 * r + c] += k[r][c];
}

// Membrane stiffness of one triangle.
static inline void cloth_membrane(cloth_case *c, const cloth_def *d, const int32_t *t)
{
    const tl_vec2 e1 = tl_sub2(c->rest[t[1]], c->rest[t[0]]), e2 = tl_sub2(c->rest[t[2]], c->rest[t[0]]);
    const double det = tl_cross2(e1, e2), area = 0.5 * fabs(det);
    const double grad[3][2] = {
        {(e1.y - e2.y) / det, (e2.x - e1.x) / det}, {e2.y / det, -e2.x / det}, {-e1.y / det, e1.x / det}};
    tl_vec3 f[2] = {{0}, {0}};
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 2; a++) f[a] = tl_madd3(f[a], grad[i][a], c->pos[t[i]]);
    double e[3] = {0.5 * (tl_dot3(f[0], f[0]) - 1), 0.5 * (tl_dot3(f[1], f[1]) - 1), tl_dot3(f[0], f[1])};
    double s[3] = {d->warp * e[0] + d->poisson * e[1], d->poisson * e[0] + d->weft * e[1], d->shear * e[2]};
    if (s[0] < 0) s[0] = 0;  // what a solver does against indefinite compression
    if (s[1] < 0) s[1] = 0;
    if (s[2] * s[2] > s[0] * s[1]) s[2] = 0;
    tl_vec3 b[3][3];  // strain component by node
    for (int i = 0; i < 3; i++) {
        b[0][i] = tl_mul3(grad[i][0], f[0]);
        b[1][i] = tl_mul3(grad[i][1], f[1]);
        b[2][i] = tl_add3(tl_mul3(grad[i][1], f[0]), tl_mul3(grad[i][0], f[1]));
    }
    const double C[3][3] = {{d->warp, d->poisson, 0}, {d->poisson, d->weft, 0}, {0, 0, d->shear}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double k[3][3] = {{0}};
            for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++) {
                    const double w = area * C[p][q];
                    if (w == 0) continue;
                    const double u[3] = {b[p][i].x, b[p][i].y, b[p][i].z}, v[3] = {b[q][j].x, b[q][j].y, b[q][j].z};
                    for (int r = 0; r < 3; r++)
                        for (int l = 0; l < 3; l++) k[r][l] += w * u[r] * v[l];
                }
            const double g = area * (s[0] * grad[i][0] * grad[j][0] + s[1] * grad[i][1] * grad[j][1] +
                                     s[2] * (grad[i][0] * grad[j][1] + grad[i][1] * grad[j][0]));
            for (int r = 0; r < 3; r++) k[r][r] += g;
            cloth_add(c->m, t[i], t[j], k);
        }
}

// Bending of one triangle: curvature = sum over its edges of angle / (2 area edge) t t^T (rest frame).
static inline void cloth_bending(cloth_case *c, const cloth_def *d, const int32_t *t, const int32_t *flap)
{
    const tl_vec2 e1 = tl_sub2(c->rest[t[1]], c->rest[t[0]]), e2 = tl_sub2(c->rest[t[2]], c->rest[t[0]]);
    const double area = 0.5 * fabs(tl_cross2(e1, e2));
    const int32_t node[6] = {t[0], t[1], t[2], flap[0], flap[1], flap[2]};
    tl_vec3 g[3][6];  // curvature component by node
    memset(g, 0, sizeof g);
    const tl_vec3 n1 = tl_unit3_or(tl_cross3(tl_sub3(c->pos[t[1]], c->pos[t[0]]), tl_sub3(c->pos[t[2]], c->pos[t[0]])),
                                   (tl_vec3){0, 0, 1});
    for (int k = 0; k < 3; k++) {
        if (flap[k] < 0) continue;
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        const tl_vec3 xa = c->pos[t[a]], xb = c->pos[t[b]], edge = tl_sub3(xb, xa);
        const double len2 = tl_dot3(edge, edge), len = sqrt(len2);
        const tl_vec3 n2 = tl_unit3_or(tl_cross3(tl_sub3(c->pos[flap[k]], xa), edge), n1);
        // angle gradient: each tip moves along its normal over its height, the edge nodes balance it
        const int tip[2] = {k, 3 + k};
        const tl_vec3 normal[2] = {n1, n2};
        const tl_vec2 re = tl_sub2(c->rest[t[b]], c->rest[t[a]]);
        const double rl = tl_norm2(re),
                     T[3] = {re.x * re.x / rl / rl, re.y * re.y / rl / rl, 1.4142135623730951 * re.x * re.y / rl / rl};
        for (int s = 0; s < 2; s++) {
            const tl_vec3 x = tl_sub3(c->pos[node[tip[s]]], xa);
            const double along = tl_dot3(x, edge) / len2;
            const double height = tl_norm3(tl_madd3(x, -along, edge)) + 1e-3 * len;
            for (int q = 0; q < 3; q++) {
                const double w = T[q] * rl / (2 * area) / height;
                g[q][tip[s]] = tl_madd3(g[q][tip[s]], w, normal[s]);
                g[q][b] = tl_madd3(g[q][b], -w * along, normal[s]);
                g[q][a] = tl_madd3(g[q][a], -w * (1 - along), normal[s]);
            }
        }
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            if (node[i] < 0 || node[j] < 0) continue;
            double k[3][3] = {{0}};
            for (int q = 0; q < 3; q++) {
                const double u[3] = {g[q][i].x, g[q][i].y, g[q][i].z}, v[3] = {g[q][j].x, g[q][j].y, g[q][j].z};
                for (int r = 0; r < 3; r++)
                    for (int l = 0; l < 3; l++) k[r][l] += area * d->bend * u[r] * v[l];
            }
            cloth_add(c->m, node[i], node[j], k);
        }
}

static inline void cloth_values(cloth_case *c, const cloth_def *d)
{
    memset(c->m->value, 0, (size_t)c->m->block_count * sizeof *c->m->value);
    for (int32_t t = 0; t < c->tri_count; t++) {
        const tl_vec2 e1 = tl_sub2(c->rest[c->tri[t][1]], c->rest[c->tri[t][0]]);
        const tl_vec2 e2 = tl_sub2(c->rest[c->tri[t][2]], c->rest[c->tri[t][0]]);
        const double mass = d->density * 0.5 * fabs(tl_cross2(e1, e2)) / 3 / (d->dt * d->dt);
        for (int k = 0; k < 3; k++)
            cloth_add(c->m, c->tri[t][k], c->tri[t][k], (double[3][3]){{mass, 0, 0}, {0, mass, 0}, {0, 0, mass}});
        cloth_membrane(c, d, c->tri[t]);
        cloth_bending(c, d, c->tri[t], c->flap[t]);
    }
    for (int32_t i = 0; i < c->n; i++)
        for (int32_t k = c->m->row_start[i]; k < c->m->row_start[i + 1]; k++) {
            double *a = c->m->value[k];
            if (!c->fixed[i] && !c->fixed[c->m->col[k]]) continue;
            for (int e = 0; e < 9; e++) a[e] = c->m->col[k] == i && e % 4 == 0;
        }
}

// Deforms the sheet: `phase` moves the waves, so that a series of steps can be imitated.
static inline void cloth_shape(cloth_case *c, const cloth_def *d, double phase)
{
    for (int32_t i = 0; i < c->n; i++) {
        const tl_vec2 r = c->rest[i];
        c->pos[i] = (tl_vec3){d->stretch * r.x, d->stretch * r.y,
                              d->wave * (sin(9 * r.x + phase) * cos(7 * r.y) + 0.3 * sin(23 * r.y + 2 * phase))};
    }
}

static inline tl_status cloth_case_make(const tl_allocator *alloc, const cloth_def *d, cloth_case *c, tl_error *err)
{
    *c = (cloth_case){.alloc = *alloc, .n = d->nx * d->ny, .tri_count = 2 * (d->nx - 1) * (d->ny - 1)};
    const int32_t n = c->n, nx = d->nx, ny = d->ny;
    const double h = 1.0 / (nx > 1 ? nx - 1 : 1);
    c->pos = TL_CALLOC(alloc, tl_vec3, n), c->b = TL_CALLOC(alloc, tl_vec3, n), c->rest = TL_CALLOC(alloc, tl_vec2, n);
    c->fixed = TL_CALLOC(alloc, uint8_t, n);
    c->tri = tl_calloc_bytes(alloc, (size_t)c->tri_count, sizeof *c->tri);
    c->flap = tl_calloc_bytes(alloc, (size_t)c->tri_count, sizeof *c->flap);
    c->start = TL_CALLOC(alloc, int32_t, c->tri_count + 1), c->items = TL_CALLOC(alloc, int32_t, 6 * c->tri_count);
    int32_t *id = TL_ALLOC(alloc, int32_t, n);
    for (int32_t i = 0; i < n; i++) id[i] = i;
    for (int32_t i = n - 1; d->shuffled && i > 0; i--) {
        const int32_t j = (int32_t)(tl_random_bits(5, 0, (uint64_t)i) % (uint64_t)(i + 1)), s = id[i];
        id[i] = id[j], id[j] = s;
    }
    for (int32_t y = 0; y < ny; y++)
        for (int32_t x = 0; x < nx; x++) {
            const uint64_t k = (uint64_t)(y * nx + x);
            const bool inside = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
            const double jitter = inside ? 0.4 * h : 0;
            c->rest[id[k]] =
                (tl_vec2){h * x + jitter * (tl_random(1, 0, k) - 0.5), h * y + jitter * (tl_random(1, 1, k) - 0.5)};
        }
    int32_t t = 0;
    for (int32_t y = 0; y + 1 < ny; y++)
        for (int32_t x = 0; x + 1 < nx; x++) {
            const int32_t p = id[y * nx + x], q = id[y * nx + x + 1], r = id[(y + 1) * nx + x],
                          s = id[(y + 1) * nx + x + 1];
            if ((x + y) % 2) {
                memcpy(c->tri[t++], (int32_t[3]){p, q, s}, sizeof *c->tri);
                memcpy(c->tri[t++], (int32_t[3]){p, s, r}, sizeof *c->tri);
            } else {
                memcpy(c->tri[t++], (int32_t[3]){p, q, r}, sizeof *c->tri);
                memcpy(c->tri[t++], (int32_t[3]){q, s, r}, sizeof *c->tri);
            }
        }
    // neighbours are within the next cells: look at few triangles around
    for (int32_t a = 0; a < c->tri_count; a++)
        for (int k = 0; k < 3; k++) {
            c->flap[a][k] = -1;
            const int32_t u = c->tri[a][(k + 1) % 3], v = c->tri[a][(k + 2) % 3];
            const int32_t row = 2 * (nx - 1),
                          near[] = {a - row, a - row + 1, a - row - 1, a - 3,   a - 2,       a - 1,
                                    a + 1,   a + 2,       a + 3,       a + row, a + row - 1, a + row + 1};
            for (size_t q = 0; q < sizeof near / sizeof *near; q++) {
                const int32_t o = near[q];
                if (o < 0 || o >= c->tri_count || o == a) continue;
                int shared = 0, other = -1;
                for (int l = 0; l < 3; l++)
                    if (c->tri[o][l] == u || c->tri[o][l] == v)
                        shared++;
                    else
                        other = c->tri[o][l];
                if (shared == 2) c->flap[a][k] = other;
            }
        }
    int32_t at = 0;
    for (t = 0; t < c->tri_count; t++) {
        c->start[t] = at;
        for (int k = 0; k < 3; k++) c->items[at++] = c->tri[t][k];
        for (int k = 0; k < 3; k++)
            if (c->flap[t][k] >= 0) c->items[at++] = c->flap[t][k];
    }
    c->start[c->tri_count] = at;
    if (d->pinned && n > 1) c->fixed[id[n - 1]] = c->fixed[id[n - nx]] = 1;
    cloth_shape(c, d, 0);
    TL_FREE(alloc, id, n);
    const tl_status status = tl_bsr_create(alloc, n, c->tri_count, c->start, c->items, &c->m, err);
    if (status != TL_OK) {
        cloth_case_free(c);
        return status;
    }
    cloth_values(c, d);
    for (int32_t i = 0; i < n; i++) {  // gravity and noise of the same size
        const double s = d->density * h * h * 9.81;
        c->b[i] = c->fixed[i] ? (tl_vec3){0}
                              : (tl_vec3){2 * s * (tl_random(2, 0, (uint64_t)i) - 0.5),
                                          -s + 2 * s * (tl_random(2, 1, (uint64_t)i) - 0.5),
                                          2 * s * (tl_random(2, 2, (uint64_t)i) - 0.5)};
    }
    return TL_OK;
}
