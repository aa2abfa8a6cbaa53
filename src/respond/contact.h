// respond/contact.h: contact of all cloths with bodies and with themselves over one time step.
//
// The promise: positions that are free of intersections stay so. Every change of positions is a straight path
// x -> x + u of all nodes at once, and tl_contacts_clip cuts paths short, node by node, until no pair of features can
// meet along them (clip/path_clip.c). In between, pairs press on each other by a barrier potential with friction
// (barrier/barrier_forces.c). Order of calls in a step:
//
//     begin (bodies, friction)  search (x, u)  clip (x, u)  [move]  settle (x)
//     Newton: assemble (x) .. solve .. covers? else search  clip  line search with energy  [move]  settle
//
// A search finds all pairs that can come within their thickness on the way; settle keeps those that can do so while no
// node moves by more than the skin. Below, a path is the straight motion of nodes or bodies within the step.
#pragma once
#include "base/ctx.h"
#include "detect/detect.h"
#include "math/solver.h"
#include "toile/contact.h"

struct tl_contact_policy;  // contact_policy.h

/// A body, or (plane) everything behind a plane. Bodies are surfaces of their own; their nodes follow those of the
/// cloth.
typedef struct tl_contact_body {
    tl_surface surface;  ///< arrays borrowed
    const tl_vec3 *pos;  ///< at the start, to build the tree
    tl_bvh *tree;      ///< of `surface`, made with relative = 1, borrowed as long as the contacts live. Of a body that
                       ///< does not move it has to be fitted whenever contacts are used. NULL: they make their own.
    double thickness;  ///< extra distance [m]
    bool plane, moves;
} tl_contact_body;

/// Two pieces of one panel keep at most this part of their distance in the flat panel, else cloth that is meshed finer
/// than it is thick could not lie flat. Remeshing relies on it too, hence no knob.
#define TL_FLAT_PART 0.8

typedef struct tl_contacts_def {
    tl_surface cloth;  ///< arrays borrowed as long as the contacts live
    const tl_vec3 *x;
    const double *face_area;    ///< material area [m^2], borrowed for the call like what follows
    const int32_t *node_cloth;  ///< cloth of a node
    const tl_vec2 *node_uv;     ///< material coordinates of a node
    const int32_t *node_panel;  ///< its panel; -1: on several (seam)
    int32_t cloth_count, body_count;
    const double *thickness;      ///< [cloth_count]
    const double *friction_self;  ///< [cloth_count * cloth_count]
    const double *friction_body;  ///< [cloth_count * body_count]
    const tl_contact_body *bodies;
    double pressure;                ///< barrier_law.h [Pa]
    double slip_speed;              ///< [m/s]
    bool self;                      ///< contacts of cloth with cloth, too
    const tl_detector *detector;    ///< for responders that ask one (tl_responder.detects)
    const tl_collide_def *collide;  ///< .. and its settings
    uint64_t seed;
    const struct tl_contact_policy *policy;  ///< tuned constants; NULL: the defaults
} tl_contacts_def;

typedef struct tl_contacts tl_contacts;

tl_status tl_contacts_create(const tl_allocator *alloc, const tl_contacts_def *def, tl_contacts **out, tl_error *err);
void tl_contacts_destroy(tl_contacts *contacts);  ///< NULL is fine
void tl_contacts_forget(
    tl_contacts *contacts);  ///< drops what earlier steps left, for runs that go on from a saved state

/// Which cloth may be pinched that does not let bodies pass. As long as the caller can take smaller steps it would
/// rather do that, see tl_contacts_stuck.
typedef enum tl_pinching {
    TL_PINCH_NONE,      ///< the step is long: what is in the way may give way in a shorter one
    TL_PINCH_ENCLOSED,  ///< cloth between bodies that face each other, or held by handles
    TL_PINCH_ANY,       ///< crushed cloth too, and in the end all that is in the way: steps cannot get shorter
} tl_pinching;

/// A body that does not deform moves from begin to end by p -> a p + b.
typedef struct tl_body_map {
    double a[3][3];
    tl_vec3 b;
    bool rigid;  ///< false: it deforms, and the rest says nothing
} tl_body_map;

/// One (sub)step.
typedef struct tl_contact_step {
    const tl_vec3 *body_begin, *body_end;    ///< nodes of all bodies, one after another
    const tl_vec3 *plane_begin, *plane_end;  ///< two per body: point and normal (planes only)
    const tl_vec3 *x_hat;                    ///< velocity is gamma (x - x_hat)
    const uint8_t *fixed;                    ///< nodes driven by handles
    const tl_vec3 *target;                   ///< .. and their positions at the end
    const double *mass;                      ///< of nodes
    double gamma, dt;
    tl_pinching pinch;
    bool again;                   ///< part of a step that had to be cut
    const tl_body_map *body_map;  ///< of every body; NULL: cloth is never carried along
} tl_contact_step;

/// `x`: present positions.
tl_status tl_contacts_begin(tl_contacts *contacts, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx,
                            tl_error *err);

/// The tree over all cloth, in the numbering of its nodes and faces, for others to fit and query between steps. The
/// next search makes its lists anew.
tl_bvh *tl_contacts_cloth_tree(tl_contacts *contacts);

/// One byte per node: is it pinched? Part of the state. Call tl_contacts_count_pinched after writing to it.
uint8_t *tl_contacts_pinched(tl_contacts *contacts);
void tl_contacts_count_pinched(tl_contacts *contacts);

/// Finds every pair that can come within its thickness when nodes move from x by u (or any common part of it).
tl_status tl_contacts_search(tl_contacts *contacts, const tl_vec3 *x, const tl_vec3 *u, const tl_ctx *ctx,
                             tl_error *err);

/// Adds to u the displacement of cloth pushed ahead by moving bodies: a first guess without any promise.
tl_status tl_contacts_push_ahead(tl_contacts *contacts, const tl_vec3 *x, tl_vec3 *u, const tl_ctx *ctx, tl_error *err);

/// Cuts u short so that nothing meets on the way from x to x + u (or any common part of it), and decides how far bodies
/// may move. `searched`: u is that of the last tl_contacts_search. *limited: nodes that were cut.
tl_status tl_contacts_clip(tl_contacts *contacts, const tl_vec3 *x, tl_vec3 *u, bool searched, const tl_ctx *ctx,
                           int64_t *limited, tl_error *err);

/// Moves bodies by `part` of what the last clip allowed; call after the nodes have moved by the same part of u.
void tl_contacts_move_bodies(tl_contacts *contacts, double part);

/// Does cloth keep bodies from moving on?
bool tl_contacts_bodies_stopped(const tl_contacts *contacts);

/// Moves bodies, and the cloth in their way along with them, as far towards their ends as nothing meets; x receives the
/// new positions. *part: of the rest of the paths; 1 unless the cloth is also held by handles or other bodies.
tl_status tl_contacts_carry(tl_contacts *contacts, tl_vec3 *x, const tl_ctx *ctx, double *part, tl_error *err);

/// Bodies have hardly moved for several iterations because of cloth that may not be pinched in this step: it should be
/// cut.
bool tl_contacts_stuck(const tl_contacts *contacts);

/// Nodes that handles drive are in place within this rounding [m].
#define TL_LAG 1e-9

/// For the rest of the step bodies go through what is in their way, which is pinched: there are no iterations left.
void tl_contacts_force_bodies(tl_contacts *contacts);

/// For the rest of the step nodes that handles drive, and that cloth keeps from their targets, stay where they are.
void tl_contacts_let_handles_wait(tl_contacts *contacts);

/// Is there a body that moves, in this step or another?
bool tl_contacts_bodies_move(const tl_contacts *contacts);

/// Part of the bodies' paths that is left; 0: they have arrived.
double tl_contacts_bodies_left(const tl_contacts *contacts);

/// Measures the pairs at x and keeps those near enough to matter while no node moves by more than the skin.
tl_status tl_contacts_settle(tl_contacts *contacts, const tl_vec3 *x, tl_workers *workers, tl_error *err);

/// Do the settled pairs cover a move from x by u?
bool tl_contacts_covers(const tl_contacts *contacts, const tl_vec3 *x, const tl_vec3 *u);

/// Adds to the gradient, and to the blocks that the matrix has. Normals, loads and weights stay as of this call until
/// the next: tl_contacts_energy uses them for friction.
tl_status tl_contacts_assemble(tl_contacts *contacts, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient,
                               const tl_ctx *ctx, tl_error *err);

/// The pairs that press at the last search are expected to do so in the first solve of the step.
tl_status tl_contacts_note_start(tl_contacts *contacts, tl_error *err);

/// After an assembly: predicts contact for pairs that pressed in the last solve, or at the start of the step, and do
/// not now. *any: there are some. Matrix and `push` as in tl_contacts_predict.
tl_status tl_contacts_predict_expected(tl_contacts *contacts, tl_bsr *matrix, tl_vec3 *push, const tl_ctx *ctx,
                                       bool *any, tl_error *err);

/// Predicts contacts: pairs that do not press yet but would after a move by u are added to the matrix, by the law
/// extended linearly beyond the thickness; those predicted before that would not are removed. `push` receives their
/// part of the gradient. *changed: so has the set. The next assembly starts without predictions.
tl_status tl_contacts_predict(tl_contacts *contacts, const tl_vec3 *x, const tl_vec3 *u, tl_bsr *matrix, tl_vec3 *push,
                              const tl_ctx *ctx, bool *changed, tl_error *err);

/// For the response `zones`: the pairs of the last search keep their normals and weights for the rest of the step and
/// act as springs along them, on both sides; bodies are at their ends. Paths are not cut until tl_contacts_zones.
void tl_contacts_freeze(tl_contacts *contacts);

/// Changes x, where the nodes ended, until nothing meets on the straight path from x0 (impact zones). What cannot be
/// solved that way is cut short, and counted as `held`. *clear: false if bodies move and even that failed; then x is
/// not to be used.
tl_status tl_contacts_zones(tl_contacts *contacts, const tl_vec3 *x0, tl_vec3 *x, const tl_ctx *ctx, bool *clear,
                            tl_error *err);

/// Energy at x, with bodies after `part` of what the last clip allowed.
tl_status tl_contacts_energy(tl_contacts *contacts, const tl_vec3 *x, double part, const tl_ctx *ctx, double *out,
                             tl_error *err);

/// The blocks of contacts that have no place in the matrix, for tl_extra; NULL: there are none. As of the last assembly
/// or prediction, until the next; made on demand.
tl_status tl_contacts_blocks(tl_contacts *contacts, const tl_ctx *ctx, const tl_bsr **out, tl_error *err);

/// A contact that presses, as of the last assembly: one side is cloth.
typedef struct tl_contact_item {
    int32_t body;              ///< as given, negative: cloth
    int32_t node, other_node;  ///< nearest node of the cloth, a node of the other cloth or -1
    tl_vec3 point, normal;     ///< on the cloth, towards it
    double gap, thickness;     ///< [m]
    tl_vec3 force;             ///< on the cloth, friction included [N]
} tl_contact_item;
int32_t tl_contacts_active_count(const tl_contacts *contacts);
tl_contact_item tl_contacts_item(const tl_contacts *contacts, int32_t index, const tl_vec3 *x);

int32_t tl_contacts_count(const tl_contacts *contacts);  ///< active and predicted

/// Least thickness of the active pairs [m], infinite if there are none; least distance over thickness, at most 1.
double tl_contacts_thinnest(const tl_contacts *contacts);
double tl_contacts_nearest(const tl_contacts *contacts);

/// Root mean square of u over the nodes in contact [m]; 0 if there are none.
double tl_contacts_change(const tl_contacts *contacts, const tl_vec3 *u);

void tl_contacts_report(const tl_contacts *contacts, tl_contact_report *out);
