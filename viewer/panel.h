// viewer/panel.h: an immediate-mode panel: labels, buttons, choices, sliders, drawn as flat triangles over the scene.
//
// Every frame: view_panel_begin, the widgets in order, view_panel_end. A widget returns true when the user changed it.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

typedef struct view_panel view_panel;

typedef struct view_pointer {
    double x, y;              ///< from the upper left corner of the window
    bool down;                ///< left button
    bool pressed;             ///< went down since the last frame
    double press_x, press_y;  ///< where; a slow picture does not lose a quick click
} view_pointer;

tl_status view_panel_create(view_panel **out, tl_error *err);  ///< with a current context
void view_panel_destroy(view_panel *panel);

void view_panel_begin(view_panel *panel, int32_t width, int32_t height, double scale, view_pointer pointer);
void view_panel_box(view_panel *panel, double x, double y, double width, double height);  ///< widgets follow inside
void view_panel_title(view_panel *panel, const char *text);
void view_panel_label(view_panel *panel, const char *text);
bool view_panel_button(view_panel *panel, const char *text, bool on);
/// A value out of `count` names; clicking on the left or right part goes back or on.
bool view_panel_choice(view_panel *panel, const char *label, const char *const *names, int32_t count, int32_t *value);
bool view_panel_slider(view_panel *panel, const char *label, double lo, double hi, const char *format, double *value);
/// Fills a bar with colours from left to right, for legends.
void view_panel_scale(view_panel *panel, void (*colour)(void *user, double t, float out[3]), void *user, const char *lo,
                      const char *hi);

void view_panel_text(view_panel *panel, double x, double y, double size, const char *text, uint32_t rgba);
/// Words broken into lines no wider than `width`, the first on base line `y`; how many lines. `rgba` 0: only counted.
int32_t view_panel_paragraph(view_panel *panel, double x, double y, double width, double size, const char *text,
                             uint32_t rgba);
void view_panel_line(view_panel *panel, double x0, double y0, double x1, double y1, double width, uint32_t rgba);
void view_panel_rect(view_panel *panel, double x, double y, double width, double height, uint32_t rgba);

/// The pointer belongs to the panel there, as in a box.
void view_panel_cover(view_panel *panel, double x, double y, double width, double height);
/// Does it, at a place of the last picture?
bool view_panel_over(const view_panel *panel, double x, double y);

void view_panel_end(view_panel *panel);  ///< draws
