// collide/contact_blocks.c: what contacts add to the Hessian off its diagonal and the cloth's matrix has no place for.
//
// That is every block across the gap, since pairs come and go, and all blocks of contacts so hard that single precision, in which
// the matrix keeps what is off its diagonal, would lose more of them than the inertia of a node (and leave that behind when
// contacts foreseen are taken back). All in double, in a matrix of its own (tl_extra.blocks), made anew whenever the contacts
// change: rows are gathered from the lists of contacts around a node, so the bits do not depend on the number of threads.

#include "base/fail.h"
#include "collide/contact_impl.h"
#include "math/bsr.h"

enum { NODES_PER_CHUNK = 256, CONTACTS_PER_CHUNK = 1024 };

/// What rows need to know of a contact; small, since they look at contacts in no order.
typedef struct ends {
    int32_t node[4];     // that have blocks, or -1
    uint8_t partners[4];  // of each place: bits of the places with which its block belongs here
} ends;

static ends ends_of(const tl_contacts *c, const contact *ct)
{
    ends out = {{-1, -1, -1, -1}, {0}};
    for (int k = 0; k < pair_nodes(&ct->pair); k++)
        if (ct->weight[k] != 0 && contact_is_free(c, ct->pair.node[k])) out.node[k] = ct->pair.node[k];
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (a != b && out.node[b] >= 0 && (ct->hard || !contact_one_feature(&ct->pair, a, b))) out.partners[a] |= (uint8_t)(1 << b);
    return out;
}

// Without a jump that depends on the numbers: those cannot be guessed.
static int32_t lower_bound(const int32_t *cols, int32_t n, int32_t j)
{
    const int32_t *at = cols;
    while (n > 1) {
        const int32_t half = n / 2;
        at += at[half - 1] < j ? half : 0;
        n -= half;
    }
    return (int32_t)(at - cols) + (n == 1 && *at < j);
}

typedef struct blocks_job {
    tl_contacts *c;
    int32_t *cols;
    ends *ends;  // per contact
} blocks_job;

static void list_chunk(void *arg, int32_t begin, int32_t end)
{
    const blocks_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->ends[i] = ends_of(job->c, &job->c->contacts[i]);
}

// Columns of every row, ascending; row i has room for three per contact around it.
static void collect_chunk(void *arg, int32_t begin, int32_t end)
{
    const blocks_job *job = arg;
    tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        int32_t *cols = job->cols + (int64_t)3 * c->near_start[i], n = 0;
        c->blocks.busy[i] = 0;
        for (int32_t k = c->near_start[i]; k < c->near_start[i + 1]; k++) {
            const ends *e = &job->ends[c->near_item[k] / 4];
            c->blocks.busy[i] |= e->partners[c->near_item[k] % 4] != 0 || c->contacts[c->near_item[k] / 4].hard;
            for (uint32_t left = e->partners[c->near_item[k] % 4]; left; left &= left - 1) {
                const int32_t j = e->node[__builtin_ctz(left)];
                if (j <= i) continue;
                const int32_t at = lower_bound(cols, n, j);
                if (at < n && cols[at] == j) continue;
                memmove(cols + at + 1, cols + at, (size_t)(n - at) * sizeof *cols);
                cols[at] = j, n++;
            }
        }
        c->blocks.row_start[i + 1] = n + 1;
    }
}

static void add_scaled(double *block, double scale, const double s[6])
{
    block[0] += scale * s[0], block[4] += scale * s[1], block[8] += scale * s[2];
    block[5] += scale * s[3], block[2] += scale * s[4], block[1] += scale * s[5];
}

static void fill_chunk(void *arg, int32_t begin, int32_t end)
{
    const blocks_job *job = arg;
    const tl_contacts *c = job->c;
    const tl_bsr *m = &c->blocks;
    const int32_t all = c->near_start[c->node_count];
    for (int32_t i = begin; i < end; i++) {
        const int32_t first = m->row_start[i], n = m->row_start[i + 1] - first - 1;
        int32_t *cols = m->col + first + 1;
        double(*value)[9] = m->value + first + 1;
        m->col[first] = i;
        memcpy(cols, job->cols + (int64_t)3 * c->near_start[i], (size_t)n * sizeof *cols);
        memset(m->value[first], 0, (size_t)(n + 1) * sizeof *value);
        for (int32_t k = c->near_start[i]; k < c->near_start[i + 1]; k++) {
            CONTACT_ASK_FOR(c, k, all);
            const int a = c->near_item[k] % 4;
            const contact *ct = &c->contacts[c->near_item[k] / 4];
            const double w = ct->weight[a];
            if (ct->hard) add_scaled(m->value[first], w * w - contact_diagonal(ct, a), ct->stiff);  // else it is zero
            const ends *e = &job->ends[c->near_item[k] / 4];
            for (uint32_t left = e->partners[a]; left; left &= left - 1) {
                const int b = __builtin_ctz(left);
                const int32_t j = e->node[b];
                if (j <= i) continue;
                add_scaled(value[lower_bound(cols, n, j)], w * ct->weight[b], ct->stiff);
            }
        }
        for (int32_t k = -1; k < n; k++) value[k][3] = value[k][1], value[k][6] = value[k][2], value[k][7] = value[k][5];
    }
}

tl_status contact_fill_blocks(tl_contacts *c, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    const int32_t n = c->node_count;
    const tl_arena_mark mark = tl_arena_save(arena);
    tl_bsr *m = &c->blocks;
    blocks_job job = {c, TL_SCRATCH(arena, int32_t, (int64_t)3 * c->near_start[n]), TL_SCRATCH(arena, ends, c->contact_count)};
    tl_status status = job.cols && job.ends ? TL_OK : tl_fail_memory(err, "the contacts");
    if (status == TL_OK) {
        tl_parallel_for(workers, c->contact_count, CONTACTS_PER_CHUNK, list_chunk, &job);
        tl_parallel_for(workers, n, NODES_PER_CHUNK, collect_chunk, &job);
        for (int32_t i = 0; i < n; i++) m->row_start[i + 1] += m->row_start[i];
        const int32_t count = m->row_start[n];
        if (CONTACT_GROW(c, m->col, c->blocks_cap[0], count) && CONTACT_GROW(c, m->value, c->blocks_cap[1], count + 1) &&
            CONTACT_GROW(c, m->lower_row, c->blocks_cap[2], count - n) &&
            CONTACT_GROW(c, m->lower_block, c->blocks_cap[3], count - n))
            m->row_count = n, m->block_count = count;
        else
            status = tl_fail_memory(err, "the contacts");
    }
    if (status == TL_OK) {
        tl_parallel_for(workers, n, NODES_PER_CHUNK, fill_chunk, &job);
        memset(m->value[m->block_count], 0, sizeof *m->value);
        memset(m->lower_start, 0, (size_t)(n + 1) * sizeof *m->lower_start);
        tl_bsr_refer(m);
    }
    tl_arena_release(arena, mark);
    return status;
}

const tl_bsr *tl_contacts_blocks(const tl_contacts *c) { return c->blocks.block_count > c->node_count ? &c->blocks : NULL; }
