// app/fabric_lab.h: the tests that laboratories put fabrics to, done on simulated ones.
#pragma once
#include <stdint.h>

#include "toile/material.h"

/// Cusick's drape test (BS 5058, ISO 9073-9): a disc of 30 cm on a support of 18 cm, held by contact alone.
typedef struct lab_drape {
    double edge, warp_deg;  ///< of the mesh [m]; how far the fabric is turned on it
    double coefficient;     ///< share of the ring that the shadow covers, 0 to 1
    double speed;           ///< root mean square at the end [m/s]
    int32_t folds, faces;
} lab_drape;

enum { LAB_PICTURE = 360, LAB_POINTS = 41 };

/// `rgb` (LAB_PICTURE squared, 3 bytes each; may be NULL) gets a picture from above and aside.
tl_status lab_drape_test(const tl_material *fabric, double edge, double warp_deg, int32_t threads, lab_drape *out,
                         uint8_t *rgb, tl_error *err);

/// ASTM D1388: the overhang at which the tip of a strip meets a slope of 41.5 degrees.
typedef struct lab_cantilever {
    double overhang;              ///< measured [m]; the bending length is half of it
    double elastica;              ///< by the heavy elastica, of the rigidity at rest [m]
    double shape[LAB_POINTS][2];  ///< the strip at that overhang: along, down [m]
} lab_cantilever;
tl_status lab_cantilever_test(const tl_material *fabric, int32_t weft, lab_cantilever *out, tl_error *err);

/// Heart loop (ASTM D1388, option B): a strip of 30 cm with its ends in one grip, pointing up; depth of the lowest
/// point.
typedef struct lab_heart {
    double depth;  ///< [m]
    double shape[62][2];
    int32_t points;
} lab_heart;
tl_status lab_heart_test(const tl_material *fabric, int32_t weft, lab_heart *out, tl_error *err);

/// Force per width [N/m] at strains from 0 to `most`, LAB_POINTS of them: pulled at `angle_deg` to the warp with sides
/// free to draw in, or sheared by the sine of the angle.
tl_status lab_pull(const tl_material *fabric, double angle_deg, double most, double force[LAB_POINTS], tl_error *err);
tl_status lab_shear(const tl_material *fabric, double most, double force[LAB_POINTS], tl_error *err);

/// Rigidity at rest when the warp (weft) is bent [N m], and the bending length (B / (rho g))^(1/3) [m].
double lab_rigidity(const tl_material *fabric, int32_t weft);
double lab_bending_length(const tl_material *fabric, int32_t weft);
