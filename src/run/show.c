// run/show.c: surfaces with looks and colour maps for windows (toile/show.h), from the same source, style and maps that
// pictures are drawn from, so that a window shows what `toile render` draws.

#include "toile/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/film.h"
#include "io/png.h"
#include "render/font.h"
#include "render/maps.h"
#include "run/render_source.h"
#include "run/render_style.h"

#define CONTACT_REACH 0.01  // [m] of the map of contact, as in pictures
#define DEGREES (180 / 3.14159265358979323846)
#define QUANTILE 0.99  // of a map's values that its colours resolve

struct tl_show {
    tl_allocator alloc;
    tl_source source;
    bool has_source;
    tl_style style;
    char scene[TL_PATH_MAX];
    tl_show_frame frame;
    int32_t index;  ///< of the frame; -1: of a simulation
    tl_show_surface *surfaces;
    tl_draw_mesh *drawn;
    int32_t count;
    tl_workers *workers;
};

static tl_status make(const tl_allocator *alloc, tl_show **out, tl_error *err)
{
    tl_show *show = TL_CALLOC(alloc, tl_show, 1);
    if (!show) return tl_fail_memory(err, "what to show");
    show->alloc = *alloc;
    const tl_status status = tl_workers_create(alloc, 1, &show->workers, err);
    if (status != TL_OK) {
        TL_FREE(alloc, show, 1);
        return status;
    }
    *out = show;
    return TL_OK;
}

tl_status tl_show_open(const char *path, const tl_log *log, tl_show **out, tl_error *err)
{
    *out = NULL;
    const tl_allocator alloc = tl_allocator_default();
    tl_show *show = NULL;
    TL_TRY(make(&alloc, &show, err));
    const tl_status status = tl_source_open(&alloc, path, log, &show->source, err);
    if (status != TL_OK) {
        tl_show_close(show);
        return status;
    }
    show->has_source = true;
    memcpy(show->scene, show->source.scene_path, sizeof show->scene);
    tl_style_read(&show->source, &show->style);
    *out = show;
    return TL_OK;
}

tl_status tl_show_create(const char *scene, tl_show **out, tl_error *err)
{
    *out = NULL;
    const tl_allocator alloc = tl_allocator_default();
    tl_show *show = NULL;
    TL_TRY(make(&alloc, &show, err));
    if (scene) {
        if (strlen(scene) >= sizeof show->scene) {
            tl_show_close(show);
            return tl_fail(err, TL_BAD_ARG, "the name of the scene file is longer than %d bytes", TL_PATH_MAX - 1);
        }
        strcpy(show->scene, scene);
        tl_source named = {.alloc = alloc, .kind = TL_SOURCE_SCENE};
        strcpy(named.scene_path, scene);
        tl_style_read(&named, &show->style);
    }
    *out = show;
    return TL_OK;
}

tl_status tl_show_create_scene(const tl_scene *scene, tl_show **out, tl_error *err)
{
    TL_TRY(tl_show_create(NULL, out, err));
    tl_source named = {.alloc = (*out)->alloc, .kind = TL_SOURCE_SCENE};
    tl_style_read_text(&named, tl_scene_json(scene), &(*out)->style);
    return TL_OK;
}

static void drop_frame(tl_show *show)
{
    tl_show_frame_free(&show->alloc, &show->frame);
    show->frame = (tl_show_frame){0};
    TL_FREE(&show->alloc, show->surfaces, show->count);
    TL_FREE(&show->alloc, show->drawn, show->count);
    show->surfaces = NULL, show->drawn = NULL, show->count = 0;
}

void tl_show_close(tl_show *show)
{
    if (!show) return;
    drop_frame(show);
    if (show->has_source) tl_source_close(&show->source);
    tl_workers_destroy(show->workers);
    const tl_allocator alloc = show->alloc;
    TL_FREE(&alloc, show, 1);
}

int32_t tl_show_frame_count(const tl_show *show) { return show->has_source ? show->source.frame_count : 0; }
double tl_show_fps(const tl_show *show) { return show->has_source ? show->source.fps : 0; }
const char *tl_show_title(const tl_show *show) { return show->has_source ? show->source.title : ""; }
const char *tl_show_scene(const tl_show *show) { return show->scene; }

int32_t tl_show_camera(const tl_show *show, double *azimuth_deg, double *elevation_deg)
{
    const tl_camera_def *c = &show->style.camera;
    if (!show->style.has_camera) return 0;
    *azimuth_deg = c->azimuth_deg, *elevation_deg = c->elevation_deg;
    if (c->kind != TL_CAMERA_FIXED) return c->kind == TL_CAMERA_ANGLES;
    const double x = c->eye.x - c->target.x, y = c->eye.y - c->target.y, z = c->eye.z - c->target.z;
    *azimuth_deg = atan2(x, z) * DEGREES, *elevation_deg = atan2(y, hypot(x, z)) * DEGREES;
    return 1;
}

static void copy_rgb(tl_rgb from, float to[3]) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

// The frame is loaded: surfaces of it, with their looks.
static tl_status dress(tl_show *show, tl_error *err)
{
    const int32_t count = show->frame.mesh_count;
    show->surfaces = TL_CALLOC(&show->alloc, tl_show_surface, count);
    show->drawn = TL_CALLOC(&show->alloc, tl_draw_mesh, count);
    show->count = count;
    if (count > 0 && (!show->surfaces || !show->drawn)) return tl_fail_memory(err, "surfaces to show");
    for (int32_t i = 0; i < count; i++) {
        const tl_show_mesh *m = &show->frame.meshes[i];
        tl_draw_mesh *d = &show->drawn[i];
        *d = (tl_draw_mesh){.pos = m->obj.pos,
                            .pos_count = m->obj.node_count,
                            .face = (const int32_t(*)[3])m->face_node,
                            .face_count = m->obj.face_count,
                            .look = tl_style_look(&show->style, m, i)};
        if (m->woven) {
            d->uv = m->obj.uv, d->uv_count = m->obj.vert_count;
            d->face_uv = (const int32_t(*)[3])m->obj.face;
        }
        tl_show_surface *s = &show->surfaces[i];
        *s = (tl_show_surface){.name = m->name,
                               .is_cloth = i < show->frame.cloth_count && !m->solid,
                               .pos = d->pos,
                               .pos_count = d->pos_count,
                               .face = d->face,
                               .face_count = d->face_count,
                               .uv = d->uv,
                               .face_uv = d->face_uv,
                               .gloss = d->look.gloss,
                               .roughness = d->look.roughness,
                               .sheen = d->look.sheen,
                               .weave = d->uv ? d->look.weave : 0,
                               .yarn = d->look.yarn,
                               .weave_kind = (uint32_t)d->look.weave_kind,
                               .is_skin = d->look.skin};
        copy_rgb(d->look.front, s->front), copy_rgb(d->look.back, s->back);
    }
    return TL_OK;
}

tl_status tl_show_load(tl_show *show, int32_t index, const tl_show_surface **surfaces, int32_t *count, tl_error *err)
{
    if (!show->has_source || index < 0 || index >= show->source.frame_count)
        return tl_fail(err, TL_BAD_ARG, "frame %d of %d", index, tl_show_frame_count(show));
    drop_frame(show);
    TL_TRY(tl_source_load(&show->source, index, &show->frame, err));
    show->index = index;
    TL_TRY(dress(show, err));
    *surfaces = show->surfaces, *count = show->count;
    return TL_OK;
}

tl_status tl_show_sim(tl_show *show, const tl_sim *sim, const tl_show_surface **surfaces, int32_t *count, tl_error *err)
{
    drop_frame(show);
    TL_TRY(tl_show_frame_of_sim(&show->alloc, sim, &show->frame, err));
    show->index = -1;
    TL_TRY(dress(show, err));
    *surfaces = show->surfaces, *count = show->count;
    return TL_OK;
}

// ---- colour maps ------------------------------------------------------------------------------------------

typedef struct map_info {
    const char *title;
    double factor;  ///< number shown = value * factor
    tl_scale_kind kind;
    bool per_node;
} map_info;

const char *tl_show_mode_name(int32_t mode)
{
    return mode == TL_SHOW_FORCE ? "force" : tl_render_mode_name((tl_render_mode)mode);
}

static bool find_map(int32_t mode, map_info *out)
{
    switch (mode) {
    case TL_RENDER_STRAIN: *out = (map_info){"strain [%]", 100, TL_SCALE_DIVERGING, false}; return true;
    case TL_RENDER_TENSION: *out = (map_info){"tensile strain [%]", 100, TL_SCALE_SEQUENTIAL, false}; return true;
    case TL_RENDER_STRESS: *out = (map_info){"tension [N/m]", 1, TL_SCALE_RAINBOW, false}; return true;
    case TL_RENDER_VELOCITY: *out = (map_info){"speed [m/s]", 1, TL_SCALE_SEQUENTIAL, true}; return true;
    case TL_SHOW_FORCE: *out = (map_info){"contact force [mN]", 1000, TL_SCALE_HEAT, true}; return true;
    case TL_RENDER_CURVATURE: *out = (map_info){"curvature [1/m]", 1, TL_SCALE_SEQUENTIAL, true}; return true;
    case TL_RENDER_LEVEL: *out = (map_info){"level", 1, TL_SCALE_LEVELS, false}; return true;
    case TL_RENDER_CONTACT: *out = (map_info){"distance [mm]", 1000, TL_SCALE_HEAT, true}; return true;
    default: return false;
    }
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

// The range that shows most of the values, in the unit shown.
static tl_status choose_range(tl_show *show, int32_t mode, const map_info *info, const float *values, int32_t count,
                              tl_show_range *range, tl_error *err)
{
    range->title = info->title;
    if (range->lo != range->hi) return TL_OK;
    if (mode == TL_RENDER_CONTACT) {
        range->lo = CONTACT_REACH * info->factor, range->hi = 0;
        return TL_OK;
    }
    float *sorted = TL_ALLOC(&show->alloc, float, count);
    if (!sorted) return tl_fail_memory(err, "a map");
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++)
        if (isfinite(values[i])) sorted[n++] = fabsf(values[i]);
    if (n > 0) qsort(sorted, (size_t)n, sizeof *sorted, compare_floats);
    const double high = n > 0 ? (double)sorted[(int32_t)(QUANTILE * (n - 1))] * info->factor : 0;
    TL_FREE(&show->alloc, sorted, count);
    const double least = mode == TL_RENDER_VELOCITY ? 0.1 : 1;  // what is next to nothing is not blown up
    range->hi = mode == TL_RENDER_LEVEL ? fmax(1, ceil(high)) : fmax(high, least);
    range->lo = mode == TL_RENDER_STRAIN ? -range->hi : 0;
    return TL_OK;
}

// Velocities of the frame, or what moved since the frame before; all zero where there is nothing to compare with.
static tl_status find_speed(tl_show *show, int32_t index, float *out, tl_error *err)
{
    const tl_show_mesh *m = &show->frame.meshes[index];
    if (m->obj.vel) return tl_map_speed(m->obj.vel, m->obj.node_count, out), TL_OK;
    memset(out, 0, (size_t)m->obj.node_count * sizeof *out);
    if (!show->has_source || show->index < 1 || !(show->source.fps > 0)) return TL_OK;
    tl_show_frame before = {0};
    TL_TRY(tl_source_load(&show->source, show->index - 1, &before, err));
    tl_status status = TL_OK;
    for (int32_t i = 0; i < before.cloth_count && status == TL_OK; i++) {
        const tl_show_mesh *b = &before.meshes[i];
        if (strcmp(b->name, m->name) != 0 || !b->woven || !m->woven) continue;
        const double dt = (double)(show->frame.frame - before.frame) / show->source.fps;
        const tl_draw_mesh was = {.pos = b->obj.pos,
                                  .pos_count = b->obj.node_count,
                                  .face = (const int32_t(*)[3])b->face_node,
                                  .face_count = b->obj.face_count,
                                  .uv = b->obj.uv,
                                  .uv_count = b->obj.vert_count,
                                  .face_uv = (const int32_t(*)[3])b->obj.face};
        if (dt > 0) status = tl_map_speed_between(&was, &show->drawn[index], dt, &show->alloc, out, err);
    }
    tl_show_frame_free(&show->alloc, &before);
    return status;
}

static tl_status compute(tl_show *show, int32_t index, int32_t mode, float *out, tl_error *err)
{
    const tl_draw_mesh *d = &show->drawn[index];
    switch (mode) {
    case TL_RENDER_VELOCITY: return find_speed(show, index, out, err);
    case TL_RENDER_STRESS:
        tl_map_stress(d, tl_style_stretch(&show->style, show->surfaces[index].name), out);
        return TL_OK;
    case TL_SHOW_FORCE: memcpy(out, show->frame.meshes[index].force, (size_t)d->pos_count * sizeof *out); return TL_OK;
    case TL_RENDER_STRAIN: tl_map_strain(d, out); return TL_OK;
    case TL_RENDER_TENSION: tl_map_tension(d, out); return TL_OK;
    case TL_RENDER_LEVEL: {
        double largest = 0;
        for (int32_t f = 0; f < d->face_count; f++) largest = fmax(largest, tl_face_area(d, f));
        tl_map_level(d, largest, out);
        return TL_OK;
    }
    case TL_RENDER_CURVATURE: return tl_map_curvature(d, &show->alloc, show->workers, out, err);
    case TL_RENDER_CONTACT: {
        tl_crowd crowd;
        TL_TRY(tl_crowd_init(&crowd, show->drawn, show->count, &show->alloc, err));
        const tl_status status = tl_map_nearness(&crowd, index, CONTACT_REACH, show->workers, out, err);
        tl_crowd_free(&crowd);
        return status;
    }
    default: return TL_OK;
    }
}

static void paint_plain(const tl_show_surface *s, float (*out)[3])
{
    for (int64_t i = 0; i < 3 * (int64_t)s->face_count; i++) memcpy(out[i], s->front, sizeof s->front);
}

static tl_status paint_crossings(tl_show *show, int32_t index, float (*out)[3], tl_error *err)
{
    const tl_show_surface *s = &show->surfaces[index];
    static const float calm[3] = {0.48f, 0.51f, 0.56f}, crossing[3] = {0.80f, 0.03f, 0.02f};
    uint8_t *mark = TL_CALLOC(&show->alloc, uint8_t, s->face_count);
    if (!mark) return tl_fail_memory(err, "marks");
    tl_crowd crowd;
    int64_t pairs = 0;
    tl_status status = tl_crowd_init(&crowd, show->drawn, show->count, &show->alloc, err);
    if (status == TL_OK) {
        status = tl_mark_crossings(&crowd, index, show->workers, mark, &pairs, err);
        tl_crowd_free(&crowd);
    }
    for (int32_t f = 0; f < s->face_count && status == TL_OK; f++)
        for (int c = 0; c < 3; c++) memcpy(out[3 * f + c], mark[f] ? crossing : calm, sizeof calm);
    TL_FREE(&show->alloc, mark, s->face_count);
    return status;
}

static void paint_mesh(tl_show *show, int32_t index, float (*out)[3])
{
    const tl_draw_mesh *d = &show->drawn[index];
    double lo = INFINITY, hi = 0;
    for (int32_t f = 0; f < d->face_count; f++) {
        const tl_extent e = tl_face_extent(d, f);
        if (e.small > 0) lo = fmin(lo, e.small), hi = fmax(hi, e.small);
    }
    if (!(lo < hi / 4)) lo = hi / 4;  // one size: that one is large
    const double span = hi > 0 ? log(hi / lo) : 0;
    for (int32_t f = 0; f < d->face_count; f++) {
        const tl_extent e = tl_face_extent(d, f);
        const double size = e.small > 0 && span > 0 ? log(e.small / lo) / span : 0;
        const tl_rgb colour = tl_mesh_colour(size, e.large > 0 ? e.small / e.large : 0);
        for (int c = 0; c < 3; c++) copy_rgb(colour, out[3 * f + c]);
    }
}

// Whether what a map needs is there.
static bool is_known(const tl_show *show, int32_t surface, int32_t mode)
{
    const bool uv = show->drawn[surface].uv != NULL;
    switch (mode) {
    case TL_RENDER_STRAIN:
    case TL_RENDER_TENSION: return uv;
    case TL_RENDER_STRESS: return uv && tl_style_stretch(&show->style, show->surfaces[surface].name) != NULL;
    case TL_RENDER_VELOCITY: return surface < show->frame.cloth_count;
    case TL_SHOW_FORCE: return show->frame.meshes[surface].force != NULL;
    default: return true;
    }
}

tl_status tl_show_colours(tl_show *show, int32_t surface, int32_t mode, tl_show_range *range, float (*out)[3],
                          tl_error *err)
{
    if (surface < 0 || surface >= show->count)
        return tl_fail(err, TL_BAD_ARG, "surface %d of %d", surface, show->count);
    const tl_show_surface *s = &show->surfaces[surface];
    const tl_draw_mesh *d = &show->drawn[surface];
    range->title = NULL;
    if (mode == TL_RENDER_INTERSECTIONS) return paint_crossings(show, surface, out, err);
    if (mode == TL_RENDER_MESH) return paint_mesh(show, surface, out), TL_OK;
    map_info info;
    if (!find_map(mode, &info) || !is_known(show, surface, mode)) return paint_plain(s, out), TL_OK;
    const int32_t count = info.per_node ? d->pos_count : d->face_count;
    float *values = TL_ALLOC(&show->alloc, float, count);
    if (count > 0 && !values) return tl_fail_memory(err, "a map");
    tl_status status = compute(show, surface, mode, values, err);
    if (status == TL_OK) status = choose_range(show, mode, &info, values, count, range, err);
    for (int32_t f = 0; f < d->face_count && status == TL_OK; f++)
        for (int c = 0; c < 3; c++)
            tl_show_scale(mode, range, info.factor * (double)values[info.per_node ? d->face[f][c] : f], out[3 * f + c]);
    TL_FREE(&show->alloc, values, count);
    return status;
}

void tl_show_scale(int32_t mode, const tl_show_range *range, double value, float out[3])
{
    map_info info;
    if (!find_map(mode, &info)) {
        out[0] = out[1] = out[2] = 0.5f;
        return;
    }
    copy_rgb(tl_scale_colour(&(tl_scale){info.kind, range->lo, range->hi}, value), out);
}

// ---- text -------------------------------------------------------------------------------------------------

typedef struct stroker {
    void (*stroke)(void *user, const float (*points)[2], int32_t count);
    void *user;
} stroker;

static void pass_on(void *arg, const tl_vec2f *points, int32_t count)
{
    const stroker *s = arg;
    s->stroke(s->user, (const float(*)[2])points, count);
}

float tl_show_text(const char *text, void (*stroke)(void *user, const float (*points)[2], int32_t count), void *user)
{
    stroker s = {stroke, user};
    return tl_font_strokes(text, stroke ? pass_on : NULL, &s);
}

// ---- pictures and films of what a window shows ------------------------------------------------------------

tl_status tl_show_save_png(const char *path, const uint8_t *rgb, int32_t width, int32_t height, tl_error *err)
{
    if (width < 1 || height < 1) return tl_fail(err, TL_BAD_ARG, "a picture of %d x %d", width, height);
    const tl_allocator alloc = tl_allocator_default();
    const tl_image image = {width, height, (uint8_t *)rgb};  // only read
    return tl_png_write(&alloc, path, &image, err);
}

struct tl_show_film {
    tl_movie *movie;
    int32_t width, height;
};

tl_status tl_show_film_begin(const char *path, int32_t width, int32_t height, double fps, tl_show_film **out,
                             tl_error *err)
{
    *out = NULL;
    const tl_allocator alloc = tl_allocator_default();
    if (width < 1 || height < 1) return tl_fail(err, TL_BAD_ARG, "a film of %d x %d", width, height);
    if (!tl_movie_possible())
        return tl_fail(err, TL_FAILED, "%s: films need the ffmpeg program (apt-get install ffmpeg)", path);
    tl_show_film *film = TL_CALLOC(&alloc, tl_show_film, 1);
    if (!film) return tl_fail_memory(err, "a film");
    const tl_status status = tl_movie_create(&alloc, path, width, height, fps, &film->movie, err);
    if (status != TL_OK) {
        TL_FREE(&alloc, film, 1);
        return status;
    }
    film->width = width, film->height = height;
    *out = film;
    return TL_OK;
}

tl_status tl_show_film_add(tl_show_film *film, const uint8_t *rgb, tl_error *err)
{
    const tl_image image = {film->width, film->height, (uint8_t *)rgb};  // only read
    return tl_movie_add(film->movie, &image, err);
}

tl_status tl_show_film_end(tl_show_film *film, uint32_t keep, tl_error *err)
{
    if (!film) return TL_OK;
    const tl_allocator alloc = tl_allocator_default();
    tl_status status = TL_OK;
    if (keep)
        status = tl_movie_finish(film->movie, err);
    else
        tl_movie_cancel(film->movie);
    TL_FREE(&alloc, film, 1);
    return status;
}
