// examples/minimal.c: build a sheet in code, hold two corners, let it fall for a second.
#include "sheet.h"

int main(void)
{
    tl_error err;
    const tl_sim_def def = tl_sim_def_default();
    tl_sim *sim = NULL;
    must(tl_sim_create(&def, &sim, &err), &err);

    const tl_cloth_def square = sheet(1, 0);
    tl_cloth_id cloth;
    must(tl_sim_add_cloth(sim, &square, &cloth, &err), &err);

    const int32_t held[2] = {0, CELLS};
    tl_handle_def corners = tl_handle_def_default();
    corners.cloth = cloth, corners.nodes = held, corners.node_count = 2;
    must(tl_sim_add_handle(sim, &corners, &err), &err);

    while (tl_sim_time(sim) < 1 - def.dt / 2) must(tl_sim_step(sim, NULL, &err), &err);

    tl_cloth_view view;
    tl_sim_cloth_view(sim, cloth, &view);
    double lowest = 0;
    for (int v = 0; v < view.node_count; v++) lowest = view.pos[v].y < lowest ? view.pos[v].y : lowest;
    printf("after %.2f s the lowest point is at y = %.3f m\n", tl_sim_time(sim), lowest);
    tl_sim_destroy(sim);
    return lowest < -0.5 ? 0 : 1;  // it has swung down
}
