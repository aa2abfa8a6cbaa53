// tests/unit/test_io_material.c: fabric files of every kind, the published format, the library.

#include "test_io_help.h"

#include <dirent.h>

#include "scene/material_io.h"
#include "scene/material_keys.h"

#define COMMON "\"source\": \"s\", "

static void check_fails(const char *text, tl_status status, const char *message)
{
    tl_error err;
    tl_material m;
    help_write("m.json", text);
    assert_fails(tl_material_load("m.json", &m, &err), status, message);
}

static void isotropic_and_orthotropic(void **state)
{
    (void)state;
    tl_error err;
    tl_material m, direct;
    help_write("m.json",
               "{\"kind\": \"isotropic\"," COMMON "\"density\": 0.3, \"thickness\": 0.001, \"young\": 1e6,"
               "\"poisson\": 0.25, \"damping_stretch\": 0.01, \"damping_bend\": 0.02, \"friction_bend\": 3e-4}");
    assert_ok(tl_material_load("m.json", &m, &err));
    assert_ok(tl_material_isotropic(1e6, 0.25, 0.001, 0.3, &direct, &err));
    assert_memory_equal(m.stretch, direct.stretch, sizeof m.stretch);
    assert_memory_equal(m.bend, direct.bend, sizeof m.bend);
    assert_near(m.damping_stretch, 0.01, 0);
    assert_near(m.damping_bend, 0.02, 0);
    assert_near(m.friction_bend, 3e-4, 0);
    assert_string_equal(m.name, "m");
    help_write("m.json", "{\"kind\": \"isotropic\"," COMMON "\"density\": 0.3, \"thickness\": 0.001, \"young\": 1e6,"
                         "\"bend\": 5e-5, \"name\": \"soft\"}");
    assert_ok(tl_material_load("m.json", &m, &err));
    assert_near(m.bend[2][4], 5e-5, 0);
    assert_string_equal(m.name, "soft");
    help_write("m.json",
               "{\"kind\": \"orthotropic\"," COMMON "\"density\": 0.3, \"stretch_warp\": 100, \"stretch_weft\": 50,"
               "\"shear\": 10, \"poisson\": 0.3, \"bend_warp\": 2e-5, \"bend_weft\": 1e-5}");
    assert_ok(tl_material_load("m.json", &m, &err));
    const tl_orthotropic def = {.stretch_warp = 100,
                                .stretch_weft = 50,
                                .shear = 10,
                                .poisson = 0.3,
                                .bend_warp = 2e-5,
                                .bend_weft = 1e-5,
                                .bend_bias = -1,
                                .density = 0.3,
                                .thickness = 0.0005};
    assert_ok(tl_material_orthotropic(&def, &direct, &err));
    assert_memory_equal(m.stretch, direct.stretch, sizeof m.stretch);
    assert_memory_equal(m.bend, direct.bend, sizeof m.bend);
    assert_near(m.thickness, 0.0005, 0);
}

static void sheets_of_laboratories(void **state)
{
    (void)state;
    tl_error err;
    tl_material m, direct;
    assert_ok(tl_material_load(TL_REPO "/materials/wool.json", &m, &err));
    const tl_kesf kesf = {0.62, 0.60, 6.98, 12.0, 4.5, 8.0, 0.60, 0.60, 0.09, 0.07, 24, 0.6};
    assert_ok(tl_material_kesf(&kesf, &direct, &err));
    assert_memory_equal(m.stretch, direct.stretch, sizeof m.stretch);
    assert_near(m.density, 0.24, 1e-15);
    assert_ok(tl_material_load(TL_REPO "/materials/wool-light.json", &m, &err));
    const tl_fast fast = {0.3, 0.6, 1.0, 1.8, 2.8, 4.5, 4.0, 17, 15.5, 170, 0.4};
    assert_ok(tl_material_fast(&fast, &direct, &err));
    assert_memory_equal(m.stretch, direct.stretch, sizeof m.stretch);
    assert_memory_equal(m.bend, direct.bend, sizeof m.bend);
}

static void measured_tables(void **state)
{
    (void)state;
    tl_error err;
    tl_material m;
    help_write("m.json", "{\"kind\": \"measured\"," COMMON "\"density\": 0.3, \"stretch\": [[100, 20, 80, 30]],"
                         "\"bend\": [[1e-5], [2e-5, 3e-5, 4e-5, 5e-5, 6e-5], [7e-5]], \"bend_step\": 20}");
    assert_ok(tl_material_load("m.json", &m, &err));
    assert_near(m.stretch[5][1], 20, 0);
    assert_near(m.bend[0][4], 1e-5, 0);
    assert_near(m.bend[1][2], 4e-5, 0);
    assert_near(m.bend[2][1], 7e-5, 0);
    assert_near(m.stretch_sample, 1.0 / 6, 0);
    assert_near(m.bend_step, 20, 0);
}

// Worked by hand from tests/data/io/made-up-fabric.json: stiffness doubled, rigidity quartered, negative is 0.
static void published_format(void **state)
{
    (void)state;
    tl_error err;
    tl_material m;
    assert_ok(tl_material_load(TL_TEST_DATA "/io/made-up-fabric.json", &m, &err));
    assert_string_equal(m.name, "made-up-fabric");
    assert_near(m.density, 0.25, 0);
    assert_near(m.stretch[0][0], 200, 0);
    assert_near(m.stretch[0][1], 0, 0);  // -5
    assert_near(m.stretch[1][1], 40, 0);
    assert_near(m.stretch[2][1], 40, 1e-12);  // 2 * 50 > sqrt(20 * 80)
    assert_near(m.stretch[2][3], 0, 0);       // -32
    assert_near(m.stretch[3][0], 0, 0);       // -3
    assert_near(m.stretch[3][1], 0, 0);       // no c12 beside a c11 of 0
    assert_near(m.stretch[5][2], 258, 0);
    assert_near(m.bend[0][0], 1e-5, 1e-20);
    assert_near(m.bend[0][4], 0, 0);
    assert_near(m.bend[2][4], 1e-5, 1e-20);
    assert_near(m.bend_step, 10, 0);
}

static void every_complaint_has_its_line(void **state)
{
    (void)state;
    check_fails("{\n}", TL_BAD_INPUT,
                "m.json:1: the fabric lacks 'kind' (isotropic, orthotropic, measured, kesf or fast)");
    check_fails("{\n\"kind\": \"isotropik\"}", TL_BAD_INPUT,
                "m.json:2: kind \"isotropik\", must be one of \"isotropic\", \"orthotropic\", \"measured\", "
                "\"kesf\", \"fast\""
                " (did you mean 'isotropic'?)");
    check_fails("{\"kind\": \"isotropic\", \"density\": 1, \"young\": 1, \"thickness\": 1}", TL_BAD_INPUT,
                "m.json:1: the fabric lacks 'source' (say where the numbers come from)");
    check_fails("{\"kind\": \"isotropic\"," COMMON "\n\"density\": -0.2, \"young\": 1, \"thickness\": 1}", TL_BAD_INPUT,
                "m.json:2: density -0.2, must be > 0");
    check_fails("{\"kind\": \"isotropic\"," COMMON "\n\"densty\": 0.2, \"young\": 1, \"thickness\": 1}", TL_BAD_INPUT,
                "m.json:2: densty is not a known key (did you mean 'density'?)");
    check_fails("{\"kind\": \"isotropic\"," COMMON
                "\"density\": 0.2, \"young\": 1,\n\"poisson\": 0.6, \"thickness\": 1}",
                TL_BAD_INPUT, "m.json:2: poisson 0.6, must be in (-1, 0.5]");
    check_fails("{\"kind\": \"orthotropic\"," COMMON "\"density\": 0.3, \"stretch_warp\": 50, \"stretch_weft\": 100,"
                "\"shear\": 10, \"poisson\": 0.9, \"bend_warp\": 2e-5, \"bend_weft\": 1e-5}",
                TL_BAD_INPUT, "m.json:1: poisson 0.9, must be below 0.707107 for this warp and weft");
    check_fails("{\"kind\": \"measured\"," COMMON "\"density\": 0.3,\n\"stretch\": [\n[100, 200, 80, 30]],"
                "\"bend\": [[1], [1], [1]]}",
                TL_BAD_INPUT,
                "m.json:3: stretch[0] (100, 200, 80, 30): c11, c22, c33 must be >= 0 and c12^2 <= c11 c22");
    check_fails("{\"kind\": \"measured\"," COMMON "\"density\": 0.3, \"stretch\": [[1, 0, 1, 1], [1, 0, 1, 1]],"
                "\"bend\": [[1], [1], [1]]}",
                TL_BAD_INPUT, "m.json:1: stretch [..] of 2, must have 1 or 6 rows");
    check_fails("{\"kind\": \"measured\"," COMMON "\"density\": 0.3, \"stretch\": [[1, 0, 1, 1]],"
                "\"bend\": [[1],\n[1, 2], [1]]}",
                TL_BAD_INPUT, "m.json:2: bend[1] [..] of 2, must be a list of 1 or 5 numbers");
    check_fails("{\"kind\": \"measured\"," COMMON "\"density\": 0.3, \"stretch\": [[1, 0, 1, 1]],"
                "\"bend\": [[1], [-2], [1]]}",
                TL_BAD_INPUT, "m.json:1: bend[1][0] -2, must be >= 0");
    check_fails("{\"density\": 0.3, \"stretching\": [[1, 0, 1, 1]], \"bending\": [[1]]}", TL_BAD_INPUT,
                "m.json:1: stretching [..] of 1, must have at least 6 entries");
    check_fails("{\"density\": 0.3, \"stretching\": [[1, 0, 1, 1e308]], \"bending\": [[1]]}", TL_BAD_INPUT,
                "m.json:1: stretching [..] of 1, must have at least 6 entries");
    tl_error err;
    tl_material m;
    assert_int_equal(tl_material_load("gone.json", &m, &err), TL_IO);
    assert_int_equal(tl_material_load(".", &m, &err), TL_IO);
    assert_int_equal(tl_material_load(NULL, &m, &err), TL_BAD_ARG);
}

// Every fabric of the library: readable, with a source, positive, and the same bits after being written in full.
static void the_library(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    setenv("TOILE_DATA", TL_REPO, 1);
    DIR *folder = opendir(TL_REPO "/materials");
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        const size_t n = strlen(entry->d_name);
        if (n < 6 || strcmp(entry->d_name + n - 5, ".json") != 0) continue;
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)(n - 5), entry->d_name);
        tl_material m, again;
        json_t *resolved = NULL;
        assert_ok(tl_material_find(&alloc, NULL, name, "", &m, &resolved, &err));
        assert_string_equal(m.name, name);
        assert_true(m.density > 0.01 && m.density < 2);
        assert_true(m.stretch[0][0] > 0 && m.bend[0][0] > 0);
        assert_true(strlen(json_string_value(json_object_get(resolved, "source"))) > 20);
        tl_buf text;
        tl_buf_init(&text, &alloc);
        tl_json_write(&text, resolved);
        assert_ok(tl_buf_end(&text, "text", &err));
        help_write("again.json", text.data);
        assert_ok(tl_material_load("again.json", &again, &err));
        assert_memory_equal(&m, &again, sizeof m);
        tl_buf_free(&text);
        json_decref(resolved);
        count++;
    }
    closedir(folder);
    assert_true(count >= 10);
    tl_material m;
    assert_fails(tl_material_find(&alloc, NULL, "coton", "", &m, NULL, &err), TL_BAD_INPUT,
                 "no fabric of this name (did you mean 'cotton'? "
                 "There are cotton, denim, felt, flag-nylon, jersey, leather, linen, paper, polyester-lining, silk, "
                 "wool, wool-light)");
    unsetenv("TOILE_DATA");
}

static void schema_is_in_step(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    json_t *schema = tl_material_schema();
    assert_non_null(schema);
    tl_buf text;
    tl_buf_init(&text, &alloc);
    tl_json_write(&text, schema);
    tl_buf_text(&text, "\n");
    assert_ok(tl_buf_end(&text, "text", &err));
    if (getenv("TOILE_WRITE_SCHEMA")) help_write(TL_REPO "/docs/material.schema.json", text.data);
    char *committed = help_read(TL_REPO "/docs/material.schema.json", NULL);
    assert_string_equal(text.data, committed);  // else: run this test with TOILE_WRITE_SCHEMA=1 and commit
    free(committed);
    tl_buf_free(&text);
    json_decref(schema);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tl_error err;
    bool done = false;
    for (int64_t at = 0; !done; at++) {
        ledger f;
        const tl_allocator alloc = failing_allocator(&f, at);
        tl_material m;
        json_t *resolved = NULL;
        const tl_status status = tl_material_open(&alloc, NULL, TL_REPO "/materials/jersey.json", &m, &resolved, &err);
        assert_true(status == TL_OK || status == TL_NO_MEMORY);
        json_decref(resolved);
        assert_true(f.live == 0 && at < 100);
        done = status == TL_OK;
    }
}

static void every_allocation_of_jansson_may_fail(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    bool done = false;
    for (size_t at = 0; !done; at++) {
        tl_material m;
        json_t *resolved = NULL, *schema;
        json_left = at;
        json_set_alloc_funcs(json_failing_malloc, free);
        done = tl_material_open(&alloc, NULL, TL_TEST_DATA "/io/paper.json", &m, &resolved, &err) == TL_OK;
        json_decref(resolved);
        schema = done ? NULL : tl_material_schema();
        json_decref(schema);
        json_set_alloc_funcs(malloc, free);
        assert_true(at < 10000);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {
        TEST(isotropic_and_orthotropic), TEST(sheets_of_laboratories),       TEST(measured_tables),
        TEST(published_format),          TEST(every_complaint_has_its_line), TEST(the_library),
        TEST(schema_is_in_step),         TEST(every_allocation_may_fail),    TEST(every_allocation_of_jansson_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
