// scene/material_keys.c: the keys of fabric files, one table per kind.
// clang-format off: tables with one key a line read best

#include "scene/material_keys.h"

#include <stddef.h>

#define AT(field) offsetof(tl_material_file, field)
#define POSITIVE .flags = TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, .min = 0, .max = TL_KEY_LIMIT
#define NOT_NEGATIVE .min = 0, .max = TL_KEY_LIMIT

static const char *const weave_words[] = {"plain", "twill", "satin", "knit", "none", NULL};  // as tl_weave_kind
#define LOOK(field) offsetof(tl_material_look, field)
static const tl_key_def look_keys[] = {
    {"color", TL_KEY_COLOR, TL_KEY_OPTIONAL, LOOK(color), .unit = "#rrggbb", .doc = "Colour of the front"},
    {"back", TL_KEY_COLOR, TL_KEY_OPTIONAL, LOOK(back), .unit = "#rrggbb",
     .doc = "Colour of the back; default: a paler front"},
    {"weave", TL_KEY_WORD, TL_KEY_OPTIONAL, LOOK(weave), .words = weave_words,
     .doc = "How the yarns cross, seen close by"},
    {"yarn", TL_KEY_REAL, TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN, LOOK(yarn), 0, 1, .unit = "m",
     .doc = "Distance of the yarns"},
    {"gloss", TL_KEY_REAL, TL_KEY_OPTIONAL, LOOK(gloss), 0, 1, .doc = "Strength of the highlight"},
    {"roughness", TL_KEY_REAL, TL_KEY_OPTIONAL, LOOK(roughness), 0.05, 1, .doc = "Width of the highlight"},
    {"sheen", TL_KEY_REAL, TL_KEY_OPTIONAL, LOOK(sheen), 0, 2,
     .doc = "Soft light at grazing angles, of fibres that stand up"},
    {"transmit", TL_KEY_REAL, TL_KEY_OPTIONAL, LOOK(transmit), 0, 1, .doc = "Part of the light that shines through"},
    {0},
};
#undef LOOK
const tl_key_table tl_material_look_table = {"look of a fabric in pictures", look_keys};

const char *const tl_material_kind_words[] = {"isotropic", "orthotropic", "measured", "kesf", "fast", NULL};

#define COMMON                                                                                                         \
    {"name", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(name), .doc = "Name in messages; default: the name of the file"},        \
        {"appearance",                                                                                                 \
         TL_KEY_OBJECT,                                                                                                \
         TL_KEY_OPTIONAL,                                                                                              \
         AT(look),                                                                                                     \
         .table = &tl_material_look_table,                                                                             \
         .doc = "How it looks in pictures"},                                                                           \
        {"kind",                                                                                                       \
         TL_KEY_WORD,                                                                                                  \
         TL_KEY_REQUIRED,                                                                                              \
         AT(kind),                                                                                                     \
         .words = tl_material_kind_words,                                                                              \
         .doc = "Which kind of numbers follows"},                                                                      \
        {"source", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(source),                                                           \
         .doc = "Where the numbers come from: a paper, a sheet of measurements, or that they are an estimate; "        \
                "required in files"},                                                                                  \
        {"use", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(use), .doc = "What it is for, for toile fabrics"},                    \
        {"damping_stretch",                                                                                            \
         TL_KEY_REAL,                                                                                                  \
         0,                                                                                                            \
         AT(damping_stretch),                                                                                          \
         NOT_NEGATIVE,                                                                                                 \
         .unit = "s",                                                                                                  \
         .doc = "Internal damping in plane: viscous stress = damping * stiffness * strain rate"},                      \
        {"damping_bend",                                                                                               \
         TL_KEY_REAL,                                                                                                  \
         0,                                                                                                            \
         AT(damping_bend),                                                                                             \
         NOT_NEGATIVE,                                                                                                 \
         .unit = "s",                                                                                                  \
         .doc = "Internal damping of bending, likewise"},                                                              \
    {                                                                                                                  \
        "friction_bend", TL_KEY_REAL, 0, AT(friction_bend), NOT_NEGATIVE,                                              \
            .unit = "N",                                                                                               \
            .doc = "Friction between yarns: moment per width against every change of curvature, "                      \
                   "half of Kawabata's 2HB (1 gf cm/cm is 9.81e-3 N)"                                                  \
    }

#define DENSITY                                                                                                        \
    {                                                                                                                  \
        "density", TL_KEY_REAL, POSITIVE, .offset = AT(density), .unit = "kg/m^2", .doc = "Mass per area"              \
    }

static const tl_key_def isotropic_keys[] = {
    COMMON,
    DENSITY,
    {"thickness", TL_KEY_REAL, POSITIVE, .offset = AT(thickness), .unit = "m", .doc = "Thickness of the sheet"},
    {"young", TL_KEY_REAL, TL_KEY_REQUIRED | TL_KEY_OPEN_MIN, AT(young), 0, 1e13, .unit = "Pa",
     .doc = "Young's modulus"},
    {"poisson", TL_KEY_REAL, TL_KEY_OPEN_MIN, AT(poisson), -1, 0.5, {0.3}, .doc = "Poisson's ratio"},
    {"bend", TL_KEY_REAL, TL_KEY_OPTIONAL, AT(bend), NOT_NEGATIVE, .unit = "N m",
     .doc = "Bending rigidity per width when it is not that of a homogeneous sheet"},
    {0},
};

#define ORTHO(field) AT(orthotropic.field)
static const tl_key_def orthotropic_keys[] = {
    COMMON,
    {"density", TL_KEY_REAL, POSITIVE, .offset = ORTHO(density), .unit = "kg/m^2", .doc = "Mass per area"},
    {"thickness", TL_KEY_REAL, 0, ORTHO(thickness), NOT_NEGATIVE, {0.0005}, .unit = "m", .doc = "Thickness"},
    {"stretch_warp", TL_KEY_REAL, POSITIVE, .offset = ORTHO(stretch_warp), .unit = "N/m",
     .doc = "Tensile stiffness along the warp: force per width and strain"},
    {"stretch_weft", TL_KEY_REAL, POSITIVE, .offset = ORTHO(stretch_weft), .unit = "N/m",
     .doc = "Tensile stiffness along the weft"},
    {"shear", TL_KEY_REAL, POSITIVE, .offset = ORTHO(shear), .unit = "N/m",
     .doc = "Shear stiffness: shear force per width and shear angle in radians"},
    {"poisson", TL_KEY_REAL, 0, ORTHO(poisson), -100, 100, .doc = "Contraction of the weft when the warp is stretched"},
    {"bend_warp", TL_KEY_REAL, TL_KEY_REQUIRED, ORTHO(bend_warp), NOT_NEGATIVE, .unit = "N m",
     .doc = "Bending rigidity per width when the warp yarns are bent"},
    {"bend_weft", TL_KEY_REAL, TL_KEY_REQUIRED, ORTHO(bend_weft), NOT_NEGATIVE, .unit = "N m",
     .doc = "Bending rigidity per width when the weft yarns are bent"},
    {"bend_bias", TL_KEY_REAL, TL_KEY_OPTIONAL, ORTHO(bend_bias), NOT_NEGATIVE, .unit = "N m",
     .doc = "Bending rigidity at 45 degrees; default: from the other two"},
    {0},
};

static const tl_key_def stretch_row = {
    .type = TL_KEY_VEC4, .min = -1e12, .max = 1e12, .doc = "c11, c12, c22, c33 [N/m]"};
static const tl_key_def bend_entry = {.type = TL_KEY_REAL, NOT_NEGATIVE, .doc = "rigidity [N m]"};
static const tl_key_def bend_row = {.type = TL_KEY_LIST,
                                    .min = 1,
                                    .item = &bend_entry,
                                    .doc = "rigidity at curvatures 0, 1, .. 4 bend_step, or one number [N m]"};
static const tl_key_def measured_keys[] = {
    COMMON,
    DENSITY,
    {"thickness", TL_KEY_REAL, 0, AT(thickness), NOT_NEGATIVE, {0.0005}, .unit = "m", .doc = "Thickness"},
    {"stretch", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 1, .item = &stretch_row, .unit = "N/m",
     .doc = "Rows of c11, c12, c22, c33: energy per area is (c11 E11^2 + c22 E22^2 + 2 c12 E11 E22 + c33 "
            "E12^2)/2 with "
            "Green strain E. One row (linear), or six: at rest, then at stretch 1 + stretch_sample along 0, "
            "22.5, 45, "
            "67.5, 90 degrees to the warp"},
    {"stretch_sample",
     TL_KEY_REAL,
     TL_KEY_OPEN_MIN,
     AT(stretch_sample),
     0,
     10,
     {1.0 / 6},
     .doc = "Strain at which rows 1 to 5 hold"},
    {"bend", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 3, .item = &bend_row, .unit = "N m",
     .doc = "Three rows: bending rigidity per width about an axis at 0, 45, 90 degrees to the warp, at "
            "curvatures 0, 1, "
            ".. 4 bend_step (or one number for all)"},
    {"bend_step",
     TL_KEY_REAL,
     TL_KEY_OPEN_MIN,
     AT(bend_step),
     0,
     1e6,
     {10},
     .unit = "1/m",
     .doc = "Curvature between the columns of bend"},
    {"bend_poisson", TL_KEY_REAL, TL_KEY_OPEN_MIN | TL_KEY_OPEN_MAX, AT(bend_poisson), -1, 1,
     .doc = "How much curvature one way resists curvature the other way"},
    {0},
};

#define KESF(field) AT(kesf.field)
static const tl_key_def kesf_keys[] = {
    COMMON,
    {"lt_warp", TL_KEY_REAL, 0, KESF(lt_warp), 0, 10, .doc = "Linearity of the tensile curve LT, warp"},
    {"lt_weft", TL_KEY_REAL, 0, KESF(lt_weft), 0, 10, .doc = "Linearity of the tensile curve LT, weft"},
    {"wt_warp", TL_KEY_REAL, 0, KESF(wt_warp), 0, 1e6, .unit = "gf cm/cm^2", .doc = "Tensile energy WT, warp"},
    {"wt_weft", TL_KEY_REAL, 0, KESF(wt_weft), 0, 1e6, .unit = "gf cm/cm^2", .doc = "Tensile energy WT, weft"},
    {"emt_warp", TL_KEY_REAL, POSITIVE, .offset = KESF(emt_warp), .unit = "%",
     .doc = "Extension at 500 gf/cm EMT, warp"},
    {"emt_weft", TL_KEY_REAL, POSITIVE, .offset = KESF(emt_weft), .unit = "%",
     .doc = "Extension at 500 gf/cm EMT, weft"},
    {"g_warp", TL_KEY_REAL, POSITIVE, .offset = KESF(g_warp), .unit = "gf/(cm degree)",
     .doc = "Shear stiffness G, warp"},
    {"g_weft", TL_KEY_REAL, POSITIVE, .offset = KESF(g_weft), .unit = "gf/(cm degree)",
     .doc = "Shear stiffness G, weft"},
    {"b_warp", TL_KEY_REAL, POSITIVE, .offset = KESF(b_warp), .unit = "gf cm^2/cm", .doc = "Bending rigidity B, warp"},
    {"b_weft", TL_KEY_REAL, POSITIVE, .offset = KESF(b_weft), .unit = "gf cm^2/cm", .doc = "Bending rigidity B, weft"},
    {"hb_warp", TL_KEY_REAL, 0, KESF(hb_warp), NOT_NEGATIVE, .unit = "gf cm/cm",
     .doc = "Width of the bending loop 2HB, warp; sets friction_bend"},
    {"hb_weft", TL_KEY_REAL, 0, KESF(hb_weft), NOT_NEGATIVE, .unit = "gf cm/cm",
     .doc = "Width of the bending loop 2HB, weft"},
    {"weight", TL_KEY_REAL, POSITIVE, .offset = KESF(weight), .unit = "mg/cm^2", .doc = "Weight"},
    {"thickness",
     TL_KEY_REAL,
     0,
     KESF(thickness),
     NOT_NEGATIVE,
     {0.5},
     .unit = "mm",
     .doc = "Thickness T0 at 0.5 gf/cm^2"},
    {0},
};

#define FAST(field) AT(fast.field)
static const tl_key_def fast_keys[] = {
    COMMON,
    {"e5_warp", TL_KEY_REAL, 0, FAST(e5_warp), 0, 1000, .unit = "%", .doc = "Extension at 5 gf/cm, warp"},
    {"e5_weft", TL_KEY_REAL, 0, FAST(e5_weft), 0, 1000, .unit = "%", .doc = "Extension at 5 gf/cm, weft"},
    {"e20_warp", TL_KEY_REAL, 0, FAST(e20_warp), 0, 1000, .unit = "%", .doc = "Extension at 20 gf/cm, warp"},
    {"e20_weft", TL_KEY_REAL, 0, FAST(e20_weft), 0, 1000, .unit = "%", .doc = "Extension at 20 gf/cm, weft"},
    {"e100_warp", TL_KEY_REAL, 0, FAST(e100_warp), 0, 1000, .unit = "%", .doc = "Extension at 100 gf/cm, warp"},
    {"e100_weft", TL_KEY_REAL, 0, FAST(e100_weft), 0, 1000, .unit = "%", .doc = "Extension at 100 gf/cm, weft"},
    {"eb5", TL_KEY_REAL, POSITIVE, .offset = FAST(eb5), .unit = "%", .doc = "Bias extension at 5 gf/cm"},
    {"c_warp", TL_KEY_REAL, POSITIVE, .offset = FAST(c_warp), .unit = "mm", .doc = "Bending length, warp"},
    {"c_weft", TL_KEY_REAL, POSITIVE, .offset = FAST(c_weft), .unit = "mm", .doc = "Bending length, weft"},
    {"weight", TL_KEY_REAL, POSITIVE, .offset = FAST(weight), .unit = "g/m^2", .doc = "Weight"},
    {"thickness",
     TL_KEY_REAL,
     0,
     FAST(thickness),
     NOT_NEGATIVE,
     {0.5},
     .unit = "mm",
     .doc = "Thickness T2 at 2 gf/cm^2"},
    {0},
};

const tl_key_table tl_material_tables[TL_MATERIAL_KINDS] = {
    [TL_MATERIAL_ISOTROPIC] = {"isotropic fabric", isotropic_keys},
    [TL_MATERIAL_ORTHOTROPIC] = {"orthotropic fabric", orthotropic_keys},
    [TL_MATERIAL_MEASURED] = {"measured fabric", measured_keys},
    [TL_MATERIAL_KESF] = {"fabric from a KES-F sheet", kesf_keys},
    [TL_MATERIAL_FAST] = {"fabric from a FAST sheet", fast_keys},
};

static const tl_key_def wang_bend_entry = {.type = TL_KEY_REAL, .doc = "hinge coefficient [N m]"};
static const tl_key_def wang_bend_row = {
    .type = TL_KEY_LIST, .min = 5, .item = &wang_bend_entry, .doc = "five hinge coefficients [N m]"};
static const tl_key_def wang_keys[] = {
    DENSITY,
    {"stretching", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 6, .item = &stretch_row, .unit = "N/m",
     .doc = "Six rows of four coefficients, half the stiffness"},
    {"bending", TL_KEY_LIST, TL_KEY_REQUIRED, .min = 3, .item = &wang_bend_row, .unit = "N m",
     .doc = "Three rows of five hinge coefficients, four times the rigidity"},
    {0},
};
const tl_key_table tl_material_wang_table = {"fabric as published with Wang et al. 2011", wang_keys};
