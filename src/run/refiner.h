// run/refiner.h: frames of a run (or one OBJ file) read and made finer in memory, for `toile refine` and exports.
#pragma once
#include "io/obj.h"
#include "post/finish.h"
#include "toile/refine.h"

typedef struct tl_refiner tl_refiner;

/// `def` is complete and borrowed as long as the refiner lives; `out` of it is not read. TL_BAD_INPUT: nothing to
/// refine.
tl_status tl_refiner_create(const tl_refine_def *def, tl_refiner **out, tl_error *err);
void tl_refiner_destroy(tl_refiner *r);  ///< NULL is fine

int32_t tl_refiner_frame_count(const tl_refiner *r);
int32_t tl_refiner_frame_id(const tl_refiner *r, int32_t index);  ///< ascending
int32_t tl_refiner_cloth_count(const tl_refiner *r);
const char *tl_refiner_cloth_name(const tl_refiner *r, int32_t cloth);

/// Reads and refines a frame. To be called in ascending order: what moves with time looks back at the frame before.
tl_status tl_refiner_frame(tl_refiner *r, int32_t index, tl_error *err);
const tl_fine_mesh *tl_refiner_cloth(const tl_refiner *r, int32_t cloth);  ///< of the last frame
/// The same as a mesh of a file, a copy that the caller frees.
tl_status tl_refiner_obj(const tl_refiner *r, int32_t cloth, tl_obj *out, tl_error *err);
/// Maps of the wrinkles of the last frame: PATH.height.png, PATH.normal.png, PATH.json.
tl_status tl_refiner_maps(tl_refiner *r, int32_t cloth, const char *path, tl_error *err);
const tl_refine_report *tl_refiner_report(const tl_refiner *r);  ///< so far, but for the seconds

int32_t tl_refiner_obstacle_count(const tl_refiner *r);
const char *tl_refiner_obstacle_name(const tl_refiner *r, int32_t obstacle);
/// The file that an obstacle was read from in the last frame; NULL: it stood still and was read before. `frame` gets
/// the number in its name.
const char *tl_refiner_obstacle_file(const tl_refiner *r, int32_t obstacle, int32_t *frame);
