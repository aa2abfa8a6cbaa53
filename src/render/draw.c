// render/draw.c: one picture, in four passes over the pixels.
//
//   1. see     one ray through each pixel's centre
//   2. light   a few rays from there to the lamps and into the dome
//   3. filter  neighbours on the same surface share what they found (filter.c)
//   4. paint   colour; pixels on an outline get more rays through them, which borrow the light of their
//   neighbours
//
// Pixels are grouped in tiles of constant size and every pixel is a function of its position alone.

#include "render/draw.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "render/filter.h"
#include "render/shade.h"
#include "render/wire.h"

enum { TILE = 16, SRGB_STEPS = 16384, FLOOR = -2, NOTHING = -1 };

typedef struct painter {
    const tl_draw_def *def;
    tl_stage stage;
    tl_studio studio;
    tl_samples samples;
    tl_view view;
    tl_wire_view wire;
    tl_vec3f eye, right, up, forward; // in stage coordinates; right and up span the picture at distance 1
    tl_vec3f up_axis;
    bool parallel;
    float pixel; // width of a pixel at distance 1 (or anywhere, in parallel projection)
    tl_vec3f floor_point, floor_centre;
    tl_hit *hit;
    tl_gpixel *g;
    tl_lit *lit, *scratch;
    uint8_t *srgb;     // linear 0 .. 1 in SRGB_STEPS to bytes
    tl_rgb floor_open; // light on the floor with nothing in the way
    tl_image *out;
    tl_pixel_hit *hits;
    tl_vec2f *aa; // positions within a pixel
    int32_t tiles_x, tiles_y;
} painter;

tl_draw_def tl_draw_def_default(void)
{
    return (tl_draw_def){
        .width = 960,
        .height = 540,
        .camera = {.eye = {0, 0, 3}, .up = {0, 1, 0}, .fov_deg = 30},
        .up = {0, 1, 0},
        .ground_radius = 1,
        .background = tl_rgb_hex(0xe9eaec),
        .samples = 16,
        .exposure = 1,
    };
}

// --- rays --------------------------------------------------------------------------------------------------

static tl_ray ray_at(const painter *p, float x, float y)
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

/// Distance to the floor along `ray`, infinite if it is not met from above.
static float floor_distance(const painter *p, const tl_ray *ray)
{
    if (!p->def->ground) return INFINITY;
    const float down = tl_dotf(ray->dir, p->up_axis);
    const float above = tl_dotf(tl_subf(ray->org, p->floor_point), p->up_axis);
    return down < -1e-6f && above > 0 ? -above / down : INFINITY;
}

/// 1 near the scene, 0 where the floor has faded into the background.
static float floor_fade(const painter *p, tl_vec3f at)
{
    const float r = tl_lenf(tl_subf(at, p->floor_centre)) / (float)p->def->ground_radius;
    return 1 - tl_smoothf(1.2f, 4.5f, r);
}

static tl_spot floor_spot(const painter *p, const tl_ray *ray, float t)
{
    return (tl_spot){.pos = tl_maddf(ray->org, t, ray->dir), .ng = p->up_axis, .ns = p->up_axis};
}

// --- colours -----------------------------------------------------------------------------------------------

static tl_rgb backdrop(const painter *p, float x, float y)
{
    if (p->def->flat_background) return p->def->background;
    const float a = 2 * x / (float)p->def->width - 1, b = 2 * y / (float)p->def->height - 0.9f;
    return tl_mulf(1.03f - 0.085f * (a * a + b * b), p->def->background);
}

/// Light on the floor. The lamp from behind is for outlines only: its second shadow would look like dirt.
static tl_rgb floor_light(const tl_studio *studio, tl_vec3f n, const tl_lit *lit)
{
    tl_rgb sum = tl_scalef(lit->dome, tl_studio_dome(studio, n));
    for (int k = 0; k < TL_LAMPS - 1; k++)
        sum =
            tl_maddf(sum, lit->lamp[k] * tl_maxf(0, tl_dotf(n, studio->lamp[k].dir)), studio->lamp[k].power);
    return sum;
}

/// The floor has the colour of the backdrop times the share of light that reaches it, so it has no horizon.
static tl_rgb floor_colour(const painter *p, tl_vec3f at, const tl_lit *lit, tl_rgb behind)
{
    const float fade = floor_fade(p, at);
    const tl_rgb light = floor_light(&p->studio, p->up_axis, lit);
    const tl_rgb share = {light.x / p->floor_open.x, light.y / p->floor_open.y, light.z / p->floor_open.z};
    const float pool = p->def->flat_background ? 1 : 1 + 0.045f * fade;
    return tl_scalef(behind, tl_lerpf((tl_rgb){1, 1, 1}, tl_mulf(pool, share), fade));
}

/// Straight up to 3/4, then bending over so that nothing burns out.
static float tone(float x)
{
    const float knee = 0.75f;
    return x <= knee ? x : knee + (1 - knee) * (1 - expf(-(x - knee) / (1 - knee)));
}

static tl_rgb shown(const painter *p, tl_rgb c)
{
    return (tl_rgb){tone(p->def->exposure * c.x), tone(p->def->exposure * c.y), tone(p->def->exposure * c.z)};
}

static uint8_t to_byte(const painter *p, float x)
{
    return p->srgb[(int32_t)(tl_clampf(x, 0, 1) * (SRGB_STEPS - 1) + 0.5f)];
}

// --- the passes --------------------------------------------------------------------------------------------

typedef void (*pixel_fn)(painter *p, int32_t x, int32_t y, size_t at);

static void over_tile(painter *p, int32_t tile, pixel_fn fn)
{
    const int32_t x0 = tile % p->tiles_x * TILE, y0 = tile / p->tiles_x * TILE;
    for (int32_t y = y0; y < y0 + TILE && y < p->def->height; y++)
        for (int32_t x = x0; x < x0 + TILE && x < p->def->width; x++)
            fn(p, x, y, (size_t)y * (size_t)p->def->width + (size_t)x);
}

static void see_pixel(painter *p, int32_t x, int32_t y, size_t at)
{
    const tl_ray ray = ray_at(p, (float)x + 0.5f, (float)y + 0.5f);
    tl_hit hit;
    tl_gpixel g = {.surface = NOTHING};
    tl_ray_bvh_hit(p->stage.bvh, &ray, &hit);
    const float ground = floor_distance(p, &ray);
    if (hit.tri >= 0 && hit.t <= ground) {
        tl_meeting m;
        tl_meet(&p->stage, p->def, &ray, &hit, p->pixel, p->parallel, &m);
        g = (tl_gpixel){m.spot.pos, m.spot.ns, m.footprint, m.surface};
    } else if (ground < INFINITY) {
        hit = (tl_hit){ground, 0, 0, -1};
        g = (tl_gpixel){tl_maddf(ray.org, ground, ray.dir), p->up_axis,
                        p->parallel ? p->pixel : p->pixel * ground, FLOOR};
    } else {
        hit = (tl_hit){INFINITY, 0, 0, -1};
    }
    p->hit[at] = hit, p->g[at] = g;
    if (p->hits)
        p->hits[at] = (tl_pixel_hit){hit.t, g.surface, hit.tri >= 0 ? p->stage.tri[hit.tri].face : -1};
}

static tl_lit open_light(void) { return (tl_lit){{1, 1, 1}, {1, 1, 1}}; }

static tl_lit light_for(const painter *p, const tl_ray *ray, const tl_hit *hit, int32_t surface,
                        int32_t pattern)
{
    if (surface == NOTHING) return open_light();
    if (surface == FLOOR) {
        const tl_spot spot = floor_spot(p, ray, hit->t);
        if (floor_fade(p, spot.pos) <= 0) return open_light();
        return tl_light_spot(&p->stage, &p->studio, &p->samples, &spot, pattern);
    }
    tl_meeting m;
    tl_meet(&p->stage, p->def, ray, hit, p->pixel, p->parallel, &m);
    return tl_light_spot(&p->stage, &p->studio, &p->samples, &m.spot, pattern);
}

static void light_pixel(painter *p, int32_t x, int32_t y, size_t at)
{
    const tl_ray ray = ray_at(p, (float)x + 0.5f, (float)y + 0.5f);
    p->lit[at] = light_for(p, &ray, &p->hit[at], p->g[at].surface, tl_pattern_of(x, y));
}

static tl_rgb colour_of(const painter *p, const tl_ray *ray, const tl_hit *hit, int32_t surface,
                        const tl_lit *lit, float x, float y)
{
    const tl_rgb behind = backdrop(p, x, y);
    if (surface == NOTHING) return behind;
    if (surface == FLOOR) return floor_colour(p, tl_maddf(ray->org, hit->t, ray->dir), lit, behind);
    tl_meeting m;
    tl_meet(&p->stage, p->def, ray, hit, p->pixel, p->parallel, &m);
    tl_rgb c = shown(p, tl_shade(&p->stage, &p->studio, &m, lit));
    if (p->stage.surfaces[surface].wire) c = tl_wire_over(&p->wire, &p->stage, m.tri, x, y, c);
    return c;
}

/// How many rays a pixel deserves: 1 inside a surface, some where the colours of faces meet, all on an
/// outline.
static int32_t rays_for(const painter *p, int32_t x, int32_t y, size_t at)
{
    const tl_gpixel *g = &p->g[at];
    bool seam = false;
    for (int32_t dy = -1; dy <= 1; dy++) {
        for (int32_t dx = -1; dx <= 1; dx++) {
            const int32_t i = x + dx, j = y + dy;
            if (i < 0 || j < 0 || i >= p->def->width || j >= p->def->height) continue;
            const size_t other = (size_t)j * (size_t)p->def->width + (size_t)i;
            const tl_gpixel *h = &p->g[other];
            if (h->surface != g->surface) return p->def->samples;
            if (g->surface < 0) continue;
            if (tl_kinship(g, h) < 0.35f || tl_kinship(h, g) < 0.35f) return p->def->samples;
            if (p->hit[other].tri != p->hit[at].tri) {
                const tl_draw_mesh *s = &p->stage.surfaces[g->surface];
                seam = seam || s->face_value || s->face_colour || s->face_mark;
            }
        }
    }
    return seam ? (p->def->samples + 3) / 4 : 1;
}

/// Light for a ray beside the pixel's centre: that of the nearest pixels on the same surface.
static bool borrow_light(const painter *p, const tl_gpixel *g, int32_t x, int32_t y, tl_lit *out)
{
    tl_lit sum = {{0}, {0, 0, 0}};
    float total = 0;
    for (int32_t j = y - 1; j <= y + 1; j++) {
        for (int32_t i = x - 1; i <= x + 1; i++) {
            if (i < 0 || j < 0 || i >= p->def->width || j >= p->def->height) continue;
            const size_t other = (size_t)j * (size_t)p->def->width + (size_t)i;
            if (p->g[other].surface != g->surface) continue;
            const float w = tl_kinship(g, &p->g[other]) * (i == x && j == y ? 2 : 1);
            for (int k = 0; k < TL_LAMPS; k++) sum.lamp[k] += w * p->lit[other].lamp[k];
            sum.dome = tl_maddf(sum.dome, w, p->lit[other].dome);
            total += w;
        }
    }
    if (total < 0.15f) return false;
    for (int k = 0; k < TL_LAMPS; k++) out->lamp[k] = sum.lamp[k] / total;
    out->dome = tl_mulf(1 / total, sum.dome);
    return true;
}

static void paint_pixel(painter *p, int32_t x, int32_t y, size_t at)
{
    const int32_t rays = rays_for(p, x, y, at);
    tl_rgb sum = {0, 0, 0};
    for (int32_t i = 0; i < rays; i++) {
        const float px = (float)x + (rays == 1 ? 0.5f : p->aa[i].x),
                    py = (float)y + (rays == 1 ? 0.5f : p->aa[i].y);
        const tl_ray ray = ray_at(p, px, py);
        tl_hit hit = p->hit[at];
        tl_gpixel g = p->g[at];
        tl_lit lit = p->lit[at];
        if (rays > 1) {
            tl_ray_bvh_hit(p->stage.bvh, &ray, &hit);
            const float ground = floor_distance(p, &ray);
            g.surface = NOTHING;
            if (hit.tri >= 0 && hit.t <= ground) {
                tl_meeting m;
                tl_meet(&p->stage, p->def, &ray, &hit, p->pixel, p->parallel, &m);
                g = (tl_gpixel){m.spot.pos, m.spot.ns, m.footprint, m.surface};
            } else if (ground < INFINITY) {
                hit = (tl_hit){ground, 0, 0, -1};
                g = (tl_gpixel){tl_maddf(ray.org, ground, ray.dir), p->up_axis,
                                p->parallel ? p->pixel : p->pixel * ground, FLOOR};
            }
            if (g.surface != NOTHING && !borrow_light(p, &g, x, y, &lit))
                lit = light_for(p, &ray, &hit, g.surface, (tl_pattern_of(x, y) + i) & 15);
        }
        sum = tl_addf(sum, colour_of(p, &ray, &hit, g.surface, &lit, px, py));
    }
    const float scale = 1 / (float)rays;
    uint8_t *rgb = p->out->rgb + 3 * at;
    rgb[0] = to_byte(p, scale * sum.x), rgb[1] = to_byte(p, scale * sum.y),
    rgb[2] = to_byte(p, scale * sum.z);
}

static void see_tiles(void *arg, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) over_tile(arg, t, see_pixel);
}
static void light_tiles(void *arg, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) over_tile(arg, t, light_pixel);
}
static void paint_tiles(void *arg, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) over_tile(arg, t, paint_pixel);
}

// --- putting it together -----------------------------------------------------------------------------------

static tl_vec3f plain_f(tl_vec3 a) { return tl_to_f(a, (tl_vec3){0, 0, 0}); }

static void place_camera(painter *p)
{
    const tl_draw_def *def = p->def;
    const double aspect = (double)def->width / def->height;
    p->view = tl_camera_view(&def->camera);
    p->parallel = def->camera.fov_deg <= 0;
    const double half =
        p->parallel ? def->camera.height / 2 : tan(def->camera.fov_deg * 3.14159265358979323846 / 360);
    p->eye = tl_to_f(def->camera.eye, p->stage.origin);
    p->forward = plain_f(p->view.forward);
    p->right = plain_f(tl_mul3(half * aspect, p->view.right));
    p->up = plain_f(tl_mul3(half, p->view.up));
    p->pixel = (float)(2 * half / def->height);
    const tl_vec3 up = tl_unit3_or(def->up, (tl_vec3){0, 1, 0});
    p->up_axis = plain_f(up);
    const tl_vec3 from = tl_norm3(def->light_from) > 0 ? def->light_from : p->view.forward;
    tl_studio_init(&p->studio, plain_f(tl_mul3(-1, tl_unit3_or(from, p->view.forward))), p->up_axis);
    const tl_vec3 floor_point = tl_mul3(def->ground_height, up);
    p->floor_point = tl_to_f(floor_point, p->stage.origin);
    // the centre dropped onto the floor
    p->floor_centre =
        tl_to_f(tl_madd3(def->ground_centre, def->ground_height - tl_dot3(def->ground_centre, up), up),
                p->stage.origin);
    const tl_lit open_ = open_light();
    p->floor_open = floor_light(&p->studio, p->up_axis, &open_);
    p->wire = (tl_wire_view){p->eye,
                             p->forward,
                             tl_unitf(p->right),
                             tl_unitf(p->up),
                             p->parallel,
                             (float)(def->height / (2 * half)),
                             0.5f * (float)def->width,
                             0.5f * (float)def->height};
}

static tl_status check_def(const tl_draw_def *def, const tl_image *out, tl_error *err)
{
    if (!def->alloc) return tl_fail(err, TL_BAD_ARG, "draw: no allocator given");
    if (!out->rgb || out->width != def->width || out->height != def->height)
        return tl_fail(err, TL_BAD_ARG, "draw: picture is %d x %d, asked for %d x %d", out->width,
                       out->height, def->width, def->height);
    if (def->samples < 1 || def->samples > 4096)
        return tl_fail(err, TL_BAD_ARG, "draw: %d samples, must be from 1 to 4096", def->samples);
    const double fov = def->camera.fov_deg;
    if (!(fov < 170) || (fov <= 0 && !(def->camera.height > 0)))
        return tl_fail(err, TL_BAD_ARG, "draw: angle of view %g, must be in (0, 170) degrees", fov);
    if (!tl_finite3(def->camera.eye) || !tl_finite3(def->camera.target) || !tl_finite3(def->camera.up))
        return tl_fail(err, TL_BAD_ARG, "draw: the camera's position is not finite");
    return TL_OK;
}

static tl_status paint(painter *p, tl_error *err)
{
    const tl_allocator *alloc = p->def->alloc;
    const size_t count = (size_t)p->def->width * (size_t)p->def->height;
    p->hit = TL_ALLOC(alloc, tl_hit, count);
    p->g = TL_ALLOC(alloc, tl_gpixel, count);
    p->lit = TL_ALLOC(alloc, tl_lit, count);
    p->scratch = TL_ALLOC(alloc, tl_lit, count);
    p->srgb = TL_ALLOC(alloc, uint8_t, SRGB_STEPS);
    p->aa = TL_ALLOC(alloc, tl_vec2f, p->def->samples);
    if (!p->hit || !p->g || !p->lit || !p->scratch || !p->srgb || !p->aa)
        return tl_fail_memory(err, "drawing");
    for (int32_t i = 0; i < SRGB_STEPS; i++) p->srgb[i] = tl_srgb_byte((float)i / (SRGB_STEPS - 1));
    for (int32_t i = 0; i < p->def->samples; i++) p->aa[i] = tl_sobol2((uint32_t)i);
    TL_TRY(tl_samples_init(&p->samples, p->def->samples, alloc, err));
    const int32_t tiles = p->tiles_x * p->tiles_y;
    tl_parallel_for(p->def->workers, tiles, 1, see_tiles, p);
    tl_parallel_for(p->def->workers, tiles, 1, light_tiles, p);
    tl_filter_light(p->g, p->lit, p->scratch, p->def->width, p->def->height, p->def->workers);
    tl_parallel_for(p->def->workers, tiles, 1, paint_tiles, p);
    return TL_OK;
}

tl_status tl_draw(const tl_draw_def *def, tl_image *out, tl_pixel_hit *hits, int64_t *skipped, tl_error *err)
{
    if (skipped) *skipped = 0;
    TL_TRY(check_def(def, out, err));
    painter p = {.def = def, .out = out, .hits = hits};
    TL_TRY(tl_stage_init(&p.stage, def, err));
    if (skipped) *skipped = p.stage.skipped;
    p.tiles_x = (def->width + TILE - 1) / TILE, p.tiles_y = (def->height + TILE - 1) / TILE;
    place_camera(&p);
    const tl_status status = paint(&p, err);
    const size_t count = (size_t)def->width * (size_t)def->height;
    TL_FREE(def->alloc, p.hit, count);
    TL_FREE(def->alloc, p.g, count);
    TL_FREE(def->alloc, p.lit, count);
    TL_FREE(def->alloc, p.scratch, count);
    TL_FREE(def->alloc, p.srgb, SRGB_STEPS);
    TL_FREE(def->alloc, p.aa, def->samples);
    tl_samples_free(&p.samples, def->alloc);
    tl_stage_free(&p.stage);
    return status;
}
