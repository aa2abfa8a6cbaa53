// mesh/mesh_query.c: walks around vertices and nodes, and what can be told from them.
//
// In a face with our vertex at corner k, the edge to corner k+1 comes first around the vertex and the
// edge to corner k+2 last. Every edge with two faces is the first edge of exactly one face around a node,
// and a border edge is either first or last of one face: so "first edges, and last edges that are
// borders" lists each once.

#include "mesh/mesh_query.h"

#include <float.h>

#include "math/vec3.h"

int32_t tl_face_corner_of_node(const tl_mesh *mesh, int32_t f, int32_t n)
{
    for (int32_t k = 0; k < 3; k++)
        if (tl_face_node(mesh, f, k) == n) return k;
    return TL_NONE;
}

// ---- edges ------------------------------------------------------------------------------------------------

// ---- fans -------------------------------------------------------------------------------------------------

// The face before (turn 2) or after (turn 1) `f` around its corner k; the corner there goes to *corner.
// Crosses an edge only if both faces use the vertices of f (world: the nodes). TL_NONE at an end.
static inline int32_t turn_around(const tl_mesh *mesh, int32_t f, int32_t k, int turn, bool world, int32_t *corner)
{
    const int32_t e = mesh->face_edge[f][turn == 1 ? tl_corner_next(k) : tl_corner_last(k)];
    const int32_t g = tl_edge_across(mesh, e, f);
    if (g == TL_NONE) return TL_NONE;
    const int32_t m = tl_face_corner_of_edge(mesh, g, e);
    // f runs along e one way, g the other: our node, at the start of e for f, is at its end for g
    const int32_t c = turn == 1 ? tl_corner_next(m) : tl_corner_last(m);
    if (!world) {
        const int32_t far_f = turn == 1 ? tl_corner_last(k) : tl_corner_next(k),
                      far_g = turn == 1 ? tl_corner_last(m) : tl_corner_next(m);
        if (mesh->face_vert[g][c] != mesh->face_vert[f][k]) return TL_NONE;
        if (mesh->face_vert[g][far_g] != mesh->face_vert[f][far_f]) return TL_NONE;
    }
    *corner = c;
    return g;
}

static tl_fan fan_begin(const tl_mesh *mesh, int32_t v, bool world)
{
    tl_fan fan = {.face = mesh->vert_face[v]};
    fan.corner = tl_face_corner_of_vert(mesh, fan.face, v);
    fan.first = fan.face;
    for (;;) {
        int32_t corner;
        const int32_t before = turn_around(mesh, fan.face, fan.corner, 2, world, &corner);
        if (before == TL_NONE) {
            fan.first = fan.face;
            return fan;
        }
        fan.face = before;
        fan.corner = corner;
        if (before == fan.first) {
            fan.closed = true;
            return fan;
        }
    }
}

static void fan_next(const tl_mesh *mesh, tl_fan *fan, bool world)
{
    fan->face = turn_around(mesh, fan->face, fan->corner, 1, world, &fan->corner);
    if (fan->face == fan->first) fan->face = TL_NONE;
}

tl_fan tl_fan_begin(const tl_mesh *mesh, int32_t v) { return fan_begin(mesh, v, false); }
void tl_fan_next(const tl_mesh *mesh, tl_fan *fan) { fan_next(mesh, fan, false); }

// ---- neighbours -------------------------------------------------------------------------------------------

// A walk over the faces of a vertex in no particular order: on from any of them, and, if the fan is open, back from
// there.
typedef struct sweep {
    int32_t face, corner, start, start_corner;
    int turn;
} sweep;

static sweep sweep_begin(const tl_mesh *mesh, int32_t v)
{
    const int32_t f = mesh->vert_face[v], k = tl_face_corner_of_vert(mesh, f, v);
    return (sweep){f, k, f, k, 1};
}

static void sweep_next(const tl_mesh *mesh, sweep *s)
{
    s->face = turn_around(mesh, s->face, s->corner, s->turn, false, &s->corner);
    if (s->face == s->start)
        s->face = TL_NONE;
    else if (s->face == TL_NONE && s->turn == 1)
        s->turn = 2, s->face = turn_around(mesh, s->start, s->start_corner, 2, false, &s->corner);
}

int32_t tl_mesh_nodes_beside(const tl_mesh *mesh, int32_t n, int32_t *out, int32_t max)
{
    int32_t count = 0, v = mesh->node_vert[n];
    do {
        for (sweep s = sweep_begin(mesh, v); s.face != TL_NONE; sweep_next(mesh, &s))
            for (int turn = 1; turn <= 2; turn++, count++) {
                const int32_t k = turn == 1 ? tl_corner_next(s.corner) : tl_corner_last(s.corner);
                if (count < max) out[count] = tl_face_node(mesh, s.face, k);
            }
        v = mesh->vert_next[v];
    } while (v != mesh->node_vert[n]);
    return count;
}

int32_t tl_mesh_find_edge(const tl_mesh *mesh, int32_t a, int32_t b)
{
    int32_t v = mesh->node_vert[a];
    do {
        for (sweep s = sweep_begin(mesh, v); s.face != TL_NONE; sweep_next(mesh, &s)) {
            const int32_t next = tl_corner_next(s.corner), last = tl_corner_last(s.corner);
            if (tl_face_node(mesh, s.face, next) == b) return mesh->face_edge[s.face][last];
            if (tl_face_node(mesh, s.face, last) == b) return mesh->face_edge[s.face][next];
        }
        v = mesh->vert_next[v];
    } while (v != mesh->node_vert[a]);
    return TL_NONE;
}

// ---- spokes -----------------------------------------------------------------------------------------------

tl_spokes tl_spokes_begin(const tl_mesh *mesh, int32_t n)
{
    const int32_t v = mesh->node_vert[n];
    tl_spokes s = {.vert = v, .start = v, .fan = tl_fan_begin(mesh, v)};
    s.edge = tl_fan_edge_first(mesh, &s.fan);
    return s;
}

void tl_spokes_next(const tl_mesh *mesh, tl_spokes *s)
{
    if (!s->tail) {
        const int32_t last = tl_fan_edge_last(mesh, &s->fan);
        if (mesh->edge_face[last][1] == TL_NONE) {
            s->edge = last;
            s->tail = true;
            return;
        }
    }
    s->tail = false;
    tl_fan_next(mesh, &s->fan);
    if (s->fan.face == TL_NONE) {
        s->vert = mesh->vert_next[s->vert];
        if (s->vert == s->start) {
            s->edge = TL_NONE;
            return;
        }
        s->fan = tl_fan_begin(mesh, s->vert);
    }
    s->edge = tl_fan_edge_first(mesh, &s->fan);
}

// ---- lists around a node ----------------------------------------------------------------------------------

typedef enum ring_item { RING_FACES, RING_EDGES, RING_NODES } ring_item;

// Is v the lowest vertex of its world fan? Each fan has one such leader, so each is listed once.
static bool leads_fan(const tl_mesh *mesh, int32_t v)
{
    if (mesh->vert_next[v] == v) return true;
    for (tl_fan fan = fan_begin(mesh, v, true); fan.face != TL_NONE; fan_next(mesh, &fan, true))
        if (mesh->face_vert[fan.face][fan.corner] < v) return false;
    return true;
}

static int32_t list_around(const tl_mesh *mesh, int32_t n, ring_item what, int32_t *out, int32_t max)
{
    int32_t count = 0;
    const int32_t start = mesh->node_vert[n];
    int32_t v = start;
    do {
        if (leads_fan(mesh, v)) {
            for (tl_fan fan = fan_begin(mesh, v, true); fan.face != TL_NONE; fan_next(mesh, &fan, true)) {
                const int32_t first = tl_fan_edge_first(mesh, &fan), last = tl_fan_edge_last(mesh, &fan);
                const int32_t item = what == RING_FACES   ? fan.face
                                     : what == RING_EDGES ? first
                                                          : tl_edge_other(mesh, first, n);
                if (count < max) out[count] = item;
                count++;
                if (what == RING_FACES || mesh->edge_face[last][1] != TL_NONE) continue;
                if (count < max) out[count] = what == RING_EDGES ? last : tl_edge_other(mesh, last, n);
                count++;
            }
        }
        v = mesh->vert_next[v];
    } while (v != start);
    return count;
}

int32_t tl_mesh_node_faces(const tl_mesh *mesh, int32_t n, int32_t *out, int32_t max)
{
    return list_around(mesh, n, RING_FACES, out, max);
}

int32_t tl_mesh_node_edges(const tl_mesh *mesh, int32_t n, int32_t *out, int32_t max)
{
    return list_around(mesh, n, RING_EDGES, out, max);
}

int32_t tl_mesh_node_nodes(const tl_mesh *mesh, int32_t n, int32_t *out, int32_t max)
{
    return list_around(mesh, n, RING_NODES, out, max);
}

int32_t tl_mesh_vert_faces(const tl_mesh *mesh, int32_t v, int32_t *out, int32_t max)
{
    int32_t count = 0;
    for (tl_fan fan = tl_fan_begin(mesh, v); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
        if (count < max) out[count] = fan.face;
        count++;
    }
    return count;
}

// ---- lines at a node --------------------------------------------------------------------------------------

static bool node_has_kind(const tl_mesh *mesh, int32_t n, tl_edge_kind kind)
{
    for (tl_spokes s = tl_spokes_begin(mesh, n); s.edge != TL_NONE; tl_spokes_next(mesh, &s))
        if (tl_mesh_edge_kind(mesh, s.edge) == kind) return true;
    return false;
}

bool tl_mesh_node_on_border(const tl_mesh *mesh, int32_t n) { return node_has_kind(mesh, n, TL_EDGE_BORDER); }
bool tl_mesh_node_on_seam(const tl_mesh *mesh, int32_t n) { return node_has_kind(mesh, n, TL_EDGE_SEAM); }

// Is b between a and c on a straight line? The midpoint of a split is off by half a unit in the last place
// of the coordinates, and midpoints of midpoints by a few, so that is what the tolerance counts in.
static bool straight(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const double ulps = 32;  // 2 would do for 20,000 random edits (test_mesh_edit)
    const tl_vec2 ab = tl_sub2(b, a), ac = tl_sub2(c, a);
    const double length = tl_norm2(ac);
    double size = fabs(a.x);
    const double all[5] = {a.y, b.x, b.y, c.x, c.y};
    for (int k = 0; k < 5; k++) size = fmax(size, fabs(all[k]));
    const double along = tl_dot2(ab, ac);
    return fabs(tl_cross2(ac, ab)) <= ulps * DBL_EPSILON * size * length && along > 0 && along < length * length;
}

// The far vertex of `e` as seen from the face that uses vertex v of node n; TL_NONE if neither does.
static int32_t far_vert_on_side(const tl_mesh *mesh, int32_t e, int32_t n, int32_t v)
{
    const int end = mesh->edge_node[e][1] == n;
    for (int side = 0; side < 2; side++)
        if (tl_mesh_edge_vert(mesh, e, side, end) == v) return tl_mesh_edge_vert(mesh, e, side, 1 - end);
    return TL_NONE;
}

tl_line_state tl_mesh_node_line(const tl_mesh *mesh, int32_t n, int32_t edge[2])
{
    int32_t count = 0;
    tl_edge_kind kind[2] = {TL_EDGE_PLAIN, TL_EDGE_PLAIN};
    edge[0] = edge[1] = TL_NONE;
    for (tl_spokes s = tl_spokes_begin(mesh, n); s.edge != TL_NONE; tl_spokes_next(mesh, &s)) {
        const tl_edge_kind k = tl_mesh_edge_kind(mesh, s.edge);
        if (k == TL_EDGE_PLAIN) continue;
        if (count == 2) return TL_LINE_ENDS;
        edge[count] = s.edge;
        kind[count++] = k;
    }
    const int32_t first = mesh->node_vert[n];
    if (count == 0) return mesh->vert_next[first] == first ? TL_LINE_NONE : TL_LINE_ENDS;
    if (count == 1 || kind[0] != kind[1] || mesh->edge_label[edge[0]] != mesh->edge_label[edge[1]]) return TL_LINE_ENDS;
    int32_t v = first;
    do {  // the line must pass by every vertex of the node: no bow-tie, no two dart tips
        const int32_t a = far_vert_on_side(mesh, edge[0], n, v), c = far_vert_on_side(mesh, edge[1], n, v);
        if (a == TL_NONE || c == TL_NONE) return TL_LINE_ENDS;
        if (!straight(mesh->uv[a], mesh->uv[v], mesh->uv[c])) return TL_LINE_BENT;
        v = mesh->vert_next[v];
    } while (v != first);
    return TL_LINE_THROUGH;
}

bool tl_mesh_node_is_corner(const tl_mesh *mesh, int32_t n)
{
    int32_t edge[2];
    const tl_line_state state = tl_mesh_node_line(mesh, n, edge);
    return state == TL_LINE_BENT || state == TL_LINE_ENDS;
}

tl_count_report tl_mesh_counts(const tl_mesh *mesh)
{
    tl_count_report r = {mesh->slots[TL_NODES].live,
                         mesh->slots[TL_VERTS].live,
                         mesh->slots[TL_EDGES].live,
                         mesh->slots[TL_FACES].live,
                         0,
                         0};
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e)) continue;
        const tl_edge_kind kind = tl_mesh_edge_kind(mesh, e);
        r.border_edge += kind == TL_EDGE_BORDER;
        r.seam_edge += kind == TL_EDGE_SEAM;
    }
    return r;
}
