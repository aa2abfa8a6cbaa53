// tests/unit/contact_world.h: a step with contact and nothing else, for the tests that look at it from inside.
//
// A world is two cloths and some bodies with all that contact is told; crowded_world has pairs of all kinds that press,
// start_of surfaces whose features are near each other in every awkward way.
#pragma once
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rng.h"
#include "check.h"
#include "respond/contact_impl.h"
#include "mesh/edges.h"
#include "sheets.h"

// ---- surfaces and worlds ----

enum { MOST_BODIES = 3 };

typedef struct surface {
    int32_t nodes, faces, edges;
    tl_vec3 *x;
    int32_t (*face)[3], (*edge)[2];
} surface;

static inline surface make_surface(int32_t nodes, int32_t faces)
{
    surface s = {nodes, faces, 0, calloc((size_t)nodes, sizeof *s.x), calloc((size_t)faces, sizeof *s.face), NULL};
    return s;
}

static inline void close_surface(surface *s)
{
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    assert_ok(tl_unique_edges(&alloc, (const int32_t(*)[3])s->face, s->faces, &s->edge, &s->edges, NULL, &err));
}

static inline void free_surface(surface *s)
{
    const tl_allocator alloc = tl_allocator_default();
    TL_FREE(&alloc, s->edge, s->edges);
    free(s->x), free(s->face);
}

static inline tl_surface view_of(const surface *s)
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

static inline double noise(uint64_t seed, uint64_t stream, uint64_t i) { return 2 * tl_random(seed, stream, i) - 1; }
static inline tl_vec3 noise3(uint64_t seed, uint64_t stream, uint64_t i)
{
    return (tl_vec3){noise(seed, stream, 3 * i), noise(seed, stream, 3 * i + 1), noise(seed, stream, 3 * i + 2)};
}

// Bodies begin and end where their x says; the caller changes what it likes and then begins a step.
static inline void open_world(world *w)
{
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    const int32_t n = w->cloth.nodes;
    int32_t *cloth = calloc((size_t)n, sizeof *cloth), body_nodes = 0;
    double *area = calloc((size_t)w->cloth.faces, sizeof *area);
    if (!w->uv) w->uv = calloc((size_t)n, sizeof *w->uv);
    w->panel = calloc((size_t)n, sizeof *w->panel);
    w->x_hat = calloc((size_t)n, sizeof *w->x_hat), w->fixed = calloc((size_t)n, 1),
    w->mass = calloc((size_t)n, sizeof *w->mass);
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
        bodies[b] = (tl_contact_body){view_of(&w->body[b]), w->body[b].x,   NULL,
                                      0.2 * w->thickness,   w->is_plane[b], w->moves[b]};
        body_nodes += w->body[b].nodes;
    }
    w->body_begin = calloc((size_t)body_nodes + 1, sizeof *w->body_begin);
    w->body_end = calloc((size_t)body_nodes + 1, sizeof *w->body_end);
    for (int32_t b = 0, at = 0; b < w->body_count; b++)
        for (int32_t i = 0; i < w->body[b].nodes; i++, at++) w->body_begin[at] = w->body_end[at] = w->body[b].x[i];
    const double thickness[2] = {w->thickness, w->thickness},
                 self[4] = {w->friction, w->friction, w->friction, w->friction};
    double rub[2 * MOST_BODIES];
    for (int k = 0; k < 2 * MOST_BODIES; k++) rub[k] = w->friction;
    const tl_contacts_def def = {.cloth = view_of(&w->cloth),
                                 .x = w->cloth.x,
                                 .face_area = area,
                                 .node_cloth = cloth,
                                 .node_uv = w->uv,
                                 .node_panel = w->panel,
                                 .cloth_count = 2,
                                 .body_count = w->body_count,
                                 .thickness = thickness,
                                 .friction_self = self,
                                 .friction_body = rub,
                                 .bodies = bodies,
                                 .pressure = 5e3,
                                 .slip_speed = 1e-2,
                                 .self = true};
    assert_ok(tl_contacts_create(&alloc, &def, &w->contacts, &err));
    tl_arena_init(&w->arena, alloc);
    free(cloth), free(area);
}

static inline void begin_step_with(world *w, tl_pinching pinch)
{
    tl_error err;
    const tl_contact_step step = {w->body_begin, w->body_end, w->plane[0], w->plane[1], w->x_hat, w->fixed,
                                  w->cloth.x,    w->mass,     200,         0.005,       pinch};
    assert_ok(tl_contacts_begin(w->contacts, &step, w->cloth.x, &(tl_ctx){&w->arena, NULL}, &err));
}

static inline void begin_step(world *w) { begin_step_with(w, TL_PINCH_ANY); }

static inline void close_world(world *w)
{
    tl_contacts_destroy(w->contacts);
    tl_arena_free(&w->arena);
    free_surface(&w->cloth);
    for (int32_t b = 0; b < w->body_count; b++)
        if (!w->is_plane[b]) free_surface(&w->body[b]);
    free(w->uv), free(w->panel), free(w->x_hat), free(w->fixed), free(w->mass), free(w->body_begin), free(w->body_end);
}

// ---- searching and assembling ----

static inline void gradient_at(world *w, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *out)
{
    tl_error err;
    for (int32_t i = 0; i < w->cloth.nodes; i++) out[i] = (tl_vec3){0, 0, 0};
    assert_ok(tl_contacts_assemble(w->contacts, x, matrix, out, &(tl_ctx){&w->arena, NULL}, &err));
}

static inline void find_pairs(world *w, const tl_vec3 *x)
{
    tl_error err;
    tl_vec3 *still = calloc((size_t)w->cloth.nodes, sizeof *still);
    assert_ok(tl_contacts_search(w->contacts, x, still, &(tl_ctx){&w->arena, NULL}, &err));
    assert_ok(tl_contacts_settle(w->contacts, x, NULL, &err));
    free(still);
}

static inline const tl_bsr *blocks_of(world *w, tl_workers *workers)
{
    tl_error err;
    const tl_bsr *out;
    assert_ok(tl_contacts_blocks(w->contacts, &(tl_ctx){&w->arena, workers}, &out, &err));
    return out;
}

static inline tl_bsr *matrix_of(const surface *s)
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

/// Two sheets of cells by cells squares one above the other, bent and shaken, on a tetrahedron and a plane that are
/// within the thickness too. Of `like` friction and which bodies move count.
static inline void crowded_sheets(const world *like, int cells, uint64_t seed, world *out)
{
    world w = {.thickness = 0.03, .friction = like->friction, .body_count = 2, .is_plane = {false, true}};
    memcpy(w.moves, like->moves, sizeof w.moves);
    sheet s = sheet_grid(0.2, 0.2, cells, cells, true);
    w.split = s.node_count;
    w.cloth = make_surface(2 * s.node_count, 2 * s.face_count);
    w.uv = calloc((size_t)w.cloth.nodes, sizeof *w.uv);
    for (int32_t i = 0; i < w.cloth.nodes; i++) {
        const tl_vec2 p = w.uv[i] = s.uv[i % s.node_count];
        const tl_vec3 shake = tl_mul3(0.004, noise3(seed, 1, (uint64_t)i));
        w.cloth.x[i] = tl_add3((tl_vec3){p.x, 0.012 + 0.02 * (i >= s.node_count) + 0.05 * p.x * p.y, p.y}, shake);
    }
    for (int32_t f = 0; f < w.cloth.faces; f++)
        for (int k = 0; k < 3; k++)
            w.cloth.face[f][k] = s.face[f % s.face_count][k] + (f >= s.face_count) * s.node_count;
    sheet_free(&s);
    close_surface(&w.cloth);
    static const int32_t face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const tl_vec3 corner[4] = {{0.02, -0.2, 0.02}, {0.18, -0.2, 0.05}, {0.07, -0.2, 0.19}, {0.08, 0.001, 0.09}};
    w.body[0] = make_surface(4, 4);
    memcpy(w.body[0].face, face, sizeof face), memcpy(w.body[0].x, corner, sizeof corner);
    close_surface(&w.body[0]);
    for (int end = 0; end < 2; end++)
        w.plane[end][2] = (tl_vec3){0, -0.004 + 2e-5 * end, 0}, w.plane[end][3] = (tl_vec3){0, 1, 0};
    open_world(&w);
    // what it slid: some below and some above the slip speed; bodies slide too
    for (int32_t i = 0; i < w.cloth.nodes; i++)
        w.x_hat[i] = tl_madd3(w.cloth.x[i], i % 3 ? 2e-5 : 3e-4, noise3(seed, 2, (uint64_t)i));
    for (int32_t i = 0; i < 4; i++) w.body_begin[i] = tl_add3(w.body_end[i], (tl_vec3){3e-5, 0, -2e-5});
    for (int32_t i = 0; i < w.cloth.nodes; i += 11) w.fixed[i] = 1, w.x_hat[i] = w.cloth.x[i];
    *out = w;
    begin_step(out);
}

static inline void crowded_world(double friction, uint64_t seed, world *out)
{
    crowded_sheets(&(world){.friction = friction}, 4, seed, out);
}

// ---- surfaces near each other ----

enum { SOUP, FOLDS, COPLANAR, PARALLEL, LAYERS, START_KINDS };

// Small triangles at random places of a lattice, so that they do not touch.
static inline surface soup(uint64_t seed)
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
static inline surface folds(double gap, uint64_t seed)
{
    sheet s = sheet_grid(0.4, 0.1, 8, 2, true);
    surface out = make_surface(s.node_count, s.face_count);
    for (int32_t i = 0; i < s.node_count; i++) {
        const int column = (int)lrint(s.uv[i].x / 0.05);
        out.x[i] = tl_madd3((tl_vec3){column * gap, column % 2 ? 0.05 : 0, s.uv[i].y}, 0.1 * gap,
                            noise3(seed, 6, (uint64_t)i));
    }
    memcpy(out.face, s.face, (size_t)s.face_count * sizeof *out.face);
    sheet_free(&s);
    return out;
}

// Squares in one plane, or edges exactly parallel: `rise` 0 lays them side by side, else one above the other.
static inline surface squares(double gap, double rise)
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

static inline surface start_of(int kind, double gap, uint64_t seed)
{
    surface s = kind == SOUP ? soup(seed) : kind == FOLDS ? folds(gap, seed) : squares(gap, kind == COPLANAR ? 0 : gap);
    if (kind == PARALLEL)  // long thin ones whose edges run alongside
        for (int32_t i = 0; i < s.nodes; i++) s.x[i].z *= 0.01;
    if (kind == LAYERS)
        for (int32_t i = 0; i < s.nodes; i++) s.x[i] = tl_madd3(s.x[i], 0.2 * gap, noise3(seed, 7, (uint64_t)i));
    close_surface(&s);
    return s;
}

// A tetrahedron that passes right through, and a plane that sweeps and turns.
static inline void add_bodies(world *w, uint64_t seed)
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
