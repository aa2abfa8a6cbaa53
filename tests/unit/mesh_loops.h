// tests/unit/mesh_loops.h: borders of the sewn surface and outlines of the panels as loops of directed edges: what
// edits of a mesh must not change.
//
// A step runs along one face. At its end we turn clockwise from that face, over edges that may be crossed, to
// the next edge that may not: that is the next step. Every step has one successor and one predecessor, so
// following them closes a loop.
#pragma once
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "mesh/mesh_query.h"

typedef enum tl_loop_space {
    TL_LOOP_WORLD,     ///< borders of the sewn surface
    TL_LOOP_MATERIAL,  ///< panel outlines: borders and both sides of seams
} tl_loop_space;

/// Loops of directed edges, the surface on their left: outer outlines run counter-clockwise, holes clockwise.
typedef struct tl_loops {
    int32_t loop_count, step_count;
    int32_t *start;  ///< [loop_count + 1] into the arrays below
    int32_t *edge;   ///< [step_count]
    int32_t *vert;   ///< [step_count] vertex at which the step begins
    int32_t *face;   ///< [step_count] the face on the left
} tl_loops;

static inline bool stops(const tl_mesh *mesh, int32_t e, tl_loop_space space)
{
    const tl_edge_kind kind = tl_mesh_edge_kind(mesh, e);
    return kind == TL_EDGE_BORDER || (space == TL_LOOP_MATERIAL && kind == TL_EDGE_SEAM);
}

// From corner k of *face, where a step ended, to the edge where the next begins; *face becomes its face.
static inline int32_t next_step(const tl_mesh *mesh, tl_loop_space space, int32_t *face, int32_t k)
{
    for (;;) {
        const int32_t e = mesh->face_edge[*face][(k + 2) % 3];  // leaves corner k
        if (stops(mesh, e, space)) return e;
        *face = tl_edge_across(mesh, e, *face);
        k = (tl_face_corner_of_edge(mesh, *face, e) + 2) % 3;  // there it arrives at our node
    }
}

// Follows all loops; fills the arrays if `fill`, else counts.
static inline void follow(const tl_mesh *mesh, tl_loop_space space, uint8_t *seen, bool fill, tl_loops *out)
{
    out->loop_count = out->step_count = 0;
    for (int32_t start = 0; start < 2 * mesh->slots[TL_EDGES].count; start++) {
        const int32_t e0 = start / 2;
        int32_t face = mesh->edge_face[e0][start % 2];
        if (!tl_alive(mesh, TL_EDGES, e0) || face == TL_NONE || seen[start] || !stops(mesh, e0, space)) continue;
        if (fill) out->start[out->loop_count] = out->step_count;
        out->loop_count++;
        int32_t e = e0;
        for (;;) {
            const int32_t mark = 2 * e + (mesh->edge_face[e][0] != face);
            if (seen[mark]) break;
            seen[mark] = 1;
            const int32_t k = tl_face_corner_of_edge(mesh, face, e);
            if (fill) {
                out->edge[out->step_count] = e;
                out->vert[out->step_count] = mesh->face_vert[face][(k + 1) % 3];
                out->face[out->step_count] = face;
            }
            out->step_count++;
            e = next_step(mesh, space, &face, (k + 2) % 3);
        }
    }
    if (fill) out->start[out->loop_count] = out->step_count;
}

static inline void tl_mesh_loops_free(const tl_mesh *mesh, tl_loops *loops)
{
    TL_FREE(&mesh->alloc, loops->start, loops->loop_count + 1);
    TL_FREE(&mesh->alloc, loops->edge, loops->step_count);
    TL_FREE(&mesh->alloc, loops->vert, loops->step_count);
    TL_FREE(&mesh->alloc, loops->face, loops->step_count);
    *loops = (tl_loops){0};
}

static inline tl_status tl_mesh_loops(const tl_mesh *mesh, tl_loop_space space, tl_loops *out, tl_error *err)
{
    *out = (tl_loops){0};
    const int32_t sides = 2 * mesh->slots[TL_EDGES].count;
    uint8_t *seen = TL_CALLOC(&mesh->alloc, uint8_t, sides);
    if (!seen) return tl_fail_memory(err, "boundary loops");
    follow(mesh, space, seen, false, out);
    memset(seen, 0, (size_t)sides);
    out->start = TL_ALLOC(&mesh->alloc, int32_t, out->loop_count + 1);
    out->edge = TL_ALLOC(&mesh->alloc, int32_t, out->step_count);
    out->vert = TL_ALLOC(&mesh->alloc, int32_t, out->step_count);
    out->face = TL_ALLOC(&mesh->alloc, int32_t, out->step_count);
    const bool enough = out->start && out->edge && out->vert && out->face;
    if (enough) follow(mesh, space, seen, true, out);
    TL_FREE(&mesh->alloc, seen, sides);
    if (enough) return TL_OK;
    tl_mesh_loops_free(mesh, out);
    return tl_fail_memory(err, "boundary loops");
}
