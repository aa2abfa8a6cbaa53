// adapt/anisotropic/clearance_budget.c: how much clearance faces have left, known only as well as needed.
//
// Clearance is measured per face, and a bound on a distance is much cheaper than its value: anything farther away than
// an operation moves the surface need not be visited. So each face has a lower bound, which may be exact. Faces made by
// an operation have the least clearance of those they replace, less the move: a budget with parents. Where a bound is
// too small to decide, the parents' bounds are refined, down to faces as they were measured, which are searched farther
// out. Decisions are those of exact numbers.

#include <string.h>

#include "adapt/anisotropic/remesh_impl.h"
#include "base/alloc.h"

enum { DEEPEST = 64 };  // generations of parents; then a budget is made exact

#define ROUNDING 1.0001  // parents are asked for a little more than needed: rounding of the difference

box remesh_span(const remesher *r, int32_t f)
{
    if (r->budget[f] != TL_NONE) return r->budgets.item[r->budget[f]].span;
    const tl_vec3 *pos = r->mesh->pos;
    const tl_vec3 x[3] = {pos[tl_face_node(r->mesh, f, 0)], pos[tl_face_node(r->mesh, f, 1)],
                          pos[tl_face_node(r->mesh, f, 2)]};
    return box_of(x);
}

static int32_t add(remesher *r, budget b)
{
    budgets *all = &r->budgets;
    if (!TL_GROW(&r->mesh->alloc, all->item, all->cap, all->count + 1)) return TL_NONE;
    all->item[all->count] = b;
    return all->count++;
}

int32_t remesh_budget(remesher *r, int32_t f)
{
    if (r->budget[f] != TL_NONE) return r->budget[f];
    budget b = {.span = remesh_span(r, f), .face = f, .left = {1e30, 1e30}};
    if (!r->def->measure_clearance) {
        b.exact[0] = b.exact[1] = true;
        if (r->attrs.clearance != TL_NONE)
            memcpy(b.left, tl_mesh_attr_doubles(r->mesh, TL_FACES, r->attrs.clearance) + 2 * (size_t)f, sizeof b.left);
    }
    return r->budget[f] = add(r, b);
}

// Refines the clearance until it is at least `need`, or exact.
static void ask(remesher *r, int32_t index, tl_clearance_kind what, double need)
{
    budget *b = &r->budgets.item[index];
    if (b->exact[what] || (b->asked[what] && b->left[what] >= need)) return;
    b->asked[what] = true;
    if (b->face != TL_NONE) {
        const double enough = r->policy->clearance_ahead * need;
        b->left[what] = r->def->measure_clearance(r->def->renew_self, b->face, what, enough);
        b->exact[what] = b->left[what] < enough;
        return;
    }
    double least = INFINITY, exact = INFINITY;
    for (int32_t i = 0; i < b->count; i++) {
        const int32_t p = r->budgets.parents.item[b->first + i];
        ask(r, p, what, ROUNDING * (need + b->moves));
        const budget *parent = &r->budgets.item[p];
        least = fmin(least, parent->left[what]);
        if (parent->exact[what]) exact = fmin(exact, parent->left[what]);
    }
    b->left[what] = least - b->moves;
    b->exact[what] = exact <= least;
}

double remesh_budget_left(remesher *r, int32_t index, tl_clearance_kind what, double need)
{
    ask(r, index, what, need);
    return r->budgets.item[index].left[what];
}

int32_t remesh_spend_clearance(remesher *r, const int32_t *parents, int32_t count, double moves, double bodies)
{
    budgets *all = &r->budgets;
    budget b = {.face = TL_NONE, .first = all->parents.count, .count = count, .moves = moves};
    for (int32_t i = 0; i < count; i++) {
        if (!remesh_push(r, &all->parents, parents[i])) return TL_NONE;
        b.span = i == 0 ? all->item[parents[0]].span : box_of_both(b.span, all->item[parents[i]].span);
        if (all->item[parents[i]].depth >= b.depth) b.depth = all->item[parents[i]].depth + 1;
    }
    if (bodies >= 0) b.left[TL_CLEARANCE_BODIES] = bodies, b.exact[TL_CLEARANCE_BODIES] = true;
    const int32_t made = add(r, b);
    if (made == TL_NONE || b.depth < DEEPEST) return made;
    for (int what = 0; what < 2; what++) remesh_budget_left(r, made, (tl_clearance_kind)what, INFINITY);
    all->item[made].depth = 0, all->item[made].count = 0;
    return made;
}

void remesh_write_clearance(remesher *r)
{
    double *out = tl_mesh_attr_doubles(r->mesh, TL_FACES, r->attrs.clearance);
    for (int32_t f = 0; f < r->mesh->slots[TL_FACES].count; f++) {
        const int32_t b = tl_alive(r->mesh, TL_FACES, f) ? remesh_budget(r, f) : TL_NONE;
        for (int what = 0; what < 2 && b != TL_NONE; what++)
            out[2 * (size_t)f + (size_t)what] = remesh_budget_left(r, b, (tl_clearance_kind)what, INFINITY);
    }
}

void remesh_forget_clearance(remesher *r)
{
    r->budgets.count = r->budgets.parents.count = 0;
    for (int32_t f = 0; f < r->budget_cap; f++) r->budget[f] = TL_NONE;
}
