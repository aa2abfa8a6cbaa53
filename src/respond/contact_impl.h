// respond/contact_impl.h: what a tl_contacts holds. For the units of the contact stage alone: pairs/, barrier/, clip/,
// pinch/, zones/ and contact.c.
//
// Every unit owns one member of tl_contacts and is the only one that writes to it (tools/struct_owners.sh checks that);
// the others read it, or call its functions.
#pragma once
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ctx.h"
#include "math/vec3.h"
#include "respond/contact.h"
#include "respond/contact_policy.h"
#include "respond/zones/zones.h"

typedef enum pair_kind { PAIR_VF, PAIR_EE, PAIR_PLANE } pair_kind;

/// Reserves `need` elements; grows by an eighth, not to the double: lists of pairs are most of the memory there is.
#define CONTACT_GROW(c, ptr, cap, need)                                                                                \
    contact_grow(&(c)->alloc, (void **)&(ptr), &(cap), (int64_t)(need), sizeof *(ptr))
bool contact_grow(const tl_allocator *alloc, void **ptr, int32_t *cap, int64_t need, size_t size);

/// Two features that may touch. Nodes below node_count are of cloth, the others of bodies.
typedef struct pair {
    int32_t node[4];  ///< vertex, face corners; or ends of edge one, ends of edge two; or vertex, plane body
    tl_pair found;    ///< as in the lists of the trees, by which pairs of one kind and body are sorted
    pair_kind kind;
    int32_t body;      ///< TL_CLOTH, or which body
    double thickness;  ///< [m]
    double area;       ///< over which the pressure acts [m^2]
} pair;
enum { TL_CLOTH = -1 };

/// How many nodes the first feature has.
static inline int first_count(const pair *p) { return p->kind == PAIR_EE ? 2 : 1; }
static inline int pair_nodes(const pair *p) { return p->kind == PAIR_PLANE ? 1 : 4; }

/// A contact of the last assembly, active or predicted. Its Hessian is weight weight^T times `stiff`. Rows of the
/// matrix visit contacts in no order and read weights to force: those stand side by side.
typedef struct contact {
    pair pair;  ///< a copy: lists change while contacts are in use
    double weight[4];
    double stiff[6];          ///< symmetric 3x3: xx, yy, zz, yz, xz, xy
    tl_vec3 force;            ///< d energy / d (weighted sum of nodes)
    bool needs_double;        ///< too stiff for single precision (barrier_blocks.c)
    bool reverses;            ///< the update would let it slide back: its friction is bounded by a parabola
    tl_vec3 normal;           ///< from the second feature to the first
    double friction;          ///< coefficient
    double load;              ///< normal force [N]
    tl_vec3 sliding;          ///< displacement along the surface in this step
    double friction_excess;   ///< stiffness that the parabola adds along the sliding direction [N/m]
    double distance;          ///< [m]
    double scale;             ///< force over that of the law [N]
    double normal_stiffness;  ///< [N/m]
    double extra_stiffness;   ///< secant less tangent stiffness, see barrier_predict.c
} contact;

/// Are places a and b of a pair nodes of one feature? Those are neighbours in the mesh: the matrix has their block.
static inline bool contact_one_feature(const pair *p, int a, int b)
{
    return (a < first_count(p)) == (b < first_count(p));
}

/// Part of `stiff` that the diagonal of the matrix gets for place a. The matrix alone has to bound the Hessian from
/// above; where it gets no blocks off the diagonal for a feature, |w_a| sum |w| with sum |w| = 1 does, and the excess
/// is subtracted beside it.
static inline double contact_diagonal(const contact *ct, int a)
{
    const double w = fabs(ct->weight[a]);
    return ct->needs_double && w < 1 ? w : w * w;
}

/// Prefetches what rows read of a contact some places ahead in the lists of contacts by node.
enum { CONTACTS_AHEAD = 8 };
#define CONTACT_PREFETCH(c, by_node, k, last)                                                                          \
    do {                                                                                                               \
        const contact *ahead_ =                                                                                        \
            &(c)->set.contact[(by_node)->item[(k) + CONTACTS_AHEAD < (last) ? (k) + CONTACTS_AHEAD : (k)] / 4];        \
        __builtin_prefetch(ahead_), __builtin_prefetch(ahead_->weight), __builtin_prefetch(&ahead_->stiff[2]),         \
            __builtin_prefetch(&ahead_->needs_double);                                                                 \
    } while (0)

/// Contacts by node: those of node i are item[start[i]] .. item[start[i + 1] - 1], each 4 * contact + place.
typedef struct node_contacts {
    int32_t *start, *item, cap;
} node_contacts;
enum { ACTIVE, PREDICTED, CONTACT_KINDS };

/// Distance, normal and weights of a pair.
typedef struct proximity {
    double distance;
    tl_vec3 normal;
    double weight[4];
} proximity;

typedef struct contact_box {
    tl_vec3 lo, hi;
} contact_box;

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline tl_vec3 lowest(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){smaller(a.x, b.x), smaller(a.y, b.y), smaller(a.z, b.z)};
}
static inline tl_vec3 highest(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){larger(a.x, b.x), larger(a.y, b.y), larger(a.z, b.z)};
}

/// Bounding box of all nodes at both ends of their paths.
static inline contact_box contact_box_of(const tl_vec3 *from, const tl_vec3 *to, int32_t count)
{
    contact_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < count; i++)
        box.lo = lowest(box.lo, lowest(from[i], to[i])), box.hi = highest(box.hi, highest(from[i], to[i]));
    return box;
}

/// Beside each item of the candidate lists: lower bound on how much farther apart the features are than a pair may be,
/// as of the last filter; negative: upper bound on how much nearer; 0: unknown [m].
typedef struct gap_bounds {
    float *vf, *fv, *ee;
    int32_t vf_cap, fv_cap, ee_cap;
} gap_bounds;

/// One body: its geometry, and its pairs with the cloth (owned by pairs/).
typedef struct contact_body {
    tl_surface surface;  ///< as given, like the next three
    double thickness;
    bool plane, moves;
    int32_t start;    ///< its first node among those of all bodies
    tl_bvh *tree;     ///< NULL for planes
    bool own_tree;    ///< else it is the caller's
    bool fitted;      ///< the tree of a body that stands still is fitted once
    bool far;         ///< no part of it is near any cloth, as of the last search
    contact_box box;  ///< of its path in this step
    double *face_area, *edge_area;
    tl_pairs found;     ///< candidates with the cloth
    gap_bounds bounds;  ///< beside them
} contact_body;

/// Where everything is and moves to (contact.c). Progress and parts are those of the bodies' paths in this step.
typedef struct contact_motion {
    double progress;      ///< part of the paths that is behind the bodies
    double allowed;       ///< part of the rest that the last clip allowed
    tl_vec3 *pos;         ///< [node_count + body_nodes] work array
    double pos_progress;  ///< at which bodies are in `pos`; negative: they are not
    tl_vec3 *disp;        ///< [node_count + body_nodes] displacements, work array
    double disp_of[2];    ///< progress and part of the rest that bodies have in `disp`; likewise
} contact_motion;

/// Candidate lists from the trees, the pairs filtered from them, and what both are valid for (pairs/).
typedef struct pair_cache {
    // candidates: all pairs that come near along `list_pos` + t `list_disp`, give or take the slack
    tl_pairs lists;                 ///< within the cloth; those with bodies are in contact_body.found
    tl_pairs update;                ///< pairs of some nodes, on their way into the lists
    gap_bounds bound;               ///< beside `lists`
    tl_vec3 *list_pos, *list_disp;  ///< [node_count + body_nodes]
    tl_vec3 *list_end;              ///< [node_count] list_pos + list_disp
    double list_progress;           ///< of the bodies; negative: there are no lists
    double list_body_part;          ///< part of the rest that bodies were to go
    bool searched;                  ///< in this step
    double slack, next_slack;       ///< [m] of the present lists, and of the next ones
    double max_stray;               ///< largest distance from those paths in this step [m]
    // the last filter of the lists
    tl_vec3 *filter_pos, *filter_disp;         ///< [node_count]
    double filter_progress, filter_body_part;  ///< negative: nothing is known of bodies that move
    bool filter_valid;                         ///< false: nothing is known at all
    bool unchanged;                            ///< lists and pairs are as the last filter left them
    // pairs
    pair *pair;
    int32_t count, pair_cap;
    proximity *near;  ///< [count] of every pair, at `measured`
    int32_t near_cap;
    float *fade;  ///< [count] 0..1, less than 1 for edges that are nearly parallel
    int32_t fade_cap;
    tl_vec3 *measured;  ///< [node_count]
    double measured_progress;
    bool measured_now;  ///< nothing has moved since
    tl_vec3 *settled;   ///< [node_count] positions around which pairs are complete: see `complete`
    double settled_progress;
    bool complete;  ///< all pairs within their thickness and two skins of `settled` are in `pair`
} pair_cache;

/// Active and predicted contacts, and what they add to the matrix (barrier/).
typedef struct contact_set {
    contact *contact;
    int32_t count, cap;
    int32_t active_count;       ///< the first so many press, the others are predicted ..
    int32_t approaching_count;  ///< .. so many of these because they come near; the rest is friction that reverses
    pair *expected;             ///< pairs active in the last solve or at the start of the step, in the order of pairs
    int32_t expected_count, expected_cap;
    bool expected_at_start;                ///< and nothing has been solved since
    node_contacts by_node[CONTACT_KINDS];  ///< active and predicted: the latter change from solve to solve
    tl_bsr blocks;                         ///< what has no place in the cloth's matrix (barrier_blocks.c)
    bool blocks_valid;                     ///< for the contacts there are
    int32_t blocks_cap[4];                 ///< of its col, value, lower_row, lower_block
    double thinnest;                       ///< least thickness of what presses [m]
    int32_t assemblies;                    ///< in this step
} contact_set;

/// How bodies and handles get on against the cloth in this step (clip/).
typedef struct clip_state {
    bool blocked;       ///< bodies did not get all of their path at once
    int32_t stalled;    ///< iterations in a row in which bodies could hardly move
    bool force_bodies;  ///< bodies go through: whatever is in their way is pinched
    bool stuck;         ///< bodies are stopped by cloth that may not be pinched
    bool handles_wait;  ///< nodes that handles drive stay where they are for the rest of the step
} clip_state;

/// Pinched nodes (pinch/).
typedef struct pinch_state {
    uint8_t *is_pinched;  ///< [node_count]
    tl_vec3 *goal;        ///< [node_count] where they are drawn to
    int32_t count;
} pinch_state;

/// Impact zones (zones/).
typedef struct zones_state {
    tl_bond *bond;
    int32_t count, cap;
    bool frozen;  ///< pairs keep normals and weights, and act as springs (tl_contacts_freeze)
} zones_state;

struct tl_contacts {
    // fixed from creation on
    tl_allocator alloc;
    tl_contact_policy policy;
    tl_surface cloth;
    bool self;
    int32_t node_count, body_nodes;  ///< nodes of cloth; of all bodies
    int32_t cloth_count, body_count;
    contact_body *bodies;
    tl_bvh *tree;                   ///< of the cloth
    double *node_area;              ///< [node_count + body_nodes]
    double *face_area, *edge_area;  ///< of the cloth
    int32_t *node_cloth;
    tl_vec2 *node_uv;
    int32_t *node_panel;
    double *thickness, *friction_self, *friction_body;
    double pressure, slip_speed;
    double reach;        ///< largest thickness of all pairs [m]
    double thickest;     ///< of all cloths [m]
    double skin;         ///< nodes may move this far before pairs are measured anew [m]
    double edge_length;  ///< mean of the cloth [m]
    bool bodies_move;    ///< some body does, in some step
    // one step
    tl_contact_step step;
    contact_motion motion;
    pair_cache cache;
    contact_set set;
    clip_state clip;
    pinch_state pinch;
    zones_state zones;
    tl_contact_report report;
};

/// Costs in the model of tl_workers_charge [ns]: measuring a pair, a pair found by a search, a node of a search.
#define CONTACT_COST_PAIR 60.0
#define CONTACT_COST_FOUND 150.0
#define CONTACT_COST_NODE 300.0

/// Is a node part of no contact, active or predicted?
static inline bool contact_none_around(const tl_contacts *c, int32_t node)
{
    const int32_t *a = c->set.by_node[ACTIVE].start, *b = c->set.by_node[PREDICTED].start;
    return a[node] == a[node + 1] && b[node] == b[node + 1];
}

/// Largest thickness of all pairs with a body, or TL_CLOTH.
static inline double contact_reach(const tl_contacts *c, int32_t body)
{
    return body == TL_CLOTH ? c->thickest : 0.5 * c->thickest + c->bodies[body].thickness;
}

/// Are contacts solved with secant stiffness (barrier_predict.c)? Bodies run into cloth faster than it gives way, or
/// Newton's method takes many iterations.
static inline bool contact_uses_secant(const tl_contacts *c)
{
    return !c->zones.frozen && (c->clip.blocked || c->step.again || c->set.assemblies > c->policy.barrier.secant_after);
}

/// Is a node one that is solved for?
static inline bool contact_is_free(const tl_contacts *c, int32_t node)
{
    return node < c->node_count && !c->step.fixed[node];
}

/// Displacement left for a node that is not solved for: of a body to its end, of one that a handle drives to its
/// target. Below TL_LAG the latter is rounding, hence zero.
static inline tl_vec3 contact_disp_left(const tl_contacts *c, int32_t node)
{
    if (node >= c->node_count) return tl_sub3(c->step.body_end[node - c->node_count], c->motion.pos[node]);
    const tl_vec3 none = {0, 0, 0};
    if (!c->step.fixed[node] || c->clip.handles_wait) return none;
    const tl_vec3 left = tl_sub3(c->step.target[node], c->motion.pos[node]);
    return tl_norm3(left) > TL_LAG ? left : none;
}

/// Is a node of cloth where it was when pairs were last measured? Has a body moved since?
static inline bool contact_in_place(const tl_contacts *c, int32_t node)
{
    const tl_vec3 a = c->motion.pos[node], b = c->cache.measured[node];
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
static inline bool contact_has_moved(const tl_contacts *c, int32_t body)
{
    return c->bodies[body].moves && c->cache.measured_progress != c->motion.progress;
}

/// Are all nodes of a pair where they were measured? Planes are always measured anew. `in_place`: [node_count] nonzero
/// for nodes that are; NULL: it is looked up.
static inline bool contact_is_measured(const tl_contacts *c, const pair *p, const uint8_t *in_place)
{
    if (p->kind == PAIR_PLANE || (p->body != TL_CLOTH && contact_has_moved(c, p->body))) return false;
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        if (i < c->node_count && !(in_place ? in_place[i] : contact_in_place(c, i))) return false;
    }
    return true;
}

// --- contact.c ---

/// Positions: cloth at x, bodies where they are; the clip of before no longer counts.
void contact_start_at(tl_contacts *c, const tl_vec3 *x);

/// Displacements of the cloth.
void contact_set_disp(tl_contacts *c, const tl_vec3 *u);

/// Bodies may go this part of the rest of their paths (tl_contacts_move_bodies).
void contact_allow(tl_contacts *c, double part);

/// This part of the bodies' paths is behind them; nothing is allowed beyond.
void contact_set_progress(tl_contacts *c, double progress);

/// c->motion.pos: cloth at x, bodies after `part` of what the last clip allowed.
void contact_set_positions(tl_contacts *c, const tl_vec3 *x, double part);

/// c->motion.disp of the bodies: this part of the rest of their paths. Positions are those of part 0.
void contact_set_body_disp(tl_contacts *c, double part);

/// Plane of a body when this part of its path in the step is behind it.
void contact_plane(const tl_contacts *c, int32_t body, double progress, tl_vec3 *point, tl_vec3 *normal);

/// While a node at x moves by r u and the plane by a part s of the rest of its path (r, s in [0, 1]), the node stays in
/// front of it if  its distance now + r approach[0] - s approach[1] > 0.
void contact_plane_approach(const tl_contacts *c, int32_t body, tl_vec3 x, tl_vec3 u, double approach[2]);

double contact_friction(const tl_contacts *c, const pair *p);  ///< coefficient

proximity contact_proximity(const tl_contacts *c, const pair *p, const tl_vec3 *pos, double progress);

/// Start of each of n consecutive runs of these lengths; returns the sum.
int32_t contact_prefix_sum(const int32_t *count, int32_t n, int32_t *start);

// --- pairs/: candidates and pairs ---

tl_status contact_cache_create(tl_contacts *c, tl_error *err);
void contact_cache_free(tl_contacts *c);
void contact_cache_begin(tl_contacts *c);  ///< of a step

/// Finds and measures the pairs for displacements u from x, bodies going this part of the rest of theirs.
tl_status contact_search(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, double body_part, const tl_ctx *ctx,
                         tl_error *err);

/// Measures all pairs at c->motion.pos: proximity, and how far edge-edge pairs that are nearly parallel fade out.
void contact_measure(tl_contacts *c, tl_workers *workers);
void contact_measure_once(tl_contacts *c, tl_workers *workers);  ///< unless the last search or settling just did
void contact_measure_pair(tl_contacts *c, int32_t index);

/// Distance of a pair at c->motion.pos; of frozen pairs the gap along the normal they had.
double contact_distance(const tl_contacts *c, int32_t index, double progress);

tl_status contact_reserve_pairs(tl_contacts *c, int64_t count, tl_error *err);

/// Moves pairs with their measurements to an earlier place.
void contact_move_pairs(tl_contacts *c, int32_t from, int32_t count, int32_t to);

/// Keeps the pairs for which `wanted` is true; they are not complete any more.
void contact_select_pairs(tl_contacts *c, bool (*wanted)(const tl_contacts *c, int32_t index));

/// The next search makes all lists anew: pinched nodes, and with them the pairs that lists hold, have changed.
void contact_invalidate_lists(tl_contacts *c);

// --- barrier/: active and predicted contacts ---

tl_status contact_set_create(tl_contacts *c, tl_error *err);
void contact_set_free(tl_contacts *c);
void contact_set_begin(tl_contacts *c);  ///< of a step: no contacts

/// s += a u u^T
void contact_add_square(double s[6], double a, tl_vec3 u);

/// Is a contact of this stiffness too stiff for blocks in single precision?
bool contact_needs_double(const tl_contacts *c, const pair *p, const double weight[4], const double stiff[6]);

/// Makes the list of contacts of a kind (ACTIVE, PREDICTED) by node.
tl_status contact_index_by_node(tl_contacts *c, int kind, tl_error *err);

/// Adds contacts of a kind to the gradient and the matrix (may be NULL), times `sign`.
void contact_gather(const tl_contacts *c, int kind, double sign, tl_bsr *matrix, tl_vec3 *gradient,
                    tl_workers *workers);

/// The active contacts are those that the next solve expects (barrier_predict.c).
tl_status contact_note_active(tl_contacts *c, tl_error *err);

// --- clip/ ---

void contact_clip_begin(tl_contacts *c);  ///< of a step

// --- pinch/ ---

tl_status contact_pinch_create(tl_contacts *c, tl_error *err);
void contact_pinch_free(tl_contacts *c);

/// Is the cloth of a pair that stops bodies enclosed by surfaces that face each other, or held by handles?
bool contact_is_enclosed(const tl_contacts *c, int32_t index);
/// Is it pressed to a small part of its thickness?
bool contact_is_crushed(const tl_contacts *c, int32_t index);

/// The cloth nodes of a pair are pinched from now on.
void contact_pinch(tl_contacts *c, const pair *p);

/// At the start of a step: releases pinched nodes that are clear of all bodies, sets goals for the others.
tl_status contact_begin_pinched(tl_contacts *c, const tl_vec3 *x, const tl_ctx *ctx, tl_error *err);

void contact_zones_begin(tl_contacts *c);  ///< of a step (zones/)
void contact_zones_free(tl_contacts *c);

double contact_pinched_energy(const tl_contacts *c, const tl_vec3 *x);
void contact_pinched_assemble(const tl_contacts *c, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient);
