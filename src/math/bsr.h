// math/bsr.h: what the solvers need of the block matrix beyond math/solver.h.
#pragma once
#include "math/solver.h"

/// Bytes held by the matrix.
size_t tl_bsr_memory(const tl_bsr *matrix);
