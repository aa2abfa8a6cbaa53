// adapt/anisotropic/clearance_guard.c: no operation moves the surface farther than its clearance.
//
// Old and new faces cover the same piece of material. On each cell of their overlay both maps into the world are
// linear, so the largest distance between a point's old and new position is taken at corners of cells: where new edges
// cross old ones, and at a node that is removed. All that lies between the old and the new surface is within that
// distance of the old one. Whatever is farther away from the old faces is met neither on the way nor at the end.
//
// Parts that touch the faces concerned have no distance from them; they are tested exactly against the new faces.

#include "adapt/anisotropic/remesh_impl.h"
#include "adapt/anisotropic/sizing_impl.h"
#include "detect/intersect.h"

#define STILL 1e-11  // [m] a move that is nothing but rounding

enum { MOST_RING = 48, MOST_FACES = 2 * MOST_RING };

/// What an operation does to the surface.
typedef struct change {
    int32_t old[MOST_FACES];  // faces that go or change
    int32_t old_count;
    int32_t node[MOST_FACES][3];   // new faces by their nodes
    tl_vec3 place[MOST_FACES][3];  // and where they are
    int32_t count;
    tl_vec3 swept[MOST_FACES][4];  // tetrahedra between old and new
    int32_t swept_count;
    double moves;  // greatest distance between old and new
} change;

// ---- how far ----------------------------------------------------------------------------------------------

static tl_vec3 between(tl_vec3 a, tl_vec3 b, double t) { return tl_madd3(a, t, tl_sub3(b, a)); }

// Where segments ab and cd cross in material space: their points there, in the world. False if they do not.
static bool crossing(const tl_mesh *mesh, int32_t a, int32_t b, int32_t c, int32_t d, double *distance)
{
    const tl_vec2 p = tl_sub2(mesh->uv[b], mesh->uv[a]), q = tl_sub2(mesh->uv[d], mesh->uv[c]),
                  w = tl_sub2(mesh->uv[c], mesh->uv[a]);
    const double det = tl_cross2(p, q);
    if (det == 0) return false;
    const double s = tl_cross2(w, q) / det, t = tl_cross2(w, p) / det;
    if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) return false;
    const tl_vec3 *x = mesh->pos;
    const int32_t *n = mesh->vert_node;
    *distance = tl_norm3(tl_sub3(between(x[n[a]], x[n[b]], s), between(x[n[c]], x[n[d]], t)));
    return true;
}

// How far the point of vertex v moves when the face abc covers it. `inside` gets its smallest barycentric weight.
static double sinks(const tl_mesh *mesh, int32_t v, int32_t a, int32_t b, int32_t c, double *inside)
{
    const tl_vec2 *uv = mesh->uv;
    const double area = tl_cross2(tl_sub2(uv[b], uv[a]), tl_sub2(uv[c], uv[a]));
    const double wb = tl_cross2(tl_sub2(uv[v], uv[a]), tl_sub2(uv[c], uv[a])) / area;
    const double wc = tl_cross2(tl_sub2(uv[b], uv[a]), tl_sub2(uv[v], uv[a])) / area;
    const tl_vec3 *x = mesh->pos;
    const int32_t *n = mesh->vert_node;
    const tl_vec3 xa = x[n[a]], xb = tl_sub3(x[n[b]], xa), xc = tl_sub3(x[n[c]], xa);
    *inside = fmin(fmin(wb, wc), 1 - wb - wc);
    return tl_norm3(tl_sub3(tl_sub3(x[n[v]], xa), tl_add3(tl_mul3(wb, xb), tl_mul3(wc, xc))));
}

// One side of a collapse: fan of `from` becomes a fan of `to`. False if there are too many faces to look at.
static bool add_side(const tl_mesh *mesh, int32_t from, int32_t to, change *c)
{
    int32_t around[MOST_RING + 1], count = 0, at = TL_NONE;
    double deepest = -INFINITY, sunk = 0;
    for (tl_fan fan = tl_fan_begin(mesh, from); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
        if (count >= MOST_RING || c->old_count >= MOST_FACES) return false;
        const int32_t p = mesh->face_vert[fan.face][(fan.corner + 1) % 3],
                      q = mesh->face_vert[fan.face][(fan.corner + 2) % 3];
        if (count == 0) around[count++] = p;
        if (q != around[0]) around[count++] = q;
        c->old[c->old_count++] = fan.face;
        if (p == to || q == to) continue;
        const int32_t n[3] = {mesh->vert_node[to], mesh->vert_node[p], mesh->vert_node[q]};
        for (int k = 0; k < 3; k++) c->node[c->count][k] = n[k], c->place[c->count][k] = mesh->pos[n[k]];
        c->count++;
        const tl_vec3 tet[4] = {mesh->pos[mesh->vert_node[from]], mesh->pos[n[0]], mesh->pos[n[1]], mesh->pos[n[2]]};
        for (int k = 0; k < 4; k++) c->swept[c->swept_count][k] = tet[k];
        c->swept_count++;
        double inside;
        const double d = sinks(mesh, from, to, p, q, &inside);
        if (inside > deepest) deepest = inside, sunk = d;
    }
    c->moves = fmax(c->moves, sunk);
    for (int32_t k = 0; k < count; k++)
        if (around[k] == to) at = k;
    for (int32_t k = 0; k < count; k++) {
        const int32_t apart = k > at ? k - at : at - k;
        if (apart <= 1 || apart == count - 1) continue;  // at worst one test too many at the ends of an open fan
        for (int32_t m = 0; m < count; m++) {
            double d;
            if (m != k && m != at && crossing(mesh, to, around[k], from, around[m], &d)) c->moves = fmax(c->moves, d);
        }
    }
    return true;
}

// ---- what touches -----------------------------------------------------------------------------------------

static bool shares(const int32_t *a, int na, const int32_t *b, int nb)
{
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++)
            if (a[i] == b[j]) return true;
    return false;
}

static bool apart(box a, box b)
{
    return a.lo.x > b.hi.x || b.lo.x > a.hi.x || a.lo.y > b.hi.y || b.lo.y > a.hi.y || a.lo.z > b.hi.z ||
           b.lo.z > a.hi.z;
}

/// A triangle as needed by the tests.
typedef struct facet {
    const int32_t *node;
    const tl_vec3 *place;
    box box;
} facet;

// Does an edge of f that ends at none of the `shared` nodes (bits) meet g?
static bool edge_meets(const facet *f, unsigned shared, const facet *g)
{
    const tl_vec3 *x = f->place, *y = g->place;
    for (int k = 0; k < 3; k++) {
        const int a = k == 2 ? 0 : k + 1, b = k == 0 ? 2 : k - 1;
        if (shared & ~(1u << k) || apart(box_of_two(&x[a], &x[b]), g->box)) continue;
        if (tl_segment_meets_triangle(&x[a], &x[b], &y[0], &y[1], &y[2])) return true;
    }
    return false;
}

#define CLEARLY 1e-12  // of lengths: well above rounding

enum { AXES = 5 };

/// A new triangle and its candidate separating axes: in-plane normals of its sides, its normal and the opposite.
/// `front`: its extent along them, rounding included; `clear`: a little more. `size` is 0 for slivers.
typedef struct fresh {
    facet f;
    tl_vec3 axis[AXES];
    double front[AXES], clear[AXES], size;
} fresh;

#define CLOSE 1e-6     // of lengths
#define SLIVER 1e-3    // height over circumference
#define HUGE_FACE 1e3  // times the circumference

static void set_fresh(fresh *o, const int32_t *node, const tl_vec3 *x)
{
    o->f = (facet){node, x, box_of(x)};
    const tl_vec3 u = tl_sub3(x[1], x[0]), v = tl_sub3(x[2], x[1]), w = tl_sub3(x[0], x[2]), n = tl_cross3(u, v);
    const tl_vec3 axis[AXES] = {tl_cross3(u, n), tl_cross3(v, n), tl_cross3(w, n), n, tl_mul3(-1, n)};
    const double length = tl_norm3(u) + tl_norm3(w);
    for (int k = 0; k < AXES; k++) {
        o->axis[k] = axis[k];
        o->front[k] = 0;  // seen from x[0]
        for (int i = 1; i < 3; i++) o->front[k] = high(o->front[k], tl_dot3(axis[k], tl_sub3(x[i], x[0])));
        const double scale = (fabs(axis[k].x) + fabs(axis[k].y) + fabs(axis[k].z)) * length;
        o->clear[k] = o->front[k] + CLOSE * scale;
        o->front[k] += CLEARLY * scale;
    }
    const double round = length + tl_norm3(v);
    o->size = tl_dot3(n, n) > SLIVER * SLIVER * round * round * round * round ? round : 0;
}

// Are two triangles that share node i of the new one (bit of_f), and j of the other, clearly beside each other there?
// Then the far nodes of the other are beyond the line of a side at i by `clear`. What of it is not lies within 1e-8 of
// its size of the shared node, and the edge opposite to that, all on this side of the line, is farther away.
static bool lies_beside(const fresh *o, const facet *g, unsigned of_f, unsigned of_g)
{
    const unsigned i = of_f >> 1, j = of_g >> 1;  // bits 1, 2, 4 are nodes 0, 1, 2
    const tl_vec3 p = tl_sub3(g->place[j == 0 ? 1 : 0], o->f.place[0]),
                  q = tl_sub3(g->place[j == 2 ? 1 : 2], o->f.place[0]);
    for (unsigned k = 0; k < 2; k++) {
        const unsigned side = k == 0 ? i : i == 0 ? 2 : i - 1;
        if (tl_dot3(o->axis[side], p) > o->clear[side] && tl_dot3(o->axis[side], q) > o->clear[side])
            return tl_dot3(p, p) + tl_dot3(q, q) < HUGE_FACE * HUGE_FACE * o->size * o->size;
    }
    return false;
}

// Are all nodes of a triangle that the new one does not share (bits) on the far side of such a plane?
static bool lies_apart(const fresh *o, const facet *g, unsigned shared)
{
    tl_vec3 x[3];
    int count = 0;
    for (unsigned i = 0; i < 3; i++)
        if (!(shared >> i & 1)) x[count++] = tl_sub3(g->place[i], o->f.place[0]);
    for (int k = 0; k < AXES; k++) {
        bool beyond = true;
        for (int i = 0; i < count && beyond; i++) beyond = tl_dot3(o->axis[k], x[i]) > o->front[k];
        if (beyond) return true;
    }
    return false;
}

// Does an edge of one triangle meet the other, where they share no node?
static bool meet(const fresh *o, const facet *g)
{
    const facet *f = &o->f;
    if (apart(f->box, g->box)) return false;
    unsigned of_f = 0, of_g = 0;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned j = 0; j < 3; j++)
            if (f->node[i] == g->node[j]) of_f |= 1u << i, of_g |= 1u << j;
    if (of_f & (of_f - 1)) return false;  // two nodes: every edge has one of them
    if (of_f && lies_beside(o, g, of_f, of_g)) return false;
    const bool beyond = lies_apart(o, g, of_g);  // with a node in common, that is said of one edge alone
    if (beyond && !of_g) return false;
    return edge_meets(f, of_f, g) || (!beyond && edge_meets(g, of_g, f));
}

// Adds the faces around a node that are not on the list `ring` yet. False if there are too many.
static bool add_around(remesher *r, int32_t n)
{
    const tl_mesh *mesh = r->mesh;
    int32_t around[MOST_FACES], count = 0;
    const int32_t v = mesh->node_vert[n];
    if (mesh->vert_next[v] == v) {  // the usual case: one vertex, one fan
        for (ring walk = ring_begin(mesh, v); walk.face != TL_NONE; ring_next(mesh, &walk), count++)
            if (count < MOST_FACES) around[count] = walk.face;
    } else {
        count = tl_mesh_node_faces(mesh, n, around, MOST_FACES);
    }
    if (count > MOST_FACES) return false;
    for (int32_t j = 0; j < count; j++) {
        if (r->seen[around[j]] == r->look) continue;
        r->seen[around[j]] = r->look;
        if (!remesh_push(r, &r->ring, around[j])) return false;
    }
    return true;
}

// Adds the faces across the edges of one, and all around a node where several fans meet: they may have nothing else in
// common.
static bool add_beside(remesher *r, int32_t f)
{
    const tl_mesh *mesh = r->mesh;
    for (int k = 0; k < 3; k++) {
        const int32_t *sides = mesh->edge_face[mesh->face_edge[f][k]], g = sides[sides[0] == f],
                      v = mesh->face_vert[f][k];
        if (mesh->vert_next[v] != v && !add_around(r, mesh->vert_node[v])) return false;
        if (g == TL_NONE || r->seen[g] == r->look) continue;
        r->seen[g] = r->look;
        if (!remesh_push(r, &r->ring, g)) return false;
    }
    return true;
}

// Lists the faces that touch the new ones, and are not about to go.
static bool list_touching(remesher *r, const change *c)
{
    int32_t done[3 * MOST_FACES], count = 0;
    r->ring.count = 0;
    r->look++;
    for (int32_t i = 0; i < c->old_count; i++) r->seen[c->old[i]] = r->look;
    for (int32_t i = 0; i < 3 * c->count; i++) {
        const int32_t n = c->node[i / 3][i % 3];
        if (shares(&n, 1, done, count)) continue;
        done[count++] = n;
        if (!add_around(r, n)) return false;
    }
    return true;
}

/// Measured faces from which the removed faces descend.
typedef struct origin {
    box span;
    bool modified;
} origin;

static origin origin_of(const remesher *r, const change *c)
{
    origin o = {remesh_span(r, c->old[0]), r->modified[c->old[0]]};
    for (int32_t i = 1; i < c->old_count; i++) {
        o.span = box_of_both(o.span, remesh_span(r, c->old[i]));
        o.modified = o.modified || r->modified[c->old[i]];
    }
    return o;
}

// May a face, with this box around it, come of one that was, or touched, what the old ones come of? As long as nothing
// has happened to any, those that touch are all there are.
static bool is_kin(const remesher *r, const origin *o, int32_t f, const box *around)
{
    if (!r->def->measure_clearance || !(o->modified || r->modified[f])) return false;
    return !apart(r->budget[f] == TL_NONE ? *around : r->budgets.item[r->budget[f]].span, o->span);
}

// Do new faces meet each other, or faces that clearance does not cover? Those are faces that touch them, and
// descendants of faces that touched ancestors of the old ones when clearance was measured: where cloth is folded
// sharply along an edge, a part of a face may lie next to one with which it no longer shares a node. They are found
// from neighbour to neighbour: between two of them lie others with the same ancestors, whose spans meet that of the old
// faces.
static bool clashes_nearby(remesher *r, const change *c)
{
    const tl_mesh *mesh = r->mesh;
    if (c->count == 0) return false;  // nothing but faces that go
    if (!list_touching(r, c)) return true;
    fresh made[MOST_FACES];
    for (int32_t i = 0; i < c->count; i++) set_fresh(&made[i], c->node[i], c->place[i]);
    for (int32_t i = 0; i < c->count; i++)
        for (int32_t j = i + 1; j < c->count; j++)
            if (meet(&made[i], &made[j].f)) return true;
    const origin old = origin_of(r, c);
    box all = made[0].f.box;
    for (int32_t i = 1; i < c->count; i++) all = box_of_both(all, made[i].f.box);
    for (int32_t j = 0; j < r->ring.count; j++) {
        const int32_t f = r->ring.item[j];
        int32_t n[3];
        tl_vec3 x[3];
        for (int k = 0; k < 3; k++) n[k] = tl_face_node(mesh, f, k), x[k] = mesh->pos[n[k]];
        const facet there = {n, x, box_of(x)};
        for (int32_t i = 0; i < c->count && !apart(there.box, all); i++)
            if (meet(&made[i], &there)) return true;
        if (is_kin(r, &old, f, &there.box) && !add_beside(r, f)) return true;
    }
    return false;
}

// ---- the verdict ------------------------------------------------------------------------------------------

// Budgets of the old faces, each once; their number, or TL_NONE without memory.
static int32_t list_budgets(remesher *r, const change *c, int32_t *out)
{
    int32_t count = 0;
    for (int32_t i = 0; i < c->old_count; i++) {
        const int32_t b = remesh_budget(r, c->old[i]);
        if (b == TL_NONE) return TL_NONE;
        if (!shares(&b, 1, out, count)) out[count++] = b;
    }
    return count;
}

// Where bodies are too near to be left out of account, the new faces are looked at; *distance gets theirs, else -1.
static bool clear_of_bodies(remesher *r, const change *c, const int32_t *list, int32_t count, double *distance)
{
    const tl_guard *guard = r->def->guard;
    *distance = -1;
    if (!guard || guard->count == 0) return true;
    double keep = 0, before = INFINITY;
    for (int32_t b = 0; b < guard->count; b++) keep = fmax(keep, guard->bodies[b].keep);
    for (int32_t i = 0; i < count; i++)
        before = fmin(before, remesh_budget_left(r, list[i], TL_CLEARANCE_BODIES, 2 * (c->moves + keep)));
    if (c->moves <= before - keep) return true;  // else `before` is exact
    *distance = tl_guard_clear(guard, (const tl_vec3(*)[3])c->place, c->count, (const tl_vec3(*)[4])c->swept,
                               c->swept_count, before);
    return *distance >= 0;
}

static bool fits(remesher *r, const change *c, int32_t *rest)
{
    int32_t list[MOST_FACES];
    const int32_t count = list_budgets(r, c, list);
    if (count == TL_NONE) return false;
    double moves = 0, bodies = -1;
    if (c->moves > STILL) {
        for (int32_t i = 0; i < count; i++)
            if (!(c->moves <= remesh_budget_left(r, list[i], TL_CLEARANCE_CLOTH, c->moves))) return false;
        if (!clear_of_bodies(r, c, list, count, &bodies) || clashes_nearby(r, c)) return false;
        moves = c->moves;
    }
    *rest = count == 1 && !(moves > 0) ? list[0] : remesh_spend_clearance(r, list, count, moves, bodies);
    return *rest != TL_NONE;
}

bool remesh_flip_fits(remesher *r, int32_t e, int32_t *rest)
{
    const tl_mesh *mesh = r->mesh;
    change c;
    c.old_count = 2, c.count = 2, c.swept_count = 1, c.moves = 0;
    c.old[0] = mesh->edge_face[e][0], c.old[1] = mesh->edge_face[e][1];
    const int32_t a = tl_mesh_edge_vert(mesh, e, 0, 0), b = tl_mesh_edge_vert(mesh, e, 0, 1);
    const int32_t left = tl_mesh_opposite_vert(mesh, e, 0), right = tl_mesh_opposite_vert(mesh, e, 1);
    if (!crossing(mesh, a, b, left, right, &c.moves)) return false;
    const int32_t v[2][3] = {{a, right, left}, {b, left, right}}, tet[4] = {a, b, left, right};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) c.node[i][k] = mesh->vert_node[v[i][k]], c.place[i][k] = mesh->pos[c.node[i][k]];
    for (int k = 0; k < 4; k++) c.swept[0][k] = mesh->pos[mesh->vert_node[tet[k]]];
    return fits(r, &c, rest);
}

bool remesh_collapse_fits(remesher *r, int32_t e, int32_t gone, int32_t *rest)
{
    const tl_mesh *mesh = r->mesh;
    const int end = mesh->edge_node[e][1] == gone;
    const int32_t from = tl_mesh_edge_vert(mesh, e, 0, end), to = tl_mesh_edge_vert(mesh, e, 0, 1 - end);
    change c;
    c.old_count = c.count = c.swept_count = 0, c.moves = 0;
    if (!add_side(mesh, from, to, &c)) return false;
    const int32_t other = tl_mesh_edge_vert(mesh, e, 1, end);
    if (other != TL_NONE && other != from && !add_side(mesh, other, tl_mesh_edge_vert(mesh, e, 1, 1 - end), &c))
        return false;
    return fits(r, &c, rest);
}

void remesh_move_node(remesher *r, const tl_split *s, tl_vec3 place)
{
    tl_mesh *mesh = r->mesh;
    const tl_vec3 middle = mesh->pos[s->node];
    enum { TRIES = 4 };
    tl_vec3 move = tl_sub3(place, middle);
    for (int attempt = 0; attempt < TRIES; attempt++, move = tl_mul3(0.5, move)) {
        change c;
        c.old_count = c.count = c.swept_count = 0, c.moves = tl_norm3(move);
        if (c.moves <= STILL) return;
        for (int side = 0; side < 2 && s->vert[side] != TL_NONE; side++) {
            if (side == 1 && s->vert[1] == s->vert[0]) break;
            for (tl_fan fan = tl_fan_begin(mesh, s->vert[side]); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
                c.old[c.old_count++] = fan.face;
                c.swept[c.swept_count][3] = tl_add3(middle, move);
                for (int k = 0; k < 3; k++) {
                    const int32_t n = tl_face_node(mesh, fan.face, k);
                    c.node[c.count][k] = n, c.swept[c.swept_count][k] = mesh->pos[n];
                    c.place[c.count][k] = n == s->node ? tl_add3(middle, move) : mesh->pos[n];
                }
                c.count++, c.swept_count++;
            }
        }
        int32_t left;
        if (!fits(r, &c, &left)) continue;
        mesh->pos[s->node] = tl_add3(middle, move);
        for (int32_t i = 0; i < c.old_count; i++) r->budget[c.old[i]] = left;
        return;
    }
    r->report->straight++;
}
