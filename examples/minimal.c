// examples/minimal.c: build a sheet in code, hold two corners, let it fall for a second.
#include <stdio.h>

#include "toile/toile.h"

enum { N = 20 };  // cells along a side

int main(void)
{
    // a flat grid of 1 m x 1 m, its rest shape in uv and its start lying level in space
    static tl_vec3 pos[(N + 1) * (N + 1)];
    static tl_vec2 uv[(N + 1) * (N + 1)];
    static int32_t face[2 * N * N][3];
    for (int j = 0, v = 0; j <= N; j++)
        for (int i = 0; i <= N; i++, v++) {
            uv[v] = (tl_vec2){(double)i / N, (double)j / N};
            pos[v] = (tl_vec3){uv[v].x, 0, -uv[v].y};
        }
    for (int c = 0; c < N * N; c++) {
        const int a = c / N * (N + 1) + c % N, b = a + 1, d = a + N + 1;
        face[2 * c][0] = a, face[2 * c][1] = b, face[2 * c][2] = d + 1;
        face[2 * c + 1][0] = a, face[2 * c + 1][1] = d + 1, face[2 * c + 1][2] = d;
    }

    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    tl_sim *sim = NULL;
    if (tl_sim_create(&def, &sim, &err) != TL_OK) goto fail;

    const tl_material cotton = tl_material_default();
    tl_cloth_def cloth_def = tl_cloth_def_default();
    cloth_def.node_count = (N + 1) * (N + 1), cloth_def.pos = pos, cloth_def.uv = uv;
    cloth_def.face_count = 2 * N * N, cloth_def.face = (const int32_t(*)[3])face;
    cloth_def.materials = &cotton, cloth_def.material_count = 1;
    tl_cloth_id cloth;
    if (tl_sim_add_cloth(sim, &cloth_def, &cloth, &err) != TL_OK) goto fail;

    tl_handle_def corners = tl_handle_def_default();
    corners.cloth = cloth, corners.nodes = (const int32_t[]){0, N}, corners.node_count = 2;
    if (tl_sim_add_handle(sim, &corners, &err) != TL_OK) goto fail;

    while (tl_sim_time(sim) < 1 - def.dt / 2)
        if (tl_sim_step(sim, NULL, &err) != TL_OK) goto fail;

    tl_cloth_view view;
    tl_sim_cloth_view(sim, cloth, &view);
    double lowest = 0;
    for (int v = 0; v < view.node_count; v++) lowest = view.pos[v].y < lowest ? view.pos[v].y : lowest;
    printf("after %.2f s the lowest point is at y = %.3f m\n", tl_sim_time(sim), lowest);
    tl_sim_destroy(sim);
    return lowest < -0.5 ? 0 : 1;  // it has swung down
fail:
    fprintf(stderr, "%s\n", err.message);
    tl_sim_destroy(sim);
    return 1;
}
