// tests/bench/bench_assembly.c: force and Hessian assembly, energy and matrix product, one thread, both matrix
// storages.
//
//   bench_assembly [faces..]        default: 2k, 10k, 65k and 200k
//
// A wavy sheet of 1 m in a wind. Looks inside the library (src/ on the include path). Times are the best of many, in
// processor time, which other work on the machine disturbs less. Compare within one run only.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "physics/forces.h"

enum { ROUNDS = 30 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(tl_status status, const tl_error *err)
{
    if (status == TL_OK) return;
    fprintf(stderr, "bench_assembly: %s\n", err->message);
    exit(1);
}

// A square grid with alternating diagonals.
static tl_mesh *make_sheet(const tl_allocator *alloc, int32_t side)
{
    const int32_t n = (side + 1) * (side + 1), faces = 2 * side * side;
    tl_vec3 *pos = TL_ALLOC(alloc, tl_vec3, n);
    tl_vec2 *uv = TL_ALLOC(alloc, tl_vec2, n);
    int32_t(*face)[3] = tl_alloc_bytes(alloc, (size_t)faces, sizeof *face);
    tl_error err = {TL_NO_MEMORY, "out of memory"};
    check(pos && uv && face ? TL_OK : TL_NO_MEMORY, &err);
    for (int32_t j = 0, v = 0; j <= side; j++)
        for (int32_t i = 0; i <= side; i++, v++) {
            uv[v] = (tl_vec2){(double)i / side, (double)j / side};
            pos[v] = (tl_vec3){uv[v].x, uv[v].y, 0.02 * sin(9 * uv[v].x) * cos(7 * uv[v].y)};
        }
    for (int32_t j = 0, t = 0; j < side; j++)
        for (int32_t i = 0; i < side; i++, t += 2) {
            const int32_t a = j * (side + 1) + i, b = a + 1, c = b + side + 1, d = c - 1;
            const bool rising = (i + j) % 2 == 0;
            face[t][0] = a, face[t][1] = b, face[t][2] = rising ? c : d;
            face[t + 1][0] = rising ? a : b, face[t + 1][1] = c, face[t + 1][2] = d;
        }
    const tl_mesh_def def = {.node_count = n,
                             .vert_count = n,
                             .face_count = faces,
                             .pos = pos,
                             .uv = uv,
                             .face_vert = (const int32_t(*)[3])face};
    tl_mesh *mesh;
    check(tl_mesh_create(alloc, &def, &mesh, &err), &err);
    TL_FREE(alloc, pos, n);
    TL_FREE(alloc, uv, n);
    TL_FREE(alloc, face, faces);
    return mesh;
}

static void bench(int32_t faces)
{
    const tl_allocator alloc = tl_allocator_default();
    const tl_material material = tl_material_default();
    tl_error err;
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_mesh *mesh = make_sheet(&alloc, (int32_t)lround(sqrt(0.5 * faces)));
    tl_elements *e;
    tl_bsr *matrix;
    check(tl_elements_create(&alloc, &(tl_element_source){mesh, &material, 1}, 1, TL_BEND_SHAPE, NULL, &e, &err), &err);
    check(tl_elements_matrix(e, false, &arena, NULL, &matrix, &err), &err);
    const int32_t n = e->node_count;
    tl_vec3 *x = TL_ALLOC(&alloc, tl_vec3, n), *g = TL_ALLOC(&alloc, tl_vec3, n), *y = TL_ALLOC(&alloc, tl_vec3, n);
    check(x && g && y ? TL_OK : tl_fail_memory(&err, "bench"), &err);
    for (int32_t i = 0; i < n; i++) x[i] = mesh->pos[e->slot_of_node[i]];
    const tl_step_def step = {
        .gamma = 200, .now = 1, .x_tilde = x, .x_hat = x, .gravity = {0, 0, -9.81}, .pressure = 0.6, .wind = {1, 2, 3}};
    tl_forces_begin(e, &step, x, NULL, true, NULL);
    for (int single = 0; single < 2; single++) {
        if (single) check(tl_bsr_to_single(&alloc, matrix, &err), &err);
        double assembly = INFINITY, gradient = INFINITY, energy = INFINITY, product = INFINITY;
        for (int round = 0; round < ROUNDS; round++) {
            const double t0 = now();
            tl_forces_assemble(e, &step, x, matrix, g, NULL);
            const double t1 = now();
            tl_forces_assemble(e, &step, x, NULL, g, NULL);
            const double t2 = now();
            tl_potential p;
            check(tl_forces_energy(e, &step, x, &(tl_ctx){&arena, NULL}, &p, &err), &err);
            const double t3 = now();
            tl_bsr_multiply(matrix, NULL, g, y);
            const double t4 = now();
            assembly = fmin(assembly, t1 - t0), gradient = fmin(gradient, t2 - t1);
            energy = fmin(energy, t3 - t2), product = fmin(product, t4 - t3);
        }
        printf("%7d faces, %s: force and Hessian %5.2f, force %5.2f, energy %5.2f million faces/s; product %5.2f ns a "
               "block\n",
               e->face_count, single ? "single" : "double", 1e-6 * e->face_count / assembly,
               1e-6 * e->face_count / gradient, 1e-6 * e->face_count / energy, 1e9 * product / matrix->block_count);
    }
    TL_FREE(&alloc, x, n);
    TL_FREE(&alloc, g, n);
    TL_FREE(&alloc, y, n);
    tl_bsr_destroy(&alloc, matrix);
    tl_elements_destroy(e);
    tl_mesh_destroy(mesh);
    tl_arena_free(&arena);
}

int main(int argc, char **argv)
{
    const int32_t sizes[] = {2000, 10000, 65000, 200000};
    for (int i = 1; i < argc; i++) bench((int32_t)strtol(argv[i], NULL, 10));
    for (size_t i = 0; argc < 2 && i < sizeof sizes / sizeof *sizes; i++) bench(sizes[i]);
    return 0;
}
