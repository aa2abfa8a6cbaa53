// io/npz.c: arrays as .npy files (NEP 1, version 1.0) in a zip archive without compression (PKWARE APPNOTE 6.3, 4.3).

#include "io/npz.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { NAME_MAX_BYTES = 200, ZIP_VERSION = 20, DOS_DATE = 33 };  // 1980-01-01, the first there is

struct tl_npz {
    tl_allocator alloc;
    tl_buf file, directory;
    uint32_t crc[256];
    int32_t count;
    bool finished;
};

tl_status tl_npz_create(const tl_allocator *alloc, tl_npz **out, tl_error *err)
{
    *out = NULL;
    tl_npz *z = tl_calloc_bytes(alloc, 1, sizeof *z);
    if (!z) return tl_fail_memory(err, "arrays");
    z->alloc = *alloc;
    tl_buf_init(&z->file, alloc);
    tl_buf_init(&z->directory, alloc);
    for (uint32_t i = 0; i < 256; i++) {  // the reflected polynomial of zip, byte by byte
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? UINT32_C(0xedb88320) ^ (c >> 1) : c >> 1;
        z->crc[i] = c;
    }
    *out = z;
    return TL_OK;
}

void tl_npz_destroy(tl_npz *z)
{
    if (!z) return;
    tl_buf_free(&z->file);
    tl_buf_free(&z->directory);
    tl_free_bytes(&z->alloc, z, 1, sizeof *z);
}

static void add16(tl_buf *b, uint32_t v) { tl_buf_add(b, (uint8_t[]){(uint8_t)v, (uint8_t)(v >> 8)}, 2); }

static void add32(tl_buf *b, uint64_t v)
{
    add16(b, (uint32_t)v & 0xffff);
    add16(b, (uint32_t)(v >> 16) & 0xffff);
}

static uint32_t checksum(const tl_npz *z, uint32_t crc, const void *data, size_t size)
{
    const uint8_t *p = data;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) crc = z->crc[(crc ^ p[i]) & 0xff] ^ (crc >> 8);
    return ~crc;
}

// The part that the entry in the file and that in the directory share: version to length of the name.
static void add_facts(tl_buf *b, uint32_t crc, uint64_t size, size_t name)
{
    add16(b, ZIP_VERSION);
    add16(b, 0), add16(b, 0);  // flags, stored
    add16(b, 0), add16(b, DOS_DATE);
    add32(b, crc), add32(b, size), add32(b, size);
    add16(b, (uint32_t)name), add16(b, 0);
}

tl_status tl_npz_add(tl_npz *z, const char *name, tl_npy_type type, const void *data, int64_t rows, int32_t columns,
                     tl_error *err)
{
    static const struct {
        const char *word;
        int64_t size;
    } types[] = {{"<f8", 8}, {"<f4", 4}, {"<i4", 4}, {"<i8", 8}};
    char file[NAME_MAX_BYTES + 8], head[256];
    const size_t length = strlen(name);
    if (length > NAME_MAX_BYTES) return tl_fail(err, TL_BAD_ARG, "npz_add: name of %zu bytes", length);
    const int file_length = snprintf(file, sizeof file, "%s.npy", name);
    char shape[64];
    if (columns > 0)
        snprintf(shape, sizeof shape, "%lld, %d", (long long)rows, columns);
    else
        snprintf(shape, sizeof shape, "%lld,", (long long)rows);
    int n = snprintf(head + 10, sizeof head - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                     types[type].word, shape);
    while ((10 + n + 1) % 64 != 0) head[10 + n++] = ' ';  // data begin at a multiple of 64
    head[10 + n++] = '\n';
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)(n & 0xff), head[9] = (char)(n >> 8);

    const size_t bytes = (size_t)(rows * (columns > 0 ? columns : 1) * types[type].size), head_size = 10 + (size_t)n;
    const uint64_t at = z->file.size, size = bytes + head_size;
    if (at + size + 4096 > UINT32_MAX)
        return tl_fail(err, TL_BAD_INPUT, "%s: more than 4 GB of arrays (record fewer frames, or coarser meshes)",
                       name);
    const uint32_t crc = checksum(z, checksum(z, 0, head, head_size), data, bytes);
    add32(&z->file, 0x04034b50);
    add_facts(&z->file, crc, size, (size_t)file_length);
    tl_buf_add(&z->file, file, (size_t)file_length);
    tl_buf_add(&z->file, head, head_size);
    tl_buf_add(&z->file, data, bytes);
    add32(&z->directory, 0x02014b50);
    add16(&z->directory, ZIP_VERSION);
    add_facts(&z->directory, crc, size, (size_t)file_length);
    add16(&z->directory, 0), add16(&z->directory, 0), add16(&z->directory, 0);  // comment, disk, inner attributes
    add32(&z->directory, 0), add32(&z->directory, at);
    tl_buf_add(&z->directory, file, (size_t)file_length);
    z->count++;
    return z->file.failed || z->directory.failed ? tl_fail_memory(err, "arrays") : TL_OK;
}

tl_status tl_npz_finish(tl_npz *z, const tl_buf **out, tl_error *err)
{
    if (!z->finished) {
        const uint64_t at = z->file.size, size = z->directory.size;
        tl_buf_add(&z->file, z->directory.data, z->directory.size);
        add32(&z->file, 0x06054b50);
        add16(&z->file, 0), add16(&z->file, 0);
        add16(&z->file, (uint32_t)z->count), add16(&z->file, (uint32_t)z->count);
        add32(&z->file, size), add32(&z->file, at);
        add16(&z->file, 0);
        z->finished = true;
    }
    if (z->file.failed || z->directory.failed) return tl_fail_memory(err, "arrays");
    *out = &z->file;
    return TL_OK;
}
