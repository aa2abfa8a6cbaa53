// adapt/sqrt3/hierarchy_impl.h: what a hierarchy holds, for the files of adapt/sqrt3 alone.
#pragma once
#include "toile/sqrt3.h"

/// Slots with a free list, last in, first out, linked through vert[0] of dead triangles.
typedef struct tl_sqrt3_layer_data {
    tl_sqrt3_tri *tri;
    int32_t count, cap, live, free;
} tl_sqrt3_layer_data;

struct tl_sqrt3 {
    tl_allocator alloc;
    tl_sqrt3_editor editor;
    tl_sqrt3_layer_data layer[TL_SQRT3_MAX_LAYERS];
    int32_t layers;
    tl_sqrt3_vert *vert;  ///< free ones linked through `node`, with the free list's end TL_SQRT3_NONE
    int32_t vert_count, vert_cap, vert_free;
    int32_t *node_link;  ///< free nodes only: the next free one
    int32_t node_count, node_cap, node_free;
};

static inline tl_sqrt3_tri *tl_sqrt3_at(const tl_sqrt3 *h, int32_t layer, int32_t t) { return &h->layer[layer].tri[t]; }
static inline int32_t tl_sqrt3_next(int32_t e) { return e == 2 ? 0 : e + 1; }
static inline int32_t tl_sqrt3_prev(int32_t e) { return e == 0 ? 2 : e - 1; }
static inline bool tl_sqrt3_is_open(const tl_sqrt3_tri *t, int32_t e) { return t->flags >> e & TL_SQRT3_OPEN; }
static inline bool tl_sqrt3_is_border(const tl_sqrt3_tri *t, int32_t e) { return t->flags >> e & TL_SQRT3_BORDER; }
static inline bool tl_sqrt3_is_seam(const tl_sqrt3_tri *t, int32_t e) { return t->flags >> e & TL_SQRT3_SEAM; }
static inline bool tl_sqrt3_is_half(const tl_sqrt3_tri *t) { return t->flags & TL_SQRT3_HALF; }
static inline bool tl_sqrt3_any_open(const tl_sqrt3_tri *t) { return t->flags & 7 * TL_SQRT3_OPEN; }

/// The border edge of a half: 0 at the first vertex of its parent's edge, 2 at the second.
static inline int32_t tl_sqrt3_half_border(const tl_sqrt3_tri *t) { return tl_sqrt3_is_border(t, 0) ? 0 : 2; }

// hierarchy.c: storage. New slots may move the arrays: hold ids, not pointers, across these.
tl_status tl_sqrt3_new_tri(tl_sqrt3 *h, int32_t layer, tl_sqrt3_tri value, int32_t *out, tl_error *err);
void tl_sqrt3_free_tri(tl_sqrt3 *h, int32_t layer, int32_t t);
tl_status tl_sqrt3_new_vert(tl_sqrt3 *h, tl_vec2 uv, int32_t node, int32_t *out,
                            tl_error *err);  ///< node NONE: a new one
void tl_sqrt3_free_vert(tl_sqrt3 *h, int32_t v, bool with_node);
