// render/camera.c: view directions, framing of a cloud of points, turning.

#include "render/camera.h"

static const double PI = 3.14159265358979323846;

static tl_vec3 any_across(tl_vec3 a)
{
    const tl_vec3 axis = fabs(a.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 0, 1};
    return tl_unit3_or(tl_cross3(a, axis), (tl_vec3){0, 0, 1});
}

tl_view tl_camera_view(const tl_camera *camera)
{
    tl_view v;
    v.forward = tl_unit3_or(tl_sub3(camera->target, camera->eye), (tl_vec3){0, 0, -1});
    const tl_vec3 side = tl_cross3(v.forward, camera->up);
    v.right = tl_norm3(side) > 1e-9 * tl_norm3(camera->up) ? tl_unit3_or(side, any_across(v.forward))
                                                           : any_across(v.forward);  // looking straight up or down
    v.up = tl_cross3(v.right, v.forward);
    return v;
}

tl_vec3 tl_angles_direction(tl_angles angles, tl_vec3 up)
{
    // axes of the ground: for y up, x and z; for z up (Blender, ARCSim), x and -y, so that the front faces -y
    const tl_vec3 u = tl_unit3_or(up, (tl_vec3){0, 1, 0});
    const tl_vec3 x = fabs(u.x) < 0.9 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 1, 0};
    const tl_vec3 front = tl_unit3_or(tl_cross3(x, u), (tl_vec3){0, 0, 1});
    const tl_vec3 side = tl_cross3(u, front);
    const double a = angles.azimuth_deg * PI / 180, e = angles.elevation_deg * PI / 180;
    return tl_madd3(tl_madd3(tl_mul3(cos(e) * cos(a), front), cos(e) * sin(a), side), sin(e), u);
}

void tl_framing_init(tl_framing *f, tl_vec3 towards, tl_vec3 up, double fov_deg, double aspect)
{
    *f = (tl_framing){0};
    const tl_camera c = {.eye = towards, .up = up};
    f->view = tl_camera_view(&c);
    f->tan_y = tan(fov_deg * PI / 360);
    f->tan_x = f->tan_y * aspect;
    f->hi_x = f->hi_y = -INFINITY, f->lo_x = f->lo_y = INFINITY;
    for (int k = 0; k < 3; k++) f->lo[k] = INFINITY, f->hi[k] = -INFINITY;
}

void tl_framing_add(tl_framing *f, tl_vec3 p)
{
    if (!tl_finite3(p)) return;
    const double x = tl_dot3(p, f->view.right), y = tl_dot3(p, f->view.up), z = tl_dot3(p, f->view.forward);
    // a point is seen from (ex, ey, ez) when |x - ex| <= tan_x (z - ez): ex - tan_x ez >= x - tan_x z, and so
    // on
    f->hi_x = fmax(f->hi_x, x - f->tan_x * z), f->lo_x = fmin(f->lo_x, x + f->tan_x * z);
    f->hi_y = fmax(f->hi_y, y - f->tan_y * z), f->lo_y = fmin(f->lo_y, y + f->tan_y * z);
    const double q[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++) f->lo[k] = fmin(f->lo[k], q[k]), f->hi[k] = fmax(f->hi[k], q[k]);
    f->count++;
}

tl_camera tl_framing_camera(const tl_framing *f, double fov_deg, double margin)
{
    tl_camera c = {.up = f->view.up, .fov_deg = fov_deg};
    if (f->count == 0) {
        c.eye = tl_mul3(-2, f->view.forward);
        return c;
    }
    const double ez_x = (f->lo_x - f->hi_x) / (2 * f->tan_x), ez_y = (f->lo_y - f->hi_y) / (2 * f->tan_y);
    const double ex = (f->lo_x + f->hi_x) / 2, ey = (f->lo_y + f->hi_y) / 2;
    const tl_vec3 mid = {(f->lo[0] + f->hi[0]) / 2, (f->lo[1] + f->hi[1]) / 2, (f->lo[2] + f->hi[2]) / 2};
    const double size = tl_norm3((tl_vec3){f->hi[0] - f->lo[0], f->hi[1] - f->lo[1], f->hi[2] - f->lo[2]});
    const double mid_z = tl_dot3(mid, f->view.forward);
    double distance = (mid_z - fmin(ez_x, ez_y)) / (1 - 2 * margin);
    if (!(distance > 0.05 * size)) distance = fmax(0.05 * size, size > 0 ? 0 : 1);  // one point: from a metre
    const double ez = mid_z - distance;
    c.eye = tl_madd3(tl_madd3(tl_mul3(ex, f->view.right), ey, f->view.up), ez, f->view.forward);
    c.target = tl_madd3(c.eye, distance, f->view.forward);
    return c;
}

tl_camera tl_camera_turn(const tl_camera *camera, tl_vec3 axis, double angle_deg)
{
    // Rodrigues: v' = v cos a + (k x v) sin a + k (k.v)(1 - cos a)
    const tl_vec3 k = tl_unit3_or(axis, (tl_vec3){0, 1, 0});
    const double a = angle_deg * PI / 180, c = cos(a), s = sin(a);
    const tl_vec3 v = tl_sub3(camera->eye, camera->target);
    const tl_vec3 turned = tl_madd3(tl_madd3(tl_mul3(c, v), s, tl_cross3(k, v)), tl_dot3(k, v) * (1 - c), k);
    tl_camera out = *camera;
    out.eye = tl_add3(camera->target, turned);
    out.up =
        tl_madd3(tl_madd3(tl_mul3(c, camera->up), s, tl_cross3(k, camera->up)), tl_dot3(k, camera->up) * (1 - c), k);
    return out;
}
