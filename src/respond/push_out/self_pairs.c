// respond/push_out/self_pairs.c: nodes of the cloth that come near each other, through a grid.
//
// Nodes are sorted by their cell; cells are looked up, never walked, and pairs come out by (a, b), so the order depends
// on the positions alone.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"
#include "math/vec3.h"
#include "respond/push_out/push_out.h"

enum { NODES_PER_CHUNK = 256, NEIGHBOURS = 16 };

typedef struct pair_job {
    const tl_push_self *self;
    double cell, reach2;
    const tl_key *key;  // by cell, then node
    int32_t (*near)[NEIGHBOURS];
    uint8_t *found;
} pair_job;

// Cells within about a million of the origin have keys of their own.
static uint64_t key_of(int64_t x, int64_t y, int64_t z)
{
    const uint64_t bits = (UINT64_C(1) << 21) - 1;
    return ((uint64_t)(x + (1 << 20)) & bits) << 42 | ((uint64_t)(y + (1 << 20)) & bits) << 21 |
           ((uint64_t)(z + (1 << 20)) & bits);
}

static int32_t first_of(const pair_job *job, uint64_t key)
{
    int32_t lo = 0, hi = job->self->count;
    while (lo < hi) {
        const int32_t mid = (lo + hi) / 2;
        if (job->key[mid].key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool are_near(const pair_job *job, int32_t a, int32_t b)
{
    const tl_push_self *s = job->self;
    const double x = s->pos[a][0] - s->pos[b][0], y = s->pos[a][1] - s->pos[b][1], z = s->pos[a][2] - s->pos[b][2];
    if (!(x * x + y * y + z * z < job->reach2)) return false;
    return tl_norm2(tl_sub2(s->uv[a], s->uv[b])) > s->apart;
}

static void pair_chunk(void *arg, int32_t begin, int32_t end)
{
    const pair_job *job = arg;
    for (int32_t a = begin; a < end; a++) {
        const double *at = job->self->pos[a];
        const int64_t cx = (int64_t)floor(at[0] / job->cell), cy = (int64_t)floor(at[1] / job->cell),
                      cz = (int64_t)floor(at[2] / job->cell);
        int n = 0;
        for (int64_t x = cx - 1; x <= cx + 1; x++)
            for (int64_t y = cy - 1; y <= cy + 1; y++) {
                // three cells in a row along z
                const uint64_t last = key_of(x, y, cz + 1);
                for (int32_t k = first_of(job, key_of(x, y, cz - 1)); k < job->self->count && job->key[k].key <= last;
                     k++) {
                    const int32_t b = job->key[k].id;
                    if (b <= a || n == NEIGHBOURS || !are_near(job, a, b)) continue;
                    int place = n++;
                    for (; place > 0 && job->near[a][place - 1] > b; place--)
                        job->near[a][place] = job->near[a][place - 1];
                    job->near[a][place] = b;
                }
            }
        job->found[a] = (uint8_t)n;
    }
}

tl_status tl_push_self_pairs(const tl_push_self *self, const tl_ctx *ctx, int32_t (**out)[2], int32_t *pair_count,
                             tl_error *err)
{
    const int32_t count = self->count;
    const double(*pos)[4] = self->pos, (*vel)[4] = self->vel;
    *out = NULL, *pair_count = 0;
    if (!(self->distance > 0) || count < 2) return TL_OK;
    // What goes faster than most is caught later: a reach for the fastest would find everybody.
    double sum = 0;
    for (int32_t i = 0; i < count; i++) sum += vel[i][0] * vel[i][0] + vel[i][1] * vel[i][1] + vel[i][2] * vel[i][2];
    const double way = fmin(sqrt(sum / count) * self->dt, self->distance), reach = self->distance + way;
    tl_key *key = TL_SCRATCH(ctx->arena, tl_key, count), *scratch = TL_SCRATCH(ctx->arena, tl_key, count);
    pair_job job = {.self = self, .cell = reach, .reach2 = reach * reach, .key = key};
    job.near = tl_arena_bytes(ctx->arena, (size_t)count, sizeof *job.near);
    job.found = TL_SCRATCH(ctx->arena, uint8_t, count);
    if (!key || !scratch || !job.near || !job.found) return tl_fail_memory(err, "the cloth against itself");
    for (int32_t i = 0; i < count; i++)
        key[i] = (tl_key){key_of((int64_t)floor(pos[i][0] / reach), (int64_t)floor(pos[i][1] / reach),
                                 (int64_t)floor(pos[i][2] / reach)),
                          i};
    tl_sort_keys(key, scratch, count);
    tl_parallel_for(ctx->workers, count, NODES_PER_CHUNK, pair_chunk, &job);
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++) n += job.found[i];
    int32_t(*pairs)[2] = tl_arena_bytes(ctx->arena, (size_t)n, sizeof *pairs);
    if (!pairs) return tl_fail_memory(err, "the cloth against itself");
    n = 0;
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < job.found[i]; k++) pairs[n][0] = i, pairs[n++][1] = job.near[i][k];
    *out = pairs, *pair_count = n;
    return TL_OK;
}
