// toile/export.h: a run's frames as files for other programs.
#pragma once
#include "toile/base.h"
#include "toile/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What to write. Start from tl_export_def_default().
typedef struct tl_export_def {
    uint32_t struct_size;  ///< filled in by the default function, do not set
    const char *dir;       ///< folder of a run, or a recording (.toile). Required.
    /// .usda, .toile: one file with all cloths; .glb, .pc2, .mdd: one cloth with one mesh for all frames; .ply, .obj:
    /// one file per frame of one cloth, NAME.000012.ply. Required.
    const char *out;
    const char *cloth;      ///< which one; NULL: the only one, or all where the format has room
    int32_t first, last;    ///< frames; last < 0: all. Default 0, -1.
    double scale;           ///< lengths are multiplied by it. Default 1; 100 for centimetres.
    uint32_t z_up;          ///< 1: z points up in the file. Default 0: y.
    uint32_t resample;      ///< 1: one mesh for all frames, the cloth of adaptive runs carried over to it. Default 0.
    double tolerance;       ///< of resampling: root mean square error over mean edge, > 0. Default 0.01.
    int32_t most_halvings;  ///< of the finest frame's mesh to get there, 0 to 4. Default 3.
    uint32_t attributes;    ///< bits 1 << tl_attribute; for .usda, .toile and .ply. Default 0.
    uint32_t bodies;        ///< 1: what the cloth collides with too; for .usda and .toile. Default 0.
    uint32_t velocities;    ///< 1: velocities of the nodes, from one frame to the next; .usda, .toile. Default 1.
    double precision;       ///< of positions in a .toile [m], > 0. Default 1e-6.
    uint32_t stored;        ///< 1: a .toile without packing. Default 0.
    const char
        *refine;  ///< finer frames, "LEVELS[:SCHEME][+wrinkles]" (toile/refine.h); NULL: as they are. Default NULL.
} tl_export_def;
TL_API void tl_export_def_init(tl_export_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_export_def tl_export_def_default(void)
{
    tl_export_def def;
    tl_export_def_init(&def, sizeof def);
    return def;
}

typedef struct tl_export_report {
    int32_t frames, nodes, faces;  ///< nodes and faces: of all cloths in the last frame
    int64_t bytes;
    double fps;
    int32_t cloths, bodies;
    uint32_t resampled;  ///< 1: what follows says how well
    int32_t halvings;    ///< of the finest frame's mesh, the most of any cloth
    double error_rms;    ///< distance of points of the cloth from where they were, over all frames [m]
    double error_max;
    double mean_edge;  ///< of the frames [m]
} tl_export_report;

/// TL_BAD_INPUT if the format needs one mesh and the frames have several (adaptive runs) unless `resample`. Writes
/// whole files or none.
TL_API tl_status tl_export(const tl_export_def *def, tl_export_report *out, tl_error *err);

#ifdef __cplusplus
}
#endif
