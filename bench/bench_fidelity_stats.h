// bench/bench_fidelity_stats.h: figures of a cloth's shape that do not depend on its mesh: curvature, wrinkles,
// outline.
//
// A cloth is sampled on a regular grid of its material, so that every sample stands for the same area whatever the
// faces are; outlines are drawn on a raster. Memory is the C library's; false: there was none.
#pragma once
#include <stdbool.h>

#include "toile/sim.h"

/// Places of the middles of square cells of the material, row by row: pos[j * nu + i] is at ((i + 1/2) step, (j + 1/2)
/// step) from the least material coordinates.
typedef struct shape_grid {
    int32_t nu, nv;
    double step;  // [m] of material
    tl_vec3 *pos;
} shape_grid;
bool shape_grid_make(int32_t nu, int32_t nv, double step, shape_grid *g);
void shape_grid_free(shape_grid *g);

/// Samples a rectangular cloth about every `step`. *missed counts cells that no face covers; their places are not a
/// number.
bool shape_sample(const tl_cloth_view *cloth, double step, shape_grid *g, int32_t *missed);

/// Gaussian mean of standard deviation `sigma` [m] in material space; flat cloth stays as it is up to its borders.
bool shape_smooth(const shape_grid *g, double sigma, shape_grid *out);

/// Mean curvature (k1 + k2) / 2 [1/m] at the cells further than `margin` cells (at least 1) from a border, positive
/// where the cloth bends towards du x dv. `out` has room for all cells; returns how many there are.
int32_t shape_mean_curvature(const shape_grid *g, int32_t margin, double *out);

/// Root mean square of the distance [m] of `g` from `smooth`, along the normals of `smooth`.
double shape_out_of_plane(const shape_grid *g, const shape_grid *smooth);

enum { SHAPE_BINS = 1600 };

/// Shares of bins of equal width from `lo` on; what is beyond the ends is in the outermost bins.
typedef struct shape_histogram {
    double lo, width;
    double share[SHAPE_BINS];  // sum 1
} shape_histogram;
/// From -limit to limit.
void shape_histogram_fill(const double *values, int32_t count, double limit, shape_histogram *h);
/// Earth mover's distance, in the unit of the values; both have the same bins.
double shape_histogram_distance(const shape_histogram *a, const shape_histogram *b);
double shape_histogram_mean_size(const shape_histogram *h);  ///< mean of |value|

typedef enum shape_view {
    SHAPE_ABOVE,
    SHAPE_FRONT,
    SHAPE_VIEWS
} shape_view;  // along -y: x and z are seen; along -z: x and y

/// A raster of size x size pixels around `middle`; a pixel is set when its middle is covered.
typedef struct shape_mask {
    int32_t size;
    double pixel;      // [m]
    double middle[2];  // [m]
    uint64_t *bits;    // rows of (size + 63) / 64 words
} shape_mask;
bool shape_mask_make(int32_t size, double pixel, const double middle[2], shape_mask *m);
void shape_mask_free(shape_mask *m);
/// Adds the cloth as seen. Returns how many of its nodes are outside of the raster.
int32_t shape_mask_draw(shape_mask *m, const tl_cloth_view *cloth, shape_view view);
double shape_mask_area(const shape_mask *m);  ///< [m^2]
double shape_mask_difference(const shape_mask *a,
                             const shape_mask *b);  ///< covered by one alone [m^2]; rasters are alike
