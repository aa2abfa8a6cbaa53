// examples/contact.c: a sheet falls on a ball on the floor; nothing passes through anything.
#include "sheet.h"

int main(void)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.collide.on_intersection = TL_INTERSECTION_HEAL;  // a start that crosses something is pulled apart, not refused
    tl_sim *sim = NULL;
    must(tl_sim_create(&def, &sim, &err), &err);

    const tl_cloth_def square = sheet(0.6, 0.35);
    tl_cloth_id cloth;
    must(tl_sim_add_cloth(sim, &square, &cloth, &err), &err);

    tl_body_def ball = tl_body_def_default(), floor = tl_body_def_default();
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.center.y = 0.15, ball.radius = 0.15;
    floor.name = "floor", floor.kind = TL_BODY_PLANE;  // y = 0, open upwards
    tl_body_id body;
    must(tl_sim_add_body(sim, &ball, &body, &err), &err);
    must(tl_sim_add_body(sim, &floor, &body, &err), &err);

    tl_step_report step;
    while (tl_sim_time(sim) < 0.6 - def.dt / 2) must(tl_sim_step(sim, &step, &err), &err);

    tl_intersection_report found;
    must(tl_sim_intersections(sim, &found, &err), &err);
    const long long contacts = (long long)step.contact.contacts;
    const long long crossings = (long long)(found.cloth_cloth + found.cloth_body);
    printf("after %.2f s: %lld contacts, %lld intersections\n", tl_sim_time(sim), contacts, crossings);
    tl_sim_destroy(sim);
    return contacts > 0 && crossings == 0 ? 0 : 1;
}
