// math/solver_notes.c: what a solver has learned, as bytes, and how large it is.

#include <string.h>

#include "base/fail.h"
#include "math/solver_impl.h"

typedef struct notes {
    tl_experience experience;
    int32_t current, solves, analysed;
} notes;
_Static_assert(sizeof(notes) <= TL_SOLVER_NOTES, "notes have outgrown their place");

void tl_solver_save_notes(const tl_solver *s, uint8_t out[TL_SOLVER_NOTES])
{
    notes n;
    memset(&n, 0, sizeof n);  // padding too: the bytes are hashed
    n.experience = s->experience;
    n.current = (int32_t)s->current, n.solves = s->solves, n.analysed = s->factor != NULL;
    memset(out, 0, TL_SOLVER_NOTES);
    memcpy(out, &n, sizeof n);
}

tl_status tl_solver_load_notes(tl_solver *s, const uint8_t in[TL_SOLVER_NOTES], tl_error *err)
{
    notes n;
    memcpy(&n, in, sizeof n);
    if (n.current < TL_SOLVER_AUTO || n.current > TL_SOLVER_CHOLMOD)
        return tl_fail(err, TL_BAD_INPUT, "solver: notes name kind %d", (int)n.current);
    tl_solver_restart(s);
    if (n.analysed && !s->factor) {
        TL_TRY(tl_cholesky_create(&s->alloc, s->matrix, s->def.kind != TL_SOLVER_DIRECT, &s->factor, err));
    } else if (!n.analysed && s->factor) {
        solver_drop_factor(s);
    }
    s->experience = n.experience;
    s->current = (tl_solver_kind)n.current, s->solves = n.solves;
    return TL_OK;
}

size_t tl_solver_memory(const tl_solver *s)
{
    return sizeof *s + (size_t)s->copied * sizeof *s->fixed + (s->factor ? tl_cholesky_describe(s->factor).memory : 0) +
           (s->levels ? tl_multilevel_memory(s->levels) : 0) + tl_bsr_memory(s->joint) + tl_bsr_memory(s->whole);
}
