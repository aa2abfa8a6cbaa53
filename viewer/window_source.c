// viewer/window_source.c: opens recordings, scenes and patterns, and brings the newest frame to the stage.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toile/scene.h"
#include "window.h"

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int note_fabric(void *user, const tl_fabric_entry *entry)
{
    window *w = user;
    if (w->fabric_count > MAX_FABRICS) return 1;
    snprintf(w->fabric_names[w->fabric_count], sizeof w->fabric_names[0], "%s", entry->name);
    w->fabrics[w->fabric_count] = w->fabric_names[w->fabric_count];
    w->fabric_count++;
    return 0;
}

static const char *const REMESHING[] = {"as the scene says", "anisotropic", "isotropic", "none", "edge-trees", "sqrt3"};
static const char *const ENGINE[] = {"as the scene says", "implicit", "springs"};

tl_status window_restart(window *w, tl_error *err)
{
    char texts[8][96];
    const char *sets[MAX_SETS];
    int32_t count = 0, texts_used = 0;
    for (int32_t i = 0; i < w->options->set_count && count < MAX_SETS - 8; i++) sets[count++] = w->options->sets[i];
    const bool springs = w->engine == 2, kept = w->remeshing == 3;  // springs go with meshes that stay and edge trees
    if (w->remeshing > 0 || springs) {
        snprintf(texts[texts_used], sizeof texts[0], "remeshing.kind=%s",
                 springs && !kept ? "edge-trees" : REMESHING[w->remeshing]);
        sets[count++] = texts[texts_used++];
    }
    if (w->engine > 0) {
        snprintf(texts[texts_used], sizeof texts[0], "dynamics.kind=%s", ENGINE[w->engine]);
        sets[count++] = texts[texts_used++];
    }
    for (int32_t i = 0; w->fabric > 0 && w->live && i < 4; i++) {  // the first few cloths; scenes have one or two
        if (i >= w->map_surface) break;
        snprintf(texts[texts_used], sizeof texts[0], "cloths[%d].material=%s", i, w->fabrics[w->fabric]);
        sets[count++] = texts[texts_used++];
    }
    view_live *live;
    const bool paused = w->live ? !view_live_look(w->live).running : w->options->paused;
    const tl_status status = view_live_start(w->scene, sets, count, w->options->threads, paused, &live, err);
    if (status != TL_OK) return status;
    view_live_stop(w->live);
    w->live = live, w->version = 0, w->error[0] = 0;
    if (w->wind != 0) view_live_wind(live, (tl_vec3){0, 0, w->wind});
    return TL_OK;
}

tl_status window_sew(window *w, tl_error *err)
{
    const char *scene;
    const tl_status status = view_garment_write(w->garment, &scene, err);
    if (status != TL_OK) return status;
    snprintf(w->scene, sizeof w->scene, "%s", scene);
    return window_restart(w, err);
}

tl_status window_open(window *w, tl_error *err)
{
    const char *path = w->options->source;
    w->fabric_count = 0, w->fabrics[w->fabric_count++] = "as the scene says";
    tl_fabrics_visit(note_fabric, w, NULL);
    w->chosen = w->seam = -1;
    if (w->options->body && !tl_pattern_is(path)) {
        err->status = TL_BAD_INPUT;
        snprintf(err->message, sizeof err->message, "--body goes with a sewing pattern; %.500s is none", path);
        return TL_BAD_INPUT;
    }
    if (tl_pattern_is(path)) {
        tl_status status = tl_pattern_load(path, &w->pattern, err);
        if (status == TL_OK && w->options->body) {
            status = view_garment_create(w->pattern, w->options->body, &w->garment, err);
            if (status == TL_OK) status = window_sew(w, err);
        }
        return status;
    }
    const tl_status status = tl_show_open(path, NULL, &w->show, err);
    if (status != TL_OK) return status;
    w->frame_count = tl_show_frame_count(w->show);
    w->fps = tl_show_fps(w->show) > 0 ? tl_show_fps(w->show) : 25;
    w->playing = !w->options->paused && w->frame_count > 1;
    w->frame_changed = true;
    snprintf(w->scene, sizeof w->scene, "%s", tl_show_scene(w->show));
    const bool is_scene = ends_with(path, ".json");
    if (w->scene[0] && (is_scene || w->options->live)) return window_restart(w, err);
    if (w->options->live) {
        err->status = TL_BAD_INPUT;
        snprintf(err->message, sizeof err->message, "%s has no scene.json that could be run; leave out --live", path);
        return TL_BAD_INPUT;
    }
    return TL_OK;
}

void window_close(window *w)
{
    view_live_stop(w->live);
    tl_show_close(w->show);
    view_garment_destroy(w->garment);
    tl_pattern_destroy(w->pattern);
    free(w->colours);
    w->live = NULL, w->show = NULL, w->garment = NULL, w->pattern = NULL, w->colours = NULL;
}

static void grow_box(window *w, const tl_show_surface *s)
{
    for (int32_t i = 0; i < s->pos_count; i++) {
        const tl_vec3 p = s->pos[i];
        if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) continue;
        w->lo = (tl_vec3){fmin(w->lo.x, p.x), fmin(w->lo.y, p.y), fmin(w->lo.z, p.z)};
        w->hi = (tl_vec3){fmax(w->hi.x, p.x), fmax(w->hi.y, p.y), fmax(w->hi.z, p.z)};
    }
}

// Camera and floor from the first frame: cloth and bodies of its size; planes give the floor.
static void frame_camera(window *w, const tl_show_surface *surfaces, int32_t count)
{
    w->lo = (tl_vec3){INFINITY, INFINITY, INFINITY}, w->hi = (tl_vec3){-INFINITY, -INFINITY, -INFINITY};
    w->floor_height = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        const tl_show_surface *s = &surfaces[i];
        const bool plane = !s->is_cloth && s->pos_count == 4 && s->face_count == 2;
        if (plane)
            w->floor_height = fmin(w->floor_height, s->pos[0].y);
        else
            grow_box(w, s);
    }
    if (!isfinite(w->lo.x)) w->lo = (tl_vec3){-1, 0, -1}, w->hi = (tl_vec3){1, 1, 1};
    if (!isfinite(w->floor_height)) w->floor_height = w->lo.y - 0.1 * (w->hi.y - w->lo.y);
    if (w->floor_height < w->lo.y && w->lo.y - w->floor_height < 2 * (w->hi.y - w->lo.y)) w->lo.y = w->floor_height;
    view_camera_fit(&w->camera, w->lo, w->hi);
    if (w->garment) {  // beside the panels
        view_camera_pan(&w->camera, 0.36, 0);
        w->camera.home_target = w->camera.target;
    }
    w->framed = true;
}

static void put_frame(void *user, tl_show *show, const tl_show_surface *surfaces, int32_t count)
{
    window *w = user;
    if (!w->framed) frame_camera(w, surfaces, count);
    w->cloth_faces = 0, w->range.title = NULL, w->map_surface = 0;
    tl_error err = {0};
    for (int32_t i = 0; i < count; i++) {
        const tl_show_surface *s = &surfaces[i];
        const float(*colours)[3] = NULL;
        if (s->is_cloth) w->cloth_faces += s->face_count, w->map_surface++;
        if (s->is_cloth && w->mode != TL_RENDER_SHADED && w->mode != TL_RENDER_WIRE) {
            const size_t need = 3 * (size_t)s->face_count;
            if (need > w->colour_count) {
                float(*more)[3] = realloc(w->colours, need * sizeof *more);
                if (!more) continue;
                w->colours = more, w->colour_count = need;
            }
            tl_show_range range = {.lo = 0, .hi = 0};
            if (tl_show_colours(show, i, w->mode, &range, w->colours, &err) == TL_OK)
                colours = (const float(*)[3])w->colours;
            if (range.title && !w->range.title) w->range = range;
        }
        if (view_stage_put(w->stage, i, s, colours, &err) != TL_OK)
            snprintf(w->error, sizeof w->error, "%s", err.message);
    }
    view_stage_keep(w->stage, count);
    if (w->garment && count > 0 && surfaces[0].is_cloth) view_garment_follow(w->garment, &surfaces[0], w->seam);
}

void window_update(window *w)
{
    if (w->live) {
        const view_live_state state = view_live_look(w->live);
        if (state.failed) snprintf(w->error, sizeof w->error, "%s", state.message);
        view_live_take(w->live, &w->version, put_frame, w);
    } else if (w->show && w->frame_changed) {
        const tl_show_surface *surfaces;
        int32_t count;
        tl_error err = {0};
        w->frame_changed = false;
        if (tl_show_load(w->show, w->frame, &surfaces, &count, &err) == TL_OK)
            put_frame(w, w->show, surfaces, count);
        else
            snprintf(w->error, sizeof w->error, "%s", err.message);
    }
}
