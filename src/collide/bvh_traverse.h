// collide/bvh_traverse.h: the traversal, expanded by bvh_query.c once per instruction set.
//
// Set before including: TRAVERSE(name) gives the names of functions, TRAVERSE_TARGET their attribute, MASK8(m) the bits of
// the lanes of a comparison. All expansions compare the same floats, so they give the same answer.

typedef struct TRAVERSE(prims) {
    const float *row;        // six rows
    int32_t stride, count, first;
} TRAVERSE(prims);

TL_INLINE TRAVERSE_TARGET TRAVERSE(prims) TRAVERSE(prims_of)(const tl_bvh *t, int32_t leaf, int kind)
{
    const float *row = t->prim_box + t->leaf[leaf].box;
    for (int i = 0; i < kind; i++) row += 6 * pad_lanes(leaf_size(t, leaf, i));
    const int32_t n = leaf_size(t, leaf, kind);
    return (TRAVERSE(prims)){row, pad_lanes(n), n, t->leaf[leaf].first[kind]};
}

// Which of the eight boxes at `row` overlap the one whose flipped supports (-s_opp(d)) are q?
TL_INLINE TRAVERSE_TARGET uint32_t TRAVERSE(meet8)(const float *row, int32_t stride, const float *q)
{
    tl_i8 m = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (int d = 0; d < 6; d++) {
        const tl_f8 b = *(const tl_f8 *)(row + (int64_t)d * stride), s = {q[d], q[d], q[d], q[d], q[d], q[d], q[d], q[d]};
        m &= (tl_i8)(b <= s);
    }
    return MASK8(m);
}

TL_INLINE TRAVERSE_TARGET const int32_t *TRAVERSE(nodes_of)(const tl_bvh *t, int kind, int k)
{
    return kind == PRIM_FACE ? t->corner[k] : t->end[k];
}

// Which of eight primitives of `kind` from `first` have the node at position v?
TL_INLINE TRAVERSE_TARGET uint32_t TRAVERSE(have8)(const tl_bvh *t, int kind, int32_t first, int32_t v)
{
    if (kind == PRIM_NODE) return (uint32_t)(v - first) < LANES ? 1u << (v - first) : 0;
    const tl_i8 want = {v, v, v, v, v, v, v, v};
    tl_i8 m = {0};
    for (int k = 0; k < (kind == PRIM_FACE ? 3 : 2); k++) {
        const tl_i8 has = *(const tl_i8 *)(TRAVERSE(nodes_of)(t, kind, k) + first);
        m |= (tl_i8)(has == want);
    }
    return MASK8(m);
}

TL_INLINE TRAVERSE_TARGET void TRAVERSE(flip_prim)(const float *row, int32_t stride, int32_t i, float *q)
{
    for (int d = 0; d < 3; d++) q[d] = -row[(d + 3) * stride + i], q[d + 3] = -row[d * stride + i];
}

// The volume in lane `lane` of a node, flipped: q[d] = -s_opp(d), for the `k` planes in use.
TL_INLINE TRAVERSE_TARGET void TRAVERSE(flip_lane)(const tl_bvh *t, int32_t node, int lane, int k, float *q)
{
    const int32_t arity = t->def.arity, half = t->def.k / 2;
    const float *v = t->volume + (int64_t)node * t->def.k * arity + lane;
    for (int d = 0; d < k / 2; d++) q[d] = -v[(d + half) * arity], q[d + k / 2] = -v[d * arity];
}

// The lanes of a node that overlap the volume flipped in q.
TL_INLINE TRAVERSE_TARGET uint32_t TRAVERSE(meet_lanes)(const tl_bvh *t, int32_t node, int k, const float *q)
{
    const int32_t arity = t->def.arity, half = t->def.k / 2;
    const float *v = t->volume + (int64_t)node * t->def.k * arity;
    if (arity == 8) {
        tl_i8 m = {-1, -1, -1, -1, -1, -1, -1, -1};
        for (int d = 0; d < k; d++) {
            const tl_f8 s = {q[d], q[d], q[d], q[d], q[d], q[d], q[d], q[d]};
            m &= (tl_i8)(*(const tl_f8 *)(v + (d < k / 2 ? d : d - k / 2 + half) * 8) <= s);
        }
        return MASK8(m);
    }
    uint32_t mask = 0;
    for (int c = 0; c < arity; c++) {
        bool meet = true;
        for (int d = 0; d < k; d++) meet &= v[(d < k / 2 ? d : d - k / 2 + half) * arity + c] <= q[d];
        mask |= (uint32_t)meet << c;
    }
    return mask;
}

// Pairs of one kind of primitive of leaf `la` of p with one of leaf `lb` of q, whose flipped box is near_b.
TL_INLINE TRAVERSE_TARGET void TRAVERSE(meet_prims)(const pair_query *query, const tl_bvh *p, int32_t la, int ka, const tl_bvh *q,
                                                    int32_t lb, int kb, const float *near_b, int list, pair_writer *w)
{
    const bool same = p == q, itself = same && la == lb;
    const TRAVERSE(prims) a = TRAVERSE(prims_of)(p, la, ka), b = TRAVERSE(prims_of)(q, lb, kb);
    const int na = ka == PRIM_FACE ? 3 : ka == PRIM_EDGE ? 2 : 1, nb = kb == PRIM_FACE ? 3 : kb == PRIM_EDGE ? 2 : 1;
    const int32_t *id = q->id[kb] + b.first;
    for (int32_t i0 = 0; i0 < a.count; i0 += LANES) {
        const int32_t left = a.count - i0;
        uint32_t near_a = itself ? left < LANES ? (1u << left) - 1 : 255u : TRAVERSE(meet8)(a.row + i0, a.stride, near_b);
        for (; near_a; near_a &= near_a - 1) {
            const int32_t i = i0 + __builtin_ctz(near_a), ia = a.first + i, ida = p->id[ka][ia];
            int32_t va[3] = {ia, ia, ia};
            for (int k = 0; ka != PRIM_NODE && k < na; k++) va[k] = TRAVERSE(nodes_of)(p, ka, k)[ia];
            float box[6], sure[6];
            TRAVERSE(flip_prim)(a.row, a.stride, i, box);
            for (int d = 0; d < 6; d++) sure[d] = box[d] - query->slack;
            for (int32_t j0 = itself && ka == kb ? i0 : 0; j0 < b.count; j0 += LANES) {
                uint32_t hit = TRAVERSE(meet8)(b.row + j0, b.stride, box);
                if (itself && ka == kb && j0 == i0) hit &= ~((2u << (i - i0)) - 1);
                if (!hit) continue;
                for (int k = 0; same && k < na; k++) hit &= ~TRAVERSE(have8)(q, kb, b.first + j0, va[k]);
                const uint32_t certain = hit ? TRAVERSE(meet8)(b.row + j0, b.stride, sure) : 0;
                for (uint32_t check = hit & ~certain; check; check &= check - 1) {
                    const int32_t j = __builtin_ctz(check), ib = b.first + j0 + j;
                    int32_t vb[3] = {ib, ib, ib};
                    for (int k = 0; kb != PRIM_NODE && k < nb; k++) vb[k] = TRAVERSE(nodes_of)(q, kb, k)[ib];
                    if (!boxes_overlap(p, va, na, q, vb, nb)) hit &= ~(1u << j);
                }
                if (!hit || !writer_room(w, list)) continue;
                tl_pair *at = w->at[list];
                for (; hit; hit &= hit - 1) {
                    const int32_t idb = id[j0 + __builtin_ctz(hit)];
                    const bool swap = same && ka == kb && ida > idb;
                    *at++ = (tl_pair){swap ? idb : ida, swap ? ida : idb};
                }
                w->at[list] = at;
            }
        }
    }
}

TRAVERSE_TARGET static void TRAVERSE(meet_leaves)(const pair_query *query, int32_t la, int32_t lb, pair_writer *w)
{
    const tl_bvh *p = query->a, *q = query->b;
    const bool same = p == q, itself = same && la == lb;
    float near_a[6], near_b[6];
    TRAVERSE(flip_lane)(p, p->leaf[la].parent / p->def.arity, p->leaf[la].parent % p->def.arity, 6, near_a);
    TRAVERSE(flip_lane)(q, q->leaf[lb].parent / q->def.arity, q->leaf[lb].parent % q->def.arity, 6, near_b);
    w->face_pairs += (int64_t)leaf_size(p, la, PRIM_FACE) * leaf_size(q, lb, PRIM_FACE);
    if (query->what & TL_PAIR_VF) {
        TRAVERSE(meet_prims)(query, p, la, PRIM_NODE, q, lb, PRIM_FACE, near_b, LIST_VF, w);
        if (!itself) TRAVERSE(meet_prims)(query, q, lb, PRIM_NODE, p, la, PRIM_FACE, near_a, same ? LIST_VF : LIST_FV, w);
    }
    if (query->what & TL_PAIR_EE) TRAVERSE(meet_prims)(query, p, la, PRIM_EDGE, q, lb, PRIM_EDGE, near_b, LIST_EE, w);
    if (query->what & TL_PAIR_EF) {
        TRAVERSE(meet_prims)(query, p, la, PRIM_EDGE, q, lb, PRIM_FACE, near_b, LIST_EF, w);
        if (!itself) TRAVERSE(meet_prims)(query, q, lb, PRIM_EDGE, p, la, PRIM_FACE, near_a, same ? LIST_EF : LIST_FE, w);
    }
}

// The pairs of subtrees below `item` that may meet, at most MAX_ARITY^2; not to be called on two leaves.
TRAVERSE_TARGET static int32_t TRAVERSE(expand)(const pair_query *query, work item, work *out, int64_t *tests)
{
    const tl_bvh *p = query->a, *q = query->b;
    const int32_t arity_a = p->def.arity, arity_b = q->def.arity, k = query->k;
    int32_t n = 0;
    float vol[MAX_K];
    if (p == q && item.a == item.b) {
        if (query->culled && query->culled[item.a]) return 0;
        const int32_t *child = p->child + item.a * arity_a;
        for (int i = 0; i < arity_a && child[i] != NO_CHILD; i++) {
            out[n++] = (work){child[i], child[i]};
            TRAVERSE(flip_lane)(p, item.a, i, k, vol);
            uint32_t hit = TRAVERSE(meet_lanes)(p, item.a, k, vol) & ~((2u << i) - 1);
            *tests += arity_a;
            for (; hit; hit &= hit - 1) out[n++] = (work){child[i], child[__builtin_ctz(hit)]};
        }
    } else if (item.a >= 0 && item.b >= 0) {
        const int32_t *ca = p->child + item.a * arity_a, *cb = q->child + item.b * arity_b;
        for (int i = 0; i < arity_a && ca[i] != NO_CHILD; i++) {
            TRAVERSE(flip_lane)(p, item.a, i, k, vol);
            *tests += arity_b;
            for (uint32_t hit = TRAVERSE(meet_lanes)(q, item.b, k, vol); hit; hit &= hit - 1)
                out[n++] = (work){ca[i], cb[__builtin_ctz(hit)]};
        }
    } else {
        const bool leaf_a = item.a < 0;
        const tl_bvh *t = leaf_a ? p : q, *u = leaf_a ? q : p;
        const int32_t slot = t->leaf[leaf_a ? ~item.a : ~item.b].parent, node = leaf_a ? item.b : item.a;
        TRAVERSE(flip_lane)(t, slot / t->def.arity, slot % t->def.arity, k, vol);
        *tests += u->def.arity;
        for (uint32_t hit = TRAVERSE(meet_lanes)(u, node, k, vol); hit; hit &= hit - 1) {
            const int32_t child = u->child[node * u->def.arity + __builtin_ctz(hit)];
            out[n++] = leaf_a ? (work){item.a, child} : (work){child, item.b};
        }
    }
    return n;
}

TRAVERSE_TARGET static void TRAVERSE(chunk)(void *arg, int32_t begin, int32_t end)
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
            if (item.a < 0 && item.b < 0) TRAVERSE(meet_leaves)(query, ~item.a, ~item.b, &w);
            else n += TRAVERSE(expand)(query, item, stack + n, &w.volume_tests);
        }
    }
    writer_close(&w);
    query->counts[begin / query->chunk_items][0] = w.volume_tests;
    query->counts[begin / query->chunk_items][1] = w.face_pairs;
}

#undef TRAVERSE
#undef TRAVERSE_TARGET
#undef MASK8
