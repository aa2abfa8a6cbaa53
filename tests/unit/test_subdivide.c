// Subdivision: masks against their tables, planes, borders and seams; and surfaces that stay clear of everything.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "detect/intersect.h"
#include "mesh/edges.h"
#include "post/clear.h"
#include "post/subdivide.h"

static const tl_subdivision all_schemes[] = {TL_SUBDIVIDE_LOOP, TL_SUBDIVIDE_MODIFIED_LOOP, TL_SUBDIVIDE_BUTTERFLY};

static void ok(tl_status status, const tl_error *err)
{
    if (status != TL_OK) fail_msg("%s", err->message);
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

// ---- masks ----------------------------------------------------------------------------------------------------

static void edge_masks_have_the_tabulated_weights(void **state)
{
    (void)state;
    double ring[16], sum;
    // Kimmerle 2005, Table 4.1, sums of the ring (the column is headed by mistake as one less the sum).
    const double sums[6] = {5.0 / 8, 41.0 / 64, (31 + 5 * sqrt(5)) / 64, 5.0 / 8, 0, 0};
    for (int32_t k = 3; k <= 6; k++) {
        tl_edge_mask(TL_SUBDIVIDE_MODIFIED_LOOP, k, ring);
        sum = 0;
        for (int32_t i = 0; i < k; i++) sum += ring[i], assert_true(ring[i] > -1e-15);
        assert_near(sum, sums[k - 3], 1e-14);
    }
    const double regular[6] = {0.375, 0.125, 0, 0, 0, 0.125};
    for (int32_t i = 0; i < 6; i++) assert_near(ring[i], regular[i], 1e-15);
    tl_edge_mask(TL_SUBDIVIDE_BUTTERFLY, 3, ring);
    assert_near(ring[0], 5.0 / 12, 1e-15), assert_near(ring[1], -1.0 / 12, 1e-15);
    tl_edge_mask(TL_SUBDIVIDE_BUTTERFLY, 4, ring);
    assert_near(ring[0], 0.375, 0), assert_near(ring[1], 0, 0), assert_near(ring[2], -0.125, 0);
    for (int32_t k = 5; k <= 12; k++) {  // the centre has 3/4
        tl_edge_mask(TL_SUBDIVIDE_BUTTERFLY, k, ring);
        sum = 0;
        for (int32_t i = 0; i < k; i++) sum += ring[i];
        assert_near(sum, 0.25, 1e-14);
    }
}

// Eigenvalues of one step around a node, from the circulant part: frequency 1 is lambda, frequencies 2 and 0 lambda^2.
static void modified_loop_has_bounded_curvature(void **state)
{
    (void)state;
    const double turn = 2 * acos(-1.0);
    for (int32_t k = 3; k <= 12; k++) {
        double ring[16];
        tl_edge_mask(TL_SUBDIVIDE_MODIFIED_LOOP, k, ring);
        const double lambda = 0.375 + 0.25 * cos(turn / k);
        double one = 0, two = 0, sum = 0;
        for (int32_t i = 0; i < k; i++) {
            one += ring[i] * cos(turn * i / k), two += ring[i] * cos(2 * turn * i / k), sum += ring[i];
            if (k >= 6) assert_true(ring[i] > -1e-15);
        }
        if (k == 3) continue;  // frequency 2 is frequency 1 there
        assert_near(one, lambda, 1e-13);
        if (k > 4) assert_near(two, lambda * lambda, 1e-13);
        const tl_subdivide_def def = {.scheme = TL_SUBDIVIDE_MODIFIED_LOOP};
        // Rows of the 2 x 2 block of frequency 0 sum to one, so its other eigenvalue is the trace less one.
        const double trace = 1 - k * tl_vertex_mask(&def, k) + sum;
        assert_near(trace - 1, lambda * lambda, 1e-13);
    }
    const tl_subdivide_def def = {.scheme = TL_SUBDIVIDE_MODIFIED_LOOP};
    const double published[4] = {0.5625, 0.5, 0.4545, 0.375};  // k times the weight, for k = 3 to 6
    for (int32_t k = 3; k <= 6; k++) assert_near(k * tl_vertex_mask(&def, k), published[k - 3], 5e-5);
}

// Masks sum to one by construction (the centre takes the rest); Loop's and modified Loop's are convex for all valences,
// and those of modified Loop have the eigenvalues of frequencies 1 and 2 that Loop 2002 asks for, from 3 to 12.
static void masks_of_all_valences(void **state)
{
    (void)state;
    const double turn = 2 * acos(-1.0);
    for (int32_t k = 3; k <= 20; k++) {
        double ring[32];
        for (int s = 0; s < 3; s++) {
            tl_edge_mask(all_schemes[s], k, ring);
            double sum = 0, odd = 0;
            for (int32_t i = 0; i < k; i++) {
                sum += ring[i], odd += ring[i] * sin(turn * i / k);
                if (all_schemes[s] != TL_SUBDIVIDE_BUTTERFLY) assert_true(ring[i] > -1e-15);
                assert_near(ring[i], ring[(k - i) % k], 1e-15);  // the same seen from the other side
            }
            assert_near(odd, 0, 1e-14);
            assert_true(1 - sum > 0.1 && sum > 0.2);
        }
        const tl_subdivide_def plain = {.scheme = TL_SUBDIVIDE_LOOP};
        const tl_subdivide_def old = {.scheme = TL_SUBDIVIDE_MODIFIED_LOOP, .loop_vertex_mask = 1};
        assert_near(tl_vertex_mask(&plain, k), tl_vertex_mask(&old, k), 0);
        const double lambda = 0.375 + 0.25 * cos(turn / k);
        assert_near(k * tl_vertex_mask(&plain, k), 0.625 - lambda * lambda, 1e-15);  // Loop 1987
    }
    // k times the weight that bounds curvature, and that of Loop: the thesis gives the edge mask alone.
    const tl_subdivide_def def = {.scheme = TL_SUBDIVIDE_MODIFIED_LOOP}, loop = {.scheme = TL_SUBDIVIDE_LOOP};
    const double bounded[6] = {.5625, .5, .4545, .375, .3757, .3776},
                 plain[6] = {.5625, .4844, .4205, .375, .3432, .3205};
    for (int32_t k = 3; k <= 8; k++) {
        assert_near(k * tl_vertex_mask(&def, k), bounded[k - 3], 6e-5);
        assert_near(k * tl_vertex_mask(&loop, k), plain[k - 3], 6e-5);
    }
}

// ---- meshes ---------------------------------------------------------------------------------------------------

typedef struct grid {
    tl_vec3 pos[1024];
    int32_t face[2048][3];
    int32_t node_count, face_count;
} grid;

// Diagonals change from place to place: valences from 4 to 8.
static void make_grid(grid *g, int32_t n)
{
    g->node_count = (n + 1) * (n + 1), g->face_count = 0;
    for (int32_t i = 0; i < g->node_count; i++) {
        const double u = i % (n + 1), v = i / (n + 1);
        g->pos[i] = (tl_vec3){u, v, 0.3 * sin(1.7 * u) * cos(1.1 * v)};
    }
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
            const bool even = (i * i + j) % 3 != 0;
            const int32_t two[2][3] = {{a, b, even ? d : c}, {even ? a : b, d, c}};
            memcpy(g->face[g->face_count++], two[0], sizeof two[0]);
            memcpy(g->face[g->face_count++], two[1], sizeof two[1]);
        }
}

static tl_fine_mesh level_0(const grid *g)
{
    const tl_fine_input in = {g->pos, (const int32_t(*)[3])g->face, NULL, NULL, g->node_count, 0, g->face_count};
    tl_fine_mesh out;
    tl_error err;
    ok(tl_fine_mesh_create(tl_allocator_default(), &in, &out, &err), &err);
    return out;
}

static tl_fine_mesh refine(tl_fine_mesh m, tl_subdivide_def def, int levels)
{
    tl_error err;
    for (int i = 0; i < levels; i++) {
        tl_fine_mesh finer;
        ok(tl_subdivide(&m, &def, NULL, &finer, NULL, &err), &err);
        tl_fine_mesh_free(&m);
        m = finer;
    }
    return m;
}

static void counts_are_v_plus_e_and_four_f(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g);
    make_grid(g, 8);
    const int32_t edges = 8 * 9 * 2 + 64;
    tl_fine_mesh m = refine(level_0(g), (tl_subdivide_def){.scheme = TL_SUBDIVIDE_LOOP}, 1);
    assert_int_equal(m.node_count, g->node_count + edges);
    assert_int_equal(m.vert_count, m.node_count);
    assert_int_equal(m.face_count, 4 * g->face_count);
    assert_int_equal(m.source[7], 1);
    tl_fine_mesh_free(&m);
    free(g);
}

// Kimmerle 2005, Table 4.2, with what its counts should be: a shirt of 3,414 nodes, 6,712 faces and 120 border edges
// (its last count is printed as 215,261), trousers of 3,219 and 6,362 (80 border edges). The border follows from the
// first step.
static void counts_of_the_published_table(void **state)
{
    (void)state;
    const int32_t given[2][4] = {{3414, 13542, 53934, 215262}, {3219, 12801, 51051, 203895}};
    const int32_t faces[2] = {6712, 6362};
    for (int g = 0; g < 2; g++) {
        int64_t v = given[g][0], f = faces[g], border = 2 * (given[g][1] - v) - 3 * f;  // E = (3 F + B) / 2
        assert_true(border > 0);
        for (int level = 1; level <= 3; level++) {
            v += (3 * f + border) / 2, f *= 4, border *= 2;
            assert_int_equal(v, given[g][level]);
        }
    }
    // The same law on a mesh of ours, whose irregular nodes stay as many as they were.
    grid *g = malloc(sizeof *g);
    make_grid(g, 8);
    tl_fine_mesh m = level_0(g);
    int64_t v = m.node_count, f = m.face_count, border = 32, odd = -1;
    for (int level = 1; level <= 3; level++) {
        m = refine(m, (tl_subdivide_def){.scheme = TL_SUBDIVIDE_MODIFIED_LOOP}, 1);
        v += (3 * f + border) / 2, f *= 4, border *= 2;
        assert_int_equal(m.node_count, v);
        assert_int_equal(m.face_count, f);
        int32_t *valence = calloc((size_t)m.node_count, sizeof *valence);
        for (int32_t t = 0; t < m.face_count; t++)
            for (int k = 0; k < 3; k++) valence[m.node[t][k]]++;
        int64_t irregular = 0;
        for (int32_t i = 0; i < m.node_count; i++) irregular += valence[i] != 6 && valence[i] > 3;
        free(valence);
        if (odd < 0) odd = irregular;
        assert_int_equal(irregular, odd);
    }
    tl_fine_mesh_free(&m);
    free(g);
}

// Two panels with a common border, refined apart, still fit to the bit.
static void patches_with_a_common_border_match(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g), *h = malloc(sizeof *h);
    const int32_t n = 6;
    make_grid(g, n), make_grid(h, n);
    for (int32_t i = 0; i < h->node_count; i++) {  // beyond x = n, with other heights inside
        const int32_t u = i % (n + 1);
        h->pos[i] = u == 0 ? g->pos[i + n] : (tl_vec3){n + u, i / (n + 1), 0.2 * u * sin(i)};
    }
    for (int s = 0; s < 3; s++) {
        tl_fine_mesh a = refine(level_0(g), (tl_subdivide_def){.scheme = all_schemes[s]}, 3);
        tl_fine_mesh b = refine(level_0(h), (tl_subdivide_def){.scheme = all_schemes[s]}, 3);
        int32_t matched = 0;
        for (int32_t i = 0; i < a.node_count; i++)
            for (int32_t k = 0; a.pos[i].x > n - 1e-9 && k < b.node_count; k++)
                matched += memcmp(&a.pos[i], &b.pos[k], sizeof a.pos[i]) == 0;
        assert_true(matched >=
                    8 * (n - 4) + 1);  // beyond two edges from corners, which are rounded off in their own way
        tl_fine_mesh_free(&a), tl_fine_mesh_free(&b);
    }
    free(g), free(h);
}

// Any combination of weights that sum to one keeps a plane; affine maps commute with all masks.
static void planes_and_affine_maps_are_kept(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g), *h = malloc(sizeof *h);
    make_grid(g, 6);
    *h = *g;
    for (int32_t i = 0; i < g->node_count; i++) {
        const tl_vec3 p = g->pos[i];
        h->pos[i] = (tl_vec3){2 * p.x - p.z + 3, p.y + 0.5 * p.x - 1, 0.25 * p.x - p.y + 2 * p.z};
    }
    for (int s = 0; s < 3; s++) {
        const tl_subdivide_def def = {.scheme = all_schemes[s]};
        tl_fine_mesh a = refine(level_0(g), def, 2), b = refine(level_0(h), def, 2);
        for (int32_t i = 0; i < a.node_count; i++) {
            const tl_vec3 p = a.pos[i];
            assert_near(b.pos[i].x, 2 * p.x - p.z + 3, 1e-12);
            assert_near(b.pos[i].y, p.y + 0.5 * p.x - 1, 1e-12);
            assert_near(b.pos[i].z, 0.25 * p.x - p.y + 2 * p.z, 1e-12);
        }
        tl_fine_mesh_free(&a), tl_fine_mesh_free(&b);
    }
    free(g), free(h);
}

static void butterfly_keeps_given_nodes_to_the_bit(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g);
    make_grid(g, 7);
    tl_fine_mesh m = refine(level_0(g), (tl_subdivide_def){.scheme = TL_SUBDIVIDE_BUTTERFLY}, 3);
    assert_memory_equal(m.pos, g->pos, (size_t)g->node_count * sizeof *g->pos);
    tl_fine_mesh_free(&m);
    free(g);
}

// A regular edge by hand: 3/8 of its ends, 1/8 of the two opposite; and the eight-point mask of butterfly.
static void regular_edge_by_hand(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g);
    const int32_t n = 6;
    g->node_count = (n + 1) * (n + 1), g->face_count = 0;
    for (int32_t i = 0; i < g->node_count; i++) g->pos[i] = (tl_vec3){i % (n + 1), i / (n + 1), (double)(i * i % 7)};
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = j * (n + 1) + i;
            const int32_t two[2][3] = {{a, a + 1, a + n + 2}, {a, a + n + 2, a + n + 1}};
            memcpy(g->face[g->face_count++], two[0], sizeof two[0]);
            memcpy(g->face[g->face_count++], two[1], sizeof two[1]);
        }
    const int32_t a = 3 * (n + 1) + 2, b = a + 1, above = b + n + 1, below = a - n - 1;
    const int32_t wings[4] = {a + n + 1, above + 1, below - 1, b - n - 1};
    for (int s = 0; s < 3; s++) {
        tl_fine_mesh m = refine(level_0(g), (tl_subdivide_def){.scheme = all_schemes[s]}, 1);
        int32_t found = -1;  // the corner that lies between a and b
        for (int32_t f = 0; f < m.face_count; f++)
            if (m.source[f] == 2 * (3 * n + 2) && m.node[f][0] == a) found = m.node[f][1];
        double z = all_schemes[s] == TL_SUBDIVIDE_BUTTERFLY ? 0.5 * (g->pos[a].z + g->pos[b].z)
                                                            : 0.375 * (g->pos[a].z + g->pos[b].z);
        z += 0.125 * (g->pos[above].z + g->pos[below].z);
        for (int k = 0; k < 4 && all_schemes[s] == TL_SUBDIVIDE_BUTTERFLY; k++) z -= 0.0625 * g->pos[wings[k]].z;
        assert_true(found > 0);
        assert_near(m.pos[found].z, z, 1e-14);
        tl_fine_mesh_free(&m);
    }
    free(g);
}

// The border of the finer mesh does not know what lies inside.
static void borders_depend_on_borders_alone(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g), *h = malloc(sizeof *h);
    const int32_t n = 6;
    make_grid(g, n);
    *h = *g;
    for (int32_t i = 0; i < g->node_count; i++)
        if (i % (n + 1) % n != 0 && i / (n + 1) % n != 0) h->pos[i].z += 5 + i;
    for (int s = 0; s < 3; s++) {
        tl_fine_mesh a = refine(level_0(g), (tl_subdivide_def){.scheme = all_schemes[s]}, 2);
        tl_fine_mesh b = refine(level_0(h), (tl_subdivide_def){.scheme = all_schemes[s]}, 2);
        int32_t seen = 0;
        for (int32_t i = 0; i < a.node_count; i++) {
            const bool border = a.pos[i].y == 0;
            if (border) assert_memory_equal(&a.pos[i], &b.pos[i], sizeof a.pos[i]), seen++;
        }
        assert_true(seen >= 4 * n - 9);  // corners are rounded off
        tl_fine_mesh_free(&a), tl_fine_mesh_free(&b);
    }
    free(g), free(h);
}

// Two squares of one face pair each, sewn along an edge: one node, two vertices in its middle; material places are
// means.
static void seams_stay_sewn(void **state)
{
    (void)state;
    const tl_vec3 pos[6] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {1, 0, 1}, {1, 1, 1}};
    const int32_t node[4][3] = {{0, 1, 2}, {0, 2, 3}, {1, 4, 5}, {1, 5, 2}};
    const int32_t vert[4][3] = {{0, 1, 2}, {0, 2, 3}, {4, 5, 6}, {4, 6, 7}};
    const tl_vec2 uv[8] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {5, 0}, {6, 0}, {6, 1}, {5, 1}};
    const tl_fine_input in = {pos, node, vert, uv, 6, 8, 4};
    tl_error err;
    for (int crease = 0; crease < 2; crease++) {
        tl_fine_mesh m, fine;
        ok(tl_fine_mesh_create(tl_allocator_default(), &in, &m, &err), &err);
        const tl_subdivide_def def = {.scheme = TL_SUBDIVIDE_LOOP, .crease_seams = crease};
        ok(tl_subdivide(&m, &def, NULL, &fine, NULL, &err), &err);
        assert_int_equal(fine.node_count, 6 + 9);
        assert_int_equal(fine.vert_count, 8 + 10);
        for (int32_t f = 0; f < fine.face_count; f++)
            for (int k = 0; k < 3; k++) {
                const tl_vec3 p = fine.pos[fine.node[f][k]];
                const tl_vec2 q = fine.uv[fine.vert[f][k]];
                assert_true(f < 8 ? q.x <= 1 : q.x >= 5);
                if (crease && (q.x == 1 || q.x == 5)) assert_near(p.x, 1, 0), assert_near(p.z, 0, 0);  // a sharp line
            }
        tl_fine_mesh_free(&fine), tl_fine_mesh_free(&m);
    }
}

// Corners of the pattern are not rounded off; with no material coordinates there are none.
static void corners_of_panels_stay(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g);
    const int32_t n = 4;
    make_grid(g, n);
    tl_vec2 uv[25];
    for (int32_t i = 0; i < 25; i++) uv[i] = (tl_vec2){i % 5, i / 5};
    const tl_fine_input in = {g->pos,       (const int32_t(*)[3])g->face, (const int32_t(*)[3])g->face, uv, 25, 25,
                              g->face_count};
    tl_fine_mesh m;
    tl_error err;
    ok(tl_fine_mesh_create(tl_allocator_default(), &in, &m, &err), &err);
    m = refine(m, (tl_subdivide_def){.scheme = TL_SUBDIVIDE_LOOP}, 2);
    const int32_t corner[4] = {0, n, n * (n + 1), n * (n + 2)};
    for (int k = 0; k < 4; k++) assert_memory_equal(&m.pos[corner[k]], &g->pos[corner[k]], sizeof *m.pos);
    tl_fine_mesh_free(&m);
    m = refine(level_0(g), (tl_subdivide_def){.scheme = TL_SUBDIVIDE_LOOP}, 2);
    assert_true(m.pos[0].x > 0.1);
    tl_fine_mesh_free(&m);
    free(g);
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g);
    make_grid(g, 20);
    const tl_subdivide_def def = {.scheme = TL_SUBDIVIDE_MODIFIED_LOOP};
    tl_fine_mesh base = refine(level_0(g), def, 2), one, many;
    const tl_allocator alloc = tl_allocator_default();
    tl_workers *workers;
    tl_error err;
    ok(tl_workers_create(&alloc, 3, &workers, &err), &err);
    ok(tl_subdivide(&base, &def, NULL, &one, NULL, &err), &err);
    ok(tl_subdivide(&base, &def, workers, &many, NULL, &err), &err);
    assert_memory_equal(one.pos, many.pos, (size_t)one.node_count * sizeof *one.pos);
    tl_workers_destroy(workers);
    tl_fine_mesh_free(&one), tl_fine_mesh_free(&many), tl_fine_mesh_free(&base);
    free(g);
}

// ---- clear of everything --------------------------------------------------------------------------------------

static int32_t crossings_of(const tl_fine_mesh *m, const tl_vec3 *x, const tl_bvh *body)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_crossings found;
    tl_crossings_init(&found, alloc);
    int32_t(*edge)[2], edges, count = 0;
    tl_error err;
    ok(tl_unique_edges(&alloc, (const int32_t(*)[3])m->node, m->face_count, &edge, &edges, NULL, &err), &err);
    const tl_surface s = {m->node_count, m->face_count, edges, (const int32_t(*)[3])m->node, (const int32_t(*)[2])edge};
    const tl_bvh_def def = tl_bvh_def_default();
    tl_bvh *tree;
    ok(tl_bvh_create(&alloc, &def, &s, x, &tree, &err), &err);
    tl_bvh_refit(tree, x, NULL, 0, 0, NULL);
    ok(tl_find_crossings(tree, NULL, &arena, NULL, &found, &err), &err);
    count = found.count;
    if (body) ok(tl_find_crossings(tree, body, &arena, NULL, &found, &err), &err), count += found.count;
    tl_bvh_destroy(tree);
    tl_free_bytes(&alloc, edge, (size_t)edges, sizeof *edge);
    tl_crossings_free(&found);
    tl_arena_free(&arena);
    return count;
}

// Two sheets 2 mm apart whose waves nearly touch: butterfly swings beyond its nodes, and through the other sheet.
static void layers_stay_apart(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g);
    make_grid(g, 12);
    const int32_t nodes = g->node_count, faces = g->face_count;
    for (int32_t i = 0; i < nodes; i++) {
        const double wave = (i / 13 % 4 < 2 ? 1 : -1) * 0.95e-3;
        g->pos[i] = (tl_vec3){0.01 * (i % 13), 0.01 * (i / 13), wave};
        g->pos[nodes + i] = (tl_vec3){g->pos[i].x, g->pos[i].y, 2e-3 - wave};
    }
    for (int32_t f = 0; f < 3 * faces; f++) g->face[faces + f / 3][f % 3] = g->face[f / 3][f % 3] + nodes;
    g->node_count *= 2, g->face_count *= 2;
    const tl_allocator alloc = tl_allocator_default();
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_error err;
    int32_t without = 0;
    for (int s = 0; s < 3; s++) {
        const tl_subdivide_def def = {.scheme = all_schemes[s]};
        tl_fine_mesh m = level_0(g);
        assert_int_equal(crossings_of(&m, m.pos, NULL), 0);
        for (int level = 0; level < 2; level++) {
            tl_fine_mesh fine;
            tl_vec3 *start;
            ok(tl_subdivide(&m, &def, NULL, &fine, &start, &err), &err);
            without += crossings_of(&fine, fine.pos, NULL);
            assert_int_equal(crossings_of(&fine, start, NULL), 0);
            const tl_clear_def clear = {
                (const int32_t(*)[3])fine.node, fine.node_count, fine.face_count, start, NULL, 0, 2e-4};
            tl_clear_report report;
            ok(tl_clear_move(&clear, &alloc, &arena, NULL, fine.pos, &report, &err), &err);
            assert_int_equal(crossings_of(&fine, fine.pos, NULL), 0);
            assert_true(report.stopped < fine.node_count);
            tl_free_bytes(&alloc, start, (size_t)fine.node_count, sizeof *start);
            tl_fine_mesh_free(&m);
            m = fine;
        }
        tl_fine_mesh_free(&m);
    }
    assert_true(without > 0);  // else nothing was tested
    tl_arena_free(&arena);
    free(g);
}

// A tent over a spike: Loop pulls the tip of the tent down into it.
static void bodies_are_not_entered(void **state)
{
    (void)state;
    grid *g = malloc(sizeof *g);
    make_grid(g, 8);
    for (int32_t i = 0; i < g->node_count; i++) g->pos[i].z = i == 40 ? 3 : 0;
    const tl_vec3 tip[4] = {{4, 4, 2.9}, {3.9, 3.9, -1}, {4.1, 3.9, -1}, {4, 4.1, -1}};
    const int32_t face[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}},
                  edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const tl_surface surface = {4, 4, 6, face, edge};
    const tl_allocator alloc = tl_allocator_default();
    const tl_bvh_def bvh_def = tl_bvh_def_default();
    tl_arena arena;
    tl_arena_init(&arena, alloc);
    tl_error err;
    tl_bvh *body;
    ok(tl_bvh_create(&alloc, &bvh_def, &surface, tip, &body, &err), &err);
    tl_bvh_refit(body, tip, NULL, 0, 0, NULL);
    // The base of the spike passes through the sheet's plane: leave the sheet open there.
    int32_t kept = 0;
    for (int32_t f = 0; f < g->face_count; f++) {
        const bool top = g->face[f][0] == 40 || g->face[f][1] == 40 || g->face[f][2] == 40;
        if (top) memcpy(g->face[kept++], g->face[f], sizeof g->face[f]);
    }
    g->face_count = kept;
    tl_fine_mesh m = level_0(g), fine;
    tl_vec3 *start;
    const tl_subdivide_def def = {.scheme = TL_SUBDIVIDE_LOOP};
    ok(tl_subdivide(&m, &def, NULL, &fine, &start, &err), &err);
    assert_int_equal(crossings_of(&fine, start, body), 0);
    assert_true(crossings_of(&fine, fine.pos, body) > 0);
    const tl_bvh *const bodies[1] = {body};
    const tl_clear_def clear = {
        (const int32_t(*)[3])fine.node, fine.node_count, fine.face_count, start, bodies, 1, 0.01};
    tl_clear_report report;
    ok(tl_clear_move(&clear, &alloc, &arena, NULL, fine.pos, &report, &err), &err);
    assert_int_equal(crossings_of(&fine, fine.pos, body), 0);
    assert_true(report.corrected > 0 && report.corrected < fine.node_count);
    assert_true(fine.pos[40].z > 2.9 && fine.pos[40].z < 3);
    tl_free_bytes(&alloc, start, (size_t)fine.node_count, sizeof *start);
    tl_fine_mesh_free(&fine), tl_fine_mesh_free(&m);
    tl_bvh_destroy(body);
    tl_arena_free(&arena);
    free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edge_masks_have_the_tabulated_weights),
        cmocka_unit_test(modified_loop_has_bounded_curvature),
        cmocka_unit_test(masks_of_all_valences),
        cmocka_unit_test(counts_are_v_plus_e_and_four_f),
        cmocka_unit_test(counts_of_the_published_table),
        cmocka_unit_test(patches_with_a_common_border_match),
        cmocka_unit_test(planes_and_affine_maps_are_kept),
        cmocka_unit_test(butterfly_keeps_given_nodes_to_the_bit),
        cmocka_unit_test(regular_edge_by_hand),
        cmocka_unit_test(borders_depend_on_borders_alone),
        cmocka_unit_test(seams_stay_sewn),
        cmocka_unit_test(corners_of_panels_stay),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(layers_stay_apart),
        cmocka_unit_test(bodies_are_not_entered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
