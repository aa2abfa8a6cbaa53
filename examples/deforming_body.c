// examples/deforming_body.c: a body whose shape the program sets every step, as an animation system would: a ball that
// breathes under a sheet. Nothing passes through it.
#include "sheet.h"

int main(void)
{
    tl_error err;
    const tl_sim_def def = tl_sim_def_default();
    tl_sim *sim = NULL;
    must(tl_sim_create(&def, &sim, &err), &err);
    const tl_cloth_def square = sheet(0.5, 0.16);
    tl_cloth_id cloth;
    must(tl_sim_add_cloth(sim, &square, &cloth, &err), &err);
    tl_body_def ball = tl_body_def_default();
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.radius = 0.15, ball.live = 1;
    tl_body_id body;
    must(tl_sim_add_body(sim, &ball, &body, &err), &err);

    tl_body_view view;
    must(tl_sim_body_view(sim, body, &view), NULL);
    const int32_t count = view.node_count;
    tl_vec3 *rest = (tl_vec3 *)malloc((size_t)count * sizeof *rest);
    tl_vec3 *now = (tl_vec3 *)malloc((size_t)count * sizeof *now);
    for (int32_t i = 0; i < count; i++) rest[i] = view.pos[i];  // views are borrowed until the next step

    for (int step = 1; step <= 150; step++) {
        const double breath = 1 + 0.1 * (step < 75 ? step : 150 - step) / 75.0;  // in and out once
        for (int32_t i = 0; i < count; i++) now[i] = rest[i], now[i].x *= 2 - breath, now[i].y *= breath;
        must(tl_body_set_positions(sim, body, now, count, &err), &err);  // reached at the end of the next step
        must(tl_sim_step(sim, NULL, &err), &err);
    }
    must(tl_sim_body_view(sim, body, &view), NULL);
    int32_t off = 0;
    for (int32_t i = 0; i < count; i++) off += view.pos[i].x != now[i].x || view.pos[i].y != now[i].y;
    tl_intersection_report found;
    must(tl_sim_intersections(sim, &found, &err), &err);
    const long long crossings = (long long)(found.cloth_body + found.cloth_cloth);
    printf("%d of %d nodes of the body are not where they were set; %lld crossings\n", off, count, crossings);
    free(rest), free(now);
    tl_sim_destroy(sim);
    return off == 0 && crossings == 0 ? 0 : 1;
}
