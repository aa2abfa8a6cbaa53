// io/frame_points.h: a surface at one frame, as writers of several formats take it.
#pragma once
#include "io/obj.h"
#include "toile/recording.h"

/// Borrowed; lengths in units of the file. Of a body the mesh has node_count, face (of nodes) and face_count alone.
typedef struct tl_frame_points {
    const tl_obj *mesh;
    const tl_vec3 *pos;  ///< in place of the mesh's own
    const tl_vec3 *vel;  ///< units a second; NULL: not known
    const float *attribute[TL_ATTRIBUTE_COUNT];
} tl_frame_points;
