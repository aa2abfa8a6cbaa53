// math/bsr_join.c: sums of two block matrices of different patterns.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/bsr.h"
#include "math/bsr_row.h"

// Columns of row i of either matrix, ascending; `out` may be NULL. Returns how many.
static int32_t join_row(const tl_bsr *a, const tl_bsr *b, int32_t i, int32_t *out)
{
    int32_t n = 0, k = a->row_start[i], l = b->row_start[i];
    while (k < a->row_start[i + 1] || l < b->row_start[i + 1]) {
        const int32_t j = k < a->row_start[i + 1] ? a->col[k] : INT32_MAX,
                      h = l < b->row_start[i + 1] ? b->col[l] : INT32_MAX;
        if (out) out[n] = j < h ? j : h;
        k += j <= h, l += h <= j, n++;
    }
    return n;
}

// out is |A_ij| at most too far from what it stands for, three numbers a row: a multiple of the identity makes up for
// it (Gershgorin).
static void join_values(const tl_bsr *a, const tl_bsr *b, tl_bsr *m)
{
    for (int32_t i = 0; i < m->row_count; i++)
        for (int e = 0; e < 9; e++) m->diagonal[i][e] = tl_bsr_diagonal(a, i)[e] + tl_bsr_diagonal(b, i)[e];
    for (int32_t i = 0; i < m->row_count; i++) {
        int32_t k = a->row_start[i] + 1, l = b->row_start[i] + 1;
        for (int32_t to = m->row_start[i] + 1; to < m->row_start[i + 1]; to++) {
            double v[9] = {0}, room[9], lost = 0;
            if (k < a->row_start[i + 1] && a->col[k] == m->col[to]) memcpy(v, tl_bsr_block(a, i, k++, room), sizeof v);
            const bool both = l < b->row_start[i + 1] && b->col[l] == m->col[to];
            if (both) {
                const double *w = tl_bsr_block(b, i, l++, room);
                for (int e = 0; e < 9; e++) v[e] += w[e];
            }
            for (int e = 0; e < 9; e++) {
                const float f = (float)v[e];
                m->single[to - i - 1][e] = f;
                lost = fmax(lost, fabs(v[e] - (double)f));
            }
            for (int e = 0; e < 9 && both; e += 4)
                m->diagonal[i][e] += 3 * lost, m->diagonal[m->col[to]][e] += 3 * lost;
        }
    }
}

tl_status tl_bsr_join(const tl_allocator *alloc, const tl_bsr *a, const tl_bsr *b, tl_bsr **out, tl_error *err)
{
    *out = NULL;
    const int32_t n = a->row_count;
    tl_bsr *m = TL_CALLOC(alloc, tl_bsr, 1);
    if (!m) return tl_fail_memory(err, "matrix");
    m->row_count = m->block_count = n;  // until they are counted
    m->row_start = TL_CALLOC(alloc, int32_t, n + 1);
    m->lower_start = TL_CALLOC(alloc, int32_t, n + 1);
    if (m->row_start && m->lower_start) {
        for (int32_t i = 0; i < n; i++) m->row_start[i + 1] = m->row_start[i] + join_row(a, b, i, NULL);
        m->block_count = m->row_start[n];
        m->col = TL_ALLOC(alloc, int32_t, m->block_count);
        m->single = tl_calloc_bytes(alloc, (size_t)(m->block_count - n) + 1, sizeof *m->single);
        m->diagonal = tl_calloc_bytes(alloc, (size_t)n + 1, sizeof *m->diagonal);
        m->lower_row = TL_ALLOC(alloc, int32_t, m->block_count - n);
        m->lower_block = TL_ALLOC(alloc, int32_t, m->block_count - n);
    }
    if (!m->col || !m->single || !m->diagonal || !m->lower_row || !m->lower_block) {
        tl_bsr_destroy(alloc, m);
        return tl_fail_memory(err, "matrix blocks");
    }
    for (int32_t i = 0; i < n; i++) join_row(a, b, i, m->col + m->row_start[i]);
    tl_bsr_refer(m);
    join_values(a, b, m);
    *out = m;
    return TL_OK;
}

// ---- in double --------------------------------------------------------------------------------------------

// m += a, where m has all blocks of a. False: it lacks one.
static bool add_to(const tl_bsr *a, tl_bsr *m)
{
    for (int32_t i = 0; i < a->row_count; i++) {
        int32_t to = m->row_start[i];
        for (int32_t k = a->row_start[i]; k < a->row_start[i + 1]; k++) {
            while (to < m->row_start[i + 1] && m->col[to] < a->col[k]) to++;
            if (to == m->row_start[i + 1] || m->col[to] != a->col[k]) return false;
            double room[9];
            const double *v = tl_bsr_block(a, i, k, room);
            for (int e = 0; e < 9; e++) m->value[to][e] += v[e];
        }
    }
    return true;
}

static bool refill(const tl_bsr *a, const tl_bsr *b, tl_bsr *m)
{
    memset(m->value, 0, (size_t)m->block_count * sizeof *m->value);
    return add_to(a, m) && add_to(b, m);
}

tl_status tl_bsr_sum(const tl_allocator *alloc, const tl_bsr *a, const tl_bsr *b, tl_bsr **sum, bool *kept,
                     tl_error *err)
{
    *kept = *sum && (*sum)->row_count == a->row_count && refill(a, b, *sum);
    if (*kept) return TL_OK;
    const int32_t n = a->row_count;
    int32_t *count = TL_ALLOC(alloc, int32_t, n + 1);
    tl_bsr *m = NULL;
    if (!count) return tl_fail_memory(err, "matrix");
    for (int32_t i = 0; i < n; i++) count[i] = join_row(a, b, i, NULL) - 1;
    const tl_status status = tl_bsr_create_rows(alloc, n, count, false, &m, err);
    TL_FREE(alloc, count, n + 1);
    if (status != TL_OK) return status;
    for (int32_t i = 0; i < n; i++) join_row(a, b, i, m->col + m->row_start[i]);
    tl_bsr_refer(m);
    refill(a, b, m);
    tl_bsr_destroy(alloc, *sum);
    *sum = m;
    return TL_OK;
}
