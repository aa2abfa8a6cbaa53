// tests/unit/test_def.c: definitions of programs that are older than the library are completed with defaults, newer
// ones refused.

#include <string.h>

#include "base/def.h"
#include "check.h"
#include "toile/toile.h"

static void a_shorter_definition_gets_defaults_for_the_rest(void **state)
{
    (void)state;
    tl_handle_def old = tl_handle_def_default();
    assert_int_equal(old.struct_size, sizeof old);
    old.label = 7, old.stiffness = 5;
    old.struct_size = offsetof(tl_handle_def, start);  // a program that knows nothing from `start` on
    tl_handle_def full = tl_handle_def_default();
    tl_error err;
    assert_int_equal(tl_def_complete(&old, &full, sizeof full, "tl_handle_def_default", &err), TL_OK);
    assert_int_equal(full.label, 7);
    assert_true(full.stiffness == 1e3);  // the default, not the bytes beyond the program's struct
    assert_int_equal(full.struct_size, sizeof full);
}

static void defaults_stay_within_the_programs_struct(void **state)
{
    (void)state;
    tl_cloth_def def;
    memset(&def, 0x5a, sizeof def);
    const size_t known = offsetof(tl_cloth_def, friction_self);
    tl_cloth_def_init(&def, known);
    assert_int_equal(def.struct_size, known);
    assert_true(def.thickness == 1e-3);
    const unsigned char *bytes = (const unsigned char *)&def;
    for (size_t i = known; i < sizeof def; i++) assert_int_equal(bytes[i], 0x5a);
}

static void zero_and_newer_definitions_are_refused(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = NULL;
    tl_sim_def def = {0};
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "tl_sim_def_default"));
    def = tl_sim_def_default();
    def.struct_size += 8;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "newer"));
    assert_int_equal(tl_sim_create(NULL, &sim, &err), TL_BAD_ARG);
    assert_null(sim);
}

// Definitions that are handed to functions without a simulation are read the same way.
static void grids_meshes_and_exports_take_older_definitions_and_refuse_newer_ones(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    const tl_vec2 square[] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    tl_error err;
    tl_grid_def def = tl_grid_def_default();
    def.cells_u = def.cells_v = 2;
    def.struct_size = offsetof(tl_grid_def, strip_tries);
    def.strip_tries = -1;  // beyond what that program knows
    tl_quad_grid grid;
    assert_int_equal(tl_quad_grid_make(&alloc, square, 4, NULL, &def, NULL, &grid, &err), TL_OK);
    tl_quad_grid_free(&grid);
    def = (tl_grid_def){.cells_u = 2, .cells_v = 2};
    assert_int_equal(tl_quad_grid_make(&alloc, square, 4, NULL, &def, NULL, &grid, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "tl_grid_def_default"));

    tl_delaunay_def fill = tl_delaunay_def_default();
    fill.struct_size += 8;
    const tl_region_edge edges[] = {{.a = 0, .b = 1}, {.a = 1, .b = 2}, {.a = 2, .b = 3}, {.a = 3, .b = 0}};
    const tl_region region = {.point = square, .point_count = 4, .edge = edges, .edge_count = 4};
    tl_delaunay_mesh mesh;
    assert_int_equal(tl_delaunay_fill(&alloc, &region, 1, NULL, 0, &fill, &mesh, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "newer"));

    tl_export_report report;
    const tl_export_def none = {.dir = "run", .out = "a.ply"};
    assert_int_equal(tl_export(&none, &report, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "tl_export_def_default"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shorter_definition_gets_defaults_for_the_rest),
        cmocka_unit_test(defaults_stay_within_the_programs_struct),
        cmocka_unit_test(grids_meshes_and_exports_take_older_definitions_and_refuse_newer_ones),
        cmocka_unit_test(zero_and_newer_definitions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
