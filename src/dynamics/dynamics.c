// dynamics/dynamics.c: the kinds by number.

#include "dynamics/dynamics.h"

static bool springs_follow(tl_remeshing_kind kind)
{
    return kind == TL_REMESHING_EDGE_TREES || kind == TL_REMESHING_NONE;
}

// Steps are the simulation's own (sim/springs.c): springs keep their meshes themselves, and nothing is compiled for
// them.
const tl_dynamics tl_dynamics_springs = {
    .name = "springs",
    .promise = "springs at interactive rates; with response push-out, which is no promise that nothing passes",
    .own_contact = true,
    .follows = springs_follow,
};

const tl_dynamics *tl_dynamics_of(tl_dynamics_kind kind)
{
    static const tl_dynamics *const kinds[] = {
        [TL_DYNAMICS_IMPLICIT] = &tl_dynamics_implicit,
        [TL_DYNAMICS_SPRINGS] = &tl_dynamics_springs,
        [TL_DYNAMICS_BARAFF_WITKIN] = &tl_dynamics_baraff_witkin,
    };
    return (size_t)kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : NULL;
}
