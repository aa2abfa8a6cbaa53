// detect/bvh/bvh_query.c: candidate pairs: simultaneous traversal of two trees by many threads, into sorted lists.
//
// The traversal starts breadth first until there are FEW_ITEMS pairs of subtrees; these are cut into chunks by their
// number alone, and each chunk is traversed depth first. At the leaves the float boxes of primitives are compared eight
// at a time; pairs that overlap there and share no node are decided by their boxes in double, so the result depends
// neither on arity nor on skin nor on rounding. Every node and edge belongs to one leaf, so nothing is found twice.

#include "base/fail.h"
#include "detect/bvh/bvh_lanes.h"
#include "detect/bvh/bvh_query.h"

enum {
    FEW_ITEMS = 512,
    MOST_ITEMS = FEW_ITEMS * MAX_ARITY * MAX_ARITY,
    CHUNKS = 128,
    FLAGS_PER_CHUNK = 8192,
    STACK_ITEMS = 2 * MAX_LEVELS * MAX_ARITY * MAX_ARITY,  // each level of either tree adds at most arity^2 - 1
};

// order_of: the permutation that moves the lanes in `mask` to the front; compress: applies it to eight words at `from`,
// into `to`, which holds eight; compress_range: likewise to first, first + 1, ...; put_pairs: pairs of a with each b of
// the lanes in `mask`, into space for eight.
#ifdef TL_X86_KERNELS
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

typedef __m256i avx2_order;
typedef tl_f8 avx2_floats;
typedef tl_i8 avx2_ints;

TL_INLINE AVX2 __m256i avx2_order_of(uint32_t mask)
{
    const uint64_t bytes = _pdep_u64(mask, 0x0101010101010101u) * 255;  // a byte of ones per lane
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)_pext_u64(0x0706050403020100u, bytes)));
}

TL_INLINE AVX2 void avx2_compress(const void *from, __m256i order, void *to)
{
    _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)from), order));
}

TL_INLINE AVX2 void avx2_compress_range(int32_t first, __m256i order, void *to)
{
    _mm256_storeu_si256((__m256i *)to, _mm256_add_epi32(_mm256_set1_epi32(first), order));
}

TL_INLINE AVX2 void avx2_put_pairs(int32_t a, const int32_t *b, uint32_t mask, pair_order order, tl_pair *to)
{
    const __m256i one = _mm256_set1_epi32(a);
    const __m256i many = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)b), avx2_order_of(mask));
    const __m256i p = order == ONE_FIRST ? one : order == ONE_LAST ? many : _mm256_min_epi32(one, many);
    const __m256i q = order == ONE_FIRST ? many : order == ONE_LAST ? one : _mm256_max_epi32(one, many);
    const __m256i even = _mm256_unpacklo_epi32(p, q), odd = _mm256_unpackhi_epi32(p, q);
    _mm256_storeu_si256((__m256i *)to, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256((__m256i *)(to + 4), _mm256_permute2x128_si256(even, odd, 0x31));
}

#define TRAVERSE(name) avx2_##name
#define TRAVERSE_TARGET AVX2
#define WIDTH 8
#define SPLAT(s) ((tl_f8){(s), (s), (s), (s), (s), (s), (s), (s)})
#define BITS(m) ((uint32_t)_mm256_movemask_ps((__m256)(m)))
#define LEAST(a, b) ((tl_f8)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define MOST(a, b) ((tl_f8)_mm256_max_ps((__m256)(a), (__m256)(b)))
#include "detect/bvh/bvh_traverse.h"
#endif

typedef uint32_t plain_order;
typedef tl_f4 plain_floats;
typedef tl_i4 plain_ints;
typedef int32_t any_word __attribute__((may_alias));  // floats are moved as well

static inline uint32_t plain_order_of(uint32_t mask) { return mask; }

static inline void plain_compress(const void *from, uint32_t mask, void *to)
{
    const any_word *in = from;
    any_word *out = to;
    for (; mask; mask &= mask - 1) *out++ = in[__builtin_ctz(mask)];
}

static inline void plain_compress_range(int32_t first, uint32_t mask, void *to)
{
    int32_t *out = to;
    for (; mask; mask &= mask - 1) *out++ = first + __builtin_ctz(mask);
}

static inline void plain_put_pairs(int32_t a, const int32_t *b, uint32_t mask, pair_order order, tl_pair *to)
{
    for (; mask; mask &= mask - 1) {
        const int32_t c = b[__builtin_ctz(mask)];
        *to++ = order == ONE_LAST || (order == LESSER_FIRST && a > c) ? (tl_pair){c, a} : (tl_pair){a, c};
    }
}

#define TRAVERSE(name) plain_##name
#define TRAVERSE_TARGET
#define WIDTH 4
#define SPLAT(s) ((tl_f4){(s), (s), (s), (s)})
#define BITS BITS4
#define LEAST LEAST4
#define MOST MOST4
#include "detect/bvh/bvh_traverse.h"

// Fills query->item with FEW_ITEMS pairs or more, or with all pairs of leaves. Null on no memory.
static int32_t first_items(pair_query *query, tl_arena *scratch, int64_t *tests)
{
    work *now = TL_SCRATCH(scratch, work, MOST_ITEMS), *next = TL_SCRATCH(scratch, work, MOST_ITEMS);
    if (!now || !next) return -1;
    int32_t (*widen)(const pair_query *, const work *, int32_t, work *, int64_t *, bool *) = plain_widen;
#ifdef TL_X86_KERNELS
    if (takes_avx2(query->what)) widen = avx2_widen;
#endif
    int32_t n = 1;
    now[0] = (work){0, 0};
    for (bool inner = true; inner && n < FEW_ITEMS;) {
        const int32_t m = widen(query, now, n, next, tests, &inner);
        work *swap = now;
        now = next, next = swap, n = m;
    }
    query->item = now;
    return n;
}

static tl_status walk(pair_query *query, int32_t items, int64_t blocks, tl_arena *scratch, tl_workers *workers,
                      tl_error *err)
{
    pair_pool *pool = &query->pool;
    if (blocks > INT32_MAX / 2) return tl_fail_memory(err, "pairs");
    pool->pair = TL_SCRATCH(scratch, tl_pair, blocks * BLOCK_PAIRS);
    pool->used = TL_SCRATCH(scratch, int32_t, blocks);
    pool->list = TL_SCRATCH(scratch, uint8_t, blocks);
    if (!pool->pair || !pool->used || !pool->list) return tl_fail_memory(err, "pairs");
    pool->block_count = (int32_t)blocks;
    atomic_store(&pool->next, 0);
    tl_range_fn chunk = plain_chunk[query->mode];
#ifdef TL_X86_KERNELS
    if (takes_avx2(query->what)) chunk = avx2_chunk[query->mode];
#endif
    tl_parallel_for(workers, items, query->chunk_items, chunk, query);
    return TL_OK;
}

static tl_status run(pair_query *query, tl_arena *scratch, tl_workers *workers, tl_pairs *out, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(scratch);
    out->vf_count = out->ee_count = out->fv_count = out->ef_count = out->fe_count = 0;
    out->volume_tests = out->face_pairs = 0;
    int64_t tests = 0;
    const int32_t items = first_items(query, scratch, &tests);
    if (items < 0) return tl_fail_memory(err, "pairs");
    query->chunk_items = tl_chunk_count(items, CHUNKS) + (items == 0);
    const int32_t chunks = tl_chunk_count(items, query->chunk_items);
    query->counts = tl_arena_bytes(scratch, (size_t)chunks, sizeof *query->counts);
    tl_status status = query->counts ? TL_OK : tl_fail_memory(err, "pairs");
    // Space for as many pairs as last time, and one partly filled block per chunk and list.
    const int64_t kept = (int64_t)out->vf_cap + out->ee_cap + out->fv_cap + out->ef_cap + out->fe_cap;
    const tl_arena_mark before = tl_arena_save(scratch);
    for (int64_t blocks = kept / BLOCK_PAIRS + chunks * (int64_t)LISTS + 64; status == TL_OK; blocks *= 2) {
        tl_arena_release(scratch, before);
        status = walk(query, items, blocks, scratch, workers, err);
        if (status == TL_OK && !pool_is_full(&query->pool)) break;
    }
    const tl_surface *a = &query->a->surface, *b = &query->b->surface;
    const tl_ctx ctx = {scratch, workers};
#define SORT(list, name, n)                                                                                            \
    if (status == TL_OK)                                                                                               \
    status = tl_bvh_sort_list(&query->pool, list, n, query->what, &ctx,                                                \
                              (pair_list){&out->alloc, &out->name, &out->name##_count, &out->name##_cap}, err)
    SORT(LIST_VF, vf, a->node_count);
    SORT(LIST_EE, ee, a->edge_count);
    SORT(LIST_FV, fv, b->node_count);
    SORT(LIST_EF, ef, a->edge_count);
    SORT(LIST_FE, fe, b->edge_count);
#undef SORT
    for (int32_t c = 0; status == TL_OK && c < chunks; c++)
        tests += query->counts[c][0], out->face_pairs += query->counts[c][1];
    out->volume_tests = tests;
    tl_arena_release(scratch, mark);
    return status;
}

// --- some of the primitives ---

/// Flags of the primitives that have a chosen node.
typedef struct flag_job {
    const tl_bvh *t;
    const uint8_t *some;
    uint8_t *flag[PRIM_KINDS];
} flag_job;

static void flag_nodes(void *arg, int32_t begin, int32_t end)
{
    const flag_job *job = arg;
    for (int32_t i = begin; i < end; i++) job->flag[PRIM_NODE][i] = job->some[job->t->id[PRIM_NODE][i]] != 0;
}

static void flag_edges(void *arg, int32_t begin, int32_t end)
{
    const flag_job *job = arg;
    const uint8_t *node = job->flag[PRIM_NODE];
    for (int32_t i = begin; i < end; i++) job->flag[PRIM_EDGE][i] = node[job->t->end[0][i]] | node[job->t->end[1][i]];
}

static void flag_faces(void *arg, int32_t begin, int32_t end)
{
    const flag_job *job = arg;
    const uint8_t *node = job->flag[PRIM_NODE];
    for (int32_t i = begin; i < end; i++)
        job->flag[PRIM_FACE][i] = node[job->t->corner[0][i]] | node[job->t->corner[1][i]] | node[job->t->corner[2][i]];
}

static uint8_t lanes_with(const tl_bvh *t, int32_t inner, const uint8_t *face, const uint8_t *lanes)
{
    uint8_t out = 0;
    for (int c = 0; c < t->def.arity; c++) {
        const int32_t child = t->child[inner * t->def.arity + c];
        bool any = child >= 0 && lanes[child] != 0;
        if (child < 0 && child != NO_CHILD)  // edges and nodes of a leaf are those of its faces
            for (int32_t i = t->leaf[~child].first[PRIM_FACE]; i < t->leaf[~child + 1].first[PRIM_FACE]; i++)
                any |= face[i];
        out |= (uint8_t)(any << c);
    }
    return out;
}

tl_status tl_bvh_choose(const tl_bvh *t, const uint8_t *some, tl_arena *arena, tl_workers *workers, tl_bvh_chosen *out,
                        tl_error *err)
{
    flag_job job = {.t = t, .some = some};
    uint8_t *lanes = TL_SCRATCH(arena, uint8_t, t->inner_count + 1);
    for (int kind = 0; kind < PRIM_KINDS; kind++) {
        job.flag[kind] = TL_SCRATCH(arena, uint8_t, t->count[kind] + LANES);
        if (!job.flag[kind] || !lanes) return tl_fail_memory(err, "pairs");
        for (int i = 0; i < LANES; i++) job.flag[kind][t->count[kind] + i] = 0;
        out->primitive[kind] = job.flag[kind];
    }
    out->subtree = lanes;
    tl_parallel_for(workers, t->count[PRIM_NODE], FLAGS_PER_CHUNK, flag_nodes, &job);
    tl_parallel_for(workers, t->count[PRIM_EDGE], FLAGS_PER_CHUNK, flag_edges, &job);
    tl_parallel_for(workers, t->count[PRIM_FACE], FLAGS_PER_CHUNK, flag_faces, &job);
    // level by level, so children come later
    for (int32_t n = t->inner_count - 1; n >= 0; n--) lanes[n] = lanes_with(t, n, job.flag[PRIM_FACE], lanes);
    return TL_OK;
}

static pair_query start(const tl_bvh *a, const tl_bvh *b, int what)
{
    const float slack = a == b ? 2 * a->slack : a->slack + b->slack;
    pair_query query = {.a = a, .b = b, .what = what};
    query.mode = a->def.relative ? RELATIVE : SWEPT;
    query.limits.path_may = 0, query.limits.path_does = -slack;
    return query;
}

tl_status tl_bvh_self(const tl_bvh *bvh, int what, tl_arena *scratch, tl_workers *workers, tl_pairs *out, tl_error *err)
{
    pair_query query = start(bvh, bvh, what);
    return run(&query, scratch, workers, out, err);
}

tl_status tl_bvh_between(const tl_bvh *first, const tl_bvh *second, int what, tl_arena *scratch, tl_workers *workers,
                         tl_pairs *out, tl_error *err)
{
    TL_ASSERT(first != second, "a surface is asked for pairs with itself as if with another");
    if (!first->def.relative != !second->def.relative)
        return tl_fail(err, TL_BAD_ARG, "bvh: one tree is for relative motion, the other is not");
    pair_query query = start(first, second, what);
    return run(&query, scratch, workers, out, err);
}

// Gaps in float are off by less than the slack, so everything farther from the reach than that is decided. Squares are
// off by a few 2^-24 of themselves, and by less than TINY where they are subnormal; small ones are left to double.
static tl_status start_near(const tl_bvh *a, const tl_bvh *b, int what, tl_near near, pair_query *query, tl_error *err)
{
    static const float TINY = 1e-36f, MORE = 1 + 0x1p-20f, LESS = 1 - 0x1p-20f;
    if (!(near.path >= 0) || !(near.end >= 0))
        return tl_fail(err, TL_BAD_ARG, "bvh: pairs nearer than %g on the way or %g at the end, must be >= 0",
                       near.path, near.end);
    if (!a->def.relative || !b->def.relative)
        return tl_fail(err, TL_BAD_ARG, "bvh: the tree is not for relative motion");
    *query = start(a, b, what);
    query->mode = NEAR, query->path_reach = near.path, query->end_reach = near.end;
    const float slack = -query->limits.path_does, most = FLT_MAX;
    const float path = near.path < (double)most ? (float)near.path : most,
                end = near.end < (double)most ? (float)near.end : most;
    const float path_out = path * MORE + slack, end_out = end * MORE + slack;
    const float path_in = path * LESS - slack, end_in = end * LESS - slack;
    query->limits.path_may = path_out, query->limits.path_does = path < most ? path_in : -INFINITY;
    query->limits.end2_may = fmaxf(end_out * end_out * MORE, TINY);
    const float end_in2 = end_in > 0 ? end_in * end_in * LESS : 0;
    query->limits.end2_does = end_in2 > TINY && end_in2 < most / 4 ? end_in2 : -1;
    query->reach[0] = path_out, query->reach[1] = fmaxf(path_out, end_out);
    return TL_OK;
}

static tl_status run_near(const tl_bvh *a, const tl_bvh *b, int what, tl_near near, tl_arena *scratch,
                          tl_workers *workers, tl_pairs *out, tl_error *err)
{
    pair_query query;
    TL_TRY(start_near(a, b, what, near, &query, err));
    if (near.some) {
        query.lanes = near.some->subtree;
        for (int kind = 0; kind < PRIM_KINDS; kind++) query.some[kind] = near.some->primitive[kind];
    }
    return run(&query, scratch, workers, out, err);
}

tl_status tl_bvh_self_near(const tl_bvh *bvh, int what, tl_near near, tl_arena *scratch, tl_workers *workers,
                           tl_pairs *out, tl_error *err)
{
    return run_near(bvh, bvh, what, near, scratch, workers, out, err);
}

tl_status tl_bvh_between_near(const tl_bvh *first, const tl_bvh *second, int what, tl_near near, tl_arena *scratch,
                              tl_workers *workers, tl_pairs *out, tl_error *err)
{
    TL_ASSERT(first != second, "a surface is asked for pairs with itself as if with another");
    return run_near(first, second, what, near, scratch, workers, out, err);
}
