// adapt/sqrt3/refine.c: open and close edges, make and remove centres, and the two questions built on them.
//
// Every change of the conforming mesh is offered to the editor before the hierarchy changes. Memory is reserved before
// that, so an edit that was done is never left half recorded.

#include <math.h>

#include "adapt/sqrt3/hierarchy_impl.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"

#define CORNER_LEAST                                                                                                   \
    0.25  // of a border edge, at least, from its ends to the foot of a centre: no slivers at sharp corners
#define LEAST_SHARE 0.02  // of the area of two children, at least, that each has: a flip that gives less is not done
enum { TRIS_PER_CHANGE = 4, VERTS_PER_CHANGE = 2 };

static tl_status reserve(tl_sqrt3 *h, int32_t layer, tl_error *err)
{
    tl_sqrt3_layer_data *l = &h->layer[layer];
    if (!TL_GROW(&h->alloc, l->tri, l->cap, (int64_t)l->count + TRIS_PER_CHANGE) ||
        !TL_GROW(&h->alloc, h->vert, h->vert_cap, (int64_t)h->vert_count + VERTS_PER_CHANGE) ||
        !TL_GROW(&h->alloc, h->node_link, h->node_cap, (int64_t)h->node_count + VERTS_PER_CHANGE))
        return tl_fail_memory(err, "a finer layer of triangles");
    return TL_OK;
}

static tl_status ask(const tl_sqrt3 *h, const tl_sqrt3_edit *edit, bool *done, tl_error *err)
{
    bool refused = false;
    *done = false;
    if (h->editor.apply) TL_TRY(h->editor.apply(h->editor.user, edit, &refused, err));
    *done = !refused;
    return TL_OK;
}

static tl_vec2 blend(tl_vec2 a, tl_vec2 b, double t) { return (tl_vec2){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}; }

// The vertex of a half that goes on the next layer.
static int32_t foot_of(const tl_sqrt3_tri *half) { return half->vert[tl_sqrt3_half_border(half) == 0 ? 1 : 2]; }
static int32_t tip_of(const tl_sqrt3_tri *half) { return half->vert[tl_sqrt3_half_border(half) == 0 ? 2 : 1]; }

// The half sewn to this one; TL_SQRT3_NONE on an outline.
static int32_t sewn_half(const tl_sqrt3_tri *half)
{
    const int32_t other = half->across[tl_sqrt3_half_border(half)];
    return other == TL_SQRT3_NONE ? TL_SQRT3_NONE : other / 3;
}

// ---- centres --------------------------------------------------------------------------------------------------

static tl_sqrt3_edit face_edit(const tl_sqrt3_tri *t, tl_sqrt3_edit_kind kind, int32_t centre)
{
    return (tl_sqrt3_edit){
        kind, {{t->vert[0], t->vert[1], t->vert[2], TL_SQRT3_NONE}}, {centre, TL_SQRT3_NONE}, 1.0 / 3};
}

// The edge from the corner of a half to its foot, with the vertex at two thirds.
static tl_sqrt3_edit half_edit(const tl_sqrt3 *h, int32_t layer, int32_t t, tl_sqrt3_edit_kind kind,
                               const int32_t centre[2])
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    tl_sqrt3_edit edit = {kind, {{a->vert[0], foot_of(a), tip_of(a), TL_SQRT3_NONE}}, {centre[0], centre[1]}, 2.0 / 3};
    if (sewn_half(a) != TL_SQRT3_NONE) {
        const tl_sqrt3_tri *b = tl_sqrt3_at(h, layer, sewn_half(a));
        edit.corner[1][0] = b->vert[0], edit.corner[1][1] = foot_of(b), edit.corner[1][2] = tip_of(b);
        edit.corner[1][3] = TL_SQRT3_NONE;
    }
    return edit;
}

static tl_status add_half_centre(tl_sqrt3 *h, int32_t layer, int32_t t, bool *done, tl_error *err)
{
    const int32_t side[2] = {t, sewn_half(tl_sqrt3_at(h, layer, t))};
    int32_t centre[2] = {TL_SQRT3_NONE, TL_SQRT3_NONE};
    for (int s = 0; s < 2 && side[s] != TL_SQRT3_NONE; s++) {
        const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, side[s]);
        const tl_vec2 uv = blend(h->vert[a->vert[0]].uv, h->vert[foot_of(a)].uv, 2.0 / 3);
        TL_TRY(tl_sqrt3_new_vert(h, uv, s ? h->vert[centre[0]].node : TL_SQRT3_NONE, &centre[s], err));
    }
    const tl_sqrt3_edit edit = half_edit(h, layer, t, TL_SQRT3_SPLIT_EDGE, centre);
    const tl_status status = ask(h, &edit, done, err);
    for (int s = 1; s >= 0; s--) {
        if (centre[s] == TL_SQRT3_NONE) continue;
        if (*done)
            tl_sqrt3_at(h, layer, side[s])->centre = centre[s];
        else
            tl_sqrt3_free_vert(h, centre[s], s == 0);
    }
    return status;
}

static tl_status add_centre(tl_sqrt3 *h, int32_t layer, int32_t t, bool *done, tl_error *err)
{
    *done = tl_sqrt3_at(h, layer, t)->centre != TL_SQRT3_NONE;
    if (*done) return TL_OK;
    if (tl_sqrt3_is_half(tl_sqrt3_at(h, layer, t))) return add_half_centre(h, layer, t, done, err);
    tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const tl_vec2 p = h->vert[a->vert[0]].uv, q = h->vert[a->vert[1]].uv, r = h->vert[a->vert[2]].uv;
    int32_t centre;
    TL_TRY(tl_sqrt3_new_vert(h, (tl_vec2){(p.x + q.x + r.x) / 3, (p.y + q.y + r.y) / 3}, TL_SQRT3_NONE, &centre, err));
    const tl_sqrt3_edit edit = face_edit(a, TL_SQRT3_SPLIT_FACE, centre);
    const tl_status status = ask(h, &edit, done, err);
    if (*done)
        a->centre = centre;
    else
        tl_sqrt3_free_vert(h, centre, true);
    return status;
}

// Takes the centre out again where no edge is open and nobody asks for children.
static tl_status drop_centre(tl_sqrt3 *h, int32_t layer, int32_t t, tl_error *err)
{
    tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    if (a->centre == TL_SQRT3_NONE || tl_sqrt3_any_open(a) || a->flags & TL_SQRT3_REFINED) return TL_OK;
    const int32_t sewn = tl_sqrt3_is_half(a) ? sewn_half(a) : TL_SQRT3_NONE;
    tl_sqrt3_tri *b = sewn == TL_SQRT3_NONE ? NULL : tl_sqrt3_at(h, layer, sewn);
    if (b && (tl_sqrt3_any_open(b) || b->flags & TL_SQRT3_REFINED)) return TL_OK;
    const int32_t centre[2] = {a->centre, b ? b->centre : TL_SQRT3_NONE};
    const tl_sqrt3_edit edit = tl_sqrt3_is_half(a) ? half_edit(h, layer, t, TL_SQRT3_JOIN_EDGE, centre)
                                                   : face_edit(a, TL_SQRT3_JOIN_FACE, a->centre);
    bool done;
    TL_TRY(ask(h, &edit, &done, err));
    if (!done) return TL_OK;
    a->centre = TL_SQRT3_NONE;
    if (b) b->centre = TL_SQRT3_NONE;
    if (b) tl_sqrt3_free_vert(h, centre[1], false);
    tl_sqrt3_free_vert(h, centre[0], true);
    return TL_OK;
}

// ---- children -------------------------------------------------------------------------------------------------

static void link_edges(tl_sqrt3 *h, int32_t layer, int32_t x, int32_t e, int32_t y, int32_t f)
{
    tl_sqrt3_at(h, layer, x)->across[e] = 3 * y + f;
    tl_sqrt3_at(h, layer, y)->across[f] = 3 * x + e;
}

// Beside the border of a half, a child has a border edge itself, sewn to the child of the other side if that exists.
static void link_border(tl_sqrt3 *h, int32_t layer, const tl_sqrt3_tri *half, int32_t x, int32_t e)
{
    const int32_t other = half->across[tl_sqrt3_half_border(half)];
    tl_sqrt3_at(h, layer + 1, x)->flags |= TL_SQRT3_BORDER << e;
    if (other == TL_SQRT3_NONE) return;
    tl_sqrt3_at(h, layer + 1, x)->flags |= TL_SQRT3_SEAM << e;
    const tl_sqrt3_tri *sewn = tl_sqrt3_at(h, layer, other / 3);
    const int32_t g = other % 3, y = e == 2 ? sewn->child[tl_sqrt3_prev(g)][1] : sewn->child[tl_sqrt3_next(g)][0];
    if (y != TL_SQRT3_NONE) link_edges(h, layer + 1, x, e, y, 2 - e);
}

// The child at the first vertex of edge `e` of its parent `t` has its edge 2 inside the parent, ..
static void link_first(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, int32_t x)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const int32_t prev = tl_sqrt3_prev(e);
    if (tl_sqrt3_is_half(a) && tl_sqrt3_is_border(a, prev))
        link_border(h, layer, a, x, 2);
    else if (a->child[prev][1] != TL_SQRT3_NONE)
        link_edges(h, layer + 1, x, 2, a->child[prev][1], 0);
}

// .. that at the second vertex its edge 0.
static void link_second(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, int32_t x)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const int32_t next = tl_sqrt3_next(e);
    if (tl_sqrt3_is_half(a) && tl_sqrt3_is_border(a, next))
        link_border(h, layer, a, x, 0);
    else if (a->child[next][0] != TL_SQRT3_NONE)
        link_edges(h, layer + 1, x, 0, a->child[next][0], 2);
}

static tl_sqrt3_tri bare_tri(int32_t a, int32_t b, int32_t c, int32_t parent0, int32_t parent1)
{
    const int32_t none = TL_SQRT3_NONE;
    return (tl_sqrt3_tri){
        {a, b, c}, {none, none, none}, {{none, none}, {none, none}, {none, none}}, {parent0, parent1}, none, 0};
}

static void remove_child(tl_sqrt3 *h, int32_t layer, int32_t x)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, x);
    for (int e = 0; e < 3; e++)
        if (a->across[e] != TL_SQRT3_NONE)
            tl_sqrt3_at(h, layer, a->across[e] / 3)->across[a->across[e] % 3] = TL_SQRT3_NONE;
    tl_sqrt3_free_tri(h, layer, x);
}

static bool is_bare(const tl_sqrt3 *h, int32_t layer, int32_t x)
{
    if (x == TL_SQRT3_NONE) return true;
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, x);
    return a->centre == TL_SQRT3_NONE && !(a->flags & TL_SQRT3_REFINED);
}

static void set_open(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, bool open)
{
    tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    if (open) {
        a->flags |= TL_SQRT3_OPEN << e;
    } else {
        a->flags &= ~(TL_SQRT3_OPEN << e);
        a->child[e][0] = a->child[e][1] = TL_SQRT3_NONE;
    }
}

// ---- inner edges ----------------------------------------------------------------------------------------------

static tl_sqrt3_edit flip_edit(const tl_sqrt3_tri *a, int32_t e, const tl_sqrt3_tri *b, bool back)
{
    const int32_t p = a->vert[e], q = a->vert[tl_sqrt3_next(e)];
    if (back) return (tl_sqrt3_edit){TL_SQRT3_FLIP, {{b->centre, a->centre, p, q}}, {-1, -1}, 0};
    return (tl_sqrt3_edit){TL_SQRT3_FLIP, {{p, q, a->centre, b->centre}}, {-1, -1}, 0};
}

static double doubled_area(const tl_sqrt3 *h, int32_t a, int32_t b, int32_t c)
{
    const tl_vec2 p = h->vert[a].uv, q = h->vert[b].uv, r = h->vert[c].uv;
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
}

// Where two triangles are very obtuse at one end of their edge, the line between their centres passes beyond it.
static bool would_fold(const tl_sqrt3 *h, const tl_sqrt3_edit *flip)
{
    const int32_t *c = flip->corner[0];
    const double one = doubled_area(h, c[0], c[3], c[2]), other = doubled_area(h, c[1], c[2], c[3]);
    return !(fmin(one, other) > LEAST_SHARE * (one + other));
}

static tl_status open_inner(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, tl_error *err)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const int32_t n = a->across[e] / 3, f = a->across[e] % 3;
    const tl_sqrt3_tri *b = tl_sqrt3_at(h, layer, n);
    const tl_sqrt3_edit edit = flip_edit(a, e, b, false);
    if (would_fold(h, &edit)) return TL_OK;
    bool done;
    TL_TRY(ask(h, &edit, &done, err));
    if (!done) return TL_OK;
    const int32_t p = a->vert[e], q = a->vert[tl_sqrt3_next(e)], ca = a->centre, cb = b->centre;
    int32_t x, y;
    TL_TRY(tl_sqrt3_new_tri(h, layer + 1, bare_tri(p, cb, ca, t, n), &x, err));
    TL_TRY(tl_sqrt3_new_tri(h, layer + 1, bare_tri(q, ca, cb, n, t), &y, err));
    set_open(h, layer, t, e, true);
    set_open(h, layer, n, f, true);
    tl_sqrt3_tri *at = tl_sqrt3_at(h, layer, t), *an = tl_sqrt3_at(h, layer, n);
    at->child[e][0] = an->child[f][1] = x;
    at->child[e][1] = an->child[f][0] = y;
    link_edges(h, layer + 1, x, 1, y, 1);
    link_first(h, layer, t, e, x), link_second(h, layer, n, f, x);
    link_second(h, layer, t, e, y), link_first(h, layer, n, f, y);
    return TL_OK;
}

static tl_status close_inner(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, tl_error *err)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const int32_t n = a->across[e] / 3, f = a->across[e] % 3, x = a->child[e][0], y = a->child[e][1];
    const tl_sqrt3_edit edit = flip_edit(a, e, tl_sqrt3_at(h, layer, n), true);
    bool done;
    TL_TRY(ask(h, &edit, &done, err));
    if (!done) return TL_OK;
    remove_child(h, layer + 1, y);
    remove_child(h, layer + 1, x);
    set_open(h, layer, t, e, false);
    set_open(h, layer, n, f, false);
    return TL_OK;
}

// ---- borders of even layers -----------------------------------------------------------------------------------

static double foot_parameter(const tl_sqrt3 *h, const tl_sqrt3_tri *t, int32_t e)
{
    const tl_vec2 a = h->vert[t->vert[e]].uv, b = h->vert[t->vert[tl_sqrt3_next(e)]].uv, c = h->vert[t->centre].uv;
    const double x = b.x - a.x, y = b.y - a.y, square = x * x + y * y;
    const double foot = square > 0 ? ((c.x - a.x) * x + (c.y - a.y) * y) / square : 0.5;
    return fmin(fmax(foot, CORNER_LEAST), 1 - CORNER_LEAST);
}

// On a seam the two feet differ: their mean serves both sides.
static double border_parameter(const tl_sqrt3 *h, const tl_sqrt3_tri *a, int32_t e, const tl_sqrt3_tri *b, int32_t f)
{
    const double foot = foot_parameter(h, a, e);
    return b ? 0.5 * (foot + 1 - foot_parameter(h, b, f)) : foot;
}

static tl_sqrt3_edit border_edit(const tl_sqrt3_tri *a, int32_t e, const tl_sqrt3_tri *b, int32_t f)
{
    const int32_t none = TL_SQRT3_NONE;
    tl_sqrt3_edit edit = {.corner = {{a->vert[e], a->vert[tl_sqrt3_next(e)], a->centre, none}}, .vert = {none, none}};
    if (b) {
        edit.corner[1][0] = b->vert[tl_sqrt3_next(f)], edit.corner[1][1] = b->vert[f];
        edit.corner[1][2] = b->centre, edit.corner[1][3] = none;
    }
    return edit;
}

// Two halves on one side of a border edge; `m` is the foot there.
static tl_status make_halves(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, int32_t m, tl_error *err)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const int32_t p = a->vert[e], q = a->vert[tl_sqrt3_next(e)], c = a->centre;
    const uint32_t kind = TL_SQRT3_HALF | (tl_sqrt3_is_seam(a, e) ? TL_SQRT3_SEAM | TL_SQRT3_BORDER : TL_SQRT3_BORDER);
    tl_sqrt3_tri first = bare_tri(p, m, c, t, TL_SQRT3_NONE), second = bare_tri(q, c, m, TL_SQRT3_NONE, t);
    first.flags = kind;
    second.flags = TL_SQRT3_HALF | (kind & ~(uint32_t)TL_SQRT3_HALF) << 2;
    int32_t x, y;
    TL_TRY(tl_sqrt3_new_tri(h, layer + 1, first, &x, err));
    TL_TRY(tl_sqrt3_new_tri(h, layer + 1, second, &y, err));
    set_open(h, layer, t, e, true);
    tl_sqrt3_tri *at = tl_sqrt3_at(h, layer, t);
    at->child[e][0] = x, at->child[e][1] = y;
    link_edges(h, layer + 1, x, 1, y, 1);
    link_first(h, layer, t, e, x);
    link_second(h, layer, t, e, y);
    return TL_OK;
}

static tl_status open_border(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, tl_error *err)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const int32_t n = a->across[e] == TL_SQRT3_NONE ? TL_SQRT3_NONE : a->across[e] / 3, f = a->across[e] % 3;
    const tl_sqrt3_tri *b = n == TL_SQRT3_NONE ? NULL : tl_sqrt3_at(h, layer, n);
    tl_sqrt3_edit edit = border_edit(a, e, b, f);
    edit.kind = TL_SQRT3_SPLIT_EDGE;
    edit.t = border_parameter(h, a, e, b, f);
    for (int s = 0; s < (b ? 2 : 1); s++) {
        const tl_vec2 uv = blend(h->vert[edit.corner[s][0]].uv, h->vert[edit.corner[s][1]].uv, edit.t);
        TL_TRY(tl_sqrt3_new_vert(h, uv, s ? h->vert[edit.vert[0]].node : TL_SQRT3_NONE, &edit.vert[s], err));
    }
    bool done;
    const tl_status status = ask(h, &edit, &done, err);
    if (!done) {
        if (b) tl_sqrt3_free_vert(h, edit.vert[1], false);
        tl_sqrt3_free_vert(h, edit.vert[0], true);
        return status;
    }
    TL_TRY(make_halves(h, layer, t, e, edit.vert[0], err));
    if (n == TL_SQRT3_NONE) return TL_OK;
    TL_TRY(make_halves(h, layer, n, f, edit.vert[1], err));
    const tl_sqrt3_tri *at = tl_sqrt3_at(h, layer, t), *an = tl_sqrt3_at(h, layer, n);
    link_edges(h, layer + 1, at->child[e][0], 0, an->child[f][1], 2);
    link_edges(h, layer + 1, at->child[e][1], 2, an->child[f][0], 0);
    return TL_OK;
}

static tl_status close_border(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, tl_error *err)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const int32_t n = a->across[e] == TL_SQRT3_NONE ? TL_SQRT3_NONE : a->across[e] / 3, f = a->across[e] % 3;
    const tl_sqrt3_tri *b = n == TL_SQRT3_NONE ? NULL : tl_sqrt3_at(h, layer, n);
    tl_sqrt3_edit edit = border_edit(a, e, b, f);
    edit.kind = TL_SQRT3_JOIN_EDGE;
    edit.t = border_parameter(h, a, e, b, f);
    edit.vert[0] = foot_of(tl_sqrt3_at(h, layer + 1, a->child[e][0]));
    if (b) edit.vert[1] = foot_of(tl_sqrt3_at(h, layer + 1, b->child[f][0]));
    bool done;
    TL_TRY(ask(h, &edit, &done, err));
    if (!done) return TL_OK;
    for (int s = b ? 1 : 0; s >= 0; s--) {
        const int32_t side = s ? n : t, g = s ? f : e;
        const tl_sqrt3_tri *c = tl_sqrt3_at(h, layer, side);
        const int32_t x = c->child[g][0], y = c->child[g][1];
        remove_child(h, layer + 1, y);
        remove_child(h, layer + 1, x);
        set_open(h, layer, side, g, false);
        tl_sqrt3_free_vert(h, edit.vert[s], s == 0);
    }
    return TL_OK;
}

// ---- the edge between two halves ------------------------------------------------------------------------------

// The halves of one border edge by role, on each side of a seam; [1] is TL_SQRT3_NONE on an outline.
typedef struct halves {
    int32_t first[2], second[2];
} halves;

static halves halves_of(const tl_sqrt3 *h, int32_t layer, int32_t t)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const int32_t twin = a->across[1] / 3;
    const bool is_first = tl_sqrt3_half_border(a) == 0;
    halves out = {{is_first ? t : twin, TL_SQRT3_NONE}, {is_first ? twin : t, TL_SQRT3_NONE}};
    out.second[1] = sewn_half(tl_sqrt3_at(h, layer, out.first[0]));
    out.first[1] = sewn_half(tl_sqrt3_at(h, layer, out.second[0]));
    return out;
}

// Edge from the centre of one half to that of the other, with their foot on it.
static tl_sqrt3_edit twin_edit(const tl_sqrt3 *h, int32_t layer, const halves *s, tl_sqrt3_edit_kind kind)
{
    const tl_sqrt3_tri *p = tl_sqrt3_at(h, layer, s->first[0]), *q = tl_sqrt3_at(h, layer, s->second[0]);
    const tl_vec2 a = h->vert[p->centre].uv, b = h->vert[q->centre].uv, m = h->vert[foot_of(p)].uv;
    const double whole = tl_hypot(b.x - a.x, b.y - a.y), part = tl_hypot(m.x - a.x, m.y - a.y);
    tl_sqrt3_edit edit = {kind,
                          {{p->centre, q->centre, tip_of(p), TL_SQRT3_NONE}},
                          {foot_of(p), TL_SQRT3_NONE},
                          whole > 0 ? part / whole : 0.5};
    if (s->first[1] != TL_SQRT3_NONE) {
        const tl_sqrt3_tri *u = tl_sqrt3_at(h, layer, s->second[1]), *v = tl_sqrt3_at(h, layer, s->first[1]);
        edit.corner[1][0] = u->centre, edit.corner[1][1] = v->centre, edit.corner[1][2] = tip_of(u);
        edit.corner[1][3] = TL_SQRT3_NONE;
        edit.vert[1] = foot_of(u);
    }
    return edit;
}

static tl_status open_twin(tl_sqrt3 *h, int32_t layer, int32_t t, tl_error *err)
{
    const halves s = halves_of(h, layer, t);
    const tl_sqrt3_edit edit = twin_edit(h, layer, &s, TL_SQRT3_JOIN_EDGE);
    bool done;
    TL_TRY(ask(h, &edit, &done, err));
    if (!done) return TL_OK;
    int32_t x[2] = {TL_SQRT3_NONE, TL_SQRT3_NONE};
    for (int k = 0; k < 2 && s.first[k] != TL_SQRT3_NONE; k++) {
        const tl_sqrt3_tri *p = tl_sqrt3_at(h, layer, s.first[k]), *q = tl_sqrt3_at(h, layer, s.second[k]);
        tl_sqrt3_tri child = bare_tri(tip_of(p), p->centre, q->centre, s.second[k], s.first[k]);
        child.flags = (TL_SQRT3_BORDER | (s.first[1] != TL_SQRT3_NONE ? TL_SQRT3_SEAM : 0)) << 1;
        TL_TRY(tl_sqrt3_new_tri(h, layer + 1, child, &x[k], err));
        set_open(h, layer, s.first[k], 1, true);
        set_open(h, layer, s.second[k], 1, true);
        tl_sqrt3_at(h, layer, s.first[k])->child[1][1] = x[k];
        tl_sqrt3_at(h, layer, s.second[k])->child[1][0] = x[k];
        link_second(h, layer, s.first[k], 1, x[k]);
        link_first(h, layer, s.second[k], 1, x[k]);
    }
    if (x[1] != TL_SQRT3_NONE) link_edges(h, layer + 1, x[0], 1, x[1], 1);
    return TL_OK;
}

static tl_status close_twin(tl_sqrt3 *h, int32_t layer, int32_t t, tl_error *err)
{
    const halves s = halves_of(h, layer, t);
    const tl_sqrt3_edit edit = twin_edit(h, layer, &s, TL_SQRT3_SPLIT_EDGE);
    bool done;
    TL_TRY(ask(h, &edit, &done, err));
    if (!done) return TL_OK;
    for (int k = 1; k >= 0; k--) {
        if (s.first[k] == TL_SQRT3_NONE) continue;
        remove_child(h, layer + 1, tl_sqrt3_at(h, layer, s.first[k])->child[1][1]);
        set_open(h, layer, s.first[k], 1, false);
        set_open(h, layer, s.second[k], 1, false);
    }
    return TL_OK;
}

// ---- refine ---------------------------------------------------------------------------------------------------

// The triangles whose children one edge is: those on both sides of it, and of the seam beside it.
static int claimants(const tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, int32_t out[4])
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    int count = 0;
    if (tl_sqrt3_is_half(a) && e == 1) {
        const halves s = halves_of(h, layer, t);
        for (int k = 0; k < 2 && s.first[k] != TL_SQRT3_NONE; k++)
            out[count++] = s.first[k], out[count++] = s.second[k];
        return count;
    }
    out[count++] = t;
    if (a->across[e] != TL_SQRT3_NONE) out[count++] = a->across[e] / 3;
    return count;
}

static tl_status open_edge(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, tl_error *err)
{
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    const bool half = tl_sqrt3_is_half(a), border = tl_sqrt3_is_border(a, e);
    if (tl_sqrt3_is_open(a, e) || (half && border)) return TL_OK;
    if (a->across[e] == TL_SQRT3_NONE && (!border || tl_sqrt3_is_seam(a, e))) return TL_OK;  // not to be had yet
    TL_TRY(reserve(h, layer + 1, err));
    int32_t all[4];
    const int count = claimants(h, layer, t, e, all);
    for (int i = 0; i < count; i++) {
        bool done;
        TL_TRY(reserve(h, layer + 1, err));
        TL_TRY(add_centre(h, layer, all[i], &done, err));
        if (!done) return TL_OK;
    }
    TL_TRY(reserve(h, layer + 1, err));
    if (half && e == 1) return open_twin(h, layer, t, err);
    return border ? open_border(h, layer, t, e, err) : open_inner(h, layer, t, e, err);
}

// Neighbours across edges 0 and 2 are children of the parent that holds the edge; across edge 1 they always exist. At a
// seam beside the border of a half they are children of the half that is sewn to it.
static tl_status make_neighbours(tl_sqrt3 *h, int32_t layer, int32_t t, tl_error *err)
{
    for (int32_t e = 0; e < 3 && layer > 0; e += 2) {
        const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
        if (a->across[e] != TL_SQRT3_NONE || (tl_sqrt3_is_border(a, e) && !tl_sqrt3_is_seam(a, e))) continue;
        int32_t parent = a->parent[e == 0 ? 1 : 0];
        if (tl_sqrt3_is_border(a, e)) parent = sewn_half(tl_sqrt3_at(h, layer - 1, parent));
        TL_TRY(tl_sqrt3_refine(h, layer - 1, parent, err));
    }
    return TL_OK;
}

tl_status tl_sqrt3_refine(tl_sqrt3 *h, int32_t layer, int32_t tri, tl_error *err)
{
    if (layer < 0 || layer + 1 >= h->layers) return TL_OK;
    TL_ASSERT(tl_sqrt3_at(h, layer, tri)->flags & TL_SQRT3_LIVE, "a dead triangle is to be refined");
    tl_sqrt3_at(h, layer, tri)->flags |= TL_SQRT3_REFINED;
    TL_TRY(make_neighbours(h, layer, tri, err));
    for (int32_t e = 0; e < 3; e++) TL_TRY(open_edge(h, layer, tri, e, err));
    return TL_OK;
}

// ---- coarsen --------------------------------------------------------------------------------------------------

static bool wanted_by_others(const tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e)
{
    int32_t all[4];
    const int count = claimants(h, layer, t, e, all);
    for (int i = 0; i < count; i++)
        if (all[i] != t && tl_sqrt3_at(h, layer, all[i])->flags & TL_SQRT3_REFINED) return true;
    return false;
}

static bool has_grandchildren(const tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e)
{
    const bool twin = tl_sqrt3_is_half(tl_sqrt3_at(h, layer, t)) && e == 1;
    int32_t all[4];
    const int count = claimants(h, layer, t, e, all);
    for (int i = 0; i < count; i++) {
        const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, all[i]);
        const int32_t f = twin || all[i] == t ? e : tl_sqrt3_at(h, layer, t)->across[e] % 3;
        if (!is_bare(h, layer + 1, a->child[f][0]) || !is_bare(h, layer + 1, a->child[f][1])) return true;
    }
    return false;
}

static tl_status close_edge(tl_sqrt3 *h, int32_t layer, int32_t t, int32_t e, tl_error *err)
{
    int32_t all[4];
    const int count = claimants(h, layer, t, e, all);
    const tl_sqrt3_tri *a = tl_sqrt3_at(h, layer, t);
    if (tl_sqrt3_is_half(a) && e == 1)
        TL_TRY(close_twin(h, layer, t, err));
    else if (tl_sqrt3_is_border(a, e))
        TL_TRY(close_border(h, layer, t, e, err));
    else
        TL_TRY(close_inner(h, layer, t, e, err));
    for (int i = 0; i < count; i++)
        if (all[i] != t) TL_TRY(drop_centre(h, layer, all[i], err));
    return TL_OK;
}

tl_status tl_sqrt3_coarsen(tl_sqrt3 *h, int32_t layer, int32_t tri, tl_error *err)
{
    if (layer < 0 || layer >= h->layers) return TL_OK;
    TL_ASSERT(tl_sqrt3_at(h, layer, tri)->flags & TL_SQRT3_LIVE, "a dead triangle is to be coarsened");
    bool close[3];
    for (int32_t e = 0; e < 3; e++) {
        close[e] = tl_sqrt3_is_open(tl_sqrt3_at(h, layer, tri), e) && !wanted_by_others(h, layer, tri, e);
        if (close[e] && has_grandchildren(h, layer, tri, e)) return TL_OK;
    }
    tl_sqrt3_at(h, layer, tri)->flags &= ~(uint32_t)TL_SQRT3_REFINED;
    for (int32_t e = 2; e >= 0; e--)
        if (close[e]) TL_TRY(close_edge(h, layer, tri, e, err));
    return drop_centre(h, layer, tri, err);
}
