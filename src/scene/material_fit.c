// scene/material_fit.c: parameters of a linear fabric from what a laboratory measured.
//
// Pulled by a stretch s with its sides free, an orthotropic sheet of tensile stiffness E bears E s (s^2 - 1) / 2 per
// width: the derivative of E/2 e^2 with Green strain e. Sheared by an angle a, yarns of fixed length, it bears
// G sin a cos a. Both are linear in what is looked for, so least squares has a closed form. Rigidity is Peirce's,
// B = rho g c^3, with the bending length c half the overhang of ASTM D1388 (Peirce 1930).

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "io/json.h"
#include "toile/scene.h"

#define GRAVITY 9.81

static const char *const keys[] = {"name",
                                   "density",
                                   "thickness",
                                   "poisson",
                                   "overhang_warp",
                                   "overhang_weft",
                                   "bending_length_warp",
                                   "bending_length_weft",
                                   "tension_warp",
                                   "tension_weft",
                                   "shear",
                                   "drape",
                                   NULL};

static tl_status number(const tl_node *root, const char *key, double low, double high, double missing, double *out,
                        tl_error *err)
{
    const tl_node node = tl_node_key(root, key);
    *out = missing;
    if (!node.value) return TL_OK;
    const double v = json_number_value(node.value);
    if (!json_is_number(node.value) || !(v >= low && v <= high))
        return tl_node_fail(&node, true, err, "must be a number from %g to %g", low, high);
    *out = v;
    return TL_OK;
}

static double pulled(double strain) { return (1 + strain) * strain * (2 + strain) / 2; }

static double sheared(double sine) { return sine * sqrt(1 - sine * sine); }

// Stiffness of the curve [[deformation, force], ..] at `key`.
static tl_status curve(const tl_node *root, const char *key, double (*shape)(double), double most, double *stiffness,
                       double *misfit, tl_error *err)
{
    const tl_node list = tl_node_key(root, key);
    *stiffness = *misfit = NAN;
    if (!list.value) return TL_OK;
    double gf = 0, gg = 0, largest = 0, sum = 0;
    const size_t n = json_array_size(list.value);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < n; i++) {
            const tl_node row = tl_node_at(&list, i);
            json_t *x = json_array_get(row.value, 0), *f = json_array_get(row.value, 1);
            if (json_array_size(row.value) != 2 || !json_is_number(x) || !json_is_number(f))
                return tl_node_fail(&row, false, err, "must be [deformation, force per width in N/m]");
            const double at = json_number_value(x), force = json_number_value(f);
            if (!(at > 0 && at <= most) || !(force > 0 && force < 1e9))
                return tl_node_fail(&row, true, err, "deformation must be in (0, %g], force > 0 N/m", most);
            const double g = shape(at);
            if (round == 0)
                gf += g * force, gg += g * g, largest = fmax(largest, force);
            else
                sum += (force - gf / gg * g) * (force - gf / gg * g);
        }
    }
    if (n == 0) return tl_node_fail(&list, false, err, "must be a list of [deformation, force per width in N/m]");
    *stiffness = gf / gg, *misfit = sqrt(sum / (double)n) / largest;
    return TL_OK;
}

static tl_status rigidity(const tl_node *root, const char *way, double density, double *out, tl_error *err)
{
    char overhang[32], length[32];
    double o, c;
    snprintf(overhang, sizeof overhang, "overhang_%s", way);
    snprintf(length, sizeof length, "bending_length_%s", way);
    TL_TRY(number(root, overhang, 1e-3, 1, NAN, &o, err));
    TL_TRY(number(root, length, 5e-4, 0.5, NAN, &c, err));
    if (isnan(o) == isnan(c)) {
        const tl_node node = tl_node_key(root, overhang);
        return tl_node_fail(node.value ? &node : root, false, err, "one of \"%s\", \"%s\" is needed [m]", overhang,
                            length);
    }
    if (isnan(c)) c = o / 2;
    *out = density * GRAVITY * c * c * c;
    return TL_OK;
}

static tl_status fit(const tl_node *root, tl_material_fit *out, tl_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(root->value, key, value)
    {
        bool known = false;
        for (int i = 0; keys[i]; i++) known |= strcmp(key, keys[i]) == 0;
        if (known) continue;
        const tl_node node = tl_node_key(root, key);
        const char *near = tl_nearest_word(key, keys);
        return near ? tl_node_fail(&node, false, err, "unknown key, did you mean '%s'?", near)
                    : tl_node_fail(&node, false, err, "unknown key (docs/fabrics.md lists them)");
    }
    tl_orthotropic *s = &out->sheet;
    TL_TRY(number(root, "density", 1e-3, 100, NAN, &s->density, err));
    if (isnan(s->density)) return tl_node_fail(root, false, err, "\"density\" is needed [kg/m^2]");
    TL_TRY(number(root, "thickness", 1e-6, 0.1, 5e-4, &s->thickness, err));
    TL_TRY(number(root, "poisson", 0, 0.9, 0.3, &s->poisson, err));
    TL_TRY(number(root, "drape", 0.01, 0.99, NAN, &out->drape, err));
    TL_TRY(rigidity(root, "warp", s->density, &s->bend_warp, err));
    TL_TRY(rigidity(root, "weft", s->density, &s->bend_weft, err));
    TL_TRY(curve(root, "tension_warp", pulled, 0.5, &s->stretch_warp, &out->misfit_warp, err));
    TL_TRY(curve(root, "tension_weft", pulled, 0.5, &s->stretch_weft, &out->misfit_weft, err));
    TL_TRY(curve(root, "shear", sheared, 0.7, &s->shear, &out->misfit_shear, err));
    if (isnan(s->stretch_warp) && isnan(s->stretch_weft))
        return tl_node_fail(root, false, err, "\"tension_warp\" or \"tension_weft\" is needed");
    if (isnan(s->stretch_warp)) s->stretch_warp = s->stretch_weft;
    if (isnan(s->stretch_weft)) s->stretch_weft = s->stretch_warp;
    if (isnan(s->shear)) s->shear = 0.02 * (s->stretch_warp + s->stretch_weft) / 2;  // as of weaves: they shear easily
    s->bend_bias = -1;
    tl_material check;
    return tl_material_orthotropic(s, &check, err);
}

tl_status tl_material_fit_tests(const char *path, tl_material_fit *out, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_json_doc *doc;
    tl_error own;
    if (!err) err = &own;
    *out = (tl_material_fit){0};
    TL_TRY(tl_json_load(&alloc, &(tl_json_def){.path = path}, &doc, err));
    const tl_node root = tl_json_root(doc);
    const char *name = json_string_value(json_object_get(root.value, "name"));
    if (name)
        snprintf(out->name, sizeof out->name, "%s", name);
    else
        tl_path_stem(path, out->name, sizeof out->name);
    const tl_status status = fit(&root, out, err);
    tl_json_destroy(doc);
    return status;
}

tl_status tl_material_save(const tl_material_fit *f, const char *source, const char *path, tl_error *err)
{
    const tl_orthotropic *s = &f->sheet;
    tl_material check;
    TL_TRY(tl_material_orthotropic(s, &check, err));
    const tl_allocator alloc = tl_allocator_default();
    json_t *out = json_object();
    json_object_set_new(out, "name", json_string(f->name));
    json_object_set_new(out, "kind", json_string("orthotropic"));
    json_object_set_new(out, "source", json_string(source));
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"density", s->density},           {"thickness", s->thickness}, {"stretch_warp", s->stretch_warp},
                   {"stretch_weft", s->stretch_weft}, {"shear", s->shear},         {"poisson", s->poisson},
                   {"bend_warp", s->bend_warp},       {"bend_weft", s->bend_weft}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(out, numbers[i].key, json_real(numbers[i].value));
    if (s->bend_bias >= 0) json_object_set_new(out, "bend_bias", json_real(s->bend_bias));
    tl_buf text;
    tl_buf_init(&text, &alloc);
    if (out) tl_json_write(&text, out);
    tl_buf_text(&text, "\n");
    tl_status status = out ? tl_buf_end(&text, "a fabric", err) : tl_fail_memory(err, "a fabric");
    if (status == TL_OK) status = tl_file_write(path, text.data, text.size, false, err);
    tl_buf_free(&text);
    json_decref(out);
    return status;
}
