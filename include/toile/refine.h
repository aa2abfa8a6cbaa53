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
    TL_REFINE_SCHEMES
} tl_refine_scheme;
TL_API const char *tl_refine_scheme_name(tl_refine_scheme scheme);  ///< "modified-loop"; NULL: there is none
/// "LEVELS" or "LEVELS:SCHEME", as in `toile run --refine 2:loop`. TL_BAD_ARG says what is wrong; then nothing changes.
TL_API tl_status tl_refine_parse(const char *text, int32_t *levels, tl_refine_scheme *scheme, tl_error *err);

enum { TL_REFINE_LEVELS_MAX = 5 };

/// Called after every frame; may be NULL.
typedef void (*tl_refine_progress)(void *user, int32_t done, int32_t count);

/// Start from tl_refine_def_default().
typedef struct tl_refine_def {
    uint32_t struct_size;      ///< filled in by the default function, do not set
    const char *source;        ///< folder of a run, or an OBJ file. Required.
    const char *out;           ///< folder (frames/ and obstacles/ as in a run), or an OBJ file for one. Required.
    tl_refine_scheme scheme;   ///< default TL_REFINE_MODIFIED_LOOP
    int32_t levels;            ///< 0 to TL_REFINE_LEVELS_MAX, each makes four faces of one. Default 2.
    int32_t crease_seams;      ///< 1: seams stay as sharp as they are. Default 0.
    double gap;                ///< [m] that is kept to bodies and between layers, > 0. Default 0.0002.
    int32_t first, last;       ///< frames, both included; last < 0: to the end. Default 0, -1.
    int32_t threads;           ///< >= 1; never changes a result. Default 1.
    int32_t loop_vertex_mask;  ///< 1: modified Loop with Loop's vertex mask, as the thesis describes; curvature is then
                               ///< unbounded at some valences. Default 0.
    tl_refine_progress progress;
    void *user;
} tl_refine_def;
TL_API void tl_refine_def_init(tl_refine_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_refine_def tl_refine_def_default(void)
{
    tl_refine_def def;
    tl_refine_def_init(&def, sizeof def);
    return def;
}

/// One level of all frames (Kimmerle 2005, Table 4.3).
typedef struct tl_refine_level {
    int64_t nodes, faces;  ///< after the level, over all frames
    int64_t close_pairs;   ///< of nodes and faces or of edges whose boxes meet on the way
    int64_t corrected;     ///< nodes that do not get where the scheme wants them, since something is in the way
    int64_t stopped;       ///< of these, nodes that stay on the coarser surface
    int32_t most_searches;
    double longest;  ///< [m] that a node was to be moved
    double mask_seconds, tree_seconds, test_seconds;
} tl_refine_level;

typedef struct tl_refine_report {
    int32_t frames;
    int64_t faces_in, faces_out;  ///< over all frames
    int64_t corrected, stopped;   ///< over all levels, as above
    int32_t most_searches;        ///< for one level of one frame
    double longest;               ///< [m] that a node was to be moved
    double seconds;               ///< files included
    int32_t levels;
    tl_refine_level level[TL_REFINE_LEVELS_MAX];
} tl_refine_report;

/// Every frame of a run, or one OBJ file, one file per frame as it was, finer. The frames of a run are moved clear of
/// its obstacles, of each other's cloths and of themselves. Stops at the first file that cannot be read or written.
TL_API tl_status tl_refine(const tl_refine_def *def, tl_refine_report *report, tl_error *err);

#ifdef __cplusplus
}
#endif
