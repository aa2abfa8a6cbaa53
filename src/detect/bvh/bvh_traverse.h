// detect/bvh/bvh_traverse.h: the traversal, expanded by bvh_query.c once per instruction set.
//
// Set before including: TRAVERSE(name) gives the names of functions, TRAVERSE_TARGET their attribute, WIDTH the lanes
// of a vector that the processor has, which the types TRAVERSE(floats) and TRAVERSE(ints) are, SPLAT(s) one with s in
// each, BITS(m) the bits of the lanes of a comparison, LEAST and MOST the lesser and greater of two vectors, and what
// bvh_query.c says of compress and put_pairs. Eight lanes are PARTS vectors: wider vectors than the processor has are
// compiled by gcc to scalar code with branches, which took ten times as long. All expansions compute the same floats,
// so they give the same result.
//
// Boxes overlap where support <= flipped support, tested as: the maximum of the differences is <= 0. (A difference of
// floats has the right sign, thanks to subnormal numbers.) The same number tells whether boxes overlap by more than the
// slack. `mode` is a constant wherever these functions are expanded. That makes some sixty copies of the largest of
// them, TRAVERSE_LARGE, per instruction set, which take a minute to compile, and many with sanitizers, where they are
// not inlined.

#ifdef TL_SANITIZED
#define TRAVERSE_LARGE static
#else
#define TRAVERSE_LARGE TL_INLINE
#endif

#define PARTS (LANES / WIDTH)
#define FLOATS_AT(p) (*(const TRAVERSE(floats) *)(p))
#define INTS_AT(p) (*(const TRAVERSE(ints) *)(p))

// One kind of primitives of a leaf: their boxes, `rows` rows of eight for each eight of them, and where they begin in
// leaf order.
typedef struct TRAVERSE(prims) {
    const float *box;
    int32_t count, first;
} TRAVERSE(prims);

TL_INLINE TRAVERSE_TARGET TRAVERSE(prims) TRAVERSE(prims_of)(const tl_bvh *t, int32_t leaf, int kind, int mode)
{
    const int rows = mode == SWEPT ? 6 : 12;
    const float *box = t->prim_box + t->leaf[leaf].box;
    for (int i = 0; i < kind; i++) box += rows * pad_lanes(leaf_size(t, leaf, i));
    return (TRAVERSE(prims)){box, leaf_size(t, leaf, kind), t->leaf[leaf].first[kind]};
}

// Which of the eight boxes at `row` may overlap the one whose flipped supports (-s_opp(d)) are q, at two ends?
TL_INLINE TRAVERSE_TARGET uint32_t TRAVERSE(meet8)(const float *row, const float *q)
{
    uint32_t bits = 0;
    for (int part = 0; part < LANES; part += WIDTH) {
        TRAVERSE(floats) most = SPLAT(-INFINITY);
        for (int d = 0; d < 6; d++) {
            const TRAVERSE(floats) gap = FLOATS_AT(row + d * LANES + part) - SPLAT(q[d]);
            const TRAVERSE(floats) later = FLOATS_AT(row + (d + 6) * LANES + part) - SPLAT(q[d + 6]);
            const TRAVERSE(floats) least = LEAST(gap, later);
            most = MOST(most, least);
        }
        bits |= BITS(most <= SPLAT(0)) << part;
    }
    return bits;
}

// The sides of the volume of leaf `la` of p beyond which primitives of leaf `lb` of q may lie. Where the volume of the
// second ends before that of the first, at one end of the path, all its primitives are within: true for more than half
// of the sides.
TRAVERSE_LARGE TRAVERSE_TARGET void TRAVERSE(sides_of)(const pair_query *query, const tl_bvh *p, int32_t la,
                                                       const tl_bvh *q, int32_t lb, int mode, sides *s)
{
    static const int32_t row[LANES] = {3 * LANES, 4 * LANES, 5 * LANES, 0,
                                       0,         LANES,     2 * LANES, 0};  // those of the opposite supports
    const int ends = mode == SWEPT ? 1 : 2;
    TRAVERSE(floats) limit[2][PARTS];
    uint32_t bits = 0;
    for (int part = 0; part < LANES; part += WIDTH) {
        TRAVERSE(ints) within = {0};
        for (int e = 0; e < ends; e++) {
            TRAVERSE(floats) most = -FLOATS_AT(p->leaf_box[(int64_t)la * ends + e] + part);
            if (mode == NEAR) {
                const TRAVERSE(floats) wide = most + SPLAT(query->reach[e]);
                most = LEAST(wide, SPLAT(FLT_MAX));
            }
            within |= (TRAVERSE(ints))(-FLOATS_AT(q->leaf_box[(int64_t)lb * ends + e] + part) <= most);
            limit[e][part / WIDTH] = most;
        }
        bits |= BITS(within) << part;
    }
    const uint32_t beyond = ~bits & 0x77u;
    const TRAVERSE(order) order = TRAVERSE(order_of)(beyond);
    for (int e = 0; e < ends; e++) TRAVERSE(compress)(limit[e], order, s->limit[e]);
    TRAVERSE(compress)(row, order, s->row);
    s->count = __builtin_popcount(beyond);
}

// Which of the eight boxes at `box` may lie within all sides?
TL_INLINE TRAVERSE_TARGET uint32_t TRAVERSE(within8)(const float *box, const sides *s, int mode)
{
    TRAVERSE(floats) most[PARTS];
    for (int h = 0; h < PARTS; h++) most[h] = SPLAT(-INFINITY);
    for (int32_t i = 0; i < s->count; i++)
        for (int h = 0; h < PARTS; h++) {
            const float *row = box + s->row[i] + h * WIDTH;
            TRAVERSE(floats) gap = FLOATS_AT(row) - SPLAT(s->limit[0][i]);
            if (mode != SWEPT) {
                const TRAVERSE(floats) later = FLOATS_AT(row + 6 * LANES) - SPLAT(s->limit[1][i]);
                gap = LEAST(gap, later);
            }
            most[h] = MOST(most[h], gap);
        }
    uint32_t bits = 0;
    for (int h = 0; h < PARTS; h++) bits |= BITS(most[h] <= SPLAT(0)) << h * WIDTH;
    return bits;
}

// Which of the eight primitives with supports `row`, 12 vectors for each part, may make a pair with the one whose
// supports are `one`, LANES apart, and which certainly do? Not flipped: x - -y is x + y.
TL_INLINE TRAVERSE_TARGET uint32_t TRAVERSE(pair8)(const pair_limits limits, const TRAVERSE(floats) * row,
                                                   const float *one, int mode, uint32_t *sure)
{
    uint32_t bits = 0;
    *sure = 0;
    for (int h = 0; h < PARTS; h++) {
        TRAVERSE(floats) most = SPLAT(-INFINITY), apart = SPLAT(0);
        for (int k = 0; k < 3; k++) {
            TRAVERSE(floats) out = SPLAT(0);
            for (int d = k; d < 6; d += 3) {
                const int opp = d < 3 ? d + 3 : d - 3;
                TRAVERSE(floats) gap = row[12 * h + d] + SPLAT(one[opp * LANES]);
                if (mode != SWEPT) {
                    const TRAVERSE(floats) later = row[12 * h + d + 6] + SPLAT(one[(opp + 6) * LANES]);
                    gap = LEAST(gap, later);
                    if (mode == NEAR) out = MOST(out, later);
                }
                most = MOST(most, gap);
            }
            if (mode == NEAR) apart += out * out;
        }
        TRAVERSE(ints)
        may = (TRAVERSE(ints))(most <= SPLAT(limits.path_may)), does = (TRAVERSE(ints))(most < SPLAT(limits.path_does));
        if (mode == NEAR) {
            may |= (TRAVERSE(ints))(apart <= SPLAT(limits.end2_may));
            does |= (TRAVERSE(ints))(apart < SPLAT(limits.end2_does));
        }
        *sure |= BITS(does) << h * WIDTH, bits |= BITS(may) << h * WIDTH;
    }
    return bits;
}

TL_INLINE TRAVERSE_TARGET const int32_t *TRAVERSE(nodes_of)(const tl_bvh *t, int kind, int k)
{
    return kind == PRIM_FACE ? t->corner[k] : t->end[k];
}

// Bits of the eight flags at `flag`, each 0 or 1.
TL_INLINE TRAVERSE_TARGET uint32_t TRAVERSE(flags8)(const uint8_t *flag)
{
    uint32_t bits = 0;
    for (int i = 0; i < LANES; i++) bits |= (uint32_t)flag[i] << i;
    return bits;
}

// Marks the primitives that may lie within `near` (NULL: all), if `flag` is given only those whose flag is `wanted`;
// returns their number.
TRAVERSE_LARGE TRAVERSE_TARGET int32_t TRAVERSE(choose)(TRAVERSE(prims) p, const sides *near, const uint8_t *flag,
                                                        bool wanted, int mode, uint8_t *chosen)
{
    const int rows = mode == SWEPT ? 6 : 12;
    int32_t n = 0;
    for (int32_t i = 0; i < p.count; i += LANES) {
        const int32_t left = p.count - i;
        uint32_t mask = left < LANES ? (1u << left) - 1 : 255u;
        if (flag) mask &= TRAVERSE(flags8)(flag + p.first + i) ^ (wanted ? 0u : 255u);
        if (near) mask &= TRAVERSE(within8)(p.box + i * rows, near, mode);
        chosen[i / LANES] = (uint8_t)mask;
        n += __builtin_popcount(mask);
    }
    return n;
}

// Indices within the leaf of the chosen primitives.
TRAVERSE_LARGE TRAVERSE_TARGET void TRAVERSE(list)(TRAVERSE(prims) p, const uint8_t *chosen, int32_t *number)
{
    for (int32_t i = 0; i < p.count; i += LANES) {
        TRAVERSE(compress_range)(i, TRAVERSE(order_of)(chosen[i / LANES]), number);
        number += __builtin_popcount(chosen[i / LANES]);
    }
}

// Copies the chosen primitives into consecutive lanes.
TRAVERSE_LARGE TRAVERSE_TARGET void TRAVERSE(gather)(const tl_bvh *t, TRAVERSE(prims) p, int kind,
                                                     const uint8_t *chosen, int mode, gathered *g)
{
    const int rows = mode == SWEPT ? 6 : 12, nodes = kind == PRIM_FACE ? 3 : kind == PRIM_EDGE ? 2 : 0;
    const int32_t *id = t->id[kind] + p.first, *node[3] = {NULL, NULL, NULL};
    for (int k = 0; k < nodes; k++) node[k] = TRAVERSE(nodes_of)(t, kind, k) + p.first;
    int32_t n = 0;
    for (int32_t i = 0; i < p.count; i += LANES) {
        const uint32_t mask = chosen[i / LANES];
        if (!mask) continue;
        const TRAVERSE(order) order = TRAVERSE(order_of)(mask);
        for (int d = 0; d < rows; d++) TRAVERSE(compress)(p.box + i * rows + d * LANES, order, g->row[d] + n);
        for (int k = 0; k < nodes; k++) TRAVERSE(compress)(node[k] + i, order, g->node[k] + n);
        if (kind == PRIM_NODE) TRAVERSE(compress_range)(p.first + i, order, g->node[0] + n);
        TRAVERSE(compress)(id + i, order, g->id + n);
        n += __builtin_popcount(mask);
    }
    g->count = n;
}

// The volume in lane `lane` of a node, flipped: q[d] = -s_opp(d). With a reach it is widened.
TRAVERSE_LARGE TRAVERSE_TARGET void TRAVERSE(flip_lane)(const pair_query *query, const tl_bvh *t, int32_t node,
                                                        int lane, int mode, float *q)
{
    const int32_t arity = t->def.arity;
    const float *v = t->volume + (int64_t)node * t->rows * arity + lane;
    if (mode == SWEPT) {
        for (int d = 0; d < 3; d++) q[d] = -v[(d + 3) * arity], q[d + 3] = -v[d * arity];
        return;
    }
    for (int d = 0; d < 12; d++) {
        q[d] = -v[(d % 6 < 3 ? d + 3 : d - 3) * arity];
        if (mode != NEAR) continue;
        const float wide = q[d] + query->reach[d / 6];
        q[d] = wide < FLT_MAX ? wide : FLT_MAX;
    }
}

// The lanes of a node that may meet the volume flipped in q.
TRAVERSE_LARGE TRAVERSE_TARGET uint32_t TRAVERSE(meet_lanes)(const tl_bvh *t, int32_t node, int mode, const float *q)
{
    const int32_t arity = t->def.arity;
    const float *v = t->volume + (int64_t)node * t->rows * arity;
    if (arity == 8 && mode != SWEPT) return TRAVERSE(meet8)(v, q);
    if (arity == 8) {
        TRAVERSE(ints) m[PARTS];
        for (int h = 0; h < PARTS; h++) m[h] = ~(TRAVERSE(ints)){0};
        for (int d = 0; d < 6; d++)
            for (int h = 0; h < PARTS; h++)
                m[h] &= (TRAVERSE(ints))(FLOATS_AT(v + d * LANES + h * WIDTH) <= SPLAT(q[d]));
        uint32_t bits = 0;
        for (int h = 0; h < PARTS; h++) bits |= BITS(m[h]) << h * WIDTH;
        return bits;
    }
    uint32_t mask = 0;
    for (int c = 0; c < arity; c++) {
        bool meet = true;
        if (mode == SWEPT)
            for (int d = 0; d < 6; d++) meet &= v[d * arity + c] <= q[d];
        else
            for (int d = 0; d < 6; d++) meet &= (v[d * arity + c] <= q[d]) | (v[(d + 6) * arity + c] <= q[d + 6]);
        mask |= (uint32_t)meet << c;
    }
    return mask;
}

// Pairs of each of `ones` primitives of a, with numbers `one`, with each of b. `order`: which id comes first; `upper`:
// a and b are the same, so only those further on.
TRAVERSE_LARGE TRAVERSE_TARGET void TRAVERSE(meet_gathered)(const pair_query *query, const tl_bvh *p, TRAVERSE(prims) a,
                                                            int ka, const int32_t *one, int32_t ones, const tl_bvh *q,
                                                            const gathered *b, int kb, pair_order order, bool upper,
                                                            int list, int mode, pair_writer *w)
{
    const bool same = p == q;
    const int rows = mode == SWEPT ? 6 : 12, na = NODES_OF_KIND(ka), nb = NODES_OF_KIND(kb);
    const int32_t *id = p->id[ka] + a.first, *ends[3] = {NULL, NULL, NULL};
    for (int k = 0; k < na && ka != PRIM_NODE; k++) ends[k] = TRAVERSE(nodes_of)(p, ka, k) + a.first;
    const pair_limits limits = query->limits;
    tl_pair *at = w->at[list], *end = w->end[list];
    for (int32_t j0 = 0; j0 < b->count; j0 += LANES) {
        const int32_t left = b->count - j0, last = upper && j0 + LANES < ones ? j0 + LANES : ones;
        const uint32_t valid = left < LANES ? (1u << left) - 1 : 255u;
        TRAVERSE(floats) row[12 * PARTS];
        TRAVERSE(ints) node[PARTS][3];
        for (int h = 0; h < PARTS; h++) {
            for (int d = 0; d < rows; d++) row[12 * h + d] = FLOATS_AT(b->row[d] + j0 + h * WIDTH);
            for (int k = 0; k < nb; k++) node[h][k] = INTS_AT(b->node[k] + j0 + h * WIDTH);
        }
        for (int32_t i = 0; i < last; i++) {
            const int32_t number = one[i];
            const float *box = a.box + (number & -LANES) * (rows - 1) + number;
            int32_t va[3];
            for (int k = 0; k < na; k++) va[k] = ka == PRIM_NODE ? a.first + number : ends[k][number];
            uint32_t sure, hit = TRAVERSE(pair8)(limits, row, box, mode, &sure) & valid;
            if (upper && i >= j0) hit &= ~((2u << (i - j0)) - 1);
            for (int h = 0; same && h < PARTS; h++) {
                TRAVERSE(ints) shared = {0};
                for (int l = 0; l < na; l++)
                    for (int k = 0; k < nb; k++) shared |= (TRAVERSE(ints))(node[h][k] == (TRAVERSE(ints)){0} + va[l]);
                hit &= ~(BITS(shared) << h * WIDTH);
            }
            for (uint32_t check = hit & ~sure; check; check &= check - 1) {
                const int32_t j = j0 + __builtin_ctz(check);
                int32_t vb[3];
                for (int k = 0; k < nb; k++) vb[k] = b->node[k][j];
                if (!is_pair(query, mode, p, va, na, q, vb, nb)) hit &= ~(check & -check);
            }
            if (end - at < LANES) {
                w->at[list] = at;
                if (!writer_next_block(w, list)) return;
                at = w->at[list], end = w->end[list];
            }
            TRAVERSE(put_pairs)
            (id[number], b->id + j0, hit, order, at);  // no test for hits: which there are is hard to guess
            at += __builtin_popcount(hit);
        }
    }
    w->at[list] = at;
}

// Number of tests of eight against one if those of the first kind are taken one by one.
static inline int32_t TRAVERSE(cost)(int32_t ones, int32_t lanes) { return ones * (pad_lanes(lanes) / LANES); }

// Pairs of one kind of primitive of leaf `la` of p that may be within near_b with one of leaf `lb` of q that may be
// within near_a.
TL_INLINE TRAVERSE_TARGET void TRAVERSE(meet_prims)(const pair_query *query, const tl_bvh *p, int32_t la, int ka,
                                                    const sides *near_a, const tl_bvh *q, int32_t lb, int kb,
                                                    const sides *near_b, int list, int mode, pair_writer *w)
{
    const bool same = p == q, itself = same && la == lb;
    const uint8_t *some_a = query->lanes && p == query->a ? query->some[ka] : NULL;
    const uint8_t *some_b = query->lanes && q == query->a ? query->some[kb] : NULL;
    const TRAVERSE(prims) a = TRAVERSE(prims_of)(p, la, ka, mode), b = TRAVERSE(prims_of)(q, lb, kb, mode);
    const pair_order order = same && ka == kb ? LESSER_FIRST : ONE_FIRST;
    uint8_t *chosen_a = w->chosen[0], *chosen_b = w->chosen[1];
    // Chosen primitives with all others, within one surface: the chosen of a with all of b (among each other, if a is
    // b), then the others of a with the chosen of b.
    const int rounds = same && some_a ? 2 : 1;
    for (int round = 0; round < rounds; round++) {
        const bool upper = itself && ka == kb && round == 0;
        const int32_t count_a = TRAVERSE(choose)(a, itself ? NULL : near_b, some_a, round == 0, mode, chosen_a);
        if (!count_a) continue;
        const int32_t count_b = upper
                                    ? count_a
                                    : TRAVERSE(choose)(b, itself ? NULL : near_a,
                                                       rounds == 2 && round == 0 ? NULL : some_b, true, mode, chosen_b);
        if (!count_b) continue;
        if (upper || TRAVERSE(cost)(count_a, count_b) <= TRAVERSE(cost)(count_b, count_a)) {
            TRAVERSE(list)(a, chosen_a, w->one);
            TRAVERSE(gather)(q, b, kb, upper ? chosen_a : chosen_b, mode, &w->near);
            TRAVERSE(meet_gathered)(query, p, a, ka, w->one, count_a, q, &w->near, kb, order, upper, list, mode, w);
        } else {
            TRAVERSE(list)(b, chosen_b, w->one);
            TRAVERSE(gather)(p, a, ka, chosen_a, mode, &w->near);
            TRAVERSE(meet_gathered)
            (query, q, b, kb, w->one, count_b, p, &w->near, ka, order == ONE_FIRST ? ONE_LAST : order, false, list,
             mode, w);
        }
    }
}

TL_INLINE TRAVERSE_TARGET void TRAVERSE(meet_leaves)(const pair_query *query, int32_t la, int32_t lb, int mode,
                                                     pair_writer *w)
{
    const tl_bvh *p = query->a, *q = query->b;
    const bool same = p == q, itself = same && la == lb;
    sides near_a, near_b;
    if (!itself)
        TRAVERSE(sides_of)(query, p, la, q, lb, mode, &near_a), TRAVERSE(sides_of)(query, q, lb, p, la, mode, &near_b);
    w->face_pairs += (int64_t)leaf_size(p, la, PRIM_FACE) * leaf_size(q, lb, PRIM_FACE);
#define MEET(p, la, ka, near_a, q, lb, kb, near_b, list)                                                               \
    TRAVERSE(meet_prims)(query, p, la, ka, near_a, q, lb, kb, near_b, list, mode, w)
    if (query->what & TL_PAIR_VF) {
        MEET(p, la, PRIM_NODE, &near_a, q, lb, PRIM_FACE, &near_b, LIST_VF);
        if (!itself) MEET(q, lb, PRIM_NODE, &near_b, p, la, PRIM_FACE, &near_a, same ? LIST_VF : LIST_FV);
    }
    if (query->what & TL_PAIR_EE) MEET(p, la, PRIM_EDGE, &near_a, q, lb, PRIM_EDGE, &near_b, LIST_EE);
    if (query->what & TL_PAIR_EF) {
        MEET(p, la, PRIM_EDGE, &near_a, q, lb, PRIM_FACE, &near_b, LIST_EF);
        if (!itself) MEET(q, lb, PRIM_EDGE, &near_b, p, la, PRIM_FACE, &near_a, same ? LIST_EF : LIST_FE);
    }
#undef MEET
}

// The lanes of a node that hold chosen primitives.
TL_INLINE TRAVERSE_TARGET uint32_t TRAVERSE(lanes_of)(const pair_query *query, const tl_bvh *t, int32_t node)
{
    return query->lanes && t == query->a ? query->lanes[node] : 255u;
}

// The pairs of subtrees below `item` that may meet, at most MAX_ARITY^2; not to be called on two leaves. One of each
// pair holds something that is asked for.
TL_INLINE TRAVERSE_TARGET int32_t TRAVERSE(expand)(const pair_query *query, work item, int mode, work *out,
                                                   int64_t *tests)
{
    const tl_bvh *p = query->a, *q = query->b;
    const int32_t arity_a = p->def.arity, arity_b = q->def.arity;
    int32_t n = 0;
    float vol[12];
    if (p == q && item.a == item.b) {
        const int32_t *child = p->child + item.a * arity_a;
        const uint32_t some = TRAVERSE(lanes_of)(query, p, item.a);
        for (int i = 0; i < arity_a && child[i] != NO_CHILD; i++) {
            const bool asked = some >> i & 1;
            if (asked)
                out[n++] = (work){child[i], child[i]};
            else if (!(some >> i))
                break;  // nor do later ones
            TRAVERSE(flip_lane)(query, p, item.a, i, mode, vol);
            uint32_t hit = TRAVERSE(meet_lanes)(p, item.a, mode, vol) & ~((2u << i) - 1) & (asked ? 255u : some);
            *tests += arity_a;
            for (; hit; hit &= hit - 1) out[n++] = (work){child[i], child[__builtin_ctz(hit)]};
        }
    } else if (item.a >= 0 && item.b >= 0) {
        const int32_t *ca = p->child + item.a * arity_a, *cb = q->child + item.b * arity_b;
        const uint32_t some = TRAVERSE(lanes_of)(query, p, item.a),
                       other = p == q ? TRAVERSE(lanes_of)(query, q, item.b) : 0;
        for (int i = 0; i < arity_a && ca[i] != NO_CHILD; i++) {
            const uint32_t lanes = some >> i & 1 ? 255u : other;
            if (!lanes) continue;
            TRAVERSE(flip_lane)(query, p, item.a, i, mode, vol);
            *tests += arity_b;
            for (uint32_t hit = TRAVERSE(meet_lanes)(q, item.b, mode, vol) & lanes; hit; hit &= hit - 1)
                out[n++] = (work){ca[i], cb[__builtin_ctz(hit)]};
        }
    } else {
        const bool leaf_a = item.a < 0;
        const tl_bvh *t = leaf_a ? p : q, *u = leaf_a ? q : p;
        const int32_t slot = t->leaf[leaf_a ? ~item.a : ~item.b].parent, node = leaf_a ? item.b : item.a;
        TRAVERSE(flip_lane)(query, t, slot / t->def.arity, slot % t->def.arity, mode, vol);
        *tests += u->def.arity;
        const bool asked =
            t == query->a && (TRAVERSE(lanes_of)(query, t, slot / t->def.arity) >> (slot % t->def.arity) & 1);
        const uint32_t lanes = asked ? 255u : TRAVERSE(lanes_of)(query, u, node);
        for (uint32_t hit = TRAVERSE(meet_lanes)(u, node, mode, vol) & lanes; hit; hit &= hit - 1) {
            const int32_t child = u->child[node * u->def.arity + __builtin_ctz(hit)];
            out[n++] = leaf_a ? (work){item.a, child} : (work){child, item.b};
        }
    }
    return n;
}

// Expands n items by one level; returns the new number. *inner: were there any but pairs of leaves?
static TRAVERSE_TARGET int32_t TRAVERSE(widen)(const pair_query *query, const work *item, int32_t n, work *out,
                                               int64_t *tests, bool *inner)
{
    int32_t count = 0;
    *inner = false;
    for (int32_t i = 0; i < n; i++) {
        if (item[i].a < 0 && item[i].b < 0) {
            out[count++] = item[i];
            continue;
        }
        if (query->mode == NEAR)
            count += TRAVERSE(expand)(query, item[i], NEAR, out + count, tests);
        else if (query->mode == RELATIVE)
            count += TRAVERSE(expand)(query, item[i], RELATIVE, out + count, tests);
        else
            count += TRAVERSE(expand)(query, item[i], SWEPT, out + count, tests);
        *inner = true;
    }
    return count;
}

TL_INLINE TRAVERSE_TARGET void TRAVERSE(walk)(void *arg, int32_t begin, int32_t end, int mode)
{
    pair_query *query = arg;
    pair_writer w;
    writer_open(&w, &query->pool);
    work stack[STACK_ITEMS];
    for (int32_t i = begin; i < end && !pool_is_full(&query->pool); i++) {
        int32_t n = 1;
        stack[0] = query->item[i];
        while (n > 0) {
            const work item = stack[--n];
            if (item.a < 0 && item.b < 0)
                TRAVERSE(meet_leaves)(query, ~item.a, ~item.b, mode, &w);
            else
                n += TRAVERSE(expand)(query, item, mode, stack + n, &w.volume_tests);
        }
    }
    writer_close(&w);
    query->counts[begin / query->chunk_items][0] = w.volume_tests;
    query->counts[begin / query->chunk_items][1] = w.face_pairs;
}

TRAVERSE_TARGET static void TRAVERSE(swept)(void *arg, int32_t begin, int32_t end)
{
    TRAVERSE(walk)(arg, begin, end, SWEPT);
}
TRAVERSE_TARGET static void TRAVERSE(relative)(void *arg, int32_t begin, int32_t end)
{
    TRAVERSE(walk)(arg, begin, end, RELATIVE);
}
TRAVERSE_TARGET static void TRAVERSE(near)(void *arg, int32_t begin, int32_t end)
{
    TRAVERSE(walk)(arg, begin, end, NEAR);
}
static const tl_range_fn TRAVERSE(chunk)[] = {TRAVERSE(swept), TRAVERSE(relative), TRAVERSE(near)};

#undef TRAVERSE
#undef TRAVERSE_TARGET
#undef TRAVERSE_LARGE
#undef WIDTH
#undef PARTS
#undef FLOATS_AT
#undef INTS_AT
#undef SPLAT
#undef BITS
#undef LEAST
#undef MOST
