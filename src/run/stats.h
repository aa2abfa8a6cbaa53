// run/stats.h: stats.jsonl: one JSON object per frame and line, appended whole.
#pragma once
#include "run/checkpoint.h"
#include "io/text.h"
#include "run/pinch_places.h"
#include "toile/sim.h"

typedef struct tl_frame_stats {
    int64_t frame;
    double time;
    int64_t faces, vertices, nodes;
    tl_frame_sums sums;
    double strain_min, strain_max;
    double strain_min_99, strain_max_99;  ///< that all but a hundredth of the area keeps to
    tl_energies energies;
    int64_t intersections;
    tl_pinch_place pinched_at[TL_PINCH_PLACES];  ///< pinched_places of them
    int32_t pinched_places;
    tl_memory_report memory;
    uint64_t state_hash;
} tl_frame_stats;

/// Appends a whole line or, on failure, nothing.
tl_status tl_stats_append(const char *path, const tl_frame_stats *stats, tl_error *err);

/// Keeps the lines of frames 0 .. last_frame, once each and in order; a torn line goes too. A missing file is fine.
tl_status tl_stats_truncate(const tl_allocator *alloc, const char *path, int64_t last_frame, tl_error *err);

/// The last frame in the text of a stats file, -1: none. `damaged` counts lines that are not such an object.
int64_t tl_stats_last_frame(const char *text, size_t size, int64_t *damaged);
