// bench/bench_paper.h: what the files of `toile bench paper` share.
#pragma once
#include "measure.h"
#include "toile/sim.h"

/// Seconds per frame, mean faces; NaN: not told.
typedef struct paper_figures {
    double faces_in, faces, faces_min, faces_max;
    double total, integration, strain, collision, remeshing;
} paper_figures;

enum { PAPER_SHORT_SETS = 3 };

/// A row of the table: the scene, its short form, and what others measured on theirs.
typedef struct paper_row {
    const char *name;                     // on the command line
    const char *file;                     // below scenes/
    const char *fabric;                   // of Wang et al. 2011, for --fabrics; NULL: the paper does not say
    const char *brief[PAPER_SHORT_SETS];  // "key=value" of the short form
    int32_t brief_frames;
    paper_figures paper;                  // Narain et al. 2012, Table 1
    double arcsim_faces, arcsim_seconds;  // ARCSim 0.2.1 on its own scene, one thread; NaN: not measured
} paper_row;

/// What a run came to. Sums over its steps until paper_run() divides.
typedef struct paper_result {
    const paper_row *row;
    double size_min;  // --scaling: smallest edge [m]; else 0
    int32_t threads, frames, frames_asked;
    int64_t steps, faces_in, faces_min, faces_max;
    double faces;              // mean over steps
    tl_stage_seconds stage;    // per frame
    double seconds, cpu;       // per frame: wall clock, processor time
    double worst_frame;        // [s]
    double newton, linear;     // per step
    int64_t crossings, looks;  // edges through faces; times looked
    int64_t rejected, unconverged, held;
    int32_t pinched, violated;  // most in a step
    double excess;              // over a strain limit, worst
    double rss, peak;           // [bytes]: resident, of the simulation
    uint64_t hash;
    bool failed, infinite;
    char why[300];
} paper_result;

/// Runs a row. A step that fails ends the run and is told in the result; TL_OK then too.
tl_status paper_run(const bench_paper_def *def, const paper_row *row, double size_min, int32_t threads,
                    paper_result *out, tl_error *err);
bool paper_broken(const paper_result *r);  ///< crossed, failed, not finite, or beyond its strain limits
/// Seconds a frame as on a machine without other work: processor time of one thread, else the wall clock.
double paper_quiet(const paper_result *r);
double paper_us(const paper_result *r);  ///< processor time of a face and step [us]

const paper_row *paper_row_at(int32_t index);  ///< NULL past the last

void paper_print_head(FILE *out);
void paper_print(FILE *out, const paper_result *r);
void paper_print_ratios(FILE *out, const paper_result *results, int32_t count);
void paper_print_scaling(FILE *out, const paper_result *results, int32_t count);
tl_status paper_append_csv(const bench_paper_def *def, const paper_result *r, tl_error *err);
