// app/cmd_view.c: `toile view`: a window that plays recordings, runs scenes live and shows patterns.

#include <string.h>

#include "../viewer/viewer.h"
#include "app.h"
#include "toile/show.h"

enum { THREADS_MAX = 256 };

static int view(const app_command *self, int argc, char **argv, app_list *words)
{
    viewer_options o = {.threads = app_cores()};
    bool live = false, paused = false;
    const char **set_room = (const char *[64]){0};
    app_list sets = {set_room, 0};
    const char *size = NULL;
    if (argc > 60) return app_usage(self, "too many arguments");
    const app_option options[] = {
        {"live", 'l', APP_FLAG, &live, 0, 0, NULL, "run the scene of a recording instead of playing it"},
        {"paused", 'p', APP_FLAG, &paused, 0, 0, NULL, "wait for the space bar"},
        {"mode", 'm', APP_TEXT, &o.mode, 0, 0, "NAME",
         "first colour map: shaded, wire, mesh, strain, tension,\nvelocity, curvature, level, contact, intersections, "
         "stress, force.\nDefault shaded"},
        {"body", 0, APP_TEXT, &o.body, 0, 0, "FILE", "that a pattern is sewn around: a mesh or character"},
        {"set", 0, APP_MANY, &sets, 0, 0, "KEY=VALUE", "replaces a value of the scene, as for 'toile run'"},
        {"size", 0, APP_TEXT, &size, 0, 0, "WxH", "of the window. Default 1280x800"},
        {"threads", 'j', APP_INT, &o.threads, 1, THREADS_MAX, "N", "threads of the simulation. Default: all cores"},
        {"frames", 0, APP_INT, &o.frames, 1, 1e9, "N", "close the window after it was drawn so often"},
        {"screenshot", 0, APP_TEXT, &o.screenshot, 0, 0, "FILE.png", "write the last of these --frames"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count > 1) return app_usage(self, "give one run folder, scene, pattern, mesh or character");
    if (size && (sscanf(size, "%dx%d", &o.width, &o.height) != 2 || o.width < 64 || o.height < 64 || o.width > 16384 ||
                 o.height > 16384))
        return app_usage(self, "--size %s: WIDTHxHEIGHT, each from 64 to 16384", size);
    if (o.screenshot && !o.frames) return app_usage(self, "--screenshot needs --frames N: after how many it is taken");
    bool known = !o.mode;
    for (int32_t i = 0; o.mode && i < TL_SHOW_MODE_COUNT; i++)
        known = known || strcmp(o.mode, tl_show_mode_name(i)) == 0;
    if (!known) return app_usage(self, "--mode %s is not known", o.mode);
    o.source = words->count > 0 ? words->item[0] : NULL, o.live = live, o.paused = paused, o.sets = sets.item,
    o.set_count = sets.count;
    tl_error err = {0};
#ifdef TL_WITH_VIEWER
    if (viewer_run(&o, &err) != TL_OK) return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    return APP_OK;
#else
    err.status = TL_FAILED;
    snprintf(err.message, sizeof err.message,
             "this program was built without its window: install libglfw3-dev and libepoxy-dev and build again; "
             "`toile render` makes pictures and films without one");
    return app_fail(self, false, APP_FAILED, &err);
#endif
}

int app_view(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, view); }
