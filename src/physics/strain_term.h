// physics/strain_term.h: strain limits as a term of the potential.
#pragma once
#include "physics/strain_limit.h"
#include "physics/term.h"

/// Limits that have begun the step; their trial multipliers become those of the answer. `tolerance`: excess left at
/// most. In the arena; `limits` and `elements` are borrowed.
tl_status tl_strain_term(tl_strain_limits *limits, const tl_elements *elements, double tolerance, tl_arena *arena,
                         tl_term *out, tl_error *err);
