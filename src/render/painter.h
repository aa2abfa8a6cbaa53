// render/painter.h: what the passes over a picture share (draw.c), and the floor (floor.c).
#pragma once
#include "render/filter.h"
#include "render/shade.h"
#include "render/wire.h"

enum { TL_TILE = 16, TL_GRIDS = 1, TL_SEES_FLOOR = -2, TL_SEES_NOTHING = -1 };

/// Light on the floor at every so many pixels, seen or not.
typedef struct tl_grid {
    tl_lit *lit;
    int32_t width, height;  ///< points
    int32_t columns, rows;  ///< pixels from one point to the next
} tl_grid;

/// What is known of a tile of pixels before any of them is looked at.
typedef struct tl_tile {
    bool empty;      ///< no surface lies in it, nor in the tiles around it
    int32_t grid;    ///< > 0: what shades the floor here is so far away that its light comes from this coarse grid
    uint8_t wanted;  ///< bit k: grid k is needed here
    int32_t soft;    ///< the same for the dome and the fill, whose shadows are softer
} tl_tile;

typedef struct tl_painter {
    const tl_draw_def *def;
    tl_stage stage;
    tl_studio studio;
    tl_samples samples;
    tl_view view;
    tl_wire_view wire;
    tl_vec3f eye, right, up, forward;  // in stage coordinates; right and up span the picture at distance 1
    tl_vec3f up_axis;
    bool parallel;
    float pixel;  // width of a pixel at distance 1 (or anywhere, in parallel projection)
    tl_vec3f floor_point, floor_centre;
    tl_hit *hit;
    tl_gpixel *g;
    tl_lit *lit, *scratch;
    uint8_t *srgb;          // linear 0 .. 1 in SRGB_STEPS to bytes
    tl_rgb floor_per_open;  // one over the light on the floor with nothing in the way
    tl_image *out;
    tl_pixel_hit *hits;
    tl_vec2f *aa;  // positions within a pixel
    int32_t tiles_x, tiles_y;
    tl_tile *tile;
    int32_t edge_patterns;  // rays to the key where its shadow has an edge, in patterns
    tl_grid grid[TL_GRIDS];
} tl_painter;

static inline tl_ray tl_painter_ray(const tl_painter *p, float x, float y)
{
    const float a = 2 * x / (float)p->def->width - 1, b = 1 - 2 * y / (float)p->def->height;
    tl_ray ray = {.org = p->eye, .tmin = 0, .tmax = 1e18f};
    const tl_vec3f across = tl_maddf(tl_mulf(a, p->right), b, p->up);
    if (p->parallel) {
        ray.org = tl_addf(p->eye, across);
        ray.dir = p->forward;
    } else {
        ray.dir = tl_unitf(tl_addf(p->forward, across));
    }
    return ray;
}

static inline tl_lit tl_open_light(void) { return (tl_lit){{1, 1, 1}, {1, 1, 1}}; }

/// Backdrop at a position in the picture.
static inline tl_rgb tl_backdrop(const tl_painter *p, float x, float y)
{
    if (p->def->flat_background) return p->def->background;
    const float a = 2 * x / (float)p->def->width - 1, b = 2 * y / (float)p->def->height - 0.9f;
    return tl_mulf(1.03f - 0.085f * (a * a + b * b), p->def->background);
}

/// Distance to the floor along `ray`, infinite if it is not met from above.
float tl_floor_distance(const tl_painter *p, const tl_ray *ray);

/// 1 near the scene, 0 where the floor has faded into the background.
float tl_floor_fade(const tl_painter *p, tl_vec3f at);
tl_spot tl_floor_spot(const tl_painter *p, const tl_ray *ray, float t);
tl_rgb tl_floor_light(const tl_studio *studio, tl_vec3f n, const tl_lit *lit);
tl_rgb tl_floor_colour(const tl_painter *p, tl_vec3f at, const tl_lit *lit, tl_rgb behind);

/// Fills in `tile` and `grid`. Runs on the workers.
tl_status tl_floor_prepare(tl_painter *p, tl_error *err);
void tl_floor_release(tl_painter *p);

/// Light on the floor at pixel (x, y).
tl_lit tl_floor_grid_light(const tl_grid *grid, int32_t x, int32_t y);
