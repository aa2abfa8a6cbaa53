// app/cmd_fabrics.c: `toile fabrics`: what is in the library, in words a tailor would use, and pictures of each on a
// stand.

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "toile/render.h"
#include "toile/run.h"
#include "toile/scene.h"

// Bending length c = (B / (rho g))^(1/3): how far a strip reaches before it sags (Peirce 1930), mean of warp and weft
// [mm].
static double bending_length(const tl_material *m)
{
    const double b = 0.5 * (m->bend[0][0] + m->bend[2][0]);
    return 1e3 * cbrt(b / (m->density * 9.81));
}

static const char *feel(double length)
{
    return length < 14.5 ? "limp"
           : length < 19 ? "soft"
           : length < 24 ? "medium"
           : length < 40 ? "stiff"
                         : "like board";
}

typedef struct listing {
    bool json;
    int count;
    char (*names)[64];
    int cap;
} listing;

static int show(void *user, const tl_fabric_entry *e)
{
    listing *list = user;
    const tl_material *m = e->material;
    const double length = bending_length(m);
    if (list->count == list->cap) {
        const int cap = 2 * list->cap + 16;
        void *names = realloc(list->names, (size_t)cap * sizeof *list->names);
        if (!names) return 1;
        list->names = names, list->cap = cap;
    }
    snprintf(list->names[list->count], sizeof *list->names, "%s", e->name);
    if (list->json) {
        printf("%s\n  {\"name\": ", list->count ? "," : "");
        app_json_text(stdout, e->name);
        printf(", \"use\": "), app_json_text(stdout, e->use);
        printf(", \"file\": "), app_json_text(stdout, e->path);
        printf(", \"density\": "), app_json_real(stdout, m->density);
        printf(", \"stretch_warp\": "), app_json_real(stdout, m->stretch[0][0]);
        printf(", \"stretch_weft\": "), app_json_real(stdout, m->stretch[0][2]);
        printf(", \"bend_warp\": "), app_json_real(stdout, m->bend[2][0]);
        printf(", \"bend_weft\": "), app_json_real(stdout, m->bend[0][0]);
        printf(", \"bending_length\": "), app_json_real(stdout, 1e-3 * length);
        printf(", \"feel\": "), app_json_text(stdout, feel(length));
        printf("}");
    } else {
        if (list->count == 0)
            printf("%-18s %8s  %15s  %8s  %-10s  %s\n", "fabric", "weight", "stretch", "bending", "feel", "for"),
                printf("%-18s %8s  %15s  %8s\n", "", "g/m^2", "warp/weft N/m", "length");
        char warp[32], weft[32];
        printf("%-18s %8.0f  %7s/%7s  %5.0f mm  %-10s  %s\n", e->name, 1e3 * m->density,
               app_count(lround(m->stretch[0][0]), warp), app_count(lround(m->stretch[0][2]), weft), length,
               feel(length), e->use);
    }
    list->count++;
    return 0;
}

// Cusick's drape test: a disc of 30 cm on a round stand of 18 cm, here on a post so that it is seen to hang.
static const char STAND[] =
    "{\n"
    "  // A disc of %s on a round stand, as in the drape test of Cusick (1965).\n"
    "  \"name\": \"%s\", \"frames\": 50, \"fps\": 25,\n"
    "  \"cloths\": [{\"name\": \"disc\", \"mesh\": {\"disc\": {\"radius\": 0.15, \"edge\": 0.015}}, \"material\": "
    "\"%s\",\n"
    "              \"transform\": {\"rotate\": [-90, 1, 0, 0], \"translate\": [0, 0.301, 0]}}],\n"
    "  \"remeshing\": {\"size_min\": 0.008, \"size_max\": 0.03},\n"
    "  \"obstacles\": [{\"name\": \"stand\", \"cylinder\": {\"from\": [0, 0.28, 0], \"to\": [0, 0.3, 0], \"radius\": "
    "0.09}},\n"
    "                {\"name\": \"post\", \"cylinder\": {\"from\": [0, 0, 0], \"to\": [0, 0.27, 0], \"radius\": "
    "0.015}}],\n"
    "  \"camera\": {\"azimuth\": 20, \"elevation\": 22}\n"
    "}\n";

typedef struct drawing {
    const app_command *self;
    const char *dir;
    bool quiet;
} drawing;

static int stop_asked(void *user)
{
    (void)user;
    return app_stopping();
}

static tl_status draw(const drawing *d, const char *name, tl_error *err)
{
    char path[4096], out[4096], picture[4096];
    snprintf(path, sizeof path, "%s/%s.json", d->dir, name);
    snprintf(out, sizeof out, "%s/%s", d->dir, name);
    snprintf(picture, sizeof picture, "%s/%s.png", d->dir, name);
    FILE *file = fopen(path, "w");
    const bool written = file && fprintf(file, STAND, name, name, name) > 0;
    if ((file && fclose(file) != 0) || !written) {
        snprintf(err->message, sizeof err->message, "%.900s: cannot write", path);
        return err->status = TL_IO;
    }
    tl_scene *scene = NULL;
    tl_status status = tl_scene_load(path, NULL, 0, &scene, err);
    tl_run_def run = tl_run_def_default();
    run.out_dir = out, run.threads = app_cores(), run.fit_threads = 1, run.cancelled = stop_asked;
    if (status == TL_OK) status = tl_run(scene, &run, NULL, err);
    tl_scene_destroy(scene);
    tl_render_def render = tl_render_def_default();
    render.source = out, render.out = picture, render.first = 50, render.last = 50;
    render.width = 640, render.height = 480, render.threads = app_cores();
    if (status == TL_OK) status = tl_render_run(&render, NULL, err);
    if (status == TL_OK && !d->quiet) printf("%s\n", picture);
    return status;
}

static int fabrics(const app_command *self, int argc, char **argv, app_list *words)
{
    listing list = {0};
    drawing d = {.self = self};
    const app_option options[] = {
        {"pictures", 0, APP_TEXT, &d.dir, 0, 0, "DIR",
         "a picture DIR/NAME.png of each on a round stand; the scenes\nand their frames are kept there"},
        {"quiet", 'q', APP_FLAG, &d.quiet, 0, 0, NULL, "do not name the pictures"},
        {"json", 0, APP_FLAG, &list.json, 0, 0, NULL, "the list as JSON, in SI units"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    tl_error err = {0};
    if (list.json) printf("[");
    tl_status status = tl_fabrics_visit(show, &list, &err);
    if (list.json) printf("\n]\n");
    if (status == TL_OK && words->count > 0 && !d.dir) {
        free(list.names);
        return app_usage(self, "names are for --pictures DIR: which fabrics to draw");
    }
    if (status == TL_OK && d.dir) {
        app_stop_on_signals(d.quiet);
        mkdir(d.dir, 0777);
        for (int i = 0; i < list.count && status == TL_OK; i++) {
            bool wanted = words->count == 0;
            for (int32_t k = 0; k < words->count; k++) wanted = wanted || strcmp(words->item[k], list.names[i]) == 0;
            if (wanted) status = draw(&d, list.names[i], &err);
        }
    }
    free(list.names);
    if (status == TL_OK) return APP_OK;
    return app_fail(self, false, app_exit_of(status, APP_INPUT), &err);
}

int app_fabrics(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, fabrics); }
