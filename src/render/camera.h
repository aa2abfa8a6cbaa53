// render/camera.h: where the picture is taken from, and how to place it so that everything is in it.
#pragma once

#include "math/vec3.h"
#include "render/vecf.h"

typedef struct tl_camera {
    tl_vec3 eye, target, up;  ///< [m]
    double fov_deg;           ///< vertical angle of view, in (0, 170); 0: parallel projection
    double height;            ///< parallel projection: height of the picture [m]
} tl_camera;

/// Directions ready for rays: right, down-free image axes, all unit.
typedef struct tl_view {
    tl_vec3 right, up, forward;
} tl_view;
tl_view tl_camera_view(const tl_camera *camera);

/// Where to look from, as angles: azimuth 0 looks from +z towards the centre, positive turns to +x.
typedef struct tl_angles {
    double azimuth_deg, elevation_deg;
} tl_angles;

/// The unit direction from the scene towards a camera at these angles, `up` being any unit axis.
tl_vec3 tl_angles_direction(tl_angles angles, tl_vec3 up);

/// Gathers, point by point, what a camera with given direction has to see; needs no second pass over the
/// points.
typedef struct tl_framing {
    tl_view view;
    double tan_x, tan_y;            ///< half width and half height of the view at distance 1
    double lo_x, hi_x, lo_y, hi_y;  ///< extreme offsets of the frustum's sides
    double lo[3], hi[3];            ///< box of the points, world axes
    int64_t count;
} tl_framing;

/// `towards` points from the scene to the camera.
void tl_framing_init(tl_framing *framing, tl_vec3 towards, tl_vec3 up, double fov_deg, double aspect);
void tl_framing_add(tl_framing *framing, tl_vec3 point);  ///< points that are not finite are ignored

/// The nearest camera that sees all points with `margin` (0.08 is 8 % of the picture) around them.
/// Without points, a camera that looks at the origin from 2 m.
tl_camera tl_framing_camera(const tl_framing *framing, double fov_deg, double margin);

/// The camera turned about the vertical through its target.
tl_camera tl_camera_turn(const tl_camera *camera, tl_vec3 axis, double angle_deg);
