// tests/bench/bench_sizing.c: the sizing field, per face and term by term, one thread; planes of obstacles per node.
//
//   bench_sizing [faces..]        default: 2k, 10k, 65k and 200k
//
// A wavy sheet of 1 m in motion above a ball of 5k faces; also with its faces in random order, as edits leave them.
// Looks inside the library (src/ on the include path). Times are the best of many, in processor time. Compare within
// one run only.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "mesh/mesh_query.h"
#include "adapt/anisotropic/obstacles.h"
#include "adapt/anisotropic/sizing.h"
#include "sheets.h"

enum { ROUNDS = 20, BALL_SIDE = 50 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(tl_status status, const tl_error *err)
{
    if (status == TL_OK) return;
    fprintf(stderr, "bench_sizing: %s\n", err->message);
    exit(1);
}

// Faces in random order: neighbours far apart in memory.
static void shuffle_faces(sheet *s)
{
    for (int32_t f = s->face_count - 1; f > 0; f--) {
        const int32_t g = (int32_t)(tl_random_bits(1, 2, (uint64_t)f) % (uint64_t)(f + 1));
        for (int k = 0; k < 3; k++) {
            const int32_t swap = s->face[f][k];
            s->face[f][k] = s->face[g][k], s->face[g][k] = swap;
        }
    }
}

static tl_mesh *make_cloth(const tl_allocator *alloc, int side, bool shuffled)
{
    sheet s = sheet_grid(1, 1, side, side, true);
    if (shuffled) shuffle_faces(&s);
    tl_vec3 *vel = calloc((size_t)s.node_count, sizeof *vel);
    for (int32_t n = 0; n < s.node_count; n++) {
        const tl_vec2 u = s.uv[n];
        s.pos[n] = (tl_vec3){0.98 * u.x, u.y, 0.05 + 0.02 * sin(19 * u.x) * cos(17 * u.y)};
        vel[n] = (tl_vec3){sin(3 * u.x), cos(5 * u.y), sin(9 * u.x)};
    }
    const tl_mesh_def def = {.node_count = s.node_count,
                             .vert_count = s.node_count,
                             .face_count = s.face_count,
                             .pos = s.pos,
                             .vel = vel,
                             .uv = s.uv,
                             .face_vert = (const int32_t(*)[3])s.face};
    tl_mesh *mesh;
    tl_error err = {0};
    check(tl_mesh_create(alloc, &def, &mesh, &err), &err);
    sheet_free(&s);
    free(vel);
    return mesh;
}

static tl_bvh *make_ball(const tl_allocator *alloc, sheet *s)
{
    *s = sheet_grid(2, 2, BALL_SIDE, BALL_SIDE, true);
    for (int32_t n = 0; n < s->node_count; n++) {
        const double x = s->pos[n].x - 1, y = s->pos[n].y - 1;
        s->pos[n] =
            (tl_vec3){s->pos[n].x - 0.5, s->pos[n].y - 0.5, 0.5 * sqrt(fmax(0, 1 - 0.5 * (x * x + y * y))) - 0.5};
    }
    const tl_surface surface = {s->node_count, s->face_count, 0, (const int32_t(*)[3])s->face, NULL};
    const tl_bvh_def def = tl_bvh_def_default();
    tl_bvh *tree;
    tl_error err = {0};
    check(tl_bvh_create(alloc, &def, &surface, s->pos, &tree, &err), &err);
    return tree;
}

typedef struct scene {
    tl_mesh *mesh;
    tl_obstacle ball;
    tl_obstacle_plane *planes;
    tl_sym2 *size;
    tl_arena arena;
} scene;

// Nanoseconds per face.
static double time_field(scene *s, const tl_sizing_def *def)
{
    double best = HUGE_VAL;
    tl_error err = {0};
    for (int r = 0; r < ROUNDS; r++) {
        const double start = now();
        check(tl_sizing_field(s->mesh, def, NULL, 0, s->planes, &(tl_ctx){&s->arena, NULL}, s->size, &err), &err);
        best = fmin(best, now() - start);
        tl_arena_reset(&s->arena);
    }
    return 1e9 * best / s->mesh->slots[TL_FACES].count;
}

static double time_planes(scene *s)
{
    double best = HUGE_VAL;
    tl_error err = {0};
    for (int r = 0; r < 3; r++) {
        const double start = now();
        check(tl_obstacle_planes(s->mesh, &s->ball, 1, 0.2, 1e-3, NULL, s->planes, &err), &err);
        best = fmin(best, now() - start);
    }
    return 1e9 * best / s->mesh->slots[TL_NODES].count;
}

static tl_sizing_def only(int term)
{
    tl_sizing_def d = tl_sizing_def_default();
    if (term != 0) d.curvature = INFINITY;
    if (term != 1) d.velocity = INFINITY;
    d.compression = term == 2 ? 0.07 : (double)INFINITY;
    d.obstacles = term == 3;
    return d;
}

static void run(const tl_allocator *alloc, const tl_bvh *ball, int32_t faces, bool shuffled)
{
    scene s = {.mesh = make_cloth(alloc, (int)lround(sqrt(faces / 2.0)), shuffled), .ball = {.tree = ball}};
    s.planes = calloc((size_t)s.mesh->slots[TL_NODES].count, sizeof *s.planes);
    s.size = calloc((size_t)s.mesh->slots[TL_VERTS].count, sizeof *s.size);
    tl_arena_init(&s.arena, *alloc);
    const double planes = time_planes(&s);
    tl_sizing_def all = tl_sizing_def_default();
    all.compression = 0.07;
    const double most = time_field(&s, &all);
    all.blend = TL_SIZING_SUM;
    const double sum = time_field(&s, &all);
    const tl_sizing_def none = only(-1), a = only(0), b = only(1), c = only(2), d = only(3);
    printf("%8d %s  max %6.1f  sum %6.1f  none %6.1f  curvature %6.1f  velocity %6.1f  compression %6.1f  obstacle "
           "%6.1f   planes %7.1f\n",
           s.mesh->slots[TL_FACES].count, shuffled ? "shuffled" : "in order", most, sum, time_field(&s, &none),
           time_field(&s, &a), time_field(&s, &b), time_field(&s, &c), time_field(&s, &d), planes);
    tl_arena_free(&s.arena);
    free(s.planes), free(s.size);
    tl_mesh_destroy(s.mesh);
}

int main(int argc, char **argv)
{
    const int32_t usual[4] = {2000, 10000, 65000, 200000};
    const tl_allocator alloc = tl_allocator_default();
    sheet ball_sheet;
    tl_bvh *ball = make_ball(&alloc, &ball_sheet);
    printf("field [ns/face], planes [ns/node], ball of %d faces\n", ball_sheet.face_count);
    for (int i = 0; i < (argc > 1 ? argc - 1 : 4); i++)
        for (int shuffled = 0; shuffled < 2; shuffled++)
            run(&alloc, ball, argc > 1 ? atoi(argv[i + 1]) : usual[i], shuffled != 0);
    tl_bvh_destroy(ball);
    sheet_free(&ball_sheet);
    return 0;
}
