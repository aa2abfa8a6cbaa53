// mesh/mesh_collapse.c: melt a node into a neighbour.
//
//          x                  x
//        /   \              /   \       side s of e = (i, j): the face (i, j, l) goes, and with it edge (i, l);
//      i ----- l    ->     j --- l      edge (j, l) stays and takes over the face x beyond (i, l);
//       \     /                          all other faces of i get the vertex of j on their side
//          j
//
// Which nodes may go: tl_mesh_node_line. Link condition (Dey et al. 1999): a common neighbour of i and j
// is an apex l of e, and no face joins i, and another one j, to both apexes. A line node goes only along
// its line, so borders need no condition of their own: i cannot be on a border that e is not part of.

#include "base/alloc.h"
#include "mesh/mesh_edit.h"
#include "mesh/mesh_internal.h"
#include "mesh/mesh_query.h"

// Everything about the collapse that both verdict and edit need.
typedef struct collapse_plan {
    int32_t gone, into;            // nodes i and j
    int sides;                     // of e: 1 at a border
    int32_t face[2];               // the faces that go
    int32_t from[2], to[2];        // vertex of i and of j on each side; equal sides unless a seam
    int32_t dying[2], staying[2];  // edges (i, l) and (j, l)
    int32_t onward;                // the next edge of the line beyond i, TL_NONE without a line
} collapse_plan;

static tl_verdict plan_line(const tl_mesh *mesh, int32_t e, collapse_plan *plan)
{
    int32_t line[2];
    const tl_line_state state = tl_mesh_node_line(mesh, plan->gone, line);
    plan->onward = TL_NONE;
    if (state == TL_LINE_NONE) return TL_VERDICT_OK;
    if (state == TL_LINE_ENDS) return TL_VERDICT_FIXED_NODE;
    if (line[0] != e && line[1] != e) return TL_VERDICT_LEAVES_LINE;
    if (state == TL_LINE_BENT) return TL_VERDICT_BENT;
    plan->onward = line[line[0] == e];
    return TL_VERDICT_OK;
}

static void plan_sides(const tl_mesh *mesh, int32_t e, collapse_plan *plan)
{
    const int end = mesh->edge_node[e][1] == plan->gone;
    plan->sides = mesh->edge_face[e][1] == TL_NONE ? 1 : 2;
    for (int side = 0; side < plan->sides; side++) {
        const int32_t f = mesh->edge_face[e][side];
        plan->face[side] = f;
        plan->from[side] = tl_mesh_edge_vert(mesh, e, side, end);
        plan->to[side] = tl_mesh_edge_vert(mesh, e, side, 1 - end);
        plan->dying[side] = mesh->face_edge[f][tl_face_corner_of_vert(mesh, f, plan->to[side])];
        plan->staying[side] = mesh->face_edge[f][tl_face_corner_of_vert(mesh, f, plan->from[side])];
    }
}

static bool links_apart(const tl_mesh *mesh, int32_t e, const collapse_plan *plan)
{
    int32_t apex[2] = {TL_NONE, TL_NONE};
    for (int side = 0; side < plan->sides; side++) {
        apex[side] = mesh->vert_node[tl_mesh_opposite_vert(mesh, e, side)];
        if (tl_edge_across(mesh, plan->dying[side], plan->face[side]) == TL_NONE) return false;
    }
    enum { MOST = 64 };  // of more neighbours, each is looked for anew
    int32_t there[MOST];
    const int32_t count = tl_mesh_nodes_beside(mesh, plan->into, there, MOST);
    for (tl_spokes s = tl_spokes_begin(mesh, plan->gone); s.edge != TL_NONE; tl_spokes_next(mesh, &s)) {
        const int32_t n = tl_edge_other(mesh, s.edge, plan->gone);
        if (n == plan->into || n == apex[0] || n == apex[1]) continue;
        if (count > MOST && tl_mesh_find_edge(mesh, plan->into, n) != TL_NONE) return false;
        for (int32_t i = 0; i < count && count <= MOST; i++)
            if (there[i] == n) return false;
    }
    const int32_t across = plan->sides == 2 ? tl_mesh_find_edge(mesh, apex[0], apex[1]) : TL_NONE;
    if (across == TL_NONE || mesh->edge_face[across][1] == TL_NONE) return true;
    const int32_t a = mesh->vert_node[tl_mesh_opposite_vert(mesh, across, 0)];
    const int32_t b = mesh->vert_node[tl_mesh_opposite_vert(mesh, across, 1)];
    return !((a == plan->gone && b == plan->into) || (a == plan->into && b == plan->gone));
}

// Do all faces of vertex `from` that stay keep their shape when it moves to `to`?
static bool fan_survives(const tl_mesh *mesh, const collapse_plan *plan, int32_t from, int32_t to)
{
    for (tl_fan fan = tl_fan_begin(mesh, from); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
        if (fan.face == plan->face[0] || (plan->sides == 2 && fan.face == plan->face[1])) continue;
        const int32_t *v = mesh->face_vert[fan.face];
        if (!tl_shape_ok(mesh->uv[to], mesh->uv[v[(fan.corner + 1) % 3]], mesh->uv[v[(fan.corner + 2) % 3]]))
            return false;
    }
    return true;
}

static bool two_verts(const collapse_plan *plan) { return plan->sides == 2 && plan->from[0] != plan->from[1]; }

static tl_verdict make_plan(const tl_mesh *mesh, int32_t e, int32_t gone, collapse_plan *plan)
{
    if (e < 0 || e >= mesh->slots[TL_EDGES].count || !tl_alive(mesh, TL_EDGES, e)) return TL_VERDICT_NO_EDGE;
    if (mesh->edge_node[e][0] != gone && mesh->edge_node[e][1] != gone) return TL_VERDICT_NO_EDGE;
    *plan = (collapse_plan){.gone = gone, .into = tl_edge_other(mesh, e, gone)};
    const tl_verdict verdict = plan_line(mesh, e, plan);
    if (verdict != TL_VERDICT_OK) return verdict;
    plan_sides(mesh, e, plan);
    for (int side = 0; side < plan->sides; side++)  // a thin ear far from the origin may look straight
        if (plan->dying[side] == plan->onward) return TL_VERDICT_BENT;
    if (!fan_survives(mesh, plan, plan->from[0], plan->to[0])) return TL_VERDICT_INVERTS;
    if (two_verts(plan) && !fan_survives(mesh, plan, plan->from[1], plan->to[1])) return TL_VERDICT_INVERTS;
    if (!links_apart(mesh, e, plan)) return TL_VERDICT_TOPOLOGY;
    return TL_VERDICT_OK;
}

tl_verdict tl_mesh_can_collapse(const tl_mesh *mesh, int32_t e, int32_t gone)
{
    collapse_plan plan;
    return make_plan(mesh, e, gone, &plan);
}

// ---- the edit ---------------------------------------------------------------------------------------------

// The ring of i in mesh->scratch: faces that stay, [0] those of side 0, then of side 1; then edges that
// move to j.
typedef struct ring {
    int32_t face_count[2], edge_count;
} ring;

static tl_status gather_ring(tl_mesh *mesh, int32_t e, const collapse_plan *plan, ring *r, tl_error *err)
{
    *r = (ring){0};
    int32_t count = 0;
    for (int side = 0; side < (two_verts(plan) ? 2 : 1); side++)
        for (tl_fan fan = tl_fan_begin(mesh, plan->from[side]); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
            if (fan.face == plan->face[0] || (plan->sides == 2 && fan.face == plan->face[1])) continue;
            if (!TL_GROW(&mesh->alloc, mesh->scratch, mesh->scratch_cap, count + 1))
                return tl_fail_memory(err, "the ring of a node");
            mesh->scratch[count++] = fan.face;
            r->face_count[side]++;
        }
    for (tl_spokes s = tl_spokes_begin(mesh, plan->gone); s.edge != TL_NONE; tl_spokes_next(mesh, &s)) {
        if (s.edge == e || s.edge == plan->dying[0] || (plan->sides == 2 && s.edge == plan->dying[1])) continue;
        if (!TL_GROW(&mesh->alloc, mesh->scratch, mesh->scratch_cap, count + 1))
            return tl_fail_memory(err, "the ring of a node");
        mesh->scratch[count++] = s.edge;
        r->edge_count++;
    }
    return TL_OK;
}

static tl_status record_ring(tl_mesh *mesh, int32_t e, const collapse_plan *plan, const ring *r, tl_error *err)
{
    const int32_t faces = r->face_count[0] + r->face_count[1];
    for (int32_t i = 0; i < faces; i++) TL_TRY(tl_record_row(mesh, TL_FACES, mesh->scratch[i], err));
    for (int32_t i = 0; i < r->edge_count; i++) TL_TRY(tl_record_row(mesh, TL_EDGES, mesh->scratch[faces + i], err));
    TL_TRY(tl_record_row(mesh, TL_NODES, plan->gone, err));
    TL_TRY(tl_record_row(mesh, TL_NODES, plan->into, err));
    TL_TRY(tl_record_row(mesh, TL_EDGES, e, err));
    for (int side = 0; side < plan->sides; side++) {
        TL_TRY(tl_record_row(mesh, TL_FACES, plan->face[side], err));
        TL_TRY(tl_record_row(mesh, TL_EDGES, plan->dying[side], err));
        TL_TRY(tl_record_row(mesh, TL_EDGES, plan->staying[side], err));
        for (int k = 0; k < 3; k++) TL_TRY(tl_record_row(mesh, TL_VERTS, mesh->face_vert[plan->face[side]][k], err));
    }
    return TL_OK;
}

// Amounts of what goes pass to what stays: node to node, vertex to vertex, edge (i, l) to (j, l), the
// edge e itself to the next one on its line or in halves to both staying ones, a face to the rest of its
// fan by area.
static void pass_amounts(tl_mesh *mesh, int32_t e, const collapse_plan *plan, const ring *r)
{
    tl_attrs_move(mesh, TL_NODES, plan->gone, 1, plan->into);
    for (int side = 0; side < (two_verts(plan) ? 2 : 1); side++)
        tl_attrs_move(mesh, TL_VERTS, plan->from[side], 1, plan->to[side]);
    for (int side = 0; side < plan->sides; side++)
        tl_attrs_move(mesh, TL_EDGES, plan->dying[side], 1, plan->staying[side]);
    if (plan->onward != TL_NONE) {
        tl_attrs_move(mesh, TL_EDGES, e, 1, plan->onward);
    } else {
        tl_attrs_move(mesh, TL_EDGES, e, 0.5, plan->staying[0]);
        tl_attrs_move(mesh, TL_EDGES, e, 1, plan->staying[1]);
    }
    if (!tl_attrs_conserve(mesh, TL_FACES)) return;
    for (int side = 0; side < plan->sides; side++) {
        const int fan = side == 1 && two_verts(plan);
        const int32_t *faces = mesh->scratch + (fan ? r->face_count[0] : 0), count = r->face_count[fan];
        double rest = 0;
        for (int32_t i = 0; i < count; i++) rest += tl_mesh_face_area_uv(mesh, faces[i]);
        for (int32_t i = 0; i < count; i++) {  // shares of what is left, so that the last takes all
            const double area = tl_mesh_face_area_uv(mesh, faces[i]);
            tl_attrs_move(mesh, TL_FACES, plan->face[side], i == count - 1 ? 1 : area / rest, faces[i]);
            rest -= area;
        }
    }
}

// After the ring has moved to j: edge (j, l) takes the face beyond (i, l) in place of the one that goes.
static void close_side(tl_mesh *mesh, const collapse_plan *plan, int side)
{
    const int32_t f = plan->face[side], dying = plan->dying[side], staying = plan->staying[side];
    const int32_t x = tl_edge_across(mesh, dying, f);
    mesh->face_edge[x][tl_face_corner_of_edge(mesh, x, dying)] = staying;
    mesh->edge_face[staying][mesh->edge_face[staying][0] != f] = x;
    for (int k = 0; k < 3; k++) {
        const int32_t v = mesh->face_vert[f][k];
        if (mesh->vert_face[v] == f) mesh->vert_face[v] = x;  // that of i dies, those of j and l are in x
    }
}

tl_status tl_mesh_collapse_edge(tl_mesh *mesh, int32_t e, int32_t gone, tl_collapse *out, tl_error *err)
{
    collapse_plan plan;
    const tl_verdict verdict = make_plan(mesh, e, gone, &plan);
    if (verdict != TL_VERDICT_OK)
        return tl_fail(err, TL_BAD_ARG, "edge %d cannot lose its node %d: %s", e, gone, tl_verdict_name(verdict));
    ring r;
    TL_TRY(gather_ring(mesh, e, &plan, &r, err));
    if (mesh->log) {
        const tl_edit edit = {TL_EDIT_COLLAPSE, e, gone, plan.into};
        TL_TRY(tl_record_open(mesh, edit, err));
        const tl_status status = record_ring(mesh, e, &plan, &r, err);
        if (status != TL_OK) {
            tl_record_drop(mesh);
            return status;
        }
    }

    const int32_t faces = r.face_count[0] + r.face_count[1];
    for (int32_t i = 0; i < faces; i++) {
        const int side = i >= r.face_count[0];
        const int32_t f = mesh->scratch[i];
        mesh->face_vert[f][tl_face_corner_of_vert(mesh, f, plan.from[side])] = plan.to[side];
    }
    for (int32_t i = 0; i < r.edge_count; i++) {
        int32_t *n = mesh->edge_node[mesh->scratch[faces + i]];
        n[n[1] == gone] = plan.into;
    }
    for (int side = 0; side < plan.sides; side++) close_side(mesh, &plan, side);
    pass_amounts(mesh, e, &plan, &r);

    tl_slot_give(mesh, TL_EDGES, e);
    for (int side = 0; side < plan.sides; side++) {
        tl_slot_give(mesh, TL_EDGES, plan.dying[side]);
        tl_slot_give(mesh, TL_FACES, plan.face[side]);
    }
    tl_slot_give(mesh, TL_VERTS, plan.from[0]);
    if (two_verts(&plan)) tl_slot_give(mesh, TL_VERTS, plan.from[1]);
    tl_slot_give(mesh, TL_NODES, gone);
    if (out) *out = (tl_collapse){plan.into, {plan.staying[0], plan.sides == 2 ? plan.staying[1] : TL_NONE}};
    return TL_OK;
}
