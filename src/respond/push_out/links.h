// respond/push_out/links.h: contact links that stand in for friction (Simnett 2012, sec. 5.4.2).
//
// A node that touches a body is linked to where it touches, which moves with the body. The link pulls along the surface
// and along its normal, with constants of their own, by a part that falls from 1 to 0 with its age; it breaks by age or
// by distance, and every contact makes it anew.
#pragma once
#include "respond/push_out/push_out.h"

typedef struct tl_push_link {
    int32_t body, face, age;  ///< its key, -1: none; age in steps
    double gap;               ///< [m] from the surface when made
    tl_vec3 anchor;           ///< as in tl_push_contact
} tl_push_link;

typedef struct tl_push_links_def {
    double slide, lift;  ///< pull per mass and way along the surface and across it [1/s^2]
    double distance;     ///< [m] at which a link breaks
    int32_t steps;       ///< age at which it does
} tl_push_links_def;

/// What is known of a step.
typedef struct tl_push_links_step {
    const tl_push_body *bodies;
    int32_t body_count;
    const tl_push_contact *contact;
    int32_t contact_count;
    const tl_push_nodes *nodes;
    const int32_t *slot;  ///< of a node's link
    double touch;         ///< [m] no farther outside of a contact's half-space: such a node touches
} tl_push_links_step;

/// Links of nodes that touch are made anew; the others age, and break.
void tl_push_links_update(tl_push_link *link, const tl_push_links_def *def, const tl_push_links_step *step);

/// The acceleration that a link gives to a node at `x` [m/s^2]; zero without one.
tl_vec3 tl_push_link_pull(const tl_push_link *link, const tl_push_links_def *def, const tl_push_body *bodies,
                          int32_t body_count, tl_vec3 x);
