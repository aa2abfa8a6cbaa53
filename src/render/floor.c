// render/floor.c: the floor: its colour, and its light where what shades it is far away.
//
// Light on the floor varies no faster than the lamps and the distance of what shades it allow: a lamp of apparent
// radius r, blocked by something at distance d, has a shadow whose edge is 2 r d wide. Where that is wider than the
// filter would be at a quarter of the resolution, the floor is lit there at every fourth pixel of a row only, and in
// fewer rows if it is seen from well above. The coarse grids cover the whole plane, also where cloth hides it from the
// eye, so there is no edge to mind.

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "render/painter.h"

enum { ROWS_PER_CHUNK = 4 };

/// A grid of every n-th pixel is used beyond 40 n pixels: the edge of the key's shadow is then 11 n pixels wide, the
/// filter 8 n.
static const float REACH_PIXELS = 40;
static const float SOFT_PIXELS = 20;  // the same for the dome and the fill, whose shadows are as wide as they are far

float tl_floor_distance(const tl_painter *p, const tl_ray *ray)
{
    if (!p->def->ground) return INFINITY;
    const float down = tl_dotf(ray->dir, p->up_axis);
    const float above = tl_dotf(tl_subf(ray->org, p->floor_point), p->up_axis);
    return down < -1e-6f && above > 0 ? -above / down : INFINITY;
}

float tl_floor_fade(const tl_painter *p, tl_vec3f at)
{
    const float r = tl_lenf(tl_subf(at, p->floor_centre)) / (float)p->def->ground_radius;
    return 1 - tl_smoothf(1.2f, 4.5f, r);
}

tl_spot tl_floor_spot(const tl_painter *p, const tl_ray *ray, float t)
{
    return (tl_spot){.pos = tl_maddf(ray->org, t, ray->dir), .ng = p->up_axis, .ns = p->up_axis};
}

/// The lamp from behind is for outlines only: its second shadow would look like dirt.
tl_rgb tl_floor_light(const tl_studio *studio, tl_vec3f n, const tl_lit *lit)
{
    tl_rgb sum = tl_scalef(lit->dome, tl_studio_dome(studio, n));
    for (int k = 0; k < TL_LAMPS; k++)
        if (TL_CAST_FLOOR >> k & 1)

            sum = tl_maddf(sum, lit->lamp[k] * tl_maxf(0, tl_dotf(n, studio->lamp[k].dir)), studio->lamp[k].power);
    return sum;
}

/// The floor has the colour of the backdrop times the share of light that reaches it, so it has no horizon.
tl_rgb tl_floor_colour(const tl_painter *p, tl_vec3f at, const tl_lit *lit, tl_rgb behind)
{
    const float fade = tl_floor_fade(p, at);
    if (fade <= 0) return behind;
    const tl_rgb light = tl_floor_light(&p->studio, p->up_axis, lit);
    const tl_rgb share = tl_scalef(light, p->floor_per_open);
    const float pool = p->def->flat_background ? 1 : 1 + 0.045f * fade;
    return tl_scalef(behind, tl_lerpf((tl_rgb){1, 1, 1}, tl_mulf(pool, share), fade));
}

// --- which tiles -------------------------------------------------------------------------------------------

/// Pixel coordinates of a point; false if it is not in front of the eye.
static bool project(const tl_painter *p, tl_vec3f at, float *x, float *y)
{
    const tl_wire_view *w = &p->wire;
    const tl_vec3f d = tl_subf(at, w->eye);
    const float depth = p->parallel ? 1 : tl_dotf(d, w->forward);
    if (!(depth > 1e-4f * p->stage.radius)) return false;
    *x = w->cx + w->scale * tl_dotf(d, w->right) / depth;
    *y = w->cy - w->scale * tl_dotf(d, w->up) / depth;
    return true;
}

static int32_t tile_at(float pixel, int32_t count)
{
    const float t = floorf(pixel / TL_TILE);
    return t < 0 ? 0 : t > (float)(count - 1) ? count - 1 : (int32_t)t;
}

/// Marks every tile in which a triangle may be seen, and its neighbours, as not empty.
static void mark_surfaces(tl_painter *p)
{
    const tl_stage *stage = &p->stage;
    for (int32_t i = 0; i < p->tiles_x * p->tiles_y; i++) p->tile[i] = (tl_tile){.empty = true};
    for (int32_t t = 0; t < stage->tri_count; t++) {
        float lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
        int ahead = 0;
        for (int c = 0; c < 3; c++) {
            float x = 0, y = 0;
            ahead += project(p, stage->pos[stage->vert[t][c]], &x, &y);
            lo[0] = tl_minf(lo[0], x), lo[1] = tl_minf(lo[1], y);
            hi[0] = tl_maxf(hi[0], x), hi[1] = tl_maxf(hi[1], y);
        }
        if (ahead == 0) continue;
        const bool seen = ahead == 3;  // across the plane of the eye: it may appear anywhere
        const float margin = TL_TILE;
        const int32_t x0 = seen ? tile_at(lo[0] - margin, p->tiles_x) : 0;
        const int32_t y0 = seen ? tile_at(lo[1] - margin, p->tiles_y) : 0;
        const int32_t x1 = seen ? tile_at(hi[0] + margin, p->tiles_x) : p->tiles_x - 1;
        const int32_t y1 = seen ? tile_at(hi[1] + margin, p->tiles_y) : p->tiles_y - 1;
        for (int32_t y = y0; y <= y1; y++)
            for (int32_t x = x0; x <= x1; x++) p->tile[y * p->tiles_x + x].empty = false;
    }
}

static void found_one(void *arg, int32_t tri)
{
    (void)tri;
    *(bool *)arg = true;
}

/// Whether nothing lies within `pixels` of the part of the floor that is seen in a tile.
static bool is_far(const tl_painter *p, int32_t tile, float pixels)
{
    const float x0 = (float)(tile % p->tiles_x * TL_TILE), y0 = (float)(tile / p->tiles_x * TL_TILE);
    tl_vec3f lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
    float reach = 0;
    for (int c = 0; c < 4; c++) {
        const tl_ray ray = tl_painter_ray(p, x0 + (c & 1 ? TL_TILE : 0), y0 + (c & 2 ? TL_TILE : 0));
        const float t = tl_floor_distance(p, &ray);
        if (!(t < INFINITY)) return false;  // the horizon runs through it
        const tl_vec3f at = tl_maddf(ray.org, t, ray.dir);
        reach = tl_maxf(reach, pixels * (p->parallel ? p->pixel : p->pixel * t));
        lo = (tl_vec3f){tl_minf(lo.x, at.x), tl_minf(lo.y, at.y), tl_minf(lo.z, at.z)};
        hi = (tl_vec3f){tl_maxf(hi.x, at.x), tl_maxf(hi.y, at.y), tl_maxf(hi.z, at.z)};
    }
    const tl_vec3f r = {reach, reach, reach};
    bool found = false;
    tl_ray_bvh_overlap(p->stage.bvh, tl_subf(lo, r), tl_addf(hi, r), found_one, &found);
    return !found;
}

static void far_tiles(void *arg, int32_t begin, int32_t end)
{
    tl_painter *p = arg;
    for (int32_t t = begin; t < end; t++) {
        tl_tile *tile = &p->tile[t];
        for (int32_t k = TL_GRIDS; k > 0 && tile->soft == 0; k--)
            if (is_far(p, t, SOFT_PIXELS * (float)p->grid[k - 1].columns)) tile->soft = k;
        for (int32_t k = tile->soft; k > 0 && tile->grid == 0; k--)
            if (is_far(p, t, REACH_PIXELS * (float)p->grid[k - 1].columns)) tile->grid = k;
    }
}

// --- the coarse grids --------------------------------------------------------------------------------------

typedef struct grid_job {
    const tl_painter *p;
    int32_t which;  // as in tl_tile
    tl_grid *grid;
    tl_gpixel *g;
} grid_job;

/// Tiles whose floor takes light from the grid, and those around them as far as the filter reaches.
static void mark_wanted(tl_painter *p, int32_t which)
{
    const int32_t reach = (4 * p->grid[which - 1].columns + TL_TILE - 1) / TL_TILE;
    for (int32_t ty = 0; ty < p->tiles_y; ty++) {
        for (int32_t tx = 0; tx < p->tiles_x; tx++) {
            const tl_tile *t = &p->tile[ty * p->tiles_x + tx];
            if (t->grid != which && t->soft != which) continue;
            for (int32_t j = ty - reach; j <= ty + reach; j++)
                for (int32_t i = tx - reach; i <= tx + reach; i++)
                    if (i >= 0 && j >= 0 && i < p->tiles_x && j < p->tiles_y)
                        p->tile[j * p->tiles_x + i].wanted |= (uint8_t)(1 << which);
        }
    }
}

/// Whether a pixel lies in a wanted tile, or beyond the picture beside one.
static bool is_wanted(const tl_painter *p, int32_t which, int32_t x, int32_t y)
{
    const int32_t tx = x < 0 ? 0 : x / TL_TILE, ty = y < 0 ? 0 : y / TL_TILE;
    const int32_t i = tx < p->tiles_x ? tx : p->tiles_x - 1, j = ty < p->tiles_y ? ty : p->tiles_y - 1;
    return p->tile[j * p->tiles_x + i].wanted >> which & 1;
}

static void grid_rows(void *arg, int32_t begin, int32_t end)
{
    const grid_job *job = arg;
    const tl_painter *p = job->p;
    const tl_grid *grid = job->grid;
    int32_t hint[TL_LAMPS] = {0};
    for (int32_t y = begin; y < end; y++) {
        for (int32_t x = 0; x < grid->width; x++) {
            const size_t at = (size_t)y * (size_t)grid->width + (size_t)x;
            const int32_t px = grid->columns * (x - 1), py = grid->rows * (y - 1);
            const tl_ray ray = tl_painter_ray(p, (float)px, (float)py);
            const float t = tl_floor_distance(p, &ray);
            const bool wanted = t < INFINITY && is_wanted(p, job->which, px, py);
            job->g[at] = (tl_gpixel){.footprint = 1, .surface = wanted ? TL_SEES_FLOOR : TL_SEES_NOTHING};
            grid->lit[at] = tl_open_light();
            if (!wanted) continue;
            const tl_spot spot = tl_floor_spot(p, &ray, t);
            if (tl_floor_fade(p, spot.pos) <= 0) continue;
            const int32_t pattern = tl_pattern_of(x, y);
            const tl_cast cast = {pattern, 1, TL_CAST_FLOOR - 1, false, false, hint};
            tl_lit *lit = &grid->lit[at];
            *lit = tl_light_spot(&p->stage, &p->studio, &p->samples, &spot, cast);
            const tl_cast key = {pattern, p->edge_patterns, 1, false, false, hint};
            lit->lamp[0] = tl_light_spot(&p->stage, &p->studio, &p->samples, &spot, key).lamp[0];
        }
    }
}

static tl_status light_grid(tl_painter *p, int32_t which, tl_error *err)
{
    const tl_allocator *alloc = p->def->alloc;
    tl_grid *grid = &p->grid[which - 1];
    const size_t count = (size_t)grid->width * (size_t)grid->height;
    grid->lit = TL_ALLOC(alloc, tl_lit, count);
    grid_job job = {p, which, grid, TL_ALLOC(alloc, tl_gpixel, count)};
    tl_lit *scratch = TL_ALLOC(alloc, tl_lit, count);
    const bool ok = grid->lit && job.g && scratch;
    if (ok) {
        tl_parallel_for(p->def->workers, grid->height, ROWS_PER_CHUNK, grid_rows, &job);
        tl_filter_light(job.g, grid->lit, scratch, grid->width, grid->height, p->def->workers);
    }
    TL_FREE(alloc, job.g, count);
    TL_FREE(alloc, scratch, count);
    return ok ? TL_OK : tl_fail_memory(err, "drawing");
}

tl_status tl_floor_prepare(tl_painter *p, tl_error *err)
{
    const int32_t tiles = p->tiles_x * p->tiles_y;
    p->tile = TL_ALLOC(p->def->alloc, tl_tile, tiles);
    if (!p->tile) return tl_fail_memory(err, "drawing");
    mark_surfaces(p);
    if (!p->def->ground) return TL_OK;
    // foreshortened, a shadow's edge is thinner: rows stay closer
    const float steep = fabsf(tl_dotf(p->forward, p->up_axis));
    for (int32_t k = 0; k < TL_GRIDS; k++) {
        tl_grid *grid = &p->grid[k];
        grid->columns = 4 << k;
        grid->rows = steep > 0.85f ? grid->columns : steep > 0.45f ? grid->columns / 2 : 1;
        grid->width = p->def->width / grid->columns + 4, grid->height = p->def->height / grid->rows + 4;
    }
    tl_parallel_for(p->def->workers, tiles, 8, far_tiles, p);
    for (int32_t k = 1; k <= TL_GRIDS; k++) {
        mark_wanted(p, k);
        TL_TRY(light_grid(p, k, err));
    }
    return TL_OK;
}

void tl_floor_release(tl_painter *p)
{
    TL_FREE(p->def->alloc, p->tile, p->tiles_x * p->tiles_y);
    for (int32_t k = 0; k < TL_GRIDS; k++)
        TL_FREE(p->def->alloc, p->grid[k].lit, (size_t)p->grid[k].width * (size_t)p->grid[k].height);
}

tl_lit tl_floor_grid_light(const tl_grid *grid, int32_t x, int32_t y)
{
    // grid point (i, j) lies at pixel corner columns (i - 1), rows (j - 1)
    const float fx = ((float)x + 0.5f) / (float)grid->columns + 1, fy = ((float)y + 0.5f) / (float)grid->rows + 1;
    const int32_t i = (int32_t)fx, j = (int32_t)fy;
    const float a = fx - (float)i, b = fy - (float)j;
    const tl_lit *row = &grid->lit[(size_t)j * (size_t)grid->width + (size_t)i], *next = row + grid->width;
    const float w[4] = {(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b};
    const tl_lit *q[4] = {row, row + 1, next, next + 1};
    tl_lit sum = {{0}, {0, 0, 0}};
    for (int c = 0; c < 4; c++) {
        for (int k = 0; k < TL_LAMPS; k++) sum.lamp[k] += w[c] * q[c]->lamp[k];
        sum.dome = tl_maddf(sum.dome, w[c], q[c]->dome);
    }
    return sum;
}
