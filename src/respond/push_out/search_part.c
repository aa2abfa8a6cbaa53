// respond/push_out/search_part.c: parts of a body that move as one, and lists of faces in cells.

#include <math.h>

#include "base/alloc.h"
#include "respond/push_out/search_impl.h"

#define FLATTEST 1e-3  // height over length of the triangle that tells where a part is

// ---- parts ----------------------------------------------------------------------------------------------------

static tl_frame frame_of(const tl_vec3 *x, const int32_t ref[3])
{
    const tl_vec3 o = x[ref[0]], first = tl_unit3_or(tl_sub3(x[ref[1]], o), (tl_vec3){1, 0, 0}),
                  up = tl_unit3_or(tl_cross3(first, tl_sub3(x[ref[2]], o)), (tl_vec3){0, 0, 1});
    return (tl_frame){o, {first, tl_cross3(up, first), up}};
}

// Three nodes far from each other. False: all are on a line.
static bool choose_refs(const tl_vec3 *rest, search_part *p)
{
    tl_vec3 middle = {0, 0, 0};
    for (int32_t i = 0; i < p->node_count; i++) middle = tl_madd3(middle, 1.0 / p->node_count, rest[p->node[i]]);
    double best[3] = {-1, -1, -1};
    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i < p->node_count; i++) {
            const tl_vec3 x = rest[p->node[i]], a = k > 0 ? rest[p->ref[0]] : middle;
            const double far =
                k < 2 ? tl_norm3(tl_sub3(x, a)) : tl_norm3(tl_cross3(tl_sub3(rest[p->ref[1]], a), tl_sub3(x, a)));
            if (far > best[k]) best[k] = far, p->ref[k] = p->node[i];
        }
    return best[2] > FLATTEST * best[1] * best[1];
}

tl_status search_part_make(const tl_allocator *alloc, const tl_search_def *def, const int32_t *list, int32_t count,
                           search_part *out, bool *fits, tl_error *err)
{
    *out = (search_part){0};
    *fits = false;
    uint8_t *mark = TL_CALLOC(alloc, uint8_t, def->node_count);
    if (!mark) return tl_fail_memory(err, "parts of a body");
    int32_t nodes = 0;
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            uint8_t *m = &mark[def->face[list ? list[i] : i][k]];
            nodes += !*m, *m = 1;
        }
    out->node_count = nodes;
    out->node = TL_ALLOC(alloc, int32_t, nodes), out->local = TL_ALLOC(alloc, tl_vec3, nodes);
    const bool allocated = out->node && out->local;
    for (int32_t v = 0, n = 0; allocated && v < def->node_count; v++)
        if (mark[v]) out->node[n++] = v;
    TL_FREE(alloc, mark, def->node_count);
    if (!allocated) return tl_fail_memory(err, "parts of a body");
    *fits = choose_refs(def->rest, out);
    if (*fits) search_part_turn(out, def->rest, (tl_vec3){0, 0, 0}, (tl_vec3){0, 0, 1});
    return TL_OK;
}

void search_part_free(const tl_allocator *alloc, search_part *p)
{
    TL_FREE(alloc, p->node, p->node_count);
    TL_FREE(alloc, p->local, p->node_count);
}

void search_part_turn(search_part *p, const tl_vec3 *rest, tl_vec3 origin, tl_vec3 along)
{
    const tl_frame ref = frame_of(rest, p->ref);
    const tl_frame at = tl_frame_along(origin, along);
    p->own.origin = tl_frame_into(&ref, origin);
    for (int k = 0; k < 3; k++)
        p->own.axis[k] = (tl_vec3){tl_dot3(at.axis[k], ref.axis[0]), tl_dot3(at.axis[k], ref.axis[1]),
                                   tl_dot3(at.axis[k], ref.axis[2])};
    for (int32_t i = 0; i < p->node_count; i++) p->local[i] = tl_frame_into(&at, rest[p->node[i]]);
    p->at = at, p->slack = 0;
}

void search_part_fit(search_part *p, const tl_vec3 *now)
{
    const tl_frame ref = frame_of(now, p->ref);
    p->at.origin = tl_frame_out_of(&ref, p->own.origin);
    for (int k = 0; k < 3; k++) p->at.axis[k] = tl_frame_turn_out(&ref, p->own.axis[k]);
    double most = 0;
    for (int32_t i = 0; i < p->node_count; i++) {
        const tl_vec3 d = tl_sub3(now[p->node[i]], tl_frame_out_of(&p->at, p->local[i]));
        most = fmax(most, tl_dot3(d, d));
    }
    p->slack = sqrt(most);
}

// ---- lists ----------------------------------------------------------------------------------------------------

void search_lists_put(search_lists *l, int32_t cell, int32_t face)
{
    if (!l->face)
        l->start[cell + 2]++;
    else
        l->face[l->start[cell + 1]++] = face;
}

tl_status search_lists_make(const tl_allocator *alloc, int32_t cells, const int32_t *face, int32_t count,
                            search_fill *fill, void *self, search_lists *out, tl_error *err)
{
    *out = (search_lists){.cells = cells};
    out->start = TL_CALLOC(alloc, int32_t, (size_t)cells + 2);
    if (!out->start) return tl_fail_memory(err, "cells of a body");
    for (int32_t i = 0; i < count; i++) fill(self, face ? face[i] : i, out);
    int64_t sum = 0;
    for (int32_t c = 0; c < cells; c++) sum += out->start[c + 2];
    if (sum > INT32_MAX) return tl_fail(err, TL_BAD_INPUT, "cells of a body: %lld entries", (long long)sum);
    for (int32_t c = 0; c < cells; c++) out->start[c + 2] += out->start[c + 1];
    out->face = TL_ALLOC(alloc, int32_t, sum);
    if (!out->face) return tl_fail_memory(err, "cells of a body");
    out->count = (int32_t)sum;
    for (int32_t i = 0; i < count; i++) fill(self, face ? face[i] : i, out);
    return TL_OK;
}

void search_lists_free(const tl_allocator *alloc, search_lists *l)
{
    TL_FREE(alloc, l->face, l->count);
    TL_FREE(alloc, l->start, (size_t)l->cells + 2);
}
