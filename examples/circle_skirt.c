// examples/circle_skirt.c: a circle skirt built in code: pattern, mesh, simulation.
//
// A full circle skirt is a ring of cloth cut open along one radius: waist of radius r = waist / (2 pi), hem of radius
// r + length. Here it is made of two half rings with two side seams, filled with triangles, sewn, and let fall from its
// waist.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "toile/core.h"

static int fail(const char *what, const tl_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    return 1;
}

// A half ring in the upper half plane, counter-clockwise: side, hem, side, waist.
static tl_status add_half(tl_pattern *p, const char *name, double waist, double hem, double turn_deg, tl_error *err)
{
    int32_t panel;
    tl_status s = tl_pattern_add_panel(p, name, "leg", &panel, err);
    const tl_vec2 a = {waist, 0}, b = {hem, 0}, c = {-hem, 0}, d = {-waist, 0};
    const tl_segment edges[4] = {
        {.kind = TL_SEGMENT_LINE, .from = a, .to = b},
        {.kind = TL_SEGMENT_ARC, .from = b, .to = c, .bulge = 1},  // half a circle to the left
        {.kind = TL_SEGMENT_LINE, .from = c, .to = d},
        {.kind = TL_SEGMENT_ARC, .from = d, .to = a, .bulge = -1},  // and back, to the right
    };
    static const char *const labels[4] = {"right side", "hem", "left side", "waist"};
    for (int i = 0; s == TL_OK && i < 4; i++) s = tl_pattern_add_edge(p, panel, &edges[i], 1, labels[i], NULL, err);
    // Flat in the plane y = 1 m, its right side up, the second half turned by half a circle.
    const tl_placement place = {{0, 1, 0}, {-90, turn_deg, 0}, 0};
    if (s == TL_OK) s = tl_pattern_set_placement(p, panel, &place, err);
    return s;
}

#define SECONDS 0.5

// Holds the nodes within `radius` of the axis and lets the rest fall. Returns the height of the lowest node [m].
static double let_fall(const tl_pattern_mesh *m, const int32_t *node, const tl_vec3 *pos, int32_t nodes, double radius)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    tl_sim *sim = NULL;
    tl_cloth_id cloth = {0};
    const tl_material cotton = tl_material_default();
    tl_cloth_def skirt = tl_cloth_def_default();
    skirt.node_count = nodes, skirt.pos = pos;
    skirt.vert_count = m->vert_count, skirt.uv = m->uv, skirt.vert_node = node;
    skirt.face_count = m->face_count, skirt.face = (const int32_t(*)[3])m->face;
    skirt.materials = &cotton, skirt.material_count = 1;
    int32_t *held = (int32_t *)malloc((size_t)nodes * sizeof *held), count = 0;
    double lowest = 1;
    for (int32_t i = 0; held && i < nodes; i++)
        if (hypot(pos[i].x, pos[i].z) < radius) held[count++] = i;
    tl_status s = held ? tl_sim_create(&def, &sim, &err) : TL_NO_MEMORY;
    if (s == TL_OK) s = tl_sim_add_cloth(sim, &skirt, &cloth, &err);
    tl_handle_def waist = tl_handle_def_default();
    waist.cloth = cloth, waist.nodes = held, waist.node_count = count;
    if (s == TL_OK) s = tl_sim_add_handle(sim, &waist, &err);
    while (s == TL_OK && tl_sim_time(sim) < SECONDS) s = tl_sim_step(sim, NULL, &err);
    tl_cloth_view view;
    if (s == TL_OK) s = tl_sim_cloth_view(sim, cloth, &view);
    for (int32_t i = 0; s == TL_OK && i < view.node_count; i++) lowest = fmin(lowest, view.pos[i].y);
    if (s != TL_OK) fail("simulation", &err);
    tl_sim_destroy(sim);
    free(held);
    return lowest;
}

int main(void)
{
    tl_error err;
    const double pi = 3.14159265358979323846, waist = 0.70 / (2 * pi), hem = waist + 0.45;
    tl_pattern *p = NULL;
    if (tl_pattern_create(NULL, &p, &err) != TL_OK) return fail("pattern", &err);
    if (add_half(p, "front", waist, hem, 0, &err) != TL_OK || add_half(p, "back", waist, hem, 180, &err) != TL_OK)
        return fail("panel", &err);
    // Right sides together: seams run against the outline on the second panel.
    const tl_seam seams[2] = {{"right", {{0, 0, 1, 0, 1}, {1, 2, 1, 1, 0}}, 0},
                              {"left", {{0, 2, 1, 0, 1}, {1, 0, 1, 1, 0}}, 0}};
    for (int i = 0; i < 2; i++)
        if (tl_pattern_add_seam(p, &seams[i], NULL, &err) != TL_OK) return fail("seam", &err);
    if (tl_pattern_check(p, &err) != TL_OK) return fail("check", &err);

    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    def.edge = 0.05;
    tl_pattern_mesh m;
    if (tl_pattern_mesh_make(NULL, p, &def, &m, &err) != TL_OK) return fail("mesh", &err);
    const double area = pi * (hem * hem - waist * waist);
    printf("circle skirt: %.3f m^2 of cloth (%.3f in %d triangles), %d pairs of vertices to sew\n", area,
           m.panels[0].area + m.panels[1].area, m.face_count, m.pair_count);

    // Paired vertices lie together in space, so each pair becomes one node of the cloth.
    int32_t *node = (int32_t *)malloc((size_t)m.vert_count * sizeof *node), nodes = 0;
    tl_vec3 *pos = (tl_vec3 *)malloc((size_t)m.vert_count * sizeof *pos);
    if (!node || !pos) return 1;
    for (int32_t v = 0; v < m.vert_count; v++) node[v] = -1;
    for (int32_t i = 0; i < m.pair_count; i++) node[m.pairs[i].b] = -2 - m.pairs[i].a;
    for (int32_t v = 0; v < m.vert_count; v++)
        if (node[v] == -1) pos[nodes] = m.pos[v], node[v] = nodes++;
    for (int32_t v = 0; v < m.vert_count; v++)
        if (node[v] < -1) node[v] = node[-2 - node[v]];

    const int sewn = m.vert_count - nodes == m.pair_count;
    const double lowest = let_fall(&m, node, pos, nodes, 1.1 * waist);
    printf("%d vertices on %d nodes; after %.1f s the hem hangs %.3f m below the waist\n", m.vert_count, nodes, SECONDS,
           1 - lowest);
    tl_pattern_mesh_free(&m);
    tl_pattern_destroy(p);
    free(node);
    free(pos);
    return sewn && 1 - lowest > 0.2 ? 0 : 1;
}
