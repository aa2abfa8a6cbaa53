// tests/fuzz/fuzz_obj.c: any bytes as a mesh, strict, as an obstacle and lenient; what can be read is written and read
// again.

#include <stdlib.h>
#include <string.h>

#include "io/obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const tl_obj *a)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_buf text;
    tl_buf_init(&text, &alloc);
    tl_obj_write(&text, &(tl_obj_view){.pos = a->pos,
                                       .vel = a->vel,
                                       .node_label = a->node_label,
                                       .uv = a->uv,
                                       .node_count = a->node_count,
                                       .vert_node = a->vert_node,
                                       .vert_count = a->vert_count,
                                       .face = (const int32_t(*)[3])a->face,
                                       .face_label = a->face_label,
                                       .face_count = a->face_count});
    tl_obj b;
    tl_error err;
    if (tl_obj_parse(&alloc, "b.obj", text.data, text.size, TL_OBJ_STRICT, &b, &err) != TL_OK) __builtin_trap();
    if (a->node_count != b.node_count || memcmp(a->pos, b.pos, (size_t)a->node_count * sizeof *a->pos) != 0)
        __builtin_trap();
    // A vertex that no face uses is dropped, so only a mesh without vt may shrink; ours has a vt for each.
    if (a->face_count != b.face_count) __builtin_trap();
    tl_obj_free(&b);
    tl_buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size ? size : 1);  // no byte behind the last: reading there is a finding
    if (size) memcpy(exact, data, size);
    const tl_allocator alloc = tl_allocator_default();
    tl_obj mesh;
    tl_error err;
    if (tl_obj_parse(&alloc, "a.obj", exact, size, TL_OBJ_STRICT, &mesh, &err) == TL_OK) {
        if (mesh.has_uv) round_trip(&mesh);  // without vt the rest shape is not known yet, so it may have no area
        tl_obj_free(&mesh);
    }
    if (tl_obj_parse(&alloc, "a.obj", exact, size, TL_OBJ_BODY, &mesh, &err) == TL_OK) tl_obj_free(&mesh);
    if (tl_obj_parse(&alloc, "a.obj", exact, size, TL_OBJ_LENIENT, &mesh, &err) == TL_OK) tl_obj_free(&mesh);
    free(exact);
    return 0;
}
