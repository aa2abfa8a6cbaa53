// A slit annular plate lifted at one side of the slit (Sze, Liu & Lo 2004, sec. 3.3): large turns in bending and twist
// at once, where membranes that lock show first.

#include "strips.h"

#define INNER 6.0
#define OUTER 10.0
#define EDGE_WIDTH 0.02  // of the column whose weight is the load

/// Lift of the inner and outer corner at parts of the full load.
static const struct {
    double part, inner, outer;
} reference[] = {
    {0.025, 1.305, 1.789}, {0.1, 4.277, 5.876},   {0.2, 6.725, 9.160},   {0.3, 8.340, 11.213},
    {0.4, 9.529, 12.661},  {0.5, 10.468, 13.768}, {0.6, 11.257, 14.674}, {0.7, 11.970, 15.469},
    {0.8, 12.642, 16.202}, {0.9, 13.282, 16.886}, {1.0, 13.891, 17.528},
};
enum { LOADS = sizeof reference / sizeof *reference };

// Column 0 is behind the clamped side, column 1 on it, the last on the loaded side; the one before lies EDGE_WIDTH
// beside it, so that the load is the same along the side.
static tl_vec2 place(int column, int columns, double radius)
{
    const double turn = 2 * 3.14159265358979323846, step = turn / (columns - 3);
    if (column == 0) return (tl_vec2){radius, -INNER * step};
    if (column == columns - 1) return (tl_vec2){radius, 0};
    if (column == columns - 2) return (tl_vec2){radius, -EDGE_WIDTH};
    const double angle = (column - 1) * step;
    return (tl_vec2){radius * cos(angle), radius * sin(angle)};
}

static sheet annulus(int around, int across)
{
    const int columns = around + 3;
    sheet s = sheet_grid(1, 1, columns - 1, across, true);
    for (int j = 0; j <= across; j++)
        for (int i = 0; i < columns; i++) {
            const tl_vec2 p =
                place(i, columns, OUTER - (OUTER - INNER) * j / across);  // inwards: faces are counter-clockwise
            s.uv[j * columns + i] = p;
            s.pos[j * columns + i] = (tl_vec3){p.x, p.y, 0};
        }
    return s;
}

static void lifted(int around, int across, int load, double tolerance)
{
    tl_error err;
    const int columns = around + 3;
    sheet s = annulus(around, across);
    int32_t *label = calloc((size_t)s.face_count, sizeof *label), *held = malloc((size_t)s.node_count * sizeof *held),
            held_count = 0;
    for (int32_t f = 0; f < s.face_count; f++) label[f] = f % (2 * (columns - 1)) >= 2 * (columns - 2);
    for (int j = 0; j <= across; j++)
        for (int i = 0; i < 2; i++) held[held_count++] = j * columns + i;
    tl_material plate[2];
    assert_ok(tl_material_isotropic(21e6, 0, 0.03, 1e-9, &plate[0], &err));
    plate[1] = plate[0];
    plate[1].density = 0.8 * reference[load].part / EDGE_WIDTH;
    tl_sim_def def = static_def();
    def.gravity = (tl_vec3){0, 0, 1};
    def.newton_tolerance = 1e-7;  // 1e-5 of lengths of 10
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv;
    cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face, cloth.face_label = label;
    cloth.materials = plate, cloth.material_count = 2;
    tl_cloth_id id;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = id, hold.nodes = held, hold.node_count = held_count;
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    tl_step_report report = {0};
    assert_ok(tl_sim_step(sim, &report, &err));
    tl_cloth_view view;
    assert_ok(tl_sim_cloth_view(sim, id, &view));
    const double inner = view.pos[across * columns + columns - 1].z, outer = view.pos[columns - 1].z;
    print_message("slit annulus, %d faces, load %.3f: inner corner %.3f (%.3f, %+.2f %%), outer %.3f (%.3f, %+.2f %%); "
                  "%d iterations\n",
                  s.face_count, reference[load].part, inner, reference[load].inner,
                  100 * (inner / reference[load].inner - 1), outer, reference[load].outer,
                  100 * (outer / reference[load].outer - 1), report.newton_iterations);
    assert_near(inner, reference[load].inner, tolerance * reference[load].inner);
    assert_near(outer, reference[load].outer, tolerance * reference[load].outer);
    tl_sim_destroy(sim);
    free(label);
    free(held);
    sheet_free(&s);
}

// The mesh of the paper, 10 x 80 cells; coarser ones are stiffer, finer ones come nearer (docs/validation.md).
static void slit_annular_plate(void **state)
{
    (void)state;
    if (!getenv("TL_LONG")) {
        lifted(60, 8, 1, 0.03);
        lifted(80, 10, LOADS - 1, 0.03);
        return;
    }
    for (int k = 0; k < LOADS; k++) lifted(80, 10, k, 0.03);
    lifted(120, 15, LOADS - 1, 0.015);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slit_annular_plate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
