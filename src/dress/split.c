// dress/split.c: a welded garment made finer where it is: long edges are halved, nothing moves.
//
// An edge is known by its nodes, so both sides of a seam are halved alike. A face with one, two or three halved edges
// becomes two, three or four; new nodes lie at the middle of edges, so the surface is the same set of points.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "dress/garment.h"
#include "math/vec3.h"
#include "mesh/edges.h"

typedef struct edges {
    int32_t (*edge)[2];
    int32_t (*of_face)[3];
    int32_t count;
} edges;

/// One round: edges by node and by vertex, and what becomes of them.
typedef struct round_of {
    tl_garment *g;
    int32_t (*node_face)[3];
    edges nodes, verts;
    int32_t *new_node, *new_vert;  // per edge: -1 stays whole
    int32_t nodes_made, verts_made, faces_made;
} round_of;

static tl_status find_edges(const tl_allocator *a, const int32_t (*face)[3], int32_t face_count, edges *out,
                            tl_error *err)
{
    out->of_face = tl_alloc_bytes(a, (size_t)face_count, sizeof *out->of_face);
    if (!out->of_face) return tl_fail_memory(err, "splitting");
    return tl_unique_edges(a, face, face_count, &out->edge, &out->count, out->of_face, err);
}

static void free_edges(const tl_allocator *a, edges *e, int32_t face_count)
{
    TL_FREE(a, e->edge, e->count);
    TL_FREE(a, e->of_face, face_count);
}

// Every corner k of every face: the edge from it to the next, by node and by vertex.
static void mark(round_of *r, double limit)
{
    const tl_garment *g = r->g;
    for (int32_t e = 0; e < r->nodes.count; e++) r->new_node[e] = -1;
    for (int32_t e = 0; e < r->verts.count; e++) r->new_vert[e] = -1;
    for (int32_t f = 0; f < g->face_count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = g->face[f][k], b = g->face[f][(k + 1) % 3];
            if (tl_norm2(tl_sub2(g->uv[a], g->uv[b])) > limit) r->new_node[r->nodes.of_face[f][k]] = 0;
        }
    r->nodes_made = r->verts_made = r->faces_made = 0;
    for (int32_t e = 0; e < r->nodes.count; e++)
        if (r->new_node[e] == 0) r->new_node[e] = g->node_count + r->nodes_made++;
    for (int32_t f = 0; f < g->face_count; f++)
        for (int k = 0; k < 3; k++) {
            if (r->new_node[r->nodes.of_face[f][k]] < 0) continue;
            r->faces_made++;
            int32_t *v = &r->new_vert[r->verts.of_face[f][k]];
            if (*v < 0) *v = g->vert_count + r->verts_made++;
        }
}

static bool grow(tl_garment *g, int32_t nodes, int32_t verts, int32_t faces)
{
    const tl_allocator *a = &g->alloc;
    int32_t cap[3] = {g->vert_cap, g->vert_cap, g->vert_cap}, face_cap = g->face_cap;
    if (!TL_GROW(a, g->pos, g->node_cap, nodes) || !TL_GROW(a, g->node_mark, g->mark_cap, nodes)) return false;
    // arrays of one length share a capacity: the last to grow sets it, so a failure half-way leaves the books right
    tl_vec2 *uv = TL_ALLOC(a, tl_vec2, verts);
    int32_t *node = TL_ALLOC(a, int32_t, verts), *panel = TL_ALLOC(a, int32_t, verts),
            *sewn = TL_ALLOC(a, int32_t, verts);
    int32_t(*face)[3] = tl_alloc_bytes(a, (size_t)faces, sizeof *face);
    int32_t *face_panel = TL_ALLOC(a, int32_t, faces);
    if (!uv || !node || !panel || !sewn || !face || !face_panel) {
        TL_FREE(a, uv, verts);
        TL_FREE(a, node, verts);
        TL_FREE(a, panel, verts);
        TL_FREE(a, sewn, verts);
        TL_FREE(a, face, faces);
        TL_FREE(a, face_panel, faces);
        return false;
    }
    const size_t n = (size_t)g->vert_count, f = (size_t)g->face_count;
    memcpy(uv, g->uv, n * sizeof *uv), memcpy(node, g->vert_node, n * sizeof *node);
    memcpy(panel, g->vert_panel, n * sizeof *panel), memcpy(sewn, g->sewn, n * sizeof *sewn);
    memcpy(face, g->face, f * sizeof *face), memcpy(face_panel, g->face_panel, f * sizeof *face_panel);
    TL_FREE(a, g->uv, cap[0]);
    TL_FREE(a, g->vert_node, cap[0]);
    TL_FREE(a, g->vert_panel, cap[0]);
    TL_FREE(a, g->sewn, cap[0]);
    TL_FREE(a, g->face, face_cap);
    TL_FREE(a, g->face_panel, face_cap);
    g->uv = uv, g->vert_node = node, g->vert_panel = panel, g->sewn = sewn, g->vert_cap = verts;
    g->face = face, g->face_panel = face_panel, g->face_cap = faces;
    return true;
}

static void put(tl_garment *g, int32_t f, int32_t panel, int32_t a, int32_t b, int32_t c)
{
    g->face[f][0] = a, g->face[f][1] = b, g->face[f][2] = c;
    g->face_panel[f] = panel;
}

// Corners c0 c1 c2 and the middles m0 (of c0 c1), m1, m2, -1 where the edge stays. The first part takes the place of
// the face, others go behind `*last`.
static void cut_face(tl_garment *g, int32_t f, const int32_t m[3], int32_t *last)
{
    const int32_t c[3] = {g->face[f][0], g->face[f][1], g->face[f][2]}, panel = g->face_panel[f];
    const int count = (m[0] >= 0) + (m[1] >= 0) + (m[2] >= 0);
    if (count == 3) {
        put(g, f, panel, m[0], m[1], m[2]);
        for (int k = 0; k < 3; k++) put(g, (*last)++, panel, c[k], m[k], m[(k + 2) % 3]);
        return;
    }
    for (int k = 0; k < 3 && count == 1; k++) {
        if (m[k] < 0) continue;
        put(g, f, panel, c[k], m[k], c[(k + 2) % 3]);
        put(g, (*last)++, panel, m[k], c[(k + 1) % 3], c[(k + 2) % 3]);
    }
    for (int k = 0; k < 3 && count == 2; k++) {
        if (m[k] >= 0) continue;  // edge k, from c[k] to the next, stays; the corner across is cut off
        const int32_t a = c[k], b = c[(k + 1) % 3], far = c[(k + 2) % 3], mb = m[(k + 1) % 3], ma = m[(k + 2) % 3];
        put(g, f, panel, ma, mb, far);
        const double one = tl_norm2(tl_sub2(g->uv[a], g->uv[mb])), other = tl_norm2(tl_sub2(g->uv[b], g->uv[ma]));
        if (one <= other) {
            put(g, (*last)++, panel, a, b, mb);
            put(g, (*last)++, panel, a, mb, ma);
        } else {
            put(g, (*last)++, panel, a, b, ma);
            put(g, (*last)++, panel, b, mb, ma);
        }
    }
}

static tl_status cut(round_of *r, tl_error *err)
{
    tl_garment *g = r->g;
    if (!grow(g, g->node_count + r->nodes_made, g->vert_count + r->verts_made, g->face_count + r->faces_made))
        return tl_fail_memory(err, "splitting");
    for (int32_t e = 0; e < r->nodes.count; e++) {
        if (r->new_node[e] < 0) continue;
        const int32_t a = r->nodes.edge[e][0], b = r->nodes.edge[e][1];
        g->pos[r->new_node[e]] = tl_mul3(0.5, tl_add3(g->pos[a], g->pos[b]));
        g->node_mark[r->new_node[e]] = g->node_mark[a] == g->node_mark[b] ? g->node_mark[a] : 0;
    }
    for (int32_t i = 0; i < r->verts_made; i++) g->sewn[g->vert_count + i] = -1;
    int32_t last = g->face_count;
    const int32_t faces = g->face_count;
    for (int32_t f = 0; f < faces; f++) {
        int32_t m[3];
        for (int k = 0; k < 3; k++) {
            m[k] = r->new_node[r->nodes.of_face[f][k]] < 0 ? -1 : r->new_vert[r->verts.of_face[f][k]];
            if (m[k] < 0) continue;
            const int32_t a = g->face[f][k], b = g->face[f][(k + 1) % 3];
            g->uv[m[k]] = tl_mul2(0.5, tl_add2(g->uv[a], g->uv[b]));
            g->vert_node[m[k]] = r->new_node[r->nodes.of_face[f][k]];
            g->vert_panel[m[k]] = g->face_panel[f];
        }
        cut_face(g, f, m, &last);
    }
    g->node_count += r->nodes_made, g->vert_count += r->verts_made, g->face_count = last;
    return TL_OK;
}

static tl_status one_round(round_of *r, double limit, tl_error *err)
{
    tl_garment *g = r->g;
    for (int32_t f = 0; f < g->face_count; f++)
        for (int k = 0; k < 3; k++) r->node_face[f][k] = g->vert_node[g->face[f][k]];
    TL_TRY(find_edges(&g->alloc, (const int32_t(*)[3])r->node_face, g->face_count, &r->nodes, err));
    TL_TRY(find_edges(&g->alloc, (const int32_t(*)[3])g->face, g->face_count, &r->verts, err));
    r->new_node = TL_ALLOC(&g->alloc, int32_t, r->nodes.count);
    r->new_vert = TL_ALLOC(&g->alloc, int32_t, r->verts.count);
    if (!r->new_node || !r->new_vert) return tl_fail_memory(err, "splitting");
    mark(r, limit);
    return r->nodes_made > 0 ? cut(r, err) : TL_OK;
}

tl_status tl_garment_split(tl_garment *g, double limit, int32_t rounds, tl_error *err)
{
    for (int32_t i = 0; i < rounds; i++) {
        const int32_t faces = g->face_count;
        round_of r = {.g = g, .node_face = tl_alloc_bytes(&g->alloc, (size_t)faces, sizeof *r.node_face)};
        tl_status status = r.node_face ? one_round(&r, limit, err) : tl_fail_memory(err, "splitting");
        TL_FREE(&g->alloc, r.node_face, faces);
        TL_FREE(&g->alloc, r.new_node, r.nodes.count);
        TL_FREE(&g->alloc, r.new_vert, r.verts.count);
        free_edges(&g->alloc, &r.nodes, faces), free_edges(&g->alloc, &r.verts, faces);
        if (status == TL_OK) status = tl_garment_find_sewn(g, err);
        if (status != TL_OK) return status;
        if (r.nodes_made == 0) return TL_OK;
    }
    return TL_OK;
}
