// run/refiner_wrinkles.c: options, wavelengths from fabrics, and maps as files.

#include "run/refiner_wrinkles.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"
#include "io/png.h"
#include "math/vec3.h"
#include "run/run_fabric.h"

#define GRAVITY 9.81
#define FOLD_EDGES 4.0    // length of the folds that a mesh cannot show, in mean lengths of its edges
#define WIDEST_EDGES 4.0  // waves this long it shows itself
#define LEAST_EDGES 0.25  // shorter ones would need more than four levels
enum { MOST_DEPTH = 6 };

tl_status tl_refine_wrinkles_check(const tl_refine_wrinkles *o, tl_error *err)
{
    if (o->folds == TL_REFINE_NO_FOLDS) return TL_OK;
    if (!tl_refine_folds_name(o->folds))
        return tl_fail(err, TL_BAD_ARG, "wrinkles: kind %d is not known", (int)o->folds);
    const struct {
        const char *name;
        double value, low, high;
    } field[] = {{"wavelength", o->wavelength, 0, 10},
                 {"textures", o->textures, 2, TL_RIDGES_MAX},
                 {"variation", o->variation, 0, 100},
                 {"persistence", o->persistence, 0, 1},
                 {"zone", o->zone, 1e-3, 1},
                 {"onset", o->onset, 0, 0.999},
                 {"amplitude", o->amplitude, 1e-6, 1},
                 {"strength", o->strength, 0, 100},
                 {"rate", o->rate, 0, 10},
                 {"adaptive", o->adaptive, 0, 1},
                 {"maps", o->maps > 0 ? o->maps : 4, 4, 8192}};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        if (!(field[i].value >= field[i].low && field[i].value <= field[i].high))
            return tl_fail(err, TL_BAD_ARG, "wrinkles: %s %g, must be in [%g, %g]", field[i].name, field[i].value,
                           field[i].low, field[i].high);
    if (o->adaptive > 0 && o->adaptive < 1e-6)
        return tl_fail(err, TL_BAD_ARG, "wrinkles: adaptive %g m, must be 0 or at least 1e-6", o->adaptive);
    return TL_OK;
}

tl_status tl_refiner_wrinkles_init(tl_refiner_wrinkles *w, const tl_allocator *alloc, const tl_refine_def *def,
                                   int32_t cloth_count, tl_error *err)
{
    *w = (tl_refiner_wrinkles){.alloc = *alloc, .def = def, .cloth_count = cloth_count};
    w->of = TL_CALLOC(alloc, tl_wrinkles *, cloth_count);
    return w->of ? TL_OK : tl_fail_memory(err, "wrinkles");
}

void tl_refiner_wrinkles_free(tl_refiner_wrinkles *w)
{
    for (int32_t i = 0; w->of && i < w->cloth_count; i++) tl_wrinkles_destroy(w->of[i]);
    if (w->of) TL_FREE(&w->alloc, w->of, w->cloth_count);
}

// ---- wavelength -----------------------------------------------------------------------------------------------

static double mean_edge(const tl_fine_mesh *m, double *area)
{
    double sum = 0;
    *area = 0;
    for (int32_t f = 0; f < m->face_count; f++) {
        tl_vec2 uv[3];
        for (int k = 0; k < 3; k++) uv[k] = m->uv[m->vert[f][k]];
        for (int k = 0; k < 3; k++) sum += tl_norm2(tl_sub2(uv[(k + 1) % 3], uv[k]));
        *area += 0.5 * fabs(tl_cross2(tl_sub2(uv[1], uv[0]), tl_sub2(uv[2], uv[0])));
    }
    return m->face_count > 0 ? sum / (3.0 * m->face_count) : 0;
}

// Bending against tension: what hangs carries half of its own weight in the mean.
static double wavelength_of(const tl_refiner_wrinkles *w, const tl_fine_mesh *m, const char *name)
{
    const tl_refine_wrinkles *o = &w->def->wrinkle;
    if (o->wavelength > 0) return o->wavelength;
    double area;
    const double edge = mean_edge(m, &area);
    const tl_usd_fabric fabric = tl_run_fabric(&w->alloc, w->def->source, name);
    if (!(edge > 0)) return 1;  // no material coordinates: said when the frame is looked at
    if (!(fabric.bend > 0) || !(fabric.density > 0)) return 2 * edge;
    const double tension = 0.5 * fabric.density * GRAVITY * sqrt(area);
    const double wave = tl_wrinkle_wavelength(fabric.bend, tension, FOLD_EDGES * edge);
    return fmin(fmax(wave, LEAST_EDGES * edge), WIDEST_EDGES * edge);
}

static tl_status create(tl_refiner_wrinkles *w, int32_t i, const tl_fine_mesh *m, const char *name,
                        tl_refine_report *report, tl_error *err)
{
    const tl_refine_wrinkles *o = &w->def->wrinkle;
    const double wave = wavelength_of(w, m, name);
    const tl_wrinkle_def def = {.kind = o->folds == TL_REFINE_PUBLISHED ? TL_WRINKLES_PAPER : TL_WRINKLES_DIRECTIONAL,
                                .ridges = {o->textures, wave, o->variation, o->persistence, o->seed},
                                .zone = o->zone,
                                .onset = o->onset,
                                .amplitude = o->amplitude,
                                .strength = o->strength,
                                .rate = o->rate};
    report->shortest = i == 0 ? wave : fmin(report->shortest, wave);
    report->longest_wave = fmax(report->longest_wave, wave);
    return tl_wrinkles_create(&w->alloc, &def, &w->of[i], err);
}

// ---- frames ---------------------------------------------------------------------------------------------------

tl_status tl_refiner_wrinkles_look(tl_refiner_wrinkles *w, const tl_fine_mesh *cloth, const char *const *name,
                                   tl_workers *workers, tl_refine_report *report, tl_error *err)
{
    const double begin = tl_now();
    for (int32_t i = 0; i < w->cloth_count; i++) {
        if (!w->of[i]) TL_TRY(create(w, i, &cloth[i], name[i], report, err));
        TL_TRY(tl_wrinkles_frame(w->of[i], &cloth[i], name[i], workers, err));
        const tl_wrinkle_report *r = tl_wrinkles_report(w->of[i]);
        report->highest = fmax(report->highest, r->highest), report->change = fmax(report->change, r->change);
        report->held_back += r->held_back;
    }
    report->wrinkle_seconds += tl_now() - begin;
    return TL_OK;
}

tl_status tl_refiner_wrinkles_fold(tl_refiner_wrinkles *w, const tl_finish *f, tl_fine_mesh *cloth,
                                   tl_refine_report *report, tl_error *err)
{
    const tl_refine_wrinkles *o = &w->def->wrinkle;
    if (o->keep_plain) return TL_OK;
    double begin = tl_now();
    for (int32_t i = 0; i < w->cloth_count; i++) {
        if (o->adaptive > 0) TL_TRY(tl_wrinkles_tessellate(w->of[i], o->adaptive, MOST_DEPTH, &cloth[i], err));
        double area;
        const double edge = mean_edge(&cloth[i], &area);
        if (report->frames == 0 && edge > 0) {
            const double nodes = tl_wrinkles_wavelength(w->of[i]) / edge;
            report->nodes_per_wave = report->nodes_per_wave > 0 ? fmin(report->nodes_per_wave, nodes) : nodes;
        }
    }
    report->wrinkle_seconds += tl_now() - begin;
    begin = tl_now();
    tl_clear_report clear = {0};
    TL_TRY(tl_wrinkles_displace(f, w->of, cloth, w->cloth_count, &clear, err));
    report->cut_folds += clear.corrected;
    report->fold_move_seconds += tl_now() - begin;
    return TL_OK;
}

// ---- maps -----------------------------------------------------------------------------------------------------

static tl_status write_legend(const tl_wrinkle_maps *maps, const char *path, tl_error *err)
{
    char name[TL_PATH_MAX], text[512];
    const int length = snprintf(name, sizeof name, "%s.json", path);
    if (length < 0 || length >= (int)sizeof name) return tl_fail(err, TL_BAD_INPUT, "path too long: %.200s...", path);
    const int size = snprintf(text, sizeof text,
                              "{\"size\": %d, \"lowest\": [%.9g, %.9g], \"texel\": [%.9g, %.9g], \"range\": %.9g, "
                              "\"height\": \"(value - 32768) / 32767 * range [m]\", \"row_0\": \"greatest v\"}\n",
                              maps->size, maps->lowest.x, maps->lowest.y, maps->step.x, maps->step.y, maps->range);
    return tl_file_write(name, text, (size_t)size, false, err);
}

tl_status tl_refiner_wrinkles_maps(const tl_refiner_wrinkles *w, int32_t cloth, const char *path,
                                   tl_refine_report *report, tl_error *err)
{
    const double begin = tl_now();
    tl_wrinkle_maps maps;
    TL_TRY(tl_wrinkles_maps(w->of[cloth], w->def->wrinkle.maps, &maps, err));
    tl_status status = TL_OK;
    for (int k = 0; k < 2 && status == TL_OK; k++) {
        char name[TL_PATH_MAX];
        const int length = snprintf(name, sizeof name, "%s.%s.png", path, k ? "normal" : "height");
        const tl_png16 picture = {maps.size, maps.size, k ? 3 : 1, k ? maps.normal : maps.height};
        if (length < 0 || length >= (int)sizeof name)
            status = tl_fail(err, TL_BAD_INPUT, "path too long: %.200s...", path);
        else
            status = tl_png16_write(&w->alloc, name, &picture, err);
    }
    if (status == TL_OK) status = write_legend(&maps, path, err);
    report->map_overlaps += maps.overlaps;
    tl_wrinkle_maps_free(w->of[cloth], &maps);
    report->map_seconds += tl_now() - begin;
    return status;
}
