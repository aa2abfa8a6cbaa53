// toile/show.h: what a window draws: surfaces of a recording, a scene's start or a running simulation, with their looks
// and colour maps. Opens no window itself.
#pragma once
#include "toile/render.h"
#include "toile/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_show tl_show;  // opaque: a source, and the frame that was asked for last

/// A mesh with its look. Borrowed, valid until the next call that takes the same tl_show.
typedef struct tl_show_surface {
    const char *name;
    uint32_t is_cloth;
    const tl_vec3 *pos;  ///< [m]
    int32_t pos_count;
    const int32_t (*face)[3];  ///< into pos
    int32_t face_count;
    const tl_vec2 *uv;            ///< material coordinates [m]; NULL: none
    const int32_t (*face_uv)[3];  ///< into uv; NULL: none
    float front[3], back[3];      ///< reflectance of the two sides, linear light
    float gloss, roughness, sheen;
    float weave, yarn;    ///< strength of the woven pattern, 0: none; spacing of the yarns [m]
    uint32_t weave_kind;  ///< 0 plain, 1 twill, 2 satin, 3 knit
    uint32_t is_skin;
} tl_show_surface;

/// Opens a run's folder, a folder of OBJ files, a scene (its start), a mesh or a character. `log` may be NULL.
TL_API tl_status tl_show_open(const char *path, const tl_log *log, tl_show **out, tl_error *err);

/// A source without a file, for tl_show_sim alone. `scene` (may be NULL): a scene file that says how things look.
TL_API tl_status tl_show_create(const char *scene, tl_show **out, tl_error *err);

/// For tl_show_sim: things look as the loaded scene says, with the looks of its fabrics. Nothing of it is kept.
TL_API tl_status tl_show_create_scene(const tl_scene *scene, tl_show **out, tl_error *err);
TL_API void tl_show_close(tl_show *show);  ///< NULL is fine

TL_API int32_t tl_show_frame_count(const tl_show *show);
TL_API double tl_show_fps(const tl_show *show);  ///< 0: not known
TL_API const char *tl_show_title(const tl_show *show);
TL_API const char *tl_show_scene(const tl_show *show);  ///< scene file of the run or the scene itself; "": none

/// Where the scene wants to be seen from [degrees]: 1 if it says so, else 0.
TL_API int32_t tl_show_camera(const tl_show *show, double *azimuth_deg, double *elevation_deg);

/// Frame `index`, 0 .. count - 1: cloths first, then what they collide with.
TL_API tl_status tl_show_load(tl_show *show, int32_t index, const tl_show_surface **surfaces, int32_t *count,
                              tl_error *err);

/// The present state of a simulation instead of a frame from disk.
TL_API tl_status tl_show_sim(tl_show *show, const tl_sim *sim, const tl_show_surface **surfaces, int32_t *count,
                             tl_error *err);

/// A colour map's range. Give lo == hi to have it chosen from the values.
typedef struct tl_show_range {
    double lo, hi;      ///< in the unit shown
    const char *title;  ///< with its unit; filled in. NULL: the mode has no map.
} tl_show_range;

/// What colours can show: TL_RENDER_ modes, and this one, of simulations alone.
enum { TL_SHOW_FORCE = TL_RENDER_MODE_COUNT, TL_SHOW_MODE_COUNT };
TL_API const char *tl_show_mode_name(int32_t mode);  ///< NULL if out of range

/// Colours of cloth `surface` by `mode`, linear light, one for each corner of each face (3 face_count entries of 3
/// floats). Modes without a map (shaded, wire), and what is not known, give the front colour. Speed in recordings
/// without velocities comes from the frame before.
TL_API tl_status tl_show_colours(tl_show *show, int32_t surface, int32_t mode, tl_show_range *range, float (*out)[3],
                                 tl_error *err);

/// The colour of a map's scale at `value` in the unit shown.
TL_API void tl_show_scale(int32_t mode, const tl_show_range *range, double value, float out[3]);

/// Our stroke font: calls `stroke` for every polyline of UTF-8 `text` (capitals 1 high, y up, from x = 0) and returns
/// the width. `stroke` may be NULL.
TL_API float tl_show_text(const char *text, void (*stroke)(void *user, const float (*points)[2], int32_t count),
                          void *user);

/// Writes 8-bit sRGB pixels (rows from the top) as a PNG file, whole or not at all.
TL_API tl_status tl_show_save_png(const char *path, const uint8_t *rgb, int32_t width, int32_t height, tl_error *err);

/// A film from pixels, by the ffmpeg program. tl_show_film_end writes the file (`keep` 0: leaves nothing behind) and
/// frees the film in any case.
typedef struct tl_show_film tl_show_film;
TL_API tl_status tl_show_film_begin(const char *path, int32_t width, int32_t height, double fps, tl_show_film **out,
                                    tl_error *err);
TL_API tl_status tl_show_film_add(tl_show_film *film, const uint8_t *rgb, tl_error *err);
TL_API tl_status tl_show_film_end(tl_show_film *film, uint32_t keep, tl_error *err);

#ifdef __cplusplus
}
#endif
