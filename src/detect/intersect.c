// detect/intersect.c: which faces pass through which, exactly.
//
// Everything is decided by signs of orient2d and orient3d, which are exact. In one plane, and for triangles that are
// only a line, the question is asked again in a projection along an axis that keeps what there is: dropping a
// coordinate rounds nothing. O(candidate pairs); parallel over them, each writes its own flag.

#include "detect/intersect.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/predicates.h"
#include "math/vec3.h"

enum { PAIRS_PER_CHUNK = 1024 };

// --- in a plane --------------------------------------------------------------------------------------------

static tl_vec2 drop(const tl_vec3 *a, int axis)
{
    return axis == 0 ? (tl_vec2){a->y, a->z} : axis == 1 ? (tl_vec2){a->z, a->x} : (tl_vec2){a->x, a->y};
}

static bool ranges_meet(double a, double b, double c, double d)
{
    return fmin(a, b) <= fmax(c, d) && fmin(c, d) <= fmax(a, b);
}

static bool segments_meet2(tl_vec2 a, tl_vec2 b, tl_vec2 c, tl_vec2 d)
{
    const int abc = tl_orient2d(a, b, c), abd = tl_orient2d(a, b, d);
    if (abc * abd > 0) return false;
    const int cda = tl_orient2d(c, d, a), cdb = tl_orient2d(c, d, b);
    if (cda * cdb > 0) return false;
    if (abc || abd || cda || cdb) return true;
    return ranges_meet(a.x, b.x, c.x, d.x) && ranges_meet(a.y, b.y, c.y, d.y);  // all on one line
}

// The triangle has an area.
static bool triangle_holds2(tl_vec2 a, const tl_vec2 t[3])
{
    const int i = tl_orient2d(t[0], t[1], a), j = tl_orient2d(t[1], t[2], a), k = tl_orient2d(t[2], t[0], a);
    return (i >= 0 && j >= 0 && k >= 0) || (i <= 0 && j <= 0 && k <= 0);
}

// --- in space ----------------------------------------------------------------------------------------------

// An axis along which a, b, c do not project to one line; -1: they lie on a line in space.
static int open_axis(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *c)
{
    for (int axis = 0; axis < 3; axis++)
        if (tl_orient2d(drop(a, axis), drop(b, axis), drop(c, axis)) != 0) return axis;
    return -1;
}

static bool boxes_meet(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *c, const tl_vec3 *d)
{
    return ranges_meet(a->x, b->x, c->x, d->x) && ranges_meet(a->y, b->y, c->y, d->y) &&
           ranges_meet(a->z, b->z, c->z, d->z);
}

static bool segments_meet3(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *c, const tl_vec3 *d)
{
    if (tl_orient3d(a, b, c, d) != 0) return false;
    int axis = open_axis(a, b, c);
    if (axis < 0) axis = open_axis(a, b, d);
    if (axis < 0) axis = open_axis(a, c, d);
    if (axis < 0) axis = open_axis(b, c, d);
    if (axis < 0) return boxes_meet(a, b, c, d);  // on one line every axis tells the same or nothing
    return segments_meet2(drop(a, axis), drop(b, axis), drop(c, axis), drop(d, axis));
}

static bool meets_in_plane(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *p, const tl_vec3 *q, const tl_vec3 *r)
{
    const int axis = open_axis(p, q, r);
    if (axis < 0) return segments_meet3(a, b, p, q) || segments_meet3(a, b, q, r) || segments_meet3(a, b, r, p);
    const tl_vec2 s[2] = {drop(a, axis), drop(b, axis)}, t[3] = {drop(p, axis), drop(q, axis), drop(r, axis)};
    if (triangle_holds2(s[0], t) || triangle_holds2(s[1], t)) return true;
    for (int i = 0; i < 3; i++)
        if (segments_meet2(s[0], s[1], t[i], t[(i + 1) % 3])) return true;
    return false;
}

static double max3(double a, double b, double c) { return fmax(a, fmax(b, c)); }
static double min3(double a, double b, double c) { return fmin(a, fmin(b, c)); }

bool tl_segment_meets_triangle(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *p, const tl_vec3 *q, const tl_vec3 *r)
{
    if (!tl_finite3(*a) || !tl_finite3(*b) || !tl_finite3(*p) || !tl_finite3(*q) || !tl_finite3(*r)) return false;
    if (!ranges_meet(a->x, b->x, min3(p->x, q->x, r->x), max3(p->x, q->x, r->x)) ||
        !ranges_meet(a->y, b->y, min3(p->y, q->y, r->y), max3(p->y, q->y, r->y)) ||
        !ranges_meet(a->z, b->z, min3(p->z, q->z, r->z), max3(p->z, q->z, r->z)))
        return false;
    const int sa = tl_orient3d(p, q, r, a), sb = tl_orient3d(p, q, r, b);
    if (sa * sb > 0) return false;
    if (sa == 0 && sb == 0) return meets_in_plane(a, b, p, q, r);
    if (sa == 0 || sb == 0) {  // one end in the plane; the triangle has an area, or both would be
        const int axis = open_axis(p, q, r);
        return triangle_holds2(drop(sa == 0 ? a : b, axis),
                               (const tl_vec2[3]){drop(p, axis), drop(q, axis), drop(r, axis)});
    }
    const int i = tl_orient3d(a, b, p, q), j = tl_orient3d(a, b, q, r), k = tl_orient3d(a, b, r, p);
    return (i >= 0 && j >= 0 && k >= 0) || (i <= 0 && j <= 0 && k <= 0);
}

tl_vec3 tl_segment_triangle_place(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *p, const tl_vec3 *q,
                                  const tl_vec3 *r)
{
    const tl_vec3 n = tl_cross3(tl_sub3(*q, *p), tl_sub3(*r, *p));
    const double da = tl_dot3(n, tl_sub3(*a, *p)), db = tl_dot3(n, tl_sub3(*b, *p));
    const double t = da / (da - db);
    return tl_madd3(*a, t >= 0 && t <= 1 ? t : 0.5, tl_sub3(*b, *a));  // in one plane: the middle of the edge
}

// --- all of a surface --------------------------------------------------------------------------------------

void tl_crossings_init(tl_crossings *crossings, tl_allocator alloc)
{
    *crossings = (tl_crossings){.alloc = alloc};
    tl_pairs_init(&crossings->pairs, alloc);
}

void tl_crossings_free(tl_crossings *crossings)
{
    TL_FREE(&crossings->alloc, crossings->items, crossings->cap);
    tl_pairs_free(&crossings->pairs);
    crossings->count = crossings->cap = 0;
}

typedef struct test_job {
    const tl_pair *pair;  ///< edge, face
    const tl_bvh *edge_side, *face_side;
    uint8_t *hit;
} test_job;

static void test_chunk(void *arg, int32_t begin, int32_t end)
{
    const test_job *job = arg;
    const tl_surface *es = tl_bvh_surface(job->edge_side), *fs = tl_bvh_surface(job->face_side);
    const tl_vec3 *ex = tl_bvh_positions(job->edge_side), *fx = tl_bvh_positions(job->face_side);
    for (int32_t i = begin; i < end; i++) {
        const int32_t *e = es->edge[job->pair[i].a], *f = fs->face[job->pair[i].b];
        job->hit[i] = tl_segment_meets_triangle(&ex[e[0]], &ex[e[1]], &fx[f[0]], &fx[f[1]], &fx[f[2]]);
    }
}

static tl_status add_crossings(const tl_bvh *edge_side, const tl_bvh *face_side, int32_t edge_surface,
                               const tl_pair *pair, int32_t count, const tl_ctx *ctx, tl_crossings *out, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    uint8_t *hit = TL_SCRATCH(ctx->arena, uint8_t, count);
    if (!hit) return tl_fail_memory(err, "the search for crossings");
    tl_parallel_for(ctx->workers, count, PAIRS_PER_CHUNK, test_chunk, &(test_job){pair, edge_side, face_side, hit});
    int64_t hits = 0;
    for (int32_t i = 0; i < count; i++) hits += hit[i];
    tl_status status = TL_OK;
    if (!TL_GROW(&out->alloc, out->items, out->cap, out->count + hits)) status = tl_fail_memory(err, "crossings");
    for (int32_t i = 0; status == TL_OK && i < count; i++)
        if (hit[i]) out->items[out->count++] = (tl_crossing){edge_surface, pair[i].a, pair[i].b};
    tl_arena_release(ctx->arena, mark);
    return status;
}

tl_status tl_find_crossings(const tl_bvh *first, const tl_bvh *second, tl_arena *scratch, tl_workers *workers,
                            tl_crossings *out, tl_error *err)
{
    const tl_ctx ctx = {scratch, workers};
    tl_pairs *pairs = &out->pairs;
    out->count = 0;
    TL_TRY(second ? tl_bvh_between(first, second, TL_PAIR_EF, scratch, workers, pairs, err)
                  : tl_bvh_self(first, TL_PAIR_EF, scratch, workers, pairs, err));
    TL_TRY(add_crossings(first, second ? second : first, 0, pairs->ef, pairs->ef_count, &ctx, out, err));
    return second ? add_crossings(second, first, 1, pairs->fe, pairs->fe_count, &ctx, out, err) : TL_OK;
}
