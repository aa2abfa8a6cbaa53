// io/mesh_sequence.c: numbered meshes of equal faces, packed as the bytes of a PC2.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/bytes.h"
#include "io/character_load.h"
#include "io/mesh_file.h"

enum { PC2_HEAD = 32, MOST_SHAPES = 1000000 };

typedef struct numbered {
    const char *path;
    int before, width;
    const char *behind;
} numbered;

// "walk/%04d.obj"
static bool read_number(const char *path, numbered *out)
{
    const char *at = strchr(path, '%');
    if (!at) return false;
    *out = (numbered){.path = path, .before = (int)(at - path)};
    at++;
    if (*at == '0') at++;
    while (*at >= '0' && *at <= '9' && out->width < 10) out->width = 10 * out->width + (*at++ - '0');
    out->behind = at + 1;
    return *at == 'd' && out->width <= 12 && !strchr(out->behind, '%');
}

bool tl_mesh_sequence_is(const char *path)
{
    numbered n;
    return read_number(path, &n);
}

static tl_status add_shape(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_text *text,
                           tl_obj *first, tl_buf *out, tl_error *err)
{
    tl_obj shape;
    TL_TRY(tl_mesh_file_parse(alloc, reader, path, text, &shape, err));
    tl_status status = TL_OK;
    const bool begins = !first->pos;
    if (!begins && (shape.node_count != first->node_count || shape.face_count != first->face_count ||
                    memcmp(shape.face, first->face, (size_t)shape.face_count * sizeof *shape.face) != 0))
        status = tl_fail(err, TL_BAD_INPUT,
                         "%.300s: has %d vertices and %d faces, the first shape %d and %d (all must have the same "
                         "faces)",
                         path, shape.node_count, shape.face_count, first->node_count, first->face_count);
    for (int32_t i = 0; status == TL_OK && i < shape.node_count; i++) {
        const float x[3] = {(float)shape.pos[i].x, (float)shape.pos[i].y, (float)shape.pos[i].z};
        for (int k = 0; k < 3; k++) {
            uint32_t bits;
            uint8_t bytes[4];
            memcpy(&bits, &x[k], sizeof bits);
            tl_put_u32(bytes, bits);
            tl_buf_add(out, bytes, sizeof bytes);
        }
    }
    if (status == TL_OK && begins)
        *first = shape;
    else
        tl_obj_free(&shape);
    return status;
}

static void put_head(const tl_obj *first, int32_t samples, uint8_t head[PC2_HEAD])
{
    const float one = 1;
    uint32_t bits;
    memcpy(&bits, &one, sizeof bits);
    memset(head, 0, PC2_HEAD);
    memcpy(head, "POINTCACHE2", 11);
    tl_put_u32(head + 12, 1), tl_put_u32(head + 16, (uint32_t)first->node_count);
    tl_put_u32(head + 24, bits), tl_put_u32(head + 28, (uint32_t)samples);
}

tl_status tl_mesh_sequence_pack(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_text *out,
                                tl_error *err)
{
    numbered n;
    *out = (tl_text){0};
    if (!read_number(path, &n))
        return tl_fail(err, TL_BAD_INPUT, "%.300s: must have one number, as in \"folder/%%04d.obj\"", path);
    const tl_reader disk = tl_reader_disk(), *from = reader ? reader : &disk;
    tl_buf buf;
    tl_buf_init(&buf, alloc);
    tl_obj first = {0};
    tl_status status = TL_OK;
    uint8_t head[PC2_HEAD] = {0};
    tl_buf_add(&buf, head, sizeof head);
    int32_t samples = 0;
    char name[TL_PATH_MAX] = "";
    for (int32_t number = 0; status == TL_OK && samples < MOST_SHAPES; number++) {
        tl_text text;
        tl_error why;
        snprintf(name, sizeof name, "%.*s%0*d%s", n.before, path, n.width, number, n.behind);
        const tl_status found = from->read(from->user, alloc, name, TL_OBJ_MAX_BYTES, &text, &why);
        if (found == TL_IO && number == 0) continue;  // many count from 1
        if (found == TL_IO) break;
        if (found != TL_OK && err) *err = why;
        status = found == TL_OK ? add_shape(alloc, from, name, &text, &first, &buf, err) : found;
        if (found == TL_OK) tl_text_free(alloc, &text);
        samples++;
    }
    if (status == TL_OK && samples == 0)
        status = tl_fail(err, TL_IO, "%.300s: there is no %.300s (numbers start at 0 or 1)", path, name);
    if (status == TL_OK) put_head(&first, samples, head);
    if (first.pos) tl_obj_free(&first);
    if (status == TL_OK) status = tl_buf_end(&buf, "a sequence", err);
    if (status == TL_OK && !(out->data = TL_ALLOC(alloc, char, buf.size + 1)))
        status = tl_fail_memory(err, "a sequence");
    if (status == TL_OK) {
        memcpy(out->data, buf.data, buf.size);
        memcpy(out->data, head, sizeof head);
        out->data[buf.size] = 0, out->size = buf.size;
    }
    tl_buf_free(&buf);
    return status;
}
