// viewer/camera.c: see camera.h. y is up; the camera never rolls.

#include "camera.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static tl_vec3 add(tl_vec3 a, double s, tl_vec3 b) { return (tl_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static double dot(tl_vec3 a, tl_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static tl_vec3 cross(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static tl_vec3 unit(tl_vec3 a)
{
    const double l = sqrt(dot(a, a));
    return l > 0 ? (tl_vec3){a.x / l, a.y / l, a.z / l} : (tl_vec3){0, 0, 1};
}

void view_camera_fit(view_camera *c, tl_vec3 lo, tl_vec3 hi)
{
    c->fov = 30 * PI / 180;
    c->home_target = (tl_vec3){(lo.x + hi.x) / 2, (lo.y + hi.y) / 2, (lo.z + hi.z) / 2};
    const tl_vec3 d = {hi.x - lo.x, hi.y - lo.y, hi.z - lo.z};
    const double radius = fmax(0.5 * sqrt(dot(d, d)), 1e-3);
    c->home_distance = 1.05 * radius / sin(c->fov / 2);
    c->home_azimuth = 0.49, c->home_elevation = 0.24;  // the view of `toile render`: 28 and 14 degrees
    view_camera_home(c);
}

void view_camera_home(view_camera *c)
{
    c->target = c->home_target, c->distance = c->home_distance;
    c->azimuth = c->home_azimuth, c->elevation = c->home_elevation;
}

void view_camera_orbit(view_camera *c, double dx, double dy)
{
    const double limit = PI / 2 - 0.01;
    c->azimuth -= dx;
    c->elevation = fmin(limit, fmax(-limit, c->elevation + dy));
}

void view_camera_pan(view_camera *c, double dx, double dy)
{
    tl_vec3 right, up, forward;
    view_camera_axes(c, &right, &up, &forward);
    const double height = 2 * c->distance * tan(c->fov / 2);
    c->target = add(add(c->target, -dx * height, right), dy * height, up);
}

void view_camera_zoom(view_camera *c, double steps)
{
    c->distance = fmin(1e4, fmax(1e-3, c->distance * pow(0.9, steps)));
}

tl_vec3 view_camera_eye(const view_camera *c)
{
    const tl_vec3 back = {cos(c->elevation) * sin(c->azimuth), sin(c->elevation), cos(c->elevation) * cos(c->azimuth)};
    return add(c->target, c->distance, back);
}

void view_camera_axes(const view_camera *c, tl_vec3 *right, tl_vec3 *up, tl_vec3 *forward)
{
    const tl_vec3 eye = view_camera_eye(c);
    *forward = unit(add(c->target, -1, eye));
    *right = unit(cross(*forward, (tl_vec3){0, 1, 0}));
    *up = cross(*right, *forward);
}

tl_vec3 view_camera_ray(const view_camera *c, double x, double y, double aspect)
{
    tl_vec3 right, up, forward;
    view_camera_axes(c, &right, &up, &forward);
    const double t = tan(c->fov / 2);
    return unit(add(add(forward, (2 * x - 1) * t * aspect, right), (1 - 2 * y) * t, up));
}

// rows are the axes, then the projection
static void multiply(const double a[16], const double b[16], float out[16])
{
    for (int col = 0; col < 4; col++)
        for (int row = 0; row < 4; row++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * col + k];
            out[4 * col + row] = (float)sum;
        }
}

static void look(tl_vec3 eye, tl_vec3 right, tl_vec3 up, tl_vec3 forward, double out[16])
{
    const double m[16] = {right.x, up.x, -forward.x, 0, right.y,          up.y,          -forward.y,        0,
                          right.z, up.z, -forward.z, 0, -dot(right, eye), -dot(up, eye), dot(forward, eye), 1};
    for (int i = 0; i < 16; i++) out[i] = m[i];
}

void view_camera_matrix(const view_camera *c, double aspect, float out[16])
{
    tl_vec3 right, up, forward;
    view_camera_axes(c, &right, &up, &forward);
    double view[16];
    look(view_camera_eye(c), right, up, forward, view);
    const double near = 0.02 * c->distance, far = 100 * c->distance, f = 1 / tan(c->fov / 2);
    const double proj[16] = {
        f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0};
    multiply(proj, view, out);
}

void view_light_matrix(tl_vec3 from, tl_vec3 centre, double radius, float out[16])
{
    const tl_vec3 forward = {-from.x, -from.y, -from.z};
    const tl_vec3 right = unit(cross(forward, fabs(forward.y) > 0.99 ? (tl_vec3){0, 0, 1} : (tl_vec3){0, 1, 0}));
    double view[16];
    look(add(centre, 2 * radius, from), right, cross(right, forward), forward, view);
    const double s = 1 / radius, near = 0, far = 4 * radius;
    const double proj[16] = {s, 0, 0, 0, 0, s, 0, 0, 0, 0, -2 / (far - near), 0, 0, 0, -(far + near) / (far - near), 1};
    multiply(proj, view, out);
}

bool view_project(const float m[16], double width, double height, tl_vec3 p, double *x, double *y)
{
    double c[4];
    for (int i = 0; i < 4; i++)
        c[i] = (double)m[i] * p.x + (double)m[4 + i] * p.y + (double)m[8 + i] * p.z + (double)m[12 + i];
    if (!(c[3] > 1e-6)) return false;
    *x = (0.5 + 0.5 * c[0] / c[3]) * width, *y = (0.5 - 0.5 * c[1] / c[3]) * height;
    return true;
}
