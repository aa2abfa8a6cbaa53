// app/info.c: `toile info`: what a scene, fabric, pattern, mesh, checkpoint or run folder holds.

#include "app.h"
#include "toile/pattern.h"
#include "toile/run.h"

static void to_stdout(void *user, const char *text)
{
    (void)user;
    fputs(text, stdout);
}

static int info(const app_command *self, int argc, char **argv, app_list *words)
{
    bool json = false;
    const char *svg = NULL;
    const app_option options[] = {
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "one JSON object on stdout"},
        {"svg", 0, APP_TEXT, &svg, 0, 0, "FILE", "draw a pattern as well: outlines, seams, notches, grain, names"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one file or folder");

    if (app_same_file(svg, words->item[0]))
        return app_usage(self, "--svg %s would overwrite what it is drawn from: give another name", svg);
    tl_error err = {0};
    tl_pattern *pattern = NULL;
    if (svg && tl_pattern_load(words->item[0], &pattern, &err) != TL_OK)
        return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    const bool drawn = !svg || tl_pattern_draw(pattern, svg, &err) == TL_OK;
    tl_pattern_destroy(pattern);
    if (!drawn) return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    if (tl_info(words->item[0], json, to_stdout, NULL, &err) != TL_OK)
        return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    return APP_OK;
}

int app_info(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, info); }
