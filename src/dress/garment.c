// dress/garment.c: the arrays of a garment, what is sewn to what, welding.
//
// Vertices that seams bring together form groups: two at a plain seam, more where seams meet. A group is known by its
// smallest vertex, found by joining pairs (union-find), so the outcome does not depend on the order of the seams.

#include "dress/garment.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static bool make_room(tl_garment *g)
{
    const tl_allocator *a = &g->alloc;
    g->pos = TL_ALLOC(a, tl_vec3, g->node_cap);
    g->node_mark = TL_CALLOC(a, int32_t, g->mark_cap);
    g->uv = TL_ALLOC(a, tl_vec2, g->vert_cap);
    g->vert_node = TL_ALLOC(a, int32_t, g->vert_cap);
    g->vert_panel = TL_ALLOC(a, int32_t, g->vert_cap);
    g->sewn = TL_ALLOC(a, int32_t, g->vert_cap);
    g->face = tl_alloc_bytes(a, (size_t)g->face_cap, sizeof *g->face);
    g->face_panel = TL_ALLOC(a, int32_t, g->face_cap);
    return g->pos && g->node_mark && g->uv && g->vert_node && g->vert_panel && g->sewn && g->face && g->face_panel;
}

void tl_garment_free(tl_garment *g)
{
    const tl_allocator *a = &g->alloc;
    TL_FREE(a, g->pos, g->node_cap);
    TL_FREE(a, g->node_mark, g->mark_cap);
    TL_FREE(a, g->uv, g->vert_cap);
    TL_FREE(a, g->vert_node, g->vert_cap);
    TL_FREE(a, g->vert_panel, g->vert_cap);
    TL_FREE(a, g->sewn, g->vert_cap);
    TL_FREE(a, g->face, g->face_cap);
    TL_FREE(a, g->face_panel, g->face_cap);
    *g = (tl_garment){.alloc = g->alloc};
}

tl_status tl_garment_alloc(const tl_allocator *alloc, int32_t nodes, int32_t verts, int32_t faces, tl_garment *out,
                           tl_error *err)
{
    *out = (tl_garment){.alloc = *alloc,
                        .node_count = nodes,
                        .vert_count = verts,
                        .face_count = faces,
                        .node_cap = nodes,
                        .mark_cap = nodes,
                        .vert_cap = verts,
                        .face_cap = faces};
    if (make_room(out)) return TL_OK;
    tl_garment_free(out);
    return tl_fail_memory(err, "a garment");
}

tl_status tl_garment_make(const tl_allocator *alloc, const tl_pattern_mesh *m, tl_garment *out, tl_error *err)
{
    const int32_t n = m->vert_count;
    TL_TRY(tl_garment_alloc(alloc, n, n, m->face_count, out, err));
    memcpy(out->pos, m->pos, (size_t)n * sizeof *m->pos);
    memcpy(out->uv, m->uv, (size_t)n * sizeof *m->uv);
    memcpy(out->face, m->face, (size_t)m->face_count * sizeof *m->face);
    for (int32_t i = 0; i < n; i++) out->vert_node[i] = out->sewn[i] = i;
    for (int32_t p = 0; p < m->panel_count; p++) {
        const tl_panel_mesh *panel = &m->panels[p];
        for (int32_t i = 0; i < panel->vert_count; i++) out->vert_panel[panel->vert + i] = panel->panel;
        for (int32_t i = 0; i < panel->face_count; i++) out->face_panel[panel->face + i] = panel->panel;
    }
    for (int32_t i = 0; i < m->pair_count; i++) {
        const int32_t a = root_of(out->sewn, m->pairs[i].a), b = root_of(out->sewn, m->pairs[i].b);
        out->sewn[a > b ? a : b] = a < b ? a : b;
    }
    for (int32_t i = 0; i < n; i++) out->sewn[i] = root_of(out->sewn, i);
    return TL_OK;
}

// Vertices on one node are sewn: the first of them stands for all.
tl_status tl_garment_find_sewn(tl_garment *g, tl_error *err)
{
    int32_t *first = TL_ALLOC(&g->alloc, int32_t, g->node_count);
    if (!first) return tl_fail_memory(err, "seams");
    for (int32_t n = 0; n < g->node_count; n++) first[n] = -1;
    for (int32_t v = 0; v < g->vert_count; v++) {
        int32_t *f = &first[g->vert_node[v]];
        if (*f < 0) *f = v;
        g->sewn[v] = *f;
    }
    TL_FREE(&g->alloc, first, g->node_count);
    return TL_OK;
}

tl_status tl_garment_copy(const tl_garment *g, tl_garment *out, tl_error *err)
{
    TL_TRY(tl_garment_alloc(&g->alloc, g->node_count, g->vert_count, g->face_count, out, err));
    memcpy(out->pos, g->pos, (size_t)g->node_count * sizeof *g->pos);
    memcpy(out->node_mark, g->node_mark, (size_t)g->node_count * sizeof *g->node_mark);
    memcpy(out->uv, g->uv, (size_t)g->vert_count * sizeof *g->uv);
    memcpy(out->vert_node, g->vert_node, (size_t)g->vert_count * sizeof *g->vert_node);
    memcpy(out->vert_panel, g->vert_panel, (size_t)g->vert_count * sizeof *g->vert_panel);
    memcpy(out->sewn, g->sewn, (size_t)g->vert_count * sizeof *g->sewn);
    memcpy(out->face, g->face, (size_t)g->face_count * sizeof *g->face);
    memcpy(out->face_panel, g->face_panel, (size_t)g->face_count * sizeof *g->face_panel);
    return TL_OK;
}

int32_t tl_garment_leave_open(tl_garment *g, double limit, tl_error *err)
{
    uint8_t *wide = TL_CALLOC(&g->alloc, uint8_t, g->vert_count);
    int32_t opened = 0;
    if (!wide) return tl_fail_memory(err, "seams"), -1;
    for (int32_t v = 0; v < g->vert_count; v++) {
        const int32_t r = g->sewn[v];
        if (tl_norm3(tl_sub3(g->pos[g->vert_node[v]], g->pos[g->vert_node[r]])) > limit) wide[r] = 1;
    }
    for (int32_t v = 0; v < g->vert_count; v++)
        if (wide[g->sewn[v]] && g->sewn[v] != v) opened++;
    for (int32_t v = g->vert_count - 1; v >= 0; v--)  // the root of a group is its smallest: last
        if (wide[g->sewn[v]]) g->sewn[v] = v;
    TL_FREE(&g->alloc, wide, g->vert_count);
    return opened;
}

tl_status tl_garment_weld(tl_garment *g, double *moved, tl_error *err)
{
    const int32_t n = g->vert_count;
    if (moved) *moved = 0;
    tl_vec3 *sum = TL_CALLOC(&g->alloc, tl_vec3, n);
    int32_t *count = TL_CALLOC(&g->alloc, int32_t, n);
    int32_t *node = TL_ALLOC(&g->alloc, int32_t, n), *mark = TL_CALLOC(&g->alloc, int32_t, n);
    const bool room = sum && count && node && mark;
    int32_t nodes = 0;
    for (int32_t v = 0; room && v < n; v++) {
        const int32_t r = g->sewn[v];  // r <= v
        sum[r] = tl_add3(sum[r], g->pos[g->vert_node[v]]), count[r]++;
        if (g->node_mark[g->vert_node[v]] > mark[r]) mark[r] = g->node_mark[g->vert_node[v]];
        node[v] = r == v ? nodes++ : node[r];
    }
    for (int32_t v = 0; room && v < n; v++) {
        const int32_t r = g->sewn[v];
        const double way = tl_norm3(tl_sub3(tl_mul3(1.0 / count[r], sum[r]), g->pos[g->vert_node[v]]));
        if (moved) *moved = fmax(*moved, way);
    }
    for (int32_t v = 0; room && v < n; v++) {
        if (g->sewn[v] == v) g->pos[node[v]] = tl_mul3(1.0 / count[v], sum[v]), g->node_mark[node[v]] = mark[v];
        g->vert_node[v] = node[v];
    }
    if (room) g->node_count = nodes;
    TL_FREE(&g->alloc, sum, n);
    TL_FREE(&g->alloc, count, n);
    TL_FREE(&g->alloc, node, n);
    TL_FREE(&g->alloc, mark, n);
    return room ? TL_OK : tl_fail_memory(err, "welding seams");
}

tl_gap tl_garment_gap(const tl_garment *g, const int32_t *turns, int32_t turn)
{
    tl_gap out = {0, 0, -1};
    int32_t sewn = 0;
    for (int32_t v = 0; v < g->vert_count; v++) {
        if (g->sewn[v] == v || (turns && turns[v] > turn)) continue;
        const double gap = tl_norm3(tl_sub3(g->pos[g->vert_node[v]], g->pos[g->vert_node[g->sewn[v]]]));
        out.mean += gap, sewn++;
        if (out.vert < 0 || gap > out.widest) out.widest = gap, out.vert = v;
    }
    if (sewn > 0) out.mean /= sewn;
    return out;
}

#define LEVEL 0.5     // rise of a gap, of its length
#define AT_ONCE 0.02  // [m] gaps that are sewn at the first turn in any case

void tl_garment_turns(const tl_garment *g, int32_t *turns)
{
    for (int32_t v = 0; v < g->vert_count; v++) turns[v] = 0;
    for (int32_t v = 0; v < g->vert_count; v++) {
        const int32_t r = g->sewn[v];
        const tl_vec3 gap = tl_sub3(g->pos[g->vert_node[v]], g->pos[g->vert_node[r]]);
        const double length = tl_norm3(gap);
        if (g->vert_panel[v] != g->vert_panel[r] && length > AT_ONCE && fabs(gap.y) > LEVEL * length) turns[r] = 1;
    }
    for (int32_t v = 0; v < g->vert_count; v++) turns[v] = turns[g->sewn[v]];
}

void tl_garment_threads(const tl_garment *g, const tl_vec3 *pos, const double stiffness[2], double reach,
                        const tl_threads *t)
{
    const int32_t n = g->vert_count;  // a node each
    for (int32_t v = 0; v < n; v++) t->stiffness[v] = 0, t->to[v] = (tl_vec3){0, 0, 0}, t->top[v] = pos[v].y;
    for (int32_t v = 0; v < n; v++) {  // counts in the stiffness, sums in the places
        const int32_t r = g->sewn[v];
        t->to[r] = tl_add3(t->to[r], pos[v]);
        t->stiffness[r] += 1;
        t->top[r] = fmax(t->top[r], pos[v].y);
    }
    for (int32_t v = n - 1; v >= 0; v--) {  // the group's own vertex is its smallest: last
        const int32_t r = g->sewn[v];
        const double count = t->stiffness[r];
        const bool is_sewn = v != r || count > 1;
        tl_vec3 aim = tl_mul3(1 / count, t->to[r]);
        if (is_sewn && t->top[r] < t->shoulders) aim.y = t->top[r];
        const tl_vec3 way = tl_sub3(aim, pos[v]);
        const double length = tl_norm3(way);
        t->to[v] = is_sewn ? tl_madd3(pos[v], length > reach ? reach / length : 1, way) : pos[v];
        t->stiffness[v] = is_sewn ? stiffness[t->turn[v]] : 0;
    }
}
