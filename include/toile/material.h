// toile/material.h: what a fabric is made of, in SI units, and where its numbers may come from.
//
// One record serves three kinds of source: isotropic (Young, Poisson, thickness), orthotropic linear
// (warp, weft, shear, Poisson; KES-F and FAST sheets), and measured nonlinear (Wang et al. 2011).
// Material x is the warp, material y the weft.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// In plane, energy per material area is 1/2 (c11 E11^2 + c22 E22^2 + 2 c12 E11 E22 + c33 E12^2) with Green
/// strain E. The four numbers of row 0 hold at rest, those of rows 1 to 5 where the larger principal
/// stretch is 1 + stretch_sample, at 0, 22.5, 45, 67.5, 90 degrees to the warp. A linear fabric repeats row 0.
/// Bending rigidity per width is tabulated for a bending axis at 0, 45, 90 degrees to the warp (row) and for
/// curvatures 0, 1, .. 4 times bend_step (column); constant beyond. A linear fabric repeats column 0.
typedef struct tl_material {
    char name[64];
    double density;  ///< mass per area [kg/m^2], > 0. Default 0.2.
    double
        thickness;  ///< [m], >= 0; of the sheet, for reference: contact goes by tl_cloth_def.thickness. Default 0.0005.
    double stretch[6][4];    ///< c11, c12, c22, c33 [N/m]
    double stretch_sample;   ///< strain of rows 1 to 5, > 0. Default 1/6.
    double bend[3][5];       ///< [N m], >= 0
    double bend_step;        ///< [1/m], > 0. Default 10.
    double bend_poisson;     ///< curvature one way that resists curvature the other way, in (-1, 1). Default 0.
    double damping_stretch;  ///< internal damping: viscous stress = damping * stiffness * strain rate [s], >= 0.
                             ///< Default 0.
    double damping_bend;     ///< the same for curvature [s], >= 0. Default 0.
    double friction_bend;    ///< between yarns: moment per width against bending [N], >= 0; half of Kawabata's 2HB.
                             ///< Default 0.
} tl_material;

/// A plain woven cotton: isotropic, 1000 N/m, Poisson 0.3, 2e-5 N m, 0.2 kg/m^2.
TL_API tl_material tl_material_default(void);

/// Young's modulus [Pa], Poisson's ratio in (-1, 0.5], thickness [m] of a homogeneous sheet, density [kg/m^2]:
/// membrane stiffness E h / (1 - nu^2), rigidity E h^3 / (12 (1 - nu^2)).
TL_API tl_status tl_material_isotropic(double young, double poisson, double thickness, double density, tl_material *out,
                                       tl_error *err);

/// A linear fabric whose warp and weft differ.
typedef struct tl_orthotropic {
    double stretch_warp, stretch_weft;  ///< tensile stiffness along warp / weft [N/m], > 0
    double shear;                       ///< shear stiffness: shear force per width and shear angle [N/m], > 0
    double poisson;                     ///< contraction of the weft when the warp is stretched, |nu| < sqrt(warp/weft)
    double bend_warp, bend_weft;        ///< rigidity when the warp / weft yarns are bent [N m], >= 0
    double bend_bias;                   ///< rigidity when bent along 45 degrees [N m]; < 0: from the other two
    double density;                     ///< [kg/m^2], > 0
    double thickness;                   ///< [m], >= 0
} tl_orthotropic;
TL_API tl_status tl_material_orthotropic(const tl_orthotropic *def, tl_material *out, tl_error *err);

/// Kawabata (KES-F) sheet in its customary units.
typedef struct tl_kesf {
    double lt_warp, lt_weft;    ///< linearity of tensile curve LT [-]
    double wt_warp, wt_weft;    ///< tensile energy WT [gf cm/cm^2]
    double emt_warp, emt_weft;  ///< extension at 500 gf/cm EMT [%]
    double g_warp, g_weft;      ///< shear stiffness G [gf/(cm degree)]
    double b_warp, b_weft;      ///< bending rigidity B [gf cm^2/cm]
    double weight;              ///< [mg/cm^2]
    double thickness;           ///< at 0.5 gf/cm^2 T0 [mm]
    double hb_warp, hb_weft;    ///< width of the bending loop 2HB [gf cm/cm], >= 0; 0: not known
} tl_kesf;
TL_API tl_status tl_material_kesf(const tl_kesf *sheet, tl_material *out, tl_error *err);

/// FAST sheet in its customary units.
typedef struct tl_fast {
    double e5_warp, e5_weft, e20_warp, e20_weft, e100_warp, e100_weft;  ///< extension at 5, 20, 100 gf/cm [%]
    double eb5;             ///< bias extension at 5 gf/cm [%]; shear rigidity G = 123 / EB5 [N/m]
    double c_warp, c_weft;  ///< bending length [mm]
    double weight;          ///< [g/m^2]
    double thickness;       ///< at 2 gf/cm^2 T2 [mm]
} tl_fast;
TL_API tl_status tl_material_fast(const tl_fast *sheet, tl_material *out, tl_error *err);

/// Checks every number; TL_BAD_INPUT names the field and its value.
TL_API tl_status tl_material_check(const tl_material *material, tl_error *err);

#ifdef __cplusplus
}
#endif
