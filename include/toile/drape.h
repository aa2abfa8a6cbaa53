// toile/drape.h: sewing patterns and a body in, draped garments out (docs/drape.md).
//
// Folder: NAME.obj each garment at rest, sewn; NAME.glb with its motion; fit.html, fit.json and fit/ how it fits;
// scene.json and frames/ as of any run; drape.json what it came to; dress/ what to go on from after an interruption.
#pragma once
#include "toile/base.h"
#include "toile/run.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TL_DRAPE_HOLDS = 16 };

typedef enum tl_drape_quality {
    TL_DRAPE_DRAFT,   ///< edges of 2 cm
    TL_DRAPE_NORMAL,  ///< 1 cm
    TL_DRAPE_FINAL,   ///< 7 mm
} tl_drape_quality;

typedef enum tl_drape_stage {
    TL_DRAPE_SEW,     ///< seams closed around the body drawn in
    TL_DRAPE_GROW,    ///< the body takes its size
    TL_DRAPE_SETTLE,  ///< gravity, coarse mesh
    TL_DRAPE_REFINE,  ///< gravity, fine mesh
    TL_DRAPE_RUN,     ///< the scene, with its motion
    TL_DRAPE_STAGES,
} tl_drape_stage;
TL_API const char *tl_drape_stage_name(tl_drape_stage stage);  ///< "sew", ..; NULL if out of range

/// Made to measure: see tl_pattern_grade.
typedef struct tl_drape_measure {
    const char *name;
    double value;
} tl_drape_measure;

/// Edges whose label holds a word are tied to the skin, or become an elastic band.
typedef struct tl_drape_hold {
    const char *label;  ///< word in the label of edges of the pattern, whatever the case
    double stiffness;   ///< of springs to the skin, per length of the edges [N/m^2]; 0: none
    double elastic;     ///< the band wants to be this fraction of the edges' length; 0: no band
} tl_drape_hold;

/// Start from tl_drape_def_default().
typedef struct tl_drape_def {
    uint32_t struct_size;         ///< filled in by the default function, do not set
    const char *const *patterns;  ///< worn together, the innermost first. Required.
    int32_t pattern_count;
    const char *body;          ///< any file of docs/bodies.md. Required.
    const char *body_units;    ///< "auto", "m", "cm", "mm", "in", "ft"; NULL: auto
    const char *motion;        ///< .bvh on the body's skeleton; NULL: none
    const char *clip;          ///< of the body or `motion`, to move by afterwards; NULL: it stands
    const char *material;      ///< fabric of the library or a file. Default "cotton".
    tl_drape_quality quality;  ///< Default TL_DRAPE_NORMAL.
    double edge;               ///< of the finished mesh [m], in place of the quality's; 0: by quality. Default 0.
    uint32_t no_fit;           ///< 1: no fit.html, fit.json. Default 0.
    int32_t frames;            ///< of the motion; < 0: all of the clip. Default -1.
    const char *out_dir;       ///< Required.
    int32_t threads;           ///< >= 1; never changes a result. Default 1.
    /// Called often; `garment` is the pattern's number, `part` of the stage is done. May be NULL.
    void (*progress)(void *user, int32_t garment, tl_drape_stage stage, double part);
    int (*cancelled)(void *user);  ///< nonzero ends it with TL_CANCELLED; the same call goes on later. May be NULL.
    void *user;
    const tl_log *log;           ///< may be NULL
    const tl_drape_hold *holds;  ///< hold_count entries, at most TL_DRAPE_HOLDS; may be NULL
    int32_t hold_count;
    const tl_drape_measure *measures;  ///< measure_count entries, one after the other; patterns that do not know one
                                       ///< stay as they are, if another does. May be NULL.
    int32_t measure_count;
    const char *beside;  ///< another body: the same in out_dir/beside on it, side by side in fit.html; NULL: none
    uint32_t place_all;  ///< 1: panels are placed by what they are, whatever places the pattern gives them. Default 0.
    uint32_t no_hold;  ///< 1: no rim is held but those of `holds`. Default 0: what does not hang from the shoulders is.
    const char *body_up;       ///< axis of the body's file that points up: "auto", "y", "z", "x"; NULL: auto
    const char *cache;         ///< positions to move by, as tl_character_def.cache; NULL: none
    double cache_fps;          ///< frames a second of it; 0: 25
    const char *const *bones;  ///< "from=to" for `motion`, as tl_character_def.bones; may be NULL
    int32_t bone_count;
} tl_drape_def;
TL_API void tl_drape_def_init(tl_drape_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_drape_def tl_drape_def_default(void)
{
    tl_drape_def def;
    tl_drape_def_init(&def, sizeof def);
    return def;
}

/// How a garment fits at rest. 95: what 95 % of the area keep below.
typedef struct tl_drape_fit {
    double tension_mean, tension_95, tension_max;     ///< larger principal stress of the cloth [N/m]
    double pressure_mean, pressure_95, pressure_max;  ///< on the body, where cloth presses on it [kPa]
    double touching;                                  ///< part of the cloth that does
    double room_mean, room_95;                        ///< distance to the body [m]
    double chest_ease, waist_ease, hip_ease;  ///< girth of cloth less that of the body [m]; 0: it does not go around
} tl_drape_fit;

/// What became of one garment.
typedef struct tl_drape_garment {
    char name[64];
    int32_t panels, seams, faces, nodes;  ///< faces and nodes of the finished mesh
    int32_t placed;                       ///< panels that were placed automatically
    int64_t crossings_start;              ///< of panels with each other and the body, before they were pulled apart
    int64_t crossings;                    ///< at rest, by the exact test
    double gap_start, gap;                ///< widest seam before sewing and before welding [m]
    char gap_panel[2][64];                ///< panels at the latter
    double strain_min, strain_max;        ///< at rest
    double strain_min_99, strain_max_99;  ///< that all but a hundredth of the area keep to
    double speed;                         ///< mean of the nodes in the end [m/s]
    int32_t rested;                       ///< 1: slower than 3 mm/s
    int32_t steps;
    int32_t pinched;       ///< most nodes between parts of the body at a time
    int32_t pinched_end;   ///< those in the end: there cloth passes through the skin
    char fault[640];       ///< what is not as it should be, "" if all is
    char sewn_wrong[280];  ///< seams that closed beside a limb instead of around it and the like, "": none
    int32_t arms_raised;   ///< 1: it has no sleeves, so arms were raised while it was sewn
    double shift;          ///< of the body while it was sewn, of its height: down under straps, up out of a crotch
    int32_t left_open;     ///< points of seams that could not be closed
    int32_t openings;      ///< closed borders: neck, cuffs, hems
    tl_drape_fit fit;
    int32_t held;                     ///< nodes that are tied to the body
    double hold_force;                ///< what the ties carry at rest [N]
    double seconds[TL_DRAPE_STAGES];  ///< of wall clock; not part of drape.json
} tl_drape_garment;

enum { TL_DRAPE_GARMENTS = 16 };
typedef struct tl_drape_report {
    int32_t count;  ///< garments
    tl_drape_garment garment[TL_DRAPE_GARMENTS];
    int32_t resumed;  ///< stages taken from an earlier call
    tl_run_report run;
    int32_t ran;  ///< 1: `run` is filled in
    double seconds;
} tl_drape_report;

/// TL_BAD_INPUT names file, panel or seam; TL_FAILED what could not be sewn. What was done stays in the folder.
TL_API tl_status tl_drape(const tl_drape_def *def, tl_drape_report *report, tl_error *err);

#ifdef __cplusplus
}
#endif
