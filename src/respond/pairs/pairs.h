// respond/pairs/pairs.h: what the files of pairs/ share.
//
// The trees give lists of candidates (pair_search.c), which are pruned and updated (pair_lists.c), filtered coarsely
// (pair_filter.c) and in full (pairs.c), where results of the last filter are reused for nodes that have not moved
// (pair_cache.c).
#pragma once
#include "base/ctx.h"
#include "respond/contact_impl.h"

// A chunk is worth some microseconds, else sharing costs more than it gains.
enum { FOUND_PER_CHUNK = 256, NODES_PER_CHUNK = 4096 };

#define DOWN 0.999999f  // rounds down: by more than the error of single precision

/// What the items of a list are: a vertex of the cloth and a face; a vertex of a body and a face of the cloth; two
/// edges. Pairs with a plane have no list, but their place among those that have.
typedef enum list_kind { VF, FV, EE, PLANE } list_kind;

/// One list of the trees, or a part of it.
typedef struct list {
    const tl_pair *items;
    int32_t count, body;  // with which body, or TL_CLOTH
    list_kind how;
    float *bound;  // beside the items: gap_bounds; NULL: nothing is known
} list;

/// Lists have numbers that rise in the order in which their pairs stand.
static inline int32_t number_of(int32_t body, list_kind how) { return 4 * body + (int32_t)how; }

static inline int32_t list_of(const tl_contacts *c, const pair *p)
{
    const list_kind how = p->kind == PAIR_PLANE        ? PLANE
                          : p->kind == PAIR_EE         ? EE
                          : p->node[0] < c->node_count ? VF
                                                       : FV;
    return number_of(p->body, how);
}

// By a, then by b, in one comparison.
static inline uint64_t key_of(tl_pair p) { return (uint64_t)(uint32_t)p.a << 32 | (uint32_t)p.b; }
static inline bool comes_before(tl_pair p, tl_pair q) { return key_of(p) < key_of(q); }

/// The order of pairs: by list, then as in the list.
static inline bool contact_pair_before(const tl_contacts *c, const pair *p, const pair *q)
{
    const int32_t a = list_of(c, p), b = list_of(c, q);
    return a != b ? a < b : comes_before(p->found, q->found);
}

/// Kinds of features. Arrays of per-feature data of the cloth have NULL in the place of those of a body.
enum { NODES, EDGES, FACES, OF_BODY, FEATURE_KINDS };

/// Kind of the first features of a list (side 0), or of the second ones (side 1).
static inline int side_of(int32_t body, list_kind how, int side)
{
    if (side != (how == FV) && body != TL_CLOTH) return OF_BODY;
    return how == EE ? EDGES : side == 0 ? NODES : FACES;
}

/// The two features of a pair: nodes of everything, those of the first before those of the second.
typedef struct features {
    int32_t node[4];
    int first;
} features;

static inline features features_of(const tl_contacts *c, const list *l, int32_t i)
{
    const tl_pair found = l->items[i];
    const int32_t off = l->body == TL_CLOTH ? 0 : c->node_count + c->bodies[l->body].start;
    const tl_surface *other = l->body == TL_CLOTH ? &c->cloth : &c->bodies[l->body].surface;
    if (l->how == VF) {
        const int32_t *f = other->face[found.b];
        return (features){{found.a, f[0] + off, f[1] + off, f[2] + off}, 1};
    }
    if (l->how == FV) {
        const int32_t *f = c->cloth.face[found.b];
        return (features){{found.a + off, f[0], f[1], f[2]}, 1};
    }
    const int32_t *e = c->cloth.edge[found.a], *g = other->edge[found.b];
    return (features){{e[0], e[1], g[0] + off, g[1] + off}, 2};
}

static inline double thickness_of(const tl_contacts *c, const list *l, const features *f)
{
    const double own = c->thickness[c->node_cloth[f->node[l->how == FV ? 1 : 0]]];
    if (l->body != TL_CLOTH) return 0.5 * own + c->bodies[l->body].thickness;
    return 0.5 * (own + c->thickness[c->node_cloth[f->node[f->first]]]);
}

/// Pinched nodes have no pairs with bodies, however near.
static inline bool is_pinched(const tl_contacts *c, const list *l, const features *f)
{
    if (l->body == TL_CLOTH || c->pinch.count == 0) return false;
    for (int k = 0; k < 4; k++)
        if (f->node[k] < c->node_count && c->pinch.is_pinched[f->node[k]]) return true;
    return false;
}

/// The motion that pairs are filtered for: positions and displacements of everything, give or take the slack.
typedef struct filter_motion {
    const tl_vec3 *pos, *disp;
    const struct coarse *node;  ///< the same in single precision (pair_filter.c)
    double slack;               ///< [m]
    double rounding;            ///< of distances in single precision [m]
} filter_motion;

/// Bound on the relative displacement of two features: displacements are linear over a feature, so the largest
/// difference is one of nodes; taken on every axis by itself, so not less.
static inline double relative_motion(const features *f, const tl_vec3 *disp)
{
    tl_vec3 lo[2], hi[2];
    lo[0] = hi[0] = disp[f->node[0]];
    lo[1] = hi[1] = disp[f->node[f->first]];
    for (int k = 1; k < 4; k++) {
        const int side = k >= f->first;
        const tl_vec3 u = disp[f->node[k]];
        lo[side] = lowest(lo[side], u), hi[side] = highest(hi[side], u);
    }
    const double x = larger(hi[0].x - lo[1].x, hi[1].x - lo[0].x), y = larger(hi[0].y - lo[1].y, hi[1].y - lo[0].y);
    const double z = larger(hi[0].z - lo[1].z, hi[1].z - lo[0].z);
    return sqrt(x * x + y * y + z * z);
}

/// Features that come within their thickness and two skins on the way are now within their thickness and this [m].
static inline double search_margin(const tl_contacts *c, const filter_motion *s, const features *f)
{
    return 2 * c->skin + 2 * s->slack + relative_motion(f, s->disp);
}

// --- pair_filter.c: the coarse filter, in single precision ---

/// `out` is valid as long as the arena's scratch and both arrays.
tl_status contact_prepare_filter(const tl_contacts *c, const tl_vec3 *pos, const tl_vec3 *disp, double slack,
                                 const tl_ctx *ctx, filter_motion *out, tl_error *err);

/// State of an item of a list: no pair; to be measured; one of the pairs of before; a candidate without measuring.
enum { REJECTED, UNDECIDED, CACHED, ACCEPTED };

/// Features farther apart than `most` and their relative motion are rejected, those nearer than `least` and it are
/// accepted.
typedef struct coarse_limits {
    float most, least;
} coarse_limits;

typedef struct coarse_filter {
    const tl_contacts *c;
    const list *l;
    const filter_motion *motion;
    coarse_limits limits;  // for motion->node
    const uint8_t *place;  // [node_count] all pairs of RESTING nodes are known; NULL: none is
    uint8_t *state;        // [l->count] REJECTED, UNDECIDED, CACHED or ACCEPTED
} coarse_filter;

/// Reserves `state`, which is not filled.
tl_status contact_start_coarse(const tl_contacts *c, const list *l, const filter_motion *s, tl_arena *arena,
                               coarse_filter *out, tl_error *err);

/// Decides on UNDECIDED items from `begin` to `end` where it can, and sets l->bound of these, if there is one.
void contact_filter_coarse(const coarse_filter *g, int32_t begin, int32_t end);

// --- pairs.c ---

/// From the candidate lists to c->cache.pair, measured: the pairs whose features may come within their thickness and
/// two skins along the present c->motion.
tl_status contact_filter(tl_contacts *c, const tl_ctx *ctx, tl_error *err);

// --- pair_lists.c: lists with a body, or TL_CLOTH, and the bounds beside them (may be NULL) ---

/// Keeps the items that may come within their thickness and two skins.
tl_status contact_prune_lists(tl_contacts *c, tl_pairs *lists, gap_bounds *bounds, int32_t body,
                              const filter_motion *motion, const tl_ctx *ctx, tl_error *err);

/// Replaces the items that have a node with changed[node] != 0 by those of c->cache.update.
tl_status contact_replace_items(tl_contacts *c, tl_pairs *lists, gap_bounds *bounds, int32_t body,
                                const uint8_t *changed, const tl_ctx *ctx, tl_error *err);

/// Lists are new: nothing is known of their items.
tl_status contact_reset_bounds(tl_contacts *c, tl_pairs *lists, gap_bounds *bounds, tl_error *err);

// --- pair_search.c ---

void contact_update_slack(tl_contacts *c);  ///< for the searches of a step

// --- pair_cache.c: reuse of the pairs of the last filter ---

enum { MEASURED = 1, RESTING = 2 };  // the node is where it was measured; and where pairs are complete, and stays there

/// Pairs of the last filter that are still measured where their nodes are: the first `count`. New ones follow them.
typedef struct pair_reuse {
    const uint8_t *place;  // [node_count] 0, MEASURED or MEASURED | RESTING; NULL: nothing is known
    uint8_t *stays;        // [count] it is still in the lists and near enough
    int32_t count;
    const float *change[FEATURE_KINDS];  // bound on how much nearer each feature of the cloth may have come
} pair_reuse;

/// Keeps the pairs whose nodes are where they were measured, and bounds how far things have moved since the last
/// filter.
tl_status contact_reuse_pairs(tl_contacts *c, const tl_ctx *ctx, pair_reuse *out, tl_error *err);

/// Merges new pairs with those that stay, in the order of the lists.
tl_status contact_merge_pairs(tl_contacts *c, const pair_reuse *old, const tl_ctx *ctx, tl_error *err);
