// io/recording.h: the layout of recordings (docs/formats.md), shared by writer and reader, and the writer.
//
// Numbers that change little from one to the next are stored as differences with the sign in the lowest bit, all
// first bytes, then all second bytes, ..: four planes that zstd packs well. Every frame stands alone, so any of them
// can be read without the ones before; meshes that do not change are stored once.
#pragma once
#include "io/frame_points.h"

enum {
    TL_RECORDING_VERSION = 1,
    TL_RECORDING_HEADER = 80,
    TL_RECORDING_SURFACE = 72,  ///< bytes of a surface in the index: name 64, kind, attributes
    TL_RECORDING_ENTRY = 16,    ///< of a frame's surface: places of its mesh and of its points
    TL_RECORDING_CHUNK = 32,    ///< in front of packed bytes: kind, codec, packed, raw, hash
    TL_CHUNK_SHAPE = 0x50414853,
    TL_CHUNK_POINTS = 0x53544e50,
    TL_CODEC_STORED = 0,
    TL_CODEC_ZSTD = 1,
};
#define TL_RECORDING_MAX_RAW ((uint64_t)1 << 30)  // bytes of one mesh or its points

typedef struct tl_recorder tl_recorder;

typedef struct tl_recorder_def {
    double fps, scale;
    uint32_t z_up;
    int32_t first_frame;
    double quantum;  ///< positions are rounded to multiples of it, in units of the file
    bool stored;     ///< without zstd
} tl_recorder_def;

tl_status tl_recorder_create(const tl_allocator *alloc, const tl_recorder_def *def, tl_recorder **out, tl_error *err);
void tl_recorder_destroy(tl_recorder *recorder);

/// Every surface before the first frame; returns its number, -1 without memory.
int32_t tl_recorder_surface(tl_recorder *recorder, const char *name, bool body, uint32_t attributes);

/// A surface of the frame under way.
tl_status tl_recorder_add(tl_recorder *recorder, int32_t surface, const tl_frame_points *points, tl_error *err);

/// Ends the frame; surfaces that were not added are not there.
tl_status tl_recorder_next(tl_recorder *recorder, tl_error *err);

/// The whole file.
tl_status tl_recorder_finish(tl_recorder *recorder, tl_buf *out, tl_error *err);

/// The index of a file in memory, with both hashes put right: for tests that change it.
void tl_recording_mend(uint8_t *data, size_t size);
