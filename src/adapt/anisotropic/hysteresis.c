// adapt/anisotropic/hysteresis.c: nodes that are inserted and removed again and again (churn).
//
// Every operation changes the surface, and with it the curvature from which the next field is made. So one pass may
// split an edge, the next collapse the new node, the third split the edge again, for ever, in cloth at rest. The cure
// is that of flips (flip_growth in rules.c): undoing an operation takes more reason every time. A node counts how often
// one was inserted here, and passes the count to its neighbours when it is removed; the next node inserted among them
// goes on counting. A node inserted k times is removed only if the resulting edges are shorter by a factor that falls
// with k. Splits are never refused, so no edge stays too long. That terminates: a node inserted often enough stays, and
// nodes that stay leave fewer and fewer edges to split.
//
// Counts are dropped when their reason is gone: where a node has moved by a part of its edge length, so that cloth in
// motion coarsens as without memory, and where the field asks for much longer edges though nothing was done beside the
// node since.

#include "adapt/anisotropic/remesh_impl.h"

_Static_assert(sizeof(churn) == TL_CHURN_WIDTH * sizeof(double), "an attribute of that width");

static bool is_over(const tl_remesh_policy *k, const churn *u, tl_vec3 x, tl_sym2 size)
{
    const tl_vec3 d = tl_sub3(x, u->place);
    const tl_sym2 more =
        tl_sym2_madd(size, -1 / (k->churn_longer * k->churn_longer), u->size);  // positive definite unless it is longer
    return tl_dot3(d, d) * (size.xx + size.yy) > k->churn_moved * k->churn_moved ||
           !(more.xx > 0 && tl_sym2_det(more) > 0);
}

void remesh_age_churn(const remesher *r)
{
    const tl_mesh *mesh = r->mesh;
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        churn *u = remesh_churn(r, n);
        if (!tl_alive(mesh, TL_NODES, n) || (u->made == 0 && u->lost == 0)) continue;
        const tl_sym2 size = remesh_tensor(r, mesh->node_vert[n]);
        if (is_over(r->policy, u, mesh->pos[n], size))
            *u = (churn){0};
        else if (u->size.xx == 0)
            u->size = size;
    }
}

double remesh_longest_edge(const remesher *r, int32_t gone)
{
    const double made =
        fmin(r->policy->churn_max, remesh_churn(r, gone)->made);  // a state read from a file may hold anything
    double longest = 1 - r->def->hysteresis;
    for (double k = 1; k < made; k++) longest *= r->policy->churn_decay;
    return longest;
}

void remesh_note_change(const remesher *r, const ids *faces)
{
    for (int32_t i = 0; i < 3 * faces->count; i++)
        remesh_churn(r, tl_face_node(r->mesh, faces->item[i / 3], i % 3))->size = (tl_sym2){0};
}

void remesh_note_split(const remesher *r, int32_t made, const ids *faces)
{
    const tl_mesh *mesh = r->mesh;
    double lost = 0;
    for (int32_t i = 0; i < 3 * faces->count; i++)
        lost = fmax(lost, remesh_churn(r, tl_face_node(mesh, faces->item[i / 3], i % 3))->lost);
    *remesh_churn(r, made) =
        (churn){.made = fmin(r->policy->churn_max, lost + 1), .lost = lost, .place = mesh->pos[made]};
    remesh_note_change(r, faces);
}

void remesh_note_collapse(const remesher *r, const churn *gone, const ids *faces)
{
    const tl_mesh *mesh = r->mesh;
    const double lost = fmax(gone->made, gone->lost);
    for (int32_t i = 0; i < 3 * faces->count; i++) {
        const int32_t n = tl_face_node(mesh, faces->item[i / 3], i % 3);
        churn *u = remesh_churn(r, n);
        if (u->lost < lost) u->lost = lost, u->place = mesh->pos[n];
    }
    remesh_note_change(r, faces);
}
