// toile/refine.h: finer, smooth surfaces of finished frames that still touch nothing (Kimmerle 2005, ch. 4).
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tl_refine_scheme {
    TL_REFINE_MODIFIED_LOOP,  ///< smooths, with bounded curvature; looks best on cloth
    TL_REFINE_LOOP,           ///< smooths
    TL_REFINE_BUTTERFLY,      ///< goes through the nodes of the frame
    TL_REFINE_CURVED,         ///< curved edges that bulge where cloth is pushed together, finer where it bends alone
                              ///< (Simnett 2012, ch. 6); goes through the nodes of the frame. Reads `curve`
    TL_REFINE_SCHEMES
} tl_refine_scheme;
TL_API const char *tl_refine_scheme_name(tl_refine_scheme scheme);  ///< "modified-loop"; NULL: there is none

/// Folds that the simulated mesh is too coarse for, put over its finer surface (Kimmerle 2005, ch. 5).
typedef enum tl_refine_folds {
    TL_REFINE_NO_FOLDS,
    TL_REFINE_DIRECTIONAL,  ///< across the compression, as high as the length that cloth has lost; none at rest
    TL_REFINE_PUBLISHED,    ///< heights that keep the area, as printed (Eq. 5.8): folds at rest too
    TL_REFINE_FOLDS
} tl_refine_folds;
TL_API const char *tl_refine_folds_name(tl_refine_folds folds);  ///< "directional", "paper"; NULL: there is none

typedef struct tl_refine_wrinkles {
    tl_refine_folds folds;  ///< default TL_REFINE_NO_FOLDS: the other fields are not read
    double wavelength;  ///< of folds, at rest [m]; 0: from the fabric of the run (bending against its weight), or twice
                        ///< the mean length of edges where there is none. Default 0.
    int32_t textures;   ///< directions that folds can have, 2 to 16. Default 6.
    double variation;   ///< noise of the phase [rad], >= 0: folds wander and end. Default 5.
    double persistence;  ///< of the noise, 0 to 1: the part of the next finer octave. Default 0.35.
    double zone;         ///< (0, 1]: two textures are blended when the second best is this close. Default 0.3.
    double onset;        ///< compression without folds, [0, 1). Default 0.002. Directional.
    double amplitude;    ///< height of a texture at rest [m], > 0. Default 0.004. Published.
    double strength;     ///< factor of all heights, >= 0. Default 1.
    double rate;         ///< most that a height changes from frame to frame [m]; 0: no bound. Default 0.001.
    uint32_t seed;       ///< of the noise. Default 1.
    double adaptive;     ///< [m] > 0: after the levels, faces are split where heights differ more than this from what
                         ///< they can show. 0: not. Default 0.
    int32_t maps;        ///< texels of a side of height and normal maps, 4 to 8192; 0: none. Default 0.
    int32_t keep_plain;  ///< 1: maps alone, the surface stays as it is (bump mapping). Default 0.
} tl_refine_wrinkles;

/// The scheme `curved` (docs/refining.md, "Curved edges").
typedef struct tl_refine_curve {
    double bulge[4];  ///< K0 to K3: an edge bulges M = K0 + K1 C + K2 C^2 + K3 C^3 times as far as that of a PN
                      ///< triangle, with C its rest length over its length. Default 0, 0.55, 0.55, 0.2.
    double cap;       ///< M grows slower beyond this, >= 1. Default 2.
    double split_deg, join_deg;  ///< normals at the ends of an edge that is halved, joined [degrees]. Default 8, 6.
    double split_length, join_length;  ///< length over rest length below, above which it is. Default 0.96, 0.98.
    int32_t uniform;                   ///< 1: all edges are halved to the last level. Default 0.
    int32_t cull;                      ///< 1: coarse where it faces away from `eye`. Default 0.
    tl_vec3 eye;                       ///< [m]
} tl_refine_curve;

typedef struct tl_refine_def tl_refine_def;
/// "LEVELS[:SCHEME][+wrinkles[=paper]]", as in `toile run --refine 2:loop+wrinkles`, into levels, scheme and
/// wrinkle.folds. TL_BAD_ARG says what is wrong; then nothing changes.
TL_API tl_status tl_refine_parse(const char *text, tl_refine_def *def, tl_error *err);

enum { TL_REFINE_LEVELS_MAX = 5 };

/// Called after every frame; may be NULL.
typedef void (*tl_refine_progress)(void *user, int32_t done, int32_t count);

/// Start from tl_refine_def_default().
struct tl_refine_def {
    uint32_t struct_size;      ///< filled in by the default function, do not set
    const char *source;        ///< folder of a run, or an OBJ file. Required.
    const char *out;           ///< folder (frames/ and obstacles/ as in a run), or an OBJ file for one. Required.
    tl_refine_scheme scheme;   ///< default TL_REFINE_MODIFIED_LOOP
    int32_t levels;            ///< 0 to TL_REFINE_LEVELS_MAX, each makes four faces of one. Default 2.
    int32_t crease_seams;      ///< 1: seams stay as sharp as they are. Default 0.
    double gap;                ///< [m] that is kept to bodies and between layers, > 0. Default 0.0002.
    int32_t first, last;       ///< frames, both included; last < 0: to the end. Default 0, -1.
    int32_t threads;           ///< >= 1; never changes a result. Default 1.
    int32_t loop_vertex_mask;  ///< 1: modified Loop with Loop's vertex mask, as the thesis describes; curvature is then
                               ///< unbounded at some valences. Default 0.
    tl_refine_progress progress;
    void *user;
    tl_refine_wrinkles wrinkle;
    tl_refine_curve curve;
};
TL_API void tl_refine_def_init(tl_refine_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_refine_def tl_refine_def_default(void)
{
    tl_refine_def def;
    tl_refine_def_init(&def, sizeof def);
    return def;
}

/// One level of all frames (Kimmerle 2005, Table 4.3).
typedef struct tl_refine_level {
    int64_t nodes, faces;  ///< after the level, over all frames
    int64_t close_pairs;   ///< of nodes and faces or of edges whose boxes meet on the way
    int64_t corrected;     ///< nodes that do not get where the scheme wants them, since something is in the way
    int64_t stopped;       ///< of these, nodes that stay on the coarser surface
    int32_t most_searches;
    double longest;  ///< [m] that a node was to be moved
    double mask_seconds, tree_seconds, test_seconds;
} tl_refine_level;

typedef struct tl_refine_report {
    int32_t frames;
    int64_t faces_in, faces_out;  ///< over all frames
    int64_t corrected, stopped;   ///< over all levels, as above
    int32_t most_searches;        ///< for one level of one frame
    double longest;               ///< [m] that a node was to be moved
    double seconds;               ///< files included
    int32_t levels;
    tl_refine_level level[TL_REFINE_LEVELS_MAX];
    // wrinkles
    double highest;                 ///< [m] greatest height of a fold that was asked for
    double change;                  ///< [m] most that a height has changed from one frame to the next
    double shortest, longest_wave;  ///< [m] wavelengths of cloths
    double nodes_per_wave;          ///< of the cloth with the fewest, in the first frame; below 4 folds look ragged
    int64_t cut_folds;              ///< nodes that something is in the way of
    int64_t held_back;              ///< vertices whose change was bounded
    int64_t map_overlaps;           ///< texels that several faces claim: panels lie on each other in material space
    double wrinkle_seconds;         ///< coefficients and heights
    double fold_move_seconds;       ///< displacement, clear of everything
    double map_seconds;             ///< maps, files included
} tl_refine_report;

/// Every frame of a run, or one OBJ file, one file per frame as it was, finer. The frames of a run are moved clear of
/// its obstacles, of each other's cloths and of themselves. Stops at the first file that cannot be read or written.
TL_API tl_status tl_refine(const tl_refine_def *def, tl_refine_report *report, tl_error *err);

#ifdef __cplusplus
}
#endif
