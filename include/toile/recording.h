// toile/recording.h: read recordings (.toile): the frames of a run in one packed file, any frame at once.
//
// Written by tl_export (toile/export.h). Layout in docs/formats.md.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_recording tl_recording;  // opaque; one thread at a time

/// Opens a file and reads its index; frames are read when asked for. TL_BAD_INPUT if it is damaged or no recording.
TL_API tl_status tl_recording_open(const char *path, tl_recording **out, tl_error *err);
/// The same from memory, borrowed until the recording is closed. `name` is for messages.
TL_API tl_status tl_recording_open_memory(const char *name, const void *data, size_t size, tl_recording **out,
                                          tl_error *err);
TL_API void tl_recording_close(tl_recording *recording);  ///< NULL is fine

typedef struct tl_recording_facts {
    int32_t frames;       ///< how many
    int32_t first_frame;  ///< number of the first one in the run
    int32_t surfaces;     ///< cloths and bodies
    double fps;
    double scale;  ///< units of length per metre
    uint32_t z_up;
} tl_recording_facts;
TL_API tl_recording_facts tl_recording_facts_of(const tl_recording *recording);

TL_API const char *tl_recording_surface_name(const tl_recording *recording, int32_t surface);  ///< NULL: out of range
TL_API uint32_t tl_recording_surface_is_body(const tl_recording *recording, int32_t surface);

/// Numbers of nodes that a frame may carry. Bit i of a set stands for attribute i.
typedef enum tl_attribute {
    TL_ATTRIBUTE_STRAIN,   ///< principal strain of larger magnitude, signed
    TL_ATTRIBUTE_TENSION,  ///< larger principal strain where positive, else 0
    TL_ATTRIBUTE_CONTACT,  ///< distance along the normal to the next surface, 0.1 m if farther [m]
    TL_ATTRIBUTE_LEVEL,    ///< how often the largest face of the animation has been halved
    TL_ATTRIBUTE_COUNT,
} tl_attribute;
TL_API const char *tl_attribute_name(tl_attribute attribute);  ///< "strain", ..; NULL: out of range

/// A surface at one frame. Borrowed until the next call for the same surface.
typedef struct tl_recording_view {
    uint32_t present;  ///< 0: the surface is not there at this frame, all else is 0
    const tl_vec3 *pos;
    const tl_vec3 *vel;  ///< units of length per second; NULL: not recorded
    int32_t node_count;
    const tl_vec2 *uv;         ///< material coordinates [m]; NULL: a body
    const int32_t *vert_node;  ///< node under each vertex
    int32_t vert_count;
    const int32_t (*face)[3];   ///< vertices
    const int32_t *face_label;  ///< NULL: all 0
    int32_t face_count;
    const float *attribute[TL_ATTRIBUTE_COUNT];  ///< of the nodes; NULL: not recorded
    uint64_t shape;  ///< frames of a surface with the same number have the same uv, vert_node, face and face_label
} tl_recording_view;

/// Frame `index` counts from 0 to frames - 1.
TL_API tl_status tl_recording_frame(tl_recording *recording, int32_t index, int32_t surface, tl_recording_view *out,
                                    tl_error *err);

#ifdef __cplusplus
}
#endif
