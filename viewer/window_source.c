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
    snprintf(w->fabric_paths[w->fabric_count], sizeof w->fabric_paths[0], "%s", entry->path);
    w->fabrics[w->fabric_count] = w->fabric_names[w->fabric_count];
    w->fabric_count++;
    return 0;
}

static const char *const REMESHING[] = {"as the scene says", "anisotropic", "isotropic", "none", "edge-trees", "sqrt3"};
static const char *const ENGINE[] = {"as the scene says", "implicit", "springs"};

// ---- the gallery ------------------------------------------------------------------------------------------

/// A scene of the repository, with what makes it run live.
typedef struct gallery_scene {
    const char *title, *folder;
    int32_t mode;
    bool wire;
    const char *sets[8];
} gallery_scene;

#define LIVE "solver.newton_tolerance=0.06", "solver.linear_tolerance=0.05"
static const gallery_scene GALLERY[EXHIBITS] = {
    {"adaptive mesh",
     "sphere",
     TL_RENDER_MESH,
     true,
     {LIVE, "fps=30", "steps_per_frame=2", "remeshing.size_min=0.024", "remeshing.max_faces=5000"}},
    {"flag in the wind",
     "flag",
     TL_RENDER_SHADED,
     false,
     {LIVE, "fps=30", "steps_per_frame=2", "cloths[0].mesh.rectangle.edge=0.06", "remeshing.size_min=0.04"}},
    {"curtain to pull", "curtain", TL_RENDER_SHADED, false, {LIVE, "fps=30", "steps_per_frame=2"}},
    {"ten cloths", "stack", TL_RENDER_SHADED, false, {LIVE, "fps=30", "steps_per_frame=2", "remeshing.size_min=0.04"}},
    {"dress on a dancer", "dancer", TL_RENDER_SHADED, false, {LIVE, "remeshing.size_min=0.03"}},
    {"try-on, tension",
     "shirt-trousers",
     TL_RENDER_TENSION,
     false,
     {LIVE, "fps=30", "steps_per_frame=2", "remeshing.kind=anisotropic", "remeshing.size_min=0.03",
      "remeshing.size_max=0.12"}},
};

const char *window_exhibit(int32_t index) { return index >= 0 && index < EXHIBITS ? GALLERY[index].title : "choose"; }

static void exhibit_path(int32_t index, char *out, size_t size)
{
    const char *env = getenv("TOILE_DATA"), *roots[2] = {env && env[0] ? env : TL_DATA_DIR, TL_DATA_DIR};
    for (int i = 0; i < 2; i++) {
        snprintf(out, size, "%.800s/scenes/%s/scene.json", roots[i], GALLERY[index].folder);
        FILE *there = fopen(out, "rb");
        if (!there) continue;
        fclose(there);
        return;
    }
}

// ---- live -------------------------------------------------------------------------------------------------

void window_set_wind(window *w)
{
    const double a = w->wind_turn * 3.14159265358979323846 / 180;
    view_live_wind(w->live, (tl_vec3){w->wind * sin(a), 0, w->wind * cos(a)});
}

void window_set_fabric(window *w)
{
    const bool own = w->fabric == 0;
    view_live_fabric(w->live, own ? "" : w->fabric_paths[w->fabric], own ? "" : w->fabrics[w->fabric]);
}

void window_set_remeshing(window *w)
{
    static const tl_remeshing_kind kinds[] = {TL_REMESHING_NONE, TL_REMESHING_ANISOTROPIC, TL_REMESHING_ISOTROPIC,
                                              TL_REMESHING_NONE, TL_REMESHING_EDGE_TREES,  TL_REMESHING_SQRT3};
    view_live_remeshing(w->live, w->remeshing == 0 ? -1 : (int32_t)kinds[w->remeshing]);
}

// The present choices as settings of the scene; that of the fabric is made once it runs.
static int32_t choices(const window *w, char texts[8][96], const char *sets[MAX_SETS])
{
    int32_t count = 0, used = 0;
    for (int32_t i = 0; w->exhibit < EXHIBITS && i < 8 && GALLERY[w->exhibit].sets[i]; i++)
        sets[count++] = GALLERY[w->exhibit].sets[i];
    for (int32_t i = 0; i < w->options->set_count && count < MAX_SETS - 8; i++) sets[count++] = w->options->sets[i];
    const bool springs = w->engine == 2, kept = w->remeshing == 3;  // springs go with meshes that stay and edge trees
    if (w->remeshing > 0 || springs) {
        snprintf(texts[used], sizeof texts[0], "remeshing.kind=%s",
                 springs && !kept ? "edge-trees" : REMESHING[w->remeshing]);
        sets[count++] = texts[used++];
    }
    if (w->engine > 0) {
        snprintf(texts[used], sizeof texts[0], "dynamics.kind=%s", ENGINE[w->engine]);
        sets[count++] = texts[used++];
    }
    return count;
}

static tl_status start_live(window *w, const struct view_live_sew *sew, tl_error *err)
{
    char texts[8][96];
    const char *sets[MAX_SETS];
    const int32_t count = choices(w, texts, sets);
    const bool paused = w->live ? !view_live_look(w->live).running : w->options->paused;
    const view_live_def def = {.scene = w->scene,
                               .sets = sets,
                               .set_count = count,
                               .threads = w->options->threads,
                               .paused = paused && !(w->live && view_live_look(w->live).failed),
                               .sew = sew};
    view_live *live;
    const tl_status status = view_live_start(&def, &live, err);
    if (status != TL_OK) return status;
    view_live_stop(w->live);
    w->live = live, w->version = 0, w->error[0] = 0;
    if (w->wind != 0) window_set_wind(w);
    if (w->fabric > 0) window_set_fabric(w);
    return TL_OK;
}

tl_status window_restart(window *w, tl_error *err)
{
    if (w->garment && w->live && view_live_look(w->live).sewing)
        return window_sew(w, err);  // there is nothing to wear yet
    return start_live(w, NULL, err);
}

tl_status window_sew(window *w, tl_error *err)
{
    const char *scene;
    const struct view_live_sew *sew;
    view_live_stop(w->live);  // it reads and writes the same files
    w->live = NULL;
    const tl_status status = view_garment_write(w->garment, &scene, &sew, err);
    if (status != TL_OK) return status;
    snprintf(w->scene, sizeof w->scene, "%s", scene);
    return start_live(w, sew, err);
}

// ---- opening ----------------------------------------------------------------------------------------------

static void forget(window *w)
{
    view_live_stop(w->live);
    tl_show_close(w->show);
    view_garment_destroy(w->garment);
    tl_pattern_destroy(w->pattern);
    w->live = NULL, w->show = NULL, w->garment = NULL, w->pattern = NULL;
}

static tl_status open_show(window *w, const char *path, bool live, tl_error *err)
{
    tl_status status = tl_show_open(path, NULL, &w->show, err);
    if (status != TL_OK) return status;
    w->frame_count = tl_show_frame_count(w->show);
    w->fps = tl_show_fps(w->show) > 0 ? tl_show_fps(w->show) : 25;
    w->playing = !w->options->paused && w->frame_count > 1;
    snprintf(w->scene, sizeof w->scene, "%s", tl_show_scene(w->show));
    if (w->scene[0] && (ends_with(path, ".json") || live)) return window_restart(w, err);
    if (!live) return TL_OK;
    err->status = TL_BAD_INPUT;
    snprintf(err->message, sizeof err->message, "%s has no scene.json that could be run; leave out --live", path);
    return TL_BAD_INPUT;
}

static tl_status open_pattern(window *w, const char *path, const char *body, tl_error *err)
{
    tl_status status = tl_pattern_load(path, &w->pattern, err);
    if (status == TL_OK && body) status = view_garment_create(w->pattern, body, &w->garment, err);
    return status == TL_OK && body ? window_sew(w, err) : status;
}

// `w` shows nothing yet.
static tl_status open_source(window *w, const char *path, const char *body, bool live, tl_error *err)
{
    w->chosen = w->seam = -1;
    w->frame = 0, w->frame_changed = true, w->framed = false, w->version = 0, w->scene[0] = 0;
    snprintf(w->source, sizeof w->source, "%s", path);
    return tl_pattern_is(path) ? open_pattern(w, path, body, err) : open_show(w, path, live, err);
}

tl_status window_open(window *w, tl_error *err)
{
    const char *path = w->options->source;
    char gallery[1024];
    w->fabric_count = 0, w->fabrics[w->fabric_count++] = "as the scene says";
    tl_fabrics_visit(note_fabric, w, NULL);
    w->stack = view_hierarchy_create();
    w->exhibit = path ? EXHIBITS : 0;
    if (w->options->body && !(path && tl_pattern_is(path))) {
        err->status = TL_BAD_INPUT;
        snprintf(err->message, sizeof err->message, "--body goes with a sewing pattern; %.500s is none",
                 path ? path : "the gallery");
        return TL_BAD_INPUT;
    }
    if (!path) {
        exhibit_path(0, gallery, sizeof gallery);
        path = gallery, w->wire = GALLERY[0].wire;
        if (!w->options->mode) w->mode = GALLERY[0].mode;
    }
    return open_source(w, path, w->options->body, w->options->live, err);
}

void window_change(window *w, const char *path, int32_t exhibit)
{
    char gallery[1024];
    window next = *w;  // what is shown now stays with `w` until the other thing is there
    next.live = NULL, next.show = NULL, next.garment = NULL, next.pattern = NULL;
    next.exhibit = exhibit, next.fabric = next.remeshing = next.engine = 0, next.wind = 0, next.stacked = false;
    if (exhibit < EXHIBITS) {
        exhibit_path(exhibit, gallery, sizeof gallery);
        path = gallery, next.mode = GALLERY[exhibit].mode, next.wire = GALLERY[exhibit].wire;
    }
    tl_error err = {0};
    if (open_source(&next, path, w->options->body, false, &err) != TL_OK) {
        forget(&next);
        w->error_title = "It could not be opened:";
        snprintf(w->error, sizeof w->error, "%s", err.message);
        return;
    }
    forget(w);
    next.error[0] = 0;
    *w = next;
}

void window_close(window *w)
{
    forget(w);
    view_hierarchy_destroy(w->stack);
    free(w->colours);
    w->stack = NULL, w->colours = NULL;
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
static void frame_camera(window *w, const tl_show *show, const tl_show_surface *surfaces, int32_t count)
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
    double azimuth, elevation;
    if (show && tl_show_camera(show, &azimuth, &elevation)) {
        w->camera.home_azimuth = azimuth * 3.14159265358979323846 / 180;
        w->camera.home_elevation = elevation * 3.14159265358979323846 / 180;
        view_camera_home(&w->camera);
    }
    if (w->garment) {  // beside the panels
        view_camera_pan(&w->camera, 0.36, 0);
        w->camera.home_target = w->camera.target;
    }
    w->framed = true;
}

// Meshes as stacks of their levels, side by side. False: none has a place in the material.
static bool put_stack(window *w, const tl_show_surface *surfaces, int32_t count)
{
    int32_t shown = 0;
    double right = 0, size = 0;
    tl_error err = {0};
    w->cloth_faces = 0, w->range = (tl_show_range){0}, w->map_surface = 0;
    for (int32_t i = 0; i < count && w->stack; i++) {
        tl_show_surface layers;
        const float(*colours)[3];
        int32_t top;
        double width;
        if (!surfaces[i].is_cloth) continue;
        w->cloth_faces += surfaces[i].face_count, w->map_surface++;
        if (!view_hierarchy_make(w->stack, &surfaces[i], right, &layers, &colours, &top, &width)) continue;
        if (view_stage_put(w->stage, shown, &layers, colours, &err) == TL_OK) shown++;
        w->range = (tl_show_range){.lo = 0, .hi = fmax(fmax(1, top), w->range.hi), .title = "level"};
        if (w->stack_fits) continue;
        for (int32_t p = 0; p < layers.pos_count; p++) {
            const tl_vec3 x = layers.pos[p];
            if (shown == 1 && p == 0) w->lo = w->hi = x;
            w->lo = (tl_vec3){fmin(w->lo.x, x.x), fmin(w->lo.y, x.y), fmin(w->lo.z, x.z)};
            w->hi = (tl_vec3){fmax(w->hi.x, x.x), fmax(w->hi.y, x.y), fmax(w->hi.z, x.z)};
        }
        right += 1.15 * width, size = fmax(size, width);
    }
    if (shown == 0) return false;
    view_stage_keep(w->stage, shown);
    if (!w->stack_fits) {  // once: room for levels that come later
        w->hi.y = fmax(w->hi.y, size), w->floor_height = w->lo.y - 0.05 * size, w->stack_fits = true;
        view_camera_fit(&w->camera, w->lo, w->hi);
    }
    return true;
}

static void put_frame(void *user, tl_show *show, const tl_show_surface *surfaces, int32_t count)
{
    window *w = user;
    if (!w->framed) frame_camera(w, show, surfaces, count);
    w->shown_anew = true;
    if (w->stacked && put_stack(w, surfaces, count)) return;
    w->cloth_faces = 0, w->range.title = NULL, w->map_surface = 0;
    tl_error err = {0};
    for (int32_t i = 0; i < count; i++) {
        const tl_show_surface *s = &surfaces[i];
        const float(*colours)[3] = NULL;
        if (s->is_cloth) w->cloth_faces += s->face_count, w->map_surface++;
        if (s->is_cloth && w->mode != (int32_t)TL_RENDER_SHADED && w->mode != (int32_t)TL_RENDER_WIRE) {
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

void window_stack(window *w)
{
    w->stacked = !w->stacked;
    w->stack_fits = w->framed = false;
    w->version = 0, w->frame_changed = true;
}

void window_update(window *w)
{
    if (w->dropped[0]) {
        char path[sizeof w->dropped];
        snprintf(path, sizeof path, "%s", w->dropped);
        w->dropped[0] = 0;
        window_change(w, path, EXHIBITS);
    }
    if (w->live) {
        const view_live_state state = view_live_look(w->live);
        char why[512];
        if (view_live_refused(w->live, why, sizeof why)) {
            tl_error err = {0};
            window_notice(w, "started again: %s", why);
            if (window_restart(w, &err) != TL_OK)
                w->error_title = "It could not be started:", snprintf(w->error, sizeof w->error, "%s", err.message);
            if (!w->live) return;
        }
        if (state.failed) w->error_title = "It stopped:", snprintf(w->error, sizeof w->error, "%s", state.message);
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
