// examples/checkpoint.c: save the state, go on, go back, go on again: the same bits both times.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toile/toile.h"

// A strip of two triangles held at one end: the smallest cloth there is.
static tl_status build(int32_t threads, tl_sim **sim, tl_error *err)
{
    const tl_vec3 pos[4] = {{0, 0, 0}, {0.5, 0, 0}, {0.5, 0, -0.1}, {0, 0, -0.1}};
    const tl_vec2 uv[4] = {{0, 0}, {0.5, 0}, {0.5, 0.1}, {0, 0.1}};
    const int32_t face[2][3] = {{0, 1, 2}, {0, 2, 3}};
    const tl_material cotton = tl_material_default();
    tl_sim_def def = tl_sim_def_default();
    def.threads = threads;
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.node_count = 4, cloth.pos = pos, cloth.uv = uv, cloth.face_count = 2, cloth.face = face;
    cloth.materials = &cotton, cloth.material_count = 1;
    tl_handle_def held = tl_handle_def_default();
    held.nodes = (const int32_t[]){0, 3}, held.node_count = 2;
    tl_status status = tl_sim_create(&def, sim, err);
    if (status == TL_OK) status = tl_sim_add_cloth(*sim, &cloth, &held.cloth, err);
    if (status == TL_OK) status = tl_sim_add_handle(*sim, &held, err);
    return status;
}

static uint64_t hash_after(tl_sim *sim, int steps, tl_error *err)
{
    while (steps-- > 0)
        if (tl_sim_step(sim, NULL, err) != TL_OK) return 0;
    return tl_sim_hash(sim);
}

int main(void)
{
    tl_error err = {0};
    tl_sim *a = NULL, *b = NULL;
    const void *data;
    size_t size;
    int code = 1;
    if (build(1, &a, &err) || build(2, &b, &err)) goto end;
    hash_after(a, 20, &err);
    if (tl_sim_save(a, &data, &size, &err) != TL_OK) goto end;
    void *saved = malloc(size);  // `data` lives until `a` changes: keep a copy, or write it to a file
    if (!saved) goto end;
    memcpy(saved, data, size);
    const uint64_t straight = hash_after(a, 30, &err);
    uint64_t again = 0, elsewhere = 0;
    if (tl_sim_restore(a, saved, size, &err) == TL_OK) again = hash_after(a, 30, &err);
    if (tl_sim_restore(b, saved, size, &err) == TL_OK) elsewhere = hash_after(b, 30, &err);
    free(saved);
    printf("%016llx straight on\n%016llx from the saved state\n%016llx in another, on two threads\n",
           (unsigned long long)straight, (unsigned long long)again, (unsigned long long)elsewhere);
    code = straight && straight == again && straight == elsewhere ? 0 : 1;
end:
    if (err.message[0]) fprintf(stderr, "%s\n", err.message);
    tl_sim_destroy(a), tl_sim_destroy(b);
    return code;
}
