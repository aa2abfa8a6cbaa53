// app/cmd_fit_fabric.c: `toile fit-fabric`: a fabric from measured values.

#include <math.h>
#include <string.h>

#include "app.h"
#include "fabric_lab.h"
#include "toile/scene.h"

enum { DRAPES_MOST = 8 };

// Scales both rigidities until the disc drapes as measured: a secant over their logarithm.
static tl_status match_drape(tl_material_fit *fit, int32_t threads, bool quiet, double *reached, tl_error *err)
{
    const double warp = fit->sheet.bend_warp, weft = fit->sheet.bend_weft;
    double x[2] = {0, 0}, y[2] = {0, 0}, at = 0, best = INFINITY, chosen = 0;
    for (int k = 0; k < DRAPES_MOST; k++) {
        fit->sheet.bend_warp = warp * exp(at), fit->sheet.bend_weft = weft * exp(at);
        tl_material m;
        lab_drape d;
        tl_status status = tl_material_orthotropic(&fit->sheet, &m, err);
        const double c = 0.5 * (lab_bending_length(&m, 0) + lab_bending_length(&m, 1));
        if (status == TL_OK) status = lab_drape_test(&m, fmin(0.012, fmax(0.004, 0.38 * c)), 0, threads, &d, NULL, err);
        if (status != TL_OK) return status;
        const double off = d.coefficient - fit->drape;
        if (!quiet) fprintf(stderr, "drape %.1f %% with %.3g times the rigidity\n", 100 * d.coefficient, exp(at));
        if (fabs(off) < best) best = fabs(off), chosen = at, *reached = d.coefficient;
        if (fabs(off) < 0.01) break;
        x[0] = x[1], y[0] = y[1], x[1] = at, y[1] = off;
        const double slope = k > 0 && fabs(x[1] - x[0]) > 1e-9 ? (y[1] - y[0]) / (x[1] - x[0]) : 0.2;
        at -= fmax(-0.8, fmin(0.8, off / (slope > 0.05 ? slope : 0.2)));
        if (fabs(at) > 3) break;
    }
    fit->sheet.bend_warp = warp * exp(chosen), fit->sheet.bend_weft = weft * exp(chosen);
    return TL_OK;
}

static void tell(const tl_material_fit *f, const char *out)
{
    const tl_orthotropic *s = &f->sheet;
    printf("%s: stretch %.4g / %.4g N/m, shear %.4g N/m, rigidity %.3g / %.3g N m\n", f->name, s->stretch_warp,
           s->stretch_weft, s->shear, s->bend_warp, s->bend_weft);
    const struct {
        const char *what;
        double misfit;
    } curves[] = {{"tension_warp", f->misfit_warp}, {"tension_weft", f->misfit_weft}, {"shear", f->misfit_shear}};
    for (int i = 0; i < 3; i++)
        if (!isnan(curves[i].misfit))
            printf("%s: misfit %.1f %% of the largest force%s\n", curves[i].what, 100 * curves[i].misfit,
                   curves[i].misfit > 0.1 ? " (it is not linear: the kinds kesf, fast and measured have more)" : "");
    printf("written:  %s\n", out);
}

static int fit_run(const app_command *self, int argc, char **argv, app_list *words)
{
    const char *out = NULL;
    int32_t threads = 0;
    bool quiet = false;
    const app_option options[] = {
        {"out", 'o', APP_TEXT, &out, 0, 0, "FILE.json", "the fabric. Required"},
        {"threads", 'j', APP_INT, &threads, 1, 256, "N", "never changes a result. Default: the cores there are"},
        {"quiet", 'q', APP_FLAG, &quiet, 0, 0, NULL, "say nothing"},
    };
    int code;
    if (!app_parse(self, options, sizeof options / sizeof *options, argc, argv, words, &code)) return code;
    if (words->count != 1) return app_usage(self, "give one file of measured values");
    if (!out) return app_usage(self, "say where to write the fabric: -o FILE.json");
    if (app_same_file(words->item[0], out)) return app_usage(self, "'%s' would be overwritten", out);
    tl_error err = {0};
    tl_material_fit fit;
    char source[600], drape[160] = "";
    double reached = NAN;
    if (tl_material_fit_tests(words->item[0], &fit, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    if (!isnan(fit.drape)) {
        if (match_drape(&fit, threads > 0 ? threads : app_cores(), quiet, &reached, &err) != TL_OK)
            return app_fail(self, false, app_exit_of(err.status, APP_FAILED), &err);
        snprintf(drape, sizeof drape, "; rigidity scaled for a drape coefficient of %.1f %% (%.1f %% measured)",
                 100 * reached, 100 * fit.drape);
    }
    snprintf(source, sizeof source,
             "Fitted by toile fit-fabric to %.300s: least squares over tension and shear, B = rho g c^3 "
             "(Peirce 1930)%s.",
             words->item[0], drape);
    if (tl_material_save(&fit, source, out, &err) != TL_OK)
        return app_fail(self, false, app_exit_of(err.status, APP_INPUT), &err);
    if (!quiet) tell(&fit, out);
    if (!isnan(fit.drape) && fabs(reached - fit.drape) > 0.02)
        app_say("a drape of %.1f %% was not reached: %.1f %% is the nearest", 100 * fit.drape, 100 * reached);
    return APP_OK;
}

int app_fit_fabric(const app_command *self, int argc, char **argv) { return app_with_words(self, argc, argv, fit_run); }
