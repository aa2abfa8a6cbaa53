// sim/spring_cloth.c: the active mesh of edge trees as arrays of the spring solver and of views, and back.

#include "sim/spring_cloth.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "toile/sim.h"

enum { TETHER_DEPTH = 2 };  // levels below an edge that a tether spans: more gains nothing (docs/notes/realtime.md)

// ---- arrays ---------------------------------------------------------------------------------------------------

typedef struct array {
    void **ptr;
    size_t size;
} array;
#define ARRAY(p)                                                                                                       \
    {                                                                                                                  \
        (void **)&(p), sizeof *(p)                                                                                     \
    }
enum { BY_ID = 0, BY_NODE = 10, BY_VERT = 19, BY_TRI = 23, BY_EDGE = 26, BY_TETHER = 29, BY_END = 31 };

static void list_arrays(spring_cloth *c, array out[SPRING_ARRAYS])
{
    const array all[SPRING_ARRAYS] = {
        ARRAY(c->pos),        ARRAY(c->vel),       ARRAY(c->normal),     ARRAY(c->base),       ARRAY(c->dense),
        ARRAY(c->label),      ARRAY(c->near),      ARRAY(c->visible),    ARRAY(c->link),       ARRAY(c->front),
        ARRAY(c->id),         ARRAY(c->hint),      ARRAY(c->node_pos),   ARRAY(c->node_vel),   ARRAY(c->target),
        ARRAY(c->accel),      ARRAY(c->node_uv),   ARRAY(c->held),       ARRAY(c->node_label), ARRAY(c->uv),
        ARRAY(c->vert_node),  ARRAY(c->vert_next), ARRAY(c->vert_chart), ARRAY(c->face),       ARRAY(c->tri),
        ARRAY(c->face_label), ARRAY(c->edge),      ARRAY(c->edge_tri),   ARRAY(c->edge_level), ARRAY(c->tether),
        ARRAY(c->tether_rest)};
    memcpy(out, all, sizeof all);
}

static tl_status reserve(spring_cloth *c, int first, int end, int64_t need, tl_error *err)
{
    array all[SPRING_ARRAYS];
    list_arrays(c, all);
    for (int k = first; k < end; k++)
        if (!tl_grow_bytes(&c->alloc, all[k].ptr, &c->cap[k], need > 0 ? need : 1, all[k].size))
            return tl_fail_memory(err, "a cloth of springs");
    return TL_OK;
}

// Ids grow by chunks.
tl_status spring_cloth_reserve_ids(spring_cloth *c, int32_t more, tl_error *err)
{
    return reserve(c, BY_ID, BY_NODE, (int64_t)tl_trees_count(c->trees).vert_slots + more + 256, err);
}

tl_status spring_cloth_reserve_hints(spring_cloth *c, int32_t body_count, tl_error *err)
{
    return reserve(c, BY_NODE + 1, BY_NODE + 2, (int64_t)c->node_count * body_count, err);
}

void spring_cloth_destroy(spring_cloth *c)
{
    if (!c) return;
    const tl_allocator alloc = c->alloc;
    tl_trees_destroy(c->trees);
    tl_springs_destroy(c->springs);
    array all[SPRING_ARRAYS];
    list_arrays(c, all);
    for (int k = 0; k < SPRING_ARRAYS; k++) tl_free_bytes(&alloc, *all[k].ptr, (size_t)c->cap[k], all[k].size);
    TL_FREE(&alloc, c->tri_uv, c->tri_uv_cap);
    TL_FREE(&alloc, c->root, c->root_cap);
    TL_FREE(&alloc, c->fabric, c->fabric_count);
    TL_FREE(&alloc, c->base_label, c->base_tris);
    TL_FREE(&alloc, c->base_chart, c->base_tris);
    TL_FREE(&alloc, c->base_held, c->base_verts);
    TL_FREE(&alloc, c, 1);
}

// ---- making one -----------------------------------------------------------------------------------------------

static tl_status make_trees(spring_cloth *c, const tl_mesh *mesh, tl_error *err)
{
    const int32_t count = c->base_tris;
    int32_t(*tri)[3] = tl_alloc_bytes(&c->alloc, (size_t)count, sizeof *tri);
    tl_vec2(*uv)[3] = tl_alloc_bytes(&c->alloc, (size_t)count, sizeof *uv);
    tl_status status = tri && uv ? TL_OK : tl_fail_memory(err, "edge trees");
    for (int32_t f = 0; f < count && status == TL_OK; f++)
        for (int k = 0; k < 3; k++) tri[f][k] = tl_face_node(mesh, f, k), uv[f][k] = mesh->uv[mesh->face_vert[f][k]];
    const tl_trees_def def = {.tri = (const int32_t(*)[3])tri,
                              .uv = (const tl_vec2(*)[3])uv,
                              .tri_count = count,
                              .vert_count = mesh->slots[TL_NODES].count};
    if (status == TL_OK) status = tl_trees_create(&c->alloc, &def, &c->trees, err);
    tl_free_bytes(&c->alloc, tri, (size_t)count, sizeof *tri);
    tl_free_bytes(&c->alloc, uv, (size_t)count, sizeof *uv);
    return status;
}

static tl_status copy_trees(spring_cloth *c, const spring_cloth *like, tl_error *err)
{
    const int32_t count = like->base_tris;
    int32_t(*tri)[3] = tl_alloc_bytes(&c->alloc, (size_t)count, sizeof *tri);
    tl_vec2(*uv)[3] = tl_alloc_bytes(&c->alloc, (size_t)count, sizeof *uv);
    tl_status status = tri && uv ? TL_OK : tl_fail_memory(err, "edge trees");
    for (int32_t t = 0; t < count && status == TL_OK; t++) {  // those of the base keep their ids and their corners
        memcpy(tri[t], tl_trees_tri_at(like->trees, t)->vert, sizeof *tri);
        memcpy(uv[t], tl_trees_tri_at(like->trees, t)->uv, sizeof *uv);
    }
    const tl_trees_def def = {.tri = (const int32_t(*)[3])tri,
                              .uv = (const tl_vec2(*)[3])uv,
                              .tri_count = count,
                              .vert_count = like->base_verts};
    if (status == TL_OK) status = tl_trees_create(&c->alloc, &def, &c->trees, err);
    tl_free_bytes(&c->alloc, tri, (size_t)count, sizeof *tri);
    tl_free_bytes(&c->alloc, uv, (size_t)count, sizeof *uv);
    return status;
}

static tl_status fill_in_copy(spring_cloth *c, const spring_cloth *like, tl_error *err)
{
    c->base_tris = like->base_tris, c->base_verts = like->base_verts;
    c->base_label = TL_ALLOC(&c->alloc, int32_t, c->base_tris);
    c->base_chart = TL_ALLOC(&c->alloc, int32_t, c->base_tris);
    c->fabric = TL_ALLOC(&c->alloc, tl_material, c->fabric_count);
    c->base_held = TL_CALLOC(&c->alloc, uint8_t, c->base_verts);
    if (!c->base_label || !c->base_chart || !c->base_held || !c->fabric)
        return tl_fail_memory(err, "a cloth of springs");
    memcpy(c->base_label, like->base_label, (size_t)c->base_tris * sizeof *c->base_label);
    memcpy(c->base_chart, like->base_chart, (size_t)c->base_tris * sizeof *c->base_chart);
    c->sewn = like->sewn;
    memcpy(c->fabric, like->fabric, (size_t)c->fabric_count * sizeof *c->fabric);
    TL_TRY(copy_trees(c, like, err));
    return tl_springs_create(&c->alloc, &c->def.springs, &c->springs, err);
}

tl_status spring_cloth_copy_base(const spring_cloth *like, spring_cloth **out, tl_error *err)
{
    *out = NULL;
    spring_cloth *c = TL_CALLOC(&like->alloc, spring_cloth, 1);
    if (!c) return tl_fail_memory(err, "a cloth of springs");
    c->alloc = like->alloc, c->def = like->def, c->fabric_count = like->fabric_count;
    const tl_status status = fill_in_copy(c, like, err);
    if (status == TL_OK)
        *out = c;
    else
        spring_cloth_destroy(c);
    return status;
}

static tl_status fill_in(spring_cloth *c, const tl_mesh *mesh, const tl_material *fabric, tl_error *err)
{
    for (int d = 0; d < TL_DOMAIN_COUNT; d++)
        if (mesh->slots[d].live != mesh->slots[d].count)
            return tl_fail(err, TL_BAD_ARG, "springs: the mesh has been changed and has gaps");
    const int32_t nodes = mesh->slots[TL_NODES].count;
    c->base_tris = mesh->slots[TL_FACES].count, c->base_verts = nodes;
    c->base_label = TL_ALLOC(&c->alloc, int32_t, c->base_tris);
    c->base_chart = TL_ALLOC(&c->alloc, int32_t, c->base_tris);
    c->fabric = TL_ALLOC(&c->alloc, tl_material, c->fabric_count);
    c->base_held = TL_CALLOC(&c->alloc, uint8_t, c->base_verts);
    if (!c->base_label || !c->base_chart || !c->base_held || !c->fabric)
        return tl_fail_memory(err, "a cloth of springs");
    memcpy(c->base_label, mesh->face_label, (size_t)c->base_tris * sizeof *c->base_label);
    memcpy(c->fabric, fabric, (size_t)c->fabric_count * sizeof *fabric);
    TL_TRY(tl_trees_charts(&c->alloc, (const int32_t(*)[3])mesh->face_vert, c->base_tris, mesh->slots[TL_VERTS].count,
                           c->base_chart, err));
    for (int32_t f = 1; f < c->base_tris; f++) c->sewn = c->sewn || c->base_chart[f] != c->base_chart[0];
    TL_TRY(make_trees(c, mesh, err));
    TL_TRY(tl_springs_create(&c->alloc, &c->def.springs, &c->springs, err));
    TL_TRY(reserve(c, BY_ID, BY_NODE, tl_trees_count(c->trees).vert_slots, err));
    for (int32_t v = 0; v < nodes; v++) {
        c->pos[v] = c->base[v] = mesh->pos[v], c->vel[v] = mesh->vel[v], c->normal[v] = (tl_vec3){0, 1, 0};
        c->label[v] = mesh->node_label[v];
        c->near[v] = 0, c->visible[v] = 1, c->link[v].body = -1;
    }
    return spring_cloth_rebuild(c, err);
}

tl_status spring_cloth_create(const tl_allocator *alloc, const tl_mesh *mesh, const tl_material *fabric,
                              int32_t fabric_count, const spring_cloth_def *def, spring_cloth **out, tl_error *err)
{
    *out = NULL;
    TL_TRY(tl_trees_check_rules(&def->rules, err));
    spring_cloth *c = TL_CALLOC(alloc, spring_cloth, 1);
    if (!c) return tl_fail_memory(err, "a cloth of springs");
    c->alloc = *alloc, c->def = *def, c->fabric_count = fabric_count;
    c->split_angle = def->rules.split_angle, c->join_angle = def->rules.join_angle;
    const tl_status status = fill_in(c, mesh, fabric, err);
    if (status == TL_OK)
        *out = c;
    else
        spring_cloth_destroy(c);
    return status;
}

tl_status spring_cloth_set_fabric(spring_cloth *c, const tl_material *fabric, tl_error *err)
{
    memcpy(c->fabric, fabric, (size_t)c->fabric_count * sizeof *fabric);
    spring_cloth_gather(c);
    return spring_cloth_rebuild(c, err);
}

void spring_cloth_retune(spring_cloth *c, const spring_cloth_def *def)
{
    c->def = *def;
    c->split_angle = def->rules.split_angle, c->join_angle = def->rules.join_angle;
}

// ---- the active mesh ------------------------------------------------------------------------------------------

// Which triangle of the base each one comes from.
static tl_status find_roots(spring_cloth *c, tl_error *err)
{
    const tl_trees_counts n = tl_trees_count(c->trees);
    if (!TL_GROW(&c->alloc, c->root, c->root_cap, n.tri_slots)) return tl_fail_memory(err, "a cloth of springs");
    for (int32_t t = 0; t < c->base_tris; t++) c->root[t] = t;
    // Children may have lower ids than their parents: level by level.
    for (int level = 0; level <= TL_TREES_MAX_LEVEL; level++) {
        bool deeper = false;
        for (int32_t t = 0; t < n.tri_slots; t++) {
            const tl_trees_tri *tri = tl_trees_tri_at(c->trees, t);
            if (!(tri->flags & TL_TREES_TRI_LIVE) || tri->level != level || tri->config == 0) continue;
            deeper = true;
            for (int k = 0; k < 4; k++)
                if (tri->inner_tri[k] != TL_TREES_NONE) c->root[tri->inner_tri[k]] = c->root[t];
        }
        if (!deeper) break;
    }
    return TL_OK;
}

// One vertex of the view per node, panel and place in the material: two on a seam.
static int32_t view_vert(spring_cloth *c, int32_t node, int32_t chart, tl_vec2 uv)
{
    for (int32_t v = node; v >= 0; v = c->vert_next[v])
        if (c->uv[v].x == uv.x && c->uv[v].y == uv.y && c->vert_chart[v] == chart) return v;
    const int32_t v = c->vert_count++;
    c->uv[v] = uv, c->vert_node[v] = node, c->vert_chart[v] = chart;
    c->vert_next[v] = c->vert_next[node], c->vert_next[node] = v;
    return v;
}

static tl_status take_tris(spring_cloth *c, const tl_trees_lists *l, tl_error *err)
{
    c->vert_count = c->node_count;
    for (int32_t n = 0; n < c->node_count; n++) c->vert_next[n] = -1, c->vert_node[n] = n, c->uv[n].x = NAN;
    const bool roots = c->fabric_count > 1 || c->sewn;
    if (roots) TL_TRY(find_roots(c, err));
    for (int32_t i = 0; i < l->tri_count; i++) {
        const tl_trees_tri *t = tl_trees_tri_at(c->trees, l->tri[i]);
        const int32_t chart = roots ? c->base_chart[c->root[l->tri[i]]] : c->base_chart[0];
        for (int k = 0; k < 3; k++) {
            const int32_t n = c->dense[t->vert[k]];
            if (isnan(c->uv[n].x)) c->uv[n] = c->node_uv[n] = t->uv[k], c->vert_chart[n] = chart;
            c->tri[i][k] = n, c->tri_uv[i][k] = t->uv[k];
            c->face[i][k] = view_vert(c, n, chart, t->uv[k]);
        }
        c->face_label[i] = c->fabric_count > 1 ? c->base_label[c->root[l->tri[i]]] : 0;
    }
    c->tri_count = l->tri_count;
    return TL_OK;
}

// Levels below an edge, up to one more than a tether may span.
static int depth_below(const tl_trees *m, int32_t e, int left)
{
    const tl_trees_edge *edge = tl_trees_edge_at(m, e);
    if (edge->mid == TL_TREES_NONE) return 0;
    if (left == 0) return 1;
    const int a = depth_below(m, edge->child[0], left - 1), b = depth_below(m, edge->child[1], left - 1);
    return 1 + (a > b ? a : b);
}

static void take_edges(spring_cloth *c, const tl_trees_lists *l)
{
    for (int32_t i = 0; i < l->edge_count; i++) {
        const tl_trees_leaf_edge *e = &l->edge[i];
        c->edge[i][0] = c->dense[e->a], c->edge[i][1] = c->dense[e->b];
        c->edge_tri[i][0] = e->tri[0], c->edge_tri[i][1] = e->tri[1];
        c->edge_level[i] = tl_trees_edge_at(c->trees, e->edge)->level;
    }
    c->edge_count = l->edge_count, c->tether_count = 0;
    if (c->def.springs.method != TL_SPRINGS_XPBD) return;
    const int32_t slots = tl_trees_count(c->trees).edge_slots;
    for (int32_t i = tl_trees_next_edge(c->trees, 0); i < slots; i = tl_trees_next_edge(c->trees, i + 1)) {
        const tl_trees_edge *e = tl_trees_edge_at(c->trees, i);
        if (e->mid == TL_TREES_NONE) continue;
        if (depth_below(c->trees, i, TETHER_DEPTH) > TETHER_DEPTH) continue;
        c->tether[c->tether_count][0] = c->dense[e->a], c->tether[c->tether_count][1] = c->dense[e->b];
        c->tether_rest[c->tether_count++] = tl_trees_rest_length(c->trees, i);
    }
}

static void take_nodes(spring_cloth *c, const tl_trees_lists *l)
{
    c->node_count = l->vert_count;
    for (int32_t n = 0; n < l->vert_count; n++) {
        const int32_t v = l->vert[n];
        c->id[n] = v, c->dense[v] = n, c->node_label[n] = c->label[v];
        c->node_pos[n] = c->pos[v], c->node_vel[n] = c->vel[v];
        c->held[n] = 0, c->target[n] = c->pos[v], c->accel[n] = (tl_vec3){0, 0, 0};
    }
}

static tl_status set_springs(spring_cloth *c, tl_error *err)
{
    const tl_springs_mesh mesh = {.node_count = c->node_count,
                                  .tri_count = c->tri_count,
                                  .edge_count = c->edge_count,
                                  .tri = (const int32_t(*)[3])c->tri,
                                  .uv = (const tl_vec2(*)[3])c->tri_uv,
                                  .label = c->face_label,
                                  .edge = (const int32_t(*)[2])c->edge,
                                  .edge_tri = (const int32_t(*)[2])c->edge_tri,
                                  .edge_level = c->edge_level,
                                  .tether = (const int32_t(*)[2])c->tether,
                                  .tether_rest = c->tether_rest,
                                  .tether_count = c->tether_count,
                                  .fabric = c->fabric,
                                  .fabric_count = c->fabric_count};
    TL_TRY(tl_springs_set_mesh(c->springs, &mesh, err));
    double(*x)[4] = tl_springs_pos(c->springs), (*v)[4] = tl_springs_vel(c->springs);
    for (int32_t n = 0; n < c->node_count; n++) {
        memcpy(x[n], &c->node_pos[n], sizeof(tl_vec3)), x[n][3] = 0;
        memcpy(v[n], &c->node_vel[n], sizeof(tl_vec3)), v[n][3] = 0;
    }
    return TL_OK;
}

tl_status spring_cloth_rebuild(spring_cloth *c, tl_error *err)
{
    tl_trees_lists l;
    TL_TRY(tl_trees_build_lists(c->trees, &l, err));
    const int64_t splits = tl_trees_count(c->trees).edges - l.edge_count;
    TL_TRY(reserve(c, BY_NODE, BY_VERT, l.vert_count, err));
    TL_TRY(reserve(c, BY_VERT, BY_TRI, (int64_t)l.vert_count + 3 * (int64_t)l.tri_count, err));
    TL_TRY(reserve(c, BY_TRI, BY_EDGE, l.tri_count, err));
    TL_TRY(reserve(c, BY_EDGE, BY_TETHER, l.edge_count, err));
    TL_TRY(reserve(c, BY_TETHER, BY_END, splits, err));
    if (!TL_GROW(&c->alloc, c->tri_uv, c->tri_uv_cap, l.tri_count)) return tl_fail_memory(err, "a cloth of springs");
    take_nodes(c, &l);
    TL_TRY(take_tris(c, &l, err));
    take_edges(c, &l);
    c->hint_bodies = 0, c->fronts_valid = false;
    return set_springs(c, err);
}

void spring_cloth_gather(spring_cloth *c)
{
    for (int32_t n = 0; n < c->node_count; n++) c->pos[c->id[n]] = c->node_pos[n], c->vel[c->id[n]] = c->node_vel[n];
}

// ---- bytes ----------------------------------------------------------------------------------------------------

static void put(char *out, size_t *at, const void *data, size_t bytes)
{
    if (out) memcpy(out + *at, data, bytes);
    *at += bytes;
}

size_t spring_cloth_write(const spring_cloth *c, char *out)
{
    size_t at = tl_trees_write_bytes(c->trees, out);
    for (int32_t n = 0; n < c->node_count; n++) {
        const int32_t v = c->id[n];
        put(out, &at, &c->node_pos[n], sizeof(tl_vec3)), put(out, &at, &c->node_vel[n], sizeof(tl_vec3));
        put(out, &at, &c->base[v], sizeof(tl_vec3)), put(out, &at, &c->label[v], sizeof *c->label),
            put(out, &at, &c->near[v], 1);
        if (c->def.linked) put(out, &at, &c->link[v], sizeof *c->link);
    }
    const double angles[2] = {c->split_angle, c->join_angle};
    put(out, &at, angles, sizeof angles);
    return at;
}

tl_status spring_cloth_read(spring_cloth *c, const char *data, size_t size, size_t *used, tl_error *err)
{
    TL_TRY(tl_trees_read_bytes(c->trees, data, size, used, err));
    const tl_trees_counts count = tl_trees_count(c->trees);
    TL_TRY(reserve(c, BY_ID, BY_NODE, count.vert_slots, err));
    const size_t link = c->def.linked ? sizeof *c->link : 0, each = 3 * sizeof(tl_vec3) + sizeof(int32_t) + 1 + link,
                 angles = 2 * sizeof(double);
    if (size - *used < (size_t)count.verts * each + angles) return tl_fail(err, TL_BAD_INPUT, "saved state: too short");
    const char *at = data + *used;
    for (int32_t v = 0; v < count.vert_slots; v++) {
        if (!tl_trees_vert_at(c->trees, v)->live) continue;
        memcpy(&c->pos[v], at, sizeof(tl_vec3)), memcpy(&c->vel[v], at + sizeof(tl_vec3), sizeof(tl_vec3));
        memcpy(&c->base[v], at + 2 * sizeof(tl_vec3), sizeof(tl_vec3)), at += 3 * sizeof(tl_vec3);
        memcpy(&c->label[v], at, sizeof(int32_t));
        at += sizeof(int32_t);
        c->near[v] = (uint8_t)*at++, c->visible[v] = 1, c->normal[v] = (tl_vec3){0, 1, 0};
        c->link[v].body = -1;
        memcpy(&c->link[v], at, link);
        at += link;
    }
    memcpy(&c->split_angle, at, sizeof(double)), memcpy(&c->join_angle, at + sizeof(double), sizeof(double));
    *used = (size_t)(at - data) + angles;
    return spring_cloth_rebuild(c, err);
}

// ---- measures -------------------------------------------------------------------------------------------------

void spring_cloth_stretch(const spring_cloth *c, int32_t t, double out[2])
{
    const tl_vec2 *uv = c->tri_uv[t];
    const tl_vec2 a = tl_sub2(uv[1], uv[0]), b = tl_sub2(uv[2], uv[0]);
    const tl_vec3 p = tl_sub3(c->node_pos[c->tri[t][1]], c->node_pos[c->tri[t][0]]),
                  q = tl_sub3(c->node_pos[c->tri[t][2]], c->node_pos[c->tri[t][0]]);
    const double det = tl_cross2(a, b);
    const tl_vec3 u = tl_mul3(1 / det, tl_sub3(tl_mul3(b.y, p), tl_mul3(a.y, q))),
                  v = tl_mul3(1 / det, tl_sub3(tl_mul3(a.x, q), tl_mul3(b.x, p)));
    const double uu = tl_dot3(u, u), vv = tl_dot3(v, v), uv2 = tl_dot3(u, v), mean = 0.5 * (uu + vv),
                 swing = sqrt(0.25 * (uu - vv) * (uu - vv) + uv2 * uv2);
    out[0] = sqrt(mean + swing), out[1] = sqrt(fmax(0, mean - swing));
}
