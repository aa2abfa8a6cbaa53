// detect/clearance.c: distance of one face from those near it, feature by feature, with early rejection by the smallest
// distance so far.
//
// A tree lists the faces near a box around the face. Boxes of faces, then of nodes and edges, reject what is farther
// apart than the smallest distance so far. A minimum does not depend on the order, and a pair gives the same bits from
// both sides: of two edges of the cloth the one with the lower nodes comes first, and each starts at its lower node.
//
// Two edges count only where their nearest points lie inside both. Else one of these is an end, and the pair of that
// node with a face beside the other edge, which is no further away and concerns the same faces, is looked at as node
// and face. That leaves few.

#include "detect/clearance.h"

#include "detect/distance.h"
#include "detect/nearest.h"
#include "math/vec3.h"

enum { MOST_NEAR = 1024 };

typedef struct box {
    double lo[3], hi[3];
} box;

/// A triangle: nodes, positions, its bounding box and, on demand, those of the edges opposite to its corners.
typedef struct facet {
    const int32_t *node;
    int sides;  // bits of those that run against it; negative: each runs from its lower node
    tl_vec3 x[3];
    box all, side[3];
} facet;

enum { AXES = 5 };

/// A query for what is nearest to a face.
typedef struct probe {
    const tl_clearance_def *def;
    facet face;
    tl_vec3 axis[AXES];  // unit: normals of the sides within the plane of the face, its own normal and the opposite
    double front[AXES];  // how far the face reaches along them
    bool self;           // the others belong to the cloth, too
    double keep;         // at most what is taken off a distance
    double least;        // so far
} probe;

// --- boxes ---

static double low(double a, double b)
{
    return a < b ? a : b;
}  // one instruction, which fmin is not: nothing here is NaN
static double high(double a, double b) { return a > b ? a : b; }

static box box_of_two(const tl_vec3 *a, const tl_vec3 *b)
{
    return (box){{low(a->x, b->x), low(a->y, b->y), low(a->z, b->z)},
                 {high(a->x, b->x), high(a->y, b->y), high(a->z, b->z)}};
}

static void set_facet(facet *f, const int32_t n[3], const tl_vec3 *x)
{
    f->node = n, f->sides = -1;
    for (int k = 0; k < 3; k++) f->x[k] = x[n[k]];
    f->all = box_of_two(&f->x[0], &f->x[1]);
    const double z[3] = {f->x[2].x, f->x[2].y, f->x[2].z};
    for (int d = 0; d < 3; d++) f->all.lo[d] = low(f->all.lo[d], z[d]), f->all.hi[d] = high(f->all.hi[d], z[d]);
}

static void set_sides(facet *f)
{
    for (int k = 0; k < 3; k++) f->side[k] = box_of_two(&f->x[k == 2 ? 0 : k + 1], &f->x[k == 0 ? 2 : k - 1]);
}

static double apart2(const box *a, const box *b)
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        const double gap = high(0, high(a->lo[d] - b->hi[d], b->lo[d] - a->hi[d]));
        sum += gap * gap;
    }
    return sum;
}

static double outside2(const tl_vec3 *p, const box *b)
{
    return apart2(&(box){{p->x, p->y, p->z}, {p->x, p->y, p->z}}, b);
}

// May features with this squared distance of boxes be nearer than the smallest distance so far?
static bool matters(const probe *p, double d2)
{
    const double most = p->least + p->keep;
    return !(d2 > most * most);
}

// Does one of the axes separate the triangle by enough? Boxes alone accept neighbours that lie askew.
static bool lies_apart(const probe *p, const facet *g)
{
    const double most = p->least + p->keep;
    for (int k = 0; k < AXES; k++) {
        const tl_vec3 a = p->axis[k];
        if (low(low(tl_dot3(a, g->x[0]), tl_dot3(a, g->x[1])), tl_dot3(a, g->x[2])) - p->front[k] > most) return true;
    }
    return false;
}

static void set_axes(probe *p)
{
    const tl_vec3 *x = p->face.x, none = {0, 0, 0};
    const tl_vec3 normal = tl_unit3_or(tl_cross3(tl_sub3(x[1], x[0]), tl_sub3(x[2], x[0])), none);
    for (int k = 0; k < 3; k++)
        p->axis[k] = tl_unit3_or(tl_cross3(tl_sub3(x[k == 0 ? 2 : k - 1], x[k == 2 ? 0 : k + 1]), normal), none);
    p->axis[3] = normal, p->axis[4] = tl_mul3(-1, normal);
    for (int k = 0; k < AXES; k++)
        p->front[k] = high(high(tl_dot3(p->axis[k], x[0]), tl_dot3(p->axis[k], x[1])), tl_dot3(p->axis[k], x[2]));
}

// --- a pair of faces ---

// Do the nearest points of the lines through two edges lie inside both? r = b0 - a0 + t e2 - s e1 is least where s det
// = c d - b e and t det = b d - a e. Edges parallel to within rounding may be taken for the one or the other: along
// them the distance hardly changes.
static bool cross_inside(tl_vec3 a0, tl_vec3 a1, tl_vec3 b0, tl_vec3 b1)
{
    const tl_vec3 r = tl_sub3(b0, a0), e1 = tl_sub3(a1, a0), e2 = tl_sub3(b1, b0);
    const double a = tl_dot3(e1, e1), b = tl_dot3(e1, e2), c = tl_dot3(e2, e2), d = tl_dot3(e1, r), e = tl_dot3(e2, r);
    const double det = a * c - b * b, s = c * d - b * e, t = b * d - a * e;
    return (s > 0) & (s < det) & (t > 0) & (t < det);
}

// A distance between two features of four nodes, less what is to be kept.
static double less_kept(const tl_clearance_def *def, const int32_t n[4], bool vf, double d)
{
    double keep = def->keep;
    bool flat = def->uv != NULL && def->keep > 0;
    for (int k = 0; k < 4 && flat; k++) flat = def->chart[n[k]] >= 0 && def->chart[n[k]] == def->chart[n[0]];
    if (flat) {
        tl_vec3 u[4];
        for (int k = 0; k < 4; k++) u[k] = (tl_vec3){def->uv[n[k]].x, def->uv[n[k]].y, 0};
        const double rest =
            vf ? tl_nearest_vf(u[0], u[1], u[2], u[3]).distance : tl_nearest_ee(u[0], u[1], u[2], u[3]).distance;
        keep = fmin(keep, def->keep_flat * rest);
    }
    return fmax(0, d - keep);
}

static void enter(probe *p, const int32_t n[4], bool vf, double d)
{
    if (!(d - p->keep < p->least)) return;
    p->least = low(p->least, p->self ? less_kept(p->def, n, vf, d) : d);
}

static void try_nodes(probe *p, const facet *a, const facet *b)
{
    for (int k = 0; k < 3; k++) {
        if (!matters(p, outside2(&a->x[k], &b->all))) continue;
        const double d = tl_nearest_vf(a->x[k], b->x[0], b->x[1], b->x[2]).distance;
        enter(p, (int32_t[4]){a->node[k], b->node[0], b->node[1], b->node[2]}, true, d);
    }
}

/// An edge from its start on.
typedef struct span {
    int32_t node[2];
    tl_vec3 x[2];
} span;

static span side_of(const facet *f, int k)
{
    const int i = k == 2 ? 0 : k + 1, j = k == 0 ? 2 : k - 1;
    const bool along = f->sides < 0 ? f->node[i] < f->node[j] : !(f->sides >> k & 1);
    const int first = along ? i : j, last = i + j - first;
    return (span){{f->node[first], f->node[last]}, {f->x[first], f->x[last]}};
}

static void try_edges(probe *p, span a, span b)
{
    if (p->self && (b.node[0] < a.node[0] || (b.node[0] == a.node[0] && b.node[1] < a.node[1]))) {
        const span swap = a;
        a = b, b = swap;
    }
    if (!cross_inside(a.x[0], a.x[1], b.x[0], b.x[1])) return;
    const double d = tl_nearest_ee(a.x[0], a.x[1], b.x[0], b.x[1]).distance;
    enter(p, (int32_t[4]){a.node[0], a.node[1], b.node[0], b.node[1]}, false, d);
}

static void try_facet(probe *p, facet *g)
{
    const facet *f = &p->face;
    try_nodes(p, f, g), try_nodes(p, g, f);
    set_sides(g);
    for (int i = 0; i < 3; i++) {
        if (!matters(p, apart2(&f->side[i], &g->all))) continue;
        const span edge = side_of(f, i);
        for (int j = 0; j < 3; j++)
            if (matters(p, apart2(&f->side[i], &g->side[j]))) try_edges(p, edge, side_of(g, j));
    }
}

static bool share_node(const int32_t *a, const int32_t *b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a[i] == b[j]) return true;
    return false;
}

static void try_face(probe *p, const tl_surface *s, const tl_vec3 *x, int32_t g)
{
    if (p->self && share_node(p->face.node, s->face[g])) return;
    facet other;
    set_facet(&other, s->face[g], x);
    if (matters(p, apart2(&p->face.all, &other.all)) && !lies_apart(p, &other)) try_facet(p, &other);
}

// --- the two queries ---

static void ask_tree(probe *p, const tl_bvh *tree)
{
    const double reach = p->least + p->keep, *lo = p->face.all.lo, *hi = p->face.all.hi;
    const tl_surface *s = tl_bvh_surface(tree);
    const tl_vec3 *x = tl_bvh_positions(tree);
    int32_t near[MOST_NEAR];
    const int32_t count = tl_bvh_around(tree, (tl_vec3){lo[0] - reach, lo[1] - reach, lo[2] - reach},
                                        (tl_vec3){hi[0] + reach, hi[1] + reach, hi[2] + reach}, near, MOST_NEAR);
    for (int32_t i = 0; i < count && count <= MOST_NEAR; i++) try_face(p, s, x, near[i]);
    for (int32_t g = 0; g < s->face_count && count > MOST_NEAR; g++) try_face(p, s, x, g);
}

static void ask_plane(probe *p, const tl_clearance_body *plane)
{
    for (int k = 0; k < 3; k++)
        p->least = low(p->least, high(0, tl_dot3(plane->normal, tl_sub3(p->face.x[k], plane->point))));
}

static void begin(probe *p, const tl_clearance_def *def, int32_t f, bool self, double most)
{
    set_facet(&p->face, tl_bvh_surface(def->tree)->face[f], tl_bvh_positions(def->tree));
    if (!self && def->sides) p->face.sides = def->sides[f];
    set_sides(&p->face);
    set_axes(p);
    p->def = def, p->self = self, p->keep = self ? def->keep : 0, p->least = low(most, def->reach);
}

double tl_clearance_self(const tl_clearance_def *def, int32_t f, double most)
{
    probe p;
    begin(&p, def, f, true, most);
    ask_tree(&p, def->tree);
    return p.least;
}

double tl_clearance_bodies(const tl_clearance_def *def, int32_t f, double most)
{
    probe p;
    begin(&p, def, f, false, most);
    for (int32_t b = 0; b < def->body_count; b++) {
        const tl_clearance_body *body = &def->bodies[b];
        const box around = {{body->lo.x, body->lo.y, body->lo.z}, {body->hi.x, body->hi.y, body->hi.z}};
        if (!body->tree)
            ask_plane(&p, body);
        else if (matters(&p, apart2(&p.face.all, &around)))
            ask_tree(&p, body->tree);
    }
    return p.least;
}
