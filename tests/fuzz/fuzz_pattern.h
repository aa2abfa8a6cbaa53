// tests/fuzz/fuzz_pattern.h: any bytes as a pattern of one kind; what can be read is written in every format and read
// again.
#pragma once
#include "io/pattern_io.h"
#include "memory_reader.h"
#include "pattern/check.h"
#include "scene/pattern_file.h"

static inline tl_pattern *fuzz_open(const char *name, const void *data, size_t size)
{
    const memory_file file = {name, data, size};
    memory_disk disk = {&file, 1};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_pattern *pattern = NULL;
    if (tl_pattern_open(&alloc, &reader, name, &pattern, &err) == TL_OK) return pattern;
    if (!err.message[0] || pattern) __builtin_trap();  // a refusal says why and hands out nothing
    return NULL;
}

static inline void fuzz_again(const tl_pattern *pattern, const char *name, void (*write)(tl_buf *, const tl_pattern *))
{
    tl_buf text;
    const tl_allocator alloc = tl_allocator_default();
    tl_buf_init(&text, &alloc);
    write(&text, pattern);
    if (tl_buf_end(&text, "a pattern", NULL) != TL_OK) __builtin_trap();
    tl_pattern *again = fuzz_open(name, text.data, text.size);
    if (!again || again->panel_count != pattern->panel_count || again->seam_count != pattern->seam_count)
        __builtin_trap();
    tl_buf_free(&text);
    tl_pattern_destroy(again);
}

static inline int fuzz_pattern(const char *name, const uint8_t *data, size_t size)
{
    tl_pattern *pattern = fuzz_open(name, data, size);
    if (!pattern) return 0;
    fuzz_again(pattern, "again.json", tl_pattern_json_write);
    tl_pattern_destroy(pattern);
    return 0;
}
