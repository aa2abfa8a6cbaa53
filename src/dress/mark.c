// dress/mark.c: which nodes of a garment are to be held.
//
// A vertex lies on an edge of the pattern if it is as near to the curve as the mesher puts it: corners of the mesh are
// points of the curve, so nearness to a fine polyline of it decides.

#include "dress/mark.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "mesh/edges.h"

#define NEAR 3e-4  // [m] from an edge's polyline
enum { CHORDS = 64, MOST_CHORDS = 65 };

static bool contains(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (; n > 0 && *text; text++) {
        size_t i = 0;
        while (i < n && text[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)word[i])) i++;
        if (i == n) return true;
    }
    return false;
}

static double to_segment(tl_vec2 p, tl_vec2 a, tl_vec2 b)
{
    const tl_vec2 d = tl_sub2(b, a), r = tl_sub2(p, a);
    const double dd = tl_dot2(d, d), t = dd > 0 ? fmin(fmax(tl_dot2(r, d) / dd, 0), 1) : 0;
    return tl_norm2(tl_sub2(r, tl_mul2(t, d)));
}

static int32_t mark_edge(tl_garment *g, const tl_panel *panel, int32_t edge, const tl_panel_mesh *part,
                         const tl_pattern_mesh *mesh, int32_t mark)
{
    tl_vec2 line[MOST_CHORDS];
    int32_t marked = 0;
    tl_edge_points(panel, edge, CHORDS, line);
    for (int32_t v = part->vert; v < part->vert + part->vert_count; v++) {
        double distance = (double)INFINITY;
        for (int i = 0; i < CHORDS && distance > NEAR; i++)
            distance = fmin(distance, to_segment(mesh->at[v], line[i], line[i + 1]));
        if (distance <= NEAR) g->node_mark[g->vert_node[v]] = mark, marked++;
    }
    return marked;
}

int32_t tl_garment_mark_label(tl_garment *g, const tl_pattern *pattern, const tl_pattern_mesh *mesh, const char *word,
                              int32_t mark)
{
    int32_t marked = 0;
    for (int32_t p = 0; p < mesh->panel_count; p++) {
        const tl_panel *panel = tl_pattern_panel(pattern, mesh->panels[p].panel);
        for (int32_t e = 0; e < panel->edge_count; e++)
            if (contains(panel->edges[e].label, word)) marked += mark_edge(g, panel, e, &mesh->panels[p], mesh, mark);
    }
    return marked;
}

// ---- the rim ------------------------------------------------------------------------------------------------

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/// Edges by node, and in how many faces each is.
typedef struct rims {
    int32_t (*face)[3];
    int32_t (*edge)[2];
    int32_t (*of_face)[3];
    int32_t *uses, *parent, *size;
    double *height;
    int32_t edge_count;
} rims;

static tl_status find_edges(const tl_garment *g, rims *r, tl_error *err)
{
    r->face = tl_alloc_bytes(&g->alloc, (size_t)g->face_count, sizeof *r->face);
    r->of_face = tl_alloc_bytes(&g->alloc, (size_t)g->face_count, sizeof *r->of_face);
    if (!r->face || !r->of_face) return tl_fail_memory(err, "a rim");
    for (int32_t f = 0; f < g->face_count; f++)
        for (int k = 0; k < 3; k++) r->face[f][k] = g->vert_node[g->face[f][k]];
    return tl_unique_edges(&g->alloc, (const int32_t(*)[3])r->face, g->face_count, &r->edge, &r->edge_count, r->of_face,
                           err);
}

static void free_edges(const tl_garment *g, rims *r)
{
    TL_FREE(&g->alloc, r->face, g->face_count);
    TL_FREE(&g->alloc, r->of_face, g->face_count);
    TL_FREE(&g->alloc, r->edge, r->edge_count);
}

// Borders as sets of nodes that edges in one face join; the one of greatest mean height, -1: there is none.
static int32_t highest_border(const tl_garment *g, rims *r)
{
    int32_t best = -1;
    for (int32_t e = 0; e < r->edge_count; e++) r->uses[e] = 0;
    for (int32_t f = 0; f < g->face_count; f++)
        for (int k = 0; k < 3; k++) r->uses[r->of_face[f][k]]++;
    for (int32_t n = 0; n < g->node_count; n++) r->parent[n] = n, r->size[n] = 0, r->height[n] = 0;
    for (int32_t e = 0; e < r->edge_count; e++) {
        if (r->uses[e] != 1) continue;
        const int32_t a = root_of(r->parent, r->edge[e][0]), b = root_of(r->parent, r->edge[e][1]);
        r->parent[a > b ? a : b] = a < b ? a : b;
    }
    for (int32_t e = 0; e < r->edge_count; e++) {  // every node of a border is in two of its edges
        const int32_t root = r->uses[e] == 1 ? root_of(r->parent, r->edge[e][0]) : -1;
        if (root >= 0) r->size[root]++, r->height[root] += 0.5 * (g->pos[r->edge[e][0]].y + g->pos[r->edge[e][1]].y);
    }
    for (int32_t n = 0; n < g->node_count; n++)
        if (r->size[n] > 0 && (best < 0 || r->height[n] / r->size[n] > r->height[best] / r->size[best])) best = n;
    return best;
}

static void mark_border(tl_garment *g, rims *r, double depth, int32_t mark, int32_t *count, double *top)
{
    const int32_t best = highest_border(g, r);
    *top = -(double)INFINITY;
    for (int pass = 0; best >= 0 && pass < 2; pass++)
        for (int32_t e = 0; e < r->edge_count; e++) {
            if (r->uses[e] != 1 || root_of(r->parent, r->edge[e][0]) != best) continue;
            for (int k = 0; k < 2; k++) {
                const int32_t n = r->edge[e][k];
                if (pass == 0) *top = fmax(*top, g->pos[n].y);
                if (pass == 1 && g->node_mark[n] == 0 && g->pos[n].y >= *top - depth) g->node_mark[n] = mark, ++*count;
            }
        }
}

tl_status tl_garment_mark_rim(tl_garment *g, double depth, int32_t mark, int32_t *count, double *top, tl_error *err)
{
    rims r = {0};
    *count = 0, *top = -(double)INFINITY;
    tl_status status = find_edges(g, &r, err);
    r.uses = TL_ALLOC(&g->alloc, int32_t, r.edge_count);
    r.parent = TL_ALLOC(&g->alloc, int32_t, g->node_count);
    r.size = TL_ALLOC(&g->alloc, int32_t, g->node_count);
    r.height = TL_ALLOC(&g->alloc, double, g->node_count);
    if (status == TL_OK && !(r.uses && r.parent && r.size && r.height)) status = tl_fail_memory(err, "a rim");
    if (status == TL_OK) mark_border(g, &r, depth, mark, count, top);
    TL_FREE(&g->alloc, r.uses, r.edge_count);
    TL_FREE(&g->alloc, r.parent, g->node_count);
    TL_FREE(&g->alloc, r.size, g->node_count);
    TL_FREE(&g->alloc, r.height, g->node_count);
    free_edges(g, &r);
    return status;
}

double tl_garment_mark_length(const tl_garment *g, int32_t mark, int32_t *nodes, tl_status *status, tl_error *err)
{
    rims r = {0};
    double sum = 0;
    *nodes = 0;
    for (int32_t n = 0; n < g->node_count; n++) *nodes += g->node_mark[n] == mark;
    *status = find_edges(g, &r, err);
    for (int32_t e = 0; *status == TL_OK && e < r.edge_count; e++) {
        const int32_t a = r.edge[e][0], b = r.edge[e][1];
        if (g->node_mark[a] == mark && g->node_mark[b] == mark) sum += tl_norm3(tl_sub3(g->pos[a], g->pos[b]));
    }
    free_edges(g, &r);
    return sum;
}
