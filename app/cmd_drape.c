// app/cmd_drape.c: `toile drape`: patterns and a body in, draped garments out; one, several layers, or a folder of
// them.

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"
#include "toile/drape.h"
#include "toile/pattern.h"

typedef struct drape_options {
    const char *body, *beside, *units, *up, *motion, *material, *quality, *out;
    double edge, motion_fps;
    int32_t frames, threads;
    bool json, quiet, verbose, no_fit, no_hold, place;
    app_list holds, elastics, measures, bones;
    // progress
    bool terminal, on_screen;
    int32_t garment;
    int stage, percent;
    double since;
    const tl_drape_def *def;
} drape_options;

static void clear_line(drape_options *o)
{
    if (o->on_screen) fputs("\r\x1b[K", stderr);
    o->on_screen = false;
}

static void say(void *user, tl_log_level level, const char *message)
{
    drape_options *o = user;
    if (level != TL_LOG_WARNING && !o->verbose) return;
    clear_line(o);
    if (level == TL_LOG_WARNING)
        app_say("warning: %s", message);
    else
        app_say("%s", message);
}

static int stopping(void *user)
{
    (void)user;
    return app_stopping();
}

// One line per stage; on a terminal it counts, and says how long the stage will take.
static void progress(void *user, int32_t garment, tl_drape_stage stage, double part)
{
    drape_options *o = user;
    if (o->quiet || o->json) return;
    const bool fresh = garment != o->garment || (int)stage != o->stage;
    if (fresh) o->since = app_now(), o->percent = -1;
    o->garment = garment, o->stage = (int)stage;
    const int percent = (int)(100 * part);
    if (percent == o->percent || (!o->terminal && !fresh)) return;
    o->percent = percent;
    char left[32] = "";
    const double spent = app_now() - o->since;
    if (part > 0.05) app_clock(spent * (1 - part) / part, left);
    if (o->terminal)
        fprintf(stderr, "\r\x1b[K%-7s %3d%%%s%s  %s", tl_drape_stage_name(stage), percent, *left ? "  left " : "", left,
                o->def->patterns[garment]);
    else
        fprintf(stderr, "%-7s %s\n", tl_drape_stage_name(stage), o->def->patterns[garment]);
    o->on_screen = o->terminal;
}

// ---- what came of it --------------------------------------------------------------------------------------------

static void print_garment(const tl_drape_garment *g)
{
    printf("%s: %d panels, %d seams, %d faces; strain %+.1f to %+.1f %% (all but 1 %% of the area %+.1f to %+.1f), "
           "%lld crossings, %s\n",
           g->name, g->panels, g->seams, g->faces, 100 * g->strain_min, 100 * g->strain_max, 100 * g->strain_min_99,
           100 * g->strain_max_99, (long long)g->crossings, g->rested ? "at rest" : "not at rest");
    if (g->held > 0) printf("  %d nodes held by the body, which carry %.2g N\n", g->held, g->hold_force);
    if (*g->fault) printf("  look at it: %s\n", g->fault);
}

static void print_json(const drape_options *o, const tl_drape_report *r, int code)
{
    printf("{\"command\": \"drape\", \"exit_code\": %d, \"out\": ", code);
    app_json_text(stdout, o->out);
    printf(", \"seconds\": %.3f, \"resumed_stages\": %d, \"garments\": [", r->seconds, r->resumed);
    for (int32_t i = 0; i < r->count; i++) {
        const tl_drape_garment *g = &r->garment[i];
        printf("%s{\"name\": ", i ? ", " : "");
        app_json_text(stdout, g->name);
        printf(", \"faces\": %d, \"crossings_start\": %lld, \"crossings\": %lld, \"gap\": ", g->faces,
               (long long)g->crossings_start, (long long)g->crossings);
        app_json_real(stdout, g->gap);
        printf(", \"strain\": [%.6g, %.6g], \"strain_99\": [%.6g, %.6g], \"speed\": %.6g, \"rested\": %s, "
               "\"pinched\": %d, \"held\": %d, \"hold_force\": %.6g, \"steps\": %d, \"seconds\": {",
               g->strain_min, g->strain_max, g->strain_min_99, g->strain_max_99, g->speed, g->rested ? "true" : "false",
               g->pinched, g->held, g->hold_force, g->steps);
        for (int s = 0; s < TL_DRAPE_RUN; s++)
            printf("%s\"%s\": %.3f", s ? ", " : "", tl_drape_stage_name((tl_drape_stage)s), g->seconds[s]);
        printf("}, \"fault\": ");
        app_json_text(stdout, g->fault);
        printf("}");
    }
    printf("], \"frames\": %d, \"run_intersections\": %lld, \"run_pinched\": %lld}\n", r->ran ? r->run.last_frame : -1,
           (long long)r->run.intersections, (long long)r->run.pinched);
}

static bool any_fault(const tl_drape_report *r)
{
    for (int32_t i = 0; i < r->count; i++)
        if (*r->garment[i].fault) return true;
    return r->run.intersections > 0;
}

static int drape_one(const app_command *self, drape_options *o, tl_drape_def *def, tl_drape_report *r, tl_error *err)
{
    o->garment = -1, o->def = def;
    const tl_status status = tl_drape(def, r, err);
    clear_line(o);
    if (status != TL_OK) return app_fail(self, o->json, app_exit_of(status, APP_INPUT), err);
    const int code = any_fault(r) ? APP_FINDING : APP_OK;
    if (o->json) print_json(o, r, code);
    if (o->json || o->quiet) return code;
    for (int32_t i = 0; i < r->count; i++) print_garment(&r->garment[i]);
    if (r->run.last_frame > 0)
        printf("%d frames, %lld crossings in them, at most %lld nodes pinched\n", r->run.last_frame + 1,
               (long long)r->run.intersections, (long long)r->run.pinched);
    printf("%s: %.1f s; draw it with '%s render %s -o picture.png'\n", def->out_dir, r->seconds, app_program,
           def->out_dir);
    return code;
}

// ---- a folder of patterns ---------------------------------------------------------------------------------------

typedef struct folder {
    char **path;
    int32_t count;
} folder;

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool list_patterns(const char *dir, folder *out)
{
    DIR *d = opendir(dir);
    if (!d) return false;
    for (struct dirent *entry; (entry = readdir(d));) {
        const size_t n = strlen(entry->d_name), room = strlen(dir) + n + 2;
        if (n < 6 || strcmp(entry->d_name + n - 5, ".json") != 0) continue;
        char *path = malloc(room);
        char **more = path ? realloc(out->path, ((size_t)out->count + 1) * sizeof *more) : NULL;
        if (more) out->path = more;
        if (path) snprintf(path, room, "%s/%s", dir, entry->d_name);
        if (more && tl_pattern_is(path))
            out->path[out->count++] = path;
        else
            free(path);
    }
    closedir(d);
    if (out->count > 1) qsort(out->path, (size_t)out->count, sizeof *out->path, by_name);
    return true;
}

static void folder_of(const char *out, const char *path, char *text, size_t size)
{
    const char *name = strrchr(path, '/');
    snprintf(text, size, "%s/%s", out, name ? name + 1 : path);
    char *end = strrchr(text, '.');
    if (end) *end = 0;
}

// Each by itself into its own folder; one that fails does not stop the others.
static int drape_folder(const app_command *self, drape_options *o, tl_drape_def *def, const char *dir)
{
    folder f = {NULL, 0};
    if (!list_patterns(dir, &f) || f.count == 0) {
        free(f.path);
        return app_usage(self, "%s holds no patterns (.json)", dir);
    }
    int worst = APP_OK;
    int32_t fine = 0, done = 0;
    char *lines = calloc((size_t)f.count, 700);
    for (int32_t i = 0; i < f.count && lines && !app_stopping(); i++, done++) {
        char out[4096];
        const char *one = f.path[i];
        tl_drape_report r = {0};
        tl_error err = {0};
        folder_of(o->out, f.path[i], out, sizeof out);
        def->patterns = &one, def->pattern_count = 1, def->out_dir = out;
        const int code = drape_one(self, o, def, &r, &err);
        fine += code == APP_OK;
        if (code != APP_OK && worst != APP_FAILED) worst = code == APP_FINDING ? APP_FINDING : APP_FAILED;
        const char *name = strrchr(one, '/');
        snprintf(lines + 700 * i, 700, "%-8s %7d faces %7.1f s  %s%s%.500s",
                 code == APP_OK        ? "fine"
                 : code == APP_FINDING ? "look"
                                       : "failed",
                 r.garment[0].faces, r.seconds, name ? name + 1 : one, code == APP_OK ? "" : ": ",
                 code == APP_FINDING ? r.garment[0].fault : err.message);
    }
    for (int32_t i = 0; i < done && !o->json; i++) printf("%s\n", lines + 700 * i);
    if (!o->json) printf("%d of %d patterns draped without fault\n", fine, f.count);
    free(lines);
    for (int32_t i = 0; i < f.count; i++) free(f.path[i]);
    free(f.path);
    return app_stopping() ? APP_FAILED : worst;
}

// ---- options ----------------------------------------------------------------------------------------------------

static bool is_dir(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool read_quality(const char *word, tl_drape_quality *out)
{
    static const char *const names[] = {"draft", "normal", "final"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, names[i]) == 0) return *out = (tl_drape_quality)i, true;
    return false;
}

#define HOLD 2000.0  // [N/m^2] of --hold

// --hold LABEL[=STIFFNESS] and --elastic LABEL=FRACTION; both of one label are one entry.
static bool read_holds(const app_command *self, const drape_options *o, char words[][64], tl_drape_hold *out,
                       int32_t *count)
{
    *count = 0;
    for (int32_t i = 0; i < o->holds.count + o->elastics.count; i++) {
        const bool tie = i < o->holds.count;
        const char *text = tie ? o->holds.item[i] : o->elastics.item[i - o->holds.count], *is = strchr(text, '=');
        const size_t n = is ? (size_t)(is - text) : strlen(text);
        double value = HOLD;
        if (n == 0 || n > 63 || (is && !app_read_real(is + 1, tie ? 1e-3 : 0.05, tie ? 1e9 : 5, &value)) ||
            (!is && !tie)) {
            app_usage(self,
                      tie ? "--hold %s: give a label, or LABEL=STIFFNESS in N/m per metre of edge"
                          : "--elastic %s: give LABEL=FRACTION, as in waist=0.85",
                      text);
            return false;
        }
        int32_t k = 0;
        while (k < *count && (strlen(words[k]) != n || strncmp(words[k], text, n) != 0)) k++;
        if (k == TL_DRAPE_HOLDS) {
            app_usage(self, "at most %d labels are held", TL_DRAPE_HOLDS);
            return false;
        }
        if (k == *count) memcpy(words[k], text, n), words[k][n] = 0, out[(*count)++] = (tl_drape_hold){words[k], 0, 0};
        if (tie)
            out[k].stiffness = value;
        else
            out[k].elastic = value;
    }
    return true;
}

static bool read_measures(const app_command *self, const drape_options *o, char names[][64], tl_drape_measure *out,
                          int32_t *count)
{
    for (*count = 0; *count < o->measures.count; (*count)++) {
        const char *text = o->measures.item[*count], *is = strchr(text, '=');
        const size_t n = is ? (size_t)(is - text) : 0;
        double value;
        if (*count == TL_DRAPE_HOLDS || n == 0 || n > 63 || !app_read_real(is + 1, 1e-6, 1e6, &value)) {
            app_usage(self, "--measure %s: give NAME=VALUE with VALUE > 0, at most %d of them", text, TL_DRAPE_HOLDS);
            return false;
        }
        memcpy(names[*count], text, n), names[*count][n] = 0;
        out[*count] = (tl_drape_measure){names[*count], value};
    }
    return true;
}

static bool ends(const char *text, const char *ending)
{
    const size_t n = strlen(text), m = strlen(ending);
    return n > m && strcasecmp(text + n - m, ending) == 0;
}

// A motion by its ending: of a skeleton, positions of all vertices, else the name of a clip.
static void read_motion(const drape_options *o, tl_drape_def *def)
{
    def->bones = o->bones.item, def->bone_count = o->bones.count;
    def->cache_fps = o->motion_fps;
    if (!o->motion) return;
    if (ends(o->motion, ".bvh"))
        def->motion = o->motion;
    else if (ends(o->motion, ".pc2") || ends(o->motion, ".mdd") || strchr(o->motion, '%'))
        def->cache = o->motion;
    else
        def->clip = o->motion;
}

static int drape_words(const app_command *self, drape_options *o, const app_list *words)
{
    tl_drape_def def = tl_drape_def_default();
    if (words->count == 0) return app_usage(self, "give a pattern: .json, .svg or .dxf, or a folder of them");
    if (!o->body) return app_usage(self, "say who wears it: --body FILE (glTF, OBJ, PLY or STL)");
    if (!o->out) return app_usage(self, "say where to: -o DIR");
    if (words->count > TL_DRAPE_GARMENTS)
        return app_usage(self, "%d patterns, at most %d are worn together", words->count, TL_DRAPE_GARMENTS);
    if (o->quality && !read_quality(o->quality, &def.quality))
        return app_usage(self, "--quality %s, must be draft, normal or final", o->quality);
    const tl_log log = {say, o};
    def.patterns = words->item, def.pattern_count = words->count;
    def.body = o->body, def.body_units = o->units;
    if (o->material) def.material = o->material;
    def.body_up = o->up;
    read_motion(o, &def);
    def.edge = o->edge, def.frames = o->frames, def.out_dir = o->out, def.threads = o->threads;
    def.progress = progress, def.cancelled = stopping, def.user = o, def.log = &log;
    def.beside = o->beside;
    def.no_fit = o->no_fit, def.no_hold = o->no_hold, def.place_all = o->place;
    tl_drape_hold holds[TL_DRAPE_HOLDS];
    char labels[TL_DRAPE_HOLDS][64];
    tl_drape_measure measures[TL_DRAPE_HOLDS];
    char names[TL_DRAPE_HOLDS][64];
    if (!read_holds(self, o, labels, holds, &def.hold_count)) return APP_USAGE;
    if (!read_measures(self, o, names, measures, &def.measure_count)) return APP_USAGE;
    def.measures = measures;
    def.holds = holds;
    app_stop_on_signals(o->quiet);
    if (words->count == 1 && is_dir(words->item[0])) return drape_folder(self, o, &def, words->item[0]);
    tl_drape_report r;
    tl_error err = {0};
    return drape_one(self, o, &def, &r, &err);
}

static int drape(const app_command *self, int argc, char **argv, app_list *words)
{
    drape_options o = {.frames = -1, .threads = app_cores()};
    o.holds.item = calloc((size_t)argc, sizeof *o.holds.item);
    o.elastics.item = calloc((size_t)argc, sizeof *o.elastics.item);
    o.measures.item = calloc((size_t)argc, sizeof *o.measures.item);
    o.bones.item = calloc((size_t)argc, sizeof *o.bones.item);
    const app_option options[] = {
        {"body", 'b', APP_TEXT, &o.body, 0, 0, "FILE", "who wears it: glTF, OBJ, PLY or STL (docs/bodies.md)"},
        {"beside", 0, APP_TEXT, &o.beside, 0, 0, "FILE", "another body: the same on it too, side by side in fit.html"},
        {"units", 0, APP_TEXT, &o.units, 0, 0, "U", "of the body: auto, m, cm, mm, in, ft. Default auto"},
        {"up", 0, APP_TEXT, &o.up, 0, 0, "AXIS", "of the body that points up: auto, y, z, x. Default auto"},
        {"material", 'm', APP_TEXT, &o.material, 0, 0, "NAME", "fabric of the library or a file. Default cotton"},
        {"motion", 0, APP_TEXT, &o.motion, 0, 0, "CLIP",
         "a clip of the body, a .bvh, .pc2 or .mdd file, or meshes\nas walk/%04d.obj. Default: it stands still"},
        {"bone", 0, APP_MANY, &o.bones, 0, 0, "FROM=TO", "joint FROM of the .bvh moves joint TO of the body"},
        {"motion-fps", 0, APP_REAL, &o.motion_fps, 0, 1e5, "F", "of a .pc2 or of meshes. Default 25"},
        {"quality", 0, APP_TEXT, &o.quality, 0, 0, "Q", "draft (2 cm), normal (1 cm) or final (7 mm). Default normal"},
        {"edge", 0, APP_REAL, &o.edge, 2e-3, 0.1, "M", "edge length in metres in place of the quality's"},
        {"frames", 'n', APP_INT, &o.frames, 0, 1000000, "N", "of the motion. Default: all of the clip"},
        {"out", 'o', APP_TEXT, &o.out, 0, 0, "DIR", "where to"},
        {"threads", 'j', APP_INT, &o.threads, 1, 1024, "N", "changes no byte. Default: all cores"},
        {"measure", 0, APP_MANY, &o.measures, 0, 0, "NAME=V",
         "made to measure: bust=0.94, skirt.length=0.7 (docs/patterns.md)"},
        {"hold", 0, APP_MANY, &o.holds, 0, 0, "LABEL[=K]",
         "ties edges with this label to the skin, K in N/m per metre"},
        {"elastic", 0, APP_MANY, &o.elastics, 0, 0, "LABEL=F", "a rubber band of F times the length of these edges"},
        {"place", 0, APP_FLAG, &o.place, 0, 0, NULL, "place panels by what they are, even if the pattern says where"},
        {"no-hold", 0, APP_FLAG, &o.no_hold, 0, 0, NULL, "skirts and trousers are held by friction alone"},
        {"no-fit", 0, APP_FLAG, &o.no_fit, 0, 0, NULL, "no fit.html with pictures, no fit.json"},
        {"verbose", 'v', APP_FLAG, &o.verbose, 0, 0, NULL, "what goes on, in detail"},
        {"quiet", 'q', APP_FLAG, &o.quiet, 0, 0, NULL, "no progress, no summary"},
        {"json", 0, APP_FLAG, &o.json, 0, 0, NULL,
         "the summary as one JSON object on stdout, one per line for a folder"},
    };
    int code = APP_FAILED;
    if (!o.holds.item || !o.elastics.item || !o.measures.item || !o.bones.item)
        app_say("out of memory");
    else if (app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) {
        const char *term = getenv("TERM");
        o.terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
        code = drape_words(self, &o, words);
    }
    free(o.holds.item), free(o.elastics.item), free(o.measures.item), free(o.bones.item);
    return code;
}

int app_drape(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, drape); }
