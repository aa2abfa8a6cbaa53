// tests/unit/sizing_cloth.h: a cloth whose sizing field is looked at, and definitions to look with.
#pragma once
#include <stdlib.h>
#include <string.h>

#include "adapt/anisotropic/sizing.h"
#include "base/alloc.h"
#include "check.h"
#include "math/vec3.h"
#include "test_mesh_shapes.h"

#define PI 3.14159265358979323846

typedef struct cloth {
    tl_allocator alloc;
    tl_mesh *mesh;
    tl_arena arena;
    tl_sym2 *size;
} cloth;

static shape sh;  // too large for the stack

static inline cloth make_cloth(void)
{
    cloth c = {0};
    tl_error err = {0};
    c.alloc = (tl_allocator){books_resize, NULL};
    static books kept;
    kept = (books){0};
    c.alloc.user = &kept;
    const tl_mesh_def def = shape_def(&sh);
    assert_ok(tl_mesh_create(&c.alloc, &def, &c.mesh, &err));
    tl_arena_init(&c.arena, c.alloc);
    c.size = calloc((size_t)c.mesh->slots[TL_VERTS].count, sizeof *c.size);
    return c;
}

static inline void free_cloth(cloth *c)
{
    tl_arena_free(&c->arena);
    tl_mesh_destroy(c->mesh);
    free(c->size);
}

/// Every term off, bounds so wide that they do not show.
static inline tl_sizing_def nothing(void)
{
    tl_sizing_def d = tl_sizing_def_default();
    d.curvature = d.velocity = d.compression = (double)INFINITY;
    d.size_min = 1e-4, d.size_max = 100, d.aspect_min = 1e-6;
    d.obstacles = false;
    return d;
}

static inline tl_sizing_def usual(void)
{
    tl_sizing_def d = tl_sizing_def_default();
    d.compression = 0.02;
    return d;
}

static inline void run(cloth *c, const tl_sizing_def *def, const tl_obstacle_plane *planes)
{
    tl_error err = {0};
    assert_ok(tl_sizing_field(c->mesh, def, NULL, 0, planes, &(tl_ctx){&c->arena, NULL}, c->size, &err));
}

static inline cloth sheet(int32_t columns, int32_t rows, double h, double u, double v)
{
    memset(&sh, 0, sizeof sh);
    shape_grid(&sh, columns, rows, h, u, v);
    return make_cloth();
}

/// Places and moves every node as a function of its material point; with seams, of that of its lowest vertex.
typedef void (*motion_fn)(tl_vec2 u, tl_vec3 *x, tl_vec3 *v);
static inline void place(tl_mesh *mesh, motion_fn fn)
{
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++)
        fn(mesh->uv[mesh->node_vert[n]], &mesh->pos[n], &mesh->vel[n]);
}

#define assert_sym2(a, X, XY, Y, tolerance)                                                                            \
    do {                                                                                                               \
        assert_near((a).xx, (X), (tolerance));                                                                         \
        assert_near((a).xy, (XY), (tolerance));                                                                        \
        assert_near((a).yy, (Y), (tolerance));                                                                         \
    } while (0)
