// toile/sweep.h: many runs from one specification: data sets over grids and random samples of any scene key
// (docs/sweep.md).
//
// A sweep owns a folder: sweep.json (every sample, expanded), runs/NNNNNN (a run's folder each, with arrays.npz and,
// when all is there, sample.json), dataset.jsonl and failures.tsv. Samples are independent: any process may run any of
// them, in any order, and what it leaves behind is the same. A sample is done when its sample.json is there, which
// comes last.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_sweep tl_sweep;  // opaque; one thread at a time, any number of processes on one folder

/// Reads the specification and makes the folder. TL_BAD_INPUT names file, line and value, or says that another sweep
/// is in the folder.
TL_API tl_status tl_sweep_open(const char *spec, const char *dir, tl_sweep **out, tl_error *err);
TL_API void tl_sweep_close(tl_sweep *sweep);  ///< NULL is fine

TL_API int32_t tl_sweep_count(const tl_sweep *sweep);
TL_API const char *tl_sweep_dir(const tl_sweep *sweep);
TL_API const char *tl_sweep_sample(const tl_sweep *sweep, int32_t sample);  ///< as JSON; NULL: out of range

typedef enum tl_sweep_state {
    TL_SWEEP_PENDING,  ///< not begun, or on its way
    TL_SWEEP_DONE,
    TL_SWEEP_FAILED,  ///< runs/NNNNNN/failed.json says why
} tl_sweep_state;
/// Looks at the disk.
TL_API tl_sweep_state tl_sweep_state_of(const tl_sweep *sweep, int32_t sample);

/// Runs a sample to its end, from its last checkpoint if it was begun. A failure is noted in its folder and handed
/// back; TL_CANCELLED leaves it pending with a checkpoint. Does nothing if it is done. `threads` never changes a
/// result.
TL_API tl_status tl_sweep_run(tl_sweep *sweep, int32_t sample, int32_t threads, const tl_cancel *cancel, tl_error *err);

/// Notes that a sample failed in a way that only the caller knows: its process died.
TL_API tl_status tl_sweep_note_failure(tl_sweep *sweep, int32_t sample, const char *message, tl_error *err);

/// Forgets that a sample failed, so that it is run again.
TL_API tl_status tl_sweep_forget_failure(tl_sweep *sweep, int32_t sample, tl_error *err);

typedef struct tl_sweep_report {
    int32_t count, done, failed, pending;
} tl_sweep_report;

/// Writes dataset.jsonl (what is done, in order) and failures.tsv.
TL_API tl_status tl_sweep_collect(tl_sweep *sweep, tl_sweep_report *out, tl_error *err);

#ifdef __cplusplus
}
#endif
