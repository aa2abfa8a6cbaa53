// math/bsr.c: symmetric matrix of 3x3 blocks: pattern, lookup, product.
//
// Only the upper triangle is stored. A product gathers: row i reads its own blocks and, through references,
// the blocks above the diagonal in its column, so every row of the result has one writer and one order of
// sums. Each block is read twice, the second time mostly from cache: neighbours have near numbers.

#include "math/bsr.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"
#include "math/bsr_row.h"

enum { ROWS_PER_CHUNK = 512 };

// Groups that contain each row, as lists.
typedef struct incidence {
    int32_t *start, *group;
    int32_t row_count, item_count;
} incidence;

static void incidence_free(const tl_allocator *alloc, incidence *inc)
{
    TL_FREE(alloc, inc->start, inc->row_count + 1);
    TL_FREE(alloc, inc->group, inc->item_count);
}

static bool incidence_build(const tl_allocator *alloc, int32_t row_count, int32_t group_count, const int32_t *start,
                            const int32_t *items, incidence *inc)
{
    inc->row_count = row_count;
    inc->item_count = group_count ? start[group_count] : 0;
    inc->start = TL_CALLOC(alloc, int32_t, row_count + 1);
    inc->group = TL_ALLOC(alloc, int32_t, inc->item_count);
    if (!inc->start || !inc->group) {
        incidence_free(alloc, inc);
        return false;
    }
    for (int32_t k = 0; k < inc->item_count; k++) inc->start[items[k] + 1]++;
    for (int32_t i = 0; i < row_count; i++) inc->start[i + 1] += inc->start[i];
    for (int32_t g = 0; g < group_count; g++)
        for (int32_t k = start[g]; k < start[g + 1]; k++) inc->group[inc->start[items[k]]++] = g;
    memmove(inc->start + 1, inc->start,
            (size_t)row_count * sizeof *inc->start);  // the fill moved every start on
    inc->start[0] = 0;
    return true;
}

// Columns > i that share a group with row i, each once, in order of meeting. `mark` holds i for those seen.
static int32_t collect_row(const incidence *inc, const int32_t *start, const int32_t *items, int32_t i, int32_t *mark,
                           int32_t *cols)
{
    int32_t n = 0;
    for (int32_t k = inc->start[i]; k < inc->start[i + 1]; k++) {
        const int32_t g = inc->group[k];
        for (int32_t l = start[g]; l < start[g + 1]; l++) {
            const int32_t j = items[l];
            if (j <= i || mark[j] == i) continue;
            mark[j] = i;
            cols[n++] = j;
        }
    }
    return n;
}

// No row can have more columns than its groups have items.
static int64_t most_in_row(const incidence *inc, const int32_t *start, int32_t i)
{
    int64_t most = 0;
    for (int32_t k = inc->start[i]; k < inc->start[i + 1]; k++) most += start[inc->group[k] + 1] - start[inc->group[k]];
    return most < inc->row_count ? most : inc->row_count;
}

// The columns of all rows, in one list that grows.
typedef struct columns {
    int32_t *item, count, cap;
} columns;

static tl_status find_columns(const tl_allocator *alloc, const incidence *inc, const int32_t *start,
                              const int32_t *items, int32_t *mark, tl_bsr *m, columns *out, tl_error *err)
{
    for (int32_t i = 0; i < m->row_count; i++) mark[i] = -1;
    for (int32_t i = 0; i < m->row_count; i++) {
        const int64_t need = (int64_t)out->count + 1 + most_in_row(inc, start, i);
        if (need > INT32_MAX - 1)
            return tl_fail(err, TL_BAD_ARG, "matrix of %d rows has too many blocks", m->row_count);
        if (!TL_GROW(alloc, out->item, out->cap, (int32_t)need)) return tl_fail_memory(err, "matrix pattern");
        int32_t *cols = out->item + out->count;
        cols[0] = i;
        const int32_t count = collect_row(inc, start, items, i, mark, cols + 1);
        tl_sort_ints(cols + 1, count);
        out->count += 1 + count;
        m->row_start[i + 1] = out->count;
    }
    return TL_OK;
}

static tl_status fill_pattern(const tl_allocator *alloc, const incidence *inc, const int32_t *start,
                              const int32_t *items, int32_t *mark, tl_bsr *m, tl_error *err)
{
    const int32_t n = m->row_count;
    columns cols = {0};
    tl_status status = find_columns(alloc, inc, start, items, mark, m, &cols, err);
    if (status == TL_OK) {
        m->block_count = cols.count;
        m->col = TL_ALLOC(alloc, int32_t, m->block_count);
        m->value = tl_calloc_bytes(alloc, (size_t)m->block_count + 1, sizeof *m->value);  // one block of padding
        m->lower_row = TL_ALLOC(alloc, int32_t, m->block_count - n);
        m->lower_block = TL_ALLOC(alloc, int32_t, m->block_count - n);
        if (!m->col || !m->value || !m->lower_row || !m->lower_block)
            status = tl_fail_memory(err, "matrix blocks");
        else if (cols.count > 0)
            memcpy(m->col, cols.item, (size_t)cols.count * sizeof *m->col);
    }
    TL_FREE(alloc, cols.item, cols.cap);
    return status;
}

// Rows are visited in order, so the references of each row come out ascending too.
void tl_bsr_refer(tl_bsr *m)
{
    const int32_t n = m->row_count;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1]; k++) m->lower_start[m->col[k] + 1]++;
    for (int32_t i = 0; i < n; i++) m->lower_start[i + 1] += m->lower_start[i];
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1]; k++) {
            const int32_t at = m->lower_start[m->col[k]]++;
            m->lower_row[at] = i;
            m->lower_block[at] = k;
        }
    memmove(m->lower_start + 1, m->lower_start, (size_t)n * sizeof *m->lower_start);
    m->lower_start[0] = 0;
}

static tl_status check_groups(int32_t row_count, int32_t group_count, const int32_t *start, const int32_t *items,
                              tl_error *err)
{
    if (row_count < 0 || group_count < 0)
        return tl_fail(err, TL_BAD_ARG, "matrix of %d rows, %d groups", row_count, group_count);
    if (group_count && (!start || start[0] != 0)) return tl_fail(err, TL_BAD_ARG, "matrix groups do not start at 0");
    for (int32_t g = 0; g < group_count; g++) {
        if (start[g + 1] < start[g]) return tl_fail(err, TL_BAD_ARG, "matrix group %d has a negative size", g);
        for (int32_t k = start[g]; k < start[g + 1]; k++)
            if (items[k] < 0 || items[k] >= row_count)
                return tl_fail(err, TL_BAD_ARG, "matrix group %d names row %d of %d", g, items[k], row_count);
    }
    return TL_OK;
}

tl_status tl_bsr_create(const tl_allocator *alloc, int32_t row_count, int32_t group_count, const int32_t *start,
                        const int32_t *items, tl_bsr **out, tl_error *err)
{
    *out = NULL;
    TL_TRY(check_groups(row_count, group_count, start, items, err));
    tl_bsr *m = TL_CALLOC(alloc, tl_bsr, 1);
    if (!m) return tl_fail_memory(err, "matrix");
    m->row_count = row_count;
    m->row_start = TL_CALLOC(alloc, int32_t, row_count + 1);
    m->lower_start = TL_CALLOC(alloc, int32_t, row_count + 1);
    int32_t *mark = TL_ALLOC(alloc, int32_t, row_count);
    incidence inc = {0};
    tl_status status = TL_NO_MEMORY;
    if (!m->row_start || !m->lower_start || !mark ||
        !incidence_build(alloc, row_count, group_count, start, items, &inc))
        tl_fail_memory(err, "matrix pattern");
    else
        status = fill_pattern(alloc, &inc, start, items, mark, m, err);
    incidence_free(alloc, &inc);
    TL_FREE(alloc, mark, row_count);
    if (status != TL_OK) {
        tl_bsr_destroy(alloc, m);
        return status;
    }
    tl_bsr_refer(m);
    *out = m;
    return TL_OK;
}

tl_status tl_bsr_create_rows(const tl_allocator *alloc, int32_t n, const int32_t *count, bool single, tl_bsr **out,
                             tl_error *err)
{
    *out = NULL;
    int64_t blocks = n;
    for (int32_t i = 0; i < n; i++) blocks += count[i];
    if (blocks > INT32_MAX - 1) return tl_fail(err, TL_BAD_ARG, "matrix of %d rows has too many blocks", n);
    tl_bsr *m = TL_CALLOC(alloc, tl_bsr, 1);
    if (!m) return tl_fail_memory(err, "matrix");
    m->row_count = n, m->block_count = (int32_t)blocks;
    m->row_start = TL_CALLOC(alloc, int32_t, n + 1);
    m->lower_start = TL_CALLOC(alloc, int32_t, n + 1);
    m->col = TL_ALLOC(alloc, int32_t, m->block_count);
    m->lower_row = TL_ALLOC(alloc, int32_t, m->block_count - n);
    m->lower_block = TL_ALLOC(alloc, int32_t, m->block_count - n);
    if (single) {  // one block of padding each
        m->single = tl_calloc_bytes(alloc, (size_t)(m->block_count - n) + 1, sizeof *m->single);
        m->diagonal = tl_calloc_bytes(alloc, (size_t)n + 1, sizeof *m->diagonal);
    } else {
        m->value = tl_calloc_bytes(alloc, (size_t)m->block_count + 1, sizeof *m->value);
    }
    if (!m->row_start || !m->lower_start || !m->col || !m->lower_row || !m->lower_block ||
        (single ? !m->single || !m->diagonal : !m->value)) {
        tl_bsr_destroy(alloc, m);
        return tl_fail_memory(err, "matrix blocks");
    }
    for (int32_t i = 0; i < n; i++) m->row_start[i + 1] = m->row_start[i] + 1 + count[i];
    *out = m;
    return TL_OK;
}

void tl_bsr_destroy(const tl_allocator *alloc, tl_bsr *m)
{
    if (!m) return;
    TL_FREE(alloc, m->row_start, m->row_count + 1);
    TL_FREE(alloc, m->lower_start, m->row_count + 1);
    TL_FREE(alloc, m->col, m->block_count);
    TL_FREE(alloc, m->value, (size_t)m->block_count + 1);
    TL_FREE(alloc, m->single, (size_t)(m->block_count - m->row_count) + 1);
    TL_FREE(alloc, m->diagonal, (size_t)m->row_count + 1);
    TL_FREE(alloc, m->lower_row, m->block_count - m->row_count);
    TL_FREE(alloc, m->lower_block, m->block_count - m->row_count);
    TL_FREE(alloc, m, 1);
}

tl_status tl_bsr_to_single(const tl_allocator *alloc, tl_bsr *m, tl_error *err)
{
    if (m->single) return TL_OK;
    const size_t n = (size_t)m->row_count, off = (size_t)m->block_count - n;
    m->single = tl_calloc_bytes(alloc, off + 1, sizeof *m->single);  // one block of padding each
    m->diagonal = tl_calloc_bytes(alloc, n + 1, sizeof *m->diagonal);
    if (!m->single || !m->diagonal) {
        TL_FREE(alloc, m->single, off + 1);
        TL_FREE(alloc, m->diagonal, n + 1);
        m->single = NULL, m->diagonal = NULL;
        return tl_fail_memory(err, "matrix blocks");
    }
    for (int32_t i = 0; i < m->row_count; i++) {
        memcpy(m->diagonal[i], m->value[m->row_start[i]], sizeof *m->diagonal);
        for (int32_t k = m->row_start[i] + 1; k < m->row_start[i + 1]; k++)
            for (int e = 0; e < 9; e++) m->single[k - i - 1][e] = (float)m->value[k][e];
    }
    TL_FREE(alloc, m->value, (size_t)m->block_count + 1);
    m->value = NULL;
    return TL_OK;
}

size_t tl_bsr_memory(const tl_bsr *m)
{
    if (!m) return 0;
    const size_t n = (size_t)m->row_count, blocks = (size_t)m->block_count;
    const size_t values =
        m->single ? (blocks - n) * sizeof *m->single + n * sizeof *m->diagonal : blocks * sizeof *m->value;
    return sizeof *m + 2 * (n + 1) * sizeof(int32_t) + values + blocks * sizeof(int32_t) +
           (blocks - n) * 2 * sizeof(int32_t);
}

int32_t tl_bsr_find(const tl_bsr *m, int32_t i, int32_t j)
{
    int32_t lo = m->row_start[i], hi = m->row_start[i + 1];
    while (lo < hi) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (m->col[mid] < j)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < m->row_start[i + 1] && m->col[lo] == j ? lo : -1;
}

typedef struct product_job {
    const tl_bsr *m;
    const tl_vec3 *x;
    tl_vec3 *y;
} product_job;

TL_INLINE void product_rows(const product_job *job, int32_t begin, int32_t end, bool single)
{
    double y[ROWS_PER_CHUNK][4];
    tl_bsr_rows(job->m, begin, end, &job->x->x, 3, y, false, single);
    for (int32_t i = begin; i < end; i++) job->y[i] = (tl_vec3){y[i - begin][0], y[i - begin][1], y[i - begin][2]};
}

TL_CLONES static void product_chunk(void *arg, int32_t begin, int32_t end)
{
    const product_job *job = arg;
    TL_EITHER_STORAGE(job->m, product_rows, job, begin, end);
}

void tl_bsr_multiply(const tl_bsr *m, tl_workers *workers, const tl_vec3 *x, tl_vec3 *y)
{
    tl_parallel_for(workers, m->row_count, ROWS_PER_CHUNK, product_chunk, &(product_job){m, x, y});
}
