// respond/barrier/barrier_blocks.c: off-diagonal blocks of contacts that are not in the pattern of the cloth's matrix.
//
// These are all blocks between the two features of a pair, since pairs come and go, and all blocks of contacts that are
// too stiff for the single precision of the matrix: rounding would exceed the inertia of a node (and would stay behind
// when predicted contacts are removed). They are stored in double in a matrix of their own (tl_extra.blocks), rebuilt
// whenever the contacts change. Rows gather from the lists of contacts by node, so the bits do not depend on the number
// of threads.

#include "base/fail.h"
#include "base/sort.h"
#include "respond/contact_impl.h"
#include "math/bsr.h"

enum { NODES_PER_CHUNK = 256, CONTACTS_PER_CHUNK = 1024 };

/// What rows need of a contact; compact, since rows access contacts in no order.
typedef struct ends {
    int32_t node[4];      // that have blocks, or -1
    uint8_t partners[4];  // of each place: bits of the places with which its block belongs here
} ends;

static ends ends_of(const tl_contacts *c, const contact *ct)
{
    ends out = {{-1, -1, -1, -1}, {0}};
    for (int k = 0; k < pair_nodes(&ct->pair); k++)
        if (ct->weight[k] != 0 && contact_is_free(c, ct->pair.node[k])) out.node[k] = ct->pair.node[k];
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (a != b && out.node[b] >= 0 && (ct->needs_double || !contact_one_feature(&ct->pair, a, b)))
                out.partners[a] |= (uint8_t)(1 << b);
    return out;
}

/// A column of a row, with the order in which it was met; sorted by column number.
typedef uint64_t met;
static met make_met(int32_t col, int32_t order) { return (uint64_t)col << 32 | (uint32_t)order; }
static int32_t met_col(met m) { return (int32_t)(m >> 32); }
static int32_t met_order(met m) { return (int32_t)(uint32_t)m; }

typedef struct blocks_job {
    tl_contacts *c;
    ends *ends;  // per contact
    // scratch of a group of rows: three columns per contact of a row
    int32_t begin;   // the first of them
    met *met;        // its columns, ascending
    int32_t *order;  // of every block that a contact adds, in the order in which a row finds them: which of its columns
    int32_t *rank;   // scratch
} blocks_job;

/// Where the scratch space of a row begins.
static int64_t offset_of(const blocks_job *job, int32_t row)
{
    const int32_t *a = job->c->set.by_node[ACTIVE].start, *b = job->c->set.by_node[PREDICTED].start;
    return (int64_t)3 * (a[row] - a[job->begin]) + (int64_t)3 * (b[row] - b[job->begin]);
}

static void list_chunk(void *arg, int32_t begin, int32_t end)
{
    const blocks_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->ends[i] = ends_of(job->c, &job->c->set.contact[i]);
}

/// Hash table of the columns of a row. Columns that do not fit are searched linearly: rows of hundreds are rare.
enum { TABLE_BITS = 10, TABLE = 1 << TABLE_BITS, TABLE_FULL = TABLE / 2 };
typedef struct table {
    int32_t col[TABLE], order[TABLE], used[TABLE_FULL];
} table;

static int32_t find_or_add(table *t, met *list, int32_t *n, int32_t j)
{
    uint32_t h = (uint32_t)j * 2654435761u >> (32 - TABLE_BITS);  // Knuth's multiplicative hashing
    for (; t->col[h] >= 0; h = (h + 1) % TABLE)
        if (t->col[h] == j) return t->order[h];
    for (int32_t k = TABLE_FULL; k < *n; k++)
        if (met_col(list[k]) == j) return k;
    if (*n < TABLE_FULL) t->col[h] = j, t->order[h] = *n, t->used[*n] = (int32_t)h;
    list[*n] = make_met(j, *n);
    return (*n)++;
}

// Columns of every row, and the column of each block.
static void collect_chunk(void *arg, int32_t begin, int32_t end)
{
    const blocks_job *job = arg;
    tl_contacts *c = job->c;
    table t;
    memset(t.col, -1, sizeof t.col);
    for (int32_t i = job->begin + begin; i < job->begin + end; i++) {
        const int64_t offset = offset_of(job, i);
        met *list = job->met + offset;
        int32_t *order = job->order + offset, *rank = job->rank + offset, n = 0, blocks = 0;
        bool busy = false;
        for (int kind = 0; kind < CONTACT_KINDS; kind++) {
            const node_contacts *near = &c->set.by_node[kind];
            for (int32_t k = near->start[i]; k < near->start[i + 1]; k++) {
                const ends *e = &job->ends[near->item[k] / 4];
                const uint32_t partners = e->partners[near->item[k] % 4];
                busy = busy || partners != 0 || c->set.contact[near->item[k] / 4].needs_double;
                for (uint32_t left = partners; left; left &= left - 1) {
                    const int32_t j = e->node[__builtin_ctz(left)];
                    if (j <= i) continue;
                    order[blocks++] = find_or_add(&t, list, &n, j);
                }
            }
        }
        for (int32_t k = 0; k < n && k < TABLE_FULL; k++) t.col[t.used[k]] = -1;
        tl_sort_words(list, n);
        for (int32_t k = 0; k < n; k++) rank[met_order(list[k])] = k;
        for (int32_t k = 0; k < blocks; k++) order[k] = rank[order[k]];
        c->set.blocks.busy[i] = busy;
        c->set.blocks.row_start[i + 1] = 1 + n;
    }
}

static void add_scaled(double *block, double scale, const double s[6])
{
    block[0] += scale * s[0], block[4] += scale * s[1], block[8] += scale * s[2];
    block[5] += scale * s[3], block[2] += scale * s[4], block[1] += scale * s[5];
}

// Adds the contacts of a kind to row i; `order` holds the column of each block.
static const int32_t *add_contacts(const blocks_job *job, int kind, int32_t i, const int32_t *order, double (*value)[9])
{
    const tl_contacts *c = job->c;
    const node_contacts *near = &c->set.by_node[kind];
    const int32_t all = near->start[c->node_count];
    for (int32_t k = near->start[i]; k < near->start[i + 1]; k++) {
        CONTACT_PREFETCH(c, near, k, all);
        const int a = near->item[k] % 4;
        const contact *ct = &c->set.contact[near->item[k] / 4];
        const double w = ct->weight[a];
        if (ct->needs_double) add_scaled(value[0], w * w - contact_diagonal(ct, a), ct->stiff);  // else it is zero
        const ends *e = &job->ends[near->item[k] / 4];
        for (uint32_t left = e->partners[a]; left; left &= left - 1) {
            const int b = __builtin_ctz(left);
            if (e->node[b] > i) add_scaled(value[1 + *order++], w * ct->weight[b], ct->stiff);
        }
    }
    return order;
}

static void fill_chunk(void *arg, int32_t begin, int32_t end)
{
    const blocks_job *job = arg;
    const tl_bsr *m = &job->c->set.blocks;
    for (int32_t i = job->begin + begin; i < job->begin + end; i++) {
        const int64_t offset = offset_of(job, i);
        const met *list = job->met + offset;
        const int32_t first = m->row_start[i], n = m->row_start[i + 1] - first;
        double(*value)[9] = m->value + first;
        m->col[first] = i;
        for (int32_t k = 1; k < n; k++) m->col[first + k] = met_col(list[k - 1]);
        memset(value, 0, (size_t)n * sizeof *value);
        const int32_t *order = job->order + offset;
        for (int kind = 0; kind < CONTACT_KINDS; kind++) order = add_contacts(job, kind, i, order, value);
        for (int32_t k = 0; k < n; k++) value[k][3] = value[k][1], value[k][6] = value[k][2], value[k][7] = value[k][5];
    }
}

enum { GROUP = 4096 };  // rows: what each needs for scratch is more than what comes of it

static int32_t end_of_group(const tl_contacts *c, int32_t begin)
{
    return c->node_count - begin < GROUP ? c->node_count : begin + GROUP;
}

static bool take_scratch(blocks_job *job, tl_arena *arena)
{
    const tl_contacts *c = job->c;
    int64_t most = 0;
    for (job->begin = 0; job->begin < c->node_count; job->begin += GROUP) {
        const int64_t offset = offset_of(job, end_of_group(c, job->begin));
        most = offset > most ? offset : most;
    }
    job->ends = TL_SCRATCH(arena, ends, c->set.count);
    job->met = TL_SCRATCH(arena, met, most);
    job->order = TL_SCRATCH(arena, int32_t, most);
    job->rank = TL_SCRATCH(arena, int32_t, most);
    return job->ends && job->met && job->order && job->rank;
}

// Rows from job->begin on.
static tl_status fill_group(blocks_job *job, tl_workers *workers, tl_error *err)
{
    tl_contacts *c = job->c;
    tl_bsr *m = &c->set.blocks;
    const int32_t end = end_of_group(c, job->begin), rows = end - job->begin;
    tl_parallel_for(workers, rows, NODES_PER_CHUNK, collect_chunk, job);
    for (int32_t i = job->begin; i < end; i++) m->row_start[i + 1] += m->row_start[i];
    if (!CONTACT_GROW(c, m->col, c->set.blocks_cap[0], m->row_start[end]) ||
        !CONTACT_GROW(c, m->value, c->set.blocks_cap[1], m->row_start[end] + 1))
        return tl_fail_memory(err, "the contacts");
    tl_parallel_for(workers, rows, NODES_PER_CHUNK, fill_chunk, job);
    return TL_OK;
}

static tl_status fill_blocks(tl_contacts *c, const tl_ctx *ctx, tl_error *err)
{
    const int32_t n = c->node_count;
    tl_bsr *m = &c->set.blocks;
    blocks_job job = {.c = c};
    if (!take_scratch(&job, ctx->arena)) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(ctx->workers, c->set.count, CONTACTS_PER_CHUNK, list_chunk, &job);
    for (job.begin = 0; job.begin < n; job.begin += GROUP) TL_TRY(fill_group(&job, ctx->workers, err));
    const int32_t count = m->row_start[n];
    if (!CONTACT_GROW(c, m->lower_row, c->set.blocks_cap[2], count - n) ||
        !CONTACT_GROW(c, m->lower_block, c->set.blocks_cap[3], count - n))
        return tl_fail_memory(err, "the contacts");
    m->row_count = n, m->block_count = count;
    memset(m->value[count], 0, sizeof *m->value);
    memset(m->lower_start, 0, (size_t)(n + 1) * sizeof *m->lower_start);
    tl_bsr_refer(m);
    return TL_OK;
}

tl_status tl_contacts_blocks(tl_contacts *c, const tl_ctx *ctx, const tl_bsr **out, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const tl_status status = c->set.blocks_valid || c->set.count == 0 ? TL_OK : fill_blocks(c, ctx, err);
    tl_arena_release(ctx->arena, mark);
    c->set.blocks_valid = status == TL_OK;
    *out = c->set.blocks_valid && c->set.count > 0 && c->set.blocks.block_count > c->node_count ? &c->set.blocks : NULL;
    return status;
}
