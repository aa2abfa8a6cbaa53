// post/curved.c: a curved surface and its hierarchy: made, adapted, listed, given out.

#include "post/curved.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "post/curved_impl.h"

#define DEGREE (3.14159265358979323846 / 180)

tl_curved_def tl_curved_def_default(void)
{
    return (tl_curved_def){.levels = 3,
                           .bulge = {0, 0.55, 0.55, 0.2},
                           .compress = 1,
                           .cap = 2,
                           .split_angle = 8 * DEGREE,
                           .join_angle = 6 * DEGREE,
                           .split_length = 0.96,
                           .join_length = 0.98,
                           .level_factor = 0.98,
                           .rejoin_wait = 2};
}

static tl_trees_rules rules_of(const tl_curved_def *d)
{
    tl_trees_rules r = tl_trees_rules_default();
    r.mask = TL_TREES_BY_CURVATURE | TL_TREES_BY_LEVEL_LENGTH | TL_TREES_WHOLE | (d->cull ? TL_TREES_BY_VISIBILITY : 0);
    r.max_level = r.collision_level = d->levels;
    r.split_angle = d->split_angle, r.join_angle = d->join_angle;
    r.split_length = d->split_length, r.join_length = d->join_length, r.level_factor = d->level_factor;
    r.rejoin_wait = d->rejoin_wait;
    return r;
}

tl_status tl_curved_check(const tl_curved_def *d, tl_error *err)
{
    if (d->levels < 0 || d->levels > TL_CURVED_MOST_LEVELS)
        return tl_fail(err, TL_BAD_ARG, "curved: %d levels, must be 0 to %d", d->levels, TL_CURVED_MOST_LEVELS);
    if (!isfinite(d->bulge[0] + d->bulge[1] + d->bulge[2] + d->bulge[3]) || !(d->compress >= 0 && d->compress < 100))
        return tl_fail(err, TL_BAD_ARG, "curved: bulge %g %g %g %g, compress %g: must be finite, the last 0 to 100",
                       d->bulge[0], d->bulge[1], d->bulge[2], d->bulge[3], d->compress);
    if (!(d->cap >= 1 && d->cap < 100)) return tl_fail(err, TL_BAD_ARG, "curved: cap %g, must be 1 to 100", d->cap);
    const tl_trees_rules rules = rules_of(d);
    return tl_trees_check_rules(&rules, err);
}

// ---- making one -----------------------------------------------------------------------------------------------

// Room for `count` vertex ids, and no fewer than there are.
static tl_status reserve_ids(tl_curved *c, int64_t count, tl_error *err)
{
    int32_t *cap = c->id_cap;
    if (!TL_GROW(&c->alloc, c->flat, cap[0], count) || !TL_GROW(&c->alloc, c->pos, cap[1], count) ||
        !TL_GROW(&c->alloc, c->smooth, cap[2], count) || !TL_GROW(&c->alloc, c->visible, cap[3], count) ||
        !TL_GROW(&c->alloc, c->dense, cap[4], count) || !TL_GROW(&c->alloc, c->order, cap[5], count))
        return tl_fail_memory(err, "a curved surface");
    return TL_OK;
}

static tl_status copy_base(tl_curved *c, const tl_fine_mesh *coarse, tl_error *err)
{
    const int32_t faces = c->base_faces = coarse->face_count;
    c->base_nodes = coarse->node_count, c->base_verts = coarse->vert_count;
    c->base_node = tl_alloc_bytes(&c->alloc, (size_t)faces, sizeof *c->base_node);
    c->base_vert = tl_alloc_bytes(&c->alloc, (size_t)faces, sizeof *c->base_vert);
    c->base_uv = TL_ALLOC(&c->alloc, tl_vec2, c->base_verts);
    c->base_chart = TL_ALLOC(&c->alloc, int32_t, faces);
    if (!c->base_node || !c->base_vert || !c->base_uv || !c->base_chart) return tl_fail_memory(err, "a curved surface");
    if (faces) memcpy(c->base_node, coarse->node, (size_t)faces * sizeof *c->base_node);
    if (faces) memcpy(c->base_vert, coarse->vert, (size_t)faces * sizeof *c->base_vert);
    if (c->base_verts) memcpy(c->base_uv, coarse->uv, (size_t)c->base_verts * sizeof *c->base_uv);
    TL_TRY(tl_trees_charts(&c->alloc, (const int32_t(*)[3])c->base_vert, faces, c->base_verts, c->base_chart, err));
    double area = 0;
    for (int32_t f = 0; f < faces; f++) {
        const int32_t *v = c->base_vert[f];
        area +=
            fabs(tl_cross2(tl_sub2(c->base_uv[v[1]], c->base_uv[v[0]]), tl_sub2(c->base_uv[v[2]], c->base_uv[v[0]])));
    }
    if (faces > 0 && !(area > 0))
        return tl_fail(err, TL_BAD_INPUT,
                       "a curved surface needs material coordinates in metres (vt in OBJ files): how far cloth is "
                       "pushed together is measured against them; take another scheme");
    return TL_OK;
}

static tl_status fill_in(tl_curved *c, const tl_fine_mesh *coarse, tl_error *err)
{
    TL_TRY(copy_base(c, coarse, err));
    tl_vec2(*uv)[3] = tl_alloc_bytes(&c->alloc, (size_t)c->base_faces, sizeof *uv);
    if (!uv) return tl_fail_memory(err, "a curved surface");
    for (int32_t f = 0; f < c->base_faces; f++)
        for (int k = 0; k < 3; k++) uv[f][k] = c->base_uv[c->base_vert[f][k]];
    const tl_trees_def def = {.tri = (const int32_t(*)[3])c->base_node,
                              .uv = (const tl_vec2(*)[3])uv,
                              .tri_count = c->base_faces,
                              .vert_count = c->base_nodes};
    const tl_status status = tl_trees_create(&c->alloc, &def, &c->trees, err);
    tl_free_bytes(&c->alloc, uv, (size_t)c->base_faces, sizeof *uv);
    if (status != TL_OK) return status;
    const int32_t steps = 1 << c->def.levels;
    for (int32_t i = 0; i <= steps; i++) tl_curved_weights((double)i / steps, c->table[i]);
    TL_TRY(reserve_ids(c, tl_trees_count(c->trees).vert_slots, err));
    for (int32_t v = 0; v < c->base_nodes; v++) c->order[v] = v;
    c->order_count = c->base_nodes;
    c->stale = true;
    return TL_OK;
}

tl_status tl_curved_create(const tl_allocator *alloc, const tl_curved_def *def, const tl_fine_mesh *coarse,
                           tl_curved **out, tl_error *err)
{
    *out = NULL;
    TL_TRY(tl_curved_check(def, err));
    tl_curved *c = TL_CALLOC(alloc, tl_curved, 1);
    if (!c) return tl_fail_memory(err, "a curved surface");
    c->alloc = *alloc, c->def = *def;
    const tl_status status = fill_in(c, coarse, err);
    if (status == TL_OK)
        *out = c;
    else
        tl_curved_destroy(c);
    return status;
}

void tl_curved_destroy(tl_curved *c)
{
    if (!c) return;
    const tl_allocator a = c->alloc;
    tl_trees_destroy(c->trees);
    tl_free_bytes(&a, c->base_node, (size_t)c->base_faces, sizeof *c->base_node);
    tl_free_bytes(&a, c->base_vert, (size_t)c->base_faces, sizeof *c->base_vert);
    TL_FREE(&a, c->base_chart, c->base_faces);
    TL_FREE(&a, c->base_uv, c->base_verts);
    TL_FREE(&a, c->flat, c->id_cap[0]);
    TL_FREE(&a, c->pos, c->id_cap[1]);
    TL_FREE(&a, c->smooth, c->id_cap[2]);
    TL_FREE(&a, c->visible, c->id_cap[3]);
    TL_FREE(&a, c->dense, c->id_cap[4]);
    TL_FREE(&a, c->order, c->id_cap[5]);
    TL_FREE(&a, c->curve, c->curve_cap);
    TL_FREE(&a, c->point, c->point_cap);
    tl_free_bytes(&a, c->face, (size_t)c->face_cap[0], sizeof *c->face);
    TL_FREE(&a, c->source, c->face_cap[1]);
    TL_FREE(&a, c->level, c->face_cap[2]);
    TL_FREE(&a, c->leaf, c->face_cap[3]);
    TL_FREE(&a, c->out_pos, c->out_cap[0]);
    TL_FREE(&a, c->out_flat, c->out_cap[1]);
    TL_FREE(&a, c->out_smooth, c->out_cap[2]);
    TL_FREE(&a, c->out_normal, c->out_cap[3]);
    TL_FREE(&a, c, 1);
}

bool tl_curved_is_of(const tl_curved *c, const tl_fine_mesh *m)
{
    return m->node_count == c->base_nodes && m->face_count == c->base_faces && m->vert_count == c->base_verts &&
           memcmp(m->node, c->base_node, (size_t)m->face_count * sizeof *m->node) == 0 &&
           memcmp(m->vert, c->base_vert, (size_t)m->face_count * sizeof *m->vert) == 0 &&
           memcmp(m->uv, c->base_uv, (size_t)m->vert_count * sizeof *m->uv) == 0;
}

// ---- adapting -------------------------------------------------------------------------------------------------

static void vertex_made(void *self, int32_t v, int32_t a, int32_t b)
{
    tl_curved *c = self;
    c->flat[v] = c->pos[v] = tl_mul3(0.5, tl_add3(c->flat[a], c->flat[b]));
    c->smooth[v] = tl_unit3_or(tl_add3(c->smooth[a], c->smooth[b]), c->smooth[a]);
    c->visible[v] = c->visible[a] | c->visible[b];
}

static void look_from_eye(tl_curved *c)
{
    for (int32_t i = 0; i < c->order_count; i++) {
        const int32_t v = c->order[i];
        c->visible[v] = !c->def.cull || tl_dot3(c->smooth[v], tl_sub3(c->def.eye, c->flat[v])) > 0;
    }
}

// Vertices, coarse levels first: what comes of others comes after them.
static void sort_verts(tl_curved *c)
{
    const int32_t slots = tl_trees_count(c->trees).vert_slots;
    c->order_count = c->base_nodes;
    for (int level = 1, more = 1; more && level <= TL_CURVED_MOST_LEVELS; level++) {
        more = 0;
        for (int32_t v = 0; v < slots; v++) {
            const tl_trees_vert *vert = tl_trees_vert_at(c->trees, v);
            if (vert->live && vert->level == level) c->order[c->order_count++] = v, more = 1;
        }
    }
}

static tl_status split_all(tl_curved *c, int32_t level, tl_error *err)
{
    const int32_t slots = tl_trees_count(c->trees).edge_slots;
    TL_TRY(reserve_ids(c, (int64_t)tl_trees_count(c->trees).vert_slots + slots + 256, err));
    for (int32_t e = 0; e < slots; e++) {
        const tl_trees_edge *edge = tl_trees_edge_at(c->trees, e);
        int32_t v;
        if (!(edge->flags & TL_TREES_EDGE_LIVE) || !tl_trees_may_split(c->trees, e, level + 1)) continue;
        TL_TRY(tl_trees_split(c->trees, e, &v, err));
        vertex_made(c, v, edge->a, edge->b);
    }
    return tl_trees_commit(c->trees, (tl_trees_choice){0}, NULL, err);
}

tl_status tl_curved_adapt(tl_curved *c, tl_workers *workers, tl_error *err)
{
    if (!c->coarse) return tl_fail(err, TL_BAD_ARG, "curved: no positions yet");
    look_from_eye(c);
    tl_trees_report report = {0};
    if (c->def.uniform) {
        for (int32_t level = 0; level < c->def.levels; level++) TL_TRY(split_all(c, level, err));
    } else {
        const tl_trees_rules rules = rules_of(&c->def);
        tl_trees_sight sight = {
            .pos = c->flat, .normal = c->smooth, .visible = c->visible, .made = vertex_made, .self = c};
        int32_t splits;
        TL_TRY(tl_trees_decide(c->trees, &rules, &sight, workers, &splits, err));
        TL_TRY(reserve_ids(c, (int64_t)tl_trees_count(c->trees).vert_slots + splits + 256, err));
        sight.pos = c->flat, sight.normal = c->smooth, sight.visible = c->visible;
        TL_TRY(tl_trees_apply(c->trees, &rules, &sight, &report, err));
        if (report.splits + report.joins == 0) return TL_OK;
    }
    sort_verts(c);
    c->stale = true;
    return TL_OK;
}

// ---- lists ----------------------------------------------------------------------------------------------------

static tl_status add_point(tl_curved *c, int32_t vert, int32_t index, tl_error *err)
{
    if (!TL_GROW(&c->alloc, c->point, c->point_cap, (int64_t)c->point_count + 1))
        return tl_fail_memory(err, "a curved surface");
    c->point[c->point_count++] = (tl_curve_point){vert, index};
    return TL_OK;
}

// Vertices between the ends of an edge of a curve, from `lo` to `hi` in the table.
static tl_status add_points(tl_curved *c, int32_t e, int32_t lo, int32_t hi, tl_error *err)
{
    const tl_trees_edge *edge = tl_trees_edge_at(c->trees, e);
    if (edge->mid == TL_TREES_NONE) return TL_OK;
    const int32_t at = (lo + hi) / 2, first = edge->child[0], second = edge->child[1];
    TL_TRY(add_point(c, edge->mid, at, err));
    TL_TRY(add_points(c, first, lo, at, err));
    return add_points(c, second, at, hi, err);
}

// An edge of level l has 2^(levels - l) steps of the table left; those of the whole table are spread out.
static tl_status add_curve(tl_curved *c, int32_t e, tl_error *err)
{
    const tl_trees_edge *edge = tl_trees_edge_at(c->trees, e);
    if (edge->mid == TL_TREES_NONE) return TL_OK;
    if (!TL_GROW(&c->alloc, c->curve, c->curve_cap, (int64_t)c->curve_count + 1))
        return tl_fail_memory(err, "a curved surface");
    const int32_t first = c->point_count;
    TL_TRY(add_points(c, e, 0, 1 << c->def.levels, err));
    c->curve[c->curve_count++] = (tl_curve){edge->a, edge->b, e, first, c->point_count - first};
    return TL_OK;
}

// Base edges, then inner edges of triangles of level 0, 1, ...
static tl_status list_curves(tl_curved *c, tl_error *err)
{
    c->curve_count = c->point_count = 0;
    for (int32_t f = 0; f < c->base_faces; f++) {
        const tl_trees_tri *t = tl_trees_tri_at(c->trees, f);
        for (int k = 0; k < 3; k++)
            if (!(t->edge[k] & 1)) TL_TRY(add_curve(c, t->edge[k] / 2, err));
    }
    const int32_t slots = tl_trees_count(c->trees).tri_slots;
    for (int level = 0, more = 1; more && level < c->def.levels; level++) {
        more = 0;
        for (int32_t i = 0; i < slots; i++) {
            const tl_trees_tri *t = tl_trees_tri_at(c->trees, i);
            if (!(t->flags & TL_TREES_TRI_LIVE) || t->level != level || t->config == 0) continue;
            more = 1;
            for (int k = 0; k < 3; k++)
                if (t->inner_edge[k] != TL_TREES_NONE) TL_TRY(add_curve(c, t->inner_edge[k], err));
        }
    }
    return TL_OK;
}

// Leaves below a triangle, in the order of children.
static void add_faces(tl_curved *c, int32_t id, int32_t source)
{
    const tl_trees_tri *t = tl_trees_tri_at(c->trees, id);
    if (t->config == 0) {
        for (int k = 0; k < 3; k++) c->face[c->face_count][k] = c->dense[t->vert[k]];
        c->level[c->face_count] = t->level, c->leaf[c->face_count] = id;
        c->source[c->face_count++] = source;
        return;
    }
    for (int k = 0; k < 4; k++)
        if (t->inner_tri[k] != TL_TREES_NONE) add_faces(c, t->inner_tri[k], source);
}

tl_status tl_curved_plan(tl_curved *c, tl_error *err)
{
    const int32_t nodes = c->order_count, most = tl_trees_count(c->trees).tris;
    if (!TL_GROW(&c->alloc, c->out_pos, c->out_cap[0], nodes) ||
        !TL_GROW(&c->alloc, c->out_flat, c->out_cap[1], nodes) ||
        !TL_GROW(&c->alloc, c->out_smooth, c->out_cap[2], nodes) ||
        !TL_GROW(&c->alloc, c->out_normal, c->out_cap[3], nodes) ||
        !TL_GROW(&c->alloc, c->face, c->face_cap[0], most) || !TL_GROW(&c->alloc, c->source, c->face_cap[1], most) ||
        !TL_GROW(&c->alloc, c->level, c->face_cap[2], most) || !TL_GROW(&c->alloc, c->leaf, c->face_cap[3], most))
        return tl_fail_memory(err, "a curved surface");
    TL_TRY(list_curves(c, err));
    for (int32_t n = 0; n < nodes; n++) c->dense[c->order[n]] = n;
    c->node_count = nodes, c->face_count = 0;
    for (int32_t f = 0; f < c->base_faces; f++) add_faces(c, f, f);
    c->stale = false;
    return TL_OK;
}

tl_curved_view tl_curved_look(const tl_curved *c)
{
    return (tl_curved_view){c->out_pos, c->out_flat, c->out_normal, c->out_smooth, (const int32_t(*)[3])c->face,
                            c->source,  c->level,    c->node_count, c->face_count};
}

// ---- as a mesh ------------------------------------------------------------------------------------------------

/// Vertices of nodes as linked lists: those of the coarse cloth first.
typedef struct verts {
    tl_vec2 *uv;
    int32_t *head, *next, *chart, count;
} verts;

// One per node, panel and place in the material: two on a seam.
static int32_t vert_at(verts *v, int32_t node, int32_t chart, tl_vec2 uv)
{
    for (int32_t i = v->head[node]; i >= 0; i = v->next[i])
        if (v->uv[i].x == uv.x && v->uv[i].y == uv.y && v->chart[i] == chart) return i;
    const int32_t i = v->count++;
    v->uv[i] = uv, v->chart[i] = chart, v->next[i] = v->head[node], v->head[node] = i;
    return i;
}

static void list_base_verts(const tl_curved *c, verts *v)
{
    for (int32_t n = 0; n < c->node_count; n++) v->head[n] = -1;
    for (int32_t i = 0; i < c->base_verts; i++) v->uv[i] = c->base_uv[i], v->next[i] = -2;
    v->count = c->base_verts;
    for (int32_t f = 0; f < c->base_faces; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t i = c->base_vert[f][k], n = c->base_node[f][k];
            v->chart[i] = c->base_chart[f];
            if (v->next[i] == -2) v->next[i] = v->head[n], v->head[n] = i;
        }
}

tl_status tl_curved_mesh(const tl_curved *c, tl_fine_mesh *out, tl_vec3 **start, tl_error *err)
{
    const int64_t most = (int64_t)c->base_verts + 3 * (int64_t)c->face_count;
    verts v = {TL_ALLOC(&c->alloc, tl_vec2, most), TL_ALLOC(&c->alloc, int32_t, c->node_count),
               TL_ALLOC(&c->alloc, int32_t, most), TL_CALLOC(&c->alloc, int32_t, most), 0};
    int32_t(*vert)[3] = tl_alloc_bytes(&c->alloc, (size_t)c->face_count, sizeof *vert);
    *start = TL_ALLOC(&c->alloc, tl_vec3, c->node_count);
    *out = (tl_fine_mesh){.alloc = c->alloc};
    tl_status status =
        v.uv && v.head && v.next && v.chart && vert && *start ? TL_OK : tl_fail_memory(err, "a curved surface");
    if (status == TL_OK) {
        list_base_verts(c, &v);
        for (int32_t f = 0; f < c->face_count; f++)
            for (int k = 0; k < 3; k++)
                vert[f][k] = vert_at(&v, c->face[f][k], c->base_chart[c->source[f]],
                                     tl_trees_tri_at(c->trees, c->leaf[f])->uv[k]);
        memcpy(*start, c->out_flat, (size_t)c->node_count * sizeof **start);
        const tl_fine_input in = {.pos = c->out_pos,
                                  .node = (const int32_t(*)[3])c->face,
                                  .vert = (const int32_t(*)[3])vert,
                                  .uv = v.uv,
                                  .node_count = c->node_count,
                                  .vert_count = v.count,
                                  .face_count = c->face_count};
        status = tl_fine_mesh_create(c->alloc, &in, out, err);
    }
    if (status == TL_OK) memcpy(out->source, c->source, (size_t)c->face_count * sizeof *out->source);
    if (status != TL_OK) TL_FREE(&c->alloc, *start, c->node_count);
    TL_FREE(&c->alloc, v.uv, most);
    TL_FREE(&c->alloc, v.head, c->node_count);
    TL_FREE(&c->alloc, v.next, most);
    TL_FREE(&c->alloc, v.chart, most);
    tl_free_bytes(&c->alloc, vert, (size_t)c->face_count, sizeof *vert);
    return status;
}
