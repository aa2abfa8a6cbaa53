// run/render_frame.h: from a frame of a recording to a picture: looks, maps, legend, caption.
#pragma once
#include "run/render_source.h"
#include "run/render_style.h"
#include "toile/render.h"

/// What has to be known of the whole animation before its first picture.
typedef struct tl_survey {
    tl_framing framing;
    double legend_room;  ///< part of the width to leave free at the right
    bool use_camera;     ///< `camera` is fixed, framing gives only the floor
    tl_camera camera;
    tl_vec3 up;
    double lowest;            ///< along up, over everything [m]
    bool any_body;            ///< something that stands on the floor
    int32_t floors;           ///< frames with a level plane among the obstacles, always at the same height
    bool floor_moves;         ///< or not at the same height
    double floor;             ///< where
    double value_high;        ///< of the map: high percentile of the magnitude
    double largest_face;      ///< [m^2]
    double size_lo, size_hi;  ///< smaller extents of faces [m]
    int64_t frames_with_mesh;
    const tl_style *style;  ///< borrowed
} tl_survey;

/// `width` and `height` are those of the pictures.
void tl_survey_init(tl_survey *survey, const tl_render_def *def, const tl_style *style, tl_vec3 up, int32_t width,
                    int32_t height);

/// Adds a frame; `before` is the frame before it or NULL, `dt` the time between them [s].
tl_status tl_survey_add(tl_survey *survey, const tl_render_def *def, const tl_show_frame *frame,
                        const tl_show_frame *before, double dt, const tl_allocator *alloc, tl_workers *workers,
                        tl_error *err);

/// Camera, floor and colour scale, once all frames are in.
typedef struct tl_shot {
    tl_camera camera;
    tl_vec3 light_from, up;
    bool ground;
    bool plane_is_ground;  ///< the ground is drawn where a plane of the scene is, instead of it
    double ground_height, ground_radius;
    tl_vec3 ground_centre;
    tl_scale scale;
    const char *legend;  ///< title with unit; NULL: no legend
    double factor;       ///< shown number = value * factor
    double largest_face, size_lo, size_hi;
} tl_shot;
void tl_shot_init(tl_shot *shot, const tl_render_def *def, const tl_survey *survey);

typedef struct tl_frame_report {
    int64_t faces_left_out, crossing_pairs;
} tl_frame_report;

/// What a picture is made of, all borrowed.
typedef struct tl_picture {
    const tl_render_def *def;
    const tl_shot *shot;
    const tl_style *style;
    const tl_show_frame *frame, *before;  ///< `before` and `dt` as above
    double dt;
    bool legend;
    const tl_allocator *alloc;
    tl_workers *workers;
} tl_picture;

/// Draws it into `image` (its size decides).
tl_status tl_frame_draw(const tl_picture *picture, tl_image *image, tl_frame_report *report, tl_error *err);

/// Whether the mode needs the frame before when the files hold no velocities.
bool tl_needs_before(const tl_render_def *def, const tl_show_frame *frame);
