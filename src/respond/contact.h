// respond/contact.h: contact of all cloths with bodies and with themselves over one time step.
//
// The promise: positions that are free of intersections stay so. Every change of positions is a straight path
// x -> x + u of all nodes at once, and tl_contacts_limit cuts paths short, node by node, until no pair of features can
// meet along them (contact_limit.c). Between such moves the nodes press on each other by a potential that grows without
// bound as the distance goes to zero, with friction (contact_forces.c). Order of calls in a step:
//
//     begin (bodies, friction)  search (x, u)  limit (x, u)  [move]  settle (x)
//     Newton: assemble (x) .. solve .. reaches? else search  limit  line search with energy  [move]  settle
//
// Pairs found by a search are all that can come within their thickness on the way; settle keeps those that can do so
// while no node moves by more than the skin.
#pragma once
#include "base/ctx.h"
#include "detect/detect.h"
#include "math/solver.h"
#include "toile/sim.h"

/// A body, or (plane) everything behind a plane. Bodies are surfaces of their own; their nodes follow those of the
/// cloth.
typedef struct tl_contact_body {
    tl_surface surface;  ///< arrays borrowed
    const tl_vec3 *pos;  ///< at the start, to build the tree
    tl_bvh *tree;        ///< of `surface`, made with relative = 1, used as long as the contacts live; fitted to where
                         ///< the body is, if that does not move, at all times when they are asked. NULL: they make
                         ///< their own.
    double thickness;    ///< extra distance [m]
    bool plane, moves;
} tl_contact_body;

/// Pieces of one panel keep no more than this part of their distance in the material, else cloth that is meshed finer
/// than it is thick could not lie flat.
#define TL_FLAT_PART 0.8

typedef struct tl_contacts_def {
    tl_surface cloth;  ///< arrays borrowed as long as the contacts live
    const tl_vec3 *x;
    const double *face_area;    ///< material area [m^2], borrowed for the call like what follows
    const int32_t *node_cloth;  ///< which cloth a node belongs to
    const tl_vec2 *node_uv;     ///< material place of a node
    const int32_t *node_panel;  ///< its chart; -1: on several (seam)
    int32_t cloth_count, body_count;
    const double *thickness;      ///< [cloth_count]
    const double *friction_self;  ///< [cloth_count * cloth_count]
    const double *friction_body;  ///< [cloth_count * body_count]
    const tl_contact_body *bodies;
    double pressure;                ///< contact_law.h [Pa]
    double slip_speed;              ///< [m/s]
    bool self;                      ///< look for contacts of cloth with cloth
    const tl_detector *detector;    ///< for responders that ask one (tl_responder.detects)
    const tl_collide_def *collide;  ///< .. and how
    uint64_t seed;
} tl_contacts_def;

typedef struct tl_contacts tl_contacts;

tl_status tl_contacts_create(const tl_allocator *alloc, const tl_contacts_def *def, tl_contacts **out, tl_error *err);
void tl_contacts_destroy(tl_contacts *contacts);  ///< NULL is fine
void tl_contacts_forget(tl_contacts *contacts);   ///< what earlier steps taught about how much to look for: for runs
                                                  ///< that go on from a saved state

/// Which cloth may be pinched that does not let bodies pass. As long as the caller can take smaller steps it would
/// rather do that, see tl_contacts_stuck.
typedef enum tl_pinching {
    TL_PINCH_NONE,     ///< the step is long: whatever is in the way may give way in a shorter one
    TL_PINCH_NO_ROOM,  ///< what lies between bodies, or is held by handles
    TL_PINCH_ANY,      ///< what is pressed to next to nothing, too, and in the end all that is in the way: no step is
                       ///< shorter
} tl_pinching;

/// A body that does not deform goes from begin to end by p -> a p + b.
typedef struct tl_body_map {
    double a[3][3];
    tl_vec3 b;
    bool rigid;  ///< false: it deforms, and the rest says nothing
} tl_body_map;

/// What holds for one (sub)step.
typedef struct tl_contact_step {
    const tl_vec3 *body_begin, *body_end;    ///< nodes of all bodies, one after another
    const tl_vec3 *plane_begin, *plane_end;  ///< two per body: point and normal (planes only)
    const tl_vec3 *x_hat;                    ///< velocity is gamma (x - x_hat)
    const uint8_t *fixed;                    ///< nodes driven by handles
    const tl_vec3 *target;                   ///< where those go
    const double *mass;                      ///< of nodes
    double gamma, dt;
    tl_pinching pinch;
    bool again;                   ///< it is part of a step that had to be cut
    const tl_body_map *body_map;  ///< of every body; NULL: cloth is never taken along
} tl_contact_step;

/// `x`: where nodes are now.
tl_status tl_contacts_begin(tl_contacts *contacts, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx,
                            tl_error *err);

/// The tree over all cloth, by the numbers of its nodes and faces, for others to fit and to ask between steps. Lists
/// are made anew afterwards.
tl_bvh *tl_contacts_lend_tree(tl_contacts *contacts);

/// Which nodes are pinched, one byte each; part of the state. After writing to it, let it be counted.
uint8_t *tl_contacts_pinched(tl_contacts *contacts);
void tl_contacts_count_pinched(tl_contacts *contacts);

/// Finds every pair that can come within its thickness when nodes go from x by u (or any common part of it).
tl_status tl_contacts_search(tl_contacts *contacts, const tl_vec3 *x, const tl_vec3 *u, const tl_ctx *ctx,
                             tl_error *err);

/// Adds to u what bodies on the move push: a first guess, no promise.
tl_status tl_contacts_carry(tl_contacts *contacts, const tl_vec3 *x, tl_vec3 *u, const tl_ctx *ctx, tl_error *err);

/// Cuts u short so that nothing meets on the way from x to x + u (or any common part of it), and says how far bodies
/// may go. `searched`: u is what tl_contacts_search was told. Returns the number of nodes that were cut.
tl_status tl_contacts_limit(tl_contacts *contacts, const tl_vec3 *x, tl_vec3 *u, bool searched, const tl_ctx *ctx,
                            int64_t *limited, tl_error *err);

/// Bodies go `part` of the way that the last limit allowed; call after the nodes have moved by the same part of u.
void tl_contacts_move_bodies(tl_contacts *contacts, double part);

/// Has cloth kept bodies from going on?
bool tl_contacts_stopped(const tl_contacts *contacts);

/// Takes bodies, and the cloth in their way with them, as far towards the end of their way as nothing meets; x becomes
/// where that leaves the nodes. `part`: of what was left of the way, 1 if no cloth is held by handles or other bodies.
tl_status tl_contacts_take_along(tl_contacts *contacts, tl_vec3 *x, const tl_ctx *ctx, double *part, tl_error *err);

/// Bodies have hardly got on for several iterations because of cloth that may not be pinched in this step: a shorter
/// one is wanted.
bool tl_contacts_stuck(const tl_contacts *contacts);

/// What nodes that handles drive lack to their place is rounding below this [m].
#define TL_LAG 1e-9

/// For the rest of the step whatever is in the way of bodies is pinched: there is no time left for it to give way.
void tl_contacts_let_bodies_pass(tl_contacts *contacts);

/// For the rest of the step nodes that handles drive and cloth keeps from their place stay where they are.
void tl_contacts_let_handles_wait(tl_contacts *contacts);

/// Is there a body that moves, in this step or another?
bool tl_contacts_bodies_move(const tl_contacts *contacts);

/// How much of the bodies' way is left, 0 when they are where they belong.
double tl_contacts_bodies_left(const tl_contacts *contacts);

/// Keeps the pairs that matter near x.
tl_status tl_contacts_settle(tl_contacts *contacts, const tl_vec3 *x, tl_workers *workers, tl_error *err);

/// Do the settled pairs cover a move from x by u?
bool tl_contacts_reach(const tl_contacts *contacts, const tl_vec3 *x, const tl_vec3 *u);

/// Adds to the gradient and to what the matrix has a place for, and fixes normals, loads and weights for what follows:
/// friction in energy uses them until the next call.
tl_status tl_contacts_assemble(tl_contacts *contacts, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient,
                               const tl_ctx *ctx, tl_error *err);

/// Pairs that press where they were last searched for are noted: the first solve of the step expects them to again.
tl_status tl_contacts_note_start(tl_contacts *contacts, tl_error *err);

/// After an assembly: pairs that pressed in the solve before, or at the start of the step, and do not now, are foreseen
/// (below). *any: there are some.
tl_status tl_contacts_expect(tl_contacts *contacts, tl_bsr *matrix, tl_vec3 *push, const tl_ctx *ctx, bool *any,
                             tl_error *err);

/// Looks ahead: pairs that do not press yet but would after a move by u are added to the matrix, as if the law went on
/// as a straight line beyond the thickness; those foreseen before that would not are taken out. `push` gets their part
/// of the gradient. Returns whether anything changed. The next assembly forgets them.
tl_status tl_contacts_foresee(tl_contacts *contacts, const tl_vec3 *x, const tl_vec3 *u, tl_bsr *matrix, tl_vec3 *push,
                              const tl_ctx *ctx, bool *changed, tl_error *err);

/// The other response: the pairs of the last search keep their normals and weights for the rest of the step and press
/// like springs along them, from behind too; bodies are where they belong. Nothing is cut short until the zones.
void tl_contacts_freeze(tl_contacts *contacts);

/// Changes x, where the nodes ended, until nothing meets on the straight way from x0 (impact zones). What that leaves
/// is cut short, which counts as held. *clear is false if bodies move and it could not be done; then x is not to be
/// used.
tl_status tl_contacts_zones(tl_contacts *contacts, const tl_vec3 *x0, tl_vec3 *x, const tl_ctx *ctx, bool *clear,
                            tl_error *err);

/// Energy at x, with bodies `part` of the way that the last limit allowed.
tl_status tl_contacts_energy(tl_contacts *contacts, const tl_vec3 *x, double part, const tl_ctx *ctx, double *out,
                             tl_error *err);

/// What contacts have off the diagonal and not in the matrix, for tl_extra; NULL: nothing. As of the last assembly or
/// look ahead, until the next; made when first asked for.
tl_status tl_contacts_blocks(tl_contacts *contacts, const tl_ctx *ctx, const tl_bsr **out, tl_error *err);
/// A contact that presses, as of the last assembly: one side is cloth.
typedef struct tl_contact_item {
    int32_t body;              ///< as given, negative: cloth
    int32_t node, other_node;  ///< nearest node of the cloth, a node of the other cloth or -1
    tl_vec3 point, normal;     ///< on the cloth, towards it
    double gap, thickness;     ///< [m]
    tl_vec3 force;             ///< on the cloth, friction included [N]
} tl_contact_item;
int32_t tl_contacts_pressing(const tl_contacts *contacts);
tl_contact_item tl_contacts_item(const tl_contacts *contacts, int32_t index, const tl_vec3 *x);

int32_t tl_contacts_count(const tl_contacts *contacts);  ///< pairs that press or are foreseen to

/// Smallest thickness of all pairs that press [m], infinite if none does; and the smallest distance over thickness, at
/// most 1.
double tl_contacts_thinnest(const tl_contacts *contacts);
double tl_contacts_nearest(const tl_contacts *contacts);

/// Root mean square of u over the nodes that press or are pressed [m]; 0 if none is.
double tl_contacts_change(const tl_contacts *contacts, const tl_vec3 *u);

void tl_contacts_report(const tl_contacts *contacts, tl_contact_report *out);
