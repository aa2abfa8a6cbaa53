// viewer/window_picture.c: screenshots and films of the window.

#include <epoxy/gl.h>
#include <stdlib.h>
#include <string.h>

// GLFW includes no GL header of its own: epoxy has been there first
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "window.h"

// Rows from the top.
static uint8_t *read_back(window *w, int32_t *width, int32_t *height)
{
    glfwGetFramebufferSize(w->glfw, width, height);
    const size_t row = 3 * (size_t)*width;
    uint8_t *pixels = malloc(2 * row * (size_t)*height);
    if (!pixels) return NULL;
    uint8_t *raw = pixels + row * (size_t)*height;
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadBuffer(GL_BACK);
    glReadPixels(0, 0, *width, *height, GL_RGB, GL_UNSIGNED_BYTE, raw);
    for (int32_t y = 0; y < *height; y++) memcpy(pixels + row * (size_t)y, raw + row * (size_t)(*height - 1 - y), row);
    return pixels;
}

tl_status window_screenshot(window *w, const char *path, tl_error *err)
{
    int32_t width, height;
    uint8_t *pixels = read_back(w, &width, &height);
    if (!pixels) return TL_NO_MEMORY;
    const tl_status status = tl_show_save_png(path, pixels, width, height, err);
    free(pixels);
    return status;
}

void window_film(window *w)
{
    tl_error err = {0};
    if (w->film) {
        if (tl_show_film_end(w->film, 1, &err) == TL_OK)
            window_notice(w, "film written: toile-view.mp4");
        else
            window_notice(w, "%s", err.message);
        w->film = NULL;
        return;
    }
    glfwGetFramebufferSize(w->glfw, &w->film_width, &w->film_height);
    w->film_fps = w->live ? view_live_look(w->live).fps : w->fps;
    if (!(w->film_fps >= 10)) w->film_fps = 25;
    w->film_last = -1;
    if (tl_show_film_begin("toile-view.mp4", w->film_width, w->film_height, w->film_fps, &w->film, &err) != TL_OK)
        window_notice(w, "%s", err.message);
}

void window_film_add(window *w)
{
    if (!w->film) return;
    // a picture a frame, so that the film runs at the speed of the cloth; while nothing moves but the camera, by the
    // clock
    const bool still = w->live ? !view_live_look(w->live).running : !w->playing;
    if (!w->shown_anew && !(still && w->last_draw - w->film_last >= 1 / w->film_fps)) return;
    w->film_last = w->last_draw;
    int32_t width, height;
    uint8_t *pixels = read_back(w, &width, &height);
    tl_error err = {0};
    if (pixels && (width != w->film_width || height != w->film_height)) {
        window_notice(w, "the window changed its size: the film ends here");
        window_film(w);
    } else if (pixels && tl_show_film_add(w->film, pixels, &err) != TL_OK) {
        window_notice(w, "%s", err.message);
        tl_show_film_end(w->film, 0, NULL);
        w->film = NULL;
    }
    free(pixels);
}
