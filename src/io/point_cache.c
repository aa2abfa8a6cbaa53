// io/point_cache.c: PC2 and MDD point caches: positions of all vertices, frame by frame.
//
// PC2: "POINTCACHE2", version 1, points, first frame, frames a sample, samples; then x, y, z as little-endian floats.
// MDD: samples, points, times [s]; then x, y, z, all big-endian.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "io/character_load.h"

enum { PC2_HEAD = 32, MDD_HEAD = 8 };

typedef struct cache {
    const char *path;
    const unsigned char *data;
    size_t size, head;
    int64_t samples, points;
    bool big;
} cache;

static uint32_t word(const unsigned char *p, bool big)
{
    return big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
               : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static float number(const unsigned char *p, bool big)
{
    const uint32_t u = word(p, big);
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static tl_status check_size(const cache *in, const tl_character *c, tl_error *err)
{
    const int32_t verts = c->count[TL_RIG_VERTS];
    if (in->samples < 1 || in->points < 1)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: byte %d: %lld samples of %lld points, must be at least 1", in->path,
                       in->big ? 0 : 16, (long long)in->samples, (long long)in->points);
    if (in->points != verts)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: byte %d: has %lld points, the mesh has %d vertices (must be equal)",
                       in->path, in->big ? 4 : 16, (long long)in->points, verts);
    const uint64_t head = in->head + (in->big ? 4 * (uint64_t)in->samples : 0);
    const uint64_t need = head + 12 * (uint64_t)in->samples * (uint64_t)in->points;  // two numbers below 2^31 each
    if (need > in->size)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: %lld samples need %llu bytes, there are %zu (cut short?)", in->path,
                       (long long)in->samples, (unsigned long long)need, in->size);
    return TL_OK;
}

static tl_status read_points(const cache *in, tl_character *c, tl_error *err)
{
    const int64_t n = in->samples * in->points;
    tl_cache_point *to = tl_character_push(c, TL_RIG_CACHE_POINTS, n);
    if (!to) return tl_fail_memory(err, "a point cache");
    const unsigned char *p = in->data + in->head + (in->big ? 4 * in->samples : 0);
    for (int64_t i = 0; i < n; i++, p += 12) {
        to[i] =
            (tl_cache_point){number(p, in->big) + 0.0f, number(p + 4, in->big) + 0.0f, number(p + 8, in->big) + 0.0f};
        if (isfinite(to[i].x) && isfinite(to[i].y) && isfinite(to[i].z)) continue;
        return tl_fail(err, TL_BAD_INPUT, "%.300s: byte %zu: point %lld of sample %lld is not finite", in->path,
                       (size_t)(p - in->data), (long long)(i % in->points), (long long)(i / in->points));
    }
    return TL_OK;
}

static tl_status read_times(const cache *in, double step, double *time, tl_error *err)
{
    for (int64_t k = 0; k < in->samples; k++) {
        time[k] = in->big ? (double)number(in->data + in->head + 4 * k, true) : (double)k * step;
        if (!isfinite(time[k]) || (k > 0 && !(time[k] > time[k - 1])))
            return tl_fail(err, TL_BAD_INPUT, "%.300s: byte %zu: time %lld is %g s, must be after the one before it",
                           in->path, in->head + 4 * (size_t)k, (long long)k, time[k]);
    }
    return TL_OK;
}

int64_t tl_point_cache_points(const char *data, size_t size)
{
    const unsigned char *p = (const unsigned char *)data;
    if (size >= PC2_HEAD && memcmp(data, "POINTCACHE2", 12) == 0) return (int32_t)word(p + 16, false);
    return size >= MDD_HEAD ? (int32_t)word(p + 4, true) : -1;
}

tl_status tl_point_cache_parse(const char *path, const char *data, size_t size, double fps, tl_character *c,
                               tl_error *err)
{
    cache in = {.path = path, .data = (const unsigned char *)data, .size = size};
    double step = 1 / fps;
    if (size >= PC2_HEAD && memcmp(data, "POINTCACHE2", 12) == 0) {
        in.head = PC2_HEAD;
        in.points = (int32_t)word(in.data + 16, false), in.samples = (int32_t)word(in.data + 28, false);
        const double rate = (double)number(in.data + 24, false);
        if (word(in.data + 12, false) != 1)
            return tl_fail(err, TL_BAD_INPUT, "%.300s: byte 12: version %u, only 1 is read", path,
                           word(in.data + 12, false));
        if (!(rate > 0 && rate < 1e6))
            return tl_fail(err, TL_BAD_INPUT, "%.300s: byte 24: %g frames a sample, must be > 0", path, rate);
        step = rate / fps;
    } else if (size >= MDD_HEAD) {
        in.head = MDD_HEAD, in.big = true;
        in.samples = (int32_t)word(in.data, true), in.points = (int32_t)word(in.data + 4, true);
    } else {
        return tl_fail(err, TL_BAD_INPUT, "%.300s: has %zu bytes, is neither a PC2 nor an MDD", path, size);
    }
    TL_TRY(check_size(&in, c, err));
    double *time = tl_character_push(c, TL_RIG_CACHE_TIMES, in.samples);
    tl_clip *clip = tl_character_push(c, TL_RIG_CLIPS, 1);
    if (!time || !clip) return tl_fail_memory(err, "a point cache");
    TL_TRY(read_times(&in, step, time, err));
    *clip = (tl_clip){.begin = time[0], .end = time[in.samples - 1], .channel = c->count[TL_RIG_CHANNELS]};
    snprintf(clip->name, sizeof clip->name, "cache");
    if (in.samples == 1) tl_character_note(c, "its cache has one sample: it is one pose");
    return read_points(&in, c, err);
}
