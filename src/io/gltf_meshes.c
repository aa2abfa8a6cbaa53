// io/gltf_meshes.c: the meshes of a glTF file as vertices that follow joints, with morph targets and faces.

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/gltf_impl.h"

enum { TRIANGLES = 4, STRIP = 5, FAN = 6, MAX_SETS = 8, MAX_MORPHS = 4096 };

typedef struct primitive {
    const json_t *entry;
    char what[64];       ///< "meshes[0].primitives[1]"
    int32_t first_vert;  ///< in the character
    int32_t node;        ///< of the file
    int32_t skin;        ///< -1: none
    bool mirrored;       ///< its node turns it inside out
} primitive;

// ---- weights ----

typedef struct influences {
    gltf_values joint[MAX_SETS], weight[MAX_SETS];
    int32_t sets;
} influences;

static void free_influences(const gltf *g, influences *in)
{
    for (int32_t s = 0; s < MAX_SETS; s++) gltf_free_values(g, &in->joint[s]), gltf_free_values(g, &in->weight[s]);
}

static tl_status read_influences(const gltf *g, const primitive *p, int32_t verts, influences *in, tl_error *err)
{
    const json_t *attributes = json_object_get(p->entry, "attributes");
    for (int32_t s = 0; s < MAX_SETS; s++) {
        char joints[16], weights[16], what[96];
        snprintf(joints, sizeof joints, "JOINTS_%d", s);
        snprintf(weights, sizeof weights, "WEIGHTS_%d", s);
        const json_t *j = json_object_get(attributes, joints), *w = json_object_get(attributes, weights);
        if (!j && !w) break;
        if (!j || !w)
            return gltf_fail(g, err, "%s: has %s without %s", p->what, j ? joints : weights, j ? weights : joints);
        snprintf(what, sizeof what, "%s.%s", p->what, joints);
        TL_TRY(gltf_read_accessor(g, j, GLTF_VEC4, what, &in->joint[s], err));
        snprintf(what, sizeof what, "%s.%s", p->what, weights);
        TL_TRY(gltf_read_accessor(g, w, GLTF_VEC4, what, &in->weight[s], err));
        in->sets = s + 1;
        if (!in->joint[s].whole)
            return gltf_fail(g, err, "accessors[%d] (%s.%s): must have whole numbers", in->joint[s].accessor, p->what,
                             joints);
        if (in->joint[s].count != verts || in->weight[s].count != verts)
            return gltf_fail(g, err, "%s: has %d positions, but %d of %s and %d of %s", p->what, verts,
                             in->joint[s].count, joints, in->weight[s].count, weights);
    }
    return TL_OK;
}

// The joints of one vertex by number, each once, weights that sum to 1.
static tl_status weigh_vert(gltf *g, const primitive *p, const influences *in, int32_t v, int64_t *odd, tl_error *err)
{
    tl_rig_weight list[4 * MAX_SETS];
    int32_t n = 0;
    double sum = 0;
    const int32_t base = g->joint_first[p->skin];
    const int32_t joints = (p->skin + 1 < g->skin_count ? g->joint_first[p->skin + 1] : g->c->facts.joints) - base;
    for (int32_t k = 0; k < 4 * in->sets; k++) {
        const size_t at = 4 * (size_t)v + (size_t)(k % 4);
        const double w = in->weight[k / 4].v[at], j = in->joint[k / 4].v[at];
        if (w < 0)
            return gltf_fail(g, err, "accessors[%d] (%s): weight %g of vertex %d, must be >= 0",
                             in->weight[k / 4].accessor, p->what, w, v);
        if (w > 0 && !(j >= 0 && j < joints))
            return gltf_fail(g, err, "accessors[%d] (%s): vertex %d follows joint %.0f, skins[%d] has joints 0 to %d",
                             in->joint[k / 4].accessor, p->what, v, j, p->skin, joints - 1);
        if (w == 0) continue;
        sum += w;
        int32_t to = 0;
        while (to < n && list[to].joint < base + (int64_t)j) to++;
        if (to < n && list[to].joint == base + (int64_t)j) {
            list[to].weight += w;
            continue;
        }
        memmove(&list[to + 1], &list[to], (size_t)(n - to) * sizeof *list);
        list[to] = (tl_rig_weight){base + (int64_t)j, w};
        n++;
    }
    if (sum == 0) list[n++] = (tl_rig_weight){base, 1}, sum = 1, ++*odd;
    if (fabs(sum - 1) > 0.01) ++*odd;
    tl_rig_weight *to = tl_character_push(g->c, TL_RIG_WEIGHTS, n);
    if (!to) return tl_fail_memory(err, "weights");
    for (int32_t k = 0; k < n; k++) to[k] = (tl_rig_weight){list[k].joint, list[k].weight / sum};
    tl_rig_vert *vert = &g->c->vert[p->first_vert + v];
    vert->weight = g->c->count[TL_RIG_WEIGHTS] - n, vert->weight_count = n;
    return TL_OK;
}

// A mesh that no skin moves: all of its vertices follow its node.
static tl_status follow_node(gltf *g, const primitive *p, int32_t verts, tl_error *err)
{
    tl_rig_joint *joint = tl_character_push(g->c, TL_RIG_JOINTS, 1);
    tl_rig_weight *weight = tl_character_push(g->c, TL_RIG_WEIGHTS, 1);
    if (!joint || !weight) return tl_fail_memory(err, "weights");
    *joint = (tl_rig_joint){g->node_place[p->node], -1, tl_affine_identity()};
    *weight = (tl_rig_weight){g->c->count[TL_RIG_JOINTS] - 1, 1};
    for (int32_t v = 0; v < verts; v++)
        g->c->vert[p->first_vert + v].weight = g->c->count[TL_RIG_WEIGHTS] - 1,
                                   g->c->vert[p->first_vert + v].weight_count = 1;
    return TL_OK;
}

static tl_status read_weights(gltf *g, const primitive *p, int32_t verts, tl_error *err)
{
    const bool given = json_object_get(json_object_get(p->entry, "attributes"), "JOINTS_0");
    if (p->skin >= 0 && !given) tl_character_note(g->c, "%s has a skin but no JOINTS_0: it follows its node", p->what);
    if (p->skin < 0 || !given) return follow_node(g, p, verts, err);
    influences in = {0};
    int64_t odd = 0;
    tl_status status = read_influences(g, p, verts, &in, err);
    for (int32_t v = 0; status == TL_OK && v < verts; v++) status = weigh_vert(g, p, &in, v, &odd, err);
    free_influences(g, &in);
    if (status == TL_OK && odd > 0)
        tl_character_note(g->c, "%s: weights of %lld vertices do not sum to 1 and are scaled", p->what, (long long)odd);
    return status;
}

// ---- morph targets ----

// Deltas of a vertex must stand together, so all targets are read first.
static tl_status read_morphs(gltf *g, const primitive *p, int32_t verts, tl_error *err)
{
    const json_t *targets = json_object_get(p->entry, "targets");
    const int32_t n = (int32_t)json_array_size(targets);
    if (n == 0) return TL_OK;
    if (n > g->morph_count[p->node])
        return gltf_fail(g, err, "%s: has %d morph targets, other primitives have %d", p->what, n,
                         g->morph_count[p->node]);
    gltf_values *move = TL_CALLOC(g->alloc, gltf_values, n);
    if (!move) return tl_fail_memory(err, "morph targets");
    tl_status status = TL_OK;
    for (int32_t k = 0; status == TL_OK && k < n; k++) {
        char what[96];
        snprintf(what, sizeof what, "%s.targets[%d].POSITION", p->what, k);
        const json_t *ref = json_object_get(json_array_get(targets, (size_t)k), "POSITION");
        if (ref) status = gltf_read_accessor(g, ref, GLTF_VEC3, what, &move[k], err);
        if (status == TL_OK && ref && move[k].count != verts)
            status = gltf_fail(g, err, "%s: %d moves, there are %d positions", what, move[k].count, verts);
    }
    for (int32_t v = 0; status == TL_OK && v < verts; v++) {
        const int32_t first = g->c->count[TL_RIG_DELTAS];
        for (int32_t k = 0; status == TL_OK && k < n; k++) {
            const double *d = move[k].v ? move[k].v + 3 * (size_t)v : NULL;
            if (!d || (d[0] == 0 && d[1] == 0 && d[2] == 0)) continue;
            tl_rig_delta *to = tl_character_push(g->c, TL_RIG_DELTAS, 1);
            if (!to)
                status = tl_fail_memory(err, "morph targets");
            else
                *to = (tl_rig_delta){g->morph_first[p->node] + k, {d[0], d[1], d[2]}};
        }
        g->c->vert[p->first_vert + v].delta = first;
        g->c->vert[p->first_vert + v].delta_count = g->c->count[TL_RIG_DELTAS] - first;
    }
    for (int32_t k = 0; k < n; k++) gltf_free_values(g, &move[k]);
    TL_FREE(g->alloc, move, n);
    return status;
}

// Room for the weights of a mesh with morph targets, one set for every node that shows it.
static tl_status read_morph_weights(gltf *g, const json_t *node, const json_t *mesh, int32_t i, int32_t mesh_index,
                                    tl_error *err)
{
    int32_t n = 0;
    const json_t *primitives = json_object_get(mesh, "primitives");
    for (size_t k = 0; k < json_array_size(primitives); k++) {
        const int32_t own = (int32_t)json_array_size(json_object_get(json_array_get(primitives, k), "targets"));
        if (own > n) n = own;
    }
    if (n == 0) return TL_OK;
    if (n > MAX_MORPHS)
        return gltf_fail(g, err, "meshes[%d]: %d morph targets, at most %d are read", mesh_index, n, MAX_MORPHS);
    g->morph_first[i] = g->c->count[TL_RIG_MORPHS], g->morph_count[i] = n;
    double *weights = tl_character_push(g->c, TL_RIG_MORPHS, n);
    if (!weights) return tl_fail_memory(err, "morph targets");
    g->c->facts.morphs += n;
    char what[40];
    snprintf(what, sizeof what, "meshes[%d]", mesh_index);
    TL_TRY(gltf_numbers(g, mesh, "weights", n, what, weights, err));
    snprintf(what, sizeof what, "nodes[%d]", i);
    return gltf_numbers(g, node, "weights", n, what, weights, err);
}

// ---- faces ----

static tl_status add_faces(gltf *g, const primitive *p, const gltf_values *index, int32_t verts, int64_t mode,
                           tl_error *err)
{
    const int32_t n = index->v ? index->count : verts;
    const int32_t faces = mode == TRIANGLES ? n / 3 : n >= 3 ? n - 2 : 0;
    if (mode == TRIANGLES && n % 3 != 0)
        return gltf_fail(g, err, "%s: %d indices, must be a multiple of 3 for triangles", p->what, n);
    tl_rig_face *to = tl_character_push(g->c, TL_RIG_FACES, faces);
    if (!to) return tl_fail_memory(err, "faces");
    for (int32_t f = 0; f < faces; f++) {
        const bool odd = mode == STRIP && f % 2 == 1;
        int32_t corner[3] = {mode == TRIANGLES ? 3 * f
                             : mode == FAN     ? f + 1
                                               : f,
                             mode == TRIANGLES ? 3 * f + 1
                             : mode == FAN     ? f + 2
                             : odd             ? f + 2
                                               : f + 1,
                             mode == TRIANGLES ? 3 * f + 2
                             : mode == FAN     ? 0
                             : odd             ? f + 1
                                               : f + 2};
        if (p->mirrored) corner[1] ^= corner[2], corner[2] ^= corner[1], corner[1] ^= corner[2];
        for (int k = 0; k < 3; k++) {
            const double v = index->v ? index->v[corner[k]] : corner[k];
            if (!(v >= 0 && v < verts))
                return gltf_fail(g, err, "accessors[%d] (%s.indices): index %d is vertex %.0f, there are %d",
                                 index->accessor, p->what, corner[k], v, verts);
            to[f].v[k] = p->first_vert + (int32_t)v;
        }
    }
    return TL_OK;
}

static tl_status read_primitive(gltf *g, primitive *p, tl_error *err)
{
    int64_t mode = 0;
    char what[96];
    if (!json_is_object(p->entry)) return gltf_fail(g, err, "%s: must be an object", p->what);
    TL_TRY(gltf_index(g, p->entry, "mode", TRIANGLES, p->what, &mode, err));
    const json_t *position = json_object_get(json_object_get(p->entry, "attributes"), "POSITION");
    const json_t *indices = json_object_get(p->entry, "indices");
    if (mode > FAN) return gltf_fail(g, err, "%s: mode %lld, must be 0 to 6", p->what, (long long)mode);
    if (mode < TRIANGLES || !position) {
        tl_character_note(g->c, "%s has %s and is left out", p->what, position ? "points or lines" : "no POSITION");
        return TL_OK;
    }
    gltf_values pos, index = {0};
    snprintf(what, sizeof what, "%s.POSITION", p->what);
    TL_TRY(gltf_read_accessor(g, position, GLTF_VEC3, what, &pos, err));
    const int32_t verts = pos.count;
    p->first_vert = g->c->count[TL_RIG_VERTS];
    tl_rig_vert *to = tl_character_push(g->c, TL_RIG_VERTS, verts);
    tl_status status = to ? TL_OK : tl_fail_memory(err, "vertices");
    for (int32_t v = 0; status == TL_OK && v < verts; v++)
        to[v].pos = (tl_vec3){pos.v[3 * (size_t)v], pos.v[3 * (size_t)v + 1], pos.v[3 * (size_t)v + 2]};
    gltf_free_values(g, &pos);
    snprintf(what, sizeof what, "%s.indices", p->what);
    if (status == TL_OK && indices) status = gltf_read_accessor(g, indices, GLTF_SCALAR, what, &index, err);
    if (status == TL_OK && indices && !index.whole)
        status = gltf_fail(g, err, "accessors[%d] (%s): must have whole numbers", index.accessor, what);
    if (status == TL_OK) status = add_faces(g, p, &index, verts, mode, err);
    gltf_free_values(g, &index);
    if (status == TL_OK) status = read_weights(g, p, verts, err);
    if (status == TL_OK) status = read_morphs(g, p, verts, err);
    return status;
}

static bool is_mirrored(const gltf *g, int32_t i)
{
    int sign = 1;
    for (int32_t k = g->node_place[i]; k >= 0; k = g->c->node[k].parent) {
        const tl_rig_node *n = &g->c->node[k];
        const tl_affine local = n->by_matrix ? n->matrix : tl_affine_from_trs(&n->rest);
        if (tl_affine_det(&local) < 0) sign = -sign;
    }
    return sign < 0;
}

tl_status gltf_read_meshes(gltf *g, tl_error *err)
{
    const json_t *nodes = gltf_list(g, "nodes"), *meshes = gltf_list(g, "meshes");
    for (int32_t i = 0; i < g->node_count; i++) {
        const json_t *node = json_array_get(nodes, (size_t)i);
        const json_t *ref = json_object_get(node, "mesh"), *skin = json_object_get(node, "skin");
        if (!ref || !g->in_scene[i]) continue;
        char what[40];
        int32_t m = 0;
        primitive p = {.node = i, .skin = -1};
        snprintf(what, sizeof what, "nodes[%d].mesh", i);
        TL_TRY(gltf_ref(g, ref, "meshes", what, &m, err));
        snprintf(what, sizeof what, "nodes[%d].skin", i);
        if (skin) TL_TRY(gltf_ref(g, skin, "skins", what, &p.skin, err));
        const json_t *mesh = json_array_get(meshes, (size_t)m), *primitives = json_object_get(mesh, "primitives");
        TL_TRY(read_morph_weights(g, node, mesh, i, m, err));
        p.mirrored = p.skin < 0 && is_mirrored(g, i);
        for (size_t k = 0; k < json_array_size(primitives); k++) {
            p.entry = json_array_get(primitives, k);
            snprintf(p.what, sizeof p.what, "meshes[%d].primitives[%zu]", m, k);
            TL_TRY(read_primitive(g, &p, err));
        }
        g->c->facts.meshes++;
    }
    if (g->c->count[TL_RIG_FACES] == 0)
        return gltf_fail(g, err, "shows no mesh with triangles (no node of its scene has one)");
    return TL_OK;
}
