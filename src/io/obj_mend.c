// io/obj_mend.c: what is put right in meshes of other programs: nodes in no face, panels that are drawn mirrored.

#include "io/obj.h"

#include "base/alloc.h"
#include "base/fail.h"

// ---- nodes in no face -------------------------------------------------------------------------------------

bool tl_obj_drop_lost(tl_obj *obj, int32_t (*corner)[2], tl_error *err, tl_status *status)
{
    const tl_allocator *alloc = &obj->alloc;
    const int32_t count = obj->node_count;
    *status = TL_OK;
    int32_t *place = TL_ALLOC(alloc, int32_t, count);
    if (!place) {
        *status = tl_fail_memory(err, "a mark per node");
        return false;
    }
    for (int32_t n = 0; n < count; n++) place[n] = -1;
    for (int32_t c = 0; c < 3 * obj->face_count; c++) place[corner[c][0]] = 0;
    int32_t kept = 0;
    for (int32_t n = 0; n < count; n++)
        if (place[n] == 0) place[n] = kept++;
    if (kept == count) {
        TL_FREE(alloc, place, count);
        return false;
    }
    for (int32_t n = 0; n < count; n++) {
        const int32_t to = place[n];
        if (to < 0) continue;
        obj->pos[to] = obj->pos[n];
        if (to < obj->vel_cap) obj->vel[to] = n < obj->vel_cap ? obj->vel[n] : (tl_vec3){0, 0, 0};
        if (to < obj->node_label_cap) obj->node_label[to] = n < obj->node_label_cap ? obj->node_label[n] : 0;
    }
    for (int32_t c = 0; c < 3 * obj->face_count; c++) corner[c][0] = place[corner[c][0]];
    int32_t edges = 0, pinched = 0;
    for (int32_t e = 0; e < obj->edge_count; e++) {
        const int32_t a = place[obj->edge[e][0]], b = place[obj->edge[e][1]];
        if (a < 0 || b < 0) continue;
        obj->edge[edges][0] = a, obj->edge[edges][1] = b, obj->edge_label[edges++] = obj->edge_label[e];
    }
    for (int32_t i = 0; i < obj->pinched_count; i++)
        if (place[obj->pinched[i]] >= 0) obj->pinched[pinched++] = place[obj->pinched[i]];
    obj->edge_count = edges, obj->pinched_count = pinched;
    obj->place = place, obj->place_count = count, obj->node_count = kept;
    return true;
}

// ---- mirrored panels --------------------------------------------------------------------------------------

static int32_t root_of(int32_t *up, int32_t v)
{
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
}

static double area_of(const tl_obj *obj, int32_t f)
{
    const tl_vec2 a = obj->uv[obj->face[f][0]], b = obj->uv[obj->face[f][1]], c = obj->uv[obj->face[f][2]];
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// A panel is what hangs together by vertices. One that has no face the right way round is turned over, u to -u.
tl_status tl_obj_unmirror(tl_obj *obj, int32_t *panels, tl_error *err)
{
    *panels = 0;
    int32_t *up = TL_ALLOC(&obj->alloc, int32_t, obj->vert_count);
    uint8_t *right = TL_CALLOC(&obj->alloc, uint8_t, obj->vert_count);
    const bool allocated = up && right;
    for (int32_t v = 0; allocated && v < obj->vert_count; v++) up[v] = v;
    for (int32_t f = 0; allocated && f < obj->face_count; f++)
        for (int k = 1; k < 3; k++) {
            const int32_t a = root_of(up, obj->face[f][0]), b = root_of(up, obj->face[f][k]);
            up[a > b ? a : b] = a > b ? b : a;
        }
    for (int32_t f = 0; allocated && f < obj->face_count; f++)
        if (area_of(obj, f) > 0) right[root_of(up, obj->face[f][0])] = 1;
    for (int32_t v = 0; allocated && v < obj->vert_count; v++) {
        const int32_t root = root_of(up, v);
        if (right[root]) continue;
        *panels += root == v;
        obj->uv[v].x = -obj->uv[v].x;
    }
    for (int32_t v = 0; allocated && v < obj->vert_count; v++) up[v] = root_of(up, v);
    for (int32_t v = obj->vert_count - 1; allocated && v >= 0; v--)
        right[v] = !right[up[v]];  // roots, the least of their panel, come last
    if (allocated && *panels > 0)
        obj->turned = right, obj->turned_count = obj->vert_count;
    else
        TL_FREE(&obj->alloc, right, obj->vert_count);
    TL_FREE(&obj->alloc, up, obj->vert_count);
    return allocated ? TL_OK : tl_fail_memory(err, "panels");
}
