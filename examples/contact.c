// examples/contact.c: a sheet falls on a ball on the floor; nothing passes through anything.
#include <stdio.h>

#include "toile/toile.h"

enum { N = 24 };  // cells along a side

int main(void)
{
    // a level sheet of 0.6 m x 0.6 m over the ball
    static tl_vec3 pos[(N + 1) * (N + 1)];
    static tl_vec2 uv[(N + 1) * (N + 1)];
    static int32_t face[2 * N * N][3];
    for (int j = 0, v = 0; j <= N; j++)
        for (int i = 0; i <= N; i++, v++) {
            uv[v] = (tl_vec2){0.6 * i / N, 0.6 * j / N};
            pos[v] = (tl_vec3){uv[v].x - 0.3, 0.35, 0.3 - uv[v].y};
        }
    for (int c = 0; c < N * N; c++) {
        const int a = c / N * (N + 1) + c % N, b = a + 1, d = a + N + 1;
        face[2 * c][0] = a, face[2 * c][1] = b, face[2 * c][2] = d + 1;
        face[2 * c + 1][0] = a, face[2 * c + 1][1] = d + 1, face[2 * c + 1][2] = d;
    }

    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.collide.on_intersection = TL_INTERSECTION_HEAL;  // a start that crosses something is pulled apart, not refused
    tl_sim *sim = NULL;
    if (tl_sim_create(&def, &sim, &err) != TL_OK) goto fail;

    const tl_material cotton = tl_material_default();
    tl_cloth_def sheet = tl_cloth_def_default();
    sheet.name = "sheet", sheet.node_count = (N + 1) * (N + 1), sheet.pos = pos, sheet.uv = uv;
    sheet.face_count = 2 * N * N, sheet.face = (const int32_t(*)[3])face;
    sheet.materials = &cotton, sheet.material_count = 1;
    tl_cloth_id cloth;
    if (tl_sim_add_cloth(sim, &sheet, &cloth, &err) != TL_OK) goto fail;

    tl_body_def ball = tl_body_def_default(), floor = tl_body_def_default();
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.center = (tl_vec3){0, 0.15, 0}, ball.radius = 0.15;
    floor.name = "floor", floor.kind = TL_BODY_PLANE;  // y = 0, open upwards
    tl_body_id body;
    if (tl_sim_add_body(sim, &ball, &body, &err) != TL_OK) goto fail;
    if (tl_sim_add_body(sim, &floor, &body, &err) != TL_OK) goto fail;

    tl_step_report step = {0};
    while (tl_sim_time(sim) < 0.6 - def.dt / 2)
        if (tl_sim_step(sim, &step, &err) != TL_OK) goto fail;

    tl_intersection_report found;
    if (tl_sim_intersections(sim, &found, &err) != TL_OK) goto fail;
    const long long contacts = (long long)step.contact.contacts, crossings = (long long)(found.cloth_cloth + found.cloth_body);
    printf("after %.2f s: %lld contacts, %lld intersections\n", tl_sim_time(sim), contacts, crossings);
    tl_sim_destroy(sim);
    return contacts > 0 && crossings == 0 ? 0 : 1;
fail:
    fprintf(stderr, "%s\n", err.message);
    tl_sim_destroy(sim);
    return 1;
}
