// run/sweep_impl.h: parts of a sweep: the list of samples, and a sample's arrays.
#pragma once
#include <jansson.h>

#include "io/file.h"
#include "toile/sweep.h"

enum { TL_SWEEP_SAMPLES_MAX = 1000000 };

struct tl_sweep {
    tl_allocator alloc;
    char dir[TL_PATH_MAX], spec_dir[TL_PATH_MAX];
    json_t *samples;  ///< list of {"sample", "scene", "set": {key: value}}
    char **text;      ///< of each, as JSON
    int32_t frames;   ///< of every run; < 0: as the scene says
};

/// Reads the specification and expands it: sweep->samples, frames, spec_dir.
tl_status tl_sweep_expand(tl_sweep *sweep, const char *spec, tl_error *err);

/// Arrays of a finished run: DIR/arrays.npz. `facts` gets frames, faces, nodes of the last frame.
tl_status tl_sweep_arrays(const tl_sweep *sweep, const char *dir, json_t *facts, tl_error *err);
