// run/export_stream.h: frame after frame of the cloths and bodies of an export: read, resampled, with numbers of the
// nodes, in units of the file.
#pragma once
#include "run/export_source.h"
#include "run/resample.h"
#include "toile/export.h"

/// A cloth at a frame.
typedef struct tl_export_cloth {
    tl_obj own;          ///< as it was read
    const tl_obj *mesh;  ///< own, or the mesh for all frames
    tl_places *places;   ///< of own
    tl_vec3 *pos, *vel;  ///< of mesh, in units of the file; vel NULL: not asked for
    float *value[TL_ATTRIBUTE_COUNT];
    int32_t node_count;  ///< of the arrays above
} tl_export_cloth;

typedef struct tl_export_body {
    tl_obj mesh;
    bool present;
} tl_export_body;

typedef struct tl_export_frame {
    int64_t frame;
    tl_export_cloth *cloth;
    tl_export_body *body;
} tl_export_frame;

/// What is known of a cloth over all frames.
typedef struct tl_export_track {
    int32_t source;      ///< number in the source
    int32_t panels;      ///< of the cloth
    int32_t *panel;      ///< frame by frame: which panel of the first frame each of its panels is
    int32_t most_faces;  ///< of any frame
    int64_t finest;      ///< which
    tl_obj fixed;        ///< the mesh for all frames, if resampled
    int32_t *fixed_panel;
    tl_resampler *resampler;
    int32_t halvings;
    bool changes;        ///< frames have different meshes
    int64_t changes_at;  ///< the first with another mesh than the one before
    int32_t faces_before, faces_there;
} tl_export_track;

typedef struct tl_export_stream {
    tl_allocator alloc;
    const tl_export_def *def;
    tl_export_source source;
    int64_t first, last;
    tl_export_track *track;
    int32_t track_count, body_count;
    double largest;  ///< face of any frame, in the material [m^2]
    tl_resample_error error;
} tl_export_stream;

/// Looks through all frames. `cloth` NULL: all of them. Close it whatever comes of it.
tl_status tl_export_stream_open(tl_export_stream *stream, const tl_export_def *def, tl_error *err);
void tl_export_stream_close(tl_export_stream *stream);

/// Frames in turn, from first to last: `use` is called with each, velocities and numbers included.
typedef tl_status (*tl_export_use)(void *user, const tl_export_stream *stream, const tl_export_frame *frame,
                                   tl_error *err);
tl_status tl_export_stream_run(tl_export_stream *stream, tl_export_use use, void *user, tl_error *err);

/// tl_frame_points of a cloth of the frame.
tl_frame_points tl_export_points(const tl_export_cloth *cloth);
