// mesh/mesh_build.c: a mesh from plain arrays, every fault of the input named.
//
// Half-edge h = 3 f + k runs along face f from corner k+1 to k+2, opposite to corner k. Half-edges are
// dropped into buckets by their lower node and sorted there by the other one, so equal edges become
// neighbours: O(F) for bounded valence, O(F log F) always, and the result depends on the input alone.

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"
#include "math/vec3.h"
#include "mesh/mesh_internal.h"
#include "mesh/mesh_query.h"

typedef struct builder {
    const tl_mesh_def *def;
    const tl_allocator *alloc;
    int32_t half_count;
    int32_t *twin_first;  // [half_count] lowest half-edge on the same edge
    int32_t edge_count;
} builder;

static int32_t node_of(const tl_mesh_def *def, int32_t v) { return def->vert_node ? def->vert_node[v] : v; }
static int32_t half_from(const tl_mesh_def *def, int32_t h) { return node_of(def, def->face_vert[h / 3][(h + 1) % 3]); }
static int32_t half_to(const tl_mesh_def *def, int32_t h) { return node_of(def, def->face_vert[h / 3][(h + 2) % 3]); }

// ---- the arrays by themselves -----------------------------------------------------------------------------

static tl_status check_arrays(const tl_mesh_def *def, tl_error *err)
{
    if (def->face_count < 1 || def->face_count > INT32_MAX / 3)
        return tl_fail(err, TL_BAD_INPUT, "face_count %d, must be 1 to %d", def->face_count, INT32_MAX / 3);
    if (def->node_count < 3 || def->vert_count < 3)
        return tl_fail(err, TL_BAD_INPUT, "node_count %d and vert_count %d, a face needs 3 of each", def->node_count,
                       def->vert_count);
    if (!def->pos || !def->uv || !def->face_vert)
        return tl_fail(err, TL_BAD_ARG, "%s is NULL", !def->pos ? "pos" : !def->uv ? "uv" : "face_vert");
    if (!def->vert_node && def->vert_count != def->node_count)
        return tl_fail(err, TL_BAD_INPUT, "vert_node is NULL, so vert_count %d must be node_count %d", def->vert_count,
                       def->node_count);
    for (int32_t n = 0; n < def->node_count; n++) {
        if (!tl_finite3(def->pos[n]))
            return tl_fail(err, TL_BAD_INPUT, "node %d position (%g, %g, %g) is not finite", n, def->pos[n].x,
                           def->pos[n].y, def->pos[n].z);
        if (def->vel && !tl_finite3(def->vel[n]))
            return tl_fail(err, TL_BAD_INPUT, "node %d velocity (%g, %g, %g) is not finite", n, def->vel[n].x,
                           def->vel[n].y, def->vel[n].z);
    }
    for (int32_t v = 0; v < def->vert_count; v++) {
        if (!isfinite(def->uv[v].x) || !isfinite(def->uv[v].y))
            return tl_fail(err, TL_BAD_INPUT, "vertex %d material position (%g, %g) is not finite", v, def->uv[v].x,
                           def->uv[v].y);
        const int32_t n = node_of(def, v);
        if (n < 0 || n >= def->node_count)
            return tl_fail(err, TL_BAD_INPUT, "vertex %d lies on node %d of %d", v, n, def->node_count);
    }
    for (int32_t f = 0; f < def->face_count; f++) {
        const int32_t *v = def->face_vert[f];
        for (int k = 0; k < 3; k++)
            if (v[k] < 0 || v[k] >= def->vert_count)
                return tl_fail(err, TL_BAD_INPUT, "face %d uses vertex %d of %d", f, v[k], def->vert_count);
        for (int k = 0; k < 3; k++) {
            const int32_t a = v[k], b = v[(k + 1) % 3];
            if (a == b) return tl_fail(err, TL_BAD_INPUT, "face %d uses vertex %d twice", f, a);
            if (node_of(def, a) == node_of(def, b))
                return tl_fail(err, TL_BAD_INPUT, "face %d uses node %d twice, by its vertices %d and %d", f,
                               node_of(def, a), a, b);
        }
    }
    return TL_OK;
}

// How many nodes (or, `verts`, vertices) two faces have in common; both use three different ones.
static int shared(const tl_mesh_def *def, int32_t f, int32_t g, bool verts)
{
    const int32_t *a = def->face_vert[f], *b = def->face_vert[g];
    int same = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) same += verts ? a[i] == b[j] : node_of(def, a[i]) == node_of(def, b[j]);
    return same;
}

// ---- edges ------------------------------------------------------------------------------------------------

// `h` are the n half-edges of one edge, ascending.
static tl_status check_edge(const tl_mesh_def *def, const int32_t *h, int32_t n, tl_error *err)
{
    for (int32_t i = 1; i < n; i++)
        for (int32_t j = 0; j < i; j++) {
            const int32_t f = h[j] / 3, g = h[i] / 3;
            const int32_t *v = def->face_vert[f];
            if (shared(def, f, g, true) == 3)
                return tl_fail(err, TL_BAD_INPUT, "face %d repeats face %d (vertices %d %d %d)", g, f, v[0], v[1],
                               v[2]);
            if (shared(def, f, g, false) == 3)
                return tl_fail(err, TL_BAD_INPUT, "faces %d and %d join the same three nodes %d, %d, %d", f, g,
                               node_of(def, v[0]), node_of(def, v[1]), node_of(def, v[2]));
        }
    const int32_t a = half_from(def, h[0]), b = half_to(def, h[0]);
    if (n > 2)
        return tl_fail(err, TL_BAD_INPUT, "edge %d-%d has %s faces %d, %d, %d%s: not manifold", a, b,
                       n == 3 ? "three" : "more than three", h[0] / 3, h[1] / 3, h[2] / 3, n == 3 ? "" : ", ...");
    if (n == 2 && half_from(def, h[1]) == a)
        return tl_fail(err, TL_BAD_INPUT,
                       "faces %d and %d run along edge %d-%d in the same direction: one of them is flipped", h[0] / 3,
                       h[1] / 3, a, b);
    return TL_OK;
}

// The half-edges of one bucket, by far node. `key` and `spare` hold n entries.
static tl_status pair_bucket(builder *b, const int32_t *half, int32_t n, int32_t low, tl_key *key, tl_key *spare,
                             tl_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        const int32_t from = half_from(b->def, half[i]), to = half_to(b->def, half[i]);
        key[i] = (tl_key){(uint64_t)(from == low ? to : from), half[i]};
    }
    tl_sort_keys(key, spare, n);
    for (int32_t i = 0; i < n;) {
        int32_t group[4], count = 0, j = i;
        for (; j < n && key[j].key == key[i].key; j++)
            if (count < 4) group[count++] = key[j].id;
        TL_TRY(check_edge(b->def, group, count, err));
        for (int32_t k = i; k < j; k++) b->twin_first[key[k].id] = key[i].id;
        b->edge_count++;
        i = j;
    }
    return TL_OK;
}

typedef struct buckets {
    int32_t *start, *half;
    tl_key *key;
    int32_t key_count;
} buckets;

static tl_status fill_buckets(builder *b, buckets *s, tl_error *err)
{
    const tl_mesh_def *def = b->def;
    s->start = TL_CALLOC(b->alloc, int32_t, def->node_count + 1);
    s->half = TL_ALLOC(b->alloc, int32_t, b->half_count);
    if (!s->start || !s->half) return tl_fail_memory(err, "the edges of the mesh");
    for (int32_t h = 0; h < b->half_count; h++) {
        const int32_t from = half_from(def, h), to = half_to(def, h);
        s->start[from < to ? from : to]++;
    }
    int32_t most = 0;
    for (int32_t n = 0, sum = 0; n <= def->node_count; n++) {
        const int32_t count = s->start[n];
        if (count > most) most = count;
        s->start[n] = sum;
        sum += count;
    }
    for (int32_t h = 0; h < b->half_count; h++) {  // start[n] moves to the end of bucket n, the start of n + 1
        const int32_t from = half_from(def, h), to = half_to(def, h);
        s->half[s->start[from < to ? from : to]++] = h;
    }
    s->key = TL_ALLOC(b->alloc, tl_key, 2 * (size_t)most);
    s->key_count = most;
    if (!s->key) return tl_fail_memory(err, "the edges of the mesh");
    for (int32_t n = 0; n < def->node_count; n++) {
        const int32_t begin = n > 0 ? s->start[n - 1] : 0;
        TL_TRY(pair_bucket(b, s->half + begin, s->start[n] - begin, n, s->key, s->key + most, err));
    }
    return TL_OK;
}

static tl_status pair_halves(builder *b, tl_error *err)
{
    buckets s = {0};
    const tl_status status = fill_buckets(b, &s, err);
    TL_FREE(b->alloc, s.start, b->def->node_count + 1);
    TL_FREE(b->alloc, s.half, b->half_count);
    TL_FREE(b->alloc, s.key, 2 * (size_t)s.key_count);
    return status;
}

// ---- filling the mesh -------------------------------------------------------------------------------------

static void fill_points(tl_mesh *mesh, const tl_mesh_def *def)
{
    for (int32_t n = 0; n < def->node_count; n++) {
        mesh->pos[n] = def->pos[n];
        mesh->vel[n] = def->vel ? def->vel[n] : (tl_vec3){0};
        mesh->node_vert[n] = TL_NONE;
        mesh->node_label[n] = def->node_label ? def->node_label[n] : 0;
    }
    for (int32_t v = def->vert_count - 1; v >= 0; v--) {  // downwards: node_vert ends as the lowest
        const int32_t n = node_of(def, v);
        mesh->uv[v] = def->uv[v];
        mesh->vert_node[v] = n;
        mesh->vert_next[v] = mesh->node_vert[n];  // a chain for now
        mesh->vert_face[v] = TL_NONE;
        mesh->node_vert[n] = v;
    }
    for (int32_t v = 0; v < def->vert_count; v++)  // the last of a chain closes the ring
        if (mesh->vert_next[v] == TL_NONE) mesh->vert_next[v] = mesh->node_vert[mesh->vert_node[v]];
}

static void fill_faces(tl_mesh *mesh, const builder *b)
{
    const tl_mesh_def *def = b->def;
    int32_t edges = 0;
    for (int32_t h = 0; h < b->half_count; h++) {
        const int32_t f = h / 3, k = h % 3;
        const int32_t first = b->twin_first[h];
        if (first == h) {
            const int32_t e = edges++;
            mesh->edge_node[e][0] = half_from(def, h);
            mesh->edge_node[e][1] = half_to(def, h);
            mesh->edge_face[e][0] = f;
            mesh->edge_face[e][1] = TL_NONE;
            mesh->edge_label[e] = 0;
            mesh->edge_rest[e] = 0;
            mesh->face_edge[f][k] = e;
        } else {
            mesh->face_edge[f][k] = mesh->face_edge[first / 3][first % 3];
            mesh->edge_face[mesh->face_edge[f][k]][1] = f;
        }
        mesh->face_vert[f][k] = def->face_vert[f][k];
    }
    for (int32_t f = def->face_count - 1; f >= 0; f--) {  // downwards: vert_face ends as the lowest
        mesh->face_label[f] = def->face_label ? def->face_label[f] : 0;
        mesh->face_panel[f] = TL_NONE;
        for (int k = 0; k < 3; k++) mesh->vert_face[mesh->face_vert[f][k]] = f;
    }
}

// Flood fill over edges that are not seams. `stack` holds face_count ids: every face is pushed once.
static void number_panels(tl_mesh *mesh, int32_t *stack)
{
    for (int32_t start = 0; start < mesh->slots[TL_FACES].count; start++) {
        if (mesh->face_panel[start] != TL_NONE) continue;
        const int32_t panel = mesh->panel_count++;
        int32_t top = 0;
        stack[top++] = start;
        mesh->face_panel[start] = panel;
        while (top > 0) {
            const int32_t f = stack[--top];
            for (int k = 0; k < 3; k++) {
                const int32_t e = mesh->face_edge[f][k], g = tl_edge_across(mesh, e, f);
                if (g == TL_NONE || mesh->face_panel[g] != TL_NONE) continue;
                if (tl_mesh_edge_kind(mesh, e) == TL_EDGE_SEAM) continue;
                mesh->face_panel[g] = panel;
                stack[top++] = g;
            }
        }
    }
}

// ---- what only the linked mesh can tell -------------------------------------------------------------------

static tl_status check_fans(const tl_mesh *mesh, int32_t *uses, tl_error *err)
{
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++)
        if (mesh->node_vert[n] == TL_NONE) return tl_fail(err, TL_BAD_INPUT, "node %d belongs to no face: isolated", n);
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) {
        const int32_t n = mesh->vert_node[v];
        if (mesh->vert_face[v] == TL_NONE && mesh->vert_next[v] == v)
            return tl_fail(err, TL_BAD_INPUT, "node %d belongs to no face: isolated (its vertex is %d)", n, v);
        if (mesh->vert_face[v] == TL_NONE)
            return tl_fail(err, TL_BAD_INPUT, "vertex %d on node %d belongs to no face: isolated", v, n);
        uses[v] = 0;
    }
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        for (int k = 0; k < 3; k++) uses[mesh->face_vert[f][k]]++;
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) uses[v] -= tl_mesh_vert_faces(mesh, v, NULL, 0);
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t v = mesh->face_vert[f][k];
            if (uses[v] == 0) continue;
            return tl_fail(err, TL_BAD_INPUT,
                           "vertex %d joins two fans of faces that share no edge (%d more faces than the fan of "
                           "face %d): give each fan its own vertex on node %d",
                           v, uses[v], mesh->vert_face[v], mesh->vert_node[v]);
        }
    return TL_OK;
}

// `good` counts the counter-clockwise faces of each panel.
static tl_status check_areas(const tl_mesh *mesh, int32_t *good, tl_error *err)
{
    const int32_t faces = mesh->slots[TL_FACES].count;
    for (int32_t p = 0; p < mesh->panel_count; p++) good[p] = 0;
    for (int32_t f = 0; f < faces; f++) good[mesh->face_panel[f]] += tl_mesh_face_area_uv(mesh, f) > 0;
    for (int32_t f = 0; f < faces; f++) {
        const int32_t *v = mesh->face_vert[f];
        const tl_vec2 a = mesh->uv[v[0]], b = mesh->uv[v[1]], c = mesh->uv[v[2]];
        if (tl_shape_ok(a, b, c)) continue;
        const double area = tl_mesh_face_area_uv(mesh, f);
        if (!tl_shape_ok(a, c, b))
            return tl_fail(err, TL_BAD_INPUT, "face %d has zero material area %g m^2 (vertices %d %d %d)", f, area,
                           v[0], v[1], v[2]);
        if (good[mesh->face_panel[f]] == 0)
            return tl_fail(err, TL_BAD_INPUT,
                           "panel %d is drawn mirrored: all its faces, from face %d (material area %g m^2), "
                           "are clockwise; mirror the panel (negate its u), reverse its faces or, where the mesh "
                           "as it stands tells the lengths, say \"rest\": \"world\" in the scene",
                           mesh->face_panel[f], f, area);
        return tl_fail(err, TL_BAD_INPUT, "face %d is flipped in material space: area %g m^2 (vertices %d %d %d)", f,
                       area, v[0], v[1], v[2]);
    }
    return TL_OK;
}

static tl_status fill_mesh(tl_mesh *mesh, const builder *b, tl_error *err)
{
    const int32_t counts[TL_DOMAIN_COUNT] = {b->def->node_count, b->def->vert_count, b->edge_count, b->def->face_count};
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) {
        tl_slots *s = &mesh->slots[d];
        TL_TRY(tl_slots_resize(mesh, (tl_domain)d, counts[d], err));
        s->count = s->live = counts[d];
        for (int32_t i = 0; i < counts[d]; i++) s->next_free[i] = TL_ALIVE;
    }
    fill_points(mesh, b->def);
    fill_faces(mesh, b);
    const int32_t most = b->def->vert_count > b->def->face_count ? b->def->vert_count : b->def->face_count;
    int32_t *work = TL_ALLOC(&mesh->alloc, int32_t, most);
    if (!work) return tl_fail_memory(err, "the panels of the mesh");
    tl_status status = check_fans(mesh, work, err);
    if (status == TL_OK) {
        number_panels(mesh, work);
        status = check_areas(mesh, work, err);
    }
    TL_FREE(&mesh->alloc, work, most);
    return status;
}

tl_status tl_mesh_create(const tl_allocator *alloc, const tl_mesh_def *def, tl_mesh **out, tl_error *err)
{
    *out = NULL;
    TL_TRY(check_arrays(def, err));
    builder b = {.def = def, .alloc = alloc, .half_count = 3 * def->face_count};
    b.twin_first = TL_ALLOC(alloc, int32_t, b.half_count);
    if (!b.twin_first) return tl_fail_memory(err, "the edges of the mesh");
    tl_mesh *mesh = NULL;
    tl_status status = pair_halves(&b, err);
    if (status == TL_OK) {
        mesh = TL_CALLOC(alloc, tl_mesh, 1);
        status = mesh ? TL_OK : tl_fail_memory(err, "the mesh");
    }
    if (mesh) {
        mesh->alloc = *alloc;
        for (int d = 0; d < TL_DOMAIN_COUNT; d++) mesh->slots[d].free_top = TL_NONE;
        status = fill_mesh(mesh, &b, err);
    }
    TL_FREE(alloc, b.twin_first, b.half_count);
    if (status == TL_OK)
        *out = mesh;
    else
        tl_mesh_destroy(mesh);
    return status;
}
