// app/cmd_drape.c: `toile drape`: patterns and a body in, draped garments out.

#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "toile/drape.h"

typedef struct drape_options {
    const char *body, *units, *motion, *material, *quality, *out;
    double edge;
    int32_t frames, threads;
    bool json, quiet, verbose;
} drape_options;

static void say(void *user, tl_log_level level, const char *message)
{
    const drape_options *o = user;
    if (level == TL_LOG_WARNING) app_say("warning: %s", message);
    if (level != TL_LOG_WARNING && o->verbose) app_say("%s", message);
}

static int stopping(void *user)
{
    (void)user;
    return app_stopping();
}

static int drape(const app_command *self, int argc, char **argv, app_list *words)
{
    drape_options o = {.frames = -1, .threads = app_cores()};
    const app_option options[] = {
        {"body", 'b', APP_TEXT, &o.body, 0, 0, "FILE", "glTF, OBJ, PLY or STL (docs/bodies.md)"},
        {"units", 0, APP_TEXT, &o.units, 0, 0, "U", "of the body: auto, m, cm, mm, in, ft. Default auto"},
        {"material", 'm', APP_TEXT, &o.material, 0, 0, "NAME", "fabric of the library or a file. Default cotton"},
        {"motion", 0, APP_TEXT, &o.motion, 0, 0, "CLIP", "a clip of the body, or a .bvh file. Default: it stands"},
        {"quality", 0, APP_TEXT, &o.quality, 0, 0, "Q", "draft (2 cm), normal (1 cm), final (7 mm). Default normal"},
        {"edge", 0, APP_REAL, &o.edge, 2e-3, 0.1, "M", "edge length in metres in place of the quality's"},
        {"frames", 'n', APP_INT, &o.frames, 0, 1000000, "N", "of the motion. Default: all of the clip"},
        {"out", 'o', APP_TEXT, &o.out, 0, 0, "DIR", "where to"},
        {"threads", 'j', APP_INT, &o.threads, 1, 1024, "N", "changes no byte. Default: all cores"},
        {"verbose", 'v', APP_FLAG, &o.verbose, 0, 0, NULL, "what goes on, in detail"},
        {"quiet", 'q', APP_FLAG, &o.quiet, 0, 0, NULL, "no progress, no summary"},
        {"json", 0, APP_FLAG, &o.json, 0, 0, NULL, "the summary as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    tl_drape_def def = tl_drape_def_default();
    const tl_log log = {say, &o};
    def.patterns = words->item, def.pattern_count = words->count;
    def.body = o.body, def.body_units = o.units;
    if (o.material) def.material = o.material;
    def.clip = o.motion;
    def.edge = o.edge, def.frames = o.frames, def.out_dir = o.out, def.threads = o.threads;
    def.cancelled = stopping, def.log = &log;
    app_stop_on_signals(o.quiet);
    tl_drape_report r;
    tl_error err = {0};
    const tl_status status = tl_drape(&def, &r, &err);
    for (int32_t i = 0; i < r.count; i++) {
        const tl_drape_garment *g = &r.garment[i];
        printf("%s: %d panels, %d faces, start crossings %lld, gap %.3g -> %.3g m, strain %+.3g..%+.3g (99%% "
               "%+.3g..%+.3g), "
               "speed %.2g, crossings %lld, steps %d, pinched %d; sew %.1f grow %.1f settle %.1f refine %.1f s\n",
               g->name, g->panels, g->faces, (long long)g->crossings_start, g->gap_start, g->gap, g->strain_min,
               g->strain_max, g->strain_min_99, g->strain_max_99, g->speed, (long long)g->crossings, g->steps,
               g->pinched, g->seconds[0], g->seconds[1], g->seconds[2], g->seconds[3]);
    }
    if (status != TL_OK) return app_fail(self, o.json, app_exit_of(status, APP_INPUT), &err);
    return APP_OK;
}

int app_drape(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, drape); }
