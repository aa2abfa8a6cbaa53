// toile/contact.h: contact of cloth with bodies and with itself: how it is found, how it answers, what it came to.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What the friction of a pair is made of, where both sides have a coefficient of their own.
typedef enum tl_combine { TL_COMBINE_MIN, TL_COMBINE_MAX, TL_COMBINE_MEAN } tl_combine;

/// What to do when a simulation starts with surfaces that pass through each other.
typedef enum tl_on_intersection {
    TL_INTERSECTION_ERROR,  ///< the first step fails and says where
    TL_INTERSECTION_HEAL,   ///< pull apart before the first step, and say what was done (tl_sim_start in body.h)
    TL_INTERSECTION_PINCH,  ///< .. and where that fails between cloth and bodies, the cloth starts pinched: for bodies
                            ///< that go through themselves
} tl_on_intersection;

/// How contact answers (docs/notes/contact.md, "Two responses compared").
typedef enum tl_response {
    TL_RESPONSE_BARRIER,     ///< a barrier potential within the solve, every iterate free of intersections
    TL_RESPONSE_ZONES,       ///< springs within the solve, then impact zones on what still collides
    TL_RESPONSE_IMPULSE,     ///< inelastic impulses between close pairs after the solve (Kimmerle 2005)
    TL_RESPONSE_CONSTRAINT,  ///< directions that bodies bar are taken out of velocities after the solve; impulses
                             ///< within the cloth
    TL_RESPONSE_PUSH_OUT,    ///< what TL_DYNAMICS_SPRINGS do, and no others: nodes alone are kept out of bodies
    TL_RESPONSE_POTENTIAL = TL_RESPONSE_BARRIER,  ///< its former name
} tl_response;

/// How close features are found.
typedef enum tl_detection {
    TL_DETECTION_FULL,        ///< trees of boxes, everything found: our own
    TL_DETECTION_KDOP,        ///< volumes of k planes, everything found (Kimmerle 2005)
    TL_DETECTION_STOCHASTIC,  ///< random pairs that remember: may miss some (Kimmerle 2005)
    TL_DETECTION_COMBINED,    ///< random pairs from overlapping volumes: may miss some (Kimmerle 2005)
} tl_detection;

/// Contact of cloth with bodies and with itself (docs/contact.md). If the start is free of intersections, every step
/// is.
typedef struct tl_collide_def {
    uint32_t bodies;     ///< 1: cloth against bodies. Default 1.
    uint32_t self;       ///< 1: cloth against cloth. Default 1.
    tl_combine combine;  ///< Default TL_COMBINE_MIN.
    double pressure;     ///< at which contact gives way to 62 % of the thickness [Pa], in (0, 1e6]. Default 5e3.
    double slip_speed;  ///< below this speed friction sticks (and creeps in proportion to its load) [m/s], > 0. Default
                        ///< 1e-4.
    tl_on_intersection on_intersection;  ///< Default TL_INTERSECTION_ERROR.
    tl_response response;    ///< Default TL_RESPONSE_BARRIER, which means TL_RESPONSE_PUSH_OUT with springs.
    tl_detection detection;  ///< Default TL_DETECTION_FULL. What goes with what: toile/kinds.h.
    // impulse and constraint alone
    uint32_t net;            ///< 1: what detection has missed is stopped on its way by the continuous test, so that
                             ///< nothing passes through. Default 1.
    int32_t dop;             ///< planes of a k-DOP: 6, 14, 18 or 26. Default 18.
    int32_t arity;           ///< children of a volume: 2, 4 or 8. Default 4.
    int32_t leaf_faces;      ///< most faces in a leaf, 1 to 64; 0: 1 (k-dop), 8 (combined). Default 0.
    int32_t new_pairs;       ///< random pairs that are tried every step, >= 0, shared by all pairs of surfaces.
                             ///< Default 100.
    uint32_t measure;        ///< 1: everything is looked for, too, to tell the part that was found. Default 0.
    uint32_t reserved_word;  ///< zero
    double distance;         ///< below which pairs are close [m], > 0; 0: three thicknesses. Default 0.
    double find_ratio;       ///< part of all pairs that new_pairs is steered towards, 0..1; 0: not. Default 0.
    double response_ratio;   ///< part of the pairs, by chance, that is answered, 0..1; for experiments. Default 1.
    double most_tests;       ///< distances a step that new_pairs is steered to stay below, >= 0; 0: any. Default 0.
    double reserved[1];      ///< room for later fields; zero
} tl_collide_def;

/// What contact came to in a step; counts are of the last substep unless said otherwise.
typedef struct tl_contact_report {
    int64_t candidates;    ///< pairs near enough to look at
    int64_t contacts;      ///< pairs that press on each other at the end
    int32_t searches;      ///< broad-phase searches, over all substeps
    int64_t volume_tests;  ///< of those
    int64_t limited;       ///< nodes whose path had to be cut short, over all iterations
    int32_t held;          ///< fail-safe: iterations in which nodes were held in place to keep the promise
    int32_t pinched;       ///< nodes between bodies that leave no room: exempt until they are free again
    int32_t zones;         ///< impact zones, over all substeps
    int32_t zone_nodes;    ///< of the largest one
    int32_t zone_rounds;   ///< of solving and testing again, over all substeps
    double nearest;        ///< smallest distance over thickness of all contacts, 1 if there are none
    // impulse and constraint alone, over all substeps
    int64_t found;             ///< close pairs that detection found
    int64_t there;             ///< .. and those there were, of those found and not; 0: not measured
    int64_t missed;            ///< 0 where it was not measured
    double detection_seconds;  ///< processor time in detection, without the measurement
    double fit_seconds;        ///< .. of that, for volumes to follow
    double overlap_seconds;    ///< .. and to compare them; the rest went into pairs of features
} tl_contact_report;

#ifdef __cplusplus
}
#endif
