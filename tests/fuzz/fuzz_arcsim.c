// tests/fuzz/fuzz_arcsim.c: any bytes as a scene of ARCSim's, followed by its motion file after a line "----"; what can
// be read is built.

#include "scene/scene.h"
#include "memory_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char mesh[] = "v 0 0 0\nnl 1\nv 1 0 0\nv 1 1 0\nnl 2\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
                           "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\nfl 1\ne 1 3\nel 2\nts 1 0 0 1\n";
static const char fabric[] =
    "{\"density\": 0.1, \"stretching\": [[9,1,9,9],[9,1,9,9],[9,1,9,9],[9,1,9,9],[9,1,9,9],[9,1,9,9]],"
    "\"bending\": [[1e-5,1e-5,1e-5,1e-5,1e-5],[1e-5,1e-5,1e-5,1e-5,1e-5],[1e-5,1e-5,1e-5,1e-5,1e-5]]}";
static const char part[] = "v 0 0 9\nv 1 0 9\nv 0 1 9\nv 0 0 10\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

// The first line "----", or the end.
static size_t find_cut(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 6 <= size; i++)
        if (memcmp(data + i, "\n----\n", 6) == 0) return i;
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t cut = find_cut(data, size);
    const memory_file files[] = {{"conf/s.json", data, cut},
                                 {"m.mot", data + (cut < size ? cut + 6 : size), cut < size ? size - cut - 6 : 0},
                                 {"conf/mesh.obj", mesh, sizeof mesh - 1},
                                 {"a.json", fabric, sizeof fabric - 1},
                                 {"p0000.obj", part, sizeof part - 1},
                                 {"p0001.obj", part, sizeof part - 1}};
    memory_disk disk = {files, sizeof files / sizeof *files};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    const tl_scene_def def = {.path = "conf/s.json", .reader = &reader, .max_faces = 500};
    tl_scene *scene;
    tl_error err;
    if (tl_scene_read(&alloc, &def, &scene, &err) != TL_OK) return 0;
    // What it was turned into is a scene of ours, and reads back as itself.
    memory_file again[sizeof files / sizeof *files];
    memcpy(again, files, sizeof files);
    again[0] = (memory_file){"t.json", scene->json.data, scene->json.size};
    memory_disk second = {again, sizeof again / sizeof *again};
    const tl_reader second_reader = {memory_read, &second};
    const tl_scene_def second_def = {.path = "t.json", .reader = &second_reader, .max_faces = 500};
    tl_scene *copy;
    if (tl_scene_read(&alloc, &second_def, &copy, &err) != TL_OK || copy->foreign || copy->hash != scene->hash ||
        copy->json.size != scene->json.size || memcmp(copy->json.data, scene->json.data, copy->json.size) != 0)
        __builtin_trap();
    tl_scene_destroy(copy);
    tl_sim *sim;
    if (scene->cloth_count <= 4 && scene->obstacle_count <= 4 &&
        tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err) == TL_OK)
        tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return 0;
}
