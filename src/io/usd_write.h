// io/usd_write.h: frames of cloths and bodies as one USD text file (.usda).
//
// Meshes with time samples: points, and faces where they change; material coordinates as primvars:st of the corners,
// velocities, numbers of nodes as primvars. Fabrics carry names of the proposal for deformable bodies (experimental).
#pragma once
#include "io/frame_points.h"
#include "io/text.h"

typedef struct tl_usd tl_usd;

typedef struct tl_usd_def {
    double fps;
    double scale;  ///< units of length per metre
    bool z_up;
    int64_t first, last;  ///< time codes
} tl_usd_def;

/// What a cloth is made of; of density 0 nothing is written.
typedef struct tl_usd_fabric {
    char name[64];
    double density, thickness;  ///< [kg/m^2], [m]
    double stretch[4];          ///< c11, c12, c22, c33 [N/m]
    double bend;                ///< [N m]
} tl_usd_fabric;

tl_status tl_usd_create(const tl_allocator *alloc, const tl_usd_def *def, tl_usd **out, tl_error *err);
void tl_usd_destroy(tl_usd *usd);

/// Every surface before the first frame; returns its number, -1 without memory. `fabric` may be NULL.
int32_t tl_usd_surface(tl_usd *usd, const char *name, bool body, uint32_t attributes, const tl_usd_fabric *fabric);

/// A surface at a frame; those that are left out at a frame are invisible there.
tl_status tl_usd_add(tl_usd *usd, int32_t surface, int64_t frame, const tl_frame_points *points, tl_error *err);

tl_status tl_usd_finish(tl_usd *usd, tl_buf *out, tl_error *err);
