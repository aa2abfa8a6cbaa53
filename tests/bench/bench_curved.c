// tests/bench/bench_curved.c: curved surfaces over coarse cloth, in the columns of Simnett 2012, Tables 6.2 to 6.4: a
// square pinned at two corners, a flag, a dress on a body, at every level, adaptive, and coarse behind.
//
// Milliseconds of processor time a frame, one thread. An update of the hierarchy every fifth frame, shared out to all.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "post/curved.h"
#include "toile/scene.h"

enum { FRAMES = 60, LEVELS = 3, EVERY = 5, CASES = LEVELS + 3 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(tl_status status, const tl_error *err)
{
    if (status == TL_OK) return;
    fprintf(stderr, "bench_curved: %s\n", err->message);
    exit(3);
}

typedef struct test {
    const char *name, *scene;
    double published[CASES][6];  // triangles; coarse simulation, adapt, surface, normals, total [ms]
} test;

static const test tests[] = {
    {"A pinned",
     "curved-pinned",
     {{250, .419, 0, .004, .029, .483},
      {1000, .419, 0, .098, .114, .699},
      {4000, .418, 0, .360, .464, 1.519},
      {16000, .421, 0, 1.637, 1.909, 4.992},
      {1286, .426, .082, .099, .125, .815},
      {0}}},
    {"B flag",
     "curved-flag",
     {{250, .365, 0, .004, .022, .419},
      {1000, .372, 0, .077, .087, .593},
      {4000, .368, 0, .272, .348, 1.204},
      {16000, .368, 0, 1.121, 1.428, 3.713},
      {1206, .365, .097, .097, .118, .748},
      {0}}},
    {"C dress",
     "curved-dress",
     {{488, 1.81, 0, .01, .04, 1.94},
      {1952, 1.81, 0, .16, .17, 2.30},
      {7808, 1.82, 0, .84, .78, 3.93},
      {31232, 1.83, 0, 3.33, 2.98, 9.81},
      {3013, 1.83, .36, .38, .41, 3.24},
      {2103, 1.84, .27, .27, .31, 2.91}}},
};

static tl_curved *make_surface(tl_sim *sim, int which)
{
    tl_cloth_view v;
    tl_error err;
    must(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &v), &(tl_error){.message = "no cloth"});
    int32_t(*node)[3] = malloc((size_t)v.face_count * sizeof *node);
    for (int32_t f = 0; f < v.face_count; f++)
        for (int k = 0; k < 3; k++) node[f][k] = v.vert_node[v.face[f][k]];
    const tl_fine_input in = {.pos = v.pos,
                              .node = (const int32_t(*)[3])node,
                              .vert = v.face,
                              .uv = v.uv,
                              .node_count = v.node_count,
                              .vert_count = v.vert_count,
                              .face_count = v.face_count};
    const tl_allocator alloc = tl_allocator_default();
    tl_fine_mesh mesh;
    must(tl_fine_mesh_create(alloc, &in, &mesh, &err), &err);
    tl_curved_def def = tl_curved_def_default();
    def.levels = which <= LEVELS ? which : LEVELS, def.uniform = which <= LEVELS;
    def.cull = which == LEVELS + 2, def.eye = (tl_vec3){0, 1, 6};
    tl_curved *c;
    must(tl_curved_create(&alloc, &def, &mesh, &c, &err), &err);
    tl_fine_mesh_free(&mesh);
    free(node);
    return c;
}

static void run(const test *t, int which)
{
    char path[1200];
    tl_error err;
    tl_scene *scene;
    tl_sim *sim;
    snprintf(path, sizeof path, "%s/scenes/%s/scene.json", TL_DATA_DIR, t->scene);
    must(tl_scene_load(path, NULL, 0, &scene, &err), &err);
    must(tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err), &err);
    tl_scene_destroy(scene);
    tl_curved *c = make_surface(sim, which);
    double sum[4] = {0, 0, 0, 0}, tris = 0;
    for (int f = 0; f < FRAMES; f++) {
        double at[5];
        tl_cloth_view v;
        at[0] = seconds();
        must(tl_sim_step(sim, NULL, &err), &err);
        at[1] = seconds();
        if (tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &v) != TL_OK) exit(3);
        tl_curved_follow(c, v.pos);
        const int updates = f == 0 ? LEVELS : f % EVERY == 0;  // a region gains a level in each
        for (int k = 0; k < updates; k++) must(tl_curved_adapt(c, NULL, &err), &err);
        at[2] = seconds();
        must(tl_curved_build(c, &err), &err);
        at[3] = seconds();
        must(tl_curved_shade(c, &err), &err);
        at[4] = seconds();
        for (int k = 0; k < 4 && f > 0; k++) sum[k] += 1e3 * (at[k + 1] - at[k]) / (FRAMES - 1);
        tris += f > 0 ? (double)tl_curved_look(c).face_count / (FRAMES - 1) : 0;
    }
    static const char *const names[CASES] = {"level 0", "level 1", "level 2", "level 3", "adaptive", "coarse behind"};
    const double *p = t->published[which];
    printf("%-8s %-13s %6.0f (%5.0f)  %6.3f (%5.3f)  %6.3f (%5.3f)  %6.3f (%5.3f)  %6.3f (%5.3f)  %7.3f (%5.3f)\n",
           t->name, names[which], tris, p[0], sum[0], p[1], sum[1], p[2], sum[2], p[3], sum[3], p[4],
           sum[0] + sum[1] + sum[2] + sum[3], p[5]);
    fflush(stdout);
    tl_curved_destroy(c);
    tl_sim_destroy(sim);
}

int main(void)
{
    printf("curved surfaces, ms a frame (published, where totals have drawing in them)\n"
           "test                      triangles      coarse simulation     adapt           surface         normals    "
           "     total\n");
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
        for (int which = 0; which < CASES; which++)
            if (tests[t].published[which][0] > 0) run(&tests[t], which);
    return 0;
}
