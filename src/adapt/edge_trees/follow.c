// adapt/edge_trees/follow.c: splits and joins of edges as edits of the mesh, under the guard of adapt/anisotropic.

#include "adapt/edge_trees/follow.h"

#include "adapt/edge_trees/trees_impl.h"
#include "base/alloc.h"
#include "base/fail.h"

enum { SLOTS_PER_EDIT = 8, FULL = 7 };
#define STRAIN_FREE 0.12  // root mean square over the faces of a flip or a join: a coarse fold turned by 1 rad

tl_status trees_keep_up(trees_state *s, int32_t extra, tl_error *err)
{
    const int32_t before = s->node_cap;
    if (!TL_GROW(&s->alloc, s->node, s->node_cap, (int64_t)tl_trees_count(s->trees).vert_slots + extra))
        return tl_fail_memory(err, "edge trees");
    for (int32_t i = before; i < s->node_cap; i++) s->node[i] = TL_NONE;
    return TL_OK;
}

// ---- where things are -----------------------------------------------------------------------------------------

static int32_t edge_between(const trees_follower *f, int32_t a, int32_t b)
{
    return tl_mesh_find_edge(f->r->mesh, f->s->node[a], f->s->node[b]);
}

static int32_t middle_of(const trees_follower *f, const tl_trees_tri *t, int k)
{
    return tl_trees_e(f->s->trees, t->edge[k] / 2)->mid;
}

// The long diagonal of a triangle with two split edges, from the middle of edge `from`; TL_NONE: it has none.
static int32_t diagonal(const trees_follower *f, const tl_trees_tri *t, int *from)
{
    const tl_trees_config *c = &tl_trees_configs[t->config];
    *from = c->family;
    if (c->tris != 3) return TL_NONE;
    return edge_between(f, middle_of(f, t, c->family), t->vert[(c->family + 2) % 3]);
}

// ---- strain ---------------------------------------------------------------------------------------------------

static void add_strain(const remesher *r, int32_t label, const int32_t v[3], strain_sum *sum)
{
    tl_vec2 u[3];
    tl_vec3 x[3];
    for (int k = 0; k < 3; k++) u[k] = r->mesh->uv[v[k]], x[k] = r->mesh->pos[r->mesh->vert_node[v[k]]];
    remesh_add_strain(r, label, u, x, sum);
}

// A coarse level is bent by more at its edges than other meshes, so more is let through than there (adapt/sqrt3).
static bool strains(const remesher *r, const strain_sum *before, const strain_sum *after)
{
    if (after->strain2 > before->strain2 && after->strain2 > STRAIN_FREE * STRAIN_FREE * before->area) return true;
    return r->def->fabric && after->energy - before->energy > r->energy_left + before->rounding;
}

// ---- what every operation needs -------------------------------------------------------------------------------

static tl_status get_ready(trees_follower *f, tl_error *err)
{
    remesher *r = f->r;
    TL_TRY(tl_trees_reserve(f->s->trees, err));
    TL_TRY(trees_keep_up(f->s, 1, err));
    TL_TRY(remesh_grow_marks(r, SLOTS_PER_EDIT, err));
    TL_TRY(remesh_know_clearance(r, err));
    if (!TL_GROW(&r->mesh->alloc, r->changed.item, r->changed.cap, SLOTS_PER_EDIT))
        return tl_fail_memory(err, "remeshing");
    r->changed.count = 0;
    return TL_OK;
}

static void add_once(ids *list, int32_t face)
{
    for (int32_t i = 0; i < list->count; i++)
        if (list->item[i] == face) return;
    list->item[list->count++] = face;
}

static void mark_changed(remesher *r)
{
    for (int32_t i = 0; i < r->changed.count; i++) r->modified[r->changed.item[i]] = 1;
}

// An edge within a triangle becomes the other diagonal of the two faces beside it, if nothing speaks against it.
static tl_status flip(trees_follower *f, int32_t e, bool *done, double *rise, tl_error *err)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    *done = false;
    if (e == TL_NONE || tl_mesh_can_flip(mesh, e) != TL_VERDICT_OK) return TL_OK;
    const int32_t a = tl_mesh_edge_vert(mesh, e, 0, 0), b = tl_mesh_edge_vert(mesh, e, 0, 1),
                  l = tl_mesh_opposite_vert(mesh, e, 0), q = tl_mesh_opposite_vert(mesh, e, 1),
                  label = mesh->face_label[mesh->edge_face[e][0]];
    strain_sum before = {0}, after = {0};
    int32_t left;
    add_strain(r, label, (int32_t[3]){a, b, l}, &before), add_strain(r, label, (int32_t[3]){b, a, q}, &before);
    add_strain(r, label, (int32_t[3]){a, q, l}, &after), add_strain(r, label, (int32_t[3]){b, l, q}, &after);
    if (strains(r, &before, &after) || !remesh_flip_fits(r, e, &left)) return TL_OK;
    TL_TRY(tl_mesh_flip_edge(mesh, e, err));
    for (int side = 0; side < 2; side++) r->budget[mesh->edge_face[e][side]] = left;
    *rise += after.energy - before.energy;
    *done = true;
    return TL_OK;
}

// ---- splits ---------------------------------------------------------------------------------------------------

static bool over_limit(const trees_follower *f)
{
    return f->max_faces > 0 && f->r->mesh->slots[TL_FACES].live + 2 > f->max_faces;
}

static void hold_on_lines_only(remesher *r, int32_t node)
{
    if (!r->def->line_groups) return;
    int32_t *held = tl_mesh_attr_ints(r->mesh, TL_NODES, r->attrs.held) + (size_t)node * (size_t)r->groups;
    for (int32_t k = 0; k < r->groups; k++) held[k] &= ~r->def->line_groups[k];
}

// Cuts edge `e` of the mesh, puts the new node where a smooth surface would have it as far as there is room, and flips
// `turn` (TL_NONE: nothing); the new faces go to r->changed. Not `done`: a flip was refused, and the caller takes
// everything back.
static tl_status cut(trees_follower *f, int32_t e, const int32_t turn[2], tl_split *s, bool *done, double *rise,
                     tl_error *err)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    int32_t left[2] = {TL_NONE, TL_NONE};
    for (int side = 0; side < 2 && mesh->edge_face[e][side] != TL_NONE; side++)
        if ((left[side] = remesh_budget(r, mesh->edge_face[e][side])) == TL_NONE)
            return tl_fail_memory(err, "remeshing");
    const bool inside = tl_mesh_edge_kind(mesh, e) == TL_EDGE_PLAIN;
    double moved = 0;
    const tl_vec3 place = remesh_place(r, e, &moved);
    TL_TRY(tl_mesh_split_edge(mesh, e, 0.5, s, err));
    for (int side = 0; side < 2 && s->face[side] != TL_NONE; side++)
        r->changed.item[r->changed.count++] = s->face[side], r->budget[s->face[side]] = left[side];
    mark_changed(r);
    if (inside) hold_on_lines_only(r, s->node);
    if (!remesh_held(r, s->node)) remesh_move_node(r, s, place), *rise += moved > 0 ? moved : 0;
    *done = true;
    for (int k = 0; k < 2 && *done; k++)
        if (turn[k] != TL_NONE) TL_TRY(flip(f, turn[k], done, rise, err));
    return TL_OK;
}

// The diagonals that are to be flipped when edge `id` is split, and all faces that change.
static void list_changing(trees_follower *f, int32_t id, int32_t e, int32_t turn[2])
{
    remesher *r = f->r;
    const tl_mesh *mesh = r->mesh;
    const tl_trees_edge *edge = tl_trees_e(f->s->trees, id);
    for (int side = 0; side < 2; side++)
        if (mesh->edge_face[e][side] != TL_NONE) add_once(&r->changed, mesh->edge_face[e][side]);
    for (int side = 0; side < 2; side++) {
        int from;
        turn[side] =
            edge->tri[side] == TL_TREES_NONE ? TL_NONE : diagonal(f, tl_trees_t(f->s->trees, edge->tri[side]), &from);
        for (int k = 0; turn[side] != TL_NONE && k < 2; k++) add_once(&r->changed, mesh->edge_face[turn[side]][k]);
    }
}

static tl_status split(trees_follower *f, int32_t id, tl_error *err)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    tl_trees *m = f->s->trees;
    const int32_t a = tl_trees_e(m, id)->a, b = tl_trees_e(m, id)->b, e = edge_between(f, a, b);
    if (e == TL_NONE || tl_mesh_can_split(mesh, e, 0.5) != TL_VERDICT_OK) return TL_OK;
    if (over_limit(f)) {
        r->report->too_long++;
        return TL_OK;
    }
    TL_TRY(get_ready(f, err));
    int32_t turn[2], vert;
    list_changing(f, id, e, turn);
    const int32_t had = r->changed.count, mark = tl_mesh_mark(mesh);
    const motion before = remesh_take_momentum(r, &r->changed, mesh->pos[f->s->node[a]]);
    tl_split s = {.node = TL_NONE};
    bool done = false;
    double rise = 0;
    const tl_status status = cut(f, e, turn, &s, &done, &rise, err);
    if (status != TL_OK || !done) {
        tl_mesh_undo_to(mesh, mark);
        r->changed.count = had;
        r->report->refused++;
    }
    remesh_give_momentum(r, &r->changed, &before);
    if (status != TL_OK || !done) return status;
    remesh_rest(r, false);
    remesh_spend(r, rise);
    TL_TRY(tl_trees_split(m, id, &vert, err));  // there is room: none of these two fails
    f->s->node[vert] = s.node;
    r->report->splits++;
    r->report->flips += (turn[0] != TL_NONE) + (turn[1] != TL_NONE);
    return tl_trees_commit(m, (tl_trees_choice){0}, NULL, err);
}

// ---- joins ----------------------------------------------------------------------------------------------------

// Which ends of edge `id` its middle may melt into, as far as the triangle on one side goes: bit 0 the end `a`, bit 1
// `b`. A diagonal from that middle must end where no other split edge does.
static int free_ends(const trees_follower *f, int32_t id, int side)
{
    const tl_trees *m = f->s->trees;
    const tl_trees_edge *edge = tl_trees_e(m, id);
    if (edge->tri[side] == TL_TREES_NONE) return 3;
    const tl_trees_tri *t = tl_trees_t(m, edge->tri[side]);
    const tl_trees_config *c = &tl_trees_configs[t->config];
    if (c->tris != 3) return 3;
    const int k = c->family;
    if (t->edge[k] / 2 != id) return 3;
    const int32_t end = c->state >> (k + 1) % 3 & 1 ? t->vert[k] : t->vert[(k + 1) % 3];
    return end == edge->a ? 1 : 2;
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

// Melts node `gone` into node `to`, if nothing speaks against it.
static tl_status melt(trees_follower *f, int32_t gone, int32_t to, bool *done, double *rise, tl_error *err)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    *done = false;
    const int32_t e = tl_mesh_find_edge(mesh, gone, to);
    if (e == TL_NONE || tl_mesh_can_collapse(mesh, e, gone) != TL_VERDICT_OK) return TL_OK;
    const int end = mesh->edge_node[e][1] == gone;
    strain_sum before = {0}, after = {0};
    const int32_t from = tl_mesh_edge_vert(mesh, e, 0, end), other = tl_mesh_edge_vert(mesh, e, 1, end);
    strain_of_join(r, from, tl_mesh_edge_vert(mesh, e, 0, 1 - end), &before, &after);
    if (other != TL_NONE && other != from)
        strain_of_join(r, other, tl_mesh_edge_vert(mesh, e, 1, 1 - end), &before, &after);
    int32_t left;
    if (strains(r, &before, &after) || !remesh_collapse_fits(r, e, gone, &left)) return TL_OK;
    TL_TRY(tl_mesh_collapse_edge(mesh, e, gone, NULL, err));
    int32_t kept = 0;
    for (int32_t i = 0; i < r->changed.count; i++)
        if (tl_alive(mesh, TL_FACES, r->changed.item[i])) r->changed.item[kept++] = r->changed.item[i];
    r->changed.count = kept;
    remesh_set_budget(r, left);
    *rise += after.energy - before.energy;
    *done = true;
    return TL_OK;
}

// Both sides want another end: a diagonal of one side is turned first, which leaves that side free.
static tl_status turn_and_melt(trees_follower *f, int32_t id, int32_t end, bool turn, bool *done, double *rise,
                               tl_error *err)
{
    const tl_trees_edge *edge = tl_trees_e(f->s->trees, id);
    *done = !turn;
    if (turn) {
        int from;
        TL_TRY(flip(f, diagonal(f, tl_trees_t(f->s->trees, edge->tri[1]), &from), done, rise, err));
    }
    return *done ? melt(f, f->s->node[edge->mid], f->s->node[end], done, rise, err) : TL_OK;
}

// Tries one end; if it cannot be, everything is as it was.
static tl_status join_into(trees_follower *f, int32_t id, int32_t end, bool turn, bool *done, tl_error *err)
{
    remesher *r = f->r;
    tl_mesh *mesh = r->mesh;
    const int32_t gone = f->s->node[tl_trees_e(f->s->trees, id)->mid], mark = tl_mesh_mark(mesh);
    const int32_t count = tl_mesh_node_faces(mesh, gone, NULL, 0);
    if (!TL_GROW(&mesh->alloc, r->changed.item, r->changed.cap, count)) return tl_fail_memory(err, "remeshing");
    r->changed.count = tl_mesh_node_faces(mesh, gone, r->changed.item, count);
    const motion before = remesh_take_momentum(r, &r->changed, mesh->pos[gone]);
    double rise = 0;
    const tl_status status = turn_and_melt(f, id, end, turn, done, &rise, err);
    if (status != TL_OK || !*done) {
        *done = false;
        tl_mesh_undo_to(mesh, mark);
        r->changed.count = tl_mesh_node_faces(mesh, gone, r->changed.item, count);
    }
    remesh_give_momentum(r, &r->changed, &before);
    if (!*done) return status;
    remesh_rest(r, true);
    remesh_spend(r, rise);
    r->report->collapses++, r->report->flips += turn;
    return TL_OK;
}

static tl_status join(trees_follower *f, int32_t id, tl_error *err)
{
    remesher *r = f->r;
    tl_trees *m = f->s->trees;
    const tl_trees_edge *edge = tl_trees_e(m, id);
    if (remesh_listed(r, f->s->node[edge->mid])) return TL_OK;
    TL_TRY(get_ready(f, err));
    const int32_t ends[2] = {edge->a, edge->b}, mid = edge->mid;
    const int one = free_ends(f, id, 0), both = one & free_ends(f, id, 1);
    bool done = false;
    for (int k = 0; k < 2 && !done; k++) {
        if (!((both ? both : one) >> k & 1)) continue;
        TL_TRY(join_into(f, id, ends[k], both == 0, &done, err));
        if (!done) continue;
        TL_TRY(tl_trees_join(m, id, err));
        f->s->node[mid] = TL_NONE;
        TL_TRY(tl_trees_commit(m, (tl_trees_choice){.tie = TL_TREES_TIE_VERTEX, .vert = ends[k]}, NULL, err));
    }
    if (!done) r->report->refused++;
    return TL_OK;
}

// ---- an update ------------------------------------------------------------------------------------------------

static bool is_still(const tl_trees *m, const trees_wish *w)
{
    const tl_trees_edge *e = tl_trees_e(m, w->edge);
    return e->flags & TL_TREES_EDGE_LIVE && e->a == w->a && e->b == w->b;
}

static tl_status fulfil(trees_follower *f, const trees_wish *w, tl_error *err)
{
    const tl_trees *m = f->s->trees;
    if (!is_still(m, w)) return TL_OK;
    if (w->split) return tl_trees_may_split(m, w->edge, TL_TREES_MAX_LEVEL) ? split(f, w->edge, err) : TL_OK;
    return tl_trees_may_join(m, w->edge) ? join(f, w->edge, err) : TL_OK;
}

tl_status trees_follow(trees_follower *f, tl_error *err)
{
    tl_mesh *mesh = f->r->mesh;
    TL_TRY(remesh_grow_marks(f->r, 0, err));
    TL_TRY(tl_mesh_record(mesh, err));
    tl_status status = TL_OK;
    for (int32_t i = 0; i < f->s->wish_count && status == TL_OK; i++) {
        status = fulfil(f, &f->s->wish[i], err);
        tl_mesh_record_clear(mesh);
    }
    f->s->wish_count = 0;
    tl_mesh_record_stop(mesh);
    return status;
}
