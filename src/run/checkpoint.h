// run/checkpoint.h: the state of a run in one file: a header with a hash of its own, then the state, compressed.
//
// All numbers little-endian. The header says which scene (by hash), frame and step, and carries what has been
// counted in the frame under way, so that its statistics come out as if nothing had happened.
#pragma once
#include "io/text.h"
#include "toile/sim.h"

/// Sums over the steps of one frame.
typedef struct tl_frame_sums {
    int64_t steps, substeps, rejected, unconverged, hurried, newton_iterations, linear_iterations, factorizations;
    int64_t linear_used;                    ///< tl_linear of the last step
    int64_t contacts, candidates, pinched;  ///< of the last step
    int64_t searches, limited, held;
    int64_t found, there, missed;  ///< close pairs of impulse and constraint
    double detection_seconds;
    int64_t zones, zone_nodes, zone_rounds;                 ///< impact zones; nodes of the largest one of any step
    int64_t strain_active;                                  ///< of the last step
    int64_t strain_rounds, strain_mended, strain_violated;  ///< violated: the most of any step
    double strain_excess;                                   ///< the worst of any step
    int64_t remesh_passes, splits, flips, collapses, refused;
    int64_t too_long;                   ///< of the last pass
    double remesh_energy;               ///< [J]
    double momentum_drift, spin_drift;  ///< the worst of any pass
    double effort;                      ///< by the cost model [s]
    tl_stage_seconds seconds;
} tl_frame_sums;

typedef struct tl_checkpoint {
    uint64_t scene_hash;
    int64_t frame;       ///< last frame on disk
    int64_t step;        ///< steps done
    tl_frame_sums sums;  ///< of the frame under way
    const void *data;    ///< tl_sim_save; borrowed when writing
    size_t size;
} tl_checkpoint;

#define TL_CHECKPOINT_MAX_BYTES ((size_t)64 << 30)

/// Appends the file to `out`.
tl_status tl_checkpoint_write(tl_buf *out, const tl_checkpoint *checkpoint, tl_error *err);

/// Reads the file in memory; `state` (freed by the caller) receives the bytes that out->data points to. `path` is for
/// messages. With `state` NULL only the header is read.
tl_status tl_checkpoint_read(const char *path, const void *data, size_t size, tl_buf *state, tl_checkpoint *out,
                             tl_error *err);

/// Does it start like one?
bool tl_checkpoint_is(const void *data, size_t size);

enum { TL_CHECKPOINT_HEADER = 416 };
/// Hash over the header as it stands, for the fuzzer and for tests that bend a header on purpose.
uint64_t tl_checkpoint_header_hash(const void *data);
