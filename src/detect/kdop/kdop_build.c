// detect/kdop/kdop_build.c: the tree of a hierarchy, top down.
//
// Kimmerle 2005, sec. 2.2.1.2 and 2.3.2: take the direction in which the volume is widest; cut by the plane through its
// centre; faces that the plane cuts go to the child that holds fewer; where all are cut, each becomes a node of its
// own. Two or three such cuts make the children of a 4- or 8-ary node. Where more are cut than a node has room for
// children, they are shared out by number, so that the arity holds and degenerate input comes to an end.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/kdop/kdop.h"
#include "math/vec3.h"

void kdop_project(int32_t axes, tl_vec3 p, double out[KDOP_MAX_AXES])
{
    out[0] = p.x, out[1] = p.y, out[2] = p.z;
    int n = 3;
    if (axes == 9 || axes == 13) {
        out[n++] = p.x + p.y, out[n++] = p.x - p.y, out[n++] = p.x + p.z;
        out[n++] = p.x - p.z, out[n++] = p.y + p.z, out[n++] = p.y - p.z;
    }
    if (axes == 7 || axes == 13) {
        out[n++] = p.x + p.y + p.z, out[n++] = p.x + p.y - p.z;
        out[n++] = p.x - p.y + p.z, out[n++] = p.x - p.y - p.z;
    }
}

double kdop_length(int32_t axes, int axis)
{
    if (axis < 3) return 1;
    return axes == 9 || (axes == 13 && axis < 9) ? sqrt(2.0) : sqrt(3.0);
}

typedef struct builder {
    tl_kdop *tree;
    const tl_vec3 *x;
    const tl_vec3 (*corner)[3];
    int32_t *left, *right, *cut;  // [face_count] work
} builder;

static tl_vec3 corner_of(const builder *b, int32_t face, int k)
{
    return b->corner ? b->corner[face][k] : b->x[b->tree->surface.face[face][k]];
}

typedef struct range {
    int32_t begin, end;
} range;

// Widest direction of the volume of a range, and its middle. False: no width at all.
static bool widest(const builder *b, range r, int *axis, double *middle)
{
    const int32_t axes = b->tree->axes;
    double lo[KDOP_MAX_AXES], hi[KDOP_MAX_AXES], p[KDOP_MAX_AXES];
    for (int a = 0; a < axes; a++) lo[a] = INFINITY, hi[a] = -INFINITY;
    for (int32_t i = r.begin; i < r.end; i++)
        for (int k = 0; k < 3; k++) {
            kdop_project(axes, corner_of(b, b->tree->order[i], k), p);
            for (int a = 0; a < axes; a++) lo[a] = fmin(lo[a], p[a]), hi[a] = fmax(hi[a], p[a]);
        }
    double most = 0;
    *axis = 0, *middle = 0;
    for (int a = 0; a < axes; a++) {
        const double width = (hi[a] - lo[a]) / kdop_length(axes, a);
        if (width > most) most = width, *axis = a, *middle = 0.5 * lo[a] + 0.5 * hi[a];
    }
    return most > 0;
}

// Cuts a range in two; returns where the second begins.
static int32_t halve(const builder *b, range r)
{
    int32_t *order = b->tree->order, left = 0, right = 0, cut = 0;
    int axis;
    double middle;
    const int32_t equal = r.begin + (r.end - r.begin) / 2;
    if (!widest(b, r, &axis, &middle)) return equal;
    for (int32_t i = r.begin; i < r.end; i++) {
        bool below = true, above = true;
        double p[KDOP_MAX_AXES];
        for (int k = 0; k < 3; k++) {
            kdop_project(b->tree->axes, corner_of(b, order[i], k), p);
            below = below && p[axis] <= middle, above = above && p[axis] >= middle;
        }
        if (below && !above)
            b->left[left++] = order[i];
        else if (above && !below)
            b->right[right++] = order[i];
        else
            b->cut[cut++] = order[i];
    }
    if (left == 0 && right == 0) return equal;  // all are cut: by number
    for (int32_t i = 0; i < cut; i++) {
        if (left <= right)
            b->left[left++] = b->cut[i];
        else
            b->right[right++] = b->cut[i];
    }
    if (left == 0 || right == 0) return equal;
    memcpy(order + r.begin, b->left, (size_t)left * sizeof *order);
    memcpy(order + r.begin + left, b->right, (size_t)right * sizeof *order);
    return r.begin + left;
}

// Up to `parts` (a power of two) ranges; those that fit into a leaf stay whole.
static int share_out(const builder *b, range r, int parts, range *out)
{
    if (parts == 1 || r.end - r.begin <= b->tree->leaf_faces) {
        out[0] = r;
        return 1;
    }
    const int32_t middle = halve(b, r);
    const int n = share_out(b, (range){r.begin, middle}, parts / 2, out);
    return n + share_out(b, (range){middle, r.end}, parts / 2, out + n);
}

// Breadth first: children come after their parents, so one sweep backwards fits the tree.
static tl_status grow(const builder *b, tl_error *err)
{
    tl_kdop *t = b->tree;
    if (!TL_GROW(&t->alloc, t->nodes, t->node_cap, 1)) return tl_fail_memory(err, "a k-DOP hierarchy");
    t->nodes[0] = (kdop_node){0, 0, 0, t->surface.face_count};
    t->node_count = 1;
    for (int32_t i = 0; i < t->node_count; i++) {
        const range r = {t->nodes[i].begin, t->nodes[i].end};
        if (r.end - r.begin <= t->leaf_faces) continue;
        range part[KDOP_MAX_ARITY];
        const int parts = share_out(b, r, t->arity, part);
        if (!TL_GROW(&t->alloc, t->nodes, t->node_cap, t->node_count + parts))
            return tl_fail_memory(err, "a k-DOP hierarchy");
        t->nodes[i].child = t->node_count, t->nodes[i].child_count = parts;
        for (int c = 0; c < parts; c++) t->nodes[t->node_count++] = (kdop_node){0, 0, part[c].begin, part[c].end};
    }
    return TL_OK;
}

// Neighbours in a leaf share nodes: eight faces have some nine, not 24.
static tl_status list_points(tl_kdop *t, tl_error *err)
{
    t->first_point = TL_CALLOC(&t->alloc, int32_t, t->node_count + 1);
    if (!t->first_point) return tl_fail_memory(err, "a k-DOP hierarchy");
    int32_t n = 0;
    for (int32_t i = 0; i < t->node_count; i++) {
        const int32_t begin = t->first_point[i] = n;
        for (int32_t j = t->nodes[i].begin; j < t->nodes[i].end && t->nodes[i].child_count == 0; j++)
            for (int k = 0; k < 3; k++) {
                const int32_t v = t->surface.face[t->order[j]][k];
                int32_t at = begin;
                while (at < n && t->point[at] != v) at++;
                if (at == n) t->point[n++] = v;
            }
    }
    t->first_point[t->node_count] = n;
    return TL_OK;
}

tl_status kdop_build(tl_kdop *tree, const tl_vec3 *x, const tl_vec3 (*corner)[3], tl_error *err)
{
    const int32_t n = tree->surface.face_count;
    builder b = {tree,
                 x,
                 corner,
                 TL_ALLOC(&tree->alloc, int32_t, n),
                 TL_ALLOC(&tree->alloc, int32_t, n),
                 TL_ALLOC(&tree->alloc, int32_t, n)};
    for (int32_t i = 0; i < n; i++) tree->order[i] = i;
    tl_status status = b.left && b.right && b.cut ? grow(&b, err) : tl_fail_memory(err, "a k-DOP hierarchy");
    if (status == TL_OK) status = list_points(tree, err);
    TL_FREE(&tree->alloc, b.left, n);
    TL_FREE(&tree->alloc, b.right, n);
    TL_FREE(&tree->alloc, b.cut, n);
    return status;
}
