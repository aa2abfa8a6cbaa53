// tests/fuzz/fuzz_panels.c: any points as outlines and lines, filled with triangles and with grids: what is not refused
// is whole.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/predicates.h"
#include "toile/delaunay.h"
#include "toile/grid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { POINTS_MAX = 48 };

// Coordinates from coarse (touching, collinear) to fine (any bits of a float), by the first byte.
static tl_vec2 read_point(const uint8_t *data, size_t i, int kind)
{
    if (kind == 0) return (tl_vec2){data[2 * i] % 8, data[2 * i + 1] % 8};
    if (kind == 1) return (tl_vec2){data[2 * i] / 10.0, data[2 * i + 1] / 10.0};
    if (kind == 2) return (tl_vec2){1e6 + data[2 * i] * 0x1p-33, data[2 * i + 1] * 0x1p-33};
    float x, y;
    memcpy(&x, data + 8 * i, sizeof x);
    memcpy(&y, data + 8 * i + 4, sizeof y);
    return (tl_vec2){(double)x, (double)y};
}

static void check_mesh(const tl_region *region, const tl_delaunay_mesh *m)
{
    for (int32_t t = 0; t < m->tri_count; t++) {
        const int32_t *v = m->tri[t];
        for (int k = 0; k < 3; k++)
            if (v[k] < 0 || v[k] >= m->point_count) __builtin_trap();
        if (tl_orient2d(m->point[v[0]], m->point[v[1]], m->point[v[2]]) <= 0) __builtin_trap();
    }
    for (int32_t i = 0; i < m->input_count; i++)
        if (m->at[i] >= 0 && (m->point[m->at[i]].x != region->point[i].x || m->point[m->at[i]].y != region->point[i].y))
            __builtin_trap();
}

static void make_grids(const tl_vec2 *point, int32_t count)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    for (int method = 0; method < TL_QUADS_METHODS; method++) {
        tl_grid_def def = tl_grid_def_default();
        def.method = (tl_grid_method)method, def.cells_u = 5, def.cells_v = 4, def.strip_smoothing = 2;
        def.area_steps = 50;
        tl_quad_grid grid;
        if (tl_quad_grid_make(&alloc, point, count, NULL, &def, NULL, &grid, &err) != TL_OK) continue;
        if (tl_grid_measure(grid.point, 5, 4).folded > 0) __builtin_trap();
        tl_quad_grid_free(&grid);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8) return 0;
    const int kind = data[0] % 4, loops = 1 + data[1] % 3, lines = data[2] % 6;
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = 0, def.keep_edges = data[3] & 1, def.smoothing = (data[3] >> 1) & 3, def.point_max = 3000;
    const size_t width = kind == 3 ? 8 : 2;
    int32_t count = (int32_t)((size - 4) / width);
    if (count > POINTS_MAX) count = POINTS_MAX;
    tl_vec2 point[POINTS_MAX];
    tl_region_edge edge[2 * POINTS_MAX];
    int32_t edges = 0;
    for (int32_t i = 0; i < count; i++) point[i] = read_point(data + 4, (size_t)i, kind);
    for (int l = 0; l < loops; l++) {
        const int32_t from = count * l / loops, to = count * (l + 1) / loops;
        for (int32_t i = from; i < to; i++)
            edge[edges++] = (tl_region_edge){i, i + 1 < to ? i + 1 : from, TL_EDGE_OUTLINE, false};
    }
    for (int l = 0; l < lines && count > 8; l++)
        edge[edges++] = (tl_region_edge){(7 * l) % count, (3 + 5 * l) % count, TL_EDGE_LINE, l == 1};
    const tl_allocator alloc = tl_allocator_default();
    const tl_region region = {point, count, edge, edges, NULL};
    const tl_region_link link = {0, 0, 0, edges > 1 ? edges - 1 : 0, (data[3] & 8) != 0};
    tl_delaunay_mesh mesh;
    tl_error err;
    if (tl_delaunay_fill(&alloc, &region, 1, &link, data[3] & 16 ? 1 : 0, &def, &mesh, &err) == TL_OK) {
        check_mesh(&region, &mesh);
        tl_delaunay_mesh_free(&mesh);
    }
    if (count <= 16) make_grids(point, count);
    return 0;
}
