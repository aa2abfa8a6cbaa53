// io/overlay.h: meshes with some faces in colour, as OBJ, to show where something is wrong.
#pragma once
#include "toile/base.h"

/// Why a face is shown in colour; where there are several reasons the larger is shown.
typedef enum tl_overlay_mark {
    TL_MARK_NONE,        ///< grey
    TL_MARK_STRAIN,      ///< green: strain over the limit
    TL_MARK_INVERTED,    ///< blue
    TL_MARK_DEGENERATE,  ///< magenta
    TL_MARK_PINCHED,     ///< yellow: through a body at a pinched node
    TL_MARK_BODY,        ///< orange: cloth and body cross
    TL_MARK_CLOTH,       ///< red: cloth and cloth cross
} tl_overlay_mark;

/// One mesh; all arrays are borrowed.
typedef struct tl_overlay_mesh {
    const char *name;
    const tl_vec3 *pos;
    int32_t node_count;
    const int32_t (*face)[3];  ///< nodes; faces with a node that is not finite are left out
    int32_t face_count;
    const uint8_t *mark;  ///< tl_overlay_mark per face; NULL: all grey
} tl_overlay_mesh;

/// Writes `v x y z r g b` and `f` lines, one `o` per mesh. Marked faces get corners of their own, so colours do not run
/// into their neighbours.
tl_status tl_overlay_write(const char *path, const tl_overlay_mesh *meshes, int32_t mesh_count, tl_error *err);
