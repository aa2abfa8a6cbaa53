// run/steps.h: steps.csv, a line per step of a run by springs: triangles and the time of each stage.
#pragma once
#include "run/run_impl.h"

/// Notes a step; `last` of its frame: also what a renderer needs, views and normals, is made and timed.
tl_status tl_steps_add(tl_runner *run, const tl_step_report *step, bool last, tl_error *err);

/// Lines noted so far go to the file, the first with a heading.
tl_status tl_steps_flush(tl_runner *run, tl_error *err);

/// On resume: keeps the lines of steps that the run goes on from.
tl_status tl_steps_truncate(tl_runner *run, tl_error *err);
