// run/export_source.h: where exports take their frames from: the folder of a run, or a recording.
#pragma once
#include "io/file.h"
#include "io/obj.h"
#include "io/usd_write.h"
#include "run/refiner.h"

typedef char tl_surface_name[64];

typedef struct tl_export_source {
    tl_allocator alloc;
    char path[TL_PATH_MAX];
    tl_recording *recording;  ///< NULL: a folder
    tl_surface_name *cloth, *body;
    int32_t *cloth_surface, *body_surface;  ///< their numbers in the recording
    int32_t cloth_count, cloth_cap, body_count, body_cap, cloth_surface_cap, body_surface_cap;
    int64_t first, last;  ///< frames there are
    double fps;
    tl_refine_def refine;
    tl_refiner *refiner;  ///< finer frames; NULL: as they are
    int32_t refined;      ///< frames of it so far
} tl_export_source;

/// Names come in alphabetical order. TL_BAD_INPUT if there are no frames.
tl_status tl_export_source_open(const tl_allocator *alloc, const char *path, tl_export_source *out, tl_error *err);
void tl_export_source_close(tl_export_source *source);

/// From now on frames are finer, and only those from first to last can be asked for ("LEVELS" or "LEVELS:SCHEME"). Of a
/// folder alone.
tl_status tl_export_source_refine(tl_export_source *source, const char *refine, int64_t first, int64_t last,
                                  tl_error *err);

/// A cloth at a frame [m], y up.
tl_status tl_export_source_cloth(tl_export_source *source, int32_t cloth, int64_t frame, tl_obj *out, tl_error *err);

/// A body at a frame, with faces of nodes; *present false (and no mesh) if it is not there.
tl_status tl_export_source_body(tl_export_source *source, int32_t body, int64_t frame, tl_obj *out, bool *present,
                                tl_error *err);

/// What a cloth is made of, as far as the run tells: density 0 if it does not.
tl_usd_fabric tl_export_source_fabric(const tl_export_source *source, const char *cloth);

/// A mesh with room for so much; counts are set.
tl_status tl_obj_room(const tl_allocator *alloc, int32_t nodes, int32_t verts, int32_t faces, bool labels, tl_obj *out,
                      tl_error *err);
