// detect/close_test.h: the distance of a pair of features, or how near it comes on the way; for detectors alone.
#pragma once
#include "base/alloc.h"
#include "base/fail.h"
#include "detect/detect.h"
#include "detect/distance.h"

/// Two surfaces (the same twice within one) and where their nodes are.
typedef struct close_test {
    const tl_surface *first, *second;
    const tl_vec3 *x0, *x1;  ///< of the first; x1 NULL: it stands still
    const tl_vec3 *y0, *y1;  ///< of the second
    double reach;
} close_test;

static inline bool close_shares_node(const int32_t node[4], int32_t kind)
{
    if (kind == TL_CLOSE_EE)
        return node[0] == node[2] || node[0] == node[3] || node[1] == node[2] || node[1] == node[3];
    return node[0] == node[1] || node[0] == node[2] || node[0] == node[3];
}

static inline tl_nearest close_measure(int32_t kind, const tl_vec3 x[4])
{
    return kind == TL_CLOSE_EE ? tl_nearest_ee(x[0], x[1], x[2], x[3]) : tl_nearest_vf(x[0], x[1], x[2], x[3]);
}

/// Adds the pair if it is close.
static inline tl_status close_try(const close_test *t, int32_t kind, int32_t a, int32_t b, tl_close_list *out,
                                  tl_error *err)
{
    int32_t node[4];
    tl_vec3 from[4], to[4];
    const int second = tl_close_nodes(t->first, t->second, kind, a, b, node);
    for (int i = 0; i < 4; i++) from[i] = (second >> i & 1 ? t->y0 : t->x0)[node[i]];
    tl_nearest near = close_measure(kind, from);
    if (!(near.distance < t->reach)) {
        if (!t->x1) return TL_OK;
        double time;
        for (int i = 0; i < 4; i++) to[i] = (second >> i & 1 ? t->y1 : t->x1)[node[i]];
        const uint32_t hit = kind == TL_CLOSE_EE ? tl_ccd_edge_edge(from, to, t->reach, &time)
                                                 : tl_ccd_vertex_face(from, to, t->reach, &time);
        if (!hit) return TL_OK;
        for (int i = 0; i < 4; i++) from[i] = tl_madd3(from[i], time, tl_sub3(to[i], from[i]));
        near = close_measure(kind, from);
    }
    if (!TL_GROW(&out->alloc, out->items, out->cap, out->count + 1)) return tl_fail_memory(err, "the close pairs");
    out->items[out->count++] = (tl_close){kind, a, b, near};
    return TL_OK;
}
