// run/checkpoint.c: the state of a run in one file.
//
// Layout: magic 8, version u32, header bytes u32, scene hash, frame, step, state bytes, packed bytes, state hash
// (u64 each), 28 counters (i64), 6 times, the worst strain excess, 3 numbers of remeshing and the effort (f64), zeros,
// header hash in the last 8 bytes of the header; then zstd.

#include "run/checkpoint.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"

static const char magic[8] = {'t', 'o', 'i', 'l', 'e', 'c', 'k', 'p'};

// Members of the sums in the order of the file.
#define AT(member) offsetof(tl_frame_sums, member)
static const size_t counter_at[] = {AT(steps),
                                    AT(substeps),
                                    AT(rejected),
                                    AT(unconverged),
                                    AT(newton_iterations),
                                    AT(linear_iterations),
                                    AT(factorizations),
                                    AT(linear_used),
                                    AT(contacts),
                                    AT(candidates),
                                    AT(pinched),
                                    AT(searches),
                                    AT(limited),
                                    AT(held),
                                    AT(strain_active),
                                    AT(strain_rounds),
                                    AT(strain_violated),
                                    AT(remesh_passes),
                                    AT(splits),
                                    AT(flips),
                                    AT(collapses),
                                    AT(refused),
                                    AT(too_long),
                                    AT(strain_mended),
                                    AT(zones),
                                    AT(zone_nodes),
                                    AT(zone_rounds),
                                    AT(hurried),
                                    AT(found),
                                    AT(there),
                                    AT(missed)};
static const size_t real_at[] = {AT(seconds.physics), AT(seconds.strain), AT(seconds.collision),
                                 AT(seconds.remesh),  AT(seconds.other),  AT(seconds.total),
                                 AT(strain_excess),   AT(remesh_energy),  AT(momentum_drift),
                                 AT(spin_drift),      AT(effort),         AT(detection_seconds)};
enum { VERSION = 8, COUNTERS = sizeof counter_at / sizeof *counter_at, REALS = sizeof real_at / sizeof *real_at };
enum { COUNTERS_AT = 64, REALS_AT = COUNTERS_AT + 8 * COUNTERS };
static_assert(REALS_AT + 8 * REALS + 8 == TL_CHECKPOINT_HEADER, "the header has room for all of it");
enum { LEVEL = 1 };  // of zstd: 300 MB/s and more; higher levels gain little on doubles

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

static void write_sums(unsigned char *h, const tl_frame_sums *s)
{
    const char *from = (const char *)s;
    uint64_t bits;
    for (int i = 0; i < COUNTERS; i++)
        memcpy(&bits, from + counter_at[i], sizeof bits), put_u64(h + COUNTERS_AT + 8 * i, bits);
    for (int i = 0; i < REALS; i++) memcpy(&bits, from + real_at[i], sizeof bits), put_u64(h + REALS_AT + 8 * i, bits);
}

static void read_sums(const unsigned char *h, tl_frame_sums *s)
{
    *s = (tl_frame_sums){0};
    char *to = (char *)s;
    for (int i = 0; i < COUNTERS; i++) memcpy(to + counter_at[i], &(uint64_t){get_u64(h + COUNTERS_AT + 8 * i)}, 8);
    for (int i = 0; i < REALS; i++) memcpy(to + real_at[i], &(uint64_t){get_u64(h + REALS_AT + 8 * i)}, 8);
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
    const uint64_t fields[] = {cp->scene_hash, (uint64_t)cp->frame, (uint64_t)cp->step,
                               cp->size,       packed_size,         hash_of(cp->data, cp->size)};
    for (int i = 0; i < 6; i++) put_u64(h + 16 + 8 * i, fields[i]);
    write_sums(h, &cp->sums);
    put_u64(h + TL_CHECKPOINT_HEADER - 8, tl_checkpoint_header_hash(h));
    tl_buf_add(out, h, sizeof h);
    tl_buf_add(out, packed, packed_size);
    tl_free_bytes(&out->alloc, packed, bound, 1);
    return out->failed ? tl_fail_memory(err, "a checkpoint") : TL_OK;
}

// Unpacks piece by piece: a header that promises too much must not make us allocate it.
static tl_status unpack(const char *path, const void *packed, size_t packed_size, size_t size, tl_buf *state,
                        tl_error *err)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream) return tl_fail_memory(err, "a checkpoint");
    ZSTD_inBuffer in = {packed, packed_size, 0};
    char piece[1 << 13];
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
    if (!tl_checkpoint_is(data, size)) return tl_fail(err, TL_BAD_INPUT, "%s: is not a checkpoint of Toile", path);
    if (size < TL_CHECKPOINT_HEADER)
        return tl_fail(err, TL_BAD_INPUT, "%s: damaged checkpoint: %zu bytes, the header alone has %d", path, size,
                       TL_CHECKPOINT_HEADER);
    const uint64_t version = get_u64(h + 8);
    if (version != (VERSION | (uint64_t)TL_CHECKPOINT_HEADER << 32))
        return tl_fail(err, TL_BAD_INPUT, "%s: checkpoint of version %u, this program reads version %d", path,
                       (unsigned)(version & 0xffffffffu), VERSION);
    if (get_u64(h + TL_CHECKPOINT_HEADER - 8) != tl_checkpoint_header_hash(h))
        return tl_fail(err, TL_BAD_INPUT,
                       "%s: damaged checkpoint: the header does not match its hash (run again "
                       "without --resume)",
                       path);
    tl_checkpoint cp = {
        .scene_hash = get_u64(h + 16), .frame = (int64_t)get_u64(h + 24), .step = (int64_t)get_u64(h + 32)};
    const uint64_t raw = get_u64(h + 40), packed = get_u64(h + 48), state_hash = get_u64(h + 56);
    read_sums(h, &cp.sums);
    if (cp.frame < -1 || cp.frame > 999999 || cp.step < 0 || raw > TL_CHECKPOINT_MAX_BYTES)
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
