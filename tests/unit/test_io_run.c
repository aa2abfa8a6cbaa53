// tests/unit/test_io_run.c: runs into folders: layout, resume to the very step, refusals, statistics, check, info.

#include "test_io_help.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "run/checkpoint.h"
#include "run/folder.h"
#include "scene/scene.h"
#include "run/stats.h"
#include "toile/run.h"

#define SCENE                                                                                                          \
    "{\"frames\": 6, \"steps_per_frame\": 4, \"cloths\": [{\"name\": \"sheet\", \"mesh\": {\"rectangle\": "            \
    "{\"size\": [1, 1], "                                                                                              \
    "\"edge\": 0.25}}}], \"air\": {\"wind\": [0, 0, 3]}, \"handles\": [{\"corners\": [\"top-left\", "                  \
    "\"top-right\"]}]}"

typedef struct watch {
    int asked, stop_at, frames;
    double last_time;
} watch;

static int stop(void *user) { return ++((watch *)user)->asked == ((watch *)user)->stop_at; }

static void count(void *user, const tl_run_progress *progress)
{
    watch *w = user;
    assert_true(progress->frame >= w->frames);
    w->frames = progress->frame;
    w->last_time = progress->time;
}

static tl_status run(const char *scene_path, const char *dir, bool resume, int stop_at, int frames,
                     tl_run_report *report, tl_error *err)
{
    tl_scene *scene;
    const tl_status loaded = tl_scene_load(scene_path, NULL, 0, &scene, err);
    if (loaded != TL_OK) return loaded;
    watch w = {.stop_at = stop_at};
    tl_run_def def = tl_run_def_default();
    def.out_dir = dir;
    def.resume = resume;
    def.frames = frames;
    def.checkpoint_every = 4;
    def.cancelled = stop;
    def.progress = count;
    def.user = &w;
    const tl_status status = tl_run(scene, &def, report, err);
    tl_scene_destroy(scene);
    return status;
}

static void check_same_file(const char *a, const char *b)
{
    size_t na, nb;
    char *ta = help_read(a, &na), *tb = help_read(b, &nb);
    assert_int_equal(na, nb);
    assert_memory_equal(ta, tb, na);
    free(ta);
    free(tb);
}

static void check_same_frames(const char *a, const char *b, int frames)
{
    char pa[256], pb[256];
    for (int i = 0; i <= frames; i++) {
        snprintf(pa, sizeof pa, "%s/frames/%06d_sheet.obj", a, i);
        snprintf(pb, sizeof pb, "%s/frames/%06d_sheet.obj", b, i);
        check_same_file(pa, pb);
    }
}

// Everything in stats.jsonl but wall clock and memory.
static char *stable_stats(const char *dir)
{
    char path[256];
    snprintf(path, sizeof path, "%s/stats.jsonl", dir);
    size_t size;
    char *text = help_read(path, &size);
    char *out = calloc(1, 2 * size + 16);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *object = json_loads(line, 0, NULL);
        assert_non_null(object);
        assert_int_equal(json_object_size(json_object_get(object, "seconds")), 6);
        assert_int_equal(json_object_size(json_object_get(object, "energies")), 4);
        json_object_del(object, "seconds");
        json_object_del(object, "memory");
        json_object_del(object, "memory_peak");
        char *kept = json_dumps(object, JSON_SORT_KEYS);
        strcat(strcat(out, kept), "\n");
        free(kept);
        json_decref(object);
    }
    free(text);
    return out;
}

static void a_run_has_its_layout(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    help_write("s.json", SCENE);
    assert_ok(run("s.json", "out/deep", false, 0, -1, &report, &err));
    assert_int_equal(report.first_frame, 0);
    assert_int_equal(report.last_frame, 6);
    assert_int_equal(report.steps, 24);
    assert_true(report.faces > 20 && report.peak_bytes > 0 && report.state_hash != 0);
    assert_true(help_exists("out/deep/frames/000000_sheet.obj"));
    assert_true(help_exists("out/deep/frames/000006_sheet.obj"));
    assert_false(help_exists("out/deep/frames/000007_sheet.obj"));
    assert_true(help_exists("out/deep/scene.json"));
    assert_true(help_exists("out/deep/checkpoint.bin"));
    char *stats = stable_stats("out/deep");
    static const char *const keys[] = {"frame",
                                       "time",
                                       "faces",
                                       "vertices",
                                       "nodes",
                                       "newton_iterations",
                                       "linear_iterations",
                                       "strain_max",
                                       "strain_min",
                                       "contacts",
                                       "candidates",
                                       "searches",
                                       "limited",
                                       "held",
                                       "zones",
                                       "pinched",
                                       "intersections",
                                       "rejected_steps",
                                       "linear_solver",
                                       "state_hash"};
    json_t *first = json_loads(stats, JSON_DISABLE_EOF_CHECK, NULL);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) assert_non_null(json_object_get(first, keys[i]));
    assert_int_equal(json_integer_value(json_object_get(first, "frame")), 0);
    json_decref(first);
    free(stats);
    // what it wrote runs again, to the same bytes
    assert_ok(run("out/deep/scene.json", "again", false, 0, -1, &report, &err));
    check_same_frames("out/deep", "again", 6);
    check_same_file("out/deep/scene.json", "again/scene.json");
}

#define OBSTACLES                                                                                                      \
    "{\"frames\": 6, \"steps_per_frame\": 4, \"cloths\": [{\"name\": \"sheet\", \"mesh\": {\"rectangle\": "            \
    "{\"size\": [1, 1], \"edge\": 0.25}}, \"transform\": {\"translate\": [0, 5, 0]}}], \"obstacles\": ["               \
    "{\"name\": \"floor\", \"plane\": {}}, {\"name\": \"ball\", \"sphere\": {\"radius\": 0.5}, "                       \
    "\"motion\": [{\"time\": 0}, {\"time\": 0.1, \"translate\": [0, 0, 1]}]}, "                                        \
    "{\"name\": \"rock\", \"mesh\": \"rock.obj\", \"transform\": {\"scale\": 2}}, "                                    \
    "{\"name\": \"body\", \"mesh\": {\"sequence\": \"body%d.obj\", \"fps\": 10}}]}"

static void obstacles_are_written_and_their_meshes_kept(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    help_write("s.json", OBSTACLES);
    help_write("rock.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    help_write("body0.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    help_write("body1.obj", "v 0 0 0.5\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    assert_ok(run("s.json", "a", false, 0, -1, &report, &err));
    assert_true(help_exists("a/obstacles/000000_floor.obj"));
    assert_false(help_exists("a/obstacles/000001_floor.obj"));
    assert_true(help_exists("a/obstacles/000000_rock.obj"));
    assert_false(help_exists("a/obstacles/000006_rock.obj"));
    assert_true(help_exists("a/obstacles/000000_body.obj"));
    assert_true(help_exists("a/obstacles/000006_body.obj"));
    assert_true(help_exists("a/meshes/rock.obj"));
    assert_true(help_exists("a/meshes/body.000001.obj"));
    char *text = help_read("a/obstacles/000006_ball.obj", NULL);
    assert_non_null(strstr(text, "obstacle ball"));
    assert_null(strstr(text, "vt "));
    free(text);
    // a folder is enough to run again, and to go on from
    assert_int_equal(rename("rock.obj", "gone.obj"), 0);
    assert_int_equal(rename("body0.obj", "gone0.obj"), 0);
    assert_ok(run("a/scene.json", "b", false, 0, -1, &report, &err));
    check_same_frames("a", "b", 6);
    check_same_file("a/scene.json", "b/scene.json");
    check_same_file("a/obstacles/000005_body.obj", "b/obstacles/000005_body.obj");
    assert_int_equal(run("a/scene.json", "c", false, 10, -1, &report, &err), TL_CANCELLED);
    assert_ok(run("c/scene.json", "c", true, 0, -1, &report, &err));
    check_same_frames("a", "c", 6);
    char *once = stable_stats("a"), *resumed = stable_stats("c");
    assert_string_equal(once, resumed);
    free(once), free(resumed);
    for (int k = 0; k <= 6; k++) {
        char pa[64], pc[64];
        snprintf(pa, sizeof pa, "a/obstacles/%06d_ball.obj", k);
        snprintf(pc, sizeof pc, "c/obstacles/%06d_ball.obj", k);
        check_same_file(pa, pc);
    }
    // starting over removes them first
    assert_ok(run("a/scene.json", "b", false, 0, 2, &report, &err));
    assert_true(help_exists("b/obstacles/000002_ball.obj"));
    assert_false(help_exists("b/obstacles/000003_ball.obj"));
}

static void resuming_gives_the_same_bytes(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    help_write("s.json", SCENE);
    assert_ok(run("s.json", "whole", false, 0, -1, &report, &err));
    const uint64_t hash = report.state_hash;
    char *whole = stable_stats("whole");
    for (int stop_at = 1; stop_at < 24; stop_at += 3) {
        char dir[32];
        snprintf(dir, sizeof dir, "part%d", stop_at);
        assert_int_equal(run("s.json", dir, false, stop_at, -1, &report, &err), TL_CANCELLED);
        assert_message_has("go on with --resume --out part");
        assert_int_equal(report.steps, stop_at);  // the step is finished, no more
        assert_int_equal(run("s.json", dir, true, 2, -1, &report, &err), stop_at == 22 ? TL_OK : TL_CANCELLED);
        assert_int_equal(report.steps, 2);  // and the next one is the very next
        assert_ok(run("s.json", dir, true, 0, -1, &report, &err));
        assert_true(report.state_hash == hash);
        check_same_frames("whole", dir, 6);
        char *part = stable_stats(dir);
        assert_string_equal(whole, part);
        free(part);
    }
    free(whole);
    // a finished run has nothing left to do; a longer one goes on
    assert_ok(run("s.json", "part1", true, 0, -1, &report, &err));
    assert_int_equal(report.steps, 0);
    assert_ok(run("s.json", "part1", true, 0, 8, &report, &err));
    assert_int_equal(report.first_frame, 7);
    assert_int_equal(report.last_frame, 8);
}

// As after a crash: frames and statistics ahead of the checkpoint, the last line torn.
static void resuming_after_a_crash(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    help_write("s.json", SCENE);
    assert_ok(run("s.json", "whole", false, 0, -1, &report, &err));
    assert_int_equal(run("s.json", "part", false, 16, -1, &report, &err), TL_CANCELLED);  // frame 4 is on disk
    size_t size;
    char *checkpoint = help_read("part/checkpoint.bin", &size);
    assert_int_equal(run("s.json", "part", true, 6, -1, &report, &err), TL_CANCELLED);
    FILE *file = fopen("part/checkpoint.bin", "wb");  // the old one: frame 5 was written after it
    fwrite(checkpoint, 1, size, file);
    fclose(file);
    free(checkpoint);
    file = fopen("part/stats.jsonl", "ab");
    fputs("{\"frame\": 6, \"ti", file);
    fclose(file);
    assert_ok(run("s.json", "part", true, 0, -1, &report, &err));
    check_same_frames("whole", "part", 6);
    char *a = stable_stats("whole"), *b = stable_stats("part");
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static void meshes_travel_with_the_folder(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    size_t size;
    char *mesh = help_read(TL_TEST_DATA "/io/quad.obj", &size);
    help_write("quad.obj", mesh);
    free(mesh);
    help_write("s.json", "{\"frames\": 3, \"cloths\": [{\"name\": \"sheet\", \"mesh\": \"quad.obj\", \"material\": "
                         "[{\"kind\": \"isotropic\", \"density\": 0.1, \"young\": 1e6, \"thickness\": 0.001},"
                         "{\"kind\": \"isotropic\", \"density\": 0.2, \"young\": 1e6, \"thickness\": 0.001}]}],"
                         "\"handles\": [{\"label\": 3}]}");
    assert_ok(run("s.json", "out", false, 0, -1, &report, &err));
    assert_true(help_exists("out/meshes/sheet.obj"));
    char *frame = help_read("out/frames/000003_sheet.obj", NULL);
    assert_non_null(strstr(frame, "\nnl 3\n"));
    assert_non_null(strstr(frame, "\nfl 1\n"));
    free(frame);
    assert_int_equal(remove("quad.obj"), 0);
    assert_int_equal(rename("out", "moved"), 0);
    assert_ok(run("moved/scene.json", "again", false, 0, -1, &report, &err));
    check_same_frames("moved", "again", 3);
    assert_ok(run("moved/scene.json", "moved", true, 0, 4, &report, &err));  // and the checkpoint moved with it
    assert_int_equal(report.last_frame, 4);
}

static void what_was_changed_since_is_named(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    help_write("s.json", SCENE);
    assert_ok(run("s.json", "out", false, 0, 2, &report, &err));
    const struct {
        const char *more, *says;
    } changes[] = {
        {"\"gravity\": [0, -1.62, 0]", "gravity[1] was -9.81, is -1.62 (undo the change"},
        {"\"obstacles\": [{\"name\": \"floor\", \"plane\": {\"point\": [0, -3, 0], \"normal\": [0, 1, 0]}}]",
         "obstacles was [], is [{"},
        {"\"name\": \"other\", \"solver\": {\"newton_tolerance\": 0.01}", "solver.newton_tolerance was 0.03, is 0.01"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char text[2000];
        snprintf(text, sizeof text, "{%s, \"include\": \"s.json\"}", changes[i].more);
        help_write("t.json", text);
        assert_int_equal(run("t.json", "out", true, 0, -1, &report, &err), TL_BAD_INPUT);
        assert_message_has(changes[i].says);
    }
    help_write("t.json",
               "{\"name\": \"other\", \"camera\": {\"azimuth\": 20}, \"include\": \"s.json\"}");  // without an effect
    assert_ok(run("t.json", "out", true, 0, 3, &report, &err));
    help_write("out/scene.json", "{\"gravity\": ");
    help_write("t.json", "{\"gravity\": [0, 0, 0], \"include\": \"s.json\"}");
    assert_int_equal(run("t.json", "out", true, 0, -1, &report, &err), TL_BAD_INPUT);
    assert_message_has("no telling what, its scene.json is missing or damaged");
}

static void hear_of_strain(void *user, tl_log_level level, const char *message)
{
    *(int *)user += level == TL_LOG_WARNING && strstr(message, "beyond their strain limits") != NULL;
}

static void limits_that_handles_break_are_told_once(void **state)
{
    (void)state;
    for (int far = 0; far < 2; far++) {  // by 1 %, by 15 %: the limit is 5 %
        char text[600];
        snprintf(text, sizeof text,
                 "{\"frames\": 5, \"steps_per_frame\": 4, \"cloths\": [{\"mesh\": {\"rectangle\": {\"size\": [0.4, "
                 "0.4], \"edge\": 0.1}},"
                 "\"strain_limits\": {\"max\": 0.05}}], \"handles\": [{\"sides\": \"left\"}, {\"sides\": \"right\","
                 "\"motion\": [{\"time\": 0}, {\"time\": 0.2, \"translate\": [%g, 0, 0]}]}]}",
                 far ? 0.06 : 0.004);
        help_write("s.json", text);
        tl_error err;
        tl_scene *scene;
        tl_run_report report;
        int told = 0;
        const tl_log log = {.write = hear_of_strain, .user = &told};
        assert_ok(tl_scene_load("s.json", NULL, 0, &scene, &err));
        tl_run_def def = tl_run_def_default();
        def.out_dir = far ? "far" : "near", def.log = &log;
        assert_ok(tl_run(scene, &def, &report, &err));
        tl_scene_destroy(scene);
        assert_int_equal(told, far);
    }
}

static void folders_that_are_refused(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    help_write("s.json", SCENE);
    help_write("t.json", "{\"frames\": 1, \"cloths\": [{\"mesh\": {\"disc\": {\"radius\": 0.5, \"edge\": 0.2}}}]}");
    assert_ok(run("s.json", "out", false, 0, 2, &report, &err));
    assert_fails(run("t.json", "out", false, 0, -1, &report, &err), TL_BAD_INPUT,
                 "out: holds frames of another scene (s), or of this one before it was changed (choose another "
                 "--out, or "
                 "remove the folder)");
    assert_true(help_exists("out/frames/000002_sheet.obj"));
    assert_int_equal(run("t.json", "out", true, 0, -1, &report, &err), TL_BAD_INPUT);
    assert_message_has("out/checkpoint.bin: checkpoint of another scene, or the scene was changed since");
    assert_ok(run("s.json", "out", false, 0, 1, &report, &err));  // the same scene starts over
    assert_false(help_exists("out/frames/000002_sheet.obj"));
    assert_fails(run("s.json", "fresh", true, 0, -1, &report, &err), TL_BAD_INPUT,
                 "fresh/checkpoint.bin: no checkpoint to resume from (run without --resume)");
    // never over somebody's scene
    assert_int_equal(mkdir("mine", 0777), 0);
    help_write("mine/scene.json", SCENE);
    assert_int_equal(run("mine/scene.json", "mine", false, 0, -1, &report, &err), TL_BAD_INPUT);
    assert_message_has("mine: holds a scene.json that is not from a run");
    char *kept = help_read("mine/scene.json", NULL);
    assert_string_equal(kept, SCENE);
    free(kept);
    help_write("file", "x");
    assert_int_equal(run("s.json", "file", false, 0, -1, &report, &err), TL_IO);
    assert_int_equal(run("s.json", "/proc/toile", false, 0, -1, &report, &err), TL_IO);
}

static void a_full_disk_loses_nothing(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    help_write("s.json", SCENE);
    assert_ok(run("s.json", "whole", false, 0, -1, &report, &err));
    assert_int_equal(run("s.json", "out", false, 8, -1, &report, &err), TL_CANCELLED);  // two frames
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 1500;  // less than a frame has
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const tl_status status = run("s.json", "out", true, 0, -1, &report, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, TL_IO);
    assert_false(help_exists("out/frames/000003_sheet.obj"));
    assert_ok(run("s.json", "out", true, 0, -1, &report, &err));
    check_same_frames("whole", "out", 6);
}

static void damaged_checkpoints(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    help_write("s.json", SCENE);
    assert_ok(run("s.json", "out", false, 0, 1, &report, &err));
    size_t size;
    char *good = help_read("out/checkpoint.bin", &size);
    const struct {
        size_t at;
        size_t length;
        const char *says;
    } bends[] = {
        {0, 0, "is not a checkpoint of Toile"},
        {3, 0, "is not a checkpoint of Toile"},
        {0, 100, "damaged checkpoint: 100 bytes, the header alone has 416"},
        {8, 0, "checkpoint of version 9, this program reads version 8"},
        {24, 0, "damaged checkpoint: the header does not match its hash"},
        {150, 0, "damaged checkpoint: the header does not match its hash"},
        {422, 0, "damaged checkpoint: "},
        {0, 476, "damaged checkpoint: 60 bytes of state, must be "},
    };
    for (size_t i = 0; i < sizeof bends / sizeof *bends; i++) {
        char *bent = malloc(size);
        memcpy(bent, good, size);
        if (!bends[i].length) bent[bends[i].at] ^= 1;
        FILE *file = fopen("out/checkpoint.bin", "wb");
        fwrite(bent, 1, bends[i].length ? bends[i].length : size, file);
        fclose(file);
        free(bent);
        assert_int_equal(run("s.json", "out", true, 0, 3, &report, &err), TL_BAD_INPUT);
        assert_message_has("out/checkpoint.bin: ");
        assert_message_has(bends[i].says);
    }
    free(good);
}

static void checkpoints_come_back(void **state)
{
    (void)state;
    tl_error err;
    char bytes[5000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * i % 251);
    const tl_checkpoint in = {
        .scene_hash = 77,
        .frame = 3,
        .step = 25,
        .data = bytes,
        .size = sizeof bytes,
        .sums = {.steps = 1, .newton_iterations = 9, .linear_used = 3, .seconds = {.total = 0.25}}};
    bool done = false;
    for (int64_t at = 0; !done; at++) {
        ledger f;
        const tl_allocator alloc = failing_allocator(&f, at);
        tl_buf file, back;
        tl_buf_init(&file, &alloc);
        tl_buf_init(&back, &alloc);
        tl_checkpoint out;
        tl_status status = tl_checkpoint_write(&file, &in, &err);
        if (status == TL_OK) status = tl_checkpoint_read("c", file.data, file.size, &back, &out, &err);
        assert_true(status == TL_OK || status == TL_NO_MEMORY);
        done = status == TL_OK;
        if (done) {
            assert_int_equal(out.size, in.size);
            assert_memory_equal(out.data, bytes, sizeof bytes);
            assert_memory_equal(&out.sums, &in.sums, sizeof in.sums);
            assert_true(out.scene_hash == 77 && out.frame == 3 && out.step == 25);
        }
        tl_buf_free(&file);
        tl_buf_free(&back);
        assert_true(f.live == 0 && at < 50);
    }
}

static void checking_a_folder(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    tl_check_report found;
    help_write("fixed.json", SCENE);
    help_write("s.json", "{\"include\": \"fixed.json\", \"remeshing\": {\"kind\": \"none\"}}");
    assert_ok(run("s.json", "out", false, 0, -1, &report, &err));
    assert_ok(tl_check_dir("out", 0, &found, &err));
    assert_int_equal(found.frames, 7);
    assert_int_equal(found.cloths, 1);
    assert_int_equal(found.findings, 0);
    assert_string_equal(found.first, "");
    assert_true(found.faces == 7 * report.faces);
    assert_near(found.strain_max, report.strain_max, 1e-9);
    assert_near(found.strain_min, report.strain_min, 1e-9);
    assert_ok(tl_check_dir("out", 1e-12, &found, &err));
    assert_true(found.over_strain > 0 && found.findings == found.over_strain);
    assert_int_equal(remove("out/frames/000003_sheet.obj"), 0);
    help_write("out/frames/000001_sheet.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nvt 1 1\n"
                                              "f 1/1 2/2 3/3\nf 2/2 3/3 4/4\n");
    help_write("out/frames/000002_sheet.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n");
    help_write("out/frames/000004_sheet.obj", "not a mesh\n");
    assert_ok(tl_check_dir("out", 0, &found, &err));
    assert_int_equal(found.missing_frames, 1);
    assert_int_equal(found.unreadable, 1);
    assert_int_equal(found.not_finite, 1);
    assert_int_equal(found.degenerate, 1);
    assert_int_equal(found.inverted, 1);
    assert_int_equal(found.findings, 5);
    assert_string_equal(found.first, "out/frames/000001_sheet.obj: node 0 is not finite");
    assert_int_equal(tl_check_dir("gone", 0, &found, &err), TL_IO);
    assert_int_equal(mkdir("empty", 0777), 0);
    assert_fails(tl_check_dir("empty", 0, &found, &err), TL_BAD_INPUT,
                 "empty: holds no frames (frames/NNNNNN_CLOTH.obj)");
}

static void gather(void *user, const char *text) { strncat(user, text, 20000); }

static void check_info(const char *path, const char *kind, const char *fact)
{
    tl_error err;
    char *text = calloc(1, 40000);
    assert_ok(tl_info(path, 1, gather, text, &err));
    json_t *facts = json_loads(text, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(facts, "kind")), kind);
    assert_non_null(json_object_get(facts, fact));
    json_decref(facts);
    text[0] = 0;
    assert_ok(tl_info(path, 0, gather, text, &err));
    assert_non_null(strstr(text, fact));
    free(text);
}

static void describing_files(void **state)
{
    (void)state;
    tl_error err;
    tl_run_report report;
    help_write("s.json", SCENE);
    assert_ok(run("s.json", "out", false, 0, 1, &report, &err));
    check_info("s.json", "scene", "scene_hash");
    check_info("out", "run", "last_frame");
    check_info("out/checkpoint.bin", "checkpoint", "step");
    check_info("out/frames/000001_sheet.obj", "mesh", "material_area");
    check_info(TL_REPO "/materials/denim.json", "fabric", "density");
    check_info(TL_TEST_DATA "/io/made-up-fabric.json", "fabric", "density");
    char text[10] = "";
    assert_int_equal(tl_info("gone", 0, gather, text, &err), TL_IO);
    help_write("noise.json", "{\"x\": 3}");
    assert_int_equal(tl_info("noise.json", 0, gather, text, &err), TL_BAD_INPUT);
    assert_int_equal(mkdir("empty", 0777), 0);
    assert_int_equal(tl_info("empty", 0, gather, text, &err), TL_BAD_INPUT);
}

static void statistics_are_cut_to_a_frame(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    help_write("s.jsonl",
               "{\"frame\": 0}\n{\"frame\": 1}\nnoise\n{\"frame\": 1}\n{\"frame\": 2}\n{\"frame\": 3}\n{\"fra");
    assert_ok(tl_stats_truncate(&alloc, "s.jsonl", 2, &err));
    char *text = help_read("s.jsonl", NULL);
    assert_string_equal(text, "{\"frame\": 0}\n{\"frame\": 1}\n{\"frame\": 2}\n");
    free(text);
    assert_ok(tl_stats_truncate(&alloc, "none.jsonl", 2, &err));
}

static void frame_names(void **state)
{
    (void)state;
    int64_t frame;
    char cloth[64];
    assert_true(tl_frame_name_parse("000012_left-sleeve.obj", &frame, cloth));
    assert_int_equal(frame, 12);
    assert_string_equal(cloth, "left-sleeve");
    static const char *const bad[] = {
        "", "000012_.obj", "00012_a.obj", "000012-a.obj", "000012_a.obj.tmp12", "00001x_a.obj"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(tl_frame_name_parse(bad[i], &frame, cloth));
}

static void bad_arguments(void **state)
{
    (void)state;
    tl_error err;
    help_write("s.json", SCENE);
    tl_scene *scene;
    assert_ok(tl_scene_load("s.json", NULL, 0, &scene, &err));
    tl_run_def def = tl_run_def_default();
    assert_int_equal(tl_run(scene, &def, NULL, &err), TL_BAD_ARG);  // no folder
    def.out_dir = "out";
    def.threads = 0;
    assert_fails(tl_run(scene, &def, NULL, &err), TL_BAD_ARG, "threads 0, must be >= 1");
    def.threads = 1;
    def.checkpoint_every = 0;
    assert_int_equal(tl_run(scene, &def, NULL, NULL), TL_BAD_ARG);
    tl_scene_destroy(scene);
    assert_false(help_exists("out"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_run_has_its_layout),
        TEST(obstacles_are_written_and_their_meshes_kept),
        TEST(resuming_gives_the_same_bytes),
        TEST(resuming_after_a_crash),
        TEST(meshes_travel_with_the_folder),
        TEST(what_was_changed_since_is_named),
        TEST(limits_that_handles_break_are_told_once),
        TEST(folders_that_are_refused),
        TEST(a_full_disk_loses_nothing),
        TEST(damaged_checkpoints),
        TEST(checkpoints_come_back),
        TEST(checking_a_folder),
        TEST(describing_files),
        TEST(statistics_are_cut_to_a_frame),
        TEST(frame_names),
        TEST(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
