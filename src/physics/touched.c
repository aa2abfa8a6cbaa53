// physics/touched.c: from nodes that move to hinges that turn, to folds that change, to faces.

#include "physics/touched.h"

#include <string.h>

#include "base/fail.h"

static int32_t group_count(int32_t items) { return items / TL_TOUCHED_GROUP + 1; }

static bool any_moves(const int32_t *place, const int32_t *node, int count)
{
    for (int k = 0; k < count; k++)
        if (place[node[k]] >= 0) return true;
    return false;
}

// A fold is made of the angles of its hinge and of the hinges near that (bend.h).
static bool fold_changes(const tl_elements *e, const uint8_t *turns, int32_t h)
{
    bool any = turns[h];
    for (int j = 0; j < 4; j++) any = any || (e->near_hinge[h][j] >= 0 && turns[e->near_hinge[h][j]]);
    return any;
}

static void touch_faces(const tl_elements *e, const uint8_t *turns, tl_touched *out)
{
    for (int32_t f = 0; f < e->face_count; f++)
        if (any_moves(out->place, e->face[f], TL_PATCH_NODES)) out->face[f / TL_TOUCHED_GROUP] = 1;
    for (int32_t h = 0; h < e->hinge_count; h++) {
        if (!fold_changes(e, turns, h)) continue;
        for (int side = 0; side < 2; side++) out->face[e->hinge_face[h][side] / TL_TOUCHED_GROUP] = 1;
    }
    for (int32_t i = 0; i < e->border_count; i++) {
        const tl_border *b = &e->border[i];
        for (int r = 0; r < b->count; r++)
            if (turns[b->hinge[r]]) out->face[b->face / TL_TOUCHED_GROUP] = 1;
    }
}

tl_status tl_touch(const tl_elements *e, const int32_t *place, tl_arena *arena, tl_touched *out, tl_error *err)
{
    const size_t faces = (size_t)group_count(e->face_count), hinges = (size_t)group_count(e->hinge_count);
    *out = (tl_touched){TL_SCRATCH(arena, uint8_t, faces), TL_SCRATCH(arena, uint8_t, hinges),
                        TL_SCRATCH(arena, uint8_t, hinges), place};
    const tl_arena_mark mark = tl_arena_save(arena);
    uint8_t *turns = TL_SCRATCH(arena, uint8_t, e->hinge_count);
    if (!out->face || !out->angle || !out->fold || !turns) return tl_fail_memory(err, "a part of the elements");
    memset(out->face, 0, faces), memset(out->angle, 0, hinges), memset(out->fold, 0, hinges);
    for (int32_t h = 0; h < e->hinge_count; h++) {
        turns[h] = any_moves(place, e->hinge[h], 4);
        out->angle[h / TL_TOUCHED_GROUP] |= turns[h];
    }
    touch_faces(e, turns, out);
    for (int32_t f = 0; f < e->face_count; f++) {
        if (!out->face[f / TL_TOUCHED_GROUP]) continue;
        for (int k = 0; k < 3; k++)
            if (e->face_hinge[f][k] >= 0) out->fold[e->face_hinge[f][k] / TL_TOUCHED_GROUP] = 1;
    }
    tl_arena_release(arena, mark);
    return TL_OK;
}
