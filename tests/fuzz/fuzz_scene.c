// tests/fuzz/fuzz_scene.c: any bytes as a scene file; what can be read is also built, but not stepped.

#include "scene/scene.h"
#include "memory_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char mesh[] = "v 0 0 0\nnl 1\nv 1 0 0\nv 1 1 0\nnl 2\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
                           "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\nfl 1\n";
static const char fabric[] = "{\"kind\": \"isotropic\", \"source\": \"s\", \"density\": 0.1, \"young\": 1e5, "
                             "\"thickness\": 1e-3}";
static const char part[] =
    "{\"frames\": 3, \"cloths\": [{\"mesh\": \"mesh.obj\", \"material\": [\"a.json\", \"a.json\"]}]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const memory_file files[] = {{"s.json", data, size},
                                 {"mesh.obj", mesh, sizeof mesh - 1},
                                 {"a.json", fabric, sizeof fabric - 1},
                                 {"b.json", part, sizeof part - 1}};
    memory_disk disk = {files, 4};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    const tl_scene_def def = {.path = "s.json", .reader = &reader, .max_faces = 500};
    tl_scene *scene;
    tl_error err;
    if (tl_scene_read(&alloc, &def, &scene, &err) != TL_OK) return 0;
    // Text that was resolved once reads back as itself.
    const memory_file again[] = {{"t.json", scene->json.data, scene->json.size}, files[1], files[2]};
    memory_disk second = {again, 3};
    const tl_reader second_reader = {memory_read, &second};
    const tl_scene_def second_def = {.path = "t.json", .reader = &second_reader, .max_faces = 500};
    tl_scene *copy;
    if (tl_scene_read(&alloc, &second_def, &copy, &err) != TL_OK || copy->hash != scene->hash ||
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
