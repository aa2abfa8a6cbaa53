// render/weave.c: weaves and a knit, drawn only where the picture is fine enough to show it.
//
// Yarns cross over and under; each lies as a little cylinder along warp (material x) or
// weft (material y). From farther away only a faint unevenness of the yarns remains, and from afar nothing:
// every part fades out before it would be finer than two pixels, so nothing flickers.

#include "base/hash.h"
#include "render/shade.h"

/// A fixed random number in [-1, 1] for a lattice point.
static float lattice(int32_t i, int32_t j)
{
    const uint64_t h = tl_mix64(((uint64_t)(uint32_t)i << 32 | (uint32_t)j) + UINT64_C(0x9e3779b97f4a7c15));
    return (float)(int32_t)(h >> 40) * 0x1p-23f - 1;
}

/// Smooth noise: lattice values joined by cubics.
static float noise(float x, float y)
{
    const float fx = floorf(x), fy = floorf(y);
    const int32_t i = (int32_t)fx, j = (int32_t)fy;
    float a = x - fx, b = y - fy;
    a = a * a * (3 - 2 * a), b = b * b * (3 - 2 * b);
    const float top = lattice(i, j) + a * (lattice(i + 1, j) - lattice(i, j));
    const float bottom = lattice(i, j + 1) + a * (lattice(i + 1, j + 1) - lattice(i, j + 1));
    return top + b * (bottom - top);
}

static bool on_top(tl_weave_kind kind, int32_t i, int32_t j)
{
    switch (kind) {
    case TL_WEAVE_TWILL: return ((i + j) & 3) < 2;
    case TL_WEAVE_SATIN: return ((2 * i + j) % 5 + 5) % 5 != 0;
    default: return ((i + j) & 1) == 0;
    }
}

/// Stitches: in every column a chain of Vs, their arms yarns that lean outwards.
static void knit(float x, float y, float yarns, tl_vec3f du, tl_vec3f dv, tl_rgb *albedo, tl_vec3f *ns)
{
    const float fx = floorf(x), cx = 2 * (x - fx) - 1;  // across a column
    const float rise = y + 0.6f * fabsf(cx), fy = floorf(rise), cy = 2 * (rise - fy) - 1;
    const float gap = fabsf(cx) < 0.12f ? 1 - fabsf(cx) / 0.12f : fabsf(cx) > 0.88f ? (fabsf(cx) - 0.88f) / 0.12f : 0;
    const float depth = 0.30f * cy * cy * cy * cy + 0.22f * gap;
    const float shade = 0.05f * lattice((int32_t)fx, (int32_t)fy);
    *albedo = tl_mulf(1 - yarns * (depth - 0.08f - shade), *albedo);
    const float side = cx < 0 ? -1.0f : 1.0f;
    *ns = tl_unitf(tl_maddf(tl_maddf(*ns, 0.35f * yarns * cy, dv), 0.2f * yarns * side * cy, du));
}

void tl_weave(const tl_look *look, tl_vec2f uv, float footprint, tl_vec3f du, tl_vec3f dv, tl_rgb *albedo, tl_vec3f *ns)
{
    const float p = look->yarn;
    const float x = uv.x / p, y = uv.y / p;
    if (!(fabsf(x) < 1e6f && fabsf(y) < 1e6f)) return;  // material coordinates in other units: no yarns to see
    // unevenness: streaks ten yarns long and two wide, both ways
    const float streaks = look->weave * (1 - tl_smoothf(0.5f, 1.5f, footprint / p));
    if (streaks > 0) {
        const float s = 0.035f * streaks * (noise(x * 0.5f, y * 0.07f) + noise(x * 0.07f + 31.4f, y * 0.5f));
        *albedo = tl_mulf(1 + s, *albedo);
    }
    const float yarns = look->weave * (1 - tl_smoothf(0.22f, 0.5f, footprint / p));
    if (yarns <= 0) return;
    if (look->weave_kind == TL_WEAVE_KNIT) {
        knit(x, y, yarns, du, dv, albedo, ns);
        return;
    }
    // yarns wander a little and differ in shade
    const float wx = x + 0.13f * noise(x * 0.31f + 7.7f, y * 0.9f), wy = y + 0.13f * noise(x * 0.9f, y * 0.31f + 3.1f);
    const float fx = floorf(wx), fy = floorf(wy);
    const int32_t ix = (int32_t)fx, iy = (int32_t)fy;
    const float cx = 2 * (wx - fx) - 1, cy = 2 * (wy - fy) - 1;  // -1 .. 1 within the crossing
    const bool warp_on_top = on_top(look->weave_kind, ix, iy);   // warp runs along x
    const float across = warp_on_top ? cy : cx, along = warp_on_top ? cx : cy;
    const tl_vec3f dir_across = warp_on_top ? dv : du, dir_along = warp_on_top ? du : dv;
    const float shade = 0.05f * (warp_on_top ? lattice(iy, 911) : lattice(ix, 353));
    // deep between the yarns and where a yarn dives under the next; twisted fibres where they can be seen
    const float a2 = across * across, depth = 0.34f * a2 * a2 + 0.20f * along * along * (1 - 0.4f * a2);
    const float fibres = 1 - tl_smoothf(0.05f, 0.1f, footprint / p);
    const float twist = fibres > 0 ? 0.045f * fibres * sinf(19 * (across + 0.7f * along)) : 0;
    *albedo = tl_mulf(1 - yarns * (depth - 0.11f - shade - twist), *albedo);
    const float lean = across * (0.25f + 0.2f * a2);
    *ns = tl_unitf(tl_maddf(tl_maddf(*ns, yarns * lean, dir_across), 0.28f * yarns * along, dir_along));
}
