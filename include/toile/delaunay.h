// toile/delaunay.h: fill flat regions with well-shaped triangles: constrained Delaunay refinement.
//
// A region is a set of points and straight edges between them: closed outlines (a loop within a loop is a hole, a loop
// within that an island) and lines inside that triangles must respect. Lines may meet and cross each other and
// outlines; what lies outside is left out. Signs are exact, so collinear, repeated and nearly touching input is safe.
// Several regions are refined together where edges are linked (the two sides of a seam): both sides are cut at the same
// fractions. The result depends on the input alone. Lengths are in the unit of the input.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tl_region_edge_kind {
    TL_EDGE_OUTLINE,  ///< inside on one side, outside on the other
    TL_EDGE_LINE,     ///< a line inside: fold, dart leg, style line
} tl_region_edge_kind;

typedef struct tl_region_edge {
    int32_t a, b;  ///< points
    tl_region_edge_kind kind;
    bool fixed;  ///< never cut, whatever the definition says
} tl_region_edge;

/// What to fill; all arrays are borrowed for the call.
typedef struct tl_region {
    const tl_vec2 *point;
    int32_t point_count;
    const tl_region_edge *edge;  ///< in any order and direction
    int32_t edge_count;
    const char *name;  ///< for messages; NULL: "region N"
} tl_region;

/// Two edges, of one region or two, that are cut at the same fractions of their lengths.
typedef struct tl_region_link {
    int32_t region_a, edge_a;
    int32_t region_b, edge_b;
    bool reversed;  ///< a's start lies on b's end
} tl_region_link;

/// How to fill. Start from tl_delaunay_def_default().
typedef struct tl_delaunay_def {
    uint32_t struct_size;                    ///< filled in by the default function, do not set
    double edge;                             ///< wanted edge length, > 0; 0: no limit. Default 0.
    double (*size)(void *user, tl_vec2 at);  ///< wanted edge length at a place, used where it is less than `edge`
    void *user;                              ///< for `size`
    double min_angle_deg;                    ///< 0 to 30. Default 26. Sharper corners of the input stay.
    bool keep_edges;                         ///< no edge is cut: boundary points stay as given. Default false.
    int32_t smoothing;                       ///< sweeps that even out inner points. Default 4.
    int32_t point_max;                       ///< most points of one region. Default 20 million.
} tl_delaunay_def;
TL_API void tl_delaunay_def_init(tl_delaunay_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_delaunay_def tl_delaunay_def_default(void)
{
    tl_delaunay_def def;
    tl_delaunay_def_init(&def, sizeof def);
    return def;
}

/// A piece of an edge of the region.
typedef struct tl_delaunay_edge {
    int32_t a, b;   ///< points of the mesh, in the direction of the input edge
    int32_t edge;   ///< of the region
    double ta, tb;  ///< where on the input edge, 0 to 1
} tl_delaunay_edge;

typedef struct tl_delaunay_report {
    double min_angle_deg;       ///< of all triangles
    double min_free_angle_deg;  ///< without triangles at corners of the input that are sharper than 60 degrees
    double area;                ///< of all triangles
    double edge_min, edge_max, edge_mean;
    int32_t cuts;       ///< points set on edges
    int32_t left_poor;  ///< triangles below the wanted angle, at sharp corners or beside fixed edges
    double seconds;     ///< wall time, without that of linked regions
} tl_delaunay_report;

/// A filled region. Owns its arrays; tl_delaunay_mesh_free gives them back.
typedef struct tl_delaunay_mesh {
    tl_allocator alloc;
    tl_vec2 *point;
    int32_t point_count;
    int32_t *at;          ///< [region point_count] mesh point of each input point, exactly there; -1: in no triangle
    int32_t input_count;  ///< entries of `at`
    int32_t (*tri)[3];    ///< counter-clockwise
    int32_t tri_count;
    tl_delaunay_edge *edge;  ///< by input edge, then along it
    int32_t edge_count;
    tl_delaunay_report report;
} tl_delaunay_mesh;

/// Fills `count` regions into mesh[count]. `links` may be NULL. TL_BAD_INPUT: an outline is open or crosses itself or
/// another, a link does not fit; the message names region, edges and place. All of mesh is zero on failure.
TL_API tl_status tl_delaunay_fill(const tl_allocator *alloc, const tl_region *region, int32_t count,
                                  const tl_region_link *links, int32_t link_count, const tl_delaunay_def *def,
                                  tl_delaunay_mesh *mesh, tl_error *err);
TL_API void tl_delaunay_mesh_free(tl_delaunay_mesh *mesh);  ///< zeroes *mesh; fine on a zero one

#ifdef __cplusplus
}
#endif
