// Contact of one step, looked at from inside: derivatives against differences, the operator against the sum of all pairs, the
// limiter against the exact test, and a press that leaves no room.

#include "check.h"
#include "sheets.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rng.h"
#include "collide/contact_impl.h"
#include "collide/contact_law.h"
#include "collide/distance.h"
#include "collide/edges.h"
#include "collide/intersect.h"
#include "toile/toile.h"

// ---- a step with contact and nothing else ----

enum { MOST_BODIES = 3 };

typedef struct surface { int32_t nodes, faces, edges; tl_vec3 *x; int32_t (*face)[3], (*edge)[2]; } surface;

static surface make_surface(int32_t nodes, int32_t faces)
{
    surface s = {nodes, faces, 0, calloc((size_t)nodes, sizeof *s.x), calloc((size_t)faces, sizeof *s.face), NULL};
    return s;
}

static void close_surface(surface *s)
{
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    assert_ok(tl_unique_edges(&alloc, (const int32_t(*)[3])s->face, s->faces, &s->edge, &s->edges, NULL, &err));
}

static void free_surface(surface *s)
{
    const tl_allocator alloc = tl_allocator_default();
    TL_FREE(&alloc, s->edge, s->edges);
    free(s->x), free(s->face);
}

static tl_surface view_of(const surface *s)
{
    return (tl_surface){s->nodes, s->faces, s->edges, (const int32_t(*)[3])s->face, (const int32_t(*)[2])s->edge};
}

/// Everything that contact is told. `cloth` is cut in two cloths at node `split`.
typedef struct world {
    surface cloth, body[MOST_BODIES];
    tl_vec3 plane[2][2 * MOST_BODIES];  ///< begin and end
    bool is_plane[MOST_BODIES], moves[MOST_BODIES];
    int32_t body_count, split;
    double thickness, friction;
    tl_vec2 *uv;
    int32_t *panel;
    tl_vec3 *x_hat, *body_begin, *body_end;
    uint8_t *fixed;
    double *mass;
    tl_contacts *contacts;
    tl_arena arena;
} world;

static double noise(uint64_t seed, uint64_t stream, uint64_t i) { return 2 * tl_random(seed, stream, i) - 1; }
static tl_vec3 noise3(uint64_t seed, uint64_t stream, uint64_t i)
{
    return (tl_vec3){noise(seed, stream, 3 * i), noise(seed, stream, 3 * i + 1), noise(seed, stream, 3 * i + 2)};
}

// Bodies begin and end where their x says; the caller changes what it likes and then begins a step.
static void open_world(world *w)
{
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    const int32_t n = w->cloth.nodes;
    int32_t *cloth = calloc((size_t)n, sizeof *cloth), body_nodes = 0;
    double *area = calloc((size_t)w->cloth.faces, sizeof *area);
    if (!w->uv) w->uv = calloc((size_t)n, sizeof *w->uv);
    w->panel = calloc((size_t)n, sizeof *w->panel);
    w->x_hat = calloc((size_t)n, sizeof *w->x_hat), w->fixed = calloc((size_t)n, 1), w->mass = calloc((size_t)n, sizeof *w->mass);
    for (int32_t i = 0; i < n; i++) {
        cloth[i] = i >= w->split, w->mass[i] = 1e-4, w->x_hat[i] = w->cloth.x[i];
        w->panel[i] = w->uv[i].x == 0 && w->uv[i].y == 0 && i > 0 ? -1 : cloth[i];
    }
    for (int32_t f = 0; f < w->cloth.faces; f++) {
        const tl_vec3 *x = w->cloth.x;
        const int32_t *c = w->cloth.face[f];
        area[f] = 0.5 * tl_norm3(tl_cross3(tl_sub3(x[c[1]], x[c[0]]), tl_sub3(x[c[2]], x[c[0]])));
    }
    tl_contact_body bodies[MOST_BODIES];
    for (int32_t b = 0; b < w->body_count; b++) {
        bodies[b] = (tl_contact_body){view_of(&w->body[b]), w->body[b].x, NULL, 0.2 * w->thickness, w->is_plane[b], w->moves[b]};
        body_nodes += w->body[b].nodes;
    }
    w->body_begin = calloc((size_t)body_nodes + 1, sizeof *w->body_begin);
    w->body_end = calloc((size_t)body_nodes + 1, sizeof *w->body_end);
    for (int32_t b = 0, at = 0; b < w->body_count; b++)
        for (int32_t i = 0; i < w->body[b].nodes; i++, at++) w->body_begin[at] = w->body_end[at] = w->body[b].x[i];
    const double thickness[2] = {w->thickness, w->thickness}, self[4] = {w->friction, w->friction, w->friction, w->friction};
    double rub[2 * MOST_BODIES];
    for (int k = 0; k < 2 * MOST_BODIES; k++) rub[k] = w->friction;
    const tl_contacts_def def = {.cloth = view_of(&w->cloth), .x = w->cloth.x, .face_area = area, .node_cloth = cloth,
                                 .node_uv = w->uv, .node_panel = w->panel, .cloth_count = 2, .body_count = w->body_count,
                                 .thickness = thickness,
                                 .friction_self = self, .friction_body = rub, .bodies = bodies, .pressure = 5e3, .slip_speed = 1e-2,
                                 .self = true};
    assert_ok(tl_contacts_create(&alloc, &def, &w->contacts, &err));
    tl_arena_init(&w->arena, alloc);
    free(cloth), free(area);
}

static void begin_step(world *w)
{
    tl_error err;
    const tl_contact_step step = {w->body_begin, w->body_end, w->plane[0], w->plane[1], w->x_hat,
                                  w->fixed,      w->cloth.x,  w->mass,     200,         0.005};
    assert_ok(tl_contacts_begin(w->contacts, &step, w->cloth.x, &w->arena, NULL, &err));
}

static void close_world(world *w)
{
    tl_contacts_destroy(w->contacts);
    tl_arena_free(&w->arena);
    free_surface(&w->cloth);
    for (int32_t b = 0; b < w->body_count; b++)
        if (!w->is_plane[b]) free_surface(&w->body[b]);
    free(w->uv), free(w->panel), free(w->x_hat), free(w->fixed), free(w->mass), free(w->body_begin), free(w->body_end);
}

// ---- derivatives ----

static double energy_at(world *w, const tl_vec3 *x)
{
    tl_error err;
    double out;
    assert_ok(tl_contacts_energy(w->contacts, x, 0, &w->arena, NULL, &out, &err));
    return out;
}

static void gradient_at(world *w, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *out)
{
    tl_error err;
    for (int32_t i = 0; i < w->cloth.nodes; i++) out[i] = (tl_vec3){0, 0, 0};
    assert_ok(tl_contacts_assemble(w->contacts, x, matrix, out, &w->arena, NULL, &err));
}

static void find_pairs(world *w, const tl_vec3 *x)
{
    tl_error err;
    tl_vec3 *still = calloc((size_t)w->cloth.nodes, sizeof *still);
    assert_ok(tl_contacts_search(w->contacts, x, still, &w->arena, NULL, &err));
    assert_ok(tl_contacts_settle(w->contacts, x, NULL, &err));
    free(still);
}

static tl_bsr *matrix_of(const surface *s)
{
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    int32_t *start = calloc((size_t)s->faces + 1, sizeof *start);
    for (int32_t f = 0; f <= s->faces; f++) start[f] = 3 * f;
    tl_bsr *out;
    assert_ok(tl_bsr_create(&alloc, s->nodes, s->faces, start, &s->face[0][0], &out, &err));
    free(start);
    return out;
}

/// Two sheets one above the other, bent and shaken, on a tetrahedron and a plane that are within the thickness too.
static void crowded_world(double friction, uint64_t seed, world *out)
{
    world w = {.thickness = 0.03, .friction = friction, .body_count = 2, .is_plane = {false, true}};
    sheet s = sheet_grid(0.2, 0.2, 4, 4, true);
    w.split = s.node_count;
    w.cloth = make_surface(2 * s.node_count, 2 * s.face_count);
    w.uv = calloc((size_t)w.cloth.nodes, sizeof *w.uv);
    for (int32_t i = 0; i < w.cloth.nodes; i++) {
        const tl_vec2 p = w.uv[i] = s.uv[i % s.node_count];
        const tl_vec3 shake = tl_mul3(0.004, noise3(seed, 1, (uint64_t)i));
        w.cloth.x[i] = tl_add3((tl_vec3){p.x, 0.012 + 0.02 * (i >= s.node_count) + 0.05 * p.x * p.y, p.y}, shake);
    }
    for (int32_t f = 0; f < w.cloth.faces; f++)
        for (int k = 0; k < 3; k++) w.cloth.face[f][k] = s.face[f % s.face_count][k] + (f >= s.face_count) * s.node_count;
    sheet_free(&s);
    close_surface(&w.cloth);
    static const int32_t face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const tl_vec3 corner[4] = {{0.02, -0.2, 0.02}, {0.18, -0.2, 0.05}, {0.07, -0.2, 0.19}, {0.08, 0.001, 0.09}};
    w.body[0] = make_surface(4, 4);
    memcpy(w.body[0].face, face, sizeof face), memcpy(w.body[0].x, corner, sizeof corner);
    close_surface(&w.body[0]);
    for (int end = 0; end < 2; end++) w.plane[end][2] = (tl_vec3){0, -0.004 + 2e-5 * end, 0}, w.plane[end][3] = (tl_vec3){0, 1, 0};
    open_world(&w);
    // what it slid: some below and some above the slip speed; bodies slide too
    for (int32_t i = 0; i < w.cloth.nodes; i++)
        w.x_hat[i] = tl_madd3(w.cloth.x[i], i % 3 ? 2e-5 : 3e-4, noise3(seed, 2, (uint64_t)i));
    for (int32_t i = 0; i < 4; i++) w.body_begin[i] = tl_add3(w.body_end[i], (tl_vec3){3e-5, 0, -2e-5});
    for (int32_t i = 0; i < w.cloth.nodes; i += 11) w.fixed[i] = 1, w.x_hat[i] = w.cloth.x[i];
    *out = w;
    begin_step(out);
}

static void the_gradient_is_that_of_the_energy(void **state)
{
    (void)state;
    int kinds[3] = {0, 0, 0};
    for (uint64_t seed = 0; seed < 12; seed++) {
        world w;
        crowded_world(seed % 2 ? 0.4 : 0, seed, &w);
        const int32_t n = w.cloth.nodes;
        tl_vec3 *g = calloc((size_t)n, sizeof *g), *x = calloc((size_t)n, sizeof *x);
        memcpy(x, w.cloth.x, (size_t)n * sizeof *x);
        find_pairs(&w, x);
        gradient_at(&w, x, NULL, g);
        for (int32_t i = 0; i < w.contacts->pressing; i++) kinds[w.contacts->contacts[i].pair.kind]++;
        double scale = 0;
        for (int32_t i = 0; i < n; i++) scale = fmax(scale, tl_norm3(g[i]));
        for (int32_t i = 0; i < n; i++) {
            for (int k = 0; k < 3; k++) {
                if (w.fixed[i]) continue;
                const double h = 1e-8, was = (&x[i].x)[k];  // nearer than the slip distance; the energy is about 0.1 J
                (&x[i].x)[k] = was + h;
                const double high = energy_at(&w, x);
                (&x[i].x)[k] = was - h;
                const double low = energy_at(&w, x);
                (&x[i].x)[k] = was;
                assert_near((&g[i].x)[k], (high - low) / (2 * h), 2e-6 * scale);
            }
            if (w.fixed[i]) assert_true(g[i].x == 0 && g[i].y == 0 && g[i].z == 0);
        }
        free(g), free(x);
        close_world(&w);
    }
    assert_true(kinds[PAIR_VF] > 100 && kinds[PAIR_EE] > 100 && kinds[PAIR_PLANE] > 20);
}

// y += B x
static void add_blocks(const tl_bsr *blocks, int32_t n, const tl_vec3 *x, tl_vec3 *y)
{
    if (!blocks) return;
    tl_vec3 *bx = calloc((size_t)n, sizeof *bx);
    tl_bsr_multiply(blocks, NULL, x, bx);
    for (int32_t i = 0; i < n; i++) y[i] = tl_add3(y[i], bx[i]);
    free(bx);
}

// The matrix and the operator together are the sum over contacts of w_i w_j times the stiffness, for nodes that are solved for.
static void matrix_and_operator_are_the_sum_of_all_contacts(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    for (uint64_t seed = 0; seed < 8; seed++) {
        world w;
        crowded_world(seed % 2 ? 0.4 : 0, seed, &w);
        const int32_t n = w.cloth.nodes;
        tl_bsr *matrix = matrix_of(&w.cloth);
        tl_vec3 *v = calloc((size_t)(6 * n), sizeof *v), *a = v + n, *b = a + n, *av = b + n, *bv = av + n, *sum = bv + n;
        find_pairs(&w, w.cloth.x);
        gradient_at(&w, w.cloth.x, matrix, v);
        for (int32_t i = 0; i < n; i++) a[i] = noise3(seed, 3, (uint64_t)i), b[i] = noise3(seed, 4, (uint64_t)i);
        tl_bsr_multiply(matrix, NULL, a, av);
        tl_bsr_multiply(matrix, NULL, b, bv);
        add_blocks(tl_contacts_blocks(w.contacts), n, a, av);
        add_blocks(tl_contacts_blocks(w.contacts), n, b, bv);
        double scale = 0, ab = 0, ba = 0, aa = 0;
        for (int32_t c = 0; c < w.contacts->contact_count; c++) {
            const contact *ct = &w.contacts->contacts[c];
            tl_vec3 z = {0, 0, 0};
            for (int k = 0; k < pair_nodes(&ct->pair); k++)
                if (ct->pair.node[k] < n && !w.fixed[ct->pair.node[k]]) z = tl_madd3(z, ct->weight[k], a[ct->pair.node[k]]);
            const double *s = ct->stiff;
            const tl_vec3 f = {s[0] * z.x + s[5] * z.y + s[4] * z.z, s[5] * z.x + s[1] * z.y + s[3] * z.z,
                               s[4] * z.x + s[3] * z.y + s[2] * z.z};
            assert_true(tl_dot3(z, f) >= -1e-12 * tl_norm3(f));  // every contact by itself is positive
            for (int k = 0; k < pair_nodes(&ct->pair); k++)
                if (ct->pair.node[k] < n && !w.fixed[ct->pair.node[k]])
                    sum[ct->pair.node[k]] = tl_madd3(sum[ct->pair.node[k]], ct->weight[k], f);
        }
        for (int32_t i = 0; i < n; i++) {
            scale = fmax(scale, tl_norm3(sum[i]));
            ab += tl_dot3(b[i], av[i]), ba += tl_dot3(a[i], bv[i]), aa += tl_dot3(a[i], av[i]);
        }
        assert_true(scale > 0 && aa > 0);
        assert_near(ab, ba, 1e-12 * n * scale);
        for (int32_t i = 0; i < n; i++) assert_near(tl_norm3(tl_sub3(sum[i], av[i])), 0, 1e-12 * scale);
        free(v);
        tl_bsr_destroy(&alloc, matrix);
        close_world(&w);
    }
}

/// One pair by itself: a node over the middle of a face (0), two edges across (1), or a node over a plane (2).
static void single_world(int kind, double friction, world *out)
{
    world w = {.thickness = 0.02, .friction = friction, .body_count = kind == 2, .is_plane = {true}};
    // Sharp triangles whose other features are far from each other.
    static const tl_vec3 place[3][6] = {
        {{0.03, 0.011, 0.02}, {0.5, 0.9, 0.1}, {-0.3, 0.9, 0.4}, {-0.6, 0, -0.5}, {0.7, 0, -0.4}, {0.1, 0, 0.8}},
        {{-0.4, 0.012, 0.05}, {0.5, 0.012, 0.02}, {0.1, 0.9, 0.1}, {0.03, 0, -0.6}, {-0.05, 0, 0.7}, {0, -0.8, 0.1}},
        {{0.03, 0.011, 0.02}, {0.5, 0.9, 0.1}, {-0.3, 0.9, 0.4}, {5, 5, 5}, {6, 5, 5}, {5, 5, 6}}};
    w.split = 3, w.cloth = make_surface(6, 2);
    memcpy(w.cloth.x, place[kind], sizeof place[kind]);
    for (int k = 0; k < 6; k++) w.cloth.face[k / 3][k % 3] = k;
    close_surface(&w.cloth);
    for (int end = 0; end < 2; end++) w.plane[end][0] = (tl_vec3){0, 0, 0}, w.plane[end][1] = (tl_vec3){0, 1, 0};
    open_world(&w);
    for (int k = 0; k < 3; k++) w.x_hat[k] = tl_add3(w.cloth.x[k], (tl_vec3){2e-5, 0, -1e-5});  // slides below the slip speed
    *out = w;
    begin_step(out);
}

// When the first feature moves as a whole, normal and distance depend on it in a simple way and nothing is left out of the
// matrix but what load does to friction, which is lagged: then it is the derivative of the gradient.
static void the_matrix_is_the_derivative_of_the_gradient(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    for (int kind = 0; kind < 3; kind++)
        for (int rough = 0; rough < 2; rough++) {
            world w;
            single_world(kind, rough ? 0.5 : 0, &w);
            const int m = kind == 1 ? 2 : 1;
            tl_vec3 x[6], g[6], v[6], av[6], low[6], high[6];
            memcpy(x, w.cloth.x, sizeof x);
            find_pairs(&w, x);
            tl_bsr *matrix = matrix_of(&w.cloth);
            gradient_at(&w, x, matrix, g);
            assert_int_equal(w.contacts->pressing, 1);
            assert_int_equal((int)w.contacts->contacts[0].pair.kind, kind);
            const tl_vec3 n = w.contacts->contacts[0].normal;
            const tl_vec3 u = tl_unit3_or(tl_cross3(n, (tl_vec3){0.3, 0.1, 1}), n), axes[3] = {n, u, tl_cross3(n, u)};
            double scale = 0;  // of the stiffness across the gap, which comes first
            for (int a = 0; a < 3; a++) {
                const double h = 1e-7;
                memset(v, 0, sizeof v);
                for (int k = 0; k < m; k++) v[k] = axes[a];
                gradient_at(&w, x, NULL, g);
                tl_bsr_multiply(matrix, NULL, v, av);
                add_blocks(tl_contacts_blocks(w.contacts), w.cloth.nodes, v, av);
                for (int side = 0; side < 2; side++) {
                    tl_vec3 y[6];
                    for (int k = 0; k < 6; k++) y[k] = tl_madd3(x[k], side ? h : -h, v[k]);
                    gradient_at(&w, y, NULL, side ? high : low);
                }
                tl_vec3 whole = {0, 0, 0}, slope = {0, 0, 0};
                for (int k = 0; k < m; k++) {
                    whole = tl_add3(whole, av[k]);
                    slope = tl_madd3(slope, 1 / (2 * h), tl_sub3(high[k], low[k]));
                }
                scale = fmax(scale, tl_norm3(whole));
                assert_near(tl_dot3(whole, n), tl_dot3(slope, n), 1e-5 * scale);
                if (a > 0) assert_near(tl_norm3(tl_sub3(whole, slope)), 0, 1e-5 * scale);
                if (a > 0 && rough) assert_true(tl_norm3(whole) > 100);
            }
            // what the first feature feels, the second feels the other way
            tl_vec3 force = {0, 0, 0};
            gradient_at(&w, x, NULL, g);
            for (int k = 0; k < 6; k++) force = tl_add3(force, g[k]);
            if (kind < 2) assert_near(tl_norm3(force), 0, 1e-13 * tl_norm3(g[0]));
            // the load by hand
            const contact *only = &w.contacts->contacts[0];
            const double gap = x[0].y / only->pair.thickness;
            assert_near(only->load, 5e3 * only->pair.area * (1 - gap) / (gap * gap), 1e-6);
            tl_bsr_destroy(&alloc, matrix);
            close_world(&w);
        }
}

// ---- the limiter ----

/// Where everything is at part t of what was allowed.
typedef struct moment { tl_vec3 *x, *body; double done; } moment;

static moment moment_at(const world *w, const tl_vec3 *x, const tl_vec3 *u, double t)
{
    const tl_contacts *c = w->contacts;
    const int32_t n = w->cloth.nodes;
    moment m = {calloc((size_t)(n + c->body_nodes), sizeof *m.x), NULL, c->done + t * c->allowed * (1 - c->done)};
    m.body = m.x + n;
    for (int32_t i = 0; i < n; i++) m.x[i] = tl_madd3(x[i], t, u[i]);
    for (int32_t i = 0; i < c->body_nodes; i++)
        m.body[i] = m.done >= 1 ? w->body_end[i] : tl_madd3(w->body_begin[i], m.done, tl_sub3(w->body_end[i], w->body_begin[i]));
    return m;
}

static int crossings_of(const surface *a, const tl_vec3 *xa, const surface *b, const tl_vec3 *xb)
{
    int count = 0;
    for (int32_t e = 0; e < a->edges; e++)
        for (int32_t f = 0; f < b->faces; f++) {
            const int32_t *p = a->edge[e], *q = b->face[f];
            if (a == b && (p[0] == q[0] || p[0] == q[1] || p[0] == q[2] || p[1] == q[0] || p[1] == q[1] || p[1] == q[2])) continue;
            count += tl_segment_meets_triangle(&xa[p[0]], &xa[p[1]], &xb[q[0]], &xb[q[1]], &xb[q[2]]);
        }
    return count;
}

static double nearest_of(const surface *a, const tl_vec3 *xa, const surface *b, const tl_vec3 *xb)
{
    double out = (double)INFINITY;
    for (int32_t v = 0; v < a->nodes; v++)
        for (int32_t f = 0; f < b->faces; f++) {
            const int32_t *q = b->face[f];
            if (a == b && (v == q[0] || v == q[1] || v == q[2])) continue;
            out = fmin(out, tl_nearest_vertex_face((tl_vec3[4]){xa[v], xb[q[0]], xb[q[1]], xb[q[2]]}).distance);
        }
    for (int32_t e = 0; e < a->edges; e++)
        for (int32_t g = 0; g < b->edges; g++) {
            const int32_t *p = a->edge[e], *q = b->edge[g];
            if (a == b && (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1])) continue;
            out = fmin(out, tl_nearest_edge_edge((tl_vec3[4]){xa[p[0]], xa[p[1]], xb[q[0]], xb[q[1]]}).distance);
        }
    return out;
}

static int crossings_at(const world *w, const moment *m)
{
    int count = crossings_of(&w->cloth, m->x, &w->cloth, m->x);
    for (int32_t b = 0; b < w->body_count; b++) {
        if (w->is_plane[b]) {
            tl_vec3 point, normal;
            contact_plane(w->contacts, b, m->done, &point, &normal);
            for (int32_t i = 0; i < w->cloth.nodes; i++) count += !(tl_dot3(normal, tl_sub3(m->x[i], point)) > 0);
            continue;
        }
        const tl_vec3 *y = m->body + w->contacts->body_start[b];
        count += crossings_of(&w->cloth, m->x, &w->body[b], y) + crossings_of(&w->body[b], y, &w->cloth, m->x);
    }
    return count;
}

static double nearest_at(const world *w, const moment *m)
{
    double out = nearest_of(&w->cloth, m->x, &w->cloth, m->x);
    for (int32_t b = 0; b < w->body_count; b++) {
        if (w->is_plane[b]) continue;
        const tl_vec3 *y = m->body + w->contacts->body_start[b];
        out = fmin(out, fmin(nearest_of(&w->cloth, m->x, &w->body[b], y), nearest_of(&w->body[b], y, &w->cloth, m->x)));
    }
    return out;
}

enum { SOUP, FOLDS, COPLANAR, PARALLEL, LAYERS, START_KINDS };

// Small triangles at random places of a lattice, so that they do not touch.
static surface soup(uint64_t seed)
{
    surface s = make_surface(3 * 12, 12);
    for (int32_t f = 0; f < 12; f++) {
        const tl_vec3 middle = tl_mul3(0.1, (tl_vec3){f % 3, f / 3 % 2, f / 6});
        for (int k = 0; k < 3; k++) {
            s.face[f][k] = 3 * f + k;
            s.x[3 * f + k] = tl_madd3(middle, 0.049, noise3(seed, 5, (uint64_t)(3 * f + k)));
        }
    }
    return s;
}

// A strip in zigzag, pleats almost closed.
static surface folds(double gap, uint64_t seed)
{
    sheet s = sheet_grid(0.4, 0.1, 8, 2, true);
    surface out = make_surface(s.node_count, s.face_count);
    for (int32_t i = 0; i < s.node_count; i++) {
        const int column = (int)lrint(s.uv[i].x / 0.05);
        out.x[i] = tl_madd3((tl_vec3){column * gap, column % 2 ? 0.05 : 0, s.uv[i].y}, 0.1 * gap, noise3(seed, 6, (uint64_t)i));
    }
    memcpy(out.face, s.face, (size_t)s.face_count * sizeof *out.face);
    sheet_free(&s);
    return out;
}

// Squares in one plane, or edges exactly parallel: `rise` 0 lays them side by side, else one above the other.
static surface squares(double gap, double rise)
{
    surface out = make_surface(12, 6);
    static const int32_t face[2][3] = {{0, 1, 2}, {0, 2, 3}};
    for (int k = 0; k < 3; k++) {
        const double left = rise > 0 ? 0 : k * (0.1 + gap), up = k * rise;
        const tl_vec3 x[4] = {{left, up, 0}, {left + 0.1, up, 0}, {left + 0.1, up, 0.1}, {left, up, 0.1}};
        memcpy(out.x + 4 * k, x, sizeof x);
        for (int f = 0; f < 2; f++)
            for (int i = 0; i < 3; i++) out.face[2 * k + f][i] = face[f][i] + 4 * k;
    }
    return out;
}

static surface start_of(int kind, double gap, uint64_t seed)
{
    surface s = kind == SOUP ? soup(seed) : kind == FOLDS ? folds(gap, seed) : squares(gap, kind == COPLANAR ? 0 : gap);
    if (kind == PARALLEL)  // long thin ones whose edges run alongside
        for (int32_t i = 0; i < s.nodes; i++) s.x[i].z *= 0.01;
    if (kind == LAYERS)
        for (int32_t i = 0; i < s.nodes; i++) s.x[i] = tl_madd3(s.x[i], 0.2 * gap, noise3(seed, 7, (uint64_t)i));
    close_surface(&s);
    return s;
}

enum { ANYWHERE, FAR, FLAT, POINT, MIRROR, FEW, IN_PLANE, NONE, HARDLY, MOVE_KINDS };

static tl_vec3 move_of(int kind, tl_vec3 x, uint64_t seed, uint64_t i)
{
    const tl_vec3 r = noise3(seed, 8, i);
    switch (kind) {
    case ANYWHERE: return tl_mul3(0.3, r);
    case FAR: return tl_mul3(1e4, r);
    case FLAT: return (tl_vec3){0, -x.y, 0};                           // all onto one plane at t = 1
    case POINT: return tl_mul3(-1, x);                                 // all into one point
    case MIRROR: return tl_mul3(-2, x);                                // through it, inside out
    case FEW: return i % 7 ? (tl_vec3){0, 0, 0} : tl_mul3(0.5, r);
    case IN_PLANE: return (tl_vec3){0.5 * r.x, 0, 0.5 * r.z};          // coplanar stays coplanar
    case NONE: return (tl_vec3){0, 0, 0};
    default: return tl_mul3(1e-9, r);
    }
}

// A tetrahedron that passes right through, and a plane that sweeps and turns.
static void add_bodies(world *w, uint64_t seed)
{
    w->body_count = 2, w->is_plane[1] = w->moves[0] = w->moves[1] = true;
    static const int32_t face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const tl_vec3 corner[4] = {{0, 0, 0}, {0.15, 0, 0.02}, {0.03, 0.01, 0.15}, {0.06, 0.12, 0.06}};
    w->body[0] = make_surface(4, 4);
    memcpy(w->body[0].face, face, sizeof face);
    for (int k = 0; k < 4; k++) w->body[0].x[k] = tl_add3(corner[k], (tl_vec3){0, -0.3, 0});
    close_surface(&w->body[0]);
    w->plane[0][2] = (tl_vec3){0.1, -0.2, 0.4}, w->plane[0][3] = (tl_vec3){0, 1, 0};
    const tl_vec3 way = {0.3 * noise(seed, 9, 0), 0.4 * tl_random(seed, 9, 1), 0.3 * noise(seed, 9, 2)};
    w->plane[1][2] = tl_add3(w->plane[0][2], way);
    w->plane[1][3] = tl_unit3_or(tl_madd3((tl_vec3){0, 1, 0}, 0.7, noise3(seed, 9, 1)), (tl_vec3){0, 1, 0});
}

static void check_path(const world *w, const tl_vec3 *x, const tl_vec3 *u)
{
    enum { TIMES = 16 };
    for (int k = 1; k <= TIMES; k++) {
        moment m = moment_at(w, x, u, (double)k / TIMES);
        assert_int_equal(crossings_at(w, &m), 0);
        if (k == TIMES) assert_true(nearest_at(w, &m) > 0);
        free(m.x);
    }
}

static void fuzz_one(int start, int move, double gap, double thickness, bool with_bodies, uint64_t seed, int64_t *cut, int *done)
{
    tl_error err;
    world w = {.thickness = thickness, .cloth = start_of(start, gap, seed)};
    w.split = w.cloth.nodes / 2;
    if (with_bodies) add_bodies(&w, seed);
    open_world(&w);
    const int32_t n = w.cloth.nodes;
    tl_vec3 *x = w.cloth.x, *u = calloc((size_t)n, sizeof *u);
    if (with_bodies)
        for (uint64_t k = 0; k < 4; k++)
            w.body_end[k] = tl_madd3(tl_add3(w.body_begin[k], (tl_vec3){0, 0.6, 0}), 0.1, noise3(seed, 10, k));
    begin_step(&w);
    moment now = moment_at(&w, x, u, 0);
    const bool clear = crossings_at(&w, &now) == 0;
    free(now.x);
    for (int round = 0; round < 4 && clear; round++) {
        for (int32_t i = 0; i < n; i++) u[i] = move_of(round == 3 ? HARDLY : move, x[i], seed + (uint64_t)round, (uint64_t)i);
        const bool reached = round == 3 && tl_contacts_reach(w.contacts, x, u);
        if (!reached) assert_ok(tl_contacts_search(w.contacts, x, u, &w.arena, NULL, &err));
        int64_t limited;
        assert_ok(tl_contacts_limit(w.contacts, x, u, !reached, &w.arena, NULL, &limited, &err));
        *cut += limited;
        for (int32_t i = 0; i < n; i++) assert_true(tl_finite3(u[i]));
        check_path(&w, x, u);
        for (int32_t i = 0; i < n; i++) x[i] = tl_add3(x[i], u[i]);
        tl_contacts_move_bodies(w.contacts, 1);
        assert_ok(tl_contacts_settle(w.contacts, x, NULL, &err));
        (*done)++;
    }
    free(u);
    close_world(&w);
}

static void nothing_meets_on_paths_that_were_cut(void **state)
{
    (void)state;
    static const double gaps[3] = {0.01, 1e-4, 1e-9}, thicknesses[3] = {5e-3, 1e-7, 0.05};
    const uint64_t seeds = getenv("TL_LONG") ? 40 : 1;
    int64_t cut = 0;
    int done = 0, cases = 0;
    for (uint64_t seed = 0; seed < seeds; seed++)
        for (int start = 0; start < START_KINDS; start++)
            for (int move = 0; move < MOVE_KINDS; move++)
                for (int k = (start + move) % 3; k < 9; k += seeds > 1 ? 1 : 3, cases++)  // all kinds, a third of their products
                    fuzz_one(start, move, gaps[(k + k / 3) % 3], thicknesses[k / 3], (k + move + (int)seed) % 2, seed, &cut, &done);
    print_message("%d starts, %d moves, %lld nodes cut\n", cases, done, (long long)cut);
    assert_true(done > 2 * cases);
    assert_true(cut > 1000);
}

// ---- searches that follow each other ----

static bool has_pair(const tl_contacts *c, pair_kind kind, const int32_t node[4])
{
    for (int32_t i = 0; i < c->pair_count; i++)
        if (c->pairs[i].kind == kind && memcmp(c->pairs[i].node, node, sizeof c->pairs[i].node) == 0) return true;
    return false;
}

static bool comes_near(const tl_vec3 *x, const tl_vec3 *u, const int32_t node[4], pair_kind kind, double reach)
{
    enum { TIMES = 8 };
    for (int k = 0; k <= TIMES; k++) {
        tl_vec3 at[4];
        for (int i = 0; i < 4; i++) at[i] = tl_madd3(x[node[i]], (double)k / TIMES, u[node[i]]);
        if ((kind == PAIR_VF ? tl_nearest_vertex_face(at) : tl_nearest_edge_edge(at)).distance <= reach) return true;
    }
    return false;
}

// All pairs of the cloth that share no node, one by one.
static int check_pairs(const world *w, const tl_vec3 *x, const tl_vec3 *u)
{
    const tl_contacts *c = w->contacts;
    const double reach = 0.999 * (w->thickness + 2 * c->skin);
    int near = 0;
    for (int32_t v = 0; v < w->cloth.nodes; v++)
        for (int32_t f = 0; f < w->cloth.faces; f++) {
            const int32_t *k = w->cloth.face[f], node[4] = {v, k[0], k[1], k[2]};
            if (v == k[0] || v == k[1] || v == k[2] || !comes_near(x, u, node, PAIR_VF, reach)) continue;
            assert_true(has_pair(c, PAIR_VF, node));
            near++;
        }
    for (int32_t a = 0; a < w->cloth.edges; a++)
        for (int32_t b = a + 1; b < w->cloth.edges; b++) {
            const int32_t *p = w->cloth.edge[a], *q = w->cloth.edge[b], node[4] = {p[0], p[1], q[0], q[1]};
            if (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1] || !comes_near(x, u, node, PAIR_EE, reach)) continue;
            assert_true(has_pair(c, PAIR_EE, node));
            near++;
        }
    return near;
}

// Moves of any size, again and again: what a search may take over from the one before is for it to know.
static void no_pair_is_lost(void **state)
{
    (void)state;
    int near = 0, searches = 0, moves = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        world w = {.thickness = 4e-3, .cloth = start_of(seed % 3 == 0 ? SOUP : seed % 3 == 1 ? FOLDS : LAYERS, 2e-3, seed)};
        w.split = w.cloth.nodes / 2;
        const tl_vec3 far = tl_mul3(seed % 4 == 3 ? 300 : 0, noise3(seed, 20, 0));  // rounding in single precision
        for (int32_t i = 0; i < w.cloth.nodes; i++) w.cloth.x[i] = tl_add3(w.cloth.x[i], far);
        open_world(&w);
        tl_error err;
        tl_vec3 *x = w.cloth.x, *u = calloc((size_t)w.cloth.nodes, sizeof *u);
        for (int step = 0; step < 3; step++) {
            begin_step(&w);
            for (int round = 0; round < 6; round++, moves++) {
                const double size = w.contacts->skin * (round == 0 ? 20 : step == 0 ? 0.3 : step == 1 ? 1 : 4);
                for (int32_t i = 0; i < w.cloth.nodes; i++) u[i] = tl_mul3(size, noise3(seed, 30 + (uint64_t)(6 * step + round), (uint64_t)i));
                assert_ok(tl_contacts_search(w.contacts, x, u, &w.arena, NULL, &err));
                near += check_pairs(&w, x, u);
                for (int32_t i = 0; i < w.cloth.nodes; i++) x[i] = tl_add3(x[i], u[i]);
            }
            searches += w.contacts->report.searches;
        }
        free(u);
        close_world(&w);
    }
    print_message("%d pairs come near in %d moves, %d searches\n", near, moves, searches);
    assert_true(near > 1000);
    assert_true(searches < moves);  // else nothing was taken over
}

// Whatever pairs a search from scratch finds. (Others may be kept that were near on a way before.)
static int check_against_all(const tl_contacts *some, const tl_contacts *all)
{
    for (int32_t i = 0; i < all->pair_count; i++) assert_true(has_pair(some, all->pairs[i].kind, all->pairs[i].node));
    return all->pair_count;
}

// All pairs with body 0, which is no plane, as the last search was told.
static int check_body_pairs(const world *w)
{
    const tl_contacts *c = w->contacts;
    const surface *own = &w->cloth, *body = &w->body[0];
    const double reach = 0.999 * (0.5 * w->thickness + c->bodies[0].thickness + 2 * c->skin);
    const int32_t n = own->nodes;
    int near = 0;
    for (int side = 0; side < 2; side++) {  // nodes of the cloth with faces of the body, and the other way round
        const surface *p = side ? body : own, *q = side ? own : body;
        for (int32_t v = 0; v < p->nodes; v++)
            for (int32_t f = 0; f < q->faces; f++) {
                const int32_t *k = q->face[f], off = side ? 0 : n, node[4] = {v + n - off, k[0] + off, k[1] + off, k[2] + off};
                if (!comes_near(c->at, c->way, node, PAIR_VF, reach)) continue;
                assert_true(has_pair(c, PAIR_VF, node));
                near++;
            }
    }
    for (int32_t a = 0; a < own->edges; a++)
        for (int32_t b = 0; b < body->edges; b++) {
            const int32_t node[4] = {own->edge[a][0], own->edge[a][1], body->edge[b][0] + n, body->edge[b][1] + n};
            if (!comes_near(c->at, c->way, node, PAIR_EE, reach)) continue;
            assert_true(has_pair(c, PAIR_EE, node));
            near++;
        }
    return near;
}

/// The arrays beside all lists, one after the other.
static int32_t far_arrays(tl_contacts *c, float *out[5], int32_t count[5])
{
    const tl_pairs *own = &c->found, *body = &c->found_body[0];
    float *far[5] = {c->far.vf, c->far.ee, c->far_body[0].vf, c->far_body[0].fv, c->far_body[0].ee};
    const int32_t n[5] = {own->vf_count, own->ee_count, body->vf_count, body->fv_count, body->ee_count};
    memcpy(out, far, sizeof far), memcpy(count, n, sizeof n);
    return n[0] + n[1] + n[2] + n[3] + n[4];
}

// Whatever was known, pairs are those of a filter that knows nothing, to the last bit. What is known stays known. Returns of how many items it was known that
// they are too far apart.
static int check_filter(world *w)
{
    tl_contacts *c = w->contacts;
    tl_error err;
    const int32_t n = c->pair_count;
    pair *pairs = malloc((size_t)(n + 1) * sizeof *pairs);
    nearness *near = malloc((size_t)(n + 1) * sizeof *near);
    float *soft = malloc((size_t)(n + 1) * sizeof *soft), *far[5];
    memcpy(pairs, c->pairs, (size_t)n * sizeof *pairs);
    memcpy(near, c->near, (size_t)n * sizeof *near);
    memcpy(soft, c->soft, (size_t)n * sizeof *soft);
    int32_t count[5], known = 0, at = 0;
    float *saved = malloc((size_t)(far_arrays(c, far, count) + 1) * sizeof *saved);
    for (int k = 0; k < 5; k++)
        for (int32_t i = 0; i < count[k]; i++) known += far[k][i] > 0, saved[at++] = far[k][i];
    c->complete = c->judged = false;
    assert_ok(contact_filter(c, &w->arena, NULL, &err));
    assert_int_equal(c->pair_count, n);
    assert_memory_equal(c->pairs, pairs, (size_t)n * sizeof *pairs);
    assert_memory_equal(c->near, near, (size_t)n * sizeof *near);
    assert_memory_equal(c->soft, soft, (size_t)n * sizeof *soft);
    at = 0;
    for (int k = 0; k < 5; k++)
        for (int32_t i = 0; i < count[k]; i++) far[k][i] = saved[at++];
    free(pairs), free(near), free(soft), free(saved);
    return known;
}

// Lists hold nothing that cannot come near.
static int check_lists(const tl_contacts *c, double thickness)
{
    int count = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int32_t i = 0; i < (kind ? c->found.ee_count : c->found.vf_count); i++, count++) {
            const tl_pair p = kind ? c->found.ee[i] : c->found.vf[i];
            const int32_t *a = kind ? c->cloth.edge[p.a] : &p.a, *b = kind ? c->cloth.edge[p.b] : c->cloth.face[p.b];
            const int32_t first = kind ? 2 : 1;
            tl_vec3 at[4], most = {0, 0, 0};
            for (int k = 0; k < 4; k++) at[k] = c->searched_at[k < first ? a[k] : b[k - first]];
            for (int32_t k = 0; k < first; k++)
                for (int32_t j = 0; j < 4 - first; j++) {
                    const tl_vec3 d = tl_sub3(c->searched_way[a[k]], c->searched_way[b[j]]);
                    most = (tl_vec3){fmax(most.x, fabs(d.x)), fmax(most.y, fabs(d.y)), fmax(most.z, fabs(d.z))};
                }
            const double distance = (kind ? tl_nearest_edge_edge(at) : tl_nearest_vertex_face(at)).distance;
            assert_true(distance <= 1e-12 + thickness + 2 * c->skin + 2 * c->slack + tl_norm3(most));
        }
    return count;
}

/// Two worlds with a body on the move: the first searches as it likes, the second always from scratch.
static void open_twins(world w[2], uint64_t seed)
{
    for (int k = 0; k < 2; k++) {
        w[k] = (world){.thickness = 4e-3, .cloth = start_of(seed % 3 == 0 ? SOUP : seed % 3 == 1 ? FOLDS : LAYERS, 2e-3, seed)};
        w[k].split = w[k].cloth.nodes / 2;
        add_bodies(&w[k], seed);
        w[k].moves[0] = seed % 2;
        for (int i = 0; i < 4; i++) w[k].body[0].x[i].y += 0.2;
        open_world(&w[k]);
        for (int i = 0; i < 4 && w[k].moves[0]; i++) w[k].body_end[i].y += 0.1;
        begin_step(&w[k]);
        w[k].contacts->next_slack = 5e-4;
    }
}

// The next step begins where nodes and bodies are.
static void go_on(world w[2], const tl_vec3 *x)
{
    for (int k = 0; k < 2; k++) {
        memcpy(w[k].cloth.x, x, (size_t)w[k].cloth.nodes * sizeof *x);
        for (int i = 0; i < 4 && w[k].moves[0]; i++) w[k].body_begin[i] = w[k].body_end[i], w[k].body_end[i].y -= 0.04;
        begin_step(&w[k]);
        w[k].contacts->next_slack = 5e-4;
    }
}

static void search_twins(world w[2], const tl_vec3 *x, const tl_vec3 *u, double body_part)
{
    tl_error err;
    w[1].contacts->searched_done = -1, w[1].contacts->complete = false;
    for (int k = 0; k < 2; k++) assert_ok(contact_search(w[k].contacts, x, u, body_part, &w[k].arena, NULL, &err));
}

// As when a few nodes go on while others rest, are cut short, or take part of their way; bodies arrive little by little.
static void a_few_nodes_lose_no_pair(void **state)
{
    (void)state;
    int found = 0, near = 0, with_body = 0, known = 0, items = 0;
    int64_t tests[2] = {0};
    for (uint64_t seed = 0; seed < 24; seed++) {
        world w[2];
        open_twins(w, seed);
        const int32_t n = w[0].cloth.nodes;
        tl_vec3 *x = calloc((size_t)n, sizeof *x), *u = calloc((size_t)n, sizeof *u);
        memcpy(x, w[0].cloth.x, (size_t)n * sizeof *x);
        for (uint64_t round = 0; round < 20; round++) {
            if (round == 8 || round >= 16) go_on(w, x);
            for (int32_t i = 0; i < n; i++) {
                const bool goes = round % 16 == 0 || round == 11 || tl_random(seed, 60 + round, (uint64_t)i) < 0.1;
                if (round == 4) u[i] = tl_mul3(i % 2 ? 0 : 0.4, u[i]);  // some go on, some rest
                else if (round == 12) u[i] = tl_mul3(i % 2 ? 0.7 : 0.1, u[i]);  // the rest of their ways
                else if (round % 4 != 2) u[i] = tl_mul3(goes ? 0.01 : 0, noise3(seed, 40 + round, (uint64_t)i));
                else if (goes) u[i] = tl_mul3(0.3, u[i]);  // the same start, some ways cut short
            }
            search_twins(w, x, u, round == 3 ? 0.5 : 1);
            found += check_against_all(w[0].contacts, w[1].contacts);
            known += check_filter(&w[0]), items += check_lists(w[1].contacts, w[1].thickness);
            for (int k = 0; k < 2; k++) tests[k] += w[k].contacts->report.volume_tests, w[k].contacts->report.volume_tests = 0;
            if (round % 5 == 1) near += check_pairs(&w[0], x, u);
            with_body += check_body_pairs(&w[0]);
            if (round % 4 == 1) continue;
            for (int32_t i = 0; i < n; i++) x[i] = tl_madd3(x[i], round != 11 ? 1 : i % 2 ? 0.3 : 0.9, u[i]);
            for (int k = 0; k < 2; k++) w[k].contacts->allowed = round < 3 || round == 8 ? 0.3 : 1, tl_contacts_move_bodies(w[k].contacts, 1);
            if (round != 12) continue;
            tl_error err;  // moves within the skin need no search: distances are known then, but not of all pairs
            assert_ok(tl_contacts_settle(w[0].contacts, x, NULL, &err));
            for (int32_t i = 0; i < n; i++) x[i] = tl_madd3(x[i], 0.5 * w[0].contacts->skin, noise3(seed, 80, (uint64_t)i));
            contact_place(w[0].contacts, x, 0);
            contact_measure(w[0].contacts, NULL);
        }
        free(x), free(u);
        close_world(&w[0]), close_world(&w[1]);
    }
    print_message("%d pairs, %d near, %d with the body; %lld tests of volumes, %lld from scratch; %d of %d items of lists known to be too far\n", found, near,
                  with_body, (long long)tests[0], (long long)tests[1], known, items);
    assert_true(found > 1000 && near > 100 && with_body > 100 && known > 1000);
    assert_true(10 * tests[0] < 9 * tests[1]);  // the meshes are small
}

// Ways that change little by little, some moves, a settling now and then: filters rely on what the ones before saw.
static void a_filter_that_knows_finds_the_same(void **state)
{
    (void)state;
    int known = 0, changes = 0, searches = 0;
    for (uint64_t seed = 0; seed < 24; seed++) {
        world w[2];
        open_twins(w, seed);
        tl_contacts *c = w[0].contacts;
        tl_error err;
        const int32_t n = w[0].cloth.nodes;
        tl_vec3 *x = w[0].cloth.x, *u = calloc((size_t)n, sizeof *u);
        c->next_slack = 4e-3;
        const double size = c->skin * (seed % 4 == 0 ? 0.1 : seed % 4 == 1 ? 0.5 : seed % 4 == 2 ? 2 : 5);
        for (uint64_t round = 0; round < 40; round++) {
            for (int32_t i = 0; i < n && round % 6 != 4; i++)
                if (round % 8 != 7 || tl_random(seed, 90 + round, (uint64_t)i) < 0.2) u[i] = tl_madd3(u[i], size, noise3(seed, 90 + round, (uint64_t)i));
            const int32_t before = c->pair_count;
            assert_ok(contact_search(c, x, u, 1, &w[0].arena, NULL, &err));
            known += check_filter(&w[0]);
            changes += c->pair_count != before;
            if (round % 3 == 1 || round % 6 == 0) continue;
            for (int32_t i = 0; i < n; i++) {
                if (round % 6 == 3) x[i] = tl_madd3(x[i], size, noise3(seed, 190 + round, (uint64_t)i));  // and the ways stay
                else x[i] = tl_madd3(x[i], 0.5, u[i]), u[i] = tl_mul3(0.3, u[i]);
            }
            c->allowed = round < 12 ? 0.3 : 1, tl_contacts_move_bodies(c, 1);
            if (round % 6 == 5) assert_ok(tl_contacts_settle(c, x, NULL, &err));
        }
        searches += c->report.searches;
        free(u);
        close_world(&w[0]), close_world(&w[1]);
    }
    print_message("%d items known to be too far, pairs changed %d times, trees asked %d times\n", known, changes, searches);
    assert_true(known > 10000 && changes > 100);
}

static bool share_node(const int32_t *a, int na, const int32_t *b, int nb)
{
    for (int i = 0; i < na; i++)
        for (int k = 0; k < nb; k++)
            if (a[i] == b[k]) return true;
    return false;
}

// Where nothing moves, lists are of all pairs that are near enough and of no other: triangles at random, all sizes and distances.
static void lists_are_what_is_near(void **state)
{
    (void)state;
    enum { TRIANGLES = 250 };
    int64_t in = 0, all = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        world w = {.thickness = 4e-3, .cloth = make_surface(3 * TRIANGLES, TRIANGLES)};
        for (int32_t f = 0; f < TRIANGLES; f++) {
            const tl_vec3 middle = tl_mul3(seed % 2 ? 0.5 : 5, noise3(seed, 5, (uint64_t)f));
            const double size = exp(2 * noise(seed, 6, (uint64_t)f)) * (seed % 2 ? 0.05 : 0.5) * (seed < 4 ? 1 : 5);
            for (int k = 0; k < 3; k++) {
                w.cloth.face[f][k] = 3 * f + k;
                w.cloth.x[3 * f + k] = tl_madd3(middle, size, noise3(seed, 7, (uint64_t)(3 * f + k)));
            }
        }
        close_surface(&w.cloth);
        w.split = w.cloth.nodes;
        open_world(&w);
        begin_step(&w);
        tl_contacts *c = w.contacts;
        c->next_slack = (seed % 2 ? 0.2 : 2) * (seed < 4 ? 1 : 0.05);
        tl_error err;
        tl_vec3 *u = calloc((size_t)w.cloth.nodes, sizeof *u);
        assert_ok(tl_contacts_search(c, w.cloth.x, u, &w.arena, NULL, &err));
        const double reach = w.thickness + 2 * c->skin + 2 * c->slack;
        for (int kind = 0; kind < 2; kind++) {
            const tl_pair *items = kind ? c->found.ee : c->found.vf;
            const int32_t count = kind ? c->found.ee_count : c->found.vf_count, first = kind ? 2 : 1;
            int32_t at = 0;
            for (int32_t a = 0; a < (kind ? w.cloth.edges : w.cloth.nodes); a++)
                for (int32_t b = kind ? a + 1 : 0; b < (kind ? w.cloth.edges : w.cloth.faces); b++) {
                    const int32_t *p = kind ? w.cloth.edge[a] : &a, *q = kind ? w.cloth.edge[b] : w.cloth.face[b];
                    if (share_node(p, first, q, 4 - first)) continue;
                    tl_vec3 x[4];
                    for (int k = 0; k < 4; k++) x[k] = w.cloth.x[k < first ? p[k] : q[k - first]];
                    const double distance = (kind ? tl_nearest_edge_edge(x) : tl_nearest_vertex_face(x)).distance;
                    const bool listed = at < count && items[at].a == a && items[at].b == b;
                    all++, at += listed, in += listed;
                    if (fabs(distance - reach) > 1e-12) assert_int_equal(listed, distance <= reach);
                }
            assert_int_equal(at, count);
        }
        free(u);
        close_world(&w);
    }
    print_message("%lld of %lld pairs listed\n", (long long)in, (long long)all);
    assert_true(20 * in > all && 2 * in < all);
}

// ---- no room ----

// A plane comes down on a sheet that lies on a block, goes on into the block, and leaves.
static tl_sim *make_press(tl_response response)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.collide.response = response;
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    sheet s = sheet_grid(0.24, 0.24, 8, 8, true);
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i] = (tl_vec3){s.uv[i].x - 0.12, 0.002, 0.12 - s.uv[i].y};
    const tl_material m = tl_material_default();
    tl_cloth_def c = tl_cloth_def_default();
    tl_cloth_id cloth;
    c.node_count = s.node_count, c.pos = s.pos, c.uv = s.uv, c.face_count = s.face_count, c.face = (const int32_t(*)[3])s.face;
    c.materials = &m, c.material_count = 1;
    assert_ok(tl_sim_add_cloth(sim, &c, &cloth, &err));
    sheet_free(&s);
    tl_body_id id;
    tl_body_def block = tl_body_def_default();
    block.name = "block", block.kind = TL_BODY_BOX, block.center = (tl_vec3){0, -0.1, 0}, block.size = (tl_vec3){0.17, 0.2, 0.17};
    assert_ok(tl_sim_add_body(sim, &block, &id, &err));
    const tl_motion_key keys[3] = {{.time = 0}, {.time = 0.2, .translate = {0, -0.04, 0}}, {.time = 0.4, .translate = {0, 0.1, 0}}};
    tl_body_def press = tl_body_def_default();
    press.name = "press", press.kind = TL_BODY_PLANE, press.center = (tl_vec3){0, 0.02, 0}, press.axis = (tl_vec3){0, -1, 0};
    press.motion = keys, press.motion_count = 3;
    assert_ok(tl_sim_add_body(sim, &press, &id, &err));
    return sim;
}

static void a_press_pinches_and_lets_go(void **state)
{
    (void)state;
    const tl_response responses[2] = {TL_RESPONSE_POTENTIAL, TL_RESPONSE_ZONES};
    for (int r = 0; r < 2; r++) {
        tl_error err;
        tl_sim *sim = make_press(responses[r]);
        int32_t most = 0, left = 0, iterations = 0;
        double liveliest = 0;
        tl_energies energies;
        for (int k = 1; k <= 150; k++) {  // to 0.75 s; the press is out of the block at 0.23 s
            tl_step_report report;
            tl_intersection_report found;
            assert_ok(tl_sim_step(sim, &report, &err));
            assert_ok(tl_sim_intersections(sim, &found, &err));
            assert_int_equal(found.cloth_cloth + found.cloth_body, 0);
            assert_int_equal(tl_sim_energies(sim, &energies), TL_OK);
            liveliest = fmax(liveliest, energies.kinetic);
            iterations += report.newton_iterations;
            most = report.contact.pinched > most ? report.contact.pinched : most;
            left = report.contact.pinched;
        }
        tl_strain_range strain;
        assert_ok(tl_sim_strain(sim, &strain));
        print_message("press: %d nodes pinched, %d left, %d iterations, kinetic energy up to %.1f mJ, %.3f mJ in the end, "
                      "strain %.3f to %.3f\n", most, left, iterations, 1e3 * liveliest, 1e3 * energies.kinetic, strain.min, strain.max);
        assert_true(most >= 25 && left == 0);  // 25 nodes are over the block
        assert_true(iterations < 2000);        // some 5 a step, and the moment of pinching
        // The press goes 0.2 m/s down and 0.7 m/s up; all of the cloth, 11.5 g, has 5.8 mJ at 1 m/s.
        assert_true(liveliest < 5.8e-3 && energies.kinetic < 0.5e-3);
        assert_true(strain.max < 0.05 && strain.min > -0.05);
        tl_sim_destroy(sim);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_energy),
        cmocka_unit_test(matrix_and_operator_are_the_sum_of_all_contacts),
        cmocka_unit_test(the_matrix_is_the_derivative_of_the_gradient),
        cmocka_unit_test(nothing_meets_on_paths_that_were_cut),
        cmocka_unit_test(no_pair_is_lost),
        cmocka_unit_test(a_few_nodes_lose_no_pair),
        cmocka_unit_test(a_filter_that_knows_finds_the_same),
        cmocka_unit_test(lists_are_what_is_near),
        cmocka_unit_test(a_press_pinches_and_lets_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
