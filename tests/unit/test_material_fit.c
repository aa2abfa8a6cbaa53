// tests/unit/test_material_fit.c: fabrics from measured values: curves of known stiffness are found again, misfits are
// told, what is wrong is named by line, and what is saved is read back.

#include "test_io_help.h"

#include <math.h>

#include "toile/scene.h"

static double pulled(double e) { return (1 + e) * e * (2 + e) / 2; }

static void write_tests(const char *path, double warp, double weft, double shear, double noise)
{
    char text[2048];
    const double e[3] = {0.01, 0.03, 0.05}, a[2] = {0.1, 0.3};
    int n =
        snprintf(text, sizeof text,
                 "{\"name\": \"twill\", \"density\": 0.21, \"bending_length_warp\": 0.02, \"overhang_weft\": 0.03,\n");
    n += snprintf(text + n, sizeof text - (size_t)n, "\"tension_warp\": [");
    for (int i = 0; i < 3; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s[%g, %.17g]", i ? ", " : "", e[i],
                      warp * pulled(e[i]) * (1 + (i == 2 ? noise : 0)));
    n += snprintf(text + n, sizeof text - (size_t)n, "],\n\"tension_weft\": [[0.04, %.17g]],\n\"shear\": [",
                  weft * pulled(0.04));
    for (int i = 0; i < 2; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s[%g, %.17g]", i ? ", " : "", a[i],
                      shear * a[i] * sqrt(1 - a[i] * a[i]));
    snprintf(text + n, sizeof text - (size_t)n, "]}\n");
    help_write(path, text);
}

static void known_stiffness_is_found(void **state)
{
    (void)state;
    tl_material_fit fit;
    tl_error err;
    write_tests("tests.json", 900, 700, 40, 0);
    assert_int_equal(tl_material_fit_tests("tests.json", &fit, &err), TL_OK);
    assert_string_equal(fit.name, "twill");
    assert_near(fit.sheet.stretch_warp, 900, 1e-9);
    assert_near(fit.sheet.stretch_weft, 700, 1e-9);
    assert_near(fit.sheet.shear, 40, 1e-9);
    assert_near(fit.sheet.bend_warp, 0.21 * 9.81 * 8e-6, 1e-15);      // rho g c^3
    assert_near(fit.sheet.bend_weft, 0.21 * 9.81 * 3.375e-6, 1e-15);  // c is half the overhang
    assert_near(fit.misfit_warp + fit.misfit_weft + fit.misfit_shear, 0, 1e-12);
    assert_true(isnan(fit.drape));
    assert_near(fit.sheet.poisson, 0.3, 0);
    assert_near(fit.sheet.thickness, 5e-4, 0);
}

// With forces f_i at shapes g_i the best stiffness is sum g f / sum g g; the misfit is what is left, over the largest
// force.
static void misfits_are_told(void **state)
{
    (void)state;
    tl_material_fit fit;
    tl_error err;
    write_tests("tests.json", 900, 700, 40, 0.1);
    assert_int_equal(tl_material_fit_tests("tests.json", &fit, &err), TL_OK);
    const double g[3] = {pulled(0.01), pulled(0.03), pulled(0.05)}, f[3] = {900 * g[0], 900 * g[1], 990 * g[2]};
    double gf = 0, gg = 0, left = 0;
    for (int i = 0; i < 3; i++) gf += g[i] * f[i], gg += g[i] * g[i];
    for (int i = 0; i < 3; i++) left += (f[i] - gf / gg * g[i]) * (f[i] - gf / gg * g[i]);
    assert_near(fit.sheet.stretch_warp, gf / gg, 1e-9);
    assert_near(fit.misfit_warp, sqrt(left / 3) / f[2], 1e-12);
    assert_true(fit.misfit_warp > 0.001);
}

static void what_is_not_measured_is_filled_in(void **state)
{
    (void)state;
    tl_material_fit fit;
    tl_error err;
    help_write("linen.json", "{\"density\": 0.2, \"overhang_warp\": 0.04, \"overhang_weft\": 0.04, \"drape\": 0.6,\n"
                             " \"tension_weft\": [[0.1, 50]]}");
    assert_int_equal(tl_material_fit_tests("linen.json", &fit, &err), TL_OK);
    assert_string_equal(fit.name, "linen");  // the file's, where none is given
    assert_near(fit.sheet.stretch_warp, fit.sheet.stretch_weft, 0);
    assert_near(fit.sheet.shear, 0.02 * fit.sheet.stretch_weft, 1e-12);
    assert_near(fit.drape, 0.6, 0);
    assert_true(isnan(fit.misfit_warp) && isnan(fit.misfit_shear));
}

static void what_is_saved_is_read(void **state)
{
    (void)state;
    tl_material_fit fit;
    tl_material made, read;
    tl_error err;
    write_tests("tests.json", 900, 700, 40, 0);
    assert_int_equal(tl_material_fit_tests("tests.json", &fit, &err), TL_OK);
    assert_int_equal(tl_material_save(&fit, "measured here", "twill.json", &err), TL_OK);
    assert_int_equal(tl_material_load("twill.json", &read, &err), TL_OK);
    assert_int_equal(tl_material_orthotropic(&fit.sheet, &made, &err), TL_OK);
    assert_memory_equal(made.stretch, read.stretch, sizeof made.stretch);
    assert_memory_equal(made.bend, read.bend, sizeof made.bend);
    assert_true(made.density == read.density && made.thickness == read.thickness);
    fit.sheet.bend_warp = -1;
    assert_int_equal(tl_material_save(&fit, "", "bad.json", &err), TL_BAD_INPUT);
    assert_false(help_exists("bad.json"));
    fit.sheet.bend_warp = 1e-5;
    assert_int_equal(tl_material_save(&fit, "", "no/such/folder.json", &err), TL_IO);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
#define GOOD "\"density\": 0.2, \"overhang_warp\": 0.04, \"overhang_weft\": 0.04, \"tension_warp\": [[0.1, 50]]"
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\n\"densty\": 1}", "wrong.json:2: densty unknown key, did you mean 'density'?"},
        {"{}", "\"density\" is needed"},
        {"{\"density\": -1}", "density"},
        {"{\"density\": \"0.2\"}", "density"},
        {"{\"density\": 0.2, \"overhang_weft\": 0.04}", "overhang_warp"},
        {"{\"density\": 0.2, \"overhang_warp\": 0.04, \"bending_length_warp\": 0.02}", "one of"},
        {"{\"density\": 0.2, \"overhang_warp\": 0.04, \"overhang_weft\": 0.04}", "tension_warp"},
        {"{" GOOD ", \"poisson\": 1}", "poisson"},
        {"{" GOOD ", \"shear\": []}", "shear"},
        {"{" GOOD ",\n\"shear\": [[0.1]]}", "wrong.json:2"},
        {"{" GOOD ", \"shear\": [[0.8, 1]]}", "0.7"},
        {"{" GOOD ", \"shear\": [[0.1, -1]]}", "force > 0"},
        {"{" GOOD ", \"tension_weft\": [[0, 1]]}", "deformation"},
        {"{" GOOD ", \"drape\": 60}", "drape"},
        {"[1]", "wrong.json"},
        {"{", "wrong.json"},
    };
    tl_error err;
    tl_material_fit fit;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        help_write("wrong.json", cases[i].text);
        err.message[0] = 0;
        assert_int_equal(tl_material_fit_tests("wrong.json", &fit, &err), TL_BAD_INPUT);
        assert_message_has(cases[i].says);
    }
    assert_int_equal(tl_material_fit_tests("none.json", &fit, &err), TL_IO);
    assert_int_equal(tl_material_fit_tests("none.json", &fit, NULL), TL_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(known_stiffness_is_found, help_setup, help_teardown),
        cmocka_unit_test_setup_teardown(misfits_are_told, help_setup, help_teardown),
        cmocka_unit_test_setup_teardown(what_is_not_measured_is_filled_in, help_setup, help_teardown),
        cmocka_unit_test_setup_teardown(what_is_saved_is_read, help_setup, help_teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_named, help_setup, help_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
