// toile/render.h: pictures and films of a recording, a scene or a mesh, and diagrams of a run. No display
// needed.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tl_render_mode {
    TL_RENDER_SHADED,         ///< cloth, bodies, soft light
    TL_RENDER_WIRE,           ///< the same with the edges of the mesh over it
    TL_RENDER_MESH,           ///< large faces blue, small equilateral red, anisotropic yellow (Narain et al. 2012)
    TL_RENDER_STRAIN,         ///< per face: principal strain of larger magnitude, signed
    TL_RENDER_TENSION,        ///< per face: largest principal strain where positive
    TL_RENDER_VELOCITY,       ///< speed, from the velocities in the files or from the frame before
    TL_RENDER_CURVATURE,      ///< largest principal curvature
    TL_RENDER_LEVEL,          ///< how often the largest face has been halved
    TL_RENDER_CONTACT,        ///< distance to the next surface along the normal
    TL_RENDER_INTERSECTIONS,  ///< faces that cross others in red
    TL_RENDER_STRESS,  ///< per face: larger principal stress where positive [N/m]; of runs, which know their fabrics
    TL_RENDER_MODE_COUNT,
} tl_render_mode;

/// "shaded", "wire", ...; NULL if out of range. Static storage.
TL_API const char *tl_render_mode_name(tl_render_mode mode);

typedef enum tl_camera_kind {
    TL_CAMERA_AUTO,    ///< the scene's own if it has one, else all of the animation in view
    TL_CAMERA_ANGLES,  ///< from azimuth and elevation, all of the animation in view
    TL_CAMERA_FIXED,   ///< eye, target and angle of view as given
} tl_camera_kind;

typedef struct tl_camera_def {
    tl_camera_kind kind;
    double azimuth_deg, elevation_deg;  ///< 0, 0 looks from +z (y up) at the scene; azimuth turns towards +x
    tl_vec3 eye, target;                ///< [m]
    double fov_deg;                     ///< vertical, in (0, 170). Default 30.
    double reserved[4];                 ///< room for later fields; zero
} tl_camera_def;

/// Reads "front", "back", "left", "right", "top", "corner", "AZIMUTH,ELEVATION" or "X,Y,Z,X,Y,Z[,FOV]" (eye,
/// target). Returns 0 if the text is none of these.
TL_API int tl_camera_parse(const char *text, tl_camera_def *out);

typedef struct tl_render_progress {
    int32_t done, total;  ///< pictures
    int64_t frame;        ///< of the recording
    double seconds, seconds_left;
    const char *doing;  ///< "looking through the frames", "drawing", "encoding"
} tl_render_progress;

typedef struct tl_render_def {
    uint32_t struct_size;  ///< filled in by the default function, do not set
    const char *source;    ///< folder of a run, folder of OBJ files, scene file (its start) or OBJ file. Required.
    const char *out;       ///< .png (numbered when there are several), .mp4 or .gif. Required.
    const char *compare;   ///< second source, shown on the right; NULL: none
    tl_render_mode mode;
    uint32_t wire;       ///< 1: edges over any mode
    uint32_t marks;      ///< 1: crossing faces red in any mode
    uint32_t caption;    ///< 1: frame, time and faces at the lower left
    uint32_t no_ground;  ///< 1: no floor
    uint32_t white;      ///< 1: plain white background
    uint32_t turntable;  ///< 1: one turn around the scene over the frames; of a single frame, four seconds
    tl_camera_def camera;
    double zoom;                ///< > 0; 2 is twice as near. Default 1.
    int64_t first, last, step;  ///< frames; last < 0: to the end; step >= 1. Default 0, -1, 1.
    int32_t width, height;      ///< pixels; 0: 1280 x 720, films 960 x 540, sheets 1600 wide or more
    double fps;                 ///< of a film; 0: the recording's, else 25
    int32_t sheet;              ///< > 0: this many frames on one page
    int32_t samples;            ///< quality, 1 .. 4096. Default 16.
    double range_lo, range_hi;  ///< of the colour scale, in the unit shown; equal: chosen from the animation
    int32_t threads;            ///< >= 1; changes no byte
    void (*progress)(void *user, const tl_render_progress *progress);  ///< may be NULL
    int (*cancelled)(void *user);  ///< asked before every picture; nonzero ends with TL_CANCELLED. May be NULL.
    void *user;
    const tl_log *log;          ///< warnings: missing frames, faces left out, no FFmpeg. May be NULL.
    const char *const *others;  ///< more sources beside the first (and `compare`), other_count entries; NULL: none
    int32_t other_count;        ///< at most 15 in all
    const char *const *labels;  ///< what to call the sources: source, compare if given, others; NULL or an entry NULL:
                                ///< by the names of their folders
    double zoom_x, zoom_y;  ///< where `zoom` looks, as parts of the picture from its upper left corner, 0 .. 1. Default
                            ///< 0.5, 0.5.
    uint32_t layers;        ///< 1: meshes of cloths as stacks of flat layers, one for each level of refinement, alone.
                            ///< Default 0.
} tl_render_def;
TL_API void tl_render_def_init(tl_render_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_render_def tl_render_def_default(void)
{
    tl_render_def def;
    tl_render_def_init(&def, sizeof def);
    return def;
}

typedef struct tl_render_report {
    int32_t pictures;        ///< drawn
    int32_t missing_frames;  ///< gaps in the numbering, or files that could not be read
    int64_t faces_left_out;  ///< faces with a corner that is not finite, over all pictures
    int64_t crossing_pairs;  ///< in the last picture, when they were looked for
    int32_t width, height;
    double seconds, seconds_per_picture;
    uint32_t no_ffmpeg;  ///< 1: FFmpeg was not found, numbered PNG files were written instead
    char written[1024];  ///< the file, or the pattern of the numbered files
} tl_render_report;

/// Draws and writes. Nothing half-written is left under the final name.
TL_API tl_status tl_render_run(const tl_render_def *def, tl_render_report *report, tl_error *err);

typedef enum tl_mesh_look { TL_LOOK_CLOTH, TL_LOOK_PLAIN, TL_LOOK_SKIN } tl_mesh_look;

/// A mesh in memory, borrowed for the call.
typedef struct tl_render_mesh {
    const tl_vec3 *pos;
    int32_t pos_count;
    const int32_t (*face)[3];  ///< into pos
    int32_t face_count;
    const tl_vec2 *uv;  ///< material coordinates [m]; NULL: none
    int32_t uv_count;
    const int32_t (*face_uv)[3];  ///< into uv; NULL: none
    tl_mesh_look look;
    uint32_t colour;  ///< 0xrrggbb (sRGB); 0: by its place in the list
} tl_render_mesh;

/// Draws meshes into `rgb` (width * height * 3 bytes, rows from the top, sRGB) as tl_render_run would; of
/// `def` the fields source, out, compare, frames, sheet, fps and callbacks are not read. `mode` may be
/// shaded, wire, mesh, strain, tension, curvature or intersections.
TL_API tl_status tl_render_image(const tl_render_def *def, const tl_render_mesh *meshes, int32_t mesh_count,
                                 uint8_t *rgb, tl_error *err);

/// Diagrams of a run's stats.jsonl over time: faces, seconds per stage, energies, strain. `out` ends in .svg
/// or .png.
typedef struct tl_plot_def {
    uint32_t struct_size;  ///< filled in by the default function, do not set
    const char *dir;       ///< Required.
    const char *out;       ///< Required.
    int32_t width;         ///< of the page [points, pixels at scale 1]. Default 860.
    double scale;          ///< pixels per point of a .png. Default 2.
    const tl_log *log;
} tl_plot_def;
TL_API void tl_plot_def_init(tl_plot_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_plot_def tl_plot_def_default(void)
{
    tl_plot_def def;
    tl_plot_def_init(&def, sizeof def);
    return def;
}

typedef struct tl_plot_report {
    int32_t frames, damaged;  ///< lines read, lines that were no statistics
    int32_t charts;
} tl_plot_report;
TL_API tl_status tl_plot_run(const tl_plot_def *def, tl_plot_report *report, tl_error *err);

/// A line of a diagram; NaN leaves a gap.
typedef struct tl_plot_line {
    const char *name;
    const double *y;  ///< [point_count]
} tl_plot_line;

/// A diagram of a page.
typedef struct tl_plot_diagram {
    const char *title;  ///< quantity and unit
    const tl_plot_line *lines;
    int32_t line_count;  ///< 1 to 8
} tl_plot_diagram;

/// Diagrams of any numbers, below each other over one axis. `out` ends in .svg or .png.
typedef struct tl_plot_page_def {
    uint32_t struct_size;                    ///< filled in by the default function, do not set
    const char *out;                         ///< Required.
    const char *title, *subtitle, *x_title;  ///< NULL: none
    const double *x;                         ///< [point_count], ascending. Required.
    int32_t point_count;                     ///< >= 1
    const tl_plot_diagram *diagrams;         ///< Required.
    int32_t diagram_count;                   ///< 1 to 8
    int32_t width;                           ///< of the page [points, pixels at scale 1]. Default 860.
    double scale;                            ///< pixels per point of a .png. Default 2.
} tl_plot_page_def;
TL_API void tl_plot_page_def_init(tl_plot_page_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_plot_page_def tl_plot_page_def_default(void)
{
    tl_plot_page_def def;
    tl_plot_page_def_init(&def, sizeof def);
    return def;
}
TL_API tl_status tl_plot_page(const tl_plot_page_def *def, tl_error *err);

#ifdef __cplusplus
}
#endif
