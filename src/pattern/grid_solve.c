// pattern/grid_solve.c: the linear systems of the length functionals (Kostadinov & Vassilev, Eq. 3 and 4).
//
// Both matrices are sums of products of second differences along u and v with constant coefficients, so sine waves
// along u are their eigenvectors: for every wave a tridiagonal system along v is left. Its pivots are the factor. The
// sparse Cholesky factor takes three nodes of a row as one block. Neither depends on the outline.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"
#include "math/cholesky.h"
#include "math/elementary.h"
#include "pattern/grid_impl.h"
#include "pattern/sine.h"

struct tl_grid_factor {
    tl_allocator alloc;
    tl_grid_key key;
    tl_grid_factor *next;  ///< in the cache
    // sines
    tl_sine *sine;
    double *lower;  ///< [waves] coupling of neighbouring rows
    double *pivot;  ///< [rows][waves] inverses
    // Cholesky
    tl_cholesky *cholesky;
    tl_vec3 *b;  ///< [blocks]
    int32_t block_count;
};

struct tl_grid_cache {
    tl_allocator alloc;
    tl_grid_factor *first;
};

tl_stencil tl_stencil_of(double weight_u, double weight_v, bool diagonals)
{
    const double u2 = weight_u * weight_u, v2 = weight_v * weight_v;
    return (tl_stencil){1 / u2, 1 / v2, diagonals ? 1 / (u2 + v2) : 0};
}

// --- sines ---------------------------------------------------------------------------------------------------

static tl_status make_sines(tl_grid_factor *f, tl_error *err)
{
    const int32_t waves = f->key.nu - 1, rows = f->key.nv - 1;
    const tl_stencil s = f->key.stencil;
    TL_TRY(tl_sine_create(&f->alloc, f->key.nu, &f->sine, err));
    f->lower = TL_ALLOC(&f->alloc, double, waves);
    f->pivot = TL_ALLOC(&f->alloc, double, (size_t)waves *(size_t)rows);
    if (!f->lower || !f->pivot) return tl_fail_memory(err, "factor of a grid");
    for (int32_t k = 0; k < waves; k++) {
        const double half = tl_sin(0.5 * 3.14159265358979323846 * (k + 1) / f->key.nu), versine = 2 * half * half;
        const double wave = 1 - versine;  // cos
        // 2 u (1 - cos) + 2 v + 4 c is written so that low waves lose no digits
        const double diagonal = 2 * s.u * versine + 2 * s.v + 4 * s.cross, lower = -s.v - 2 * s.cross * wave;
        f->lower[k] = lower;
        double inverse = 1 / diagonal;
        for (int32_t j = 0; j < rows; j++) {
            f->pivot[(size_t)j * (size_t)waves + (size_t)k] = inverse;
            inverse = 1 / (diagonal - lower * lower * inverse);
        }
    }
    return TL_OK;
}

static void solve_sines(tl_grid_factor *f, tl_vec2 *x)
{
    const size_t waves = (size_t)f->key.nu - 1, rows = (size_t)f->key.nv - 1;
    const double *lower = f->lower;
    for (size_t j = 0; j < rows; j++) {
        tl_vec2 *row = x + j * waves;
        tl_sine_apply(f->sine, row);
        if (j == 0) continue;
        const tl_vec2 *before = row - waves;
        const double *pivot = f->pivot + (j - 1) * waves;
        for (size_t k = 0; k < waves; k++) {
            const double m = lower[k] * pivot[k];
            row[k].x -= m * before[k].x, row[k].y -= m * before[k].y;
        }
    }
    const double scale = 2.0 / f->key.nu;
    for (size_t j = rows; j-- > 0;) {
        tl_vec2 *row = x + j * waves, *after = row + waves;
        const double *pivot = f->pivot + j * waves;
        for (size_t k = 0; k < waves; k++) {
            if (j + 1 < rows) row[k].x -= lower[k] * after[k].x, row[k].y -= lower[k] * after[k].y;
            row[k].x *= pivot[k], row[k].y *= pivot[k];
        }
        if (j + 1 < rows) tl_sine_apply(f->sine, after);  // no longer needed as waves
    }
    tl_sine_apply(f->sine, x);
    for (size_t i = 0; i < waves * rows; i++) x[i].x *= scale, x[i].y *= scale;
}

// --- Cholesky ------------------------------------------------------------------------------------------------

// Entry of the matrix between inner nodes du and dv apart.
static double stencil_entry(tl_stencil s, int32_t du, int32_t dv)
{
    if (du == 0 && dv == 0) return 2 * s.u + 2 * s.v + 4 * s.cross;
    if (dv == 0) return du == 1 || du == -1 ? -s.u : 0;
    if (dv != 1 && dv != -1) return 0;
    return du == 0 ? -s.v : du == 1 || du == -1 ? -s.cross : 0;
}

static void fill_blocks(const tl_grid_factor *f, int32_t per_row, tl_bsr *m)
{
    const int32_t inner = f->key.nu - 1;
    for (int32_t i = 0; i < m->row_count; i++)
        for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++) {
            const int32_t j = m->col[k], dv = j / per_row - i / per_row;
            for (int32_t a = 0; a < 3; a++)
                for (int32_t b = 0; b < 3; b++) {
                    const int32_t ua = 3 * (i % per_row) + a, ub = 3 * (j % per_row) + b;
                    const bool padding = ua >= inner || ub >= inner;
                    m->value[k][3 * a + b] =
                        padding ? (i == j && a == b ? 1 : 0) : stencil_entry(f->key.stencil, ub - ua, dv);
                }
        }
}

static tl_status make_cholesky(tl_grid_factor *f, tl_error *err)
{
    const int32_t per_row = (f->key.nu - 1 + 2) / 3, rows = f->key.nv - 1;
    const int32_t groups = per_row * rows;
    f->block_count = groups;
    f->b = TL_CALLOC(&f->alloc, tl_vec3, groups);
    int32_t *start = TL_ALLOC(&f->alloc, int32_t, groups + 1),
            *items = TL_ALLOC(&f->alloc, int32_t, 4 * (size_t)groups);
    tl_bsr *m = NULL;
    tl_status status = TL_OK;
    if (!f->b || !start || !items) {
        status = tl_fail_memory(err, "factor of a grid");
    } else {
        int32_t count = 0;
        for (int32_t i = 0; i < groups; i++) {  // a block and its neighbours to the right and above
            const bool right = i % per_row + 1 < per_row, up = i / per_row + 1 < rows;
            start[i] = count;
            items[count++] = i;
            if (right) items[count++] = i + 1;
            if (up) items[count++] = i + per_row;
            if (up && right) items[count++] = i + per_row + 1;
        }
        start[groups] = count;
        status = tl_bsr_create(&f->alloc, groups, groups, start, items, &m, err);
    }
    TL_FREE(&f->alloc, start, groups + 1);
    TL_FREE(&f->alloc, items, 4 * (size_t)groups);
    if (status == TL_OK) {
        fill_blocks(f, per_row, m);
        status = tl_cholesky_create(&f->alloc, m, false, &f->cholesky, err);
    }
    if (status == TL_OK) status = tl_cholesky_factor(f->cholesky, m, NULL, err);
    if (m) tl_bsr_destroy(&f->alloc, m);
    return status;
}

static void solve_cholesky(tl_grid_factor *f, tl_vec2 *x)
{
    const int32_t inner = f->key.nu - 1, per_row = (inner + 2) / 3, rows = f->key.nv - 1;
    for (int axis = 0; axis < 2; axis++) {
        for (int pass = 0; pass < 2; pass++) {
            for (int32_t j = 0; j < rows; j++)
                for (int32_t u = 0; u < 3 * per_row; u++) {
                    tl_vec3 *block = &f->b[j * per_row + u / 3];
                    double *b = u % 3 == 0 ? &block->x : u % 3 == 1 ? &block->y : &block->z;
                    if (u >= inner) {
                        *b = 0;
                        continue;
                    }
                    tl_vec2 *node = &x[(size_t)j * (size_t)inner + (size_t)u];
                    double *value = axis ? &node->y : &node->x;
                    if (pass)
                        *value = *b;
                    else
                        *b = *value;
                }
            if (pass == 0) tl_cholesky_solve(f->cholesky, NULL, f->b, f->b);
        }
    }
}

// --- factors and their cache ---------------------------------------------------------------------------------

static void factor_destroy(tl_grid_factor *f)
{
    if (!f) return;
    const tl_allocator alloc = f->alloc;
    const size_t waves = (size_t)f->key.nu - 1, rows = (size_t)f->key.nv - 1;
    tl_sine_destroy(f->sine);
    TL_FREE(&alloc, f->lower, waves);
    TL_FREE(&alloc, f->pivot, waves * rows);
    tl_cholesky_destroy(f->cholesky);
    TL_FREE(&alloc, f->b, f->block_count);
    TL_FREE(&alloc, f, 1);
}

static bool same_key(const tl_grid_key *a, const tl_grid_key *b)
{
    return a->nu == b->nu && a->nv == b->nv && a->solver == b->solver && a->stencil.u == b->stencil.u &&
           a->stencil.v == b->stencil.v && a->stencil.cross == b->stencil.cross;
}

tl_status tl_grid_factor_get(const tl_allocator *alloc, tl_grid_cache *cache, const tl_grid_key *key,
                             tl_grid_factor **out, bool *cached, tl_error *err)
{
    *out = NULL, *cached = false;
    for (tl_grid_factor *f = cache ? cache->first : NULL; f; f = f->next)
        if (same_key(&f->key, key)) {
            *out = f, *cached = true;
            return TL_OK;
        }
    const tl_allocator *from = cache ? &cache->alloc : alloc;
    tl_grid_factor *f = TL_CALLOC(from, tl_grid_factor, 1);
    if (!f) return tl_fail_memory(err, "factor of a grid");
    f->alloc = *from, f->key = *key;
    const tl_status status = key->solver == TL_QUADS_CHOLESKY ? make_cholesky(f, err) : make_sines(f, err);
    if (status != TL_OK) {
        factor_destroy(f);
        return status;
    }
    if (cache) f->next = cache->first, cache->first = f;
    *out = f;
    return TL_OK;
}

void tl_grid_factor_release(tl_grid_cache *cache, tl_grid_factor *factor)
{
    if (!cache) factor_destroy(factor);
}

void tl_grid_factor_solve(tl_grid_factor *f, tl_vec2 *x)
{
    if (f->key.solver == TL_QUADS_CHOLESKY)
        solve_cholesky(f, x);
    else
        solve_sines(f, x);
}

tl_status tl_grid_cache_create(const tl_allocator *alloc, tl_grid_cache **out, tl_error *err)
{
    *out = TL_CALLOC(alloc, tl_grid_cache, 1);
    if (!*out) return tl_fail_memory(err, "cache of grid factors");
    (*out)->alloc = *alloc;
    return TL_OK;
}

void tl_grid_cache_destroy(tl_grid_cache *cache)
{
    if (!cache) return;
    const tl_allocator alloc = cache->alloc;
    for (tl_grid_factor *f = cache->first; f;) {
        tl_grid_factor *next = f->next;
        factor_destroy(f);
        f = next;
    }
    TL_FREE(&alloc, cache, 1);
}

size_t tl_grid_cache_memory(const tl_grid_cache *cache)
{
    size_t bytes = sizeof *cache;
    for (const tl_grid_factor *f = cache->first; f; f = f->next) {
        const size_t waves = (size_t)f->key.nu - 1, rows = (size_t)f->key.nv - 1;
        bytes += sizeof *f + (size_t)f->block_count * sizeof *f->b;
        if (f->sine) bytes += tl_sine_memory(f->sine) + waves * (rows + 1) * sizeof(double);
        if (f->cholesky) bytes += tl_cholesky_describe(f->cholesky).memory;
    }
    return bytes;
}

// --- minimum of a length functional --------------------------------------------------------------------------

// What the boundary nodes around inner node (u, v) add to the right-hand side.
static tl_vec2 from_boundary(const tl_lattice *g, tl_stencil s, int32_t u, int32_t v)
{
    tl_vec2 sum = {0, 0};
    for (int32_t dv = -1; dv <= 1; dv++)
        for (int32_t du = -1; du <= 1; du++) {
            if ((du == 0 && dv == 0) || tl_lattice_inner(g, u + du, v + dv)) continue;
            const double w = -stencil_entry(s, du, dv);
            const tl_vec2 p = g->point[tl_lattice_index(g, u + du, v + dv)];
            sum.x += w * p.x, sum.y += w * p.y;
        }
    return sum;
}

tl_status tl_lattice_relax(const tl_allocator *alloc, tl_grid_cache *cache, const tl_grid_key *key, tl_lattice *g,
                           tl_grid_report *report, tl_error *err)
{
    const int32_t inner_u = g->nu - 1, inner_v = g->nv - 1;
    if (inner_u < 1 || inner_v < 1) return TL_OK;
    const double begin = tl_now();
    const size_t count = (size_t)inner_u * (size_t)inner_v;
    tl_vec2 *x = TL_CALLOC(alloc, tl_vec2, count);
    if (!x) return tl_fail_memory(err, "right-hand side of a grid");
    for (int32_t v = 1; v < g->nv; v++) {
        const bool edge = v == 1 || v == inner_v;
        for (int32_t u = 1; u < g->nu; u += edge || u == inner_u || inner_u == 1 ? 1 : inner_u - 1)
            x[(size_t)(v - 1) * (size_t)inner_u + (size_t)(u - 1)] = from_boundary(g, key->stencil, u, v);
    }
    tl_grid_factor *factor;
    const tl_status status = tl_grid_factor_get(alloc, cache, key, &factor, &report->cached, err);
    if (status == TL_OK) {
        tl_grid_factor_solve(factor, x);
        for (int32_t v = 1; v < g->nv; v++)
            memcpy(&g->point[tl_lattice_index(g, 1, v)], x + (size_t)(v - 1) * (size_t)inner_u,
                   (size_t)inner_u * sizeof *x);
        tl_grid_factor_release(cache, factor);
    }
    TL_FREE(alloc, x, count);
    report->solve_seconds += tl_now() - begin;
    return status;
}
