// run/render_seams.c: a seam is an edge in space whose two faces lie on different vertices of the material there.

#include "run/render_seams.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "mesh/edges.h"

/// Of an edge: vertices at its nodes of lower and higher number, in the face that came first.
typedef struct side {
    int32_t vert[2], face, count;
    int8_t corner;
} side;

static void look(const tl_draw_mesh *s, int32_t (*edge_of)[3], side *sides, uint8_t *seams, bool *any)
{
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++) {
            side *e = &sides[edge_of[f][k]];  // from corner k to the next: across from the one after
            const int b = (k + 1) % 3, across = (k + 2) % 3;
            const bool turned = s->face[f][k] > s->face[f][b];
            const int32_t v[2] = {s->face_uv[f][turned ? b : k], s->face_uv[f][turned ? k : b]};
            if (e->count++ == 0) {
                *e = (side){{v[0], v[1]}, f, 1, (int8_t)across};
            } else if (e->vert[0] != v[0] || e->vert[1] != v[1]) {
                seams[f] |= (uint8_t)(1 << across), seams[e->face] |= (uint8_t)(1 << e->corner);
                *any = true;
            }
        }
}

static bool good(const tl_draw_mesh *s)
{
    for (int32_t f = 0; f < s->face_count; f++)
        for (int k = 0; k < 3; k++)
            if (s->face[f][k] < 0 || s->face[f][k] >= s->pos_count || s->face_uv[f][k] < 0 ||
                s->face_uv[f][k] >= s->uv_count || s->face[f][k] == s->face[f][(k + 1) % 3])
                return false;
    return true;
}

tl_status tl_find_seams(const tl_allocator *alloc, const tl_draw_mesh *s, uint8_t **out, tl_error *err)
{
    *out = NULL;
    if (!s->face_uv || s->face_count == 0 || !good(s)) return TL_OK;
    int32_t(*edge)[2] = NULL, count = 0;
    int32_t(*of)[3] = tl_alloc_bytes(alloc, (size_t)s->face_count, sizeof *of);
    uint8_t *seams = TL_CALLOC(alloc, uint8_t, s->face_count);
    tl_status status = of && seams ? tl_unique_edges(alloc, s->face, s->face_count, &edge, &count, of, err)
                                   : tl_fail_memory(err, "seams");
    side *sides = status == TL_OK ? TL_CALLOC(alloc, side, count) : NULL;
    if (status == TL_OK && !sides) status = tl_fail_memory(err, "seams");
    bool any = false;
    if (status == TL_OK) look(s, of, sides, seams, &any);
    TL_FREE(alloc, sides, count);
    TL_FREE(alloc, edge, count);
    TL_FREE(alloc, of, s->face_count);
    if (any)
        *out = seams;
    else
        TL_FREE(alloc, seams, s->face_count);
    return status;
}
