// math/multilevel.h: a preconditioner for conjugate gradients whose iteration count hardly grows with the
// mesh.
//
// Smoothed aggregation (Vanek, Mandel and Brezina 1996; for cloth Tamstorf, Jones and McCormick 2015):
// patches of nodes move as rigid bodies on the next level, six unknowns each, and so on until a level is
// small enough to factor. Memory and work are linear in the rows.
#pragma once
#include "math/pcg.h"
#include "math/solver.h"

typedef struct tl_multilevel tl_multilevel;

/// TL_AGGREGATES_PLAIN leaves the motions of the patches as they are. Levels cost a fifth then, and a matrix whose
/// pattern changes all the time can have new ones at every solve; they take more iterations where stiffness spreads
/// far.
typedef enum tl_aggregates { TL_AGGREGATES_SMOOTH, TL_AGGREGATES_PLAIN } tl_aggregates;

/// Builds the levels for the pattern and the values of `matrix` now. `fixed` may be NULL. `matrix` is
/// borrowed.
tl_status tl_multilevel_create(const tl_allocator *alloc, const tl_bsr *matrix, tl_aggregates aggregates,
                               const uint8_t *fixed, const tl_vec3 *pos, tl_workers *workers, tl_multilevel **out,
                               tl_error *err);
void tl_multilevel_destroy(tl_multilevel *ml);  ///< NULL is fine

/// New values, same pattern. `deep` also renews the coarse levels (the cost of some ten products); without it
/// only the smoother follows the matrix, which is enough while the matrix changes little. Allocates nothing.
tl_status tl_multilevel_update(tl_multilevel *ml, const uint8_t *fixed, const tl_vec3 *pos, bool deep,
                               tl_workers *workers, tl_error *err);

/// One symmetric cycle: z is about A^-1 r.
void tl_multilevel_apply(void *ml, tl_workers *workers, const tl_vec3 *r, tl_vec3 *z);

size_t tl_multilevel_memory(const tl_multilevel *ml);
int32_t tl_multilevel_levels(const tl_multilevel *ml);
