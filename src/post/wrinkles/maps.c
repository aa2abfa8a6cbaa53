// post/wrinkles/maps.c: heights and normals over material space, as pictures for renderers.

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "post/wrinkles/wrinkles_impl.h"

#define HALF_TURN 3.14159265358979323846
#define INSIDE 1e-9  // barycentric: a texel on an edge between two faces belongs to one of them
enum { NO_HEIGHT = 32768, GREATEST = 32767, SMALLEST_MAP = 4, LARGEST_MAP = 8192 };

void tl_wrinkle_maps_free(const tl_wrinkles *w, tl_wrinkle_maps *maps)
{
    const int64_t texels = (int64_t)maps->size * maps->size;
    TL_FREE(&w->alloc, maps->height, texels);
    TL_FREE(&w->alloc, maps->normal, 3 * texels);
}

// The greatest height there can be, whatever the frame: two textures whose weights have the sum 1.
static double range_of(const tl_wrinkles *w)
{
    if (w->def.kind == TL_WRINKLES_PAPER) return 4 * w->def.amplitude * fmax(w->def.strength, INSIDE);
    return fmax(w->def.strength, INSIDE) * w->def.ridges.wavelength / (2 * HALF_TURN);  // at a compression of a half
}

static void put_normal(uint16_t *rgb, tl_vec2 slope)
{
    const double length = sqrt(1 + tl_dot2(slope, slope));
    const double n[3] = {-slope.x / length, -slope.y / length, 1 / length};
    for (int k = 0; k < 3; k++) rgb[k] = (uint16_t)lrint(NO_HEIGHT + GREATEST * n[k]);
}

static void draw_face(const tl_wrinkles *w, int32_t f, tl_wrinkle_maps *out, uint8_t *taken)
{
    double left = INFINITY, right = -INFINITY, low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 3; k++) {
        const tl_vec2 p = w->uv[w->face[f][k]];
        left = fmin(left, p.x), right = fmax(right, p.x), low = fmin(low, p.y), high = fmax(high, p.y);
    }
    const int32_t last = out->size - 1;
    const int32_t x0 = (int32_t)fmax(0, floor((left - out->lowest.x) / out->step.x - 0.5)),
                  x1 = (int32_t)fmin(last, ceil((right - out->lowest.x) / out->step.x)),
                  y0 = (int32_t)fmax(0, floor((low - out->lowest.y) / out->step.y - 0.5)),
                  y1 = (int32_t)fmin(last, ceil((high - out->lowest.y) / out->step.y));
    for (int32_t y = y0; y <= y1; y++)
        for (int32_t x = x0; x <= x1; x++) {
            const tl_vec2 at = {out->lowest.x + (x + 0.5) * out->step.x, out->lowest.y + (y + 0.5) * out->step.y};
            double part[3];
            tl_wrinkles_corners(w, f, at, part);
            const double least = fmin(part[0], fmin(part[1], part[2]));
            if (least < -INSIDE) continue;
            const int64_t texel = (int64_t)(last - y) * out->size + x;
            if (taken[texel]) {
                out->overlaps += least > INSIDE && taken[texel] == 1;
                continue;
            }
            taken[texel] = least > INSIDE ? 1 : 2;
            const double h = fmin(fmax(tl_wrinkles_height(w, f, at) / out->range, -1), 1);
            out->height[texel] = (uint16_t)lrint(NO_HEIGHT + GREATEST * h);
            put_normal(&out->normal[3 * texel], tl_wrinkles_slope(w, f, at));
        }
}

tl_status tl_wrinkles_maps(const tl_wrinkles *w, int32_t size, tl_wrinkle_maps *out, tl_error *err)
{
    *out = (tl_wrinkle_maps){0};
    if (size < SMALLEST_MAP || size > LARGEST_MAP)
        return tl_fail(err, TL_BAD_ARG, "maps of %d texels, must be %d to %d", size, SMALLEST_MAP, LARGEST_MAP);
    const int64_t texels = (int64_t)size * size;
    *out = (tl_wrinkle_maps){.size = size,
                             .height = TL_ALLOC(&w->alloc, uint16_t, texels),
                             .normal = TL_ALLOC(&w->alloc, uint16_t, 3 * texels),
                             .range = range_of(w)};
    uint8_t *taken = TL_CALLOC(&w->alloc, uint8_t, texels);
    if (!out->height || !out->normal || !taken) {
        tl_wrinkle_maps_free(w, out);
        TL_FREE(&w->alloc, taken, texels);
        return tl_fail_memory(err, "maps of wrinkles");
    }
    tl_vec2 low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
    for (int32_t v = 0; v < w->vert_count; v++) {
        low = (tl_vec2){fmin(low.x, w->uv[v].x), fmin(low.y, w->uv[v].y)};
        high = (tl_vec2){fmax(high.x, w->uv[v].x), fmax(high.y, w->uv[v].y)};
    }
    out->lowest = low, out->step = tl_mul2(1.0 / size, tl_sub2(high, low));
    for (int64_t i = 0; i < texels; i++) {
        out->height[i] = NO_HEIGHT;
        put_normal(&out->normal[3 * i], (tl_vec2){0, 0});
    }
    for (int32_t f = 0; f < w->face_count && out->step.x > 0 && out->step.y > 0; f++) draw_face(w, f, out, taken);
    TL_FREE(&w->alloc, taken, texels);
    return TL_OK;
}
