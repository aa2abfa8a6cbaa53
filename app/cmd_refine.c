// app/cmd_refine.c: `toile refine`: finer, smooth surfaces of finished frames that still touch nothing.

#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "toile/refine.h"

enum { THREADS_MAX = 256, LARGEST_MAP = 8192, MOST_TEXTURES = 16 };
#define FEWEST_NODES 4  // of a wave, below which it looks ragged

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

static void print_wrinkles_json(const tl_refine_report *r)
{
    printf(", \"wrinkles\": {\"highest\": %.17g, \"change\": %.17g, \"wavelength\": [%.17g, %.17g], "
           "\"nodes_per_wave\": %.6g, \"cut\": %lld, \"held_back\": %lld, \"map_overlaps\": %lld, "
           "\"coefficient_seconds\": %.6g, \"move_seconds\": %.6g, \"map_seconds\": %.6g}",
           r->highest, r->change, r->shortest, r->longest_wave, r->nodes_per_wave, (long long)r->cut_folds,
           (long long)r->held_back, (long long)r->map_overlaps, r->wrinkle_seconds, r->fold_move_seconds,
           r->map_seconds);
}

static void print_wrinkles(const tl_refine_report *r)
{
    const double per_frame = r->frames > 0 ? 1e3 / r->frames : 0;
    printf("wrinkles: wavelength %.1f", 1e3 * r->shortest);
    if (r->longest_wave > r->shortest) printf(" to %.1f", 1e3 * r->longest_wave);
    printf(" mm, up to %.2f mm high, changed by at most %.2f mm from frame to frame,\n          %lld nodes cut short, "
           "%.1f nodes to a wave, heights %.1f, move %.1f, maps %.1f ms a frame\n",
           1e3 * r->highest, 1e3 * r->change, (long long)r->cut_folds, r->nodes_per_wave,
           per_frame * r->wrinkle_seconds, per_frame * r->fold_move_seconds, per_frame * r->map_seconds);
    if (r->nodes_per_wave > 0 && r->nodes_per_wave < FEWEST_NODES)
        printf("          too few nodes for smooth folds: give more --levels, or --adaptive 0.2, or a longer "
               "--wavelength\n");
    if (r->map_overlaps > 0)
        printf("          panels lie on each other in material space: maps show the first (%lld texels)\n",
               (long long)r->map_overlaps);
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

static void print_report(const tl_refine_report *r, bool folds, const char *out)
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
    if (folds) print_wrinkles(r);
    printf("written:  %s\n", out);
}

static bool find_folds(const char *word, tl_refine_folds *out)
{
    for (int i = 0; i < TL_REFINE_FOLDS; i++) {
        const char *name = tl_refine_folds_name((tl_refine_folds)i);
        if (name && strcmp(word, name) == 0) return *out = (tl_refine_folds)i, true;
    }
    return false;
}

typedef struct refine_options {
    tl_refine_def def;
    const char *scheme, *folds;
    const char *bulge, *eye;
    bool creases, loop_mask, quiet, json, bump, uniform;
    double gap_mm, wave_mm, rate_mm, adaptive_mm, amplitude_mm;
    int32_t seed;
} refine_options;

// "A,B,.." into `count` numbers.
static bool read_numbers(const char *text, double *out, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        out[i] = strtod(text, &end);
        if (end == text || *end != (i + 1 < count ? ',' : 0)) return false;
        text = end + 1;
    }
    return true;
}

static int finish_curve(const app_command *self, refine_options *o)
{
    static const char *const names[] = {"flat", "constant", "linear", "quadratic", "cubic"};  // Simnett 2012, Fig. 6.7
    tl_refine_curve *c = &o->def.curve;
    if (o->def.scheme != TL_REFINE_CURVED) {
        if (o->bulge || o->eye || o->uniform)
            return app_usage(self, "--bulge, --eye and --uniform are for curved edges: give --scheme curved");
        return APP_OK;
    }
    c->uniform = o->uniform;
    bool known = !o->bulge;
    for (int i = 0; o->bulge && i < 5 && !known; i++) {
        if (strcmp(o->bulge, names[i]) != 0) continue;
        known = true;
        for (int k = 0; k < 4; k++) c->bulge[k] = k + 1 == i;
    }
    if (!known && !read_numbers(o->bulge, c->bulge, 4))
        return app_usage(self, "--bulge %s, must be flat, constant, linear, quadratic, cubic or K0,K1,K2,K3", o->bulge);
    double eye[3] = {0, 0, 0};
    if (o->eye && !read_numbers(o->eye, eye, 3)) return app_usage(self, "--eye %s, must be X,Y,Z in m", o->eye);
    if (o->eye) c->cull = 1, c->eye = (tl_vec3){eye[0], eye[1], eye[2]};
    return APP_OK;
}

static int finish(const app_command *self, refine_options *o)
{
    tl_refine_def *def = &o->def;
    def->gap = 1e-3 * o->gap_mm, def->crease_seams = o->creases, def->loop_vertex_mask = o->loop_mask;
    tl_refine_wrinkles *w = &def->wrinkle;
    w->wavelength = 1e-3 * o->wave_mm, w->rate = 1e-3 * o->rate_mm, w->adaptive = 1e-3 * o->adaptive_mm;
    w->amplitude = 1e-3 * o->amplitude_mm, w->keep_plain = o->bump, w->seed = (uint32_t)o->seed;
    if (!find_scheme(o->scheme, &def->scheme))
        return app_usage(self, "--scheme %s is not known: modified-loop, loop, butterfly or curved", o->scheme);
    const int code = finish_curve(self, o);
    if (code != APP_OK) return code;
    if (o->folds && !find_folds(o->folds, &w->folds))
        return app_usage(self, "--wrinkles %s is not known: directional or paper", o->folds);
    if (!o->folds && (w->maps > 0 || w->adaptive > 0 || o->bump))
        return app_usage(self, "--maps, --bump and --adaptive are for wrinkles: give --wrinkles directional");
    if (o->bump && w->maps == 0) return app_usage(self, "--bump leaves the wrinkles to maps: give --maps 256 too");
    if (!o->quiet && !o->json) def->progress = show_progress;
    tl_error err = {0};
    tl_refine_report r;
    if (tl_refine(def, &r, &err) != TL_OK) return app_fail(self, o->json, app_exit_of(err.status, APP_INPUT), &err);
    if (o->json) {
        printf("{\"frames\": %d, \"faces_in\": %lld, \"faces_out\": %lld, \"corrected\": %lld, \"stopped\": %lld, "
               "\"most_searches\": %d, \"longest\": %.17g, \"seconds\": %.6g, \"levels\": [",
               r.frames, (long long)r.faces_in, (long long)r.faces_out, (long long)r.corrected, (long long)r.stopped,
               r.most_searches, r.longest, r.seconds);
        print_levels_json(&r);
        printf("]");
        if (o->folds) print_wrinkles_json(&r);
        printf("}\n");
    } else if (!o->quiet) {
        print_report(&r, o->folds != NULL, def->out);
    }
    return APP_OK;
}

static int refine(const app_command *self, int argc, char **argv, app_list *words)
{
    refine_options o = {.def = tl_refine_def_default(), .scheme = "modified-loop"};
    tl_refine_def *def = &o.def;
    tl_refine_wrinkles *w = &def->wrinkle;
    def->threads = app_cores();
    o.gap_mm = 1e3 * def->gap, o.rate_mm = 1e3 * w->rate, o.amplitude_mm = 1e3 * w->amplitude,
    o.seed = (int32_t)w->seed;
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &def->out, 0, 0, "OUT", "folder (or OBJ file, for an OBJ file) to write. Required"},
        {"scheme", 0, APP_TEXT, &o.scheme, 0, 0, "NAME",
         "modified-loop (smooth, bounded curvature), loop, butterfly\n(through the given nodes), or curved (curved "
         "edges, finer only\nwhere it bends). Default modified-loop"},
        {"levels", 'l', APP_INT, &def->levels, 0, TL_REFINE_LEVELS_MAX, "N", "each makes four faces of one. Default 2"},
        {"gap", 0, APP_REAL, &o.gap_mm, 1e-6, 999, "MM",
         "distance that is kept to obstacles and between layers, in mm.\nDefault 0.2"},
        {"bulge", 0, APP_TEXT, &o.bulge, 0, 0, "K",
         "curved: how edges bulge where cloth is pushed together: flat,\nconstant, linear, quadratic, cubic, or four "
         "numbers K0,K1,K2,K3.\nDefault 0,0.55,0.55,0.2"},
        {"uniform", 0, APP_FLAG, &o.uniform, 0, 0, NULL, "curved: all edges to the last level"},
        {"eye", 0, APP_TEXT, &o.eye, 0, 0, "X,Y,Z", "curved: coarse where it faces away from here"},
        {"loop-vertex-mask", 0, APP_FLAG, &o.loop_mask, 0, 0, NULL,
         "modified Loop with Loop's mask for old nodes, as published;\ncurvature is then not bounded at some of them"},
        {"crease-seams", 0, APP_FLAG, &o.creases, 0, 0, NULL, "seams stay as sharp as they are"},
        {"wrinkles", 'w', APP_TEXT, &o.folds, 0, 0, "KIND",
         "folds where the mesh is compressed: directional (across the\ncompression, none at rest) or paper (heights "
         "that keep the area,\nas published). Needs material coordinates in metres. Default: none"},
        {"wavelength", 0, APP_REAL, &o.wave_mm, 0, 9999, "MM", "of wrinkles. Default: from the fabric of the run"},
        {"strength", 0, APP_REAL, &w->strength, 0, 100, "X", "factor of the height of wrinkles. Default 1"},
        {"onset", 0, APP_REAL, &w->onset, 0, 0.999, "X", "compression that makes no wrinkles yet. Default 0.002"},
        {"rate", 0, APP_REAL, &o.rate_mm, 0, 9999, "MM",
         "most that a wrinkle grows or shrinks from one frame to the\nnext, in mm; 0: no bound. Default 1"},
        {"variation", 0, APP_REAL, &w->variation, 0, 100, "X",
         "how much wrinkles wander; 0: straight and parallel. Default 5"},
        {"persistence", 0, APP_REAL, &w->persistence, 0, 1, "X", "how ragged they are. Default 0.35"},
        {"textures", 0, APP_INT, &w->textures, 2, MOST_TEXTURES, "N", "directions that wrinkles can have. Default 6"},
        {"zone", 0, APP_REAL, &w->zone, 1e-3, 1, "X", "where two directions are blended, 0.001 to 1. Default 0.3"},
        {"amplitude", 0, APP_REAL, &o.amplitude_mm, 1e-3, 999, "MM", "height at rest, paper alone. Default 4"},
        {"seed", 0, APP_INT, &o.seed, 0, 2147483647, "N", "of the wandering. Default 1"},
        {"adaptive", 0, APP_REAL, &o.adaptive_mm, 0, 999, "MM",
         "split faces beyond the levels, only where wrinkles need it to\nbe right by so much. Default: not"},
        {"maps", 0, APP_INT, &w->maps, 0, LARGEST_MAP, "N",
         "also height and normal maps of N x N texels, 16-bit PNG, in\nOUT/wrinkles; 256 are enough. Default: none"},
        {"bump", 0, APP_FLAG, &o.bump, 0, 0, NULL, "maps alone: the surface itself gets no wrinkles"},
        {"first", 0, APP_INT, &def->first, 0, 1e9, "N", "first frame. Default 0"},
        {"last", 0, APP_INT, &def->last, 0, 1e9, "N", "last frame. Default: the last there is"},
        {"threads", 'j', APP_INT, &def->threads, 1, THREADS_MAX, "N",
         "threads to use; changes no result. Default: all cores"},
        {"quiet", 'q', APP_FLAG, &o.quiet, 0, 0, NULL, "say nothing"},
        {"json", 0, APP_FLAG, &o.json, 0, 0, NULL, "the report as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one folder of a run, or one OBJ file");
    if (!def->out) return app_usage(self, "say where to write: -o OUT");
    def->source = words->item[0];
    return finish(self, &o);
}

int app_refine(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, refine); }
