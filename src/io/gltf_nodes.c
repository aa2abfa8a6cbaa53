// io/gltf_nodes.c: the nodes of a glTF file behind their parents, and its skins as joints.

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/gltf_impl.h"

enum { MAX_NODES = 1 << 20 };

static tl_affine affine_of(const double m[16])
{
    tl_affine a;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) a.m[i][j] = m[4 * j + i];  // the file has columns
    return a;
}

static tl_status read_local(const gltf *g, const json_t *entry, const char *what, tl_rig_node *node, tl_error *err)
{
    double move[3] = {0}, turn[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1}, m[16];
    TL_TRY(gltf_numbers(g, entry, "translation", 3, what, move, err));
    TL_TRY(gltf_numbers(g, entry, "rotation", 4, what, turn, err));
    TL_TRY(gltf_numbers(g, entry, "scale", 3, what, scale, err));
    node->rest = (tl_trs){{move[0], move[1], move[2]},
                          tl_quat_unit((tl_quat){turn[0], turn[1], turn[2], turn[3]}),
                          {scale[0], scale[1], scale[2]}};
    node->matrix = tl_affine_identity();
    if (!json_object_get(entry, "matrix")) return TL_OK;
    TL_TRY(gltf_numbers(g, entry, "matrix", 16, what, m, err));
    node->by_matrix = 1;
    node->matrix = affine_of(m);
    node->rest = tl_affine_to_trs(&node->matrix);
    return TL_OK;
}

// Parents of all nodes, -1 for roots, and children checked.
static tl_status find_parents(const gltf *g, int32_t *parent, tl_error *err)
{
    const json_t *list = gltf_list(g, "nodes");
    for (int32_t i = 0; i < g->node_count; i++) parent[i] = -1;
    for (int32_t i = 0; i < g->node_count; i++) {
        char what[40];
        snprintf(what, sizeof what, "nodes[%d].children", i);
        const json_t *children = json_object_get(json_array_get(list, (size_t)i), "children");
        for (size_t k = 0; k < json_array_size(children); k++) {
            int32_t child = 0;
            TL_TRY(gltf_ref(g, json_array_get(children, k), "nodes", what, &child, err));
            if (parent[child] >= 0)
                return gltf_fail(g, err, "nodes[%d]: is a child of nodes[%d] and of nodes[%d]", child, parent[child],
                                 i);
            parent[child] = i;
        }
    }
    return TL_OK;
}

// Nodes in the order of the file as far as parents allow: a node comes with its ancestors, oldest first.
static tl_status order_nodes(gltf *g, const int32_t *parent, int32_t *stack, tl_error *err)
{
    int32_t placed = 0;
    for (int32_t i = 0; i < g->node_count; i++) {
        int32_t depth = 0;
        for (int32_t at = i; at >= 0 && g->node_place[at] < 0; at = parent[at]) {
            if (depth == g->node_count) return gltf_fail(g, err, "nodes[%d]: is its own ancestor", i);
            stack[depth++] = at;
        }
        while (depth > 0) g->node_place[stack[--depth]] = placed++;
    }
    return TL_OK;
}

// Nodes that the scene shows; all of them in a file without scenes.
static tl_status mark_scene(const gltf *g, const int32_t *parent, tl_error *err)
{
    const json_t *scenes = gltf_list(g, "scenes");
    const json_t *which = json_object_get(g->root, "scene");
    int32_t scene = 0;
    if (which) TL_TRY(gltf_ref(g, which, "scenes", "scene", &scene, err));
    const json_t *roots = json_object_get(json_array_get(scenes, (size_t)scene), "nodes");
    if (json_array_size(roots) == 0) {
        memset(g->in_scene, 1, (size_t)g->node_count);
        return TL_OK;
    }
    for (size_t k = 0; k < json_array_size(roots); k++) {
        int32_t root = 0;
        TL_TRY(gltf_ref(g, json_array_get(roots, k), "nodes", "scenes[].nodes", &root, err));
        g->in_scene[root] = 1;
    }
    // nodes by their place have their parent in front
    int32_t *by_place = TL_ALLOC(g->alloc, int32_t, g->node_count);
    if (!by_place) return tl_fail_memory(err, "nodes");
    for (int32_t i = 0; i < g->node_count; i++) by_place[g->node_place[i]] = i;
    for (int32_t k = 0; k < g->node_count; k++) {
        const int32_t i = by_place[k];
        if (parent[i] >= 0 && g->in_scene[parent[i]]) g->in_scene[i] = 1;
    }
    TL_FREE(g->alloc, by_place, g->node_count);
    return TL_OK;
}

static tl_status fill_nodes(gltf *g, const int32_t *parent, tl_error *err)
{
    const json_t *list = gltf_list(g, "nodes");
    if (!tl_character_push(g->c, TL_RIG_NODES, g->node_count)) return tl_fail_memory(err, "nodes");
    for (int32_t i = 0; i < g->node_count; i++) {
        char what[40];
        snprintf(what, sizeof what, "nodes[%d]", i);
        const json_t *entry = json_array_get(list, (size_t)i);
        if (!json_is_object(entry)) return gltf_fail(g, err, "%s: must be an object", what);
        tl_rig_node *node = &g->c->node[g->node_place[i]];
        gltf_name(entry, node->name);
        node->parent = parent[i] >= 0 ? g->node_place[parent[i]] : -1;
        TL_TRY(read_local(g, entry, what, node, err));
    }
    return TL_OK;
}

tl_status gltf_read_nodes(gltf *g, tl_error *err)
{
    const int32_t n = gltf_count(g, "nodes");
    if (n == 0 || n > MAX_NODES) return gltf_fail(g, err, "has %d nodes, must have 1 to %d", n, MAX_NODES);
    g->node_place = TL_ALLOC(g->alloc, int32_t, n);
    g->in_scene = TL_CALLOC(g->alloc, uint8_t, n);
    g->morph_first = TL_ALLOC(g->alloc, int32_t, n);
    g->morph_count = TL_CALLOC(g->alloc, int32_t, n);
    g->node_count = n;
    int32_t *parent = TL_ALLOC(g->alloc, int32_t, n), *stack = TL_ALLOC(g->alloc, int32_t, n);
    tl_status status = g->node_place && g->in_scene && g->morph_first && g->morph_count && parent && stack
                           ? TL_OK
                           : tl_fail_memory(err, "nodes");
    for (int32_t i = 0; status == TL_OK && i < n; i++) g->node_place[i] = g->morph_first[i] = -1;
    if (status == TL_OK) status = find_parents(g, parent, err);
    if (status == TL_OK) status = order_nodes(g, parent, stack, err);
    if (status == TL_OK) status = mark_scene(g, parent, err);
    if (status == TL_OK) status = fill_nodes(g, parent, err);
    TL_FREE(g->alloc, parent, n);
    TL_FREE(g->alloc, stack, n);
    g->c->facts.nodes = n;
    return status;
}

// ---- skins ----

static tl_status read_skin(gltf *g, int32_t s, tl_error *err)
{
    char what[64];
    snprintf(what, sizeof what, "skins[%d]", s);
    const json_t *entry = json_array_get(gltf_list(g, "skins"), (size_t)s);
    const json_t *joints = json_object_get(entry, "joints"), *binds = json_object_get(entry, "inverseBindMatrices");
    const int32_t n = (int32_t)json_array_size(joints);
    if (n == 0) return gltf_fail(g, err, "%s: has no joints", what);
    gltf_values bind = {0};
    if (binds) {
        TL_TRY(gltf_read_accessor(g, binds, GLTF_MAT4, "inverse bind matrices", &bind, err));
        if (bind.count < n) {
            gltf_free_values(g, &bind);
            return gltf_fail(g, err, "%s: has %d joints, but accessors[%d] only %d inverse bind matrices", what, n,
                             bind.accessor, bind.count);
        }
    }
    g->joint_first[s] = g->c->count[TL_RIG_JOINTS];
    tl_rig_joint *to = tl_character_push(g->c, TL_RIG_JOINTS, n);
    tl_status status = to ? TL_OK : tl_fail_memory(err, "joints");
    for (int32_t k = 0; status == TL_OK && k < n; k++) {
        int32_t node = 0;
        char joint[96];
        snprintf(joint, sizeof joint, "skins[%d].joints[%d]", s, k);
        status = gltf_ref(g, json_array_get(joints, (size_t)k), "nodes", joint, &node, err);
        if (status == TL_OK)
            to[k] = (tl_rig_joint){g->node_place[node], s,
                                   binds ? affine_of(bind.v + (size_t)k * 16) : tl_affine_identity()};
    }
    if (binds) gltf_free_values(g, &bind);
    g->c->facts.joints += n;
    return status;
}

tl_status gltf_read_skins(gltf *g, tl_error *err)
{
    const int32_t n = gltf_count(g, "skins");
    g->joint_first = TL_ALLOC(g->alloc, int32_t, n);
    if (!g->joint_first) return tl_fail_memory(err, "skins");
    g->skin_count = n;
    for (int32_t s = 0; s < n; s++) TL_TRY(read_skin(g, s, err));
    g->c->facts.skins = n;
    return TL_OK;
}
