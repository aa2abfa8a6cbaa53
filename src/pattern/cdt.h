// pattern/cdt.h: a triangulation that is Delaunay but for the edges it must keep.
//
// Triangles are counter-clockwise; n[i] is the neighbour across the edge opposite v[i] (-1: none), s[i] the segment on
// that edge (-1: none). Points are put in by splitting and flipping (Lawson 1977); all signs are exact.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

typedef struct tl_cdt_tri {
    int32_t v[3], n[3], s[3];
} tl_cdt_tri;

/// A piece of an input edge that lies on a segment; a segment may lie on several.
typedef struct tl_cdt_owner {
    int32_t edge;   ///< input edge
    int32_t next;   ///< further owner, -1: none
    double ta, tb;  ///< where the segment's a and b are on it
} tl_cdt_owner;

typedef struct tl_cdt_segment {
    int32_t a, b;
    int32_t owner;        ///< first of the list
    int32_t outlines;     ///< owners that are outlines; inside and outside change when odd
    int32_t twin_region;  ///< next of a ring of linked segments; itself when not linked
    int32_t twin;
    double least;           ///< pieces below this length are not made
    bool fixed;             ///< not to be cut
    bool sharp_a, sharp_b;  ///< another segment leaves this end at a small angle
    bool twin_reversed;     ///< the next of the ring runs the other way
} tl_cdt_segment;

typedef struct tl_cdt {
    tl_allocator alloc;
    tl_vec2 *point;
    int32_t *vert_tri;   ///< a triangle at each vertex, -1: none
    int32_t *vert_edge;  ///< input edge within which a vertex lies, -1: none
    int32_t vert_count, vert_cap, vert_tri_cap, vert_edge_cap;
    tl_cdt_tri *tri;
    int32_t tri_count, tri_cap;
    tl_cdt_segment *seg;
    int32_t seg_count, seg_cap;
    tl_cdt_owner *owner;
    int32_t owner_count, owner_cap;
    int32_t *stack;  ///< edges to look at, as 3 triangle + corner
    int32_t stack_count, stack_cap;
    int32_t *touched;  ///< triangles changed since the caller cleared the list
    int32_t touched_count, touched_cap;
    bool note_touched, no_memory;  ///< no_memory: the list of touched triangles is short of some
    int32_t last;                  ///< where walks start
} tl_cdt;

typedef enum tl_cdt_place {
    TL_PLACE_INSIDE,   ///< of the triangle
    TL_PLACE_EDGE,     ///< within the edge opposite `corner`
    TL_PLACE_VERTEX,   ///< at vertex `corner`
    TL_PLACE_BLOCKED,  ///< beyond the edge opposite `corner`, which is a segment or the border
} tl_cdt_place;

typedef struct tl_cdt_found {
    tl_cdt_place place;
    int32_t tri, corner;
} tl_cdt_found;

static inline int32_t tl_next3(int32_t i) { return i == 2 ? 0 : i + 1; }
static inline int32_t tl_prev3(int32_t i) { return i == 0 ? 2 : i - 1; }

/// An empty one within a square around `low` to `high`, whose corners are vertices 0 to 3. TL_NO_MEMORY.
tl_status tl_cdt_init(tl_cdt *c, const tl_allocator *alloc, tl_vec2 low, tl_vec2 high, tl_error *err);
void tl_cdt_free(tl_cdt *c);

/// Room for `verts` more vertices and what they bring; insertions then cannot fail for lack of memory.
bool tl_cdt_reserve(tl_cdt *c, int64_t verts);

/// Walks from triangle `from` to where p is. With `stop` segments block the way, else only the border does.
tl_cdt_found tl_cdt_locate(const tl_cdt *c, tl_vec2 p, int32_t from, bool stop);

/// Puts p in at a place found within a triangle or on an edge that is no segment; returns its vertex. Needs room.
int32_t tl_cdt_insert(tl_cdt *c, tl_vec2 p, tl_cdt_found at);

/// Room to cut segment s, vertex and triangles apart.
bool tl_cdt_reserve_cut(tl_cdt *c, int32_t s);
/// Whether segment edge `corner` of `tri` may be cut at p without turning a triangle over.
bool tl_cdt_can_split(const tl_cdt *c, int32_t tri, int32_t corner, tl_vec2 p);
/// Cuts the segment on that edge at p, `fraction` of its way from a to b; returns the vertex. The piece from p to b is
/// segment seg_count - 1 afterwards. Needs room.
int32_t tl_cdt_split(tl_cdt *c, int32_t tri, int32_t corner, tl_vec2 p, double fraction);

/// A triangle with the edge from a to b (or b to a) opposite *corner; -1: there is none.
int32_t tl_cdt_find_edge(const tl_cdt *c, int32_t a, int32_t b, int32_t *corner);

/// A segment that crosses another, and where.
typedef struct tl_cdt_crossing {
    int32_t edge_a, edge_b;  ///< input edges
    tl_vec2 at;
} tl_cdt_crossing;

/// Makes the edge from a to b, in pieces where vertices lie on it. `ta` and `tb` are the places of a and b on input
/// edge `edge`. TL_FAILED: it crosses another, see *crossing.
tl_status tl_cdt_add_segment(tl_cdt *c, int32_t a, int32_t b, const tl_cdt_owner *owner, bool outline, bool fixed,
                             tl_cdt_crossing *crossing, tl_error *err);

/// Keeps the triangles inside an odd number of outlines. TL_FAILED: outlines do not close; TL_BAD_INPUT: nothing left.
tl_status tl_cdt_carve(tl_cdt *c, tl_error *err);

/// Turns the edge opposite corner i of t; afterwards it joins v[i] and the vertex across.
void tl_cdt_flip(tl_cdt *c, int32_t t, int32_t i);

/// Flips edges until all but the segments are Delaunay; looks at every edge.
bool tl_cdt_legalise_all(tl_cdt *c);
