// adapt/anisotropic/remesh_impl.h: what the files of the remesher share.
#pragma once
#include "adapt/anisotropic/remesh.h"
#include "math/vec3.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_edit.h"
#include "mesh/mesh_query.h"

/// A growing list of ids.
typedef struct ids {
    int32_t *item, count, cap;
} ids;

static inline double low(double a, double b)
{
    return a < b ? a : b;
}  // one instruction, which fmin is not: nothing here is NaN
static inline double high(double a, double b) { return a > b ? a : b; }

typedef struct box {
    tl_vec3 lo, hi;
} box;
static inline box box_of_both(box a, box b)
{
    return (box){{low(a.lo.x, b.lo.x), low(a.lo.y, b.lo.y), low(a.lo.z, b.lo.z)},
                 {high(a.hi.x, b.hi.x), high(a.hi.y, b.hi.y), high(a.hi.z, b.hi.z)}};
}
static inline box box_of_two(const tl_vec3 *a, const tl_vec3 *b) { return box_of_both((box){*a, *a}, (box){*b, *b}); }
static inline box box_of(const tl_vec3 x[3]) { return box_of_both(box_of_two(&x[0], &x[1]), (box){x[2], x[2]}); }

/// Bounds on the clearance that faces have left (clearance_budget.c).
typedef struct budget {
    box span;        // of the measured faces that it descends from
    double left[2];  // lower bounds by tl_clearance_kind [m]
    bool exact[2], asked[2];
    int32_t face;          // unchanged since it was measured; TL_NONE: this has parents
    int32_t first, count;  // parents: it has the least of their clearances ..
    double moves;          // .. less this [m]
    int32_t depth;         // generations to measured faces
} budget;
typedef struct budgets {
    budget *item;
    int32_t count, cap;
    ids parents;
} budgets;

typedef struct remesher {
    tl_mesh *mesh;
    tl_remesh_attrs attrs;
    const tl_remesh_def *def;
    const tl_remesh_policy *policy;
    int32_t groups;  // words of bits per node
    tl_remesh_report *report;
    double energy_left;  // [J] stretching energy that operations may still add
    bool measured;       // clearance is known
    int32_t renewals;
    int32_t stale_refusals;  // at faces that had changed since clearance was measured: now they might be granted
    ids edges;               // candidates for flips
    ids queue;               // candidates for collapses
    ids changed;             // faces made or changed by the last operations
    ids ring;                // scratch: faces around
    uint8_t *pending;        // per edge slot: lists it is on, and operations known to be ruled out
    int32_t pending_cap;
    uint32_t *stamp;  // per face slot: round of splits of its last change
    int32_t stamp_cap;
    uint32_t now;
    uint32_t *seen;  // per face slot: for lists without repetition
    int32_t seen_cap;
    uint32_t look;
    uint32_t *met;  // per node slot: likewise
    int32_t met_cap;
    uint32_t meeting;
    budgets budgets;
    int32_t *budget;  // per face slot: of `budgets`; TL_NONE: not asked for yet
    int32_t budget_cap;
    uint8_t *modified;  // per face slot: made or changed since clearance was last measured
    int32_t modified_cap;
} remesher;

bool remesh_grow(remesher *r, ids *list);

/// Adds to a list; false without memory.
static inline bool remesh_push(remesher *r, ids *list, int32_t id)
{
    if (list->count >= list->cap && !remesh_grow(r, list)) return false;
    list->item[list->count++] = id;
    return true;
}

static inline tl_sym2 remesh_tensor(const remesher *r, int32_t v)
{
    const double *m = (const double *)r->mesh->slots[TL_VERTS].attrs[r->attrs.size].data + 3 * (size_t)v;
    return (tl_sym2){m[0], m[1], m[2]};
}
static inline int32_t *remesh_flip_count(const remesher *r, int32_t e)
{
    return (int32_t *)r->mesh->slots[TL_EDGES].attrs[r->attrs.turned].data + e;
}
/// Insertions and removals of nodes in one place (hysteresis.c).
typedef struct churn {
    double made, lost;  // insertions here, removals beside it
    tl_vec3 place;      // position of the node then
    tl_sym2 size;       // field at the first pass after the last operation beside it; 0: none since
} churn;
static inline churn *remesh_churn(const remesher *r, int32_t n)
{
    return (churn *)r->mesh->slots[TL_NODES].attrs[r->attrs.churn].data + n;
}
static inline double *remesh_mass(const remesher *r, int32_t n)
{
    return (double *)r->mesh->slots[TL_NODES].attrs[r->attrs.mass].data + n;
}
static inline const int32_t *remesh_bits(const remesher *r, int32_t attr, int32_t n)
{
    return (const int32_t *)r->mesh->slots[TL_NODES].attrs[attr].data + (size_t)n * (size_t)r->groups;
}
static inline bool remesh_any(const remesher *r, int32_t attr, int32_t n)
{
    for (int32_t k = 0; k < r->groups; k++)
        if (remesh_bits(r, attr, n)[k]) return true;
    return false;
}
static inline bool remesh_held(const remesher *r, int32_t n) { return remesh_any(r, r->attrs.held, n); }
static inline bool remesh_listed(const remesher *r, int32_t n) { return remesh_any(r, r->attrs.listed, n); }

// ---- remesh.c: what every operation needs -----------------------------------------------------------------

/// Marks grow with the mesh, and hold `extra` more nodes, edges and faces.
tl_status remesh_grow_marks(remesher *r, int32_t extra, tl_error *err);
/// Clearance is measured on first use: cloth at rest needs none.
tl_status remesh_know_clearance(remesher *r, tl_error *err);
/// Sets the budget of the changed faces.
void remesh_set_budget(remesher *r, int32_t left);
/// Charges an operation's energy.
void remesh_spend(remesher *r, double rise);
tl_vec3 remesh_centre(const tl_mesh *mesh);  ///< mean place of the nodes
void remesh_release(remesher *r);            ///< frees the lists

// ---- energy_guard.c ---------------------------------------------------------------------------------------

/// Sums over faces: area, squared Green strain times area, stretching energy [J] and a bound on its rounding.
typedef struct strain_sum {
    double area, strain2, energy, rounding;
} strain_sum;
/// Adds a face.
void remesh_add_strain(const remesher *r, int32_t label, const tl_vec2 u[3], const tl_vec3 x[3], strain_sum *sum);
/// Does an operation that takes the sums from `before` to `after` strain too much?
bool remesh_strains_too_much(const remesher *r, const strain_sum *before, const strain_sum *after);

// ---- rules.c: which operations the field asks for ---------------------------------------------------------

double remesh_size(const remesher *r, int32_t e);
/// Is the edge Delaunay without any margin? That resets its number of flips.
bool remesh_is_delaunay(const remesher *r, int32_t e);
/// Eq. 3 with a margin; depends only on the two faces beside the edge.
bool remesh_may_flip(const remesher *r, int32_t e);
/// Eq. 3 with a margin, and the result has no edge longer than `longest` and no face too thin.
bool remesh_wants_flip(const remesher *r, int32_t e, double longest, double *rise);
/// The edge to split first: another than this if splitting it would leave faces too thin.
int32_t remesh_split_first(const remesher *r, int32_t e);
/// Quick test that rules out most collapses of the node at this end; depends only on the faces around that node.
bool remesh_rejects_collapse(const remesher *r, int32_t e, int end);
/// All rules for a collapse but clearance. *rise: stretching energy that it adds [J], as for flips.
bool remesh_may_collapse(const remesher *r, int32_t e, int32_t gone, double *rise);

// ---- hysteresis.c: churn ----------------------------------------------------------------------------------

/// At the start of a pass: drops counts whose reason is gone.
void remesh_age_churn(const remesher *r);
/// Largest size of edges that the collapse of this node may make.
double remesh_longest_edge(const remesher *r, int32_t gone);
/// After any operation (the two below included): `faces` have changed.
void remesh_note_change(const remesher *r, const ids *faces);
void remesh_note_split(const remesher *r, int32_t made, const ids *faces);
void remesh_note_collapse(const remesher *r, const churn *gone, const ids *faces);

// ---- new_node.c -------------------------------------------------------------------------------------------

/// Position for the new node of an edge, before the split. *rise: stretching energy that it adds [J].
tl_vec3 remesh_place(const remesher *r, int32_t e, double *rise);

// ---- clearance_budget.c -----------------------------------------------------------------------------------

/// Box of the measured faces that a face descends from: of itself, if it has not changed.
box remesh_span(const remesher *r, int32_t f);
/// The budget of a face; TL_NONE without memory.
int32_t remesh_budget(remesher *r, int32_t f);
/// Clearance left in a budget [m]: exact if below `need`, else a bound of at least `need`.
double remesh_budget_left(remesher *r, int32_t index, tl_clearance_kind what, double need);
/// A new budget: the least of its parents', less `moves`. `bodies` >= 0: the known distance from bodies.
/// TL_NONE without memory.
int32_t remesh_spend_clearance(remesher *r, const int32_t *parents, int32_t count, double moves, double bodies);
/// Fills attrs.clearance.
void remesh_write_clearance(remesher *r);
/// Clearance is about to be measured anew.
void remesh_forget_clearance(remesher *r);

// ---- clearance_guard.c ------------------------------------------------------------------------------------

/// Is there clearance? Then *rest is the budget of all faces that change.
bool remesh_flip_fits(remesher *r, int32_t e, int32_t *rest);
bool remesh_collapse_fits(remesher *r, int32_t e, int32_t gone, int32_t *rest);
/// After a split: moves the new node towards `place` as far as clearance allows.
void remesh_move_node(remesher *r, const tl_split *s, tl_vec3 place);

// ---- rest_shape.c -----------------------------------------------------------------------------------------

/// Rest angles of the edges of the changed faces, after an operation.
void remesh_rest(remesher *r, bool collapsed);

// ---- momentum.c -------------------------------------------------------------------------------------------

/// Momentum and angular momentum about a point of the faces in a list, each face with its own mass.
typedef struct motion {
    tl_vec3 linear, angular, about;
} motion;
/// Before an operation: momentum of the faces to be changed; their mass is taken off the nodes.
motion remesh_take_momentum(const remesher *r, const ids *faces, tl_vec3 about);
/// After it: nodes receive the mass of the new faces, and the momentum that the operation took.
void remesh_give_momentum(remesher *r, const ids *faces, const motion *before);
/// Masses of all nodes, and the momentum of the cloth.
void remesh_measure(const remesher *r, tl_vec3 about, tl_vec3 *momentum, tl_vec3 *spin);
