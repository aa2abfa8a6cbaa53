// viewer/window_panel.c: the panel at the left, statistics, legend, help, and errors.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "window.h"

static const char *const REMESHING[] = {"as the scene says", "anisotropic", "isotropic", "none", "edge-trees", "sqrt3"};
static const char *const ENGINE[] = {"as the scene says", "implicit", "springs"};

static const char *const HELP[][2] = {
    {"space", "play or pause"},
    {"s", "one step (live), next frame"},
    {"left, right", "a frame; with shift ten, alt a hundred"},
    {"Home, End", "first frame and first view, last frame"},
    {"drag", "on cloth or a body: pull it (live); beside: turn"},
    {"p", "while pulling: pin it there; a pin: unpin it"},
    {"u", "unpin all"},
    {"right drag", "turn; middle drag or shift: move"},
    {"wheel, + -", "nearer, farther"},
    {"m, M", "next, last colour map"},
    {"w, l", "edges of the mesh, levels as layers"},
    {"f, d, t", "floor, dark, this panel"},
    {"r", "start again"},
    {"c, v", "screenshot; film, again to end it"},
    {"? or h", "this list; Esc or q: close"},
    {"drop", "a run, scene, pattern, mesh or character on it"},
};

void window_notice(window *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(w->notice, sizeof w->notice, format, args);
    va_end(args);
    w->notice_until = w->last_draw + 4;
}

typedef struct legend {
    int32_t mode;
    const tl_show_range *range;
} legend;

static void legend_colour(void *user, double t, float out[3])
{
    const legend *l = user;
    tl_show_scale(l->mode, l->range, l->range->lo + t * (l->range->hi - l->range->lo), out);
}

static void draw_choices(window *w)
{
    view_panel *p = w->panel;
    static const char *modes[TL_SHOW_MODE_COUNT], *titles[EXHIBITS + 1];
    for (int32_t i = 0; i < TL_SHOW_MODE_COUNT; i++) modes[i] = tl_show_mode_name(i);
    for (int32_t i = 0; i <= EXHIBITS; i++) titles[i] = window_exhibit(i);
    int32_t exhibit = w->exhibit;
    if (!w->garment &&
        view_panel_choice(p, "gallery", titles, w->exhibit < EXHIBITS ? EXHIBITS : EXHIBITS + 1, &exhibit)) {
        w->next_exhibit = exhibit;  // the panel is drawn to its end first
        w->change = true;
    }
    int32_t mode = w->mode;
    if (view_panel_choice(p, "show", modes, TL_SHOW_MODE_COUNT, &mode))
        w->mode = mode, w->frame_changed = true, w->version = 0;
    if (w->range.title) {
        char lo[48], hi[96];
        snprintf(lo, sizeof lo, "%.3g", w->range.lo);
        snprintf(hi, sizeof hi, "%.3g  %s", w->range.hi, w->range.title);
        legend l = {w->stacked ? (int32_t)TL_RENDER_LEVEL : w->mode, &w->range};
        view_panel_scale(p, legend_colour, &l, lo, hi);
    }
    if (view_panel_button(p, "edges of the mesh", w->wire)) w->wire = !w->wire;
    if (view_panel_button(p, "levels as layers", w->stacked)) window_stack(w);
}

static void draw_live(window *w)
{
    view_panel *p = w->panel;
    const view_live_state s = view_live_look(w->live);
    if (view_panel_button(p, s.running ? "pause" : "run", s.running)) view_live_pause(w->live, s.running);
    bool again = view_panel_button(p, "start again", false);
    if (view_panel_choice(p, "fabric", w->fabrics, w->fabric_count, &w->fabric)) window_set_fabric(w);
    if (view_panel_choice(p, "mesh", REMESHING, sizeof REMESHING / sizeof *REMESHING, &w->remeshing))
        window_set_remeshing(w);
    again |= view_panel_choice(p, "engine", ENGINE, sizeof ENGINE / sizeof *ENGINE, &w->engine);
    tl_error err = {0};
    if (again && window_restart(w, &err) != TL_OK) {
        w->error_title = "It could not be started:";
        snprintf(w->error, sizeof w->error, "%s", err.message);
        if (!w->live) return;
    }
    bool blows = view_panel_slider(p, "wind", 0, 12, "%.1f m/s", &w->wind);
    blows |= view_panel_slider(p, "towards", -180, 180, "%.0f degrees", &w->wind_turn);
    if (blows) window_set_wind(w);
    char text[128];
    if (s.sewing) {
        snprintf(text, sizeof text, s.sewing == 1 ? "sewing: widest gap %.1f cm" : "sewn (%.1f cm): the body grows",
                 100 * s.gap);
        view_panel_label(p, text);
    }
    snprintf(text, sizeof text, "%.2f s, frame %lld, %lld faces", s.time, (long long)s.frame, (long long)s.faces);
    view_panel_label(p, text);
    snprintf(text, sizeof text, "%.0f ms: solve %.0f, contact %.0f", s.frame_ms, s.physics_ms, s.collision_ms);
    view_panel_label(p, text);
    snprintf(text, sizeof text, "limits %.0f, mesh %.0f;  %d contacts, %d pins", s.strain_ms, s.remesh_ms, s.contacts,
             s.pins);
    view_panel_label(p, text);
}

static void draw_playback(window *w)
{
    view_panel *p = w->panel;
    char text[128];
    if (w->frame_count > 1) {
        if (view_panel_button(p, w->playing ? "pause" : "play", w->playing)) w->playing = !w->playing;
        double frame = w->frame;
        if (view_panel_slider(p, "frame", 0, w->frame_count - 1, "%.0f", &frame))
            w->frame = (int32_t)(frame + 0.5), w->frame_changed = true, w->playing = false;
    }
    snprintf(text, sizeof text, "frame %d of %d, %lld faces", w->frame, w->frame_count - 1, (long long)w->cloth_faces);
    view_panel_label(p, text);
    if (w->scene[0] && view_panel_button(p, "run the scene live", false)) {
        tl_error err = {0};
        if (window_restart(w, &err) != TL_OK)
            w->error_title = "It could not be started:", snprintf(w->error, sizeof w->error, "%s", err.message);
    }
}

static void seam_labels(window *w, int32_t seam)
{
    char text[160];
    const tl_seam *s = tl_pattern_seam(w->pattern, seam);
    const double a = tl_seam_side_length(w->pattern, &s->side[0]), b = tl_seam_side_length(w->pattern, &s->side[1]);
    snprintf(text, sizeof text, "seam %d %s", seam, s->label);
    view_panel_label(w->panel, text);
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text, "%.28s, edge %d: %.1f cm", tl_pattern_panel(w->pattern, s->side[k].panel)->name,
                 s->side[k].edge, 100 * (k == 0 ? a : b));
        view_panel_label(w->panel, text);
    }
    snprintf(text, sizeof text, "lengths differ by %.1f %%", b > 0 ? 100 * fabs(a - b) / b : 0);
    view_panel_label(w->panel, text);
}

static void draw_pattern(window *w, double width, double height)
{
    const view_flat_under under =
        view_flat_draw(w->pattern, w->panel, 290, 50, width - 320, height - 90, w->pointer, -1);
    view_panel_box(w->panel, 12, 12, 256, 150);
    view_panel_title(w->panel, tl_pattern_name(w->pattern));
    char text[160];
    snprintf(text, sizeof text, "%d panels, %d seams", tl_pattern_panel_count(w->pattern),
             tl_pattern_seam_count(w->pattern));
    view_panel_label(w->panel, text);
    if (under.seam >= 0)
        seam_labels(w, under.seam);
    else
        view_panel_label(w->panel, "point at a seam to see what it joins");
}

// A slider whose value goes back to the middle: how far the panel is moved now.
static double nudge(window *w, const char *label, double now, double range, const char *format)
{
    double value = now;
    return view_panel_slider(w->panel, label, -range, range, format, &value) ? value - now : 0;
}

// Panels beside the dressed body: a click chooses one, sliders move and turn it, and it is sewn again.
static void draw_garment(window *w, double width, double height)
{
    view_panel *p = w->panel;
    view_garment_draw(w->garment, p, &w->camera, width, height, w->chosen);
    const double left = 12, wide = fmax(200, 0.42 * width - 20), top = w->chosen >= 0 ? 554 : 494;
    view_panel_rect(p, left, top, wide, height - top - 34, 0x16191ee6);
    view_pointer at = w->pointer;  // a click counts where it was, though the pointer may have gone on
    if (at.pressed) at.x = at.press_x, at.y = at.press_y;
    const view_flat_under under =
        view_flat_draw(w->pattern, p, left + 14, top + 14, wide - 28, height - top - 62, at, w->chosen);
    const bool on_sheet = at.x < left + wide && at.y > top;
    view_panel_cover(p, 0, top, left + wide, height - top);
    const int32_t seam = on_sheet ? under.seam : -1;
    if (seam != w->seam) w->seam = seam, w->version = 0;  // the frame is looked at again
    if (on_sheet && w->pointer.pressed) w->chosen = under.panel;
    if (w->chosen >= 0) {
        const tl_placement *place = &tl_pattern_panel(w->pattern, w->chosen)->placement;
        view_panel_title(p, tl_pattern_panel(w->pattern, w->chosen)->name);
        const tl_vec3 by = {nudge(w, "right", place->origin.x, 1, "%.2f m"),
                            nudge(w, "up", place->origin.y, 2, "%.2f m"),
                            nudge(w, "front", place->origin.z, 1, "%.2f m")};
        const double turn = nudge(w, "turn", place->rotation_deg.y, 180, "%.0f");
        view_garment_move(w->garment, w->chosen, by, turn);
    } else if (seam >= 0) {
        seam_labels(w, seam);
    } else {
        view_panel_label(p, "point at a seam, click on a panel");
    }
    tl_error err = {0};
    if (view_panel_button(p, "sew again", false) && window_sew(w, &err) != TL_OK)
        w->error_title = "It could not be sewn:", snprintf(w->error, sizeof w->error, "%s", err.message);
}

static void draw_message(window *w, const char *title, const char *text, double width, double y, uint32_t paper)
{
    const double left = width > 700 ? fmax(280, width / 2 - 360) : 12, wide = fmin(760, width - left - 12);
    const int32_t head = title[0] != 0;
    const int32_t rows = view_panel_paragraph(w->panel, 0, 0, wide - 24, 8.5, text, 0) + head;
    const double tall = 12 + 17 * rows, top = y - tall;
    view_panel_rect(w->panel, left, top, wide, tall, paper);
    if (head) view_panel_text(w->panel, left + 12, top + 19, 9.5, title, 0xffffffff);
    view_panel_paragraph(w->panel, left + 12, top + 19 + 17 * head, wide - 24, 8.5, text, 0xffffffff);
}

// Marks where cloth is pinned.
static void draw_pins(window *w, double width, double height)
{
    enum { MOST = 64 };
    tl_vec3 at[MOST];
    float m[16];
    const int32_t count = view_live_pins(w->live, at, MOST);
    view_camera_matrix(&w->camera, width / height, m);
    for (int32_t i = 0; i < count; i++) {
        double x, y;
        if (!view_project(m, width, height, at[i], &x, &y)) continue;
        view_panel_rect(w->panel, x - 5, y - 5, 10, 10, 0x16191eff);
        view_panel_rect(w->panel, x - 3.5, y - 3.5, 7, 7, 0xffb020ff);
    }
}

void window_panel(window *w, int32_t width, int32_t height, double scale)
{
    view_panel *p = w->panel;
    view_panel_begin(p, width, height, scale, w->pointer);
    const double ww = width / scale, hh = height / scale;
    if (w->live && !w->stacked) draw_pins(w, ww, hh);
    if (w->pattern && !w->garment) {
        draw_pattern(w, ww, hh);
    } else if (w->panel_open) {
        view_panel_box(p, 12, 12, 256, w->garment ? (w->chosen >= 0 ? 534 : 474) + 0.0 : w->live ? 430 : 284);
        view_panel_title(p, w->show && tl_show_title(w->show)[0] ? tl_show_title(w->show) : "toile");
        draw_choices(w);
        if (w->live)
            draw_live(w);
        else
            draw_playback(w);
        if (w->garment) draw_garment(w, ww, hh);
        char text[64];
        const bool moves = w->live ? view_live_look(w->live).running : w->playing;
        const char *film = w->film ? ", filming" : "";
        if (moves)
            snprintf(text, sizeof text, "drawn %.0f times a second%s", w->frame_rate, film);
        else
            snprintf(text, sizeof text, "nothing moves%s", film);
        view_panel_label(p, text);
    }
    if (w->help) {
        const int rows = sizeof HELP / sizeof *HELP;
        view_panel_box(p, 280, 12, 420, 26 + 20.0 * rows);
        for (int i = 0; i < rows; i++) {
            view_panel_text(p, 294, 36 + 20 * i, 8.5, HELP[i][0], 0x9fc3f5ff);
            view_panel_text(p, 384, 36 + 20 * i, 8.5, HELP[i][1], 0xe8eaedff);
        }
    } else if (!w->pattern || w->garment) {
        view_panel_text(p, 16, hh - 14, 8, "? shows all keys", 0x80868fff);
    }
    if (w->error[0]) draw_message(w, w->error_title, w->error, ww, hh - 76, 0xa02020f0);
    if (w->notice[0] && w->last_draw < w->notice_until && w->picture_in == 0)  // not on a screenshot
        draw_message(w, "", w->notice, ww, hh - 30, 0x20242cf0);
    view_panel_end(p);
    if (w->change && w->next_exhibit < EXHIBITS) window_change(w, NULL, w->next_exhibit);
    w->change = false;
}
