// tests/fuzz/fuzz_gltf.c: any bytes as glTF, as text and as GLB; what can be read is posed, and packed and read again.

#include <stdlib.h>

#include "io/character_load.h"
#include "io/gltf.h"
#include "memory_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tl_character *read_one(const char *name, const void *data, size_t size)
{
    const memory_file files[] = {{name, data, size}, {"b.bin", "0123456789abcdef0123456789abcdef0123456789abcdef", 48}};
    memory_disk disk = {files, 2};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    tl_character_def def = tl_character_def_default();
    tl_character_files kept;
    tl_character *c = NULL;
    tl_error err;
    def.file = name;
    if (tl_character_read(&alloc, &reader, &def, &c, &kept, &err) != TL_OK) return NULL;
    if (name[0] == 'a') {  // packed: must read as the same
        tl_character *again = read_one("p.glb", kept.file.data, kept.file.size);
        tl_hash a, b;
        if (!again) __builtin_trap();
        tl_hash_init(&a), tl_hash_init(&b);
        tl_character_hash(c, &a), tl_character_hash(again, &b);
        if (tl_hash_value(&a) != tl_hash_value(&b)) __builtin_trap();
        tl_character_destroy(again);
    }
    tl_character_files_free(&alloc, &kept);
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size ? size : 1);
    if (size) memcpy(exact, data, size);
    tl_character *c = read_one(size > 4 && data[0] == 'g' ? "a.glb" : "a.gltf", exact, size);
    if (c) {
        tl_vec3 *x = malloc((size_t)tl_character_vert_count(c) * sizeof *x);
        tl_error err;
        for (int32_t clip = -1; clip < tl_character_clip_count(c) && clip < 3; clip++) {
            const tl_playback play = {.clip = clip, .lead_in = 0.5, .speed = 1};
            for (int k = 0; k < 3; k++) (void)tl_character_pose(c, &play, k * 0.3, x, &err);
        }
        free(x);
        tl_character_destroy(c);
    }
    free(exact);
    return 0;
}
