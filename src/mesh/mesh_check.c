// mesh/mesh_check.c: is the mesh what mesh.h says it is? For tests and for debugging, not for every step.
//
// Order matters: ids first, then links both ways, and only then the walks around nodes, which would run in
// circles on broken links. O(size x valence), allocates nothing.

#include <math.h>

#include "mesh/mesh_internal.h"
#include "mesh/mesh_query.h"

#define FAULT(...) return tl_fail(err, TL_FAILED, __VA_ARGS__)

static bool lives(const tl_mesh *mesh, tl_domain d, int32_t id)
{
    return id >= 0 && id < mesh->slots[d].count && tl_alive(mesh, d, id);
}

static tl_status check_slots(const tl_mesh *mesh, tl_domain d, tl_error *err)
{
    const tl_slots *s = &mesh->slots[d];
    const char *name = tl_domain_name(d);
    if (s->live < 0 || s->live > s->count || s->count > s->capacity)
        FAULT("%s slots: %d live of %d used of %d", name, s->live, s->count, s->capacity);
    int32_t live = 0, dead = 0;
    for (int32_t i = 0; i < s->count; i++) live += s->next_free[i] == TL_ALIVE;
    if (live != s->live) FAULT("%s slots: %d are alive, the count says %d", name, live, s->live);
    for (int32_t i = s->free_top; i != TL_NONE; i = s->next_free[i]) {
        if (i < 0 || i >= s->count) FAULT("%s free list leads to slot %d of %d", name, i, s->count);
        if (s->next_free[i] == TL_ALIVE) FAULT("%s free list holds %s %d, which is alive", name, name, i);
        if (++dead > s->count) FAULT("%s free list is a circle", name);
    }
    if (dead != s->count - live) FAULT("%s free list holds %d slots, %d are dead", name, dead, s->count - live);
    for (int32_t c = 0; c < tl_column_count(mesh, d); c++) {
        const tl_column column = tl_column_at(mesh, d, c);
        const char *data = tl_column_data(mesh, column);
        if (!data) FAULT("%s column %d has no memory", name, c);
        const int32_t width = (int32_t)(column.size / sizeof(double));
        for (int32_t i = 0; column.numbers && i < s->count; i++) {
            if (s->next_free[i] != TL_ALIVE) continue;
            for (int32_t k = 0; k < width; k++) {
                double x;
                memcpy(&x, data + (size_t)i * column.size + (size_t)k * sizeof x, sizeof x);
                if (!isfinite(x)) FAULT("%s %d: number %d of column %d is %g", name, i, k, c, x);
            }
        }
    }
    return TL_OK;
}

static tl_status check_ids(const tl_mesh *mesh, tl_error *err)
{
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        if (!tl_alive(mesh, TL_NODES, n)) continue;
        const int32_t v = mesh->node_vert[n];
        if (!lives(mesh, TL_VERTS, v) || mesh->vert_node[v] != n)
            FAULT("node %d names vertex %d, which is not on it", n, v);
    }
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) {
        if (!tl_alive(mesh, TL_VERTS, v)) continue;
        const int32_t n = mesh->vert_node[v], next = mesh->vert_next[v], f = mesh->vert_face[v];
        if (!lives(mesh, TL_NODES, n)) FAULT("vertex %d lies on node %d, which is not alive", v, n);
        if (!lives(mesh, TL_VERTS, next) || mesh->vert_node[next] != n)
            FAULT("vertex %d of node %d is followed by vertex %d, which is not on it", v, n, next);
        if (!lives(mesh, TL_FACES, f) || tl_face_corner_of_vert(mesh, f, v) == TL_NONE)
            FAULT("vertex %d names face %d, which does not use it", v, f);
    }
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e)) continue;
        const int32_t *n = mesh->edge_node[e], *f = mesh->edge_face[e];
        if (!lives(mesh, TL_NODES, n[0]) || !lives(mesh, TL_NODES, n[1]) || n[0] == n[1])
            FAULT("edge %d joins nodes %d and %d", e, n[0], n[1]);
        if (!lives(mesh, TL_FACES, f[0]) || (f[1] != TL_NONE && !lives(mesh, TL_FACES, f[1])) || f[0] == f[1])
            FAULT("edge %d has faces %d and %d", e, f[0], f[1]);
    }
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        for (int k = 0; k < 3; k++) {
            if (!lives(mesh, TL_VERTS, mesh->face_vert[f][k]))
                FAULT("face %d uses vertex %d, which is not alive", f, mesh->face_vert[f][k]);
            if (!lives(mesh, TL_EDGES, mesh->face_edge[f][k]))
                FAULT("face %d has edge %d, which is not alive", f, mesh->face_edge[f][k]);
        }
        if (mesh->face_panel[f] < 0 || mesh->face_panel[f] >= mesh->panel_count)
            FAULT("face %d is in panel %d of %d", f, mesh->face_panel[f], mesh->panel_count);
    }
    return TL_OK;
}

static tl_status check_links(const tl_mesh *mesh, tl_error *err)
{
    int64_t sides = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        for (int k = 0; k < 3; k++) {
            const int32_t e = mesh->face_edge[f][k];
            const int32_t a = tl_face_node(mesh, f, (k + 1) % 3), b = tl_face_node(mesh, f, (k + 2) % 3);
            const int side = mesh->edge_node[e][0] != a;
            if (mesh->edge_node[e][side] != a || mesh->edge_node[e][1 - side] != b)
                FAULT("face %d runs %d-%d along edge %d, which joins %d-%d", f, a, b, e, mesh->edge_node[e][0],
                      mesh->edge_node[e][1]);
            if (mesh->edge_face[e][side] != f)
                FAULT("edge %d (%d-%d) has face %d on side %d, not face %d", e, mesh->edge_node[e][0],
                      mesh->edge_node[e][1], mesh->edge_face[e][side], side, f);
        }
        const int32_t *v = mesh->face_vert[f];
        if (!tl_shape_ok(mesh->uv[v[0]], mesh->uv[v[1]], mesh->uv[v[2]]))
            FAULT("face %d has material area %g m^2, flipped or a needle", f, tl_mesh_face_area_uv(mesh, f));
    }
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++)
        if (tl_alive(mesh, TL_EDGES, e)) sides += 1 + (mesh->edge_face[e][1] != TL_NONE);
    if (sides != 3 * (int64_t)mesh->slots[TL_FACES].live)
        FAULT("edges have %lld sides in all, %d faces make %lld", (long long)sides, mesh->slots[TL_FACES].live,
              3 * (long long)mesh->slots[TL_FACES].live);
    return TL_OK;
}

// Links hold both ways from here on, so every walk ends.
static tl_status check_rings(const tl_mesh *mesh, tl_error *err)
{
    int64_t on_rings = 0, in_fans = 0;
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        if (!tl_alive(mesh, TL_NODES, n)) continue;
        int32_t v = mesh->node_vert[n];
        do {
            if (++on_rings > mesh->slots[TL_VERTS].live) FAULT("vertex ring of node %d does not close", n);
            v = mesh->vert_next[v];
        } while (v != mesh->node_vert[n]);
    }
    if (on_rings != mesh->slots[TL_VERTS].live)
        FAULT("%lld vertices are on the rings of nodes, %d are alive", (long long)on_rings, mesh->slots[TL_VERTS].live);
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++)
        if (tl_alive(mesh, TL_VERTS, v)) in_fans += tl_mesh_vert_faces(mesh, v, NULL, 0);
    if (in_fans != 3 * (int64_t)mesh->slots[TL_FACES].live)
        FAULT("the fans of all vertices hold %lld corners, faces have %lld: a vertex has two fans", (long long)in_fans,
              3 * (long long)mesh->slots[TL_FACES].live);
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e)) continue;
        const int32_t *n = mesh->edge_node[e], *f = mesh->edge_face[e];
        const int32_t found = tl_mesh_find_edge(mesh, n[0], n[1]);
        if (found != e) FAULT("nodes %d and %d are joined by edges %d and %d", n[0], n[1], found, e);
        if (f[1] == TL_NONE) continue;
        const int32_t l = mesh->vert_node[tl_mesh_opposite_vert(mesh, e, 0)];
        if (l == mesh->vert_node[tl_mesh_opposite_vert(mesh, e, 1)])
            FAULT("faces %d and %d join the same three nodes %d, %d, %d", f[0], f[1], n[0], n[1], l);
        if (tl_mesh_edge_kind(mesh, e) != TL_EDGE_SEAM && mesh->face_panel[f[0]] != mesh->face_panel[f[1]])
            FAULT("edge %d is no seam, but its faces %d and %d are in panels %d and %d", e, f[0], f[1],
                  mesh->face_panel[f[0]], mesh->face_panel[f[1]]);
    }
    return TL_OK;
}

tl_status tl_mesh_check(const tl_mesh *mesh, tl_error *err)
{
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) TL_TRY(check_slots(mesh, (tl_domain)d, err));
    TL_TRY(check_ids(mesh, err));
    TL_TRY(check_links(mesh, err));
    return check_rings(mesh, err);
}
