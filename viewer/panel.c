// viewer/panel.c: see panel.h.

#include "panel.h"

#include <epoxy/gl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shaders.h"
#include "toile/show.h"

#define INK 0xe8eaedffu
#define DIM 0xa8adb6ffu
#define PAPER 0x1d2026e6u
#define WIDGET 0x353a44ffu
#define HOVER 0x48505effu
#define ACCENT 0x4f8fe6ffu

enum { LINE = 22, PAD = 10, GAP = 4 };  // points
enum { MAX_BOXES = 8 };

typedef struct corner {
    float x, y, r, g, b, a;
} corner;

struct view_panel {
    GLuint program, array, buffer;
    corner *corners;
    int32_t count, cap;
    int32_t width, height;
    double scale;  // pixels to a point
    view_pointer pointer;
    double x, y, w, bottom;  // of the present box
    double box[MAX_BOXES][4];
    int32_t box_count;
    const char *dragged;  // label of the slider that is held
    bool out_of_memory;
};

static void push(view_panel *p, double x, double y, uint32_t rgba)
{
    if (p->count == p->cap) {
        const int32_t cap = p->cap ? 2 * p->cap : 4096;
        corner *more = realloc(p->corners, (size_t)cap * sizeof *more);
        if (!more) {
            p->out_of_memory = true;
            return;
        }
        p->corners = more, p->cap = cap;
    }
    p->corners[p->count++] =
        (corner){(float)(x * p->scale),           (float)(y * p->scale),          (float)(rgba >> 24) / 255,
                 (float)(rgba >> 16 & 255) / 255, (float)(rgba >> 8 & 255) / 255, (float)(rgba & 255) / 255};
}

static void quad(view_panel *p, const double c[8], uint32_t rgba)
{
    static const int order[] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 6; i++) push(p, c[2 * order[i]], c[2 * order[i] + 1], rgba);
}

void view_panel_rect(view_panel *p, double x, double y, double w, double h, uint32_t rgba)
{
    quad(p, (double[]){x, y, x + w, y, x + w, y + h, x, y + h}, rgba);
}

void view_panel_line(view_panel *p, double x0, double y0, double x1, double y1, double width, uint32_t rgba)
{
    const double l = hypot(x1 - x0, y1 - y0);
    if (!(l > 0)) {  // a dot
        view_panel_rect(p, x0 - 0.6 * width, y0 - 0.6 * width, 1.2 * width, 1.2 * width, rgba);
        return;
    }
    const double nx = -(y1 - y0) / l * width / 2, ny = (x1 - x0) / l * width / 2;
    x0 -= ny, y0 += nx, x1 += ny, y1 -= nx;  // square ends: a short stroke is a dot, and corners close
    quad(p, (double[]){x0 + nx, y0 + ny, x1 + nx, y1 + ny, x1 - nx, y1 - ny, x0 - nx, y0 - ny}, rgba);
}

typedef struct writer {
    view_panel *panel;
    double x, y, size;
    uint32_t rgba;
} writer;

static void write_stroke(void *user, const float (*points)[2], int32_t count)
{
    const writer *w = user;
    const double pen = fmax(1 / w->panel->scale, 0.13 * w->size);
    for (int32_t i = 0; i + 1 < count || (count == 1 && i == 0); i++) {
        const int32_t j = i + 1 < count ? i + 1 : i;
        view_panel_line(w->panel, w->x + w->size * (double)points[i][0], w->y - w->size * (double)points[i][1],
                        w->x + w->size * (double)points[j][0], w->y - w->size * (double)points[j][1], pen, w->rgba);
    }
}

// `y` is the base line, `size` the height of capitals
void view_panel_text(view_panel *p, double x, double y, double size, const char *text, uint32_t rgba)
{
    writer w = {p, x, y, size, rgba};
    tl_show_text(text, write_stroke, &w);
}

tl_status view_panel_create(view_panel **out, tl_error *err)
{
    *out = NULL;
    view_panel *p = calloc(1, sizeof *p);
    if (!p) return TL_NO_MEMORY;
    const char *texts[2] = {FLAT_VERTEX, FLAT_FRAGMENT};
    p->program = glCreateProgram();
    GLint ok = 1;
    for (int i = 0; i < 2; i++) {
        const GLuint shader = glCreateShader(i == 0 ? GL_VERTEX_SHADER : GL_FRAGMENT_SHADER);
        glShaderSource(shader, 1, &texts[i], NULL);
        glCompileShader(shader);
        glAttachShader(p->program, shader);
        glDeleteShader(shader);
    }
    glLinkProgram(p->program);
    glGetProgramiv(p->program, GL_LINK_STATUS, &ok);
    if (!ok) {
        if (err)
            err->status = TL_FAILED, snprintf(err->message, sizeof err->message, "shaders of the panel do not link");
        view_panel_destroy(p);
        return TL_FAILED;
    }
    glGenVertexArrays(1, &p->array), glGenBuffers(1, &p->buffer);
    *out = p;
    return TL_OK;
}

void view_panel_destroy(view_panel *p)
{
    if (!p) return;
    if (p->program) glDeleteProgram(p->program);
    if (p->array) glDeleteVertexArrays(1, &p->array);
    if (p->buffer) glDeleteBuffers(1, &p->buffer);
    free(p->corners);
    free(p);
}

void view_panel_begin(view_panel *p, int32_t width, int32_t height, double scale, view_pointer pointer)
{
    p->count = 0, p->width = width, p->height = height, p->scale = scale, p->pointer = pointer, p->box_count = 0;
    if (!pointer.down) p->dragged = NULL;
}

static bool inside(const view_panel *p, double x, double y, double w, double h)
{
    return p->pointer.x >= x && p->pointer.x < x + w && p->pointer.y >= y && p->pointer.y < y + h;
}

static bool clicked(const view_panel *p, double x, double y, double w, double h)
{
    return p->pointer.pressed && p->pointer.press_x >= x && p->pointer.press_x < x + w && p->pointer.press_y >= y &&
           p->pointer.press_y < y + h;
}

void view_panel_cover(view_panel *p, double x, double y, double w, double h)
{
    if (p->box_count < MAX_BOXES) memcpy(p->box[p->box_count++], (double[]){x, y, w, h}, sizeof p->box[0]);
}

bool view_panel_over(const view_panel *p, double x, double y)
{
    for (int32_t i = 0; i < p->box_count; i++) {
        const double *b = p->box[i];
        if (x >= b[0] && x < b[0] + b[2] && y >= b[1] && y < b[1] + b[3]) return true;
    }
    return false;
}

void view_panel_box(view_panel *p, double x, double y, double w, double h)
{
    view_panel_rect(p, x, y, w, h, PAPER);
    view_panel_cover(p, x, y, w, h);
    p->x = x + PAD, p->y = y + PAD, p->w = w - 2 * PAD, p->bottom = y + h;
}

static bool next_row(view_panel *p, double *y)
{
    *y = p->y;
    p->y += LINE + GAP;
    return *y + LINE <= p->bottom;  // a row that has no room is left out
}

void view_panel_title(view_panel *p, const char *text)
{
    double y;
    if (next_row(p, &y)) view_panel_text(p, p->x, y + 16, 11, text, INK);
}

void view_panel_label(view_panel *p, const char *text)
{
    double y;
    if (!next_row(p, &y)) return;
    view_panel_text(p, p->x, y + 14, 8.5, text, DIM);
    p->y -= 6;
}

bool view_panel_button(view_panel *p, const char *text, bool on)
{
    double y;
    if (!next_row(p, &y)) return false;
    const bool over = inside(p, p->x, y, p->w, LINE);
    view_panel_rect(p, p->x, y, p->w, LINE, on ? ACCENT : over ? HOVER : WIDGET);
    view_panel_text(p, p->x + 8, y + 15, 9, text, INK);
    return clicked(p, p->x, y, p->w, LINE);
}

bool view_panel_choice(view_panel *p, const char *label, const char *const *names, int32_t count, int32_t *value)
{
    double y;
    if (count < 1 || !next_row(p, &y)) return false;
    const bool over = inside(p, p->x, y, p->w, LINE);
    view_panel_rect(p, p->x, y, p->w, LINE, over ? HOVER : WIDGET);
    char text[96];
    snprintf(text, sizeof text, "%s: %s", label, names[*value]);
    view_panel_text(p, p->x + 20, y + 15, 9, text, INK);
    view_panel_text(p, p->x + 6, y + 15, 9, "<", DIM);
    view_panel_text(p, p->x + p->w - 13, y + 15, 9, ">", DIM);
    if (!clicked(p, p->x, y, p->w, LINE)) return false;
    const int32_t step = p->pointer.press_x < p->x + p->w / 3 ? count - 1 : 1;
    *value = (*value + step) % count;
    return true;
}

bool view_panel_slider(view_panel *p, const char *label, double lo, double hi, const char *format, double *value)
{
    double y;
    if (!next_row(p, &y)) return false;
    const bool over = inside(p, p->x, y, p->w, LINE);
    if (clicked(p, p->x, y, p->w, LINE)) p->dragged = label;
    const bool held = p->dragged && strcmp(p->dragged, label) == 0;
    const double before = *value;
    if (held) {
        *value = lo + (hi - lo) * fmin(1, fmax(0, (p->pointer.x - p->x) / p->w));
    }
    view_panel_rect(p, p->x, y, p->w, LINE, over || held ? HOVER : WIDGET);
    view_panel_rect(p, p->x, y, p->w * fmin(1, fmax(0, (*value - lo) / (hi - lo))), LINE, (ACCENT & ~0xffu) | 0x90);
    char number[32], text[96];
    snprintf(number, sizeof number, format, *value);
    snprintf(text, sizeof text, "%s %s", label, number);
    view_panel_text(p, p->x + 8, y + 15, 9, text, INK);
    return *value != before;
}

void view_panel_scale(view_panel *p, void (*colour)(void *user, double t, float out[3]), void *user, const char *lo,
                      const char *hi)
{
    double y;
    enum { STEPS = 64 };
    if (!next_row(p, &y)) return;
    for (int i = 0; i < STEPS; i++) {
        float c[3];
        colour(user, (i + 0.5) / STEPS, c);
        uint32_t rgba = 0xff;
        for (int k = 0; k < 3; k++) {
            const float s = c[k] <= 0.0031308f ? 12.92f * c[k] : 1.055f * powf(c[k], 1 / 2.4f) - 0.055f;
            rgba |= (uint32_t)(255 * fminf(1, fmaxf(0, s)) + 0.5f) << (24 - 8 * k);
        }
        view_panel_rect(p, p->x + p->w * i / STEPS, y, p->w / STEPS + 0.5, 10, rgba);
    }
    view_panel_text(p, p->x, y + 21, 7.5, lo, DIM);
    view_panel_text(p, p->x + p->w - 7.5 * (double)tl_show_text(hi, NULL, NULL), y + 21, 7.5, hi, DIM);
}

int32_t view_panel_paragraph(view_panel *p, double x, double y, double width, double size, const char *text,
                             uint32_t rgba)
{
    enum { MOST = 240 };
    int32_t lines = 0;
    while (*text) {
        char line[MOST + 1];
        size_t n = 0, fits = 0;
        while (n < MOST && text[n] && text[n] != '\n') {  // up to the last space that fits, or as far as it goes
            line[n] = text[n], line[n + 1] = 0, n++;
            if (size * (double)tl_show_text(line, NULL, NULL) > width && n > 1) break;
            if (text[n] == ' ' || text[n] == '\n' || !text[n]) fits = n;
        }
        const bool whole = !text[n] || text[n] == '\n';
        if (!whole || fits != n) n = fits > 0 ? fits : n > 1 ? n - 1 : n;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) n--;  // not within a letter
        if (rgba) snprintf(line, sizeof line, "%.*s", (int)n, text), view_panel_text(p, x, y, size, line, rgba);
        text += n;
        while (*text == ' ' || *text == '\n') text++;
        y += 2 * size, lines++;
    }
    return lines;
}

void view_panel_end(view_panel *p)
{
    glDisable(GL_DEPTH_TEST);
    glEnable(GL_BLEND), glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glUseProgram(p->program);
    glUniform2f(glGetUniformLocation(p->program, "size"), (float)p->width, (float)p->height);
    glBindVertexArray(p->array), glBindBuffer(GL_ARRAY_BUFFER, p->buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)p->count * sizeof(corner)), p->corners, GL_STREAM_DRAW);
    glEnableVertexAttribArray(0), glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof(corner), NULL);
    glEnableVertexAttribArray(1);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, sizeof(corner), (const void *)(2 * sizeof(float)));
    glDrawArrays(GL_TRIANGLES, 0, p->count);
    glDisable(GL_BLEND), glEnable(GL_DEPTH_TEST);
}
