// examples/scene_run.c: load a scene file, step it, look at positions, normals and energies after every
// frame.
#include <stdio.h>
#include <stdlib.h>

#include "toile/toile.h"

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "scenes/hanging/scene.json";
    const char *sets[] = {"name=example"};  // any key of the scene can be replaced
    tl_error err = {0};
    tl_scene *scene = NULL;
    tl_sim *sim = NULL;
    tl_vec3 *normals = NULL;
    if (tl_scene_load(path, sets, 1, &scene, &err) != TL_OK) goto fail;
    if (tl_scene_simulate(scene, 2, NULL, NULL, &sim, &err) != TL_OK) goto fail;

    const tl_cloth_id cloth = tl_sim_cloth(sim, 0);
    for (int frame = 1; frame <= 3; frame++) {
        tl_step_report report = {0};
        for (int step = 0; step < tl_scene_steps_per_frame(scene); step++)
            if (tl_sim_step(sim, &report, &err) != TL_OK) goto fail;

        tl_cloth_view view;
        tl_energies energy;
        if (tl_sim_cloth_view(sim, cloth, &view) != TL_OK || tl_sim_energies(sim, &energy) != TL_OK) goto fail;
        free(normals);  // the mesh follows the motion: there may be more nodes than before
        normals = malloc((size_t)view.node_count * sizeof *normals);
        if (!normals || tl_sim_cloth_normals(sim, cloth, normals) != TL_OK) goto fail;

        const int last = view.node_count - 1;
        printf("frame %d, t = %.3f s: %s, %d faces, kinetic energy %.4f J, %d Newton iterations in the last "
               "step\n"
               "  node %d is at (%.3f, %.3f, %.3f), normal (%.2f, %.2f, %.2f)\n",
               frame, report.time, tl_sim_cloth_name(sim, cloth), view.face_count, energy.kinetic,
               report.newton_iterations, last, view.pos[last].x, view.pos[last].y, view.pos[last].z, normals[last].x,
               normals[last].y, normals[last].z);
    }
    free(normals);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return 0;
fail:
    fprintf(stderr, "%s\n", err.message[0] ? err.message : "a call failed");
    free(normals);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return 1;
}
