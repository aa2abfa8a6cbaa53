// viewer/window.c: the window: opens it, takes keys and pointer, draws until it is closed.

#include <epoxy/gl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "window.h"

static const double TURN = 0.006;  // [rad] a point of the pointer's way
enum { PICTURE_DELAY = 2 };        // pictures drawn until a screenshot is taken: it shows what was done before
enum { AFTER_TOUCH = 3 };          // pictures drawn after the last event: the panel answers in the next one
#define IDLE 0.25                  // [s] between pictures of what stands still

static double view_scale(window *w)
{
    float x, y;
    glfwGetWindowContentScale(w->glfw, &x, &y);
    return x >= 1 && x <= 4 ? (double)x : 1;
}

static void pointer_ray(window *w, double x, double y, tl_vec3 *eye, tl_vec3 *direction)
{
    int width, height;
    glfwGetWindowSize(w->glfw, &width, &height);
    *eye = view_camera_eye(&w->camera);
    *direction = view_camera_ray(&w->camera, x / width, y / height, (double)width / height);
}

// ---- pointer ----------------------------------------------------------------------------------------------

static void on_move(GLFWwindow *glfw, double x, double y)
{
    window *w = glfwGetWindowUserPointer(glfw);
    w->touched = AFTER_TOUCH;
    const double dx = x - w->last_x, dy = y - w->last_y;
    int width, height;
    glfwGetWindowSize(glfw, &width, &height);
    w->pointer.x = w->last_x = x, w->pointer.y = w->last_y = y;
    if (w->orbiting) view_camera_orbit(&w->camera, TURN * dx, TURN * dy);
    if (w->panning) view_camera_pan(&w->camera, dx / height, dy / height);
    tl_vec3 point;
    if (w->dragging && w->live && view_live_held(w->live, &point)) {
        // the point goes along in the plane through it that faces the camera
        tl_vec3 right, up, forward, eye, d;
        view_camera_axes(&w->camera, &right, &up, &forward);
        pointer_ray(w, x, y, &eye, &d);
        const double depth =
            (point.x - eye.x) * forward.x + (point.y - eye.y) * forward.y + (point.z - eye.z) * forward.z;
        const double along = depth / fmax(1e-6, d.x * forward.x + d.y * forward.y + d.z * forward.z);
        view_live_drag(w->live, (tl_vec3){eye.x + along * d.x, eye.y + along * d.y, eye.z + along * d.z});
    }
}

static void on_button(GLFWwindow *glfw, int button, int action, int mods)
{
    window *w = glfwGetWindowUserPointer(glfw);
    w->touched = AFTER_TOUCH;
    const bool down = action == GLFW_PRESS;
    if (button == GLFW_MOUSE_BUTTON_LEFT) w->pointer.down = down;
    if (button == GLFW_MOUSE_BUTTON_LEFT && down) {
        w->pointer.pressed = true;
        w->pointer.press_x = w->last_x, w->pointer.press_y = w->last_y;
    }
    if (!down) {
        if (w->dragging && w->live) view_live_drop(w->live, false);
        w->orbiting = w->panning = w->dragging = false;
        return;
    }
    if (view_panel_over(w->panel, w->last_x, w->last_y)) return;
    if (button == GLFW_MOUSE_BUTTON_MIDDLE || (mods & GLFW_MOD_SHIFT)) {
        w->panning = true;
    } else if (button == GLFW_MOUSE_BUTTON_LEFT && w->live) {
        tl_vec3 eye, d;
        pointer_ray(w, w->last_x, w->last_y, &eye, &d);
        view_live_grab(w->live, eye, d);
        w->dragging = true;
    } else {
        w->orbiting = true;
    }
}

static void on_wheel(GLFWwindow *glfw, double dx, double dy)
{
    (void)dx;
    window *w = glfwGetWindowUserPointer(glfw);
    w->touched = AFTER_TOUCH;
    if (!view_panel_over(w->panel, w->last_x, w->last_y)) view_camera_zoom(&w->camera, dy);
}

// ---- keys -------------------------------------------------------------------------------------------------

static void go_to(window *w, int32_t frame)
{
    if (w->live || w->frame_count < 1) return;
    w->frame = frame < 0 ? 0 : frame >= w->frame_count ? w->frame_count - 1 : frame;
    w->frame_changed = true, w->playing = false;
}

static void play_or_pause(window *w)
{
    if (w->live)
        view_live_pause(w->live, view_live_look(w->live).running);
    else if (w->frame_count > 1)
        w->playing = !w->playing;
}

static void save_picture(window *w)
{
    char path[64];
    tl_error err = {0};
    for (int i = 1; i < 10000; i++) {  // the first name that is free
        snprintf(path, sizeof path, "toile-view-%03d.png", i);
        FILE *there = fopen(path, "rb");
        if (!there) break;
        fclose(there);
    }
    if (window_screenshot(w, path, &err) == TL_OK)
        window_notice(w, "picture written: %s", path);
    else
        window_notice(w, "%s", err.message);
}

static void start_again(window *w)
{
    tl_error err = {0};
    if (!w->live)
        go_to(w, 0);
    else if (window_restart(w, &err) != TL_OK)
        w->error_title = "It could not be started:", snprintf(w->error, sizeof w->error, "%s", err.message);
}

static void change_mode(window *w, int step)
{
    w->mode = (w->mode + step + TL_SHOW_MODE_COUNT) % TL_SHOW_MODE_COUNT;
    w->frame_changed = true, w->version = 0;
}

static void on_key(GLFWwindow *glfw, int key, int scancode, int action, int mods)
{
    (void)scancode;
    window *w = glfwGetWindowUserPointer(glfw);
    w->touched = AFTER_TOUCH;
    if (action == GLFW_RELEASE) return;
    const int32_t jump = mods & GLFW_MOD_ALT ? 100 : mods & GLFW_MOD_SHIFT ? 10 : 1;
    switch (key) {
    case GLFW_KEY_SPACE: play_or_pause(w); break;
    case GLFW_KEY_S:
        if (w->live)
            view_live_step_once(w->live);
        else
            go_to(w, w->frame + 1);
        break;
    case GLFW_KEY_LEFT: go_to(w, w->frame - jump); break;
    case GLFW_KEY_RIGHT: go_to(w, w->frame + jump); break;
    case GLFW_KEY_HOME: go_to(w, 0), view_camera_home(&w->camera); break;
    case GLFW_KEY_END: go_to(w, w->frame_count - 1); break;
    case GLFW_KEY_EQUAL:
    case GLFW_KEY_KP_ADD: view_camera_zoom(&w->camera, 1); break;
    case GLFW_KEY_MINUS:
    case GLFW_KEY_KP_SUBTRACT: view_camera_zoom(&w->camera, -1); break;
    case GLFW_KEY_P:
        if (w->live && w->dragging) view_live_drop(w->live, true), w->dragging = false;
        break;
    case GLFW_KEY_U:
        if (w->live) view_live_unpin(w->live);
        break;
    case GLFW_KEY_M: change_mode(w, mods & GLFW_MOD_SHIFT ? -1 : 1); break;
    case GLFW_KEY_L: window_stack(w); break;
    case GLFW_KEY_W: w->wire = !w->wire; break;
    case GLFW_KEY_F: w->floor = !w->floor; break;
    case GLFW_KEY_D: w->dark = !w->dark; break;
    case GLFW_KEY_T: w->panel_open = !w->panel_open; break;
    case GLFW_KEY_R: start_again(w); break;
    case GLFW_KEY_C: w->picture_in = PICTURE_DELAY; break;
    case GLFW_KEY_V: window_film(w); break;
    case GLFW_KEY_H: w->help = !w->help; break;
    case GLFW_KEY_SLASH: w->help = !w->help; break;
    case GLFW_KEY_ESCAPE:
    case GLFW_KEY_Q: glfwSetWindowShouldClose(glfw, 1); break;
    default: break;
    }
}

// ---- the loop ---------------------------------------------------------------------------------------------

static void play(window *w, double seconds)
{
    if (!w->playing || w->live) return;
    w->play_time += seconds;
    const int32_t ahead = (int32_t)(w->play_time * w->fps);
    if (ahead < 1) return;
    w->play_time -= ahead / w->fps;
    w->frame = (w->frame + ahead) % w->frame_count;
    w->frame_changed = true;
}

static void draw(window *w)
{
    int width, height;
    glfwGetFramebufferSize(w->glfw, &width, &height);
    if (width < 1 || height < 1) return;
    if (w->pattern && !w->garment) {
        glViewport(0, 0, width, height);
        glClearColor(0.10f, 0.11f, 0.13f, 1);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    } else {
        const view_shot shot = {.width = width,
                                .height = height,
                                .lo = w->lo,
                                .hi = w->hi,
                                .floor = w->floor_height,
                                .show_floor = w->floor,
                                .wire = w->wire || w->stacked || w->mode == (int32_t)TL_RENDER_WIRE,
                                .dark = w->dark};
        view_stage_draw(w->stage, &w->camera, &shot);
    }
    window_panel(w, width, height, view_scale(w));
    w->pointer.pressed = false;
}

static void on_refresh(GLFWwindow *glfw)
{
    window *w = glfwGetWindowUserPointer(glfw);
    w->touched = AFTER_TOUCH;
}

static void on_resize(GLFWwindow *glfw, int width, int height)
{
    (void)width, (void)height;
    on_refresh(glfw);
}

// Takes what has happened; false: the picture would be the one that is there.
static bool has_changed(window *w)
{
    const bool wanted = w->playing || w->film || w->picture_in > 0 || w->touched > 0 || w->options->frames > 0;
    if (wanted)
        glfwPollEvents();
    else
        glfwWaitEventsTimeout(w->live && view_live_look(w->live).running ? 0.004 : 0.05);
    window_update(w);
    return wanted || w->touched > 0 || w->shown_anew || glfwGetTime() - w->last_draw > IDLE;
}

static tl_status loop(window *w, tl_error *err)
{
    double before = glfwGetTime();
    while (!glfwWindowShouldClose(w->glfw)) {
        if (!has_changed(w)) continue;
        const double now = glfwGetTime(), seconds = now - before;
        before = now, w->last_draw = now;
        if (w->touched > 0) w->touched--;
        if (seconds > 1e-3) w->frame_rate = w->drawn < 3 ? 1 / seconds : 0.95 * w->frame_rate + 0.05 / seconds;
        play(w, fmin(seconds, 0.5));
        draw(w);
        if (w->picture_in > 0 && --w->picture_in == 0) save_picture(w);
        window_film_add(w);
        w->shown_anew = false;
        w->drawn++;
        const bool last = w->options->frames > 0 && w->drawn >= w->options->frames;
        if (last && w->options->screenshot) {
            const tl_status status = window_screenshot(w, w->options->screenshot, err);
            if (status != TL_OK) return status;
        }
        glfwSwapBuffers(w->glfw);
        if (last) break;
    }
    return TL_OK;
}

// The first of the files; the next picture shows it.
static void on_drop(GLFWwindow *glfw, int count, const char **paths)
{
    window *w = glfwGetWindowUserPointer(glfw);
    w->touched = AFTER_TOUCH;
    if (count > 0) snprintf(w->dropped, sizeof w->dropped, "%s", paths[0]);
}

static tl_status fail(tl_error *err, const char *what)
{
    const char *why = NULL;
    glfwGetError(&why);
    if (err) {
        err->status = TL_FAILED;
        snprintf(err->message, sizeof err->message,
                 "%s%s%s (without a display: xvfb-run toile view .., or `toile render` for pictures)", what,
                 why ? ": " : "", why ? why : "");
    }
    return TL_FAILED;
}

static tl_status open_window(window *w, tl_error *err)
{
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_SAMPLES, 4);
    char title[256];
    snprintf(title, sizeof title, "Toile: %.200s", w->options->source ? w->options->source : "gallery");
    const int width = w->options->width > 0 ? w->options->width : 1280;
    const int height = w->options->height > 0 ? w->options->height : 800;
    w->glfw = glfwCreateWindow(width, height, title, NULL, NULL);
    if (!w->glfw) return fail(err, "no window with OpenGL 3.3");
    glfwMakeContextCurrent(w->glfw);
    glfwSwapInterval(1);
    glfwSetWindowUserPointer(w->glfw, w);
    glfwSetCursorPosCallback(w->glfw, on_move);
    glfwSetMouseButtonCallback(w->glfw, on_button);
    glfwSetScrollCallback(w->glfw, on_wheel);
    glfwSetKeyCallback(w->glfw, on_key);
    glfwSetDropCallback(w->glfw, on_drop);
    glfwSetWindowRefreshCallback(w->glfw, on_refresh);
    glfwSetFramebufferSizeCallback(w->glfw, on_resize);
    tl_status status = view_stage_create(&w->stage, err);
    if (status == TL_OK) status = view_panel_create(&w->panel, err);
    return status;
}

tl_status viewer_run(const viewer_options *options, tl_error *err)
{
    window *w = calloc(1, sizeof *w);
    if (!w) return TL_NO_MEMORY;
    w->options = options, w->floor = w->panel_open = true;
    for (int32_t i = 0; options->mode && i < TL_SHOW_MODE_COUNT; i++)
        if (strcmp(options->mode, tl_show_mode_name(i)) == 0) w->mode = i;
    tl_status status = window_open(w, err);  // before the window: a wrong file needs no display
    if (status == TL_OK) {
        status = glfwInit() ? open_window(w, err) : fail(err, "no display");
        if (status == TL_OK) status = loop(w, err);
        if (w->film) tl_show_film_end(w->film, 1, NULL);
        if (w->glfw) view_panel_destroy(w->panel), view_stage_destroy(w->stage), glfwDestroyWindow(w->glfw);
        glfwTerminate();
    }
    window_close(w);
    free(w);
    return status;
}
