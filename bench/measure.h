// bench/measure.h: what the benchmarks share: clock, memory of the process, medians, growth, JSON, grids of
// triangles.
#pragma once
#include "bench.h"

double bench_now(void);  ///< monotonic [s]
double bench_cpu(void);  ///< processor time of all threads of the process [s]

/// Forgets the peak of resident memory so far and returns what is in use [bytes]; NaN where the system does
/// not tell.
double bench_rss_mark(void);
double bench_rss_growth(double mark);  ///< peak since then [bytes]

/// Median; sorts `values`. At least one.
double bench_median(double *values, int32_t count);

/// Exponent p of y ~ x^p by least squares on the logarithms; NaN with fewer than two different x.
double bench_exponent(const double *x, const double *y, int32_t count);

/// In [-1, 1], a function of its arguments alone.
double bench_draw(int32_t seed, int32_t attempt, int32_t cloth, int32_t which);

/// Of all cloths.
int64_t bench_count_faces(const tl_sim *sim);

/// A table that grows: opened to append, `head` first if it is new. NULL: see errno; closing then says so.
FILE *bench_csv_open(const char *path, const char *head);
tl_status bench_csv_close(FILE *file, const char *path, tl_error *err);
void bench_today(char *date, size_t size);  ///< 2030-12-31

/// `, "key": value`; null when not finite.
void bench_json_number(FILE *out, const char *key, double value);
/// A JSON string with its quotes.
void bench_json_text(FILE *out, const char *text);

/// Triangles with alternating diagonals over width x height [m]; world positions are the caller's to set.
typedef struct bench_grid {
    int32_t nx, ny, node_count, face_count;
    double width, height;
    tl_vec3 *pos;
    tl_vec2 *uv;
    int32_t (*face)[3];
} bench_grid;
/// About `faces` triangles, cells near square. False: out of memory.
bool bench_grid_make(double width, double height, int32_t faces, bench_grid *g);
void bench_grid_free(bench_grid *g);
