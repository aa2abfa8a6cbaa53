// run/run_start.h: the start of a run: may it begin from here, and if not, a picture of why.
#pragma once
#include "scene/scene.h"
#include "toile/body.h"

/// tl_sim_start, and if surfaces cross, dir/intersections.obj shows the faces concerned in colour and the message names
/// it. Touches nothing else in `dir`, which is made if missing. When the start is good, an overlay of an earlier
/// attempt goes.
tl_status tl_run_start(const tl_scene *scene, tl_sim *sim, const char *dir, tl_start_report *report, tl_error *err);
