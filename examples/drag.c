// examples/drag.c: what a mouse does: pick a point of the cloth by a ray, drag it a little further every step, let go.
#include "sheet.h"

int main(void)
{
    tl_error err;
    const tl_sim_def def = tl_sim_def_default();
    tl_sim *sim = NULL;
    must(tl_sim_create(&def, &sim, &err), &err);
    const tl_cloth_def square = sheet(0.5, 0.01);
    tl_cloth_id cloth;
    must(tl_sim_add_cloth(sim, &square, &cloth, &err), &err);
    tl_body_def floor = tl_body_def_default();
    floor.kind = TL_BODY_PLANE;
    tl_body_id ground;
    must(tl_sim_add_body(sim, &floor, &ground, &err), &err);
    for (int i = 0; i < 30; i++) must(tl_sim_step(sim, NULL, &err), &err);

    // mouse down: the ray of the camera meets the cloth
    const tl_vec3 eye = {0.1, 1, 0.1}, down = {0, -1, 0};
    tl_hit hit;
    if (!tl_sim_ray(sim, eye, down, 10, TL_QUERY_CLOTHS, &hit)) return 1;
    printf("picked node %d of face %d at (%.3f, %.3f, %.3f)\n", hit.node, hit.face, hit.point.x, hit.point.y,
           hit.point.z);
    tl_handle_def grip = tl_handle_def_default();
    grip.cloth = hit.cloth, grip.nodes = &hit.node, grip.node_count = 1, grip.live = 1;
    tl_handle_id handle;
    must(tl_handle_create(sim, &grip, &handle, &err), &err);

    // mouse move: half a millimetre up a step, 0.1 m/s
    for (int i = 1; i <= 400; i++) {
        tl_motion_key target = {0};
        target.translate.y = 0.0005 * i;
        must(tl_handle_set_target(sim, handle, &target, &err), &err);
        must(tl_sim_step(sim, NULL, &err), &err);
    }
    tl_cloth_view view;
    tl_sim_cloth_view(sim, cloth, &view);
    const double lifted = view.pos[hit.node].y;

    // mouse up: the id is stale from here on
    must(tl_handle_remove(sim, handle, &err), &err);
    for (int i = 0; i < 100; i++) must(tl_sim_step(sim, NULL, &err), &err);
    tl_sim_cloth_view(sim, cloth, &view);
    printf("lifted to y = %.3f m, half a second after letting go at y = %.3f m\n", lifted, view.pos[hit.node].y);
    const tl_status again = tl_handle_remove(sim, handle, &err);
    const int fine = lifted > 0.2 && view.pos[hit.node].y < 0.1 && again == TL_BAD_ARG;
    tl_sim_destroy(sim);
    return fine ? 0 : 1;
}
