// respond/pairs/pairs.h: what the steps from the lists of the trees to pairs share, for contact_glance.c,
// contact_lists.c, contact_kept.c and contact_pairs.c alone.
#pragma once
#include "base/ctx.h"
#include "respond/contact_impl.h"

// A chunk is worth some microseconds, else sharing costs more than it gains.
enum { FOUND_PER_CHUNK = 256, NODES_PER_CHUNK = 4096 };

#define DOWN 0.999999f  // more than single precision rounds

/// What the items of a list are: a vertex of the cloth and a face; a vertex of a body and a face of the cloth; two
/// edges. Pairs with a plane have no list, but their place among those that have.
typedef enum list_kind { VF, FV, EE, PLANE } list_kind;

/// One list of the trees, or a part of it.
typedef struct list {
    const tl_pair *items;
    int32_t count, body;  // with which body, or TL_CLOTH
    list_kind how;
    float *far;  // beside the items: contact_far; NULL: nothing is known
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
static inline bool contact_stands_before(const tl_contacts *c, const pair *p, const pair *q)
{
    const int32_t a = list_of(c, p), b = list_of(c, q);
    return a != b ? a < b : comes_before(p->found, q->found);
}

/// What features are. Arrays of what is said of nodes, edges and faces of the cloth have NULL for those of a body.
enum { NODES, EDGES, FACES, OF_BODY, FEATURE_KINDS };

/// What the first features (side 0) of a list are, or the second ones (side 1).
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

/// Nodes that have no room (contact_pinch.c) have no pairs with bodies, however near.
static inline bool is_pinched(const tl_contacts *c, const list *l, const features *f)
{
    if (l->body == TL_CLOTH || c->pinched_count == 0) return false;
    for (int k = 0; k < 4; k++)
        if (f->node[k] < c->node_count && c->pinched[f->node[k]]) return true;
    return false;
}

/// How far the features can move relative to each other: displacements are linear over a feature, so nodes have the
/// largest difference; here with the largest on every axis, so not less.
static inline double motion_of(const features *f, const tl_vec3 *way)
{
    tl_vec3 lo[2], hi[2];
    lo[0] = hi[0] = way[f->node[0]];
    lo[1] = hi[1] = way[f->node[f->first]];
    for (int k = 1; k < 4; k++) {
        const int side = k >= f->first;
        const tl_vec3 u = way[f->node[k]];
        lo[side] = lowest(lo[side], u), hi[side] = highest(hi[side], u);
    }
    const double x = larger(hi[0].x - lo[1].x, hi[1].x - lo[0].x), y = larger(hi[0].y - lo[1].y, hi[1].y - lo[0].y);
    const double z = larger(hi[0].z - lo[1].z, hi[1].z - lo[0].z);
    return sqrt(x * x + y * y + z * z);
}

/// How much further apart than their thickness features may be and still come within it and twice the skin on the way.
static inline double spare_of(const tl_contacts *c, const contact_sight *s, const features *f)
{
    return 2 * c->skin + 2 * s->slack + motion_of(f, s->way);
}

// --- contact_glance.c ---

/// What becomes of an item of a list: no pair; to be measured; a pair of before; in the list without measuring.
enum { OUT, IN, KNOWN, SURE };

/// How near features have to come, the way they can move aside: further apart than `most` is OUT, nearer than `least`
/// is SURE.
typedef struct coarse_reach {
    float most, least;
} coarse_reach;

/// A first look at a list.
typedef struct glance {
    const tl_contacts *c;
    const list *l;
    const contact_sight *sight;
    coarse_reach reach;    // for sight->node
    const uint8_t *place;  // [node_count] all pairs of nodes that are RESTING are known; NULL: none is
    uint8_t *keep;         // [l->count] OUT, IN, KNOWN or SURE
} glance;

/// Room for what becomes of a list; nothing is known.
tl_status contact_start_glance(const tl_contacts *c, const list *l, const contact_sight *s, tl_arena *arena,
                               glance *out, tl_error *err);

/// Looks at those items from `begin` to `end` that are IN: many are OUT, and some SURE. Fills l->far of those, if there
/// is one.
void contact_glance(const glance *g, int32_t begin, int32_t end);

// --- contact_kept.c ---

enum { MEASURED = 1, RESTING = 2 };  // the node is where it was measured; and where pairs are complete, and stays there

/// What is known of pairs of before: the first `count` are measured where their nodes are. New ones are put behind
/// them.
typedef struct kept {
    const uint8_t *place;  // [node_count] 0, MEASURED or MEASURED | RESTING; NULL: nothing is known
    uint8_t *stays;        // [count] is in the lists still, and worth it
    int32_t count;
    const float
        *change[FEATURE_KINDS];  // how much nearer, at most, each of the cloth has brought what was too far apart
} kept;

/// Leaves the pairs whose nodes are where they were measured, and sees what has changed since lists were last filtered.
tl_status contact_keep(tl_contacts *c, const tl_ctx *ctx, kept *out, tl_error *err);

/// New pairs go to their places among those that stay: their order is that of the lists, whatever was known.
tl_status contact_weave(tl_contacts *c, const kept *old, const tl_ctx *ctx, tl_error *err);
