// render/light.c: rays to the lamps and into the dome.
//
// Interleaved sampling (Keller & Heidrich 2001): 8 x 8 pixels share one low-discrepancy set, each pixel takes its own
// sixty-fourth of it, and the filter in filter.c brings them together: its weights sum over exactly 8 x 8 pixels. So
// half a dozen rays a pixel do the work of hundreds, and the pattern is fixed: nothing flickers from frame to frame,
// nothing depends on threads. Where a pixel has few relatives to share with, it casts more (draw.c).

#include "render/light.h"

#include "base/alloc.h"
#include "base/fail.h"

static const float PI_F = 3.14159265f;
enum { SPREAD = 13 };  // from one pattern of a cast to the next: odd, so that none comes twice

static tl_lamp make_lamp(tl_vec3f towards, tl_vec3f up, float azimuth_deg, float elevation_deg, float radius_deg,
                         tl_rgb power)
{
    tl_vec3f front = tl_subf(towards, tl_mulf(tl_dotf(towards, up), up));
    tl_vec3f side;
    if (tl_lenf(front) < 1e-3f) tl_frame(up, &front, &side);  // seen from straight above
    front = tl_unitf(front);
    side = tl_crossf(up, front);
    const float a = azimuth_deg * PI_F / 180, e = elevation_deg * PI_F / 180;
    tl_lamp lamp = {.sin_radius = sinf(radius_deg * PI_F / 180), .power = power};
    lamp.dir = tl_unitf(tl_maddf(tl_maddf(tl_mulf(cosf(e) * cosf(a), front), cosf(e) * sinf(a), side), sinf(e), up));
    tl_frame(lamp.dir, &lamp.t, &lamp.b);
    return lamp;
}

void tl_studio_init(tl_studio *s, tl_vec3f towards, tl_vec3f up)
{
    // balanced so that a surface turned half to the key shows about its own reflectance
    s->lamp[0] = make_lamp(towards, up, -58, 46, 8, (tl_rgb){0.98f, 0.96f, 0.925f});
    s->lamp[1] = make_lamp(towards, up, 58, 24, 20, (tl_rgb){0.12f, 0.125f, 0.14f});
    s->lamp[2] = make_lamp(towards, up, 152, 38, 14, (tl_rgb){0.30f, 0.305f, 0.32f});
    s->up = up;
    s->dome_base = 0.31f, s->dome_slope = 0.13f;
    s->dome_tint = (tl_rgb){0.97f, 0.99f, 1.03f};
}

tl_rgb tl_studio_dome(const tl_studio *s, tl_vec3f n)
{
    // the mean of base + slope d.up over the cosine lobe about n is base + 2/3 slope n.up
    return tl_mulf(s->dome_base + 2.0f / 3 * s->dome_slope * tl_dotf(n, s->up), s->dome_tint);
}

// --- sample patterns ---------------------------------------------------------------------------------------

/// The first two Sobol dimensions: any aligned run of 2^k points has one in each cell of every 2^i x 2^(k-i)
/// grid.
tl_vec2f tl_sobol2(uint32_t i)
{
    uint32_t x = 0, y = 0, vy = 1u << 31;
    for (uint32_t bit = 0, n = i; n; n >>= 1, bit++) {
        if (n & 1) x ^= 1u << (31 - bit), y ^= vy;
        vy ^= vy >> 1;
    }
    return (tl_vec2f){((float)(x >> 8) + 0.5f) * 0x1p-24f, ((float)(y >> 8) + 0.5f) * 0x1p-24f};
}

/// Point i of n on the unit disc along a sunflower's spiral (Vogel 1979): even in area and, unlike a lattice,
/// even seen from any side, so that the edge of a soft shadow has no steps.
static tl_vec2f sunflower(int32_t i, int32_t n)
{
    const float r = sqrtf(((float)i + 0.5f) / (float)n), phi = 2.39996323f * (float)i;  // the golden angle
    return (tl_vec2f){r * cosf(phi), r * sinf(phi)};
}

static int32_t power_of_two(int32_t n)
{
    int32_t p = 1;
    while (2 * p <= n) p *= 2;
    return p;
}

/// Where point i goes: every 64th point to the same pattern, patterns one after the other.
static int32_t slot(int32_t i, int32_t rays) { return i % TL_PATTERNS * rays + i / TL_PATTERNS; }

tl_status tl_samples_init(tl_samples *s, int32_t quality, const tl_allocator *alloc, tl_error *err)
{
    *s = (tl_samples){0};
    const int32_t q = power_of_two(quality < 4 ? 4 : quality > 1024 ? 1024 : quality);
    s->lamp_rays[0] = q / 16 > 0 ? q / 16 : 1, s->lamp_rays[1] = q / 32 > 0 ? q / 32 : 1;
    s->lamp_rays[2] = s->lamp_rays[1];
    s->dome_rays = q / 8 > 0 ? q / 8 : 1;
    bool ok = true;
    for (int k = 0; k < TL_LAMPS; k++) {
        const int32_t count = TL_PATTERNS * s->lamp_rays[k];
        s->disc[k] = TL_ALLOC(alloc, tl_vec2f, count);
        ok = ok && s->disc[k];
        for (int32_t i = 0; ok && i < count; i++) s->disc[k][slot(i, s->lamp_rays[k])] = sunflower(i, count);
    }
    s->dome = TL_ALLOC(alloc, tl_vec3f, TL_PATTERNS * s->dome_rays);
    ok = ok && s->dome;
    for (int32_t i = 0; ok && i < TL_PATTERNS * s->dome_rays; i++) {
        const tl_vec2f d = sunflower(i, TL_PATTERNS * s->dome_rays);
        s->dome[slot(i, s->dome_rays)] = (tl_vec3f){d.x, d.y, sqrtf(tl_maxf(1e-6f, 1 - d.x * d.x - d.y * d.y))};
    }
    if (ok) return TL_OK;
    tl_samples_free(s, alloc);
    return tl_fail_memory(err, "the sample patterns");
}

void tl_samples_free(tl_samples *s, const tl_allocator *alloc)
{
    for (int k = 0; k < TL_LAMPS; k++) TL_FREE(alloc, s->disc[k], TL_PATTERNS * s->lamp_rays[k]);
    TL_FREE(alloc, s->dome, TL_PATTERNS * s->dome_rays);
}

// --- light at a point --------------------------------------------------------------------------------------

static tl_rgb bounced(const tl_stage *stage, const tl_hit *hit, tl_vec3f dir)
{
    const tl_stage_tri *t = &stage->tri[hit->tri];
    const tl_draw_mesh *s = &stage->surfaces[t->surface];
    if (s->face_value || s->node_value || s->face_colour) return (tl_rgb){0.3f, 0.3f, 0.3f};
    const tl_vec3f a = stage->pos[t->vert[0]], b = stage->pos[t->vert[1]], c = stage->pos[t->vert[2]];
    const bool front = tl_dotf(tl_crossf(tl_subf(b, a), tl_subf(c, a)), dir) < 0;
    return front ? s->look.front : s->look.back;
}

/// Share of the rays from `org` to lamp `k` that arrive.
static float lamp_share(const tl_stage *stage, const tl_lamp *lamp, const tl_vec2f *disc, int32_t rays, tl_cast cast,
                        tl_vec3f org, int32_t *hint)
{
    int32_t arrived = 0;
    for (int32_t c = 0; c < cast.patterns; c++) {
        const tl_vec2f *d = disc + (cast.pattern + c * SPREAD) % TL_PATTERNS * rays;
        for (int32_t i = 0; i < rays; i++) {
            const float x = lamp->sin_radius * d[i].x, y = lamp->sin_radius * d[i].y;
            const tl_ray ray = {org, tl_maddf(tl_maddf(lamp->dir, x, lamp->t), y, lamp->b), 0, 1e18f};
            arrived += !tl_ray_bvh_blocked(stage->bvh, &ray, hint);
        }
    }
    return (float)arrived / (float)(rays * cast.patterns);
}

/// Share of the dome's light that arrives, with what bounces off near surfaces.
static tl_rgb dome_share(const tl_stage *stage, const tl_studio *studio, const tl_samples *samples, const tl_spot *spot,
                         tl_cast cast, tl_vec3f org)
{
    tl_vec3f t, b;
    tl_frame(spot->ns, &t, &b);
    tl_rgb sum = {0, 0, 0};
    float open_ = 0;
    for (int32_t c = 0; c < cast.patterns; c++) {
        const int32_t pattern = (cast.pattern + c * SPREAD) % TL_PATTERNS;
        // half of them: one half for even patterns, the other for odd ones, so that together they cover the dome
        const bool half = cast.half_dome && samples->dome_rays > 1;
        for (int32_t i = half ? pattern & 1 : 0; i < samples->dome_rays; i += half ? 2 : 1) {
            const tl_vec3f d = samples->dome[pattern * samples->dome_rays + i];
            tl_ray ray = {org, tl_maddf(tl_maddf(tl_mulf(d.x, t), d.y, b), d.z, spot->ns), 0, 1e18f};
            const float below = tl_dotf(ray.dir, spot->ng);
            if (below <= 0) ray.dir = tl_maddf(ray.dir, -2 * below, spot->ng);  // smooth normal leans past the face
            const float sky = studio->dome_base + studio->dome_slope * tl_dotf(ray.dir, studio->up);
            tl_hit hit;
            tl_rgb seen = {1, 1, 1};
            if (tl_ray_bvh_first(stage->bvh, &ray, &hit)) seen = tl_mulf(0.55f, bounced(stage, &hit, ray.dir));
            sum = tl_maddf(sum, sky, seen);
            open_ += sky;
        }
    }
    return tl_mulf(1 / open_, sum);
}

tl_lit tl_light_spot(const tl_stage *stage, const tl_studio *studio, const tl_samples *samples, const tl_spot *spot,
                     tl_cast cast)
{
    tl_lit lit = {{1, 1, 1}, {1, 1, 1}};
    const float clear = 2e-5f * stage->radius;  // a hair above the surface: a few roundings of the coordinates
    const tl_vec3f front = tl_maddf(tl_addf(spot->pos, spot->smooth_offset), clear, spot->ng);
    const tl_vec3f back = tl_maddf(tl_addf(spot->pos, spot->smooth_back), -clear, spot->ng);
    for (int k = 0; k < TL_LAMPS; k++) {
        if (!(cast.which >> k & 1)) continue;
        // by the smooth normal: the edge of shade follows the curved surface, not its facets
        const bool far_side = tl_dotf(spot->ns, studio->lamp[k].dir) < 0;
        if (far_side && cast.solid) {
            lit.lamp[k] = 0;
            continue;
        }
        lit.lamp[k] = lamp_share(stage, &studio->lamp[k], samples->disc[k], samples->lamp_rays[k], cast,
                                 far_side ? back : front, cast.hint ? &cast.hint[k] : NULL);
    }
    if (cast.which >> TL_LAMPS & 1) lit.dome = dome_share(stage, studio, samples, spot, cast, front);
    return lit;
}
