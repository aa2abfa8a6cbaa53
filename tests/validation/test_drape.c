// The drape test of Cusick (BS 5058, ISO 9073-9): a disc of 30 cm on a support of 18 cm; share of the ring that its shadow covers.

#include "contacts.h"

#include "bench_fidelity_stats.h"
#include "io/shapes.h"

#define CLOTH_RADIUS 0.15
#define SUPPORT_RADIUS 0.09

typedef struct drape {
    double coefficient;  // (shadow - support) / (specimen - support)
    int folds;
    double speed;        // root mean square at the end [m/s]
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

/// `warp_deg`: how far the fabric is turned on the mesh. `shift` of the start [m].
static drape let_drape(const char *fabric, double edge, double warp_deg, double shift, double seconds)
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
    tl_body_def support = tl_body_def_default();
    tl_body_id support_id;
    support.kind = TL_BODY_CYLINDER, support.radius = SUPPORT_RADIUS, support.axis = (tl_vec3){0, 0.2, 0};
    support.center = (tl_vec3){0, -0.1, 0}, support.friction = 0.4;
    assert_ok(tl_sim_add_body(sim, &support, &support_id, &err));
    const double c = cos(warp_deg * PI / 180), s = sin(warp_deg * PI / 180);
    tl_cloth_def cloth = tl_cloth_def_default();
    for (int32_t i = 0; i < disc.node_count; i++) {
        const tl_vec3 p = disc.pos[i];
        disc.pos[i] = (tl_vec3){p.x + shift, 0.002, -p.y};
    }
    for (int32_t i = 0; i < disc.vert_count; i++) {
        const tl_vec2 u = disc.uv[i];
        disc.uv[i] = (tl_vec2){c * u.x - s * u.y, s * u.x + c * u.y};
    }
    cloth.node_count = disc.node_count, cloth.pos = disc.pos;
    cloth.vert_count = disc.vert_count, cloth.uv = disc.uv, cloth.vert_node = disc.vert_node;
    cloth.face_count = disc.face_count, cloth.face = (const int32_t(*)[3])disc.face;
    cloth.materials = &material, cloth.material_count = 1;
    tl_cloth_id id;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    run_for(sim, (int)lround(seconds / def.dt));
    const tl_cloth_view view = view_of(sim, id);
    const double support_area = PI * SUPPORT_RADIUS * SUPPORT_RADIUS, area = PI * CLOTH_RADIUS * CLOTH_RADIUS;
    const drape out = {(shadow(&view) - support_area) / (area - support_area), count_folds(&view), speed_of(&view), view.face_count};
    tl_sim_destroy(sim);
    tl_obj_free(&disc);
    print_message("drape of %s, %d faces, warp at %g degrees: coefficient %.1f %%, %d folds; %.2g mm/s after %g s\n", fabric, out.faces,
                  warp_deg, 100 * out.coefficient, out.folds, 1e3 * out.speed, seconds);
    return out;
}

static void cusick(void **state)
{
    (void)state;
    static const char *const fabrics[] = {"cotton", "denim", "silk", "wool", "leather", "flag-nylon"};
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        let_drape(fabrics[i], 0.012, 0, 0, 1.5);
        let_drape(fabrics[i], 0.012, 0, 0, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cusick)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
