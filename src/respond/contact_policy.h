// respond/contact_policy.h: every tuned constant of the contact stage, in one place.
//
// None of them changes what is promised: with any values in range, positions that are free of intersections stay so.
// They trade search work against the number of Newton iterations. The measurements are in docs/notes/contact.md,
// docs/notes/performance.md and docs/notes/fast-bodies.md. A test, or a host that links the static library, may hand
// other values to tl_contacts_create (tl_contacts_def.policy).
#pragma once

/// How feature pairs are found and reused (pairs/).
typedef struct tl_pair_policy {
    /// Nodes may move this part of the largest thickness before pairs are measured anew. Default 0.05: with 1/3 a sheet
    /// at rest took twice as long at 100,000 faces (time per step grew as faces^1.40).
    double skin;
    /// Slack of the lists of candidate pairs: how far a node may stray from the path that the lists were made for. It
    /// follows the largest stray of the step before (times slack_spare, default 1.5), falls by slack_decay a step at
    /// most (0.5), and stays within slack_min skins (1) and slack_per_edge mean edges (0.05; 0.02 was as fast, 0.1 took
    /// 1.08 times as long). slack_first skins (6) where nothing is known.
    double slack_spare, slack_decay, slack_min, slack_first, slack_per_edge;
    /// If at most this part of the nodes left the slack, the trees are queried for these nodes only. Default 1/3.
    double update_part;
    /// If more than this part of the displacements became shorter by the slack, all lists are pruned. Default 0.125.
    double prune_part;
} tl_pair_policy;

/// The barrier potential and the prediction of contacts (barrier/).
typedef struct tl_barrier_policy {
    /// Squared sine of the angle below which edge-edge contact fades out; there vertex-face pairs carry the load.
    /// Default 1e-2.
    double parallel;
    /// Blocks of contacts stiffer than this many node inertias are kept in double precision. Default 1e4: single
    /// precision rounds by 6e-8, and some tens of blocks meet in a row.
    double double_from;
    /// Contacts are no stiffer than this many inertias of their lightest node. Default 1e10: a double has 16 digits.
    double stiffness_max;
    /// Pairs farther apart than this many thicknesses are not predicted: the linear extension of the law would mislead.
    /// Default 8.
    double predict_reach;
    /// A solve is repeated if more than this part of the contacts comes or goes with it. Default 0.03: what is left is
    /// the next iteration's, and in a garment a few pairs always come and go.
    double predict_part;
    /// A contact is solved with the secant instead of the tangent stiffness if the update closes its gap to less than
    /// this part. Default 0.5.
    double secant_below;
    /// .. and another solve is worth it if the stiffness grows by this factor. Default 1.3.
    double secant_growth;
    /// .. which is looked at from this assembly of a step on, or once bodies were stopped. Default 8.
    int secant_after;
    /// If the first guess cuts the paths of more than this part of all nodes before a moving body, the step is halved.
    /// Default 0.03: both halves together then take as many iterations, each with a third of the contacts.
    double jammed_part;
    /// Updates of nodes in contact are small below this part of the thickness. Default 0.1: with more, layers tremble.
    double settled_part;
    /// The linear tolerance shrinks with distance over thickness below near_part (0.5), to near_min over near_part
    /// (0.01): the forces of contacts pressed hard would drown all others in the residual.
    double near_part, near_min;
    /// Handles that contact stops retry for this many iterations (6), or until an update brings them less than
    /// handle_part (0.01) of the rest of their way; then they wait for the next step.
    int handle_iterations;
    double handle_part;
} tl_barrier_policy;

/// How paths are cut so that nothing meets (path_clip.c, carry.c).
typedef struct tl_clip_policy {
    /// A path may end at keep_thickness (0.7) of the thickness, or use up 1 - keep_distance (0.5) of the distance; but
    /// below keep_tight_from (0.4) of the thickness only 1 - keep_tight (0.9) of it: stiffness grows with the third
    /// power of the inverse distance.
    double keep_thickness, keep_distance, keep_tight, keep_tight_from;
    /// The same where handles press, whose strength has no bound: at least driven_thickness (0.25) of the thickness,
    /// or driven_distance (0.999) of the distance.
    double driven_thickness, driven_distance;
    /// Part of the path to the contact that is taken, as the continuous test found it. Default 0.95.
    double back_off;
    /// A body that waits for cloth gets at least this part of its path. Default 0.5.
    double wait_min;
    /// Bodies that get less than this part of their path count as stopped. Default 0.1.
    double stall;
    /// Passes over the pairs of one clip: from hold_after (30) on, violated pairs are held where they are, and from
    /// pass_max (60) on so are bodies. Rounds of search and clip before holding: hold_rounds (20).
    int pass_max, hold_after, hold_rounds;
    /// Iterations in a row with stopped bodies: from pinch_after (4) on enclosed cloth is pinched, from give_up_after
    /// (60) on any cloth in the way, if steps cannot get shorter.
    int pinch_after, give_up_after;
    /// Passes that push cloth ahead of bodies in the first guess. Default 4.
    int push_passes;
    /// Cloth carried along by bodies: part of the path to contact that is taken (0.9), least part worth taking (0.5),
    /// passes (64).
    double carry_back_off, carry_min;
    int carry_passes;
} tl_clip_policy;

/// When cloth counts as pinched and how it is released (pinch/).
typedef struct tl_pinch_policy {
    /// Strength of the pull to the goal, in node masses over dt^2. Default 100: with 10, cloth that hung over a corner
    /// held its nodes back.
    double pull;
    double out_speed;      ///< at which nodes leave a body [m/s]. Default 0.3.
    double free_distance;  ///< from all bodies, of the largest thickness, to be released. Default 0.15.
    /// Goal outside the body, in largest thicknesses. Default 3: edges and faces around a node must clear a curved
    /// body.
    double goal_distance;
    /// Two surfaces face each other if the product of their normals is below this. Default -0.3.
    double facing;
    double layers;   ///< thicknesses of cloth that may lie between them. Default 8.
    double fixed;    ///< weight of nodes that handles hold, for the place to count as held. Default 0.5.
    double crushed;  ///< part of the thickness below which cloth is crushed. Default 0.02: a pressure of some 10 MPa.
} tl_pinch_policy;

/// Impact zones (zones/).
typedef struct tl_zones_policy {
    /// Paths that come nearer than separation (0.1) of the thickness meet, or nearer than start_part (0.9) of the
    /// distance at the start if that is less.
    double separation, start_part;
    double keep;          ///< separations that a bond keeps at the end. Default 2: the test that follows asks for 1.
    double freeze_reach;  ///< thicknesses; springs are not frozen farther apart. Default 8.
    int rounds;           ///< of test and solve before the fail-safe. Default 30.
} tl_zones_policy;

typedef struct tl_contact_policy {
    tl_pair_policy pairs;
    tl_barrier_policy barrier;
    tl_clip_policy clip;
    tl_pinch_policy pinch;
    tl_zones_policy zones;
} tl_contact_policy;

static inline tl_contact_policy tl_contact_policy_default(void)
{
    return (tl_contact_policy){
        .pairs = {.skin = 0.05,
                  .slack_spare = 1.5,
                  .slack_decay = 0.5,
                  .slack_min = 1,
                  .slack_first = 6,
                  .slack_per_edge = 0.05,
                  .update_part = 1.0 / 3,
                  .prune_part = 0.125},
        .barrier = {.parallel = 1e-2,
                    .double_from = 1e4,
                    .stiffness_max = 1e10,
                    .predict_reach = 8,
                    .predict_part = 0.03,
                    .secant_below = 0.5,
                    .secant_growth = 1.3,
                    .secant_after = 8,
                    .jammed_part = 0.03,
                    .settled_part = 0.1,
                    .near_part = 0.5,
                    .near_min = 0.01,
                    .handle_iterations = 6,
                    .handle_part = 0.01},
        .clip = {.keep_thickness = 0.7,
                 .keep_distance = 0.5,
                 .keep_tight = 0.9,
                 .keep_tight_from = 0.4,
                 .driven_thickness = 0.25,
                 .driven_distance = 0.999,
                 .back_off = 0.95,
                 .wait_min = 0.5,
                 .stall = 0.1,
                 .pass_max = 60,
                 .hold_after = 30,
                 .hold_rounds = 20,
                 .pinch_after = 4,
                 .give_up_after = 60,
                 .push_passes = 4,
                 .carry_back_off = 0.9,
                 .carry_min = 0.5,
                 .carry_passes = 64},
        .pinch = {.pull = 100,
                  .out_speed = 0.3,
                  .free_distance = 0.15,
                  .goal_distance = 3,
                  .facing = -0.3,
                  .layers = 8,
                  .fixed = 0.5,
                  .crushed = 0.02},
        .zones = {.separation = 0.1, .start_part = 0.9, .keep = 2, .freeze_reach = 8, .rounds = 30},
    };
}
