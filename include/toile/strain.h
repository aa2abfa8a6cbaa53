// toile/strain.h: how far cloth may be stretched, sheared and pushed together.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tl_strain_kind {
    TL_STRAIN_FREE,       ///< no limits
    TL_STRAIN_ISOTROPIC,  ///< the same in every direction
    TL_STRAIN_ALIGNED,    ///< along warp and weft (material x and y), and shear between them
} tl_strain_kind;

/// Limits on strain, held in every face at the end of every step (docs/strain-limiting.md). Strain is stretch - 1.
/// Limits of zero are allowed; -INFINITY and INFINITY: no limit that way.
typedef struct tl_strain_def {
    tl_strain_kind kind;        ///< Default TL_STRAIN_FREE.
    double min, max;            ///< in every direction, or along the warp; -1 < min <= 0 <= max. Default none.
    double weft_min, weft_max;  ///< aligned only. Default none.
    double shear;               ///< aligned only: sine of the shear angle at most, >= 0. Default none.
    double reserved[6];         ///< room for later fields; zero
} tl_strain_def;

/// How strain limits were met in a step: the worst and the most over its substeps.
typedef struct tl_strain_report {
    int32_t active;    ///< faces that limits hold
    int32_t rounds;    ///< of iterations of all nodes for the sake of limits, over all substeps
    int32_t mended;    ///< iterations in which only the surroundings of faces beyond their limits moved, likewise
    int32_t violated;  ///< faces left more than the tolerance (0.1 %) beyond their limits
    double worst;  ///< largest excess over a limit, as strain; 0: none. Faces whose nodes are all driven do not count.
} tl_strain_report;

#ifdef __cplusplus
}
#endif
