// app/check.c: `toile check`: looks at every frame of a run and says what is wrong with it.

#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "toile/run.h"

static const double STRAIN_LIMIT_MAX = 1e6;  // beyond any meaning; keeps typing errors out
enum { THREADS_MAX = 256 };

static void print_text(void *user, const char *text) { (void)user, fputs(text, stdout); }

// --json may stand alone (the report goes to stdout) or be followed by a file. So the table calls it a flag,
// "--json=FILE" is cut in two here, and the word after it is the file if there is another word for the folder.
static char **split_json(int argc, char **argv, int *count, const char **after)
{
    char **out = calloc(2 * (size_t)argc + 1, sizeof *out);
    *count = 0;
    for (int i = 0; out && i < argc; i++) {
        const bool joined = strncmp(argv[i], "--json=", 7) == 0;
        if (joined || strcmp(argv[i], "--json") == 0) *after = joined ? argv[i] + 7 : i + 1 < argc ? argv[i + 1] : NULL;
        static char json[] = "--json";
        out[(*count)++] = joined ? json : argv[i];
        if (joined) out[(*count)++] = argv[i] + 7;
    }
    return out;
}

static void print_summary(const tl_check_report *r, const char *overlay)
{
    const struct {
        const char *one, *many, *rest;
        int64_t count;
    } kinds[] = {
        {"frame", "frames", "missing", r->missing_frames},
        {"file", "files", "of obstacles missing", r->missing_obstacles},
        {"file", "files", "unreadable", r->unreadable},
        {"value", "values", "not finite", r->not_finite},
        {"face", "faces", "degenerate", r->degenerate},
        {"face", "faces", "inverted in material space", r->inverted},
        {"face", "faces", "over the strain limit", r->over_strain},
        {"face", "faces", "crushed to a fifth or drawn to twice their size", r->absurd_faces},
        {"cloth", "cloths", "(per frame) with more than 1 % of their area beyond 50 % of strain", r->absurd_cloths},
        {"crossing", "crossings", "of cloth with cloth", r->cloth_cloth},
        {"crossing", "crossings", "of cloth with obstacles", r->cloth_body},
        {"node", "nodes", "pinched: bodies or handles leave no room", r->pinched_nodes},
        {"crossing", "crossings", "at pinched nodes", r->pinched},
    };
    char faces[32];
    printf("%d frame%s, %d cloth%s, %d obstacle%s, %s faces looked at, strain %+.2f %% to %+.2f %%, 99 %% of the "
           "area within %+.2f %% to %+.2f %%\n",
           r->frames, r->frames == 1 ? "" : "s", r->cloths, r->cloths == 1 ? "" : "s", r->obstacles,
           r->obstacles == 1 ? "" : "s", app_count(r->faces, faces), 100 * r->strain_min, 100 * r->strain_max,
           100 * r->strain_min_99, 100 * r->strain_max_99);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].count > 0)
            printf("%s %s %s\n", app_count(kinds[i].count, faces), kinds[i].count == 1 ? kinds[i].one : kinds[i].many,
                   kinds[i].rest);
    if (r->findings > 0)
        printf("found %lld, the first: %s\n", (long long)r->findings, r->first);
    else
        printf("nothing wrong found\n");
    if (overlay && (r->findings > 0 || r->pinched > 0)) printf("in colour:  %s\n", overlay);
}

int app_check(const app_command *self, int argc, char **argv)
{
    tl_check_def def = tl_check_def_default();
    bool json = false, quiet = false, allow_pinched = false;
    def.threads = app_cores();
    const app_option options[] = {
        {"strain", 0, APP_REAL, &def.strain_limit, 0, STRAIN_LIMIT_MAX, "LIMIT",
         "also count faces strained by more than this fraction,\n0.1 is 10 %, and the 0.1 % that a run may be "
         "off.\nDefault 0: the limits of the scene, if any"},
        {"strain-limit", 0, APP_REAL, &def.strain_limit, 0, STRAIN_LIMIT_MAX, "X", NULL},
        {"overlay", 0, APP_TEXT, &def.overlay_dir, 0, 0, "OUT",
         "write OUT/NNNNNN.obj with the faces concerned in colour\nfor every frame with findings"},
        {"threads", 'j', APP_INT, &def.threads, 1, THREADS_MAX, "N",
         "threads to use; changes no result. Default: all cores"},
        {"allow-pinched", 0, APP_FLAG, &allow_pinched, 0, 0, NULL,
         "cloth that bodies or handles leave no room is told, but is no finding"},
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "the exit code alone"},
        {"json", 0, APP_FLAG, &json, 0, 0, "[FILE]",
         "the report as JSON, frame by frame, into FILE;\nwithout FILE (or with -) on stdout, and nothing else"},
    };
    const char *after = NULL, *dir = NULL, *file = NULL;
    app_list words = {0};
    int code, count;
    char **args = split_json(argc, argv, &count, &after);
    words.item = calloc(2 * (size_t)argc + 1, sizeof *words.item);
    if (!args || !words.item) {
        free(args), free(words.item);
        return app_fail(self, false, APP_FAILED, &(tl_error){TL_NO_MEMORY, "out of memory"});
    }
    const bool go_on = app_parse(self, options, sizeof options / sizeof *options, count, args, &words, &code);
    for (int32_t i = 0; i < words.count; i++) {
        if (json && words.count == 2 && !file && words.item[i] == after)
            file = after;
        else
            dir = words.item[i];
    }
    const int32_t dirs = words.count - (file != NULL);
    free(args), free(words.item);
    if (!go_on) return code;
    if (dirs != 1) return app_usage(self, "give one folder, the --out of a run");

    tl_error err = {0};
    tl_check_report r = {0};
    const bool to_stdout = json && (!file || strcmp(file, "-") == 0);
    def.dir = dir, def.allow_pinched = allow_pinched;
    if (to_stdout)
        def.write = print_text;
    else
        def.json_path = file;
    if (tl_check(&def, &r, &err) != TL_OK) return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    if (!to_stdout && !quiet) print_summary(&r, def.overlay_dir);
    return r.findings > 0 ? APP_FINDING : APP_OK;
}
