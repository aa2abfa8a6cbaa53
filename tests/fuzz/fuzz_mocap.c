// tests/fuzz/fuzz_mocap.c: any bytes as BVH; what can be read is put on a small rig.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/character_load.h"
#include "io/mocap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Joints with the usual names, one above the other, and a triangle.
static tl_character *make_rig(const tl_allocator *alloc)
{
    static const char *const names[] = {"Hips",      "Spine",   "Neck",     "Head",
                                        "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg"};
    static const tl_vec3 corner[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    static const int32_t face[1][3] = {{0, 1, 2}};
    tl_character *c = tl_character_create(alloc);
    tl_error err;
    if (!c || tl_character_from_mesh(c, corner, 3, face, 1, &err) != TL_OK) abort();
    for (int i = 0; i < 8; i++) {
        tl_rig_node *n = tl_character_push(c, TL_RIG_NODES, 1);
        if (!n) abort();
        n->parent = i, n->rest = tl_trs_identity(), n->matrix = tl_affine_identity();
        n->rest.move = (tl_vec3){i == 4, 1, 0};
        snprintf(n->name, sizeof n->name, "%s", names[i]);
    }
    c->facts.joints = 8;
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size ? size : 1);
    if (size) memcpy(exact, data, size);
    const tl_allocator alloc = tl_allocator_default();
    tl_character *c = make_rig(&alloc);
    tl_error err;
    if (tl_mocap_put_on("a.bvh", exact, size, NULL, 0, c, &err) == TL_OK) {
        tl_vec3 x[3];
        const tl_playback play = {.clip = 0, .lead_in = 0.1, .speed = 1};
        for (int k = 0; k < 3; k++) (void)tl_character_pose(c, &play, k * 0.07, x, &err);
    }
    tl_character_destroy(c);
    free(exact);
    return 0;
}
