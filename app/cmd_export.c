// app/cmd_export.c: `toile export`: the frames of a run as files of other programs.

#include <string.h>

#include "app.h"
#include "toile/export.h"

static bool read_attributes(const char *text, uint32_t *out)
{
    *out = 0;
    if (strcmp(text, "all") == 0) {
        *out = (1u << TL_ATTRIBUTE_COUNT) - 1;
        return true;
    }
    for (const char *word = text; *word;) {
        const size_t n = strcspn(word, ",");
        int found = -1;
        for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) {
            const char *name = tl_attribute_name((tl_attribute)a);
            if (strlen(name) == n && strncmp(word, name, n) == 0) found = a;
        }
        if (found < 0) return false;
        *out |= 1u << found;
        word += n + (word[n] == ',');
    }
    return *out != 0;
}

static void print_report(const tl_export_def *def, const tl_export_report *r)
{
    printf("%d frame%s of %d nodes, %.1f MB\n", r->frames, r->frames == 1 ? "" : "s", r->nodes,
           1e-6 * (double)r->bytes);
    if (r->resampled)
        printf("resampled on the finest frame's mesh, halved %d time%s: error %.3g mm root mean square (%.2f %% of the "
               "mean "
               "edge), %.3g mm at most\n",
               r->halvings, r->halvings == 1 ? "" : "s", 1e3 * r->error_rms, 100 * r->error_rms / r->mean_edge,
               1e3 * r->error_max);
    if (r->resampled && r->error_rms > def->tolerance * r->mean_edge)
        app_say("the error is above the tolerance of %g %% of the mean edge (raise --halvings)", 100 * def->tolerance);
    printf("written:  %s\n", def->out);
}

static int export_run(const app_command *self, int argc, char **argv, app_list *words)
{
    tl_export_def def = tl_export_def_default();
    bool quiet = false, json = false, z_up = false, resample = false, bodies = false, stored = false, cm = false;
    const char *attributes = NULL;
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &def.out, 0, 0, "FILE",
         ".usda, .toile, .glb, .pc2, .mdd; .ply or .obj (one per\nframe: NAME.000012.ply). Required"},
        {"cloth", 0, APP_TEXT, &def.cloth, 0, 0, "NAME",
         "which cloth. Default: the only one; all of them in .usda, .toile"},
        {"first", 0, APP_INT, &def.first, 0, 1e9, "N", "first frame. Default 0"},
        {"last", 0, APP_INT, &def.last, 0, 1e9, "N", "last frame. Default: the last there is"},
        {"scale", 0, APP_REAL, &def.scale, 1e-6, 1e6, "X", "lengths times X. Default 1"},
        {"cm", 0, APP_FLAG, &cm, 0, 0, NULL, "centimetres: the same as --scale 100"},
        {"refine", 0, APP_TEXT, &def.refine, 0, 0, "N[:SCHEME]",
         "finer, smooth frames by N levels, clear of everything, or\nN[:SCHEME]+wrinkles (see 'toile refine'). "
         "Default: as they are"},
        {"z-up", 0, APP_FLAG, &z_up, 0, 0, NULL, "z points up in the file instead of y"},
        {"resample", 0, APP_FLAG, &resample, 0, 0, NULL,
         "one mesh for all frames of an adaptive run: the finest\nframe's, halved until the error is small"},
        {"tolerance", 0, APP_REAL, &def.tolerance, 1e-6, 1, "X",
         "of --resample: error over mean edge, both root mean\nsquare. Default 0.01"},
        {"halvings", 0, APP_INT, &def.most_halvings, 0, 4, "N", "of --resample: at most. Default 3"},
        {"attributes", 0, APP_TEXT, &attributes, 0, 0, "LIST",
         "strain,tension,contact,level or all: numbers of the nodes\n(.usda, .toile, .ply)"},
        {"bodies", 0, APP_FLAG, &bodies, 0, 0, NULL, "what the cloth collides with too (.usda, .toile)"},
        {"precision", 0, APP_REAL, &def.precision, 1e-9, 1, "M", "of positions in a .toile [m]. Default 1e-6"},
        {"stored", 0, APP_FLAG, &stored, 0, 0, NULL, "a .toile that is not packed"},
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "say nothing"},
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "the report as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one folder of a run, or a recording");
    if (!def.out) return app_usage(self, "say where to write: -o FILE");
    if (attributes && !read_attributes(attributes, &def.attributes))
        return app_usage(self, "--attributes %s: give some of strain,tension,contact,level, or all", attributes);
    if (cm && def.scale != 1) return app_usage(self, "--cm and --scale: give one of them");
    if (cm) def.scale = 100;
    def.dir = words->item[0], def.z_up = z_up, def.resample = resample, def.bodies = bodies, def.stored = stored;
    tl_error err = {0};
    tl_export_report r;
    if (tl_export(&def, &r, &err) != TL_OK) return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    if (json) {
        printf("{\"command\": \"export\", \"exit_code\": 0, \"frames\": %d, \"nodes\": %d, \"faces\": %d, \"bytes\": "
               "%lld, \"fps\": %.17g, \"cloths\": %d, \"bodies\": %d, \"resampled\": %s",
               r.frames, r.nodes, r.faces, (long long)r.bytes, r.fps, r.cloths, r.bodies,
               r.resampled ? "true" : "false");
        if (r.resampled)
            printf(", \"halvings\": %d, \"error_rms\": %.17g, \"error_max\": %.17g, \"mean_edge\": %.17g", r.halvings,
                   r.error_rms, r.error_max, r.mean_edge);
        printf("}\n");
    } else if (!quiet)
        print_report(&def, &r);
    return APP_OK;
}

int app_export(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, export_run); }
