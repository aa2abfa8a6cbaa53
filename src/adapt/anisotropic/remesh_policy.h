// adapt/anisotropic/remesh_policy.h: every tuned constant of a pass of remeshing, in one place.
//
// The kinds `anisotropic` and `isotropic` use all of them, `edge-trees` and `sqrt3` those of the energy guard and the
// clearance. None changes what is promised: no operation lets cloth pass through anything. The measurements are in
// docs/notes/remeshing.md and docs/notes/performance.md. A test may hand other values to a pass (tl_remesh_def.policy).
#pragma once
#include <stdint.h>

typedef struct tl_remesh_policy {
    // ---- which operations (rules.c) ----
    /// Faces stay as they are if they are Delaunay within this sine of the sum of opposite angles. Default 0.05: with 0
    /// squares flip back and forth.
    double flip_margin;
    /// The margin grows by this factor every time that an edge is flipped again. Default 4: a flip moves the surface,
    /// and with it the field, which may then ask for the edge as it was.
    double flip_growth;
    int32_t flips_max;  ///< of one edge until it is Delaunay without any margin. Default 3.
    /// aspect_min of the scene holds up to here. Default 0.3: faces of mixed sizes cannot keep more.
    double aspect_cap;

    // ---- nodes that come and go (hysteresis.c) ----
    /// Edges made by the collapse of a node that was inserted k times are at most this to the power of k - 1 as long
    /// as others. Default 0.5.
    double churn_decay;
    /// What a node remembers is dropped once it has moved by this part of the shortest edge wanted there (0.1), or once
    /// the field asks for edges this many times longer (2).
    double churn_moved, churn_longer;
    double churn_max;  ///< count at which a node stays for good. Default 30.

    // ---- the energy guard (energy_guard.c) ----
    /// Root mean square strain that an operation may add. Default 0.005: a change of diagonals adds as much on cloth
    /// that bends by 0.15 rad an edge.
    double strain_free;
    /// Part of the energy allowance that is left, for one operation. Default 0.125.
    double energy_part;
    /// A new node is placed no farther from the middle of its edge than this part of its length. Default 0.125: an arc
    /// of 106 degrees; normals of crumpled cloth may point anywhere.
    double place_max;

    // ---- clearance (clearance_budget.c, remesh.c) ----
    /// Clearance is measured this many times as far as needed: later operations will ask for some, too. Default 2.5.
    double clearance_ahead;
    /// Clearance is measured anew if more than this part of the faces was refused something for lack of it after they
    /// had changed (0.02), and so often at most (4).
    double renew_part;
    int32_t renewals_max;

    // ---- whether a pass is worth it (needs_pass.c, anisotropic.c) ----
    /// An edge is much too long from this size on (1.2: more than the hysteresis is wide), and a pass is due if more
    /// than this part of all edges is (0.005) ..
    double long_size, long_part;
    /// .. or if there are more than this many faces per unit of area in the metric. Default 8: a pass leaves 6 to 7.
    double faces_per_area_max;
    double faces_per_area;  ///< expected of a pass, for max_faces. Default 6.
} tl_remesh_policy;

extern const tl_remesh_policy tl_remesh_policy_default;
