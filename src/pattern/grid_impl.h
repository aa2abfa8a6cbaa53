// pattern/grid_impl.h: what the files of the grid generator share.
#pragma once
#include <stdbool.h>

#include "pattern/polyline.h"
#include "toile/grid.h"

/// A grid in the making. R(u, v) is point[v * (nu + 1) + u], 0 <= u <= nu, 0 <= v <= nv.
typedef struct tl_lattice {
    int32_t nu, nv;
    tl_vec2 *point;
} tl_lattice;

static inline int32_t tl_lattice_index(const tl_lattice *g, int32_t u, int32_t v) { return v * (g->nu + 1) + u; }
static inline int32_t tl_lattice_count(const tl_lattice *g) { return (g->nu + 1) * (g->nv + 1); }
static inline bool tl_lattice_inner(const tl_lattice *g, int32_t u, int32_t v)
{
    return u > 0 && v > 0 && u < g->nu && v < g->nv;
}

/// The four sides of an outline as open polylines: bottom and top along u, left and right along v.
typedef struct tl_sides {
    tl_vec2 *line[4];  ///< bottom, right, top, left
    int32_t count[4];
    tl_vec2 *memory;
    int32_t memory_count;
} tl_sides;
enum { TL_SIDE_BOTTOM, TL_SIDE_RIGHT, TL_SIDE_TOP, TL_SIDE_LEFT };

/// Checks the outline: at least 4 points, finite, counter-clockwise, no point twice in a row.
tl_status tl_outline_check(const tl_vec2 *outline, int32_t count, tl_error *err);

/// Corners must be four different ascending indices, cyclically.
tl_status tl_sides_create(const tl_allocator *alloc, const tl_vec2 *outline, int32_t count, const int32_t corner[4],
                          tl_sides *out, tl_error *err);
void tl_sides_free(const tl_allocator *alloc, tl_sides *sides);

/// Sets the boundary of `g` from the sides, equal arc lengths; between points that turn by more than `snap_angle`
/// [rad], which get the nearest grid point, if that is less than pi.
tl_status tl_sides_split(const tl_allocator *alloc, const tl_sides *sides, double snap_angle, tl_lattice *g,
                         tl_error *err);

/// Transfinite interpolation of the boundary (Kostadinov & Vassilev, Eq. 1).
void tl_lattice_tfi(tl_lattice *g);

/// The stencil of a functional: weights of neighbours along u, along v and across.
typedef struct tl_stencil {
    double u, v, cross;
} tl_stencil;
tl_stencil tl_stencil_of(double weight_u, double weight_v, bool diagonals);

typedef struct tl_grid_factor tl_grid_factor;
typedef struct tl_grid_key {
    int32_t nu, nv;
    tl_stencil stencil;
    tl_grid_solver solver;
} tl_grid_key;

/// The factor for a key: from the cache, else made, and kept in the cache if there is one. *cached says which; without
/// a cache the caller gives it back by tl_grid_factor_release.
tl_status tl_grid_factor_get(const tl_allocator *alloc, tl_grid_cache *cache, const tl_grid_key *key,
                             tl_grid_factor **out, bool *cached, tl_error *err);
void tl_grid_factor_release(tl_grid_cache *cache, tl_grid_factor *factor);

/// x = A^-1 b over the (nu - 1) (nv - 1) inner nodes, row by row; in place.
void tl_grid_factor_solve(tl_grid_factor *factor, tl_vec2 *x);

/// Sets the inner nodes of `g` to the minimum of the functional. `report` gets solve_seconds and cached.
tl_status tl_lattice_relax(const tl_allocator *alloc, tl_grid_cache *cache, const tl_grid_key *key, tl_lattice *g,
                           tl_grid_report *report, tl_error *err);

/// Area of quad (u, v).
double tl_lattice_area(const tl_lattice *g, int32_t u, int32_t v);
/// Area not positive, or two corners turned over: no diagonal cuts it into two good triangles.
bool tl_lattice_is_folded(const tl_lattice *g, int32_t u, int32_t v);
/// Area between rows v and v + 1.
double tl_lattice_strip_area(const tl_lattice *g, int32_t v);

// --- strips --------------------------------------------------------------------------------------------------

/// A row `next` over `base` (nu + 1 points each) with given ends, quad by quad of area `area`: the paper's second
/// variant. Returns the number of quads for which that was not possible (the last one never counts).
int32_t tl_strip_row_exact(const tl_vec2 *base, int32_t nu, double area, tl_vec2 first, tl_vec2 last, tl_vec2 *next);

/// Fills the grid row by row; its bottom and top rows are set. `row_tries` has nv entries.
tl_status tl_lattice_strips(const tl_allocator *alloc, const tl_sides *sides, const tl_grid_def *def, tl_lattice *g,
                            int32_t *row_tries, tl_error *err);

/// Moves inner nodes of every inner row along its normals until the area below it is below[v] (v = 1 .. nv - 1).
void tl_lattice_restore_rows(tl_lattice *g, const double *below);
/// below[v]: area between the bottom row and row v, for v = 0 .. nv.
void tl_lattice_areas_below(const tl_lattice *g, double *below);

/// Smooths inner nodes in `steps` steps without changing the area of any strip and without folding. Returns the steps
/// taken, or -1 without memory.
int32_t tl_lattice_smooth_strips(const tl_allocator *alloc, tl_lattice *g, int32_t steps);

// --- descent -------------------------------------------------------------------------------------------------

typedef struct tl_descent_def {
    double strips;  ///< weight of equal strips; 0: none
    double quads;   ///< weight of equal quads; 0: none
    double ratio;   ///< with quads: ends when largest / smallest area is no more
    int32_t steps;  ///< at most
} tl_descent_def;

/// Corners of quads with at least one inner node that turn the wrong way or not at all.
int32_t tl_lattice_bad_corners(const tl_lattice *g);

/// Unfolds `g` and then lowers the energy of the definition without folding it again. `steps` counts. TL_FAILED: it is
/// still folded.
tl_status tl_lattice_descend(const tl_allocator *alloc, tl_grid_cache *cache, const tl_descent_def *def, tl_lattice *g,
                             int32_t *steps, tl_error *err);
