// tests/fuzz/memory_reader.h: a reader whose disk holds one file with the fuzzer's bytes and a few fixed ones.
#pragma once
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/file.h"

typedef struct memory_file {
    const char *path;
    const void *data;
    size_t size;
} memory_file;
typedef struct memory_disk {
    const memory_file *files;
    int count;
} memory_disk;

static inline tl_status memory_read(void *user, const tl_allocator *alloc, const char *path, size_t max_size,
                                    tl_text *out, tl_error *err)
{
    const memory_disk *disk = user;
    for (int i = 0; i < disk->count; i++) {
        const memory_file *file = &disk->files[i];
        if (strcmp(path, file->path) != 0) continue;
        if (file->size > max_size) return tl_fail(err, TL_BAD_INPUT, "%s: too large", path);
        out->data = TL_ALLOC(alloc, char, file->size + 1);
        if (!out->data) return tl_fail_memory(err, path);
        if (file->size) memcpy(out->data, file->data, file->size);
        out->data[file->size] = 0;
        out->size = file->size;
        return TL_OK;
    }
    return tl_fail(err, TL_IO, "%s: no such file", path);
}
