// render/ticks.h: round numbers along an axis.
#pragma once
#include <stdint.h>

enum { TL_TICKS_MAX = 16, TL_TICK_CHARS = 24 };

typedef struct tl_ticks {
    double lo, hi;  ///< the axis; with `widen`, grown to whole steps
    double step;
    int32_t count;
    double at[TL_TICKS_MAX];
    char label[TL_TICKS_MAX][TL_TICK_CHARS];
} tl_ticks;

/// About `wanted` ticks at 1, 2 or 5 times a power of ten within [lo, hi] (lo < hi, finite; otherwise 0 to
/// 1). `widen` grows the axis so that it starts and ends on a tick.
void tl_ticks_init(tl_ticks *ticks, double lo, double hi, int32_t wanted, int widen);

/// Decades, for a logarithmic axis with 0 < lo < hi.
void tl_ticks_log(tl_ticks *ticks, double lo, double hi);

/// A number for people: 12,345; 0.0012; 3.4e-7. No more digits than `step` needs.
void tl_tick_label(double value, double step, char out[TL_TICK_CHARS]);
