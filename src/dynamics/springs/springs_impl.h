// dynamics/springs/springs_impl.h: what a spring solver holds, for the files of dynamics/springs alone.
#pragma once
#include "dynamics/springs/springs.h"

enum { TL_SPRINGS_COLORS = 64, TL_SPRINGS_RATES = 80 };

/// Of a colour: [start[c], start[c + 1]).
typedef struct tl_springs_colors {
    int32_t count, start[TL_SPRINGS_COLORS + 1];
} tl_springs_colors;

/// A contact as every substep asks for it: what is nearer than `offset` along the normal is inside.
typedef struct tl_springs_plane {
    tl_vec3 normal;
    double offset, speed;  // of the plane along the normal [m], [m/s]
    int32_t node;
} tl_springs_plane;

struct tl_springs {
    tl_allocator alloc;
    tl_springs_def def;
    int32_t node_count, tri_count, edge_count, hinge_count, tether_count;
    int32_t node_cap, tri_cap, edge_cap, hinge_cap, tether_cap;  // of all arrays of a kind
    double (*pos)[4], (*vel)[4], (*prev)[4], (*bend_prev)[4], (*start)[4], (*start_vel)[4], (*accel)[4];
    double *mass, *inv_mass;
    uint8_t *held;
    uint64_t *used;  ///< colours that the edges or hinges of a node have
    double *tri_area, area;
    int32_t (*tri)[3];
    // edges by colour
    int32_t (*edge)[2];
    double *rest, *stiffness;
    uint8_t *level;
    double *slack;       ///< part of a correction when pushed together, of this step
    double (*share)[2];  ///< what part of the correction each end takes, of this step
    tl_springs_colors edge_colors;
    // tethers by colour
    int32_t (*tether)[2];
    double *tether_rest, *tether_slack, (*tether_share)[2];
    tl_springs_colors tether_colors;
    // hinges by colour: a, b, left, right
    int32_t (*hinge)[4];
    double (*weight)[4];                   ///< of the quadratic form
    double *bend;                          ///< stiffness [N/m]
    double *span;                          ///< distance of the opposite vertices when flat [m]
    double (*gain)[4];                     ///< correction of each node, of this step
    double bend_damping;                   ///< [s]
    int32_t bend_every;                    ///< of this step
    int32_t bend_rates[TL_SPRINGS_RATES];  ///< hinges by stiffness over mass: from 2^k to twice that [1/s^2]
    tl_springs_colors hinge_colors;
    // to sort by colour
    int32_t *order;
    uint8_t *color;
    int32_t order_cap;
    tl_springs_plane *plane;  ///< of this step's contacts
    int32_t plane_cap;
    bool settings_valid;  ///< share and gain belong to `set_dt`
    double set_dt;
};

tl_status tl_springs_verlet(tl_springs *s, const tl_springs_step *step, tl_springs_report *report, tl_error *err);
void tl_springs_touch(tl_springs *s, const tl_springs_step *step, double time, double dt);
void tl_springs_part(tl_springs *s, const tl_springs_step *step, double dt);
