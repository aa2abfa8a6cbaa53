// examples/remesh_map.c: values of the program's own on the nodes of a cloth whose mesh is remade as it folds: when its
// version has grown, the map says where each node went.
#include "sheet.h"

// Values after a change of the mesh: nodes that stay keep theirs, new ones start at -1.
static float *carry(const float *old, int32_t old_count, const int32_t *new_of_old, int32_t count)
{
    float *now = (float *)malloc((size_t)count * sizeof *now);
    for (int32_t n = 0; n < count; n++) now[n] = -1;
    for (int32_t n = 0; n < old_count; n++)
        if (new_of_old[n] >= 0) now[new_of_old[n]] = old[n];
    return now;
}

int main(void)
{
    tl_error err;
    const tl_sim_def def = tl_sim_def_default();
    tl_sim *sim = NULL;
    must(tl_sim_create(&def, &sim, &err), &err);
    tl_cloth_def square = sheet(0.5, 0);
    square.remeshing = tl_remeshing_default();
    tl_handle_def held = tl_handle_def_default();
    must(tl_sim_add_cloth(sim, &square, &held.cloth, &err), &err);
    const int32_t corners[2] = {0, CELLS};
    held.nodes = corners, held.node_count = 2;
    must(tl_sim_add_handle(sim, &held, &err), &err);

    int32_t count = SHEET_NODES, changes = 0;
    float *paint = (float *)malloc(SHEET_NODES * sizeof *paint);  // painted: the number of the node at the start
    for (int32_t n = 0; n < count; n++) paint[n] = (float)n;
    uint64_t version = tl_cloth_version(sim, held.cloth);
    for (int i = 0; i < 60; i++) {
        must(tl_sim_step(sim, NULL, &err), &err);
        if (tl_cloth_version(sim, held.cloth) == version) continue;
        tl_cloth_view view;
        must(tl_sim_cloth_view(sim, held.cloth, &view), NULL);
        int32_t *new_of_old = (int32_t *)malloc((size_t)count * sizeof *new_of_old);
        must(tl_cloth_map(sim, held.cloth, version, new_of_old, count, &err), &err);  // one version at a time
        float *now = carry(paint, count, new_of_old, view.node_count);
        free(new_of_old), free(paint);
        paint = now, count = view.node_count, version = tl_cloth_version(sim, held.cloth), changes++;
    }
    int32_t kept = 0, corner = 0;
    for (int32_t n = 0; n < count; n++) kept += paint[n] >= 0, corner += paint[n] == 0 || paint[n] == CELLS;
    printf("%d meshes, %d nodes at the start, %d now; %d still have their paint\n", changes + 1, SHEET_NODES, count,
           kept);
    const int fine = changes > 0 && kept > 2 && corner == 2;  // what a handle holds stays
    free(paint);
    tl_sim_destroy(sim);
    return fine ? 0 : 1;
}
