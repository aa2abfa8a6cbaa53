// tests/bench/bench_realtime.c: edge trees and springs from inside, in the tables of Simnett 2012: transitions
// (Tables 3.2 to 3.5), lists against recursion (3.6), uniform refinement with and without pools (3.7 to 3.10), and the
// solver on a sheet over a sphere.
//
// Times are processor time of one thread, the best of several rounds: other work on the machine only adds.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapt/edge_trees/trees.h"
#include "adapt/edge_trees/trees_impl.h"
#include "dynamics/springs/springs.h"
#include "math/vec3.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(tl_status status, const tl_error *err)
{
    if (status == TL_OK) return;
    fprintf(stderr, "bench_realtime: %s\n", err->message);
    exit(3);
}

/// n x n squares as plain arrays.
typedef struct grid {
    int32_t n, nodes, tris, edges;
    int32_t (*tri)[3], (*edge)[2], (*edge_tri)[2];
    tl_vec2 (*uv)[3];
} grid;

static void add_edge(grid *g, int32_t a, int32_t b, int32_t left, int32_t right)
{
    const int32_t e = g->edges++;
    g->edge[e][0] = left >= 0 ? a : b, g->edge[e][1] = left >= 0 ? b : a;
    g->edge_tri[e][0] = left >= 0 ? left : right, g->edge_tri[e][1] = left >= 0 ? right : -1;
}

static grid make_grid(int32_t n)
{
    grid g = {.n = n, .nodes = (n + 1) * (n + 1), .tris = 2 * n * n};
    const size_t t = (size_t)g.tris;
    g.tri = malloc(t * sizeof *g.tri), g.uv = malloc(t * sizeof *g.uv);
    g.edge = malloc(3 * t * sizeof *g.edge), g.edge_tri = malloc(3 * t * sizeof *g.edge_tri);
    for (int32_t j = 0, f = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i, two[2][3] = {{a, a + 1, a + n + 2}, {a, a + n + 2, a + n + 1}};
            for (int k = 0; k < 2; k++, f++)
                for (int v = 0; v < 3; v++) {
                    g.tri[f][v] = two[k][v];
                    g.uv[f][v] = (tl_vec2){(double)(two[k][v] % (n + 1)) / n, (double)(two[k][v] / (n + 1)) / n};
                }
        }
    for (int32_t j = 0; j <= n; j++)
        for (int32_t i = 0; i <= n; i++) {
            const int32_t a = j * (n + 1) + i, f = 2 * (j * n + i);
            if (i < n) add_edge(&g, a, a + 1, j < n ? f : -1, j > 0 ? f - 2 * n + 1 : -1);
            if (j < n) add_edge(&g, a, a + n + 1, i > 0 ? f - 2 : -1, i < n ? f + 1 : -1);
            if (i < n && j < n) add_edge(&g, a, a + n + 2, f + 1, f);
        }
    return g;
}

static void free_grid(grid *g) { free(g->tri), free(g->uv), free(g->edge), free(g->edge_tri); }

static tl_trees *make_trees(const grid *g, tl_trees_storage storage, tl_trees_transition transition)
{
    const tl_trees_def def = {.tri = (const int32_t(*)[3])g->tri,
                              .uv = (const tl_vec2(*)[3])g->uv,
                              .tri_count = g->tris,
                              .vert_count = g->nodes,
                              .storage = storage,
                              .transition = transition};
    const tl_allocator alloc = tl_allocator_default();
    tl_trees *m;
    tl_error err;
    must(tl_trees_create(&alloc, &def, &m, &err), &err);
    return m;
}

// ---- uniform refinement ---------------------------------------------------------------------------------------

static void commit(tl_trees *m)
{
    tl_error err;
    must(tl_trees_commit(m, (tl_trees_choice){0}, NULL, &err), &err);
}

static void refine(tl_trees *m)
{
    tl_error err;
    int32_t vert;
    const int32_t slots = tl_trees_count(m).edge_slots;
    for (int32_t e = tl_trees_next_edge(m, 0); e < slots; e = tl_trees_next_edge(m, e + 1))
        if (tl_trees_may_split(m, e, TL_TREES_MAX_LEVEL)) must(tl_trees_split(m, e, &vert, &err), &err);
    commit(m);
}

static void coarsen(tl_trees *m)
{
    tl_error err;
    const int32_t slots = tl_trees_count(m).edge_slots;
    for (int32_t e = tl_trees_next_edge(m, 0); e < slots; e = tl_trees_next_edge(m, e + 1))
        if (tl_trees_may_join(m, e)) must(tl_trees_join(m, e, &err), &err);
    commit(m);
}

enum { LEVELS = 6, ROUNDS = 20 };

// Up four levels and back, without the slots that deeper levels leave behind (sweeps go over them).
static void four_levels(const grid *g, double out[2])
{
    tl_trees *m = make_trees(g, TL_TREES_POOL, TL_TREES_DIRECT);
    out[0] = out[1] = INFINITY;
    for (int round = 0; round < 10 * ROUNDS; round++) {
        const double start = seconds();
        for (int l = 0; l < 4; l++) refine(m);
        const double middle = seconds();
        for (int l = 0; l < 4; l++) coarsen(m);
        out[0] = fmin(out[0], middle - start), out[1] = fmin(out[1], seconds() - middle);
    }
    tl_trees_destroy(m);
}

static void uniform(void)
{
    // Simnett 2012, Tables 3.7 to 3.10, 4 x 4 base: ms per step from this many triangles
    static const double published[LEVELS][4] = {{.041, .017, .019, .007},      {.159, .072, .075, .024},
                                                {.641, .270, .295, .108},      {2.692, 1.114, 1.177, .445},
                                                {12.041, 5.305, 6.029, 2.357}, {50.712, 25.061, 26.952, 11.970}};
    double best[2][2][LEVELS];
    for (int s = 0; s < 2; s++)
        for (int way = 0; way < 2; way++)
            for (int l = 0; l < LEVELS; l++) best[s][way][l] = INFINITY;
    const grid g = make_grid(4);
    for (int s = 0; s < 2; s++) {
        tl_trees *m = make_trees(&g, s ? TL_TREES_POOL : TL_TREES_SYSTEM, TL_TREES_DIRECT);
        for (int round = 0; round < ROUNDS; round++) {
            for (int l = 0; l < LEVELS; l++) {
                const double start = seconds();
                refine(m);
                best[s][0][l] = fmin(best[s][0][l], seconds() - start);
            }
            for (int l = LEVELS - 1; l >= 0; l--) {
                const double start = seconds();
                coarsen(m);
                best[s][1][l] = fmin(best[s][1][l], seconds() - start);
            }
        }
        tl_trees_destroy(m);
    }
    printf("uniform refinement of 4 x 4 squares, ms (published beside it)\n"
           "triangles   refine system        pool        coarsen system        pool\n");
    double sum[2][2] = {{0}}, small[2];
    four_levels(&g, small);
    for (int l = 0; l < LEVELS; l++) {
        printf("%9d", 32 << 2 * l);
        for (int way = 0; way < 2; way++)
            for (int s = 0; s < 2; s++) {
                printf("   %8.4f %7.3f", 1e3 * best[s][way][l], published[l][2 * way + s]);
                sum[s][way] += best[s][way][l];
            }
        printf("\n");
    }
    printf("pool over system: refine %.1f %%, coarsen %.1f %% (47.8, 43.4; bar 60)\n", 100 * sum[1][0] / sum[0][0],
           100 * sum[1][1] / sum[0][1]);
    printf("32 to 8,192 triangles: %.3f ms (1.47; bar 0.75), back %.3f ms (0.58; bar 0.3)\n\n", 1e3 * small[0],
           1e3 * small[1]);
    grid copy = g;
    free_grid(&copy);
}

// ---- lists ----------------------------------------------------------------------------------------------------

/// Particles by vertex id, to take a step of springs with.
typedef struct particles {
    const tl_trees *m;
    tl_vec3 *pos, *prev, *force, *normal;
} particles;

static void pull(particles *p, int32_t a, int32_t b)
{
    const tl_vec3 d = tl_sub3(p->pos[b], p->pos[a]);
    const double length = tl_norm3(d), f = 80 * (length - 0.01) / (length + 1e-9);
    p->force[a] = tl_madd3(p->force[a], f, d), p->force[b] = tl_madd3(p->force[b], -f, d);
}

static void add_normal(particles *p, const int32_t v[3])
{
    const tl_vec3 n = tl_cross3(tl_sub3(p->pos[v[1]], p->pos[v[0]]), tl_sub3(p->pos[v[2]], p->pos[v[0]]));
    for (int k = 0; k < 3; k++) p->normal[v[k]] = tl_add3(p->normal[v[k]], n);
}

static void move(particles *p, int32_t v)
{
    const tl_vec3 x = p->pos[v], next = tl_madd3(tl_sub3(tl_mul3(2, x), p->prev[v]), 1e-7, p->force[v]);
    p->prev[v] = x, p->pos[v] = next, p->force[v] = (tl_vec3){0, -1, 0}, p->normal[v] = (tl_vec3){0, 0, 0};
}

static void walk_edge(particles *p, int32_t e)
{
    const tl_trees_edge *edge = tl_trees_e(p->m, e);
    if (edge->mid == TL_TREES_NONE) {
        pull(p, edge->a, edge->b);
        return;
    }
    walk_edge(p, edge->child[0]), walk_edge(p, edge->child[1]);
}

static void walk_mids(particles *p, int32_t e)
{
    const tl_trees_edge *edge = tl_trees_e(p->m, e);
    if (edge->mid == TL_TREES_NONE) return;
    move(p, edge->mid);
    walk_mids(p, edge->child[0]), walk_mids(p, edge->child[1]);
}

static void walk_tri(particles *p, int32_t t, bool mids)
{
    const tl_trees_tri *tri = tl_trees_t(p->m, t);
    if (tri->config == 0) {
        if (!mids) add_normal(p, tri->vert);
        return;
    }
    for (int k = 0; k < 3; k++)
        if (tri->inner_edge[k] != TL_TREES_NONE)
            mids ? walk_mids(p, tri->inner_edge[k]) : walk_edge(p, tri->inner_edge[k]);
    for (int k = 0; k < 4; k++)
        if (tri->inner_tri[k] != TL_TREES_NONE) walk_tri(p, tri->inner_tri[k], mids);
}

static void step_by_trees(particles *p, const grid *g)
{
    for (int32_t e = 0; e < g->edges; e++) walk_edge(p, e);
    for (int32_t t = 0; t < g->tris; t++) walk_tri(p, t, false);
    for (int32_t v = 0; v < g->nodes; v++) move(p, v);
    for (int32_t e = 0; e < g->edges; e++) walk_mids(p, e);
    for (int32_t t = 0; t < g->tris; t++) walk_tri(p, t, true);
}

static void step_by_lists(particles *p, const tl_trees_lists *l)
{
    for (int32_t i = 0; i < l->edge_count; i++) pull(p, l->edge[i].a, l->edge[i].b);
    for (int32_t i = 0; i < l->tri_count; i++) add_normal(p, tl_trees_t(p->m, l->tri[i])->vert);
    for (int32_t i = 0; i < l->vert_count; i++) move(p, l->vert[i]);
}

static void lists(void)
{
    // Simnett 2012, Table 3.6: triangles; recursive, building, with lists [ms]
    static const double published[4][3] = {
        {.0498, .0015, .0339}, {.2143, .0066, .1362}, {.8804, .0332, .5735}, {2.9647, .1362, 2.4078}};
    const grid g = make_grid(8);
    tl_trees *m = make_trees(&g, TL_TREES_POOL, TL_TREES_DIRECT);
    printf("a step of springs by recursion and by lists of 128 triangles' base, ms (published)\n"
           "triangles    recursive          building          with lists      times faster, built every step, every "
           "fourth\n");
    for (int level = 0; level < 4; level++) {
        if (level > 0) refine(m);
        const size_t n = (size_t)tl_trees_count(m).vert_slots;
        particles p = {m, calloc(n, sizeof(tl_vec3)), calloc(n, sizeof(tl_vec3)), calloc(n, sizeof(tl_vec3)),
                       calloc(n, sizeof(tl_vec3))};
        for (size_t i = 0; i < n; i++) p.pos[i] = p.prev[i] = (tl_vec3){(double)(i % 97), (double)(i % 89), (double)i};
        double best[3] = {INFINITY, INFINITY, INFINITY};
        tl_trees_lists l;
        tl_error err;
        for (int round = 0; round < 10 * ROUNDS; round++) {
            double at[4];
            at[0] = seconds();
            step_by_trees(&p, &g);
            at[1] = seconds();
            must(tl_trees_build_lists(m, &l, &err), &err);
            at[2] = seconds();
            step_by_lists(&p, &l);
            at[3] = seconds();
            for (int k = 0; k < 3; k++) best[k] = fmin(best[k], 1e3 * (at[k + 1] - at[k]));
        }
        const double *q = published[level];
        printf("%9d  %7.4f (%6.4f)  %7.4f (%6.4f)  %7.4f (%6.4f)  %5.2f (%.2f)  %5.2f (%.2f)\n", 128 << 2 * level,
               best[0], q[0], best[1], q[1], best[2], q[2], best[0] / (best[1] + best[2]), q[0] / (q[1] + q[2]),
               best[0] / (best[1] / 4 + best[2]), q[0] / (q[1] / 4 + q[2]));
        free(p.pos), free(p.prev), free(p.force), free(p.normal);
    }
    printf("\n");
    tl_trees_destroy(m);
    grid copy = g;
    free_grid(&copy);
}

// ---- transitions ----------------------------------------------------------------------------------------------

enum { ALONE = 2000 };

// Many triangles that share nothing.
static grid isolated(void)
{
    grid g = {.nodes = 3 * ALONE, .tris = ALONE};
    g.tri = malloc(ALONE * sizeof *g.tri), g.uv = malloc(ALONE * sizeof *g.uv);
    for (int32_t t = 0; t < ALONE; t++)
        for (int k = 0; k < 3; k++) {
            g.tri[t][k] = 3 * t + k;
            g.uv[t][k] = (tl_vec2){k == 1, k == 2};
        }
    return g;
}

// Edges are split and joined first, untimed, one by one so that the diagonal is the one wanted; then one commit.
static void bring_to(tl_trees *m, int config, int from)
{
    tl_error err;
    int32_t vert;
    const int want = tl_trees_configs[config].state, have = from < 0 ? 0 : tl_trees_configs[from].state;
    for (int32_t t = 0; t < ALONE; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t e = tl_trees_tri_at(m, t)->edge[k] / 2;
            const bool is = have >> k & 1, to = want >> k & 1;
            if (!is && to) must(tl_trees_split(m, e, &vert, &err), &err);
            if (is && !to) must(tl_trees_join(m, e, &err), &err);
        }
}

// From nothing to a configuration over the one-edge state of its diagonal.
static void set_config(tl_trees *m, int config)
{
    const int lead = tl_trees_configs[config].family;
    if (lead >= 0 && tl_trees_configs[config].state != 1 << lead) {
        bring_to(m, lead + 1, -1), commit(m);
        bring_to(m, config, lead + 1), commit(m);
    } else {
        bring_to(m, config, -1), commit(m);
    }
}

static double transition(const grid *g, tl_trees_transition how, int from, int to)
{
    double best = INFINITY;
    for (int round = 0; round < 3; round++) {
        tl_trees *m = make_trees(g, TL_TREES_POOL, how);
        set_config(m, from), set_config(m, from);
        bring_to(m, to, from);
        const double start = seconds();
        commit(m);
        best = fmin(best, seconds() - start);
        tl_trees_destroy(m);
    }
    return 1e6 * best / ALONE;
}

static void transitions(void)
{
    grid g = isolated();
    double sum[2] = {0, 0};
    int count = 0;
    printf("transitions, microseconds a triangle, direct (indirect); rows: from, columns: to\n   ");
    for (int to = 0; to < TL_TREES_CONFIGS; to++) printf("%11d", to);
    printf("\n");
    for (int from = 0; from < TL_TREES_CONFIGS; from++) {
        printf("%2d ", from);
        for (int to = 0; to < TL_TREES_CONFIGS; to++) {
            if (tl_trees_configs[from].state == tl_trees_configs[to].state) {
                printf("          -");
                continue;
            }
            const double direct = transition(&g, TL_TREES_DIRECT, from, to),
                         indirect = transition(&g, TL_TREES_INDIRECT, from, to);
            printf(" %.3f(%.3f)", direct, indirect);
            if (from > 0 && to > 0) sum[0] += direct, sum[1] += indirect, count++;
        }
        printf("\n");
    }
    printf("mean of those between two that have children: direct %.3f, indirect %.3f us: %.1f %% (59.5 over all; bar "
           "60)\n\n",
           sum[0] / count, sum[1] / count, 100 * sum[0] / sum[1]);
    free(g.tri), free(g.uv);
}

// ---- the solver -----------------------------------------------------------------------------------------------

// A sheet of 1 m falls on a sphere of 0.25 m, friction 0.3, 60 steps a second.
static void sheet(int32_t n, int32_t substeps)
{
    const double radius = 0.25, dt = 1.0 / 60;
    const tl_material cotton = tl_material_default();
    const tl_springs_def def = tl_springs_def_default();
    const tl_allocator alloc = tl_allocator_default();
    grid g = make_grid(n);
    tl_springs *s;
    tl_error err;
    must(tl_springs_create(&alloc, &def, &s, &err), &err);
    const tl_springs_mesh mesh = {.node_count = g.nodes,
                                  .tri_count = g.tris,
                                  .edge_count = g.edges,
                                  .tri = (const int32_t(*)[3])g.tri,
                                  .uv = (const tl_vec2(*)[3])g.uv,
                                  .edge = (const int32_t(*)[2])g.edge,
                                  .edge_tri = (const int32_t(*)[2])g.edge_tri,
                                  .fabric = &cotton,
                                  .fabric_count = 1};
    must(tl_springs_set_mesh(s, &mesh, &err), &err);
    double(*x)[4] = tl_springs_pos(s), (*v)[4] = tl_springs_vel(s);
    for (int32_t i = 0; i < g.nodes; i++) {
        x[i][0] = (double)(i % (n + 1)) / n - 0.5, x[i][1] = 0.26, x[i][2] = 0.5 - (double)(i / (n + 1)) / n,
        x[i][3] = 0;
        memset(v[i], 0, sizeof v[i]);
    }
    tl_push_contact *contact = malloc((size_t)g.nodes * sizeof *contact);
    double total = 0, worst = 0, rest = 0;
    const int32_t frames = g.tris > 30000 ? 40 : 120;
    if (substeps == 0) substeps = tl_springs_substeps(s, dt);
    for (int32_t f = 0; f < frames; f++) {
        const double start = seconds();
        int32_t count = 0;
        for (int32_t i = 0; i < g.nodes; i++) {
            const tl_vec3 p = {x[i][0], x[i][1], x[i][2]};
            const double r = tl_norm3(p);
            if (!(r < radius + 0.05)) continue;
            const tl_vec3 out = tl_mul3(1 / r, p);
            contact[count++] =
                (tl_push_contact){.node = i, .friction = 0.3, .point = tl_mul3(radius, out), .normal = out};
        }
        const tl_springs_step step = {
            .dt = dt, .substeps = substeps, .gravity = {0, -9.81, 0}, .contact = contact, .contact_count = count};
        must(tl_springs_advance(s, &step, NULL, &err), &err);
        total += seconds() - start;
        rest = tl_springs_measure(s).max_stretch, worst = fmax(worst, rest);
    }
    printf("%9d %9d %9.3f %9.1f %8.1f %% %8.1f %%\n", g.tris, substeps, 1e3 * total / frames,
           1e9 * total / frames / g.tris / substeps, 100 * (rest - 1), 100 * (worst - 1));
    free(contact);
    tl_springs_destroy(s);
    free_grid(&g);
}

static void solver(void)
{
    printf("sheet of 1 m on a sphere, 1/60 s, contact included\n"
           "triangles  substeps  ms a step  ns/tri/sub   stretch at the end, at its worst\n");
    static const int32_t counts[] = {10, 20, 24, 32, 36, 40};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) sheet(71, counts[i]);
    printf("by size, substeps chosen\n");
    static const int32_t sizes[] = {22, 40, 71, 126, 224};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) sheet(sizes[i], 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    const bool all = strcmp(what, "all") == 0;
    if (all || strcmp(what, "uniform") == 0) uniform();
    if (all || strcmp(what, "lists") == 0) lists();
    if (all || strcmp(what, "transitions") == 0) transitions();
    if (all || strcmp(what, "solver") == 0) solver();
    return 0;
}
