// run/folder.h: the layout of a run's folder: names of its files, and what is there.
#pragma once
#include "io/file.h"

#define TL_REFINED_FILE "refined.json"  // of finer frames: how they were made

/// dir/obstacles/000012_table.obj
tl_status tl_obstacle_path(const char *dir, int64_t frame, const char *name, char out[TL_PATH_MAX], tl_error *err);

/// dir/frames/000012_shirt.obj
tl_status tl_frame_path(const char *dir, int64_t frame, const char *cloth, char out[TL_PATH_MAX], tl_error *err);

/// "000012_shirt.obj" into its parts; false if it is no frame.
bool tl_frame_name_parse(const char *name, int64_t *frame, char cloth[64]);

/// Calls `visit` for every frame file in dir/frames, in no order; stops when it returns false. A missing folder is
/// empty.
typedef bool (*tl_frame_visit)(void *user, int64_t frame, const char *cloth);
tl_status tl_frames_visit(const char *dir, tl_frame_visit visit, void *user, tl_error *err);
tl_status tl_obstacles_visit(const char *dir, tl_frame_visit visit, void *user, tl_error *err);  ///< of dir/obstacles
