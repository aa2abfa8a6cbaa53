// tests/fuzz/fuzz_material.c: any bytes as a fabric file; what can be read is written in full and read again.

#include "scene/material_io.h"
#include "memory_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tl_status read_bytes(const void *data, size_t size, tl_material *out, json_t **resolved)
{
    const memory_file file = {"m.json", data, size};
    memory_disk disk = {&file, 1};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    return tl_material_open(&alloc, &reader, "m.json", out, resolved, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_material first, second;
    json_t *resolved = NULL;
    if (read_bytes(data, size, &first, &resolved) != TL_OK) return 0;
    if (!json_string_value(json_object_get(resolved, "source"))[0]) __builtin_trap();  // files must name a source
    const tl_allocator alloc = tl_allocator_default();
    tl_buf text;
    tl_buf_init(&text, &alloc);
    tl_json_write(&text, resolved);
    if (read_bytes(text.data, text.size, &second, NULL) != TL_OK) __builtin_trap();
    if (memcmp(first.stretch, second.stretch, sizeof first.stretch) != 0) __builtin_trap();
    if (memcmp(first.bend, second.bend, sizeof first.bend) != 0) __builtin_trap();
    tl_buf_free(&text);
    json_decref(resolved);
    return 0;
}
