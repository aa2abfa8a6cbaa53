// viewer/window.h: what the files of the window share.
#pragma once
#include <stdbool.h>

#include "camera.h"
#include "flat.h"
#include "garment.h"
#include "hierarchy.h"
#include "live.h"
#include "panel.h"
#include "stage.h"
#include "viewer.h"

struct GLFWwindow;

enum { MAX_FABRICS = 64, MAX_SETS = 40, EXHIBITS = 6 };

typedef struct window {
    const viewer_options *options;
    struct GLFWwindow *glfw;
    view_stage *stage;
    view_panel *panel;
    view_camera camera;
    // what is shown: one of these
    tl_show *show;          ///< a recording, mesh or character
    view_live *live;        ///< a running scene
    tl_pattern *pattern;    ///< flat
    view_garment *garment;  ///< of the pattern, worn by a body and run live; NULL: none
    int32_t chosen, seam;   ///< panel and seam of the pattern, -1: none
    char scene[1024];       ///< scene file, "": none
    char source[1024];      ///< what was opened
    int32_t exhibit;        ///< of the gallery; EXHIBITS: something else
    int32_t next_exhibit;   ///< that was asked for, if `change`
    bool change;
    char dropped[1024];  ///< to be opened before the next picture, "": nothing
    // playback
    int32_t frame, frame_count;
    double fps, play_time;
    bool playing, frame_changed;
    // how
    int32_t mode;  ///< TL_RENDER_ or TL_SHOW_
    view_hierarchy *stack;
    bool stacked;     ///< meshes as layers of their levels
    bool stack_fits;  ///< and the camera has been set for them
    bool wire, floor, dark, help, panel_open;
    tl_show_range range;
    int32_t map_surface;  ///< whose range is shown
    uint64_t version;
    tl_vec3 lo, hi;  ///< box of the first frame
    bool framed;
    double floor_height;
    float (*colours)[3];
    size_t colour_count;
    // live choices
    char fabric_names[MAX_FABRICS + 1][48], fabric_paths[MAX_FABRICS + 1][512];
    const char *fabrics[MAX_FABRICS + 1];
    int32_t fabric_count, fabric, remeshing, engine;
    double wind, wind_turn;  ///< [m/s], where to [degrees about the vertical, 0: z]
    // pointer
    view_pointer pointer;
    double last_x, last_y;
    bool orbiting, panning, dragging;
    double grab_depth;
    // statistics
    double frame_rate, last_draw;
    int64_t drawn;
    int64_t cloth_faces;
    char error[1024];
    const char *error_title;
    char notice[1100];
    double notice_until;
    tl_show_film *film;
    int32_t film_width, film_height;
    int32_t touched;     ///< so many pictures are to be drawn because of the last event
    int32_t picture_in;  ///< so many drawn pictures until a screenshot; 0: none is wanted
    bool shown_anew;     ///< another frame than in the last picture
    double film_last;    ///< when the film got its last picture [s]
    double film_fps;
} window;

/// Opens what the options name, or what the user chose (window_source.c).
tl_status window_open(window *w, tl_error *err);
/// Something else instead; what is shown stays if that fails, with the reason over it.
void window_change(window *w, const char *path, int32_t exhibit);
tl_status window_sew(window *w, tl_error *err);  ///< the garment, with its panels where they are now
void window_close(window *w);
tl_status window_restart(window *w, tl_error *err);  ///< the live scene again, with the present choices
void window_update(window *w);                       ///< newest frame to the stage
void window_set_wind(window *w);
void window_set_fabric(window *w);          ///< of the live cloth, as chosen
void window_set_remeshing(window *w);       ///< likewise
void window_stack(window *w);               ///< the mesh as layers, or the cloth again
const char *window_exhibit(int32_t index);  ///< title of a scene of the gallery

void window_panel(window *w, int32_t width, int32_t height, double scale);  ///< window_panel.c
void window_notice(window *w, const char *format, ...) TL_PRINTF(2, 3);

/// Reads the picture back (window_picture.c).
tl_status window_screenshot(window *w, const char *path, tl_error *err);
void window_film(window *w);      ///< starts or ends a film
void window_film_add(window *w);  ///< adds the picture that was drawn
