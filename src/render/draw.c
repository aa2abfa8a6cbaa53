// render/draw.c: one picture, in four passes over the pixels.
//
//   1. see     one ray through each pixel's centre
//   2. light   a few rays from there to the lamps and into the dome, more to the key lamp where its shadow has an edge
//   3. filter  neighbours on the same surface share what they found (filter.c)
//   4. paint   colour; pixels on an outline get more rays through them, which borrow the light of their
//   neighbours
//
// Pixels are grouped in tiles of constant size and every pixel is a function of its position alone.

#include "render/draw.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "render/painter.h"

enum { SRGB_STEPS = 16384, TRIAL_RAYS = 4, EDGE_PATTERNS = 4, SMALL_PICTURE = 400000 };
enum { KEY = 1, FILL = 2, RIM = 4 };  // bits of tl_cast.which

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

// --- colours -----------------------------------------------------------------------------------------------

/// Straight up to 3/4, then bending over so that nothing burns out.
static float tone(float x)
{
    const float knee = 0.75f;
    return x <= knee ? x : knee + (1 - knee) * (1 - expf(-(x - knee) / (1 - knee)));
}

static tl_rgb shown(const tl_painter *p, tl_rgb c)
{
    return (tl_rgb){tone(p->def->exposure * c.x), tone(p->def->exposure * c.y), tone(p->def->exposure * c.z)};
}

static uint8_t to_byte(const tl_painter *p, float x)
{
    return p->srgb[(int32_t)(tl_clampf(x, 0, 1) * (SRGB_STEPS - 1) + 0.5f)];
}

// --- the passes --------------------------------------------------------------------------------------------

/// A pixel on the way through a pass.
typedef struct place {
    int32_t x, y;
    size_t at;
    tl_tile tile;
    int32_t *hint;  // of the tile: what blocked the last ray to each lamp, and what was seen last
} place;

typedef void (*pixel_fn)(tl_painter *p, const place *l);

static void over_tile(tl_painter *p, int32_t tile, pixel_fn fn)
{
    const int32_t x0 = tile % p->tiles_x * TL_TILE, y0 = tile / p->tiles_x * TL_TILE;
    int32_t hint[TL_LAMPS + 1] = {0};
    place l = {.tile = p->tile[tile], .hint = hint};
    for (l.y = y0; l.y < y0 + TL_TILE && l.y < p->def->height; l.y++) {
        for (l.x = x0; l.x < x0 + TL_TILE && l.x < p->def->width; l.x++) {
            l.at = (size_t)l.y * (size_t)p->def->width + (size_t)l.x;
            fn(p, &l);
        }
    }
}

/// What `ray` meets; without `hint`, no surface. `m` is filled in if it is a surface.
static void look_along(const tl_painter *p, const tl_ray *ray, int32_t *hint, tl_hit *hit, tl_meeting *m, tl_gpixel *g)
{
    *g = (tl_gpixel){.surface = TL_SEES_NOTHING};
    *hit = (tl_hit){INFINITY, 0, 0, -1};
    if (hint) tl_ray_bvh_hit(p->stage.bvh, ray, hint, hit);
    const float ground = tl_floor_distance(p, ray);
    if (hit->tri >= 0 && hit->t <= ground) {
        tl_meet(&p->stage, ray, hit, p->pixel, p->parallel, m);
        *g = (tl_gpixel){m->spot.pos, m->spot.ns, m->footprint, m->surface};
    } else if (ground < INFINITY) {
        *hit = (tl_hit){ground, 0, 0, -1};
        *g = (tl_gpixel){tl_maddf(ray->org, ground, ray->dir), p->up_axis, p->parallel ? p->pixel : p->pixel * ground,
                         TL_SEES_FLOOR};
    } else {
        *hit = (tl_hit){INFINITY, 0, 0, -1};
    }
}

static void see_pixel(tl_painter *p, const place *l)
{
    const tl_ray ray = tl_painter_ray(p, (float)l->x + 0.5f, (float)l->y + 0.5f);
    tl_meeting m;
    tl_hit *hit = &p->hit[l->at];
    tl_gpixel *g = &p->g[l->at];
    look_along(p, &ray, l->tile.empty ? NULL : &l->hint[0], hit, &m, g);
    if (g->surface == TL_SEES_FLOOR && l->tile.grid > 0) g->footprint = 0;
    if (p->hits) p->hits[l->at] = (tl_pixel_hit){hit->t, g->surface, hit->tri >= 0 ? p->stage.tri[hit->tri].face : -1};
}

/// Whether two rays meet one smooth piece of surface.
static bool akin(const tl_gpixel *a, const tl_gpixel *b)
{
    if (a->surface != b->surface) return false;
    return a->surface < 0 || (tl_kinship(a, b) >= 0.35f && tl_kinship(b, a) >= 0.35f);
}

/// How many patterns' rays a pixel casts: one if the filter finds enough relatives around it that cast the others, four
/// at folds and outlines, where it stands alone.
static int32_t patterns_for(const tl_painter *p, int32_t x, int32_t y, size_t at)
{
    static const int8_t around[4][2] = {{-3, 0}, {3, 0}, {0, -3}, {0, 3}};
    const tl_gpixel *g = &p->g[at];
    float kin = 0;
    for (int k = 0; k < 4; k++) {
        const int32_t i = x + around[k][0], j = y + around[k][1];
        if (i < 0 || j < 0 || i >= p->def->width || j >= p->def->height) continue;
        kin += tl_kinship(g, &p->g[(size_t)j * (size_t)p->def->width + (size_t)i]);
    }
    return kin < 2 ? 4 : 1;
}

/// The light at a point that was seen; `m` is what a surface was met with.
static tl_lit light_for(const tl_painter *p, const tl_gpixel *g, tl_meeting *m, tl_cast cast)
{
    if (g->surface == TL_SEES_NOTHING) return tl_open_light();
    if (g->surface == TL_SEES_FLOOR) {
        if (tl_floor_fade(p, g->pos) <= 0) return tl_open_light();
        const tl_spot spot = {.pos = g->pos, .ng = p->up_axis, .ns = p->up_axis};
        cast.which &= TL_CAST_FLOOR;
        return tl_light_spot(&p->stage, &p->studio, &p->samples, &spot, cast);
    }
    tl_meet_lift(&p->stage, m);
    if (p->stage.surfaces[g->surface].look.transmit <= 0) cast.solid = true;
    return tl_light_spot(&p->stage, &p->studio, &p->samples, &m->spot, cast);
}

/// Light at a pixel's centre from `which` of the lamps and the dome, by the rays of at least `patterns` patterns.
static tl_lit light_at(const tl_painter *p, const place *l, int32_t x, uint32_t which, int32_t patterns)
{
    const size_t at = l->at - (size_t)(l->x - x);
    const tl_gpixel *g = &p->g[at];
    if (g->surface == TL_SEES_FLOOR && l->tile.grid > 0)
        return tl_floor_grid_light(&p->grid[l->tile.grid - 1], x, l->y);
    if (g->surface == TL_SEES_FLOOR && l->tile.soft > 0) {
        tl_lit lit = tl_floor_grid_light(&p->grid[l->tile.soft - 1], x, l->y);
        const tl_cast key = {tl_pattern_of(x, l->y), patterns, KEY, false, false, l->hint};
        lit.lamp[0] = light_for(p, g, NULL, key).lamp[0];
        return lit;
    }
    tl_meeting m;
    if (g->surface >= 0) {
        const tl_ray ray = tl_painter_ray(p, (float)x + 0.5f, (float)l->y + 0.5f);
        tl_meet(&p->stage, &ray, &p->hit[at], p->pixel, p->parallel, &m);
        if (patterns == 1) patterns = patterns_for(p, x, l->y, at);
    }
    const bool half_dome = g->surface >= 0 && patterns == 1;
    return light_for(p, g, &m, (tl_cast){tl_pattern_of(x, l->y), patterns, which, half_dome, false, l->hint});
}

/// Two pixels side by side at a time: the left one looks for the fill, the right one for the lamp from behind, and if
/// they lie on one surface each believes the other.
static void light_pixel(tl_painter *p, const place *l)
{
    if (l->x % 2 == 0 && l->x + 1 < p->def->width) return;  // goes with the next
    const tl_gpixel *g = &p->g[l->at];
    if (l->x % 2 == 0 || !akin(g - 1, g)) {
        if (l->x % 2) p->lit[l->at - 1] = light_at(p, l, l->x - 1, TL_CAST_ALL, 1);
        p->lit[l->at] = light_at(p, l, l->x, TL_CAST_ALL, 1);
        return;
    }
    tl_lit left = light_at(p, l, l->x - 1, TL_CAST_ALL - RIM, 1), right = light_at(p, l, l->x, TL_CAST_ALL - FILL, 1);
    left.lamp[2] = right.lamp[2];
    if (g->footprint > 0) right.lamp[1] = left.lamp[1];
    p->lit[l->at - 1] = left, p->lit[l->at] = right;
}

/// Whether the edge of the key's shadow runs near a pixel: it and its neighbours do not agree.
static bool half_shade(const tl_painter *p, const place *l)
{
    static const int8_t around[8][2] = {{-4, 0}, {-2, -2}, {-2, 2}, {0, -4}, {0, 4}, {2, -2}, {2, 2}, {4, 0}};
    const float own = p->lit[l->at].lamp[0];
    for (int k = 0; k < 8; k++) {
        const int32_t i = l->x + around[k][0], j = l->y + around[k][1];
        if (i < 0 || j < 0 || i >= p->def->width || j >= p->def->height) continue;
        const size_t other = (size_t)j * (size_t)p->def->width + (size_t)i;
        if (p->lit[other].lamp[0] != own && p->g[other].surface == p->g[l->at].surface) return true;
    }
    return false;
}

/// More rays to the key lamp where its shadow has an edge. From `lit` to `scratch`.
static void refine_pixel(tl_painter *p, const place *l)
{
    const tl_gpixel *g = &p->g[l->at];
    tl_lit *lit = &p->scratch[l->at];
    *lit = p->lit[l->at];
    if (g->surface == TL_SEES_NOTHING || (g->surface == TL_SEES_FLOOR && l->tile.grid > 0) || !half_shade(p, l)) return;
    lit->lamp[0] = light_at(p, l, l->x, KEY, p->edge_patterns).lamp[0];
}

static tl_rgb colour_of(const tl_painter *p, const tl_gpixel *g, tl_meeting *m, const tl_lit *lit, tl_vec2f at)
{
    if (g->surface == TL_SEES_NOTHING) return tl_backdrop(p, at.x, at.y);
    if (g->surface == TL_SEES_FLOOR) return tl_floor_colour(p, g->pos, lit, tl_backdrop(p, at.x, at.y));
    tl_meet_colour(&p->stage, p->def, m);
    tl_rgb c = shown(p, tl_shade(&p->stage, &p->studio, m, lit));
    if (p->stage.surfaces[g->surface].wire) c = tl_wire_over(&p->wire, &p->stage, m->tri, at.x, at.y, c);
    return c;
}

/// What runs through a pixel.
typedef enum edge_kind {
    EDGE_NONE,
    EDGE_SEAM,    // the colours of two faces meet
    EDGE_FOLD,    // the surface turns fast, or passes before itself, in this pixel or beside it
    EDGE_OUTLINE  // two surfaces meet
} edge_kind;

static edge_kind edge_at(const tl_painter *p, const place *l)
{
    const tl_gpixel *g = &p->g[l->at];
    const int32_t tri = p->hit[l->at].tri;
    edge_kind kind = EDGE_NONE;
    for (int32_t j = l->y - 1; j <= l->y + 1; j++) {
        for (int32_t i = l->x - 1; i <= l->x + 1; i++) {
            if (i < 0 || j < 0 || i >= p->def->width || j >= p->def->height) continue;
            const size_t other = (size_t)j * (size_t)p->def->width + (size_t)i;
            const tl_gpixel *h = &p->g[other];
            if (h->surface != g->surface) return EDGE_OUTLINE;
            if (g->surface < 0 || p->hit[other].tri == tri || kind == EDGE_FOLD) continue;
            const tl_draw_mesh *s = &p->stage.surfaces[g->surface];
            if (!akin(g, h))
                kind = EDGE_FOLD;
            else if (s->face_value || s->face_colour || s->face_mark)
                kind = EDGE_SEAM;
        }
    }
    return kind;
}

/// Light for a ray beside the pixel's centre: that of the nearest pixels on the same surface.
static bool borrow_light(const tl_painter *p, const tl_gpixel *g, int32_t x, int32_t y, tl_lit *out)
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

/// One of several rays through pixel (x, y): what it meets, and its colour.
static tl_rgb paint_ray(const tl_painter *p, const place *l, int32_t i, tl_gpixel *g)
{
    const tl_vec2f at = {(float)l->x + p->aa[i].x, (float)l->y + p->aa[i].y};
    const tl_ray ray = tl_painter_ray(p, at.x, at.y);
    tl_hit hit;
    tl_lit lit = tl_open_light();
    tl_meeting m;
    look_along(p, &ray, &l->hint[TL_LAMPS], &hit, &m, g);
    if (g->surface != TL_SEES_NOTHING && !borrow_light(p, g, l->x, l->y, &lit)) {
        const int32_t pattern = (tl_pattern_of(l->x, l->y) + 4 * i) % TL_PATTERNS;
        lit = light_for(p, g, &m, (tl_cast){pattern, EDGE_PATTERNS / 2, TL_CAST_ALL, false, false, l->hint});
    }
    return colour_of(p, g, &m, &lit, at);
}

static void paint_pixel(tl_painter *p, const place *l)
{
    const tl_gpixel *g = &p->g[l->at];
    const edge_kind edge = l->tile.empty ? EDGE_NONE : edge_at(p, l);
    int32_t rays = edge == EDGE_NONE ? 1 : edge == EDGE_SEAM ? (p->def->samples + 3) / 4 : p->def->samples;
    tl_rgb sum = {0, 0, 0};
    if (rays == 1) {
        const tl_vec2f at = {(float)l->x + 0.5f, (float)l->y + 0.5f};
        tl_meeting m;
        if (g->surface >= 0) {
            const tl_ray ray = tl_painter_ray(p, at.x, at.y);
            tl_meet(&p->stage, &ray, &p->hit[l->at], p->pixel, p->parallel, &m);
        }
        sum = colour_of(p, g, &m, &p->lit[l->at], at);
    } else {
        bool same = edge == EDGE_FOLD;
        for (int32_t i = 0; i < rays; i++) {
            tl_gpixel met;
            sum = tl_addf(sum, paint_ray(p, l, i, &met));
            same = same && akin(g, &met);
            if (i + 1 == TRIAL_RAYS && same) rays = TRIAL_RAYS;  // the fold lies beside this pixel
        }
    }
    const float scale = 1 / (float)rays;
    uint8_t *rgb = p->out->rgb + 3 * l->at;
    rgb[0] = to_byte(p, scale * sum.x), rgb[1] = to_byte(p, scale * sum.y), rgb[2] = to_byte(p, scale * sum.z);
}

static void see_tiles(void *arg, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) over_tile(arg, t, see_pixel);
}
static void light_tiles(void *arg, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) over_tile(arg, t, light_pixel);
}
static void refine_tiles(void *arg, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) over_tile(arg, t, refine_pixel);
}
static void paint_tiles(void *arg, int32_t begin, int32_t end)
{
    for (int32_t t = begin; t < end; t++) over_tile(arg, t, paint_pixel);
}

// --- putting it together -----------------------------------------------------------------------------------

static tl_vec3f plain_f(tl_vec3 a) { return tl_to_f(a, (tl_vec3){0, 0, 0}); }

static void place_camera(tl_painter *p)
{
    const tl_draw_def *def = p->def;
    const double aspect = (double)def->width / def->height;
    p->view = tl_camera_view(&def->camera);
    p->parallel = def->camera.fov_deg <= 0;
    const double half = p->parallel ? def->camera.height / 2 : tan(def->camera.fov_deg * 3.14159265358979323846 / 360);
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
    p->floor_centre = tl_to_f(tl_madd3(def->ground_centre, def->ground_height - tl_dot3(def->ground_centre, up), up),
                              p->stage.origin);
    const tl_lit open_ = tl_open_light();
    const tl_rgb whole = tl_floor_light(&p->studio, p->up_axis, &open_);
    p->floor_per_open = (tl_rgb){1 / whole.x, 1 / whole.y, 1 / whole.z};
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
        return tl_fail(err, TL_BAD_ARG, "draw: picture is %d x %d, asked for %d x %d", out->width, out->height,
                       def->width, def->height);
    if (def->samples < 1 || def->samples > 4096)
        return tl_fail(err, TL_BAD_ARG, "draw: %d samples, must be from 1 to 4096", def->samples);
    const double fov = def->camera.fov_deg;
    if (!(fov < 170) || (fov <= 0 && !(def->camera.height > 0)))
        return tl_fail(err, TL_BAD_ARG, "draw: angle of view %g, must be in (0, 170) degrees", fov);
    if (!tl_finite3(def->camera.eye) || !tl_finite3(def->camera.target) || !tl_finite3(def->camera.up))
        return tl_fail(err, TL_BAD_ARG, "draw: the camera's position is not finite");
    return TL_OK;
}

static tl_status paint(tl_painter *p, tl_error *err)
{
    const tl_allocator *alloc = p->def->alloc;
    const size_t count = (size_t)p->def->width * (size_t)p->def->height;
    p->hit = TL_ALLOC(alloc, tl_hit, count);
    p->g = TL_ALLOC(alloc, tl_gpixel, count);
    p->lit = TL_ALLOC(alloc, tl_lit, count);
    p->scratch = TL_ALLOC(alloc, tl_lit, count);
    p->srgb = TL_ALLOC(alloc, uint8_t, SRGB_STEPS);
    p->aa = TL_ALLOC(alloc, tl_vec2f, p->def->samples);
    if (!p->hit || !p->g || !p->lit || !p->scratch || !p->srgb || !p->aa) return tl_fail_memory(err, "drawing");
    for (int32_t i = 0; i < SRGB_STEPS; i++) p->srgb[i] = tl_srgb_byte((float)i / (SRGB_STEPS - 1));
    for (int32_t i = 0; i < p->def->samples; i++) p->aa[i] = tl_sobol2((uint32_t)i);
    TL_TRY(tl_samples_init(&p->samples, p->def->samples, alloc, err));
    // in a small picture an edge is few pixels wide, and there are few pixels
    p->edge_patterns = count < SMALL_PICTURE ? 4 * EDGE_PATTERNS : EDGE_PATTERNS;
    TL_TRY(tl_floor_prepare(p, err));
    const int32_t tiles = p->tiles_x * p->tiles_y;
    tl_parallel_for(p->def->workers, tiles, 1, see_tiles, p);
    tl_parallel_for(p->def->workers, tiles, 1, light_tiles, p);
    tl_parallel_for(p->def->workers, tiles, 1, refine_tiles, p);
    tl_lit *const refined = p->scratch;
    p->scratch = p->lit, p->lit = refined;
    tl_filter_light(p->g, p->lit, p->scratch, p->def->width, p->def->height, p->def->workers);
    tl_parallel_for(p->def->workers, tiles, 1, paint_tiles, p);
    return TL_OK;
}

tl_status tl_draw(const tl_draw_def *def, tl_image *out, tl_pixel_hit *hits, int64_t *skipped, tl_error *err)
{
    if (skipped) *skipped = 0;
    TL_TRY(check_def(def, out, err));
    tl_painter p = {.def = def, .out = out, .hits = hits};
    TL_TRY(tl_stage_init(&p.stage, def, err));
    if (skipped) *skipped = p.stage.skipped;
    p.tiles_x = (def->width + TL_TILE - 1) / TL_TILE, p.tiles_y = (def->height + TL_TILE - 1) / TL_TILE;
    place_camera(&p);
    const tl_status status = paint(&p, err);
    const size_t count = (size_t)def->width * (size_t)def->height;
    TL_FREE(def->alloc, p.hit, count);
    TL_FREE(def->alloc, p.g, count);
    TL_FREE(def->alloc, p.lit, count);
    TL_FREE(def->alloc, p.scratch, count);
    TL_FREE(def->alloc, p.srgb, SRGB_STEPS);
    TL_FREE(def->alloc, p.aa, def->samples);
    tl_floor_release(&p);
    tl_samples_free(&p.samples, def->alloc);
    tl_stage_free(&p.stage);
    return status;
}
