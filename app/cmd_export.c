// app/cmd_export.c: `toile export`: the frames of a run as files of other programs.

#include "app.h"
#include "toile/export.h"

static int export_run(const app_command *self, int argc, char **argv, app_list *words)
{
    tl_export_def def = tl_export_def_default();
    bool quiet = false, json = false, z_up = false;
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &def.out, 0, 0, "FILE",
         ".glb, .pc2, .mdd, or .ply (one per frame: NAME.000012.ply). Required"},
        {"cloth", 0, APP_TEXT, &def.cloth, 0, 0, "NAME", "which cloth. Default: the only one"},
        {"first", 0, APP_INT, &def.first, 0, 1e9, "N", "first frame. Default 0"},
        {"last", 0, APP_INT, &def.last, 0, 1e9, "N", "last frame. Default: the last there is"},
        {"scale", 0, APP_REAL, &def.scale, 1e-6, 1e6, "X", "lengths times X; 100 for centimetres. Default 1"},
        {"refine", 0, APP_TEXT, &def.refine, 0, 0, "N[:SCHEME]",
         "finer, smooth frames by N levels, clear of everything (see\n'toile refine'). Default: as they are"},
        {"z-up", 0, APP_FLAG, &z_up, 0, 0, NULL, "z points up in the file instead of y"},
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "say nothing"},
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "the report as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one folder of a run");
    if (!def.out) return app_usage(self, "say where to write: -o FILE");
    def.dir = words->item[0], def.z_up = z_up;
    tl_error err = {0};
    tl_export_report r;
    if (tl_export(&def, &r, &err) != TL_OK) return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    if (json)
        printf("{\"command\": \"export\", \"exit_code\": 0, \"frames\": %d, \"nodes\": %d, \"faces\": %d, \"bytes\": "
               "%lld, "
               "\"fps\": %.17g}\n",
               r.frames, r.nodes, r.faces, (long long)r.bytes, r.fps);
    else if (!quiet)
        printf("%d frame%s of %d nodes, %.1f MB\nwritten:  %s\n", r.frames, r.frames == 1 ? "" : "s", r.nodes,
               1e-6 * (double)r.bytes, def.out);
    return APP_OK;
}

int app_export(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, export_run); }
