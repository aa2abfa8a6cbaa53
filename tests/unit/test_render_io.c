// tests/unit/test_render_io.c: recordings into pictures and films, golden pictures, and everything that can
// go wrong.

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "run/render_frame.h"
#include "io/film.h"
#include "io/png.h"
#include "render/legend.h"
#include "toile/render.h"

static tl_allocator alloc;
static tl_error err;
static char dir[64];
static char warnings[4096];

static void collect(void *user, tl_log_level level, const char *message)
{
    (void)user, (void)level;
    strncat(warnings, message, sizeof warnings - strlen(warnings) - 2);
    strcat(warnings, "\n");
}
static const tl_log log_ = {collect, NULL};

static int setup(void **state)
{
    (void)state;
    alloc = tl_allocator_default();
    warnings[0] = 0;
    strcpy(dir, "/tmp/toile-render-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command) == 0 ? 0 : -1;
}

static const char *in_dir(const char *name)
{
    static char path[64][256];  // enough for all names that one test holds at a time
    static int turn;
    turn = (turn + 1) % 64;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static void write_text(const char *name, const char *text)
{
    assert_ok(tl_file_write(in_dir(name), text, strlen(text), false, &err));
}

static void make_dir(const char *name) { assert_int_equal(mkdir(in_dir(name), 0777), 0); }

/// A sheet of n x n squares with ripples that move with the frame.
static void write_sheet(const char *name, int n, int frame)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++)
            fprintf(f, "v %g %g %g\n", (double)i / n, 1 + 0.05 * sin(7.0 * i / n + 0.3 * frame), (double)j / n);
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++) fprintf(f, "vt %g %g\n", (double)i / n, -(double)j / n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const int a = j * (n + 1) + i + 1, b = a + 1, c = a + n + 1, d = c + 1;
            fprintf(f, "f %d/%d %d/%d %d/%d\nf %d/%d %d/%d %d/%d\n", a, a, c, c, b, b, b, b, c, c, d, d);
        }
    fclose(f);
}

/// A run of four frames; frame 2 is missing, the mesh changes, an obstacle is saved once.
static void write_run(void)
{
    make_dir("run");
    make_dir("run/frames");
    make_dir("run/obstacles");
    write_sheet("run/frames/000000_flag.obj", 6, 0);
    write_sheet("run/frames/000001_flag.obj", 9, 1);
    write_sheet("run/frames/000003_flag.obj", 7, 3);
    write_text("run/obstacles/000000_box.obj",
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    write_text("run/scene.json",
               "{\"name\": \"flag\", \"fps\": 10, \"gravity\": [0, -9.81, 0], // a comment\n"
               " \"appearance\": {\"flag\": {\"color\": \"#aa3344\"}, \"box\": {\"look\": \"skin\"}}}");
}

static tl_render_def small(const char *source, const char *out)
{
    tl_render_def def = tl_render_def_default();
    def.source = source, def.out = out, def.width = 96, def.height = 72, def.samples = 4, def.log = &log_;
    return def;
}

static bool no_png(void)
{
    tl_image image;
    tl_error why = {0};
    if (tl_image_create(&alloc, 2, 2, &image, &why) != TL_OK) return true;
    const tl_status status = tl_png_write(&alloc, in_dir("probe.png"), &image, &why);
    tl_image_free(&alloc, &image);
    return status != TL_OK;
}

static void frames_become_numbered_pictures(void **state)
{
    (void)state;
    if (no_png()) skip();
    write_run();
    tl_render_def def = small(in_dir("run"), in_dir("new/folder/out.png"));
    tl_render_report r;
    assert_ok(tl_render_run(&def, &r, &err));
    assert_int_equal(r.pictures, 3);
    assert_int_equal(r.missing_frames, 1);
    assert_non_null(strstr(warnings, "missing after frame 1"));
    assert_non_null(strstr(r.written, "out_NNNNNN.png"));
    tl_image image;
    assert_ok(tl_png_read(&alloc, in_dir("new/folder/out_000003.png"), &image, &err));
    assert_int_equal(image.width, 96);
    assert_int_equal(image.height, 72);
    tl_image_free(&alloc, &image);
    assert_int_equal(access(in_dir("new/folder/out_000002.png"), F_OK), -1);
    // one frame keeps the name as it is
    def.first = def.last = 1, def.out = in_dir("one.png");
    assert_ok(tl_render_run(&def, &r, &err));
    assert_int_equal(r.pictures, 1);
    assert_int_equal(access(in_dir("one.png"), F_OK), 0);
    // a frame that is not there
    def.first = def.last = 2;
    assert_int_equal(tl_render_run(&def, &r, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "no frame from 2 to 2; it holds 0 to 3"));
}

static void every_mode_draws(void **state)
{
    (void)state;
    if (no_png()) skip();
    write_run();
    for (int mode = 0; mode < TL_RENDER_MODE_COUNT; mode++) {
        tl_render_def def = small(in_dir("run"), in_dir("mode.png"));
        def.mode = (tl_render_mode)mode, def.first = def.last = 1, def.caption = 1, def.marks = 1;
        tl_render_report r;
        assert_non_null(tl_render_mode_name(def.mode));
        assert_ok(tl_render_run(&def, &r, &err));
        def.range_lo = 0, def.range_hi = 2;
        assert_ok(tl_render_run(&def, &r, &err));
    }
    assert_null(tl_render_mode_name(TL_RENDER_MODE_COUNT));
}

static void sheets_comparisons_and_turntables(void **state)
{
    (void)state;
    if (no_png()) skip();
    write_run();
    tl_render_report r;
    tl_render_def def = small(in_dir("run"), in_dir("sheet.png"));
    def.sheet = 3, def.width = 400, def.height = 0, def.mode = TL_RENDER_VELOCITY;
    assert_ok(tl_render_run(&def, &r, &err));
    assert_int_equal(r.pictures, 3);
    assert_in_range(r.width, 380, 400);
    def = small(in_dir("run"), in_dir("cmp.png"));
    def.compare = in_dir("run"), def.width = 131, def.first = def.last = 0;
    assert_ok(tl_render_run(&def, &r, &err));
    tl_image image;
    assert_ok(tl_png_read(&alloc, in_dir("cmp.png"), &image, &err));
    // left and right are the same but for the two columns between them
    const int32_t half = (image.width - 2) / 2;
    for (int32_t y = 0; y < image.height; y++)
        assert_memory_equal(image.rgb + 3 * (y * image.width), image.rgb + 3 * (y * image.width + half + 2),
                            (size_t)half * 3);
    tl_image_free(&alloc, &image);
    def = small(in_dir("run/frames/000001_flag.obj"), in_dir("turn.png"));
    def.turntable = 1, def.fps = 2;
    assert_ok(tl_render_run(&def, &r, &err));
    assert_int_equal(r.pictures, 8);
    def.sheet = 6, def.width = 300, def.height = 0;  // the turn on one page
    assert_ok(tl_render_run(&def, &r, &err));
    assert_int_equal(r.pictures, 6);
    def.sheet = 90, def.width = 0, def.samples = 1;  // a page grows so that its pictures can be seen
    assert_ok(tl_render_run(&def, &r, &err));
    assert_true(r.width >= 11 * 240);
}

/// One picture of `source` with `camera` as on the command line (NULL: the scene's own).
static tl_text picture_of(const char *source, const char *camera)
{
    tl_render_def def = small(source, in_dir("view.png"));
    if (camera) assert_true(tl_camera_parse(camera, &def.camera));
    assert_ok(tl_render_run(&def, NULL, &err));
    tl_text text;
    assert_ok(tl_file_read(&alloc, def.out, 1 << 20, &text, &err));
    return text;
}

static bool same_text(const tl_text *a, const tl_text *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void camera_of_the_scene_reaches_the_picture(void **state)
{
    (void)state;
    if (no_png()) skip();
    static const char *const cameras[][2] = {
        {"\"camera\": {\"azimuth\": -40, \"elevation\": 30}", "-40,30"},
        {"\"camera\": {\"eye\": [0.5, 0.5, 4], \"target\": [0.5, 0.5, 0], \"fov\": 20}", "0.5,0.5,4,0.5,0.5,0,20"},
    };
    const char *cloth = "\"cloths\": [{\"mesh\": {\"rectangle\": {\"size\": [1, 1], \"edge\": 0.2}}}]";
    char text[512];
    snprintf(text, sizeof text, "{%s}", cloth);
    write_text("plain.json", text);
    tl_text plain = picture_of(in_dir("plain.json"), NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "{%s, %s}", cameras[i][0], cloth);
        write_text("own.json", text);
        tl_text own = picture_of(in_dir("own.json"), NULL), asked = picture_of(in_dir("plain.json"), cameras[i][1]);
        assert_true(same_text(&own, &asked));
        assert_false(same_text(&own, &plain));
        tl_text_free(&alloc, &own), tl_text_free(&alloc, &asked);
        own = picture_of(in_dir("own.json"), "28,14");  // the command line wins; these are the angles of no camera
        assert_true(same_text(&own, &plain));
        tl_text_free(&alloc, &own);
    }
    snprintf(text, sizeof text, "{%s, \"appearance\": {\"cloth\": {\"color\": \"#aa3344\"}}}", cloth);
    write_text("own.json", text);
    tl_text red = picture_of(in_dir("own.json"), NULL);
    assert_false(same_text(&red, &plain));
    tl_text_free(&alloc, &red), tl_text_free(&alloc, &plain);
    snprintf(text, sizeof text, "{\"camera\": {\"azimuth\": -40, \"fov\": 0}, %s}", cloth);
    write_text("own.json", text);
    tl_render_def def = small(in_dir("own.json"), in_dir("view.png"));
    assert_int_equal(tl_render_run(&def, NULL, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "camera.fov 0, must be in (0, 170)"));
}

static void captions_fit_their_pictures(void **state)
{
    (void)state;
    assert_true(tl_caption_fits("frame 12   0.48 s   5,858 faces", 395, 296));
    assert_false(tl_caption_fits("frame 12   0.48 s   5,858 faces", 154, 86));
    assert_true(tl_caption_fits("frame 12   0.48 s", 154, 86));
    assert_true(tl_caption_fits("frame 100", 115, 114));
}

static void same_file_on_any_number_of_threads(void **state)
{
    (void)state;
    if (no_png()) skip();
    write_run();
    tl_text file[3];
    for (int threads = 1; threads <= 3; threads++) {
        tl_render_def def = small(in_dir("run"), in_dir("t.png"));
        def.first = def.last = 3, def.threads = threads, def.mode = TL_RENDER_CONTACT, def.wire = 1, def.marks = 1;
        assert_ok(tl_render_run(&def, NULL, &err));
        assert_ok(tl_file_read(&alloc, in_dir("t.png"), 1 << 24, &file[threads - 1], &err));
    }
    for (int i = 1; i < 3; i++) {
        assert_int_equal(file[0].size, file[i].size);
        assert_memory_equal(file[0].data, file[i].data, file[0].size);
    }
    for (int i = 0; i < 3; i++) tl_text_free(&alloc, &file[i]);
}

static void films_with_and_without_ffmpeg(void **state)
{
    (void)state;
    if (no_png()) skip();
    write_run();
    tl_render_report r;
    tl_render_def def = small(in_dir("run"), in_dir("film.mp4"));
    def.width = 97, def.height = 73;  // odd: H.264 wants even
    setenv("FFMPEG", "/nowhere/ffmpeg", 1);
    assert_false(tl_movie_possible());
    assert_ok(tl_render_run(&def, &r, &err));
    assert_int_equal(r.no_ffmpeg, 1);
    assert_non_null(strstr(warnings, "no ffmpeg program found"));
    assert_int_equal(access(in_dir("film_000003.png"), F_OK), 0);
    assert_int_equal(access(in_dir("film.mp4"), F_OK), -1);
    // an encoder that dies at once: an error with its words, and nothing left behind
    write_text("bad.sh", "#!/bin/sh\n[ \"$1\" = -version ] && exit 0\necho 'no such codec' >&2\nexit 1\n");
    chmod(in_dir("bad.sh"), 0755);
    setenv("FFMPEG", in_dir("bad.sh"), 1);
    assert_int_equal(tl_render_run(&def, &r, &err), TL_IO);
    assert_int_equal(access(in_dir("film.mp4.part"), F_OK), -1);
    unsetenv("FFMPEG");
    if (!tl_movie_possible()) return;
    const char *names[2] = {"film.mp4", "film.gif"};
    for (int i = 0; i < 2; i++) {
        def.out = in_dir(names[i]);
        assert_ok(tl_render_run(&def, &r, &err));
        assert_int_equal(r.no_ffmpeg, 0);
        tl_text film;
        assert_ok(tl_file_read(&alloc, def.out, 1 << 24, &film, &err));
        assert_true(film.size > 500);
        assert_memory_equal(film.data + (i ? 0 : 4), i ? "GIF8" : "ftyp", 4);
        tl_text_free(&alloc, &film);
    }
}

static void bad_input_is_told(void **state)
{
    (void)state;
    if (no_png()) skip();
    tl_render_report r;
    tl_render_def def = small(in_dir("nothing"), in_dir("x.png"));
    assert_int_equal(tl_render_run(&def, &r, &err), TL_IO);
    assert_non_null(strstr(err.message, "no such file"));
    make_dir("empty");
    def.source = in_dir("empty");
    assert_int_equal(tl_render_run(&def, &r, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "no frames in it"));
    write_text("broken.obj", "v 0 0\nf 1 2 3\n");
    def.source = in_dir("broken.obj");
    assert_int_equal(tl_render_run(&def, &r, &err), TL_BAD_INPUT);
    write_text("hollow.obj", "");
    def.source = in_dir("hollow.obj");
    assert_int_equal(tl_render_run(&def, &r, &err), TL_BAD_INPUT);
    write_text("what.txt", "hello");
    def.source = in_dir("what.txt");
    assert_int_equal(tl_render_run(&def, &r, &err), TL_BAD_INPUT);
    // a mesh with a corner that is not a number: drawn without its faces, and said so
    write_text("nan.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 1 1\nf 1 2 3\nf 2 3 4\n");
    def.source = in_dir("nan.obj");
    warnings[0] = 0;
    assert_ok(tl_render_run(&def, &r, &err));
    assert_int_equal(r.faces_left_out, 1);
    assert_non_null(strstr(warnings, "1 faces left out"));
    // all of it
    write_text("nan.obj", "v nan 0 0\nv 1 nan 0\nv 0 1 inf\nf 1 2 3\n");
    assert_ok(tl_render_run(&def, &r, &err));
    assert_int_equal(r.faces_left_out, 1);
    // one frame of a run that cannot be read: an empty picture, counted
    write_run();
    write_text("run/frames/000002_flag.obj", "garbage");
    def.source = in_dir("run");
    assert_ok(tl_render_run(&def, &r, &err));
    assert_int_equal(r.pictures, 4);
    assert_int_equal(r.missing_frames, 1);
    // nowhere to write
    def.first = def.last = 0;
    def.out = "/proc/toile/x.png";
    assert_int_equal(tl_render_run(&def, &r, &err), TL_IO);
    def.out = in_dir("run.bmp");
    assert_int_equal(tl_render_run(&def, &r, &err), TL_BAD_ARG);
    make_dir("folder.png");
    def.out = in_dir("folder.png");
    assert_int_equal(tl_render_run(&def, &r, &err), TL_IO);
    def.out = in_dir("y.png"), def.width = 8;
    assert_int_equal(tl_render_run(&def, &r, &err), TL_BAD_ARG);
}

static int stop_now(void *user)
{
    int *left = user;
    return (*left)-- <= 0;
}

static void stops_when_asked(void **state)
{
    (void)state;
    if (no_png()) skip();
    write_run();
    tl_render_def def = small(in_dir("run"), in_dir("stop.png"));
    int left = 4;
    def.cancelled = stop_now, def.user = &left;
    tl_render_report r;
    assert_int_equal(tl_render_run(&def, &r, &err), TL_CANCELLED);
    assert_int_equal(r.pictures, 1);
}

static void cameras_from_text(void **state)
{
    (void)state;
    tl_camera_def c;
    assert_true(tl_camera_parse("top", &c) && c.kind == TL_CAMERA_ANGLES);
    assert_true(tl_camera_parse("-30,12.5", &c));
    assert_near(c.azimuth_deg, -30, 0);
    assert_near(c.elevation_deg, 12.5, 0);
    assert_true(tl_camera_parse("1,2,3,0,0,0,45", &c) && c.kind == TL_CAMERA_FIXED);
    assert_near(c.fov_deg, 45, 0);
    const char *bad[] = {"",      "side", "1", "1,2,3", "1,2,", "1,99", "1,2,3,4,5,6,7,8", "1,2,3,0,0,0,200",
                         "nan,1", "1 2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(tl_camera_parse(bad[i], &c));
}

static void statistics_become_diagrams(void **state)
{
    (void)state;
    make_dir("run");
    write_text("run/stats.jsonl",
               "{\"frame\": 0, \"time\": 0, \"faces\": 100, \"nodes\": 60, \"seconds\": {\"physics\": 0.1, "
               "\"other\": 0.01},"
               " \"strain_max\": 0.01, \"strain_min\": -0.02, \"energies\": {\"kinetic\": 1, \"bend\": null}}\n"
               "{\"frame\": 1, \"time\": 0.04, \"faces\": 120, \"seconds\": {\"physics\": 0.2}}\n"
               "torn lin");
    tl_plot_def def = tl_plot_def_default();
    def.dir = in_dir("run"), def.out = in_dir("plot.svg"), def.log = &log_;
    tl_plot_report r;
    assert_ok(tl_plot_run(&def, &r, &err));
    assert_int_equal(r.frames, 2);
    assert_int_equal(r.damaged, 1);
    assert_int_equal(r.charts, 4);
    tl_text svg;
    assert_ok(tl_file_read(&alloc, def.out, 1 << 20, &svg, &err));
    assert_non_null(strstr(svg.data, "Energy [J]"));
    assert_non_null(strstr(svg.data, "</svg>"));
    tl_text_free(&alloc, &svg);
    if (!no_png()) {
        def.out = in_dir("plot.png");
        assert_ok(tl_plot_run(&def, &r, &err));
    }
    def.out = in_dir("plot.pdf");
    assert_int_equal(tl_plot_run(&def, &r, &err), TL_BAD_ARG);
    write_text("run/stats.jsonl", "[]\n");
    def.out = in_dir("plot.svg");
    assert_int_equal(tl_plot_run(&def, &r, &err), TL_BAD_INPUT);
    def.dir = in_dir("nothing");
    assert_int_equal(tl_plot_run(&def, &r, &err), TL_IO);
}

// --- golden pictures ---------------------------------------------------------------------------------------

enum { GOLD_W = 240, GOLD_H = 180, GRID = 32, BALL = 20 };

typedef struct gold_scene {
    tl_vec3 cloth[(GRID + 1) * (GRID + 1)], ball[2 * BALL * (BALL + 1)];
    tl_vec2 uv[(GRID + 1) * (GRID + 1)];
    int32_t cloth_face[2 * GRID * GRID][3], ball_face[4 * BALL * BALL][3];
    tl_render_mesh mesh[2];
} gold_scene;

/// A rippled cloth above a ball: outline, shadow, both sides, and a map with a known course.
static void build_gold(gold_scene *g)
{
    const double pi = 3.14159265358979323846;
    int32_t f = 0;
    for (int32_t j = 0; j <= GRID; j++)
        for (int32_t i = 0; i <= GRID; i++) {
            const double u = (double)i / GRID - 0.5, v = (double)j / GRID - 0.5, r2 = u * u + v * v;
            const int32_t k = j * (GRID + 1) + i;
            g->uv[k] = (tl_vec2){u, -v};
            g->cloth[k] = (tl_vec3){1.05 * u, 0.62 - 0.8 * r2 + 0.03 * sin(14 * u + 6 * v), v};
        }
    for (int32_t j = 0; j < GRID; j++)
        for (int32_t i = 0; i < GRID; i++) {
            const int32_t a = j * (GRID + 1) + i, b = a + 1, c = a + GRID + 1, d = c + 1;
            const int32_t two[2][3] = {{a, c, b}, {b, c, d}};
            memcpy(g->cloth_face[f], two[0], sizeof two[0]);
            memcpy(g->cloth_face[f + 1], two[1], sizeof two[1]);
            f += 2;
        }
    for (int32_t j = 0; j <= BALL; j++)
        for (int32_t i = 0; i < 2 * BALL; i++) {
            const double a = pi * j / BALL, b = pi * i / BALL;
            g->ball[2 * BALL * j + i] = (tl_vec3){0.25 * sin(a) * cos(b), 0.25 + 0.25 * cos(a), 0.25 * sin(a) * sin(b)};
        }
    f = 0;
    for (int32_t j = 0; j < BALL; j++)
        for (int32_t i = 0; i < 2 * BALL; i++) {
            const int32_t a = 2 * BALL * j + i, b = 2 * BALL * j + (i + 1) % (2 * BALL), c = a + 2 * BALL,
                          d = b + 2 * BALL;
            const int32_t two[2][3] = {{a, b, c}, {b, d, c}};
            memcpy(g->ball_face[f], two[0], sizeof two[0]);
            memcpy(g->ball_face[f + 1], two[1], sizeof two[1]);
            f += 2;
        }
    g->mesh[0] = (tl_render_mesh){.pos = g->cloth,
                                  .pos_count = (GRID + 1) * (GRID + 1),
                                  .face = (const int32_t(*)[3])g->cloth_face,
                                  .face_count = 2 * GRID * GRID,
                                  .uv = g->uv,
                                  .uv_count = (GRID + 1) * (GRID + 1),
                                  .face_uv = (const int32_t(*)[3])g->cloth_face};
    g->mesh[1] = (tl_render_mesh){.pos = g->ball,
                                  .pos_count = 2 * BALL * (BALL + 1),
                                  .face = (const int32_t(*)[3])g->ball_face,
                                  .face_count = 4 * BALL * BALL,
                                  .look = TL_LOOK_SKIN};
}

/// Mean over the 5 x 5 pixels around: what an eye at some distance sees.
static double seen(const tl_image *image, int32_t x, int32_t y, int k)
{
    double sum = 0;
    int n = 0;
    for (int32_t j = y - 2; j <= y + 2; j++)
        for (int32_t i = x - 2; i <= x + 2; i++) {
            if (i < 0 || j < 0 || i >= image->width || j >= image->height) continue;
            sum += image->rgb[3 * (j * image->width + i) + k], n++;
        }
    return sum / n;
}

static void pictures_look_as_they_did(void **state)
{
    (void)state;
    if (no_png()) skip();
    static const tl_render_mode modes[] = {TL_RENDER_SHADED, TL_RENDER_WIRE,      TL_RENDER_MESH,
                                           TL_RENDER_STRAIN, TL_RENDER_CURVATURE, TL_RENDER_INTERSECTIONS};
    gold_scene *g = calloc(1, sizeof *g);
    build_gold(g);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        tl_render_def def = tl_render_def_default();
        def.mode = modes[m], def.width = GOLD_W, def.height = GOLD_H, def.threads = 2;
        def.camera = (tl_camera_def){.kind = TL_CAMERA_ANGLES, .azimuth_deg = 25, .elevation_deg = 20, .fov_deg = 30};
        tl_image image;
        assert_ok(tl_image_create(&alloc, GOLD_W, GOLD_H, &image, &err));
        assert_ok(tl_render_image(&def, g->mesh, 2, image.rgb, &err));
        char path[512];
        snprintf(path, sizeof path, "%s/tests/golden/render/%s.png", TL_REPO, tl_render_mode_name(modes[m]));
        if (getenv("TL_UPDATE_GOLDEN")) assert_ok(tl_png_write(&alloc, path, &image, &err));
        tl_image gold;
        assert_ok(tl_png_read(&alloc, path, &gold, &err));
        assert_int_equal(gold.width, GOLD_W);
        assert_int_equal(gold.height, GOLD_H);
        double mean = 0, worst = 0;
        for (int32_t y = 0; y < GOLD_H; y++)
            for (int32_t x = 0; x < GOLD_W; x++)
                for (int k = 0; k < 3; k++) {
                    const double d = fabs(seen(&image, x, y, k) - seen(&gold, x, y, k));
                    mean += d / (3.0 * GOLD_W * GOLD_H), worst = d > worst ? d : worst;
                }
        // half a grey level on average and six anywhere: below what two people would call different
        assert_near(mean, 0, 0.5);
        assert_near(worst, 0, 6);
        tl_image_free(&alloc, &gold);
        tl_image_free(&alloc, &image);
    }
    free(g);
}

static void take_shot(const char *scene, tl_shot *shot)
{
    tl_render_def def = small(in_dir(scene), "x.png");
    tl_source source;
    tl_show_frame frame;
    tl_style style;
    tl_survey survey;
    assert_ok(tl_source_open(&alloc, def.source, &log_, &source, &err));
    assert_ok(tl_source_load(&source, 0, &frame, &err));
    tl_style_read(&source, &style);
    tl_survey_init(&survey, &def, &style, source.up, def.width, def.height);
    assert_ok(tl_survey_add(&survey, &def, &frame, NULL, 0, &alloc, NULL, &err));
    tl_shot_init(shot, &def, &survey);
    if (strcmp(scene, "plane.json") == 0) {
        assert_int_equal(frame.mesh_count, 3);
        assert_int_equal(frame.cloth_count, 1);
        assert_true(frame.meshes[1].obstacle && frame.meshes[2].obstacle);
        assert_string_equal(frame.meshes[1].name, "ball");
        assert_true(frame.meshes[2].obj.node_count == 4);
    }
    tl_show_frame_free(&alloc, &frame);
    tl_source_close(&source);
}

// A level plane becomes the ground at its height and changes nothing about the view; other obstacles are in it.
static void a_plane_of_the_scene_is_the_ground(void **state)
{
    (void)state;
#define CLOTH "{\"cloths\": [{\"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 0.5}}}], \"obstacles\": ["
#define BALL "{\"name\": \"ball\", \"sphere\": {\"center\": [0, -2, 0], \"radius\": 0.5}}"
    write_text("bare.json", CLOTH "]}");
    write_text("ball.json", CLOTH BALL "]}");
    write_text("plane.json", CLOTH BALL ", {\"name\": \"floor\", \"plane\": {\"point\": [0, -4, 0]}}]}");
    write_text("slope.json", CLOTH BALL ", {\"plane\": {\"point\": [0, -4, 0], \"normal\": [1, 1, 0]}}]}");
    tl_shot bare, ball, plane, slope;
    take_shot("bare.json", &bare), take_shot("ball.json", &ball), take_shot("plane.json", &plane);
    take_shot("slope.json", &slope);
    assert_true(ball.camera.eye.z > bare.camera.eye.z);
    assert_memory_equal(&ball.camera, &plane.camera, sizeof ball.camera);
    assert_memory_equal(&ball.camera, &slope.camera, sizeof ball.camera);
    assert_true(plane.plane_is_ground && !ball.plane_is_ground && !slope.plane_is_ground);
    assert_near(plane.ground_height, -4, 0);
    if (no_png()) skip();
    tl_render_report r;
    tl_image image;
    tl_render_def def = small(in_dir("plane.json"), in_dir("plane.png"));
    assert_ok(tl_render_run(&def, &r, &err));
    assert_ok(tl_png_read(&alloc, in_dir("plane.png"), &image, &err));
    tl_image_free(&alloc, &image);
}

static void meshes_in_memory_are_checked(void **state)
{
    (void)state;
    const tl_vec3 pos[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const int32_t face[1][3] = {{0, 1, 7}};
    const tl_render_mesh mesh = {.pos = pos, .pos_count = 3, .face = face, .face_count = 1};
    tl_render_def def = tl_render_def_default();
    def.width = def.height = 32;
    uint8_t rgb[32 * 32 * 3];
    assert_int_equal(tl_render_image(&def, &mesh, 1, rgb, &err), TL_BAD_ARG);
    assert_ok(tl_render_image(&def, NULL, 0, rgb, &err));  // nothing: the studio
    assert_true(rgb[0] > 150);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(frames_become_numbered_pictures),
        TEST(every_mode_draws),
        TEST(sheets_comparisons_and_turntables),
        TEST(camera_of_the_scene_reaches_the_picture),
        TEST(captions_fit_their_pictures),
        TEST(same_file_on_any_number_of_threads),
        TEST(films_with_and_without_ffmpeg),
        TEST(bad_input_is_told),
        TEST(stops_when_asked),
        TEST(cameras_from_text),
        TEST(statistics_become_diagrams),
        TEST(pictures_look_as_they_did),
        TEST(a_plane_of_the_scene_is_the_ground),
        TEST(meshes_in_memory_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
