// tests/fuzz/fuzz_meshes.c: any bytes as PLY, STL, PC2 and MDD.

#include <stdlib.h>

#include "io/character_load.h"
#include "io/ply.h"
#include "memory_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(tl_obj *m)
{
    for (int32_t f = 0; f < m->face_count; f++)
        for (int c = 0; c < 3; c++)
            if (m->face[f][c] < 0 || m->face[f][c] >= m->node_count) __builtin_trap();
    tl_obj_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size ? size : 1);
    if (size) memcpy(exact, data, size);
    const tl_allocator alloc = tl_allocator_default();
    tl_obj m;
    tl_error err;
    if (tl_ply_parse(&alloc, "a.ply", exact, size, &m, &err) == TL_OK) check(&m);
    if (tl_stl_parse(&alloc, "a.stl", exact, size, &m, &err) == TL_OK) check(&m);
    tl_character *c = tl_character_create(&alloc);
    if (c && tl_character_push(c, TL_RIG_VERTS, 3)) (void)tl_point_cache_parse("a.pc2", exact, size, 25, c, &err);
    tl_character_destroy(c);
    free(exact);
    return 0;
}
