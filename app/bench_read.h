// app/bench_read.h: what the files of `toile bench` share.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { BENCH_FACES_MAX = 4000000 };

/// "2k,10k,65000" into whole numbers from 1 to `max_value`; k is a thousand, M a million.
bool bench_read_counts(const char *text, int32_t max_value, int32_t *out, int32_t max_count, int32_t *count);

// With options of their own; argv[0] is "bench", the name of the benchmark is the first word.
int bench_run_stress(int argc, char **argv);
int bench_run_contact(int argc, char **argv);
int bench_run_paper(int argc, char **argv);
int bench_run_fidelity(int argc, char **argv);
int bench_run_grids(int argc, char **argv);
int bench_run_realtime(int argc, char **argv);
int bench_run_kimmerle(int argc, char **argv);
int bench_run_scenes(int argc, char **argv);
int bench_run_drape(int argc, char **argv);
int bench_run_sqrt3(int argc, char **argv);
int bench_run_adaptivity(int argc, char **argv);
