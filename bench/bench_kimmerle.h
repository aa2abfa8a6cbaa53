// bench/bench_kimmerle.h: what the files of bench_kimmerle share.
#pragma once
#include "bench.h"

/// Tables 2.2 to 2.4, Figs 2.11 and 2.12. *faults counts broken bars.
tl_status bench_kimmerle_detection(const bench_kimmerle_def *def, int32_t *faults, tl_error *err);
