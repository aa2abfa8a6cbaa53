// pattern/polyline.c: walking along polylines by arc length.

#include "pattern/polyline.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/elementary.h"
#include "toile/grid.h"

double tl_distance2(tl_vec2 a, tl_vec2 b) { return tl_hypot(b.x - a.x, b.y - a.y); }

double tl_polyline_length(const tl_vec2 *line, int32_t count)
{
    double length = 0;
    for (int32_t i = 1; i < count; i++) length += tl_distance2(line[i - 1], line[i]);
    return length;
}

tl_vec2 tl_polyline_at(const tl_vec2 *line, int32_t count, double s)
{
    if (s <= 0) return line[0];
    for (int32_t i = 1; i < count; i++) {
        const double step = tl_distance2(line[i - 1], line[i]);
        if (s < step) return tl_mix2(line[i - 1], line[i], s / step);
        s -= step;
    }
    return line[count - 1];
}

double tl_polyline_shoelace(const tl_vec2 *line, int32_t count)
{
    double sum = 0;
    for (int32_t i = 1; i < count; i++) sum += tl_cross2(line[i - 1], line[i]);
    return sum;
}

tl_status tl_polyline_split(const tl_vec2 *line, int32_t count, int32_t parts, tl_vec2 *out, tl_error *err)
{
    if (count < 2 || parts < 1)
        return tl_fail(err, TL_BAD_ARG, "polyline of %d points in %d parts, must be at least 2 and 1", count, parts);
    const double length = tl_polyline_length(line, count);
    if (!(length > 0) || !isfinite(length))
        return tl_fail(err, TL_BAD_INPUT, "polyline of %d points from (%g, %g) has length %g, must be > 0", count,
                       line[0].x, line[0].y, length);
    double walked = 0;  // to line[at]
    int32_t at = 0;
    for (int32_t k = 1; k < parts; k++) {
        const double goal = length * k / parts;
        double step = tl_distance2(line[at], line[at + 1]);
        while (walked + step < goal && at + 2 < count) {
            walked += step;
            at++;
            step = tl_distance2(line[at], line[at + 1]);
        }
        const double t = step > 0 ? (goal - walked) / step : 0;
        out[k] = tl_mix2(line[at], line[at + 1], t < 1 ? t : 1);
    }
    out[0] = line[0], out[parts] = line[count - 1];
    return TL_OK;
}

bool tl_polyline_even(tl_vec2 *line, int32_t count, tl_vec2 *scratch)
{
    enum { ROUNDS_MAX = 1000, ROUNDS_TRIED = 60 };
    const double tolerance = 1e-11;  // relative: far below what any later step resolves, above rounding of the sums
    for (int32_t round = 0; round < ROUNDS_MAX; round++) {
        double least = INFINITY, most = 0;
        for (int32_t i = 1; i < count; i++) {
            const double step = tl_distance2(line[i - 1], line[i]);
            least = fmin(least, step), most = fmax(most, step);
        }
        if (most - least <= tolerance * most) return most > 0;
        if (round == ROUNDS_TRIED && most - least > 1e-3 * most) return false;  // runs to and fro: no end in sight
        if (tl_polyline_split(line, count, count - 1, scratch, NULL) != TL_OK) return false;
        memcpy(line, scratch, (size_t)count * sizeof *line);
    }
    return false;
}
