// tests/bench/bench_broad.c: refit and candidate pairs of trees, one thread: which arity and leaf size to take.
//
//   bench_broad                     generated scenes: folded sheet, sheet on a sphere, stack of sheets
//   bench_broad A.ply B.ply         a surface that moves from A to B (binary PLY, either byte order, floats and
//   triangles) -a                              every arity and leaf size; else the default and its neighbours -m
//   METRES                       margin around everything; 0 if not given -p                              only queries
//   of the default tree, each with what the processor has and by plain code, in turn -n PATH END also pairs within PATH
//   on the way or END at the end (tl_bvh_self_near), of all nodes and of some
//
// Looks inside the library (src/ on the include path). Times are the best of several, in processor time, which other
// work on the machine disturbs less. Compare within one run only.

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sort.h"
#include "detect/bvh/bvh.h"

enum { ROUNDS = 9 };

typedef struct model {
    int32_t nodes, faces, edges;
    tl_vec3 *x0, *x1;
    int32_t (*face)[3];
    int32_t (*edge)[2];
} model;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "bench_broad: %s\n", what);
    exit(1);
}

static void *take(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    check(p, "out of memory");
    return p;
}

static void find_edges(model *m)
{
    const int32_t sides = 3 * m->faces;
    tl_key *key = take((size_t)sides, sizeof *key), *spare = take((size_t)sides, sizeof *spare);
    for (int32_t i = 0; i < sides; i++) {
        const int32_t a = m->face[i / 3][i % 3], b = m->face[i / 3][(i + 1) % 3];
        key[i] = (tl_key){(uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a), i};
    }
    tl_sort_keys(key, spare, sides);
    m->edge = take((size_t)sides, sizeof *m->edge);
    m->edges = 0;
    for (int32_t i = 0; i < sides; i++) {
        if (i > 0 && key[i].key == key[i - 1].key) continue;
        m->edge[m->edges][0] = (int32_t)(key[i].key >> 32), m->edge[m->edges++][1] = (int32_t)key[i].key;
    }
    free(key), free(spare);
}

static void free_model(model *m) { free(m->x0), free(m->x1), free(m->face), free(m->edge); }

// --- scenes: `layers` square grids of `side` cells, each node placed by (u, v, layer) at time 0 and 1 ---

typedef tl_vec3 (*place)(double u, double v, int layer, double time);

static tl_vec3 folded(double u, double v, int layer, double time)
{
    (void)layer;
    const double s = 40 * u;  // folds of some 4 cm, 4 mm apart, swaying
    return (tl_vec3){0.04 * sin(s) + 0.002 * time, v + 0.001 * sin(9 * u) * time, 0.1 * u + 0.003 * cos(2 * s + 3 * v)};
}

static tl_vec3 on_sphere(double u, double v, int layer, double time)
{
    (void)layer;
    const double x = 2 * u - 1, y = 2 * v - 1, r = hypot(x, y),
                 wave = 0.1 * sin(8 * atan2(y, x)) * (r > 0.7 ? r - 0.7 : 0);
    const double fall = r < 0.7 ? sqrt(1 - r * r) - 1 : sqrt(0.51) - 1 - 1.2 * (r - 0.7);
    const double in = r < 0.7 ? 1 : (0.7 + 0.3 * (r - 0.7) + wave) / r;
    return (tl_vec3){0.4 * in * x, 0.4 * in * y, 0.4 * fall - 0.003 * time * r};
}

static tl_vec3 stacked(double u, double v, int layer, double time)
{
    return (tl_vec3){u + 0.01 * layer, v, 0.002 * layer + 0.02 * sin(7 * u) * cos(5 * v) - 0.001 * time};
}

static model make_scene(place at, int side, int layers)
{
    const int32_t per = (side + 1) * (side + 1);
    model m = {.nodes = per * layers, .faces = 2 * side * side * layers};
    m.x0 = take((size_t)m.nodes, sizeof *m.x0), m.x1 = take((size_t)m.nodes, sizeof *m.x1);
    m.face = take((size_t)m.faces, sizeof *m.face);
    int32_t f = 0;
    for (int layer = 0; layer < layers; layer++)
        for (int j = 0; j <= side; j++)
            for (int i = 0; i <= side; i++) {
                const int32_t a = layer * per + j * (side + 1) + i, b = a + 1, d = a + side + 1, c = d + 1;
                m.x0[a] = at((double)i / side, (double)j / side, layer, 0);
                m.x1[a] = at((double)i / side, (double)j / side, layer, 1);
                if (i == side || j == side) continue;
                const bool rising = (i + j) % 2 == 0;
                const int32_t tri[2][3] = {{a, b, rising ? c : d}, {rising ? a : b, c, d}};
                for (int t = 0; t < 2; t++, f++) memcpy(m.face[f], tri[t], sizeof tri[t]);
            }
    find_edges(&m);
    return m;
}

// --- PLY: as much as the frames of cloth benchmarks need ---

static uint32_t word(const unsigned char *p, bool big)
{
    return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
               : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void read_ply(const char *path, int32_t *nodes, tl_vec3 **x, int32_t *faces, int32_t (**face)[3])
{
    FILE *file = fopen(path, "rb");
    check(file, "cannot open a PLY file");
    char line[256];
    bool big = false, ended = false;
    int v = 0, f = 0;
    while (!ended && fgets(line, sizeof line, file)) {
        if (strncmp(line, "format binary_big_endian", 24) == 0) big = true;
        sscanf(line, "element vertex %d", &v);
        sscanf(line, "element face %d", &f);
        ended = strncmp(line, "end_header", 10) == 0;
    }
    check(ended && v > 0 && f > 0, "not a PLY file with vertices and faces");
    *nodes = v, *faces = f;
    *x = take((size_t)v, sizeof **x), *face = take((size_t)f, sizeof **face);
    unsigned char raw[13];
    for (int i = 0; i < v; i++) {
        check(fread(raw, 1, 12, file) == 12, "PLY file too short");
        float c[3];
        for (int k = 0; k < 3; k++) {
            const uint32_t w = word(raw + 4 * k, big);
            memcpy(&c[k], &w, sizeof w);
        }
        (*x)[i] = (tl_vec3){(double)c[0], (double)c[1], (double)c[2]};
    }
    for (int i = 0; i < f; i++) {
        check(fread(raw, 1, 13, file) == 13 && raw[0] == 3, "PLY file too short or with faces that are no triangles");
        for (int k = 0; k < 3; k++) (*face)[i][k] = (int32_t)word(raw + 1 + 4 * k, big);
    }
    fclose(file);
}

// --- measuring ---

typedef struct result {
    double build, refit, query;
} result;

static void measure(const model *m, const char *name, tl_bvh_def def, double margin)
{
    const tl_allocator alloc = tl_allocator_default();
    const tl_surface surface = {m->nodes, m->faces, m->edges, (const int32_t(*)[3])m->face,
                                (const int32_t(*)[2])m->edge};
    const int what = TL_PAIR_VF | TL_PAIR_EE;
    tl_error err;
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_pairs pairs;
    tl_pairs_init(&pairs, alloc);
    tl_bvh *bvh;
    result best = {1e9, 1e9, 1e9};
    for (int round = 0; round < 2; round++) {
        const double t = now();
        check(tl_bvh_create(&alloc, &def, &surface, m->x0, &bvh, &err) == TL_OK, err.message);
        best.build = fmin(best.build, now() - t);
        if (round == 0) tl_bvh_destroy(bvh);
    }
    for (int round = 0; round < ROUNDS; round++) {
        tl_arena_reset(&arena);
        const double t0 = now();
        tl_bvh_refit(bvh, m->x0, m->x1, margin, 0, NULL);
        const double t1 = now();
        check(tl_bvh_self(bvh, what, &arena, NULL, &pairs, &err) == TL_OK, err.message);
        const double t2 = now();
        best.refit = fmin(best.refit, t1 - t0), best.query = fmin(best.query, t2 - t1);
    }
    printf("%-10s %7d  %s %d  %2d  %7.1f %7.2f %7.2f %7.2f  %8d %8d  %9lld %9lld\n", name, m->faces,
           def.relative ? "r" : " ", def.arity, def.leaf_faces, 1e3 * best.build, 1e3 * best.refit, 1e3 * best.query,
           1e3 * (best.refit + best.query), pairs.vf_count, pairs.ee_count, (long long)pairs.volume_tests,
           (long long)pairs.face_pairs);
    fflush(stdout);
    tl_bvh_destroy(bvh);
    tl_pairs_free(&pairs);
    tl_arena_free(&arena);
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The same when all nodes stay but those within a ball that holds this part of them.
static void measure_some(const model *m, tl_near near, double part)
{
    const tl_allocator alloc = tl_allocator_default();
    const tl_surface surface = {m->nodes, m->faces, m->edges, (const int32_t(*)[3])m->face,
                                (const int32_t(*)[2])m->edge};
    tl_bvh_def def = tl_bvh_def_default();
    def.relative = 1;
    tl_error err;
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_pairs pairs;
    tl_pairs_init(&pairs, alloc);
    tl_bvh *bvh;
    check(tl_bvh_create(&alloc, &def, &surface, m->x0, &bvh, &err) == TL_OK, err.message);
    tl_bvh_refit(bvh, m->x0, m->x1, 0, 0, NULL);
    uint8_t *some = calloc((size_t)m->nodes, 1);
    check(some != NULL, "no memory");
    const tl_vec3 middle = m->x0[m->nodes / 2];
    int32_t count = 0;
    for (double radius = 1e-4; count < part * m->nodes; radius *= 1.1) {
        count = 0;
        for (int32_t i = 0; i < m->nodes; i++) {
            const double x = m->x0[i].x - middle.x, y = m->x0[i].y - middle.y, z = m->x0[i].z - middle.z;
            count += some[i] = x * x + y * y + z * z < radius * radius;
        }
    }
    tl_bvh_chosen chosen;
    near.some = &chosen;
    double refit = 1e9, query = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        tl_arena_reset(&arena);
        const double t0 = now();
        tl_bvh_refit_some(bvh, m->x0, m->x1, some, NULL);
        const double t1 = now();
        check(tl_bvh_choose(bvh, some, &arena, NULL, &chosen, &err) == TL_OK, err.message);
        check(tl_bvh_self_near(bvh, TL_PAIR_VF | TL_PAIR_EE, near, &arena, NULL, &pairs, &err) == TL_OK, err.message);
        refit = fmin(refit, t1 - t0), query = fmin(query, now() - t1);
    }
    printf("           some:  refit %.2f query %.2f ms, %d vf, %d ee; %d of %d nodes\n", 1e3 * refit, 1e3 * query,
           pairs.vf_count, pairs.ee_count, count, m->nodes);
    fflush(stdout);
    free(some);
    tl_bvh_destroy(bvh);
    tl_pairs_free(&pairs);
    tl_arena_free(&arena);
}

// Pairs near on the way or at the end, against all whose swept boxes overlap with half the greater reach as margin,
// which is what one has to ask for without; and the query on two threads, by the clock.
static void measure_near(const model *m, tl_near near)
{
    const tl_allocator alloc = tl_allocator_default();
    const tl_surface surface = {m->nodes, m->faces, m->edges, (const int32_t(*)[3])m->face,
                                (const int32_t(*)[2])m->edge};
    const int what = TL_PAIR_VF | TL_PAIR_EE;
    tl_error err;
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_pairs pairs[2];
    tl_workers *workers;
    check(tl_workers_create(&alloc, 2, &workers, &err) == TL_OK, err.message);
    double best[2][4] = {{1e9, 1e9, 1e9, 1e9}, {1e9, 1e9, 1e9, 1e9}};
    for (int relative = 0; relative < 2; relative++) {
        tl_bvh_def def = tl_bvh_def_default();
        def.relative = relative;
        tl_bvh *bvh;
        check(tl_bvh_create(&alloc, &def, &surface, m->x0, &bvh, &err) == TL_OK, err.message);
        tl_pairs_init(&pairs[relative], alloc);
        for (int round = 0; round < 2 * ROUNDS; round++) {
            tl_workers *threads = round % 2 ? workers : NULL;
            tl_arena_reset(&arena);
            const double c0 = now();
            tl_bvh_refit(bvh, m->x0, m->x1, relative ? 0 : 0.5 * fmax(near.path, near.end), 0, NULL);
            const double c1 = now(), t1 = wall();
            check((relative ? tl_bvh_self_near(bvh, what, near, &arena, threads, &pairs[1], &err)
                            : tl_bvh_self(bvh, what, &arena, threads, &pairs[0], &err)) == TL_OK,
                  err.message);
            const double c2 = now(), t2 = wall();
            best[relative][0] = fmin(best[relative][0], c1 - c0);
            if (!threads) best[relative][1] = fmin(best[relative][1], c2 - c1);
            best[relative][2 + round % 2] = fmin(best[relative][2 + round % 2], t2 - t1);
        }
        printf("           %s refit %.2f query %.2f ms, %d vf, %d ee; by the clock %.2f, on two threads %.2f\n",
               relative ? "near: " : "swept:", 1e3 * best[relative][0], 1e3 * best[relative][1],
               pairs[relative].vf_count, pairs[relative].ee_count, 1e3 * best[relative][2], 1e3 * best[relative][3]);
        tl_bvh_destroy(bvh);
    }
    fflush(stdout);
    tl_pairs_free(&pairs[0]), tl_pairs_free(&pairs[1]);
    tl_workers_destroy(workers);
    tl_arena_free(&arena);
}

// What processors without AVX2 take: still, swept, relative and, if asked for, near; both ways of each in turn.
static void measure_plain(const model *m, const char *name, double margin, tl_near near)
{
    static const char *const kinds[4] = {"still", "swept", "relative", "near"};
    const tl_allocator alloc = tl_allocator_default();
    const tl_surface surface = {m->nodes, m->faces, m->edges, (const int32_t(*)[3])m->face,
                                (const int32_t(*)[2])m->edge};
    tl_error err;
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    for (int kind = 0; kind < (near.path > 0 || near.end > 0 ? 4 : 3); kind++) {
        tl_bvh_def def = tl_bvh_def_default();
        def.relative = kind >= 2;
        tl_bvh *bvh;
        check(tl_bvh_create(&alloc, &def, &surface, m->x0, &bvh, &err) == TL_OK, err.message);
        tl_bvh_refit(bvh, m->x0, kind ? m->x1 : NULL, kind == 3 ? 0 : margin, 0, NULL);
        tl_pairs pairs[2];
        double best[2] = {1e9, 1e9};
        for (int plain = 0; plain < 2; plain++) tl_pairs_init(&pairs[plain], alloc);
        for (int round = 0; round < 2 * ROUNDS; round++) {
            const int plain = round % 2, what = TL_PAIR_VF | TL_PAIR_EE | (plain ? TL_PAIR_PLAIN : 0);
            tl_arena_reset(&arena);
            const double t = now();
            check((kind == 3 ? tl_bvh_self_near(bvh, what, near, &arena, NULL, &pairs[plain], &err)
                             : tl_bvh_self(bvh, what, &arena, NULL, &pairs[plain], &err)) == TL_OK,
                  err.message);
            best[plain] = fmin(best[plain], now() - t);
        }
        check(pairs[0].vf_count == pairs[1].vf_count && pairs[0].ee_count == pairs[1].ee_count,
              "plain code finds other pairs");
        printf("%-10s %7d  %-8s query %7.2f ms, plain %7.2f: %.2f times; %d vf, %d ee\n", name, m->faces, kinds[kind],
               1e3 * best[0], 1e3 * best[1], best[1] / best[0], pairs[0].vf_count, pairs[0].ee_count);
        fflush(stdout);
        tl_pairs_free(&pairs[0]), tl_pairs_free(&pairs[1]);
        tl_bvh_destroy(bvh);
    }
    tl_arena_free(&arena);
}

static void bench(const model *m, const char *name, bool all, bool plain, double margin, tl_near near)
{
    if (plain) {
        measure_plain(m, name, margin, near);
        return;
    }
    static const int arities[3] = {2, 4, 8}, leaves[7] = {1, 2, 4, 8, 16, 24, 32};
    const tl_bvh_def usual = tl_bvh_def_default();
    for (int a = 0; a < 3; a++)
        for (int l = 0; l < 7; l++)
            if (all || arities[a] == usual.arity || leaves[l] == usual.leaf_faces)
                measure(m, name, (tl_bvh_def){.arity = arities[a], .leaf_faces = leaves[l]}, margin);
    static const int wide[4] = {8, 16, 24, 32};
    for (int l = 0; l < 4; l++)
        measure(m, name, (tl_bvh_def){.arity = 8, .leaf_faces = wide[l], .relative = 1}, margin);
    if (!(near.path > 0) && !(near.end > 0)) return;
    measure_near(m, near);
    for (double part = 0.1; part > 1e-4; part *= 0.1) measure_some(m, near, part);
}

int main(int argc, char **argv)
{
    bool all = false, plain = false;
    double margin = 0;
    tl_near near = {0};
    const char *path[2] = {NULL, NULL};
    int paths = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-a") == 0)
            all = true;
        else if (strcmp(argv[i], "-p") == 0)
            plain = true;
        else if (strcmp(argv[i], "-m") == 0 && i + 1 < argc)
            margin = atof(argv[++i]);
        else if (strcmp(argv[i], "-n") == 0 && i + 2 < argc)
            near.path = atof(argv[++i]), near.end = atof(argv[++i]);
        else if (paths < 2)
            path[paths++] = argv[i];
    }
    if (!plain)
        printf("scene        faces   k  ar lf    build   refit   query     sum        vf       ee  vol.tests face "
               "pairs B/face\n");
    if (paths == 2) {
        model m = {0};
        int32_t nodes, faces, (*face)[3];
        read_ply(path[0], &m.nodes, &m.x0, &m.faces, &m.face);
        read_ply(path[1], &nodes, &m.x1, &faces, &face);
        check(nodes == m.nodes && faces == m.faces && memcmp(face, m.face, (size_t)faces * sizeof *face) == 0,
              "the two PLY files have different faces");
        free(face);
        find_edges(&m);
        bench(&m, "ply", all, plain, margin, near);
        free_model(&m);
        return 0;
    }
    for (int size = 0; size < 2; size++) {
        const int side = size ? 224 : 71;  // 100k and 10k faces
        model m = make_scene(folded, side, 1);
        bench(&m, "folded", all, plain, margin, near);
        free_model(&m);
        m = make_scene(on_sphere, side, 1);
        bench(&m, "sphere", all, plain, margin, near);
        free_model(&m);
        m = make_scene(stacked, side / 3, 9);
        bench(&m, "stack", all, plain, margin, near);
        free_model(&m);
    }
    return 0;
}
