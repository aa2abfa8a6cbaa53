// toile/export.h: a run's frames as one file for other programs.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What to write. Start from tl_export_def_default().
typedef struct tl_export_def {
    const char *dir;      ///< folder of a run. Required.
    const char *out;      ///< .glb, .pc2, .mdd; or .ply: one file per frame, NAME.000012.ply. Required.
    const char *cloth;    ///< which one; NULL: the only one
    int32_t first, last;  ///< frames; last < 0: all. Default 0, -1.
    double scale;         ///< lengths are multiplied by it. Default 1; 100 for centimetres.
    uint32_t z_up;        ///< 1: z points up in the file. Default 0: y.
    const char
        *refine;  ///< finer frames, "LEVELS" or "LEVELS:SCHEME" (toile/refine.h); NULL: as they are. Default NULL.
    uint32_t made_by_default;
} tl_export_def;
TL_API tl_export_def tl_export_def_default(void);

typedef struct tl_export_report {
    int32_t frames, nodes, faces;  ///< of a .ply: of the last frame
    int64_t bytes;
    double fps;
} tl_export_report;

/// TL_BAD_INPUT if the mesh changes between frames (adaptive runs), but for .ply. Writes whole files or none.
TL_API tl_status tl_export(const tl_export_def *def, tl_export_report *out, tl_error *err);

#ifdef __cplusplus
}
#endif
