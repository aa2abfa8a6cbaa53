// tests/unit/test_io_help.h: temporary folders, small files and an allocator that fails on request.
#pragma once
#include <ftw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "ledger.h"

static inline int help_remove(const char *path, const struct stat *info, int kind, struct FTW *ftw)
{
    (void)info, (void)kind, (void)ftw;
    return remove(path);
}

/// cmocka set-up and tear-down: a folder of its own, current for the test.
static inline int help_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    char *dir = malloc(512);
    snprintf(dir, 512, "%s/toile-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir) || chdir(dir) != 0) return -1;
    *state = dir;
    return 0;
}

static inline int help_teardown(void **state)
{
    const int left = chdir("/");
    nftw(*state, help_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return left;
}

static inline void help_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static inline bool help_exists(const char *path) { return access(path, F_OK) == 0; }

/// Whole file as text; the caller frees.
static inline char *help_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const long n = ftell(file);
    rewind(file);
    char *text = malloc((size_t)n + 1);
    assert_int_equal(fread(text, 1, (size_t)n, file), n);
    fclose(file);
    text[n] = 0;
    if (size) *size = (size_t)n;
    return text;
}

/// Fails request number `fail_at` (from 0) and all after it; counts what is in use.
static inline tl_allocator failing_allocator(ledger *l, int64_t fail_at)
{
    *l = (ledger){.fail_at = fail_at + 1};
    return (tl_allocator){ledger_resize, l};
}

/// For json_set_alloc_funcs: this many requests are granted.
static size_t json_left;
static inline void *json_failing_malloc(size_t size)
{
    if (json_left == 0) return NULL;
    json_left--;
    return malloc(size);
}

/// The call fails with this status and exactly this message. Needs a `tl_error err` in scope.
#define assert_fails(call, wanted_status, wanted_message)                                                              \
    do {                                                                                                               \
        err.message[0] = 0;                                                                                            \
        assert_int_equal((call), (wanted_status));                                                                     \
        assert_string_equal(err.message, (wanted_message));                                                            \
        assert_int_equal(err.status, (wanted_status));                                                                 \
    } while (0)

/// The message has this text in it.
#define assert_message_has(text)                                                                                       \
    do {                                                                                                               \
        if (!strstr(err.message, (text))) {                                                                            \
            print_error("%s:%d: \"%s\" lacks \"%s\"\n", __FILE__, __LINE__, err.message, (text));                      \
            _fail(__FILE__, __LINE__);                                                                                 \
        }                                                                                                              \
    } while (0)
