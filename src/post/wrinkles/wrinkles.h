// post/wrinkles/wrinkles.h: folds that a coarse mesh is too coarse for, as heights over its finished frames (Kimmerle
// 2005, ch. 5).
//
// Cloth buckles where it is compressed. A coarse mesh shortens instead; what its faces have lost in length comes back
// as the height of folds across the compression. One object per cloth: it holds what does not change from frame to
// frame and, so that heights change by no more than a bound, those of the frame before. Never feeds back.
#pragma once
#include "base/workers.h"
#include "post/finish.h"
#include "post/wrinkles/ridges.h"

typedef enum tl_wrinkle_kind {
    TL_WRINKLES_DIRECTIONAL,  ///< across the compression, height from arc length; none at rest
    TL_WRINKLES_PAPER,        ///< Eq. 5.8 as printed: heights that keep the area, folds at rest
} tl_wrinkle_kind;

typedef struct tl_wrinkle_def {
    tl_wrinkle_kind kind;
    tl_ridges ridges;
    double zone;       ///< of selection, (0, 1]: tl_choose_ridges
    double onset;      ///< compression without folds [1], >= 0: cloth that is nearly at rest stays flat. Directional.
    double amplitude;  ///< height of a texture at modulation 1 [m], > 0. Paper mode.
    double strength;   ///< factor of heights, >= 0
    double rate;       ///< most that a height changes from one frame to the next [m]; 0: no bound
} tl_wrinkle_def;

/// A coarse surface at one frame, borrowed for the call; vertices in material space, as in tl_fine_mesh.
typedef tl_fine_mesh tl_wrinkle_frame;

typedef struct tl_wrinkles tl_wrinkles;
tl_status tl_wrinkles_create(const tl_allocator *alloc, const tl_wrinkle_def *def, tl_wrinkles **out, tl_error *err);
void tl_wrinkles_destroy(tl_wrinkles *w);             ///< NULL is fine
double tl_wrinkles_wavelength(const tl_wrinkles *w);  ///< [m]

/// The next frame. Faces other than in the frame before: heights start from this frame's strain. TL_BAD_INPUT: material
/// coordinates are missing, or not in metres (faces are strained beyond all reason).
tl_status tl_wrinkles_frame(tl_wrinkles *w, const tl_wrinkle_frame *coarse, const char *name, tl_workers *workers,
                            tl_error *err);

/// Height [m] over face `face` of the frame at a place of material space; continuous over edges of a panel.
double tl_wrinkles_height(const tl_wrinkles *w, int32_t face, tl_vec2 place);
/// The same for bump maps: slopes [1] along u and v, modulation taken as constant.
tl_vec2 tl_wrinkles_slope(const tl_wrinkles *w, int32_t face, tl_vec2 place);

/// What a frame came to.
typedef struct tl_wrinkle_report {
    double highest;           ///< [m] modulation of a texture
    double most_compression;  ///< [1] of a face
    double folded;            ///< part of the material's area that has folds
    double change;            ///< [m] most that a modulation has changed since the frame before; 0 for a first frame
    int32_t held_back;        ///< vertices whose change was bounded
} tl_wrinkle_report;
const tl_wrinkle_report *tl_wrinkles_report(const tl_wrinkles *w);

/// Wavelength of a sheet of rigidity `bending` [N m] under `tension` [N/m] along folds that are `length` [m] long: 2
/// sqrt(pi) (B / T)^(1/4) sqrt(length) (Cerda & Mahadevan 2003, Eq. 1). [m]
double tl_wrinkle_wavelength(double bending, double tension, double length);

/// Heights of the nodes of `fine`, which was refined from the frame's faces (`source`). On seams the mean of both sides
/// is taken and evened out over `soften` rings of nodes, so that there is no edge along them. `height` has node_count
/// entries.
tl_status tl_wrinkles_sample(const tl_wrinkles *w, const tl_fine_mesh *fine, int32_t soften, tl_workers *workers,
                             double *height, tl_error *err);

/// Moves nodes of all cloths along their normals by heights (w[i] NULL: none), clear of everything (tl_finish_move).
tl_status tl_wrinkles_displace(const tl_finish *f, tl_wrinkles *const *w, tl_fine_mesh *cloth, int32_t cloth_count,
                               tl_clear_report *report, tl_error *err);

/// Splits edges beside which heights differ by more than `tolerance` [m], up to `depth` times; both sides of an edge,
/// and of a seam, are split alike, so no node lies on an edge (Kimmerle 2005, sec. 5.4.2; Moule & McCool 2002). The
/// surface stays what it was. `mesh` is replaced.
tl_status tl_wrinkles_tessellate(const tl_wrinkles *w, double tolerance, int32_t depth, tl_fine_mesh *mesh,
                                 tl_error *err);

/// Maps over material space, row 0 at the greatest v.
typedef struct tl_wrinkle_maps {
    int32_t size;          ///< of a side in texels
    uint16_t *height;      ///< [size * size] 32768 is none, 1 and 65535 are -range and range
    uint16_t *normal;      ///< [3 * size * size] (n + 1) / 2 of the normal in (u, v, out)
    double range;          ///< [m]; the same for all frames
    tl_vec2 lowest, step;  ///< place of the lower left corner, and size of a texel [m]
    int32_t overlaps;      ///< texels that more than one face claims (the first has them): panels lie on each other
} tl_wrinkle_maps;
tl_status tl_wrinkles_maps(const tl_wrinkles *w, int32_t size, tl_wrinkle_maps *out, tl_error *err);
void tl_wrinkle_maps_free(const tl_wrinkles *w, tl_wrinkle_maps *maps);
