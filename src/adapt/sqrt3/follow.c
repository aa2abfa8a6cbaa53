// adapt/sqrt3/follow.c: edits of the hierarchy as edits of the mesh, under the guard of adapt/anisotropic.

#include "adapt/sqrt3/follow.h"

#include "base/alloc.h"
#include "base/fail.h"

enum { SLOTS_PER_EDIT = 8 };  // of one kind that an edit takes at most
#define STRAIN_FREE 0.06      // root mean square over the faces of a flip or a join: what a fold by 0.7 rad makes of it
#define SHAPE_LEAST 0.1       // of new faces: what equilateral triangles and their thirds have is 1 and 0.65
#define PLACE_PART 0.5        // of the way to the tangent planes at the corners: exact for quadratic surfaces
#define FARTHEST 0.125        // of the longest edge, that a new node may go off its face

tl_status sqrt3_keep_up(sqrt3_state *s, int32_t extra, tl_error *err)
{
    const int32_t count = tl_sqrt3_vert_slots(s->h) + extra, before = s->vert_cap;
    if (!TL_GROW(&s->alloc, s->vert, s->vert_cap, count)) return tl_fail_memory(err, "the hierarchy");
    for (int32_t i = before; i < s->vert_cap; i++) s->vert[i] = TL_NONE;
    const int32_t had = s->bend_cap;
    if (!TL_GROW(&s->alloc, s->bend, s->bend_cap, count)) return tl_fail_memory(err, "the hierarchy");
    for (int32_t i = had; i < s->bend_cap; i++) s->bend[i] = 0;
    return TL_OK;
}

// ---- where things are in the mesh -------------------------------------------------------------------------

// The face of three vertices, in this order or, at the second end of a border, the other; TL_NONE: there is none.
static int32_t find_face(const tl_mesh *mesh, int32_t a, int32_t b, int32_t c)
{
    if (a == TL_NONE || b == TL_NONE || c == TL_NONE) return TL_NONE;
    for (tl_fan fan = tl_fan_begin(mesh, a); fan.face != TL_NONE; tl_fan_next(mesh, &fan))
        if (tl_face_corner_of_vert(mesh, fan.face, b) != TL_NONE &&
            tl_face_corner_of_vert(mesh, fan.face, c) != TL_NONE)
            return fan.face;
    return TL_NONE;
}

// The face on one side of an edit; `edge` gets its edge from corner 0 to corner 1.
static int32_t face_of(const sqrt3_follower *f, const int32_t corner[4], int32_t *edge)
{
    const tl_mesh *mesh = f->r->mesh;
    const int32_t *to = f->s->vert, face = find_face(mesh, to[corner[0]], to[corner[1]], to[corner[2]]);
    if (face != TL_NONE) *edge = mesh->face_edge[face][tl_face_corner_of_vert(mesh, face, to[corner[2]])];
    return face;
}

// 12 sqrt(3) area / perimeter^2 in material space: 1 for an equilateral triangle.
static double shape_of(const tl_vec2 a, const tl_vec2 b, const tl_vec2 c)
{
    const tl_vec2 u = tl_sub2(b, a), v = tl_sub2(c, b), w = tl_sub2(a, c);
    const double round = tl_norm2(u) + tl_norm2(v) + tl_norm2(w);
    return 12 * 1.7320508075688772 * 0.5 * tl_cross2(u, v) / (round * round);
}

// Are two new triangles too thin, and thinner than the old ones? A bad input is not made worse by it.
static bool flip_thins(const tl_mesh *mesh, int32_t a, int32_t b, int32_t left, int32_t right)
{
    const tl_vec2 *u = mesh->uv;
    const double before = low(shape_of(u[a], u[b], u[left]), shape_of(u[b], u[a], u[right]));
    const double after = low(shape_of(u[a], u[right], u[left]), shape_of(u[b], u[left], u[right]));
    return after < SHAPE_LEAST && after < before;
}

static bool cut_thins(const tl_mesh *mesh, int32_t face)
{
    const int32_t *v = mesh->face_vert[face];
    const tl_vec2 a = mesh->uv[v[0]], b = mesh->uv[v[1]], c = mesh->uv[v[2]];
    const tl_vec2 m = {(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3};
    return low(low(shape_of(a, b, m), shape_of(b, c, m)), shape_of(c, a, m)) < SHAPE_LEAST;
}

static double larger_bend(const sqrt3_state *s, const int32_t *corner, int count)
{
    double most = 0;
    for (int k = 0; k < count; k++) most = high(most, s->bend[corner[k]]);
    return most;
}

// ---- strain -----------------------------------------------------------------------------------------------

static void add_strain(const remesher *r, int32_t label, const int32_t v[3], strain_sum *sum)
{
    tl_vec2 u[3];
    tl_vec3 x[3];
    for (int k = 0; k < 3; k++) u[k] = r->mesh->uv[v[k]], x[k] = r->mesh->pos[r->mesh->vert_node[v[k]]];
    remesh_add_strain(r, label, u, x, sum);
}

// Energy: all operations of an update together add no more than is granted (sqrt3.c). Strain: a coarse layer is bent by
// more at its edges than meshes of the other kinds, so more is let through; with less it stays coarse where it is bent.
// But only up to there: several layers come in one update, and what each lets grow by a part would grow without end.
static bool strains(const remesher *r, const strain_sum *before, const strain_sum *after)
{
    if (after->strain2 > before->strain2 && after->strain2 > STRAIN_FREE * STRAIN_FREE * before->area) return true;
    return r->def->fabric && after->energy - before->energy > r->energy_left + before->rounding;
}

// ---- cuts -------------------------------------------------------------------------------------------------

static tl_status begin_cut(sqrt3_follower *f, const int32_t *face, int count, int32_t *left, tl_error *err)
{
    remesher *r = f->r;
    TL_TRY(sqrt3_keep_up(f->s, SLOTS_PER_EDIT, err));
    TL_TRY(remesh_grow_marks(r, SLOTS_PER_EDIT, err));
    TL_TRY(remesh_know_clearance(r, err));
    if (!TL_GROW(&r->mesh->alloc, r->changed.item, r->changed.cap, SLOTS_PER_EDIT))
        return tl_fail_memory(err, "remeshing");
    r->changed.count = 0;
    for (int i = 0; i < count; i++) {
        if ((left[i] = remesh_budget(r, face[i])) == TL_NONE) return tl_fail_memory(err, "remeshing");
        r->changed.item[r->changed.count++] = face[i];
    }
    return TL_OK;
}

static void mark_changed(remesher *r)
{
    for (int32_t i = 0; i < r->changed.count; i++) r->modified[r->changed.item[i]] = 1;
}

// Half the way to the tangent planes at the corners. A flip across an edge between two such nodes leaves their distance
// as it was in the material, where a node in the plane of its face would come nearer to the other one.
static tl_vec3 place_in_face(const tl_mesh *mesh, const int32_t n[3], tl_vec3 middle)
{
    tl_vec3 off = {0, 0, 0};
    double length2 = 0;
    for (int k = 0; k < 3; k++) {
        const tl_vec3 normal = tl_mesh_node_normal(mesh, n[k]), d = tl_sub3(mesh->pos[n[k]], middle);
        off = tl_madd3(off, PLACE_PART / 3 * tl_dot3(d, normal), normal);
        const tl_vec3 side = tl_sub3(mesh->pos[n[(k + 1) % 3]], mesh->pos[n[k]]);
        length2 = high(length2, tl_dot3(side, side));
    }
    const double far2 = tl_dot3(off, off), most2 = FARTHEST * FARTHEST * length2;
    if (!(far2 > 0)) return middle;
    return tl_madd3(middle, far2 > most2 ? sqrt(most2 / far2) : 1, off);
}

// Puts the new node off the face where that strains little; says what it adds to the stretching energy.
static void move_centre(sqrt3_follower *f, const tl_face_split *s, const int32_t n[3], int32_t label)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    const tl_vec3 middle = mesh->pos[s->node], place = place_in_face(mesh, n, middle);
    strain_sum before = {0}, after = {0};
    for (int32_t i = 0; i < r->changed.count; i++) add_strain(r, label, mesh->face_vert[r->changed.item[i]], &before);
    mesh->pos[s->node] = place;
    for (int32_t i = 0; i < r->changed.count; i++) add_strain(r, label, mesh->face_vert[r->changed.item[i]], &after);
    mesh->pos[s->node] = middle;
    if (strains(r, &before, &after)) return;
    remesh_move_node(r, &(tl_split){.node = s->node, .vert = {s->vert, TL_NONE}}, place);
    const tl_vec3 moved = tl_sub3(mesh->pos[s->node], middle);
    if (tl_dot3(moved, moved) > 0) remesh_spend(r, after.energy - before.energy);
}

static void hold_on_lines_only(remesher *r, int32_t node)
{
    if (!r->def->line_groups) return;
    int32_t *held = tl_mesh_attr_ints(r->mesh, TL_NODES, r->attrs.held) + (size_t)node * (size_t)r->groups;
    for (int32_t k = 0; k < r->groups; k++) held[k] &= ~r->def->line_groups[k];
}

static bool over_limit(const sqrt3_follower *f, int more)
{
    return f->max_faces > 0 && f->r->mesh->slots[TL_FACES].live + more > f->max_faces;
}

static tl_status split_face(sqrt3_follower *f, const tl_sqrt3_edit *edit, bool *refused, tl_error *err)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    int32_t edge, left;
    const int32_t face = face_of(f, edit->corner[0], &edge);
    *refused = face == TL_NONE || over_limit(f, 2) || cut_thins(mesh, face) ||
               tl_mesh_can_split_face(mesh, face) != TL_VERDICT_OK;
    if (*refused) return TL_OK;
    TL_TRY(begin_cut(f, &face, 1, &left, err));
    const int32_t n[3] = {tl_face_node(mesh, face, 0), tl_face_node(mesh, face, 1), tl_face_node(mesh, face, 2)};
    const motion before = remesh_take_momentum(r, &r->changed, mesh->pos[n[0]]);
    tl_face_split s;
    const tl_status status = tl_mesh_split_face(mesh, face, &s, err);
    if (status != TL_OK) return status;
    hold_on_lines_only(r, s.node);
    for (int k = 0; k < 2; k++) r->changed.item[r->changed.count++] = s.face[k], r->budget[s.face[k]] = left;
    mesh->uv[s.vert] = tl_sqrt3_verts(f->s->h)[edit->vert[0]].uv;
    mark_changed(r);
    if (!remesh_held(r, s.node)) move_centre(f, &s, n, mesh->face_label[face]);
    remesh_give_momentum(r, &r->changed, &before);
    remesh_rest(r, false);
    f->s->vert[edit->vert[0]] = s.vert;
    f->s->bend[edit->vert[0]] = larger_bend(f->s, edit->corner[0], 3);
    r->report->splits++;
    return TL_OK;
}

static tl_status split_edge(sqrt3_follower *f, const tl_sqrt3_edit *edit, bool *refused, tl_error *err)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    int32_t e = TL_NONE, left[2];
    const int32_t face = face_of(f, edit->corner[0], &e);
    *refused = face == TL_NONE || over_limit(f, 2);
    if (*refused) return TL_OK;
    const int side = mesh->edge_face[e][1] == face;
    const double t = mesh->edge_node[e][0] == mesh->vert_node[f->s->vert[edit->corner[0][0]]] ? edit->t : 1 - edit->t;
    const bool sewn = edit->vert[1] != TL_SQRT3_NONE;
    // the hierarchy knows of a second side if and only if the mesh has one
    *refused = tl_mesh_can_split(mesh, e, t) != TL_VERDICT_OK || sewn != (mesh->edge_face[e][1] != TL_NONE);
    if (*refused) return TL_OK;
    TL_TRY(begin_cut(f, mesh->edge_face[e], sewn ? 2 : 1, left, err));
    const motion before = remesh_take_momentum(r, &r->changed, mesh->pos[mesh->edge_node[e][0]]);
    tl_split s;
    TL_TRY(tl_mesh_split_edge(mesh, e, t, &s, err));
    for (int k = 0; k < 2 && s.face[k] != TL_NONE; k++)
        r->changed.item[r->changed.count++] = s.face[k], r->budget[s.face[k]] = left[k];
    mark_changed(r);
    remesh_give_momentum(r, &r->changed, &before);
    remesh_rest(r, false);
    for (int k = 0; k < (sewn ? 2 : 1); k++) {
        const int32_t v = edit->vert[k], made = s.vert[side ^ k];
        f->s->vert[v] = made;
        mesh->uv[made] = tl_sqrt3_verts(f->s->h)[v].uv;
        f->s->bend[v] = larger_bend(f->s, edit->corner[0], 2);
    }
    r->report->splits++;
    return TL_OK;
}

// ---- flips and joins --------------------------------------------------------------------------------------

static tl_status flip(sqrt3_follower *f, const tl_sqrt3_edit *edit, bool *refused, tl_error *err)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    int32_t e = TL_NONE, left;
    *refused = true;
    if (face_of(f, edit->corner[0], &e) == TL_NONE || tl_mesh_can_flip(mesh, e) != TL_VERDICT_OK) return TL_OK;
    TL_TRY(remesh_grow_marks(r, SLOTS_PER_EDIT, err));
    TL_TRY(remesh_know_clearance(r, err));
    const int32_t a = tl_mesh_edge_vert(mesh, e, 0, 0), b = tl_mesh_edge_vert(mesh, e, 0, 1);
    const int32_t l = tl_mesh_opposite_vert(mesh, e, 0), q = tl_mesh_opposite_vert(mesh, e, 1);
    const int32_t label = mesh->face_label[mesh->edge_face[e][0]];
    strain_sum before = {0}, after = {0};
    add_strain(r, label, (int32_t[3]){a, b, l}, &before), add_strain(r, label, (int32_t[3]){b, a, q}, &before);
    add_strain(r, label, (int32_t[3]){a, q, l}, &after), add_strain(r, label, (int32_t[3]){b, l, q}, &after);
    if (flip_thins(mesh, a, b, l, q) || strains(r, &before, &after) || !remesh_flip_fits(r, e, &left)) {
        r->report->refused++;
        return TL_OK;
    }
    r->changed.count = 0;
    for (int side = 0; side < 2; side++)
        if (!remesh_push(r, &r->changed, mesh->edge_face[e][side])) return tl_fail_memory(err, "remeshing");
    const motion momentum = remesh_take_momentum(r, &r->changed, mesh->pos[mesh->edge_node[e][0]]);
    TL_TRY(tl_mesh_flip_edge(mesh, e, err));
    remesh_set_budget(r, left);
    remesh_give_momentum(r, &r->changed, &momentum);
    remesh_rest(r, false);
    remesh_spend(r, after.energy - before.energy);
    r->report->flips++;
    *refused = false;
    return TL_OK;
}

// Strain around a vertex that goes, before and after its faces get the vertex `to`.
static void strain_of_join(const remesher *r, int32_t from, int32_t to, strain_sum *before, strain_sum *after)
{
    const tl_mesh *mesh = r->mesh;
    for (tl_fan fan = tl_fan_begin(mesh, from); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
        int32_t v[3] = {mesh->face_vert[fan.face][0], mesh->face_vert[fan.face][1], mesh->face_vert[fan.face][2]};
        add_strain(r, mesh->face_label[fan.face], v, before);
        if (v[0] == to || v[1] == to || v[2] == to) continue;
        v[fan.corner] = to;
        add_strain(r, mesh->face_label[fan.face], v, after);
    }
}

static tl_status collapse(sqrt3_follower *f, int32_t e, int32_t gone, int32_t left, tl_error *err)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    const int32_t count = tl_mesh_node_faces(mesh, gone, NULL, 0);
    if (!TL_GROW(&mesh->alloc, r->changed.item, r->changed.cap, count)) return tl_fail_memory(err, "remeshing");
    r->changed.count = tl_mesh_node_faces(mesh, gone, r->changed.item, count);
    const motion before = remesh_take_momentum(r, &r->changed, mesh->pos[gone]);
    TL_TRY(tl_mesh_collapse_edge(mesh, e, gone, NULL, err));
    int32_t kept = 0;
    for (int32_t i = 0; i < r->changed.count; i++)
        if (tl_alive(mesh, TL_FACES, r->changed.item[i])) r->changed.item[kept++] = r->changed.item[i];
    r->changed.count = kept;
    remesh_set_budget(r, left);
    remesh_give_momentum(r, &r->changed, &before);
    remesh_rest(r, true);
    r->report->collapses++;
    return TL_OK;
}

// The vertex of the edit melts into corner 0 of its face or edge.
static tl_status join(sqrt3_follower *f, const tl_sqrt3_edit *edit, bool *refused, tl_error *err)
{
    remesher *r = f->r;
    const tl_mesh *mesh = r->mesh;
    const int32_t from = f->s->vert[edit->vert[0]], to = f->s->vert[edit->corner[0][0]];
    *refused = true;
    if (from == TL_NONE || to == TL_NONE) return TL_OK;
    const int32_t gone = mesh->vert_node[from], e = tl_mesh_find_edge(mesh, gone, mesh->vert_node[to]);
    if (e == TL_NONE || remesh_listed(r, gone) || tl_mesh_can_collapse(mesh, e, gone) != TL_VERDICT_OK) return TL_OK;
    TL_TRY(remesh_grow_marks(r, SLOTS_PER_EDIT, err));
    TL_TRY(remesh_know_clearance(r, err));
    strain_sum before = {0}, after = {0};
    strain_of_join(r, from, to, &before, &after);
    if (edit->vert[1] != TL_SQRT3_NONE)
        strain_of_join(r, f->s->vert[edit->vert[1]], f->s->vert[edit->corner[1][0]], &before, &after);
    int32_t left;
    if (strains(r, &before, &after) || !remesh_collapse_fits(r, e, gone, &left)) {
        r->report->refused++;
        return TL_OK;
    }
    TL_TRY(collapse(f, e, gone, left, err));
    remesh_spend(r, after.energy - before.energy);
    for (int k = 0; k < 2; k++)
        if (edit->vert[k] != TL_SQRT3_NONE) f->s->vert[edit->vert[k]] = TL_NONE;
    *refused = false;
    return TL_OK;
}

tl_status sqrt3_apply(void *user, const tl_sqrt3_edit *edit, bool *refused, tl_error *err)
{
    sqrt3_follower *f = user;
    switch (edit->kind) {
    case TL_SQRT3_SPLIT_FACE: return split_face(f, edit, refused, err);
    case TL_SQRT3_SPLIT_EDGE: return split_edge(f, edit, refused, err);
    case TL_SQRT3_FLIP: return flip(f, edit, refused, err);
    case TL_SQRT3_JOIN_FACE:
    case TL_SQRT3_JOIN_EDGE: return join(f, edit, refused, err);
    }
    return TL_OK;
}
