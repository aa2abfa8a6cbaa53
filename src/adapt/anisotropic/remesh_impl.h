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

/// What is known of the room that faces have left (budget.c).
typedef struct budget {
    box span;        // around the faces, as they were measured, that it comes of
    double left[2];  // by tl_room_kind: at least
    bool exact[2], asked[2];
    int32_t face;          // one that has not changed since room was measured; TL_NONE: this comes of others
    int32_t first, count;  // its parents: it has the least of what they have ..
    double moves;          // .. less this
    int32_t depth;         // generations back to faces
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
    int32_t groups;  // words of bits per node
    tl_remesh_report *report;
    double spare;   // [J] stretching energy that operations may still add
    bool measured;  // room has been set
    int32_t renewals;
    int32_t
        worn_out;  // refusals, since room was last measured, at faces that had changed since: they might be granted now
    ids edges;     // to be looked at: flips
    ids queue;     // to be looked at: collapses
    ids changed;   // faces made or changed by the last operations
    ids ring;      // scratch: faces around
    uint8_t *waits;  // per edge slot: which lists it is on, and what is known to be of no use
    int32_t waits_cap;
    uint32_t *stamp;  // per face slot: the round of splits in which, or after which, it was last changed
    int32_t stamp_cap;
    uint32_t now;
    uint32_t *seen;  // per face slot: for lists without repetition
    int32_t seen_cap;
    uint32_t look;
    uint32_t *met;  // per node slot: likewise
    int32_t met_cap;
    uint32_t meeting;
    budgets budgets;
    int32_t *budget;  // per face slot: of `budgets`; TL_NONE: nobody has asked yet
    int32_t budget_cap;
    uint8_t *worn;  // per face slot: made or changed since room was last measured
    int32_t worn_cap;
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
static inline int32_t *remesh_turned(const remesher *r, int32_t e)
{
    return (int32_t *)r->mesh->slots[TL_EDGES].attrs[r->attrs.turned].data + e;
}
/// What a node remembers of those that came and went (unrest.c).
typedef struct unrest {
    double made, lost;  // how often a node has come here, how often one beside it has gone
    tl_vec3 place;      // where this one was then
    tl_sym2 size;       // the field here at the first pass after the last operation beside it; 0: not yet
} unrest;
static inline unrest *remesh_unrest(const remesher *r, int32_t n)
{
    return (unrest *)r->mesh->slots[TL_NODES].attrs[r->attrs.unrest].data + n;
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

/// Marks follow the mesh as it grows; with room for `extra` more nodes, edges and faces.
tl_status remesh_keep_up(remesher *r, int32_t extra, tl_error *err);
/// Room is measured when it is first asked for: a cloth at rest needs none.
tl_status remesh_know_room(remesher *r, tl_error *err);
/// The changed faces have this budget.
void remesh_set_room(remesher *r, int32_t left);
/// An operation was done that adds to the stretching energy.
void remesh_spend(remesher *r, double rise);
tl_vec3 remesh_centre(const tl_mesh *mesh);  ///< mean place of the nodes
void remesh_release(remesher *r);            ///< frees the lists

// ---- wind.c: strain ---------------------------------------------------------------------------------------

/// Sums over faces: area, squared Green strain times area, stretching energy [J] and what of it may be rounding.
typedef struct wound {
    double area, strain2, energy, rounding;
} wound;
/// Adds a face.
void remesh_wind(const remesher *r, int32_t label, const tl_vec2 u[3], const tl_vec3 x[3], wound *sum);
/// Is `after` too much for faces that had `before`?
bool remesh_winds(const remesher *r, const wound *before, const wound *after);

// ---- rules.c: which operations the field asks for ---------------------------------------------------------

double remesh_size(const remesher *r, int32_t e);
/// Is the edge Delaunay without any margin? Then it may be flipped as any other the next time.
bool remesh_content(const remesher *r, int32_t e);
/// Eq. 3 with a margin; depends on the two faces beside the edge alone.
bool remesh_leans_to_flip(const remesher *r, int32_t e);
/// Eq. 3 with a margin, and no edge longer than `longest` or face too thin comes of it.
bool remesh_wants_flip(const remesher *r, int32_t e, double longest, double *rise);
/// The edge to be split for this one: another if that would leave faces too thin.
int32_t remesh_split_first(const remesher *r, int32_t e);
/// Is the collapse of the node at this end ruled out at first sight? That depends on the faces around that node alone.
bool remesh_collapse_spoils(const remesher *r, int32_t e, int end);
/// All rules for a collapse but those of room. `rise` as for flips: what the operation adds to the stretching energy.
bool remesh_may_collapse(const remesher *r, int32_t e, int32_t gone, double *rise);

// ---- unrest.c: nodes that come and go ---------------------------------------------------------------------

/// At the start of a pass: nodes forget what is over.
void remesh_recall(const remesher *r);
/// The size that no edge made by a collapse of this node may exceed.
double remesh_longest(const remesher *r, int32_t gone);
/// After any operation, of which the two below are: `faces` are those that it has changed.
void remesh_note_change(const remesher *r, const ids *faces);
void remesh_note_split(const remesher *r, int32_t made, const ids *faces);
void remesh_note_collapse(const remesher *r, const unrest *gone, const ids *faces);

// ---- place.c: where a new node goes -----------------------------------------------------------------------

/// The best place for the new node in the middle of an edge, before the split. `rise`: what it adds to the stretching
/// energy.
tl_vec3 remesh_place(const remesher *r, int32_t e, double *rise);

// ---- budget.c: room that is left --------------------------------------------------------------------------

/// Where the faces were that a face comes of, when room was measured: itself, if nothing has happened to it.
box remesh_span(const remesher *r, int32_t f);
/// The budget of a face; TL_NONE without memory.
int32_t remesh_budget(remesher *r, int32_t f);
/// What a budget has left [m]: exact if it is below `need`, else not less than `need`.
double remesh_left(remesher *r, int32_t index, tl_room_kind what, double need);
/// A new budget: the least of its parents', less `moves`. `bodies` >= 0: the distance from bodies is known to be that.
/// TL_NONE without memory.
int32_t remesh_spend_room(remesher *r, const int32_t *parents, int32_t count, double moves, double bodies);
/// Fills attrs.room.
void remesh_write_room(remesher *r);
/// Room is about to be measured anew.
void remesh_forget_room(remesher *r);

// ---- room.c: what stands in the way -----------------------------------------------------------------------

/// Is there room? If so, *rest is the budget of all faces that change.
bool remesh_flip_fits(remesher *r, int32_t e, int32_t *rest);
bool remesh_collapse_fits(remesher *r, int32_t e, int32_t gone, int32_t *rest);
/// Moves the new node towards `place` as far as there is room, after the split.
void remesh_move_node(remesher *r, const tl_split *s, tl_vec3 place);

// ---- rest.c: the rest shape -------------------------------------------------------------------------------

/// Rest angles of the edges of the changed faces, after an operation.
void remesh_rest(remesher *r, bool collapsed);

// ---- mend.c: momentum -------------------------------------------------------------------------------------

/// Momentum and angular momentum about a point of the faces in a list, each face with its own mass.
typedef struct motion {
    tl_vec3 linear, angular, about;
} motion;
/// Before an operation: what the faces to be changed have, and their mass is off the nodes.
motion remesh_lift(const remesher *r, const ids *faces, tl_vec3 about);
/// After it: the nodes get the mass of the new faces, and back what the operation has taken of their momentum.
void remesh_land(remesher *r, const ids *faces, const motion *before);
/// Masses of all nodes from the faces, and their momentum.
void remesh_measure(const remesher *r, tl_vec3 about, tl_vec3 *momentum, tl_vec3 *spin);
