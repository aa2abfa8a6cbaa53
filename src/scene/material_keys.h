// scene/material_keys.h: the keys of fabric files, one table per kind.
#pragma once
#include "scene/keys.h"
#include "toile/material.h"

enum {
    TL_MATERIAL_ISOTROPIC,
    TL_MATERIAL_ORTHOTROPIC,
    TL_MATERIAL_MEASURED,
    TL_MATERIAL_KESF,
    TL_MATERIAL_FAST,
    TL_MATERIAL_KINDS
};

/// What any kind of file may hold.
/// How a fabric looks in pictures; numbers that were not given are NaN.
typedef struct tl_material_look {
    char color[8], back[8];
    int32_t weave;
    double yarn, gloss, roughness, sheen, transmit;
} tl_material_look;

typedef struct tl_material_file {
    const char *name, *source, *use;
    int32_t kind;
    tl_material_look look;  // for pictures; checked here, read from the text by run/render_style.c
    double density, thickness, damping_stretch, damping_bend, friction_bend;
    double young, poisson, bend;                     // isotropic
    double stretch_sample, bend_step, bend_poisson;  // measured; the tables are read by hand
    tl_orthotropic orthotropic;
    tl_kesf kesf;
    tl_fast fast;
} tl_material_file;

extern const char *const tl_material_kind_words[];
extern const tl_key_table tl_material_look_table;
extern const tl_key_table tl_material_tables[TL_MATERIAL_KINDS];
extern const tl_key_table tl_material_wang_table;
