// run/run_fabric.h: what the scene of a run says of a cloth's fabric.
#pragma once
#include "io/usd_write.h"

/// From DIR/scene.json; all zero where there is none, or no such cloth.
tl_usd_fabric tl_run_fabric(const tl_allocator *alloc, const char *dir, const char *cloth);
