// render/filter.c: a joint bilateral filter in two passes, along rows and then along columns.
//
// Weights 1/2 1 1 1 1 1 1 1 1/2: each of the eight pattern columns (rows) counts once, so on a smooth surface
// the result is exactly the mean over the whole sample set. What is filtered is how much light arrives, never
// colour or shading by the normal, so texture and folds stay sharp.

#include "render/filter.h"

#include <stddef.h>

enum { REACH = 4, ROWS_PER_CHUNK = 8 };

typedef struct filter_job {
    const tl_gpixel *g;
    const tl_lit *from;
    tl_lit *to;
    int32_t width, height;
    bool down;  // along columns instead of rows
} filter_job;

/// Mean of `from` over the neighbours of pixel `at`, of which `before` and `after` exist, `step` apart.
static tl_lit gather(const filter_job *job, size_t at, int32_t before, int32_t after, ptrdiff_t step)
{
    const tl_gpixel *g = &job->g[at];
    tl_lit sum = {{0}, {0, 0, 0}};
    float total = 0;
    for (int32_t d = -before; d <= after; d++) {
        const size_t other = (size_t)((ptrdiff_t)at + d * step);
        const tl_lit *l = &job->from[other];
        float w = d == 0 ? 1 : tl_kinship(g, &job->g[other]);
        if (w <= 0) continue;
        if (d == -REACH || d == REACH) w *= 0.5f;
        for (int k = 0; k < TL_LAMPS; k++) sum.lamp[k] += w * l->lamp[k];
        sum.dome = tl_maddf(sum.dome, w, l->dome);
        total += w;
    }
    const float scale = 1 / total;
    for (int k = 0; k < TL_LAMPS; k++) sum.lamp[k] *= scale;
    sum.dome = tl_mulf(scale, sum.dome);
    return sum;
}

static int32_t at_most(int32_t a, int32_t limit) { return a < limit ? a : limit; }

static void filter_rows(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    for (int32_t y = begin; y < end; y++) {
        for (int32_t x = 0; x < job->width; x++) {
            const size_t at = (size_t)y * (size_t)job->width + (size_t)x;
            if (job->g[at].surface == -1) continue;
            if (job->g[at].footprint <= 0) {
                job->to[at] = job->from[at];
                continue;
            }
            job->to[at] = job->down
                              ? gather(job, at, at_most(y, REACH), at_most(job->height - 1 - y, REACH), job->width)
                              : gather(job, at, at_most(x, REACH), at_most(job->width - 1 - x, REACH), 1);
        }
    }
}

void tl_filter_light(const tl_gpixel *g, tl_lit *lit, tl_lit *scratch, int32_t width, int32_t height,
                     tl_workers *workers)
{
    filter_job job = {g, lit, scratch, width, height, false};
    tl_parallel_for(workers, height, ROWS_PER_CHUNK, filter_rows, &job);
    job = (filter_job){g, scratch, lit, width, height, true};
    tl_parallel_for(workers, height, ROWS_PER_CHUNK, filter_rows, &job);
}
