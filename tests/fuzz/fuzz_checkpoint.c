// tests/fuzz/fuzz_checkpoint.c: any bytes as a checkpoint file, with the header's hash put right so that what is
// behind it gets its share; and any bytes as the state of a small simulation.
//
// Compiled with TL_MAKE_SEED it is a program that writes the seeds into the folder given (after a change of format).

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/checkpoint.h"
#include "scene/scene.h"
#include "memory_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scene_text[] =
    "{\"cloths\": [{\"mesh\": {\"rectangle\": {\"size\": [0.2, 0.2], \"edge\": 0.1, \"pattern\": \"diagonal\"}}}],"
    " \"handles\": [{\"corners\": \"top-left\"}]}";

static tl_sim *make_sim(void)
{
    const memory_file file = {"s.json", scene_text, sizeof scene_text - 1};
    memory_disk disk = {&file, 1};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    const tl_scene_def def = {.path = "s.json", .reader = &reader, .max_faces = 500};
    tl_scene *scene;
    tl_sim *sim;
    tl_error err;
    if (tl_scene_read(&alloc, &def, &scene, &err) != TL_OK ||
        tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err) != TL_OK || tl_sim_step(sim, NULL, &err) != TL_OK)
        abort();
    tl_scene_destroy(scene);
    return sim;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tl_sim *sim;
    if (!sim) sim = make_sim();
    uint8_t *file = malloc(size ? size : 1);
    if (size) memcpy(file, data, size);
    if (size >= TL_CHECKPOINT_HEADER) {
        const uint64_t hash = tl_checkpoint_header_hash(file);
        for (int i = 0; i < 8; i++) file[TL_CHECKPOINT_HEADER - 8 + i] = (uint8_t)(hash >> (8 * i));
    }
    const tl_allocator alloc = tl_allocator_default();
    tl_buf state;
    tl_buf_init(&state, &alloc);
    tl_checkpoint cp;
    tl_error err;
    if (tl_checkpoint_read("c.bin", file, size, &state, &cp, &err) == TL_OK)
        tl_sim_restore(sim, cp.data, cp.size, &err);
    tl_buf_free(&state);
    const uint64_t before = tl_sim_hash(sim);
    if (tl_sim_restore(sim, file, size, &err) != TL_OK && tl_sim_hash(sim) != before) __builtin_trap();
    free(file);
    return 0;
}

#ifdef TL_MAKE_SEED
int main(int argc, char **argv)
{
    if (argc < 2) return 1;
    tl_sim *sim = make_sim();
    tl_checkpoint cp = {.scene_hash = 1, .frame = 0, .step = 1};
    const tl_allocator alloc = tl_allocator_default();
    tl_buf out;
    tl_buf_init(&out, &alloc);
    tl_error err;
    if (tl_sim_save(sim, &cp.data, &cp.size, &err) != TL_OK || tl_checkpoint_write(&out, &cp, &err) != TL_OK) return 1;
    char path[512];
    snprintf(path, sizeof path, "%s/file.bin", argv[1]);
    FILE *f = fopen(path, "wb");
    fwrite(out.data, 1, out.size, f);
    fclose(f);
    snprintf(path, sizeof path, "%s/state.bin", argv[1]);
    f = fopen(path, "wb");
    fwrite(cp.data, 1, cp.size, f);
    fclose(f);
    tl_buf_free(&out);
    tl_sim_destroy(sim);
    return 0;
}
#endif
