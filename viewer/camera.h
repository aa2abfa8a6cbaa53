// viewer/camera.h: an orbit camera: turns about a target, pans, zooms; matrices for OpenGL, rays through pixels.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

typedef struct view_camera {
    tl_vec3 target;
    double distance;            ///< from target to eye [m]
    double azimuth, elevation;  ///< [rad]; 0, 0 looks from +z
    double fov;                 ///< vertical angle of view [rad]
    tl_vec3 home_target;        ///< where Home goes back to
    double home_distance, home_azimuth, home_elevation;
} view_camera;

/// Looks at a box of the given corners from the front, a little from above.
void view_camera_fit(view_camera *camera, tl_vec3 lo, tl_vec3 hi);
void view_camera_home(view_camera *camera);

void view_camera_orbit(view_camera *camera, double dx, double dy);  ///< in radians
void view_camera_pan(view_camera *camera, double dx, double dy);    ///< in parts of the window's height
void view_camera_zoom(view_camera *camera, double steps);           ///< one step of the wheel is a tenth

tl_vec3 view_camera_eye(const view_camera *camera);

/// The direction into the scene through a point of the window, in parts of its size from the upper left corner.
tl_vec3 view_camera_ray(const view_camera *camera, double x, double y, double aspect);

/// Axes of the picture: to the right and up, unit.
void view_camera_axes(const view_camera *camera, tl_vec3 *right, tl_vec3 *up, tl_vec3 *forward);

/// Column-major matrices: world to clip space.
void view_camera_matrix(const view_camera *camera, double aspect, float out[16]);

/// Where the matrix shows a point in a picture of that size; false: behind the eye.
bool view_project(const float matrix[16], double width, double height, tl_vec3 point, double *x, double *y);

/// Parallel projection along -`from` (unit, towards the light) around a ball.
void view_light_matrix(tl_vec3 from, tl_vec3 centre, double radius, float out[16]);
