// dynamics/implicit/implicit.h: what the files of the kind `implicit` share.
#pragma once
#include "dynamics/dynamics.h"
#include "dynamics/implicit/newton.h"
#include "math/solver.h"
#include "math/vec3.h"

typedef struct tl_implicit {
    tl_allocator alloc;
    tl_bsr *matrix;     ///< NULL until elements are compiled
    tl_solver *solver;  ///< goes from mesh to mesh: it has learned what solves cost
    int32_t cut;        ///< steps are halved this often without being tried as a whole; forgotten with every epoch
    bool strained;      ///< the last step ended with faces beyond their strain limits; saved
} tl_implicit;

tl_status implicit_step(void *self, tl_dynamics_world *w, double begin, double dt, tl_step_report *report,
                        tl_error *err);
tl_status implicit_relax(void *self, tl_dynamics_world *w, double dt, tl_strain_limits *limits, tl_vec3 *x,
                         double *stored, tl_error *err);

/// The contacts in the potential; NULL: none.
static inline tl_contacts *implicit_contacts(const tl_dynamics_world *w)
{
    return w->response && w->responder->contacts ? w->responder->contacts(w->response) : NULL;
}
