// physics/material.c: make a tl_material from what a sheet of test results gives, and check one.

#include "toile/material.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

#define GRAVITY_STANDARD 9.80665  // gram-force to newton, exact by definition

tl_material tl_material_default(void)
{
    tl_material m = {0};
    const tl_orthotropic cotton = {.stretch_warp = 1000,
                                   .stretch_weft = 1000,
                                   .shear = 1000 / (2 * 1.3),
                                   .poisson = 0.3,
                                   .bend_warp = 2e-5,
                                   .bend_weft = 2e-5,
                                   .bend_bias = -1,
                                   .density = 0.2,
                                   .thickness = 0.0005};
    tl_material_orthotropic(&cotton, &m, NULL);
    snprintf(m.name, sizeof m.name, "default");
    return m;
}

// Repeats one row of stiffness and one set of rigidities over the tables: a linear fabric.
static void fill_linear(tl_material *m, const double c[4], double about_warp, double about_bias, double about_weft)
{
    const double bend[3] = {about_warp, about_bias, about_weft};
    for (int r = 0; r < 6; r++) memcpy(m->stretch[r], c, sizeof m->stretch[r]);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 5; k++) m->bend[r][k] = bend[r];
    m->stretch_sample = 1.0 / 6;
    m->bend_step = 10;
}

static bool good(double x, double low) { return isfinite(x) && x > low; }
static double cube(double x) { return x * x * x; }

tl_status tl_material_isotropic(double young, double poisson, double thickness, double density, tl_material *out,
                                tl_error *err)
{
    if (!good(young, 0)) return tl_fail(err, TL_BAD_INPUT, "young %g Pa, must be > 0", young);
    if (!(poisson > -1 && poisson <= 0.5))
        return tl_fail(err, TL_BAD_INPUT, "poisson %g, must be in (-1, 0.5]", poisson);
    if (!good(thickness, 0)) return tl_fail(err, TL_BAD_INPUT, "thickness %g m, must be > 0", thickness);
    if (!good(density, 0)) return tl_fail(err, TL_BAD_INPUT, "density %g kg/m^2, must be > 0", density);
    tl_material m = {.density = density, .thickness = thickness, .bend_poisson = poisson};
    const double k = young * thickness / (1 - poisson * poisson);
    // Shear energy is 2 G h E12^2 = 1/2 c33 E12^2 with G h = k (1 - nu) / 2.
    const double c[4] = {k, poisson * k, k, 2 * (1 - poisson) * k};
    const double b = k * thickness * thickness / 12;
    fill_linear(&m, c, b, b, b);
    snprintf(m.name, sizeof m.name, "isotropic");
    TL_TRY(tl_material_check(&m, err));
    *out = m;
    return TL_OK;
}

tl_status tl_material_orthotropic(const tl_orthotropic *d, tl_material *out, tl_error *err)
{
    if (!good(d->stretch_warp, 0))
        return tl_fail(err, TL_BAD_INPUT, "stretch_warp %g N/m, must be > 0", d->stretch_warp);
    if (!good(d->stretch_weft, 0))
        return tl_fail(err, TL_BAD_INPUT, "stretch_weft %g N/m, must be > 0", d->stretch_weft);
    if (!good(d->shear, 0)) return tl_fail(err, TL_BAD_INPUT, "shear %g N/m, must be > 0", d->shear);
    // nu12 / E1 = nu21 / E2; the stiffness is positive definite for nu12 nu21 < 1.
    const double other = d->poisson * d->stretch_weft / d->stretch_warp;
    const double rest = 1 - d->poisson * other;
    if (!(rest > 0))
        return tl_fail(err, TL_BAD_INPUT, "poisson %g, must be below %g for this warp and weft", d->poisson,
                       sqrt(d->stretch_warp / d->stretch_weft));
    tl_material m = {.density = d->density, .thickness = d->thickness};
    const double c[4] = {d->stretch_warp / rest, d->poisson * d->stretch_weft / rest, d->stretch_weft / rest,
                         4 * d->shear};
    // Without a measured bias value: the twisting rigidity of an equivalent isotropic plate,
    // 2 b66 + b12 = sqrt(b11 b22) (Huber's estimate).
    double bias = d->bend_bias;
    if (bias < 0) bias = 0.25 * (d->bend_warp + d->bend_weft) + 0.5 * sqrt(d->bend_warp * d->bend_weft);
    fill_linear(&m, c, d->bend_weft, bias, d->bend_warp);
    snprintf(m.name, sizeof m.name, "orthotropic");
    TL_TRY(tl_material_check(&m, err));
    *out = m;
    return TL_OK;
}

// Chord stiffness of the tensile curve up to 500 gf/cm, taken from energy: WT = LT * Fmax * EMT / 2.
static tl_status kesf_tensile(const char *side, double lt, double wt, double emt, double *out, tl_error *err)
{
    const double force = 500 * GRAVITY_STANDARD * 1e-3 / 1e-2;  // gf/cm to N/m
    if (!good(emt, 0)) return tl_fail(err, TL_BAD_INPUT, "emt_%s %g %%, must be > 0", side, emt);
    if (lt > 0 && wt > 0) {
        // gf cm/cm^2 to N/m; the linear spring that stores the same energy at the same extension.
        const double energy = wt * GRAVITY_STANDARD * 1e-3 / 1e-2, strain = emt / 100;
        *out = 2 * energy / (strain * strain);
    } else {
        *out = force / (emt / 100);
    }
    return TL_OK;
}

tl_status tl_material_kesf(const tl_kesf *s, tl_material *out, tl_error *err)
{
    tl_orthotropic d = {.poisson = 0, .bend_bias = -1};
    TL_TRY(kesf_tensile("warp", s->lt_warp, s->wt_warp, s->emt_warp, &d.stretch_warp, err));
    TL_TRY(kesf_tensile("weft", s->lt_weft, s->wt_weft, s->emt_weft, &d.stretch_weft, err));
    // gf/(cm degree) to N/(m rad)
    d.shear = 0.5 * (s->g_warp + s->g_weft) * (GRAVITY_STANDARD * 1e-3 / 1e-2) * (180 / 3.14159265358979323846);
    const double bend = GRAVITY_STANDARD * 1e-3 * 1e-4 / 1e-2;  // gf cm^2/cm to N m: 9.807e-5
    d.bend_warp = s->b_warp * bend;
    d.bend_weft = s->b_weft * bend;
    d.density = s->weight * 1e-2;  // mg/cm^2 to kg/m^2
    d.thickness = s->thickness * 1e-3;
    TL_TRY(tl_material_orthotropic(&d, out, err));
    if (!good(s->hb_warp, -1e-300)) return tl_fail(err, TL_BAD_INPUT, "hb_warp %g gf cm/cm, must be >= 0", s->hb_warp);
    if (!good(s->hb_weft, -1e-300)) return tl_fail(err, TL_BAD_INPUT, "hb_weft %g gf cm/cm, must be >= 0", s->hb_weft);
    // half the width, mean of both ways; gf cm/cm to N
    out->friction_bend = 0.25 * (s->hb_warp + s->hb_weft) * GRAVITY_STANDARD * 1e-3;
    snprintf(out->name, sizeof out->name, "kesf");
    return TL_OK;
}

// Slope of the load curve between 5 and 20 gf/cm, where FAST measures the formability of the fabric.
static tl_status fast_tensile(const char *side, double e5, double e20, double e100, double *out, tl_error *err)
{
    const double per_width = GRAVITY_STANDARD * 1e-3 / 1e-2;
    if (e20 > e5 && e5 >= 0) {
        *out = 15 * per_width / ((e20 - e5) / 100);
    } else if (good(e100, 0)) {
        *out = 100 * per_width / (e100 / 100);
    } else {
        return tl_fail(err, TL_BAD_INPUT, "e20_%s %g %%, must be above e5_%s %g %% (or give e100_%s)", side, e20, side,
                       e5, side);
    }
    return TL_OK;
}

tl_status tl_material_fast(const tl_fast *s, tl_material *out, tl_error *err)
{
    tl_orthotropic d = {.poisson = 0, .bend_bias = -1};
    TL_TRY(fast_tensile("warp", s->e5_warp, s->e20_warp, s->e100_warp, &d.stretch_warp, err));
    TL_TRY(fast_tensile("weft", s->e5_weft, s->e20_weft, s->e100_weft, &d.stretch_weft, err));
    if (!good(s->eb5, 0)) return tl_fail(err, TL_BAD_INPUT, "eb5 %g %%, must be > 0", s->eb5);
    d.shear = 123 / s->eb5;
    d.density = s->weight * 1e-3;
    const double weight = d.density * GRAVITY_STANDARD;  // bending length c = (B / (rho g))^(1/3), Peirce 1930
    d.bend_warp = weight * cube(s->c_warp * 1e-3);
    d.bend_weft = weight * cube(s->c_weft * 1e-3);
    d.thickness = s->thickness * 1e-3;
    TL_TRY(tl_material_orthotropic(&d, out, err));
    snprintf(out->name, sizeof out->name, "fast");
    return TL_OK;
}

tl_status tl_material_check(const tl_material *m, tl_error *err)
{
    if (!good(m->density, 0)) return tl_fail(err, TL_BAD_INPUT, "density %g kg/m^2, must be > 0", m->density);
    if (!good(m->thickness, -1e-300)) return tl_fail(err, TL_BAD_INPUT, "thickness %g m, must be >= 0", m->thickness);
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 4; k++)
            if (!isfinite(m->stretch[r][k]) || fabs(m->stretch[r][k]) > 1e12)
                return tl_fail(err, TL_BAD_INPUT, "stretch[%d][%d] %g N/m, must be a number below 1e12", r, k,
                               m->stretch[r][k]);
    if (!(m->stretch[0][0] >= 0 && m->stretch[0][2] >= 0))
        return tl_fail(err, TL_BAD_INPUT, "stretch[0] %g, %g N/m, must be >= 0", m->stretch[0][0], m->stretch[0][2]);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 5; k++)
            if (!isfinite(m->bend[r][k]) || fabs(m->bend[r][k]) > 1e9)
                return tl_fail(err, TL_BAD_INPUT, "bend[%d][%d] %g N m, must be a number below 1e9", r, k,
                               m->bend[r][k]);
    if (!good(m->stretch_sample, 0))
        return tl_fail(err, TL_BAD_INPUT, "stretch_sample %g, must be > 0", m->stretch_sample);
    if (!good(m->bend_step, 0)) return tl_fail(err, TL_BAD_INPUT, "bend_step %g 1/m, must be > 0", m->bend_step);
    if (!(fabs(m->bend_poisson) < 1))
        return tl_fail(err, TL_BAD_INPUT, "bend_poisson %g, must be in (-1, 1)", m->bend_poisson);
    if (!good(m->damping_stretch, -1e-300))
        return tl_fail(err, TL_BAD_INPUT, "damping_stretch %g s, must be >= 0", m->damping_stretch);
    if (!good(m->damping_bend, -1e-300))
        return tl_fail(err, TL_BAD_INPUT, "damping_bend %g s, must be >= 0", m->damping_bend);
    if (!good(m->friction_bend, -1e-300))
        return tl_fail(err, TL_BAD_INPUT, "friction_bend %g N, must be >= 0", m->friction_bend);
    return TL_OK;
}
