// app/fabric_page.h: the report on a fabric as one HTML page: tables, SVG plots, pictures, nothing to load.
#pragma once
#include <stdbool.h>

#include "fabric_lab.h"

enum { FABRIC_DRAPES = 16, FABRIC_CURVES = 4 };

/// What the literature says of a class of fabric (NOTICE: bands read by st-tech/ppf-contact-solver, Apache-2.0).
typedef struct fabric_band {
    const char *fabric;
    double drape_low, drape_high;  ///< per cent
    double stiffness;              ///< tensile, per width [N/m]
    const char *source;
} fabric_band;
const fabric_band *fabric_band_of(const char *name);  ///< NULL: none

typedef struct fabric_report {
    const char *name, *file;
    const tl_material *material;
    const fabric_band *band;
    lab_drape drape[FABRIC_DRAPES];  ///< the resolutions first, then the rotations
    int32_t resolutions, rotations;
    uint8_t *picture[FABRIC_DRAPES];  ///< of LAB_PICTURE; NULL: none
    lab_cantilever cantilever[2];     ///< warp, weft
    lab_heart heart[2];
    double pull[3][LAB_POINTS], pull_most, shear[LAB_POINTS], shear_most;  ///< warp, weft, 45 degrees
} fabric_report;

double fabric_mean_drape(const fabric_report *r);  ///< per cent, over the rotations (the resolutions without)
double fabric_drape_spread(const fabric_report *r, bool rotations);  ///< largest less smallest, per cent
/// Whether a report could be written there; leaves nothing behind.
tl_status fabric_page_try(const char *path, tl_error *err);
tl_status fabric_page_write(const fabric_report *r, const char *path, tl_error *err);
