// run/drape_impl.h: what the files of drape share.
#pragma once
#include "body/character.h"
#include "dress/figure.h"
#include "io/file.h"
#include "run/dress.h"
#include "toile/character.h"

#define TL_DRAPE_THICKNESS 1e-3  // [m] that layers keep
#define TL_DRAPE_FRICTION 0.5
#define TL_DRAPE_FRICTION_SELF 0.3
#define TL_DRAPE_FPS 30.0
#define TL_DRAPE_REST 3e-3  // [m/s] mean speed that counts as rest
enum { TL_DRAPE_STEPS = 4 };

#define TL_DRAPE_HOLD 2000.0                            // [N/m^2] of a rim or label that is held
enum { TL_DRAPE_RIM = 100, TL_DRAPE_STRAPLESS = 101 };  // marks: those of the caller's holds are 1, 2, ..

typedef struct tl_draper {
    const tl_drape_def *def;
    tl_drape_report *report;
    tl_allocator alloc;
    tl_character *character;
    tl_playback play;         ///< of the motion; clip -1: none
    tl_vec3 *body;            ///< the character at rest
    int32_t (*body_face)[3];  ///< with mittens
    int32_t body_faces;
    tl_figure figure;  ///< where its parts are
    bool has_figure;
    bool place_all;  ///< places that the pattern gives are not kept
    tl_material material;
    tl_pattern *pattern[TL_DRAPE_GARMENTS];
    tl_garment garment[TL_DRAPE_GARMENTS];   ///< finished up to the present one
    uint64_t inputs[TL_DRAPE_GARMENTS];      ///< hash of all that a garment's shape depends on
    tl_dress_hold hold[TL_DRAPE_HOLDS + 2];  ///< by mark, those of the caller first
    int32_t hold_count;
    double edge;        ///< of the finished mesh [m]
    uint32_t measured;  ///< measures that a pattern knew so far, a bit each
    int32_t index;      ///< present garment
    tl_drape_stage stage;
} tl_draper;

/// A stage that an earlier call has finished: `*found` false if there is none.
tl_status tl_drape_take_up(tl_draper *d, tl_drape_stage stage, bool *found, tl_error *err);
/// The present garment as it is after a stage, to go on from.
tl_status tl_drape_put_down(tl_draper *d, tl_drape_stage stage, tl_error *err);

/// What is to hold garments (drape_hold.c): checks what the caller wants.
tl_status tl_drape_read_holds(tl_draper *d, tl_error *err);
/// Marks edges by their labels on panels, and the rim of what is sewn and does not hang from the shoulders.
tl_status tl_drape_mark_labels(tl_draper *d, const tl_pattern_mesh *mesh, tl_error *err);
tl_status tl_drape_mark_rim(tl_draper *d, tl_error *err);

/// Fills in `figure` from the body at rest (drape_body.c).
tl_status tl_drape_find_figure(tl_draper *d, tl_error *err);
/// Panels without a place get one around the body.
tl_status tl_drape_place(tl_draper *d, tl_error *err);
/// Do the openings of the sewn garment go around the body as they should? Fills in the report.
tl_status tl_drape_check_sewing(tl_draper *d, tl_error *err);

/// NAME.obj of the present garment.
tl_status tl_drape_write_garment(tl_draper *d, tl_error *err);
/// dress/scene.json of all garments.
tl_status tl_drape_write_scene(tl_draper *d, const char *path, tl_error *err);
/// Is the run in the folder one of this scene and of these garments? Else the folder is told whose run begins.
tl_status tl_drape_find_run(const tl_draper *d, const char *scene, bool *resume, tl_error *err);
tl_status tl_drape_write_report(tl_draper *d, tl_error *err);
