// pattern/refine.h: points into a triangulation until its triangles are small and well shaped.
#pragma once
#include "pattern/cdt.h"
#include "toile/delaunay.h"

typedef struct tl_refine_item {  // a triangle as it was when it was found wanting
    int32_t tri, v[3];
} tl_refine_item;

typedef struct tl_sharp_corner {  // two input edges, a < b, that leave vertex z within 60 degrees of each other
    int32_t a, b, z;
} tl_sharp_corner;

/// One region in the making.
typedef struct tl_refine_region {
    tl_cdt cdt;
    const tl_region *input;
    int32_t *at;            ///< vertex of each input point
    tl_refine_item *queue;  ///< triangles, taken at queue_head
    int32_t queue_head, queue_count, queue_cap;
    int32_t *cuts;  ///< segments that a vertex is too near to
    int32_t cut_count, cut_cap;
    int32_t *mark;  ///< per triangle: number of the search that saw it
    int32_t mark_cap, search;
    tl_sharp_corner *sharp;  ///< by a, then b
    int32_t sharp_count, sharp_cap;
    double shortest;  ///< edges below this are left as they are
    bool full;        ///< point_max is reached
} tl_refine_region;

typedef struct tl_refiner {
    tl_allocator alloc;
    const tl_delaunay_def *def;
    tl_refine_region *region;
    int32_t count;
    double sine;  ///< of the wanted least angle
} tl_refiner;

/// Edge length wanted at p; infinite: any.
double tl_refine_size(const tl_delaunay_def *def, tl_vec2 p);

/// Cuts segment s of region r, and all linked with it, at `fraction` of its way from a to b, 0: where it serves best.
/// False: one of them must stay; nothing is changed. *no_memory tells that case.
bool tl_refine_cut(tl_refiner *f, int32_t r, int32_t s, double fraction, bool *no_memory);

/// Refines all regions.
tl_status tl_refine_run(tl_refiner *f, tl_error *err);

/// Evens out the inner points of region r.
tl_status tl_refine_smooth(tl_refiner *f, int32_t r, tl_error *err);

/// True: the triangle's smallest angle is below the wanted one. *excused: input or segments of an input corner force
/// it.
bool tl_refine_is_poor(const tl_refiner *f, const tl_refine_region *region, int32_t t, bool *excused);
