// dress/clear.c: which panels cross what, and where out is.
//
// Patterns place panels side by side in one plane, sharing points, or through each other where the author did not look.
// Out is the side of the panel's normal that points away from the trunk, as seen from above.

#include "dress/clear.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/intersect.h"
#include "math/vec3.h"
#include "mesh/edges.h"

#define DRAWN_IN 0.985    // of its size about its middle
#define PANEL_MOVE 0.006  // [m] in a round, from another panel
#define BODY_MOVE 0.012   // .. from the body
#define FARTHEST 0.35     // [m] of one panel in all
enum { MOST_ROUNDS = 60 };

typedef struct clearing {
    const tl_clear_def *def;
    tl_garment *g;
    int32_t panels;
    tl_vec3 *out, *moved;  // per panel: direction, way so far
    double *go;            // .. way of the round
    int32_t (*edge)[2];
    int32_t edge_count;
    int32_t (*body_edge)[2];
    int32_t body_edge_count;
    tl_bvh *tree, *body_tree;
    tl_arena arena;
    tl_crossings found;
} clearing;

static void find_directions(clearing *c)
{
    tl_garment *g = c->g;
    tl_vec3 trunk = {0, 0, 0}, *middle = c->moved;
    double *weight = c->go;
    for (int32_t i = 0; i < c->def->body_verts; i++) trunk = tl_add3(trunk, c->def->body[i]);
    trunk = tl_mul3(1.0 / fmax(1, c->def->body_verts), trunk);
    for (int32_t p = 0; p < c->panels; p++) c->out[p] = middle[p] = (tl_vec3){0, 0, 0}, weight[p] = 0;
    for (int32_t f = 0; f < g->face_count; f++) {
        const tl_vec3 a = g->pos[g->face[f][0]], b = g->pos[g->face[f][1]], d = g->pos[g->face[f][2]];
        const tl_vec3 n = tl_cross3(tl_sub3(b, a), tl_sub3(d, a));
        const int32_t p = g->face_panel[f];
        const double area = tl_norm3(n);
        c->out[p] = tl_add3(c->out[p], n);
        middle[p] = tl_madd3(middle[p], area / 3, tl_add3(a, tl_add3(b, d)));
        weight[p] += area;
    }
    for (int32_t p = 0; p < c->panels; p++) {
        if (weight[p] > 0) middle[p] = tl_mul3(1 / weight[p], middle[p]);
        const tl_vec3 n = tl_unit3_or(c->out[p], (tl_vec3){0, 0, 1});
        tl_vec3 away = tl_sub3(middle[p], trunk);
        if (fabs(n.y) < 0.7) away.y = 0;  // upright
        c->out[p] = tl_dot3(n, away) < 0 ? tl_mul3(-1, n) : n;
    }
    for (int32_t v = 0; v < g->vert_count; v++) {
        const tl_vec3 m = middle[g->vert_panel[v]];
        g->pos[v] = tl_madd3(m, DRAWN_IN, tl_sub3(g->pos[v], m));
    }
    for (int32_t p = 0; p < c->panels; p++) c->moved[p] = (tl_vec3){0, 0, 0};
}

static tl_status make_trees(clearing *c, tl_error *err)
{
    const tl_clear_def *d = c->def;
    const tl_garment *g = c->g;
    const tl_allocator *a = &g->alloc;
    TL_TRY(tl_unique_edges(a, (const int32_t(*)[3])g->face, g->face_count, &c->edge, &c->edge_count, NULL, err));
    TL_TRY(tl_unique_edges(a, d->body_face, d->body_faces, &c->body_edge, &c->body_edge_count, NULL, err));
    const tl_bvh_def def = tl_bvh_def_default();
    const tl_surface panels = {g->vert_count, g->face_count, c->edge_count, (const int32_t(*)[3])g->face,
                               (const int32_t(*)[2])c->edge},
                     body = {d->body_verts, d->body_faces, c->body_edge_count, d->body_face,
                             (const int32_t(*)[2])c->body_edge};
    TL_TRY(tl_bvh_create(a, &def, &panels, g->pos, &c->tree, err));
    TL_TRY(tl_bvh_create(a, &def, &body, d->body, &c->body_tree, err));
    tl_bvh_refit(c->body_tree, d->body, NULL, 0, 0, d->workers);
    return TL_OK;
}

// How far every panel goes in this round, and how many crossings there are.
static tl_status look(clearing *c, int64_t *count, tl_error *err)
{
    const tl_garment *g = c->g;
    *count = 0;
    for (int32_t p = 0; p < c->panels; p++) c->go[p] = 0;
    tl_bvh_refit(c->tree, g->pos, NULL, 0, 0, c->def->workers);
    tl_arena_reset(&c->arena);
    TL_TRY(tl_find_crossings(c->tree, NULL, &c->arena, c->def->workers, &c->found, err));
    *count += c->found.count;
    for (int32_t i = 0; i < c->found.count; i++) {
        const int32_t p = g->vert_panel[c->edge[c->found.items[i].edge][0]], q = g->face_panel[c->found.items[i].face];
        c->go[p > q ? p : q] = PANEL_MOVE;  // p == q cannot be: panels are flat
    }
    TL_TRY(tl_find_crossings(c->tree, c->body_tree, &c->arena, c->def->workers, &c->found, err));
    *count += c->found.count;
    for (int32_t i = 0; i < c->found.count; i++) {
        const tl_crossing *x = &c->found.items[i];
        const int32_t p = x->edge_surface == 0 ? g->vert_panel[c->edge[x->edge][0]] : g->face_panel[x->face];
        c->go[p] = BODY_MOVE;
    }
    return TL_OK;
}

static bool move(clearing *c)
{
    bool any = false;
    for (int32_t p = 0; p < c->panels; p++) {
        if (!(c->go[p] > 0) || tl_norm3(c->moved[p]) > FARTHEST) {
            c->go[p] = 0;
            continue;
        }
        c->moved[p] = tl_madd3(c->moved[p], c->go[p], c->out[p]);
        any = true;
    }
    for (int32_t v = 0; any && v < c->g->vert_count; v++) {
        const int32_t p = c->g->vert_panel[v];
        c->g->pos[v] = tl_madd3(c->g->pos[v], c->go[p], c->out[p]);
    }
    return any;
}

static tl_status clear_all(clearing *c, tl_clear_report *out, tl_error *err)
{
    if (!c->out || !c->moved || !c->go) return tl_fail_memory(err, "placing panels");
    find_directions(c);
    TL_TRY(make_trees(c, err));
    TL_TRY(look(c, &out->crossings_before, err));
    out->crossings_after = out->crossings_before;
    for (; out->crossings_after > 0 && out->rounds < MOST_ROUNDS && move(c); out->rounds++)
        TL_TRY(look(c, &out->crossings_after, err));
    for (int32_t p = 0; p < c->panels; p++) out->largest_move = fmax(out->largest_move, tl_norm3(c->moved[p]));
    return TL_OK;
}

tl_status tl_panels_clear(const tl_clear_def *def, tl_garment *g, tl_clear_report *out, tl_error *err)
{
    *out = (tl_clear_report){0};
    clearing c = {.def = def, .g = g};
    for (int32_t v = 0; v < g->vert_count; v++)
        if (g->vert_panel[v] >= c.panels) c.panels = g->vert_panel[v] + 1;
    c.out = TL_ALLOC(&g->alloc, tl_vec3, c.panels);
    c.moved = TL_ALLOC(&g->alloc, tl_vec3, c.panels);
    c.go = TL_ALLOC(&g->alloc, double, c.panels);
    tl_arena_init(&c.arena, g->alloc);
    tl_crossings_init(&c.found, g->alloc);
    const tl_status status = clear_all(&c, out, err);
    tl_bvh_destroy(c.tree), tl_bvh_destroy(c.body_tree);
    tl_crossings_free(&c.found);
    tl_arena_free(&c.arena);
    TL_FREE(&g->alloc, c.edge, c.edge_count);
    TL_FREE(&g->alloc, c.body_edge, c.body_edge_count);
    TL_FREE(&g->alloc, c.out, c.panels);
    TL_FREE(&g->alloc, c.moved, c.panels);
    TL_FREE(&g->alloc, c.go, c.panels);
    return status;
}
