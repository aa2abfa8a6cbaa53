// The drape test of Cusick (BS 5058, ISO 9073-9): a disc of 30 cm on a support of 18 cm; share of the ring that its
// shadow covers.
//
// As on the instrument, the disc lies flat on support and table, and the table sinks slowly. The support holds it by
// contact alone.

#include "contacts.h"

#include "bench_fidelity_stats.h"
#include "scene/shapes.h"

#define CLOTH_RADIUS 0.15
#define SUPPORT_RADIUS 0.09
#define LOWERING 2.0  // [s]
#define SECONDS 4.0   // by then it is at rest

typedef struct drape {
    double coefficient;  // (shadow - support) / (specimen - support)
    int folds;
    double speed;  // root mean square at the end [m/s]
    int32_t faces;
} drape;

static int by_angle(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

// Times that the distance of the rim from the axis rises through its mean, by 2 % of it at least.
static int count_folds(const tl_cloth_view *view)
{
    double(*rim)[2] = malloc((size_t)view->vert_count * sizeof *rim), mean = 0;
    int n = 0, folds = 0;
    for (int32_t i = 0; i < view->vert_count; i++) {
        if (hypot(view->uv[i].x, view->uv[i].y) < CLOTH_RADIUS * (1 - 1e-6)) continue;
        const tl_vec3 x = view->pos[view->vert_node[i]];
        rim[n][0] = atan2(view->uv[i].y, view->uv[i].x), rim[n][1] = hypot(x.x, x.z);
        mean += rim[n++][1];
    }
    mean /= n;
    qsort(rim, (size_t)n, sizeof *rim, by_angle);
    bool low = false;
    for (int i = 0; i < 2 * n; i++) {  // the first time round only finds the state
        if (rim[i % n][1] < 0.98 * mean) low = true;
        if (rim[i % n][1] > 1.02 * mean && low) low = false, folds += i >= n;
    }
    free(rim);
    return folds;
}

static double shadow(const tl_cloth_view *view)
{
    const double middle[2] = {0, 0};
    shape_mask mask;
    assert_true(shape_mask_make(700, 5e-4, middle, &mask));
    assert_int_equal(shape_mask_draw(&mask, view, SHAPE_ABOVE), 0);
    const double area = shape_mask_area(&mask);
    shape_mask_free(&mask);
    return area;
}

static double speed_of(const tl_cloth_view *view)
{
    double sum = 0;
    for (int32_t i = 0; i < view->node_count; i++) sum += tl_dot3(view->vel[i], view->vel[i]);
    return sqrt(sum / view->node_count);
}

static void add_cylinder(tl_sim *sim, const char *name, double radius, double top, double height, double friction,
                         const tl_motion_key *keys, int32_t key_count)
{
    tl_error err;
    tl_body_id id;
    tl_body_def def = tl_body_def_default();
    def.name = name, def.kind = TL_BODY_CYLINDER, def.radius = radius, def.axis = (tl_vec3){0, height, 0};
    def.center = (tl_vec3){0, top - height / 2, 0}, def.friction = friction, def.motion = keys,
    def.motion_count = key_count;
    assert_ok(tl_sim_add_body(sim, &def, &id, &err));
}

// Laid level, turned by `warp_deg` on its mesh.
static void lay_disc(tl_obj *disc, double warp_deg)
{
    const double c = cos(warp_deg * PI / 180), s = sin(warp_deg * PI / 180);
    for (int32_t i = 0; i < disc->node_count; i++) disc->pos[i] = (tl_vec3){disc->pos[i].x, 0.002, -disc->pos[i].y};
    for (int32_t i = 0; i < disc->vert_count; i++) {
        const tl_vec2 u = disc->uv[i];
        disc->uv[i] = (tl_vec2){c * u.x - s * u.y, s * u.x + c * u.y};
    }
}

/// `warp_deg`: how far the fabric is turned on the mesh.
static drape let_drape(const char *fabric, double edge, double warp_deg)
{
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    char path[1024];
    tl_material material;
    tl_obj disc;
    snprintf(path, sizeof path, "%s/materials/%s.json", TL_REPO, fabric);
    assert_ok(tl_material_load(path, &material, &err));
    assert_ok(tl_shape_disc(&alloc, CLOTH_RADIUS, edge, 1000000, &disc, &err));
    tl_sim_def def = tl_sim_def_default();
    def.dt = 1.0 / 100;
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    const tl_motion_key sink[2] = {{.time = 0, .rotate_axis = {0, 1, 0}},
                                   {.time = LOWERING, .translate = {0, -0.2, 0}, .rotate_axis = {0, 1, 0}}};
    add_cylinder(sim, "support", SUPPORT_RADIUS, 0, 0.2, 0.4, NULL, 0);
    add_cylinder(sim, "table", 0.2, -0.001, 0.02, 0.1, sink, 2);
    lay_disc(&disc, warp_deg);
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = disc.node_count, cloth.pos = disc.pos;
    cloth.vert_count = disc.vert_count, cloth.uv = disc.uv, cloth.vert_node = disc.vert_node;
    cloth.face_count = disc.face_count, cloth.face = (const int32_t(*)[3])disc.face;
    cloth.materials = &material, cloth.material_count = 1;
    tl_cloth_id id;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    run_for(sim, (int)lround(SECONDS / def.dt));
    const tl_cloth_view view = view_of(sim, id);
    const double support_area = PI * SUPPORT_RADIUS * SUPPORT_RADIUS, area = PI * CLOTH_RADIUS * CLOTH_RADIUS;
    const drape out = {(shadow(&view) - support_area) / (area - support_area), count_folds(&view), speed_of(&view),
                       view.face_count};
    tl_sim_destroy(sim);
    tl_obj_free(&disc);
    print_message("drape of %s, %d faces, warp at %g degrees: coefficient %.1f %%, %d folds; %.2g mm/s at the end\n",
                  fabric, out.faces, warp_deg, 100 * out.coefficient, out.folds, 1e3 * out.speed);
    return out;
}

/// Bands of drape coefficients [%], from papers as st-tech/ppf-contact-solver reads them (materials/README.md [1]).
/// Edges [m] follow the bending length: limp cloth on a mesh too coarse for its folds stands out like a board.
static const struct {
    const char *fabric;
    double low, high, edge;
} bands[] = {
    {"cotton", 60, 76, 0.012}, {"denim", 70, 90, 0.012},   {"wool", 40, 70, 0.008},
    {"silk", 20, 40, 0.006},   {"leather", 47, 70, 0.007}, {"flag-nylon", 20, 40, 0.005},
};
enum { QUICK = 2, INSIDE = 4, BANDS = 6 };  // run always; inside their bands. The last two are not (docs/validation.md)

static void check_band(int k, const drape *d)
{
    assert_true(100 * d->coefficient >= bands[k].low && 100 * d->coefficient <= bands[k].high);
    assert_in_range(d->folds, 3, 8);  // what is seen in the laboratory
    assert_true(d->speed < 5e-3);
}

static void cusick(void **state)
{
    (void)state;
    for (int k = 0; k < (getenv("TL_LONG") ? BANDS : QUICK); k++) {
        const drape d = let_drape(bands[k].fabric, bands[k].edge, 0);
        if (k < INSIDE) check_band(k, &d);
    }
}

// Neither the mesh nor the direction of the warp on it decides, though folds differ: there are many ways to hang.
static void cotton_turned(void **state)
{
    (void)state;
    const int step = getenv("TL_LONG") ? 1 : 4;
    for (int k = step; k < 8; k += step) {
        const drape d = let_drape("cotton", 0.012, 22.5 * k);
        check_band(0, &d);
    }
    static const double edges[] = {0.015, 0.009, 0.007};
    for (int k = 0; getenv("TL_LONG") && k < 3; k++) {
        const drape d = let_drape("cotton", edges[k], 0);
        check_band(0, &d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cusick), cmocka_unit_test(cotton_turned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
