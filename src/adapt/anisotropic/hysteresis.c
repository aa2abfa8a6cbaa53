// adapt/anisotropic/hysteresis.c: nodes that come and go in one place.
//
// Every operation changes the surface, and with it the curvature that the field of the next pass is made of. So a pass
// may split an edge, the next find the new node of no use and collapse it, the third split the edge again, for ever, in
// cloth that does not move at all. The cure is that of flips (FLIP_AGAIN in rules.c): what comes to be undone again
// needs more reason every time. A node remembers how often one was made here, and hands that to its neighbours when it
// goes; the next one made among them counts on. A node that has come k times goes only if the edges that this makes are
// as much shorter. Splits are never refused, so no edge stays too long. That ends it: a node that has come often enough
// stays, and nodes that stay leave fewer and fewer edges to be split.
//
// What is remembered fades when the reason has gone: where a node has moved on by a part of the size of its edges, so
// that cloth in motion becomes coarse as if there were no memory, and where the field asks for much longer edges though
// nothing was done beside the node since.

#include "adapt/anisotropic/remesh_impl.h"

#define AGAIN 0.5       // part of the length that was allowed to the one before
#define MOVED 0.1       // of the shortest edge that the field asks for
#define LONGER 2.0      // times the length of edges that the field asked for, in some direction
enum { AT_MOST = 30 };  // counts: by then nothing is short enough

_Static_assert(sizeof(unrest) == TL_UNREST * sizeof(double), "an attribute of that width");

static bool is_over(const unrest *u, tl_vec3 x, tl_sym2 size)
{
    const tl_vec3 d = tl_sub3(x, u->place);
    const tl_sym2 more = tl_sym2_madd(size, -1 / (LONGER * LONGER), u->size);  // positive definite unless it is longer
    return tl_dot3(d, d) * (size.xx + size.yy) > MOVED * MOVED || !(more.xx > 0 && tl_sym2_det(more) > 0);
}

void remesh_recall(const remesher *r)
{
    const tl_mesh *mesh = r->mesh;
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        unrest *u = remesh_unrest(r, n);
        if (!tl_alive(mesh, TL_NODES, n) || (u->made == 0 && u->lost == 0)) continue;
        const tl_sym2 size = remesh_tensor(r, mesh->node_vert[n]);
        if (is_over(u, mesh->pos[n], size))
            *u = (unrest){0};
        else if (u->size.xx == 0)
            u->size = size;
    }
}

double remesh_longest(const remesher *r, int32_t gone)
{
    const double made = fmin(AT_MOST, remesh_unrest(r, gone)->made);  // a state that was read may hold anything
    double longest = 1 - r->def->hysteresis;
    for (double k = 1; k < made; k++) longest *= AGAIN;
    return longest;
}

void remesh_note_change(const remesher *r, const ids *faces)
{
    for (int32_t i = 0; i < 3 * faces->count; i++)
        remesh_unrest(r, tl_face_node(r->mesh, faces->item[i / 3], i % 3))->size = (tl_sym2){0};
}

void remesh_note_split(const remesher *r, int32_t made, const ids *faces)
{
    const tl_mesh *mesh = r->mesh;
    double lost = 0;
    for (int32_t i = 0; i < 3 * faces->count; i++)
        lost = fmax(lost, remesh_unrest(r, tl_face_node(mesh, faces->item[i / 3], i % 3))->lost);
    *remesh_unrest(r, made) = (unrest){.made = fmin(AT_MOST, lost + 1), .lost = lost, .place = mesh->pos[made]};
    remesh_note_change(r, faces);
}

void remesh_note_collapse(const remesher *r, const unrest *gone, const ids *faces)
{
    const tl_mesh *mesh = r->mesh;
    const double lost = fmax(gone->made, gone->lost);
    for (int32_t i = 0; i < 3 * faces->count; i++) {
        const int32_t n = tl_face_node(mesh, faces->item[i / 3], i % 3);
        unrest *u = remesh_unrest(r, n);
        if (u->lost < lost) u->lost = lost, u->place = mesh->pos[n];
    }
    remesh_note_change(r, faces);
}
