// app/cmd_plot.c: `toile plot`: diagrams of a run's statistics.

#include "app.h"
#include "toile/render.h"

static void on_log(void *user, tl_log_level level, const char *message)
{
    (void)user;
    if (level >= TL_LOG_WARNING) app_say("warning: %s", message);
}

static int plot(const app_command *self, int argc, char **argv, app_list *words)
{
    tl_plot_def def = tl_plot_def_default();
    bool quiet = false, json = false;
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &def.out, 0, 0, "FILE", ".svg or .png"},
        {"width", 0, APP_INT, &def.width, 200, 8000, "N", "of the page in points. Default 860"},
        {"scale", 0, APP_REAL, &def.scale, 0.25, 8, "X", "pixels per point of a .png. Default 2"},
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "no summary"},
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "the summary as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one folder, the --out of a run");
    def.dir = words->item[0];
    if (!def.out) return app_usage(self, "say where to: -o FILE.svg or .png");
    const tl_log log = {on_log, NULL};
    def.log = &log;
    tl_error err = {0};
    tl_plot_report report;
    const tl_status status = tl_plot_run(&def, &report, &err);
    if (status != TL_OK)
        return app_fail(self, json, status == TL_BAD_ARG ? APP_USAGE : app_exit_of(status, APP_INPUT), &err);
    if (json) {
        printf("{\"command\": \"plot\", \"exit_code\": 0, \"written\": ");
        app_json_text(stdout, def.out);
        printf(", \"frames\": %d, \"damaged_lines\": %d, \"charts\": %d}\n", report.frames, report.damaged,
               report.charts);
    } else if (!quiet) {
        printf("%s: %d diagrams of %d frames\n", def.out, report.charts, report.frames);
    }
    return APP_OK;
}

int app_plot(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, plot); }
