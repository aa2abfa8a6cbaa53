// mesh/mesh_split_face.c: a new node in the middle of a face.
//
//          c
//        / | \          the face keeps its slot as (a, b, m); the new ones are (b, c, m) and (c, a, m);
//       /  m  \         spoke k runs from m to corner k
//      / /   \ \                                                                                                     .
//     a --------- b

#include "mesh/mesh_edit.h"
#include "mesh/mesh_internal.h"
#include "mesh/mesh_query.h"

static tl_vec2 centroid_uv(const tl_mesh *mesh, int32_t f)
{
    const int32_t *v = mesh->face_vert[f];
    const tl_vec2 a = mesh->uv[v[0]], b = mesh->uv[v[1]], c = mesh->uv[v[2]];
    return (tl_vec2){(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3};
}

tl_verdict tl_mesh_can_split_face(const tl_mesh *mesh, int32_t f)
{
    if (f < 0 || f >= mesh->slots[TL_FACES].count || !tl_alive(mesh, TL_FACES, f)) return TL_VERDICT_NO_EDGE;
    const tl_vec2 m = centroid_uv(mesh, f);
    for (int k = 0; k < 3; k++)
        if (!tl_shape_ok(mesh->uv[mesh->face_vert[f][k]], mesh->uv[mesh->face_vert[f][tl_corner_next(k)]], m))
            return TL_VERDICT_INVERTS;
    return TL_VERDICT_OK;
}

static tl_status prepare(tl_mesh *mesh, int32_t f, tl_error *err)
{
    static const int32_t extra[TL_DOMAIN_COUNT] = {1, 1, 3, 2};
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) TL_TRY(tl_slots_reserve(mesh, (tl_domain)d, extra[d], err));
    if (!mesh->log) return TL_OK;
    TL_TRY(tl_record_open(mesh, (tl_edit){TL_EDIT_SPLIT_FACE, TL_NONE, TL_NONE, TL_NONE}, err));
    tl_status status = TL_OK;
    for (int d = 0; d < TL_DOMAIN_COUNT && status == TL_OK; d++)
        status = tl_record_taken(mesh, (tl_domain)d, extra[d], err);
    if (status == TL_OK) status = tl_record_row(mesh, TL_FACES, f, err);
    for (int k = 0; k < 3 && status == TL_OK; k++) {
        status = tl_record_row(mesh, TL_VERTS, mesh->face_vert[f][k], err);
        if (status == TL_OK) status = tl_record_row(mesh, TL_NODES, tl_face_node(mesh, f, k), err);
        if (status == TL_OK) status = tl_record_row(mesh, TL_EDGES, mesh->face_edge[f][k], err);
    }
    if (status != TL_OK) tl_record_drop(mesh);
    return status;
}

// Lumped area of all faces around a vertex, or of the whole node.
static double area_around(const tl_mesh *mesh, int32_t vert, bool whole_node)
{
    double sum = 0;
    int32_t v = vert;
    do {
        for (tl_fan fan = tl_fan_begin(mesh, v); fan.face != TL_NONE; tl_fan_next(mesh, &fan))
            sum += tl_mesh_face_area_uv(mesh, fan.face);
        v = mesh->vert_next[v];
    } while (whole_node && v != vert);
    return sum;
}

// Of a face with area A each corner keeps two faces of A / 3: what is lumped to it falls by A / 3, seen three times
// over.
static void find_shares(const tl_mesh *mesh, int32_t f, double node[3], double vert[3])
{
    const double lost = tl_mesh_face_area_uv(mesh, f) / 3;
    for (int k = 0; k < 3; k++) {
        node[k] = lost / area_around(mesh, mesh->face_vert[f][k], true);
        vert[k] = lost / area_around(mesh, mesh->face_vert[f][k], false);
    }
}

// Attributes of the new element as means of three; `share`: what each of them gives of conserved amounts.
static void take_means(tl_mesh *mesh, tl_domain d, const int32_t from[3], const double share[3], int32_t made)
{
    tl_attrs_between(mesh, d, from[0], from[1], 0.5, made);
    tl_attrs_between(mesh, d, made, from[2], 1.0 / 3, made);
    for (int k = 0; k < 3 && tl_attrs_conserve(mesh, d); k++) tl_attrs_move(mesh, d, from[k], share[k], made);
}

static void set_face(tl_mesh *mesh, int32_t f, const int32_t vert[3], const int32_t edge[3])
{
    for (int k = 0; k < 3; k++) mesh->face_vert[f][k] = vert[k], mesh->face_edge[f][k] = edge[k];
}

static void join_up(tl_mesh *mesh, int32_t f, tl_face_split *s)
{
    const int32_t v[3] = {mesh->face_vert[f][0], mesh->face_vert[f][1], mesh->face_vert[f][2]};
    const int32_t outer[3] = {mesh->face_edge[f][0], mesh->face_edge[f][1], mesh->face_edge[f][2]};
    for (int i = 0; i < 2; i++) {
        const int32_t g = s->face[i];
        mesh->face_label[g] = mesh->face_label[f], mesh->face_panel[g] = mesh->face_panel[f];
        tl_attrs_split(mesh, TL_FACES, f, i == 0 ? 1.0 / 3 : 0.5, g);
    }
    const int32_t *spoke = s->edge, m = s->vert, g = s->face[0], h = s->face[1];
    set_face(mesh, f, (int32_t[3]){v[0], v[1], m}, (int32_t[3]){spoke[1], spoke[0], outer[2]});
    set_face(mesh, g, (int32_t[3]){v[1], v[2], m}, (int32_t[3]){spoke[2], spoke[1], outer[0]});
    set_face(mesh, h, (int32_t[3]){v[2], v[0], m}, (int32_t[3]){spoke[0], spoke[2], outer[1]});
    mesh->edge_face[outer[0]][mesh->edge_face[outer[0]][0] != f] = g;
    mesh->edge_face[outer[1]][mesh->edge_face[outer[1]][0] != f] = h;
    const int32_t left[3] = {f, g, h}, right[3] = {h, f, g};
    for (int k = 0; k < 3; k++) {
        mesh->edge_node[spoke[k]][0] = s->node, mesh->edge_node[spoke[k]][1] = mesh->vert_node[v[k]];
        mesh->edge_face[spoke[k]][0] = left[k], mesh->edge_face[spoke[k]][1] = right[k];
    }
    if (mesh->vert_face[v[2]] == f) mesh->vert_face[v[2]] = g;
    mesh->vert_face[m] = f;
}

tl_status tl_mesh_split_face(tl_mesh *mesh, int32_t f, tl_face_split *out, tl_error *err)
{
    const tl_verdict verdict = tl_mesh_can_split_face(mesh, f);
    if (verdict != TL_VERDICT_OK)
        return tl_fail(err, TL_BAD_ARG, "face %d cannot be split: %s", f, tl_verdict_name(verdict));
    TL_TRY(prepare(mesh, f, err));
    double node_share[3] = {0}, vert_share[3] = {0};
    if (tl_attrs_conserve(mesh, TL_NODES) || tl_attrs_conserve(mesh, TL_VERTS))
        find_shares(mesh, f, node_share, vert_share);
    const int32_t *v = mesh->face_vert[f];
    const int32_t n[3] = {mesh->vert_node[v[0]], mesh->vert_node[v[1]], mesh->vert_node[v[2]]};
    tl_face_split s;
    s.node = tl_slot_take(mesh, TL_NODES), s.vert = tl_slot_take(mesh, TL_VERTS);
    for (int k = 0; k < 3; k++) s.edge[k] = tl_slot_take(mesh, TL_EDGES);
    for (int k = 0; k < 2; k++) s.face[k] = tl_slot_take(mesh, TL_FACES);

    const tl_vec3 *x = mesh->pos, *w = mesh->vel;
    mesh->pos[s.node] = (tl_vec3){(x[n[0]].x + x[n[1]].x + x[n[2]].x) / 3, (x[n[0]].y + x[n[1]].y + x[n[2]].y) / 3,
                                  (x[n[0]].z + x[n[1]].z + x[n[2]].z) / 3};
    mesh->vel[s.node] = (tl_vec3){(w[n[0]].x + w[n[1]].x + w[n[2]].x) / 3, (w[n[0]].y + w[n[1]].y + w[n[2]].y) / 3,
                                  (w[n[0]].z + w[n[1]].z + w[n[2]].z) / 3};
    const int32_t *label = mesh->node_label;
    mesh->node_label[s.node] = label[n[0]] == label[n[1]] && label[n[1]] == label[n[2]] ? label[n[0]] : 0;
    mesh->node_vert[s.node] = s.vert;
    mesh->uv[s.vert] = centroid_uv(mesh, f);
    mesh->vert_node[s.vert] = s.node, mesh->vert_next[s.vert] = s.vert;
    take_means(mesh, TL_NODES, n, node_share, s.node);
    take_means(mesh, TL_VERTS, v, vert_share, s.vert);
    join_up(mesh, f, &s);
    tl_record_finish(mesh, (tl_edit){TL_EDIT_SPLIT_FACE, TL_NONE, s.node, TL_NONE});
    if (out) *out = s;
    return TL_OK;
}
