// mesh/mesh_edit.c: split and flip.
//
// Both go in three parts: may we (a verdict), make room and write the record (may run out of memory, nothing
// has changed yet), then change (cannot fail).
//
//            l                      l
//          / | \                  /   \         side 0, left of n0 -> n1, has the face f with apex l,
//        n0--m--n1              a ----- b       side 1 the face g with apex r; at a border there is no side 1
//          \ | /                  \   /
//            r                      r

#include "mesh/mesh_edit.h"

#include "mesh/mesh_internal.h"
#include "mesh/mesh_query.h"

const char *tl_verdict_name(tl_verdict verdict)
{
    switch (verdict) {
    case TL_VERDICT_OK: return "allowed";
    case TL_VERDICT_NO_EDGE: return "there is no such edge, or the node is not an end of it";
    case TL_VERDICT_RANGE: return "the parameter is not inside (0, 1)";
    case TL_VERDICT_BORDER: return "it is a border";
    case TL_VERDICT_SEAM: return "it is a seam";
    case TL_VERDICT_FEATURE: return "it is a feature line";
    case TL_VERDICT_FIXED_NODE: return "the node ends or joins lines, or is a bow-tie";
    case TL_VERDICT_LEAVES_LINE: return "the node would leave its outline, seam or feature line";
    case TL_VERDICT_BENT: return "the line turns at the node";
    case TL_VERDICT_TOPOLOGY: return "edges or faces would fall together";
    case TL_VERDICT_INVERTS: return "a face would turn over or become a needle";
    }
    return "unknown verdict";
}

static bool edge_lives(const tl_mesh *mesh, int32_t e)
{
    return e >= 0 && e < mesh->slots[TL_EDGES].count && tl_alive(mesh, TL_EDGES, e);
}

static double between(double a, double b, double t) { return (1 - t) * a + t * b; }  // t 0.5: same from both ends
static tl_vec2 between2(tl_vec2 a, tl_vec2 b, double t)
{
    return (tl_vec2){between(a.x, b.x, t), between(a.y, b.y, t)};
}
static tl_vec3 between3(tl_vec3 a, tl_vec3 b, double t)
{
    return (tl_vec3){between(a.x, b.x, t), between(a.y, b.y, t), between(a.z, b.z, t)};
}

// ---- split ------------------------------------------------------------------------------------------------

tl_verdict tl_mesh_can_split(const tl_mesh *mesh, int32_t e, double t)
{
    if (!edge_lives(mesh, e)) return TL_VERDICT_NO_EDGE;
    if (!(t > 0 && t < 1)) return TL_VERDICT_RANGE;
    for (int side = 0; side < 2 && mesh->edge_face[e][side] != TL_NONE; side++) {
        // as the face runs: from `a` to `b`, then to the apex
        const tl_vec2 a = mesh->uv[tl_mesh_edge_vert(mesh, e, side, side)];
        const tl_vec2 b = mesh->uv[tl_mesh_edge_vert(mesh, e, side, 1 - side)];
        const tl_vec2 apex = mesh->uv[tl_mesh_opposite_vert(mesh, e, side)];
        const tl_vec2 m = side == 0 ? between2(a, b, t) : between2(b, a, t);
        if (!tl_shape_ok(a, m, apex) || !tl_shape_ok(m, b, apex)) return TL_VERDICT_INVERTS;
    }
    return TL_VERDICT_OK;
}

static tl_status split_prepare(tl_mesh *mesh, int32_t e, int sides, bool seam, tl_error *err)
{
    const int32_t extra[TL_DOMAIN_COUNT] = {1, seam ? 2 : 1, 1 + sides, sides};
    for (int d = 0; d < TL_DOMAIN_COUNT; d++) TL_TRY(tl_slots_reserve(mesh, (tl_domain)d, extra[d], err));
    if (!mesh->log) return TL_OK;
    TL_TRY(tl_record_open(mesh, (tl_edit){TL_EDIT_SPLIT, e, TL_NONE, TL_NONE}, err));
    tl_status status = TL_OK;
    for (int d = 0; d < TL_DOMAIN_COUNT && status == TL_OK; d++)
        status = tl_record_taken(mesh, (tl_domain)d, extra[d], err);
    if (status == TL_OK) status = tl_record_row(mesh, TL_EDGES, e, err);
    for (int end = 0; end < 2 && status == TL_OK; end++)
        status = tl_record_row(mesh, TL_NODES, mesh->edge_node[e][end], err);
    for (int side = 0; side < sides && status == TL_OK; side++) {
        const int32_t f = mesh->edge_face[e][side];
        status = tl_record_row(mesh, TL_FACES, f, err);
        for (int k = 0; k < 3 && status == TL_OK; k++) {
            status = tl_record_row(mesh, TL_VERTS, mesh->face_vert[f][k], err);
            if (status == TL_OK) status = tl_record_row(mesh, TL_EDGES, mesh->face_edge[f][k], err);
        }
    }
    if (status != TL_OK) tl_record_drop(mesh);
    return status;
}

static double fan_area(const tl_mesh *mesh, int32_t v)
{
    double sum = 0;
    for (tl_fan fan = tl_fan_begin(mesh, v); fan.face != TL_NONE; tl_fan_next(mesh, &fan))
        sum += tl_mesh_face_area_uv(mesh, fan.face);
    return sum;
}

static double node_area(const tl_mesh *mesh, int32_t n)
{
    double sum = 0;
    int32_t v = mesh->node_vert[n];
    do {
        sum += fan_area(mesh, v);
        v = mesh->vert_next[v];
    } while (v != mesh->node_vert[n]);
    return sum;
}

// What share of its amount an end gives to the new point. Of a cut face with area A, the end keeps the
// part of the cut on its side: its lumped area falls by `lost` A / 3.
typedef struct split_shares {
    double node[2], vert[2][2];
} split_shares;

static split_shares find_shares(const tl_mesh *mesh, int32_t e, double t, int sides, bool seam)
{
    split_shares s = {0};
    const bool nodes = tl_attrs_conserve(mesh, TL_NODES), verts = tl_attrs_conserve(mesh, TL_VERTS);
    if (!nodes && !verts) return s;
    double cut[2] = {0, 0};
    for (int side = 0; side < sides; side++) cut[side] = tl_mesh_face_area_uv(mesh, mesh->edge_face[e][side]);
    for (int end = 0; end < 2; end++) {
        const double lost = end == 0 ? 1 - t : t;
        if (nodes) s.node[end] = lost * (cut[0] + cut[1]) / node_area(mesh, mesh->edge_node[e][end]);
        if (!verts) continue;
        // without a seam one vertex takes for both sides, so side 1 has nothing left to do
        for (int side = 0; side < (seam ? 2 : 1); side++) {
            const int32_t v = tl_mesh_edge_vert(mesh, e, side, end);
            s.vert[side][end] = lost * (seam ? cut[side] : cut[0] + cut[1]) / fan_area(mesh, v);
        }
    }
    return s;
}

// The face on one side of e, cut from the new vertex m to its apex. Keeps the half at node 0 in the old slot.
static void split_face(tl_mesh *mesh, int32_t e, int side, double t, int32_t m, tl_split *s)
{
    const int32_t f = mesh->edge_face[e][side];
    const int32_t apex = tl_face_corner_of_edge(mesh, f, e);
    // corners of the ends of e: side 0 runs node 0 -> node 1
    const int32_t at0 = (apex + 1 + side) % 3, at1 = (apex + 2 - side) % 3;
    const int32_t g = tl_slot_take(mesh, TL_FACES), inner = tl_slot_take(mesh, TL_EDGES);
    const int32_t v1 = mesh->face_vert[f][at1],
                  outer = mesh->face_edge[f][at0];  // outer: from end 1 to the apex

    for (int k = 0; k < 3; k++) mesh->face_vert[g][k] = mesh->face_vert[f][k];
    mesh->face_vert[g][at0] = m;
    mesh->face_edge[g][at0] = outer;
    mesh->face_edge[g][at1] = inner;
    mesh->face_edge[g][apex] = s->edge;
    mesh->face_label[g] = mesh->face_label[f];
    mesh->face_panel[g] = mesh->face_panel[f];
    tl_attrs_split(mesh, TL_FACES, f, 1 - t, g);

    mesh->face_vert[f][at1] = m;
    mesh->face_edge[f][at0] = inner;

    mesh->edge_face[outer][mesh->edge_face[outer][0] != f] = g;
    mesh->edge_face[s->edge][side] = g;
    mesh->edge_node[inner][0] = s->node;
    mesh->edge_node[inner][1] = tl_face_node(mesh, f, apex);
    // m -> apex runs along f on side 0, where f is (n0, m, l); on side 1, f is (m, n0, r)
    mesh->edge_face[inner][0] = side == 0 ? f : g;
    mesh->edge_face[inner][1] = side == 0 ? g : f;

    if (mesh->vert_face[v1] == f) mesh->vert_face[v1] = g;
    mesh->vert_face[m] = f;
    s->vert[side] = m;
    s->face[side] = g;
    s->inner[side] = inner;
}

static int32_t add_vert(tl_mesh *mesh, int32_t n, int32_t a, int32_t b, double t)
{
    const int32_t v = tl_slot_take(mesh, TL_VERTS);
    mesh->uv[v] = between2(mesh->uv[a], mesh->uv[b], t);
    mesh->vert_node[v] = n;
    const int32_t other = mesh->node_vert[n];
    if (other == TL_NONE) {
        mesh->node_vert[n] = mesh->vert_next[v] = v;
    } else {
        mesh->vert_next[v] = mesh->vert_next[other];
        mesh->vert_next[other] = v;
    }
    tl_attrs_between(mesh, TL_VERTS, a, b, t, v);
    return v;
}

tl_status tl_mesh_split_edge(tl_mesh *mesh, int32_t e, double t, tl_split *out, tl_error *err)
{
    const tl_verdict verdict = tl_mesh_can_split(mesh, e, t);
    if (verdict != TL_VERDICT_OK)
        return tl_fail(err, TL_BAD_ARG, "edge %d cannot be split at %g: %s", e, t, tl_verdict_name(verdict));
    const tl_edge_kind kind = tl_mesh_edge_kind(mesh, e);
    const bool seam = kind == TL_EDGE_SEAM;
    const int sides = kind == TL_EDGE_BORDER ? 1 : 2;
    TL_TRY(split_prepare(mesh, e, sides, seam, err));

    const split_shares shares = find_shares(mesh, e, t, sides, seam);
    const int32_t n0 = mesh->edge_node[e][0], n1 = mesh->edge_node[e][1];
    tl_split s = {.vert = {TL_NONE, TL_NONE}, .inner = {TL_NONE, TL_NONE}, .face = {TL_NONE, TL_NONE}};
    int32_t end_vert[2][2];
    for (int side = 0; side < 2; side++)
        for (int end = 0; end < 2; end++) end_vert[side][end] = tl_mesh_edge_vert(mesh, e, side, end);

    s.node = tl_slot_take(mesh, TL_NODES);
    mesh->pos[s.node] = between3(mesh->pos[n0], mesh->pos[n1], t);
    mesh->vel[s.node] = between3(mesh->vel[n0], mesh->vel[n1], t);
    mesh->node_vert[s.node] = TL_NONE;
    mesh->node_label[s.node] = mesh->node_label[n0] == mesh->node_label[n1] ? mesh->node_label[n0] : 0;
    tl_attrs_between(mesh, TL_NODES, n0, n1, t, s.node);
    for (int end = 0; end < 2; end++) tl_attrs_move(mesh, TL_NODES, end ? n1 : n0, shares.node[end], s.node);

    s.edge = tl_slot_take(mesh, TL_EDGES);
    mesh->edge_node[s.edge][0] = s.node;
    mesh->edge_node[s.edge][1] = n1;
    mesh->edge_face[s.edge][0] = mesh->edge_face[s.edge][1] = TL_NONE;
    mesh->edge_label[s.edge] = mesh->edge_label[e];
    mesh->edge_rest[s.edge] = mesh->edge_rest[e];
    mesh->edge_node[e][1] = s.node;
    tl_attrs_split(mesh, TL_EDGES, e, 1 - t, s.edge);

    for (int side = 0; side < sides; side++) {
        int32_t m = s.vert[0];
        if (side == 0 || seam) {
            m = add_vert(mesh, s.node, end_vert[side][0], end_vert[side][1], t);
            for (int end = 0; end < 2; end++)
                tl_attrs_move(mesh, TL_VERTS, end_vert[side][end], shares.vert[side][end], m);
        }
        split_face(mesh, e, side, t, m, &s);
    }
    tl_record_finish(mesh, (tl_edit){TL_EDIT_SPLIT, e, s.node, TL_NONE});
    if (out) *out = s;
    return TL_OK;
}

// ---- flip -------------------------------------------------------------------------------------------------

tl_verdict tl_mesh_can_flip(const tl_mesh *mesh, int32_t e)
{
    if (!edge_lives(mesh, e)) return TL_VERDICT_NO_EDGE;
    switch (tl_mesh_edge_kind(mesh, e)) {
    case TL_EDGE_BORDER: return TL_VERDICT_BORDER;
    case TL_EDGE_SEAM: return TL_VERDICT_SEAM;
    case TL_EDGE_FEATURE: return TL_VERDICT_FEATURE;
    case TL_EDGE_PLAIN: break;
    }
    const int32_t a = tl_mesh_edge_vert(mesh, e, 0, 0), b = tl_mesh_edge_vert(mesh, e, 0, 1);
    const int32_t l = tl_mesh_opposite_vert(mesh, e, 0), r = tl_mesh_opposite_vert(mesh, e, 1);
    const tl_vec2 *uv = mesh->uv;
    if (!tl_shape_ok(uv[a], uv[r], uv[l]) || !tl_shape_ok(uv[b], uv[l], uv[r])) return TL_VERDICT_INVERTS;
    const int32_t nl = mesh->vert_node[l], nr = mesh->vert_node[r];
    if (nl == nr || tl_mesh_find_edge(mesh, nl, nr) != TL_NONE) return TL_VERDICT_TOPOLOGY;
    return TL_VERDICT_OK;
}

static tl_status flip_prepare(tl_mesh *mesh, int32_t e, tl_error *err)
{
    if (!mesh->log) return TL_OK;
    TL_TRY(tl_record_open(mesh, (tl_edit){TL_EDIT_FLIP, e, TL_NONE, TL_NONE}, err));
    tl_status status = TL_OK;
    for (int side = 0; side < 2 && status == TL_OK; side++) {
        const int32_t f = mesh->edge_face[e][side];
        status = tl_record_row(mesh, TL_FACES, f, err);
        for (int k = 0; k < 3 && status == TL_OK; k++) {
            status = tl_record_row(mesh, TL_EDGES, mesh->face_edge[f][k], err);
            if (status == TL_OK) status = tl_record_row(mesh, TL_VERTS, mesh->face_vert[f][k], err);
        }
    }
    if (status != TL_OK) tl_record_drop(mesh);
    return status;
}

static void set_face(tl_mesh *mesh, int32_t f, const int32_t vert[3], const int32_t edge[3])
{
    for (int k = 0; k < 3; k++) {
        mesh->face_vert[f][k] = vert[k];
        mesh->face_edge[f][k] = edge[k];
    }
}

tl_status tl_mesh_flip_edge(tl_mesh *mesh, int32_t e, tl_error *err)
{
    const tl_verdict verdict = tl_mesh_can_flip(mesh, e);
    if (verdict != TL_VERDICT_OK)
        return tl_fail(err, TL_BAD_ARG, "edge %d cannot be flipped: %s", e, tl_verdict_name(verdict));
    TL_TRY(flip_prepare(mesh, e, err));

    const int32_t f = mesh->edge_face[e][0], g = mesh->edge_face[e][1];
    const int32_t kf = tl_face_corner_of_edge(mesh, f, e), kg = tl_face_corner_of_edge(mesh, g, e);
    const int32_t l = mesh->face_vert[f][kf], r = mesh->face_vert[g][kg];
    const int32_t a = mesh->face_vert[f][(kf + 1) % 3], b = mesh->face_vert[f][(kf + 2) % 3];
    const int32_t bl = mesh->face_edge[f][(kf + 1) % 3], la = mesh->face_edge[f][(kf + 2) % 3];
    const int32_t ar = mesh->face_edge[g][(kg + 1) % 3], rb = mesh->face_edge[g][(kg + 2) % 3];

    set_face(mesh, f, (int32_t[3]){a, r, l}, (int32_t[3]){e, la, ar});
    set_face(mesh, g, (int32_t[3]){b, l, r}, (int32_t[3]){e, rb, bl});
    mesh->edge_node[e][0] = mesh->vert_node[r];  // r -> l runs along f
    mesh->edge_node[e][1] = mesh->vert_node[l];
    mesh->edge_face[ar][mesh->edge_face[ar][0] != g] = f;
    mesh->edge_face[bl][mesh->edge_face[bl][0] != f] = g;
    if (mesh->vert_face[a] == g) mesh->vert_face[a] = f;
    if (mesh->vert_face[b] == f) mesh->vert_face[b] = g;
    mesh->edge_rest[e] = 0;
    tl_attrs_restart(mesh, TL_EDGES, e);
    const double area_f = tl_mesh_face_area_uv(mesh, f), area_g = tl_mesh_face_area_uv(mesh, g);
    tl_attrs_mix(mesh, TL_FACES, f, g, area_f / (area_f + area_g));
    return TL_OK;
}
