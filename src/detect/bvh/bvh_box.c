// detect/bvh/bvh_box.c: faces near one box, for local questions.

#include "detect/bvh/bvh_query.h"

typedef struct box_query {
    const tl_bvh *bvh;
    two_boxes box;
    float flipped[6];  // as bvh_traverse.h has it: q[d] = -s_opp(d)
    int32_t *face, count, max;
} box_query;

// Which lanes of rows `row[d * stride]` may meet the box? `later`: where the supports at x1 are, or NULL.
static uint32_t lanes_near(const box_query *q, const float *row, const float *later, const int64_t step[6], int lanes)
{
    int32_t far[LANES] = {0};
    for (int d = 0; d < 6; d++)
        for (int i = 0; i < lanes; i++)
            far[i] |= !(row[step[d] + i] <= q->flipped[d]) & !(later && later[step[d] + i] <= q->flipped[d]);
    uint32_t near = 0;
    for (int i = 0; i < lanes; i++) near |= (uint32_t)!far[i] << i;
    return near;
}

// In double. The swept box holds both ends, so its lower side is the lower of the two: a union for relative motion as
// well.
static bool face_meets(const box_query *q, int32_t f)
{
    const tl_bvh *t = q->bvh;
    const int32_t corner[3] = {t->corner[0][f], t->corner[1][f], t->corner[2][f]};
    two_boxes b;
    find_boxes(t, corner, 3, &b);
    bool meet = true;
    for (int k = 0; k < 3; k++) {
        const double lo = lesser(b.lo[0][k], b.lo[1][k]) - t->margin, hi = greater(b.hi[0][k], b.hi[1][k]) + t->margin;
        meet = meet && lo <= q->box.hi[0][k] && hi >= q->box.lo[0][k];
    }
    return meet;
}

static void search_leaf(box_query *q, int32_t leaf)
{
    const tl_bvh *t = q->bvh;
    const int32_t n = leaf_size(t, leaf, PRIM_FACE);
    const float *row = t->prim_box + t->leaf[leaf].box;
    int64_t step[6];
    for (int d = 0; d < 6; d++) step[d] = (int64_t)d * LANES;
    for (int32_t i = 0; i < n; i += LANES, row += t->rows * LANES)
        for (uint32_t near = lanes_near(q, row, t->rows == 12 ? row + 6 * LANES : NULL, step, LANES); near;
             near &= near - 1) {
            const int32_t f = t->leaf[leaf].first[PRIM_FACE] + i + __builtin_ctz(near);
            if (!face_meets(q, f)) continue;
            if (q->count < q->max) q->face[q->count] = t->id[PRIM_FACE][f];
            q->count++;
        }
}

static void search_tree(box_query *q)
{
    const tl_bvh *t = q->bvh;
    const int32_t arity = t->def.arity, half = t->rows == 12 ? 3 : t->def.k / 2;
    int32_t stack[MAX_LEVELS * MAX_ARITY], n = 1;
    int64_t step[6];
    for (int d = 0; d < 6; d++) step[d] = (int64_t)(d < 3 ? d : d - 3 + half) * arity;
    stack[0] = 0;
    while (n > 0) {
        const int32_t node = stack[--n];
        const float *v = t->volume + (int64_t)node * t->planes * arity;
        for (uint32_t near = lanes_near(q, v, t->rows == 12 ? v + 6 * arity : NULL, step, arity); near;
             near &= near - 1) {
            const int32_t child = t->child[node * arity + __builtin_ctz(near)];
            if (child >= 0)
                stack[n++] = child;
            else if (child != NO_CHILD)
                search_leaf(q, ~child);
        }
    }
}

static void sort_ids(int32_t *id, int32_t n)  // Shell 1959; few numbers, and no memory to be had
{
    int32_t gap = 1;
    while (gap < n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int32_t i = gap; i < n; i++) {
            const int32_t v = id[i];
            int32_t j = i;
            for (; j >= gap && id[j - gap] > v; j -= gap) id[j] = id[j - gap];
            id[j] = v;
        }
}

int32_t tl_bvh_box(const tl_bvh *bvh, tl_vec3 lo, tl_vec3 hi, int32_t *faces, int32_t max)
{
    box_query q = {.bvh = bvh, .face = faces, .max = max};
    const double low[3] = {lo.x, lo.y, lo.z}, high[3] = {hi.x, hi.y, hi.z};
    for (int k = 0; k < 3; k++) {
        q.box.lo[0][k] = low[k], q.box.hi[0][k] = high[k];
        q.flipped[k] = -round_down(-high[k]), q.flipped[k + 3] = -round_down(low[k]);
    }
    search_tree(&q);
    if (q.count <= max) sort_ids(faces, q.count);
    return q.count;
}
