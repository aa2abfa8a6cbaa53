// Strain limits: derivatives against differences, degenerate faces, multipliers, the nearest state within limits.

#include "check.h"
#include "sheets.h"

#include <time.h>

#include "base/alloc.h"
#include "math/bsr_row.h"
#include "math/vec3.h"
#include "physics/strain_limit.h"

typedef struct model {
    tl_allocator alloc;
    tl_arena arena;
    tl_mesh *mesh;
    tl_elements *e;
    tl_bsr *matrix;
    tl_strain_limits *l;
    tl_vec3 *x;  // in element order
} model;

static model make_model(const sheet *s, const tl_strain_def *limits)
{
    tl_error err;
    model m = {.alloc = tl_allocator_default()};
    tl_arena_init(&m.arena, m.alloc);
    const tl_mesh_def def = {.node_count = s->node_count, .vert_count = s->node_count, .face_count = s->face_count,
                             .pos = s->pos, .uv = s->uv, .face_vert = (const int32_t(*)[3])s->face};
    assert_ok(tl_mesh_create(&m.alloc, &def, &m.mesh, &err));
    const tl_material fabric = tl_material_default();
    const tl_element_source source = {m.mesh, &fabric, 1};
    assert_ok(tl_elements_create(&m.alloc, &source, 1, TL_BEND_HINGE, &m.e, &err));
    assert_ok(tl_elements_matrix(m.e, &m.arena, &m.matrix, &err));
    assert_ok(tl_strain_limits_create(&m.alloc, m.e, limits, &m.l, &err));
    m.x = malloc((size_t)m.e->node_count * sizeof *m.x);
    for (int32_t i = 0; i < m.e->node_count; i++) m.x[i] = m.mesh->pos[m.e->slot_of_node[i]];
    return m;
}

static void free_model(model *m)
{
    tl_strain_limits_destroy(m->l);
    tl_bsr_destroy(&m->alloc, m->matrix);
    tl_elements_destroy(m->e);
    tl_mesh_destroy(m->mesh);
    tl_arena_free(&m->arena);
    free(m->x);
}

static tl_strain_def isotropic(double min, double max) { return (tl_strain_def){TL_STRAIN_ISOTROPIC, min, max, 0, 0, 0}; }

static const tl_strain_def both_kinds[] = {{TL_STRAIN_ISOTROPIC, -0.03, 0.05, 0, 0, 0},
                                           {TL_STRAIN_ISOTROPIC, 0, 0, 0, 0, 0},
                                           {TL_STRAIN_ALIGNED, -0.03, 0.05, -0.02, 0.04, 0.06},
                                           {TL_STRAIN_ALIGNED, 0, 0, 0, 0, 0}};
enum { KINDS = sizeof both_kinds / sizeof *both_kinds };

static double *coordinate(tl_vec3 *x, int k) { return k == 0 ? &x->x : k == 1 ? &x->y : &x->z; }

static double energy(model *m, const tl_vec3 *x)
{
    double out;
    tl_error err;
    assert_ok(tl_strain_energy(m->l, m->e, x, &m->arena, NULL, &out, &err));
    return out;
}

static void random_multipliers(model *m, double size)
{
    for (int32_t f = 0; f < m->e->face_count; f++) {
        m->l->base[f] = m->l->stiffness[f] = 500 + 10 * f;
        for (int k = 0; k < 3; k++) m->l->trial[f][k] = size * (2 * tl_random(3, (uint64_t)k, (uint64_t)f) - 1);
    }
}

static void crumple(model *m, double amount)
{
    for (int32_t i = 0; i < m->e->node_count; i++)
        for (int k = 0; k < 3; k++) *coordinate(&m->x[i], k) += amount * (2 * tl_random(5, (uint64_t)k, (uint64_t)i) - 1);
}

static void force_is_the_gradient_of_the_energy(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        sheet s = sheet_delaunay(0.5, 0.4, 0.12, 1.5, 20, 3);
        model m = make_model(&s, &both_kinds[kind]);
        crumple(&m, 0.02);
        random_multipliers(&m, 40);
        tl_vec3 *g = calloc((size_t)m.e->node_count, sizeof *g);
        tl_strain_assemble(m.l, m.e, m.x, NULL, g, NULL);
        const double h = 1e-6;
        for (int32_t i = 0; i < m.e->node_count; i++)
            for (int k = 0; k < 3; k++) {
                double *c = coordinate(&m.x[i], k), keep = *c;
                *c = keep + h;
                const double high = energy(&m, m.x);
                *c = keep - h;
                const double low = energy(&m, m.x);
                *c = keep;
                assert_near(*coordinate(&g[i], k), (high - low) / (2 * h), 1e-4);  // of forces of some 10 N
            }
        free(g), free_model(&m), sheet_free(&s);
    }
}

// Where all faces are pulled both ways and no multiplier is askew, nothing is left out of the Hessian.
static void hessian_is_exact_under_tension(void **state)
{
    (void)state;
    sheet s = sheet_delaunay(0.5, 0.4, 0.12, 1.5, 20, 3);
    const tl_strain_def limits = isotropic(-0.03, 0.05);
    model m = make_model(&s, &limits);
    const int32_t n = m.e->node_count;
    for (int32_t i = 0; i < n; i++) m.x[i].x *= 1.5, m.x[i].y *= 1.3;
    crumple(&m, 0.01);
    random_multipliers(&m, 0);
    tl_vec3 *v = malloc((size_t)n * sizeof *v), *g[2], *hv = malloc((size_t)n * sizeof *v), *x = malloc((size_t)n * sizeof *v);
    for (int32_t i = 0; i < n; i++) v[i] = (tl_vec3){sin(3 * i), cos(2 * i), sin(5 * i + 1)};
    const double h = 1e-6;
    for (int k = 0; k < 2; k++) {
        g[k] = calloc((size_t)n, sizeof *v);
        for (int32_t i = 0; i < n; i++) x[i] = tl_madd3(m.x[i], k ? h : -h, v[i]);
        tl_strain_assemble(m.l, m.e, x, NULL, g[k], NULL);
    }
    tl_vec3 *rest = calloc((size_t)n, sizeof *v);
    tl_strain_assemble(m.l, m.e, m.x, m.matrix, rest, NULL);
    tl_bsr_multiply(m.matrix, NULL, v, hv);
    for (int32_t i = 0; i < n; i++) {
        const tl_vec3 d = tl_mul3(1 / (2 * h), tl_sub3(g[1][i], g[0][i]));
        assert_near(tl_norm3(tl_sub3(d, hv[i])), 0, 1e-4 * (1 + tl_norm3(d)));
    }
    free(v), free(g[0]), free(g[1]), free(hv), free(x), free(rest);
    free_model(&m), sheet_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(force_is_the_gradient_of_the_energy),
                                       cmocka_unit_test(hessian_is_exact_under_tension)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
