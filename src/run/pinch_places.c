// run/pinch_places.c: pinched nodes of all cloths, told by the part of the body that is next to them.

#include "run/pinch_places.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NODES_MAX = 256 };  // of a cloth; enough to name the places

static void name_place(const tl_scene *scene, const tl_sim *sim, tl_vec3 x, tl_pinch_place *out)
{
    double nearest = (double)INFINITY;
    for (int32_t b = 0; b < tl_sim_body_count(sim); b++) {
        tl_body_view view;
        const tl_body_id id = tl_sim_body(sim, b);
        if (tl_sim_body_view(sim, id, &view) != TL_OK || !view.present) continue;
        // bodies stand in the order of the obstacles
        const tl_character *c = b < scene->obstacle_count ? scene->obstacles[b].character : NULL;
        for (int32_t i = 0; i < view.node_count; i++) {
            const tl_vec3 d = tl_sub3(view.pos[i], x);
            const double far = tl_dot3(d, d);
            if (far >= nearest) continue;
            nearest = far;
            snprintf(out->body, sizeof out->body, "%s", tl_sim_body_name(sim, id));
            const int32_t joint = c ? tl_character_vert_node(c, i) : -1;
            snprintf(out->joint, sizeof out->joint, "%.63s", joint >= 0 ? tl_character_node_name(c, joint) : "");
        }
    }
}

int32_t tl_pinch_places_find(const tl_scene *scene, const tl_sim *sim, tl_pinch_place out[TL_PINCH_PLACES])
{
    int32_t count = 0;
    for (int32_t c = 0; c < tl_sim_cloth_count(sim); c++) {
        int32_t nodes[NODES_MAX];
        tl_cloth_view view;
        const tl_cloth_id id = tl_sim_cloth(sim, c);
        int32_t n = tl_sim_pinched(sim, id, nodes, NODES_MAX);
        if (n == 0 || tl_sim_cloth_view(sim, id, &view) != TL_OK) continue;
        if (n > NODES_MAX) n = NODES_MAX;
        for (int32_t k = 0; k < n; k++) {
            tl_pinch_place p = {.nodes = 1, .at = view.pos[nodes[k]]};
            snprintf(p.cloth, sizeof p.cloth, "%s", tl_sim_cloth_name(sim, id));
            name_place(scene, sim, p.at, &p);
            int32_t i = 0;
            while (i < count && (strcmp(out[i].cloth, p.cloth) != 0 || strcmp(out[i].body, p.body) != 0 ||
                                 strcmp(out[i].joint, p.joint) != 0))
                i++;
            if (i < count)
                out[i].nodes++;
            else if (count < TL_PINCH_PLACES)
                out[count++] = p;
        }
    }
    return count;
}
