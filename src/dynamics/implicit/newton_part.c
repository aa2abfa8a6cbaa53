// dynamics/implicit/newton_part.c: iterations in which only some nodes move.
//
// When Newton's method has converged, constraints (strain limits) are often still violated in a handful of faces.
// Meeting them concerns their neighbourhood only, so the same potential is minimised over the nodes there: descent on a
// part is descent on the whole. A part that is too small (a row of taut faces) grows; when it becomes a large part of
// all nodes, everything moves again.

#include "base/fail.h"
#include "math/bsr.h"
#include "math/pcg.h"
#include "dynamics/implicit/newton_impl.h"

#include <string.h>

#define LARGEST_PART 0.3  // of all nodes
#define LINEAR_PART 0.1   // a small system is worth a finer solve: of the tolerance otherwise
enum { PART_ITERATIONS = 2000 };

// Marks the nodes of violated constraints, or of faces that are crushed or drawn out, and `rings` rings around them.
static void mark_nodes(const newton *s, const tl_vec3 *x, int32_t *mark)
{
    const tl_elements *e = s->e;
    for (int32_t i = 0; i < e->node_count; i++) mark[i] = -1;
    const tl_term *term = s->constrained >= 0 ? &s->terms[s->constrained] : NULL;
    if (!s->repairing) term->kind->mark(term->self, x, mark);
    for (int32_t f = 0; f < e->face_count && s->repairing; f++)
        if (newton_is_degenerate(s, x, f))
            for (int k = 0; k < 3; k++) mark[e->face[f][k]] = 0;
    for (int32_t ring = 1; ring <= s->part.rings; ring++)
        for (int32_t f = 0; f < e->face_count; f++) {
            const int32_t *n = e->face[f];
            bool near = false;
            for (int k = 0; k < 3; k++) near = near || (mark[n[k]] >= 0 && mark[n[k]] < ring);
            for (int k = 0; k < 3 && near; k++)
                if (mark[n[k]] < 0) mark[n[k]] = ring;
        }
}

tl_status newton_choose_part(newton *s, const tl_vec3 *x, tl_error *err)
{
    newton_part *p = &s->part;
    const int32_t n = s->e->node_count;
    tl_elements_touch(s->e, NULL);
    if (!p->rows) p->rows = TL_SCRATCH(s->arena, int32_t, n);
    if (!p->place) p->place = TL_SCRATCH(s->arena, int32_t, n);
    if (!p->rows || !p->place) return tl_fail_memory(err, "Newton's method");
    mark_nodes(s, x, p->place);
    p->count = 0;
    for (int32_t i = 0; i < n; i++) {
        const bool moves = p->place[i] >= 0 && !s->e->fixed[i];
        p->place[i] = moves ? p->count : -1;
        if (moves) p->rows[p->count++] = i;
    }
    if (p->count > LARGEST_PART * n && !s->repairing) p->count = 0;
    if (p->count == 0) return TL_OK;
    tl_forces_angles(s->e, x, s->workers);
    TL_TRY(tl_touch(s->e, p->place, s->arena, &p->touched, err));
    tl_elements_touch(s->e, &p->touched);
    return TL_OK;
}

tl_status newton_solve_part(newton *s, double tolerance, tl_error *err)
{
    const newton_part *p = &s->part;
    const tl_arena_mark mark = tl_arena_save(s->arena);
    tl_bsr matrix, blocks;
    TL_TRY(tl_bsr_part(s->matrix, p->rows, p->count, p->place, s->arena, &matrix, err));
    const tl_bsr *all_blocks = NULL;
    TL_TRY(newton_blocks(s, &all_blocks, err));
    if (all_blocks) TL_TRY(tl_bsr_part(all_blocks, p->rows, p->count, p->place, s->arena, &blocks, err));
    if (all_blocks) matrix.extra.blocks = &blocks;
    tl_vec3 *b = TL_SCRATCH(s->arena, tl_vec3, p->count), *u = TL_SCRATCH(s->arena, tl_vec3, p->count);
    if (!b || !u) return tl_fail_memory(err, "Newton's method");
    for (int32_t k = 0; k < p->count; k++) b[k] = s->right[p->rows[k]], u[k] = s->direction[p->rows[k]];
    tl_solve_report solve;
    TL_TRY(tl_pcg_swept(&matrix, (tl_pcg_stop){LINEAR_PART * tolerance, PART_ITERATIONS}, b, u, s->ctx, &solve, err));
    memset(s->direction, 0, (size_t)s->e->node_count * sizeof *s->direction);
    for (int32_t k = 0; k < p->count; k++) s->direction[p->rows[k]] = u[k];
    tl_arena_release(s->arena, mark);
    return TL_OK;
}
