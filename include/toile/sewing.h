// toile/sewing.h: placed panels become a garment around a body, a step at a time, so that somebody can watch.
//
// What `toile drape` does first (docs/drape.md): the body is drawn in, seams are drawn together around it under
// contact, sewn, and the body grows to its size inside the garment. Nothing falls meanwhile.
#pragma once
#include "toile/pattern.h"
#include "toile/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TL_SEWING_RIM = 100 };  ///< label of nodes of the rim in the garment's file

/// Start from tl_sewing_def_default(). Everything is copied but the pattern.
typedef struct tl_sewing_def {
    uint32_t struct_size;         ///< filled in by the default function, do not set
    const tl_pattern *pattern;    ///< checked, every panel placed; borrowed until tl_sewing_destroy. Required.
    const tl_material *material;  ///< Required.
    const tl_vec3 *body;          ///< surface to be dressed [m], body_nodes entries. Required.
    int32_t body_nodes;
    const int32_t (*body_face)[3];  ///< body_faces entries
    int32_t body_faces;
    double edge;        ///< of the triangles [m], > 0. Default 0.03.
    double thickness;   ///< that the cloth keeps from the body and itself [m], > 0. Default 0.001.
    double friction;    ///< with the body, >= 0. Default 0.5.
    int32_t threads;    ///< >= 1; never changes a result. Default 1.
    const tl_log *log;  ///< may be NULL
} tl_sewing_def;
TL_API void tl_sewing_def_init(tl_sewing_def *def, size_t size);
static inline tl_sewing_def tl_sewing_def_default(void)
{
    tl_sewing_def def;
    tl_sewing_def_init(&def, sizeof def);
    return def;
}

typedef enum tl_sewing_stage {
    TL_SEWING_SEW,   ///< seams are drawn together
    TL_SEWING_GROW,  ///< they are sewn; the body takes its size
    TL_SEWING_DONE,
} tl_sewing_stage;

typedef struct tl_sewing_report {
    tl_sewing_stage stage;  ///< that the next step belongs to
    int32_t steps;          ///< so far
    double part;            ///< of the stage that is done, roughly
    double gap;             ///< widest open seam [m]: now, or before it was sewn
    char gap_panel[2][64];  ///< once sewn: the panels at that
    int64_t crossings;      ///< of panels with the body and each other at the start, before they were moved apart
    int32_t rim_nodes;  ///< once done: nodes of the upper rim that has to be held; 0: the garment hangs from shoulders
    double rim_length;  ///< [m]
} tl_sewing_report;

typedef struct tl_sewing tl_sewing;  // opaque

/// TL_BAD_INPUT names a panel without a place.
TL_API tl_status tl_sewing_create(const tl_sewing_def *def, tl_sewing **out, tl_error *err);
TL_API void tl_sewing_destroy(tl_sewing *sewing);  ///< NULL is fine

/// One step; nothing more happens once it is done. `report` may be NULL.
TL_API tl_status tl_sewing_step(tl_sewing *sewing, tl_sewing_report *report, tl_error *err);

/// The cloth "garment" and the body as they are now, to look at, not to change; valid until the next step. NULL before
/// the first.
TL_API tl_sim *tl_sewing_sim(const tl_sewing *sewing);

/// The sewn garment as OBJ with `vt`, nodes of its rim labelled TL_SEWING_RIM. TL_BAD_ARG before it is done.
TL_API tl_status tl_sewing_save(const tl_sewing *sewing, const char *path, tl_error *err);

#ifdef __cplusplus
}
#endif
