// dynamics/dynamics.c: the kinds by number.

#include "dynamics/dynamics.h"

const tl_dynamics *tl_dynamics_of(tl_dynamics_kind kind)
{
    static const tl_dynamics *const kinds[] = {
        [TL_DYNAMICS_IMPLICIT] = &tl_dynamics_implicit,
        [TL_DYNAMICS_SPRINGS] = &tl_dynamics_springs,
        [TL_DYNAMICS_BARAFF_WITKIN] = &tl_dynamics_baraff_witkin,
    };
    return (size_t)kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : NULL;
}
