// examples/come_and_go.c: cloths, bodies and handles are added and taken away while the simulation runs; ids of what is
// gone are refused, also when the slot has been given away again.
#include "sheet.h"

static void steps(tl_sim *sim, int count)
{
    tl_error err;
    for (int i = 0; i < count; i++) must(tl_sim_step(sim, NULL, &err), &err);
}

int main(void)
{
    tl_error err;
    const tl_sim_def def = tl_sim_def_default();
    tl_sim *sim = NULL;
    must(tl_sim_create(&def, &sim, &err), &err);
    tl_cloth_def square = sheet(0.4, 0.3);
    tl_cloth_id first, second;
    must(tl_sim_add_cloth(sim, &square, &first, &err), &err);
    tl_body_def box = tl_body_def_default();
    box.name = "table", box.kind = TL_BODY_BOX, box.center.y = 0.15;
    box.size.x = box.size.z = 0.2, box.size.y = 0.25;
    tl_body_id table;
    must(tl_sim_add_body(sim, &box, &table, &err), &err);
    tl_handle_def pin = tl_handle_def_default();
    const int32_t corner = 0;
    pin.cloth = first, pin.nodes = &corner, pin.node_count = 1;
    tl_handle_id pinned;
    must(tl_handle_create(sim, &pin, &pinned, &err), &err);
    steps(sim, 60);

    must(tl_body_remove(sim, table, &err), &err);  // the cloth now hangs by its corner
    steps(sim, 20);
    must(tl_cloth_remove(sim, first, &err), &err);  // and takes its handle with it
    const int gone =
        tl_handle_remove(sim, pinned, &err) == TL_BAD_ARG && tl_body_remove(sim, table, &err) == TL_BAD_ARG;
    printf("removed twice: %s\n", err.message);

    must(tl_sim_add_cloth(sim, &square, &second, &err), &err);  // name and slot are free again, the generation is new
    tl_cloth_view view;
    const int stale = tl_sim_cloth_view(sim, first, &view) == TL_BAD_ARG && first.slot == second.slot;
    steps(sim, 20);
    must(tl_sim_cloth_view(sim, second, &view), NULL);
    printf("slot %u, generations %u and %u; the new cloth has fallen to y = %.3f m\n", first.slot, first.gen,
           second.gen, view.pos[0].y);
    const int fine =
        gone && stale && view.pos[0].y < 0.3 && tl_sim_cloth_count(sim) == 1 && tl_sim_body_count(sim) == 0;
    tl_sim_destroy(sim);
    return fine ? 0 : 1;
}
