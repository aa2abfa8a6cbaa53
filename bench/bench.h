// bench/bench.h: benchmarks built into the program; they use the public headers alone.
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "toile/sim.h"

enum { BENCH_SIZES_MAX = 16, BENCH_THREADS_MAX = 8, BENCH_STEPS_MAX = 4096 };

typedef enum bench_scene { BENCH_HANGING = 1, BENCH_FLAG = 2 } bench_scene;

/// What to measure. Start from bench_dynamics_default().
typedef struct bench_dynamics_def {
    int32_t sizes[BENCH_SIZES_MAX];  ///< faces asked for; grids come close. Default 2k, 10k, 65k, 200k.
    int32_t size_count;
    int32_t threads[BENCH_THREADS_MAX];  ///< compared step by step within one run. Default 1, 2.
    int32_t thread_count;
    uint32_t scenes;        ///< bench_scene flags. Default both.
    int32_t steps, warmup;  ///< timed (at most BENCH_STEPS_MAX) and untimed steps. Default 20, 5.
    double dt;              ///< [s]. Default 1/200.
    tl_linear linear;       ///< Default TL_LINEAR_AUTO.
    const char *csv;        ///< rows are appended to this file; NULL: to none
    bool json;              ///< one object at the end instead of the table
    FILE *out;              ///< Default stdout.
} bench_dynamics_def;
bench_dynamics_def bench_dynamics_default(void);

/// TL_OK; TL_IO: the CSV cannot be written; *different counts cases whose state hash depended on the threads.
tl_status bench_dynamics(const bench_dynamics_def *def, int32_t *different, tl_error *err);

/// Which collision queries to answer. Start from bench_ccd_default().
typedef struct bench_ccd_def {
    const char *queries;  ///< file, or folder searched with all below it; NULL: queries made with a known truth
    int32_t per_family;   ///< how many of each kind are made. Default 20000.
    int32_t passes;       ///< the best counts. Default 5.
    bool json;            ///< one object at the end instead of the table
    FILE *out;            ///< Default stdout.
} bench_ccd_def;
bench_ccd_def bench_ccd_default(void);

/// TL_OK; TL_IO, TL_BAD_INPUT: a file is missing or wrong. *faults counts contacts missed and times later than the truth.
tl_status bench_ccd(const bench_ccd_def *def, int64_t *faults, tl_error *err);

/// Name of this kind of machine (processor and cores, no host name), fit for a file name.
void bench_machine_name(char *name, size_t size);
