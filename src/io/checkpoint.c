// io/checkpoint.c: the state of a run in one file.
//
// Layout: magic 8, version u32, header bytes u32, scene hash, frame, step, state bytes, packed bytes, state hash
// (u64 each), 23 counters (i64), 6 times, the worst strain excess and 3 numbers of remeshing (f64), zeros, header hash in the last 8 bytes of the header; then zstd.

#include "io/checkpoint.h"

#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"

static const char magic[8] = {'t', 'o', 'i', 'l', 'e', 'c', 'k', 'p'};
enum { VERSION = 5, COUNTERS = 24, TIMES_AT = 64 + 8 * COUNTERS, REALS = 10, LEVEL = 1 };  // level 1: 300 MB/s and more; higher levels gain little on doubles

static void put_u64(unsigned char *p, uint64_t x)
{
    for (int i = 0; i < 8; i++) p[i] = (unsigned char)(x >> (8 * i));
}

static uint64_t get_u64(const unsigned char *p)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static uint64_t hash_of(const void *data, size_t size)
{
    tl_hash hash;
    tl_hash_init(&hash);
    tl_hash_add(&hash, data, size);
    return tl_hash_value(&hash);
}

uint64_t tl_checkpoint_header_hash(const void *data) { return hash_of(data, TL_CHECKPOINT_HEADER - 8); }

bool tl_checkpoint_is(const void *data, size_t size)
{
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

tl_status tl_checkpoint_write(tl_buf *out, const tl_checkpoint *cp, tl_error *err)
{
    unsigned char h[TL_CHECKPOINT_HEADER] = {0};
    const size_t bound = ZSTD_compressBound(cp->size);
    char *packed = tl_alloc_bytes(&out->alloc, bound, 1);
    if (!packed || ZSTD_isError(bound)) {
        tl_free_bytes(&out->alloc, packed, bound, 1);
        return tl_fail_memory(err, "a checkpoint");
    }
    const size_t packed_size = ZSTD_compress(packed, bound, cp->data, cp->size, LEVEL);
    if (ZSTD_isError(packed_size)) {
        tl_free_bytes(&out->alloc, packed, bound, 1);
        return tl_fail(err, TL_NO_MEMORY, "checkpoint of %zu bytes: %s", cp->size, ZSTD_getErrorName(packed_size));
    }
    memcpy(h, magic, sizeof magic);
    put_u64(h + 8, VERSION | (uint64_t)TL_CHECKPOINT_HEADER << 32);
    const uint64_t fields[] = {cp->scene_hash, (uint64_t)cp->frame, (uint64_t)cp->step, cp->size, packed_size,
                               hash_of(cp->data, cp->size)};
    for (int i = 0; i < 6; i++) put_u64(h + 16 + 8 * i, fields[i]);
    const tl_frame_sums *s = &cp->sums;
    const int64_t counters[COUNTERS] = {s->steps, s->substeps, s->rejected, s->unconverged, s->newton_iterations,
                                        s->linear_iterations, s->factorizations, s->linear_used, s->contacts,
                                        s->candidates, s->pinched, s->searches, s->limited, s->held, s->strain_active,
                                        s->strain_rounds, s->strain_violated, s->remesh_passes, s->splits, s->flips, s->collapses,
                                        s->refused, s->too_long, s->strain_mended};
    for (int i = 0; i < COUNTERS; i++) put_u64(h + 64 + 8 * i, (uint64_t)counters[i]);
    const double times[REALS] = {s->seconds.physics, s->seconds.strain, s->seconds.collision, s->seconds.remesh,
                                 s->seconds.other, s->seconds.total, s->strain_excess, s->remesh_energy, s->momentum_drift,
                                 s->spin_drift};
    for (int i = 0; i < REALS; i++) {
        uint64_t bits;
        memcpy(&bits, &times[i], sizeof bits);
        put_u64(h + TIMES_AT + 8 * i, bits);
    }
    put_u64(h + TL_CHECKPOINT_HEADER - 8, tl_checkpoint_header_hash(h));
    tl_buf_add(out, h, sizeof h);
    tl_buf_add(out, packed, packed_size);
    tl_free_bytes(&out->alloc, packed, bound, 1);
    return out->failed ? tl_fail_memory(err, "a checkpoint") : TL_OK;
}

static void read_sums(const unsigned char *h, tl_frame_sums *s)
{
    int64_t counters[COUNTERS];
    double times[REALS];
    for (int i = 0; i < COUNTERS; i++) counters[i] = (int64_t)get_u64(h + 64 + 8 * i);
    for (int i = 0; i < REALS; i++) {
        const uint64_t bits = get_u64(h + TIMES_AT + 8 * i);
        memcpy(&times[i], &bits, sizeof bits);
    }
    *s = (tl_frame_sums){.steps = counters[0],
                         .substeps = counters[1],
                         .rejected = counters[2],
                         .unconverged = counters[3],
                         .newton_iterations = counters[4],
                         .linear_iterations = counters[5],
                         .factorizations = counters[6],
                         .linear_used = counters[7],
                         .contacts = counters[8],
                         .candidates = counters[9],
                         .pinched = counters[10],
                         .searches = counters[11],
                         .limited = counters[12],
                         .held = counters[13],
                         .strain_active = counters[14],
                         .strain_rounds = counters[15],
                         .strain_violated = counters[16],
                         .remesh_passes = counters[17],
                         .splits = counters[18],
                         .flips = counters[19],
                         .collapses = counters[20],
                         .refused = counters[21],
                         .too_long = counters[22],
                         .strain_mended = counters[23],
                         .strain_excess = times[6],
                         .remesh_energy = times[7],
                         .momentum_drift = times[8],
                         .spin_drift = times[9],
                         .seconds = {times[0], times[1], times[2], times[3], times[4], times[5]}};
}

// Unpacks piece by piece: a header that promises too much must not make us allocate it.
static tl_status unpack(const char *path, const void *packed, size_t packed_size, size_t size, tl_buf *state,
                        tl_error *err)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream) return tl_fail_memory(err, "a checkpoint");
    ZSTD_inBuffer in = {packed, packed_size, 0};
    char piece[1 << 16];
    size_t left = 1;
    while (left != 0 && !ZSTD_isError(left)) {
        ZSTD_outBuffer out = {piece, sizeof piece, 0};
        left = ZSTD_decompressStream(stream, &out, &in);
        if (ZSTD_isError(left) || (out.pos == 0 && in.pos == in.size && left != 0)) break;
        tl_buf_add(state, piece, out.pos);
        if (state->failed || state->size > size) break;
    }
    ZSTD_freeDStream(stream);
    if (state->failed) return tl_fail_memory(err, "a checkpoint");
    if (left != 0 || in.pos != in.size || state->size != size)
        return tl_fail(err, TL_BAD_INPUT,
                       "%s: damaged checkpoint: the packed state does not unpack to %zu bytes (run "
                       "again without --resume)",
                       path, size);
    return tl_buf_end(state, "a checkpoint", err);
}

tl_status tl_checkpoint_read(const char *path, const void *data, size_t size, tl_buf *state, tl_checkpoint *out,
                             tl_error *err)
{
    const unsigned char *h = data;
    *out = (tl_checkpoint){0};
    if (!tl_checkpoint_is(data, size))
        return tl_fail(err, TL_BAD_INPUT, "%s: is not a checkpoint of Toile", path);
    if (size < TL_CHECKPOINT_HEADER)
        return tl_fail(err, TL_BAD_INPUT, "%s: damaged checkpoint: %zu bytes, the header alone has %d", path, size,
                       TL_CHECKPOINT_HEADER);
    const uint64_t version = get_u64(h + 8);
    if (version != (VERSION | (uint64_t)TL_CHECKPOINT_HEADER << 32))
        return tl_fail(err, TL_BAD_INPUT, "%s: checkpoint of version %u, this program reads version %d", path,
                       (unsigned)(version & 0xffffffffu), VERSION);
    if (get_u64(h + TL_CHECKPOINT_HEADER - 8) != tl_checkpoint_header_hash(h))
        return tl_fail(err, TL_BAD_INPUT, "%s: damaged checkpoint: the header does not match its hash (run again "
                                          "without --resume)", path);
    tl_checkpoint cp = {
        .scene_hash = get_u64(h + 16), .frame = (int64_t)get_u64(h + 24), .step = (int64_t)get_u64(h + 32)};
    const uint64_t raw = get_u64(h + 40), packed = get_u64(h + 48), state_hash = get_u64(h + 56);
    read_sums(h, &cp.sums);
    if (cp.frame < 0 || cp.frame > 999999 || cp.step < 0 || raw > TL_CHECKPOINT_MAX_BYTES)
        return tl_fail(err, TL_BAD_INPUT, "%s: damaged checkpoint: frame %lld, step %lld, %llu bytes", path,
                       (long long)cp.frame, (long long)cp.step, (unsigned long long)raw);
    if (packed != size - TL_CHECKPOINT_HEADER)
        return tl_fail(err, TL_BAD_INPUT,
                       "%s: damaged checkpoint: %zu bytes of state, must be %llu (run again without "
                       "--resume)",
                       path, size - TL_CHECKPOINT_HEADER, (unsigned long long)packed);
    cp.size = (size_t)raw;
    if (state) {
        TL_TRY(unpack(path, h + TL_CHECKPOINT_HEADER, (size_t)packed, cp.size, state, err));
        if (hash_of(state->data, state->size) != state_hash)
            return tl_fail(err, TL_BAD_INPUT,
                           "%s: damaged checkpoint: the state does not match its hash (run again "
                           "without --resume)",
                           path);
        cp.data = state->data;
    }
    *out = cp;
    return TL_OK;
}
