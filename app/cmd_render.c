// app/cmd_render.c: `toile render`: pictures and films of a recording, a scene or a mesh.

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app.h"
#include "toile/render.h"

enum { BAR_CELLS = 24, MAX_SIDE = 16384 };
static const double REDRAW_SECONDS = 0.1;

typedef struct render_host {
    bool quiet, bar, on_screen;
    double drawn_at;
    int32_t next_percent;
    char name[48];
} render_host;

static void clear_bar(render_host *host)
{
    if (host->on_screen) fputs("\r\x1b[K", stderr);
    host->on_screen = false;
}

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

static void on_progress(void *user, const tl_render_progress *p)
{
    render_host *host = user;
    if (host->quiet) return;
    const double done = p->total > 0 ? (double)p->done / p->total : 0;
    char left[32], text[192];
    if (p->done == 0 || strcmp(p->doing, "encoding") == 0)
        snprintf(text, sizeof text, "%s, frame %lld", p->doing, (long long)p->frame);
    else
        snprintf(text, sizeof text, "picture %d/%d  %s left  frame %lld", p->done, p->total,
                 app_clock(p->seconds_left, left), (long long)p->frame);
    if (host->bar) {
        if (p->done != p->total && app_now() - host->drawn_at < REDRAW_SECONDS) return;
        char bar[BAR_CELLS + 1], line[320];
        for (int i = 0; i < BAR_CELLS; i++)
            bar[i] = i < (int)(done * BAR_CELLS) ? '=' : i == (int)(done * BAR_CELLS) ? '>' : ' ';
        bar[BAR_CELLS] = 0;
        snprintf(line, sizeof line, "%s [%s] %3d%%  %s", host->name, bar, (int)(100 * done), text);
        fprintf(stderr, "\r%.*s\x1b[K", columns() - 1, line);
        fflush(stderr);
        host->on_screen = true;
        host->drawn_at = app_now();
    } else if (p->done > 0 && p->total > 1 && 100 * done >= host->next_percent) {
        app_say("%s: %s", host->name, text);
        host->next_percent = (int32_t)(100 * done) / 10 * 10 + 10;
    }
}

static int on_cancel(void *user)
{
    (void)user;
    return app_stopping();
}

static void on_log(void *user, tl_log_level level, const char *message)
{
    render_host *host = user;
    if (level < TL_LOG_WARNING) return;
    clear_bar(host);
    app_say("warning: %s", message);
}

/// "A", "A:B", "A:B:STEP", each part may be empty.
static bool read_frames(const char *text, tl_render_def *def)
{
    int32_t part[3] = {0, -1, 1};
    const char *p = text;
    int n = 0;
    for (; n < 3; n++) {
        char word[16];
        const size_t length = strcspn(p, ":");
        if (length >= sizeof word) return false;
        memcpy(word, p, length);
        word[length] = 0;
        if (length > 0 && !app_read_int(word, n == 2 ? 1 : 0, 999999999, &part[n])) return false;
        p += length;
        if (*p == 0) break;
        p++;
    }
    if (n == 3) return false;
    if (n == 0) part[1] = part[0];  // one frame
    def->first = part[0], def->last = part[1], def->step = part[2];
    return def->last < 0 || def->last >= def->first;
}

/// "1280x720"
static bool read_size(const char *text, tl_render_def *def)
{
    char word[16];
    const size_t length = strcspn(text, "x");
    if (length >= sizeof word || text[length] != 'x') return false;
    memcpy(word, text, length);
    word[length] = 0;
    return app_read_int(word, 16, MAX_SIDE, &def->width) && app_read_int(text + length + 1, 16, MAX_SIDE, &def->height);
}

/// "LO:HI"
static bool read_range(const char *text, tl_render_def *def)
{
    char word[40];
    const size_t length = strcspn(text, ":");
    if (length >= sizeof word || text[length] != ':') return false;
    memcpy(word, text, length);
    word[length] = 0;
    return app_read_real(word, -1e12, 1e12, &def->range_lo) &&
           app_read_real(text + length + 1, -1e12, 1e12, &def->range_hi) && def->range_lo < def->range_hi;
}

static bool read_mode(const char *text, tl_render_def *def)
{
    for (int m = 0; m < TL_RENDER_MODE_COUNT; m++) {
        if (strcmp(text, tl_render_mode_name((tl_render_mode)m)) != 0) continue;
        def->mode = (tl_render_mode)m;
        return true;
    }
    return false;
}

static int mode_usage(const app_command *self, const char *word)
{
    const char *names[TL_RENDER_MODE_COUNT];
    for (int m = 0; m < TL_RENDER_MODE_COUNT; m++) names[m] = tl_render_mode_name((tl_render_mode)m);
    const char *near = app_nearest(word, names, TL_RENDER_MODE_COUNT);
    if (near) return app_usage(self, "unknown mode '%s', did you mean '%s'?", word, near);
    return app_usage(self,
                     "unknown mode '%s'; there are shaded, wire, mesh, strain, tension, velocity, curvature, "
                     "level, contact, intersections, stress",
                     word);
}

static void print_report(const tl_render_report *r, bool json)
{
    if (json) {
        printf("{\"command\": \"render\", \"exit_code\": 0, \"written\": ");
        app_json_text(stdout, r->written);
        printf(", \"pictures\": %d, \"width\": %d, \"height\": %d, \"missing_frames\": %d, "
               "\"faces_left_out\": %lld, "
               "\"crossing_pairs\": %lld, \"ffmpeg\": %s, \"seconds\": ",
               r->pictures, r->width, r->height, r->missing_frames, (long long)r->faces_left_out,
               (long long)r->crossing_pairs, r->no_ffmpeg ? "false" : "true");
        app_json_real(stdout, r->seconds);
        printf("}\n");
        return;
    }
    printf("%s: %d picture%s of %d x %d in %.1f s (%.2f s each)", r->written, r->pictures, r->pictures == 1 ? "" : "s",
           r->width, r->height, r->seconds, r->seconds_per_picture);
    if (r->missing_frames > 0) printf(", %d frame%s missing", r->missing_frames, r->missing_frames == 1 ? "" : "s");
    printf("\n");
}

/// Options whose values have a form of their own; NULL: not given.
typedef struct render_texts {
    const char *frames, *size, *mode, *camera, *range, *zoom;
    app_list compare;
} render_texts;

/// "2" or "2@0.3,0.6"
static bool read_zoom(const char *text, tl_render_def *def)
{
    char word[3][40];
    const size_t a = strcspn(text, "@");
    const char *at = text[a] ? text + a + 1 : "0.5,0.5";
    const size_t b = strcspn(at, ",");
    if (a >= sizeof word[0] || b >= sizeof word[1] || at[b] != ',' || strlen(at + b + 1) >= sizeof word[2])
        return false;
    snprintf(word[0], sizeof word[0], "%.*s", (int)a, text);
    snprintf(word[1], sizeof word[1], "%.*s", (int)b, at);
    snprintf(word[2], sizeof word[2], "%s", at + b + 1);
    return app_read_real(word[0], 0.01, 1000, &def->zoom) && app_read_real(word[1], 0, 1, &def->zoom_x) &&
           app_read_real(word[2], 0, 1, &def->zoom_y);
}

enum { MAX_COMPARE = 15 };

/// "DIR" or "LABEL=DIR"; labels[0] is that of the first recording.
typedef struct comparison {
    const char *paths[MAX_COMPARE], *labels[MAX_COMPARE + 1];
    char text[MAX_COMPARE][80];
} comparison;

static int read_compare(const app_command *self, const app_list *given, comparison *c, tl_render_def *def)
{
    if (given->count > MAX_COMPARE) return app_usage(self, "--compare %d times, at most %d", given->count, MAX_COMPARE);
    for (int i = 0; i < given->count; i++) {
        const char *word = given->item[i];
        const size_t n = strcspn(word, "=");
        c->paths[i] = word;
        if (word[n] != '=' || n >= sizeof c->text[i]) continue;
        snprintf(c->text[i], sizeof c->text[i], "%.*s", (int)n, word);
        c->labels[i + 1] = c->text[i], c->paths[i] = word + n + 1;
    }
    def->others = c->paths, def->other_count = given->count, def->labels = c->labels;
    return APP_OK;
}

static int read_texts(const app_command *self, const render_texts *given, tl_render_def *def)
{
    if (given->mode && !read_mode(given->mode, def)) return mode_usage(self, given->mode);
    if (given->frames && !read_frames(given->frames, def))
        return app_usage(self, "--frames '%s', expected A, A:B or A:B:STEP", given->frames);
    if (given->size && !read_size(given->size, def))
        return app_usage(self, "--size '%s', expected WxH from 16x16 to 16384x16384", given->size);
    if (given->range && !read_range(given->range, def))
        return app_usage(self, "--range '%s', expected LO:HI with LO < HI", given->range);
    if (given->zoom && !read_zoom(given->zoom, def))
        return app_usage(self, "--zoom '%s', expected X in [0.01, 1000] or X@X,Y as in 3@0.25,0.6", given->zoom);
    if (given->camera && !tl_camera_parse(given->camera, &def->camera))
        return app_usage(self,
                         "--camera '%s', expected a name (front, corner, ...), AZIMUTH,ELEVATION or "
                         "X,Y,Z,X,Y,Z[,FOV]",
                         given->camera);
    return APP_OK;
}

static int draw(const app_command *self, tl_render_def *def, bool quiet, bool json)
{
    const char *terminal = getenv("TERM");
    render_host host = {.quiet = quiet, .bar = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0};
    snprintf(host.name, sizeof host.name, "render");
    const tl_log log = {on_log, &host};
    def->progress = on_progress, def->cancelled = on_cancel, def->user = &host, def->log = &log;
    app_stop_on_signals(quiet);
    tl_error err = {0};
    tl_render_report report;
    const tl_status status = tl_render_run(def, &report, &err);
    clear_bar(&host);
    if (status != TL_OK) {
        const app_exit exit_code = status == TL_BAD_ARG     ? APP_USAGE
                                   : status == TL_CANCELLED ? APP_FAILED
                                                            : app_exit_of(status, APP_INPUT);
        return app_fail(self, json, exit_code, &err);
    }
    if (json || !quiet) print_report(&report, json);
    return APP_OK;
}

static int render(const app_command *self, int argc, char **argv, app_list *words)
{
    tl_render_def def = tl_render_def_default();
    render_texts given = {.compare = {.item = words->item + argc}};
    bool wire = false, marks = false, layers = false, caption = false, no_ground = false, white = false,
         turntable = false;
    bool quiet = false, json = false;
    def.threads = app_cores();
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &def.out, 0, 0, "FILE", ".png (numbered when there are several frames), .mp4 or .gif"},
        {"mode", 'm', APP_TEXT, &given.mode, 0, 0, "MODE",
         "shaded (default), wire, mesh, strain, tension, velocity, curvature,\nlevel, contact, "
         "intersections or stress"},
        {"frames", 'f', APP_TEXT, &given.frames, 0, 0, "A:B:STEP", "which frames; A alone is one frame. Default all"},
        {"size", 's', APP_TEXT, &given.size, 0, 0, "WxH",
         "pixels. Default 1280x720, films 960x540, a sheet 1600 wide or more"},
        {"camera", 0, APP_TEXT, &given.camera, 0, 0, "VIEW",
         "front, back, left, right, top, corner; AZIMUTH,ELEVATION in degrees;\nor X,Y,Z,X,Y,Z[,FOV]: eye, "
         "target, "
         "angle. Default: the scene's,\nelse everything in view"},
        {"zoom", 0, APP_TEXT, &given.zoom, 0, 0, "X[@X,Y]",
         "nearer by this factor; @X,Y: at this place of the picture, as parts of\nits width and height from the upper "
         "left. Default 1@0.5,0.5"},
        {"turntable", 0, APP_FLAG, &turntable, 0, 0, NULL, "one turn around the scene"},
        {"fps", 0, APP_REAL, &def.fps, 0.1, 1000, "X", "of a film. Default: the recording's"},
        {"sheet", 0, APP_INT, &def.sheet, 1, 400, "N", "N frames on one page"},
        {"compare", 0, APP_MANY, &given.compare, 0, 0, "DIR2",
         "another recording beside the first, or LABEL=DIR2; may be given again"},
        {"range", 0, APP_TEXT, &given.range, 0, 0, "LO:HI",
         "of the colours, in the unit of the legend. Default: chosen"},
        {"wire", 'w', APP_FLAG, &wire, 0, 0, NULL, "edges over any mode"},
        {"intersections", 'x', APP_FLAG, &marks, 0, 0, NULL, "faces that cross others in red, in any mode"},
        {"layers", 0, APP_FLAG, &layers, 0, 0, NULL, "cloths as stacks of their levels of refinement, flat"},
        {"caption", 'c', APP_FLAG, &caption, 0, 0, NULL, "frame, time and faces at the lower left"},
        {"no-ground", 0, APP_FLAG, &no_ground, 0, 0, NULL, "no floor"},
        {"white", 0, APP_FLAG, &white, 0, 0, NULL, "plain white background"},
        {"samples", 0, APP_INT, &def.samples, 1, 4096, "N", "quality: rays per pixel at outlines. Default 16"},
        {"threads", 'j', APP_INT, &def.threads, 1, 256, "N", "changes no byte. Default: all cores"},
        {"threads", 't', APP_INT, &def.threads, 1, 256, "N", NULL},  // as it was called before
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "no progress, no summary"},
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "the summary as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one thing to draw: the folder of a run, a scene or an .obj");
    def.source = words->item[0];
    if (!def.out) return app_usage(self, "say where to: -o FILE.png, .mp4 or .gif");
    code = read_texts(self, &given, &def);
    if (code != APP_OK) return code;
    comparison compared = {0};
    code = read_compare(self, &given.compare, &compared, &def);
    if (code != APP_OK) return code;
    def.wire = wire, def.marks = marks, def.caption = caption, def.no_ground = no_ground, def.white = white;
    def.turntable = turntable, def.layers = layers;
    return draw(self, &def, quiet, json);
}

// Every picture of a film takes buffers of the same sizes. The C library would give them back to the system and have
// them zeroed anew, which was most of the system's time and a fourteenth of all.
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0), mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

int app_render(const app_command *self, int argc, char **argv)
{
    keep_memory();
    const char **texts = calloc(2 * (size_t)argc, sizeof *texts);  // words, and --compare
    if (!texts) return app_fail(self, false, APP_FAILED, &(tl_error){.message = "out of memory"});
    app_list words = {.item = texts};
    const int code = render(self, argc, argv, &words);
    free(texts);
    return code;
}
