// app/cmd_fabric.c: `toile fabric`: a fabric put to the tests of a laboratory, as a report.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "fabric_page.h"
#include "toile/scene.h"

// Edges of the meshes of drapes, over the bending length: coarser ones lock limp cloth (docs/validation.md).
static const double RESOLUTIONS[] = {0.45, 0.38, 0.32};
enum { ROTATIONS = 8 };

typedef struct found {
    const char *name;
    tl_material material;
    char path[4096];
    bool any;
} found;

static int look(void *user, const tl_fabric_entry *e)
{
    found *f = user;
    if (strcmp(e->name, f->name) != 0) return 0;
    f->material = *e->material, f->any = true;
    snprintf(f->path, sizeof f->path, "%s", e->path);
    return 1;
}

static tl_status find(const char *name, found *f, tl_error *err)
{
    *f = (found){.name = name};
    if (!strchr(name, '/') && !strstr(name, ".json")) {
        const tl_status status = tl_fabrics_visit(look, f, err);
        if (status != TL_OK || f->any) return status;
        err->status = TL_BAD_INPUT;
        snprintf(err->message, sizeof err->message,
                 "no fabric '%s' in the library ('toile fabrics' lists them; a file has a '/' or ends in .json)", name);
        return TL_BAD_INPUT;
    }
    snprintf(f->path, sizeof f->path, "%s", name);
    return tl_material_load(name, &f->material, err);
}

typedef struct fabric_options {
    const char *out;
    int32_t threads;
    bool quick, no_drape, quiet, json;
} fabric_options;

static tl_status drape(fabric_report *r, const fabric_options *o, tl_error *err)
{
    const double c = 0.5 * (lab_bending_length(r->material, 0) + lab_bending_length(r->material, 1));
    const double least = 0.004, most = 0.012;  // [m] finer takes too long, coarser has no folds
    r->resolutions = o->quick ? 1 : (int32_t)(sizeof RESOLUTIONS / sizeof *RESOLUTIONS);
    r->rotations = o->quick ? 0 : ROTATIONS;
    for (int32_t i = 0; i < r->resolutions + r->rotations; i++) {
        const bool turned = i >= r->resolutions;
        const double edge = fmin(most, fmax(least, c * RESOLUTIONS[turned || o->quick ? 1 : i]));
        const double warp = turned ? 22.5 * (i - r->resolutions) : 0;
        r->picture[i] = malloc(3 * LAB_PICTURE * LAB_PICTURE);
        const tl_status status = lab_drape_test(r->material, edge, warp, o->threads, &r->drape[i], r->picture[i], err);
        if (status != TL_OK) return status;
        if (!o->quiet)
            fprintf(stderr, "drape %d of %d: %.1f %%, %d folds (%d faces, warp at %g degrees)\n", i + 1,
                    r->resolutions + r->rotations, 100 * r->drape[i].coefficient, r->drape[i].folds, r->drape[i].faces,
                    warp);
        if (app_stopping()) return *err = (tl_error){TL_CANCELLED, "interrupted"}, TL_CANCELLED;
    }
    return TL_OK;
}

static tl_status measure(fabric_report *r, const fabric_options *o, tl_error *err)
{
    tl_status status = TL_OK;
    for (int32_t weft = 0; status == TL_OK && weft < 2; weft++) {
        status = lab_cantilever_test(r->material, weft, &r->cantilever[weft], err);
        if (status == TL_OK) status = lab_heart_test(r->material, weft, &r->heart[weft], err);
    }
    static const double angles[] = {0, 90, 45};
    r->pull_most = 0.05, r->shear_most = 0.2;
    for (int k = 0; status == TL_OK && k < 3; k++)
        status = lab_pull(r->material, angles[k], r->pull_most, r->pull[k], err);
    if (status == TL_OK) status = lab_shear(r->material, r->shear_most, r->shear, err);
    if (status == TL_OK && !o->no_drape) status = drape(r, o, err);
    return status;
}

static void print_json(const fabric_report *r, const fabric_options *o)
{
    printf("{\"command\": \"fabric\", \"exit_code\": 0, \"name\": "), app_json_text(stdout, r->name);
    for (int k = 0; k < 2; k++) {
        printf(", \"cantilever_%s\": {\"overhang\": ", k ? "weft" : "warp");
        app_json_real(stdout, r->cantilever[k].overhang);
        printf(", \"elastica\": "), app_json_real(stdout, r->cantilever[k].elastica);
        printf("}, \"heart_loop_%s\": ", k ? "weft" : "warp"), app_json_real(stdout, r->heart[k].depth);
        printf(", \"tension_%s\": {\"strain\": %g, \"force\": ", k ? "weft" : "warp", r->pull_most);
        app_json_real(stdout, r->pull[k][LAB_POINTS - 1]);
        printf("}");
    }
    if (!o->no_drape) {
        printf(", \"drape\": "), app_json_real(stdout, fabric_mean_drape(r));
        printf(", \"drape_spread_resolutions\": "), app_json_real(stdout, fabric_drape_spread(r, false));
        if (r->rotations) printf(", \"drape_spread_rotations\": "), app_json_real(stdout, fabric_drape_spread(r, true));
        printf(", \"folds\": [");
        for (int32_t i = 0; i < r->resolutions + r->rotations; i++) printf("%s%d", i ? ", " : "", r->drape[i].folds);
        printf("]");
        if (r->band) printf(", \"band\": [%g, %g]", r->band->drape_low, r->band->drape_high);
    }
    printf("}\n");
}

static void print_text(const fabric_report *r, const fabric_options *o)
{
    for (int k = 0; k < 2; k++)
        printf("%s: overhang %.1f mm (elastica %.1f), heart loop %.1f mm, %.0f N/m at %g %%\n", k ? "weft" : "warp",
               1e3 * r->cantilever[k].overhang, 1e3 * r->cantilever[k].elastica, 1e3 * r->heart[k].depth,
               r->pull[k][LAB_POINTS - 1], 100 * r->pull_most);
    if (!o->no_drape) {
        printf("drape: %.1f %%", fabric_mean_drape(r));
        if (r->band) printf(", published %.0f to %.0f %%", r->band->drape_low, r->band->drape_high);
        if (r->rotations)
            printf("; spread %.1f points over resolutions, %.1f over rotations", fabric_drape_spread(r, false),
                   fabric_drape_spread(r, true));
        printf("\n");
    }
    if (o->out) printf("written:  %s\n", o->out);
}

static int fabric_run(const app_command *self, int argc, char **argv, app_list *words)
{
    fabric_options o = {0};
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &o.out, 0, 0, "FILE.html", "the report: one page, pictures within it"},
        {"quick", 0, APP_FLAG, &o.quick, 0, 0, NULL, "one drape instead of eleven (3 meshes, 8 directions)"},
        {"no-drape", 0, APP_FLAG, &o.no_drape, 0, 0, NULL, "bending, tension and shear alone: a few seconds"},
        {"threads", 'j', APP_INT, &o.threads, 1, 256, "N", "never changes a result. Default: the cores there are"},
        {"quiet", 'q', APP_FLAG, &o.quiet, 0, 0, NULL, "say nothing"},
        {"json", 0, APP_FLAG, &o.json, 0, 0, NULL, "the figures as one JSON object on stdout"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one fabric: a name of the library, or a file");
    if (o.threads == 0) o.threads = app_cores();
    if (o.json) o.quiet = true;
    tl_error err = {0};
    found f;
    if (find(words->item[0], &f, &err) != TL_OK)
        return app_fail(self, o.json, app_exit_of(err.status, APP_INPUT), &err);
    fabric_report *r = calloc(1, sizeof *r);
    if (!r) return app_fail(self, o.json, APP_FAILED, &(tl_error){TL_NO_MEMORY, "out of memory"});
    r->name = f.material.name[0] ? f.material.name : f.name, r->file = f.path, r->material = &f.material;
    r->band = fabric_band_of(r->name);
    app_stop_on_signals(o.quiet);
    tl_status status = o.out ? fabric_page_try(o.out, &err) : TL_OK;  // before minutes of work
    const app_exit io = status == TL_OK ? APP_FAILED : APP_INPUT;
    if (status == TL_OK) status = measure(r, &o, &err);
    if (status == TL_OK && o.out) status = fabric_page_write(r, o.out, &err);
    if (status != TL_OK)
        code = app_fail(self, o.json, app_exit_of(status, io), &err);
    else if (o.json)
        print_json(r, &o);
    else if (!o.quiet)
        print_text(r, &o);
    for (int i = 0; i < FABRIC_DRAPES; i++) free(r->picture[i]);
    free(r);
    return code;
}

int app_fabric(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, fabric_run); }
