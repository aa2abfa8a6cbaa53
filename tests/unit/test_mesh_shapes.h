// tests/unit/test_mesh_shapes.h: small meshes made by hand.
#pragma once
#include <stdbool.h>
#include <string.h>

#include "ledger.h"
#include "mesh/mesh.h"

enum { SHAPE_MAX = 6000 };

/// A def that owns its arrays. Panels are grids; nodes are sewn by giving two vertices the same one.
typedef struct shape {
    int32_t vert_count, face_count;
    tl_vec2 uv[SHAPE_MAX];
    tl_vec3 pos[SHAPE_MAX];  // of the vertex; that of a node is the one of its lowest vertex
    int32_t node[SHAPE_MAX];
    int32_t face[SHAPE_MAX][3];
    int32_t label[SHAPE_MAX];
    // filled in by shape_def
    tl_vec3 node_pos[SHAPE_MAX];
    int32_t vert_node[SHAPE_MAX];
} shape;

typedef struct grid {
    int32_t first, columns, rows;
} grid;  // in cells

static inline int32_t grid_vert(grid g, int32_t i, int32_t j) { return g.first + j * (g.columns + 1) + i; }

/// Cells of side `h` from (u, v); diagonals alternate. Every vertex has its own node so far.
static inline grid shape_grid(shape *s, int32_t columns, int32_t rows, double h, double u, double v)
{
    const grid g = {s->vert_count, columns, rows};
    for (int32_t j = 0; j <= rows; j++)
        for (int32_t i = 0; i <= columns; i++) {
            const int32_t id = s->vert_count++;
            s->uv[id] = (tl_vec2){u + i * h, v + j * h};
            s->pos[id] = (tl_vec3){u + i * h, v + j * h, 0};
            s->node[id] = id;
        }
    for (int32_t j = 0; j < rows; j++)
        for (int32_t i = 0; i < columns; i++) {
            const int32_t a = grid_vert(g, i, j), b = grid_vert(g, i + 1, j), c = grid_vert(g, i + 1, j + 1),
                          d = grid_vert(g, i, j + 1);
            const bool rising = (i + j) % 2 == 0;
            const int32_t two[2][3] = {{a, b, rising ? c : d}, {rising ? a : b, c, d}};
            for (int k = 0; k < 2; k++) {
                memcpy(s->face[s->face_count], two[k], sizeof two[k]);
                s->label[s->face_count++] = 0;
            }
        }
    return g;
}

/// Removes the faces whose centre lies in the box.
static inline void shape_hole(shape *s, double u0, double v0, double u1, double v1)
{
    int32_t kept = 0;
    for (int32_t f = 0; f < s->face_count; f++) {
        double u = 0, v = 0;
        for (int k = 0; k < 3; k++) u += s->uv[s->face[f][k]].x / 3, v += s->uv[s->face[f][k]].y / 3;
        if (u > u0 && u < u1 && v > v0 && v < v1) continue;
        memcpy(s->face[kept], s->face[f], sizeof s->face[f]);
        s->label[kept++] = s->label[f];
    }
    s->face_count = kept;
}

static inline void shape_sew(shape *s, int32_t a, int32_t b)
{
    const int32_t keep = s->node[a] < s->node[b] ? s->node[a] : s->node[b];
    const int32_t drop = s->node[a] + s->node[b] - keep;
    for (int32_t v = 0; v < s->vert_count; v++)
        if (s->node[v] == drop) s->node[v] = keep;
}

/// Cuts column `i` of the grid from row 0 up to, not including, row `tip`; the right side moves away by
/// `open` per row below the tip. Sewn: a dart. Not sewn: a slit.
static inline void shape_dart(shape *s, grid g, int32_t i, int32_t tip, double open, bool sewn)
{
    for (int32_t j = 0; j < tip; j++) {
        const int32_t old = grid_vert(g, i, j), made = s->vert_count++;
        s->uv[made] = (tl_vec2){s->uv[old].x + open * (tip - j), s->uv[old].y};
        s->pos[made] = s->pos[old];
        s->node[made] = sewn ? s->node[old] : made;
        for (int32_t f = 0; f < s->face_count; f++) {
            bool right = false;
            for (int k = 0; k < 3; k++) {
                const int32_t v = s->face[f][k] - g.first;
                if (v >= 0 && v < (g.columns + 1) * (g.rows + 1) && v % (g.columns + 1) == i + 1) right = true;
            }
            for (int k = 0; right && k < 3; k++)
                if (s->face[f][k] == old) s->face[f][k] = made;
        }
    }
}

/// Drops vertices without faces, numbers the nodes. The def borrows from `s`.
static inline tl_mesh_def shape_def(shape *s)
{
    static int32_t uses[SHAPE_MAX], node_id[SHAPE_MAX];
    memset(uses, 0, sizeof uses);
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++) uses[s->face[f][k]]++;
    int32_t kept = 0, nodes = 0;
    for (int32_t v = 0; v < s->vert_count; v++) node_id[v] = -1;
    for (int32_t v = 0; v < s->vert_count; v++) {
        if (!uses[v]) continue;
        if (node_id[s->node[v]] < 0) {
            s->node_pos[nodes] = s->pos[v];
            node_id[s->node[v]] = nodes++;
        }
        s->uv[kept] = s->uv[v];
        s->pos[kept] = s->pos[v];
        s->vert_node[kept] = node_id[s->node[v]];
        uses[v] = kept++;  // now the new id
    }
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++) s->face[f][k] = uses[s->face[f][k]];
    s->vert_count = kept;
    memcpy(s->node, s->vert_node, sizeof s->node);
    return (tl_mesh_def){.node_count = nodes,
                         .vert_count = kept,
                         .face_count = s->face_count,
                         .pos = s->node_pos,
                         .uv = s->uv,
                         .vert_node = s->vert_node,
                         .face_vert = (const int32_t(*)[3])s->face,
                         .face_label = s->label};
}

/// Two closed grids sewn along their whole outlines: a pillow, a sphere to topology.
static inline void shape_pillow(shape *s, int32_t n, double u)
{
    const grid a = shape_grid(s, n, n, 0.1, u, 0), b = shape_grid(s, n, n, 0.1, u + 0.1 * n + 0.5, 0);
    for (int32_t j = 0; j <= n; j++)
        for (int32_t i = 0; i <= n; i++) {
            s->pos[grid_vert(b, i, j)] = s->pos[grid_vert(a, n - i, j)];
            s->pos[grid_vert(b, i, j)].z -= 0.1;
            if (i == 0 || j == 0 || i == n || j == n) shape_sew(s, grid_vert(a, n - i, j), grid_vert(b, i, j));
        }
}

/// Everything at once: a panel with a hole and a dart, sewn to one with a slit; a third that touches them in
/// a point (a bow-tie node); and a pillow.
static inline void shape_garment(shape *s, int32_t n)
{
    const double h = 0.1;
    const grid a = shape_grid(s, n, n, h, 0, 0), b = shape_grid(s, n - 2, n, h, n * h + 1, 0);
    shape_dart(s, a, 2, n / 2, 0.004, true);
    shape_dart(s, b, 2, n / 2, 0.004, false);
    for (int32_t j = 0; j <= n; j++) shape_sew(s, grid_vert(a, n, j), grid_vert(b, 0, j));
    for (int32_t f = 0; f < s->face_count; f++) s->label[f] = s->uv[s->face[f][0]].x > n * h + 1 + h * n / 2;
    const grid c = shape_grid(s, 3, 2, h, -1, -1);
    shape_sew(s, grid_vert(c, 3, 2), grid_vert(a, 0, 0));
    shape_sew(s, grid_vert(c, 1, 1), grid_vert(a, 1, 1));
    shape_pillow(s, 4, 5);
    shape_hole(s, (n - 4) * h, (n - 4) * h, (n - 2) * h, (n - 2) * h);
}
