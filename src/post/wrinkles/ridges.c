// post/wrinkles/ridges.c: waves with noise, stretch of a face, modulation and selection.

#include "post/wrinkles/ridges.h"

#include <math.h>

#include "base/rng.h"
#include "math/elementary.h"
#include "math/vec3.h"

#define TURN 6.28318530717958647692
#define HALF_ROOT 0.70710678118654752440
#define NOISE_WAVES 4.0    // wavelengths to a cell of the coarsest noise
#define LEAST_STRETCH 0.5  // compression beyond a half is not folded further: the sine would not be a height any more
#define LEAST_LEAD 1e-12   // of fits, which are strains
enum { OCTAVES = 3, CUTS = 16 };  // of an edge of a face, for the integrals: 256 small triangles

// ---- noise ----------------------------------------------------------------------------------------------------

static double wide(double t) { return t * t * t * (t * (6 * t - 15) + 10); }
static double wide_slope(double t) { return 30 * t * t * (t - 1) * (t - 1); }

// One of eight unit vectors per lattice point.
static tl_vec2 lattice(uint64_t seed, double x, double y)
{
    static const tl_vec2 compass[8] = {{1, 0},  {HALF_ROOT, HALF_ROOT},   {0, 1},  {-HALF_ROOT, HALF_ROOT},
                                       {-1, 0}, {-HALF_ROOT, -HALF_ROOT}, {0, -1}, {HALF_ROOT, -HALF_ROOT}};
    return compass[tl_random_bits(seed, (uint64_t)(int64_t)x, (uint64_t)(int64_t)y) >> 61];
}

// One octave of gradient noise, in [-1, 1] after the factor sqrt(2).
static double octave(uint64_t seed, tl_vec2 p, tl_vec2 *gradient)
{
    const double x0 = floor(p.x), y0 = floor(p.y), s = p.x - x0, t = p.y - y0;
    const double u = wide(s), v = wide(t), du = wide_slope(s), dv = wide_slope(t);
    tl_vec2 g[4];
    double dot[4];
    for (int k = 0; k < 4; k++) {
        g[k] = lattice(seed, x0 + k % 2, y0 + k / 2);
        dot[k] = g[k].x * (s - k % 2) + g[k].y * (t - k / 2);
    }
    const double low = dot[0] + u * (dot[1] - dot[0]), high = dot[2] + u * (dot[3] - dot[2]);
    const double low_x = g[0].x + u * (g[1].x - g[0].x) + du * (dot[1] - dot[0]);
    const double high_x = g[2].x + u * (g[3].x - g[2].x) + du * (dot[3] - dot[2]);
    const double low_y = g[0].y + u * (g[1].y - g[0].y), high_y = g[2].y + u * (g[3].y - g[2].y);
    const double scale = sqrt(2);
    gradient->x = scale * (low_x + v * (high_x - low_x));
    gradient->y = scale * (low_y + v * (high_y - low_y) + dv * (high - low));
    return scale * (low + v * (high - low));
}

double tl_ridge_noise(uint64_t seed, double persistence, tl_vec2 p, tl_vec2 *gradient)
{
    double sum = 0, most = 0, part = 1, scale = 1;
    tl_vec2 slope = {0};
    for (int k = 0; k < OCTAVES; k++, part *= persistence, scale *= 2) {
        tl_vec2 g;
        sum += part * octave(seed + (uint64_t)k, tl_mul2(scale, p), &g);
        slope = tl_add2(slope, tl_mul2(part * scale, g));
        most += part;
    }
    if (gradient) *gradient = tl_mul2(1 / most, slope);
    return sum / most;
}

// ---- textures -------------------------------------------------------------------------------------------------

tl_vec2 tl_ridge_direction(const tl_ridges *r, int32_t i)
{
    const double angle = 0.5 * TURN * i / r->count;  // x_i = x cos(pi i / n) - y sin(pi i / n), sec. 5.3
    return (tl_vec2){tl_cos(angle), -tl_sin(angle)};
}

tl_ridge_shift tl_ridge_shift_at(const tl_ridges *r, tl_vec2 place)
{
    tl_ridge_shift out = {0};
    if (!(r->variation > 0)) return out;
    const double cell = 1 / (NOISE_WAVES * r->wavelength);
    out.phase = r->variation * tl_ridge_noise(r->seed, r->persistence, tl_mul2(cell, place), &out.slope);
    out.slope = tl_mul2(r->variation * cell, out.slope);
    return out;
}

double tl_ridge_at(const tl_ridges *r, int32_t i, tl_vec2 place, tl_ridge_shift shift, tl_vec2 *gradient)
{
    const tl_vec2 e = tl_ridge_direction(r, i);
    const double wave = TURN / r->wavelength, phase = wave * tl_dot2(e, place) + shift.phase;
    if (gradient) *gradient = tl_mul2(tl_cos(phase), tl_add2(tl_mul2(wave, e), shift.slope));
    return tl_sin(phase);
}

double tl_ridge(const tl_ridges *r, int32_t i, tl_vec2 place, tl_vec2 *gradient)
{
    return tl_ridge_at(r, i, place, tl_ridge_shift_at(r, place), gradient);
}

// ---- strain ---------------------------------------------------------------------------------------------------

bool tl_face_inplane(const tl_vec2 uv[3], const tl_vec3 x[3], tl_inplane *out)
{
    *out = (tl_inplane){1, 0, 1};
    const tl_vec2 p = tl_sub2(uv[1], uv[0]), q = tl_sub2(uv[2], uv[0]);
    const double area = tl_cross2(p, q);
    if (!(fabs(area) > 0)) return false;
    const tl_vec3 s = tl_sub3(x[1], x[0]), t = tl_sub3(x[2], x[0]);
    // columns of F = [s t] [p q]^-1
    const tl_vec3 fu = tl_mul3(1 / area, tl_sub3(tl_mul3(q.y, s), tl_mul3(p.y, t)));
    const tl_vec3 fv = tl_mul3(1 / area, tl_sub3(tl_mul3(p.x, t), tl_mul3(q.x, s)));
    const double e = tl_dot3(fu, fu), f = tl_dot3(fu, fv), g = tl_dot3(fv, fv);  // C = F^T F = U^2
    const double root = sqrt(fmax(e * g - f * f, 0)), trace = sqrt(e + g + 2 * root);
    if (!(trace > 0) || !isfinite(trace)) return false;
    *out = (tl_inplane){(e + root) / trace, f / trace, (g + root) / trace};  // square root of a 2x2 matrix
    return true;
}

double tl_stretch_along(tl_inplane u, tl_vec2 e)
{
    return tl_norm2((tl_vec2){u.a * e.x + u.b * e.y, u.b * e.x + u.d * e.y});
}

// ---- modulation -----------------------------------------------------------------------------------------------

tl_area_terms tl_ridge_area_terms(const tl_ridges *r, int32_t i, double amplitude, const tl_vec2 uv[3])
{
    const tl_vec2 p = tl_sub2(uv[1], uv[0]), q = tl_sub2(uv[2], uv[0]);
    const double piece = 0.5 * fabs(tl_cross2(p, q)) / (CUTS * CUTS);
    tl_area_terms sum = {0};
    for (int row = 0; row < CUTS; row++)
        for (int k = 0; k < 2 * (CUTS - row) - 1; k++) {  // middles of small triangles, upright and upside down
            const int column = k / 2, down = k % 2;
            const double s = (column + (1 + down) / 3.0) / CUTS, t = (row + (1 + down) / 3.0) / CUTS;
            tl_vec2 g;
            tl_ridge(r, i, tl_add2(uv[0], tl_add2(tl_mul2(s, p), tl_mul2(t, q))), &g);
            g = tl_mul2(0.5 * amplitude, g);
            const double w = sqrt(1 + tl_dot2(g, g));
            sum.c0 += w, sum.c1 += tl_dot2(g, g) / w;
            sum.c2 += g.x * g.x / w - w, sum.c3 += 2 * g.x * g.y / w, sum.c4 += g.y * g.y / w - w;
        }
    return (tl_area_terms){piece * sum.c0, piece * sum.c1, piece * sum.c2, piece * sum.c3, piece * sum.c4};
}

double tl_area_modulation(const tl_area_terms *c, tl_inplane u)
{
    const double det = u.a * u.d - u.b * u.b;
    if (!(c->c1 > 0) || !(det > 0)) return 1;
    const double a = u.d / det, b = -u.b / det, d = u.a / det;           // U^-1
    return 1 - (c->c2 * (a - 1) + c->c3 * b + c->c4 * (d - 1)) / c->c1;  // Kimmerle 2005, Eq. 5.8
}

double tl_fold_height(double wavelength, double stretch)
{
    if (!(stretch < 1)) return 0;
    const double s = fmax(stretch, LEAST_STRETCH);
    return 2 * wavelength / TURN * sqrt(s * (1 - s));
}

// ---- selection ------------------------------------------------------------------------------------------------

double tl_choose_ridges(int32_t count, const double *fit, double zone, double *weight)
{
    int32_t best = 0, second = -1;
    double third = 0;
    for (int32_t i = 0; i < count; i++) weight[i] = 0;
    for (int32_t i = 1; i < count; i++)
        if (fit[i] > fit[best]) best = i;
    for (int32_t i = 0; i < count; i++)
        if (i != best && (second < 0 || fit[i] > fit[second])) second = i;
    for (int32_t i = 0; i < count; i++)
        if (i != best && i != second) third = fmax(third, fit[i]);
    weight[best] = 1;
    const double lead = fit[best] - third;
    if (second < 0 || lead <= LEAST_LEAD) return fmax(lead, 0);
    const double part = (fit[best] - fit[second]) / (zone * lead);
    if (part < 1) {
        weight[second] = 0.5 * (1 - part * part * (3 - 2 * part));
        weight[best] = 1 - weight[second];
    }
    return lead;
}
