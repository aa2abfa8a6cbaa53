// respond/contact_impl.h: what a tl_contacts holds, for contact*.c alone.
#pragma once
#include "base/ctx.h"
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "respond/contact.h"
#include "respond/zones/zones.h"
#include "math/vec3.h"

typedef enum pair_kind { PAIR_VF, PAIR_EE, PAIR_PLANE } pair_kind;

/// Room for `need` elements; an eighth more than asked for, not twice, as lists of pairs are most of the memory there
/// is.
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

/// A pair that presses, as of the last assembly, or is foreseen to. Its Hessian is weight weight^T times `stiff`. Rows
/// of the matrix look at contacts in no order and want weights to force: those stand side by side.
typedef struct contact {
    pair pair;  ///< a copy: lists change while contacts are in use
    double weight[4];
    double stiff[6];  ///< symmetric 3x3: xx, yy, zz, yz, xz, xy
    tl_vec3 force;    ///< d energy / d (weighted sum of nodes)
    bool hard;        ///< too stiff for single precision (contact_blocks.c)
    bool turning;     ///< would slide back: its friction is bounded by a parabola
    tl_vec3 normal;   ///< from the second feature to the first
    double friction;  ///< coefficient
    double load;      ///< normal force [N]
    tl_vec3 slide;    ///< how far it slid in this step
    double rub;       ///< what the parabola has more in stiffness along the slide [N/m]
    double distance;  ///< [m]
    double scale;     ///< force over that of the law [N]
    double along;     ///< stiffness along the normal [N/m]
    double more;      ///< and what it has more, see contact_foresee.c
} contact;

/// Are places a and b of a pair nodes of one feature? Those are neighbours in the mesh: the matrix has their block.
static inline bool contact_one_feature(const pair *p, int a, int b)
{
    return (a < first_count(p)) == (b < first_count(p));
}

/// How much of `stiff` the diagonal of the matrix gets for place a. The matrix alone has to be a bound from above;
/// where it gets no blocks off the diagonal for a feature, |w_a| sum |w| with sum |w| = 1 is one, and what is too much
/// is taken back beside it.
static inline double contact_diagonal(const contact *ct, int a)
{
    const double w = fabs(ct->weight[a]);
    return ct->hard && w < 1 ? w : w * w;
}

/// Asks for what rows want of a contact that is some places ahead in the lists around nodes: in large scenes it is far
/// away.
enum { CONTACTS_AHEAD = 8 };
#define CONTACT_ASK_FOR(c, around, k, last)                                                                            \
    do {                                                                                                               \
        const contact *ask_ =                                                                                          \
            &(c)->contacts[(around)->item[(k) + CONTACTS_AHEAD < (last) ? (k) + CONTACTS_AHEAD : (k)] / 4];            \
        __builtin_prefetch(ask_), __builtin_prefetch(ask_->weight), __builtin_prefetch(&ask_->stiff[2]),               \
            __builtin_prefetch(&ask_->hard);                                                                           \
    } while (0)

/// Contacts around nodes, in their order: those of node i are item[start[i]] .. item[start[i + 1] - 1], each 4 *
/// contact + place.
typedef struct contact_around {
    int32_t *start, *item, cap;
} contact_around;
enum { PRESSING, FORESEEN, CONTACT_KINDS };

/// Distance, normal and weights of a pair.
typedef struct nearness {
    double distance;
    tl_vec3 normal;
    double weight[4];
} nearness;

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

/// Of all nodes at both ends of their way.
static inline contact_box contact_box_of(const tl_vec3 *from, const tl_vec3 *to, int32_t count)
{
    contact_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < count; i++)
        box.lo = lowest(box.lo, lowest(from[i], to[i])), box.hi = highest(box.hi, highest(from[i], to[i]));
    return box;
}

/// Beside lists of the trees, as of when they were last filtered: by how much, at least, what is no pair was too far
/// apart for one; negative: by how much a pair was near enough; 0: not known [m].
typedef struct contact_far {
    float *vf, *fv, *ee;
    int32_t vf_cap, fv_cap, ee_cap;
} contact_far;

/// All that is known of a body.
typedef struct contact_body {
    tl_surface surface;  ///< as given, like the next three
    double thickness;
    bool plane, moves;
    int32_t start;    ///< its first node among those of all bodies
    tl_bvh *tree;     ///< NULL for planes
    bool own_tree;    ///< else it is the caller's
    bool fitted;      ///< the tree of a body that stands still is fitted once
    bool far;         ///< as of the last search: nothing of it is near any cloth
    contact_box box;  ///< of its way in this step
    double *face_area, *edge_area;
    tl_pairs found;  ///< with the cloth
    contact_far apart;
} contact_body;

struct tl_contacts {
    tl_allocator alloc;
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
    double reach;       ///< largest thickness of all pairs
    double thickest;    ///< of all cloths
    double skin;        ///< nodes may move this far before pairs are looked up anew
    bool handles_wait;  ///< nodes that handles drive stay where they are for the rest of the step
    bool frozen;        ///< normals and weights stay as they are (contact_zones.c)
    // one step
    tl_contact_step step;
    double done;       ///< part of the bodies' way that is behind them
    double allowed;    ///< part of the rest that the last limit allowed
    tl_vec3 *at;       ///< [node_count + body_nodes] nodes of everything, work array
    double placed;     ///< part of the bodies' way at which their nodes are in `at`; negative: not at all
    tl_vec3 *way;      ///< [node_count + body_nodes] displacements of everything, work array
    double aimed[2];   ///< from where to what part of the rest those of bodies go; likewise
    tl_vec3 *settled;  ///< [node_count] where nodes were when pairs were last settled or searched for
    double settled_done;
    bool complete;  ///< there, all pairs within their thickness and twice the skin are in `pairs`, `near` is of
                    ///< `measured`
    tl_vec3 *searched_at, *searched_way;  ///< [node_count + body_nodes] the ways that the lists of the trees are of
    tl_vec3 *searched_end;                ///< [node_count] their ends
    double searched_done;  ///< part of the bodies' way that was behind them; negative: there are no lists
    double searched_part;  ///< part of the rest that they were to go
    bool searched;         ///< in this step
    double slack;          ///< nodes may be this far from those ways and the lists of the trees still serve
    double next_slack;     ///< with which lists of all pairs are made
    double strayed;        ///< how far they were, at most, in this step
    double edge_length;    ///< mean of the cloth
    // nodes that have no room (contact_pinch.c)
    uint8_t *pinched;  ///< [node_count]
    tl_vec3 *goal;     ///< [node_count] where they are drawn to
    int32_t pinched_count;
    bool moving;         ///< some body does, in some step
    int32_t assemblies;  ///< in this step
    bool blocked;        ///< bodies did not get all of their way at once in this step
    int32_t stalled;     ///< iterations in a row in which bodies could hardly go on
    bool pass;           ///< bodies pass: whatever is in their way is pinched
    bool stuck;          ///< .. because of cloth that may not be pinched
    // pairs
    tl_pairs found;       ///< within the cloth
    tl_pairs found_some;  ///< of some nodes, on their way into those lists or one of a body
    contact_far far;
    tl_vec3 *judged_at, *judged_way;  ///< [node_count] for which lists were last filtered
    double judged_done,
        judged_part;  ///< likewise, how far bodies were and were to go; negative: nothing is known of those that move
    bool judged;      ///< false: nothing is known at all
    bool whole;       ///< lists and pairs are as that filter left them
    pair *pairs;
    int32_t pair_count, pair_cap;
    nearness *near;  ///< [pair_cap] of every pair, where nodes were last measured
    int32_t near_pairs_cap;
    tl_vec3 *measured;  ///< [node_count] that place
    double measured_done;
    bool fresh;   ///< measured since the nodes last moved
    float *soft;  ///< [pair_cap] 0..1, less than 1 for edges that are nearly parallel
    int32_t soft_cap;
    contact *contacts;
    int32_t contact_count, contact_cap;
    int32_t pressing;  ///< the first so many contacts press, the others are foreseen ..
    int32_t coming;    ///< .. so many of them because they come near; the rest is friction of contacts that turn
    pair *noted;       ///< pairs that pressed in the solve before or at the start of the step, in the order of pairs
    int32_t noted_count, noted_cap;
    bool noted_at_start;  ///< and nothing has been solved since
    contact_around
        around[CONTACT_KINDS];  ///< those that press and those foreseen: the latter change from solve to solve
    tl_bsr blocks;              ///< what they add off the diagonal and beside the matrix (contact_blocks.c)
    bool blocks_made;           ///< of the contacts there are
    int32_t blocks_cap[4];      ///< of its col, value, lower_row, lower_block
    double thinnest;            ///< smallest thickness of what presses
    tl_bond *bonds;             ///< of impact zones (contact_zones.c)
    int32_t bond_count, bond_cap;
    tl_contact_report report;
};

/// What contact costs, by the model of tl_workers_charge [ns]: distances of a pair, a pair that is searched for, and
/// what a search takes for a node.
#define CONTACT_MEASURE 60.0
#define CONTACT_SEARCH 150.0
#define CONTACT_NODE 300.0

/// Is a node part of no contact, neither one that presses nor one foreseen?
static inline bool contact_none_around(const tl_contacts *c, int32_t node)
{
    const int32_t *a = c->around[PRESSING].start, *b = c->around[FORESEEN].start;
    return a[node] == a[node + 1] && b[node] == b[node + 1];
}

/// Largest thickness of all pairs with a body, or TL_CLOTH.
static inline double contact_reach(const tl_contacts *c, int32_t body)
{
    return body == TL_CLOTH ? c->thickest : 0.5 * c->thickest + c->bodies[body].thickness;
}

/// Bodies run into cloth faster than it gives way, or Newton's method takes long: how hard it will press is then worth
/// a closer look (contact_foresee.c).
enum { CONTACT_MANY_ASSEMBLIES = 8 };
static inline bool contact_is_firm(const tl_contacts *c)
{
    return !c->frozen && (c->blocked || c->step.again || c->assemblies > CONTACT_MANY_ASSEMBLIES);
}

/// Is a node one that is solved for?
static inline bool contact_is_free(const tl_contacts *c, int32_t node)
{
    return node < c->node_count && !c->step.fixed[node];
}

/// What is left of the way of a node that is not solved for: of a body to its end, of one that a handle drives to its
/// target. What rounding leaves of the latter is nothing.
static inline tl_vec3 contact_way_left(const tl_contacts *c, int32_t node)
{
    if (node >= c->node_count) return tl_sub3(c->step.body_end[node - c->node_count], c->at[node]);
    const tl_vec3 none = {0, 0, 0};
    if (!c->step.fixed[node] || c->handles_wait) return none;
    const tl_vec3 left = tl_sub3(c->step.target[node], c->at[node]);
    return tl_norm3(left) > TL_LAG ? left : none;
}

/// Is a node of cloth where it was when pairs were last measured? Has a body gone on since?
static inline bool contact_in_place(const tl_contacts *c, int32_t node)
{
    const tl_vec3 a = c->at[node], b = c->measured[node];
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
static inline bool contact_has_gone(const tl_contacts *c, int32_t body)
{
    return c->bodies[body].moves && c->measured_done != c->done;
}

/// Is all of a pair where it was measured? With planes never: those are always measured anew. `place`: not 0 for nodes
/// that are; NULL: it is looked up.
static inline bool contact_is_measured(const tl_contacts *c, const pair *p, const uint8_t *place)
{
    if (p->kind == PAIR_PLANE || (p->body != TL_CLOTH && contact_has_gone(c, p->body))) return false;
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        if (i < c->node_count && !(place ? place[i] : contact_in_place(c, i))) return false;
    }
    return true;
}

/// Nodes of everything at x, bodies `part` of the rest of their way; into contacts->at.
void contact_place(tl_contacts *c, const tl_vec3 *x, double part);

/// Displacements of the bodies' nodes: this part of the rest of their way. Nodes have been placed with part 0.
void contact_aim_bodies(tl_contacts *c, double part);

/// Plane of a body when `done` of the step's way is behind it.
void contact_plane(const tl_contacts *c, int32_t body, double done, tl_vec3 *point, tl_vec3 *normal);

/// A node at x that goes a part r of u, while the plane goes a part s of the rest of its way, is in front of it while
/// its distance now + r way[0] - s way[1] > 0.
void contact_plane_ways(const tl_contacts *c, int32_t body, tl_vec3 x, tl_vec3 u, double way[2]);

/// Coefficient of friction of a pair.
double contact_friction(const tl_contacts *c, const pair *p);

nearness contact_nearness(const tl_contacts *c, const pair *p, const tl_vec3 *at, double done);

/// Finds and measures the pairs for a way u from x, bodies going this part of the rest of theirs.
tl_status contact_search(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, double body_part, const tl_ctx *ctx,
                         tl_error *err);

/// Measures all pairs at c->at: nearness, and how much edge-edge pairs that are nearly parallel fade.
void contact_measure(tl_contacts *c, tl_workers *workers);
void contact_measure_pair(tl_contacts *c, int32_t index);

/// Room for so many pairs and what is measured of them.
tl_status contact_pair_room(tl_contacts *c, int64_t count, tl_error *err);

/// s += a u u^T, and is a contact of that stiffness too stiff for its blocks to go into a matrix in single precision?
void contact_add_square(double s[6], double a, tl_vec3 u);
bool contact_is_hard(const tl_contacts *c, const pair *p, const double weight[4], const double stiff[6]);

/// Which contacts of a kind a node takes part in.
tl_status contact_list(tl_contacts *c, int kind, tl_error *err);

/// Adds what contacts of a kind have in the gradient and in the matrix (may be NULL), times `sign`.
void contact_gather(const tl_contacts *c, int kind, double sign, tl_bsr *matrix, tl_vec3 *gradient,
                    tl_workers *workers);

/// Contacts of the solve before, which the next one expects (contact_foresee.c).
tl_status contact_note_pressing(tl_contacts *c, tl_error *err);

/// From the lists of the trees to c->pairs, measured: those whose features, going from c->at by c->way, may come within
/// their thickness and twice the skin (contact_pairs.c).
tl_status contact_filter(tl_contacts *c, const tl_ctx *ctx, tl_error *err);

/// Everything at `at`, going by `way`, give or take the slack; `node` and `slop` are for a first look in single
/// precision.
typedef struct contact_sight {
    const tl_vec3 *at, *way;
    const struct coarse *node;
    double slack, slop;
} contact_sight;

/// The sight is valid as long as the arena's scratch and both arrays (contact_glance.c).
tl_status contact_look(const tl_contacts *c, const tl_vec3 *at, const tl_vec3 *way, double slack, const tl_ctx *ctx,
                       contact_sight *out, tl_error *err);

/// Leaves in lists of the trees, with a body or TL_CLOTH, what may come within its thickness and twice the skin as
/// seen. `far`: beside them, or NULL (contact_lists.c).
tl_status contact_thin_out(tl_contacts *c, tl_pairs *lists, contact_far *far, int32_t body, const contact_sight *sight,
                           const tl_ctx *ctx, tl_error *err);

/// Takes pairs out of the lists that have a node with changed[node] != 0, and puts those of c->found_some in.
tl_status contact_exchange(tl_contacts *c, tl_pairs *lists, contact_far *far, int32_t body, const uint8_t *changed,
                           const tl_ctx *ctx, tl_error *err);

/// Lists are new: nothing is known of them.
tl_status contact_forget_far(tl_contacts *c, tl_pairs *lists, contact_far *far, tl_error *err);

/// Where the items of n chunks begin when they stand one after the other; returns how many there are in all.
int32_t contact_add_up(const int32_t *count, int32_t n, int32_t *start);

/// Moves so many pairs with what is measured of them to an earlier place.
void contact_move_pairs(tl_contacts *c, int32_t from, int32_t count, int32_t to);

/// How much slack the searches of a step are made with (contact_search.c).
void contact_choose_slack(tl_contacts *c);

/// Is the cloth of a pair that stops bodies in between surfaces that face each other, or held?
bool contact_has_no_room(const tl_contacts *c, int32_t index);
/// Is it pressed to next to nothing?
bool contact_is_crushed(const tl_contacts *c, int32_t index);

/// The nodes of cloth of a pair that stops bodies have no room.
void contact_pinch(tl_contacts *c, const pair *p);

/// Frees pinched nodes that are clear of all bodies at the start of a step, and sets goals for the others.
tl_status contact_begin_pinched(tl_contacts *c, const tl_vec3 *x, const tl_ctx *ctx, tl_error *err);

double contact_pinched_energy(const tl_contacts *c, const tl_vec3 *x);
void contact_pinched_assemble(const tl_contacts *c, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient);
