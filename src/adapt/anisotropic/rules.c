// adapt/anisotropic/rules.c: which operations the sizing field asks for and allows.

#include "adapt/anisotropic/remesh_impl.h"
#include "adapt/anisotropic/sizing.h"
#include "adapt/anisotropic/sizing_impl.h"

const tl_remesh_policy tl_remesh_policy_default = {
    .flip_margin = 0.05,
    .flip_growth = 4,
    .flips_max = 3,
    .aspect_cap = 0.3,
    .churn_decay = 0.5,
    .churn_moved = 0.1,
    .churn_longer = 2,
    .churn_max = 30,
    .strain_free = 0.005,
    .energy_part = 0.125,
    .place_max = 0.125,
    .clearance_ahead = 2.5,
    .renew_part = 0.02,
    .renewals_max = 4,
    .long_size = 1.2,
    .long_part = 0.005,
    .faces_per_area_max = 8,
    .faces_per_area = 6,
};

static double side_size(const remesher *r, int32_t a, int32_t b)
{
    const tl_vec2 u = tl_sub2(r->mesh->uv[a], r->mesh->uv[b]);
    return sqrt(tl_size2(remesh_tensor(r, a), remesh_tensor(r, b), u));
}

// side_size > longest, with the root only where it is in doubt.
static bool side_longer(const remesher *r, int32_t a, int32_t b, double longest)
{
    const double square = tl_size2(remesh_tensor(r, a), remesh_tensor(r, b), tl_sub2(r->mesh->uv[a], r->mesh->uv[b]));
    const double limit = longest * longest, doubt = 1e-12 * limit;
    return square > limit + doubt || (square > limit - doubt && sqrt(square) > longest);
}

double remesh_size(const remesher *r, int32_t e)
{
    const tl_mesh *mesh = r->mesh;
    const int32_t a = tl_mesh_edge_vert(mesh, e, 0, 0), b = tl_mesh_edge_vert(mesh, e, 0, 1);
    const double s = side_size(r, a, b);
    if (mesh->edge_face[e][1] == TL_NONE) return s;
    const int32_t c = tl_mesh_edge_vert(mesh, e, 1, 0), d = tl_mesh_edge_vert(mesh, e, 1, 1);
    return c == a && d == b ? s : 0.5 * (s + side_size(r, c, d));
}

double tl_remesh_size(const tl_mesh *mesh, const tl_remesh_attrs *attrs, int32_t e)
{
    return remesh_size(&(remesher){.mesh = (tl_mesh *)(uintptr_t)mesh, .attrs = *attrs}, e);
}

// 12 sqrt(3) area / perimeter^2: 1 if equilateral.
static double aspect_of(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const double round = tl_norm2(tl_sub2(b, a)) + tl_norm2(tl_sub2(c, b)) + tl_norm2(tl_sub2(a, c));
    return 6 * sqrt(3) * tl_cross2(tl_sub2(b, a), tl_sub2(c, a)) / (round * round);
}

static double form(tl_sym2 m, tl_vec2 a, tl_vec2 b)
{
    return a.x * (m.xx * b.x + m.xy * b.y) + a.y * (m.xy * b.x + m.yy * b.y);
}

// Sine of the sum of the angles opposite to ab, at l and r, in the metric: negative if ab is not Delaunay.       Eq. 3
static double delaunay_sine(const remesher *r, int32_t a, int32_t b, int32_t left, int32_t right)
{
    const tl_vec2 *uv = r->mesh->uv;
    tl_sym2 m = tl_sym2_add(remesh_tensor(r, a), remesh_tensor(r, b));
    m = tl_sym2_scale(0.25, tl_sym2_add(m, tl_sym2_add(remesh_tensor(r, left), remesh_tensor(r, right))));
    const tl_vec2 al = tl_sub2(uv[a], uv[left]), bl = tl_sub2(uv[b], uv[left]);
    const tl_vec2 ar = tl_sub2(uv[a], uv[right]), br = tl_sub2(uv[b], uv[right]);
    const double sum = tl_cross2(al, bl) * form(m, ar, br) + form(m, al, bl) * tl_cross2(br, ar);
    const double lengths = form(m, al, al) * form(m, bl, bl) * form(m, ar, ar) * form(m, br, br);
    const double det = m.xx * m.yy - m.xy * m.xy;
    return lengths > 0 && det > 0 ? sum * sqrt(det / lengths) : 0;
}

bool remesh_is_delaunay(const remesher *r, int32_t e)
{
    const tl_mesh *mesh = r->mesh;
    if (tl_mesh_edge_kind(mesh, e) != TL_EDGE_PLAIN) return true;
    return delaunay_sine(r, tl_mesh_edge_vert(mesh, e, 0, 0), tl_mesh_edge_vert(mesh, e, 0, 1),
                         tl_mesh_opposite_vert(mesh, e, 0), tl_mesh_opposite_vert(mesh, e, 1)) >= 0;
}

static void add_verts(const remesher *r, int32_t label, const int32_t v[3], strain_sum *sum)
{
    const tl_mesh *mesh = r->mesh;
    const tl_vec2 u[3] = {mesh->uv[v[0]], mesh->uv[v[1]], mesh->uv[v[2]]};
    const tl_vec3 x[3] = {mesh->pos[mesh->vert_node[v[0]]], mesh->pos[mesh->vert_node[v[1]]],
                          mesh->pos[mesh->vert_node[v[2]]]};
    remesh_add_strain(r, label, u, x, sum);
}

// Would a flip of ab strain the faces too much?
static bool flip_strains(const remesher *r, int32_t label, int32_t a, int32_t b, int32_t left, int32_t right,
                         double *rise)
{
    const int32_t v[4][3] = {{a, b, left}, {b, a, right}, {a, right, left}, {b, left, right}};
    strain_sum sum[2] = {{0}, {0}};
    for (int i = 0; i < 4; i++) add_verts(r, label, v[i], &sum[i / 2]);
    *rise = sum[1].energy - sum[0].energy;
    return remesh_strains_too_much(r, &sum[0], &sum[1]);
}

bool remesh_may_flip(const remesher *r, int32_t e)
{
    const tl_mesh *mesh = r->mesh;
    const int32_t turned = *remesh_flip_count(r, e);
    if (turned >= r->policy->flips_max || tl_mesh_edge_kind(mesh, e) != TL_EDGE_PLAIN) return false;
    double margin = r->policy->flip_margin;
    for (int32_t k = 0; k < turned; k++) margin *= r->policy->flip_growth;
    return delaunay_sine(r, tl_mesh_edge_vert(mesh, e, 0, 0), tl_mesh_edge_vert(mesh, e, 0, 1),
                         tl_mesh_opposite_vert(mesh, e, 0), tl_mesh_opposite_vert(mesh, e, 1)) < -margin;
}

bool remesh_wants_flip(const remesher *r, int32_t e, double longest, double *rise)
{
    const tl_mesh *mesh = r->mesh;
    if (!remesh_may_flip(r, e)) return false;
    const int32_t a = tl_mesh_edge_vert(mesh, e, 0, 0), b = tl_mesh_edge_vert(mesh, e, 0, 1);
    const int32_t left = tl_mesh_opposite_vert(mesh, e, 0), right = tl_mesh_opposite_vert(mesh, e, 1);
    if (side_size(r, left, right) > fmax(longest, side_size(r, a, b))) return false;
    const tl_vec2 *uv = mesh->uv;
    const double before = fmin(aspect_of(uv[a], uv[b], uv[left]), aspect_of(uv[b], uv[a], uv[right]));
    const double after = fmin(aspect_of(uv[a], uv[right], uv[left]), aspect_of(uv[b], uv[left], uv[right]));
    return after >= fmin(before, r->def->aspect_min) &&
           !flip_strains(r, mesh->face_label[mesh->edge_face[e][0]], a, b, left, right, rise) &&
           tl_mesh_can_flip(mesh, e) == TL_VERDICT_OK;  // walks around a node: at last
}

// ---- split ------------------------------------------------------------------------------------------------

static double side_length2(const remesher *r, int32_t f, int k)
{
    const tl_vec2 *uv = r->mesh->uv;
    const int32_t *v = r->mesh->face_vert[f];
    const tl_vec2 d = tl_sub2(uv[v[(k + 2) % 3]], uv[v[(k + 1) % 3]]);
    return tl_dot2(d, d);
}

// Does half of the face, cut through the middle of its side k, become too thin?
static bool cut_thins(const remesher *r, int32_t f, int k)
{
    const tl_vec2 *uv = r->mesh->uv;
    const int32_t *v = r->mesh->face_vert[f];
    const tl_vec2 a = uv[v[(k + 1) % 3]], b = uv[v[(k + 2) % 3]], c = uv[v[k]], middle = tl_mul2(0.5, tl_add2(a, b));
    return fmin(aspect_of(a, middle, c), aspect_of(middle, b, c)) < r->def->aspect_min;
}

// Cut anywhere but through its longest side, a thin face leaves one that is half as high; a flip, which would mend it,
// needs clearance, and what lies beside a thin face has none. Through the longest side faces get rounder (Rivara 1984).
// Sides get longer from face to face: this ends.
int32_t remesh_split_first(const remesher *r, int32_t e)
{
    enum { FACES = 64 };  // but for seams, whose two sides may be of different lengths
    const tl_mesh *mesh = r->mesh;
    for (int32_t steps = 0, side = 0; side < 2 && steps < FACES; side++, steps++) {
        const int32_t f = mesh->edge_face[e][side];
        if (f == TL_NONE) break;
        int here = 0, longest = 0;
        for (int k = 0; k < 3; k++) {
            if (mesh->face_edge[f][k] == e) here = k;
            if (side_length2(r, f, k) > side_length2(r, f, longest)) longest = k;
        }
        if (!(side_length2(r, f, longest) > side_length2(r, f, here)) || !cut_thins(r, f, here)) continue;
        e = mesh->face_edge[f][longest], side = -1;
    }
    return e;
}

// ---- collapse ---------------------------------------------------------------------------------------------

static bool same_grip(const remesher *r, int32_t gone, int32_t n)
{
    const int32_t *a = remesh_bits(r, r->attrs.held, gone), *b = remesh_bits(r, r->attrs.held, n);
    for (int32_t k = 0; k < r->groups; k++)
        if (a[k] & ~b[k]) return false;
    return r->mesh->node_label[gone] == 0 || r->mesh->node_label[gone] == r->mesh->node_label[n];
}

// A held or labelled node may go only where all of its kind remains covered: along a line between two like it, or amid
// such nodes.
static bool grip_allows(const remesher *r, int32_t e, int32_t gone)
{
    const tl_mesh *mesh = r->mesh;
    if (remesh_listed(r, gone)) return false;
    if (!remesh_held(r, gone) && mesh->node_label[gone] == 0) return true;
    if (!same_grip(r, gone, tl_edge_other(mesh, e, gone))) return false;
    int32_t line[2];
    if (tl_mesh_node_line(mesh, gone, line) == TL_LINE_THROUGH)
        return same_grip(r, gone, tl_edge_other(mesh, line[line[0] == e], gone));
    for (tl_spokes s = tl_spokes_begin(mesh, gone); s.edge != TL_NONE; tl_spokes_next(mesh, &s))
        if (!same_grip(r, gone, tl_edge_other(mesh, s.edge, gone))) return false;
    return true;
}

// Are the edges and faces that `from` leaves to `to` short and round enough? `line`: the size of the edge `onward` is
// added to it, to be judged with that of the other side of a seam.
static bool side_stays_good(const remesher *r, int32_t from, int32_t to, int32_t onward, double *line)
{
    const tl_mesh *mesh = r->mesh;
    const double longest = remesh_longest_edge(r, mesh->vert_node[from]);
    for (tl_fan fan = tl_fan_begin(mesh, from); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
        const int32_t p = mesh->face_vert[fan.face][(fan.corner + 1) % 3],
                      q = mesh->face_vert[fan.face][(fan.corner + 2) % 3];
        if (p == to || q == to) continue;
        const int32_t end[2] = {p, q}, edge[2] = {tl_fan_edge_first(mesh, &fan), tl_fan_edge_last(mesh, &fan)};
        for (int k = 0; k < 2; k++) {
            const double s = side_size(r, to, end[k]);
            if (edge[k] == onward)
                *line += s;
            else if (s > longest)
                return false;
        }
        if (aspect_of(mesh->uv[to], mesh->uv[p], mesh->uv[q]) < r->def->aspect_min) return false;
    }
    return true;
}

// What rules out most collapses, found without knowing about lines: a thin face, or a plain edge that becomes too long.
static bool side_spoils(const remesher *r, int32_t from, int32_t to)
{
    static const int8_t next[5] = {0, 1, 2, 0, 1};
    const tl_mesh *mesh = r->mesh;
    const double longest = remesh_longest_edge(r, mesh->vert_node[from]);
    enum { MOST = 32 };  // faces whose shape is looked at last
    int32_t face[MOST][2], count = 0;
    for (ring walk = ring_begin(mesh, from); walk.face != TL_NONE; ring_next(mesh, &walk)) {
        const int32_t p = mesh->face_vert[walk.face][next[walk.corner + 1]],
                      q = mesh->face_vert[walk.face][next[walk.corner + 2]];
        if (p == to || q == to) continue;
        if (side_longer(r, to, q, longest) &&
            tl_mesh_edge_kind(mesh, mesh->face_edge[walk.face][next[walk.corner + 1]]) == TL_EDGE_PLAIN)
            return true;
        if (count < MOST) face[count][0] = p, face[count++][1] = q;
    }
    for (int32_t i = 0; i < count; i++)
        if (aspect_of(mesh->uv[to], mesh->uv[face[i][0]], mesh->uv[face[i][1]]) < r->def->aspect_min) return true;
    return false;  // side_stays_good looks at all of them
}

static void add_side(const remesher *r, int32_t from, int32_t to, strain_sum *before, strain_sum *after)
{
    const tl_mesh *mesh = r->mesh;
    for (tl_fan fan = tl_fan_begin(mesh, from); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
        const int32_t *v = mesh->face_vert[fan.face], label = mesh->face_label[fan.face];
        const int32_t p = v[(fan.corner + 1) % 3], q = v[(fan.corner + 2) % 3];
        add_verts(r, label, v, before);
        if (p != to && q != to) add_verts(r, label, (int32_t[3]){to, p, q}, after);
    }
}

bool remesh_rejects_collapse(const remesher *r, int32_t e, int end)
{
    return side_spoils(r, tl_mesh_edge_vert(r->mesh, e, 0, end), tl_mesh_edge_vert(r->mesh, e, 0, 1 - end));
}

bool remesh_may_collapse(const remesher *r, int32_t e, int32_t gone, double *rise)
{
    const tl_mesh *mesh = r->mesh;
    const int end = mesh->edge_node[e][1] == gone;
    const int sides = mesh->edge_face[e][1] == TL_NONE ? 1 : 2;
    const int32_t from = tl_mesh_edge_vert(mesh, e, 0, end);
    if (remesh_rejects_collapse(r, e, end)) return false;
    if (!grip_allows(r, e, gone)) return false;
    const bool seam = sides == 2 && tl_mesh_edge_vert(mesh, e, 1, end) != from;
    int32_t lines[2], onward = TL_NONE;
    const tl_line_state state = tl_mesh_node_line(mesh, gone, lines);
    if (state == TL_LINE_THROUGH)
        onward = lines[lines[0] == e];
    else if (state != TL_LINE_NONE)
        return false;
    double line = 0;
    for (int side = 0; side < (seam ? 2 : 1); side++)
        if (!side_stays_good(r, tl_mesh_edge_vert(mesh, e, side, end), tl_mesh_edge_vert(mesh, e, side, 1 - end),
                             onward, &line))
            return false;
    // A feature line has its edge counted in the faces of both sides.
    const double count = onward == TL_NONE ? 1 : mesh->edge_face[onward][1] == TL_NONE ? 1 : 2;
    if (line / count > remesh_longest_edge(r, gone)) return false;
    strain_sum before = {0}, after = {0};
    for (int side = 0; side < (seam ? 2 : 1); side++)
        add_side(r, tl_mesh_edge_vert(mesh, e, side, end), tl_mesh_edge_vert(mesh, e, side, 1 - end), &before, &after);
    *rise = after.energy - before.energy;
    return !remesh_strains_too_much(r, &before, &after) &&
           tl_mesh_can_collapse(mesh, e, gone) == TL_VERDICT_OK;  // the dearest at last
}
