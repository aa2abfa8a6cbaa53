// What contact must leave alone: thickness, momentum, stiffness, rest; and what bodies do to cloth.

#include "contacts.h"

// --- thickness ---

typedef struct range { double low, high, sum; int count; } range;

static void note(range *r, double value)
{
    r->low = fmin(r->low, value), r->high = fmax(r->high, value), r->sum += value, r->count++;
}

static void check_range(const char *what, const range *r, double expect)
{
    print_message("%s: distance %.4f to %.4f of the thickness, mean %.4f, %d points\n", what, r->low / expect, r->high / expect,
                  r->sum / r->count / expect, r->count);
    assert_true(r->count > 0);
    assert_true(r->low >= 0.95 * expect && r->high <= 1.05 * expect);
}

typedef enum support { ON_PLANE, ON_BOX, ON_BALL } support;
static const char *const support_name[] = {"plane", "box", "ball"};

// Sheets laid one above the other, a little apart, come to rest. All gaps near the middle are measured.
static void check_layers(support on, int layers, double thickness, double density)
{
    enum { MOST = 10 };
    tl_error err;
    const double side = 0.06;
    tl_sim_def def = tl_sim_def_default();
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    const tl_material fabric = strip_fabric(500, on == ON_BALL ? 1e-6 : 1e-5, density);
    tl_cloth_id cloth[MOST];
    const double ground = on == ON_BALL ? 0.1 : 0;
    for (int k = 0; k < layers; k++) {
        char name[16];
        snprintf(name, sizeof name, "layer%d", k);
        sheet s = sheet_delaunay(side, side, 0.006, 1, 0, (uint64_t)k + 1);
        sheet_lay(&s, (tl_vec3){-0.5 * side, ground + (0.5 + 1.02 * k) * 1.02 * thickness + 1e-5, 0.5 * side}, (tl_vec3){1, 0, 0}, (tl_vec3){0, 0, -1});
        tl_cloth_def like = tl_cloth_def_default();
        like.name = name, like.thickness = thickness;
        cloth[k] = add_sheet(sim, &s, &fabric, like, NULL);
        sheet_free(&s);
    }
    tl_body_def body = tl_body_def_default();
    body.kind = on == ON_PLANE ? TL_BODY_PLANE : on == ON_BOX ? TL_BODY_BOX : TL_BODY_SPHERE;
    body.axis = (tl_vec3){0, 1, 0}, body.size = (tl_vec3){0.2, 0.1, 0.2}, body.radius = 0.1;
    if (on == ON_BOX) body.center = (tl_vec3){0, -0.05, 0};
    tl_body_id id;
    assert_ok(tl_sim_add_body(sim, &body, &id, &err));
    run_for(sim, 200);
    range first = {INFINITY, 0, 0, 0}, between = {INFINITY, 0, 0, 0};
    const surface ball = surface_of_body(sim, id);
    for (int k = 0; k < layers; k++) {
        const tl_cloth_view v = view_of(sim, cloth[k]);
        for (int32_t i = 0; i < v.node_count; i++) {
            if (fabs(v.uv[i].x - 0.5 * side) > 0.35 * side || fabs(v.uv[i].y - 0.5 * side) > 0.35 * side) continue;
            if (k == 0) {
                note(&first, on == ON_PLANE ? v.pos[i].y : distance_to(&ball, v.pos[i]));
            } else {
                const tl_cloth_view below = view_of(sim, cloth[k - 1]);
                const surface s = surface_of_cloth(&below);
                note(&between, distance_to(&s, v.pos[i]));
            }
        }
    }
    char what[80];
    snprintf(what, sizeof what, "%d on a %s, thickness %g mm, ground", layers, support_name[on], 1e3 * thickness);
    check_range(what, &first, 0.5 * thickness);
    snprintf(what, sizeof what, "%d on a %s, thickness %g mm, layers", layers, support_name[on], 1e3 * thickness);
    if (layers > 1) check_range(what, &between, thickness);
    tl_sim_destroy(sim);
}

static void thickness_on_plane(void **state)
{
    (void)state;
    check_layers(ON_PLANE, 1, 0.3e-3, 0.2);
    check_layers(ON_PLANE, 1, 1e-3, 0.2);
    check_layers(ON_PLANE, 1, 3e-3, 0.2);
}

static void thickness_on_box(void **state)
{
    (void)state;
    check_layers(ON_BOX, 1, 0.3e-3, 0.2);
    check_layers(ON_BOX, 1, 1e-3, 0.2);
    check_layers(ON_BOX, 1, 3e-3, 0.2);
}

static void thickness_on_ball(void **state)
{
    (void)state;
    check_layers(ON_BALL, 1, 0.3e-3, 0.2);
    check_layers(ON_BALL, 1, 1e-3, 0.2);
    check_layers(ON_BALL, 1, 3e-3, 0.2);
}

static void thickness_of_stack(void **state)
{
    (void)state;
    check_layers(ON_PLANE, 10, 1e-3, 0.2);
    check_layers(ON_BOX, 10, 0.3e-3, 0.2);
    check_layers(ON_BOX, 10, 3e-3, 0.2);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(thickness_on_plane), cmocka_unit_test(thickness_on_box),
                                       cmocka_unit_test(thickness_on_ball), cmocka_unit_test(thickness_of_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
