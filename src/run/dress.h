// run/dress.h: flat panels around a body become a garment that it wears: sewn, welded, at rest.
#pragma once
#include "dress/figure.h"
#include "dress/garment.h"
#include "toile/drape.h"

typedef struct tl_dress_body {
    const tl_vec3 *pos;  ///< as it is to be dressed [m]
    int32_t vert_count;
    const int32_t (*face)[3];
    int32_t face_count;
} tl_dress_body;

/// What a stage reports on its way: 0 to 1.
typedef struct tl_dress_watch {
    void (*progress)(void *user, double part);  ///< may be NULL
    int (*cancelled)(void *user);               ///< may be NULL
    void *user;
    const tl_log *log;
} tl_dress_watch;

/// Nodes with a mark are tied to the body while cloth hangs, or are a band.
typedef struct tl_dress_hold {
    int32_t mark;
    double stiffness;  ///< per length of the edges [N/m^2]; 0: no tie
    double elastic;    ///< 0: no band
} tl_dress_hold;
#define TL_DRESS_SLACK 0.01  // [m] of ties

typedef struct tl_dress_def {
    tl_dress_body body;         ///< with the garments that are worn below, as further parts of its surface
    const tl_figure *figure;    ///< of the body; NULL: not known, arms stay as they are
    const tl_pattern *pattern;  ///< for the names of panels
    const tl_material *material;
    double thickness, friction;
    const tl_dress_hold *holds;
    int32_t hold_count;
    int32_t threads;
    tl_dress_watch watch;
} tl_dress_def;

/// Seams are drawn together around a body that is drawn in, then welded. `g` holds placed panels.
tl_status tl_dress_sew(const tl_dress_def *def, tl_garment *g, tl_drape_garment *report, tl_error *err);

/// The body grows to its size within the sewn garment.
tl_status tl_dress_grow(const tl_dress_def *def, tl_garment *g, tl_drape_garment *report, tl_error *err);

/// Stiffness of the tie of each node of a hold [N/m], and how many nodes it has.
double tl_dress_tie(const tl_garment *g, const tl_dress_hold *hold, int32_t *nodes, tl_status *status, tl_error *err);

/// Under gravity, until it rests or `seconds` of the garment's time are over.
tl_status tl_dress_settle(const tl_dress_def *def, tl_garment *g, double seconds, double rest_speed,
                          tl_drape_garment *report, tl_error *err);
