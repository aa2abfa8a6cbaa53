// detect/bvh/bvh_refit.c: volumes from positions, bottom up.
//
// First a box per node of the surface, then every level of the tree from the deepest up: a node of the tree makes the
// boxes of the leaves it holds and reduces the volumes of its other children. Each thread writes its own slots, so the
// order does not matter.
//
// Rounding. A box in double is lo = min(x0, x1) - margin, hi = max(x0, x1) + margin; its supports are rounded down to
// float. Rounding is monotone, so the minimum over nodes of rounded supports is the rounded support of the minimum:
// every float box holds the double box of its primitive.
//
// Skin. With a skin the box of a node is kept while it contains the path with its margin, which is all that soundness
// requires; boxes of edges, faces and volumes are unions of stored boxes. When a box must change, the skin is added. A
// box that has become loose (by more than LOOSE skins on a side, after fast motion) is refitted too.

#include "base/fail.h"
#include "detect/bvh/bvh_impl.h"

enum { NODES_PER_CHUNK = 256, INNER_PER_CHUNK = 8 };
static const float LOOSE = 4;

typedef struct refit_job {
    tl_bvh *bvh;
    double margin, skin;
    bool lazy;
    const uint8_t *changed;  // per node of the surface: others stay as they are; NULL: all are looked at
    int32_t begin;           // of the level
} refit_job;

typedef int64_t mask4 __attribute__((vector_size(32)));
typedef int32_t half_mask4 __attribute__((vector_size(16)));
#define PICK(mask_type, type, m, a, b) ((type)(((m) & (mask_type)(a)) | (~(m) & (mask_type)(b))))

// round_down of four numbers, with the same result.
TL_INLINE void round_down4(const tl_v4 *number, float *out)
{
    const tl_v4 most = TL_SPLAT4((double)FLT_MAX), d = *number;
    const tl_v4 below = PICK(mask4, tl_v4, (mask4)(d < most), d, most),
                in = PICK(mask4, tl_v4, (mask4)(d > -most), below, -most);
    const tl_float4 f = __builtin_convertvector(in, tl_float4);
    const half_mask4 above = __builtin_convertvector((mask4)(TL_WIDEN4(f) > in), half_mask4);
    const tl_float4 size = (tl_float4)((half_mask4)f & INT32_MAX),
                    low = PICK(half_mask4, tl_float4, above, f - size * FLT_EPSILON - FLT_MIN, f);
    const tl_float4 end = (tl_float4){-FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX};
    *(tl_float4 *)out = PICK(half_mask4, tl_float4, (half_mask4)(low > end), low, end);
}

// The box of the path from p to q, widened and rounded; with two ends, the boxes of p and of q.
TL_INLINE void fit_node(tl_vec3 p, tl_vec3 q, double wide, const int ends, float *fit)
{
    const tl_v4 a = {p.x, p.y, p.z, wide}, b = {q.x, q.y, q.z, wide}, w = TL_SPLAT4(wide);
    const mask4 less = ends == 2 ? (mask4){-1, -1, -1, -1} : (mask4)(a < b), more = ends == 2 ? less : (mask4)(a > b);
    const tl_v4 lo = PICK(mask4, tl_v4, less, a, b) - w, hi = -PICK(mask4, tl_v4, more, a, b) - w, lo1 = b - w,
                hi1 = -b - w;
    round_down4(&lo, fit), round_down4(&hi, fit + 4);
    if (ends == 2) round_down4(&lo1, fit + 8), round_down4(&hi1, fit + 12);
    for (int k = 3; k < 8 * ends; k += 4) fit[k] = 0;
}

TL_INLINE void fit_nodes(void *arg, int32_t begin, int32_t end, const int ends)
{
    const refit_job *job = arg;
    tl_bvh *bvh = job->bvh;
    const tl_vec3 *x0 = bvh->x0, *x1 = bvh->x1 ? bvh->x1 : bvh->x0;
    const float loose = LOOSE * (float)job->skin;
    for (int32_t i = begin; i < end; i++) {
        const int32_t v = bvh->id[PRIM_NODE][i];
        bvh->moved[i] = !job->changed || job->changed[v];
        if (!bvh->moved[i]) continue;
        float *box = bvh->node_box[(int64_t)i * ends];
        if (job->lazy && !job->changed) {
            float fit[16];
            fit_node(x0[v], x1[v], job->margin, ends, fit);
            bool inside = true;
            for (int k = 0; k < 8 * ends; k++) inside = inside && box[k] <= fit[k] && box[k] >= fit[k] - loose;
            bvh->moved[i] = !inside;
            if (inside) continue;
        }
        fit_node(x0[v], x1[v], job->margin + job->skin, ends, box);
    }
}

TL_CLONES static void fit_swept_nodes(void *arg, int32_t begin, int32_t end) { fit_nodes(arg, begin, end, 1); }
TL_CLONES static void fit_relative_nodes(void *arg, int32_t begin, int32_t end) { fit_nodes(arg, begin, end, 2); }

static bool leaf_moved(const tl_bvh *bvh, int32_t leaf)
{
    uint8_t any = 0;
    for (int32_t i = bvh->leaf[leaf].first[PRIM_FACE]; i < bvh->leaf[leaf + 1].first[PRIM_FACE]; i++)
        for (int k = 0; k < 3; k++) any |= bvh->moved[bvh->corner[k][i]];
    return any;
}

#define MIN8(a, b) ((tl_f8)((((tl_i8)((a) < (b))) & (tl_i8)(a)) | (~((tl_i8)((a) < (b))) & (tl_i8)(b))))

// Eight boxes as lanes of their six rows.
TL_INLINE void put_boxes(const tl_f8 *box, float *row)
{
#define TURN(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
    tl_f8 half[2][3];  // lo and -hi of four boxes on each axis
    for (int h = 0; h < 2; h++) {
        const tl_f8 *b = box + 4 * h;
        const tl_f8 xy01 = TURN(b[0], b[1], 0, 8, 1, 9, 4, 12, 5, 13),
                    xy23 = TURN(b[2], b[3], 0, 8, 1, 9, 4, 12, 5, 13);
        const tl_f8 z01 = TURN(b[0], b[1], 2, 10, 3, 11, 6, 14, 7, 15),
                    z23 = TURN(b[2], b[3], 2, 10, 3, 11, 6, 14, 7, 15);
        half[h][0] = TURN(xy01, xy23, 0, 1, 8, 9, 4, 5, 12, 13);
        half[h][1] = TURN(xy01, xy23, 2, 3, 10, 11, 6, 7, 14, 15);
        half[h][2] = TURN(z01, z23, 0, 1, 8, 9, 4, 5, 12, 13);
    }
    for (int k = 0; k < 3; k++) {
        *(tl_f8 *)(row + k * LANES) = TURN(half[0][k], half[1][k], 0, 1, 2, 3, 8, 9, 10, 11);
        *(tl_f8 *)(row + (k + 3) * LANES) = TURN(half[0][k], half[1][k], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#undef TURN
}

// Rows of `count` primitives of `nodes` nodes each, node[k][0 .. count), or of the nodes themselves, and their union.
// Lanes past the end overlap nothing.
TL_INLINE void fit_prims(const float (*node_box)[8], const int ends, const int32_t *const node[3], const int nodes,
                         int32_t count, float *row, tl_f8 *all)
{
    const tl_f8 nothing = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    tl_f8 sum = nothing;
    for (int32_t i = 0; i < count; i += LANES) {
        tl_f8 box[LANES];
        for (int j = 0; j < LANES; j++) {
            box[j] = nothing;
            if (i + j >= count) continue;
            box[j] = *(const tl_f8 *)node_box[(int64_t)ends * (nodes == 1 ? i + j : node[0][i + j])];
            for (int k = 1; k < nodes; k++) {
                const tl_f8 other = *(const tl_f8 *)node_box[(int64_t)ends * node[k][i + j]];
                box[j] = MIN8(box[j], other);
            }
            if (nodes == 3) sum = MIN8(sum, box[j]);
        }
        put_boxes(box, row + i * 6 * ends);
    }
    *all = sum;
}

// Boxes of a leaf's primitives, and its volume into out[d * arity]. `ends` boxes each; these are those at end `s`.
TL_INLINE void fit_leaf(tl_bvh *bvh, int32_t leaf, const int ends, const int s, float *out)
{
    const tl_leaf *l = &bvh->leaf[leaf];
    const float(*node_box)[8] = (const float(*)[8])bvh->node_box + s;
    float *row = bvh->prim_box + l->box;
    const int32_t faces = leaf_size(bvh, leaf, PRIM_FACE), edges = leaf_size(bvh, leaf, PRIM_EDGE),
                  f = l->first[PRIM_FACE], e = l->first[PRIM_EDGE];
    const int32_t nodes = leaf_size(bvh, leaf, PRIM_NODE), arity = bvh->def.arity;
    const int32_t *const corner[3] = {bvh->corner[0] + f, bvh->corner[1] + f, bvh->corner[2] + f}, *const end[3] = {
                                                                                                       bvh->end[0] + e,
                                                                                                       bvh->end[1] + e,
                                                                                                       NULL};
    tl_f8 all, unused;
    fit_prims(node_box, ends, corner, 3, faces, row + 6 * s * LANES, &all);
    *(tl_f8 *)bvh->leaf_box[(int64_t)leaf * ends + s] = all;
    for (int k = 0; k < 3; k++) out[(k + 6 * s) * arity] = all[k], out[(k + 6 * s + 3) * arity] = all[k + 4];
    row += 6 * ends * pad_lanes(faces);
    fit_prims(node_box, ends, end, 2, edges, row + 6 * s * LANES, &unused);
    row += 6 * ends * pad_lanes(edges);
    fit_prims(node_box + (int64_t)ends * l->first[PRIM_NODE], ends, end, 1, nodes, row + 6 * s * LANES, &unused);
}

TL_CLONES static void fit_inner(void *arg, int32_t begin, int32_t end)
{
    const refit_job *job = arg;
    tl_bvh *bvh = job->bvh;
    const int32_t arity = bvh->def.arity, k = bvh->rows;
    const bool relative = bvh->def.relative;
    for (int32_t n = job->begin + begin; n < job->begin + end; n++) {
        bool dirty = false;
        for (int32_t c = 0; c < arity; c++) {
            const int32_t child = bvh->child[n * arity + c];
            float *out = bvh->volume + (int64_t)n * k * arity + c;
            if (child == NO_CHILD || (job->lazy && (child < 0 ? !leaf_moved(bvh, ~child) : !bvh->dirty[child])))
                continue;
            dirty = true;
            if (child < 0) {
                if (relative)
                    fit_leaf(bvh, ~child, 2, 0, out), fit_leaf(bvh, ~child, 2, 1, out);
                else
                    fit_leaf(bvh, ~child, 1, 0, out);
                continue;
            }
            const float *in = bvh->volume + (int64_t)child * k * arity;
            for (int d = 0; d < k; d++, in += arity) {
                float low = in[0];
                for (int i = 1; i < arity; i++) low = in[i] < low ? in[i] : low;
                out[d * arity] = low;
            }
        }
        bvh->dirty[n] = dirty;
    }
}

static void refit(refit_job *job, tl_workers *workers)
{
    tl_bvh *bvh = job->bvh;
    tl_parallel_for(workers, bvh->count[PRIM_NODE], NODES_PER_CHUNK,
                    bvh->def.relative ? fit_relative_nodes : fit_swept_nodes, job);
    for (int32_t level = bvh->level_count - 1; level >= 0; level--) {
        job->begin = bvh->level_begin[level];
        tl_parallel_for(workers, bvh->level_begin[level + 1] - job->begin, INNER_PER_CHUNK, fit_inner, job);
    }
    bvh->fitted = true;

    // Bound on how loose supports are: rounding, less than M 2^-23 with M the largest coordinate, and the skin.
    // Subtracting the slack in float rounds again. Near the end of the range of floats nothing is certain.
    float most = 0;
    const int32_t arity = bvh->def.arity;
    for (int32_t c = 0; c < arity && bvh->child[c] != NO_CHILD; c++)
        for (int d = 0; d < bvh->rows; d++) most = fmaxf(most, fabsf(bvh->volume[d * arity + c]));
    bvh->slack = most < FLT_MAX / 4 ? most * 0x1p-21f + 16 * FLT_MIN + 1.01f * LOOSE * (float)job->skin : INFINITY;
}

void tl_bvh_refit(tl_bvh *bvh, const tl_vec3 *x0, const tl_vec3 *x1, double margin, double skin, tl_workers *workers)
{
    TL_ASSERT(margin >= 0 && skin >= 0, "bvh: the margin or the skin is negative");
    bvh->x0 = x0, bvh->x1 = x1, bvh->margin = margin;
    refit(&(refit_job){bvh, margin, skin, skin > 0 && bvh->fitted, NULL, 0}, workers);
}

void tl_bvh_refit_some(tl_bvh *bvh, const tl_vec3 *x0, const tl_vec3 *x1, const uint8_t *changed, tl_workers *workers)
{
    TL_ASSERT(bvh->fitted && !x1 == !bvh->x1, "bvh: some nodes are to be fitted, but the others have not been");
    bvh->x0 = x0, bvh->x1 = x1;
    refit(&(refit_job){bvh, bvh->margin, 0, true, changed, 0}, workers);
}
