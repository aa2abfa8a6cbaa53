// app/cmd_refine.c: `toile refine`: finer, smooth surfaces of finished frames that still touch nothing.

#include <string.h>

#include "app.h"
#include "toile/refine.h"

enum { THREADS_MAX = 256 };

static void show_progress(void *user, int32_t done, int32_t count)
{
    (void)user;
    if (done == count || done % 10 == 0)
        fprintf(stderr, "\rrefined %d of %d frames%s", done, count, done == count ? "\n" : "");
}

static bool find_scheme(const char *word, tl_refine_scheme *out)
{
    for (int i = 0; i < TL_REFINE_SCHEMES; i++)
        if (strcmp(word, tl_refine_scheme_name((tl_refine_scheme)i)) == 0) return *out = (tl_refine_scheme)i, true;
    return false;
}

static void print_levels_json(const tl_refine_report *r)
{
    for (int32_t i = 0; i < r->levels; i++) {
        const tl_refine_level *l = &r->level[i];
        printf("%s{\"nodes\": %lld, \"faces\": %lld, \"longest\": %.17g, \"close_pairs\": %lld, \"corrected\": %lld, "
               "\"stopped\": %lld, \"most_searches\": %d, \"mask_seconds\": %.6g, \"tree_seconds\": %.6g, "
               "\"test_seconds\": %.6g}",
               i ? ", " : "", (long long)l->nodes, (long long)l->faces, l->longest, (long long)l->close_pairs,
               (long long)l->corrected, (long long)l->stopped, l->most_searches, l->mask_seconds, l->tree_seconds,
               l->test_seconds);
    }
}

static void print_report(const tl_refine_report *r, const char *out)
{
    printf("%d frame%s, %lld faces to %lld, nodes moved by %.1f mm at most, %lld cut short, %.1f s\n", r->frames,
           r->frames == 1 ? "" : "s", (long long)r->faces_in, (long long)r->faces_out, 1e3 * r->longest,
           (long long)r->corrected, r->seconds);
    const double per_frame = r->frames > 0 ? 1.0 / r->frames : 0;
    for (int32_t i = 0; i < r->levels; i++) {
        const tl_refine_level *l = &r->level[i];
        printf(
            "level %d:  %.0f nodes, %.0f faces a frame, moved by %.2f mm at most, %.0f close pairs, %.1f "
            "nodes "
            "cut short,\n          masks %.1f, hierarchy %.1f, continuous test %.1f ms a frame, at most %d searches\n",
            i + 1, (double)l->nodes * per_frame, (double)l->faces * per_frame, 1e3 * l->longest,
            (double)l->close_pairs * per_frame, (double)l->corrected * per_frame, 1e3 * l->mask_seconds * per_frame,
            1e3 * l->tree_seconds * per_frame, 1e3 * l->test_seconds * per_frame, l->most_searches);
    }
    printf("written:  %s\n", out);
}

static int refine(const app_command *self, int argc, char **argv, app_list *words)
{
    tl_refine_def def = tl_refine_def_default();
    const char *scheme = "modified-loop";
    bool creases = false, loop_mask = false, quiet = false, json = false;
    def.threads = app_cores();
    double gap_mm = 1e3 * def.gap;
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &def.out, 0, 0, "OUT", "folder (or OBJ file, for an OBJ file) to write. Required"},
        {"scheme", 0, APP_TEXT, &scheme, 0, 0, "NAME",
         "modified-loop (smooth, bounded curvature), loop, or butterfly\n(through the given nodes). Default "
         "modified-loop"},
        {"levels", 'l', APP_INT, &def.levels, 0, TL_REFINE_LEVELS_MAX, "N", "each makes four faces of one. Default 2"},
        {"gap", 0, APP_REAL, &gap_mm, 1e-6, 999, "MM",
         "distance that is kept to obstacles and between layers, in mm.\nDefault 0.2"},
        {"loop-vertex-mask", 0, APP_FLAG, &loop_mask, 0, 0, NULL,
         "modified Loop with Loop's mask for old nodes, as published;\ncurvature is then not bounded at some of them"},
        {"crease-seams", 0, APP_FLAG, &creases, 0, 0, NULL, "seams stay as sharp as they are"},
        {"first", 0, APP_INT, &def.first, 0, 1e9, "N", "first frame. Default 0"},
        {"last", 0, APP_INT, &def.last, 0, 1e9, "N", "last frame. Default: the last there is"},
        {"threads", 'j', APP_INT, &def.threads, 1, THREADS_MAX, "N",
         "threads to use; changes no result. Default: all cores"},
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "say nothing"},
        {"json", 0, APP_FLAG, &json, 0, 0, NULL, "the report as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one folder of a run, or one OBJ file");
    if (!def.out) return app_usage(self, "say where to write: -o OUT");
    if (!find_scheme(scheme, &def.scheme))
        return app_usage(self, "--scheme %s is not known: modified-loop, loop or butterfly", scheme);
    def.source = words->item[0], def.gap = 1e-3 * gap_mm, def.crease_seams = creases;
    def.loop_vertex_mask = loop_mask;
    if (!quiet && !json) def.progress = show_progress;
    tl_error err = {0};
    tl_refine_report r;
    if (tl_refine(&def, &r, &err) != TL_OK) return app_fail(self, json, app_exit_of(err.status, APP_INPUT), &err);
    if (json) {
        printf("{\"frames\": %d, \"faces_in\": %lld, \"faces_out\": %lld, \"corrected\": %lld, \"stopped\": %lld, "
               "\"most_searches\": %d, \"longest\": %.17g, \"seconds\": %.6g, \"levels\": [",
               r.frames, (long long)r.faces_in, (long long)r.faces_out, (long long)r.corrected, (long long)r.stopped,
               r.most_searches, r.longest, r.seconds);
        print_levels_json(&r);
        printf("]}\n");
    } else if (!quiet) {
        print_report(&r, def.out);
    }
    return APP_OK;
}

int app_refine(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, refine); }
