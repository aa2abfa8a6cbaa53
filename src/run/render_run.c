// run/render_run.c: a recording into pictures, a film or a page of small pictures.
//
// Two passes: the first looks through the frames (camera, floor and colour scale must suit all of them), the
// second draws. Every picture is finished before the next begins, so a long run can be stopped at any time.

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/timer.h"
#include "io/mesh_file.h"
#include "run/render_frame.h"
#include "run/render_layers.h"
#include "io/film.h"
#include "io/png.h"
#include "render/legend.h"
#include "render/ticks.h"

enum { MAX_OTHERS = 15, SURVEY_FRAMES = 200, MAX_SHEET = 400, SHEET_WIDTH = 1600, SHEET_CELL = 240 };
static const double TURNTABLE_SECONDS = 4, DEFAULT_FPS = 25;

static const char *const MODE_NAMES[TL_RENDER_MODE_COUNT] = {"shaded",  "wire",          "mesh",      "strain",
                                                             "tension", "velocity",      "curvature", "level",
                                                             "contact", "intersections", "stress"};

const char *tl_render_mode_name(tl_render_mode mode)
{
    return (unsigned)mode < TL_RENDER_MODE_COUNT ? MODE_NAMES[mode] : NULL;
}

void tl_render_def_init(tl_render_def *def, size_t size)
{
    const tl_render_def defaults = {.camera = {.fov_deg = 30},
                                    .zoom = 1,
                                    .zoom_x = 0.5,
                                    .zoom_y = 0.5,
                                    .last = -1,
                                    .step = 1,
                                    .samples = 16,
                                    .threads = 1};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

typedef enum out_kind { OUT_PNG, OUT_MOVIE } out_kind;

typedef struct job {
    const tl_render_def *def;
    tl_render_report *report;
    tl_allocator alloc;
    tl_workers *workers;
    tl_source *source;
    tl_style *style;
    int32_t source_count, opened;  // opened: of them
    int32_t *pick;                 // indices into source[0].frames
    int32_t pick_count, pick_cap;
    int32_t pictures;  // to draw
    double fps;
    out_kind kind;
    int32_t width, height;                     // of what is written
    int32_t cell_width, cell_height, columns;  // of a drawing: the whole, half of it, or a cell of a sheet
    tl_shot shot;
    tl_movie *movie;
    tl_image page;  // what is written
    tl_image cell;  // what is drawn
    double started, draw_started;
} job;

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && strcasecmp(text + n - m, end) == 0;
}

static tl_status check_def(const tl_render_def *def, tl_error *err)
{
    if (!def->source || !def->out) return tl_fail(err, TL_BAD_ARG, "render: source and out are required");
    if (!ends_with(def->out, ".png") && !ends_with(def->out, ".mp4") && !ends_with(def->out, ".gif"))
        return tl_fail(err, TL_BAD_ARG, "%s: must end in .png, .mp4 or .gif", def->out);
    if (def->sheet > 0 && !ends_with(def->out, ".png"))
        return tl_fail(err, TL_BAD_ARG, "%s: a sheet is one picture, give a .png", def->out);
    if (def->sheet > MAX_SHEET)
        return tl_fail(err, TL_BAD_ARG, "a sheet of %d frames, at most %d", def->sheet, MAX_SHEET);
    if (def->sheet > 0 && (def->compare || def->other_count > 0))
        return tl_fail(err, TL_BAD_ARG, "a sheet of two recordings is not possible");
    if (def->other_count < 0 || def->other_count + (def->compare != NULL) > MAX_OTHERS)
        return tl_fail(err, TL_BAD_ARG, "%d recordings to compare with, at most %d",
                       def->other_count + (def->compare != NULL), MAX_OTHERS);
    if (!(def->zoom_x >= 0 && def->zoom_x <= 1 && def->zoom_y >= 0 && def->zoom_y <= 1))
        return tl_fail(err, TL_BAD_ARG, "render: zoom at %g, %g, must be within 0 .. 1", def->zoom_x, def->zoom_y);
    if ((unsigned)def->mode >= TL_RENDER_MODE_COUNT)
        return tl_fail(err, TL_BAD_ARG, "render: unknown mode %d", def->mode);
    if (def->step < 1)
        return tl_fail(err, TL_BAD_ARG, "render: step %lld between frames, must be >= 1", (long long)def->step);
    if (!(def->zoom > 0)) return tl_fail(err, TL_BAD_ARG, "render: zoom %g, must be > 0", def->zoom);
    return TL_OK;
}

static bool stopped(const job *j) { return j->def->cancelled && j->def->cancelled(j->def->user); }

static void tell(const job *j, int32_t done, int32_t total, int64_t frame, const char *doing)
{
    if (!j->def->progress) return;
    const double now = tl_now(), since = now - j->draw_started;
    tl_render_progress p = {.done = done, .total = total, .frame = frame, .seconds = now - j->started, .doing = doing};
    p.seconds_left = done > 0 ? since / done * (total - done) : 0;
    j->def->progress(j->def->user, &p);
}

// --- which frames ------------------------------------------------------------------------------------------

static tl_status pick_frames(job *j, tl_error *err)
{
    const tl_source *s = &j->source[0];
    const tl_render_def *def = j->def;
    const int64_t last = def->last < 0 ? INT64_MAX : def->last;
    for (int32_t i = 0; i < s->frame_count; i++) {
        const int64_t frame = s->frames[i];
        if (frame < def->first || frame > last || (frame - def->first) % def->step != 0) continue;
        if (!TL_GROW(&j->alloc, j->pick, j->pick_cap, j->pick_count + 1))
            return tl_fail_memory(err, "the list of frames");
        j->pick[j->pick_count++] = i;
        // one picture of a character is one pose; films, sheets and --frames show its clip
        if (s->kind == TL_SOURCE_CHARACTER && def->last < 0 && def->sheet == 0 && tl_path_ends(def->out, ".png")) break;
    }
    if (j->pick_count == 0)
        return tl_fail(err, TL_BAD_INPUT, "%s: no frame from %lld to %lld; it holds %lld to %lld", s->path,
                       (long long)def->first, (long long)(def->last < 0 ? s->frames[s->frame_count - 1] : def->last),
                       (long long)s->frames[0], (long long)s->frames[s->frame_count - 1]);
    // what counts as missing is only what was asked for
    const int64_t from = s->frames[j->pick[0]], to = s->frames[j->pick[j->pick_count - 1]];
    if (s->missing > 0 && def->step == 1) j->report->missing_frames = (int32_t)(to - from + 1 - j->pick_count);
    if (def->sheet > 0 && def->sheet < j->pick_count) {  // spread evenly, first and last included
        for (int32_t i = 0; i < def->sheet; i++) {
            const double t = def->sheet > 1 ? (double)i / (def->sheet - 1) : 1;
            j->pick[i] = j->pick[(int32_t)(t * (j->pick_count - 1) + 0.5)];
        }
        j->pick_count = def->sheet;
    }
    j->pictures = j->pick_count;
    if (def->turntable && j->pick_count == 1)
        j->pictures = def->sheet > 0 ? def->sheet : (int32_t)fmax(1, TURNTABLE_SECONDS * j->fps + 0.5);
    return TL_OK;
}

/// The number of the frame that picture `i` shows; a single frame may be shown from all sides.
static int64_t frame_of(const job *j, int32_t i) { return j->source[0].frames[j->pick[j->pick_count == 1 ? 0 : i]]; }

/// The frame of source `k` that goes with frame `number` of the first; -1: none.
static int32_t matching(const job *j, int32_t k, int64_t number)
{
    const tl_source *s = &j->source[k];
    if (s->kind != TL_SOURCE_FOLDER) return 0;
    for (int32_t i = 0; i < s->frame_count; i++)
        if (s->frames[i] == number) return i;
    return -1;
}

// --- loading with the frame before -------------------------------------------------------------------------

typedef struct loaded {
    tl_show_frame frame, before;
    double dt;
} loaded;

static void unload(const job *j, loaded *l)
{
    if (l->frame.meshes) tl_show_frame_free(&j->alloc, &l->frame);
    if (l->before.meshes) tl_show_frame_free(&j->alloc, &l->before);
}

static tl_status load(const job *j, int32_t k, int32_t index, loaded *out, tl_error *err)
{
    const tl_source *s = &j->source[k];
    *out = (loaded){0};
    TL_TRY(tl_source_load(s, index, &out->frame, err));
    if (j->def->layers) {
        const tl_status status = tl_show_frame_layers(&j->alloc, &out->frame, err);
        if (status != TL_OK) unload(j, out);
        return status;
    }
    if (!tl_needs_before(j->def, &out->frame) || index == 0) return TL_OK;
    const tl_status status = tl_source_load(s, index - 1, &out->before, err);
    if (status != TL_OK) {
        unload(j, out);
        return status;
    }
    const double fps = s->fps > 0 ? s->fps : DEFAULT_FPS;
    out->dt = (double)(out->frame.frame - out->before.frame) / fps;
    return TL_OK;
}

// --- the first pass ----------------------------------------------------------------------------------------

static tl_status survey(job *j, tl_error *err)
{
    tl_survey s;
    tl_survey_init(&s, j->def, &j->style[0], j->source[0].up, j->cell_width, j->cell_height);
    const int32_t stride = j->pick_count > SURVEY_FRAMES ? (j->pick_count + SURVEY_FRAMES - 1) / SURVEY_FRAMES : 1;
    for (int32_t i = 0; i < j->pick_count; i++) {
        // the last frame is always looked at: that is where things have fallen to
        if (i % stride != 0 && i + 1 != j->pick_count) continue;
        if (stopped(j)) return tl_fail(err, TL_CANCELLED, "stopped");
        const int64_t number = j->source[0].frames[j->pick[i]];
        for (int32_t k = 0; k < j->source_count; k++) {
            const int32_t index = k == 0 ? j->pick[i] : matching(j, k, number);
            if (index < 0) continue;
            loaded l;
            TL_TRY(load(j, k, index, &l, err));
            if (k == 0 && l.frame.cloth_count == 0) j->report->missing_frames++;
            const tl_status status = tl_survey_add(&s, j->def, &l.frame, l.before.meshes ? &l.before : NULL, l.dt,
                                                   &j->alloc, j->workers, err);
            unload(j, &l);
            TL_TRY(status);
        }
        tell(j, 0, j->pictures, number, "looking through the frames");
    }
    if (s.frames_with_mesh == 0)
        return tl_fail(err, TL_BAD_INPUT, "%s: nothing in it could be read", j->source[0].path);
    tl_shot_init(&j->shot, j->def, &s);
    return TL_OK;
}

// --- the second pass ---------------------------------------------------------------------------------------

/// What is known about a picture, in the order of reading.
typedef struct caption_parts {
    char text[5][80];
    int32_t count;
} caption_parts;

static void join_parts(const caption_parts *parts, char *text, size_t size)
{
    text[0] = 0;
    for (int32_t i = 0, used = 0; i < parts->count; i++) {
        if (!parts->text[i][0]) continue;
        const size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%s", used++ ? "   " : "", parts->text[i]);
    }
}

/// A small picture says less: the number of faces goes first, then the time, then the name of the run.
static void caption_of(const job *j, int32_t k, const tl_show_frame *frame, const tl_frame_report *report, char *text,
                       size_t size)
{
    enum { RUN, FRAME, TIME, FACES, PAIRS, PARTS };
    static const int drop[] = {FACES, TIME, RUN};
    caption_parts parts = {.count = PARTS};
    char number[TL_TICK_CHARS];
    if (j->source_count > 1)  // two runs of one scene have one name; their folders differ
        tl_path_stem(j->source[k].path, parts.text[RUN], sizeof parts.text[RUN]);
    if (j->def->labels && j->def->labels[k]) snprintf(parts.text[RUN], sizeof parts.text[RUN], "%s", j->def->labels[k]);
    if (j->source[k].kind == TL_SOURCE_FOLDER)
        snprintf(parts.text[FRAME], sizeof parts.text[FRAME], "frame %lld", (long long)frame->frame);
    if (isfinite(frame->time)) snprintf(parts.text[TIME], sizeof parts.text[TIME], "%.2f s", frame->time);
    tl_tick_label((double)frame->cloth_faces, 1, number);
    snprintf(parts.text[FACES], sizeof parts.text[FACES], "%s faces", number);
    if (j->def->marks || j->def->mode == TL_RENDER_INTERSECTIONS) {
        tl_tick_label((double)report->crossing_pairs, 1, number);
        snprintf(parts.text[PAIRS], sizeof parts.text[PAIRS], "%s crossing pair%s", number,
                 report->crossing_pairs == 1 ? "" : "s");
    }
    join_parts(&parts, text, size);
    for (size_t i = 0; i < sizeof drop / sizeof *drop; i++) {
        if (tl_caption_fits(text, j->cell_width, j->cell_height)) return;
        parts.text[drop[i]][0] = 0;
        join_parts(&parts, text, size);
    }
}

/// One drawing, of source `k`, picture `i`, into j->cell.
static tl_status draw_cell(job *j, int32_t k, int32_t i, tl_error *err)
{
    const int32_t first = j->pick[j->pick_count == 1 ? 0 : i];
    const int32_t index = k == 0 ? first : matching(j, k, j->source[0].frames[first]);
    loaded l = {0};
    if (index >= 0) TL_TRY(load(j, k, index, &l, err));
    tl_shot shot = j->shot;
    if (j->def->turntable) shot.camera = tl_camera_turn(&shot.camera, shot.up, 360.0 * i / j->pictures);
    const bool sheet = j->def->sheet > 0, last_column = k + 1 == j->source_count;
    tl_frame_report report;
    const tl_picture picture = {.def = j->def,
                                .shot = &shot,
                                .style = &j->style[k],
                                .frame = &l.frame,
                                .before = l.before.meshes ? &l.before : NULL,
                                .dt = l.dt,
                                .legend = last_column && (!sheet || i + 1 == j->pictures),
                                .alloc = &j->alloc,
                                .workers = j->workers};
    tl_status status = tl_frame_draw(&picture, &j->cell, &report, err);
    if (status == TL_OK) {
        j->report->faces_left_out += report.faces_left_out;
        j->report->crossing_pairs = report.crossing_pairs;
        char caption[256];
        caption_of(j, k, &l.frame, &report, caption, sizeof caption);
        if (index < 0) snprintf(caption, sizeof caption, "no frame %lld", (long long)j->source[0].frames[first]);
        const bool wanted = j->def->caption || sheet || j->source_count > 1 || j->def->mode == TL_RENDER_INTERSECTIONS;
        if (wanted) status = tl_caption_draw(caption, &j->alloc, &j->cell, err);
    }
    unload(j, &l);
    return status;
}

/// The name without its extension (of four characters, see check_def), and `end` behind it.
static void path_with(const char *out, const char *end, char path[TL_PATH_MAX])
{
    const size_t length = strlen(out), stem = length > 4 ? length - 4 : 0, more = strlen(end);
    path[0] = 0;
    if (stem + more >= TL_PATH_MAX) return;
    memcpy(path, out, stem);
    memcpy(path + stem, end, more + 1);
}

/// out.png as out_000012.png
static void numbered_path(const char *out, int64_t number, char path[TL_PATH_MAX])
{
    char end[32];
    snprintf(end, sizeof end, "_%06lld.png", (long long)number);
    path_with(out, end, path);
}

static tl_status deliver(job *j, int32_t i, tl_error *err)
{
    if (j->kind == OUT_MOVIE) return tl_movie_add(j->movie, &j->page, err);
    char path[TL_PATH_MAX];
    if (j->pictures == 1 && ends_with(j->def->out, ".png"))
        snprintf(path, sizeof path, "%s", j->def->out);
    else
        numbered_path(j->def->out, j->pick_count == 1 ? i : j->source[0].frames[j->pick[i]], path);
    return tl_png_write(&j->alloc, path, &j->page, err);
}

static tl_status draw_all(job *j, tl_error *err)
{
    j->draw_started = tl_now();
    for (int32_t i = 0; i < j->pictures; i++) {
        if (stopped(j)) return tl_fail(err, TL_CANCELLED, "stopped after %d of %d pictures", i, j->pictures);
        for (int32_t k = 0; k < j->source_count; k++) {
            TL_TRY(draw_cell(j, k, i, err));
            tl_image_paste(&j->page, &j->cell, k % j->columns * (j->cell_width + 2),
                           k / j->columns * (j->cell_height + 2));
        }
        TL_TRY(deliver(j, i, err));
        j->report->pictures++;
        tell(j, i + 1, j->pictures, frame_of(j, i), "drawing");
    }
    return TL_OK;
}

static tl_status draw_sheet(job *j, tl_error *err)
{
    j->draw_started = tl_now();
    const uint8_t paper[3] = {255, 255, 255};
    tl_image_fill(&j->page, paper);
    for (int32_t i = 0; i < j->pictures; i++) {
        if (stopped(j)) return tl_fail(err, TL_CANCELLED, "stopped after %d of %d pictures", i, j->pictures);
        TL_TRY(draw_cell(j, 0, i, err));
        const int32_t gap = 4;
        tl_image_paste(&j->page, &j->cell, gap + i % j->columns * (j->cell_width + gap),
                       gap + i / j->columns * (j->cell_height + gap));
        j->report->pictures++;
        tell(j, i + 1, j->pictures, frame_of(j, i), "drawing");
    }
    return tl_png_write(&j->alloc, j->def->out, &j->page, err);
}

// --- sizes -------------------------------------------------------------------------------------------------

static tl_status choose_sizes(job *j, tl_error *err)
{
    const tl_render_def *def = j->def;
    const bool film = j->kind == OUT_MOVIE || ends_with(def->out, ".mp4") || ends_with(def->out, ".gif");
    j->width = def->width > 0 ? def->width : film ? 960 : 1280;
    j->height = def->height > 0 ? def->height : film ? 540 : 720;
    j->cell_width = j->width, j->cell_height = j->height;
    j->columns = 1;
    if (j->source_count > 1) {  // side by side, from four on in rows
        j->columns = j->source_count <= 3 ? j->source_count : (int32_t)ceil(sqrt(j->source_count));
        const int32_t rows = (j->source_count + j->columns - 1) / j->columns;
        j->cell_width = (j->width - 2 * (j->columns - 1)) / j->columns;
        j->cell_height = (j->height - 2 * (rows - 1)) / rows;
        j->width = j->columns * (j->cell_width + 2) - 2, j->height = rows * (j->cell_height + 2) - 2;
    }
    if (def->sheet > 0) {
        const int32_t gap = 4;
        const double aspect = 4.0 / 3;  // of a small picture
        const double page = def->width > 0 && def->height > 0 ? (double)def->width / def->height : 16.0 / 9;
        j->columns = (int32_t)fmax(1, fmin(j->pictures, round(sqrt(j->pictures * page / aspect))));
        const int32_t rows = (j->pictures + j->columns - 1) / j->columns;
        if (def->width <= 0)  // a page for the screen, larger when its pictures would be too small to be of use
            j->width = (int32_t)fmax(SHEET_WIDTH, gap + j->columns * (SHEET_CELL + gap));
        j->cell_width = (j->width - gap * (j->columns + 1)) / j->columns;
        j->cell_height = def->height > 0 ? (def->height - gap * (rows + 1)) / rows : (int32_t)(j->cell_width / aspect);
        j->width = gap + j->columns * (j->cell_width + gap), j->height = gap + rows * (j->cell_height + gap);
    }
    if (j->cell_width < 16 || j->cell_height < 16)
        return tl_fail(err, TL_BAD_ARG, "pictures of %d x %d are too small, at least 16 x 16", j->cell_width,
                       j->cell_height);
    TL_TRY(tl_image_create(&j->alloc, j->width, j->height, &j->page, err));
    const uint8_t line[3] = {255, 255, 255};
    tl_image_fill(&j->page, line);
    return tl_image_create(&j->alloc, j->cell_width, j->cell_height, &j->cell, err);
}

/// Whether a file can be made at `out`, before the work begins.
static tl_status check_out(const char *out, tl_error *err)
{
    char dir[TL_PATH_MAX];
    TL_TRY(tl_path_dir(out, dir, err));
    if (tl_path_look(dir) == TL_PATH_NONE) return tl_make_dirs(dir, err);
    if (tl_path_look(out) == TL_PATH_DIR) return tl_fail(err, TL_IO, "%s: is a folder, not a file", out);
    return TL_OK;
}

static tl_status start_output(job *j, tl_error *err)
{
    const bool film = ends_with(j->def->out, ".mp4") || ends_with(j->def->out, ".gif");
    j->report->width = j->width, j->report->height = j->height;
    if (film && tl_movie_possible()) {
        j->kind = OUT_MOVIE;
        snprintf(j->report->written, sizeof j->report->written, "%.1000s", j->def->out);
        return tl_movie_create(&j->alloc, j->def->out, j->width, j->height, j->fps, &j->movie, err);
    }
    char pattern[TL_PATH_MAX];
    const bool one = !film && (j->pictures == 1 || j->def->sheet > 0);
    if (one)
        snprintf(pattern, sizeof pattern, "%.*s", (int)sizeof pattern - 1, j->def->out);
    else
        path_with(j->def->out, "_NNNNNN.png", pattern);
    if (film) {
        j->report->no_ffmpeg = 1;
        tl_log_write(j->def->log, TL_LOG_WARNING,
                     "no ffmpeg program found: writing %s instead of a film; install ffmpeg (apt-get install ffmpeg) "
                     "or name it in the environment variable FFMPEG",
                     pattern);
    }
    snprintf(j->report->written, sizeof j->report->written, "%.1000s", pattern);
    return TL_OK;
}

static tl_status open_sources(job *j, tl_error *err)
{
    const tl_render_def *def = j->def;
    const int32_t second = def->compare ? 1 : 0;
    j->source_count = 1 + second + def->other_count;
    j->source = TL_CALLOC(&j->alloc, tl_source, j->source_count);
    j->style = TL_CALLOC(&j->alloc, tl_style, j->source_count);
    if (!j->source || !j->style) return tl_fail_memory(err, "the recordings");
    for (int32_t k = 0; k < j->source_count; k++) {
        const char *path = k == 0 ? def->source : k <= second ? def->compare : def->others[k - 1 - second];
        TL_TRY(tl_source_open(&j->alloc, path, def->log, &j->source[k], err));
        j->opened = k + 1;
        tl_style_read(&j->source[k], &j->style[k]);
    }
    return TL_OK;
}

static tl_status run(job *j, tl_error *err)
{
    const tl_render_def *def = j->def;
    TL_TRY(open_sources(j, err));
    j->fps = def->fps > 0 ? def->fps : j->source[0].fps > 0 ? j->source[0].fps / (double)def->step : DEFAULT_FPS;
    TL_TRY(pick_frames(j, err));
    TL_TRY(check_out(def->out, err));
    TL_TRY(choose_sizes(j, err));
    TL_TRY(survey(j, err));
    TL_TRY(start_output(j, err));
    TL_TRY(def->sheet > 0 ? draw_sheet(j, err) : draw_all(j, err));
    if (!j->movie) return TL_OK;
    tell(j, j->pictures, j->pictures, 0, "encoding");
    tl_movie *movie = j->movie;
    j->movie = NULL;
    return tl_movie_finish(movie, err);
}

tl_status tl_render_run(const tl_render_def *given, tl_render_report *report, tl_error *err)
{
    TL_DEF_COMPLETE(tl_render_def, complete, given, err);
    if (complete.layers && complete.camera.kind == TL_CAMERA_AUTO)
        complete.camera = (tl_camera_def){
            .kind = TL_CAMERA_ANGLES, .azimuth_deg = 25, .elevation_deg = 25, .fov_deg = complete.camera.fov_deg};
    const tl_render_def *def = &complete;
    tl_render_report unused;
    if (!report) report = &unused;
    *report = (tl_render_report){0};
    TL_TRY(check_def(def, err));
    job j = {.def = def, .report = report, .alloc = tl_allocator_default(), .started = tl_now()};
    j.draw_started = j.started;
    TL_TRY(tl_workers_create(&j.alloc, def->threads, &j.workers, err));
    tl_status status = run(&j, err);
    if (j.movie) tl_movie_cancel(j.movie);
    for (int32_t k = 0; k < j.opened; k++) tl_source_close(&j.source[k]);
    TL_FREE(&j.alloc, j.source, j.source_count);
    TL_FREE(&j.alloc, j.style, j.source_count);
    TL_FREE(&j.alloc, j.pick, j.pick_cap);
    tl_image_free(&j.alloc, &j.page);
    tl_image_free(&j.alloc, &j.cell);
    tl_workers_destroy(j.workers);
    report->seconds = tl_now() - j.started;
    report->seconds_per_picture = report->pictures > 0 ? (tl_now() - j.draw_started) / report->pictures : 0;
    if (status == TL_OK && report->faces_left_out > 0)
        tl_log_write(def->log, TL_LOG_WARNING, "%lld faces left out: a corner is not a finite number",
                     (long long)report->faces_left_out);
    return status;
}
