// examples/moving_body.c: a ball that the program moves, step by step, lifts a sheet; how hard it presses is read back.
#include "sheet.h"

int main(void)
{
    tl_error err;
    const tl_sim_def def = tl_sim_def_default();
    tl_sim *sim = NULL;
    must(tl_sim_create(&def, &sim, &err), &err);
    const tl_cloth_def square = sheet(0.6, 0.2);
    tl_cloth_id cloth;
    must(tl_sim_add_cloth(sim, &square, &cloth, &err), &err);
    tl_body_def ball = tl_body_def_default();
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.radius = 0.15, ball.live = 1;
    tl_body_id body;
    must(tl_sim_add_body(sim, &ball, &body, &err), &err);

    for (int i = 1; i <= 200; i++) {
        tl_motion_key pose = {0};  // where the ball is at the end of the step: 0.2 m/s upwards, turning
        pose.translate.y = 0.001 * i;
        pose.rotate_axis.y = 1, pose.rotate_deg = 0.3 * i;
        must(tl_body_set_pose(sim, body, &pose, &err), &err);
        must(tl_sim_step(sim, NULL, &err), &err);
    }

    static tl_contact_point contact[1024];
    const int32_t count = tl_sim_contact_points(sim, contact, 1024);
    double force = 0, least = 1;
    for (int32_t i = 0; i < count && i < 1024; i++) {
        if (contact[i].body.gen == 0) continue;  // cloth on cloth
        force += contact[i].force.y;
        least = contact[i].gap < least ? contact[i].gap : least;
    }
    const double weight = 0.6 * 0.6 * square.materials[0].density * 9.81;
    printf("%d contacts, smallest gap %.2f mm; the ball carries %.2f N, the sheet weighs %.2f N\n", count, 1000 * least,
           force, weight);

    const tl_vec3 above = {0, 1, 0};
    tl_hit top;
    const int32_t seen = tl_sim_nearest(sim, above, 1, TL_QUERY_CLOTHS, &top);
    printf("the sheet is at y = %.3f m over the ball, whose top is at 0.350 m\n", top.point.y);
    const int fine = seen && top.point.y > 0.35 && top.point.y < 0.36 && least > 0 && force > 0.5 * weight;
    tl_sim_destroy(sim);
    return fine ? 0 : 1;
}
