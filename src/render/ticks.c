// render/ticks.c: round numbers along an axis.

#include "render/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double round_step(double rough)
{
    const double decade = pow(10, floor(log10(rough)));
    const double m = rough / decade;
    return decade * (m <= 1.0001 ? 1 : m <= 2.0001 ? 2 : m <= 5.0001 ? 5 : 10);
}

/// Puts commas between groups of three digits before the point.
static void group_digits(const char *plain, char out[TL_TICK_CHARS])
{
    size_t start = plain[0] == '-', digits = strcspn(plain + start, "."), n = 0;
    for (size_t i = 0; plain[i] && n + 2 < TL_TICK_CHARS; i++) {
        if (i > start && i < start + digits && (start + digits - i) % 3 == 0) out[n++] = ',';
        out[n++] = plain[i];
    }
    out[n] = 0;
}

void tl_tick_label(double value, double step, char out[TL_TICK_CHARS])
{
    const double size = fmax(fabs(value), fabs(step));
    if (fabs(value) < 1e-9 * fabs(step)) value = 0;
    if (size > 0 && (size >= 1e7 || size < 1e-3)) {
        snprintf(out, TL_TICK_CHARS, "%.3g", value);
        char *e = strchr(out, 'e');  // 1e-07 reads better as 1e-7
        if (e) {
            char *digit = e + 2;
            while (digit[0] == '0' && digit[1]) memmove(digit, digit + 1, strlen(digit));
            if (e[1] == '+') memmove(e + 1, e + 2, strlen(e + 1));
        }
        return;
    }
    const int decimals = step > 0 ? (int)fmax(0, ceil(-log10(step) - 1e-6)) : 3;
    char plain[TL_TICK_CHARS];
    snprintf(plain, sizeof plain, "%.*f", decimals > 6 ? 6 : decimals, value);
    group_digits(plain, out);
}

void tl_ticks_init(tl_ticks *t, double lo, double hi, int32_t wanted, int widen)
{
    memset(t, 0, sizeof *t);
    if (!(isfinite(lo) && isfinite(hi) && lo < hi)) lo = 0, hi = 1;
    t->step = round_step((hi - lo) / (wanted < 2 ? 2 : wanted));
    if (widen) lo = floor(lo / t->step + 1e-9) * t->step, hi = ceil(hi / t->step - 1e-9) * t->step;
    t->lo = lo, t->hi = hi;
    const double first = ceil(lo / t->step - 1e-6);
    for (int32_t i = 0; i < TL_TICKS_MAX; i++) {
        const double at = (first + i) * t->step;
        if (at > hi + 1e-6 * t->step) break;
        t->at[t->count] = at;
        tl_tick_label(at, t->step, t->label[t->count++]);
    }
}

void tl_ticks_log(tl_ticks *t, double lo, double hi)
{
    memset(t, 0, sizeof *t);
    const double a = floor(log10(lo)), b = ceil(log10(hi));
    t->lo = pow(10, a), t->hi = pow(10, b > a ? b : a + 1), t->step = 1;
    const double skip = fmax(1, ceil((b - a) / 6));
    for (double e = a; e <= b + 0.5 && t->count < TL_TICKS_MAX; e += skip) {
        t->at[t->count] = pow(10, e);
        tl_tick_label(t->at[t->count], t->at[t->count], t->label[t->count]);
        t->count++;
    }
}
