// toile/refine.h: finer, smooth surfaces of finished frames that still touch nothing (Kimmerle 2005, ch. 4).
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tl_refine_scheme {
    TL_REFINE_MODIFIED_LOOP,  ///< smooths, with bounded curvature; looks best on cloth
    TL_REFINE_LOOP,           ///< smooths
    TL_REFINE_BUTTERFLY,      ///< goes through the nodes of the frame
} tl_refine_scheme;

/// Called after every frame; may be NULL.
typedef void (*tl_refine_progress)(void *user, int32_t done, int32_t count);

/// Start from tl_refine_def_default().
typedef struct tl_refine_def {
    const char *source;       ///< folder of a run, or an OBJ file. Required.
    const char *out;          ///< folder (frames/ and obstacles/ as in a run), or an OBJ file for one. Required.
    tl_refine_scheme scheme;  ///< default TL_REFINE_MODIFIED_LOOP
    int32_t levels;           ///< 1 to 5, each makes four faces of one. Default 2.
    int32_t crease_seams;     ///< 1: seams stay as sharp as they are. Default 0.
    double gap;               ///< [m] that is kept to bodies and between layers, > 0. Default 0.0002.
    int32_t first, last;      ///< frames, both included; last < 0: to the end. Default 0, -1.
    int32_t threads;          ///< >= 1; never changes a result. Default 1.
    tl_refine_progress progress;
    void *user;
} tl_refine_def;
TL_API tl_refine_def tl_refine_def_default(void);

typedef struct tl_refine_report {
    int32_t frames;
    int64_t faces_in, faces_out;  ///< over all frames
    int64_t corrected;            ///< nodes that do not get where the scheme wants them, since something is in the way
    int64_t stopped;              ///< of these, nodes that stay on the coarse surface
    int32_t most_searches;        ///< for one level of one frame
    double longest;               ///< [m] that a node was to be moved
    double seconds;
} tl_refine_report;

/// Every frame of a run, or one OBJ file, one file per frame as it was, finer. The frames of a run are moved clear of
/// its obstacles, of each other's cloths and of themselves. Stops at the first file that cannot be read or written.
TL_API tl_status tl_refine(const tl_refine_def *def, tl_refine_report *report, tl_error *err);

#ifdef __cplusplus
}
#endif
