// examples/weather.c: gravity, wind and the time step, changed while a cloth hangs: a still room, a gale, the moon.
#include "sheet.h"

static double run(tl_sim *sim, tl_cloth_id cloth, double seconds)  // returns where the free edge is, across the cloth
{
    tl_error err;
    const double end = tl_sim_time(sim) + seconds;
    while (tl_sim_time(sim) < end - 1e-9) must(tl_sim_step(sim, NULL, &err), &err);
    tl_cloth_view view;
    must(tl_sim_cloth_view(sim, cloth, &view), NULL);
    const tl_vec3 p = view.pos[SHEET_NODES - CELLS / 2 - 1];
    printf("t = %.2f s: the middle of the lower edge is at (%.3f, %.3f, %.3f)\n", tl_sim_time(sim), p.x, p.y, p.z);
    return p.y;
}

int main(void)
{
    tl_error err;
    const tl_sim_def def = tl_sim_def_default();
    tl_sim *sim = NULL;
    must(tl_sim_create(&def, &sim, &err), &err);
    const tl_cloth_def square = sheet(0.5, 0);
    tl_handle_def held = tl_handle_def_default();
    must(tl_sim_add_cloth(sim, &square, &held.cloth, &err), &err);
    int32_t edge[CELLS + 1];  // the first row of nodes
    for (int32_t i = 0; i <= CELLS; i++) edge[i] = i;
    held.nodes = edge, held.node_count = CELLS + 1;
    must(tl_sim_add_handle(sim, &held, &err), &err);

    const double still = run(sim, held.cloth, 1.0);

    const tl_vec3 up = {0, 12, 0}, calm = {0, 0, 0}, moon = {0, -1.62, 0};
    must(tl_sim_set_wind(sim, up, &err), &err);  // from the next step on; the solver's state is kept
    const double gale = run(sim, held.cloth, 1.0);

    must(tl_sim_set_wind(sim, calm, &err), &err);
    must(tl_sim_set_gravity(sim, moon, &err), &err);
    must(tl_sim_set_dt(sim, 0.01, &err), &err);  // slow motion needs fewer steps
    run(sim, held.cloth, 1.0);

    const int refused = tl_sim_set_dt(sim, -1, &err) == TL_BAD_ARG;  // and nothing has changed
    if (refused) printf("a step of -1 s is refused: %s\n", err.message);
    tl_sim_destroy(sim);
    return still < -0.3 && gale > still + 0.1 && refused ? 0 : 1;
}
