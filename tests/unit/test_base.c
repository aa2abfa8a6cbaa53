// Memory, hashing, sorting, random numbers.

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/sort.h"

static void products_of_sizes_are_checked(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    size_t out;
    assert_true(tl_mul_size(1000, 1000, &out) && out == 1000000);
    assert_false(tl_mul_size(SIZE_MAX / 2, 3, &out));
    assert_null(tl_alloc_bytes(&alloc, SIZE_MAX / 4, 8));
    char *empty = TL_ALLOC(&alloc, char, 0);
    assert_non_null(empty);  // NULL means failure and nothing else
    TL_FREE(&alloc, empty, 0);
    int32_t *items = NULL, cap = 0;
    assert_true(TL_GROW(&alloc, items, cap, 5));
    assert_true(cap >= 5);
    items[4] = 42;
    assert_true(TL_GROW(&alloc, items, cap, 500));
    assert_int_equal(items[4], 42);
    assert_false(TL_GROW(&alloc, items, cap, (int64_t)INT32_MAX + 1));
    TL_FREE(&alloc, items, cap);
}

static void an_arena_settles_into_one_block(void **state)
{
    (void)state;
    tl_arena arena;
    tl_arena_init(&arena, tl_allocator_default());
    for (int round = 0; round < 3; round++) {
        tl_arena_reset(&arena);
        char *a = TL_SCRATCH(&arena, char, 100);
        const tl_arena_mark mark = tl_arena_save(&arena);
        char *b = TL_SCRATCH(&arena, char, 300000);
        assert_true(((uintptr_t)a & 63) == 0 && ((uintptr_t)b & 63) == 0);
        memset(a, 1, 100), memset(b, 2, 300000);
        tl_arena_release(&arena, mark);
        char *c = TL_SCRATCH(&arena, char, 10);
        if (round > 0) assert_ptr_equal(b, c);  // warm: the same place again
        assert_int_equal(a[99], 1);
    }
    assert_true(arena.high_water >= 300000);
    assert_null(tl_arena_bytes(&arena, SIZE_MAX / 2, 4));
    tl_arena_free(&arena);
}

static void a_hash_depends_on_bytes_not_on_cuts(void **state)
{
    (void)state;
    unsigned char data[300];
    for (int i = 0; i < 300; i++) data[i] = (unsigned char)(i * 7);
    tl_hash whole;
    tl_hash_init(&whole);
    tl_hash_add(&whole, data, sizeof data);
    for (int cut = 1; cut < 40; cut++) {
        tl_hash parts;
        tl_hash_init(&parts);
        for (int i = 0; i < 300; i += cut) tl_hash_add(&parts, data + i, (size_t)(300 - i < cut ? 300 - i : cut));
        assert_true(tl_hash_value(&parts) == tl_hash_value(&whole));
    }
    uint64_t seen[300];
    for (int i = 0; i < 300; i++) {  // every changed byte changes the value, and so does a shorter stream
        tl_hash other;
        tl_hash_init(&other);
        data[i] ^= 1;
        tl_hash_add(&other, data, sizeof data);
        data[i] ^= 1;
        seen[i] = tl_hash_value(&other);
        assert_true(seen[i] != tl_hash_value(&whole));
        for (int j = 0; j < i; j++) assert_true(seen[i] != seen[j]);
    }
    tl_hash shorter;
    tl_hash_init(&shorter);
    tl_hash_add(&shorter, data, 299);
    assert_true(tl_hash_value(&shorter) != tl_hash_value(&whole));
}

static int by_key(const void *a, const void *b)
{
    const tl_key *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->id < q->id ? -1 : p->id > q->id;
}

static void sorting_agrees_with_libc(void **state)
{
    (void)state;
    for (int k = 0, n = 0; n < 2000;
         n = k % 4 == 3 ? 2 * n + 1 : n, k++) {  // ids up or down; few keys, many of them equal, or of all bits
        tl_key *a = malloc(((size_t)n + 1) * sizeof *a), *b = malloc(((size_t)n + 1) * sizeof *b),
               *scratch = malloc(((size_t)n + 1) * sizeof *a);
        for (int i = 0; i < n; i++) {
            const uint64_t bits = tl_random_bits(1, 2, (uint64_t)i);
            a[i] = b[i] = (tl_key){k % 2 ? bits : bits % 50, k / 2 % 2 ? 3 * i - 7 : n - i};
        }
        tl_sort_keys(a, scratch, n);
        qsort(b, (size_t)n, sizeof *b, by_key);
        for (int i = 0; i < n; i++) assert_true(a[i].key == b[i].key && a[i].id == b[i].id);
        free(a), free(b), free(scratch);
    }
}

static int by_int(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) - (*(const int32_t *)a < *(const int32_t *)b);
}
static int by_word(const void *a, const void *b)
{
    return (*(const uint64_t *)a > *(const uint64_t *)b) - (*(const uint64_t *)a < *(const uint64_t *)b);
}

static void sorting_of_plain_numbers_agrees_with_libc(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    static int32_t ints[2][MOST];
    static uint64_t words[2][MOST];
    for (int n = 0; n <= MOST; n = n < 30 ? n + 1 : 2 * n) {
        for (int i = 0; i < n; i++) {
            const uint64_t bits = tl_random_bits(3, (uint64_t)n, (uint64_t)i);
            ints[0][i] = ints[1][i] = (int32_t)(bits % 1000) - 500;
            words[0][i] = words[1][i] = n % 2 ? bits : bits % 100;
        }
        tl_sort_ints(ints[0], n), tl_sort_words(words[0], n);
        qsort(ints[1], (size_t)n, sizeof ints[1][0], by_int), qsort(words[1], (size_t)n, sizeof words[1][0], by_word);
        assert_memory_equal(ints[0], ints[1], (size_t)n * sizeof ints[0][0]);
        assert_memory_equal(words[0], words[1], (size_t)n * sizeof words[0][0]);
    }
}

static void random_numbers_are_even_and_repeatable(void **state)
{
    (void)state;
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        const double r = tl_random(5, 6, i);
        assert_true(r >= 0 && r < 1);
        sum += r, squares += r * r;
    }
    assert_near(sum / 1e5, 0.5, 0.005);
    assert_near(squares / 1e5, 1.0 / 3, 0.005);
    assert_true(tl_random(5, 6, 7) == tl_random(5, 6, 7));
    assert_true(tl_random(5, 6, 7) != tl_random(5, 7, 7) && tl_random(5, 6, 7) != tl_random(6, 6, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_sizes_are_checked),
        cmocka_unit_test(an_arena_settles_into_one_block),
        cmocka_unit_test(a_hash_depends_on_bytes_not_on_cuts),
        cmocka_unit_test(sorting_agrees_with_libc),
        cmocka_unit_test(sorting_of_plain_numbers_agrees_with_libc),
        cmocka_unit_test(random_numbers_are_even_and_repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
