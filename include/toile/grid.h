// toile/grid.h: fill a flat outline with a grid of quads, rows along u (weft) and columns along v (warp).
//
// The methods of Kostadinov & Vassilev, "Planar Grid Generation for Cloth Simulation", and two of our own. Lengths are
// in the unit of the outline. No method returns a folded grid: it is repaired and the report says so, or refused.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tl_grid_method {
    TL_QUADS_TFI,         ///< transfinite interpolation, Eq. 1
    TL_QUADS_LENGTH,      ///< least weighted sum of squared edge lengths, Eq. 2 and 3
    TL_QUADS_DIAGONAL,    ///< the same with both diagonals of each quad, Eq. 4
    TL_QUADS_STRIPS,      ///< rows one by one, each strip with its share of the area
    TL_QUADS_EQUAL_AREA,  ///< ours: quads of equal area by descent from a grid without folds; no step may fold one
    TL_QUADS_METHODS
} tl_grid_method;

/// "tfi", "length", "diagonal", "strips", "equal-area"; static storage.
TL_API const char *tl_grid_method_name(tl_grid_method method);

/// How the strips method makes a row from the one before.
typedef enum tl_grid_rows {
    TL_ROWS_COLUMNS,  ///< each column goes the same fraction of the straight way to its top point; copes best
    TL_ROWS_OFFSET,   ///< parallel to the row before at one distance, points on bisectors (the paper's first variant)
    TL_ROWS_EXACT,    ///< quad by quad with exactly the wanted area (the paper's second variant)
} tl_grid_rows;

typedef enum tl_grid_folds {
    TL_FOLDS_REPAIR,  ///< folded grids are unfolded (report: `repaired`); refused where that fails
    TL_FOLDS_REFUSE,  ///< folded grids are refused at once
} tl_grid_folds;

/// How the linear systems of `length` and `diagonal` are solved; the answers agree to rounding.
typedef enum tl_grid_solver {
    TL_QUADS_SINES,     ///< sine transform along u, one tridiagonal factor per wave: O(UV log U)
    TL_QUADS_CHOLESKY,  ///< sparse Cholesky factor
} tl_grid_solver;

/// What to make. Start from tl_grid_def_default().
typedef struct tl_grid_def {
    uint32_t struct_size;       ///< filled in by the default function, do not set
    tl_grid_method method;      ///< Default TL_QUADS_DIAGONAL.
    int32_t cells_u, cells_v;   ///< quads along u (first and third side) and v, 1 to 10000. Default 20, 20.
    double weight_u, weight_v;  ///< Lu, Lv of length and diagonal, > 0: Lu > Lv pulls v edges harder. Default 1, 1.
    tl_grid_solver solver;      ///< Default TL_QUADS_SINES.
    tl_grid_rows rows;          ///< of strips. Default TL_ROWS_COLUMNS.
    double strip_threshold;     ///< of strips: largest relative error of a strip's area, > 0. Default 0.025.
    int32_t strip_tries;        ///< of strips: most attempts at one row, >= 1. Default 50.
    int32_t strip_smoothing;    ///< of strips: smoothing steps that keep the areas of strips, >= 0. Default 0.
    double area_ratio;          ///< of equal-area: ends when largest / smallest area is no more, > 1. Default 1.05.
    int32_t area_steps;         ///< of equal-area: most steps of descent, >= 1. Default 2000.
    double snap_angle_deg;      ///< outline points that turn by more get a grid point; >= 180: none. Default 180.
    tl_grid_folds folds;        ///< Default TL_FOLDS_REPAIR.
} tl_grid_def;
TL_API void tl_grid_def_init(tl_grid_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_grid_def tl_grid_def_default(void)
{
    tl_grid_def def;
    tl_grid_def_init(&def, sizeof def);
    return def;
}

/// Figures of a grid. Areas are signed: <= 0 is folded.
typedef struct tl_grid_quality {
    double area_min, area_max, area_mean;
    double area_ratio;                    ///< largest / smallest; infinite when folded
    double area_cv;                       ///< standard deviation / mean
    int32_t folded;                       ///< quads of area <= 0
    int32_t non_convex;                   ///< quads with a corner of 180 degrees or more, folded ones included
    double angle_min_deg, angle_max_deg;  ///< corners of quads
    double aspect_max;                    ///< largest of longest / shortest edge of a quad
} tl_grid_quality;

/// How a grid came about.
typedef struct tl_grid_report {
    tl_grid_quality quality;
    bool repaired;          ///< the method's own grid was folded
    int32_t folded_before;  ///< quads folded before the repair
    int32_t iterations;     ///< rows tried (strips), steps of descent (equal-area, repair)
    double strip_error;     ///< strips: largest relative error of a strip's area in the grid handed out
    bool strips_kept;       ///< strips: every strip is within the threshold
    double seconds;         ///< wall time of the call
    double solve_seconds;   ///< of it, factor and solve
    bool cached;            ///< the factor was found in the cache
} tl_grid_report;

/// A finished grid. Owns its arrays; tl_quad_grid_free gives them back.
typedef struct tl_quad_grid {
    tl_allocator alloc;
    int32_t cells_u, cells_v;
    tl_vec2 *point;      ///< (cells_u + 1) (cells_v + 1) points, R(u, v) at v (cells_u + 1) + u
    int32_t *row_tries;  ///< cells_v entries: attempts at each row (strips), else 0
    int32_t corner[4];   ///< outline points at R(0,0), R(U,0), R(U,V), R(0,V)
    tl_grid_report report;
} tl_quad_grid;

/// Factors of systems that were solved, by size and weights; a grid of the same size on another outline is then faster.
typedef struct tl_grid_cache tl_grid_cache;
TL_API tl_status tl_grid_cache_create(const tl_allocator *alloc, tl_grid_cache **out, tl_error *err);
TL_API void tl_grid_cache_destroy(tl_grid_cache *cache);         ///< NULL is fine
TL_API size_t tl_grid_cache_memory(const tl_grid_cache *cache);  ///< bytes held

/// A grid within the closed polygon `outline` (counter-clockwise, no point twice in a row). `corner`: four ascending
/// indices, cyclically, where the sides meet (bottom from corner[0] to corner[1], u along it); NULL: chosen by
/// tl_grid_pick_corners. `cache` may be NULL. TL_BAD_INPUT: outline or corners are wrong; TL_FAILED: the grid would be
/// folded; `err` says which and where. `*out` is zero on failure.
TL_API tl_status tl_quad_grid_make(const tl_allocator *alloc, const tl_vec2 *outline, int32_t count,
                                   const int32_t *corner, const tl_grid_def *def, tl_grid_cache *cache,
                                   tl_quad_grid *out, tl_error *err);
TL_API void tl_quad_grid_free(tl_quad_grid *grid);  ///< zeroes *grid; fine on a zero one

/// The four corners that make the most rectangular grid: near right angles, opposite sides alike. corner[0] is the one
/// furthest to lower left.
TL_API tl_status tl_grid_pick_corners(const tl_allocator *alloc, const tl_vec2 *outline, int32_t count,
                                      int32_t corner[4], tl_error *err);

/// Cuts an open polyline into `parts` of equal arc length: parts + 1 points, the ends exact.
TL_API tl_status tl_polyline_split(const tl_vec2 *line, int32_t count, int32_t parts, tl_vec2 *out, tl_error *err);

/// Figures of (cells_u + 1) (cells_v + 1) points in the order of tl_quad_grid.
TL_API tl_grid_quality tl_grid_measure(const tl_vec2 *point, int32_t cells_u, int32_t cells_v);

typedef enum tl_grid_diagonals {
    TL_DIAGONALS_SHORTEST,   ///< of each quad; never a folded triangle in a quad that is not convex
    TL_DIAGONALS_ALTERNATE,  ///< like a chessboard
    TL_DIAGONALS_UP,         ///< all from R(u,v) to R(u+1,v+1)
} tl_grid_diagonals;

/// 2 cells_u cells_v counter-clockwise triangles. `weft` and `warp` (one each per triangle, may be NULL): unit vectors
/// in the plane along u and v of its cell.
TL_API void tl_quad_grid_triangles(const tl_quad_grid *grid, tl_grid_diagonals diagonals, int32_t (*tri)[3],
                                   tl_vec2 *weft, tl_vec2 *warp);

#ifdef __cplusplus
}
#endif
