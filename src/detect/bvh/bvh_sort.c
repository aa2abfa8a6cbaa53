// detect/bvh/bvh_sort.c: sorts blocks of pairs into a list by (a, b).
//
// A counting sort by a; then the partners of each a, usually few and sometimes some hundred, are sorted. With AVX2 by
// Batcher's bitonic network (1968) on vectors, which has no branches to predict; else by rank. The order is total and
// pairs are distinct, so the result does not depend on the order of the input.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/bvh/bvh_query.h"

enum {
    MOST_SORTED = 256,  // numbers sorted at once, a power of two of vectors; pieces of that are merged
    FIRSTS_PER_CHUNK = 1024,
};

/// Partners by a: those of a begin at first[a] and end where those of a + 1 begin.
typedef struct dealt {
    const int32_t *first;
    const int32_t *partner;  // LANES entries more
    tl_pair *out, *spare;    // spare: if there are any with more than MOST_SORTED
} dealt;

static void merge(const tl_pair *a, int32_t na, const tl_pair *b, int32_t nb, tl_pair *out)
{
    int32_t i = 0, j = 0;
    while (i < na && j < nb) *out++ = a[i].b < b[j].b ? a[i++] : b[j++];
    for (; i < na; i++) *out++ = a[i];
    for (; j < nb; j++) *out++ = b[j];
}

// Merges runs of MOST_SORTED pairs; `other` is scratch for n.
static void merge_pieces(tl_pair *pair, int64_t n, tl_pair *other)
{
    tl_pair *now = pair, *next = other;
    for (int64_t width = MOST_SORTED; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width) {
            const int64_t middle = i + width < n ? i + width : n, end = i + 2 * width < n ? i + 2 * width : n;
            merge(now + i, (int32_t)(middle - i), now + middle, (int32_t)(end - middle), next + i);
        }
        tl_pair *swap = now;
        now = next, next = swap;
    }
    if (now != pair) memcpy(pair, now, (size_t)n * sizeof *pair);
}

// --- by rank ---

// Sorts n <= MOST_SORTED distinct numbers, with LANES readable ones behind them, by rank. `out` has one more entry, for
// lanes past the end.
TL_INLINE void sort_by_rank(const int32_t *in, int32_t n, int32_t *out)
{
    for (int32_t i = 0; i < n; i += LANES) {
        const tl_i4 low = *(const tl_i4 *)(in + i), high = *(const tl_i4 *)(in + i + 4);
        tl_i4 rank[2] = {{0}, {0}};
        for (int32_t j = 0; j < n; j++) {
            const int32_t c = in[j];
            const tl_i4 other = {c, c, c, c};
            rank[0] -= (tl_i4)(low > other), rank[1] -= (tl_i4)(high > other);
        }
        int32_t to[LANES];
        memcpy(to, rank, sizeof to);  // lanes are had sooner from memory than one by one
        for (int k = 0; k < LANES; k++) out[i + k < n ? to[k] : n] = in[i + k];
    }
}

static void plain_sort_partners(void *arg, int32_t begin, int32_t end)
{
    const dealt *d = arg;
    int32_t sorted[MOST_SORTED + 1];
    for (int32_t a = begin; a < end; a++) {
        const int32_t first = d->first[a], n = d->first[a + 1] - first;
        for (int32_t i = 0; i < n; i += MOST_SORTED) {
            const int32_t m = n - i < MOST_SORTED ? n - i : MOST_SORTED;
            sort_by_rank(d->partner + first + i, m, sorted);
            for (int32_t j = 0; j < m; j++) d->out[first + i + j] = (tl_pair){a, sorted[j]};
        }
        if (n > MOST_SORTED) merge_pieces(d->out + first, n, d->spare + first);
    }
}

// --- by a network ---

#ifdef TL_X86_KERNELS
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
#define FLIP8(v) _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0))

// Per lane the minimum of v and `other` where bit i of `high` is 0, else the maximum.
#define EXCHANGE(v, other, high) _mm256_blend_epi32(_mm256_min_epi32(v, other), _mm256_max_epi32(v, other), high)

TL_INLINE AVX2 __m256i exchange1(__m256i v) { return EXCHANGE(v, _mm256_shuffle_epi32(v, 0xB1), 0xAA); }
TL_INLINE AVX2 __m256i exchange2(__m256i v) { return EXCHANGE(v, _mm256_shuffle_epi32(v, 0x4E), 0xCC); }
TL_INLINE AVX2 __m256i exchange4(__m256i v) { return EXCHANGE(v, _mm256_permute4x64_epi64(v, 0x4E), 0xF0); }

// Eight numbers: pairs, then two pairs of which one is turned about, then two fours.
TL_INLINE AVX2 __m256i sort8(__m256i v)
{
    v = exchange1(v);
    v = exchange1(EXCHANGE(v, _mm256_shuffle_epi32(v, 0x1B), 0xCC));
    return exchange1(exchange2(EXCHANGE(v, FLIP8(v), 0xF0)));
}

// Two ascending rows of half `width` vectors each into one.
TL_INLINE AVX2 void merge8(__m256i *v, int width)
{
    for (int i = 0; i < width / 2; i++) {
        const __m256i a = v[i], b = FLIP8(v[width - 1 - i]);
        v[i] = _mm256_min_epi32(a, b), v[width - 1 - i] = FLIP8(_mm256_max_epi32(a, b));
    }
    for (int step = width / 4; step > 0; step /= 2)
        for (int i = 0; i < width; i += 2 * step)
            for (int j = i; j < i + step; j++) {
                const __m256i a = v[j], b = v[j + step];
                v[j] = _mm256_min_epi32(a, b), v[j + step] = _mm256_max_epi32(a, b);
            }
    for (int i = 0; i < width; i++) v[i] = exchange1(exchange2(exchange4(v[i])));
}

// Sorts n <= MOST_SORTED numbers, with LANES readable ones behind them; at the end of the vectors are greater ones.
// `vectors`: a power of two that holds them.
TL_INLINE AVX2 void sort_vectors(const int32_t *in, int32_t n, int vectors, __m256i *v)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), none = _mm256_set1_epi32(INT32_MAX);
    for (int i = 0; i < vectors; i++) {
        const __m256i past =
            _mm256_cmpgt_epi32(_mm256_set1_epi32(i * LANES - n + 1), _mm256_sub_epi32(_mm256_setzero_si256(), lane));
        const __m256i number = i * LANES < n ? _mm256_loadu_si256((const __m256i *)(in + i * LANES)) : none;
        v[i] = sort8(_mm256_blendv_epi8(number, none, past));
    }
    for (int width = 2; width <= vectors; width *= 2)
        for (int i = 0; i < vectors; i += width) merge8(v + i, width);
}

TL_INLINE AVX2 void put_sorted(int32_t a, const __m256i *v, int32_t n, tl_pair *out)
{
    const __m256i one = _mm256_set1_epi32(a);
    for (int32_t i = 0; i < n; i += LANES) {
        const __m256i many = v[i / LANES], even = _mm256_unpacklo_epi32(one, many),
                      odd = _mm256_unpackhi_epi32(one, many);
        _mm256_storeu_si256((__m256i *)(out + i), _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256((__m256i *)(out + i + 4), _mm256_permute2x128_si256(even, odd, 0x31));
    }
}

AVX2 static void avx2_sort_partners(void *arg, int32_t begin, int32_t end)
{
    const dealt *d = arg;
    __m256i v[MOST_SORTED / LANES];
    tl_pair last[MOST_SORTED];
    for (int32_t a = begin; a < end; a++) {
        const int32_t first = d->first[a], n = d->first[a + 1] - first;
        for (int32_t i = 0; i < n; i += MOST_SORTED) {
            const int32_t *in = d->partner + first + i, m = n - i < MOST_SORTED ? n - i : MOST_SORTED;
            if (m <= 8)
                sort_vectors(in, m, 1, v);
            else if (m <= 16)
                sort_vectors(in, m, 2, v);
            else if (m <= 32)
                sort_vectors(in, m, 4, v);
            else if (m <= 64)
                sort_vectors(in, m, 8, v);
            else if (m <= 128)
                sort_vectors(in, m, 16, v);
            else
                sort_vectors(in, m, 32, v);
            // Whole vectors overlap the next list, which is written later; past the last one of the chunk, other
            // threads write.
            tl_pair *out = d->out + first + i;
            if (first + i + pad_lanes(m) <= d->first[end]) {
                put_sorted(a, v, m, out);
            } else {
                put_sorted(a, v, m, last);
                memcpy(out, last, (size_t)m * sizeof *out);
            }
        }
        if (n > MOST_SORTED) merge_pieces(d->out + first, n, d->spare + first);
    }
}
#endif

// --- counting sort ---

// Lists that had to grow get an eighth more than they need: doubling, as elsewhere, would leave half of a long list
// unused.
static bool make_room(const tl_allocator *alloc, tl_pair **list, int32_t *cap, int64_t need)
{
    if (need <= *cap) return true;
    int64_t bigger = *cap > 0 ? need + need / 8 : need;
    if (bigger > INT32_MAX) bigger = need;
    tl_pair *moved = tl_resize_bytes(alloc, *list, (size_t)*cap, (size_t)bigger, sizeof **list);
    if (!moved) return false;
    *list = moved, *cap = (int32_t)bigger;
    return true;
}

// The partners of a begin at first[a]. The rank of each pair among those with the same a is stored in `rank` first:
// counting and writing in one pass would make each store wait for the count before it. Returns the largest number of
// partners.
static int32_t deal(const pair_pool *pool, int list, int32_t a_count, int32_t *first, int32_t *rank, int32_t *partner)
{
    const int32_t blocks = atomic_load(&pool->next);
    memset(first, 0, (size_t)a_count * sizeof *first);
    for (int32_t i = 0, to = 0; i < blocks; i++) {
        const tl_pair *p = pool->pair + (int64_t)i * BLOCK_PAIRS;
        for (int32_t j = 0, n = pool->list[i] == list ? pool->used[i] : 0; j < n; j++) rank[to++] = first[p[j].a]++;
    }
    int32_t most = 0;
    for (int32_t a = 0, sum = 0; a < a_count; a++) {
        const int32_t n = first[a];
        most = n > most ? n : most;
        first[a] = sum, sum += n;
    }
    for (int32_t i = 0, from = 0; i < blocks; i++) {
        const tl_pair *p = pool->pair + (int64_t)i * BLOCK_PAIRS;
        for (int32_t j = 0, n = pool->list[i] == list ? pool->used[i] : 0; j < n; j++)
            partner[first[p[j].a] + rank[from++]] = p[j].b;
    }
    return most;
}

tl_status tl_bvh_sort_list(const pair_pool *pool, int list, int32_t a_count, int what, const tl_ctx *ctx, pair_list out,
                           tl_error *err)
{
    tl_arena *scratch = ctx->arena;
    int64_t total = 0;
    for (int32_t i = 0, blocks = atomic_load(&pool->next); i < blocks; i++)
        if (pool->list[i] == list) total += pool->used[i];
    *out.count = 0;
    if (total == 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(scratch);
    int32_t *first = TL_SCRATCH(scratch, int32_t, (int64_t)a_count + 1),
            *partner = TL_SCRATCH(scratch, int32_t, total + LANES);
    int32_t *rank = TL_SCRATCH(scratch, int32_t, total);
    if (total > INT32_MAX - LANES || !first || !partner || !rank || !make_room(out.alloc, out.items, out.cap, total))
        return tl_fail_memory(err, "pairs");
    const int32_t most = deal(pool, list, a_count, first, rank, partner);
    first[a_count] = (int32_t)total;
    tl_pair *spare = most > MOST_SORTED ? TL_SCRATCH(scratch, tl_pair, total) : NULL;
    if (most > MOST_SORTED && !spare) return tl_fail_memory(err, "pairs");
    tl_range_fn sort_partners = plain_sort_partners;
#ifdef TL_X86_KERNELS
    if (takes_avx2(what)) sort_partners = avx2_sort_partners;
#else
    (void)what;
#endif
    tl_parallel_for(ctx->workers, a_count, FIRSTS_PER_CHUNK, sort_partners,
                    &(dealt){first, partner, *out.items, spare});
    *out.count = (int32_t)total;
    tl_arena_release(scratch, mark);
    return TL_OK;
}
