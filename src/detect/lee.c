// detect/lee.c: rays against the wind. All rays are parallel, so they are points in the plane across it: faces are
// listed by the cells of a grid in that plane that their boxes reach, and a point looks at those of its cell.

#include "detect/lee.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"

enum { MOST_CELLS = 256, FACES_PER_CHUNK = 128, SAMPLES = 3 };  // cells: along a side

/// The plane: coordinates across the wind, and along it.
typedef struct plane {
    tl_vec3 across[2], along;
    double low[2], cell[2];
    int32_t cells[2];
} plane;

static tl_vec3 seen(const plane *p, tl_vec3 x)
{
    return (tl_vec3){tl_dot3(x, p->across[0]), tl_dot3(x, p->across[1]), tl_dot3(x, p->along)};
}

typedef struct lee_job {
    const tl_lee_surface *surfaces;
    int32_t of;
    double length;
    plane plane;
    tl_vec3 **at;              ///< nodes of every surface as the wind sees them
    const int32_t *first;      ///< [cells + 1] into item
    const int32_t (*item)[2];  ///< surface and face
    float *out;
} lee_job;

// Cells of the box of a face; false: it is beside what is asked about.
static bool reach(const plane *p, const tl_vec3 *at, const int32_t f[3], int32_t lo[2], int32_t hi[2])
{
    for (int k = 0; k < 2; k++) {
        const double a = (&at[f[0]].x)[k], b = (&at[f[1]].x)[k], c = (&at[f[2]].x)[k];
        const double from = (fmin(a, fmin(b, c)) - p->low[k]) / p->cell[k],
                     to = (fmax(a, fmax(b, c)) - p->low[k]) / p->cell[k];
        if (!(to >= 0 && from < p->cells[k])) return false;
        lo[k] = from > 0 ? (int32_t)from : 0;
        hi[k] = to < p->cells[k] - 1 ? (int32_t)to : p->cells[k] - 1;
    }
    return true;
}

static double cross(tl_vec3 a, tl_vec3 b, double x, double y)
{
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

// How far against the wind of `p` a face lies over it; INFINITY: it does not.
static double distance_to(const tl_vec3 *at, const int32_t f[3], tl_vec3 p)
{
    const tl_vec3 a = at[f[0]], b = at[f[1]], c = at[f[2]];
    const double u = cross(b, c, p.x, p.y), v = cross(c, a, p.x, p.y), w = cross(a, b, p.x, p.y), sum = u + v + w;
    const bool inside = (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
    if (!inside || sum == 0) return (double)INFINITY;
    const double d = p.z - (u * a.z + v * b.z + w * c.z) / sum;
    return d > 0 ? d : (double)INFINITY;
}

static bool share_node(const int32_t a[3], const int32_t b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] == b[0] || a[i] == b[1] || a[i] == b[2]) return true;
    return false;
}

static double nearest(const lee_job *job, const int32_t face[3], tl_vec3 p)
{
    const plane *q = &job->plane;
    int32_t at[2];
    for (int k = 0; k < 2; k++) {
        const int32_t i = (int32_t)(((&p.x)[k] - q->low[k]) / q->cell[k]);
        at[k] = i < 0 ? 0 : i >= q->cells[k] ? q->cells[k] - 1 : i;
    }
    const int32_t cell = at[1] * q->cells[0] + at[0];
    double best = (double)INFINITY;
    for (int32_t i = job->first[cell]; i < job->first[cell + 1]; i++) {
        const int32_t s = job->item[i][0];
        const int32_t *f = job->surfaces[s].face[job->item[i][1]];
        if (s == job->of && share_node(f, face)) continue;
        best = fmin(best, distance_to(job->at[s], f, p));
    }
    return best;
}

static void parts_chunk(void *arg, int32_t begin, int32_t end)
{
    const lee_job *job = arg;
    const tl_vec3 *at = job->at[job->of];
    for (int32_t f = begin; f < end; f++) {
        const int32_t *face = job->surfaces[job->of].face[f];
        double sum = 0;
        for (int k = 0; k < SAMPLES; k++) {
            const tl_vec3 both = tl_add3(at[face[(k + 1) % 3]], at[face[(k + 2) % 3]]);
            const tl_vec3 p = tl_madd3(tl_mul3(2.0 / 3, at[face[k]]), 1.0 / 6, both);
            sum += fmin(1, nearest(job, face, p) / job->length);
        }
        job->out[f] = (float)(sum / SAMPLES);
    }
}

// The grid covers the surface that is asked about, about a cell a face.
static void lay_grid(const tl_lee_surface *s, const tl_vec3 *at, plane *p)
{
    double high[2] = {-(double)INFINITY, -(double)INFINITY};
    p->low[0] = p->low[1] = (double)INFINITY;
    for (int32_t i = 0; i < s->node_count; i++)
        for (int k = 0; k < 2; k++) {
            const double c = (&at[i].x)[k];
            p->low[k] = fmin(p->low[k], c), high[k] = fmax(high[k], c);
        }
    const double side = ceil(sqrt(0.5 * s->face_count));
    for (int k = 0; k < 2; k++) {
        p->cells[k] = side < MOST_CELLS ? (int32_t)side : MOST_CELLS;
        const double size = high[k] - p->low[k];
        p->cell[k] = size > 0 ? size * (1 + 1e-9) / p->cells[k] : 1;
    }
}

// Lists faces by cells: counts (item NULL), then places them at `next`.
static int64_t list_faces(const lee_job *job, int32_t count, int32_t *next, int32_t (*item)[2])
{
    int64_t sum = 0;
    for (int32_t s = 0; s < count; s++)
        for (int32_t f = 0; f < job->surfaces[s].face_count; f++) {
            int32_t lo[2], hi[2];
            if (!reach(&job->plane, job->at[s], job->surfaces[s].face[f], lo, hi)) continue;
            for (int32_t j = lo[1]; j <= hi[1]; j++)
                for (int32_t i = lo[0]; i <= hi[0]; i++, sum++) {
                    const int32_t cell = j * job->plane.cells[0] + i;
                    if (item) item[next[cell]][0] = s, item[next[cell]][1] = f;
                    next[cell]++;
                }
        }
    return sum;
}

static tl_status sort_in(lee_job *job, int32_t count, const tl_ctx *ctx, tl_error *err)
{
    const int32_t cells = job->plane.cells[0] * job->plane.cells[1];
    int32_t *first = TL_SCRATCH(ctx->arena, int32_t, cells + 2), *next = TL_SCRATCH(ctx->arena, int32_t, cells);
    if (!first || !next) return tl_fail_memory(err, "the lee");
    memset(next, 0, (size_t)cells * sizeof *next);
    const int64_t total = list_faces(job, count, next, NULL);
    if (total > INT32_MAX) return tl_fail_memory(err, "the lee");
    first[0] = 0;
    for (int32_t i = 0; i < cells; i++) first[i + 1] = first[i] + next[i];
    memcpy(next, first, (size_t)cells * sizeof *next);
    int32_t(*item)[2] = tl_arena_bytes(ctx->arena, (size_t)(total > 0 ? total : 1), sizeof *item);
    if (!item) return tl_fail_memory(err, "the lee");
    list_faces(job, count, next, item);
    job->first = first, job->item = (const int32_t(*)[2])item;
    return TL_OK;
}

static tl_status find_parts(lee_job *job, int32_t count, const tl_ctx *ctx, tl_error *err)
{
    job->at = TL_SCRATCH(ctx->arena, tl_vec3 *, count);
    if (!job->at) return tl_fail_memory(err, "the lee");
    for (int32_t s = 0; s < count; s++) {
        const tl_lee_surface *of = &job->surfaces[s];
        job->at[s] = TL_SCRATCH(ctx->arena, tl_vec3, of->node_count);
        if (!job->at[s]) return tl_fail_memory(err, "the lee");
        for (int32_t i = 0; i < of->node_count; i++) job->at[s][i] = seen(&job->plane, of->x[i]);
    }
    lay_grid(&job->surfaces[job->of], job->at[job->of], &job->plane);
    TL_TRY(sort_in(job, count, ctx, err));
    tl_parallel_for(ctx->workers, job->surfaces[job->of].face_count, FACES_PER_CHUNK, parts_chunk, job);
    return TL_OK;
}

tl_status tl_lee_parts(const tl_lee_surface *surfaces, int32_t count, int32_t of, tl_vec3 wind, double length,
                       const tl_ctx *ctx, float *out, tl_error *err)
{
    lee_job job = {.surfaces = surfaces, .of = of, .length = length, .out = out};
    job.plane.along = tl_unit3_or(wind, (tl_vec3){1, 0, 0});
    const tl_vec3 other = fabs(job.plane.along.y) < 0.9 ? (tl_vec3){0, 1, 0} : (tl_vec3){1, 0, 0};
    job.plane.across[0] = tl_unit3_or(tl_cross3(other, job.plane.along), (tl_vec3){0, 0, 1});
    job.plane.across[1] = tl_cross3(job.plane.along, job.plane.across[0]);
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const tl_status status = find_parts(&job, count, ctx, err);
    tl_arena_release(ctx->arena, mark);
    return status;
}
