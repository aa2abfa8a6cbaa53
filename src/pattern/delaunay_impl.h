// pattern/delaunay_impl.h: what the files of the mesher share.
#pragma once
#include "pattern/refine.h"

/// A point on an edge where it is cut before all else.
typedef struct tl_edge_cut {
    int32_t edge;  ///< number over all regions
    double t;      ///< where on the edge, 0 to 1
    tl_vec2 at;    ///< exactly there: a point of the input, a crossing, or computed from t
    bool must;     ///< something else meets the edge there
} tl_edge_cut;

/// Input edges of all regions under one number: region r's edge e is base[r] + e. Linked edges form rings.
typedef struct tl_links {
    int32_t *base;       ///< [region count + 1]
    int32_t *next;       ///< [edges] next of the ring, itself when not linked
    uint8_t *turned;     ///< [edges] runs against the first of its ring
    int32_t *cut_start;  ///< [edges + 1] into cut
    tl_edge_cut *cut;    ///< of every edge, along it
    int32_t region_count, edge_count, cut_cap;
} tl_links;

tl_status tl_links_create(const tl_allocator *alloc, const tl_region *region, int32_t count, const tl_region_link *link,
                          int32_t link_count, tl_links *out, tl_error *err);
void tl_links_free(const tl_allocator *alloc, tl_links *links);

/// Region of edge g.
int32_t tl_links_region(const tl_links *links, int32_t g);

/// Decides where each edge is cut before all else: where lines meet or cross it, and as the wanted length asks on the
/// side of a link that needs most. Linked edges get the same fractions.
tl_status tl_links_cut(const tl_allocator *alloc, tl_links *links, const tl_region *region, const tl_delaunay_def *def,
                       tl_error *err);

/// Links the pieces of linked edges. TL_BAD_INPUT: there are not as many on both sides.
tl_status tl_links_pair(tl_refiner *f, const tl_links *links, tl_error *err);

/// Name of a region for messages.
const char *tl_region_name(const tl_region *region, int32_t index, char *out, size_t size);

/// Numbers are finite, edges join points of the region.
tl_status tl_region_check(const tl_region *region, int32_t r, tl_error *err);

/// Triangulates region r: points, edges, inside; flags sharp corners. Its cdt and `at` are filled.
tl_status tl_region_triangulate(tl_refiner *f, int32_t r, const tl_links *links, tl_error *err);

/// The finished mesh of region r.
tl_status tl_region_output(tl_refiner *f, int32_t r, tl_delaunay_mesh *out, tl_error *err);
